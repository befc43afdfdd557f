/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#ifdef HAVE_SYSTEMD
#include "base/systemd.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#endif

#define LOG_FILE     "agentdeck.log"
#define LOG_OLD_FILE "agentdeck.log.1"
enum { LOG_SIZE_LIMIT = 4 << 20, ROTATE_TRIES = 5, ROTATE_LOCK_MS = 50 };

static struct {
	int directory, file;
	const char *component;
	enum log_level level;
	char instance[32], run[40];
	int journal; /* connected to it, to see whether it takes anything */
} log_state = {
	.directory = -1, .file = -1, .component = "", .level = LOG_LEVEL_INFO, .journal = -1
};

/* O_NONBLOCK: a FIFO in its place must not block us. */
static void open_file(void)
{
	struct stat st;
	log_state.file = fs_openat(
		log_state.directory, LOG_FILE,
		O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (log_state.file < 0 || (fstat(log_state.file, &st) == 0 && S_ISREG(st.st_mode)))
		return;
	(void)close(log_state.file);
	log_state.file = -1;
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
	/* The id may come from a command line or an environment, and must not forge a line. */
	cleanup_free char *shown = visible(id ? id : "");
	snprintf(log_state.instance, sizeof(log_state.instance), "%.*s", (int)strcspn(shown, " "),
		 shown);
}

void log_set_run(const char *run_id)
{
	snprintf(log_state.run, sizeof(log_state.run), "%s", run_id ? run_id : "");
}

#ifdef HAVE_SYSTEMD

bool log_use_journal(void)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX,
					     .sun_path = "/run/systemd/journal/socket" };
	cleanup_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (log_state.journal < 0 && fd >= 0 && systemd_load(NULL) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		log_state.journal = TAKE_FD(fd);
	return true;
}

static void add_field(struct iovec *fields, int *count, const char *name, const char *value,
		      struct strbuf *storage)
{
	if (!*value)
		return;
	strbuf_addf(storage, "%s=%s", name, value);
	fields[(*count)++] = (struct iovec){ .iov_base = storage->data,
					     .iov_len = storage->length };
}

static void send_to_journal(enum log_level level, const char *text)
{
	static const char *const priorities[] = { "7", "6", "4", "3" };
	const char *const values[][2] = {
		{ "MESSAGE", text },
		{ "PRIORITY", priorities[level] },
		{ "SYSLOG_IDENTIFIER", "agentdeck" },
		{ "AGENTDECK_COMPONENT", log_state.component },
		{ "AGENTDECK_INSTANCE", log_state.instance },
		{ "AGENTDECK_RUN", log_state.run },
	};
	struct pollfd takes = { .fd = log_state.journal, .events = POLLOUT };
	struct strbuf storage[ARRAY_SIZE(values)] = { 0 };
	struct iovec fields[ARRAY_SIZE(values)];
	int count = 0;
	/* sd_journal_sendv(3) would wait forever for a journal that hangs with a full queue. */
	if (log_state.journal < 0 || poll(&takes, 1, 0) != 1 || !(takes.revents & POLLOUT))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		add_field(fields, &count, values[i][0], values[i][1], &storage[i]);
	(void)sd.journal_sendv(fields, count);
	for (size_t i = 0; i < ARRAY_SIZE(storage); i++)
		strbuf_free(&storage[i]);
}

#else

bool log_use_journal(void)
{
	return false;
}

static void send_to_journal(enum log_level level UNUSED, const char *text UNUSED)
{
}

#endif

static bool bears_the_name(const struct stat *opened, struct stat *ret)
{
	return fstatat(log_state.directory, LOG_FILE, ret, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ret->st_ino == opened->st_ino && ret->st_dev == opened->st_dev;
}

/* Under a lock, and only if it is still the same file.  False: no lock. */
static bool move_aside(const struct stat *opened, int64_t deadline_ms)
{
	struct stat named;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (fs_lock(log_state.directory, LOG_FILE ".lock", deadline_ms, &lock, NULL) != 0)
		return false;
	if (bears_the_name(opened, &named))
		(void)renameat(log_state.directory, LOG_FILE, log_state.directory, LOG_OLD_FILE);
	return true;
}

/* A process that finds the file over its size moves it aside, and also a file with a second name:
 * our lines must not appear in another file.  A link count of one is not enough to know, since it
 * may be that of the other name, once ours was removed.  The next file of our name is checked
 * again. False: do not write to the open file. */
static bool rotate(void)
{
	for (int i = 0; i < ROTATE_TRIES; i++) {
		struct stat opened, named;
		if (log_state.file < 0 || fstat(log_state.file, &opened) < 0)
			return false;
		bool is_named = bears_the_name(&opened, &named);
		bool is_alone = is_named && opened.st_nlink == 1 && named.st_nlink == 1;
		if (is_alone && (opened.st_size < LOG_SIZE_LIMIT || i > 0))
			return true;
		if (is_named && !move_aside(&opened, is_alone ? 0 : clock_ms() + ROTATE_LOCK_MS))
			return is_alone;
		(void)close(log_state.file);
		open_file();
	}
	return false;
}

static void write_to_file(enum log_level level, const char *text)
{
	static const char *const names[] = { "debug", "info", "warning", "error" };
	cleanup_strbuf struct strbuf line = { 0 };
	char date[CLOCK_TEXT_SIZE];

	if (log_state.file < 0)
		return;
	strbuf_addf(&line, "%s %s %s pid=%d ", clock_format(clock_wall_us(), date), names[level],
		    log_state.component, (int)getpid());
	if (*log_state.instance)
		strbuf_addf(&line, "instance=%s ", log_state.instance);
	strbuf_adds(&line, text);
	strbuf_adds(&line, "\n");
	if (!rotate())
		return;
	/* One write, so that lines of several processes do not mix (O_APPEND); more only if the
	 * kernel takes a part. */
	(void)fs_write_all(log_state.file, line.data, line.length, LOG_FILE, NULL);
}

void log_line(enum log_level level, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	if (level < log_state.level || (log_state.file < 0 && log_state.journal < 0))
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	cleanup_free char *shown = visible(text);
	write_to_file(level, shown);
	send_to_journal(level, shown);
}
