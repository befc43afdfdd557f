/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Branches with a name of ours whose session is gone for good.
 */
#include "engine/workspace/branch.h"

#include "base/log.h"
#include "driver/git/git.h"
#include "engine/workspace/tree.h"

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

static int add_strays_of(const struct deck *deck, const char *repository,
			 struct branch_strays *strays, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (gitcmd_list_branches(repository, TREE_BRANCHES, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_branch_fate struct branch_fate fate = { 0 };
		if (look_at(deck, repository, names.items[i], &fate, err) < 0)
			return -1;
		if (!fate.name || fate.has_session)
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
	cleanup_strvec struct strvec sources = { 0 }, seen = { 0 };
	if (deck_each_profile(deck, add_sources_of, &sources, err) < 0)
		return -1;
	if (directory)
		strvec_push(&sources, directory);
	for (size_t i = 0; i < sources.count; i++) {
		cleanup_gitcmd_repository struct gitcmd_repository found = { 0 };
		cleanup_error struct error why = { 0 };
		const char *source = sources.items[i];
		/* One that is gone, or that git refuses, has no branch that we would touch. */
		if (access(source, F_OK) != 0 || gitcmd_find(source, &found, &why) != 0 ||
		    strvec_contains(&seen, found.common))
			continue;
		strvec_push(&seen, found.common);
		const char *where = found.top ? found.top : found.common;
		if (add_strays_of(deck, where, &strays, err) < 0)
			return error_prefix(err, "%s", where);
	}
	*ret = strays;
	strays = (struct branch_strays){ 0 };
	return 0;
}

int branch_delete_stray(struct deck *deck, const struct branch_stray *stray, struct error *err)
{
	cleanup_branch_fate struct branch_fate now = { 0 };
	if (look_at(deck, stray->repository, stray->fate.name, &now, err) < 0)
		return -1;
	if (!now.name)
		return 0;
	cleanup_free char *shown = visible(now.name);
	if (!now.goes) {
		deck_warn(deck, "the branch %s stays: %s", shown, now.why);
		return BRANCH_KEPT;
	}
	log_info("deleting the branch %s at %s, which has no session: %s", shown, now.tip, now.why);
	return gitcmd_delete_branch(stray->repository, now.name, now.tip, err);
}
