/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/keeper-internal.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static void signal_agent(const struct keeper *keeper, int signal_number)
{
	/* The agent's group first: the agent leads it, and stays unreaped until we say so. */
	if (keeper->agent)
		(void)kill(-keeper->agent, signal_number);
}

/* All others in the container; elsewhere, all descendants. */
static void signal_rest(int signal_number)
{
	struct process_id self;
	cleanup_free struct process_id *all = NULL;
	size_t count;
	if (getpid() == 1) {
		(void)kill(-1, signal_number);
		return;
	}
	if (process_identify(getpid(), &self, NULL) != 0 ||
	    process_tree(&self, &all, &count, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (all[i].pid != self.pid)
			(void)process_signal(&all[i], signal_number, NULL);
}

static bool has_children(void)
{
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static void set_deadline(const struct keeper *keeper, int64_t milliseconds)
{
	(void)loop_set_timer(keeper->stop, clock_ms() + milliseconds, NULL);
}

static int exit_status(const struct frame_status *status)
{
	if (status->phase != FRAME_ENDED)
		return 0;
	return status->signal ? 128 + status->signal : status->code;
}

static void finish(struct keeper *keeper)
{
	struct client *client;
	keeper->stage = KEEPER_DONE;
	LIST_FOREACH(client, &keeper->clients, link) {
		frame_put(channel_out(&client->channel), FRAME_BYE, NULL, 0);
		client_flush(client);
	}
	loop_exit(keeper->loop, exit_status(&keeper->status));
}

static void ask_rest(struct keeper *keeper)
{
	keeper->stage = KEEPER_ASKING_REST;
	signal_rest(SIGTERM);
	signal_rest(SIGCONT);
	set_deadline(keeper, keeper->rest_ms);
}

void stop_begin(struct keeper *keeper, int64_t grace_ms)
{
	if (keeper->stage != KEEPER_SERVING)
		return;
	keeper->stage = KEEPER_ASKING_AGENT;
	keeper->rest_ms = KEEPER_REST_MS;
	if (grace_ms && grace_ms < 6 * KEEPER_REST_MS)
		keeper->rest_ms = grace_ms / 6;
	signal_agent(keeper, SIGHUP);
	signal_agent(keeper, SIGTERM);
	signal_agent(keeper, SIGCONT);
	set_deadline(keeper, grace_ms);
	stop_continue(keeper);
}

void stop_continue(struct keeper *keeper)
{
	if (keeper->stage == KEEPER_SERVING || keeper->stage == KEEPER_DONE || keeper->agent)
		return;
	if (keeper->stage < KEEPER_ASKING_REST)
		ask_rest(keeper);
	if (!has_children())
		finish(keeper);
}

void stop_late(void *context)
{
	struct keeper *keeper = context;
	switch (keeper->stage) {
	case KEEPER_ASKING_AGENT:
		keeper->stage = KEEPER_KILLING_AGENT;
		signal_agent(keeper, SIGKILL);
		set_deadline(keeper, KEEPER_REST_MS);
		break;
	case KEEPER_KILLING_AGENT: /* the kernel holds it */
		ask_rest(keeper);
		break;
	case KEEPER_ASKING_REST:
		keeper->stage = KEEPER_KILLING_REST;
		signal_rest(SIGKILL);
		set_deadline(keeper, KEEPER_REST_MS);
		break;
	case KEEPER_KILLING_REST:
		finish(keeper);
		break;
	default:
		break;
	}
}
