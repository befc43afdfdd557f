/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the runs of a store live.
 */
#include "driver/store/store.h"

#include "driver/store/store-internal.h"
#include "model/session/naming.h"
#include "model/settings/paths.h"

#include <string.h>
#include <unistd.h>

void store_set_roots(struct store *store, const char *runtime, const char *direct)
{
	replace_string(&store->runtime, runtime);
	replace_string(&store->direct, direct);
}

static bool is_below(const char *root, const char *short_root, const char *directory,
		     const char *id)
{
	const size_t length = strlen(root);
	if (strncmp(directory, root, length) == 0 && directory[length] == '/')
		return streq(directory + length + 1, id);
	cleanup_free char *place = paths_run_directory(root, short_root, id);
	return streq(directory, place);
}

static bool is_socket_in(const char *socket, const char *directory)
{
	const size_t length = strlen(directory);
	return strncmp(socket, directory, length) == 0 &&
	       streq(socket + length, "/" PATHS_SOCKET_NAME);
}

bool store_is_own_place(const struct store *store, const char *id, const char *directory,
			const char *socket, const char *unit)
{
	if (!store->runtime || (!directory && !socket && !unit))
		return true;
	return directory && socket && (!unit || naming_is_scope_of(unit, id)) &&
	       is_socket_in(socket, directory) &&
	       (is_below(store->runtime, store->direct, directory, id) ||
		is_below(store->direct, store->direct, directory, id));
}

/* Whether it is the place of a run that was started with another TMPDIR or XDG_RUNTIME_DIR: it has
 * something of ours in it. */
static bool is_place_elsewhere(const char *directory, const char *id)
{
	static const char *const ours[] = { PATHS_RUN_MARK, PATHS_RUN_TOKEN };
	if (!directory || !paths_is_run_directory(directory, id))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		struct stat st;
		cleanup_free char *path = path_join(directory, ours[i]);
		if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
			return true;
	}
	return false;
}

/* The capsule of a run is below its instance, wherever that is: the directory may have been moved.
 * A guest's is below the session whose container it is. */
static void settle_capsule(const struct store *store, struct instance *instance)
{
	cleanup_free char *room = instance_room(instance);
	free(instance->run.capsule);
	instance->run.capsule = room ? path_join(store->path, room)
				     : xasprintf("%s/%s/" PATHS_CAPSULE_DIRECTORY, store->path,
						 instance->base);
}

void store_settle_place(const struct store *store, struct instance *instance)
{
	struct run *run = &instance->run;
	/* Another machine's places are not ours to judge. */
	if (!run->id || run_relation(run) == MACHINE_OTHER)
		return;
	if (run->capsule)
		settle_capsule(store, instance);
	if (store_is_own_place(store, instance->id, run->directory, run->socket, run->unit))
		return;
	if (run->unit && !naming_is_scope_of(run->unit, instance->id)) {
		free(run->unit);
		run->unit = naming_scope(instance->id);
	}
	if (!is_place_elsewhere(run->directory, instance->id)) {
		free(run->directory);
		run->directory = paths_run_directory(run->unit ? store->runtime : store->direct,
						     store->direct, instance->id);
	}
	free(run->socket);
	run->socket = path_join(run->directory, PATHS_SOCKET_NAME);
}
