/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/decide.h"
#include "cli/cmd/image.h"
#include "cli/cmd/message.h"
#include "cli/cmd/neworder.h"
#include "cli/cmd/pick.h"
#include "cli/cmd/roles.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"
#include "engine/hosts/kept.h"
#include "engine/run/stop.h"

struct options {
	struct new_options session;
	const char *message, *message_file, *instead, *launched_by;
	bool no_wait, no_supervise, attach, no_setup;
	int64_t number; /* 0: one */
};

static const struct command_option options[] = {
	NEW_OPTIONS(session),
	{ 'm', "message", "TEXT", "send the agent this as soon as it is ready; - is standard input",
	  TO_MESSAGE(message) },
	{ 0, "message-file", "FILE", "send it what is in this file; - is standard input",
	  TO_TEXT(message_file) },
	{ 0, "no-wait", NULL, "return when the session is saved, without waiting for the agent",
	  TO_FLAG(no_wait) },
	{ 0, "no-supervise", NULL, "do not enable the supervisor", TO_FLAG(no_supervise) },
	{ 0, "no-setup", NULL, "skip the setup of its worktree or clone", TO_FLAG(no_setup) },
	{ 'a', "attach", NULL, "and attach to it", TO_FLAG(attach) },
	{ 'n', "number", "N", "so many agents on one task, each in a tree of its own",
	  TO_NUMBER(number, 1, 20) },
	{ 0, "instead", "SESSION", "resume this session, which has ended in the directory",
	  TO_VALUE(instead, VALUE_SESSION) },
	{ 0, "launched-by", "WHO", "the session whose agent does it", TO_TEXT(launched_by),
	  .is_hidden = true },
	{ 0 },
};

enum { MESSAGE_TIMEOUT_MS = 30000 };

struct launched {
	struct lifecycle_started started;
	bool is_up;
	struct delivery_result delivery;
};

static void launched_free(struct launched *launched)
{
	lifecycle_started_free(&launched->started);
	delivery_result_free(&launched->delivery);
}
#define cleanup_launched CLEANUP(launched_free)

/* The session's tree is there, and another start tries the setup again; or its container, in which
 * a command of its role may have failed. */
static bool waits_for_setup(struct app *app, const char *base)
{
	cleanup_instance struct instance *instance = NULL;
	return deck_load(&app->deck, base, &instance, NULL) == 0 &&
	       ((instance->workspace && instance->workspace->setup == SETUP_FAILED) ||
		place_has_begun(instance));
}

static struct start_order start_of(const struct options *given, const char *base)
{
	return (struct start_order){ .base = base,
				     .how.leaves_setup = given->no_setup,
				     .no_wait = given->no_wait,
				     .no_supervise = given->no_supervise };
}

/* Before a session is made: a question that its user ends leaves none. */
static int check_hosts(struct app *app, const struct new_order *order, struct error *err)
{
	const struct agent *agent;
	if (!order->session.session_id || !app->deck.settings.hosts.count)
		return 0;
	if (lifecycle_choose_agent(&app->deck, &order->session, &agent, err) < 0)
		return -1;
	const struct kept_question question = {
		.agent = agent->name,
		.session_id = order->session.session_id,
		.otherwise = "use agentdeck add, and then agentdeck start --take-over",
	};
	return kept_check(&app->deck, &question, err);
}

/* Add and start.  A session that cannot start at all is removed again, so that the same command
 * works once the cause is gone. */
static int add_and_start(struct app *app, const struct new_order *order, struct launched *ret,
			 struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *added = NULL;
	if (check_hosts(app, order, err) < 0 || image_add(app, &order->session, &added, err) < 0)
		return -1;
	struct start_order start = start_of(given, added->base);
	start.how.has_asked_hosts = true;
	if (start_and_wait(app, &start, &ret->started, err) < 0) {
		if (!waits_for_setup(app, added->base))
			(void)lifecycle_withdraw(&app->deck, added->base, NULL);
		return -1;
	}
	new_note_neighbour(app, added);
	if (!order->role.file)
		role_hint(app, &given->session.container, order->session.directory);
	ret->is_up = ret->started.outcome == OUTCOME_REPORTED ||
		     ret->started.outcome == OUTCOME_ALIVE;
	return 0;
}

/* The user has chosen a session that ended. */
static int resume(struct app *app, const char *base, struct launched *ret, struct error *err)
{
	const struct options *given = app->options;
	const struct start_order start = start_of(given, base);
	if (start_and_wait(app, &start, &ret->started, err) < 0)
		return -1;
	ret->is_up = ret->started.already || ret->started.outcome == OUTCOME_REPORTED ||
		     ret->started.outcome == OUTCOME_ALIVE;
	return 0;
}

static int send_message(struct app *app, const struct strbuf *message, struct launched *launched,
			struct error *err)
{
	const struct delivery_request request = {
		.base = launched->started.instance->base,
		.text = message->data,
		.length = message->length,
		.timeout_ms = MESSAGE_TIMEOUT_MS,
		.wait = true,
	};
	if (launched->is_up && !launched->started.verified && !app->quiet)
		complain("%s: waiting for %s's screen to settle, at most %d s ...",
			 launched->started.instance->title, launched->started.instance->agent,
			 MESSAGE_TIMEOUT_MS / 1000);
	if (launched->is_up)
		return deliver(&app->deck, &request, &launched->delivery, err);
	launched->delivery.delivery = DELIVERY_NOT_READY;
	launched->delivery.reason = xstrdup("the agent ended at once");
	return 0;
}

static int print_launched(struct app *app, const struct launched *launched, bool has_message,
			  struct error *err)
{
	const struct options *given = app->options;
	const struct instance *instance = launched->started.instance;
	const struct delivery_result *delivery = &launched->delivery;
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	bool delivered = !has_message || delivery->delivery == DELIVERY_SUBMITTED;
	if (app->json) {
		cleanup_json struct json_object *object = json_of_start(&app->deck,
									&launched->started);
		if (has_message && launched->is_up)
			message_add_json(object, hint, delivery);
		else if (has_message)
			json_set_string(object, "delivery", delivery_name(delivery->delivery));
		print_json(object);
		return launched->is_up && delivered ? 0 : 1;
	}
	print_start(app, &launched->started);
	if (!launched->is_up)
		return 1;
	if (has_message && message_judge(instance->title, hint, delivery, err) < 0)
		return -1;
	if (has_message)
		say("%s: message submitted", instance->title);
	new_say_tree(app, instance);
	if (!given->attach)
		printf("Work in it with: agentdeck attach %s\n", hint);
	return 0;
}

/* Which one: a new session, or one that ended.  *ret_base as of decide_launch(). */
static int settle_which(struct app *app, const struct new_order *order, char **ret_base,
			enum decision_way *ret, struct error *err)
{
	const struct options *given = app->options;
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	if (given->instead) {
		if (app_resolve(app, given->instead, &rows, &row, err) < 0)
			return -1;
		*ret_base = xstrdup(row->base);
		return 0;
	}
	return order->asks_nothing ? 0 : decide_launch(app, &order->session, ret_base, ret, err);
}

static int check_number(const struct app *app, const struct new_order *order, struct error *err)
{
	const struct options *given = app->options;
	if (given->number <= 1)
		return 0;
	if (!order->session.tree)
		return error_set(err, ERROR_USAGE,
				 "several agents would change the same files: add --worktree or "
				 "--clone");
	if (given->attach || app->json || given->instead || given->session.session_id)
		return error_set(err, ERROR_USAGE,
				 "--number does not go with --attach, --json, --instead or "
				 "--session-id");
	return 0;
}

/* One after the other; those that were started stay if a later one fails. */
static int launch_many(struct app *app, struct new_order *order, const struct strbuf *message,
		       struct error *err)
{
	const struct options *given = app->options;
	const char *title = order->session.title, *branch = order->tree.branch;
	int status = 0;
	for (int64_t i = 1; i <= given->number; i++) {
		cleanup_launched struct launched launched = { 0 };
		cleanup_free char *own_title = title ? xasprintf("%s-%d", title, (int)i) : NULL;
		cleanup_free char *own_branch = branch ? xasprintf("%s-%d", branch, (int)i) : NULL;
		order->session.title = own_title;
		order->tree.branch = own_branch;
		if (add_and_start(app, order, &launched, err) < 0 ||
		    (message && send_message(app, message, &launched, err) < 0))
			return error_prefix(err, "agent %d of %d", (int)i, (int)given->number);
		const int r = print_launched(app, &launched, message, err);
		if (r < 0)
			return -1;
		status |= r;
	}
	return status;
}

static int cmd_launch(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_new_order struct new_order order = { 0 };
	cleanup_strbuf struct strbuf message = { 0 };
	cleanup_launched struct launched launched = { 0 };
	cleanup_free char *resumed = NULL;
	enum decision_way decision = DECISION_GO_ON;
	const bool has_message = given->message || given->message_file;

	if (new_read(app, &given->session, &order, err) < 0)
		return -1;
	order.session.launched_by = given->launched_by;
	if (has_message && given->no_wait)
		return error_set(err, ERROR_USAGE,
				 "--no-wait does not go with a message, which waits for "
				 "the agent: omit one of them");
	if (has_message && message_read(given->message, given->message_file, &message, err) < 0)
		return -1;
	if (check_number(app, &order, err) < 0)
		return -1;
	int r = pick_ask(app, &order, err);
	if (r != 0)
		return r;
	if (given->number > 1)
		return launch_many(app, &order, has_message ? &message : NULL, err);
	if (settle_which(app, &order, &resumed, &decision, err) < 0)
		return -1;
	if (decision != DECISION_GO_ON) {
		fprintf(stderr, "agentdeck: cancelled: no session was created\n");
		return 1;
	}
	if ((resumed ? resume(app, resumed, &launched, err)
		     : add_and_start(app, &order, &launched, err)) < 0 ||
	    (has_message && send_message(app, &message, &launched, err) < 0))
		return -1;
	r = print_launched(app, &launched, has_message, err);
	if (r == 0 && given->attach && !app->json) {
		/* The text in our buffer belongs above the agent's screen. */
		(void)fflush(stdout);
		return run_attach(app, launched.started.instance->base, ATTACH_FULLY, err);
	}
	return r;
}

static struct offer offer(const struct app *line, bool behind_dashes)
{
	const struct options *given = line->options;
	return behind_dashes ? new_offer(&given->session) : (struct offer){ 0 };
}

const struct command command_launch = {
	.name = "launch",
	.kind = COMMAND_CHANGES,
	.arguments = "[PATH] [-- ARG...]",
	.summary = "make a session for a directory and start it",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON | HAS_REST,
	.run = cmd_launch,
	.offer = offer,
};
