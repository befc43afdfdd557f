/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * up, down and diff: the sessions of a file as they should be, and as they are.
 */
#include "base/argsplit.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/declared.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "agentdeck.toml"

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
	ret->facts = xcalloc(ret->file.count, sizeof(*ret->facts));
	for (size_t i = 0; i < ret->file.count; i++)
		if (declared_look(&app->deck, &ret->file.sessions[i], &app->rows, &ret->facts[i],
				  err) < 0)
			return -1;
	return 0;
}

static char *joined(const struct strvec *texts)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = 0; i < texts->count; i++)
		strbuf_addf(&text, "%s%s", i ? "; " : "", texts->items[i]);
	return xstrdup(strbuf_text(&text));
}

/* Another session's title is no reason to touch that session, nor to make half of the others. */
static int refuse_foreign(const struct declaration *declaration, struct error *err)
{
	for (size_t i = 0; i < declaration->file.count; i++) {
		const struct declared *declared = &declaration->file.sessions[i];
		if (declaration->facts[i].state != DECLARED_FOREIGN)
			continue;
		cleanup_free char *title = visible(declared->title);
		cleanup_free char *why = joined(&declaration->facts[i].differences);
		cleanup_free char *shown = visible(why);
		return error_set(err, ERROR_EXISTS,
				 "%s: %s: %s. Rename one of them; nothing was done",
				 declared->place, title, shown);
	}
	return 0;
}

/* A mistake in one of them makes none. */
static int check_missing(struct app *app, const struct declaration *declaration, struct error *err)
{
	for (size_t i = 0; i < declaration->file.count; i++)
		if (declaration->facts[i].state == DECLARED_MISSING &&
		    declared_check(&app->deck, &declaration->file.sessions[i], err) < 0)
			return -1;
	return 0;
}

/* ---- up and down ------------------------------------------------------------------------------ */

struct jobs {
	struct crew_job *jobs;
	size_t count;
};

static void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		strvec_clear(&jobs->jobs[i].words);
	free(jobs->jobs);
}
#define cleanup_jobs CLEANUP(jobs_free)

/* What is not as declared stays as it is. */
static void say_differences(const struct app *app, const struct declared_fact *fact)
{
	if (app->json || !fact->row)
		return;
	for (size_t i = 0; i < fact->differences.count; i++)
		complain("%s: %s. up changes nothing of a session that exists: see agentdeck "
			 "session set --help",
			 fact->row->title, fact->differences.items[i]);
}

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
	strvec_push(&job->words, verb);
	strvec_push(&job->words, fact->row->id);
	if (app->json)
		strvec_push(&job->words, "--json");
}

/* Do the verb with each session that exists, and launch the others if that is wanted. */
static int run_all(struct app *app, const char *verb, bool launches, struct error *err)
{
	cleanup_declaration struct declaration declaration = { 0 };
	cleanup_jobs struct jobs jobs = { 0 };
	size_t failed = 0;
	if (look(app, &declaration, err) < 0 || refuse_foreign(&declaration, err) < 0 ||
	    (launches && check_missing(app, &declaration, err) < 0))
		return -1;
	jobs.jobs = xcalloc(declaration.file.count, sizeof(*jobs.jobs));
	for (size_t i = 0; i < declaration.file.count; i++) {
		const struct declared_fact *fact = &declaration.facts[i];
		if (fact->row)
			order_verb(app, fact, verb, &jobs.jobs[jobs.count++]);
		else if (launches)
			order_launch(app, &declaration, i, &jobs.jobs[jobs.count++]);
		if (launches)
			say_differences(app, fact);
	}
	if (!jobs.count && !app->json)
		say("None of its sessions exists: nothing to do.");
	const struct crew_order order = {
		.jobs = jobs.jobs,
		.count = jobs.count,
		.timeout_ms = crew_timeout_ms(app),
	};
	if (crew_run(app, &order, &failed, err) < 0)
		return -1;
	return failed ? 1 : 0;
}

static int run_up(struct app *app, struct error *err)
{
	return run_all(app, "start", true, err);
}

static int run_down(struct app *app, struct error *err)
{
	return run_all(app, "stop", false, err);
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
	return fact->state == DECLARED_RUNNING && fact->differences.count == 0;
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
	json_set_strings(object, "differences", &fact->differences);
	add_command(declared, fact, &words);
	json_set_strings(object, "command", &words);
	print_json_element(object, index);
}

static int run_diff(struct app *app, struct error *err)
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
						      : joined(&fact->differences);
		is_same = is_same && is_as_declared(fact);
		if (app->json)
			print_diff_json(declared, fact, i);
		table_add(table,
			  (const char *const[]){ declared->title, state_text(fact), what, NULL },
			  is_as_declared(fact) ? NULL : "yellow");
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
	.arguments = "[FILE]",
	.summary = "make and start the sessions that a file names",
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON | JSON_LINES,
	.run = run_up,
};

const struct command command_down = {
	.name = "down",
	.arguments = "[FILE]",
	.summary = "stop the sessions that a file names",
	.flags = NEEDS_STORE | HAS_JSON | JSON_LINES,
	.run = run_down,
};

const struct command command_diff = {
	.name = "diff",
	.arguments = "[FILE]",
	.summary = "compare a file's sessions with those that exist",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run_diff,
};
