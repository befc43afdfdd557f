/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/mcp.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/version.h"
#include "cli/link/job.h"
#include "cli/link/mcp-rules.h"
#include "engine/place/environment.h"
#include "model/link/rpc.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { LAUNCHING_MS = 2000 };
enum {
	CALLS_MAX = 16,
	PIECE = 1 << 15,
	OUTPUT_MAX = 4 << 20, /* of a command; what follows is left out */
	ERRORS_MAX = 1 << 12,
	/* What an agent gets of it: a larger one would fill its context. */
	TEXT_MAX = 1 << 15,
};

struct call {
	struct mcp *mcp;
	struct json_object *id;
	struct tool_call order;
	struct job *job;          /* NULL: it waits for an earlier launch */
	struct fs_lock launching; /* so that no other server counts meanwhile */
	struct strbuf output, errors;
	bool is_cancelled; /* it gets no answer */
};

struct mcp {
	struct app *app;
	struct loop *loop;
	struct loop_source *input;
	struct strbuf in;
	bool skips;                    /* the rest of a line that is too long */
	struct call *calls[CALLS_MAX]; /* in the order in which they came */
	size_t count;
};

/* The revisions of the protocol that say the same of what is used here, the newest last. */
static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" };

#define INSTRUCTIONS                                                                                 \
	"Sessions of agentdeck are coding agents, each in a terminal of its own that its user can "  \
	"see. Launch one for work that can be done beside yours, send it what it needs, wait, read " \
	"its output, and stop it when it is done."

/* ---- to the client ---------------------------------------------------------------------------- */

/* A client that reads slowly is waited for: it asked. */
static void say_lines(struct mcp *mcp, const struct strbuf *text)
{
	for (size_t sent = 0; sent < text->length;) {
		const ssize_t n = write(STDOUT_FILENO, text->data + sent, text->length - sent);
		if (n < 0 && errno != EINTR) {
			loop_exit(mcp->loop, 0);
			return;
		}
		sent += n > 0 ? (size_t)n : 0;
	}
}

static void answer(struct mcp *mcp, struct json_object *id, struct json_object *result)
{
	cleanup_strbuf struct strbuf text = { 0 };
	rpc_answer(&text, id, result);
	say_lines(mcp, &text);
}

static void refuse(struct mcp *mcp, struct json_object *id, enum rpc_refusal why, const char *text)
{
	cleanup_strbuf struct strbuf line = { 0 };
	rpc_refuse(&line, id, why, text);
	say_lines(mcp, &line);
}

/* The result of a call: one text, cut between two characters. */
static void answer_call(struct mcp *mcp, struct json_object *id, const char *text, bool is_failure)
{
	cleanup_json struct json_object *result = json_object_new_object();
	struct json_object *content = json_object_new_array();
	struct json_object *part = json_object_new_object();
	size_t length = strlen(text);
	cleanup_free char *cut = NULL;
	if (length > TEXT_MAX) {
		const size_t all = length;
		for (length = TEXT_MAX; ((unsigned char)text[length] & 0xc0) == 0x80;)
			length--;
		cut = xasprintf("%.*s\n[cut here: %zu more bytes; ask for less]", (int)length, text,
				all - length);
		text = cut;
	}
	json_set(result, "content", content);
	json_object_array_add(content, part);
	json_set_string(part, "type", "text");
	json_set_string(part, "text", text);
	json_set_bool(result, "isError", is_failure);
	answer(mcp, id, result);
}

/* ---- what a command has printed --------------------------------------------------------------- */

static struct json_object *shortened(const struct rules *rules, const struct json_object *session)
{
	struct json_object *object = json_object_new_object();
	for (size_t i = 0; tool_members[i]; i++) {
		struct json_object *value;
		if (json_object_object_get_ex(session, tool_members[i], &value) && value)
			json_set(object, tool_members[i], json_object_get(value));
	}
	json_set_bool(object, "yours", rules_owns(rules, json_get_string(session, "id", "")));
	return object;
}

/* Keep only what an agent needs to know of a session, and in a list of all only those that it
 * launched. */
static struct json_object *shorten(const struct rules *rules, const struct call *call,
				   struct json_object *all)
{
	if (!json_object_is_type(all, json_type_array))
		return shortened(rules, all);
	const bool takes_all = call->order.all || call->order.sessions.count;
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		const struct json_object *one = json_object_array_get_idx(all, i);
		if (takes_all || rules_owns(rules, json_get_string(one, "id", "")))
			json_object_array_add(list, shortened(rules, one));
	}
	return list;
}

static void tell(struct call *call, int status)
{
	cleanup_json struct json_object *object = NULL, *shorter = NULL;
	cleanup_rules struct rules rules = { 0 };
	cleanup_error struct error why = { 0 };
	cleanup_free char *errors = visible(strbuf_text(&call->errors));
	const char *text = call->output.length ? strbuf_text(&call->output) : errors;
	if (call->output.length &&
	    json_parse(call->output.data, call->output.length, "the output", &object, &why) == 0)
		text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE);
	if (object && call->order.tool->is_short && rules_read(call->mcp->app, &rules, &why) == 0) {
		shorter = shorten(&rules, call, object);
		text = json_object_to_json_string_ext(shorter, JSON_C_TO_STRING_NOSLASHESCAPE);
	}
	answer_call(call->mcp, call->id, text, status != 0);
}

/* ---- calls ------------------------------------------------------------------------------------ */

static void call_free(struct call *call)
{
	if (!call)
		return;
	json_object_put(call->id);
	tool_call_clear(&call->order);
	job_free(call->job);
	fs_unlock(&call->launching);
	strbuf_free(&call->output);
	strbuf_free(&call->errors);
	free(call);
}
CLEANUP_OF(call_freep, struct call, call_free);

static void begin_waiting(struct mcp *mcp);

static void call_end(struct call *call)
{
	struct mcp *mcp = call->mcp;
	size_t kept = 0;
	for (size_t i = 0; i < mcp->count; i++)
		if (mcp->calls[i] != call)
			mcp->calls[kept++] = mcp->calls[i];
	mcp->count = kept;
	call_free(call);
	begin_waiting(mcp);
	if (!mcp->count && !mcp->input)
		loop_exit(mcp->loop, 0);
}

static void on_bytes(struct job *job UNUSED, enum link_stream stream, const char *bytes,
		     size_t length, void *context)
{
	struct call *call = context;
	struct strbuf *into = stream == LINK_OUTPUT ? &call->output : &call->errors;
	const size_t most = stream == LINK_OUTPUT ? OUTPUT_MAX : ERRORS_MAX;
	const size_t room = into->length < most ? most - into->length : 0;
	strbuf_add(into, bytes, length < room ? length : room);
}

static void on_exit_of(struct job *job UNUSED, int status, void *context)
{
	struct call *call = context;
	if (!call->is_cancelled)
		tell(call, status);
	call_end(call);
}

static int lock_launches(struct call *call, struct error *err)
{
	cleanup_close int state = -1;
	if (call->order.tool->rule != TOOL_LAUNCHES)
		return 0;
	if (fs_open_private_directory(call->mcp->app->deck.paths.state, &state, err) < 0)
		return -1;
	const int r = fs_lock(state, "mcp.lock", clock_ms() + LAUNCHING_MS, &call->launching, err);
	return r == FS_LOCK_BUSY
		       ? error_set(err, ERROR_BUSY,
				   "another agent is launching a session: try again in a minute")
		       : r;
}

/* Some agents give their servers few variables.  What they launch needs those of their own session:
 * keys, proxies, where programs are. */
static void complete_environment(const struct rules *rules)
{
	cleanup_strvec struct strvec variables = { 0 };
	if (rules->self && environment_of_run(&rules->self->run, &variables) == 0)
		environment_complete(&variables);
}

/* The rules are asked when it begins: two launches that came at once are one after the other. */
static int call_start(struct call *call, struct error *err)
{
	cleanup_rules struct rules rules = { 0 };
	cleanup_link_frame struct link_frame request = { .id = xstrdup("mcp"),
							 .has_input = call->order.input };
	const struct job_handler handler = { on_bytes, on_exit_of, NULL, call };
	if (lock_launches(call, err) < 0 || rules_read(call->mcp->app, &rules, err) < 0 ||
	    rules_apply(&rules, &call->order, &request.words, err) < 0)
		return -1;
	if (call->order.tool->rule == TOOL_LAUNCHES)
		complete_environment(&rules);
	if (job_start(call->mcp->loop, &call->mcp->app->deck, &request, &handler, &call->job, err) <
	    0)
		return -1;
	if (call->order.input)
		job_feed(call->job, call->order.input, strlen(call->order.input));
	job_end_input(call->job);
	return 0;
}

static bool is_launching(const struct mcp *mcp)
{
	for (size_t i = 0; i < mcp->count; i++)
		if (mcp->calls[i]->job && mcp->calls[i]->order.tool->rule == TOOL_LAUNCHES)
			return true;
	return false;
}

static void begin_waiting(struct mcp *mcp)
{
	for (size_t i = 0; i < mcp->count; i++) {
		struct call *call = mcp->calls[i];
		cleanup_error struct error err = { 0 };
		if (call->job || (call->order.tool->rule == TOOL_LAUNCHES && is_launching(mcp)))
			continue;
		if (call_start(call, &err) == 0)
			continue;
		answer_call(mcp, call->id, err.message, true);
		/* The end of a call begins the next ones. */
		call_end(call);
		return;
	}
}

static void take_call(struct mcp *mcp, const struct rpc *rpc)
{
	CLEANUP(call_freep) struct call *call = xcalloc(1, sizeof(*call));
	cleanup_error struct error err = { 0 };
	struct json_object *arguments = NULL;
	const struct tool *tool = tool_named(json_get_string(rpc->params, "name", ""));
	call->mcp = mcp;
	call->launching = FS_UNLOCKED;
	call->id = json_object_get(rpc->id);
	if (!tool) {
		refuse(mcp, rpc->id, RPC_NO_PARAMS, "there is no such tool");
		return;
	}
	(void)json_object_object_get_ex(rpc->params, "arguments", &arguments);
	if (mcp->count == CALLS_MAX)
		error_set(&err, ERROR_BUSY, "%d calls are running: wait for one to end", CALLS_MAX);
	else
		(void)tool_read(tool, arguments, &call->order, &err);
	if (err.message) {
		answer_call(mcp, rpc->id, err.message, true);
		return;
	}
	mcp->calls[mcp->count++] = TAKE_PTR(call);
	begin_waiting(mcp);
}

static void call_cancel(struct call *call)
{
	call->is_cancelled = true;
	if (call->job)
		job_cancel(call->job);
	else
		call_end(call);
}

static void cancel(struct mcp *mcp, const struct rpc *rpc)
{
	struct json_object *id = NULL;
	(void)json_object_object_get_ex(rpc->params, "requestId", &id);
	for (size_t i = 0; id && i < mcp->count; i++) {
		if (mcp->calls[i]->is_cancelled || !json_object_equal(mcp->calls[i]->id, id))
			continue;
		call_cancel(mcp->calls[i]);
		return;
	}
}

/* ---- from the client -------------------------------------------------------------------------- */

static void greet(struct mcp *mcp, const struct rpc *rpc)
{
	const char *wanted = json_get_string(rpc->params, "protocolVersion", "");
	const char *ours = revisions[ARRAY_SIZE(revisions) - 1];
	for (size_t i = 0; i < ARRAY_SIZE(revisions); i++)
		ours = streq(wanted, revisions[i]) ? revisions[i] : ours;
	cleanup_json struct json_object *result = json_object_new_object();
	json_set_string(result, "protocolVersion", ours);
	(void)json_make_object(json_make_object(result, "capabilities"), "tools");
	struct json_object *info = json_make_object(result, "serverInfo");
	json_set_string(info, "name", "agentdeck");
	json_set_string(info, "version", agentdeck_version);
	json_set_string(result, "instructions", INSTRUCTIONS);
	answer(mcp, rpc->id, result);
}

static void take_request(struct mcp *mcp, const struct rpc *rpc)
{
	cleanup_json struct json_object *result = NULL;
	if (streq(rpc->method, "tools/call")) {
		take_call(mcp, rpc);
		return;
	}
	if (streq(rpc->method, "initialize")) {
		greet(mcp, rpc);
		return;
	}
	if (streq(rpc->method, "ping"))
		result = json_object_new_object();
	else if (streq(rpc->method, "tools/list"))
		result = tools_describe(mcp->app->deck.settings.mcp_approve);
	if (result)
		answer(mcp, rpc->id, result);
	else
		refuse(mcp, rpc->id, RPC_NO_METHOD, "there is no such method");
}

static const char *why_refused(enum rpc_refusal why)
{
	return why == RPC_NO_JSON     ? "this is no JSON, of at most 64 levels and 1 MiB in UTF-8"
	       : why == RPC_NO_PARAMS ? "params is no object"
				      : "this is no request of JSON-RPC 2.0";
}

static void take_line(struct mcp *mcp, const char *line, size_t length)
{
	cleanup_rpc struct rpc rpc = { 0 };
	const enum rpc_refusal why = rpc_read(line, length, &rpc);
	/* A notification gets no answer, whatever it is. */
	if (why == RPC_NO_PARAMS && !rpc.id)
		return;
	if (why != RPC_FINE)
		refuse(mcp, rpc.id, why, why_refused(why));
	else if (rpc.method && rpc.id)
		take_request(mcp, &rpc);
	else if (rpc.method && streq(rpc.method, "notifications/cancelled"))
		cancel(mcp, &rpc);
}

static void take_lines(struct mcp *mcp)
{
	size_t begin = 0;
	for (const char *end; (end = memchr(mcp->in.data + begin, '\n', mcp->in.length - begin));) {
		const size_t length = (size_t)(end - mcp->in.data) - begin;
		if (!mcp->skips && length > 0)
			take_line(mcp, mcp->in.data + begin, length);
		mcp->skips = false;
		begin += length + 1;
		if (begin == mcp->in.length)
			break;
	}
	strbuf_drop(&mcp->in, begin);
	if (mcp->in.length < RPC_LINE_MAX)
		return;
	if (!mcp->skips)
		refuse(mcp, NULL, RPC_NO_JSON, why_refused(RPC_NO_JSON));
	mcp->skips = true;
	strbuf_free(&mcp->in);
}

static void on_readable(int fd, uint32_t events UNUSED, void *context)
{
	struct mcp *mcp = context;
	char bytes[PIECE];
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		strbuf_add(&mcp->in, bytes, (size_t)n);
		take_lines(mcp);
		return;
	}
	loop_remove(mcp->input);
	mcp->input = NULL;
	/* Only a launch is without a job, and none of those waits: nothing leaves the list here. */
	for (size_t i = 0; i < mcp->count; i++)
		if (mcp->calls[i]->order.tool->waits)
			call_cancel(mcp->calls[i]);
	if (!mcp->count)
		loop_exit(mcp->loop, 0);
}

static void on_gone(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct mcp *mcp = context;
	loop_exit(mcp->loop, 0);
}

int mcp_run(struct app *app, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	struct loop_source *output;
	struct mcp mcp = { .app = app };
	const struct loop_io in = { STDIN_FILENO, EPOLLIN, on_readable, &mcp };
	const struct loop_io out = { STDOUT_FILENO, 0, on_gone, &mcp };
	if (loop_new(&loop, err) < 0)
		return -1;
	mcp.loop = loop;
	/* A client that has gone is an error of write(2). */
	(void)signal(SIGPIPE, SIG_IGN);
	if (loop_add_io(loop, &in, &mcp.input, err) < 0)
		return error_prefix(err, "mcp needs a pipe or a socket: an agent starts it");
	/* epoll(7) knows no ordinary file: that never goes. */
	(void)loop_add_io(loop, &out, &output, NULL);
	const int r = loop_run(loop, err) < 0 ? -1 : 0;
	for (size_t i = 0; i < mcp.count; i++)
		call_free(mcp.calls[i]);
	strbuf_free(&mcp.in);
	return r;
}
