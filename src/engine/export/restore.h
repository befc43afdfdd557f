/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sessions of a backup (pack_deck()) back into the deck: what `agentdeck restore` does.
 *
 * What is here stays as it is: sessions, conversations that have grown since, settings.  So a
 * restore that was killed is done again, and makes only what is missing.
 */
#pragma once

#include "base/jsonio.h"
#include "engine/deck/deck.h"
#include "engine/export/unpack-file.h"

enum restore_verdict {
	RESTORE_MAKE,
	RESTORE_HERE,   /* the session, or its conversation, is here */
	RESTORE_REFUSE, /* it cannot be made */
};
const char *restore_verdict_name(enum restore_verdict verdict); /* "restore", "here", "refused" */

struct restore_step {
	const struct parcel *parcel; /* borrowed from the plan's file */
	enum restore_verdict verdict;
	char *title;     /* of the new session; NULL: there is none */
	char *why;       /* NULL: there is nothing to say */
	char *directory; /* where it works here, or would */
	char *id;        /* of the session that was made; NULL: none was */
	/* its agent comes out of the same file, so the rest is not known before that is there */
	bool awaits_agent;
};
struct restore_order {
	const char *file;
	const struct strvec *moves; /* as in struct unpack_order */
};

struct restore_plan {
	const struct strvec *moves; /* of the order; borrowed */
	struct unpack_file file;
	struct restore_step *steps; /* one for each session of the file, in its order */
	size_t count;
	struct strvec coming; /* settings that restore_apply() writes: "<path>: will be restored" */
	struct strvec told;   /* about other settings, and moves that moved nothing */
	struct json_object *taken;   /* titles, "<profile>/<title>" */
	struct json_object *claimed; /* conversations of the steps, "<agent>/<id>" */
};
#define RESTORE_NO_PLAN ((struct restore_plan){ .file = UNPACK_NO_FILE })
void restore_plan_free(struct restore_plan *plan);
#define cleanup_restore_plan CLEANUP(restore_plan_free)

/* Check the whole file, and say what becomes of each session.  Changes nothing.  ERROR_CORRUPT:
 * also if a session that is here cannot be read, since it may have any of the conversations. */
int restore_look(struct deck *deck, const struct restore_order *order, struct restore_plan *ret,
		 struct error *err);

/* Restore the settings that are not here, then all of the plan's sessions, stopped; after a failure
 * none of them.  What is in plan->coming goes to plan->told. */
int restore_apply(struct deck *deck, struct restore_plan *plan, struct error *err);
