/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/resume.h"

#include "base/argsplit.h"
#include "base/jsonio.h"
#include "model/session/naming.h"

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
enum word_kind {
	WORD_CARRIED,
	WORD_SETTINGS,
	WORD_ONCE,
	WORD_STRIPPED,
	WORD_PROMPT,
	WORD_PROMPT_REST
};

/* The flag that hands over {settings}, as a vector of at most one. */
static struct strvec settings_flag(const struct agent *agent)
{
	struct strvec flag = { 0 };
	for (size_t i = 0; i + 1 < agent->report.count; i++)
		if (streq(agent->report.items[i + 1], "{settings}"))
			flag = (struct strvec){ .items = agent->report.items + i, .count = 1 };
	return flag;
}

/* "-wfeature". */
static bool has_value_attached(const struct strvec *flags, const char *word)
{
	cleanup_free char *flag = xstrndup(word, 2);
	return looks_like_flag(word) && word[1] != '-' && strvec_contains(flags, flag);
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
	if (is_flag(&agent->once, words[0], &value)) {
		*ret_count = !value && next && !looks_like_flag(next) ? 2 : 1;
		return WORD_ONCE;
	}
	if (has_value_attached(&agent->once, words[0]))
		return WORD_ONCE;
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

/* What a run takes of the user's words. */
struct split {
	bool own_settings; /* leave out the user's settings: ours contain them */
	bool once;         /* keep the flags that make something */
};

static bool is_carried(enum word_kind kind, struct split split)
{
	return kind == WORD_CARRIED || (kind == WORD_SETTINGS && !split.own_settings) ||
	       (kind == WORD_ONCE && split.once);
}

/* Split the user's argv into what is carried and the launch prompt. */
static void split_argv(const struct agent *agent, const struct strvec *argv, struct split split,
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
			if (is_carried(kind, split))
				strvec_push(ret_carried, argv->items[j]);
			else if ((kind == WORD_PROMPT || kind == WORD_PROMPT_REST) && ret_prompt)
				strvec_push(ret_prompt, argv->items[j]);
		}
	}
}

void resume_carried_argv(const struct agent *agent, const struct strvec *argv, struct strvec *ret)
{
	split_argv(agent, argv, (struct split){ 0 }, ret, NULL);
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

/* A wanted word among the user's flags.  Among other words only the first one counts: it may be a
 * subcommand. */
static const char *find_word(const struct agent *agent, const struct strvec *argv,
			     const struct strvec *wanted)
{
	bool is_first = true;
	for (size_t i = program_words(argv), count; i < argv->count; i += count) {
		const char *value, *word = argv->items[i];
		(void)classify(agent, argv->items + i, &count);
		if (streq(word, "--"))
			break;
		if (looks_like_flag(word) ? is_flag(wanted, word, &value)
					  : is_first && strvec_contains(wanted, word))
			return word;
		is_first &= looks_like_flag(word);
	}
	return NULL;
}

const char *resume_find_latest(const struct agent *agent, const struct strvec *argv)
{
	return find_word(agent, argv, &agent->latest);
}

const char *resume_find_one_shot(const struct agent *agent, const struct strvec *argv)
{
	return find_word(agent, argv, &agent->one_shot);
}

const char *resume_find_copy(const struct agent *agent, const struct strvec *argv)
{
	cleanup_strvec struct strvec flags = { 0 };
	for (size_t i = 0; i < agent->fork.count; i++) {
		const char *word = agent->fork.items[i];
		if (looks_like_flag(word) && !strvec_contains(&agent->resume, word) &&
		    !strvec_contains(&agent->assign, word))
			strvec_push(&flags, word);
	}
	return find_word(agent, argv, &flags);
}

/* The hook's argv as one line for a shell, quoted, in a string of JSON or TOML.  NULL: there is
 * none. */
static char *command_of(const char *hook)
{
	cleanup_json struct json_object *array = NULL, *line = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	if (!hook || json_parse(hook, strlen(hook), "hook", &array, NULL) < 0 ||
	    !json_object_is_type(array, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(array); i++)
		strvec_push(&argv,
			    or_empty(json_object_get_string(json_object_array_get_idx(array, i))));
	cleanup_free char *joined = argv.count ? argjoin(argv.items) : NULL;
	if (!joined)
		return NULL;
	line = json_text(joined);
	/* TOML does not know "\/". */
	return xstrdup(json_object_to_json_string_ext(
		line, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* The value of the slot that text begins with, and the slot's length; NULL: it begins with none
 * that has a value. */
static const char *slot_value(const char *text, const struct resume_slots *slots,
			      const char *command, size_t *ret_length)
{
	const struct {
		const char *slot, *value;
	} known[] = {
		{ "{session_id}", slots->session_id },
		{ "{new_session_id}", slots->new_session_id },
		{ "{settings}", slots->settings },
		{ "{hook}", slots->hook },
		{ "{hook_command}", command },
		{ "{state}", slots->state },
	};
	*ret_length = 0;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!starts_with(text, known[i].slot))
			continue;
		*ret_length = strlen(known[i].slot);
		return known[i].value;
	}
	return NULL;
}

void resume_expand(const struct strvec *words, const struct resume_slots *slots, struct strvec *ret)
{
	cleanup_free char *command = command_of(slots->hook);
	for (size_t i = 0; i < words->count; i++) {
		struct strbuf word = { 0 };
		for (const char *at = words->items[i]; *at;) {
			size_t length;
			const char *value = slot_value(at, slots, command, &length);
			if (value)
				strbuf_adds(&word, value);
			else
				strbuf_add(&word, at, length = 1);
			at += length;
		}
		strvec_push_take(ret, strbuf_take(&word));
	}
}

void resume_push_template(struct strvec *ret, const struct strvec *words, const char *session_id)
{
	resume_expand(words, &(struct resume_slots){ .session_id = session_id }, ret);
}

bool resume_can_expand(const struct strvec *words, const struct resume_slots *slots)
{
	for (size_t i = 0; i < words->count; i++) {
		for (const char *at = strchr(words->items[i], '{'); at; at = strchr(at + 1, '{')) {
			size_t length;
			if (!slot_value(at, slots, slots->hook, &length) && length)
				return false;
		}
	}
	return true;
}

static bool has_place_of_its_own(const struct agent *agent)
{
	return agent->isolation_arguments.count || agent->isolation_environment.count;
}

void resume_command(const struct agent *agent, const struct instance *instance, const char *state,
		    struct strvec *ret)
{
	const char *id = instance->conversation.session_id;
	const struct resume_slots slots = { .session_id = id, .state = state };
	const struct strvec *template = NULL;

	if (id && agent->resume.count && resume_takes_id(agent, id))
		template = &agent->resume;
	else if (registry_strategy(agent) == STRATEGY_CONTINUE && has_place_of_its_own(agent))
		template = &agent->continue_latest;
	if (!template)
		return;
	resume_carried_argv(agent, &instance->argv, ret);
	resume_expand(&agent->isolation_arguments, &slots, ret);
	resume_expand(template, &slots, ret);
}

/* --- the plan ---------------------------------------------------------------------------------- */

static bool is_first_launch(const struct instance *instance)
{
	return instance->last_used_at == 0;
}

/* Are the words of `once` (such as -w: make a worktree) to be given again?  Also after a start that
 * was killed before the agent said anything: else it would work outside of its worktree. */
static bool has_not_begun(const struct resume_facts *facts)
{
	const struct conversation *conversation = &facts->instance->conversation;
	bool is_unheard_of = facts->transcript == TRANSCRIPT_ABSENT &&
			     !conversation->transcript_path && !conversation->first_turn_seen;
	return (is_first_launch(facts->instance) || is_unheard_of) && !conversation->directory &&
	       !conversation->forked_from;
}

/* One rung to be added. */
struct step {
	enum rung rung;
	enum reason reason;
	const struct strvec *template; /* NULL: the plain command */
	const char *slot_id;           /* for {session_id} */
	const char *session_id;        /* that the attempt runs under, or NULL */
};

/* Our arguments stand behind the user's own: a wrapper or "env X=1 program" in front keeps working,
 * and a flag that takes many values is ended by ours.  Isolation comes before the template, which
 * may be a subcommand; the prompt comes last. */
static void add_step(const struct resume_facts *facts, struct run *run, const struct step *step)
{
	const struct agent *agent = facts->agent;
	const struct resume_slots slots = {
		.session_id = step->slot_id,
		.new_session_id = step->session_id,
		.settings = facts->settings_file,
		.hook = facts->hook,
		.state = facts->state,
	};
	struct attempt attempt = { .rung = step->rung, .reason = step->reason };
	cleanup_strvec struct strvec prompt = { 0 };
	bool reports = resume_can_expand(&agent->report, &slots);

	attempt.session_id = xstrdup_or_null(step->session_id);
	const struct split split = {
		.own_settings = facts->settings_file && reports,
		.once = has_not_begun(facts),
	};
	split_argv(agent, &facts->instance->argv, split, &attempt.argv, &prompt);
	resume_expand(&agent->isolation_arguments, &slots, &attempt.argv);
	if (step->template)
		resume_expand(step->template, &slots, &attempt.argv);
	if (reports)
		resume_expand(&agent->report, &slots, &attempt.argv);
	/* A user who reads that the history is lost says again what to do. */
	if (is_first_launch(facts->instance) && run->attempt_count == 0 && step->rung != RUNG_FRESH)
		strvec_push_all(&attempt.argv, &prompt);
	run_add_attempt(run, &attempt);
	attempt_clear(&attempt);
}

static void add(const struct resume_facts *facts, struct run *run, enum rung rung,
		enum reason reason, const struct strvec *template, const char *session_id)
{
	add_step(facts, run, &(struct step){ rung, reason, template, session_id, session_id });
}

static void add_resume(const struct resume_facts *facts, struct run *run, enum reason reason)
{
	add(facts, run, RUNG_RESUME, reason, &facts->agent->resume,
	    facts->instance->conversation.session_id);
}

static void add_assign(const struct resume_facts *facts, struct run *run, enum reason reason)
{
	add(facts, run, RUNG_ASSIGN, reason, &facts->agent->assign,
	    facts->instance->conversation.session_id);
}

static bool has_new_id(const struct resume_facts *facts)
{
	return facts->new_session_id && resume_takes_id(facts->agent, facts->new_session_id) &&
	       (facts->agent->assign.count || facts->agent->create.count);
}

/* A conversation that the agent itself has made is only to be resumed. */
static void add_fresh(const struct resume_facts *facts, struct run *run, enum reason reason)
{
	const struct agent *agent = facts->agent;
	if (has_new_id(facts))
		add(facts, run, RUNG_FRESH, reason,
		    agent->assign.count ? &agent->assign : &agent->resume, facts->new_session_id);
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

/* A flag makes a conversation and another resumes it: each fails where the other is right. */
static void plan_assign(const struct resume_facts *facts, struct run *run)
{
	const struct instance *instance = facts->instance;
	bool first_launch = is_first_launch(instance);
	bool adopted = instance->conversation.origin == ORIGIN_ADOPTED;

	if (facts->transcript == TRANSCRIPT_EMPTY) {
		/* Measured with claude: both of its flags refuse such a file. */
		add_fresh(facts, run, REASON_TRANSCRIPT_WITHOUT_TURNS);
		return;
	}
	if (facts->transcript == TRANSCRIPT_TURNS) {
		add_resume(facts, run, REASON_CONVERSATION_DATA_PRESENT);
	} else if (adopted && first_launch && user_asked_to_resume(facts)) {
		add_resume(facts, run, REASON_ID_IN_USERS_ARGUMENTS);
		add_assign(facts, run, REASON_ID_UNUSED);
	} else if (instance->conversation.first_turn_seen ||
		   (facts->transcript == TRANSCRIPT_UNKNOWN && !first_launch)) {
		add_resume(facts, run, REASON_FIRST_TURN_SEEN);
		add_assign(facts, run, REASON_ID_UNUSED);
	} else {
		add_assign(facts, run,
			   first_launch ? REASON_FRESH_SESSION : REASON_NOTHING_WRITTEN_YET);
		if (!first_launch || adopted)
			add_resume(facts, run, REASON_ID_IN_USE);
	}
	if (!first_launch || adopted)
		add_fresh(facts, run, REASON_RESUME_FAILED);
}

/* Resuming is all that can be done with the id. */
static void plan_known_id(const struct resume_facts *facts, struct run *run)
{
	const struct conversation *conversation = &facts->instance->conversation;
	bool first_launch = is_first_launch(facts->instance);
	bool adopted = conversation->origin == ORIGIN_ADOPTED;
	bool made = conversation->origin == ORIGIN_MINTED && first_launch;

	add_resume(facts, run,
		   facts->transcript == TRANSCRIPT_TURNS ? REASON_CONVERSATION_DATA_PRESENT
		   : made                                ? REASON_FRESH_SESSION
		   : adopted                             ? REASON_ID_IN_USERS_ARGUMENTS
		   : conversation->first_turn_seen       ? REASON_FIRST_TURN_SEEN
							 : REASON_ID_KNOWN);
	if (!made)
		add_fresh(facts, run, REASON_RESUME_FAILED);
}

/* No id is stored, or none that the agent takes. */
static void plan_without_id(const struct resume_facts *facts, struct run *run)
{
	const struct agent *agent = facts->agent;
	enum reason reason = is_first_launch(facts->instance) ? REASON_FRESH_SESSION
							      : REASON_NO_ID_STORED;

	switch (registry_strategy(agent)) {
	case STRATEGY_ASSIGN:
		if (has_new_id(facts))
			add(facts, run, RUNG_ASSIGN, reason, &agent->assign, facts->new_session_id);
		break;
	case STRATEGY_IDEMPOTENT:
	case STRATEGY_CREATE:
		if (has_new_id(facts))
			add(facts, run, RUNG_RESUME, reason, &agent->resume, facts->new_session_id);
		break;
	case STRATEGY_CONTINUE:
		/* At first "the latest" would be another session's, or from before our time. */
		if (facts->resume_enabled && !is_first_launch(facts->instance) &&
		    (has_place_of_its_own(agent) || !facts->place_shared))
			add(facts, run, RUNG_CONTINUE,
			    has_place_of_its_own(agent) ? REASON_PLACE_OF_ITS_OWN
							: REASON_DIRECTORY_OF_ITS_OWN,
			    &agent->continue_latest, NULL);
		break;
	case STRATEGY_REPORT:
	case STRATEGY_NONE:
		break;
	}
}

/* Why the plain command is all that is left. */
static enum reason launch_reason(const struct resume_facts *facts, const struct run *run,
				 bool id_refused)
{
	bool first_launch = is_first_launch(facts->instance);
	enum strategy strategy = registry_strategy(facts->agent);

	if (run->attempt_count) {
		const struct attempt *last = &run->attempts[run->attempt_count - 1];
		bool had_history = last->rung == RUNG_CONTINUE ||
				   (last->rung == RUNG_RESUME &&
				    last->reason != REASON_FRESH_SESSION);
		return had_history ? REASON_RESUME_FAILED : REASON_SESSION_ARGUMENTS_FAILED;
	}
	if (id_refused)
		return REASON_ID_NOT_TAKEN;
	if (!facts->resume_enabled && !first_launch &&
	    (strategy != STRATEGY_NONE || facts->instance->conversation.session_id))
		return REASON_RESUME_DISABLED;
	if (strategy == STRATEGY_REPORT)
		return REASON_NO_ID_REPORTED_YET;
	if (strategy == STRATEGY_CONTINUE)
		return first_launch ? REASON_FRESH_SESSION : REASON_DIRECTORY_SHARED;
	return REASON_NO_SESSION_IDS;
}

/* The conversation is there, and the agent may not find it from here: another one in its place
 * would look as if it were lost. */
static bool is_elsewhere(const struct resume_facts *facts)
{
	return facts->transcript == TRANSCRIPT_ELSEWHERE && facts->resume_enabled;
}

static void add_shell(const struct resume_facts *facts, struct run *run)
{
	struct attempt attempt = {
		.rung = RUNG_SHELL,
		.reason = REASON_AGENT_DOES_NOT_START,
	};
	if (!facts->shell)
		return;
	strvec_push(&attempt.argv, facts->shell);
	run_add_attempt(run, &attempt);
	strvec_clear(&attempt.argv);
}

/* Is this a copy that is yet to be made? */
static bool wants_fork(const struct resume_facts *facts)
{
	const struct conversation *conversation = &facts->instance->conversation;
	bool may_be_there = !is_first_launch(facts->instance) && conversation->session_id &&
			    facts->transcript == TRANSCRIPT_UNKNOWN;
	return conversation->forked_from && facts->agent->fork.count && facts->resume_enabled &&
	       !conversation->first_turn_seen && facts->transcript != TRANSCRIPT_TURNS &&
	       facts->transcript != TRANSCRIPT_ELSEWHERE && !may_be_there;
}

static void add_fork(const struct resume_facts *facts, struct run *run)
{
	const struct conversation *conversation = &facts->instance->conversation;
	const struct step step = {
		.rung = RUNG_RESUME,
		.reason = REASON_FORKED,
		.template = &facts->agent->fork,
		.slot_id = conversation->forked_from,
		.session_id = conversation->session_id ? conversation->session_id
						       : facts->new_session_id,
	};
	add_step(facts, run, &step);
}

void resume_plan(const struct resume_facts *facts, struct run *run)
{
	const struct agent *agent = facts->agent;
	const struct instance *instance = facts->instance;
	const char *stored = agent->resume.count ? instance->conversation.session_id : NULL;
	bool takes = stored && resume_takes_id(agent, stored);

	if (wants_fork(facts)) {
		add_fork(facts, run);
		add_shell(facts, run);
		return;
	}
	if (takes && is_elsewhere(facts)) {
		add_resume(facts, run, REASON_CONVERSATION_ELSEWHERE);
		add_shell(facts, run);
		return;
	}
	if (stored && !takes)
		add_fresh(facts, run, REASON_ID_NOT_TAKEN);
	else if (stored && !facts->resume_enabled && !is_first_launch(instance))
		add_fresh(facts, run, REASON_RESUME_DISABLED);
	else if (stored && registry_strategy(agent) == STRATEGY_ASSIGN)
		plan_assign(facts, run);
	else if (stored)
		plan_known_id(facts, run);
	else
		plan_without_id(facts, run);
	add(facts, run, RUNG_LAUNCH, launch_reason(facts, run, stored && !takes), NULL, NULL);
	add_shell(facts, run);
}

/* --- the note ---------------------------------------------------------------------------------- */

/* Was one of the attempts up to the present one made to bring something back? */
static bool had_history(const struct run *run)
{
	for (size_t i = 0; i <= run->attempt && i < run->attempt_count; i++) {
		const struct attempt *attempt = &run->attempts[i];
		if ((attempt->rung == RUNG_RESUME && attempt->reason != REASON_FRESH_SESSION) ||
		    attempt->rung == RUNG_CONTINUE ||
		    (attempt->rung == RUNG_FRESH && attempt->reason != REASON_RESUME_DISABLED))
			return true;
	}
	return false;
}

/* A plain launch that is the first attempt: is that a loss? */
static bool launch_loses(const struct instance *instance, enum reason reason)
{
	if (reason == REASON_ID_NOT_TAKEN)
		return true;
	return !is_first_launch(instance) &&
	       (reason == REASON_NO_ID_REPORTED_YET || reason == REASON_DIRECTORY_SHARED);
}

/* Was something to be restored by an agent that does not say whether it found it? */
static bool is_unverified(const struct agent *agent, const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return (attempt->rung == RUNG_RESUME || attempt->rung == RUNG_CONTINUE) && agent &&
	       agent->unknown_id == UNKNOWN_NEW && had_history(&instance->run) &&
	       attempt->reason != REASON_CONVERSATION_DATA_PRESENT;
}

char *resume_history_note(const struct agent *agent, const struct instance *instance)
{
	const struct run *run = &instance->run;
	const struct attempt *attempt = run_attempt(run);
	bool lost = false;

	if (!attempt)
		return NULL;
	if (is_unverified(agent, instance))
		return xstrdup("history not verified: the agent does not say whether it found its "
			       "conversation");
	switch (attempt->rung) {
	case RUNG_FRESH:
		lost = attempt->reason != REASON_RESUME_DISABLED;
		break;
	case RUNG_ASSIGN:
		if (run->attempts[0].reason == REASON_ID_IN_USERS_ARGUMENTS)
			return xasprintf("the agent knows no conversation %s: a new one begins "
					 "under that id",
					 or_empty(attempt->session_id));
		lost = instance->conversation.first_turn_seen;
		break;
	case RUNG_LAUNCH:
		lost = run->attempt ? had_history(run) : launch_loses(instance, attempt->reason);
		break;
	case RUNG_RESUME:
	case RUNG_CONTINUE:
	case RUNG_NONE:
	case RUNG_SHELL:
	case RUNG_COUNT:
		break;
	}
	return lost ? xasprintf("history not restored: %s", attempt_why(attempt)) : NULL;
}

bool resume_note_reported(const struct agent *agent, struct instance *instance,
			  const char *session_id)
{
	struct run *run = &instance->run;
	const struct attempt *attempt = run_attempt(run);
	/* For other agents a new id proves nothing: some give a resumed conversation a new one. */
	if (!attempt || !attempt->session_id || !run->history_note ||
	    !is_unverified(agent, instance))
		return false;
	replace_string(&run->history_note,
		       naming_same_session_id(attempt->session_id, session_id)
			       ? NULL
			       : "history not restored: the agent began another conversation");
	return true;
}

/* --- judging an end ---------------------------------------------------------------------------- */

enum ladder_verdict resume_judge(const struct run *run, const struct ladder_end *end,
				 int64_t probation_ms)
{
	const struct attempt *attempt = run_attempt(run);
	bool failed = end->signal_number == 0 && end->code > 0 && end->code < 128;
	if (!attempt || attempt->rung == RUNG_SHELL || !failed || run->reported || run->offer)
		return LADDER_ENDED;
	if (end->lived_ms >= probation_ms && !(attempt->rung == RUNG_RESUME && end->is_unknown_id))
		return LADDER_ENDED;
	return run->attempt + 1 < run->attempt_count ? LADDER_NEXT : LADDER_EXHAUSTED;
}
