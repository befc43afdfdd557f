/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/message.h"

enum { DEFAULT_TIMEOUT_S = 30, MAX_TIMEOUT_S = 86400 };

static int read_timeout(const struct app *app, int64_t *ret, struct error *err)
{
	const char *text = option_value(app, "timeout");
	*ret = DEFAULT_TIMEOUT_S;
	if (!text || parse_int64(text, 1, MAX_TIMEOUT_S, ret))
		return 0;
	cleanup_free char *shown = visible(text);
	return error_set(err, ERROR_USAGE, "--timeout is a number of seconds from 1 to %d, not '%s'",
			 MAX_TIMEOUT_S, shown);
}

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_delivery_result struct delivery_result result = { 0 };
	const struct store_row *row;
	int64_t timeout_s = DEFAULT_TIMEOUT_S;
	const char *text = app->operands.count > 1 ? app->operands.items[1] : NULL;

	if (read_timeout(app, &timeout_s, err) < 0 ||
	    app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    message_read(text, option_value(app, "file"), &message, err) < 0)
		return -1;
	const struct delivery_request request = {
		.base = row->base,
		.text = message.data,
		.length = message.length,
		.timeout_ms = timeout_s * 1000,
		.wait = !option_given(app, "no-wait"),
	};
	if (deliver(&app->deck, &request, &result, err) < 0)
		return -1;
	if (!app->json) {
		if (message_judge(row->title, row->id, &result, err) < 0)
			return -1;
		cleanup_free char *title = visible(row->title);
		printf("%s: submitted\n", title);
		return 0;
	}
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "id", row->id);
	json_set_string(object, "title", row->title);
	message_add_json(object, row->id, &result);
	print_json(object);
	return result.delivery == DELIVERY_SUBMITTED ? 0 : 1;
}

static const struct command_option options[] = {
	{ 'f', "file", "FILE", "send what is in this file; - is standard input" },
	{ 0, "timeout", "SECONDS", "for all of it: ready, typed, proven (30)" },
	{ 0, "no-wait", NULL, "give up at once if the agent is not ready or is working" },
	{ 0 },
};

const struct command command_session_send = {
	.name = "session send",
	.arguments = "SESSION [TEXT]",
	.summary = "send an agent a message, and prove that it took it",
	.description =
		"TEXT is one word: put it in quotes, or give - for standard input.  It may have any number of\n"
		"lines and up to 8 MiB.  Waits until the agent is ready, pastes the text once, submits it, and\n"
		"watches for the agent's own report of the prompt (for an agent that reports nothing: for the\n"
		"effect on its screen).  While the agent asks for a permission nothing is sent.\n\n"
		"What became of it is told by one word (with --json: delivery):\n\n"
		"  submitted   proven; only this exits with 0, all others with 1\n"
		"  typed       it stands in the agent's input box and was not taken\n"
		"  unverified  sent, but nothing proves that the agent took it; so it is\n"
		"              with the agent's own commands, like /help\n"
		"  not_ready   nothing was sent\n"
		"  failed      it could not be pasted\n\n"
		"An agent that is working takes the message afterwards: give a --timeout that lasts that long\n"
		"to have it proven.",
	.options = options,
	.min_operands = 1,
	.max_operands = 2,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
