/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/role/role-what.h"

#include <string.h>

enum { MAX_TEXT = 2000, COMMIT_DIGITS = 40 };

void role_what_clear(struct role_what *what)
{
	free(what->url);
	free(what->ref);
	free(what->subdir);
	*what = (struct role_what){ 0 };
}

bool role_what_is_commit(const char *ref)
{
	return strlen(ref) == COMMIT_DIGITS && strspn(ref, "0123456789abcdef") == COMMIT_DIGITS;
}

static bool is_plain(const char *text)
{
	for (const char *s = text; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return false;
	return strlen(text) <= MAX_TEXT;
}

/* ---- behind the place ------------------------------------------------------------------------ */

/* A subset of git-check-ref-format(1): nothing in it is an option, a pattern or a way to name
 * another commit. */
static bool is_ref(const char *ref)
{
	return *ref && *ref != '-' && *ref != '/' && *ref != '.' && is_plain(ref) &&
	       !strpbrk(ref, "~^:?*[\\") && !strstr(ref, "..") && !strstr(ref, "@{") &&
	       !strstr(ref, "//") && !strstr(ref, "/.") && !ends_with(ref, "/") &&
	       !ends_with(ref, ".") && !ends_with(ref, ".lock");
}

static bool is_subdir(const char *subdir)
{
	cleanup_free char *copy = xstrdup(subdir);
	char *rest = copy;
	bool is_fine = *subdir && is_plain(subdir);
	for (const char *name; (name = strsep(&rest, "/"));)
		is_fine &= *name && !streq(name, ".") && !streq(name, "..");
	return is_fine;
}

/* rest: "[@REF][#SUBDIR]" */
static int read_rest(const char *rest, struct role_what *what, struct error *err)
{
	cleanup_free char *copy = xstrdup(rest), *shown = visible(rest);
	char *subdir = strchr(copy, '#');
	if (subdir)
		*subdir++ = '\0';
	if (*copy && !is_ref(copy + 1))
		return error_set(err, ERROR_USAGE,
				 "%s: behind @ comes a branch, a tag or a commit with all of its "
				 "digits",
				 shown);
	if (subdir && !is_subdir(subdir))
		return error_set(err, ERROR_USAGE,
				 "%s: behind # comes a directory of the repository, without "
				 ". and ..",
				 shown);
	what->ref = *copy ? xstrdup(copy + 1) : NULL;
	what->subdir = xstrdup_or_null(subdir);
	return 0;
}

/* ---- the place ------------------------------------------------------------------------------- */

static int refuse_scheme(const char *text, struct error *err)
{
	cleanup_free char *shown = visible(text);
	return error_set(err, ERROR_USAGE,
			 "%s: a role comes from https://, ssh://, HOST:PATH or a directory: other "
			 "ways prove nothing about the other side, or run programs",
			 shown);
}

/* USER@HOST, where no part looks like an option. */
static int check_host(const char *host, struct error *err)
{
	const char *at = strrchr(host, '@');
	const char *colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
	const char *name = at ? at + 1 : host;
	if (colon)
		return error_set(err, ERROR_USAGE,
				 "the URL of a role has no password, since others could read it: "
				 "give it to git's credential helper");
	if (!*name || *name == '-' || *host == '-' || *host == '@')
		return error_set(err, ERROR_USAGE, "the URL of a role names its host first");
	return 0;
}

/* The place ends before "@REF" or "#SUBDIR"; an "@" at the beginning of a name is part of it. */
static const char *end_of_path(const char *path)
{
	const char *end = path;
	while (*end && *end != '#' && (*end != '@' || end == path || end[-1] == '/'))
		end++;
	return end;
}

/* "USER@HOST:PATH", as ssh has it.  NULL: it is none; else the colon. */
static const char *colon_of(const char *text)
{
	const char *colon = strchr(text, ':');
	return colon && colon > text && !memchr(text, '/', (size_t)(colon - text)) ? colon : NULL;
}

static int read_url(const char *text, const char *host, struct role_what *what, struct error *err)
{
	const size_t length = strcspn(host, "/");
	cleanup_free char *name = xstrndup(host, length);
	const char *end = end_of_path(host + length);
	/* A name here is a token, which git's arguments and the state would show. */
	if (starts_with(text, "https://") && strchr(name, '@'))
		return error_set(err, ERROR_USAGE,
				 "the URL of a role has no password or token, since others could "
				 "read it: give it to git's credential helper");
	if (starts_with(text, "file://")) {
		if (length)
			return refuse_scheme(text, err);
		what->url = xstrndup(host, (size_t)(end - host));
		what->is_local = true;
	} else {
		if (check_host(name, err) < 0)
			return -1;
		what->url = xstrndup(text, (size_t)(end - text));
	}
	return read_rest(end, what, err);
}

int role_what_read(const char *text, struct role_what *ret, struct error *err)
{
	static const char *const schemes[] = { "https://", "ssh://", "file://" };
	cleanup_role_what struct role_what what = { 0 };
	const char *colon = colon_of(text);
	int r = ROLE_WHAT_PATH;
	if (!colon)
		return r;
	if (!is_plain(text) || colon[1] == ':')
		return refuse_scheme(text, err);
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (starts_with(text, schemes[i]))
			r = read_url(text, text + strlen(schemes[i]), &what, err);
	if (r == ROLE_WHAT_PATH && starts_with(colon, "://"))
		return refuse_scheme(text, err);
	if (r == ROLE_WHAT_PATH) {
		cleanup_free char *host = xstrndup(text, (size_t)(colon - text));
		const char *end = end_of_path(colon + 1);
		what.url = xstrndup(text, (size_t)(end - text));
		r = check_host(host, err) < 0 ? -1 : read_rest(end, &what, err);
	}
	if (r < 0)
		return -1;
	*ret = what;
	what = (struct role_what){ 0 };
	return 0;
}

int role_what_read_path(const char *text, size_t length, struct role_what *ret, struct error *err)
{
	cleanup_role_what struct role_what what = { .url = xstrndup(text, length),
						    .is_local = true };
	if (read_rest(text + length, &what, err) < 0)
		return -1;
	*ret = what;
	what = (struct role_what){ 0 };
	return 0;
}
