/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

#include "base/clock.h"
#include "driver/service.h"
#include "engine/changes.h"

#include <errno.h>
#include <poll.h>

static void client_closep(struct service_client **client)
{
	service_client_close(*client);
}

struct stream {
	struct app *app;
	bool all_profiles;
	struct changes_memory memory;
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

static int flush(struct error *err)
{
	return fflush(stdout) == 0 ? 0 : error_set_errno(err, errno, "print");
}

/* What the user has been told of each session, whoever told us. */
static void tell(const struct change *change, void *context)
{
	struct stream *stream = context;
	cleanup_free char *title = NULL;
	struct change told = *change;
	/* Of one that is removed the bus tells the id only. */
	for (size_t i = 0; i < stream->memory.count && !told.title; i++)
		if (streq(stream->memory.items[i].id, told.id))
			told.title = title = xstrdup_or_null(stream->memory.items[i].title);
	if (changes_remember(&stream->memory, change))
		print_change(&told, stream);
}

static void remember(const struct change *change, void *context)
{
	struct stream *stream = context;
	(void)changes_remember(&stream->memory, change);
}

static void hear(const struct service_session *session, void *context)
{
	struct stream *stream = context;
	const bool is_own = !session->profile || streq(session->profile, stream->app->deck.profile);
	const struct change change = {
		.profile = session->profile,
		.id = session->id,
		.title = session->title,
		.state = session->status,
		.activity = session->activity,
		.reason = session->reason,
		.since_us = session->activity_since_us ? session->activity_since_us : session->since_us,
	};
	if (is_own || stream->all_profiles)
		tell(&change, stream);
}

/* SERVICE_ABSENT: the supervisor has gone. */
static int follow_supervisor(struct stream *stream, struct service_client *client, struct error *err)
{
	for (;;) {
		int r = service_client_read(client, hear, stream, err);
		if (r != 0 || (r = flush(err)) != 0)
			return r;
		struct pollfd wait = { .fd = service_client_descriptor(client), .events = POLLIN };
		const int64_t deadline = service_client_deadline(client);
		if (poll(&wait, 1, deadline == INT64_MAX ? -1 : clock_left_ms(deadline)) < 0 && errno != EINTR)
			return error_set_errno(err, errno, "wait for the user bus");
	}
}

static int follow_files(struct stream *stream, struct changes *changes, struct error *err)
{
	for (;;)
		if (changes_wait(changes, INT64_MAX, tell, stream, err) < 0 || flush(err) < 0)
			return -1;
}

static int stream_all(struct stream *stream, struct error *err)
{
	cleanup_changes struct changes *changes = NULL;
	CLEANUP(client_closep) struct service_client *client = NULL;
	struct deck *deck = &stream->app->deck;
	const struct changes_wish wish = { .all_profiles = stream->all_profiles };
	/* The one who tells comes before the look, so that nothing falls between them. */
	int r = service_client_open(deck->paths.user_runtime, deck->paths.state, &client, NULL);
	const bool has_supervisor = r == 0;
	if (changes_open(deck, &wish, &changes, err) < 0)
		return -1;
	changes_each(changes, remember, stream);
	if (has_supervisor) {
		changes_close(TAKE_PTR(changes));
		r = follow_supervisor(stream, client, err);
		if (r != SERVICE_ABSENT || changes_open(deck, &wish, &changes, err) < 0)
			return -1;
		changes_each(changes, tell, stream);
	}
	return follow_files(stream, changes, err);
}

static int run(struct app *app, struct error *err)
{
	struct stream stream = { .app = app, .all_profiles = option_given(app, "all-profiles") };
	int r = stream_all(&stream, err);
	changes_memory_free(&stream.memory);
	return r;
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
		"A supervisor that is at work tells it over the user bus; else files and processes are followed.\n\n"
		"Screens are not looked at for this: of an agent without reports a change is told when another\n"
		"command (status, session show) has looked.",
	.options = options,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
