/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/resume.h"

#include <string.h>

/* Is word the flag itself ("--resume") or the flag with its value ("--resume=x")? */
static bool is_flag(const struct strvec *flags, const char *word, const char **ret_value)
{
	for (size_t i = 0; i < flags->count; i++) {
		size_t length = strlen(flags->items[i]);
		if (strncmp(word, flags->items[i], length) != 0)
			continue;
		if (word[length] == '\0') {
			*ret_value = NULL;
			return true;
		}
		if (word[length] == '=' && starts_with(word, "--")) {
			*ret_value = word + length + 1;
			return true;
		}
	}
	return false;
}

static bool looks_like_flag(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

/* What one word of the user's argv is, and how many words belong together. */
enum word_kind { WORD_CARRIED, WORD_SETTINGS, WORD_STRIPPED, WORD_PROMPT, WORD_PROMPT_REST };

/* The flag that hands over {settings}, as a vector of at most one. */
static struct strvec settings_flag(const struct agent *agent)
{
	struct strvec flag = { 0 };
	for (size_t i = 0; i + 1 < agent->report.count; i++)
		if (streq(agent->report.items[i + 1], "{settings}"))
			flag = (struct strvec){ .items = agent->report.items + i, .count = 1 };
	return flag;
}

static enum word_kind classify(const struct agent *agent, char *const *words, size_t *ret_count)
{
	const struct strvec settings = settings_flag(agent);
	const char *value;
	const char *next = words[1];
	*ret_count = 1;
	if (is_flag(&agent->strip_value, words[0], &value)) {
		*ret_count = !value && next ? 2 : 1;
		return WORD_STRIPPED;
	}
	if (is_flag(&agent->strip_optional, words[0], &value)) {
		*ret_count = !value && next && !looks_like_flag(next) ? 2 : 1;
		return WORD_STRIPPED;
	}
	if (is_flag(&agent->strip, words[0], &value))
		return WORD_STRIPPED;
	if (is_flag(&settings, words[0], &value)) {
		*ret_count = !value && next ? 2 : 1;
		return WORD_SETTINGS;
	}
	if (is_flag(&agent->variadic_flags, words[0], &value)) {
		while (words[*ret_count] && !looks_like_flag(words[*ret_count]))
			(*ret_count)++;
		return WORD_CARRIED;
	}
	if (is_flag(&agent->value_flags, words[0], &value)) {
		*ret_count = !value && next ? 2 : 1;
		return WORD_CARRIED;
	}
	if (is_flag(&agent->optional_flags, words[0], &value)) {
		*ret_count = !value && next && !looks_like_flag(next) ? 2 : 1;
		return WORD_CARRIED;
	}
	if (!agent->prompt_positional)
		return WORD_CARRIED;
	if (streq(words[0], "--"))
		return WORD_PROMPT_REST;
	return looks_like_flag(words[0]) ? WORD_CARRIED : WORD_PROMPT;
}

/* How many words at the start of argv lead up to the program and name it. */
static size_t program_words(const struct strvec *argv)
{
	size_t program = registry_program(argv);
	return program < argv->count ? program + 1 : argv->count ? 1 : 0;
}

/* Split the user's argv into what is carried and the launch prompt.  The user's own settings are left
 * out where ours take their place: ours contain them. */
static void split_argv(const struct agent *agent, const struct strvec *argv, bool own_settings,
		       struct strvec *ret_carried, struct strvec *ret_prompt)
{
	size_t program = program_words(argv);
	for (size_t i = 0; i < program; i++)
		strvec_push(ret_carried, argv->items[i]);
	for (size_t i = program, count; i < argv->count; i += count) {
		enum word_kind kind = classify(agent, argv->items + i, &count);
		if (kind == WORD_PROMPT_REST)
			count = argv->count - i;
		for (size_t j = i; j < i + count; j++) {
			if (kind == WORD_CARRIED || (kind == WORD_SETTINGS && !own_settings))
				strvec_push(ret_carried, argv->items[j]);
			else if ((kind == WORD_PROMPT || kind == WORD_PROMPT_REST) && ret_prompt)
				strvec_push(ret_prompt, argv->items[j]);
		}
	}
}

void resume_carried_argv(const struct agent *agent, const struct strvec *argv, struct strvec *ret)
{
	split_argv(agent, argv, false, ret, NULL);
}

/* The adopted id and the flag it came with. */
static const char *find_adopted(const struct agent *agent, const struct strvec *argv,
				const char **ret_flag)
{
	for (size_t i = program_words(argv); i < argv->count; i++) {
		const char *value;
		if (streq(argv->items[i], "--"))
			break;
		if (!is_flag(&agent->adopt, argv->items[i], &value))
			continue;
		if (!value && i + 1 < argv->count && !looks_like_flag(argv->items[i + 1]))
			value = argv->items[i + 1];
		if (!value)
			continue;
		*ret_flag = argv->items[i];
		return value;
	}
	return NULL;
}

const char *resume_adopted_id(const struct agent *agent, const struct strvec *argv)
{
	const char *flag;
	return find_adopted(agent, argv, &flag);
}

/* Append a template's words with {session_id} and {settings} in their slots. */
static void push_template(struct strvec *argv, const struct strvec *template,
			  const char *session_id, const char *settings)
{
	for (size_t i = 0; i < template->count; i++) {
		const char *word = template->items[i];
		const char *slot, *text = NULL;
		if ((slot = strstr(word, "{session_id}")))
			text = session_id;
		else if ((slot = strstr(word, "{settings}")))
			text = settings;
		if (slot && text)
			strvec_pushf(argv, "%.*s%s%s", (int)(slot - word), word, text,
				     strchr(slot, '}') + 1);
		else
			strvec_push(argv, word);
	}
}

void resume_push_template(struct strvec *argv, const struct strvec *template,
			  const char *session_id)
{
	push_template(argv, template, session_id, NULL);
}

/* Our arguments stand behind the user's own: a wrapper or "env X=1 program" in front keeps working, and
 * a flag that takes many values is ended by ours. */
static void add(const struct resume_facts *facts, struct run *run, enum rung rung,
		const char *reason, const struct strvec *template, const char *session_id,
		bool with_prompt)
{
	struct attempt attempt = { .rung = rung };
	cleanup_strvec struct strvec prompt = { 0 };

	if (run_attempt(run))
		for (size_t i = 0; i < run->attempt_count; i++)
			if (run->attempts[i].rung == rung)
				return;
	attempt.reason = xstrdup(reason);
	attempt.session_id = xstrdup_or_null(session_id);
	split_argv(facts->agent, &facts->instance->argv, facts->settings_file != NULL, &attempt.argv,
		   &prompt);
	if (template)
		push_template(&attempt.argv, template, session_id, NULL);
	if (facts->settings_file && facts->agent->report.count)
		push_template(&attempt.argv, &facts->agent->report, NULL, facts->settings_file);
	if (with_prompt)
		strvec_push_all(&attempt.argv, &prompt);
	run_add_attempt(run, &attempt);
	attempt_clear(&attempt);
}

static void add_resume(const struct resume_facts *facts, struct run *run, const char *reason)
{
	add(facts, run, RUNG_RESUME, reason, &facts->agent->resume,
	    facts->instance->conversation.session_id, false);
}

static void add_assign(const struct resume_facts *facts, struct run *run, const char *reason)
{
	bool first_launch = facts->instance->last_used_at == 0;
	add(facts, run, RUNG_ASSIGN, reason, &facts->agent->assign,
	    facts->instance->conversation.session_id, first_launch);
}

static void add_fresh(const struct resume_facts *facts, struct run *run, const char *reason)
{
	if (facts->agent->assign.count && facts->new_session_id)
		add(facts, run, RUNG_FRESH, reason, &facts->agent->assign, facts->new_session_id, false);
}

/* Did the user's own argv ask to resume the id that was adopted from it? */
static bool user_asked_to_resume(const struct resume_facts *facts)
{
	const char *flag;
	const struct agent *agent = facts->agent;
	if (!find_adopted(agent, &facts->instance->argv, &flag))
		return false;
	for (size_t i = 0; i < agent->assign.count; i++)
		if (starts_with(flag, agent->assign.items[i]))
			return false;
	return true;
}

static void plan_stored_id(const struct resume_facts *facts, struct run *run)
{
	const struct instance *instance = facts->instance;
	const struct agent *agent = facts->agent;
	bool first_launch = instance->last_used_at == 0;
	bool adopted = instance->conversation.origin == ORIGIN_ADOPTED;

	if (!facts->resume_enabled && !first_launch) {
		add_fresh(facts, run, REASON_RESUME_DISABLED);
		return;
	}
	if (facts->transcript == TRANSCRIPT_EMPTY) {
		/* Measured with claude: both of its flags refuse such a file. */
		add_fresh(facts, run, "transcript_without_turns");
		return;
	}
	if (facts->transcript == TRANSCRIPT_TURNS) {
		add_resume(facts, run, "conversation_data_present");
	} else if (!agent->assign.count || (adopted && first_launch && user_asked_to_resume(facts))) {
		add_resume(facts, run, adopted ? "id_in_users_arguments" : "id_known");
		if (agent->assign.count)
			add_assign(facts, run, "id_unused");
	} else if (instance->conversation.first_turn_seen ||
		   (facts->transcript == TRANSCRIPT_UNKNOWN && !first_launch)) {
		add_resume(facts, run, "first_turn_seen");
		add_assign(facts, run, "id_unused");
	} else {
		add_assign(facts, run, first_launch ? "fresh_session" : "nothing_written_yet");
		if (!first_launch || adopted)
			add_resume(facts, run, "id_in_use");
	}
	if (!first_launch || adopted)
		add_fresh(facts, run, REASON_RESUME_FAILED);
}

void resume_plan(const struct resume_facts *facts, struct run *run)
{
	const struct agent *agent = facts->agent;
	const struct instance *instance = facts->instance;
	bool first_launch = instance->last_used_at == 0;

	if (instance->conversation.session_id && agent->resume.count)
		plan_stored_id(facts, run);
	else if (agent->assign.count && facts->new_session_id)
		add(facts, run, RUNG_ASSIGN, first_launch ? "fresh_session" : "no_id_stored",
		    &agent->assign, facts->new_session_id, first_launch);
	add(facts, run, RUNG_LAUNCH, run->attempt_count ? "session_arguments_failed" : "no_session_ids",
	    NULL, NULL, first_launch && run->attempt_count == 0);
	if (facts->shell) {
		struct attempt attempt = {
			.rung = RUNG_SHELL,
			.reason = (char *)"agent_does_not_start",
		};
		strvec_push(&attempt.argv, facts->shell);
		run_add_attempt(run, &attempt);
		strvec_clear(&attempt.argv);
	}
}

enum ladder_verdict resume_judge(const struct run *run, const struct ladder_end *end,
				 int64_t probation_ms)
{
	const struct attempt *attempt = run_attempt(run);
	bool failed = end->signal_number == 0 && end->code > 0 && end->code < 128;
	if (!attempt || attempt->rung == RUNG_SHELL || !failed || run->reported ||
	    end->lived_ms >= probation_ms)
		return LADDER_ENDED;
	return run->attempt + 1 < run->attempt_count ? LADDER_NEXT : LADDER_EXHAUSTED;
}
