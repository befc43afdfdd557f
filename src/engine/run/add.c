/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_add(): a new instance from what the user wished.
 */
#include "engine/run/add.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "base/program.h"
#include "driver/transcript/shelf.h"
#include "engine/conversation/carry.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/deck/home.h"
#include "engine/deck/stages.h"
#include "engine/place/container/guest.h"
#include "engine/place/container/nesting.h"
#include "engine/place/environment.h"
#include "engine/place/gaps.h"
#include "engine/run/operation.h"
#include "engine/run/stop.h"
#include "engine/workspace/tree.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#include <string.h>

enum { LOCK_TIMEOUT_MS = 30000 };

/* The agent when none is named: the settings', else the first installed one.  A stand-in is never
 * chosen: messages to it do not reach a model. */
static int default_agent(struct deck *deck, const struct agent **ret, struct error *err)
{
	const struct registry *registry;
	if (deck->settings.default_agent)
		return deck_agent(deck, deck->settings.default_agent, ret, err);
	if (deck_registry(deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++) {
		const struct agent *agent = registry->agents[i];
		if (!agent->stand_in && agent->command.count &&
		    program_is_installed(agent->command.items[0])) {
			*ret = agent;
			return 0;
		}
	}
	return error_set(err, ERROR_UNAVAILABLE,
			 "no coding agent is installed: install one, or choose what to run with "
			 "--agent NAME (agentdeck agents list) or -c 'COMMAND'");
}

int lifecycle_choose_agent(struct deck *deck, const struct lifecycle_new *wish,
			   const struct agent **ret, struct error *err)
{
	const struct registry *registry;
	if (wish->agent)
		return deck_agent(deck, wish->agent, ret, err);
	if (!wish->argv || !wish->argv->count)
		return default_agent(deck, ret, err);
	if (deck_registry(deck, &registry, err) < 0)
		return -1;
	const struct agent *agent = registry_match(registry, wish->argv);
	/* Any other program: no ids, no reports. */
	for (size_t i = 0; !agent && i < registry->count; i++)
		if (registry->agents[i]->generic)
			agent = registry->agents[i];
	if (!agent)
		return error_set(err, ERROR_NOT_FOUND,
				 "no known agent runs this command: name one with --agent");
	*ret = agent;
	return 0;
}

int lifecycle_build_argv(const struct lifecycle_new *wish, const struct agent *agent,
			 struct strvec *ret, struct error *err)
{
	const char *shell = getenv("SHELL");
	cleanup_strvec struct strvec words = { 0 };
	if (wish->argv && wish->argv->count)
		strvec_push_all(&words, wish->argv);
	else if (agent->command.count)
		strvec_push_all(&words, &agent->command);
	else
		strvec_push(&words, is_empty(shell) ? "/bin/sh" : shell);
	if (wish->arguments)
		strvec_push_all(&words, wish->arguments);
	if (is_empty(words.items[0]))
		return error_set(err, ERROR_USAGE, "the command is empty");
	strvec_push_all(ret, &words);
	return 0;
}

/* An agent that answers once and exits would be restarted again and again, with nothing to resume. */
static int check_kind(struct deck *deck, const struct agent *agent, const struct instance *instance,
		      struct error *err)
{
	const struct registry *registry;
	const char *word = resume_find_one_shot(agent, &instance->argv), *plain = NULL;
	if (!word)
		return 0;
	if (deck_registry(deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++)
		if (registry->agents[i]->generic)
			plain = registry->agents[i]->name;
	return error_set(
		err, ERROR_USAGE,
		"%s answers once and ends with '%s', so no conversation could be resumed: omit "
		"it, or run it as a plain command with --agent %s -c 'COMMAND'",
		agent->title, word, or_empty(plain));
}

/* What the agent would take by itself, but by its id: at a later start the latest may be another
 * session's. */
static int find_latest(const struct agent *agent, const char *word, struct instance *instance,
		       struct transcript *ret, struct error *err)
{
	const char *home = instance->conversation.config_home;
	const char *directory = instance_transcript_directory(instance);
	cleanup_free char *shown = visible(directory);
	if (!location_is_known(agent) || !home)
		return error_set(
			err, ERROR_INVALID,
			"'%s' means the latest conversation, but for %s agentdeck cannot see "
			"which one that is: it may be another session's. Leave it out%s",
			word, agent->title,
			agent->resume.count ? ", or name the conversation with --session-id ID"
					    : "");
	int r = shelf_latest(home, directory, NULL, NULL, ret, err);
	if (r == TRANSCRIPT_NONE)
		return error_set(err, ERROR_NOT_FOUND,
				 "'%s': %s has no conversation in %s yet: omit it", word,
				 agent->title, shown);
	return r;
}

static int settle_latest(const struct lifecycle_new *wish, const struct agent *agent,
			 struct instance *instance, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const char *word = resume_find_latest(agent, &instance->argv);
	if (!word || wish->session_id || wish->gives_no_id || wish->forked_from ||
	    resume_adopted_id(agent, &instance->argv))
		return 0;
	if (find_latest(agent, word, instance, &found, err) < 0)
		return -1;
	conversation_set_id(&instance->conversation, found.session_id, ORIGIN_ADOPTED,
			    clock_wall_us());
	replace_string(&instance->conversation.transcript_path, found.path);
	return 0;
}

/* A copy is what the user asked for: the conversation itself is left alone. */
static void settle_copy(const struct lifecycle_new *wish, const struct agent *agent,
			struct instance *instance)
{
	struct conversation *conversation = &instance->conversation;
	if (wish->session_id || wish->gives_no_id || !conversation->session_id ||
	    !resume_find_copy(agent, &instance->argv))
		return;
	replace_string(&conversation->forked_from, conversation->session_id);
	replace_string(&conversation->session_id, NULL);
	replace_string(&conversation->transcript_path, NULL);
	conversation->origin = ORIGIN_NONE;
}

/* The id of a conversation that the user has already. */
static int settle_id(const struct lifecycle_new *wish, const struct agent *agent,
		     struct instance *instance, struct error *err)
{
	const char *adopted = resume_adopted_id(agent, &instance->argv);
	const char *wished = wish->session_id ? wish->session_id : adopted;
	if (wish->session_id && !agent->resume.count)
		return error_set(err, ERROR_USAGE, "%s has no session ids: omit --session-id",
				 agent->name);
	if (wish->session_id && adopted && !naming_same_session_id(wish->session_id, adopted))
		return error_set(err, ERROR_USAGE,
				 "--session-id %s and the command's own id %s differ: "
				 "give one",
				 wish->session_id, adopted);
	if (wished && !resume_takes_id(agent, wished)) {
		cleanup_free char *shown = visible(wished);
		return error_set(err, ERROR_INVALID,
				 "'%s' is not a session id of %s, which uses %s", shown,
				 agent->name, resume_id_text(agent));
	}
	if (wished)
		conversation_set_id(&instance->conversation, wished, ORIGIN_ADOPTED,
				    clock_wall_us());
	return 0;
}

/* Held until the instance is on disk. */
static int claim_id(struct deck *deck, const struct instance *instance, struct fs_lock *lock,
		    struct error *err)
{
	const char *id = instance->conversation.session_id;
	if (!id)
		return 0;
	return owner_lock(deck, lock, err) < 0 || owner_check(deck, instance, id, err) < 0 ? -1 : 0;
}

/* An id to be born with, for an agent that takes one and is called by its own name. */
static void give_id(const struct deck *deck, const struct agent *agent, struct instance *instance)
{
	cleanup_free char *state = home_path(deck, instance->id);
	if (!instance->conversation.session_id && registry_is_own_command(agent, &instance->argv)) {
		cleanup_free char *id = resume_new_id(agent, instance, state);
		if (id)
			conversation_set_id(&instance->conversation, id, ORIGIN_MINTED,
					    clock_wall_us());
	}
	if (instance->conversation.session_id)
		resume_command(agent, instance, state, &instance->resume_argv);
}

static const struct store_row *find_title(const struct store_rows *rows, const char *title)
{
	for (size_t i = 0; i < rows->count; i++)
		if (streq(rows->rows[i].title, title))
			return &rows->rows[i];
	return NULL;
}

static int fail_title(const char *title, const char *id, struct error *err)
{
	return error_set(err, ERROR_EXISTS,
			 "a session named '%s' exists already (%s): choose another title with -t",
			 title, id);
}

static int settle_title(const struct lifecycle_new *wish, const struct store_rows *rows,
			struct instance *instance, struct error *err)
{
	if (wish->title) {
		const struct store_row *taken = find_title(rows, wish->title);
		if (taken)
			return fail_title(wish->title, taken->id, err);
		replace_string(&instance->title, wish->title);
		return 0;
	}
	cleanup_free char *base = visible(path_basename(instance_lookup_directory(instance)));
	if (strlen(base) > 200)
		base[200] = '\0';
	replace_string(&instance->title, naming_check_title(base, NULL) == 0 ? base : "session");
	for (unsigned n = 2; find_title(rows, instance->title); n++) {
		free(instance->title);
		instance->title = xasprintf(
			"%s-%u", naming_check_title(base, NULL) == 0 ? base : "session", n);
	}
	return 0;
}

/* The ids of these sessions, as members of an object; the caller's. */
static struct json_object *list_ids(const struct store_rows *rows)
{
	struct json_object *ids = json_object_new_object();
	for (size_t i = 0; i < rows->count; i++)
		json_set_bool(ids, rows->rows[i].id, true);
	return ids;
}

/* Take the id of the wish, or a new one that is not in ids, and add it to ids. */
static int choose_session_id(const struct lifecycle_new *wish, struct json_object *ids,
			     struct instance *instance, struct error *err)
{
	replace_string(&instance->id, wish->id);
	if (wish->id && json_object_object_get_ex(ids, wish->id, NULL))
		return error_set(err, ERROR_EXISTS, "the id %s was taken just now: try again",
				 wish->id);
	while (!instance->id || json_object_object_get_ex(ids, instance->id, NULL)) {
		free(instance->id);
		instance->id = naming_new_id();
	}
	json_set_bool(ids, instance->id, true);
	replace_string(&instance->base, instance->id);
	return 0;
}

/* Does the container have this directory, which a conversation has moved to? */
static bool is_mounted(const struct recipe *recipe, const char *directory)
{
	bool found = path_is_below(directory, recipe->directory);
	for (size_t i = 0; i < recipe->mount_count; i++)
		found |= path_is_below(directory, recipe->mounts[i].target);
	return found;
}

static int check_launch(const struct instance *instance, const struct recipe *recipe,
			struct error *err)
{
	const char *launch = instance_launch_directory(instance);
	if (is_mounted(recipe, launch))
		return 0;
	cleanup_free char *shown = visible(launch);
	return error_set(err, ERROR_INVALID,
			 "its conversation is in %s, which the container does not have: add "
			 "--mount %s",
			 shown, shown);
}

/* Find the conversation to begin with, where the agent would not find it from the new place. */
static int find_carry(const struct lifecycle_new *wish, const struct agent *agent,
		      struct instance *instance, struct carry *ret, struct error *err)
{
	const char *id = wish->forked_from ? wish->forked_from : instance->conversation.session_id;
	const bool is_elsewhere = wish->container || wish->like ||
				  (wish->tree && agent->id_scope != ID_SCOPE_GLOBAL);
	const char *within = wish->like ? place_home(wish->like) : NULL;
	if (id && is_elsewhere && carry_find(instance, agent, id, within, ret, err) < 0)
		return -1;
	/* A copy in a tree begins in that. */
	if (wish->tree)
		replace_string(&instance->conversation.directory, NULL);
	return 0;
}

/* With a tree to itself, its container does not have the directory that its user named. */
static int check_nesting(const struct deck *deck, const struct lifecycle_new *wish,
			 const struct recipe *recipe, struct error *err)
{
	cleanup_recipe struct recipe *mounted = recipe_copy(recipe);
	if (wish->tree)
		replace_string(&mounted->directory, NULL);
	return nesting_check_path(deck, wish->directory, err) < 0
		       ? -1
		       : nesting_check(deck, NULL, mounted, err);
}

/* The recipe of its container. */
static int settle_container(struct deck *deck, const struct lifecycle_new *wish,
			    const struct instance *instance, struct recipe **ret, struct error *err)
{
	cleanup_recipe struct recipe *recipe = NULL;
	if (wish->within)
		return guest_resolve(deck, wish->container, wish->within, instance, ret, err);
	if (!wish->container && !wish->like)
		return 0;
	if (wish->like) {
		recipe = container_copy(deck, wish->like, instance);
	} else if (container_resolve(deck, wish->container, instance, &recipe, err) < 0) {
		return -1;
	}
	if ((!wish->tree && check_launch(instance, recipe, err) < 0) ||
	    check_nesting(deck, wish, recipe, err) < 0) {
		if (!wish->like)
			container_drop(recipe);
		return -1;
	}
	*ret = TAKE_PTR(recipe);
	return 0;
}

/* The agent will find no conversation in a tree that does not exist yet. */
static int check_tree(const struct lifecycle_new *wish, const struct agent *agent,
		      const struct instance *instance, struct error *err)
{
	if (!wish->tree)
		return 0;
	if (wish->forked_from)
		return 0;
	if (instance->conversation.session_id || resume_find_latest(agent, &instance->argv))
		return error_set(err, ERROR_USAGE,
				 "a conversation belongs to the directory in which it began: omit "
				 "--worktree and --clone to continue one, and then copy it "
				 "into a tree with agentdeck fork --worktree");
	return 0;
}

/* Git may take minutes, so this holds no lock that delays other sessions. */
static int make_tree(struct deck *deck, struct instance **instance, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (!(*instance)->workspace)
		return 0;
	stages_enter(deck, STAGE_WORKSPACE);
	if (operation_open(deck, (*instance)->base, OPERATION_TIMEOUT_MS, &operation, err) < 0 ||
	    tree_ensure(deck, operation.lock, operation.instance, err) < 0) {
		operation_close(&operation);
		(void)lifecycle_withdraw(deck, (*instance)->base, NULL);
		return -1;
	}
	instance_free(*instance);
	*instance = TAKE_PTR(operation.instance);
	return 0;
}

/* Give the instance, which has its id, the parts that are named after it. */
static void take_place(struct deck *deck, const struct agent *agent, struct instance *instance,
		       struct recipe *recipe, const struct carry *carry)
{
	struct conversation *conversation = &instance->conversation;
	char **home = &conversation->config_home;
	if (!recipe)
		return;
	if (instance->workspace)
		replace_string(&recipe->directory, instance_lookup_directory(instance));
	if (recipe->within)
		guest_place(instance, recipe);
	else
		container_place(deck, instance, recipe);
	free(*home);
	*home = agent->config_home && starts_with(agent->config_home, "~")
			? xasprintf("%s%s", recipe->home, agent->config_home + 1)
			: xstrdup_or_null(agent->config_home);
	if (carry->transcript < 0 || !conversation->session_id)
		return;
	replace_string(&conversation->session_id, carry->session_id);
	free(conversation->transcript_path);
	conversation->transcript_path = carry_path(carry, instance);
}

/* For store_create(). */
struct filling {
	const struct carry *carry;
	const struct instance *instance;
};

static int fill(int directory, void *data, struct error *err)
{
	const struct filling *filling = data;
	if (filling->carry->transcript < 0)
		return 0;
	return place_home(filling->instance)
		       ? carry_put(filling->carry, filling->instance, directory, err)
		       : carry_copy(filling->carry, filling->instance, err);
}

static int check_wish(const struct lifecycle_new *wish, struct instance *instance,
		      struct error *err)
{
	cleanup_free char *shown = visible(wish->directory), *real = NULL;
	if ((wish->title && naming_check_title(wish->title, err) < 0) ||
	    (!is_empty(wish->group) && naming_check_group(wish->group, err) < 0))
		return -1;
	if (wish->resume && !resume_policy_parse(wish->resume, &instance->resume_policy))
		return error_set(err, ERROR_USAGE,
				 "--resume must be auto, confirm or never, not '%s'", wish->resume);
	if (wish->restart && !restart_policy_parse(wish->restart, &instance->restart_policy))
		return error_set(err, ERROR_USAGE,
				 "--restart must be no, on-failure or always, not '%s'",
				 wish->restart);
	int r = fs_real_directory(wish->directory, &real, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is not an existing directory: create it first", shown);
	if (r == 0)
		instance_set_directory(instance, real);
	return r;
}

static void drop_built(const struct recipe **recipe)
{
	if (*recipe)
		container_drop(*recipe);
}

/* A wish, as far as it can be checked without a lock. */
struct prepared {
	struct instance *instance;
	const struct agent *agent;
	struct recipe *container;
	struct carry carry;
};

static void prepared_clear(struct prepared *prepared)
{
	instance_free(prepared->instance);
	recipe_free(prepared->container);
	carry_clear(&prepared->carry);
}
#define cleanup_prepared CLEANUP(prepared_clear)
#define NOTHING_PREPARED ((struct prepared){ .carry = CARRY_NOTHING })

/* A role says how much memory it needs; the session, a group or [limits] may say less, or more. */
static void take_memory(const struct deck *deck, const struct lifecycle_new *wish,
			struct instance *instance)
{
	const struct role_source *source = wish->container ? wish->container->role : NULL;
	if (source && settings_limits(&deck->settings, instance).memory_max == 0)
		instance->limits.memory_max = source->role.memory;
}

/* What the wish alone says. */
static void fill_in(struct deck *deck, const struct lifecycle_new *wish, const struct agent *agent,
		    struct instance *instance)
{
	instance->profile = xstrdup(deck->profile);
	instance->group = xstrdup(or_empty(wish->group));
	instance->notes = xstrdup_or_null(wish->notes);
	instance->tags = xstrdup_or_null(wish->tags);
	instance->is_pinned = wish->is_pinned;
	instance->archived_at = wish->archived_at;
	instance->imported_from = xstrdup_or_null(wish->imported_from);
	instance->once = xstrdup_or_null(wish->once);
	instance->launched_by = xstrdup_or_null(wish->launched_by);
	if (wish->move)
		move_set(&instance->move, wish->move->state, wish->move->id, wish->move->host,
			 clock_wall_us());
	if (wish->taken)
		taken_set(&instance->taken, wish->taken->processes, wish->taken->count,
			  wish->taken->session_id);
	instance->agent = xstrdup(agent->name);
	instance->backend = xstrdup(PLACE_DEFAULT);
	instance->created_at = wish->created_at ? wish->created_at : clock_wall_us();
	instance->last_used_at = wish->last_used_at;
	instance->limits = wish->limits;
	take_memory(deck, wish, instance);
	instance->end_policy = wish->end_policy;
	instance->sleep_after = xstrdup_or_null(wish->sleep_after);
	environment_keep(deck, instance);
	state_begin(instance, clock_wall_us());
	instance->conversation.config_home = wish->config_home ? xstrdup(wish->config_home)
							       : deck_config_home(deck, agent);
	instance->conversation.directory = xstrdup_or_null(wish->launch_directory);
}

static int prepare(struct deck *deck, const struct lifecycle_new *wish, struct prepared *ret,
		   struct error *err)
{
	struct instance *instance = ret->instance = instance_new();
	instance->resume_policy = POLICY_DEFAULT;
	stages_enter(deck, STAGE_IDENTITY);
	if (check_wish(wish, instance, err) < 0 ||
	    lifecycle_choose_agent(deck, wish, &ret->agent, err) < 0 ||
	    lifecycle_build_argv(wish, ret->agent, &instance->argv, err) < 0)
		return -1;
	fill_in(deck, wish, ret->agent, instance);
	/* gives_no_id: these are the words of an agent that runs already, also of a one-shot one. */
	if (!wish->gives_no_id && check_kind(deck, ret->agent, instance, err) < 0)
		return -1;
	if (settle_id(wish, ret->agent, instance, err) < 0 ||
	    check_tree(wish, ret->agent, instance, err) < 0 ||
	    settle_latest(wish, ret->agent, instance, err) < 0 ||
	    find_carry(wish, ret->agent, instance, &ret->carry, err) < 0 ||
	    settle_container(deck, wish, instance, &ret->container, err) < 0)
		return -1;
	settle_copy(wish, ret->agent, instance);
	return 0;
}

static int lock_profile(struct deck *deck, struct store_profile_lock **ret, struct error *err)
{
	int r = store_lock_profile(deck->store, clock_ms() + LOCK_TIMEOUT_MS, ret, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck holds the profile's lock: try again");
	return r;
}

static void log_added(const struct instance *instance)
{
	log_set_instance(instance->id);
	log_info("added: agent=%s origin=%s id=%s", instance->agent,
		 session_origin_name(instance->conversation.origin),
		 instance->conversation.session_id ? instance->conversation.session_id : "none");
}

/* Save the instance, which has its names. */
static int put(struct deck *deck, struct store_profile_lock *lock, const struct lifecycle_new *wish,
	       struct prepared *prepared, struct error *err)
{
	struct instance *instance = prepared->instance;
	struct filling filling = { &prepared->carry, instance };
	const struct store_filler filler = { fill, &filling };
	if (!wish->gives_no_id)
		give_id(deck, prepared->agent, instance);
	if (store_create(lock, instance, &filler, err) < 0)
		return -1;
	log_added(instance);
	return 0;
}

int lifecycle_add(struct deck *deck, const struct lifecycle_new *asked, struct instance **ret,
		  struct error *err)
{
	struct lifecycle_new locked = *asked;
	const struct lifecycle_new *wish = &locked;
	cleanup_prepared struct prepared prepared = NOTHING_PREPARED;
	cleanup_fs_lock struct fs_lock conversations = FS_UNLOCKED;
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_json struct json_object *ids = NULL;
	CLEANUP(drop_built) const struct recipe *built = NULL; /* before the recipe goes */
	cleanup_guest_owner struct guest_owner owner = { 0 };

	/* Locked until the guest is on disk, so that its owner is not removed meanwhile. */
	if (wish->within && guest_open_owner(deck, wish->within->base, NULL, &owner, err) < 0)
		return -1;
	/* The owner may have changed before the lock. */
	locked.within = owner.instance;
	if (prepare(deck, wish, &prepared, err) < 0)
		return -1;
	struct instance *instance = prepared.instance;
	built = wish->like ? NULL : prepared.container;
	if (claim_id(deck, instance, &conversations, err) < 0 ||
	    lock_profile(deck, &lock, err) < 0 || store_list(deck->store, &rows, err) < 0 ||
	    settle_title(wish, &rows, instance, err) < 0)
		return -1;
	ids = list_ids(&rows);
	if (choose_session_id(wish, ids, instance, err) < 0)
		return -1;
	if (wish->tree && tree_plan(deck, wish->tree, instance, err) < 0)
		return -1;
	if (wish->forked_from)
		replace_string(&instance->conversation.forked_from, wish->forked_from);
	/* A conversation that is carried along is a copy already. */
	if (!prepared.carry.path)
		location_note_fork(instance, prepared.agent);
	take_place(deck, prepared.agent, instance, TAKE_PTR(prepared.container), &prepared.carry);
	if (put(deck, lock, wish, &prepared, err) < 0)
		return -1;
	built = NULL;
	container_keep(instance);
	store_unlock_profile(TAKE_PTR(lock));
	fs_unlock(&conversations);
	guest_owner_close(&owner);
	if (make_tree(deck, &prepared.instance, err) < 0)
		return -1;
	gaps_warn(deck, prepared.instance);
	*ret = TAKE_PTR(prepared.instance);
	return 0;
}

int lifecycle_check_new(struct deck *deck, const struct lifecycle_new *wish, struct error *err)
{
	cleanup_prepared struct prepared prepared = NOTHING_PREPARED;
	return prepare(deck, wish, &prepared, err);
}

int lifecycle_check_words(const struct lifecycle_new *wish, struct error *err)
{
	cleanup_instance struct instance *instance = instance_new();
	return check_wish(wish, instance, err);
}

/* ---- several at once -------------------------------------------------------------------------- */

struct batch {
	const struct lifecycle_new *wishes;
	struct prepared *prepared;
	size_t count, made;
};

static void batch_clear(struct batch *batch)
{
	for (size_t i = 0; batch->prepared && i < batch->count; i++)
		prepared_clear(&batch->prepared[i]);
	free(batch->prepared);
}

/* No title twice, neither among themselves nor beside the profile's. */
static int settle_titles(const struct batch *batch, const struct store_rows *rows,
			 struct error *err)
{
	cleanup_json struct json_object *titles = json_object_new_object();
	for (size_t i = 0; i < rows->count; i++)
		json_set_string(titles, or_empty(rows->rows[i].title), rows->rows[i].id);
	for (size_t i = 0; i < batch->count; i++) {
		const char *title = batch->wishes[i].title;
		const char *taken = json_get_string(titles, title, NULL);
		if (taken && is_empty(taken))
			return error_set(err, ERROR_EXISTS, "two sessions are to be named '%s'",
					 title);
		if (taken)
			return fail_title(title, taken, err);
		json_set_string(titles, title, "");
		replace_string(&batch->prepared[i].instance->title, title);
	}
	return 0;
}

/* Among themselves, no conversation twice. */
static int check_rivals(const struct batch *batch, struct error *err)
{
	cleanup_json struct json_object *owners = json_object_new_object();
	for (size_t i = 0; i < batch->count; i++) {
		const struct instance *instance = batch->prepared[i].instance;
		const struct conversation *conversation = &instance->conversation;
		if (!conversation->session_id)
			continue;
		cleanup_free char *id = naming_session_id_key(conversation->session_id);
		cleanup_free char *key = xasprintf("%s\n%s\n%s", instance->agent, id,
						   or_empty(conversation->config_home));
		const char *other = json_get_string(owners, key, NULL);
		if (other)
			return error_set(err, ERROR_EXISTS,
					 "'%s' and '%s' are to have the same conversation", other,
					 instance->title);
		json_set_string(owners, key, instance->title);
	}
	return 0;
}

/* Held until they are on disk. */
static int claim_ids(struct deck *deck, const struct batch *batch, struct fs_lock *lock,
		     struct error *err)
{
	size_t count = 0;
	cleanup_free const struct instance **owners = xcalloc(batch->count + 1, sizeof(*owners));
	for (size_t i = 0; i < batch->count; i++)
		if (batch->prepared[i].instance->conversation.session_id)
			owners[count++] = batch->prepared[i].instance;
	if (!count)
		return 0;
	return owner_lock(deck, lock, err) < 0 || owner_check_many(deck, owners, count, err) < 0
		       ? -1
		       : 0;
}

/* Save the instances, which have their names. */
static int put_all(struct deck *deck, struct store_profile_lock *lock, struct batch *batch,
		   struct error *err)
{
	cleanup_free struct store_new *new = xcalloc(batch->count + 1, sizeof(*new));
	cleanup_free struct filling *fillings = xcalloc(batch->count + 1, sizeof(*fillings));
	cleanup_free struct store_filler *fillers = xcalloc(batch->count + 1, sizeof(*fillers));
	for (size_t i = 0; i < batch->count; i++) {
		struct prepared *prepared = &batch->prepared[i];
		if (!batch->wishes[i].gives_no_id)
			give_id(deck, prepared->agent, prepared->instance);
		fillings[i] = (struct filling){ &prepared->carry, prepared->instance };
		fillers[i] = (struct store_filler){ fill, &fillings[i] };
		new[i] = (struct store_new){ prepared->instance, &fillers[i] };
	}
	if (store_create_many(lock, new, batch->count, &batch->made, err) < 0)
		return -1;
	for (size_t i = 0; i < batch->count; i++)
		log_added(batch->prepared[i].instance);
	return 0;
}

static int put_each(struct deck *deck, struct batch *batch, struct error *err)
{
	cleanup_fs_lock struct fs_lock conversations = FS_UNLOCKED;
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_json struct json_object *ids = NULL;
	if (claim_ids(deck, batch, &conversations, err) < 0 || lock_profile(deck, &lock, err) < 0 ||
	    store_list(deck->store, &rows, err) < 0 || settle_titles(batch, &rows, err) < 0 ||
	    check_rivals(batch, err) < 0)
		return -1;
	ids = list_ids(&rows);
	for (size_t i = 0; i < batch->count; i++)
		if (choose_session_id(&batch->wishes[i], ids, batch->prepared[i].instance, err) < 0)
			return -1;
	return put_all(deck, lock, batch, err);
}

static void take_back(struct deck *deck, const struct batch *batch)
{
	for (size_t i = 0; i < batch->made; i++) {
		const struct instance *instance = batch->prepared[i].instance;
		cleanup_error struct error why = { 0 };
		if (lifecycle_withdraw(deck, instance->base, &why) < 0)
			deck_warn(deck, "session %s was made, and is still there: %s", instance->id,
				  why.message);
	}
}

int lifecycle_add_many(struct deck *deck, const struct lifecycle_new *wishes, size_t count,
		       struct instance **ret, struct error *err)
{
	CLEANUP(batch_clear)
	struct batch batch = { .wishes = wishes,
			       .count = count,
			       .prepared = xcalloc(count + 1, sizeof(*batch.prepared)) };
	for (size_t i = 0; i < count; i++)
		batch.prepared[i] = NOTHING_PREPARED;
	for (size_t i = 0; i < count; i++)
		if (prepare(deck, &wishes[i], &batch.prepared[i], err) < 0)
			return -1;
	if (put_each(deck, &batch, err) < 0) {
		take_back(deck, &batch);
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		ret[i] = TAKE_PTR(batch.prepared[i].instance);
	return 0;
}
