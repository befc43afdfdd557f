/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One line of text into an argv, by the quoting rules of the POSIX shell command language (XCU 2.2:
 * backslash, single quotes, double quotes) and nothing else of it: no variables, no globs, no
 * operators.  The words go to execve(2) as they are, and never to a shell.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

/* Words are appended to *ret.  ERROR_USAGE: a quote is not closed, a backslash stands at the end, or
 * an unquoted character means something to a shell (| & ; < > ( ) $ ` newline, * ? [ #-at-word-start,
 * ~-at-word-start): the message names it, says that no shell reads this, and how to
 * quote it.  On an error *ret is untouched. */
int argsplit(const char *line, struct strvec *ret, struct error *err);

/* The reverse: one line that argsplit() and a POSIX shell both read back as exactly these words.
 * For files whose format wants a command line (agents' hook settings).  The caller frees. */
char *argjoin(char *const *argv) MUST_USE;
