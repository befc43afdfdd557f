/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#define LOG_FILE "agentdeck.log"
#define LOG_OLD_FILE "agentdeck.log.1"
enum { LOG_SIZE_LIMIT = 4 << 20 };

static struct {
	int directory, file;
	const char *component;
	enum log_level level;
	char instance[32];
} log_state = { .directory = -1, .file = -1, .component = "", .level = LOG_LEVEL_INFO };

static void open_file(void)
{
	log_state.file = openat(log_state.directory, LOG_FILE,
				O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void log_open(int directory, const char *component)
{
	log_state.directory = fcntl(directory, F_DUPFD_CLOEXEC, 3);
	log_state.component = component;
	if (log_state.directory >= 0)
		open_file();
}

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

void log_set_instance(const char *id)
{
	snprintf(log_state.instance, sizeof(log_state.instance), "%s", id ? id : "");
}

/* Whoever finds the file over its size moves it aside, under a lock, if it is still the same one. */
static void rotate(void)
{
	struct stat opened, named;
	if (fstat(log_state.file, &opened) < 0 || opened.st_size < LOG_SIZE_LIMIT)
		return;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (fs_lock(log_state.directory, LOG_FILE ".lock", 0, &lock, NULL) != 0)
		return;
	if (fstatat(log_state.directory, LOG_FILE, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    named.st_ino == opened.st_ino)
		(void)renameat(log_state.directory, LOG_FILE, log_state.directory, LOG_OLD_FILE);
	(void)close(log_state.file);
	open_file();
}

void log_line(enum log_level level, const char *format, ...)
{
	static const char *const names[] = { "debug", "info", "warning", "error" };
	cleanup_strbuf struct strbuf line = { 0 };
	cleanup_free char *text = NULL;
	char date[CLOCK_TEXT_SIZE];
	va_list args;

	if (log_state.file < 0 || level < log_state.level)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	strbuf_addf(&line, "%s %s %s pid=%d ", clock_format(clock_wall_us(), date), names[level],
		    log_state.component, (int)getpid());
	if (*log_state.instance)
		strbuf_addf(&line, "instance=%s ", log_state.instance);
	strbuf_add_visible(&line, text);
	strbuf_adds(&line, "\n");
	rotate();
	/* One write, so that lines of several processes do not mix (O_APPEND). */
	if (log_state.file >= 0)
		(void)!write(log_state.file, line.data, line.length);
}
