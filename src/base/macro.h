/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attributes and the few macros of this code base.
 *
 * The declaration shows the ownership: a local with a cleanup attribute owns its value, and
 * TAKE_PTR() or TAKE_FD() lets the value leave the scope.  A borrowed pointer never has an
 * attribute.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define MUST_USE                 __attribute__((warn_unused_result))
#define UNUSED                   __attribute__((unused))
#define CLEANUP(function)        __attribute__((cleanup(function)))
/* Define name(), which gives the value of a pointer to destroy(), for CLEANUP(name). */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot have any */
#define CLEANUP_OF(name, type, destroy)         \
	static inline void name(type **pointer) \
	{                                       \
		destroy(*pointer);              \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The value; the variable no longer owns it. */
#define TAKE_PTR(pointer)                             \
	({                                            \
		__typeof__(pointer) *p_ = &(pointer); \
		__typeof__(pointer) v_ = *p_;         \
		*p_ = NULL;                           \
		v_;                                   \
	})

#define TAKE_FD(fd)              \
	({                       \
		int *p_ = &(fd); \
		int v_ = *p_;    \
		*p_ = -1;        \
		v_;              \
	})

static inline void cleanup_free_function(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close_function(const int *fd)
{
	/* Never retried: on Linux the descriptor is gone after EINTR (close(2)). */
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void cleanup_fclose_function(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define cleanup_free   CLEANUP(cleanup_free_function)
#define cleanup_close  CLEANUP(cleanup_close_function)
#define cleanup_fclose CLEANUP(cleanup_fclose_function)
