/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/instance.h"

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

/* The enums are unsigned, so one comparison bounds both ends. */
#define WORD(words, value) \
	(assert((size_t)(value) < ARRAY_SIZE(words)), (words)[(size_t)(value)])

const char *instance_state_name(enum instance_state state)
{
	return WORD(state_words, state);
}

const char *instance_desired_name(enum instance_desired desired)
{
	return WORD(desired_words, desired);
}

const char *instance_activity_name(enum instance_activity activity)
{
	return WORD(activity_words, activity);
}

const char *session_origin_name(enum session_origin origin)
{
	return WORD(origin_words, origin);
}

const char *rung_name(enum rung rung)
{
	return WORD(rung_words, rung);
}

const char *resume_policy_name(enum resume_policy policy)
{
	return WORD(resume_words, policy);
}

const char *restart_policy_name(enum restart_policy policy)
{
	return WORD(restart_words, policy);
}

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

#define PARSE(words, name, ret)                                              \
	({                                                                   \
		size_t at_;                                                  \
		bool found_ = find_word(words, ARRAY_SIZE(words), name, &at_); \
		if (found_)                                                  \
			*(ret) = (__typeof__(*(ret)))at_;                    \
		found_;                                                      \
	})

bool instance_state_parse(const char *name, enum instance_state *ret)
{
	return PARSE(state_words, name, ret);
}

bool instance_desired_parse(const char *name, enum instance_desired *ret)
{
	return PARSE(desired_words, name, ret);
}

bool instance_activity_parse(const char *name, enum instance_activity *ret)
{
	return PARSE(activity_words, name, ret);
}

bool session_origin_parse(const char *name, enum session_origin *ret)
{
	return PARSE(origin_words, name, ret);
}

bool rung_parse(const char *name, enum rung *ret)
{
	return PARSE(rung_words, name, ret);
}

bool resume_policy_parse(const char *name, enum resume_policy *ret)
{
	return PARSE(resume_words, name, ret);
}

bool restart_policy_parse(const char *name, enum restart_policy *ret)
{
	return PARSE(restart_words, name, ret);
}

struct instance *instance_new(void)
{
	return xcalloc(1, sizeof(struct instance));
}

static void conversation_clear(struct conversation *conversation)
{
	free(conversation->session_id);
	strvec_clear(&conversation->previous);
	free(conversation->transcript_path);
	free(conversation->config_home);
	free(conversation->forked_from);
	*conversation = (struct conversation){ 0 };
}

void instance_free(struct instance *instance)
{
	if (!instance)
		return;
	free(instance->id);
	free(instance->profile);
	free(instance->title);
	free(instance->group);
	free(instance->cwd);
	free(instance->agent);
	free(instance->backend);
	free(instance->base);
	strvec_clear(&instance->argv);
	strvec_clear(&instance->env_kept);
	free(instance->observed.reason);
	free(instance->observed.exit.oom_victim);
	free(instance->observed.exit.last_words);
	free(instance->observed.boot_id);
	free(instance->observed.held);
	conversation_clear(&instance->conversation);
	strvec_clear(&instance->resume_argv);
	run_clear(&instance->run);
	json_object_put(instance->unknown);
	free(instance);
}

void attempt_clear(struct attempt *attempt)
{
	free(attempt->reason);
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
	for (size_t i = 0; i < run->attempt_count; i++)
		attempt_clear(&run->attempts[i]);
	free(run->attempts);
	free(run->history_note);
	*run = (struct run){ 0 };
}

void run_add_attempt(struct run *run, const struct attempt *attempt)
{
	struct attempt copy = {
		.rung = attempt->rung,
		.reason = xstrdup_or_null(attempt->reason),
		.session_id = xstrdup_or_null(attempt->session_id),
	};
	strvec_push_all(&copy.argv, &attempt->argv);
	struct attempt *grown =
		reallocarray(run->attempts, run->attempt_count + 1, sizeof(*grown));
	if (!grown)
		abort();
	run->attempts = grown;
	run->attempts[run->attempt_count++] = copy;
}

const struct attempt *run_attempt(const struct run *run)
{
	return run->attempt < run->attempt_count ? &run->attempts[run->attempt] : NULL;
}

static void strvec_without(struct strvec *vec, const char *text)
{
	struct strvec kept = { 0 };
	for (size_t i = 0; i < vec->count; i++)
		if (!streq(vec->items[i], text))
			strvec_push(&kept, vec->items[i]);
	strvec_clear(vec);
	*vec = kept;
}

void conversation_set_id(struct conversation *conversation, const char *session_id,
			 enum session_origin origin, int64_t now_us)
{
	/* Copied first: the caller's text may be one of previous. */
	char *id = xstrdup_or_null(session_id);
	cleanup_free char *old = conversation->session_id;

	conversation->session_id = id;
	conversation->captured_at = now_us;
	if (old && id && streq(old, id))
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
