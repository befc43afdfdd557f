/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/offer.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <string.h>
#include <termios.h>

void offer_text(const struct instance *instance, struct strbuf *ret)
{
	const struct conversation *conversation = &instance->conversation;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *cwd = visible(instance_launch_directory(instance));
	char used[CLOCK_TEXT_SIZE];

	strbuf_addf(ret, "\r\nagentdeck: session '%s' (%s) in %s\r\n", title, instance->agent, cwd);
	if (conversation->session_id)
		strbuf_addf(ret, "  conversation %s\r\n", conversation->session_id);
	if (instance->last_used_at)
		strbuf_addf(ret, "  last used    %s\r\n",
			    clock_local(instance->last_used_at, used));
	strbuf_adds(ret, "\r\n"
			 "  Enter  resume it\r\n"
			 "  n      start a new conversation (this one is kept)\r\n"
			 "  q      leave a shell here\r\n"
			 "\r\n");
}

enum offer_choice offer_parse(const char *typed, size_t length)
{
	while (length > 1 && (typed[length - 1] == '\r' || typed[length - 1] == '\n'))
		length--;
	if (length != 1)
		return OFFER_NONE;
	switch (typed[0]) {
	case '\r':
	case '\n':
		return OFFER_RESUME;
	case 'n':
	case 'N':
		return OFFER_FRESH;
	case 'q':
	case 'Q':
	case 'C' - '@':
	case 'D' - '@':
		return OFFER_SHELL;
	default:
		return OFFER_NONE;
	}
}

static int gone(struct error *err)
{
	return error_set(err, ERROR_UNAVAILABLE, "the terminal of the offer is gone");
}

static int wait_for_answer(int terminal, enum offer_choice *ret, struct error *err)
{
	char typed[256];
	for (;;) {
		ssize_t length = read(terminal, typed, sizeof(typed));
		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return gone(err);
		enum offer_choice choice = offer_parse(typed, (size_t)length);
		if (choice != OFFER_NONE) {
			*ret = choice;
			return 0;
		}
		if (fs_write_all(terminal, "\a", 1, "the terminal", err) < 0)
			return -1;
	}
}

int offer_ask(int terminal, const struct instance *instance, enum offer_choice *ret,
	      struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct termios before, raw;

	if (tcgetattr(terminal, &before) < 0)
		return error_set(err, ERROR_UNAVAILABLE, "the offer needs a terminal");
	raw = before;
	cfmakeraw(&raw);
	if (tcsetattr(terminal, TCSAFLUSH, &raw) < 0)
		return gone(err);
	offer_text(instance, &text);
	int r = fs_write_all(terminal, text.data, text.length, "the terminal", err);
	if (r == 0)
		r = wait_for_answer(terminal, ret, err);
	(void)tcsetattr(terminal, TCSAFLUSH, &before);
	return r;
}

size_t offer_attempt(const struct run *run, enum offer_choice choice)
{
	size_t i;
	for (i = 0; i < run->attempt_count; i++) {
		enum rung rung = run->attempts[i].rung;
		if (choice == OFFER_RESUME || (choice == OFFER_SHELL && rung == RUNG_SHELL) ||
		    (choice == OFFER_FRESH && (rung == RUNG_FRESH || rung == RUNG_LAUNCH)))
			break;
	}
	return i;
}
