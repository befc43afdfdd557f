/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/lease.h"

#include "base/clock.h"
#include "base/libc.h"
#include "base/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEATS = 6 /* in a lease */, AGAIN_MS = 1000, SOFT_MS = 5000, HARD_MS = 15000, OWNER_FD = 3 };

struct lease {
	const char *state;
	const struct incarnation *incarnation;
	struct process_id owner; /* the main program */
	int owner_end;           /* readable when that has ended */
	int beats;               /* from the process that renews */
	pid_t renewer;
	int64_t renewed_ms;
};

/* What the renewer says: when it began a renewal that came through, or this. */
#define REPLACED INT64_C(-1)

static int64_t lease_ms(const struct lease *lease)
{
	return lease->incarnation->lease_s * INT64_C(1000);
}

/* ---- the process that renews ------------------------------------------------------------------ */

/* REPLACED, 0 (it is tried again), or when it was begun: a successor may have seen it since then. */
static int64_t renew(const struct lease *lease, int64_t beat)
{
	cleanup_incarnation struct incarnation now = { 0 };
	const int64_t begun_ms = clock_ms();
	int r = incarnation_read(lease->state, &now, NULL);
	if (r == 0)
		r = streq(now.id, lease->incarnation->id)
			    ? incarnation_say(lease->state, now.id, beat, NULL)
			    : INCARNATION_NONE;
	return r == INCARNATION_NONE ? REPLACED : r < 0 ? 0 : begun_ms;
}

static _Noreturn void keep_renewing(const struct lease *lease, int beats)
{
	for (int64_t beat = clock_ms();; beat++) {
		const int64_t next_ms = clock_ms() + lease_ms(lease) / BEATS;
		const int64_t said = renew(lease, beat);
		if (said && write(beats, &said, sizeof(said)) != sizeof(said))
			_exit(1);
		clock_pause_until(said ? next_ms : clock_ms() + AGAIN_MS);
	}
}

static void start_renewer(struct lease *lease)
{
	const pid_t keeper = getpid();
	int ends[2];
	lease->renewer = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	lease->renewer = fork();
	if (lease->renewer == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(ends[0]);
		if (getppid() != keeper)
			_exit(1);
		keep_renewing(lease, ends[1]);
	}
	(void)close(ends[1]);
	lease->beats = ends[0];
}

/* ---- the keeper ------------------------------------------------------------------------------- */

/* False: another main program has the state directory. */
static bool take_beat(struct lease *lease)
{
	int64_t said;
	const ssize_t n = read(lease->beats, &said, sizeof(said));
	if (n == sizeof(said)) {
		lease->renewed_ms = said;
		return said != REPLACED;
	}
	if (n < 0 && errno == EINTR)
		return true;
	/* The renewer was killed: start the next one in a moment. */
	(void)close(lease->beats);
	lease->beats = -1;
	(void)waitpid(lease->renewer, NULL, 0);
	clock_pause_until(clock_ms() + AGAIN_MS);
	return true;
}

/* Until it is lost, or its owner has ended. */
static void watch(struct lease *lease)
{
	for (bool is_held = true; is_held;) {
		const int64_t end_ms = lease->renewed_ms + lease_ms(lease);
		if (lease->beats < 0)
			start_renewer(lease);
		struct pollfd events[] = {
			{ .fd = lease->owner_end, .events = POLLIN },
			{ .fd = lease->beats, .events = POLLIN },
		};
		const int64_t until_ms = lease->beats < 0 ? clock_ms() + AGAIN_MS : end_ms;
		const int n = poll(events, ARRAY_SIZE(events), clock_left_ms(until_ms));
		if (n > 0 && events[1].revents)
			is_held = take_beat(lease);
		if (clock_ms() >= lease->renewed_ms + lease_ms(lease) ||
		    (n > 0 && events[0].revents))
			is_held = false;
	}
}

static _Noreturn void keep(struct lease *lease)
{
	sigset_t all;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	/* Not the lock of the state directory: it is free when the main program ends. */
	(void)dup2(lease->owner_end, OWNER_FD);
	(void)close_range(OWNER_FD + 1, ~0U, 0);
	lease->owner_end = OWNER_FD;
	watch(lease);
	cleanup_free char *mark = incarnation_mark(lease->incarnation);
	const int64_t now_ms = clock_ms();
	(void)process_end_all(&lease->owner, mark, now_ms + SOFT_MS, now_ms + HARD_MS, NULL);
	_exit(0);
}

int lease_keep(const char *state, const struct incarnation *incarnation, struct process_id *ret,
	       struct error *err)
{
	struct lease lease = {
		.state = state, .incarnation = incarnation, .beats = -1, .renewed_ms = clock_ms()
	};
	if (process_identify(getpid(), &lease.owner, err) != 0)
		return -1;
	cleanup_close int owner_end = pidfd_open(getpid(), 0);
	if (owner_end < 0)
		return error_set_errno(err, errno, "watch the main program");
	lease.owner_end = owner_end;
	const pid_t pid = fork();
	if (pid < 0)
		return error_set_errno(err, errno, "start the keeper of the lease");
	if (pid == 0)
		keep(&lease);
	if (process_identify(pid, ret, NULL) != 0)
		return error_set(err, ERROR_CHILD, "the keeper of the lease was killed at once");
	return 0;
}
