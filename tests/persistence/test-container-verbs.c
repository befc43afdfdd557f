/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What commands say of a session in a container is what they say of one on this machine.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"

#include <string.h>

#define MARKER "the ladder is behind the house"

/* Members that say where it lives. */
static const char *const differ[] = { "recipe", "scope", "unit", NULL };

static bool may_differ(const char *name)
{
	for (const char *const *other = differ; *other; other++)
		if (streq(name, *other))
			return true;
	return false;
}

/* The same members, of the same types. */
static void assert_alike(const char *what, struct json_object *host, struct json_object *inside)
{
	json_object_object_foreach(host, name, value) {
		struct json_object *other = NULL;
		const char *path = kept("%s.%s", what, name);
		ASSERT(json_object_object_get_ex(inside, name, &other), "no %s in a container",
		       path);
		if (may_differ(name))
			continue;
		ASSERT(json_object_get_type(value) == json_object_get_type(other),
		       "%s is %s here and %s in a container", path, json_print(value),
		       json_print(other));
		if (json_object_is_type(value, json_type_object))
			assert_alike(path, value, other);
	}
	ASSERT(json_object_object_length(host) == json_object_object_length(inside),
	       "%s has other members in a container: %s", what, json_print(inside));
}

static struct json_object *line_of(const struct session *session, const char *const *words)
{
	struct reply reply = deck(NULL, words);
	ASSERT(reply.status == 0, "%s ended with %d: %s", words[0], reply.status, reply.errors);
	for (const char *at = reply.output; *at; at += strcspn(at, "\n") + 1) {
		const char *line = kept("%.*s", (int)strcspn(at, "\n"), at);
		struct json_object *object = json_tokener_parse(line);
		ASSERT(object, "no JSON: %s", line);
		keep_json(object);
		if (streq(json_get_string(object, "id", ""), session->id))
			return object;
		if (!at[strcspn(at, "\n")])
			break;
	}
	ASSERT(false, "%s does not know %s: %s", words[0], session->title, reply.output);
	return NULL;
}

static struct json_object *element_of(const struct session *session, const char *const *words)
{
	struct json_object *array = deck_ok(NULL, words);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		if (streq(json_get_string(object, "id", ""), session->id))
			return object;
	}
	ASSERT(false, "%s does not know %s: %s", words[0], session->title, json_print(array));
	return NULL;
}

static void begin(struct session *session, const char *title, const char *const *words)
{
	session_add(session, NULL, title, words);
	session_start(session, NULL);
	session_say(session, MARKER);
	session_look(session);
}

static void answers(enum engine engine)
{
	struct session host, inside;
	engine_prepare(engine, PLAIN_IMAGE);
	begin(&host, "host", NULL);
	begin(&inside, "inside",
	      WORDS("--container", "--image", PLAIN_IMAGE, "--engine", engine_address(engine)));
	assert_alike("list", element_of(&host, WORDS("list", "--json")),
		     element_of(&inside, WORDS("list", "--json")));
	assert_alike("show", session_look(&host), session_look(&inside));
	struct json_object *top = line_of(&inside, WORDS("top", "--json"));
	assert_alike("top", line_of(&host, WORDS("top", "--json")), top);
	ASSERT(json_get_bool(top, "in_scope", false) && json_get_int(top, "memory_bytes", 0) > 0 &&
		       json_get_int(top, "tasks", 0) >= 2,
	       "top does not count the container: %s", json_print(top));
	assert_alike("wait",
		     element_of(&host, WORDS("status", "--wait", "idle", host.id, "--json")),
		     element_of(&inside, WORDS("status", "--wait", "idle", inside.id, "--json")));
	assert_alike("send",
		     deck_ok(NULL, WORDS("session", "send", host.id, "second", "--wait", "--json")),
		     deck_ok(NULL,
			     WORDS("session", "send", inside.id, "second", "--wait", "--json")));
	struct json_object *said = deck_ok(NULL, WORDS("session", "output", inside.id, "--json"));
	assert_alike("output", deck_ok(NULL, WORDS("session", "output", host.id, "--json")), said);
	ASSERT(strstr(json_get_string(said, "content", ""), "second"), "the last reply: %s",
	       json_print(said));
	assert_alike("stop", deck_ok(NULL, WORDS("session", "stop", host.id, "--json")),
		     deck_ok(NULL, WORDS("session", "stop", inside.id, "--json")));
}

TEST(ContainerAnswersAsASessionOfTheHostDocker)
{
	answers(ENGINE_DOCKER);
}

TEST(ContainerAnswersAsASessionOfTheHostPodman)
{
	answers(ENGINE_PODMAN);
}
