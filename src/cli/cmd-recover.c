/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/table.h"

#include "engine/recover.h"

#include <string.h>

enum { BAR_WIDTH = 30, JOBS_MAX = 256 };

/* Where what comes in goes to. */
struct display {
	bool json, bar, dry;
	struct table *table; /* what its user should look at; NULL: nothing so far */
	const struct app *app;
};

static const char *word(const struct recover_row *row)
{
	return row->failed ? "failed" : revive_outcome_name(row->outcome);
}

static void print_row(const struct recover_row *row)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "id", row->id);
	json_set_string(object, "title", row->title);
	json_set_string(object, "outcome", word(row));
	json_set_string(object, "reason", row->reason);
	json_set_string(object, "error", row->error);
	json_set_string(object, "rung", row->rung);
	json_set_string(object, "session_id", row->session_id);
	json_set_string(object, "note", row->note);
	json_set_int(object, "elapsed_ms", row->elapsed_ms);
	print_json_line(object);
	(void)fflush(stdout);
}

static void draw_bar(const struct recover_counts *counts, const struct recover_row *row)
{
	cleanup_free char *title = visible(row ? row->title : "");
	size_t full = counts->total ? counts->done * BAR_WIDTH / counts->total : BAR_WIDTH;
	fprintf(stderr, "\r\033[K[");
	for (size_t i = 0; i < BAR_WIDTH; i++)
		fputc(i < full ? '#' : '.', stderr);
	/* Cut, so that it stays in its line on any terminal that is wide enough to work in. */
	fprintf(stderr, "] %zu/%zu %.30s", counts->done, counts->total, title);
	(void)fflush(stderr);
}

/* Brought back as it was, there is nothing to say about it. */
static bool is_simple(const struct display *display, const struct recover_row *row)
{
	return !display->dry && !row->failed && row->outcome == REVIVED && !row->note;
}

static void add_to_table(struct display *display, const struct recover_row *row)
{
	const char *reason = row->error ? row->error : row->note ? row->note : or_empty(row->reason);
	if (!display->table)
		display->table = table_new(display->app, (const char *const[]){
			"TITLE", "ID", "OUTCOME", "BY", "REASON", NULL });
	table_add(display->table,
		  (const char *const[]){ row->title, row->id, word(row), or_empty(row->rung), reason, NULL },
		  row->failed ? "red" : row->outcome == REVIVED ? NULL : "yellow");
}

static void show(const struct recover_counts *counts, const struct recover_row *row, void *context)
{
	struct display *display = context;
	if (row && display->json)
		print_row(row);
	if (row && !display->json && !is_simple(display, row))
		add_to_table(display, row);
	if (display->bar && counts->total)
		draw_bar(counts, row);
}

static void print_summary_json(const struct recover_counts *counts, bool dry)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_int(object, "total", (int64_t)counts->total);
	json_set_int(object, "revived", (int64_t)counts->revived);
	json_set_int(object, "running", (int64_t)counts->alive);
	json_set_int(object, "left", (int64_t)counts->left);
	json_set_int(object, "failed", (int64_t)counts->failed);
	json_set_int(object, "ended_by_themselves", (int64_t)counts->offers);
	json_set_bool(object, "dry_run", dry);
	json_set_bool(object, "success", counts->failed == 0);
	print_json_line(object);
}

static void print_summary(const struct display *display, const struct recover_counts *counts)
{
	if (display->table)
		table_print(display->table);
	if (counts->total == 0) {
		printf("Nothing to recover: every session that is to run does.\n");
	} else {
		printf("%zu session%s: %zu %s", counts->total, counts->total == 1 ? "" : "s", counts->revived,
		       display->dry ? "would be brought back" : "brought back");
		if (counts->alive)
			printf(", %zu ran already", counts->alive);
		if (counts->left)
			printf(", %zu left as %s", counts->left, counts->left == 1 ? "it is" : "they are");
		if (counts->failed)
			printf(", %zu %s", counts->failed, display->dry ? "would fail" : "failed");
		printf("\n");
	}
	if (counts->offers)
		printf("%zu ended by %s before: agentdeck session start brings %s back.\n", counts->offers,
		       counts->offers == 1 ? "itself" : "themselves", counts->offers == 1 ? "it" : "each");
}

static int read_wish(struct app *app, struct recover_wish *ret, struct error *err)
{
	const char *jobs = option_value(app, "jobs"), *only = option_value(app, "only");
	int64_t number = 0;
	if (jobs && !parse_int64(jobs, 1, JOBS_MAX, &number))
		return error_set(err, ERROR_USAGE, "--jobs is a number from 1 to %d, not '%s'", JOBS_MAX, jobs);
	if (only && !streq(only, "error"))
		return error_set(err, ERROR_USAGE, "--only knows 'error', not '%s'", only);
	*ret = (struct recover_wish){
		.group = option_value(app, "group"),
		.only_error = only != NULL,
		.dry = option_given(app, "dry-run"),
		.jobs = (unsigned)number,
		.kept_environment = option_given(app, "kept-environment"),
	};
	return 0;
}

static int run(struct app *app, struct error *err)
{
	struct recover_wish wish;
	struct recover_counts counts = { 0 };
	if (read_wish(app, &wish, err) < 0)
		return -1;
	struct display display = {
		.app = app, .dry = wish.dry,
		.json = app->json || !isatty(STDOUT_FILENO),
		.bar = isatty(STDERR_FILENO),
	};
	int r = recover_run(&app->deck, &wish, show, &display, &counts, err);
	if (display.bar && counts.total)
		fprintf(stderr, "\r\033[K");
	if (r == 0 && display.json)
		print_summary_json(&counts, wish.dry);
	else if (r == 0)
		print_summary(&display, &counts);
	table_free(display.table);
	return r < 0 ? -1 : counts.failed ? 1 : 0;
}

static const struct command_option options[] = {
	{ 'j', "jobs", "N", "at the same time; without it twice the processors, as memory allows" },
	{ 'n', "dry-run", NULL, "tell what would be done with each, and do nothing" },
	{ 'g', "group", "GROUP", "only this group and those below it" },
	{ 0, "only", "STATE", "only those in this state: error" },
	{ 0, "kept-environment", NULL, "with the PATH and the rest that each has kept, not with yours: for cron and the like" },
	{ 0 },
};

const struct command command_recover = {
	.name = "recover",
	.arguments = "",
	.summary = "bring back every session that should run and does not",
	.description =
		"After a restart of the machine, or an incident: what was running comes back with its\n"
		"conversation, last used first.  What somebody stopped, and whose agent ended by itself,\n"
		"stays as it is; so do those of the resume policy never.  What is held, or was restarted\n"
		"too often, is brought back all the same, since somebody asks.\n"
		"\n"
		"On a terminal: a bar, the sessions that one should look at, and a line with the counts.  With\n"
		"--json, or when standard output is no terminal: one JSON object on a line for each session as\n"
		"it comes in, and one with the counts at the end.\n"
		"\n"
		"Brought back means that its run is there and durable; agentdeck list tells what the agent made\n"
		"of it.  Exit status 1 when any session could not be brought back.",
	.options = options,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
