/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/recipe.h"

#include "base/sha256.h"
#include "model/session/manifest-internal.h"

#include <stddef.h>
#include <string.h>

/* ---- members --------------------------------------------------------------------------------- */

enum text_kind { TEXT_OPTIONAL, TEXT_REQUIRED, TEXT_PATH };

/* The members that are one text. */
static const struct text_member {
	const char *key;
	size_t offset;
	enum text_kind kind;
} text_members[] = {
	{ "engine", offsetof(struct recipe, engine), TEXT_REQUIRED },
	{ "address", offsetof(struct recipe, address), TEXT_REQUIRED },
	{ "tls", offsetof(struct recipe, tls), TEXT_OPTIONAL },
	{ "context", offsetof(struct recipe, context), TEXT_OPTIONAL },
	{ "image", offsetof(struct recipe, image), TEXT_OPTIONAL },
	{ "image_id", offsetof(struct recipe, image_id), TEXT_REQUIRED },
	{ "keep_tag", offsetof(struct recipe, keep_tag), TEXT_OPTIONAL },
	{ "build", offsetof(struct recipe, build), TEXT_OPTIONAL },
	{ "build_hash", offsetof(struct recipe, build_hash), TEXT_OPTIONAL },
	{ "base_id", offsetof(struct recipe, base_id), TEXT_OPTIONAL },
	{ "user", offsetof(struct recipe, user), TEXT_REQUIRED },
	{ "home", offsetof(struct recipe, home), TEXT_PATH },
	{ "directory", offsetof(struct recipe, directory), TEXT_PATH },
	{ "program_directory", offsetof(struct recipe, program_directory), TEXT_OPTIONAL },
	{ "program_file", offsetof(struct recipe, program_file), TEXT_OPTIONAL },
	{ "network", offsetof(struct recipe, network), TEXT_OPTIONAL },
};

/* The members that are a list of texts. */
static const struct list_member {
	const char *key;
	size_t offset;
} list_members[] = {
	{ "layers", offsetof(struct recipe, layers) },
	{ "base_layers", offsetof(struct recipe, base_layers) },
	{ "environment", offsetof(struct recipe, environment) },
	{ "cap_add", offsetof(struct recipe, cap_add) },
};

static char **text_of(const struct recipe *recipe, const struct text_member *member)
{
	return (void *)((char *)(uintptr_t)recipe + member->offset);
}

static struct strvec *list_of(const struct recipe *recipe, const struct list_member *member)
{
	return (void *)((char *)(uintptr_t)recipe + member->offset);
}

struct recipe *recipe_new(void)
{
	return xcalloc(1, sizeof(struct recipe));
}

void recipe_free(struct recipe *recipe)
{
	if (!recipe)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(text_members); i++)
		free(*text_of(recipe, &text_members[i]));
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		strvec_clear(list_of(recipe, &list_members[i]));
	for (size_t i = 0; i < recipe->mount_count; i++) {
		free(recipe->mounts[i].source);
		free(recipe->mounts[i].target);
	}
	free(recipe->mounts);
	for (size_t i = 0; i < recipe->secret_count; i++) {
		free(recipe->secrets[i].name);
		free(recipe->secrets[i].source);
	}
	free(recipe->secrets);
	json_object_put(recipe->unknown);
	free(recipe);
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

size_t recipe_places(const struct recipe *recipe, struct recipe_place **ret)
{
	struct recipe_place *places = xcalloc(recipe->mount_count + 2, sizeof(*places));
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
	if (recipe->program == PROGRAM_FROM_HOST && recipe->program_directory)
		places[count++] = (struct recipe_place){ recipe->program_directory,
							 recipe->program_directory, true,
							 RECIPE_PROGRAM };
	*ret = places;
	return count;
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

struct recipe *recipe_copy(const struct recipe *recipe)
{
	if (!recipe)
		return NULL;
	struct recipe *copy = recipe_new();
	for (size_t i = 0; i < ARRAY_SIZE(text_members); i++)
		*text_of(copy,
			 &text_members[i]) = xstrdup_or_null(*text_of(recipe, &text_members[i]));
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		strvec_push_all(list_of(copy, &list_members[i]), list_of(recipe, &list_members[i]));
	for (size_t i = 0; i < recipe->mount_count; i++) {
		struct recipe_mount mount = recipe->mounts[i];
		mount.source = xstrdup(mount.source);
		mount.target = xstrdup(mount.target);
		push_mount(copy, mount);
	}
	for (size_t i = 0; i < recipe->secret_count; i++)
		recipe_add_secret(copy, recipe->secrets[i].name, recipe->secrets[i].source);
	copy->program = recipe->program;
	copy->login = recipe->login;
	copy->memory = recipe->memory;
	copy->pids = recipe->pids;
	copy->cpus = recipe->cpus;
	copy->unknown = json_object_get(recipe->unknown);
	return copy;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const program_words[] = {
	[PROGRAM_IN_IMAGE] = "image",
	[PROGRAM_FROM_HOST] = "host",
};

static const char *const login_words[] = {
	[LOGIN_SYNC] = "sync",
	[LOGIN_TOKEN] = "token",
	[LOGIN_IGNORE] = "ignore",
};

const char *recipe_program_name(enum recipe_program program)
{
	return program_words[program];
}

bool recipe_program_parse(const char *name, enum recipe_program *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(program_words); i++) {
		if (streq(program_words[i], name)) {
			*ret = (enum recipe_program)i;
			return true;
		}
	}
	return false;
}

const char *recipe_login_name(enum recipe_login login)
{
	return login_words[login];
}

bool recipe_login_parse(const char *name, enum recipe_login *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(login_words); i++) {
		if (streq(login_words[i], name)) {
			*ret = (enum recipe_login)i;
			return true;
		}
	}
	return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* An object of an array; false: it is none, which is a failure. */
static bool read_item(const struct manifest_section *section, const char *key,
		      struct json_object *array, size_t index, struct manifest_section *ret)
{
	struct json_object *item = json_object_array_get_idx(array, index);
	if (!json_object_is_type(item, json_type_object)) {
		manifest_fail(section, key, "holds something that is not an object");
		return false;
	}
	ret->reader = section->reader;
	ret->object = item;
	return true;
}

static void check_path(const struct manifest_section *section, const char *key, const char *path)
{
	if (path && *path != '/')
		manifest_fail(section, key, "is not an absolute path");
}

static void read_mounts(const struct manifest_section *section, struct recipe *recipe)
{
	struct json_object *array = manifest_member(section, "mounts", json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		struct manifest_section item = { .name = "recipe.mounts[]." };
		if (!read_item(section, "mounts", array, i, &item))
			return;
		cleanup_free char *source = manifest_need_text(&item, "source");
		cleanup_free char *target = manifest_need_text(&item, "target");
		struct recipe_mount mount = {
			.read_only = manifest_bool(&item, "read_only"),
			.of_tree = manifest_bool(&item, "tree"),
		};
		check_path(&item, "source", source);
		check_path(&item, "target", target);
		if (!source || !target)
			continue;
		mount.source = TAKE_PTR(source);
		mount.target = TAKE_PTR(target);
		push_mount(recipe, mount);
	}
}

static void read_secrets(const struct manifest_section *section, struct recipe *recipe)
{
	struct json_object *array = manifest_member(section, "secrets", json_type_array);
	size_t count = array ? json_object_array_length(array) : 0;
	for (size_t i = 0; i < count; i++) {
		struct manifest_section item = { .name = "recipe.secrets[]." };
		if (!read_item(section, "secrets", array, i, &item))
			return;
		cleanup_free char *name = manifest_need_text(&item, "name");
		cleanup_free char *source = manifest_need_text(&item, "source");
		if (name && !recipe_is_variable(name))
			manifest_fail(&item, "name", "is not the name of a variable");
		else if (name && source)
			recipe_add_secret(recipe, name, source);
	}
}

static double read_cpus(const struct manifest_section *section)
{
	struct json_object *value = json_object_object_get(section->object, "cpus");
	if (!value)
		return 0;
	double cpus = json_object_get_double(value);
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		manifest_fail(section, "cpus", "is not a number");
	else if (!(cpus >= 0 && cpus <= RECIPE_MOST_CPUS))
		manifest_fail(section, "cpus", "is out of range");
	else
		return cpus;
	return 0;
}

static void read_members(const struct manifest_section *section, struct recipe *recipe)
{
	for (size_t i = 0; i < ARRAY_SIZE(text_members); i++) {
		const struct text_member *member = &text_members[i];
		char *text = member->kind == TEXT_OPTIONAL
				     ? manifest_text(section, member->key)
				     : manifest_need_text(section, member->key);
		*text_of(recipe, member) = text;
		if (member->kind == TEXT_PATH)
			check_path(section, member->key, text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		manifest_texts(section, list_members[i].key, list_of(recipe, &list_members[i]));
	read_mounts(section, recipe);
	read_secrets(section, recipe);
	MANIFEST_WORD(section, "program", recipe_program_parse, &recipe->program);
	MANIFEST_WORD(section, "login", recipe_login_parse, &recipe->login);
	recipe->memory = manifest_int(section, "memory", INT64_MAX);
	recipe->pids = manifest_int(section, "pids", INT64_MAX);
	recipe->cpus = read_cpus(section);
}

int recipe_from_json(struct json_object *object, const char *what, struct recipe **ret,
		     struct error *err)
{
	struct manifest_reader reader = { .what = what, .err = err };
	const struct manifest_section section = { .reader = &reader,
						  .name = "recipe.",
						  .object = object };
	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "%s: recipe is not an object", what);
	cleanup_recipe struct recipe *recipe = recipe_new();
	read_members(&section, recipe);
	if (reader.failed)
		return -1;
	recipe->unknown = json_object_get(object);
	*ret = TAKE_PTR(recipe);
	return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* An empty list is the absence of the key. */
static void put_list(struct json_object *object, const char *key, const struct strvec *list)
{
	if (list->count)
		manifest_put_texts(object, key, list);
	else
		json_object_object_del(object, key);
}

/* The object that the array had at this place if its key has this text, so that its unknown keys
 * survive; else an empty one.  Appended to the other array, and borrowed from it. */
static struct json_object *add_item(struct json_object *array, struct json_object *old,
				    const char *key, const char *text)
{
	size_t index = json_object_array_length(array);
	struct json_object *item = old && index < json_object_array_length(old)
					   ? json_object_array_get_idx(old, index)
					   : NULL;
	item = item && manifest_is_same(item, key, text) ? json_object_get(item)
							 : manifest_copy(NULL);
	if (json_object_array_add(array, item) < 0)
		abort();
	return item;
}

static struct json_object *new_array(void)
{
	struct json_object *array = json_object_new_array();
	if (!array)
		abort();
	return array;
}

static void put_mounts(struct json_object *object, const struct recipe *recipe)
{
	cleanup_json struct json_object *old = json_object_get(json_get_array(object, "mounts"));
	json_object_object_del(object, "mounts");
	if (!recipe->mount_count)
		return;
	struct json_object *array = new_array();
	for (size_t i = 0; i < recipe->mount_count; i++) {
		const struct recipe_mount *mount = &recipe->mounts[i];
		struct json_object *item = add_item(array, old, "target", mount->target);
		manifest_put_text(item, "source", mount->source);
		manifest_put_text(item, "target", mount->target);
		manifest_put_flag(item, "read_only", mount->read_only);
		manifest_put_flag(item, "tree", mount->of_tree);
	}
	json_set(object, "mounts", array);
}

static void put_secrets(struct json_object *object, const struct recipe *recipe)
{
	cleanup_json struct json_object *old = json_object_get(json_get_array(object, "secrets"));
	json_object_object_del(object, "secrets");
	if (!recipe->secret_count)
		return;
	struct json_object *array = new_array();
	for (size_t i = 0; i < recipe->secret_count; i++) {
		const struct recipe_secret *secret = &recipe->secrets[i];
		struct json_object *item = add_item(array, old, "name", secret->name);
		manifest_put_text(item, "name", secret->name);
		manifest_put_text(item, "source", secret->source);
	}
	json_set(object, "secrets", array);
}

static void put_members(struct json_object *object, const struct recipe *recipe)
{
	for (size_t i = 0; i < ARRAY_SIZE(text_members); i++)
		manifest_put_text(object, text_members[i].key, *text_of(recipe, &text_members[i]));
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		put_list(object, list_members[i].key, list_of(recipe, &list_members[i]));
	json_set_string(object, "program", recipe_program_name(recipe->program));
	json_set_string(object, "login", recipe_login_name(recipe->login));
	manifest_put_number(object, "memory", recipe->memory);
	manifest_put_number(object, "pids", recipe->pids);
	if (recipe->cpus > 0)
		json_set(object, "cpus", json_object_new_double(recipe->cpus));
	else
		json_object_object_del(object, "cpus");
	/* They are put at the end each time. */
	put_mounts(object, recipe);
	put_secrets(object, recipe);
}

struct json_object *recipe_to_json(const struct recipe *recipe)
{
	struct json_object *object = manifest_copy(recipe->unknown);
	put_members(object, recipe);
	return object;
}

/* ---- names ----------------------------------------------------------------------------------- */

char *recipe_digest(const struct recipe *recipe)
{
	/* Digests are compared with those of earlier versions: a new key goes to the end, and is
	 * absent where its value is the default. */
	static const char *const keys[] = {
		"image_id", "user",        "home",    "directory",
		"mounts",   "environment", "program", "program_directory",
		"network",  "cap_add",     "cpus",
	};
	cleanup_json struct json_object *all = manifest_copy(NULL), *made_of = manifest_copy(NULL);
	struct json_object *value;
	char digest[SHA256_TEXT_SIZE];
	put_members(all, recipe);
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
