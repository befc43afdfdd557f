/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal of a program that crashes: without help it stays in the mode of that program.
 */
#pragma once

#include <termios.h>

/* Resets what programs set in a terminal: pastes, the focus, the mouse, application keys, the forms
 * of keys (modifyOtherKeys and mintty's, which tmux asks for), the hidden cursor, colours and the
 * alternate screen.  A terminal ignores sequences that it does not know. */
#define CRASH_RESET                                                                                \
	"\033[?2004l\033[?1004l\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[?1l\033>\033[?25h" \
	"\033[>4m\033[?7727l\033[0m\033[?1049l\r"

/* If the process crashes from now on (SIGSEGV, SIGABRT and the like), first write the text to
 * standard output, and apply the settings to standard input.  In the background the
 * terminal is left alone.  The process still ends by that signal.  Copies both, and at most 255
 * bytes of the text. */
void crash_set_terminal(const struct termios *settings, const char *text);
/* From now on, a crash leaves the terminal alone. */
void crash_clear_terminal(void);
