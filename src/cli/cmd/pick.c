/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/pick.h"

#include "base/argsplit.h"
#include "base/nearest.h"
#include "base/program.h"
#include "cli/show/ask.h"

#include <string.h>

/* Find an agent by the name of its entry or of its program. */
static const struct agent *find_named(const char *word, const struct pick_offer *offer)
{
	for (size_t i = 0; i < offer->count; i++)
		if (strvec_contains(&offer->agents[i]->match, word))
			return offer->agents[i];
	return registry_find(offer->registry, word);
}

enum pick_answer pick_parse(const char *line, const struct pick_offer *offer,
			    const struct agent **ret_agent, struct strvec *ret_command,
			    struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	int64_t number;
	if (!line[strspn(line, " \t")])
		return PICK_DEFAULT;
	if (argsplit(line, &words, err) < 0 || !words.count)
		return PICK_NONE;
	const char *word = words.items[0];
	if (words.count == 1 && !word[strspn(word, "0123456789")]) {
		if (parse_int64(word, 1, (int64_t)offer->count, &number)) {
			*ret_agent = offer->agents[number - 1];
			return PICK_AGENT;
		}
		(void)error_set(err, ERROR_USAGE, "the list has no number %s", word);
		return PICK_NONE;
	}
	*ret_agent = words.count == 1 ? find_named(word, offer) : NULL;
	if (*ret_agent)
		return PICK_AGENT;
	strvec_push_all(ret_command, &words);
	return PICK_COMMAND;
}

static bool is_asked(const struct app *app, const struct new_order *order)
{
	return !order->asks_nothing && !order->session.agent && !order->command.count &&
	       !app->deck.settings.default_agent && !app->json && ask_is_possible();
}

/* The installed ones: first the agents, then the stand-ins. */
static size_t list_offered(const struct registry *registry, const struct agent **ret)
{
	size_t count = 0;
	for (int stand_ins = 0; stand_ins < 2; stand_ins++) {
		for (size_t i = 0; i < registry->count; i++) {
			const struct agent *agent = registry->agents[i];
			if (agent->stand_in == (stand_ins == 1) &&
			    (!agent->command.count ||
			     program_is_installed(agent->command.items[0])))
				ret[count++] = agent;
		}
	}
	return count;
}

/* What is offered; returns the default: the first that is not a stand-in, or NULL. */
static const char *show(const struct agent *const *offered, size_t count)
{
	const char *usual = count && !offered[0]->stand_in ? offered[0]->name : NULL;
	printf("Which agent?\n");
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *title = visible(offered[i]->title);
		printf("  %2zu  %-14s %s\n", i + 1, offered[i]->name, title);
	}
	printf("Type a number, a name, or a command with its arguments");
	if (usual)
		printf("; Enter alone chooses %s", usual);
	printf("; q cancels.\n");
	return usual;
}

/* Whether the answer names a program that is not here, and that no image may have.  Prints so. */
static bool is_missing(const struct new_order *order, const struct agent *agent,
		       const struct pick_offer *offer)
{
	const char *program = order->command.count            ? order->command.items[0]
			      : agent && agent->command.count ? agent->command.items[0]
							      : NULL;
	if (!program || order->session.container || strchr(program, '/') ||
	    program_is_installed(program))
		return false;
	cleanup_nearest struct nearest nearest = nearest_begin(program);
	for (size_t i = 0; i < offer->count; i++)
		nearest_consider(&nearest, offer->agents[i]->name, offer->agents[i]->name);
	cleanup_free char *shown = visible(program), *meant = nearest_text(&nearest, 1);
	printf("there is no program '%s' in PATH%s%s%s\n", shown, meant ? "; did you mean " : "",
	       or_empty(meant), meant ? "?" : "");
	return true;
}

int pick_ask(struct app *app, struct new_order *order, struct error *err)
{
	const struct registry *registry;
	const struct agent *agent = NULL;
	if (!is_asked(app, order))
		return 0;
	/* Ask nothing where the answer could not be used. */
	if (lifecycle_check_words(&order->session, err) < 0 ||
	    deck_registry(&app->deck, &registry, err) < 0)
		return -1;
	cleanup_free const struct agent **offered = xcalloc(registry->count + 1, sizeof(*offered));
	const struct pick_offer offer = { registry, offered, list_offered(registry, offered) };
	const char *usual = show(offered, offer.count);
	for (;;) {
		cleanup_error struct error why = { 0 };
		cleanup_free char *line = NULL;
		int r = ask_line(&line, err);
		if (r == ASK_CANCELLED) {
			fprintf(stderr, "agentdeck: cancelled: no session was created\n");
			return PICK_CANCELLED;
		}
		if (r < 0)
			return -1;
		enum pick_answer answer = pick_parse(line, &offer, &agent, &order->command, &why);
		if (is_missing(order, answer == PICK_AGENT ? agent : NULL, &offer)) {
			strvec_clear(&order->command);
			continue;
		}
		if (answer == PICK_AGENT)
			order->session.agent = agent->name;
		if (answer != PICK_NONE && (answer != PICK_DEFAULT || usual))
			return 0;
		printf("%s\n", why.message ? why.message : "type a number or a name");
	}
}
