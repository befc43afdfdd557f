/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/guard.h"

#include "base/fsutil.h"
#include "driver/systemd/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK      "# Written by \"agentdeck supervise --guard\", removed by --unguard.\n"
#define UNITS     "/etc/systemd/system"
#define FILE_NAME "agentdeck-guard.conf"

enum { FILE_MAX = 1 << 16 };

/* A file of the guard: UNITS/<directory>/<name>. */
struct guard_file {
	char *directory, *name, *text;
};

enum { GUARD_FILES = 2 };
struct guard_files {
	struct guard_file items[GUARD_FILES];
};
static void guard_files_free(struct guard_files *files)
{
	for (size_t i = 0; i < GUARD_FILES; i++) {
		free(files->items[i].directory);
		free(files->items[i].name);
		free(files->items[i].text);
	}
}

/* After a soft reboot logind does not start the managers of lingering users. */
static struct guard_files files_of(uid_t uid)
{
	const unsigned number = uid;
	return (struct guard_files){ {
		{ xasprintf("user@%u.service.d", number), xstrdup(FILE_NAME),
		  xstrdup(MARK "[Service]\nRestart=on-failure\nRestartSec=1s\n") },
		{ xstrdup("multi-user.target.d"), xasprintf("agentdeck-guard-%u.conf", number),
		  xasprintf(MARK "[Unit]\nWants=user@%u.service\n", number) },
	} };
}

static char *path_of(const struct guard_file *file)
{
	return xasprintf(UNITS "/%s/%s", file->directory, file->name);
}

void guard_user_free(struct guard_user *user)
{
	free(user->name);
	*user = (struct guard_user){ 0 };
}

int guard_find_user(const char *name, struct guard_user *ret, struct error *err)
{
	const char *wanted = name ? name : getenv("SUDO_USER");
	if (is_empty(wanted))
		return error_set(err, ERROR_USAGE,
				 "whose user manager? sudo agentdeck supervise --guard USER");
	const struct passwd *user = getpwnam(wanted);
	if (!user) {
		cleanup_free char *shown = visible(wanted);
		return error_set(err, ERROR_NOT_FOUND, "there is no user %s", shown);
	}
	*ret = (struct guard_user){ .uid = user->pw_uid, .name = xstrdup(user->pw_name) };
	return 0;
}

static int check_root(struct error *err)
{
	if (geteuid() != 0)
		return error_set(err, ERROR_REFUSED,
				 "only root can do that: sudo agentdeck supervise --guard");
	/* sd_booted(3) */
	return access("/run/systemd/system", F_OK) < 0
		       ? error_set(err, ERROR_UNAVAILABLE, "this machine does not run systemd")
		       : 0;
}

/* FS_ABSENT. */
static int check_ours(const char *path, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(AT_FDCWD, path, FILE_MAX, &text, err);
	if (r != 0)
		return r;
	return starts_with(strbuf_text(&text), MARK)
		       ? 0
		       : error_set(err, ERROR_EXISTS,
				   "%s was not written by agentdeck: it is left alone", path);
}

static int open_directory(const char *name, int *ret, struct error *err)
{
	cleanup_free char *path = path_join(UNITS, name);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_set_file(err, errno, "make directory %s", path);
	*ret = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? error_set_file(err, errno, "open %s", path) : 0;
}

static int write_one(const struct guard_file *file, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_free char *path = path_of(file);
	if (check_ours(path, err) < 0 || open_directory(file->directory, &directory, err) < 0 ||
	    fs_replace(directory, file->name, file->text, strlen(file->text), FS_DURABLE, err) < 0)
		return -1;
	return fchmodat(directory, file->name, 0644, 0) < 0
		       ? error_set_file(err, errno, "change the mode of %s", path)
		       : 0;
}

/* FS_ABSENT. */
static int remove_one(const struct guard_file *file, struct error *err)
{
	cleanup_free char *path = path_of(file), *directory = path_join(UNITS, file->directory);
	int r = check_ours(path, err);
	if (r != 0)
		return r;
	if (unlink(path) < 0)
		return error_set_file(err, errno, "remove %s", path);
	/* The directory may have other files. */
	(void)rmdir(directory);
	return 0;
}

/* The system's manager has its own socket below /run, as a user's has below /run/user/UID. */
static int reload_system(struct error *err)
{
	cleanup_unit_bus struct unit_bus *bus = NULL;
	cleanup_free char *why = NULL;
	int r = unit_bus_open("/run", &bus, &why, err);
	if (r == UNIT_NO_MANAGER)
		return error_set(err, ERROR_UNAVAILABLE,
				 "systemd cannot be told (%s): run systemctl daemon-reload", why);
	return r < 0 ? -1 : unit_reload_manager(bus, err);
}

int guard_put(const struct guard_user *user, char **ret_file, struct error *err)
{
	CLEANUP(guard_files_free) struct guard_files files = files_of(user->uid);
	if (check_root(err) < 0)
		return -1;
	for (size_t i = 0; i < GUARD_FILES; i++)
		if (write_one(files.items + i, err) < 0)
			return -1;
	if (reload_system(err) < 0)
		return -1;
	*ret_file = path_of(files.items);
	return 0;
}

int guard_take_away(const struct guard_user *user, char **ret_file, struct error *err)
{
	CLEANUP(guard_files_free) struct guard_files files = files_of(user->uid);
	bool was_there = false;
	if (check_root(err) < 0)
		return -1;
	for (size_t i = 0; i < GUARD_FILES; i++) {
		int r = remove_one(files.items + i, err);
		if (r < 0)
			return -1;
		was_there |= r == 0;
	}
	if (!was_there)
		return GUARD_NONE;
	if (reload_system(err) < 0)
		return -1;
	*ret_file = path_of(files.items);
	return 0;
}

bool guard_is_there(uid_t uid)
{
	CLEANUP(guard_files_free) struct guard_files files = files_of(uid);
	cleanup_free char *path = path_of(files.items);
	return access(path, F_OK) == 0;
}
