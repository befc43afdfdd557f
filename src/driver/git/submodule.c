/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commits of submodules, between the Git directories that hold them: a commit of their repository
 * only names them.
 */
#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHA1_LENGTH = 40 };

#define KEPT "refs/agentdeck/"

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
		if (!(ret->count & (ret->count - 1))) /* 0, 1, 2, 4, ... */
			ret->items = xreallocarray(ret->items, ret->count ? 2 * ret->count : 1,
						   sizeof(*ret->items));
		ret->items[ret->count++] = (struct gitcmd_link){ .path = xstrdup(path),
								 .commit = xstrdup(commit) };
	}
}

/* The name becomes a path below the Git directory, and must not leave it. */
static bool is_name(const char *name)
{
	cleanup_free char *framed = xasprintf("/%s/", name);
	return *name && !strstr(framed, "//") && !strstr(framed, "/../") && !strstr(framed, "/./");
}

static int compare_links(const void *a, const void *b)
{
	return strcmp(((const struct gitcmd_link *)a)->path, ((const struct gitcmd_link *)b)->path);
}

/* NULL: none is there. */
static struct gitcmd_link *find_link(const struct gitcmd_links *links, const char *path)
{
	const struct gitcmd_link wanted = { .path = (char *)path };
	return links->count
		       ? bsearch(&wanted, links->items, links->count, sizeof(wanted), compare_links)
		       : NULL;
}

/* "submodule.NAME.path", a newline and the path, each.  An agent can write many of them. */
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
		struct gitcmd_link *link = find_link(links, path + 1);
		if (link && is_name(key + strlen(prefix)))
			replace_string(&link->name, key + strlen(prefix));
	}
}

/* The tree without files, whose name depends on the repository's kind of digest. */
static int find_nothing(const char *repository, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(repository,
			    (const char *const[]){ "hash-object", "-t", "tree", "/dev/null", NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	*ret = xstrdup(strbuf_text(&result.output));
	(*ret)[strcspn(*ret, "\n")] = '\0';
	return 0;
}

int gitcmd_list_links(const char *repository, const char *before, const char *after,
		      struct gitcmd_links *ret, struct error *err)
{
	cleanup_gitcmd_links struct gitcmd_links links = { 0 };
	cleanup_child_result struct child_result differences = { 0 }, names = { 0 };
	cleanup_free char *blob = xasprintf("%s:.gitmodules", after), *nothing = NULL;
	if (!before && find_nothing(repository, &nothing, err) < 0)
		return -1;
	if (gitcmd_must_run(repository,
			    (const char *const[]){ "diff-tree", "-r", "-z", "--no-renames",
						   "--ignore-submodules=none",
						   before ? before : nothing, after, NULL },
			    GITCMD_ASK_MS, &differences, err) < 0)
		return -1;
	take_links(&differences.output, &links);
	if (links.count)
		qsort(links.items, links.count, sizeof(*links.items), compare_links);
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

static int fetch(const char *store, const char *from, const char *commit, int64_t deadline_ms,
		 struct error *err)
{
	cleanup_free char *what = xasprintf("%s:" KEPT "%s", commit, commit);
	return gitcmd_must_run(
		store,
		(const char *const[]){ "-c", "protocol.version=2", "fetch", "--quiet", "--no-tags",
				       "--no-write-fetch-head", "--no-recurse-submodules",
				       "--no-auto-gc", "--", from, what, NULL },
		clock_left_ms(deadline_ms), NULL, err);
}

/* Make the directory as git does when it clones a submodule, so that `git submodule update --init`
 * takes it. */
static int make(const char *store, const char *from, const char *commit, int64_t deadline_ms,
		struct error *err)
{
	cleanup_free char *part = xasprintf("%s.agentdeck-part", store);
	const char *format = strlen(commit) == SHA1_LENGTH ? "--object-format=sha1"
							   : "--object-format=sha256";
	if (fs_remove_tree(AT_FDCWD, part, err) < 0 ||
	    gitcmd_must_run("/",
			    (const char *const[]){ "init", "--quiet", "--bare",
						   "--template=", format, "--", part, NULL },
			    GITCMD_ASK_MS, NULL, err) < 0 ||
	    gitcmd_must_run(part, (const char *const[]){ "config", "core.bare", "false", NULL },
			    GITCMD_ASK_MS, NULL, err) < 0 ||
	    fetch(part, from, commit, deadline_ms, err) < 0)
		return -1;
	return rename(part, store) < 0 ? error_set_file(err, errno, "make %s", store) : 0;
}

int gitcmd_fetch_link(const char *store, const char *from, const char *commit, int64_t deadline_ms,
		      struct error *err)
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
	return is_there ? fetch(store, from, commit, deadline_ms, err)
			: make(store, from, commit, deadline_ms, err);
}
