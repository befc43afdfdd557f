/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/peek.h"

#include "base/clock.h"
#include "ui/main/lens.h"

#include <string.h>

/* Before what a command of ours says on standard error. */
#define PREFIX "agentdeck: "

enum {
	REST_MS = 80,
	SCREEN_MS = 200,
	CHANGES_MS = 5000, /* between two looks at the same tree */
	TYPED_MS = 40,     /* between two looks while the user types there */
	TIMEOUT_MS = 10000,
	TREE_MS = 30000,
};

struct peek {
	struct errands *errands;
	struct glance *glance;
	struct loop_source *timer;
	bool is_waiting; /* the timer runs */
	int64_t due_ms;  /* of the timer */
	char *id;        /* whom the command that runs is about; NULL: none runs */
	enum preview_kind kind;
	struct lens lens;  /* of the screen that is shown */
	int64_t looked_ms; /* when that was last looked at */
	/* The tree that is looked at beside all others, which need not wait for it; NULL: none. */
	char *tree_id;
	int64_t tree_ms; /* when the last such look began */
};

static struct preview *preview_of(const struct peek *peek)
{
	return &peek->errands->ui->preview;
}

static const char *wanted_id(const struct peek *peek)
{
	const struct item *item = ui_previewed(peek->errands->ui);
	return item ? item->id : NULL;
}

static void show(struct peek *peek, const char *text)
{
	if (preview_set(preview_of(peek), peek->kind, peek->id, text))
		*peek->errands->is_changed = true;
}

/* An earlier look replaces a later one: a tree that rests holds up no other preview. */
static void set_timer(struct peek *peek, int64_t at_ms)
{
	if (peek->id || (peek->is_waiting && peek->due_ms <= at_ms))
		return;
	peek->due_ms = at_ms;
	peek->is_waiting = loop_set_timer(peek->timer, at_ms, NULL) == 0;
}

/* The command is over; later events are not in its output. */
static void end_command(struct peek *peek)
{
	free(TAKE_PTR(peek->id));
	peek_settle(peek);
}

/* ---- what a command of agentdeck's says ------------------------------------------------------- */

/* The user typed no command, so the text does not begin with its name.  Borrowed. */
static const char *text_of(const struct child_result *result, const struct error *failure)
{
	const char *text = !result                    ? failure->message
			   : result->exit_status == 0 ? strbuf_text(&result->output)
						      : strbuf_text(&result->errors);
	return starts_with(text, PREFIX) ? text + strlen(PREFIX) : text;
}

static void on_result(const struct child_result *result, const struct error *failure, void *context)
{
	struct peek *peek = context;
	show(peek, text_of(result, failure));
	end_command(peek);
}

/* The user may look at something else by now. */
static void on_changes(const struct child_result *result, const struct error *failure,
		       void *context)
{
	struct peek *peek = context;
	struct preview *preview = preview_of(peek);
	cleanup_free char *id = TAKE_PTR(peek->tree_id);
	if (preview->kind == PREVIEW_CHANGES && streq(or_empty(wanted_id(peek)), id)) {
		(void)preview_set(preview, PREVIEW_CHANGES, id, text_of(result, failure));
		preview->has_failed = !result || result->exit_status != 0;
		*peek->errands->is_changed = true;
	}
	peek_settle(peek);
}

/* A large tree takes its time, and so does the forge that knows the pull request. */
static void look_at_tree(struct peek *peek, const char *id)
{
	cleanup_strvec struct strvec words = { 0 };
	if (peek->tree_id)
		return;
	peek->tree_id = xstrdup(id);
	peek->tree_ms = clock_ms();
	preview_of(peek)->is_stale = false;
	preview_add_words(PREVIEW_CHANGES, id, &words);
	errand_start(peek->errands, &(struct errand){ .words = &words, .timeout_ms = TREE_MS },
		     on_changes, peek);
}

static void run_command(struct peek *peek)
{
	cleanup_strvec struct strvec words = { 0 };
	preview_add_words(peek->kind, peek->id, &words);
	errand_start(peek->errands, &(struct errand){ .words = &words, .timeout_ms = TIMEOUT_MS },
		     on_result, peek);
}

/* ---- the screen ------------------------------------------------------------------------------- */

/* What is shown of it is not followed any more. */
static void end_bell(struct peek *peek)
{
	preview_of(peek)->is_stale |= lens_close(&peek->lens);
}

static void on_ring(void *context)
{
	struct peek *peek = context;
	preview_of(peek)->is_stale = true;
	peek_settle(peek);
}

static void on_screen(const struct child_result *result, const struct error *failure UNUSED,
		      void *context)
{
	struct peek *peek = context;
	if (result && result->exit_status == 0) {
		show(peek, strbuf_text(&result->output));
		glance_at(peek->glance, peek->id, strbuf_text(&result->output));
		end_command(peek);
	} else {
		/* agentdeck says why in its words, or what the last ones were. */
		run_command(peek);
	}
}

/* ---- when ------------------------------------------------------------------------------------- */

static bool is_rung_for(const struct peek *peek, const char *id)
{
	return peek->lens.bell && id && streq(bell_id(peek->lens.bell), id) &&
	       preview_of(peek)->kind == PREVIEW_SCREEN;
}

static void on_rest(void *context)
{
	struct peek *peek = context;
	const char *id = wanted_id(peek);
	peek->is_waiting = false;
	if (peek->lens.bell && !is_rung_for(peek, id))
		end_bell(peek);
	if (peek->id || !preview_is_due(preview_of(peek), id))
		return;
	if (preview_of(peek)->kind == PREVIEW_CHANGES) {
		look_at_tree(peek, id);
		return;
	}
	peek->id = xstrdup(id);
	peek->kind = preview_of(peek)->kind;
	/* What happens from now on is not in it. */
	preview_of(peek)->is_stale = false;
	if (peek->kind == PREVIEW_SCREEN && lens_look(&peek->lens, id))
		peek->looked_ms = clock_ms();
	else
		run_command(peek);
}

void peek_settle(struct peek *peek)
{
	const char *id = wanted_id(peek);
	if (peek->lens.bell && !is_rung_for(peek, id))
		end_bell(peek);
	if (!preview_is_due(preview_of(peek), id))
		return;
	const bool is_typing = peek->errands->ui->mode == MODE_AGENT;
	const int64_t rested = clock_ms() + REST_MS;
	const int64_t next = peek->looked_ms + (is_typing ? TYPED_MS : SCREEN_MS);
	const bool is_again = preview_shows(preview_of(peek), PREVIEW_CHANGES, id) &&
			      peek->tree_ms + CHANGES_MS > rested;
	if (is_again)
		set_timer(peek, peek->tree_ms + CHANGES_MS);
	else if (!is_rung_for(peek, id))
		set_timer(peek, rested);
	else
		set_timer(peek, next > clock_ms() ? next : clock_ms());
}

void peek_rest(struct peek *peek)
{
	end_bell(peek);
}

int peek_new(struct glance *glance, struct peek **ret, struct error *err)
{
	struct peek *peek = xcalloc(1, sizeof(*peek));
	*peek = (struct peek){ .errands = glance->errands,
			       .glance = glance,
			       .lens = { .glance = glance,
					 .on_ring = on_ring,
					 .on_screen = on_screen,
					 .context = peek } };
	if (loop_add_timer(peek->errands->loop, INT64_MAX, on_rest, peek, &peek->timer, err) < 0) {
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
	end_bell(peek);
	loop_remove(peek->timer);
	free(peek->id);
	free(peek->tree_id);
	free(peek);
}
