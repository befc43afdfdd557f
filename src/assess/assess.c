/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/assess.h"

#include "assess/changes.h"
#include "assess/gitdir.h"
#include "assess/history.h"
#include "assess/open.h"
#include "assess/status.h"
#include "assess/walk.h"
#include "base/fsutil.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Takes path.  False: it was not opened. */
static bool look_at(struct look *look, const char *where, char *path, int depth);

/* ---- one that changes while we look ---- */

struct moment {
	struct timespec index, head, packs, packed_refs;
};

static struct timespec changed_at(const char *directory, const char *name)
{
	struct stat status;
	cleanup_free char *path = path_join(directory, name);
	return lstat(path, &status) == 0 ? status.st_mtim : (struct timespec){ 0 };
}

static struct moment moment_of(const struct repository *repository)
{
	return (struct moment){ .index = changed_at(repository->git_directory, "index"),
				.head = changed_at(repository->git_directory, "HEAD"),
				.packs = changed_at(repository->common, "objects/pack"),
				.packed_refs = changed_at(repository->common, "packed-refs") };
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* What was missing while git packed its objects may be there now; what was there stays. */
static void check_changes(const struct repository *repository, const struct moment *before)
{
	struct verdict *verdict = &repository->look->verdict;
	const struct moment after = moment_of(repository);
	if (!is_same_time(&before->index, &after.index) ||
	    !is_same_time(&before->head, &after.head))
		verdict_unknown(verdict, repository->where, "it changed while it was looked at");
	else if (!verdict_is_safe(verdict) &&
		 (!is_same_time(&before->packs, &after.packs) ||
		  !is_same_time(&before->packed_refs, &after.packed_refs)))
		verdict_unknown(verdict, repository->where,
				"git packed its objects while it was looked at");
}

/* ---- repositories below this one ---- */

static char *join_where(const char *where, const char *path)
{
	return *where ? path_join(where, path) : xstrdup(path);
}

/* A submodule whose HEAD is not what the index has. */
static void check_gitlink(const struct repository *repository, const char *path)
{
	cleanup_free char *inside = path_join(repository->path, path);
	const git_oid *wanted = status_gitlink(repository->git, path);
	cleanup_git git_repository *git = NULL;
	git_oid head;
	if (!wanted)
		return;
	if (git_repository_open_ext(&git, inside, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0 &&
	    git_reference_name_to_id(&head, git, "HEAD") == 0 && git_oid_equal(&head, wanted))
		return;
	status_add_file(repository, " M", path, "the submodule has another commit");
}

static void look_below(const struct repository *repository, const struct tree *tree, int depth)
{
	for (size_t i = 0; i < tree->repositories.count; i++) {
		const char *path = tree->repositories.items[i];
		cleanup_free char *where = join_where(repository->where, path);
		/* libgit2 may open it again only if our walk found it good. */
		if (look_at(repository->look, where, path_join(repository->path, path), depth + 1))
			check_gitlink(repository, path);
	}
}

static bool is_directory(int parent, const char *name, const char *below)
{
	struct stat status;
	cleanup_free char *path = path_join(name, below);
	return fstatat(parent, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/* Git directories of submodules stay here when the submodule is gone from the tree.  Names may have
 * slashes. */
static void look_at_modules(const struct repository *repository, const char *below, int depth)
{
	cleanup_free char *path = path_join(repository->git_directory, below);
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (fd < 0)
		return;
	if (depth > LOOK_DEPTH_MOST || fs_list(fd, &names, NULL) < 0) {
		verdict_unknown(&repository->look->verdict, repository->where,
				"%s cannot be listed", below);
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *name = path_join(below, names.items[i]);
		cleanup_free char *shown = xasprintf(".git/%s", name);
		cleanup_free char *where = join_where(repository->where, shown);
		if (is_directory(fd, names.items[i], "objects"))
			(void)look_at(repository->look, where,
				      path_join(repository->git_directory, name), depth + 1);
		else
			look_at_modules(repository, name, depth + 1);
	}
}

/* Worktrees of a repository that goes must all have been seen: one elsewhere loses its objects. */
static void check_worktrees(const struct repository *repository)
{
	cleanup_free char *path = path_join(repository->common, "worktrees");
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	const struct look *look = repository->look;
	if (fd < 0 || repository->is_linked || repository->fate == FATE_STAYS)
		return;
	(void)fs_list(fd, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		struct stat status;
		bool is_seen = false;
		if (fstatat(fd, names.items[i], &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		for (size_t j = 0; j < look->visited_count; j++)
			is_seen |= look->visited[j].inode == status.st_ino &&
				   look->visited[j].device == status.st_dev;
		if (!is_seen)
			verdict_add(&repository->look->verdict, FINDING_STATE, repository->where,
				    names.items[i], "another worktree uses this repository");
	}
}

/* ---- one repository ---- */

/* False: it has been looked at, or there are too many. */
static bool visit(const struct repository *repository)
{
	struct look *look = repository->look;
	struct stat status;
	if (stat(repository->git_directory, &status) < 0)
		return true;
	for (size_t i = 0; i < look->visited_count; i++)
		if (look->visited[i].inode == status.st_ino &&
		    look->visited[i].device == status.st_dev)
			return false;
	if (look->visited_count == LOOK_REPOSITORIES_MOST) {
		verdict_unknown(&look->verdict, repository->where,
				"there are too many repositories");
		return false;
	}
	look->visited[look->visited_count].device = status.st_dev;
	look->visited[look->visited_count++].inode = status.st_ino;
	return true;
}

/* Walk the tree, and let the index be read at the same time. */
static bool walk_beside(const struct repository *repository, bool is_open, struct tree *ret,
			struct staged *ret_staged)
{
	if (is_open)
		staged_ask(repository);
	const bool is_readable = walk_tree(repository, ret);
	if (!is_open)
		return is_readable;
	staged_take(repository, ret_staged);
	if (!ret_staged->index)
		look_failed(repository, "its index cannot be read");
	return is_readable;
}

static bool look_inside(struct repository *repository, int depth)
{
	cleanup_tree struct tree tree = { 0 };
	cleanup_staged struct staged staged = { 0 };
	struct moment before = moment_of(repository);
	bool is_open = walk_git_directories(repository) && open_repository(repository);
	if (repository->path)
		is_open &= walk_beside(repository, is_open, &tree, &staged);
	status_add_states(repository);
	gitdir_add(repository);
	if (is_open) {
		/* A repository below is no branch to merge. */
		if (repository->look->changes && repository->is_recorded)
			changes_add_history(repository);
		if (staged.index && status_check_head(repository))
			status_add_files(repository, &staged, &tree);
		if (!repository->look->changes)
			history_add(repository);
		look_below(repository, &tree, depth);
	}
	if (repository->look->changes)
		return is_open;
	look_at_modules(repository, "modules", depth);
	check_worktrees(repository);
	check_changes(repository, &before);
	return is_open;
}

static bool look_at(struct look *look, const char *where, char *path, int depth)
{
	CLEANUP(open_end)
	struct repository repository = {
		.look = look,
		.where = where,
		.path = path,
		.is_recorded = !*where,
	};
	if (look_is_over(look))
		return false;
	if (depth > LOOK_DEPTH_MOST) {
		verdict_unknown(&look->verdict, where, "repositories are nested too deeply");
		return false;
	}
	return open_locate(&repository) && visit(&repository) && look_inside(&repository, depth);
}

/* What survives the tree must not borrow objects from it. */
static void check_lender(struct look *look, const char *common)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *objects = path_join(common, "objects"), *tree = NULL;
	if (!walk_read(objects, "info/alternates", 64 << 10, &text) ||
	    fs_real_directory(look->origin.path, &tree, NULL) != 0)
		return;
	char *rest = text.data;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		cleanup_free char *path = *line == '/' ? xstrdup(line) : path_join(objects, line);
		cleanup_free char *real = NULL;
		if (*line && fs_real_directory(path, &real, NULL) == 0 && open_is_below(real, tree))
			verdict_unknown(&look->verdict, "",
					"%s borrows its objects (objects/info/alternates): "
					"git repack -a -d there copies them",
					common);
	}
}

static bool is_kind(const struct look *look)
{
	struct stat status;
	cleanup_free char *entry = path_join(look->origin.path, ".git");
	mode_t type = look->origin.kind == ORIGIN_CLONE ? S_IFDIR : S_IFREG;
	return lstat(entry, &status) == 0 && (status.st_mode & S_IFMT) == type;
}

void assess_tree(struct look *look)
{
	struct stat status;
	if (lstat(look->origin.path, &status) < 0)
		verdict_unknown(&look->verdict, "", "%s cannot be looked at: %s", look->origin.path,
				strerror(errno));
	else if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid())
		verdict_unknown(&look->verdict, "", "%s is not a directory of yours",
				look->origin.path);
	else if (!is_kind(look))
		verdict_unknown(&look->verdict, "", "%s/.git is not what it was when it was made",
				look->origin.path);
	else
		(void)look_at(look, "", xstrdup(look->origin.path), 0);
	check_lender(look, look->source_common);
	for (size_t i = 0; i < look->remotes_here.count; i++)
		check_lender(look, look->remotes_here.items[i]);
}

static struct repository source_of(struct look *look)
{
	return (struct repository){
		.look = look,
		.where = "",
		.git_directory = xstrdup(look->source_common),
		.common = xstrdup(look->source_common),
		.fate = FATE_STAYS,
		.is_recorded = true,
	};
}

void assess_changes(struct look *look, struct changes *ret)
{
	CLEANUP(open_end) struct repository repository = source_of(look);
	struct stat status;
	look->changes = ret;
	if (look->origin.kind == ORIGIN_CLONE || lstat(look->origin.path, &status) == 0 ||
	    errno != ENOENT)
		assess_tree(look);
	else if (walk_git_directories(&repository) && open_repository(&repository))
		changes_add_history(&repository);
	for (size_t i = 0; i < look->verdict.count; i++)
		if (look->verdict.findings[i].kind == FINDING_UNKNOWN)
			strvec_push(&ret->unknown, look->verdict.findings[i].detail);
}

void assess_branch(struct look *look)
{
	CLEANUP(open_end) struct repository repository = source_of(look);
	if (!look->origin.branch || !look->origin.made_branch)
		verdict_unknown(&look->verdict, "", "its record names no branch that ends with it");
	else if (walk_git_directories(&repository) && open_repository(&repository))
		history_add_branch(&repository);
}

/* ---- the record ---- */

static int record_refs(git_repository *git, struct origin *origin)
{
	git_reference_iterator *iterator = NULL;
	git_reference *ref = NULL;
	char text[GIT_OID_HEXSZ + 1];
	int r = git_reference_iterator_new(&iterator, git);
	while (r == 0 && (r = git_reference_next(&ref, iterator)) == 0) {
		const git_oid *oid = git_reference_target(ref);
		if (oid)
			origin_add_ref(origin, git_reference_name(ref),
				       git_oid_tostr(text, sizeof(text), oid));
		git_reference_free(ref);
	}
	git_reference_iterator_free(iterator);
	return r == GIT_ITEROVER ? 0 : -1;
}

static int record_remotes(git_repository *git, struct origin *origin)
{
	git_strarray names = { 0 };
	if (git_remote_list(&names, git) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		git_remote *remote = NULL;
		if (git_remote_lookup(&remote, git, names.strings[i]) == 0 &&
		    git_remote_url(remote))
			origin_add_remote(origin, names.strings[i], git_remote_url(remote));
		git_remote_free(remote);
	}
	git_strarray_dispose(&names);
	return 0;
}

static int record_stash(size_t index UNUSED, const char *message UNUSED, const git_oid *oid,
			void *data)
{
	char text[GIT_OID_HEXSZ + 1];
	struct origin *origin = data;
	strvec_push(&origin->stashes, git_oid_tostr(text, sizeof(text), oid));
	return 0;
}

static void record_exclude(const struct repository *repository, struct origin *origin)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_strbuf struct strbuf text = { 0 };
	if (walk_read(repository->common, "info/exclude", 256 << 10, &text))
		replace_string(&origin->exclude, sha256_text(strbuf_text(&text), digest));
}

static void forget_lists(struct origin *origin)
{
	struct origin fresh = { .kind = origin->kind, .made_branch = origin->made_branch };
	fresh.source = TAKE_PTR(origin->source);
	fresh.path = TAKE_PTR(origin->path);
	fresh.branch = TAKE_PTR(origin->branch);
	fresh.base = TAKE_PTR(origin->base);
	origin_free(origin);
	*origin = fresh;
}

void assess_origin(struct look *look)
{
	CLEANUP(open_end)
	struct repository repository = {
		.look = look,
		.where = "",
		.path = xstrdup(look->origin.path),
		.is_recorded = true,
	};
	forget_lists(&look->origin);
	if (!open_locate(&repository) || !walk_git_directories(&repository) ||
	    !open_repository(&repository))
		return;
	record_exclude(&repository, &look->origin);
	if (record_refs(repository.git, &look->origin) < 0 ||
	    record_remotes(repository.git, &look->origin) < 0 ||
	    (git_reference_has_log(repository.git, "refs/stash") != 0 &&
	     git_stash_foreach(repository.git, record_stash, &look->origin) < 0))
		look_failed(&repository, "it cannot be recorded");
}
