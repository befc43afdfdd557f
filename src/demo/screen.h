/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The demo agent's terminal: printed lines that scroll away, and below them the prompt with its
 * line editor.  It also receives the signals, so that a signal can end every wait.
 *
 * Sequence: screen_watch_signals() first; screen_open() where there is a terminal; screen_close().
 */
#pragma once

#include "demo/keys.h"

#include <termios.h>

struct screen {
	int signals;  /* signalfd(2) */
	bool is_deaf; /* ignores signals, and the end of the terminal */
	bool is_open, is_gone;
	int signal_number; /* the signal of the last SCREEN_SIGNAL */
	struct termios saved;
	struct keys keys;
	struct strbuf line; /* being edited */
	size_t cursor;      /* byte in line */
	unsigned cursor_row;
	struct strvec queue; /* lines entered while no prompt was shown */
	int64_t last_interrupt_ms;
	int keep_ms;           /* how long an entered line stays in the prompt */
	int64_t kept_until_ms; /* 0: there is none */
	size_t kept;           /* its length; the rest of line was typed after it */
	const char *draft;     /* typed in front of the first text that comes; NULL: nothing */
};

enum screen_event {
	SCREEN_DONE,        /* the line is complete, or the time is over */
	SCREEN_IDLE,        /* nothing was typed for idle_ms */
	SCREEN_INTERRUPTED, /* Esc or Ctrl-C */
	SCREEN_END,         /* the user wants to end */
	SCREEN_SIGNAL,      /* SIGTERM, SIGINT, SIGHUP, or the terminal went away (SIGHUP) */
};

/* Receive SIGTERM, SIGINT and SIGHUP as SCREEN_SIGNAL, or ignore them when is_deaf. */
int screen_watch_signals(struct screen *screen, bool is_deaf, struct error *err);

/* Take the terminal on descriptors 0 and 1: raw mode, bracketed paste. */
int screen_open(struct screen *screen, struct error *err);
/* Restore the terminal.  Fine when it was not opened. */
void screen_close(struct screen *screen);

/* Print each line of text above the prompt, made visible. */
void screen_print(struct screen *screen, const char *text);
void screen_wipe(struct screen *screen);

/* Let the user edit a line.  idle_ms: -1 forever.  *ret is the caller's on SCREEN_DONE. */
enum screen_event screen_ask(struct screen *screen, int idle_ms, char **ret);

/* Show text in place of the prompt until Esc; ignore all other keys.  SCREEN_DONE or
 * SCREEN_SIGNAL. */
enum screen_event screen_view(struct screen *screen, const char *text);

/* Wait for Esc or one of the digits from 1 to count; ignore all other keys.  SCREEN_DONE:
 * *ret is the digit; SCREEN_INTERRUPTED: Esc; or SCREEN_SIGNAL. */
enum screen_event screen_choose(struct screen *screen, unsigned count, unsigned *ret);

/* Show note (nothing when NULL) for ms.  Keys that do not interrupt edit the next line. */
enum screen_event screen_pause(struct screen *screen, const char *note, int ms);
