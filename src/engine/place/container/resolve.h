/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From what its user asks of a container to its recipe: once, when the session is made.
 * container_change() changes it later.
 */
#pragma once

#include "driver/engine/engine.h"
#include "engine/deck/deck.h"
#include "engine/role/source.h"
#include "model/session/recipe.h"

/* The image where none is named. */
#define CONTAINER_DEFAULT_REPOSITORY "agentdeck/default"
#define CONTAINER_DEFAULT_TAG        "latest"
#define CONTAINER_DEFAULT_IMAGE      CONTAINER_DEFAULT_REPOSITORY ":" CONTAINER_DEFAULT_TAG
#define CONTAINER_IMAGE_PROGRAM      "mmdebstrap" /* makes it */

/* The options of the command line.  NULL: not given.  All borrowed. */
struct container_order {
	const char *engine;               /* "docker", "podman", a URL */
	const char *image;                /* as the engine resolves it */
	const char *build;                /* directory of a Dockerfile, in place of an image */
	const char *network;              /* "default", "none", "internal", or a name */
	const char *auth;                 /* a word of recipe_login_parse(); of logins, if NULL */
	const char *program;              /* a word of recipe_program_parse() */
	const char *cpus;                 /* "1.5" */
	const char *docker;               /* a word of recipe_docker_parse() */
	const struct strvec *logins;      /* "HOW" of the agent, "NAME=HOW" of another login */
	const struct strvec *mounts;      /* "SOURCE[:TARGET][:ro]" */
	const struct strvec *environment; /* "NAME=VALUE" */
	const struct strvec *secrets;     /* "NAME[=SOURCE]" */
	const struct strvec *cap_add;     /* "NET_ADMIN", with or without "CAP_" */
	/* In place of image and build, and what the others do not say; its user trusts it, and it
	 * has its digest. */
	const struct role_source *role;
	/* Variables of the agent's login, by its entry: with auth "token", those of them that are
	 * set become secrets, unless secrets names one of them. */
	const struct strvec *login;
	/* What the engine lacks is downloaded: all of it, or the images of these names.  Never the
	 * default image. */
	bool may_pull;
	const struct strvec *pulls;
	/* Set by a resolution that failed for no other reason than that the engine lacks this
	 * image.  The caller's; or NULL. */
	char **ret_missing;
};

/* The part that asks no engine: check the order, and write it into the recipe.  A source of a mount
 * must exist, and so must the Dockerfile; both are made absolute.  ERROR_USAGE, ERROR_NOT_FOUND. */
int container_apply(const struct container_order *order, struct recipe *recipe, struct error *err);

/* The recipe for a container of the instance, whose directory, group, limits and argv are set;
 * *ret is the caller's.  What the order does not say, the configuration says.  container_place()
 * completes it.  ERROR_UNAVAILABLE: no engine answers.  ERROR_NOT_FOUND: the image or the agent's
 * program; the message says how to get it.  Also the errors of pull_image().  An image that is
 * built has its final name only after container_keep(); container_drop() removes it if the session
 * does not come to be. */
int container_resolve(struct deck *deck, const struct container_order *order,
		      const struct instance *instance, struct recipe **ret, struct error *err);

/* Only what is the agent's: its program, login and secrets, for a guest (guest.h).
 * *ret_asks_program: the order, or the configuration, says where the program is. */
int container_resolve_agent(struct deck *deck, const struct container_order *order,
			    const struct instance *instance, struct recipe *recipe,
			    bool *ret_asks_program, struct error *err);

/* The instance, which has its id now, lives in the container of this recipe: backend, base, the
 * home in its directory.  Takes the recipe. */
void container_place(const struct deck *deck, struct instance *instance, struct recipe *recipe);

/* The instance is in the store: the image that was built for it gets the name that keeps it.  What
 * fails is logged, since each start does this again. */
void container_keep(const struct instance *instance);

/* The instance does not come to be: the image that was built for it goes. */
void container_drop(const struct recipe *recipe);

/* A copy of that session's recipe, without the mounts of its tree, with the limits of this
 * instance. Asks no engine. */
struct recipe *container_copy(const struct deck *deck, const struct instance *like,
			      const struct instance *instance) MUST_USE;

/* The recipe gets the limits that hold for the instance.  A container with others is changed in
 * place at its next start, or made again where its engine cannot. */
void container_limit(const struct deck *deck, const struct instance *instance,
		     struct recipe *recipe);

/* What a session in a container needs of its engine.  Texts are borrowed. */
struct container_needs {
	const char *engine; /* "docker", "podman"; NULL: the session is in no container */
	struct engine_address address;
	bool memory, pids, cpus; /* there is such a limit */
};
struct container_needs container_needs(const struct instance *instance);

/* Engines have no word for this limit: what to do instead.  NULL: they have.  Static. */
const char *container_limit_instead(enum limit limit);

/* Speak to the recipe's engine. */
int container_open_engine(const struct recipe *recipe, struct engine **ret, struct error *err);

/* What a change names: an image of the same engine; "SOURCE[:TARGET][:ro]" in place of the mount at
 * this target, or a new one; "NAME[=SOURCE]" in place of the secret of this name, or a new one; a
 * network or a word of recipe_docker_parse(), while there is no container. */
enum container_part {
	CONTAINER_IMAGE,
	CONTAINER_MOUNT,
	CONTAINER_SECRET,
	CONTAINER_NETWORK,
	CONTAINER_DOCKER,
};
/* Change the recipe of the instance; on an error it is as it was.  ERROR_INVALID: the instance has
 * none, or may not mount that. */
int container_change(const struct deck *deck, struct instance *instance, enum container_part part,
		     const char *text, struct error *err);
