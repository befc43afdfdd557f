/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/helper.h"

#include "base/fsutil.h"
#include "base/program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *helped;

void helper_act_for(const char *program)
{
	helped = program;
}

char *helper_own_program(void)
{
	char path[PATH_MAX];
	if (helped)
		return xstrdup(helped);
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length < 0)
		return xstrdup("agentdeck");
	path[length] = '\0';
	/* An upgrade replaced the program while it runs.  The new program has the same path. */
	if (ends_with(path, " (deleted)"))
		path[length - (ssize_t)strlen(" (deleted)")] = '\0';
	return xstrdup(path);
}

/* The program and its directory.  Users who may write them control this process already. */
struct own {
	struct stat file, directory;
};

static void look_at_own(const char *program, struct own *ret)
{
	cleanup_free char *directory = xasprintf("%.*s.", (int)(path_basename(program) - program),
						 program);
	if (stat(program, &ret->file) < 0 || stat(directory, &ret->directory) < 0)
		*ret = (struct own){ 0 };
}

/* Returns the write bits of group and others.  In a sticky directory, only the owner of a name can
 * replace it. */
static mode_t open_to(const struct stat *st)
{
	if (S_ISLNK(st->st_mode) || (S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
		return 0;
	return st->st_mode & (S_IWGRP | S_IWOTH);
}

static bool has_group(const struct stat *st, gid_t group)
{
	return (open_to(st) & S_IWGRP) && st->st_gid == group;
}

static int check_name(const char *path, const struct own *own, struct error *err)
{
	struct stat st;
	if (lstat(path, &st) < 0)
		return error_set_file(err, errno, "stat %s", path);
	if (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != own->file.st_uid)
		return error_set(
			err, ERROR_SYSTEM,
			"%s belongs to user %u, who could use it to run commands as you: install "
			"agentdeck again",
			path, st.st_uid);
	const mode_t to = open_to(&st), known = open_to(&own->file) | open_to(&own->directory);
	if ((to & S_IWOTH) && !(known & S_IWOTH))
		return error_set(err, ERROR_SYSTEM,
				 "every user can write %s, and so run commands as you: "
				 "chmod o-w %s",
				 path, path);
	if ((to & S_IWGRP) && st.st_gid != 0 && st.st_gid != getegid() &&
	    !has_group(&own->file, st.st_gid) && !has_group(&own->directory, st.st_gid))
		return error_set(err, ERROR_SYSTEM,
				 "group %u can write %s, and so run commands as you: chmod g-w %s",
				 st.st_gid, path, path);
	return 0;
}

/* Skip the directories that are also above the program: their writers control it already. */
static int check_path(const char *path, const char *program, const struct own *own,
		      struct error *err)
{
	size_t common = 0;
	for (size_t i = 0; path[i] && path[i] == program[i]; i++)
		if (path[i] == '/')
			common = i + 1;
	for (const char *slash = path + common; slash;) {
		slash = strchr(slash, '/');
		cleanup_free char *name = xstrndup(path,
						   slash ? (size_t)(slash - path) : strlen(path));
		if (check_name(name, own, err) < 0)
			return -1;
		slash = slash ? slash + 1 : NULL;
	}
	return 0;
}

/* Check both the path of a link and the path of its target. */
static int check_helper(const char *path, const char *program, struct error *err)
{
	struct own own;
	cleanup_free char *real = realpath(path, NULL);
	if (!real)
		return error_set_file(err, errno, "resolve %s", path);
	look_at_own(program, &own);
	if (check_path(path, program, &own, err) < 0 || check_path(real, program, &own, err) < 0)
		return -1;
	return 0;
}

/* Below the directory of the program, and below the one above that. */
static const char *const places[] = { "", "libexec/agentdeck/" };

/* NULL: there is no such place. */
static char *place(size_t i, const char *program, const char *name)
{
	const char *end = strrchr(program, '/');
	if (i == ARRAY_SIZE(places))
		return path_join(helper_directory, name);
	/* Without /proc, the path of this program is unknown.  Any user may own ".". */
	if (*program != '/')
		return NULL;
	if (i > 0)
		end = memrchr(program, '/', (size_t)(end - program));
	return end ? xasprintf("%.*s%s%s", (int)(end - program + 1), program, places[i], name)
		   : NULL;
}

int helper_find(const char *program, const char *name, char **ret, struct error *err)
{
	cleanup_free char *path = NULL;
	for (size_t i = 0; i <= ARRAY_SIZE(places); i++) {
		free(path);
		path = place(i, program, name);
		if (!path || access(path, X_OK) < 0)
			continue;
		if (check_helper(path, program, err) < 0)
			return -1;
		break;
	}
	*ret = TAKE_PTR(path);
	return 0;
}

static int find_argv(const char *first, const char *name, const struct strvec *words,
		     struct strvec *argv, char **ret_program, struct error *err)
{
	cleanup_free char *own = helper_own_program();
	if (helper_find(own, name, ret_program, err) < 0)
		return -1;
	strvec_push(argv, first ? first : *ret_program);
	strvec_push_array(argv, (const char *const[]){ "--program", own, NULL });
	strvec_push_all(argv, words);
	return 0;
}

int helper_argv(const char *name, const struct strvec *words, struct strvec *ret, struct error *err)
{
	cleanup_free char *program = NULL;
	return find_argv(NULL, name, words, ret, &program, err);
}

int helper_become(const char *name, const struct strvec *words, struct error *err)
{
	cleanup_free char *program = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	if (find_argv(name, name, words, &argv, &program, err) < 0)
		return -1;
	(void)execv(program, strvec_argv(&argv));
	cleanup_free char *why = program_explain(program, errno);
	return error_set(err, ERROR_UNAVAILABLE, "cannot run %s: %s", program, why);
}
