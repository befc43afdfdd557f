/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions beside those of another program: agent-deck sets and reads variables of its own, leaves
 * hooks in the agents' settings, and runs agents in the user's tmux.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER   "the ladder is in the shed"
#define THEIR_ID "409a6ace-1795308038"

/* As `agent-deck hook-handler`: without the variable it does nothing. */
#define HOOK_HANDLER                            \
	"#!/bin/sh\n"                           \
	"echo called >>\"$HOME/called\"\n"      \
	"[ -z \"$AGENTDECK_INSTANCE_ID\" ] || " \
	"echo \"$AGENTDECK_INSTANCE_ID $AGENTDECK_PROFILE\" >>\"$HOME/acted\"\n"
/* As claude, it runs the hooks of its user's settings. */
#define HOOKED_CLAUDE                                                                       \
	"#!/bin/sh\n"                                                                       \
	"sed -n 's/.*\"command\": \"\\([^\"]*\\)\".*/\\1/p' ~/.claude/settings.json | sh\n" \
	"env >\"$HOME/environment\"\n"                                                      \
	"export AGENTDECK_DEMO_CONFIG_DIR=\"${CLAUDE_CONFIG_DIR:-$HOME/.claude}\"\n"        \
	"exec agentdeck-demo-agent \"$@\"\n"

TEST(HooksOfAgentDeckDoNothingInOurSessions)
{
	struct session session;
	machine_write(at_home("bin/agent-deck"), 0755, HOOK_HANDLER);
	machine_write(at_home("bin/claude"), 0755, HOOKED_CLAUDE);
	machine_write(at_home(".claude/settings.json"), 0600,
		      "{\"hooks\": {\"SessionStart\": [{\"hooks\": [\n"
		      "{\"type\": \"command\", \"command\": \"agent-deck hook-handler\"}\n"
		      "]}]}}\n");
	/* As in a pane of agent-deck's. */
	machine_set("AGENTDECK_INSTANCE_ID", THEIR_ID);
	machine_set("AGENTDECK_PROFILE", "work");
	machine_user_ok(WORDS("claude", "--version"));
	ASSERT(streq(or_empty(machine_read(at_home("acted"))), THEIR_ID " work\n"),
	       "the hook does not act in a pane of theirs: %s",
	       or_empty(machine_read(at_home("acted"))));
	machine_remove(at_home("acted"));

	session_add(&session, NULL, "ours", WORDS("--agent", "claude"));
	session_start(&session, NULL);
	session_say(&session, MARKER);
	ASSERT(streq(or_empty(machine_read(at_home("called"))), "called\ncalled\n"),
	       "the hook did not run: %s", or_empty(machine_read(at_home("called"))));
	ASSERT(!machine_exists(at_home("acted")), "it acts in a session of ours: %s",
	       or_empty(machine_read(at_home("acted"))));
	const char *environment = or_empty(machine_read(at_home("environment")));
	ASSERT(strstr(environment, kept("AGENTDECK_INSTANCE=%s\n", session.id)) &&
		       strstr(environment, "AGENTDECK_INSTANCE_PROFILE=default\n"),
	       "the session does not know its name:\n%s", environment);
	const char *const id = session.session_id;
	session_restart(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}
