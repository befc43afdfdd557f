/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/import/import.h"

#include "cli/cmd/importopts.h"
#include "cli/cmd/start.h"
#include "cli/show/ask.h"
#include "cli/show/made.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/log.h"
#include "engine/deck/visit.h"
#include "engine/import/import.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What became of a step. */
struct result {
	struct instance *made;
	bool took_over;
	struct error why; /* it was not taken over, or did not start */
};

/* The text for a file from which hooks were removed; the caller frees. */
static char *removal_text(const struct import_order *order, const struct foreign_hooked *file)
{
	return xasprintf("%s: removed the hooks of %s; the file as it was is %s beside it",
			 file->path, order->source->name, file->copy);
}

static struct json_object *json_of_step(const struct import_step *step, const struct result *result)
{
	const struct instance *made = result ? result->made : NULL;
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
	json_set_string(object, "runs_in", row->facts.runs);
	json_set_string(object, "id", made ? made->id : NULL);
	json_set_bool(object, "took_over", result && result->took_over);
	json_set_string(object, "error", result && result->why.code ? result->why.message : NULL);
	return object;
}

/* The first file that could not be read or changed; NULL: all could. */
static const struct error *failure_of(const struct foreign_hooked_files *hooked)
{
	for (size_t i = 0; i < hooked->count; i++)
		if (hooked->items[i].why.code)
			return &hooked->items[i].why;
	return NULL;
}

static void add_hooks_as_json(const struct import_order *order,
			      const struct foreign_hooked_files *hooked, struct json_object *ret)
{
	struct json_object *list = json_object_new_array(), *removed = json_object_new_array();
	for (size_t i = 0; i < hooked->count; i++) {
		const struct foreign_hooked *file = &hooked->items[i];
		struct json_object *object = json_object_new_object();
		json_set(object, "path", json_text(file->path));
		json_set_int(object, "events", (int64_t)file->count);
		json_set(object, "changes", json_text(file->changes));
		json_set_string(object, "copy", file->copy);
		json_set_string(object, "error", file->why.code ? file->why.message : NULL);
		json_object_array_add(list, object);
		if (!file->copy)
			continue;
		cleanup_free char *line = removal_text(order, file);
		json_object_array_add(removed, json_text(line));
	}
	json_set(ret, "hooks", list);
	json_set(ret, "removed_hooks", removed);
}

static void print_as_json(const struct import_order *order, const struct import_look *look,
			  const struct result *results, const struct foreign_hooked_files *hooked)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	const struct error *failure = failure_of(hooked);
	for (size_t i = 0; i < look->plan.count; i++)
		json_object_array_add(list, json_of_step(&look->plan.steps[i],
							 results ? &results[i] : NULL));
	json_set_bool(object, "applied", results != NULL);
	json_set_strings(object, "told", &look->rows.told);
	add_hooks_as_json(order, hooked, object);
	json_set(object, "sessions", list);
	json_set(object, "sources", json_object_new_array());
	if (failure)
		json_set_failure(object, failure);
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
	json_set(object, "hooks", json_object_new_array());
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
			  step->verdict == IMPORT_FRESH && !is_empty(step->why) ? TONE_WARNING
										: TONE_PLAIN);
	}
	table_print(table);
}

static size_t count_running(const struct import_plan *plan)
{
	size_t count = 0;
	for (size_t i = 0; i < plan->count; i++)
		count += import_can_adopt(&plan->steps[i]);
	return count;
}

static void print_running(const struct app *app, const struct import_plan *plan)
{
	static const char *const headings[] = { "RUNS THERE",   "PROFILE", "AGENT",
						"CONVERSATION", "WHERE",   NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < plan->count; i++) {
		const struct import_step *step = &plan->steps[i];
		const struct import_row *row = step->row;
		if (import_can_adopt(step))
			table_add(table,
				  (const char *const[]){ step->title ? step->title
								     : row->facts.imported_as,
							 step->profile, row->facts.agent,
							 row->ids[0].id, row->facts.runs },
				  TONE_PLAIN);
	}
	table_print(table);
}

static void print_left(const struct app *app, const struct import_plan *plan)
{
	static const char *const headings[] = { "LEFT OUT", "PROFILE", "REASON", NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < plan->count; i++) {
		const struct import_step *step = &plan->steps[i];
		if (!import_is_made(step) && !import_can_adopt(step))
			table_add(table,
				  (const char *const[]){ or_empty(step->row->title), step->profile,
							 step->why },
				  step->verdict == IMPORT_DONE ? TONE_PLAIN : TONE_WARNING);
	}
	table_print(table);
}

static void print_told(const struct import_look *look, const struct import_options *given)
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

static void print_tables(const struct app *app, const struct import_plan *plan)
{
	const size_t made = count_of(plan, true), running = count_running(plan);
	const size_t left = plan->count - made - running;
	if (made)
		print_made(app, plan);
	if (made && running)
		printf("\n");
	if (running)
		print_running(app, plan);
	if ((made || running) && left)
		printf("\n");
	if (left)
		print_left(app, plan);
}

static void print_plan(const struct app *app, const struct import_look *look)
{
	const struct import_options *given = app->options;
	const size_t made = count_of(&look->plan, true), running = count_running(&look->plan);
	print_tables(app, &look->plan);
	if (look->rows.told.count || made || running)
		printf("\n");
	print_told(look, given);
	if (running && !(given->apply && given->adopt))
		say("%zu run%s there, and %s left running. Take %s over with --apply --adopt.",
		    running, running == 1 ? "s" : "", running == 1 ? "is" : "are",
		    running == 1 ? "it" : "them");
	if (!made && !running)
		say("There is nothing to import.");
	else if (made && !given->apply)
		say("%zu session%s can be imported. Nothing was changed. Import with --apply.",
		    made, made == 1 ? "" : "s");
}

/* ---- taking over ------------------------------------------------------------------------------ */

/* Ask before agents are ended, unless -y was given.  Otherwise they keep running. */
static int get_consent(struct app *app, const struct import_look *look, bool *ret,
		       struct error *err)
{
	const struct import_options *given = app->options;
	const size_t count = count_running(&look->plan);
	*ret = given->apply && given->adopt && count && given->yes;
	if (!given->apply || !given->adopt || !count || given->yes)
		return 0;
	cleanup_free char *without = xasprintf(
		"--adopt ends %zu process%s and starts their sessions: say --yes, or omit "
		"--apply and --adopt to look only",
		count, count == 1 ? "" : "es");
	cleanup_free char *question = xasprintf(
		"End the %zu that run%s there, and continue %s here?", count, count == 1 ? "s" : "",
		count == 1 ? "its conversation" : "their conversations");
	const struct consent consent = { question, "They are left running.", "--yes", without,
					 ERROR_USAGE };
	const int r = ask_consent(app, &consent, err);
	*ret = r == 0;
	return r < 0 ? -1 : 0;
}

/* Positive: the agent did not start. */
static int start(struct app *app, const struct instance *instance, struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	cleanup_visit struct visit visit = { 0 };
	const struct start_order order = { .base = instance->base };
	if (visit_begin(&app->deck, instance->profile, &visit, err) < 0 ||
	    start_and_wait(app, &order, &started, err) < 0)
		return -1;
	if (!app->json)
		print_start(app, &started);
	return started.outcome == OUTCOME_REPORTED || started.outcome == OUTCOME_ALIVE ||
			       started.outcome == OUTCOME_OFFERED
		       ? 0
		       : 1;
}

static int take(struct app *app, const struct import_look *look, size_t index,
		struct result *result)
{
	const struct import_options *given = app->options;
	int r = import_adopt(&app->deck, look, index, &result->made, &result->why);
	result->took_over = r >= 0;
	if (r == 0 && !given->no_start)
		r = start(app, result->made, &result->why);
	else if (r == 0 && !app->json)
		say("%s: taken over; it is stopped", result->made->title);
	if (r > 0)
		(void)error_set(&result->why, ERROR_CHILD,
				"'%s' was taken over, and did not start: see agentdeck session "
				"show %s",
				result->made->title, result->made->id);
	if (r < 0 && !app->json)
		complain("%s", result->why.message);
	return r == 0 ? 0 : 1;
}

/* One after the other: what fails keeps running, and the next is tried. */
static int take_each(struct app *app, const struct import_look *look, struct result *results)
{
	int status = 0;
	for (size_t i = 0; i < look->plan.count; i++)
		if (import_can_adopt(&look->plan.steps[i]) && take(app, look, i, &results[i]) != 0)
			status = 1;
	return status;
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
			  TONE_PLAIN);
	}
	if (offers.count) {
		table_print(table);
		say("See what becomes of them: agentdeck import PROGRAM.");
	}
	return 0;
}

static int check_options(const struct import_options *given, const char *name, struct error *err)
{
	if (given->adopt && name && !given->apply)
		return error_set(err, ERROR_USAGE, "--adopt needs --apply");
	if (!given->adopt && (given->yes || given->no_start))
		return error_set(err, ERROR_USAGE, "%s needs --adopt",
				 given->yes ? "--yes" : "--no-start");
	if (name)
		return 0;
	if (given->from)
		return error_set(err, ERROR_USAGE, "--from needs the name of the program, too");
	if (given->apply || given->guess || given->dangerous || given->again ||
	    given->remove_hooks || given->adopt)
		return error_set(
			err, ERROR_USAGE,
			"name the program to import from: agentdeck import lists those that "
			"have sessions here");
	return 0;
}

static int make_all(struct app *app, const struct import_look *look, struct result *results,
		    struct error *err)
{
	cleanup_free struct instance **made = xcalloc(look->plan.count + 1,
						      sizeof(struct instance *));
	if (import_apply(&app->deck, look, made, err) < 0)
		return -1;
	cleanup_strvec struct strvec profiles = { 0 };
	for (size_t i = 0; i < look->plan.count; i++) {
		results[i].made = made[i];
		if (made[i])
			strvec_push(&profiles, made[i]->profile);
	}
	if (!app->json)
		say_made(app, "Imported", &profiles);
	return 0;
}

/* Tabs stay, as they indent. */
static void print_change(const char *line)
{
	const size_t blanks = strspn(line + 1, "\t") + 1;
	cleanup_free char *shown = visible(line + blanks);
	printf("%.*s%s\n", (int)blanks, line, shown);
}

static void print_hooked(const struct foreign_hooked *file)
{
	cleanup_free char *path = visible(file->path), *lines = xstrdup(file->changes);
	char *rest = lines;
	printf("--- %s\n", path);
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			print_change(line);
}

/* For people. */
static void print_hooks(const struct import_order *order, const struct foreign_hooked_files *hooked,
			enum foreign_removal removal)
{
	const char *name = order->source->name;
	size_t found = 0;
	for (size_t i = 0; i < hooked->count; i++) {
		if (hooked->items[i].why.code)
			continue;
		print_hooked(&hooked->items[i]);
		found++;
	}
	for (size_t i = 0; i < hooked->count; i++) {
		const struct foreign_hooked *file = &hooked->items[i];
		cleanup_free char *line = file->copy ? removal_text(order, file) : NULL;
		if (line)
			say("%s", line);
		if (file->why.code)
			complain("%s", file->why.message);
	}
	if (!hooked->count)
		say("No settings have hooks of %s that can be removed.", name);
	else if (found && removal == FOREIGN_SHOW)
		say("%zu file%s hooks of %s. Nothing was changed. Remove these lines with "
		    "--apply.",
		    found, found == 1 ? " has" : "s have", name);
}

/* Returns the exit status. */
static int visit_hooks(struct app *app, const struct import_order *order,
		       enum foreign_removal removal, struct foreign_hooked_files *ret)
{
	import_visit_hooks(&app->deck, order, removal, ret);
	for (size_t i = 0; i < ret->count; i++)
		if (ret->items[i].why.code)
			log_error("import: %s", ret->items[i].why.message);
	if (!app->json)
		print_hooks(order, ret, removal);
	const struct error *failure = failure_of(ret);
	return failure ? error_exit_status(failure->code) : 0;
}

/* A positive value is the exit status. */
static int apply(struct app *app, const struct import_order *order, const struct import_look *look,
		 struct result *results, struct foreign_hooked_files *hooked, struct error *err)
{
	const struct import_options *given = app->options;
	bool adopts;
	if (get_consent(app, look, &adopts, err) < 0 || make_all(app, look, results, err) < 0)
		return -1;
	const int hooks = given->remove_hooks ? visit_hooks(app, order, FOREIGN_REMOVE, hooked) : 0;
	const int taken = adopts ? take_each(app, look, results) : 0;
	return hooks ? hooks : taken;
}

static int refuse_source(const char *name, struct error *err)
{
	cleanup_strbuf struct strbuf names = { 0 };
	cleanup_free char *shown = visible(name);
	for (size_t i = 0; foreign_sources[i]; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", foreign_sources[i]->name);
	if (access(name, F_OK) == 0 || strchr(name, '/') || ends_with(name, ".tar"))
		return error_set(err, ERROR_USAGE,
				 "agentdeck imports from other tools, not from the file '%s': did "
				 "you mean agentdeck session import %s?",
				 shown, shown);
	return error_set(err, ERROR_USAGE, "agentdeck cannot import from '%s', only from: %s",
			 shown, strbuf_text(&names));
}

int import_run(struct app *app, struct error *err)
{
	cleanup_import_look struct import_look look = { 0 };
	const struct import_options *given = app->options;
	const char *name = app->operands.count ? app->operands.items[0] : NULL;
	if (check_options(given, name, err) < 0)
		return -1;
	if (!name)
		return run_list(app, err);
	cleanup_free char *from = given->from ? realpath(given->from, NULL) : NULL;
	const struct import_order order = {
		.source = foreign_find(name),
		.from = from,
		.may_be_absent = given->remove_hooks,
		.consent = { .guesses = given->guess,
			     .dangers = given->dangerous,
			     .again = given->again },
	};
	if (!order.source)
		return refuse_source(name, err);
	if (given->remove_hooks && !order.source->hooks)
		return error_set(err, ERROR_USAGE, "%s has no hooks in the agents' settings", name);
	if (given->from && !from)
		return error_set_errno(err, errno, "%s", given->from);
	if (import_look(&app->deck, &order, &look, err) < 0)
		return -1;
	if (!app->json)
		print_plan(app, &look);
	cleanup_foreign_hooked_files struct foreign_hooked_files hooked = { 0 };
	struct result *results = given->apply ? xcalloc(look.plan.count + 1, sizeof(*results))
					      : NULL;
	int r = results               ? apply(app, &order, &look, results, &hooked, err)
		: given->remove_hooks ? visit_hooks(app, &order, FOREIGN_SHOW, &hooked)
				      : 0;
	if (r >= 0 && app->json)
		print_as_json(&order, &look, results, &hooked);
	for (size_t i = 0; results && i < look.plan.count; i++) {
		instance_free(results[i].made);
		error_clear(&results[i].why);
	}
	free(results);
	return r;
}
