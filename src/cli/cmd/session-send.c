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
	{ 'f', "file", "FILE", "send the content of this file; - is standard input",
	  TO_TEXT(file) },
	{ 0, "message-file", "FILE", "the same", TO_TEXT(file) },
	{ 0, "timeout", "SECONDS", "give up after this time (30)",
	  TO_SECONDS(timeout_s, 1, 86400) },
	{ 0, "no-wait", NULL, "give up at once if the agent is not ready or is working",
	  TO_FLAG(no_wait) },
	{ 0, "replace-draft", NULL, "delete what is in the agent's input box first",
	  TO_FLAG(replace_draft) },
	{ 0 },
};

/* The words after the first ones, with spaces between; NULL: there are none.  The caller frees. */
static char *join_words(const struct strvec *words, size_t first)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (words->count <= first)
		return NULL;
	for (size_t i = first; i < words->count; i++)
		strbuf_addf(&text, "%s%s", i > first ? " " : "", words->items[i]);
	return strbuf_take(&text);
}

static int run(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	const struct options *given = app->options;
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_delivery_result struct delivery_result result = { 0 };
	cleanup_free char *text = join_words(&app->operands, 1);

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
	.arguments = "SESSION [TEXT...]",
	.summary = "send a message and confirm that the agent received it",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .timeout_s = 30 },
	.flags = NEEDS_SESSION | HAS_JSON | HAS_MESSAGE,
	.run = run,
};
