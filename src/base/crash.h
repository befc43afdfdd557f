/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal of a program that crashes: without help it stays in the mode of that program.
 */
#pragma once

#include <termios.h>

/* Takes back what programs set in a terminal, which ignores what it does not know: pastes, the
 * focus, the mouse, application keys, the hidden cursor, colours and the alternate screen. */
#define CRASH_RESET                                                                                \
	"\033[?2004l\033[?1004l\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[?1l\033>\033[?25h" \
	"\033[0m\033[?1049l\r"

/* If the process crashes from now on (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT), first write the
 * text to standard output, and set standard input so.  It still ends by that signal.  Both are
 * copied; of a text, at most 255 bytes. */
void crash_set_terminal(const struct termios *settings, const char *text);
/* The terminal is given back: a crash leaves it alone. */
void crash_clear_terminal(void);
