/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/parcel.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/version.h"
#include "model/session/manifest-internal.h"
#include "model/session/naming.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HEXADECIMAL "0123456789abcdef"
#define PLAIN       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"

enum { NOTES_MAX = 4096, ORIGIN_MAX = 2 * PATH_MAX };

static void parcel_clear(struct parcel *parcel)
{
	free(parcel->profile);
	free(parcel->id);
	free(parcel->title);
	free(parcel->group);
	free(parcel->notes);
	free(parcel->agent);
	free(parcel->directory);
	free(parcel->launch_directory);
	free(parcel->repository);
	free(parcel->home);
	free(parcel->imported_from);
	free(parcel->resume);
	free(parcel->restart);
	free(parcel->session_id);
	free(parcel->place);
	free(parcel->began);
	strvec_clear(&parcel->argv);
}

void parcels_free(struct parcels *parcels)
{
	for (size_t i = 0; i < parcels->count; i++)
		parcel_clear(&parcels->items[i]);
	free(parcels->items);
	free(parcels->host);
	free(parcels->config);
	strvec_clear(&parcels->agents);
	strvec_clear(&parcels->agent_texts);
	*parcels = (struct parcels){ 0 };
}

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
	parcel->agent = xstrdup(instance->agent);
	parcel->directory = xstrdup(lookup);
	parcel->launch_directory = streq(lookup, launch) ? NULL : xstrdup(launch);
	if (instance->workspace)
		parcel->repository = xstrdup_or_null(instance->workspace->source);
	strvec_push_all(&parcel->argv, argv);
	parcel->resume = xstrdup(resume_policy_name(instance->resume_policy));
	parcel->restart = xstrdup(restart_policy_name(instance->restart_policy));
	parcel->end_policy = instance->end_policy;
	parcel->limits = instance->limits;
	parcel->created_at = instance->created_at;
	parcel->last_used_at = instance->last_used_at;
	return parcel;
}

void parcels_drop(struct parcels *parcels)
{
	parcel_clear(&parcels->items[--parcels->count]);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static struct json_object *json_of(const struct parcel *parcel)
{
	struct json_object *object = json_object_new_object();
	manifest_put_text(object, "profile", parcel->profile);
	manifest_put_text(object, "id", parcel->id);
	manifest_put_text(object, "title", parcel->title);
	manifest_put_text(object, "group", parcel->group);
	manifest_put_text(object, "notes", parcel->notes);
	manifest_put_text(object, "agent", parcel->agent);
	manifest_put_text(object, "directory", parcel->directory);
	manifest_put_text(object, "launch_directory", parcel->launch_directory);
	manifest_put_text(object, "repository", parcel->repository);
	manifest_put_text(object, "config_home", parcel->home);
	manifest_put_text(object, "imported_from", parcel->imported_from);
	manifest_put_texts(object, "argv", &parcel->argv);
	manifest_put_text(object, "resume", parcel->resume);
	manifest_put_text(object, "restart", parcel->restart);
	manifest_put_text(object, "on_end", end_policy_name(parcel->end_policy));
	manifest_put_number(object, "memory_high", parcel->limits.memory_high);
	manifest_put_number(object, "memory_max", parcel->limits.memory_max);
	manifest_put_number(object, "tasks_max", parcel->limits.tasks_max);
	manifest_put_number(object, "cpu_weight", parcel->limits.cpu_weight);
	manifest_put_time(object, "created_at", parcel->created_at);
	manifest_put_time(object, "last_used_at", parcel->last_used_at);
	manifest_put_text(object, "session_id", parcel->session_id);
	if (parcel->number) {
		struct json_object *file = json_make_object(object, "conversation");
		json_set_int(file, "number", (int64_t)parcel->number);
		json_set_int(file, "size_bytes", (int64_t)parcel->size);
		json_set_string(file, "sha256", parcel->digest);
		manifest_put_text(file, "path", parcel->place);
		manifest_put_text(file, "directory", parcel->began);
	}
	return object;
}

char *parcels_text(const struct parcels *parcels)
{
	cleanup_json struct json_object *root = json_object_new_object();
	struct json_object *list = json_object_new_array();
	json_set_int(root, "format", PARCEL_FORMAT);
	json_set_string(root, "version", agentdeck_version);
	manifest_put_text(root, "host", parcels->host);
	manifest_put_time(root, "made_at", parcels->made_at);
	manifest_put_text(root, "config", parcels->config);
	struct json_object *agents = json_make_object(root, "agents");
	for (size_t i = 0; i < parcels->agents.count; i++)
		json_set_string(agents, parcels->agents.items[i], parcels->agent_texts.items[i]);
	for (size_t i = 0; i < parcels->count; i++)
		json_object_array_add(list, json_of(&parcels->items[i]));
	json_set(root, "sessions", list);
	return xasprintf("%s\n", json_print(root));
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* Absolute, and nothing in it goes up. */
bool parcel_is_path(const char *path)
{
	const size_t length = strlen(path);
	return path[0] == '/' && length < PATH_MAX && !strstr(path, "/../") &&
	       !(length >= 3 && streq(path + length - 3, "/.."));
}

bool parcel_is_home(const char *path)
{
	return parcel_is_path(path + (starts_with(path, "~/") ? 1 : 0));
}

static void need(const struct manifest_section *section, const char *key, bool is_right)
{
	if (!is_right)
		manifest_fail(section, key, "is not one that agentdeck makes");
}

static bool is_notes(const char *notes)
{
	const size_t length = strlen(notes);
	return length <= NOTES_MAX && is_utf8(notes, length);
}

/* It is only compared. */
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

static void check_names(const struct manifest_section *section, const struct parcel *parcel)
{
	const char *key = section->reader->failed ? NULL : parcel_fault(parcel);
	if (key)
		need(section, key, false);
}

static void read_file(const struct manifest_section *section, size_t count, struct parcel *parcel)
{
	const struct manifest_section file = manifest_section(section, "conversation",
							      "sessions[].conversation.");
	if (!file.object)
		return;
	cleanup_free char *digest = manifest_need_text(&file, "sha256");
	parcel->number = (size_t)manifest_int(&file, "number", (int64_t)count);
	parcel->size = (uint64_t)manifest_int(&file, "size_bytes", INT64_MAX);
	parcel->place = manifest_text(&file, "path");
	parcel->began = manifest_text(&file, "directory");
	if (!digest)
		return;
	need(&file, "number", parcel->number > 0 && (parcel->session_id || parcel->place));
	need(&file, "sha256",
	     strlen(digest) == SHA256_TEXT_SIZE - 1 &&
		     strspn(digest, HEXADECIMAL) == SHA256_TEXT_SIZE - 1);
	if (!section->reader->failed)
		memcpy(parcel->digest, digest, SHA256_TEXT_SIZE);
}

static void read_policies(const struct manifest_section *section, struct parcel *parcel)
{
	enum resume_policy resume = POLICY_DEFAULT;
	enum restart_policy restart = RESTART_DEFAULT;
	MANIFEST_WORD(section, "resume", resume_policy_parse, &resume);
	MANIFEST_WORD(section, "restart", restart_policy_parse, &restart);
	MANIFEST_WORD(section, "on_end", end_policy_parse, &parcel->end_policy);
	parcel->resume = xstrdup(resume_policy_name(resume));
	parcel->restart = xstrdup(restart_policy_name(restart));
	parcel->limits.memory_high = manifest_int(section, "memory_high", INT64_MAX);
	parcel->limits.memory_max = manifest_int(section, "memory_max", INT64_MAX);
	parcel->limits.tasks_max = manifest_int(section, "tasks_max", INT64_MAX);
	parcel->limits.cpu_weight = manifest_int(section, "cpu_weight", INT64_MAX);
}

static void read_parcel(const struct manifest_section *section, size_t count, struct parcel *parcel)
{
	parcel->profile = manifest_need_text(section, "profile");
	parcel->id = manifest_need_text(section, "id");
	parcel->title = manifest_need_text(section, "title");
	parcel->group = manifest_text(section, "group");
	parcel->notes = manifest_text(section, "notes");
	parcel->agent = manifest_need_text(section, "agent");
	parcel->directory = manifest_need_text(section, "directory");
	parcel->launch_directory = manifest_text(section, "launch_directory");
	parcel->repository = manifest_text(section, "repository");
	parcel->home = manifest_text(section, "config_home");
	parcel->imported_from = manifest_text(section, "imported_from");
	manifest_texts(section, "argv", &parcel->argv);
	parcel->created_at = manifest_time(section, "created_at");
	parcel->last_used_at = manifest_time(section, "last_used_at");
	parcel->session_id = manifest_text(section, "session_id");
	read_policies(section, parcel);
	read_file(section, count, parcel);
	check_names(section, parcel);
}

/* A name becomes that of a file. */
static void read_agents(const struct manifest_section *root, struct parcels *parcels)
{
	struct json_object *agents = manifest_member(root, "agents", json_type_object);
	if (!agents)
		return;
	json_object_object_foreach(agents, name, text) {
		if (!naming_is_agent(name) || !json_object_is_type(text, json_type_string)) {
			manifest_fail(root, "agents", "has one that agentdeck does not make");
			return;
		}
		strvec_push(&parcels->agents, name);
		strvec_push(&parcels->agent_texts, json_object_get_string(text));
	}
}

static int check_format(const struct json_object *root, const char *what, struct error *err)
{
	const int64_t format = json_get_int(root, "format", 0);
	if (format > PARCEL_FORMAT)
		return error_set(err, ERROR_NEWER,
				 "%s: format %lld was written by a newer agentdeck (this one knows "
				 "up to %d): install that version",
				 what, (long long)format, PARCEL_FORMAT);
	return format < 1 ? error_set(err, ERROR_CORRUPT,
				      "%s: format is missing or not a format number", what)
			  : 0;
}

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
	if (check_format(object, what, err) < 0)
		return -1;
	const struct manifest_section root = { .reader = &reader, .name = "", .object = object };
	parcels.host = manifest_text(&root, "host");
	parcels.config = manifest_text(&root, "config");
	parcels.made_at = manifest_time(&root, "made_at");
	read_agents(&root, &parcels);
	struct json_object *list = manifest_require(&root, "sessions")
					   ? manifest_member(&root, "sessions", json_type_array)
					   : NULL;
	for (size_t i = 0; list && !reader.failed && i < json_object_array_length(list); i++) {
		const struct manifest_section section = {
			.reader = &reader,
			.name = "sessions[].",
			.object = json_object_array_get_idx(list, i),
		};
		if (json_object_is_type(section.object, json_type_object))
			read_parcel(&section, count, append(&parcels));
		else
			manifest_fail(&root, "sessions", "has something that is not an object");
	}
	check_numbers(&root, &parcels, count);
	if (reader.failed)
		return -1;
	*ret = parcels;
	parcels = (struct parcels){ 0 };
	return 0;
}
