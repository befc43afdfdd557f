/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/seek.h"

#include "base/clock.h"

enum { REST_MS = 150, TIMEOUT_MS = 30000 };

struct seek {
	struct errands *errands;
	struct loop_source *timer;
	bool is_waiting, is_running;
	unsigned number; /* of the search that was looked for last */
};

static bool is_due(const struct seek *seek)
{
	return seek->number != seek->errands->ui->searches;
}

static void on_found(const struct child_result *result, const struct error *failure UNUSED,
		     void *context)
{
	struct seek *seek = context;
	seek->is_running = false;
	if (!is_due(seek) && result && result->exit_status == 0) {
		list_search_replies(seek->errands->ui->list, strbuf_text(&result->output));
		*seek->errands->is_changed = true;
	}
	seek_settle(seek);
}

static void on_rest(void *context)
{
	struct seek *seek = context;
	cleanup_strvec struct strvec words = { 0 };
	seek->is_waiting = false;
	if (!is_due(seek))
		return;
	seek->number = seek->errands->ui->searches;
	if (is_empty(seek->errands->ui->search))
		return;
	seek->is_running = true;
	strvec_push_array(&words, (const char *const[]){ "search", "--json", NULL });
	const struct errand errand = { .words = &words,
				       .input = seek->errands->ui->search,
				       .timeout_ms = TIMEOUT_MS };
	errand_start(seek->errands, &errand, on_found, seek);
}

void seek_settle(struct seek *seek)
{
	if (!seek->is_waiting && !seek->is_running && is_due(seek))
		seek->is_waiting = loop_set_timer(seek->timer, clock_ms() + REST_MS, NULL) == 0;
}

int seek_new(struct errands *errands, struct seek **ret, struct error *err)
{
	struct seek *seek = xcalloc(1, sizeof(*seek));
	seek->errands = errands;
	if (loop_add_timer(errands->loop, INT64_MAX, on_rest, seek, &seek->timer, err) < 0) {
		free(seek);
		return -1;
	}
	*ret = seek;
	return 0;
}

void seek_free(struct seek *seek)
{
	if (!seek)
		return;
	loop_remove(seek->timer);
	free(seek);
}
