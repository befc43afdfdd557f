/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table.h"

#include "engine/adopt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct json_object *json_of_find(const struct adopt_find *find)
{
	struct json_object *object = json_object_new_object();
	json_set_int(object, "pid", find->process.pid);
	json_set_string(object, "agent", find->agent->name);
	json_set_string(object, "path", find->cwd);
	json_set_strings(object, "argv", &find->argv);
	json_set_string(object, "session_id", find->session_id);
	json_set_string(object, "session_id_source", adopt_source_name(find->source));
	json_set_bool(object, "last_words_count", find->is_heard);
	json_set_string(object, "config_home", find->config_home);
	json_set_string(object, "terminal", find->terminal);
	json_set_string(object, "pane", find->pane);
	json_set_string(object, "doubt", find->doubt);
	return object;
}

static void print_finds(struct app *app, const struct adopt_finds *finds)
{
	static const char *const headings[] = { "PID", "AGENT", "WHERE", "CONVERSATION", "DIRECTORY", NULL };
	if (!finds->count) {
		printf("No agent runs outside of agentdeck.\n");
		return;
	}
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < finds->count; i++) {
		const struct adopt_find *find = finds->finds + i;
		cleanup_free char *pid = xasprintf("%d", (int)find->process.pid);
		cleanup_free char *id = find->doubt ? xasprintf("? %s", find->doubt)
					: find->source == ADOPT_LAST_WORDS
						? xstrdup("(it says it when it ends)")
						: NULL;
		table_add(table, (const char *const[]){ pid, find->agent->name,
							find->where ? find->where : find->terminal,
							id ? id : find->session_id, find->cwd },
			  find->doubt ? "brown" : NULL);
	}
	table_print(table);
	printf("Take one over with: agentdeck adopt PID\n");
}

/* What becomes of the conversation, said before anything is ended. */
static void describe_conversation(const struct adopt_find *find, const struct adopt_wish *wish)
{
	cleanup_free char *id = visible(or_empty(wish->session_id ? wish->session_id : find->session_id));
	if (wish->session_id)
		printf("  conversation  %s (as you say)\n", id);
	else if (wish->fresh)
		printf("  conversation  a new one, as you wish\n");
	else if (find->source == ADOPT_LAST_WORDS)
		printf("  conversation  its id will be read from what it prints when it ends; until it is, nothing "
		       "is killed\n");
	else if (find->session_id && find->is_heard)
		printf("  conversation  %s (from its %s), unless it names another one when it ends\n", id,
		       adopt_source_name(find->source));
	else if (find->session_id)
		printf("  conversation  %s (from its %s)\n", id, adopt_source_name(find->source));
	else if (find->agent->resume.count)
		printf("  conversation  unknown: it starts fresh, with --fresh, unless you say which with "
		       "--session-id\n");
	else
		printf("  conversation  it starts fresh, with --fresh\n");
}

static void describe(const struct adopt_find *find, const struct adopt_wish *wish)
{
	cleanup_free char *cwd = visible(find->cwd);
	cleanup_free char *argv = visible_argv(find->argv.items);
	cleanup_free char *home = visible(or_empty(find->config_home));
	printf("%s, process %d in %s\n", find->agent->title, (int)find->process.pid,
	       find->where ? find->where : find->terminal);
	printf("  command       %s\n  directory     %s\n", argv, cwd);
	if (*home && find->agent->config_home_env)
		printf("  its files     %s\n", home);
	describe_conversation(find, wish);
	cleanup_free char *doubt = visible(or_empty(find->doubt));
	if (*doubt)
		printf("  doubt         %s\n", doubt);
}

/* Ending somebody's agent is asked for, or was said by -y. */
static int consent(const struct app *app, bool *ret, struct error *err)
{
	char answer[16] = "";
	if (option_given(app, "yes")) {
		*ret = true;
		return 0;
	}
	if (app->json || !isatty(STDIN_FILENO))
		return error_set(err, ERROR_USAGE, "this ends the process and starts it again in a session: say "
				 "--yes, or --dry-run to look only");
	printf("End it and bring its conversation back in a session of agentdeck? [y/N] ");
	(void)fflush(stdout);
	*ret = fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
	return 0;
}

static struct json_object *json_of_failure(const struct adopt_find *find, const struct error *err)
{
	struct json_object *object = json_of_find(find);
	json_set_bool(object, "success", false);
	json_set_string(object, "error", err->message);
	json_set_string(object, "code", error_code_name(err->code));
	return object;
}

static struct adopt_wish wish_of(const struct app *app)
{
	return (struct adopt_wish){
		.title = option_value(app, "title"),
		.group = option_value(app, "group"),
		.session_id = option_value(app, "session-id"),
		.fresh = option_given(app, "fresh"),
	};
}

/* A positive value: the agent did not come up. */
static int take(struct app *app, const struct adopt_find *find, struct json_object *list,
		struct error *err)
{
	cleanup_instance struct instance *added = NULL, *instance = NULL;
	enum lifecycle_outcome outcome;
	bool already;
	const struct adopt_wish wish = wish_of(app);
	int r = adopt_take(&app->deck, find, &wish, &added, err);
	if (r < 0)
		return -1;
	if (r == ADOPT_UNNAMED)
		return error_set(err, ERROR_NOT_FOUND, "%s has ended, and did not name its conversation; it may "
				 "have had none. Session %s is there and stopped: agentdeck start %s begins a new "
				 "one; agentdeck session set %s session-id ID names the old one",
				 find->agent->title, added->id, added->id, added->id);
	if (start_and_wait(app, added->base, false, true, !option_given(app, "no-wait"), &instance,
			   &already, &outcome, err) < 0)
		return -1;
	if (app->json)
		json_object_array_add(list, json_of_start(instance, already, outcome));
	else
		print_start(instance, already, outcome);
	return outcome == OUTCOME_REPORTED || outcome == OUTCOME_ALIVE ? 0 : 1;
}

static void print_failure(const struct error *err)
{
	cleanup_free char *shown = visible(err->message);
	fprintf(stderr, "agentdeck: %s\n", shown);
}

static int take_each(struct app *app, const struct adopt_find *const *chosen, size_t count,
		     struct json_object *list, struct error *err)
{
	int status = 0;
	for (size_t i = 0; i < count; i++) {
		cleanup_error struct error one = { 0 };
		int r = take(app, chosen[i], list, &one);
		if (r < 0 && count == 1) {
			*err = one;
			one = (struct error){ 0 };
			return -1;
		}
		if (r < 0 && app->json)
			json_object_array_add(list, json_of_failure(chosen[i], &one));
		else if (r < 0)
			print_failure(&one);
		if (r != 0)
			status = 1;
	}
	return status;
}

static int look_only(struct app *app, const struct adopt_find *const *chosen, size_t count,
		     const struct adopt_finds *finds)
{
	if (app->json) {
		cleanup_json struct json_object *list = json_object_new_array();
		for (size_t i = 0; i < count; i++)
			json_object_array_add(list, json_of_find(chosen[i]));
		print_json(list);
	} else if (app->operands.count == 0) {
		print_finds(app, finds);
	} else {
		const struct adopt_wish wish = wish_of(app);
		describe(chosen[0], &wish);
	}
	return 0;
}

static int run(struct app *app, struct error *err)
{
	cleanup_adopt_finds struct adopt_finds finds = { 0 };
	bool all = option_given(app, "all"), named = app->operands.count > 0, agreed = false;

	if (all && named)
		return error_set(err, ERROR_USAGE, "--all takes no PANE or PID");
	if (all && (option_given(app, "session-id") || option_given(app, "title")))
		return error_set(err, ERROR_USAGE, "--session-id and --title are for one agent");
	if (adopt_look(&app->deck, &finds, err) < 0)
		return -1;
	cleanup_free const struct adopt_find **chosen = xcalloc(finds.count + 1, sizeof(*chosen));
	size_t count = 0;
	if (named) {
		if (adopt_choose(&finds, app->operands.items[0], &chosen[0], err) < 0)
			return -1;
		count = 1;
	}
	for (; !named && count < finds.count; count++)
		chosen[count] = finds.finds + count;
	if ((!all && !named) || option_given(app, "dry-run") || !count)
		return look_only(app, chosen, count, &finds);
	const struct adopt_wish wish = wish_of(app);
	for (size_t i = 0; i < count && !app->json; i++)
		describe(chosen[i], &wish);
	/* Nobody is asked for what would be refused. */
	if (named && adopt_check(chosen[0], &wish, err) < 0)
		return -1;
	if (consent(app, &agreed, err) < 0)
		return -1;
	if (!agreed) {
		printf("Nothing was done.\n");
		return 1;
	}
	cleanup_json struct json_object *list = json_object_new_array();
	int r = take_each(app, chosen, count, list, err);
	if (r >= 0 && app->json)
		print_json(list);
	return r;
}

static const struct command_option options[] = {
	{ 0, "all", NULL, "every agent that is found" },
	{ 'y', "yes", NULL, "do not ask: end the process and go on in a session" },
	{ 0, "dry-run", NULL, "show what would be taken over, and do nothing" },
	{ 't', "title", "TITLE", "title of the session; without it the directory's name" },
	{ 'g', "group", "GROUP", "a group to list it under, like work/api" },
	{ 0, "session-id", "ID", "its conversation, where it is not known or in doubt" },
	{ 0, "fresh", NULL, "begin a new conversation where none is known" },
	{ 0, "no-wait", NULL, "return when the session is durable, without waiting for the agent" },
	{ 0 },
};

const struct command command_adopt = {
	.name = "adopt",
	.arguments = "[PANE|PID]",
	.summary = "take over an agent that runs in some terminal or tmux",
	.description =
		"Without PANE or PID it lists the agents that run outside of agentdeck, with their\n"
		"conversations.  With one (a pane of tmux like %3, a process id, a terminal) it ends that process,\n"
		"once you have agreed, and brings the same conversation back in a session of its own.\n"
		"The conversation's id comes from the agent's arguments, its transcript, or what it prints at its\n"
		"end, where it stands in a pane of tmux; where that leaves a doubt you say it with --session-id,\n"
		"or give it up with --fresh.  Its directory, its arguments and the home of its files come along;\n"
		"other variables are those of this command.",
	.options = options,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
