/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * up, down and diff: the sessions of a file as they should be, and as they are.
 */
#include "base/argsplit.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/declared.h"
#include "cli/cmd/session-limit.h"
#include "cli/cmd/session-set.h"
#include "cli/cmd/several.h"
#include "cli/cmd/start.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "agentdeck.toml"

struct options {
	bool update;
};

static const struct command_option options[] = {
	{ 0, "update", NULL, "also change what differs of those that exist", TO_FLAG(update) },
	{ 0 },
};

/* The file, and what is there of each of its sessions. */
struct declaration {
	struct deckfile file;
	struct declared_fact *facts;
};

static void declaration_free(struct declaration *declaration)
{
	for (size_t i = 0; declaration->facts && i < declaration->file.count; i++)
		declared_fact_free(&declaration->facts[i]);
	free(declaration->facts);
	deckfile_free(&declaration->file);
}
#define cleanup_declaration CLEANUP(declaration_free)

static int look(struct app *app, struct declaration *ret, struct error *err)
{
	const char *path = app->operands.count ? app->operands.items[0] : DEFAULT_FILE;
	if (deckfile_read(path, app->deck.paths.home, &ret->file, err) < 0 ||
	    store_list(app->deck.store, &app->rows, err) < 0)
		return -1;
	cleanup_declared_rows struct declared_rows rows = { 0 };
	declared_rows_sort(&app->rows, &rows);
	ret->facts = xcalloc(ret->file.count, sizeof(*ret->facts));
	for (size_t i = 0; i < ret->file.count; i++)
		if (declared_look(&app->deck, &ret->file.sessions[i], &rows, &ret->facts[i], err) <
		    0)
			return -1;
	return 0;
}

/* Another session's title is no reason to touch that session, nor to make half of the others. */
static int refuse_foreign(const struct declaration *declaration, struct error *err)
{
	for (size_t i = 0; i < declaration->file.count; i++) {
		const struct declared *declared = &declaration->file.sessions[i];
		if (declaration->facts[i].state != DECLARED_FOREIGN)
			continue;
		cleanup_free char *title = visible(declared->title);
		cleanup_free char *shown = visible(declaration->facts[i].differences->text);
		return error_set(err, ERROR_EXISTS,
				 "%s: %s: %s. Rename one of them; nothing was done",
				 declared->place, title, shown);
	}
	return 0;
}

/* What is done with the sessions of the file. */
struct plan {
	const char *verb; /* with those that exist */
	bool launches;    /* makes those that are missing */
	bool updates;     /* changes what differs of the others */
};

/* A mistake in one of them makes and changes none. */
static int check(struct app *app, const struct plan *plan, const struct declaration *declaration,
		 struct error *err)
{
	for (size_t i = 0; i < declaration->file.count; i++) {
		const struct declared *declared = &declaration->file.sessions[i];
		const bool is_missing = declaration->facts[i].state == DECLARED_MISSING;
		if ((is_missing && plan->launches &&
		     declared_check(&app->deck, declared, err) < 0) ||
		    (!is_missing && plan->updates &&
		     declared_check_agent(&app->deck, declared, err) < 0))
			return -1;
	}
	return 0;
}

/* ---- up --update ------------------------------------------------------------------------------ */

/* One session of the file, and what becomes of it. */
struct updating {
	struct app *app;
	const struct declared *declared;
	const struct declared_fact *fact;
	struct json_object *updated; /* borrowed */
};

/* What "updates" of diff and "updated" of up have.  The caller puts it. */
static struct json_object *json_of_update(const struct difference *difference)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "field", difference->field);
	json_set_string(object, "value", difference->value);
	return object;
}

/* What stays as it is, and why: "kept" of diff and up.  The caller puts it. */
static struct json_object *json_of_kept(const struct declared_fact *fact)
{
	struct json_object *kept = json_object_new_array();
	for (size_t i = 0; i < fact->difference_count; i++) {
		const struct difference *difference = &fact->differences[i];
		if (!difference->obstacle)
			continue;
		struct json_object *one = json_object_new_object();
		json_set_string(one, "difference", difference->text);
		json_set_string(one, "why", difference->obstacle);
		json_object_array_add(kept, one);
	}
	return kept;
}

/* said: the note is part of the line. */
static void report_update(const struct updating *of, const struct difference *difference,
			  const char *note, const char *said)
{
	struct json_object *object = json_of_update(difference);
	const bool is_none = is_empty(difference->value) ||
			     (difference->limit != LIMIT_COUNT && streq(difference->value, "0"));
	json_set_string(object, "note", note);
	json_object_array_add(of->updated, object);
	if (!of->app->json)
		say("%s: %s is now %s%s%s", of->fact->row->title, difference->field,
		    is_none ? "none" : difference->value, said ? ". " : "", or_empty(said));
}

static int update_fields(const struct updating *of, struct error *err)
{
	const struct declared_fact *fact = of->fact;
	for (size_t i = 0; i < fact->difference_count; i++) {
		const struct difference *difference = &fact->differences[i];
		cleanup_setting struct setting setting = { .value = difference->value };
		if (difference->obstacle || difference->limit != LIMIT_COUNT)
			continue;
		if (setting_find(difference->field, &setting.field, err) < 0 ||
		    lifecycle_set(&of->app->deck, fact->row->base, &setting, err) < 0)
			return error_prefix(err, "%s", difference->field);
		report_update(of, difference, setting.note, setting.note);
	}
	return 0;
}

/* All at once: when they hold is the same for each. */
static int update_limits(const struct updating *of, struct error *err)
{
	const struct declared_fact *fact = of->fact;
	struct limit_change change = { .limits = of->declared->limits.limits };
	cleanup_instance struct instance *instance = NULL;
	const struct difference *last = NULL;
	enum limit_effect effect;
	for (size_t i = 0; i < fact->difference_count; i++) {
		const struct difference *difference = &fact->differences[i];
		if (difference->obstacle || difference->limit == LIMIT_COUNT)
			continue;
		change.given[difference->limit] = true;
		last = difference;
	}
	if (!last)
		return 0;
	if (lifecycle_set_limits(&of->app->deck, fact->row->base, &change, &effect, &instance,
				 err) < 0)
		return error_prefix(err, "limits");
	cleanup_free char *note = xasprintf("The limits %s",
					    limit_effect_text(&of->app->deck, instance, effect));
	for (size_t i = 0; i < fact->difference_count; i++) {
		const struct difference *difference = &fact->differences[i];
		if (!difference->obstacle && difference->limit != LIMIT_COUNT)
			report_update(of, difference, note, difference == last ? note : NULL);
	}
	return 0;
}

/* Change what differs and can be changed.  updated gets it. */
static int update(const struct updating *of, struct error *err)
{
	return update_fields(of, err) < 0 || update_limits(of, err) < 0
		       ? error_prefix(err, "%s: %s", of->declared->place, of->fact->row->title)
		       : 0;
}

/* What could not be changed is the failure of this session alone: the others continue. */
static void report_failure(const struct app *app, const struct declared_fact *fact,
			   struct json_object *members, const struct error *why)
{
	if (!app->json) {
		complain("%s", why->message);
		return;
	}
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_failure(object, why);
	json_set_string(object, "id", fact->row->id);
	json_set_string(object, "title", fact->row->title);
	crew_add_members(object, members);
	print_json_line(object);
}

/* What stays as it is.  Returns whether up --update would change some of it. */
static bool say_differences(const struct app *app, const struct plan *plan,
			    const struct declared_fact *fact)
{
	bool can_update = false;
	for (size_t i = 0; i < fact->difference_count && !app->json; i++) {
		const struct difference *difference = &fact->differences[i];
		if (difference->obstacle) {
			complain("%s: %s. up --update does not change this: %s", fact->row->title,
				 difference->text, difference->obstacle);
		} else if (!plan->updates) {
			complain("%s: %s", fact->row->title, difference->text);
			can_update = true;
		}
	}
	return can_update;
}

/* ---- up and down ------------------------------------------------------------------------------ */

struct jobs {
	struct crew_job *jobs;
	size_t count;
	size_t failed;   /* sessions that could not be changed: they have no job */
	size_t done;     /* sessions that are as they are to be: they have no job */
	bool can_update; /* up --update would change some of the sessions */
};

static void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		strvec_clear(&jobs->jobs[i].words);
		json_object_put(jobs->jobs[i].members);
	}
	free(jobs->jobs);
}
#define cleanup_jobs CLEANUP(jobs_free)

/* The launch of one that is missing. */
static void order_launch(const struct app *app, const struct declaration *declaration, size_t i,
			 struct crew_job *job)
{
	const struct declared *declared = &declaration->file.sessions[i];
	job->title = declared->title;
	job->place = declared->place;
	job->directory = declaration->file.directory;
	job->input = declared->message;
	job->input_length = strlen(or_empty(declared->message));
	strvec_push(&job->words, "launch");
	if (app->json)
		strvec_push(&job->words, "--json");
	declared_launch(declared, LAUNCH_OF_CREW, &job->words);
}

static void order_verb(const struct app *app, const struct declared_fact *fact, const char *verb,
		       struct crew_job *job)
{
	job->title = fact->row->title;
	job->id = fact->row->id;
	strvec_push(&job->words, "session");
	strvec_push(&job->words, verb);
	strvec_push(&job->words, "--instance");
	strvec_push(&job->words, fact->row->base);
	if (app->json)
		strvec_push(&job->words, "--json");
}

/* The answer of `session stop` for one at rest, without a process for it. */
static void report_rest(const struct app *app, const struct store_row *row)
{
	cleanup_json struct json_object *object = json_success(row->id, row->title);
	json_set_bool(object, "was_running", false);
	if (app->json)
		print_json_line(object);
	else
		say("%s: was not running", row->title);
}

/* The answer of `session start` for one that runs. */
static int report_running(struct app *app, const struct declared_fact *fact,
			  struct json_object *members, struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { .already = true };
	if (deck_load(&app->deck, fact->row->base, &started.instance, err) < 0)
		return -1;
	started.verified = started.instance->run.reported;
	if (!app->json) {
		print_start(app, &started);
		return 0;
	}
	cleanup_json struct json_object *object = json_of_start(&app->deck, &started);
	crew_add_members(object, members);
	print_json_line(object);
	return 0;
}

/* Change the session, if that is wanted, and order the rest.  One that is as it is to be needs no
 * process, which would look at all others. */
static void order_session(struct app *app, const struct plan *plan,
			  const struct declaration *declaration, size_t i, struct jobs *jobs)
{
	const struct declared_fact *fact = &declaration->facts[i];
	cleanup_json struct json_object *members = plan->updates ? json_object_new_object() : NULL;
	cleanup_error struct error why = { 0 };
	if (!fact->row && !plan->launches)
		return;
	if (!plan->launches && !several_is_active(fact->row)) {
		report_rest(app, fact->row);
		jobs->done++;
		return;
	}
	if (members) {
		struct updating of = { app, &declaration->file.sessions[i], fact,
				       json_object_new_array() };
		json_set(members, "updated", of.updated);
		json_set(members, "kept", json_of_kept(fact));
		if (fact->row && update(&of, &why) < 0) {
			report_failure(app, fact, members, &why);
			jobs->failed++;
			return;
		}
	}
	if (plan->launches && say_differences(app, plan, fact))
		jobs->can_update = true;
	if (plan->launches && fact->needs_no_start &&
	    report_running(app, fact, members, &why) == 0) {
		jobs->done++;
		return;
	}
	struct crew_job *job = &jobs->jobs[jobs->count++];
	job->members = TAKE_PTR(members);
	if (fact->row)
		order_verb(app, fact, plan->verb, job);
	else
		order_launch(app, declaration, i, job);
}

static int run_all(struct app *app, const struct plan *plan, struct error *err)
{
	cleanup_declaration struct declaration declaration = { 0 };
	cleanup_jobs struct jobs jobs = { 0 };
	size_t failed = 0;
	if (look(app, &declaration, err) < 0 || refuse_foreign(&declaration, err) < 0 ||
	    check(app, plan, &declaration, err) < 0)
		return -1;
	jobs.jobs = xcalloc(declaration.file.count, sizeof(*jobs.jobs));
	for (size_t i = 0; i < declaration.file.count; i++)
		order_session(app, plan, &declaration, i, &jobs);
	if (jobs.can_update)
		complain("up changes nothing of a session that exists; up --update does");
	if (!jobs.count && !jobs.failed && !jobs.done && !app->json)
		say("None of its sessions exists: nothing to do.");
	const struct crew_order order = {
		.jobs = jobs.jobs,
		.count = jobs.count,
		.at_once = plan->launches ? 0 : SEVERAL_STOPS,
		.timeout_ms = crew_timeout_ms(app),
	};
	if (crew_run(app, &order, &failed, err) < 0)
		return -1;
	return failed || jobs.failed ? 1 : 0;
}

static int cmd_up(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct plan plan = { "start", .launches = true, .updates = given->update };
	return run_all(app, &plan, err);
}

static int cmd_down(struct app *app, struct error *err)
{
	return run_all(app, &(struct plan){ .verb = "stop" }, err);
}

/* ---- diff ------------------------------------------------------------------------------------- */

static const char *state_text(const struct declared_fact *fact)
{
	switch (fact->state) {
	case DECLARED_MISSING:
		return "missing";
	case DECLARED_FOREIGN:
		return "conflict";
	case DECLARED_STOPPED:
		return "stopped";
	case DECLARED_RUNNING:
		break;
	}
	return "running";
}

static bool is_as_declared(const struct declared_fact *fact)
{
	return fact->state == DECLARED_RUNNING && fact->difference_count == 0;
}

/* What makes a missing one; else nothing. */
static void add_command(const struct declared *declared, const struct declared_fact *fact,
			struct strvec *ret)
{
	if (fact->state != DECLARED_MISSING)
		return;
	strvec_push(ret, "agentdeck");
	strvec_push(ret, "launch");
	declared_launch(declared, LAUNCH_OF_USER, ret);
}

static void add_differences(struct json_object *object, const struct declared_fact *fact)
{
	cleanup_strvec struct strvec texts = { 0 };
	struct json_object *updates = json_object_new_array();
	for (size_t i = 0; i < fact->difference_count; i++) {
		const struct difference *difference = &fact->differences[i];
		strvec_push(&texts, difference->text);
		if (!difference->obstacle)
			json_object_array_add(updates, json_of_update(difference));
	}
	json_set_strings(object, "differences", &texts);
	json_set(object, "updates", updates);
	json_set(object, "kept", json_of_kept(fact));
}

/* All that differs.  The caller frees. */
static char *describe(const struct declared_fact *fact)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = 0; i < fact->difference_count; i++) {
		const struct difference *difference = &fact->differences[i];
		const bool is_kept = difference->obstacle && fact->state != DECLARED_FOREIGN;
		strbuf_addf(&text, "%s%s%s", i ? "; " : "", difference->text,
			    is_kept ? " (not by up --update)" : "");
	}
	return strbuf_take(&text);
}

static void print_diff_json(const struct declared *declared, const struct declared_fact *fact,
			    size_t index)
{
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_strvec struct strvec words = { 0 };
	json_set(object, "id", fact->row ? json_text(fact->row->id) : NULL);
	json_set_string(object, "title", declared->title);
	json_set_string(object, "directory", declared->directory);
	json_set_string(object, "state", state_text(fact));
	json_set_bool(object, "as_declared", is_as_declared(fact));
	add_differences(object, fact);
	add_command(declared, fact, &words);
	json_set_strings(object, "command", &words);
	print_json_element(object, index);
}

static int cmd_diff(struct app *app, struct error *err)
{
	cleanup_declaration struct declaration declaration = { 0 };
	cleanup_table struct table *table = table_new(app, (const char *const[]){ "TITLE", "STATE",
										  "WHAT", NULL });
	bool is_same = true;
	if (look(app, &declaration, err) < 0)
		return -1;
	for (size_t i = 0; i < declaration.file.count; i++) {
		const struct declared *declared = &declaration.file.sessions[i];
		const struct declared_fact *fact = &declaration.facts[i];
		cleanup_strvec struct strvec words = { 0 };
		add_command(declared, fact, &words);
		cleanup_free char *what = words.count ? argjoin(strvec_argv(&words))
						      : describe(fact);
		is_same = is_same && is_as_declared(fact);
		if (app->json)
			print_diff_json(declared, fact, i);
		table_add(table,
			  (const char *const[]){ declared->title, state_text(fact), what, NULL },
			  is_as_declared(fact) ? TONE_PLAIN : TONE_WARNING);
	}
	if (app->json)
		print_json_end(declaration.file.count);
	else
		table_print_whole(table);
	return is_same ? 0 : 1;
}

/* ---- the commands ----------------------------------------------------------------------------- */

const struct command command_up = {
	.name = "up",
	.kind = COMMAND_CHANGES,
	.arguments = "[FILE]",
	.summary = "make and start the sessions that a file names",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON | JSON_LINES,
	.run = cmd_up,
};

const struct command command_down = {
	.name = "down",
	.kind = COMMAND_CHANGES,
	.arguments = "[FILE]",
	.summary = "stop the sessions that a file names",
	.flags = NEEDS_STORE | HAS_JSON | JSON_LINES,
	.run = cmd_down,
};

const struct command command_diff = {
	.name = "diff",
	.kind = COMMAND_READS,
	.arguments = "[FILE]",
	.summary = "compare a file's sessions with those that exist",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_diff,
};
