/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/nested.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "engine/deck/stages.h"
#include "engine/place/container/mounting.h"
#include "engine/place/container/nestedwish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The id of the container beside which it was made. */
#define LABEL_BESIDE "io.agentdeck.beside"
#define PROGRAM      "/usr/share/docker.io/contrib/dockerd-rootless.sh"
#define KEPT         "/var/tmp"
#define SCRATCH      "/tmp"

#define CA          "ca.pem"
#define CERTIFICATE "cert.pem"
#define KEY         "key.pem"

enum {
	COME_UP_MS = 30000,
	OPENSSL_MS = 30000,
	CERTIFICATE_MAX = 1 << 16,
	SIGHT_MS = 5000,
	PAUSE_MS = 50
};

static char *name_of(const struct ladder *ladder)
{
	return nested_host(ladder->instance->base);
}

static bool has_tcp(const struct ladder *ladder)
{
	return ladder->instance->recipe->docker == DOCKER_ROOTLESS_TCP;
}

/* ---- the container --------------------------------------------------------------------------- */

static struct json_object *labels_of(const struct ladder *ladder)
{
	struct json_object *labels = ladder_labels(ladder);
	json_set_string(labels, LABEL_BESIDE, ladder->instance->container_id);
	return labels;
}

static int find(const struct ladder *ladder, struct container *ret, struct error *err)
{
	cleanup_free char *name = name_of(ladder);
	cleanup_json struct json_object *ours = ladder_deck_labels(ladder->deck);
	const int r = engine_inspect(ladder->engine, name, ret, err);
	if (r != 0)
		return r;
	const bool is_ours = streq(json_get_string(ret->labels, LABEL_INSTANCE, ""),
				   ladder->instance->id) &&
			     streq(json_get_string(ret->labels, LABEL_HOME, ""),
				   json_get_string(ours, LABEL_HOME, NULL));
	return is_ours ? 0
		       : error_set(err, ERROR_EXISTS,
				   "the container %s is not this session's: rename or remove it",
				   name);
}

/* The nested engine sees what the session sees, at the same paths, so that it can mount it. */
static void collect_mounts(const struct ladder *ladder, struct mounting *ret)
{
	cleanup_free char *users = container_users(ladder->deck, ladder->instance);
	cleanup_free char *ids = path_join(users, NESTED_IDS);
	mounting_collect(ladder, ret);
	mounting_add(ret, ids, "/etc/subuid", true);
	mounting_add(ret, ids, "/etc/subgid", true);
}

static int create(const struct ladder *ladder, char **ret_id, struct error *err)
{
	static const char *const argv[] = { PROGRAM, "--host=" NESTED_HOST,
					    "--data-root=" KEPT "/docker", NULL };
	static const char *const variables[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
						 "HOME=" SCRATCH, "XDG_RUNTIME_DIR=" SCRATCH,
						 NULL };
	static const char *const of_tcp[] = { "--host=tcp://" NESTED_LOOPBACK ":" NESTED_PORT,
					      "--tlsverify",
					      "--tlscacert=" NESTED_CERTIFICATES "/" CA,
					      "--tlscert=" NESTED_CERTIFICATES "/" CERTIFICATE,
					      "--tlskey=" NESTED_CERTIFICATES "/" KEY,
					      NULL };
	const struct instance *instance = ladder->instance;
	const struct recipe *recipe = instance->recipe;
	cleanup_mounting struct mounting mounts = { 0 };
	cleanup_strvec struct strvec entrypoint = { 0 }, environment = { 0 };
	cleanup_json struct json_object *labels = labels_of(ladder);
	cleanup_free char *name = name_of(ladder);
	struct engine_facts facts;
	if (engine_facts(ladder->engine, &facts, err) < 0 ||
	    nested_check(ladder->engine, &facts, err) < 0)
		return -1;
	collect_mounts(ladder, &mounts);
	strvec_push_array(&entrypoint, argv);
	strvec_push_array(&environment, variables);
	/* dockerd has a network of its own, in which it listens. */
	if (has_tcp(ladder)) {
		strvec_push_array(&entrypoint, of_tcp);
		strvec_push(&environment, "DOCKERD_ROOTLESS_ROOTLESSKIT_FLAGS=-p " NESTED_LOOPBACK
					  ":" NESTED_PORT ":" NESTED_PORT "/tcp");
	}
	const struct container_nest nest = { instance->container_id, KEPT, SCRATCH };
	const struct engine_order order = {
		.name = name,
		.image_id = NESTED_IMAGE,
		.entrypoint = &entrypoint,
		.user = recipe->user,
		.environment = &environment,
		.labels = labels,
		.mounts = mounts.items,
		.mount_count = mounts.count,
		.memory = facts.counts_memory ? recipe->memory : 0,
		.pids = facts.counts_pids ? recipe->pids : 0,
		.cpus = facts.counts_cpus ? recipe->cpus : 0,
		.nest = &nest,
	};
	const int r = engine_create(ladder->engine, &order, ret_id, err);
	return r > 0 ? error_set(err, ERROR_EXISTS,
				 "another container took the name %s just now: try again", name)
		     : r;
}

/* An engine that was made beside an earlier container, or by another recipe, cannot be started. */
static int settle(const struct ladder *ladder, char **ret_id, bool *ret_runs, struct error *err)
{
	cleanup_container struct container found = { 0 };
	cleanup_json struct json_object *labels = labels_of(ladder);
	const int r = find(ladder, &found, err);
	if (r < 0)
		return -1;
	bool is_same = r == 0;
	json_object_object_foreach(labels, key, value) {
		is_same = is_same && streq(json_get_string(found.labels, key, ""),
					   or_empty(json_object_get_string(value)));
	}
	*ret_runs = is_same && found.state == CONTAINER_RUNNING;
	if (is_same) {
		*ret_id = TAKE_PTR(found.id);
		return 0;
	}
	return r == 0 && engine_remove(ladder->engine, found.id, err) < 0
		       ? -1
		       : create(ladder, ret_id, err);
}

/* ---- TLS ------------------------------------------------------------------------------------- */

/* One certificate is the authority, the server's and the client's: both sides are the session's.
 * Each start makes another one, so it does not expire. */
static int make_certificate(const struct ladder *ladder, const char *directory, struct error *err)
{
	cleanup_free char *host = name_of(ladder), *subject = xasprintf("/CN=%s", host);
	cleanup_free char *names = xasprintf(
		"subjectAltName=DNS:%s,DNS:localhost,IP:" NESTED_LOOPBACK, host);
	cleanup_free char *key = path_join(directory, KEY);
	cleanup_free char *certificate = path_join(directory, CERTIFICATE);
	const char *const argv[] = {
		"openssl",
		"req",
		"-x509",
		"-newkey",
		"ec",
		"-pkeyopt",
		"ec_paramgen_curve:prime256v1",
		"-nodes",
		"-days",
		"3650",
		"-subj",
		subject,
		"-addext",
		names,
		"-addext",
		"extendedKeyUsage=serverAuth,clientAuth",
		"-keyout",
		key,
		"-out",
		certificate,
		NULL,
	};
	const struct child_request request = { .argv = argv };
	cleanup_child_result struct child_result result = { 0 };
	const int r = child_run(&request, OPENSSL_MS, &result, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "Docker over TCP needs openssl on this machine: install it");
	if (r < 0 || result.exit_status == 0)
		return r;
	cleanup_free char *said = visible(strbuf_text(&result.errors));
	return error_set(err, ERROR_CHILD, "openssl made no certificate: %s", said);
}

static int make_certificates(const struct ladder *ladder, struct error *err)
{
	cleanup_free char *path = container_certificates(ladder->deck, ladder->instance);
	cleanup_close int directory = -1;
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_open_private_directory(path, &directory, err) < 0 ||
	    make_certificate(ladder, path, err) < 0 ||
	    fs_read(directory, CERTIFICATE, CERTIFICATE_MAX, &text, err) != 0)
		return -1;
	return fs_replace(directory, CA, strbuf_text(&text), text.length, FS_VOLATILE, err);
}

/* ---- until it answers ------------------------------------------------------------------------ */

/* The engine's API answers once all of it is up.  The path through /proc has the length that a
 * socket's may have. */
static bool answers(int directory)
{
	cleanup_free char *url = xasprintf("unix:///proc/self/fd/%d/" NESTED_SOCKET, directory);
	const struct engine_address address = { .url = url };
	cleanup_engine struct engine *engine = NULL;
	struct stat st;
	return fstatat(directory, NESTED_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISSOCK(st.st_mode) && engine_open(&address, &engine, NULL) == 0;
}

static int await(const struct ladder *ladder, int directory, struct error *err)
{
	const int64_t deadline_ms = clock_ms() + COME_UP_MS;
	cleanup_free char *name = name_of(ladder);
	while (!answers(directory)) {
		cleanup_container struct container seen = { 0 };
		const int r = find(ladder, &seen, err);
		if (r < 0)
			return -1;
		if (r != 0 || seen.state != CONTAINER_RUNNING || clock_ms() > deadline_ms)
			return error_set(err, ERROR_CHILD,
					 "the Docker inside %s: docker logs %s says why",
					 seen.state == CONTAINER_RUNNING ? "does not answer"
									 : "ended at once",
					 name);
		clock_pause_until(clock_ms() + PAUSE_MS);
	}
	return 0;
}

/* The engine's program lets no one look before it has become the container's. */
static void await_sight(const struct process_id *process)
{
	const int64_t deadline_ms = clock_ms() + SIGHT_MS;
	cleanup_free char *root = xasprintf("/proc/%d/root/", (int)process->pid);
	while (access(root, F_OK) < 0 && process_alive(process) && clock_ms() < deadline_ms)
		clock_pause_until(clock_ms() + 1);
}

/* An agent of a guest may have put a link in the place of what it has mounted. */
static int check_inside(const struct ladder *ladder, const char *id, struct error *err)
{
	cleanup_container struct container seen = { 0 };
	struct process_id process;
	if (engine_inspect(ladder->engine, id, &seen, err) < 0)
		return -1;
	if (!seen.pid || process_identify(seen.pid, &process, NULL) != 0)
		return 0;
	await_sight(&process);
	return mounts_check_inside(ladder->instance->recipe, &process, err);
}

static int come_up(const struct ladder *ladder, struct error *err)
{
	cleanup_free char *id = NULL;
	cleanup_free char *path = container_nested_directory(ladder->deck, ladder->instance);
	cleanup_close int directory = -1;
	bool runs = false;
	if (fs_open_private_directory(path, &directory, err) < 0 ||
	    settle(ladder, &id, &runs, err) < 0)
		return -1;
	if (runs)
		return 0;
	stages_enter(ladder->deck, STAGE_SIDECAR);
	if (has_tcp(ladder) && make_certificates(ladder, err) < 0)
		return -1;
	/* The socket of an earlier one, to which no one answers. */
	(void)unlinkat(directory, NESTED_SOCKET, 0);
	const int r = engine_start(ladder->engine, id, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "it was removed just now: try again");
	if (r < 0 || check_inside(ladder, id, err) < 0 || await(ladder, directory, err) < 0) {
		(void)engine_stop(ladder->engine, id, 0, NULL);
		return -1;
	}
	return 0;
}

/* A session that exists comes back without it rather than not at all. */
int nested_come_up(struct ladder *ladder, struct error *err)
{
	struct error why = { 0 };
	if (!ladder->instance->recipe->docker || come_up(ladder, &why) == 0)
		return 0;
	if (!ladder->instance->came_back.at)
		return error_move(err, &why);
	deck_warn(ladder->deck, "there is no Docker inside, until the session starts again: %s",
		  why.message);
	error_clear(&why);
	return 0;
}

int nested_remove(struct ladder *ladder, struct error *err)
{
	cleanup_container struct container found = { 0 };
	cleanup_error struct error why = { 0 };
	if (!ladder->instance->recipe->docker)
		return 0;
	const int r = find(ladder, &found, &why);
	if (r < 0 && why.code != ERROR_EXISTS)
		return error_move(err, &why);
	return r == 0 ? engine_remove(ladder->engine, found.id, err) : 0;
}
