/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/run/recover.h"

#include <string.h>

struct options {
	int64_t jobs; /* 0: recover_run() decides */
	bool dry_run, kept_environment;
	const char *group;
	enum { ONLY_ALL, ONLY_ERROR } only;
};

static const char *const states[] = { [ONLY_ERROR] = "error" };

static const struct command_option options[] = {
	{ 'j', "jobs", "N", "at the same time; without it twice the processors, as memory allows",
	  TO_NUMBER(jobs, 1, 256) },
	{ 'n', "dry-run", NULL, "tell what would be done with each, and do nothing",
	  TO_FLAG(dry_run), .kind = COMMAND_READS },
	{ 'g', "group", "GROUP", "only this group and those below it", TO_TEXT(group) },
	{ 0, "only", "STATE", "only those in this state: error", TO_CHOICE(only, states) },
	OPTION_TAKE_OVER,
	{ 0, "kept-environment", NULL,
	  "with the PATH and the rest that each has kept, not with yours: for cron and the like",
	  TO_FLAG(kept_environment) },
	OPTION_ALL_HOSTS,
	{ 0 },
};

enum { BAR_WIDTH = 30 };

/* How the results are shown. */
struct display {
	bool json, bar, dry;
	struct table *table; /* the rows that need a look; NULL: none so far */
	const struct app *app;
};

static void print_result(const struct revive_result *result, int64_t elapsed_ms)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "event", "session");
	json_set_string(object, "id", result->id);
	json_set_string(object, "title", result->title);
	json_set_string(object, "outcome", revive_outcome_name(result->outcome));
	json_set_string(object, "reason", result->reason);
	json_set_bool(object, "elsewhere", result->elsewhere);
	json_set_string(object, "error", result->error);
	json_set_string(object, "rung", result->rung);
	json_set_string(object, "session_id", result->session_id);
	json_set_string(object, "note", result->note);
	json_set_int(object, "elapsed_ms", elapsed_ms);
	print_json_line(object);
	(void)fflush(stdout);
}

static void draw_bar(const struct recover_counts *counts, const struct revive_result *result)
{
	cleanup_free char *title = visible(result ? result->title : "");
	size_t full = counts->total ? counts->done * BAR_WIDTH / counts->total : BAR_WIDTH;
	fprintf(stderr, "\r\033[K[");
	for (size_t i = 0; i < BAR_WIDTH; i++)
		fputc(i < full ? '#' : '.', stderr);
	/* The title is cut, so that the bar fits in one line of any usable terminal. */
	fprintf(stderr, "] %zu/%zu %.30s", counts->done, counts->total, title);
	(void)fflush(stderr);
}

/* The session was restored as it was, so there is nothing to say. */
static bool is_simple(const struct display *display, const struct revive_result *result)
{
	return !display->dry && result->outcome == REVIVED && !result->note;
}

static void add_to_table(struct display *display, const struct revive_result *result)
{
	const char *reason = result->error  ? result->error
			     : result->note ? result->note
					    : reason_text(or_empty(result->reason));
	if (!display->table)
		display->table = table_new(display->app,
					   (const char *const[]){ "TITLE", "ID", "OUTCOME", "BY",
								  "REASON", NULL });
	table_add(display->table,
		  (const char *const[]){ result->title, result->id,
					 revive_outcome_name(result->outcome),
					 or_empty(result->rung), reason, NULL },
		  result->outcome == REVIVE_FAILED ? TONE_ERROR
		  : result->outcome == REVIVED     ? TONE_PLAIN
						   : TONE_WARNING);
}

static void show(const struct recover_counts *counts, const struct revive_result *result,
		 int64_t elapsed_ms, void *context)
{
	struct display *display = context;
	if (result && display->json)
		print_result(result, elapsed_ms);
	if (result && !display->json && !is_simple(display, result))
		add_to_table(display, result);
	if (display->bar && counts->total)
		draw_bar(counts, result);
}

static void print_summary_json(const struct recover_counts *counts, bool dry)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "event", "summary");
	json_set_int(object, "total", (int64_t)counts->total);
	json_set_int(object, "revived", (int64_t)counts->revived);
	json_set_int(object, "running", (int64_t)counts->alive);
	json_set_int(object, "left", (int64_t)counts->left);
	json_set_int(object, "elsewhere", (int64_t)counts->elsewhere);
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
		printf("%zu session%s: %zu %s", counts->total, counts->total == 1 ? "" : "s",
		       counts->revived, display->dry ? "would be restarted" : "restarted");
		if (counts->alive)
			printf(", %zu ran already", counts->alive);
		if (counts->left)
			printf(", %zu left as %s", counts->left,
			       counts->left == 1 ? "it is" : "they are");
		if (counts->failed)
			printf(", %zu %s", counts->failed, display->dry ? "would fail" : "failed");
		printf("\n");
	}
	if (counts->elsewhere)
		printf("%zu ran on another machine or in another container: if %s there, "
		       "agentdeck recover --take-over restarts %s here.\n",
		       counts->elsewhere,
		       counts->elsewhere == 1 ? "it no longer runs" : "they no longer run",
		       counts->elsewhere == 1 ? "it" : "them");
	if (counts->offers)
		printf("%zu ended by %s before: agentdeck session start brings %s back.\n",
		       counts->offers, counts->offers == 1 ? "itself" : "themselves",
		       counts->offers == 1 ? "it" : "each");
}

static int cmd_recover(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct recover_order order = {
		.group = given->group,
		.only_error = given->only == ONLY_ERROR,
		.mode = given->dry_run ? REVIVE_TRIAL : REVIVE_REALLY,
		.jobs = (unsigned)given->jobs,
		.kept_environment = given->kept_environment,
		.takes_over = app->takes_over,
	};
	struct recover_counts counts = { 0 };
	struct display display = {
		.app = app,
		.dry = given->dry_run,
		.json = app->json,
		.bar = isatty(STDERR_FILENO),
	};
	int r = recover_run(&app->deck, &order, show, &display, &counts, err);
	if (display.bar && counts.total)
		fprintf(stderr, "\r\033[K");
	if (r == 0 && display.json)
		print_summary_json(&counts, given->dry_run);
	else if (r == 0)
		print_summary(&display, &counts);
	table_free(display.table);
	return r < 0 ? -1 : counts.failed ? 1 : 0;
}

const struct command command_recover = {
	.name = "recover",
	.kind = COMMAND_CHANGES,
	.arguments = "",
	.summary = "restart every session that should run and does not",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON | JSON_LINES,
	.run = cmd_recover,
};
