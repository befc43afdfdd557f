/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/pull.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/container/container-internal.h"
#include "engine/place/container/saying.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { PULL_MS = 3600000, END_MS = 10000, LINE_MAX_SIZE = 4096 };

/* ---- names ----------------------------------------------------------------------------------- */

/* Length of the registry, as in "127.0.0.1:5000/web:1"; 0: the name has none. */
static size_t host_length(const char *image)
{
	const size_t length = strcspn(image, "/");
	const bool is_host = image[length] &&
			     (memchr(image, '.', length) || memchr(image, ':', length) ||
			      starts_with(image, "localhost/"));
	return is_host ? length : 0;
}

bool pull_is_possible(const char *image)
{
	return !starts_with(image, "sha256:") && !starts_with(image, "localhost/") &&
	       !starts_with(image, "agentdeck/");
}

/* Over the engine's API podman takes a short name for one of docker.io; its program would ask where
 * to look for it.  The caller frees. */
static char *full_name(const struct recipe *recipe, const char *image)
{
	const bool is_full = host_length(image) ||
			     !streq(recipe->engine, engine_kind_name(ENGINE_PODMAN));
	return xasprintf("%s%s%s", is_full ? "" : "docker.io/",
			 is_full || strchr(image, '/') ? "" : "library/", image);
}

/* ---- failures -------------------------------------------------------------------------------- */

#define LOG_IN "log in to its registry first, as the engine's own program does it (docker login)"

static const struct known_failure {
	const char *words;
	enum error_code code;
	const char *remedy;
} reasons[] = {
	{ "no space left on device", ERROR_CHILD,
	  "free space where the engine keeps its images, for instance with its command image "
	  "prune, and try again" },
	{ "toomanyrequests", ERROR_CHILD,
	  "its registry allows only so many downloads: wait, or " LOG_IN },
	{ "repository does not exist", ERROR_NOT_FOUND,
	  "check its name; if it is a private one, " LOG_IN },
	{ "requested access to the resource is denied", ERROR_NOT_FOUND,
	  "check its name; if it is a private one, " LOG_IN },
	{ "unauthorized", ERROR_CHILD, LOG_IN },
	{ "authentication required", ERROR_CHILD, LOG_IN },
	{ "no basic auth credentials", ERROR_CHILD, LOG_IN },
	{ "manifest unknown", ERROR_NOT_FOUND, "check its name and its tag" },
	{ "name unknown", ERROR_NOT_FOUND, "check its name and its tag" },
	{ "no matching manifest", ERROR_NOT_FOUND, "it is not made for this kind of processor" },
	{ "HTTP response to HTTPS client", ERROR_UNAVAILABLE,
	  "its registry has no TLS: allow that in the engine's configuration if you trust it" },
	{ "certificate", ERROR_UNAVAILABLE,
	  "give the engine the certificate of its registry, if you trust it" },
	{ "no such host", ERROR_UNAVAILABLE, NULL },
	{ "connection refused", ERROR_UNAVAILABLE, NULL },
	{ "network is unreachable", ERROR_UNAVAILABLE, NULL },
	{ "no route to host", ERROR_UNAVAILABLE, NULL },
	{ "server misbehaving", ERROR_UNAVAILABLE, NULL },
	{ "connection reset by peer", ERROR_UNAVAILABLE, NULL },
	{ "timeout", ERROR_UNAVAILABLE, NULL },
	{ "deadline exceeded", ERROR_UNAVAILABLE, NULL },
	{ "unexpected EOF", ERROR_UNAVAILABLE, NULL },
};

enum error_code pull_explain(const char *words, const char **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (!strcasestr(words, reasons[i].words))
			continue;
		*ret = reasons[i].remedy ? reasons[i].remedy
					 : "check the network and the name of its registry, and "
					   "try again: what has come is kept";
		return reasons[i].code;
	}
	*ret = "try it by hand";
	return ERROR_CHILD;
}

static int refuse(const struct strvec *argv, const char *image, const struct saying *saying,
		  struct error *err)
{
	const size_t count = saying->lines.count;
	const char *words = count ? saying->lines.items[count - 1] : "no message", *remedy;
	cleanup_free char *command = strvec_join(argv, " ");
	const enum error_code code = pull_explain(words, &remedy);
	saying_end_badly(saying);
	return error_set(err, code, "%s did not download %s: %s: %s (%s)", argv->items[0], image,
			 words, remedy, command);
}

/* ---- the program ----------------------------------------------------------------------------- */

struct stream {
	struct saying *saying;
	struct strbuf line;
};

static void stream_clear(struct stream *stream)
{
	strbuf_free(&stream->line);
}

static void end_line(struct stream *stream)
{
	cleanup_free char *line = strbuf_take(&stream->line);
	if (*line)
		saying_add(line, stream->saying);
}

static void take(struct stream *stream, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n' || text[i] == '\r')
			end_line(stream);
		else if (stream->line.length < LINE_MAX_SIZE)
			strbuf_add(&stream->line, text + i, 1);
	}
}

/* Pass on what it says, until it has closed both ends. */
static int listen_to(const struct child *child, struct saying *saying, const char *image,
		     struct error *err)
{
	CLEANUP(stream_clear) struct stream output = { .saying = saying };
	CLEANUP(stream_clear) struct stream errors = { .saying = saying };
	struct stream *const streams[] = { &output, &errors };
	struct pollfd fds[] = { { .fd = child->output, .events = POLLIN },
				{ .fd = child->errors, .events = POLLIN } };
	const int64_t deadline_ms = clock_ms() + PULL_MS;
	char text[4096];
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		const int ready = poll(fds, ARRAY_SIZE(fds), clock_left_ms(deadline_ms));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return error_set(err, ERROR_TIMEOUT,
					 "%s has not downloaded %s within %d minutes: check the "
					 "network, and try again: what has come is kept",
					 child->name, image, PULL_MS / 60000);
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
			const ssize_t got = fds[i].revents ? read(fds[i].fd, text, sizeof(text))
							   : -1;
			if (got > 0)
				take(streams[i], text, (size_t)got);
			else if (fds[i].revents && (got == 0 || errno != EINTR))
				fds[i].fd = -1;
		}
	}
	end_line(&output);
	end_line(&errors);
	return 0;
}

static int run(const struct strvec *argv, struct saying *saying, const char *image, int *ret_status,
	       struct error *err)
{
	const struct child_request request = { .argv = (const char *const *)argv->items };
	cleanup_child_result struct child_result result = { 0 };
	struct child child;
	const int r = child_start(&request, &child, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_UNAVAILABLE, "%s is not installed: install it",
					 argv->items[0]);
	if (listen_to(&child, saying, image, err) < 0) {
		child_abandon(&child);
		return -1;
	}
	if (child_finish(&child, clock_ms() + END_MS, &result, err) < 0)
		return -1;
	*ret_status = result.exit_status;
	return 0;
}

int pull_image(struct deck *deck, const struct recipe *recipe, const char *image, struct error *err)
{
	cleanup_saying struct saying saying = { .deck = deck, .since_ms = clock_ms() };
	cleanup_strvec struct strvec argv = { 0 };
	int status;
	if (container_push_client(recipe, "download an image", &argv, err) < 0)
		return -1;
	strvec_push(&argv, "pull");
	strvec_push_take(&argv, full_name(recipe, image));
	log_info("pull: %s from %s", image, recipe->address);
	if (run(&argv, &saying, image, &status, err) < 0)
		return -1;
	return status == 0 ? 0 : refuse(&argv, image, &saying, err);
}
