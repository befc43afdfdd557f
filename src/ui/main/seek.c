/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/seek.h"

#include "base/clock.h"

enum { REST_MS = 150, TIMEOUT_MS = 30000 };

struct seek {
	struct errands *errands;
	struct loop_source *timer;
	bool is_waiting, is_running;
	unsigned number; /* of the search that was looked for last */
	bool *asked;     /* the hosts that look now: a slow one gets the last search then */
};

/* A search on another host, which delays none here. */
struct far_search {
	struct seek *seek;
	size_t host;
	unsigned number;
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
		list_search_replies(seek->errands->ui->list, 0, strbuf_text(&result->output));
		*seek->errands->is_changed = true;
	}
	seek_settle(seek);
}

static void look_there(struct seek *seek, size_t host);

static void on_found_there(const struct child_result *result, const struct error *failure UNUSED,
			   void *context)
{
	cleanup_free struct far_search *search = context;
	struct seek *seek = search->seek;
	const struct ui *ui = seek->errands->ui;
	seek->asked[search->host] = false;
	/* The answer is of an older search.  If no new one is due, ask the host again. */
	if (search->number != ui->searches) {
		if (!is_due(seek) && !is_empty(ui->search) &&
		    list_host(ui->list, search->host)->condition == HOST_THERE)
			look_there(seek, search->host);
		return;
	}
	if (!result || result->exit_status != 0)
		return;
	list_search_replies(ui->list, search->host, strbuf_text(&result->output));
	*seek->errands->is_changed = true;
}

static void look_there(struct seek *seek, size_t host)
{
	const char *name = list_host(seek->errands->ui->list, host)->name;
	cleanup_strvec struct strvec words = { 0 };
	struct far_search *search = xcalloc(1, sizeof(*search));
	*search = (struct far_search){ seek, host, seek->number };
	seek->asked[host] = true;
	strvec_push_array(&words,
			  (const char *const[]){ "-H", name, "search", "--json", "-", NULL });
	const struct errand errand = { .words = &words,
				       .input = seek->errands->ui->search,
				       .timeout_ms = TIMEOUT_MS };
	errand_start(seek->errands, &errand, on_found_there, search);
}

static void look_on_hosts(struct seek *seek)
{
	const struct list *list = seek->errands->ui->list;
	const size_t count = list_hosts(list);
	if (!count)
		return;
	if (!seek->asked)
		seek->asked = xcalloc(count, sizeof(*seek->asked));
	for (size_t i = 1; i < count; i++)
		if (list_host(list, i)->condition == HOST_THERE && !seek->asked[i])
			look_there(seek, i);
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
	look_on_hosts(seek);
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
	free(seek->asked);
	free(seek);
}
