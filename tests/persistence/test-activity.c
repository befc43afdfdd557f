/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The activity of agents, and the commands that wait for a change of it.
 */
#include "persistence/attach.h"
#include "persistence/steps.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* An agent without reports: only its screen shows its activity. */
static void install_finch(void)
{
	machine_write(at_home("bin/finch"), 0755,
		      "#!/bin/sh\n"
		      "show() { printf '\\033[2J\\033[H%s\\n' \"$1\"; }\n"
		      "show '> '\n"
		      "while read -r line; do\n"
		      "	case $line in\n"
		      "	work) show 'working hard' ;;\n"
		      "	ask) show 'may I? (y/n)' ;;\n"
		      "	odd) show 'nobody knows' ;;\n"
		      "	*) show '> ' ;;\n"
		      "	esac\n"
		      "done\n");
	machine_write(at_home(".config/agentdeck/agents/finch.toml"), 0644,
		      "command = [\"finch\"]\n"
		      "[screen]\nready = ['^> ']\nbusy = ['^working']\nwaiting = ['^may I']\n");
}

static void tell_finch(const struct session *session, const char *word)
{
	for (const char *c = word; *c; c++)
		session_press(session, kept("%c", *c));
	session_press(session, "Enter");
}

static bool does(struct session *session, const char *activity)
{
	return streq(json_get_string(session_look(session), "activity", ""), activity);
}

static const char *since(struct session *session)
{
	return json_get_string(session_look(session), "since_at", "");
}

#define WAIT_UNTIL_IT_IS(session, activity)                                         \
	WAIT_FOR(does(session, activity), "it is %s, not %s:\n%s",                  \
		 json_get_string(session_look(session), "activity", "?"), activity, \
		 or_empty(session_screen(session)))

static int64_t count_of(const char *what)
{
	struct json_object *status = deck_ok(NULL, WORDS("status", "--json"));
	return json_get_int(json_get_object(status, "counts"), what, -1);
}

/* ---- waiting for a session ------------------------------------------------------------------ */

/* `agentdeck status --wait` beside the test; at its end we get its exit status. */
struct waiter {
	struct process process;
	const char *output;
};

static bool somebody_follows(void)
{
	return streq(
		machine_user(WORDS("sh", "-c",
				   "for p in $(pgrep -x agentdeck); do ls -l /proc/$p/fd; done "
				   "2>/dev/null | grep -q inotify && echo yes"))
			.output,
		"yes\n");
}

static struct waiter start_waiting(const char *words, const char *target)
{
	struct waiter waiter = { .output = at_home(kept("%s.out", words)) };
	waiter.process = machine_background(
		WORDS("sh", "-c", "agentdeck status --wait \"$1\" \"$2\"; echo \"status $?\"", "sh",
		      words, target),
		waiter.output);
	WAIT_FOR(somebody_follows(), "it does not wait: %s", or_empty(machine_read(waiter.output)));
	return waiter;
}

static void assert_told(const struct waiter *waiter, const struct session *session,
			const char *word)
{
	WAIT_FOR(!machine_alive(&waiter->process), "it still waits; status says: %s",
		 deck_look(WORDS("status")).output);
	const char *output = or_empty(machine_read(waiter->output));
	ASSERT(starts_with(output, kept("%s (%s): %s since ", session->title, session->id, word)) &&
		       ends_with(output, "\nstatus 0\n"),
	       "it says: %s", output);
}

TEST(StatusWaitReturnsWhenAnAgentWaits)
{
	struct session reporter, finch;
	machine_set("AGENTDECK_DEMO_IDLE_MS", "100");
	install_finch();
	session_add(&reporter, NULL, "reporter", WORDS("--agent", "demo"));
	session_start(&reporter, NULL);
	/* It asks for its user when it had nothing to do for a while after a turn. */
	struct waiter waiter = start_waiting("waiting", reporter.id);
	session_say(&reporter, "hello");
	assert_told(&waiter, &reporter, "waiting");
	struct reply already = deck(NULL, WORDS("status", "--wait", "error,waiting", "--json"));
	ASSERT(already.status == 0 && already.json && json_object_array_length(already.json) == 1 &&
		       streq(json_get_string(json_object_array_get_idx(already.json, 0), "id", ""),
			     reporter.id),
	       "status %d: %s%s", already.status, already.output, already.errors);

	session_add(&finch, NULL, "finch", WORDS("--agent", "finch"));
	session_start(&finch, NULL);
	struct reply none = deck(NULL,
				 WORDS("status", "--wait", "waiting", "--timeout", "1", finch.id));
	ASSERT(none.status == 1 && strstr(none.errors, "waiting") && !*none.output,
	       "status %d: %s%s", none.status, none.output, none.errors);
	waiter = start_waiting("waiting,error", finch.id);
	tell_finch(&finch, "ask");
	assert_told(&waiter, &finch, "waiting");
}

/* It makes no reports: whoever looks at its screen tells the others. */
TEST(StatusLineFollowsALookAtAScreen)
{
	struct session mine, finch;
	session_add(&mine, NULL, "mine", WORDS("--agent", "demo"));
	session_start(&mine, NULL);
	const char *keys = attach_open(mine.id, "keys");
	WAIT_FOR(session_look(&mine) && mine.socket && attach_count(&mine) == 1,
		 "it is not attached:\n%s", attach_output(keys));
	install_finch();
	session_add(&finch, NULL, "finch", WORDS("--agent", "finch"));
	session_start(&finch, NULL);
	tell_finch(&finch, "ask");
	struct reply reply = deck(NULL, WORDS("status", "--wait", "waiting", finch.id));
	ASSERT(reply.status == 0, "status %d: %s", reply.status, reply.errors);
	WAIT_FOR(strstr(attach_output(keys), "1 other waits"), "nothing tells:\n%s",
		 attach_output(keys));
}

TEST(StatusWaitNoticesADeath)
{
	struct session session, other;
	/* The agent outlives its server, and does not report. */
	machine_set("AGENTDECK_DEMO_IGNORE_SIGNALS", "1");
	machine_write(at_home(".config/agentdeck/config.toml"), 0600, "[stop]\ntimeout = 1\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_add(&other, NULL, "other", WORDS("--agent", "demo"));
	session_start(&other, NULL);
	struct waiter waiter = start_waiting("error", session.id);
	session_kill_server(&other);
	(void)session_look(&other);
	ASSERT(streq(other.status, "error"), "the other one is %s", other.status);
	ASSERT(machine_alive(&waiter.process), "it was told of another session: %s",
	       or_empty(machine_read(waiter.output)));
	/* No process writes a file. */
	struct process server = session_server(&session), agent = session_agent(&session);
	machine_destroy(&server);
	assert_told(&waiter, &session, "error");
	ASSERT(machine_alive(&agent), "the agent has ended, and may have reported");
	/* When an agent ends by itself, its pane records it. */
	session_start(&session, NULL);
	waiter = start_waiting("stopped", session.id);
	session_type(&session, "/exit");
	session_press(&session, "Enter");
	assert_told(&waiter, &session, "stopped");
}

/* ---- events --------------------------------------------------------------------------------- */

struct told {
	struct strvec *lines;          /* "title status activity", without the snapshot */
	size_t snapshots, completions; /* how many lines are of it, and end it */
};

static struct told read_events(const char *path)
{
	struct told told = { .lines = kept_vector() };
	const char *text = or_empty(machine_read(path));
	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		struct json_object *object = NULL;
		ASSERT(json_parse(text, (size_t)(end - text), "an event", &object, NULL) == 0,
		       "this is no JSON: %s", text);
		keep_json(object);
		const char *event = json_get_string(object, "event", "");
		if (streq(event, "snapshot_complete"))
			told.completions++;
		else if (streq(event, "snapshot"))
			told.snapshots++;
		if (starts_with(event, "snapshot")) {
			ASSERT(!told.lines->count, "the snapshot goes on: %s", text);
			continue;
		}
		strvec_pushf(told.lines, "%s %s %s", json_get_string(object, "title", ""),
			     json_get_string(object, "status", ""),
			     json_get_string(object, "activity", "-"));
	}
	return told;
}

static size_t count_events(const char *path, const char *line)
{
	const struct told told = read_events(path);
	size_t count = 0;
	for (size_t i = 0; i < told.lines->count; i++)
		count += streq(told.lines->items[i], line);
	return count;
}

#define WAIT_FOR_EVENT(path, line, times)                                                      \
	WAIT_FOR(count_events(path, line) == (times), "\"%s\" is told %zu times, not %d:\n%s", \
		 line, count_events(path, line), times, or_empty(machine_read(path)))

static void set_title(const struct session *session, const char *title)
{
	struct reply reply = deck(NULL, WORDS("rename", session->id, title));
	ASSERT(reply.status == 0, "rename: %s", reply.errors);
}

static void assert_no_repetition(const char *path)
{
	const struct told told = read_events(path);
	for (size_t i = 1; i < told.lines->count; i++)
		ASSERT(!streq(told.lines->items[i], told.lines->items[i - 1]),
		       "\"%s\" is told twice:\n%s", told.lines->items[i], machine_read(path));
}

TEST(EventsTellEachChangeOnce)
{
	struct session session;
	const char *path = at_home("events");
	machine_set("AGENTDECK_DEMO_DELAY_MS", "1000");
	session_add(&session, NULL, "before", WORDS("--agent", "demo"));
	(void)machine_background(WORDS("agentdeck", "events", "--json"), path);
	WAIT_FOR(somebody_follows(), "nobody follows");
	set_title(&session, "deck");
	WAIT_FOR_EVENT(path, "deck stopped -", 1);
	ASSERT(read_events(path).lines->count == 1, "there is history:\n%s", machine_read(path));
	ASSERT(read_events(path).snapshots == 1 && read_events(path).completions == 1,
	       "this is no snapshot:\n%s", machine_read(path));

	session_start(&session, NULL);
	WAIT_FOR_EVENT(path, "deck running idle", 1);
	session_say(&session, "hello");
	WAIT_FOR_EVENT(path, "deck running busy", 1);
	WAIT_FOR_EVENT(path, "deck running idle", 2);
	struct process server = session_server(&session);
	machine_destroy(&server);
	WAIT_FOR_EVENT(path, "deck error -", 1);
	/* A listing records it, which is no event. */
	(void)session_look(&session);
	session_start(&session, NULL);
	WAIT_FOR_EVENT(path, "deck running idle", 3);
	session_stop(&session, NULL);
	WAIT_FOR_EVENT(path, "deck stopped -", 2);
	ASSERT(deck(NULL, WORDS("remove", "--force", session.id)).status == 0, "remove fails");
	WAIT_FOR_EVENT(path, "deck removed -", 1);
	assert_no_repetition(path);
	ASSERT(count_events(path, "deck error -") == 1 &&
		       count_events(path, "deck stopped -") == 2 &&
		       count_events(path, "deck running busy") == 1,
	       "something is told twice:\n%s", machine_read(path));
}

/* ---- screens -------------------------------------------------------------------------------- */

TEST(ActivityFromThePaneOfAnAgentWithoutReports)
{
	struct session session;
	install_finch();
	session_add(&session, NULL, "finch", WORDS("--agent", "finch"));
	session_start(&session, NULL);
	WAIT_UNTIL_IT_IS(&session, "idle");
	tell_finch(&session, "work");
	WAIT_UNTIL_IT_IS(&session, "busy");
	const char *begin = since(&session);
	ASSERT(*begin && streq(since(&session), begin), "it is busy since %s, and since %s", begin,
	       since(&session));
	ASSERT(count_of("busy") == 1 && count_of("idle") == 0, "status counts otherwise");
	struct json_object *list = deck_look_ok(WORDS("list", "--json"));
	ASSERT(streq(json_get_string(json_object_array_get_idx(list, 0), "activity", ""), "busy"),
	       "list: %s", json_print(list));
	tell_finch(&session, "ask");
	WAIT_UNTIL_IT_IS(&session, "waiting");
	ASSERT(!streq(since(&session), begin), "it waits since it was busy");
	/* No pattern matches, so there is no guess. */
	tell_finch(&session, "odd");
	WAIT_UNTIL_IT_IS(&session, "unknown");
	ASSERT(count_of("activity_unknown") == 1, "status counts otherwise");
	tell_finch(&session, "on");
	WAIT_FOR(count_of("idle") == 1, "status does not look at the screen");
}

static struct process start_supervisor(void)
{
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(strstr(machine_user(WORDS("agentdeck", "supervise", "--status", "--json")).output,
			"\"running\": true"),
		 "no supervisor runs");
	return supervisor;
}

/* No command looks at a screen here: what agents print is read where they print it. */
TEST(WhatAgentsPrintIsFollowed)
{
	struct session demo, finch;
	const char *path = at_home("events"), *told = at_home("told");
	machine_set("AGENTDECK_DEMO_DELAY_MS", "600000");
	machine_write(at_home(".config/agentdeck/config.toml"), 0600,
		      kept("[notify]\ncommand = [\"/bin/sh\", \"-c\", \"cat >>%s\"]\n", told));
	install_finch();
	session_add(&demo, NULL, "demo", WORDS("--agent", "demo"));
	session_add(&finch, NULL, "finch", WORDS("--agent", "finch"));
	session_start(&demo, NULL);
	session_start(&finch, NULL);
	(void)start_supervisor();
	(void)machine_background(WORDS("agentdeck", "events", "--json"), path);
	WAIT_FOR(read_events(path).completions == 1, "nobody follows");
	tell_finch(&finch, "ask");
	WAIT_FOR_EVENT(path, "finch running waiting", 1);
	WAIT_FOR(strstr(or_empty(machine_read(told)), "\"occasion\":\"waiting\""),
		 "no notification: %s", or_empty(deck_log()));
	tell_finch(&finch, "work");
	WAIT_FOR_EVENT(path, "finch running busy", 1);
	struct json_object *list = deck_look_ok(WORDS("list", "--json"));
	for (size_t i = 0; i < json_object_array_length(list); i++)
		ASSERT(!json_get_bool(json_object_array_get_idx(list, i), "activity_is_old", true),
		       "list: %s", json_print(list));
	/* Agents do not report that their user has interrupted them. */
	session_type(&demo, "hello");
	session_press(&demo, "Enter");
	WAIT_FOR_EVENT(path, "demo running busy", 1);
	session_press(&demo, "Escape");
	WAIT_FOR_EVENT(path, "demo running idle", 1);
}

/* The number behind the word. */
static unsigned long number_behind(const char *text, const char *word)
{
	const char *found = strstr(or_empty(text), word);
	return found ? strtoul(found + strlen(word), NULL, 10) : 0;
}

static unsigned long wake_ups(const struct process *process)
{
	return number_behind(machine_read(kept("/proc/%d/status", (int)process->pid)),
			     "\nvoluntary_ctxt_switches:");
}

/* It draws as fast as its terminal takes it, and a look is due only every 2 s. */
TEST(SpinnerSeldomWakesTheSupervisor)
{
	enum { FRAMES = 20000, FRAMES_OF_A_WAKE_UP = 100 };
	struct session session;
	machine_write(at_home("bin/wren"), 0755,
		      "#!/bin/sh\nn=0\n"
		      "while :; do n=$((n + 1)); printf '\\033[Hworking %d\\033[K\\n' $n; done\n");
	machine_write(at_home(".config/agentdeck/agents/wren.toml"), 0644,
		      "command = [\"wren\"]\n[screen]\nready = ['^> ']\nbusy = ['^working']\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "wren"));
	session_start(&session, NULL);
	struct process supervisor = start_supervisor();
	WAIT_UNTIL_IT_IS(&session, "busy");
	const unsigned long begin = number_behind(session_screen(&session), "working ");
	const unsigned long before = wake_ups(&supervisor);
	unsigned long frames = 0;
	WAIT_FOR((frames = number_behind(session_screen(&session), "working ")) > begin + FRAMES,
		 "it draws no more: %lu, then %lu", begin, frames);
	const unsigned long wakes = wake_ups(&supervisor) - before;
	ASSERT(before && wakes <= (frames - begin) / FRAMES_OF_A_WAKE_UP,
	       "%lu wake-ups for %lu frames", wakes, frames - begin);
}

/* claude sleeps at Ctrl-Z until it gets SIGCONT, and no shell is there to send it. */
TEST(SuspendedAgentIsNamedAndContinued)
{
	struct session session;
	machine_write(at_home("bin/owl"), 0755,
		      "#!/bin/sh\n"
		      "show() { printf '\\033[2J\\033[H%s\\n' \"$1\"; }\n"
		      "trap 'show \"> \"' CONT\n"
		      "show '> '\n"
		      "while :; do read -r line && case $line in\n"
		      "	'') show 'owl is suspended' ;;\n"
		      "	*) show \"> heard $line\" ;;\n"
		      "	esac; done\n");
	machine_write(at_home(".config/agentdeck/agents/owl.toml"), 0644,
		      "command = [\"owl\"]\n"
		      "[screen]\nready = ['^> ']\nsuspended = ['^owl is suspended']\n");
	session_add(&session, NULL, "deck", WORDS("--agent", "owl"));
	session_start(&session, NULL);
	WAIT_UNTIL_IT_IS(&session, "idle");
	session_press(&session, "Enter");
	WAIT_UNTIL_IT_IS(&session, "waiting");
	ASSERT(strstr(deck_look(WORDS("list")).output, "running, suspended (Ctrl-Z)"), "list: %s",
	       deck_look(WORDS("list")).output);
	(void)attach_open(session.id, "keys");
	WAIT_UNTIL_IT_IS(&session, "idle");
	ASSERT(!strstr(deck_look(WORDS("list")).output, "suspended"), "list: %s",
	       deck_look(WORDS("list")).output);
	session_press(&session, "Enter");
	WAIT_UNTIL_IT_IS(&session, "waiting");
	(void)deck_look(WORDS("send", session.id, "good evening"));
	WAIT_FOR(session_shows(&session, "> heard good evening"), "a message does not arrive:\n%s",
		 or_empty(session_screen(&session)));
}

/* Start the command, whose reader leaves at once.  It must end although it has nothing to write. */
static void assert_ends_unread(const char *command)
{
	const char *status = at_home("status");
	const char *script = kept("{ timeout 20 agentdeck %s; echo $? >%s; } | true; cat %s",
				  command, status, status);
	struct answer answer = machine_user(WORDS("sh", "-c", script));
	ASSERT(!streq(answer.output, "124\n"), "agentdeck %s goes on without its reader", command);
	ASSERT(*answer.output, "agentdeck %s: %s", command, answer.errors);
}

TEST(WaitingEndsWithItsReader)
{
	struct session session;
	/* Its start enables lingering, so that the user bus stays. */
	session_make_running(&session);
	session_stop(&session, NULL);
	assert_ends_unread("events");
	assert_ends_unread("status --wait busy");
	assert_ends_unread("logs --follow --instance 00000000");
	assert_ends_unread("top --json --interval 60");
	/* The same while a supervisor is on the bus. */
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(strstr(machine_user(WORDS("agentdeck", "supervise", "--status", "--json")).output,
			"\"on_bus\": true"),
		 "the supervisor is not on the bus");
	assert_ends_unread("events");
	machine_kill(&supervisor, SIGTERM);
	WAIT_FOR(!machine_alive(&supervisor), "the supervisor does not end");
}
