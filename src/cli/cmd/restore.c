/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/made.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "engine/export/restore.h"

#include <string.h>

struct options {
	bool apply;
	struct strvec moves;
};

static const struct command_option options[] = {
	{ 0, "map", "OLD=NEW", "what was in the directory OLD is in NEW here", TO_LIST(moves) },
	{ 0, "apply", NULL, "do it; without this it only shows what it would do", TO_FLAG(apply) },
	{ 0 },
};

static struct json_object *json_of_step(const struct restore_step *step)
{
	struct json_object *object = json_object_new_object();
	const struct parcel *parcel = step->parcel;
	json_set_string(object, "profile", parcel->profile);
	json_set(object, "their_title", json_text(parcel->title));
	json_set_string(object, "their_id", parcel->id);
	json_set_string(object, "decision", restore_verdict_name(step->verdict));
	json_set(object, "reason", step->why ? json_text(step->why) : NULL);
	json_set(object, "title", step->title ? json_text(step->title) : NULL);
	json_set_string(object, "group", parcel->group);
	json_set_string(object, "agent", parcel->agent);
	json_set(object, "path", json_text(step->directory));
	json_set_string(object, "session_id", parcel->session_id);
	json_set_bool(object, "has_conversation", parcel->number > 0);
	json_set_string(object, "id", step->id);
	return object;
}

static void print_as_json(const struct restore_plan *plan, bool is_applied)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	cleanup_strvec struct strvec told = { 0 };
	strvec_push_all(&told, &plan->coming);
	strvec_push_all(&told, &plan->told);
	for (size_t i = 0; i < plan->count; i++)
		json_object_array_add(list, json_of_step(&plan->steps[i]));
	json_set_bool(object, "applied", is_applied);
	json_set_string(object, "backup_host", plan->file.parcels.host);
	json_set_time(object, "made_at", plan->file.parcels.made_at);
	json_set_strings(object, "told", &told);
	json_set(object, "sessions", list);
	print_json(object);
}

static size_t count_of(const struct restore_plan *plan)
{
	size_t count = 0;
	for (size_t i = 0; i < plan->count; i++)
		count += plan->steps[i].verdict == RESTORE_MAKE;
	return count;
}

static void print_made(const struct app *app, const struct restore_plan *plan)
{
	static const char *const headings[] = { "TITLE",        "GROUP",     "PROFILE", "AGENT",
						"CONVERSATION", "DIRECTORY", "REASON",  NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < plan->count; i++) {
		const struct restore_step *step = &plan->steps[i];
		const struct parcel *parcel = step->parcel;
		if (step->verdict == RESTORE_MAKE)
			table_add(table,
				  (const char *const[]){ step->title, or_empty(parcel->group),
							 parcel->profile, parcel->agent,
							 parcel->session_id ? parcel->session_id
							 : parcel->number   ? "(its latest)"
									    : "(none)",
							 step->directory, or_empty(step->why) },
				  TONE_PLAIN);
	}
	table_print(table);
}

static void print_left(const struct app *app, const struct restore_plan *plan)
{
	static const char *const headings[] = { "LEFT OUT", "PROFILE", "REASON", NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < plan->count; i++) {
		const struct restore_step *step = &plan->steps[i];
		if (step->verdict != RESTORE_MAKE)
			table_add(table,
				  (const char *const[]){ step->parcel->title, step->parcel->profile,
							 step->why },
				  step->verdict == RESTORE_REFUSE ? TONE_WARNING : TONE_PLAIN);
	}
	table_print(table);
}

static void print_plan(const struct app *app, const struct restore_plan *plan)
{
	const size_t made = count_of(plan);
	if (made)
		print_made(app, plan);
	if (made && made < plan->count)
		printf("\n");
	if (made < plan->count)
		print_left(app, plan);
	if (plan->count)
		printf("\n");
}

static int check_moves(const struct strvec *moves, struct error *err)
{
	for (size_t i = 0; i < moves->count; i++) {
		const char *equal = strchr(moves->items[i], '=');
		cleanup_free char *shown = visible(moves->items[i]);
		if (!equal || moves->items[i][0] != '/' || equal[1] != '/')
			return error_set(err, ERROR_USAGE,
					 "invalid --map '%s': it is OLD=NEW, of two absolute paths",
					 shown);
	}
	return 0;
}

static void say_restored(const struct app *app, const struct restore_plan *plan)
{
	cleanup_strvec struct strvec profiles = { 0 };
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].id)
			strvec_push(&profiles, plan->steps[i].parcel->profile);
	say_made(app, "Restored", &profiles);
}

static int cmd_restore(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_restore_plan struct restore_plan plan = RESTORE_NO_PLAN;
	const struct restore_order order = { .file = app->operands.items[0],
					     .moves = &given->moves };
	if (check_moves(&given->moves, err) < 0 || restore_look(&app->deck, &order, &plan, err) < 0)
		return -1;
	if (given->apply && restore_apply(&app->deck, &plan, err) < 0)
		return -1;
	if (app->json) {
		print_as_json(&plan, given->apply);
		return 0;
	}
	print_plan(app, &plan);
	for (size_t i = 0; i < plan.coming.count; i++)
		say("%s", plan.coming.items[i]);
	for (size_t i = 0; i < plan.told.count; i++)
		say("%s", plan.told.items[i]);
	const size_t made = count_of(&plan);
	if (!made)
		say("There is no session to restore.%s",
		    plan.coming.count && !given->apply ? " Restore the settings with --apply."
						       : "");
	else if (given->apply)
		say_restored(app, &plan);
	else
		say("%zu session%s can be restored. Nothing was changed. Restore with --apply.",
		    made, made == 1 ? "" : "s");
	return 0;
}

const struct command command_restore = {
	.name = "restore",
	.kind = COMMAND_CHANGES,
	.arguments = "FILE",
	.summary = "bring back the sessions of a backup",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | MAKES_PROFILE | IS_STRICT | HAS_JSON,
	.run = cmd_restore,
};
