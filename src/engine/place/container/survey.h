/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an engine has of this deck, by its labels: to find what has no session.
 */
#pragma once

#include "driver/engine/engine.h"
#include "engine/deck/deck.h"
#include "model/plan/reconcile.h"

/* A container, a network or the name of an image. */
struct survey_item {
	enum stray_kind kind;
	char *name;
	char *session; /* the id of its session, as it says itself */
	bool runs;
};

struct survey {
	struct survey_item *items;
	size_t count;
};
void survey_free(struct survey *survey);
#define cleanup_survey CLEANUP(survey_free)

/* Everything with this deck's labels.  Names of images have none: all that begin as ours do. */
int survey_look(const struct deck *deck, struct engine *engine, struct survey *ret,
		struct error *err);

/* What bears this name in the place of the session's container.  SURVEY_ABSENT. */
enum survey_answer { SURVEY_OURS, SURVEY_ABSENT, SURVEY_FOREIGN };
int survey_find(const struct deck *deck, struct engine *engine, const char *name,
		const char *session, enum survey_answer *ret, struct error *err);

/* Remove a container or network that survey_look() has returned, if it is still ours and does not
 * run.  ERROR_BUSY: it runs, is in use, or is another's now.  Absent: 0. */
int survey_remove(const struct deck *deck, struct engine *engine, const struct survey_item *item,
		  struct error *err);
