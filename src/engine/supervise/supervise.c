/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise.h"

#include "base/libc.h"
#include "base/log.h"
#include "base/watch.h"
#include "engine/supervise/filelimit.h"
#include "engine/supervise/supervise-internal.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>

static void on_event(const struct roster_event *event, void *context)
{
	session_on_event(context, event);
}

static void on_signal(int signal_number, void *context)
{
	struct supervisor *supervisor = context;
	log_info("SIG%s: %s", sigabbrev_np(signal_number),
		 signal_number == SIGHUP ? "restarting" : "ending");
	/* After "stopping" the manager waits for the end of this process: a reload has no end. */
	if (signal_number != SIGHUP)
		loop_stopping(supervisor->loop);
	loop_exit(supervisor->loop, signal_number == SIGHUP ? SUPERVISE_AGAIN : SUPERVISE_ENDED);
}

/* The file may be a link, and its directory may not exist yet.  Returns the length of the deepest
 * directory's path. */
static size_t watch_what_exists(const struct supervisor *supervisor)
{
	uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ATTRIB;
	cleanup_free char *path = path_join(supervisor->deck->paths.config, DECK_CONFIG);
	(void)watch_add(supervisor->config, path, events);
	for (char *slash; (slash = strrchr(path, '/')) && slash != path;) {
		*slash = '\0';
		if (watch_add(supervisor->config, path, events | IN_CREATE))
			return strlen(path);
		events = IN_MOVED_TO;
	}
	return 0;
}

/* A directory that is made between two looks would be missed: look until nothing is new. */
static void follow_config(const struct supervisor *supervisor)
{
	size_t depth = 0;
	for (size_t seen = watch_what_exists(supervisor); seen > depth;) {
		depth = seen;
		seen = watch_what_exists(supervisor);
	}
}

static void on_config(int fd, uint32_t events UNUSED, void *context)
{
	struct supervisor *supervisor = context;
	watch_drain(fd);
	follow_config(supervisor);
	if (!deck_config_has_changed(supervisor->deck))
		return;
	log_info("config.toml has changed: restarting");
	loop_exit(supervisor->loop, SUPERVISE_AGAIN);
}

static void watch_config(struct supervisor *supervisor)
{
	cleanup_error struct error err = { 0 };
	struct loop_source *source;
	/* The root always exists. */
	supervisor->config = watch_open("/", IN_DELETE_SELF);
	if (supervisor->config < 0 ||
	    loop_add_io(supervisor->loop,
			&(struct loop_io){ supervisor->config, EPOLLIN, on_config, supervisor },
			&source, &err) < 0)
		log_warning("config.toml is not watched: reload the supervisor after a change");
	else
		on_config(supervisor->config, 0, supervisor);
}

static int add_sources(struct supervisor *supervisor, struct error *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct loop_source *source;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_add_signal(supervisor->loop, signals[i], on_signal, supervisor, &source,
				    err) < 0)
			return -1;
	const struct roster_order order = { .loop = supervisor->loop,
					    .due = supervisor_read,
					    .looks = ROSTER_LOOKS_TELLS,
					    .memory = true };
	if (roster_open(supervisor->deck, &order, on_event, supervisor, &supervisor->roster, err) <
	    0)
		return -1;
	supervisor->screens = (struct screens){ .deck = supervisor->deck,
						.program = supervisor->deck->program,
						.loop = supervisor->loop,
						.roster = supervisor->roster,
						.usual_files = &supervisor->usual_files };
	return 0;
}

static void supervisor_clear(struct supervisor *supervisor)
{
	answers_close(supervisor);
	service_close(supervisor->service);
	for (size_t i = 0; supervisor->roster && i < roster_count(supervisor->roster); i++)
		session_free(roster_at(supervisor->roster, i)->owner);
	roster_close(supervisor->roster);
	loop_free(supervisor->loop);
	screens_clear(&supervisor->screens);
	if (supervisor->config >= 0)
		(void)close(supervisor->config);
	/* The next program takes what it finds for the usual. */
	filelimit_restore(&supervisor->usual_files);
}

static void inherit_work(const struct supervisor *supervisor)
{
	cleanup_error struct error err = { 0 };
	if (runner_inherit(supervisor->loop, &err) < 0)
		log_warning("running work continues without the supervisor: %s", err.message);
}

int supervise_run(struct deck *deck, struct error *err)
{
	CLEANUP(supervisor_clear) struct supervisor supervisor = { .deck = deck, .config = -1 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	int r = supervise_lock(deck, &lock, err);
	if (r != SUPERVISE_LOCKED)
		return r;
	if (loop_new(&supervisor.loop, err) < 0 || add_sources(&supervisor, err) < 0)
		return -1;
	filelimit_raise(&supervisor.usual_files);
	inherit_work(&supervisor);
	log_info("supervising %s", deck->paths.state);
	watch_config(&supervisor);
	calls_open(&supervisor);
	answers_open(&supervisor);
	supervisor_read(&supervisor);
	ends_open(&supervisor);
	loop_ready(supervisor.loop, "Supervising");
	if (deck->config_problem)
		loop_status(supervisor.loop, "Supervising, but config.toml cannot be used");
	r = loop_run(supervisor.loop, err);
	if (r == SUPERVISE_LOST)
		return error_set(err, ERROR_NOT_FOUND, "%s cannot be followed any more",
				 deck->paths.state);
	return r;
}
