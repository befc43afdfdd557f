/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const struct {
	const char *name;
	int exit_status;
} codes[] = {
	[ERROR_NONE] = { "NONE", 0 },
	[ERROR_USAGE] = { "USAGE", 64 },
	[ERROR_NOT_FOUND] = { "NOT_FOUND", 2 },
	[ERROR_AMBIGUOUS] = { "AMBIGUOUS", 2 },
	[ERROR_EXISTS] = { "ALREADY_EXISTS", 1 },
	[ERROR_INVALID] = { "INVALID_OPERATION", 1 },
	[ERROR_REFUSED] = { "ATTACH_REFUSED", 3 },
	[ERROR_BUSY] = { "BUSY", 1 },
	[ERROR_CORRUPT] = { "CORRUPT", 1 },
	[ERROR_NEWER] = { "NEWER_FORMAT", 1 },
	[ERROR_UNAVAILABLE] = { "UNAVAILABLE", 1 },
	[ERROR_CHILD] = { "CHILD_FAILED", 1 },
	[ERROR_TIMEOUT] = { "TIMEOUT", 1 },
	[ERROR_DELIVERY] = { "DELIVERY_FAILED", 1 },
	[ERROR_UNREACHABLE] = { "UNREACHABLE", 69 },
	[ERROR_UNKNOWN] = { "UNKNOWN", 70 },
	[ERROR_SYSTEM] = { "SYSTEM", 1 },
};
_Static_assert(ARRAY_SIZE(codes) == ERROR_CODE_COUNT, "a code without a name");

/* The message when there is no memory for one. */
static char out_of_memory[] = "out of memory";

static void (*second_handler)(const char *first, const char *second);

void error_on_second(void (*handler)(const char *first, const char *second))
{
	second_handler = handler;
}

/* Returns when the first error is kept. */
static void refuse_second(const struct error *first, const char *second)
{
	if (!second_handler)
		abort();
	second_handler(first->message, second ? second : out_of_memory);
}

static int set(struct error *err, enum error_code code, int os_errno, char *message)
{
	if (!err) {
		free(message);
		return -1;
	}
	if (err->code != ERROR_NONE) {
		refuse_second(err, message);
		free(message);
		return -1;
	}
	err->code = code;
	err->os_errno = os_errno;
	err->message = message ? message : out_of_memory;
	return -1;
}

int(error_set)(struct error *err, enum error_code code, const char *format, ...)
{
	char *message = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	return set(err, code, 0, message);
}

const char *error_remedy(int os_errno)
{
	switch (os_errno) {
	case EMFILE:
		return "raise the limit of open files (ulimit -n), then try again";
	case ENFILE:
		return "the machine has too many files open: end something, then try again";
	case ENOMEM:
		return "there is too little memory, or the limit is too low (ulimit -v): raise it, then try again";
	case E2BIG:
		return "the arguments and the environment are too long for the limit of the stack (ulimit -s): shorten them, "
		       "or raise it";
	default:
		return "";
	}
}

static PRINTF_LIKE(4, 0) int set_errno(struct error *err, int os_errno, const char *remedy,
				       const char *format, va_list args)
{
	cleanup_free char *what = NULL;
	char *message = NULL;
	if (vasprintf(&what, format, args) < 0)
		what = NULL;
	if (!*remedy)
		remedy = error_remedy(os_errno);
	if (asprintf(&message, "%s: %s%s%s", what ? what : "system call", strerror(os_errno),
		     *remedy ? ": " : "", remedy) < 0)
		message = NULL;
	return set(err, ERROR_SYSTEM, os_errno, message);
}

int(error_set_errno)(struct error *err, int os_errno, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	set_errno(err, os_errno, "", format, args);
	va_end(args);
	return -1;
}

static const char *file_remedy(int os_errno)
{
	switch (os_errno) {
	case EACCES:
		return "give yourself access to it (chmod, chown), then try again";
	case ENOSPC:
	case EDQUOT:
		return "free some space there, then try again";
	case EIO:
		return "look at the kernel's messages (dmesg), then try again";
	case EFBIG:
		return "raise the limit (ulimit -f), then try again";
	case EROFS:
		return "mount it writable, then try again";
	case ENOLCK:
		return "its file system does not support locks (on a network, check the server); "
		       "then try again";
	default:
		return "";
	}
}

int(error_set_file)(struct error *err, int os_errno, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	set_errno(err, os_errno, file_remedy(os_errno), format, args);
	va_end(args);
	return -1;
}

int(error_move)(struct error *err, struct error *from)
{
	assert(from->code != ERROR_NONE);
	if (!err) {
		error_clear(from);
		return -1;
	}
	if (err->code != ERROR_NONE) {
		refuse_second(err, from->message);
		error_clear(from);
		return -1;
	}
	*err = *from;
	*from = (struct error){ 0 };
	return -1;
}

int(error_prefix)(struct error *err, const char *format, ...)
{
	cleanup_free char *prefix = NULL;
	char *message = NULL;
	va_list args;

	if (!err)
		return -1;
	assert(err->code != ERROR_NONE);
	va_start(args, format);
	if (vasprintf(&prefix, format, args) < 0)
		prefix = NULL;
	va_end(args);
	if (!prefix || asprintf(&message, "%s: %s", prefix, err->message) < 0)
		return -1;
	if (err->message != out_of_memory)
		free(err->message);
	err->message = message;
	return -1;
}

void error_clear(struct error *err)
{
	if (!err)
		return;
	if (err->message != out_of_memory)
		free(err->message);
	*err = (struct error){ 0 };
}

const char *error_code_name(enum error_code code)
{
	assert(code < ERROR_CODE_COUNT);
	return codes[code].name;
}

int error_exit_status(enum error_code code)
{
	assert(code < ERROR_CODE_COUNT);
	return codes[code].exit_status;
}
