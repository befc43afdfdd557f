/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes tar files (POSIX pax), for container engines.  There is no option for owners and times:
 * all is root's, and as old as the format of zip allows.  So the same files in the same order are
 * the same bytes, and their SHA-256 says whether something has changed.
 */
#pragma once

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>
#include <sys/types.h>

struct tarfile {
	int fd; /* borrowed; -1: only the digest is wanted */
	uint64_t length;
	struct sha256 hash;
};

void tarfile_begin(int fd, struct tarfile *ret);
/* path: relative, without a slash at its end.  Of mode only the permissions count. */
int tarfile_add_directory(struct tarfile *tar, const char *path, mode_t mode, struct error *err);
int tarfile_add_link(struct tarfile *tar, const char *path, const char *target, struct error *err);
/* The next size bytes of content.  ERROR_SYSTEM: it has fewer. */
int tarfile_add_file(struct tarfile *tar, const char *path, mode_t mode, int content, uint64_t size,
		     struct error *err);
int tarfile_add_text(struct tarfile *tar, const char *path, mode_t mode, const char *text,
		     struct error *err);
int tarfile_end(struct tarfile *tar, char ret_digest[static SHA256_TEXT_SIZE], struct error *err);
