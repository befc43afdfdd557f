/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Split one line of text into an argv, by the quoting rules of the POSIX shell command language
 * (XCU 2.2: backslash, single quotes, double quotes) and none of its other rules: no variables, no
 * globs, no operators.  The words go unchanged to execve(2), and never to a shell.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* Words are appended to *ret.  ERROR_USAGE: a quote is not closed, the line ends with a
 * backslash, or it has an unquoted character that means something to a shell: | & ; < > ( ) $ ` * ?
 * [, a newline, or # or ~ at the start of a word.  The message names it, says that no shell reads
 * this, and says how to quote it.  On an error *ret is untouched. */
int argsplit(const char *line, struct strvec *ret, struct error *err);

/* The reverse: one line that argsplit() and a POSIX shell both read back as exactly these words.
 * For files whose format needs a command line (agents' hook settings).  The caller frees. */
char *argjoin(char *const *argv) MUST_USE;
