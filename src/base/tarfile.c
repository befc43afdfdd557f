/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tarfile.h"

#include "base/fsutil.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK = 512,
	PIECE = 1 << 16,
	MODE_MASK = 0777,
	OCTAL_BITS = 33,   /* a size of 11 digits */
	MTIME = 315619200, /* 1980-01-02: zip knows no earlier year */
	CHECKSUM_OF_BLANKS = 8 * ' ',
};

/* One header: pax(1), ustar Interchange Format. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type,
		linkname[100], magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8],
		prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header of tar is one block");

struct entry {
	const char *path, *target;
	char type;
	mode_t mode;
	uint64_t size;
};

void tarfile_begin(int fd, struct tarfile *ret)
{
	*ret = (struct tarfile){ .fd = fd };
	sha256_begin(&ret->hash);
}

static int put(struct tarfile *tar, const void *data, size_t length, struct error *err)
{
	if (tar->fd >= 0 && fs_write_all(tar->fd, data, length, "the tar file", err) < 0)
		return -1;
	sha256_add(&tar->hash, data, length);
	tar->length += length;
	return 0;
}

static int pad(struct tarfile *tar, struct error *err)
{
	static const char zeros[BLOCK];
	const size_t over = tar->length % BLOCK;
	return over ? put(tar, zeros, BLOCK - over, err) : 0;
}

/* Not ended by a NUL where it fills the field. */
static void set_text(char *field, size_t size, const char *text)
{
	const size_t length = strlen(text);
	memcpy(field, text, length < size ? length : size);
}

static void set_number(char *field, size_t size, uint64_t number)
{
	(void)snprintf(field, size, "%0*llo", (int)size - 1, (unsigned long long)number);
}

static int put_header(struct tarfile *tar, const struct entry *entry, struct error *err)
{
	struct header header = { .type = entry->type, .magic = "ustar", .version = { '0', '0' } };
	set_text(header.name, sizeof(header.name), entry->path);
	set_text(header.linkname, sizeof(header.linkname), or_empty(entry->target));
	set_number(header.mode, sizeof(header.mode), entry->mode & MODE_MASK);
	set_number(header.uid, sizeof(header.uid), 0);
	set_number(header.gid, sizeof(header.gid), 0);
	set_number(header.size, sizeof(header.size), entry->size >> OCTAL_BITS ? 0 : entry->size);
	set_number(header.mtime, sizeof(header.mtime), MTIME);
	unsigned sum = CHECKSUM_OF_BLANKS;
	const unsigned char *bytes = (const unsigned char *)&header;
	for (size_t i = 0; i < sizeof(header); i++)
		sum += bytes[i];
	(void)snprintf(header.checksum, sizeof(header.checksum), "%06o", sum);
	header.checksum[7] = ' ';
	return put(tar, &header, sizeof(header), err);
}

/* "<length> <key>=<value>\n": the length counts its own digits. */
static void add_record(struct strbuf *records, const char *key, const char *value)
{
	const size_t rest = strlen(key) + strlen(value) + 3;
	size_t digits = 1;
	for (size_t most = 10; rest + digits >= most; most *= 10)
		digits++;
	strbuf_addf(records, "%zu %s=%s\n", rest + digits, key, value);
}

/* Fields that do not fit into the header of an entry come before it. */
static int put_extension(struct tarfile *tar, const struct entry *entry, struct error *err)
{
	cleanup_strbuf struct strbuf records = { 0 };
	if (strlen(entry->path) > sizeof(((struct header *)NULL)->name))
		add_record(&records, "path", entry->path);
	if (entry->target && strlen(entry->target) > sizeof(((struct header *)NULL)->linkname))
		add_record(&records, "linkpath", entry->target);
	if (entry->size >> OCTAL_BITS) {
		cleanup_free char *size = xasprintf("%llu", (unsigned long long)entry->size);
		add_record(&records, "size", size);
	}
	if (!records.length)
		return 0;
	const struct entry extension = { .path = "pax", .type = 'x', .size = records.length };
	return put_header(tar, &extension, err) < 0 ||
			       put(tar, records.data, records.length, err) < 0
		       ? -1
		       : pad(tar, err);
}

static int put_entry(struct tarfile *tar, const struct entry *entry, struct error *err)
{
	return put_extension(tar, entry, err) < 0 ? -1 : put_header(tar, entry, err);
}

int tarfile_add_directory(struct tarfile *tar, const char *path, mode_t mode, struct error *err)
{
	cleanup_free char *name = xasprintf("%s/", path);
	const struct entry entry = { .path = name, .type = '5', .mode = mode };
	return put_entry(tar, &entry, err);
}

int tarfile_add_link(struct tarfile *tar, const char *path, const char *target, struct error *err)
{
	const struct entry entry = {
		.path = path, .target = target, .type = '2', .mode = MODE_MASK
	};
	return put_entry(tar, &entry, err);
}

static int put_content(struct tarfile *tar, const char *path, int content, uint64_t left,
		       struct error *err)
{
	char piece[PIECE];
	while (left > 0) {
		ssize_t got = read(content, piece, left < PIECE ? (size_t)left : PIECE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_file(err, errno, "read %s", path);
		if (got == 0)
			return error_set(err, ERROR_SYSTEM,
					 "%s became shorter while it was read: try again", path);
		if (put(tar, piece, (size_t)got, err) < 0)
			return -1;
		left -= (uint64_t)got;
	}
	return pad(tar, err);
}

int tarfile_add_file(struct tarfile *tar, const char *path, mode_t mode, int content, uint64_t size,
		     struct error *err)
{
	const struct entry entry = { .path = path, .type = '0', .mode = mode, .size = size };
	return put_entry(tar, &entry, err) < 0 ? -1 : put_content(tar, path, content, size, err);
}

int tarfile_add_text(struct tarfile *tar, const char *path, mode_t mode, const char *text,
		     struct error *err)
{
	const size_t size = strlen(text);
	const struct entry entry = { .path = path, .type = '0', .mode = mode, .size = size };
	return put_entry(tar, &entry, err) < 0 || put(tar, text, size, err) < 0 ? -1
										: pad(tar, err);
}

int tarfile_end(struct tarfile *tar, char ret_digest[static SHA256_TEXT_SIZE], struct error *err)
{
	static const char zeros[2 * BLOCK];
	if (put(tar, zeros, sizeof(zeros), err) < 0)
		return -1;
	sha256_end(&tar->hash, ret_digest);
	return 0;
}
