/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/fsutil.h"
#include "engine/place/alive.h"
#include "engine/reconcile/reconcile-internal.h"
#include "engine/reconcile/reconcile.h"
#include "engine/workspace/orphan.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CONVERSATIONS "conversations"

enum { LOCK_MS = 30000 };

/* One name in one profile. */
struct found {
	enum stray_kind kind;
	char *profile, *name, *session;
};

struct on_disk {
	struct found *items;
	size_t count;
};

void on_disk_free(struct on_disk *on_disk)
{
	for (size_t i = 0; on_disk && i < on_disk->count; i++) {
		free(on_disk->items[i].profile);
		free(on_disk->items[i].name);
		free(on_disk->items[i].session);
	}
	if (on_disk)
		free(on_disk->items);
	free(on_disk);
}

/* ---- listing --------------------------------------------------------------------------------- */

static void add(struct on_disk *on_disk, enum stray_kind kind, const struct store *store,
		const char *name)
{
	on_disk->items = xreallocarray(on_disk->items, on_disk->count + 1, sizeof(*on_disk->items));
	on_disk->items[on_disk->count++] = (struct found){
		.kind = kind,
		.profile = xstrdup(store_profile(store)),
		.name = xstrdup(name),
		.session = naming_id_of_base(name),
	};
}

/* Only what has the form of our names: everything else is not our business. */
static void add_all(struct on_disk *on_disk, enum stray_kind kind, const struct store *store,
		    const struct strvec *names)
{
	for (size_t i = 0; i < names->count; i++) {
		cleanup_free char *id = naming_id_of_base(names->items[i]);
		if (naming_is_id(id) && !ends_with(names->items[i], ".lock"))
			add(on_disk, kind, store, names->items[i]);
	}
}

static int list_conversations(const struct store *store, struct strvec *ret, struct error *err)
{
	cleanup_close int fd = -1;
	int r = fs_open_private_directory_at(store_profile_directory(store), CONVERSATIONS, false,
					     &fd, err);
	return r != 0 ? (r < 0 ? -1 : 0) : fs_list(fd, ret, err);
}

static int list_profile(struct store *store, void *on_disk, struct error *err)
{
	cleanup_strvec struct strvec trees = { 0 }, conversations = { 0 }, names = { 0 };
	if (orphan_list(store, &trees, err) < 0 ||
	    list_conversations(store, &conversations, err) < 0 ||
	    fs_list(store_profile_directory(store), &names, err) < 0)
		return -1;
	add_all(on_disk, STRAY_TREE, store, &trees);
	add_all(on_disk, STRAY_CONVERSATIONS, store, &conversations);
	add_all(on_disk, STRAY_DIRECTORY, store, &names);
	return 0;
}

int on_disk_list(const struct deck *deck, struct on_disk **ret, struct error *err)
{
	cleanup_on_disk struct on_disk *on_disk = xcalloc(1, sizeof(*on_disk));
	if (deck_each_profile(deck, list_profile, on_disk, err) < 0)
		return -1;
	*ret = TAKE_PTR(on_disk);
	return 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static char *profile_path(const struct deck *deck, const char *profile)
{
	return path_join(deck->paths.state, profile);
}

/* The names below a directory; FS_ABSENT: it is gone. */
static int list_below(int profile, const char *parent, const char *name, struct strvec *ret,
		      struct error *err)
{
	cleanup_close int above = -1, fd = -1;
	int r = parent ? fs_open_private_directory_at(profile, parent, false, &above, err) : 0;
	if (r == 0)
		r = fs_open_private_directory_at(parent ? above : profile, name, false, &fd, err);
	return r != 0 ? r : fs_list(fd, ret, err);
}

/* A start makes these directories again; nothing else here can be made again. */
static bool can_be_made_again(const struct strvec *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!streq(names->items[i], PATHS_CAPSULE_DIRECTORY) &&
		    !streq(names->items[i], PATHS_USERS_DIRECTORY) &&
		    !streq(names->items[i], INSTANCE_ROOMS) &&
		    !starts_with(names->items[i], FS_TEMPORARY_PREFIX))
			return false;
	return true;
}

static const char *parent_of(enum stray_kind kind)
{
	return kind == STRAY_CONVERSATIONS ? CONVERSATIONS : NULL;
}

/* FS_ABSENT: it is gone. */
static int look_at_directory(const struct store *store, const struct found *found, bool *ret_safe,
			     struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	int r = list_below(store_profile_directory(store), parent_of(found->kind), found->name,
			   &names, err);
	if (r == 0)
		*ret_safe = found->kind == STRAY_CONVERSATIONS ? names.count == 0
							       : can_be_made_again(&names);
	return r;
}

static void note(struct stray *stray, const struct found *found, const char *what, bool runs)
{
	cleanup_free char *shown = visible(stray->name);
	stray->session = xstrdup(found->session);
	stray->profile = xstrdup(found->profile);
	if (stray->action != STRAY_KEEP)
		return;
	if (runs) {
		stray->remedy = xstrdup("end what runs there, and agentdeck doctor --fix again");
		return;
	}
	if (what)
		stray->remedy = xasprintf("continue it: agentdeck add %s; or delete it: rm -r %s",
					  shown, shown);
	else
		stray->remedy = xasprintf("delete it if you do not need it: rm -r %s", shown);
}

/* A manifest may have been deleted while its agent works: then its tree is in use, whatever the
 * verdict is. */
static int look_for_run(const struct there *there, const struct found *found, bool *ret,
			struct error *err)
{
	if (!asked_runs(there->asked, found->session))
		return place_has_processes(found->session, ret, err);
	*ret = true;
	return 0;
}

static int compare_tree(const struct deck *deck, const struct store *store,
			const struct found *found, const struct there *there, struct strays *strays,
			struct error *err)
{
	cleanup_orphan struct orphan orphan = { 0 };
	cleanup_free char *path = profile_path(deck, found->profile);
	int r = orphan_look(store, path, found->name, &orphan, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	/* A session works in it. */
	if (known_in(there->known, orphan.path))
		return 0;
	struct stray_facts facts = {
		.kind = STRAY_TREE,
		.presence = STRAY_THERE,
		.is_ours = true,
		.is_safe = verdict_is_safe(&orphan.verdict),
	};
	if (look_for_run(there, found, &facts.runs, err) < 0)
		return -1;
	struct stray *stray = strays_add(strays, &facts, orphan.path);
	cleanup_free char *line = verdict_line(&orphan.verdict);
	if (ends_with(line, ";"))
		line[strlen(line) - 1] = '\0';
	if (stray && !facts.is_safe) {
		cleanup_free char *why = TAKE_PTR(stray->why);
		stray->why = xasprintf("%s: %s", why, line);
	}
	if (stray)
		note(stray, found, "tree", facts.runs);
	return 0;
}

static int compare_directory(const struct deck *deck, const struct store *store,
			     const struct found *found, const struct there *there,
			     struct strays *strays, struct error *err)
{
	struct stray_facts facts = {
		.kind = found->kind,
		.presence = STRAY_THERE,
		.is_ours = true,
	};
	int r = look_at_directory(store, found, &facts.is_safe, err);
	if (r == 0)
		r = look_for_run(there, found, &facts.runs, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	cleanup_free char *profile = profile_path(deck, found->profile);
	const char *parent = parent_of(found->kind);
	cleanup_free char *path = xasprintf("%s/%s%s%s", profile, or_empty(parent),
					    parent ? "/" : "", found->name);
	struct stray *stray = strays_add(strays, &facts, path);
	if (stray)
		note(stray, found, NULL, facts.runs);
	return 0;
}

static bool is_of_a_session(const struct found *found, const struct known *known)
{
	const struct known_session *session = known_find(known, found->session);
	/* A directory in place of a removed session's is another's. */
	return session && (found->kind != STRAY_DIRECTORY || !session->is_removed);
}

static int compare_found(const struct deck *deck, const struct found *found,
			 const struct there *there, struct strays *strays, struct error *err)
{
	cleanup_store struct store *store = NULL;
	if (is_of_a_session(found, there->known))
		return 0;
	if (deck_open_profile(deck, found->profile, &store, err) < 0)
		return -1;
	return found->kind == STRAY_TREE
		       ? compare_tree(deck, store, found, there, strays, err)
		       : compare_directory(deck, store, found, there, strays, err);
}

static void compare_trees_of(const struct known *known, struct strays *strays)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct known_session *session = known->sessions + i;
		const struct workspace *tree = session->instance ? session->instance->workspace
								 : NULL;
		if (!tree || !tree->is_made || !tree->path || session->is_removed ||
		    access(tree->path, F_OK) == 0 || errno != ENOENT)
			continue;
		const struct stray_facts facts = {
			.kind = STRAY_TREE,
			.session = STRAY_OF_LISTED,
			.presence = STRAY_MISSING,
			.missed = 2,
		};
		struct stray *stray = strays_add(strays, &facts, tree->path);
		if (stray)
			stray->session = xstrdup(session->id);
	}
}

int on_disk_compare(const struct deck *deck, const struct on_disk *on_disk,
		    const struct there *there, struct strays *strays, struct error *err)
{
	for (size_t i = 0; i < on_disk->count; i++)
		if (compare_found(deck, on_disk->items + i, there, strays, err) < 0)
			return -1;
	compare_trees_of(there->known, strays);
	return 0;
}

/* ---- freeing --------------------------------------------------------------------------------- */

/* Judge the tree again: its user may have taken their time to agree. */
static int free_tree(const struct deck *deck, const struct store *store, const struct stray *stray,
		     const struct known *known, struct error *err)
{
	cleanup_orphan struct orphan orphan = { 0 };
	cleanup_free char *path = profile_path(deck, stray->profile);
	int r = orphan_look(store, path, stray->session, &orphan, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (known_in(known, orphan.path))
		return error_set(err, ERROR_BUSY, "a session works in it now");
	if (!verdict_is_safe(&orphan.verdict))
		return error_set(err, ERROR_BUSY,
				 "the tree has changed: run agentdeck doctor "
				 "--fix again");
	return orphan_delete(store, stray->session, &orphan, err);
}

static int free_directory(const struct store *store, const struct stray *stray, struct error *err)
{
	cleanup_close int above = -1;
	const struct found found = { .kind = stray->kind,
				     .name = (char *)path_basename(stray->name) };
	const char *parent = parent_of(stray->kind);
	bool is_safe = false;
	int r = look_at_directory(store, &found, &is_safe, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (!is_safe)
		return error_set(err, ERROR_BUSY,
				 "the directory has changed: run agentdeck doctor "
				 "--fix again");
	if (!parent)
		return fs_remove_tree(store_profile_directory(store), found.name, err);
	if (fs_open_private_directory_at(store_profile_directory(store), parent, false, &above,
					 err) != 0)
		return -1;
	if (unlinkat(above, found.name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s", stray->name);
	return 0;
}

int on_disk_fix(const struct deck *deck, const struct stray *stray, struct error *err)
{
	cleanup_store struct store *store = NULL;
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_known struct known known = { 0 };
	bool runs = false;
	if (deck_open_profile(deck, stray->profile, &store, err) < 0)
		return -1;
	int r = store_lock_profile(store, clock_ms() + LOCK_MS, &lock, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck holds the profile's lock: try again");
	if (r < 0 || known_gather(deck, &known, err) < 0)
		return -1;
	const struct found found = { .kind = stray->kind, .session = stray->session };
	if (is_of_a_session(&found, &known))
		return error_set(err, ERROR_BUSY, "it has a session now");
	if (place_has_processes(stray->session, &runs, err) < 0)
		return -1;
	if (runs)
		return error_set(err, ERROR_BUSY, "something runs in it now");
	return stray->kind == STRAY_TREE ? free_tree(deck, store, stray, &known, err)
					 : free_directory(store, stray, err);
}
