/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One connection of a capsule's socket: frames in, frames out, both buffered.  It never blocks,
 * except in channel_wait().  All three programs use it.
 */
#pragma once

#include "capsule/frame.h"

#include <sys/types.h>

/* CHANNEL_AGAIN: not now, wait for the descriptor.  CHANNEL_ENDED: the other side has gone. */
enum { CHANNEL_AGAIN = 1, CHANNEL_ENDED = 2 };

struct channel {
	int fd; /* owned; -1: none */
	struct strbuf in;
	size_t in_used; /* bytes of in that were taken as frames */
	struct strbuf out;
	size_t out_sent;
	/* If the socket has SO_PASSCRED: who wrote the bytes that came last, as we see it; 0: not
	 * visible.  The kernel never gives us bytes of two writers at once (unix(7)). */
	pid_t sender;
	int passed; /* owned: the descriptor that came last (SCM_RIGHTS), or -1 */
	bool takes_descriptors;
};

void channel_init(struct channel *channel, int fd);
/* Closes it; unsent frames are lost. */
void channel_close(struct channel *channel);

/* Read once what is there.  Frames that were taken before become invalid. */
int channel_receive(struct channel *channel, struct error *err);
/* Take the next frame of what was received.  FRAME_PARTIAL: receive more.  *ret is valid until the
 * next channel_receive(). */
int channel_take(struct channel *channel, struct frame *ret, struct error *err);
/* Like channel_take(), but the frame stays in the queue. */
int channel_peek(const struct channel *channel, struct frame *ret, struct error *err);

/* Wipe the memory of what was taken, and of what was sent if all was.  For a frame with secrets;
 * the next channel_receive() and channel_close() do it too. */
void channel_forget(struct channel *channel);

/* Frames to send: frame_put...(channel_out(channel), ...), then channel_flush(). */
static inline struct strbuf *channel_out(struct channel *channel)
{
	return &channel->out;
}
static inline size_t channel_unsent(const struct channel *channel)
{
	return channel->out.length - channel->out_sent;
}
int channel_flush(struct channel *channel, struct error *err);
/* Send what is unsent with a copy of this descriptor.  If that is not possible at once, it is sent
 * without. */
int channel_flush_with(struct channel *channel, int descriptor, struct error *err);

/* Wait until the descriptor has one of these events (poll(2)), or until deadline_ms of clock_ms().
 * False: the time is over. */
bool channel_wait(const struct channel *channel, short events, int64_t deadline_ms);
