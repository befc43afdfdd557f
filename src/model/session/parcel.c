/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/parcel.h"

#include "base/jsonio.h"
#include "base/version.h"
#include "model/session/fields.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HEXADECIMAL "0123456789abcdef"
#define PLAIN       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"

enum { NOTES_MAX = 4096, ORIGIN_MAX = 2 * PATH_MAX };

static const char is_foreign[] = "is not one that agentdeck makes";

/* ---- rules ----------------------------------------------------------------------------------- */

/* Absolute, and nothing in it goes up. */
bool parcel_is_path(const char *path)
{
	const size_t length = strlen(path);
	return path[0] == '/' && length < PATH_MAX && !strstr(path, "/../") &&
	       !(length >= 3 && streq(path + length - 3, "/.."));
}

/* An absolute path, or "~/...". */
static bool parcel_is_home(const char *path)
{
	return parcel_is_path(path + (starts_with(path, "~/") ? 1 : 0));
}

static bool is_notes(const char *notes)
{
	const size_t length = strlen(notes);
	return length <= NOTES_MAX && is_utf8(notes, length);
}

/* An origin is only compared. */
static bool is_origin(const char *origin)
{
	const size_t length = strlen(origin);
	return length <= ORIGIN_MAX && is_utf8(origin, length);
}

/* A path is never followed: the agent gets it as its id. */
static bool is_id(const struct parcel *parcel)
{
	return naming_is_session_id(parcel->session_id) ||
	       (!parcel->number && parcel_is_path(parcel->session_id));
}

/* Below a directory: plain names, none of which is hidden. */
bool parcel_is_place(const char *path)
{
	const size_t length = strlen(path);
	if (length == 0 || length >= PATH_MAX || path[length - 1] == '/' ||
	    strspn(path, PLAIN) != length)
		return false;
	for (const char *name = path; name; name = strchr(name, '/')) {
		name += *name == '/';
		if (*name == '.' || *name == '/')
			return false;
	}
	return path[0] != '/';
}

const char *parcel_fault(const struct parcel *parcel)
{
	const struct {
		const char *key;
		bool is_right;
	} rules[] = {
		{ "profile", naming_check_profile(parcel->profile, NULL) == 0 },
		{ "title", naming_check_title(parcel->title, NULL) == 0 },
		{ "group",
		  is_empty(parcel->group) || naming_check_group(parcel->group, NULL) == 0 },
		{ "id", naming_is_id(parcel->id) },
		{ "agent", naming_is_agent(parcel->agent) },
		{ "notes", !parcel->notes || is_notes(parcel->notes) },
		{ "session_id", !parcel->session_id || is_id(parcel) },
		{ "argv", parcel->argv.count > 0 },
		{ "directory", parcel_is_path(parcel->directory) },
		{ "launch_directory",
		  !parcel->launch_directory || parcel_is_path(parcel->launch_directory) },
		{ "repository", !parcel->repository || parcel_is_path(parcel->repository) },
		{ "config_home", !parcel->home || parcel_is_home(parcel->home) },
		{ "imported_from", !parcel->imported_from || is_origin(parcel->imported_from) },
		{ "conversation.path",
		  !parcel->place || (parcel_is_place(parcel->place) &&
				     (parcel->session_id || !strchr(parcel->place, '/'))) },
		{ "conversation.directory", !parcel->began || parcel_is_path(parcel->began) },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!rules[i].is_right)
			return rules[i].key;
	return NULL;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void read_digest(const struct manifest_section *section, const char *key, void *ret)
{
	struct parcel *parcel = ret;
	cleanup_free char *digest = manifest_need_text(section, key);
	if (digest && strlen(digest) == SHA256_TEXT_SIZE - 1 &&
	    strspn(digest, HEXADECIMAL) == SHA256_TEXT_SIZE - 1)
		memcpy(parcel->digest, digest, SHA256_TEXT_SIZE);
	else
		manifest_fail(section, key, is_foreign);
}

static void put_digest(struct json_object *object, const char *key, const void *source)
{
	const struct parcel *parcel = source;
	json_set_string(object, key, parcel->digest);
}

static void read_tags(const struct manifest_section *section, const char *key, void *ret)
{
	struct parcel *parcel = ret;
	parcel->tags = tags_from_json(section->object, key);
}

static void put_tags(struct json_object *object, const char *key, const void *source)
{
	const struct parcel *parcel = source;
	tags_to_json(object, key, parcel->tags);
}

static void check_file(const struct manifest_section *section, void *ret)
{
	const struct parcel *parcel = ret;
	if (!parcel->number || (!parcel->session_id && !parcel->place))
		manifest_fail(section, "number", is_foreign);
}

static const struct field file_members[] = {
	FIELD(struct parcel, number, "number", .decides = true),
	FIELD(struct parcel, size, "size_bytes", .always = true),
	{ .key = "sha256", .type = FIELD_CUSTOM, .read = read_digest, .put = put_digest },
	FIELD(struct parcel, place, "path"),
	FIELD(struct parcel, began, "directory"),
};
static const struct fields file_fields = FIELDS(struct parcel, file_members, .check = check_file);

static void check_parcel(const struct manifest_section *section, void *ret)
{
	const char *key = section->reader->failed ? NULL : parcel_fault(ret);
	if (key)
		manifest_fail(section, key, is_foreign);
}

static const struct field parcel_members[] = {
	FIELD(struct parcel, profile, "profile", .needed = true),
	FIELD(struct parcel, id, "id", .needed = true),
	FIELD(struct parcel, title, "title", .needed = true),
	FIELD(struct parcel, group, "group"),
	FIELD(struct parcel, notes, "notes"),
	FIELD(struct parcel, tags, "tags", .read = read_tags, .put = put_tags),
	FIELD(struct parcel, is_pinned, "is_pinned"),
	FIELD_OF_TIME(struct parcel, archived_at, "archived_at"),
	FIELD(struct parcel, agent, "agent", .needed = true),
	FIELD(struct parcel, directory, "directory", .needed = true),
	FIELD(struct parcel, launch_directory, "launch_directory"),
	FIELD(struct parcel, repository, "repository"),
	FIELD(struct parcel, home, "config_home"),
	FIELD(struct parcel, imported_from, "imported_from"),
	FIELD(struct parcel, argv, "argv"),
	FIELD(struct parcel, resume_policy, "resume", .words = resume_policy_words,
	      .absent = POLICY_DEFAULT, .always = true),
	FIELD(struct parcel, restart_policy, "restart", .words = restart_policy_words,
	      .always = true),
	FIELD(struct parcel, end_policy, "on_end", .words = end_policy_words, .always = true),
	FIELD(struct parcel, sleep_after, "sleep_after"),
	FIELD(struct parcel, limits.memory_high, "memory_high"),
	FIELD(struct parcel, limits.memory_max, "memory_max"),
	FIELD(struct parcel, limits.tasks_max, "tasks_max"),
	FIELD(struct parcel, limits.cpu_weight, "cpu_weight"),
	FIELD_OF_TIME(struct parcel, created_at, "created_at"),
	FIELD_OF_TIME(struct parcel, last_used_at, "last_used_at"),
	FIELD(struct parcel, session_id, "session_id"),
	{ .key = "conversation", .type = FIELD_STRUCT, .fields = &file_fields },
};
static const struct fields parcel_fields = FIELDS(struct parcel, parcel_members,
						  .check = check_parcel);

/* A name becomes that of a file. */
static void read_agents(const struct manifest_section *section, const char *key, void *ret)
{
	struct parcels *parcels = ret;
	struct json_object *agents = manifest_member(section, key, json_type_object);
	if (!agents)
		return;
	json_object_object_foreach(agents, name, text) {
		if (!naming_is_agent(name) || !json_object_is_type(text, json_type_string)) {
			manifest_fail(section, key, "has one that agentdeck does not make");
			return;
		}
		strvec_push(&parcels->agents, name);
		strvec_push(&parcels->agent_texts, json_object_get_string(text));
	}
}

static void put_agents(struct json_object *object, const char *key, const void *source)
{
	const struct parcels *parcels = source;
	struct json_object *agents = json_make_object(object, key);
	for (size_t i = 0; i < parcels->agents.count; i++)
		json_set_string(agents, parcels->agents.items[i], parcels->agent_texts.items[i]);
}

static const struct field parcels_members[] = {
	FIELD(struct parcels, host, "host"),
	FIELD_OF_TIME(struct parcels, made_at, "made_at"),
	FIELD(struct parcels, config, "config"),
	{ .key = "agents", .type = FIELD_CUSTOM, .read = read_agents, .put = put_agents },
	FIELD(struct parcels, agents, NULL),
	FIELD(struct parcels, agent_texts, NULL),
	FIELD_OF_LIST(struct parcels, items, count, "sessions", &parcel_fields, .needed = true,
		      .always = true),
};
static const struct fields parcels_fields = FIELDS(struct parcels, parcels_members);

void parcels_free(struct parcels *parcels)
{
	fields_clear(&parcels_fields, parcels);
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct parcel *append(struct parcels *parcels)
{
	parcels->items = xreallocarray(parcels->items, parcels->count + 1, sizeof(*parcels->items));
	struct parcel *parcel = &parcels->items[parcels->count++];
	*parcel = (struct parcel){ 0 };
	return parcel;
}

struct parcel *parcels_add(struct parcels *parcels, const struct instance *instance,
			   const struct strvec *argv)
{
	struct parcel *parcel = append(parcels);
	const char *lookup = instance_lookup_directory(instance);
	const char *launch = instance_launch_directory(instance);
	parcel->profile = xstrdup(instance->profile);
	parcel->id = xstrdup(instance->id);
	parcel->title = xstrdup(instance->title);
	parcel->group = xstrdup_or_null(instance->group);
	parcel->notes = xstrdup_or_null(instance->notes);
	parcel->tags = xstrdup_or_null(instance->tags);
	parcel->is_pinned = instance->is_pinned;
	parcel->archived_at = instance_archived_at(instance);
	parcel->agent = xstrdup(instance->agent);
	parcel->directory = xstrdup(lookup);
	parcel->launch_directory = streq(lookup, launch) ? NULL : xstrdup(launch);
	if (instance->workspace)
		parcel->repository = xstrdup_or_null(instance->workspace->source);
	strvec_push_all(&parcel->argv, argv);
	parcel->resume_policy = instance->resume_policy;
	parcel->restart_policy = instance->restart_policy;
	parcel->end_policy = instance->end_policy;
	parcel->sleep_after = xstrdup_or_null(instance->sleep_after);
	parcel->limits = instance->limits;
	parcel->created_at = instance->created_at;
	parcel->last_used_at = instance->last_used_at;
	return parcel;
}

void parcels_drop(struct parcels *parcels)
{
	fields_clear(&parcel_fields, &parcels->items[--parcels->count]);
}

char *parcels_text(const struct parcels *parcels)
{
	cleanup_json struct json_object *root = json_object_new_object();
	json_set_int(root, "format", PARCEL_FORMAT);
	json_set_string(root, "version", agentdeck_version);
	fields_put(root, &parcels_fields, parcels);
	return xasprintf("%s\n", json_print(root));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Each conversation has one session. */
static void check_numbers(const struct manifest_section *root, const struct parcels *parcels,
			  size_t count)
{
	bool *seen = xcalloc(count + 1, sizeof(*seen));
	size_t found = 0;
	for (size_t i = 0; i < parcels->count; i++) {
		const size_t number = parcels->items[i].number;
		if (number && number <= count && !seen[number])
			found++;
		else if (number)
			manifest_fail(root, "sessions", "names a conversation twice");
		if (number <= count)
			seen[number] = true;
	}
	if (found != count)
		manifest_fail(root, "sessions", "leaves out a conversation");
	free(seen);
}

int parcels_parse(const char *text, const char *what, size_t count, struct parcels *ret,
		  struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_parcels struct parcels parcels = { 0 };
	struct manifest_reader reader = { .what = what, .err = err };
	if (json_parse(text, strlen(text), what, &object, err) < 0)
		return -1;
	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "%s: is not a JSON object", what);
	if (manifest_check_format(object, what, PARCEL_FORMAT, err) < 0)
		return -1;
	const struct manifest_section root = { .reader = &reader, .name = "", .object = object };
	fields_read(&root, &parcels_fields, &parcels);
	check_numbers(&root, &parcels, count);
	if (reader.failed)
		return -1;
	*ret = parcels;
	parcels = (struct parcels){ 0 };
	return 0;
}
