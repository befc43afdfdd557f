/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/crew.h"

#include "base/runner.h"
#include "cli/show/output.h"
#include "engine/run/recover.h"

#include <string.h>

enum { OUTPUT_MAX = 64 << 20, TIMEOUT_MS = 180000 };

int64_t crew_timeout_ms(const struct app *app)
{
	return TIMEOUT_MS + app->deck.settings.stop_timeout_s * 1000;
}

struct work {
	struct app *app;
	const struct crew_order *order;
	struct loop *loop;
	size_t running, failed;
};

struct worker {
	struct work *work;
	const struct crew_job *job;
};

static bool names_session(const struct crew_job *job, const char *text)
{
	const size_t length = strlen(job->title);
	return starts_with(text, job->title) && starts_with(text + length, ": ");
}

/* What a session's process does now.  A line of it does not say whose it is. */
static void relay_progress(const struct crew_job *job, struct json_object *object)
{
	json_set_string(object, "id", job->id);
	json_set_string(object, "title", job->title);
	print_json_line_to(stderr, object);
}

/* Say where in the file a job that failed is declared.  What names its session is for itself, such
 * as what a start waits for. */
static void relay_error(const struct crew_job *job, const char *line)
{
	static const char prefix[] = "agentdeck: ";
	cleanup_json struct json_object *object = NULL;
	if (*line == '{' && json_parse(line, strlen(line), "the progress", &object, NULL) == 0)
		relay_progress(job, object);
	else if (job->place && starts_with(line, prefix) &&
		 !names_session(job, line + strlen(prefix)))
		complain("%s: %s: %s", job->place, job->title, line + strlen(prefix));
	else if (*line)
		say_to(stderr, xstrdup(line));
}

/* What many warn of is the same: dispatch prints it once, at the end. */
static void relay_errors(struct app *app, const struct crew_job *job, const char *text)
{
	static const char prefix[] = "agentdeck: warning: ";
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *warning = line + strlen(prefix);
		if (!starts_with(line, prefix)) {
			relay_error(job, line);
		} else if (!strvec_contains(&app->deck.warnings, warning)) {
			strvec_push(&app->deck.warnings, warning);
		}
	}
}

void crew_add_members(struct json_object *object, struct json_object *members)
{
	if (!members)
		return;
	json_object_object_foreach(members, key, value) {
		json_set(object, key, json_object_get(value));
	}
}

static void print_answer(const struct crew_job *job, const struct child_result *result,
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
	const char *why = json_get_string(object, "error", NULL);
	if (job->place && why) {
		const bool is_named = names_session(job, why);
		cleanup_free char *placed = xasprintf("%s: %s%s%s", job->place,
						      is_named ? "" : job->title,
						      is_named ? "" : ": ", why);
		json_set_string(object, "error", placed);
	}
	/* An error does not say whose it is. */
	if (job->id)
		json_set_string(object, "id", job->id);
	json_set_string(object, "title", job->title);
	crew_add_members(object, job->members);
	print_json_line(object);
}

static void on_end(const struct child_result *result, const struct error *failure, void *context)
{
	cleanup_free struct worker *worker = context;
	struct work *work = worker->work;
	const char *why = failure ? failure->message : NULL;
	work->running--;
	work->failed += !result || result->exit_status != 0;
	if (result)
		relay_errors(work->app, worker->job, strbuf_text(&result->errors));
	if (work->app->json)
		print_answer(worker->job, result, why);
	else if (result && result->exit_status != 0 && !result->output.length &&
		 !result->errors.length)
		complain("%s: its process was killed", worker->job->title);
	else if (result)
		fputs(strbuf_text(&result->output), stdout);
	else
		complain("%s: %s", worker->job->title, why);
	(void)fflush(stdout);
}

static void start(struct work *work, const struct crew_job *job)
{
	const struct app *app = work->app;
	cleanup_strvec struct strvec words = { 0 };
	strvec_push(&words, app->deck.program);
	strvec_push(&words, "--profile");
	strvec_push(&words, app->deck.profile);
	strvec_push_all(&words, &job->words);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)strvec_argv(&words),
			.directory = job->directory,
			.input = job->input,
			.input_length = job->input_length,
			/* Ctrl-C ends what has not begun, and leaves nothing half done. */
			.new_session = true,
			.outlives_us = true,
			.max_output = OUTPUT_MAX,
		},
		.timeout_ms = (int)work->order->timeout_ms,
	};
	struct worker *worker = xcalloc(1, sizeof(*worker));
	*worker = (struct worker){ work, job };
	work->running++;
	runner_start(work->loop, &request, on_end, worker);
}

int crew_run(struct app *app, const struct crew_order *order, size_t *ret_failed, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	struct work work = { .app = app, .order = order };
	const size_t at_once = order->at_once ? order->at_once : recover_jobs();
	if (loop_new(&loop, err) < 0)
		return -1;
	work.loop = loop;
	/* What was printed so far comes before what the processes say. */
	(void)fflush(stdout);
	for (size_t next = 0; next < order->count || work.running;) {
		if (next < order->count && work.running < at_once)
			start(&work, &order->jobs[next++]);
		else if (loop_turn(loop, INT64_MAX, err) < 0)
			return -1;
	}
	*ret_failed = work.failed;
	return 0;
}
