/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Taking an agent of its user's over: into a new session, or into the stopped one that has its
 * conversation.
 */
#include "engine/adopt/adopt-internal.h"

#include "base/log.h"
#include "base/program.h"
#include "engine/deck/visit.h"
#include "engine/place/alive.h"
#include "engine/run/add.h"
#include "engine/run/change.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/stop.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#include <unistd.h>

/* The command for the next start; a program that is only in the process' own PATH gets its full
 * path. */
static int build_argv(const struct adopt_find *find, struct strvec *ret, struct error *err)
{
	cleanup_strvec struct strvec carried = { 0 };
	cleanup_free char *path = NULL, *theirs = NULL;
	resume_carried_argv(find->agent, &find->argv, &carried);
	const char *program = carried.items[0];
	cleanup_free char *ours = program_path(program, NULL, find->cwd);
	if (!ours && process_variable(find->process.pid, "PATH", &path, NULL) == 0 && path)
		theirs = program_path(program, path, find->cwd);
	if (!ours && !theirs) {
		cleanup_free char *shown = visible(program);
		return error_set(
			err, ERROR_UNAVAILABLE,
			"%s (process %d): program '%s', which would start it again, was not "
			"found; nothing was ended. Put it into PATH",
			find->agent->name, (int)find->process.pid, shown);
	}
	strvec_push(ret, theirs ? theirs : program);
	strvec_push_array(ret, (const char *const *)carried.items + 1);
	return 0;
}

/* The session has a title and a conversation. */
static int check_join(const struct adopt_find *find, const struct adopt_order *order,
		      struct error *err)
{
	cleanup_free char *title = visible(find->owner_title);
	if (!order->title && !order->session_id && !order->fresh)
		return 0;
	return error_set(
		err, ERROR_EXISTS,
		"%s (process %d): session '%s' (%s) has its conversation: to continue it there, "
		"omit --title, --session-id and --fresh",
		find->agent->name, (int)find->process.pid, title, find->owner);
}

int adopt_check(const struct adopt_find *find, const struct adopt_order *order, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	const char *name = find->agent->name;
	int pid = (int)find->process.pid;
	if (adopt_is_below(getpid(), find->process.pid))
		return error_set(
			err, ERROR_INVALID,
			"this command runs inside that agent (process %d): run it in another "
			"terminal",
			pid);
	if (!process_alive(&find->process))
		return error_set(err, ERROR_NOT_FOUND, "process %d has ended", pid);
	if (find->rival && !order->fresh)
		return error_set(err, ERROR_INVALID, "%s (process %d): %s", name, pid, find->doubt);
	if (find->owner && !find->can_join)
		return error_set(err, ERROR_EXISTS, "%s (process %d): %s", name, pid, find->doubt);
	if (find->owner)
		return check_join(find, order, err);
	if (find->doubt && !order->session_id && !order->fresh)
		return error_set(err, ERROR_INVALID, "%s (process %d): %s; %s--fresh for a new one",
				 name, pid, find->doubt,
				 find->agent->resume.count ? "say which with --session-id ID, or "
							   : "say ");
	if (order->session_id && order->fresh)
		return error_set(err, ERROR_USAGE, "--session-id and --fresh cannot be combined");
	return build_argv(find, &argv, err);
}

/* A session that had its conversation before does not get another one. */
static int fail_other(const struct adopt_find *find, const char *id, struct error *err)
{
	cleanup_free char *shown = visible(id);
	cleanup_free char *title = visible(find->owner_title);
	return error_set(err, ERROR_EXISTS,
			 "%s (process %d) has ended, and its conversation was %s, not that of "
			 "session '%s': agentdeck discover %s --add makes a session of it",
			 find->agent->name, (int)find->process.pid, shown, title, shown);
}

void adopt_remember(const struct adopt_find *find, const char *session_id, struct taken *ret)
{
	struct process_id processes[TAKEN_MAX] = { find->process };
	for (size_t i = 0; i < find->launched_count; i++)
		processes[i + 1] = find->launched[i];
	taken_set(ret, processes, find->launched_count + 1, session_id);
}

/* A script can end before the agent that it launched. */
static bool has_ended(const struct adopt_find *find)
{
	cleanup_taken struct taken taken = { 0 };
	adopt_remember(find, NULL, &taken);
	return taken_look(&taken, NULL) == TAKEN_ENDED;
}

/* Write down what the agent has while it lives; then that it has ended, which another machine could
 * not know. */
static int note_taken(const struct operation *operation, const struct adopt_find *find,
		      const char *session_id, struct error *err)
{
	struct taken *taken = &operation->instance->taken;
	if (has_ended(find))
		taken_clear(taken);
	else
		adopt_remember(find, session_id, taken);
	return operation_save(operation, err);
}

/* Like note_taken(), but for a session whose lock is not held. */
static int note_taken_of(struct deck *deck, const struct instance *instance,
			 const struct adopt_find *find, const char *session_id, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (operation_open(deck, instance->base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	return note_taken(&operation, find, session_id, err);
}

/* The id that the agent says takes precedence over the one that we found. */
static int hear(struct deck *deck, const struct farewell *farewell, const struct adopt_find *find,
		struct instance *instance, struct error *err)
{
	cleanup_free char *id = NULL;
	cleanup_error struct error failure = { 0 };
	const int r = farewell_hear(farewell, &id, &failure);
	const bool must = find->source == ADOPT_LAST_WORDS;
	if (r < 0 && must)
		return error_move(err, &failure);
	if (r == FAREWELL_STAYED && must)
		return error_set(
			err, ERROR_TIMEOUT,
			"%s (process %d) did not end when asked, so its conversation is unknown; "
			"it is still running. End it yourself, or name the conversation with "
			"--session-id ID, or begin a new one with --fresh",
			find->agent->name, (int)find->process.pid);
	if (r == 0 && !id && must)
		return ADOPT_UNNAMED;
	if (!id || naming_same_session_id(id, instance->conversation.session_id))
		return 0;
	if (find->owner)
		return fail_other(find, id, err);
	struct setting setting = { .field = SETTING_SESSION_ID, .value = id };
	if (note_taken_of(deck, instance, find, id, err) < 0 ||
	    lifecycle_set(deck, instance->base, &setting, err) < 0)
		return -1;
	replace_string(&instance->conversation.session_id, id);
	return 0;
}

/* The processes of the agent and all below them: one that a script launched may have lost it. */
static int list_tree(const struct adopt_find *find, struct process_id **ret, size_t *ret_count,
		     struct error *err)
{
	cleanup_taken struct taken all = { 0 };
	adopt_remember(find, NULL, &all);
	for (size_t i = 0; i < all.count; i++) {
		cleanup_free struct process_id *tree = NULL;
		size_t count = 0;
		if (process_tree(&all.processes[i], &tree, &count, err) < 0)
			return -1;
		*ret = xreallocarray(*ret, *ret_count + count + 1, sizeof(**ret));
		for (size_t j = 0; j < count; j++)
			(*ret)[(*ret_count)++] = tree[j];
	}
	return 0;
}

static int end_process(struct deck *deck, const struct adopt_find *find, bool listens,
		       struct instance *instance, struct error *err)
{
	const struct farewell farewell = adopt_farewell(deck, find);
	cleanup_free struct process_id *tree = NULL;
	cleanup_error struct error failure = { 0 };
	size_t count = 0;
	int heard = 0;
	if (list_tree(find, &tree, &count, err) < 0)
		return -1;
	if (listens)
		heard = hear(deck, &farewell, find, instance, &failure);
	/* The agent named the conversation of another session when it was asked to end: let it end.
	 */
	if (heard < 0 && failure.code != ERROR_EXISTS)
		return error_move(err, &failure);
	if (farewell_end(&farewell, tree, count, err) < 0)
		return -1;
	return heard < 0 ? error_move(err, &failure) : heard;
}

int adopt_end(struct deck *deck, const struct adopt_find *find, bool listens,
	      struct instance *instance, struct error *err)
{
	struct operation operation = { .deck = deck, .instance = instance };
	if (place_find(instance, &operation.place, err) < 0 ||
	    lifecycle_check_before_end(&operation, err) < 0)
		return -1;
	const int r = end_process(deck, find, listens, instance, err);
	cleanup_error struct error why = { 0 };
	if (has_ended(find) && note_taken_of(deck, instance, find, NULL, &why) < 0)
		log_warning("%s", why.message);
	return r;
}

int adopt_give_up(struct deck *deck, const struct adopt_find *find, const struct instance *instance,
		  struct error *err)
{
	if (!has_ended(find)) {
		(void)lifecycle_withdraw(deck, instance->base, NULL);
		return -1;
	}
	cleanup_free char *title = visible(instance->title);
	return error_prefix(err, "process %d has ended, and session '%s' is stopped",
			    (int)find->process.pid, title);
}

/* The session's lock is held, so that no other command starts it meanwhile. */
static int join_locked(struct operation *operation, const struct adopt_find *find,
		       struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	cleanup_free char *title = visible(instance->title), *why = NULL;
	if (place_check_here(deck, instance, err) < 0)
		return -1;
	if (operation->place->observe(deck, instance, OBSERVE_PROCESS).presence != PRESENCE_NONE)
		return error_set(err, ERROR_EXISTS,
				 "session '%s' has the conversation of process %d, and runs by now",
				 title, (int)find->process.pid);
	if (!naming_same_session_id(instance->conversation.session_id, find->session_id))
		return error_set(err, ERROR_EXISTS,
				 "session '%s' has another conversation by now: look again with "
				 "agentdeck adopt",
				 title);
	if (lifecycle_check_hold(operation, &why, err) < 0)
		return -1;
	if (why)
		return error_set(err, ERROR_INVALID, "session '%s' is %s", title, why);
	if (lifecycle_check_before_end(operation, err) < 0 ||
	    note_taken(operation, find, find->session_id, err) < 0)
		return -1;
	const int r = end_process(deck, find, find->is_heard, instance, err);
	cleanup_error struct error failure = { 0 };
	if (has_ended(find) && note_taken(operation, find, NULL, &failure) < 0)
		log_warning("%s", failure.message);
	return r;
}

static int join(struct deck *deck, const struct adopt_find *find, struct instance **ret,
		struct error *err)
{
	cleanup_visit struct visit visit = { 0 };
	cleanup_operation struct operation operation = { 0 };
	if (visit_begin(deck, find->owner_profile, &visit, err) < 0 ||
	    operation_open(deck, find->owner_base, OPERATION_TIMEOUT_MS, &operation, err) < 0)
		return -1;
	int r = join_locked(&operation, find, err);
	if (r == 0)
		*ret = TAKE_PTR(operation.instance);
	return r;
}

int adopt_take(struct deck *deck, const struct adopt_find *find, const struct adopt_order *order,
	       struct instance **ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_instance struct instance *added = NULL;
	cleanup_taken struct taken taken = { 0 };
	if (adopt_check(find, order, err) < 0)
		return -1;
	if (find->owner)
		return join(deck, find, ret, err);
	if (build_argv(find, &argv, err) < 0)
		return -1;
	bool listens = find->is_heard && !order->session_id && !order->fresh;
	adopt_remember(find, order->session_id ? order->session_id : find->session_id, &taken);
	/* The id is passed separately: the one in the arguments may be older. */
	const struct lifecycle_new new = {
		.title = order->title,
		.group = order->group,
		.directory = find->cwd,
		.agent = find->agent->name,
		.argv = &argv,
		.session_id = order->session_id ? order->session_id
			      : order->fresh    ? NULL
						: find->session_id,
		.gives_no_id = listens && !find->session_id,
		.config_home = find->config_home,
		.taken = order->fresh ? NULL : &taken,
	};
	if (lifecycle_add(deck, &new, &added, err) < 0)
		return -1;
	int r = adopt_end(deck, find, listens, added, err);
	if (r < 0)
		return adopt_give_up(deck, find, added, err);
	*ret = TAKE_PTR(added);
	return r;
}
