/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/keeper-internal.h"

#include "base/clock.h"
#include "base/libc.h"
#include "capsule/record.h"
#include "capsule/spawn-internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

enum { READ_SIZE = 32 << 10, DRAIN_MAX = 1 << 20 };

/* --- the terminal ----------------------------------------------------------------------------- */

/* Read once from the agent and pass it on.  False: there is nothing now. */
static bool pass_output(struct keeper *keeper)
{
	static char buffer[READ_SIZE];
	ssize_t n = read(keeper->pty.master, buffer, sizeof(buffer));
	if (n <= 0)
		return n < 0 && errno == EINTR;
	history_add(&keeper->history, buffer, (size_t)n);
	clients_show(keeper, FRAME_OUTPUT, buffer, (size_t)n);
	return true;
}

static void pass_input(struct keeper *keeper)
{
	struct strbuf *typed = &keeper->typed;
	size_t done = 0;
	while (done < typed->length) {
		ssize_t n = write(keeper->pty.master, typed->data + done, typed->length - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	typed->length -= done;
	if (typed->length > 0 && done > 0)
		memmove(typed->data, typed->data + done, typed->length);
}

static void on_master(int fd UNUSED, uint32_t events, void *context)
{
	if (events & EPOLLOUT)
		pass_input(context);
	if (events & EPOLLIN)
		(void)pass_output(context);
}

void keeper_type(struct keeper *keeper, const void *data, size_t length)
{
	if (!keeper->agent)
		return; /* the next agent must not find what was typed to this one */
	strbuf_add(&keeper->typed, data, length);
	pass_input(keeper);
}

static void end_nudge(void *context)
{
	struct keeper *keeper = context;
	const struct frame_size size = keeper->pty.size;
	pty_resize(&keeper->pty, &size);
}

void keeper_show(struct keeper *keeper, struct client *client, const struct frame_view *view)
{
	struct strbuf replay = { 0 };
	const bool is_running = keeper->status.phase == FRAME_RUNNING;
	if (keeper->status.phase == FRAME_EMPTY ||
	    !frame_same_attempt(&view->attempt, &keeper->status.attempt)) {
		client_refuse(client, FRAME_OTHER_ATTEMPT, "this attempt is not the last one");
		return;
	}
	history_replay(&keeper->history, keeper->was_shown, &replay);
	frame_put_bytes(channel_out(&client->channel), FRAME_REPLAY, strbuf_text(&replay),
			replay.length);
	strbuf_free(&replay);
	pty_resize(&keeper->pty, &view->size);
	if (is_running && (keeper->was_shown || keeper->history.was_cut)) {
		pty_nudge(&keeper->pty);
		(void)loop_set_timer(keeper->nudge, clock_ms() + KEEPER_NUDGE_MS, NULL);
	}
	keeper->was_shown = true;
	client->is_view = is_running;
	if (!is_running)
		frame_put_status(channel_out(&client->channel), FRAME_EXIT, &keeper->status);
	client_flush(client);
}

/* --- the agent -------------------------------------------------------------------------------- */

/* Why this START cannot be done now; NULL when it can. */
static const char *obstacle(const struct keeper *keeper, const struct frame_start *start)
{
	if (keeper->stage != KEEPER_SERVING)
		return "the capsule is ending";
	if (!record_is_run(start->attempt.run))
		return "the run has no proper name";
	return keeper->agent ? "another agent runs in this container" : NULL;
}

/* The last agent's terminal becomes the next one's. */
static void prepare_terminal(struct keeper *keeper, const struct frame_size *size)
{
	keeper->typed.length = 0;
	pty_reset(&keeper->pty);
	pty_resize(&keeper->pty, size);
	history_free(&keeper->history);
	history_init(&keeper->history);
	keeper->was_shown = false;
}

/* Once an agent is up, its run starts no other agent. */
static void forget_secrets(void *context)
{
	struct keeper *keeper = context;
	if (keeper->agent)
		frame_secrets_clear(&keeper->secrets);
}

void keeper_keep_secrets(struct keeper *keeper, struct client *client, const struct frame *frame)
{
	struct frame_secrets secrets;
	if (frame_get_secrets(frame, &secrets, NULL) < 0) {
		client_refuse(client, FRAME_NOT_UNDERSTOOD, "these are no secrets");
		return;
	}
	frame_secrets_clear(&keeper->secrets);
	keeper->secrets = secrets;
	(void)loop_set_timer(keeper->forget, INT64_MAX, NULL);
}

/* The variable "NAME=VALUE" of this name; NULL: there is none. */
static const char *find_secret(const struct keeper *keeper, const char *run, const char *name)
{
	const struct strvec *variables = &keeper->secrets.variables;
	const size_t length = strlen(name);
	for (size_t i = 0; streq(keeper->secrets.run, run) && i < variables->count; i++)
		if (strncmp(variables->items[i], name, length) == 0 &&
		    variables->items[i][length] == '=')
			return variables->items[i];
	return NULL;
}

/* Give each name its kept value.  Returns a name without a value, or NULL. */
static const char *fill_secrets(const struct keeper *keeper, struct frame_start *start)
{
	for (size_t i = 0; i < start->environment.count; i++) {
		char **variable = &start->environment.items[i];
		const bool is_name = !strchr(*variable, '=');
		const char *found = is_name ? find_secret(keeper, start->attempt.run, *variable)
					    : NULL;
		if (is_name && !found)
			return *variable;
		if (found)
			replace_string(variable, found);
	}
	return NULL;
}

static void start_agent(struct keeper *keeper, struct client *client, struct frame_start *start)
{
	cleanup_error struct error why = { 0 };
	const struct spawn spawn = { start, keeper->path, keeper->pty.slave, client->channel.fd };
	const char *missing = fill_secrets(keeper, start);
	if (missing) {
		cleanup_free char *words = xasprintf(
			"the capsule does not keep the secret %s any more: start the session again",
			missing);
		client_refuse(client, FRAME_NOT_POSSIBLE, words);
		return;
	}
	prepare_terminal(keeper, &start->size);
	if (spawn_agent(&spawn, &keeper->agent, &why) < 0) {
		client_refuse(client, FRAME_NOT_EXECUTED, why.message);
		return;
	}
	keeper->is_left = false;
	keeper->status = (struct frame_status){ FRAME_RUNNING, start->attempt, 0, 0, false };
	keeper->agent_fd = pidfd_open(keeper->agent, 0);
	if (keeper->secrets.variables.count)
		(void)loop_set_timer(keeper->forget, clock_ms() + keeper->secrets.keep_ms, NULL);
	client_send_status(client);
}

void keeper_start(struct keeper *keeper, struct client *client, const struct frame *frame)
{
	cleanup_frame_start struct frame_start start = { 0 };
	if (frame_get_start(frame, &start, NULL) < 0) {
		client_refuse(client, FRAME_NOT_UNDERSTOOD, "this is not a start");
		return;
	}
	const char *why = obstacle(keeper, &start);
	if (keeper->status.phase != FRAME_EMPTY &&
	    frame_same_attempt(&start.attempt, &keeper->status.attempt))
		client_send_status(client); /* it was started before */
	else if (why)
		client_refuse(client, FRAME_NOT_POSSIBLE, why);
	else
		start_agent(keeper, client, &start);
}

static void agent_ended(struct keeper *keeper, int status)
{
	struct error err = { 0 };
	const size_t before = keeper->history.data.length;
	while (keeper->history.data.length - before < DRAIN_MAX && pass_output(keeper))
		;
	if (keeper->agent_fd >= 0)
		(void)close(TAKE_FD(keeper->agent_fd));
	keeper->agent = 0;
	keeper->typed.length = 0;
	keeper->status.phase = FRAME_ENDED;
	keeper->status.code = WIFEXITED(status) ? (uint8_t)WEXITSTATUS(status) : 0;
	keeper->status.signal = WIFSIGNALED(status) ? (uint8_t)WTERMSIG(status) : 0;
	keeper->status.by_stop = keeper->stage != KEEPER_SERVING;
	/* The windows are told even if the record cannot be written: a full disk must not make an
	 * agent look alive. */
	if (record_write(keeper->directory, &keeper->status, &err) < 0)
		(void)fprintf(stderr, "agentdeck-capsule: %s\n", err.message);
	error_clear(&err);
	clients_show_exit(keeper);
}

static void on_child(int signal_number UNUSED, void *context)
{
	struct keeper *keeper = context;
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == keeper->agent)
			agent_ended(keeper, status);
		else
			guests_reap(keeper, pid);
	stop_continue(keeper);
}

int keeper_watch(struct keeper *keeper, struct error *err)
{
	struct loop *loop = keeper->loop;
	const struct loop_io io = { keeper->pty.master, EPOLLIN, on_master, keeper };
	keeper->master_events = EPOLLIN;
	if (loop_add_signal(loop, SIGCHLD, on_child, keeper, NULL, err) < 0 ||
	    loop_add_timer(loop, INT64_MAX, end_nudge, keeper, &keeper->nudge, err) < 0 ||
	    loop_add_timer(loop, INT64_MAX, forget_secrets, keeper, &keeper->forget, err) < 0)
		return -1;
	return loop_add_io(loop, &io, &keeper->master_source, err);
}
