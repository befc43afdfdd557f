/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/large.h"

#include "base/argsplit.h"
#include "base/fsutil.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* COMMITS_MOST: the walk stops after so many commits, and the verdict is unknown. */
enum { POINTER_MOST = 1024, OID_LENGTH = 64, COMMITS_MOST = 5000 };

/* A directory for large files, in the git directory. */
struct store {
	const char *below; /* objects are two directories below it, by a hash */
	const char *what;
	bool has_directories; /* the object NAME is NAME/NAME */
};
static const struct store stores[] = {
	{ "lfs/objects", "Git LFS", false },
	{ "annex/objects", "git-annex", true },
};

/* Large files that only this repository stores. */
struct content {
	const struct repository *repository;
	const struct store *store;
	const char *module;  /* as in struct survivors */
	struct strvec names; /* sorted */
	bool *is_lost;       /* of each name */
	size_t lost;
	char *example; /* the first that is lost */
};

/* ---- what is stored ---- */

/* Does another git directory have the complete file? */
static bool has(const char *common, const char *below, const struct stat *here)
{
	struct stat there;
	cleanup_free char *path = path_join(common, below);
	return stat(path, &there) == 0 && S_ISREG(there.st_mode) && there.st_size == here->st_size;
}

static void take(struct content *content, const char *directory, const char *name)
{
	const struct look *look = content->repository->look;
	struct stat status;
	cleanup_free char *below = content->store->has_directories
					   ? xasprintf("%s/%s/%s", directory, name, name)
					   : xasprintf("%s/%s", directory, name);
	cleanup_free char *path = path_join(content->repository->common, below);
	if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode) ||
	    has(look->source_common, below, &status) ||
	    (content->module && has(content->module, below, &status)))
		return;
	for (size_t i = 0; i < look->remotes_here.count; i++)
		if (has(look->remotes_here.items[i], below, &status))
			return;
	strvec_push(&content->names, name);
}

static void list(struct content *content, const char *directory, int depth)
{
	cleanup_free char *path = path_join(content->repository->common, directory);
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strvec struct strvec names = { 0 };
	if (fd < 0 || look_is_over(content->repository->look))
		return;
	if (fs_list(fd, &names, NULL) < 0)
		verdict_unknown(&content->repository->look->verdict, content->repository->where,
				"what %s stores cannot be listed", content->store->what);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *below = path_join(directory, names.items[i]);
		if (depth < 2)
			list(content, below, depth + 1);
		else
			take(content, directory, names.items[i]);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- what commits name ---- */

/* Count each file once. */
static void lose(struct content *content, size_t at, const char *example)
{
	if (content->is_lost[at])
		return;
	content->is_lost[at] = true;
	if (!content->lost++)
		content->example = xstrdup(example);
}

/* Does another parent of a merge have the file?  That parent is judged separately. */
static bool has_other_parent(const git_commit *commit, const git_diff_file *file)
{
	bool has = false;
	for (unsigned int i = 1; !has && i < git_commit_parentcount(commit); i++) {
		git_commit *parent = NULL;
		git_tree *tree = NULL;
		git_tree_entry *entry = NULL;
		has = git_commit_parent(&parent, commit, i) == 0 &&
		      git_commit_tree(&tree, parent) == 0 &&
		      git_tree_entry_bypath(&entry, tree, file->path) == 0 &&
		      git_oid_equal(git_tree_entry_id(entry), &file->id);
		git_tree_entry_free(entry);
		git_tree_free(tree);
		git_commit_free(parent);
	}
	return has;
}

static void look_for_pointer(struct content *content, const git_commit *commit,
			     const git_diff_file *file)
{
	git_blob *blob = NULL;
	if (git_blob_lookup(&blob, git_commit_owner(commit), &file->id) < 0)
		return;
	cleanup_free char *text = git_blob_rawsize(blob) < POINTER_MOST
					  ? xstrndup(git_blob_rawcontent(blob),
						     (size_t)git_blob_rawsize(blob))
					  : NULL;
	git_blob_free(blob);
	const char *line = text ? strstr(text, "\noid sha256:") : NULL;
	if (!line || !starts_with(text, "version https://git-lfs.github.com/spec/"))
		return;
	cleanup_free char *name = xstrndup(line + strlen("\noid sha256:"), OID_LENGTH);
	char *const *found = content->names.count
				     ? bsearch(&name, content->names.items, content->names.count,
					       sizeof(*content->names.items), compare)
				     : NULL;
	if (found && !has_other_parent(commit, file))
		lose(content, (size_t)(found - content->names.items), file->path);
}

static bool is_small(git_odb *odb, const git_oid *oid)
{
	size_t size;
	git_object_t type;
	return git_odb_read_header(&size, &type, odb, oid) == 0 && type == GIT_OBJECT_BLOB &&
	       size < POINTER_MOST;
}

static int look_at_changes(struct content *content, const git_commit *commit, git_tree *before,
			   git_tree *after)
{
	git_repository *git = git_commit_owner(commit);
	git_diff *diff = NULL;
	git_odb *odb = NULL;
	int r = git_repository_odb(&odb, git);
	if (r == 0)
		r = git_diff_tree_to_tree(&diff, git, before, after, NULL);
	const size_t count = r == 0 ? git_diff_num_deltas(diff) : 0;
	for (size_t i = 0; i < count; i++) {
		const git_diff_file *file = &git_diff_get_delta(diff, i)->new_file;
		if (S_ISREG(file->mode) && is_small(odb, &file->id))
			look_for_pointer(content, commit, file);
	}
	git_diff_free(diff);
	git_odb_free(odb);
	return r;
}

static int look_at_commit(struct content *content, git_repository *git, const git_oid *oid)
{
	git_commit *commit = NULL, *parent = NULL;
	git_tree *after = NULL, *before = NULL;
	int r = git_commit_lookup(&commit, git, oid);
	if (r == 0)
		r = git_commit_tree(&after, commit);
	if (r == 0 && git_commit_parentcount(commit) > 0)
		r = git_commit_parent(&parent, commit, 0);
	if (r == 0 && parent)
		r = git_commit_tree(&before, parent);
	if (r == 0)
		r = look_at_changes(content, commit, before, after);
	git_tree_free(before);
	git_tree_free(after);
	git_commit_free(parent);
	git_commit_free(commit);
	return r;
}

static int hide_recorded(const struct repository *repository, git_revwalk *walk, git_odb *odb)
{
	const struct origin *origin = &repository->look->origin;
	git_oid oid, commit;
	int r = 0;
	for (size_t i = 0; repository->is_recorded && r == 0 && i < origin->ref_count; i++)
		if (git_oid_fromstr(&oid, origin->refs[i].value) == 0 &&
		    git_odb_exists(odb, &oid) && commits_peel(repository->git, &oid, &commit))
			r = git_revwalk_hide(walk, &commit);
	return r;
}

/* Walk the commits that were made here, and whose large files were not sent. */
static int walk_commits(struct content *content, const struct commits *heads,
			const struct commits *uploaded)
{
	const struct repository *repository = content->repository;
	git_revwalk *walk = NULL;
	git_odb *odb = NULL;
	git_oid oid;
	int r = git_repository_odb(&odb, repository->git);
	if (r == 0)
		r = git_revwalk_new(&walk, repository->git);
	for (size_t i = 0; r == 0 && i < heads->count; i++)
		r = git_revwalk_push(walk, &heads->oids[i]);
	for (size_t i = 0; r == 0 && i < uploaded->count; i++)
		r = git_revwalk_hide(walk, &uploaded->oids[i]);
	if (r == 0)
		r = hide_recorded(repository, walk, odb);
	for (int i = 0; r == 0 && content->lost < content->names.count &&
			(r = git_revwalk_next(&oid, walk)) == 0;
	     i++) {
		if (i == COMMITS_MOST)
			verdict_unknown(&repository->look->verdict, repository->where,
					"it has too many commits that may name files of %s",
					content->store->what);
		if (i == COMMITS_MOST || look_is_over(repository->look))
			break;
		r = look_at_commit(content, repository->git, &oid);
	}
	git_revwalk_free(walk);
	git_odb_free(odb);
	return r == GIT_ITEROVER ? 0 : r;
}

/* ---- the finding ---- */

static void add_finding(const struct content *content)
{
	const struct repository *repository = content->repository;
	const struct store *store = content->store;
	cleanup_free char *from = path_join(repository->common, store->below);
	cleanup_free char *objects = path_join(
		content->module ? content->module : repository->look->source_common, store->below);
	cleanup_free char *target = xstrndup(objects,
					     (size_t)(path_basename(objects) - objects) - 1);
	char *const make[] = { (char[]){ "mkdir" }, (char[]){ "-p" }, target, NULL };
	char *const copy[] = { (char[]){ "cp" }, (char[]){ "-Rn" }, from, target, NULL };
	/* The user copies this line into a shell, and an agent may have named the directories. */
	cleanup_free char *first = argjoin(make);
	cleanup_free char *second = argjoin(copy);
	cleanup_free char *name = xasprintf("%zu file%s of %s, as %s", content->lost,
					    content->lost == 1 ? "" : "s", store->what,
					    content->example);
	cleanup_free char *detail = xasprintf("git fetch does not bring them along: %s && %s",
					      first, second);
	verdict_add(&repository->look->verdict, FINDING_CONTENT, repository->where, name, detail);
}

static void look_at_store(const struct repository *repository, const struct store *store,
			  const struct commits *heads, const struct survivors *survivors)
{
	struct content content = { .repository = repository,
				   .store = store,
				   .module = survivors->module };
	list(&content, store->below, 0);
	const size_t count = content.names.count;
	if (count)
		qsort(content.names.items, count, sizeof(*content.names.items), compare);
	content.is_lost = xcalloc(count, sizeof(*content.is_lost));
	/* git-annex itself knows which remotes have a key, and drops it here when they have. */
	for (size_t i = 0; store->has_directories && i < count; i++)
		lose(&content, i, content.names.items[i]);
	if (!store->has_directories && count &&
	    walk_commits(&content, heads, &survivors->uploaded) < 0)
		look_failed(repository, "the files of %s cannot be looked for", store->what);
	if (content.lost)
		add_finding(&content);
	strvec_clear(&content.names);
	free(content.is_lost);
	free(content.example);
}

void large_add(const struct repository *repository, const struct commits *heads,
	       const struct survivors *survivors)
{
	for (size_t i = 0; repository->fate == FATE_GOES && i < ARRAY_SIZE(stores); i++)
		look_at_store(repository, &stores[i], heads, survivors);
}
