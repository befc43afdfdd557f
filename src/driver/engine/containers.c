/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/engine-internal.h"

#include <string.h>

void container_clear(struct container *container)
{
	free(container->id);
	free(container->name);
	free(container->image_id);
	free(container->network_id);
	free(container->ip);
	free(container->network);
	json_object_put(container->labels);
	*container = (struct container){ 0 };
}

/* ---- looking ---------------------------------------------------------------------------------- */

static enum container_state state_of(const struct json_object *state)
{
	static const struct {
		const char *word;
		enum container_state state;
	} words[] = {
		{ "created", CONTAINER_CREATED }, { "configured", CONTAINER_CREATED },
		{ "running", CONTAINER_RUNNING }, { "paused", CONTAINER_PAUSED },
		{ "exited", CONTAINER_EXITED },   { "stopped", CONTAINER_EXITED },
	};
	const char *status = json_get_string(state, "Status", "");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (streq(status, words[i].word))
			return words[i].state;
	return CONTAINER_OTHER;
}

static void read_network(const struct json_object *settings, struct container *ret)
{
	struct json_object *all = json_get_object(settings, "Networks");
	if (!all)
		return;
	json_object_object_foreach(all, name, entry) {
		/* "" while it does not run. */
		const char *ip = json_get_string(entry, "IPAddress", "");
		if (*ip && !ret->ip)
			ret->ip = xstrdup(ip);
		if (ret->network)
			continue;
		/* Docker writes "" until the first start. */
		const char *id = json_get_string(entry, "NetworkID", "");
		ret->network = xstrdup(name);
		ret->network_id = *id ? xstrdup(id) : NULL;
	}
}

static int read_container(const struct json_object *answer, struct container *ret,
			  struct error *err)
{
	const struct json_object *state = json_get_object(answer, "State");
	const char *id = json_get_string(answer, "Id", NULL);
	const char *name = json_get_string(answer, "Name", NULL);
	const char *image = json_get_string(answer, "Image", NULL);
	if (!id || !name || !image || !state)
		return error_set(
			err, ERROR_CORRUPT,
			"the container engine described a container without id, name, image or state");
	*ret = (struct container){
		.id = xstrdup(id),
		.name = xstrdup(name + (*name == '/')),
		.image_id = engine_image_id(image),
		.state = state_of(state),
		.exit_code = (int)json_get_int(state, "ExitCode", 0),
		.oom = json_get_bool(state, "OOMKilled", false),
		.pid = (int)json_get_int(state, "Pid", 0),
		.labels = json_object_get(
			json_get_object(json_get_object(answer, "Config"), "Labels")),
	};
	if (!ret->labels)
		ret->labels = json_object_new_object();
	read_network(json_get_object(answer, "NetworkSettings"), ret);
	return 0;
}

static int look(struct engine *engine, const char *id, struct http_answer *ret, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	if (engine_check_name("container name", id, err) < 0)
		return -1;
	cleanup_free char *path = xasprintf("/containers/%s/json", id);
	if (engine_get(engine, path, &answer, err) < 0)
		return -1;
	if (answer.status == 404)
		return ENGINE_ABSENT;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "look at the container %s", id);
	*ret = answer;
	answer = (struct http_answer){ 0 };
	return 0;
}

int engine_inspect(struct engine *engine, const char *name_or_id, struct container *ret,
		   struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	int r = look(engine, name_or_id, &answer, err);
	return r != 0 ? r : read_container(answer.json, ret, err);
}

int engine_list(struct engine *engine, struct json_object *labels, struct strvec *ret_ids,
		struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_strbuf struct strbuf path = { 0 };
	cleanup_json struct json_object *filter = engine_label_filter(labels);
	strbuf_adds(&path, "/containers/json?all=1");
	engine_add_query_json(&path, "filters", filter);
	if (engine_get(engine, strbuf_text(&path), &answer, err) < 0)
		return -1;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "list its containers");
	if (!json_object_is_type(answer.json, json_type_array))
		return error_set(err, ERROR_CORRUPT,
				 "the container engine's list of containers is not a list");
	for (size_t i = 0; i < json_object_array_length(answer.json); i++) {
		struct json_object *entry = json_object_array_get_idx(answer.json, i);
		const char *id = json_get_string(entry, "Id", NULL);
		if (id && engine_has_labels(json_get_object(entry, "Labels"), labels))
			strvec_push(ret_ids, id);
	}
	return 0;
}

/* HEAD has no body that would say what is missing. */
int engine_has_file(struct engine *engine, const char *id, const char *file, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_http_answer struct http_answer container = { 0 };
	if (engine_check_name("container name", id, err) < 0)
		return -1;
	cleanup_strbuf struct strbuf path = { 0 };
	strbuf_addf(&path, "/containers/%s/archive", id);
	engine_add_query(&path, "path", file);
	struct http_call call = { .method = "HEAD",
				  .path = strbuf_text(&path),
				  .timeout_ms = ENGINE_LOOK_MS };
	if (engine_call(engine, &call, &answer, err) < 0)
		return -1;
	if (engine_agreed(&answer))
		return 1;
	int r = look(engine, id, &container, err);
	if (r == ENGINE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "there is no container %s", id);
	if (r == 0 && answer.status != 404)
		return engine_refused(engine, &answer, err, "look for %s in the container %s", file,
				      id);
	return r;
}

/* ---- creating --------------------------------------------------------------------------------- */

static int check_sources(const struct engine *engine, const struct engine_order *order,
			 struct error *err)
{
	for (size_t i = 0; i < order->mount_count && !engine->is_remote; i++)
		if (access(order->mounts[i].source, F_OK) < 0)
			return error_set(err, ERROR_NOT_FOUND,
					 "%s does not exist, and the container needs it",
					 order->mounts[i].source);
	return 0;
}

static struct json_object *make_mounts(const struct engine_order *order)
{
	struct json_object *mounts = json_object_new_array();
	for (size_t i = 0; i < order->mount_count; i++) {
		struct json_object *mount = json_object_new_object();
		json_set_string(mount, "Type", "bind");
		json_set_string(mount, "Source", order->mounts[i].source);
		json_set_string(mount, "Target", order->mounts[i].target);
		json_set_bool(mount, "ReadOnly", order->mounts[i].read_only);
		json_object_array_add(mounts, mount);
	}
	return mounts;
}

static void add_place(struct json_object *mounts, const char *type, const char *target)
{
	struct json_object *mount = json_object_new_object();
	json_set_string(mount, "Type", type);
	json_set_string(mount, "Target", target);
	json_object_array_add(mounts, mount);
}

static void add_words(struct json_object *object, const char *key, const char *word)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push(&words, word);
	json_set_strings(object, key, &words);
}

/* Without no-new-privileges: newuidmap has its two capabilities by its file.  The others are what a
 * user namespace, and the containers in it, are made with. */
static void set_nest(struct json_object *host, const struct container_nest *nest)
{
	cleanup_strvec struct strvec options = { 0 }, capabilities = { 0 };
	cleanup_free char *beside = xasprintf("container:%s", nest->beside);
	struct json_object *device = json_object_new_object(), *devices = json_object_new_array();
	add_place(json_get_array(host, "Mounts"), "volume", nest->volume);
	add_place(json_get_array(host, "Mounts"), "tmpfs", nest->scratch);
	json_set_string(host, "NetworkMode", beside);
	json_set_string(host, "PidMode", beside);
	strvec_push_array(&capabilities, (const char *const[]){ "SETGID", "SETUID", NULL });
	json_set_strings(host, "CapAdd", &capabilities);
	strvec_push_array(&options, (const char *const[]){ "seccomp=unconfined",
							   "apparmor=unconfined", NULL });
	json_set_strings(host, "SecurityOpt", &options);
	json_set(host, "MaskedPaths", json_object_new_array());
	json_set(host, "ReadonlyPaths", json_object_new_array());
	json_set_string(device, "PathOnHost", "/dev/net/tun");
	json_set_string(device, "PathInContainer", "/dev/net/tun");
	json_set_string(device, "CgroupPermissions", "rwm");
	json_object_array_add(devices, device);
	json_set(host, "Devices", devices);
	struct json_object *log = json_make_object(host, "LogConfig");
	json_set_string(log, "Type", "json-file");
	json_set_string(json_make_object(log, "Config"), "max-size", "1m");
}

static struct json_object *make_host_config(const struct engine_order *order)
{
	struct json_object *host = json_object_new_object();
	json_set(host, "Mounts", make_mounts(order));
	json_set_string(host, "NetworkMode", order->network ? order->network : "default");
	json_set_string(json_make_object(host, "RestartPolicy"), "Name", "no");
	json_set_string(json_make_object(host, "LogConfig"), "Type", "none");
	json_set_bool(host, "Init", false);
	add_words(host, "CapDrop", "ALL");
	if (order->cap_add)
		json_set_strings(host, "CapAdd", order->cap_add);
	add_words(host, "SecurityOpt", "no-new-privileges");
	if (order->memory > 0)
		json_set_int(host, "Memory", order->memory);
	if (order->pids > 0)
		json_set_int(host, "PidsLimit", order->pids);
	if (order->cpus > 0)
		json_set_int(host, "NanoCpus", (int64_t)(order->cpus * 1e9));
	if (order->extra_host)
		add_words(host, "ExtraHosts", order->extra_host);
	if (order->keep_id)
		json_set_string(host, "UsernsMode", "keep-id");
	if (order->nest)
		set_nest(host, order->nest);
	return host;
}

/* What the image says of programs, health checks and signals does not count. */
static struct json_object *make_body(const struct engine_order *order)
{
	struct json_object *body = json_object_new_object();
	json_set_string(body, "Image", order->image_id);
	json_set_strings(body, "Entrypoint", order->entrypoint);
	json_set(body, "Cmd", json_object_new_array());
	if (order->user)
		json_set_string(body, "User", order->user);
	if (order->directory)
		json_set_string(body, "WorkingDir", order->directory);
	if (order->environment)
		json_set_strings(body, "Env", order->environment);
	json_set(body, "Labels", json_object_get(order->labels));
	json_set_string(body, "StopSignal", "SIGTERM");
	add_words(json_make_object(body, "Healthcheck"), "Test", "NONE");
	json_set(body, "HostConfig", make_host_config(order));
	return body;
}

/* The engine refused, or its answer is lost.  Found with all our labels after a lost answer, the
 * container is the one that this call made, or as good as that. */
static int look_after_create(struct engine *engine, const struct engine_order *order,
			     bool was_refused, char **ret_id)
{
	cleanup_container struct container there = { 0 };
	if (engine_inspect(engine, order->name, &there, NULL) != 0)
		return -1;
	bool is_ours = order->labels && engine_has_labels(there.labels, order->labels) &&
		       streq(there.name, order->name);
	if (was_refused || !is_ours)
		return ENGINE_TAKEN;
	*ret_id = TAKE_PTR(there.id);
	return 0;
}

static bool lacks_image(struct engine *engine, const struct engine_order *order)
{
	cleanup_engine_image struct engine_image image = { 0 };
	return engine_inspect_image(engine, order->image_id, &image, NULL) == ENGINE_ABSENT;
}

int engine_create(struct engine *engine, const struct engine_order *order, char **ret_id,
		  struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_error struct error lost = { 0 };
	if (engine_check_name("container name", order->name, err) < 0 ||
	    engine_check_reference(order->image_id, err) < 0 ||
	    check_sources(engine, order, err) < 0)
		return -1;
	cleanup_free char *path = xasprintf("/containers/create?name=%s", order->name);
	cleanup_json struct json_object *body = make_body(order);
	struct http_call call = {
		.method = "POST", .path = path, .body = body, .timeout_ms = ENGINE_ACT_MS
	};
	int r = engine_call(engine, &call, &answer, &lost);
	const char *id = r == 0 ? json_get_string(answer.json, "Id", NULL) : NULL;
	if (r == 0 && engine_agreed(&answer) && id) {
		*ret_id = xstrdup(id);
		return 0;
	}
	int after = look_after_create(engine, order, r == 0, ret_id);
	if (after >= 0)
		return after;
	if (r < 0)
		return error_move(err, &lost);
	if (lacks_image(engine, order))
		return ENGINE_ABSENT;
	return engine_refused(engine, &answer, err, "create the container %s", order->name);
}

/* ---- changing --------------------------------------------------------------------------------- */

/* One call without a body on a container, then what is there.  Outcomes as of look(). */
struct change {
	struct http_answer answer;
	struct error lost; /* the call got no answer */
	bool was_done;     /* the engine says so: nothing else is set */
	int found;         /* of look(); -1: unknown */
	struct http_answer seen;
	enum container_state state;
};

static void change_clear(struct change *change)
{
	http_answer_clear(&change->answer);
	http_answer_clear(&change->seen);
	error_clear(&change->lost);
}
#define cleanup_change CLEANUP(change_clear)

static int make_change(struct engine *engine, const struct http_call *call, const char *id,
		       struct change *ret, struct error *err)
{
	if (engine_check_name("container name", id, err) < 0)
		return -1;
	int r = engine_call(engine, call, &ret->answer, &ret->lost);
	/* 304: it is so already */
	if (r == 0 && (engine_agreed(&ret->answer) || ret->answer.status == 304)) {
		ret->was_done = true;
		return 0;
	}
	ret->found = look(engine, id, &ret->seen, NULL);
	if (ret->found == 0)
		ret->state = state_of(json_get_object(ret->seen.json, "State"));
	return 0;
}

static int fail_change(struct engine *engine, struct change *change, const char *what,
		       const char *id, struct error *err)
{
	if (change->lost.code != ERROR_NONE)
		return error_move(err, &change->lost);
	return engine_refused(engine, &change->answer, err, "%s the container %s", what, id);
}

/* The source of a mount that is gone, or NULL.  podman leaves HostConfig.Mounts empty. */
static const char *missing_source(const struct engine *engine, const struct http_answer *seen)
{
	struct json_object *mounts = json_get_array(seen->json, "Mounts");
	for (size_t i = 0; mounts && !engine->is_remote && i < json_object_array_length(mounts);
	     i++) {
		struct json_object *mount = json_object_array_get_idx(mounts, i);
		const char *source = json_get_string(mount, "Source", "");
		if (streq(json_get_string(mount, "Type", ""), "bind") && *source == '/' &&
		    access(source, F_OK) < 0)
			return source;
	}
	return NULL;
}

int engine_start(struct engine *engine, const char *id, struct error *err)
{
	cleanup_change struct change change = { 0 };
	cleanup_free char *path = xasprintf("/containers/%s/start", id);
	struct http_call call = { .method = "POST", .path = path, .timeout_ms = ENGINE_ACT_MS };
	if (make_change(engine, &call, id, &change, err) < 0)
		return -1;
	if (change.was_done || (change.found == 0 && change.state == CONTAINER_RUNNING))
		return 0;
	if (change.found == ENGINE_ABSENT)
		return ENGINE_ABSENT;
	if (change.found == 0 && change.state == CONTAINER_PAUSED)
		return error_set(err, ERROR_INVALID, "the container %s is paused: resume it first",
				 id);
	const char *source = change.found == 0 ? missing_source(engine, &change.seen) : NULL;
	if (source)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s does not exist, and the container %s needs it", source, id);
	return fail_change(engine, &change, "start", id, err);
}

int engine_unpause(struct engine *engine, const char *id, struct error *err)
{
	cleanup_change struct change change = { 0 };
	cleanup_free char *path = xasprintf("/containers/%s/unpause", id);
	struct http_call call = { .method = "POST", .path = path, .timeout_ms = ENGINE_ACT_MS };
	if (make_change(engine, &call, id, &change, err) < 0)
		return -1;
	if (change.was_done || (change.found == 0 && change.state == CONTAINER_RUNNING))
		return 0;
	if (change.found == ENGINE_ABSENT)
		return ENGINE_ABSENT;
	return fail_change(engine, &change, "resume", id, err);
}

static bool has_limits(const struct change *change, const struct engine_limits *limits)
{
	const struct json_object *host = json_get_object(change->seen.json, "HostConfig");
	return change->found == 0 &&
	       (!limits->memory || json_get_int(host, "Memory", 0) == limits->memory) &&
	       (!limits->pids || json_get_int(host, "PidsLimit", 0) == limits->pids);
}

int engine_update(struct engine *engine, const char *id, const struct engine_limits *limits,
		  struct error *err)
{
	cleanup_change struct change change = { 0 };
	cleanup_free char *path = xasprintf("/containers/%s/update", id);
	cleanup_json struct json_object *body = json_object_new_object();
	if (limits->memory > 0) {
		json_set_int(body, "Memory", limits->memory);
		/* There is as much swap as memory, as at the creation.  A memory limit above the
		 * old sum of both would be refused. */
		json_set_int(body, "MemorySwap",
			     limits->memory > INT64_MAX / 2 ? -1 : limits->memory * 2);
	}
	if (limits->pids > 0)
		json_set_int(body, "PidsLimit", limits->pids);
	struct http_call call = {
		.method = "POST", .path = path, .body = body, .timeout_ms = ENGINE_ACT_MS
	};
	if (make_change(engine, &call, id, &change, err) < 0)
		return -1;
	if (change.was_done || (change.lost.code != ERROR_NONE && has_limits(&change, limits)))
		return 0;
	return change.found == ENGINE_ABSENT ? ENGINE_ABSENT
					     : fail_change(engine, &change, "limit", id, err);
}

static int stop_once(struct engine *engine, const char *id, int grace_ms, struct change *ret,
		     struct error *err)
{
	int grace_s = grace_ms > 0 ? (grace_ms + 999) / 1000 : 0;
	cleanup_free char *path = xasprintf("/containers/%s/stop?t=%d", id, grace_s);
	struct http_call call = { .method = "POST",
				  .path = path,
				  .timeout_ms = ENGINE_ACT_MS + grace_s * 1000 };
	return make_change(engine, &call, id, ret, err);
}

static bool is_stopped(const struct change *change)
{
	return change->was_done || change->found == ENGINE_ABSENT ||
	       (change->found == 0 &&
		(change->state == CONTAINER_EXITED || change->state == CONTAINER_CREATED));
}

/* Frozen processes do not hear SIGTERM: Docker would kill them after the grace, and podman
 * refuses. */
static int thaw(struct engine *engine, const char *id, struct error *err)
{
	cleanup_container struct container container = { 0 };
	if (engine_inspect(engine, id, &container, NULL) != 0 ||
	    container.state != CONTAINER_PAUSED)
		return 0;
	return engine_unpause(engine, id, err) < 0 ? -1 : 0;
}

int engine_stop(struct engine *engine, const char *id, int grace_ms, struct error *err)
{
	cleanup_change struct change change = { 0 };
	if (thaw(engine, id, err) < 0 || stop_once(engine, id, grace_ms, &change, err) < 0)
		return -1;
	if (is_stopped(&change))
		return 0;
	return fail_change(engine, &change, "stop", id, err);
}

static int remove_once(struct engine *engine, const char *id, struct change *ret, struct error *err)
{
	cleanup_free char *path = xasprintf("/containers/%s?force=1&v=1", id);
	struct http_call call = { .method = "DELETE", .path = path, .timeout_ms = ENGINE_ACT_MS };
	return make_change(engine, &call, id, ret, err);
}

static bool is_removed(const struct change *change)
{
	return change->was_done || change->found == ENGINE_ABSENT;
}

/* Docker refuses while another removal of it is in progress: wait for that one. */
int engine_remove(struct engine *engine, const char *id, struct error *err)
{
	cleanup_change struct change change = { 0 };
	cleanup_change struct change again = { 0 };
	cleanup_http_answer struct http_answer gone = { 0 };
	if (remove_once(engine, id, &change, err) < 0)
		return -1;
	if (is_removed(&change))
		return 0;
	if (change.lost.code != ERROR_NONE || change.answer.status != 409)
		return fail_change(engine, &change, "remove", id, err);
	cleanup_free char *path = xasprintf("/containers/%s/wait?condition=removed", id);
	(void)engine_act(engine, "POST", path, &gone, NULL);
	if (remove_once(engine, id, &again, err) < 0)
		return -1;
	return is_removed(&again) ? 0 : fail_change(engine, &again, "remove", id, err);
}
