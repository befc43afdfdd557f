/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/engine/engine-internal.h"

#include "base/fsutil.h"

#include <fcntl.h>
#include <string.h>

#define DOCKER_SOCKET "/var/run/docker.sock"
#define PODMAN_SOCKET "/run/podman/podman.sock"

enum { MAX_FILE = 1 << 20 };

void engine_address_clear(struct engine_address *address)
{
	free(address->url);
	free(address->tls);
	*address = (struct engine_address){ 0 };
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return is_empty(value) ? NULL : value;
}

/* source: who said so, for messages. */
static int take_url(const char *source, const char *url, const char *tls,
		    struct engine_address *ret, struct error *err)
{
	const char *rest = strstr(url, "://");
	cleanup_free char *shown = visible(url);
	bool is_socket = starts_with(url, "unix:///");
	bool is_host =
		starts_with(url, "tcp://") && rest[strlen("://")] &&
		strspn(rest + strlen("://"),
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") ==
			strcspn(rest + strlen("://"), "/");
	if (starts_with(url, "ssh://"))
		return error_set(
			err, ERROR_UNAVAILABLE,
			"%s: cannot reach a container engine over ssh (%s): forward its socket with "
			"\"ssh -L\", and name that one (unix:///PATH)",
			source, shown);
	if (!is_socket && !is_host)
		return error_set(err, ERROR_INVALID,
				 "%s: invalid container engine '%s' (examples: docker, podman, "
				 "unix:///run/docker.sock, tcp://host:2376)",
				 source, shown);
	*ret = (struct engine_address){ .url = xstrdup(url),
					.tls = is_host ? xstrdup_or_null(tls) : NULL };
	return 0;
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

static int take_context(const char *directory, const char *hash, const char *name,
			const struct json_object *meta, struct engine_address *ret,
			struct error *err)
{
	const struct json_object *endpoint = json_get_object(json_get_object(meta, "Endpoints"),
							     "docker");
	const char *host = json_get_string(endpoint, "Host", NULL);
	cleanup_free char *source = xasprintf("docker's context '%s'", name);
	cleanup_free char *tls = xasprintf("%s/contexts/tls/%s/docker", directory, hash);
	if (is_empty(host))
		return error_set(err, ERROR_UNAVAILABLE, "%s names no engine", source);
	return take_url(source, host, access(tls, F_OK) == 0 ? tls : NULL, ret, err);
}

/* The directories below contexts/meta are called by a hash of the name, which is inside. */
static int find_context(const char *directory, const char *name, struct engine_address *ret,
			struct error *err)
{
	cleanup_free char *shown = visible(name);
	cleanup_free char *parent = xasprintf("%s/contexts/meta", directory);
	cleanup_strvec struct strvec hashes = { 0 };
	cleanup_close int dirfd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd >= 0 && fs_list(dirfd, &hashes, err) < 0)
		return -1;
	for (size_t i = 0; i < hashes.count; i++) {
		cleanup_json struct json_object *meta = NULL;
		cleanup_free char *path = xasprintf("%s/meta.json", hashes.items[i]);
		if (read_json(dirfd, path, &meta, NULL) == 0 &&
		    streq(json_get_string(meta, "Name", ""), name))
			return take_context(directory, hashes.items[i], shown, meta, ret, err);
	}
	return error_set(err, ERROR_UNAVAILABLE,
			 "docker's context '%s' does not exist below %s: see \"docker context ls\"",
			 shown, directory);
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

static int find_docker(struct engine_address *ret, struct error *err)
{
	cleanup_strvec struct strvec sockets = { 0 };
	cleanup_free char *directory = docker_directory(), *context = NULL;
	const char *host = variable("DOCKER_HOST"), *tls = variable("DOCKER_CERT_PATH");
	bool wants_tls = variable("DOCKER_TLS_VERIFY") || variable("DOCKER_TLS");
	if (host)
		return take_url("DOCKER_HOST", host,
				!wants_tls ? NULL
				: tls      ? tls
					   : directory,
				ret, err);
	if (current_context(directory, &context, err) < 0)
		return -1;
	if (context)
		return find_context(directory, context, ret, err);
	strvec_push(&sockets, DOCKER_SOCKET);
	strvec_push_take(&sockets, user_socket("docker.sock"));
	return first_socket("docker", &sockets, ret, err);
}

static int find_podman(struct engine_address *ret, struct error *err)
{
	cleanup_strvec struct strvec sockets = { 0 };
	const char *host = variable("CONTAINER_HOST");
	if (host)
		return take_url("CONTAINER_HOST", host, NULL, ret, err);
	if (geteuid() == 0)
		strvec_push(&sockets, PODMAN_SOCKET);
	strvec_push_take(&sockets, user_socket("podman/podman.sock"));
	return first_socket("podman (systemctl --user enable --now podman.socket)", &sockets, ret,
			    err);
}

static int find_answering(int (*find)(struct engine_address *ret, struct error *err),
			  struct engine_address *ret, struct error *err)
{
	cleanup_engine_address struct engine_address address = { 0 };
	cleanup_engine struct engine *engine = NULL;
	if (find(&address, err) < 0 || engine_open(&address, &engine, err) < 0)
		return -1;
	*ret = address;
	address = (struct engine_address){ 0 };
	return 0;
}

static int find_any(struct engine_address *ret, struct error *err)
{
	cleanup_error struct error docker = { 0 };
	cleanup_error struct error podman = { 0 };
	if (find_answering(find_docker, ret, &docker) == 0 ||
	    find_answering(find_podman, ret, &podman) == 0)
		return 0;
	return error_set(err, ERROR_UNAVAILABLE, "no container engine answers: %s; %s",
			 docker.message, podman.message);
}

int engine_find(const char *wish, struct engine_address *ret, struct error *err)
{
	if (!wish)
		return find_any(ret, err);
	if (streq(wish, engine_kind_name(ENGINE_DOCKER)))
		return find_docker(ret, err);
	if (streq(wish, engine_kind_name(ENGINE_PODMAN)))
		return find_podman(ret, err);
	return take_url("engine", wish, NULL, ret, err);
}
