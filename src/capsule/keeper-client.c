/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/keeper-internal.h"

#include "base/clock.h"
#include "capsule/endpoint.h"

#include <sys/epoll.h>
#include <sys/socket.h>

/* --- frames ----------------------------------------------------------------------------------- */

/* Compare all bytes, so that the time says nothing about where they differ. */
static bool same_token(const char a[FRAME_TOKEN_MAX + 1], const char b[FRAME_TOKEN_MAX + 1])
{
	unsigned difference = 0;
	for (size_t i = 0; i <= FRAME_TOKEN_MAX; i++)
		difference |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return difference == 0;
}

static void greet(struct client *client, const struct frame *frame)
{
	struct frame_hello hello, expected = { 0 };
	if (frame->type != FRAME_HELLO || frame_get_hello(frame, &hello, NULL) < 0) {
		client_refuse(client, FRAME_NOT_UNDERSTOOD, "say hello first");
		return;
	}
	if (endpoint_token(client->keeper->directory, expected.token, sizeof(expected.token),
			   NULL) < 0 ||
	    !same_token(hello.token, expected.token)) {
		client_refuse(client, FRAME_NOT_UNDERSTOOD, "the token is wrong");
		return;
	}
	const struct frame_hello answer = { .version = hello.version < FRAME_VERSION
							       ? hello.version
							       : FRAME_VERSION };
	client->is_greeted = true;
	client->version = answer.version;
	frame_put_hello(channel_out(&client->channel), &answer);
	client_flush(client);
}

static int obey_small(struct client *client, const struct frame *frame)
{
	struct keeper *keeper = client->keeper;
	struct frame_size size;
	struct frame_view view;
	uint32_t number;
	switch (frame->type) {
	case FRAME_RESIZE:
		if (frame_get_resize(frame, &size, NULL) < 0)
			return -1;
		pty_resize(&keeper->pty, &size);
		return 0;
	case FRAME_VIEW:
		if (frame_get_view(frame, &view, NULL) < 0)
			return -1;
		keeper_show(keeper, client, &view);
		return 0;
	case FRAME_STOP:
		if (frame_get_number(frame, &number, NULL) < 0)
			return -1;
		client->wants_end = true;
		stop_agent(keeper, number);
		return 0;
	case FRAME_HEARTBEAT:
		if (frame_get_number(frame, &number, NULL) < 0)
			return -1;
		frame_put_number(channel_out(&client->channel), FRAME_HEARTBEAT, number);
		client_flush(client);
		return 0;
	default:
		return -1;
	}
}

static void obey(struct client *client, const struct frame *frame)
{
	struct keeper *keeper = client->keeper;
	switch (frame->type) {
	case FRAME_STATUS:
		client_send_status(client);
		break;
	case FRAME_START:
		keeper_start(keeper, client, frame);
		channel_forget(&client->channel);
		break;
	case FRAME_SECRETS:
		keeper_keep_secrets(keeper, client, frame);
		channel_forget(&client->channel);
		break;
	case FRAME_GUEST:
		keeper_add_guest(keeper, client, frame);
		break;
	case FRAME_INPUT:
		keeper_type(keeper, frame->payload, frame->length);
		break;
	case FRAME_REPORT:
		clients_show(keeper, FRAME_REPORT, NULL, 0);
		break;
	case FRAME_BYE:
		client->is_gone = true;
		break;
	default:
		if (obey_small(client, frame) < 0)
			client_refuse(client, FRAME_NOT_UNDERSTOOD, "this frame is not expected");
	}
}

/* Must the client's next frame wait?  START: the child that it makes writes to the client itself,
 * so nothing of ours may be half sent.  INPUT: the agent does not read. */
static bool must_wait(const struct client *client, const struct frame *frame)
{
	if (frame->type == FRAME_START)
		return channel_unsent(&client->channel) > 0;
	return frame->type == FRAME_INPUT && client->keeper->typed.length > KEEPER_TYPED_MAX;
}

/* Obey what was received.  Returns whether a frame has to wait. */
static bool serve(struct client *client)
{
	struct frame frame;
	int r = 0;
	while (!client->is_gone && !client->is_leaving) {
		r = channel_peek(&client->channel, &frame, NULL);
		if (r != 0)
			break;
		if (client->is_greeted && must_wait(client, &frame))
			return true;
		(void)channel_take(&client->channel, &frame, NULL);
		if (client->is_greeted)
			obey(client, &frame);
		else
			greet(client, &frame);
	}
	if (r < 0)
		client_refuse(client, FRAME_NOT_UNDERSTOOD, "this is not a frame");
	return false;
}

static void receive(struct client *client)
{
	int r = channel_receive(&client->channel, NULL);
	if (r == 0)
		(void)serve(client);
	else if (r != CHANNEL_AGAIN)
		client->is_gone = true;
}

static void on_client(int fd UNUSED, uint32_t events, void *context)
{
	struct client *client = context;
	if (events & EPOLLOUT)
		client_flush(client);
	if (events & EPOLLIN)
		receive(client);
	else if (events & (EPOLLHUP | EPOLLERR))
		client->is_gone = true;
}

/* --- coming and going ------------------------------------------------------------------------- */

static void add_client(struct keeper *keeper, int fd)
{
	struct ucred peer;
	struct client *client = xcalloc(1, sizeof(*client));
	const struct loop_io io = { fd, EPOLLIN, on_client, client };
	client->keeper = keeper;
	client->events = EPOLLIN;
	client->sent_ms = clock_ms();
	channel_init(&client->channel, fd);
	if (endpoint_peer(fd, &peer, NULL) < 0 ||
	    loop_add_io(keeper->loop, &io, &client->source, NULL) < 0) {
		channel_close(&client->channel);
		free(client);
		return;
	}
	LIST_INSERT_HEAD(&keeper->clients, client, link);
	keeper->client_count++;
}

static void free_client(struct client *client)
{
	LIST_REMOVE(client, link);
	client->keeper->client_count--;
	loop_remove(client->source);
	channel_close(&client->channel);
	free(client);
}

static void on_listener(int fd, uint32_t events UNUSED, void *context)
{
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (client >= 0)
		add_client(context, client);
}

int clients_listen(struct keeper *keeper, struct error *err)
{
	if (endpoint_listen(&keeper->listener, err) < 0)
		return -1;
	const struct loop_io io = { keeper->listener, EPOLLIN, on_listener, keeper };
	keeper->listener_events = EPOLLIN;
	return loop_add_io(keeper->loop, &io, &keeper->listener_source, err);
}

void clients_free(struct keeper *keeper)
{
	while (!LIST_EMPTY(&keeper->clients))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it leaves the list */
		free_client(LIST_FIRST(&keeper->clients));
	loop_remove(keeper->listener_source);
	if (keeper->listener >= 0)
		(void)close(keeper->listener);
}

static void wait_for(struct loop_source *source, uint32_t *slot, uint32_t events)
{
	if (*slot != events && loop_set_io(source, events, NULL) == 0)
		*slot = events;
}

static void refresh_client(struct client *client)
{
	const bool waits = serve(client);
	uint32_t events = waits || client->is_leaving ? 0 : EPOLLIN;
	if (channel_unsent(&client->channel) > 0)
		events |= EPOLLOUT;
	wait_for(client->source, &client->events, events);
}

void clients_refresh(struct keeper *keeper)
{
	struct client *next = LIST_FIRST(&keeper->clients);
	while (next) {
		struct client *client = next;
		next = LIST_NEXT(client, link);
		refresh_client(client);
	}
	/* Serving one client can end another one. */
	next = LIST_FIRST(&keeper->clients);
	while (next) {
		struct client *client = next;
		next = LIST_NEXT(client, link);
		if (client->is_gone)
			free_client(client);
	}
	wait_for(keeper->listener_source, &keeper->listener_events,
		 keeper->client_count < KEEPER_CLIENTS_MAX ? EPOLLIN : 0);
}
