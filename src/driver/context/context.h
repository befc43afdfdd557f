/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The directory of a Dockerfile, as a container engine gets it: a tar file.
 *
 * Links are packed as links, so nothing outside of the directory comes along.  What .dockerignore
 * names is left out, and so are sockets, pipes and devices.  The order is that of the names, and
 * owners and times are always the same, so the digest changes only with names, permissions and
 * contents.
 */
#pragma once

#include "base/error.h"
#include "base/sha256.h"
#include "driver/context/dockerfile.h"

#include <stdint.h>

#define CONTEXT_DOCKERFILE "Dockerfile"
#define CONTEXT_IGNORE     ".dockerignore"

/* What a context may have at most. */
enum { CONTEXT_MAX_FILES = 200000, CONTEXT_MAX_TEXT = 1 << 20 };
#define CONTEXT_MAX_BYTES (UINT64_C(1) << 30)

/* CONTEXT_NONE: there is no such directory, or no Dockerfile in it. */
enum { CONTEXT_NONE = 1 };

struct context {
	const char *directory;     /* a path without links: ERROR_INVALID if it has one now */
	const char *dockerfile;    /* its path below the directory; NULL: CONTEXT_DOCKERFILE */
	const char *text;          /* pack this text as the Dockerfile; NULL: that of the file */
	const struct strvec *args; /* of the build, NAME=VALUE; NULL: none */
	/* For dockerfile_pin(): the tar file has the Dockerfile twice, and the second one, which
	 * counts, has these.  The digest is that of the directory.  NULL: none. */
	const struct strvec *pins;
	bool is_whole;      /* nothing is left out, and it needs no Dockerfile */
	uint64_t max_bytes; /* 0: CONTEXT_MAX_BYTES */
};

/* Write the tar file into an open file (-1: only the digest is wanted).  ERROR_INVALID: it is too
 * big, and the message says what to do. */
int context_pack(const struct context *context, int tar, char ret_digest[static SHA256_TEXT_SIZE],
		 struct error *err);

/* The text of its Dockerfile. */
int context_text(const struct context *context, struct strbuf *ret, struct error *err);
/* The images that its Dockerfile needs.  ERROR_INVALID: one is not known, since it has a variable
 * without a value. */
int context_bases(const struct context *context, struct dockerfile_bases *ret, struct error *err);
