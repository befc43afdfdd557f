/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/table.h"

#include "base/child.h"

#include <string.h>

/* How the agent's conversations are brought back, and whether it tells of itself. */
static const char *strategy(const struct agent *agent)
{
	if (agent->resume.count)
		return agent->report.count ? "id+report" : "id";
	return agent->continue_latest.count ? "continue" : "none";
}

static const char *source(const struct agent *agent)
{
	if (!agent->builtin)
		return "user";
	return agent->overridden ? "overridden" : "builtin";
}

static const char *program(const struct agent *agent)
{
	const char *shell = getenv("SHELL");
	if (agent->command.count)
		return agent->command.items[0];
	return is_empty(shell) ? "/bin/sh" : shell;
}

/* NULL: not installed.  The caller frees. */
static char *installed(const struct agent *agent)
{
	char *path = NULL;
	return child_find_program(program(agent), NULL, NULL, &path, NULL) == 0 ? path : NULL;
}

static struct json_object *json_of_agent(const struct agent *agent)
{
	struct json_object *object = json_object_new_object();
	cleanup_free char *path = installed(agent);
	json_set_string(object, "name", agent->name);
	json_set_string(object, "title", agent->title);
	json_set_string(object, "strategy", strategy(agent));
	json_set_string(object, "installed", path);
	json_set_string(object, "source", source(agent));
	return object;
}

static int run_list(struct app *app, struct error *err)
{
	const struct registry *registry;
	if (deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *array = json_object_new_array();
		for (size_t i = 0; i < registry->count; i++)
			json_object_array_add(array, json_of_agent(registry->agents[i]));
		print_json(array);
		return 0;
	}
	cleanup_table struct table *table = table_new(app, (const char *const[]){
		"NAME", "TITLE", "STRATEGY", "SOURCE", "INSTALLED", NULL });
	for (size_t i = 0; i < registry->count; i++) {
		const struct agent *agent = registry->agents[i];
		cleanup_free char *path = installed(agent);
		table_add(table, (const char *const[]){ agent->name, or_empty(agent->title),
							strategy(agent), source(agent),
							path ? path : "not installed", NULL },
			  path ? "green" : NULL);
	}
	table_print(table);
	return 0;
}

/* The command line with one of its ways to choose a conversation; empty when it has not got that way. */
static void build_command(const struct agent *agent, const struct strvec *way, bool is_plain,
			  struct strvec *ret)
{
	if (!is_plain && !way->count)
		return;
	if (agent->command.count)
		strvec_push_all(ret, &agent->command);
	else
		strvec_push(ret, program(agent));
	strvec_push_all(ret, way);
	strvec_push_all(ret, &agent->report);
}

struct field {
	const char *name;
	const struct strvec *words;
	bool is_list; /* of texts; else of words */
};

struct agent_fields {
	struct strvec launch, resume, fork, continue_latest;
	struct field fields[32];
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
	add_words(ret, "match", &agent->match);
	add_words(ret, "report_events", &agent->report_events);
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
	add_words(ret, "quit_keys", &agent->quit_keys);
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

static const char *id_kind(const struct agent *agent)
{
	static const char *const kinds[] = {
		[ID_NONE] = "none", [ID_UUID] = "uuid", [ID_ANY] = "any",
	};
	return kinds[agent->id_kind];
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

static void print_agent(const struct agent *agent, const struct agent_fields *fields)
{
	cleanup_free char *path = installed(agent);
	line("Name", agent->name);
	line("Title", agent->title);
	line("Source", source(agent));
	line("Installed", path ? path : "not installed");
	line("Strategy", strategy(agent));
	line("Session id", id_kind(agent));
	line("Transcripts", agent->transcript);
	line("Home", agent->config_home);
	line("  moved by", agent->config_home_env);
	line("Submit key", agent->submit_key);
	line("Bare word", agent->prompt_positional ? "is a prompt" : NULL);
	line("Stand-in", agent->stand_in ? "yes: only chosen when no other agent is installed" : NULL);
	for (size_t i = 0; i < fields->count; i++)
		print_field(&fields->fields[i]);
}

static struct json_object *json_of_entry(const struct agent *agent,
					 const struct agent_fields *fields)
{
	struct json_object *object = json_of_agent(agent);
	json_set_string(object, "session_id", id_kind(agent));
	json_set_string(object, "transcript", agent->transcript);
	json_set_string(object, "home", agent->config_home);
	json_set_string(object, "home_variable", agent->config_home_env);
	json_set_string(object, "submit_key", agent->submit_key);
	json_set_bool(object, "prompt_positional", agent->prompt_positional);
	json_set_bool(object, "stand_in", agent->stand_in);
	json_set_bool(object, "generic", agent->generic);
	for (size_t i = 0; i < fields->count; i++)
		json_set_strings(object, fields->fields[i].name, fields->fields[i].words);
	return object;
}

static int run_show(struct app *app, struct error *err)
{
	const struct agent *agent;
	cleanup_agent_fields struct agent_fields fields = { 0 };
	if (deck_agent(&app->deck, app->operands.items[0], &agent, err) < 0)
		return -1;
	collect(agent, &fields);
	if (app->json) {
		cleanup_json struct json_object *object = json_of_entry(agent, &fields);
		print_json(object);
	} else {
		print_agent(agent, &fields);
	}
	return 0;
}

const struct command command_agents_list = {
	.name = "agents list",
	.arguments = "",
	.summary = "list the agents that agentdeck knows",
	.description =
		"STRATEGY tells how a conversation is brought back: id+report, by its id, and the agent\n"
		"itself tells which one it is in and what it is doing; id, by its id; continue, only the\n"
		"latest one; none, not at all.  agents/NAME.toml in the configuration directory changes an\n"
		"entry or adds one.",
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
