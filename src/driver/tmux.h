/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tmux commands as functions.  One server for each run, named by the path of its socket (tmux -S),
 * with one session ("agent") whose first pane is the agent's.
 *
 * Every call runs the tmux client with an argv and a deadline.  What tmux would read again is kept
 * away from it: the pane's command has several words, so that tmux executes it without a
 * shell (tmux(1), COMMANDS); directories are handed over as the client's own, never with -c, which is a
 * format; texts of users go into user options (@agentdeck_*), which formats show without expanding them;
 * an argument's final ";" is escaped, since tmux takes it for the end of a command.
 */
#pragma once

#include "base/child.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

/* TMUX_NO_SERVER: nobody listens on the socket, or it does not exist.  TMUX_UNKNOWN: the server does
 * not answer in time, or speaks another protocol version: it may well be alive. */
enum { TMUX_NO_SERVER = 1, TMUX_UNKNOWN = 2 };

/* The oldest version that has what we use (pane options and hooks, respawn-pane -e). */
#define TMUX_OLDEST "3.2"

struct tmux_options {
	const char *conf_file;      /* for -f; "/dev/null" for none */
	const char *title;          /* shown in the status line */
	const struct strvec *pane;  /* what the pane executes: at least two words */
	unsigned columns, rows;     /* size until somebody attaches */
};

/* Arguments that make a server with its session and set it up, in one client; appended to *ret.
 * Its output is read by tmux_parse_started().
 * When the pane's process ends, tmux itself notes its exit, keeps its last screen, and runs the
 * pane's command again with AGENTDECK_PANE_DIED=1 in its environment. */
void tmux_start_argv(const char *socket, const struct tmux_options *options, struct strvec *ret);

struct tmux_started {
	pid_t server, pane;
	char version[16];
};
/* ERROR_CHILD when the client failed, with what it said; ERROR_UNAVAILABLE when tmux is too old. */
int tmux_parse_started(const struct child_result *result, struct tmux_started *ret,
		       struct error *err);

/* The configuration file of our servers.  Values are the user's settings; appended to *ret.
 * user_conf (may be NULL) is sourced at the end, as is the user's own configuration when
 * source_user_config is set. */
struct tmux_conf {
	const char *default_terminal;
	long history_limit;
	bool mouse;
	const char *detach_key; /* "" for none */
	bool source_user_config;
	const char *user_conf;
};
/* ERROR_CORRUPT: a value cannot be written into a configuration file (control characters). */
int tmux_conf_text(const struct tmux_conf *conf, struct strbuf *ret, struct error *err);

/* Set global options, names and values in turn; stops at the first that tmux refuses. */
int tmux_set_options(const char *socket, const struct strvec *names_and_values,
		     struct error *err);

/* 0: what listens on the socket, if anything does, was started by us or by root.  Every function below that
 * talks to a server asks this first; who attaches asks it itself.  ERROR_SYSTEM: whose it is. */
int tmux_check_socket(const char *socket, struct error *err);
/* What is told of a session where that fails. */
#define TMUX_FOREIGN "another user has put something in the place of its tmux socket"

struct tmux_pane {
	pid_t server, pane;
	bool dead;           /* the process has ended and was not replaced yet */
	unsigned clients;    /* attached terminals */
	bool bracketed_paste;
	char *command;       /* name of the foreground process */
};
void tmux_pane_free(struct tmux_pane *pane);
#define cleanup_tmux_pane CLEANUP(tmux_pane_free)

/* What is there now.  Deadline: 2 s. */
int tmux_query(const char *socket, struct tmux_pane *ret, struct error *err);

/* How the pane's last process ended, as tmux noted it, and the end of its screen (visible text).  What a
 * process printed in its last milliseconds may be missing: tmux 3.3a and older close the terminal on SIGCHLD
 * without having read it to its end (server_child_exited in server.c). */
struct tmux_exit {
	int code, signal_number;
	char *last_words;
};
int tmux_pane_exit(const char *socket, struct tmux_exit *ret, struct error *err);

/* Text of the pane: the screen, and up to history_lines of what scrolled off; without escape sequences.
 * *ret is the caller's. */
int tmux_capture(const char *socket, unsigned history_lines, char **ret, struct error *err);
/* The screen alone, for listings.  Deadline: 2 s. */
int tmux_glance(const char *socket, char **ret, struct error *err);

/* Paste text as a terminal would (bracketed where the program asked for it), any size, no line
 * ending added.  Control characters other than newline and tab are the caller's to remove. */
int tmux_paste(const char *socket, const char *text, size_t length, struct error *err);

/* Press keys by their tmux names ("Enter", "C-c"). */
int tmux_send_keys(const char *socket, const struct strvec *keys, struct error *err);

/* End the server and what runs in it (SIGHUP to the panes).  No server: 0. */
int tmux_kill_server(const char *socket, struct error *err);

/* Arguments of a client that attaches the caller's terminal; appended to *ret. */
void tmux_attach_argv(const char *socket, bool read_only, struct strvec *ret);

/* Version of the installed tmux ("3.3a"); the caller frees *ret.  CHILD_NOT_INSTALLED. */
int tmux_version(char **ret, struct error *err);
bool tmux_version_is_enough(const char *version);
