/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/argsplit.h"

#include <string.h>

static int refuse(const char *line, const char *at, struct error *err)
{
	size_t column = 1;
	for (const char *byte = line; byte < at; byte++)
		column += ((unsigned char)*byte & 0xc0) != 0x80;
	if (*at == '\n')
		return error_set(
			err, ERROR_USAGE,
			"the command has a line break at character %zu, but no shell runs it: "
			"write it on one line, or put the break in single quotes",
			column);
	return error_set(
		err, ERROR_USAGE,
		"the command has an unquoted %c at character %zu, which is special in a shell, "
		"but no shell runs it: to pass it on, write \\%c or put it in single quotes; to "
		"use a shell, write sh -c '...'",
		*at, column, *at);
}

/* Read text between double quotes, and return the text after the closing quote.  NULL with err
 * set. */
static const char *read_double_quotes(const char *line, const char *next, struct strbuf *word,
				      struct error *err)
{
	for (; *next != '"'; next++) {
		if (!*next) {
			error_set(err, ERROR_USAGE, "the command has a \" that is not closed");
			return NULL;
		}
		/* Inside double quotes these two keep their special meaning. */
		if (*next == '$' || *next == '`') {
			refuse(line, next, err);
			return NULL;
		}
		if (*next == '\\' && next[1] && strchr("$`\"\\\n", next[1])) {
			next++;
			if (*next == '\n')
				continue;
		}
		strbuf_add(word, next, 1);
	}
	return next + 1;
}

/* Read one word.  *ret_formed stays false when there was only an escaped line break.  Returns the
 * text after it, NULL with err set. */
static const char *read_word(const char *line, const char *next, struct strbuf *word,
			     bool *ret_formed, struct error *err)
{
	while (*next && *next != ' ' && *next != '\t') {
		if (strchr("|&;<>()$`*?[\n", *next) || (!*ret_formed && strchr("#~", *next))) {
			refuse(line, next, err);
			return NULL;
		}
		if (*next == '\\' && next[1] == '\n') {
			next += 2;
			continue;
		}
		*ret_formed = true;
		if (*next == '\'') {
			const char *end = strchr(next + 1, '\'');
			if (!end) {
				error_set(err, ERROR_USAGE,
					  "the command has a ' that is not closed");
				return NULL;
			}
			strbuf_add(word, next + 1, (size_t)(end - next - 1));
			next = end + 1;
		} else if (*next == '"') {
			next = read_double_quotes(line, next + 1, word, err);
			if (!next)
				return NULL;
		} else {
			if (*next == '\\' && !*++next) {
				error_set(err, ERROR_USAGE,
					  "the command ends with a backslash, "
					  "which needs something to quote");
				return NULL;
			}
			strbuf_add(word, next++, 1);
		}
	}
	return next;
}

int argsplit(const char *line, struct strvec *ret, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	for (const char *next = line + strspn(line, " \t"); *next; next += strspn(next, " \t")) {
		cleanup_strbuf struct strbuf word = { 0 };
		bool formed = false;
		next = read_word(line, next, &word, &formed, err);
		if (!next)
			return -1;
		if (formed)
			strvec_push_take(&words, strbuf_take(&word));
	}
	for (size_t i = 0; i < words.count; i++)
		strvec_push_take(ret, TAKE_PTR(words.items[i]));
	return 0;
}

/* In the place of a command's name these words mean something else, in POSIX or in bash. */
static bool is_reserved(const char *word)
{
	static const char *const reserved[] = {
		"case",     "coproc", "do", "done",   "elif", "else", "esac",  "fi",    "for",
		"function", "if",     "in", "select", "then", "time", "until", "while",
	};
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (streq(word, reserved[i]))
			return true;
	return false;
}

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+:,./-"

static bool is_plain(const char *word, bool first)
{
	/* A "=" matters only where a shell looks for assignments: before the command. */
	return *word && *word != '=' && !word[strspn(word, first ? PLAIN : PLAIN "=")] &&
	       !(first && is_reserved(word));
}

char *argjoin(char *const *argv)
{
	struct strbuf line = { 0 };
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			strbuf_adds(&line, " ");
		if (is_plain(argv[i], i == 0)) {
			strbuf_adds(&line, argv[i]);
			continue;
		}
		strbuf_adds(&line, "'");
		for (const char *rest = argv[i]; *rest;) {
			size_t length = strcspn(rest, "'");
			strbuf_add(&line, rest, length);
			rest += length;
			if (*rest) {
				strbuf_adds(&line, "'\\''");
				rest++;
			}
		}
		strbuf_adds(&line, "'");
	}
	return strbuf_take(&line);
}
