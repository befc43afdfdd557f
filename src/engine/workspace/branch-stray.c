/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Branches that we have made and whose session is gone for good: by their name, or remembered as
 * "COMMIT BRANCH REPOSITORY".
 */
#include "engine/workspace/branch.h"

#include "base/log.h"
#include "driver/git/git.h"
#include "engine/deck/journal.h"
#include "engine/workspace/tree.h"

#include <string.h>
#include <unistd.h>

void branch_strays_free(struct branch_strays *strays)
{
	for (size_t i = 0; i < strays->count; i++) {
		free(strays->items[i].repository);
		branch_fate_free(&strays->items[i].fate);
	}
	free(strays->items);
	*strays = (struct branch_strays){ 0 };
}

/* ---- what is remembered ----------------------------------------------------------------------- */

/* tip: NULL: wherever it is now. */
static bool is_remembered(const struct strvec *journal, const char *repository, const char *name,
			  const char *tip)
{
	cleanup_free char *end = xasprintf(" %s %s", name, repository);
	cleanup_free char *whole = xasprintf("%s%s", or_empty(tip), end);
	for (size_t i = 0; i < journal->count; i++) {
		const char *word = journal->items[i];
		if (streq(tip ? word : word + strcspn(word, " "), whole))
			return true;
	}
	return false;
}

static void add_remembered(const struct strvec *journal, struct strvec *sources)
{
	for (size_t i = 0; i < journal->count; i++) {
		const char *branch = strchr(journal->items[i], ' ');
		const char *source = branch ? strchr(branch + 1, ' ') : NULL;
		if (source && source[1] == '/' && !strvec_contains(sources, source + 1))
			strvec_push(sources, source + 1);
	}
}

/* ---- the repositories ------------------------------------------------------------------------- */

static void add_source(const struct instance *instance, struct strvec *sources)
{
	const struct workspace *workspace = instance ? instance->workspace : NULL;
	if (workspace && !strvec_contains(sources, workspace->source))
		strvec_push(sources, workspace->source);
}

/* The source repositories of all sessions with trees, also of removed ones. */
static int add_sources_of(struct store *store, void *sources, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_trash struct trash trash = { 0 };
	if (store_list(store, &rows, err) < 0 || trash_list(store, &trash, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		cleanup_instance struct instance *instance = NULL;
		if (store_load(store, rows.rows[i].base, &instance, NULL) == 0)
			add_source(instance, sources);
	}
	for (size_t i = 0; i < trash.count; i++)
		add_source(trash.items[i].instance, sources);
	return 0;
}

/* ---- their branches --------------------------------------------------------------------------- */

/* The branch's beginning is not known, so every other ref that has its commits counts. */
static int look_at(const struct deck *deck, const char *repository, const char *name,
		   struct branch_fate *ret, struct error *err)
{
	cleanup_free char *current = NULL;
	if (gitcmd_current_branch(repository, &current, err) < 0)
		return -1;
	struct workspace workspace = {
		.kind = WORKSPACE_WORKTREE,
		.source = (char *)(uintptr_t)repository,
		.branch = (char *)(uintptr_t)name,
		.base_branch = current,
		.made_branch = true,
	};
	const struct instance subject = { .id = (char[]){ "" }, .workspace = &workspace };
	return branch_look(deck, &subject, NULL, ret, err);
}

/* journal: NULL: by their names only. */
static int add_strays_of(const struct deck *deck, const char *repository,
			 const struct strvec *journal, struct branch_strays *strays,
			 struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (gitcmd_list_branches(repository, journal ? "" : TREE_BRANCHES, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		cleanup_branch_fate struct branch_fate fate = { 0 };
		if (journal && !is_remembered(journal, repository, name, NULL))
			continue;
		if (look_at(deck, repository, name, &fate, err) < 0)
			return -1;
		if (!fate.name || fate.has_session ||
		    (journal && !is_remembered(journal, repository, name, fate.tip)))
			continue;
		strays->items = xreallocarray(strays->items, strays->count + 1,
					      sizeof(*strays->items));
		strays->items[strays->count++] = (struct branch_stray){ xstrdup(repository), fate };
		fate = (struct branch_fate){ 0 };
	}
	return 0;
}

int branch_list_strays(const struct deck *deck, const char *directory, struct branch_strays *ret,
		       struct error *err)
{
	cleanup_branch_strays struct branch_strays strays = { 0 };
	cleanup_strvec struct strvec sources = { 0 }, seen = { 0 }, journal = { 0 };
	if (deck_each_profile(deck, add_sources_of, &sources, err) < 0 ||
	    journal_read(deck, JOURNAL_BRANCHES, &journal, err) < 0)
		return -1;
	add_remembered(&journal, &sources);
	if (directory)
		strvec_push(&sources, directory);
	for (size_t i = 0; i < sources.count; i++) {
		cleanup_gitcmd_repository struct gitcmd_repository found = { 0 };
		cleanup_error struct error why = { 0 };
		const char *source = sources.items[i];
		/* We touch no branch of a repository that is gone, or that git refuses. */
		if (access(source, F_OK) != 0 || gitcmd_find(source, &found, &why) != 0)
			continue;
		if (journal.count && add_strays_of(deck, source, &journal, &strays, err) < 0)
			return error_prefix(err, "%s", source);
		if (strvec_contains(&seen, found.common))
			continue;
		strvec_push(&seen, found.common);
		const char *where = found.top ? found.top : found.common;
		if (add_strays_of(deck, where, NULL, &strays, err) < 0)
			return error_prefix(err, "%s", where);
	}
	*ret = strays;
	strays = (struct branch_strays){ 0 };
	return 0;
}

int branch_delete_stray(struct deck *deck, const struct branch_stray *stray, struct error *err)
{
	cleanup_branch_fate struct branch_fate now = { 0 };
	cleanup_strvec struct strvec journal = { 0 };
	if (look_at(deck, stray->repository, stray->fate.name, &now, err) < 0 ||
	    journal_read(deck, JOURNAL_BRANCHES, &journal, err) < 0)
		return -1;
	if (!now.name)
		return 0;
	cleanup_free char *shown = visible(now.name);
	const bool is_ours = starts_with(now.name, TREE_BRANCHES) ||
			     is_remembered(&journal, stray->repository, now.name, now.tip);
	if (!now.goes || !is_ours) {
		deck_warn(deck, "the branch %s stays: %s", shown,
			  is_ours ? now.why : "it has changed since its session ended");
		return BRANCH_KEPT;
	}
	log_info("deleting the branch %s at %s, which has no session: %s", shown, now.tip, now.why);
	return gitcmd_delete_branch(stray->repository, now.name, now.tip, err);
}
