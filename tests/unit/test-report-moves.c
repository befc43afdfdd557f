/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which reports may move a session to another conversation, where the id alone does not decide.
 */
#include "unit/report-fixture.h"

#include "driver/transcript/transcript.h"
#include "engine/conversation/unreported.h"
#include "model/plan/resume.h"

#include <sys/stat.h>

#define EVENT(event, id, more) \
	"{\"hook_event_name\":\"" event "\",\"session_id\":\"" id "\"" more "}"
#define START(id, source) \
	EVENT("SessionStart", id, ",\"source\":\"" source "\",\"transcript_path\":\"/t/" id "\"")
#define PROMPT(id) EVENT("UserPromptSubmit", id, ",\"transcript_path\":\"/t/" id "\"")

/* Processes that send: the session's agent, and others below it. */
enum { PANE = 100, BELOW_PANE, NESTED, ELSEWHERE, TMUX = 1 };

static struct sender sender_of(const struct desk *desk, const pid_t *pids)
{
	struct sender sender = { .token = desk->token };
	for (; *pids; pids++)
		sender.processes[sender.count++] = (struct process_id){ .pid = *pids, .start = 7 };
	return sender;
}

static int take_from(struct desk *desk, const pid_t *pids, const char *text)
{
	cleanup_error struct error err = { 0 };
	const struct sender sender = sender_of(desk, pids);
	int r = report_text(&desk->deck, ID, &sender, text, strlen(text), &err);
	if (r < 0)
		fail_msg("%s: %s", text, or_empty(err.message));
	return r;
}
#define FROM(...) ((const pid_t[]){ __VA_ARGS__, 0 })
#define UNKNOWN   ((const pid_t[]){ 0 })

static void take(struct desk *desk, const char *text)
{
	assert_int_equal(take_from(desk, UNKNOWN, text), 0);
}

static void expect_id(struct desk *desk, const char *id, bool turn)
{
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_string_equal(or_empty(instance->conversation.session_id), or_empty(id));
	assert_int_equal(instance->conversation.first_turn_seen, turn);
}

/* A copy of OLD is being made under the id NEW, or under one that the agent will report. */
static void start_fork(struct desk *desk, const char *id)
{
	const struct attempt attempts[] = {
		{ .rung = RUNG_RESUME,
		  .reason = REASON_FORKED,
		  .session_id = (char *)(uintptr_t)id },
	};
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	desk_run(desk, agent, id, attempts, ARRAY_SIZE(attempts));
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = desk_load(desk);
	replace_string(&instance->conversation.forked_from, OLD);
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

/* claude 2.1.197. */
static void a_fork_that_starts_under_its_parents_id_is_no_move(void **state)
{
	struct desk *desk = *state;
	start_fork(desk, NEW);
	take(desk, START(OLD, "resume"));
	expect_id(desk, NEW, false);
	cleanup_instance struct instance *started = desk_load(desk);
	assert_true(started->run.reported);
	assert_null(started->conversation.transcript_path);
	/* The turns of the parent, or of an agent inside, are not the copy's. */
	take(desk, PROMPT(OLD));
	expect_id(desk, NEW, false);
	take(desk, PROMPT(NEW));
	expect_id(desk, NEW, true);
	cleanup_instance struct instance *now = desk_load(desk);
	assert_string_equal(now->conversation.transcript_path, "/t/" NEW);
	assert_int_equal(now->conversation.previous.count, 0);
}

/* claude 2.1.330. */
static void a_fork_that_starts_under_its_own_id_keeps_it(void **state)
{
	struct desk *desk = *state;
	start_fork(desk, NEW);
	take(desk, START(NEW, "fork"));
	expect_id(desk, NEW, false);
	take(desk, PROMPT(NEW));
	expect_id(desk, NEW, true);
}

static void a_fork_whose_id_the_agent_makes_does_not_take_its_parents(void **state)
{
	struct desk *desk = *state;
	start_fork(desk, NULL);
	take(desk, START(OLD, "resume"));
	expect_id(desk, NULL, false);
	take(desk, START(NEW, "startup"));
	expect_id(desk, NEW, false);
}

static void the_user_of_a_fork_may_go_elsewhere(void **state)
{
	struct desk *desk = *state;
	start_fork(desk, NEW);
	take(desk, START(OLD, "resume"));
	take(desk, START(THIRD, "resume"));
	expect_id(desk, THIRD, false);
}

static void the_user_of_a_fork_with_a_turn_may_go_to_its_parent(void **state)
{
	struct desk *desk = *state;
	start_fork(desk, NEW);
	take(desk, START(OLD, "resume"));
	take(desk, PROMPT(NEW));
	take(desk, START(OLD, "resume"));
	expect_id(desk, OLD, false);
}

/* OLD was resumed in its own pane. */
static void start_session(struct desk *desk)
{
	const struct attempt attempts[] = { { .rung = RUNG_RESUME, .session_id = (char *)OLD } };
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	desk_run(desk, agent, OLD, attempts, ARRAY_SIZE(attempts));
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = desk_load(desk);
	instance->run.pane = (struct process_id){ .pid = PANE, .start = 7 };
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

/* claude's /tui, codex's /new. */
static void what_the_agent_itself_begins_counts_from_its_first_turn(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	take_from(desk, FROM(PANE, TMUX), START(OLD, "resume"));
	take_from(desk, FROM(PANE, TMUX), PROMPT(OLD));
	take_from(desk, FROM(PANE, TMUX), START(NEW, "startup"));
	expect_id(desk, OLD, true);
	take_from(desk, FROM(PANE, TMUX), PROMPT(NEW));
	expect_id(desk, NEW, true);
	cleanup_instance struct instance *now = desk_load(desk);
	assert_string_equal(now->conversation.previous.items[0], OLD);
	assert_string_equal(now->conversation.transcript_path, "/t/" NEW);
}

/* claude's /branch: 2.1.197 says resume, 2.1.332 fork. */
static void a_branch_counts_at_once(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	take_from(desk, FROM(PANE, TMUX), START(OLD, "resume"));
	take_from(desk, FROM(PANE, TMUX), PROMPT(OLD));
	assert_int_equal(take_from(desk, FROM(NESTED, PANE, TMUX), START(THIRD, "fork")),
			 REPORT_FOREIGN);
	/* claude's background copies it as well, and its user has gone nowhere. */
	take_from(desk, FROM(ELSEWHERE, TMUX), START(THIRD, "fork"));
	expect_id(desk, OLD, true);
	take_from(desk, FROM(PANE, TMUX), START(NEW, "fork"));
	expect_id(desk, NEW, false);
}

/* Its container has this home. */
static void live_in(struct desk *desk, const char *home)
{
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = desk_load(desk);
	struct recipe *recipe = recipe_new();
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup("unix:///nowhere");
	recipe->image_id = xstrdup("sha256:0");
	recipe->user = xstrdup("1:1");
	recipe->home = xstrdup(home);
	recipe->directory = xstrdup("/nowhere");
	replace_string(&instance->backend, "container");
	recipe_free(instance->recipe);
	instance->recipe = recipe;
	replace_string(&instance->run.capsule, "/nowhere/capsule");
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

static void expect_transcript(struct desk *desk, const char *path)
{
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_string_equal(or_empty(instance->conversation.transcript_path), path);
}

static void a_container_reports_no_transcript_outside_its_home(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	live_in(desk, "/box");
	take_from(desk, FROM(PANE, TMUX), START(OLD, "resume"));
	take_from(desk, FROM(PANE, TMUX), PROMPT(OLD));
	expect_id(desk, OLD, true);
	expect_transcript(desk, "");
	live_in(desk, "/t");
	take_from(desk, FROM(PANE, TMUX), PROMPT(OLD));
	expect_transcript(desk, "/t/" OLD);
}

/* ---- the agent's note -------------------------------------------------------------------------- */

static void write_at(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

static void put_in_home(const struct desk *desk, const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/home/%s", desk->root, name);
	for (char *slash = path + strlen(desk->root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	write_at(path, text);
}

static void put_transcript(const struct desk *desk, const char *id, const char *lines)
{
	cleanup_free char *slug = transcript_slug(desk->cwd);
	cleanup_free char *name = xasprintf("projects/%s/%s.jsonl", slug, id);
	put_in_home(desk, name, lines);
}

/* In the directory of the session. */
static void put_note(const struct desk *desk, const char *name, pid_t pid, int start,
		     const char *more)
{
	cleanup_free char *path = xasprintf("sessions/%s", name);
	cleanup_free char *text = xasprintf("{\"pid\":%d,\"procStart\":\"%d\",\"cwd\":\"%s\",%s}",
					    (int)pid, start, desk->cwd, more);
	put_in_home(desk, path, text);
}

#define IS(id) "\"sessionId\":\"" id "\""
#define TURN   "{\"type\":\"user\",\"cwd\":\"/\",\"message\":{\"content\":\"words\"}}\n"

/* Returns the id that the session has after its note was read. */
static char *follow(struct desk *desk, struct instance *instance, struct fs_lock *lock)
{
	cleanup_error struct error err = { 0 };
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	if (report_take_note(&desk->deck, instance, agent, lock, &err) < 0)
		fail_msg("%s", err.message);
	return instance->conversation.session_id;
}

/* A session in OLD whose agent was killed, with its home. */
static struct instance *start_noting(struct desk *desk)
{
	start_session(desk);
	put_transcript(desk, OLD, TURN);
	put_transcript(desk, NEW, TURN);
	struct instance *instance = desk_load(desk);
	free(instance->conversation.config_home);
	instance->conversation.config_home = xasprintf("%s/home", desk->root);
	return instance;
}

static void the_note_of_the_runs_agent_is_followed(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = start_noting(desk);
	assert_string_equal(follow(desk, instance, NULL), OLD);
	put_note(desk, "100.json", PANE, 7, IS(NEW));
	assert_string_equal(follow(desk, instance, NULL), NEW);
	assert_string_equal(instance->conversation.previous.items[0], OLD);
	assert_true(ends_with(instance->conversation.transcript_path, NEW ".jsonl"));
	/* What a report has said since is newer. */
	put_note(desk, "100.json", PANE, 7, IS(OLD));
	assert_string_equal(follow(desk, instance, NULL), NEW);
}

/* Its hooks are off, so no report says that the user has cleared it. */
static void the_note_is_followed_without_any_report(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = start_noting(desk);
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	instance->run.reported = false;
	instance->run.reporter = (struct process_id){ 0 };
	put_note(desk, "100.json", PANE, 7, IS(NEW));
	assert_string_equal(follow(desk, instance, &lock), NEW);
}

static void the_setting_that_switches_reports_off_is_named(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = start_noting(desk);
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	assert_null(unreported_setting(instance, agent));
	put_in_home(desk, "settings.json", "{\"disableAllHooks\":false}");
	assert_null(unreported_setting(instance, agent));
	put_in_home(desk, "settings.json", "{\"disableAllHooks\":true}");
	cleanup_free char *setting = unreported_setting(instance, agent);
	assert_non_null(setting);
	assert_non_null(strstr(setting, "disableAllHooks=true in "));
	assert_true(ends_with(setting, "/home/settings.json"));
	/* What the project says has precedence. */
	cleanup_free char *path = xasprintf("%s/.claude", desk->cwd);
	cleanup_free char *file = path_join(path, "settings.json");
	assert_int_equal(mkdir(path, 0700), 0);
	write_at(file, "{\"disableAllHooks\":false}");
	assert_null(unreported_setting(instance, agent));
}

/* claude takes this one from managed settings alone. */
static void what_only_the_administrator_sets_counts_only_there(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = start_noting(desk);
	cleanup_free char *managed = xasprintf("%s/home/managed.json", desk->root);
	cleanup_free char *toml = xasprintf("[report]\noff_files = [\"%s\", "
					    "\"{home}/settings.json\"]\n",
					    managed);
	const struct agent *agent = desk_agent(desk, "claude", toml);
	put_in_home(desk, "settings.json", "{\"allowManagedHooksOnly\":true}");
	assert_null(unreported_setting(instance, agent));
	put_in_home(desk, "managed.json", "{\"allowManagedHooksOnly\":true}");
	cleanup_free char *setting = unreported_setting(instance, agent);
	cleanup_free char *expected = xasprintf("allowManagedHooksOnly=true in %s", managed);
	assert_string_equal(setting, expected);
}

static void a_note_that_proves_nothing_is_not(void **state)
{
	struct desk *desk = *state;
	static const struct {
		const char *name, *text;
		int pid, start;
	} cases[] = {
		{ "100.json", IS(NEW), PANE, 8 },
		{ "100.json", IS(NEW), NESTED, 7 },
		{ "102.json", IS(NEW), NESTED, 7 },
		{ "100.json", IS(NEW) ",\"kind\":\"bg\"", PANE, 7 },
		{ "100.json", IS("../" NEW), PANE, 7 },
		{ "100.json", IS("new"), PANE, 7 },
		{ "100.json", IS(THIRD), PANE, 7 },
		{ "100.json", IS("0ddddddd-0000-4000-8000-000000000004"), PANE, 7 },
		{ "100.json", "\"cwd\":\"/elsewhere\"," IS(NEW), PANE, 7 },
		{ "100.json", "torn", PANE, 7 },
	};
	cleanup_instance struct instance *instance = start_noting(desk);
	/* /tui: it has begun another one, and nothing is in that. */
	put_transcript(desk, THIRD, "{\"type\":\"mode\"}\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_note(desk, cases[i].name, cases[i].pid, cases[i].start, cases[i].text);
		if (!streq(follow(desk, instance, NULL), OLD))
			fail_msg("case %zu", i);
	}
	cleanup_free char *note = xasprintf("%s/home/sessions/100.json", desk->root);
	cleanup_free char *elsewhere = xasprintf("%s/home/sessions/note", desk->root);
	put_note(desk, "100.json", PANE, 7, IS(NEW));
	assert_int_equal(rename(note, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, note), 0);
	assert_string_equal(follow(desk, instance, NULL), OLD);
	assert_int_equal(rename(elsewhere, note), 0);
	replace_string(&instance->backend, "container");
	instance->recipe = recipe_new();
	instance->recipe->home = xstrdup("/nowhere/home");
	assert_string_equal(follow(desk, instance, NULL), OLD);
}

static void a_note_gives_no_conversation_to_a_second_owner(void **state)
{
	struct desk *desk = *state;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_instance struct instance *instance = start_noting(desk);
	cleanup_instance struct instance *owner = new_instance("0123abce", "owner");
	replace_string(&owner->agent, "claude");
	conversation_set_id(&owner->conversation, NEW, ORIGIN_MINTED, 1);
	replace_string(&owner->conversation.config_home, instance->conversation.config_home);
	assert_int_equal(create_instance(desk->deck.store, owner, NULL), 0);
	put_note(desk, "100.json", PANE, 7, IS(NEW));
	assert_string_equal(follow(desk, instance, &lock), OLD);
	assert_string_equal(instance->conversation.shared.session_id, NEW);
	assert_string_equal(instance->conversation.shared.title, "owner");
}

/* claude 2.1.197 names the parent until the first turn. */
static void a_note_of_a_fork_does_not_take_its_parents(void **state)
{
	struct desk *desk = *state;
	start_fork(desk, NEW);
	put_transcript(desk, OLD, TURN);
	cleanup_instance struct instance *instance = desk_load(desk);
	instance->run.pane = (struct process_id){ .pid = PANE, .start = 7 };
	free(instance->conversation.config_home);
	instance->conversation.config_home = xasprintf("%s/home", desk->root);
	put_note(desk, "100.json", PANE, 7, IS(OLD));
	assert_string_equal(follow(desk, instance, NULL), NEW);
}

static void an_agent_below_the_agent_moves_nothing(void **state)
{
	struct desk *desk = *state;
	static const char *const sources[] = { START(NEW, "startup"), START(NEW, "resume"),
					       START(NEW, "clear"), START(NEW, "compact") };
	start_session(desk);
	take_from(desk, FROM(PANE, TMUX), START(OLD, "resume"));
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		assert_int_equal(take_from(desk, FROM(NESTED, PANE, TMUX), sources[i]),
				 REPORT_FOREIGN);
		assert_int_equal(take_from(desk, FROM(NESTED, PANE, TMUX), PROMPT(NEW)),
				 REPORT_FOREIGN);
		expect_id(desk, OLD, false);
	}
	/* Nor does it change the activity of the session's agent. */
	cleanup_activity struct activity activity = { 0 };
	cleanup_instance struct instance *now = desk_load(desk);
	activity_read(now->run.directory, &activity);
	assert_string_equal(activity.event, "SessionStart");
}

/* The pane's process is a wrapper, or node with the native codex below it. */
static void with_a_wrapper_the_agent_is_who_reported_first(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	take_from(desk, FROM(BELOW_PANE, PANE, TMUX), START(OLD, "resume"));
	cleanup_instance struct instance *now = desk_load(desk);
	assert_int_equal(now->run.reporter.pid, BELOW_PANE);
	assert_int_equal(now->run.reporter.start, 7);
	take_from(desk, FROM(NESTED, BELOW_PANE, PANE, TMUX), START(THIRD, "startup"));
	take_from(desk, FROM(NESTED, BELOW_PANE, PANE, TMUX), PROMPT(THIRD));
	expect_id(desk, OLD, false);
	take_from(desk, FROM(BELOW_PANE, PANE, TMUX), START(NEW, "startup"));
	take_from(desk, FROM(BELOW_PANE, PANE, TMUX), PROMPT(NEW));
	expect_id(desk, NEW, true);
}

/* The next report of its conversation tells who the agent is. */
static void an_agent_that_was_not_found_first_is_found_later(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	take_from(desk, UNKNOWN, START(OLD, "resume"));
	take_from(desk, FROM(BELOW_PANE, PANE, TMUX), PROMPT(OLD));
	cleanup_instance struct instance *now = desk_load(desk);
	assert_int_equal(now->run.reporter.pid, BELOW_PANE);
	assert_int_equal(take_from(desk, FROM(NESTED, BELOW_PANE, PANE, TMUX),
				   START(NEW, "resume")),
			 REPORT_FOREIGN);
	expect_id(desk, OLD, true);
}

static void a_sender_that_nobody_can_look_at_begins_nothing(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	take_from(desk, FROM(PANE, TMUX), START(OLD, "resume"));
	const pid_t *const senders[] = { UNKNOWN, FROM(ELSEWHERE), FROM(ELSEWHERE, TMUX) };
	for (size_t i = 0; i < ARRAY_SIZE(senders); i++) {
		take_from(desk, senders[i], START(NEW, "startup"));
		take_from(desk, senders[i], PROMPT(NEW));
		expect_id(desk, OLD, false);
	}
	/* A report that the user caused is believed unless it is known to be another agent's. */
	take_from(desk, UNKNOWN, START(NEW, "clear"));
	expect_id(desk, NEW, false);
}

/* The same pid with another start time. */
static void a_pid_that_came_again_is_another_process(void **state)
{
	struct desk *desk = *state;
	start_session(desk);
	take_from(desk, FROM(BELOW_PANE, PANE, TMUX), START(OLD, "resume"));
	struct sender sender = sender_of(desk, FROM(BELOW_PANE, PANE, TMUX));
	sender.processes[0].start = 8;
	assert_int_equal(report_text(&desk->deck, ID, &sender, START(NEW, "startup"),
				     strlen(START(NEW, "startup")), NULL),
			 0);
	take(desk, PROMPT(NEW));
	expect_id(desk, OLD, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_fork_that_starts_under_its_parents_id_is_no_move),
		DESK_TEST(a_fork_that_starts_under_its_own_id_keeps_it),
		DESK_TEST(a_fork_whose_id_the_agent_makes_does_not_take_its_parents),
		DESK_TEST(the_user_of_a_fork_may_go_elsewhere),
		DESK_TEST(the_user_of_a_fork_with_a_turn_may_go_to_its_parent),
		DESK_TEST(what_the_agent_itself_begins_counts_from_its_first_turn),
		DESK_TEST(a_branch_counts_at_once),
		DESK_TEST(a_container_reports_no_transcript_outside_its_home),
		DESK_TEST(the_note_of_the_runs_agent_is_followed),
		DESK_TEST(the_note_is_followed_without_any_report),
		DESK_TEST(the_setting_that_switches_reports_off_is_named),
		DESK_TEST(what_only_the_administrator_sets_counts_only_there),
		DESK_TEST(a_note_that_proves_nothing_is_not),
		DESK_TEST(a_note_gives_no_conversation_to_a_second_owner),
		DESK_TEST(a_note_of_a_fork_does_not_take_its_parents),
		DESK_TEST(an_agent_below_the_agent_moves_nothing),
		DESK_TEST(with_a_wrapper_the_agent_is_who_reported_first),
		DESK_TEST(an_agent_that_was_not_found_first_is_found_later),
		DESK_TEST(a_sender_that_nobody_can_look_at_begins_nothing),
		DESK_TEST(a_pid_that_came_again_is_another_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
