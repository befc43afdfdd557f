/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomledit.h"

#include "base/macro.h"
#include "base/toml.h"
#include "base/tomltext.h"

#include <string.h>

/* --- the lines of a document -------------------------------------------------------------------- */

struct span {
	size_t start, end;
};

/* Each line is parsed for itself.  One in the middle of a value may look like a key, so that the
 * result of each change is checked. */
enum line_kind {
	LINE_EMPTY, /* or a comment */
	LINE_HINT,  /* a comment that shows a key */
	LINE_HEADER,
	LINE_ENTRY,
	LINE_OTHER, /* part of a value */
};

struct line {
	enum line_kind kind;
	size_t start, end;  /* behind its line end */
	struct strvec path; /* of the table or of the key; empty in an array of tables */
	size_t depth;       /* the part of the path that is the table's */
};

struct lines {
	const char *text;
	size_t begin, length; /* begin: behind a byte order mark */
	struct line *items;
	size_t count;
};

/* table: the last header's line, or NULL. */
static void read_line(const char *text, const struct line *table, struct line *line)
{
	cleanup_strvec struct strvec path = { 0 };
	const char *shown = text + strspn(text, "# \t");
	const bool is_comment = memchr(text, '#', (size_t)(shown - text));
	if (!*shown) {
		line->kind = LINE_EMPTY;
	} else if (is_comment) {
		line->kind = *shown != '[' && toml_add_path(shown, &path) ? LINE_HINT : LINE_EMPTY;
	} else if (!toml_add_path(text, &path)) {
		line->kind = LINE_OTHER;
	} else {
		line->kind = *shown == '[' ? LINE_HEADER : LINE_ENTRY;
	}
	if (line->kind == LINE_HEADER) {
		line->depth = starts_with(shown, "[[") ? 0 : path.count;
		if (line->depth)
			strvec_push_all(&line->path, &path);
	} else if (path.count && (!table || table->depth)) {
		line->depth = table ? table->depth : 0;
		if (table)
			strvec_push_all(&line->path, &table->path);
		strvec_push_all(&line->path, &path);
	}
}

static void read_lines(struct lines *lines)
{
	size_t table = SIZE_MAX;
	lines->begin = starts_with(lines->text, "\xef\xbb\xbf") ? 3 : 0;
	for (size_t at = lines->begin; at < lines->length; at = lines->items[lines->count++].end) {
		const char *newline = memchr(lines->text + at, '\n', lines->length - at);
		const size_t end = newline ? (size_t)(newline - lines->text) : lines->length;
		const bool has_return = end > at && lines->text[end - 1] == '\r';
		cleanup_free char *text = xstrndup(lines->text + at, end - at - has_return);
		lines->items = xreallocarray(lines->items, lines->count + 1, sizeof(*lines->items));
		struct line *line = lines->items + lines->count;
		*line = (struct line){ .start = at, .end = end + (newline != NULL) };
		read_line(text, table < lines->count ? lines->items + table : NULL, line);
		if (line->kind == LINE_HEADER)
			table = lines->count;
	}
}

static bool is_path(const struct strvec *path, const struct strvec *parts, size_t count)
{
	if (path->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!streq(path->items[i], parts->items[i]))
			return false;
	return true;
}

/* --- what the result is to say ------------------------------------------------------------------ */

static int not_a_table(const struct toml_change *change, size_t count, struct error *err)
{
	cleanup_free char *name = toml_join_parts(change->parts, 0, count), *shown = visible(name);
	unsigned line, column;
	toml_position(change->text, change->length, name, &line, &column);
	return error_set(err, ERROR_INVALID, "%s:%u:%u: %s is a value here, and not a table",
			 change->what, line, column, shown);
}

/* Change the parsed document: value NULL removes the key.  TOML_KEY_ABSENT: it is not there. */
static int change_tree(const struct toml_change *change, struct json_object *root,
		       struct json_object *value, struct error *err)
{
	const struct strvec *parts = change->parts;
	struct json_object *table = root, *next;
	for (size_t i = 0; i + 1 < parts->count; i++, table = next) {
		if (!json_object_object_get_ex(table, parts->items[i], &next)) {
			next = json_object_new_object();
			json_object_object_add(table, parts->items[i], next);
		}
		if (!json_object_is_type(next, json_type_object))
			return not_a_table(change, i + 1, err);
	}
	const char *name = parts->items[parts->count - 1];
	if (json_object_object_get_ex(table, name, &next) &&
	    json_object_is_type(next, json_type_object)) {
		cleanup_free char *key = toml_join_key(parts, 0), *shown = visible(key);
		return error_set(err, ERROR_INVALID, "%s: %s is a table: name one of its keys",
				 change->what, shown);
	}
	if (value)
		json_object_object_add(table, name, json_object_get(value));
	else if (json_object_object_get_ex(table, name, NULL))
		json_object_object_del(table, name);
	else
		return TOML_KEY_ABSENT;
	return 0;
}

/* Remove the empty tables around the key.  A table that only dots have made vanishes with its last
 * key, and one that has a header does not. */
static void drop_empty_tables(struct json_object *table, const struct strvec *parts, size_t at)
{
	struct json_object *next;
	if (at + 1 >= parts->count || !json_object_object_get_ex(table, parts->items[at], &next) ||
	    !json_object_is_type(next, json_type_object))
		return;
	drop_empty_tables(next, parts, at + 1);
	if (json_object_object_length(next) == 0)
		json_object_object_del(table, parts->items[at]);
}

/* --- the change --------------------------------------------------------------------------------- */

struct edit {
	const struct toml_change *change;
	struct json_object *expected; /* what the result is to say */
	struct lines lines;
};

static void edit_free(struct edit *edit)
{
	json_object_put(edit->expected);
	for (size_t i = 0; i < edit->lines.count; i++)
		strvec_clear(&edit->lines.items[i].path);
	free(edit->lines.items);
}
#define cleanup_edit CLEANUP(edit_free)

static int begin(struct edit *edit, struct json_object *value, struct error *err)
{
	const struct toml_change *change = edit->change;
	edit->lines.text = change->length ? change->text : "";
	edit->lines.length = change->length;
	if (toml_parse(change->text, change->length, change->what, &edit->expected, err) < 0)
		return -1;
	const int r = change_tree(change, edit->expected, value, err);
	if (r == 0) {
		drop_empty_tables(edit->expected, change->parts, 0);
		read_lines(&edit->lines);
	}
	return r;
}

/* Take this document, if it says what is expected. */
static bool accept(const struct edit *edit, struct strbuf *result, struct strbuf *ret)
{
	cleanup_json struct json_object *found = NULL;
	if (toml_parse(strbuf_text(result), result->length, "", &found, NULL) < 0)
		return false;
	drop_empty_tables(found, edit->change->parts, 0);
	if (!json_object_equal(found, edit->expected))
		return false;
	*ret = *result;
	*result = (struct strbuf){ 0 };
	return true;
}

/* Take the document with this text in place of these bytes, if it says what is expected. */
static bool splice(const struct edit *edit, struct span span, const char *text, struct strbuf *ret)
{
	const struct lines *lines = &edit->lines;
	cleanup_strbuf struct strbuf result = { 0 };
	strbuf_add(&result, lines->text, span.start);
	strbuf_adds(&result, text);
	strbuf_add(&result, lines->text + span.end, lines->length - span.end);
	return accept(edit, &result, ret);
}

/* None of the tries was right. */
static int refuse(const struct toml_change *change, struct error *err)
{
	cleanup_free char *key = toml_join_key(change->parts, 0), *shown = visible(key);
	return error_set(err, ERROR_INVALID,
			 "%s: %s has no line to itself, or can have none: change it %s",
			 change->what, shown, change->instead);
}

/* Behind an = up to a comment or the end, where that is one value: = and # can be in a text. */
static bool change_value(const struct edit *edit, const struct line *line, const char *literal,
			 struct strbuf *ret)
{
	cleanup_free char *text = xstrndup(edit->lines.text + line->start, line->end - line->start);
	for (char *sign = strchr(text, '='); sign; sign = strchr(sign + 1, '=')) {
		const char *start = sign + 1 + strspn(sign + 1, " \t");
		for (const char *stop = start + strcspn(start, "#\r\n");;
		     stop += 1 + strcspn(stop + 1, "#\r\n")) {
			size_t length = (size_t)(stop - start);
			while (length && strchr(" \t", start[length - 1]))
				length--;
			const size_t at = line->start + (size_t)(start - text);
			cleanup_free char *old = xstrndup(start, length);
			cleanup_json struct json_object *value = NULL;
			if (toml_parse_literal(old, &value) &&
			    splice(edit, (struct span){ at, at + length }, literal, ret))
				return true;
			if (*stop != '#')
				break;
		}
	}
	return false;
}

/* Above the first header, and the comment that belongs to it. */
static size_t top_of(const struct lines *lines)
{
	size_t i = 0;
	while (i < lines->count && lines->items[i].kind != LINE_HEADER)
		i++;
	if (i == lines->count)
		return lines->length;
	while (i > 0 && lines->text[lines->items[i - 1].start] == '#')
		i--;
	return lines->items[i].start;
}

/* Behind the last line of the table with these first parts; SIZE_MAX: it has no header. */
static size_t end_of_table(const struct lines *lines, const struct strvec *parts, size_t depth)
{
	size_t at = depth ? SIZE_MAX : top_of(lines);
	bool is_inside = depth == 0;
	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->items[i];
		if (line->kind == LINE_HEADER)
			is_inside = depth && is_path(&line->path, parts, depth);
		if (is_inside && line->kind >= LINE_HEADER)
			at = line->end;
	}
	return at;
}

/* Insert "key = value" at the beginning of a line or at the end, without the first parts.  header:
 * the line before it, or NULL. */
static bool insert(const struct edit *edit, size_t at, const char *header, const char *entry,
		   struct strbuf *ret)
{
	const struct lines *lines = &edit->lines;
	const char *first = memchr(lines->text, '\n', lines->length);
	const char *newline = first && first > lines->text && first[-1] == '\r' ? "\r\n" : "\n";
	const bool is_open = at > lines->begin && lines->text[at - 1] != '\n';
	cleanup_free char *above = header ? xasprintf("%s[%s]%s", at ? newline : "", header,
						      newline)
					  : xstrdup("");
	cleanup_free char *text = xasprintf("%s%s%s%s", is_open ? newline : "", above, entry,
					    newline);
	return splice(edit, (struct span){ at, at }, text, ret);
}

/* Behind a comment that shows the key, else at the end of its table, which is made when missing. */
static bool add_key(const struct edit *edit, const char *literal, struct strbuf *ret)
{
	const struct lines *lines = &edit->lines;
	const struct strvec *parts = edit->change->parts;
	const size_t depth = parts->count - 1;
	for (size_t i = lines->count; i-- > 0;) {
		const struct line *line = &lines->items[i];
		if (line->kind != LINE_HINT || !is_path(&line->path, parts, parts->count))
			continue;
		cleanup_free char *key = toml_join_key(parts, line->depth);
		cleanup_free char *entry = xasprintf("%s = %s", key, literal);
		if (insert(edit, line->end, NULL, entry, ret))
			return true;
	}
	cleanup_free char *key = toml_join_key(parts, depth),
			  *table = toml_join_parts(parts, 0, depth);
	cleanup_free char *entry = xasprintf("%s = %s", key, literal);
	const size_t at = end_of_table(lines, parts, depth);
	if (at < SIZE_MAX ? insert(edit, at, NULL, entry, ret)
			  : insert(edit, lines->length, table, entry, ret))
		return true;
	/* Dots at the beginning of the document may have made its table. */
	cleanup_free char *whole = toml_join_key(parts, 0);
	cleanup_free char *dotted = xasprintf("%s = %s", whole, literal);
	return insert(edit, end_of_table(lines, parts, 0), NULL, dotted, ret);
}

int toml_set(const struct toml_change *change, const char *literal, struct strbuf *ret,
	     struct error *err)
{
	cleanup_json struct json_object *value = NULL;
	cleanup_edit struct edit edit = { .change = change };
	cleanup_free char *shown = visible(literal);
	if (!toml_parse_literal(literal, &value))
		return error_set(err, ERROR_USAGE, "'%s' is not one value in TOML", shown);
	if (begin(&edit, value, err) < 0)
		return -1;
	for (size_t i = 0; i < edit.lines.count; i++) {
		const struct line *line = &edit.lines.items[i];
		if (line->kind == LINE_ENTRY &&
		    is_path(&line->path, change->parts, change->parts->count) &&
		    change_value(&edit, line, literal, ret))
			return 0;
	}
	return add_key(&edit, literal, ret) ? 0 : refuse(change, err);
}

int toml_unset(const struct toml_change *change, struct strbuf *ret, struct error *err)
{
	cleanup_edit struct edit edit = { .change = change };
	const int r = begin(&edit, NULL, err);
	if (r != 0)
		return r;
	for (size_t i = 0; i < edit.lines.count; i++) {
		const struct line *line = &edit.lines.items[i];
		if (line->kind == LINE_ENTRY &&
		    is_path(&line->path, change->parts, change->parts->count) &&
		    splice(&edit, (struct span){ line->start, line->start }, "# ", ret))
			return 0;
	}
	return refuse(change, err);
}

/* --- a whole table ------------------------------------------------------------------------------ */

/* The document without the table or, with a name, with it under that name. */
static int begin_table(struct edit *edit, const char *name, struct error *err)
{
	const struct toml_change *change = edit->change;
	const struct strvec *parts = change->parts;
	struct json_object *table, *value;
	edit->lines.text = change->length ? change->text : "";
	edit->lines.length = change->length;
	if (toml_parse(change->text, change->length, change->what, &edit->expected, err) < 0)
		return -1;
	table = edit->expected;
	for (size_t i = 0; i + 1 < parts->count; i++)
		if (!json_object_object_get_ex(table, parts->items[i], &table))
			return TOML_KEY_ABSENT;
	const char *old = parts->items[parts->count - 1];
	if (!json_object_object_get_ex(table, old, &value) ||
	    !json_object_is_type(value, json_type_object))
		return TOML_KEY_ABSENT;
	if (name)
		json_object_object_add(table, name, json_object_get(value));
	json_object_object_del(table, old);
	drop_empty_tables(edit->expected, parts, 0);
	read_lines(&edit->lines);
	return 0;
}

static bool is_below(const struct strvec *path, const struct strvec *parts)
{
	return path->count >= parts->count &&
	       is_path(&(struct strvec){ .items = path->items, .count = parts->count }, parts,
		       parts->count);
}

static bool ends_blank(const struct strbuf *text)
{
	return text->length == 0 || ends_with(text->data, "\n\n") ||
	       ends_with(text->data, "\n\r\n");
}

/* Add all lines that are not the table's.  Of two empty lines around it, one is enough. */
static void keep_others(const struct edit *edit, struct strbuf *ret)
{
	const struct lines *lines = &edit->lines;
	size_t begin = lines->begin; /* of the comments and empty lines before a line */
	bool is_ours = false;
	strbuf_add(ret, lines->text, begin);
	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->items[i];
		const bool was_ours = is_ours;
		const bool is_blank = strchr("\r\n", lines->text[line->start]);
		if (is_ours && begin == line->start && is_blank && ends_blank(ret))
			begin = line->end;
		if (line->kind < LINE_HEADER)
			continue;
		if (line->kind != LINE_OTHER)
			is_ours = is_below(&line->path, edit->change->parts);
		if (!was_ours || !is_ours || line->kind == LINE_HEADER)
			strbuf_add(ret, lines->text + begin, line->start - begin);
		if (!is_ours)
			strbuf_add(ret, lines->text + line->start, line->end - line->start);
		begin = line->end;
	}
	strbuf_add(ret, lines->text + begin, lines->length - begin);
}

int toml_remove_table(const struct toml_change *change, struct strbuf *ret, struct error *err)
{
	cleanup_edit struct edit edit = { .change = change };
	cleanup_strbuf struct strbuf result = { 0 };
	const int r = begin_table(&edit, NULL, err);
	if (r != 0)
		return r;
	keep_others(&edit, &result);
	return accept(&edit, &result, ret) ? 0 : refuse(change, err);
}

/* A quoted part of the header can have a "]". */
static bool rename_header(const struct edit *edit, const struct line *line, const char *header,
			  struct strbuf *ret)
{
	const char *text = edit->lines.text;
	const char *open = memchr(text + line->start, '[', line->end - line->start);
	for (size_t at = line->start; open && at < line->end; at++)
		if (text[at] == ']' &&
		    splice(edit, (struct span){ (size_t)(open - text) + 1, at }, header, ret))
			return true;
	return false;
}

int toml_rename_table(const struct toml_change *change, const char *name, struct strbuf *ret,
		      struct error *err)
{
	cleanup_edit struct edit edit = { .change = change };
	cleanup_strvec struct strvec parts = { 0 };
	const int r = begin_table(&edit, name, err);
	if (r != 0)
		return r;
	strvec_push_all(&parts, change->parts);
	replace_string(&parts.items[parts.count - 1], name);
	cleanup_free char *header = toml_join_key(&parts, 0);
	for (size_t i = 0; i < edit.lines.count; i++) {
		const struct line *line = &edit.lines.items[i];
		if (line->kind == LINE_HEADER &&
		    is_path(&line->path, change->parts, change->parts->count) &&
		    rename_header(&edit, line, header, ret))
			return 0;
	}
	return refuse(change, err);
}
