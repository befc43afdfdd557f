/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/deckfile.h"
#include "cli/show/output.h"
#include "cli/show/table.h"

#include "base/fsutil.h"
#include "base/tomltext.h"
#include "model/agent/agent.h"
#include "model/settings/values.h"

#include <string.h>

static int cmd_config_path(struct app *app, struct error *err UNUSED)
{
	cleanup_free char *path = path_join(app->deck.paths.config, DECK_CONFIG);
	cleanup_free char *agents = path_join(app->deck.paths.config, "agents");
	cleanup_strbuf struct strbuf text = { 0 };
	const bool exists = deck_read_config(&app->deck, &text, NULL) != DECK_NO_CONFIG;
	struct json_object *object = json_object_new_object();
	json_set(object, "path", json_text(path));
	json_set_bool(object, "exists", exists);
	json_set(object, "agents", json_text(agents));
	json_set_string(object, "in_use", deck_config_in_use(&app->deck));
	if (!exists && !app->json)
		complain("the file does not exist yet: agentdeck config edit begins one with every "
			 "key as a comment");
	return print_done(app, object, TAKE_PTR(path));
}

const struct command command_config_path = {
	.name = "config path",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "print where config.toml is",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_config_path,
};

/* --- get ---------------------------------------------------------------------------------------- */

/* The configuration in use. */
struct source {
	const struct settings *settings;
	struct strbuf text;
	struct toml_document document;
	const char *from; /* for what is in the text */
};

static void source_free(struct source *source)
{
	toml_document_free(&source->document);
	strbuf_free(&source->text);
}
#define cleanup_source CLEANUP(source_free)

static int read_source(const struct app *app, struct source *source, struct error *err)
{
	source->settings = &app->deck.settings;
	source->from = app->deck.config_problem ? "last_good" : "file";
	deck_config_text(&app->deck, &source->text);
	return toml_document_parse(strbuf_text(&source->text), source->text.length, DECK_CONFIG,
				   &source->document, err);
}

/* What the document itself has there, or NULL.  Borrowed. */
static struct json_object *in_document(const struct source *source, const struct strvec *parts)
{
	struct json_object *value = source->document.root;
	for (size_t i = 0; i < parts->count; i++)
		if (!json_object_is_type(value, json_type_object) ||
		    !json_object_object_get_ex(value, parts->items[i], &value))
			return NULL;
	return value;
}

static struct json_object *entry_of(const struct source *source, const char *name,
				    const struct toml_key *key)
{
	cleanup_settings struct settings defaults = { 0 };
	cleanup_strvec struct strvec parts = { 0 };
	struct json_object *entry = json_object_new_object(), *found;
	const bool is_table = key->type == TOML_TABLE;
	settings_init(&defaults);
	(void)toml_split_key(name, &parts, NULL);
	found = in_document(source, &parts);
	/* resume = "auto" means [resume] policy. */
	if (!found && streq(name, "resume.policy"))
		found = json_object_is_type(json_object_object_get(source->document.root, "resume"),
					    json_type_string)
				? json_object_object_get(source->document.root, "resume")
				: NULL;
	json_set_string(entry, "key", name);
	json_set(entry, "value",
		 is_table ? json_object_get(found) : settings_value(source->settings, key));
	json_set(entry, "default", is_table ? NULL : settings_value(&defaults, key));
	json_set_string(entry, "from", found ? source->from : "default");
	json_set_string(entry, "about", key->about);
	return entry;
}

/* A text as it is; everything else as in TOML. */
static char *shown_value(struct json_object *value)
{
	if (!value)
		return xstrdup("");
	return json_object_is_type(value, json_type_string) ? xstrdup(json_object_get_string(value))
							    : toml_literal(value);
}

static int print_key(const struct app *app, const struct source *source, const char *name,
		     const struct toml_key *key)
{
	struct json_object *entry = entry_of(source, name, key);
	char *text = shown_value(json_object_object_get(entry, "value"));
	return print_done(app, entry, text);
}

/* All keys, or those of a table. */
static int print_keys(const struct app *app, const struct source *source, const char *name)
{
	cleanup_table struct table *table = table_new(app, (const char *const[]){ "KEY", "VALUE",
										  "FROM", NULL });
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *keys = json_object_new_array();
	for (size_t i = 0; settings_key(i); i++) {
		const struct toml_key *key = settings_key(i);
		if (name && !(starts_with(key->path, name) && key->path[strlen(name)] == '.'))
			continue;
		struct json_object *entry = entry_of(source, key->path, key);
		cleanup_free char *value = shown_value(json_object_object_get(entry, "value"));
		table_add(table,
			  (const char *const[]){ key->path, *value ? value : "-",
						 json_get_string(entry, "from", ""), NULL },
			  TONE_PLAIN);
		json_object_array_add(keys, entry);
	}
	json_set(object, "keys", keys);
	if (app->json)
		print_json(object);
	else
		table_print(table);
	return 0;
}

/* Is it a table with keys of ours ("tmux")? */
static bool is_section(const char *name)
{
	for (size_t i = 0; settings_key(i); i++)
		if (starts_with(settings_key(i)->path, name) &&
		    settings_key(i)->path[strlen(name)] == '.')
			return true;
	return false;
}

static int cmd_config_get(struct app *app, struct error *err)
{
	const char *name = app->operands.count ? app->operands.items[0] : NULL, *nearest = NULL;
	cleanup_source struct source source = { 0 };
	const struct toml_key *key = name ? settings_find_key(name, &nearest) : NULL;
	cleanup_strvec struct strvec parts = { 0 };
	if ((name && toml_split_key(name, &parts, err) < 0) || read_source(app, &source, err) < 0)
		return -1;
	if (key)
		return print_key(app, &source, name, key);
	if (!name || is_section(name))
		return print_keys(app, &source, name);
	return error_set(err, ERROR_NOT_FOUND,
			 nearest ? "there is no key '%s': did you mean '%s'?"
				 : "there is no key '%s': agentdeck config get lists them",
			 name, nearest);
}

const struct command command_config_get = {
	.name = "config get",
	.kind = COMMAND_READS,
	.arguments = "[KEY]",
	.summary = "print the value of a key of config.toml, or all of them",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_config_get,
};

/* --- schema ------------------------------------------------------------------------------------- */

static const char *const schema_names[] = { "config", "project", "agent" };
static struct json_object *(*const schemas[])(void) = { settings_schema, deckfile_schema,
							agent_schema };

static struct offer offer_schemas(const struct app *line UNUSED, bool behind_dashes UNUSED)
{
	return (struct offer){ .words = schema_names, .count = ARRAY_SIZE(schema_names) };
}

static int cmd_config_schema(struct app *app, struct error *err)
{
	const char *name = app->operands.count ? app->operands.items[0] : schema_names[0];
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
		if (!streq(schema_names[i], name))
			continue;
		cleanup_json struct json_object *schema = schemas[i]();
		puts(json_object_to_json_string_ext(
			schema, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
		return 0;
	}
	return error_set(err, ERROR_USAGE, "there is no schema of \"%s\": config, project or agent",
			 name);
}

const struct command command_config_schema = {
	.name = "config schema",
	.kind = COMMAND_READS,
	.arguments = "[KIND]",
	.summary = "print the JSON Schema of a file that agentdeck reads",
	.run = cmd_config_schema,
	.offer = offer_schemas,
};
