/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/glance.h"

#include "engine/screen/activity.h"

enum { TIMEOUT_MS = 10000 };

static void on_end(const struct child_result *result UNUSED, const struct error *failure UNUSED,
		   void *context)
{
	struct glance *glance = context;
	glance->is_running = false;
}

void glance_at(struct glance *glance, const struct store_row *row, const char *styled)
{
	cleanup_strvec struct strvec words = { 0 };
	if (glance->is_running || !row || !activity_differs(glance->deck, row, styled))
		return;
	glance->is_running = true;
	strvec_push_array(&words, (const char *const[]){ "look", "--", row->id, NULL });
	errand_start(glance->errands, &(struct errand){ .words = &words, .timeout_ms = TIMEOUT_MS },
		     on_end, glance);
}
