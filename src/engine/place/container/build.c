/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/build.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/context/context.h"
#include "engine/deck/stages.h"
#include "engine/place/container/bases.h"
#include "engine/place/container/saying.h"
#include "engine/role/built.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPOSITORY    "agentdeck/build"
#define LABEL_BUILD   "io.agentdeck.build"
#define LABEL_BASES   "io.agentdeck.build.bases"
#define LABEL_ROLE    "io.agentdeck.role"
#define LABEL_COMMIT  "io.agentdeck.role.commit"
#define LABEL_VERSION "io.agentdeck.version"

enum {
	BUILD_MS = 1800000,
	TAG_DIGITS = 12,
};

/* ---- the directory --------------------------------------------------------------------------- */

static int refuse_directory(const char *directory, struct error *err)
{
	cleanup_free char *shown = visible(directory);
	return error_set(err, ERROR_NOT_FOUND,
			 "there is no %s/" CONTEXT_DOCKERFILE " to build an image from: name the "
			 "directory of a " CONTEXT_DOCKERFILE ", or an image that the engine has "
			 "with --image IMAGE",
			 shown);
}

static struct context context_of(const struct recipe *recipe)
{
	return (struct context){ .directory = recipe->build,
				 .dockerfile = recipe->build_file,
				 .args = &recipe->build_args };
}

int build_find(const char *directory, char **ret, struct error *err)
{
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	cleanup_free char *real = NULL;
	int r = fs_real_directory(directory, &real, err);
	const struct context context = { .directory = real };
	if (r == 0)
		r = context_bases(&context, &bases, err);
	if (r > 0)
		return refuse_directory(directory, err);
	if (r == 0)
		*ret = TAKE_PTR(real);
	return r;
}

/* The caller puts it.  NULL: there are none. */
static struct json_object *json_of_args(const struct recipe *recipe)
{
	struct json_object *args = recipe->build_args.count ? json_object_new_object() : NULL;
	for (size_t i = 0; i < recipe->build_args.count; i++) {
		const char *equals = strchr(recipe->build_args.items[i], '=');
		cleanup_free char *name = xstrndup(
			recipe->build_args.items[i],
			equals ? (size_t)(equals - recipe->build_args.items[i]) : 0);
		if (equals)
			json_set_string(args, name, equals + 1);
	}
	return args;
}

/* ---- the base -------------------------------------------------------------------------------- */

static int settle_bases(struct engine *engine, const struct recipe *recipe, struct bases *ret,
			struct error *err)
{
	const int r = bases_settle(engine, recipe, ret, err);
	return r > 0 ? refuse_directory(recipe->build, err) : r;
}

int build_find_missing(struct engine *engine, const struct recipe *recipe, char **ret,
		       struct error *err)
{
	cleanup_bases struct bases bases = { 0 };
	if (settle_bases(engine, recipe, &bases, err) < 0)
		return -1;
	*ret = TAKE_PTR(bases.missing);
	return 0;
}

/* A build would download it by itself. */
static int refuse_base(const struct recipe *recipe, const char *missing, struct error *err)
{
	cleanup_free char *shown = visible(missing);
	return error_set(err, ERROR_NOT_FOUND,
			 "%s/" CONTEXT_DOCKERFILE " begins from %s, which %s does not have: get it "
			 "with %s pull %s",
			 recipe->build, shown, recipe->engine, recipe->engine, shown);
}

/* ---- the build ------------------------------------------------------------------------------- */

/* Roles can build several images from one directory. */
static void digest_inputs(const struct recipe *recipe, const char *digest,
			  char ret[static SHA256_TEXT_SIZE])
{
	cleanup_free char *args = strvec_join(&recipe->build_args, "\n");
	cleanup_free char *all = xasprintf("%s\n%s\n%s\n%s", digest, or_empty(recipe->build_file),
					   or_empty(recipe->build_target), args);
	(void)sha256_text(all, ret);
}

static char *scratch_tag(const struct recipe *recipe, const char *digest)
{
	char inputs[SHA256_TEXT_SIZE];
	digest_inputs(recipe, digest, inputs);
	return xasprintf("%s:%.*s", REPOSITORY, TAG_DIGITS, recipe->role ? inputs : digest);
}

static void drop_scratch(struct engine *engine, const struct recipe *recipe, const char *digest)
{
	cleanup_free char *tag = scratch_tag(recipe, digest);
	(void)engine_untag(engine, tag, NULL);
}

/* What is built, and from what. */
struct work {
	struct deck *deck;
	struct engine *engine;
	struct recipe *recipe;
	struct bases bases;
	char digest[SHA256_TEXT_SIZE]; /* of the directory */
	int tar;
	struct built now; /* of a role: what is noted beside its trust */
};

static void work_clear(struct work *work)
{
	bases_clear(&work->bases);
	built_clear(&work->now);
	if (work->tar >= 0)
		(void)close(work->tar);
}

/* A role is built as its user has seen it. */
static int pack(struct work *work, struct error *err)
{
	const struct recipe *recipe = work->recipe;
	struct context context = context_of(recipe);
	context.pins = work->bases.pins.count ? &work->bases.pins : NULL;
	int r = context_pack(&context, work->tar, work->digest, err);
	if (r > 0)
		return refuse_directory(recipe->build, err);
	if (r == 0 && recipe->role && !streq(or_empty(recipe->build_hash), work->digest)) {
		cleanup_free char *shown = visible(recipe->build);
		return error_set(err, ERROR_INVALID,
				 "%s has changed since you trusted its role, and so it is not "
				 "built: bring it back as it was, or name an image with agentdeck "
				 "session set SESSION recipe.image IMAGE, or make a new session of "
				 "the role",
				 shown);
	}
	return r;
}

static struct json_object *labels_of(const struct work *work)
{
	const struct recipe *recipe = work->recipe;
	cleanup_free char *bases = strvec_join(&work->bases.found, ", ");
	struct json_object *labels = json_object_new_object();
	json_set_string(labels, LABEL_BUILD, work->digest);
	json_set_string(labels, LABEL_BASES, bases);
	if (recipe->role)
		json_set_string(labels, LABEL_ROLE, recipe->role_digest);
	if (recipe->role)
		json_set_string(labels, LABEL_VERSION, PACKAGE_VERSION);
	if (recipe->role_commit)
		json_set_string(labels, LABEL_COMMIT, recipe->role_commit);
	return labels;
}

static int run_build(const struct work *work, struct engine_image *ret, struct error *err)
{
	const struct recipe *recipe = work->recipe;
	cleanup_saying struct saying saying = { .deck = work->deck, .since_ms = clock_ms() };
	cleanup_free char *tag = scratch_tag(recipe, work->digest), *id = NULL;
	cleanup_json struct json_object *labels = labels_of(work);
	cleanup_json struct json_object *args = json_of_args(recipe);
	const struct engine_build build = {
		.context = work->tar,
		.tag = tag,
		.dockerfile = recipe->build_file,
		.target = recipe->build_target,
		.args = args,
		.labels = labels,
		.progress = saying_add,
		.data = &saying,
		.deadline_ms = clock_ms() + BUILD_MS,
	};
	if (lseek(work->tar, 0, SEEK_SET) < 0)
		return error_set_errno(err, errno, "read the build's files again");
	if (engine_build(work->engine, &build, &id, err) < 0) {
		saying_end_badly(&saying);
		return -1;
	}
	int r = engine_inspect_image(work->engine, id, ret, err);
	if (r < 0)
		drop_scratch(work->engine, recipe, work->digest);
	return r == ENGINE_ABSENT
		       ? error_set(err, ERROR_NOT_FOUND,
				   "image %s was removed just after it was built: try again", tag)
		       : r;
}

static int build_packed(struct work *work, struct engine_image *ret, struct error *err)
{
	if (fs_open_scratch(work->deck->paths.state, &work->tar, err) < 0 || pack(work, err) < 0)
		return -1;
	stages_enter(work->deck, STAGE_IMAGE);
	const int r = bases_tag(work->engine, &work->bases, err) < 0 ? -1
								     : run_build(work, ret, err);
	bases_untag(work->engine, &work->bases);
	return r;
}

/* ---- an image that the role has already ------------------------------------------------------- */

static int describe_now(struct work *work, struct error *err)
{
	const struct recipe *recipe = work->recipe;
	const struct context context = context_of(recipe);
	cleanup_strbuf struct strbuf text = { 0 };
	char digest[SHA256_TEXT_SIZE], inputs[SHA256_TEXT_SIZE];
	const int r = context_text(&context, &text, err);
	if (r != 0)
		return r < 0 ? -1 : refuse_directory(recipe->build, err);
	digest_inputs(recipe, or_empty(recipe->build_hash), inputs);
	work->now = (struct built){
		.address = xstrdup(recipe->address),
		.commit = xstrdup_or_null(recipe->role_commit),
		.dockerfile = xstrdup(sha256_text(strbuf_text(&text), digest)),
		.inputs = xstrdup(inputs),
		.version = xstrdup(PACKAGE_VERSION),
	};
	strvec_push_all(&work->now.bases, &work->bases.found);
	return 0;
}

/* The image of the last build, if it would be the same one.  ENGINE_ABSENT. */
static int find_built(struct work *work, struct engine_image *ret, struct error *err)
{
	cleanup_built struct built before = { 0 };
	cleanup_error struct error why = { 0 };
	const int r = built_load(work->deck, work->recipe->role, &before, &why);
	if (r < 0)
		log_warning("what the role was built to last is not known: %s", why.message);
	if (r != 0 || !before.image_id || !streq(or_empty(before.address), work->now.address))
		return ENGINE_ABSENT;
	cleanup_free char *difference = built_difference(&before, &work->now);
	if (!difference)
		return engine_inspect_image(work->engine, before.image_id, ret, err);
	deck_warn(work->deck,
		  "the role's image is built again for this session, since this has changed: %s",
		  difference);
	return ENGINE_ABSENT;
}

/* A session that is removed meanwhile takes only its own name away. */
static int take_built(struct work *work, struct engine_image *ret, struct error *err)
{
	struct recipe *recipe = work->recipe;
	if (describe_now(work, err) < 0)
		return -1;
	const int r = find_built(work, ret, err);
	if (r != 0)
		return r;
	snprintf(work->digest, sizeof(work->digest), "%s", or_empty(recipe->build_hash));
	cleanup_free char *tag = scratch_tag(recipe, work->digest);
	stages_enter(work->deck, STAGE_IMAGE);
	return engine_tag(work->engine, ret->id, REPOSITORY, strrchr(tag, ':') + 1, err);
}

static void note_built(struct work *work)
{
	cleanup_error struct error err = { 0 };
	work->now.image_id = xstrdup(work->recipe->image_id);
	if (built_save(work->deck, work->recipe->role, &work->now, &err) < 0)
		log_warning("the role's image is built again for the next session: %s",
			    err.message);
}

static void note(struct work *work, const struct engine_image *image)
{
	struct recipe *recipe = work->recipe;
	cleanup_free char *tag = scratch_tag(recipe, work->digest);
	replace_string(&recipe->image, recipe->keep_tag ? recipe->keep_tag : tag);
	replace_string(&recipe->image_id, image->id);
	strvec_clear(&recipe->layers);
	strvec_push_all(&recipe->layers, &image->layers);
	replace_string(&recipe->build_hash, work->digest);
	strvec_clear(&recipe->bases);
	strvec_push_all(&recipe->bases, &work->bases.found);
}

int build_image(struct deck *deck, struct engine *engine, struct recipe *recipe, struct error *err)
{
	CLEANUP(work_clear)
	struct work work = { .deck = deck, .engine = engine, .recipe = recipe, .tar = -1 };
	cleanup_engine_image struct engine_image image = { 0 };
	stages_enter(deck, STAGE_BASE);
	if (settle_bases(engine, recipe, &work.bases, err) < 0)
		return -1;
	if (work.bases.missing)
		return refuse_base(recipe, work.bases.missing, err);
	const int taken = recipe->role ? take_built(&work, &image, err) : ENGINE_ABSENT;
	const int r = taken == ENGINE_ABSENT ? build_packed(&work, &image, err) : taken;
	if (r < 0)
		return -1;
	note(&work, &image);
	if (recipe->role && taken == ENGINE_ABSENT)
		note_built(&work);
	log_info("built: image=%s from=%s digest=%s", recipe->image_id, recipe->build, work.digest);
	return 0;
}

int build_settle(struct engine *engine, const struct recipe *recipe, struct error *err)
{
	const char *tag = recipe->keep_tag ? strrchr(recipe->keep_tag, ':') : NULL;
	if (!tag)
		return 0;
	cleanup_free char *repository = xstrndup(recipe->keep_tag,
						 (size_t)(tag - recipe->keep_tag));
	if (engine_tag(engine, recipe->image_id, repository, tag + 1, err) < 0)
		return -1;
	build_discard(engine, recipe);
	return 0;
}

/* Another session that was built from the same recipe has this image, too. */
void build_discard(struct engine *engine, const struct recipe *recipe)
{
	if (recipe->build_hash)
		drop_scratch(engine, recipe, recipe->build_hash);
}

/* ---- before it is built again ---------------------------------------------------------------- */

void build_facts_clear(struct build_facts *facts)
{
	free(facts->base_name);
	*facts = (struct build_facts){ 0 };
}

int build_look(struct engine *engine, const struct recipe *recipe, struct build_facts *ret,
	       struct error *err)
{
	cleanup_bases struct bases bases = { 0 };
	char digest[SHA256_TEXT_SIZE];
	if (!recipe->build)
		return 0;
	const struct context context = context_of(recipe);
	int r = context_pack(&context, -1, digest, err);
	if (r == 0)
		r = bases_settle(engine, recipe, &bases, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	*ret = (struct build_facts){
		.is_there = true,
		.has_changed = !streq(or_empty(recipe->build_hash), digest),
		.base = bases.missing ? IMAGE_GONE : IMAGE_SAME,
		.base_name = xstrdup_or_null(bases.missing),
	};
	return 0;
}
