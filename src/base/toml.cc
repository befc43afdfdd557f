/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The C library's headers come first: inside extern "C" libstdc++'s wrappers of them would not
 * compile. */
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>

#include <json-c/json.h>

extern "C" {
#include "base/toml.h"
}

/* toml++ 3.3 asserts what a malformed document can break ("a = [}").  Without the assertion it goes
 * on and reports a proper error, memory intact (fuzzed); with NDEBUG it would let the compiler
 * assume what it asserts. */
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_UNDEF_MACROS 1
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

namespace
{

constexpr int max_depth = 64;

json_object *checked(json_object *object)
{
	if (!object)
		abort();
	return object;
}

std::string date_text(const toml::date &date)
{
	char text[32];
	snprintf(text, sizeof(text), "%04u-%02u-%02u", unsigned{ date.year },
		 unsigned{ date.month }, unsigned{ date.day });
	return text;
}

std::string time_text(const toml::time &time)
{
	char text[32];
	if (time.nanosecond)
		snprintf(text, sizeof(text), "%02u:%02u:%02u.%09" PRIu32, unsigned{ time.hour },
			 unsigned{ time.minute }, unsigned{ time.second }, time.nanosecond);
	else
		snprintf(text, sizeof(text), "%02u:%02u:%02u", unsigned{ time.hour },
			 unsigned{ time.minute }, unsigned{ time.second });
	return text;
}

std::string date_time_text(const toml::date_time &value)
{
	std::string text = date_text(value.date) + "T" + time_text(value.time);
	if (!value.offset)
		return text;
	int minutes = value.offset->minutes;
	if (minutes == 0)
		return text + "Z";
	char zone[16];
	snprintf(zone, sizeof(zone), "%c%02d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
		 abs(minutes) % 60);
	return text + zone;
}

json_object *string_object(std::string_view text)
{
	return checked(json_object_new_string_len(text.data(), static_cast<int>(text.size())));
}

/* As the JSON side knows the key: it cannot hold a NUL, and cut off there it could be another. */
std::string key_text(const toml::key &key)
{
	std::string text(key.str());
	for (size_t at; (at = text.find('\0')) != std::string::npos;)
		text.replace(at, 1, "\\000");
	return text;
}

json_object *to_json(const toml::node &node)
{
	switch (node.type()) {
	case toml::node_type::table: {
		json_object *object = checked(json_object_new_object());
		for (auto &&[key, value] : *node.as_table()) {
			std::string name = key_text(key);
			if (json_object_object_add(object, name.c_str(), to_json(value)) < 0)
				abort();
		}
		return object;
	}
	case toml::node_type::array: {
		json_object *array = checked(json_object_new_array());
		for (auto &&value : *node.as_array())
			if (json_object_array_add(array, to_json(value)) < 0)
				abort();
		return array;
	}
	case toml::node_type::string:
		return string_object(node.as_string()->get());
	case toml::node_type::integer:
		return checked(json_object_new_int64(node.as_integer()->get()));
	case toml::node_type::floating_point:
		return checked(json_object_new_double(node.as_floating_point()->get()));
	case toml::node_type::boolean:
		return checked(json_object_new_boolean(node.as_boolean()->get()));
	case toml::node_type::date:
		return string_object(date_text(node.as_date()->get()));
	case toml::node_type::time:
		return string_object(time_text(node.as_time()->get()));
	case toml::node_type::date_time:
		return string_object(date_time_text(node.as_date_time()->get()));
	default:
		abort();
	}
}

/* toml++ bounds the nesting of values only: a long dotted key would nest tables until the stack is
 * full, so the dots outside of quotes and comments are counted first.  Lines of a multi-line string
 * may be counted wrongly; they would need this many dots, too. */
bool keys_too_deep(std::string_view text, unsigned *ret_line, unsigned *ret_column)
{
	unsigned line = 1, column = 0;
	int dots = 0;
	char quote = 0;
	bool comment = false;
	for (char c : text) {
		column++;
		if (c == '\n') {
			line++;
			column = 0;
			dots = 0;
			quote = 0;
			comment = false;
		} else if (comment) {
			continue;
		} else if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '#') {
			comment = true;
		} else if (c == '=' || c == ',') {
			dots = 0;
		} else if (c == '.' && ++dots >= max_depth) {
			*ret_line = line;
			*ret_column = column;
			return true;
		}
	}
	return false;
}

/* Where the rest of a key path stands below node.  A key may hold dots itself, so every key that
 * the rest starts with is tried. */
const toml::source_region *find(const toml::node &node, std::string_view path)
{
	if (const toml::table *table = node.as_table()) {
		for (auto &&[key, value] : *table) {
			std::string name = key_text(key);
			if (path.substr(0, name.size()) != name)
				continue;
			if (path.size() == name.size())
				return &key.source();
			if (path[name.size()] != '.')
				continue;
			if (auto *found = find(value, path.substr(name.size() + 1)))
				return found;
		}
	} else if (const toml::array *array = node.as_array()) {
		size_t end = path.find('.'), index = 0;
		std::string_view digits = path.substr(0, end);
		if (digits.empty() || digits.size() > 6 ||
		    digits.find_first_not_of("0123456789") != std::string_view::npos)
			return nullptr;
		for (char c : digits)
			index = index * 10 + static_cast<size_t>(c - '0');
		const toml::node *item = array->get(index);
		if (!item)
			return nullptr;
		return end == std::string_view::npos ? &item->source()
						     : find(*item, path.substr(end + 1));
	}
	return nullptr;
}

} /* namespace */

extern "C" int toml_parse(const char *text, size_t length, const char *what,
			  struct json_object **ret, struct error *err)
{
	unsigned line, column;
	std::string_view document(length ? text : "", length);
	if (keys_too_deep(document, &line, &column))
		return error_set(err, ERROR_CORRUPT, "%s:%u:%u: the key has too many parts", what,
				 line, column);
	toml::parse_result result = toml::parse(document);
	if (!result) {
		const toml::parse_error &error = result.error();
		char *why = visible(std::string(error.description()).c_str());
		(void)error_set(err, ERROR_CORRUPT, "%s:%u:%u: %s", what,
				static_cast<unsigned>(error.source().begin.line),
				static_cast<unsigned>(error.source().begin.column), why);
		free(why);
		return -1;
	}
	*ret = to_json(result.table());
	return 0;
}

extern "C" void toml_position(const char *text, size_t length, const char *path,
			      unsigned *ret_line, unsigned *ret_column)
{
	unsigned line, column;
	*ret_line = 1;
	*ret_column = 1;
	std::string_view document(length ? text : "", length);
	if (keys_too_deep(document, &line, &column))
		return;
	toml::parse_result result = toml::parse(document);
	if (!result)
		return;
	const toml::source_region *region = find(result.table(), path);
	if (region && region->begin) {
		*ret_line = static_cast<unsigned>(region->begin.line);
		*ret_column = static_cast<unsigned>(region->begin.column);
	}
}
