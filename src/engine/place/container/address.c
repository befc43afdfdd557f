/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where this host reaches the ports of a container: at its address, which each start can change.
 */
#include "engine/place/container/container-internal.h"

#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/resolve.h"

int container_address(const struct instance *instance, char **ret, struct error *err)
{
	const struct recipe *recipe = instance->recipe;
	const struct place_run run = place_run_of(instance);
	const char *container = guest_is(instance) ? recipe->within : instance->container_id;
	cleanup_engine struct engine *engine = NULL;
	cleanup_container struct container found = { 0 };
	struct engine_facts facts;
	if (is_empty(container) || !place_is_live(&run))
		return error_set(err, ERROR_INVALID,
				 "its container is not running: start the session first");
	if (container_open_engine(recipe, &engine, err) < 0 ||
	    engine_facts(engine, &facts, err) < 0)
		return -1;
	const int r = engine_inspect(engine, container, &found, err);
	if (r < 0)
		return -1;
	if (facts.is_rootless)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s runs without root's rights, and keeps the addresses of its "
				 "containers from this machine: let an engine with them run the "
				 "session (--engine)",
				 recipe->engine);
	/* Such a bridge has no address here, and a packet to the container would leave by another
	 * one. */
	if (r > 0 || !found.ip || streq(or_empty(recipe->network), NETWORK_INTERNAL))
		return error_set(err, ERROR_UNAVAILABLE,
				 "its container has no address that this machine reaches: its "
				 "network is '%s' (agentdeck session set SESSION recipe.network)",
				 recipe->network ? recipe->network : "default");
	*ret = TAKE_PTR(found.ip);
	return 0;
}
