/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/context/context.h"

#include "base/fsutil.h"
#include "base/tarfile.h"
#include "driver/context/ignore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct packing {
	const char *directory;  /* for messages */
	const char *dockerfile; /* is never left out */
	const char *text;       /* of the Dockerfile, in place of what is there now; or NULL */
	const struct strvec *pins, *args; /* as in struct context */
	char *unpinned;                   /* then: the text that the Dockerfile has */
	mode_t mode;
	struct tarfile tar;
	struct ignore ignore;
	uint64_t left; /* bytes */
	unsigned files;
};

static void packing_clear(struct packing *packing)
{
	ignore_clear(&packing->ignore);
	free(packing->unpinned);
}

/* The path had no link when it was written down: an agent may have put one there since. */
static int open_directory(const char *directory, int *ret, struct error *err)
{
	const char *below = directory + strspn(directory, "/");
	cleanup_close int root = fs_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	const int fd = root < 0 ? -1
				: fs_open_beneath(root, *below ? below : ".",
						  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return CONTEXT_NONE;
	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERROR_INVALID,
				 "a part of the build directory %s has become a link: bring the "
				 "directory back",
				 directory);
	if (fd < 0)
		return error_set_file(err, errno, "open the build directory %s", directory);
	*ret = fd;
	return 0;
}

/* FS_ABSENT. */
static int read_text(int dirfd, const char *directory, const char *name, struct strbuf *ret,
		     struct error *err)
{
	int r = fs_read(dirfd, name, CONTEXT_MAX_TEXT, ret, err);
	return r < 0 ? error_prefix(err, "build directory %s", directory) : r;
}

/* ---- packing --------------------------------------------------------------------------------- */

static int too_big(const struct packing *packing, struct error *err)
{
	return error_set(err, ERROR_INVALID,
			 "the build directory %s has too much in it (at most %llu MiB and %d "
			 "files): name what the build does not need in %s/" CONTEXT_IGNORE,
			 packing->directory, (unsigned long long)(CONTEXT_MAX_BYTES >> 20),
			 CONTEXT_MAX_FILES, packing->directory);
}

/* Read the Dockerfile once, so that the text with the digest is the one that is built. */
static int pack_dockerfile(struct packing *packing, int fd, mode_t mode, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	char part[4096];
	ssize_t got;
	while ((got = read(fd, part, sizeof(part))) > 0 && text.length <= CONTEXT_MAX_TEXT)
		strbuf_add(&text, part, (size_t)got);
	if (got < 0)
		return error_set_file(err, errno, "read %s/%s", packing->directory,
				      packing->dockerfile);
	if (text.length > CONTEXT_MAX_TEXT || strlen(strbuf_text(&text)) != text.length)
		return error_set(err, ERROR_INVALID, "%s/%s is no text, or is too long",
				 packing->directory, packing->dockerfile);
	packing->mode = mode;
	packing->unpinned = strbuf_take(&text);
	return tarfile_add_text(&packing->tar, packing->dockerfile, mode, packing->unpinned, err);
}

static int pack_file(struct packing *packing, int dirfd, const char *name, const char *path,
		     struct error *err)
{
	struct stat st;
	/* What is no file any more must not hold us up. */
	cleanup_close int fd = fs_openat(
		dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_file(err, errno, "read %s/%s", packing->directory, path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_SYSTEM, "%s/%s changed while it was read: try again",
				 packing->directory, path);
	if ((uint64_t)st.st_size > packing->left)
		return too_big(packing, err);
	packing->left -= (uint64_t)st.st_size;
	if (packing->text && streq(path, packing->dockerfile))
		return tarfile_add_text(&packing->tar, path, st.st_mode, packing->text, err);
	if (packing->pins && streq(path, packing->dockerfile))
		return pack_dockerfile(packing, fd, st.st_mode, err);
	return tarfile_add_file(&packing->tar, path, st.st_mode, fd, (uint64_t)st.st_size, err);
}

static int pack_link(struct packing *packing, int dirfd, const char *name, const char *path,
		     struct error *err)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(dirfd, name, target, sizeof(target) - 1);
	if (length < 0)
		return error_set_file(err, errno, "read %s/%s", packing->directory, path);
	target[length] = '\0';
	return tarfile_add_link(&packing->tar, path, target, err);
}

static int pack_names(struct packing *packing, int dirfd, const char *prefix, struct error *err);

static int pack_directory(struct packing *packing, int dirfd, const char *name, const char *path,
			  struct error *err)
{
	struct stat st;
	cleanup_close int fd = fs_openat(dirfd, name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_file(err, errno, "read %s/%s", packing->directory, path);
	const bool is_ignored = ignore_has(&packing->ignore, path);
	if (!is_ignored && tarfile_add_directory(&packing->tar, path, st.st_mode, err) < 0)
		return -1;
	return pack_names(packing, fd, path, err);
}

/* The Dockerfile with the directories above it. */
static bool is_needed(const struct packing *packing, const char *path)
{
	return path_is_below(packing->dockerfile, path) || streq(path, CONTEXT_IGNORE);
}

static int pack_name(struct packing *packing, int dirfd, const char *name, const char *path,
		     struct error *err)
{
	struct stat st;
	const bool is_left_out = !is_needed(packing, path) && ignore_has(&packing->ignore, path);
	if (is_left_out && !packing->ignore.takes_back)
		return 0;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : error_set_file(err, errno, "look at %s/%s",
							packing->directory, path);
	if (strlen(path) >= PATH_MAX || ++packing->files > CONTEXT_MAX_FILES)
		return too_big(packing, err);
	if (S_ISDIR(st.st_mode))
		return pack_directory(packing, dirfd, name, path, err);
	if (is_left_out)
		return 0;
	if (S_ISREG(st.st_mode))
		return pack_file(packing, dirfd, name, path, err);
	return S_ISLNK(st.st_mode) ? pack_link(packing, dirfd, name, path, err) : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int pack_names(struct packing *packing, int dirfd, const char *prefix, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(dirfd, &names, err) < 0)
		return error_prefix(err, "build directory %s/%s", packing->directory, prefix);
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *path = xasprintf("%s%s%s", prefix, *prefix ? "/" : "",
						    names.items[i]);
		if (pack_name(packing, dirfd, names.items[i], path, err) < 0)
			return -1;
	}
	return 0;
}

static const char *dockerfile_of(const struct context *context)
{
	return context->dockerfile ? context->dockerfile : CONTEXT_DOCKERFILE;
}

/* The digest is that of what was packed before. */
static int end_pinned(struct packing *packing, char ret_digest[static SHA256_TEXT_SIZE],
		      struct error *err)
{
	struct tarfile whole = packing->tar;
	char all[SHA256_TEXT_SIZE];
	if (!packing->unpinned)
		return error_set(err, ERROR_INVALID, "%s/%s is no file", packing->directory,
				 packing->dockerfile);
	whole.fd = -1;
	cleanup_free char *text = dockerfile_pin(packing->unpinned, packing->args, packing->pins);
	return tarfile_end(&whole, ret_digest, err) < 0 ||
			       tarfile_add_text(&packing->tar, packing->dockerfile, packing->mode,
						text, err) < 0
		       ? -1
		       : tarfile_end(&packing->tar, all, err);
}

int context_pack(const struct context *context, int tar, char ret_digest[static SHA256_TEXT_SIZE],
		 struct error *err)
{
	const char *directory = context->directory;
	cleanup_close int dirfd = -1;
	cleanup_strbuf struct strbuf ignored = { 0 };
	CLEANUP(packing_clear)
	struct packing packing = { .directory = directory,
				   .dockerfile = dockerfile_of(context),
				   .text = context->text,
				   .pins = context->pins,
				   .args = context->args,
				   .left = context->max_bytes ? context->max_bytes
							      : CONTEXT_MAX_BYTES };
	int r = open_directory(directory, &dirfd, err);
	if (r != 0)
		return r;
	if (!context->is_whole &&
	    faccessat(dirfd, packing.dockerfile, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return CONTEXT_NONE;
	if (!context->is_whole && read_text(dirfd, directory, CONTEXT_IGNORE, &ignored, err) < 0)
		return -1;
	ignore_parse(strbuf_text(&ignored), &packing.ignore);
	tarfile_begin(tar, &packing.tar);
	if (pack_names(&packing, dirfd, "", err) < 0)
		return -1;
	return context->pins ? end_pinned(&packing, ret_digest, err)
			     : tarfile_end(&packing.tar, ret_digest, err);
}

int context_text(const struct context *context, struct strbuf *ret, struct error *err)
{
	cleanup_close int dirfd = -1;
	int r = open_directory(context->directory, &dirfd, err);
	if (r == 0)
		r = read_text(dirfd, context->directory, dockerfile_of(context), ret, err);
	return r > 0 ? CONTEXT_NONE : r;
}

int context_bases(const struct context *context, struct dockerfile_bases *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const int r = context_text(context, &text, err);
	if (r == 0)
		dockerfile_read_bases(strbuf_text(&text), context->args, ret);
	if (r != 0 || !ret->unknown)
		return r;
	cleanup_free char *shown = visible(ret->unknown);
	return error_set(err, ERROR_INVALID,
			 "%s/%s begins from %s, or copies from it, and it is not known which image "
			 "that is: write its name, or give its variable a default with ARG",
			 context->directory, dockerfile_of(context), shown);
}
