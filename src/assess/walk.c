/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/walk.h"

#include "base/fsutil.h"
#include "base/libc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	RULES_MOST = 256 << 10, /* bytes of .gitignore and the like */
	RULE_LENGTH = 1024,
	RULE_STARS = 6, /* libgit2 and git try every way to match them: 20 take forever */
};

struct walk {
	const struct repository *repository;
	struct tree *tree; /* NULL: a git directory */
	const char *what;  /* for messages: "" or "git directory: " */
	dev_t device;
	int64_t entries;
	int64_t refs;
	bool is_good;
	struct strbuf path; /* of the current directory, "" or "a/b/" */
};

static void refuse(struct walk *walk, const char *name, const char *why)
{
	verdict_unknown(&walk->repository->look->verdict, walk->repository->where, "%s%s%s %s",
			walk->what, strbuf_text(&walk->path), name, why);
	walk->is_good = false;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (streq(*names, name))
			return true;
	return false;
}

/* Open a regular file, and not wait for the writer of a FIFO that has just replaced it. */
static int open_regular(int directory, const char *name, struct stat *ret)
{
	cleanup_close int fd = openat(directory, name,
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode))
		return -1;
	return TAKE_FD(fd);
}

bool walk_read(const char *directory, const char *name, size_t max, struct strbuf *ret)
{
	struct stat status;
	cleanup_close int where = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd = where < 0 ? -1 : open_regular(where, name, &status);
	return fd >= 0 && fs_read_fd(fd, name, max, ret, NULL) == 0;
}

/* ---- rules of a work tree ---- */

static bool rules_are_cheap(const char *text)
{
	size_t length = 0, stars = 0;
	for (; *text; text++) {
		length = *text == '\n' ? 0 : length + 1;
		stars = *text == '\n' ? 0 : stars + (*text == '*');
		if (length > RULE_LENGTH || stars > RULE_STARS)
			return false;
	}
	return true;
}

static void check_rules(struct walk *walk, int directory, const char *name)
{
	struct stat status;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_close int fd = open_regular(directory, name, &status);
	if (fd < 0)
		refuse(walk, name, "is not a regular file");
	else if (fs_read_fd(fd, name, RULES_MOST, &text, NULL) != 0)
		refuse(walk, name, "is too large");
	else if (strlen(strbuf_text(&text)) != text.length || !rules_are_cheap(strbuf_text(&text)))
		refuse(walk, name, "has rules that take too long");
}

/* ---- git directories ---- */

/* The files that are read, and their greatest sizes. */
static const struct {
	const char *name;
	off_t most;
} sizes[] = {
	{ "config", 1 << 20 },
	{ "config.worktree", 1 << 20 },
	{ "packed-refs", 16 << 20 },
	{ "index", 256 << 20 },
	{ "HEAD", 4096 },
	{ "commondir", 4096 },
	{ "gitdir", 4096 },
	{ "info/exclude", RULES_MOST },
	{ "info/attributes", RULES_MOST },
	{ "objects/info/alternates", 4096 },
	{ "shallow", 1 << 20 },
};
enum { LOG_MOST = 16 << 20, LOOSE_REF_MOST = 4096, LOOSE_REFS_MOST = 20000 };

/* Git removes files of its own at any time, such as locks, and loose objects that it packs. */
static void check_git_file(struct walk *walk, int directory, const char *name)
{
	cleanup_free char *path = xasprintf("%s%s", strbuf_text(&walk->path), name);
	off_t most = -1;
	if (starts_with(path, "logs/"))
		most = LOG_MOST;
	if (starts_with(path, "refs/")) {
		most = LOOSE_REF_MOST;
		if (++walk->refs == LOOSE_REFS_MOST)
			refuse(walk, name, "is one of too many loose refs");
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (streq(sizes[i].name, path))
			most = sizes[i].most;
	struct stat status;
	if (most < 0)
		return;
	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		if (status.st_size > most)
			refuse(walk, name, "is too large");
	} else if (errno != ENOENT) {
		refuse(walk, name, "cannot be looked at");
	}
}

/* The user's programs may be links: they are not read here. */
static void check_git_entry(struct walk *walk, int directory, const char *name, int type)
{
	if (type == DT_REG)
		check_git_file(walk, directory, name);
	else if (type != DT_LNK || !starts_with(strbuf_text(&walk->path), "hooks/"))
		refuse(walk, name, "is neither a file nor a directory");
}

/* ---- the walk ---- */

/* An entry as getdents64(2) gives it.  opendir() and readdir() ask for more, which takes 4 %
 * longer. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length; /* of all of this */
	unsigned char type;
	char name[];
};
enum { PART_SIZE = 32 << 10, LIST_MOST = 64 << 20 };

/* The next entry from *at on; NULL: there is none. */
static const struct entry *next_entry(const struct strbuf *list, size_t *at)
{
	if (*at >= list->length)
		return NULL;
	const struct entry *entry = (const void *)(list->data + *at);
	*at += entry->length;
	return entry;
}

static void list_entries(struct walk *walk, int directory, struct strbuf *ret)
{
	char part[PART_SIZE];
	long n;
	while ((n = syscall(SYS_getdents64, directory, part, sizeof(part))) > 0) {
		strbuf_add(ret, part, (size_t)n);
		if (ret->length > LIST_MOST) {
			refuse(walk, "", "has too many files");
			return;
		}
	}
	/* A directory that was just removed is no reason to refuse. */
	if (n < 0 && errno != ENOENT)
		refuse(walk, "", "cannot be listed");
}

static int type_of(int directory, const struct entry *entry)
{
	struct stat status;
	if (entry->type != DT_UNKNOWN)
		return entry->type;
	if (fstatat(directory, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return IFTODT(status.st_mode);
}

/* Called for each file: printf would take as long as the file's lstat. */
static char *path_of(const struct walk *walk, const char *name)
{
	const size_t above = walk->path.length, length = strlen(name);
	char *path = xcalloc(1, above + length + 1);
	memcpy(path, strbuf_text(&walk->path), above);
	memcpy(path + above, name, length);
	return path;
}

static void add_file(struct walk *walk, const char *name, const struct stat *status)
{
	struct tree *tree = walk->tree;
	if ((tree->count & (tree->count - 1)) == 0)
		tree->files = xreallocarray(tree->files, tree->count ? 2 * tree->count : 1,
					    sizeof(*tree->files));
	tree->files[tree->count++] = (struct tree_file){
		.path = path_of(walk, name),
		.mode = status->st_mode,
		.uid = status->st_uid,
		.gid = status->st_gid,
		.inode = status->st_ino,
		.size = status->st_size,
		.modified = status->st_mtim,
		.changed = status->st_ctim,
	};
}

static void check_tree_entry(struct walk *walk, int directory, const char *name)
{
	struct stat status;
	static const char *const rules[] = { ".gitignore", ".gitattributes", ".gitmodules", NULL };
	if (*name == '.' && is_one_of(name, rules))
		check_rules(walk, directory, name);
	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		add_file(walk, name, &status);
	else
		refuse(walk, name, "cannot be looked at");
}

/* A directory of the tree that is a repository is looked at as such, later. */
static bool is_repository(const struct walk *walk, int directory, const struct strbuf *list)
{
	bool has_git = false, has_head = false, has_objects = false, has_refs = false;
	const struct entry *entry;
	if (!walk->tree || walk->path.length == 0)
		return false;
	for (size_t at = 0; (entry = next_entry(list, &at));) {
		has_git |= streq(entry->name, ".git");
		has_head |= streq(entry->name, "HEAD");
		if (streq(entry->name, "objects"))
			has_objects = type_of(directory, entry) == DT_DIR;
		if (streq(entry->name, "refs"))
			has_refs = type_of(directory, entry) == DT_DIR;
	}
	return has_git || (has_head && has_objects && has_refs);
}

static void walk_directory(struct walk *walk, int parent, const char *name, int depth);

static void walk_entry(struct walk *walk, int directory, const struct entry *entry, int depth)
{
	const char *name = entry->name;
	if (streq(name, ".") || streq(name, "..") ||
	    (walk->tree && walk->path.length == 0 && streq(name, ".git")))
		return;
	if (++walk->entries > LOOK_ENTRIES_MOST)
		refuse(walk, name, "is one of too many files");
	if (walk->entries % 4096 == 0 && look_is_over(walk->repository->look)) {
		walk->is_good = false;
		walk->entries = LOOK_ENTRIES_MOST + 1;
	}
	const int type = type_of(directory, entry);
	if (type == DT_DIR)
		walk_directory(walk, directory, name, depth + 1);
	else if (walk->tree)
		check_tree_entry(walk, directory, name);
	else
		check_git_entry(walk, directory, name, type);
}

static void walk_entries(struct walk *walk, int directory, int depth)
{
	const struct entry *entry;
	cleanup_strbuf struct strbuf list = { 0 };
	list_entries(walk, directory, &list);
	if (is_repository(walk, directory, &list)) {
		strvec_push_take(&walk->tree->repositories,
				 xstrndup(walk->path.data, walk->path.length - 1));
		return;
	}
	for (size_t at = 0; walk->entries <= LOOK_ENTRIES_MOST && (entry = next_entry(&list, &at));)
		walk_entry(walk, directory, entry, depth);
}

/* Each repository in a git directory has its own look. */
static bool is_separate(const struct walk *walk)
{
	return !walk->tree && (streq(strbuf_text(&walk->path), "modules/") ||
			       streq(strbuf_text(&walk->path), "worktrees/"));
}

static void walk_directory(struct walk *walk, int parent, const char *name, int depth)
{
	size_t length = walk->path.length;
	struct statx status;
	cleanup_close int fd = openat(parent, name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !walk->tree && depth > 0)
		return;
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, 0, &status) < 0) {
		refuse(walk, name, "cannot be read");
		return;
	}
	const dev_t device = makedev(status.stx_dev_major, status.stx_dev_minor);
	if (depth == 0)
		walk->device = device;
	else
		strbuf_addf(&walk->path, "%s/", name);
	if (device != walk->device ||
	    (depth > 0 && status.stx_attributes & STATX_ATTR_MOUNT_ROOT)) {
		refuse(walk, "", "is on another file system, or mounted there");
	} else if (depth > LOOK_DIRECTORIES_DEEP) {
		refuse(walk, "", "is too deep");
	} else if (!is_separate(walk)) {
		walk_entries(walk, fd, depth);
	}
	walk->path.length = length;
	if (walk->path.data)
		walk->path.data[length] = '\0';
}

bool walk_tree(const struct repository *repository, struct tree *ret)
{
	struct walk walk = { .repository = repository, .tree = ret, .what = "", .is_good = true };
	walk_directory(&walk, AT_FDCWD, repository->path, 0);
	strbuf_free(&walk.path);
	return walk.is_good;
}

void tree_free(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		free(tree->files[i].path);
	free(tree->files);
	strvec_clear(&tree->repositories);
}

/* ---- what a git directory must not contain ---- */

static bool check_alternates(const struct repository *repository)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (repository->fate == FATE_STAYS ||
	    !walk_read(repository->common, "objects/info/alternates", 4096, &text) || !text.length)
		return true;
	verdict_unknown(&repository->look->verdict, repository->where,
			"it borrows objects from another repository (objects/info/alternates)");
	return false;
}

/* A graft makes a commit that is elsewhere the child of one that is not. */
static bool check_grafts(const struct repository *repository)
{
	struct stat status;
	cleanup_free char *path = path_join(repository->common, "info/grafts");
	if (lstat(path, &status) < 0)
		return true;
	verdict_unknown(&repository->look->verdict, repository->where,
			"its history has other parents than its commits say (info/grafts)");
	return false;
}

static bool check_config(const struct repository *repository, const char *directory,
			 const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (!walk_read(directory, name, 1 << 20, &text) || !text.length)
		return true;
	if (strlen(text.data) == text.length && !strcasestr(text.data, "[include"))
		return true;
	verdict_unknown(&repository->look->verdict, repository->where,
			"its configuration includes other files (%s)", name);
	return false;
}

static bool walk_git_directory(const struct repository *repository, const char *directory)
{
	struct walk walk = { .repository = repository, .what = "git directory: ", .is_good = true };
	walk_directory(&walk, AT_FDCWD, directory, 0);
	strbuf_free(&walk.path);
	return walk.is_good;
}

bool walk_git_directories(const struct repository *repository)
{
	bool is_good = walk_git_directory(repository, repository->common);
	if (repository->is_linked)
		is_good &= walk_git_directory(repository, repository->git_directory);
	return is_good && check_alternates(repository) && check_grafts(repository) &&
	       check_config(repository, repository->common, "config") &&
	       check_config(repository, repository->git_directory, "config.worktree");
}
