/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/status.h"

#include "assess/changes.h"
#include "assess/proof.h"
#include "base/fsutil.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FEW_PATHS = 1000 };

static struct verdict *verdict_of(const struct repository *repository)
{
	return &repository->look->verdict;
}

bool status_check_head(const struct repository *repository)
{
	git_reference *head = NULL;
	git_object *tree = NULL;
	int r = git_repository_head(&head, repository->git);
	if (r == 0)
		r = git_reference_peel(&tree, head, GIT_OBJECT_TREE);
	git_object_free(tree);
	git_reference_free(head);
	if (r == 0 || r == GIT_EUNBORNBRANCH)
		return true;
	look_failed(repository, "HEAD leads to no commit");
	return false;
}

void status_add_states(const struct repository *repository)
{
	/* git_repository_state() knows only some of them. */
	static const struct {
		const char *file, *name;
	} states[] = {
		{ "rebase-merge", "rebase" },
		{ "rebase-apply", "rebase or am" },
		{ "MERGE_HEAD", "merge" },
		{ "MERGE_AUTOSTASH", "merge with an autostash" },
		{ "CHERRY_PICK_HEAD", "cherry-pick" },
		{ "REVERT_HEAD", "revert" },
		{ "sequencer", "sequence of cherry-picks or reverts" },
		{ "BISECT_LOG", "bisect" },
	};
	struct stat status;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		cleanup_free char *path = path_join(repository->git_directory, states[i].file);
		if (lstat(path, &status) == 0)
			verdict_add(verdict_of(repository), FINDING_STATE, repository->where,
				    states[i].name, "in progress");
	}
}

/* ---- files ---- */

/* In a sparse checkout, the file is absent by its owner's wish. */
static bool is_left_out(git_index *index, const char *path)
{
	const git_index_entry *entry = git_index_get_bypath(index, path, 0);
	return entry && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE);
}

static char index_letter(unsigned int status)
{
	if (status & GIT_STATUS_INDEX_NEW)
		return 'A';
	if (status & GIT_STATUS_INDEX_MODIFIED)
		return 'M';
	if (status & GIT_STATUS_INDEX_DELETED)
		return 'D';
	if (status & GIT_STATUS_INDEX_RENAMED)
		return 'R';
	return status & GIT_STATUS_INDEX_TYPECHANGE ? 'T' : ' ';
}

static char tree_letter(unsigned int status)
{
	if (status & (GIT_STATUS_WT_MODIFIED | GIT_STATUS_WT_UNREADABLE))
		return 'M';
	if (status & GIT_STATUS_WT_DELETED)
		return 'D';
	if (status & GIT_STATUS_WT_RENAMED)
		return 'R';
	return status & GIT_STATUS_WT_TYPECHANGE ? 'T' : ' ';
}

void status_add_file(const struct repository *repository, const char *code, const char *path,
		     const char *detail)
{
	if (repository->look->changes) {
		changes_note_file(repository, code, path);
		return;
	}
	cleanup_free char *name = xasprintf("%s %s", code, path);
	verdict_add(verdict_of(repository), FINDING_FILE, repository->where, name, detail);
}

static const char *path_of(const git_status_entry *entry)
{
	const git_diff_delta *delta = entry->index_to_workdir ? entry->index_to_workdir
							      : entry->head_to_index;
	return delta->new_file.path ? delta->new_file.path : delta->old_file.path;
}

/* ---- git LFS ---- */

enum { POINTER_MOST = 1024 };

/* Whether the file has the digest and size that the pointer names. */
static bool fits_pointer(const char *pointer, int fd)
{
	struct stat status;
	char digest[SHA256_TEXT_SIZE], buffer[1 << 16];
	const char *oid = strstr(pointer, "\noid sha256:"), *size = strstr(pointer, "\nsize ");
	if (!starts_with(pointer, "version https://git-lfs.github.com/spec/") || !oid || !size ||
	    fstat(fd, &status) < 0 ||
	    status.st_size != (off_t)strtoll(size + strlen("\nsize "), NULL, 10))
		return false;
	struct sha256 hash;
	ssize_t n;
	sha256_begin(&hash);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		sha256_add(&hash, buffer, (size_t)n);
	sha256_end(&hash, digest);
	return n == 0 && strncmp(oid + strlen("\noid sha256:"), digest, strlen(digest)) == 0;
}

/* No filter runs here, so a file of LFS whose time has changed looks modified. */
static bool is_unchanged_lfs(const struct repository *repository, git_index *index,
			     const char *path)
{
	const git_index_entry *entry = git_index_get_bypath(index, path, 0);
	git_blob *blob = NULL;
	if (!entry || git_blob_lookup(&blob, repository->git, &entry->id) < 0)
		return false;
	bool is_same = false;
	if (git_blob_rawsize(blob) < POINTER_MOST) {
		cleanup_free char *pointer = xstrndup(git_blob_rawcontent(blob),
						      (size_t)git_blob_rawsize(blob));
		cleanup_free char *file = path_join(repository->path, path);
		cleanup_close int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
							  O_NOCTTY);
		is_same = fd >= 0 && fits_pointer(pointer, fd);
	}
	git_blob_free(blob);
	return is_same;
}

/* ---- the list ---- */

static void add_entry(const struct repository *repository, git_index *index,
		      const git_status_entry *entry)
{
	unsigned int status = entry->status;
	const char *path = path_of(entry);
	if (status == GIT_STATUS_IGNORED) {
		verdict_add(verdict_of(repository), FINDING_IGNORED, repository->where, path, "");
	} else if (status & GIT_STATUS_CONFLICTED) {
		status_add_file(repository, "UU", path, "in conflict");
	} else if (status & GIT_STATUS_WT_NEW) {
		const char staged = index_letter(status);
		char code[] = "??";
		if (staged != ' ')
			code[0] = staged;
		status_add_file(repository, code, path, "");
	} else if (!((status == GIT_STATUS_WT_DELETED && is_left_out(index, path)) ||
		     (status == GIT_STATUS_WT_MODIFIED &&
		      is_unchanged_lfs(repository, index, path)))) {
		char code[] = { index_letter(status), tree_letter(status), 0 };
		status_add_file(repository, code, path, "");
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_text(const struct strvec *sorted, const char *text)
{
	return sorted->count &&
	       bsearch(&text, sorted->items, sorted->count, sizeof(*sorted->items), compare_texts);
}

/* Whether status lists the path, or a directory above it ("build/").  listed is sorted. */
static bool is_listed(const struct strvec *listed, const char *path)
{
	bool is = has_text(listed, path);
	for (const char *slash = path; !is && (slash = strchr(slash, '/')); slash++) {
		cleanup_free char *directory = xstrndup(path, (size_t)(slash - path) + 1);
		is = has_text(listed, directory);
	}
	return is;
}

static bool is_special(const struct tree_file *file)
{
	return !S_ISREG(file->mode) && !S_ISLNK(file->mode);
}

/* Says that the directory can be made again: https://bford.info/cachedir/ */
static bool is_cache(const struct repository *repository, const char *directory)
{
	static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55";
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(repository->path, directory);
	return *directory && walk_read(path, "CACHEDIR.TAG", 64 << 10, &text) &&
	       starts_with(strbuf_text(&text), tag);
}

/* Rules that are in no commit can hide anything, except in a directory that is ignored anyway. */
static void check_own_rules(const struct repository *repository, const char *path)
{
	cleanup_free char *directory = xstrndup(path, (size_t)(path_basename(path) - path));
	int is_ignored = 0;
	if (*directory &&
	    git_ignore_path_is_ignored(&is_ignored, repository->git, directory) == 0 && is_ignored)
		return;
	if (!is_cache(repository, directory))
		status_add_file(repository, "??", path,
				"its rules are in no commit, and may hide other files");
}

/* libgit2 lists no pipes and sockets, and does not list all files that it ignores. */
static void add_unlisted(const struct repository *repository, git_index *index,
			 const struct tree *tree, const struct strvec *listed)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_file *file = &tree->files[i];
		const char *path = file->path;
		int is_ignored = 0;
		if (i % 4096 == 0 && look_is_over(repository->look))
			return;
		if (file->is_tracked)
			continue;
		if (streq(path_basename(path), ".gitignore"))
			check_own_rules(repository, path);
		if (is_listed(listed, path) || git_index_get_bypath(index, path, 1) ||
		    git_index_get_bypath(index, path, 2) || git_index_get_bypath(index, path, 3))
			continue;
		if (git_ignore_path_is_ignored(&is_ignored, repository->git, path) == 0 &&
		    is_ignored)
			verdict_add(verdict_of(repository), FINDING_IGNORED, repository->where,
				    path, "");
		else
			status_add_file(repository, "??", path,
					is_special(file) ? "a pipe, socket or device" : "");
	}
}

/* Rules that were not recorded can hide anything. */
static void check_exclude(const struct repository *repository)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_strbuf struct strbuf text = { 0 };
	if (!walk_read(repository->common, "info/exclude", 256 << 10, &text) || !text.length)
		return;
	const char *recorded = repository->look->origin.exclude;
	if (repository->is_recorded && recorded &&
	    streq(recorded, sha256_text(strbuf_text(&text), digest)))
		return;
	bool has_rule = false, is_line_start = true;
	for (const char *c = text.data; *c; c++) {
		has_rule |= is_line_start && *c != '#' && *c != '\n' && *c != '\r';
		is_line_start = *c == '\n';
	}
	if (has_rule)
		verdict_unknown(verdict_of(repository), repository->where,
				"info/exclude has new rules, which may hide files");
}

static void add_list(const struct repository *repository, git_index *index, git_status_list *list,
		     const struct tree *tree)
{
	cleanup_strvec struct strvec listed = { 0 };
	size_t count = list ? git_status_list_entrycount(list) : 0;
	for (size_t i = 0; i < count; i++) {
		const git_status_entry *entry = git_status_byindex(list, i);
		add_entry(repository, index, entry);
		if (entry->status & (GIT_STATUS_IGNORED | GIT_STATUS_WT_NEW))
			strvec_push(&listed, path_of(entry));
	}
	if (listed.count)
		qsort(listed.items, listed.count, sizeof(*listed.items), compare_texts);
	add_unlisted(repository, index, tree, &listed);
}

/* libgit2 would open a submodule to compare it with the index, so the submodule's own look does
 * that.  Only its staged changes are compared here. */
static git_status_list *list_files(const struct repository *repository, git_status_show_t show,
				   const struct strvec *paths)
{
	git_status_list *list = NULL;
	git_status_options options = {
		.version = GIT_STATUS_OPTIONS_VERSION,
		.show = show,
		.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
			 GIT_STATUS_OPT_INCLUDE_IGNORED | GIT_STATUS_OPT_INCLUDE_UNREADABLE |
			 GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH | GIT_STATUS_OPT_NO_REFRESH |
			 (show == GIT_STATUS_SHOW_INDEX_ONLY ? 0
							     : GIT_STATUS_OPT_EXCLUDE_SUBMODULES),
	};
	if (paths) {
		options.pathspec.strings = paths->items;
		options.pathspec.count = paths->count;
	}
	if (git_status_list_new(&list, repository->git, &options) < 0)
		look_failed(repository, "its files cannot be compared");
	return list;
}

static bool is_submodule(const git_diff_delta *delta)
{
	return delta->old_file.mode == GIT_FILEMODE_COMMIT ||
	       delta->new_file.mode == GIT_FILEMODE_COMMIT;
}

/* Where a few files alone can have changes, libgit2 need not look at all others.  A verdict also
 * wants whole directories that are ignored.  False: there are too many. */
static bool few_paths(const struct repository *repository, git_index *index,
		      const struct tree *tree, struct strvec *ret)
{
	const size_t count = git_index_entrycount(index);
	for (size_t i = 0; i < count && ret->count <= FEW_PATHS; i++) {
		const git_index_entry *entry = git_index_get_byindex(index, i);
		if (!(entry->flags & GIT_INDEX_ENTRY_VALID))
			strvec_push(ret, entry->path);
	}
	for (size_t i = 0; i < tree->count && ret->count <= FEW_PATHS; i++)
		if (!tree->files[i].is_tracked)
			strvec_push(ret, tree->files[i].path);
	return repository->look->changes && ret->count && ret->count <= FEW_PATHS;
}

/* The staged changes; with a tree that differs from the index, also the others.  NULL: there are
 * none, or they cannot be known. */
static git_status_list *list_changes(const struct repository *repository, const struct staged *has,
				     struct tree *tree)
{
	cleanup_strvec struct strvec paths = { 0 };
	git_index *index = has->index;
	const bool is_clean = proof_find(repository, index, has->written, tree);
	const bool has_staged = !has->is_committed;
	git_status_list *staged = has_staged
					  ? list_files(repository, GIT_STATUS_SHOW_INDEX_ONLY, NULL)
					  : NULL;
	if (is_clean || (has_staged && !staged))
		return staged;
	proof_mark(tree);
	size_t count = staged ? git_status_list_entrycount(staged) : 0;
	for (size_t i = 0; i < count; i++) {
		const git_status_entry *entry = git_status_byindex(staged, i);
		proof_unmark(index, path_of(entry));
		strvec_push(&paths, path_of(entry));
		if (is_submodule(entry->head_to_index))
			add_entry(repository, index, entry);
	}
	git_status_list_free(staged);
	return list_files(repository, GIT_STATUS_SHOW_INDEX_AND_WORKDIR,
			  few_paths(repository, index, tree, &paths) ? &paths : NULL);
}

void status_add_files(const struct repository *repository, const struct staged *staged,
		      struct tree *tree)
{
	check_exclude(repository);
	git_status_list *list = list_changes(repository, staged, tree);
	add_list(repository, staged->index, list, tree);
	git_status_list_free(list);
	if (repository->look->changes)
		changes_count_lines(repository);
}

const git_oid *status_gitlink(git_repository *git, const char *path)
{
	git_index *index = NULL;
	if (git_repository_index(&index, git) < 0)
		return NULL;
	const git_index_entry *entry = git_index_get_bypath(index, path, 0);
	git_index_free(index); /* git holds it */
	return entry && entry->mode == GIT_FILEMODE_COMMIT ? &entry->id : NULL;
}
