/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/host/host-internal.h"

#include "base/program.h"
#include "driver/tmux/tmux.h"
#include "engine/place/environment.h"
#include "engine/place/isolation.h"
#include "engine/place/runfiles.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>

/* At most as long as PATHS_SOCKET_NAME. */
#define PROBE_SOCKET "try.sock"
#define PROBE_FILE   "try"
enum { PROBE_FILE_SIZE = 64 << 10 };

static int check_helpers(const struct deck *deck, struct error *err)
{
	const char *const helpers[] = { deck->gate, deck->watch };
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (access(helpers[i], X_OK) < 0)
			return error_set_errno(err, errno, "%s: install agentdeck again",
					       helpers[i]);
	return 0;
}

/* Room for the files of a run. */
static int check_room(int fd, struct error *err)
{
	cleanup_free char *zeros = xcalloc(1, PROBE_FILE_SIZE);
	cleanup_close int file = fs_openat(
		fd, PROBE_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return error_set_file(err, errno, "create " PROBE_FILE);
	int r = fs_write_all(file, zeros, PROBE_FILE_SIZE, PROBE_FILE, err);
	(void)unlinkat(fd, PROBE_FILE, 0);
	return r;
}

static int check_tmux(const struct deck *deck, const char *directory, struct error *err)
{
	cleanup_strvec struct strvec environment = { 0 };
	cleanup_free char *socket = path_join(directory, PROBE_SOCKET);
	cleanup_free char *id = naming_new_uuid();
	cleanup_free char *marker = xasprintf(ENV_RUN "=probe-%s", id);
	environment_plain(&environment);
	strvec_push(&environment, marker);
	strvec_push(&environment, "TERM=xterm-256color");
	const struct tmux_probe probe = {
		.socket = socket,
		.environment = &environment,
		.marker = marker,
		.gate = deck->gate,
	};
	return tmux_probe(&probe, err);
}

static int check_directory(struct deck *deck, const char *directory, struct error *err)
{
	cleanup_close int fd = -1;
	const bool is_new = access(directory, F_OK) < 0;
	int r = runfiles_open_directory(deck, directory, &fd, err);
	if (r == 0)
		r = check_room(fd, err);
	if (r < 0)
		return err && err->os_errno ? error_prefix(err, "%s", directory) : -1;
	r = check_tmux(deck, directory, err);
	(void)unlinkat(fd, PROBE_SOCKET, 0);
	if (is_new)
		(void)rmdir(directory);
	return r;
}

/* Whether it can be executed shows only now: a start finds out by trying, and what runs is not
 * ended for that. */
static int check_executable(const struct instance *instance, struct error *err)
{
	cleanup_free char *file = program_path(instance->argv.items[0], NULL,
					       instance_lookup_directory(instance));
	return file ? program_check(file, err) : 0;
}

static int probe_window(struct deck *deck, const struct instance *instance, struct error *err)
{
	const char *why;
	const enum isolation isolation = isolation_examine(deck, &why);
	cleanup_free char *directory = isolation_run_directory(deck, isolation, instance->id);
	if (check_helpers(deck, err) < 0 || check_directory(deck, directory, err) < 0)
		return error_prefix(err,
				    "nothing was ended, because it could not be started again");
	return 0;
}

int host_probe(struct deck *deck, const struct instance *instance, struct error *err)
{
	return check_executable(instance, err) < 0 ? -1 : probe_window(deck, instance, err);
}
