/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file of an export or a backup: a tar file of one description and the conversations.
 *
 *   agentdeck.json          what the sessions are: model/session/parcel.h
 *   conversations/N.jsonl   the conversations, N from 1, in this order
 *
 * Reading takes nothing else: no other name or order, no link, no directory, no extension of tar.
 * So no file can name a path of this machine, and nothing is written where it says.
 */
#pragma once

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>
#include <sys/types.h>

enum { ARCHIVE_MAX_DESCRIPTION = 16 << 20, ARCHIVE_MAX_CONVERSATIONS = 100000 };
/* The most bytes of one conversation: what the size in a header of tar can say. */
#define ARCHIVE_MAX_BYTES ((UINT64_C(1) << 33) - 1)

/* The first size bytes of an open file. */
struct archive_source {
	int fd; /* borrowed */
	uint64_t size;
	char digest[SHA256_TEXT_SIZE];
};

/* Size and digest of what the open file of this path has now.  ERROR_INVALID: it is too large. */
int archive_measure(int fd, const char *path, struct archive_source *ret, struct error *err);
/* Like archive_measure(), but up to the end of the last whole line, for a file that is written to.
 */
int archive_measure_lines(int fd, const char *path, struct archive_source *ret, struct error *err);
/* Like archive_measure(), but for the first size bytes.  ARCHIVE_SHORT: it has fewer. */
enum { ARCHIVE_SHORT = 1 };
int archive_measure_start(int fd, const char *path, uint64_t size, struct archive_source *ret,
			  struct error *err);

/* The path that means standard input or output. */
#define ARCHIVE_STANDARD "-"

/* Write the file, with mode 0600, durably and whole or not at all, and read it back.  Never
 * replaces a file: ERROR_EXISTS.  Standard output gets it after it was read back. */
int archive_write(const char *path, const char *description, const struct archive_source *sources,
		  size_t count, struct error *err);

struct archive_member {
	uint64_t offset, size;
};
struct archive {
	int fd;
	char *path;        /* for messages */
	char *description; /* not parsed */
	struct archive_member *members;
	size_t count; /* of the conversations */
};
/* Standard input is read to its end first.  ERROR_CORRUPT: it is not such a file, or it was cut off
 * or changed. */
int archive_open(const char *path, struct archive *ret, struct error *err);
void archive_close(struct archive *archive);
#define cleanup_archive CLEANUP(archive_close)

/* Copy this conversation, from 1, to an open file (-1: only look).  ERROR_CORRUPT: it does not have
 * this digest. */
int archive_copy(const struct archive *archive, size_t number, const char *digest, int target,
		 struct error *err);
