/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/engine-internal.h"

#include "base/clock.h"
#include "driver/engine/trace.h"

#include <string.h>

void engine_image_clear(struct engine_image *image)
{
	free(image->id);
	strvec_clear(&image->layers);
	strvec_clear(&image->tags);
	free(image->digest);
	json_object_put(image->labels);
	*image = (struct engine_image){ 0 };
}

static int read_image(const struct json_object *answer, struct engine_image *ret, struct error *err)
{
	const char *id = json_get_string(answer, "Id", NULL);
	if (!id)
		return error_set(err, ERROR_CORRUPT,
				 "the container engine described an image without an id");
	*ret = (struct engine_image){
		.id = engine_image_id(id),
		.labels = json_object_get(
			json_get_object(json_get_object(answer, "Config"), "Labels")),
	};
	json_get_strings(json_get_object(answer, "RootFS"), "Layers", &ret->layers);
	json_get_strings(answer, "RepoTags", &ret->tags);
	cleanup_strvec struct strvec digests = { 0 };
	json_get_strings(answer, "RepoDigests", &digests);
	ret->digest = xstrdup_or_null(digests.count ? digests.items[0] : NULL);
	return 0;
}

static int look(struct engine *engine, const char *reference, struct engine_image *ret,
		struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_free char *path = xasprintf("/images/%s/json", reference);
	if (engine_get(engine, path, &answer, err) < 0)
		return -1;
	if (answer.status == 404)
		return ENGINE_ABSENT;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "look at the image %s", reference);
	return read_image(answer.json, ret, err);
}

/* Over this API podman takes a short name for one of docker.io, but its own programs call what they
 * build localhost/NAME. */
int engine_inspect_image(struct engine *engine, const char *reference, struct engine_image *ret,
			 struct error *err)
{
	if (engine_check_reference(reference, err) < 0)
		return -1;
	int r = look(engine, reference, ret, err);
	if (r != ENGINE_ABSENT || engine->kind != ENGINE_PODMAN ||
	    starts_with(reference, "sha256:") || strpbrk(reference, "./"))
		return r;
	cleanup_free char *local = xasprintf("localhost/%s", reference);
	return look(engine, local, ret, err);
}

/* ---- names ------------------------------------------------------------------------------------ */

static bool has_name(struct engine *engine, const char *id, const char *reference)
{
	cleanup_engine_image struct engine_image image = { 0 };
	cleanup_free char *wanted = engine_image_id(id);
	return engine_inspect_image(engine, reference, &image, NULL) == 0 &&
	       streq(image.id, wanted);
}

int engine_tag(struct engine *engine, const char *id, const char *repository, const char *tag,
	       struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_error struct error lost = { 0 };
	cleanup_strbuf struct strbuf path = { 0 };
	cleanup_free char *reference = xasprintf("%s:%s", repository, tag);
	if (engine_check_reference(id, err) < 0 || engine_check_reference(reference, err) < 0)
		return -1;
	strbuf_addf(&path, "/images/%s/tag", id);
	engine_add_query(&path, "repo", repository);
	engine_add_query(&path, "tag", tag);
	int r = engine_act(engine, "POST", strbuf_text(&path), &answer, &lost);
	if ((r == 0 && engine_agreed(&answer)) || has_name(engine, id, reference))
		return 0;
	if (r < 0)
		return error_move(err, &lost);
	return engine_refused(engine, &answer, err, "give the image %s the name %s", id, reference);
}

/* An id would remove all names. */
static int check_is_name(const char *reference, struct error *err)
{
	if (engine_check_reference(reference, err) < 0)
		return -1;
	const char *last = strrchr(reference, '/');
	if (starts_with(reference, "sha256:") || !strchr(last ? last : reference, ':') ||
	    strchr(reference, '@'))
		return error_set(err, ERROR_INVALID,
				 "'%s' is not the name of an image with its tag", reference);
	return 0;
}

int engine_untag(struct engine *engine, const char *reference, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_engine_image struct engine_image image = { 0 };
	cleanup_error struct error lost = { 0 };
	if (check_is_name(reference, err) < 0)
		return -1;
	cleanup_free char *path = xasprintf("/images/%s?noprune=1", reference);
	int r = engine_act(engine, "DELETE", path, &answer, &lost);
	if (r == 0 && (engine_agreed(&answer) || answer.status == 404))
		return 0;
	int after = engine_inspect_image(engine, reference, &image, NULL);
	if (after == ENGINE_ABSENT)
		return 0;
	if (r < 0)
		return error_move(err, &lost);
	if (after == 0 && (answer.status == 409 || engine_says(&answer, "in use") ||
			   engine_says(&answer, "used by")))
		return ENGINE_IN_USE;
	return engine_refused(engine, &answer, err, "remove the name %s of an image", reference);
}

/* "REGISTRY/agentdeck/keep:x" counts as "agentdeck/keep:x". */
static void push_name(const char *name, const char *repository, struct strvec *ret)
{
	const char *at = strstr(name, repository);
	if (at && at[strlen(repository)] == ':' && (at == name || at[-1] == '/') &&
	    !strvec_contains(ret, at))
		strvec_push(ret, at);
}

int engine_list_names(struct engine *engine, const char *repository, struct strvec *ret,
		      struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	if (engine_get(engine, "/images/json", &answer, err) < 0)
		return -1;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "list its images");
	if (!json_object_is_type(answer.json, json_type_array))
		return error_set(err, ERROR_CORRUPT,
				 "the container engine's list of images is not a list");
	for (size_t i = 0; i < json_object_array_length(answer.json); i++) {
		cleanup_strvec struct strvec names = { 0 };
		json_get_strings(json_object_array_get_idx(answer.json, i), "RepoTags", &names);
		for (size_t j = 0; j < names.count; j++)
			push_name(names.items[j], repository, ret);
	}
	return 0;
}

/* ---- making ----------------------------------------------------------------------------------- */

/* The id of the frames in which Docker passes on what BuildKit says. */
#define TRACE "moby.buildkit.trace"
/* What BuildKit wants for RUN --mount=type=secret and type=ssh: a second connection, over which the
 * docker command answers what it asks. */
#define NO_SESSION "no active session"

/* What an import or a build says.  Its status is 200 before it has begun. */
struct story {
	char *id;      /* of the image, when one was named */
	char *failure; /* what it says went wrong */
	char *lines;   /* unused bytes of a line for people */
	void (*progress)(const char *line, void *data);
	void *data;
};

static void story_clear(struct story *story)
{
	free(story->id);
	free(story->failure);
	free(story->lines);
}

static void tell(struct story *story, const char *text)
{
	if (!story->progress || !text)
		return;
	cleanup_free char *all = xasprintf("%s%s", or_empty(story->lines), text);
	char *line = all;
	for (char *end; (end = strpbrk(line, "\r\n")); line = end + 1) {
		*end = '\0';
		if (*line)
			story->progress(line, story->data);
	}
	replace_string(&story->lines, line);
}

static void note_id(struct story *story, const char *id)
{
	cleanup_free char *full = id ? engine_image_id(id) : NULL;
	if (full && starts_with(full, "sha256:"))
		replace_string(&story->id, full);
}

/* With podman, the last line of a build is the id alone, and it is in "aux", too. */
static int on_frame(const char *line, size_t length, void *data)
{
	cleanup_json struct json_object *frame = NULL;
	struct story *story = data;
	if (json_parse(line, length, "frame", &frame, NULL) < 0) {
		replace_string(&story->failure, "its answer makes no sense");
		return -1;
	}
	const char *failure = json_get_string(json_get_object(frame, "errorDetail"), "message",
					      json_get_string(frame, "error", NULL));
	if (failure)
		replace_string(&story->failure, failure);
	note_id(story, json_get_string(json_get_object(frame, "aux"), "ID", NULL));
	tell(story, json_get_string(frame, "stream", NULL));
	if (streq(json_get_string(frame, "id", ""), TRACE)) {
		cleanup_free char *text = trace_text(json_get_string(frame, "aux", ""));
		tell(story, text);
	}
	/* An import names its image in this way. */
	note_id(story, json_get_string(frame, "status", NULL));
	return 0;
}

static int end_story(struct engine *engine, struct story *story, const struct http_answer *answer,
		     const char *what, struct error *err)
{
	if (story->lines && *story->lines && story->progress)
		story->progress(story->lines, story->data);
	if (!engine_agreed(answer))
		return engine_refused(engine, answer, err, "%s", what);
	char *end = story->failure ? story->failure + strlen(story->failure) : NULL;
	while (end && end > story->failure && strchr(" \r\n", end[-1]))
		*--end = '\0';
	cleanup_free char *why = visible(or_empty(story->failure));
	if (*why)
		return error_set(err, ERROR_CHILD, "%s did not %s: %s",
				 engine_kind_name(engine->kind), what, why);
	if (!story->id)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s did not %s: its answer ended before the image was made",
				 engine_kind_name(engine->kind), what);
	return 0;
}

int engine_import(struct engine *engine, int tar, const char *repository, const char *tag,
		  char **ret_id, struct error *err)
{
	CLEANUP(story_clear) struct story story = { 0 };
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_strbuf struct strbuf path = { 0 };
	cleanup_free char *reference = xasprintf("%s:%s", repository, tag);
	cleanup_free char *what = xasprintf("import the image %s", reference);
	if (engine_check_reference(reference, err) < 0)
		return -1;
	/* podman does not read "tag", and Docker no tag in "repo" */
	bool is_podman = engine->kind == ENGINE_PODMAN;
	strbuf_adds(&path, "/images/create?fromSrc=-");
	engine_add_query(&path, "repo", is_podman ? reference : repository);
	engine_add_query(&path, "tag", is_podman ? NULL : tag);
	struct http_call call = {
		.method = "POST",
		.path = strbuf_text(&path),
		.uploads = true,
		.upload = tar,
		.timeout_ms = ENGINE_IMPORT_MS,
		.on_line = on_frame,
		.data = &story,
	};
	if (engine_call(engine, &call, &answer, err) < 0 ||
	    end_story(engine, &story, &answer, what, err) < 0)
		return -1;
	*ret_id = TAKE_PTR(story.id);
	return 0;
}

static int left_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms - clock_ms();
	return left < 1 ? 1 : left > INT32_MAX ? INT32_MAX : (int)left;
}

int engine_build(struct engine *engine, const struct engine_build *build, char **ret_id,
		 struct error *err)
{
	CLEANUP(story_clear)
	struct story story = { .progress = build->progress, .data = build->data };
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_strbuf struct strbuf path = { 0 };
	cleanup_free char *what = xasprintf("build the image %s", build->tag);
	if (engine_check_reference(build->tag, err) < 0)
		return -1;
	strbuf_adds(&path, "/build?rm=1&forcerm=1");
	engine_add_query(&path, "t", build->tag);
	engine_add_query(&path, "dockerfile", build->dockerfile);
	engine_add_query(&path, "target", build->target);
	engine_add_query_json(&path, "buildargs", build->args);
	engine_add_query_json(&path, "labels", build->labels);
	/* BuildKit, which podman does not know and ignores */
	engine_add_query(&path, "version", "2");
	struct http_call call = {
		.method = "POST",
		.path = strbuf_text(&path),
		.uploads = true,
		.upload = build->context,
		.timeout_ms = left_ms(build->deadline_ms),
		.on_line = on_frame,
		.data = &story,
	};
	if (engine_call(engine, &call, &answer, err) < 0)
		return -1;
	if (story.failure && strstr(story.failure, NO_SESSION))
		return error_set(err, ERROR_CHILD,
				 "%s did not %s: the Dockerfile wants a secret or an SSH key of "
				 "yours (RUN --mount=type=secret, type=ssh), which only the docker "
				 "command can give: build it with docker build -t NAME, and use "
				 "--image NAME",
				 engine_kind_name(engine->kind), what);
	if (end_story(engine, &story, &answer, what, err) < 0)
		return -1;
	*ret_id = TAKE_PTR(story.id);
	return 0;
}
