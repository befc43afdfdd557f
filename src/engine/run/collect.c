/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/collect.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/capsule/capsule.h"
#include "engine/conversation/report.h"
#include "engine/roster/notice.h"
#include "engine/roster/statusline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { LOCK_MS = 10000, REPORTS_MOST = 1000 };

#define COLLECT_LOCK "reports.lock"

/* Where the reports of one instance are. */
struct collection {
	struct deck *deck;
	const char *base;
	int directory;
};

static void collection_clear(struct collection *collection)
{
	if (collection->directory >= 0)
		(void)close(collection->directory);
}

static void take(const struct collection *collection, const char *text, size_t length)
{
	struct deck *deck = collection->deck;
	cleanup_error struct error err = { 0 };
	struct report_news news = { 0 };
	struct hookfile_line line;
	size_t skipped;
	if (hookfile_read_line(text, length, &line, &skipped, &err) < 0) {
		log_warning("report not taken: %s", err.message);
		return;
	}
	struct sender sender = { .run = line.run, .count = line.count };
	memcpy(sender.processes, line.senders, line.count * sizeof(*line.senders));
	const struct report_parcel parcel = { deck, collection->base, &sender, text + skipped,
					      length - skipped };
	if (report_take(&parcel, &news, &err) < 0)
		log_warning("report not taken: %s", err.message);
	statusline_follow(deck->store, collection->base, news.before, news.now);
	notice_activity(deck, deck->store, collection->base,
			&(struct notice_change){ news.before, news.now, news.since_us });
}

/* A report may be long: what counts of it is kept. */
static int read_file(int directory, const char *name, struct strbuf *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = fs_openat(directory, name,
					 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_file(err, errno, "open %s", name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_CORRUPT, "%s is not a regular file", name);
	return report_read(fd, clock_ms() + REPORT_TIMEOUT_MS, ret, err);
}

static void take_file(const struct collection *collection, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	if (read_file(collection->directory, name, &text, &err) < 0)
		log_warning("report not taken: %s", err.message);
	else
		take(collection, strbuf_text(&text), text.length);
	(void)unlinkat(collection->directory, name, 0);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int take_all(const struct collection *collection, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(collection->directory, &names, err) < 0)
		return -1;
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.count && i < REPORTS_MOST; i++)
		if (names.items[i][0] != '.')
			take_file(collection, names.items[i]);
	return 0;
}

/* The directory of its capsule; NULL: it has none.  A guest without a run has no room: another one
 * may have it by now.  The caller frees. */
static char *find_capsule(const struct deck *deck, const char *base)
{
	cleanup_instance struct instance *instance = NULL;
	char *own = xasprintf("%s/%s/%s/" PATHS_CAPSULE_DIRECTORY, deck->paths.state, deck->profile,
			      base);
	if (access(own, F_OK) == 0)
		return own;
	free(own);
	const bool has_run = store_load(deck->store, base, &instance, NULL) == 0 &&
			     instance->run.id;
	cleanup_free char *room = has_run ? instance_room(instance) : NULL;
	return room ? xasprintf("%s/%s/%s", deck->paths.state, deck->profile, room) : NULL;
}

static int open_collection(struct deck *deck, const char *base, struct collection *ret,
			   struct error *err)
{
	cleanup_close int fd = -1;
	cleanup_free char *path = find_capsule(deck, base);
	if (!path || access(path, F_OK) < 0)
		return FS_ABSENT;
	if (fs_open_private_directory(path, &fd, err) < 0)
		return -1;
	return fs_open_private_directory_at(fd, CAPSULE_REPORTS, false, &ret->directory, err);
}

int collect_reports(struct deck *deck, const char *base, struct error *err)
{
	CLEANUP(collection_clear)
	struct collection collection = { .deck = deck, .base = base, .directory = -1 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	int r = open_collection(deck, base, &collection, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	/* The process that has the lock takes all reports. */
	r = fs_lock_in_turn(collection.directory, "." COLLECT_LOCK, clock_ms() + LOCK_MS, &lock,
			    err);
	return r != 0 ? (r < 0 ? -1 : 0) : take_all(&collection, err);
}
