/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/settings.h"

#include "model/session/naming.h"
#include "model/settings/settings-internal.h"

#include <string.h>

enum {
	LONGEST_WAIT_S = 3600,
	LONGEST_WINDOW_S = 24 * 3600,
	LONGEST_HISTORY = 10 * 1000 * 1000,
	ANSWER_MINUTES_MOST = 7 * 24 * 60,
};

void settings_init(struct settings *ret)
{
	*ret = (struct settings){
		.resume_agents = true,
		.supervise_auto = true,
		.mcp_children = 4,
		.mcp_depth = 1,
		.notify.answer_minutes = 60,
		.ui_mouse = true,
		.ui_preview = true,
		.resume = POLICY_AUTO,
		.tmux = {
			.detach_key = xstrdup("C-q"),
			.switch_key = xstrdup(""),
			.next_key = xstrdup(""),
			.mouse = true,
			.passthrough = true,
			.history_limit = 50000,
			.default_terminal = xstrdup("tmux-256color"),
		},
		.probation_s = 10,
		.restart = {
			.policy = RESTART_ON_FAILURE,
			.delay_s = 1,
			.delay_max_s = 300,
			.burst = 5,
			.window_s = 600,
		},
		.stop_timeout_s = 10,
		.end_policy = END_ASK,
		.setup_timeout_s = 600,
	};
	strvec_push_array(&ret->notify.on,
			  (const char *const[]){ "waiting", "error", "held", "oom", "ends", NULL });
}

/* The texts of [container]. */
enum { CONTAINER_TEXTS = 9 };
static char **container_text(struct container_defaults *defaults, size_t index)
{
	char **texts[CONTAINER_TEXTS] = { &defaults->engine,      &defaults->image,
					  &defaults->network,     &defaults->auth,
					  &defaults->program,     &defaults->cpus,
					  &defaults->role_rights, &defaults->role,
					  &defaults->docker };
	return texts[index];
}

static void free_container(struct container_defaults *defaults)
{
	for (size_t i = 0; i < CONTAINER_TEXTS; i++)
		free(*container_text(defaults, i));
	strvec_clear(&defaults->mounts);
	strvec_clear(&defaults->role_env);
	strvec_clear(&defaults->logins);
}

static void free_workspace(struct workspace_defaults *defaults)
{
	strvec_clear(&defaults->copy);
	strvec_clear(&defaults->setup);
}

void settings_free(struct settings *settings)
{
	free(settings->default_agent);
	free(settings->sleep_after);
	free(settings->tmux.conf);
	strvec_clear(&settings->tmux.options);
	strvec_clear(&settings->resume_by_agent);
	strvec_clear(&settings->roles);
	remotes_free(&settings->hosts);
	free(settings->tmux.detach_key);
	free(settings->tmux.switch_key);
	free(settings->tmux.next_key);
	free(settings->tmux.default_terminal);
	strvec_clear(&settings->notify.command);
	strvec_clear(&settings->notify.on);
	free(settings->notify.ntfy);
	free(settings->notify.webhook);
	free(settings->notify.key);
	free(settings->notify.answers);
	strvec_clear(&settings->environment_keep);
	strvec_clear(&settings->ui_keys);
	strvec_clear(&settings->ui_colors);
	free_container(&settings->container);
	free_workspace(&settings->workspace);
	free(settings->workspace_root);
	for (size_t i = 0; i < settings->group_count; i++) {
		free(settings->groups[i].group);
		free_container(&settings->groups[i].container);
		free_workspace(&settings->groups[i].workspace);
	}
	free(settings->groups);
	*settings = (struct settings){ 0 };
}

/* Store functions for types that only the settings have. */

static int store_agent(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	int r = toml_store_string(document, key, value, field, err);
	if (r < 0 || naming_is_agent(*(char **)field))
		return r;
	return toml_error(document, key->path, err, "%s is \"%s\", which is not a valid agent name",
			  key->path, *(char **)field);
}

static const char *const policies[] = { "auto", "confirm", "never", NULL };
static const char *const sequences[] = { "none", "9", "777", NULL };
static const char *const ends[] = { "ask", "keep", "clean", NULL };
static const char *const on_limits[] = { "wait", "continue", NULL };
static const char *const restarts[] = { "no", "on-failure", "always", NULL };

static int store_policies(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	struct strvec *by_agent = field;
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		const struct toml_key one = { .path = path, .words = policies };
		enum resume_policy policy;
		if (!naming_is_agent(name))
			return toml_error(document, path, err, "\"%s\" is not a valid agent name",
					  name);
		if (toml_store_word(document, &one, item, &policy, err) < 0)
			return -1;
		strvec_push(by_agent, name);
		strvec_push(by_agent, resume_policy_name(policy));
	}
	return 0;
}

static int store_tristate(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	bool flag;
	int r = toml_store_bool(document, key, value, &flag, err);
	if (r == 0)
		*(enum tristate *)field = flag ? ON : OFF;
	return r;
}

static int store_path(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	int r = toml_store_string(document, key, value, field, err);
	if (r < 0)
		return r;
	char **path = field;
	if (starts_with(*path, "/") || starts_with(*path, "~/"))
		return 0;
	return toml_error(document, key->path, err,
			  "%s is \"%s\": it must be an absolute path, or start with \"~/\"",
			  key->path, *path);
}

static bool is_printable_word(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

static int store_word(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	int r = toml_store_string(document, key, value, field, err);
	if (r < 0 || is_printable_word(*(char **)field))
		return r;
	return toml_error(document, key->path, err,
			  "%s is \"%s\": it must be one word of ASCII characters", key->path,
			  *(char **)field);
}

static int store_terminal(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	int r = store_word(document, key, value, field, err);
	if (r < 0 || **(char **)field)
		return r;
	return toml_error(document, key->path, err, "%s must not be empty", key->path);
}

static bool is_option_name(const char *name)
{
	static const char first[] = "@abcdefghijklmnopqrstuvwxyz";
	static const char rest[] =
		"@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	if (!*name || !strchr(first, *name))
		return false;
	name += strspn(name, rest);
	if (*name != '[')
		return *name == '\0';
	size_t digits = strspn(name + 1, "0123456789");
	return digits > 0 && streq(name + 1 + digits, "]");
}

static int store_options(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	struct strvec *options = field;
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		bool is_flag = json_object_is_type(item, json_type_boolean);
		if (json_object_is_type(item, json_type_string)) {
			int r = toml_check_string(document, path, item, err);
			if (r < 0)
				return r;
		} else if (!is_flag && !json_object_is_type(item, json_type_int)) {
			return toml_type_error(document, path, item,
					       "a string, a whole number, true or false", err);
		}
		if (!is_option_name(name))
			return toml_error(document, path, err,
					  "\"%s\" is not a valid tmux option name", name);
		strvec_push(options, name);
		/* The form in which tmux itself writes a flag. */
		strvec_push(options, !is_flag                        ? json_object_get_string(item)
				     : json_object_get_boolean(item) ? "on"
								     : "off");
	}
	return 0;
}

static int store_size(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	int64_t size;
	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_string))
		return toml_type_error(document, key->path, value, "a size, as in \"4G\"", err);
	if (!limit_parse_size(json_object_get_string(value), &size))
		return toml_error(
			document, key->path, err,
			"%s: invalid size \"%s\" (examples: \"512M\", \"4G\", \"infinity\")",
			key->path, json_object_get_string(value));
	if (size != 0 && size < LIMIT_LEAST_MEMORY)
		return toml_error(
			document, key->path, err,
			"%s is %lld bytes, too little for any agent: use at least \"16M\", "
			"or 0 for no limit",
			key->path, (long long)size);
	*(int64_t *)field = size;
	return 0;
}

static int store_limit(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	struct toml_key number = *key;
	if (json_object_is_type(value, json_type_string) &&
	    streq(json_object_get_string(value), "infinity")) {
		*(int64_t *)field = LIMIT_INFINITY;
		return 0;
	}
	number.min = 0;
	number.max = limit_greatest((enum limit)key->min);
	return number.max ? toml_store_int(document, &number, value, field, err)
			  : store_size(document, key, value, field, err);
}

static int store_limits(const struct toml_document *document, const char *path,
			struct json_object *value, struct limits *ret, struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, name);
		int limit = 0;
		while (limit < LIMIT_COUNT && !streq(limit_name((enum limit)limit), name))
			limit++;
		if (limit == LIMIT_COUNT)
			return toml_error(document, where, err,
					  "unknown key \"%s\": limits are "
					  "memory_high, memory_max, tasks_max and cpu_weight",
					  where);
		const struct toml_key key = { .path = where, .min = limit };
		if (store_limit(document, &key, item, limit_of(ret, (enum limit)limit), err) < 0)
			return -1;
	}
	return 0;
}

static bool is_place(const char *text)
{
	return starts_with(text, "/") || starts_with(text, "~/");
}

/* A name of [roles], which may be below it in the file, or where one is. */
static int store_role(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	const int r = toml_store_string(document, key, value, field, err);
	const char *text = r < 0 ? NULL : *(char **)field;
	return !text || naming_is_agent(text) || is_place(text)
		       ? r
		       : toml_error(document, key->path, err,
				    "%s is \"%s\": name a role of [roles], or an absolute path, "
				    "which may start with \"~/\"",
				    key->path, text);
}

static int store_source(const struct toml_document *document, const char *path,
			struct json_object *value, struct strvec *ret, struct error *err)
{
	cleanup_free char *source = NULL;
	const struct toml_key key = { .path = path };
	if (toml_store_string(document, &key, value, &source, err) < 0)
		return -1;
	if (!is_place(source) && !strchr(source, ':'))
		return toml_error(document, path, err,
				  "%s is \"%s\": a role is at an absolute path, which may start "
				  "with \"~/\", or at a URL",
				  path, source);
	strvec_push_take(ret, TAKE_PTR(source));
	return 0;
}

/* [roles.NAME] */
static int store_roles(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	struct strvec *roles = field;
	struct json_object *source;
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		cleanup_free char *of_source = xasprintf("%s.source", path);
		if (!naming_is_agent(name))
			return toml_error(document, path, err,
					  "\"%s\" is not a valid name of a role", name);
		if (!json_object_is_type(item, json_type_object))
			return toml_type_error(document, path, item, "a table", err);
		if (!json_object_object_get_ex(item, "source", &source) ||
		    json_object_object_length(item) > 1)
			return toml_error(document, path, err,
					  "%s must have \"source\", and nothing else", path);
		strvec_push(roles, name);
		if (store_source(document, of_source, source, roles, err) < 0)
			return -1;
	}
	return 0;
}

/* 2, 1.5 or "1.5" */
static int store_cpus(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	double number;
	const bool is_number = json_object_is_type(value, json_type_int) ||
			       json_object_is_type(value, json_type_double);
	const char *text = json_object_get_string(value);
	if (!is_number && !json_object_is_type(value, json_type_string))
		return toml_type_error(document, key->path, value, "a number of processors", err);
	if (!recipe_cpus_parse(text, &number))
		return toml_error(document, key->path, err,
				  "%s: invalid number of processors \"%s\" (examples: 2, 0.5)",
				  key->path, text);
	replace_string(field, text);
	return 0;
}

/* An empty list counts as set: it switches off the lists of the groups above. */
static bool is_set(const struct strvec *list)
{
	return list->items != NULL;
}

static int store_list(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	struct strvec *list = field;
	int r = toml_store_strings(document, key, value, list, err);
	if (r == 0)
		strvec_settle(list);
	return r;
}

static int store_mounts(const struct toml_document *document, const struct toml_key *key,
			struct json_object *value, void *field, struct error *err)
{
	const struct strvec *mounts = field;
	int r = store_list(document, key, value, field, err);
	for (size_t i = 0; r == 0 && i < mounts->count; i++)
		if (!starts_with(mounts->items[i], "/") && !starts_with(mounts->items[i], "~/"))
			r = toml_error(
				document, key->path, err,
				"%s holds \"%s\": a mount must be an absolute path, or start "
				"with \"~/\" (example: \"~/data:/data:ro\")",
				key->path, mounts->items[i]);
	return r;
}

static int store_variables(const struct toml_document *document, const struct toml_key *key,
			   struct json_object *value, void *field, struct error *err)
{
	const struct strvec *names = field;
	int r = store_list(document, key, value, field, err);
	for (size_t i = 0; r == 0 && i < names->count; i++)
		if (!recipe_is_variable(names->items[i]))
			r = toml_error(document, key->path, err,
				       "%s holds \"%s\", which is no name of a variable", key->path,
				       names->items[i]);
	return r;
}

/* Nothing outside of the repository, and nothing of git's own. */
static bool is_name_in_tree(const char *name)
{
	cleanup_free char *copy = xstrdup(name);
	char *rest = copy;
	size_t count = 0;
	for (const char *part; (part = strsep(&rest, "/")); count++)
		if (!*part || streq(part, ".") || streq(part, "..") || streq(part, ".git"))
			return false;
	return count > 0;
}

static int store_names(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	const struct strvec *names = field;
	int r = store_list(document, key, value, field, err);
	for (size_t i = 0; r == 0 && i < names->count; i++)
		if (!is_name_in_tree(names->items[i]))
			r = toml_error(document, key->path, err,
				       "%s holds \"%s\": name a file below the repository's root "
				       "(examples: \".env\", \"config/local.toml\")",
				       key->path, names->items[i]);
	return r;
}

/* Not "~/" alone: what is below it is ours. */
static int store_root(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	int r = store_path(document, key, value, field, err);
	const char *path = r < 0 ? NULL : *(char **)field;
	if (path && is_name_in_tree(starts_with(path, "~/") ? path + 2 : path + 1))
		return 0;
	return r < 0 ? r
		     : toml_error(document, key->path, err,
				  "%s is \"%s\": name a directory of your own for it (example: "
				  "\"~/trees\")",
				  key->path, path);
}

static int store_logins(const struct toml_document *document, const struct toml_key *key,
			struct json_object *value, void *field, struct error *err)
{
	struct strvec *logins = field;
	enum recipe_login login;
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		const char *how = json_object_get_string(item);
		if (!naming_is_agent(name))
			return toml_error(document, path, err, "\"%s\" is not the name of a login",
					  name);
		if (!recipe_login_parse(or_empty(how), &login))
			return toml_error(document, path, err,
					  "%s is \"%s\": choose \"sync\", \"token\" or "
					  "\"ignore\"",
					  path, or_empty(how));
		strvec_push(logins, name);
		strvec_push(logins, how);
	}
	return 0;
}

static int store_argv(const struct toml_document *document, const struct toml_key *key,
		      struct json_object *value, void *field, struct error *err)
{
	const struct strvec *argv = field;
	int r = store_list(document, key, value, field, err);
	if (r == 0 && argv->count && !*argv->items[0])
		return toml_error(document, key->path, err,
				  "%s has no program: write it as [\"npm\", \"ci\"]", key->path);
	return r;
}

#define CONTAINER_KEY(name, function, member)                         \
	{                                                             \
		.path = (name), .store = (function),                  \
		.offset = offsetof(struct container_defaults, member) \
	}

static const struct toml_key container_keys[] = {
	CONTAINER_KEY("enabled", store_tristate, enabled),
	CONTAINER_KEY("escapes", store_tristate, escapes),
	CONTAINER_KEY("engine", settings_store_choice, engine),
	CONTAINER_KEY("image", settings_store_choice, image),
	CONTAINER_KEY("network", settings_store_choice, network),
	CONTAINER_KEY("auth", settings_store_choice, auth),
	CONTAINER_KEY("program", settings_store_choice, program),
	CONTAINER_KEY("cpus", store_cpus, cpus),
	CONTAINER_KEY("docker", settings_store_choice, docker),
	CONTAINER_KEY("mounts", store_mounts, mounts),
	CONTAINER_KEY("role", store_role, role),
	CONTAINER_KEY("role_rights", settings_store_choice, role_rights),
	CONTAINER_KEY("role_env", store_variables, role_env),
	CONTAINER_KEY("logins", store_logins, logins),
};

static int store_container(const struct toml_document *document, const char *path,
			   struct json_object *value, struct container_defaults *ret,
			   struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, name);
		const struct toml_key key = { .path = where };
		size_t i = 0;
		while (i < ARRAY_SIZE(container_keys) && !streq(container_keys[i].path, name))
			i++;
		if (i == ARRAY_SIZE(container_keys))
			return toml_error(
				document, where, err,
				"unknown key \"%s\": a container has enabled, escapes, engine, "
				"image, network, auth, program, cpus, docker, mounts, role, "
				"role_rights, role_env and logins",
				where);
		if (container_keys[i].store(document, &key, item,
					    (char *)ret + container_keys[i].offset, err) < 0)
			return -1;
	}
	return 0;
}

static int store_workspace(const struct toml_document *document, const char *path,
			   struct json_object *value, struct group_limits *ret, struct error *err)
{
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, name);
		const struct toml_key key = { .path = where, .min = END_ASK, .words = ends };
		int r;
		if (streq(name, "on_end"))
			r = toml_store_word(document, &key, item, &ret->end_policy, err);
		else if (streq(name, "copy"))
			r = store_names(document, &key, item, &ret->workspace.copy, err);
		else if (streq(name, "setup"))
			r = store_argv(document, &key, item, &ret->workspace.setup, err);
		else
			r = toml_error(
				document, where, err,
				"unknown key \"%s\": the workspace of a group has on_end, copy "
				"and setup",
				where);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int store_group(const struct toml_document *document, const char *path, const char *name,
		       struct json_object *value, struct group_limits *ret, struct error *err)
{
	cleanup_error struct error local = { 0 };
	if (is_empty(name) || naming_check_group(name, &local) < 0)
		return toml_error(document, path, err, "invalid group name \"%s\"%s%s", name,
				  local.message ? ": " : "", or_empty(local.message));
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, path, value, "a table", err);
	ret->group = xstrdup(name);
	json_object_object_foreach(value, key, item) {
		cleanup_free char *where = xasprintf("%s.%s", path, key);
		int r;
		if (streq(key, "limits"))
			r = store_limits(document, where, item, &ret->limits, err);
		else if (streq(key, "container"))
			r = store_container(document, where, item, &ret->container, err);
		else if (streq(key, "workspace"))
			r = store_workspace(document, where, item, ret, err);
		else
			r = toml_error(document, where, err,
				       "unknown key \"%s\": a group has \"limits\", "
				       "\"container\" and \"workspace\", and a name with a slash "
				       "needs quotes, as in [groups.\"work/api\".limits]",
				       where);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int store_groups(const struct toml_document *document, const struct toml_key *key,
			struct json_object *value, void *field, struct error *err)
{
	/* The number of groups is beside them. */
	struct settings *settings = (void *)((char *)field - offsetof(struct settings, groups));
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	settings->groups = xcalloc((size_t)json_object_object_length(value) + 1,
				   sizeof(*settings->groups));
	json_object_object_foreach(value, name, item) {
		cleanup_free char *where = xasprintf("%s.%s", key->path, name);
		if (store_group(document, where, name, item,
				&settings->groups[settings->group_count++], err) < 0)
			return -1;
	}
	return 0;
}

/* An enum without words is a tristate. */
#define TYPE_OF(member) \
	_Generic(((struct settings *)0)->member,         \
		 bool : TOML_BOOL,                       \
		 int64_t : TOML_INT,                     \
		 char * : TOML_STRING,                   \
		 struct strvec : TOML_STRINGS,           \
		 default : TOML_WORD)

#define KEY(name, function, member, ...) \
	KEY_OF(TYPE_OF(member), name, function, member, __VA_ARGS__)
#define TABLE(name, function, member, ...) KEY_OF(TOML_TABLE, name, function, member, __VA_ARGS__)
#define KEY_OF(kind, name, function, member, ...)                                             \
	{                                                                                     \
		.path = name, .store = function, .offset = offsetof(struct settings, member), \
		.type = (kind), __VA_ARGS__                                                   \
	}

/* In the order of the commented starter file (config edit). */
const struct toml_key settings_keys[] = {
	KEY("default_agent", store_agent, default_agent,
	    .about = "the agent to launch when the command line names none",
	    .example = "\"my-agent\""),
	KEY("resume_agents", toml_store_bool, resume_agents,
	    .about = "whether a start resumes conversations at all"),
	KEY("resume", toml_store_word, resume, .words = policies),
	KEY("resume.policy", toml_store_word, resume, .words = policies,
	    .about = "how to resume: auto, confirm or never"),
	KEY("resume.probation", toml_store_int, probation_s, .min = 1, .max = LONGEST_WAIT_S,
	    .about = "seconds within which an agent that ends counts as not started"),
	TABLE("resume.agents", store_policies, resume_by_agent,
	      .about = "the policy for all sessions of one agent",
	      .example = "my-agent = \"confirm\""),
	KEY("restart.policy", toml_store_word, restart.policy, .min = RESTART_NO, .words = restarts,
	    .about = "when the supervisor restarts a session: no, on-failure or always"),
	KEY("restart.delay", toml_store_int, restart.delay_s, .min = 0, .max = LONGEST_WAIT_S,
	    .about = "seconds before the second restart; doubled for each further one"),
	KEY("restart.max_delay", toml_store_int, restart.delay_max_s, .min = 0,
	    .max = LONGEST_WAIT_S, .about = "the longest delay, in seconds"),
	KEY("restart.burst", toml_store_int, restart.burst, .min = 0, .max = INSTANCE_RESTARTS,
	    .about = "restarts within the window before a session is held; 0: no limit"),
	KEY("restart.window", toml_store_int, restart.window_s, .min = 1, .max = LONGEST_WINDOW_S,
	    .about = "the seconds in which restarts are counted"),
	KEY("supervise.auto", toml_store_bool, supervise_auto,
	    .about = "whether the first start enables the supervisor"),
	KEY("mcp.children", toml_store_int, mcp_children, .min = 0, .max = MCP_CHILDREN_MOST,
	    .about = "how many sessions that one agent launched through mcp may run at once"),
	KEY("mcp.depth", toml_store_int, mcp_depth, .min = 0, .max = MCP_DEPTH_MOST,
	    .about = "how many levels of agents may launch others: 1 is none that was launched"),
	KEY("mcp.approve", toml_store_bool, mcp_approve,
	    .about = "whether an agent may answer the questions of those that it launched"),
	KEY("environment.keep", toml_store_strings, environment_keep,
	    .about = "more variables to keep for a start after a reboot; no secrets",
	    .example = "[\"MY_TOOLS\"]"),
	KEY("ui.ascii", toml_store_bool, ui_ascii,
	    .about = "the deck draws with ASCII characters only"),
	KEY("ui.mouse", toml_store_bool, ui_mouse, .about = "the deck hears of the mouse"),
	KEY("ui.preview", toml_store_bool, ui_preview,
	    .about = "the deck begins with the screen of the session"),
	KEY("ui.keys", toml_store_strings, ui_keys, .about = "keys of the deck, as \"ACTION=KEY\"",
	    .example = "[\"stop=X\"]"),
	KEY("ui.theme", toml_store_word, ui_theme, .words = theme_names,
	    .about = "the colours of the deck and of lists: default, dark, light or color-blind"),
	KEY("ui.colors", toml_store_strings, ui_colors, .about = "colours, as \"PART=COLOUR\"",
	    .example = "[\"waiting=bold red\"]"),
	KEY("notify.command", toml_store_strings, notify.command,
	    .about = "the program to run, with its arguments",
	    .example = "[\"/usr/local/bin/tell-me\"]"),
	KEY("notify.on", settings_store_occasions, notify.on, .words = settings_occasions,
	    .about = "when: waiting, idle, error, held, oom, recovered, ends"),
	KEY("notify.desktop", toml_store_bool, notify.desktop,
	    .about = "whether the desktop of this machine shows it"),
	KEY("notify.bell", toml_store_bool, notify.bell,
	    .about = "whether the bell of the attached terminals rings"),
	KEY("notify.osc", toml_store_word, notify.osc, .words = sequences,
	    .about = "the notification sequence for the attached terminals: none, 9 or 777"),
	KEY("notify.ntfy", settings_store_url, notify.ntfy,
	    .about = "the topic of ntfy that gets notifications",
	    .example = "\"https://ntfy.sh/a-topic-that-is-hard-to-guess\""),
	KEY("notify.webhook", settings_store_url, notify.webhook,
	    .about = "the URL that gets notifications, as JSON",
	    .example = "\"https://example.com/hook\""),
	KEY("notify.key", store_path, notify.key,
	    .about = "the file that has the access token of ntfy",
	    .example = "\"~/.config/agentdeck/ntfy.key\""),
	KEY("notify.question", toml_store_bool, notify.question,
	    .about = "whether ntfy and the webhook get the text of a question"),
	KEY("notify.answers", settings_store_url, notify.answers,
	    .about = "the topic of ntfy through which answers come back",
	    .example = "\"https://ntfy.sh/another-topic\""),
	KEY("notify.answer_minutes", toml_store_int, notify.answer_minutes, .min = 1,
	    .max = ANSWER_MINUTES_MOST, .about = "minutes for which an answer counts"),
	KEY("session.sleep_after", settings_store_sleep, sleep_after,
	    .about = "how long an agent is idle until its session sleeps; \"off\": it never does",
	    .example = "\"2h\""),
	KEY("session.on_limit", toml_store_word, on_limit, .words = on_limits,
	    .about = "after a usage limit: wait for you, or continue"),
	KEY("stop.timeout", toml_store_int, stop_timeout_s, .min = 1, .max = LONGEST_WAIT_S,
	    .about = "seconds that a stop waits before it kills what is left"),
	KEY("trash.keep", toml_store_int, trash_keep_days, .min = 0, .max = TRASH_DAYS_MOST,
	    .about = "days for which prune leaves removed sessions alone"),
	KEY("tmux.launch_in_user_scope", store_tristate, tmux.launch_in_user_scope,
	    .about = "whether each tmux server runs in its own systemd scope", .example = "false"),
	KEY("tmux.linger", store_tristate, tmux.linger,
	    .about = "whether to ask logind to let you linger", .example = "false"),
	KEY("tmux.conf", store_path, tmux.conf, .about = "a tmux configuration to read after ours",
	    .example = "\"~/.config/agentdeck/tmux.conf\""),
	KEY("tmux.source_user_config", toml_store_bool, tmux.source_user_config,
	    .about = "whether to read your own tmux configuration as well"),
	KEY("tmux.detach_key", store_word, tmux.detach_key,
	    .about = "the key that detaches from a session; empty: none"),
	KEY("tmux.switch_key", store_word, tmux.switch_key,
	    .about = "a key that chooses another session, beside the prefix and s",
	    .example = "\"M-s\""),
	KEY("tmux.next_key", store_word, tmux.next_key,
	    .about = "a key that goes to the next waiting session, beside the prefix and N",
	    .example = "\"M-n\""),
	KEY("tmux.mouse", toml_store_bool, tmux.mouse, .about = "whether tmux handles the mouse"),
	KEY("tmux.passthrough", toml_store_bool, tmux.passthrough,
	    .about = "whether an agent may send sequences to the terminal past tmux"),
	KEY("tmux.history_limit", toml_store_int, tmux.history_limit, .min = 0,
	    .max = LONGEST_HISTORY, .about = "the lines that each pane keeps"),
	KEY("tmux.default_terminal", store_terminal, tmux.default_terminal,
	    .about = "TERM for the programs in the pane"),
	TABLE("tmux.options", store_options, tmux.options, .about = "global tmux options, set last",
	      .example = "set-titles = true"),
	KEY("log.journal", toml_store_bool, log_journal,
	    .about = "whether to log to systemd's journal as well"),
	KEY("limits.memory_high", store_limit, limits.memory_high, .min = LIMIT_MEMORY_HIGH,
	    .about = "above this the kernel slows a session down, as \"4G\"; 0: not set"),
	KEY("limits.memory_max", store_limit, limits.memory_max, .min = LIMIT_MEMORY_MAX,
	    .about = "above this the kernel kills a process of it"),
	KEY("limits.tasks_max", store_limit, limits.tasks_max, .min = LIMIT_TASKS_MAX,
	    .about = "the processes and threads that may exist"),
	KEY("limits.cpu_weight", store_limit, limits.cpu_weight, .min = LIMIT_CPU_WEIGHT,
	    .about = "the share of processor time; systemd's default is 100"),
	KEY("container.enabled", store_tristate, container.enabled,
	    .about = "whether a new session lives in a container", .example = "true"),
	KEY("container.escapes", store_tristate, container.escapes,
	    .about = "whether its agent may set your clipboard and send past tmux",
	    .example = "true"),
	KEY("container.engine", settings_store_choice, container.engine,
	    .about = "the engine of sessions in containers: docker, podman or a URL",
	    .example = "\"podman\""),
	KEY("container.image", settings_store_choice, container.image,
	    .about = "the image of a new session in a container", .example = "\"debian:12\""),
	KEY("container.network", settings_store_choice, container.network,
	    .about = "its network: default, none, internal, shared or a name",
	    .example = "\"none\""),
	KEY("container.auth", settings_store_choice, container.auth,
	    .about = "how the agent's login gets in: sync, token or ignore",
	    .example = "\"token\""),
	KEY("container.program", settings_store_choice, container.program,
	    .about = "where the agent's program comes from: image or host", .example = "\"host\""),
	KEY("container.cpus", store_cpus, container.cpus, .about = "how many processors it may use",
	    .example = "2"),
	KEY("container.docker", settings_store_choice, container.docker,
	    .about = "a Docker of its own inside: rootless, rootless-tcp or none",
	    .example = "\"rootless\""),
	KEY("container.mounts", store_mounts, container.mounts,
	    .about = "what else of this machine it sees", .example = "[\"~/data:/data:ro\"]"),
	KEY("container.role", store_role, container.role,
	    .about = "the role of a new session in a container: a name of [roles] or a path",
	    .example = "\"api\""),
	KEY("container.role_rights", settings_store_choice, container.role_rights,
	    .about = "what a role may ask for: locked, standard or open", .example = "\"open\""),
	KEY("container.role_env", store_variables, container.role_env,
	    .about = "variables of yours that a role may read", .example = "[\"EDITOR\"]"),
	TABLE("container.logins", store_logins, container.logins,
	      .about = "the same for single agents and for github",
	      .example = "github = \"token\""),
	KEY("workspace.on_end", toml_store_word, end_policy, .min = END_ASK, .words = ends,
	    .about = "when an agent has ended by itself: ask, keep or clean"),
	KEY("workspace.root", store_root, workspace_root,
	    .about = "where new worktrees and clones are made", .example = "\"~/trees\""),
	KEY("workspace.copy", store_names, workspace.copy,
	    .about = "files of the repository that a new worktree or clone gets",
	    .example = "[\".env\"]"),
	KEY("workspace.setup", store_argv, workspace.setup,
	    .about = "the program that runs once in it, with its arguments",
	    .example = "[\"npm\", \"ci\"]"),
	KEY("workspace.setup_timeout", toml_store_int, setup_timeout_s, .min = 1,
	    .max = LONGEST_WINDOW_S, .about = "seconds that it may take"),
	TABLE("roles", store_roles, roles, .about = "names of roles, and where each one is",
	      .example = "api = { source = \"~/src/api\" }"),
	TABLE("hosts", settings_store_hosts, hosts,
	      .about = "other machines, for -H and HOST:SESSION",
	      .example = "gpu1 = { ssh = \"ann@gpu1.example.org\" }"),
	TABLE("groups", store_groups, groups,
	      .about = "limits and more for the sessions of a group",
	      .example = "work.limits = { memory_max = \"8G\" }"),
};
const size_t settings_key_count = ARRAY_SIZE(settings_keys);

enum resume_policy settings_resume_policy(const struct settings *settings, const char *agent)
{
	enum resume_policy policy = settings->resume;
	for (size_t i = 0; i + 1 < settings->resume_by_agent.count; i += 2)
		if (streq(settings->resume_by_agent.items[i], agent))
			(void)resume_policy_parse(settings->resume_by_agent.items[i + 1], &policy);
	return policy;
}

int settings_parse(const char *text, size_t length, const char *what, struct settings *ret,
		   struct error *err)
{
	cleanup_settings struct settings settings = { 0 };
	cleanup_toml_document struct toml_document document = { 0 };
	int r = toml_document_parse(text, length, what, &document, err);
	if (r < 0)
		return r;
	settings_init(&settings);
	r = toml_document_store(&document, settings_keys, settings_key_count, &settings, err);
	if (r == 0)
		r = settings_check_hosts(&document, &settings.hosts, err);
	if (r < 0)
		return r;
	*ret = settings;
	settings = (struct settings){ 0 };
	return 0;
}

/* --- the limits of an instance ---------------------------------------------------------------- */

static const struct group_limits *find_group(const struct settings *settings, const char *name,
					     size_t length)
{
	for (size_t i = 0; i < settings->group_count; i++)
		if (strlen(settings->groups[i].group) == length &&
		    memcmp(settings->groups[i].group, name, length) == 0)
			return &settings->groups[i];
	return NULL;
}

/* What is not set yet. */
static void add_defaults(const struct container_defaults *from, struct container_defaults *to)
{
	struct container_defaults copy = *from;
	/* An image of a nearer group counts before a role, which would name another one. */
	if (to->image && !to->role)
		copy.role = NULL;
	if (to->enabled == UNSET)
		to->enabled = from->enabled;
	if (to->escapes == UNSET)
		to->escapes = from->escapes;
	if (!is_set(&to->mounts))
		to->mounts = from->mounts;
	if (!is_set(&to->role_env))
		to->role_env = from->role_env;
	if (!is_set(&to->logins))
		to->logins = from->logins;
	for (size_t i = 0; i < CONTAINER_TEXTS; i++)
		if (!*container_text(to, i))
			*container_text(to, i) = *container_text(&copy, i);
}

struct container_defaults settings_container(const struct settings *settings, const char *group)
{
	struct container_defaults found = { 0 };
	const char *name = or_empty(group);
	for (size_t length = strlen(name);;) {
		const struct group_limits *own = length ? find_group(settings, name, length) : NULL;
		const struct container_defaults *here = own      ? &own->container
							: length ? NULL
								 : &settings->container;
		if (here)
			add_defaults(here, &found);
		if (!length)
			return found;
		while (--length > 0 && name[length] != '/')
			;
	}
}

const char *settings_role(const struct settings *settings, const char *name)
{
	for (size_t i = 0; i + 1 < settings->roles.count; i += 2)
		if (streq(settings->roles.items[i], name))
			return settings->roles.items[i + 1];
	return NULL;
}

struct workspace_defaults settings_workspace(const struct settings *settings, const char *group)
{
	struct workspace_defaults found = { 0 };
	const char *name = or_empty(group);
	for (size_t length = strlen(name);;) {
		const struct group_limits *own = length ? find_group(settings, name, length) : NULL;
		const struct workspace_defaults *here = own      ? &own->workspace
							: length ? NULL
								 : &settings->workspace;
		if (here && !is_set(&found.copy))
			found.copy = here->copy;
		if (here && !is_set(&found.setup))
			found.setup = here->setup;
		if (!length)
			return found;
		while (--length > 0 && name[length] != '/')
			;
	}
}

int64_t settings_limit(const struct settings *settings, const struct instance *instance,
		       enum limit limit, enum limit_origin *ret_origin, const char **ret_group)
{
	const char *group = or_empty(instance->group);
	int64_t value = limit_value(&instance->limits, limit);
	*ret_group = NULL;
	*ret_origin = LIMIT_SAID_BY_SESSION;
	if (value)
		return value;
	*ret_origin = LIMIT_SAID_BY_GROUP;
	for (size_t length = strlen(group); length > 0;) {
		const struct group_limits *found = find_group(settings, group, length);
		value = found ? limit_value(&found->limits, limit) : 0;
		if (value) {
			*ret_group = found->group;
			return value;
		}
		/* The group around it: cut off the last slash and what follows. */
		while (--length > 0 && group[length] != '/')
			;
	}
	value = limit_value(&settings->limits, limit);
	*ret_origin = value ? LIMIT_SAID_BY_GENERAL : LIMIT_SAID_BY_NOBODY;
	return value;
}

struct limits settings_limits(const struct settings *settings, const struct instance *instance)
{
	struct limits limits = { 0 };
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		enum limit_origin origin;
		const char *group;
		*limit_of(&limits, limit) = settings_limit(settings, instance, limit, &origin,
							   &group);
	}
	return limits;
}

const char *limit_origin_name(enum limit_origin origin)
{
	static const char *const names[] = {
		[LIMIT_SAID_BY_NOBODY] = "none",
		[LIMIT_SAID_BY_SESSION] = "session",
		[LIMIT_SAID_BY_GROUP] = "group",
		[LIMIT_SAID_BY_GENERAL] = "general",
	};
	return names[origin];
}

enum end_policy settings_end_policy(const struct settings *settings,
				    const struct instance *instance)
{
	const char *group = or_empty(instance->group);
	enum end_policy policy = instance->end_policy;
	for (size_t length = strlen(group); policy == END_DEFAULT && length > 0;) {
		const struct group_limits *found = find_group(settings, group, length);
		policy = found ? found->end_policy : END_DEFAULT;
		/* The group around it: cut off the last slash and what follows. */
		while (--length > 0 && group[length] != '/')
			;
	}
	return policy != END_DEFAULT ? policy : settings->end_policy;
}
