/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck as its user sees it: commands and their JSON, the screen, the keys.  Nothing here uses
 * the program's internals.
 */
#pragma once

#include "persistence/login.h"

#include "base/jsonio.h"

/* Puts it when the test is over. */
void keep_json(struct json_object *object);

struct reply {
	int status;
	const char *output, *errors;
	struct json_object *json; /* NULL if the output is no JSON; lives as long as the test */
};

/* Run agentdeck with these words in this login; NULL: in a new login. */
struct reply deck(struct login *login, const char *const *words);
/* The same without a login, as cron would run it.  A login costs ten times as much. */
struct reply deck_look(const char *const *words);
/* The JSON of its output; fails the test unless the status is 0. */
struct json_object *deck_ok(struct login *login, const char *const *words);
struct json_object *deck_look_ok(const char *const *words);

struct session {
	const char *title, *directory;
	const char *id, *session_id, *socket, *status;
	pid_t server_pid, agent_pid; /* 0: none */
};

/* "add" a session for the directory <home>/<title>, which is made if missing.  words: further ones
 * for the command line; NULL: none.  Its agent is "demo" if they name none with --agent or -c.
 * login NULL: without one, since this starts nothing. */
void session_add(struct session *session, struct login *login, const char *title,
		 const char *const *words);
/* "session start", which must succeed; then session_look(). */
void session_start(struct session *session, struct login *login);
void session_restart(struct session *session, struct login *login);
void session_stop(struct session *session, struct login *login);
/* "session show": fill *session from it.  Returns all of it. */
struct json_object *session_look(struct session *session);

/* The session's manifest, to change and write back as its user's editor would. */
struct json_object *session_manifest(const struct session *session);
void session_forge(const struct session *session, struct json_object *manifest);
/* Give the session this conversation, as an older agentdeck would have. */
void session_forge_id(struct session *session, const char *session_id);

struct process session_server(const struct session *session);
struct process session_agent(const struct session *session);
/* SIGKILL for the tmux server, and wait until it is gone. */
void session_kill_server(struct session *session);
/* Have a process hold the session's lock, as a command that works on it would; until it is
 * killed. */
struct process session_occupy(const struct session *session);

/* The screen with all that scrolled off; NULL when its server does not answer. */
const char *session_screen(const struct session *session);
bool session_shows(const struct session *session, const char *text);
/* Type text without Enter, when the agent shows its prompt; returns when the text is on the
 * screen. */
void session_type(const struct session *session, const char *text);
void session_press(const struct session *session, const char *key);
/* A turn with the demo agent: say it and wait for the reply. */
void session_say(const struct session *session, const char *text);

/* The present agent's process was started with this flag and value; without this flag. */
void assert_flag(const struct session *session, const char *flag, const char *value);
void assert_no_flag(const struct session *session, const char *flag);
/* Its server and its agent are in the scope with its name, under the user's manager. */
void assert_isolated(const struct session *session);

/* The agent resumed this conversation by its id, and has the history on its screen and in its
 * memory. first: the first thing said in it; before: the number of turns before. */
void assert_came_back(struct session *session, const char *session_id, const char *first,
		      unsigned before);

/* agentdeck's log. */
const char *deck_log(void);
void assert_logged(const char *format, ...) PRINTF_LIKE(1, 2);
void assert_not_logged(const char *text);

/* A program "claude" in the user's PATH that behaves as claude does, with its files in claude's
 * places. */
void install_claude_stand_in(void);
/* Claude's transcript of this id for the session's directory: its path in the machine. */
const char *claude_transcript(const struct session *session, const char *session_id);
/* Write one with one turn, in which the user says text. */
const char *write_transcript(const struct session *session, const char *session_id,
			     const char *text);
/* Beside the session's own transcript write a newer one that no session owns, as if its user had
 * run the agent in the same directory by hand.  A program that loses the session's id would find
 * this one. */
void write_decoy(struct session *session);
/* A random UUID. */
const char *new_uuid(void);

/* What `revive --due` makes of it: the word of its answer. */
const char *session_say_due(const struct session *session);
void assert_due(const struct session *session, const char *expected, const char *where);

/* Remove every instance of the test. */
void deck_clear(void);
