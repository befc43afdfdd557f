/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/pick.h"

#include "base/argsplit.h"
#include "base/child.h"

#include <string.h>

enum { LINE_MAX_BYTES = 4096 };

/* By the name of its entry, or of its program. */
static const struct agent *find_named(const char *word, const struct registry *registry,
				      const struct agent *const *offered, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strvec_contains(&offered[i]->match, word))
			return offered[i];
	return registry_find(registry, word);
}

enum pick_answer pick_parse(const char *line, const struct registry *registry,
			    const struct agent *const *offered, size_t count, const struct agent **ret_agent,
			    struct strvec *ret_command, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	int64_t number;
	if (!line[strspn(line, " \t")])
		return PICK_DEFAULT;
	if (argsplit(line, &words, err) < 0 || !words.count)
		return PICK_NONE;
	const char *word = words.items[0];
	if (words.count == 1 && streq(word, "q"))
		return PICK_DEFAULT;
	if (words.count == 1 && !word[strspn(word, "0123456789")]) {
		if (parse_int64(word, 1, (int64_t)count, &number)) {
			*ret_agent = offered[number - 1];
			return PICK_AGENT;
		}
		(void)error_set(err, ERROR_USAGE, "there is no number %s", word);
		return PICK_NONE;
	}
	*ret_agent = words.count == 1 ? find_named(word, registry, offered, count) : NULL;
	if (*ret_agent)
		return PICK_AGENT;
	strvec_push_all(ret_command, &words);
	return PICK_COMMAND;
}

static bool is_asked(const struct app *app, const struct wish *wish)
{
	return !wish->wish.agent && !wish->command.count && !app->deck.settings.default_agent && !app->json &&
	       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* The installed ones: agents first, then what stands in for one. */
static size_t offer(const struct registry *registry, const struct agent **ret)
{
	size_t count = 0;
	for (int stand_ins = 0; stand_ins < 2; stand_ins++) {
		for (size_t i = 0; i < registry->count; i++) {
			const struct agent *agent = registry->agents[i];
			cleanup_free char *path = NULL;
			if (agent->stand_in == (stand_ins == 1) &&
			    (!agent->command.count ||
			     child_find_program(agent->command.items[0], NULL, NULL, &path, NULL) == 0))
				ret[count++] = agent;
		}
	}
	return count;
}

static void show(const struct agent *const *offered, size_t count)
{
	/* As lifecycle_add() has it: a plain shell is nobody's default. */
	const char *usual = NULL;
	printf("Which agent?\n");
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *title = visible(offered[i]->title);
		printf("  %2zu  %-14s %s\n", i + 1, offered[i]->name, title);
		if (!usual && offered[i]->command.count)
			usual = offered[i]->name;
	}
	printf("A number, a name, or another command as you would type it");
	if (usual)
		printf("; nothing, or q, is %s", usual);
	printf(".\n");
}

static int read_line(char line[LINE_MAX_BYTES], struct error *err)
{
	printf("> ");
	(void)fflush(stdout);
	if (!fgets(line, LINE_MAX_BYTES, stdin)) {
		printf("\n");
		return error_set(err, ERROR_USAGE, "no answer, and nothing was made: say --agent NAME or "
				 "-c 'COMMAND'");
	}
	if (!strchr(line, '\n'))
		return error_set(err, ERROR_USAGE, "the answer is too long, and nothing was made: say "
				 "-c 'COMMAND'");
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

int pick_ask(struct app *app, struct wish *wish, struct error *err)
{
	const struct registry *registry;
	const struct agent *agent = NULL;
	char line[LINE_MAX_BYTES];
	if (!is_asked(app, wish))
		return 0;
	if (deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	cleanup_free const struct agent **offered = xcalloc(registry->count + 1, sizeof(*offered));
	size_t count = offer(registry, offered);
	show(offered, count);
	for (;;) {
		cleanup_error struct error why = { 0 };
		if (read_line(line, err) < 0)
			return -1;
		enum pick_answer answer =
			pick_parse(line, registry, offered, count, &agent, &wish->command, &why);
		if (answer == PICK_AGENT)
			wish->wish.agent = agent->name;
		if (answer != PICK_NONE)
			return 0;
		printf("%s\n", why.message);
	}
}
