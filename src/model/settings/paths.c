/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/paths.h"

#include "base/fsutil.h"
#include "base/text.h"

#include <string.h>

/* A copy without slashes at the end ("/" itself stays).  The caller frees. */
static char *trimmed(const char *path)
{
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	return xstrndup(path, length);
}

/* The first of the two that is an absolute path, or NULL. */
static const char *absolute(const char *path, const char *fallback)
{
	if (path && path[0] == '/')
		return path;
	return fallback && fallback[0] == '/' ? fallback : NULL;
}

/* "<value, or the fallback>/agentdeck".  The caller frees. */
static char *below_xdg(const char *value, char *fallback)
{
	cleanup_free char *owned = fallback;
	cleanup_free char *base = trimmed(absolute(value, owned));
	return path_join(base, "agentdeck");
}

int paths_find(const char *(*lookup)(const char *name), const char *passwd_home, unsigned uid,
	       struct paths *ret, struct error *err)
{
	const char *root = lookup("AGENTDECK_HOME");
	const char *home = absolute(lookup("HOME"), passwd_home);
	if (!home)
		return error_set(err, ERROR_USAGE,
				 "no home directory is known: set HOME to an absolute path");
	if (!is_empty(root) && root[0] != '/') {
		cleanup_free char *shown = visible(root);
		return error_set(
			err, ERROR_USAGE,
			"AGENTDECK_HOME is \"%s\": set it to an absolute path, or unset it", shown);
	}

	cleanup_paths struct paths paths = { .home = trimmed(home) };
	cleanup_free char *user_runtime = xasprintf("/run/user/%u", uid);
	paths.user_runtime = trimmed(absolute(lookup("XDG_RUNTIME_DIR"), user_runtime));
	cleanup_free char *temporary = trimmed(absolute(lookup("TMPDIR"), "/tmp"));
	cleanup_free char *direct = xasprintf("agentdeck-%u", uid);
	paths.direct = path_join(temporary, direct);
	/* Sockets are there because it is short: refuse it when it is not. */
	if (strlen(paths.direct) + strlen("/01234567/01234567/" PATHS_SOCKET_NAME) >
	    PATHS_SOCKET_MAX) {
		free(paths.direct);
		paths.direct = path_join("/tmp", direct);
	}
	if (!is_empty(root)) {
		paths.config = trimmed(root);
		paths.state = trimmed(root);
		paths.runtime = path_join(paths.state, "run");
	} else {
		paths.config = below_xdg(lookup("XDG_CONFIG_HOME"),
					 path_join(paths.home, ".config"));
		paths.state = below_xdg(lookup("XDG_STATE_HOME"),
					path_join(paths.home, ".local/state"));
		paths.runtime = path_join(paths.user_runtime, "agentdeck");
	}
	*ret = paths;
	paths = (struct paths){ 0 };
	return 0;
}

void paths_free(struct paths *paths)
{
	free(paths->home);
	free(paths->config);
	free(paths->state);
	free(paths->runtime);
	free(paths->direct);
	free(paths->user_runtime);
	*paths = (struct paths){ 0 };
}

/* FNV-1a.  It must be the same on every machine and in every version, because a run outlives the
 * program. */
static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

char *paths_run_directory(const char *root, const char *short_root, const char *id)
{
	char *directory = path_join(root, id);
	if (strlen(directory) + 1 + strlen(PATHS_SOCKET_NAME) <= PATHS_SOCKET_MAX)
		return directory;
	free(directory);
	return xasprintf("%s/%08x/%s", short_root, hash_text(root), id);
}

enum { HASH_LENGTH = 8 };

static bool is_direct_name(const char *name)
{
	static const char prefix[] = "agentdeck-";
	const char *uid = name + strlen(prefix);
	return starts_with(name, prefix) && *uid && uid[strspn(uid, "0123456789")] == '\0';
}

static bool is_hash(const char *name)
{
	return strlen(name) == HASH_LENGTH && strspn(name, "0123456789abcdef") == HASH_LENGTH;
}

/* Cut the last name off path, in place. */
static const char *cut(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash)
		return "";
	*slash = '\0';
	return slash + 1;
}

/* "/a/../b", "/a//b" and "/a/" are other names of the same directory. */
static bool is_plain(const char *path)
{
	if (*path != '/' || ends_with(path, "/") || strstr(path, "//"))
		return false;
	for (const char *dot = strstr(path, "/."); dot; dot = strstr(dot + 1, "/."))
		if (dot[2] == '\0' || dot[2] == '/' ||
		    (dot[2] == '.' && (dot[3] == '\0' || dot[3] == '/')))
			return false;
	return true;
}

bool paths_is_run_directory(const char *directory, const char *id)
{
	cleanup_free char *rest = xstrdup(directory);
	if (!is_plain(directory) || is_empty(id) || !streq(cut(rest), id))
		return false;
	const char *parent = cut(rest);
	if (is_hash(parent))
		return is_direct_name(cut(rest));
	return streq(parent, "agentdeck") || streq(parent, "run") || is_direct_name(parent);
}
