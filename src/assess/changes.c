/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/changes.h"

#include "assess/merged.h"
#include "assess/open.h"
#include "assess/survivors.h"
#include "base/fsutil.h"

#include <string.h>

/* Larger files are not compared line by line. */
enum { COMPARED_MOST = 4 << 20, FEW_PATHS = 1000 };

static struct changes *changes_of(const struct repository *repository)
{
	return repository->look->changes;
}

static char *path_in_tree(const struct repository *repository, const char *path)
{
	return *repository->where ? path_join(repository->where, path) : xstrdup(path);
}

void changes_note_file(const struct repository *repository, const char *code, const char *path)
{
	struct changes *changes = changes_of(repository);
	cleanup_free char *whole = path_in_tree(repository, path);
	changes_add_file(streq(code, "??") ? &changes->untracked : &changes->uncommitted, whole,
			 code);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *path_of(const git_diff_delta *delta)
{
	return delta->new_file.path ? delta->new_file.path : delta->old_file.path;
}

static struct changed_file *find_file(struct changed_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (streq(files->items[i].path, path))
			return &files->items[i];
	return NULL;
}

static void add_text(struct look *look, git_patch *patch)
{
	struct changes *changes = look->changes;
	git_buf text = GIT_BUF_INIT;
	if (!look->diff || changes->diff_is_cut)
		return;
	if (look->diff->length + git_patch_size(patch, 1, 1, 1) > CHANGES_DIFF_MOST)
		changes->diff_is_cut = true;
	else if (git_patch_to_buf(&text, patch) == 0)
		changes_add_clean(look->diff, text.ptr);
	git_buf_dispose(&text);
}

static void add_heading(struct look *look, const char *text)
{
	if (look->diff)
		strbuf_addf(look->diff, "%s# %s:\n", look->diff->length ? "\n" : "", text);
}

/* file: NULL if it is not listed. */
static void take_patch(struct look *look, git_patch *patch, struct changed_file *file)
{
	size_t added = 0, removed = 0;
	/* libgit2 knows this only after it has read the content, as it has now. */
	const bool is_binary = git_patch_get_delta(patch)->flags & GIT_DIFF_FLAG_BINARY;
	if (file && !is_binary && git_patch_line_stats(NULL, &added, &removed, patch) == 0) {
		file->added = (int64_t)added;
		file->removed = (int64_t)removed;
	}
	if (file)
		file->is_binary = is_binary;
	add_text(look, patch);
}

static git_diff_options options_of(struct strvec *paths)
{
	git_diff_options options;
	(void)git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	options.flags = GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS |
			GIT_DIFF_SHOW_UNTRACKED_CONTENT | GIT_DIFF_DISABLE_PATHSPEC_MATCH |
			GIT_DIFF_IGNORE_SUBMODULES | GIT_DIFF_INCLUDE_TYPECHANGE;
	options.max_size = COMPARED_MOST;
	if (paths) {
		options.pathspec.strings = paths->items;
		options.pathspec.count = paths->count;
	}
	return options;
}

/* Append the changed paths inside this repository, relative to it. */
static void add_paths(const struct repository *repository, const struct changed_files *files,
		      struct strvec *ret)
{
	const size_t length = strlen(repository->where);
	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->items[i].path;
		if (!length)
			strvec_push(ret, path);
		else if (starts_with(path, repository->where) && path[length] == '/')
			strvec_push(ret, path + length + 1);
	}
}

static git_tree *head_tree(git_repository *git)
{
	git_object *tree = NULL;
	return git_revparse_single(&tree, git, "HEAD^{tree}") == 0 ? (git_tree *)tree : NULL;
}

static void count_deltas(const struct repository *repository, git_diff *diff)
{
	struct changes *changes = changes_of(repository);
	const size_t count = git_diff_num_deltas(diff);
	for (size_t i = 0; i < count && !look_is_over(repository->look); i++) {
		cleanup_free char *whole = path_in_tree(repository,
							path_of(git_diff_get_delta(diff, i)));
		cleanup_free char *shown = visible(whole);
		struct changed_file *file = find_file(&changes->uncommitted, shown);
		git_patch *patch = NULL;
		if (!file)
			file = find_file(&changes->untracked, shown);
		if (file && git_patch_from_diff(&patch, diff, i) == 0 && patch)
			take_patch(repository->look, patch, file);
		git_patch_free(patch);
	}
}

void changes_count_lines(const struct repository *repository)
{
	struct changes *changes = changes_of(repository);
	cleanup_strvec struct strvec paths = { 0 };
	git_diff *diff = NULL;
	add_paths(repository, &changes->uncommitted, &paths);
	add_paths(repository, &changes->untracked, &paths);
	if (!paths.count)
		return;
	add_heading(repository->look, "not committed");
	git_diff_options options = options_of(&paths);
	git_tree *tree = head_tree(repository->git);
	if (git_diff_tree_to_workdir_with_index(&diff, repository->git, tree, &options) < 0)
		look_failed(repository, "its files cannot be compared");
	else
		count_deltas(repository, diff);
	git_diff_free(diff);
	git_tree_free(tree);
}

/* ---- commits --------------------------------------------------------------------------------- */

struct points {
	git_oid head, base, target;
	bool has_base, has_target;
	struct commits defaults; /* where the work may have been merged to */
};

static char *hex(const git_oid *oid)
{
	char text[GIT_OID_HEXSZ + 1];
	return xstrdup(git_oid_tostr(text, sizeof(text), oid));
}

static void find_target(const struct repository *repository, struct points *points)
{
	const char *into = repository->look->origin.into;
	cleanup_git git_repository *source = NULL;
	git_reference *head = NULL;
	if (open_other(repository->look->source_common, &source) < 0)
		return;
	cleanup_free char *name = into ? xasprintf("refs/heads/%s", into) : xstrdup("HEAD");
	points->has_target = git_reference_name_to_id(&points->target, source, name) == 0;
	if (into)
		changes_of(repository)->into = visible(into);
	else if (git_repository_head(&head, source) == 0)
		changes_of(repository)->into = visible(git_reference_shorthand(head));
	git_reference_free(head);
}

static bool is_in(git_repository *git, const git_oid *commit, const git_oid *head)
{
	return git_oid_equal(commit, head) || git_graph_descendant_of(git, head, commit) == 1;
}

static enum changes_merged merged_of(const struct repository *repository,
				     const struct points *points)
{
	if (!points->defaults.count)
		return MERGED_UNKNOWN;
	for (size_t i = 0; i < points->defaults.count; i++)
		if (is_in(repository->git, &points->head, &points->defaults.oids[i]))
			return MERGED_YES;
	return merged_into(repository, &points->head, &points->defaults) ? MERGED_SQUASHED
									 : MERGED_NO;
}

/* Where it left the target, unless it began later, on another branch. */
static void find_base(const struct repository *repository, struct points *points)
{
	const char *recorded = repository->look->origin.base;
	git_oid begin, common;
	const bool has_begin = recorded && git_oid_fromstr(&begin, recorded) == 0 &&
			       git_merge_base(&begin, repository->git, &begin, &points->head) == 0;
	const bool has_common = points->has_target &&
				changes_of(repository)->merged != MERGED_YES &&
				git_merge_base(&common, repository->git, &points->head,
					       &points->target) == 0;
	points->has_base = has_begin || has_common;
	if (points->has_base)
		points->base = has_common && (!has_begin || is_in(repository->git, &begin, &common))
				       ? common
				       : begin;
}

static void add_commit(const struct repository *repository, const git_oid *oid)
{
	struct changes *changes = changes_of(repository);
	git_commit *commit = NULL;
	if (changes->commit_count >= CHANGES_COMMITS_MOST) {
		changes->more_commits++;
		return;
	}
	const char *subject = git_commit_lookup(&commit, repository->git, oid) == 0
				      ? git_commit_summary(commit)
				      : NULL;
	changes->commits = xreallocarray(changes->commits, changes->commit_count + 1,
					 sizeof(*changes->commits));
	changes->commits[changes->commit_count++] = (struct changed_commit){
		.id = hex(oid),
		.subject = visible(or_empty(subject)),
	};
	git_commit_free(commit);
}

static void list_commits(const struct repository *repository, const struct points *points)
{
	git_revwalk *walk = NULL;
	git_oid oid;
	int r = git_revwalk_new(&walk, repository->git);
	if (r == 0)
		r = git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
	if (r == 0)
		r = git_revwalk_push(walk, &points->head);
	if (r == 0 && points->has_base)
		r = git_revwalk_hide(walk, &points->base);
	if (r == 0 && points->has_target && changes_of(repository)->merged != MERGED_YES)
		r = git_revwalk_hide(walk, &points->target);
	while (r == 0 && !look_is_over(repository->look) && (r = git_revwalk_next(&oid, walk)) == 0)
		add_commit(repository, &oid);
	git_revwalk_free(walk);
	if (r < 0 && r != GIT_ITEROVER)
		look_failed(repository, "its commits cannot be listed");
}

static char letter_of(const git_diff_delta *delta)
{
	return git_diff_status_char(delta->status);
}

static void take_files(const struct repository *repository, git_diff *diff)
{
	struct changes *changes = changes_of(repository);
	const size_t count = git_diff_num_deltas(diff);
	if (count)
		add_heading(repository->look, "committed");
	for (size_t i = 0; i < count && !look_is_over(repository->look); i++) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i);
		const char status[] = { letter_of(delta), '\0' };
		const size_t before = changes->committed.count;
		git_patch *patch = NULL;
		changes_add_file(&changes->committed, path_of(delta), status);
		if (git_patch_from_diff(&patch, diff, i) == 0 && patch)
			take_patch(repository->look, patch,
				   changes->committed.count > before
					   ? &changes->committed.items[before]
					   : NULL);
		git_patch_free(patch);
	}
}

static git_tree *tree_of(git_repository *git, const git_oid *oid)
{
	git_commit *commit = NULL;
	git_tree *tree = NULL;
	if (git_commit_lookup(&commit, git, oid) == 0)
		(void)git_commit_tree(&tree, commit);
	git_commit_free(commit);
	return tree;
}

/* False: there are too many. */
static bool add_differences(git_repository *git, const git_tree *const trees[2], const char *prefix,
			    int depth, struct strvec *ret);

static bool add_difference(git_repository *git, const git_tree_entry *one,
			   const git_tree_entry *other, const char *path, int depth,
			   struct strvec *ret)
{
	git_tree *trees[2] = { NULL, NULL };
	bool is_done = true;
	if (git_oid_equal(git_tree_entry_id(one), git_tree_entry_id(other)) &&
	    git_tree_entry_filemode(one) == git_tree_entry_filemode(other))
		return true;
	if (git_tree_entry_type(one) != GIT_OBJECT_TREE ||
	    git_tree_entry_type(other) != GIT_OBJECT_TREE) {
		strvec_push(ret, path);
		return true;
	}
	cleanup_free char *prefix = xasprintf("%s/", path);
	is_done = git_tree_lookup(&trees[0], git, git_tree_entry_id(one)) == 0 &&
		  git_tree_lookup(&trees[1], git, git_tree_entry_id(other)) == 0 &&
		  add_differences(git, (const git_tree *const *)trees, prefix, depth + 1, ret);
	git_tree_free(trees[0]);
	git_tree_free(trees[1]);
	return is_done;
}

/* The entries that two trees have differently.  libgit2 would read every directory of both, also
 * those that are the same. */
static bool add_differences(git_repository *git, const git_tree *const trees[2], const char *prefix,
			    int depth, struct strvec *ret)
{
	bool is_done = depth < LOOK_DIRECTORIES_DEEP;
	for (size_t side = 0; side < 2; side++) {
		const git_tree *tree = trees[side], *other = trees[!side];
		for (size_t i = 0; is_done && i < git_tree_entrycount(tree); i++) {
			const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
			const char *name = git_tree_entry_name(entry);
			const git_tree_entry *match = git_tree_entry_byname(other, name);
			cleanup_free char *path = xasprintf("%s%s", prefix, name);
			if (!match)
				strvec_push(ret, path);
			else if (side == 0)
				is_done = add_difference(git, entry, match, path, depth, ret);
			is_done &= ret->count <= FEW_PATHS;
		}
	}
	return is_done;
}

static void list_files(const struct repository *repository, const struct points *points)
{
	cleanup_strvec struct strvec paths = { 0 };
	git_tree *after = tree_of(repository->git, &points->head);
	git_tree *before = points->has_base ? tree_of(repository->git, &points->base) : NULL;
	const git_tree *const both[] = { before, after };
	git_diff *diff = NULL;
	const bool are_few = before && after &&
			     add_differences(repository->git, both, "", 0, &paths);
	git_diff_options options = options_of(are_few ? &paths : NULL);
	/* Between two commits no submodule is opened. */
	options.flags &= ~(uint32_t)GIT_DIFF_IGNORE_SUBMODULES;
	const bool are_same = are_few && !paths.count;
	if (!after || (points->has_base && !before) ||
	    (!are_same &&
	     git_diff_tree_to_tree(&diff, repository->git, before, after, &options) < 0))
		look_failed(repository, "its commits cannot be compared");
	else if (diff)
		take_files(repository, diff);
	git_diff_free(diff);
	git_tree_free(before);
	git_tree_free(after);
}

static void add_upstream(const struct repository *repository, const char *ref,
			 const struct points *points)
{
	struct changes *changes = changes_of(repository);
	git_buf name = GIT_BUF_INIT;
	git_oid oid;
	size_t ahead = 0, behind = 0;
	if (git_branch_upstream_name(&name, repository->git, ref) < 0)
		return;
	const char *prefix = "refs/remotes/";
	changes->upstream.name = visible(starts_with(name.ptr, prefix) ? name.ptr + strlen(prefix)
								       : name.ptr);
	changes->upstream.is_gone = git_reference_name_to_id(&oid, repository->git, name.ptr) < 0;
	if (!changes->upstream.is_gone &&
	    git_graph_ahead_behind(&ahead, &behind, repository->git, &points->head, &oid) < 0)
		look_failed(repository, "its upstream cannot be compared");
	changes->upstream.ahead = (int64_t)ahead;
	changes->upstream.behind = (int64_t)behind;
	git_buf_dispose(&name);
}

/* HEAD, or the branch of a tree that is gone.  NULL: a detached HEAD.  The caller frees. */
static char *ref_of(const struct repository *repository)
{
	git_reference *head = NULL;
	if (!repository->path)
		return xasprintf("refs/heads/%s", or_empty(repository->look->origin.branch));
	char *name = git_reference_lookup(&head, repository->git, "HEAD") == 0 &&
				     git_reference_type(head) == GIT_REFERENCE_SYMBOLIC
			     ? xstrdup(git_reference_symbolic_target(head))
			     : NULL;
	git_reference_free(head);
	return name;
}

static void add_all(const struct repository *repository, const char *ref, struct points *points)
{
	struct changes *changes = changes_of(repository);
	cleanup_survivors struct survivors survivors = { 0 };
	changes->head = hex(&points->head);
	/* This call also lets libgit2 read the objects of the source repository. */
	if (survivors_of(repository, &survivors))
		for (size_t i = 0; i < survivors.defaults.count; i++)
			commits_add(&points->defaults, &survivors.defaults.oids[i]);
	find_target(repository, points);
	if (points->has_target)
		commits_add(&points->defaults, &points->target);
	changes->merged = merged_of(repository, points);
	find_base(repository, points);
	changes->base = points->has_base ? hex(&points->base) : NULL;
	list_commits(repository, points);
	list_files(repository, points);
	if (ref)
		add_upstream(repository, ref, points);
}

void changes_add_history(const struct repository *repository)
{
	struct points points = { 0 };
	static const char heads[] = "refs/heads/";
	cleanup_free char *ref = ref_of(repository);
	if (ref && starts_with(ref, heads))
		changes_of(repository)->branch = visible(ref + strlen(heads));
	if (git_reference_name_to_id(&points.head, repository->git, ref ? ref : "HEAD") == 0)
		add_all(repository, ref, &points);
	commits_free(&points.defaults);
}
