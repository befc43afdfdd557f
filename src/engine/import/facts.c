/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/import/facts.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "driver/foreign/foreign.h"
#include "engine/adopt/adopt.h"
#include "engine/conversation/discover.h"
#include "engine/conversation/owner.h"
#include "engine/deck/journal.h"
#include "engine/run/add.h"
#include "model/session/naming.h"

#include <string.h>

/* The newest conversation of a directory is among the newest of all; each costs an open. */
enum { MOST_LOOKS = 2000 };

/* The conversations of one agent in one home, listed once. */
struct shelved {
	const struct agent *agent;
	char *home;
	struct shelf shelf;
	/* By the shelf's index; those of `looked` are filled. */
	struct shelf_about *abouts;
	char **reals; /* the real path of the directory where it began; NULL: it is gone */
	bool *looked;
};

struct gathering {
	struct deck *deck;
	struct import_rows *rows;
	struct shelved *shelves;
	size_t count;
	struct owner_profiles owners;
	struct adopt_finds finds;
	/* Sets, as thousands of rows ask: what the owners have, the conversations that rows name
	 * (both by their keys), and the journal's origins. */
	struct json_object *owned, *named, *journal;
	/* By its origin, each session that an earlier import made. */
	struct json_object *earlier;
};

static void gathering_clear(struct gathering *gathering)
{
	for (size_t i = 0; i < gathering->count; i++) {
		struct shelved *shelved = &gathering->shelves[i];
		for (size_t j = 0; j < shelved->shelf.count; j++) {
			shelf_about_free(&shelved->abouts[j]);
			free(shelved->reals[j]);
		}
		free(shelved->abouts);
		free(shelved->reals);
		free(shelved->looked);
		free(shelved->home);
		shelf_free(&shelved->shelf);
	}
	free(gathering->shelves);
	owner_profiles_free(&gathering->owners);
	json_object_put(gathering->owned);
	json_object_put(gathering->named);
	json_object_put(gathering->journal);
	json_object_put(gathering->earlier);
	adopt_finds_free(&gathering->finds);
}

/* ---- conversations on disk -------------------------------------------------------------------- */

static int open_shelf(struct gathering *gathering, const struct agent *agent, const char *home,
		      size_t *ret, struct error *err)
{
	struct shelf shelf;
	for (size_t i = 0; i < gathering->count; i++)
		if (gathering->shelves[i].agent == agent &&
		    streq(gathering->shelves[i].home, home)) {
			*ret = i;
			return 0;
		}
	if (shelf_list(agent_find_files(agent), home, &shelf, err) < 0)
		return -1;
	gathering->shelves = xreallocarray(gathering->shelves, gathering->count + 1,
					   sizeof(*gathering->shelves));
	gathering->shelves[gathering->count] = (struct shelved){
		.agent = agent,
		.home = xstrdup(home),
		.shelf = shelf,
		.abouts = xcalloc(shelf.count + 1, sizeof(struct shelf_about)),
		.reals = xcalloc(shelf.count + 1, sizeof(char *)),
		.looked = xcalloc(shelf.count + 1, sizeof(bool)),
	};
	*ret = gathering->count++;
	return 0;
}

/* A conversation that cannot be read has no facts. */
static const struct shelf_about *about(struct shelved *shelved, size_t index)
{
	struct shelf_about *found = &shelved->abouts[index];
	if (shelved->looked[index])
		return found;
	shelved->looked[index] = true;
	(void)shelf_look(agent_find_files(shelved->agent), &shelved->shelf.items[index], found,
			 NULL);
	/* Once, as thousands of rows may ask. */
	if (found->directory)
		(void)fs_real_directory(found->directory, &shelved->reals[index], NULL);
	return found;
}

/* real: where the directory is; NULL: not known. */
static bool is_in(const struct import_row *row, const char *directory, const char *real)
{
	if (!directory || !row->facts.directory)
		return false;
	return streq(directory, row->facts.directory) ||
	       streq(directory, or_empty(row->directory)) ||
	       streq(or_empty(real), row->facts.directory);
}

static bool began_in(const struct shelved *shelved, size_t index, const struct import_row *row)
{
	return is_in(row, shelved->abouts[index].directory, shelved->reals[index]);
}

static void find_one(struct shelved *shelved, const struct import_row *row, struct import_id *id)
{
	const struct shelf_item *item = shelf_find(&shelved->shelf, id->id);
	if (id->path || !item)
		return;
	const size_t index = (size_t)(item - shelved->shelf.items);
	const struct shelf_about *found = about(shelved, index);
	if (found->is_side)
		return;
	id->path = xstrdup(item->path);
	replace_string(&id->home, shelved->home);
	if (!began_in(shelved, index, row))
		id->directory = xstrdup_or_null(found->directory);
}

static bool has_id(const struct json_object *ids, const char *session_id)
{
	cleanup_free char *key = naming_session_id_key(session_id);
	return json_object_object_get_ex(ids, key, NULL);
}

/* Note every conversation that a row names, also those that sessions have. */
static void list_named(struct gathering *gathering)
{
	for (size_t i = 0; i < gathering->rows->count; i++) {
		const struct import_row *row = &gathering->rows->rows[i];
		for (size_t j = 0; j < row->id_count; j++) {
			cleanup_free char *key = naming_session_id_key(row->ids[j].id);
			if (!row->ids[j].is_guess)
				json_set_bool(gathering->named, key, true);
		}
	}
}

static const char *owner_of(const struct gathering *gathering, const struct shelved *shelved,
			    const char *session_id)
{
	for (size_t i = 0; has_id(gathering->owned, session_id) && i < gathering->owners.count;
	     i++) {
		const struct store_rows *rows = &gathering->owners.items[i].rows;
		for (size_t j = 0; j < rows->count; j++)
			if (!rows->rows[j].damage &&
			    streq(rows->rows[j].agent, shelved->agent->name) &&
			    streq(or_empty(rows->rows[j].config_home), shelved->home) &&
			    naming_same_session_id(rows->rows[j].session_id, session_id))
				return rows->rows[j].title;
	}
	return NULL;
}

/* Guess the newest conversation of the directory that no row names.  That of a session comes last,
 * so that the plan can say whose it is where it is the only one. */
static void guess(struct gathering *gathering, struct shelved *shelved, struct import_row *row)
{
	const char *best = NULL, *owned = NULL;
	for (size_t i = 0; i < shelved->shelf.count && i < MOST_LOOKS; i++) {
		const char *id = shelved->shelf.items[i].session_id;
		const struct shelf_about *found = about(shelved, i);
		if (found->is_side || found->is_empty || !began_in(shelved, i, row) ||
		    has_id(gathering->named, id))
			continue;
		const bool is_owned = owner_of(gathering, shelved, id) != NULL;
		row->facts.choices++;
		if (!best && !is_owned)
			best = id;
		else if (!owned && is_owned)
			owned = id;
		if (best && row->hint != IMPORT_HINT_ONLY)
			break;
	}
	if (!best && row->hint == IMPORT_HINT_ONLY)
		best = owned;
	const size_t before = row->id_count;
	import_row_add_id(row, best);
	if (row->id_count == before)
		return;
	row->ids[before].is_guess = true;
	find_one(shelved, row, &row->ids[before]);
}

static bool is_known(const struct import_row *row)
{
	for (size_t i = 0; i < row->id_count; i++)
		if (!row->ids[i].is_guess)
			return true;
	return false;
}

/* Rows of the same agent and directory, of which none says which conversation is its own. */
static void find_shared(struct import_rows *rows)
{
	cleanup_json struct json_object *counts = json_object_new_object();
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < rows->count; i++) {
			struct import_row *row = &rows->rows[i];
			if (row->hint != IMPORT_HINT_ONLY || row->refusal || is_known(row) ||
			    !row->facts.directory)
				continue;
			cleanup_free char *key = xasprintf("%s:%s", or_empty(row->facts.agent),
							   row->facts.directory);
			const int64_t count = json_get_int(counts, key, 0);
			if (pass == 0)
				json_set_int(counts, key, count + 1);
			else
				row->facts.is_shared = count > 1;
		}
}

static bool has_file(const struct import_row *row)
{
	for (size_t i = 0; i < row->id_count; i++)
		if (row->ids[i].path &&
		    !(row->parent && naming_same_session_id(row->ids[i].id, row->parent)))
			return true;
	return false;
}

static void find_owners(const struct gathering *gathering, const struct shelved *shelved,
			struct import_row *row)
{
	for (size_t i = 0; i < row->id_count; i++) {
		struct import_id *id = &row->ids[i];
		if (!id->owner && streq(or_empty(id->home), shelved->home))
			id->owner = xstrdup_or_null(owner_of(gathering, shelved, id->id));
	}
}

static int find_conversation(struct gathering *gathering, struct import_row *row, struct error *err)
{
	const struct agent *agent;
	if (deck_agent(gathering->deck, row->facts.agent, &agent, err) < 0)
		return -1;
	cleanup_strvec struct strvec homes = { 0 };
	cleanup_free char *usual = deck_default_home(gathering->deck, agent);
	strvec_push_all(&homes, &row->homes);
	if (usual && !strvec_contains(&homes, usual))
		strvec_push(&homes, usual);
	row->facts.sees_files = agent_find_files(agent) && homes.count;
	/* A fork that has had no turn has none, and the newest of its directory is its parent's. */
	const bool may_guess = row->hint != IMPORT_HINT_GUESS || (row->id_count && !row->parent);
	for (size_t pass = 0; row->facts.sees_files && pass < 2; pass++)
		for (size_t i = 0; i < homes.count; i++) {
			size_t which;
			if (open_shelf(gathering, agent, homes.items[i], &which, err) < 0)
				return -1;
			struct shelved *shelved = &gathering->shelves[which];
			for (size_t j = 0; j < row->id_count; j++)
				find_one(shelved, row, &row->ids[j]);
			if (pass && may_guess && !has_file(row))
				guess(gathering, shelved, row);
			find_owners(gathering, shelved, row);
		}
	return 0;
}

/* ---- the rest --------------------------------------------------------------------------------- */

static void find_agent(struct gathering *gathering, struct import_row *row)
{
	cleanup_error struct error why = { 0 };
	const struct registry *registry;
	const struct agent *agent;
	/* The row's command is known, if not its name. */
	if (row->tool && row->argv.count && deck_registry(gathering->deck, &registry, NULL) == 0 &&
	    !registry_find(registry, row->tool))
		replace_string(&row->tool, NULL);
	const struct lifecycle_new wish = { .agent = row->tool, .argv = &row->argv };
	const int r = lifecycle_choose_agent(gathering->deck, &wish, &agent, &why);
	if (r < 0 || (row->needs_agent && agent->generic)) {
		if (!row->refusal)
			row->refusal = xstrdup(r < 0 ? why.message : "no agent runs in it");
		return;
	}
	row->facts.agent = xstrdup(agent->name);
	/* An agent that has a place of its own for each session does not see its usual one. */
	row->facts.takes_id = agent->resume.count && !agent->isolation_arguments.count &&
			      !agent->isolation_environment.count;
}

/* Only the sessions that agentdeck has now: a manifest that cannot be read does not count. */
static void find_earlier(struct gathering *gathering)
{
	for (size_t i = 0; i < gathering->owners.count; i++) {
		const struct owner_profile *profile = &gathering->owners.items[i];
		for (size_t j = 0; j < profile->rows.count; j++) {
			cleanup_instance struct instance *instance = NULL;
			if (store_load(profile->store, profile->rows.rows[j].base, &instance,
				       NULL) != 0 ||
			    !instance->imported_from)
				continue;
			cleanup_free char *origin = foreign_current_origin(instance->imported_from);
			struct json_object *made = json_object_new_object();
			json_set_string(made, "title", instance->title);
			json_set_string(made, "id", instance->id);
			json_set_string(made, "profile", store_profile(profile->store));
			json_set(gathering->earlier, origin, made);
		}
	}
}

static int read_journal(struct gathering *gathering, struct error *err)
{
	cleanup_strvec struct strvec origins = { 0 };
	if (journal_read(gathering->deck, JOURNAL_IMPORTS, &origins, err) < 0)
		return -1;
	for (size_t i = 0; i < origins.count; i++) {
		cleanup_free char *origin = foreign_current_origin(origins.items[i]);
		json_set_bool(gathering->journal, origin, true);
	}
	return 0;
}

static bool names(const struct import_row *row, const char *session_id)
{
	for (size_t i = 0; i < row->id_count; i++)
		if (naming_same_session_id(row->ids[i].id, session_id))
			return true;
	return false;
}

enum likeness { OTHER, PERHAPS, CERTAIN };

/* Is it the agent of this row? */
static enum likeness compare(const struct import_row *row, const struct adopt_find *find)
{
	/* The kernel's path is the real one. */
	const bool is_there = is_in(row, find->cwd, find->cwd);
	const bool is_marked = row->live_id && find->foreign;
	if (!streq(find->agent->name, row->facts.agent))
		return OTHER;
	if (names(row, find->session_id))
		return CERTAIN;
	/* All panes of its tmux session have the marker. */
	if (is_marked && streq(row->live_id, find->foreign))
		return is_there ? CERTAIN : PERHAPS;
	if (is_marked || !is_there || (find->session_id && find->source == ADOPT_ARGUMENTS))
		return OTHER;
	return row->hint == IMPORT_HINT_NEWEST ? CERTAIN : PERHAPS;
}

/* An agent in a terminal outside agentdeck that has this conversation, or may have it. */
static void find_running(const struct gathering *gathering, struct import_row *row)
{
	struct import_facts *facts = &row->facts;
	enum likeness best = OTHER;
	bool is_sole = true;
	for (size_t i = 0; i < gathering->finds.count; i++) {
		const struct adopt_find *find = &gathering->finds.finds[i];
		const enum likeness likeness = compare(row, find);
		if (likeness == best && best != OTHER)
			is_sole &= naming_same_session_id(
				find->session_id, gathering->finds.finds[facts->find].session_id);
		if (likeness <= best)
			continue;
		is_sole = true;
		best = likeness;
		facts->find = i;
	}
	if (best == OTHER)
		return;
	const struct adopt_find *find = &gathering->finds.finds[facts->find];
	free(facts->runs);
	facts->runs = xasprintf("%s (process %d)",
				or_empty(find->where ? find->where : find->terminal),
				(int)find->process.pid);
	facts->is_certain = best == CERTAIN && is_sole && find->session_id && !find->doubt;
	if (!facts->is_certain)
		return;
	import_row_set_open(row, find->session_id, find->config_home);
	/* The row's title may be that of another profile's session, too. */
	facts->can_join = find->can_join && facts->imported_id && find->owner_profile &&
			  streq(find->owner, facts->imported_id) &&
			  streq(find->owner_profile, facts->imported_profile);
}

/* What a row says of itself: its directory and its agent. */
static void find_row(struct gathering *gathering, struct import_row *row)
{
	cleanup_error struct error why = { 0 };
	const struct json_object *made = json_get_object(gathering->earlier, row->origin);
	row->facts.was_imported = json_object_object_get_ex(gathering->journal, row->origin, NULL);
	if (made) {
		row->facts.imported_as = xstrdup(json_get_string(made, "title", ""));
		row->facts.imported_id = xstrdup(json_get_string(made, "id", ""));
		row->facts.imported_profile = xstrdup(json_get_string(made, "profile", ""));
	}
	if (!is_empty(row->directory) && *row->directory == '/' &&
	    fs_real_directory(row->directory, &row->facts.directory, &why) < 0)
		row->facts.obstacle = xstrdup(strerror(why.os_errno));
	find_agent(gathering, row);
}

int facts_gather(struct deck *deck, struct import_rows *rows, struct adopt_finds *ret,
		 struct error *err)
{
	CLEANUP(gathering_clear)
	struct gathering gathering = {
		.deck = deck,
		.rows = rows,
		.owned = json_object_new_object(),
		.named = json_object_new_object(),
		.journal = json_object_new_object(),
		.earlier = json_object_new_object(),
	};
	if (owner_list(deck, &gathering.owners, err) < 0 || read_journal(&gathering, err) < 0 ||
	    adopt_look(deck, &gathering.finds, err) < 0)
		return -1;
	owner_list_ids(&gathering.owners, gathering.owned);
	find_earlier(&gathering);
	for (size_t i = 0; i < rows->count; i++)
		find_row(&gathering, &rows->rows[i]);
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].facts.agent)
			find_running(&gathering, &rows->rows[i]);
	list_named(&gathering);
	find_shared(rows);
	for (size_t i = 0; i < rows->count; i++) {
		struct import_row *row = &rows->rows[i];
		if (!row->facts.agent)
			continue;
		if (find_conversation(&gathering, row, err) < 0)
			return -1;
	}
	*ret = gathering.finds;
	gathering.finds = (struct adopt_finds){ 0 };
	return 0;
}
