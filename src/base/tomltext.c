/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomltext.h"

#include "base/macro.h"
#include "base/toml.h"

#include <string.h>

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

char *toml_join_parts(const struct strvec *parts, size_t from, size_t to)
{
	cleanup_strbuf struct strbuf buf = { 0 };
	for (size_t i = from; i < to; i++) {
		strbuf_adds(&buf, i > from ? "." : "");
		add_key_part(&buf, parts->items[i]);
	}
	return strbuf_take(&buf);
}

char *toml_join_key(const struct strvec *parts, size_t from)
{
	return toml_join_parts(parts, from, parts->count);
}

bool toml_add_path(const char *text, struct strvec *ret)
{
	cleanup_json struct json_object *root = NULL;
	if (toml_parse(text, strlen(text), "", &root, NULL) < 0)
		return false;
	struct json_object *value = root;
	while (json_object_is_type(value, json_type_object) &&
	       json_object_object_length(value) == 1) {
		struct json_object_iterator only = json_object_iter_begin(value);
		strvec_push(ret, json_object_iter_peek_name(&only));
		value = json_object_iter_peek_value(&only);
	}
	return ret->count > 0;
}

/* Append what a quoted part says.  False: it is no key in TOML. */
static bool add_quoted(const char *text, size_t length, struct strvec *ret)
{
	cleanup_free char *line = xasprintf("%.*s = 0", (int)length, text);
	return toml_add_path(line, ret);
}

/* The length of a quoted part with its quotes; 0: it is not closed. */
static size_t quoted_length(const char *text)
{
	size_t i = 1;
	for (; text[i] && text[i] != *text; i++)
		i += *text == '"' && text[i] == '\\' && text[i + 1];
	return text[i] ? i + 1 : 0;
}

int toml_split_key(const char *key, struct strvec *ret, struct error *err)
{
	cleanup_strvec struct strvec parts = { 0 };
	cleanup_free char *shown = visible(key);
	for (const char *at = key;; at++) {
		const bool is_quoted = *at == '"' || *at == '\'';
		const size_t length = is_quoted ? quoted_length(at) : strcspn(at, ".");
		if (length == 0)
			return error_set(err, ERROR_USAGE, "key '%s': %s", shown,
					 is_quoted ? "a quote is not closed" : "a part is empty");
		if (!is_quoted || !add_quoted(at, length, &parts))
			strvec_push_take(&parts, xstrndup(at, length));
		at += length;
		if (!*at)
			break;
		if (*at != '.')
			return error_set(err, ERROR_USAGE,
					 "key '%s': a dot is missing after a quote", shown);
	}
	strvec_push_all(ret, &parts);
	return 0;
}
