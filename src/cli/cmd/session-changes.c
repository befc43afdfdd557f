/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/pager.h"
#include "engine/deck/hint.h"
#include "engine/workspace/tree.h"

#include <inttypes.h>

struct options {
	bool diff;
};

static const struct command_option options[] = {
	{ 'd', "diff", NULL, "the differences, line by line", TO_FLAG(diff) },
	{ 0 },
};

enum { COMMITS_SHOWN = 20, ID_SHOWN = 9 };

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

static void print_changes(const struct changes *changes)
{
	const int64_t count = (int64_t)changes->commit_count + changes->more_commits;
	cleanup_free char *commits = count_text(count, "commit");
	cleanup_free char *merged = changes_merged_text(changes);
	printf("%s: %s%s%s\n", changes->branch ? changes->branch : "no branch",
	       count ? commits : "no commits", count ? ", " : "", count ? merged : "");
	print_commits(changes);
	print_upstream(changes);
	print_files("committed", &changes->committed);
	print_files("not committed", &changes->uncommitted);
	print_files("untracked", &changes->untracked);
	for (size_t i = 0; i < changes->unknown.count; i++)
		printf("not known: %s\n", changes->unknown.items[i]);
}

/* ---- the command ---- */

static void print_json_changes(const struct store_row *row, const struct instance *instance,
			       const struct changes *changes)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "path", instance->workspace->path);
	json_set_string(object, "source", instance->workspace->source);
	json_set(object, "changes", changes_to_json(changes));
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
	if (deck_load(&app->deck, row->base, &instance, err) < 0 ||
	    tree_changes(&app->deck, instance, given->diff, &changes, err) < 0)
		return -1;
	if (app->json)
		print_json_changes(row, instance, &changes);
	else if (given->diff)
		return show_diff(&changes, err);
	else
		print_changes(&changes);
	return 0;
}

const struct command command_session_changes = {
	.name = "session changes",
	.kind = COMMAND_READS,
	.arguments = "SESSION",
	.summary = "show what an agent has changed in its worktree or clone",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_changes,
};
