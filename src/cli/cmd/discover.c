/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/conversations.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/clock.h"
#include "engine/adopt/enlist.h"
#include "engine/deck/hint.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct options {
	struct conversation_choice choice;
	const char *group;
	bool add;
	int64_t most;
};

enum { MOST_USUALLY = 20, MOST_AT_ALL = 100000 };

static const struct command_option options[] = {
	{ 'a', "agent", "AGENT", "only those of this agent", TO_VALUE(choice.agent, VALUE_AGENT) },
	{ 'd', "directory", "PATH", "only those of this directory and below",
	  TO_VALUE(choice.directory, VALUE_DIRECTORY) },
	{ 0, "since", "AGE", "only those that were written within it: 90m, 12h, 7d, 2w",
	  TO_TEXT(choice.since) },
	{ 'n', "number", "N", "at most so many, the newest (default: 20)",
	  TO_NUMBER(most, 1, MOST_AT_ALL) },
	{ 0, "add", NULL, "make sessions of the conversations ID", TO_FLAG(add) },
	{ 'g', "group", "GROUP", "list the new sessions under this group",
	  TO_VALUE(group, VALUE_GROUP) },
	{ 0 },
};

struct finds {
	struct discover_find *items;
	struct instance **made; /* the session of each; NULL: it is only listed */
	size_t count;
	bool has_more, is_added;
};

static void finds_free(struct finds *finds)
{
	for (size_t i = 0; i < finds->count; i++) {
		discover_find_clear(&finds->items[i]);
		instance_free(finds->made[i]);
	}
	free(finds->items);
	free(finds->made);
}
#define cleanup_finds CLEANUP(finds_free)

static void add_find(struct finds *finds, struct discover_find *find)
{
	finds->items = xreallocarray(finds->items, finds->count + 1, sizeof(*finds->items));
	finds->made = xreallocarray(finds->made, finds->count + 1, sizeof(struct instance *));
	finds->made[finds->count] = NULL;
	finds->items[finds->count++] = *find;
	*find = (struct discover_find){ 0 };
}

/* ---- looking ---------------------------------------------------------------------------------- */

static int look(struct app *app, struct conversation_look *look, struct finds *ret,
		struct error *err)
{
	const struct options *given = app->options;
	struct discover_find find;
	if (conversation_look_open(app, &given->choice, true, look, err) < 0)
		return -1;
	while (!ret->has_more && discover_next(&look->discovery, &find) == 0) {
		if (ret->count < (size_t)given->most)
			add_find(ret, &find);
		else
			ret->has_more = true;
		discover_find_clear(&find);
	}
	conversation_look_end(app, look);
	return 0;
}

static void print_as_json(const struct finds *finds)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < finds->count; i++) {
		const struct instance *made = finds->made[i];
		struct json_object *one = json_of_conversation(&finds->items[i]);
		json_set_string(one, "id", made ? made->id : NULL);
		json_set_string(one, "title", made ? made->title : NULL);
		json_object_array_add(list, one);
	}
	json_set_bool(object, "added", finds->is_added);
	json_set_bool(object, "has_more", finds->has_more);
	json_set(object, "conversations", list);
	print_json(object);
}

/* picks: its reader chooses by number, so the ids leave their room to the rest. */
static void print_table(const struct app *app, const struct finds *finds, bool picks)
{
	static const char *const all[] = { "NO",          "AGENT",        "AGE", "DIRECTORY",
					   "FIRST WORDS", "CONVERSATION", NULL };
	static const char *const few[] = { "NO", "AGENT", "AGE", "DIRECTORY", "FIRST WORDS", NULL };
	const int64_t now = clock_wall_us();
	cleanup_table struct table *table = table_new(app, picks ? few : all);
	for (size_t i = 0; i < finds->count; i++) {
		const struct discover_find *find = &finds->items[i];
		char age[CLOCK_TEXT_SIZE];
		cleanup_free char *number = xasprintf("%zu", i + 1);
		cleanup_free char *where = xasprintf(
			"%s%s", find->directory,
			access(find->directory, F_OK) < 0 && errno == ENOENT ? " (gone)" : "");
		table_add(table,
			  (const char *const[]){ number, find->agent->name,
						 clock_span(now - find->modified_us, age), where,
						 find->words ? find->words
							     : "(first words not read)",
						 find->session_id },
			  TONE_PLAIN);
	}
	table_print(table);
	if (finds->has_more)
		printf("There are more: show N of them with -n N, or choose with --directory, --agent "
		       "or --since.\n");
}

/* ---- adding ----------------------------------------------------------------------------------- */

static int add(struct app *app, struct finds *finds, struct error *err)
{
	const struct options *given = app->options;
	if (enlist(&app->deck, finds->items, finds->count, given->group, finds->made, err) < 0)
		return -1;
	finds->is_added = true;
	if (app->json) {
		print_as_json(finds);
		return 0;
	}
	for (size_t i = 0; i < finds->count; i++) {
		const struct instance *made = finds->made[i];
		const struct discover_find *find = &finds->items[i];
		cleanup_free char *hint = hint_session(&app->deck, made->title, made->id);
		say("Added %s (%s): %s continues it with agentdeck start %s", made->title,
		    find->session_id, find->agent->title, hint);
	}
	return 0;
}

static int add_named(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_discovery struct discovery discovery = { 0 };
	cleanup_finds struct finds finds = { 0 };
	const struct discover_order order = { .agent = given->choice.agent };
	if (given->choice.directory || given->choice.since)
		return error_set(
			err, ERROR_USAGE,
			"--directory and --since choose what is listed, not what is added");
	if (discover_open(&app->deck, &order, &discovery, err) < 0)
		return -1;
	for (size_t i = 0; i < app->operands.count; i++) {
		struct discover_find find = { 0 };
		if (discover_named(&discovery, app->operands.items[i], &find, err) < 0)
			return -1;
		add_find(&finds, &find);
	}
	return add(app, &finds, err);
}

/* "1 3-5, 8": the finds with these numbers, moved to *ret.  False: it says something else. */
static bool take_numbers(char *line, struct finds *finds, struct finds *ret)
{
	cleanup_free bool *chosen = xcalloc(finds->count + 1, sizeof(*chosen));
	char *rest = line;
	for (char *word; (word = strsep(&rest, " ,\t"));) {
		int64_t first, last;
		char *dash = strchr(word, '-');
		if (dash)
			*dash++ = '\0';
		if (!*word && !dash)
			continue;
		if (!parse_int64(word, 1, (int64_t)finds->count, &first) ||
		    !parse_int64(dash ? dash : word, first, (int64_t)finds->count, &last))
			return false;
		for (int64_t i = first; i <= last; i++)
			chosen[i - 1] = true;
	}
	for (size_t i = 0; i < finds->count; i++)
		if (chosen[i])
			add_find(ret, &finds->items[i]);
	return true;
}

static int pick(struct app *app, struct finds *finds, struct error *err)
{
	printf("Which become sessions? Type numbers, such as 1 3-5; Enter: none; q cancels.\n");
	for (;;) {
		cleanup_finds struct finds chosen = { 0 };
		cleanup_free char *line = NULL;
		int r = ask_line(&line, err);
		if (r < 0)
			return -1;
		if (r == ASK_CANCELLED) {
			fprintf(stderr, "agentdeck: cancelled: no session was created\n");
			return 1;
		}
		if (!line[strspn(line, " \t")])
			return 0;
		if (!take_numbers(line, finds, &chosen))
			printf("Type numbers from 1 to %zu.\n", finds->count);
		else
			return chosen.count ? add(app, &chosen, err) : 0;
	}
}

static int cmd_discover(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_conversation_look struct conversation_look looking = { 0 };
	cleanup_finds struct finds finds = { 0 };
	if (given->add && !app->operands.count)
		return error_set(
			err, ERROR_USAGE,
			"--add needs the ids of conversations: agentdeck discover lists them");
	if (given->add)
		return add_named(app, err);
	if (app->operands.count)
		return error_set(err, ERROR_USAGE,
				 "add --add to make sessions of these conversations");
	if (look(app, &looking, &finds, err) < 0)
		return -1;
	if (app->json) {
		print_as_json(&finds);
		return 0;
	}
	if (!finds.count) {
		const struct conversation_choice *choice = &given->choice;
		printf("There is no %sconversation without a session.\n",
		       choice->agent || choice->directory || choice->since ? "such " : "");
		return 0;
	}
	const bool picks = ask_is_possible();
	print_table(app, &finds, picks);
	if (picks)
		return pick(app, &finds, err);
	printf("Make sessions of them with: agentdeck discover CONVERSATION... --add\n");
	return 0;
}

const struct command command_discover = {
	.name = "discover",
	.kind = COMMAND_CHANGES,
	.arguments = "[ID...]",
	.summary = "make sessions of conversations that belong to none",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .most = MOST_USUALLY },
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON,
	.run = cmd_discover,
};
