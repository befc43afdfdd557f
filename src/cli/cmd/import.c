/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/import/import.h"

#include <errno.h>

struct options {
	const char *from;
	bool apply, guess, dangerous, again, remove_hooks;
};

static const struct command_option options[] = {
	{ 0, "apply", NULL, "do it; without this it only shows what it would do", TO_FLAG(apply) },
	{ 0, "from", "PATH", "where the other program has its files", TO_VALUE(from, VALUE_FILE) },
	{ 0, "guess", NULL, "continue the newest conversation of a directory if none is known",
	  TO_FLAG(guess) },
	{ 0, "dangerous", NULL, "keep the arguments that make an agent ask for no permission",
	  TO_FLAG(dangerous) },
	{ 0, "again", NULL, "also what was imported before and removed since", TO_FLAG(again) },
	{ 0, "remove-hooks", NULL,
	  "with --apply: remove the hooks that it left in the agents' settings",
	  TO_FLAG(remove_hooks) },
	{ 0 },
};

static struct json_object *json_of_step(const struct import_step *step, const struct instance *made)
{
	const struct import_row *row = step->row;
	struct json_object *object = json_object_new_object();
	json_set_string(object, "source", row->source);
	json_set_string(object, "origin", row->origin);
	json_set(object, "their_title", row->title ? json_text(row->title) : NULL);
	json_set_string(object, "decision", import_verdict_name(step->verdict));
	json_set_string(object, "reason", is_empty(step->why) ? NULL : step->why);
	json_set_string(object, "profile", step->profile);
	json_set_string(object, "title", step->title);
	json_set_string(object, "group", step->group);
	json_set_string(object, "agent", row->facts.agent);
	json_set_string(object, "path",
			row->facts.directory ? row->facts.directory : row->directory);
	json_set_string(object, "session_id", step->taken ? step->taken->id : NULL);
	json_set_string(object, "config_home", step->taken ? step->taken->home : NULL);
	json_set_bool(object, "drops_dangerous", step->drops_dangers);
	json_set_strings(object, "told", &row->told);
	json_set_string(object, "id", made ? made->id : NULL);
	return object;
}

static void print_as_json(const struct import_look *look, struct instance *const *made,
			  const struct strvec *removed)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < look->plan.count; i++)
		json_object_array_add(list,
				      json_of_step(&look->plan.steps[i], made ? made[i] : NULL));
	json_set_bool(object, "applied", made != NULL);
	json_set_strings(object, "told", &look->rows.told);
	json_set_strings(object, "removed_hooks", removed);
	json_set(object, "sessions", list);
	json_set(object, "sources", json_object_new_array());
	print_json(object);
}

static void print_offers_as_json(const struct import_offers *offers)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < offers->count; i++) {
		struct json_object *offer = json_object_new_object();
		json_set_string(offer, "name", offers->items[i].source->name);
		json_set_int(offer, "sessions", (int64_t)offers->items[i].count);
		json_object_array_add(list, offer);
	}
	json_set_bool(object, "applied", false);
	json_set(object, "told", json_object_new_array());
	json_set(object, "removed_hooks", json_object_new_array());
	json_set(object, "sessions", json_object_new_array());
	json_set(object, "sources", list);
	print_json(object);
}

/* ---- for people ------------------------------------------------------------------------------- */

static size_t count_of(const struct import_plan *plan, bool is_made)
{
	size_t count = 0;
	for (size_t i = 0; i < plan->count; i++)
		count += import_is_made(&plan->steps[i]) == is_made;
	return count;
}

static void print_made(const struct app *app, const struct import_plan *plan)
{
	static const char *const headings[] = { "TITLE",        "GROUP",     "PROFILE", "AGENT",
						"CONVERSATION", "DIRECTORY", "REASON",  NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < plan->count; i++) {
		const struct import_step *step = &plan->steps[i];
		if (!import_is_made(step))
			continue;
		table_add(table,
			  (const char *const[]){ step->title, step->group, step->profile,
						 step->row->facts.agent,
						 step->taken ? step->taken->id : "(none)",
						 step->row->facts.directory, step->why },
			  step->verdict == IMPORT_FRESH && !is_empty(step->why) ? "yellow" : NULL);
	}
	table_print(table);
}

static void print_left(const struct app *app, const struct import_plan *plan)
{
	static const char *const headings[] = { "LEFT OUT", "PROFILE", "REASON", NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < plan->count; i++) {
		const struct import_step *step = &plan->steps[i];
		if (!import_is_made(step))
			table_add(table,
				  (const char *const[]){ or_empty(step->row->title), step->profile,
							 step->why },
				  step->verdict == IMPORT_DONE ? NULL : "yellow");
	}
	table_print(table);
}

static void print_told(const struct import_look *look, const struct options *given)
{
	size_t dangerous = 0;
	for (size_t i = 0; i < look->plan.count; i++) {
		const struct import_step *step = &look->plan.steps[i];
		dangerous += step->drops_dangers;
		for (size_t j = 0; import_is_made(step) && j < step->row->told.count; j++)
			say("%s: %s", step->title, step->row->told.items[j]);
	}
	for (size_t i = 0; i < look->rows.told.count; i++)
		say("%s", look->rows.told.items[i]);
	if (dangerous && !given->dangerous)
		say("%zu of them asked for no permission over there. They will ask here, unless you give "
		    "--dangerous.",
		    dangerous);
}

static void print_plan(const struct app *app, const struct import_look *look)
{
	const struct options *given = app->options;
	const size_t made = count_of(&look->plan, true), left = count_of(&look->plan, false);
	if (made)
		print_made(app, &look->plan);
	if (made && left)
		printf("\n");
	if (left)
		print_left(app, &look->plan);
	if (look->rows.told.count || made)
		printf("\n");
	print_told(look, given);
	if (!made)
		say("There is nothing to import.");
	else if (!given->apply)
		say("%zu session%s can be imported. Nothing was changed. Import with --apply.",
		    made, made == 1 ? "" : "s");
}

/* Several programs may have saved the same agents, so the user names one of them. */
static int run_list(struct app *app, struct error *err)
{
	static const char *const headings[] = { "PROGRAM", "SESSIONS", "WHERE", NULL };
	cleanup_import_offers struct import_offers offers = { 0 };
	cleanup_table struct table *table = table_new(app, headings);
	if (import_list(&app->deck, &offers, err) < 0)
		return -1;
	if (app->json) {
		print_offers_as_json(&offers);
		return 0;
	}
	for (size_t i = 0; i < offers.count; i++) {
		const struct import_offer *offer = &offers.items[i];
		cleanup_free char *count = xasprintf("%zu", offer->count);
		table_add(table,
			  (const char *const[]){ offer->source->name, count, offer->source->about },
			  NULL);
	}
	if (offers.count) {
		table_print(table);
		say("See what becomes of them: agentdeck import PROGRAM.");
	}
	return 0;
}

static int check_options(const struct options *given, const char *name, struct error *err)
{
	if (name)
		return 0;
	if (given->from)
		return error_set(err, ERROR_USAGE, "--from needs the name of the program, too");
	if (given->apply || given->guess || given->dangerous || given->again || given->remove_hooks)
		return error_set(
			err, ERROR_USAGE,
			"name the program to import from: agentdeck import lists those that "
			"have sessions here");
	return 0;
}

static int run(struct app *app, struct error *err)
{
	cleanup_import_look struct import_look look = { 0 };
	cleanup_strvec struct strvec removed = { 0 };
	const struct options *given = app->options;
	const char *name = app->operands.count ? app->operands.items[0] : NULL;
	if (check_options(given, name, err) < 0)
		return -1;
	if (!name)
		return run_list(app, err);
	cleanup_free char *from = given->from ? realpath(given->from, NULL) : NULL;
	const struct import_order order = {
		.source = foreign_find(name),
		.from = from,
		.consent = { .guesses = given->guess,
			     .dangers = given->dangerous,
			     .again = given->again },
	};
	if (!order.source)
		return error_set(err, ERROR_USAGE,
				 "agentdeck cannot import from '%s': see agentdeck import --help",
				 name);
	if (given->remove_hooks && !order.source->remove_hooks)
		return error_set(err, ERROR_USAGE, "%s has no hooks in the agents' settings", name);
	if (given->from && !from)
		return error_set_errno(err, errno, "%s", given->from);
	if (import_look(&app->deck, &order, &look, err) < 0)
		return -1;
	struct instance **made = NULL;
	if (!app->json)
		print_plan(app, &look);
	int r = 0;
	if (given->apply) {
		made = xcalloc(look.plan.count + 1, sizeof(struct instance *));
		r = import_apply(&app->deck, &look, made, err);
	}
	if (r == 0 && given->apply && given->remove_hooks)
		r = import_remove_hooks(&app->deck, &order, &removed, err);
	for (size_t i = 0; !app->json && i < removed.count; i++)
		say("%s", removed.items[i]);
	if (r == 0 && app->json)
		print_as_json(&look, made, &removed);
	else if (r == 0 && given->apply && count_of(&look.plan, true))
		say("Imported %zu. They are stopped: agentdeck start --all, or one by one.",
		    count_of(&look.plan, true));
	for (size_t i = 0; made && i < look.plan.count; i++)
		instance_free(made[i]);
	free(made);
	return r;
}

static struct offer offer(const struct app *line UNUSED, bool behind_dashes)
{
	static const char *names[16];
	size_t count = 0;
	for (size_t i = 0; foreign_sources[i] && count < ARRAY_SIZE(names); i++)
		names[count++] = foreign_sources[i]->name;
	if (behind_dashes)
		return (struct offer){ 0 };
	return (struct offer){ .words = names, .count = count };
}

const struct command command_import = {
	.name = "import",
	.arguments = "[SOURCE]",
	.summary = "make sessions of those that another program has",
	OWN_OPTIONS,
	.offer = offer,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON,
	.run = run,
};
