/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * -c 'command': what is refused changes nothing.  What is accepted means the same after it is
 * written and read again, both by us and by another reader of the shell's language (wordexp(3)).
 * Any words at all survive that.
 */
#include "fuzz/fuzz.h"

#include "base/argsplit.h"

#include <wordexp.h>

#define BEFORE "before"

/* glibc's wordexp() takes '' for a separate word wherever it is. */
static bool is_quoted_with_nothing(const char *word)
{
	return *word && (*word == '\'' || ends_with(word, "'") || strstr(word, "''"));
}

static void check_shell(const char *line, const struct strvec *words)
{
	wordexp_t shell;
	for (size_t i = 0; i < words->count; i++)
		if (is_quoted_with_nothing(words->items[i]))
			return;
	HOLDS(wordexp(line, &shell, WRDE_NOCMD | WRDE_UNDEF) == 0);
	HOLDS(shell.we_wordc == words->count);
	for (size_t i = 0; i < words->count; i++)
		HOLDS(streq(shell.we_wordv[i], words->items[i]));
	wordfree(&shell);
}

/* argjoin() promises that a shell and argsplit() read its line alike. */
static void check_line_of(const struct strvec *words)
{
	cleanup_free char *line = argjoin(strvec_argv(words));
	cleanup_strvec struct strvec again = { 0 };
	HOLDS(argsplit(line, &again, NULL) == 0);
	HOLDS(strvec_equal(words, &again));
	check_shell(line, words);
}

/* Any words: the texts between the NULs of the input. */
static void check_words(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	cleanup_strvec struct strvec words = { 0 };
	for (size_t at = 0; at <= size; at += strlen(text + at) + 1)
		strvec_push(&words, text + at);
	check_line_of(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *line = fuzz_text(data, size);
	cleanup_strvec struct strvec words = { 0 };
	struct error err = { 0 };

	strvec_push(&words, BEFORE);
	if (argsplit(line, &words, &err) < 0) {
		HOLDS(err.code == ERROR_USAGE);
		HOLDS(words.count == 1 && streq(words.items[0], BEFORE));
		fuzz_failed(&err);
	} else {
		HOLDS(words.count >= 1 && streq(words.items[0], BEFORE) &&
		      !words.items[words.count]);
		check_line_of(&words);
	}
	check_words(data, size);
	return 0;
}
