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

char *nested_host(const char *base)
{
	return xasprintf("%s-dind", base);
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

/* Docker's own, those of programs that must not reach it by a proxy, and that of Testcontainers. */
static const char *const names_of_host[] = {
	"AGENTDECK_DIND_HOSTNAME",      "DOCKER_TLS_SAN", "NO_PROXY", "no_proxy",
	"TESTCONTAINERS_HOST_OVERRIDE",
};
static const char *const names[] = { "DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH" };

static void gather(const struct recipe *recipe, const char *base, struct strvec *ret)
{
	cleanup_free char *host = nested_host(base);
	if (recipe->docker == DOCKER_ROOTLESS)
		strvec_push(ret, "DOCKER_HOST=" NESTED_HOST);
	if (recipe->docker != DOCKER_ROOTLESS_TCP)
		return;
	strvec_pushf(ret, "DOCKER_HOST=tcp://%s:" NESTED_PORT, host);
	strvec_push(ret, "DOCKER_TLS_VERIFY=1");
	strvec_push(ret, "DOCKER_CERT_PATH=" NESTED_CERTIFICATES);
	for (size_t i = 0; i < ARRAY_SIZE(names_of_host); i++)
		strvec_pushf(ret, "%s=%s", names_of_host[i], host);
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
	const size_t length = strcspn(variable, "=");
	bool is_one = false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		is_one |= strlen(names[i]) == length && starts_with(variable, names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(names_of_host); i++)
		is_one |= strlen(names_of_host[i]) == length &&
			  starts_with(variable, names_of_host[i]);
	return is_one;
}
