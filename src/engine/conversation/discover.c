/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/discover.h"

#include "base/fsutil.h"
#include "engine/deck/known.h"
#include "model/agent/registry.h"
#include "model/session/naming.h"

#include <string.h>
#include <strings.h>

enum { SHORTEST_WORD = 8, FIRST_WORDS = 200 };

void discover_close(struct discovery *discovery)
{
	for (size_t i = 0; i < discovery->shelf_count; i++) {
		free(discovery->shelves[i].home);
		shelf_free(&discovery->shelves[i].shelf);
	}
	free(discovery->shelves);
	free(discovery->items);
	json_object_put(discovery->seen);
	free(discovery->problem);
	discover_owners_free(&discovery->owners);
	*discovery = (struct discovery){ 0 };
}

/* ---- owners ----------------------------------------------------------------------------------- */

static void add_session(struct discover_owners *owners, const struct known_session *session)
{
	const struct instance *instance = session->instance;
	const struct conversation *conversation = &instance->conversation;
	struct discover_owner owner = {
		.session_id = conversation->session_id,
		.bond = session->is_removed ? DISCOVER_REMOVED : DISCOVER_HAS,
		.id = instance->id,
		.title = instance->title,
		.profile = session->profile,
	};
	discover_owners_add(owners, &owner);
	owner.session_id = (char *)(uintptr_t)instance_next_session_id(instance);
	discover_owners_add(owners, &owner);
	if (!session->is_removed)
		owner.bond = DISCOVER_HAD;
	for (size_t i = 0; i < conversation->previous.count; i++) {
		owner.session_id = conversation->previous.items[i];
		discover_owners_add(owners, &owner);
	}
	for (size_t i = 0; i < instance->run.attempt_count; i++) {
		owner.session_id = instance->run.attempts[i].session_id;
		discover_owners_add(owners, &owner);
	}
}

static void add_sessions(struct deck *deck, const struct known *known,
			 struct discover_owners *owners)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct known_session *session = &known->sessions[i];
		cleanup_free char *shown = visible(session->is_removed ? session->base
								       : session->id);
		if (session->is_damaged)
			deck_warn(
				deck,
				"the manifest of %s %s cannot be read: its conversation is listed "
				"as if no session had it",
				session->is_removed ? "the removed session" : "session", shown);
		if (session->instance)
			add_session(owners, session);
	}
	discover_owners_sort(owners);
}

/* ---- shelves ---------------------------------------------------------------------------------- */

static void add_home(const struct deck *deck, const char *home, struct strvec *homes,
		     struct strvec *real_homes)
{
	cleanup_free char *real = NULL;
	if (is_empty(home) || fs_real_directory(home, &real, NULL) != 0 ||
	    path_is_below(real, deck->paths.state) || strvec_contains(real_homes, real))
		return;
	strvec_push(homes, home);
	strvec_push(real_homes, real);
}

/* The homes of this caller, the usual one, and those of sessions. */
static void find_homes(const struct deck *deck, const struct agent *agent,
		       const struct known *known, struct strvec *ret)
{
	cleanup_strvec struct strvec real = { 0 };
	cleanup_free char *mine = deck_config_home(deck, agent);
	cleanup_free char *usual = deck_default_home(deck, agent);
	add_home(deck, mine, ret, &real);
	add_home(deck, usual, ret, &real);
	for (size_t i = 0; i < known->count; i++) {
		const struct instance *instance = known->sessions[i].instance;
		if (instance && !known->sessions[i].is_removed &&
		    streq(instance->agent, agent->name))
			add_home(deck, instance->conversation.config_home, ret, &real);
	}
}

static void count_unread(struct discovery *discovery, const char *problem)
{
	if (discovery->unread++ == 0)
		discovery->problem = xstrdup(problem);
}

static int add_shelf(struct discovery *discovery, const struct agent *agent, size_t index,
		     const char *home, struct error *err)
{
	struct shelf shelf;
	if (shelf_list(agent_find_files(agent), home, &shelf, err) < 0)
		return -1;
	discovery->shelves = xreallocarray(discovery->shelves, discovery->shelf_count + 1,
					   sizeof(*discovery->shelves));
	discovery->shelves[discovery->shelf_count] = (struct discover_shelf){ .agent = agent,
									      .home = xstrdup(home),
									      .shelf = shelf };
	discovery->items = xreallocarray(discovery->items, discovery->count + shelf.count + 1,
					 sizeof(*discovery->items));
	if (shelf.problem)
		count_unread(discovery, shelf.problem);
	for (size_t i = 0; i < shelf.count; i++)
		discovery->items[discovery->count++] = (struct discover_item){
			.path = shelf.items[i].path,
			.session_id = shelf.items[i].session_id,
			.modified_us = shelf.items[i].modified_ns / 1000,
			.agent = index,
			.shelf = discovery->shelf_count,
		};
	discovery->shelf_count++;
	return 0;
}

/* An agent that has a place to itself for each session does not see its usual one. */
static bool continues(const struct agent *agent)
{
	return agent_find_files(agent) && agent->resume.count &&
	       !agent->isolation_arguments.count && !agent->isolation_environment.count;
}

static int add_shelves(struct deck *deck, const struct known *known, struct discovery *discovery,
		       struct error *err)
{
	const struct registry *registry;
	const struct agent *only = NULL;
	if ((discovery->order.agent && deck_agent(deck, discovery->order.agent, &only, err) < 0) ||
	    deck_registry(deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++) {
		const struct agent *agent = registry->agents[i];
		cleanup_strvec struct strvec homes = { 0 };
		if (!continues(agent) || (only && !streq(agent->name, only->name)))
			continue;
		find_homes(deck, agent, known, &homes);
		for (size_t j = 0; j < homes.count; j++)
			if (add_shelf(discovery, agent, i, homes.items[j], err) < 0)
				return -1;
	}
	return 0;
}

int discover_open(struct deck *deck, const struct discover_order *order, struct discovery *ret,
		  struct error *err)
{
	cleanup_discovery struct discovery discovery = { .order = *order };
	cleanup_known struct known known = { 0 };
	if (known_gather(deck, &known, err) < 0)
		return -1;
	add_sessions(deck, &known, &discovery.owners);
	if (add_shelves(deck, &known, &discovery, err) < 0)
		return -1;
	discovery.count = discover_plan(discovery.items, discovery.count, &discovery.owners,
					&order->filter);
	*ret = discovery;
	discovery = (struct discovery){ 0 };
	return 0;
}

/* ---- looking ---------------------------------------------------------------------------------- */

void discover_find_clear(struct discover_find *find)
{
	free(find->directory);
	free(find->words);
	*find = (struct discover_find){ 0 };
}

/* DISCOVER_NOTHING: it cannot be resumed. */
enum { DISCOVER_NOTHING = 1 };
static int look(const struct discovery *discovery, const struct discover_item *item,
		struct discover_find *ret, struct error *err)
{
	cleanup_shelf_about struct shelf_about about = { 0 };
	const struct discover_shelf *shelf = &discovery->shelves[item->shelf];
	const struct shelf_item file = { .path = (char *)item->path };
	const int r = shelf_look(agent_find_files(shelf->agent), &file, &about, err);
	if (r < 0)
		return -1;
	if (r > 0 || about.is_side || about.is_empty || !about.directory || *about.directory != '/')
		return DISCOVER_NOTHING;
	char *directory = TAKE_PTR(about.directory);
	*ret = (struct discover_find){
		.agent = shelf->agent,
		.home = shelf->home,
		.path = item->path,
		.session_id = item->session_id,
		.owner = item->owner,
		.modified_us = item->modified_us,
		.directory = directory,
		.words = discover_shorten(about.words, FIRST_WORDS),
	};
	return 0;
}

static bool is_wanted(const struct discovery *discovery, const struct discover_find *find)
{
	cleanup_free char *real = NULL;
	const char *wanted = discovery->order.directory;
	if (!wanted || path_is_below(find->directory, wanted))
		return true;
	return fs_real_directory(find->directory, &real, NULL) == 0 && path_is_below(real, wanted);
}

/* An agent may have several files of one conversation; the newest that says something counts. */
static bool is_again(struct discovery *discovery, const struct discover_item *item)
{
	const struct discover_shelf *shelf = &discovery->shelves[item->shelf];
	if (!agent_find_files(shelf->agent)->id)
		return false;
	cleanup_free char *key = xasprintf("%zu %s", item->shelf, item->session_id);
	if (!discovery->seen)
		discovery->seen = json_object_new_object();
	if (json_object_object_get_ex(discovery->seen, key, NULL))
		return true;
	json_set_bool(discovery->seen, key, true);
	return false;
}

int discover_next(struct discovery *discovery, struct discover_find *ret)
{
	while (discovery->next < discovery->count) {
		cleanup_discover_find struct discover_find find = { 0 };
		cleanup_error struct error problem = { 0 };
		const size_t index = discovery->next++;
		if (discovery->order.looks)
			discovery->order.looks(discovery->order.data, index, discovery->count);
		const int r = look(discovery, &discovery->items[index], &find, &problem);
		if (r < 0)
			count_unread(discovery, problem.message);
		if (r != 0 || is_again(discovery, &discovery->items[index]) ||
		    !is_wanted(discovery, &find))
			continue;
		*ret = find;
		find = (struct discover_find){ 0 };
		return 0;
	}
	return DISCOVER_END;
}

static int refuse_owned(const struct discover_item *item, struct error *err)
{
	const struct discover_owner *owner = item->owner;
	cleanup_free char *title = visible(or_empty(owner->title));
	if (owner->bond == DISCOVER_REMOVED)
		return error_set(err, ERROR_EXISTS,
				 "conversation %s belongs to the removed session '%s' of profile "
				 "%s: get that back with agentdeck -p %s undo, or delete it with "
				 "prune",
				 item->session_id, title, owner->profile, owner->profile);
	return error_set(err, ERROR_EXISTS,
			 "conversation %s %s session '%s' (%s) of profile %s: start that one, or "
			 "copy its conversation with agentdeck fork",
			 item->session_id,
			 owner->bond == DISCOVER_HAS ? "belongs to" : "is an earlier one of", title,
			 owner->id, owner->profile);
}

static bool is_named(const struct discover_item *item, const char *word)
{
	const size_t length = strlen(word);
	return naming_same_session_id(item->session_id, word) ||
	       (length >= SHORTEST_WORD && strncasecmp(item->session_id, word, length) == 0);
}

static bool is_same(const struct discover_item *item, const struct discover_item *other)
{
	return item->shelf == other->shelf &&
	       naming_same_session_id(item->session_id, other->session_id);
}

/* Look for the newest file with a turn among the files of one conversation, from this one on. */
static bool look_at_all(const struct discovery *discovery, const struct discover_item *item,
			struct discover_find *ret)
{
	const struct discover_item *end = discovery->items + discovery->count;
	for (const struct discover_item *other = item; other < end; other++)
		if (is_same(item, other) && look(discovery, other, ret, NULL) == 0)
			return true;
	return false;
}

int discover_named(const struct discovery *discovery, const char *word, struct discover_find *ret,
		   struct error *err)
{
	cleanup_free char *shown = visible(word);
	const struct discover_item *found = NULL;
	for (size_t i = 0; i < discovery->count; i++) {
		const struct discover_item *item = &discovery->items[i];
		if (!is_named(item, word) || (found && is_same(found, item)))
			continue;
		if (found)
			return error_set(err, ERROR_AMBIGUOUS,
					 "%s matches %s and %s: give the whole id, and --agent if "
					 "they are the same",
					 shown, found->path, item->path);
		found = item;
	}
	if (!found)
		return error_set(err, ERROR_NOT_FOUND, "there is no conversation %s on disk: %s",
				 shown,
				 strlen(word) < SHORTEST_WORD
					 ? "give its id, or the first 8 characters or more of it"
					 : "agentdeck discover lists them");
	if (found->owner)
		return refuse_owned(found, err);
	if (!look_at_all(discovery, found, ret))
		return error_set(err, ERROR_INVALID,
				 "conversation %s cannot be resumed: its file has no turn, or does "
				 "not name its directory",
				 found->session_id);
	return 0;
}
