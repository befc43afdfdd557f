/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include "engine/lifecycle.h"

static int set_session_id(struct app *app, const char *base, const char *value, struct error *err)
{
	return lifecycle_set_session_id(&app->deck, base, value, err);
}

static int set_resume(struct app *app, const char *base, const char *value, struct error *err)
{
	enum resume_policy policy;
	if (!resume_policy_parse(value, &policy))
		return error_set(err, ERROR_USAGE, "resume must be auto, confirm, never or default, not '%s'",
				 value);
	return lifecycle_set_resume_policy(&app->deck, base, policy, err);
}

static int set_restart(struct app *app, const char *base, const char *value, struct error *err)
{
	enum restart_policy policy;
	if (!restart_policy_parse(value, &policy))
		return error_set(err, ERROR_USAGE, "restart must be no, on-failure, always or default, not '%s'",
				 value);
	return lifecycle_set_restart_policy(&app->deck, base, policy, err);
}

static int set_title(struct app *app, const char *base, const char *value, struct error *err)
{
	return lifecycle_rename(&app->deck, base, value, err);
}

static const struct field {
	const char *name;
	int (*set)(struct app *app, const char *base, const char *value, struct error *err);
} fields[] = {
	{ "session-id", set_session_id },
	{ "resume", set_resume },
	{ "restart", set_restart },
	{ "title", set_title },
};

static int run(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	const struct field *field = NULL;
	const char *name = app->operands.items[1], *value = app->operands.items[2];
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(fields[i].name, name))
			field = fields + i;
	if (!field)
		return error_set(err, ERROR_USAGE, "'%s' cannot be set: there are session-id, resume, restart and title",
				 name);
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    field->set(app, row->base, value, err) < 0)
		return -1;
	cleanup_free char *title = visible(row->title), *shown = visible(value);
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set_bool(object, "success", true);
		json_set_string(object, "id", row->id);
		json_set_string(object, "field", name);
		json_set_string(object, "value", value);
		print_json(object);
	} else {
		printf("%s: %s is now %s\n", title, name, shown);
	}
	return 0;
}

const struct command command_session_set = {
	.name = "session set",
	.arguments = "SESSION FIELD VALUE",
	.summary = "change a session's conversation, policies or title",
	.description =
		"FIELD is one of\n"
		"  session-id  the conversation that the next start resumes; the session must\n"
		"              be stopped, and the present id stays among the earlier ones\n"
		"  resume      auto, confirm, never, or default: as the configuration says\n"
		"  restart     no, on-failure, always, or default: when the supervisor brings\n"
		"              it back unasked\n"
		"  title       as agentdeck rename does",
	.min_operands = 3,
	.max_operands = 3,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
