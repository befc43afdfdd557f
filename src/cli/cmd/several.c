/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/several.h"

#include "base/clock.h"
#include "base/runner.h"
#include "cli/show/output.h"
#include "engine/run/recover.h"
#include "model/session/naming.h"

#include <string.h>

enum { OUTPUT_MAX = 64 << 20, TIMEOUT_MS = 180000 };

int64_t several_timeout_ms(const struct app *app)
{
	return TIMEOUT_MS + app->deck.settings.stop_timeout_s * 1000;
}

/* ---- which sessions ------------------------------------------------------------------------- */

void several_free(struct several *several)
{
	free(several->rows);
	*several = (struct several){ 0 };
}

static void add_once(struct several *several, const struct store_row *row)
{
	for (size_t i = 0; i < several->count; i++)
		if (several->rows[i] == row)
			return;
	several->rows[several->count++] = row;
}

static bool is_idle(const struct store_row *row)
{
	return !row->damage && state_is_at_rest(row->state, row->desired);
}

static int choose_set(const struct app *app, const struct several_verb *verb,
		      struct several *several, struct error *err)
{
	bool is_known = app->every;
	several->is_set = true;
	for (size_t i = 0; i < app->rows.count; i++) {
		const struct store_row *row = &app->rows.rows[i];
		if (!app->every && (row->damage || !naming_is_in_group(row->group, app->group)))
			continue;
		is_known = true;
		if (!verb->leaves_idle || !is_idle(row))
			add_once(several, row);
	}
	if (is_known)
		return 0;
	cleanup_free char *shown = visible(app->group);
	return error_set(err, ERROR_NOT_FOUND,
			 "no session is in group '%s': agentdeck list shows the groups", shown);
}

int several_choose(struct app *app, const struct strvec *names, const struct several_verb *verb,
		   struct several *ret, struct error *err)
{
	cleanup_several struct several several = { 0 };
	const unsigned ways = (names->count > 0) + app->every + (app->group != NULL);
	if (ways == 0)
		return error_set(err, ERROR_USAGE,
				 "no session is named: give a title or an id, --all, or "
				 "--group GROUP (see agentdeck %s --help)",
				 app->command->name);
	if (ways > 1)
		return error_set(err, ERROR_USAGE,
				 "give sessions, --all, or --group GROUP, but only one of them");
	if (store_list(app->deck.store, &app->rows, err) < 0)
		return -1;
	several.rows = xcalloc(app->rows.count + 1, sizeof(const struct store_row *));
	for (size_t i = 0; i < names->count; i++) {
		const struct store_row *row;
		if (store_resolve(&app->rows, names->items[i], &row, err) < 0)
			return -1;
		add_once(&several, row);
	}
	if (names->count == 0 && choose_set(app, verb, &several, err) < 0)
		return -1;
	*ret = several;
	several = (struct several){ 0 };
	return 0;
}

/* ---- one process for each ------------------------------------------------------------------- */

struct work {
	struct app *app;
	const struct several_verb *verb;
	struct loop *loop;
	size_t running, done, failed;
};

struct worker {
	struct work *work;
	const struct store_row *row;
};

/* What many warn of is the same: dispatch prints it once, at the end. */
static void relay_errors(struct app *app, const char *text)
{
	static const char prefix[] = "agentdeck: warning: ";
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *warning = line + strlen(prefix);
		if (!starts_with(line, prefix)) {
			if (*line)
				say_to(stderr, xstrdup(line));
		} else if (!strvec_contains(&app->deck.warnings, warning)) {
			strvec_push(&app->deck.warnings, warning);
		}
	}
}

static void print_answer(const struct store_row *row, const struct child_result *result,
			 const char *failure)
{
	cleanup_json struct json_object *object = NULL;
	if (!result || json_parse(strbuf_text(&result->output), result->output.length, "the answer",
				  &object, NULL) != 0) {
		object = json_object_new_object();
		json_set_bool(object, "success", false);
		json_set_string(object, "error", failure ? failure : "its process was killed");
		json_set_string(object, "code", error_code_name(ERROR_CHILD));
	}
	/* An error does not say whose it is. */
	json_set_string(object, "id", row->id);
	json_set_string(object, "title", row->title);
	print_json_line(object);
}

static void on_end(const struct child_result *result, const struct error *failure, void *context)
{
	cleanup_free struct worker *worker = context;
	struct work *work = worker->work;
	const char *why = failure ? failure->message : NULL;
	work->running--;
	work->done++;
	work->failed += !result || result->exit_status != 0;
	if (result)
		relay_errors(work->app, strbuf_text(&result->errors));
	if (work->app->json)
		print_answer(worker->row, result, why);
	else if (result && result->exit_status != 0 && !result->output.length &&
		 !result->errors.length)
		complain("%s: its process was killed", worker->row->title);
	else if (result)
		fputs(strbuf_text(&result->output), stdout);
	else
		complain("%s: %s", worker->row->title, why);
	(void)fflush(stdout);
}

static void start(struct work *work, const struct store_row *row)
{
	const struct app *app = work->app;
	const struct several_verb *verb = work->verb;
	cleanup_strvec struct strvec words = { 0 };
	cleanup_free char *command = xstrdup(app->command->name);
	char *rest = command;
	strvec_push(&words, app->deck.program);
	strvec_push(&words, "--profile");
	strvec_push(&words, app->deck.profile);
	for (const char *word; (word = strsep(&rest, " "));)
		strvec_push(&words, word);
	strvec_push(&words, "--instance");
	strvec_push(&words, row->base);
	if (app->json)
		strvec_push(&words, "--json");
	if (app->quiet)
		strvec_push(&words, "--quiet");
	if (app->takes_over)
		strvec_push(&words, "--take-over");
	strvec_push_all(&words, &verb->words);
	const char *word = verb->word ? verb->word(app, row) : NULL;
	if (word)
		strvec_push(&words, word);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)strvec_argv(&words),
			.input = verb->input,
			.input_length = verb->input_length,
			/* Ctrl-C ends what has not begun, and leaves nothing half done. */
			.new_session = true,
			.outlives_us = true,
			.max_output = OUTPUT_MAX,
		},
		.timeout_ms = (int)verb->timeout_ms,
	};
	struct worker *worker = xcalloc(1, sizeof(*worker));
	*worker = (struct worker){ work, row };
	work->running++;
	runner_start(work->loop, &request, on_end, worker);
}

static int run_all(struct work *work, const struct several *several, struct error *err)
{
	const size_t jobs = work->verb->jobs ? work->verb->jobs : recover_jobs();
	/* What was printed so far comes before what the processes say. */
	(void)fflush(stdout);
	for (size_t next = 0; next < several->count || work->running;) {
		if (next < several->count && work->running < jobs)
			start(work, several->rows[next++]);
		else if (loop_turn(work->loop, INT64_MAX, err) < 0)
			return -1;
	}
	return 0;
}

int several_run(struct app *app, const struct several *several, const struct several_verb *verb,
		struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	struct work work = { .app = app, .verb = verb };
	const bool speaks = !app->json && !app->quiet;
	if (several->count == 1 && !several->is_set)
		return verb->act(app, several->rows[0], err);
	if (several->count == 0) {
		if (speaks)
			printf("%s\n", app->rows.count ? "No session runs there: nothing to do."
						       : "There are no sessions.");
		return 0;
	}
	if (loop_new(&loop, err) < 0)
		return -1;
	work.loop = loop;
	if (run_all(&work, several, err) < 0)
		return -1;
	if (speaks && several->count > 1 && work.failed)
		printf("%zu sessions: %zu %s, %zu failed\n", work.done, work.done - work.failed,
		       verb->result, work.failed);
	else if (speaks && several->count > 1)
		printf("%zu sessions: %zu %s\n", work.done, work.done, verb->result);
	return work.failed ? 1 : 0;
}

int several_work(struct app *app, const struct several_verb *verb, struct error *err)
{
	struct store_row row;
	if (!app->instance)
		return SEVERAL_NONE;
	if (store_load_row(app->deck.store, app->instance, &row) != 0)
		return error_set(err, ERROR_NOT_FOUND, "it was removed meanwhile");
	int r = verb->act(app, &row, err);
	cleanup_free char *title = visible(row.title);
	/* Many messages begin with the title already. */
	if (r < 0 && err && !starts_with(err->message, title))
		error_prefix(err, "%s", title);
	store_row_free(&row);
	return r;
}

int several_do(struct app *app, const struct strvec *names, const struct several_verb *verb,
	       struct error *err)
{
	cleanup_several struct several several = { 0 };
	int r = several_work(app, verb, err);
	if (r != SEVERAL_NONE)
		return r;
	if (several_choose(app, names, verb, &several, err) < 0)
		return -1;
	return several_run(app, &several, verb, err);
}
