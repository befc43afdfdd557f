/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/conversations.h"

#include "base/clock.h"
#include "cli/show/shapes.h"

#include <errno.h>
#include <sys/stat.h>

static void show_progress(void *data, size_t index, size_t count)
{
	struct conversation_look *look = data;
	progress_step(&look->progress, clock_ms(), "Looking at conversation", index + 1, count);
}

static int make_order(const struct conversation_choice *choice, struct conversation_look *look,
		      struct discover_order *ret, struct error *err)
{
	int64_t age;
	ret->agent = choice->agent;
	if (choice->directory && !(look->directory = realpath(choice->directory, NULL)))
		return error_set_errno(err, errno, "%s", choice->directory);
	ret->directory = look->directory;
	if (choice->since) {
		if (discover_parse_age(choice->since, &age, err) < 0)
			return -1;
		ret->filter.since_us = clock_wall_us() - age;
	}
	return 0;
}

int conversation_look_open(struct app *app, const struct conversation_choice *choice, bool nobodys,
			   struct conversation_look *ret, struct error *err)
{
	struct discover_order order = { .filter.nobodys = nobodys,
					.looks = show_progress,
					.data = ret };
	*ret = (struct conversation_look){ 0 };
	progress_begin(&ret->progress, stderr, app->json, clock_ms());
	return make_order(choice, ret, &order, err) < 0
		       ? -1
		       : discover_open(&app->deck, &order, &ret->discovery, err);
}

void conversation_look_done(struct conversation_look *look)
{
	progress_clear(&look->progress);
}

void conversation_look_end(struct app *app, struct conversation_look *look)
{
	const struct discovery *discovery = &look->discovery;
	conversation_look_done(look);
	if (discovery->unread == 1)
		deck_warn(&app->deck, "%s: skipped", discovery->problem);
	else if (discovery->unread)
		deck_warn(&app->deck, "%s: skipped, with %zu others", discovery->problem,
			  discovery->unread - 1);
}

void conversation_look_close(struct conversation_look *look)
{
	conversation_look_done(look);
	discover_close(&look->discovery);
	free(look->directory);
	*look = (struct conversation_look){ 0 };
}

struct json_object *json_of_conversation(const struct discover_find *find)
{
	struct stat st;
	struct json_object *object = json_object_new_object();
	json_set_string(object, "agent", find->agent->name);
	json_set_string(object, "session_id", find->session_id);
	json_set(object, "path", json_text(find->directory));
	json_set_bool(object, "path_exists",
		      stat(find->directory, &st) == 0 && S_ISDIR(st.st_mode));
	json_set_string(object, "first_words", find->words);
	json_set_time(object, "modified_at", find->modified_us);
	json_set(object, "config_home", json_text(find->home));
	json_set(object, "transcript", json_text(find->path));
	return object;
}
