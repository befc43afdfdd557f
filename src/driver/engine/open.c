/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/engine-internal.h"

#include <stdarg.h>
#include <string.h>

/* Docker 20.10 and podman 4 speak 1.41.  Docker 25, with 1.44, and later ones may want more, and
 * only /version tells how much. */
enum { API_OURS = 41, API_LEAST = 40, API_TAKES_OURS = 43 };

const char *engine_kind_name(enum engine_kind kind)
{
	return kind == ENGINE_PODMAN ? "podman" : "docker";
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	http_close(engine->http);
	free(engine->url);
	free(engine->version);
	free(engine->api_version);
	free(engine);
}

/* ---- calls ------------------------------------------------------------------------------------ */

int engine_call(struct engine *engine, const struct http_call *call, struct http_answer *ret,
		struct error *err)
{
	cleanup_free char *path = xasprintf("%s%s%s", engine->api_version ? "/v" : "",
					    or_empty(engine->api_version), call->path);
	struct http_call ours = *call;
	ours.path = path;
	if (engine->patience_ms > 0 && engine->patience_ms < ours.timeout_ms)
		ours.timeout_ms = engine->patience_ms;
	return http_request(engine->http, &ours, ret, err);
}

int engine_get(struct engine *engine, const char *path, struct http_answer *ret, struct error *err)
{
	struct http_call call = { .method = "GET", .path = path, .timeout_ms = ENGINE_LOOK_MS };
	return engine_call(engine, &call, ret, err);
}

int engine_act(struct engine *engine, const char *method, const char *path, struct http_answer *ret,
	       struct error *err)
{
	struct http_call call = { .method = method, .path = path, .timeout_ms = ENGINE_ACT_MS };
	return engine_call(engine, &call, ret, err);
}

static const char *message_of(const struct http_answer *answer)
{
	return json_get_string(answer->json, "message", "");
}

int(engine_refused)(const struct engine *engine, const struct http_answer *answer,
		    struct error *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *what = xvasprintf(format, args);
	va_end(args);
	cleanup_free char *why = visible(message_of(answer));
	cleanup_free char *status = xasprintf("status %d", answer->status);
	return error_set(err, ERROR_CHILD, "%s did not %s: %s", engine_kind_name(engine->kind),
			 what, *why ? why : status);
}

bool engine_says(const struct http_answer *answer, const char *words)
{
	return strstr(message_of(answer), words) ||
	       strstr(json_get_string(answer->json, "cause", ""), words);
}

/* ---- what goes into a URL --------------------------------------------------------------------- */

static bool is_made_of(const char *text, const char *punctuation)
{
	for (; *text; text++) {
		if (!(*text >= 'a' && *text <= 'z') && !(*text >= 'A' && *text <= 'Z') &&
		    !(*text >= '0' && *text <= '9') && !strchr(punctuation, *text))
			return false;
	}
	return true;
}

int engine_check_name(const char *what, const char *name, struct error *err)
{
	if (!is_empty(name) && !strchr("_.-", *name) && is_made_of(name, "_.-"))
		return 0;
	cleanup_free char *shown = visible(or_empty(name));
	return error_set(
		err, ERROR_INVALID,
		"invalid %s '%s': it has letters, digits and '_', '.', '-', and begins with "
		"a letter or a digit",
		what, shown);
}

int engine_check_reference(const char *reference, struct error *err)
{
	if (!is_empty(reference) && !strchr("_.-/:@", *reference) &&
	    is_made_of(reference, "_.-/:@") && !strstr(reference, "..") && !strstr(reference, "//"))
		return 0;
	cleanup_free char *shown = visible(or_empty(reference));
	return error_set(err, ERROR_INVALID,
			 "invalid image '%s' (examples: debian:12, localhost/own:1)", shown);
}

void engine_add_query(struct strbuf *path, const char *key, const char *value)
{
	if (!value)
		return;
	strbuf_addf(path, "%c%s=", strchr(strbuf_text(path), '?') ? '&' : '?', key);
	for (; *value; value++) {
		char c[2] = { *value, '\0' };
		if (is_made_of(c, "-._~"))
			strbuf_adds(path, c);
		else
			strbuf_addf(path, "%%%02X", (unsigned)(unsigned char)*value);
	}
}

void engine_add_query_json(struct strbuf *path, const char *key, struct json_object *value)
{
	if (value)
		engine_add_query(path, key,
				 json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

struct json_object *engine_label_filter(struct json_object *labels)
{
	struct strvec list = { 0 };
	json_object_object_foreach(labels, name, value) {
		strvec_pushf(&list, "%s=%s", name, or_empty(json_object_get_string(value)));
	}
	struct json_object *filter = json_object_new_object();
	json_set_strings(filter, "label", &list);
	strvec_clear(&list);
	return filter;
}

bool engine_has_labels(const struct json_object *object, struct json_object *labels)
{
	if (!labels)
		return true;
	json_object_object_foreach(labels, name, value) {
		const char *theirs = json_get_string(object, name, NULL);
		if (!theirs || !streq(theirs, or_empty(json_object_get_string(value))))
			return false;
	}
	return true;
}

char *engine_image_id(const char *id)
{
	enum { DIGITS = 64 };
	bool is_bare = strlen(id) == DIGITS && strspn(id, "0123456789abcdef") == DIGITS;
	return xasprintf("%s%s", is_bare ? "sha256:" : "", id);
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* The minor number of "1.41"; -1: not such a version. */
static int64_t minor_of(const char *version)
{
	int64_t minor = -1;
	if (!version || !starts_with(version, "1.") ||
	    !parse_int64(version + strlen("1."), 0, 9999, &minor))
		return -1;
	return minor;
}

static int negotiate(struct engine *engine, const struct json_object *answer, struct error *err)
{
	int64_t most = minor_of(json_get_string(answer, "ApiVersion", NULL));
	int64_t least = minor_of(json_get_string(answer, "MinAPIVersion", "1.0"));
	if (most < 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s is not a container engine: it does not say its API version",
				 engine->url);
	if (most < API_LEAST)
		return error_set(
			err, ERROR_UNAVAILABLE,
			"the container engine at %s is too old: Docker 19.03 or podman 4 is needed",
			engine->url);
	int64_t use = most < API_OURS ? most : least > API_OURS ? least : API_OURS;
	engine->api_version = xasprintf("1.%d", (int)use);
	engine->version = xstrdup(json_get_string(answer, "Version", "unknown"));
	return 0;
}

/* The answer to a ping names both versions: "Docker/20.10.24 (linux)".  For /version Docker starts
 * programs, which takes 8 ms. */
static bool is_known(struct engine *engine, const struct http_answer *ping)
{
	const int64_t most = minor_of(ping->api_version);
	const char *server = or_empty(ping->server);
	const char *version = starts_with(server, "Docker/")   ? server + strlen("Docker/")
			      : starts_with(server, "Libpod/") ? server + strlen("Libpod/")
							       : NULL;
	if (!engine_agreed(ping) || most < API_OURS || most > API_TAKES_OURS || !version)
		return false;
	engine->api_version = xasprintf("1.%d", API_OURS);
	engine->version = xstrndup(version, strcspn(version, " "));
	return true;
}

static int introduce(struct engine *engine, struct error *err)
{
	cleanup_http_answer struct http_answer ping = { 0 };
	cleanup_http_answer struct http_answer version = { 0 };
	/* podman answers /_ping with "OK": not JSON. */
	struct http_call call = { .method = "HEAD",
				  .path = "/_ping",
				  .timeout_ms = ENGINE_PING_MS };
	if (engine_call(engine, &call, &ping, err) < 0)
		return -1;
	engine->kind = starts_with(or_empty(ping.server), "Libpod/") ? ENGINE_PODMAN
								     : ENGINE_DOCKER;
	if (is_known(engine, &ping))
		return 0;
	if (engine_get(engine, "/version", &version, err) < 0)
		return -1;
	if (!engine_agreed(&version))
		return engine_refused(engine, &version, err, "tell its version (%s)", engine->url);
	return negotiate(engine, version.json, err);
}

int engine_open_within(const struct engine_address *address, int patience_ms, struct engine **ret,
		       struct error *err)
{
	struct http *http;
	if (http_open(address, &http, err) < 0)
		return -1;
	struct engine *engine = xcalloc(1, sizeof(*engine));
	engine->http = http;
	engine->url = xstrdup(address->url);
	engine->is_remote = !starts_with(address->url, "unix://");
	engine->patience_ms = patience_ms;
	if (introduce(engine, err) < 0) {
		engine_close(engine);
		return -1;
	}
	*ret = engine;
	return 0;
}

int engine_open(const struct engine_address *address, struct engine **ret, struct error *err)
{
	return engine_open_within(address, 0, ret, err);
}

enum engine_kind engine_kind_of(const struct engine *engine)
{
	return engine->kind;
}

bool engine_is_remote(const struct engine *engine)
{
	return engine->is_remote;
}

/* ---- facts ------------------------------------------------------------------------------------ */

static bool has_option(const struct json_object *info, const char *option)
{
	cleanup_strvec struct strvec options = { 0 };
	json_get_strings(info, "SecurityOptions", &options);
	return strvec_contains(&options, option);
}

int engine_facts(struct engine *engine, struct engine_facts *ret, struct error *err)
{
	cleanup_http_answer struct http_answer answer = { 0 };
	if (engine->facts.version) {
		*ret = engine->facts;
		return 0;
	}
	if (engine_get(engine, "/info", &answer, err) < 0)
		return -1;
	if (!engine_agreed(&answer))
		return engine_refused(engine, &answer, err, "describe itself");
	*ret = engine->facts = (struct engine_facts){
		.kind = engine->kind,
		.version = engine->version,
		.api_version = engine->api_version,
		.is_rootless = has_option(answer.json, "name=rootless") ||
			       json_get_bool(answer.json, "Rootless", false),
		.counts_memory = json_get_bool(answer.json, "MemoryLimit", false),
		.counts_pids = json_get_bool(answer.json, "PidsLimit", false),
		.counts_cpus = json_get_bool(answer.json, "CpuCfsQuota", false),
	};
	return 0;
}
