/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/engine-internal.h"

#include "base/fsutil.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <string.h>

#define DOCKER_SOCKET "/var/run/docker.sock"
#define PODMAN_SOCKET "/run/podman/podman.sock"

enum { MAX_FILE = 1 << 20 };

void engine_address_clear(struct engine_address *address)
{
	free(address->url);
	free(address->tls);
	free(address->context);
	free(address->instead);
	*address = (struct engine_address){ 0 };
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return is_empty(value) ? NULL : value;
}

/* ---- URLs ------------------------------------------------------------------------------------- */

/* A possible engine: which setting names it (for messages), its address, and its certificates. */
struct claim {
	const char *source, *url;
	const char *tls;     /* NULL: none */
	const char *context; /* NULL: none */
	const char *trusted; /* a URL for which none are needed, or NULL */
	const char *safer;   /* how to reach such an engine without the risk; a sentence's begin */
};

static bool is_loopback(const char *host, size_t length)
{
	cleanup_free char *name = xstrndup(host, length);
	char *port = strrchr(name, ':');
	if (port && !strchr(port, ']'))
		*port = '\0';
	return streq(name, "localhost") || streq(name, "[::1]") ||
	       (starts_with(name, "127.") && strspn(name, "0123456789.") == strlen(name));
}

/* "tcp://host:port", with Docker's ports for who names none. */
static char *tcp_url(const char *host, size_t length, bool is_safe)
{
	const char *bracket = memrchr(host, ']', length);
	const char *name = bracket ? bracket : host;
	const bool has_port = memchr(name, ':', length - (size_t)(name - host));
	return xasprintf("tcp://%.*s%s", (int)length, host,
			 has_port  ? ""
			 : is_safe ? ":2376"
				   : ":2375");
}

/* A host on the way could command the engine, and with it the machine. */
static int refuse_plain(const struct claim *claim, const char *url, struct error *err)
{
	return error_set(
		err, ERROR_INVALID,
		"%s: %s is on a network and has no TLS: any host on the way could command the "
		"engine. %s, or, if you trust that network, name it in config.toml: [container] "
		"engine = \"%s\"",
		claim->source, url, claim->safer, url);
}

static int take_tcp(const struct claim *claim, struct engine_address *ret, struct error *err)
{
	static const char characters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
	const char *host = claim->url + strlen("tcp://");
	const size_t length = strspn(host, characters);
	if (!length || length != strcspn(host, "/"))
		return 1;
	cleanup_free char *url = tcp_url(host, length, claim->tls);
	if (!claim->tls && !is_loopback(host, length) && !streq(url, or_empty(claim->trusted)) &&
	    !streq(claim->url, or_empty(claim->trusted)))
		return refuse_plain(claim, url, err);
	if (claim->tls && *claim->tls != '/')
		return error_set(err, ERROR_INVALID,
				 "%s: the directory of the certificates must be an absolute path",
				 claim->source);
	*ret = (struct engine_address){ .url = TAKE_PTR(url), .tls = xstrdup_or_null(claim->tls) };
	return 0;
}

static int refuse_ssh(const struct claim *claim, const char *shown, struct error *err)
{
	const char *host = shown + strlen("ssh://");
	const size_t length = strcspn(host, "/");
	return error_set(
		err, ERROR_UNAVAILABLE,
		"%s: cannot reach a container engine over ssh (%s): forward its socket with "
		"\"ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock ssh://%.*s\", and name "
		"unix:///tmp/engine.sock",
		claim->source, shown, (int)length, host);
}

static int take(const struct claim *claim, struct engine_address *ret, struct error *err)
{
	cleanup_free char *shown = visible(claim->url);
	int r = 1;
	if (starts_with(claim->url, "ssh://"))
		return refuse_ssh(claim, shown, err);
	if (starts_with(claim->url, "unix:///")) {
		*ret = (struct engine_address){ .url = xstrdup(claim->url) };
		r = 0;
	} else if (starts_with(claim->url, "tcp://")) {
		r = take_tcp(claim, ret, err);
	}
	if (r > 0)
		return error_set(err, ERROR_INVALID,
				 "%s: invalid container engine '%s' (examples: docker, podman, "
				 "unix:///run/docker.sock, tcp://host:2376)",
				 claim->source, shown);
	if (r == 0)
		ret->context = xstrdup_or_null(claim->context);
	return r;
}

/* ---- docker's contexts ------------------------------------------------------------------------ */

static char *docker_directory(void)
{
	const char *directory = variable("DOCKER_CONFIG");
	return directory ? xstrdup(directory) : path_join(or_empty(getenv("HOME")), ".docker");
}

static int read_json(int dirfd, const char *name, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(dirfd, name, MAX_FILE, &text, err);
	return r != 0 ? r : json_parse(strbuf_text(&text), text.length, name, ret, err);
}

/* The name of the context in use; NULL: none but the default one. */
static int current_context(const char *directory, char **ret, struct error *err)
{
	cleanup_json struct json_object *config = NULL;
	cleanup_free char *path = path_join(directory, "config.json");
	const char *name = variable("DOCKER_CONTEXT");
	if (!name) {
		if (read_json(AT_FDCWD, path, &config, err) < 0)
			return -1;
		name = json_get_string(config, "currentContext", NULL);
	}
	*ret = is_empty(name) || streq(name, "default") ? NULL : xstrdup(name);
	return 0;
}

/* The directory of a context is called by the SHA-256 of its name. */
static int find_context(const char *directory, const char *name, const char *trusted,
			struct engine_address *ret, struct error *err)
{
	char hash[SHA256_TEXT_SIZE];
	cleanup_json struct json_object *meta = NULL;
	cleanup_free char *shown = visible(name),
			  *source = xasprintf("docker's context '%s'", shown);
	cleanup_free char *path = xasprintf("%s/contexts/meta/%s/meta.json", directory,
					    sha256_text(name, hash));
	cleanup_free char *tls = xasprintf("%s/contexts/tls/%s/docker", directory, hash);
	int r = read_json(AT_FDCWD, path, &meta, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s does not exist below %s: see \"docker context ls\"", source,
				 directory);
	const struct json_object *endpoint = json_get_object(json_get_object(meta, "Endpoints"),
							     "docker");
	const struct claim claim = {
		.source = source,
		.url = json_get_string(endpoint, "Host", ""),
		.tls = access(tls, F_OK) == 0 ? tls : NULL,
		.context = name,
		.trusted = trusted,
		.safer = "Give the context certificates (docker context update --docker "
			 "host=...,ca=...,cert=...,key=...)",
	};
	return !is_empty(claim.url)
		       ? take(&claim, ret, err)
		       : error_set(err, ERROR_UNAVAILABLE, "%s names no engine", source);
}

/* ---- the engines ------------------------------------------------------------------------------ */

static char *user_socket(const char *name)
{
	const char *runtime = variable("XDG_RUNTIME_DIR");
	return runtime ? path_join(runtime, name)
		       : xasprintf("/run/user/%u/%s", (unsigned)getuid(), name);
}

/* The first of these sockets that exists. */
static int first_socket(const char *engine, const struct strvec *paths, struct engine_address *ret,
			struct error *err)
{
	cleanup_strbuf struct strbuf tried = { 0 };
	for (size_t i = 0; i < paths->count; i++) {
		strbuf_addf(&tried, "%s%s", i > 0 ? ", " : "", paths->items[i]);
		if (access(paths->items[i], F_OK) < 0)
			continue;
		*ret = (struct engine_address){ .url = xasprintf("unix://%s", paths->items[i]) };
		return 0;
	}
	cleanup_free char *all = visible(strbuf_text(&tried));
	return error_set(err, ERROR_UNAVAILABLE, "%s does not run here: no socket at %s", engine,
			 all);
}

/* DOCKER_TLS asks for TLS without a look at the certificates: they are looked at. */
static char *certificates(const char *directory)
{
	const char *named = variable("DOCKER_CERT_PATH");
	return variable("DOCKER_TLS_VERIFY") || variable("DOCKER_TLS")
		       ? xstrdup(named ? named : directory)
		       : NULL;
}

/* source: the variable that holds the URL, or "engine", as its user named it. */
static int take_named(const char *source, const char *url, const char *trusted,
		      struct engine_address *ret, struct error *err)
{
	cleanup_free char *directory = docker_directory(), *tls = certificates(directory);
	const struct claim claim = {
		.source = source,
		.url = url,
		.tls = tls,
		.trusted = trusted,
		.safer = "Set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH",
	};
	return take(&claim, ret, err);
}

/* In Docker's own order. */
static int find_docker(const char *trusted, struct engine_address *ret, struct error *err)
{
	cleanup_strvec struct strvec sockets = { 0 };
	cleanup_free char *directory = docker_directory(), *context = NULL;
	const char *host = variable("DOCKER_HOST");
	if (host)
		return take_named("DOCKER_HOST", host, trusted, ret, err);
	if (current_context(directory, &context, err) < 0)
		return -1;
	if (context)
		return find_context(directory, context, trusted, ret, err);
	strvec_push(&sockets, DOCKER_SOCKET);
	strvec_push_take(&sockets, user_socket("docker.sock"));
	return first_socket("docker", &sockets, ret, err);
}

static int find_podman(const char *trusted, struct engine_address *ret, struct error *err)
{
	cleanup_strvec struct strvec sockets = { 0 };
	const char *host = variable("CONTAINER_HOST");
	if (host) {
		const struct claim claim = {
			.source = "CONTAINER_HOST",
			.url = host,
			.trusted = trusted,
			.safer = "Forward its socket with \"ssh -nNT -L /tmp/engine.sock:SOCKET HOST\" "
				 "and name unix:///tmp/engine.sock",
		};
		return take(&claim, ret, err);
	}
	if (geteuid() == 0)
		strvec_push(&sockets, PODMAN_SOCKET);
	strvec_push_take(&sockets, user_socket("podman/podman.sock"));
	return first_socket("podman (systemctl --user enable --now podman.socket)", &sockets, ret,
			    err);
}

static int find_answering(int (*find)(const char *trusted, struct engine_address *ret,
				      struct error *err),
			  const char *trusted, struct engine_address *ret, struct error *err)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_engine struct engine *engine = NULL;
	if (find(trusted, &address, err) < 0 || engine_open(&address, &engine, err) < 0)
		return -1;
	*ret = address;
	address = (struct engine_address){ 0 };
	return 0;
}

static int find_any(const char *trusted, struct engine_address *ret, struct error *err)
{
	cleanup_error struct error docker = { 0 };
	cleanup_error struct error podman = { 0 };
	if (find_answering(find_docker, trusted, ret, &docker) == 0)
		return 0;
	if (find_answering(find_podman, trusted, ret, &podman) == 0) {
		ret->instead = xstrdup(docker.message);
		return 0;
	}
	return error_set(err, ERROR_UNAVAILABLE, "no container engine answers: %s; %s",
			 docker.message, podman.message);
}

int engine_find(const char *wish, const char *trusted, struct engine_address *ret,
		struct error *err)
{
	if (!wish)
		return find_any(trusted, ret, err);
	if (streq(wish, engine_kind_name(ENGINE_DOCKER)))
		return find_docker(trusted, ret, err);
	if (streq(wish, engine_kind_name(ENGINE_PODMAN)))
		return find_podman(trusted, ret, err);
	return take_named("engine", wish, trusted, ret, err);
}
