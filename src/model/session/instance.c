/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/instance.h"

#include "model/session/fields.h"
#include "model/session/naming.h"

#include <assert.h>

const char *const instance_state_words[] = {
	[STATE_STOPPED] = "stopped",   [STATE_STARTING] = "starting", [STATE_RUNNING] = "running",
	[STATE_STOPPING] = "stopping", [STATE_ERROR] = "error",       NULL,
};
_Static_assert(ARRAY_SIZE(instance_state_words) == STATE_COUNT + 1, "a state without a word");

const char *const instance_desired_words[] = {
	[DESIRED_STOPPED] = "stopped",
	[DESIRED_RUNNING] = "running",
	[DESIRED_ASLEEP] = "asleep",
	NULL,
};

const char *const instance_activity_words[] = {
	[ACTIVITY_UNKNOWN] = "unknown",
	[ACTIVITY_BUSY] = "busy",
	[ACTIVITY_WAITING] = "waiting",
	[ACTIVITY_IDLE] = "idle",
	NULL,
};

const char *const session_origin_words[] = {
	[ORIGIN_NONE] = "none",
	[ORIGIN_MINTED] = "minted",
	[ORIGIN_ADOPTED] = "adopted",
	[ORIGIN_REPORTED] = "reported",
	[ORIGIN_DISCOVERED] = "discovered",
	NULL,
};

const char *const rung_words[] = {
	[RUNG_NONE] = "none",         [RUNG_RESUME] = "resume",
	[RUNG_ASSIGN] = "assign",     [RUNG_FRESH] = "fresh",
	[RUNG_CONTINUE] = "continue", [RUNG_LAUNCH] = "launch",
	[RUNG_SHELL] = "shell",       NULL,
};
_Static_assert(ARRAY_SIZE(rung_words) == RUNG_COUNT + 1, "a rung without a word");

const char *const resume_policy_words[] = {
	[POLICY_AUTO] = "auto",
	[POLICY_CONFIRM] = "confirm",
	[POLICY_NEVER] = "never",
	[POLICY_DEFAULT] = "default",
	NULL,
};

const char *const restart_policy_words[] = {
	[RESTART_DEFAULT] = "default",
	[RESTART_NO] = "no",
	[RESTART_ON_FAILURE] = "on-failure",
	[RESTART_ALWAYS] = "always",
	NULL,
};

const char *const end_policy_words[] = {
	[END_DEFAULT] = "default",
	[END_ASK] = "ask",
	[END_KEEP] = "keep",
	[END_CLEAN] = "clean",
	NULL,
};
_Static_assert(ARRAY_SIZE(end_policy_words) == END_COUNT + 1, "a policy without a word");

const char *const ending_stage_words[] = {
	[ENDING_NONE] = "none",
	[ENDING_DUE] = "due",
	[ENDING_UNDECIDED] = "undecided",
	[ENDING_KEPT] = "kept",
	[ENDING_FREED] = "freed",
	[ENDING_OTHER] = "other",
	NULL,
};
_Static_assert(ARRAY_SIZE(ending_stage_words) == ENDING_COUNT + 1, "a stage without a word");

const char *const hold_words[] = {
	[HOLD_NONE] = "none",
	[HOLD_LIMIT] = "limit",
	[HOLD_LOGIN] = "login",
	[HOLD_BACKGROUND] = "background",
	[HOLD_REFUSED] = "refused",
	[HOLD_OTHER] = "other",
	NULL,
};
_Static_assert(ARRAY_SIZE(hold_words) == HOLD_COUNT + 1, "a hold without a word");

const char *const queued_state_words[] = {
	[QUEUED_WAITS] = "queued",
	[QUEUED_TYPING] = "typing",
	[QUEUED_UNKNOWN] = "unknown",
	[QUEUED_OTHER] = "other",
	NULL,
};
_Static_assert(ARRAY_SIZE(queued_state_words) == QUEUED_COUNT + 1, "a state without a word");

/* NOLINTBEGIN(bugprone-macro-parentheses): an enum's name takes none */
#define NAME(name_of)                                                    \
	const char *name_of##_name(enum name_of value)                   \
	{                                                                \
		assert((size_t)value < ARRAY_SIZE(name_of##_words) - 1); \
		return name_of##_words[value];                           \
	}
#define NAME_AND_PARSE(name_of)                                     \
	NAME(name_of)                                               \
	bool name_of##_parse(const char *name, enum name_of *ret)   \
	{                                                           \
		const int value = word_find(name_of##_words, name); \
		if (value >= 0)                                     \
			*ret = (enum name_of)value;                 \
		return value >= 0;                                  \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
NAME(instance_state)
NAME(instance_desired)
NAME_AND_PARSE(instance_activity)
NAME(session_origin)
NAME(rung)
NAME_AND_PARSE(resume_policy)
NAME_AND_PARSE(restart_policy)
NAME_AND_PARSE(end_policy)
NAME(ending_stage)
NAME(queued_state)

struct instance *instance_new(void)
{
	return xcalloc(1, sizeof(struct instance));
}

char *shared_conversation_text(const struct shared_conversation *shared)
{
	if (!shared->session_id)
		return NULL;
	return xasprintf("conversation %s of '%s' (%s%s%s)", shared->session_id,
			 or_empty(shared->title), or_empty(shared->owner),
			 shared->profile ? " in profile " : "", or_empty(shared->profile));
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

const char *attempt_why(const struct attempt *attempt)
{
	return reason_text(attempt_reason(attempt));
}

const struct process_id *run_tmux_server(const struct run *run)
{
	return run->capsule ? &run->window : &run->server;
}

char *instance_room(const struct instance *instance)
{
	const struct recipe *recipe = instance->recipe;
	return recipe && recipe->within
		       ? xasprintf("%s/" INSTANCE_ROOMS "/%d", recipe->within, (int)recipe->room)
		       : NULL;
}

struct place_run place_run_of(const struct instance *instance)
{
	const struct run *run = &instance->run;
	return (struct place_run){
		.id = instance->id,
		.backend = instance->backend,
		.run_id = run->id,
		.socket = run->socket,
		.directory = run->directory,
		.unit = run->unit,
		.boot_id = run->boot_id,
		.machine_id = run->machine_id,
		.pid_namespace = run->pid_namespace,
		.host = run->host,
		.server = run->server,
		.pane = run->pane,
		.window = run->window,
		.capsule = run->capsule,
	};
}

const struct attempt *run_attempt(const struct run *run)
{
	return run->attempt < run->attempt_count ? &run->attempts[run->attempt] : NULL;
}

bool run_is_shell(const struct run *run)
{
	const struct attempt *attempt = run_attempt(run);
	return attempt && attempt->rung == RUNG_SHELL;
}

const char *instance_next_session_id(const struct instance *instance)
{
	const struct conversation *conversation = &instance->conversation;
	/* Without a socket there is no run, whatever its other fields say. */
	const struct attempt *attempt = instance->run.socket ? run_attempt(&instance->run) : NULL;
	const char *id = attempt ? attempt->session_id : NULL;
	bool is_known = naming_same_session_id(id, conversation->session_id) ||
			naming_has_session_id(&conversation->previous, id);
	return is_known ? NULL : id;
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
