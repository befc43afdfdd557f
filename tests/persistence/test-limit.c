/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * After a usage limit an agent is told to continue: once, and never over something of its user's.
 * That real agents announce one is in real_checks/limit.py.
 */
#include "persistence/attach.h"
#include "persistence/steps.h"

#include <string.h>

static void allow(const char *on_limit)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      kept("[session]\non_limit = \"%s\"\n", on_limit));
}

/* Its last turn has ended with a limit that is over since then. */
static void limit_until(const struct session *session, const char *date)
{
	machine_write(kept("/run/user/%u/agentdeck/%s/activity.json", machine_uid(), session->id),
		      0600,
		      kept("{\"activity\": \"idle\", \"since\": \"2026-11-27T10:00:00.000Z\", "
			   "\"failure\": \"usage_limit\", \"limited_until\": \"%s\"}",
			   date));
}

/* A later turn has met it: what was written of the last time is kept. */
static void limit_again(const struct session *session, const char *date)
{
	const char *path = kept("/run/user/%u/agentdeck/%s/activity.json", machine_uid(),
				session->id);
	const char *after = strstr(machine_read(path), "\"continued_after\"");
	ASSERT(after, "nothing says that it was told: %s", machine_read(path));
	const size_t length = strcspn(after, ",}");
	machine_write(path, 0600,
		      kept("{\"activity\": \"idle\", \"since\": \"2026-11-27T10:00:00.000Z\", "
			   "\"failure\": \"usage_limit\", \"limited_until\": \"%s\", %.*s}",
			   date, (int)length, after));
}

static size_t times_told(const struct session *session)
{
	size_t count = 0;
	const char *screen = or_empty(session_screen(session));
	for (const char *at = screen; (at = strstr(at, "You said: \"continue\"")); at++)
		count++;
	return count;
}

TEST(LimitedSessionContinuesOnce)
{
	struct session session;
	allow("wait");
	session_make_running(&session);
	session_say(&session, "the first words");
	limit_until(&session, "2026-11-27T11:00:00.000Z");
	struct reply list = deck_look(WORDS("list"));
	ASSERT(strstr(list.output, "usage limit, over since"), "the list does not say so: %s",
	       list.output);
	assert_due(&session, "nothing", "it is to wait");
	allow("continue");
	limit_until(&session, "2096-11-27T11:00:00.000Z");
	assert_due(&session, "nothing", "its limit is not over");
	limit_until(&session, "2026-11-27T11:00:00.000Z");
	session_type(&session, "half a");
	assert_due(&session, "later", "a draft is in its box");
	session_press(&session, "C-u");
	WAIT_FOR(streq(session_say_due(&session), "said"), "it is not told: %s\n%s",
		 or_empty(session_screen(&session)), or_empty(deck_log()));
	WAIT_FOR(session_shows(&session, "I remember 2 of"), "it has not heard it:\n%s",
		 or_empty(session_screen(&session)));
	assert_due(&session, "nothing", "it was told");
	limit_again(&session, "2026-11-27T11:10:00.000Z");
	assert_due(&session, "nothing", "it has met the same limit once more");
	ASSERT(times_told(&session) == 1, "it was told more than once");
}
