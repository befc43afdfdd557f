/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An engine may run its containers where this host's files, sockets or processes are not: on
 * another machine, in a virtual machine.  That is found out before an agent is started there.
 */
#include "engine/place/container/container-internal.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "base/program.h"
#include "engine/place/container/resolve.h"

#include <string.h>

#define REMEDY "name an engine of this machine with --engine"

/* Does the container see a file that was made just now?  1 yes, 0 no. */
static int shares_files(struct ladder *ladder, const char *id, struct error *err)
{
	const struct run *run = &ladder->instance->run;
	cleanup_close int fd = -1;
	cleanup_free char *name = xasprintf("here-%s", run->id);
	cleanup_free char *path = path_join(run->capsule, name);
	/* podman would expand them. */
	if (strpbrk(path, "*?[]{}\\"))
		return 1;
	if (fs_open_private_directory(run->capsule, &fd, err) < 0 ||
	    fs_replace(fd, name, "", 0, FS_VOLATILE, err) < 0)
		return -1;
	int r = engine_has_file(ladder->engine, id, path, err);
	(void)unlinkat(fd, name, 0);
	return r;
}

static int refuse_files(const struct ladder *ladder, struct error *err)
{
	return error_set(
		err, ERROR_UNAVAILABLE,
		"the container engine at %s is on another machine, or has other files than "
		"this one: a container there does not see %s. " REMEDY,
		ladder->instance->recipe->address, ladder->instance->run.capsule);
}

int reach_check_files(struct ladder *ladder, const char *id, struct error *err)
{
	if (!engine_is_remote(ladder->engine))
		return 0;
	int r = shares_files(ladder, id, err);
	return r == 0 ? refuse_files(ladder, err) : r < 0 ? -1 : 0;
}

int reach_blame(const struct ladder *ladder, struct error *err, struct error *from)
{
	/* Docker when it creates, podman when it starts.  What lacks here was found before. */
	const bool is_blamed = from->code == ERROR_CHILD &&
			       (strstr(from->message, "bind source path does not exist") ||
				strstr(from->message, "statfs /"));
	if (!is_blamed)
		return error_move(err, from);
	(void)error_set(err, ERROR_UNAVAILABLE,
			"the container engine at %s has other files than this machine: %s. " REMEDY,
			ladder->instance->recipe->address, from->message);
	error_clear(from);
	return -1;
}

/* The loader that the program needs and the container does not have.  NULL: none is missing. */
static char *missing_loader(const struct recipe *recipe, const char *id, const char *program)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_free char *loader = program_loader(program);
	for (size_t i = 0; loader && i < recipe->mount_count; i++)
		if (starts_with(loader, recipe->mounts[i].target))
			return NULL;
	return loader && container_open_engine(recipe, &engine, NULL) == 0 &&
			       engine_has_file(engine, id, loader, NULL) == 0
		       ? TAKE_PTR(loader)
		       : NULL;
}

int reach_blame_loader(const struct instance *instance, struct error *err, struct error *from)
{
	const struct recipe *recipe = instance->recipe;
	cleanup_free char *program = container_host_program(instance);
	cleanup_free char *loader = program && from->code == ERROR_CHILD
					    ? missing_loader(recipe, instance->container_id,
							     program)
					    : NULL;
	if (!loader)
		return error_move(err, from);
	log_info("%s", from->message);
	error_clear(from);
	return error_set(
		err, ERROR_CHILD,
		"image %s cannot run %s of this machine, which needs %s: choose an image "
		"with the same C library (agentdeck session set %s recipe.image IMAGE), or "
		"install the agent in an image and make a session with --program image",
		or_empty(recipe->image), program, loader, instance->id);
}

/* Stop the container: it is ours, and nothing was started in it. */
static void stop(struct ladder *ladder)
{
	cleanup_error struct error why = { 0 };
	if (engine_stop(ladder->engine, ladder->instance->container_id, 0, &why) < 0)
		log_warning("the container was not stopped: %s", why.message);
}

static int explain(struct ladder *ladder, struct error *err)
{
	const struct recipe *recipe = ladder->instance->recipe;
	const char *id = ladder->instance->container_id;
	cleanup_container struct container seen = { 0 };
	int r = engine_inspect(ladder->engine, id, &seen, err);
	if (r == 0 && seen.state == CONTAINER_EXITED)
		return error_set(err, ERROR_CHILD, "its container ended at once, with status %d",
				 seen.exit_code);
	if (r != 0 || (r = shares_files(ladder, id, err)) < 0)
		return -1;
	return r == 0 ? refuse_files(ladder, err)
		      : error_set(err, ERROR_UNAVAILABLE,
				  "no capsule answers in %s. If the container engine at %s runs in "
				  "a virtual machine, which has the files of this machine and not "
				  "its sockets: " REMEDY,
				  ladder->instance->run.capsule, recipe->address);
}

int reach_await_capsule(struct ladder *ladder, int64_t deadline_ms, struct capsule **ret,
			struct error *err)
{
	cleanup_capsule struct capsule *capsule = NULL;
	cleanup_error struct error why = { 0 };
	struct error silence = { 0 };
	if (capsule_await(ladder->instance->run.capsule, deadline_ms, &capsule, &silence) < 0) {
		const bool is_silent = silence.code == ERROR_TIMEOUT;
		/* What the engine cannot explain stays as it was said first. */
		if (!is_silent || (explain(ladder, &why), !why.code))
			return error_move(err, &silence);
		error_clear(&silence);
		stop(ladder);
		return error_move(err, &why);
	}
	if (!capsule_process(capsule).pid) {
		(void)capsule_stop(capsule, 0, NULL);
		return error_set(err, ERROR_UNAVAILABLE,
				 "the processes of the container engine at %s cannot be seen here: "
				 "agentdeck and the engine must run on the same machine, agentdeck "
				 "not in a container itself",
				 ladder->instance->recipe->address);
	}
	*ret = TAKE_PTR(capsule);
	return 0;
}
