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

/* The damaged one fails at once, while the others are being stopped.  What holds the lock of the
 * second one outlasts the command. */
TEST(StopAllStopsTheOthersWhenOneFails)
{
	struct session sessions[COUNT], damaged;
	struct process servers[COUNT], agents[COUNT];
	begin(sessions);
	session_add(&damaged, NULL, "damaged", WORDS("-g", "work/all"));
	machine_write(at_home(kept(".local/state/agentdeck/default/%s/instance.json", damaged.id)),
		      0600, "{");
	for (int i = 0; i < COUNT; i++) {
		servers[i] = session_server(&sessions[i]);
		agents[i] = session_agent(&sessions[i]);
	}
	const struct process holder = session_occupy(&sessions[1]);
	struct reply reply = deck(NULL, WORDS("stop", "--all"));
	ASSERT(reply.status == 1, "stop --all: %d %s%s", reply.status, reply.output, reply.errors);
	ASSERT(strstr(reply.output, "5 sessions: 3 stopped, 2 failed"), "it says: %s",
	       reply.output);
	ASSERT(strstr(reply.errors, "deck-1: ") && strstr(reply.errors, damaged.id),
	       "it does not name them: %s", reply.errors);
	for (int i = 0; i < COUNT; i++) {
		const bool failed = i == 1;
		ASSERT(machine_alive(&servers[i]) == failed && machine_alive(&agents[i]) == failed,
		       "deck-%d %s", i, failed ? "was ended" : "still runs");
	}
	machine_kill(&holder, SIGKILL);
	reply = deck(NULL, WORDS("start", "--group", "work"));
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
