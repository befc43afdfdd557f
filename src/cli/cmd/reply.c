/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/reply.h"

#include "base/clock.h"
#include "base/watch.h"
#include "cli/show/output.h"
#include "engine/conversation/location.h"
#include "engine/screen/said.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

void reply_free(struct reply *reply)
{
	free(reply->text);
	free(reply->time);
	free(reply->path);
	*reply = (struct reply){ 0 };
}

/* The transcript of its conversation, also if the user's home directory was moved since its last
 * start. */
static int find_transcript(struct app *app, const struct instance *instance, struct transcript *ret,
			   const struct agent_files **ret_files, struct error *err)
{
	const struct agent *agent;
	if (deck_agent(&app->deck, instance->agent, &agent, err) < 0)
		return -1;
	struct instance now = *instance;
	struct conversation *conversation = &now.conversation;
	conversation->config_home = xstrdup_or_null(conversation->config_home);
	conversation->transcript_path = xstrdup_or_null(conversation->transcript_path);
	(void)location_settle_home(&app->deck, &now, agent);
	const int r = said_find(&app->deck, &now, ret, ret_files, err);
	free(conversation->config_home);
	free(conversation->transcript_path);
	return r > 0 ? REPLY_NONE : r;
}

int reply_find(struct app *app, const struct instance *instance, struct reply *ret,
	       struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_reply struct reply reply = { 0 };
	const struct agent_files *files;
	int r = find_transcript(app, instance, &found, &files, err);
	if (r == 0) {
		reply.path = xstrdup(found.path);
		r = shelf_last_reply(files, found.path, &reply.text, &reply.time, err);
	}
	if (r < 0)
		return -1;
	*ret = reply;
	reply = (struct reply){ 0 };
	return r > 0 ? REPLY_NONE : 0;
}

int reply_turns(struct app *app, const struct instance *instance, size_t max,
		struct transcript_turns *ret, struct error *err)
{
	cleanup_transcript struct transcript found = { 0 };
	const struct agent_files *files;
	int r = find_transcript(app, instance, &found, &files, err);
	if (r == 0)
		r = shelf_last_turns(files, found.path, max, ret, err);
	return r > 0 ? REPLY_NONE : r;
}

int reply_describe(struct app *app, const struct instance *instance, const char *path,
		   struct shelf_about *ret, struct error *err)
{
	const struct agent *agent;
	if (deck_agent(&app->deck, instance->agent, &agent, err) < 0)
		return -1;
	const int r = shelf_describe(agent_find_files(agent), path, ret, err);
	return r > 0 ? REPLY_NONE : r;
}

bool reply_is_new(const struct reply *reply, const struct reply *before)
{
	return reply->text && (!streq(reply->text, or_empty(before->text)) ||
			       !streq(or_empty(reply->time), or_empty(before->time)) ||
			       !streq(or_empty(reply->path), or_empty(before->path)));
}

struct following {
	struct app *app;
	struct loop *loop;
	struct roster *roster;
	struct loop_source *source;
	char *path; /* that is watched; NULL: none */
	int watch;
	bool has_failed;
	struct error *err;
};

static void following_end(struct following *following)
{
	loop_remove(following->source);
	if (following->watch >= 0)
		(void)close(following->watch);
	roster_close(following->roster);
	loop_free(following->loop);
	free(following->path);
}

static void read_on(void *context)
{
	struct following *following = context;
	following->has_failed = following->has_failed ||
				roster_read(following->roster, following->err) < 0;
}

static void on_write(int fd, uint32_t events UNUSED, void *context UNUSED)
{
	watch_drain(fd);
}

/* /clear and the like begin another transcript. */
static int watch_transcript(struct following *following, const char *path, struct error *err)
{
	if (!path || streq(path, or_empty(following->path)))
		return 0;
	loop_remove(TAKE_PTR(following->source));
	if (following->watch >= 0)
		(void)close(following->watch);
	following->watch = watch_open(path, IN_MODIFY | IN_CLOSE_WRITE);
	replace_string(&following->path, following->watch >= 0 ? path : NULL);
	if (following->watch < 0)
		return 0;
	return loop_add_io(following->loop,
			   &(struct loop_io){ following->watch, EPOLLIN, on_write, following },
			   &following->source, err);
}

static int look(struct following *following, const struct store_row *row, reply_handler handler,
		void *context, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_reply struct reply reply = { 0 };
	if (roster_count(following->roster) == 0)
		return error_set(err, ERROR_NOT_FOUND, "the session was removed meanwhile");
	if (deck_load(&following->app->deck, row->base, &instance, err) < 0)
		return -1;
	int r = reply_find(following->app, instance, &reply, err);
	const bool is_watched = following->path && streq(following->path, or_empty(reply.path));
	if (r < 0 || watch_transcript(following, reply.path, err) < 0)
		return -1;
	/* What was written between the reading and the watch. */
	if (!is_watched && reply.path) {
		reply_free(&reply);
		r = reply_find(following->app, instance, &reply, err);
	}
	const struct reply_view view = {
		.instance = instance,
		.reply = r == 0 ? &reply : NULL,
		.view = &roster_at(following->roster, 0)->view,
	};
	return r < 0 ? -1 : handler(&view, context, err);
}

int reply_follow(struct app *app, const struct store_row *row, int64_t deadline_ms,
		 reply_handler handler, void *context, struct error *err)
{
	cleanup_strvec struct strvec ids = { 0 };
	CLEANUP(following_end) struct following following;
	following = (struct following){ .app = app, .watch = -1, .err = err };
	strvec_push(&ids, row->id);
	if (loop_new(&following.loop, err) < 0)
		return -1;
	const struct roster_order order = { .loop = following.loop,
					    .due = read_on,
					    .profile = app->deck.profile,
					    .ids = &ids,
					    .looks = ROSTER_LOOKS,
					    .asks = true };
	if (roster_open(&app->deck, &order, NULL, &following, &following.roster, err) < 0)
		return -1;
	read_on(&following);
	while (!following.has_failed) {
		int r = look(&following, row, handler, context, err);
		if (r != 0)
			return r;
		if (fflush(stdout) != 0)
			return error_set(err, ERROR_SYSTEM, "standard output cannot be written");
		if (clock_ms() >= deadline_ms)
			return error_set(err, ERROR_TIMEOUT,
					 "no reply came in time: see it with "
					 "agentdeck output, or wait with a "
					 "longer --timeout");
		if (output_turn(following.loop, deadline_ms, err) < 0)
			return -1;
	}
	return -1;
}
