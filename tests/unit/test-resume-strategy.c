/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ladder by strategy, and what holds for the ladder of every agent.  test-resume.c has the
 * words of an argv and the strategy with the most rungs.
 */
#include "unit/test.h"

#include "base/argsplit.h"
#include "base/fsutil.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#include <string.h>

#define OLD      "0aaaaaaa-0000-4000-8000-000000000001"
#define NEW      "0bbbbbbb-0000-4000-8000-000000000002"
#define STATE    "/state dir/0123abcd"
#define OLD_PATH "/state dir/old one.jsonl"
#define PROMPT   "do the thing"

static struct registry registry;

/* One agent for each strategy; none is built in. */
static const struct {
	const char *name, *text;
} entries[] = {
	{ "given", "[session]\nid = \"uuid\"\nassign = [\"--id\", \"{session_id}\"]\n"
		   "resume = [\"--back\", \"{session_id}\"]\n" },
	{ "same", "[session]\nid = \"path\"\nassign = [\"--file={session_id}\"]\n"
		  "resume = [\"--file={session_id}\"]\n" },
	{ "named", "[session]\nid = \"name\"\nassign = [\"session\", \"-n\", \"{session_id}\"]\n"
		   "resume = [\"session\", \"-r\", \"-n\", \"{session_id}\"]\n"
		   "[session.unknown]\nbehaviour = \"creates\"\n" },
	{ "maker", "[session]\nid = \"any\"\nresume = [\"--resume\", \"{session_id}\"]\n"
		   "create = [\"maker\", \"create-chat\"]\ncreate_pattern = '^([a-z0-9-]+)$'\n" },
	{ "teller", "[session]\nid = \"any\"\nresume = [\"resume\", \"{session_id}\"]\n"
		    "continue = [\"resume\", \"--last\"]\n"
		    "[session.unknown]\nbehaviour = \"new\"\n"
		    "[report]\narguments = [\"-c\", \"notify={hook}\"]\n"
		    "[screen]\nexit_banner = 'to come back: teller resume ([a-z0-9-]+)'\n" },
	{ "apart", "[session]\nid = \"none\"\ncontinue = [\"--continue\"]\n"
		   "[isolation]\narguments = [\"--dir\", \"{state}/talks\"]\n" },
	{ "latest", "[session]\nid = \"none\"\ncontinue = [\"--continue\"]\n"
		    "[session.unknown]\nbehaviour = \"new\"\n" },
	{ "roaming",
	  "[session]\nid = \"none\"\ncontinue = [\"--continue\"]\ncontinue_scope = \"global\"\n" },
	{ "plain", "[session]\nid = \"none\"\n" },
};

static int set_up(void **state UNUSED)
{
	if (registry_builtin(&registry, NULL) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		struct error err = { 0 };
		cleanup_free char *text = xasprintf("command = [\"%s\"]\n%s[arguments]\n"
						    "prompt_positional = true\n",
						    entries[i].name, entries[i].text);
		if (registry_override(&registry, entries[i].name, text, strlen(text),
				      entries[i].name, &err) < 0) {
			print_error("%s\n", err.message);
			return -1;
		}
	}
	return 0;
}

static int tear_down(void **state UNUSED)
{
	registry_free(&registry);
	return 0;
}

static const struct agent *agent_of(const char *name)
{
	const struct agent *agent = registry_find(&registry, name);
	assert_non_null(agent);
	return agent;
}

enum {
	HAS_ID = 1 << 0,
	FIRST = 1 << 1,
	ADOPTED = 1 << 2,
	TURN_SEEN = 1 << 3,
	NO_RESUME = 1 << 4,
	SHARED = 1 << 5,
	NO_NEW_ID = 1 << 6,
	BAD_ID = 1 << 7, /* with HAS_ID: one that no agent accepts */
	ALL_FLAGS = (1 << 8) - 1,
};

#define REFUSED "-no id; of\tanybody"

static const char *id_for(const struct agent *agent, const char *uuid)
{
	return agent->id_kind == ID_PATH ? OLD_PATH : uuid;
}

/* The caller frees. */
static struct instance *planned(const struct agent *agent, enum transcript_fact transcript,
				unsigned flags)
{
	struct instance *instance = instance_new();
	instance->id = xstrdup("0123abcd");
	instance->agent = xstrdup(agent->name);
	strvec_push(&instance->argv, agent->command.count ? agent->command.items[0] : "prog");
	strvec_push(&instance->argv, PROMPT);
	instance->last_used_at = flags & FIRST ? 0 : 1;
	if (flags & HAS_ID) {
		replace_string(&instance->conversation.session_id,
			       flags & BAD_ID ? REFUSED : id_for(agent, OLD));
		instance->conversation.origin = flags & ADOPTED ? ORIGIN_ADOPTED : ORIGIN_MINTED;
		instance->conversation.first_turn_seen = flags & TURN_SEEN;
	}
	cleanup_free char *fresh = resume_new_id(agent, instance, STATE);
	const struct resume_facts facts = {
		.agent = agent,
		.instance = instance,
		.transcript = transcript,
		.resume_enabled = !(flags & NO_RESUME),
		.new_session_id = flags & NO_NEW_ID     ? NULL
				  : agent->create.count ? NEW
							: fresh,
		.settings_file = "/run/s.json",
		.hook = "[\"/bin/agentdeck\",\"hook\"]",
		.state = STATE,
		.place_shared = flags & SHARED,
		.shell = "/bin/sh",
	};
	resume_plan(&facts, &instance->run);
	return instance;
}

/* "rung:reason rung:reason" without the shell, which is always last. */
static char *rungs_of(const struct run *run)
{
	struct strbuf text = { 0 };
	assert_true(run->attempt_count > 1);
	assert_int_equal(run->attempts[run->attempt_count - 1].rung, RUNG_SHELL);
	for (size_t i = 0; i + 1 < run->attempt_count; i++)
		strbuf_addf(&text, "%s%s:%s", i ? " " : "", rung_name(run->attempts[i].rung),
			    attempt_reason(&run->attempts[i]));
	return strbuf_take(&text);
}

static void the_strategy_and_the_facts_decide_the_rungs(void **state UNUSED)
{
	static const struct {
		const char *agent;
		enum transcript_fact transcript;
		unsigned flags;
		const char *expected;
	} table[] = {
		/* A, the rest of it is in test-resume.c */
		{ "given", TRANSCRIPT_UNKNOWN, FIRST,
		  "assign:fresh_session launch:session_arguments_failed" },
		{ "named", TRANSCRIPT_UNKNOWN, HAS_ID,
		  "resume:first_turn_seen assign:id_unused fresh:resume_failed "
		  "launch:session_arguments_failed" },
		/* A*: one flag */
		{ "same", TRANSCRIPT_UNKNOWN, FIRST,
		  "resume:fresh_session launch:session_arguments_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, 0, "resume:no_id_stored launch:resume_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, HAS_ID | FIRST,
		  "resume:fresh_session launch:session_arguments_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, HAS_ID,
		  "resume:id_known fresh:resume_failed launch:session_arguments_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, HAS_ID | TURN_SEEN,
		  "resume:first_turn_seen fresh:resume_failed launch:session_arguments_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, HAS_ID | FIRST | ADOPTED,
		  "resume:id_in_users_arguments fresh:resume_failed launch:session_arguments_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, HAS_ID | NO_RESUME,
		  "fresh:resume_disabled launch:session_arguments_failed" },
		{ "same", TRANSCRIPT_UNKNOWN, HAS_ID | FIRST | NO_RESUME,
		  "resume:fresh_session launch:session_arguments_failed" },
		/* A': the conversation was made before */
		{ "maker", TRANSCRIPT_UNKNOWN, FIRST,
		  "resume:fresh_session launch:session_arguments_failed" },
		{ "maker", TRANSCRIPT_UNKNOWN, HAS_ID | NO_NEW_ID,
		  "resume:id_known launch:resume_failed" },
		{ "maker", TRANSCRIPT_UNKNOWN, HAS_ID | NO_RESUME,
		  "fresh:resume_disabled launch:session_arguments_failed" },
		{ "maker", TRANSCRIPT_UNKNOWN, HAS_ID | NO_RESUME | NO_NEW_ID,
		  "launch:resume_disabled" },
		{ "maker", TRANSCRIPT_UNKNOWN, HAS_ID | FIRST | ADOPTED | NO_NEW_ID,
		  "resume:id_in_users_arguments launch:resume_failed" },
		/* R: never the latest, although the agent could */
		{ "teller", TRANSCRIPT_UNKNOWN, FIRST, "launch:no_id_reported_yet" },
		{ "teller", TRANSCRIPT_UNKNOWN, 0, "launch:no_id_reported_yet" },
		{ "teller", TRANSCRIPT_UNKNOWN, HAS_ID, "resume:id_known launch:resume_failed" },
		{ "teller", TRANSCRIPT_UNKNOWN, HAS_ID | TURN_SEEN,
		  "resume:first_turn_seen launch:resume_failed" },
		{ "teller", TRANSCRIPT_UNKNOWN, HAS_ID | NO_RESUME, "launch:resume_disabled" },
		/* B in its own place: other sessions in the directory do not matter */
		{ "apart", TRANSCRIPT_UNKNOWN, FIRST, "launch:fresh_session" },
		{ "apart", TRANSCRIPT_UNKNOWN, 0,
		  "continue:place_of_its_own launch:resume_failed" },
		{ "apart", TRANSCRIPT_UNKNOWN, SHARED,
		  "continue:place_of_its_own launch:resume_failed" },
		{ "apart", TRANSCRIPT_UNKNOWN, NO_RESUME, "launch:resume_disabled" },
		/* B in the directory */
		{ "latest", TRANSCRIPT_UNKNOWN, FIRST, "launch:fresh_session" },
		{ "latest", TRANSCRIPT_UNKNOWN, 0,
		  "continue:directory_of_its_own launch:resume_failed" },
		{ "latest", TRANSCRIPT_UNKNOWN, SHARED, "launch:directory_shared" },
		{ "latest", TRANSCRIPT_UNKNOWN, NO_RESUME, "launch:resume_disabled" },
		/* the latest of the whole machine may be anybody's */
		{ "roaming", TRANSCRIPT_UNKNOWN, 0, "launch:no_session_ids" },
		{ "plain", TRANSCRIPT_UNKNOWN, 0, "launch:no_session_ids" },
		{ "plain", TRANSCRIPT_UNKNOWN, NO_RESUME, "launch:no_session_ids" },
		/* an id that the agent would refuse */
		{ "given", TRANSCRIPT_UNKNOWN, HAS_ID | BAD_ID,
		  "fresh:id_not_taken launch:session_arguments_failed" },
		{ "teller", TRANSCRIPT_UNKNOWN, HAS_ID | BAD_ID, "launch:id_not_taken" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_instance struct instance *instance = planned(
			agent_of(table[i].agent), table[i].transcript, table[i].flags);
		cleanup_free char *rungs = rungs_of(&instance->run);
		if (!streq(rungs, table[i].expected))
			fail_msg("%s, flags %#x:\n got      %s\n expected %s", table[i].agent,
				 table[i].flags, rungs, table[i].expected);
	}
}

static void check_argv(const char *agent, unsigned flags, size_t attempt, const char *expected)
{
	cleanup_instance struct instance *instance = planned(agent_of(agent), TRANSCRIPT_UNKNOWN,
							     flags);
	assert_true(attempt < instance->run.attempt_count);
	cleanup_free char *line = argjoin(instance->run.attempts[attempt].argv.items);
	if (!streq(line, expected))
		fail_msg("%s\n got      %s\n expected %s", agent, line, expected);
}

#define TOLD " -c 'notify=[\"/bin/agentdeck\",\"hook\"]'"

static void each_strategy_hands_over_its_own_words(void **state UNUSED)
{
	check_argv("given", FIRST | HAS_ID, 0, "given --id " OLD " '" PROMPT "'");
	check_argv("given", HAS_ID, 0, "given --back " OLD);
	check_argv("same", FIRST, 0, "same '--file=" STATE "/conversation.jsonl' '" PROMPT "'");
	check_argv("same", HAS_ID, 0, "same '--file=" OLD_PATH "'");
	check_argv("named", FIRST, 0, "named session -n 0123abcd '" PROMPT "'");
	check_argv("maker", FIRST, 0, "maker --resume " NEW " '" PROMPT "'");
	check_argv("maker", HAS_ID | NO_RESUME, 0, "maker --resume " NEW);
	check_argv("teller", FIRST, 0, "teller" TOLD " '" PROMPT "'");
	check_argv("teller", HAS_ID, 0, "teller resume " OLD TOLD);
	check_argv("teller", HAS_ID, 1, "teller" TOLD);
	check_argv("apart", FIRST, 0, "apart --dir '" STATE "/talks' '" PROMPT "'");
	check_argv("apart", 0, 0, "apart --dir '" STATE "/talks' --continue");
	check_argv("apart", 0, 1, "apart --dir '" STATE "/talks'");
	check_argv("latest", 0, 0, "latest --continue");
}

/* --- every agent ------------------------------------------------------------------------------- */

static size_t count_words(const struct strvec *argv, const char *part)
{
	size_t count = 0;
	for (size_t i = 0; i < argv->count; i++)
		count += strstr(argv->items[i], part) != NULL;
	return count;
}

static bool stands_in(const struct strvec *words, const struct strvec *argv, const char *id)
{
	const struct resume_slots slots = { .session_id = id, .state = STATE };
	cleanup_strvec struct strvec expanded = { 0 };
	resume_expand(words, &slots, &expanded);
	for (size_t i = 0; i + expanded.count <= argv->count; i++) {
		size_t j = 0;
		while (j < expanded.count && streq(argv->items[i + j], expanded.items[j]))
			j++;
		if (j == expanded.count)
			return true;
	}
	return false;
}

static bool gives_more_up(enum rung a, enum rung b)
{
	static const int order[RUNG_COUNT] = {
		[RUNG_RESUME] = 0, [RUNG_ASSIGN] = 0, [RUNG_CONTINUE] = 0,
		[RUNG_FRESH] = 1,  [RUNG_LAUNCH] = 2, [RUNG_SHELL] = 3,
	};
	return order[a] > order[b];
}

#define EXPECT(condition)                                                                      \
	do {                                                                                   \
		if (!(condition))                                                              \
			fail_msg("%s, flags %#x, transcript %d, attempt %zu: %s", agent->name, \
				 flags, (int)fact, i, #condition);                             \
	} while (0)

static void check_attempt(const struct agent *agent, const struct instance *instance,
			  unsigned flags, enum transcript_fact fact, size_t i)
{
	const struct attempt *attempt = &instance->run.attempts[i];
	static const char *const slots[] = { "{session_id}", "{settings}", "{hook}",
					     "{hook_command}", "{state}" };
	bool isolated = agent->isolation_arguments.count || agent->isolation_environment.count;
	for (size_t j = 0; j < i; j++) {
		EXPECT(instance->run.attempts[j].rung != attempt->rung);
		EXPECT(!gives_more_up(instance->run.attempts[j].rung, attempt->rung));
	}
	for (size_t j = 0; j < ARRAY_SIZE(slots); j++)
		EXPECT(count_words(&attempt->argv, slots[j]) == 0);
	EXPECT(count_words(&attempt->argv, REFUSED) == 0);
	if (attempt->session_id) {
		EXPECT(resume_takes_id(agent, attempt->session_id));
		EXPECT(count_words(&attempt->argv, attempt->session_id) == 1);
	}
	if (attempt->rung == RUNG_SHELL)
		return;
	EXPECT(stands_in(&agent->isolation_arguments, &attempt->argv, NULL));
	if (agent->prompt_positional)
		EXPECT(count_words(&attempt->argv, PROMPT) ==
		       ((flags & FIRST) && i == 0 && attempt->rung != RUNG_FRESH ? 1 : 0));
	if (attempt->rung == RUNG_CONTINUE) {
		EXPECT(registry_strategy(agent) == STRATEGY_CONTINUE);
		EXPECT(isolated || !(flags & SHARED));
		EXPECT(!(flags & FIRST));
		EXPECT(!(flags & NO_RESUME));
		EXPECT(!(flags & HAS_ID) || !agent->resume.count);
	} else if (agent->continue_latest.count && !attempt->session_id) {
		/* With an id after them the same words mean that conversation. */
		EXPECT(!stands_in(&agent->continue_latest, &attempt->argv, "no such id"));
	}
	if (attempt->rung == RUNG_RESUME && attempt->session_id)
		EXPECT(stands_in(&agent->resume, &attempt->argv, attempt->session_id));
}

static void every_agent_has_a_sound_ladder_whatever_the_facts(void **state UNUSED)
{
	for (size_t a = 0; a < registry.count; a++) {
		const struct agent *agent = registry.agents[a];
		for (unsigned flags = 0; flags <= ALL_FLAGS; flags++) {
			for (int f = TRANSCRIPT_UNKNOWN; f <= TRANSCRIPT_TURNS; f++) {
				enum transcript_fact fact = (enum transcript_fact)f;
				cleanup_instance struct instance *instance = planned(agent, fact,
										     flags);
				const struct run *run = &instance->run;
				size_t i = 0;
				EXPECT(run->attempt_count >= 2);
				EXPECT(run->attempts[run->attempt_count - 1].rung == RUNG_SHELL);
				EXPECT(run->attempts[run->attempt_count - 2].rung == RUNG_LAUNCH);
				/* What certainly holds a conversation is resumed before anything
				 * else. */
				if (fact == TRANSCRIPT_TURNS && (flags & HAS_ID) &&
				    !(flags & BAD_ID) && agent->resume.count &&
				    agent->id_kind != ID_NONE &&
				    (!(flags & NO_RESUME) || (flags & FIRST)))
					EXPECT(run->attempts[0].rung == RUNG_RESUME);
				for (; i < run->attempt_count; i++)
					check_attempt(agent, instance, flags, fact, i);
			}
		}
	}
}

/* --- ids --------------------------------------------------------------------------------------- */

static void an_agent_takes_the_ids_of_its_kind_and_no_others(void **state UNUSED)
{
	static const struct {
		const char *agent, *id;
		bool expected;
	} table[] = {
		{ "given", OLD, true },
		{ "given", "0aaaaaaa", false },
		{ "given", "/x/y.jsonl", false },
		{ "maker", OLD, true },
		{ "maker", "chat_1.x", true },
		{ "maker", "--flag", false },
		{ "maker", "two words", false },
		{ "maker", "", false },
		{ "same", "/x/y.jsonl", true },
		{ "same", "/with a space", true },
		{ "same", "y.jsonl", false },
		{ "same", OLD, false },
		{ "same", "/line\nbreak", false },
		{ "named", "0123abcd", true },
		{ "named", "a/b", false },
		{ "plain", OLD, false },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (resume_takes_id(agent_of(table[i].agent), table[i].id) != table[i].expected)
			fail_msg("%s: %s", table[i].agent, table[i].id);
}

static void a_new_id_is_of_the_agents_kind_and_never_one_that_was_used(void **state UNUSED)
{
	static const char *const agents[] = { "given", "same", "named" };
	static const char *const first[] = { NULL, STATE "/conversation.jsonl", "0123abcd" };
	for (size_t i = 0; i < ARRAY_SIZE(agents); i++) {
		const struct agent *agent = agent_of(agents[i]);
		cleanup_instance struct instance *instance = instance_new();
		instance->id = xstrdup("0123abcd");
		for (int round = 0; round < 4; round++) {
			struct conversation *conversation = &instance->conversation;
			cleanup_free char *id = resume_new_id(agent, instance, STATE);
			assert_non_null(id);
			assert_true(resume_takes_id(agent, id));
			if (round == 0 && first[i])
				assert_string_equal(id, first[i]);
			assert_false(strvec_contains(&conversation->previous, id));
			assert_false(streq(id, or_empty(conversation->session_id)));
			conversation_set_id(conversation, id, ORIGIN_MINTED, 1);
		}
	}
	cleanup_instance struct instance *instance = instance_new();
	instance->id = xstrdup("0123abcd");
	assert_null(resume_new_id(agent_of("teller"), instance, STATE));
	assert_null(resume_new_id(agent_of("maker"), instance, STATE));
	assert_null(resume_new_id(agent_of("plain"), instance, STATE));
}

static void the_last_id_that_the_agent_takes_is_read_from_its_words(void **state UNUSED)
{
	static const struct {
		const char *text, *expected;
	} table[] = {
		{ "bye\nto come back: teller resume " OLD "\n", OLD },
		{ "to come back: teller resume " OLD "\r\n", OLD },
		{ "to come back: teller resume " OLD "\nto come back: teller resume " NEW "\n\nend",
		  NEW },
		{ "to come back: teller resume " OLD "\nto come back: teller resume -x\n", OLD },
		{ "to come back: teller resume\n" OLD, NULL },
		{ "bye", NULL },
		{ "", NULL },
	};
	const struct agent *agent = agent_of("teller");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *id = resume_match_id(agent, agent->exit_banner, table[i].text);
		if (!streq(or_empty(id), or_empty(table[i].expected)))
			fail_msg("row %zu: %s", i, or_empty(id));
	}
	assert_null(resume_match_id(agent, NULL, "to come back: teller resume " OLD));
}

static void only_who_keeps_something_there_gets_a_directory(void **state UNUSED)
{
	assert_true(resume_needs_state(agent_of("same")));
	assert_true(resume_needs_state(agent_of("apart")));
	assert_false(resume_needs_state(agent_of("given")));
	assert_false(resume_needs_state(agent_of("teller")));
	assert_false(resume_needs_state(agent_of("latest")));
}

static void a_slot_in_a_value_is_none(void **state UNUSED)
{
	const struct resume_slots slots = { .session_id = "{state}", .state = "a b" };
	cleanup_strvec struct strvec words = { 0 }, argv = { 0 };
	strvec_push(&words, "--x={session_id}/{state}{other}{");
	strvec_push(&words, "{settings}");
	resume_expand(&words, &slots, &argv);
	assert_int_equal(argv.count, 2);
	assert_string_equal(argv.items[0], "--x={state}/a b{other}{");
	assert_string_equal(argv.items[1], "{settings}");
	assert_false(resume_can_expand(&words, &slots));
	const struct resume_slots all = { .session_id = "1", .state = "2", .settings = "3" };
	assert_true(resume_can_expand(&words, &all));
}

static void the_stored_command_brings_the_conversation_back_by_hand(void **state UNUSED)
{
	static const struct {
		const char *agent, *id, *expected;
	} table[] = {
		{ "given", OLD, "given --back " OLD },
		{ "same", OLD_PATH, "same '--file=" OLD_PATH "'" },
		{ "apart", NULL, "apart --dir '" STATE "/talks' --continue" },
		/* We do not know whose conversation that would be. */
		{ "latest", NULL, "" },
		{ "teller", NULL, "" },
		{ "given", REFUSED, "" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_instance struct instance *instance = instance_new();
		cleanup_strvec struct strvec argv = { 0 };
		strvec_push(&instance->argv, table[i].agent);
		strvec_push(&instance->argv, PROMPT);
		replace_string(&instance->conversation.session_id, table[i].id);
		resume_command(agent_of(table[i].agent), instance, STATE, &argv);
		cleanup_free char *line = argv.count ? argjoin(argv.items) : xstrdup("");
		assert_string_equal(line, table[i].expected);
	}
}

/* --- what the user is told --------------------------------------------------------------------- */

static void lost_and_unproven_history_is_told_and_nothing_else(void **state UNUSED)
{
#define UNPROVEN "history not verified: the agent does not say whether it found its conversation"
	static const struct {
		const char *agent;
		unsigned flags;
		size_t attempt;
		const char *expected;
	} table[] = {
		{ "given", FIRST | HAS_ID, 0, NULL },
		{ "given", FIRST | HAS_ID, 1, NULL },
		{ "given", HAS_ID | TURN_SEEN, 0, NULL },
		{ "given", HAS_ID | TURN_SEEN, 1,
		  "history not restored: the agent has no conversation with its id any more" },
		{ "given", HAS_ID | TURN_SEEN, 2,
		  "history not restored: the agent could not resume it" },
		{ "given", HAS_ID | TURN_SEEN, 3,
		  "history not restored: the agent does not start with the id of a conversation" },
		{ "given", HAS_ID | NO_RESUME, 0, NULL },
		{ "given", HAS_ID | NO_RESUME, 1, NULL },
		{ "given", HAS_ID | BAD_ID, 0,
		  "history not restored: the agent cannot be given its id" },
		{ "same", FIRST, 1, NULL },
		{ "same", HAS_ID, 0, NULL },
		{ "same", HAS_ID, 1, "history not restored: the agent could not resume it" },
		{ "teller", FIRST, 0, NULL },
		{ "teller", 0, 0,
		  "history not restored: the agent has not reported the id of its conversation" },
		{ "teller", HAS_ID, 0, UNPROVEN },
		{ "teller", HAS_ID, 1, "history not restored: the agent could not resume it" },
		{ "apart", FIRST, 0, NULL },
		{ "apart", 0, 0, NULL },
		{ "apart", 0, 1, "history not restored: the agent could not resume it" },
		{ "latest", 0, 0, UNPROVEN },
		{ "latest", SHARED, 0,
		  "history not restored: another session has its directory, and the latest conversation there may be that session's" },
		{ "latest", SHARED | FIRST, 0, NULL },
		{ "plain", 0, 0, NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct agent *agent = agent_of(table[i].agent);
		cleanup_instance struct instance *instance = planned(agent, TRANSCRIPT_UNKNOWN,
								     table[i].flags);
		instance->run.attempt = table[i].attempt;
		cleanup_free char *note = resume_history_note(agent, instance);
		if (!streq(or_empty(note), or_empty(table[i].expected)))
			fail_msg("row %zu, %s: %s", i, table[i].agent, or_empty(note));
	}
}

static void a_report_settles_what_was_not_proven(void **state UNUSED)
{
	const struct agent *agent = agent_of("teller");
	cleanup_instance struct instance *instance = planned(agent, TRANSCRIPT_UNKNOWN, HAS_ID);
	instance->run.history_note = resume_history_note(agent, instance);
	assert_non_null(instance->run.history_note);
	assert_true(resume_note_reported(agent, instance, OLD));
	assert_null(instance->run.history_note);
	assert_false(resume_note_reported(agent, instance, OLD));
	assert_false(resume_note_reported(agent, instance, NEW));
	assert_null(instance->run.history_note);

	cleanup_instance struct instance *other = planned(agent, TRANSCRIPT_UNKNOWN, HAS_ID);
	other->run.history_note = resume_history_note(agent, other);
	assert_true(resume_note_reported(agent, other, NEW));
	assert_true(starts_with(other->run.history_note, "history not restored: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_strategy_and_the_facts_decide_the_rungs),
		cmocka_unit_test(each_strategy_hands_over_its_own_words),
		cmocka_unit_test(every_agent_has_a_sound_ladder_whatever_the_facts),
		cmocka_unit_test(an_agent_takes_the_ids_of_its_kind_and_no_others),
		cmocka_unit_test(a_new_id_is_of_the_agents_kind_and_never_one_that_was_used),
		cmocka_unit_test(the_last_id_that_the_agent_takes_is_read_from_its_words),
		cmocka_unit_test(only_who_keeps_something_there_gets_a_directory),
		cmocka_unit_test(a_slot_in_a_value_is_none),
		cmocka_unit_test(the_stored_command_brings_the_conversation_back_by_hand),
		cmocka_unit_test(lost_and_unproven_history_is_told_and_nothing_else),
		cmocka_unit_test(a_report_settles_what_was_not_proven),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
