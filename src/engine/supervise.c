/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "model/naming.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#define LOCK_NAME "supervise.lock"

enum { SUPERVISE_LOST = 2, RETRY_MS = 10500, MOST_DOUBLINGS = 8 };

struct store *supervise_store(struct supervisor *supervisor, const char *profile)
{
	cleanup_error struct error err = { 0 };
	struct store *store;
	for (size_t i = 0; i < supervisor->store_count; i++)
		if (streq(store_profile(supervisor->stores[i]), profile))
			return supervisor->stores[i];
	if (store_open(supervisor->deck->paths.state, profile, &store, &err) < 0) {
		log_error("profile %s: %s", profile, err.message);
		return NULL;
	}
	supervisor->stores = xreallocarray(supervisor->stores, supervisor->store_count + 1,
					   sizeof(*supervisor->stores));
	return supervisor->stores[supervisor->store_count++] = store;
}

/* False: what is in it could not be learned. */
static bool look_at_profile(struct supervisor *supervisor, const char *profile)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_error struct error err = { 0 };
	struct store *store = supervise_store(supervisor, profile);
	if (!store)
		return false;
	if (store_list(store, &rows, &err) < 0) {
		log_error("profile %s: %s", profile, err.message);
		return false;
	}
	/* The damaged ones, too: they may be readable again before anything else tells of them. */
	for (size_t i = 0; i < rows.count; i++)
		(void)session_find(supervisor, profile, rows.rows[i].base, true);
	return true;
}

static bool look_at_profiles(struct supervisor *supervisor)
{
	bool all = true;
	struct stat st;
	DIR *directory = opendir(supervisor->deck->paths.state);
	if (!directory) {
		log_error("%s: %s", supervisor->deck->paths.state, strerror(errno));
		return false;
	}
	/* Not by d_type: not every file system knows it, readdir(3). */
	for (const struct dirent *entry; (entry = readdir(directory));)
		if (naming_check_profile(entry->d_name, NULL) == 0 &&
		    fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
			all &= look_at_profile(supervisor, entry->d_name);
	(void)closedir(directory);
	return all;
}

static void on_relook(void *context);

/* Everything that is there, and everything that was. */
static void look_at_all(struct supervisor *supervisor)
{
	loop_remove(TAKE_PTR(supervisor->relook));
	if (look_at_profiles(supervisor)) {
		supervisor->relooks = 0;
	} else {
		(void)loop_add_timer(supervisor->loop, clock_ms() + ((int64_t)RETRY_MS << supervisor->relooks),
				     on_relook, supervisor, &supervisor->relook, NULL);
		supervisor->relooks += supervisor->relooks < MOST_DOUBLINGS;
	}
	for (size_t i = supervisor->count; i > 0; i--)
		(void)session_look(supervisor->sessions[i - 1]);
}

static void on_relook(void *context)
{
	look_at_all(context);
}

static void on_followed(const struct follow_event *event, void *context)
{
	struct supervisor *supervisor = context;
	struct session *session;
	switch (event->what) {
	case FOLLOW_ALL:
		look_at_all(supervisor);
		return;
	case FOLLOW_MANIFEST:
		(void)session_look(session_find(supervisor, event->profile, event->base, true));
		return;
	case FOLLOW_REMOVED:
		session = session_find(supervisor, event->profile, event->base, false);
		if (session)
			session_forget(session);
		return;
	case FOLLOW_ACTIVITY:
		session = session_find(supervisor, event->profile, event->base, false);
		if (session)
			session_note_activity(session);
		return;
	}
}

static void on_retry(void *context);

static void read_events(struct supervisor *supervisor)
{
	cleanup_error struct error err = { 0 };
	if (follow_read(supervisor->follow, on_followed, supervisor, &err) >= 0)
		return;
	log_error("%s", err.message);
	loop_remove(TAKE_PTR(supervisor->retry));
	/* Without its state directory there is nothing to supervise. */
	if (err.code == ERROR_NOT_FOUND ||
	    loop_add_timer(supervisor->loop, clock_ms() + RETRY_MS, on_retry, supervisor,
			   &supervisor->retry, NULL) < 0)
		loop_exit(supervisor->loop, SUPERVISE_LOST);
}

static void on_follow(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	read_events(context);
}

static void on_retry(void *context)
{
	struct supervisor *supervisor = context;
	loop_remove(TAKE_PTR(supervisor->retry));
	read_events(supervisor);
}

static void on_signal(int signal_number, void *context)
{
	struct supervisor *supervisor = context;
	log_info("SIG%s: %s", sigabbrev_np(signal_number), signal_number == SIGHUP ? "begins anew" : "ends");
	/* Told to stop, the manager waits for the end of this process, which begins anew as itself. */
	if (signal_number != SIGHUP)
		loop_stopping(supervisor->loop);
	loop_exit(supervisor->loop, signal_number == SIGHUP ? SUPERVISE_AGAIN : SUPERVISE_ENDED);
}

/* Three descriptors for each live session are more than the usual soft limit has room for.  What is started gets the old
 * one back (work_start()): a program that uses select(2) relies on it. */
static void raise_limit(struct supervisor *supervisor)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &supervisor->usual_files) < 0)
		return;
	limit = supervisor->usual_files;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Who begins anew takes what it finds for the usual. */
static void restore_limit(const struct supervisor *supervisor)
{
	if (!supervisor->usual_files.rlim_max)
		return;
	(void)setrlimit(RLIMIT_NOFILE, &supervisor->usual_files);
}

static int take_lock(const struct deck *deck, struct fs_lock *ret, struct error *err)
{
	cleanup_close int state = -1;
	if (fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	int r = fs_lock(state, LOCK_NAME, 0, ret, err);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "a supervisor is at work already: see agentdeck supervise "
				 "--status");
	return r < 0 ? -1 : 0;
}

bool supervise_is_running(const struct deck *deck)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_error struct error err = { 0 };
	return take_lock(deck, &lock, &err) < 0 && err.code == ERROR_BUSY;
}

static int add_sources(struct supervisor *supervisor, struct error *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct loop_source *source;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_add_signal(supervisor->loop, signals[i], on_signal, supervisor, &source, err) < 0)
			return -1;
	/* First: what changes while we look is then seen twice, not missed. */
	if (follow_open(supervisor->deck->paths.state, NULL, &supervisor->follow, err) < 0 ||
	    loop_add_io(supervisor->loop, follow_descriptor(supervisor->follow), EPOLLIN, on_follow,
			supervisor, &source, err) < 0)
		return -1;
	return 0;
}

static void supervisor_clear(struct supervisor *supervisor)
{
	service_close(supervisor->service);
	for (size_t i = 0; i < supervisor->count; i++)
		session_free(supervisor->sessions[i]);
	free(supervisor->sessions);
	for (size_t i = 0; i < supervisor->store_count; i++)
		store_close(supervisor->stores[i]);
	free(supervisor->stores);
	loop_free(supervisor->loop);
	follow_close(supervisor->follow);
	restore_limit(supervisor);
}

int supervise_run(struct deck *deck, struct error *err)
{
	CLEANUP(supervisor_clear) struct supervisor supervisor = { .deck = deck };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (take_lock(deck, &lock, err) < 0 || loop_new(&supervisor.loop, err) < 0 ||
	    add_sources(&supervisor, err) < 0)
		return -1;
	raise_limit(&supervisor);
	work_inherit(&supervisor);
	log_info("supervises %s", deck->paths.state);
	calls_open(&supervisor);
	look_at_all(&supervisor);
	loop_ready(supervisor.loop, "Supervising");
	int r = loop_run(supervisor.loop, err);
	if (r == SUPERVISE_LOST)
		return error_set(err, ERROR_NOT_FOUND, "%s cannot be followed any more", deck->paths.state);
	return r;
}
