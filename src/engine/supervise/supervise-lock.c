/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/libc.h"
#include "engine/supervise/supervise.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/watch.h"
#include "engine/supervise/supervise-internal.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>

enum { PAUSE_MS = 1000, MOST_PAUSE_MS = 60000 };

/* Each machine that shares the directory has its own supervisor, for its own runs.  So has each
 * container that is no machine.  The caller frees. */
static char *lock_name(void)
{
	return machine_file("supervise", ".lock");
}

static int take_lock(const struct deck *deck, struct fs_lock *ret, struct error *err)
{
	cleanup_close int state = -1;
	if (fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	cleanup_free char *name = lock_name();
	int r = fs_lock(state, name, 0, ret, err);
	if (r == FS_LOCK_BUSY)
		return error_set(
			err, ERROR_BUSY,
			"a supervisor is already running: see agentdeck supervise --status");
	return r < 0 ? -1 : 0;
}

bool supervise_is_running(const struct deck *deck)
{
	cleanup_close int state = -1;
	cleanup_free char *name = lock_name();
	return fs_open_private_directory(deck->paths.state, &state, NULL) == 0 &&
	       fs_lock_is_held(state, name);
}

/* ---- waiting for it ------------------------------------------------------------------------- */

struct waiting {
	struct deck *deck;
	struct loop *loop;
	struct loop_source *timer;
	struct fs_lock lock;
	int closes; /* inotify(7): a process has closed the lock file */
	int64_t pause_ms;
	char *why; /* what was told last */
};

static void waiting_end(struct waiting *waiting)
{
	loop_free(waiting->loop);
	fs_unlock(&waiting->lock);
	free(waiting->why);
	if (waiting->closes >= 0)
		(void)close(waiting->closes);
}

static void tell(struct waiting *waiting, const char *why)
{
	if (streq(or_empty(waiting->why), why))
		return;
	replace_string(&waiting->why, why);
	log_warning("waits: %s", why);
	loop_status(waiting->loop, why);
}

static void try_again(struct waiting *waiting)
{
	cleanup_error struct error err = { 0 };
	if (take_lock(waiting->deck, &waiting->lock, &err) == 0) {
		loop_exit(waiting->loop, SUPERVISE_LOCKED);
		return;
	}
	tell(waiting, err.message);
	/* The try itself has closed the file. */
	watch_drain(waiting->closes);
	/* No event tells of an end just now, or of a directory that was repaired: a backoff. */
	(void)loop_set_timer(waiting->timer, clock_ms() + waiting->pause_ms, NULL);
	waiting->pause_ms = waiting->pause_ms * 2 < MOST_PAUSE_MS ? waiting->pause_ms * 2
								  : MOST_PAUSE_MS;
}

static void on_timer(void *context)
{
	try_again(context);
}

static void on_close(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	try_again(context);
}

static void on_signal(int signal_number, void *context)
{
	struct waiting *waiting = context;
	log_info("SIG%s: waiting ended", sigabbrev_np(signal_number));
	if (signal_number != SIGHUP)
		loop_stopping(waiting->loop);
	loop_exit(waiting->loop, signal_number == SIGHUP ? SUPERVISE_AGAIN : SUPERVISE_ENDED);
}

/* The process that holds the lock has its file open for writing, and closes it when it ends. */
static int add_sources(struct waiting *waiting, struct error *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	cleanup_free char *name = lock_name();
	cleanup_free char *path = path_join(waiting->deck->paths.state, name);
	struct loop_source *source;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_add_signal(waiting->loop, signals[i], on_signal, waiting, &source, err) <
		    0)
			return -1;
	waiting->closes = watch_open(path, IN_CLOSE_WRITE | IN_DONT_FOLLOW);
	if (waiting->closes >= 0 &&
	    loop_add_io(waiting->loop,
			&(struct loop_io){ waiting->closes, EPOLLIN, on_close, waiting }, &source,
			err) < 0)
		return -1;
	return loop_add_timer(waiting->loop, clock_ms(), on_timer, waiting, &waiting->timer, err);
}

static int await(struct deck *deck, struct fs_lock *ret, struct error *err)
{
	CLEANUP(waiting_end)
	struct waiting waiting = {
		.deck = deck,
		.lock = FS_UNLOCKED,
		.closes = -1,
		.pause_ms = PAUSE_MS,
	};
	if (loop_new(&waiting.loop, err) < 0 || add_sources(&waiting, err) < 0)
		return -1;
	loop_ready(waiting.loop, "Waiting");
	int r = loop_run(waiting.loop, err);
	if (r == SUPERVISE_LOCKED) {
		*ret = waiting.lock;
		waiting.lock = FS_UNLOCKED;
	}
	return r;
}

int supervise_lock(struct deck *deck, struct fs_lock *ret, struct error *err)
{
	struct error failure = { 0 };
	if (take_lock(deck, ret, &failure) == 0)
		return SUPERVISE_LOCKED;
	if (is_empty(getenv("NOTIFY_SOCKET")))
		return error_move(err, &failure);
	error_clear(&failure);
	return await(deck, ret, err);
}
