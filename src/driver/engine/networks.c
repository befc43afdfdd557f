/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/engine-internal.h"

#include <string.h>

/* The network of exactly this name or id; an engine also takes the beginning of an id. */
static int look(struct engine *engine, const char *name, struct http_answer *ret, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	if (engine_check_name("network name", name, err) < 0)
		return -1;
	cleanup_free char *path = xasprintf("/networks/%s", name);
	if (engine_get(engine, path, &answer, err) < 0)
		return -1;
	if (answer.status == 404)
		return ENGINE_ABSENT;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "look at the network %s", name);
	if (!streq(json_get_string(answer.json, "Name", ""), name) &&
	    !streq(json_get_string(answer.json, "Id", ""), name))
		return ENGINE_ABSENT;
	*ret = answer;
	answer = (struct http_answer){ 0 };
	return 0;
}

int engine_find_network(struct engine *engine, const char *name, struct json_object *labels,
			char **ret_id, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	int r = look(engine, name, &answer, err);
	if (r != 0)
		return r;
	if (!engine_has_labels(json_get_object(answer.json, "Labels"), labels))
		return ENGINE_TAKEN;
	*ret_id = xstrdup(json_get_string(answer.json, "Id", name));
	return 0;
}

int engine_network_label(struct engine *engine, const char *name, const char *label, char **ret,
			 struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	int r = look(engine, name, &answer, err);
	if (r == 0)
		*ret = xstrdup(json_get_string(json_get_object(answer.json, "Labels"), label, ""));
	return r;
}

int engine_list_networks(struct engine *engine, struct json_object *labels, struct strvec *ret,
			 struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_strbuf struct strbuf path = { 0 };
	cleanup_json struct json_object *filter = engine_label_filter(labels);
	strbuf_adds(&path, "/networks");
	engine_add_query_json(&path, "filters", filter);
	if (engine_get(engine, strbuf_text(&path), &answer, err) < 0)
		return -1;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "list its networks");
	if (!json_object_is_type(answer.json, json_type_array))
		return error_set(err, ERROR_CORRUPT,
				 "the container engine's list of networks is not a list");
	for (size_t i = 0; i < json_object_array_length(answer.json); i++) {
		struct json_object *entry = json_object_array_get_idx(answer.json, i);
		const char *name = json_get_string(entry, "Name", NULL);
		if (name && engine_has_labels(json_get_object(entry, "Labels"), labels))
			strvec_push(ret, name);
	}
	return 0;
}

/* The call failed, or its answer is lost: is the network there, and is it the one that we wanted? */
static int look_after_make(struct engine *engine, const char *name, struct json_object *labels,
			   bool was_refused, char **ret_id)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	if (look(engine, name, &answer, NULL) != 0)
		return -1;
	if (was_refused || !engine_has_labels(json_get_object(answer.json, "Labels"), labels))
		return ENGINE_TAKEN;
	*ret_id = xstrdup(json_get_string(answer.json, "Id", name));
	return 0;
}

/* Docker gives this machine an address in each network, by which all that listens on this machine
 * is reached from an internal one as well. */
static struct json_object *without_host(void)
{
	struct json_object *options = json_object_new_object();
	json_set_string(options, "com.docker.network.bridge.inhibit_ipv4", "true");
	return options;
}

static int make(struct engine *engine, struct json_object *body, char **ret_id, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_error struct error lost = { 0 };
	const char *name = json_get_string(body, "Name", "");
	struct http_call call = { .method = "POST",
				  .path = "/networks/create",
				  .body = body,
				  .timeout_ms = ENGINE_ACT_MS };
	int r = engine_call(engine, &call, &answer, &lost);
	const char *id = r == 0 ? json_get_string(answer.json, "Id", NULL) : NULL;
	if (r == 0 && engine_agreed(&answer) && id) {
		*ret_id = xstrdup(id);
		return 0;
	}
	int after = look_after_make(engine, name, json_get_object(body, "Labels"), r == 0, ret_id);
	if (after >= 0)
		return after;
	if (r < 0)
		return error_move(err, &lost);
	return engine_refused(engine, &answer, err, "make the network %s", name);
}

/* podman with netavark leads from one of its networks into another, unless both are isolated, or
 * one is strictly so.  Not every version has these words. */
static int make_isolated(struct engine *engine, struct json_object *body, char **ret_id,
			 struct error *err)
{
	static const char *const words[] = { "strict", "true" };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct json_object *options = json_object_new_object();
		struct error why = { 0 };
		json_set_string(options, "isolate", words[i]);
		json_set(body, "Options", options);
		const int r = make(engine, body, ret_id, &why);
		if (r >= 0)
			return r;
		if (why.code != ERROR_CHILD)
			return error_move(err, &why);
		error_clear(&why);
	}
	json_object_object_del(body, "Options");
	return make(engine, body, ret_id, err);
}

int engine_make_network(struct engine *engine, const char *name, bool internal,
			struct json_object *labels, char **ret_id, struct error *err)
{
	cleanup_json struct json_object *body = json_object_new_object();
	if (engine_check_name("network name", name, err) < 0)
		return -1;
	json_set_string(body, "Name", name);
	json_set_bool(body, "CheckDuplicate", true);
	json_set_bool(body, "Internal", internal);
	json_set(body, "Labels", json_object_get(labels));
	if (internal && engine->kind == ENGINE_DOCKER)
		json_set(body, "Options", without_host());
	return engine->kind == ENGINE_PODMAN && !internal ? make_isolated(engine, body, ret_id, err)
							  : make(engine, body, ret_id, err);
}

static bool is_connected(struct engine *engine, const char *network, const char *container)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_free char *path = xasprintf("/containers/%s/json", container);
	if (engine_get(engine, path, &answer, NULL) < 0 || !engine_agreed(&answer))
		return false;
	struct json_object *all = json_get_object(json_get_object(answer.json, "NetworkSettings"),
						  "Networks");
	if (!all)
		return false;
	json_object_object_foreach(all, name, entry) {
		if (streq(name, network) || streq(json_get_string(entry, "NetworkID", ""), network))
			return true;
	}
	return false;
}

/* Docker lets a container that does not run join a network that does not exist. */
static int demand_network(struct engine *engine, const char *network, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	int r = look(engine, network, &answer, err);
	if (r == ENGINE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "there is no network %s", network);
	return r;
}

int engine_connect(struct engine *engine, const char *network, const char *container,
		   struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_error struct error lost = { 0 };
	if (engine_check_name("container name", container, err) < 0 ||
	    demand_network(engine, network, err) < 0)
		return -1;
	cleanup_free char *path = xasprintf("/networks/%s/connect", network);
	cleanup_json struct json_object *body = json_object_new_object();
	json_set_string(body, "Container", container);
	struct http_call call = {
		.method = "POST", .path = path, .body = body, .timeout_ms = ENGINE_ACT_MS
	};
	int r = engine_call(engine, &call, &answer, &lost);
	if ((r == 0 && engine_agreed(&answer)) || is_connected(engine, network, container))
		return 0;
	if (r < 0)
		return error_move(err, &lost);
	return engine_refused(engine, &answer, err, "connect %s to the network %s", container,
			      network);
}

/* podman does not list a stopped container, and says so in words only. */
static bool is_in_use(const struct http_answer *network, const struct http_answer *refusal)
{
	struct json_object *users = json_get_object(network->json, "Containers");
	return (users && json_object_object_length(users) > 0) ||
	       engine_says(refusal, "is being used") || engine_says(refusal, "active endpoints");
}

int engine_check_network_users(struct engine *engine, const char *id, const char *container,
			       struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	int r = look(engine, id, &answer, err);
	struct json_object *users = r == 0 ? json_get_object(answer.json, "Containers") : NULL;
	if (!users)
		return r < 0 ? -1 : 0;
	json_object_object_foreach(users, user, entry) {
		(void)entry;
		if (!streq(user, or_empty(container)))
			return ENGINE_IN_USE;
	}
	return 0;
}

/* podman 4.3 removes a network in use when it is addressed by its id. */
static char *removal_path(const struct engine *engine, const struct http_answer *network,
			  const char *id)
{
	const char *name = json_get_string(network->json, "Name", id);
	return xasprintf("/networks/%s", engine->kind == ENGINE_PODMAN ? name : id);
}

int engine_remove_network(struct engine *engine, const char *id, struct error *err)
{
	cleanup_http_answer struct http_answer before = { 0 };
	cleanup_http_answer struct http_answer answer = { 0 };
	cleanup_http_answer struct http_answer now = { 0 };
	cleanup_error struct error lost = { 0 };
	int found = look(engine, id, &before, err);
	if (found != 0)
		return found == ENGINE_ABSENT ? 0 : -1;
	cleanup_free char *path = removal_path(engine, &before, id);
	int r = engine_act(engine, "DELETE", path, &answer, &lost);
	if (r == 0 && (engine_agreed(&answer) || answer.status == 404))
		return 0;
	int after = look(engine, id, &now, NULL);
	if (after == ENGINE_ABSENT)
		return 0;
	if (r < 0)
		return error_move(err, &lost);
	if (after == 0 && is_in_use(&now, &answer))
		return ENGINE_IN_USE;
	return engine_refused(engine, &answer, err, "remove the network %s", id);
}
