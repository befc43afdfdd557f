/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/instance.h"

#include "model/session/naming.h"

#include <assert.h>

static const char *const state_words[] = {
	[STATE_STOPPED] = "stopped",   [STATE_STARTING] = "starting", [STATE_RUNNING] = "running",
	[STATE_STOPPING] = "stopping", [STATE_ERROR] = "error",
};
_Static_assert(ARRAY_SIZE(state_words) == STATE_COUNT, "a state without a word");

static const char *const desired_words[] = {
	[DESIRED_STOPPED] = "stopped",
	[DESIRED_RUNNING] = "running",
};

static const char *const activity_words[] = {
	[ACTIVITY_UNKNOWN] = "unknown",
	[ACTIVITY_BUSY] = "busy",
	[ACTIVITY_WAITING] = "waiting",
	[ACTIVITY_IDLE] = "idle",
};

static const char *const origin_words[] = {
	[ORIGIN_NONE] = "none",
	[ORIGIN_MINTED] = "minted",
	[ORIGIN_ADOPTED] = "adopted",
	[ORIGIN_REPORTED] = "reported",
	[ORIGIN_DISCOVERED] = "discovered",
};

static const char *const rung_words[] = {
	[RUNG_NONE] = "none",   [RUNG_RESUME] = "resume",     [RUNG_ASSIGN] = "assign",
	[RUNG_FRESH] = "fresh", [RUNG_CONTINUE] = "continue", [RUNG_LAUNCH] = "launch",
	[RUNG_SHELL] = "shell",
};
_Static_assert(ARRAY_SIZE(rung_words) == RUNG_COUNT, "a rung without a word");

static const char *const resume_words[] = {
	[POLICY_AUTO] = "auto",
	[POLICY_CONFIRM] = "confirm",
	[POLICY_NEVER] = "never",
	[POLICY_DEFAULT] = "default",
};

static const char *const restart_words[] = {
	[RESTART_DEFAULT] = "default",
	[RESTART_NO] = "no",
	[RESTART_ON_FAILURE] = "on-failure",
	[RESTART_ALWAYS] = "always",
};

static const char *const end_words[] = {
	[END_DEFAULT] = "default",
	[END_ASK] = "ask",
	[END_KEEP] = "keep",
	[END_CLEAN] = "clean",
};
_Static_assert(ARRAY_SIZE(end_words) == END_COUNT, "a policy without a word");

static const char *const ending_words[] = {
	[ENDING_NONE] = "none", [ENDING_DUE] = "due",     [ENDING_UNDECIDED] = "undecided",
	[ENDING_KEPT] = "kept", [ENDING_FREED] = "freed", [ENDING_OTHER] = "other",
};
_Static_assert(ARRAY_SIZE(ending_words) == ENDING_COUNT, "a stage without a word");

static const char *const hold_words[] = {
	[HOLD_NONE] = "none",       [HOLD_LIMIT] = "limit",
	[HOLD_LOGIN] = "login",     [HOLD_BACKGROUND] = "background",
	[HOLD_REFUSED] = "refused", [HOLD_OTHER] = "other",
};
_Static_assert(ARRAY_SIZE(hold_words) == HOLD_COUNT, "a hold without a word");

/* The enums are unsigned, so one comparison bounds both ends. */
#define WORD(words, value) (assert((size_t)(value) < ARRAY_SIZE(words)), (words)[(size_t)(value)])

static bool find_word(const char *const *words, size_t count, const char *name, size_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (streq(words[i], name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): an enum's name takes none */
#define NAME_AND_PARSE(name_of, words)                               \
	const char *name_of##_name(enum name_of value)               \
	{                                                            \
		return WORD(words, value);                           \
	}                                                            \
	bool name_of##_parse(const char *name, enum name_of *ret)    \
	{                                                            \
		size_t at;                                           \
		if (!find_word(words, ARRAY_SIZE(words), name, &at)) \
			return false;                                \
		*ret = (enum name_of)at;                             \
		return true;                                         \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
NAME_AND_PARSE(instance_state, state_words)
NAME_AND_PARSE(instance_desired, desired_words)
NAME_AND_PARSE(instance_activity, activity_words)
NAME_AND_PARSE(session_origin, origin_words)
NAME_AND_PARSE(rung, rung_words)
NAME_AND_PARSE(resume_policy, resume_words)
NAME_AND_PARSE(restart_policy, restart_words)
NAME_AND_PARSE(end_policy, end_words)
NAME_AND_PARSE(ending_stage, ending_words)
NAME_AND_PARSE(hold, hold_words)

struct instance *instance_new(void)
{
	return xcalloc(1, sizeof(struct instance));
}

void shared_conversation_clear(struct shared_conversation *shared)
{
	free(shared->session_id);
	free(shared->owner);
	free(shared->title);
	free(shared->profile);
	*shared = (struct shared_conversation){ 0 };
}

char *shared_conversation_text(const struct shared_conversation *shared)
{
	if (!shared->session_id)
		return NULL;
	return xasprintf("conversation %s of '%s' (%s%s%s)", shared->session_id,
			 or_empty(shared->title), or_empty(shared->owner),
			 shared->profile ? " in profile " : "", or_empty(shared->profile));
}

static void conversation_clear(struct conversation *conversation)
{
	free(conversation->session_id);
	strvec_clear(&conversation->previous);
	free(conversation->transcript_path);
	free(conversation->config_home);
	free(conversation->forked_from);
	free(conversation->set_aside);
	free(conversation->directory);
	shared_conversation_clear(&conversation->shared);
	*conversation = (struct conversation){ 0 };
}

void taken_clear(struct taken *taken)
{
	free(taken->boot_id);
	free(taken->machine_id);
	free(taken->pid_namespace);
	free(taken->session_id);
	*taken = (struct taken){ 0 };
}

void taken_set(struct taken *taken, const struct process_id *processes, size_t count,
	       const char *session_id)
{
	const struct machine_stamp here = machine_stamp();
	struct taken made = {
		.boot_id = xstrdup_or_null(here.boot_id),
		.machine_id = xstrdup_or_null(here.id),
		.pid_namespace = xstrdup_or_null(here.pid_namespace),
		.session_id = xstrdup_or_null(session_id),
	};
	while (made.count < count && made.count < TAKEN_MAX) {
		made.processes[made.count] = processes[made.count];
		made.count++;
	}
	taken_clear(taken);
	*taken = made;
}

bool taken_has(const struct taken *taken, const struct process_id *process)
{
	for (size_t i = 0; i < taken->count; i++)
		if (process_same(&taken->processes[i], process))
			return true;
	return false;
}

/* The first of them that lives; NULL: none does. */
static const struct process_id *living(const struct taken *taken)
{
	for (size_t i = 0; i < taken->count; i++)
		if (process_alive(&taken->processes[i]))
			return &taken->processes[i];
	return NULL;
}

enum taken_state taken_look(const struct taken *taken, struct process_id *ret)
{
	enum taken_state state = TAKEN_ENDED;
	const struct process_id *found = taken->processes;
	if (!taken->count || !taken->boot_id)
		return TAKEN_ENDED;
	const struct machine_stamp written = { .boot_id = taken->boot_id,
					       .id = taken->machine_id,
					       .pid_namespace = taken->pid_namespace };
	switch (machine_relation(&written)) {
	case MACHINE_OTHER:
		state = TAKEN_ELSEWHERE;
		break;
	case MACHINE_EARLIER_BOOT:
		break;
	case MACHINE_THIS_BOOT:
		found = living(taken);
		state = found ? TAKEN_LIVES : TAKEN_ENDED;
		break;
	}
	if (ret && state != TAKEN_ENDED)
		*ret = *found;
	return state;
}

bool taken_may_have(const struct taken *taken, const char *session_id)
{
	return !session_id || !taken->session_id ||
	       naming_same_session_id(taken->session_id, session_id);
}

void ending_clear(struct ending *ending)
{
	free(ending->why);
	free(ending->seen);
	*ending = (struct ending){ 0 };
}

void exit_record_clear(struct exit_record *record)
{
	free(record->oom_victim);
	free(record->last_words);
	*record = (struct exit_record){ 0 };
}

void instance_free(struct instance *instance)
{
	if (!instance)
		return;
	free(instance->id);
	free(instance->profile);
	free(instance->title);
	free(instance->group);
	free(instance->notes);
	free(instance->imported_from);
	taken_clear(&instance->taken);
	free(instance->cwd);
	free(instance->agent);
	free(instance->backend);
	free(instance->base);
	free(instance->copy_of);
	free(instance->removed_title);
	strvec_clear(&instance->argv);
	strvec_clear(&instance->env_kept);
	free(instance->observed.reason);
	exit_record_clear(&instance->observed.exit);
	free(instance->observed.boot_id);
	free(instance->observed.machine_id);
	free(instance->observed.pid_namespace);
	free(instance->observed.host);
	free(instance->observed.held);
	conversation_clear(&instance->conversation);
	strvec_clear(&instance->resume_argv);
	run_clear(&instance->run);
	recipe_free(instance->recipe);
	workspace_free(instance->workspace);
	free(instance->container_id);
	free(instance->came_back.lost);
	ending_clear(&instance->ending);
	json_object_put(instance->unknown);
	free(instance);
}

void attempt_clear(struct attempt *attempt)
{
	free(attempt->other_reason);
	free(attempt->session_id);
	strvec_clear(&attempt->argv);
	*attempt = (struct attempt){ 0 };
}

void run_clear(struct run *run)
{
	free(run->id);
	free(run->socket);
	free(run->directory);
	free(run->unit);
	free(run->invocation_id);
	free(run->boot_id);
	free(run->machine_id);
	free(run->pid_namespace);
	free(run->host);
	free(run->capsule);
	for (size_t i = 0; i < run->attempt_count; i++)
		attempt_clear(&run->attempts[i]);
	free(run->attempts);
	free(run->history_note);
	*run = (struct run){ 0 };
}

static struct machine_stamp run_stamp(const struct run *run)
{
	return (struct machine_stamp){ run->boot_id, run->machine_id, run->pid_namespace,
				       run->host };
}

static struct machine_stamp instance_stamp(const struct instance *instance)
{
	return instance->run.boot_id ? run_stamp(&instance->run)
				     : (struct machine_stamp){ instance->observed.boot_id,
							       instance->observed.machine_id,
							       instance->observed.pid_namespace,
							       instance->observed.host };
}

enum machine_relation run_relation(const struct run *run)
{
	const struct machine_stamp written = run_stamp(run);
	return machine_relation(&written);
}

enum machine_relation instance_relation(const struct instance *instance)
{
	const struct machine_stamp written = instance_stamp(instance);
	return machine_relation(&written);
}

char *instance_host(const struct instance *instance)
{
	const struct machine_stamp written = instance_stamp(instance);
	return machine_name(&written);
}

void run_add_attempt(struct run *run, const struct attempt *attempt)
{
	struct attempt copy = {
		.rung = attempt->rung,
		.reason = attempt->reason,
		.other_reason = xstrdup_or_null(attempt->other_reason),
		.session_id = xstrdup_or_null(attempt->session_id),
	};
	strvec_push_all(&copy.argv, &attempt->argv);
	run->attempts = xreallocarray(run->attempts, run->attempt_count + 1, sizeof(copy));
	run->attempts[run->attempt_count++] = copy;
}

const char *attempt_reason(const struct attempt *attempt)
{
	return attempt->reason == REASON_OTHER ? attempt->other_reason
					       : reason_name(attempt->reason);
}

const struct process_id *run_tmux_server(const struct run *run)
{
	return run->capsule ? &run->window : &run->server;
}

const struct attempt *run_attempt(const struct run *run)
{
	return run->attempt < run->attempt_count ? &run->attempts[run->attempt] : NULL;
}

static void strvec_without(struct strvec *vec, const char *session_id)
{
	struct strvec kept = { 0 };
	for (size_t i = 0; i < vec->count; i++)
		if (!naming_same_session_id(vec->items[i], session_id))
			strvec_push(&kept, vec->items[i]);
	strvec_clear(vec);
	*vec = kept;
}

const char *instance_launch_directory(const struct instance *instance)
{
	return instance->conversation.directory ? instance->conversation.directory : instance->cwd;
}

const char *instance_transcript_directory(const struct instance *instance)
{
	return instance->cwd;
}

const char *instance_owner_directory(const struct instance *instance)
{
	return instance->cwd;
}

const char *instance_lookup_directory(const struct instance *instance)
{
	return instance->cwd;
}

void instance_set_directory(struct instance *instance, const char *directory)
{
	if (streq(or_empty(instance->conversation.directory), directory))
		replace_string(&instance->conversation.directory, NULL);
	replace_string(&instance->cwd, directory);
}

void instance_set_launch_directory(struct instance *instance, const char *directory)
{
	replace_string(&instance->conversation.directory,
		       streq(directory, instance->cwd) ? NULL : directory);
}

void conversation_set_id(struct conversation *conversation, const char *session_id,
			 enum session_origin origin, int64_t now_us)
{
	/* Copied first: the caller's text may be one of previous. */
	char *id = xstrdup_or_null(session_id);
	cleanup_free char *old = conversation->session_id;

	conversation->session_id = id;
	conversation->captured_at = now_us;
	shared_conversation_clear(&conversation->shared);
	if (naming_same_session_id(old, id))
		return;
	/* A conversation that is gone back to is no longer a previous one. */
	if (id)
		strvec_without(&conversation->previous, id);
	if (old) {
		strvec_without(&conversation->previous, old);
		strvec_push(&conversation->previous, old);
	}
	replace_string(&conversation->transcript_path, NULL);
	conversation->origin = id ? origin : ORIGIN_NONE;
	conversation->first_turn_seen = false;
}
