/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/containeropts.h"

const char *const container_engine_words[2] = { "docker", "podman" };
const char *const container_auth_words[3] = { "sync", "token", "ignore" };
const char *const container_program_words[2] = { "image", "host" };
const char *const container_network_words[4] = { "default", "none", "internal", "shared" };
const char *const container_docker_words[3] = { "rootless", "rootless-tcp", "none" };

int container_read_options(const struct container_options *options, bool is_default,
			   struct container_order *ret, struct error *err)
{
	enum { OF_AGENT = 3 }; /* the last ones; the others are of the container */
	const char *role = options->role           ? "--role"
			   : options->devcontainer ? "--devcontainer"
						   : NULL;
	const bool is_wished = options->is_wished || options->within ||
			       ((role || is_default) && !options->is_refused);
	const struct {
		const char *name;
		bool is_given;
	} others[] = {
		{ "--image", options->image },
		{ "--build", options->build },
		{ "--pull", options->pull },
		{ "--role", options->role },
		{ "--devcontainer", options->devcontainer },
		{ "--engine", options->engine },
		{ "--mount", options->mounts.count },
		{ "--env", options->environment.count },
		{ "--network", options->network },
		{ "--cpus", options->cpus },
		{ "--cap-add", options->cap_add.count },
		{ "--docker", options->docker },
		{ "--docker-tcp", options->docker_tcp },
		{ "--auth", options->logins.count },
		{ "--program", options->program },
		{ "--secret", options->secrets.count },
	};
	if (options->is_wished && options->is_refused)
		return error_set(err, ERROR_USAGE,
				 "--container and --no-container exclude each other: omit one of "
				 "them");
	if (options->role && options->devcontainer)
		return error_set(err, ERROR_USAGE,
				 "--role and --devcontainer exclude each other: choose one");
	for (size_t i = 0; options->within && i < ARRAY_SIZE(others) - OF_AGENT; i++)
		if (others[i].is_given)
			return error_set(err, ERROR_USAGE,
					 "%s is of a container, and --in takes that of another "
					 "session as it is: omit one of them",
					 others[i].name);
	if (options->within && (options->is_wished || options->is_refused))
		return error_set(err, ERROR_USAGE, "--in and %s exclude each other: choose one",
				 options->is_wished ? "--container" : "--no-container");
	if (options->docker && options->docker_tcp)
		return error_set(err, ERROR_USAGE,
				 "--docker-tcp is --docker rootless-tcp: omit one of them");
	if (role && (options->image || options->build))
		return error_set(err, ERROR_USAGE, "a role names its image: omit %s or %s", role,
				 options->image ? "--image" : "--build");
	for (size_t i = 0; !is_wished && i < ARRAY_SIZE(others); i++)
		if (others[i].is_given)
			return error_set(err, ERROR_USAGE, "%s is for a session in a container: %s",
					 others[i].name,
					 options->is_refused ? "omit --no-container"
							     : "add --container");
	if (!is_wished)
		return CONTAINER_NOT_WISHED;
	*ret = (struct container_order){
		.engine = options->engine,
		.image = options->image,
		.build = options->build,
		.may_pull = options->pull,
		.network = options->network,
		.logins = &options->logins,
		.program = options->program,
		.cpus = options->cpus,
		.docker = options->docker_tcp ? "rootless-tcp" : options->docker,
		.mounts = &options->mounts,
		.environment = &options->environment,
		.secrets = &options->secrets,
		.cap_add = &options->cap_add,
	};
	return 0;
}
