/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/mounting.h"

#include "engine/deck/home.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/nestedwish.h"

void mounting_clear(struct mounting *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->items[i].source);
		free(mounts->items[i].target);
	}
	free(mounts->items);
	*mounts = (struct mounting){ 0 };
}

void mounting_add(struct mounting *mounts, const char *source, const char *target, bool read_only)
{
	mounts->items = xreallocarray(mounts->items, mounts->count + 1, sizeof(*mounts->items));
	mounts->items[mounts->count++] = (struct engine_mount){
		.source = xstrdup(source),
		.target = xstrdup(target),
		.read_only = read_only,
	};
}

static bool is_isolated(const struct agent *agent)
{
	return agent->isolation_arguments.count || agent->isolation_environment.count;
}

void mounting_collect(const struct ladder *ladder, struct mounting *ret)
{
	const struct recipe *recipe = ladder->instance->recipe;
	cleanup_free char *capsule = container_capsule_directory(ladder->deck, ladder->instance);
	cleanup_free char *programs = container_programs(ladder->deck);
	cleanup_free char *users = container_users(ladder->deck, ladder->instance);
	cleanup_free char *passwd = path_join(users, "passwd");
	cleanup_free char *group = path_join(users, "group");
	cleanup_free char *nested = container_nested_directory(ladder->deck, ladder->instance);
	cleanup_free char *certificates = container_certificates(ladder->deck, ladder->instance);
	cleanup_free char *state = home_path(ladder->deck, ladder->instance->id);
	mounting_add(ret, programs, CAPSULE_PROGRAMS, true);
	mounting_add(ret, capsule, capsule, false);
	mounting_add(ret, recipe->home, recipe->home, false);
	for (int i = 1; i <= GUEST_ROOMS; i++) {
		cleanup_free char *room = container_room(ladder->deck, ladder->instance, i);
		mounting_add(ret, room, room, false);
	}
	if (!recipe_has_tree(recipe))
		mounting_add(ret, recipe->directory, recipe->directory, false);
	if (recipe_has_workspace(recipe))
		mounting_add(ret, recipe->directory, recipe->workspace, false);
	mounting_add(ret, passwd, "/etc/passwd", true);
	mounting_add(ret, group, "/etc/group", true);
	if (is_isolated(ladder->order.agent))
		mounting_add(ret, state, state, false);
	const char *program = recipe_program_mount(recipe);
	if (program)
		mounting_add(ret, program, program, true);
	for (size_t i = 0; i < recipe->mount_count; i++)
		mounting_add(ret, recipe->mounts[i].source, recipe->mounts[i].target,
			     recipe->mounts[i].read_only);
	if (recipe->docker)
		mounting_add(ret, nested, NESTED_PLACE, false);
	if (recipe->docker == DOCKER_ROOTLESS_TCP)
		mounting_add(ret, certificates, NESTED_CERTIFICATES, true);
}
