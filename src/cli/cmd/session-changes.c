/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/several.h"
#include "cli/show/output.h"
#include "cli/show/pager.h"
#include "cli/show/table.h"
#include "driver/forge/forge.h"
#include "engine/run/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool diff;
};

static const struct command_option options[] = {
	{ 'd', "diff", NULL, "the differences, line by line", TO_FLAG(diff) },
	{ 0 },
};

enum { COMMITS_SHOWN = 20, ID_SHOWN = 9, COMPARED_MOST = 8 };

/* ---- text: what comes from the tree is in the form that a terminal shows ---- */

static char *count_text(int64_t count, const char *one)
{
	return xasprintf("%" PRId64 " %s%s", count, one, count == 1 ? "" : "s");
}

static void print_files(const char *heading, const struct changed_files *files)
{
	const struct changes_sum sum = changes_sum_of(files);
	cleanup_free char *count = count_text(sum.files, "file");
	if (!sum.files)
		return;
	printf("%s: %s, +%" PRId64 " -%" PRId64 "\n", heading, count, sum.added, sum.removed);
	for (size_t i = 0; i < files->count; i++) {
		const struct changed_file *file = &files->items[i];
		if (file->is_binary)
			printf("  %-2s  %13s  %s\n", file->status, "binary", file->path);
		else
			printf("  %-2s  %+6" PRId64 " %6" PRId64 "  %s\n", file->status,
			       file->added, -file->removed, file->path);
	}
	if (files->more)
		printf("  and %" PRId64 " more\n", files->more);
}

static void print_commits(const struct changes *changes)
{
	const int64_t count = (int64_t)changes->commit_count + changes->more_commits;
	for (size_t i = 0; i < changes->commit_count && i < COMMITS_SHOWN; i++)
		printf("  %.*s %s\n", ID_SHOWN, changes->commits[i].id,
		       changes->commits[i].subject);
	if (count > COMMITS_SHOWN)
		printf("  and %" PRId64 " more\n", count - COMMITS_SHOWN);
}

static void print_upstream(const struct changes *changes)
{
	if (!changes->upstream.name)
		return;
	if (changes->upstream.is_gone)
		printf("upstream: %s is gone\n", changes->upstream.name);
	else
		printf("upstream: %s, %" PRId64 " ahead and %" PRId64 " behind\n",
		       changes->upstream.name, changes->upstream.ahead, changes->upstream.behind);
}

static void print_changes(const struct changes *changes, const struct pull_request *request)
{
	const int64_t count = (int64_t)changes->commit_count + changes->more_commits;
	cleanup_free char *commits = count_text(count, "commit");
	cleanup_free char *merged = changes_merged_text(changes);
	printf("%s: %s%s%s\n", changes->branch ? changes->branch : "no branch",
	       count ? commits : "no commits", count ? ", " : "", count ? merged : "");
	print_commits(changes);
	print_upstream(changes);
	if (request->number)
		printf("pull request: %" PRId64 ", %s%s, %s\n", request->number,
		       request->is_draft ? "draft, " : "", request->state, request->url);
	print_files("committed", &changes->committed);
	print_files("not committed", &changes->uncommitted);
	print_files("untracked", &changes->untracked);
	for (size_t i = 0; i < changes->unknown.count; i++)
		printf("not known: %s\n", changes->unknown.items[i]);
}

/* ---- several sessions, side by side ---- */

struct compared {
	const char *headings[COMPARED_MOST + 2];
	struct changes changes[COMPARED_MOST];
	size_t count;
};

static void compared_free(struct compared *compared)
{
	for (size_t i = 0; i < compared->count; i++)
		changes_free(&compared->changes[i]);
}

static const struct changed_file *find_file(const struct changes *changes, const char *path)
{
	const struct changed_files *lists[] = { &changes->committed, &changes->uncommitted,
						&changes->untracked };
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (size_t j = 0; j < lists[i]->count; j++)
			if (streq(lists[i]->items[j].path, path))
				return &lists[i]->items[j];
	return NULL;
}

static void add_row(struct table *table, const struct compared *compared, const char *name,
		    char *(*text)(const struct changes *changes, const char *name))
{
	const char *cells[COMPARED_MOST + 1] = { name };
	char *texts[COMPARED_MOST] = { 0 };
	for (size_t i = 0; i < compared->count; i++)
		cells[i + 1] = texts[i] = text(&compared->changes[i], name);
	table_add(table, cells, TONE_PLAIN);
	for (size_t i = 0; i < compared->count; i++)
		free(texts[i]);
}

static char *commits_text(const struct changes *changes, const char *name UNUSED)
{
	static const char *const merged[] = {
		[MERGED_UNKNOWN] = "",
		[MERGED_NO] = "",
		[MERGED_YES] = ", merged",
		[MERGED_SQUASHED] = ", squashed",
	};
	const int64_t count = (int64_t)changes->commit_count + changes->more_commits;
	return xasprintf("%" PRId64 "%s", count, merged[changes->merged]);
}

static char *open_text(const struct changes *changes, const char *name UNUSED)
{
	return xasprintf("%" PRId64, changes_sum_of(&changes->uncommitted).files +
					     changes_sum_of(&changes->untracked).files);
}

static char *file_text(const struct changes *changes, const char *name)
{
	const struct changed_file *file = find_file(changes, name);
	return !file             ? NULL
	       : file->is_binary ? xstrdup("binary")
				 : xasprintf("+%" PRId64 " -%" PRId64, file->added, file->removed);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_paths(const struct changed_files *files, struct strvec *ret)
{
	for (size_t i = 0; i < files->count; i++)
		strvec_push(ret, files->items[i].path);
}

static void print_compared(const struct app *app, const struct compared *compared)
{
	cleanup_table struct table *table = table_new(app, compared->headings);
	cleanup_strvec struct strvec paths = { 0 };
	add_row(table, compared, "(commits)", commits_text);
	add_row(table, compared, "(files not committed)", open_text);
	for (size_t i = 0; i < compared->count; i++) {
		add_paths(&compared->changes[i].committed, &paths);
		add_paths(&compared->changes[i].uncommitted, &paths);
		add_paths(&compared->changes[i].untracked, &paths);
	}
	if (paths.count)
		qsort(paths.items, paths.count, sizeof(*paths.items), compare_texts);
	for (size_t i = 0; i < paths.count; i++)
		if (i == 0 || !streq(paths.items[i], paths.items[i - 1]))
			add_row(table, compared, paths.items[i], file_text);
	table_print(table);
	for (size_t i = 0; i < compared->count; i++)
		for (size_t j = 0; j < compared->changes[i].unknown.count; j++)
			complain("%s: not known: %s", compared->headings[i + 1],
				 compared->changes[i].unknown.items[j]);
}

static int compare(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct several_verb verb = { 0 };
	const struct work_order order = { 0 };
	cleanup_several struct several several = { 0 };
	CLEANUP(compared_free) struct compared compared = { .headings = { "FILE" } };
	if (app->json || given->diff)
		return error_set(err, ERROR_USAGE, "--json and --diff take one session");
	if (several_choose(app, &app->operands, &verb, &several, err) < 0)
		return -1;
	if (several.count > COMPARED_MOST)
		return error_set(err, ERROR_USAGE, "at most %d sessions are shown side by side",
				 COMPARED_MOST);
	for (size_t i = 0; i < several.count; i++) {
		cleanup_instance struct instance *instance = NULL;
		compared.headings[i + 1] = several.rows[i]->title;
		if (deck_load(&app->deck, several.rows[i]->base, &instance, err) < 0 ||
		    work_look(&app->deck, instance, &order, &compared.changes[i], err) < 0)
			return -1;
		compared.count++;
		work_keep(&app->deck, instance);
	}
	print_compared(app, &compared);
	return 0;
}

/* ---- the command ---- */

static void print_json_changes(const struct store_row *row, const struct instance *instance,
			       const struct changes *changes, const struct pull_request *request)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "path", instance->workspace->path);
	json_set_string(object, "source", instance->workspace->source);
	json_set(object, "changes", changes_to_json(changes));
	json_set(object, "pull_request", request->number ? forge_to_json(request) : NULL);
	print_json(object);
	json_object_put(object);
}

static int show_diff(const struct changes *changes, struct error *err)
{
	for (size_t i = 0; i < changes->unknown.count; i++)
		complain("not known: %s", changes->unknown.items[i]);
	if (changes->diff_is_cut)
		complain(
			"the differences are too long, and were cut: see the others with git diff");
	return pager_show(or_empty(changes->diff), err);
}

static int cmd_session_changes(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct store_row *row = app->session;
	cleanup_instance struct instance *instance = NULL;
	cleanup_changes struct changes changes = { 0 };
	const bool is_diff = given->diff && !app->json;
	const struct work_order order = { .with_diff = given->diff, .asks_forge = !is_diff };
	if (app->operands.count > 1)
		return compare(app, err);
	if (deck_load(&app->deck, row->base, &instance, err) < 0 ||
	    work_look(&app->deck, instance, &order, &changes, err) < 0)
		return -1;
	work_keep(&app->deck, instance);
	if (is_diff)
		return show_diff(&changes, err);
	const struct pull_request *request = &instance->workspace->seen.request;
	if (app->json)
		print_json_changes(row, instance, &changes, request);
	else
		print_changes(&changes, request);
	return 0;
}

const struct command command_session_changes = {
	.name = "session changes",
	.kind = COMMAND_READS,
	.arguments = "SESSION...",
	.summary = "show what an agent has changed in its worktree or clone",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_changes,
};
