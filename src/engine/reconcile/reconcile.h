/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions, disk and engines, compared: `agentdeck doctor --fix`.
 *
 * First what is there is looked at, then the sessions: whatever is made for a session is made after
 * its manifest, so what was there before a list without its session has none.  Before something is
 * freed, the sessions are listed again.  docs/workspaces.md says what is collected, and when.
 */
#pragma once

#include "engine/deck/deck.h"
#include "model/plan/reconcile.h"

/* Something that is not as it must be. */
struct stray {
	enum stray_kind kind;
	enum stray_action action;
	char *name;       /* of a container, network, image or branch; a path */
	char *session;    /* an id, or NULL */
	char *engine;     /* its address, or NULL */
	char *tls;        /* of that address, or NULL */
	char *profile;    /* of what is on disk; else NULL */
	char *repository; /* of a branch; else NULL */
	char *why;        /* for people */
	char *remedy;     /* what to do by hand, or NULL */
	bool is_freed;    /* by reconcile_fix() */
	char *failure;    /* why it was not, or NULL */
};

struct strays {
	struct stray *items;
	size_t count;
};
void strays_clear(struct strays *strays);
#define cleanup_strays CLEANUP(strays_clear)
/* How many have this action. */
size_t strays_count(const struct strays *strays, enum stray_action action);

/* An error: the sessions cannot be listed.  Engines that do not answer are strays. */
int reconcile_look(struct deck *deck, struct strays *ret, struct error *err);

/* Free what can be freed.  A failure is noted with its stray, and is an error at the end. */
int reconcile_fix(struct deck *deck, struct strays *strays, struct error *err);
