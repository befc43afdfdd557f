/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/glance.h"

#include "engine/screen/activity.h"

enum { TIMEOUT_MS = 10000 };

static void on_end(const struct child_result *result, const struct error *failure, void *context);

static void run_look(struct glance *glance, const char *id)
{
	cleanup_strvec struct strvec words = { 0 };
	glance->is_running = true;
	strvec_push_array(&words, (const char *const[]){ "look", "--", id, NULL });
	errand_start(glance->errands, &(struct errand){ .words = &words, .timeout_ms = TIMEOUT_MS },
		     on_end, glance);
}

static void on_end(const struct child_result *result UNUSED, const struct error *failure UNUSED,
		   void *context)
{
	struct glance *glance = context;
	glance->is_running = false;
	if (glance->missed.count == 0)
		return;
	cleanup_strvec struct strvec missed = glance->missed;
	glance->missed = (struct strvec){ 0 };
	strvec_push_array(&glance->missed, (const char *const *)missed.items + 1);
	run_look(glance, missed.items[0]);
}

void glance_at(struct glance *glance, const char *id, const char *styled)
{
	const struct store_row *row = roster_running_row(glance->roster, id);
	if (!row || !activity_differs(glance->deck, row, styled))
		return;
	if (!glance->is_running)
		run_look(glance, row->id);
	else if (!strvec_contains(&glance->missed, row->id))
		strvec_push(&glance->missed, row->id);
}

void glance_free(struct glance *glance)
{
	strvec_clear(&glance->missed);
}
