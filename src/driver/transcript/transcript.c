/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/transcript/transcript.h"

#include "base/fsutil.h"
#include "base/jsoncut.h"
#include "base/jsonio.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A line over WHOLE_LINE is cut while it is read: CUT_STRING of each string remain. */
enum { MAX_LINE = 16 << 20, WHOLE_LINE = 1 << 20, CUT_STRING = 64 << 10 };
enum { CHUNK = 64 << 10, SLUG_UNITS = 200 };

static const char suffix[] = ".jsonl";

/* Return the code point at *next and advance *next.  Each byte that is not UTF-8 counts as
 * U+FFFD. */
static uint32_t take_code_point(const char **next)
{
	const unsigned char *s = (const unsigned char *)*next;
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (strnlen(*next, length) < length || !is_utf8(*next, length)) {
		*next += 1;
		return 0xfffd;
	}
	uint32_t code = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		code = code << 6 | (s[i] & 0x3f);
	*next += length;
	return code;
}

static bool stays(uint32_t unit)
{
	return (unit >= 'A' && unit <= 'Z') || (unit >= 'a' && unit <= 'z') ||
	       (unit >= '0' && unit <= '9') || unit == '-';
}

static void add_base36(struct strbuf *buf, uint32_t number)
{
	char digits[8];
	size_t first = sizeof(digits);
	do {
		digits[--first] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
		number /= 36;
	} while (number);
	strbuf_add(buf, digits + first, sizeof(digits) - first);
}

char *transcript_slug(const char *real_path)
{
	struct strbuf slug = { 0 };
	size_t units = 0;
	uint32_t hash = 0;
	for (const char *next = real_path; *next;) {
		uint32_t code = take_code_point(&next);
		uint32_t pair[2] = { code, 0 };
		if (code > 0xffff) {
			pair[0] = 0xd800 + ((code - 0x10000) >> 10);
			pair[1] = 0xdc00 + ((code - 0x10000) & 0x3ff);
		}
		for (size_t i = 0; i < (code > 0xffff ? 2 : 1); i++) {
			char letter = (char)(stays(pair[i]) ? pair[i] : '-');
			hash = hash * 31 + pair[i];
			if (units++ < SLUG_UNITS)
				strbuf_add(&slug, &letter, 1);
		}
	}
	if (units > SLUG_UNITS) {
		strbuf_adds(&slug, "-");
		add_base36(&slug, hash >> 31 ? -hash : hash);
	}
	return strbuf_take(&slug);
}

void transcript_free(struct transcript *transcript)
{
	free(transcript->path);
	free(transcript->session_id);
	free(transcript->cwd);
	*transcript = (struct transcript){ 0 };
}

/* The lines of a file in order, in bounded memory whatever the length of a line. */
struct lines {
	int fd;
	const char *path;
	struct strbuf line;
	struct json_cut cut; /* of a long line */
	/* Nothing is read from here on, no line begins here or later; 0: up to the end of the file */
	off_t end, last;
	off_t offset; /* of what was read */
	size_t at, filled;
	char chunk[CHUNK];
};

enum { LINES_END = 1 };

/* Skip a hole in the file: lost blocks, or a sparse file of a terabyte.  False: there is data at
 * lines->offset. */
static bool skip_hole(struct lines *lines, off_t next)
{
	off_t data = lseek(lines->fd, lines->offset, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		data = lseek(lines->fd, 0, SEEK_END);
	if (data > lines->offset) {
		lines->offset = data;
		return true;
	}
	(void)lseek(lines->fd, next, SEEK_SET);
	return false;
}

/* Read on.  LINES_END: there is no more. */
static int lines_fill(struct lines *lines, struct error *err)
{
	ssize_t n;
	if (lines->end && lines->offset >= lines->end)
		return LINES_END;
	do
		n = read(lines->fd, lines->chunk, sizeof(lines->chunk));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set_errno(err, errno, "read %s", lines->path);
	lines->at = 0;
	lines->filled = (size_t)n;
	if (n > 0 && !lines->chunk[0] && skip_hole(lines, lines->offset + n)) {
		/* A hole ends a line. */
		lines->chunk[0] = '\n';
		lines->filled = 1;
		return 0;
	}
	lines->offset += n;
	return n == 0 ? LINES_END : 0;
}

/* Add a part of a line.  A line that is too large even when cut does not count. */
static void lines_add(struct lines *lines, const char *text, size_t length, bool *is_cut)
{
	if (!*is_cut && lines->line.length + length > WHOLE_LINE) {
		*is_cut = true;
		json_cut_add(&lines->cut, strbuf_text(&lines->line), lines->line.length);
		lines->line.length = 0;
	}
	if (!*is_cut)
		strbuf_add(&lines->line, text, length);
	else if (lines->cut.text.length <= MAX_LINE)
		json_cut_add(&lines->cut, text, length);
}

static bool lines_is_over(const struct lines *lines)
{
	return lines->last && lines->offset - (off_t)(lines->filled - lines->at) >= lines->last;
}

/* Put the next line into lines->line.  A long line loses most of its long strings. */
static int lines_next(struct lines *lines, struct error *err)
{
	const char *newline = NULL;
	bool is_cut = false;
	lines->line.length = 0;
	if (lines_is_over(lines))
		return LINES_END;
	for (bool is_begun = false; !newline; is_begun = true) {
		const int r = lines->at == lines->filled ? lines_fill(lines, err) : 0;
		if (r < 0 || (r == LINES_END && !is_begun))
			return r;
		if (r == LINES_END)
			break;
		const char *start = lines->chunk + lines->at;
		const size_t left = lines->filled - lines->at;
		newline = memchr(start, '\n', left);
		const size_t length = newline ? (size_t)(newline - start) : left;
		lines->at += length + (newline ? 1 : 0);
		lines_add(lines, start, length, &is_cut);
	}
	if (is_cut) {
		strbuf_free(&lines->line);
		if (lines->cut.text.length <= MAX_LINE) {
			lines->line = lines->cut.text;
			lines->cut.text = (struct strbuf){ 0 };
		}
		json_cut_clear(&lines->cut);
	}
	return 0;
}

static void lines_free(struct lines *lines)
{
	strbuf_free(&lines->line);
	json_cut_clear(&lines->cut);
}

static bool contains(const struct strbuf *line, const char *text)
{
	return line->length > 0 && memmem(line->data, line->length, text, strlen(text));
}

/* Makes the line strict JSON: without a byte order mark, without values that are nested too deeply,
 * and with "?" for bytes that are not text.  An agent tolerates all of these. */
static void mend(const struct strbuf *line, struct strbuf *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	cleanup_json_cut struct json_cut cut = { .string_max = MAX_LINE };
	const size_t skip = starts_with(strbuf_text(line), mark) ? strlen(mark) : 0;
	json_cut_add(&cut, strbuf_text(line) + skip, line->length - skip);
	*ret = cut.text;
	cut.text = (struct strbuf){ 0 };
	const size_t length = is_utf8(strbuf_text(ret), ret->length) ? 0 : ret->length;
	for (size_t i = 0, n; i < length; i += n) {
		n = 1;
		while (n <= 4 && i + n <= length && !is_utf8(ret->data + i, n))
			n++;
		if (n > 4 || i + n > length) {
			ret->data[i] = '?';
			n = 1;
		}
	}
}

static struct json_object *parse_object(const struct strbuf *line, const char *path)
{
	struct json_object *record = NULL;
	if (line->length == 0 || json_parse(line->data, line->length, path, &record, NULL) != 0)
		return NULL;
	if (json_object_is_type(record, json_type_object))
		return record;
	json_object_put(record);
	return NULL;
}

/* NULL: the line is not a JSON object, so it is torn or not a record. */
static struct json_object *parse_record(const struct strbuf *line, const char *path)
{
	cleanup_strbuf struct strbuf mended = { 0 };
	struct json_object *record = parse_object(line, path);
	if (record || line->length == 0)
		return record;
	mend(line, &mended);
	return parse_object(&mended, path);
}

static bool is_turn(const struct json_object *record)
{
	const char *type = json_get_string(record, "type", "");
	return (streq(type, "user") || streq(type, "assistant")) &&
	       json_get_object(record, "message");
}

/* Open a regular file of ours.  TRANSCRIPT_NONE: it is absent, a link, or another user's. */
static int open_own(const char *path, struct stat *ret_st, int *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO))
		return TRANSCRIPT_NONE;
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return TRANSCRIPT_NONE;
	*ret_st = st;
	*ret = TAKE_FD(fd);
	return 0;
}

/* Fill cwd and has_turns, reading no further than the first turn. */
static int scan(struct lines *lines, struct transcript *transcript, struct error *err)
{
	int r;
	while ((r = lines_next(lines, err)) == 0) {
		/* Parsing is what costs: parse only lines whose bytes say that it may help. */
		if (!contains(&lines->line, "\"user\"") &&
		    !contains(&lines->line, "\"assistant\"") &&
		    (transcript->cwd || !contains(&lines->line, "\"cwd\"")))
			continue;
		cleanup_json struct json_object *record = parse_record(&lines->line, lines->path);
		if (!record)
			continue;
		if (!transcript->cwd)
			transcript->cwd = xstrdup_or_null(json_get_string(record, "cwd", NULL));
		if (is_turn(record)) {
			transcript->has_turns = true;
			return 0;
		}
	}
	return r < 0 ? -1 : 0;
}

int transcript_look(const char *path, struct transcript *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = -1;
	int r = open_own(path, &st, &fd, err);
	if (r != 0)
		return r;
	CLEANUP(lines_free) struct lines lines;
	lines = (struct lines){ .fd = fd, .path = path, .cut.string_max = CUT_STRING };
	cleanup_transcript struct transcript found = { 0 };
	if (scan(&lines, &found, err) < 0)
		return -1;
	const char *name = path_basename(path);
	found.path = xstrdup(path);
	found.session_id = xstrndup(name, strlen(name) - strlen(suffix));
	found.modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	*ret = found;
	found = (struct transcript){ 0 };
	return 0;
}

/* Names in a directory; none when it does not exist. */
static int list(const char *path, struct strvec *ret, struct error *err)
{
	/* Follow links here: some people move their agent's home to another disk. */
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return error_set_errno(err, errno, "open directory %s", path);
	if (fs_list(fd, ret, err) < 0)
		return error_prefix(err, "%s", path);
	return 0;
}

/* Find the newest transcript with this file name in any project directory whose own cwd is cwd. */
static int find_elsewhere(const char *projects, const char *cwd, const char *name,
			  struct transcript *ret, struct error *err)
{
	cleanup_transcript struct transcript best = { 0 };
	cleanup_strvec struct strvec folders = { 0 };
	if (list(projects, &folders, err) < 0)
		return -1;
	for (size_t i = 0; i < folders.count; i++) {
		cleanup_transcript struct transcript candidate = { 0 };
		cleanup_free char *path = xasprintf("%s/%s/%s", projects, folders.items[i], name);
		/* If we cannot read it, we do not know that it is ours. */
		if (transcript_look(path, &candidate, NULL) != 0 || !candidate.cwd ||
		    !streq(candidate.cwd, cwd))
			continue;
		if (best.path && best.modified_ns >= candidate.modified_ns)
			continue;
		transcript_free(&best);
		best = candidate;
		candidate = (struct transcript){ 0 };
	}
	if (!best.path)
		return TRANSCRIPT_NONE;
	*ret = best;
	best = (struct transcript){ 0 };
	return 0;
}

int transcript_find(const char *config_home, const char *cwd, const char *session_id,
		    const char *hint, struct transcript *ret, struct error *err)
{
	if (!naming_is_session_id(session_id))
		return TRANSCRIPT_NONE;
	cleanup_free char *name = xasprintf("%s%s", session_id, suffix);
	if (hint && *hint == '/' && streq(path_basename(hint), name)) {
		int r = transcript_look(hint, ret, err);
		if (r != TRANSCRIPT_NONE)
			return r;
	}
	cleanup_free char *projects = path_join(config_home, "projects");
	cleanup_free char *slug = transcript_slug(cwd);
	cleanup_free char *path = xasprintf("%s/%s/%s", projects, slug, name);
	int r = transcript_look(path, ret, err);
	if (r != TRANSCRIPT_NONE)
		return r;
	return find_elsewhere(projects, cwd, name, ret, err);
}

struct visiting {
	struct transcript_order order;
	bool (*visit)(struct json_object *record, void *data);
	void *data;
};

static int visit_lines(const char *path, off_t most, const struct visiting *visiting,
		       struct error *err)
{
	struct stat st;
	cleanup_close int fd = -1;
	int r = open_own(path, &st, &fd, err);
	if (r != 0)
		return r;
	CLEANUP(lines_free) struct lines lines;
	lines = (struct lines){ .fd = fd,
				.path = path,
				.last = most,
				.cut = { .string_max = CUT_STRING,
					 .wants = visiting->order.wants,
					 .data = visiting->data } };
	while ((r = lines_next(&lines, err)) == 0) {
		if (visiting->order.may_help &&
		    !visiting->order.may_help(strbuf_text(&lines.line), visiting->data))
			continue;
		cleanup_json struct json_object *record = parse_record(&lines.line, path);
		if (record && !visiting->visit(record, visiting->data))
			return 0;
	}
	return r < 0 ? -1 : 0;
}

int transcript_visit(const char *path, off_t most,
		     bool (*visit)(struct json_object *record, void *data), void *data,
		     struct error *err)
{
	const struct visiting visiting = { .visit = visit, .data = data };
	return visit_lines(path, most, &visiting, err);
}

int transcript_visit_some(const char *path, const struct transcript_order *order,
			  bool (*visit)(struct json_object *record, void *data), void *data,
			  struct error *err)
{
	const struct visiting visiting = { .order = *order, .visit = visit, .data = data };
	return visit_lines(path, 0, &visiting, err);
}

/* A file read from its end: the last chunk that was read. */
struct backwards {
	int fd;
	const char *path;
	off_t floor; /* nothing before it is read */
	off_t start;
	size_t filled;
	char chunk[CHUNK];
};

/* Read all of [start, start + length), or less if the file became shorter. */
static int read_at(const struct backwards *file, off_t start, char *buffer, size_t length,
		   size_t *ret_filled, struct error *err)
{
	size_t filled = 0;
	while (filled < length) {
		ssize_t n = pread(file->fd, buffer + filled, length - filled,
				  start + (off_t)filled);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno, "read %s", file->path);
		if (n == 0)
			break;
		filled += (size_t)n;
	}
	*ret_filled = filled;
	return 0;
}

/* Offset of the start of the line that ends before offset end. */
static int find_line_start(struct backwards *file, off_t end, off_t *ret, struct error *err)
{
	while (end > file->floor) {
		if (end <= file->start || end > file->start + (off_t)file->filled) {
			file->start = end > file->floor + CHUNK ? end - CHUNK : file->floor;
			if (read_at(file, file->start, file->chunk, (size_t)(end - file->start),
				    &file->filled, err) < 0)
				return -1;
			/* The file was cut short while we read: these lines no longer exist. */
			if (end > file->start + (off_t)file->filled)
				break;
		}
		const char *newline = memrchr(file->chunk, '\n', (size_t)(end - file->start));
		if (newline) {
			*ret = file->start + (newline - file->chunk) + 1;
			return 0;
		}
		end = file->start;
	}
	*ret = file->floor;
	return 0;
}

static int read_line(struct backwards *file, off_t start, off_t end, struct strbuf *line,
		     struct error *err)
{
	size_t length = (size_t)(end - start), filled;
	line->length = 0;
	if (length > MAX_LINE)
		return 0;
	if (start >= file->start && end <= file->start + (off_t)file->filled) {
		strbuf_add(line, file->chunk + (start - file->start), length);
		return 0;
	}
	cleanup_free char *buffer = xcalloc(length, 1);
	if (read_at(file, start, buffer, length, &filled, err) < 0)
		return -1;
	strbuf_add(line, buffer, filled);
	return 0;
}

/* Pass each line behind the offset `from` (negative: as lseek(2) counts from the end) to visit, the
 * last one first, until it returns true.  TRANSCRIPT_NONE: it never did. */
static int visit_backwards(const char *path, off_t from,
			   bool (*visit)(const struct strbuf *line, const char *path, void *data),
			   void *data, struct error *err)
{
	struct stat st;
	cleanup_close int fd = -1;
	int r = open_own(path, &st, &fd, err);
	if (r != 0)
		return r;
	struct backwards file;
	file.fd = fd;
	file.path = path;
	file.floor = from >= 0 ? from : st.st_size > -from ? st.st_size + from : 0;
	file.start = 0;
	file.filled = 0;
	cleanup_strbuf struct strbuf line = { 0 };
	for (off_t end = st.st_size, start; end > file.floor; end = start - 1) {
		if (find_line_start(&file, end, &start, err) < 0 ||
		    read_line(&file, start, end, &line, err) < 0)
			return -1;
		if (visit(&line, path, data))
			return 0;
	}
	return TRANSCRIPT_NONE;
}

struct visiting_back {
	bool (*visit)(const struct json_object *record, void *data);
	void *data;
};

static bool visit_record(const struct strbuf *line, const char *path, void *data)
{
	const struct visiting_back *visiting = data;
	cleanup_json struct json_object *record = parse_record(line, path);
	return record && visiting->visit(record, visiting->data);
}

int transcript_visit_back(const char *path, off_t from,
			  bool (*visit)(const struct json_object *record, void *data), void *data,
			  struct error *err)
{
	struct visiting_back visiting = { visit, data };
	return visit_backwards(path, from, visit_record, &visiting, err);
}

struct place {
	char *folder;
	char **directory;
};

/* A record has the directory of a tool's shell, which need not be the conversation's. */
static bool take_directory(const struct strbuf *line, const char *path, void *data)
{
	const struct place *place = data;
	if (!contains(line, "\"cwd\"") && !contains(line, "\"relocatedCwd\""))
		return false;
	cleanup_json struct json_object *record = parse_record(line, path);
	const char *cwd = record ? json_get_string(record, "relocatedCwd",
						   json_get_string(record, "cwd", NULL))
				 : NULL;
	cleanup_free char *slug = cwd && *cwd == '/' ? transcript_slug(cwd) : NULL;
	if (!slug || !streq(slug, place->folder))
		return false;
	*place->directory = xstrdup(cwd);
	return true;
}

int transcript_last_directory(const char *path, char **ret, struct error *err)
{
	cleanup_free char *directory = xstrndup(path, (size_t)(path_basename(path) - path));
	size_t length = strlen(directory);
	if (length > 1)
		directory[length - 1] = '\0';
	cleanup_free char *folder = xstrdup(path_basename(directory));
	return visit_backwards(path, 0, take_directory, &(struct place){ folder, ret }, err);
}

void transcript_turns_free(struct transcript_turns *turns)
{
	for (size_t i = 0; i < turns->count; i++)
		free(turns->items[i].text);
	free(turns->items);
	*turns = (struct transcript_turns){ 0 };
}
