/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/role/create.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "engine/role/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define OF_ROLES   ".devcontainer"
#define DOCKERFILE "Dockerfile"

static const char dockerfile[] =
	"FROM debian:12-slim\n"
	"\n"
	"# What the agent works with. Its own program can come from this machine: launch --program "
	"host.\n"
	"RUN apt-get update && \\\n"
	"\tapt-get install -y --no-install-recommends ca-certificates curl git ripgrep && \\\n"
	"\trm -rf /var/lib/apt/lists/*\n";

/* %s: its name, as JSON */
static const char file[] =
	"// An environment for agents. \"agentdeck role check\" says what becomes of each line, and\n"
	"// docs/roles.md of agentdeck has all keys.\n"
	"{\n"
	"\t\"name\": %s,\n"
	"\t\"build\": {\"dockerfile\": \"" DOCKERFILE "\"},\n"
	"\n"
	"\t// Variables of the container. No secrets: they are for launch --secret.\n"
	"\t\"containerEnv\": {}\n"
	"}\n";

/* flags: O_NOFOLLOW for what a repository may have. */
static int open_at(int above, const char *name, int flags, int *ret, struct error *err)
{
	cleanup_free char *shown = visible(name);
	if (mkdirat(above, name, 0777) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "make the directory %s", shown);
	const int fd = fs_openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags, 0);
	if (fd < 0)
		return error_set_file(err, errno, "open %s, which must be a directory", shown);
	*ret = fd;
	return 0;
}

static int refuse(const char *directory, const char *name, struct error *err)
{
	cleanup_free char *path = path_join(directory, name), *shown = visible(path);
	return error_set(err, ERROR_EXISTS,
			 "%s exists, and nothing is written over it: agentdeck role check says "
			 "what becomes of a role that is there",
			 shown);
}

static int check_free(int fd, const char *directory, struct error *err)
{
	static const char *const taken[] = { OF_ROLES "/" ROLE_FILE, "." ROLE_FILE, ROLE_FILE,
					     OF_ROLES "/" DOCKERFILE };
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (faccessat(fd, taken[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return refuse(directory, taken[i], err);
	return 0;
}

static int write_new(int fd, const char *name, const char *text, struct error *err)
{
	cleanup_close int out = fs_openat(
		fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return out < 0 ? error_set_file(err, errno, "write %s", name)
		       : fs_write_all(out, text, strlen(text), name, err);
}

int role_create(const char *directory, char **ret, struct error *err)
{
	cleanup_close int top = -1, roles = -1;
	cleanup_free char *real = NULL;
	if (open_at(AT_FDCWD, directory, 0, &top, err) < 0 ||
	    fs_real_directory(directory, &real, err) != 0 || check_free(top, directory, err) < 0 ||
	    open_at(top, OF_ROLES, O_NOFOLLOW, &roles, err) < 0)
		return -1;
	cleanup_json struct json_object *name = json_text(path_basename(real));
	cleanup_free char *text = xasprintf(file, json_object_to_json_string(name));
	if (write_new(roles, DOCKERFILE, dockerfile, err) < 0 ||
	    write_new(roles, ROLE_FILE, text, err) < 0)
		return -1;
	*ret = path_join(real, OF_ROLES "/" ROLE_FILE);
	return 0;
}
