/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/clock.h"
#include "engine/roster/roster.h"

#include <errno.h>

struct options {
	bool all_profiles;
};

static const struct command_option options[] = {
	{ 'a', "all-profiles", NULL, "of every profile, not only this one", TO_FLAG(all_profiles) },
	{ 0 },
};

struct stream {
	struct app *app;
	bool all_profiles;
	bool is_open; /* the sessions that exist at the beginning are no events */
	struct roster *roster;
	struct error *err;
	bool has_failed;
};

static void print_entry(const struct stream *stream, const struct roster_entry *entry,
			bool is_removed)
{
	char date[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_us(), date);
	if (stream->app->json) {
		cleanup_json struct json_object *object = json_of_entry(entry, is_removed);
		json_set_string(object, "time", date);
		print_json_line(object);
		return;
	}
	const char *activity = is_removed ? NULL : entry_activity(entry);
	cleanup_free char *title = visible(or_empty(entry->row.title));
	cleanup_free char *reason = visible(is_removed ? "" : or_empty(entry->view.reason));
	printf("%s  %s  %-8s %-8s %s%s%s%s%s\n", date, entry->row.id,
	       is_removed ? "removed" : view_status(&entry->view), activity ? activity : "-",
	       stream->all_profiles ? entry->profile : "", stream->all_profiles ? "/" : "", title,
	       *reason ? ": " : "", reason);
}

static void tell(const struct roster_event *event, void *context)
{
	const struct stream *stream = context;
	const bool is_removed = event->what == ROSTER_REMOVED;
	if (stream->is_open &&
	    (is_removed || event->what == ROSTER_ADDED || event->differs & ROSTER_SHOWN))
		print_entry(stream, event->entry, is_removed);
}

static void read_on(void *context)
{
	struct stream *stream = context;
	stream->has_failed = stream->has_failed || roster_read(stream->roster, stream->err) < 0;
}

static int run(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	struct stream stream = { .app = app, .all_profiles = given->all_profiles, .err = err };
	cleanup_loop struct loop *loop = NULL;
	cleanup_roster struct roster *roster = NULL;
	if (loop_new(&loop, err) < 0)
		return -1;
	const struct roster_wish wish = {
		.loop = loop,
		.due = read_on,
		.profile = stream.all_profiles ? NULL : app->deck.profile,
		.asks = true,
	};
	if (roster_open(&app->deck, &wish, tell, &stream, &roster, err) < 0)
		return -1;
	stream.roster = roster;
	for (read_on(&stream); !stream.has_failed;) {
		stream.is_open = true;
		if (fflush(stdout) != 0)
			return error_set_errno(err, errno, "print");
		if (output_turn(loop, INT64_MAX, err) < 0)
			return -1;
	}
	return -1;
}

const struct command command_events = {
	.name = "events",
	.arguments = "",
	.summary = "print what changes, as it changes",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
