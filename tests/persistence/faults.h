/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fault: what goes wrong, what agentdeck is asked then, what it answers, and what holds
 * afterwards.  Each stands under its name in docs/faults.md; tests/check-faults compares.
 */
#pragma once

#include "persistence/deck.h"

enum { FAULT_STEPS = 8 };

/* A command while the fault lasts.  A word, or what it shows, that is "@deck" or "@other" is the id
 * of that session, "@argument" the fault's argument; one that begins with "~/" is below the home. */
struct fault_step {
	const char *const *words;
	int status;
	const char *says;  /* stands in the one message that it gives; NULL: it gives none */
	const char *shows; /* stands in what it prints; NULL: whatever */
};

#define DONE(command) { .words = (command) }
#define SHOWS(command, text) { .words = (command), .shows = (text) }
#define WARNS(command, text, shown) { .words = (command), .says = (text), .shows = (shown) }
#define FAILS(command, code, text) { .words = (command), .status = (code), .says = (text) }
#define SHOWS_FAILURE(command, code, text) { .words = (command), .status = (code), .shows = (text) }

/* What becomes of the session that runs. */
enum fault_run {
	SAME_RUN, /* it runs on, undisturbed */
	NEW_RUN,  /* it has ended, and the next start is another run */
};

struct fault {
	const char *name;
	void (*strike)(const struct fault *fault);
	const char *argument;
	size_t number;
	struct fault_step steps[FAULT_STEPS + 1];
	void (*mend)(const struct fault *fault); /* NULL: nothing is to be undone */
	enum fault_run run;
};

/* agentdeck with these words. */
#define DECK(...) WORDS("agentdeck", __VA_ARGS__)
#define START DECK("session", "start", "@deck")
#define STOP DECK("session", "stop", "@deck")
#define RESTART DECK("session", "restart", "@deck")
#define LIST DECK("list")

/* Who is there when a fault strikes: "deck" runs, "other" is stopped, and both have a conversation. */
extern struct fault_world {
	struct session deck, other;
} world;

/* Makes the world, then for each of them: the fault strikes, each step gives its answer, and when
 * it is mended
 *   - every session is there that was there before, once, with its title and its conversation, and
 *     no other;
 *   - one tmux server and one agent run, in their scope, and nothing that nobody waits for;
 *   - nothing that was begun is left in the state directory;
 *   - `session start` brings the conversation back, with its history.
 * At the end both remember all that was said. */
void run_faults(const struct fault *faults, size_t count);

/* "session VERB" for "deck", which must succeed; without a login, which takes its time. */
void tell_deck(const char *verb);
/* One line of agentdeck, perhaps with the agent's own last words below it. */
bool is_one_message(const char *errors);
/* How often is part in text? */
size_t count_of(const char *text, const char *part);
/* The state directory, or a path below it. */
const char *state_path(const char *path);
/* The manifest of this session. */
const char *manifest_path(const struct session *session);
