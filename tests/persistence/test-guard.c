/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The guard of a user's manager: what systemd does when the manager is killed and nobody is logged
 * in.
 */
#include "persistence/deck.h"

#include <stdlib.h>
#include <string.h>

#define MARKER "the bus leaves at nine"

static const char *as_root(const char *option)
{
	return machine_root_ok(WORDS(kept("%s/bin/agentdeck", machine_prefix()), "supervise",
				     option, machine_user_name()));
}

/* What is said of lingering when it is on, or off. */
static const char *warning(const char *linger)
{
	machine_root_ok(WORDS("loginctl", linger, machine_user_name()));
	return machine_root(WORDS(kept("%s/bin/agentdeck", machine_prefix()), "supervise",
				  "--guard", machine_user_name()))
		.errors;
}

static void clean_up(void)
{
	(void)machine_root(WORDS(kept("%s/bin/agentdeck", machine_prefix()), "supervise",
				 "--unguard", machine_user_name()));
	(void)machine_root(WORDS("systemctl", "start", kept("user@%u.service", machine_uid())));
	(void)machine_user(WORDS("agentdeck", "supervise", "--uninstall"));
}

static void await_new_run(struct session *session, pid_t before, const char *where)
{
	WAIT_FOR(session_look(session) && session->server_pid != before &&
			 streq(session->status, "running") && session->agent_pid,
		 "the session does not come back after %s: %s\n%s", where, session->status,
		 or_empty(deck_log()));
}

/* systemd 254 and later. */
static bool can_soft_reboot(void)
{
	static const char first[] = "systemd ";
	const char *version = machine_root_ok(WORDS("systemctl", "--version"));
	return starts_with(version, first) && strtol(version + strlen(first), NULL, 10) >= 254;
}

/* A soft reboot takes away what is mounted, agentdeck with it. */
static void keep_mounted(const char *path)
{
	machine_root_ok(
		WORDS("sh", "-ec",
		      "directory=/run/systemd/system/$(systemd-escape -p --suffix=mount "
		      "\"$0\").d\n"
		      "mkdir -p \"$directory\"\n"
		      "printf '[Unit]\\nDefaultDependencies=no\\n' >\"$directory/keep.conf\"\n"
		      "systemctl daemon-reload",
		      path));
}

TEST(GuardedUserManagerComesBack)
{
	struct session session;
	const char *unit = kept("user@%u.service", machine_uid());
	at_end(clean_up);
	ASSERT(strstr(warning("disable-linger"), "enable-linger"),
	       "it does not say what is missing");
	ASSERT(!strstr(warning("enable-linger"), "linger"), "lingering is on");
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	session_look(&session);
	const char *id = session.session_id;
	(void)deck_ok(NULL, WORDS("supervise", "--install", "--json"));
	const char *said = as_root("--guard");
	ASSERT(strstr(said, kept("/%s.d/", unit)) && strstr(said, "no other user"), "it says %s",
	       said);
	const pid_t before = session.server_pid;
	machine_root_ok(WORDS("systemctl", "kill", "--kill-who=main", "--signal=KILL", unit));
	await_new_run(&session, before, "a kill of the user manager");
	assert_came_back(&session, id, MARKER, 1);
	const char *wants = machine_root_ok(
		WORDS("systemctl", "show", "-P", "Wants", "multi-user.target"));
	ASSERT(strstr(wants, unit), "a soft reboot does not start it: %s", wants);
	if (can_soft_reboot()) {
		const pid_t after = session.server_pid;
		keep_mounted(machine_prefix());
		machine_soft_reboot();
		await_new_run(&session, after, "a soft reboot");
		assert_came_back(&session, id, MARKER, 2);
	}
	(void)as_root("--unguard");
	const char *restart = machine_root_ok(WORDS("systemctl", "show", "-P", "Restart", unit));
	ASSERT(streq(restart, "no\n"), "after --unguard: Restart=%s", restart);
}
