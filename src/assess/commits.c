/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/commits.h"

#include <stdlib.h>

bool commits_peel(git_repository *git, const git_oid *oid, git_oid *ret)
{
	git_object *object = NULL, *commit = NULL;
	bool is_commit = git_object_lookup(&object, git, oid, GIT_OBJECT_ANY) == 0 &&
			 git_object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0;
	if (is_commit)
		*ret = *git_object_id(commit);
	git_object_free(commit);
	git_object_free(object);
	return is_commit;
}

void commits_add(struct commits *commits, const git_oid *oid)
{
	if ((commits->count & (commits->count - 1)) == 0)
		commits->oids = xreallocarray(commits->oids,
					      commits->count ? 2 * commits->count : 1,
					      sizeof(*commits->oids));
	commits->oids[commits->count++] = *oid;
	commits->is_sorted = false;
}

static int compare(const void *a, const void *b)
{
	return git_oid_cmp(a, b);
}

void commits_settle(struct commits *commits)
{
	size_t kept = 0;
	if (commits->is_sorted || !commits->count)
		return;
	qsort(commits->oids, commits->count, sizeof(*commits->oids), compare);
	for (size_t i = 0; i < commits->count; i++)
		if (!kept || !git_oid_equal(&commits->oids[i], &commits->oids[kept - 1]))
			commits->oids[kept++] = commits->oids[i];
	/* Room for more is only at powers of two: commits_add(). */
	size_t size = 1;
	while (size < kept)
		size *= 2;
	commits->oids = xreallocarray(commits->oids, size, sizeof(*commits->oids));
	commits->count = kept;
	commits->is_sorted = true;
}

bool commits_have(const struct commits *commits, const git_oid *oid)
{
	return commits->count &&
	       bsearch(oid, commits->oids, commits->count, sizeof(*commits->oids), compare);
}

static int walk(const struct repository *repository, git_revwalk *walk, const struct commits *from,
		const struct commits *without, struct commits_missing *ret)
{
	int r = 0;
	struct commits_missing missing = { 0 };
	git_oid oid;
	for (size_t i = 0; r == 0 && i < from->count; i++)
		if (!commits_have(without, &from->oids[i]))
			r = git_revwalk_push(walk, &from->oids[i]);
	for (size_t i = 0; r == 0 && i < without->count; i++)
		r = git_revwalk_hide(walk, &without->oids[i]);
	while (r == 0 && (r = git_revwalk_next(&oid, walk)) == 0) {
		if (missing.count < COMMITS_LISTED)
			missing.first[missing.count] = oid;
		if (++missing.count % 1024 == 0 && look_is_over(repository->look))
			break;
	}
	if (r != 0 && r != GIT_ITEROVER)
		return -1;
	*ret = missing;
	return 0;
}

int commits_missing(const struct repository *repository, const struct commits *from,
		    const struct commits *without, struct commits_missing *ret)
{
	git_revwalk *revwalk = NULL;
	bool is_contained = true;
	for (size_t i = 0; i < from->count; i++)
		is_contained &= commits_have(without, &from->oids[i]);
	if (is_contained) {
		*ret = (struct commits_missing){ 0 };
		return 0;
	}
	if (git_revwalk_new(&revwalk, repository->git) < 0)
		return -1;
	git_revwalk_sorting(revwalk, GIT_SORT_TIME);
	int r = walk(repository, revwalk, from, without, ret);
	git_revwalk_free(revwalk);
	return r;
}

void commits_free(struct commits *commits)
{
	free(commits->oids);
	*commits = (struct commits){ 0 };
}
