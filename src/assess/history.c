/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/history.h"

#include "assess/large.h"
#include "assess/merged.h"
#include "assess/survivors.h"
#include "assess/walk.h"
#include "base/fsutil.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

struct history {
	const struct repository *repository;
	struct survivors survivors;
	/* Heads that have a finding, or need none: their commits are not listed again. */
	struct commits known;
	struct commits heads; /* everything that the repository's commits are reached from */
};

static struct verdict *verdict_of(const struct history *history)
{
	return &history->repository->look->verdict;
}

/* "a1b2c3d subject"; the caller frees. */
static char *describe(git_repository *git, const git_oid *oid)
{
	char text[GIT_OID_HEXSZ + 1];
	git_commit *commit = NULL;
	(void)git_oid_tostr(text, sizeof(text), oid);
	const char *summary = git_commit_lookup(&commit, git, oid) == 0 ? git_commit_summary(commit)
									: NULL;
	char *words = xasprintf("%.9s %s", text, or_empty(summary));
	git_commit_free(commit);
	return words;
}

/* "not on origin/main", by the branch's upstream; the caller frees. */
static char *explain_place(git_repository *git, const char *ref)
{
	git_buf name = GIT_BUF_INIT;
	git_oid oid;
	char *text = NULL;
	if (git_branch_upstream_name(&name, git, ref) < 0 ||
	    !starts_with(name.ptr, "refs/remotes/"))
		text = xstrdup("that nothing else has");
	else if (git_reference_name_to_id(&oid, git, name.ptr) < 0)
		text = xasprintf("that nothing else has; %s is gone",
				 name.ptr + strlen("refs/remotes/"));
	else
		text = xasprintf("not on %s", name.ptr + strlen("refs/remotes/"));
	git_buf_dispose(&name);
	return text;
}

/* The remote had the branch, and has deleted it: after a merge, or not. */
static bool is_upstream_gone(git_repository *git, const char *ref)
{
	git_buf name = GIT_BUF_INIT;
	git_oid oid;
	bool is_gone = git_branch_upstream_name(&name, git, ref) == 0 &&
		       starts_with(name.ptr, "refs/remotes/") &&
		       git_reference_name_to_id(&oid, git, name.ptr) == GIT_ENOTFOUND;
	git_buf_dispose(&name);
	return is_gone;
}

static void add_missing(const struct history *history, enum finding_kind kind, const char *ref,
			const char *name, const struct commits_missing *missing)
{
	git_repository *git = history->repository->git;
	cleanup_free char *newest = describe(git, &missing->first[0]);
	cleanup_free char *place = explain_place(git, ref);
	cleanup_free char *detail = xasprintf("%" PRId64 " commit%s %s (newest: %s)",
					      missing->count, missing->count == 1 ? "" : "s", place,
					      newest);
	verdict_add(verdict_of(history), kind, history->repository->where, name, detail);
}

/* A head that goes with the tree must be reachable from what survives. */
static void require_commit(struct history *history, enum finding_kind kind, const char *ref,
			   const char *name, const git_oid *oid)
{
	struct commits_missing missing;
	const struct commits from = { .oids = (git_oid *)(uintptr_t)oid, .count = 1 };
	if (commits_missing(history->repository, &from, &history->survivors.commits, &missing) < 0)
		look_failed(history->repository, "the history of %s cannot be read", name);
	else if (missing.count == 0)
		return;
	else if (kind == FINDING_BRANCH && is_upstream_gone(history->repository->git, ref) &&
		 merged_into(history->repository, oid, &history->survivors.defaults))
		verdict_add(verdict_of(history), FINDING_MERGED, history->repository->where, name,
			    "its content is on the default branch, under other commits");
	else
		add_missing(history, kind, ref, name, &missing);
	commits_add(&history->known, oid);
}

static bool is_recorded(const struct repository *repository, const char *ref, const git_oid *oid)
{
	char text[GIT_OID_HEXSZ + 1];
	const char *recorded = repository->is_recorded ? origin_ref(&repository->look->origin, ref)
						       : NULL;
	return recorded && streq(recorded, git_oid_tostr(text, sizeof(text), oid));
}

static void require_object(struct history *history, enum finding_kind kind, const char *ref,
			   const char *name, const git_oid *oid)
{
	git_repository *git = history->repository->git;
	git_oid commit;
	git_object *object = NULL;
	if (git_object_lookup(&object, git, oid, GIT_OBJECT_ANY) < 0) {
		look_failed(history->repository, "%s cannot be read", name);
		return;
	}
	bool is_commit = git_object_type(object) == GIT_OBJECT_COMMIT;
	git_object_free(object);
	if (!is_commit && !commits_have(&history->survivors.objects, oid) &&
	    !is_recorded(history->repository, ref, oid))
		verdict_add(verdict_of(history), kind, history->repository->where, name,
			    "an object that nothing else has");
	if (commits_peel(git, oid, &commit))
		require_commit(history, kind, ref, name, &commit);
}

/* ---- refs ---- */

/* The branch was made for the tree, and ends with it. */
static bool is_made_branch(const struct repository *repository, const char *name)
{
	const struct origin *origin = &repository->look->origin;
	return repository->is_recorded && origin->made_branch && origin->branch &&
	       starts_with(name, "refs/heads/") &&
	       streq(name + strlen("refs/heads/"), origin->branch);
}

static bool goes_with_tree(const struct history *history, const char *name, const git_oid *oid)
{
	const struct repository *repository = history->repository;
	if (streq(name, "refs/stash"))
		return false; /* has its own list */
	if (repository->fate == FATE_STAYS)
		return is_made_branch(repository, name);
	/* What the source had when the tree was made was not made here. */
	return !starts_with(name, "refs/remotes/") ||
	       !(survivors_believe(repository, name, oid) != BELIEF_NONE ||
		 is_recorded(repository, name, oid));
}

static const char *short_name(const char *ref)
{
	return starts_with(ref, "refs/heads/") ? ref + strlen("refs/heads/") : ref;
}

static void require_ref(struct history *history, const char *name, const git_oid *oid)
{
	bool is_branch = starts_with(name, "refs/heads/");
	require_object(history, is_branch ? FINDING_BRANCH : FINDING_REF, name, short_name(name),
		       oid);
}

static void require_refs(struct history *history)
{
	git_reference_iterator *iterator = NULL;
	git_reference *ref = NULL;
	int r = git_reference_iterator_new(&iterator, history->repository->git);
	while (r == 0 && (r = git_reference_next(&ref, iterator)) == 0) {
		const git_oid *oid = git_reference_target(ref);
		git_oid commit;
		if (oid && commits_peel(history->repository->git, oid, &commit))
			commits_add(&history->heads, &commit);
		if (oid && goes_with_tree(history, git_reference_name(ref), oid))
			require_ref(history, git_reference_name(ref), oid);
		git_reference_free(ref);
		if (look_is_over(history->repository->look))
			break;
	}
	git_reference_iterator_free(iterator);
	if (r != 0 && r != GIT_ITEROVER)
		look_failed(history->repository, "its refs cannot be listed");
}

/* ---- HEAD, and the refs of one worktree ---- */

static void require_head(struct history *history)
{
	git_oid oid;
	git_repository *git = history->repository->git;
	if (git_repository_head_detached(git) != 1 ||
	    git_reference_name_to_id(&oid, git, "HEAD") < 0)
		return; /* a branch, which is looked at as such */
	commits_add(&history->heads, &oid);
	require_object(history, FINDING_DETACHED, "HEAD", "HEAD", &oid);
}

static void require_line(struct history *history, const char *directory, const char *name,
			 const char *shown)
{
	cleanup_strbuf struct strbuf text = { 0 };
	git_oid oid;
	if (!walk_read(directory, name, 4096, &text) ||
	    git_oid_fromstrn(&oid, strbuf_text(&text),
			     text.length < GIT_OID_HEXSZ ? text.length : GIT_OID_HEXSZ) < 0)
		return; /* symbolic, or nothing */
	git_odb *odb = NULL;
	/* An object that git has collected is lost already.  The logs list the objects that they
	 * name. */
	const bool is_there = git_repository_odb(&odb, history->repository->git) == 0 &&
			      git_odb_exists(odb, &oid);
	git_odb_free(odb);
	if (!is_there || (history->known.is_sorted && commits_have(&history->known, &oid)))
		return;
	require_object(history, FINDING_REF, shown, shown, &oid);
}

/* libgit2 lists no refs of a linked worktree, which are files below its git directory. */
static void require_files(struct history *history, const char *below, int depth)
{
	cleanup_free char *path = path_join(history->repository->git_directory, below);
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (fd < 0)
		return;
	if (fs_list(fd, &names, NULL) < 0 || depth > LOOK_DIRECTORIES_DEEP) {
		verdict_unknown(verdict_of(history), history->repository->where,
				"the refs of the worktree cannot be listed");
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *name = path_join(below, names.items[i]);
		struct stat status;
		if (fstatat(fd, names.items[i], &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(status.st_mode))
			require_files(history, name, depth + 1);
		else
			require_line(history, path, names.items[i], name);
	}
}

/* ---- logs ---- */

static void add_logged(const struct history *history, const char *ref, struct commits *logged)
{
	static const git_oid none = { 0 };
	git_repository *git = history->repository->git;
	git_reflog *log = NULL;
	git_odb *odb = NULL;
	if (git_reference_has_log(git, ref) == 0)
		return;
	if (git_repository_odb(&odb, git) < 0 || git_reflog_read(&log, git, ref) < 0) {
		look_failed(history->repository, "the log of %s cannot be read", ref);
		git_odb_free(odb);
		return;
	}
	size_t count = git_reflog_entrycount(log);
	for (size_t i = 0; i < count && !look_is_over(history->repository->look); i++) {
		const git_reflog_entry *entry = git_reflog_entry_byindex(log, i);
		const git_oid *ids[] = { git_reflog_entry_id_new(entry),
					 git_reflog_entry_id_old(entry) };
		git_oid commit;
		/* What git has collected since is gone already. */
		for (size_t j = 0; j < ARRAY_SIZE(ids); j++)
			if (!git_oid_equal(ids[j], &none) && git_odb_exists(odb, ids[j]) &&
			    commits_peel(git, ids[j], &commit))
				commits_add(logged, &commit);
	}
	git_reflog_free(log);
	git_odb_free(odb);
}

/* The logs that go with the tree, or those that stay. */
static void add_branch_logs(const struct history *history, bool goes, const char *below, int depth,
			    struct commits *logged)
{
	cleanup_free char *logs = path_join(history->repository->common, "logs");
	cleanup_free char *path = path_join(logs, below);
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (fd < 0)
		return;
	if (fs_list(fd, &names, NULL) < 0 || depth > LOOK_DIRECTORIES_DEEP) {
		verdict_unknown(verdict_of(history), history->repository->where,
				"the logs of its branches cannot be listed");
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *name = path_join(below, names.items[i]);
		struct stat status;
		if (fstatat(fd, names.items[i], &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(status.st_mode))
			add_branch_logs(history, goes, name, depth + 1, logged);
		else if ((history->repository->fate == FATE_GOES ||
			  is_made_branch(history->repository, name)) == goes)
			add_logged(history, name, logged);
	}
}

/* What was amended or rebased on a branch of the source repository is in the branch's log there. */
static void add_kept_logs(struct history *history, const struct commits *logged)
{
	const struct repository *repository = history->repository;
	cleanup_commits struct commits kept = { 0 };
	struct commits_missing before, after;
	add_branch_logs(history, false, "refs/heads", 0, &kept);
	if (!kept.count || commits_missing(repository, logged, &history->known, &before) < 0)
		return;
	for (size_t i = 0; i < kept.count; i++)
		commits_add(&history->known, &kept.oids[i]);
	commits_settle(&history->known);
	if (commits_missing(repository, logged, &history->known, &after) < 0 ||
	    after.count == before.count)
		return;
	cleanup_free char *name = xasprintf("%" PRId64 " commit%s", before.count - after.count,
					    before.count - after.count == 1 ? "" : "s");
	verdict_add(verdict_of(history), FINDING_KEPT_LOG, repository->where, name,
		    "amended, reset or rebased");
}

static void require_logged(struct history *history)
{
	const struct repository *repository = history->repository;
	cleanup_commits struct commits logged = { 0 };
	struct commits_missing missing;
	add_logged(history, "HEAD", &logged);
	add_branch_logs(history, true, "refs/heads", 0, &logged);
	for (size_t i = 0; i < logged.count; i++)
		commits_add(&history->heads, &logged.oids[i]);
	for (size_t i = 0; i < history->survivors.commits.count; i++)
		commits_add(&history->known, &history->survivors.commits.oids[i]);
	commits_settle(&history->known);
	commits_settle(&logged);
	add_kept_logs(history, &logged);
	if (commits_missing(repository, &logged, &history->known, &missing) < 0) {
		look_failed(repository, "the commits of its logs cannot be read");
		return;
	}
	for (int64_t i = 0; i < missing.count && i < COMMITS_LISTED; i++) {
		cleanup_free char *words = describe(repository->git, &missing.first[i]);
		verdict_add(verdict_of(history), FINDING_REFLOG, repository->where, words,
			    "amended, reset or rebased, and in no branch");
	}
	if (missing.count > COMMITS_LISTED)
		verdict_of(history)->more[FINDING_REFLOG] += missing.count - COMMITS_LISTED;
	for (size_t i = 0; i < logged.count; i++)
		commits_add(&history->known, &logged.oids[i]);
}

/* ---- refs at the top of the git directory ---- */

/* `git update-ref NAME` makes such a ref, and libgit2 does not list it.  The refs that git makes
 * itself name commits that are also in the logs, until the log entries expire. */
static void require_top(struct history *history)
{
	/* Not refs of work: they name what another repository has, the tree of a merge, or a list. */
	static const char *const others[] = { "HEAD", "FETCH_HEAD", "AUTO_MERGE", "shallow" };
	const struct repository *repository = history->repository;
	cleanup_close int fd = open(repository->git_directory,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (fd < 0 || fs_list(fd, &names, NULL) < 0)
		verdict_unknown(verdict_of(history), repository->where,
				"its git directory cannot be listed");
	commits_settle(&history->known);
	for (size_t i = 0; i < names.count; i++) {
		bool is_other = false;
		for (size_t j = 0; j < ARRAY_SIZE(others); j++)
			is_other |= streq(names.items[i], others[j]);
		if (!is_other)
			require_line(history, repository->git_directory, names.items[i],
				     names.items[i]);
	}
}

/* ---- the stash ---- */

static int add_stash(size_t index, const char *message, const git_oid *oid, void *data)
{
	const struct history *history = data;
	const struct repository *repository = history->repository;
	char text[GIT_OID_HEXSZ + 1];
	cleanup_free char *name = xasprintf("stash@{%zu}", index);
	(void)git_oid_tostr(text, sizeof(text), oid);
	if (repository->fate == FATE_GOES)
		verdict_add(verdict_of(history), FINDING_STASH, repository->where, name, message);
	else if (!strvec_contains(&repository->look->origin.stashes, text))
		verdict_add(verdict_of(history), FINDING_KEPT_STASH, repository->where, name,
			    message);
	return 0;
}

static void add_stashes(struct history *history)
{
	git_oid oid;
	size_t before = history->repository->look->verdict.count;
	git_repository *git = history->repository->git;
	/* The stash's entries are in its log, which can be lost. */
	if (git_reference_has_log(git, "refs/stash") != 0 &&
	    git_stash_foreach(git, add_stash, history) < 0)
		look_failed(history->repository, "its stash cannot be read");
	if (history->repository->fate == FATE_GOES && verdict_of(history)->count == before &&
	    git_reference_name_to_id(&oid, git, "refs/stash") == 0)
		verdict_add(verdict_of(history), FINDING_STASH, history->repository->where,
			    "refs/stash", "a stash without its log");
}

void history_add_branch(const struct repository *repository)
{
	struct history history = { .repository = repository };
	cleanup_free char *name = xasprintf("refs/heads/%s", repository->look->origin.branch);
	git_oid oid;
	if (git_reference_name_to_id(&oid, repository->git, name) < 0)
		look_failed(repository, "%s cannot be read", name);
	else if (survivors_of(repository, &history.survivors))
		require_ref(&history, name, &oid);
	survivors_free(&history.survivors);
	commits_free(&history.known);
}

void history_add(const struct repository *repository)
{
	struct history history = { .repository = repository };
	add_stashes(&history);
	if (survivors_of(repository, &history.survivors)) {
		require_refs(&history);
		require_head(&history);
		if (repository->is_linked)
			require_files(&history, "refs", 0);
		require_logged(&history);
		require_top(&history);
		commits_settle(&history.heads);
		large_add(repository, &history.heads, &history.survivors);
	}
	survivors_free(&history.survivors);
	commits_free(&history.known);
	commits_free(&history.heads);
}
