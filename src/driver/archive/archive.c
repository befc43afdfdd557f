/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/archive/archive.h"

#include "base/fsutil.h"
#include "base/tarfile.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTION "agentdeck.json"

enum { BLOCK = 512, PIECE = 1 << 16, BASE = 8 };

/* Where pax(1) has the fields of a header. */
enum {
	NAME_SIZE = 100,
	SIZE_AT = 124,
	SIZE_DIGITS = 11,
	SUM_AT = 148,
	SUM_SIZE = 8,
	TYPE_AT = 156
};

static char *name_of(size_t number)
{
	return number ? xasprintf("conversations/%zu.jsonl", number) : xstrdup(DESCRIPTION);
}

/* Pass size bytes from offset on to the hash, and to target unless that is -1. */
static int pass(int fd, const char *path, uint64_t offset, uint64_t size, int target,
		char ret_digest[static SHA256_TEXT_SIZE], struct error *err)
{
	struct sha256 hash;
	char piece[PIECE];
	sha256_begin(&hash);
	while (size > 0) {
		const ssize_t got = pread(fd, piece, size < PIECE ? (size_t)size : PIECE,
					  (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(err, errno, "read %s", path);
		if (got == 0)
			return error_set(err, ERROR_CORRUPT, "%s was cut off", path);
		sha256_add(&hash, piece, (size_t)got);
		if (target >= 0 && fs_write_all(target, piece, (size_t)got, "a copy", err) < 0)
			return -1;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	sha256_end(&hash, ret_digest);
	return 0;
}

static int size_of(int fd, const char *path, uint64_t *ret, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	if ((uint64_t)st.st_size > ARCHIVE_MAX_BYTES)
		return error_set(err, ERROR_INVALID, "%s has over 8 GiB: copy it by hand", path);
	*ret = (uint64_t)st.st_size;
	return 0;
}

/* Where the last line that ends within the first size bytes ends. */
static int end_of_lines(int fd, const char *path, uint64_t size, uint64_t *ret, struct error *err)
{
	char piece[PIECE];
	while (size > 0) {
		const size_t wanted = size < PIECE ? (size_t)size : PIECE;
		const ssize_t got = pread(fd, piece, wanted, (off_t)(size - wanted));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(err, errno, "read %s", path);
		const char *end = memrchr(piece, '\n', (size_t)got);
		size -= wanted;
		if (end) {
			*ret = size + (uint64_t)(end - piece) + 1;
			return 0;
		}
	}
	*ret = 0;
	return 0;
}

static int measure(int fd, const char *path, uint64_t size, struct archive_source *ret,
		   struct error *err)
{
	struct archive_source source = { .fd = fd, .size = size };
	if (pass(fd, path, 0, size, -1, source.digest, err) < 0)
		return -1;
	*ret = source;
	return 0;
}

int archive_measure(int fd, const char *path, struct archive_source *ret, struct error *err)
{
	uint64_t size;
	return size_of(fd, path, &size, err) < 0 ? -1 : measure(fd, path, size, ret, err);
}

int archive_measure_lines(int fd, const char *path, struct archive_source *ret, struct error *err)
{
	uint64_t size;
	return size_of(fd, path, &size, err) < 0 || end_of_lines(fd, path, size, &size, err) < 0
		       ? -1
		       : measure(fd, path, size, ret, err);
}

int archive_measure_start(int fd, const char *path, uint64_t size, struct archive_source *ret,
			  struct error *err)
{
	uint64_t whole;
	if (size_of(fd, path, &whole, err) < 0)
		return -1;
	return whole < size ? ARCHIVE_SHORT : measure(fd, path, size, ret, err);
}

/* ---- reading ---------------------------------------------------------------------------------- */

void archive_close(struct archive *archive)
{
	if (archive->path)
		(void)close(archive->fd);
	free(archive->path);
	free(archive->description);
	free(archive->members);
	*archive = (struct archive){ .fd = -1 };
}

static int fail(const char *path, const char *why, struct error *err)
{
	cleanup_free char *shown = visible(path);
	return error_set(err, ERROR_CORRUPT, "%s is not a whole file of agentdeck's: %s", shown,
			 why);
}

/* The first block is not of an archive: most likely the user has named another file. */
static int no_archive(const struct archive *archive, const char *why, struct error *err)
{
	cleanup_free char *shown = visible(archive->path);
	return error_set(
		err, ERROR_CORRUPT,
		"%s is not a file of agentdeck's, or its start is damaged (%s): name one that "
		"'agentdeck backup' or 'agentdeck session export' wrote",
		shown, why);
}

static bool is_zero(const unsigned char *block)
{
	for (size_t i = 0; i < BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

static bool parse_octal(const unsigned char *field, size_t digits, uint64_t *ret)
{
	uint64_t number = 0;
	for (size_t i = 0; i < digits; i++) {
		if (field[i] < '0' || field[i] >= '0' + BASE)
			return false;
		number = number * BASE + (uint64_t)(field[i] - '0');
	}
	*ret = number;
	return true;
}

static bool sum_is_right(const unsigned char *block)
{
	uint64_t said, sum = 0;
	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : block[i];
	return parse_octal(block + SUM_AT, SUM_SIZE - 2, &said) && said == sum;
}

/* The header of the member of this number.  NULL, or why it is refused. */
static const char *read_header(const unsigned char *block, size_t number, uint64_t *ret_size)
{
	cleanup_free char *name = name_of(number);
	char field[NAME_SIZE] = { 0 };
	memcpy(field, name, strlen(name));
	if (!sum_is_right(block))
		return "a checksum is wrong";
	if (memcmp(block, field, NAME_SIZE) != 0)
		return "it has a file that does not belong there";
	if (block[TYPE_AT] != '0')
		return "it has something that is not a regular file";
	if (!parse_octal(block + SIZE_AT, SIZE_DIGITS, ret_size) || block[SIZE_AT + SIZE_DIGITS])
		return "a size is not a number";
	if (number == 0 && *ret_size > ARCHIVE_MAX_DESCRIPTION)
		return "its description is too large";
	return NULL;
}

static int read_block(const struct archive *archive, uint64_t at, unsigned char *ret,
		      struct error *err)
{
	ssize_t got;
	do
		got = pread(archive->fd, ret, BLOCK, (off_t)at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_set_errno(err, errno, "read %s", archive->path);
	return got < BLOCK ? fail(archive->path, "it was cut off", err) : 0;
}

/* The end of a tar file: two empty blocks, and here nothing behind them. */
static int read_end(const struct archive *archive, uint64_t at, uint64_t length, struct error *err)
{
	unsigned char block[BLOCK];
	if (read_block(archive, at, block, err) < 0)
		return -1;
	return is_zero(block) && at + BLOCK == length
		       ? 0
		       : fail(archive->path, "its end is wrong", err);
}

static int read_members(struct archive *archive, uint64_t length, struct error *err)
{
	unsigned char block[BLOCK];
	uint64_t at = 0;
	for (size_t number = 0;; number++) {
		struct archive_member member = { 0 };
		if (read_block(archive, at, block, err) < 0)
			return -1;
		at += BLOCK;
		if (is_zero(block))
			return number ? read_end(archive, at, length, err)
				      : fail(archive->path, "it is empty", err);
		if (number > ARCHIVE_MAX_CONVERSATIONS)
			return fail(archive->path, "it has too many conversations", err);
		const char *why = read_header(block, number, &member.size);
		if (why)
			return number ? fail(archive->path, why, err)
				      : no_archive(archive, why, err);
		member.offset = at;
		at += (member.size + BLOCK - 1) / BLOCK * BLOCK;
		if (at > length)
			return fail(archive->path, "it was cut off", err);
		archive->members = xreallocarray(archive->members, number + 1,
						 sizeof(*archive->members));
		archive->members[number] = member;
		archive->count = number;
	}
}

static int read_description(struct archive *archive, struct error *err)
{
	const size_t size = (size_t)archive->members[0].size;
	archive->description = xcalloc(size + 1, 1);
	const ssize_t got = pread(archive->fd, archive->description, size,
				  (off_t)archive->members[0].offset);
	if (got < 0)
		return error_set_errno(err, errno, "read %s", archive->path);
	if ((size_t)got != size || strlen(archive->description) != size)
		return fail(archive->path, "its description is not a text", err);
	return 0;
}

/* For an open file, which becomes the archive's in every case. */
static int archive_open_fd(int fd, const char *path, struct archive *ret, struct error *err)
{
	cleanup_archive struct archive archive = { .fd = fd, .path = xstrdup(path) };
	struct stat st;
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_INVALID, "%s is not a regular file", path);
	if (read_members(&archive, (uint64_t)st.st_size, err) < 0 ||
	    read_description(&archive, err) < 0)
		return -1;
	*ret = archive;
	archive = (struct archive){ .fd = -1 };
	return 0;
}

/* Copy standard input to a file, since reading an archive needs its size. */
static int spool_input(int *ret, struct error *err)
{
	cleanup_close int fd = -1;
	char piece[PIECE];
	ssize_t got;
	if (fs_open_scratch("/var/tmp", &fd, err) < 0)
		return -1;
	while ((got = read(STDIN_FILENO, piece, sizeof(piece))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(err, errno, "read standard input");
		if (fs_write_all(fd, piece, (size_t)got, "a copy of standard input", err) < 0)
			return -1;
	}
	*ret = TAKE_FD(fd);
	return 0;
}

int archive_open(const char *path, struct archive *ret, struct error *err)
{
	if (streq(path, ARCHIVE_STANDARD)) {
		int copy;
		return spool_input(&copy, err) < 0
			       ? -1
			       : archive_open_fd(copy, "standard input", ret, err);
	}
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? error_set(err, ERROR_NOT_FOUND, "%s does not exist", path)
				       : error_set_file(err, errno, "open %s", path);
	return archive_open_fd(fd, path, ret, err);
}

int archive_copy(const struct archive *archive, size_t number, const char *digest, int target,
		 struct error *err)
{
	char found[SHA256_TEXT_SIZE];
	const struct archive_member *member = &archive->members[number];
	if (pass(archive->fd, archive->path, member->offset, member->size, target, found, err) < 0)
		return -1;
	return streq(found, digest) ? 0
				    : fail(archive->path, "a conversation in it was changed", err);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static int put_description(struct tarfile *tar, const char *text, struct error *err)
{
	cleanup_close int fd = memfd_create("agentdeck-description", MFD_CLOEXEC);
	const size_t length = strlen(text);
	if (length > ARCHIVE_MAX_DESCRIPTION)
		return error_set(err, ERROR_INVALID, "there are too many sessions for one file");
	if (fd < 0 || fs_write_all(fd, text, length, "the description", NULL) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0)
		return error_set_errno(err, errno, "write the description");
	return tarfile_add_file(tar, DESCRIPTION, 0600, fd, length, err);
}

static int put_all(int fd, const char *description, const struct archive_source *sources,
		   size_t count, struct error *err)
{
	char digest[SHA256_TEXT_SIZE];
	struct tarfile tar;
	tarfile_begin(fd, &tar);
	if (put_description(&tar, description, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *name = name_of(i + 1);
		if (lseek(sources[i].fd, 0, SEEK_SET) < 0)
			return error_set_errno(err, errno, "read a conversation");
		if (tarfile_add_file(&tar, name, 0600, sources[i].fd, sources[i].size, err) < 0)
			return -1;
	}
	return tarfile_end(&tar, digest, err);
}

/* Check that the file on disk has what was to be written. */
static int check(int fd, const char *path, const struct archive_source *sources, size_t count,
		 struct error *err)
{
	cleanup_archive struct archive archive = { .fd = -1 };
	const int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (again < 0)
		return error_set_errno(err, errno, "read %s", path);
	if (archive_open_fd(again, path, &archive, err) < 0)
		return -1;
	if (archive.count != count)
		return fail(path, "it has another number of conversations", err);
	for (size_t i = 0; i < count; i++)
		if (archive_copy(&archive, i + 1, sources[i].digest, -1, err) < 0)
			return error_prefix(err,
					    "a conversation changed while it was copied, so try "
					    "again");
	return 0;
}

/* A free name beside path. */
static char *temporary_of(const char *name)
{
	cleanup_free char *id = naming_new_uuid();
	return xasprintf(".%.200s.%s.tmp", name, id);
}

static int write_and_name(int folder, const char *temporary, const char *path,
			  const char *description, const struct archive_source *sources,
			  size_t count, struct error *err)
{
	bool has_name;
	cleanup_close int fd = fs_open_new(folder, temporary, &has_name);
	if (fd < 0)
		return error_set_file(err, errno, "make %s", path);
	if (put_all(fd, description, sources, count, err) < 0)
		return -1;
	if (fs_flush(fd) < 0)
		return error_set_file(err, errno, "sync %s", path);
	if (check(fd, path, sources, count, err) < 0)
		return -1;
	if (fs_name_new(folder, fd, has_name ? temporary : NULL, path_basename(path)) < 0)
		return errno == EEXIST ? error_set(err, ERROR_EXISTS,
						   "%s exists already: choose another name", path)
				       : error_set_file(err, errno, "make %s", path);
	return fs_flush(folder) < 0 ? error_set_file(err, errno, "sync the directory of %s", path)
				    : 0;
}

static int write_output(const char *description, const struct archive_source *sources, size_t count,
			struct error *err)
{
	static const char path[] = "the copy for standard output";
	char digest[SHA256_TEXT_SIZE];
	uint64_t size;
	cleanup_close int fd = -1;
	if (fs_open_scratch("/var/tmp", &fd, err) < 0 ||
	    put_all(fd, description, sources, count, err) < 0 ||
	    check(fd, path, sources, count, err) < 0 || size_of(fd, path, &size, err) < 0)
		return -1;
	return pass(fd, path, 0, size, STDOUT_FILENO, digest, err);
}

int archive_write(const char *path, const char *description, const struct archive_source *sources,
		  size_t count, struct error *err)
{
	if (streq(path, ARCHIVE_STANDARD))
		return write_output(description, sources, count, err);
	const char *slash = strrchr(path, '/');
	cleanup_free char *above = !slash          ? xstrdup(".")
				   : slash == path ? xstrdup("/")
						   : xstrndup(path, (size_t)(slash - path));
	cleanup_free char *temporary = temporary_of(path_basename(path));
	cleanup_close int folder = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_set_file(err, errno, "open %s", above);
	if (faccessat(folder, path_basename(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_EXISTS, "%s exists already: choose another name", path);
	const int r = write_and_name(folder, temporary, path, description, sources, count, err);
	(void)unlinkat(folder, temporary, 0);
	return r;
}
