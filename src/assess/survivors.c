/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/survivors.h"

#include "assess/open.h"
#include "base/fsutil.h"

#include <git2/odb.h>
#include <git2/sys/repository.h>
#include <string.h>

/* A ref and what it leads to. */
static void add_object(git_repository *git, const git_oid *oid, struct survivors *survivors)
{
	git_oid commit;
	if (commits_peel(git, oid, &commit))
		commits_add(&survivors->commits, &commit);
	/* A tag that has an object, or a note's blob. */
	commits_add(&survivors->objects, oid);
}

static void add_default(git_repository *git, const char *name, struct survivors *survivors)
{
	git_oid oid, commit;
	if (git_reference_name_to_id(&oid, git, name) == 0 && commits_peel(git, &oid, &commit))
		commits_add(&survivors->defaults, &commit);
}

/* ---- remote-tracking branches ---- */

static bool is_from_remote(const char *message)
{
	static const char *const words[] = { "update by push", "fetch", "pull", "clone" };
	for (size_t i = 0; message && i < ARRAY_SIZE(words); i++)
		if (starts_with(message, words[i]))
			return true;
	return false;
}

/* Whether the newest entry of the branch's log is this object, and says push or fetch.  Without a
 * log: what the caller thinks of that. */
static bool log_says_remote(const struct repository *repository, const char *ref,
			    const git_oid *oid, bool without_log)
{
	git_reflog *log = NULL;
	bool says = without_log;
	/* libgit2 makes a log that is missing, which we may not. */
	if (git_reference_has_log(repository->git, ref) == 0)
		return without_log;
	if (git_reflog_read(&log, repository->git, ref) < 0)
		return false;
	if (git_reflog_entrycount(log) > 0) {
		const git_reflog_entry *entry = git_reflog_entry_byindex(log, 0);
		says = git_oid_equal(git_reflog_entry_id_new(entry), oid) &&
		       is_from_remote(git_reflog_entry_message(entry));
	}
	git_reflog_free(log);
	return says;
}

static const char *as_path(const char *address)
{
	return starts_with(address, "file://") ? address + strlen("file://") : address;
}

/* Whether the address is the source repository.  It is asked itself. */
static bool is_source(const struct look *look, const char *address)
{
	const char *path = as_path(address);
	cleanup_free char *real = NULL;
	if (*path != '/' || fs_real_directory(path, &real, NULL) != 0)
		return false;
	cleanup_free char *common = NULL;
	return open_common_of(real, &common, NULL) == 0 && streq(common, look->source_common);
}

enum address { ADDRESS_RECORDED, ADDRESS_OTHER, ADDRESS_SOURCE };

static enum address address_of(const struct repository *repository, const char *ref)
{
	const struct look *look = repository->look;
	git_buf name = GIT_BUF_INIT;
	git_remote *remote = NULL;
	enum address address = ADDRESS_OTHER;
	if (git_branch_remote_name(&name, repository->git, ref) == 0 &&
	    git_remote_lookup(&remote, repository->git, name.ptr) == 0 && git_remote_url(remote)) {
		const char *recorded = origin_remote(&look->origin, name.ptr);
		if (is_source(look, git_remote_url(remote)))
			address = ADDRESS_SOURCE;
		else if (!repository->is_recorded ||
			 (recorded && streq(recorded, git_remote_url(remote))))
			address = ADDRESS_RECORDED;
	}
	git_remote_free(remote);
	git_buf_dispose(&name);
	return address;
}

bool survivors_believe(const struct repository *repository, const char *ref, const git_oid *oid)
{
	char text[GIT_OID_HEXSZ + 1];
	enum address address = address_of(repository, ref);
	if (address == ADDRESS_SOURCE)
		return false;
	if (!repository->is_recorded)
		return address == ADDRESS_RECORDED && log_says_remote(repository, ref, oid, true);
	const char *recorded = origin_ref(&repository->look->origin, ref);
	if (recorded && streq(recorded, git_oid_tostr(text, sizeof(text), oid)))
		return true;
	return address == ADDRESS_RECORDED && log_says_remote(repository, ref, oid, false);
}

/* ---- the lists ---- */

static bool survives(const struct repository *repository, const char *name, const git_oid *oid)
{
	const struct origin *origin = &repository->look->origin;
	if (repository->fate == FATE_GOES)
		return starts_with(name, "refs/remotes/") &&
		       survivors_believe(repository, name, oid);
	return !(origin->kind == ORIGIN_WORKTREE && origin->made_branch && origin->branch &&
		 starts_with(name, "refs/heads/") &&
		 streq(name + strlen("refs/heads/"), origin->branch));
}

static int add_own(const struct repository *repository, struct survivors *survivors)
{
	git_reference_iterator *iterator = NULL;
	git_reference *ref = NULL;
	int r = git_reference_iterator_new(&iterator, repository->git);
	while (r == 0 && (r = git_reference_next(&ref, iterator)) == 0) {
		const git_oid *oid = git_reference_target(ref);
		const char *name = git_reference_name(ref);
		if (oid && survives(repository, name, oid))
			add_object(repository->git, oid, survivors);
		git_reference_free(ref);
		if (look_is_over(repository->look))
			break;
	}
	git_reference_iterator_free(iterator);
	return r == GIT_ITEROVER ? 0 : r;
}

/* Branches that the remotes call their default one, if they can be believed. */
static void add_own_defaults(const struct repository *repository, struct survivors *survivors)
{
	git_strarray remotes = { 0 };
	git_oid oid;
	if (git_remote_list(&remotes, repository->git) < 0)
		return;
	for (size_t i = 0; i < remotes.count; i++) {
		static const char *const names[] = { "HEAD", "main", "master" };
		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			cleanup_free char *name = xasprintf("refs/remotes/%s/%s",
							    remotes.strings[i], names[j]);
			git_reference *ref = NULL, *target = NULL;
			if (git_reference_lookup(&ref, repository->git, name) == 0 &&
			    git_reference_resolve(&target, ref) == 0 &&
			    git_reference_name_to_id(&oid, repository->git, name) == 0 &&
			    survives(repository, git_reference_name(target), &oid))
				add_default(repository->git, name, survivors);
			git_reference_free(target);
			git_reference_free(ref);
		}
	}
	git_strarray_dispose(&remotes);
}

/* Where the user of the source repository merges to. */
static int add_source_default(const struct repository *repository, struct survivors *survivors)
{
	cleanup_git git_repository *source = NULL;
	int r = open_source(repository->look, &source);
	if (r == 0)
		add_default(source, "HEAD", survivors);
	return r;
}

static int add_source(const struct repository *repository, struct survivors *survivors)
{
	const struct look *look = repository->look;
	cleanup_git git_repository *source = NULL;
	cleanup_free char *objects = path_join(look->source_common, "objects");
	git_odb *odb = NULL;
	/* Its objects survive, so the walk may use them: what was fetched from here and merged
	 * there is in no object of ours. */
	int r = git_repository_odb(&odb, repository->git);
	if (r == 0)
		r = git_odb_add_disk_alternate(odb, objects);
	git_odb_free(odb);
	if (r == 0)
		r = open_source(look, &source);
	if (r < 0)
		return r;
	struct repository asked = *repository;
	asked.git = source;
	asked.fate = FATE_STAYS;
	return add_own(&asked, survivors);
}

bool survivors_of(const struct repository *repository, struct survivors *ret)
{
	int r = add_own(repository, ret);
	add_own_defaults(repository, ret);
	if (r == 0 && repository->fate == FATE_GOES)
		r = add_source(repository, ret);
	if (r == 0 && (repository->fate == FATE_STAYS || repository->is_recorded))
		r = add_source_default(repository, ret);
	commits_settle(&ret->commits);
	commits_settle(&ret->objects);
	commits_settle(&ret->defaults);
	if (r == 0)
		return true;
	look_failed(repository, "what else has its commits cannot be found out");
	return false;
}

void survivors_free(struct survivors *survivors)
{
	commits_free(&survivors->commits);
	commits_free(&survivors->objects);
	commits_free(&survivors->defaults);
}
