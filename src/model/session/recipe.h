/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The recipe of a container: all that is needed to make the same one again.  It is resolved once,
 * when the session is made, and replayed from then on: nothing in it is looked up a second time.
 * In the manifest it is the object "recipe" (docs/state-format.md).
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

#include <stdint.h>

struct fields;

/* The greatest number of processors that a recipe may name. */
#define RECIPE_MOST_CPUS 1000000.0

/* Where the agent's program comes from. */
enum recipe_program {
	PROGRAM_IN_IMAGE,
	PROGRAM_FROM_HOST, /* a directory of this host, mounted read-only */
};

/* How the agent's login comes into its home. */
enum recipe_login {
	LOGIN_SYNC,   /* the named files are copied from the user's home at each start */
	LOGIN_TOKEN,  /* by a variable, as a secret */
	LOGIN_IGNORE, /* the user logs in inside */
};

/* An engine inside (engine/place/container/nested.c). */
enum recipe_docker {
	DOCKER_NONE,
	DOCKER_ROOTLESS,
	DOCKER_ROOTLESS_TCP, /* also over TCP, with TLS */
};

/* What a role may ask its user for (docs/roles.md). */
enum recipe_rights {
	RIGHTS_LOCKED,   /* nothing of this machine */
	RIGHTS_STANDARD, /* mounts */
	RIGHTS_OPEN,     /* and capabilities, and networks with other containers */
};

struct recipe_mount {
	char *source, *target; /* absolute */
	bool read_only;
	bool of_tree; /* belongs to the session's own tree (engine/place/container/inside.h) */
};

/* A variable whose value is resolved at every start and is written down nowhere.
 * source: "env:NAME", "file:/PATH", or "command:[...]" (a JSON array: an argv). */
struct recipe_secret {
	char *name, *source;
};

/* The login of another agent than the session's own, or of GitHub, in the same container. */
struct recipe_slot {
	char *name; /* of the agent; or LOGIN_GITHUB */
	enum recipe_login login;
};
#define LOGIN_GITHUB "github"

/* A command of a role, which runs in the container before the agent does. */
struct recipe_command {
	char *when;       /* "onCreateCommand", ...: role_event_key() */
	bool is_of_start; /* at each start of the container; else once in each container */
	struct strvec argv;
};

struct recipe {
	/* The base of the session whose container this is, and the room that it has in there
	 * (engine/place/container/guest.h); NULL: it has its own. */
	char *within;
	int64_t room;
	char *engine; /* "docker", "podman" */
	/* struct engine_address of driver/engine/engine.h */
	char *address, *tls, *context;
	char *image;              /* as its user named it, for people */
	char *image_id;           /* what is run */
	struct strvec layers;     /* of that image: the same in every engine */
	char *keep_tag;           /* our own name for it, so that a prune leaves it */
	char *build;              /* directory of the Dockerfile, or NULL */
	char *build_hash;         /* of the build context, or NULL */
	char *build_file;         /* the Dockerfile below that directory; NULL: "Dockerfile" */
	char *build_target;       /* its stage; NULL: the last one */
	struct strvec build_args; /* NAME=VALUE */
	/* Images that the Dockerfile begins FROM, as they were when it was built first: "NAME ID",
	 * or "NAME ID NAME@DIGEST" where a registry has it. */
	struct strvec bases;
	char *role;        /* the devcontainer.json that it comes from, or NULL */
	char *role_digest; /* of what its user trusted then (engine/role/trust.h) */
	/* For a role from a Git repository: where it is, the ref that its user named (or NULL), and
	 * what that was then. */
	char *role_url, *role_ref, *role_commit;
	struct recipe_command *commands; /* of that role, in their order */
	size_t command_count;
	char *user; /* "UID:GID" */
	char *home; /* the agent's home: the same path on both sides */
	char *directory;
	char *workspace; /* of a role: where else the directory is inside; NULL: nowhere */
	struct recipe_mount *mounts; /* of the user, and of the session's own tree */
	size_t mount_count;
	struct strvec environment; /* NAME=VALUE that the user asked for */
	struct recipe_secret *secrets;
	size_t secret_count;
	enum recipe_program program;
	char *program_directory; /* of PROGRAM_FROM_HOST */
	char *program_file;      /* in it, if it is not called as the agent's program is; or NULL */
	char *program_mount;     /* the file alone is mounted; NULL: its directory */
	enum recipe_login login;
	struct recipe_slot *slots; /* more logins */
	size_t slot_count;
	/* NETWORK_OWN, "none", "internal", or a name; NULL: the engine's usual one, which is that
	 * of sessions of earlier versions */
	char *network;
	struct strvec cap_add;
	enum recipe_docker docker;
	int64_t memory, pids;        /* 0: none */
	double cpus;                 /* 0: all; at most RECIPE_MOST_CPUS */
	struct json_object *unknown; /* the object this was read from: its other keys are kept */
};

/* All zero but for the allocated struct itself. */
struct recipe *recipe_new(void) MUST_USE;
void recipe_free(struct recipe *recipe);
CLEANUP_OF(recipe_freep, struct recipe, recipe_free);
#define cleanup_recipe CLEANUP(recipe_freep)
/* NULL for NULL.  The copy keeps a reference to the same unknown keys. */
struct recipe *recipe_copy(const struct recipe *recipe) MUST_USE;

void recipe_add_mount(struct recipe *recipe, const char *source, const char *target,
		      bool read_only);
/* Drop the user's mount at this target, if there is one. */
void recipe_drop_mount(struct recipe *recipe, const char *target);
/* Exchange the mounts of the two recipes. */
void recipe_swap_mounts(struct recipe *recipe, struct recipe *other);
/* A place of the session's own tree, at the same path inside. */
void recipe_add_tree_mount(struct recipe *recipe, const char *path, bool read_only);
void recipe_drop_tree_mounts(struct recipe *recipe);
/* Does one of them have the recipe's directory? */
bool recipe_has_tree(const struct recipe *recipe);
/* Is the directory mounted at the recipe's workspace as well?  Not where another place is there,
 * above or below it, nor where the directory is below its tree: its agent could put a link there. */
bool recipe_has_workspace(const struct recipe *recipe);

/* Places of this host that the container gets: the user named them, or the session's tree needs
 * them. */
enum recipe_place_kind {
	RECIPE_DIRECTORY,  /* the session's, if it has no tree to itself */
	RECIPE_TREE,       /* its own tree */
	RECIPE_REPOSITORY, /* of that tree's repository */
	RECIPE_MOUNT,
	RECIPE_PROGRAM,
};
struct recipe_place {
	const char *source, *target; /* borrowed from the recipe */
	bool read_only;
	enum recipe_place_kind kind;
};
/* What is mounted for the agent's program of this host; NULL: it is the image's.  Borrowed. */
const char *recipe_program_mount(const struct recipe *recipe);
/* Returns the number of places.  The caller frees *ret.  A directory that is NULL is not a
 * place. */
size_t recipe_places(const struct recipe *recipe, struct recipe_place **ret);
void recipe_add_command(struct recipe *recipe, const char *when, bool is_of_start,
			const struct strvec *argv);
/* A secret of the same name is replaced. */
void recipe_add_secret(struct recipe *recipe, const char *name, const char *source);
void recipe_add_slot(struct recipe *recipe, const char *name, enum recipe_login login);

/* NULL for NULL.  Unknown keys are kept: all of the recipe's, and those of a mount or secret that
 * is still the same one.  The caller puts the object. */
struct json_object *recipe_to_json(const struct recipe *recipe) MUST_USE;
/* The table for fields_parse() and fields_read().  ERROR_CORRUPT names the key: engine, address,
 * image_id, user, home and directory are required, and for a program of this host its directory. */
extern const struct fields recipe_fields;

/* A digest of what the container is made of, as hexadecimal text: label io.agentdeck.recipe.  Two
 * recipes with the same digest make the same container.  What matters only before that (the engine,
 * the image's name, the build), at each start (secrets, login) or in place (memory, pids) does not
 * count, so that a change of it does not cost the container.  The caller frees. */
char *recipe_digest(const struct recipe *recipe) MUST_USE;

/* A network that no other session has, and that leads out. */
#define NETWORK_OWN "own"
/* A network of its own that leads nowhere. */
#define NETWORK_INTERNAL "internal"

enum { RECIPE_BASE_MAX = 58 };

/* Name of the container and of the instance's base: "ad-<id>-<directory>-<agent>", the last name of
 * the directory and the agent's name in lower-case letters and digits, at most RECIPE_BASE_MAX
 * characters.  A name that is too long is cut and ends in 4 characters of its SHA-256.  The caller
 * frees. */
char *recipe_base(const char *id, const char *directory, const char *agent) MUST_USE;

/* Is its user root in there? */
bool recipe_is_root(const struct recipe *recipe);

/* "image", "host"; "sync", "token", "ignore"; "locked", "standard", "open".  The parsers return
 * false for others, *ret untouched. */
bool recipe_program_parse(const char *name, enum recipe_program *ret);
const char *recipe_login_name(enum recipe_login login);
bool recipe_login_parse(const char *name, enum recipe_login *ret);
/* "none", "rootless", "rootless-tcp" */
const char *recipe_docker_name(enum recipe_docker docker);
bool recipe_docker_parse(const char *name, enum recipe_docker *ret);
bool recipe_rights_parse(const char *name, enum recipe_rights *ret);

/* "2", "1.5": more than 0, without a sign or an exponent.  false: it is none, *ret untouched. */
bool recipe_cpus_parse(const char *text, double *ret);

/* Is this a name that a variable can have?  [A-Za-z_][A-Za-z0-9_]* */
bool recipe_is_variable(const char *name);
/* ERROR_USAGE says what is wrong with the name or the source. */
int recipe_check_secret(const char *name, const char *source, struct error *err);
