/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/tmux/tmux-userconf.h"

#include "base/fsutil.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 10 };

#define BLANK " \t\r"

void tmux_choices_free(struct tmux_choices *choices)
{
	free(choices->prefix);
	free(choices->prefix2);
	free(choices->mode_keys);
	free(choices->status_keys);
	*choices = (struct tmux_choices){ 0 };
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && !streq(*words, word))
		words++;
	return *words != NULL;
}

/* A key that every tmux knows; an unknown one would be an error on the agent's screen. */
static bool is_key(const char *word)
{
	static const char *const names[] = {
		"None", "Space", "Tab",    "Enter", "Escape", "BSpace", "F1",    "F2",  "F3",
		"F4",   "F5",    "F6",     "F7",    "F8",     "F9",     "F10",   "F11", "F12",
		"Home", "End",   "PageUp", "Up",    "Down",   "Left",   "Right", NULL
	};
	while (word[0] && word[1] == '-' && strchr("CMS", word[0]) && word[2])
		word += 2;
	return is_one_of(word, names) || (isgraph((unsigned char)word[0]) && !word[1]);
}

static bool is_style(const char *word)
{
	return is_one_of(word, (const char *const[]){ "vi", "emacs", NULL });
}

/* "-g", "-gq", "-gw": the global option, and nothing that makes it another one. */
static bool is_global_flag(const char *word)
{
	return word[0] == '-' && strchr(word, 'g') && word[1 + strspn(word + 1, "gqw")] == '\0';
}

/* Without its quotes, if it has them on both sides and none inside. */
static char *unquote(char *word)
{
	const size_t length = strlen(word);
	const char quote = word[0];
	if (length < 2 || (quote != '"' && quote != '\'') || word[length - 1] != quote)
		return strpbrk(word, "\"'\\$~{};") ? NULL : word;
	word[length - 1] = '\0';
	return strpbrk(word + 1, "\"'\\$") ? NULL : word + 1;
}

static char *next_word(char **rest)
{
	char *start = *rest + strspn(*rest, BLANK);
	if (!*start)
		return NULL;
	char *end = start + strcspn(start, BLANK);
	*rest = *end ? end + 1 : end;
	*end = '\0';
	return start;
}

static void take_line(char *line, struct tmux_choices *ret)
{
	static const char *const commands[] = { "set", "set-option", "setw", "set-window-option",
						NULL };
	const struct {
		const char *name;
		char **value;
		bool (*is_valid)(const char *word);
	} options[] = {
		{ "prefix", &ret->prefix, is_key },
		{ "prefix2", &ret->prefix2, is_key },
		{ "mode-keys", &ret->mode_keys, is_style },
		{ "status-keys", &ret->status_keys, is_style },
	};
	const char *command = next_word(&line), *flag = next_word(&line), *name = next_word(&line);
	char *value = next_word(&line);
	const char *more = next_word(&line);
	if (!value || !is_one_of(command, commands) || !is_global_flag(flag) ||
	    (more && *more != '#'))
		return;
	value = unquote(value);
	for (size_t i = 0; value && i < ARRAY_SIZE(options); i++)
		if (streq(options[i].name, name) && options[i].is_valid(value))
			replace_string(options[i].value, value);
}

static bool ends_in(const char *line, char last)
{
	size_t length = strlen(line);
	while (length > 0 && strchr(BLANK, line[length - 1]))
		length--;
	return length > 0 && line[length - 1] == last;
}

void tmux_choices_parse(const char *text, struct tmux_choices *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	unsigned conditions = 0, blocks = 0;
	bool goes_on = false;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *start = line + strspn(line, BLANK);
		const bool is_continued = goes_on;
		goes_on = ends_in(line, '\\');
		if (is_continued || goes_on)
			continue;
		if (starts_with(start, "%if"))
			conditions++;
		else if (starts_with(start, "%endif"))
			conditions -= conditions > 0;
		if (*start == '}')
			blocks -= blocks > 0;
		if (*start != '#' && ends_in(line, '{'))
			blocks++;
		else if (!conditions && !blocks)
			take_line(line, ret);
	}
}

/* People keep these files elsewhere and link to them. */
static void read_one(const char *name, struct tmux_choices *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = realpath(name, NULL);
	if (path && fs_check_owner(path, NULL) == 0 &&
	    fs_read(AT_FDCWD, path, FILE_MAX, &text, NULL) == 0 &&
	    strlen(strbuf_text(&text)) == text.length)
		tmux_choices_parse(strbuf_text(&text), ret);
}

void tmux_choices_read(const char *home, struct tmux_choices *ret)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	cleanup_free char *own = path_join(home, ".tmux.conf");
	cleanup_free char *usual = path_join(home, ".config/tmux/tmux.conf");
	cleanup_free char *placed = is_empty(xdg) ? NULL : path_join(xdg, "tmux/tmux.conf");
	read_one("/etc/tmux.conf", ret);
	read_one(own, ret);
	if (placed && !streq(placed, usual))
		read_one(placed, ret);
	read_one(usual, ret);
}
