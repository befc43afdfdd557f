/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent wrote to its terminal, for a window that opens later: the last HISTORY_KEEP bytes
 * or more, from a place where a terminal can begin, after the modes that were set before it.
 *
 * There is no terminal emulator here.  The window is one, and the agent draws its screen again when
 * the window's size changes.
 */
#pragma once

#include "base/text.h"

enum {
	HISTORY_KEEP = 256 << 10,
	HISTORY_SEQUENCE_MAX = 128, /* of a sequence that is understood */
	HISTORY_TITLE_MAX = 256,
};

/* Where a byte stream is in the grammar of terminals (ECMA-48), and which modes it has set. */
struct history_scan {
	int state; /* enum state of history-scan.c; 0: between sequences */
	char text[HISTORY_SEQUENCE_MAX + 1]; /* of the sequence so far, without its introducer */
	size_t length;                       /* of text; more than the maximum: it was cut */
	char introducer;                     /* '[', ']', 'P', ... */
	unsigned modes;                      /* bits, by the table in history-scan.c */
	int modify_keys;                     /* xterm's modifyOtherKeys; 0: off */
	bool keypad;                         /* application keypad */
	char title[HISTORY_TITLE_MAX + 1];
};

/* What the byte that was scanned last completed. */
enum history_event {
	HISTORY_PLAIN,    /* a character or control between sequences */
	HISTORY_INSIDE,   /* nothing yet */
	HISTORY_SEQUENCE, /* a sequence */
	HISTORY_QUERY,    /* a sequence that the terminal answers */
	HISTORY_CLEAR,    /* a sequence after which the screen does not depend on what was before */
	HISTORY_FRAME,    /* the beginning of a synchronized update */
};
void history_scan_init(struct history_scan *scan);
enum history_event history_scan_byte(struct history_scan *scan, unsigned char byte);
/* Append what brings a terminal that was just reset into the modes. */
void history_put_modes(const struct history_scan *scan, struct strbuf *out);

struct history {
	struct strbuf data;
	struct history_scan start; /* the state before the first byte of data; between sequences */
	bool was_cut;              /* there was something before data */
};

void history_init(struct history *history);
void history_free(struct history *history);
void history_add(struct history *history, const void *data, size_t length);

/* Append what a new window needs.  again: an earlier window has had it, so the terminal is reset
 * first, and queries are left out: that window has answered them. */
void history_replay(const struct history *history, bool again, struct strbuf *out);
