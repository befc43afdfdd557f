/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_set(): what a user changes about an instance and its conversation.
 */
#include "engine/run/change.h"

#include "base/argsplit.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/deck/hint.h"
#include "engine/deck/home.h"
#include "engine/place/alive.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/resolve.h"
#include "engine/place/gaps.h"
#include "engine/run/ending.h"
#include "engine/run/operation.h"
#include "engine/screen/screen.h"
#include "engine/workspace/tree.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <stdlib.h>
#include <string.h>

enum { LOCK_TIMEOUT_MS = 30000, LONGEST_NOTES = 4096 };

/* How a field is set: by take(), by a note, or else by set(). */
struct field {
	bool (*take)(struct instance *instance, const char *value); /* false: no such value */
	const char *values;                                         /* what those of take() are */
	const char *note;                                           /* of a part of the recipe */
	enum container_part part;
	int (*set)(struct deck *deck, const char *base, struct setting *setting, struct error *err);
};

static int set_title(struct deck *deck, const char *base, struct setting *setting,
		     struct error *err)
{
	const char *title = setting->value;
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
	/* The holder of the lock is more important. */
	if (store_lock(deck->store, base, 0, &lock, &err) != 0 ||
	    store_load_locked(lock, &instance, &err) != 0)
		return;
	instance->last_used_at = clock_wall_us();
	if (store_save(lock, instance, &err) < 0)
		log_warning("%s", err.message);
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
			"session '%s' is running, so this cannot be changed: stop it first with "
			"agentdeck stop %s",
			title, hint);
	}
	*ret = operation_take(&opened);
	return 0;
}

/* An agent in a container finds no conversation but those of the container's home. */
static int check_home(const struct instance *instance, const struct agent *agent,
		      const char *session_id, struct error *err)
{
	const char *home = instance->conversation.config_home;
	cleanup_transcript struct transcript found = { 0 };
	if (!place_home(instance) || !home || !location_is_known(agent))
		return 0;
	int r = location_find(instance, session_id, &found, err);
	if (r < 0 || (r == 0 && found.has_turns))
		return r;
	cleanup_free char *shown = visible(place_home(instance));
	return error_set(err, ERROR_NOT_FOUND,
			 "%s has no conversation %s with a turn in the home of this session's "
			 "container (%s): check the id; for one of this machine, add a new session "
			 "with --container --session-id",
			 agent->title, session_id, shown);
}

static int set_session_id(struct deck *deck, const char *base, struct setting *setting,
			  struct error *err)
{
	const char *session_id = setting->value;
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
	    owner_check(deck, instance, session_id, err) < 0 ||
	    check_home(instance, agent, session_id, err) < 0)
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

/* Say what will happen to its conversation.  The caller frees. */
static char *describe_move(const struct operation *operation, enum location_outcome outcome)
{
	const struct instance *instance = operation->instance;
	const struct conversation *conversation = &instance->conversation;
	const struct agent *agent = operation->agent;
	cleanup_free char *cwd = visible(instance_lookup_directory(instance)),
			  *launch = visible(instance_launch_directory(instance));
	cleanup_free char *path = visible(or_empty(conversation->transcript_path));
	if (!conversation->session_id)
		return NULL;
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	switch (outcome) {
	case LOCATION_ELSEWHERE:
		return xasprintf(
			"Conversation %s stays at %s, where %s keeps those of the old directory. Not every "
			"version finds it from here; nothing else takes its place. If it is not found: "
			"agentdeck session set %s path %s --copy-transcript",
			conversation->session_id, path, agent->title, hint, cwd);
	case LOCATION_COPIED:
		return xasprintf(
			"Conversation %s was copied to %s; the earlier file is left as it is",
			conversation->session_id, path);
	case LOCATION_HERE:
		return conversation->directory
			       ? xasprintf("Its conversation continues in %s", launch)
			       : NULL;
	case LOCATION_NONE:
		return agent->id_scope == ID_SCOPE_CWD && !location_is_known(agent)
			       ? xasprintf(
					 "%s may find conversation %s only from the old directory, and agentdeck "
					 "cannot look at it",
					 agent->title, conversation->session_id)
			       : NULL;
	}
	return NULL;
}

static int set_path(struct deck *deck, const char *base, struct setting *setting, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_free char *real = NULL, *shown = visible(setting->value);
	enum location_outcome outcome = LOCATION_HERE;
	int r = fs_real_directory(setting->value, &real, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not an existing directory: say where it is now", shown);
	if (r < 0 || open_stopped(deck, base, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	cleanup_free char *before = xstrdup(instance_lookup_directory(instance));
	if (instance->workspace) {
		/* Only the source moves; the tree stays where it is. */
		if (tree_move_source(deck, instance, real, err) < 0 ||
		    operation_save(&operation, err) < 0)
			return -1;
		setting->note = describe_move(&operation, outcome);
		return 0;
	}
	if (operation.place->take_directory &&
	    operation.place->take_directory(deck, instance, real, setting->value, err) < 0)
		return -1;
	(void)location_settle_home(deck, instance, operation.agent);
	if (location_move(instance, operation.agent, real, setting->copies_transcript, &outcome,
			  err) < 0)
		return -1;
	if (operation_save(&operation, err) < 0)
		return -1;
	log_info("directory: %s -> %s launch=%s", before, real,
		 instance_launch_directory(instance));
	setting->note = describe_move(&operation, outcome);
	return 0;
}

static int set_home(struct deck *deck, const char *base, struct setting *setting, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_fs_lock struct fs_lock conversations = FS_UNLOCKED;
	cleanup_free char *real = NULL, *shown = visible(setting->value);
	int r = fs_real_directory(setting->value, &real, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not an existing directory: say where it is now", shown);
	if (r < 0 || open_stopped(deck, base, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	const struct agent *agent = operation.agent;
	if (place_home(instance) || !agent->config_home_env)
		return error_set(err, ERROR_INVALID, "%s has no home that can be set: %s",
				 agent->title,
				 place_home(instance) ? "in a container it is that of the container"
						      : "no variable of it says where that is");
	cleanup_free char *before = xstrdup(or_empty(instance->conversation.config_home));
	if (owner_lock(deck, &conversations, err) < 0 ||
	    location_set_home(deck, instance, agent, real, err) < 0 ||
	    (instance->conversation.session_id &&
	     owner_check(deck, instance, instance->conversation.session_id, err) < 0) ||
	    operation_save(&operation, err) < 0)
		return -1;
	log_info("home: %s -> %s source=set", before, real);
	return 0;
}

static int set_group(struct deck *deck, const char *base, struct setting *setting,
		     struct error *err)
{
	const char *group = setting->value;
	cleanup_operation struct operation operation = { 0 };
	if ((*group && naming_check_group(group, err) < 0) ||
	    operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	const struct limits before = settings_limits(&deck->settings, operation.instance);
	replace_string(&operation.instance->group, group);
	const struct limits after = settings_limits(&deck->settings, operation.instance);
	if (operation_save(&operation, err) < 0)
		return -1;
	screen_show_title(deck, operation.instance);
	if (memcmp(&before, &after, sizeof(before)) != 0) {
		gaps_warn(deck, operation.instance);
		setting->note = xstrdup("The limits of this group apply from its next start");
	}
	return 0;
}

/* Each start of a guest takes from its owner what the container is made of.  Its secrets are its
 * own. */
static int check_owns_container(struct deck *deck, const struct instance *instance,
				enum container_part part, struct error *err)
{
	cleanup_instance struct instance *owner = NULL;
	if (!guest_is(instance) || part == CONTAINER_SECRET)
		return 0;
	const char *base = guest_owner_base(instance);
	const int r = store_load(deck->store, base, &owner, err);
	if (r != 0)
		return r < 0 ? -1 : guest_refuse_removed(base, err);
	cleanup_free char *shown = visible(instance->title);
	cleanup_free char *of = visible(owner->title);
	return error_set(err, ERROR_INVALID,
			 "'%s' lives in the container of '%s': change that session instead", shown,
			 of);
}

static int set_container(struct deck *deck, const char *base, const struct field *field,
			 struct setting *setting, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_error struct error others = { 0 };
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    check_owns_container(deck, operation.instance, field->part, err) < 0 ||
	    container_change(deck, operation.instance, field->part, setting->value, err) < 0 ||
	    operation_save(&operation, err) < 0)
		return -1;
	const bool waits = field->part != CONTAINER_SECRET && operation.place->check_alone &&
			   operation.place->check_alone(deck, operation.instance, &others) < 0;
	setting->note = waits ? xasprintf("%s. But %s", field->note, others.message)
			      : xstrdup(field->note);
	return 0;
}

static int set_word(struct deck *deck, const char *base, const struct field *field,
		    const struct setting *setting, struct error *err)
{
	cleanup_ending_result struct ending_result result UNUSED = { 0 };
	cleanup_operation struct operation operation = { 0 };
	cleanup_instance struct instance *other = instance_new();
	/* Tried on another instance first: a wrong word does not wait for the lock. */
	if (!field->take(other, setting->value))
		return error_set(err, ERROR_USAGE, "%s, not '%s'", field->values, setting->value);
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	(void)field->take(operation.instance, setting->value);
	if (operation_save(&operation, err) < 0)
		return -1;
	return setting->field == SETTING_ON_END
		       ? ending_settle_locked(&operation, &(struct ending_order){ 0 }, &result, err)
		       : 0;
}

static bool take_resume(struct instance *instance, const char *value)
{
	return resume_policy_parse(value, &instance->resume_policy);
}

static bool take_restart(struct instance *instance, const char *value)
{
	return restart_policy_parse(value, &instance->restart_policy);
}

static bool take_on_end(struct instance *instance, const char *value)
{
	return end_policy_parse(value, &instance->end_policy);
}

static bool take_sleep_after(struct instance *instance, const char *value)
{
	const bool is_default = streq(value, "default");
	int64_t us;
	replace_string(&instance->sleep_after, is_default ? NULL : value);
	return is_default || settings_sleep_us(value, &us);
}

static bool take_pinned(struct instance *instance, const char *value)
{
	instance->is_pinned = streq(value, "yes");
	return instance->is_pinned || streq(value, "no");
}

static int set_notes(struct deck *deck, const char *base, struct setting *setting,
		     struct error *err)
{
	const char *notes = setting->value;
	cleanup_operation struct operation operation = { 0 };
	const size_t length = strlen(notes);
	if (length > LONGEST_NOTES || !is_utf8(notes, length))
		return error_set(err, ERROR_USAGE, "notes must be UTF-8 text of at most %d bytes",
				 LONGEST_NOTES);
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	replace_string(&operation.instance->notes, length ? notes : NULL);
	return operation_save(&operation, err);
}

static int set_tags(struct deck *deck, const char *base, struct setting *setting, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	char *tags;
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    tags_change(operation.instance->tags, setting->value, &tags, err) < 0)
		return -1;
	free(operation.instance->tags);
	operation.instance->tags = tags;
	if (operation_save(&operation, err) < 0)
		return -1;
	setting->note = tags ? xasprintf("All of its tags: %s", tags) : xstrdup("It has no tags");
	return 0;
}

/* The session has its conversation, and the command must not choose another. */
static int check_words(const struct deck *deck, const struct instance *instance,
		       const struct agent *agent, const struct strvec *argv, struct error *err)
{
	const char *adopted = resume_adopted_id(agent, argv);
	const char *word = resume_find_one_shot(agent, argv);
	if (!word)
		word = resume_find_copy(agent, argv);
	if (!word && !adopted)
		word = resume_find_latest(agent, argv);
	cleanup_free char *shown = visible(word ? word : or_empty(adopted));
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	if (word)
		return error_set(err, ERROR_USAGE,
				 "omit '%s': the session resumes its own conversation", shown);
	if (adopted && !naming_same_session_id(adopted, instance->conversation.session_id))
		return error_set(err, ERROR_USAGE,
				 "the command names conversation %s, and the session has another: "
				 "omit it, or use agentdeck session set %s session-id %s first",
				 shown, hint, shown);
	return 0;
}

/* To be the conversation of a wrapper, an id must be known to be in use: else a start would take
 * the newest one of the directory. */
static int check_wrapper(const struct instance *instance, const struct agent *agent,
			 const struct strvec *argv, struct error *err)
{
	const struct conversation *conversation = &instance->conversation;
	if (registry_is_own_command(agent, argv) ||
	    !registry_is_own_command(agent, &instance->argv) ||
	    conversation->origin != ORIGIN_MINTED || conversation->first_turn_seen ||
	    conversation->transcript_path || !instance->last_used_at)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "nothing was said in this session yet, so a wrapper could take another "
			 "conversation for its own: say something first, or add a new session");
}

int lifecycle_check_command(struct deck *deck, const struct instance *instance,
			    const struct strvec *argv, struct error *err)
{
	const struct registry *registry;
	const struct agent *agent;
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	if (is_empty(argv->count ? argv->items[0] : NULL))
		return error_set(err, ERROR_USAGE, "the command is empty: name a program");
	if (deck_registry(deck, &registry, err) < 0 ||
	    deck_agent(deck, instance->agent, &agent, err) < 0)
		return -1;
	const struct agent *other = registry_match(registry, argv);
	if (!agent->generic && other && !other->generic && !streq(other->name, agent->name))
		return error_set(err, ERROR_USAGE,
				 "this command runs %s, and the session's agent is %s: use "
				 "agentdeck session set %s agent %s first",
				 other->name, agent->name, hint, other->name);
	return check_words(deck, instance, agent, argv, err) < 0 ||
			       check_wrapper(instance, agent, argv, err) < 0
		       ? -1
		       : 0;
}

static void renew_resume_command(struct deck *deck, struct instance *instance,
				 const struct agent *agent)
{
	cleanup_free char *state = home_path(deck, instance->id);
	strvec_clear(&instance->resume_argv);
	if (instance->conversation.session_id)
		resume_command(agent, instance, state, &instance->resume_argv);
}

static int set_command(struct deck *deck, const char *base, struct setting *setting,
		       struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	if (argsplit(setting->value, &argv, err) < 0)
		return error_prefix(err, "command");
	if (operation_open(deck, base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0 ||
	    lifecycle_check_command(deck, operation.instance, &argv, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	strvec_clear(&instance->argv);
	strvec_push_all(&instance->argv, &argv);
	renew_resume_command(deck, instance, operation.agent);
	if (operation_save(&operation, err) < 0)
		return -1;
	setting->note = xstrdup("It applies from the next start");
	return 0;
}

/* Is there an id that something may have been said under? */
static bool has_conversation(const struct instance *instance)
{
	const struct conversation *conversation = &instance->conversation;
	return conversation->forked_from || conversation->shared.session_id ||
	       (conversation->session_id &&
		(instance->last_used_at || conversation->origin != ORIGIN_MINTED));
}

static void remember(struct conversation *conversation, const char *session_id)
{
	if (session_id && !naming_has_session_id(&conversation->previous, session_id))
		strvec_push(&conversation->previous, session_id);
}

/* Also the ids that the last run was about to take. */
static void drop_conversation(struct instance *instance)
{
	struct conversation *conversation = &instance->conversation;
	remember(conversation, conversation->forked_from);
	remember(conversation, conversation->session_id);
	for (size_t i = 0; i < instance->run.attempt_count; i++)
		remember(conversation, instance->run.attempts[i].session_id);
	run_clear(&instance->run);
	shared_conversation_clear(&conversation->shared);
	replace_string(&conversation->session_id, NULL);
	replace_string(&conversation->forked_from, NULL);
	replace_string(&conversation->set_aside, NULL);
	replace_string(&conversation->transcript_path, NULL);
	replace_string(&conversation->directory, NULL);
	conversation->origin = ORIGIN_NONE;
	conversation->first_turn_seen = false;
	conversation->captured_at = 0;
	strvec_clear(&instance->resume_argv);
}

/* Make it like a session that was just added for this agent: its first start resumes nothing. */
static void begin_with(struct deck *deck, struct instance *instance, const struct agent *agent)
{
	cleanup_free char *state = home_path(deck, instance->id);
	const char *shell = getenv("SHELL");
	replace_string(&instance->agent, agent->name);
	strvec_clear(&instance->argv);
	if (agent->command.count)
		strvec_push_all(&instance->argv, &agent->command);
	else
		strvec_push(&instance->argv, is_empty(shell) ? "/bin/sh" : shell);
	free(instance->conversation.config_home);
	instance->conversation.config_home = deck_config_home(deck, agent);
	instance->last_used_at = 0;
	cleanup_free char *id = registry_is_own_command(agent, &instance->argv)
					? resume_new_id(agent, instance, state)
					: NULL;
	if (id)
		conversation_set_id(&instance->conversation, id, ORIGIN_MINTED, clock_wall_us());
	renew_resume_command(deck, instance, agent);
}

/* The server is gone, but an agent can outlive it, and cannot be found once its run is forgotten. */
static int end_remains(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	if (instance->run.socket)
		return operation->place->end(operation->deck, instance, 0, NULL, err);
	return instance->last_used_at
		       ? operation->place->end_unknown(operation->deck, instance->id, err)
		       : 0;
}

static char *describe_command(const struct instance *instance)
{
	cleanup_free char *command = argjoin(strvec_argv(&instance->argv));
	return xasprintf("Its command is now: %s", command);
}

static int set_agent(struct deck *deck, const char *base, struct setting *setting,
		     struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	const struct agent *agent;
	if (deck_agent(deck, setting->value, &agent, err) < 0 ||
	    open_stopped(deck, base, &operation, err) < 0)
		return -1;
	struct instance *instance = operation.instance;
	if (streq(instance->agent, agent->name)) {
		setting->note = describe_command(instance);
		return 0;
	}
	if (has_conversation(instance) && !setting->drops_conversation)
		return error_set(err, ERROR_INVALID,
				 "its conversation %s belongs to %s: add a new session for %s, or "
				 "give --drop-conversation, which keeps the id among the earlier "
				 "ones",
				 or_empty(instance->conversation.session_id), instance->agent,
				 agent->name);
	if (end_remains(&operation, err) < 0)
		return -1;
	cleanup_free char *before = xstrdup(instance->agent);
	drop_conversation(instance);
	begin_with(deck, instance, agent);
	if (operation_save(&operation, err) < 0)
		return -1;
	log_info("agent: %s -> %s", before, agent->name);
	setting->note = describe_command(instance);
	return 0;
}

#define OLD_ONE                                                                                     \
	"files that were written in the old one are lost, outside of its home, work directory and " \
	"mounts"

static const struct field fields[SETTING_COUNT] = {
	[SETTING_SESSION_ID] = { .set = set_session_id },
	[SETTING_RESUME] = { .take = take_resume,
			     .values = "resume must be auto, confirm, never or default" },
	[SETTING_RESTART] = { .take = take_restart,
			      .values = "restart must be no, on-failure, always or default" },
	[SETTING_ON_END] = { .take = take_on_end,
			     .values = "on-end must be ask, keep, clean or default" },
	[SETTING_SLEEP_AFTER] = { .take = take_sleep_after,
				  .values = "sleep-after must be a time such as 90m, 2h or "
					    "1d, off or default" },
	[SETTING_TITLE] = { .set = set_title },
	[SETTING_PATH] = { .set = set_path },
	[SETTING_HOME] = { .set = set_home },
	[SETTING_GROUP] = { .set = set_group },
	[SETTING_COMMAND] = { .set = set_command },
	[SETTING_AGENT] = { .set = set_agent },
	[SETTING_NOTES] = { .set = set_notes },
	[SETTING_TAGS] = { .set = set_tags },
	[SETTING_PINNED] = { .take = take_pinned, .values = "pinned must be yes or no" },
	[SETTING_DOCKER] = { .part = CONTAINER_DOCKER,
			     .note = "The next start makes a container with it" },
	[SETTING_IMAGE] = { .part = CONTAINER_IMAGE,
			    .note = "The next start makes a new container from it; " OLD_ONE },
	[SETTING_MOUNT] = { .part = CONTAINER_MOUNT,
			    .note = "The next start makes a new container with it; " OLD_ONE },
	[SETTING_SECRET] = { .part = CONTAINER_SECRET,
			     .note = "It is looked up at the next start" },
	[SETTING_NETWORK] = { .part = CONTAINER_NETWORK,
			      .note = "The next start makes a container in it" },
};

int lifecycle_set(struct deck *deck, const char *base, struct setting *setting, struct error *err)
{
	const struct field *field = fields + setting->field;
	if (field->take)
		return set_word(deck, base, field, setting, err);
	return field->note ? set_container(deck, base, field, setting, err)
			   : field->set(deck, base, setting, err);
}
