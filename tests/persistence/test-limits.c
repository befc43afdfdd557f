/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Limits reach the slice, also of a running session.  That the kernel enforces them is tested where
 * it has a memory controller: tests/persistence/vm.
 */
#include "persistence/deck.h"

#include <string.h>

static void configure(const char *text)
{
	machine_write(at_home(".config/agentdeck/config.toml"), 0644, text);
}

/* A property of a unit, from the user's manager. */
static const char *unit_property(const char *unit, const char *name)
{
	struct answer answer = machine_user(
		WORDS("env", kept("XDG_RUNTIME_DIR=/run/user/%u", machine_uid()), "systemctl",
		      "--user", "show", "-P", name, unit));
	ASSERT(answer.status == 0, "systemctl show: %s", answer.errors);
	return kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
}

static const char *property(const struct session *session, const char *name)
{
	return unit_property(kept("agentdeck-%s.slice", session->id), name);
}

static void assert_property(const struct session *session, const char *name, const char *value)
{
	const char *found = property(session, name);
	ASSERT(streq(found, value), "%s of the slice is %s, not %s", name, found, value);
}

/* Without it the limit of the slice holds. */
static const char *own_limit_of_scope(const struct session *session)
{
	return unit_property(kept("agentdeck-tmux-%s.scope", session->id), "TasksMax");
}

/* The kernel's value, where this machine has such a controller. */
static void assert_in_kernel(const struct session *session, const char *file, const char *value)
{
	const char *path = kept("/sys/fs/cgroup%s/../%s", machine_cgroup(session->server_pid),
				file);
	const char *text = machine_exists(path) ? machine_read(path) : NULL;
	ASSERT(!text || streq(text, kept("%s\n", value)), "%s is %s", path, text);
}

/* "session limit" with these words; effect: NULL when nothing must change. */
static struct json_object *limit(const struct session *session, const char *const *words,
				 const char *effect)
{
	struct strvec *all = kept_vector();
	strvec_push_array(all, WORDS("session", "limit", session->id, "--json"));
	strvec_push_array(all, words);
	struct json_object *object = deck_ok(NULL, (const char *const *)all->items);
	const char *found = json_get_string(object, "effect", NULL);
	ASSERT(effect ? found && streq(found, effect) : !found, "the effect is %s",
	       or_empty(found));
	return json_get_object(object, "limits");
}

TEST(LimitIsChangedInTheRunningScope)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	struct process server = session_server(&session), agent = session_agent(&session);
	const char *usual = own_limit_of_scope(&session);
	ASSERT(!streq(usual, "infinity"), "the manager has no limit for scopes");
	(void)limit(&session,
		    WORDS("--tasks-max", "321", "--cpu-weight", "50", "--memory-max", "1G"), "now");
	assert_property(&session, "TasksMax", "321");
	assert_property(&session, "CPUWeight", "50");
	assert_property(&session, "MemoryMax", "1073741824");
	assert_in_kernel(&session, "pids.max", "321");
	assert_in_kernel(&session, "cpu.weight", "50");
	ASSERT(streq(own_limit_of_scope(&session), "infinity"), "the scope has a lower limit");
	(void)limit(&session, WORDS("--memory-max", "infinity", "--tasks-max", "infinity"), "now");
	assert_property(&session, "MemoryMax", "infinity");
	assert_property(&session, "TasksMax", "infinity");
	assert_property(&session, "CPUWeight", "50");
	(void)limit(&session, WORDS("--reset"), "now");
	assert_property(&session, "TasksMax", "infinity");
	assert_property(&session, "CPUWeight", "[not set]");
	ASSERT(streq(own_limit_of_scope(&session), usual), "the scope has %s, not %s",
	       own_limit_of_scope(&session), usual);
	ASSERT(machine_alive(&server) && machine_alive(&agent), "the session was disturbed");
}

/* An agent whose tmux moves its panes into scopes of their own, as on Debian 13. */
TEST(LimitsHoldForWhatLeftTheScope)
{
	struct session session;
	machine_write(
		at_home("agent.sh"), 0755,
		"systemd-run --user --scope --quiet --slice=agentdeck-$AGENTDECK_INSTANCE.slice "
		"sh -c 'for i in 1 2 3 4 5 6; do sleep 7777 & done; wait' &\n"
		"exec sleep 8888\n");
	session_add(&session, NULL, "deck",
		    WORDS("-c", kept("sh %s", at_home("agent.sh")), "--tasks-max", "654"));
	session_start(&session, NULL);
	session_server(&session);
	assert_property(&session, "TasksMax", "654");
	assert_in_kernel(&session, "pids.max", "654");
	ASSERT(streq(own_limit_of_scope(&session), "infinity"), "the scope has a lower limit");
	struct json_object *line = NULL;
	WAIT_FOR((line = deck_ok(NULL, WORDS("top", "--json"))) &&
			 json_get_int(line, "tasks", 0) >= 8,
		 "top does not count them: %s", json_print(line));
	const char *group = json_get_string(
		json_get_object(deck_ok(NULL, WORDS("session", "show", session.id, "--json")),
				"scope"),
		"cgroup", "");
	ASSERT(ends_with(group, kept("/agentdeck-%s.slice", session.id)), "show: %s", group);
}

TEST(LimitsOfTheGroupHoldUnlessTheSessionSaysMore)
{
	struct session session;
	configure("[limits]\ntasks_max = 900\ncpu_weight = 10\n"
		  "[groups.work.limits]\ntasks_max = 800\ncpu_weight = 20\n"
		  "[groups.'work/api'.limits]\ntasks_max = 700\n");
	session_add(&session, NULL, "deck",
		    WORDS("--agent", "demo", "-g", "work/api/v2", "--memory-max", "2G"));
	session_start(&session, NULL);
	assert_property(&session, "TasksMax", "700");
	assert_property(&session, "CPUWeight", "20");
	assert_property(&session, "MemoryMax", "2147483648");
	struct json_object *limits = limit(&session, WORDS(NULL), NULL);
	struct json_object *tasks = json_get_object(limits, "tasks_max");
	ASSERT(json_get_int(tasks, "value", 0) == 700 &&
		       streq(json_get_string(tasks, "group", ""), "work/api"),
	       "tasks_max: %s", json_print(tasks));
	(void)limit(&session, WORDS("--tasks-max", "infinity"), "now");
	assert_property(&session, "TasksMax", "infinity");
	session_restart(&session, NULL);
	assert_property(&session, "TasksMax", "infinity");
	assert_property(&session, "CPUWeight", "20");
}

/* A change in a running scope must not return in the next scope of that name. */
TEST(LimitsOfALifeEndWithIt)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	(void)limit(&session, WORDS("--tasks-max", "321", "--cpu-weight", "50"), "now");
	session_stop(&session, NULL);
	session_start(&session, NULL);
	assert_property(&session, "TasksMax", "321");
	session_stop(&session, NULL);
	(void)limit(&session, WORDS("--reset", "--tasks-max", "432"), "next_start");
	session_start(&session, NULL);
	assert_property(&session, "TasksMax", "432");
	assert_property(&session, "CPUWeight", "[not set]");
}

static void assert_says_gap(const char *who, const struct reply *reply)
{
	ASSERT(strstr(reply->errors, "tasks_max does nothing on this machine") ||
		       strstr(reply->output, "tasks_max does nothing on this machine"),
	       "%s does not say it: %s%s", who, reply->output, reply->errors);
}

/* The manager takes such a limit, and the kernel does not know of it. */
TEST(LimitThatNobodyEnforcesIsNamed)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	if (strstr(machine_read(kept("/sys/fs/cgroup%s/cgroup.controllers",
				     machine_cgroup(session_server(&session).pid))),
		   "pids"))
		skip_test("this machine enforces it");
	struct reply reply = deck(NULL, WORDS("session", "limit", "deck", "--tasks-max", "8"));
	assert_says_gap("limit", &reply);
	ASSERT(strstr(reply.output, "enforces none of them") && !strstr(reply.output, "hold now"),
	       "it says: %s", reply.output);
	struct json_object *tasks = json_get_object(limit(&session, WORDS(NULL), NULL),
						    "tasks_max");
	ASSERT(strstr(json_get_string(tasks, "unenforced", ""), "controller pids"), "in JSON: %s",
	       json_print(tasks));
	reply = deck(NULL, WORDS("session", "restart", "deck"));
	assert_says_gap("restart", &reply);
	reply = deck(NULL, WORDS("session", "stop", "deck"));
	reply = deck(NULL, WORDS("session", "start", "deck"));
	assert_says_gap("start", &reply);
	(void)deck_ok(NULL, WORDS("session", "limit", "deck", "--reset", "--json"));
	configure("[groups.work.limits]\ntasks_max = 900\n");
	reply = deck(NULL, WORDS("session", "set", "deck", "group", "work"));
	assert_says_gap("set group", &reply);
	machine_make_directory(at_home("other"));
	reply = deck(NULL, WORDS("launch", at_home("other"), "--agent", "demo", "-g", "work"));
	assert_says_gap("launch", &reply);
	reply = deck(NULL, WORDS("config", "check"));
	assert_says_gap("config check", &reply);
	reply = deck(NULL, WORDS("doctor"));
	assert_says_gap("doctor", &reply);
}

TEST(TopShowsWhatRuns)
{
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	ASSERT(is_empty(deck(NULL, WORDS("top", "--json")).output), "what does not run is shown");
	session_start(&session, NULL);
	session_say(&session, "work hard");
	struct json_object *line = deck_ok(NULL, WORDS("top", "--json"));
	ASSERT(streq(json_get_string(line, "id", ""), session.id) &&
		       json_get_bool(line, "in_scope", false) &&
		       json_get_int(line, "memory_bytes", 0) > 0 &&
		       json_get_int(line, "tasks", 0) >= 2 && json_get_int(line, "cpu_ms", 0) > 0,
	       "top: %s", line ? json_print(line) : "nothing");
	struct reply table = deck(NULL, WORDS("top"));
	ASSERT(table.status == 0 && strstr(table.output, session.id), "top: %s", table.output);
}
