/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/adopt/adopt-internal.h"

#include "base/clock.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/owner.h"
#include "engine/deck/visit.h"
#include "engine/place/alive.h"
#include "model/session/naming.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ANCESTORS_MAX = 64 };

static void find_clear(struct adopt_find *find)
{
	strvec_clear(&find->argv);
	free(find->cwd);
	free(find->config_home);
	free(find->terminal);
	free(find->pane);
	free(find->socket);
	free(find->where);
	free(find->session_id);
	free(find->doubt);
	free(find->owner);
	free(find->owner_title);
	free(find->owner_base);
	free(find->owner_profile);
	free(find->foreign);
	*find = (struct adopt_find){ 0 };
}
#define cleanup_find CLEANUP(find_clear)

void adopt_finds_free(struct adopt_finds *finds)
{
	for (size_t i = 0; i < finds->count; i++)
		find_clear(finds->finds + i);
	free(finds->finds);
	*finds = (struct adopt_finds){ 0 };
}

const char *adopt_source_name(enum adopt_source source)
{
	static const char *const names[] = {
		[ADOPT_UNKNOWN] = "unknown",       [ADOPT_ARGUMENTS] = "arguments",
		[ADOPT_TRANSCRIPT] = "transcript", [ADOPT_SESSION] = "session",
		[ADOPT_LAST_WORDS] = "last_words",
	};
	return names[source];
}

/* --- looking ----------------------------------------------------------------------------------- */

static bool is_same_directory(const char *a, const char *b)
{
	struct stat left, right;
	return streq(a, b) || (stat(a, &left) == 0 && stat(b, &right) == 0 &&
			       left.st_dev == right.st_dev && left.st_ino == right.st_ino);
}

/* The process's HOME may be another one than ours. */
static char *home_of(const struct deck *deck, const struct agent *agent, pid_t pid)
{
	cleanup_free char *home = NULL, *user_home = NULL;
	if (agent->config_home_env &&
	    process_variable(pid, agent->config_home_env, &home, NULL) == 0 && !is_empty(home))
		return TAKE_PTR(home);
	if (!agent->config_home_env || process_variable(pid, "HOME", &user_home, NULL) != 0 ||
	    *or_empty(user_home) != '/' || !agent->config_home || *agent->config_home != '~' ||
	    is_same_directory(user_home, deck->paths.home))
		return deck_default_home(deck, agent);
	return xasprintf("%s%s", user_home, agent->config_home + 1);
}

/* Is it in a session of ours?  Where both name one, it is in theirs: we remove theirs from a new
 * session's environment. */
static int find_session(pid_t pid, bool *ret, char **ret_foreign)
{
	cleanup_free char *ours = NULL, *shared = NULL;
	if (process_variable(pid, ENV_INSTANCE, &ours, NULL) != 0 ||
	    process_variable(pid, ENV_SHARED_INSTANCE, &shared, NULL) != 0)
		return PROCESS_GONE;
	const bool is_foreign = shared && naming_is_foreign_id(shared);
	*ret = !is_foreign && (ours || shared);
	*ret_foreign = is_foreign ? TAKE_PTR(shared) : NULL;
	return 0;
}

/* Examine one process, by itself.  False: there is nothing to adopt. */
static bool examine(const struct deck *deck, const struct registry *registry,
		    const struct process_id *process, struct adopt_find *ret)
{
	cleanup_find struct adopt_find find = { .process = *process };
	bool is_ours;
	if (process_argv(process->pid, &find.argv, NULL) != 0 || !find.argv.count)
		return false;
	find.agent = registry_match(registry, &find.argv);
	if (!find.agent || find.agent->generic ||
	    process_terminal(process->pid, &find.terminal, NULL) != 0 || !find.terminal ||
	    process_directory(process->pid, &find.cwd, NULL) != 0 ||
	    find_session(process->pid, &is_ours, &find.foreign) != 0 || is_ours)
		return false;
	find.config_home = home_of(deck, find.agent, process->pid);
	const char *id = resume_adopted_id(find.agent, &find.argv);
	/* A copy of a conversation is another conversation. */
	if (id && naming_is_session_id(id) && !resume_find_copy(find.agent, &find.argv)) {
		find.session_id = xstrdup(id);
		find.source = ADOPT_ARGUMENTS;
	}
	*ret = find;
	find = (struct adopt_find){ 0 };
	return true;
}

bool adopt_is_below(pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (pid == ancestor)
			return true;
		if (process_parent(pid, &pid, NULL) != 0)
			return false;
	}
	return false;
}

static int compare_finds(const void *a, const void *b)
{
	const struct adopt_find *left = a, *right = b;
	return left->process.start < right->process.start   ? -1
	       : left->process.start > right->process.start ? 1
							    : 0;
}

static void note_launched(struct adopt_find *launcher, const struct process_id *process)
{
	if (launcher->launched_count < ADOPT_LAUNCHED_MAX)
		launcher->launched[launcher->launched_count++] = *process;
}

/* A launcher and the agent that it launched are one find: keep the launcher, which has the user's
 * arguments. */
static void drop_descendants(struct adopt_finds *finds)
{
	size_t kept = 0;
	for (size_t i = 0; i < finds->count; i++) {
		const struct process_id process = finds->finds[i].process;
		bool below = false;
		for (size_t j = 0; j < kept && !below; j++) {
			below = finds->finds[j].agent == finds->finds[i].agent &&
				adopt_is_below(process.pid, finds->finds[j].process.pid);
			if (below)
				note_launched(finds->finds + j, &process);
		}
		if (below)
			find_clear(finds->finds + i);
		else
			finds->finds[kept++] = finds->finds[i];
	}
	finds->count = kept;
}

static int find_panes(struct adopt_finds *finds, struct error *err)
{
	cleanup_strvec struct strvec sockets = { 0 };
	cleanup_tmux_user_panes struct tmux_user_panes panes = { 0 };
	tmux_user_sockets(&sockets);
	for (size_t i = 0; i < sockets.count; i++)
		if (tmux_list_user_panes(sockets.items[i], &panes, NULL, err) < 0)
			return -1;
	for (size_t i = 0; i < finds->count; i++) {
		for (size_t j = 0; j < panes.count; j++) {
			const struct tmux_user_pane *pane = panes.panes + j;
			if (!streq(finds->finds[i].terminal, pane->terminal))
				continue;
			replace_string(&finds->finds[i].pane, pane->id);
			replace_string(&finds->finds[i].socket, pane->socket);
			replace_string(&finds->finds[i].where, pane->where);
		}
	}
	return 0;
}

/* The process's start time in nanoseconds since the Epoch; slightly early, because ticks are
 * coarse. */
static int64_t started_ns(const struct process_id *process)
{
	int64_t boot_ms = clock_wall_us() / 1000 - clock_ms();
	int64_t since_boot_ms = (int64_t)(process->start * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
	return (boot_ms + since_boot_ms - 1000) * 1000000;
}

/* Is it the process of the find, or an agent that this launched? */
static bool is_of(const struct adopt_find *find, const struct process_id *process)
{
	for (size_t i = 0; i < find->launched_count; i++)
		if (process_same(&find->launched[i], process))
			return true;
	return process_same(&find->process, process);
}

const struct adopt_find *adopt_joining(const struct adopt_finds *finds,
				       const struct process_id *process,
				       const struct instance *instance)
{
	for (size_t i = 0; i < finds->count; i++) {
		const struct adopt_find *find = finds->finds + i;
		if (is_of(find, process) && find->can_join && streq(find->owner, instance->id) &&
		    !adopt_is_below(getpid(), find->process.pid))
			return find;
	}
	return NULL;
}

void adopt_facts_clear(struct adopt_facts *facts)
{
	free(facts->command);
	free(facts->directory);
	free(facts->terminal);
	*facts = (struct adopt_facts){ 0 };
}

void adopt_describe(const struct process_id *process, struct adopt_facts *ret)
{
	CLEANUP(adopt_facts_clear) struct adopt_facts facts = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	(void)process_directory(process->pid, &facts.directory, NULL);
	(void)process_terminal(process->pid, &facts.terminal, NULL);
	if (process_argv(process->pid, &argv, NULL) == 0 && argv.count)
		facts.command = visible_argv(argv.items);
	/* The process still lives, so everything that was read is its own. */
	if (!process_alive(process))
		return;
	facts.since_us = started_ns(process) / 1000;
	*ret = facts;
	facts = (struct adopt_facts){ 0 };
}

static bool shares_place(const struct adopt_finds *finds, const struct adopt_find *find)
{
	for (size_t i = 0; i < finds->count; i++) {
		const struct adopt_find *other = finds->finds + i;
		if (other != find && other->agent == find->agent && streq(other->cwd, find->cwd) &&
		    streq(or_empty(other->config_home), or_empty(find->config_home)))
			return true;
	}
	return false;
}

/* An instance that would have what the process has. */
static struct instance *stranger_with(const struct adopt_find *find)
{
	struct instance *stranger = instance_new();
	stranger->id = xstrdup("");
	stranger->agent = xstrdup(find->agent->name);
	stranger->conversation.config_home = xstrdup_or_null(find->config_home);
	instance_set_directory(stranger, find->cwd);
	return stranger;
}

/* The transcript is a better source than the arguments, which are as old as the process: inside the
 * agent the user may have changed to another conversation. */
static int look_at_transcripts(struct deck *deck, const struct adopt_finds *finds,
			       struct adopt_find *find, struct error *err)
{
	cleanup_transcript struct transcript latest = { 0 };
	cleanup_instance struct instance *stranger = stranger_with(find);
	int r = conversation_latest(deck, stranger, find->agent, &latest, err);
	if (r < 0)
		return -1;
	const bool written = r == 0 && latest.modified_ns >= started_ns(&find->process);
	find->has_transcript = written;
	if (written && find->session_id &&
	    !naming_same_session_id(find->session_id, latest.session_id)) {
		find->doubt = xasprintf(
			"its arguments say %s, but the newest conversation here, written since "
			"it started, is %s",
			find->session_id, latest.session_id);
	} else if (written && !find->session_id && shares_place(finds, find)) {
		find->doubt = xasprintf(
			"several agents run in this directory; the newest conversation is %s",
			latest.session_id);
	} else if (written) {
		if (!find->session_id)
			find->source = ADOPT_TRANSCRIPT;
		replace_string(&find->session_id, latest.session_id);
	} else if (!find->session_id) {
		find->doubt = find->agent->resume.count
				      ? xstrdup("its conversation is unknown")
				      : xasprintf("%s cannot be told which conversation to resume",
						  find->agent->title);
	}
	return 0;
}

struct farewell adopt_farewell(const struct deck *deck, const struct adopt_find *find)
{
	return (struct farewell){
		.agent = find->agent,
		.process = &find->process,
		.socket = find->socket,
		.pane = find->pane,
		.patience_ms = deck->settings.stop_timeout_s * 1000,
	};
}

/* What the agent itself says settles every doubt. */
static void look_for_words(const struct deck *deck, struct adopt_find *find)
{
	const struct farewell farewell = adopt_farewell(deck, find);
	find->is_heard = find->agent->resume.count && farewell_is_heard(&farewell);
	if (!find->is_heard || !find->doubt)
		return;
	replace_string(&find->doubt, NULL);
	replace_string(&find->session_id, NULL);
	find->source = ADOPT_LAST_WORDS;
}

/* The agent may have changed to another conversation since: what it writes says so. */
static void join_intent(const struct instance *instance, struct adopt_find *find)
{
	const char *id = instance->conversation.session_id;
	if (find->has_transcript && find->doubt)
		return;
	if (find->has_transcript && !naming_same_session_id(find->session_id, id)) {
		cleanup_free char *title = visible(instance->title);
		find->doubt = xasprintf(
			"a take-over into session '%s' began with %s, but the newest conversation "
			"here, written since the agent started, is %s",
			title, id, find->session_id);
		return;
	}
	replace_string(&find->session_id, id);
	replace_string(&find->doubt, NULL);
	find->source = ADOPT_SESSION;
}

/* A script of then may have ended since, and the agent that it launched lives. */
static bool was_taken(const struct taken *taken, const struct adopt_find *find)
{
	bool found = taken_has(taken, &find->process);
	for (size_t i = 0; i < find->launched_count && !found; i++)
		found = taken_has(taken, &find->launched[i]);
	return found;
}

static bool is_begun(const struct owner_profile *profile, const struct store_row *row,
		     struct adopt_find *find)
{
	cleanup_instance struct instance *instance = NULL;
	if (row->damage || !row->session_id || !streq(row->agent, find->agent->name) ||
	    !(streq(or_empty(row->lookup_directory), find->cwd) ||
	      streq(or_empty(row->owner_directory), find->cwd)) ||
	    store_load(profile->store, row->base, &instance, NULL) != 0)
		return false;
	const struct taken *taken = &instance->taken;
	if (!was_taken(taken, find) || taken_look(taken, NULL) != TAKEN_LIVES ||
	    !naming_same_session_id(taken->session_id, instance->conversation.session_id))
		return false;
	join_intent(instance, find);
	return true;
}

/* The intent of a take-over that was killed: its session says which process it was, and which
 * conversation that had. */
static void look_for_intent(const struct owner_profiles *profiles, struct adopt_find *find)
{
	for (size_t i = 0; i < profiles->count; i++)
		for (size_t j = 0; j < profiles->items[i].rows.count; j++)
			if (is_begun(&profiles->items[i], &profiles->items[i].rows.rows[j], find))
				return;
}

/* What cannot be known is not stopped. */
static bool is_stopped(const struct store_row *row)
{
	return (!row->run.server.pid && !row->run.socket) ||
	       place_presence(&row->run) == PRESENCE_NONE;
}

/* The session that owns the conversation of this find: could the process be taken over into it? */
static int look_at_session(struct deck *deck, const struct shared_conversation *owned,
			   struct adopt_find *find, struct error *err)
{
	cleanup_visit struct visit visit = { 0 };
	cleanup_store_rows struct store_rows rows = { 0 };
	if (visit_begin(deck, owned->profile ? owned->profile : deck->profile, &visit, err) < 0 ||
	    store_list(deck->store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (!streq(row->id, owned->owner))
			continue;
		replace_string(&find->owner_base, row->base);
		find->can_join = !row->damage && !row->copy_of && !row->next_session_id &&
				 is_stopped(row);
	}
	replace_string(&find->owner_title, owned->title);
	replace_string(&find->owner_profile, deck->profile);
	return 0;
}

/* Whether a session has this conversation already, although the agent here is not that
 * session's. */
static int look_for_owner(struct deck *deck, struct adopt_find *find, struct error *err)
{
	cleanup_instance struct instance *stranger = stranger_with(find);
	struct shared_conversation owned = { 0 };
	if (!find->session_id)
		return 0;
	int r = owner_find(deck, stranger, find->session_id, &owned, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	r = look_at_session(deck, &owned, find, err);
	cleanup_free char *title = visible(owned.title);
	cleanup_free char *command = owner_command(&owned);
	replace_string(&find->owner, owned.owner);
	/* Nothing is continued on a guess. */
	find->can_join &= !find->doubt;
	if (!find->can_join && !find->rival) {
		free(find->doubt);
		find->doubt = xasprintf(
			"its conversation is that of session '%s' (%s): end this process and use "
			"%s session start %s",
			title, owned.owner, command, owned.owner);
	}
	shared_conversation_clear(&owned);
	return r;
}

static bool has_same(const struct adopt_find *a, const struct adopt_find *b)
{
	return a->agent == b->agent && naming_same_session_id(a->session_id, b->session_id) &&
	       streq(or_empty(a->config_home), or_empty(b->config_home));
}

/* The one that stays would write into the conversation beside the session. */
static void look_for_rival(const struct adopt_finds *finds, struct adopt_find *find)
{
	for (size_t i = 0; i < finds->count; i++) {
		const struct adopt_find *other = finds->finds + i;
		if (other == find || !has_same(other, find))
			continue;
		find->rival = other->process.pid;
		free(find->doubt);
		find->doubt = xasprintf(
			"process %d has the same conversation: end one of them first",
			(int)find->rival);
		return;
	}
}

int adopt_look(struct deck *deck, struct adopt_finds *ret, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	cleanup_adopt_finds struct adopt_finds finds = { 0 };
	cleanup_free struct process_id *processes = NULL;
	const struct registry *registry;
	size_t count;
	if (deck_registry(deck, &registry, err) < 0 ||
	    process_list_own(&processes, &count, err) < 0)
		return -1;
	finds.finds = xcalloc(count + 1, sizeof(*finds.finds));
	for (size_t i = 0; i < count; i++)
		if (examine(deck, registry, processes + i, finds.finds + finds.count))
			finds.count++;
	qsort(finds.finds, finds.count, sizeof(*finds.finds), compare_finds);
	drop_descendants(&finds);
	if (finds.count && find_panes(&finds, err) < 0)
		return -1;
	for (size_t i = 0; i < finds.count; i++)
		if (look_at_transcripts(deck, &finds, finds.finds + i, err) < 0)
			return -1;
	if (finds.count && owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < finds.count; i++)
		look_for_intent(&profiles, &finds.finds[i]);
	for (size_t i = 0; i < finds.count; i++)
		look_for_words(deck, &finds.finds[i]);
	for (size_t i = 0; i < finds.count; i++)
		look_for_rival(&finds, &finds.finds[i]);
	for (size_t i = 0; i < finds.count; i++)
		if (look_for_owner(deck, finds.finds + i, err) < 0)
			return -1;
	*ret = finds;
	finds = (struct adopt_finds){ 0 };
	return 0;
}

/* --- choosing ---------------------------------------------------------------------------------- */

static bool is_meant(const struct adopt_find *find, const char *target, const char *server)
{
	int64_t pid;
	if (target[0] == '%')
		return find->pane && streq(find->pane, target) &&
		       (!server || streq(find->socket, server));
	if (target[0] == '/')
		return streq(find->terminal, target);
	if (!parse_int64(target, 1, INT32_MAX, &pid))
		return false;
	for (size_t i = 0; i < find->launched_count; i++)
		if (find->launched[i].pid == (pid_t)pid)
			return true;
	return adopt_is_below(find->process.pid, (pid_t)pid);
}

int adopt_choose(const struct adopt_finds *finds, const char *target, const struct adopt_find **ret,
		 struct error *err)
{
	const struct adopt_find *found = NULL;
	const char *tmux = getenv("TMUX");
	cleanup_free char *server = is_empty(tmux) ? NULL : xstrndup(tmux, strcspn(tmux, ","));
	for (size_t i = 0; i < finds->count; i++) {
		if (!is_meant(finds->finds + i, target, server))
			continue;
		if (found)
			return error_set(
				err, ERROR_AMBIGUOUS,
				"%s matches several agents: use a process id (agentdeck adopt "
				"lists them)",
				target);
		found = finds->finds + i;
	}
	if (!found)
		return error_set(
			err, ERROR_NOT_FOUND,
			"no agent that can be adopted is at %s: agentdeck adopt lists those that "
			"can",
			target);
	*ret = found;
	return 0;
}
