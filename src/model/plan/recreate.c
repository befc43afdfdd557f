/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/recreate.h"

#include <stdlib.h>

void recreate_plan_clear(struct recreate_plan *plan)
{
	free(plan->lost);
	*plan = (struct recreate_plan){ 0 };
}

static void add(struct recreate_plan *plan, enum recreate_step step)
{
	if (plan->count == RECREATE_STEPS)
		abort();
	plan->steps[plan->count++] = step;
}

/* The title as one word of a command line.  The caller frees. */
static char *word_of(const char *title)
{
	char *argv[] = { (char *)(uintptr_t)title, NULL };
	return visible_argv(argv);
}

static const char *or_what(const char *name, const char *what)
{
	return name ? name : what;
}

/* ---- what is refused ------------------------------------------------------------------------- */

static int refuse_unknown(const char *what, const char *word, struct error *err)
{
	return error_set(err, ERROR_UNAVAILABLE,
			 "%s: the container engine does not answer, so it is not known whether %s "
			 "exists; nothing was changed: start the engine, then: agentdeck start %s",
			 word, what, word);
}

static int refuse_foreign(const struct recreate_facts *facts, const char *word, struct error *err)
{
	return error_set(err, ERROR_INVALID,
			 "%s: the name %s belongs to a container that is not agentdeck's, and "
			 "agentdeck leaves it alone: rename or remove it, then agentdeck start %s "
			 "creates the session's container (tier 2)",
			 word, or_what(facts->name, "of its container"), word);
}

static int refuse_paused(const char *word, struct error *err)
{
	return error_set(err, ERROR_INVALID,
			 "%s: its container is paused: agentdeck start %s continues it (tier 0)",
			 word, word);
}

/* The engine would follow the link.  An agent that can write the directory above could point it
 * anywhere. */
static int check_links(const struct recreate_facts *facts, const char *word, struct error *err)
{
	const struct recipe_place *mount = facts->linked_mount;
	if (!mount)
		return 0;
	cleanup_free char *source = visible(mount->source), *link = visible(facts->link);
	cleanup_free char *target = visible(mount->target);
	cleanup_free char *remedy =
		mount->kind == RECIPE_PROGRAM ? xstrdup("put the directory back")
		: mount->kind == RECIPE_MOUNT
			? xasprintf("put the directory back, or, if the link is yours, say where "
				    "it is: agentdeck session set %s recipe.mount DIRECTORY:%s%s",
				    word, target, mount->read_only ? ":ro" : "")
			: xasprintf("put the directory back, or, if the link is yours, say where "
				    "it is: agentdeck session set %s path DIRECTORY",
				    word);
	return error_set(err, ERROR_INVALID,
			 "%s: %s is a link now, and its container mounts %s; nothing was changed: "
			 "an agent that can write the directory above may have put it there: %s; "
			 "then: agentdeck start %s",
			 word, link, source, remedy, word);
}

/* Every tier but 0 mounts again. */
static int check_mounts(const struct recreate_facts *facts, const char *word, struct error *err)
{
	if (!facts->missing_mount)
		return check_links(facts, word, err);
	cleanup_free char *shown = visible(facts->missing_mount);
	return error_set(err, ERROR_NOT_FOUND,
			 "%s: %s does not exist, and its container mounts it; nothing was changed: "
			 "restore it, then: agentdeck start %s",
			 word, shown, word);
}

/* Tier 3: are its inputs there, and has the user consented? */
static int check_build(const struct recreate_facts *facts, const char *word, struct error *err)
{
	const char *image = or_what(facts->image_name, "its image");
	cleanup_free char *build = visible(or_what(facts->build, "its directory"));
	if (!facts->has_build && facts->build)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s: image %s is gone, and so is %s/Dockerfile, which it was "
				 "built from (tier 3): restore that directory, or choose another "
				 "image with agentdeck session set %s recipe.image IMAGE; then: "
				 "agentdeck start %s --rebuild",
				 word, image, build, word, word);
	if (!facts->has_build)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s: image %s is gone, and there is no build directory to make it "
				 "again (tier 3): load the image, or choose another one with "
				 "agentdeck session set %s recipe.image IMAGE; then: agentdeck "
				 "start %s",
				 word, image, word, word);
	if (facts->base == IMAGE_UNKNOWN)
		return refuse_unknown("the base of its image", word, err);
	if (facts->base == IMAGE_GONE)
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s: image %s is gone, and so is %s, which its build begins from: "
			"download or load that one, then build again (tier 3) with: agentdeck start "
			"%s --rebuild",
			word, image, or_what(facts->base_name, "the image"), word);
	if (!facts->may_rebuild)
		return error_set(err, ERROR_INVALID,
				 "%s: image %s is gone and needs a rebuild from %s%s (tier 3): "
				 "agentdeck start %s --rebuild",
				 word, image, build,
				 facts->build_changed ? ", which has changed since" : "", word);
	return 0;
}

/* ---- what is planned ------------------------------------------------------------------------- */

static int plan_start(const struct recreate_facts *facts, struct recreate_plan *plan)
{
	plan->tier = 1;
	if (facts->container == RECREATE_OURS_RUNNING)
		add(plan, STEP_STOP);
	if (!facts->network_is_there)
		add(plan, STEP_NETWORK);
	add(plan, STEP_START);
	return 0;
}

static int plan_create(const struct recreate_facts *facts, const char *word,
		       struct recreate_plan *plan, struct error *err)
{
	if (facts->image == IMAGE_UNKNOWN)
		return refuse_unknown("its image", word, err);
	if (facts->image == IMAGE_GONE && check_build(facts, word, err) < 0)
		return -1;
	plan->tier = facts->image == IMAGE_GONE ? 3 : 2;
	/* First what may fail and costs nothing. */
	if (plan->tier == 3)
		add(plan, STEP_BUILD);
	add(plan, STEP_TAG);
	if (facts->container == RECREATE_OURS_RUNNING)
		add(plan, STEP_STOP);
	if (facts->container != RECREATE_NONE)
		add(plan, STEP_REMOVE);
	if (!facts->network_is_there)
		add(plan, STEP_NETWORK);
	add(plan, STEP_CREATE);
	add(plan, STEP_START);
	if (!facts->is_new)
		plan->lost = xstrdup("files that were written in the container outside of its "
				     "home, work directory and mounts");
	return 0;
}

static int plan_unpause(const struct recreate_facts *facts, const char *word,
			struct recreate_plan *plan, struct error *err)
{
	if (!facts->may_unpause)
		return refuse_paused(word, err);
	add(plan, STEP_UNPAUSE);
	add(plan, STEP_WINDOW);
	return 0;
}

static int plan(const struct recreate_facts *facts, const char *word, struct recreate_plan *ret,
		struct error *err)
{
	if (facts->answers) {
		add(ret, STEP_WINDOW);
		return 0;
	}
	switch (facts->container) {
	case RECREATE_UNKNOWN:
		return refuse_unknown("its container", word, err);
	case RECREATE_FOREIGN:
		return refuse_foreign(facts, word, err);
	case RECREATE_OURS_PAUSED:
		return plan_unpause(facts, word, ret, err);
	case RECREATE_NONE:
	case RECREATE_OURS_RUNNING:
	case RECREATE_OURS_STOPPED:
	case RECREATE_OURS_BROKEN:
		break;
	}
	if (check_mounts(facts, word, err) < 0)
		return -1;
	bool can_start = facts->container == RECREATE_OURS_RUNNING ||
			 facts->container == RECREATE_OURS_STOPPED;
	return can_start && facts->recipe_is_same ? plan_start(facts, ret)
						  : plan_create(facts, word, ret, err);
}

int recreate_plan(const struct recreate_facts *facts, const char *title, struct recreate_plan *ret,
		  struct error *err)
{
	cleanup_free char *word = word_of(title);
	struct recreate_plan made = { 0 };
	if (plan(facts, word, &made, err) < 0)
		return -1;
	*ret = made;
	return 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *recreate_step_text(enum recreate_step step)
{
	static const char *const texts[] = {
		[STEP_WINDOW] = "open a window",
		[STEP_UNPAUSE] = "continue the paused container",
		[STEP_STOP] = "stop the container, which does not answer",
		[STEP_REMOVE] = "remove the container",
		[STEP_NETWORK] = "make the network",
		[STEP_BUILD] = "build the image",
		[STEP_TAG] = "tag the image",
		[STEP_CREATE] = "create the container from its recipe",
		[STEP_START] = "start the container",
	};
	_Static_assert(ARRAY_SIZE(texts) == STEP_COUNT, "a step without a text");
	return texts[step];
}

const char *recreate_tier_text(unsigned tier)
{
	static const char *const texts[] = {
		"its container still ran",
		"its container was started again",
		"its container was made again",
		"its image was built again",
	};
	return tier < ARRAY_SIZE(texts) ? texts[tier] : "a tier that is not known here";
}

char *recreate_next_text(unsigned tier, bool has_build, const char *title)
{
	cleanup_free char *word = word_of(title);
	switch (tier == 2 && !has_build ? 3 : tier) {
	case 0:
		return xasprintf("next, start the container again (tier 1): agentdeck session "
				 "restart %s",
				 word);
	case 1:
		return xasprintf("next, make a new container from the recipe (tier 2): agentdeck "
				 "session eject %s, then agentdeck start %s",
				 word, word);
	case 2:
		return xasprintf("next, build the image again (tier 3): remove the image, then "
				 "agentdeck start %s --rebuild",
				 word);
	default:
		return xasprintf("there is no further tier: correct %s, or choose another image "
				 "with agentdeck session set %s recipe.image IMAGE",
				 tier == 3 ? "the build" : "what the engine says", word);
	}
}
