/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The commands of a role: some run once in each container, others at each start of it, and all of
 * them before the agent.  What is begun is noted before, so that no command runs twice for one such
 * event, also after a kill.
 */
#include "engine/place/container/container-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/deck/stages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define NOTE   "commands.json"
#define OUTPUT "commands.log"
enum { MAX_NOTE = 64 << 10, MAX_OUTPUT = 1 << 20 };

struct events {
	struct deck *deck;
	struct instance *instance;
	int directory; /* the session's, which no agent can write */
	/* "container", "start": the last ones; "of_container", "of_start": how many commands were
	 * begun for each; "running": the number of one that has not ended */
	struct json_object *note;
};

static void events_clear(struct events *events)
{
	json_object_put(events->note);
	if (events->directory >= 0)
		(void)close(events->directory);
}

static char *directory_of(const struct events *events)
{
	return xasprintf("%s/%s/%s", events->deck->paths.state, events->deck->profile,
			 events->instance->base);
}

static int open_events(struct events *events, struct error *err)
{
	cleanup_free char *path = directory_of(events);
	cleanup_strbuf struct strbuf text = { 0 };
	events->directory = fs_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (events->directory < 0)
		return error_set_file(err, errno, "open %s", path);
	const int r = fs_read(events->directory, NOTE, MAX_NOTE, &text, err);
	if (r < 0)
		return -1;
	if (r != 0) {
		events->note = json_object_new_object();
		return 0;
	}
	if (json_parse(strbuf_text(&text), text.length, NOTE, &events->note, err) < 0)
		return -1;
	return json_object_is_type(events->note, json_type_object)
		       ? 0
		       : error_set(err, ERROR_CORRUPT, "%s/" NOTE " is not an object: delete it",
				   path);
}

static int save(const struct events *events, struct error *err)
{
	const char *text = json_print(events->note);
	return fs_replace(events->directory, NOTE, text, strlen(text), FS_DURABLE, err);
}

/* The life of the container's first process: a container that was started again has another. */
static char *start_of(const struct instance *instance)
{
	const struct process_id *capsule = &instance->run.server;
	return xasprintf("%s %d %llu", process_boot_id(), (int)capsule->pid,
			 (unsigned long long)capsule->start);
}

/* ---- one command ----------------------------------------------------------------------------- */

static void keep_output(const struct events *events, const struct recipe_command *command,
			const struct child_result *result)
{
	cleanup_free char *words = visible_argv(command->argv.items);
	cleanup_strbuf struct strbuf text = { 0 };
	char now[CLOCK_TEXT_SIZE];
	(void)fs_read(events->directory, OUTPUT, MAX_OUTPUT, &text, NULL);
	strbuf_addf(&text, "%s %s: %s\n", clock_format(clock_wall_us(), now), command->when, words);
	strbuf_add(&text, strbuf_text(&result->output), result->output.length);
	stages_say(events->deck, strbuf_text(&result->output));
	const size_t cut = text.length > MAX_OUTPUT ? text.length - MAX_OUTPUT : 0;
	(void)fs_replace(events->directory, OUTPUT, text.data + cut, text.length - cut, FS_VOLATILE,
			 NULL);
}

static int run_command(const struct events *events, const struct recipe_command *command,
		       const struct place_order *order, struct capsule *capsule, struct error *err)
{
	const struct place_command wish = {
		.order = order,
		.argv = &command->argv,
		.is_users = true,
		.timeout_ms = (int)(events->deck->settings.setup_timeout_s * 1000),
	};
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *path = directory_of(events);
	log_info("%s of the role", command->when);
	stages_enter(events->deck, STAGE_WORKSPACE);
	const int r = container_run_in(capsule, events->deck, events->instance, &wish, &result,
				       err);
	/* Also the output of a command that timed out. */
	keep_output(events, command, &result);
	if (r < 0)
		return error_prefix(err, "%s of the role", command->when);
	return result.exit_status == 0
		       ? 0
		       : error_set(err, ERROR_CHILD,
				   "%s of the role ended with status %d, and its output is in "
				   "%s/" OUTPUT ": start the session again to continue without it",
				   command->when, result.exit_status, path);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Run the commands of one kind, from the first that has not begun.  begun: the key of the note that
 * counts them. */
static int run_commands(const struct events *events, bool is_of_start, const char *begun,
			const struct place_order *order, struct capsule *capsule, struct error *err)
{
	const struct recipe *recipe = events->instance->recipe;
	for (size_t i = (size_t)json_get_int(events->note, begun, 0); i < recipe->command_count;
	     i++) {
		if (recipe->commands[i].is_of_start != is_of_start)
			continue;
		json_set_int(events->note, begun, (int64_t)i + 1);
		json_set_int(events->note, "running", (int64_t)i + 1);
		if (save(events, err) < 0)
			return -1;
		const int r = run_command(events, &recipe->commands[i], order, capsule, err);
		json_object_object_del(events->note, "running");
		if (save(events, r < 0 ? NULL : err) < 0 || r < 0)
			return -1;
	}
	return 0;
}

/* Another one than that of the last time: nothing of it was begun. */
static void note_event(const struct events *events, const char *key, const char *now,
		       const char *begun)
{
	if (streq(json_get_string(events->note, key, ""), now))
		return;
	json_set_string(events->note, key, now);
	json_set_int(events->note, begun, 0);
}

/* Warn only of commands for the container: those of a start run again. */
static void warn_of_interrupted(const struct events *events)
{
	const struct recipe *recipe = events->instance->recipe;
	const int64_t number = json_get_int(events->note, "running", 0);
	if (number < 1 || (size_t)number > recipe->command_count ||
	    number != json_get_int(events->note, "of_container", 0))
		return;
	json_object_object_del(events->note, "running");
	(void)save(events, NULL);
	deck_warn(events->deck,
		  "%s of the role was interrupted, and does not run again in this container: "
		  "agentdeck session eject %s frees it, and the next start runs all commands",
		  recipe->commands[number - 1].when, events->instance->id);
}

int events_run(struct deck *deck, struct instance *instance, const struct place_order *order,
	       struct capsule *capsule, struct error *err)
{
	CLEANUP(events_clear)
	struct events events = { .deck = deck, .instance = instance, .directory = -1 };
	cleanup_free char *start = start_of(instance);
	if (!instance->recipe->command_count)
		return 0;
	if (open_events(&events, err) < 0)
		return -1;
	note_event(&events, "container", or_empty(instance->container_id), "of_container");
	note_event(&events, "start", start, "of_start");
	warn_of_interrupted(&events);
	return run_commands(&events, false, "of_container", order, capsule, err) < 0
		       ? -1
		       : run_commands(&events, true, "of_start", order, capsule, err);
}
