/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a session in a container: of add and launch.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/place/container/resolve.h"

struct container_options {
	bool is_wished;     /* --container */
	bool is_refused;    /* --no-container */
	const char *within; /* --in */
	bool pull, docker_tcp;
	const char *engine, *image, *build, *role, *devcontainer, *network, *program, *cpus,
		*docker;
	struct strvec mounts, environment, secrets, logins, cap_add;
};

/* The options set the struct container_options that is this member of `struct options`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member cannot have any */
#define CONTAINER_OPTIONS(member)                                                                  \
	{ 0, "container", NULL, "run it in a container", TO_FLAG(member.is_wished) },              \
		{ 0, "no-container", NULL, "run it on this host, whatever config.toml says",       \
		  TO_FLAG(member.is_refused) },                                                    \
		{ 0, "in", "SESSION",                                                              \
		  "as a second agent in the container of this session, and in its directory",      \
		  TO_VALUE(member.within, VALUE_SESSION) },                                        \
		{ 0, "image", "IMAGE", "its image, which the engine has", TO_TEXT(member.image) }, \
		{ 0, "pull", NULL, "download what the engine lacks of its image and of its build", \
		  TO_FLAG(member.pull) },                                                          \
		{ 0, "build", "PATH", "build its image from the Dockerfile in this directory",     \
		  TO_TEXT(member.build) },                                                         \
		{ 0, "role", "WHAT",                                                               \
		  "make its container as a devcontainer.json says: its directory, or URL[@REF]",   \
		  TO_VALUE(member.role, VALUE_ROLE) },                                             \
		{ 0, "devcontainer", "[=FILE]",                                                    \
		  "the same with the devcontainer.json of the project itself",                     \
		  TO_VALUE(member.devcontainer, VALUE_FILE) },                                     \
		{ 0, "engine", "ENGINE", "docker, podman or a URL; else the one that answers",     \
		  TO_WORD(member.engine, container_engine_words) },                                \
		{ 0, "mount", "SOURCE[:TARGET][:ro]",                                              \
		  "a file or directory of this machine that it sees; may be repeated",             \
		  TO_LIST(member.mounts) },                                                        \
		{ 0, "env", "NAME=VALUE", "a variable, which is not secret; may be repeated",      \
		  TO_LIST(member.environment) },                                                   \
		{ 0, "secret", "NAME[=SOURCE]",                                                    \
		  "a variable that is read at each start and stored nowhere: env:NAME, file:PATH " \
		  "or command:[\"...\"]; may be repeated",                                         \
		  TO_LIST(member.secrets) },                                                       \
		{ 0,                                                                               \
		  "auth",                                                                          \
		  "HOW",                                                                           \
		  "the agent's login: sync copies its files from your home; token passes its "     \
		  "variables as secrets; ignore, to log in inside. NAME=HOW is for another "       \
		  "agent or github; may be repeated",                                              \
		  TO_LIST(member.logins),                                                          \
		  OFFER(container_auth_words) },                                                   \
		{ 0, "program", "WHERE", "image or host; else this host's, if it is a binary",     \
		  TO_WORD(member.program, container_program_words) },                              \
		{ 0, "network", "NETWORK",                                                         \
		  "default, none, internal, shared or the name of a network",                      \
		  TO_WORD(member.network, container_network_words) },                              \
		{ 0, "cpus", "N", "how many processors it may use, such as 1.5",                   \
		  TO_TEXT(member.cpus) },                                                          \
		{ 0, "docker", "HOW",                                                              \
		  "a Docker of its own inside: rootless, rootless-tcp or none",                    \
		  TO_WORD(member.docker, container_docker_words) },                                \
		{ 0, "docker-tcp", NULL, "the same as --docker rootless-tcp: over TCP, with TLS",  \
		  TO_FLAG(member.docker_tcp) },                                                    \
	{                                                                                          \
		0, "cap-add", "CAPABILITY", "a capability that it keeps; it has none by itself",   \
			TO_LIST(member.cap_add)                                                    \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

extern const char *const container_engine_words[2];
extern const char *const container_auth_words[3];
extern const char *const container_program_words[2];
extern const char *const container_network_words[4];
extern const char *const container_docker_words[3];

/* What the options say, borrowed from them.  is_default: without a word about it the session lives
 * in a container.  ERROR_USAGE: an option does not go with where it is to live.
 * CONTAINER_NOT_WISHED: it is to live on this host. */
enum { CONTAINER_NOT_WISHED = 1 };
int container_read_options(const struct container_options *options, bool is_default,
			   struct container_order *ret, struct error *err);
