/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-capsule init DIRECTORY
 * agentdeck-capsule view DIRECTORY RUN ATTEMPT [-- COLLECT...]
 * agentdeck-capsule exec TICKET COMMAND [ARGUMENT...]
 * agentdeck hook [--instance BASE] [PAYLOAD...]
 *
 * The one program that is in every container.  It is static, so any image will do.
 *
 * init: PID 1.  view: a window on the agent, as agentdeck-view is outside; for an engine whose
 * sockets cannot be reached from the host (`docker exec`).  exec: becomes COMMAND if it can remove
 * the file TICKET; the caller removes TICKET when it is too late.  hook, under the
 * name agentdeck: takes the report of an agent's hook; it says nothing and exits with 0, since
 * anything else would disturb the agent.
 */
#include "base/text.h"
#include "capsule/endpoint.h"
#include "capsule/hookfile.h"
#include "capsule/keeper.h"
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int usage(void)
{
	(void)fprintf(stderr, "agentdeck-capsule: part of agentdeck, not for people\n");
	return ENDPOINT_EXIT_USAGE;
}

static int run_init(int argc, char *argv[])
{
	struct error err = { 0 };
	if (argc != 1 || *argv[0] != '/')
		return usage();
	int r = keeper_run(argv[0], &err);
	if (r >= 0)
		return r;
	(void)fprintf(stderr, "agentdeck-capsule: %s\n", err.message);
	error_clear(&err);
	return ENDPOINT_EXIT_FAILED;
}

static int run_hook(int argc, char *argv[])
{
	struct hookfile_report report = { .directory = getenv(ENDPOINT_VARIABLE),
					  .input = STDIN_FILENO,
					  .run = getenv(ENDPOINT_RUN) };
	/* One capsule has one instance. */
	if (argc > 1 && streq(argv[0], "--instance")) {
		argc -= 2;
		argv += 2;
	}
	if (argc > 0)
		report.payload = argv[argc - 1];
	if (!is_empty(report.directory))
		(void)hookfile_take(&report, NULL);
	return 0;
}

static int run_command(const char *ticket, char *argv[])
{
	enum { NOT_FOUND = 127, NOT_EXECUTED = 126 };
	if (unlink(ticket) < 0) {
		(void)fprintf(stderr, "agentdeck: %s was not run: it came too late\n", argv[0]);
		return ENDPOINT_EXIT_GONE;
	}
	(void)execvp(argv[0], argv);
	const int why = errno;
	(void)fprintf(stderr, "agentdeck: run %s in the container: %s\n", argv[0], strerror(why));
	return why == ENOENT ? NOT_FOUND : NOT_EXECUTED;
}

/* Descriptors 0 to 2 are open, so that nothing of ours gets their numbers. */
static void open_standard(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

int main(int argc, char *argv[])
{
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
	name = name ? name + 1 : argc > 0 ? argv[0] : "";
	if (streq(name, "agentdeck"))
		return argc > 1 && streq(argv[1], "hook") ? run_hook(argc - 2, argv + 2) : usage();
	open_standard();
	if (argc > 2 && streq(argv[1], "init"))
		return run_init(argc - 2, argv + 2);
	if (argc > 3 && streq(argv[1], "exec"))
		return run_command(argv[2], argv + 3);
	if (argc > 2 && streq(argv[1], "view"))
		return view_main(argc - 2, argv + 2);
	return usage();
}
