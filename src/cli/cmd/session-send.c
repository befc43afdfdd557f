/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/message.h"
#include "cli/cmd/queueing.h"
#include "cli/cmd/reply.h"
#include "cli/cmd/several.h"
#include "cli/show/editor.h"
#include "cli/show/output.h"

#include "base/clock.h"
#include "model/agent/display.h"

#include "engine/deck/hint.h"
#include "engine/run/sleep.h"
#include "engine/run/start.h"
#include "model/session/state.h"

#include <string.h>

struct options {
	const char *file;
	int64_t timeout_s; /* 0: not given */
	bool no_wait, replace_draft, wait, edit, raw, when_idle;
};

static const struct command_option options[] = {
	{ 'f', "file", "FILE", "send the content of this file; - is standard input",
	  TO_TEXT(file) },
	{ 0, "message-file", "FILE", "the same", TO_TEXT(file) },
	{ 'e', "edit", NULL, "write it in your editor (VISUAL, EDITOR)", TO_FLAG(edit) },
	{ 0, "timeout", "SECONDS", "give up after this time (30; 600 with --wait)",
	  TO_SECONDS(timeout_s, 1, 86400) },
	{ 0, "no-wait", NULL, "give up at once if the agent is not ready or is working",
	  TO_FLAG(no_wait) },
	{ 'w', "wait", NULL, "wait for the reply, and print it", TO_FLAG(wait) },
	{ 0, "when-idle", NULL, "queue it until the agent is idle, and do not wait for that",
	  TO_FLAG(when_idle) },
	{ 's', "session", "SESSION", "send it to this one; may be given several times",
	  TO_APP_LIST(named) },
	OPTIONS_SEVERAL,
	{ 0, "replace-draft", NULL, "delete what is in the agent's input box first",
	  TO_FLAG(replace_draft) },
	{ 0, "raw", NULL, "also a text that is no message to the agent: ! and a shell command",
	  TO_FLAG(raw) },
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

/* What every process that sends to one session reads. */
enum { SHARED_MAX = 60000, TIMEOUT_S = 30, REPLY_TIMEOUT_S = 600 };

static int64_t timeout_s(const struct options *given)
{
	return given->timeout_s ? given->timeout_s : given->wait ? REPLY_TIMEOUT_S : TIMEOUT_S;
}

struct waiting {
	struct app *app;
	const struct delivery_result *sent;
	const char *text; /* as for said_look() */
	char *reply;
};

static int check_transcript(struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_transcript struct transcript found = { 0 };
	const struct agent_files *files;
	if (deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	if (said_find(&app->deck, instance, &found, &files, err) >= 0)
		return 0;
	return error_prefix(err, "nothing was sent, because --wait needs the reply");
}

/* Take the agent's last words in the turn of the message.  An agent can report that it is idle
 * while it works on a message from its queue, so the transcript says when that turn is over. */
static int take_reply(const struct reply_view *view, void *context, struct error *err)
{
	struct waiting *waiting = context;
	cleanup_free char *title = visible(view->instance->title);
	cleanup_strbuf struct strbuf clean = { 0 };
	cleanup_said struct said said = { 0 };
	if (!view->view->is_silent && !state_is_running(view->view->state))
		return error_set(err, ERROR_INVALID, "%s ended before it replied", title);
	if (view->view->activity == ACTIVITY_WAITING)
		return error_set(err, ERROR_INVALID,
				 "%s asks for an answer or a permission: agentdeck attach %s",
				 title, view->instance->id);
	if (said_look(&waiting->app->deck, view->instance, &waiting->sent->mark, waiting->text,
		      &said, err) < 0)
		return -1;
	/* After an error an agent may not report that its turn is over. */
	const bool is_busy = view->view->activity == ACTIVITY_BUSY && !said.is_followed &&
			     !said.is_error;
	if (!said.reply || !said.is_over || is_busy)
		return 0;
	(void)display_clean(said.reply, strlen(said.reply), &clean);
	if (said.is_error) {
		cleanup_free char *shown = visible(strbuf_text(&clean));
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s received the message, and its model gave no reply: %s", title,
				 shown);
	}
	waiting->reply = xstrdup(strbuf_text(&clean));
	return 1;
}

/* A session may fall asleep before the message begins.  Nothing was sent then: wake it again. */
static int deliver_awake(struct app *app, const struct delivery_request *request,
			 struct delivery_result *ret, struct error *err)
{
	struct deck *deck = &app->deck;
	if (lifecycle_wake(deck, request->base, err) < 0 ||
	    lifecycle_show(deck, request->base, err) < 0)
		return -1;
	struct error failure = { 0 };
	int r = deliver(deck, request, ret, &failure);
	if (r == 0 && ret->delivery != DELIVERY_NOT_READY)
		return 0;
	const int woken = lifecycle_wake(deck, request->base, NULL);
	if (woken != 0)
		return r < 0 ? error_move(err, &failure) : r;
	error_clear(&failure);
	delivery_result_free(ret);
	return deliver(deck, request, ret, err);
}

/* The result for one session. */
static int send_text(struct app *app, const struct store_row *row, const struct strbuf *message,
		     struct error *err)
{
	const struct options *given = app->options;
	cleanup_delivery_result struct delivery_result result = { 0 };
	const int64_t deadline_ms = clock_ms() + timeout_s(given) * 1000;
	if (given->wait && check_transcript(app, row, err) < 0)
		return -1;
	const struct delivery_request request = {
		.base = row->base,
		.text = message->data,
		.length = message->length,
		.timeout_ms = timeout_s(given) * 1000,
		.wait = !given->no_wait,
		.replace_draft = given->replace_draft,
		.needs_reply = given->wait,
		.is_raw = given->raw,
	};
	struct waiting waiting = { .app = app, .sent = &result };
	int r = deliver_awake(app, &request, &result, err);
	/* A transcript records a command in other words, and perhaps also a text that looks like a
	 * tag. */
	if (!result.is_command && message->data[0] != '<')
		waiting.text = message->data;
	if (r == 0 && given->wait && result.delivery == DELIVERY_SUBMITTED)
		r = reply_follow(app, row, deadline_ms, take_reply, &waiting, err);
	cleanup_free char *reply = waiting.reply;
	if (r < 0)
		return -1;
	cleanup_free char *hint = hint_row(&app->deck, &app->rows, row);
	if (!app->json) {
		if (message_judge(row->title, hint, &result, err) < 0)
			return -1;
		if (reply)
			printf("%s\n", reply);
		else if (!app->quiet)
			say("%s: submitted", row->title);
		return 0;
	}
	cleanup_json struct json_object *object = json_success(row->id, row->title);
	message_add_json(object, hint, &result);
	if (given->wait)
		json_set_string(object, "content", reply);
	print_json(object);
	return result.delivery == DELIVERY_SUBMITTED ? 0 : 1;
}

/* A worker gets the text of the command that started it on standard input. */
static int send_one(struct app *app, const struct store_row *row, struct error *err)
{
	const struct options *given = app->options;
	const bool has_name = !app->instance && app->named.count == 0;
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_free char *text = join_words(&app->operands, has_name ? 1 : 0);
	if (message_read(text, given->file, &message, err) < 0)
		return -1;
	return given->when_idle ? queueing_send(app, row, message.data, given->raw, err)
				: send_text(app, row, &message, err);
}

static int send_all(struct app *app, const struct several *several, struct several_verb *verb,
		    struct error *err)
{
	const struct options *given = app->options;
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	cleanup_free char *text = join_words(&app->operands, 0);
	if (message_read(text, given->file, &message, err) < 0)
		return -1;
	if (message.length > SHARED_MAX)
		return error_set(err, ERROR_USAGE,
				 "a message to several sessions may have %d bytes: put it into a "
				 "file, and send the name of that file",
				 SHARED_MAX);
	if (given->when_idle)
		strvec_push(&words, "--when-idle");
	else
		strvec_pushf(&words, "--timeout=%lld", (long long)timeout_s(given));
	if (given->no_wait)
		strvec_push(&words, "--no-wait");
	if (given->wait)
		strvec_push(&words, "--wait");
	if (given->replace_draft)
		strvec_push(&words, "--replace-draft");
	if (given->raw)
		strvec_push(&words, "--raw");
	strvec_push(&words, "--message-file=-");
	verb->words = words;
	verb->input = message.data;
	verb->input_length = message.length;
	return several_run(app, several, verb, err);
}

/* The user writes it first.  A text that is not sent is kept. */
static int run_edited(struct app *app, const struct several *several, struct several_verb *verb,
		      struct error *err)
{
	struct options *given = app->options;
	cleanup_free char *path = NULL;
	const bool has_name = app->named.count == 0 && !app->every && !app->group;
	if (given->file || app->operands.count > (has_name ? 1 : 0))
		return error_set(err, ERROR_USAGE,
				 "give the message as words, as a file or with --edit, not by two "
				 "of these");
	if (editor_write(&path, err) < 0)
		return -1;
	given->file = path;
	const int r = several->is_set || several->count > 1 ? send_all(app, several, verb, err)
							    : several_run(app, several, verb, err);
	given->file = NULL;
	if (r == 0)
		(void)unlink(path);
	else if (r < 0)
		return error_prefix(err, "your text is in %s", path);
	else
		fprintf(stderr, "agentdeck: your text is in %s\n", path);
	return r;
}

static int check_options(const struct options *given, struct error *err)
{
	if (given->when_idle && (given->wait || given->no_wait || given->timeout_s))
		return error_set(err, ERROR_USAGE,
				 "--when-idle waits for nothing, so it goes with none of --wait, "
				 "--no-wait and --timeout: agentdeck session output shows the "
				 "reply later");
	if (given->when_idle && given->replace_draft)
		return error_set(err, ERROR_USAGE,
				 "a queued message waits until the input box is empty: omit "
				 "--replace-draft");
	return 0;
}

/* The first operand names the session, unless an option names it. */
static int cmd_session_send(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_several struct several several = { 0 };
	cleanup_strvec struct strvec names = { 0 };
	struct several_verb verb = {
		.act = send_one,
		.result = given->when_idle ? "submitted or queued" : "submitted",
		.concerns = several_is_wanted,
		.timeout_ms = crew_timeout_ms(app) + timeout_s(given) * 1000,
		.jobs = SEVERAL_STOPS,
	};
	if (check_options(given, err) < 0)
		return -1;
	int r = several_work(app, &verb, err);
	if (r != SEVERAL_NONE)
		return r;
	strvec_push_all(&names, &app->named);
	if (names.count == 0 && !app->every && !app->group && app->operands.count)
		strvec_push(&names, app->operands.items[0]);
	if (several_choose(app, &names, &verb, &several, err) < 0)
		return -1;
	if (given->edit)
		return run_edited(app, &several, &verb, err);
	if (several.is_set || several.count > 1)
		return send_all(app, &several, &verb, err);
	return several_run(app, &several, &verb, err);
}

const struct command command_session_send = {
	.name = "session send",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION] [TEXT...]",
	.summary = "send a message and confirm that the agent received it",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON | HAS_MESSAGE,
	.run = cmd_session_send,
};
