/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/jsonedit.h"

#include "base/jsonio.h"

#include <string.h>

struct scan {
	const char *text;
	size_t length, at;
};

static char now(const struct scan *scan)
{
	if (scan->at >= scan->length)
		return '\0';
	return scan->text[scan->at];
}

static void skip_blanks(struct scan *scan)
{
	while (now(scan) && strchr(" \t\r\n", now(scan)))
		scan->at++;
}

static void skip_string(struct scan *scan)
{
	for (scan->at++; now(scan) && now(scan) != '"'; scan->at++)
		scan->at += now(scan) == '\\';
	scan->at++;
}

static void skip_value(struct scan *scan)
{
	size_t depth = 0;
	do {
		const char c = now(scan);
		if (c == '"') {
			skip_string(scan);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		else if (!depth) {
			scan->at += strcspn(scan->text + scan->at, ",]} \t\r\n");
			return;
		}
		scan->at++;
	} while (depth && scan->at < scan->length);
}

/* Is the string at the scanner this key? */
static bool is_key(const struct scan *scan, const char *key)
{
	struct scan end = *scan;
	cleanup_json struct json_object *found = NULL;
	skip_string(&end);
	return json_parse(scan->text + scan->at, end.at - scan->at, "", &found, NULL) == 0 &&
	       streq(json_object_get_string(found), key);
}

/* One step into the container at the scanner.  *value: where the value itself begins. */
static bool find_child(struct scan scan, const char *part, struct json_place *ret, size_t *value)
{
	const bool is_object = now(&scan) == '{';
	bool found = false, was_last = false;
	size_t previous = 0;
	if (!is_object && now(&scan) != '[')
		return false;
	const size_t inside = ++scan.at;
	for (size_t i = 0;; i++) {
		skip_blanks(&scan);
		if (was_last && previous)
			ret->cut_to = scan.at;
		if (now(&scan) == '}' || now(&scan) == ']' || !now(&scan))
			break;
		const size_t start = scan.at;
		cleanup_free char *index = xasprintf("%zu", i);
		was_last = is_object ? is_key(&scan, part) : streq(index, part);
		if (is_object) {
			skip_string(&scan);
			skip_blanks(&scan);
			scan.at++; /* ':' */
			skip_blanks(&scan);
		}
		const size_t begin = scan.at;
		skip_value(&scan);
		if (was_last) {
			found = true;
			*value = begin;
			*ret = (struct json_place){ start, scan.at, start, scan.at };
			ret->cut_from = previous ? previous : inside;
		}
		previous = scan.at;
		skip_blanks(&scan);
		if (now(&scan) != ',') {
			if (was_last && ret->cut_from == inside)
				ret->cut_to = scan.at;
			break;
		}
		scan.at++;
		if (was_last)
			ret->cut_from = start;
	}
	return found;
}

bool json_find(const char *text, size_t length, const struct strvec *path, struct json_place *ret)
{
	struct scan scan = { text, length, 0 };
	struct json_place place = { 0 };
	skip_blanks(&scan);
	for (size_t i = 0; i < path->count; i++)
		if (!find_child(scan, path->items[i], &place, &scan.at))
			return false;
	*ret = place;
	return path->count > 0;
}
