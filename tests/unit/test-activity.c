/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "base/child.h"
#include "engine/place/activityfile.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/roster/view.h"
#include "engine/screen/activity.h"
#include "model/agent/display.h"

/* ---- screens of known agents ---------------------------------------------------------------- */

#define LINE "────────────────────────────────\n"

static const struct sample {
	const char *agent, *screen;
	enum instance_activity activity;
} samples[] = {
	{ "claude", LINE "❯ Try \"fix lint errors\"\n" LINE "  ? for shortcuts\n\n",
	  ACTIVITY_IDLE },
	{ "claude",
	  "❯ say hi\n\n✻ Pondering… (3s · ↓ 12 tokens · esc to interrupt)\n\n" LINE "❯ \n" LINE,
	  ACTIVITY_BUSY },
	{ "claude", "❯ say hi\n\n✶ Pondering…\n\n" LINE "❯ \n" LINE "  esc to interrupt\n",
	  ACTIVITY_BUSY },
	/* Its user types during the turn. */
	{ "claude",
	  "❯ hi\n\n✽ Pondering… (3s)\n\n" LINE "❯ a draft\n" LINE "  ⏸ manual mode on\n",
	  ACTIVITY_BUSY },
	{ "claude", "❯ hi\n\n* Pondering…\n\n" LINE "❯ a draft\n" LINE, ACTIVITY_BUSY },
	{ "claude", "● Well…\n  * it works…\n\n✻ Baked for 12s\n\n" LINE "❯ \n" LINE,
	  ACTIVITY_IDLE },
	{ "claude",
	  "❯ remove x\n\n● Bash(rm x)\n" LINE
	  " Bash command\n\n   rm x\n\n Do you want to proceed?\n"
	  " ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n",
	  ACTIVITY_WAITING },
	{ "claude",
	  LINE " Accessing workspace:\n\n /home/u/work\n\n Security guide\n\n ❯ No, exit\n"
	       "   Yes, I trust this folder\n\n Enter to confirm · Esc to cancel\n",
	  ACTIVITY_WAITING },
	/* It works and asks at the same time: its user must know of the question. */
	{ "claude",
	  "✻ Pondering… (3s · esc to interrupt)\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n",
	  ACTIVITY_WAITING },
	/* Its words are above its box. */
	{ "claude", "● Would you like to proceed?\n\n" LINE "❯ \n" LINE "  ? for shortcuts\n",
	  ACTIVITY_IDLE },
	{ "claude", "● Would you like to proceed?\n\n" LINE "❯ \n" LINE "  esc to interrupt\n",
	  ACTIVITY_BUSY },
	{ "claude", "Claude Code is suspended. Run `fg` to bring it back.\n\n", ACTIVITY_WAITING },
	/* A key in its environment. */
	{ "claude",
	  LINE "  Detected a custom API key in your environment\n\n"
	       "  ANTHROPIC_API_KEY: sk-ant-...bbbbbbbbbbbbbbbbbbAA\n\n"
	       "  Do you want to use this API key?\n\n    Yes\n  ❯ No (recommended)\n\n"
	       "  Enter to confirm · Esc to cancel\n",
	  ACTIVITY_WAITING },
	/* A server of tools that it found in the directory. */
	{ "claude", LINE "  ❯ Use this MCP server\n\n  Enter to confirm · Esc to reject\n",
	  ACTIVITY_WAITING },
	{ "claude", "$ ls\nsrc\n$ \n", ACTIVITY_UNKNOWN },
	{ "claude", "", ACTIVITY_UNKNOWN },
	{ "cn", "╭" LINE "│ ● Ask anything, @ for context, / for slash commands │\n╰" LINE,
	  ACTIVITY_IDLE },
	{ "cn", "⠋ ( 3s • esc to interrupt )\n╭" LINE "│ ● Ask anything, @ for context │\n╰" LINE,
	  ACTIVITY_BUSY },
	{ "cn", "│  Would you like to continue?   │\n│  > Continue (tab)    │\n╰" LINE,
	  ACTIVITY_WAITING },
	{ "codex", "\n› Ask Codex to do anything\n\n  100% context left\n", ACTIVITY_IDLE },
	{ "codex", "• Working (1m 03s • esc to interrupt)\n\n› Ask Codex to do anything\n",
	  ACTIVITY_BUSY },
	/* The choice looks like the box. */
	{ "codex",
	  "  Would you like to run this command?\n\n  $ rm x\n\n› 1. Yes, proceed (y)\n  2. No (esc)\n",
	  ACTIVITY_WAITING },
	{ "codex",
	  "\n  Hooks need review\n  5 hooks are new or changed.\n"
	  "  Hooks can run outside the sandbox after you trust them.\n\n\n› 1. Review hooks\n"
	  "  2. Trust all and continue\n  3. Continue without trusting (hooks won't run)\n\n"
	  "  enter confirm · esc skip\n",
	  ACTIVITY_WAITING },
	{ "copilot", LINE "❯ \n" LINE, ACTIVITY_IDLE },
	{ "copilot", " ◉ Working (Esc to cancel)\n" LINE "❯ \n" LINE, ACTIVITY_BUSY },
	{ "copilot", "│ Do you want to run this command?\n│ ❯ 1. Yes\n│   2. No\n",
	  ACTIVITY_WAITING },
	{ "demo", "❯ \n", ACTIVITY_IDLE },
	{ "demo", "❯ hello\n(esc to interrupt)\n", ACTIVITY_BUSY },
	{ "demo", LINE " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n",
	  ACTIVITY_WAITING },
	{ "gemini", "▄▄▄▄▄▄▄▄▄▄\n >   Type your message or @path/to/file\n▀▀▀▀▀▀▀▀▀▀\n",
	  ACTIVITY_IDLE },
	{ "gemini",
	  "⠏ Thinking (esc to cancel, 12s)\n▄▄▄▄▄▄▄▄▄▄\n *   Type your message or "
	  "@path/to/file\n▀▀▀▀▀▀▀▀▀▀\n",
	  ACTIVITY_BUSY },
	{ "gemini", "│ Allow execution of [Shell]?\n│\n│ ● 1. Allow once\n│   2. No (esc)\n",
	  ACTIVITY_WAITING },
	{ "opencode", "  ┃\n  ┃  Ask anything… \n  ┃\n  ┃  Build · Stub Stub\n  ╹▀▀▀▀\n",
	  ACTIVITY_IDLE },
	{ "opencode", "  ┃\n  ┃  △ Permission required\n  ┃    $ rm x\n", ACTIVITY_WAITING },
	{ "opencode", "  ⬝⬝⬝⬝  esc interrupt      ctrl+p commands\n", ACTIVITY_BUSY },
	{ "pi", LINE "\n" LINE "~/project\n0.0%/200k (auto)\n", ACTIVITY_IDLE },
	{ "pi", " ⠙ Working...\n" LINE "\n" LINE "1.2%/200k (auto)\n", ACTIVITY_BUSY },
	{ "qwen", "  │ Allow execution of: 'touch'?\n  │\n  │ › 1. Yes, allow once\n",
	  ACTIVITY_WAITING },
	{ "qwen", LINE ">   Type your message or @path/to/file\n" LINE, ACTIVITY_IDLE },
	{ "qwen",
	  "⠏ Thinking (3s · esc to cancel)\n" LINE ">   Type your message or @path/to/file\n" LINE,
	  ACTIVITY_BUSY },
};

static void screens_are_read_by_the_patterns_of_their_agent(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct agent *agent = registry_find(&registry, samples[i].agent);
		assert_non_null(agent);
		enum instance_activity activity = display_activity(agent, samples[i].screen);
		if (activity != samples[i].activity)
			fail_msg("%s is %s, not %s:\n%s", samples[i].agent,
				 instance_activity_name(activity),
				 instance_activity_name(samples[i].activity), samples[i].screen);
	}
}

static bool has_sample(const struct agent *agent, enum instance_activity activity)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		if (streq(samples[i].agent, agent->name) && samples[i].activity == activity)
			return true;
	return false;
}

static void each_agent_with_patterns_has_its_screens_here(void **state UNUSED)
{
	cleanup_registry struct registry registry = { 0 };
	assert_int_equal(registry_builtin(&registry, NULL), 0);
	for (size_t i = 0; i < registry.count; i++) {
		const struct agent *agent = registry.agents[i];
		if ((agent->ready.count && !has_sample(agent, ACTIVITY_IDLE)) ||
		    (agent->busy.count && !has_sample(agent, ACTIVITY_BUSY)) ||
		    (agent->waiting.count && !has_sample(agent, ACTIVITY_WAITING)))
			fail_msg("no screen of %s for one of its patterns", agent->name);
	}
}

static void an_agent_without_patterns_is_never_guessed(void **state UNUSED)
{
	const struct agent agent = { 0 };
	assert_int_equal(display_activity(&agent,
					  "❯ \nDo you want to proceed?\nesc to interrupt\n"),
			 ACTIVITY_UNKNOWN);
}

/* ---- looking -------------------------------------------------------------------------------- */

static const char entry[] = "command = ['finch']\n[screen]\nready = ['^> ']\nbusy = ['^working']\n"
			    "waiting = ['^may I']\ntasks = ['^\\. task']\n"
			    "limit = ['^no more until (.+)$']\n";

/* A tmux server whose pane shows the text of a file, and the row of its session. */
struct cage {
	char *root, *directory, *socket, *text;
	struct deck deck;
	struct store_row row;
};

static int cage_set_up(void **state)
{
	struct cage *cage = xcalloc(1, sizeof(*cage));
	cage->root = xstrdup("/tmp/agentdeck-activity-XXXXXX");
	if (!mkdtemp(cage->root))
		return -1;
	cage->directory = path_join(cage->root, "run");
	cage->socket = path_join(cage->directory, RUN_SOCKET);
	cage->text = path_join(cage->root, "text");
	setenv("AGENTDECK_HOME", cage->root, 1);
	setenv("HOME", cage->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	const struct registry *registry;
	if (mkdir(cage->directory, 0700) < 0 ||
	    deck_open("default", "test", &cage->deck, NULL) < 0 ||
	    deck_registry(&cage->deck, &registry, NULL) < 0 ||
	    registry_override(&cage->deck.registry, "finch", entry, strlen(entry), "finch", NULL) <
		    0)
		return -1;
	cage->row = (struct store_row){
		.base = (char *)"one",
		.id = (char *)"0123abcd",
		.title = (char *)"one",
		.agent = (char *)"finch",
		.state = STATE_RUNNING,
		.rung = RUNG_LAUNCH,
		.run = { .id = (char *)"0123abcd",
			 .backend = (char *)PLACE_DEFAULT,
			 .directory = cage->directory,
			 .socket = cage->socket,
			 .boot_id = (char *)(uintptr_t)process_boot_id() },
	};
	*state = cage;
	return 0;
}

static int cage_tear_down(void **state)
{
	struct cage *cage = *state;
	if (cage->row.run.server.pid) {
		(void)process_signal(&cage->row.run.server, SIGCONT, NULL);
		(void)process_signal(&cage->row.run.server, SIGKILL, NULL);
		(void)process_wait_end(&cage->row.run.server, clock_ms() + LONG_MS, NULL);
	}
	int r = fs_remove_tree(AT_FDCWD, cage->root, NULL);
	deck_close(&cage->deck);
	free(cage->root);
	free(cage->directory);
	free(cage->socket);
	free(cage->text);
	free(cage);
	return r;
}

#define CAGE_TEST(function) cmocka_unit_test_setup_teardown(function, cage_set_up, cage_tear_down)

static void run_tmux(const struct cage *cage, const char *const *words, struct strbuf *output)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	struct error err = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "tmux", "-u", "-S", cage->socket, "-f",
							"/dev/null", NULL });
	strvec_push_array(&argv, words);
	const struct child_request request = { .argv = (const char *const *)argv.items };
	if (child_run(&request, LONG_MS, &result, &err) != 0 || result.exit_status != 0)
		fail_msg("tmux: %s%s", or_empty(err.message), strbuf_text(&result.errors));
	if (output)
		strbuf_adds(output, strbuf_text(&result.output));
}

static void start_server(struct cage *cage)
{
	cleanup_strbuf struct strbuf pids = { 0 };
	pid_t server, pane;
	run_tmux(cage,
		 (const char *const[]){ "new-session", "-d", "-s", "agent", "-P", "-F",
					"#{pid} #{pane_pid}", "--", "sleep", "1000", NULL },
		 &pids);
	assert_int_equal(sscanf(strbuf_text(&pids), "%d %d", &server, &pane), 2);
	assert_int_equal(process_identify(server, &cage->row.run.server, NULL), 0);
	assert_int_equal(process_identify(pane, &cage->row.run.pane, NULL), 0);
}

/* Write on the pane's terminal, and wait until the text is there. */
static void show(const struct cage *cage, const char *text)
{
	cleanup_strbuf struct strbuf terminal = { 0 };
	run_tmux(cage,
		 (const char *const[]){ "display-message", "-p", "-t", "%0", "#{pane_tty}", NULL },
		 &terminal);
	terminal.data[strcspn(terminal.data, "\n")] = '\0';
	cleanup_close int fd = open(terminal.data, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	assert_true(fd >= 0);
	cleanup_free char *all = xasprintf("\033[2J\033[H%s\r\n.", text);
	assert_int_equal(fs_write_all(fd, all, strlen(all), "the terminal", NULL), 0);
	for (int64_t deadline = clock_ms() + LONG_MS; clock_ms() < deadline;) {
		cleanup_strbuf struct strbuf screen = { 0 };
		run_tmux(cage, (const char *const[]){ "capture-pane", "-p", "-t", "%0", NULL },
			 &screen);
		if (starts_with(strbuf_text(&screen), text) &&
		    strstr(strbuf_text(&screen), "\n.\n"))
			return;
	}
	fail_msg("the screen never shows %s", text);
}

static struct activity stored(const struct cage *cage)
{
	struct activity activity;
	activity_read(cage->directory, &activity);
	return activity;
}

static void check_look(struct cage *cage, const char *screen, enum instance_activity expected)
{
	show(cage, screen);
	assert_true(activity_can_change(&cage->deck, &cage->row));
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, expected);
	assert_int_equal(activity.asks, expected == ACTIVITY_WAITING);
	assert_true(activity.is_seen);
}

static void what_the_screen_shows_is_stored_and_its_begin_is_kept(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	check_look(cage, "working hard", ACTIVITY_BUSY);
	cleanup_activity struct activity first = stored(cage);
	assert_true(first.since > 0);
	check_look(cage, "working harder", ACTIVITY_BUSY);
	cleanup_activity struct activity second = stored(cage);
	assert_int_equal(second.since, first.since);
	check_look(cage, "may I? (y/n)", ACTIVITY_WAITING);
	cleanup_activity struct activity third = stored(cage);
	assert_true(third.since > first.since);
	check_look(cage, "> hello", ACTIVITY_IDLE);
	check_look(cage, "what is this", ACTIVITY_UNKNOWN);
}

static void report(const struct cage *cage, enum instance_activity what)
{
	const struct activity activity = { .activity = what,
					   .since = 7000000,
					   .queued = what == ACTIVITY_BUSY ? 2 : 0,
					   .event = (char *)"Stop" };
	const struct announced announced = { .prompts = 3 };
	assert_int_equal(activityfile_write(cage->directory, &activity, &announced, NULL), 0);
}

/* Nothing moves. */
static void an_agent_that_is_done_may_quote_what_one_that_works_shows(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	show(cage, "working hard");
	report(cage, ACTIVITY_IDLE);
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, ACTIVITY_IDLE);
	assert_false(activity.is_seen);
	assert_int_equal(activity.since, 7000000);
}

/* Another program in the pane. */
static void run_in_pane(struct cage *cage, const char *script)
{
	cleanup_strbuf struct strbuf pid = { 0 };
	pid_t pane;
	run_tmux(cage,
		 (const char *const[]){ "respawn-pane", "-k", "-t", "%0", "--", "sh", "-c", script,
					NULL },
		 NULL);
	run_tmux(cage,
		 (const char *const[]){ "display-message", "-p", "-t", "%0", "#{pane_pid}", NULL },
		 &pid);
	assert_int_equal(sscanf(strbuf_text(&pid), "%d", &pane), 1);
	assert_int_equal(process_identify(pane, &cage->row.run.pane, NULL), 0);
}

static void one_that_moves_works_whatever_it_reported(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	run_in_pane(cage, "printf '\\033[2J\\033[Hworking\\n'; "
			  "while :; do n=$((n+1)); printf '\\033[2H%d' $n; done");
	report(cage, ACTIVITY_IDLE);
	cleanup_activity struct activity activity = { 0 };
	for (int64_t deadline = clock_ms() + LONG_MS;
	     clock_ms() < deadline && activity.activity != ACTIVITY_BUSY;) {
		activity_free(&activity);
		activity_look(&cage->deck, &cage->row);
		activity = stored(cage);
	}
	assert_int_equal(activity.activity, ACTIVITY_BUSY);
	assert_true(activity.is_seen);
	/* Its user interrupts it, and it reports nothing. */
	report(cage, ACTIVITY_BUSY);
	run_in_pane(cage, "exec sleep 1000");
	check_look(cage, "> hello", ACTIVITY_IDLE);
	cleanup_activity struct activity interrupted = stored(cage);
	assert_int_equal(interrupted.queued, 0);
}

static void note_time(const struct cage *cage, const char *name, int64_t seconds_ago)
{
	const time_t at = clock_wall_us() / 1000000 - seconds_ago;
	const struct timespec times[] = { { .tv_sec = at }, { .tv_sec = at } };
	cleanup_free char *path = path_join(cage->directory, name);
	if (utimensat(AT_FDCWD, path, times, 0) < 0)
		assert_int_equal(errno, ENOENT);
}

static void what_is_printed_later_makes_what_is_known_old(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	show(cage, "working hard");
	/* Nobody has ever looked. */
	assert_true(activity_is_old(&cage->deck, &cage->row));
	activity_look(&cage->deck, &cage->row);
	assert_false(activity_is_old(&cage->deck, &cage->row));
	note_time(cage, RUN_ACTIVITY, 60);
	note_time(cage, RUN_LOOKED, 60);
	assert_true(activity_is_old(&cage->deck, &cage->row));
	/* A look that finds nothing new counts. */
	activity_look(&cage->deck, &cage->row);
	assert_false(activity_is_old(&cage->deck, &cage->row));
	note_time(cage, RUN_LOOKED, 60);
	report(cage, ACTIVITY_BUSY);
	assert_false(activity_is_old(&cage->deck, &cage->row));
}

/* Long ago: its question is drawn, if there is one. */
static void check_waiting(struct cage *cage, const char *screen, enum instance_activity expected)
{
	cleanup_free char *styled = xasprintf("\033[1m%s\033[0m\n", screen);
	show(cage, screen);
	report(cage, ACTIVITY_WAITING);
	assert_true(activity_can_change(&cage->deck, &cage->row));
	const bool differs = expected != ACTIVITY_WAITING;
	assert_int_equal(activity_differs(&cage->deck, &cage->row, styled), differs);
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, expected);
	assert_int_equal(activity.is_seen, differs);
}

static void a_question_that_was_answered_is_not_waited_for(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	check_waiting(cage, "may I? (y/n)", ACTIVITY_WAITING);
	check_waiting(cage, "working hard\nmay I? (y/n)", ACTIVITY_WAITING);
	/* Its user has pressed Esc. */
	check_waiting(cage, "> hello", ACTIVITY_IDLE);
	/* It may wait with a question that the entry does not know. */
	check_waiting(cage, "what is this", ACTIVITY_WAITING);
	check_waiting(cage, "working hard", ACTIVITY_BUSY);
	/* From then on the screen counts, until the next report. */
	check_look(cage, "may I? (y/n)", ACTIVITY_WAITING);
	check_look(cage, "working hard", ACTIVITY_BUSY);
	check_look(cage, "> hello", ACTIVITY_IDLE);
	check_waiting(cage, "may I? (y/n)", ACTIVITY_WAITING);
}

static void an_agent_waits_for_its_tasks_as_long_as_they_are_shown(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	const struct activity waits = { .activity = ACTIVITY_BUSY,
					.since = 7000000,
					.has_tasks = true };
	assert_int_equal(
		activityfile_write(cage->directory, &waits, &(struct announced){ 0 }, NULL), 0);
	show(cage, "> hello\n. task 12s");
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, ACTIVITY_BUSY);
	assert_true(activity.has_tasks);
	check_look(cage, "> hello", ACTIVITY_IDLE);
	/* The task of an earlier turn. */
	check_look(cage, "> hello\n. task 12s", ACTIVITY_IDLE);
}

static void an_agent_whose_turn_failed_is_listed_with_the_error(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	const struct activity failed = { .activity = ACTIVITY_IDLE,
					 .since = 7000000,
					 .failure = (char *)"rate_limit" };
	assert_int_equal(
		activityfile_write(cage->directory, &failed, &(struct announced){ 0 }, NULL), 0);
	cleanup_view struct view view = view_of(&cage->row);
	assert_int_equal(view.note, VIEW_FAILED);
	assert_string_equal(view.reason, "failed: rate limit");
	/* Its screen is as it was. */
	show(cage, "> hello");
	activity_look(&cage->deck, &cage->row);
	cleanup_view struct view again = view_of(&cage->row);
	assert_int_equal(again.note, VIEW_FAILED);
}

/* It does not report the end of such a turn. */
static void an_agent_that_shows_a_usage_limit_is_listed_with_its_end(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	const struct activity works = { .activity = ACTIVITY_BUSY, .since = 7000000 };
	assert_int_equal(
		activityfile_write(cage->directory, &works, &(struct announced){ 0 }, NULL), 0);
	show(cage, "no more\nuntil 11:59 PM\n\n> hello");
	activity_look(&cage->deck, &cage->row);
	cleanup_view struct view view = view_of(&cage->row);
	assert_int_equal(view.note, VIEW_FAILED);
	assert_string_equal(view.reason, "limited until 23:59");
	assert_true(view.limited_until > 0);
	/* The next turn ends it. */
	show(cage, "no more\nuntil 11:59 PM\n\nworking\n> hello");
	activity_look(&cage->deck, &cage->row);
	cleanup_view struct view busy = view_of(&cage->row);
	assert_int_equal(busy.activity, ACTIVITY_BUSY);
	assert_int_equal(busy.limited_until, 0);
	/* These are the words of an earlier turn. */
	show(cage, "no more\nuntil 11:59 PM\n\ndone\n\n> hello");
	activity_look(&cage->deck, &cage->row);
	cleanup_view struct view idle = view_of(&cage->row);
	assert_int_equal(idle.activity, ACTIVITY_IDLE);
	assert_int_equal(idle.limited_until, 0);
}

static void an_agent_may_wait_at_its_prompt(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	cage->row.agent = (char *)"demo";
	show(cage, "❯ hello");
	const struct activity now = { .activity = ACTIVITY_WAITING,
				      .since = 7000000,
				      .event = (char *)"Notification" };
	assert_int_equal(activityfile_write(cage->directory, &now, &(struct announced){ 0 }, NULL),
			 0);
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, ACTIVITY_WAITING);
}

static void a_question_may_be_drawn_after_its_report(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	show(cage, "working hard");
	const struct activity now = { .activity = ACTIVITY_WAITING, .since = clock_wall_us() };
	assert_int_equal(activityfile_write(cage->directory, &now, &(struct announced){ 0 }, NULL),
			 0);
	assert_true(activity_differs(&cage->deck, &cage->row, "working hard\n"));
	assert_in_range(activity_young_ms(&cage->row), 1, 1500);
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, ACTIVITY_WAITING);
	assert_false(activity.is_seen);
	/* When it is old, or none, there is nothing to wait for. */
	report(cage, ACTIVITY_WAITING);
	assert_int_equal(activity_young_ms(&cage->row), 0);
}

static void a_look_keeps_what_reports_have_counted(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	report(cage, ACTIVITY_UNKNOWN);
	check_look(cage, "working hard", ACTIVITY_BUSY);
	cleanup_activity struct activity activity = stored(cage);
	cleanup_announced struct announced announced = { 0 };
	announced_read(cage->directory, &announced);
	assert_int_equal(announced.prompts, 3);
	assert_null(activity.event);
}

static void a_server_that_does_not_answer_leaves_it_as_it_was(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	check_look(cage, "working hard", ACTIVITY_BUSY);
	show(cage, "> hello");
	assert_int_equal(process_signal(&cage->row.run.server, SIGSTOP, NULL), 0);
	while (!process_is_stopped(&cage->row.run.server))
		;
	assert_false(activity_can_change(&cage->deck, &cage->row));
	activity_look(&cage->deck, &cage->row);
	cleanup_activity struct activity activity = stored(cage);
	assert_int_equal(activity.activity, ACTIVITY_BUSY);
}

static void only_a_running_agent_with_patterns_is_looked_at(void **state)
{
	struct cage *cage = *state;
	start_server(cage);
	const struct store_row whole = cage->row;
	assert_true(activity_can_change(&cage->deck, &cage->row));
	cage->row.state = STATE_ERROR;
	assert_false(activity_can_change(&cage->deck, &cage->row));
	cage->row = whole;
	cage->row.rung = RUNG_SHELL;
	assert_false(activity_can_change(&cage->deck, &cage->row));
	cage->row = whole;
	cage->row.agent = (char *)"shell";
	assert_false(activity_can_change(&cage->deck, &cage->row));
	cage->row.agent = (char *)"nobody-knows";
	assert_false(activity_can_change(&cage->deck, &cage->row));
	cage->row = whole;
	cage->row.run.boot_id = (char *)"another";
	assert_false(activity_can_change(&cage->deck, &cage->row));
	cage->row = whole;
	cage->row.run.pane.start++;
	assert_false(activity_can_change(&cage->deck, &cage->row));
	cage->row = whole;
	runfiles_note_answer(cage->directory, false);
	assert_false(activity_can_change(&cage->deck, &cage->row));
}

static void what_older_versions_have_stored_is_a_report(void **state)
{
	struct cage *cage = *state;
	static const char text[] =
		"{\"activity\":\"busy\",\"since\":\"2026-04-14T09:08:01.000Z\",\"prompts\":1}";
	cleanup_close int fd = open(cage->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, RUN_ACTIVITY, text, strlen(text), FS_VOLATILE, NULL), 0);
	cleanup_activity struct activity activity = stored(cage);
	assert_false(activity.is_seen);
	assert_int_equal(activity.activity, ACTIVITY_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(screens_are_read_by_the_patterns_of_their_agent),
		cmocka_unit_test(each_agent_with_patterns_has_its_screens_here),
		cmocka_unit_test(an_agent_without_patterns_is_never_guessed),
		CAGE_TEST(what_the_screen_shows_is_stored_and_its_begin_is_kept),
		CAGE_TEST(an_agent_that_is_done_may_quote_what_one_that_works_shows),
		CAGE_TEST(one_that_moves_works_whatever_it_reported),
		CAGE_TEST(what_is_printed_later_makes_what_is_known_old),
		CAGE_TEST(a_question_that_was_answered_is_not_waited_for),
		CAGE_TEST(an_agent_waits_for_its_tasks_as_long_as_they_are_shown),
		CAGE_TEST(an_agent_whose_turn_failed_is_listed_with_the_error),
		CAGE_TEST(an_agent_that_shows_a_usage_limit_is_listed_with_its_end),
		CAGE_TEST(an_agent_may_wait_at_its_prompt),
		CAGE_TEST(a_question_may_be_drawn_after_its_report),
		CAGE_TEST(a_look_keeps_what_reports_have_counted),
		CAGE_TEST(a_server_that_does_not_answer_leaves_it_as_it_was),
		CAGE_TEST(only_a_running_agent_with_patterns_is_looked_at),
		CAGE_TEST(what_older_versions_have_stored_is_a_report),
	};
	return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
