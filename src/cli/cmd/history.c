/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/conversations.h"
#include "cli/show/output.h"

#include "base/clock.h"
#include "engine/conversation/search.h"

#include <string.h>

struct options {
	struct conversation_choice choice;
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
	OPTION_ALL_HOSTS,
	{ 0 },
};

static const char *const bonds[] = {
	[DISCOVER_HAS] = "current",
	[DISCOVER_HAD] = "earlier",
	[DISCOVER_REMOVED] = "removed",
};

static struct json_object *json_of_hit(const struct discover_find *find,
				       const struct search_hit *hit)
{
	const struct discover_owner *owner = find->owner;
	struct json_object *object = json_of_conversation(find);
	json_set_string(object, "id", owner ? owner->id : NULL);
	json_set_string(object, "title", owner ? owner->title : NULL);
	json_set_string(object, "profile", owner ? owner->profile : NULL);
	json_set_string(object, "bond", owner ? bonds[owner->bond] : NULL);
	json_set_int(object, "matches", (int64_t)hit->count);
	json_set_bool(object, "is_reply", hit->is_reply);
	json_set(object, "match", json_text(hit->text));
	return object;
}

/* The owner for people: "api", "an earlier one of api", "no session". */
static char *owner_text(const struct discover_owner *owner, const char *profile)
{
	static const char *const phrases[] = {
		[DISCOVER_HAS] = "",
		[DISCOVER_HAD] = "an earlier one of ",
		[DISCOVER_REMOVED] = "the removed session ",
	};
	if (!owner)
		return xstrdup("no session");
	const bool is_here = streq(or_empty(owner->profile), profile);
	return xasprintf("%s%s%s%s", phrases[owner->bond], or_empty(owner->title),
			 is_here ? "" : ", profile ", is_here ? "" : or_empty(owner->profile));
}

static void print_hit(const struct app *app, const struct discover_find *find,
		      const struct search_hit *hit)
{
	char age[CLOCK_TEXT_SIZE];
	cleanup_free char *owner = owner_text(find->owner, app->deck.profile);
	cleanup_free char *shown = visible(owner), *directory = visible(find->directory);
	cleanup_free char *text = visible(hit->text);
	printf("%s (%s, %s ago, %s)\n", shown, find->agent->name,
	       clock_span(clock_wall_us() - find->modified_us, age), directory);
	printf("    %s: %s\n", hit->is_reply ? find->agent->name : "you", text);
	if (hit->count > 1)
		printf("    and %zu more in this conversation\n", hit->count - 1);
	if (!find->owner)
		printf("    agentdeck discover %s --add\n", find->session_id);
}

struct found {
	struct json_object *list; /* NULL: they are printed */
	int64_t count;
	bool has_more;
};

/* A file that cannot be read is named; the others are searched. */
static void search(struct app *app, const char *text, struct conversation_look *look,
		   struct found *found)
{
	const struct options *given = app->options;
	for (;;) {
		cleanup_discover_find struct discover_find find = { 0 };
		cleanup_search_hit struct search_hit hit = { 0 };
		cleanup_error struct error problem = { 0 };
		if (discover_next(&look->discovery, &find) != 0)
			return;
		const int r = search_transcript(agent_find_files(find.agent), find.path, text, &hit,
						&problem);
		if (r < 0)
			deck_warn(&app->deck, "%s", problem.message);
		if (r != 0)
			continue;
		if (found->count == given->most) {
			found->has_more = true;
			return;
		}
		found->count++;
		if (found->list) {
			json_object_array_add(found->list, json_of_hit(&find, &hit));
		} else {
			conversation_look_done(look);
			print_hit(app, &find, &hit);
		}
	}
}

static void print_as_json(const char *text, const struct found *found)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set(object, "text", json_text(text));
	json_set_bool(object, "has_more", found->has_more);
	json_set(object, "conversations", found->list);
	print_json(object);
}

static int cmd_history(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_free char *text = strvec_join(&app->operands, " ");
	cleanup_conversation_look struct conversation_look look = { 0 };
	struct found found = { 0 };
	if (!text[strspn(text, " \t\n")])
		return error_set(err, ERROR_USAGE, "the text to search for is empty");
	if (conversation_look_open(app, &given->choice, false, &look, err) < 0)
		return -1;
	if (app->json)
		found.list = json_object_new_array();
	search(app, text, &look, &found);
	conversation_look_end(app, &look);
	if (app->json)
		print_as_json(text, &found);
	else if (!found.count)
		printf("No conversation on disk has this text%s.\n",
		       app->operands.count > 1 ? ": its words were searched for as one phrase"
					       : "");
	else if (found.has_more)
		printf("There are more: show N of them with -n N, or choose with --directory, "
		       "--agent or --since.\n");
	return 0;
}

const struct command command_history = {
	.name = "history",
	.kind = COMMAND_READS,
	.arguments = "TEXT...",
	.summary = "search all conversations on disk for a text",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .most = MOST_USUALLY },
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_history,
};
