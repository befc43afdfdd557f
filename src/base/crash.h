/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal of a program that crashes: without help it stays in the mode of that program.
 */
#pragma once

#include <termios.h>

/* If the process crashes from now on (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT), first write the
 * text to standard output, and set standard input so.  It still ends by that signal.  Both are
 * copied; of a text, at most 255 bytes. */
void crash_set_terminal(const struct termios *settings, const char *text);
/* The terminal is given back: a crash leaves it alone. */
void crash_clear_terminal(void);
