/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/limitopts.h"
#include "cli/output.h"
#include "cli/table.h"

#include <string.h>

static struct json_object *json_of_limit(const struct settings *settings,
					 const struct instance *instance, enum limit limit)
{
	struct json_object *object = json_object_new_object();
	enum limit_origin origin;
	const char *group;
	int64_t value = settings_limit(settings, instance, limit, &origin, &group);
	if (value && value != LIMIT_INFINITY)
		json_set_int(object, "value", value);
	else
		json_set(object, "value", NULL);
	json_set_string(object, "from", limit_origin_name(origin));
	json_set_string(object, "group", group);
	return object;
}

static void show_json(struct app *app, const struct instance *instance, const char *effect)
{
	cleanup_json struct json_object *object = json_success(instance);
	struct json_object *limits = json_make_object(object, "limits");
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		json_set(limits, limit_name(limit), json_of_limit(&app->deck.settings, instance, limit));
	json_set_string(object, "effect", effect);
	print_json(object);
}

static void show_table(struct app *app, const struct instance *instance)
{
	cleanup_table struct table *table =
		table_new(app, (const char *const[]){ "LIMIT", "VALUE", "FROM", NULL });
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		enum limit_origin origin;
		const char *group;
		int64_t value = settings_limit(&app->deck.settings, instance, limit, &origin, &group);
		cleanup_free char *text = value ? limit_text(limit, value) : xstrdup("-");
		cleanup_free char *from = group ? xasprintf("group %s", group)
						: xstrdup(value ? limit_origin_name(origin) : "-");
		table_add(table, (const char *const[]){ limit_name(limit), text, from, NULL }, NULL);
	}
	table_print(table);
}

static int load(struct app *app, const char *base, struct instance **ret, struct error *err)
{
	int r = store_load(app->deck.store, base, ret, err);
	return r > 0 ? error_set(err, ERROR_NOT_FOUND, "session %s was removed", base) : r;
}

static int run(struct app *app, struct error *err)
{
	static const struct {
		const char *word, *text;
	} effects[] = {
		[LIMIT_EFFECT_NOW] = { "now", "hold now" },
		[LIMIT_EFFECT_NEXT_START] = { "next_start", "hold from its next start on" },
		[LIMIT_EFFECT_NEXT_SCOPE] = { "next_scope",
					      "are stored; it runs without a scope, which is what can be limited" },
	};
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_instance struct instance *instance = NULL;
	struct limit_change change = { .reset = option_given(app, "reset") };
	const struct store_row *row;
	const char *word = NULL;
	if (limit_options_read(app, &change, err) < 0 ||
	    app_resolve(app, app->operands.items[0], &rows, &row, err) < 0)
		return -1;
	if (row->damage)
		return error_set(err, ERROR_CORRUPT, "%s", row->damage);
	if (change.reset || memchr(change.given, 1, sizeof(change.given))) {
		enum limit_effect effect;
		if (lifecycle_set_limits(&app->deck, row->base, &change, &effect, &instance, err) < 0)
			return -1;
		word = effects[effect].word;
		cleanup_free char *title = visible(instance->title);
		if (!app->json)
			printf("%s: the limits %s\n", title, effects[effect].text);
	} else if (load(app, row->base, &instance, err) < 0) {
		return -1;
	}
	if (app->json)
		show_json(app, instance, word);
	else
		show_table(app, instance);
	return 0;
}

static const struct command_option options[] = {
	LIMIT_OPTIONS,
	{ 0, "reset", NULL, "forget first what this session says itself, so that its group's limits hold" },
	{ 0 },
};

const struct command command_session_limit = {
	.name = "session limit",
	.arguments = "SESSION",
	.summary = "show or change what a session may use",
	.description =
		"Without options it shows which limits hold and who says so: the session, its group or one\n"
		"around that, or [limits] of config.toml. Each limit is looked for in this order.\n"
		"\n"
		"With options the session says so itself. When it runs they hold at once, without a restart;\n"
		"limits need a systemd scope. A SIZE is in bytes or has a suffix K, M, G or T (512M, 1.5G).\n"
		"infinity: no limit, whatever the group says. 0: the session says nothing of this one. What\n"
		"--memory-max leaves less than is in use makes the kernel kill at once.",
	.options = options,
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
