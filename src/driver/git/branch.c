/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a branch can go, and its deletion.
 */
#include "base/fsutil.h"
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MOST = 1 << 20 };

#define HEADS "refs/heads/"

void gitcmd_branch_free(struct gitcmd_branch *branch)
{
	free(branch->tip);
	free(branch->upstream);
	strvec_clear(&branch->holders);
	*branch = (struct gitcmd_branch){ 0 };
}

int gitcmd_current_branch(const char *source, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(source, (const char *const[]){ "symbolic-ref", "--quiet", "HEAD", NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	cleanup_free char *name = xstrdup(strbuf_text(&result.output));
	name[strcspn(name, "\n")] = '\0';
	*ret = result.exit_status == 0 && starts_with(name, HEADS) ? xstrdup(name + strlen(HEADS))
								   : NULL;
	return 0;
}

/* ---- who uses it ------------------------------------------------------------------------------ */

/* Git is not asked: an agent in a container writes what is in the record of its work tree, and one
 * such record can make git wait or fail, also about the others. */
struct use {
	const char *ref, *except;
	bool found, is_linked;
};

static int read_line_of(const char *directory, const char *name, char **ret, struct error *err)
{
	cleanup_free char *path = path_join(directory, name);
	cleanup_strbuf struct strbuf text = { 0 };
	const int r = fs_read(AT_FDCWD, path, PATH_MAX, &text, err);
	if (r != 0)
		return r;
	char *line = xstrdup(strbuf_text(&text));
	line[strcspn(line, "\r\n")] = '\0';
	*ret = line;
	return 0;
}

/* Where HEAD is in another place (reftable), or cannot be read, any branch may be checked out. */
static bool is_checked_out(const char *directory, const char *ref)
{
	cleanup_free char *head = NULL;
	cleanup_error struct error why = { 0 };
	const int r = read_line_of(directory, "HEAD", &head, &why);
	if (r != 0)
		return r < 0 && why.code != ERROR_CORRUPT;
	return starts_with(head, "ref: ") && (streq(head + strlen("ref: "), ref) ||
					      streq(head + strlen("ref: "), HEADS ".invalid"));
}

static bool is_record_of(const char *directory, const char *tree)
{
	cleanup_free char *line = NULL;
	return tree && read_line_of(directory, "gitdir", &line, NULL) == 0 &&
	       starts_with(line, tree) && streq(line + strlen(tree), "/.git");
}

/* A rebase or a bisection moves it, or goes back to it, at its end: then no HEAD names it. */
static bool is_named_in(const char *directory, const char *ref)
{
	static const char *const files[] = { "rebase-merge/head-name", "rebase-merge/update-refs",
					     "rebase-apply/head-name", "BISECT_START" };
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = path_join(directory, files[i]);
		cleanup_strbuf struct strbuf text = { 0 };
		const char *name = streq(files[i], "BISECT_START") ? ref + strlen(HEADS) : ref;
		if (access(path, F_OK) == 0 &&
		    (fs_read(AT_FDCWD, path, NAMES_MOST, &text, NULL) != 0 ||
		     strstr(strbuf_text(&text), name)))
			return true;
	}
	return false;
}

static int look_for_use(const char *source, struct use *use, struct error *err)
{
	cleanup_gitcmd_repository struct gitcmd_repository repository = { 0 };
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = -1;
	int r = gitcmd_find(source, &repository, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_NOT_FOUND,
					 "the repository does not exist any more");
	cleanup_free char *all = path_join(repository.common, "worktrees");
	fd = fs_openat(AT_FDCWD, all, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd >= 0 && fs_list(fd, &names, err) < 0)
		return -1;
	use->found = is_checked_out(repository.common, use->ref) ||
		     is_named_in(repository.common, use->ref);
	for (size_t i = 0; i < names.count && !use->is_linked; i++) {
		cleanup_free char *directory = path_join(all, names.items[i]);
		use->is_linked = is_named_in(directory, use->ref) ||
				 (!is_record_of(directory, use->except) &&
				  is_checked_out(directory, use->ref));
	}
	use->found |= use->is_linked;
	return 0;
}

/* ---- who has its commit ----------------------------------------------------------------------- */

static void push_name(const char *line, void *context)
{
	strvec_push(context, line);
}

/* Refs that everybody of the repository sees, but for stashes and notes. */
int gitcmd_find_holders(const char *source, const char *commit, struct strvec *ret,
			struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source,
			    (const char *const[]){ "for-each-ref", "--format=%(refname)",
						   "--contains", commit, "refs/heads",
						   "refs/remotes", "refs/tags", NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	gitcmd_each_line(&result.output, push_name, ret);
	return 0;
}

static int find_others(const char *source, const char *ref, struct gitcmd_branch *branch,
		       struct error *err)
{
	cleanup_strvec struct strvec all = { 0 };
	if (gitcmd_find_holders(source, branch->tip, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.count; i++)
		if (!streq(all.items[i], ref))
			strvec_push(&branch->holders, all.items[i]);
	return 0;
}

static int find_upstream(const char *source, const char *ref, struct gitcmd_branch *branch,
			 struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source,
			    (const char *const[]){ "for-each-ref",
						   "--format=%(upstream) %(upstream:track)", ref,
						   NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	cleanup_free char *name = xstrdup(strbuf_text(&result.output));
	branch->is_upstream_gone = strstr(name, " [gone]\n");
	name[strcspn(name, " \n")] = '\0';
	branch->upstream = *name ? TAKE_PTR(name) : NULL;
	return 0;
}

int gitcmd_look_at_branch(const char *source, const char *name, const char *except,
			  struct gitcmd_branch *ret, struct error *err)
{
	cleanup_gitcmd_branch struct gitcmd_branch branch = { 0 };
	cleanup_free char *ref = xasprintf(HEADS "%s", name);
	struct use use = { .ref = ref, .except = except };
	int r = gitcmd_find_branch(source, name, &branch.tip, err);
	if (r < 0)
		return -1;
	if (r == 0 &&
	    (find_upstream(source, ref, &branch, err) < 0 ||
	     find_others(source, ref, &branch, err) < 0 || look_for_use(source, &use, err) < 0))
		return -1;
	branch.is_used = use.found;
	branch.is_linked = use.is_linked;
	*ret = branch;
	branch = (struct gitcmd_branch){ 0 };
	return 0;
}

int gitcmd_list_branches(const char *source, const char *prefix, struct strvec *ret,
			 struct error *err)
{
	cleanup_free char *refs = xasprintf(HEADS "%s", prefix);
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source,
			    (const char *const[]){ "for-each-ref", "--format=%(refname:lstrip=2)",
						   refs, NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	gitcmd_each_line(&result.output, push_name, ret);
	return 0;
}

int gitcmd_count_commits(const char *repository, const char *base, const char *branch, int64_t *ret,
			 struct error *err)
{
	cleanup_free char *range = xasprintf("%s.." HEADS "%s", base, branch);
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(repository,
			    (const char *const[]){ "rev-list", "--count", range, "--", NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	cleanup_free char *line = xstrdup(strbuf_text(&result.output));
	line[strcspn(line, "\n")] = '\0';
	return parse_int64(line, 0, INT64_MAX, ret)
		       ? 0
		       : error_set(err, ERROR_CHILD, "git rev-list: unexpected answer");
}

int gitcmd_delete_branch(const char *source, const char *name, const char *tip, struct error *err)
{
	cleanup_free char *ref = xasprintf(HEADS "%s", name);
	cleanup_free char *section = xasprintf("branch.%s", name);
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source,
			    (const char *const[]){ "update-ref", "--no-deref", "-d", ref, tip,
						   NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	/* Usually nothing is there. */
	cleanup_child_result struct child_result ignored = { 0 };
	return gitcmd_run(source,
			  (const char *const[]){ "config", "--local", "--remove-section", section,
						 NULL },
			  GITCMD_ASK_MS, &ignored, err);
}
