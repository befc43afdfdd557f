/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What went wrong: a message for people and a code for programs.
 *
 * The contract of every function that takes `struct error *err` as its last parameter:
 *
 *   returns 0         done; *err untouched
 *   returns negative  failed; *err is set; output parameters are untouched
 *   returns positive  an outcome that the function's header names in an enum (ABSENT, BUSY, ...);
 *                     *err untouched.  The caller handles it and does not pass it on.
 *
 * Library code neither prints nor exits: main() turns an error into text or JSON and an exit
 * status. A message says what failed, on what, and what to do about it.
 */
#pragma once

#include "base/macro.h"

enum error_code {
	ERROR_NONE,
	ERROR_USAGE,       /* the command line is wrong; exit status 64 */
	ERROR_NOT_FOUND,   /* the named thing does not exist; exit status 2 */
	ERROR_AMBIGUOUS,   /* the name fits several things; exit status 2 */
	ERROR_EXISTS,      /* the name is taken */
	ERROR_INVALID,     /* the operation does not fit the state that the thing is in */
	ERROR_REFUSED,     /* attaching is not possible here; exit status 3 */
	ERROR_BUSY,        /* another process holds the lock */
	ERROR_CORRUPT,     /* a file has unexpected contents */
	ERROR_NEWER,       /* a file was written by a newer agentdeck */
	ERROR_UNAVAILABLE, /* a program or service that is needed is missing */
	ERROR_CHILD,       /* a program was run and failed */
	ERROR_TIMEOUT,     /* no answer within the deadline: unknown, not dead */
	ERROR_DELIVERY,    /* a message could not be proven to have arrived */
	ERROR_UNREACHABLE, /* another host does not answer, and nothing was done; exit status 69 */
	ERROR_UNKNOWN,     /* whether a change was done is not known: ask; exit status 70 */
	ERROR_SYSTEM,      /* the operating system refused */
	ERROR_CODE_COUNT
};

/* Zero-initialised is "no error".  The struct owns `message`. */
struct error {
	enum error_code code;
	int os_errno; /* errno value of the cause, 0 if none */
	char *message;
};

/* Set *err and return -1, for `return error_set(...)`.  err may be NULL when the caller does not
 * need the message.  Setting an error that is already set is a programming mistake: see
 * error_on_second(). */
int error_set(struct error *err, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* The remedy when this process has reached a limit (files, memory, arguments); "" for every other
 * errno. */
const char *error_remedy(int os_errno);

/* Like error_set() with ERROR_SYSTEM, but appends ": <strerror>" and the remedy if there is one. */
int error_set_errno(struct error *err, int os_errno, const char *format, ...) PRINTF_LIKE(3, 4);

/* Like error_set_errno(), but for an operation on a file: appends the remedy for a full, failing or
 * read-only file system. */
int error_set_file(struct error *err, int os_errno, const char *format, ...) PRINTF_LIKE(3, 4);

/* Put "<text>: " before the message of an error that is set.  Returns -1. */
int error_prefix(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Move the error from *from, which may be used again, to *err.  Returns -1.  err as for
 * error_set(). */
int error_move(struct error *err, struct error *from);

/* A macro, so that compilers and analyzers see that the result is -1. */
#define error_set(...)                    \
	({                                \
		(error_set)(__VA_ARGS__); \
		-1;                       \
	})
#define error_set_errno(...)                    \
	({                                      \
		(error_set_errno)(__VA_ARGS__); \
		-1;                             \
	})
#define error_set_file(...)                    \
	({                                     \
		(error_set_file)(__VA_ARGS__); \
		-1;                            \
	})
#define error_prefix(...)                    \
	({                                   \
		(error_prefix)(__VA_ARGS__); \
		-1;                          \
	})
#define error_move(...)                    \
	({                                 \
		(error_move)(__VA_ARGS__); \
		-1;                        \
	})

/* What happens when a function sets an error that is already set.  NULL, the default: the program
 * aborts.  Else the first error stays, the second is dropped, and handler gets both messages
 * (borrowed).  command_main() sets a handler in a release build, so that such a mistake does not
 * end the supervisor. */
void error_on_second(void (*handler)(const char *first, const char *second));

/* Clear the error; *err may be used again.  NULL is fine. */
void error_clear(struct error *err);

/* The upper-case word that JSON output carries, "NOT_FOUND" for ERROR_NOT_FOUND.  Static. */
const char *error_code_name(enum error_code code);

/* Exit status of the program for this code: 1, or what the enum says. */
int error_exit_status(enum error_code code);

#define cleanup_error CLEANUP(error_clear)
