/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/nestedwish.h"

#include <string.h>
#include <unistd.h>

int nested_check(struct engine *engine, const struct engine_facts *facts, struct error *err)
{
	cleanup_engine_image struct engine_image image = { 0 };
	const char *why = facts->kind != ENGINE_DOCKER ? "podman is the engine"
			  : facts->is_rootless         ? "it runs without root's rights"
			  : geteuid() == 0             ? "root's session has no other user for it"
						       : NULL;
	if (why)
		return error_set(
			err, ERROR_UNAVAILABLE,
			"a Docker inside (--docker rootless) does not work here, since %s: use "
			"Docker of the system as an ordinary user, or do without it",
			why);
	const int r = engine_inspect_image(engine, NESTED_IMAGE, &image, err);
	return r == ENGINE_ABSENT ? error_set(err, ERROR_NOT_FOUND,
					      "docker has no image " NESTED_IMAGE
					      ", which a Docker inside needs: make it with "
					      "agentdeck image build-default --docker")
				  : r;
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool has_name_of(const struct strvec *list, const char *variable)
{
	const size_t length = strcspn(variable, "=") + 1;
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], variable, length) == 0)
			return true;
	return false;
}

static void gather(const struct recipe *recipe, const char *base UNUSED, struct strvec *ret)
{
	if (recipe->docker)
		strvec_push(ret, "DOCKER_HOST=" NESTED_HOST);
}

void nested_name(struct recipe *recipe, const char *base)
{
	cleanup_strvec struct strvec variables = { 0 };
	gather(recipe, base, &variables);
	for (size_t i = 0; i < variables.count; i++)
		if (!has_name_of(&recipe->environment, variables.items[i]))
			strvec_push(&recipe->environment, variables.items[i]);
}

void nested_unname(struct recipe *recipe, const char *base)
{
	cleanup_strvec struct strvec variables = { 0 }, before = recipe->environment;
	gather(recipe, base, &variables);
	recipe->environment = (struct strvec){ 0 };
	for (size_t i = 0; i < before.count; i++)
		if (!strvec_contains(&variables, before.items[i]))
			strvec_push(&recipe->environment, before.items[i]);
}

bool nested_is_variable(const char *variable)
{
	return starts_with(variable, "DOCKER_HOST=");
}
