/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second command in the container, by the engine's own program: it brings the terminal there.
 */
#include "engine/place/container/container-internal.h"

#include "base/program.h"
#include "engine/place/alive.h"

#include <string.h>

/* The program of the engine, with what makes it speak to the engine of the recipe. */
static int push_client(const struct recipe *recipe, struct strvec *ret, struct error *err)
{
	static const struct {
		const char *option, *name;
	} files[] = {
		{ "--tlscacert", "ca.pem" },
		{ "--tlscert", "cert.pem" },
		{ "--tlskey", "key.pem" },
	};
	const bool is_podman = streq(recipe->engine, engine_kind_name(ENGINE_PODMAN));
	const char *name = is_podman ? "podman" : "docker";
	if (!program_is_installed(name))
		return error_set(err, ERROR_UNAVAILABLE,
				 "a command in the container needs the program %s: install it",
				 name);
	strvec_push(ret, name);
	strvec_push(ret, is_podman ? "--url" : "--host");
	strvec_push(ret, recipe->address);
	if (!recipe->tls || is_podman)
		return 0;
	strvec_push(ret, "--tlsverify");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = path_join(recipe->tls, files[i].name);
		if (access(path, F_OK) == 0)
			strvec_pushf(ret, "%s=%s", files[i].option, path);
	}
	return 0;
}

int container_exec_argv(const struct instance *instance, const struct strvec *command,
			struct strvec *ret, struct error *err)
{
	const struct recipe *recipe = instance->recipe;
	const struct place_run run = place_run_of(instance);
	cleanup_strvec struct strvec argv = { 0 };
	if (!recipe || !instance->container_id || !place_is_live(&run))
		return error_set(err, ERROR_INVALID,
				 "its container is not running: start the session first");
	if (push_client(recipe, &argv, err) < 0)
		return -1;
	strvec_push_array(&argv, (const char *const[]){ "exec", "--interactive", NULL });
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		strvec_push(&argv, "--tty");
	strvec_push_array(&argv, (const char *const[]){ "--workdir", recipe->directory, "--user",
							recipe->user, "--env",
							"TERM=xterm-256color", NULL });
	strvec_push(&argv, instance->container_id);
	if (command->count)
		strvec_push_all(&argv, command);
	else
		strvec_push(&argv, "/bin/sh");
	strvec_push_all(ret, &argv);
	return 0;
}
