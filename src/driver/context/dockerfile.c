/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/context/dockerfile.h"

#include <string.h>
#include <strings.h>

static const char blank[] = " \t\r";

void dockerfile_bases_clear(struct dockerfile_bases *bases)
{
	strvec_clear(&bases->all);
	free(bases->last);
	*bases = (struct dockerfile_bases){ 0 };
}

struct stages {
	struct strvec names, bases; /* of each named stage; a base of none is "" */
};

/* The image behind a word after FROM, "" for none. */
static const char *base_of(const struct stages *stages, const char *word)
{
	for (size_t i = 0; i < stages->names.count; i++)
		if (strcasecmp(stages->names.items[i], word) == 0)
			return stages->bases.items[i];
	return strchr(word, '$') || streq(word, "scratch") ? "" : word;
}

/* [--OPTION=...] IMAGE [AS NAME] */
static void read_from(char *words, struct stages *stages, struct dockerfile_bases *ret)
{
	const char *image = NULL, *word, *name = NULL;
	while ((word = strsep(&words, blank))) {
		if (!*word || (!image && starts_with(word, "--")))
			continue;
		if (!image)
			image = word;
		else if (strcasecmp(word, "as") != 0)
			name = word;
	}
	if (!image)
		return;
	cleanup_free char *base = xstrdup(base_of(stages, image));
	if (*base && !strvec_contains(&ret->all, base))
		strvec_push(&ret->all, base);
	replace_string(&ret->last, *base ? base : NULL);
	if (!name)
		return;
	strvec_push(&stages->names, name);
	strvec_push(&stages->bases, base);
}

/* The word that ends the text that begins in the next line, "<<EOF"; NULL: none.  The caller
 * frees. */
static char *here_text(const char *line)
{
	const char *at = strstr(line, "<<");
	if (!at)
		return NULL;
	at += 2 + (at[2] == '-');
	at += *at == '"' || *at == '\'';
	const size_t length = strcspn(at, " \t\r\"'<>;|&()");
	return length ? xstrndup(at, length) : NULL;
}

static bool goes_on(const char *line)
{
	size_t length = strlen(line);
	while (length && strchr(blank, line[length - 1]))
		length--;
	return length && line[length - 1] == '\\';
}

void dockerfile_read_bases(const char *text, struct dockerfile_bases *ret)
{
	cleanup_free char *copy = xstrdup(text), *until = NULL;
	struct stages stages = { 0 };
	char *rest = copy;
	bool is_first = true; /* line of an instruction */
	*ret = (struct dockerfile_bases){ 0 };
	for (char *line; (line = strsep(&rest, "\n"));) {
		line += strspn(line, blank);
		if (until) {
			line[strcspn(line, "\r")] = '\0';
			if (streq(line, until))
				replace_string(&until, NULL);
			continue;
		}
		/* A comment may be between the lines of an instruction. */
		if (*line == '#' || !*line)
			continue;
		if (is_first && strncasecmp(line, "FROM", 4) == 0 && line[4] &&
		    strchr(blank, line[4]))
			read_from(line + 4, &stages, ret);
		else
			until = here_text(line);
		is_first = !goes_on(line);
	}
	strvec_clear(&stages.names);
	strvec_clear(&stages.bases);
}
