/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commits of submodules, between the Git directories that hold them: a commit of their repository
 * only names them.
 */
#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FETCH_MS = 60 * 60 * 1000 };

#define NO_FILES "4b825dc642cb6eb9a060e54bf8d69288fbee4904" /* the tree that git has for it */
#define KEPT     "refs/agentdeck/"

void gitcmd_links_free(struct gitcmd_links *links)
{
	for (size_t i = 0; i < links->count; i++) {
		free(links->items[i].path);
		free(links->items[i].name);
		free(links->items[i].commit);
	}
	free(links->items);
	*links = (struct gitcmd_links){ 0 };
}

/* A text of an output that has a NUL behind each.  NULL: there is none left. */
static const char *next_text(const struct strbuf *output, size_t *at)
{
	const char *text = *at < output->length ? output->data + *at : NULL;
	if (text)
		*at += strlen(text) + 1;
	return text;
}

/* ":160000 160000 OLD NEW M" and a path, each. */
static void take_links(const struct strbuf *output, struct gitcmd_links *ret)
{
	size_t at = 0;
	for (const char *head, *path;
	     (head = next_text(output, &at)) && (path = next_text(output, &at));) {
		char mode[8], commit[65];
		if (sscanf(head, ":%*7s %7s %*64s %64s", mode, commit) != 2 ||
		    !streq(mode, "160000"))
			continue;
		ret->items = xreallocarray(ret->items, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count++] = (struct gitcmd_link){ .path = xstrdup(path),
								 .commit = xstrdup(commit) };
	}
}

/* It becomes a path below the Git directory. */
static bool is_name(const char *name)
{
	cleanup_free char *framed = xasprintf("/%s/", name);
	return *name && !strstr(framed, "//") && !strstr(framed, "/../") && !strstr(framed, "/./");
}

/* "submodule.NAME.path", a newline and the path, each. */
static void take_names(const struct strbuf *output, struct gitcmd_links *links)
{
	static const char prefix[] = "submodule.", suffix[] = ".path";
	size_t at = 0;
	for (const char *text; (text = next_text(output, &at));) {
		const char *path = strchr(text, '\n');
		cleanup_free char *key = path ? xstrndup(text, (size_t)(path - text)) : NULL;
		if (!key || !starts_with(key, prefix) || !ends_with(key, suffix) ||
		    strlen(key) < sizeof(prefix) + sizeof(suffix) - 1)
			continue;
		key[strlen(key) - strlen(suffix)] = '\0';
		for (size_t i = 0; i < links->count; i++)
			if (streq(links->items[i].path, path + 1) && is_name(key + strlen(prefix)))
				replace_string(&links->items[i].name, key + strlen(prefix));
	}
}

int gitcmd_list_links(const char *repository, const char *before, const char *after,
		      struct gitcmd_links *ret, struct error *err)
{
	cleanup_gitcmd_links struct gitcmd_links links = { 0 };
	cleanup_child_result struct child_result differences = { 0 }, names = { 0 };
	cleanup_free char *blob = xasprintf("%s:.gitmodules", after);
	if (gitcmd_must_run(repository,
			    (const char *const[]){ "diff-tree", "-r", "-z", "--no-renames",
						   "--ignore-submodules=none",
						   before ? before : NO_FILES, after, NULL },
			    GITCMD_ASK_MS, &differences, err) < 0)
		return -1;
	take_links(&differences.output, &links);
	/* Without that file, none has a name. */
	if (links.count &&
	    gitcmd_run(repository,
		       (const char *const[]){ "config", "--blob", blob, "-z", "--get-regexp",
					      "^submodule\\..*\\.path$", NULL },
		       GITCMD_ASK_MS, &names, err) < 0)
		return -1;
	take_names(&names.output, &links);
	*ret = links;
	links = (struct gitcmd_links){ 0 };
	return 0;
}

/* ---- fetching -------------------------------------------------------------------------------- */

static int fetch(const char *store, const char *from, const char *commit, struct error *err)
{
	cleanup_free char *what = xasprintf("%s:" KEPT "%s", commit, commit);
	return gitcmd_must_run(
		store,
		(const char *const[]){ "-c", "protocol.version=2", "fetch", "--quiet", "--no-tags",
				       "--no-write-fetch-head", "--no-recurse-submodules",
				       "--no-auto-gc", "--", from, what, NULL },
		FETCH_MS, NULL, err);
}

/* As git makes it when it clones a submodule, so that `git submodule update --init` takes it. */
static int make(const char *store, const char *from, const char *commit, struct error *err)
{
	cleanup_free char *part = xasprintf("%s.agentdeck-part", store);
	if (fs_remove_tree(AT_FDCWD, part, err) < 0 ||
	    gitcmd_must_run("/",
			    (const char *const[]){ "init", "--quiet", "--bare", "--template=", "--",
						   part, NULL },
			    GITCMD_ASK_MS, NULL, err) < 0 ||
	    gitcmd_must_run(part, (const char *const[]){ "config", "core.bare", "false", NULL },
			    GITCMD_ASK_MS, NULL, err) < 0 ||
	    fetch(part, from, commit, err) < 0)
		return -1;
	return rename(part, store) < 0 ? error_set_file(err, errno, "make %s", store) : 0;
}

int gitcmd_fetch_link(const char *store, const char *from, const char *commit, struct error *err)
{
	bool has = false;
	const bool is_there = access(store, F_OK) == 0;
	if (is_there && gitcmd_has_commit(store, commit, &has, err) < 0)
		return -1;
	if (has)
		return 0;
	if (!from)
		return GIT_ABSENT;
	if (gitcmd_check_confined(from, err) < 0)
		return -1;
	return is_there ? fetch(store, from, commit, err) : make(store, from, commit, err);
}
