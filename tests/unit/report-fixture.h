/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by the tests of reports: a deck in a scratch directory, and a session of an agent that the
 * test defines.
 */
#pragma once

#include "unit/report-text.h"
#include "unit/store-fixture.h"

#include "driver/assess/assess.h"
#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"

#define ID    "0123abcd"
#define OLD   "0aaaaaaa-0000-4000-8000-000000000001"
#define NEW   "0bbbbbbb-0000-4000-8000-000000000002"
#define THIRD "0ccccccc-0000-4000-8000-000000000003"

struct desk {
	char *root, *cwd; /* cwd: the session's */
	struct deck deck;
	char *token;
};

static inline int desk_set_up(void **state)
{
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-report-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	desk->cwd = xasprintf("%s/project", desk->root);
	if (mkdir(desk->cwd, 0700) < 0)
		return -1;
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	unsetenv(ASSESS_PROGRAM_VARIABLE);
	if (deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0)
		return -1;
	*state = desk;
	return 0;
}

static inline int desk_tear_down(void **state)
{
	struct desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	deck_close(&desk->deck);
	free(desk->token);
	free(desk->cwd);
	free(desk->root);
	free(desk);
	return r;
}

#define DESK_TEST(function) cmocka_unit_test_setup_teardown(function, desk_set_up, desk_tear_down)

/* The agent of this name, as the test's entry defines it. */
static inline const struct agent *desk_agent(struct desk *desk, const char *name, const char *toml)
{
	struct error err = { 0 };
	const struct registry *registry;
	const struct agent *agent = NULL;
	if (deck_registry(&desk->deck, &registry, &err) < 0 ||
	    registry_override(&desk->deck.registry, name, toml, strlen(toml), name, &err) < 0 ||
	    deck_agent(&desk->deck, name, &agent, &err) < 0)
		fail_msg("%s: %s", name, err.message);
	return agent;
}

static inline struct instance *desk_instance(const struct desk *desk, const struct agent *agent)
{
	struct instance *instance = new_instance(ID, "one");
	replace_string(&instance->agent, agent->name);
	replace_string(&instance->cwd, desk->cwd);
	strvec_clear(&instance->argv);
	strvec_push_all(&instance->argv, &agent->command);
	instance->observed.state = STATE_RUNNING;
	instance->run.id = xstrdup("run-1");
	instance->run.directory = xasprintf("%s/run/" ID, desk->root);
	instance->run.socket = xasprintf("%s/run/" ID "/" RUN_SOCKET, desk->root);
	return instance;
}

/* A run with these attempts (NULL: without an id); the last one is the present one.  stored: the
 * conversation's id. */
static inline void desk_run(struct desk *desk, const struct agent *agent, const char *stored,
			    const struct attempt *attempts, size_t count)
{
	cleanup_instance struct instance *instance = desk_instance(desk, agent);
	struct error err = { 0 };
	if (stored)
		conversation_set_id(&instance->conversation, stored, ORIGIN_REPORTED, 1);
	for (size_t i = 0; i < count; i++)
		run_add_attempt(&instance->run, &attempts[i]);
	instance->run.attempt = count - 1;
	if (runfiles_write(&desk->deck, instance, agent, &err) < 0 ||
	    create_instance(desk->deck.store, instance, &err) < 0)
		fail_msg("%s", or_empty(err.message));
	desk->token = runfiles_token(instance);
	assert_non_null(desk->token);
}

static inline struct instance *desk_load(struct desk *desk)
{
	struct instance *instance = NULL;
	assert_int_equal(store_load(desk->deck.store, ID, &instance, NULL), 0);
	return instance;
}

/* Assert that the test's block does not change the manifest. */
static inline char *desk_manifest(struct desk *desk)
{
	return content(desk->deck.store, ID "/instance.json");
}
