/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/errand.h"

#include "base/jsonio.h"

#include <string.h>

#define PREFIX "agentdeck: "

static void add_program(const struct errands *errands, struct strvec *argv)
{
	strvec_push(argv, errands->program);
	strvec_push(argv, "--profile");
	strvec_push(argv, errands->profile);
}

void errand_tell(struct errands *errands, const struct child_result *result,
		 const struct error *failure)
{
	*errands->is_changed = true;
	if (!result) {
		cleanup_free char *shown = visible(failure->message);
		ui_tell(errands->ui, shown, true);
		return;
	}
	/* A failure says why; a warning beside a success is worth more than "done". */
	cleanup_free char *words = child_last_words(result);
	const char *text = starts_with(words, PREFIX) ? words + strlen(PREFIX) : words;
	ui_tell(errands->ui, text, result->exit_status != 0);
}

static void on_result(const struct child_result *result, const struct error *failure, void *context)
{
	errand_tell(context, result, failure);
}

void errand_start(struct errands *errands, const struct errand *errand, runner_handler handler,
		  void *context)
{
	cleanup_strvec struct strvec argv = { 0 };
	add_program(errands, &argv);
	strvec_push_all(&argv, errand->words);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)strvec_argv(&argv),
			.input = errand->input,
			.input_length = errand->input ? strlen(errand->input) : 0,
			.new_session = true,
			.outlives_us = true,
		},
		.timeout_ms = errand->timeout_ms,
	};
	runner_start(errands->loop, &request, handler, context);
}

void errand_run(struct errands *errands, const struct wish *wish)
{
	const struct errand errand = { .words = &wish->words, .input = wish->input };
	errand_start(errands, &errand, on_result, errands);
	cleanup_free char *text = xasprintf("agentdeck %s ...", wish->words.items[0]);
	ui_tell(errands->ui, text, false);
}

int errand_attach(struct errands *errands, const struct strvec *words, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int status;
	add_program(errands, &argv);
	strvec_push(&argv, "attach");
	strvec_push_all(&argv, words);
	const int r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status,
				       err);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "program '%s' does not exist",
				 errands->program);
	return r < 0 ? -1 : status;
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
	cleanup_free char *said =
		why ? xstrdup(why)
		: *ret_is_good
			? xasprintf("%s: made and started", title)
			: xasprintf("%s was made, and the message is not sent: %s", title,
				    json_get_string(object, "reason", "the agent is not ready"));
	return visible(said);
}
