/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/report-fixture.h"

#include "cli/cmd/commands.h"

/* An agent that calls a program after each turn, also after those of its side threads. */
static const char notifier[] =
	"command = ['notifier']\n"
	"[session]\nid = 'uuid'\nresume = ['resume', '{session_id}']\n"
	"[report]\narguments = ['-c', 'notify={hook}']\npayload = 'argument'\n"
	"binds = 'first'\nevent_key = 'type'\nid_key = 'thread-id'\n"
	"transcript_key = ''\nsource_key = ''\nstart = []\nprompt = []\nbusy = []\n"
	"waiting = []\nidle = []\nend = []\nturn = ['agent-turn-complete']\n";

/* An agent with hooks under names of its own. */
static const char hooked[] =
	"command = ['hooked']\n"
	"[session]\nid = 'any'\nresume = ['--resume={session_id}']\n"
	"[report]\nenvironment = ['HOOKED_SETTINGS={settings}']\nbinds = 'first'\n"
	"events = ['SessionStart', 'BeforeAgent', 'AfterAgent']\n"
	"prompt = ['BeforeAgent']\nbusy = ['BeforeTool', 'AfterTool']\n"
	"waiting = ['Notification']\nidle = []\nturn = ['AfterAgent']\n";

/* An agent whose members have other names, and that is given its id. */
static const char camel[] =
	"command = ['camel']\n"
	"[session]\nid = 'uuid'\nassign = ['--session-id={session_id}']\n"
	"resume = ['--resume={session_id}']\n"
	"[report]\narguments = ['--hooks', '{settings}']\nevents = ['sessionStart']\n"
	"event_key = 'hookEventName'\nid_key = 'sessionId'\n"
	"transcript_key = 'transcriptPath'\nstart = ['sessionStart']\n"
	"prompt = ['userPromptSubmitted']\nbusy = ['preToolUse', 'postToolUse']\n"
	"waiting = []\nidle = ['agentStop']\nend = ['sessionEnd']\n";

/* An agent that reports its activity, but not its conversation. */
static const char nameless[] =
	"command = ['nameless']\n"
	"[session]\nid = 'uuid'\nassign = ['--id', '{session_id}']\n"
	"resume = ['--resume', '{session_id}']\n"
	"[report]\narguments = ['--hooks', '{settings}']\nevents = ['Stop']\nid_key = ''\n";

struct step {
	const char *text; /* "@" is the session's directory */
	int outcome;
	const char *id; /* the conversation's from then on; NULL: none */
	bool turn;
	enum instance_activity activity;
};

static char *with_directory(const struct desk *desk, const char *text)
{
	cleanup_strbuf struct strbuf ret = { 0 };
	for (; *text; text++)
		if (*text == '@')
			strbuf_adds(&ret, desk->cwd);
		else
			strbuf_add(&ret, text, 1);
	return strbuf_take(&ret);
}

static int take(struct desk *desk, const char *text)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *full = with_directory(desk, text);
	return report_text(&desk->deck, ID, &(struct sender){ .token = desk->token }, full,
			   strlen(full), &err);
}

static void walk(struct desk *desk, const struct step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		int outcome = take(desk, step->text);
		cleanup_instance struct instance *now = desk_load(desk);
		cleanup_activity struct activity activity = { 0 };
		activity_read(now->run.directory, &activity);
		if (outcome != step->outcome ||
		    !streq(or_empty(now->conversation.session_id), or_empty(step->id)) ||
		    now->conversation.first_turn_seen != step->turn ||
		    activity.activity != step->activity)
			fail_msg("step %zu: outcome %d, id %s, turn %d, activity %s: %s", i,
				 outcome, or_empty(now->conversation.session_id),
				 now->conversation.first_turn_seen,
				 instance_activity_name(activity.activity), step->text);
	}
}
#define WALK(desk, steps) walk(desk, steps, ARRAY_SIZE(steps))

/* First runs: one attempt. */
static void start(struct desk *desk, const char *name, const char *toml, enum rung rung,
		  const char *id)
{
	const struct attempt attempt = { .rung = rung, .session_id = (char *)(uintptr_t)id };
	const struct agent *agent;
	if (toml)
		agent = desk_agent(desk, name, toml);
	else
		assert_int_equal(deck_agent(&desk->deck, name, &agent, NULL), 0);
	desk_run(desk, agent, id, &attempt, 1);
}

#define NOTIFY(id, cwd)                                         \
	"{\"type\":\"agent-turn-complete\",\"thread-id\":\"" id \
	"\",\"turn-id\":\"3\",\"cwd\":\"" cwd "\","             \
	"\"client\":\"tui\",\"input-messages\":[\"hello\"],\"last-assistant-message\":\"Hi.\"}"
#define HOOK(event, id, more) \
	"{\"session_id\":\"" id "\",\"cwd\":\"@\",\"hook_event_name\":\"" event "\"" more "}"
#define CAMEL(event, id, more) \
	"{\"sessionId\":\"" id \
	"\",\"timestamp\":1776157681000,\"cwd\":\"@\",\"hookEventName\":\"" event "\"" more "}"

static void
the_first_turn_that_is_told_of_names_the_conversation_and_side_threads_do_not(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ NOTIFY(NEW, "@"), 0, NEW, true, ACTIVITY_IDLE },
		{ NOTIFY(NEW, "@"), 0, NEW, true, ACTIVITY_IDLE },
		{ NOTIFY(THIRD, "@"), REPORT_FOREIGN, NEW, true, ACTIVITY_IDLE },
		{ NOTIFY(OLD, "/"), REPORT_FOREIGN, NEW, true, ACTIVITY_IDLE },
		{ "{\"type\":\"other\",\"thread-id\":\"" NEW "\"}", 0, NEW, true, ACTIVITY_IDLE },
		{ "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"" THIRD "\"}", -1, NEW,
		  true, ACTIVITY_IDLE },
		{ NOTIFY("../x", "@"), -1, NEW, true, ACTIVITY_IDLE },
		{ NOTIFY("no-uuid", "@"), -1, NEW, true, ACTIVITY_IDLE },
	};
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	WALK(desk, steps);
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_int_equal(instance->conversation.origin, ORIGIN_REPORTED);
	assert_true(instance->run.reported);
	assert_int_equal(instance->resume_argv.count, 3);
	assert_string_equal(instance->resume_argv.items[1], "resume");
	assert_string_equal(instance->resume_argv.items[2], NEW);
}

static void an_event_that_the_entry_does_not_know_names_nothing(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ "{\"type\":\"approval-requested\",\"thread-id\":\"" THIRD "\"}", 0, NULL, false,
		  ACTIVITY_UNKNOWN },
		{ NOTIFY(NEW, "@"), 0, NEW, true, ACTIVITY_IDLE },
	};
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	WALK(desk, steps);
}

static void hooks_as_the_first_agent_sends_them(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("SessionStart", OLD,
		       ",\"transcript_path\":\"/t/old.jsonl\",\"source\":\"startup\","
		       "\"model\":\"m\""),
		  0, OLD, false, ACTIVITY_IDLE },
		{ HOOK("UserPromptSubmit", OLD,
		       ",\"permission_mode\":\"default\",\"prompt\":\"x\""),
		  0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("PreToolUse", OLD,
		       ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}"),
		  0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Notification", OLD, ",\"message\":\"needs your permission\""), 0, OLD, true,
		  ACTIVITY_WAITING },
		{ HOOK("Stop", OLD, ",\"stop_hook_active\":false,\"last_assistant_message\":\"y\""),
		  0, OLD, true, ACTIVITY_IDLE },
		{ HOOK("SessionEnd", OLD, ",\"reason\":\"clear\""), 0, OLD, true, ACTIVITY_IDLE },
		{ HOOK("SessionStart", NEW, ",\"source\":\"clear\""), 0, NEW, false,
		  ACTIVITY_IDLE },
		{ HOOK("SessionEnd", OLD, ",\"reason\":\"other\""), 0, NEW, false, ACTIVITY_IDLE },
		{ HOOK("UserPromptSubmit", NEW, ",\"prompt\":\"x\""), 0, NEW, true, ACTIVITY_BUSY },
		{ HOOK("SessionEnd", NEW, ",\"reason\":\"prompt_input_exit\""), 0, NEW, true,
		  ACTIVITY_BUSY },
	};
	start(desk, "claude", NULL, RUNG_ASSIGN, OLD);
	WALK(desk, steps);
}

static void check_failure(struct desk *desk, const char *expected)
{
	cleanup_instance struct instance *now = desk_load(desk);
	cleanup_activity struct activity activity = { 0 };
	activity_read(now->run.directory, &activity);
	assert_string_equal(or_empty(activity.failure), expected);
	assert_int_equal(activity.limited_until > 0, streq(expected, FAILURE_LIMIT));
	activity_free(&activity);
}

static void a_turn_that_failed_says_why_until_the_next_one(void **state)
{
	struct desk *desk = *state;
	static const struct step fails[] = {
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"x\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("StopFailure", OLD, ",\"error\":\"rate_limit\""), 0, OLD, true,
		  ACTIVITY_IDLE },
	};
	static const struct step full[] = {
		{ HOOK("StopFailure", OLD,
		       ",\"error\":\"invalid_request\",\"last_assistant_message\":"
		       "\"Prompt is too long \\u00b7 automatic compaction failed: x\""),
		  0, OLD, true, ACTIVITY_IDLE },
	};
	static const struct step limited[] = {
		{ HOOK("StopFailure", OLD,
		       ",\"error\":\"rate_limit\",\"last_assistant_message\":"
		       "\"You've hit your limit \u00b7 resets 2:55pm (UTC)\""),
		  0, OLD, true, ACTIVITY_IDLE },
	};
	static const struct step reminded[] = {
		{ HOOK("Notification", OLD, ",\"notification_type\":\"idle_prompt\""), 0, OLD, true,
		  ACTIVITY_IDLE },
	};
	static const struct step again[] = {
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"x\""), 0, OLD, true, ACTIVITY_BUSY },
	};
	start(desk, "claude", NULL, RUNG_ASSIGN, OLD);
	WALK(desk, fails);
	check_failure(desk, "rate_limit");
	WALK(desk, full);
	check_failure(desk, "context_full");
	WALK(desk, limited);
	check_failure(desk, FAILURE_LIMIT);
	WALK(desk, reminded);
	check_failure(desk, FAILURE_LIMIT);
	WALK(desk, again);
	check_failure(desk, "");
}

static void a_prompt_that_was_queued_begins_when_the_turn_is_over(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"x\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"y\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("PostToolUse", OLD, ""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Stop", OLD, ""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Stop", OLD, ""), 0, OLD, true, ACTIVITY_IDLE },
		/* the next turn begins as usual */
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"z\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Stop", OLD, ""), 0, OLD, true, ACTIVITY_IDLE },
	};
	start(desk, "claude", NULL, RUNG_ASSIGN, OLD);
	WALK(desk, steps);
}

static void an_agent_that_waits_for_another_one_in_the_background_is_busy(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"x\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Stop", OLD,
		       ",\"background_tasks\":[7,{\"type\":\"shell\"},{\"type\":\"subagent\"}]"),
		  0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"y\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Stop", OLD, ",\"background_tasks\":[]"), 0, OLD, true, ACTIVITY_IDLE },
		{ HOOK("UserPromptSubmit", OLD, ",\"prompt\":\"z\""), 0, OLD, true, ACTIVITY_BUSY },
		{ HOOK("Stop", OLD, ",\"background_tasks\":[{\"type\":\"shell\"}]"), 0, OLD, true,
		  ACTIVITY_IDLE },
	};
	start(desk, "claude", NULL, RUNG_ASSIGN, OLD);
	WALK(desk, steps);
}

static void hooks_under_the_names_of_the_entry(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("SessionEnd", THIRD, ",\"reason\":\"exit\""), 0, NULL, false,
		  ACTIVITY_UNKNOWN },
		{ HOOK("UserPromptSubmit", THIRD, ""), 0, NULL, false, ACTIVITY_UNKNOWN },
		{ HOOK("SessionStart", "ses_1",
		       ",\"transcript_path\":\"/t/1.json\",\"timestamp\":"
		       "\"2026-04-14T09:08:01.000Z\",\"source\":\"startup\""),
		  0, "ses_1", false, ACTIVITY_IDLE },
		{ HOOK("BeforeAgent", "ses_1", ",\"prompt\":\"hello\""), 0, "ses_1", true,
		  ACTIVITY_BUSY },
		{ HOOK("Notification", "ses_1", ",\"notification_type\":\"ToolPermission\""), 0,
		  "ses_1", true, ACTIVITY_WAITING },
		{ HOOK("AfterTool", "ses_1", ",\"tool_response\":{\"llmContent\":\"x\"}"), 0,
		  "ses_1", true, ACTIVITY_BUSY },
		{ HOOK("AfterAgent", "ses_1", ",\"prompt_response\":\"y\""), 0, "ses_1", true,
		  ACTIVITY_IDLE },
		{ HOOK("SessionStart", "ses_2", ",\"source\":\"startup\""), REPORT_FOREIGN, "ses_1",
		  true, ACTIVITY_IDLE },
		{ HOOK("BeforeAgent", "ses_2", ""), REPORT_FOREIGN, "ses_1", true, ACTIVITY_IDLE },
		{ HOOK("SessionStart", "ses_3", ",\"source\":\"clear\""), 0, "ses_3", false,
		  ACTIVITY_IDLE },
		{ HOOK("AfterAgent", "ses_1", ""), REPORT_FOREIGN, "ses_3", false, ACTIVITY_IDLE },
		{ HOOK("AfterAgent", "ses_3", ""), 0, "ses_3", true, ACTIVITY_IDLE },
		{ HOOK("SessionStart", "ses_1", ",\"source\":\"resume\""), 0, "ses_1", false,
		  ACTIVITY_IDLE },
	};
	start(desk, "hooked", hooked, RUNG_LAUNCH, NULL);
	WALK(desk, steps);
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_string_equal(instance->resume_argv.items[1], "--resume=ses_1");
}

static void members_under_the_names_of_the_entry(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ CAMEL("sessionStart", OLD,
			",\"source\":\"new\",\"transcriptPath\":\"/t/a.jsonl\""),
		  0, OLD, false, ACTIVITY_IDLE },
		{ CAMEL("userPromptSubmitted", OLD, ",\"prompt\":\"x\""), 0, OLD, true,
		  ACTIVITY_BUSY },
		{ CAMEL("agentStop", OLD, ",\"stopReason\":\"end_turn\""), 0, OLD, true,
		  ACTIVITY_IDLE },
		{ HOOK("SessionStart", NEW, ",\"source\":\"clear\""), -1, OLD, true,
		  ACTIVITY_IDLE },
		{ CAMEL("sessionEnd", NEW, ",\"reason\":\"user_exit\""), 0, OLD, true,
		  ACTIVITY_IDLE },
		/* A payload that does not name the event. */
		{ "{\"sessionId\":\"" NEW "\",\"cwd\":\"@\",\"source\":\"clear\"}", -1, OLD, true,
		  ACTIVITY_IDLE },
	};
	start(desk, "camel", camel, RUNG_ASSIGN, OLD);
	WALK(desk, steps);
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_string_equal(instance->conversation.transcript_path, "/t/a.jsonl");
}

static void an_agent_that_names_no_conversation_speaks_of_that_of_the_run(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("SessionStart", THIRD, ",\"source\":\"clear\""), 0, OLD, false,
		  ACTIVITY_IDLE },
		{ HOOK("UserPromptSubmit", THIRD, ""), 0, OLD, true, ACTIVITY_BUSY },
	};
	start(desk, "nameless", nameless, RUNG_ASSIGN, OLD);
	WALK(desk, steps);
}

/* Resuming OLD failed; the agent was started again under an id that only it knows. */
static void start_after_a_failed_resume(struct desk *desk)
{
	const struct attempt attempts[] = {
		{ .rung = RUNG_RESUME, .session_id = (char *)OLD },
		{ .rung = RUNG_FRESH, .reason = REASON_RESUME_FAILED },
	};
	desk_run(desk, desk_agent(desk, "hooked", hooked), OLD, attempts, ARRAY_SIZE(attempts));
}

static void a_conversation_in_the_place_of_one_that_failed_counts_from_its_first_turn(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("SessionStart", NEW, ",\"source\":\"startup\""), 0, OLD, false,
		  ACTIVITY_IDLE },
		{ HOOK("SessionStart", THIRD, ",\"source\":\"startup\""), REPORT_FOREIGN, OLD,
		  false, ACTIVITY_IDLE },
		{ HOOK("BeforeAgent", NEW, ""), 0, NEW, true, ACTIVITY_BUSY },
	};
	start_after_a_failed_resume(desk);
	WALK(desk, steps);
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_string_equal(instance->conversation.previous.items[0], OLD);
}

static void the_late_word_of_an_attempt_that_failed_names_nothing(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ HOOK("SessionStart", OLD, ",\"source\":\"resume\""), REPORT_FOREIGN, OLD, false,
		  ACTIVITY_UNKNOWN },
		{ HOOK("AfterAgent", OLD, ""), REPORT_FOREIGN, OLD, false, ACTIVITY_UNKNOWN },
		{ HOOK("AfterAgent", NEW, ""), 0, NEW, true, ACTIVITY_IDLE },
		{ HOOK("AfterAgent", OLD, ""), REPORT_FOREIGN, NEW, true, ACTIVITY_IDLE },
	};
	start_after_a_failed_resume(desk);
	WALK(desk, steps);
}

static void nothing_that_runs_in_the_last_shell_is_the_agent(void **state)
{
	struct desk *desk = *state;
	const struct attempt attempts[] = {
		{ .rung = RUNG_RESUME, .session_id = (char *)OLD },
		{ .rung = RUNG_SHELL },
	};
	static const struct step steps[] = {
		{ HOOK("SessionStart", NEW, ",\"source\":\"resume\""), REPORT_FOREIGN, OLD, false,
		  ACTIVITY_UNKNOWN },
		{ HOOK("AfterAgent", OLD, ""), REPORT_FOREIGN, OLD, false, ACTIVITY_UNKNOWN },
	};
	desk_run(desk, desk_agent(desk, "hooked", hooked), OLD, attempts, ARRAY_SIZE(attempts));
	WALK(desk, steps);
}

static void another_directory_is_another_agent_s(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ NOTIFY(NEW, "@2"), REPORT_FOREIGN, NULL, false, ACTIVITY_UNKNOWN },
		{ NOTIFY(NEW, "@/.."), REPORT_FOREIGN, NULL, false, ACTIVITY_UNKNOWN },
		{ NOTIFY(NEW, "/no/such/place"), REPORT_FOREIGN, NULL, false, ACTIVITY_UNKNOWN },
		{ NOTIFY(NEW, "@/out"), REPORT_FOREIGN, NULL, false, ACTIVITY_UNKNOWN },
		{ NOTIFY(NEW, "@/removed/below"), 0, NEW, true, ACTIVITY_IDLE },
	};
	cleanup_free char *out = xasprintf("%s/out", desk->cwd);
	assert_int_equal(symlink("/usr", out), 0);
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	WALK(desk, steps);
}

static void the_directory_may_be_written_in_another_way(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *link = xasprintf("%s-link", desk->cwd);
	assert_int_equal(symlink("project", link), 0);
	static const struct step steps[] = {
		{ NOTIFY(NEW, "@-link"), 0, NEW, true, ACTIVITY_IDLE },
		{ NOTIFY(NEW, "."), 0, NEW, true, ACTIVITY_IDLE },
	};
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	WALK(desk, steps);
}

/* The agent enters a worktree, or another directory that it was allowed to use. */
static void where_the_known_conversation_went_another_may_begin(void **state)
{
	struct desk *desk = *state;
#define AT(cwd, event, id, more) \
	"{\"session_id\":\"" id "\",\"cwd\":\"" cwd "\",\"hook_event_name\":\"" event "\"" more "}"
	static const struct step steps[] = {
		{ AT("/usr", "SessionStart", NEW, ",\"source\":\"clear\""), REPORT_FOREIGN, OLD,
		  false, ACTIVITY_UNKNOWN },
		{ AT("/usr", "SessionStart", OLD, ",\"source\":\"startup\""), 0, OLD, false,
		  ACTIVITY_IDLE },
		{ AT("/bin", "SessionStart", NEW, ",\"source\":\"clear\""), REPORT_FOREIGN, OLD,
		  false, ACTIVITY_IDLE },
		{ AT("/usr", "SessionStart", NEW, ",\"source\":\"clear\""), 0, NEW, false,
		  ACTIVITY_IDLE },
		{ AT("@", "Stop", NEW, ""), 0, NEW, false, ACTIVITY_IDLE },
		{ AT("/usr", "SessionStart", THIRD, ",\"source\":\"clear\""), REPORT_FOREIGN, NEW,
		  false, ACTIVITY_IDLE },
	};
	start(desk, "claude", NULL, RUNG_ASSIGN, OLD);
	WALK(desk, steps);
}

static void the_token_of_an_earlier_run_is_worth_nothing(void **state)
{
	struct desk *desk = *state;
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	cleanup_instance struct instance *instance = desk_load(desk);
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, "notifier", &agent, NULL), 0);
	assert_int_equal(runfiles_write(&desk->deck, instance, agent, NULL), 0);
	static const struct step late[] = { { NOTIFY(NEW, "@"), REPORT_FOREIGN, NULL, false,
					      ACTIVITY_UNKNOWN } };
	WALK(desk, late);
	replace_string(&desk->token, NULL);
	WALK(desk, late);
	desk->token = runfiles_token(instance);
	static const struct step present[] = { { NOTIFY(NEW, "@"), 0, NEW, true, ACTIVITY_IDLE } };
	WALK(desk, present);
}

static void refuse(struct desk *desk, const char *text, size_t length)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *before = desk_manifest(desk);
	assert_int_equal(report_text(&desk->deck, ID, &(struct sender){ .token = desk->token },
				     text, length, &err),
			 -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	cleanup_free char *after = desk_manifest(desk);
	assert_string_equal(after, before);
}

static void what_is_no_text_is_refused(void **state)
{
	struct desk *desk = *state;
	static const char torn[] = "{\"type\":\"agent-turn-complete\",\"thread-id\":\"" NEW
				   "\",\"m\":\"\xe2\x82\"}";
	static const char nul[] = "{\"type\":\"agent-turn-complete\",\"thread-id\":\"" NEW
				  "\",\"m\":\"a\0b\"}";
	static const char nul_behind[] = NOTIFY(NEW, "/") "\0{}";
	cleanup_strbuf struct strbuf deep = { 0 };
	strbuf_adds(&deep, "{\"type\":\"agent-turn-complete\",\"thread-id\":\"" NEW "\",\"m\":");
	for (size_t i = 0; i < 100000; i++)
		strbuf_adds(&deep, "[");
	for (size_t i = 0; i < 100000; i++)
		strbuf_adds(&deep, "]");
	strbuf_adds(&deep, "}");
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	refuse(desk, torn, sizeof(torn) - 1);
	refuse(desk, nul, sizeof(nul) - 1);
	refuse(desk, nul_behind, sizeof(nul_behind) - 1);
	refuse(desk, deep.data, deep.length);
	refuse(desk, deep.data, deep.length / 2);
}

static void a_nul_that_is_escaped_makes_no_id(void **state)
{
	struct desk *desk = *state;
	static const struct step steps[] = {
		{ "{\"type\":\"agent-turn-complete\",\"thread-id\":\"" NEW "\\u0000x\"}", 0, NULL,
		  false, ACTIVITY_IDLE },
	};
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	WALK(desk, steps);
}

static void run_hook(struct desk *desk, const char *const *operands)
{
	struct app app = { .command = &command_hook,
			   .options = xcalloc(1, command_hook.options_size) };
	cleanup_error struct error err = { 0 };
	for (; *operands; operands++)
		strvec_push_take(&app.operands, with_directory(desk, *operands));
	setenv(ENV_INSTANCE, ID, 1);
	setenv(ENV_TOKEN, desk->token, 1);
	assert_int_equal(command_hook.run(&app, &err), 0);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(app.deck.warnings.count, 0);
	unsetenv(ENV_INSTANCE);
	unsetenv(ENV_TOKEN);
	app_free(&app);
}

static void the_hook_takes_its_last_argument_and_never_fails(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *directory = xasprintf("%s/agents", desk->deck.paths.config);
	cleanup_free char *file = path_join(directory, "notifier.toml");
	if (mkdir(directory, 0700) < 0)
		assert_int_equal(errno, EEXIST);
	cleanup_close int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fs_write_all(fd, notifier, strlen(notifier), file, NULL), 0);
	start(desk, "notifier", notifier, RUNG_LAUNCH, NULL);
	run_hook(desk, (const char *const[]){ NOTIFY(NEW, "@"), "x", NULL });
	run_hook(desk, (const char *const[]){ "", NULL });
	cleanup_instance struct instance *before = desk_load(desk);
	assert_null(before->conversation.session_id);
	run_hook(desk, (const char *const[]){ "turn-ended", NOTIFY(NEW, "@"), NULL });
	cleanup_instance struct instance *after = desk_load(desk);
	assert_string_equal(after->conversation.session_id, NEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(
			the_first_turn_that_is_told_of_names_the_conversation_and_side_threads_do_not),
		DESK_TEST(an_event_that_the_entry_does_not_know_names_nothing),
		DESK_TEST(hooks_as_the_first_agent_sends_them),
		DESK_TEST(a_turn_that_failed_says_why_until_the_next_one),
		DESK_TEST(a_prompt_that_was_queued_begins_when_the_turn_is_over),
		DESK_TEST(an_agent_that_waits_for_another_one_in_the_background_is_busy),
		DESK_TEST(hooks_under_the_names_of_the_entry),
		DESK_TEST(members_under_the_names_of_the_entry),
		DESK_TEST(an_agent_that_names_no_conversation_speaks_of_that_of_the_run),
		DESK_TEST(
			a_conversation_in_the_place_of_one_that_failed_counts_from_its_first_turn),
		DESK_TEST(the_late_word_of_an_attempt_that_failed_names_nothing),
		DESK_TEST(nothing_that_runs_in_the_last_shell_is_the_agent),
		DESK_TEST(another_directory_is_another_agent_s),
		DESK_TEST(the_directory_may_be_written_in_another_way),
		DESK_TEST(where_the_known_conversation_went_another_may_begin),
		DESK_TEST(the_token_of_an_earlier_run_is_worth_nothing),
		DESK_TEST(what_is_no_text_is_refused),
		DESK_TEST(a_nul_that_is_escaped_makes_no_id),
		DESK_TEST(the_hook_takes_its_last_argument_and_never_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
