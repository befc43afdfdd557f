/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/settings.h"

#include "base/fsutil.h"
#include "driver/foreign/foreign-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void foreign_settings_clear(struct foreign_settings *file)
{
	free(file->path);
	strbuf_free(&file->text);
	if (file->directory >= 0)
		(void)close(file->directory);
	if (file->fd >= 0)
		(void)close(file->fd);
}
int foreign_settings_open(const char *path, struct foreign_settings *ret, struct error *err)
{
	*ret = (struct foreign_settings){ .directory = -1, .fd = -1 };
	ret->path = realpath(path, NULL);
	if (!ret->path)
		return errno == ENOENT ? FOREIGN_ABSENT : error_set_errno(err, errno, "%s", path);
	char *slash = strrchr(ret->path, '/');
	cleanup_free char *directory = xstrndup(ret->path, (size_t)(slash - ret->path));
	ret->name = slash + 1;
	ret->directory = open(*directory ? directory : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->directory >= 0)
		ret->fd = openat(ret->directory, ret->name,
				 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (ret->fd < 0 || fstat(ret->fd, &ret->st) < 0)
		return error_set_errno(err, errno, "open %s", ret->path);
	if (!S_ISREG(ret->st.st_mode) || ret->st.st_uid != geteuid())
		return error_set(err, ERROR_INVALID, "%s is not a regular file of yours",
				 ret->path);
	return fs_read_fd(ret->fd, ret->path, FOREIGN_MAX_FILE, &ret->text, err);
}

static int write_copy(int fd, const struct foreign_settings *file, const char *name,
		      struct error *err)
{
	if (fs_write_all(fd, file->text.data, file->text.length, name, err) < 0)
		return -1;
	return fsync(fd) < 0 ? error_set_errno(err, errno, "write %s", name) : 0;
}

/* The file as it was, beside it: the first name of NAME.before-agentdeck[-2...] that is free. */
static int save_copy(const struct foreign_settings *file, char **ret_name, struct error *err)
{
	for (unsigned i = 1;; i++) {
		cleanup_free char *name = i == 1 ? xasprintf("%s.before-agentdeck", file->name)
						 : xasprintf("%s.before-agentdeck-%u", file->name,
							     i);
		cleanup_close int fd = openat(file->directory, name,
					      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
					      0600);
		if (fd < 0 && errno == EEXIST && i < 1000)
			continue;
		if (fd < 0)
			return error_set_errno(err, errno, "make %s beside %s", name, file->path);
		if (write_copy(fd, file, name, err) < 0) {
			(void)unlinkat(file->directory, name, 0);
			return -1;
		}
		*ret_name = TAKE_PTR(name);
		return 0;
	}
}

/* Agents write their settings, too. */
static bool has_changed(const struct foreign_settings *file)
{
	struct stat now;
	return fstatat(file->directory, file->name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	       now.st_ino != file->st.st_ino || now.st_dev != file->st.st_dev ||
	       now.st_size != file->st.st_size || now.st_mtim.tv_sec != file->st.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != file->st.st_mtim.tv_nsec;
}

/* The copy of an unchanged file is of no use, and may hold keys. */
static int drop_copy(const struct foreign_settings *file, const char *copy)
{
	(void)unlinkat(file->directory, copy, 0);
	return -1;
}

int foreign_settings_replace(const struct foreign_settings *file, const struct strbuf *text,
			     char **ret_copy, struct error *err)
{
	cleanup_free char *copy = NULL;
	const struct fs_content content = {
		.data = text->data, .length = text->length, .sync = FS_DURABLE, .like = &file->st
	};
	if (save_copy(file, &copy, err) < 0)
		return -1;
	if (has_changed(file)) {
		error_set(err, ERROR_BUSY, "%s has just been changed: try again", file->path);
		return drop_copy(file, copy);
	}
	if (fs_replace_from(file->directory, file->directory, file->name, &content, err) < 0) {
		error_prefix(err, "%s", file->path);
		if (!has_changed(file))
			return drop_copy(file, copy);
		return error_prefix(err, "the file as it was is %s beside it", copy);
	}
	*ret_copy = TAKE_PTR(copy);
	return 0;
}
