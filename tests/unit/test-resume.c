/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ladder.  Facts go in as words, and the plan comes out as one line, so that a table looks as
 * one would write it on paper: "rung:reason id argv...", rungs separated by " | ".
 */
#include "unit/test.h"

#include "base/argsplit.h"
#include "model/plan/resume.h"

#include <string.h>

#define OLD      "0aaaaaaa-0000-4000-8000-000000000001"
#define NEW      "0bbbbbbb-0000-4000-8000-000000000002"
#define FORKED   "0ccccccc-0000-4000-8000-000000000003"
#define SETTINGS "/run/s.json"

static struct registry registry;

static int set_up(void **state UNUSED)
{
	/* Two agents that are not built in: one that only resumes, one without ids but with a
	 * prompt. */
	static const char resumes[] =
		"match = [\"resumer\"]\ncommand = [\"resumer\"]\n"
		"[session]\nid = \"any\"\nresume = [\"resume\", \"{session_id}\"]\n"
		"[arguments]\nprompt_positional = true\n";
	static const char plain[] = "match = [\"plain\"]\ncommand = [\"plain\"]\n"
				    "[session]\nid = \"none\"\n";
	if (registry_builtin(&registry, NULL) < 0 ||
	    registry_override(&registry, "resumer", resumes, sizeof(resumes) - 1, "r", NULL) < 0 ||
	    registry_override(&registry, "plain", plain, sizeof(plain) - 1, "p", NULL) < 0)
		return -1;
	return 0;
}

static int tear_down(void **state UNUSED)
{
	registry_free(&registry);
	return 0;
}

/* --- the plan --------------------------------------------------------------------------------- */

enum {
	HAS_ID = 1 << 0,
	FIRST = 1 << 1, /* the first launch */
	ADOPTED = 1 << 2,
	TURN_SEEN = 1 << 3,
	NO_RESUME = 1 << 4, /* switched off for this start */
	NO_SETTINGS = 1 << 5,
	NO_SHELL = 1 << 6,
	FORK = 1 << 7, /* a copy of FORKED */
};

static char *describe(const struct run *run)
{
	struct strbuf text = { 0 };
	for (size_t i = 0; i < run->attempt_count; i++) {
		const struct attempt *attempt = &run->attempts[i];
		cleanup_free char *argv = argjoin(attempt->argv.items);
		strbuf_addf(&text, "%s%s:%s %.8s %s", i ? " | " : "", rung_name(attempt->rung),
			    attempt_reason(attempt), or_empty(attempt->session_id), argv);
	}
	return strbuf_take(&text);
}

static char *plan(const char *agent, const char *command, enum transcript_fact transcript,
		  unsigned flags)
{
	cleanup_instance struct instance *instance = instance_new();
	assert_int_equal(argsplit(command, &instance->argv, NULL), 0);
	instance->agent = xstrdup(agent);
	instance->last_used_at = flags & FIRST ? 0 : 1;
	if (flags & HAS_ID) {
		instance->conversation.session_id = xstrdup(OLD);
		instance->conversation.origin = flags & ADOPTED ? ORIGIN_ADOPTED : ORIGIN_MINTED;
		instance->conversation.first_turn_seen = flags & TURN_SEEN;
	}
	if (flags & FORK)
		instance->conversation.forked_from = xstrdup(FORKED);
	const struct resume_facts facts = {
		.agent = registry_find(&registry, agent),
		.instance = instance,
		.transcript = transcript,
		.resume_enabled = !(flags & NO_RESUME),
		.new_session_id = NEW,
		.settings_file = flags & NO_SETTINGS ? NULL : SETTINGS,
		.hook = flags & NO_SETTINGS ? NULL : "[\"/bin/agentdeck\",\"hook\"]",
		.state = "/state/x",
		.shell = flags & NO_SHELL ? NULL : "/bin/sh",
	};
	assert_non_null(facts.agent);
	resume_plan(&facts, &instance->run);
	assert_true(instance->run.attempt_count > 0);
	return describe(&instance->run);
}

struct plan_row {
	enum transcript_fact transcript;
	unsigned flags;
	const char *expected; /* rungs and reasons only */
};

#define LAST " launch:session_arguments_failed shell:agent_does_not_start"

/* The rungs and their reasons only. */
static char *rungs_of(const char *described)
{
	struct strbuf text = { 0 };
	for (const char *at = described; at; at = strstr(at, " | ")) {
		at += at == described ? 0 : 3;
		strbuf_addf(&text, "%s%.*s", text.length ? " " : "", (int)strcspn(at, " "), at);
	}
	return strbuf_take(&text);
}

static void the_facts_decide_the_rungs_of_an_agent_with_ids(void **state UNUSED)
{
	static const struct plan_row table[] = {
		/* No id is known, so make one. */
		{ TRANSCRIPT_ABSENT, FIRST, "assign:fresh_session" LAST },
		{ TRANSCRIPT_ABSENT, 0, "assign:no_id_stored" LAST },
		{ TRANSCRIPT_UNKNOWN, FIRST, "assign:fresh_session" LAST },
		/* An id that we made. */
		{ TRANSCRIPT_ABSENT, HAS_ID | FIRST, "assign:fresh_session" LAST },
		{ TRANSCRIPT_UNKNOWN, HAS_ID | FIRST, "assign:fresh_session" LAST },
		{ TRANSCRIPT_TURNS, HAS_ID | FIRST,
		  "resume:conversation_data_present launch:resume_failed shell:agent_does_not_start" },
		{ TRANSCRIPT_TURNS, HAS_ID,
		  "resume:conversation_data_present fresh:resume_failed" LAST },
		{ TRANSCRIPT_TURNS, HAS_ID | TURN_SEEN,
		  "resume:conversation_data_present fresh:resume_failed" LAST },
		{ TRANSCRIPT_ABSENT, HAS_ID,
		  "assign:nothing_written_yet resume:id_in_use fresh:resume_failed" LAST },
		{ TRANSCRIPT_ABSENT, HAS_ID | TURN_SEEN,
		  "resume:first_turn_seen assign:id_unused fresh:resume_failed" LAST },
		{ TRANSCRIPT_UNKNOWN, HAS_ID,
		  "resume:first_turn_seen assign:id_unused fresh:resume_failed" LAST },
		{ TRANSCRIPT_UNKNOWN, HAS_ID | TURN_SEEN,
		  "resume:first_turn_seen assign:id_unused fresh:resume_failed" LAST },
		/* The agent may not find it there; nothing takes its place. */
		{ TRANSCRIPT_ELSEWHERE, HAS_ID | TURN_SEEN,
		  "resume:conversation_elsewhere shell:agent_does_not_start" },
		{ TRANSCRIPT_ELSEWHERE, HAS_ID | FIRST | ADOPTED,
		  "resume:conversation_elsewhere shell:agent_does_not_start" },
		{ TRANSCRIPT_ELSEWHERE, HAS_ID | NO_RESUME, "fresh:resume_disabled" LAST },
		/* A file that makes both flags fail. */
		{ TRANSCRIPT_EMPTY, HAS_ID, "fresh:transcript_without_turns" LAST },
		{ TRANSCRIPT_EMPTY, HAS_ID | FIRST, "fresh:transcript_without_turns" LAST },
		{ TRANSCRIPT_EMPTY, HAS_ID | TURN_SEEN, "fresh:transcript_without_turns" LAST },
		/* Adopted, with a --session-id of ours. */
		{ TRANSCRIPT_TURNS, HAS_ID | FIRST | ADOPTED,
		  "resume:conversation_data_present fresh:resume_failed" LAST },
		{ TRANSCRIPT_ABSENT, HAS_ID | FIRST | ADOPTED,
		  "assign:fresh_session resume:id_in_use fresh:resume_failed" LAST },
		/* Resuming is switched off. */
		{ TRANSCRIPT_TURNS, HAS_ID | NO_RESUME, "fresh:resume_disabled" LAST },
		{ TRANSCRIPT_ABSENT, HAS_ID | TURN_SEEN | NO_RESUME, "fresh:resume_disabled" LAST },
		{ TRANSCRIPT_ABSENT, HAS_ID | FIRST | NO_RESUME, "assign:fresh_session" LAST },
		/* There is no shell to fall back to. */
		{ TRANSCRIPT_TURNS, HAS_ID | NO_SHELL,
		  "resume:conversation_data_present fresh:resume_failed launch:session_arguments_failed" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *described = plan("claude", "claude", table[i].transcript,
						    table[i].flags);
		cleanup_free char *rungs = rungs_of(described);
		if (!streq(rungs, table[i].expected))
			fail_msg("row %zu: %s, expected %s", i, rungs, table[i].expected);
	}
}

/* Whatever the facts: there is something to try, each rung once, an id wherever the agent needs
 * one, and the stored conversation never after a new one. */
static void every_combination_of_facts_has_a_sound_ladder(void **state UNUSED)
{
	static const char *const agents[] = { "claude", "demo", "shell", "resumer", "plain" };
	for (size_t a = 0; a < ARRAY_SIZE(agents); a++) {
		for (unsigned flags = 0; flags < 1 << 7; flags++) {
			for (int fact = TRANSCRIPT_UNKNOWN; fact <= TRANSCRIPT_ELSEWHERE; fact++) {
				cleanup_free char *text = plan(agents[a], "prog --x",
							       (enum transcript_fact)fact, flags);
				const char *resume = strstr(text, "resume:"),
					   *fresh = strstr(text, "fresh:");
				assert_null(resume ? strstr(resume + 1, "resume:") : NULL);
				assert_null(strstr(text, "{"));
				assert_true(
					strstr(text, "launch:") ||
					(fact == TRANSCRIPT_ELSEWHERE && resume == text && !fresh));
				assert_true(!fresh || !resume || resume < fresh);
				assert_true(!!strstr(text, "shell:") == !(flags & NO_SHELL));
				if (!(flags & HAS_ID))
					assert_null(strstr(text, "0aaaaaaa"));
				if (fact == TRANSCRIPT_TURNS && (flags & HAS_ID) && a != 2 &&
				    a != 4 && !((flags & NO_RESUME) && !(flags & FIRST)))
					assert_true(resume == text);
			}
		}
	}
}

/* --- the argv of each rung -------------------------------------------------------------------- */

#define END     " | shell:agent_does_not_start  /bin/sh"
#define RESUMED "--resume " OLD " --settings " SETTINGS

static void check_plan(const char *agent, const char *command, enum transcript_fact transcript,
		       unsigned flags, const char *expected)
{
	cleanup_free char *text = plan(agent, command, transcript, flags);
	if (!streq(text, expected))
		fail_msg("%s\n got      %s\n expected %s", command, text, expected);
}

static void the_launch_prompt_is_sent_once(void **state UNUSED)
{
	check_plan(
		"claude", "claude --model opus 'fix it'", TRANSCRIPT_ABSENT, HAS_ID | FIRST,
		"assign:fresh_session 0aaaaaaa claude --model opus --session-id " OLD
		" --settings " SETTINGS " 'fix it'"
		" | launch:session_arguments_failed  claude --model opus --settings " SETTINGS END);
	check_plan(
		"claude", "claude --model opus 'fix it'", TRANSCRIPT_ABSENT, HAS_ID,
		"assign:nothing_written_yet 0aaaaaaa claude --model opus --session-id " OLD
		" --settings " SETTINGS " | resume:id_in_use 0aaaaaaa claude --model opus " RESUMED
		" | fresh:resume_failed 0bbbbbbb claude --model opus --session-id " NEW
		" --settings " SETTINGS
		" | launch:session_arguments_failed  claude --model opus --settings " SETTINGS END);
	check_plan("claude", "claude -- '--not a flag' more", TRANSCRIPT_ABSENT,
		   FIRST | NO_SETTINGS,
		   "assign:fresh_session 0bbbbbbb claude --session-id " NEW
		   " -- '--not a flag' more"
		   " | launch:session_arguments_failed  claude" END);
	check_plan("plain", "plain go", TRANSCRIPT_UNKNOWN, FIRST,
		   "launch:no_session_ids  plain go" END);
}

struct argv_row {
	const char *command, *resumed;
};

static void what_chose_a_conversation_is_stripped_and_the_rest_is_carried(void **state UNUSED)
{
	static const struct argv_row table[] = {
		{ "claude", "claude" },
		{ "/opt/x/claude --model opus", "/opt/x/claude --model opus" },
		{ "claude --model=opus -n x --verbose", "claude --model=opus -n x --verbose" },
		/* ids and choices, in each form */
		{ "claude --session-id " NEW, "claude" },
		{ "claude --session-id=" NEW " --verbose", "claude --verbose" },
		{ "claude --resume " NEW " --verbose", "claude --verbose" },
		{ "claude --resume=" NEW, "claude" },
		{ "claude -r " NEW, "claude" },
		{ "claude --resume --verbose", "claude --verbose" },
		{ "claude -c --verbose", "claude --verbose" },
		{ "claude --continue --fork-session --model opus", "claude --model opus" },
		{ "claude --resume", "claude" },
		{ "claude --session-id", "claude" },
		/* prompts */
		{ "claude 'a prompt'", "claude" },
		{ "claude --model opus 'a prompt' --verbose", "claude --model opus --verbose" },
		{ "claude -- --resume x", "claude" },
		{ "claude --debug api prompt", "claude --debug api" },
		{ "claude --debug --verbose prompt", "claude --debug --verbose" },
		{ "claude -", "claude" },
		/* values that look like something else */
		{ "claude --append-system-prompt --resume prompt",
		  "claude --append-system-prompt --resume" },
		{ "claude --append-system-prompt '' --verbose",
		  "claude --append-system-prompt '' --verbose" },
		/* flags with many values end at the next flag */
		{ "claude --add-dir /a /b --verbose prompt", "claude --add-dir /a /b --verbose" },
		{ "claude --allowedTools 'Bash(git:*)' Edit",
		  "claude --allowedTools 'Bash(git:*)' Edit" },
		/* words before the program */
		{ "env A=1 claude --resume " NEW " prompt", "env A=1 claude" },
		{ "env -u B A=1 claude --verbose", "env -u B A=1 claude --verbose" },
		{ "node /x/claude --session-id " NEW, "node /x/claude" },
		{ "my-wrapper --verbose", "my-wrapper --verbose" },
		{ "claude --model '#(x) ; $(y)' --verbose",
		  "claude --model '#(x) ; $(y)' --verbose" },
		/* the user's own settings are part of ours */
		{ "claude --settings /mine.json --verbose", "claude --verbose" },
		{ "claude --settings=/mine.json", "claude" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *expected = xasprintf(
			"resume:conversation_data_present 0aaaaaaa %s " RESUMED, table[i].resumed);
		cleanup_free char *text = plan("claude", table[i].command, TRANSCRIPT_TURNS,
					       HAS_ID);
		size_t length = strlen(expected);
		if (strncmp(text, expected, length) != 0 || !starts_with(text + length, " | "))
			fail_msg("%s\n got      %s\n expected %s", table[i].command, text,
				 expected);
	}
}

static void the_users_own_settings_stay_where_there_are_none_of_ours(void **state UNUSED)
{
	cleanup_free char *text = plan("claude", "claude --settings /mine.json hello",
				       TRANSCRIPT_TURNS, HAS_ID | NO_SETTINGS);
	assert_true(starts_with(text, "resume:conversation_data_present 0aaaaaaa claude --settings "
				      "/mine.json --resume " OLD " | "));
}

static void a_generic_command_is_left_as_it_is(void **state UNUSED)
{
	check_plan("shell", "bash -c 'echo \"$1\"' -- --resume " OLD " prompt", TRANSCRIPT_UNKNOWN,
		   FIRST,
		   "launch:no_session_ids  bash -c 'echo \"$1\"' -- --resume " OLD " prompt" END);
	check_plan("shell", "bash -c 'echo \"$1\"' -- --resume " OLD " prompt", TRANSCRIPT_UNKNOWN,
		   0,
		   "launch:no_session_ids  bash -c 'echo \"$1\"' -- --resume " OLD " prompt" END);
}

static void check_word(const char *(*find)(const struct agent *, const struct strvec *),
		       const char *agent, const char *command, const char *expected)
{
	cleanup_strvec struct strvec argv = { 0 };
	assert_int_equal(argsplit(command, &argv, NULL), 0);
	const char *found = find(registry_find(&registry, agent), &argv);
	if (!streq(or_empty(found), or_empty(expected)))
		fail_msg("%s: %s, expected %s", command, or_empty(found), or_empty(expected));
}

static void words_that_make_no_session_or_choose_its_conversation_are_found(void **state UNUSED)
{
	check_word(resume_find_latest, "claude", "claude --model opus -c", "-c");
	check_word(resume_find_latest, "claude", "env A=1 claude --continue go", "--continue");
	check_word(resume_find_latest, "claude", "claude --append-system-prompt --continue", NULL);
	check_word(resume_find_latest, "claude", "claude -- --continue", NULL);
	check_word(resume_find_latest, "claude", "claude continue", NULL);
	check_word(resume_find_latest, "codex", "codex -c a=b", NULL);
	check_word(resume_find_latest, "codex", "codex resume --last", "--last");
	check_word(resume_find_one_shot, "claude", "claude -p hello", "-p");
	check_word(resume_find_one_shot, "claude", "claude --print=x", "--print=x");
	check_word(resume_find_one_shot, "claude", "claude --model -p", NULL);
	check_word(resume_find_one_shot, "claude", "claude print", NULL);
	check_word(resume_find_one_shot, "codex", "codex -p work", NULL);
	check_word(resume_find_one_shot, "codex", "codex -m o exec 'fix it'", "exec");
	check_word(resume_find_one_shot, "codex", "codex 'fix it' exec", NULL);
	check_word(resume_find_one_shot, "opencode", "opencode run x", "run");
	check_word(resume_find_copy, "claude", "claude --resume " OLD " --fork-session",
		   "--fork-session");
	check_word(resume_find_copy, "claude", "claude --resume " OLD, NULL);
	check_word(resume_find_copy, "codex", "codex x", NULL);
}

/* The arguments that the attempts get from the user's words after the program, without ours. */
static void check_once(const char *command, enum transcript_fact fact, unsigned flags,
		       bool is_handed_over)
{
	cleanup_free char *text = plan("claude", command, fact, flags);
	bool has_name = strstr(command, "feature") != NULL;
	if (!strstr(text, "--model opus") ||
	    is_handed_over != (strstr(text, " -w") || strstr(text, "--worktree")) ||
	    (has_name && is_handed_over != (strstr(text, "feature") != NULL)))
		fail_msg("%s: %s", command, text);
}

static void
what_makes_something_is_handed_over_until_the_conversation_has_begun(void **state UNUSED)
{
	static const char *const commands[] = {
		"claude -w --model opus",        "claude --worktree feature --model opus",
		"claude -wfeature --model opus", "claude --worktree=feature --model opus",
		"claude --model opus -w",        "claude -w feature --model opus",
	};
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		check_once(commands[i], TRANSCRIPT_ABSENT, HAS_ID | FIRST, true);
		/* There was never a report of it. */
		check_once(commands[i], TRANSCRIPT_ABSENT, HAS_ID, true);
		check_once(commands[i], TRANSCRIPT_ABSENT, HAS_ID | TURN_SEEN, false);
		check_once(commands[i], TRANSCRIPT_TURNS, HAS_ID, false);
		check_once(commands[i], TRANSCRIPT_TURNS, HAS_ID | NO_RESUME, false);
		check_once(commands[i], TRANSCRIPT_ELSEWHERE, HAS_ID, false);
	}
	cleanup_free char *text = plan("claude", "claude -w 'fix it'", TRANSCRIPT_TURNS, HAS_ID);
	assert_null(strstr(text, "fix it"));
}

static void an_agent_that_only_resumes_is_resumed_or_launched(void **state UNUSED)
{
	check_plan("resumer", "resumer --x prompt", TRANSCRIPT_UNKNOWN, HAS_ID,
		   "resume:id_known 0aaaaaaa resumer --x resume " OLD
		   " | launch:resume_failed  resumer --x" END);
	check_plan("resumer", "resumer --x prompt", TRANSCRIPT_UNKNOWN, FIRST,
		   "launch:no_session_ids  resumer --x prompt" END);
}

static void a_user_who_named_a_conversation_to_resume_gets_that_one(void **state UNUSED)
{
	cleanup_free char *text = plan("claude", "claude --resume " OLD, TRANSCRIPT_ABSENT,
				       HAS_ID | FIRST | ADOPTED);
	cleanup_free char *rungs = rungs_of(text);
	assert_string_equal(rungs, "resume:id_in_users_arguments assign:id_unused "
				   "fresh:resume_failed" LAST);
	cleanup_free char *named = plan("claude", "claude --session-id " OLD, TRANSCRIPT_ABSENT,
					HAS_ID | FIRST | ADOPTED);
	assert_true(starts_with(named, "assign:fresh_session 0aaaaaaa claude --session-id " OLD
				       " --settings"));
}

static void an_id_in_the_users_arguments_is_found(void **state UNUSED)
{
	static const struct argv_row table[] = {
		{ "claude --resume x", "x" },
		{ "claude --resume=x", "x" },
		{ "claude -r x", "x" },
		{ "claude --session-id x prompt", "x" },
		{ "env A=1 claude --session-id=x", "x" },
		{ "claude --resume", NULL },
		{ "claude --resume --verbose", NULL },
		{ "claude -c", NULL },
		{ "claude -- --resume x", NULL },
		{ "claude --resumed x", NULL },
		{ "claude", NULL },
	};
	const struct agent *agent = registry_find(&registry, "claude");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_strvec struct strvec argv = { 0 };
		assert_int_equal(argsplit(table[i].command, &argv, NULL), 0);
		const char *id = resume_adopted_id(agent, &argv);
		if (!streq(or_empty(id), or_empty(table[i].resumed)))
			fail_msg("%s: %s", table[i].command, or_empty(id));
	}
}

static void templates_have_their_slot_filled_wherever_it_is(void **state UNUSED)
{
	cleanup_strvec struct strvec template = { 0 }, argv = { 0 };
	strvec_push(&template, "--id={session_id}.json");
	strvec_push(&template, "{session_id}");
	strvec_push(&template, "plain");
	resume_push_template(&argv, &template, "X");
	assert_int_equal(argv.count, 3);
	assert_string_equal(argv.items[0], "--id=X.json");
	assert_string_equal(argv.items[1], "X");
	assert_string_equal(argv.items[2], "plain");
}

static void carrying_adds_nothing_and_changes_nothing(void **state UNUSED)
{
	cleanup_strvec struct strvec argv = { 0 }, carried = { 0 };
	const struct agent *agent = registry_find(&registry, "claude");
	assert_int_equal(argsplit("claude --settings /mine -r x go", &argv, NULL), 0);
	resume_carried_argv(agent, &argv, &carried);
	cleanup_free char *line = argjoin(carried.items);
	assert_string_equal(line, "claude --settings /mine");
	assert_int_equal(argv.count, 6);
}

/* --- judging an end --------------------------------------------------------------------------- */

/* Never an empty conversation in place of the copy, and never a second copy once the first one has
 * turns. */
static void a_copy_is_made_until_it_is_there_and_then_resumed(void **state UNUSED)
{
	static const char made[] = "resume:forked 0aaaaaaa claude --resume " FORKED
				   " --fork-session --session-id " OLD " --settings " SETTINGS
				   " | shell:agent_does_not_start  /bin/sh";
	cleanup_free char *first = plan("claude", "claude", TRANSCRIPT_ABSENT,
					HAS_ID | FIRST | FORK);
	assert_string_equal(first, made);
	cleanup_free char *again = plan("claude", "claude", TRANSCRIPT_ABSENT, HAS_ID | FORK);
	assert_string_equal(again, made);
	cleanup_free char *there = plan("claude", "claude", TRANSCRIPT_TURNS, HAS_ID | FORK);
	assert_true(starts_with(there,
				"resume:conversation_data_present 0aaaaaaa claude --resume " OLD));
	cleanup_free char *gone_on = plan("claude", "claude", TRANSCRIPT_ABSENT,
					  HAS_ID | FORK | TURN_SEEN);
	assert_null(strstr(gone_on, "--fork-session"));
	/* An agent that reports its id itself has reported none yet. */
	cleanup_free char *teller = plan("codex", "codex", TRANSCRIPT_UNKNOWN, FIRST | FORK);
	assert_non_null(strstr(teller, " fork " FORKED));
	/* It may exist: a second copy would lose what was said since. */
	cleanup_free char *unknown = plan("claude", "claude", TRANSCRIPT_UNKNOWN, HAS_ID | FORK);
	assert_null(strstr(unknown, "--fork-session"));
}

static void only_an_early_unreported_exit_status_counts_against_a_rung(void **state UNUSED)
{
	enum { EARLY = 100, PROBATION = 10000 };
	static const struct {
		const char *what;
		int code, signal_number;
		int64_t lived_ms;
		bool reported, last;
		enum rung rung;
		enum ladder_verdict expected;
	} table[] = {
		{ "refused", 1, 0, EARLY, false, false, RUNG_RESUME, LADDER_NEXT },
		{ "not executable", 127, 0, EARLY, false, false, RUNG_RESUME, LADDER_NEXT },
		{ "the last one refused", 1, 0, EARLY, false, true, RUNG_LAUNCH, LADDER_EXHAUSTED },
		{ "just inside", 1, 0, PROBATION - 1, false, false, RUNG_RESUME, LADDER_NEXT },
		{ "just outside", 1, 0, PROBATION, false, false, RUNG_RESUME, LADDER_ENDED },
		{ "had reported", 1, 0, EARLY, true, false, RUNG_RESUME, LADDER_ENDED },
		{ "exit 0", 0, 0, EARLY, false, false, RUNG_RESUME, LADDER_ENDED },
		{ "killed", 0, 9, EARLY, false, false, RUNG_RESUME, LADDER_ENDED },
		{ "hung up", 129, 0, EARLY, false, false, RUNG_RESUME, LADDER_ENDED },
		{ "terminated", 143, 0, EARLY, false, false, RUNG_RESUME, LADDER_ENDED },
		{ "highest status of its own", 127, 0, EARLY, false, true, RUNG_RESUME,
		  LADDER_EXHAUSTED },
		{ "lowest of a signal", 128, 0, EARLY, false, true, RUNG_RESUME, LADDER_ENDED },
		{ "a shell in its place", 1, 0, EARLY, false, true, RUNG_SHELL, LADDER_ENDED },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct attempt attempts[2] = { { .rung = table[i].rung }, { .rung = RUNG_LAUNCH } };
		const struct run run = { .attempts = attempts,
					 .attempt_count = table[i].last ? 1 : 2,
					 .reported = table[i].reported };
		const struct ladder_end end = { .code = table[i].code,
						.signal_number = table[i].signal_number,
						.lived_ms = table[i].lived_ms };
		if (resume_judge(&run, &end, PROBATION) != table[i].expected)
			fail_msg("%s", table[i].what);
	}
	const struct run none = { 0 };
	const struct ladder_end end = { .code = 1 };
	assert_int_equal(resume_judge(&none, &end, PROBATION), LADDER_ENDED);
}

static void an_agent_that_knows_no_such_id_has_failed_however_late(void **state UNUSED)
{
	struct attempt attempts[2] = { { .rung = RUNG_RESUME }, { .rung = RUNG_ASSIGN } };
	struct run run = { .attempts = attempts, .attempt_count = 2 };
	struct ladder_end end = { .code = 1, .lived_ms = 100, .is_unknown_id = true };
	assert_int_equal(resume_judge(&run, &end, 10), LADDER_NEXT);
	run.reported = true;
	assert_int_equal(resume_judge(&run, &end, 10), LADDER_ENDED);
	run.reported = false;
	end.code = 0;
	assert_int_equal(resume_judge(&run, &end, 10), LADDER_ENDED);
	end.code = 1;
	attempts[0].rung = RUNG_ASSIGN;
	assert_int_equal(resume_judge(&run, &end, 10), LADDER_ENDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_that_make_no_session_or_choose_its_conversation_are_found),
		cmocka_unit_test(
			what_makes_something_is_handed_over_until_the_conversation_has_begun),
		cmocka_unit_test(the_facts_decide_the_rungs_of_an_agent_with_ids),
		cmocka_unit_test(every_combination_of_facts_has_a_sound_ladder),
		cmocka_unit_test(the_launch_prompt_is_sent_once),
		cmocka_unit_test(what_chose_a_conversation_is_stripped_and_the_rest_is_carried),
		cmocka_unit_test(the_users_own_settings_stay_where_there_are_none_of_ours),
		cmocka_unit_test(a_generic_command_is_left_as_it_is),
		cmocka_unit_test(an_agent_that_only_resumes_is_resumed_or_launched),
		cmocka_unit_test(a_user_who_named_a_conversation_to_resume_gets_that_one),
		cmocka_unit_test(an_id_in_the_users_arguments_is_found),
		cmocka_unit_test(templates_have_their_slot_filled_wherever_it_is),
		cmocka_unit_test(carrying_adds_nothing_and_changes_nothing),
		cmocka_unit_test(a_copy_is_made_until_it_is_there_and_then_resumed),
		cmocka_unit_test(only_an_early_unreported_exit_status_counts_against_a_rung),
		cmocka_unit_test(an_agent_that_knows_no_such_id_has_failed_however_late),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
