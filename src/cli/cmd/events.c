/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/clock.h"
#include "engine/supervise/supervise.h"

#include <errno.h>

struct options {
	bool all_profiles;
};

static const struct command_option options[] = {
	{ 'a', "all-profiles", NULL, "of every profile, not only this one", TO_FLAG(all_profiles) },
	OPTION_ALL_HOSTS,
	{ 0 },
};

struct stream {
	struct app *app;
	bool all_profiles;
	bool is_open; /* the snapshot is printed: what comes now is a change */
	struct roster *roster;
	struct error *err;
	bool has_failed;
};

static const char snapshot[] = "snapshot";

/* event: what it is with --json. */
static void print_entry(const struct stream *stream, const struct roster_entry *entry,
			const char *event)
{
	const bool is_removed = streq(event, "removed");
	const struct facts facts = facts_of(entry);
	if (stream->app->json) {
		cleanup_json_writer struct json_writer writer = { .is_line = true };
		json_write_begin(&writer, NULL, '{');
		json_write_facts(&writer, &facts, is_removed);
		json_write_string(&writer, "event", event);
		json_write_time(&writer, "seen_at", clock_wall_us());
		json_write_stamped_end(&writer);
		puts(writer.text.data);
		return;
	}
	char date[CLOCK_TEXT_SIZE];
	const char *activity = is_removed ? NULL : facts.activity;
	cleanup_free char *title = visible(or_empty(facts.title));
	cleanup_free char *reason = visible(is_removed ? "" : or_empty(facts.reason));
	printf("%s  %s  %-8s %-8s %s%s%s%s%s\n", clock_local(clock_wall_us(), date), facts.key.id,
	       is_removed ? "removed" : facts.status, activity ? activity : "-",
	       stream->all_profiles ? facts.key.profile : "", stream->all_profiles ? "/" : "",
	       title, *reason ? ": " : "", reason);
}

/* The sessions as the first reading left them: so nothing of it is printed twice, and the roster
 * tells what has changed since. */
static void print_snapshot(const struct stream *stream)
{
	const size_t count = roster_count(stream->roster);
	for (size_t i = 0; i < count; i++)
		print_entry(stream, roster_at(stream->roster, i), snapshot);
	if (stream->app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_string(object, "event", "snapshot_complete");
		json_set_int(object, "count", (int64_t)count);
		json_set_time(object, "seen_at", clock_wall_us());
		print_json_line(object);
		return;
	}
	printf("-- %zu session%s; changes follow --\n", count, count == 1 ? "" : "s");
}

static void tell(const struct roster_event *event, void *context)
{
	const struct stream *stream = context;
	const unsigned wanted = stream->app->json ? ROSTER_SHOWN | ROSTER_LISTED | ROSTER_HELD
						  : ROSTER_SHOWN;
	if (!stream->is_open)
		return;
	if (event->what == ROSTER_REMOVED)
		print_entry(stream, event->entry, "removed");
	else if (event->what == ROSTER_ADDED)
		print_entry(stream, event->entry, "added");
	else if (event->differs & wanted)
		print_entry(stream, event->entry, "changed");
}

static void read_on(void *context)
{
	struct stream *stream = context;
	stream->has_failed = stream->has_failed || roster_read(stream->roster, stream->err) < 0;
}

static int cmd_events(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	struct stream stream = { .app = app, .all_profiles = given->all_profiles, .err = err };
	cleanup_loop struct loop *loop = NULL;
	cleanup_roster struct roster *roster = NULL;
	if (loop_new(&loop, err) < 0)
		return -1;
	const struct roster_order order = {
		.loop = loop,
		.due = read_on,
		.profile = stream.all_profiles ? NULL : app->deck.profile,
		.looks = supervise_is_running(&app->deck) ? ROSTER_LOOKS_NOT : ROSTER_LOOKS,
		.asks = true,
	};
	if (roster_open(&app->deck, &order, tell, &stream, &roster, err) < 0)
		return -1;
	stream.roster = roster;
	read_on(&stream);
	if (!stream.has_failed)
		print_snapshot(&stream);
	for (stream.is_open = true; !stream.has_failed;) {
		if (fflush(stdout) != 0)
			return error_set_errno(err, errno, "print");
		if (output_turn(loop, INT64_MAX, err) < 0)
			return -1;
	}
	return -1;
}

const struct command command_events = {
	.name = "events",
	.kind = COMMAND_FOLLOWS,
	.arguments = "",
	.summary = "print the sessions as they are, then each change",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON | JSON_LINES,
	.run = cmd_events,
};
