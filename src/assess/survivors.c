/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/survivors.h"

#include "assess/gitdir.h"
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

/* Whether "fetch -q origin: fast-forward" names this remote, or none.  `git fetch . HEAD:REF`
 * writes any ref, and has fetched it from here. */
static bool names_remote(const char *message, const char *remote)
{
	const char *end = strstr(message, ": ");
	cleanup_free char *line = xstrndup(message,
					   end ? (size_t)(end - message) : strlen(message));
	char *rest = line;
	(void)strsep(&rest, " "); /* fetch or pull */
	for (const char *word; (word = strsep(&rest, " "));)
		if (*word && *word != '-' && word[strspn(word, "0123456789")])
			return streq(word, remote);
	return true;
}

static enum belief belief_of(const char *message, const char *remote)
{
	if (starts_with(message, "update by push"))
		return BELIEF_PUSHED;
	if (starts_with(message, "clone") ||
	    ((starts_with(message, "fetch") || starts_with(message, "pull")) &&
	     names_remote(message, remote)))
		return BELIEF_HAD;
	return BELIEF_NONE;
}

/* `git clone` writes no logs for remote-tracking branches, and puts them into packed-refs. */
static bool is_packed(const struct repository *repository, const char *ref)
{
	struct stat status;
	cleanup_free char *loose = path_join(repository->common, ref);
	return lstat(loose, &status) < 0;
}

/* Returns what the newest entry of the branch's log says, if the entry names this object. */
static enum belief ask_log(const struct repository *repository, const char *ref, const git_oid *oid,
			   const char *remote)
{
	git_reflog *log = NULL;
	enum belief belief = BELIEF_NONE;
	/* libgit2 makes a log that is missing, which we may not. */
	if (git_reference_has_log(repository->git, ref) == 0)
		return !repository->is_recorded && is_packed(repository, ref) ? BELIEF_HAD
									      : BELIEF_NONE;
	if (git_reflog_read(&log, repository->git, ref) < 0)
		return BELIEF_NONE;
	if (git_reflog_entrycount(log) > 0) {
		const git_reflog_entry *entry = git_reflog_entry_byindex(log, 0);
		if (git_oid_equal(git_reflog_entry_id_new(entry), oid))
			belief = belief_of(or_empty(git_reflog_entry_message(entry)), remote);
	}
	git_reflog_free(log);
	return belief;
}

/* The source repository, or a recorded remote on this machine. */
static bool is_asked(const struct look *look, const char *path)
{
	cleanup_free char *common = NULL;
	return open_common_of(path, &common, NULL) == 0 &&
	       (streq(common, look->source_common) || strvec_contains(&look->remotes_here, common));
}

/* Is the directory lost with the tree, or gone already? */
static bool is_lost(const struct look *look, const char *path)
{
	cleanup_free char *real = NULL, *tree = NULL;
	return fs_real_directory(path, &real, NULL) != 0 ||
	       fs_real_directory(look->origin.path, &tree, NULL) != 0 || open_is_below(real, tree);
}

enum address { ADDRESS_BELIEVED, ADDRESS_OTHER, ADDRESS_ASKED };

static int take_rule(const git_config_entry *entry UNUSED, void *context)
{
	*(bool *)context = true;
	return 0;
}

/* Pushes go to another address than the remote's own: pushurl, pushInsteadOf. */
static bool is_diverted(const struct repository *repository, git_remote *remote)
{
	git_config *config = NULL;
	bool has_rules = false;
	if (git_remote_pushurl(remote) &&
	    !streq(git_remote_pushurl(remote), git_remote_url(remote)))
		return true;
	if (git_repository_config(&config, repository->git) < 0)
		return true;
	int r = git_config_foreach_match(config, "^url\\..*insteadof$", take_rule, &has_rules);
	git_config_free(config);
	return r < 0 || has_rules;
}

static enum address address_of(const struct repository *repository, git_remote *remote)
{
	const struct look *look = repository->look;
	const char *address = git_remote_url(remote);
	const char *recorded = origin_remote(&look->origin, git_remote_name(remote));
	const char *base = repository->path ? repository->path : repository->git_directory;
	cleanup_free char *path = open_path_of(base, address);
	if (path && is_asked(look, path))
		return ADDRESS_ASKED;
	if (is_diverted(repository, remote) || strstr(address, "::") ||
	    (path && is_lost(look, path)))
		return ADDRESS_OTHER;
	return !repository->is_recorded || (recorded && streq(recorded, address)) ? ADDRESS_BELIEVED
										  : ADDRESS_OTHER;
}

enum belief survivors_believe(const struct repository *repository, const char *ref,
			      const git_oid *oid)
{
	git_buf name = GIT_BUF_INIT;
	git_remote *remote = NULL;
	enum belief belief = BELIEF_NONE;
	enum address address = ADDRESS_OTHER;
	char text[GIT_OID_HEXSZ + 1];
	if (git_branch_remote_name(&name, repository->git, ref) == 0 &&
	    git_remote_lookup(&remote, repository->git, name.ptr) == 0 && git_remote_url(remote))
		address = address_of(repository, remote);
	const char *recorded = repository->is_recorded ? origin_ref(&repository->look->origin, ref)
						       : NULL;
	if (address != ADDRESS_ASKED && recorded &&
	    streq(recorded, git_oid_tostr(text, sizeof(text), oid)))
		belief = BELIEF_HAD;
	else if (address == ADDRESS_BELIEVED)
		belief = ask_log(repository, ref, oid, name.ptr);
	git_remote_free(remote);
	git_buf_dispose(&name);
	return belief;
}

/* ---- the lists ---- */

static enum belief survives(const struct repository *repository, const char *name,
			    const git_oid *oid)
{
	const struct origin *origin = &repository->look->origin;
	if (repository->fate == FATE_GOES)
		return starts_with(name, "refs/remotes/") ? survivors_believe(repository, name, oid)
							  : BELIEF_NONE;
	const bool ends = (origin->kind == ORIGIN_WORKTREE && origin->made_branch &&
			   origin->branch &&
			   streq(repository->common, repository->look->source_common) &&
			   starts_with(name, "refs/heads/") &&
			   streq(name + strlen("refs/heads/"), origin->branch));
	return ends ? BELIEF_NONE : BELIEF_HAD;
}

static void add_surviving(const struct repository *repository, const char *name, const git_oid *oid,
			  struct survivors *survivors)
{
	git_oid commit;
	enum belief belief = survives(repository, name, oid);
	if (belief != BELIEF_NONE)
		add_object(repository->git, oid, survivors);
	if (repository->fate == FATE_STAYS || belief == BELIEF_NONE ||
	    (belief == BELIEF_PUSHED && !gitdir_pushes_lfs(repository)))
		return;
	if (commits_peel(repository->git, oid, &commit))
		commits_add(&survivors->uploaded, &commit);
}

static int add_own(const struct repository *repository, struct survivors *survivors)
{
	git_reference_iterator *iterator = NULL;
	git_reference *ref = NULL;
	int r = git_reference_iterator_new(&iterator, repository->git);
	while (r == 0 && (r = git_reference_next(&ref, iterator)) == 0) {
		const git_oid *oid = git_reference_target(ref);
		const char *name = git_reference_name(ref);
		if (oid)
			add_surviving(repository, name, oid, survivors);
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
			    survives(repository, git_reference_name(target), &oid) != BELIEF_NONE)
				add_default(repository->git, name, survivors);
			git_reference_free(target);
			git_reference_free(ref);
		}
	}
	git_strarray_dispose(&remotes);
}

/* Adds the branch that the owner of another repository merges into. */
static int add_other_default(const char *common, struct survivors *survivors)
{
	cleanup_git git_repository *other = NULL;
	int r = open_other(common, &other);
	if (r == 0)
		add_default(other, "HEAD", survivors);
	return r;
}

/* Everything that another repository has. */
static int add_other(const struct repository *repository, const char *common,
		     struct survivors *survivors)
{
	cleanup_git git_repository *other = NULL;
	cleanup_free char *objects = path_join(common, "objects");
	git_odb *odb = NULL;
	/* The repository's objects survive, so the walk may use them: a merge there of commits that
	 * were fetched from here is in no object of ours. */
	int r = git_repository_odb(&odb, repository->git);
	if (r == 0)
		r = git_odb_add_disk_alternate(odb, objects);
	git_odb_free(odb);
	if (r == 0)
		r = open_other(common, &other);
	if (r < 0)
		return r;
	struct repository asked = *repository;
	asked.git = other;
	asked.common = (char *)(uintptr_t)common;
	asked.fate = FATE_STAYS;
	return add_own(&asked, survivors);
}

/* The Git directory of the same submodule in the source repository, where a merge has put its
 * commits.  NULL: there is none.  The caller frees. */
static char *module_at_home(const struct repository *repository)
{
	const struct look *look = repository->look;
	const char *rest = repository->common;
	if (starts_with(rest, look->origin.path))
		rest += strlen(look->origin.path);
	else if (starts_with(rest, look->source_common))
		rest += strlen(look->source_common);
	const char *modules = strstr(rest, "/modules/");
	cleanup_free char *path = modules ? xasprintf("%s%s", look->source_common, modules) : NULL;
	char *common = NULL;
	return path && open_common_of(path, &common, NULL) == 0 ? common : NULL;
}

static int add_others(const struct repository *repository, struct survivors *survivors)
{
	const struct look *look = repository->look;
	int r = add_other(repository, look->source_common, survivors);
	survivors->module = module_at_home(repository);
	if (r == 0 && survivors->module)
		r = add_other(repository, survivors->module, survivors);
	for (size_t i = 0; r == 0 && i < look->remotes_here.count; i++) {
		r = add_other(repository, look->remotes_here.items[i], survivors);
		if (r == 0)
			r = add_other_default(look->remotes_here.items[i], survivors);
	}
	return r;
}

bool survivors_of(const struct repository *repository, struct survivors *ret)
{
	int r = add_own(repository, ret);
	add_own_defaults(repository, ret);
	if (r == 0 && repository->fate == FATE_GOES)
		r = add_others(repository, ret);
	if (r == 0 && (repository->fate == FATE_STAYS || repository->is_recorded))
		r = add_other_default(repository->look->source_common, ret);
	commits_settle(&ret->commits);
	commits_settle(&ret->objects);
	commits_settle(&ret->defaults);
	commits_settle(&ret->uploaded);
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
	commits_free(&survivors->uploaded);
	free(survivors->module);
}
