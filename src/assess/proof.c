/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/proof.h"

#include "base/fsutil.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Files up to this size are read; libgit2 compares a larger one whose date is new. */
enum { READ_MOST = 64 << 20 };

struct timespec proof_index_time(const struct repository *repository)
{
	struct stat status;
	cleanup_free char *path = path_join(repository->git_directory, "index");
	return lstat(path, &status) == 0 ? status.st_mtim : (struct timespec){ 0 };
}

/* ---- by its dates ---- */

static bool is_time(const git_index_time *recorded, const struct timespec *now)
{
	return recorded->seconds == (int32_t)now->tv_sec &&
	       recorded->nanoseconds == (uint32_t)now->tv_nsec;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Compare as git does.  A file that is not older than the index can have changed in the moment
 * after git looked at it; a size of 0 is git's mark of such an entry. */
static bool has_dates(const git_index_entry *entry, const struct tree_file *file,
		      const struct timespec *written)
{
	return is_before(&file->modified, written) && is_time(&entry->mtime, &file->modified) &&
	       is_time(&entry->ctime, &file->changed) && entry->file_size &&
	       entry->file_size == (uint32_t)file->size && entry->ino == (uint32_t)file->inode &&
	       entry->uid == file->uid && entry->gid == file->gid;
}

/* ---- by its bytes ---- */

static bool read_link(int root, const struct tree_file *file, struct strbuf *ret)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(root, file->path, target, sizeof(target));
	if (length <= 0 || length == (ssize_t)sizeof(target))
		return false;
	strbuf_add(ret, target, (size_t)length);
	return true;
}

static bool read_file(int root, const struct tree_file *file, struct strbuf *ret)
{
	struct stat status;
	cleanup_close int fd = openat(root, file->path,
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd >= 0 && file->size <= READ_MOST && fstat(fd, &status) == 0 &&
	       S_ISREG(status.st_mode) && status.st_ino == file->inode &&
	       fs_read_fd(fd, file->path, READ_MOST, ret, NULL) == 0;
}

static bool has_bytes(int root, const git_index_entry *entry, const struct tree_file *file)
{
	git_oid oid;
	cleanup_strbuf struct strbuf bytes = { 0 };
	return (S_ISLNK(file->mode) ? read_link(root, file, &bytes)
				    : read_file(root, file, &bytes)) &&
	       git_odb_hash(&oid, strbuf_text(&bytes), bytes.length, GIT_OBJECT_BLOB) == 0 &&
	       git_oid_equal(&oid, &entry->id);
}

/* ---- all of them ---- */

static bool has_mode(const git_index_entry *entry, const struct tree_file *file)
{
	if (S_ISLNK(file->mode))
		return entry->mode == GIT_FILEMODE_LINK;
	return S_ISREG(file->mode) &&
	       entry->mode ==
		       (file->mode & S_IXUSR ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB);
}

static bool is_unchanged(int root, const git_index_entry *entry, const struct tree_file *file,
			 const struct timespec *written)
{
	return has_mode(entry, file) && !(entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) &&
	       (has_dates(entry, file, written) || has_bytes(root, entry, file));
}

static git_index_entry *writable(const git_index_entry *entry)
{
	return (git_index_entry *)(uintptr_t)entry;
}

/* Absent in a sparse checkout; or a submodule, which has its own look. */
static bool needs_no_file(int root, const git_index_entry *entry)
{
	struct stat status;
	if (git_index_entry_stage(entry))
		return false;
	if (entry->mode == GIT_FILEMODE_COMMIT)
		return fstatat(root, entry->path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISDIR(status.st_mode);
	return entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE;
}

bool proof_find(const struct repository *repository, git_index *index, struct timespec written,
		struct tree *tree)
{
	cleanup_close int root = open(repository->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t explained = 0, count = git_index_entrycount(index);
	bool is_clean = root >= 0;
	for (size_t i = 0; i < count; i++)
		writable(git_index_get_byindex(index, i))->flags &= (uint16_t)~GIT_INDEX_ENTRY_VALID;
	for (size_t i = 0; i < tree->count && !look_is_over(repository->look); i++) {
		struct tree_file *file = &tree->files[i];
		git_index_entry *entry = writable(git_index_get_bypath(index, file->path, 0));
		file->is_tracked = entry != NULL;
		is_clean &= file->is_tracked;
		if (!entry)
			continue;
		/* The file is there, so the flag to leave it out hides it. */
		entry->flags_extended &= (uint16_t)~GIT_INDEX_ENTRY_SKIP_WORKTREE;
		file->unchanged = is_unchanged(root, entry, file, &written) ? entry : NULL;
		explained += file->unchanged != NULL;
	}
	for (size_t i = 0; is_clean && i < count; i++)
		explained += needs_no_file(root, git_index_get_byindex(index, i));
	return is_clean && explained == count && !look_is_over(repository->look);
}

/* ---- what is staged ---- */

/* The next entry.  The index has them in the order of trees, which sort a directory as its name and
 * a slash. */
struct staged {
	git_index *index;
	size_t next;
};

static const char *mode_text(uint32_t mode)
{
	switch (mode) {
	case GIT_FILEMODE_BLOB:
		return "100644 ";
	case GIT_FILEMODE_BLOB_EXECUTABLE:
		return "100755 ";
	case GIT_FILEMODE_LINK:
		return "120000 ";
	case GIT_FILEMODE_COMMIT:
		return "160000 ";
	default:
		return NULL;
	}
}

/* The id that the directory has as a tree: its path is so much of the next entry's. */
static bool hash_directory(struct staged *staged, const char *path, size_t length, int depth,
			   git_oid *ret)
{
	const git_index_entry *entry;
	cleanup_strbuf struct strbuf tree = { 0 };
	if (depth > LOOK_DIRECTORIES_DEEP)
		return false;
	while ((entry = git_index_get_byindex(staged->index, staged->next)) &&
	       strncmp(entry->path, path, length) == 0) {
		const char *name = entry->path + length, *slash = strchr(name, '/');
		const char *mode = slash ? "40000 " : mode_text(entry->mode);
		git_oid id = entry->id;
		if (!slash)
			staged->next++;
		else if (!hash_directory(staged, entry->path, (size_t)(slash + 1 - entry->path),
					 depth + 1, &id))
			return false;
		if (!mode)
			return false;
		strbuf_adds(&tree, mode);
		strbuf_add(&tree, name, slash ? (size_t)(slash - name) : strlen(name));
		strbuf_add(&tree, "", 1);
		strbuf_add(&tree, (const char *)id.id, sizeof(id.id));
	}
	return git_odb_hash(ret, strbuf_text(&tree), tree.length, GIT_OBJECT_TREE) == 0;
}

bool proof_is_committed(const struct repository *repository, git_index *index)
{
	git_oid id;
	git_commit *head = NULL;
	struct staged staged = { .index = index };
	const bool is_same = git_reference_name_to_id(&id, repository->git, "HEAD") == 0 &&
			     git_commit_lookup(&head, repository->git, &id) == 0 &&
			     hash_directory(&staged, "", 0, 0, &id) &&
			     git_oid_equal(&id, git_commit_tree_id(head));
	git_commit_free(head);
	return is_same;
}

void proof_mark(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->files[i].unchanged)
			tree->files[i].unchanged->flags |= GIT_INDEX_ENTRY_VALID;
}

void proof_unmark(git_index *index, const char *path)
{
	const git_index_entry *entry = git_index_get_bypath(index, path, 0);
	if (entry)
		writable(entry)->flags &= (uint16_t)~GIT_INDEX_ENTRY_VALID;
}
