/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/reply.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/conversation/unreported.h"
#include "engine/deck/hint.h"
#include "engine/workspace/setup.h"
#include "engine/workspace/tree.h"

#include "base/clock.h"
#include "driver/transcript/transcript.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/place/oom.h"
#include "engine/roster/statusline.h"
#include "engine/run/correct.h"
#include "engine/run/outside.h"
#include "engine/run/queue.h"
#include "engine/run/sleep.h"
#include "engine/run/work.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"
#include "model/plan/recreate.h"
#include "model/plan/restart.h"

#include <string.h>

struct options {
	bool verbose, recipe;
};

static const struct command_option options[] = {
	{ 'v', "verbose", NULL, "also show processes, files, the scope and the command lines",
	  TO_FLAG(verbose) },
	{ 0, "recipe", NULL, "show only how its container is made", TO_FLAG(recipe) },
	{ 0 },
};

enum { REPLY_LINES = 4, PROMPT_MAX = 200 /* bytes */ };

static void line(const char *name, const char *value)
{
	if (is_empty(value))
		return;
	cleanup_free char *shown = visible(value);
	printf("%-14s %s\n", name, shown);
}

static void PRINTF_LIKE(2, 3) linef(const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *value = xvasprintf(format, args);
	va_end(args);
	line(name, value);
}

static void lines(const char *name, const struct strvec *values)
{
	for (size_t i = 0; i < values->count; i++)
		line(i ? "" : name, values->items[i]);
}

/* ---- what is found out ------------------------------------------------------------------------- */

/* For lines and for JSON. */
struct show_facts {
	struct reply reply;
	struct shelf_about about; /* the words: their first line, without control characters */
	/* Not known: it does not run, or its server does not answer. */
	bool clients_are_known;
	struct terminal_clients clients;
	struct strvec inside; /* what runs in its container, also while the engine does not answer */
	struct strvec missing; /* environment_missing() */
	char *unreported;      /* why; NULL: it does report, or it is not known */
	bool is_open_beside;   /* outside_find_beside() */
	struct process_id beside;
	char *hint;
};

static void show_facts_free(struct show_facts *facts)
{
	reply_free(&facts->reply);
	shelf_about_free(&facts->about);
	terminal_clients_free(&facts->clients);
	strvec_clear(&facts->inside);
	strvec_clear(&facts->missing);
	free(facts->unreported);
	free(facts->hint);
}

/* The first line that is not empty, cut.  The caller frees; NULL: there is none. */
static char *first_line(const char *text)
{
	cleanup_strbuf struct strbuf clean = { 0 };
	(void)display_clean(text, strlen(text), &clean);
	const char *start = strbuf_text(&clean) + strspn(strbuf_text(&clean), " \t\n");
	size_t length = strcspn(start, "\n");
	if (length <= PROMPT_MAX)
		return length ? xstrndup(start, length) : NULL;
	for (length = PROMPT_MAX; !is_utf8(start, length);)
		length--;
	return xasprintf("%.*s ...", (int)length, start);
}

/* Nothing of it is known where the agent writes no transcript that agentdeck can read. */
static void read_transcript(struct app *app, const struct instance *instance,
			    struct show_facts *ret)
{
	if (reply_find(app, instance, &ret->reply, NULL) < 0 || !ret->reply.path ||
	    reply_describe(app, instance, ret->reply.path, &ret->about, NULL) != 0)
		return;
	cleanup_free char *words = ret->about.words;
	ret->about.words = words ? first_line(words) : NULL;
}

static void look(struct app *app, const struct instance *instance, struct show_facts *ret)
{
	const char *socket = instance->run.socket;
	const struct place_run run = place_run_of(instance);
	const struct agent *agent;
	ret->hint = hint_row(&app->deck, &app->rows, app->session);
	read_transcript(app, instance, ret);
	ret->clients_are_known = socket && place_presence(&run) == PRESENCE_ALIVE &&
				 !place_silence(&run) &&
				 (!terminal_has_clients(socket) ||
				  terminal_list_clients(socket, &ret->clients, NULL) == 0);
	if (place_home(instance))
		place_list_processes(&run, &ret->inside);
	environment_missing(instance, &ret->missing);
	if (deck_agent(&app->deck, instance->agent, &agent, NULL) == 0)
		ret->unreported = unreported_why(&app->deck, instance, agent);
	ret->is_open_beside = outside_find_beside(&app->deck, instance, &ret->beside);
}

/* The beginning of the last reply. */
static void print_reply(const struct show_facts *facts)
{
	cleanup_strbuf struct strbuf clean = { 0 };
	if (!facts->reply.text)
		return;
	(void)display_clean(facts->reply.text, strlen(facts->reply.text), &clean);
	cleanup_free char *text = strbuf_take(&clean);
	char *rest = text;
	int count = 0;
	for (const char *words; count < REPLY_LINES && (words = strsep(&rest, "\n"));)
		if (words[strspn(words, " \t")])
			line(count++ ? "" : "Last reply", words);
	if (count == REPLY_LINES && rest && rest[strspn(rest, " \t\n")])
		line("", "...");
}

/* ---- what is printed --------------------------------------------------------------------------- */

static struct json_object *json_of_exit(const struct exit_record *record)
{
	if (!record->present)
		return NULL;
	struct json_object *object = json_object_new_object();
	json_set(object, "signal", record->signal ? json_object_new_int(record->signal) : NULL);
	json_set(object, "exit_status", record->signal ? NULL : json_object_new_int(record->code));
	json_set_bool(object, "oom", record->oom);
	json_set_string(object, "oom_victim", record->oom_victim);
	json_set_string(object, "last_words", record->last_words);
	return object;
}

static struct json_object *json_of_clients(const struct show_facts *facts)
{
	if (!facts->clients_are_known)
		return NULL;
	struct json_object *list = json_object_new_array();
	for (size_t i = 0; i < facts->clients.count; i++) {
		const struct terminal_client *client = &facts->clients.items[i];
		struct json_object *one = json_object_new_object();
		json_set_string(one, "terminal", client->name);
		json_set_int(one, "columns", client->columns);
		json_set_int(one, "rows", client->rows);
		json_set_bool(one, "is_read_only", client->is_read_only);
		json_set_time(one, "attached_at", client->since_us);
		json_object_array_add(list, one);
	}
	return list;
}

static void add_restart(struct json_object *object, const struct app *app,
			const struct instance *instance)
{
	struct json_object *restart = json_make_object(object, "restart");
	const size_t count = instance->observed.restart_count;
	json_set_string(restart, "policy",
			restart_policy_name(restart_policy_of(instance, &app->deck.settings)));
	json_set_bool(restart, "is_default", instance->restart_policy == RESTART_DEFAULT);
	json_set_int(restart, "count", (int64_t)count);
	json_set_time(restart, "last_at", count ? instance->observed.restarts[count - 1] : 0);
}

static void add_sleep(struct json_object *object, const struct app *app,
		      const struct instance *instance)
{
	struct json_object *sleep = json_make_object(object, "sleep_after");
	json_set_string(sleep, "idle_for", lifecycle_sleep_after(&app->deck, instance));
	json_set_bool(sleep, "is_default", !instance->sleep_after);
}

static void add_end(struct json_object *object, const struct app *app,
		    const struct instance *instance)
{
	const struct ending *ending = &instance->ending;
	struct json_object *end = json_make_object(object, "on_end");
	json_set_string(end, "policy",
			end_policy_name(settings_end_policy(&app->deck.settings, instance)));
	json_set_bool(end, "is_default", instance->end_policy == END_DEFAULT);
	json_set_string(end, "stage",
			ending->stage == ENDING_NONE ? NULL : ending_stage_name(ending->stage));
	json_set_time(end, "stage_at", ending->at);
	json_set_string(end, "why", ending->why);
}

static struct json_object *json_of_all(struct app *app, const struct store_row *row,
				       const struct view *view, const struct instance *instance,
				       const struct show_facts *facts)
{
	struct json_object *object = json_of_row(row, view, app->deck.profile);
	const struct conversation *conversation = &instance->conversation;
	json_set_strings(object, "command", &instance->argv);
	json_set_string(object, "move_id", instance->move.id);
	/* claude_session_id and the like: scripts for older tools look for these names. */
	cleanup_free char *key = xasprintf("%s_session_id", instance->agent);
	json_set_string(object, key, conversation->session_id);
	json_set_string(object, "origin", session_origin_name(conversation->origin));
	json_set_strings(object, "previous_session_ids", &conversation->previous);
	json_set_string(object, "transcript_path", conversation->transcript_path);
	json_set_string(object, "model", facts->about.model);
	json_set_string(object, "first_prompt", facts->about.words);
	json_set_string(object, "launch_directory", instance_launch_directory(instance));
	json_set_bool(object, "first_turn_seen", conversation->first_turn_seen);
	json_set_string(object, "desired", instance_desired_name(instance->desired));
	json_add_run(object, instance);
	add_restart(object, app, instance);
	add_end(object, app, instance);
	add_sleep(object, app, instance);
	json_set(object, "clients", json_of_clients(facts));
	json_set(object, "exit", json_of_exit(&instance->observed.exit));
	json_set(object, "tree",
		 instance->workspace ? workspace_to_json(instance->workspace) : NULL);
	json_set(object, "recipe", recipe_to_json(instance->recipe));
	json_set_strings(object, "inside", &facts->inside);
	json_set_strings(object, "environment_missing", &facts->missing);
	json_set_string(object, "unreported", facts->unreported);
	json_set(object, "open_beside",
		 facts->is_open_beside ? json_object_new_int64(facts->beside.pid) : NULL);
	return object;
}

static void print_comeback(const struct instance *instance)
{
	char date[CLOCK_TEXT_SIZE];
	const struct comeback *comeback = &instance->came_back;
	const char *rung = comeback_rung(instance);
	if (!comeback->at)
		return;
	linef("  came back", "tier %u: %s%s%s, at %s", comeback->tier,
	      recreate_tier_text(comeback->tier), rung ? ", its agent by " : "", or_empty(rung),
	      clock_local(comeback->at, date));
	line("  lost", comeback->lost);
}

static void print_exit(const struct instance *instance)
{
	const struct exit_record *record = &instance->observed.exit;
	if (record->present && record->oom)
		line("Out of memory", record->oom_victim ? record->oom_victim : "the agent");
	if (!record->present || is_empty(record->last_words))
		return;
	cleanup_free char *words = xstrdup(record->last_words);
	char *rest = words;
	printf("Last words:\n");
	for (const char *text; (text = strsep(&rest, "\n"));) {
		cleanup_free char *shown = visible(text);
		if (*shown)
			printf("  | %s\n", shown);
	}
}

static void print_restart(const struct app *app, const struct instance *instance, const char *hint)
{
	char date[CLOCK_TEXT_SIZE];
	const size_t count = instance->observed.restart_count;
	linef("Restart", "%s%s",
	      restart_policy_name(restart_policy_of(instance, &app->deck.settings)),
	      instance->restart_policy == RESTART_DEFAULT ? " (default)" : "");
	if (count)
		linef("  restarts", "%zu of late, the last at %s", count,
		      clock_local(instance->observed.restarts[count - 1], date));
	if (instance->observed.held)
		linef("Held", "%s; once that is fixed: agentdeck start %s", instance->observed.held,
		      hint);
}

/* The branch has the agent's work in a tree that was freed since. */
static void print_freed(const struct instance *instance, const char *hint)
{
	const struct workspace *workspace = instance->workspace;
	if (!workspace || instance->ending.stage != ENDING_FREED)
		return;
	cleanup_free char *work = tree_work_text(workspace);
	cleanup_free char *range = xasprintf(
		"%s..%s", workspace->base_branch ? workspace->base_branch : workspace->base,
		workspace->branch);
	cleanup_free char *look = tree_git_text(workspace, "log", range);
	cleanup_free char *merge = tree_git_text(workspace, "merge", workspace->branch);
	line("Tree", work ? work : "freed when its agent ended");
	if (work) {
		line("  look at it", look);
		line("  merge it", merge);
	}
	linef("  get it back", "agentdeck start %s", hint);
}

static void print_sleep(const struct app *app, const struct instance *instance)
{
	const char *after = lifecycle_sleep_after(&app->deck, instance);
	if (!streq(after, "off"))
		linef("Sleeps", "when idle for %s%s", after,
		      instance->sleep_after ? "" : " (default)");
	else if (instance->sleep_after)
		line("Sleeps", "never");
}

static void print_queue(const struct app *app, const struct instance *instance)
{
	if (instance->queue_count)
		linef("Queued", "%zu: %s", instance->queue_count,
		      queue_why(lifecycle_queue_verdict(&app->deck, instance)));
}

static void print_end(const struct app *app, const struct instance *instance, const char *hint)
{
	/* Without these there is nothing to free. */
	if (instance->workspace || place_home(instance) || instance->end_policy != END_DEFAULT)
		linef("On end", "%s%s",
		      end_policy_name(settings_end_policy(&app->deck.settings, instance)),
		      instance->end_policy == END_DEFAULT ? " (default)" : "");
	print_freed(instance, hint);
	if (instance->ending.stage != ENDING_UNDECIDED)
		return;
	cleanup_free char *seen = xstrdup(or_empty(instance->ending.seen));
	char *rest = seen;
	line("Undecided", instance->ending.why);
	for (const char *text; (text = strsep(&rest, "\n"));)
		if (*text)
			printf("  | %s\n", text);
	linef("  go on", "agentdeck attach %s", hint);
	linef("  keep it", "agentdeck session set %s on-end keep", hint);
	linef("  give it up", "agentdeck remove --discard %s", hint);
}

static void print_shared(const struct view *view, const struct shared_conversation *shared)
{
	cleanup_free char *text = shared_conversation_text(shared);
	if (!text)
		return;
	if (view->note != VIEW_SHARING) {
		line("  was in", text);
		return;
	}
	line("  shares", text);
	linef("  for a copy", "agentdeck%s%s session fork %s", shared->profile ? " --profile " : "",
	      or_empty(shared->profile), or_empty(shared->owner));
}

/* "idle since 11:47". */
static char *status_text(const struct view *view)
{
	char since[CLOCK_TEXT_SIZE];
	cleanup_free char *text = view_text(view);
	const bool is_plain = state_is_running(view->state) && !view->is_silent &&
			      view->note != VIEW_SHARING;
	if (!is_plain || view->activity_since <= 0)
		return TAKE_PTR(text);
	return xasprintf("%s since %s", text,
			 clock_moment(view->activity_since, clock_wall_us(), since));
}

static void print_origin(const struct instance *instance)
{
	char date[CLOCK_TEXT_SIZE];
	cleanup_free char *command = visible_argv(strvec_argv(&instance->argv));
	line("Command", command);
	line("Origin", session_origin_name(instance->conversation.origin));
	line("Transcript", instance->conversation.transcript_path);
	line("  directory", instance->conversation.directory);
	for (size_t i = 0; i < instance->conversation.previous.count; i++)
		line("  earlier", instance->conversation.previous.items[i]);
	line("Created", clock_local(instance->created_at, date));
}

static void print_run(const struct instance *instance, const struct attempt *attempt)
{
	cleanup_free char *argv = visible_argv(strvec_argv(&attempt->argv));
	const struct place_run run = place_run_of(instance);
	cleanup_free char *cgroup = place_control_group(&run);
	line("Came back by", rung_name(attempt->rung));
	line("  because", attempt_why(attempt));
	line("  argv", argv);
	linef("Process", "%d (tmux server %d)", (int)instance->run.pane.pid,
	      (int)run_tmux_server(&instance->run)->pid);
	line("Scope", instance->run.unit ? instance->run.unit : "none: runs without isolation");
	line("Cgroup", cgroup);
	cleanup_free char *killed = cgroup && instance->run.unit
					    ? oom_text(oom_look(instance->run.directory, cgroup))
					    : NULL;
	line("Memory", killed);
	line("Socket", instance->run.socket);
}

static void print_container_limits(const struct recipe *recipe)
{
	cleanup_free char *memory = limit_text(LIMIT_MEMORY_MAX, recipe->memory);
	cleanup_free char *pids = limit_text(LIMIT_TASKS_MAX, recipe->pids);
	line("Memory", recipe->memory ? memory : NULL);
	line("Processes", recipe->pids ? pids : NULL);
	if (recipe->cpus > 0)
		linef("Processors", "%g", recipe->cpus);
}

/* NULL: it is its own, or it has none.  Borrowed from the rows. */
static const char *owner_title(const struct app *app, const struct instance *instance)
{
	const char *owner = instance_within(instance);
	for (size_t i = 0; owner && i < app->rows.count; i++)
		if (streq(app->rows.rows[i].base, owner))
			return app->rows.rows[i].title;
	return NULL;
}

static void print_recipe(const struct instance *instance)
{
	const struct recipe *recipe = instance->recipe;
	line("Container", recipe->within ? recipe->within : instance->base);
	line("  id", instance->container_id);
	line("Engine", recipe->engine);
	line("  address", recipe->address);
	line("  TLS", recipe->tls);
	line("  context", recipe->context);
	line("Image", recipe->image);
	line("  id", recipe->image_id);
	line("  kept as", recipe->keep_tag);
	line("Built from", recipe->build);
	line("  Dockerfile", recipe->build_file);
	line("  stage", recipe->build_target);
	lines("  arguments", &recipe->build_args);
	line("Role", recipe->role);
	line("  ref", recipe->role_ref);
	line("  commit", recipe->role_commit);
	line("User", recipe->user);
	line("Home", recipe->home);
	line("Directory", recipe->directory);
	line("  also at", recipe->workspace);
	for (size_t i = 0; i < recipe->mount_count; i++) {
		const struct recipe_mount *mount = &recipe->mounts[i];
		linef(i ? "" : "Mounts", "%s at %s%s", mount->source, mount->target,
		      mount->read_only ? ", read-only" : "");
	}
	lines("Variables", &recipe->environment);
	for (size_t i = 0; i < recipe->secret_count; i++)
		linef(i ? "" : "Secrets", "%s from %s", recipe->secrets[i].name,
		      recipe->secrets[i].source);
	const char *program = recipe_program_mount(recipe);
	line("Program", program ? program : "of the image");
	line("Login", recipe_login_name(recipe->login));
	for (size_t i = 0; i < recipe->slot_count; i++)
		linef(i ? "" : "More logins", "%s: %s", recipe->slots[i].name,
		      recipe_login_name(recipe->slots[i].login));
	line("Network", recipe->network ? recipe->network : "shared");
	lines("Capabilities", &recipe->cap_add);
	line("Docker inside", recipe->docker ? recipe_docker_name(recipe->docker) : NULL);
	print_container_limits(recipe);
}

/* A freed tree has lines of its own. */
static void print_work(const struct instance *instance, const char *hint)
{
	const struct seen_work *seen = &instance->workspace->seen;
	char date[CLOCK_TEXT_SIZE];
	if (!seen->at || instance->ending.stage == ENDING_FREED)
		return;
	cleanup_free char *work = seen_work_text(seen);
	linef("  work", "%s, at %s: agentdeck changes %s", work, clock_local(seen->at, date), hint);
	line("  request", seen->request.url);
}

static void print_workspace(struct app *app, const struct instance *instance, const char *hint)
{
	const struct workspace *workspace = instance->workspace;
	if (!workspace)
		return;
	linef("  made as", "%s of %s", workspace_kind_name(workspace->kind), workspace->source);
	line("  branch", workspace->branch);
	print_work(instance, hint);
	if (workspace->setup == SETUP_NONE)
		return;
	cleanup_free char *log = setup_log(&app->deck, instance);
	if (workspace->setup == SETUP_FAILED)
		linef("  setup", "failed, see %s", log);
	else
		line("  setup", "runs before its first start");
}

static void print_missing(const struct show_facts *facts)
{
	if (!facts->missing.count)
		return;
	cleanup_free char *names = strvec_join(&facts->missing, ", ");
	linef("Lacks", "%s: set at its last start by hand, not now", names);
	linef("  get them", "agentdeck session restart %s, where they are set", facts->hint);
}

static void print_sight(const struct instance *instance)
{
	char date[CLOCK_TEXT_SIZE];
	const int64_t archived_at = instance_archived_at(instance);
	line("Tags", instance->tags);
	line("Pinned", instance->is_pinned ? "yes" : NULL);
	line("Archived", archived_at ? clock_local(archived_at, date) : NULL);
}

static void print_instance(struct app *app, const struct store_row *row, const struct view *view,
			   const struct instance *instance, const struct show_facts *facts)
{
	const struct options *given = app->options;
	const struct attempt *attempt = run_attempt(&instance->run);
	const bool is_live = attempt && place_is_live(&row->run);
	cleanup_free char *status = status_text(view);
	cleanup_free char *clients = terminal_clients_text(&facts->clients);
	line("Title", instance->title);
	line("Id", instance->id);
	line("  copy of", instance->copy_of);
	line("Status", status);
	line("Directory", instance_lookup_directory(instance));
	print_workspace(app, instance, facts->hint);
	line("Group", instance->group);
	line("Notes", instance->notes);
	print_sight(instance);
	line("Agent", instance->agent);
	const char *within = instance_within(instance);
	line("Container", !place_home(instance) ? NULL : within ? within : instance->base);
	line("  of session", owner_title(app, instance));
	print_comeback(instance);
	lines("  runs inside", &facts->inside);
	line("Model", facts->about.model);
	line("Conversation", instance->conversation.session_id);
	print_shared(view, &instance->conversation.shared);
	line("Note", is_live ? instance->run.history_note : NULL);
	print_missing(facts);
	if (facts->unreported)
		linef("Reports", "none: %s", facts->unreported);
	if (facts->is_open_beside)
		linef("Also open in",
		      "process %d, which agentdeck did not start: end one of the two",
		      (int)facts->beside.pid);
	line("First prompt", facts->about.words);
	print_reply(facts);
	if (given->verbose)
		print_origin(instance);
	if (given->verbose && is_live)
		print_run(instance, attempt);
	print_queue(app, instance);
	line("Attached", clients);
	print_restart(app, instance, facts->hint);
	print_end(app, instance, facts->hint);
	print_sleep(app, instance);
	print_exit(instance);
	linef("Go to it with", "agentdeck attach %s", facts->hint);
}

/* What cannot be seen now is shown as it was. */
static void look_at_work(struct app *app, struct instance *instance, struct store_row *row)
{
	if (!instance->workspace || !instance->workspace->is_made)
		return;
	work_look_again(&app->deck, instance, true);
	row->seen = instance->workspace->seen;
}

static int cmd_session_show(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const struct store_row *row = app->session;
	cleanup_instance struct instance *instance = NULL;
	if (row->damage)
		return error_set(err, ERROR_CORRUPT, "%s", row->damage);
	(void)correct_row(&app->deck, app->deck.store, row);
	if (deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	if (given->recipe && !place_home(instance))
		return error_set(err, ERROR_INVALID,
				 "%s has no recipe: it lives on this host, not in a container",
				 instance->title);
	if (given->recipe && !app->json) {
		print_recipe(instance);
		return 0;
	}
	view_ask(&app->deck, instance);
	statusline_look(&app->deck, app->deck.store, row);
	struct store_row now = *row;
	look_at_work(app, instance, &now);
	cleanup_view struct view view = view_of(row);
	CLEANUP(show_facts_free) struct show_facts facts = { 0 };
	look(app, instance, &facts);
	if (app->json) {
		cleanup_json struct json_object *object = json_of_all(app, &now, &view, instance,
								      &facts);
		print_json(object);
	} else {
		print_instance(app, row, &view, instance, &facts);
	}
	return 0;
}

/* Find the session of this pane, by our environment or else by our tmux server. */
static int cmd_session_current(struct app *app, struct error *err)
{
	const char *id = deck_env_instance();
	if (store_list(app->deck.store, &app->rows, err) < 0)
		return -1;
	for (size_t i = 0; i < app->rows.count; i++) {
		const struct store_row *row = &app->rows.rows[i];
		bool by_id = id && streq(row->id, id);
		bool by_socket = row->run.socket && terminal_is_own(row->run.socket);
		if (by_id || by_socket) {
			app->session = row;
			return cmd_session_show(app, err);
		}
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "this terminal is not in a session of profile %s: see "
			 "agentdeck list",
			 app->deck.profile);
}

const struct command command_session_show = {
	.name = "session show",
	.kind = COMMAND_READS,
	.arguments = "SESSION",
	.summary = "show what a session does, and how to get back to it",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_show,
};

const struct command command_session_current = {
	.name = "session current",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "show the session that this terminal is in",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_session_current,
};
