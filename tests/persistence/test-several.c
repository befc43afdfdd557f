/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands on several sessions: each session is on its own.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "this is the marker"

enum { COUNT = 4 };

static void begin(struct session *sessions)
{
	for (int i = 0; i < COUNT; i++) {
		session_add(&sessions[i], NULL, kept("deck-%d", i), WORDS("-g", "work/all"));
		session_start(&sessions[i], NULL);
		session_say(&sessions[i], MARKER);
		(void)session_look(&sessions[i]);
	}
}

static const char *manifest_of(const struct session *session)
{
	return at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id));
}

/* The damaged one fails at once, while the others are being stopped.  The second one is held until
 * they have ended, and then it fails as well. */
TEST(StopAllStopsTheOthersWhenOneFails)
{
	struct session sessions[COUNT], damaged;
	struct process servers[COUNT], agents[COUNT];
	const char *said = at_home("said");
	begin(sessions);
	session_add(&damaged, NULL, "damaged", WORDS("-g", "work/all"));
	machine_write(manifest_of(&damaged), 0600, "{");
	for (int i = 0; i < COUNT; i++) {
		servers[i] = session_server(&sessions[i]);
		agents[i] = session_agent(&sessions[i]);
	}
	const struct process holder = session_occupy(&sessions[1]);
	(void)machine_background(WORDS("sh", "-c", "agentdeck stop --all 2>&1; echo \"status $?\""),
				 said);
	for (int i = 0; i < COUNT; i++)
		if (i != 1)
			WAIT_FOR(!machine_alive(&servers[i]) && !machine_alive(&agents[i]),
				 "deck-%d still runs", i);
	const char *kept_manifest = at_home("manifest");
	machine_user_ok(WORDS("cp", manifest_of(&sessions[1]), kept_manifest));
	machine_write(manifest_of(&sessions[1]), 0600, "{");
	/* First itself: without strace, it would go on, and write. */
	machine_user_ok(
		WORDS("pkill", "-KILL", "-f", kept("^agentdeck session set %s ", sessions[1].id)));
	machine_kill(&holder, SIGKILL);
	WAIT_FOR(strstr(or_empty(machine_read(said)), "status "), "stop --all does not end");
	const char *output = machine_read(said);
	ASSERT(strstr(output, "status 1\n") && strstr(output, "5 sessions: 3 stopped, 2 failed"),
	       "stop --all: %s", output);
	ASSERT(strstr(output, "deck-1: ") && strstr(output, damaged.id),
	       "it does not name them: %s", output);
	ASSERT(machine_alive(&servers[1]) && machine_alive(&agents[1]), "deck-1 was ended");
	machine_user_ok(WORDS("mv", kept_manifest, manifest_of(&sessions[1])));
	struct reply reply = deck(NULL, WORDS("start", "--group", "work"));
	ASSERT(reply.status == 0 && strstr(reply.output, "deck-1: already running"),
	       "start -g: %d %s%s", reply.status, reply.output, reply.errors);
	for (int i = 0; i < COUNT; i++) {
		const char *id = sessions[i].session_id;
		(void)session_look(&sessions[i]);
		if (i != 1)
			assert_came_back(&sessions[i], id, MARKER, 1);
	}
}

/* What was asked for stays so: the supervisor and "recover" bring nothing back. */
TEST(StopAllIsAWishForEach)
{
	struct session sessions[COUNT];
	begin(sessions);
	struct reply reply = deck(NULL, WORDS("stop", "--all", "--json"));
	ASSERT(reply.status == 0, "stop --all: %d %s%s", reply.status, reply.output, reply.errors);
	for (int i = 0; i < COUNT; i++) {
		struct json_object *manifest = session_manifest(&sessions[i]);
		ASSERT(streq(json_get_string(manifest, "desired", ""), "stopped"), "deck-%d: %s", i,
		       json_print(manifest));
	}
	reply = deck(NULL, WORDS("recover", "--json"));
	ASSERT(reply.status == 0 && strstr(reply.output, "\"total\":0"), "recover: %s",
	       reply.output);
}
