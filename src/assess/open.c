/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/open.h"

#include "assess/walk.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/sys/repository.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* What hides changes, turned off; and files elsewhere, which we may not read. */
static const char settings[] = "[core]\n"
			       "\ttrustctime = true\n"
			       "\tfileMode = true\n"
			       "\tsymlinks = true\n"
			       "\tignoreCase = false\n"
			       "\tignoreStat = false\n"
			       "\tcheckStat = default\n"
			       "\texcludesFile = /dev/null\n"
			       "\tattributesFile = /dev/null\n";

int open_settings(int *ret, struct error *err)
{
	cleanup_close int fd = memfd_create("agentdeck-assess", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot make a file in memory");
	if (fs_write_all(fd, settings, strlen(settings), "a file in memory", err) < 0)
		return -1;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return error_set_errno(err, errno, "cannot seal a file in memory");
	*ret = TAKE_FD(fd);
	return 0;
}

/* ---- where the git directory is ---- */

static bool is_same(const char *a, const char *b)
{
	struct stat one, other;
	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

static bool is_directory(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static char *absolute(const char *directory, const char *path)
{
	return *path == '/' ? xstrdup(path) : path_join(directory, path);
}

/* The one line of a small file, without what comes before the text and after the line; NULL. */
static char *line_of(const char *directory, const char *name, const char *before)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (!walk_read(directory, name, 4096, &text) || !starts_with(strbuf_text(&text), before))
		return NULL;
	char *line = xstrdup(text.data + strlen(before));
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

/* For a git directory: the common one. */
static char *common_of(const char *git_directory)
{
	cleanup_free char *line = line_of(git_directory, "commondir", "");
	return line ? absolute(git_directory, line) : xstrdup(git_directory);
}

int open_common_of(const char *source, char **ret, struct error *err)
{
	cleanup_free char *inside = path_join(source, ".git");
	cleanup_free char *line = line_of(source, ".git", "gitdir: ");
	cleanup_free char *elsewhere = line ? absolute(source, line) : NULL;
	cleanup_free char *git_directory = elsewhere ? xstrdup(elsewhere)
						     : xstrdup(is_directory(inside) ? inside
										    : source);
	cleanup_free char *common = common_of(git_directory);
	cleanup_free char *objects = path_join(common, "objects");
	cleanup_free char *real = NULL;
	if (!is_directory(objects) || fs_real_directory(common, &real, NULL) != 0)
		return error_set(err, ERROR_INVALID, "%s is not a Git repository", source);
	*ret = TAKE_PTR(real);
	return 0;
}

char *open_path_of(const char *tree, const char *address)
{
	const char *colon = strchr(address, ':'), *slash = strchr(address, '/');
	if (starts_with(address, "file://"))
		return absolute("/", address + strlen("file://"));
	if (colon && !(slash && slash < colon))
		return NULL;
	return absolute(tree, address);
}

static bool refuse(const struct repository *repository, const char *why)
{
	verdict_unknown(&repository->look->verdict, repository->where, "%s", why);
	return false;
}

bool open_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	return strncmp(path, directory, length) == 0 && (!path[length] || path[length] == '/');
}

static bool leads_back(const struct repository *repository)
{
	cleanup_free char *line = line_of(repository->git_directory, "gitdir", "");
	cleanup_free char *file = path_join(repository->path, ".git");
	return line && *line == '/' && is_same(line, file);
}

static bool locate_linked(struct repository *repository)
{
	/* The clone's own refs and objects would not be checked. */
	if (!*repository->where && repository->look->origin.kind == ORIGIN_CLONE)
		return refuse(repository, "it was a clone, and its git directory is that of "
					  "another repository now");
	if (!leads_back(repository))
		return refuse(repository,
			      "its git directory belongs to another path (was it moved? "
			      "git worktree repair)");
	repository->is_linked = true;
	repository->fate = is_same(repository->common, repository->look->source_common) ? FATE_STAYS
											: FATE_GOES;
	return true;
}

/* Deleting the tree deletes this directory. */
static bool is_inside(const struct repository *repository, const char *directory)
{
	const struct look *look = repository->look;
	cleanup_free char *tree = NULL;
	if (fs_real_directory(look->origin.path, &tree, NULL) != 0)
		return false;
	return open_is_below(directory, tree) || open_is_below(directory, look->source_common);
}

bool open_locate(struct repository *repository)
{
	struct stat status;
	cleanup_free char *entry = path_join(repository->path, ".git");
	cleanup_free char *line = line_of(repository->path, ".git", "gitdir: ");
	cleanup_free char *leads = line ? absolute(repository->path, line) : xstrdup(entry);
	if (lstat(entry, &status) < 0) {
		/* A bare one. */
		free(leads);
		leads = TAKE_PTR(repository->path);
	} else if (!(S_ISDIR(status.st_mode) || (line && S_ISREG(status.st_mode)))) {
		return refuse(repository, ".git is neither a directory nor a file that names one");
	}
	if (fs_real_directory(leads, &repository->git_directory, NULL) != 0)
		return refuse(repository, ".git leads nowhere: the Git directory that it names is "
					  "gone");
	cleanup_free char *common = common_of(repository->git_directory);
	if (fs_real_directory(common, &repository->common, NULL) != 0)
		return refuse(repository, "its common git directory does not exist");
	if (!is_inside(repository, repository->common))
		return refuse(repository, "its git directory is elsewhere");
	if (!is_same(repository->common, repository->git_directory))
		return locate_linked(repository);
	repository->fate = FATE_GOES;
	return true;
}

/* ---- opening ---- */

static int set_config(const struct repository *repository)
{
	git_config *config = NULL;
	cleanup_free char *file = path_join(repository->common, "config");
	cleanup_free char *ours = xasprintf("/proc/self/fd/%d", repository->look->settings);
	int r = git_config_new(&config);
	if (r == 0)
		r = git_config_add_file_ondisk(config, file, GIT_CONFIG_LEVEL_LOCAL,
					       repository->git, 1);
	if (r == 0)
		r = git_config_add_file_ondisk(config, ours, GIT_CONFIG_LEVEL_APP, repository->git,
					       1);
	if (r == 0)
		r = git_repository_set_config(repository->git, config);
	git_config_free(config);
	return r;
}

static bool sees_the_same(const struct repository *repository)
{
	const char *tree = git_repository_workdir(repository->git);
	return is_same(git_repository_path(repository->git), repository->git_directory) &&
	       is_same(git_repository_commondir(repository->git), repository->common) &&
	       (repository->path ? tree && is_same(tree, repository->path) : !tree);
}

bool open_repository(struct repository *repository)
{
	bool has_tree = repository->path != NULL;
	if (git_repository_open_ext(
		    &repository->git, has_tree ? repository->path : repository->git_directory,
		    GIT_REPOSITORY_OPEN_NO_SEARCH | (has_tree ? 0 : GIT_REPOSITORY_OPEN_BARE),
		    NULL) < 0 ||
	    set_config(repository) < 0) {
		look_failed(repository, "it cannot be opened");
		return false;
	}
	if (!sees_the_same(repository))
		return refuse(repository, "its configuration moves it elsewhere (core.worktree)");
	return true;
}

int open_other(const char *common, git_repository **ret)
{
	return git_repository_open_ext(
		ret, common, GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE, NULL);
}

void open_end(struct repository *repository)
{
	git_repository_free(repository->git);
	free(repository->path);
	free(repository->git_directory);
	free(repository->common);
}
