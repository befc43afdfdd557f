/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/git/git.h"

#include "base/fsutil.h"
#include "driver/git/git-internal.h"

#include <string.h>

extern char **environ;

enum {
	MAKE_MS = 60 * 60 * 1000, /* large files come over the network */
	OUTPUT_MAX = 64 << 20,
	EXIT_FAILED = 1,
	EXIT_FATAL = 128,
};

void gitcmd_repository_free(struct gitcmd_repository *repository)
{
	free(repository->top);
	free(repository->common);
	free(repository->prefix);
	free(repository->head);
	*repository = (struct gitcmd_repository){ 0 };
}

void gitcmd_worktree_free(struct gitcmd_worktree *worktree)
{
	free(worktree->branch);
	free(worktree->commit);
	*worktree = (struct gitcmd_worktree){ 0 };
}

/* ---- running git ----------------------------------------------------------------------------- */

/* All of GIT_*, but for what says how to reach a server. */
static bool is_kept(const char *variable)
{
	return !starts_with(variable, "GIT_") || starts_with(variable, "GIT_SSH") ||
	       starts_with(variable, "GIT_SSL") || starts_with(variable, "GIT_ASKPASS");
}

void gitcmd_environment(struct strvec *ret)
{
	for (char **variable = environ; *variable; variable++)
		if (is_kept(*variable) && !starts_with(*variable, "LC_ALL="))
			strvec_push(ret, *variable);
	strvec_push(ret, "LC_ALL=C");
	strvec_push(ret, "GIT_TERMINAL_PROMPT=0");
	strvec_push(ret, "GIT_OPTIONAL_LOCKS=0");
	/* An agent could show one content, and have another one merged. */
	strvec_push(ret, "GIT_NO_REPLACE_OBJECTS=1");
}

int gitcmd_refuse_missing(struct error *err)
{
	return error_set(err, ERROR_UNAVAILABLE,
			 "git is not installed: install git, or use the directory itself");
}

int gitcmd_run(const char *directory, const char *const *words, int timeout_ms,
	       struct child_result *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "git", "-C", directory, "-c",
							"core.hooksPath=/dev/null", "-c",
							"core.fsmonitor=false", NULL });
	strvec_push_array(&argv, words);
	gitcmd_environment(&environment);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&argv),
		.environment = strvec_argv(&environment),
		.max_output = OUTPUT_MAX,
	};
	const int r = child_run(&request, timeout_ms, ret, err);
	return r == CHILD_NOT_INSTALLED ? gitcmd_refuse_missing(err) : r;
}

static int fail(const struct child_result *result, const char *what, struct error *err)
{
	cleanup_free char *words = child_last_words(result);
	return error_set(err, ERROR_CHILD, "git %s: %s%s", what, words,
			 strstr(strbuf_text(&result->errors), "filter lfs failed")
				 ? " (is git-lfs installed, and can it reach its files?)"
				 : "");
}

int gitcmd_must_run(const char *directory, const char *const *words, int timeout_ms,
		    struct child_result *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(directory, words, timeout_ms, &result, err) < 0)
		return -1;
	if (result.exit_status != 0)
		return fail(&result, words[0], err);
	if (ret) {
		*ret = result;
		result = (struct child_result){ 0 };
	}
	return 0;
}

static int do_run(const char *directory, const char *const *words, int timeout_ms,
		  struct error *err)
{
	return gitcmd_must_run(directory, words, timeout_ms, NULL, err);
}

void gitcmd_each_line(const struct strbuf *output, void (*take)(const char *line, void *context),
		      void *context)
{
	const char *text = strbuf_text(output);
	while (*text) {
		const char *end = strchr(text, '\n');
		cleanup_free char *line = end ? xstrndup(text, (size_t)(end - text))
					      : xstrdup(text);
		take(line, context);
		if (!end)
			return;
		text = end + 1;
	}
}

static void push_line(const char *line, void *context)
{
	strvec_push(context, line);
}

/* Exactly count lines. */
static int ask_lines(const char *directory, const char *const *words, size_t count,
		     struct strvec *ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(directory, words, GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	gitcmd_each_line(&result.output, push_line, ret);
	if (ret->count != count)
		return error_set(err, ERROR_CHILD,
				 "git %s: unexpected answer (is there a newline in a path?)",
				 words[0]);
	return 0;
}

/* ---- looking --------------------------------------------------------------------------------- */

/* *ret is NULL if the name means no commit. */
static int find_commit(const char *directory, const char *name, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(directory,
		       (const char *const[]){ "rev-parse", "--verify", "--quiet", name, NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	if (result.exit_status != 0 && result.exit_status != EXIT_FAILED)
		return fail(&result, "rev-parse", err);
	cleanup_free char *oid = xstrdup(strbuf_text(&result.output));
	oid[strcspn(oid, "\n")] = '\0';
	*ret = result.exit_status == 0 ? TAKE_PTR(oid) : NULL;
	return 0;
}

static int find_top(const char *directory, struct gitcmd_repository *repository, struct error *err)
{
	cleanup_strvec struct strvec lines = { 0 };
	if (ask_lines(directory,
		      (const char *const[]){ "rev-parse", "--path-format=absolute",
					     "--show-toplevel", "--show-prefix", NULL },
		      2, &lines, err) < 0)
		return -1;
	repository->top = xstrdup(lines.items[0]);
	repository->prefix = xstrdup(lines.items[1]);
	return 0;
}

int gitcmd_find(const char *directory, struct gitcmd_repository *ret, struct error *err)
{
	cleanup_gitcmd_repository struct gitcmd_repository found = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(directory,
		       (const char *const[]){ "rev-parse", "--path-format=absolute",
					      "--git-common-dir", "--is-inside-work-tree",
					      "--is-inside-git-dir", "--is-bare-repository", NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	if (result.exit_status == EXIT_FATAL &&
	    strstr(strbuf_text(&result.errors), "not a git repository"))
		return GIT_ABSENT;
	if (result.exit_status != 0)
		return fail(&result, "rev-parse", err);
	gitcmd_each_line(&result.output, push_line, &lines);
	if (lines.count != 4)
		return error_set(
			err, ERROR_CHILD,
			"git rev-parse: unexpected answer (is there a newline in a path?)");
	found.common = xstrdup(lines.items[0]);
	const bool is_bare = streq(lines.items[3], "true");
	if (!is_bare && !streq(lines.items[1], "true"))
		return error_set(err, ERROR_INVALID,
				 "it is inside of a Git directory: name the work tree");
	if (is_bare)
		found.prefix = xstrdup("");
	else if (find_top(directory, &found, err) < 0)
		return -1;
	if (find_commit(directory, "HEAD^{commit}", &found.head, err) < 0)
		return -1;
	*ret = found;
	found = (struct gitcmd_repository){ 0 };
	return 0;
}

int gitcmd_directory(const char *path, char **ret, struct error *err)
{
	cleanup_strvec struct strvec lines = { 0 };
	if (ask_lines(path, (const char *const[]){ "rev-parse", "--absolute-git-dir", NULL }, 1,
		      &lines, err) < 0)
		return -1;
	*ret = xstrdup(lines.items[0]);
	return 0;
}

int gitcmd_check_branch(const char *branch, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run("/", (const char *const[]){ "check-ref-format", "--branch", branch, NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	if (result.exit_status == 0 && *branch != '-' && *branch != '@')
		return 0;
	cleanup_free char *shown = visible(branch);
	return error_set(err, ERROR_INVALID, "invalid branch name '%s'", shown);
}

int gitcmd_find_branch(const char *repository, const char *branch, char **ret_commit,
		       struct error *err)
{
	cleanup_free char *name = xasprintf("refs/heads/%s^{commit}", branch), *commit = NULL;
	if (find_commit(repository, name, &commit, err) < 0)
		return -1;
	if (!commit)
		return GIT_NO_BRANCH;
	*ret_commit = TAKE_PTR(commit);
	return 0;
}

/* upload-pack is the one command of git that is made for a repository of others. */
static int remote_ref(const char *tree, const char *ref, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *shown = visible(tree);
	if (gitcmd_check_confined(tree, err) < 0 ||
	    gitcmd_must_run("/",
			    (const char *const[]){ "ls-remote", "--quiet", "--", tree, ref, NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	const char *line = strbuf_text(&result.output);
	const size_t length = strspn(line, "0123456789abcdef");
	if (!length || line[length] != '\t')
		return error_set(err, ERROR_NOT_FOUND, "%s has no commit", shown);
	*ret = xstrndup(line, length);
	return 0;
}

int gitcmd_head(const char *tree, char **ret, struct error *err)
{
	return remote_ref(tree, "HEAD", ret, err);
}

int gitcmd_head_of(const char *tree, const char *branch, char **ret, struct error *err)
{
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);
	return remote_ref(tree, ref, ret, err);
}

/* ---- making ---------------------------------------------------------------------------------- */

int gitcmd_records(const char *source, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_must_run(source,
			    (const char *const[]){ "rev-parse", "--path-format=absolute",
						   "--git-common-dir", NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	cleanup_free char *common = xstrdup(strbuf_text(&result.output));
	common[strcspn(common, "\n")] = '\0';
	*ret = path_join(common, "worktrees");
	return 0;
}

/* A clone, or git's record of a linked work tree of this source. */
static int check_from(const struct gitcmd_tree *tree, struct error *err)
{
	cleanup_free char *records = NULL;
	if (gitcmd_records(tree->source, &records, err) < 0)
		return -1;
	const size_t length = strlen(records);
	return starts_with(tree->from, records) && tree->from[length] == '/' &&
			       path_basename(tree->from) == tree->from + length + 1
		       ? 0
		       : gitcmd_check_confined(tree->from, err);
}

/* Only its present commit can be fetched, which has the wished one, or is it. */
static int fetch_base(const struct gitcmd_tree *tree, const char *into, struct error *err)
{
	cleanup_free char *name = xasprintf("%s^{commit}", tree->base), *commit = NULL;
	if (!tree->from)
		return 0;
	if (find_commit(into, name, &commit, err) < 0)
		return -1;
	if (commit)
		return 0;
	if (check_from(tree, err) < 0 ||
	    do_run(into,
		   (const char *const[]){ "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
					  "--no-recurse-submodules", "--no-auto-gc", "--",
					  tree->from, "HEAD", NULL },
		   MAKE_MS, err) < 0 ||
	    find_commit(into, name, &commit, err) < 0)
		return -1;
	return commit ? 0
		      : error_set(err, ERROR_NOT_FOUND,
				  "%s does not have commit %s any more: fork again", tree->from,
				  tree->base);
}

int gitcmd_add_worktree(const struct gitcmd_tree *tree, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	if (fetch_base(tree, tree->source, err) < 0)
		return -1;
	strvec_push_array(&words, (const char *const[]){ "worktree", "add", "--quiet", "--lock",
							 "--reason", GITCMD_LOCKED, NULL });
	if (tree->is_empty)
		strvec_push(&words, "--no-checkout");
	if (tree->is_detached)
		strvec_push_array(&words, (const char *const[]){ "--detach", "--", tree->path,
								 tree->base, NULL });
	else if (tree->has_branch)
		strvec_push_array(&words,
				  (const char *const[]){ "--", tree->path, tree->branch, NULL });
	else
		strvec_push_array(&words, (const char *const[]){ "-b", tree->branch, "--",
								 tree->path, tree->base, NULL });
	if (do_run(tree->source, (const char *const *)strvec_argv(&words), MAKE_MS, err) < 0)
		return -1;
	return tree->is_empty
		       ? do_run(tree->path, (const char *const[]){ "read-tree", "HEAD", NULL },
				MAKE_MS, err)
		       : 0;
}

/* "remote.NAME.url ADDRESS" */
static void push_remote(const char *line, void *context)
{
	static const char prefix[] = "remote.", suffix[] = ".url";
	const char *space = strchr(line, ' ');
	cleanup_free char *key = space ? xstrndup(line, (size_t)(space - line)) : NULL;
	if (!key || !starts_with(key, prefix) || !ends_with(key, suffix))
		return;
	key[strlen(key) - strlen(suffix)] = '\0';
	strvec_push(context, key + strlen(prefix));
	strvec_push(context, space + 1);
}

/* "git push" in the clone reaches what it reaches in the source. */
static int copy_remotes(const struct gitcmd_tree *tree, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec pairs = { 0 };
	if (gitcmd_run(tree->source,
		       (const char *const[]){ "config", "--local", "--get-regexp",
					      "^remote\\..*\\.url$", NULL },
		       GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	if (result.exit_status != 0 && result.exit_status != EXIT_FAILED)
		return fail(&result, "config", err);
	gitcmd_each_line(&result.output, push_remote, &pairs);
	for (size_t i = 0; i + 1 < pairs.count; i += 2)
		if (do_run(tree->path,
			   (const char *const[]){ "remote", "add", "--", pairs.items[i],
						  pairs.items[i + 1], NULL },
			   GITCMD_ASK_MS, err) < 0)
			return -1;
	return 0;
}

int gitcmd_clone(const struct gitcmd_tree *tree, struct error *err)
{
	if (do_run("/",
		   (const char *const[]){ "clone", "--quiet", "--no-hardlinks", "--dissociate",
					  "--no-checkout", "--template=", "--origin",
					  "agentdeck-source", "--", tree->source, tree->path,
					  NULL },
		   MAKE_MS, err) < 0 ||
	    copy_remotes(tree, err) < 0 || fetch_base(tree, tree->path, err) < 0)
		return -1;
	if (tree->has_branch)
		return do_run(tree->path,
			      (const char *const[]){ "checkout", "--quiet", tree->branch, "--",
						     NULL },
			      MAKE_MS, err);
	return do_run(tree->path,
		      (const char *const[]){ "checkout", "--quiet", "--no-track", "-b",
					     tree->branch, tree->base, "--", NULL },
		      MAKE_MS, err);
}

struct search {
	const char *path;
	bool is_it; /* the lines are about the work tree of this path */
	struct gitcmd_worktree *found;
};

static void look_for_worktree(const char *line, void *context)
{
	static const char worktree[] = "worktree ", head[] = "HEAD ",
			  branch[] = "branch refs/heads/";
	struct search *search = context;
	if (starts_with(line, worktree))
		search->is_it = streq(line + strlen(worktree), search->path);
	if (!search->is_it)
		return;
	search->found->is_known = true;
	if (starts_with(line, head))
		replace_string(&search->found->commit, line + strlen(head));
	else if (starts_with(line, branch))
		replace_string(&search->found->branch, line + strlen(branch));
}

int gitcmd_ask_about_worktree(const char *source, const char *path, struct gitcmd_worktree *ret,
			      struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_gitcmd_worktree struct gitcmd_worktree found = { 0 };
	struct search search = { .path = path, .found = &found };
	bool has_commit = false;
	if (gitcmd_must_run(source,
			    (const char *const[]){ "worktree", "list", "--porcelain", NULL },
			    GITCMD_ASK_MS, &result, err) < 0)
		return -1;
	gitcmd_each_line(&result.output, look_for_worktree, &search);
	/* While git makes a work tree, its HEAD is a row of zeros. */
	if (!found.branch && found.commit &&
	    gitcmd_has_commit(source, found.commit, &has_commit, err) < 0)
		return -1;
	if (!has_commit)
		replace_string(&found.commit, NULL);
	*ret = found;
	found = (struct gitcmd_worktree){ 0 };
	return 0;
}

int gitcmd_has_commit(const char *repository, const char *commit, bool *ret, struct error *err)
{
	cleanup_free char *name = xasprintf("%s^{commit}", commit), *found = NULL;
	if (find_commit(repository, name, &found, err) < 0)
		return -1;
	*ret = found != NULL;
	return 0;
}

int gitcmd_mend_worktrees(const char *repository, struct error *err)
{
	return do_run(repository, (const char *const[]){ "worktree", "repair", NULL },
		      GITCMD_ASK_MS, err);
}

int gitcmd_remove_worktree(const char *source, const char *path, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	if (gitcmd_run(source,
		       (const char *const[]){ "worktree", "remove", "--force", "--force", "--",
					      path, NULL },
		       MAKE_MS, &result, err) < 0)
		return -1;
	if (result.exit_status == 0 || strstr(strbuf_text(&result.errors), "is not a working tree"))
		return 0;
	return fail(&result, "worktree remove", err);
}
