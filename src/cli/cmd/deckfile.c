/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/deckfile.h"

#include "base/argsplit.h"
#include "base/fsutil.h"
#include "base/toml.h"
#include "base/tomlmap.h"
#include "base/tomlschema.h"
#include "cli/cmd/commands.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static void declared_free(struct declared *declared)
{
	free(declared->title);
	free(declared->place);
	free(declared->path_place);
	free(declared->agent_place);
	free(declared->directory);
	free(declared->group);
	free(declared->agent);
	free(declared->tags);
	free(declared->message);
	strvec_clear(&declared->options);
	strvec_clear(&declared->command);
	strvec_clear(&declared->arguments);
}

void deckfile_free(struct deckfile *file)
{
	for (size_t i = 0; i < file->count; i++)
		declared_free(&file->sessions[i]);
	free(file->sessions);
	free(file->path);
	if (file->directory > 0)
		(void)close(file->directory);
	*file = (struct deckfile){ 0 };
}

/* ---- options of launch ------------------------------------------------------------------------ */

/* Options that only steer the command, or that have a key of their own, are not declarable. */
static bool is_declarable(const char *name)
{
	static const char *const others[] = { "title",      "message",      "message-file",
					      "attach",     "quick",        "no-wait",
					      "session-id", "no-supervise", "instead" };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (streq(name, others[i]))
			return false;
	return true;
}

static const struct command_option *option_named(const char *name)
{
	const struct command_option *option = command_launch.options;
	for (; option->name; option++)
		if (streq(option->name, name) && is_declarable(name))
			return option;
	return NULL;
}

/* The spelling of config.toml: memory_max. */
static char *spelled(const char *name, char from, char to)
{
	char *copy = xstrdup(name);
	for (char *at = copy; (at = strchr(at, from));)
		*at = to;
	return copy;
}

static int unknown(const struct toml_document *document, const char *path, const char *key,
		   struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "path", "args", "message", NULL });
	for (const struct command_option *option = command_launch.options; option->name; option++) {
		cleanup_free char *name = spelled(option->name, '-', '_');
		if (is_declarable(option->name))
			strvec_push(&names, name);
	}
	cleanup_free struct toml_key *keys = xcalloc(names.count, sizeof(*keys));
	for (size_t i = 0; i < names.count; i++)
		keys[i].path = names.items[i];
	const char *nearest = toml_nearest_key(key, keys, names.count);
	if (nearest)
		return toml_error(document, path, err, "unknown key \"%s\": did you mean \"%s\"?",
				  key, nearest);
	return toml_error(document, path, err,
			  "unknown key \"%s\": a session has path, args, message, and the options "
			  "of agentdeck launch",
			  key);
}

static int add_flag(const struct toml_document *document, const char *path,
		    const struct command_option *option, struct json_object *value,
		    struct declared *declared, struct error *err)
{
	cleanup_free char *opposite = xasprintf("no-%s", option->name);
	if (!json_object_is_type(value, json_type_boolean))
		return toml_type_error(document, path, value, "true or false", err);
	if (json_object_get_boolean(value))
		strvec_pushf(&declared->options, "--%s", option->name);
	else if (option_named(opposite))
		strvec_pushf(&declared->options, "--%s", opposite);
	return 0;
}

/* A name that no session could have is refused with its place. */
static int check_name(const struct toml_document *document, const char *path, const char *name,
		      int (*check)(const char *name, struct error *err), struct error *err)
{
	cleanup_error struct error why = { 0 };
	return check(name, &why) < 0 ? toml_error(document, path, err, "%s", why.message) : 0;
}

static int read_command(const struct toml_document *document, const char *path, const char *text,
			struct declared *declared, struct error *err)
{
	cleanup_error struct error why = { 0 };
	if (argsplit(text, &declared->command, &why) < 0)
		return toml_error(document, path, err, "%s: %s", path, why.message);
	return declared->command.count
		       ? 0
		       : toml_error(document, path, err, "%s is empty: name a program", path);
}

/* What up may have to change of a session is known to be right before it changes anything. */
static int check_text(const struct toml_document *document, const char *path, const char *name,
		      const char *text, struct declared *declared, struct error *err)
{
	enum resume_policy resume;
	enum restart_policy restart;
	if (streq(name, "group"))
		return check_name(document, path, text, naming_check_group, err);
	if (streq(name, "cmd"))
		return read_command(document, path, text, declared, err);
	if (streq(name, "resume") && !resume_policy_parse(text, &resume))
		return toml_error(document, path, err,
				  "%s must be auto, confirm, never or default, not \"%s\"", path,
				  text);
	if (streq(name, "restart") && !restart_policy_parse(text, &restart))
		return toml_error(document, path, err,
				  "%s must be no, on-failure, always or default, not \"%s\"", path,
				  text);
	return 0;
}

static int add_text(const struct toml_document *document, const char *path,
		    const struct command_option *option, struct json_object *value,
		    struct declared *declared, struct error *err)
{
	/* A limit may be a number; a name is a text. */
	const bool is_number = json_object_is_type(value, json_type_int) &&
			       !streq(option->name, "group") && !streq(option->name, "agent");
	if (!is_number && toml_check_string(document, path, value, err) < 0)
		return -1;
	const char *text = json_object_get_string(value);
	strvec_pushf(&declared->options, "--%s=%s", option->name, text);
	if (streq(option->name, "group"))
		replace_string(&declared->group, text);
	if (streq(option->name, "agent"))
		replace_string(&declared->agent, text);
	return check_text(document, path, option->name, text, declared, err);
}

static int add_limit(const struct toml_document *document, const char *path,
		     const struct command_option *option, struct json_object *value,
		     struct declared *declared, struct error *err)
{
	cleanup_error struct error why = { 0 };
	int64_t parsed;
	if (add_text(document, path, option, value, declared, err) < 0)
		return -1;
	if (limit_parse(option->limit, json_object_get_string(value), &parsed, &why) < 0)
		return toml_error(document, path, err, "%s: %s", path, why.message);
	*limit_of(&declared->limits.limits, option->limit) = parsed;
	declared->limits.given[option->limit] = true;
	return 0;
}

static int add_list(const struct toml_document *document, const char *path,
		    const struct command_option *option, struct json_object *value,
		    struct declared *declared, struct error *err)
{
	cleanup_strvec struct strvec items = { 0 };
	cleanup_error struct error why = { 0 };
	cleanup_free char *tags = NULL;
	const struct toml_key key = { .path = path };
	if (toml_store_strings(document, &key, value, &items, err) < 0)
		return -1;
	for (size_t i = 0; i < items.count; i++)
		strvec_pushf(&declared->options, "--%s=%s", option->name, items.items[i]);
	if (!streq(option->name, "tag"))
		return 0;
	if (tags_join(&items, &tags, &why) < 0)
		return toml_error(document, path, err, "%s: %s", path, why.message);
	declared->tags = tags ? TAKE_PTR(tags) : xstrdup("");
	return 0;
}

static int add_option(const struct toml_document *document, const char *path, const char *key,
		      struct json_object *value, struct declared *declared, struct error *err)
{
	cleanup_free char *name = spelled(key, '_', '-');
	const struct command_option *option = option_named(name);
	if (!option)
		return unknown(document, path, key, err);
	const bool may_be_bare = option->argument && option->argument[0] == '[' &&
				 json_object_is_type(value, json_type_boolean);
	if (option->type == OPTION_FLAG || may_be_bare)
		return add_flag(document, path, option, value, declared, err);
	if (option->type == OPTION_LIST)
		return add_list(document, path, option, value, declared, err);
	if (option->type == OPTION_LIMIT)
		return add_limit(document, path, option, value, declared, err);
	return add_text(document, path, option, value, declared, err);
}

/* ---- the file --------------------------------------------------------------------------------- */

/* A path that a shell would take: "~" is the home, and another one is from the file. */
static char *whole_path(const struct deckfile *file, const char *path)
{
	cleanup_free char *base = xstrndup(file->path,
					   (size_t)(path_basename(file->path) - file->path));
	if (streq(path, "~") || starts_with(path, "~/"))
		return xasprintf("%s%s", file->home, path + 1);
	return *path == '/' ? xstrdup(path) : xasprintf("%s%s", base, path);
}

/* The directory as the session will have it, so that both can be compared. */
static int settle_directory(const struct deckfile *file, struct declared *declared,
			    struct error *err)
{
	cleanup_free char *path = whole_path(file, or_empty(declared->directory));
	char *real = NULL;
	int r = fs_real_directory(path, &real, err);
	if (r < 0)
		return -1;
	free(declared->directory);
	declared->directory = real ? real : TAKE_PTR(path);
	return 0;
}

static char *find_place(const struct toml_document *document, const char *path)
{
	unsigned line, column;
	toml_place(document->places, path, &line, &column);
	return xasprintf("%s:%u:%u", document->what, line, column);
}

static int read_value(const struct toml_document *document, const char *path, const char *key,
		      struct json_object *value, struct declared *declared, struct error *err)
{
	const struct toml_key one = { .path = path };
	if (streq(key, "path"))
		return toml_store_string(document, &one, value, &declared->directory, err);
	if (streq(key, "message"))
		return toml_store_string(document, &one, value, &declared->message, err);
	if (streq(key, "args")) {
		declared->has_arguments = true;
		return toml_store_strings(document, &one, value, &declared->arguments, err);
	}
	return add_option(document, path, key, value, declared, err);
}

static int read_session(const struct toml_document *document, const char *title,
			struct json_object *table, const struct deckfile *file,
			struct declared *declared, struct error *err)
{
	cleanup_free char *where = xasprintf("session.%s", title);
	cleanup_free char *path_key = xasprintf("%s.path", where);
	cleanup_free char *agent_key = xasprintf("%s.agent", where);
	declared->title = xstrdup(title);
	declared->place = find_place(document, where);
	declared->path_place = find_place(document, path_key);
	declared->agent_place = find_place(document, agent_key);
	if (!json_object_is_type(table, json_type_object))
		return toml_type_error(document, where, table, "a table", err);
	if (check_name(document, where, title, naming_check_title, err) < 0)
		return -1;
	json_object_object_foreach(table, key, value) {
		cleanup_free char *path = xasprintf("%s.%s", where, key);
		if (read_value(document, path, key, value, declared, err) < 0)
			return -1;
	}
	if (declared_has_option(declared, "--keep") && declared_has_option(declared, "--clean"))
		return toml_error(document, where, err,
				  "keep and clean exclude each other: choose one");
	return settle_directory(file, declared, err);
}

static int read_sessions(const struct toml_document *document, struct json_object *table,
			 struct deckfile *file, struct error *err)
{
	if (!json_object_is_type(table, json_type_object))
		return toml_type_error(document, "session", table, "a table", err);
	file->sessions = xcalloc((size_t)json_object_object_length(table) + 1,
				 sizeof(*file->sessions));
	json_object_object_foreach(table, title, value) {
		if (read_session(document, title, value, file, &file->sessions[file->count++],
				 err) < 0)
			return -1;
	}
	return 0;
}

static void use_group(struct deckfile *file, const char *group)
{
	for (size_t i = 0; i < file->count; i++) {
		struct declared *declared = &file->sessions[i];
		if (declared->group)
			continue;
		declared->group = xstrdup(group);
		strvec_pushf(&declared->options, "--group=%s", group);
	}
}

static int read_document(const struct toml_document *document, struct deckfile *file,
			 struct error *err)
{
	struct json_object *group = NULL;
	json_object_object_foreach(document->root, key, value) {
		if (streq(key, "group")) {
			group = value;
			if (toml_check_string(document, key, value, err) < 0 ||
			    check_name(document, key, json_object_get_string(value),
				       naming_check_group, err) < 0)
				return -1;
		} else if (!streq(key, "session")) {
			return toml_error(document, key, err,
					  "unknown key \"%s\": the file has group, and a table "
					  "[session.TITLE] for each session",
					  key);
		} else if (read_sessions(document, value, file, err) < 0) {
			return -1;
		}
	}
	if (group)
		use_group(file, json_object_get_string(group));
	return file->count ? 0
			   : error_set(err, ERROR_CORRUPT,
				       "%s names no session: write a table [session.TITLE] for "
				       "each",
				       file->path);
}

static int open_file(const char *path, struct deckfile *file, struct strbuf *ret, struct error *err)
{
	cleanup_free char *shown = visible(path);
	file->path = realpath(path, NULL);
	if (!file->path && errno == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "there is no %s: agentdeck up --help shows how to write one",
				 shown);
	if (!file->path)
		return error_set_errno(err, errno, "open %s", shown);
	cleanup_close int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", shown);
	if (fs_check_author(fd, path, err) < 0 || fs_read_fd(fd, path, FILE_MAX, ret, err) < 0)
		return -1;
	cleanup_free char *directory = xstrndup(file->path,
						(size_t)(path_basename(file->path) - file->path));
	file->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->directory < 0)
		return error_set_errno(err, errno, "open the directory of %s", shown);
	return 0;
}

int deckfile_read(const char *path, const char *home, struct deckfile *ret, struct error *err)
{
	cleanup_deckfile struct deckfile file = { .home = home };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_toml_document struct toml_document document = { 0 };
	if (open_file(path, &file, &text, err) < 0 ||
	    toml_document_parse(strbuf_text(&text), text.length, path, &document, err) < 0 ||
	    read_document(&document, &file, err) < 0)
		return -1;
	*ret = file;
	file = (struct deckfile){ 0 };
	return 0;
}

static const char *schema_of(const struct command_option *option)
{
	if (streq(option->name, "resume"))
		return "{\"enum\": [\"auto\", \"confirm\", \"never\", \"default\"]}";
	if (streq(option->name, "restart"))
		return "{\"enum\": [\"no\", \"on-failure\", \"always\", \"default\"]}";
	if (streq(option->name, "group") || streq(option->name, "agent"))
		return "{\"type\": \"string\"}";
	if (option->type == OPTION_FLAG)
		return "{\"type\": \"boolean\"}";
	if (option->type == OPTION_LIMIT)
		return limit_greatest(option->limit)
			       ? "{\"type\": [\"string\", \"integer\"], \"minimum\": 0, \"pattern\": "
				 "\"^(?:infinity|[0-9]+)$\"}"
			       : "{\"type\": [\"string\", \"integer\"], \"minimum\": 0, \"pattern\": "
				 "\"^(?:infinity|[0-9]+(?:(?:[.][0-9]+)?[KMGT])?)$\"}";
	if (option->type == OPTION_LIST)
		return "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}";
	return option->argument && option->argument[0] == '['
		       ? "{\"type\": [\"string\", \"integer\", \"boolean\"]}"
		       : "{\"type\": [\"string\", \"integer\"]}";
}

struct json_object *deckfile_schema(void)
{
	static const struct toml_shape none[] = { { NULL, NULL } };
	static const struct toml_key keys[] = {
		{ .path = "group", .store = toml_store_string },
		{ .path = "session", .type = TOML_TABLE },
	};
	static const struct toml_key own[] = {
		{ .path = "path", .store = toml_store_string },
		{ .path = "message", .store = toml_store_string },
		{ .path = "args", .store = toml_store_strings },
	};
	struct json_object *schema = toml_schema("agentdeck.toml: the sessions of a project", keys,
						 ARRAY_SIZE(keys), none);
	struct json_object *session = toml_schema("a session", own, ARRAY_SIZE(own), none);
	struct json_object *members = json_get_object(session, "properties");
	for (const struct command_option *option = command_launch.options; option->name; option++) {
		cleanup_free char *name = spelled(option->name, '-', '_');
		if (!is_declarable(option->name))
			continue;
		struct json_object *member = json_make_object(members, name);
		json_set_string(member, "description", option->help);
		toml_schema_lay(member, schema_of(option));
		if (option->type == OPTION_LIMIT && limit_greatest(option->limit))
			json_set_int(member, "maximum", limit_greatest(option->limit));
	}
	json_object_object_del(session, "$schema");
	toml_schema_lay(schema, "{\"required\": [\"session\"]}");
	struct json_object *sessions = json_get_object(json_get_object(schema, "properties"),
						       "session");
	toml_schema_lay(sessions, "{\"minProperties\": 1, \"propertyNames\": {\"minLength\": 1}}");
	json_set(sessions, "additionalProperties", session);
	return schema;
}

bool declared_has_option(const struct declared *declared, const char *word)
{
	return strvec_contains(&declared->options, word);
}

const char *declared_value(const struct declared *declared, const char *prefix)
{
	for (size_t i = 0; i < declared->options.count; i++)
		if (starts_with(declared->options.items[i], prefix))
			return declared->options.items[i] + strlen(prefix);
	return NULL;
}

void declared_launch(const struct declared *declared, enum launch_words whose, struct strvec *ret)
{
	strvec_push(ret, declared->directory);
	strvec_pushf(ret, "--title=%s", declared->title);
	strvec_push_all(ret, &declared->options);
	if (declared->message && whose == LAUNCH_OF_CREW)
		strvec_push(ret, "--message-file=-");
	else if (declared->message)
		strvec_pushf(ret, "--message=%s", declared->message);
	if (declared->arguments.count)
		strvec_push(ret, "--");
	strvec_push_all(ret, &declared->arguments);
}
