/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/foreign-internal.h"

#include "base/argsplit.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

char *foreign_xdg(const struct foreign_place *place, const char *variable, const char *fallback,
		  const char *name)
{
	const char *value = place->lookup(variable);
	if (is_empty(value) || *value != '/')
		return xasprintf("%s/%s/%s", place->home, fallback, name);
	return path_join(value, name);
}

bool foreign_exists(const char *path)
{
	return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

int foreign_open_directory(const char *path, int *ret, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return FOREIGN_ABSENT;
	if (fd < 0)
		return error_set_file(err, errno, "open %s", path);
	*ret = fd;
	return 0;
}

int foreign_read(const char *path, struct strbuf *ret, struct error *err)
{
	cleanup_free char *real = realpath(path, NULL);
	if (!real && (errno == ENOENT || errno == ENOTDIR))
		return FOREIGN_ABSENT;
	if (!real)
		return error_set_file(err, errno, "open %s", path);
	const int r = fs_read(AT_FDCWD, real, FOREIGN_MAX_FILE, ret, err);
	return r > 0 ? FOREIGN_ABSENT : r;
}

int foreign_json(const char *path, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const int r = foreign_read(path, &text, err);
	if (r != 0)
		return r;
	return json_parse(strbuf_text(&text), text.length, path, ret, err);
}

char *foreign_origin(const char *source, const char *path, const char *id)
{
	cleanup_free char *real = realpath(path, NULL);
	return xasprintf("%s:%s:%s", source, real ? real : path, id);
}

/* How far the time's zone is ahead of UTC, in microseconds: "...+02:00". */
static int64_t zone_of(const char *text)
{
	int hours, minutes;
	char sign;
	const char *rest = strlen(text) > 19 ? text + 19 : "";
	rest += strspn(rest, ".0123456789");
	if (sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) != 3 || (sign != '+' && sign != '-'))
		return 0;
	const int64_t ahead = ((int64_t)hours * 60 + minutes) * 60 * 1000000;
	return sign == '+' ? ahead : -ahead;
}

int64_t foreign_time(const struct json_object *object, const char *key)
{
	const char *text = json_get_string(object, key, NULL);
	const int64_t seconds = json_get_int(object, key, 0);
	if (text) {
		/* Fractions of a second have many forms, and do not matter. */
		cleanup_free char *whole = xasprintf("%.19sZ", text);
		const int64_t time = clock_parse(whole);
		return time > 0 ? time - zone_of(text) : 0;
	}
	return seconds > 0 && seconds < INT64_MAX / 1000000 ? seconds * 1000000 : 0;
}

void foreign_split(const char *line, struct strvec *ret)
{
	static const char shell[] = "/bin/sh";
	if (argsplit(line, ret, NULL) == 0)
		return;
	strvec_push(ret, shell);
	strvec_push(ret, "-c");
	strvec_push(ret, line);
}

void foreign_split_blanks(const char *line, struct strvec *ret)
{
	cleanup_free char *copy = xstrdup(line);
	char *rest = copy;
	for (char *word; (word = strsep(&rest, " \t\n"));)
		if (*word)
			strvec_push(ret, word);
}

void foreign_take_pane(const char *pane, struct import_row *row)
{
	const char *dot = strrchr(pane, '.');
	const char *colon = strrchr(pane, ':');
	row->title = dot ? xstrndup(pane, (size_t)(dot - pane)) : xstrdup(pane);
	if (colon)
		row->group = xstrndup(pane, (size_t)(colon - pane));
	/* A slash in the group's name does not make it two groups. */
	for (char *c = row->group; c && *c; c++)
		if (*c == '/')
			*c = ' ';
}

char *foreign_expand(const struct foreign_place *place, const char *path)
{
	if (streq(path, "~") || starts_with(path, "~/"))
		return xasprintf("%s%s", place->home, path + 1);
	return xstrdup(path);
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (streq(word, *list))
			return true;
	return false;
}

/* How many words at the index name a conversation: an option and the id behind it. */
static size_t count_id_words(const struct strvec *words, size_t index)
{
	static const char *const options[] = { "--resume", "-r", "resume", "--session-id", NULL };
	if (!is_one_of(words->items[index], options) || index + 1 >= words->count)
		return 0;
	return naming_is_uuid(words->items[index + 1]) ? 2 : 0;
}

/* "--option=value" or "--option", "value". */
static size_t count_pair(const char *option, const char *value, const char *word, const char *next)
{
	const size_t length = strlen(option);
	if (streq(word, option))
		return streq(next, value) ? 2 : 0;
	return starts_with(word, option) && word[length] == '=' && streq(word + length + 1, value);
}

/* The "-y" of this program is about the installation of the agent. */
#define INSTALLER "npx"

/* How many words at the index make an agent ask for no permission.  program: the agent's. */
static size_t count_danger_words(const struct strvec *words, size_t index, const char *program)
{
	static const char *const alone[] = { "--yolo",
					     "--dangerously-skip-permissions",
					     "--allow-dangerously-skip-permissions",
					     "--dangerously-bypass-approvals-and-sandbox",
					     "--dangerously-allow-all",
					     "--allow-all-tools",
					     "--skip-permissions-unsafe",
					     "--yes-always",
					     NULL };
	static const char *const pairs[][2] = {
		{ "--permission-mode", "bypassPermissions" },
		{ "--approval-mode", "yolo" },
		{ "--ask-for-approval", "never" },
		{ "-a", "never" },
		{ "--sandbox", "danger-full-access" },
		{ "-s", "danger-full-access" },
	};
	const char *word = words->items[index];
	const char *next = or_empty(index + 1 < words->count ? words->items[index + 1] : NULL);
	size_t count = is_one_of(word, alone) ||
		       (streq(word, "-y") && !streq(path_basename(program), INSTALLER));
	for (size_t i = 0; !count && i < ARRAY_SIZE(pairs); i++)
		count = count_pair(pairs[i][0], pairs[i][1], word, next);
	return count;
}

/* A line that a shell reads cannot be taken apart: look for such words, whatever their quotes. */
static bool is_dangerous_line(const char *line)
{
	cleanup_free char *plain = xstrdup(line);
	cleanup_strvec struct strvec words = { 0 };
	for (char *c = plain; *c; c++)
		if (strchr("'\"\\;&|()", *c))
			*c = ' ';
	foreign_split_blanks(plain, &words);
	for (size_t i = 0; i < words.count; i++)
		if (count_danger_words(&words, i, strstr(line, INSTALLER) ? INSTALLER : ""))
			return true;
	return false;
}

void foreign_take_arguments(const struct strvec *words, struct import_row *row)
{
	const char *program = row->argv.count ? row->argv.items[0] : or_empty(row->tool);
	for (size_t i = 0; i < words->count;) {
		const size_t ids = count_id_words(words, i);
		const size_t dangers = count_danger_words(words, i, program);
		if (ids)
			import_row_add_id(row, words->items[i + 1]);
		for (size_t j = 0; j < dangers; j++)
			strvec_push(&row->dangers, words->items[i + j]);
		if (!ids && !dangers)
			strvec_push(&row->arguments, words->items[i]);
		i += ids + dangers ? ids + dangers : 1;
	}
}

void foreign_take_line(const char *line, struct import_row *row)
{
	cleanup_strvec struct strvec words = { 0 }, arguments = { 0 };
	if (argsplit(line, &words, NULL) < 0) {
		foreign_split(line, &row->argv);
		row->is_dangerous = is_dangerous_line(line);
		replace_string(&row->tool, NULL);
		strvec_pushf(&row->told, "its command line needs a shell: it is a plain command");
		return;
	}
	for (size_t i = 0; i < words.count; i++)
		strvec_push(i ? &arguments : &row->argv, words.items[i]);
	foreign_take_arguments(&arguments, row);
}

/* A word without a dash is the value of the option before it, and of nothing else. */
static bool is_clear(const struct strvec *words)
{
	for (size_t i = 0; i < words->count; i++) {
		if (count_id_words(words, i))
			i++;
		else if (*words->items[i] != '-' && (i == 0 || *words->items[i - 1] != '-'))
			return false;
	}
	return true;
}

void foreign_take_unquoted(const char *line, struct import_row *row)
{
	cleanup_strvec struct strvec words = { 0 };
	foreign_split_blanks(line, &words);
	if (is_clear(&words))
		foreign_take_arguments(&words, row);
	else
		strvec_pushf(&row->told,
			     "its arguments have lost their quotes, and are not taken: %s", line);
}
