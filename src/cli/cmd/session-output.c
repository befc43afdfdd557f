/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/reply.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"

#include "base/clock.h"
#include "engine/place/alive.h"
#include "engine/run/start.h"
#include "engine/screen/screen.h"
#include "model/agent/display.h"

#include <string.h>

struct options {
	bool pane, follow;
	int64_t lines; /* 0: all of the reply; with pane: the screen alone */
	int64_t turns; /* 0: the last reply */
};

static const struct command_option options[] = {
	{ 0, "pane", NULL, "its screen, instead of its last reply", TO_FLAG(pane),
	  .kind = COMMAND_CHANGES },
	{ 'f', "follow", NULL, "print each further reply as it comes, until Ctrl-C",
	  TO_FLAG(follow), .kind = COMMAND_FOLLOWS },
	{ 'n', "lines", "N", "only the last N lines of the reply; with --pane: and N lines above",
	  TO_NUMBER(lines, 1, 1000000) },
	{ 0, "turns", "N", "the last N turns of the conversation, instead of the last reply",
	  TO_NUMBER(turns, 1, 1000) },
	{ 0 },
};

/* Returns the text without control characters and without empty lines at the end.  lines: only so
 * many of the last lines; 0: all.  The caller frees. */
static char *tidy(const char *text, unsigned lines)
{
	cleanup_strbuf struct strbuf clean = { 0 };
	(void)display_clean(text, strlen(text), &clean);
	while (clean.length && strchr(" \t\n", clean.data[clean.length - 1]))
		clean.data[--clean.length] = '\0';
	size_t start = clean.length;
	for (unsigned seen = 0; start > 0; start--)
		if (clean.data[start - 1] == '\n' && lines && ++seen == lines)
			break;
	return xstrdup(strbuf_text(&clean) + start);
}

static int pane_text(struct deck *deck, const struct instance *instance, unsigned lines, char **ret,
		     struct error *err)
{
	cleanup_free char *screen = NULL;
	cleanup_free char *title = visible(instance->title);
	if (place_check_here(deck, instance, err) < 0)
		return -1;
	int r = screen_text(deck, instance, lines, &screen, err);
	if (r < 0)
		return -1;
	if (r == 0) {
		*ret = tidy(screen, 0);
		return 0;
	}
	/* The agent's last words were kept when it ended. */
	const struct exit_record *record = &instance->observed.exit;
	cleanup_free char *hint = hint_session(deck, instance->title, instance->id);
	if (!record->present || is_empty(record->last_words))
		return error_set(err, ERROR_INVALID,
				 "%s is not running, and left no last words: start it "
				 "with agentdeck session start %s",
				 title, hint);
	*ret = tidy(record->last_words, 0);
	return 0;
}

static int find_reply(struct app *app, const struct instance *instance, struct reply *ret,
		      struct error *err)
{
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	int r = reply_find(app, instance, ret, err);
	if (r == REPLY_NONE)
		return error_set(err, ERROR_INVALID,
				 "%s has no reply yet: send a message with agentdeck send %s TEXT, "
				 "or see its screen with --pane",
				 title, hint);
	return r;
}

static struct json_object *begin_output(const struct instance *instance)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "id", instance->id);
	json_set_string(object, "title", instance->title);
	json_set_string(object, "session_id", instance->conversation.session_id);
	json_set_string(object, "agent", instance->agent);
	return object;
}

static void print_output(struct app *app, const struct instance *instance, const char *content,
			 const char *time)
{
	if (!app->json) {
		printf("%s\n", content);
		return;
	}
	cleanup_json struct json_object *object = begin_output(instance);
	if (time)
		json_set_string(object, "role", "assistant");
	json_set_string(object, "content", content);
	if (time)
		json_set_time(object, "replied_at", clock_parse(time));
	const struct options *given = app->options;
	if (given->follow)
		print_json_line(object);
	else
		print_json(object);
}

/* ---- turns ------------------------------------------------------------------------------------ */

/* What the user typed is behind "> ".  Each turn ends with an empty line. */
static void print_turn(const struct transcript_turn *turn)
{
	cleanup_free char *text = tidy(turn->text, 0);
	char *rest = text;
	for (const char *line; *text && (line = strsep(&rest, "\n"));)
		/* A quotation in a reply is not what its user typed. */
		printf("%s%s\n", !turn->is_reply ? "> " : *line == '>' ? " " : "", line);
	if (*text)
		printf("\n");
}

static struct json_object *json_of_turns(const struct transcript_turns *turns)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < turns->count; i++) {
		struct json_object *object = json_object_new_object();
		cleanup_free char *text = tidy(turns->items[i].text, 0);
		json_set_string(object, "role", turns->items[i].is_reply ? "assistant" : "user");
		json_set_string(object, "content", text);
		json_object_array_add(array, object);
	}
	return array;
}

static int print_turns(struct app *app, const struct instance *instance, size_t most,
		       struct error *err)
{
	cleanup_transcript_turns struct transcript_turns turns = { 0 };
	const int r = reply_turns(app, instance, most, &turns, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(err, ERROR_INVALID, "nothing has been said yet");
	for (size_t i = 0; !app->json && i < turns.count; i++)
		print_turn(&turns.items[i]);
	if (!app->json)
		return 0;
	cleanup_json struct json_object *object = begin_output(instance);
	json_set(object, "turns", json_of_turns(&turns));
	print_json(object);
	return 0;
}

struct follower {
	struct app *app;
	struct reply last;
};

static int print_new(const struct reply_view *view, void *context, struct error *err UNUSED)
{
	struct follower *follower = context;
	if (!view->reply || !reply_is_new(view->reply, &follower->last))
		return 0;
	const struct options *given = follower->app->options;
	cleanup_free char *content = tidy(view->reply->text, (unsigned)given->lines);
	print_output(follower->app, view->instance, content, view->reply->time);
	reply_free(&follower->last);
	follower->last = (struct reply){ xstrdup(view->reply->text), xstrdup(view->reply->time),
					 xstrdup(view->reply->path) };
	return 0;
}

static int follow(struct app *app, struct error *err)
{
	struct follower follower = { .app = app };
	int r = reply_follow(app, app->session, INT64_MAX, print_new, &follower, err);
	reply_free(&follower.last);
	return r;
}

static int cmd_session_output(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	const struct options *given = app->options;
	cleanup_instance struct instance *instance = NULL;
	cleanup_free char *text = NULL;
	cleanup_reply struct reply reply = { 0 };
	const unsigned lines = (unsigned)given->lines;
	if (given->follow + given->pane + (given->turns > 0) > 1)
		return error_set(err, ERROR_USAGE, "give one of --follow, --pane and --turns");
	if (given->follow)
		return follow(app, err);
	if ((given->pane && lifecycle_show(&app->deck, row->base, err) < 0) ||
	    deck_load(&app->deck, row->base, &instance, err) < 0)
		return -1;
	if (given->pane) {
		if (pane_text(&app->deck, instance, lines, &text, err) < 0)
			return -1;
		print_output(app, instance, text, NULL);
		return 0;
	}
	if (given->turns)
		return print_turns(app, instance, (size_t)given->turns, err);
	if (find_reply(app, instance, &reply, err) < 0)
		return -1;
	cleanup_free char *content = tidy(reply.text, lines);
	print_output(app, instance, content, reply.time);
	return 0;
}

const struct command command_session_output = {
	.name = "session output",
	.kind = COMMAND_READS,
	.arguments = "SESSION",
	.summary = "print an agent's last reply, or its screen",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_output,
};
