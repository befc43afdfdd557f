/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capsule/history.h"

#include <string.h>

enum state { GROUND, ESCAPE, INTERMEDIATE, CONTROL, STRING, STRING_ESCAPE };

enum { BELL = 0x07, CANCEL = 0x18, SUBSTITUTE = 0x1a, ENQUIRY = 0x05, ESC = 0x1b, DELETE = 0x7f };

/* The private modes that a window must have, and how a terminal begins (xterm's ctlseqs). */
static const struct mode {
	unsigned number;
	bool is_default;
} modes[] = {
	{ 1, false },    /* cursor keys */
	{ 7, true },     /* autowrap */
	{ 9, false },    /* mouse, as X10 */
	{ 25, true },    /* cursor is visible */
	{ 47, false },   /* alternate screen, oldest */
	{ 1000, false }, /* mouse: buttons */
	{ 1002, false }, /* mouse: drags */
	{ 1003, false }, /* mouse: every move */
	{ 1004, false }, /* focus */
	{ 1005, false }, /* mouse: UTF-8 */
	{ 1006, false }, /* mouse: SGR */
	{ 1015, false }, /* mouse: urxvt */
	{ 1047, false }, /* alternate screen */
	{ 1049, false }, /* alternate screen, with the cursor saved */
	{ 2004, false }, /* bracketed paste */
};

void history_scan_init(struct history_scan *scan)
{
	*scan = (struct history_scan){ .state = GROUND };
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		scan->modes |= (unsigned)modes[i].is_default << i;
}

/* Back to the start, but the title stays. */
static void reset(struct history_scan *scan)
{
	char title[sizeof(scan->title)];
	memcpy(title, scan->title, sizeof(title));
	history_scan_init(scan);
	memcpy(scan->title, title, sizeof(title));
}

static bool is_alternate(unsigned mode)
{
	return mode == 47 || mode == 1047 || mode == 1049;
}

/* CSI ? 1 ; 2 h */
static enum history_event set_modes(struct history_scan *scan, bool on)
{
	enum history_event event = HISTORY_SEQUENCE;
	char *next = scan->text + 1;
	while (*next >= '0' && *next <= '9') {
		const unsigned long number = strtoul(next, &next, 10);
		next += *next == ';';
		if (number == 2026 && on && event == HISTORY_SEQUENCE)
			event = HISTORY_FRAME;
		for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
			if (modes[i].number != number)
				continue;
			scan->modes &= ~(1U << i);
			scan->modes |= (unsigned)on << i;
			if (is_alternate(modes[i].number) && on)
				event = HISTORY_CLEAR;
		}
	}
	return event;
}

/* Does the terminal report something for CSI Ps t?  (Window operations.) */
static bool is_window_report(const char *parameters)
{
	const unsigned long number = strtoul(parameters, NULL, 10);
	return number == 11 || (number >= 13 && number <= 16) || (number >= 18 && number <= 21);
}

/* A control sequence, CSI: text is prefix, parameters, intermediates and the final character. */
static enum history_event control(struct history_scan *scan)
{
	const char final = scan->text[scan->length - 1];
	const int before = scan->length > 1 ? scan->text[scan->length - 2] : '\0';
	const int prefix = strchr("<=>?", scan->text[0]) ? scan->text[0] : '\0';
	switch (final) {
	case 'h':
	case 'l':
		return prefix == '?' ? set_modes(scan, final == 'h') : HISTORY_SEQUENCE;
	case 'J':
		return scan->text[0] == '2' && scan->length == 2 ? HISTORY_CLEAR : HISTORY_SEQUENCE;
	case 'c':
		return HISTORY_QUERY; /* what are you? */
	case 'n':
		return prefix == '>' ? HISTORY_SEQUENCE : HISTORY_QUERY; /* where is the cursor? */
	case 'p':
		if (before == '!')
			reset(scan);
		return before == '$' ? HISTORY_QUERY : HISTORY_SEQUENCE; /* is the mode set? */
	case 'q':
		return prefix == '>' ? HISTORY_QUERY : HISTORY_SEQUENCE; /* which version? */
	case 'u':                                                        /* kitty's keyboard */
	case 'S':                                                        /* graphics */
		return prefix == '?' ? HISTORY_QUERY : HISTORY_SEQUENCE;
	case 't':
		return is_window_report(scan->text) ? HISTORY_QUERY : HISTORY_SEQUENCE;
	case 'x':
		return before == '\0' || (before >= '0' && before <= '9') ? HISTORY_QUERY
									  : HISTORY_SEQUENCE;
	case 'm':
		if (prefix == '>' && starts_with(scan->text, ">4"))
			scan->modify_keys = scan->text[2] == ';'
						    ? (int)strtol(scan->text + 3, NULL, 10)
						    : 0;
		return HISTORY_SEQUENCE;
	default:
		return HISTORY_SEQUENCE;
	}
}

/* OSC and DCS: text is all between the introducer and the end. */
static enum history_event string(struct history_scan *scan)
{
	const char *text = scan->text;
	if (scan->introducer == 'P')
		return starts_with(text, "$q") || starts_with(text, "+q") ? HISTORY_QUERY
									  : HISTORY_SEQUENCE;
	if (scan->introducer != ']')
		return HISTORY_SEQUENCE;
	if (strstr(text, ";?"))
		return HISTORY_QUERY; /* which colour?  what is in the clipboard? */
	if (starts_with(text, "0;") || starts_with(text, "2;"))
		(void)snprintf(scan->title, sizeof(scan->title), "%s", text + 2);
	return HISTORY_SEQUENCE;
}

/* ESC and one character, perhaps after intermediates. */
static enum history_event escape(struct history_scan *scan, char final)
{
	if (scan->length > 0)
		return HISTORY_SEQUENCE;
	if (final == '=' || final == '>')
		scan->keypad = final == '=';
	if (final == 'c') {
		reset(scan);
		return HISTORY_CLEAR;
	}
	return final == 'Z' ? HISTORY_QUERY : HISTORY_SEQUENCE;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static void remember(struct history_scan *scan, unsigned char byte)
{
	if (scan->length < HISTORY_SEQUENCE_MAX) {
		scan->text[scan->length] = (char)byte;
		scan->text[scan->length + 1] = '\0';
	}
	if (scan->length <= HISTORY_SEQUENCE_MAX)
		scan->length++;
}

static void begin(struct history_scan *scan, enum state state, unsigned char introducer)
{
	scan->state = state;
	scan->introducer = (char)introducer;
	scan->length = 0;
	scan->text[0] = '\0';
}

/* The sequence is complete.  A longer one than we keep is passed on and not understood. */
static enum history_event complete(struct history_scan *scan,
				   enum history_event (*understand)(struct history_scan *))
{
	scan->state = GROUND;
	return scan->length <= HISTORY_SEQUENCE_MAX ? understand(scan) : HISTORY_SEQUENCE;
}

static enum history_event ground(struct history_scan *scan, unsigned char byte)
{
	if (byte == ESC) {
		begin(scan, ESCAPE, 0);
		return HISTORY_INSIDE;
	}
	return byte == ENQUIRY ? HISTORY_QUERY : HISTORY_PLAIN;
}

static enum history_event after_escape(struct history_scan *scan, unsigned char byte)
{
	if (byte < 0x20)
		return HISTORY_INSIDE; /* the terminal obeys it and continues */
	if (byte < 0x30) {
		scan->state = INTERMEDIATE;
		remember(scan, byte);
		return HISTORY_INSIDE;
	}
	if (scan->state == ESCAPE && byte == '[') {
		begin(scan, CONTROL, byte);
		return HISTORY_INSIDE;
	}
	if (scan->state == ESCAPE && strchr("]PX^_", byte) && byte) {
		begin(scan, STRING, byte);
		return HISTORY_INSIDE;
	}
	scan->state = GROUND;
	return escape(scan, (char)byte);
}

static enum history_event in_control(struct history_scan *scan, unsigned char byte)
{
	if (byte < 0x20 || byte == DELETE)
		return HISTORY_INSIDE;
	remember(scan, byte);
	if (byte < 0x40)
		return HISTORY_INSIDE;
	return complete(scan, control);
}

static enum history_event in_string(struct history_scan *scan, unsigned char byte)
{
	if (byte == BELL && scan->introducer == ']')
		return complete(scan, string);
	remember(scan, byte);
	return HISTORY_INSIDE;
}

enum history_event history_scan_byte(struct history_scan *scan, unsigned char byte)
{
	const enum state state = (enum state)scan->state;
	if (state == GROUND)
		return ground(scan, byte);
	if (byte == CANCEL || byte == SUBSTITUTE) {
		scan->state = GROUND;
		return HISTORY_SEQUENCE;
	}
	if (state == STRING_ESCAPE && byte == '\\')
		return complete(scan, string);
	if (state == STRING_ESCAPE)
		begin(scan, ESCAPE, 0);
	if (byte == ESC && state == STRING) {
		scan->state = STRING_ESCAPE;
		return HISTORY_INSIDE;
	}
	if (byte == ESC) {
		begin(scan, ESCAPE, 0);
		return HISTORY_INSIDE;
	}
	if (scan->state == CONTROL)
		return in_control(scan, byte);
	if (scan->state == STRING)
		return in_string(scan, byte);
	return after_escape(scan, byte);
}

void history_put_modes(const struct history_scan *scan, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		const bool is_on = scan->modes >> i & 1;
		if (is_on != modes[i].is_default)
			strbuf_addf(out, "\033[?%u%c", modes[i].number, is_on ? 'h' : 'l');
	}
	if (scan->keypad)
		strbuf_adds(out, "\033=");
	if (scan->modify_keys)
		strbuf_addf(out, "\033[>4;%dm", scan->modify_keys);
	if (*scan->title)
		strbuf_addf(out, "\033]2;%s\a", scan->title);
}
