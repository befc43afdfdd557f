/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A container engine: Docker's API, as Docker and podman speak it.
 *
 * libcurl is loaded when an engine is opened, and not before.  Every call has a deadline.  Status
 * codes differ between engines, so after a failure these functions look again and decide from the
 * state that they find.
 *
 * What the engine refuses is ERROR_CHILD, with its reason.  An engine that cannot be reached or
 * hangs up is ERROR_UNAVAILABLE, one that does not answer ERROR_TIMEOUT, and one whose answer makes
 * no sense ERROR_CORRUPT: in these three cases the caller does not know what is there, and
 * nothing is "gone".  A name that cannot be part of a request is ERROR_INVALID.
 */
#pragma once

#include "base/error.h"
#include "base/jsonio.h"
#include "base/text.h"

enum engine_kind { ENGINE_DOCKER, ENGINE_PODMAN };
const char *engine_kind_name(enum engine_kind kind);

struct engine;

/* Where an engine is: "unix:///path", "tcp://host:port". */
struct engine_address {
	char *url;
	/* A directory, or NULL: no TLS.  ca.pem (without it the system's authorities count) proves
	 * the engine, cert.pem and key.pem prove us. */
	char *tls;
	char *context; /* of Docker, from which this came; NULL: none */
	char *instead; /* why this is podman and not docker, which counts first; NULL: it does not */
};
void engine_address_clear(struct engine_address *address);
#define cleanup_engine_address CLEANUP(engine_address_clear)

/* The engine that a user means: "docker" (DOCKER_HOST, DOCKER_CONTEXT and the current context,
 * /var/run/docker.sock), "podman" (CONTAINER_HOST, the user's socket, root's socket if we are
 * root), a URL, or NULL: docker if it answers, else podman.  ERROR_UNAVAILABLE lists what was
 * tried.  ERROR_INVALID: a URL that is none, or an engine across a network without TLS; only the
 * URL `trusted` (or NULL) needs none.  Asks an engine only for NULL. */
int engine_find(const char *order, const char *trusted, struct engine_address *ret,
		struct error *err);

/* Connect, find out what it is, and negotiate the version. */
int engine_open(const struct engine_address *address, struct engine **ret, struct error *err);
void engine_close(struct engine *engine);
CLEANUP_OF(engine_closep, struct engine, engine_close);
#define cleanup_engine CLEANUP(engine_closep)

enum engine_kind engine_kind_of(const struct engine *engine);
/* Is it reached over TCP?  Else over a socket of this machine, which may lead elsewhere as well. */
bool engine_is_remote(const struct engine *engine);

struct engine_facts {
	enum engine_kind kind;
	const char *version;     /* borrowed from the engine */
	const char *api_version; /* the one in use */
	bool is_rootless;
	/* Which limits it can set.  Docker does not create a container with another one. */
	bool counts_memory, counts_pids, counts_cpus;
};
int engine_facts(struct engine *engine, struct engine_facts *ret, struct error *err);

/* ---- containers ---------------------------------------------------------------------------- */

enum container_state {
	CONTAINER_CREATED,
	CONTAINER_RUNNING,
	CONTAINER_PAUSED,
	CONTAINER_EXITED,
	CONTAINER_OTHER, /* restarting, removing, dead */
};

struct container {
	char *id, *name, *image_id;
	enum container_state state;
	int exit_code;
	bool oom;
	int pid; /* as the engine's host sees it; 0: none */
	/* The container's first network; NULL: none.  Docker tells the id after the first start
	 * only, and the id of podman is the name. */
	char *network_id, *network;
	char *ip; /* its address in the first network that gave it one; NULL: none */
	struct json_object *labels; /* owned */
};
void container_clear(struct container *container);
#define cleanup_container CLEANUP(container_clear)

/* Positive returns. */
enum {
	ENGINE_ABSENT = 1, /* there is no such container, image, network */
	ENGINE_TAKEN = 2,  /* the name is taken */
	ENGINE_IN_USE = 3,
};

int engine_inspect(struct engine *engine, const char *name_or_id, struct container *ret,
		   struct error *err);

struct engine_mount {
	char *source, *target;
	bool read_only;
};

/* For an engine inside, without root's rights: in Docker only.  What the kernel refuses programs in
 * a container is not refused to this one, and it can change its users, to those of /etc/subuid. */
struct container_nest {
	const char *beside;  /* the container whose processes and network it has: it ends with that
				one */
	const char *volume;  /* a place for what it keeps, which goes with the container */
	const char *scratch; /* a place that each start empties */
};

/* What is created.  Zero and NULL mean the engine's default. */
struct engine_order {
	const char *name, *image_id;
	const struct strvec *entrypoint;
	const char *user; /* "UID:GID" */
	const char *directory;
	const struct strvec *environment; /* NAME=VALUE; never a secret */
	struct json_object *labels;       /* borrowed */
	const struct engine_mount *mounts;
	size_t mount_count;
	const char *network; /* "default", "none", "host", a name or an id */
	const struct strvec *cap_add;
	int64_t memory, pids; /* 0: none */
	double cpus;
	const char *extra_host;            /* "NAME:ADDRESS", for /etc/hosts */
	bool keep_id;                      /* podman rootless: the user's own id inside */
	const struct container_nest *nest; /* in place of network and cap_add */
};
/* All capabilities but cap_add are dropped, no-new-privileges is set, there is no restart policy,
 * no init of the engine's and no log, and what the image says about commands, signals and health
 * checks does not count.  One with a nest has a log, and no no-new-privileges.  When the answer is
 * lost, a container of this name with all these labels counts as created.  Sources of mounts are
 * checked first (ERROR_NOT_FOUND names the one that is missing).  ENGINE_TAKEN, ENGINE_ABSENT (the
 * image).  *ret_id is the caller's. */
int engine_create(struct engine *engine, const struct engine_order *order, char **ret_id,
		  struct error *err);
/* ENGINE_ABSENT.  One that runs already: 0.  ERROR_INVALID: it is paused.  ERROR_NOT_FOUND names
 * the source of a mount that is missing. */
int engine_start(struct engine *engine, const char *id, struct error *err);
/* What a container that exists may use from now on, whether or not it runs; 0: as it is.  An engine
 * cannot take a limit away.  ENGINE_ABSENT. */
struct engine_limits {
	int64_t memory, pids;
};
int engine_update(struct engine *engine, const char *id, const struct engine_limits *limits,
		  struct error *err);
/* ENGINE_ABSENT.  One that is not paused and runs: 0. */
int engine_unpause(struct engine *engine, const char *id, struct error *err);
/* SIGTERM to its PID 1, SIGKILL after the grace.  One that is stopped or absent: 0.  One that is
 * paused runs again first. */
int engine_stop(struct engine *engine, const char *id, int grace_ms, struct error *err);
/* Remove it, by id, whether or not it runs, with the unnamed volumes that its image demanded.
 * Absent: 0. */
int engine_remove(struct engine *engine, const char *id, struct error *err);

/* Does the container have a file of this path (absolute, without characters of patterns, which
 * podman would expand)?  1 yes, 0 no.
 * ERROR_NOT_FOUND: there is no such container. */
int engine_has_file(struct engine *engine, const char *id, const char *path, struct error *err);

/* Append the ids of all containers with these labels ({"name": "value"}), stopped ones as well. */
int engine_list(struct engine *engine, struct json_object *labels, struct strvec *ret_ids,
		struct error *err);

/* ---- images ---------------------------------------------------------------------------------- */

struct engine_image {
	char *id;
	struct strvec layers; /* diff ids */
	struct strvec tags;
	char *digest;               /* "NAME@DIGEST" in a registry, or NULL */
	struct json_object *labels; /* owned, or NULL */
};
void engine_image_clear(struct engine_image *image);
#define cleanup_engine_image CLEANUP(engine_image_clear)

/* By id, or by reference as the engine resolves it (podman: also as localhost/NAME).
 * ENGINE_ABSENT. */
int engine_inspect_image(struct engine *engine, const char *reference, struct engine_image *ret,
			 struct error *err);
/* Give the image one more name. */
int engine_tag(struct engine *engine, const char *id, const char *repository, const char *tag,
	       struct error *err);
/* Remove this name (REPOSITORY:TAG), and only it.  An image without another name is removed with
 * its last one.  ENGINE_IN_USE: a container needs it, and nothing was removed.  Absent: 0. */
int engine_untag(struct engine *engine, const char *reference, struct error *err);
/* Append the names (REPOSITORY:TAG) of all images in this repository ("agentdeck/keep"), without
 * the registry that podman writes before it. */
int engine_list_names(struct engine *engine, const char *repository, struct strvec *ret,
		      struct error *err);
/* Import a root file system from an open tar file as repository:tag.  *ret_id is the caller's. */
int engine_import(struct engine *engine, int tar, const char *repository, const char *tag,
		  char **ret_id, struct error *err);

struct engine_build {
	int context;                  /* an open tar file or a pipe */
	const char *tag, *dockerfile; /* NULL: "Dockerfile" */
	const char *target;           /* NULL: the last stage */
	struct json_object *args;     /* NULL: none */
	struct json_object *labels;
	/* A line of the engine's, for people; NULL: not wanted. */
	void (*progress)(const char *line, void *data);
	void *data;
	int64_t deadline_ms; /* of clock_ms() */
};
/* Ends at the deadline, and then the engine ends the build. */
int engine_build(struct engine *engine, const struct engine_build *build, char **ret_id,
		 struct error *err);

/* ---- networks -------------------------------------------------------------------------------- */

/* ENGINE_ABSENT.  ENGINE_TAKEN: it lacks one of these labels (NULL: any will do).  *ret_id is the
 * caller's. */
int engine_find_network(struct engine *engine, const char *name, struct json_object *labels,
			char **ret_id, struct error *err);
/* Append the names of all networks with these labels. */
int engine_list_networks(struct engine *engine, struct json_object *labels, struct strvec *ret,
			 struct error *err);
/* The label of a network, "" if it lacks it.  ENGINE_ABSENT.  *ret is the caller's. */
int engine_network_label(struct engine *engine, const char *name, const char *label, char **ret,
			 struct error *err);
/* ENGINE_TAKEN.  *ret_id is the caller's. */
int engine_make_network(struct engine *engine, const char *name, bool internal,
			struct json_object *labels, char **ret_id, struct error *err);
/* Connect the container; 0 also if it is connected.  ERROR_NOT_FOUND: there is no such network. */
int engine_connect(struct engine *engine, const char *network, const char *container,
		   struct error *err);
/* ENGINE_IN_USE: the network has a container other than this one (NULL: any), as far as the engine
 * lists them: podman leaves out those that do not run.  Absent: 0. */
int engine_check_network_users(struct engine *engine, const char *id, const char *container,
			       struct error *err);
/* ENGINE_IN_USE.  Absent: 0. */
int engine_remove_network(struct engine *engine, const char *id, struct error *err);
