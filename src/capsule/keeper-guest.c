/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A guest is the capsule of another session in this container: the same program as a child of ours,
 * and a subreaper, so that all that its agent starts stays below it.
 */
#include "capsule/keeper-internal.h"

#include "base/libc.h"
#include "base/process.h"
#include "capsule/endpoint.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

enum { DEPTH_MAX = 256, SWEEPS_MAX = 16 };

static struct guest *find_guest(struct keeper *keeper, const char *directory)
{
	for (size_t i = 0; i < keeper->guest_count; i++)
		if (streq(keeper->guests[i].directory, directory))
			return &keeper->guests[i];
	return NULL;
}

bool guests_have(const struct keeper *keeper, pid_t pid)
{
	struct process_id above[DEPTH_MAX];
	const size_t count = keeper->guest_count ? process_ancestors(pid, above, DEPTH_MAX) : 0;
	for (size_t i = 0; i < keeper->guest_count; i++) {
		if (keeper->guests[i].pid == pid)
			return true;
		for (size_t j = 0; j < count; j++)
			if (above[j].pid == keeper->guests[i].pid)
				return true;
	}
	return false;
}

void guests_signal(const struct keeper *keeper, int signal_number)
{
	for (size_t i = 0; i < keeper->guest_count; i++)
		(void)kill(keeper->guests[i].pid, signal_number);
}

/* The agent of a guest that was killed lives, and is our child now: another one must not begin
 * beside it. */
static void end_leftovers(const char *directory)
{
	cleanup_free char *mark = xasprintf(ENDPOINT_VARIABLE "=%s", directory);
	for (unsigned i = 0; i < SWEEPS_MAX; i++) {
		cleanup_free struct process_id *all = NULL;
		size_t count = 0, live = 0;
		if (process_find_by_environment(mark, &all, &count, NULL) < 0)
			return;
		for (size_t j = 0; j < count; j++)
			if (all[j].pid != getpid() && !process_is_ending(&all[j])) {
				(void)process_signal(&all[j], SIGKILL, NULL);
				live++;
			}
		if (!live)
			return;
	}
}

void guests_reap(struct keeper *keeper, pid_t pid)
{
	for (size_t i = 0; i < keeper->guest_count; i++) {
		struct guest *guest = &keeper->guests[i];
		if (guest->pid != pid)
			continue;
		end_leftovers(guest->directory);
		if (guest->fd >= 0)
			(void)close(guest->fd);
		free(guest->directory);
		*guest = keeper->guests[--keeper->guest_count];
		return;
	}
}

/* A client is about to start something here. */
static bool has_caller(const struct keeper *keeper)
{
	const struct client *client;
	LIST_FOREACH(client, &keeper->clients, link)
		if (client->is_greeted && !client->is_view && !client->is_gone)
			return true;
	return false;
}

bool guests_have_gone(const struct keeper *keeper)
{
	return keeper->is_left && keeper->stage == KEEPER_SERVING && !keeper->guest_count &&
	       !keeper->agent && !has_caller(keeper);
}

/* Our environment, but for the variable that says whose the capsule is. */
static void make_environment(const char *own, struct strvec *ret)
{
	const size_t name = strcspn(own, "=") + 1;
	for (char **entry = environ; *entry; entry++)
		if (strncmp(*entry, own, name) != 0)
			strvec_push(ret, *entry);
	strvec_push(ret, own);
}

static void become(const struct frame_guest *wish)
{
	cleanup_strvec struct strvec environment = { 0 };
	const char *argv[] = { "agentdeck-capsule", "init", wish->directory, NULL };
	make_environment(wish->variable, &environment);
	(void)setsid();
	(void)execve("/proc/self/exe", (char *const *)(uintptr_t)argv, strvec_argv(&environment));
	_exit(127);
}

/* Why it cannot be started now; NULL when it can. */
static const char *obstacle(const struct keeper *keeper)
{
	if (keeper->stage != KEEPER_SERVING && !keeper->spares_guests)
		return "the capsule is ending";
	return keeper->guest_count == KEEPER_GUESTS_MAX ? "the container has too many agents"
							: NULL;
}

/* Returns the guest, or NULL when the client was refused. */
static struct guest *start_guest(struct keeper *keeper, struct client *client,
				 struct frame_guest *wish)
{
	const char *why = obstacle(keeper);
	if (!why && access(wish->directory, W_OK) < 0) {
		client_refuse(client, FRAME_NOT_EXECUTED, "the container lacks its directory");
		return NULL;
	}
	if (!why)
		end_leftovers(wish->directory);
	const pid_t pid = why ? -1 : fork();
	if (pid == 0)
		become(wish);
	if (pid < 0) {
		client_refuse(client, FRAME_NOT_POSSIBLE, why ? why : strerror(errno));
		return NULL;
	}
	struct guest *guest = &keeper->guests[keeper->guest_count++];
	guest->pid = pid;
	guest->fd = pidfd_open(pid, 0);
	guest->directory = TAKE_PTR(wish->directory);
	return guest;
}

/* The guest can have ended before the signal of its end is read. */
static bool is_over(const struct guest *guest)
{
	siginfo_t info = { 0 };
	return waitid(P_PID, (id_t)guest->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid == guest->pid;
}

void keeper_add_guest(struct keeper *keeper, struct client *client, const struct frame *frame)
{
	cleanup_frame_guest struct frame_guest wish = { 0 };
	if (frame_get_guest(frame, &wish, NULL) < 0) {
		client_refuse(client, FRAME_NOT_UNDERSTOOD, "this is no guest");
		return;
	}
	struct guest *guest = find_guest(keeper, wish.directory);
	if (guest && is_over(guest)) {
		const pid_t pid = guest->pid;
		(void)waitpid(pid, NULL, 0);
		guests_reap(keeper, pid);
		guest = NULL;
	}
	if (!guest)
		guest = start_guest(keeper, client, &wish);
	if (!guest)
		return;
	if (wish.ends_with_it && !keeper->agent)
		keeper->is_left = true;
	client_flush(client);
	frame_put(channel_out(&client->channel), FRAME_GUEST, NULL, 0);
	client_flush_with(client, guest->fd);
}
