/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The connection to another host outlives the login that made it, and is replaced when it stops.
 */
#include "persistence/login.h"
#include "persistence/steps.h"

#include <signal.h>
#include <string.h>

/* The user reaches this machine by ssh, as a host that has a home of its own. */
static void configure(void)
{
	const char *ssh = kept(
		"#!/bin/sh\n"
		"set -- -i %s -o StrictHostKeyChecking=no -o UserKnownHostsFile=%s "
		"-o HostName=\"$(sed -n 's/^ListenAddress //p' /etc/ssh/sshd_config)\" "
		"-o Port=\"$(sed -n 's/^Port //p' /etc/ssh/sshd_config)\" \"$@\"\n"
		"exec /usr/bin/ssh \"$@\"\n",
		at_home("key"), at_home("known"));
	machine_write(at_home("bin/ssh"), 0755, ssh);
	machine_write(at_home("bin/there"), 0755,
		      kept("#!/bin/sh\nexport HOME=%s\nexec %s/bin/agentdeck \"$@\"\n",
			   at_home("far"), machine_prefix()));
	machine_make_directory(at_home("far"));
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      kept("[hosts.gpu1]\ntimeout = 30\nprogram = \"%s\"\n", at_home("bin/there")));
	machine_user_ok(WORDS("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "of-test-link",
			      "-f", at_home("key")));
	machine_user_ok(WORDS("sh", "-c",
			      "cat \"$1.pub\" >>\"$(getent passwd \"$(id -u)\" | cut -d: "
			      "-f6)/.ssh/authorized_keys\"",
			      "sh", at_home("key")));
	machine_set("PATH", kept("%s:%s", at_home("bin"), machine_search_path()));
}

/* The connections of ours; pid 0: there is none.  More than one fails the test. */
static struct process find_master(void)
{
	const char *found = machine_root(WORDS("pgrep", "-f", "^/usr/bin/ssh .*-fN")).output;
	const char *more = strchr(found, '\n');
	ASSERT(!more || !more[1], "several connections: %s", found);
	return *found ? machine_process((pid_t)strtol(found, NULL, 10)) : (struct process){ 0 };
}

static void end_link(void)
{
	(void)machine_login(deck_words(WORDS("host", "logout", "gpu1")));
	machine_root_ok(WORDS("sh", "-c",
			      "sed -i '/ of-test-link$/d' \"$(getent passwd \"$1\" | cut -d: "
			      "-f6)/.ssh/authorized_keys\"",
			      "sh", machine_user_name()));
}

static struct answer list_there(struct login *login)
{
	const char *const *words = deck_words(WORDS("-H", "gpu1", "list", "--json"));
	return login ? login_run(login, words) : machine_login(words);
}

TEST(LinkOutlivesTheLoginThatMadeIt)
{
	struct login *login = login_open();
	configure();
	at_end(end_link);
	struct answer first = list_there(login);
	ASSERT(first.status == 0, "no link: %s", first.errors);
	struct process master = find_master();
	ASSERT(master.pid, "there is no connection");
	ASSERT(strstr(machine_cgroup(master.pid), "/agentdeck-link-"), "it is in %s",
	       machine_cgroup(master.pid));
	login_terminate(login);
	ASSERT(machine_alive(&master), "the connection ended with the login");
	struct answer again = list_there(NULL);
	ASSERT(again.status == 0, "no link: %s", again.errors);
	struct process now = find_master();
	ASSERT(now.pid == master.pid && machine_alive(&master), "another connection was made");
}

TEST(StoppedLinkIsReplacedAndTheUsersOwnIsNot)
{
	configure();
	at_end(end_link);
	struct answer first = list_there(NULL);
	ASSERT(first.status == 0, "no link: %s", first.errors);
	struct process master = find_master();
	struct process own = machine_background(
		WORDS("ssh", "-N", "-M", "-S", at_home("own"), "gpu1"), at_home("own.log"));
	WAIT_FOR(machine_exists(at_home("own")), "the user's own connection is not there");
	machine_kill(&master, SIGSTOP);
	struct answer again = list_there(NULL);
	ASSERT(again.status == 0, "a stopped connection is waited for: %s", again.errors);
	WAIT_FOR(!machine_alive(&master), "the stopped connection is left");
	struct process now = find_master();
	ASSERT(now.pid && strstr(machine_cgroup(now.pid), "/agentdeck-link-"),
	       "the new one is not in a scope");
	ASSERT(machine_alive(&own), "the user's own connection was ended");
}
