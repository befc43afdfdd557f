/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second command in the container, by the engine's own program: it brings the terminal there.
 * The engine's program waits forever for an engine that hangs, and the engine may continue much
 * later.  So the capsule's program runs the command only if it can remove a file, which this host
 * removes when it gives up.
 */
#include "engine/place/container/container-internal.h"

#include "base/fsutil.h"
#include "base/program.h"
#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/nestedwish.h"
#include "engine/place/container/resolve.h"
#include "model/session/naming.h"

#include <string.h>

#define TICKET "exec-"

int container_push_client(const struct recipe *recipe, const char *purpose, struct strvec *ret,
			  struct error *err)
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
				 "the program %s is missing to %s: install it", name, purpose);
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

static int make_ticket(const char *capsule, struct place_exec *exec, struct error *err)
{
	cleanup_close int fd = -1;
	cleanup_free char *id = naming_new_uuid();
	cleanup_free char *name = xasprintf(TICKET "%s", id);
	if (fs_open_private_directory(capsule, &fd, err) < 0 ||
	    fs_lock(fd, name, 0, &exec->held, err) < 0)
		return -1;
	exec->ticket = path_join(capsule, name);
	return 0;
}

void container_sweep_tickets(int capsule_directory)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(capsule_directory, &names, NULL) != 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
		if (starts_with(names.items[i], TICKET) &&
		    fs_lock(capsule_directory, names.items[i], 0, &lock, NULL) == 0)
			(void)unlinkat(capsule_directory, names.items[i], 0);
	}
}

int container_exec(const struct instance *instance, const struct strvec *command,
		   struct place_exec *ret, struct error *err)
{
	const struct recipe *recipe = instance->recipe;
	const struct place_run run = place_run_of(instance);
	cleanup_place_exec struct place_exec exec = PLACE_NO_EXEC;
	struct strvec *argv = &exec.argv;
	const char *container = guest_is(instance) ? recipe->within : instance->container_id;
	if (is_empty(container) || !run.capsule || !place_is_live(&run))
		return error_set(err, ERROR_INVALID,
				 "its container is not running: start the session first");
	if (container_push_client(recipe, "run a command in the container", argv, err) < 0 ||
	    make_ticket(run.capsule, &exec, err) < 0)
		return -1;
	strvec_push_array(argv, (const char *const[]){ "exec", "--interactive", NULL });
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		strvec_push(argv, "--tty");
	strvec_push_array(argv, (const char *const[]){ "--workdir", recipe->directory, "--user",
						       recipe->user, "--env", "TERM=xterm-256color",
						       NULL });
	for (size_t i = 0; i < recipe->environment.count; i++)
		if (nested_is_variable(recipe->environment.items[i]))
			strvec_pushf(argv, "--env=%s", recipe->environment.items[i]);
	strvec_push_array(argv,
			  (const char *const[]){ container, CAPSULE_PROGRAMS "/agentdeck-capsule",
						 "exec", exec.ticket, NULL });
	if (command->count)
		strvec_push_all(argv, command);
	else
		strvec_push(argv, "/bin/sh");
	exec.by = recipe->engine;
	*ret = exec;
	exec = PLACE_NO_EXEC;
	return 0;
}
