/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_fork(), lifecycle_set_*(): what a user changes about an instance and its conversation.
 */
#include "engine/lifecycle.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/conversation.h"
#include "engine/place.h"
#include "model/resume.h"

enum { TITLES_MAX = 1000 };

static bool carries_new_id(const struct agent *agent)
{
	for (size_t i = 0; i < agent->fork.count; i++)
		if (streq(agent->fork.items[i], "{new_session_id}"))
			return true;
	return false;
}

static int check_fork(const struct instance *source, const struct agent *agent, struct error *err)
{
	cleanup_free char *title = visible(source->title);
	if (!agent->fork.count)
		return error_set(err, ERROR_INVALID, "%s cannot copy a conversation: its entry has no session.fork "
				 "(agentdeck agents show %s)", agent->name, agent->name);
	if (!source->conversation.session_id)
		return error_set(err, ERROR_INVALID, "no conversation of session '%s' is known yet: start it and "
				 "say something first", title);
	/* Where a turn would have been reported, and was not, there is nothing to copy. */
	if (agent->report.count && !source->conversation.first_turn_seen &&
	    source->conversation.origin == ORIGIN_MINTED)
		return error_set(err, ERROR_INVALID, "session '%s' has no turn yet, so there is nothing to copy",
				 title);
	return 0;
}

/* Titles are taken while the profile is locked, which is not now: so it is tried. */
static int add_with_free_title(struct deck *deck, struct lifecycle_new *wish, const char *source_title,
			       struct instance **ret, struct error *err)
{
	for (int i = 1; i <= TITLES_MAX; i++) {
		cleanup_error struct error local = { 0 };
		cleanup_free char *title = i == 1 ? xasprintf("%s-fork", source_title)
						  : xasprintf("%s-fork-%d", source_title, i);
		wish->title = title;
		if (lifecycle_add(deck, wish, ret, &local) == 0)
			return 0;
		if (local.code != ERROR_EXISTS)
			return error_set(err, local.code, "%s", local.message);
	}
	return error_set(err, ERROR_EXISTS, "there are too many forks of it: name this one with -t");
}

int lifecycle_fork(struct deck *deck, const char *base, const char *title, const char *group,
		   struct instance **ret, struct error *err)
{
	cleanup_instance struct instance *source = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	const struct agent *agent;
	int r = store_load(deck->store, base, &source, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	if (deck_agent(deck, source->agent, &agent, err) < 0 || check_fork(source, agent, err) < 0)
		return -1;
	resume_carried_argv(agent, &source->argv, &argv);
	struct lifecycle_new wish = {
		.title = title,
		.group = group ? group : source->group,
		.directory = source->cwd,
		.agent = source->agent,
		.argv = &argv,
		.forked_from = source->conversation.session_id,
		.gives_no_id = !carries_new_id(agent),
		.config_home = source->conversation.config_home,
		.resume = resume_policy_name(source->resume_policy),
		.restart = restart_policy_name(source->restart_policy),
		.limits = source->limits,
	};
	return title ? lifecycle_add(deck, &wish, ret, err)
		     : add_with_free_title(deck, &wish, source->title, ret, err);
}

/* Locked, and not running: what runs is in another conversation, whatever is written down. */
static int open_stopped(struct deck *deck, const char *base, struct store_lock **ret_lock,
			struct instance **ret, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
		return -1;
	if (backend->observe(deck, instance, OBSERVE_PROCESS).presence != PRESENCE_NONE) {
		cleanup_free char *title = visible(instance->title);
		return error_set(err, ERROR_INVALID, "session '%s' runs, in the conversation that it has: stop it "
				 "first with agentdeck session stop %s", title, instance->id);
	}
	*ret_lock = TAKE_PTR(lock);
	*ret = TAKE_PTR(instance);
	return 0;
}

int lifecycle_set_session_id(struct deck *deck, const char *base, const char *session_id,
			     struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct agent *agent;
	cleanup_free char *shown = visible(session_id);
	if (open_stopped(deck, base, &lock, &instance, err) < 0 ||
	    deck_agent(deck, instance->agent, &agent, err) < 0)
		return -1;
	if (!agent->resume.count)
		return error_set(err, ERROR_INVALID, "%s has no session ids", agent->name);
	if (!resume_takes_id(agent, session_id))
		return error_set(err, ERROR_INVALID, "'%s' is no session id of %s, which takes %s", shown,
				 agent->name, resume_id_text(agent));
	if (conversation_is_anothers(deck, instance, session_id))
		return error_set(err, ERROR_EXISTS, "conversation %s is another session's: agentdeck list --json "
				 "tells whose", shown);
	cleanup_free char *before = xstrdup(or_empty(instance->conversation.session_id));
	cleanup_free char *state = place_path(deck, instance->id);
	/* A run that is over must not give it another id when it is looked at again. */
	run_clear(&instance->run);
	replace_string(&instance->conversation.forked_from, NULL);
	conversation_set_id(&instance->conversation, session_id, ORIGIN_ADOPTED, clock_wall_us());
	strvec_clear(&instance->resume_argv);
	resume_command(agent, instance, state, &instance->resume_argv);
	if (store_save(lock, instance, err) < 0)
		return -1;
	log_info("conversation: %s -> %s source=set", *before ? before : "none", session_id);
	return 0;
}

int lifecycle_set_resume_policy(struct deck *deck, const char *base, enum resume_policy policy,
				struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
		return -1;
	instance->resume_policy = policy;
	return store_save(lock, instance, err);
}

int lifecycle_set_restart_policy(struct deck *deck, const char *base, enum restart_policy policy,
				 struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
		return -1;
	instance->restart_policy = policy;
	return store_save(lock, instance, err);
}
