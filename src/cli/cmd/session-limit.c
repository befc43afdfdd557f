/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/session-limit.h"

#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/place/gaps.h"

#include <string.h>

struct options {
	struct limit_change change;
};

static const struct command_option options[] = {
	LIMIT_OPTIONS(change),
	{ 0, "reset", NULL,
	  "forget first what this session says itself, so that its group's limits hold",
	  TO_FLAG(change.reset) },
	{ 0 },
};

struct shown {
	int64_t value; /* 0: none */
	const char *from, *group;
};

/* A container keeps the limits that it was made with, whatever the configuration says now. */
static void show_kept(int64_t held, struct shown *shown)
{
	if (held == (shown->value != LIMIT_INFINITY ? shown->value : 0))
		return;
	*shown = (struct shown){
		.value = held,
		.from = held ? "container" : limit_origin_name(LIMIT_SAID_BY_NOBODY),
	};
}

static struct shown shown_limit(const struct settings *settings, const struct instance *instance,
				enum limit limit)
{
	struct shown shown = { 0 };
	enum limit_origin origin;
	const struct place *place;
	shown.value = settings_limit(settings, instance, limit, &origin, &shown.group);
	shown.from = limit_origin_name(origin);
	if (place_find(instance, &place, NULL) == 0 && place->kept_limit)
		show_kept(place->kept_limit(instance, limit), &shown);
	return shown;
}

static struct json_object *json_of_limit(const struct shown *shown, const char *gap)
{
	struct json_object *object = json_object_new_object();
	if (shown->value && shown->value != LIMIT_INFINITY)
		json_set_int(object, "value", shown->value);
	else
		json_set(object, "value", NULL);
	json_set_string(object, "from", shown->from);
	json_set_string(object, "group", shown->group);
	json_set_string(object, "unenforced", gap);
	return object;
}

static void show_json(struct app *app, const struct instance *instance, const char *effect)
{
	cleanup_json struct json_object *object = json_success(instance->id, instance->title);
	struct json_object *limits = json_make_object(object, "limits");
	cleanup_limit_gaps struct limit_gaps gaps = { 0 };
	gaps_find(&app->deck, instance, &gaps);
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct shown shown = shown_limit(&app->deck.settings, instance, limit);
		json_set(limits, limit_name(limit), json_of_limit(&shown, gaps.why[limit]));
	}
	json_set_string(object, "effect", effect);
	print_json(object);
}

static void show_table(struct app *app, const struct instance *instance)
{
	cleanup_table struct table *table = table_new(app, (const char *const[]){ "LIMIT", "VALUE",
										  "FROM", NULL });
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const struct shown shown = shown_limit(&app->deck.settings, instance, limit);
		cleanup_free char *text = shown.value ? limit_text(limit, shown.value)
						      : xstrdup("-");
		cleanup_free char *from = shown.group ? xasprintf("group %s", shown.group)
						      : xstrdup(shown.value ? shown.from : "-");
		table_add(table, (const char *const[]){ limit_name(limit), text, from, NULL },
			  TONE_PLAIN);
	}
	table_print(table);
}

static const struct {
	const char *word, *text;
} effects[] = {
	[LIMIT_EFFECT_NOW] = { "now", "hold now" },
	[LIMIT_EFFECT_NEXT_START] = { "next_start", "hold from its next start on" },
	[LIMIT_EFFECT_NEXT_SCOPE] = { "next_scope",
				      "are stored; it runs without a scope, which is what can be limited" },
};

const char *limit_effect_text(struct deck *deck, const struct instance *instance,
			      enum limit_effect effect)
{
	cleanup_limit_gaps struct limit_gaps gaps = { 0 };
	gaps_find(deck, instance, &gaps);
	return gaps_leave_any(deck, instance, &gaps)
		       ? effects[effect].text
		       : "are stored, and this machine enforces none of them";
}

static int cmd_session_limit(struct app *app, struct error *err)
{
	const struct store_row *row = app->session;
	cleanup_instance struct instance *instance = NULL;
	const struct options *given = app->options;
	const struct limit_change *change = &given->change;
	const char *word = NULL;
	if (change->reset || memchr(change->given, 1, sizeof(change->given))) {
		enum limit_effect effect;
		if (lifecycle_set_limits(&app->deck, row->base, change, &effect, &instance, err) <
		    0)
			return -1;
		word = effects[effect].word;
		if (!app->json)
			say("%s: the limits %s", instance->title,
			    limit_effect_text(&app->deck, instance, effect));
	} else if (deck_load(&app->deck, row->base, &instance, err) < 0) {
		return -1;
	} else {
		gaps_warn(&app->deck, instance);
	}
	if (app->json)
		show_json(app, instance, word);
	else
		show_table(app, instance);
	return 0;
}

const struct command command_session_limit = {
	.name = "session limit",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "show or change what a session may use",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | IS_STRICT | HAS_JSON,
	.run = cmd_session_limit,
};
