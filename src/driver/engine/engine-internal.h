/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this folder share.
 */
#pragma once

#include "driver/engine/engine.h"
#include "driver/engine/http-internal.h"

struct engine {
	struct http *http;
	enum engine_kind kind;
	char *url, *version, *api_version;
	int patience_ms;           /* no call waits longer; 0: each as long as it should */
	bool is_remote;            /* its files are not ours */
	struct engine_facts facts; /* without a version: not asked yet */
};

/* Like engine_open(), but with this patience. */
int engine_open_within(const struct engine_address *address, int patience_ms, struct engine **ret,
		       struct error *err);

/* How long an engine may take, in ms. */
enum {
	ENGINE_PING_MS = 10000,
	ENGINE_LOOK_MS = 20000,
	ENGINE_ACT_MS = 120000,
	ENGINE_IMPORT_MS = 1800000,
};

/* One call.  call->path follows the version ("/containers/json"). */
int engine_call(struct engine *engine, const struct http_call *call, struct http_answer *ret,
		struct error *err);
/* Like engine_call(), but without a body. */
int engine_get(struct engine *engine, const char *path, struct http_answer *ret, struct error *err);
int engine_act(struct engine *engine, const char *method, const char *path, struct http_answer *ret,
	       struct error *err);

static inline bool engine_agreed(const struct http_answer *answer)
{
	return answer->status >= 200 && answer->status < 300;
}

/* The error for an answer that refuses: "docker did not start the container web: <why>". */
int engine_refused(const struct engine *engine, const struct http_answer *answer, struct error *err,
		   const char *format, ...) PRINTF_LIKE(4, 5);
#define engine_refused(...)                    \
	({                                     \
		(engine_refused)(__VA_ARGS__); \
		-1;                            \
	})
/* Does the refusal contain these words? */
bool engine_says(const struct http_answer *answer, const char *words);

/* Is this a name or an id that may be a part of a path?  ERROR_INVALID; what: "container name". */
int engine_check_name(const char *what, const char *name, struct error *err);
int engine_check_reference(const char *reference, struct error *err);

/* Append "<separator><key>=<value>", the value in the form of a URL.  No value: nothing. */
void engine_add_query(struct strbuf *path, const char *key, const char *value);
void engine_add_query_json(struct strbuf *path, const char *key, struct json_object *value);
/* {"label": ["name=value", ...]}.  The caller's. */
struct json_object *engine_label_filter(struct json_object *labels);
/* Has the object "labels" all of these? */
bool engine_has_labels(const struct json_object *object, struct json_object *labels);

/* "sha256:<64 digits>" of an id with or without the prefix.  The caller frees. */
char *engine_image_id(const char *id);
