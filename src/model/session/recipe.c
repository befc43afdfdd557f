/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/recipe.h"

#include "base/fsutil.h"
#include "base/sha256.h"
#include "model/session/fields.h"

#include <string.h>

struct recipe *recipe_new(void)
{
	return xcalloc(1, sizeof(struct recipe));
}

/* Takes the texts. */
static void push_mount(struct recipe *recipe, struct recipe_mount mount)
{
	recipe->mounts = xreallocarray(recipe->mounts, recipe->mount_count + 1, sizeof(mount));
	recipe->mounts[recipe->mount_count++] = mount;
}

void recipe_add_mount(struct recipe *recipe, const char *source, const char *target, bool read_only)
{
	push_mount(recipe, (struct recipe_mount){ .source = xstrdup(source),
						  .target = xstrdup(target),
						  .read_only = read_only });
}

void recipe_add_tree_mount(struct recipe *recipe, const char *path, bool read_only)
{
	push_mount(recipe, (struct recipe_mount){ .source = xstrdup(path),
						  .target = xstrdup(path),
						  .read_only = read_only,
						  .of_tree = true });
}

/* Drops the user's mounts at target.  NULL: drops the mounts of the tree. */
static void drop_mounts(struct recipe *recipe, const char *target)
{
	size_t kept = 0;
	for (size_t i = 0; i < recipe->mount_count; i++) {
		struct recipe_mount *mount = &recipe->mounts[i];
		if (target ? mount->of_tree || !streq(mount->target, target) : !mount->of_tree) {
			recipe->mounts[kept++] = *mount;
			continue;
		}
		free(mount->source);
		free(mount->target);
	}
	recipe->mount_count = kept;
}

void recipe_drop_tree_mounts(struct recipe *recipe)
{
	drop_mounts(recipe, NULL);
}

void recipe_drop_mount(struct recipe *recipe, const char *target)
{
	drop_mounts(recipe, target);
}

void recipe_swap_mounts(struct recipe *recipe, struct recipe *other)
{
	const struct recipe before = *recipe;
	recipe->mounts = other->mounts;
	recipe->mount_count = other->mount_count;
	other->mounts = before.mounts;
	other->mount_count = before.mount_count;
}

static bool has_directory(const struct recipe *recipe, const struct recipe_mount *mount)
{
	const size_t length = strlen(mount->target);
	return mount->of_tree && recipe->directory &&
	       starts_with(recipe->directory, mount->target) &&
	       (recipe->directory[length] == '/' || !recipe->directory[length]);
}

bool recipe_has_tree(const struct recipe *recipe)
{
	for (size_t i = 0; i < recipe->mount_count; i++)
		if (has_directory(recipe, &recipe->mounts[i]))
			return true;
	return false;
}

const char *recipe_program_mount(const struct recipe *recipe)
{
	return recipe->program != PROGRAM_FROM_HOST ? NULL
	       : recipe->program_mount              ? recipe->program_mount
						    : recipe->program_directory;
}

/* The engine would make a directory for one of them in the other. */
static bool overlap(const char *a, const char *b)
{
	return path_is_below(a, b) || path_is_below(b, a);
}

bool recipe_has_workspace(const struct recipe *recipe)
{
	const char *workspace = recipe->workspace, *program = recipe_program_mount(recipe);
	if (!workspace || !recipe->directory || overlap(workspace, recipe->directory) ||
	    overlap(workspace, or_empty(recipe->home)) || overlap(workspace, "/etc/passwd") ||
	    (program && overlap(workspace, program)))
		return false;
	bool is_mounted = !recipe_has_tree(recipe);
	for (size_t i = 0; i < recipe->mount_count; i++) {
		const struct recipe_mount *mount = &recipe->mounts[i];
		is_mounted |= mount->of_tree && streq(mount->source, recipe->directory);
		if (overlap(workspace, mount->target))
			return false;
	}
	return is_mounted;
}

size_t recipe_places(const struct recipe *recipe, struct recipe_place **ret)
{
	struct recipe_place *places = xcalloc(recipe->mount_count + 3, sizeof(*places));
	size_t count = 0;
	if (recipe->directory && !recipe_has_tree(recipe))
		places[count++] = (struct recipe_place){ recipe->directory, recipe->directory,
							 false, RECIPE_DIRECTORY };
	for (size_t i = 0; i < recipe->mount_count; i++) {
		const struct recipe_mount *mount = &recipe->mounts[i];
		places[count++] = (struct recipe_place){
			mount->source,
			mount->target,
			mount->read_only,
			!mount->of_tree                ? RECIPE_MOUNT
			: has_directory(recipe, mount) ? RECIPE_TREE
						       : RECIPE_REPOSITORY,
		};
	}
	if (recipe_has_workspace(recipe))
		places[count++] = (struct recipe_place){
			recipe->directory, recipe->workspace, false,
			recipe_has_tree(recipe) ? RECIPE_TREE : RECIPE_DIRECTORY
		};
	const char *program = recipe_program_mount(recipe);
	if (program)
		places[count++] = (struct recipe_place){ program, program, true, RECIPE_PROGRAM };
	*ret = places;
	return count;
}

void recipe_add_command(struct recipe *recipe, const char *when, bool is_of_start,
			const struct strvec *argv)
{
	struct recipe_command command = { .when = xstrdup(when), .is_of_start = is_of_start };
	strvec_push_all(&command.argv, argv);
	recipe->commands = xreallocarray(recipe->commands, recipe->command_count + 1,
					 sizeof(command));
	recipe->commands[recipe->command_count++] = command;
}

void recipe_add_secret(struct recipe *recipe, const char *name, const char *source)
{
	for (size_t i = 0; i < recipe->secret_count; i++) {
		if (!streq(recipe->secrets[i].name, name))
			continue;
		replace_string(&recipe->secrets[i].source, source);
		return;
	}
	const struct recipe_secret secret = { .name = xstrdup(name), .source = xstrdup(source) };
	recipe->secrets = xreallocarray(recipe->secrets, recipe->secret_count + 1, sizeof(secret));
	recipe->secrets[recipe->secret_count++] = secret;
}

void recipe_add_slot(struct recipe *recipe, const char *name, enum recipe_login login)
{
	const struct recipe_slot slot = { .name = xstrdup(name), .login = login };
	recipe->slots = xreallocarray(recipe->slots, recipe->slot_count + 1, sizeof(slot));
	recipe->slots[recipe->slot_count++] = slot;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static const char *const program_words[] = {
	[PROGRAM_IN_IMAGE] = "image",
	[PROGRAM_FROM_HOST] = "host",
	NULL,
};

static const char *const login_words[] = {
	[LOGIN_SYNC] = "sync",
	[LOGIN_TOKEN] = "token",
	[LOGIN_IGNORE] = "ignore",
	NULL,
};

static const char *const docker_words[] = {
	[DOCKER_NONE] = "none",
	[DOCKER_ROOTLESS] = "rootless",
	[DOCKER_ROOTLESS_TCP] = "rootless-tcp",
	NULL,
};

bool recipe_program_parse(const char *name, enum recipe_program *ret)
{
	const int found = word_find(program_words, name);
	if (found >= 0)
		*ret = (enum recipe_program)found;
	return found >= 0;
}

const char *recipe_login_name(enum recipe_login login)
{
	return login_words[login];
}

bool recipe_login_parse(const char *name, enum recipe_login *ret)
{
	const int found = word_find(login_words, name);
	if (found >= 0)
		*ret = (enum recipe_login)found;
	return found >= 0;
}

const char *recipe_docker_name(enum recipe_docker docker)
{
	return docker_words[docker];
}

bool recipe_docker_parse(const char *name, enum recipe_docker *ret)
{
	const int found = word_find(docker_words, name);
	if (found >= 0)
		*ret = (enum recipe_docker)found;
	return found >= 0;
}

bool recipe_rights_parse(const char *name, enum recipe_rights *ret)
{
	static const char *const words[] = {
		[RIGHTS_LOCKED] = "locked",
		[RIGHTS_STANDARD] = "standard",
		[RIGHTS_OPEN] = "open",
		NULL,
	};
	const int found = word_find(words, name);
	if (found >= 0)
		*ret = (enum recipe_rights)found;
	return found >= 0;
}

static void read_cpus(const struct manifest_section *section, const char *key, void *record)
{
	struct recipe *recipe = record;
	struct json_object *value = json_object_object_get(section->object, key);
	if (!value)
		return;
	const double cpus = json_object_get_double(value);
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		manifest_fail(section, key, "is not a number");
	else if (!(cpus >= 0 && cpus <= RECIPE_MOST_CPUS))
		manifest_fail(section, key, "is out of range");
	else
		recipe->cpus = cpus;
}

static void put_cpus(struct json_object *object, const char *key, const void *record)
{
	const struct recipe *recipe = record;
	if (recipe->cpus > 0)
		json_set(object, key, json_object_new_double(recipe->cpus));
	else
		json_object_object_del(object, key);
}

static void check_secret(const struct manifest_section *section, void *record)
{
	const struct recipe_secret *secret = record;
	if (secret->name && !recipe_is_variable(secret->name))
		manifest_fail(section, "name", "is not the name of a variable");
}

static const struct field mount_members[] = {
	FIELD(struct recipe_mount, source, "source", .needed = true, .is_path = true),
	FIELD(struct recipe_mount, target, "target", .needed = true, .is_path = true,
	      .identifies = true),
	FIELD(struct recipe_mount, read_only, "read_only"),
	FIELD(struct recipe_mount, of_tree, "tree"),
};
static const struct fields mount_fields = FIELDS(struct recipe_mount, mount_members);

static const struct field secret_members[] = {
	FIELD(struct recipe_secret, name, "name", .needed = true, .identifies = true),
	FIELD(struct recipe_secret, source, "source", .needed = true),
};
static const struct fields secret_fields = FIELDS(struct recipe_secret, secret_members,
						  .check = check_secret);

static const struct field slot_members[] = {
	FIELD(struct recipe_slot, name, "name", .needed = true, .identifies = true),
	FIELD(struct recipe_slot, login, "login", .words = login_words, .always = true),
};
static const struct fields slot_fields = FIELDS(struct recipe_slot, slot_members);

static void check_recipe(const struct manifest_section *section, void *record)
{
	const struct recipe *recipe = record;
	if (recipe->program == PROGRAM_FROM_HOST && !recipe->program_directory)
		manifest_fail(section, "program_directory", "is missing");
	if (recipe->role_commit &&
	    (!recipe->role_url || !recipe->role || !starts_with(recipe->role, recipe->role_url)))
		manifest_fail(section, "role_url", "is missing, or is not that of the role");
}

static void check_command(const struct manifest_section *section, void *record)
{
	const struct recipe_command *command = record;
	if (!command->argv.count || !*command->argv.items[0])
		manifest_fail(section, "argv", "names no program");
}

static const struct field command_members[] = {
	FIELD(struct recipe_command, when, "when", .needed = true),
	FIELD(struct recipe_command, is_of_start, "each_start"),
	FIELD(struct recipe_command, argv, "argv"),
};
static const struct fields command_fields = FIELDS(struct recipe_command, command_members,
						   .check = check_command);

static const struct field recipe_members[] = {
	FIELD(struct recipe, within, "within"),
	FIELD(struct recipe, room, "room"),
	FIELD(struct recipe, engine, "engine", .needed = true),
	FIELD(struct recipe, address, "address", .needed = true),
	FIELD(struct recipe, tls, "tls"),
	FIELD(struct recipe, context, "context"),
	FIELD(struct recipe, image, "image"),
	FIELD(struct recipe, image_id, "image_id", .needed = true),
	FIELD(struct recipe, layers, "layers"),
	FIELD(struct recipe, keep_tag, "keep_tag"),
	FIELD(struct recipe, build, "build"),
	FIELD(struct recipe, build_hash, "build_hash"),
	FIELD(struct recipe, build_file, "build_file"),
	FIELD(struct recipe, build_target, "build_target"),
	FIELD(struct recipe, build_args, "build_args"),
	FIELD(struct recipe, bases, "bases"),
	FIELD(struct recipe, role, "role"),
	FIELD(struct recipe, role_digest, "role_digest"),
	FIELD(struct recipe, role_url, "role_url"),
	FIELD(struct recipe, role_ref, "role_ref"),
	FIELD(struct recipe, role_commit, "role_commit"),
	FIELD(struct recipe, user, "user", .needed = true),
	FIELD(struct recipe, home, "home", .needed = true, .is_path = true),
	FIELD(struct recipe, directory, "directory", .needed = true, .is_path = true),
	FIELD(struct recipe, workspace, "workspace", .is_path = true),
	FIELD(struct recipe, environment, "environment"),
	FIELD(struct recipe, program, "program", .words = program_words, .always = true),
	FIELD(struct recipe, program_directory, "program_directory"),
	FIELD(struct recipe, program_file, "program_file"),
	FIELD(struct recipe, program_mount, "program_mount"),
	FIELD(struct recipe, login, "login", .words = login_words, .always = true),
	FIELD(struct recipe, network, "network"),
	FIELD(struct recipe, cap_add, "cap_add"),
	FIELD(struct recipe, docker, "docker", .words = docker_words),
	FIELD(struct recipe, memory, "memory"),
	FIELD(struct recipe, pids, "pids"),
	{ .key = "cpus", .type = FIELD_CUSTOM, .read = read_cpus, .put = put_cpus },
	FIELD_OF_LIST(struct recipe, mounts, mount_count, "mounts", &mount_fields),
	FIELD_OF_LIST(struct recipe, secrets, secret_count, "secrets", &secret_fields),
	FIELD_OF_LIST(struct recipe, slots, slot_count, "logins", &slot_fields),
	FIELD_OF_LIST(struct recipe, commands, command_count, "commands", &command_fields),
};
const struct fields recipe_fields = FIELDS(struct recipe, recipe_members,
					   .unknown = offsetof(struct recipe, unknown),
					   .check = check_recipe);

void recipe_free(struct recipe *recipe)
{
	fields_free(&recipe_fields, recipe);
}

struct recipe *recipe_copy(const struct recipe *recipe)
{
	return fields_duplicate(&recipe_fields, recipe);
}

struct json_object *recipe_to_json(const struct recipe *recipe)
{
	return recipe ? fields_to_json(&recipe_fields, recipe) : NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

char *recipe_digest(const struct recipe *recipe)
{
	/* Digests are compared with those of earlier versions: a new key goes to the end, and is
	 * absent where its value is the default. */
	static const char *const keys[] = {
		"image_id", "user",        "home",    "directory",
		"mounts",   "environment", "program", "program_directory",
		"network",  "cap_add",     "cpus",    "program_mount",
		"docker",   "workspace",
	};
	cleanup_json struct json_object *all = manifest_copy(NULL), *made_of = manifest_copy(NULL);
	struct json_object *value;
	char digest[SHA256_TEXT_SIZE];
	fields_put(all, &recipe_fields, recipe);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_object_object_get_ex(all, keys[i], &value))
			json_set(made_of, keys[i], json_object_get(value));
	const char *text = json_object_to_json_string_ext(
		made_of, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	return xstrdup(sha256_text(text, digest));
}

/* The text in lower-case letters and digits, at most max of them.  The caller frees. */
static char *compact_name(const char *text, size_t max, const char *fallback)
{
	enum { SUFFIX = 4 };
	struct strbuf name = { 0 };
	for (const char *s = text; *s; s++) {
		char c = (char)(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			strbuf_add(&name, &c, 1);
	}
	if (!name.length)
		strbuf_adds(&name, fallback);
	if (name.length > max) {
		char digest[SHA256_TEXT_SIZE];
		(void)sha256_text(name.data, digest);
		memcpy(name.data + max - SUFFIX, digest, SUFFIX);
		name.data[max] = '\0';
	}
	return strbuf_take(&name);
}

char *recipe_base(const char *id, const char *directory, const char *agent)
{
	/* What the fixed parts leave is shared, and the spare of one part is not given to the
	 * other: a name says the same wherever it appears. */
	const size_t left = RECIPE_BASE_MAX - strlen("ad---") - strlen(id);
	const char *slash = strrchr(directory, '/');
	cleanup_free char *first = compact_name(slash ? slash + 1 : directory, left / 2, "dir");
	cleanup_free char *second = compact_name(agent, left - left / 2, "agent");
	return xasprintf("ad-%s-%s-%s", id, first, second);
}

/* ---- secrets --------------------------------------------------------------------------------- */

/* The decimal point does not depend on the locale. */
bool recipe_cpus_parse(const char *text, double *ret)
{
	const char *digits = "0123456789";
	const size_t whole = strspn(text, digits);
	const size_t part = text[whole] == '.' ? strspn(text + whole + 1, digits) : 0;
	const char *end = text + whole + (part ? part + 1 : 0);
	double value = 0, unit = 1;
	for (size_t i = 0; i < whole; i++)
		value = value * 10 + (text[i] - '0');
	for (size_t i = 0; i < part; i++)
		value += (text[whole + 1 + i] - '0') * (unit /= 10);
	if (whole == 0 || *end || value < 0.01 || value > RECIPE_MOST_CPUS)
		return false;
	*ret = value;
	return true;
}

bool recipe_is_variable(const char *name)
{
	size_t i = 0;
	while (name[i] == '_' || (name[i] >= 'a' && name[i] <= 'z') ||
	       (name[i] >= 'A' && name[i] <= 'Z') || (i && name[i] >= '0' && name[i] <= '9'))
		i++;
	return i && !name[i];
}

/* Is it the JSON array of an argv? */
static bool is_command(const char *text)
{
	cleanup_json struct json_object *array = NULL;
	cleanup_error struct error err = { 0 };
	if (json_parse(text, strlen(text), "command", &array, &err) < 0 ||
	    !json_object_is_type(array, json_type_array))
		return false;
	size_t count = json_object_array_length(array);
	for (size_t i = 0; i < count; i++) {
		struct json_object *word = json_object_array_get_idx(array, i);
		cleanup_free char *plain = json_object_is_type(word, json_type_string)
						   ? json_raw_text_of(word)
						   : NULL;
		if (!plain || (i == 0 && !*plain))
			return false;
	}
	return count > 0;
}

int recipe_check_secret(const char *name, const char *source, struct error *err)
{
	static const char env[] = "env:", file[] = "file:", command[] = "command:";
	cleanup_free char *shown = visible(name);
	if (!recipe_is_variable(name))
		return error_set(err, ERROR_USAGE,
				 "invalid variable '%s': use letters, digits and '_', and no digit "
				 "first",
				 shown);
	if (starts_with(source, env) && recipe_is_variable(source + strlen(env)))
		return 0;
	if (starts_with(source, file) && source[strlen(file)] == '/')
		return 0;
	if (starts_with(source, command) && is_command(source + strlen(command)))
		return 0;
	/* The source is not shown: it may be the secret itself, by mistake. */
	return error_set(err, ERROR_USAGE,
			 "invalid source of secret %s: say where its value comes from (examples: "
			 "env:%s, file:/run/keys/x, command:[\"pass\",\"show\",\"x\"])",
			 shown, shown);
}

bool recipe_is_root(const struct recipe *recipe)
{
	return streq(recipe->user, "0") || starts_with(recipe->user, "0:");
}
