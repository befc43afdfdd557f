/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/git/cargo.h"
#include "driver/git/git.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/tree-internal.h"
#include "engine/workspace/tree.h"

#include <string.h>
#include <unistd.h>

enum { KEPT_MOST = 99 };

static int refuse(const struct instance *instance, const char *why, struct error *err)
{
	cleanup_free char *title = visible(instance->title);
	return error_set(
		err, ERROR_INVALID,
		"session '%s' cannot move with its tree: %s. Without --with-tree, the tree "
		"stays where it is",
		title, why);
}

/* The commits, the files and the stashes come along; the log of a branch stays, as the tree does. */
static bool comes_along(const struct finding *finding)
{
	return !finding_is_loss(finding->kind) ||
	       (!*finding->where &&
		(finding->kind == FINDING_FILE || finding->kind == FINDING_STASH ||
		 finding->kind == FINDING_BRANCH || finding->kind == FINDING_REFLOG));
}

static int check_verdict(const struct deck *deck, const struct instance *instance,
			 struct error *err)
{
	cleanup_verdict struct verdict verdict = { 0 }, rest = { 0 };
	const int r = tree_judge(deck, instance, &verdict, err);
	if (r != 0)
		return r < 0 ? -1 : refuse(instance, "the tree is gone", err);
	for (size_t i = 0; i < verdict.count; i++) {
		const struct finding *finding = &verdict.findings[i];
		if (!comes_along(finding))
			verdict_add(&rest, finding->kind, finding->where, finding->name,
				    finding->detail);
	}
	cleanup_free char *line = verdict_line(&rest);
	const size_t length = strlen(line);
	if (length && line[length - 1] == ';')
		line[length - 1] = '\0';
	return verdict_is_safe(&rest) ? 0 : refuse(instance, line, err);
}

/* What these store beside the objects is not sent. */
static int check_content(const struct instance *instance, struct error *err)
{
	static const char *const stores[][2] = { { "lfs/objects", "Git LFS" },
						 { "annex", "git-annex" } };
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	if (gitcmd_find(instance->workspace->source, &repository, err) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++) {
		cleanup_free char *path = path_join(repository.common, stores[i][0]);
		cleanup_free char *why = xasprintf(
			"its repository has files of %s, which do not come along", stores[i][1]);
		if (access(path, F_OK) == 0)
			return refuse(instance, why, err);
	}
	return 0;
}

/* For what is needed for a while. */
static char *place_of(const struct deck *deck, const struct instance *instance)
{
	return xasprintf("%s/%s/" TREE_ALL "/%s", deck->paths.state, deck->profile, instance->id);
}

/* The tree as cargo, with its own branch checked out and nothing in progress.  *record: the caller
 * frees. */
static int find(const struct deck *deck, const struct instance *instance, int records, char **place,
		char **record, struct cargo_tree *ret, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	const struct gitcmd_linked linked = inside_linked(instance);
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	if (gitcmd_mend_record(&linked, record, err) < 0 ||
	    gitcmd_look_at_worktree(&linked, &found, err) < 0)
		return -1;
	cleanup_free char *state = found.state ? xasprintf("it is in the middle of %s", found.state)
					       : NULL;
	cleanup_free char *other = xasprintf("it does not have %s checked out", workspace->branch);
	if (!*record)
		return refuse(instance, "git has no record of it", err);
	if (state || !found.branch || !streq(found.branch, workspace->branch))
		return refuse(instance, state ? state : other, err);
	*place = place_of(deck, instance);
	*ret = (struct cargo_tree){ .source = workspace->source,
				    .path = workspace->path,
				    .record = *record,
				    .branch = workspace->branch,
				    .base = workspace->base,
				    .desk = records,
				    .place = *place };
	return 0;
}

static int check_kind(const struct instance *instance, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	if (!workspace)
		return refuse(instance, "it has no tree to itself", err);
	if (workspace->kind != WORKSPACE_WORKTREE)
		return refuse(instance,
			      "that is a clone; agentdeck session merge brings its commits into "
			      "your repository",
			      err);
	return 0;
}

static int pack(const struct deck *deck, const struct instance *instance, char **ret,
		struct error *err)
{
	cleanup_free char *place = NULL, *record = NULL;
	cleanup_close int records = -1;
	struct cargo_tree tree;
	return tree_open(deck, instance->id, true, &records, err) < 0 ||
			       find(deck, instance, records, &place, &record, &tree, err) < 0
		       ? -1
		       : cargo_pack(&tree, ret, err);
}

int tree_pack(const struct deck *deck, struct instance *instance, char **ret_directory,
	      struct error *err)
{
	struct workspace *workspace = instance->workspace;
	cleanup_free char *commit = NULL;
	if (check_kind(instance, err) < 0 || check_verdict(deck, instance, err) < 0 ||
	    check_content(instance, err) < 0 || pack(deck, instance, &commit, err) < 0)
		return -1;
	const char *directory = instance_lookup_directory(instance);
	const char *below = path_is_below(directory, workspace->path)
				    ? directory + strlen(workspace->path)
				    : "";
	replace_string(&workspace->carried, commit);
	*ret_directory = xasprintf("%s%s", workspace->source, below);
	return 0;
}

/* Since it left, its user may have worked in it. */
static int check_unchanged(const struct deck *deck, const struct instance *instance,
			   struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_free char *commit = NULL, *shown = visible(workspace->path);
	if (workspace->arriving)
		return 0;
	if (pack(deck, instance, &commit, err) < 0)
		return -1;
	if (streq(commit, or_empty(workspace->carried)))
		return 0;
	return error_set(
		err, ERROR_EXISTS,
		"the tree %s was changed since the session left it: commit that on another "
		"branch, or stash it, and put the tree back; or move the session without "
		"--with-tree",
		shown);
}

static int lay(const struct deck *deck, const struct instance *instance, const struct cargo *cargo,
	       bool is_again, struct error *err)
{
	cleanup_free char *place = NULL, *record = NULL;
	cleanup_close int records = -1;
	struct cargo_tree tree;
	return tree_open(deck, instance->id, true, &records, err) < 0 ||
			       find(deck, instance, records, &place, &record, &tree, err) < 0
		       ? -1
		       : cargo_lay(&tree, cargo, is_again, err);
}

int tree_check_out(const struct deck *deck, const struct instance *instance, struct error *err)
{
	cleanup_free char *place = NULL, *record = NULL;
	cleanup_close int records = -1;
	struct cargo_tree tree;
	return tree_open(deck, instance->id, true, &records, err) < 0 ||
			       find(deck, instance, records, &place, &record, &tree, err) < 0
		       ? -1
		       : cargo_check_out(&tree, err);
}

int tree_unpack(struct deck *deck, struct store_lock *lock, struct instance *instance,
		const char *commit, struct error *err)
{
	cleanup_cargo struct cargo cargo = { 0 };
	if (check_kind(instance, err) < 0)
		return -1;
	struct workspace *workspace = instance->workspace;
	if (cargo_read(workspace->source, commit, &cargo, err) < 0 ||
	    check_unchanged(deck, instance, err) < 0)
		return -1;
	/* A commit that was amended or rebased since is not over here. */
	bool has_base = false;
	if (!workspace->carried && cargo_comes_from(workspace->source, &cargo, &has_base, err) < 0)
		return -1;
	/* Where its work began, as the other end knows it. */
	if (has_base)
		replace_string(&workspace->base, cargo.base);
	log_info("the tree becomes %s; it was %s", commit, or_empty(workspace->carried));
	/* A tree that was made just now is empty of what git ignores. */
	const bool is_again = streq(commit, or_empty(workspace->arriving));
	replace_string(&workspace->arriving, commit);
	if (store_save(lock, instance, err) < 0 || lay(deck, instance, &cargo, is_again, err) < 0)
		return -1;
	replace_string(&workspace->carried, commit);
	replace_string(&workspace->arriving, NULL);
	return store_save(lock, instance, err);
}

/* Each return has a branch, unless it brings what an earlier one brought. */
static int keep(const struct cargo_tree *tree, const struct cargo *cargo, const char *host,
		char **ret, struct error *err)
{
	for (int i = 1; i <= KEPT_MOST; i++) {
		cleanup_free char *number = i > 1 ? xasprintf("-%d", i) : NULL;
		cleanup_free char *branch = xasprintf("%s-from-%s%s", tree->branch, host,
						      or_empty(number));
		if (gitcmd_check_branch(branch, err) < 0)
			return -1;
		const int r = cargo_keep(tree, cargo, branch, err);
		if (r == 0)
			*ret = TAKE_PTR(branch);
		if (r <= 0)
			return r;
	}
	return error_set(err, ERROR_EXISTS,
			 "%s has %d branches of earlier returns from %s: delete those that you do "
			 "not need, or move it without --with-tree",
			 tree->source, KEPT_MOST, host);
}

int tree_keep(const struct deck *deck, const struct instance *instance, const char *commit,
	      const char *host, char **ret, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_cargo struct cargo cargo = { 0 };
	cleanup_close int records = -1;
	if (check_kind(instance, err) < 0 ||
	    cargo_read(workspace->source, commit, &cargo, err) < 0 ||
	    tree_open(deck, instance->id, true, &records, err) < 0)
		return -1;
	cleanup_free char *place = place_of(deck, instance);
	/* Only the repository is written: the tree can have anything checked out. */
	const struct cargo_tree tree = { .source = workspace->source,
					 .path = workspace->source,
					 .branch = workspace->branch,
					 .desk = records,
					 .place = place };
	return keep(&tree, &cargo, host, ret, err);
}

int tree_find_repository(const char *directory, char **ret, struct error *err)
{
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	cleanup_free char *shown = visible(directory);
	const int r = gitcmd_find(directory, &repository, err);
	if (r < 0)
		return error_prefix(err, "%s", shown);
	if (r == GIT_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not in a Git repository there: clone it first, or say "
				 "where it is with --path",
				 shown);
	*ret = xstrdup(repository.top ? repository.top : repository.common);
	return 0;
}
