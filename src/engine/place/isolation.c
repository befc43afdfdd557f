/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/isolation.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/program.h"

enum { WAKE_TIMEOUT_MS = 5000, WAKE_POLL_MS = 50 };

#define NOT_AVAILABLE "systemd-run not available"
#define OVERRIDDEN    "config override"

static bool has_systemd_run(void)
{
#ifdef HAVE_SYSTEMD
	return program_is_installed("systemd-run");
#else
	return false;
#endif
}

enum isolation isolation_examine(struct deck *deck, const char **ret_why)
{
	enum tristate wish = deck->settings.tmux.launch_in_user_scope;
	*ret_why = "systemd-run detected";
	if (wish == OFF) {
		*ret_why = OVERRIDDEN;
		return ISOLATION_DIRECT;
	}
	if (wish == UNSET && !has_systemd_run()) {
		*ret_why = NOT_AVAILABLE;
		return ISOLATION_DIRECT;
	}
	/* The program's being there proves nothing: systemd-run --user --version succeeds without
	 * any manager.  So the manager itself is asked. */
	if (!deck_bus(deck)) {
		*ret_why = deck->bus_why;
		return ISOLATION_DIRECT;
	}
	return ISOLATION_SCOPE;
}

/* Nothing of ours turns it off again: other programs of the user may need it by then. */
static void tell_linger(const struct deck *deck, const char *what_for)
{
	log_info("linger: enabled, so that %s", what_for);
	cleanup_free char *line = xasprintf("turned on lingering (loginctl): %s", what_for);
	if (deck->on_progress)
		deck->on_progress(line, false);
}

bool isolation_wake_manager(struct deck *deck)
{
	int64_t deadline = clock_ms() + WAKE_TIMEOUT_MS;
	if (deck->settings.tmux.linger == OFF || access("/run/systemd/system", F_OK) < 0 ||
	    login_lingers(getuid()) || login_enable_linger(getuid(), NULL) != 0)
		return false;
	tell_linger(deck, "a user manager runs without a login");
	for (;;) {
		deck_retry_bus(deck);
		if (deck_bus(deck))
			return true;
		if (clock_ms() >= deadline)
			return false;
		/* logind mounts the directory of its socket meanwhile: inotify(7) does not see it. */
		clock_pause_until(clock_ms() + WAKE_POLL_MS);
	}
}

enum isolation isolation_decide(struct deck *deck)
{
	const char *why;
	enum isolation isolation = isolation_examine(deck, &why);
	if (isolation == ISOLATION_DIRECT && !streq(why, OVERRIDDEN) &&
	    !streq(why, NOT_AVAILABLE) && isolation_wake_manager(deck))
		isolation = isolation_examine(deck, &why);
	if (isolation == ISOLATION_SCOPE) {
		log_info("tmux cgroup isolation: enabled (%s)", why);
	} else if (streq(why, OVERRIDDEN) || streq(why, NOT_AVAILABLE)) {
		log_info("tmux cgroup isolation: disabled (%s)", why);
	} else {
		log_info("tmux cgroup isolation: disabled (user manager not reachable: %s)", why);
		/* On a machine that does not run systemd there is nothing to mend: silence
		 * (sd_booted(3)). */
		if (access("/run/systemd/system", F_OK) == 0)
			deck_warn(
				deck,
				"the user manager is not reachable (%s): this session runs "
				"without its own scope and may end with your login: see agentdeck "
				"doctor",
				why);
	}
	return isolation;
}

const char *isolation_root(const struct deck *deck, enum isolation isolation)
{
	return isolation == ISOLATION_SCOPE && deck_has_runtime(deck) ? deck->paths.runtime
								      : deck->paths.direct;
}

char *isolation_run_directory(const struct deck *deck, enum isolation isolation, const char *id)
{
	const char *root = isolation_root(deck, isolation);
	return paths_run_directory(root, deck->paths.direct, id);
}

void isolation_ensure_linger(struct deck *deck)
{
	cleanup_error struct error err = { 0 };
	if (deck->settings.tmux.linger == OFF || login_lingers(getuid()))
		return;
	int r = login_enable_linger(getuid(), &err);
	if (r == 0) {
		tell_linger(deck, "your sessions outlive your last logout");
		return;
	}
	if (r < 0)
		deck_warn(deck,
			  "lingering is off and could not be turned on: sessions end about 10 s "
			  "after your last logout (%s)",
			  err.message);
	else
		deck_warn(deck,
			  "logind is not running to keep the user manager after your last logout: "
			  "sessions may end then");
}

bool isolation_lost_manager(const struct deck *deck, const struct run *run)
{
	struct process_id manager;
	if (!run->unit || !run->server.pid || !deck->paths.user_runtime ||
	    run_relation(run) != MACHINE_THIS_BOOT)
		return false;
	cleanup_free char *socket = path_join(deck->paths.user_runtime, "systemd/private");
	return process_listening(socket, &manager, NULL) == 0 && manager.start > run->server.start;
}

char *isolation_own_group(void)
{
	char *group = NULL;
	return process_cgroup(getpid(), &group, NULL) == 0 ? group : NULL;
}
