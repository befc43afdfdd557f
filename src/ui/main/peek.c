/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/peek.h"

#include "base/clock.h"
#include "base/runner.h"

enum { REST_MS = 80, TIMEOUT_MS = 10000 };

struct peek {
	struct errands *errands;
	struct loop_source *timer;
	bool is_waiting; /* the timer runs */
	char *id;        /* whom the command that runs is about; NULL: none runs */
	enum preview_kind kind;
};

static const char *wanted_id(const struct peek *peek)
{
	const struct item *item = list_selected(peek->errands->ui->list);
	return item ? item->id : NULL;
}

static void on_result(const struct child_result *result, const struct error *failure, void *context)
{
	struct peek *peek = context;
	struct ui *ui = peek->errands->ui;
	const char *text = !result                    ? failure->message
			   : result->exit_status == 0 ? strbuf_text(&result->output)
						      : strbuf_text(&result->errors);
	preview_set(&ui->preview, peek->kind, peek->id, text);
	free(TAKE_PTR(peek->id));
	*peek->errands->is_changed = true;
}

static void on_rest(void *context)
{
	struct peek *peek = context;
	const char *id = wanted_id(peek);
	const enum preview_kind kind = peek->errands->ui->preview.kind;
	cleanup_strvec struct strvec words = { 0 };
	peek->is_waiting = false;
	if (peek->id || !preview_is_due(&peek->errands->ui->preview, id))
		return;
	peek->id = xstrdup(id);
	peek->kind = kind;
	/* What happens from now on is not in it. */
	peek->errands->ui->preview.is_stale = false;
	preview_add_words(kind, id, &words);
	errand_start(peek->errands, &(struct errand){ .words = &words, .timeout_ms = TIMEOUT_MS },
		     on_result, peek);
}

void peek_settle(struct peek *peek)
{
	if (peek->is_waiting || peek->id ||
	    !preview_is_due(&peek->errands->ui->preview, wanted_id(peek)))
		return;
	peek->is_waiting = loop_set_timer(peek->timer, clock_ms() + REST_MS, NULL) == 0;
}

int peek_new(struct errands *errands, struct peek **ret, struct error *err)
{
	struct peek *peek = xcalloc(1, sizeof(*peek));
	peek->errands = errands;
	if (loop_add_timer(errands->loop, INT64_MAX, on_rest, peek, &peek->timer, err) < 0) {
		free(peek);
		return -1;
	}
	*ret = peek;
	return 0;
}

void peek_free(struct peek *peek)
{
	if (!peek)
		return;
	loop_remove(peek->timer);
	free(peek->id);
	free(peek);
}
