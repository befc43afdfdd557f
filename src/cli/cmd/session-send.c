/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/message.h"
#include "cli/show/output.h"

struct options {
	const char *file;
	int64_t timeout_s;
	bool no_wait, replace_draft;
};

static const struct command_option options[] = {
	{ 'f', "file", "FILE", "send what is in this file; - is standard input", TO_TEXT(file) },
	{ 0, "timeout", "SECONDS", "for all of it: ready, typed, proven (30)",
	  TO_SECONDS(timeout_s, 1, 86400) },
	{ 0, "no-wait", NULL, "give up at once if the agent is not ready or is working",
	  TO_FLAG(no_wait) },
	{ 0, "replace-draft", NULL, "delete what is in the agent's input box first",
	  TO_FLAG(replace_draft) },
	{ 0 },
};

static int run(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	const struct options *given = app->options;
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_delivery_result struct delivery_result result = { 0 };
	const char *text = app->operands.count > 1 ? app->operands.items[1] : NULL;

	if (message_read(text, given->file, &message, err) < 0)
		return -1;
	const struct delivery_request request = {
		.base = row->base,
		.text = message.data,
		.length = message.length,
		.timeout_ms = given->timeout_s * 1000,
		.wait = !given->no_wait,
		.replace_draft = given->replace_draft,
	};
	if (deliver(&app->deck, &request, &result, err) < 0)
		return -1;
	if (!app->json) {
		if (message_judge(row->title, row->id, &result, err) < 0)
			return -1;
		say("%s: submitted", row->title);
		return 0;
	}
	cleanup_json struct json_object *object = json_success(row->id, row->title);
	message_add_json(object, row->id, &result);
	print_json(object);
	return result.delivery == DELIVERY_SUBMITTED ? 0 : 1;
}

const struct command command_session_send = {
	.name = "session send",
	.arguments = "SESSION [TEXT]",
	.summary = "send an agent a message, and prove that it took it",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .timeout_s = 30 },
	.flags = NEEDS_SESSION | HAS_JSON | HAS_MESSAGE,
	.run = run,
};
