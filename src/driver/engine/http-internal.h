/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HTTP over libcurl, which is loaded by http_open(): for engines only.
 *
 * A call that got no whole answer fails: ERROR_UNAVAILABLE (no server, or it hung up),
 * ERROR_TIMEOUT, ERROR_CORRUPT (not JSON, or too long).  Whether the server did what it was asked
 * is then unknown.  Every status is an answer.
 */
#pragma once

#include "base/error.h"
#include "base/jsonio.h"
#include "base/text.h"
#include "driver/engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

struct http;

/* Connects nothing yet.  ERROR_UNAVAILABLE: libcurl is missing, or not built in. */
int http_open(const struct engine_address *address, struct http **ret, struct error *err);
void http_close(struct http *http);

struct http_call {
	const char *method;
	const char *path;         /* with its query, in the form of a URL */
	struct json_object *body; /* borrowed; NULL: none */
	bool uploads;             /* the body is what can be read from `upload`: a tar file */
	int upload;
	int timeout_ms;
	/* Gets each line of a successful answer, and then ret->json stays NULL.  Not 0: stop
	 * reading. */
	int (*on_line)(const char *line, size_t length, void *data);
	void *data;
};

struct http_answer {
	int status;
	struct json_object *json; /* NULL: the answer was empty, or was read by lines */
	char *server;             /* the headers "Server", "Api-Version"; NULL: none */
	char *api_version;
};
void http_answer_clear(struct http_answer *answer);
#define cleanup_http_answer CLEANUP(http_answer_clear)

int http_request(struct http *http, const struct http_call *call, struct http_answer *ret,
		 struct error *err);
