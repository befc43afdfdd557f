/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/channel.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_SIZE = 64 << 10 };

void channel_init(struct channel *channel, int fd)
{
	*channel = (struct channel){ .fd = fd, .passed = -1 };
}

/* --- in --------------------------------------------------------------------------------------- */

/* A START has secrets.  So what was taken leaves no copy, neither here nor in freed memory. */
static void forget_taken(struct channel *channel)
{
	struct strbuf *in = &channel->in;
	if (channel->in_used == 0)
		return;
	in->length -= channel->in_used;
	memmove(in->data, in->data + channel->in_used, in->length);
	explicit_bzero(in->data + in->length, channel->in_used);
	channel->in_used = 0;
}

static void wipe(struct strbuf *bytes)
{
	if (bytes->data)
		explicit_bzero(bytes->data, bytes->size);
	strbuf_free(bytes);
}

void channel_close(struct channel *channel)
{
	if (channel->fd >= 0)
		(void)close(channel->fd);
	if (channel->passed >= 0)
		(void)close(channel->passed);
	wipe(&channel->in);
	wipe(&channel->out);
	channel_init(channel, -1);
}

void channel_forget(struct channel *channel)
{
	forget_taken(channel);
	if (channel_unsent(channel) == 0 && channel->out.data)
		explicit_bzero(channel->out.data, channel->out.size);
}

static void add_received(struct strbuf *in, char *bytes, size_t length)
{
	if (in->length + length + 1 > in->size) {
		struct strbuf grown = { .size = (in->length + length + 1) * 2 };
		grown.data = xcalloc(grown.size, 1);
		strbuf_add(&grown, in->data, in->length);
		wipe(in);
		*in = grown;
	}
	strbuf_add(in, bytes, length);
	explicit_bzero(bytes, length);
}

/* Keep only the last descriptor: a peer that sends more must not fill our table. */
static void keep_passed(struct channel *channel, const struct cmsghdr *item)
{
	const size_t size = item->cmsg_len - CMSG_LEN(0);
	for (size_t at = 0; at + sizeof(channel->passed) <= size; at += sizeof(channel->passed)) {
		if (channel->passed >= 0)
			(void)close(channel->passed);
		memcpy(&channel->passed, CMSG_DATA(item) + at, sizeof(channel->passed));
	}
}

static void read_ancillary(struct channel *channel, struct msghdr *message)
{
	channel->sender = 0;
	for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item;
	     item = CMSG_NXTHDR(message, item)) {
		struct ucred who;
		if (item->cmsg_level != SOL_SOCKET)
			continue;
		if (item->cmsg_type == SCM_CREDENTIALS && item->cmsg_len == CMSG_LEN(sizeof(who))) {
			memcpy(&who, CMSG_DATA(item), sizeof(who));
			channel->sender = who.pid;
		} else if (item->cmsg_type == SCM_RIGHTS) {
			keep_passed(channel, item);
		}
	}
}

int channel_receive(struct channel *channel, struct error *err)
{
	union {
		struct cmsghdr align;
		char data[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} ancillary;
	static char buffer[READ_SIZE];
	struct iovec part = { buffer, sizeof(buffer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	/* Without room for them, the kernel closes descriptors that we did not ask for. */
	if (channel->takes_descriptors) {
		message.msg_control = &ancillary;
		message.msg_controllen = sizeof(ancillary);
	}
	do
		n = recvmsg(channel->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return CHANNEL_AGAIN;
	if (n < 0 && errno != ECONNRESET)
		return error_set_errno(err, errno, "read from a capsule's socket");
	if (n <= 0)
		return CHANNEL_ENDED;
	if (channel->takes_descriptors)
		read_ancillary(channel, &message);
	forget_taken(channel);
	add_received(&channel->in, buffer, (size_t)n);
	return 0;
}

int channel_peek(const struct channel *channel, struct frame *ret, struct error *err)
{
	size_t size;
	return frame_next(strbuf_text(&channel->in) + channel->in_used,
			  channel->in.length - channel->in_used, ret, &size, err);
}

int channel_take(struct channel *channel, struct frame *ret, struct error *err)
{
	size_t size;
	int r = frame_next(strbuf_text(&channel->in) + channel->in_used,
			   channel->in.length - channel->in_used, ret, &size, err);
	if (r == 0)
		channel->in_used += size;
	return r;
}

/* --- out -------------------------------------------------------------------------------------- */

static int sent(struct channel *channel, ssize_t n, struct error *err)
{
	if (n < 0 && errno == EAGAIN)
		return CHANNEL_AGAIN;
	if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
		return CHANNEL_ENDED;
	if (n < 0)
		return error_set_errno(err, errno, "write to a capsule's socket");
	channel->out_sent += (size_t)n;
	return 0;
}

int channel_flush(struct channel *channel, struct error *err)
{
	int r = 0;
	while (r == 0 && channel_unsent(channel) > 0) {
		ssize_t n = send(channel->fd, channel->out.data + channel->out_sent,
				 channel_unsent(channel), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0 || errno != EINTR)
			r = sent(channel, n, err);
	}
	if (channel_unsent(channel) == 0) {
		channel->out.length = 0;
		channel->out_sent = 0;
	} else if (channel->out_sent > channel_unsent(channel)) {
		memmove(channel->out.data, channel->out.data + channel->out_sent,
			channel_unsent(channel));
		channel->out.length -= channel->out_sent;
		channel->out_sent = 0;
	}
	return r;
}

int channel_flush_with(struct channel *channel, int descriptor, struct error *err)
{
	union {
		struct cmsghdr align;
		char data[CMSG_SPACE(sizeof(int))];
	} ancillary = { 0 };
	struct iovec part = { channel->out.data + channel->out_sent, channel_unsent(channel) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &ancillary,
				  .msg_controllen = sizeof(ancillary) };
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(item), &descriptor, sizeof(descriptor));
	if (part.iov_len > 0) {
		ssize_t n = sendmsg(channel->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			channel->out_sent += (size_t)n;
	}
	return channel_flush(channel, err);
}

bool channel_wait(const struct channel *channel, short events, int64_t deadline_ms)
{
	struct pollfd event = { .fd = channel->fd, .events = events };
	int n;
	do
		n = poll(&event, 1, clock_left_ms(deadline_ms));
	while (n < 0 && errno == EINTR);
	return n > 0;
}
