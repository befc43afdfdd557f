/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files of a commit, whose names, links and sizes its author chose.
 */
#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

enum { MAX_LISTED = 8 << 20 };
#define MIB UINT64_C(1048576)

/* ---- what a commit has ----------------------------------------------------------------------- */

enum kind { A_FILE, A_PROGRAM, A_LINK, A_SUBMODULE };

struct entry {
	enum kind kind;
	char *object, *path;
	uint64_t size;
};

struct listing {
	const char *commit; /* for messages */
	struct entry *entries;
	size_t count;
	uint64_t bytes;
};

static void listing_clear(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		free(listing->entries[i].object);
		free(listing->entries[i].path);
	}
	free(listing->entries);
}

static int fail(const struct child_result *result, const char *what, struct error *err)
{
	cleanup_free char *words = child_last_words(result);
	return error_set(err, ERROR_CHILD, "git %s: %s", what, words);
}

static int refuse_path(const struct listing *listing, const char *path, const char *why,
		       struct error *err)
{
	cleanup_free char *shown = visible(path);
	return error_set(err, ERROR_INVALID, "commit %s has %s, %s", listing->commit, shown, why);
}

static int too_much(const struct listing *listing, struct error *err)
{
	return error_set(err, ERROR_INVALID,
			 "commit %s has too much (at most %d files, %d MiB, and %d MiB in one "
			 "file): put the role into a repository of its own",
			 listing->commit, SNAPSHOT_MAX_FILES, SNAPSHOT_MAX_MIB,
			 SNAPSHOT_MAX_FILE_MIB);
}

/* Git's own checkout refuses the same. */
static bool is_name(const char *name)
{
	bool is_plain = *name && strlen(name) <= NAME_MAX && !streq(name, ".") &&
			!streq(name, "..") && strcasecmp(name, ".git") != 0;
	for (const char *s = name; is_plain && *s; s++)
		is_plain = (unsigned char)*s >= ' ' && *s != 0x7f;
	return is_plain;
}

static bool is_path(const char *path)
{
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy;
	bool is_plain = strlen(path) < PATH_MAX / 2;
	for (const char *name; is_plain && (name = strsep(&rest, "/"));)
		is_plain = is_name(name);
	return is_plain;
}

static bool read_kind(const char *mode, enum kind *ret)
{
	static const char *const modes[] = {
		[A_FILE] = "100644", [A_PROGRAM] = "100755", [A_LINK] = "120000", [A_SUBMODULE] = "160000"
	};
	for (unsigned i = 0; i < ARRAY_SIZE(modes); i++)
		if (starts_with(mode, modes[i])) {
			*ret = i;
			return true;
		}
	/* Git reads modes of old versions like this. */
	*ret = A_FILE;
	return starts_with(mode, "100");
}

/* "MODE TYPE OBJECT SIZE<tab>PATH", with spaces before the size; that of a submodule is "-". */
static int add_entry(struct listing *listing, const char *line, struct error *err)
{
	const char *tab = strchr(line, '\t');
	struct entry entry = { 0 };
	char type[16], object[72], size[24];
	int64_t bytes = 0;
	if (!tab || !read_kind(line, &entry.kind) ||
	    sscanf(line, "%*s %15s %71s %23s", type, object, size) != 3 ||
	    (entry.kind != A_SUBMODULE && !parse_int64(size, 0, INT64_MAX, &bytes)))
		return refuse_path(listing, tab ? tab + 1 : line,
				   "which is neither a file nor a link", err);
	if (!is_path(tab + 1))
		return refuse_path(listing, tab + 1, "which is no name for a file", err);
	entry.size = (uint64_t)bytes;
	if (listing->count == SNAPSHOT_MAX_FILES || entry.size > SNAPSHOT_MAX_FILE_MIB * MIB ||
	    entry.size > SNAPSHOT_MAX_MIB * MIB - listing->bytes)
		return too_much(listing, err);
	entry.object = xstrdup(object);
	entry.path = xstrdup(tab + 1);
	listing->bytes += entry.size;
	listing->entries = xreallocarray(listing->entries, listing->count + 1, sizeof(entry));
	listing->entries[listing->count++] = entry;
	return 0;
}

static int list_commit(const char *repository, struct listing *listing, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	struct error why = { 0 };
	const struct snapshot_call call = {
		.words = (const char *const[]){ "ls-tree", "-r", "-z", "-l", "--full-tree",
						listing->commit, NULL },
		.max_output = MAX_LISTED,
	};
	/* A tree can name itself many times: a small repository then has endless files. */
	if (snapshot_ask(repository, &call, &result, &why) < 0) {
		const bool is_long = why.code == ERROR_CHILD;
		if (!is_long)
			return error_move(err, &why);
		error_clear(&why);
		return too_much(listing, err);
	}
	if (result.exit_status != 0)
		return fail(&result, "ls-tree", err);
	const char *text = strbuf_text(&result.output), *end = text + result.output.length;
	for (; text < end; text += strlen(text) + 1)
		if (add_entry(listing, text, err) < 0)
			return -1;
	return 0;
}

/* ---- laying it out --------------------------------------------------------------------------- */

/* Git knows no other permissions, and the umask does not count: the digest of a build has them. */
static int make_directory(int above, const char *name, int *ret, struct error *err)
{
	const bool is_new = mkdirat(above, name, 0700) == 0;
	const bool may_exist = is_new || errno == EEXIST;
	const int fd = may_exist ? fs_openat(above, name,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
				 : -1;
	if (fd < 0 || (is_new && fchmod(fd, 0755) < 0)) {
		const int saved = errno;
		cleanup_free char *shown = visible(name);
		if (fd >= 0)
			(void)close(fd);
		return error_set_file(err, saved, "make the directory %s", shown);
	}
	*ret = fd;
	return 0;
}

/* The directory of a path; *ret_name is the last part of it, borrowed. */
static int open_parent(int top, const char *path, int *ret, const char **ret_name,
		       struct error *err)
{
	cleanup_free char *copy = xstrdup(path);
	cleanup_close int fd = fcntl(top, F_DUPFD_CLOEXEC, 3);
	char *rest = copy;
	if (fd < 0)
		return error_set_errno(err, errno, "open the directory of a role");
	for (const char *name; (name = strsep(&rest, "/")) && rest;) {
		int below;
		if (make_directory(fd, name, &below, err) < 0)
			return -1;
		(void)close(fd);
		fd = below;
	}
	*ret = TAKE_FD(fd);
	*ret_name = path_basename(path);
	return 0;
}

/* Does the link stay inside the tree?  Its target may begin with as many ".." as the link is deep,
 * and has no others, so it is safe through other such links, too. */
static bool is_inside(const char *path, const char *target)
{
	cleanup_free char *copy = xstrdup(target);
	char *rest = copy;
	size_t depth = 0;
	bool is_up = true, is_fine = *target && *target != '/';
	for (const char *s = path; *s; s++)
		depth += *s == '/';
	for (const char *name; is_fine && (name = strsep(&rest, "/"));) {
		const bool goes_up = streq(name, "..");
		is_fine = !goes_up || (is_up && depth-- > 0);
		is_up = goes_up;
	}
	return is_fine;
}

static int write_link(const struct listing *listing, const struct entry *entry, int above,
		      const char *name, const char *data, struct error *err)
{
	cleanup_free char *target = xstrndup(data, entry->size);
	if (entry->size >= PATH_MAX || strlen(target) != entry->size ||
	    !is_inside(entry->path, target))
		return refuse_path(listing, entry->path, "a link that leads out of the repository",
				   err);
	return symlinkat(target, above, name) < 0
		       ? error_set_file(err, errno, "write a link of the role")
		       : 0;
}

static int write_file(const struct entry *entry, int above, const char *name, const char *data,
		      struct error *err)
{
	cleanup_close int fd = fs_openat(
		above, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	cleanup_free char *shown = visible(entry->path);
	if (fd < 0 || fchmod(fd, entry->kind == A_PROGRAM ? 0755 : 0644) < 0)
		return error_set_file(err, errno, "write %s", shown);
	return fs_write_all(fd, data, entry->size, shown, err);
}

static int write_entry(const struct listing *listing, const struct entry *entry, int top,
		       const char *data, struct error *err)
{
	cleanup_close int above = -1;
	const char *name;
	if (open_parent(top, entry->path, &above, &name, err) < 0)
		return -1;
	return entry->kind == A_LINK ? write_link(listing, entry, above, name, data, err)
				     : write_file(entry, above, name, data, err);
}

/* The answer of git cat-file --batch for these entries: "OBJECT blob SIZE\n", content, "\n". */
static int write_batch(const struct listing *listing, const struct entry *const *batch,
		       size_t count, const struct strbuf *answer, int top, struct error *err)
{
	const char *at = strbuf_text(answer), *end = at + answer->length;
	for (size_t i = 0; i < count; i++) {
		const struct entry *entry = batch[i];
		cleanup_free char *head = xasprintf("%s blob %llu\n", entry->object,
						    (unsigned long long)entry->size);
		const size_t length = strlen(head);
		if ((size_t)(end - at) < length + entry->size + 1 || strncmp(at, head, length) != 0)
			return refuse_path(listing, entry->path, "whose content is missing", err);
		if (write_entry(listing, entry, top, at + length, err) < 0)
			return -1;
		at += length + entry->size + 1;
	}
	return 0;
}

/* Git's cat-file gives what is stored: no filter and no attribute changes it. */
static int take_batch(const char *repository, const struct listing *listing,
		      const struct entry *const *batch, size_t count, int top, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strbuf struct strbuf input = { 0 };
	size_t bytes = 0;
	for (size_t i = 0; i < count; i++) {
		strbuf_addf(&input, "%s\n", batch[i]->object);
		bytes += batch[i]->size + 128;
	}
	const struct snapshot_call call = {
		.words = (const char *const[]){ "cat-file", "--batch", NULL },
		.input = &input,
		.max_output = bytes,
	};
	if (snapshot_ask(repository, &call, &result, err) < 0)
		return -1;
	return result.exit_status == 0
		       ? write_batch(listing, batch, count, &result.output, top, err)
		       : fail(&result, "cat-file", err);
}

/* Take the entries of one kind, a few at once, so that they fit into memory. */
static int take_all(const char *repository, const struct listing *listing, bool is_link, int top,
		    struct error *err)
{
	enum { AT_ONCE = 500 };
	const struct entry *batch[AT_ONCE];
	size_t count = 0;
	uint64_t bytes = 0;
	for (size_t i = 0; i < listing->count; i++) {
		const struct entry *entry = &listing->entries[i];
		if (entry->kind == A_SUBMODULE || (entry->kind == A_LINK) != is_link)
			continue;
		if (count == AT_ONCE ||
		    (count && bytes + entry->size > SNAPSHOT_MAX_FILE_MIB * MIB)) {
			if (take_batch(repository, listing, batch, count, top, err) < 0)
				return -1;
			count = 0;
			bytes = 0;
		}
		batch[count++] = entry;
		bytes += entry->size;
	}
	return count ? take_batch(repository, listing, batch, count, top, err) : 0;
}

static int make_submodules(const struct listing *listing, int top, struct error *err)
{
	for (size_t i = 0; i < listing->count; i++) {
		cleanup_close int above = -1, fd = -1;
		const char *name;
		if (listing->entries[i].kind == A_SUBMODULE &&
		    (open_parent(top, listing->entries[i].path, &above, &name, err) < 0 ||
		     make_directory(above, name, &fd, err) < 0))
			return -1;
	}
	return 0;
}

int snapshot_lay_out(const char *repository, const char *commit, int directory, struct error *err)
{
	CLEANUP(listing_clear) struct listing listing = { .commit = commit };
	/* The links come last, so that nothing is written through one. */
	return list_commit(repository, &listing, err) < 0 ||
			       take_all(repository, &listing, false, directory, err) < 0 ||
			       make_submodules(&listing, directory, err) < 0 ||
			       take_all(repository, &listing, true, directory, err) < 0
		       ? -1
		       : 0;
}
