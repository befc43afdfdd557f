/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fault: what goes wrong, the agentdeck commands that follow, their answers, and what holds
 * afterwards. Each has its name in docs/faults.md; tests/check-faults compares.
 */
#pragma once

#include "persistence/deck.h"

enum { FAULT_STEPS = 8 };

/* A command during the fault.  In its words and in shows, "@deck" and "@other" are the ids of those
 * sessions, "@argument" is the fault's argument, and a word that begins with "~/" is below the
 * home. */
struct fault_step {
	const char *const *words;
	int status;
	const char *says;  /* part of its one message; NULL: it gives no message */
	const char *shows; /* part of its output; NULL: any output */
};

#define DONE(command)              \
	{                          \
		.words = (command) \
	}
#define SHOWS(command, text)                        \
	{                                           \
		.words = (command), .shows = (text) \
	}
#define WARNS(command, text, shown)                                  \
	{                                                            \
		.words = (command), .says = (text), .shows = (shown) \
	}
#define FAILS(command, code, text)                                   \
	{                                                            \
		.words = (command), .status = (code), .says = (text) \
	}
#define SHOWS_FAILURE(command, code, text)                            \
	{                                                             \
		.words = (command), .status = (code), .shows = (text) \
	}

/* What happens to the running session. */
enum fault_run {
	SAME_RUN, /* it keeps running, undisturbed */
	NEW_RUN,  /* it has ended, and the next start makes a new run */
};

struct fault {
	const char *name;
	void (*strike)(const struct fault *fault);
	const char *argument;
	size_t number;
	struct fault_step steps[FAULT_STEPS + 1];
	void (*mend)(const struct fault *fault); /* NULL: there is nothing to mend */
	enum fault_run run;
};

/* agentdeck with these words. */
#define DECK(...) WORDS("agentdeck", __VA_ARGS__)
#define START     DECK("session", "start", "@deck")
#define STOP      DECK("session", "stop", "@deck")
#define RESTART   DECK("session", "restart", "@deck")
#define LIST      DECK("list")
/* For people, a session that runs has the word of what its agent does. */
#define LIST_JSON DECK("list", "--json")
#define RUNNING   "\"status\": \"running\""

/* The sessions when a fault strikes: "deck" runs, "other" is stopped, and both have a
 * conversation. */
extern struct fault_world {
	struct session deck, other;
} world;

/* Make the world.  Then for each fault: it strikes, each step gives its answer, and after it is
 * mended
 *
 *   - every earlier session exists once, with its title and its conversation, and no other does;
 *   - one tmux server and one agent run, in their scope, and no process that nobody waits for;
 *   - the state directory holds nothing unfinished;
 *   - `session start` resumes the conversation, with its history.
 *
 * At the end both sessions remember all that was said. */
void run_faults(const struct fault *faults, size_t count);

/* "session VERB" for "deck", which must succeed; without a login, because a login takes time. */
void tell_deck(const char *verb);
/* One line of agentdeck, perhaps with the agent's own last words below it. */
bool is_one_message(const char *errors);
/* How often text contains part. */
size_t count_of(const char *text, const char *part);
/* The state directory, or a path below it. */
const char *state_path(const char *path);
/* The manifest of this session. */
const char *manifest_path(const struct session *session);
