/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tmux commands as functions.  One server for each run, named by the path of its socket (tmux -S),
 * with one session ("agent") whose first pane is the agent's.
 *
 * Every call runs the tmux client with an argv and a deadline.  tmux must not interpret our texts:
 *
 * - the pane's command has several words, so that tmux executes it without a shell (tmux(1),
 * COMMANDS)
 * - directories are handed over as the client's own, never with -c, which is a format
 * - texts of users go into user options (@agentdeck_*), which formats show without expanding them
 * - an argument's final ";" is escaped, because tmux takes it for the end of a command
 */
#pragma once

#include "base/child.h"
#include "base/error.h"
#include "base/text.h"
#include "driver/tmux/tmux-userconf.h"
#include "model/session/instance.h"

/* TMUX_NO_SERVER: the socket does not exist, or no server listens on it.  TMUX_UNKNOWN: the server
 * does not answer in time, or speaks another protocol version; it may well be alive. */
enum { TMUX_NO_SERVER = 1, TMUX_UNKNOWN = 2 };

/* The oldest version that has all we use (pane options and hooks, respawn-pane -e). */
#define TMUX_OLDEST "3.2"

struct tmux_options {
	const char *conf_file;     /* for -f; "/dev/null" for none */
	const char *title, *group; /* shown in the status line; group may be NULL */
	const struct strvec *pane; /* the command of the pane: at least two words */
	unsigned columns, rows;    /* size until a client attaches */
};

/* Arguments for one client that makes a server with its session and sets it up; appended to *ret.
 * tmux_parse_started() reads its output.  When the pane's process ends, tmux itself records its
 * exit, keeps its last screen, and runs the pane's command again with AGENTDECK_PANE_DIED=1 in its
 * environment. */
void tmux_start_argv(const char *socket, const struct tmux_options *options, struct strvec *ret);

/* tmux that is built with systemd asks the user manager to move each pane into a scope
 * (tmux-spawn-UUID.scope), out of the server's: the pane would escape its limits and its end.  In
 * the environment of a new server, hide the address of the bus, so that it cannot ask.
 * tmux_start_argv() gives it back to what runs in the server. */
void tmux_hide_bus(struct strvec *environment);
/* Undo that in an environment that a server was started with. */
void tmux_show_bus(struct strvec *environment);

struct tmux_started {
	pid_t server, pane;
	char version[16];
};
/* ERROR_CHILD: the client failed; the message has its output.  ERROR_UNAVAILABLE: tmux is too
 * old. */
int tmux_parse_started(const struct child_result *result, struct tmux_started *ret,
		       struct error *err);

/* The configuration file of our servers, from the user's settings; appended to *ret.  Near its
 * end it sources user_conf (may be NULL), and the user's own configuration when source_user_config
 * is set; after these only what keeps a session without a terminal.  A detach_key that is also a
 * prefix is not bound. */
struct tmux_conf {
	struct tmux_choices choices; /* borrowed */
	const char *default_terminal;
	long history_limit;
	bool mouse;
	bool passthrough;       /* what the agent sends to the terminal itself gets through */
	bool clipboard;         /* the agent may set it (OSC 52), and not only its user in tmux */
	const char *detach_key; /* "" for none */
	/* The command that goes to another session (cli/cmd/switch.c); NULL: none.  The prefix with
	 * s and N runs it, and these keys; "" or NULL for none. */
	const struct strvec *switcher;
	const char *switch_key, *next_key;
	bool source_user_config;
	const char *user_conf;
};
/* ERROR_CORRUPT: a value has control characters and cannot be written into a configuration file. */
int tmux_conf_text(const struct tmux_conf *conf, struct strbuf *ret, struct error *err);

/* Set global options; names and values alternate.  Stops at the first one that tmux refuses. */
int tmux_set_options(const char *socket, const struct strvec *names_and_values, struct error *err);
/* What the status line shows, without tmux expanding it.  A text that is NULL stays as it is. */
struct tmux_status {
	const char *title, *group;
	const char *activity; /* "waiting" */
	const char *others;   /* "2 others wait" */
};
/* Deadline: 2 s. */
int tmux_show_status(const char *socket, const struct tmux_status *status, struct error *err);

struct tmux_client {
	pid_t pid;
	char *terminal; /* "/dev/pts/3" */
	char *name;     /* its TERM */
	char *answer;   /* what the terminal calls itself, "" if it does not say */
	unsigned columns, rows;
	bool is_read_only;
	int64_t since_us; /* since the Epoch */
};
struct tmux_clients {
	struct tmux_client *clients;
	size_t count;
};
/* The terminals that are attached.  Deadline: 2 s. */
int tmux_list_clients(const char *socket, struct tmux_clients *ret, struct error *err);
void tmux_clients_free(struct tmux_clients *clients);
#define cleanup_tmux_clients CLEANUP(tmux_clients_free)

/* Leave a text for the process that started a client, under a name that only it knows.  Deadline: 5
 * s. is_by_key: the key of tmux_conf.switcher asks, and detaches the client when this command has
 * ended (a client that is detached below its popup can crash tmux 3.3a); else it is detached here. */
struct tmux_note {
	const char *name; /* letters, digits and "-" */
	const char *text;
	bool is_by_key;
};
int tmux_send_away(const char *socket, const struct tmux_client *client,
		   const struct tmux_note *note, struct error *err);
/* Take the text away from the server.  NULL: there is none, or no server.  The caller frees. */
char *tmux_take_note(const char *socket, const char *name) MUST_USE;

/* Check that we or root started the server that listens on the socket.  0 also without one.  Every
 * function below that talks to a server checks this first; a caller that attaches checks it itself.
 * ERROR_SYSTEM: the message says whose it is. */
int tmux_check_socket(const char *socket, struct error *err);

/* Is a terminal attached to the server?  Runs no program: tmux gives its socket the permission to
 * execute while that is so (server_update_socket in server.c). */
bool tmux_has_clients(const char *socket);

struct tmux_pane {
	pid_t server, pane;
	bool dead;        /* the process has ended and was not replaced yet */
	unsigned clients; /* attached terminals */
	char *command;    /* name of the foreground process */
};
void tmux_pane_free(struct tmux_pane *pane);
#define cleanup_tmux_pane CLEANUP(tmux_pane_free)

/* The pane's state now.  Deadline: 2 s. */
int tmux_query(const char *socket, struct tmux_pane *ret, struct error *err);

/* How the pane's last process ended, as tmux recorded it: code, signal and last words.  The last
 * milliseconds of output may be missing: tmux 3.3a and older close the terminal on SIGCHLD without
 * reading it to its end (server_child_exited in server.c). */
int tmux_pane_exit(const char *socket, struct exit_record *ret, struct error *err);

/* Text of the pane, without escape sequences: the screen, and up to history_lines of what scrolled
 * off.  *ret is the caller's. */
int tmux_capture(const char *socket, unsigned history_lines, char **ret, struct error *err);
/* The screen alone, with the escape sequences of its colours and attributes. */
int tmux_capture_styled(const char *socket, char **ret, struct error *err);
/* The screen alone, for listings.  Deadline: 2 s. */
int tmux_glance(const char *socket, char **ret, struct error *err);

/* A program that reads along what the pane prints (pipe-pane), in a pipe that no user has taken. */
struct tmux_bell {
	const char *program, *fifo; /* its path, and its argument */
	bool forgets; /* the pipe that there is now is not ours, whatever was before */
};
/* Arguments of a client that prints the screen, line by line, with the escape sequences of its
 * colours; before it has looked, the bell is there.  bell: NULL: none.  Appended to *ret. */
void tmux_look_argv(const char *socket, const struct tmux_bell *bell, struct strvec *ret);
/* The command line that closes the bell's pipe. */
void tmux_unring_argv(const char *socket, struct strvec *ret);

/* Paste text as a terminal would (bracketed if the program asked for it), of any size, without
 * adding a line ending.  The caller removes control characters other than newline and tab. */
int tmux_paste(const char *socket, const char *text, size_t length, struct error *err);

/* Arguments of clients that pass on what a user types, appended to *ret: the text on standard
 * input, as a paste or as if it was typed, and one key by its tmux name.  Each prints "1" if the
 * pane's process has ended, and "0" else. */
void tmux_type_argv(const char *socket, bool is_paste, struct strvec *ret);
void tmux_press_argv(const char *socket, const char *key, struct strvec *ret);

/* Press keys by their tmux names ("Enter", "C-c"). */
int tmux_send_keys(const char *socket, const struct strvec *keys, struct error *err);

/* End the server and the processes in it (SIGHUP to the panes).  No server: 0. */
int tmux_kill_server(const char *socket, struct error *err);

struct tmux_attach {
	bool read_only;
	bool has_true_color; /* the terminal shows 16 million colours; else tmux finds that out */
	struct tmux_status status; /* shown from the beginning */
	/* The terminal is a pane of another tmux (the client must not have TMUX): without our
	 * status line, in a session that ends with the client and shares the window.  A format that
	 * is shown for some seconds; NULL: it is no such terminal. */
	const char *nested_note;
};
/* Arguments of a client that attaches the caller's terminal; appended to *ret. */
void tmux_attach_argv(const char *socket, const struct tmux_attach *how, struct strvec *ret);

/* The prefix of a server's keys, in tmux's notation ("C-b"); the caller frees *ret. TMUX_NO_SERVER,
 * TMUX_UNKNOWN. */
int tmux_prefix(const char *socket, char **ret, struct error *err);

/* Version of the installed tmux ("3.3a"); the caller frees *ret.  CHILD_NOT_INSTALLED. */
int tmux_version(char **ret, struct error *err);
bool tmux_version_is_enough(const char *version);
/* ERROR_UNAVAILABLE: it is too old. */
int tmux_check_version(const char *version, struct error *err);

struct tmux_probe {
	const char *socket;               /* the caller removes its file */
	const struct strvec *environment; /* of the server */
	const char *marker;               /* an entry of environment that no other process has */
	const char *gate;                 /* path of agentdeck-gate */
};
/* Check that the installed tmux works: it must print its version, and make a server that answers.
 * The server is ended in every case; it also ends when this process is killed. */
int tmux_probe(const struct tmux_probe *probe, struct error *err);
