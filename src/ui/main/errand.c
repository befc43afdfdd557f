/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/errand.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/termsize.h"
#include "engine/deck/stages.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "agentdeck: "

/* What is told until the command says more.  The caller frees. */
static char *begun_text(const char *command)
{
	return xasprintf("%s ...", command);
}

/* The command of these words, which a host can be before. */
static const char *command_of(const struct strvec *words)
{
	if (!words->count)
		return "";
	return words->count > 2 && streq(words->items[0], "-H") ? words->items[2] : words->items[0];
}

static void add_program(const struct errands *errands, struct strvec *argv)
{
	strvec_push(argv, errands->program);
	strvec_push(argv, "--profile");
	strvec_push(argv, errands->profile);
	cleanup_free char *size = termsize_here_text();
	if (size)
		strvec_push_array(argv, (const char *const[]){ "--size", size, NULL });
}

/* "3 sessions: 3 stopped", behind a line for each. */
static bool counts_sessions(const char *line)
{
	const size_t digits = strspn(line, "0123456789");
	return digits && starts_with(line + digits, " sessions: ");
}

/* The last line, where it counts what the others say: the rows of a table, or what was done with
 * each of several sessions.  NULL: it does not.  The caller frees. */
static char *last_summary(const struct child_result *result)
{
	cleanup_free char *copy = xstrdup(strbuf_text(&result->output));
	char *rest = copy;
	const char *last = NULL;
	const bool is_table = starts_with(copy, "TITLE ");
	if (result->errors.length)
		return NULL;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			last = line;
	return last && (is_table || counts_sessions(last)) ? visible(last) : NULL;
}

/* What a command has said, without its progress: lines of JSON, and those before all others that
 * only tell what it waits for, which end with "...".  Its errors are in *errors. */
static struct child_result outcome_of(const struct child_result *result, struct strbuf *errors)
{
	struct child_result outcome = *result;
	cleanup_free char *copy = xstrdup(strbuf_text(&result->errors));
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (*line && *line != '{' && (errors->length || !ends_with(line, "...")))
			strbuf_addf(errors, "%s\n", line);
	outcome.errors = *errors;
	return outcome;
}

/* Why a command failed, behind its warnings.  NULL: it does not say.  The caller frees. */
static char *failure_of(const struct child_result *result)
{
	cleanup_free char *copy = xstrdup(strbuf_text(&result->errors));
	char *rest = copy;
	const char *found = NULL;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, PREFIX) && !starts_with(line, PREFIX "warning: "))
			found = line;
	return found ? visible(found) : NULL;
}

/* Why a command with --json failed.  NULL: it does not say.  The caller frees. */
static char *failure_in_json(const struct child_result *result)
{
	cleanup_json struct json_object *object = NULL;
	const char *text = strbuf_text(&result->output);
	if (*text != '{' || json_parse(text, strlen(text), "agentdeck", &object, NULL) < 0)
		return NULL;
	const char *why = json_get_string(object, "error", NULL);
	return why ? visible(why) : NULL;
}

/* A failure says why; a warning beside a success is worth more than "done".  The caller frees. */
static char *words_of(const struct child_result *result)
{
	cleanup_strbuf struct strbuf errors = { 0 };
	const struct child_result outcome = outcome_of(result, &errors);
	char *words = result->exit_status ? failure_of(result) : NULL;
	if (!words && result->exit_status)
		words = failure_in_json(result);
	if (!words)
		words = last_summary(&outcome);
	return words ? words : child_last_words(&outcome);
}

/* The news, of a command with this ticket (0: it has none). */
static void tell(struct errands *errands, unsigned ticket, const char *text, bool is_bad)
{
	*errands->is_changed = true;
	if (ticket)
		ui_line_ended(errands->ui, ticket, text, !is_bad);
	else
		ui_tell(errands->ui, text, is_bad);
}

/* What was given up has failed only if it says so. */
static bool has_failed(const struct errands *errands, unsigned ticket,
		       const struct child_result *result)
{
	const struct ui *ui = errands->ui;
	cleanup_free char *why = result ? failure_of(result) : NULL;
	const bool is_halted = ui->is_halted && ui->many.count && ticket == ui->many_ticket;
	return !result || (result->exit_status && (why || !is_halted));
}

/* What a command has said, without its name, or why it could not run.  The caller frees. */
static char *said(const struct child_result *result, const struct error *failure)
{
	cleanup_free char *words = result ? words_of(result) : visible(failure->message);
	return xstrdup(starts_with(words, PREFIX) ? words + strlen(PREFIX) : words);
}

static void tell_result(struct errands *errands, unsigned ticket, const struct child_result *result,
			const struct error *failure)
{
	cleanup_free char *text = said(result, failure);
	tell(errands, ticket, text, has_failed(errands, ticket, result));
}

void errand_tell(struct errands *errands, const struct child_result *result,
		 const struct error *failure)
{
	tell_result(errands, 0, result, failure);
}

/* A command that runs beside the loop. */
struct running {
	struct errands *errands;
	runner_handler handler;
	void *context;
	char *name;
	char *stage; /* of a session in a container that comes up; NULL: none */
	int64_t since_ms;
};

static void show_stage(const struct running *running, const char *text)
{
	replace_string(&running->errands->ui->stage, text);
	*running->errands->is_changed = true;
}

static void on_end(const struct child_result *result, const struct error *failure, void *context)
{
	struct running *running = context;
	if (running->errands->many == running)
		running->errands->many = NULL;
	if (running->stage)
		show_stage(running, NULL);
	running->handler(result, failure, running->context);
	free(running->name);
	free(running->stage);
	free(running);
}

/* A line without a time is of a stage that begins. */
static void hear(struct running *running, const char *line)
{
	cleanup_json struct json_object *object = NULL;
	if (*line != '{' || json_parse(line, strlen(line), "", &object, NULL) < 0 ||
	    !json_get_string(object, "run", NULL))
		return;
	const bool begins = json_get_int(object, "ms", -1) < 0;
	replace_string(&running->stage, begins ? json_get_string(object, "stage", NULL) : NULL);
	running->since_ms = clock_ms();
}

static void on_lines(const char *lines, void *context)
{
	enum { SECOND_MS = 1000 };
	struct running *running = context;
	cleanup_free char *copy = xstrdup(lines);
	char *rest = copy, **message = &running->errands->ui->message;
	const bool had_stage = running->stage;
	for (const char *line; (line = strsep(&rest, "\n"));)
		hear(running, line);
	if (!running->stage) {
		if (had_stage)
			show_stage(running, NULL);
		return;
	}
	cleanup_free char *text = xasprintf("%s: %s, %d s ...", running->name, running->stage,
					    (int)((clock_ms() - running->since_ms) / SECOND_MS));
	cleanup_free char *begun = begun_text(running->name);
	if (*message && streq(*message, begun))
		replace_string(message, NULL);
	show_stage(running, text);
}

const void *errand_start(struct errands *errands, const struct errand *errand,
			 runner_handler handler, void *context)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	struct running *running = xcalloc(1, sizeof(*running));
	*running = (struct running){ .errands = errands,
				     .handler = handler,
				     .context = context,
				     .name = xstrdup(command_of(errand->words)) };
	add_program(errands, &argv);
	strvec_push_all(&argv, errand->words);
	strvec_push_array(&environment, (const char *const *)environ);
	strvec_push(&environment, ENV_STAGES "=1");
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)strvec_argv(&argv),
			.environment = strvec_argv(&environment),
			.input = errand->input,
			.input_length = errand->input ? strlen(errand->input) : 0,
			.new_session = true,
			.outlives_us = true,
		},
		.timeout_ms = errand->timeout_ms,
		.listener = on_lines,
	};
	runner_start(errands->loop, &request, on_end, running);
	return running;
}

struct once {
	struct errands *errands;
	unsigned ticket;
};

static void on_result(const struct child_result *result, const struct error *failure, void *context)
{
	cleanup_free struct once *once = context;
	tell_result(once->errands, once->ticket, result, failure);
}

static void run_once(struct errands *errands, const struct wish *wish)
{
	const struct errand errand = { .words = &wish->words, .input = wish->input };
	struct once *once = xcalloc(1, sizeof(*once));
	*once = (struct once){ errands, wish->ticket };
	const void *command = errand_start(errands, &errand, on_result, once);
	if (errands->ui->many.count && wish->ticket == errands->ui->many_ticket)
		errands->many = command;
}

void errand_halt(struct errands *errands)
{
	if (errands->many)
		runner_signal(errands->many, SIGINT);
}

/* ---- one command for each of several sessions ------------------------------------------------- */

struct series {
	struct errands *errands;
	struct strvec words, each;
	size_t at;
	size_t next, failed;
	char *why; /* the first failure; NULL: none */
	unsigned ticket;
};

static void series_free(struct series *series)
{
	strvec_clear(&series->words);
	strvec_clear(&series->each);
	free(series->why);
	free(series);
}

static void tell_series(const struct series *series)
{
	cleanup_free char *text = series->failed
					  ? xasprintf("%zu of %zu sessions failed: %s",
						      series->failed, series->each.count,
						      series->why)
					  : xasprintf("%s: %zu sessions done",
						      series->words.items[0], series->each.count);
	tell(series->errands, series->ticket, text, series->failed > 0);
}

static void on_one(const struct child_result *result, const struct error *failure, void *context);

/* One after the other: there may be many. */
static void run_next(struct series *series)
{
	cleanup_strvec struct strvec words = { 0 };
	for (size_t i = 0; i <= series->words.count; i++) {
		if (i == series->at)
			strvec_push(&words, series->each.items[series->next]);
		if (i < series->words.count)
			strvec_push(&words, series->words.items[i]);
	}
	series->next++;
	cleanup_free char *news = xasprintf("%s: %zu of %zu sessions ...", series->words.items[0],
					    series->next, series->each.count);
	ui_tell(series->errands->ui, news, false);
	*series->errands->is_changed = true;
	const struct errand errand = { .words = &words };
	errand_start(series->errands, &errand, on_one, series);
}

static void on_one(const struct child_result *result, const struct error *failure, void *context)
{
	struct series *series = context;
	if (!result || result->exit_status != 0) {
		series->failed++;
		if (!series->why)
			series->why = said(result, failure);
	}
	if (series->next < series->each.count) {
		run_next(series);
		return;
	}
	tell_series(series);
	series_free(series);
}

static void begin_series(struct errands *errands, const struct wish *wish)
{
	struct series *series = xcalloc(1, sizeof(*series));
	series->errands = errands;
	series->at = wish->at;
	series->ticket = wish->ticket;
	strvec_push_all(&series->words, &wish->words);
	strvec_push_all(&series->each, &wish->each);
	run_next(series);
}

void errand_run(struct errands *errands, const struct wish *wish)
{
	cleanup_free char *text = begun_text(command_of(&wish->words));
	cleanup_free char *progress = ui_progress(errands->ui);
	if (!progress || wish->ticket != errands->ui->many_ticket)
		ui_tell(errands->ui, text, false);
	if (wish->each.count)
		begin_series(errands, wish);
	else
		run_once(errands, wish);
}

int errand_terminal(struct errands *errands, const char *command, const struct strvec *words,
		    struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int status;
	add_program(errands, &argv);
	if (command)
		strvec_push(&argv, command);
	strvec_push_all(&argv, words);
	const int r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status,
				       err);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "program '%s' does not exist",
				 errands->program);
	return r < 0 ? -1 : status;
}

/* " in 14.2 s (image 12.9 s, ...)": what `agentdeck launch --json` has said of its stages, if they
 * took long.  The caller frees. */
static char *times_of(const struct child_result *result)
{
	enum { SLOW_MS = 1000 };
	cleanup_free char *copy = xstrdup(strbuf_text(&result->errors));
	char *rest = copy, *found = NULL;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		cleanup_json struct json_object *object = NULL;
		if (*line != '{' || json_parse(line, strlen(line), "", &object, NULL) < 0)
			continue;
		const int64_t ms = json_get_int(object, "ms", 0);
		if (ms < SLOW_MS || json_get_string(object, "stage", NULL))
			continue;
		free(found);
		found = xasprintf(" in %.1f s (%s)", (double)ms / SLOW_MS,
				  json_get_string(object, "text", ""));
	}
	return found ? found : xstrdup("");
}

char *errand_launched(const struct child_result *result, const struct error *failure,
		      bool *ret_is_good)
{
	cleanup_json struct json_object *object = NULL;
	const char *text = result ? strbuf_text(&result->output) : "";
	*ret_is_good = result && result->exit_status == 0;
	if (!result)
		return visible(failure->message);
	if (json_parse(text, strlen(text), "agentdeck launch", &object, NULL) < 0)
		return child_last_words(result);
	const char *why = json_get_string(object, "error", NULL);
	const char *title = json_get_string(object, "title", "the session");
	cleanup_free char *times = times_of(result);
	cleanup_free char *said =
		why ? xstrdup(why)
		: *ret_is_good
			? xasprintf("%s: made and started%s", title, times)
			: xasprintf("%s was made, and the message is not sent: %s", title,
				    json_get_string(object, "reason", "the agent is not ready"));
	return visible(said);
}
