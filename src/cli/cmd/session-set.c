/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/session-set.h"

#include "cli/cmd/commands.h"
#include "cli/cmd/containeropts.h"
#include "cli/show/output.h"

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

static const char *const resume_words[] = { "auto", "confirm", "never", "default" };
static const char *const sleep_words[] = { "off", "default" };
static const char *const end_words[] = { "ask", "keep", "clean", "default" };
static const char *const pinned_words[] = { "yes", "no" };
static const char *const restart_words[] = { "no", "on-failure", "always", "default" };

static const struct field {
	const char *name;
	struct offer offer;
} fields[SETTING_COUNT] = {
	[SETTING_SESSION_ID] = { .name = "session-id", .offer.kind = VALUE_CONVERSATION },
	[SETTING_RESUME] = { .name = "resume", OFFER(resume_words) },
	[SETTING_RESTART] = { .name = "restart", OFFER(restart_words) },
	[SETTING_ON_END] = { .name = "on-end", OFFER(end_words) },
	[SETTING_SLEEP_AFTER] = { .name = "sleep-after", OFFER(sleep_words) },
	[SETTING_TITLE] = { .name = "title" },
	[SETTING_PATH] = { .name = "path", .offer.kind = VALUE_DIRECTORY },
	[SETTING_HOME] = { .name = "home", .offer.kind = VALUE_DIRECTORY },
	[SETTING_GROUP] = { .name = "group", .offer.kind = VALUE_GROUP },
	[SETTING_COMMAND] = { .name = "command", .offer.kind = VALUE_PROGRAM },
	[SETTING_AGENT] = { .name = "agent", .offer.kind = VALUE_AGENT },
	[SETTING_NOTES] = { .name = "notes" },
	[SETTING_TAGS] = { .name = "tags" },
	[SETTING_PINNED] = { .name = "pinned", OFFER(pinned_words) },
	[SETTING_DOCKER] = { .name = "recipe.docker", OFFER(container_docker_words) },
	[SETTING_IMAGE] = { .name = "recipe.image" },
	[SETTING_MOUNT] = { .name = "recipe.mount", .offer.kind = VALUE_DIRECTORY },
	[SETTING_SECRET] = { .name = "recipe.secret" },
	[SETTING_NETWORK] = { .name = "recipe.network", OFFER(container_network_words) },
};

int setting_find(const char *name, enum setting_field *ret, struct error *err)
{
	cleanup_strbuf struct strbuf names = { 0 };
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		strbuf_addf(&names, "%s%s", i ? ", " : "", fields[i].name);
		if (streq(fields[i].name, name)) {
			*ret = i;
			return 0;
		}
	}
	return error_set(err, ERROR_USAGE, "unknown field '%s' (fields: %s)", name,
			 strbuf_text(&names));
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
	if (setting_find(name, &setting.field, err) < 0)
		return -1;
	if (given->copy_transcript && setting.field != SETTING_PATH)
		return error_set(err, ERROR_USAGE,
				 "--copy-transcript only works with path: omit it");
	if (given->drop_conversation && setting.field != SETTING_AGENT)
		return error_set(err, ERROR_USAGE,
				 "--drop-conversation only works with agent: omit it");
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    lifecycle_set(&app->deck, row->base, &setting, err) < 0)
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
	static const char *names[SETTING_COUNT];
	enum setting_field field;
	for (size_t i = 0; i < SETTING_COUNT; i++)
		names[i] = fields[i].name;
	if (line->operands.count == 1)
		return (struct offer){ .words = names, .count = SETTING_COUNT };
	return line->operands.count == 2 && setting_find(line->operands.items[1], &field, NULL) == 0
		       ? fields[field].offer
		       : (struct offer){ 0 };
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
