/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where files are on this machine for this user.  Pure: environment in, strings out; creates and
 * checks nothing.
 *
 *                  AGENTDECK_HOME set      otherwise (XDG Base Directory Specification)
 *   config         $AGENTDECK_HOME         ${XDG_CONFIG_HOME:-~/.config}/agentdeck
 *   state          $AGENTDECK_HOME         ${XDG_STATE_HOME:-~/.local/state}/agentdeck
 *   runtime        $AGENTDECK_HOME/run     ${XDG_RUNTIME_DIR:-/run/user/<uid>}/agentdeck
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct paths {
	char *home;         /* the user's home directory */
	char *config;       /* config.toml, agents/ */
	char *state;        /* logs/, hooks/, <profile>/ */
	char *runtime;      /* <id>/ of runs in a scope: dies with the user manager */
	char *direct;       /* <id>/ of runs without a scope: ${TMPDIR:-/tmp}/agentdeck-<uid> */
	char *user_runtime; /* ${XDG_RUNTIME_DIR:-/run/user/<uid>}: the user manager's sockets */
};

/* lookup is getenv(), or a test's.  passwd_home is the home in the user database, or NULL; it is
 * used when HOME is not set.  A relative XDG value is ignored, as the specification demands.
 * ERROR_USAGE: there is no home at all, or AGENTDECK_HOME is relative. */
int paths_find(const char *(*lookup)(const char *name), const char *passwd_home, unsigned uid,
	       struct paths *ret, struct error *err);
void paths_free(struct paths *paths);
#define cleanup_paths CLEANUP(paths_free)

/* sun_path of sockaddr_un(7) holds 108 bytes with the NUL. */
enum { PATHS_SOCKET_MAX = 107 };
/* The tmux socket in the directory of a run. */
#define PATHS_SOCKET_NAME "tmux.sock"
/* Beside it: the run's id, which marks the directory as this run's, and the secret that proves its
 * reports. */
#define PATHS_RUN_MARK  "run"
#define PATHS_RUN_TOKEN "token"

/* In the directory of an instance that lives in a container: the agent's home, the directory of the
 * container's capsule, and its passwd and group, which the agent cannot write.  INSTANCE_ROOMS has
 * the capsules of other sessions in its container. */
#define PATHS_HOME_DIRECTORY    "home"
#define PATHS_CAPSULE_DIRECTORY "capsule"
#define PATHS_USERS_DIRECTORY   "users"

/* Directory of the run: "<root>/<id>".  If the tmux socket in it would be longer than
 * PATHS_SOCKET_MAX, "<short_root>/<hash>/<id>", where hash is 8 hexadecimal digits of root, so that
 * two long roots do not collide.  The caller frees. */
char *paths_run_directory(const char *root, const char *short_root, const char *id) MUST_USE;

/* Whether this can be the directory of a run of this id, by its name alone and for any
 * XDG_RUNTIME_DIR, TMPDIR or AGENTDECK_HOME: ".../agentdeck/<id>", ".../run/<id>",
 * ".../agentdeck-<uid>/<id>", or the last with a hash before the id. */
bool paths_is_run_directory(const char *directory, const char *id);
