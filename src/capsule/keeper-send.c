/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/keeper-internal.h"

#include "base/clock.h"

static void note_sent(struct client *client, size_t before, int result)
{
	const size_t left = channel_unsent(&client->channel);
	if (left == 0 || left < before)
		client->sent_ms = clock_ms();
	if (result < 0 || result == CHANNEL_ENDED || (left == 0 && client->is_leaving))
		client->is_gone = true;
}

void client_flush(struct client *client)
{
	const size_t before = channel_unsent(&client->channel);
	note_sent(client, before, channel_flush(&client->channel, NULL));
}

void client_refuse(struct client *client, enum frame_refusal why, const char *text)
{
	frame_put_refused(channel_out(&client->channel), why, text);
	client->is_leaving |= why == FRAME_NOT_UNDERSTOOD;
	client_flush(client);
}

void client_flush_with(struct client *client, int descriptor)
{
	const size_t before = channel_unsent(&client->channel);
	if (descriptor >= 0)
		note_sent(client, before, channel_flush_with(&client->channel, descriptor, NULL));
	else
		client_flush(client);
}

void client_send_status(struct client *client)
{
	struct keeper *keeper = client->keeper;
	client_flush(client);
	frame_put_status(channel_out(&client->channel), FRAME_STATUS, &keeper->status);
	client_flush_with(client, keeper->agent_fd);
}

void clients_show(struct keeper *keeper, enum frame_type type, const void *data, size_t length)
{
	struct client *client;
	LIST_FOREACH(client, &keeper->clients, link) {
		if (!client->is_view || client->is_gone)
			continue;
		if (length > 0)
			frame_put_bytes(channel_out(&client->channel), type, data, length);
		else
			frame_put(channel_out(&client->channel), type, NULL, 0);
		client_flush(client);
	}
}

void clients_show_exit(struct keeper *keeper)
{
	struct client *client;
	LIST_FOREACH(client, &keeper->clients, link) {
		if (!client->is_view || client->is_gone)
			continue;
		frame_put_status(channel_out(&client->channel), FRAME_EXIT, &keeper->status);
		client_flush(client);
		client->is_view = false; /* of the next attempt it is no view */
	}
}

bool clients_are_clogged(const struct keeper *keeper)
{
	const struct client *client;
	LIST_FOREACH(client, &keeper->clients, link)
		if (!client->is_gone && channel_unsent(&client->channel) > KEEPER_UNSENT_MAX)
			return true;
	return false;
}

void clients_drop_stalled(struct keeper *keeper)
{
	const int64_t oldest = clock_ms() - KEEPER_STALL_MS;
	struct client *client;
	LIST_FOREACH(client, &keeper->clients, link)
		if (channel_unsent(&client->channel) > KEEPER_UNSENT_MAX &&
		    client->sent_ms <= oldest)
			client->is_gone = true;
}
