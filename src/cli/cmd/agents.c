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
			  seen[i].path ? TONE_BUSY : TONE_PLAIN);
	}
	table_print(table);
}

static int cmd_agents_list(struct app *app, struct error *err)
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
	return starts_with(key, "screen.") || streq(key, "daemons.end") ||
	       streq(key, "report.context_full") || streq(key, "evidence");
}

enum { COLUMN = 22, WIDTH = 96 };

static void line(const char *name, const char *value)
{
	if (!is_empty(value))
		say("%-*s %s", COLUMN - 1, name, value);
}

/* Commands and flags fill lines.  A text gets its own line. */
static void print_list(const char *name, const struct strvec *words, bool are_texts)
{
	int column = COLUMN;
	if (!words->count)
		return;
	printf("%-*s ", COLUMN - 1, name);
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

/* The values in the entry: its lists, or else its texts. */
static void show_values(struct json_object *object, const struct agent *agent, bool are_lists)
{
	struct agent_value value;
	for (size_t i = 0; agent_value_at(agent, i, &value); i++) {
		const char *text = applies(agent, value.key) ? value.text : NULL;
		if (!value.name || are_lists != (value.list != NULL))
			continue;
		if (are_lists)
			show_list(object, value.name, value.list, has_texts(value.key));
		else if (object)
			json_set_string(object, value.name, text);
		else
			line(value.name, text);
	}
}

static void show_question(struct json_object *all, const struct agent_question *question)
{
	struct json_object *object = all ? json_make_object(all, question->name) : NULL;
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_free char *name = xasprintf("question.%s", question->name);
	for (size_t i = 0; i < agent_question_key_count; i++) {
		const struct agent_question_key *key = agent_question_keys + i;
		const char *value = agent_question_value(question, key);
		if (object)
			json_set_string(object, key->name, value);
		else if (value)
			strvec_pushf(&lines, "%s: %s", key->name, value);
	}
	print_list(name, &lines, true);
}

static void show_questions(struct json_object *object, const struct agent_questions *questions)
{
	struct json_object *all = object ? json_make_object(object, "question") : NULL;
	for (size_t i = 0; i < questions->count; i++)
		show_question(all, questions->items + i);
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
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup_strvec struct strvec words = { 0 };
		/* Without arguments it is a plain launch, and nothing of the others. */
		if (i == 0 || ways[i].way->count)
			build_command(agent, ways[i].way, &words);
		show_list(object, ways[i].name, &words, false);
	}
	show_values(object, agent, true);
	show_questions(object, &agent->questions);
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
	show_values(NULL, agent, false);
	line("bare word", agent->prompt_positional ? "is a prompt" : NULL);
	line("box", agent->has_box ? "yes: its screen has a box for messages" : NULL);
	line("stand_in", agent->stand_in ? "yes: only chosen by its name" : NULL);
	line("generic", agent->generic ? "yes: runs what fits no other agent" : NULL);
	show_lists(NULL, agent);
}

static void print_entry_json(const struct agent_seen *seen)
{
	cleanup_json struct json_object *object = json_of_seen(seen);
	show_values(object, seen->agent, false);
	json_set_bool(object, "prompt_positional", seen->agent->prompt_positional);
	json_set_bool(object, "box", seen->agent->has_box);
	json_set_bool(object, "stand_in", seen->agent->stand_in);
	json_set_bool(object, "generic", seen->agent->generic);
	show_lists(object, seen->agent);
	print_json(object);
}

static int cmd_agents_show(struct app *app, struct error *err)
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
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "list the agents that agentdeck knows",
	.flags = NEEDS_DECK | FINDS_PROGRAMS | HAS_JSON,
	.run = cmd_agents_list,
};

const struct command command_agents_show = {
	.name = "agents show",
	.kind = COMMAND_READS,
	.arguments = "AGENT",
	.summary = "show all that agentdeck knows of an agent",
	.flags = NEEDS_DECK | FINDS_PROGRAMS | HAS_JSON,
	.run = cmd_agents_show,
};
