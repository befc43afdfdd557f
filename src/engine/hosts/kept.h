/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which conversations are open on the user's other hosts, as these have told last.  Each list and
 * each stream of events of a host that passes through this machine is kept, so that a start here
 * knows of the other agent.
 */
#pragma once

#include "base/jsonio.h"
#include "engine/hosts/hosts.h"

/* What one answer of a host tells. */
struct kept {
	const struct deck *deck;
	const struct remote *remote;
	const char *asked;        /* the profile that was asked for; NULL: the usual one there */
	struct json_object *rows; /* of sessions that live and have a conversation */
	struct strvec heard;      /* the ids that were told; unused after kept_complete() */
	bool is_complete, is_changed;
};
void kept_begin(const struct deck *deck, const struct remote *remote, const char *asked,
		struct kept *ret);
/* A session as list tells of it, or what events tell. */
void kept_hear(struct kept *kept, struct json_object *value);
/* All sessions were told: those that were not are gone. */
void kept_complete(struct kept *kept);
/* Write what has changed.  A host that cannot be noted is one that is not known. */
void kept_save(struct kept *kept);
void kept_end(struct kept *kept);

struct kept_question {
	const char *agent, *session_id;
	/* Hosts that are not asked; or NULL. */
	const struct remote *except[2];
};
/* Does an agent of another host have this conversation?  Only a host that told so is asked again,
 * for 10 s after it has been reached.  Hold no lock.  ERROR_EXISTS: it has, by its own word now.
 * One that does not answer makes a warning of the deck. */
int kept_check(struct deck *deck, const struct kept_question *question, struct error *err);
