/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/deck/hint.h"

#include "base/clock.h"
#include "driver/transcript/transcript.h"
#include "engine/place/alive.h"
#include "engine/place/oom.h"
#include "engine/run/correct.h"
#include "engine/screen/activity.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"
#include "model/plan/restart.h"

#include <string.h>

struct options {
	bool verbose;
};

static const struct command_option options[] = {
	{ 'v', "verbose", NULL, "also show processes, files, the scope and the command lines",
	  TO_FLAG(verbose) },
	{ 0 },
};

enum { REPLY_LINES = 4 };

static struct json_object *json_of_exit(const struct exit_record *record)
{
	if (!record->present)
		return NULL;
	struct json_object *object = json_object_new_object();
	json_set(object, "signal", record->signal ? json_object_new_int(record->signal) : NULL);
	json_set(object, "exit_status", record->signal ? NULL : json_object_new_int(record->code));
	json_set_bool(object, "oom", record->oom);
	json_set_string(object, "oom_victim", record->oom_victim);
	json_set_string(object, "last_words", record->last_words);
	return object;
}

static void add_restart(struct json_object *object, const struct app *app,
			const struct instance *instance)
{
	struct json_object *restart = json_make_object(object, "restart");
	const size_t count = instance->observed.restart_count;
	json_set_string(restart, "policy",
			restart_policy_name(restart_policy_of(instance, &app->deck.settings)));
	json_set_bool(restart, "is_default", instance->restart_policy == RESTART_DEFAULT);
	json_set_int(restart, "count", (int64_t)count);
	json_set_time(restart, "last_at", count ? instance->observed.restarts[count - 1] : 0);
	json_set_string(object, "held", instance->observed.held);
}

static struct json_object *json_of_all(struct app *app, const struct store_row *row,
				       const struct view *view, const struct instance *instance)
{
	struct json_object *object = json_of_row(row, view, app->deck.profile);
	const struct conversation *conversation = &instance->conversation;
	json_set_strings(object, "command", &instance->argv);
	/* claude_session_id and the like: scripts for older tools look for these names. */
	cleanup_free char *key = xasprintf("%s_session_id", instance->agent);
	json_set_string(object, key, conversation->session_id);
	json_set_string(object, "origin", session_origin_name(conversation->origin));
	json_set_strings(object, "previous_session_ids", &conversation->previous);
	json_set_string(object, "transcript_path", conversation->transcript_path);
	json_set_string(object, "launch_directory", instance_launch_directory(instance));
	json_set_bool(object, "first_turn_seen", conversation->first_turn_seen);
	json_set_string(object, "backend", instance->backend);
	json_set_string(object, "desired", instance_desired_name(instance->desired));
	json_set_time(object, "last_used_at", instance->last_used_at);
	json_add_run(object, instance);
	add_restart(object, app, instance);
	json_set(object, "exit", json_of_exit(&instance->observed.exit));
	return object;
}

static void line(const char *name, const char *value)
{
	if (is_empty(value))
		return;
	cleanup_free char *shown = visible(value);
	printf("%-14s %s\n", name, shown);
}

static void print_exit(const struct instance *instance)
{
	const struct exit_record *record = &instance->observed.exit;
	if (record->present && record->oom)
		line("Out of memory", record->oom_victim ? record->oom_victim : "the agent");
	if (!record->present || is_empty(record->last_words))
		return;
	cleanup_free char *words = xstrdup(record->last_words);
	char *rest = words;
	printf("Last words:\n");
	for (const char *text; (text = strsep(&rest, "\n"));) {
		cleanup_free char *shown = visible(text);
		if (*shown)
			printf("  | %s\n", shown);
	}
}

static void print_restart(const struct app *app, const struct instance *instance)
{
	char date[CLOCK_TEXT_SIZE];
	const size_t count = instance->observed.restart_count;
	cleanup_free char *policy = xasprintf(
		"%s%s", restart_policy_name(restart_policy_of(instance, &app->deck.settings)),
		instance->restart_policy == RESTART_DEFAULT ? " (default)" : "");
	line("Restart", policy);
	if (count) {
		cleanup_free char *text = xasprintf(
			"%zu of late, the last at %s", count,
			clock_format(instance->observed.restarts[count - 1], date));
		line("  restarts", text);
	}
	if (instance->observed.held) {
		cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
		cleanup_free char *text = xasprintf(
			"%s; when that is seen to, bring it back with agentdeck session start %s",
			instance->observed.held, hint);
		line("Held", text);
	}
}

static void print_shared(const struct view *view, const struct shared_conversation *shared)
{
	cleanup_free char *text = shared_conversation_text(shared);
	if (!text)
		return;
	if (!view->is_sharing) {
		line("  was in", text);
		return;
	}
	cleanup_free char *copy = xasprintf("agentdeck%s%s session fork %s",
					    shared->profile ? " --profile " : "",
					    or_empty(shared->profile), or_empty(shared->owner));
	line("  shares", text);
	line("  for a copy", copy);
}

/* "running, idle for 3 min". */
static char *status_text(const struct view *view)
{
	char span[CLOCK_TEXT_SIZE];
	cleanup_free char *text = view_text(view);
	const bool is_plain = state_is_running(view->state) && !view->is_silent &&
			      !view->is_sharing;
	if (!is_plain || view->activity_since <= 0)
		return TAKE_PTR(text);
	return xasprintf("%s for %s", text,
			 clock_span(clock_wall_us() - view->activity_since, span));
}

/* The beginning of the agent's last reply, where its transcript can be read. */
static void print_reply(struct app *app, const struct instance *instance)
{
	const struct conversation *conversation = &instance->conversation;
	const struct agent *agent;
	cleanup_transcript struct transcript found = { 0 };
	cleanup_strbuf struct strbuf clean = { 0 };
	cleanup_free char *reply = NULL;
	if (!conversation->session_id ||
	    deck_agent(&app->deck, instance->agent, &agent, NULL) < 0 || !agent->transcript)
		return;
	cleanup_free char *home = conversation->config_home ? xstrdup(conversation->config_home)
							    : deck_config_home(&app->deck, agent);
	if (!home ||
	    transcript_find(home, instance_launch_directory(instance), conversation->session_id,
			    conversation->transcript_path, &found, NULL) != 0 ||
	    transcript_last_reply(found.path, &reply, NULL, NULL) != 0)
		return;
	(void)display_clean(reply, strlen(reply), &clean);
	cleanup_free char *text = strbuf_take(&clean);
	char *rest = text;
	int count = 0;
	for (const char *words; count < REPLY_LINES && (words = strsep(&rest, "\n"));)
		if (words[strspn(words, " \t")])
			line(count++ ? "" : "Last reply", words);
	if (count == REPLY_LINES && rest && rest[strspn(rest, " \t\n")])
		line("", "...");
}

static void print_origin(const struct instance *instance)
{
	char date[CLOCK_TEXT_SIZE];
	cleanup_free char *command = visible_argv(strvec_argv(&instance->argv));
	line("Command", command);
	line("Origin", session_origin_name(instance->conversation.origin));
	line("Transcript", instance->conversation.transcript_path);
	line("  directory", instance->conversation.directory);
	for (size_t i = 0; i < instance->conversation.previous.count; i++)
		line("  earlier", instance->conversation.previous.items[i]);
	line("Created", clock_format(instance->created_at, date));
}

static void print_run(const struct instance *instance, const struct attempt *attempt)
{
	cleanup_free char *argv = visible_argv(strvec_argv(&attempt->argv));
	cleanup_free char *pids = xasprintf("%d (tmux server %d)", (int)instance->run.pane.pid,
					    (int)instance->run.server.pid);
	const struct place_run run = place_run_of(instance);
	cleanup_free char *cgroup = place_control_group(&run);
	line("Came back by", rung_name(attempt->rung));
	line("  reason", attempt_reason(attempt));
	line("  argv", argv);
	line("Process", pids);
	line("Scope", instance->run.unit ? instance->run.unit : "none: runs without isolation");
	line("Cgroup", cgroup);
	cleanup_free char *killed = cgroup && instance->run.unit
					    ? oom_text(oom_look(instance->run.directory, cgroup))
					    : NULL;
	line("Memory", killed);
	line("Socket", instance->run.socket);
}

static void print_instance(struct app *app, const struct store_row *row, const struct view *view,
			   const struct instance *instance)
{
	const struct options *given = app->options;
	const struct attempt *attempt = run_attempt(&instance->run);
	const bool is_live = attempt && place_row_is_live(row);
	cleanup_free char *status = status_text(view);
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	cleanup_free char *attach = xasprintf("agentdeck attach %s", hint);
	line("Title", instance->title);
	line("Id", instance->id);
	line("  copy of", instance->copy_of);
	line("Status", status);
	line("Directory", instance_lookup_directory(instance));
	line("Group", instance->group);
	line("Notes", instance->notes);
	line("Agent", instance->agent);
	line("Conversation", instance->conversation.session_id);
	print_shared(view, &instance->conversation.shared);
	line("Note", is_live ? instance->run.history_note : NULL);
	print_reply(app, instance);
	if (given->verbose)
		print_origin(instance);
	if (given->verbose && is_live)
		print_run(instance, attempt);
	print_restart(app, instance);
	print_exit(instance);
	line("Go to it with", attach);
}

static int show(struct app *app, const struct store_row *row, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	if (row->damage)
		return error_set(err, ERROR_CORRUPT, "%s", row->damage);
	(void)correct_row(&app->deck, app->deck.store, row);
	if (deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	view_ask(&app->deck, instance);
	activity_look(&app->deck, row);
	cleanup_view struct view view = view_of(row);
	if (app->json) {
		cleanup_json struct json_object *object = json_of_all(app, row, &view, instance);
		print_json(object);
	} else {
		print_instance(app, row, &view, instance);
	}
	return 0;
}

static int run_show(struct app *app, struct error *err)
{
	return show(app, app->session, err);
}

/* Find the session of this pane, by our environment or else by our tmux server. */
static int run_current(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const char *id = getenv(ENV_INSTANCE);
	if (store_list(app->deck.store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		bool by_id = id && streq(row->id, id);
		bool by_socket = row->socket && terminal_is_own(row->socket);
		if (by_id || by_socket)
			return show(app, row, err);
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "this terminal is not in a session of profile %s: see "
			 "agentdeck list",
			 app->deck.profile);
}

const struct command command_session_show = {
	.name = "session show",
	.arguments = "SESSION",
	.summary = "show what a session does, and how to get back to it",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = run_show,
};

const struct command command_session_current = {
	.name = "session current",
	.arguments = "",
	.summary = "show the session that this terminal is in",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run_current,
};
