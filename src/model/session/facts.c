/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/facts.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <string.h>

bool doing_waits(enum doing doing)
{
	return doing == DOING_ASKS || doing == DOING_WAITING;
}

bool doing_needs_user(enum doing doing)
{
	return doing <= DOING_UNKNOWN;
}

bool doing_is_at_rest(enum doing doing)
{
	return doing == DOING_STOPPED || doing == DOING_ASLEEP;
}

bool doing_is_alive(enum doing doing)
{
	return !doing_is_at_rest(doing) && doing != DOING_ERROR;
}

/* The activity counts where it is known. */
static bool read_doing(const struct json_object *object, enum doing *ret)
{
	const char *activity = json_get_string(object, "activity", "unknown");
	const char *word = streq(activity, "unknown") ? json_get_string(object, "status", "")
						      : activity;
	size_t doing = 0;
	if (json_get_bool(object, "is_asleep", false))
		word = doing_name(DOING_ASLEEP);
	while (doing < DOING_COUNT && !streq(doing_name((enum doing)doing), word))
		doing++;
	if (doing == DOING_WAITING && json_get_bool(object, "activity_asks", false))
		doing = DOING_ASKS;
	*ret = (enum doing)doing;
	return doing < DOING_COUNT;
}

static unsigned read_marks(struct json_object *object)
{
	const struct {
		bool has;
		enum mark mark;
	} marks[] = {
		{ json_get_string(object, "held", NULL), MARK_HELD },
		{ json_get_object(object, "shares"), MARK_SHARED },
		{ !streq(json_get_string(object, "backend", PLACE_DEFAULT), PLACE_DEFAULT),
		  MARK_CONTAINER },
		{ json_get_string(object, "other_host", NULL), MARK_ELSEWHERE },
		{ json_get_bool(object, "is_undecided", false), MARK_UNDECIDED },
		{ streq(json_get_string(object, "workspace", ""), "worktree"), MARK_WORKTREE },
		{ streq(json_get_string(object, "workspace", ""), "clone"), MARK_CLONE },
		{ json_get_bool(object, "is_pinned", false), MARK_PINNED },
		{ json_get_string(object, "archived_at", NULL), MARK_ARCHIVED },
	};
	unsigned found = 0;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		found |= marks[i].has ? marks[i].mark : 0;
	return found;
}

static int64_t read_time(const struct json_object *object, const char *key)
{
	const int64_t time_us = clock_parse(json_get_string(object, key, ""));
	return time_us > 0 ? time_us : 0;
}

/* One text, which the object owns. */
static const char *read_tags(struct json_object *object)
{
	cleanup_free char *tags = tags_from_json(object, "tags");
	json_set_string(object, "tags", tags);
	return json_get_string(object, "tags", NULL);
}

bool facts_read(struct json_object *object, struct facts *ret)
{
	struct facts facts = {
		.key = { .profile = json_get_string(object, "profile", NULL),
			 .id = json_get_string(object, "id", "") },
		.title = json_get_string(object, "title", NULL),
		.group = json_get_string(object, "group", NULL),
		.agent = json_get_string(object, "agent", NULL),
		.directory = json_get_string(object, "path", NULL),
		.reason = json_get_string(object, "reason", NULL),
		.held = json_get_string(object, "held", NULL),
		.marks = read_marks(object),
		.tags = read_tags(object),
		.asks_first = json_get_bool(object, "asks_first", false),
		.since_us = read_time(object, "since_at"),
		.created_us = read_time(object, "created_at"),
		.used_us = read_time(object, "last_used_at"),
	};
	if (naming_check_group(or_empty(facts.group), NULL) < 0)
		facts.group = NULL;
	if (!naming_is_id(facts.key.id) || !read_doing(object, &facts.doing))
		return false;
	*ret = facts;
	return true;
}

bool attention_is_needed(const struct attention *attention)
{
	return !(attention->marks & MARK_ARCHIVED) &&
	       (doing_needs_user(attention->doing) ||
		attention->marks & (MARK_HELD | MARK_UNDECIDED));
}

int attention_compare(const struct attention *a, const struct attention *b)
{
	const int64_t left = a->since_us ? a->since_us : INT64_MAX;
	const int64_t right = b->since_us ? b->since_us : INT64_MAX;
	if (a->doing != b->doing)
		return a->doing < b->doing ? -1 : 1;
	return left != right ? (left < right ? -1 : 1) : strcmp(a->id, b->id);
}
