/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/terminal/alert.h"

#include "base/clock.h"
#include "driver/tmux/tmux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For the rest of a sequence of which a full terminal took the beginning. */
enum { REST_MS = 100 };

#define BELL          "\a"
#define STRING_END    "\033\\"
#define IN_TMUX_BEGIN "\033Ptmux;"

enum alert_terminal alert_terminal_of(const char *name, const char *answer)
{
	static const char *const plain[] = { "linux", "dumb", "vt", "screen", "ansi" };
	if (starts_with(answer, "tmux ") || starts_with(name, "tmux"))
		return ALERT_IN_TMUX;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (starts_with(name, plain[i]))
			return ALERT_PLAIN;
	return ALERT_DIRECT;
}

/* Visible, without ";", which ends a part of OSC 777, and of at most ALERT_TEXT_MAX bytes. */
static char *clean(const char *text)
{
	char *clean = visible(text);
	size_t length = strlen(clean);
	if (length > ALERT_TEXT_MAX) {
		length = ALERT_TEXT_MAX;
		while (length > 0 && ((unsigned char)clean[length] & 0xc0) == 0x80)
			length--;
		clean[length] = '\0';
	}
	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ',';
	return clean;
}

/* Each ESC inside of a passed on sequence is doubled. */
static void add_in_tmux(struct strbuf *ret, const char *sequence)
{
	strbuf_adds(ret, IN_TMUX_BEGIN);
	for (const char *c = sequence; *c; c++) {
		if (*c == '\033')
			strbuf_add(ret, c, 1);
		strbuf_add(ret, c, 1);
	}
	strbuf_adds(ret, STRING_END);
}

void alert_bytes(const struct alert *alert, enum alert_terminal terminal, struct strbuf *ret)
{
	cleanup_free char *title = clean(alert->title), *text = clean(alert->text);
	cleanup_strbuf struct strbuf sequence = { 0 };
	if (alert->bell)
		strbuf_adds(ret, BELL);
	/* Our name first: some terminals obey an OSC 9 that begins with a number. */
	if (alert->osc == NOTIFY_OSC_9)
		strbuf_addf(&sequence, "\033]9;agentdeck: %s: %s" STRING_END, title, text);
	else if (alert->osc == NOTIFY_OSC_777)
		strbuf_addf(&sequence, "\033]777;notify;agentdeck: %s;%s" STRING_END, title, text);
	if (terminal == ALERT_IN_TMUX && sequence.length)
		add_in_tmux(ret, sequence.data);
	else if (terminal == ALERT_DIRECT)
		strbuf_adds(ret, strbuf_text(&sequence));
}

static int open_terminal(const char *path, struct error *err)
{
	struct stat st;
	cleanup_close int fd = open(path,
				    O_WRONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set_file(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat %s", path);
	if (!S_ISCHR(st.st_mode) || st.st_uid != geteuid() || !isatty(fd))
		return error_set(err, ERROR_SYSTEM, "%s is not a terminal of yours", path);
	return TAKE_FD(fd);
}

int alert_write(const char *path, const struct strbuf *bytes, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + REST_MS;
	cleanup_close int fd = open_terminal(path, err);
	if (fd < 0)
		return -1;
	for (size_t done = 0; done < bytes->length;) {
		ssize_t n = write(fd, bytes->data + done, bytes->length - done);
		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		struct pollfd room = { .fd = fd, .events = POLLOUT };
		if (errno != EINTR && errno != EAGAIN)
			return error_set_file(err, errno, "write to %s", path);
		if (!done || poll(&room, 1, clock_left_ms(deadline_ms)) <= 0)
			return error_set(err, ERROR_TIMEOUT, "%s takes nothing", path);
	}
	return 0;
}

int alert_attached(const char *socket, const struct alert *alert, struct error *err)
{
	cleanup_tmux_clients struct tmux_clients clients = { 0 };
	int r = tmux_list_clients(socket, &clients, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < clients.count; i++) {
		const struct tmux_client *client = &clients.clients[i];
		cleanup_strbuf struct strbuf bytes = { 0 };
		alert_bytes(alert, alert_terminal_of(client->name, client->answer), &bytes);
		if (bytes.length)
			(void)alert_write(client->terminal, &bytes, NULL);
	}
	return 0;
}
