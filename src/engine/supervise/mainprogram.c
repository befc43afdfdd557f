/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/mainprogram.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/libc.h"
#include "base/log.h"
#include "base/runner.h"
#include "base/spawner.h"
#include "engine/deck/incarnation.h"
#include "engine/place/alive.h"
#include "engine/supervise/lease.h"
#include "engine/supervise/takeover.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum {
	/* before the supervisor starts again; doubles up to MOST_PAUSE_MS, until it ran that long */
	PAUSE_MS = 1000,
	MOST_PAUSE_MS = 60000,
	ASK_MS = 5000,    /* for a connection to say what it wants */
	ERRANDS_MAX = 64, /* at once: more wait */
	LAST_MS = 1000,   /* of the grace, for what is left when the agents have ended */
	SOFT_MS = 5000,   /* for agents whose state directory does not answer */
	HARD_MS = 10000,
};

enum { MAIN_ENDED, MAIN_LOST };

/* A program that was started for another process, which waits for its end. */
struct errand {
	struct main_program *owner;
	int fd;
	struct loop_source *source, *limit; /* until it is asked for */
	pid_t pid;                          /* 0: it is not */
	struct errand *next;
};

struct main_program {
	struct deck *deck;
	const struct main_order *order;
	struct incarnation now;
	struct loop *loop;
	int listener;
	struct loop_source *requests, *pause, *limit, *reaper;
	struct loop_source *keeper; /* of the lease (lease.h) */
	struct errand *errands;
	size_t errand_count;
	int64_t begun_ms; /* the supervisor */
	int64_t pause_ms, end_ms;
	size_t resting;
	bool is_ending, has_supervisor;
};

/* ---- what is started for others --------------------------------------------------------------- */

static void errand_free(struct errand *errand)
{
	loop_remove(errand->source);
	loop_remove(errand->limit);
	(void)close(errand->fd);
	free(errand);
}

static void drop_errand(struct errand *errand)
{
	struct errand **at = &errand->owner->errands;
	while (*at != errand)
		at = &(*at)->next;
	*at = errand->next;
	errand->owner->errand_count--;
	if (errand->owner->requests)
		(void)loop_set_io(errand->owner->requests, EPOLLIN, NULL);
	errand_free(errand);
}

/* Reap every child, also the orphans that this process inherits. */
static void reap(void *context)
{
	struct main_program *program = context;
	pid_t pid;
	int status;
	while (child_reap_any(runner_owns, &pid, &status)) {
		struct errand *errand = program->errands;
		while (errand && errand->pid != pid)
			errand = errand->next;
		if (!errand)
			continue;
		spawner_tell_end(errand->fd, status);
		drop_errand(errand);
	}
}

static int start_for(struct errand *errand, struct error *err)
{
	cleanup_spawner_request struct spawner_request wanted = SPAWNER_REQUEST_EMPTY;
	if (spawner_take(errand->fd, &wanted, err) < 0)
		return -1;
	cleanup_free char *mark = incarnation_mark(&errand->owner->now);
	strvec_push(&wanted.environment, mark);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&wanted.argv),
		.environment = (char **)strvec_argv(&wanted.environment),
		.directory = wanted.directory > 0 ? wanted.directory : 0,
		.new_session = wanted.new_session,
	};
	struct error failure = { 0 };
	const int r = child_spawn(&request, wanted.stdio, &errand->pid, &failure);
	cleanup_close int pidfd = r == 0 ? pidfd_open(errand->pid, 0) : -1;
	spawner_answer(errand->fd,
		       r == 0  ? errand->pid
		       : r > 0 ? -ENOENT
			       : -(failure.os_errno ? failure.os_errno : EIO),
		       pidfd);
	return r < 0 ? error_move(err, &failure) : r;
}

static void on_request(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct errand *errand = context;
	cleanup_error struct error err = { 0 };
	loop_remove(TAKE_PTR(errand->source));
	loop_remove(TAKE_PTR(errand->limit));
	if (errand->owner->is_ending)
		(void)error_set(&err, ERROR_UNAVAILABLE, "the main program ends");
	else if (start_for(errand, &err) == 0)
		return;
	log_warning("a request was not carried out: %s", or_empty(err.message));
	drop_errand(errand);
}

static void on_late(void *context)
{
	drop_errand(context);
}

static void on_connection(int fd, uint32_t events UNUSED, void *context)
{
	struct main_program *program = context;
	int one;
	while (program->errand_count < ERRANDS_MAX && (one = spawner_accept(fd)) >= 0) {
		struct errand *errand = xcalloc(1, sizeof(*errand));
		*errand = (struct errand){ .owner = program, .fd = one, .next = program->errands };
		program->errands = errand;
		program->errand_count++;
		const struct loop_io io = { one, EPOLLIN, on_request, errand };
		if (loop_add_io(program->loop, &io, &errand->source, NULL) < 0 ||
		    loop_add_timer(program->loop, clock_ms() + ASK_MS, on_late, errand,
				   &errand->limit, NULL) < 0)
			drop_errand(errand);
	}
	if (program->errand_count == ERRANDS_MAX)
		(void)loop_set_io(program->requests, 0, NULL);
}

/* ---- the end ---------------------------------------------------------------------------------- */

static void finish(struct main_program *program)
{
	if (!program->has_supervisor && !program->resting)
		loop_exit(program->loop, MAIN_ENDED);
}

static void on_rested(const struct child_result *result, const struct error *failure, void *context)
{
	struct main_program *program = context;
	if (!result || result->exit_status != 0) {
		cleanup_free char *words = result ? child_last_words(result)
						  : xstrdup(failure->message);
		log_error("an agent was not ended in order: %s", words);
	}
	program->resting--;
	finish(program);
}

/* Our own program, beside the loop. */
static void start(struct main_program *program, const char *const *words, runner_handler handler)
{
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push(&argv, program->deck->program);
	strvec_push_array(&argv, words);
	const struct runner_request request = {
		.child = { .argv = (const char *const *)strvec_argv(&argv),
			   .new_session = true,
			   .outlives_us = true },
	};
	runner_start(program->loop, &request, handler, program);
}

static int rest_profile(struct store *store, void *context, struct error *err)
{
	struct main_program *program = context;
	cleanup_store_rows struct store_rows rows = { 0 };
	const int64_t left_ms = program->end_ms - clock_ms();
	cleanup_free char *within = xasprintf("%d", left_ms > 1000 ? (int)(left_ms / 1000) : 1);
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (row->damage || row->desired != DESIRED_RUNNING || !place_is_live(&row->run))
			continue;
		program->resting++;
		start(program,
		      (const char *const[]){ "--profile", store_profile(store), "revive", "--rest",
					     "--within", within, row->base, NULL },
		      on_rested);
	}
	return 0;
}

static void rest_all(struct main_program *program)
{
	cleanup_error struct error err = { 0 };
	if (deck_each_profile(program->deck, rest_profile, program, &err) < 0)
		log_error("not every agent is ended in order: %s", err.message);
	finish(program);
}

static void on_limit(void *context)
{
	struct main_program *program = context;
	log_warning("the grace is over: what still runs is killed");
	loop_exit(program->loop, MAIN_ENDED);
}

static void on_signal(int signal_number, void *context)
{
	struct main_program *program = context;
	log_info("SIG%s", sigabbrev_np(signal_number));
	if (signal_number == SIGHUP) {
		runner_signal(program, SIGHUP);
		return;
	}
	if (program->is_ending)
		return;
	program->is_ending = true;
	program->end_ms = clock_ms() + program->order->grace_ms - LAST_MS;
	(void)loop_add_timer(program->loop, program->end_ms, on_limit, program, &program->limit,
			     NULL);
	/* From here on nothing starts. */
	loop_remove(TAKE_PTR(program->requests));
	(void)close(program->listener);
	program->listener = -1;
	loop_remove(TAKE_PTR(program->pause));
	if (program->has_supervisor)
		runner_signal(program, SIGTERM);
	else
		rest_all(program);
}

/* ---- the supervisor --------------------------------------------------------------------------- */

static void start_supervisor(void *context);

static void on_supervisor_end(const struct child_result *result, const struct error *failure,
			      void *context)
{
	struct main_program *program = context;
	program->has_supervisor = false;
	if (program->is_ending) {
		rest_all(program);
		return;
	}
	cleanup_free char *words = result ? child_last_words(result) : xstrdup(failure->message);
	log_error("the supervisor ended and starts again: %s", words);
	if (clock_ms() - program->begun_ms >= MOST_PAUSE_MS)
		program->pause_ms = PAUSE_MS;
	(void)loop_add_timer(program->loop, clock_ms() + program->pause_ms, start_supervisor,
			     program, &program->pause, NULL);
	/* the backoff */
	program->pause_ms = program->pause_ms * 2 < MOST_PAUSE_MS ? program->pause_ms * 2
								  : MOST_PAUSE_MS;
}

static void start_supervisor(void *context)
{
	struct main_program *program = context;
	loop_remove(TAKE_PTR(program->pause));
	program->has_supervisor = true;
	program->begun_ms = clock_ms();
	start(program, (const char *const[]){ "supervise", NULL }, on_supervisor_end);
}

/* ---- the beginning, and after it all ---------------------------------------------------------- */

static void on_keeper_end(void *context)
{
	const struct main_program *program = context;
	loop_exit(program->loop, MAIN_LOST);
}

static void on_child(int signal_number UNUSED, void *context UNUSED)
{
	/* The loop woke up: reap() runs before its next wait. */
}

static const int signals[] = { SIGTERM, SIGINT, SIGUSR1, SIGHUP };

/* Blocked signals wait for the signalfd.  PID 1 would lose them otherwise. */
static void block_signals(void)
{
	sigset_t mask;
	(void)sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		(void)sigaddset(&mask, signals[i]);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
}

static int add_sources(struct main_program *program, struct error *err)
{
	struct loop_source *source;
	if (loop_add_signal(program->loop, SIGCHLD, on_child, program, &source, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_add_signal(program->loop, signals[i], on_signal, program, &source, err) <
		    0)
			return -1;
	const struct loop_io io = { program->listener, EPOLLIN, on_connection, program };
	if (loop_add_io(program->loop, &io, &program->requests, err) < 0)
		return -1;
	loop_add_prepare(program->loop, reap, program, &program->reaper);
	return 0;
}

static void main_clear(struct main_program *program)
{
	for (struct errand *errand = program->errands, *next; errand; errand = next) {
		next = errand->next;
		errand_free(errand);
	}
	loop_free(program->loop);
	if (program->listener >= 0)
		(void)close(program->listener);
	incarnation_clear(&program->now);
}

static void reap_all(void)
{
	pid_t pid;
	int status;
	while (child_reap_any(NULL, &pid, &status))
		;
}

/* What has no agent's name, too: it would run on where this is not PID 1.  A record that says that
 * all is over spares the next incarnation its wait. */
static int end_all(struct main_program *program, int how, struct error *err)
{
	const int64_t now_ms = clock_ms();
	const bool is_lost = how == MAIN_LOST;
	cleanup_free char *mark = incarnation_mark(&program->now);
	struct process_id self = { 0 };
	(void)process_identify(getpid(), &self, NULL);
	const size_t left = process_end_all(&self, mark, now_ms + (is_lost ? SOFT_MS : 0),
					    now_ms + HARD_MS, reap_all);
	if (is_lost)
		return error_set(err, ERROR_TIMEOUT,
				 "%s could not be written for %d s, or another main program has "
				 "it: what ran here was ended",
				 program->deck->paths.state, program->now.lease_s);
	log_info("the main program ends; %zu processes are left", left);
	if (left > 0)
		return 0;
	takeover_remove_runtime(program->now.runtime);
	return incarnation_say(program->deck->paths.state, program->now.id, INCARNATION_OVER, err) <
			       0
		       ? -1
		       : 0;
}

int main_run(struct deck *deck, const struct main_order *order, struct error *err)
{
	CLEANUP(main_clear)
	struct main_program program = {
		.deck = deck, .order = order, .listener = -1, .pause_ms = PAUSE_MS
	};
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	const struct takeover_order wanted = { order->name, order->lease_s };
	block_signals();
	takeover_close_to_others(deck);
	int r = takeover(deck, &wanted, &lock, &program.now, err);
	if (r != TAKEOVER_DONE)
		return r < 0 ? -1 : 0;
	/* What its parent leaves comes here, also where this is not PID 1. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!deck_join_main(deck))
		return error_set(err, ERROR_CHILD, "%s/" INCARNATION_FILE " changed at once",
				 deck->paths.state);
	(void)setenv(INCARNATION_MARK, program.now.id, true);
	struct process_id keeper = { 0 };
	if (order->lease_s && lease_keep(deck->paths.state, &program.now, &keeper, err) < 0)
		return -1;
	if (spawner_listen(deck->spawner, &program.listener, err) < 0 ||
	    loop_new(&program.loop, err) < 0 || add_sources(&program, err) < 0)
		return -1;
	if (keeper.pid &&
	    loop_add_end(program.loop, &keeper, on_keeper_end, &program, &program.keeper, err) != 0)
		return error_set(err, ERROR_CHILD, "the keeper of the lease was killed at once");
	log_info("main program of host %s, incarnation %s (%s)", program.now.host, program.now.id,
		 or_empty(order->name));
	start_supervisor(&program);
	loop_ready(program.loop, "Main program");
	r = loop_run(program.loop, err);
	return r < 0 ? -1 : end_all(&program, r, err);
}
