/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/table.h"

#include "engine/agentversion.h"

#include <string.h>

static const char *strategy(const struct agent *agent)
{
	return strategy_name(registry_strategy(agent));
}

static bool reports(const struct agent *agent)
{
	return agent->report.count || agent->report_environment.count;
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
	json_set_bool(object, "reports", reports(agent));
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
	cleanup_table struct table *table = table_new(app, (const char *const[]){
		"NAME", "TITLE", "STRATEGY", "SOURCE", "VERSION", "INSTALLED", NULL });
	for (size_t i = 0; i < count; i++) {
		const struct agent *agent = seen[i].agent;
		table_add(table, (const char *const[]){ agent->name, or_empty(agent->title),
							strategy(agent), source(agent),
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

/* The command line with one of its ways to choose a conversation; empty when it has not got it. */
static void build_command(const struct agent *agent, const struct strvec *way, bool is_plain,
			  struct strvec *ret)
{
	if (!is_plain && !way->count)
		return;
	if (agent->command.count)
		strvec_push_all(ret, &agent->command);
	else
		strvec_push(ret, agentversion_program(agent));
	strvec_push_all(ret, way);
	strvec_push_all(ret, &agent->isolation_arguments);
	strvec_push_all(ret, &agent->report);
}

struct field {
	const char *name;
	const struct strvec *words;
	bool is_list; /* of texts; else of words */
};

struct agent_fields {
	struct strvec launch, resume, fork, continue_latest;
	struct field fields[48];
	size_t count;
};

static void add_words(struct agent_fields *fields, const char *name, const struct strvec *words)
{
	fields->fields[fields->count++] = (struct field){ name, words, false };
}

static void add_list(struct agent_fields *fields, const char *name, const struct strvec *texts)
{
	fields->fields[fields->count++] = (struct field){ name, texts, true };
}

static void collect(const struct agent *agent, struct agent_fields *ret)
{
	build_command(agent, &agent->assign, true, &ret->launch);
	build_command(agent, &agent->resume, false, &ret->resume);
	build_command(agent, &agent->fork, false, &ret->fork);
	build_command(agent, &agent->continue_latest, false, &ret->continue_latest);
	add_words(ret, "launch", &ret->launch);
	add_words(ret, "resume", &ret->resume);
	add_words(ret, "fork", &ret->fork);
	add_words(ret, "continue", &ret->continue_latest);
	add_words(ret, "create", &agent->create);
	add_words(ret, "match", &agent->match);
	add_words(ret, "packages", &agent->packages);
	add_words(ret, "ask_version", &agent->version);
	add_words(ret, "isolation_set", &agent->isolation_environment);
	add_words(ret, "report_set", &agent->report_environment);
	add_words(ret, "report_events", &agent->report_events);
	add_words(ret, "report_start", &agent->report_start);
	add_words(ret, "report_prompt", &agent->report_prompt);
	add_words(ret, "report_busy", &agent->report_busy);
	add_words(ret, "report_waiting", &agent->report_waiting);
	add_words(ret, "report_idle", &agent->report_idle);
	add_words(ret, "report_turn", &agent->report_turn);
	add_words(ret, "report_end", &agent->report_end);
	add_words(ret, "strip", &agent->strip);
	add_words(ret, "strip_value", &agent->strip_value);
	add_words(ret, "strip_optional", &agent->strip_optional);
	add_words(ret, "adopt", &agent->adopt);
	add_words(ret, "value", &agent->value_flags);
	add_words(ret, "variadic", &agent->variadic_flags);
	add_words(ret, "optional", &agent->optional_flags);
	add_words(ret, "scrub", &agent->scrub);
	add_words(ret, "set", &agent->set);
	add_list(ret, "ready", &agent->ready);
	add_list(ret, "busy", &agent->busy);
	add_list(ret, "waiting", &agent->waiting);
	add_list(ret, "login", &agent->login);
	add_list(ret, "daemons", &agent->daemons);
	add_words(ret, "quit_keys", &agent->quit_keys);
	add_words(ret, "banner_keys", &agent->banner_keys);
	add_list(ret, "evidence", &agent->evidence);
}

static void agent_fields_free(struct agent_fields *fields)
{
	strvec_clear(&fields->launch);
	strvec_clear(&fields->resume);
	strvec_clear(&fields->fork);
	strvec_clear(&fields->continue_latest);
}
#define cleanup_agent_fields CLEANUP(agent_fields_free)

struct text {
	const char *name, *value;
};

enum { TEXT_COUNT = 23 };

/* What is one text each, under the names of --json. */
static void collect_texts(const struct agent *agent, struct text ret[TEXT_COUNT])
{
	static const char *const kinds[] = {
		[ID_NONE] = "none", [ID_UUID] = "uuid", [ID_ANY] = "any",
		[ID_PATH] = "path", [ID_NAME] = "name",
	};
	static const char *const scopes[] = {
		[ID_SCOPE_CWD] = "cwd", [ID_SCOPE_GLOBAL] = "global",
	};
	static const char *const unknown[] = {
		[UNKNOWN_EXITS] = "exits", [UNKNOWN_CREATES] = "creates", [UNKNOWN_NEW] = "new",
	};
	static const char *const payloads[] = {
		[PAYLOAD_STDIN] = "stdin", [PAYLOAD_ARGUMENT] = "argument",
	};
	static const char *const binds[] = { [BINDS_START] = "start", [BINDS_FIRST] = "first" };
	bool has_id = agent->id_kind != ID_NONE, has_report = reports(agent);
	const struct text texts[TEXT_COUNT] = {
		{ "session_id", kinds[agent->id_kind] },
		{ "id_scope", has_id ? scopes[agent->id_scope] : NULL },
		{ "unknown_id", has_id ? unknown[agent->unknown_id] : NULL },
		{ "unknown_pattern", agent->unknown_pattern },
		{ "continue_scope",
		  agent->continue_latest.count ? scopes[agent->continue_scope] : NULL },
		{ "create_pattern", agent->create_pattern },
		{ "exit_banner", agent->exit_banner },
		{ "transcript", agent->transcript },
		{ "home", agent->config_home },
		{ "home_variable", agent->config_home_env },
		{ "submit_key", agent->submit_key },
		{ "report_payload", has_report ? payloads[agent->report_payload] : NULL },
		{ "report_binds", has_report ? binds[agent->report_binds] : NULL },
		{ "event_key", agent->event_key },
		{ "id_key", agent->id_key },
		{ "transcript_key", agent->transcript_key },
		{ "cwd_key", agent->cwd_key },
		{ "source_key", agent->source_key },
		{ "report_settings", agent->report_settings },
		{ "doctor_hint", agent->doctor_hint },
		{ "doctor_remedy", agent->doctor_remedy },
		{ "doctor_file", agent->doctor_file },
		{ "doctor_unless", agent->doctor_unless },
	};
	memcpy(ret, texts, sizeof(texts));
}

enum { COLUMN = 16, WIDTH = 96 };

static void line(const char *name, const char *value)
{
	if (is_empty(value))
		return;
	cleanup_free char *shown = visible(value);
	printf("%-*s%s\n", COLUMN, name, shown);
}

/* Commands and flags fill lines; what may have spaces in it stands on a line of its own. */
static void print_field(const struct field *field)
{
	int column = COLUMN;
	if (!field->words->count)
		return;
	printf("%-*s", COLUMN, field->name);
	for (size_t i = 0; i < field->words->count; i++) {
		cleanup_free char *word = visible(field->words->items[i]);
		int length = (int)strlen(word);
		bool breaks = field->is_list || column + length >= WIDTH;
		if (i && breaks) {
			printf("\n%*s", COLUMN, "");
			column = COLUMN;
		}
		printf("%s%s", i && !breaks ? " " : "", word);
		column += length + 1;
	}
	printf("\n");
}

static void print_entry(const struct agent_seen *seen, const struct agent_fields *fields)
{
	const struct agent *agent = seen->agent;
	struct text texts[TEXT_COUNT];
	line("name", agent->name);
	line("title", agent->title);
	line("source", source(agent));
	line("installed", or_not_installed(seen));
	line("version", seen->version ? seen->version : "-");
	line("strategy", strategy(agent));
	collect_texts(agent, texts);
	for (size_t i = 0; i < TEXT_COUNT; i++)
		line(texts[i].name, texts[i].value);
	line("bare word", agent->prompt_positional ? "is a prompt" : NULL);
	line("stand_in", agent->stand_in ? "yes: only chosen when nothing else is installed" : NULL);
	line("generic", agent->generic ? "yes: runs what fits no other agent" : NULL);
	for (size_t i = 0; i < fields->count; i++)
		print_field(&fields->fields[i]);
}

static struct json_object *json_of_entry(const struct agent_seen *seen,
					 const struct agent_fields *fields)
{
	struct json_object *object = json_of_seen(seen);
	struct text texts[TEXT_COUNT];
	collect_texts(seen->agent, texts);
	for (size_t i = 0; i < TEXT_COUNT; i++)
		json_set_string(object, texts[i].name, texts[i].value);
	json_set_bool(object, "prompt_positional", seen->agent->prompt_positional);
	json_set_bool(object, "stand_in", seen->agent->stand_in);
	json_set_bool(object, "generic", seen->agent->generic);
	for (size_t i = 0; i < fields->count; i++)
		json_set_strings(object, fields->fields[i].name, fields->fields[i].words);
	return object;
}

static int run_show(struct app *app, struct error *err)
{
	const struct agent *agent;
	struct agent_seen seen = { 0 };
	cleanup_agent_fields struct agent_fields fields = { 0 };
	if (deck_agent(&app->deck, app->operands.items[0], &agent, err) < 0)
		return -1;
	collect(agent, &fields);
	agentversion_look(app->deck.paths.state, &agent, 1, &seen);
	if (app->json) {
		cleanup_json struct json_object *object = json_of_entry(&seen, &fields);
		print_json(object);
	} else {
		print_entry(&seen, &fields);
	}
	agent_seen_clear(&seen);
	return 0;
}

const struct command command_agents_list = {
	.name = "agents list",
	.arguments = "",
	.summary = "list the agents that agentdeck knows",
	.description =
		"STRATEGY tells how a conversation is found again: A, by an id that is ours from the start;\n"
		"A*, the same, and one flag begins and resumes it; A', by the id of an empty conversation\n"
		"that the agent makes first; R, by the id that the agent reports; B, as the agent's latest\n"
		"one in a place of its own; none, not at all.  VERSION is what the agent says when it is\n"
		"asked, and kept until its program changes.  agents/NAME.toml in the configuration\n"
		"directory changes an entry or adds one: see agents check.",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = run_list,
};

const struct command command_agents_show = {
	.name = "agents show",
	.arguments = "NAME",
	.summary = "show all that agentdeck knows of an agent",
	.description =
		"Launch, resume, fork and continue are the command lines as they are run, but for what stands in\n"
		"braces and for the arguments of a session's own.",
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_DECK | HAS_JSON,
	.run = run_show,
};
