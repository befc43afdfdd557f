/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/deck/agentversion.h"

#include <string.h>

static const char *strategy(const struct agent *agent)
{
	return strategy_name(registry_strategy(agent));
}

static const char *resumes(const struct agent *agent)
{
	switch (registry_strategy(agent)) {
	case STRATEGY_NONE:
		break;
	case STRATEGY_CONTINUE:
		return "the latest";
	case STRATEGY_ASSIGN:
	case STRATEGY_IDEMPOTENT:
	case STRATEGY_CREATE:
	case STRATEGY_REPORT:
		return "by its id";
	}
	return "no";
}

static const char *source(const struct agent *agent)
{
	if (!agent->builtin)
		return "user";
	return agent->overridden ? "overridden" : "builtin";
}

static const char *or_not_installed(const struct agent_seen *seen)
{
	return seen->path ? seen->path : "not installed";
}

static struct json_object *json_of_seen(const struct agent_seen *seen)
{
	struct json_object *object = json_object_new_object();
	const struct agent *agent = seen->agent;
	json_set_string(object, "name", agent->name);
	json_set_string(object, "title", agent->title);
	json_set_string(object, "strategy", strategy(agent));
	json_set_bool(object, "reports", agent_reports(agent));
	json_set_string(object, "installed", seen->path);
	json_set_string(object, "version", seen->version);
	json_set_string(object, "source", source(agent));
	return object;
}

static void print_seen(const struct app *app, const struct agent_seen *seen, size_t count)
{
	if (app->json) {
		cleanup_json struct json_object *array = json_object_new_array();
		for (size_t i = 0; i < count; i++)
			json_object_array_add(array, json_of_seen(seen + i));
		print_json(array);
		return;
	}
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "NAME", "TITLE", "RESUMES", "SOURCE", "VERSION",
					    "INSTALLED", NULL });
	for (size_t i = 0; i < count; i++) {
		const struct agent *agent = seen[i].agent;
		table_add(table,
			  (const char *const[]){ agent->name, or_empty(agent->title),
						 resumes(agent), source(agent),
						 seen[i].version ? seen[i].version : "-",
						 or_not_installed(seen + i), NULL },
			  seen[i].path ? "green" : NULL);
	}
	table_print(table);
}

static int run_list(struct app *app, struct error *err)
{
	const struct registry *registry;
	if (deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	cleanup_free struct agent_seen *seen = xcalloc(registry->count + 1, sizeof(*seen));
	agentversion_look(app->deck.paths.state, (const struct agent *const *)registry->agents,
			  registry->count, seen);
	print_seen(app, seen, registry->count);
	for (size_t i = 0; i < registry->count; i++)
		agent_seen_clear(seen + i);
	return 0;
}

static void build_command(const struct agent *agent, const struct strvec *way, struct strvec *ret)
{
	if (agent->command.count)
		strvec_push_all(ret, &agent->command);
	else
		strvec_push(ret, agentversion_program(agent));
	strvec_push_all(ret, way);
	strvec_push_all(ret, &agent->isolation_arguments);
	strvec_push_all(ret, &agent->report);
}

/* What is shown besides: the names in --json, and the keys of an entry's file. */
struct shown {
	const char *name, *key;
};

static const struct shown texts[] = {
	{ "session_id", "session.id" },
	{ "id_scope", "session.scope" },
	{ "unknown_id", "session.unknown.behaviour" },
	{ "unknown_pattern", "session.unknown.pattern" },
	{ "continue_scope", "session.continue_scope" },
	{ "create_pattern", "session.create_pattern" },
	{ "exit_banner", "screen.exit_banner" },
	{ "transcript", "session.transcript" },
	{ "conversations", "session.conversations" },
	{ "processes", "session.processes" },
	{ "files", "files.conversation" },
	{ "files_id", "files.id" },
	{ "files_directory", "files.directory" },
	{ "files_directory_file", "files.directory_file" },
	{ "files_prompt", "files.prompt" },
	{ "files_prompt_text", "files.prompt_text" },
	{ "files_reply", "files.reply" },
	{ "files_reply_text", "files.reply_text" },
	{ "files_lock", "files.lock" },
	{ "home", "home.default" },
	{ "home_variable", "home.variable" },
	{ "seed", "home.seed" },
	{ "seed_text", "home.seed_text" },
	{ "submit_key", "keys.submit" },
	{ "guard", "keys.guard" },
	{ "guard_text", "keys.guard_text" },
	{ "report_payload", "report.payload" },
	{ "report_binds", "report.binds" },
	{ "event_key", "report.event_key" },
	{ "id_key", "report.id_key" },
	{ "transcript_key", "report.transcript_key" },
	{ "cwd_key", "report.cwd_key" },
	{ "source_key", "report.source_key" },
	{ "kind_key", "report.kind_key" },
	{ "report_settings", "report.settings" },
	{ "doctor_hint", "doctor.hint" },
	{ "doctor_remedy", "doctor.remedy" },
	{ "doctor_file", "doctor.file" },
	{ "doctor_unless", "doctor.unless" },
};

static const struct shown lists[] = {
	{ "create", "session.create" },
	{ "match", "match" },
	{ "packages", "packages" },
	{ "ask_version", "version" },
	{ "files_skip", "files.skip" },
	{ "files_side", "files.side" },
	{ "isolation_set", "isolation.environment" },
	{ "report_set", "report.environment" },
	{ "report_events", "report.events" },
	{ "report_start", "report.start" },
	{ "report_prompt", "report.prompt" },
	{ "report_busy", "report.busy" },
	{ "report_waiting", "report.waiting" },
	{ "report_idle", "report.idle" },
	{ "report_turn", "report.turn" },
	{ "report_end", "report.end" },
	{ "strip", "arguments.strip" },
	{ "strip_value", "arguments.strip_value" },
	{ "strip_optional", "arguments.strip_optional" },
	{ "adopt", "arguments.adopt" },
	{ "value", "arguments.value" },
	{ "variadic", "arguments.variadic" },
	{ "optional", "arguments.optional" },
	{ "once", "arguments.once" },
	{ "latest", "arguments.latest" },
	{ "one_shot", "arguments.one_shot" },
	{ "login_files", "home.login" },
	{ "scrub", "environment.scrub" },
	{ "set", "environment.set" },
	{ "login_variables", "environment.login" },
	{ "ready", "screen.ready" },
	{ "busy", "screen.busy" },
	{ "waiting", "screen.waiting" },
	{ "box_above", "screen.box_above" },
	{ "box_below", "screen.box_below" },
	{ "box_frame", "screen.box_frame" },
	{ "placeholder", "screen.placeholder" },
	{ "pasted", "screen.pasted" },
	{ "mode", "screen.mode" },
	{ "mode_text", "screen.mode_text" },
	{ "elsewhere", "screen.elsewhere" },
	{ "login", "screen.login" },
	{ "background", "screen.background" },
	{ "refused", "screen.refused" },
	{ "daemons", "daemons.end" },
	{ "quit_keys", "keys.quit" },
	{ "banner_keys", "keys.banner" },
	{ "clear_keys", "keys.clear" },
	{ "evidence", "evidence" },
};

/* Does the key mean anything for this agent? */
static bool applies(const struct agent *agent, const char *key)
{
	if (streq(key, "session.scope") || streq(key, "session.unknown.behaviour"))
		return agent->id_kind != ID_NONE;
	if (streq(key, "session.continue_scope"))
		return agent->continue_latest.count > 0;
	if (streq(key, "report.payload") || streq(key, "report.binds"))
		return agent_reports(agent);
	return true;
}

/* Texts that may contain spaces; the other lists are of words. */
static bool has_texts(const char *key)
{
	return starts_with(key, "screen.") || streq(key, "daemons.end") || streq(key, "evidence");
}

enum { COLUMN = 22, WIDTH = 96 };

static void line(const char *name, const char *value)
{
	if (!is_empty(value))
		say("%-*s%s", COLUMN, name, value);
}

/* Commands and flags fill lines.  A text gets its own line. */
static void print_list(const char *name, const struct strvec *words, bool are_texts)
{
	int column = COLUMN;
	if (!words->count)
		return;
	printf("%-*s", COLUMN, name);
	for (size_t i = 0; i < words->count; i++) {
		cleanup_free char *word = visible(words->items[i]);
		int length = (int)strlen(word);
		bool breaks = are_texts || column + length >= WIDTH;
		if (i && breaks) {
			printf("\n%*s", COLUMN, "");
			column = COLUMN;
		}
		printf("%s%s", i && !breaks ? " " : "", word);
		column += length + 1;
	}
	printf("\n");
}

/* object: where it goes; NULL: to people. */
static void show_list(struct json_object *object, const char *name, const struct strvec *words,
		      bool are_texts)
{
	if (object)
		json_set_strings(object, name, words);
	else
		print_list(name, words, are_texts);
}

static void show_texts(struct json_object *object, const struct agent *agent)
{
	bool is_vector;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *const *field = agent_field(agent, texts[i].key, &is_vector);
		const char *text = applies(agent, texts[i].key) ? *field : NULL;
		if (object)
			json_set_string(object, texts[i].name, text);
		else
			line(texts[i].name, text);
	}
}

/* The command lines with each way to choose a conversation, and all lists. */
static void show_lists(struct json_object *object, const struct agent *agent)
{
	const struct {
		const char *name;
		const struct strvec *way;
	} ways[] = { { "launch", &agent->assign },
		     { "resume", &agent->resume },
		     { "fork", &agent->fork },
		     { "continue", &agent->continue_latest } };
	bool is_vector;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup_strvec struct strvec words = { 0 };
		/* Without arguments it is a plain launch, and nothing of the others. */
		if (i == 0 || ways[i].way->count)
			build_command(agent, ways[i].way, &words);
		show_list(object, ways[i].name, &words, false);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		show_list(object, lists[i].name, agent_field(agent, lists[i].key, &is_vector),
			  has_texts(lists[i].key));
}

static void print_entry(const struct agent_seen *seen)
{
	const struct agent *agent = seen->agent;
	line("name", agent->name);
	line("title", agent->title);
	line("source", source(agent));
	line("installed", or_not_installed(seen));
	line("version", seen->version ? seen->version : "-");
	line("resumes", resumes(agent));
	line("strategy", strategy(agent));
	show_texts(NULL, agent);
	line("bare word", agent->prompt_positional ? "is a prompt" : NULL);
	line("stand_in", agent->stand_in ? "yes: only chosen by its name" : NULL);
	line("generic", agent->generic ? "yes: runs what fits no other agent" : NULL);
	show_lists(NULL, agent);
}

static void print_entry_json(const struct agent_seen *seen)
{
	cleanup_json struct json_object *object = json_of_seen(seen);
	show_texts(object, seen->agent);
	json_set_bool(object, "prompt_positional", seen->agent->prompt_positional);
	json_set_bool(object, "stand_in", seen->agent->stand_in);
	json_set_bool(object, "generic", seen->agent->generic);
	show_lists(object, seen->agent);
	print_json(object);
}

static int run_show(struct app *app, struct error *err)
{
	const struct agent *agent;
	struct agent_seen seen = { 0 };
	if (deck_agent(&app->deck, app->operands.items[0], &agent, err) < 0)
		return -1;
	agentversion_look(app->deck.paths.state, &agent, 1, &seen);
	if (app->json)
		print_entry_json(&seen);
	else
		print_entry(&seen);
	agent_seen_clear(&seen);
	return 0;
}

const struct command command_agents_list = {
	.name = "agents list",
	.arguments = "",
	.summary = "list the agents that agentdeck knows",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = run_list,
};

const struct command command_agents_show = {
	.name = "agents show",
	.arguments = "AGENT",
	.summary = "show all that agentdeck knows of an agent",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = run_show,
};
