/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/session-set.h"

#include "cli/cmd/commands.h"
#include "cli/cmd/containeropts.h"
#include "cli/show/output.h"
#include "engine/run/sight.h"

struct options {
	bool copy_transcript, drop_conversation;
};

static const struct command_option options[] = {
	{ 0, "copy-transcript", NULL,
	  "with path: copy the transcript to where the agent looks for those of the new "
	  "directory",
	  TO_FLAG(copy_transcript) },
	{ 0, "drop-conversation", NULL,
	  "with agent: begin without the old agent's conversation; its id is kept",
	  TO_FLAG(drop_conversation) },
	{ 0 },
};

static const char *const field_names[] = {
	"session-id",    "resume",       "restart",      "on-end",        "title",
	"path",          "group",        "command",      "agent",         "notes",
	"recipe.docker", "recipe.image", "recipe.mount", "recipe.secret", "recipe.network",
	"home",          "sleep-after",  "tags",         "pinned",
};
static const char *const resume_words[] = { "auto", "confirm", "never", "default" };
static const char *const sleep_words[] = { "off", "default" };
static const char *const end_words[] = { "ask", "keep", "clean", "default" };
static const char *const pinned_words[] = { "yes", "no" };
static const char *const restart_words[] = { "no", "on-failure", "always", "default" };

/* By the indexes of field_names. */
static const struct field {
	setting_function *set;
	struct offer offer;
} fields[ARRAY_SIZE(field_names)] = {
	{ lifecycle_set_session_id, { .kind = VALUE_CONVERSATION } },
	{ lifecycle_set_resume, { .words = resume_words, .count = ARRAY_SIZE(resume_words) } },
	{ lifecycle_set_restart, { .words = restart_words, .count = ARRAY_SIZE(restart_words) } },
	{ lifecycle_set_on_end, { .words = end_words, .count = ARRAY_SIZE(end_words) } },
	{ lifecycle_set_title, { 0 } },
	{ lifecycle_set_path, { .kind = VALUE_DIRECTORY } },
	{ lifecycle_set_group, { .kind = VALUE_GROUP } },
	{ lifecycle_set_command, { .kind = VALUE_PROGRAM } },
	{ lifecycle_set_agent, { .kind = VALUE_AGENT } },
	{ lifecycle_set_notes, { 0 } },
	{ lifecycle_set_docker,
	  { .words = container_docker_words, .count = ARRAY_SIZE(container_docker_words) } },
	{ lifecycle_set_image, { 0 } },
	{ lifecycle_set_mount, { .kind = VALUE_DIRECTORY } },
	{ lifecycle_set_secret, { 0 } },
	{ lifecycle_set_network,
	  { .words = container_network_words, .count = ARRAY_SIZE(container_network_words) } },
	{ lifecycle_set_home, { .kind = VALUE_DIRECTORY } },
	{ lifecycle_set_sleep_after, { .words = sleep_words, .count = ARRAY_SIZE(sleep_words) } },
	{ lifecycle_set_tags, { 0 } },
	{ lifecycle_set_pinned, { .words = pinned_words, .count = ARRAY_SIZE(pinned_words) } },
};

static const struct field *find_field(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(field_names[i], name))
			return fields + i;
	return NULL;
}

static int refuse_field(const char *name, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "unknown field '%s' (fields: session-id, resume, restart, on-end, "
			 "sleep-after, title, "
			 "path, home, group, command, agent, notes, tags, pinned, recipe.docker, "
			 "recipe.image, recipe.mount, recipe.secret, recipe.network)",
			 name);
}

int session_set_field(struct deck *deck, const char *base, const char *name,
		      struct setting *setting, struct error *err)
{
	const struct field *field = find_field(name);
	return field ? field->set(deck, base, setting, err) : refuse_field(name, err);
}

static int cmd_session_set(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	const struct options *given = app->options;
	const char *name = app->operands.items[1], *value = app->operands.items[2];
	cleanup_setting struct setting setting = { .value = value,
						   .copies_transcript = given->copy_transcript,
						   .drops_conversation = given->drop_conversation };
	if (!find_field(name))
		return refuse_field(name, err);
	if (given->copy_transcript && !streq(name, "path"))
		return error_set(err, ERROR_USAGE,
				 "--copy-transcript only works with path: omit it");
	if (given->drop_conversation && !streq(name, "agent"))
		return error_set(err, ERROR_USAGE,
				 "--drop-conversation only works with agent: omit it");
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    session_set_field(&app->deck, row->base, name, &setting, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "field", name);
	json_set_string(object, "value", value);
	json_set_string(object, "note", setting.note);
	(void)print_done(app, object, xasprintf("%s: %s is now %s", row->title, name, value));
	if (setting.note && !app->json)
		say("%s.", setting.note);
	return 0;
}

static struct offer offer(const struct app *line, bool behind_dashes UNUSED)
{
	const struct field *field;
	if (line->operands.count == 1)
		return (struct offer){ .words = field_names, .count = ARRAY_SIZE(field_names) };
	field = line->operands.count == 2 ? find_field(line->operands.items[1]) : NULL;
	return field ? field->offer : (struct offer){ 0 };
}

const struct command command_session_set = {
	.name = "session set",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION FIELD VALUE",
	.summary = "change a session's title, group, notes, command and more",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_session_set,
	.offer = offer,
};
