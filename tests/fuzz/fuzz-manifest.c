/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The manifest: what is refused leaves nothing behind.  What is accepted is written so that it
 * reads as the same any number of times, and unknown keys are kept.
 */
#include "fuzz/fuzz.h"

#include "model/session/instance.h"
#include "model/session/naming.h"

static void check_instance(const struct instance *instance)
{
	const struct run *run = &instance->run;
	HOLDS(naming_is_id(instance->copy_of ? instance->copy_of : instance->id));
	HOLDS(*instance->title && *instance->agent && *instance->backend);
	HOLDS(instance->cwd[0] == '/' && instance->base);
	/* A copy has its directory's name, which the store compares with the directory. */
	HOLDS(!instance->copy_of || streq(instance->id, instance->base));
	HOLDS(instance->created_at >= 0 && instance->last_used_at >= 0 &&
	      instance->observed.since >= 0);
	HOLDS(instance->observed.state < STATE_COUNT);
	HOLDS(instance->observed.restart_count <= INSTANCE_RESTARTS);
	HOLDS(instance->limits.memory_max >= 0 && instance->limits.tasks_max >= 0);
	HOLDS(run->server.pid >= 0 && run->pane.pid >= 0 && run->window.pid >= 0);
	const struct recipe *recipe = instance->recipe;
	HOLDS(!recipe || (*recipe->engine && *recipe->image_id && recipe->home[0] == '/' &&
			  recipe->memory >= 0 && recipe->cpus >= 0));
	HOLDS(!recipe || recipe->program != PROGRAM_FROM_HOST || recipe->program_directory);
	HOLDS(!streq(instance->backend, PLACE_CONTAINER) ||
	      (recipe && (!run->socket || (run->id && run->capsule))));
	HOLDS(run->attempt < run->attempt_count || run->attempt == 0);
	HOLDS(!run_attempt(run) == !run->attempt_count);
}

/* Members whose names begin with "x" are unknown to us. */
static void check_unknown(struct json_object *before, struct json_object *after)
{
	static const char *const sections[] = { "env", "policy", "observed", "conversation",
						"recipe" };
	for (size_t i = 0; i <= ARRAY_SIZE(sections); i++) {
		bool is_root = i == ARRAY_SIZE(sections);
		struct json_object *old = is_root ? before : json_get_object(before, sections[i]);
		struct json_object *new = is_root ? after : json_get_object(after, sections[i]),
				   *kept;
		if (!old)
			continue;
		json_object_object_foreach(old, name, value)
			if (name[0] == 'x')
				HOLDS(json_object_object_get_ex(new, name, &kept) &&
				      json_object_equal(value, kept));
	}
}

/* The instance from text; NULL when it is refused. */
static struct instance *read_instance(const char *text, size_t length,
				      struct json_object **ret_object)
{
	struct instance *untouched = (struct instance *)(uintptr_t)1, *instance = untouched;
	struct error err = { 0 };
	if (json_parse(text, length, "input", ret_object, &err) < 0) {
		fuzz_failed(&err);
		return NULL;
	}
	if (instance_from_json(*ret_object, "input", &instance, &err) == 0)
		return instance;
	HOLDS(instance == untouched && (err.code == ERROR_CORRUPT || err.code == ERROR_NEWER));
	fuzz_failed(&err);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_json struct json_object *object = NULL, *written = NULL, *read = NULL,
					*rewritten = NULL;
	cleanup_instance struct instance *instance = read_instance((const char *)data, size,
								   &object);
	if (!instance)
		return 0;
	check_instance(instance);
	written = instance_to_json(instance);
	check_unknown(object, written);
	cleanup_free char *text = xstrdup(json_print(written));
	cleanup_instance struct instance *again = read_instance(text, strlen(text), &read);
	HOLDS(again);
	check_instance(again);
	rewritten = instance_to_json(again);
	HOLDS(streq(json_print(rewritten), text));
	return 0;
}
