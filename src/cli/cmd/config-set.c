/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/config-check.h"
#include "cli/show/output.h"

#include "base/argsplit.h"
#include "base/tomledit.h"
#include "base/tomltext.h"
#include "engine/deck/configfile.h"
#include "model/settings/values.h"

#include <stdio.h>
#include <string.h>

struct options {
	bool unset;
};

static const struct command_option options[] = {
	{ 0, "unset", NULL, "make the key a comment, so that its default counts", TO_FLAG(unset) },
	{ 0 },
};

/* Whether the key may have this value, by the parser of the whole file. */
static int try_literal(const struct strvec *parts, const char *literal, struct error *err)
{
	cleanup_settings struct settings settings = { 0 };
	cleanup_error struct error local = { 0 };
	cleanup_free char *key = toml_join_key(parts, 0);
	cleanup_free char *text = xasprintf("%s = %s\n", key, literal);
	cleanup_strvec struct strvec mistakes = { 0 };
	if (settings_parse(text, strlen(text), "value", &settings, &local) == 0) {
		config_check_keys(text, strlen(text), "value", &mistakes);
		if (mistakes.count == 0)
			return 0;
		error_set(&local, ERROR_INVALID, "%s", mistakes.items[0]);
	}
	/* The place is one in our own line. */
	int length = 0;
	(void)sscanf(local.message, "value:%*u:%*u: %n", &length);
	return error_set(err, ERROR_USAGE, "%s", local.message + length);
}

/* Words, as in a command line.  The caller frees. */
static int list_literal(const char *value, char **ret, struct error *err)
{
	cleanup_json struct json_object *array = json_object_new_array();
	cleanup_strvec struct strvec words = { 0 };
	if (argsplit(value, &words, err) < 0)
		return -1;
	for (size_t i = 0; i < words.count; i++)
		json_object_array_add(array, json_text(words.items[i]));
	*ret = toml_literal(array);
	return 0;
}

/* The value in TOML: as it is, if it is TOML already and fits; else a list of words, or a text. The
 * caller frees. */
static int choose_literal(const struct toml_key *key, const struct strvec *parts, const char *value,
			  char **ret, struct error *err)
{
	cleanup_json struct json_object *as_it_is = NULL;
	cleanup_error struct error first = { 0 };
	cleanup_free char *literal = NULL;
	if (toml_parse_literal(value, &as_it_is) && try_literal(parts, value, &first) == 0) {
		*ret = xstrdup(value);
		return 0;
	}
	if (key->type == TOML_STRINGS && !json_object_is_type(as_it_is, json_type_array)) {
		if (list_literal(value, &literal, err) < 0 || try_literal(parts, literal, err) < 0)
			return -1;
		*ret = TAKE_PTR(literal);
		return 0;
	}
	cleanup_json struct json_object *text = json_object_new_string(value);
	cleanup_error struct error second = { 0 };
	literal = toml_literal(text);
	if (try_literal(parts, literal, &second) < 0)
		return error_move(err, first.message ? &first : &second);
	*ret = TAKE_PTR(literal);
	return 0;
}

static int find_key(const char *name, const struct toml_key **ret, struct strvec *parts,
		    struct error *err)
{
	const char *nearest = NULL;
	const struct toml_key *key = settings_find_key(name, &nearest);
	if (toml_split_key(name, parts, err) < 0)
		return -1;
	if (!key)
		return error_set(err, ERROR_NOT_FOUND,
				 nearest ? "there is no key '%s': did you mean '%s'?"
					 : "there is no key '%s': agentdeck config get lists them",
				 name, nearest);
	if (key->type == TOML_TABLE && streq(name, key->path))
		return error_set(err, ERROR_USAGE,
				 "%s is a table: name one of its keys, as in \"%s\" (%s)", name,
				 key->example, key->about);
	*ret = key;
	return 0;
}

/* The meaning of a change in a broken file is not known. */
static int read_valid(struct app *app, struct configfile *file, struct error *err)
{
	cleanup_settings struct settings settings = { 0 };
	if (configfile_read(&app->deck, file, err) < 0)
		return -1;
	if (settings_parse(strbuf_text(&file->text), file->text.length, file->path, &settings,
			   err) < 0)
		return error_prefix(err, "nothing was changed; correct config.toml first, with "
					 "agentdeck config edit");
	return 0;
}

/* resume = "auto" means [resume] policy: where the file has that, it is what is changed. */
static void settle_alias(const struct configfile *file, struct strvec *parts)
{
	cleanup_toml_document struct toml_document document = { 0 };
	struct json_object *resume = NULL;
	if (parts->count != 2 || !streq(parts->items[0], "resume") ||
	    !streq(parts->items[1], "policy") ||
	    toml_document_parse(strbuf_text(&file->text), file->text.length, file->path, &document,
				NULL) < 0)
		return;
	if (json_object_object_get_ex(document.root, "resume", &resume) &&
	    json_object_is_type(resume, json_type_string)) {
		strvec_clear(parts);
		strvec_push(parts, "resume");
	}
}

/* literal NULL: unset. */
static int change(struct app *app, struct strvec *parts, const char *literal, bool *ret_changed,
		  struct error *err)
{
	cleanup_configfile struct configfile file = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (read_valid(app, &file, err) < 0)
		return -1;
	settle_alias(&file, parts);
	const struct toml_change wanted = { strbuf_text(&file.text), file.text.length, file.path,
					    parts, "with agentdeck config edit" };
	int r = literal ? toml_set(&wanted, literal, &text, err) : toml_unset(&wanted, &text, err);
	if (r < 0)
		return -1;
	*ret_changed = r == 0 &&
		       (text.length != file.text.length ||
			memcmp(strbuf_text(&text), strbuf_text(&file.text), text.length) != 0);
	r = *ret_changed ? configfile_replace(&app->deck, &file, &text, err) : 0;
	if (r == CONFIGFILE_CHANGED)
		return error_set(err, ERROR_BUSY, "another program has just changed %s: try again",
				 file.path);
	return r;
}

static bool is_limit(const char *name)
{
	return starts_with(name, "limits.") || strstr(name, ".limits.");
}

static int cmd_config_set(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *name = app->operands.items[0];
	const char *value = app->operands.count > 1 ? app->operands.items[1] : NULL;
	cleanup_strvec struct strvec parts = { 0 };
	cleanup_free char *literal = NULL;
	const struct toml_key *key;
	bool changed;
	if (given->unset == (value != NULL))
		return error_set(err, ERROR_USAGE,
				 value ? "give a value, or --unset, and not both"
				       : "give a value for %s, or --unset",
				 name);
	if (find_key(name, &key, &parts, err) < 0 ||
	    (value && choose_literal(key, &parts, value, &literal, err) < 0) ||
	    change(app, &parts, literal, &changed, err) < 0)
		return -1;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "key", name);
	json_set_bool(object, "changed", changed);
	const char *note = changed && is_limit(name)
				   ? "; sessions that run keep their limits until their next start"
				   : "";
	return print_done(app, object,
			  value ? xasprintf("%s %s %s%s", name, changed ? "=" : "is already",
					    literal, note)
				: xasprintf("%s %s%s", name,
					    changed ? "has its default now" : "was not set", note));
}

static struct offer offer_value(const char *name)
{
	static const char *const flags[] = { "true", "false" };
	const struct toml_key *key = settings_find_key(name, NULL);
	struct offer offer = { 0 };
	if (key && streq(key->path, "resume.agents"))
		key = settings_find_key("resume.policy", NULL);
	if (!key)
		return offer;
	for (offer.words = key->words; key->words && key->words[offer.count];)
		offer.count++;
	if (!key->words && (key->type == TOML_BOOL || key->type == TOML_WORD))
		offer = (struct offer){ .words = flags, .count = ARRAY_SIZE(flags) };
	else if (streq(key->path, "default_agent"))
		offer.kind = VALUE_AGENT;
	else if (streq(key->path, "notify.command"))
		offer.kind = VALUE_PROGRAM;
	else if (streq(key->path, "tmux.conf"))
		offer.kind = VALUE_FILE;
	return offer;
}

static struct offer offer(const struct app *line, bool behind_dashes UNUSED)
{
	if (line->operands.count == 0)
		return (struct offer){ .kind = VALUE_KEY_TO_SET };
	return line->operands.count == 1 ? offer_value(line->operands.items[0])
					 : (struct offer){ 0 };
}

const struct command command_config_set = {
	.name = "config set",
	.kind = COMMAND_CHANGES,
	.arguments = "KEY [VALUE]",
	.summary = "set a key of config.toml; comments and order stay",
	OWN_OPTIONS,
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_config_set,
	.offer = offer,
};
