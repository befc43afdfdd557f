/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomledit.h"

#include "base/macro.h"
#include "base/toml.h"

#include <string.h>

/* --- keys and values as text ------------------------------------------------------------------- */

static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static void add_string(struct strbuf *buf, const char *text, size_t length)
{
	strbuf_adds(buf, "\"");
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i];
		if (c == '"' || c == '\\')
			strbuf_addf(buf, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			strbuf_addf(buf, "\\u%04x", c);
		else
			strbuf_add(buf, text + i, 1);
	}
	strbuf_adds(buf, "\"");
}

static void add_key_part(struct strbuf *buf, const char *part)
{
	if (*part && !part[strspn(part, bare)])
		strbuf_adds(buf, part);
	else
		add_string(buf, part, strlen(part));
}

static void add_literal(struct strbuf *buf, struct json_object *value)
{
	size_t count = 0;
	switch (json_object_get_type(value)) {
	case json_type_null:
		strbuf_adds(buf, "\"\"");
		break;
	case json_type_string:
		add_string(buf, json_object_get_string(value),
			   (size_t)json_object_get_string_len(value));
		break;
	case json_type_array:
		strbuf_adds(buf, "[");
		for (size_t i = 0; i < json_object_array_length(value); i++) {
			strbuf_adds(buf, i ? ", " : "");
			add_literal(buf, json_object_array_get_idx(value, i));
		}
		strbuf_adds(buf, "]");
		break;
	case json_type_object:
		strbuf_adds(buf, "{");
		json_object_object_foreach(value, name, item) {
			strbuf_adds(buf, count++ ? ", " : " ");
			add_key_part(buf, name);
			strbuf_adds(buf, " = ");
			add_literal(buf, item);
		}
		strbuf_adds(buf, count ? " }" : "}");
		break;
	default:
		strbuf_adds(buf, json_object_to_json_string(value));
	}
}

char *toml_literal(struct json_object *value)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	add_literal(&buf, value);
	return strbuf_take(&buf);
}

bool toml_parse_literal(const char *text, struct json_object **ret)
{
	cleanup_free char *document = xasprintf("value = %s\n", text);
	cleanup_json struct json_object *root = NULL;
	struct json_object *value;
	/* A newline could begin another key, and a comment would end the line that it is put in. */
	if (strpbrk(text, "\r\n") || toml_parse(document, strlen(document), "", &root, NULL) < 0 ||
	    json_object_object_length(root) != 1 ||
	    !json_object_object_get_ex(root, "value", &value))
		return false;
	cleanup_free char *closed = xasprintf("value = [%s]\n", text);
	cleanup_json struct json_object *again = NULL;
	if (toml_parse(closed, strlen(closed), "", &again, NULL) < 0)
		return false;
	*ret = json_object_get(value);
	return true;
}

char *toml_join_key(const struct strvec *parts, size_t from)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	for (size_t i = from; i < parts->count; i++) {
		strbuf_adds(&buf, i > from ? "." : "");
		add_key_part(&buf, parts->items[i]);
	}
	return strbuf_take(&buf);
}

/* --- the scanner: for documents that parse ------------------------------------------------------ */

struct span {
	size_t start, end;
};

/* A line "key = value", or a member of an inline table. */
struct entry {
	struct strvec path;
	struct span key, value;
	size_t section;
	bool is_inline;
};

/* What follows a header; the first one has none. */
struct section {
	struct strvec path;
	bool is_array;
	size_t start;  /* of the header's line */
	size_t insert; /* behind the line of its last entry, or of the header */
};

/* A comment that looks like a key. */
struct hint {
	char *key;
	size_t section, end;
};

struct scan {
	const char *text;
	size_t length, at;
	struct entry *entries;
	struct section *sections;
	struct hint *hints;
	size_t entry_count, section_count, hint_count;
};

static void scan_free(struct scan *scan)
{
	for (size_t i = 0; i < scan->entry_count; i++)
		strvec_clear(&scan->entries[i].path);
	for (size_t i = 0; i < scan->section_count; i++)
		strvec_clear(&scan->sections[i].path);
	for (size_t i = 0; i < scan->hint_count; i++)
		free(scan->hints[i].key);
	free(scan->entries);
	free(scan->sections);
	free(scan->hints);
}
#define cleanup_scan CLEANUP(scan_free)

static struct section *add_section(struct scan *scan, size_t start)
{
	scan->sections = xreallocarray(scan->sections, scan->section_count + 1,
				       sizeof(*scan->sections));
	struct section *section = scan->sections + scan->section_count++;
	*section = (struct section){ .start = start, .insert = start };
	return section;
}

static struct entry *add_entry(struct scan *scan)
{
	scan->entries = xreallocarray(scan->entries, scan->entry_count + 1, sizeof(*scan->entries));
	struct entry *entry = scan->entries + scan->entry_count++;
	*entry = (struct entry){ .section = scan->section_count - 1 };
	return entry;
}

static char peek(const struct scan *scan)
{
	if (scan->at < scan->length)
		return scan->text[scan->at];
	return '\0';
}

static bool is_at(const struct scan *scan, const char *what)
{
	const size_t length = strlen(what);
	return scan->length - scan->at >= length &&
	       memcmp(scan->text + scan->at, what, length) == 0;
}

static void skip_blanks(struct scan *scan)
{
	while (peek(scan) == ' ' || peek(scan) == '\t')
		scan->at++;
}

/* Behind the next newline, or the end. */
static size_t line_end(const struct scan *scan, size_t at)
{
	const char *newline = at < scan->length ? memchr(scan->text + at, '\n', scan->length - at)
						: NULL;
	return newline ? (size_t)(newline - scan->text) + 1 : scan->length;
}

static size_t line_start(const struct scan *scan, size_t at)
{
	while (at > 0 && scan->text[at - 1] != '\n')
		at--;
	return at;
}

/* Blanks, line ends and comments between values. */
static void skip_filling(struct scan *scan)
{
	for (; scan->at < scan->length; scan->at++) {
		if (peek(scan) == '#')
			scan->at = line_end(scan, scan->at) - 1;
		else if (!strchr(" \t\r\n", peek(scan)))
			return;
	}
}

static void skip_string(struct scan *scan)
{
	const char quote = peek(scan);
	const char three[] = { quote, quote, quote, '\0' };
	const bool is_long = is_at(scan, three);
	for (scan->at += is_long ? 3 : 1; scan->at < scan->length; scan->at++) {
		if (quote == '"' && peek(scan) == '\\') {
			scan->at++;
		} else if (!is_long && peek(scan) == quote) {
			scan->at++;
			return;
		} else if (is_long && is_at(scan, three)) {
			/* Up to two quotes before the last three are text. */
			for (scan->at += 3; peek(scan) == quote; scan->at++)
				;
			return;
		}
	}
}

/* What a quoted key says. */
static char *unquoted(const char *text, size_t length)
{
	cleanup_free char *document = xasprintf("%.*s = 0\n", (int)length, text);
	cleanup_json struct json_object *root = NULL;
	if (toml_parse(document, strlen(document), "", &root, NULL) < 0)
		return xstrndup(text, length);
	struct json_object_iterator name = json_object_iter_begin(root);
	return xstrdup(json_object_iter_peek_name(&name));
}

static void scan_key(struct scan *scan, struct strvec *ret)
{
	for (;;) {
		skip_blanks(scan);
		const size_t start = scan->at;
		if (peek(scan) == '"' || peek(scan) == '\'') {
			skip_string(scan);
			strvec_push_take(ret, unquoted(scan->text + start, scan->at - start));
		} else {
			while (peek(scan) && strchr(bare, peek(scan)))
				scan->at++;
			strvec_push_take(ret, xstrndup(scan->text + start, scan->at - start));
		}
		const size_t end = scan->at;
		skip_blanks(scan);
		if (peek(scan) != '.') {
			scan->at = end;
			return;
		}
		scan->at++;
	}
}

/* prefix: the path of the table around the entry; NULL: within an array, where no key is edited. */
static void scan_entry(struct scan *scan, const struct strvec *prefix, bool is_inline);

static void scan_value(struct scan *scan, const struct strvec *path)
{
	const char opening = peek(scan);
	if (opening == '"' || opening == '\'') {
		skip_string(scan);
	} else if (opening == '[' || opening == '{') {
		const char closing = opening == '[' ? ']' : '}';
		scan->at++;
		for (skip_filling(scan); scan->at < scan->length && peek(scan) != closing;
		     skip_filling(scan)) {
			const size_t before = scan->at;
			if (peek(scan) == ',')
				scan->at++;
			else if (opening == '[')
				scan_value(scan, NULL);
			else
				scan_entry(scan, path, true);
			/* A valid file always advances; an invalid one must end, too. */
			scan->at += scan->at == before;
		}
		scan->at += scan->at < scan->length;
	} else {
		while (scan->at < scan->length && !strchr(",]}#\r\n", peek(scan)))
			scan->at++;
		while (scan->at > 0 && strchr(" \t", scan->text[scan->at - 1]))
			scan->at--;
	}
}

static void scan_entry(struct scan *scan, const struct strvec *prefix, bool is_inline)
{
	cleanup_strvec struct strvec path = { 0 };
	struct span key = { .start = scan->at }, value;
	if (prefix)
		strvec_push_all(&path, prefix);
	scan_key(scan, &path);
	key.end = scan->at;
	skip_blanks(scan);
	scan->at += peek(scan) == '=';
	skip_blanks(scan);
	size_t index = scan->entry_count;
	if (prefix) {
		struct entry *entry = add_entry(scan);
		strvec_push_all(&entry->path, &path);
		entry->key = key;
		entry->is_inline = is_inline;
	}
	value.start = scan->at;
	scan_value(scan, prefix ? &path : NULL);
	value.end = scan->at;
	if (prefix)
		scan->entries[index].value = value;
}

static void scan_header(struct scan *scan)
{
	struct section *section = add_section(scan, line_start(scan, scan->at));
	section->is_array = is_at(scan, "[[");
	scan->at += section->is_array ? 2 : 1;
	scan_key(scan, &section->path);
	scan->at = line_end(scan, scan->at);
	section->insert = scan->at;
}

static void scan_comment(struct scan *scan)
{
	const size_t end = line_end(scan, scan->at);
	while (peek(scan) == '#')
		scan->at++;
	skip_blanks(scan);
	const size_t start = scan->at;
	while (peek(scan) && strchr(bare, peek(scan)))
		scan->at++;
	cleanup_free char *key = xstrndup(scan->text + start, scan->at - start);
	skip_blanks(scan);
	if (*key && peek(scan) == '=') {
		scan->hints = xreallocarray(scan->hints, scan->hint_count + 1,
					    sizeof(*scan->hints));
		scan->hints[scan->hint_count++] = (struct hint){ TAKE_PTR(key),
								 scan->section_count - 1, end };
	}
	scan->at = end;
}

static void scan_document(struct scan *scan)
{
	/* Behind a byte order mark. */
	scan->at = is_at(scan, "\xef\xbb\xbf") ? 3 : 0;
	add_section(scan, scan->at);
	while (scan->at < scan->length) {
		const size_t before = scan->at;
		if (strchr(" \t\r\n", peek(scan))) {
			scan->at++;
		} else if (peek(scan) == '#') {
			scan_comment(scan);
		} else if (peek(scan) == '[') {
			scan_header(scan);
		} else {
			struct section *section = scan->sections + scan->section_count - 1;
			cleanup_strvec struct strvec prefix = { 0 };
			strvec_push_all(&prefix, &section->path);
			scan_entry(scan, &prefix, false);
			scan->at = line_end(scan, scan->at);
			section->insert = scan->at;
		}
		scan->at += scan->at == before;
	}
}

/* --- where the change goes --------------------------------------------------------------------- */

static size_t common(const struct strvec *a, const struct strvec *b)
{
	size_t i = 0;
	while (i < a->count && i < b->count && streq(a->items[i], b->items[i]))
		i++;
	return i;
}

static bool is_prefix(const struct strvec *a, const struct strvec *b)
{
	return a->count <= b->count && common(a, b) == a->count;
}

static const struct entry *find_entry(const struct scan *scan, const struct strvec *path)
{
	for (size_t i = 0; i < scan->entry_count; i++)
		if (scan->entries[i].path.count == path->count &&
		    is_prefix(path, &scan->entries[i].path))
			return scan->entries + i;
	return NULL;
}

/* The innermost inline table that the key belongs to. */
static const struct entry *find_inline(const struct scan *scan, const struct strvec *path)
{
	const struct entry *found = NULL;
	for (size_t i = 0; i < scan->entry_count; i++) {
		const struct entry *entry = scan->entries + i;
		if (scan->text[entry->value.start] == '{' && entry->path.count < path->count &&
		    is_prefix(&entry->path, path) &&
		    (!found || entry->path.count > found->path.count))
			found = entry;
	}
	return found;
}

/* The last entry that makes a table around the key by its dots, so that no header can. */
static const struct entry *find_dotted(const struct scan *scan, const struct strvec *path)
{
	const struct entry *found = NULL;
	for (size_t i = 0; i < scan->entry_count; i++) {
		const struct entry *entry = scan->entries + i;
		const struct section *section = scan->sections + entry->section;
		const size_t shared = common(&entry->path, path);
		if (!entry->is_inline && !section->is_array && section->path.count < shared &&
		    shared < path->count && is_prefix(&section->path, path))
			found = entry;
	}
	return found;
}

static const struct section *find_section(const struct scan *scan, const struct strvec *path)
{
	for (size_t i = 0; i < scan->section_count; i++)
		if (!scan->sections[i].is_array &&
		    scan->sections[i].path.count + 1 == path->count &&
		    is_prefix(&scan->sections[i].path, path))
			return scan->sections + i;
	return NULL;
}

static const char *newline_of(const struct scan *scan)
{
	const char *first = scan->length ? memchr(scan->text, '\n', scan->length) : NULL;
	return first && first > scan->text && first[-1] == '\r' ? "\r\n" : "\n";
}

/* The document with this text instead of the span. */
static void splice(const struct scan *scan, struct span span, const char *text, struct strbuf *ret)
{
	strbuf_add(ret, scan->text, span.start);
	strbuf_adds(ret, text);
	strbuf_add(ret, scan->text + span.end, scan->length - span.end);
}

/* A new line, at a place that begins a line or at the end. */
static void insert_line(const struct scan *scan, size_t at, const char *line, struct strbuf *ret)
{
	const char *newline = newline_of(scan);
	const bool is_open = at > 0 && scan->text[at - 1] != '\n' &&
			     !(at == 3 && starts_with(scan->text, "\xef\xbb\xbf"));
	cleanup_free char *text = xasprintf("%s%s%s", is_open ? newline : "", line, newline);
	splice(scan, (struct span){ at, at }, text, ret);
}

static void insert_inline(const struct scan *scan, const struct entry *table, const char *line,
			  struct strbuf *ret)
{
	size_t at = table->value.end - 1;
	while (at > table->value.start && strchr(" \t", scan->text[at - 1]))
		at--;
	const bool is_empty_table = at == table->value.start + 1;
	cleanup_free char *text = xasprintf("%s %s%s", is_empty_table ? "" : ",", line,
					    is_empty_table ? " " : "");
	splice(scan, (struct span){ at, at }, text, ret);
}

/* Behind the last comment that shows the key, else behind the last entry. */
static size_t place_in(const struct scan *scan, size_t index, const char *key)
{
	const struct section *section = scan->sections + index;
	size_t at = section->insert;
	bool is_shown = false;
	for (size_t i = 0; i < scan->hint_count; i++) {
		if (scan->hints[i].section == index && streq(scan->hints[i].key, key)) {
			at = scan->hints[i].end;
			is_shown = true;
		}
	}
	if (is_shown || index > 0 || section->insert > section->start)
		return at;
	if (scan->section_count < 2)
		return scan->length;
	/* Without an entry above the first header: before the comment that belongs to that one. */
	for (at = scan->sections[1].start; at > section->start;) {
		const size_t line = line_start(scan, at - 1);
		if (scan->text[line] != '#' || line < section->start)
			break;
		at = line;
	}
	return at;
}

static void append_table(const struct scan *scan, const struct strvec *parts, const char *line,
			 struct strbuf *ret)
{
	const char *newline = newline_of(scan);
	cleanup_strvec struct strvec table = { 0 };
	for (size_t i = 0; i + 1 < parts->count; i++)
		strvec_push(&table, parts->items[i]);
	cleanup_free char *header = toml_join_key(&table, 0);
	cleanup_free char *text = xasprintf("%s[%s]%s%s", scan->length ? newline : "", header,
					    newline, line);
	insert_line(scan, scan->length, text, ret);
}

static void put_entry(const struct scan *scan, const struct strvec *parts, const char *literal,
		      struct strbuf *ret)
{
	const struct entry *entry = find_entry(scan, parts), *around;
	const struct section *section = find_section(scan, parts);
	if (entry) {
		splice(scan, entry->value, literal, ret);
		return;
	}
	around = find_inline(scan, parts);
	size_t from = around ? around->path.count : parts->count - 1;
	if (!around && (entry = find_dotted(scan, parts)))
		from = scan->sections[entry->section].path.count;
	cleanup_free char *key = toml_join_key(parts, from);
	cleanup_free char *line = xasprintf("%s = %s", key, literal);
	if (around)
		insert_inline(scan, around, line, ret);
	else if (entry)
		insert_line(scan, line_end(scan, entry->value.end), line, ret);
	else if (section)
		insert_line(scan, place_in(scan, (size_t)(section - scan->sections), key), line,
			    ret);
	else
		append_table(scan, parts, line, ret);
}

/* Every line of the entry gets a "# ". */
static void comment_out(const struct scan *scan, const struct entry *entry, struct strbuf *ret)
{
	const size_t start = line_start(scan, entry->key.start);
	const size_t end = line_end(scan, entry->value.end);
	strbuf_add(ret, scan->text, start);
	for (size_t at = start; at < end; at = line_end(scan, at)) {
		strbuf_adds(ret, "# ");
		strbuf_add(ret, scan->text + at, line_end(scan, at) - at);
	}
	strbuf_add(ret, scan->text + end, scan->length - end);
}

static bool is_space_or_tab(char c)
{
	return c == ' ' || c == '\t';
}

static void take_out(const struct scan *scan, const struct entry *entry, struct strbuf *ret)
{
	struct span span = { entry->key.start, entry->value.end };
	while (is_space_or_tab(scan->text[span.end]))
		span.end++;
	if (scan->text[span.end] == ',') {
		for (span.end++; is_space_or_tab(scan->text[span.end]); span.end++)
			;
	} else {
		/* The comma before the last element goes, too. */
		while (span.start > 0 && is_space_or_tab(scan->text[span.start - 1]))
			span.start--;
		if (span.start > 0 && scan->text[span.start - 1] == ',')
			span.start--;
		span.end = entry->value.end;
	}
	splice(scan, span, "", ret);
}

/* --- the check of the result -------------------------------------------------------------------- */

static int not_a_table(const struct toml_change *change, size_t count, struct error *err)
{
	cleanup_strvec struct strvec table = { 0 };
	for (size_t i = 0; i < count; i++)
		strvec_push(&table, change->parts->items[i]);
	cleanup_free char *name = toml_join_key(&table, 0), *shown = visible(name);
	unsigned line, column;
	toml_position(change->text, change->length, name, &line, &column);
	return error_set(err, ERROR_INVALID, "%s:%u:%u: %s is a value here, and not a table",
			 change->what, line, column, shown);
}

/* Change the parsed document: value NULL removes the key. */
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
	else
		json_object_object_del(table, name);
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

static int check_result(const struct toml_change *change, struct json_object *expected,
			const struct strbuf *result, struct error *err)
{
	cleanup_json struct json_object *found = NULL;
	if (toml_parse(strbuf_text(result), result->length, change->what, &found, NULL) == 0) {
		drop_empty_tables(found, change->parts, 0);
		drop_empty_tables(expected, change->parts, 0);
		if (json_object_equal(found, expected))
			return 0;
	}
	cleanup_free char *key = toml_join_key(change->parts, 0), *shown = visible(key);
	return error_set(err, ERROR_INVALID,
			 "%s: %s cannot be changed without touching something else in this file: "
			 "change it in an editor",
			 change->what, shown);
}

static int start(const struct toml_change *change, struct json_object *value, struct scan *scan,
		 struct json_object **ret_tree, struct error *err)
{
	cleanup_json struct json_object *tree = NULL;
	if (toml_parse(change->text, change->length, change->what, &tree, err) < 0 ||
	    change_tree(change, tree, value, err) < 0)
		return -1;
	*scan = (struct scan){ .text = change->length ? change->text : "",
			       .length = change->length };
	scan_document(scan);
	*ret_tree = TAKE_PTR(tree);
	return 0;
}

int toml_set(const struct toml_change *change, const char *literal, struct strbuf *ret,
	     struct error *err)
{
	cleanup_json struct json_object *value = NULL, *expected = NULL;
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_scan struct scan scan = { 0 };
	cleanup_free char *shown = visible(literal);
	if (!toml_parse_literal(literal, &value))
		return error_set(err, ERROR_USAGE, "'%s' is not one value in TOML", shown);
	if (start(change, value, &scan, &expected, err) < 0)
		return -1;
	put_entry(&scan, change->parts, literal, &result);
	if (check_result(change, expected, &result, err) < 0)
		return -1;
	*ret = result;
	result = (struct strbuf){ 0 };
	return 0;
}

int toml_unset(const struct toml_change *change, struct strbuf *ret, struct error *err)
{
	cleanup_json struct json_object *expected = NULL;
	cleanup_strbuf struct strbuf result = { 0 };
	cleanup_scan struct scan scan = { 0 };
	if (start(change, NULL, &scan, &expected, err) < 0)
		return -1;
	const struct entry *entry = find_entry(&scan, change->parts);
	if (!entry)
		return TOML_KEY_ABSENT;
	if (entry->is_inline)
		take_out(&scan, entry, &result);
	else
		comment_out(&scan, entry, &result);
	if (check_result(change, expected, &result, err) < 0)
		return -1;
	*ret = result;
	result = (struct strbuf){ 0 };
	return 0;
}

int toml_split_key(const char *key, struct strvec *ret, struct error *err)
{
	cleanup_strvec struct strvec parts = { 0 };
	cleanup_free char *shown = visible(key);
	struct scan scan = { .text = key, .length = strlen(key) };
	for (;; scan.at++) {
		const size_t first = scan.at;
		if (peek(&scan) == '"' || peek(&scan) == '\'') {
			const char quote = peek(&scan);
			skip_string(&scan);
			if (scan.at - first < 2 || scan.at > scan.length ||
			    key[scan.at - 1] != quote)
				return error_set(err, ERROR_USAGE,
						 "key '%s': a quote is not closed", shown);
			strvec_push_take(&parts, unquoted(key + first, scan.at - first));
		} else {
			const size_t length = strcspn(key + first, ".");
			if (length == 0)
				return error_set(err, ERROR_USAGE, "key '%s': a part is empty",
						 shown);
			strvec_push_take(&parts, xstrndup(key + first, length));
			scan.at = first + length;
		}
		if (scan.at >= scan.length)
			break;
		if (key[scan.at] != '.')
			return error_set(err, ERROR_USAGE,
					 "key '%s': a dot is missing after a quote", shown);
	}
	strvec_push_all(ret, &parts);
	return 0;
}
