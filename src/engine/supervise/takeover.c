/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/takeover.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/machine.h"
#include "engine/place/alive.h"
#include "engine/supervise/supervise.h"
#include "model/session/naming.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOK_MS = 5000,
	SOFT_MS = 5000,
	HARD_MS = 15000,
	DEPTH = 3,   /* of the directories that must be private: state/PROFILE/trees/ID */
	FTW_FDS = 8, /* nftw(3) keeps them open */
};

/* ---- the volume ------------------------------------------------------------------------------- */

static int close_to_others(const char *path, const struct stat *st, int type, struct FTW *at)
{
	if (type != FTW_D)
		return FTW_CONTINUE;
	const bool is_open = st->st_mode & (S_IWGRP | S_IWOTH);
	if (is_open && st->st_uid == geteuid())
		(void)chmod(path, S_IRWXU);
	return is_open && at->level < DEPTH ? FTW_CONTINUE : FTW_SKIP_SUBTREE;
}

void takeover_close_to_others(struct deck *deck)
{
	struct stat st;
	if (stat(deck->paths.state, &st) < 0 || !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return;
	(void)nftw(deck->paths.state, close_to_others, FTW_FDS, FTW_PHYS | FTW_ACTIONRETVAL);
	deck_open_log(deck, "supervise");
	log_warning("%s could be written by others (mode %04o): closed to them", deck->paths.state,
		    st.st_mode & 07777);
}

/* ---- the runtime directory -------------------------------------------------------------------- */

static char *make_below(const char *directory)
{
	cleanup_free char *path = is_empty(directory) || *directory != '/'
					  ? NULL
					  : path_join(directory, "agentdeck-XXXXXX");
	/* The name of a socket in it has to fit. */
	const bool fits = path && strlen(path) + strlen("/run/01234567/" PATHS_SOCKET_NAME) <=
					  PATHS_SOCKET_MAX;
	return fits && mkdtemp(path) ? TAKE_PTR(path) : NULL;
}

/* One of its own for each incarnation.  The root file system may be read-only. */
static char *make_runtime(const struct deck *deck, struct error *err)
{
	const char *const places[] = { getenv("TMPDIR"), "/tmp", deck->paths.user_runtime,
				       "/dev/shm", deck->paths.state };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *made = make_below(places[i]);
		if (made)
			return made;
	}
	(void)error_set(err, ERROR_SYSTEM,
			"no directory for sockets: TMPDIR, /tmp and /dev/shm cannot be written");
	return NULL;
}

void takeover_remove_runtime(const char *runtime)
{
	cleanup_free char *run = path_join(runtime, "run");
	cleanup_free char *socket = path_join(runtime, INCARNATION_SOCKET);
	(void)rmdir(run);
	(void)unlink(socket);
	(void)rmdir(runtime);
}

/* ---- the wait --------------------------------------------------------------------------------- */

struct wait {
	struct deck *deck;
	struct loop *loop;
	const struct incarnation *before;
	struct loop_source *timer;
	int64_t end_ms;
};

enum { WAIT_OVER, WAIT_ALIVE, WAIT_SIGNAL };

static void on_look(void *context)
{
	struct wait *wait = context;
	cleanup_incarnation struct incarnation now = { 0 };
	const int64_t now_ms = clock_ms();
	/* What cannot be read now is looked at again. */
	const int r = incarnation_read(wait->deck->paths.state, &now, NULL);
	const bool is_same = r == 0 && streq(now.id, wait->before->id) &&
			     now.beat == wait->before->beat;
	if (r == 0 && !is_same) {
		loop_exit(wait->loop, WAIT_ALIVE);
		return;
	}
	if (is_same && now_ms >= wait->end_ms) {
		loop_exit(wait->loop, WAIT_OVER);
		return;
	}
	const int64_t next_ms = now_ms + LOOK_MS;
	const bool is_last = now_ms < wait->end_ms && wait->end_ms < next_ms;
	(void)loop_set_timer(wait->timer, is_last ? wait->end_ms : next_ms, NULL);
}

static void on_signal(int signal_number UNUSED, void *context)
{
	const struct wait *wait = context;
	loop_exit(wait->loop, WAIT_SIGNAL);
}

static int refuse(const struct deck *deck, const struct incarnation *other, const char *more,
		  struct error *err)
{
	cleanup_free char *machine = visible(or_empty(other->machine));
	cleanup_free char *name = visible(or_empty(other->name));
	return error_set(err, ERROR_BUSY, "another main program has %s: on %s%s%s%s",
			 deck->paths.state, *machine ? machine : "another machine",
			 *name ? ", " : "", name, more);
}

static int await_end(struct deck *deck, const struct incarnation *before, int wait_s,
		     struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	struct loop_source *source;
	if (loop_new(&loop, err) < 0)
		return -1;
	struct wait wait = { .deck = deck,
			     .loop = loop,
			     .before = before,
			     .end_ms = clock_ms() + (int64_t)wait_s * 1000 };
	log_info("waiting %d s: the incarnation before may still run (%s)", wait_s,
		 or_empty(before->machine));
	if (loop_add_signal(loop, SIGTERM, on_signal, &wait, &source, err) < 0 ||
	    loop_add_signal(loop, SIGINT, on_signal, &wait, &source, err) < 0 ||
	    loop_add_signal(loop, SIGUSR1, on_signal, &wait, &source, err) < 0 ||
	    loop_add_timer(loop, clock_ms(), on_look, &wait, &wait.timer, err) < 0)
		return -1;
	const int r = loop_run(loop, err);
	if (r == WAIT_ALIVE)
		return refuse(deck, before, "", err);
	return r < 0 ? -1 : r == WAIT_SIGNAL ? TAKEOVER_ENDED : TAKEOVER_DONE;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static void describe(const struct takeover_order *order, const struct incarnation *before,
		     struct incarnation *ret)
{
	const struct machine_stamp here = machine_stamp();
	*ret = (struct incarnation){
		.host = before->host ? xstrdup(before->host) : naming_new_uuid(),
		.id = naming_new_uuid(),
		.name = xstrdup_or_null(order->name),
		.boot_id = xstrdup_or_null(here.boot_id),
		.pid_namespace = xstrdup_or_null(here.pid_namespace),
		.machine = xstrdup_or_null(here.host),
		.is_first = getpid() == 1,
		.lease_s = order->lease_s,
	};
}

static int take_lock(const struct deck *deck, const struct incarnation *before, struct fs_lock *ret,
		     struct error *err)
{
	cleanup_close int state = -1;
	if (fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	const int r = fs_lock(state, INCARNATION_LOCK, 0, ret, err);
	return r == FS_LOCK_BUSY ? refuse(deck, before, "", err) : r;
}

/* A main program that was killed where it was not PID 1 has left what it ran. */
static int end_what_is_left(const struct deck *deck, const struct incarnation *before,
			    struct error *err)
{
	if (!before->id || before->is_over || !incarnation_is_here(before))
		return 0;
	const int64_t now_ms = clock_ms();
	cleanup_free char *mark = incarnation_mark(before);
	if (process_end_all(NULL, mark, now_ms + SOFT_MS, now_ms + HARD_MS, NULL) > 0)
		return refuse(deck, before, ". It was killed, and what it ran does not end", err);
	takeover_remove_runtime(before->runtime);
	return 0;
}

static int find_live(struct store *store, void *context, struct error *err)
{
	char **title = context;
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count && !*title; i++)
		if (!rows.rows[i].damage && place_is_live(&rows.rows[i].run))
			*title = visible(rows.rows[i].title);
	return 0;
}

/* What runs here would be another host's from then on. */
static int check_ordinary(struct deck *deck, struct error *err)
{
	cleanup_free char *title = NULL;
	if (supervise_is_running(deck))
		return error_set(err, ERROR_BUSY,
				 "a supervisor of this machine has %s: end it first (agentdeck "
				 "supervise --status)",
				 deck->paths.state);
	if (deck_each_profile(deck, find_live, &title, err) < 0)
		return -1;
	return title ? error_set(err, ERROR_BUSY,
				 "session '%s' runs without a main program: stop it first", title)
		     : 0;
}

static int read_before(const struct deck *deck, struct incarnation *ret, struct error *err)
{
	return incarnation_read(deck->paths.state, ret, err) < 0 ? -1 : 0;
}

int takeover(struct deck *deck, const struct takeover_order *order, struct fs_lock *ret_lock,
	     struct incarnation *ret, struct error *err)
{
	cleanup_incarnation struct incarnation first = { 0 }, before = { 0 }, now = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (read_before(deck, &first, err) < 0 || take_lock(deck, &first, &lock, err) < 0 ||
	    read_before(deck, &before, err) < 0)
		return -1;
	if (!before.host && check_ordinary(deck, err) < 0)
		return -1;
	const int wait_s = incarnation_wait_s(&before, !order->lease_s);
	if (wait_s == INCARNATION_UNKNOWN)
		return refuse(deck, &before,
			      ". It had no lease, so nothing here shows whether it still runs: if "
			      "the engine has ended it, add --fenced once",
			      err);
	const int r = wait_s ? await_end(deck, &before, wait_s, err) : TAKEOVER_DONE;
	if (r != TAKEOVER_DONE)
		return r;
	if (end_what_is_left(deck, &before, err) < 0)
		return -1;
	describe(order, &before, &now);
	now.runtime = make_runtime(deck, err);
	if (!now.runtime || incarnation_write(deck->paths.state, &now, err) < 0)
		return -1;
	*ret_lock = lock;
	lock = FS_UNLOCKED;
	*ret = now;
	now = (struct incarnation){ 0 };
	return TAKEOVER_DONE;
}
