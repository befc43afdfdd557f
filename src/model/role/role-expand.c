/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The variables of a devcontainer.json: ${NAME} and ${NAME:ARGUMENT:DEFAULT}.
 */
#include "model/role/role-internal.h"

#include "base/fsutil.h"
#include "base/sha256.h"

#include <string.h>

enum { MAX_EXPANDED = 4096 };

/* The value in a list of NAME=VALUE, NULL: it has none.  Borrowed. */
static const char *value_in(const struct strvec *list, const char *name)
{
	const size_t length = strlen(name);
	for (size_t i = 0; list && i < list->count; i++)
		if (strncmp(list->items[i], name, length) == 0 && list->items[i][length] == '=')
			return list->items[i] + length + 1;
	return NULL;
}

/* What is known of the session's directory.  The caller frees. */
static char *value_of_place(const struct reading *reading, const char *name)
{
	const char *workspace = reading->order->workspace, *inside = reading->role->workspace;
	char digest[SHA256_TEXT_SIZE];
	if (streq(name, "localWorkspaceFolder"))
		return xstrdup(workspace);
	if (streq(name, "localWorkspaceFolderBasename"))
		return xstrdup(path_basename(workspace));
	if (streq(name, "containerWorkspaceFolder"))
		return xstrdup(inside);
	if (streq(name, "containerWorkspaceFolderBasename"))
		return xstrdup(path_basename(inside));
	if (streq(name, "devcontainerId"))
		return xstrdup(sha256_text(workspace, digest));
	return NULL;
}

static bool is_of_environment(const char *name)
{
	return starts_with(name, "localEnv:") || starts_with(name, "env:") ||
	       starts_with(name, "containerEnv:");
}

/* name: what is between the braces, with the kind of environment; it is cut at its colons.  The
 * caller frees.  NULL: it has no value. */
static char *value_of_environment(const struct reading *reading, char *name)
{
	const bool is_local = !starts_with(name, "containerEnv:");
	char *argument = strchr(name, ':') + 1, *otherwise = strchr(argument, ':');
	if (otherwise)
		*otherwise++ = '\0';
	const char *value = value_in(
		is_local ? reading->order->environment : &reading->role->environment, argument);
	return xstrdup_or_null(value ? value : otherwise);
}

/* The variable at start: what is between "${" and end.  What the format does not know stays, such
 * as a variable of the shell. */
static char *value_of(const struct reading *reading, const char *start, const char *end)
{
	cleanup_free char *name = xstrndup(start + 2, (size_t)(end - start - 2));
	if (is_of_environment(name))
		return value_of_environment(reading, name);
	char *value = value_of_place(reading, name);
	return value ? value : xasprintf("${%s}", name);
}

char *role_expand(const struct reading *reading, const char *text, char **ret_unknown)
{
	cleanup_strbuf struct strbuf all = { 0 };
	for (const char *start; (start = strstr(text, "${"));) {
		const char *end = strchr(start, '}');
		if (!end)
			break;
		strbuf_add(&all, text, (size_t)(start - text));
		cleanup_free char *value = value_of(reading, start, end);
		/* Each one can have the earlier ones twice. */
		if (!value || all.length + strlen(value) > MAX_EXPANDED) {
			*ret_unknown = xstrndup(start + 2, (size_t)(end - start - 2));
			return NULL;
		}
		strbuf_adds(&all, value);
		text = end + 1;
	}
	strbuf_adds(&all, text);
	return strbuf_take(&all);
}
