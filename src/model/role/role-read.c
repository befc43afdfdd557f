/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of keys of a devcontainer.json: what each one is for, and what becomes of it.
 */
#include "model/role/role-internal.h"

#include "base/fsutil.h"
#include "base/jsonc.h"
#include "base/nearest.h"
#include "model/session/naming.h"

#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

/* Nothing is asked for with this. */
static bool is_nothing(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		return true;
	case json_type_boolean:
		return !json_object_get_boolean(value);
	case json_type_object:
		return json_object_object_length(value) == 0;
	case json_type_array:
		return json_object_array_length(value) == 0;
	case json_type_string:
		return json_object_get_string_len(value) == 0;
	default:
		return false;
	}
}

struct key {
	const char *name;
	enum json_type type; /* of the value; json_type_null: the reader looks itself */
	void (*read)(struct reading *reading, struct json_object *value);
	/* Without a reader: what is said when the key asks for something; NULL: nothing. */
	enum role_verdict verdict;
	const char *text;
};

#define RUNS(key_name, value_type, reader)                                           \
	{                                                                            \
		.name = (key_name), .type = json_type_##value_type, .read = (reader) \
	}
#define IS_SILENT(key_name)                              \
	{                                                \
		.name = (key_name), .verdict = ROLE_RUNS \
	}
#define NOTES(key_name, why)                                            \
	{                                                               \
		.name = (key_name), .verdict = ROLE_NOTE, .text = (why) \
	}
#define IS_REFUSED(key_name, why)                                          \
	{                                                                  \
		.name = (key_name), .verdict = ROLE_REFUSED, .text = (why) \
	}

static void read_member(struct reading *reading, const struct key *key, struct json_object *value)
{
	role_enter(reading, key->name);
	if (is_nothing(value))
		;
	else if (!key->read && key->text)
		role_find(reading, key->verdict, "%s", key->text);
	else if (key->read && key->type != json_type_null && !json_object_is_type(value, key->type))
		role_find(reading, ROLE_REFUSED, "this must be %s",
			  key->type == json_type_object    ? "an object"
			  : key->type == json_type_array   ? "a list"
			  : key->type == json_type_boolean ? "true or false"
							   : "a text");
	else if (key->read)
		key->read(reading, value);
	role_leave(reading);
}

/* In the order of the table: a later key may name what an earlier one has set. */
static void read_table(struct reading *reading, struct json_object *object, const struct key *keys,
		       size_t count, enum role_verdict unknown)
{
	struct json_object *value;
	for (size_t i = 0; i < count; i++)
		if (json_object_object_get_ex(object, keys[i].name, &value))
			read_member(reading, &keys[i], value);
	json_object_object_foreach(object, name, item) {
		cleanup_nearest struct nearest nearest = nearest_begin(name);
		bool is_known = unknown == ROLE_NOTE && is_nothing(item);
		for (size_t i = 0; i < count && !is_known; i++) {
			is_known = streq(keys[i].name, name);
			nearest_consider(&nearest, keys[i].name, keys[i].name);
		}
		if (is_known)
			continue;
		cleanup_free char *meant = nearest_text(&nearest, 3);
		role_enter(reading, name);
		role_find(reading, unknown, "there is no such key%s%s%s%s",
			  unknown == ROLE_NOTE ? ", so it changes nothing" : "",
			  meant ? ": did you mean " : "", or_empty(meant), meant ? "?" : "");
		role_leave(reading);
	}
}

/* ---- the readers ----------------------------------------------------------------------------- */

static void take_text(struct reading *reading, struct json_object *value, char **slot)
{
	char *text = role_text(reading, value, ROLE_REFUSED);
	if (!text)
		return;
	free(*slot);
	*slot = text;
}

/* Without "." and "..", and with something between the slashes. */
static bool is_plain_path(const char *path)
{
	const char *at = path;
	while (*at == '/') {
		const size_t length = strcspn(++at, "/");
		if (!length || (length == 1 && *at == '.') ||
		    (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += length;
	}
	return at > path && !*at;
}

static void read_workspace(struct reading *reading, struct json_object *value)
{
	cleanup_free char *path = role_text(reading, value, ROLE_REFUSED);
	if (path && is_plain_path(path))
		replace_string(&reading->role->workspace, path);
	else if (path)
		role_find(reading, ROLE_NOTE, "%s is no path in a container, so it is %s", path,
			  reading->role->workspace);
}

static void read_name(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &reading->role->name);
}

static void read_image(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &reading->role->image);
}

static void read_user(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &reading->role->user);
	role_find(reading, ROLE_NOTE,
		  "the agent has your number in the container, not that of this user, so that the "
		  "files that it writes are yours");
}

static void take_path(struct reading *reading, struct json_object *value, char **slot)
{
	cleanup_free char *path = role_text(reading, value, ROLE_REFUSED);
	if (!path)
		return;
	cleanup_free char *shown = visible(path);
	if (*path == '/' || !streq(shown, path))
		role_find(reading, ROLE_REFUSED, "%s: write a path below the role's own directory",
			  path);
	else
		replace_string(slot, path);
}

static void read_dockerfile(struct reading *reading, struct json_object *value)
{
	take_path(reading, value, &reading->role->dockerfile);
}

static void read_context(struct reading *reading, struct json_object *value)
{
	take_path(reading, value, &reading->role->context);
}

static void read_target(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &reading->role->target);
}

static void read_build_args(struct reading *reading, struct json_object *value)
{
	json_object_object_foreach(value, name, item) {
		role_enter(reading, name);
		cleanup_free char *text = role_text(reading, item, ROLE_REFUSED);
		if (text && recipe_is_variable(name))
			strvec_pushf(&reading->role->build_args, "%s=%s", name, text);
		else if (text)
			role_find(reading, ROLE_REFUSED, "%s is no name of a build argument", name);
		role_leave(reading);
	}
}

static void read_build(struct reading *reading, struct json_object *value)
{
	static const struct key keys[] = {
		RUNS("dockerfile", string, read_dockerfile),
		RUNS("context", string, read_context),
		RUNS("target", string, read_target),
		RUNS("args", object, read_build_args),
		NOTES("cacheFrom", "left out: a build downloads nothing"),
		IS_REFUSED("options", "options of docker build"),
	};
	read_table(reading, value, keys, ARRAY_SIZE(keys), ROLE_NOTE);
	if (!reading->role->dockerfile)
		role_find(reading, ROLE_REFUSED, "it names no dockerfile");
}

static void read_environment(struct reading *reading, struct json_object *value)
{
	json_object_object_foreach(value, name, item) {
		role_enter(reading, name);
		cleanup_free char *text = json_object_is_type(item, json_type_null)
						  ? NULL
						  : role_text(reading, item, ROLE_NOTE);
		if (text)
			role_set_variable(reading, name, text);
		role_leave(reading);
	}
}

static void read_capabilities(struct reading *reading, struct json_object *value)
{
	const size_t count = json_object_array_length(value);
	for (size_t i = 0; i < count; i++) {
		role_enter_index(reading, i);
		cleanup_free char *text = role_text(reading, json_object_array_get_idx(value, i),
						    ROLE_REFUSED);
		if (text)
			role_add_capability(reading, text);
		role_leave(reading);
	}
}

static void read_cpus(struct reading *reading, struct json_object *value)
{
	double number;
	const char *text = json_object_get_string(value);
	if (recipe_cpus_parse(text, &number))
		replace_string(&reading->role->cpus, text);
	else
		role_find(reading, ROLE_REFUSED, "%s is no number of processors", text);
}

static void read_memory(struct reading *reading, struct json_object *value)
{
	role_set_memory(reading, json_object_get_string(value));
}

static void read_gpu(struct reading *reading, struct json_object *value)
{
	const bool is_optional = streq(json_object_get_string(value), "optional");
	role_find(reading, is_optional ? ROLE_NOTE : ROLE_REFUSED,
		  "a container gets no devices of this machine");
}

static void read_requirements(struct reading *reading, struct json_object *value)
{
	static const struct key keys[] = {
		RUNS("cpus", null, read_cpus),
		RUNS("memory", string, read_memory),
		NOTES("storage", "a container gets no limit of its disk"),
		RUNS("gpu", null, read_gpu),
	};
	read_table(reading, value, keys, ARRAY_SIZE(keys), ROLE_NOTE);
}

/* ---- customizations.agentdeck.env ------------------------------------------------------------ */

static struct role_question *question_of(const struct reading *reading)
{
	return &reading->role->questions[reading->role->question_count - 1];
}

static void read_texts(struct reading *reading, struct json_object *value, struct strvec *ret)
{
	cleanup_strvec struct strvec texts = { 0 };
	(void)role_texts(reading, value, &texts);
	for (size_t i = 0; i < texts.count; i++)
		if (!strvec_contains(ret, texts.items[i]))
			strvec_push(ret, texts.items[i]);
}

static void read_prompt(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &question_of(reading)->prompt);
}

static void read_default(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &question_of(reading)->otherwise);
}

static void read_choices(struct reading *reading, struct json_object *value)
{
	read_texts(reading, value, &question_of(reading)->options);
}

static void read_after(struct reading *reading, struct json_object *value)
{
	read_texts(reading, value, &question_of(reading)->after);
}

static void read_skippable(struct reading *reading, struct json_object *value UNUSED)
{
	question_of(reading)->is_skippable = true;
}

static void read_secret(struct reading *reading, struct json_object *value UNUSED)
{
	question_of(reading)->is_secret = true;
}

static void read_question(struct reading *reading, const char *name, struct json_object *value)
{
	static const struct key keys[] = {
		RUNS("prompt", string, read_prompt),        RUNS("default", string, read_default),
		RUNS("options", array, read_choices),       RUNS("depends_on", array, read_after),
		RUNS("skippable", boolean, read_skippable), RUNS("secret", boolean, read_secret),
	};
	struct role *role = reading->role;
	if (!recipe_is_variable(name) || streq(name, "HOME") || starts_with(name, "AGENTDECK_")) {
		role_find(reading, ROLE_REFUSED, "a role cannot ask for the variable %s", name);
		return;
	}
	if (!json_object_is_type(value, json_type_object)) {
		role_find(reading, ROLE_REFUSED, "this must be an object");
		return;
	}
	role->questions = xreallocarray(role->questions, role->question_count + 1,
					sizeof(*role->questions));
	role->questions[role->question_count++] = (struct role_question){ .name = xstrdup(name) };
	read_table(reading, value, keys, ARRAY_SIZE(keys), ROLE_REFUSED);
}

static void read_questions(struct reading *reading, struct json_object *value)
{
	if (json_object_object_length(value) > ROLE_MAX_QUESTIONS) {
		role_find(reading, ROLE_REFUSED, "it asks for more than %d variables",
			  ROLE_MAX_QUESTIONS);
		return;
	}
	json_object_object_foreach(value, name, item) {
		role_enter(reading, name);
		read_question(reading, name, item);
		role_leave(reading);
	}
	role_settle_questions(reading);
}

static void read_agent(struct reading *reading, struct json_object *value)
{
	take_text(reading, value, &reading->role->agent);
}

/* Only the user decides which logins a container gets: --auth NAME=HOW. */
static void read_logins(struct reading *reading, struct json_object *value)
{
	struct strvec *logins = &reading->role->logins;
	read_texts(reading, value, logins);
	for (size_t i = 0; i < logins->count; i++) {
		const char *name = logins->items[i];
		if (naming_is_agent(name))
			role_ask(reading, RIGHTS_STANDARD, "your login of %s", name);
		else
			role_find(reading, ROLE_REFUSED, "%s is not the name of a login", name);
	}
}

static void read_own_network(struct reading *reading, struct json_object *value)
{
	cleanup_free char *name = role_text(reading, value, ROLE_REFUSED);
	if (name)
		role_add_network(reading, name);
}

static void read_docker(struct reading *reading, struct json_object *value)
{
	cleanup_free char *how = role_text(reading, value, ROLE_REFUSED);
	if (how)
		role_add_docker(reading, how);
}

static void read_ours(struct reading *reading, struct json_object *value)
{
	static const struct key keys[] = {
		RUNS("agent", string, read_agent),         RUNS("docker", string, read_docker),
		RUNS("env", object, read_questions),       RUNS("logins", array, read_logins),
		RUNS("network", string, read_own_network),
	};
	read_table(reading, value, keys, ARRAY_SIZE(keys), ROLE_REFUSED);
}

/* What is there for editors is for them. */
static void read_customizations(struct reading *reading, struct json_object *value)
{
	static const struct key ours = RUNS("agentdeck", object, read_ours);
	struct json_object *own;
	if (json_object_object_get_ex(value, ours.name, &own))
		read_member(reading, &ours, own);
}

static const struct key keys[] = {
	IS_SILENT("$schema"),
	/* What the others can name as ${containerWorkspaceFolder}. */
	RUNS("workspaceFolder", string, read_workspace),
	RUNS("name", string, read_name),
	RUNS("image", string, read_image),
	RUNS("build", object, read_build),
	RUNS("dockerFile", string, read_dockerfile),
	RUNS("context", string, read_context),
	IS_REFUSED("dockerComposeFile", "a role is one container: Compose is not supported"),
	IS_SILENT("service"),
	IS_SILENT("runServices"),
	IS_REFUSED("features",
		   "features would run programs of others as root while the image is built: build "
		   "it with the devcontainer program, and name it as image"),
	IS_SILENT("overrideFeatureInstallOrder"),
	RUNS("containerEnv", object, read_environment),
	RUNS("remoteEnv", object, read_environment),
	RUNS("containerUser", string, read_user),
	RUNS("remoteUser", string, read_user),
	IS_SILENT("updateRemoteUserUID"),
	NOTES("userEnvProbe", "the agent gets no variables of a login shell"),
	NOTES("workspaceMount",
	      "the session's directory is mounted, at the path that it has outside and at "
	      "workspaceFolder"),
	RUNS("mounts", array, role_read_mounts),
	RUNS("runArgs", array, role_read_arguments),
	RUNS("capAdd", array, read_capabilities),
	IS_REFUSED("privileged", "the agent would have all power over this machine"),
	IS_REFUSED("securityOpt", "options of the engine that weaken what keeps the container "
				  "apart from this machine"),
	IS_SILENT("init"),
	IS_SILENT("overrideCommand"),
	IS_SILENT("shutdownAction"),
	RUNS("hostRequirements", object, read_requirements),
	NOTES("appPort", "no port of the container is opened on this machine"),
	NOTES("forwardPorts", "no port of the container is opened on this machine"),
	IS_SILENT("portsAttributes"),
	IS_SILENT("otherPortsAttributes"),
	NOTES("secrets", "agentdeck does not ask for them: give them with --secret NAME"),
	RUNS("initializeCommand", null, role_leave_command),
	RUNS("onCreateCommand", null, role_read_command),
	RUNS("updateContentCommand", null, role_read_command),
	RUNS("postCreateCommand", null, role_read_command),
	RUNS("postStartCommand", null, role_read_command),
	RUNS("postAttachCommand", null, role_leave_command),
	IS_SILENT("waitFor"),
	RUNS("customizations", object, read_customizations),
};

static void check_image(struct reading *reading)
{
	const struct role *role = reading->role;
	const bool has_build = role->dockerfile ||
			       json_object_object_get_ex(reading->file, "build", NULL);
	if (role->image && has_build)
		role_find(reading, ROLE_REFUSED,
			  "it names an image and a Dockerfile: omit one of them");
	else if (!role->image && !has_build &&
		 !json_object_object_get_ex(reading->file, "dockerComposeFile", NULL))
		role_find(reading, ROLE_REFUSED, "it names neither an image nor a Dockerfile");
}

int role_read(const char *text, size_t length, const struct role_order *order, struct role *ret,
	      struct error *err)
{
	if (length > ROLE_MAX_BYTES)
		return error_set(err, ERROR_CORRUPT, "%s:1:1: it has more than %d KiB", order->path,
				 ROLE_MAX_BYTES >> 10);
	cleanup_free char *plain = jsonc_plain(text, length);
	cleanup_json struct json_object *file = NULL;
	if (json_parse(plain, length, order->path, &file, err) < 0)
		return -1;
	if (!json_object_is_type(file, json_type_object))
		return error_set(err, ERROR_CORRUPT, "%s:1:1: it is no JSON object", order->path);
	const char *name = path_basename(order->workspace);
	struct role role = { .workspace = xasprintf("/workspaces/%s", *name ? name : "workspace") };
	struct reading reading = {
		.order = order, .text = plain, .length = length, .file = file, .role = &role
	};
	read_table(&reading, file, keys, ARRAY_SIZE(keys), ROLE_NOTE);
	check_image(&reading);
	strvec_clear(&reading.path);
	*ret = role;
	return 0;
}
