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

/* Our descendants, without the guests that are spared and what is below them.  Returns how many
 * there are; signal 0 only counts. */
static size_t signal_descendants(const struct keeper *keeper, int signal_number)
{
	struct process_id self;
	cleanup_free struct process_id *all = NULL;
	size_t count, found = 0;
	if (process_identify(getpid(), &self, NULL) != 0 ||
	    process_tree(&self, &all, &count, NULL) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (all[i].pid == self.pid ||
		    (keeper->spares_guests && guests_have(keeper, all[i].pid)))
			continue;
		found++;
		if (signal_number)
			(void)process_signal(&all[i], signal_number, NULL);
	}
	return found;
}

/* All others in the container; elsewhere, and where guests are spared, all descendants. */
static void signal_rest(const struct keeper *keeper, int signal_number)
{
	if (getpid() == 1 && !keeper->spares_guests)
		(void)kill(-1, signal_number);
	else
		(void)signal_descendants(keeper, signal_number);
}

static bool has_rest(const struct keeper *keeper)
{
	siginfo_t info;
	if (keeper->spares_guests)
		return signal_descendants(keeper, 0) > 0;
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

/* The agent has ended, and guests live: the capsule serves on, without an agent. */
static void serve_on(struct keeper *keeper)
{
	struct client *client;
	keeper->stage = KEEPER_SERVING;
	keeper->spares_guests = false;
	frame_secrets_clear(&keeper->secrets);
	(void)loop_set_timer(keeper->stop, INT64_MAX, NULL);
	LIST_FOREACH(client, &keeper->clients, link) {
		if (!client->wants_end)
			continue;
		if (client->version >= FRAME_VERSION_GUESTS)
			frame_put(channel_out(&client->channel), FRAME_GUEST, NULL, 0);
		frame_put(channel_out(&client->channel), FRAME_BYE, NULL, 0);
		client->is_leaving = true;
		client_flush(client);
	}
}

static void finish(struct keeper *keeper)
{
	struct client *client;
	if (keeper->spares_guests && keeper->guest_count) {
		serve_on(keeper);
		return;
	}
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
	signal_rest(keeper, SIGTERM);
	signal_rest(keeper, SIGCONT);
	set_deadline(keeper, keeper->rest_ms);
}

static void begin(struct keeper *keeper, int64_t grace_ms)
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

void stop_agent(struct keeper *keeper, int64_t grace_ms)
{
	if (keeper->stage == KEEPER_SERVING)
		keeper->spares_guests = keeper->is_left = keeper->guest_count > 0;
	begin(keeper, grace_ms);
}

void stop_begin(struct keeper *keeper, int64_t grace_ms)
{
	keeper->spares_guests = false;
	guests_signal(keeper, SIGTERM);
	begin(keeper, grace_ms);
}

void stop_continue(struct keeper *keeper)
{
	if (keeper->stage == KEEPER_SERVING || keeper->stage == KEEPER_DONE || keeper->agent)
		return;
	/* Guests end their agents in order, too. */
	if (keeper->stage < KEEPER_ASKING_REST && keeper->guest_count && !keeper->spares_guests)
		return;
	if (keeper->stage < KEEPER_ASKING_REST)
		ask_rest(keeper);
	if (!has_rest(keeper))
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
		signal_rest(keeper, SIGKILL);
		set_deadline(keeper, KEEPER_REST_MS);
		break;
	case KEEPER_KILLING_REST:
		finish(keeper);
		break;
	default:
		break;
	}
}
