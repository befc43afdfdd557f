/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/configfile.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LOCK_TIMEOUT_MS = 30000, PERMISSIONS = 0777 };

/* The directory is the user's: no other program names a file so. */
#define TEMPORARY_PREFIX ".agentdeck-config-"

void configfile_free(struct configfile *file)
{
	free(file->path);
	free(file->real);
	strbuf_free(&file->text);
	*file = (struct configfile){ 0 };
}

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode)   ? "a FIFO"
	       : S_ISCHR(mode)  ? "a character device"
	       : S_ISBLK(mode)  ? "a block device"
	       : S_ISSOCK(mode) ? "a socket"
				: "a directory";
}

/* The replacement would belong to us, and a device such as /dev/null would be lost. */
static int check_is_ours(const struct configfile *file, struct stat *st, struct error *err)
{
	if (stat(file->real, st) < 0)
		return error_set_errno(err, errno, "%s", file->real);
	if (!S_ISREG(st->st_mode))
		return error_set(err, ERROR_SYSTEM,
				 "%s is %s and not a regular file: put a regular file in its "
				 "place, or change it by hand",
				 file->real, kind_of(st->st_mode));
	if (st->st_uid != geteuid())
		return error_set(err, ERROR_SYSTEM,
				 "%s belongs to another user: change it as that user", file->real);
	return 0;
}

int configfile_read(const struct deck *deck, struct configfile *ret, struct error *err)
{
	cleanup_configfile struct configfile file = {
		.path = path_join(deck->paths.config, DECK_CONFIG),
	};
	struct stat st;
	const int r = deck_read_config(deck, &file.text, err);
	if (r < 0)
		return -1;
	file.exists = r == 0;
	if (!file.exists && lstat(file.path, &st) == 0)
		return error_set(
			err, ERROR_SYSTEM,
			"%s is a link to nothing: make the file that it names, or remove it",
			file.path);
	file.real = file.exists ? realpath(file.path, NULL) : xstrdup(file.path);
	if (!file.real)
		return error_set_errno(err, errno, "%s", file.path);
	if (file.exists && check_is_ours(&file, &st, err) < 0)
		return -1;
	file.mode = file.exists ? st.st_mode & PERMISSIONS : 0;
	*ret = file;
	file = (struct configfile){ 0 };
	return 0;
}

int configfile_open_directory(const struct configfile *file, int *ret, struct error *err)
{
	cleanup_free char *directory = xstrndup(
		file->real, (size_t)(path_basename(file->real) - file->real - 1));
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return fs_open_private_directory(directory, ret, err);
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", directory);
	*ret = fd;
	return 0;
}

static bool is_same_text(const struct strbuf *a, const struct strbuf *b)
{
	return a->length == b->length && memcmp(strbuf_text(a), strbuf_text(b), a->length) == 0;
}

static bool is_unchanged(const struct configfile *before, const struct configfile *now)
{
	return before->exists == now->exists && streq(before->real, now->real) &&
	       is_same_text(&before->text, &now->text);
}

bool configfile_has(const struct deck *deck, const struct strbuf *text)
{
	cleanup_configfile struct configfile file = { 0 };
	return configfile_read(deck, &file, NULL) == 0 && file.exists &&
	       is_same_text(&file.text, text);
}

static int replace(const struct deck *deck, const struct configfile *now, const struct strbuf *text,
		   struct error *err)
{
	const struct fs_content content = { strbuf_text(text), text->length, FS_DURABLE,
					    TEMPORARY_PREFIX, NULL };
	cleanup_close int directory = -1;
	const char *name = path_basename(now->real);
	if (configfile_open_directory(now, &directory, err) < 0)
		return error_prefix(err, "%s", now->path);
	fs_sweep_prefix(directory, TEMPORARY_PREFIX);
	const int r = fs_replace_from(directory, directory, name, &content, err);
	const bool is_replaced = r == 0 || configfile_has(deck, text);
	/* A crash before this leaves it readable for its owner alone. */
	if (is_replaced && now->exists && fchmodat(directory, name, (mode_t)now->mode, 0) < 0)
		log_warning("%s: its permissions are 0600 now: %s", now->real, strerror(errno));
	if (r < 0 && is_replaced)
		return error_prefix(err, "%s is changed, but a power cut may undo it", now->path);
	return r < 0 ? error_prefix(err, "%s", now->path) : 0;
}

int configfile_replace(const struct deck *deck, const struct configfile *before,
		       const struct strbuf *text, struct error *err)
{
	cleanup_settings struct settings valid = { 0 };
	cleanup_configfile struct configfile now = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_close int state = -1;
	if (settings_parse(strbuf_text(text), text->length, before->path, &valid, err) < 0 ||
	    fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	int r = fs_lock(state, DECK_CONFIG_LOCK, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck changes the configuration: try again");
	if (r < 0 || configfile_read(deck, &now, err) < 0)
		return -1;
	if (!is_unchanged(before, &now))
		return CONFIGFILE_CHANGED;
	if (replace(deck, &now, text, err) < 0)
		return -1;
	log_info("config.toml: changed");
	return 0;
}
