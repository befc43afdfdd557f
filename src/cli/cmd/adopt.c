/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/start.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/deck/hint.h"
#include "engine/deck/visit.h"

#include "engine/adopt/adopt.h"

#include <errno.h>
#include <string.h>

struct options {
	struct adopt_order order;
	bool all, yes, dry_run, no_wait, no_supervise;
};

static const struct command_option options[] = {
	{ 0, "all", NULL, "every agent that is found", TO_FLAG(all) },
	{ 'y', "yes", NULL, "do not ask: end the process and continue in a session", TO_FLAG(yes) },
	{ 0, "dry-run", NULL, "show what would be taken over, and do nothing", TO_FLAG(dry_run),
	  .kind = COMMAND_READS },
	{ 't', "title", "TITLE", "title of the session; without it the directory's name",
	  TO_TEXT(order.title) },
	{ 'g', "group", "GROUP", "a group to list it under, like work/api", TO_TEXT(order.group) },
	{ 0, "session-id", "ID", "its conversation, if unknown or in doubt",
	  TO_TEXT(order.session_id) },
	{ 0, "fresh", NULL, "begin a new conversation if none is known", TO_FLAG(order.fresh) },
	{ 0, "no-wait", NULL, "return when the session is saved, without waiting for the agent",
	  TO_FLAG(no_wait) },
	{ 0, "no-supervise", NULL, "do not enable the supervisor", TO_FLAG(no_supervise) },
	{ 0 },
};

static struct json_object *json_of_find(const struct adopt_find *find)
{
	struct json_object *object = json_object_new_object();
	json_set_int(object, "pid", find->process.pid);
	json_set_string(object, "agent", find->agent->name);
	json_set_string(object, "path", find->cwd);
	json_set_strings(object, "argv", &find->argv);
	json_set_string(object, "session_id", find->session_id);
	json_set_string(object, "session_id_source", adopt_source_name(find->source));
	json_set_bool(object, "heeds_last_words", find->is_heard);
	json_set_string(object, "config_home", find->config_home);
	json_set_string(object, "terminal", find->terminal);
	json_set_string(object, "pane", find->pane);
	json_set_string(object, "doubt", find->doubt);
	json_set_string(object, "session", find->can_join ? find->owner : NULL);
	return object;
}

static void print_finds(struct app *app, const struct adopt_finds *finds)
{
	static const char *const headings[] = { "PID",          "AGENT",     "WHERE",
						"CONVERSATION", "DIRECTORY", NULL };
	if (!finds->count) {
		printf("No agent runs outside agentdeck.\n");
		return;
	}
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < finds->count; i++) {
		const struct adopt_find *find = finds->finds + i;
		cleanup_free char *pid = xasprintf("%d", (int)find->process.pid);
		cleanup_free char *id = find->doubt ? xasprintf("? %s", find->doubt)
					: find->can_join
						? xasprintf("%s, of session '%s'", find->session_id,
							    find->owner_title)
					: find->source == ADOPT_LAST_WORDS
						? xstrdup("(it says it when it ends)")
						: NULL;
		table_add(table,
			  (const char *const[]){ pid, find->agent->name,
						 find->where ? find->where : find->terminal,
						 id ? id : find->session_id, find->cwd },
			  find->doubt ? TONE_WARNING : TONE_PLAIN);
	}
	table_print(table);
	printf("Take one over with: agentdeck adopt PID\n");
}

/* Say what will happen to the conversation, before anything ends. */
static void describe_conversation(const struct adopt_find *find, const struct adopt_order *order)
{
	cleanup_free char *id = visible(
		or_empty(order->session_id ? order->session_id : find->session_id));
	if (order->session_id)
		printf("  conversation  %s (as you say)\n", id);
	else if (order->fresh)
		printf("  conversation  a new one, as you wish\n");
	else if (find->source == ADOPT_LAST_WORDS)
		printf("  conversation  its id will be read from what it prints when it ends; until it is, nothing "
		       "is killed\n");
	else if (find->session_id && find->is_heard)
		printf("  conversation  %s (from its %s), unless it names another one when it ends\n",
		       id, adopt_source_name(find->source));
	else if (find->session_id)
		printf("  conversation  %s (from its %s)\n", id, adopt_source_name(find->source));
	else if (find->agent->resume.count)
		printf("  conversation  unknown: it starts fresh, with --fresh, unless you say which with "
		       "--session-id\n");
	else
		printf("  conversation  it starts fresh, with --fresh\n");
}

static void describe(const struct adopt_find *find, const struct adopt_order *order)
{
	cleanup_free char *argv = visible_argv(find->argv.items);
	say("%s, process %d in %s", find->agent->title, (int)find->process.pid,
	    find->where ? find->where : find->terminal);
	say("  command       %s", argv);
	say("  directory     %s", find->cwd);
	if (!is_empty(find->config_home) && find->agent->config_home_env)
		say("  its files     %s", find->config_home);
	describe_conversation(find, order);
	if (find->can_join)
		say("  session       %s (%s), which has this conversation and is stopped",
		    find->owner_title, find->owner);
	if (!is_empty(find->doubt))
		say("  doubt         %s", find->doubt);
}

/* Ask before an agent is ended, unless -y was given. */
static int get_consent(struct app *app, bool *ret, struct error *err)
{
	const struct options *given = app->options;
	if (given->yes) {
		*ret = true;
		return 0;
	}
	static const struct consent consent = {
		"End it and resume its conversation in a session? A turn that it works on is lost.",
		"Nothing was done.",
		"--yes",
		"this ends the process and starts it again in a session: say --yes, or --dry-run "
		"to look only",
		ERROR_USAGE,
	};
	const int r = ask_consent(app, &consent, err);
	*ret = r == 0;
	return r < 0 ? -1 : 0;
}

static struct json_object *json_of_failure(const struct adopt_find *find, const struct error *err)
{
	struct json_object *object = json_of_find(find);
	json_set_failure(object, err);
	return object;
}

static void print_taken(const struct app *app, const struct lifecycle_started *started)
{
	const struct instance *instance = started->instance;
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	print_start(app, started);
	if (started->outcome == OUTCOME_REPORTED || started->outcome == OUTCOME_ALIVE)
		printf("Work in it with: agentdeck attach %s\n", hint);
}

/* Returns a positive value when the agent did not start. */
static int take(struct app *app, const struct adopt_find *find, struct json_object *list,
		struct error *err)
{
	cleanup_instance struct instance *added = NULL;
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	const struct options *given = app->options;
	int r = adopt_take(&app->deck, find, &given->order, &added, err);
	if (r < 0)
		return -1;
	if (r == ADOPT_UNNAMED) {
		cleanup_free char *hint = hint_session(&app->deck, added->title, added->id);
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s has ended, and did not name its conversation; it may "
			"have had none. Session %s is there and stopped: agentdeck start %s begins a new "
			"one; agentdeck session set %s session-id ID names the old one",
			find->agent->title, added->title, hint, hint);
	}
	/* The new session may be in another profile. */
	cleanup_visit struct visit visit = { 0 };
	if (visit_begin(&app->deck, added->profile, &visit, err) < 0)
		return -1;
	const struct start_order order = { .base = added->base,
					   .no_wait = given->no_wait,
					   .no_supervise = given->no_supervise };
	if (start_and_wait(app, &order, &started, err) < 0)
		return -1;
	if (app->json)
		json_object_array_add(list, json_of_start(&app->deck, &started));
	else
		print_taken(app, &started);
	return started.outcome == OUTCOME_REPORTED || started.outcome == OUTCOME_ALIVE ? 0 : 1;
}

static int take_each(struct app *app, const struct adopt_find *chosen, size_t count,
		     struct json_object *list, struct error *err)
{
	int status = 0;
	for (size_t i = 0; i < count; i++) {
		cleanup_error struct error one = { 0 };
		int r = take(app, chosen + i, list, &one);
		if (r < 0 && count == 1) {
			*err = one;
			one = (struct error){ 0 };
			return -1;
		}
		if (r < 0 && app->json)
			json_object_array_add(list, json_of_failure(chosen + i, &one));
		else if (r < 0)
			complain("%s", one.message);
		if (r != 0)
			status = 1;
	}
	return status;
}

static int look_only(struct app *app, const struct adopt_find *chosen, size_t count,
		     const struct adopt_finds *finds)
{
	if (app->json) {
		cleanup_json struct json_object *list = json_object_new_array();
		for (size_t i = 0; i < count; i++)
			json_object_array_add(list, json_of_find(chosen + i));
		print_json(list);
	} else if (app->operands.count == 0) {
		print_finds(app, finds);
	} else {
		const struct options *given = app->options;
		describe(chosen, &given->order);
	}
	return 0;
}

static int cmd_adopt(struct app *app, struct error *err)
{
	cleanup_adopt_finds struct adopt_finds finds = { 0 };
	const struct options *given = app->options;
	bool all = given->all, named = app->operands.count > 0, agreed = false;

	if (all && named)
		return error_set(err, ERROR_USAGE, "--all cannot be combined with a PANE or PID");
	if (all && (given->order.session_id || given->order.title))
		return error_set(err, ERROR_USAGE, "--session-id and --title are for one agent");
	if (adopt_look(&app->deck, &finds, err) < 0)
		return -1;
	const struct adopt_find *chosen = finds.finds;
	if (named && adopt_choose(&finds, app->operands.items[0], &chosen, err) < 0)
		return -1;
	const size_t count = named ? 1 : finds.count;
	if ((!all && !named) || given->dry_run || !count)
		return look_only(app, chosen, count, &finds);
	for (size_t i = 0; i < count && !app->json; i++)
		describe(chosen + i, &given->order);
	/* Do not ask about what would be refused. */
	if (named && adopt_check(chosen, &given->order, err) < 0)
		return -1;
	if (get_consent(app, &agreed, err) < 0)
		return -1;
	if (!agreed)
		return 1;
	cleanup_json struct json_object *list = json_object_new_array();
	int r = take_each(app, chosen, count, list, err);
	if (r >= 0 && app->json)
		print_json(list);
	return r;
}

const struct command command_adopt = {
	.name = "adopt",
	.kind = COMMAND_CHANGES,
	.arguments = "[PANE|PID]",
	.summary = "take over an agent that runs in some terminal or tmux",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON,
	.run = cmd_adopt,
};
