/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The demo agent's terminal: printed lines that scroll away, below them the prompt with a line
 * editor of its own, and the signals, so that every wait can be ended by one.
 *
 * Sequence: screen_watch_signals() first; screen_open() where there is a terminal; screen_close().
 */
#pragma once

#include "demo/keys.h"

#include <termios.h>

struct screen {
	int signals;       /* signalfd(2) */
	bool is_deaf;      /* signals are ignored, the end of the terminal too */
	bool is_open, is_gone;
	int signal_number; /* the signal that SCREEN_SIGNAL told of */
	struct termios saved;
	struct keys keys;
	struct strbuf line; /* being edited */
	size_t cursor;      /* byte in line */
	unsigned cursor_row;
	struct strvec queue; /* lines entered while nobody asked */
	int64_t last_interrupt_ms;
};

enum screen_event {
	SCREEN_DONE,        /* the line is there; the time is over */
	SCREEN_IDLE,        /* nothing was typed for so long */
	SCREEN_INTERRUPTED, /* Esc or Ctrl-C */
	SCREEN_END,         /* the user wants to end */
	SCREEN_SIGNAL,      /* SIGTERM, SIGINT, SIGHUP, or the terminal went away (SIGHUP) */
};

/* From here on SIGTERM, SIGINT, SIGHUP come as SCREEN_SIGNAL, or not at all when is_deaf. */
int screen_watch_signals(struct screen *screen, bool is_deaf, struct error *err);

/* Take the terminal on descriptors 0 and 1: raw mode, bracketed paste. */
int screen_open(struct screen *screen, struct error *err);
/* Give it back as it was.  Fine when it was not opened. */
void screen_close(struct screen *screen);

/* Each line of text made visible, above the prompt. */
void screen_print(struct screen *screen, const char *text);
void screen_wipe(struct screen *screen);

/* Let the user edit a line.  idle_ms: -1 for ever.  *ret is the caller's on SCREEN_DONE. */
enum screen_event screen_ask(struct screen *screen, int idle_ms, char **ret);

/* Show note (or nothing when NULL) for so long; keys that do not interrupt edit the next line. */
enum screen_event screen_pause(struct screen *screen, const char *note, int ms);
