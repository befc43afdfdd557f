/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/doctor-fix.h"

#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/reconcile/reconcile.h"

static void print_remedies(const struct strays *strays)
{
	bool is_first = true;
	for (size_t i = 0; i < strays->count; i++) {
		const struct stray *stray = strays->items + i;
		if (!stray->remedy)
			continue;
		if (is_first)
			printf("\nWhat to do:\n");
		say("  %s: %s", stray->name, stray->remedy);
		is_first = false;
	}
	printf("\n");
}

static void print_strays(const struct app *app, const struct strays *strays)
{
	static const enum tone tones[] = {
		[STRAY_FREE] = TONE_BUSY,
		[STRAY_KEEP] = TONE_WARNING,
		[STRAY_ASK_LATER] = TONE_PLAIN,
	};
	cleanup_table struct table *table = table_new(
		app, (const char *const[]){ "WHAT", "NAME", "ACTION", "WHY", NULL });
	for (size_t i = 0; i < strays->count; i++) {
		const struct stray *stray = strays->items + i;
		table_add(table,
			  (const char *const[]){ stray_kind_name(stray->kind), stray->name,
						 stray_action_name(stray->action), stray->why,
						 NULL },
			  tones[stray->action]);
	}
	table_print(table);
	print_remedies(strays);
}

static void print_failures(const struct strays *strays)
{
	for (size_t i = 0; i < strays->count; i++)
		if (strays->items[i].failure)
			complain("%s: %s", strays->items[i].name, strays->items[i].failure);
}

static struct json_object *json_of_strays(const struct strays *strays)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < strays->count; i++) {
		const struct stray *stray = strays->items + i;
		struct json_object *object = json_object_new_object();
		json_set_string(object, "kind", stray_kind_name(stray->kind));
		json_set_string(object, "name", stray->name);
		json_set_string(object, "id", stray->session);
		json_set_string(object, "profile", stray->profile);
		json_set_string(object, "engine", stray->engine);
		json_set_string(object, "repository", stray->repository);
		json_set_string(object, "action", stray_action_name(stray->action));
		json_set_string(object, "reason", stray->why);
		json_set_string(object, "remedy", stray->remedy);
		json_set_bool(object, "freed", stray->is_freed);
		json_set_string(object, "failure", stray->failure);
		json_object_array_add(array, object);
	}
	return array;
}

/* ASK_CANCELLED: its user does not want it. */
static int confirm(struct app *app, enum doctor_consent given, size_t count, struct error *err)
{
	if (given != DOCTOR_ASK || !count)
		return 0;
	cleanup_free char *without = xasprintf("%zu of these would be freed: add --force to do it",
					       count);
	const struct consent consent = { "Free these?", "Nothing was freed.", "--force", without,
					 ERROR_INVALID };
	return ask_consent(app, &consent, err);
}

static char *conclusion(const struct strays *strays, size_t wanted, size_t freed)
{
	if (!strays->count)
		return xstrdup("Nothing to free: everything that is there has a session. What "
			       "agentdeck doctor advises is for you to do.");
	if (freed < wanted)
		return xasprintf("Nothing was freed; %zu can be.", wanted);
	return xasprintf("Freed %zu, left %zu alone.", freed, strays->count - freed);
}

static int finish(const struct app *app, const struct strays *strays, bool success)
{
	size_t freed = 0;
	for (size_t i = 0; i < strays->count; i++)
		freed += strays->items[i].is_freed;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", success);
	json_set_int(object, "freed", (int64_t)freed);
	json_set(object, "found", json_of_strays(strays));
	return print_done(app, object, conclusion(strays, strays_count(strays, STRAY_FREE), freed));
}

int doctor_fix(struct app *app, enum doctor_consent consent, struct error *err)
{
	cleanup_strays struct strays strays = { 0 };
	cleanup_error struct error failure = { 0 };
	if (deck_open_anyway(app->profile, "doctor", &app->deck, err) < 0 ||
	    reconcile_look(&app->deck, &strays, err) < 0)
		return -1;
	if (!app->json && strays.count)
		print_strays(app, &strays);
	int r = confirm(app, consent, strays_count(&strays, STRAY_FREE), err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	if (consent != DOCTOR_ONLY_SHOW)
		r = reconcile_fix(&app->deck, &strays, &failure);
	if (r < 0 && !app->json)
		print_failures(&strays);
	(void)finish(app, &strays, r == 0);
	return r < 0 ? 1 : 0;
}
