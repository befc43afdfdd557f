/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_rename(), lifecycle_fork(), lifecycle_set_*(): what a user changes about an instance
 * and its conversation.
 */
#include "engine/run/lifecycle.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/owner.h"
#include "engine/deck/hint.h"
#include "engine/deck/home.h"
#include "engine/place/alive.h"
#include "engine/run/operation.h"
#include "engine/screen/screen.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

enum { TITLES_MAX = 1000, LOCK_TIMEOUT_MS = 30000 };

int lifecycle_rename(struct deck *deck, const char *base, const char *title, struct error *err)
{
	cleanup_store_profile_lock struct store_profile_lock *names = NULL;
	cleanup_operation struct operation operation = { 0 };
	cleanup_store_rows struct store_rows rows = { 0 };
	if (naming_check_title(title, err) < 0 ||
	    operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	int r = store_lock_profile(deck->store, clock_ms() + LOCK_TIMEOUT_MS, &names, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck holds the profile's lock: try again");
	if (r < 0 || store_list(deck->store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		if (streq(rows.rows[i].title, title) && !streq(rows.rows[i].base, base))
			return error_set(err, ERROR_EXISTS, "another session is named '%s' (%s)",
					 title, rows.rows[i].id);
	replace_string(&operation.instance->title, title);
	if (operation_save(&operation, err) < 0)
		return -1;
	store_unlock_profile(TAKE_PTR(names));
	screen_show_title(deck, operation.instance);
	return 0;
}

void lifecycle_note_use(struct deck *deck, const char *base)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error err = { 0 };
	/* Whoever holds the lock is more important. */
	if (store_lock(deck->store, base, 0, &lock, &err) != 0 ||
	    store_load_locked(lock, &instance, &err) != 0)
		return;
	instance->last_used_at = clock_wall_us();
	if (store_save(lock, instance, &err) < 0)
		log_warning("%s", err.message);
}

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
		return error_set(err, ERROR_INVALID,
				 "%s cannot copy a conversation: its entry has no session.fork "
				 "(agentdeck agents show %s)",
				 agent->name, agent->name);
	if (!source->conversation.session_id)
		return error_set(
			err, ERROR_INVALID,
			"session '%s' has no known conversation yet: start it and say something "
			"first",
			title);
	/* Where a turn would have been reported, and was not, there is nothing to copy. */
	if (agent->report.count && !source->conversation.first_turn_seen &&
	    source->conversation.origin == ORIGIN_MINTED)
		return error_set(err, ERROR_INVALID,
				 "session '%s' has no turn yet, so there is nothing to copy",
				 title);
	return 0;
}

/* Titles are taken while the profile is locked, which is not now: so it is tried. */
static int add_with_free_title(struct deck *deck, struct lifecycle_new *wish,
			       const char *source_title, struct instance **ret, struct error *err)
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
	return error_set(err, ERROR_EXISTS, "it has too many forks: name this one with -t");
}

int lifecycle_fork(struct deck *deck, const char *base, const char *title, const char *group,
		   struct instance **ret, struct error *err)
{
	cleanup_instance struct instance *source = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	const struct agent *agent;
	if (deck_load(deck, base, &source, err) < 0 ||
	    deck_agent(deck, source->agent, &agent, err) < 0 || check_fork(source, agent, err) < 0)
		return -1;
	/* The copy is made where it is now. */
	if (location_refresh(source, agent, err) < 0)
		return -1;
	resume_carried_argv(agent, &source->argv, &argv);
	struct lifecycle_new wish = {
		.title = title,
		.group = group ? group : source->group,
		.directory = instance_lookup_directory(source),
		.launch_directory = source->conversation.directory,
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
static int open_stopped(struct deck *deck, const char *base, struct operation *ret,
			struct error *err)
{
	cleanup_operation struct operation opened = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &opened, err) < 0 ||
	    place_check_here(deck, opened.instance, err) < 0)
		return -1;
	if (opened.place->observe(deck, opened.instance, OBSERVE_PROCESS).presence !=
	    PRESENCE_NONE) {
		cleanup_free char *title = visible(opened.instance->title);
		cleanup_free char *hint = hint_session(deck, opened.instance->title,
						       opened.instance->id);
		return error_set(
			err, ERROR_INVALID,
			"session '%s' is running and its conversation cannot change now: stop it "
			"first with agentdeck session stop %s",
			title, hint);
	}
	*ret = operation_take(&opened);
	return 0;
}

int lifecycle_set_session_id(struct deck *deck, const char *base, const char *session_id,
			     struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_fs_lock struct fs_lock conversations = FS_UNLOCKED;
	cleanup_free char *shown = visible(session_id);
	if (open_stopped(deck, base, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	const struct agent *agent = operation.agent;
	if (!agent->resume.count)
		return error_set(err, ERROR_INVALID, "%s has no session ids", agent->name);
	if (!resume_takes_id(agent, session_id))
		return error_set(err, ERROR_INVALID,
				 "'%s' is not a session id of %s, which uses %s", shown,
				 agent->name, resume_id_text(agent));
	if (owner_lock(deck, &conversations, err) < 0 ||
	    owner_check(deck, instance, session_id, err) < 0)
		return -1;
	cleanup_free char *before = xstrdup(or_empty(instance->conversation.session_id));
	cleanup_free char *state = home_path(deck, instance->id);
	/* A run that is over must not give it another id when it is looked at again. */
	run_clear(&instance->run);
	replace_string(&instance->conversation.forked_from, NULL);
	conversation_set_id(&instance->conversation, session_id, ORIGIN_ADOPTED, clock_wall_us());
	strvec_clear(&instance->resume_argv);
	resume_command(agent, instance, state, &instance->resume_argv);
	if (operation_save(&operation, err) < 0)
		return -1;
	log_info("conversation: %s -> %s source=set", *before ? before : "none", session_id);
	return 0;
}

int lifecycle_set_path(struct deck *deck, const char *base, struct lifecycle_move *move,
		       struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_free char *real = NULL, *shown = visible(move->path);
	enum location_outcome outcome;
	int r = fs_real_directory(move->path, &real, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not an existing directory: say where it is now", shown);
	if (r < 0 || open_stopped(deck, base, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	cleanup_free char *before = xstrdup(instance_lookup_directory(instance));
	if (location_move(instance, operation.agent, real, move->copies_transcript, &outcome, err) <
		    0 ||
	    operation_save(&operation, err) < 0)
		return -1;
	log_info("directory: %s -> %s launch=%s", before, real,
		 instance_launch_directory(instance));
	move->outcome = outcome;
	move->instance = TAKE_PTR(operation.instance);
	return 0;
}

int lifecycle_set_resume_policy(struct deck *deck, const char *base, enum resume_policy policy,
				struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	operation.instance->resume_policy = policy;
	return operation_save(&operation, err);
}

int lifecycle_set_restart_policy(struct deck *deck, const char *base, enum restart_policy policy,
				 struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	operation.instance->restart_policy = policy;
	return operation_save(&operation, err);
}
