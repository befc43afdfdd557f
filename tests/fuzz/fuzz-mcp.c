/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line of `agentdeck mcp`: an answer to it is one line of JSON, and no text of a call becomes an
 * option of ours.
 */
#include "fuzz/fuzz.h"

#include "model/link/rpc.h"
#include "model/link/tools.h"

static bool is_option_of(const struct tool *tool, const char *word)
{
	for (const struct tool_argument *one = tool->arguments; one->name; one++)
		if (one->option && starts_with(word, one->option))
			return true;
	return streq(tool->name, "wait") &&
	       (streq(word, "--timeout=50") || starts_with(word, "--wait=waiting"));
}

static void check_call(const struct rpc *rpc)
{
	cleanup_tool_call struct tool_call call = { 0 };
	struct json_object *arguments = NULL;
	struct error err = { 0 };
	const struct tool *tool = tool_named(json_get_string(rpc->params, "name", ""));
	(void)json_object_object_get_ex(rpc->params, "arguments", &arguments);
	if (!tool)
		return;
	if (tool_read(tool, arguments, &call, &err) < 0) {
		fuzz_failed(&err);
		HOLDS(!call.words.count && !call.sessions.count && !call.input);
		return;
	}
	for (size_t i = 0; i < call.words.count; i++)
		HOLDS(*call.words.items[i] != '-' || is_option_of(tool, call.words.items[i]));
	for (size_t i = 0; i < call.sessions.count; i++)
		HOLDS(*call.sessions.items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_rpc struct rpc rpc = { 0 };
	cleanup_json struct json_object *read = NULL;
	cleanup_strbuf struct strbuf line = { 0 };
	struct error err = { 0 };
	cleanup_free char *text = fuzz_text(data, size);
	const enum rpc_refusal why = rpc_read(text, size, &rpc);
	HOLDS(why == RPC_FINE || !rpc.method);
	if (rpc.method && rpc.params && streq(rpc.method, "tools/call"))
		check_call(&rpc);
	if (why != RPC_FINE)
		rpc_refuse(&line, rpc.id, why, text);
	else if (rpc.id)
		rpc_answer(&line, rpc.id, rpc.params);
	else
		return 0;
	HOLDS(memchr(line.data, '\n', line.length) == line.data + line.length - 1);
	HOLDS(json_parse(line.data, line.length - 1, "a line", &read, &err) == 0);
	error_clear(&err);
	return 0;
}
