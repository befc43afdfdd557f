/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/link/tools.h"

#include <string.h>

enum { SESSIONS_MOST = 32, LINES_MOST = 2000, TURNS_MOST = 50, TIMEOUT_MOST_S = 600 };

static const char *const states[] = { "waiting", "idle", "busy", "error", "stopped", NULL };
#define USUAL_STATES  "waiting,idle,error,stopped"
#define USUAL_TIMEOUT "--timeout=50"

const char *const tool_members[] = { "id",     "title",    "path",     "group",    "agent",
				     "status", "activity", "reason",   "since_at", "success",
				     "error",  "code",     "delivery", NULL };

/* NOLINTBEGIN(bugprone-macro-parentheses): an initializer takes none */
#define TAKES(its_name, its_kind, its_about, ...)                                                  \
	{                                                                                          \
		.name = (its_name), .kind = ARGUMENT_##its_kind, .about = (its_about), __VA_ARGS__ \
	}
#define TOOL(its_name, its_rule, its_about, ...)                                               \
	{                                                                                      \
		.name = (its_name), .rule = TOOL_##its_rule, .about = (its_about), __VA_ARGS__ \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

#define SESSION TAKES("session", SESSION, "its title or id", .is_required = true)
#define TIMEOUT(text) \
	TAKES("timeout_s", NUMBER, text, .option = "--timeout", .most = TIMEOUT_MOST_S)
#define QUESTION TAKES("question", TEXT, "the digest", .option = "--question")

static const struct tool tools[] = {
	TOOL("list", LOOKS,
	     "List the sessions that you launched, with what each agent does: busy, idle or "
	     "waiting for an answer.",
	     .words = { "list", "--json" }, .is_short = true,
	     .arguments = { TAKES("all", ALL, "every session of the user, not only yours") }),
	TOOL("launch", LAUNCHES,
	     "Start another coding agent in a session of its own. It runs beside you, and its user "
	     "can see it. Returns when it is ready, and says whether the message was submitted. The "
	     "user has set how many may run at once.",
	     .words = { "launch", "--json", "--quick" }, .is_short = true,
	     .arguments = { TAKES("title", TEXT, "a short name for the session",
				  .is_required = true, .option = "--title"),
			    TAKES("message", INPUT,
				  "what it is to do; it knows nothing of your conversation",
				  .option = "--message-file=-"),
			    TAKES("path", PATH, "the directory to work in; default: yours"),
			    TAKES("agent", TEXT, "which agent, by its name; default: the user's",
				  .option = "--agent"),
			    TAKES("worktree", FLAG,
				  "give it a Git worktree of its own, so that it changes none of "
				  "your files",
				  .option = "--worktree"),
			    TAKES("branch", TEXT, "the branch of that worktree",
				  .option = "--branch") }),
	TOOL("send", SPEAKS,
	     "Send a message to the agent of a session. The result says whether it was submitted: "
	     "that is seen on its screen, not assumed.",
	     .words = { "session", "send", "--json" },
	     .arguments = { SESSION,
			    TAKES("message", INPUT, "the text", .is_required = true, .option = "-"),
			    TAKES("wait", FLAG, "wait for the reply, and return it",
				  .option = "--wait"),
			    TIMEOUT("with wait: give up after so many seconds; default: 50. The message "
				    "is not taken back") }),
	TOOL("wait", LOOKS,
	     "Wait until one of these sessions is in one of these states, and return those that "
	     "are. Call it again for the others.",
	     .words = { "status", "--json" }, .is_short = true, .waits = true,
	     .arguments = { TAKES("sessions", SESSIONS, "their titles or ids", .is_required = true),
			    TAKES("states", STATES,
				  "some of waiting, idle, busy, error and stopped; default: all but "
				  "busy",
				  .option = "--wait"),
			    TIMEOUT("give up after so many seconds; default 50") }),
	TOOL("output", LOOKS, "Read the last reply of the agent of a session.",
	     .words = { "session", "output", "--json" },
	     .arguments = { SESSION,
			    TAKES("lines", NUMBER, "only so many lines from its end",
				  .option = "--lines", .most = LINES_MOST),
			    TAKES("turns", NUMBER, "so many turns of the conversation instead",
				  .option = "--turns", .most = TURNS_MOST) }),
	TOOL("changes", LOOKS,
	     "Show which files the agent of a session has changed in its own worktree.",
	     .words = { "session", "changes", "--json" },
	     .arguments = { SESSION, TAKES("diff", FLAG, "with the differences, line by line",
					   .option = "--diff") }),
	TOOL("stop", ENDS, "Stop a session that you launched. Its conversation is kept.",
	     .words = { "session", "stop", "--json" }, .arguments = { SESSION }),
	TOOL("approve", ANSWERS,
	     "Give the agent of a session that you launched the permission that it asks for. Call "
	     "it without a question first: the failure has what it asks, and the digest of that.",
	     .words = { "session", "approve", "--json" },
	     .arguments = { SESSION, QUESTION,
			    TAKES("choice", TEXT, "the answer to a question with choices",
				  .option = "--choice") }),
	TOOL("deny", ANSWERS,
	     "Refuse the agent of a session that you launched what it asks for. Call it without a "
	     "question first, as with approve.",
	     .words = { "session", "deny", "--json" }, .arguments = { SESSION, QUESTION }),
};

const struct tool *tool_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (streq(tools[i].name, name))
			return &tools[i];
	return NULL;
}

/* ---- what they are ---------------------------------------------------------------------------- */

static const char *const types[] = {
	[ARGUMENT_SESSION] = "string", [ARGUMENT_SESSIONS] = "array", [ARGUMENT_INPUT] = "string",
	[ARGUMENT_PATH] = "string",    [ARGUMENT_TEXT] = "string",    [ARGUMENT_FLAG] = "boolean",
	[ARGUMENT_NUMBER] = "integer", [ARGUMENT_STATES] = "array",   [ARGUMENT_ALL] = "boolean",
};

static void describe_argument(struct json_object *properties, const struct tool_argument *argument)
{
	struct json_object *property = json_make_object(properties, argument->name);
	json_set_string(property, "type", types[argument->kind]);
	json_set_string(property, "description", argument->about);
	if (argument->kind == ARGUMENT_NUMBER) {
		json_set_int(property, "minimum", 1);
		json_set_int(property, "maximum", argument->most);
	}
	if (!streq(types[argument->kind], "array"))
		return;
	struct json_object *items = json_make_object(property, "items");
	json_set_string(items, "type", "string");
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, states);
	if (argument->kind == ARGUMENT_STATES)
		json_set_strings(items, "enum", &words);
}

static struct json_object *describe(const struct tool *tool)
{
	struct json_object *object = json_object_new_object();
	cleanup_strvec struct strvec required = { 0 };
	json_set_string(object, "name", tool->name);
	json_set_string(object, "description", tool->about);
	struct json_object *schema = json_make_object(object, "inputSchema");
	json_set_string(schema, "type", "object");
	struct json_object *properties = json_make_object(schema, "properties");
	for (const struct tool_argument *one = tool->arguments; one->name; one++) {
		describe_argument(properties, one);
		if (one->is_required)
			strvec_push(&required, one->name);
	}
	json_set_strings(schema, "required", &required);
	json_set_bool(schema, "additionalProperties", false);
	struct json_object *hints = json_make_object(object, "annotations");
	json_set_bool(hints, "readOnlyHint", tool->rule == TOOL_LOOKS);
	json_set_bool(hints, "destructiveHint", tool->rule == TOOL_ENDS);
	return object;
}

struct json_object *tools_describe(bool may_answer)
{
	struct json_object *result = json_object_new_object();
	struct json_object *list = json_object_new_array();
	json_set(result, "tools", list);
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (may_answer || tools[i].rule != TOOL_ANSWERS)
			json_object_array_add(list, describe(&tools[i]));
	return result;
}

/* ---- a call of one ---------------------------------------------------------------------------- */

void tool_call_clear(struct tool_call *call)
{
	strvec_clear(&call->sessions);
	strvec_clear(&call->words);
	free(call->input);
	*call = (struct tool_call){ 0 };
}

static int refuse(const struct tool_argument *argument, const char *what, struct error *err)
{
	return error_set(err, ERROR_USAGE, "%s must be %s", argument->name, what);
}

/* NULL: it is no text that a command can be given. */
static const char *text_of(struct json_object *value)
{
	if (!json_object_is_type(value, json_type_string))
		return NULL;
	const char *text = json_object_get_string(value);
	const size_t length = strlen(text);
	return length > 0 && length == (size_t)json_object_get_string_len(value) ? text : NULL;
}

static int read_list(const struct tool_argument *argument, struct json_object *value,
		     struct strvec *ret, struct error *err)
{
	const size_t count = json_object_is_type(value, json_type_array)
				     ? json_object_array_length(value)
				     : 0;
	if (count == 0 || count > SESSIONS_MOST)
		return refuse(argument, "a list of texts, at most 32", err);
	for (size_t i = 0; i < count; i++) {
		const char *text = text_of(json_object_array_get_idx(value, i));
		if (!text)
			return refuse(argument, "a list of texts, none of them empty", err);
		strvec_push(ret, text);
	}
	return 0;
}

static int read_states(const struct tool_argument *argument, struct json_object *value,
		       struct tool_call *ret, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 }, known = { 0 };
	strvec_push_array(&known, states);
	if (read_list(argument, value, &words, err) < 0)
		return -1;
	for (size_t i = 0; i < words.count; i++)
		if (!strvec_contains(&known, words.items[i]))
			return refuse(argument, "some of waiting, idle, busy, error and stopped",
				      err);
	cleanup_free char *list = strvec_join(&words, ",");
	strvec_pushf(&ret->words, "%s=%s", argument->option, list);
	return 0;
}

static int read_text(const struct tool_argument *argument, struct json_object *value,
		     struct tool_call *ret, struct error *err)
{
	const char *text = text_of(value);
	if (!text)
		return refuse(argument, "a text, not empty and without NUL", err);
	if (argument->kind == ARGUMENT_SESSION) {
		strvec_push(&ret->sessions, text);
	} else if (argument->kind == ARGUMENT_INPUT) {
		ret->input = xstrdup(text);
		strvec_push(&ret->words, argument->option);
	} else if (argument->kind == ARGUMENT_PATH) {
		/* A path that begins with "-" must not become an option. */
		strvec_pushf(&ret->words, "%s%s", *text == '-' ? "./" : "", text);
	} else {
		strvec_pushf(&ret->words, "%s=%s", argument->option, text);
	}
	return 0;
}

static int read_argument(const struct tool_argument *argument, struct json_object *value,
			 struct tool_call *ret, struct error *err)
{
	const bool is_true = json_object_get_boolean(value);
	switch (argument->kind) {
	case ARGUMENT_SESSION:
	case ARGUMENT_INPUT:
	case ARGUMENT_PATH:
	case ARGUMENT_TEXT:
		return read_text(argument, value, ret, err);
	case ARGUMENT_SESSIONS:
		return read_list(argument, value, &ret->sessions, err);
	case ARGUMENT_STATES:
		return read_states(argument, value, ret, err);
	case ARGUMENT_FLAG:
	case ARGUMENT_ALL:
		if (!json_object_is_type(value, json_type_boolean))
			return refuse(argument, "true or false", err);
		ret->all = ret->all || (is_true && argument->kind == ARGUMENT_ALL);
		if (is_true && argument->option)
			strvec_push(&ret->words, argument->option);
		return 0;
	case ARGUMENT_NUMBER:
		if (!json_object_is_type(value, json_type_int) ||
		    json_object_get_int64(value) < 1 ||
		    json_object_get_int64(value) > argument->most)
			return error_set(err, ERROR_USAGE,
					 "%s must be a whole number from 1 to %lld", argument->name,
					 (long long)argument->most);
		strvec_pushf(&ret->words, "%s=%lld", argument->option,
			     (long long)json_object_get_int64(value));
		return 0;
	}
	return 0;
}

static const struct tool_argument *argument_named(const struct tool *tool, const char *name)
{
	for (const struct tool_argument *one = tool->arguments; one->name; one++)
		if (streq(one->name, name))
			return one;
	return NULL;
}

static bool is_given(struct json_object *arguments, const char *name)
{
	struct json_object *value = NULL;
	return json_object_object_get_ex(arguments, name, &value) && value;
}

/* A call that does not say how long or for what has these: many clients give up after 60 s. */
static void add_usual(const struct tool *tool, struct json_object *arguments, struct tool_call *ret)
{
	if (streq(tool->name, "send") && strvec_contains(&ret->words, "--wait") &&
	    !is_given(arguments, "timeout_s"))
		strvec_push(&ret->words, USUAL_TIMEOUT);
	if (!streq(tool->name, "wait"))
		return;
	if (!is_given(arguments, "states"))
		strvec_push(&ret->words, "--wait=" USUAL_STATES);
	if (!is_given(arguments, "timeout_s"))
		strvec_push(&ret->words, USUAL_TIMEOUT);
}

int tool_read(const struct tool *tool, struct json_object *arguments, struct tool_call *ret,
	      struct error *err)
{
	cleanup_tool_call struct tool_call call = { .tool = tool };
	cleanup_json struct json_object *none = json_object_new_object();
	if (!arguments)
		arguments = none;
	if (!json_object_is_type(arguments, json_type_object))
		return error_set(err, ERROR_USAGE, "the arguments of a tool are an object");
	json_object_object_foreach(arguments, name, value) {
		const struct tool_argument *argument = argument_named(tool, name);
		cleanup_free char *shown = visible(name);
		if (!argument)
			return error_set(err, ERROR_USAGE, "%s has no argument %s", tool->name,
					 shown);
		/* Some models name every argument. */
		if (!value && !argument->is_required)
			continue;
		if (read_argument(argument, value, &call, err) < 0)
			return -1;
	}
	for (const struct tool_argument *one = tool->arguments; one->name; one++)
		if (one->is_required && !json_object_object_get_ex(arguments, one->name, NULL))
			return error_set(err, ERROR_USAGE, "%s needs the argument %s", tool->name,
					 one->name);
	add_usual(tool, arguments, &call);
	*ret = call;
	call = (struct tool_call){ 0 };
	return 0;
}
