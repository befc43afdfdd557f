/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/arrive.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/git/cargo.h"
#include "driver/git/git.h"
#include "driver/transcript/holder.h"
#include "engine/deck/hint.h"
#include "engine/deck/once.h"
#include "engine/export/entry.h"
#include "engine/export/pack.h"
#include "engine/place/alive.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/stop.h"
#include "engine/workspace/tree.h"
#include "model/session/naming.h"

/* ---- in --------------------------------------------------------------------------------------- */

/* A session that is on its way, as it comes in. */
struct arrival {
	struct deck *deck;
	const struct unpack_file *file;
	struct unpack_order order;
	struct entry entry;
	struct operation operation;
	struct known known;
	char *tree; /* the branch of the tree that came along; or NULL */
};

static void arrival_end(struct arrival *arrival)
{
	free(arrival->tree);
	operation_close(&arrival->operation);
	entry_clear(&arrival->entry);
	known_clear(&arrival->known);
}

static int refuse_taken_id(const struct known_session *session, struct error *err)
{
	cleanup_free char *hint = hint_named(session->profile, session->id);
	if (session->is_removed)
		return error_set(
			err, ERROR_EXISTS,
			"the session is in the trash there (profile %s, %s): purge that one "
			"first, with agentdeck prune",
			session->profile, session->id);
	return error_set(
		err, ERROR_EXISTS,
		"a session with its id is there, and did not leave for here: %s in profile "
		"%s. Look at it with agentdeck show %s",
		session->id, session->profile, hint);
}

static int save_state(struct arrival *arrival, enum move_state state, struct error *err)
{
	struct instance *instance = arrival->operation.instance;
	move_set(&instance->move, state, arrival->order.move, arrival->order.from, clock_wall_us());
	if (arrival->tree)
		replace_string(&instance->move.tree, arrival->tree);
	if (operation_save(&arrival->operation, err) < 0)
		return -1;
	log_info("move %s: %s from %s", arrival->order.move, move_state_words[state],
		 arrival->order.from);
	return 0;
}

static int check_wanted(const struct arrival *arrival, struct error *err)
{
	return once_is_refused(arrival->deck, arrival->order.move)
		       ? error_set(err, ERROR_INVALID, "move %s was given up", arrival->order.move)
		       : 0;
}

static bool has_arrived(const struct move *move, const char *id)
{
	return streq(or_empty(move->id), id) &&
	       (move->state == MOVE_READY || move->state == MOVE_ARRIVED);
}

/* An import says in which move its sender saw the session here (order.instead).  If the session is
 * in another one by now, the import belongs to a move that was given up, and is refused.  Else give
 * up the move that it replaces, so that its import cannot come afterwards. */
static int check_not_late(struct arrival *arrival, const struct move *move, struct error *err)
{
	const char *id = or_empty(move->id);
	if (streq(id, arrival->order.move))
		return 0;
	if (!streq(id, or_empty(arrival->order.instead)))
		return error_set(err, ERROR_INVALID,
				 "move %s is late: the session is in move %s there by now",
				 arrival->order.move, id);
	return move->state == MOVE_MOVED ? 0 : once_refuse(arrival->deck, id, err);
}

/* A session that was here before may have a tree here, with work that exists nowhere else.  No
 * arriving tree replaces that: it becomes a branch beside it. */
static int keep_tree(struct arrival *arrival, struct error *err)
{
	const struct unpack_order *order = &arrival->order;
	const struct instance *instance = arrival->operation.instance;
	if (tree_keep(arrival->deck, instance, order->tree, order->from, &arrival->tree, err) < 0)
		return -1;
	log_info("move %s: the tree of %s is branch %s", order->move, order->from, arrival->tree);
	return 0;
}

/* An earlier move, with its tree, was cut before the tree was whole.  Its copy becomes that of this
 * move, which removes it when it is given up. */
static int refuse_part(struct arrival *arrival, struct error *err)
{
	const struct instance *instance = arrival->operation.instance;
	cleanup_free char *shown = visible(instance->workspace->path);
	if (save_state(arrival, MOVE_ARRIVING, err) < 0)
		return -1;
	return error_set(
		err, ERROR_INVALID,
		"a move with its tree was cut before, so %s had only a part of it, and is "
		"removed: repeat the command, with --with-tree if the tree is to come along",
		shown);
}

/* While it is unpacked the tree may be a mixture of two, so MOVE_ARRIVING is saved first. */
static int bring_tree(struct arrival *arrival, struct error *err)
{
	struct operation *operation = &arrival->operation;
	struct move *move = &operation->instance->move;
	move->was_here = move->was_here || move->state == MOVE_MOVED;
	const struct workspace *workspace = operation->instance->workspace;
	if (!arrival->order.tree)
		return workspace && workspace->arriving ? refuse_part(arrival, err) : 0;
	if (move->was_here)
		return keep_tree(arrival, err);
	if (save_state(arrival, MOVE_ARRIVING, err) < 0 ||
	    tree_ensure(arrival->deck, operation->lock, operation->instance, err) < 0 ||
	    tree_unpack(arrival->deck, operation->lock, operation->instance, arrival->order.tree,
			err) < 0)
		return -1;
	replace_string(&arrival->tree, operation->instance->workspace->branch);
	return 0;
}

/* The session once left this host, or an earlier move was cut, so its conversation comes into the
 * session that is here.  ARRIVE_DONE: it has come already. */
enum { ARRIVE_DONE = 1 };
static int continue_existing(struct arrival *arrival, const struct known_session *session,
			     struct error *err)
{
	struct entry *entry = &arrival->entry;
	const char *profile = arrival->deck->profile;
	if (session->is_removed || !streq(session->profile, profile))
		return refuse_taken_id(session, err);
	if (operation_open(arrival->deck, session->base, OPERATION_TIMEOUT_MS, &arrival->operation,
			   err) < 0)
		return -1;
	struct instance *instance = arrival->operation.instance;
	const struct move *move = &instance->move;
	/* Asked again under the lock: the move may have been given up before. */
	if (check_wanted(arrival, err) < 0)
		return -1;
	if (has_arrived(move, arrival->order.move))
		return ARRIVE_DONE;
	if (!move_blocks(move->state) || move->state == MOVE_LEAVING || move->state == MOVE_OTHER)
		return refuse_taken_id(session, err);
	if (check_not_late(arrival, move, err) < 0)
		return -1;
	if (!streq(instance->agent, entry->parcel->agent))
		return error_set(err, ERROR_EXISTS, "session %s is one of %s there, and not of %s",
				 session->id, instance->agent, entry->parcel->agent);
	if (bring_tree(arrival, err) < 0)
		return -1;
	arrival->order.directory = instance_launch_directory(instance);
	entry->config_home = xstrdup_or_null(instance->conversation.config_home);
	entry->self = session;
	if (entry_settle(arrival->deck, arrival->file, &arrival->order, entry, err) < 0 ||
	    entry_check_owners(entry, &arrival->known, err) < 0)
		return -1;
	return save_state(arrival, MOVE_ARRIVING, err);
}

/* Bring the tree, and find the place of the conversation again: it follows from the directory, and
 * the session works in the tree now. */
static int settle_in_tree(struct arrival *arrival, struct error *err)
{
	struct entry *entry = &arrival->entry;
	const struct parcel *parcel = entry->parcel;
	if (bring_tree(arrival, err) < 0)
		return -1;
	entry_clear(entry);
	*entry = (struct entry){ .kind = ENTRY_MOVE, .parcel = parcel };
	arrival->order.directory = instance_launch_directory(arrival->operation.instance);
	return entry_settle(arrival->deck, arrival->file, &arrival->order, entry, err);
}

/* The session is made before its conversation, so that no discovery gives that to another one. */
static int make_new(struct arrival *arrival, struct error *err)
{
	struct entry *entry = &arrival->entry;
	const struct move move = { .state = MOVE_ARRIVING,
				   .id = (char *)(uintptr_t)arrival->order.move,
				   .host = (char *)(uintptr_t)arrival->order.from };
	cleanup_instance struct instance *made = NULL;
	bool is_there;
	cleanup_cargo struct cargo cargo = { 0 };
	struct tree_order tree = { .kind = WORKSPACE_WORKTREE, .arriving = arrival->order.tree };
	if (entry_settle(arrival->deck, arrival->file, &arrival->order, entry, err) < 0 ||
	    entry_check_owners(entry, &arrival->known, err) < 0 ||
	    entry_check_disk(entry, &is_there, err) < 0)
		return -1;
	struct lifecycle_new wish = entry->wish;
	wish.id = entry->parcel->id;
	wish.imported_from = NULL;
	wish.move = &move;
	if (arrival->order.tree) {
		if (cargo_read(entry->directory, arrival->order.tree, &cargo, err) < 0)
			return -1;
		tree.branch = cargo.branch;
		tree.commit = cargo.head;
		wish.tree = &tree;
		/* take_conversation_id() sets it, when the tree is there. */
		wish.session_id = NULL;
	}
	if (lifecycle_add(arrival->deck, &wish, &made, err) < 0 ||
	    operation_open(arrival->deck, made->base, OPERATION_TIMEOUT_MS, &arrival->operation,
			   err) < 0)
		return -1;
	return arrival->order.tree ? settle_in_tree(arrival, err) : 0;
}

/* The other host has used the session last. */
static void take_last_use(struct instance *instance, const struct parcel *parcel)
{
	if (parcel->last_used_at > instance->last_used_at)
		instance->last_used_at = parcel->last_used_at;
	/* The reports of its last run here are older. */
	run_clear(&instance->run);
}

/* The conversation may have changed over there.  Also the first id of a new session with a tree,
 * which make_new() left out. */
static void take_conversation_id(struct instance *instance, const struct parcel *parcel)
{
	const char *id = parcel->session_id;
	if (!id || !parcel->number || naming_same_session_id(instance->conversation.session_id, id))
		return;
	conversation_set_id(&instance->conversation, id, ORIGIN_ADOPTED, clock_wall_us());
	replace_string(&instance->conversation.transcript_path, NULL);
}

/* Refuse if an agent here has the conversation open.  Else its files here may be replaced. */
static int check_alone(struct arrival *arrival, struct error *err)
{
	struct operation *operation = &arrival->operation;
	const struct entry *entry = &arrival->entry;
	struct process_id holder;
	operation->agent = entry->agent;
	if (pack_check_holders(operation, err) < 0)
		return -1;
	if (!entry->home || !entry->parcel->session_id ||
	    holder_find(entry->agent, entry->home, entry->parcel->session_id,
			&(struct holder_skip){ 0 }, &holder) != 0)
		return 0;
	return error_set(err, ERROR_EXISTS,
			 "process %d has conversation %s there, and agentdeck did not start it: "
			 "end that agent first",
			 (int)holder.pid, entry->parcel->session_id);
}

static int bring_conversation(struct arrival *arrival, struct error *err)
{
	struct entry *entry = &arrival->entry;
	bool is_there = false;
	entry->wish.id = arrival->operation.instance->id;
	if (!entry->parcel->number)
		return 0;
	if (check_alone(arrival, err) < 0 || entry_check_disk(entry, &is_there, err) < 0)
		return -1;
	return is_there ? 0 : entry_plant(arrival->deck, arrival->file, entry, err);
}

/*   1. refuse a move that was given up
 *   2. continue_existing() or make_new(): MOVE_ARRIVING is on disk
 *   3. the ids
 *   4. the files of the conversation
 *   5. refuse again
 *   6. MOVE_READY */
int arrive_session(struct deck *deck, const struct unpack_file *file,
		   const struct unpack_order *order, struct instance **ret, struct error *err)
{
	CLEANUP(arrival_end)
	struct arrival arrival = {
		.deck = deck,
		.file = file,
		.order = *order,
		.entry = { .kind = ENTRY_MOVE, .parcel = &file->parcels.items[0] },
	};
	/* The other end chooses no session of ours. */
	if (!streq(arrival.entry.parcel->id, order->session))
		return error_set(err, ERROR_INVALID, "%s sent session %s instead of %s",
				 order->from, arrival.entry.parcel->id, order->session);
	if (check_wanted(&arrival, err) < 0 || entry_find_owners(deck, &arrival.known, err) < 0)
		return -1;
	const struct known_session *session = known_find(&arrival.known, arrival.entry.parcel->id);
	const int r = session ? continue_existing(&arrival, session, err) : make_new(&arrival, err);
	if (r < 0)
		return -1;
	if (r == ARRIVE_DONE) {
		*ret = TAKE_PTR(arrival.operation.instance);
		return 0;
	}
	/* The ids first: check_alone() asks who has the conversation of that id. */
	take_last_use(arrival.operation.instance, arrival.entry.parcel);
	take_conversation_id(arrival.operation.instance, arrival.entry.parcel);
	if (bring_conversation(&arrival, err) < 0)
		return -1;
	/* Asked again: a new session was not locked before. */
	if (check_wanted(&arrival, err) < 0 || save_state(&arrival, MOVE_READY, err) < 0)
		return -1;
	*ret = TAKE_PTR(arrival.operation.instance);
	return 0;
}

/* ---- steps ------------------------------------------------------------------------------------ */

/* Refuse a session that cannot leave as a whole. */
static int check_leaves(struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct place_run run = place_run_of(instance);
	cleanup_free char *title = visible(instance->title);
	if (place_home(instance))
		return error_set(err, ERROR_INVALID,
				 "session '%s' lives in a container, which cannot be moved: export "
				 "it, and import it there without one",
				 title);
	if (operation_admit(operation, false, err) < 0)
		return -1;
	if (instance->queue_count)
		return error_set(
			err, ERROR_INVALID,
			"session '%s' has %zu queued messages, which would stay here: "
			"look at them with agentdeck session queue, and take them out with "
			"--cancel all",
			title, instance->queue_count);
	if (instance->run.id && place_presence(&run) != PRESENCE_NONE) {
		cleanup_free char *hint = hint_session(operation->deck, instance->title,
						       instance->id);
		return error_set(err, ERROR_INVALID,
				 "session '%s' is running: stop it first, with agentdeck session "
				 "stop %s",
				 title, hint);
	}
	return operation_find_agent(operation, err) < 0 ? -1 : pack_check(operation, err);
}

/* The supervisor would start a session that should run when it comes back. */
static int note_it_is_stopped(struct operation *operation, struct error *err)
{
	return operation->instance->desired != DESIRED_RUNNING
		       ? 0
		       : operation_note(operation, EVENT_STOPPED, NULL, err);
}

static int fail_step(const struct operation *operation, const struct move_order *order,
		     struct error *err)
{
	const struct instance *instance = operation->instance;
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *text = move_text(instance->move.state, instance->move.host);
	return error_set(err, ERROR_INVALID,
			 "session '%s' is %s: the step '%s' of move %s is not "
			 "possible now",
			 title, text ? text : "not on its way", move_step_name(order->step),
			 order->id);
}

/* Remove a copy that was never used here. */
static int drop(struct operation *operation, struct error *err)
{
	const struct removal_order order = { .how = REMOVE_UNUSED };
	struct workspace *workspace = operation->instance->workspace;
	cleanup_free char *source = NULL, *branch = NULL, *tip = NULL;
	/* The other end has all of the tree that came along. */
	if (workspace && (workspace->arriving || workspace->carried)) {
		workspace->may_be_lost = true;
		source = xstrdup(workspace->source);
		branch = workspace->made_branch ? xstrdup(workspace->branch) : NULL;
	}
	log_info("the copy is removed");
	if (lifecycle_remove_locked(operation, &order, err) < 0)
		return -1;
	if (branch && gitcmd_find_branch(source, branch, &tip, NULL) == 0)
		(void)gitcmd_delete_branch(source, branch, tip, NULL);
	return 0;
}

static int do_step(struct operation *operation, const struct move_order *order,
		   enum move_state next, struct error *err)
{
	struct move *move = &operation->instance->move;
	log_info("move %s: %s: %s -> %s", order->id, move_step_name(order->step),
		 move_state_words[move->state], move_state_words[next]);
	if (order->step == MOVE_STEP_DROP && next == MOVE_NONE)
		return drop(operation, err);
	cleanup_free char *host = xstrdup_or_null(order->step == MOVE_STEP_LEAVE ? order->host
										 : move->host);
	if (next == MOVE_NONE)
		move_clear(move);
	else
		move_set(move, next, order->id, host, clock_wall_us());
	return operation_save(operation, err);
}

int move_session(struct deck *deck, const struct move_order *order, struct moved *ret,
		 struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	enum move_state next;
	if (operation_open_settled(deck, order->base, &operation, err) < 0)
		return -1;
	struct move *move = &operation.instance->move;
	if (move_plan(move, order->step, order->id, &next) < 0)
		return fail_step(&operation, order, err);
	/* Also when the step is repeated: another session may have the conversation by now. */
	if (order->step == MOVE_STEP_LEAVE &&
	    (check_leaves(&operation, err) < 0 || note_it_is_stopped(&operation, err) < 0))
		return -1;
	const bool was_done = next == move->state && streq(or_empty(move->id), order->id);
	if (!was_done && do_step(&operation, order, next, err) < 0)
		return -1;
	*ret = (struct moved){ .state = next };
	if (next == MOVE_ARRIVED) {
		ret->is_beside = move->was_here;
		ret->tree = TAKE_PTR(move->tree);
	}
	return 0;
}
