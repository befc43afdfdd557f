/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The facts are gathered, model/plan/recreate.h plans, and the steps are done one after the other.
 * The intent is on disk before the first of them, and each leaves something that the next start
 * finds by the container's name and labels.
 */
#include "engine/place/container/container-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/deck/stages.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/mounting.h"
#include "engine/place/container/nestedwish.h"
#include "engine/place/container/resolve.h"
#include "engine/role/fetch.h"
#include "model/plan/recreate.h"

#include <string.h>

enum { STOP_GRACE_MS = 5000, SOCKET_MS = 3000, FREED_MS = 10000, FREED_STEP_MS = 100 };

void ladder_clear(struct ladder *ladder)
{
	engine_close(ladder->engine);
	container_clear(&ladder->found);
	free(ladder->image_id);
	build_facts_clear(&ladder->build);
	mounts_clear(&ladder->places);
	*ladder = (struct ladder){ 0 };
}

bool ladder_is_ours(const struct ladder *ladder)
{
	cleanup_json struct json_object *deck = ladder_deck_labels(ladder->deck);
	const struct json_object *labels = ladder->found.labels;
	return labels && streq(json_get_string(labels, LABEL_INSTANCE, ""), ladder->instance->id) &&
	       streq(json_get_string(labels, LABEL_HOME, ""),
		     json_get_string(deck, LABEL_HOME, NULL));
}

static int find_container(struct ladder *ladder, struct error *err)
{
	container_clear(&ladder->found);
	int r = engine_inspect(ladder->engine, ladder->instance->base, &ladder->found, err);
	ladder->exists = r == 0;
	return r < 0 ? -1 : 0;
}

int ladder_open(struct ladder *ladder, struct error *err)
{
	const struct recipe *recipe = ladder->instance->recipe;
	if (container_open_engine(recipe, &ladder->engine, err) < 0)
		return -1;
	const char *kind = engine_kind_name(engine_kind_of(ladder->engine));
	/* What another engine does not have is not gone. */
	if (!streq(kind, recipe->engine))
		return error_set(
			err, ERROR_UNAVAILABLE,
			"the container engine at %s is %s now, and this session's container "
			"is in %s: start that one again",
			recipe->address, kind, recipe->engine);
	return find_container(ladder, err);
}

/* ---- facts --------------------------------------------------------------------------------- */

static enum recreate_container container_fact(const struct ladder *ladder)
{
	if (!ladder->exists)
		return RECREATE_NONE;
	if (!ladder_is_ours(ladder))
		return RECREATE_FOREIGN;
	switch (ladder->found.state) {
	case CONTAINER_RUNNING:
		return RECREATE_OURS_RUNNING;
	case CONTAINER_PAUSED:
		return RECREATE_OURS_PAUSED;
	case CONTAINER_CREATED:
	case CONTAINER_EXITED:
		return RECREATE_OURS_STOPPED;
	default:
		return RECREATE_OURS_BROKEN;
	}
}

/* The id differs between engines, and after an import; the layers do not. */
static int image_fact(struct ladder *ladder, enum recreate_image *ret, struct error *err)
{
	const struct recipe *recipe = ladder->instance->recipe;
	cleanup_engine_image struct engine_image image = { 0 };
	*ret = IMAGE_GONE;
	int r = engine_inspect_image(ladder->engine, recipe->image_id, &image, err);
	if (r == 0)
		*ret = IMAGE_SAME;
	if (r != ENGINE_ABSENT || !recipe->keep_tag)
		return r < 0 ? -1 : 0;
	r = engine_inspect_image(ladder->engine, recipe->keep_tag, &image, err);
	if (r == 0 && strvec_equal(&image.layers, &recipe->layers)) {
		*ret = IMAGE_SAME_LAYERS;
		replace_string(&ladder->image_id, image.id);
	}
	return r < 0 ? -1 : 0;
}

/* A running container whose capsule has just been started may not listen yet. */
static bool answers(const struct ladder *ladder)
{
	cleanup_capsule struct capsule *capsule = NULL;
	cleanup_free char *path = container_capsule_directory(ladder->deck, ladder->instance);
	return capsule_await(path, clock_ms() + SOCKET_MS, &capsule, NULL) == 0;
}

static const char *missing_mount(const struct ladder *ladder)
{
	const char *directory = ladder->instance->recipe->directory;
	if (access(directory, F_OK) < 0)
		return directory;
	for (size_t i = 0; i < ladder->places.count; i++)
		if (access(ladder->places.items[i].source, F_OK) < 0)
			return ladder->places.items[i].source;
	return NULL;
}

/* The engine's answer with the id was not read yet. */
bool ladder_is_new(const struct instance *instance)
{
	return !instance->container_id || streq(instance->container_id, instance->base);
}

/* Only for an image that is gone: the whole directory is read for it. */
static int build_fact(struct ladder *ladder, struct recreate_facts *facts, struct error *err)
{
	struct build_facts *build = &ladder->build;
	const struct recipe *recipe = ladder->instance->recipe;
	build_facts_clear(build);
	/* A role is built as it was, whatever its repository says today. */
	if (recipe->role_commit && recipe->build &&
	    role_restore(ladder->deck, recipe->role_url, recipe->role_commit, recipe->role, err) <
		    0)
		return -1;
	if (build_look(ladder->engine, recipe, build, err) < 0)
		return -1;
	facts->has_build = build->is_there;
	facts->build_changed = build->has_changed;
	facts->base = build->base;
	facts->base_name = build->base_name;
	return 0;
}

int ladder_limit(struct ladder *ladder, struct error *err)
{
	struct instance *instance = ladder->instance;
	const struct recipe *recipe = instance->recipe;
	const bool changes_memory = recipe->memory != instance->container_memory;
	const bool changes_pids = recipe->pids != instance->container_pids;
	struct engine_facts facts;
	if (!changes_memory && !changes_pids)
		return 0;
	if (engine_facts(ladder->engine, &facts, err) < 0)
		return -1;
	/* What it does not count, no container has. */
	const struct engine_limits limits = {
		.memory = changes_memory && facts.counts_memory ? recipe->memory : 0,
		.pids = changes_pids && facts.counts_pids ? recipe->pids : 0,
	};
	if ((changes_memory && facts.counts_memory && !limits.memory) ||
	    (changes_pids && facts.counts_pids && !limits.pids))
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s cannot take a limit away from a container that exists",
				 recipe->engine);
	int r = limits.memory || limits.pids
			? engine_update(ladder->engine, ladder->found.id, &limits, err)
			: 0;
	if (r == ENGINE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "its container is gone");
	if (r < 0)
		return -1;
	instance->container_memory = recipe->memory;
	instance->container_pids = recipe->pids;
	return 0;
}

/* A container with other limits is made again only where its engine cannot change it. */
static bool is_made_as_said(struct ladder *ladder)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *digest = recipe_digest(ladder->instance->recipe);
	if (!ladder_is_ours(ladder) ||
	    !streq(json_get_string(ladder->found.labels, LABEL_RECIPE, ""), digest))
		return false;
	if (ladder_limit(ladder, &err) == 0)
		return true;
	log_info("its limits are not changed in place: %s", err.message);
	return false;
}

static int gather(struct ladder *ladder, struct recreate_facts *ret, struct error *err)
{
	const struct recipe *recipe = ladder->instance->recipe;
	mounts_gather(recipe, &ladder->places);
	struct recreate_facts facts = {
		.container = container_fact(ladder),
		.network_is_there = true,
		.missing_mount = missing_mount(ladder),
		.linked_mount = mounts_find_link(&ladder->places),
		.link = ladder->places.link,
		.base = IMAGE_SAME,
		.may_rebuild = ladder->order.may_rebuild,
		.may_unpause = !ladder->order.leaves_paused,
		.is_new = ladder_is_new(ladder->instance),
		.name = ladder->instance->base,
		.image_name = recipe->image,
		.build = recipe->build,
	};
	facts.recipe_is_same = ladder->exists && is_made_as_said(ladder);
	if (image_fact(ladder, &facts.image, err) < 0 ||
	    (facts.image == IMAGE_GONE && build_fact(ladder, &facts, err) < 0))
		return -1;
	if (facts.container == RECREATE_OURS_RUNNING)
		facts.answers = answers(ladder);
	if (ladder_has_network(recipe)) {
		cleanup_free char *id = NULL;
		int r = ladder_find_network(ladder, &id, err);
		if (r < 0)
			return -1;
		facts.network_is_there = r == 0;
	}
	*ret = facts;
	return 0;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* The other limits can be changed, so gaps_warn() tells of them. */
static double cpus(const struct ladder *ladder, const struct engine_facts *facts)
{
	const struct recipe *recipe = ladder->instance->recipe;
	if (recipe->cpus > 0 && !facts->counts_cpus)
		deck_warn(ladder->deck,
			  "%s cannot limit processors on this machine: the container has no such "
			  "limit",
			  recipe->engine);
	return facts->counts_cpus ? recipe->cpus : 0;
}

static int create(struct ladder *ladder, struct error *err)
{
	struct instance *instance = ladder->instance;
	const struct recipe *recipe = instance->recipe;
	cleanup_mounting struct mounting mounts = { 0 };
	cleanup_strvec struct strvec entrypoint = { 0 }, environment = { 0 };
	cleanup_json struct json_object *labels = ladder_labels(ladder);
	cleanup_free char *network = NULL, *id = NULL;
	cleanup_free char *capsule = container_capsule_directory(ladder->deck, instance);
	cleanup_free char *host = nested_host(instance->base);
	cleanup_free char *nested = xasprintf("%s:" NESTED_LOOPBACK, host);
	struct engine_facts facts;
	mounting_collect(ladder, &mounts);
	strvec_push_array(&entrypoint, (const char *const[]){ CAPSULE_PROGRAMS "/agentdeck-capsule",
							      "init", capsule, NULL });
	/* By this the capsule is known to be of this session (engine/deck/proof.h). */
	strvec_pushf(&environment, ENV_INSTANCE "=%s", instance->id);
	strvec_pushf(&environment, "HOME=%s", recipe->home);
	if (engine_facts(ladder->engine, &facts, err) < 0 ||
	    (ladder_has_network(recipe) && ladder_make_network(ladder, &network, err) < 0))
		return -1;
	const struct engine_order order = {
		.name = instance->base,
		.image_id = ladder->image_id ? ladder->image_id : recipe->image_id,
		.entrypoint = &entrypoint,
		.user = recipe->user,
		.directory = recipe->directory,
		.environment = &environment,
		.labels = labels,
		.mounts = mounts.items,
		.mount_count = mounts.count,
		.network = network ? network : recipe->network,
		.cap_add = &recipe->cap_add,
		.memory = facts.counts_memory ? recipe->memory : 0,
		.pids = facts.counts_pids ? recipe->pids : 0,
		.cpus = cpus(ladder, &facts),
		.extra_host = recipe->docker == DOCKER_ROOTLESS_TCP ? nested : NULL,
		.keep_id = facts.kind == ENGINE_PODMAN && facts.is_rootless,
	};
	cleanup_error struct error why = { 0 };
	int r = engine_create(ladder->engine, &order, &id, &why);
	if (r == ENGINE_TAKEN)
		return error_set(err, ERROR_EXISTS,
				 "another container took the name %s just now: try again",
				 instance->base);
	if (r == ENGINE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "image %s is gone: try again",
				 or_empty(recipe->image));
	if (r < 0)
		return reach_blame(ladder, err, &why);
	replace_string(&instance->container_id, id);
	instance->container_memory = recipe->memory;
	instance->container_pids = recipe->pids;
	return store_save(ladder->order.lock, instance, err) < 0
		       ? -1
		       : reach_check_files(ladder, id, err);
}

/* podman frees the address of a container that has ended in a process of its own, which may be
 * late. */
static int start_patiently(struct engine *engine, const char *id, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + FREED_MS;
	for (;;) {
		struct error why = { 0 };
		const int r = engine_start(engine, id, &why);
		if (r == 0 || clock_ms() >= deadline_ms || why.code != ERROR_CHILD ||
		    !strstr(why.message, "has been allocated to") || !strstr(why.message, id))
			return r < 0 ? error_move(err, &why) : r;
		error_clear(&why);
		/* No event tells when that process has ended. */
		clock_pause_until(clock_ms() + FREED_STEP_MS);
	}
}

static int start(struct ladder *ladder, struct error *err)
{
	const char *id = ladder->instance->container_id;
	cleanup_error struct error why = { 0 };
	int r = start_patiently(ladder->engine, id, &why);
	if (r < 0)
		return reach_blame(ladder, err, &why);
	return r == ENGINE_ABSENT ? error_set(err, ERROR_NOT_FOUND,
					      "container %s was removed just now: try again", id)
				  : r;
}

/* The recipe of the new image is on disk before anything of the old container goes. */
static int build(struct ladder *ladder, struct error *err)
{
	struct instance *instance = ladder->instance;
	if (ladder->build.has_changed)
		deck_warn(ladder->deck, "%s has changed since its image was built",
			  instance->recipe->build);
	return build_image(ladder->deck, ladder->engine, instance->recipe, err) < 0
		       ? -1
		       : store_save(ladder->order.lock, instance, err);
}

/* What runs in it would end without a word: the agent of another session may live there. */
static int check_alone(const struct ladder *ladder, struct error *err)
{
	const struct instance *instance = ladder->instance;
	return !ladder->exists || ladder->found.state == CONTAINER_EXITED ||
			       ladder->found.state == CONTAINER_CREATED
		       ? 0
		       : guest_check_alone(ladder->deck, instance,
					   ladder->guest ? ladder->guest : instance, err);
}

static int do_step(struct ladder *ladder, enum recreate_step step, struct error *err)
{
	const char *id = ladder->exists ? ladder->found.id : ladder->instance->container_id;
	cleanup_free char *network = NULL;
	log_info("container %s: %s", ladder->instance->base, recreate_step_text(step));
	if (step == STEP_NETWORK || step == STEP_CREATE || step == STEP_START)
		stages_enter(ladder->deck, step == STEP_NETWORK ? STAGE_NETWORK : STAGE_CAPSULE);
	switch (step) {
	case STEP_WINDOW:
		return 0;
	case STEP_UNPAUSE:
		return engine_unpause(ladder->engine, id, err);
	case STEP_STOP:
		return check_alone(ladder, err) < 0
			       ? -1
			       : engine_stop(ladder->engine, id, STOP_GRACE_MS, err);
	case STEP_REMOVE:
		return check_alone(ladder, err) < 0 ? -1 : engine_remove(ladder->engine, id, err);
	case STEP_NETWORK:
		if (ladder_make_network(ladder, &network, err) < 0)
			return -1;
		return ladder->exists ? engine_connect(ladder->engine, network, id, err) : 0;
	case STEP_TAG:
		/* An image that is known by its layers was found by that name. */
		return ladder->image_id
			       ? 0
			       : build_settle(ladder->engine, ladder->instance->recipe, err);
	case STEP_CREATE:
		return create(ladder, err);
	case STEP_START:
		return start(ladder, err);
	case STEP_BUILD:
		return build(ladder, err);
	case STEP_COUNT:
		break;
	}
	return 0;
}

/* Before the engine has anything of this session, so that its removal knows of the container. */
static int note_container(const struct ladder *ladder, struct error *err)
{
	struct instance *instance = ladder->instance;
	const char *id = ladder->exists                     ? ladder->found.id
			 : instance_has_container(instance) ? instance->container_id
							    : instance->base;
	if (streq(or_empty(instance->container_id), id))
		return 0;
	replace_string(&instance->container_id, id);
	return store_save(ladder->order.lock, instance, err);
}

/* With the consent, would there be a plan? */
static void note_consent(struct ladder *ladder, const struct recreate_facts *facts,
			 const char *title)
{
	cleanup_recreate_plan struct recreate_plan plan = { 0 };
	struct recreate_facts agreed = *facts;
	agreed.may_rebuild = true;
	*ladder->order.ret_needs_rebuild = recreate_plan(&agreed, title, &plan, NULL) == 0;
}

/* The caller saves the instance. */
static void note_comeback(struct instance *instance, bool is_new, const struct recreate_plan *plan)
{
	struct comeback *comeback = &instance->came_back;
	const struct attempt *attempt = run_attempt(&instance->run);
	replace_string(&comeback->lost, plan->lost);
	comeback->tier = plan->tier;
	comeback->rung = plan->tier && attempt ? attempt->rung : RUNG_NONE;
	comeback->at = is_new ? 0 : clock_wall_us();
}

/* What the engine refused may work in the next tier; an engine that did not answer has none. */
static int fail_step(const struct ladder *ladder, const struct recreate_plan *plan,
		     enum recreate_step step, const char *hint, struct error *err,
		     struct error *why)
{
	const char *text = recreate_step_text(step);
	if (why->code != ERROR_CHILD) {
		error_move(err, why);
		return error_prefix(err, "%s (tier %u)", text, plan->tier);
	}
	cleanup_free char *message = TAKE_PTR(why->message);
	cleanup_free char *next = recreate_next_text(plan->tier,
						     ladder->instance->recipe->build != NULL, hint);
	error_clear(why);
	return error_set(err, ERROR_CHILD, "%s (tier %u): %s; %s", text, plan->tier, message, next);
}

int ladder_climb(struct ladder *ladder, struct error *err)
{
	struct error why = { 0 };
	struct instance *instance = ladder->instance;
	cleanup_recreate_plan struct recreate_plan plan = { 0 };
	struct recreate_facts facts;
	cleanup_free char *hint = hint_session(ladder->deck, instance->title, instance->id);
	if (gather(ladder, &facts, err) < 0)
		return -1;
	if (recreate_plan(&facts, hint, &plan, err) < 0) {
		if (ladder->order.ret_needs_rebuild)
			note_consent(ladder, &facts, hint);
		return -1;
	}
	log_info("container %s: tier %u", instance->base, plan.tier);
	if (note_container(ladder, err) < 0)
		return -1;
	for (size_t i = 0; i < plan.count; i++)
		if (do_step(ladder, plan.steps[i], &why) < 0)
			return fail_step(ladder, &plan, plan.steps[i], hint, err, &why);
	if (plan.tier == 0 && ladder->exists && !facts.recipe_is_same)
		deck_warn(ladder->deck,
			  "its container runs, so it stays as it was made: what was changed since "
			  "counts when it starts again");
	if (plan.lost)
		log_warning("lost with its old container: %s", plan.lost);
	note_comeback(instance, facts.is_new, &plan);
	return 0;
}
