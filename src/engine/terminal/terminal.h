/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal of a run: its tmux server on this host, whatever is behind it.  All that is on its
 * screen side is here: attach, capture, paste, keys, title, clients, and how the process in its
 * pane ended.  Places stand on it, and only they start the server.
 *
 * A terminal is named by its socket.  Nothing here starts a server.  A look takes 2 s at most,
 * anything else 5 s.
 */
#pragma once

#include "base/child.h"
#include "engine/deck/deck.h"

/* TERMINAL_NONE: no server listens on the socket.  TERMINAL_SILENT: the server does not answer in
 * time, or speaks another version; it may well be alive. */
enum { TERMINAL_NONE = 1, TERMINAL_SILENT = 2 };

/* The tmux that is installed.  ERROR_UNAVAILABLE: none is.  The caller frees version. */
struct terminal_program {
	char *version;   /* "3.3a" */
	bool is_enough;  /* for all that we use */
	bool loses_ends; /* before 3.5: see terminal_nudge() */
};
int terminal_program(struct terminal_program *ret, struct error *err);

/* Does the socket belong to us or to root?  0 also when no server listens.  ERROR_SYSTEM: it is
 * another user's, and the message says whose.  What talks to a server checks this first. */
int terminal_check(const char *socket, struct error *err);
/* The message about a session whose socket fails that check. */
#define TERMINAL_FOREIGN "another user has put something in place of its tmux socket"

/* Does a server of the session of this id listen there?  Runs no program. */
bool terminal_is_ours(const char *id, const char *socket);

enum attach_mode {
	ATTACH_FULLY,
	ATTACH_READ_ONLY, /* no key gets through */
};

/* What the status line shows beside the title.  activity: borrowed; "" shows none. */
struct terminal_status {
	const char *activity; /* of this session */
	unsigned others;      /* how many other sessions wait for their user */
};
/* Show it in every terminal that is attached. */
int terminal_show(const char *socket, const struct terminal_status *status, struct error *err);
/* Is one attached?  Runs no program. */
bool terminal_has_clients(const char *socket);

/* The terminals that are attached now. */
struct terminal_client {
	char *name; /* "/dev/pts/3" */
	unsigned columns, rows;
	bool is_read_only;
	int64_t since_us; /* since the Epoch */
};
struct terminal_clients {
	struct terminal_client *items;
	size_t count;
};
/* Appended to *ret, which terminal_clients_free() frees. */
int terminal_list_clients(const char *socket, struct terminal_clients *ret, struct error *err);
void terminal_clients_free(struct terminal_clients *clients);
#define cleanup_terminal_clients CLEANUP(terminal_clients_free)
/* "120x39 for 5 min, 80x24 (read-only) for 12 s".  The caller frees. */
char *terminal_clients_text(const struct terminal_clients *clients) MUST_USE;

struct terminal_order {
	enum attach_mode mode;
	struct terminal_status status;
	const struct child_watch *watch; /* served while it is attached; NULL: none.  Borrowed */
};
/* How that ended. */
struct terminal_parting {
	int status; /* exit status of the tmux client */
	char *next; /* terminal_send_on() has asked for this session; NULL: none.  The caller's */
};

/* Show the run in the caller's terminal until it detaches or the run ends.  The instance has a run.
 * In a pane of another tmux it is shown without our status line, and says how to leave.
 * ERROR_UNAVAILABLE: tmux is not installed. */
int terminal_attach(const struct instance *instance, const struct terminal_order *order,
		    struct terminal_parting *ret, struct error *err);

/* Move a terminal that terminal_attach() has attached to another session: it leaves this
 * server, and the caller of terminal_attach() gets next, which names the session.  client: the
 * terminal's path, if one of its keys has called: it leaves when we have ended; NULL: the only one
 * that is attached, at once.  ERROR_REFUSED: it was attached by something else, or there are
 * several. */
int terminal_send_on(const char *socket, const char *client, const char *next, struct error *err);

/* What a look at the server tells.  The caller frees with terminal_state_free(). */
struct terminal_state {
	struct process_id server;
	pid_t pane;
	bool is_dead;     /* the pane's process has ended, and no other has taken its place */
	unsigned clients; /* attached terminals */
	char *program;    /* name of the foreground process */
};
int terminal_look(const char *socket, struct terminal_state *ret, struct error *err);
void terminal_state_free(struct terminal_state *state);
#define cleanup_terminal_state CLEANUP(terminal_state_free)

/* Text of the pane: the screen, and up to history_lines that scrolled off.  *ret is the caller's. */
int terminal_text(const char *socket, unsigned history_lines, char **ret, struct error *err);
/* The screen alone: with the escape sequences of its colours and attributes, or without them. */
int terminal_styled_screen(const char *socket, char **ret, struct error *err);
int terminal_screen(const char *socket, char **ret, struct error *err);
/* Arguments of a tmux client that prints what terminal_styled_screen() gives; appended to *ret. */
void terminal_look_argv(const char *socket, struct strvec *ret);

/* Paste text as a terminal would, of any size, without adding a line ending.  The caller removes
 * control characters other than newline and tab. */
int terminal_paste(const char *socket, const char *text, size_t length, struct error *err);
/* Press keys by their tmux names ("Enter", "C-c"). */
int terminal_press(const char *socket, const struct strvec *keys, struct error *err);

/* Arguments of tmux clients that pass on what a user types, appended to *ret: the text on standard
 * input, as a paste or as if it was typed, and one key by its tmux name.  Each prints "1" if the
 * pane's process has ended, and "0" else. */
void terminal_type_argv(const char *socket, bool is_paste, struct strvec *ret);
void terminal_press_argv(const char *socket, const char *key, struct strvec *ret);

/* Show another title and group in the status line. */
int terminal_set_title(const char *socket, const char *title, const char *group, struct error *err);

/* How the pane's last process ended, as its server has noted it: code, signal, and the end of the
 * screen.  The last milliseconds of output may be missing.  *ret is the caller's. */
int terminal_how_ended(const char *socket, struct exit_record *ret, struct error *err);
/* The agent's last words, when it has just ended and the server may not know yet.  NULL: it noted
 * nothing within 500 ms.  The caller frees. */
char *terminal_hear_words(const struct instance *instance) MUST_USE;

/* The pane's process has ended, or the process that was to judge its end, and tmux before 3.5 may
 * have lost the news (see agentdeck-watch): make its server look.  id: of the instance. */
void terminal_nudge(const char *id, const struct process_id *server);

/* Is this process in a pane of the server of that socket? */
bool terminal_is_own(const char *socket);

/* For a pane that nothing follows in: end its server, which is our parent, since one without an
 * agent must not stay.  base: of the instance that the pane is of. */
void terminal_end_own(const char *base);

/* End the server that listens on the socket, if it is this session's.  No server, or another's:
 * 0. */
int terminal_end(const char *id, const char *socket, struct error *err);
