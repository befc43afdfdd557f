/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent in a container ends by itself: the container is freed, and all that it needs to come
 * back stays.
 */
#include "persistence/inside.h"

static const char *stage_of(const struct session *session)
{
	struct json_object *object = deck_look_ok(WORDS("session", "show", session->id, "--json"));
	return json_get_string(json_get_object(object, "on_end"), "stage", "");
}

static void free_the_container(enum engine engine)
{
	struct inside inside;
	inside_begin(&inside, engine);
	session_press(&inside.session, "C-d");
	await_end(&inside);
	ASSERT(container_count(engine, inside_label(&inside)) == 1, "it is gone too early");
	(void)deck(NULL, WORDS("recover"));
	ASSERT(streq(stage_of(&inside.session), "freed"), "stage: %s", stage_of(&inside.session));
	ASSERT(container_count(engine, inside_label(&inside)) == 0, "it is still there");
	session_start(&inside.session, NULL);
	assert_back(&inside, NULL);
}

TEST(EndByItselfFreesTheContainerDocker)
{
	free_the_container(ENGINE_DOCKER);
}

TEST(EndByItselfFreesTheContainerPodman)
{
	free_the_container(ENGINE_PODMAN);
}
