/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which conversations are open on the user's other hosts, as these have told last.  Each list and
 * each stream of events of a host that passes through this machine is kept, so that a start here
 * knows of the other agent.
 */
#pragma once

#include "base/jsonio.h"

/* What a command tells of, once it has told all. */
enum kept_scope {
	KEPT_SOME,    /* of sessions that an option selects */
	KEPT_PROFILE, /* of all sessions of the profile that was asked for */
	KEPT_ALL,     /* of all sessions */
};

/* What one answer of a host tells. */
struct kept {
	const struct deck *deck;
	const struct remote *remote;
	enum kept_scope scope;
	const char *asked;          /* the profile that was asked for; "": the usual one there */
	struct json_object *before; /* what was known when it was asked: rows, by id */
	struct json_object *told;   /* not saved yet: by id, its row, or null where it is over */
	bool is_complete;
};
/* asked: NULL: the usual profile.  Borrowed. */
void kept_begin(const struct deck *deck, const struct remote *remote, enum kept_scope scope,
		const char *asked, struct kept *ret);
/* A session as list tells of it, or what events tell. */
void kept_hear(struct kept *kept, struct json_object *value);
/* All was told: what was known before, is in the scope and was not told is gone. */
void kept_complete(struct kept *kept);
/* Add it to what other processes have saved meanwhile.  A host that cannot be noted is one that is
 * not known. */
void kept_save(struct kept *kept);
void kept_end(struct kept *kept);

struct kept_question {
	const char *agent, *session_id;
	/* The session that is to have the conversation; NULL: it is not made yet. */
	const char *id;
	/* What its user can do if no agent runs there, for the refusal; or NULL. */
	const char *otherwise;
	/* Hosts that are not asked; or NULL. */
	const struct remote *except[2];
};
/* Does an agent of another host have this conversation?  Only a host that told so is asked again,
 * for 10 s after it has been reached.  Hold no lock.  ERROR_EXISTS: it has, by its own word now.
 * ERROR_INVALID: a signal has ended the question.  A host that does not answer, or does not know,
 * makes a warning of the deck. */
int kept_check(struct deck *deck, const struct kept_question *question, struct error *err);
