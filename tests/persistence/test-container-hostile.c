/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent in a container writes what it shares with this machine as it likes, and reaches nothing
 * beyond its container by that.
 */
#include "persistence/inside.h"

#include <string.h>

/* ---- the socket of its capsule --------------------------------------------------------------- */

/* Its inode: another listener has another one. */
static const char *socket_of(const char *directory)
{
	return machine_user_ok(WORDS("stat", "-c", "%i", kept("%s/capsule.sock", directory)));
}

static void ends_with_another_listener(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	const char *directory = at_home(
			   kept(".local/state/agentdeck/default/%s/capsule", inside.name)),
		   *before = socket_of(directory);
	struct process capsule = container_process(engine, inside.name);
	(void)engine_say(engine, WORDS("exec", "--detach", inside.name,
				       "/agentdeck/bin/agentdeck-capsule", "init", directory));
	WAIT_FOR(!streq(socket_of(directory), before), "nobody else listens");
	session_stop(&inside.session, NULL);
	ASSERT(!machine_alive(&capsule), "its container goes on");
	assert_agents(0, "after a stop");
	session_start(&inside.session, NULL);
	assert_back(&inside, inside.id);
}

TEST(ContainerEndsWithAnotherListenerDocker)
{
	ends_with_another_listener(ENGINE_DOCKER);
}

TEST(ContainerEndsWithAnotherListenerPodman)
{
	ends_with_another_listener(ENGINE_PODMAN);
}
