/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bringing the work of another tree home.  A merge is made as objects first, so a conflict touches
 * nothing, and a kill leaves what `git gc` collects.  One step takes it over: a fast-forward.
 */
#include "driver/git/git-internal.h"
#include "driver/git/git.h"

#include <string.h>

enum { HOME_MS = 60 * 60 * 1000, IS_NOT = 1, HAS_CONFLICTS = 1, EXIT_USAGE = 129 };

#define HEADS "refs/heads/"

static char *first_line(const struct child_result *result)
{
	char *line = xstrdup(strbuf_text(&result->output));
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static int ask_line(const char *source, const char *const *words, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source, words, HOME_MS, &result, err) < 0)
		return -1;
	*ret = first_line(&result);
	return 0;
}

int gitcmd_setting(const char *source, const char *key, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(source, (const char *const[]){ "config", "--get", key, NULL }, GITCMD_ASK_MS,
		       &result, err) < 0)
		return -1;
	cleanup_free char *line = first_line(&result);
	*ret = result.exit_status == 0 && *line ? TAKE_PTR(line) : NULL;
	return 0;
}

int gitcmd_list_remotes(const char *source, struct strvec *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source, (const char *const[]){ "remote", NULL }, GITCMD_ASK_MS, &result,
			    err) < 0)
		return -1;
	cleanup_free char *lines = xstrdup(strbuf_text(&result.output));
	char *rest = lines;
	for (const char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			strvec_push(ret, line);
	return 0;
}

int gitcmd_is_ancestor(const char *source, const char *one, const char *other, bool *ret,
		       struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(source,
		       (const char *const[]){ "merge-base", "--is-ancestor", one, other, NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	cleanup_free char *words = child_last_words(&result);
	if (result.exit_status > IS_NOT)
		return error_set(err, ERROR_CHILD, "git merge-base: %s", words);
	*ret = result.exit_status == 0;
	return 0;
}

/* upload-pack, on the other side, is made for a repository of others. */
int gitcmd_fetch_home(const char *source, const char *clone, struct error *err)
{
	return gitcmd_check_confined(clone, err) < 0
		       ? -1
		       : gitcmd_must_run(source,
					 (const char *const[]){
						 "fetch", "--quiet", "--no-tags",
						 "--no-write-fetch-head", "--no-recurse-submodules",
						 "--no-auto-gc", "--", clone, "HEAD", NULL },
					 HOME_MS, NULL, err);
}

/* ---- the commit ------------------------------------------------------------------------------ */

static void push_name(const char *line, void *context)
{
	struct strvec *names = context;
	if (*line)
		strvec_push(names, line);
}

/* The files of the merge.  Git 2.38 or newer. */
static int write_tree(const char *source, const struct gitcmd_merge *merge, char **ret,
		      struct strvec *ret_conflicts, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	if (gitcmd_run(source,
		       (const char *const[]){ "merge-tree", "--write-tree", "--name-only",
					      "--no-messages", merge->ours, merge->theirs, NULL },
		       HOME_MS, &result, err) < 0)
		return -1;
	cleanup_free char *words = child_last_words(&result);
	if (result.exit_status == EXIT_USAGE)
		return error_set(
			err, ERROR_UNAVAILABLE,
			"git 2.38 or newer is needed to merge without touching your files");
	if (result.exit_status > HAS_CONFLICTS)
		return error_set(err, ERROR_CHILD, "git merge-tree: %s", words);
	gitcmd_each_line(&result.output, push_name, &lines);
	for (size_t i = 1; i < lines.count && result.exit_status == HAS_CONFLICTS; i++)
		strvec_push(ret_conflicts, lines.items[i]);
	if (result.exit_status == HAS_CONFLICTS)
		return GIT_CONFLICT;
	*ret = first_line(&result);
	return 0;
}

static int is_signed(const char *source, bool *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(source,
		       (const char *const[]){ "config", "--type=bool", "--get", "commit.gpgSign",
					      NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	*ret = starts_with(strbuf_text(&result.output), "true");
	return 0;
}

static int write_commit(const char *source, const struct gitcmd_merge *merge, const char *tree,
			char **ret, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	bool sign = false;
	if (is_signed(source, &sign, err) < 0)
		return -1;
	strvec_push_array(&words,
			  (const char *const[]){ "commit-tree", tree, "-p", merge->ours, NULL });
	if (!merge->is_squash)
		strvec_push_array(&words, (const char *const[]){ "-p", merge->theirs, NULL });
	if (sign)
		strvec_push(&words, "-S");
	strvec_push_array(&words, (const char *const[]){ "-m", merge->message, NULL });
	return ask_line(source, (const char *const *)strvec_argv(&words), ret, err);
}

int gitcmd_make_merge(const char *source, const struct gitcmd_merge *merge, char **ret,
		      struct strvec *ret_conflicts, struct error *err)
{
	cleanup_free char *tree = NULL, *before = NULL;
	cleanup_free char *ours = xasprintf("%s^{tree}", merge->ours);
	bool is_behind = false;
	if (!merge->is_squash &&
	    gitcmd_is_ancestor(source, merge->ours, merge->theirs, &is_behind, err) < 0)
		return -1;
	if (is_behind) {
		*ret = xstrdup(merge->theirs);
		return 0;
	}
	int r = write_tree(source, merge, &tree, ret_conflicts, err);
	if (r != 0)
		return r;
	if (ask_line(source, (const char *const[]){ "rev-parse", "--verify", ours, NULL }, &before,
		     err) < 0)
		return -1;
	if (merge->is_squash && streq(before, tree))
		return GIT_NOTHING;
	return write_commit(source, merge, tree, ret, err);
}

/* ---- taking it over -------------------------------------------------------------------------- */

static int fail(const struct child_result *result, const char *source, struct error *err)
{
	cleanup_free char *words = child_last_words(result);
	cleanup_free char *shown = visible(source);
	if (strstr(strbuf_text(&result->errors), "untracked working tree"))
		return error_set(err, ERROR_BUSY,
				 "%s has files that git does not track where the merge has some: "
				 "move them away (git -C %s merge --ff-only names them)",
				 shown, shown);
	if (strstr(strbuf_text(&result->errors), "would be overwritten"))
		return error_set(err, ERROR_BUSY,
				 "%s has changes of files that the merge changes: commit them, or "
				 "put them away with git -C %s stash",
				 shown, shown);
	return error_set(err, ERROR_CHILD, "git merge: %s", words);
}

int gitcmd_fast_forward(const char *source, const char *commit, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(source,
		       (const char *const[]){
			       "-c", "merge.autoStash=false", "-c", "submodule.recurse=false",
			       "merge", "--quiet", "--ff-only", "--no-edit", "--no-squash",
			       "--no-autostash", "--no-overwrite-ignore", commit, NULL },
		       HOME_MS, &result, err) < 0)
		return -1;
	return result.exit_status == 0 ? 0 : fail(&result, source, err);
}

int gitcmd_move_branch(const char *source, const char *branch, const char *before,
		       const char *commit, struct error *err)
{
	cleanup_free char *ref = xasprintf(HEADS "%s", branch);
	return gitcmd_must_run(source,
			       (const char *const[]){ "update-ref", "--no-deref", "-m",
						      "agentdeck: merge", ref, commit,
						      before ? before : "", NULL },
			       GITCMD_ASK_MS, NULL, err);
}

int gitcmd_push(const char *source, const char *remote, const char *branch, struct error *err)
{
	cleanup_free char *refs = xasprintf(HEADS "%s:" HEADS "%s", branch, branch);
	return gitcmd_must_run(source,
			       (const char *const[]){ "push", "--quiet", "--set-upstream",
						      "--no-verify", "--no-follow-tags", "--",
						      remote, refs, NULL },
			       HOME_MS, NULL, err);
}

int gitcmd_push_lfs(const char *source, const char *remote, const char *branch, struct error *err)
{
	cleanup_free char *ref = xasprintf(HEADS "%s", branch);
	return gitcmd_must_run(source,
			       (const char *const[]){ "lfs", "push", "--", remote, ref, NULL },
			       HOME_MS, NULL, err);
}
