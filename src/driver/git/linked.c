/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Git's record of a linked work tree, <common>/worktrees/<name>.
 *
 * An agent in a container writes what is in it.  A pipe there makes git wait forever, also about
 * the other work trees, and a wrong commondir makes it give up.  So the record is read, mended and
 * removed here, without git.
 */
#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADS "ref: refs/heads/"

/* ---- finding --------------------------------------------------------------------------------- */

struct record {
	char *all; /* <common>/worktrees */
	char *name;
	int all_fd, fd;
};
#define NO_RECORD ((struct record){ .all_fd = -1, .fd = -1 })

static void record_close(struct record *record)
{
	free(record->all);
	free(record->name);
	if (record->all_fd >= 0)
		(void)close(record->all_fd);
	if (record->fd >= 0)
		(void)close(record->fd);
}
#define cleanup_record CLEANUP(record_close)

/* The one line of a regular file, or NULL.  The caller frees. */
static char *line_of(int directory, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(directory, name, PATH_MAX, &text, NULL) != 0)
		return NULL;
	char *line = xstrdup(strbuf_text(&text));
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

static int open_named(const struct record *record, const char *name)
{
	return fs_openat(record->all_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* Returns the real path of the tree's .git, also if the tree is gone.  The record's file "gitdir"
 * should name it. */
static char *gitdir_of(const char *path)
{
	cleanup_free char *above = xstrndup(path, (size_t)(path_basename(path) - path));
	cleanup_free char *real = realpath(above, NULL);
	return real ? xasprintf("%s/%s/.git", real, path_basename(path)) : path_join(path, ".git");
}

/* Has the user given the name to another work tree? Then that tree points back to the record.  A
 * tree inside ours does not count, because the agent could have made it. */
static bool is_anothers(const struct record *record, const char *name, const char *line,
			const char *gitdir)
{
	cleanup_free char *other = NULL;
	cleanup_free char *back = xasprintf("gitdir: %s/%s", record->all, name);
	cleanup_free char *tree = xstrndup(gitdir, strlen(gitdir) - strlen("/.git"));
	if (*line != '/' || path_is_below(line, tree))
		return false;
	other = line_of(AT_FDCWD, line);
	return other && streq(other, back);
}

/* A record matches by its content.  It also matches by its name while its tree exists: later,
 * another work tree may get that name. */
static bool is_it(const struct gitcmd_linked *tree, const struct record *record, const char *name,
		  int fd)
{
	cleanup_free char *gitdir = gitdir_of(tree->path), *line = line_of(fd, "gitdir");
	if (line && streq(line, gitdir))
		return true;
	return tree->record && streq(path_basename(tree->record), name) &&
	       access(tree->path, F_OK) == 0 &&
	       !is_anothers(record, name, line ? line : "", gitdir);
}

static int open_all(const char *source, struct record *record, struct error *err)
{
	if (!record->all && gitcmd_records(source, &record->all, err) < 0)
		return -1;
	record->all_fd = fs_openat(AT_FDCWD, record->all,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (record->all_fd < 0)
		return errno == ENOENT ? GIT_ABSENT
				       : error_set_file(err, errno, "open %s", record->all);
	return 0;
}

static int find(const struct gitcmd_linked *tree, struct record *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	int r = open_all(tree->source, ret, err);
	if (r != 0)
		return r;
	if (fs_list(ret->all_fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		cleanup_close int fd = open_named(ret, name);
		if (fd < 0 || !is_it(tree, ret, name, fd))
			continue;
		ret->name = xstrdup(name);
		ret->fd = TAKE_FD(fd);
		return 0;
	}
	return GIT_ABSENT;
}

/* ---- mending --------------------------------------------------------------------------------- */

/* text: the required content.  NULL: any text will do, and a file without any gets instead. */
static int mend_file(int fd, const char *name, const char *text, const char *instead,
		     struct error *err)
{
	struct stat st;
	cleanup_free char *line = line_of(fd, name);
	cleanup_free char *all = xasprintf("%s\n", text ? text : instead);
	if (line && (!text || streq(line, text)))
		return 0;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    fs_remove_tree(fd, name, err) < 0)
		return -1;
	return fs_replace(fd, name, all, strlen(all), FS_DURABLE, err);
}

int gitcmd_mend_record(const struct gitcmd_linked *tree, char **ret, struct error *err)
{
	cleanup_record struct record record = NO_RECORD;
	cleanup_free char *link = gitdir_of(tree->path);
	cleanup_free char *head = xasprintf(HEADS "%s", tree->branch);
	struct stat st;
	int r = find(tree, &record, err);
	if (r != 0)
		return r;
	if (mend_file(record.fd, "commondir", "../..", NULL, err) < 0 ||
	    mend_file(record.fd, "gitdir", link, NULL, err) < 0 ||
	    mend_file(record.fd, "HEAD", NULL, head, err) < 0 ||
	    (fstatat(record.fd, "locked", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	     mend_file(record.fd, "locked", NULL, GITCMD_LOCKED, err) < 0))
		return error_prefix(err, "git's record %s/%s", record.all, record.name);
	if (ret)
		*ret = path_join(record.all, record.name);
	return 0;
}

/* ---- making it again ------------------------------------------------------------------------- */

/* The directory that the tree's file .git names; NULL: it is there, or none is named.  The caller
 * frees. */
static char *missing_record(const struct gitcmd_linked *tree)
{
	static const char before[] = "gitdir: ";
	cleanup_free char *file = path_join(tree->path, ".git");
	cleanup_free char *line = line_of(AT_FDCWD, file);
	if (!line || !starts_with(line, before) || line[strlen(before)] != '/')
		return NULL;
	const char *directory = line + strlen(before);
	return access(directory, F_OK) < 0 && errno == ENOENT ? xstrdup(directory) : NULL;
}

static bool is_in(const char *directory, const char *above)
{
	cleanup_free char *real = realpath(above, NULL);
	cleanup_free char *parent = xstrndup(directory,
					     (size_t)(path_basename(directory) - directory));
	cleanup_free char *other = realpath(parent, NULL);
	return real && other && streq(real, other) && path_basename(directory)[0] != '.' &&
	       path_basename(directory)[0];
}

/* All of it but its name: a kill leaves nothing that looks like a record. */
static int fill(const struct gitcmd_linked *tree, const struct record *record, const char *tip,
		struct error *err)
{
	cleanup_free char *path = path_join(record->all, record->name);
	cleanup_free char *option = xasprintf("--git-dir=%s", path);
	cleanup_free char *link = gitdir_of(tree->path);
	cleanup_free char *head = xasprintf(HEADS "%s", tree->branch);
	if (mend_file(record->fd, "commondir", "../..", NULL, err) < 0 ||
	    mend_file(record->fd, "gitdir", link, NULL, err) < 0 ||
	    mend_file(record->fd, "HEAD", head, NULL, err) < 0 ||
	    mend_file(record->fd, "locked", GITCMD_LOCKED, NULL, err) < 0)
		return -1;
	/* Only the index is written. */
	return gitcmd_must_run(tree->source,
			       (const char *const[]){ option, "read-tree", tip, NULL },
			       GITCMD_ASK_MS, NULL, err);
}

static int make_again(const struct gitcmd_linked *tree, const char *directory, const char *tip,
		      struct error *err)
{
	cleanup_record struct record record = NO_RECORD;
	int r = gitcmd_records(tree->source, &record.all, err);
	if (r == 0 && mkdir(record.all, 0777) < 0 && errno != EEXIST)
		r = error_set_file(err, errno, "mkdir %s", record.all);
	if (r == 0 && !is_in(directory, record.all)) {
		(void)rmdir(record.all);
		r = error_set(err, ERROR_INVALID, "its file .git names another repository");
	}
	if (r == 0)
		r = open_all(tree->source, &record, err);
	if (r == GIT_ABSENT)
		r = error_set(err, ERROR_NOT_FOUND, "%s is gone", record.all);
	if (r != 0)
		return -1;
	record.name = xasprintf(".%s.new", path_basename(directory));
	if (fs_remove_tree(record.all_fd, record.name, err) < 0)
		return -1;
	if (mkdirat(record.all_fd, record.name, 0777) < 0 ||
	    (record.fd = open_named(&record, record.name)) < 0)
		return error_set_file(err, errno, "make %s/%s", record.all, record.name);
	if (fill(tree, &record, tip, err) < 0) {
		(void)fs_remove_tree(record.all_fd, record.name, NULL);
		return -1;
	}
	/* Not over one that came back meanwhile: that has an index. */
	if (renameat(record.all_fd, record.name, record.all_fd, path_basename(directory)) < 0)
		return error_set_file(err, errno, "rename %s/%s", record.all, record.name);
	return 0;
}

bool gitcmd_record_is_missing(const struct gitcmd_linked *tree)
{
	cleanup_free char *directory = missing_record(tree);
	return directory;
}

int gitcmd_restore_record(const struct gitcmd_linked *tree, bool *ret, struct error *err)
{
	cleanup_free char *directory = missing_record(tree);
	cleanup_gitcmd_branch struct gitcmd_branch branch = { 0 };
	if (!directory)
		return 0;
	if (gitcmd_look_at_branch(tree->source, tree->branch, tree->path, &branch, err) < 0)
		return -1;
	if (!branch.tip || branch.is_used)
		return error_set(err, ERROR_INVALID, "the branch %s %s", tree->branch,
				 branch.tip ? "is checked out elsewhere" : "is gone, too");
	if (make_again(tree, directory, branch.tip, err) < 0)
		return -1;
	*ret = true;
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* GIT_ABSENT: git keeps it elsewhere, or is making the work tree just now. */
static int read_head(const struct gitcmd_linked *tree, int fd, struct gitcmd_worktree *ret,
		     struct error *err)
{
	cleanup_free char *line = line_of(fd, "HEAD");
	bool has_commit = false;
	if (!line || streq(line, HEADS ".invalid"))
		return GIT_ABSENT;
	if (starts_with(line, HEADS))
		ret->branch = xstrdup(line + strlen(HEADS));
	else if (*line && !line[strspn(line, "0123456789abcdef")]) {
		if (gitcmd_has_commit(tree->source, line, &has_commit, err) < 0)
			return -1;
		ret->commit = has_commit ? TAKE_PTR(line) : NULL;
	}
	ret->is_known = true;
	ret->state = gitcmd_state_in(fd);
	return 0;
}

int gitcmd_look_at_worktree(const struct gitcmd_linked *tree, struct gitcmd_worktree *ret,
			    struct error *err)
{
	cleanup_record struct record record = NO_RECORD;
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	int r = find(tree, &record, err);
	if (r == 0)
		r = read_head(tree, record.fd, &found, err);
	if (r == GIT_ABSENT)
		r = gitcmd_ask_about_worktree(tree->source, tree->path, &found, err);
	if (r < 0)
		return -1;
	*ret = found;
	found = (struct gitcmd_worktree){ 0 };
	return 0;
}

/* ---- forgetting ------------------------------------------------------------------------------ */

int gitcmd_forget_worktree(const struct gitcmd_linked *tree, struct error *err)
{
	cleanup_record struct record record = NO_RECORD;
	int r = find(tree, &record, err);
	if (r != 0)
		return r < 0 ? -1 : gitcmd_remove_worktree(tree->source, tree->path, err);
	if (fs_remove_tree(record.all_fd, record.name, err) < 0)
		return error_prefix(err, "git's record %s", record.all);
	/* Like git: remove the directory if this was the last record. */
	(void)rmdir(record.all);
	return 0;
}
