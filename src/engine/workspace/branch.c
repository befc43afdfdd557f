/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/branch.h"

#include "base/log.h"
#include "driver/assess/assess.h"
#include "driver/git/git.h"
#include "engine/deck/journal.h"
#include "engine/workspace/tree.h"

#include <string.h>
#include <unistd.h>

void branch_fate_free(struct branch_fate *fate)
{
	free(fate->name);
	free(fate->tip);
	free(fate->why);
	*fate = (struct branch_fate){ 0 };
}

/* Looks for sessions whose tree may be made again from the branch. */
struct search {
	const struct instance *instance; /* of the branch */
	const struct trash *going;       /* or NULL */
	char *user;                      /* found: for people */
	bool is_certain;                 /* it has it, not only may */
};

/* Their paths may differ.  One that cannot be found may be the same. */
static bool is_same_repository(const char *a, const char *b)
{
	cleanup_gitcmd_repository struct gitcmd_repository one = { 0 }, other = { 0 };
	return streq(a, b) || gitcmd_find(a, &one, NULL) != 0 ||
	       gitcmd_find(b, &other, NULL) != 0 || streq(one.common, other.common);
}

/* other: NULL: it cannot be read. */
static void compare(struct search *search, const struct instance *other, const char *base,
		    const char *what)
{
	const struct instance *instance = search->instance;
	const struct workspace *ours = instance->workspace;
	const struct workspace *theirs = other ? other->workspace : NULL;
	if (other &&
	    (!theirs || streq(other->id, instance->id) || !streq(theirs->branch, ours->branch) ||
	     !is_same_repository(theirs->source, ours->source)))
		return;
	search->is_certain = other != NULL;
	cleanup_free char *title = visible(other ? other->title : base);
	search->user = other ? xasprintf("%s %s has it", what, title)
			     : xasprintf("%s %s cannot be read, and may have it", what, title);
}

static bool is_going(const struct search *search, const struct store *store,
		     const struct removed *removed)
{
	for (size_t i = 0; search->going && i < search->going->count; i++)
		if (streq(search->going->items[i].name, removed->name))
			return streq(store_profile(store), search->instance->profile);
	return false;
}

/* SEARCH_OVER: it is found. */
enum { SEARCH_OVER = 1 };
static int search_profile(struct store *store, void *context, struct error *err)
{
	struct search *search = context;
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_trash struct trash trash = { 0 };
	if (store_list(store, &rows, err) < 0 || trash_list(store, &trash, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count && !search->user; i++) {
		cleanup_instance struct instance *other = NULL;
		if (store_load(store, rows.rows[i].base, &other, NULL) <= 0)
			compare(search, other, rows.rows[i].base, "session");
	}
	for (size_t i = 0; i < trash.count && !search->user; i++) {
		const struct removed *removed = trash.items + i;
		if (!removed->is_rest && !is_going(search, store, removed))
			compare(search, removed->instance, removed->base, "the removed session");
	}
	return search->user ? SEARCH_OVER : 0;
}

static const char *short_name(const char *ref)
{
	const char *slash = strchr(ref + strlen("refs/"), '/');
	return slash ? slash + 1 : ref;
}

/* The ref that keeps its commits, or NULL.  Borrowed. */
static const char *keeper_of(const struct workspace *workspace, const struct gitcmd_branch *branch)
{
	cleanup_free char *base = xasprintf("refs/heads/%s", or_empty(workspace->base_branch));
	const char *any = NULL;
	const bool is_base = !workspace->base || streq(branch->tip, workspace->base);
	for (size_t i = 0; i < branch->holders.count; i++) {
		const char *ref = branch->holders.items[i];
		if (streq(ref, base) || (branch->upstream && streq(ref, branch->upstream)))
			return ref;
		/* Without its session, another one of ours may go with it. */
		if (workspace->base || !starts_with(ref, "refs/heads/" TREE_BRANCHES))
			any = ref;
	}
	return is_base ? any : NULL;
}

/* A squash merge, after which the remote has deleted the branch. */
static bool is_squashed(const struct workspace *workspace, const struct gitcmd_branch *branch)
{
	cleanup_verdict struct verdict verdict = { 0 };
	const struct origin origin = {
		.kind = ORIGIN_WORKTREE,
		.source = workspace->source,
		.path = workspace->source,
		.branch = workspace->branch,
		.base = branch->tip,
		.made_branch = true,
	};
	if (!branch->is_upstream_gone)
		return false;
	assess_branch(&origin, ASSESS_TIMEOUT_MS, &verdict);
	return verdict_is_safe(&verdict) && verdict_has(&verdict, FINDING_MERGED);
}

static void decide(const struct search *search, const struct gitcmd_branch *branch,
		   struct branch_fate *ret)
{
	const struct workspace *workspace = search->instance->workspace;
	const char *user = search->user;
	const char *keeper = keeper_of(workspace, branch);
	const bool is_free = !user && !branch->is_used;
	const bool is_merged = is_free && !keeper && is_squashed(workspace, branch);
	ret->name = xstrdup(workspace->branch);
	ret->tip = xstrdup(branch->tip);
	ret->has_commits = !workspace->base || !streq(branch->tip, workspace->base);
	ret->has_session = user && search->is_certain;
	if (user)
		ret->why = xstrdup(user);
	else if (branch->is_used)
		ret->why = xstrdup("it is checked out, or in a rebase or bisection");
	else if (is_merged)
		ret->why = xasprintf("%s is gone, and the default branch has its content, under "
				     "other commits",
				     short_name(branch->upstream));
	else if (!keeper)
		ret->why = xasprintf("it is not merged into %s",
				     branch->upstream && !branch->is_upstream_gone
					     ? short_name(branch->upstream)
				     : workspace->base_branch ? workspace->base_branch
							      : "another branch");
	else
		ret->why = xasprintf("%s has all of it", short_name(keeper));
	ret->goes = is_merged || (keeper && is_free);
}

int branch_look(const struct deck *deck, const struct instance *instance, const struct trash *going,
		struct branch_fate *ret, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_gitcmd_branch struct gitcmd_branch branch = { 0 };
	struct search search = { .instance = instance, .going = going };
	if (!workspace || !workspace->made_branch || access(workspace->source, F_OK) != 0)
		return 0;
	if (gitcmd_look_at_branch(workspace->source, workspace->branch, workspace->path, &branch,
				  err) < 0 ||
	    deck_each_profile(deck, search_profile, &search, err) < 0)
		return error_prefix(err, "branch %s", workspace->branch);
	if (branch.tip)
		decide(&search, &branch, ret);
	free(search.user);
	return 0;
}

/* Remember a branch that stays, and whose name no list of branches shows to be ours. */
static void branch_remember(const struct deck *deck, const struct workspace *workspace)
{
	cleanup_free char *tip = NULL;
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error why = { 0 };
	if (!workspace || !workspace->made_branch ||
	    starts_with(workspace->branch, TREE_BRANCHES) ||
	    gitcmd_find_branch(workspace->source, workspace->branch, &tip, &why) != 0)
		return;
	strvec_pushf(&words, "%s %s %s", tip, workspace->branch, workspace->source);
	if (journal_add(deck, JOURNAL_BRANCHES, &words, &why) < 0)
		log_warning("the branch %s is not remembered: %s", workspace->branch, why.message);
}

int branch_delete(struct deck *deck, const struct instance *instance, enum branches_wish wish,
		  struct error *err)
{
	cleanup_branch_fate struct branch_fate fate = { 0 };
	if (wish != BRANCHES_STAY && branch_look(deck, instance, NULL, &fate, err) < 0)
		return -1;
	const bool is_wished = fate.name && (!fate.has_commits || wish == BRANCHES_MERGED);
	cleanup_free char *shown = visible(or_empty(fate.name));
	if (is_wished && !fate.goes)
		deck_warn(deck, "the branch %s stays: %s", shown, fate.why);
	if (!is_wished || !fate.goes) {
		branch_remember(deck, instance->workspace);
		return 0;
	}
	log_info("deleting the branch %s at %s: %s", shown, fate.tip, fate.why);
	return gitcmd_delete_branch(instance->workspace->source, fate.name, fate.tip, err);
}
