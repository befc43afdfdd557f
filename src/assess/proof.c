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
		file->is_unchanged = is_unchanged(root, entry, file, &written);
		explained += file->is_unchanged;
	}
	for (size_t i = 0; is_clean && i < count; i++)
		explained += needs_no_file(root, git_index_get_byindex(index, i));
	return is_clean && explained == count && !look_is_over(repository->look);
}

void proof_mark(git_index *index, const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->files[i].is_unchanged)
			writable(git_index_get_bypath(index, tree->files[i].path, 0))->flags |=
				GIT_INDEX_ENTRY_VALID;
}

void proof_unmark(git_index *index, const char *path)
{
	const git_index_entry *entry = git_index_get_bypath(index, path, 0);
	if (entry)
		writable(entry)->flags &= (uint16_t)~GIT_INDEX_ENTRY_VALID;
}
