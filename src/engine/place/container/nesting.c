/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/nesting.h"

#include "base/fsutil.h"
#include "engine/place/container/container-internal.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- of one session -------------------------------------------------------------------------- */

/* Not the directory itself: its name is in one that the agent does not write. */
static bool is_inside(const char *path, const char *directory)
{
	return !streq(path, directory) && path_is_below(path, directory);
}

/* In its own container this is a mount point, which its agent cannot move away: the directory
 * above it is one, too. */
static bool is_fixed(const struct recipe_place *place, const struct recipe_place *above)
{
	const size_t length = strlen(above->source);
	return streq(place->source, place->target) && streq(above->source, above->target) &&
	       path_basename(place->source) == place->source + length + 1;
}

static int refuse(const struct recipe_place *place, const struct recipe_place *above,
		  const char *whose, const char *remedy, struct error *err)
{
	cleanup_free char *inner = visible(place->source), *outer = visible(above->source);
	return error_set(err, ERROR_INVALID,
			 "%s is in %s, where an agent can put a link to any of your files in its "
			 "place (%s): %s",
			 inner, outer, whose, remedy);
}

static int check_itself(const struct mounts *mounts, struct error *err)
{
	for (size_t i = 0; i < mounts->count; i++)
		for (size_t j = 0; j < mounts->count; j++) {
			const struct recipe_place *place = &mounts->items[i],
						  *above = &mounts->items[j];
			if (place->kind != RECIPE_REPOSITORY && !above->read_only &&
			    is_inside(place->source, above->source) && !is_fixed(place, above))
				return refuse(place, above, "that of this session",
					      "the container has it already, as a part of that "
					      "directory; or mount one that is elsewhere",
					      err);
		}
	return 0;
}

/* ---- of agentdeck ---------------------------------------------------------------------------- */

/* A directory of agentdeck's. */
struct own {
	const char *path;
	/* A mount with sockets: a connection needs no write access to its file system. */
	bool has_sockets;
};

static int refuse_own(const struct own *own, const char *source, struct error *err)
{
	cleanup_free char *shown = visible(source);
	return own->has_sockets
		       ? error_set(err, ERROR_INVALID,
				   "%s has sockets of agentdeck's (%s), through which an agent in "
				   "the container could run commands on this machine and in other "
				   "containers, even if it is read-only: name a directory below it",
				   shown, own->path)
		       : error_set(err, ERROR_INVALID,
				   "%s has files of agentdeck's (%s), which say what runs on this "
				   "machine, and an agent in the container could change them: name "
				   "a directory below it",
				   shown, own->path);
}

bool nesting_is_ours(const struct deck *deck, const char *path)
{
	const char *const all[] = { deck->paths.state, deck->paths.runtime, deck->paths.direct,
				    deck->paths.config };
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		cleanup_free char *real = realpath(all[i], NULL);
		if (path_is_below(path, real ? real : all[i]))
			return true;
	}
	return false;
}

static int check_ours(const struct deck *deck, const struct mounts *mounts, struct error *err)
{
	cleanup_free char *programs = container_programs(deck);
	cleanup_free char *profile = path_join(deck->paths.state, deck->profile);
	/* For the programs of this machine: docs/interface.md. */
	cleanup_free char *socket = path_join(or_empty(deck->paths.user_runtime),
					      "agentdeck.socket");
	const struct own all[] = {
		{ deck->paths.state, true },
		{ profile, true },
		{ deck->paths.runtime, true },
		{ deck->paths.direct, true },
		{ deck->paths.config, false },
		{ programs, false },
		{ socket, true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		cleanup_free char *real = realpath(all[i].path, NULL);
		for (size_t j = 0; j < mounts->count; j++) {
			const struct recipe_place *place = &mounts->items[j];
			if ((all[i].has_sockets || !place->read_only) &&
			    path_is_below(real ? real : all[i].path, place->source))
				return refuse_own(&all[i], place->source, err);
		}
	}
	return 0;
}

/* ---- of the others --------------------------------------------------------------------------- */

struct other {
	struct instance *instance;
	struct mounts mounts;
};

struct others {
	const char *except; /* id */
	struct other *items;
	size_t count;
};

static void others_clear(struct others *others)
{
	for (size_t i = 0; i < others->count; i++) {
		instance_free(others->items[i].instance);
		mounts_clear(&others->items[i].mounts);
	}
	free(others->items);
}

/* Takes the instance.  Its home is written by its agent, too. */
static void add_other(struct others *others, struct instance *instance)
{
	others->items = xreallocarray(others->items, others->count + 1, sizeof(*others->items));
	struct other *other = &others->items[others->count++];
	*other = (struct other){ .instance = instance };
	struct mounts *mounts = &other->mounts;
	const char *home = instance->recipe->home;
	mounts_gather(instance->recipe, mounts);
	mounts->items = xreallocarray(mounts->items, mounts->count + 1, sizeof(*mounts->items));
	mounts->items[mounts->count++] = (struct recipe_place){ home, home, false, RECIPE_TREE };
}

/* A session that cannot be read, or was removed just now, has no container that is started. */
static int gather_from(struct store *store, void *context, struct error *err)
{
	struct others *others = context;
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		cleanup_instance struct instance *instance = NULL;
		if (!row->damage && streq(or_empty(row->backend), place_container.name) &&
		    !streq(row->id, or_empty(others->except)) &&
		    store_load(store, row->base, &instance, NULL) == 0)
			add_other(others, TAKE_PTR(instance));
	}
	return 0;
}

/* The caller frees. */
static char *name_of(const struct deck *deck, const struct other *other)
{
	cleanup_free char *title = visible(other->instance->title);
	const char *profile = other->instance->profile;
	return streq(profile, deck->profile)
		       ? xasprintf("that of session '%s'", title)
		       : xasprintf("that of session '%s' of profile %s", title, profile);
}

static const char elsewhere[] = "use --clone, or a directory that is elsewhere, or remove that "
				"session first";

/* The repository of a worktree is often another session's directory.  Each start finds the links
 * that were made there meanwhile. */
static int compare(const struct deck *deck, const struct recipe_place *mine,
		   const struct other *other, struct error *err)
{
	cleanup_free char *whose = name_of(deck, other);
	for (size_t i = 0; i < other->mounts.count; i++) {
		const struct recipe_place *theirs = &other->mounts.items[i];
		if (mine->kind != RECIPE_REPOSITORY && !theirs->read_only &&
		    is_inside(mine->source, theirs->source))
			return refuse(mine, theirs, whose, elsewhere, err);
		if (theirs->kind == RECIPE_REPOSITORY || mine->read_only ||
		    !is_inside(theirs->source, mine->source))
			continue;
		cleanup_free char *both = xasprintf("that of this session, and the place is of "
						    "%s",
						    whose + strlen("that of "));
		return refuse(theirs, mine, both, elsewhere, err);
	}
	return 0;
}

int nesting_check(const struct deck *deck, const char *id, const struct recipe *recipe,
		  struct error *err)
{
	CLEANUP(others_clear) struct others others = { .except = id };
	cleanup_mounts struct mounts mounts = { 0 };
	mounts_gather(recipe, &mounts);
	if (check_ours(deck, &mounts, err) < 0 || check_itself(&mounts, err) < 0 ||
	    deck_each_profile(deck, gather_from, &others, err) < 0)
		return -1;
	for (size_t i = 0; i < mounts.count; i++)
		for (size_t j = 0; j < others.count; j++)
			if (compare(deck, &mounts.items[i], &others.items[j], err) < 0)
				return -1;
	return 0;
}

int nesting_check_session(const struct deck *deck, const struct instance *instance,
			  struct error *err)
{
	return instance->recipe ? nesting_check(deck, instance->id, instance->recipe, err) : 0;
}

/* ---- links ----------------------------------------------------------------------------------- */

enum { LINKS_MOST = 40 };

static int check_link(const struct deck *deck, const struct others *others, const char *link,
		      const char *holder, struct error *err)
{
	for (size_t i = 0; i < others->count; i++)
		for (size_t j = 0; j < others->items[i].mounts.count; j++) {
			const struct recipe_place *theirs = &others->items[i].mounts.items[j];
			if (theirs->read_only || !path_is_below(holder, theirs->source))
				continue;
			cleanup_free char *whose = name_of(deck, &others->items[i]);
			cleanup_free char *shown = visible(link);
			return error_set(err, ERROR_INVALID,
					 "%s is a link, which an agent can have made (%s): name "
					 "the directory itself",
					 shown, whose);
		}
	return 0;
}

/* The path without its first link.  The caller frees. */
static char *follow(const char *path, const char *link)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(link, target, sizeof(target) - 1);
	const char *rest = path + strlen(link);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	return *target == '/' ? xasprintf("%s%s", target, rest)
			      : xasprintf("%.*s%s%s", (int)(path_basename(link) - link), link,
					  target, rest);
}

int nesting_check_path(const struct deck *deck, const char *path, struct error *err)
{
	CLEANUP(others_clear) struct others others = { 0 };
	cleanup_free char *here = realpath(".", NULL);
	cleanup_free char *at = *path == '/' || !here ? xstrdup(path) : path_join(here, path);
	for (unsigned i = 0; at && i < LINKS_MOST; i++) {
		cleanup_free char *link = path_find_link(at);
		if (!link)
			break;
		cleanup_free char *above = xstrndup(link, (size_t)(path_basename(link) - link));
		cleanup_free char *holder = realpath(above, NULL), *next = follow(at, link);
		if (!others.items && deck_each_profile(deck, gather_from, &others, err) < 0)
			return -1;
		if (holder && check_link(deck, &others, link, holder, err) < 0)
			return -1;
		free(at);
		at = TAKE_PTR(next);
	}
	return 0;
}
