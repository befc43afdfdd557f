/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/pack.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "base/machine.h"
#include "driver/archive/archive.h"
#include "driver/transcript/shelf.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/location.h"
#include "engine/conversation/owner.h"
#include "engine/deck/hint.h"
#include "engine/deck/home.h"
#include "engine/place/alive.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/operation.h"
#include "engine/run/outside.h"
#include "engine/run/stop.h"
#include "model/agent/registry.h"
#include "model/plan/resume.h"
#include "model/session/parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What goes into the file. */
struct load {
	struct parcels parcels;
	struct archive_source *sources; /* their descriptors are open */
	size_t count;
};

static void load_clear(struct load *load)
{
	for (size_t i = 0; i < load->count; i++)
		(void)close(load->sources[i].fd);
	free(load->sources);
	parcels_free(&load->parcels);
}
#define cleanup_load CLEANUP(load_clear)

/* No turn was ever reported, so there is nothing to lose. */
static bool is_unused(const struct instance *instance, const struct agent *agent)
{
	const struct conversation *conversation = &instance->conversation;
	/* The conversation is the latest of its place, and has no id. */
	if (!conversation->session_id && registry_strategy(agent) == STRATEGY_CONTINUE)
		return !instance->last_used_at;
	return !conversation->session_id ||
	       (conversation->origin == ORIGIN_MINTED && !conversation->first_turn_seen &&
		(agent_reports(agent) || !instance->last_used_at));
}

static int check_known(const struct instance *instance, const struct agent *agent,
		       struct error *err)
{
	if (agent_movable_files(agent) && instance->conversation.config_home)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "agentdeck does not know where %s keeps its conversations, and cannot "
			 "export one",
			 agent->title);
}

/* The newest file in the place of the session that is a conversation.  TRANSCRIPT_NONE: there is
 * none. */
static int find_kept(const char *place, const char *pattern, struct transcript *ret,
		     struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? TRANSCRIPT_NONE
				       : error_set_file(err, errno, "open %s", place);
	if (fs_list(fd, &names, err) < 0)
		return error_prefix(err, "%s", place);
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (fnmatch(pattern, names.items[i], FNM_PERIOD) != 0 ||
		    fstatat(fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		const int64_t modified = st.st_mtim.tv_sec * INT64_C(1000000000) +
					 st.st_mtim.tv_nsec;
		if (ret->path && modified <= ret->modified_ns)
			continue;
		free(ret->path);
		ret->path = path_join(place, names.items[i]);
		ret->modified_ns = modified;
	}
	return ret->path ? 0 : TRANSCRIPT_NONE;
}

/* An agent whose conversation is the latest in a place of its session. */
static int find_latest(const struct instance *instance, const struct agent *agent,
		       const char *place, struct transcript *ret, struct error *err)
{
	if (!agent->isolation_conversation || place_home(instance))
		return error_set(
			err, ERROR_INVALID,
			"agentdeck cannot pack the conversations of %s%s: it does not know "
			"a file that has only these, and no login",
			agent->title, place_home(instance) ? " in a container" : "");
	const int r = find_kept(place, agent->isolation_conversation, ret, err);
	return r == TRANSCRIPT_NONE ? error_set(err, ERROR_NOT_FOUND,
						"there is no %s in %s, so there is nothing to "
						"export",
						agent->isolation_conversation, place)
				    : r;
}

/* PACK_NOTHING: it has no conversation yet. */
enum { PACK_NOTHING = 1 };
static int find(const struct instance *instance, const struct agent *agent, const char *place,
		struct transcript *ret, struct error *err)
{
	const char *id = instance->conversation.session_id;
	if (is_unused(instance, agent) && (!id || !agent_movable_files(agent)))
		return PACK_NOTHING;
	if (!id)
		return find_latest(instance, agent, place, ret, err);
	if (check_known(instance, agent, err) < 0)
		return -1;
	const int r = location_is_known(agent)
			      ? location_find(instance, id, ret, err)
			      : shelf_pick(agent_movable_files(agent),
					   instance->conversation.config_home, id, NULL, ret, err);
	if (r != TRANSCRIPT_NONE)
		return r;
	if (is_unused(instance, agent))
		return PACK_NOTHING;
	return error_set(
		err, ERROR_NOT_FOUND,
		"%s has no conversation %s on this machine, so there is nothing to export: "
		"agentdeck session check says more",
		agent->title, id);
}

/* How much of a conversation goes into the file. */
enum extent {
	EXTENT_WHOLE,
	EXTENT_LINES, /* its whole lines: its agent may be writing the next one */
};

/* A conversation on its way into the file. */
struct found {
	struct archive_source source; /* without a descriptor: there is none */
	char *session_id, *place, *began;
};
#define FOUND_NOTHING ((struct found){ .source.fd = -1 })

static void found_clear(struct found *found)
{
	if (found->source.fd >= 0)
		(void)close(found->source.fd);
	free(found->session_id);
	free(found->place);
	free(found->began);
}
#define cleanup_found CLEANUP(found_clear)

static int fail_name(const char *path, struct error *err)
{
	return error_set(err, ERROR_INVALID, "%s has a name that no agent gives: rename it", path);
}

/* What a restore into another home must know about this one. */
static int describe_place(const struct instance *instance, const struct agent_files *files,
			  const struct transcript *file, struct found *ret, struct error *err)
{
	cleanup_shelf_about struct shelf_about about = { 0 };
	const char *home = instance->conversation.config_home;
	const struct shelf_item item = { .path = file->path };
	if (!file->session_id) {
		ret->place = xstrdup(path_basename(file->path));
		return parcel_is_place(ret->place) ? 0 : fail_name(file->path, err);
	}
	if (files->reach == FILES_FOLLOW)
		return 0;
	const char *place = file->path + strlen(home);
	place += strspn(place, "/");
	if (!parcel_is_place(place))
		return fail_name(file->path, err);
	const int r = shelf_look(files, &item, &about, err);
	if (r == SHELF_GONE)
		return error_set(err, ERROR_NOT_FOUND, "%s was removed just now", file->path);
	if (r < 0)
		return -1;
	ret->place = xstrdup(place);
	if (about.directory && parcel_is_path(about.directory))
		ret->began = TAKE_PTR(about.directory);
	return 0;
}

/* Open the conversation; what belongs to *ret is the caller's.  place: as of find(). */
static int open_conversation(const struct instance *instance, const struct agent *agent,
			     const char *place, enum extent extent, struct found *ret,
			     struct error *err)
{
	cleanup_transcript struct transcript file = { 0 };
	cleanup_found struct found found = FOUND_NOTHING;
	struct archive_source source;
	cleanup_close int fd = -1;
	const int r = find(instance, agent, place, &file, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (transcript_open(place_home(instance), file.path, &fd, err) < 0 ||
	    describe_place(instance, agent_movable_files(agent), &file, &found, err) < 0)
		return -1;
	if ((extent == EXTENT_LINES ? archive_measure_lines : archive_measure)(fd, file.path,
									       &source, err) < 0)
		return -1;
	if (extent == EXTENT_LINES && source.size == 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "its agent has not written a line of its conversation yet");
	found.source = source;
	found.source.fd = TAKE_FD(fd);
	found.session_id = TAKE_PTR(file.session_id);
	*ret = found;
	found = FOUND_NOTHING;
	return 0;
}

/* The home of its agent, written so that it means the same in another home.  NULL: the usual one,
 * or one that is only in its container. */
static char *home_of(const struct deck *deck, const struct instance *instance,
		     const struct agent *agent)
{
	const char *home = instance->conversation.config_home;
	cleanup_free char *usual = deck_default_home(deck, agent);
	const size_t length = strlen(deck->paths.home);
	if (!home || place_home(instance) || !parcel_is_path(home) || streq(home, or_empty(usual)))
		return NULL;
	if (strncmp(home, deck->paths.home, length) == 0 && home[length] == '/')
		return xasprintf("~%s", home + length);
	return xstrdup(home);
}

static struct parcel *describe(const struct deck *deck, const struct instance *instance,
			       const struct agent *agent, struct load *load)
{
	cleanup_strvec struct strvec argv = { 0 };
	resume_carried_argv(agent, &instance->argv, &argv);
	struct parcel *parcel = parcels_add(&load->parcels, instance, &argv);
	parcel->home = home_of(deck, instance, agent);
	return parcel;
}

/* Add the conversation, if there is one, to the session; it becomes theirs. */
static void attach(struct found *found, struct load *load, struct parcel *parcel)
{
	if (found->source.fd < 0)
		return;
	load->sources = xreallocarray(load->sources, load->count + 1, sizeof(*load->sources));
	load->sources[load->count++] = found->source;
	parcel->number = load->count;
	parcel->size = found->source.size;
	memcpy(parcel->digest, found->source.digest, sizeof(parcel->digest));
	parcel->session_id = TAKE_PTR(found->session_id);
	parcel->place = TAKE_PTR(found->place);
	parcel->began = TAKE_PTR(found->began);
	*found = FOUND_NOTHING;
}

static int add(const struct operation *operation, struct load *load, struct error *err)
{
	struct instance *instance = operation->instance;
	const struct agent *agent = operation->agent;
	cleanup_free char *place = home_path(operation->deck, instance->id);
	cleanup_found struct found found = FOUND_NOTHING;
	(void)location_settle_home(operation->deck, instance, agent);
	if (open_conversation(instance, agent, place, EXTENT_WHOLE, &found, err) < 0)
		return -1;
	attach(&found, load, describe(operation->deck, instance, agent, load));
	return 0;
}

static int write_load(struct load *load, const char *file, struct error *err)
{
	load->parcels.host = xstrdup(machine_host());
	load->parcels.made_at = clock_wall_us();
	cleanup_free char *text = parcels_text(&load->parcels);
	cleanup_parcels struct parcels read = { 0 };
	/* An inconsistent file could never be imported. */
	if (parcels_parse(text, "what the file would say", load->count, &read, err) < 0)
		return -1;
	return archive_write(file, text, load->sources, load->count, err);
}

/* An agent of another terminal or machine may continue the conversation meanwhile. */
static int check_outside(const struct operation *operation, const struct pack_order *order,
			 bool *ret, struct error *err)
{
	struct process_id holder;
	const enum outside found = outside_find_present(operation, &holder);
	*ret = found != OUTSIDE_NOTHING;
	if (!*ret || order->may_run)
		return 0;
	cleanup_free char *title = visible(operation->instance->title);
	return error_set(err, ERROR_INVALID,
			 "process %d%s has the conversation of session '%s', so the file may miss "
			 "its last turn: end that agent%s%s",
			 (int)holder.pid,
			 found == OUTSIDE_MACHINE ? ", which is on another machine and may live,"
						  : ", which agentdeck did not start,",
			 title,
			 found == OUTSIDE_MACHINE ? ", and start the session with --take-over"
						  : " first",
			 order->removes ? "" : ", or export it with --running");
}

/* *ret: whether something may be writing into its conversation. */
static int check_run(struct operation *operation, const struct pack_order *order, bool *ret,
		     struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct place_run run = place_run_of(instance);
	cleanup_free char *title = visible(instance->title);
	if (operation_admit(operation, false, err) < 0)
		return -1;
	*ret = instance->run.id && place_presence(&run) != PRESENCE_NONE;
	if (!*ret)
		return check_outside(operation, order, ret, err);
	if (order->may_run)
		return 0;
	cleanup_free char *hint = hint_session(operation->deck, instance->title, instance->id);
	return error_set(err, ERROR_INVALID,
			 "session '%s' is running, so the file may miss its last turn: stop it "
			 "first with agentdeck session stop %s, or export it with --running",
			 title, hint);
}

/* Nothing may be lost with the session: it has been used, and its conversation is not known. */
static bool may_lose(const struct instance *instance, bool has_conversation)
{
	return !has_conversation && !instance->conversation.session_id && instance->last_used_at;
}

static int check_removal(const struct instance *instance, const struct load *load,
			 struct error *err)
{
	if (instance->queue_count)
		return error_set(err, ERROR_INVALID,
				 "%zu messages wait in its queue, which the file does not have: "
				 "take them out with agentdeck session queue %s --cancel all, or "
				 "export it without --remove",
				 instance->queue_count, instance->id);
	if (!may_lose(instance, load->count > 0))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "it is not known which conversation it has, so the file would have none: "
			 "export it without --remove");
}

static int remove_packed(struct operation *operation, const char *file, struct error *err)
{
	const struct removal_order order = { .how = REMOVE_STOPPED };
	return lifecycle_remove_locked(operation, &order, err) < 0
		       ? error_prefix(err, "it was exported to %s, and is still here", file)
		       : 0;
}

static void log_exported(const struct load *load)
{
	const char *id = load->count ? load->parcels.items[0].session_id : NULL;
	log_info("exported: %s", id ? id : load->count ? "the latest of its place" : "none");
}

int pack_check_holders(const struct operation *operation, struct error *err)
{
	CLEANUP(conversation_holder_clear) struct conversation_holder holder = { 0 };
	const struct instance *instance = operation->instance;
	if (conversation_find_holder(operation->deck, instance, operation->agent, &holder, err) < 0)
		return -1;
	if (holder.holding == HOLDING_NOTHING)
		return 0;
	cleanup_free char *title = visible(holder.title);
	cleanup_free char *hint = hint_named(
		holder.profile ? holder.profile : operation->deck->profile, holder.id);
	return error_set(err, ERROR_INVALID,
			 "session '%s' (%s)%s%s has the conversation of session %s open: stop it "
			 "first, with agentdeck session stop %s",
			 title, holder.id, holder.host ? " on " : "", or_empty(holder.host),
			 instance->id, hint);
}

int pack_check(struct operation *operation, struct error *err)
{
	const struct pack_order order = { .removes = true };
	struct instance *instance = operation->instance;
	cleanup_free char *place = home_path(operation->deck, instance->id);
	cleanup_transcript struct transcript file = { 0 };
	bool runs;
	(void)location_settle_home(operation->deck, instance, operation->agent);
	if (check_run(operation, &order, &runs, err) < 0 ||
	    pack_check_holders(operation, err) < 0 ||
	    find(instance, operation->agent, place, &file, err) < 0)
		return -1;
	if (!may_lose(instance, file.path))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "it is not known which conversation it has, so that would stay here: "
			 "agentdeck session check says more");
}

/* What another host has, or is to get, is not packed as this one's: both could start it. */
static int check_move(const struct operation *operation, const char *id, struct error *err)
{
	const struct move *move = &operation->instance->move;
	const bool is_part = id && move->state == MOVE_LEAVING && streq(or_empty(move->id), id);
	if (is_part || (!id && !move_blocks(move->state)))
		return 0;
	if (!move_blocks(move->state))
		return error_set(err, ERROR_INVALID, "move %s was given up", id);
	cleanup_free char *title = visible(operation->instance->title);
	cleanup_free char *text = move_text(move->state, move->host);
	return error_set(err, ERROR_INVALID, "session '%s' is not exported: it is %s", title, text);
}

int pack_session(struct deck *deck, const struct pack_order *order, struct pack_result *ret,
		 struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_load struct load load = { 0 };
	bool runs = false;
	if (operation_open_settled(deck, order->base, &operation, err) < 0 ||
	    operation_find_agent(&operation, err) < 0 ||
	    check_move(&operation, order->move, err) < 0 ||
	    check_run(&operation, order, &runs, err) < 0 || add(&operation, &load, err) < 0 ||
	    (order->removes && check_removal(operation.instance, &load, err) < 0) ||
	    write_load(&load, order->file, err) < 0)
		return -1;
	log_exported(&load);
	if (order->removes && remove_packed(&operation, order->file, err) < 0)
		return -1;
	*ret = (struct pack_result){ .runs = runs, .has_conversation = load.count > 0 };
	return 0;
}

/* ---- the whole deck --------------------------------------------------------------------------- */

void pack_list_free(struct pack_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].profile);
		free(list->items[i].id);
		free(list->items[i].title);
		free(list->items[i].why);
	}
	free(list->items);
	preferences_left_clear(&list->left);
	*list = (struct pack_list){ 0 };
}

static struct pack_item *add_item(struct pack_list *list, const char *profile,
				  const struct store_row *row)
{
	list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
	struct pack_item *item = &list->items[list->count++];
	*item = (struct pack_item){ .profile = xstrdup(profile),
				    .id = xstrdup(row->id),
				    .title = xstrdup(or_empty(row->title)) };
	return item;
}

static void tell(struct pack_item *item, const char *why)
{
	cleanup_free char *all = item->why ? xasprintf("%s; %s", item->why, why) : xstrdup(why);
	replace_string(&item->why, all);
}

/* Leave out what a reader would not believe.  False: it is the session itself. */
static bool leave_out(struct parcel *parcel, struct pack_item *item)
{
	for (const char *key; (key = parcel_fault(parcel));) {
		char **value = streq(key, "notes")        ? &parcel->notes
			       : streq(key, "group")      ? &parcel->group
			       : streq(key, "session_id") ? &parcel->session_id
							  : NULL;
		cleanup_free char *why = xasprintf("the member %s of its manifest is not valid%s",
						   key, value ? ", and is left out" : "");
		tell(item, why);
		if (!value)
			return false;
		replace_string(value, NULL);
	}
	return true;
}

/* The item says what is missing; the session is packed without it. */
static void pack_one(struct deck *deck, struct store *store, const struct store_row *row,
		     struct load *load, struct pack_item *item)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error why = { 0 };
	const struct agent *agent;
	cleanup_found struct found conversation = FOUND_NOTHING;
	const int r = store_load(store, row->base, &instance, &why);
	if (r != 0 || deck_agent(deck, instance->agent, &agent, &why) < 0) {
		item->why = xstrdup(r > 0 ? "it was removed just now" : why.message);
		return;
	}
	/* A restore would make one that can be started, here or on the other host. */
	if (move_blocks(instance->move.state)) {
		item->why = move_text(instance->move.state, instance->move.host);
		return;
	}
	(void)location_settle_home(deck, instance, agent);
	struct parcel *parcel = describe(deck, instance, agent, load);
	parcel->imported_from = xstrdup_or_null(instance->imported_from);
	if (!leave_out(parcel, item)) {
		parcels_drop(&load->parcels);
		return;
	}
	const struct place_run run = place_run_of(instance);
	item->runs = instance->run.id && place_presence(&run) != PRESENCE_NONE;
	cleanup_free char *place = home_path_in(deck, store_profile(store), instance->id);
	const int found = open_conversation(instance, agent, place,
					    item->runs ? EXTENT_LINES : EXTENT_WHOLE, &conversation,
					    &why);
	if (found < 0)
		tell(item, why.message);
	/* The id alone still says what the agent is to continue, where it has that. */
	if (found < 0 && instance->conversation.session_id) {
		parcel->session_id = xstrdup(instance->conversation.session_id);
		(void)leave_out(parcel, item);
	}
	item->is_packed = true;
	item->has_conversation = conversation.source.fd >= 0;
	attach(&conversation, load, parcel);
}

static int pack_all(struct deck *deck, const struct pack_deck_order *order, struct load *load,
		    struct pack_list *list, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	size_t all = 0;
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		all += profiles.items[i].rows.count;
	for (size_t i = 0; i < profiles.count; i++) {
		const struct store_rows *rows = &profiles.items[i].rows;
		struct store *store = profiles.items[i].store;
		for (size_t j = 0; j < rows->count; j++) {
			if (order->looks)
				order->looks(order->data, list->count, all);
			pack_one(deck, store, &rows->rows[j], load,
				 add_item(list, store_profile(store), &rows->rows[j]));
		}
	}
	return 0;
}

int pack_deck(struct deck *deck, const struct pack_deck_order *order, struct pack_list *ret,
	      struct error *err)
{
	cleanup_load struct load load = { 0 };
	cleanup_pack_list struct pack_list list = { 0 };
	preferences_pack(deck, &load.parcels, &list.left);
	if (pack_all(deck, order, &load, &list, err) < 0 || write_load(&load, order->file, err) < 0)
		return -1;
	log_info("backup: %zu sessions, %zu conversations", load.parcels.count, load.count);
	*ret = list;
	list = (struct pack_list){ 0 };
	return 0;
}
