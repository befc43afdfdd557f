/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/build.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/context/context.h"
#include "engine/deck/stages.h"
#include "engine/place/container/saying.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPOSITORY    "agentdeck/build"
#define LABEL_BUILD   "io.agentdeck.build"
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

/* A role is built as its user has seen it. */
static int pack(const struct recipe *recipe, int tar, char ret[static SHA256_TEXT_SIZE],
		struct error *err)
{
	const struct context context = context_of(recipe);
	int r = context_pack(&context, tar, ret, err);
	if (r > 0)
		return refuse_directory(recipe->build, err);
	if (r == 0 && recipe->role && !streq(or_empty(recipe->build_hash), ret)) {
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

/* The first of the images that the build begins from and that the engine does not have; NULL: it
 * has all.  A name that makes no sense is for the engine to refuse. */
static int find_missing(struct engine *engine, const struct dockerfile_bases *bases,
			const char **ret, struct error *err)
{
	const bool is_docker = engine_kind_of(engine) == ENGINE_DOCKER;
	const size_t count = bases->all.count + (is_docker && bases->frontend);
	for (size_t i = 0; i < count; i++) {
		const char *name = i < bases->all.count ? bases->all.items[i] : bases->frontend;
		cleanup_engine_image struct engine_image image = { 0 };
		struct error why = { 0 };
		int r = engine_inspect_image(engine, name, &image, &why);
		if (r < 0 && why.code != ERROR_INVALID)
			return error_move(err, &why);
		error_clear(&why);
		if (r == ENGINE_ABSENT) {
			*ret = name;
			return 0;
		}
	}
	*ret = NULL;
	return 0;
}

int build_find_missing(struct engine *engine, const struct recipe *recipe, char **ret,
		       struct error *err)
{
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	const struct context context = context_of(recipe);
	const char *missing = NULL;
	const int r = context_bases(&context, &bases, err);
	if (r != 0)
		return r < 0 ? -1 : refuse_directory(recipe->build, err);
	if (find_missing(engine, &bases, &missing, err) < 0)
		return -1;
	*ret = xstrdup_or_null(missing);
	return 0;
}

/* A build would download it by itself. */
static int check_bases(struct engine *engine, const struct recipe *recipe,
		       const struct dockerfile_bases *bases, struct error *err)
{
	const char *missing;
	if (find_missing(engine, bases, &missing, err) < 0)
		return -1;
	cleanup_free char *shown = visible(or_empty(missing));
	return missing ? error_set(err, ERROR_NOT_FOUND,
				   "%s/" CONTEXT_DOCKERFILE " begins from %s, which %s does not "
				   "have: get it with %s pull %s",
				   recipe->build, shown, recipe->engine, recipe->engine, shown)
		       : 0;
}

/* ---- the build ------------------------------------------------------------------------------- */

/* Roles can build several images from one directory. */
static char *scratch_tag(const struct recipe *recipe, const char *digest)
{
	cleanup_free char *args = strvec_join(&recipe->build_args, "\n");
	cleanup_free char *all = xasprintf("%s\n%s\n%s\n%s", digest, or_empty(recipe->build_file),
					   or_empty(recipe->build_target), args);
	char mixed[SHA256_TEXT_SIZE];
	const bool is_role = recipe->role != NULL;
	return xasprintf("%s:%.*s", REPOSITORY, TAG_DIGITS,
			 is_role ? sha256_text(all, mixed) : digest);
}

static void drop_scratch(struct engine *engine, const struct recipe *recipe, const char *digest)
{
	cleanup_free char *tag = scratch_tag(recipe, digest);
	(void)engine_untag(engine, tag, NULL);
}

struct packed {
	int tar;
	char digest[SHA256_TEXT_SIZE];
};

static int run_build(struct deck *deck, struct engine *engine, const struct recipe *recipe,
		     const struct packed *packed, struct engine_image *ret, struct error *err)
{
	const char *digest = packed->digest;
	cleanup_saying struct saying saying = { .deck = deck, .since_ms = clock_ms() };
	cleanup_free char *tag = scratch_tag(recipe, digest), *id = NULL;
	cleanup_json struct json_object *labels = json_object_new_object();
	cleanup_json struct json_object *args = json_of_args(recipe);
	json_set_string(labels, LABEL_BUILD, digest);
	if (recipe->role)
		json_set_string(labels, LABEL_ROLE, recipe->role_digest);
	if (recipe->role)
		json_set_string(labels, LABEL_VERSION, PACKAGE_VERSION);
	if (recipe->role_commit)
		json_set_string(labels, LABEL_COMMIT, recipe->role_commit);
	const struct engine_build build = {
		.context = packed->tar,
		.tag = tag,
		.dockerfile = recipe->build_file,
		.target = recipe->build_target,
		.args = args,
		.labels = labels,
		.progress = saying_add,
		.data = &saying,
		.deadline_ms = clock_ms() + BUILD_MS,
	};
	if (lseek(packed->tar, 0, SEEK_SET) < 0)
		return error_set_errno(err, errno, "read the build's files again");
	if (engine_build(engine, &build, &id, err) < 0) {
		saying_end_badly(&saying);
		return -1;
	}
	int r = engine_inspect_image(engine, id, ret, err);
	if (r < 0)
		drop_scratch(engine, recipe, digest);
	return r == ENGINE_ABSENT
		       ? error_set(err, ERROR_NOT_FOUND,
				   "image %s was removed just after it was built: try again", tag)
		       : r;
}

static int note(struct engine *engine, const char *digest, const struct dockerfile_bases *bases,
		const struct engine_image *image, struct recipe *recipe, struct error *err)
{
	cleanup_engine_image struct engine_image base = { 0 };
	cleanup_free char *tag = scratch_tag(recipe, digest);
	struct error why = { 0 };
	int r = bases->last ? engine_inspect_image(engine, bases->last, &base, &why) : 0;
	if (r < 0 && why.code != ERROR_INVALID)
		return error_move(err, &why);
	error_clear(&why);
	replace_string(&recipe->image, recipe->keep_tag ? recipe->keep_tag : tag);
	replace_string(&recipe->image_id, image->id);
	strvec_clear(&recipe->layers);
	strvec_push_all(&recipe->layers, &image->layers);
	replace_string(&recipe->build_hash, digest);
	replace_string(&recipe->base_id, base.id);
	strvec_clear(&recipe->base_layers);
	strvec_push_all(&recipe->base_layers, &base.layers);
	return 0;
}

int build_image(struct deck *deck, struct engine *engine, struct recipe *recipe, struct error *err)
{
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	cleanup_engine_image struct engine_image image = { 0 };
	cleanup_close int tar = -1;
	struct packed packed;
	const struct context context = context_of(recipe);
	stages_enter(deck, STAGE_BASE);
	int r = context_bases(&context, &bases, err);
	if (r > 0)
		return refuse_directory(recipe->build, err);
	if (r < 0 || check_bases(engine, recipe, &bases, err) < 0 ||
	    fs_open_scratch(deck->paths.state, &tar, err) < 0 ||
	    pack(recipe, tar, packed.digest, err) < 0)
		return -1;
	packed.tar = tar;
	stages_enter(deck, STAGE_IMAGE);
	if (run_build(deck, engine, recipe, &packed, &image, err) < 0)
		return -1;
	if (note(engine, packed.digest, &bases, &image, recipe, err) < 0) {
		drop_scratch(engine, recipe, packed.digest);
		return -1;
	}
	log_info("built: image=%s from=%s digest=%s", recipe->image_id, recipe->build,
		 packed.digest);
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
	cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
	char digest[SHA256_TEXT_SIZE];
	const char *missing;
	if (!recipe->build)
		return 0;
	const struct context context = context_of(recipe);
	int r = context_bases(&context, &bases, err);
	if (r == 0)
		r = context_pack(&context, -1, digest, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (find_missing(engine, &bases, &missing, err) < 0)
		return -1;
	*ret = (struct build_facts){
		.is_there = true,
		.has_changed = !streq(or_empty(recipe->build_hash), digest),
		.base = missing ? IMAGE_GONE : IMAGE_SAME,
		.base_name = xstrdup_or_null(missing),
	};
	return 0;
}
