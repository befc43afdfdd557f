/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

#include "base/clock.h"
#include "engine/changes.h"

#include <errno.h>

struct stream {
	const struct app *app;
	bool all_profiles;
};

static void print_change(const struct change *change, void *context)
{
	const struct stream *stream = context;
	char date[CLOCK_TEXT_SIZE];
	clock_format(clock_wall_us(), date);
	if (stream->app->json) {
		cleanup_json struct json_object *object = json_of_change(change);
		json_set_string(object, "time", date);
		print_json_line(object);
		return;
	}
	cleanup_free char *title = visible(or_empty(change->title));
	cleanup_free char *reason = visible(or_empty(change->reason));
	printf("%s  %s  %-8s %-8s %s%s%s%s%s\n", date, change->id, change->state,
	       change->activity ? change->activity : "-", stream->all_profiles ? change->profile : "",
	       stream->all_profiles ? "/" : "", title, *reason ? ": " : "", reason);
}

static int run(struct app *app, struct error *err)
{
	cleanup_changes struct changes *changes = NULL;
	struct stream stream = { .app = app, .all_profiles = option_given(app, "all-profiles") };
	const struct changes_wish wish = { .all_profiles = stream.all_profiles };
	if (changes_open(&app->deck, &wish, &changes, err) < 0)
		return -1;
	for (;;) {
		if (changes_wait(changes, INT64_MAX, print_change, &stream, err) < 0)
			return -1;
		if (fflush(stdout) != 0)
			return error_set_errno(err, errno, "print");
	}
}

static const struct command_option options[] = {
	{ 'a', "all-profiles", NULL, "of every profile, not only this one" },
	{ 0 },
};

const struct command command_events = {
	.name = "events",
	.arguments = "",
	.summary = "print what changes, as it changes",
	.description =
		"A line for each change of a session, until it is interrupted: when, its id, its state, what its\n"
		"agent is doing, its title, and why.  Nothing is printed of what was before.  With --json a line is\n"
		"an object with the members id, title, profile, status, activity, reason, since and time.  A\n"
		"session that is removed has the status removed.\n\n"
		"Screens are not looked at for this: of an agent without reports a change is told when another\n"
		"command (status, session show) has looked.",
	.options = options,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
