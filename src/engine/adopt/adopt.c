/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/adopt/adopt.h"

#include "base/clock.h"
#include "base/program.h"
#include "engine/adopt/farewell.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/owner.h"
#include "engine/place/runfiles.h"
#include "engine/run/lifecycle-internal.h"
#include "model/session/naming.h"

#include <stdlib.h>
#include <string.h>

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
		[ADOPT_UNKNOWN] = "unknown",
		[ADOPT_ARGUMENTS] = "arguments",
		[ADOPT_TRANSCRIPT] = "transcript",
		[ADOPT_LAST_WORDS] = "last_words",
	};
	return names[source];
}

/* --- looking ----------------------------------------------------------------------------------- */

static char *home_of(const struct deck *deck, const struct agent *agent, pid_t pid)
{
	char *home = NULL;
	if (agent->config_home_env &&
	    process_variable(pid, agent->config_home_env, &home, NULL) == 0 && !is_empty(home))
		return home;
	free(home);
	return deck_default_home(deck, agent);
}

/* Is it in a session of ours?  Where both name one, it is in theirs: we remove theirs from a new
 * session's environment. */
static int find_session(pid_t pid, bool *ret)
{
	cleanup_free char *ours = NULL, *shared = NULL;
	if (process_variable(pid, ENV_INSTANCE, &ours, NULL) != 0 ||
	    process_variable(pid, ENV_SHARED_INSTANCE, &shared, NULL) != 0)
		return PROCESS_GONE;
	*ret = shared ? !naming_is_foreign_id(shared) : ours != NULL;
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
	    find_session(process->pid, &is_ours) != 0 || is_ours)
		return false;
	find.config_home = home_of(deck, find.agent, process->pid);
	const char *id = resume_adopted_id(find.agent, &find.argv);
	if (id && naming_is_session_id(id)) {
		find.session_id = xstrdup(id);
		find.source = ADOPT_ARGUMENTS;
	}
	*ret = find;
	find = (struct adopt_find){ 0 };
	return true;
}

static bool is_below(pid_t pid, pid_t ancestor)
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

/* Of a launcher and the agent it launched keep only the launcher, which has the user's
 * arguments. */
static void drop_descendants(struct adopt_finds *finds)
{
	size_t kept = 0;
	for (size_t i = 0; i < finds->count; i++) {
		bool below = false;
		for (size_t j = 0; j < kept && !below; j++)
			below = finds->finds[j].agent == finds->finds[i].agent &&
				is_below(finds->finds[i].process.pid, finds->finds[j].process.pid);
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

/* Its start time in nanoseconds since the Epoch; slightly early, because ticks are coarse. */
static int64_t started_ns(const struct process_id *process)
{
	int64_t boot_ms = clock_wall_us() / 1000 - clock_ms();
	int64_t since_boot_ms = (int64_t)(process->start * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
	return (boot_ms + since_boot_ms - 1000) * 1000000;
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
static struct instance *nobody_with(const struct adopt_find *find)
{
	struct instance *nobody = instance_new();
	nobody->id = xstrdup("");
	nobody->agent = xstrdup(find->agent->name);
	nobody->conversation.config_home = xstrdup_or_null(find->config_home);
	instance_set_directory(nobody, find->cwd);
	return nobody;
}

/* The transcript is a better source than the arguments, which are as old as the process: inside the
 * agent the user may have changed to another conversation. */
static int look_at_transcripts(struct deck *deck, const struct adopt_finds *finds,
			       struct adopt_find *find, struct error *err)
{
	cleanup_transcript struct transcript latest = { 0 };
	cleanup_instance struct instance *nobody = nobody_with(find);
	int r = conversation_latest(deck, nobody, find->agent, &latest, err);
	if (r < 0)
		return -1;
	bool written = r == 0 && latest.modified_ns >= started_ns(&find->process);
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

static struct farewell farewell_of(const struct deck *deck, const struct adopt_find *find)
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
	const struct farewell farewell = farewell_of(deck, find);
	find->is_heard = find->agent->resume.count && farewell_is_heard(&farewell);
	if (!find->is_heard || !find->doubt)
		return;
	replace_string(&find->doubt, NULL);
	replace_string(&find->session_id, NULL);
	find->source = ADOPT_LAST_WORDS;
}

/* Whether a session has this conversation already, although the agent here is not that
 * session's. */
static int look_for_owner(struct deck *deck, struct adopt_find *find, struct error *err)
{
	cleanup_instance struct instance *nobody = nobody_with(find);
	struct shared_conversation owned = { 0 };
	if (!find->session_id)
		return 0;
	int r = owner_find(deck, nobody, find->session_id, &owned, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	cleanup_free char *title = visible(owned.title);
	cleanup_free char *command = owner_command(&owned);
	free(find->doubt);
	find->doubt = xasprintf(
		"its conversation is that of session '%s' (%s): end this process and use "
		"%s session start %s",
		title, owned.owner, command, owned.owner);
	replace_string(&find->owner, owned.owner);
	shared_conversation_clear(&owned);
	return 0;
}

int adopt_look(struct deck *deck, struct adopt_finds *ret, struct error *err)
{
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
	for (size_t i = 0; i < finds.count; i++) {
		if (look_at_transcripts(deck, &finds, finds.finds + i, err) < 0)
			return -1;
		look_for_words(deck, finds.finds + i);
	}
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
	return parse_int64(target, 1, INT32_MAX, &pid) && is_below(find->process.pid, (pid_t)pid);
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

/* --- taking ------------------------------------------------------------------------------------ */

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

int adopt_check(const struct adopt_find *find, const struct adopt_wish *wish, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	const char *name = find->agent->name;
	int pid = (int)find->process.pid;
	if (is_below(getpid(), find->process.pid))
		return error_set(
			err, ERROR_INVALID,
			"this command runs inside that agent (process %d): run it in another "
			"terminal",
			pid);
	if (!process_alive(&find->process))
		return error_set(err, ERROR_NOT_FOUND, "process %d has ended", pid);
	if (find->owner)
		return error_set(err, ERROR_EXISTS, "%s (process %d): %s", name, pid, find->doubt);
	if (find->doubt && !wish->session_id && !wish->fresh)
		return error_set(err, ERROR_INVALID, "%s (process %d): %s; %s--fresh for a new one",
				 name, pid, find->doubt,
				 find->agent->resume.count ? "say which with --session-id ID, or "
							   : "say ");
	if (wish->session_id && wish->fresh)
		return error_set(err, ERROR_USAGE, "--session-id and --fresh cannot be combined");
	return build_argv(find, &argv, err);
}

/* The id that the agent says takes precedence over the one that we found. */
static int hear(struct deck *deck, const struct farewell *farewell, const struct adopt_find *find,
		struct instance *added, struct error *err)
{
	cleanup_free char *id = NULL;
	int r = farewell_hear(farewell, &id, err);
	bool must = find->source == ADOPT_LAST_WORDS;
	if (r < 0 && must)
		return -1;
	if (r == FAREWELL_STAYED && must)
		return error_set(
			err, ERROR_TIMEOUT,
			"%s (process %d) did not end when asked, so its conversation is unknown; "
			"it is still running. End it yourself, or name the conversation with "
			"--session-id ID, or begin a new one with --fresh",
			find->agent->name, (int)find->process.pid);
	if (r == 0 && !id && must)
		return ADOPT_UNNAMED;
	if (!id || naming_same_session_id(id, find->session_id))
		return 0;
	replace_string(&added->conversation.session_id, id);
	return lifecycle_set_session_id(deck, added->base, id, err);
}

static int end_process(struct deck *deck, const struct adopt_find *find, bool listens,
		       struct instance *added, struct error *err)
{
	const struct farewell farewell = farewell_of(deck, find);
	cleanup_free struct process_id *tree = NULL;
	size_t count = 0;
	int heard = 0;
	if (process_tree(&find->process, &tree, &count, err) < 0)
		return -1;
	if (listens)
		heard = hear(deck, &farewell, find, added, err);
	if (heard < 0)
		return -1;
	return farewell_end(&farewell, tree, count, err) < 0 ? -1 : heard;
}

int adopt_take(struct deck *deck, const struct adopt_find *find, const struct adopt_wish *wish,
	       struct instance **ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_instance struct instance *added = NULL;
	if (adopt_check(find, wish, err) < 0 || build_argv(find, &argv, err) < 0)
		return -1;
	bool listens = find->is_heard && !wish->session_id && !wish->fresh;
	/* The id is passed separately: the one in the arguments may be older. */
	const struct lifecycle_new new = {
		.title = wish->title,
		.group = wish->group,
		.directory = find->cwd,
		.agent = find->agent->name,
		.argv = &argv,
		.session_id = wish->session_id ? wish->session_id
			      : wish->fresh    ? NULL
					       : find->session_id,
		.gives_no_id = listens && !find->session_id,
		.config_home = find->config_home,
	};
	if (lifecycle_add(deck, &new, &added, err) < 0)
		return -1;
	struct operation operation = { .deck = deck, .instance = added };
	int r = place_find(added, &operation.place, err);
	if (r == 0)
		r = lifecycle_check_before_end(&operation, err);
	if (r == 0)
		r = end_process(deck, find, listens, added, err);
	if (r < 0) {
		(void)lifecycle_remove(deck, added->base, REMOVE_UNUSED, NULL);
		return -1;
	}
	*ret = TAKE_PTR(added);
	return r;
}
