/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings.h"

#include "model/naming.h"
#include "model/settings-internal.h"

#include <string.h>

enum {
	LONGEST_WAIT_S = 3600,
	LONGEST_WINDOW_S = 24 * 3600,
	LONGEST_HISTORY = 10 * 1000 * 1000,
};

void settings_init(struct settings *ret)
{
	*ret = (struct settings){
		.resume_agents = true,
		.resume = POLICY_AUTO,
		.tmux = {
			.detach_key = xstrdup("C-q"),
			.mouse = true,
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
	};
	strvec_push_array(&ret->notify.on,
			  (const char *const[]){ "waiting", "error", "held", "oom", NULL });
}

void settings_free(struct settings *settings)
{
	free(settings->default_agent);
	free(settings->tmux.conf);
	strvec_clear(&settings->tmux.options);
	strvec_clear(&settings->resume_by_agent);
	free(settings->tmux.detach_key);
	free(settings->tmux.default_terminal);
	strvec_clear(&settings->notify.command);
	strvec_clear(&settings->notify.on);
	strvec_clear(&settings->environment_keep);
	settings_free_groups(settings);
	*settings = (struct settings){ 0 };
}

/* Digits of a fraction that count; more would be parts of a byte. */
enum { FRACTION_DIGITS = 9 };

bool settings_parse_size(const char *text, int64_t *ret)
{
	static const char suffixes[] = "KMGT", digits[] = "0123456789";
	int64_t unit = 1, fraction = 0, scale = 1, whole;
	size_t length = strspn(text, digits);
	cleanup_free char *number = xstrndup(text, length);
	if (length == 0 || !parse_int64(number, 0, INT64_MAX, &whole))
		return false;
	const char *rest = text + length;
	bool has_fraction = *rest == '.';
	if (has_fraction) {
		size_t count = strspn(++rest, digits);
		if (count == 0)
			return false;
		for (size_t i = 0; i < count && i < FRACTION_DIGITS; i++, scale *= 10)
			fraction = fraction * 10 + (rest[i] - '0');
		rest += count;
	}
	if (*rest) {
		const char *suffix = strchr(suffixes, *rest);
		if (!suffix || rest[1])
			return false;
		unit = INT64_C(1) << (10 * (suffix - suffixes + 1));
	} else if (has_fraction) {
		return false;
	}
	/* A part of less than one unit: unit is at most 2^40, fraction less than 2^30. */
	int64_t part = (int64_t)((__int128)unit * fraction / scale);
	if (whole > (INT64_MAX - part) / unit)
		return false;
	*ret = whole * unit + part;
	return true;
}

/* Store functions for what only the settings have. */

static int store_agent(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	int r = toml_store_string(document, key, value, field, err);
	if (r < 0 || naming_is_agent(*(char **)field))
		return r;
	return toml_error(document, key->path, err, "%s is \"%s\", which cannot be an agent's name",
			  key->path, *(char **)field);
}

static int store_policy(const struct toml_document *document, const struct toml_key *key,
			struct json_object *value, void *field, struct error *err)
{
	enum resume_policy policy;
	int r = toml_check_string(document, key->path, value, err);
	if (r < 0)
		return r;
	if (resume_policy_parse(json_object_get_string(value), &policy) && policy != POLICY_DEFAULT) {
		*(enum resume_policy *)field = policy;
		return 0;
	}
	return toml_error(document, key->path, err,
			  "%s must be \"auto\", \"confirm\" or \"never\", not \"%s\"", key->path,
			  json_object_get_string(value));
}

static int store_restart(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	enum restart_policy policy;
	int r = toml_check_string(document, key->path, value, err);
	if (r < 0)
		return r;
	if (restart_policy_parse(json_object_get_string(value), &policy) && policy != RESTART_DEFAULT) {
		*(enum restart_policy *)field = policy;
		return 0;
	}
	return toml_error(document, key->path, err,
			  "%s must be \"no\", \"on-failure\" or \"always\", not \"%s\"", key->path,
			  json_object_get_string(value));
}

static int store_occasions(const struct toml_document *document, const struct toml_key *key,
			   struct json_object *value, void *field, struct error *err)
{
	static const char *const known[] = { "waiting", "idle", "error", "held", "oom", "recovered" };
	const struct strvec *occasions = field;
	int r = toml_store_strings(document, key, value, field, err);
	for (size_t i = 0; r == 0 && i < occasions->count; i++) {
		bool found = false;
		for (size_t j = 0; j < ARRAY_SIZE(known); j++)
			found |= streq(occasions->items[i], known[j]);
		if (!found)
			r = toml_error(document, key->path, err, "%s holds \"%s\": it may hold "
				       "\"waiting\", \"idle\", \"error\", \"held\", \"oom\" and "
				       "\"recovered\"", key->path, occasions->items[i]);
	}
	return r;
}

static int store_policies(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	struct strvec *policies = field;
	if (!json_object_is_type(value, json_type_object))
		return toml_type_error(document, key->path, value, "a table", err);
	json_object_object_foreach(value, name, item) {
		cleanup_free char *path = xasprintf("%s.%s", key->path, name);
		const struct toml_key one = { .path = path };
		enum resume_policy policy;
		if (!naming_is_agent(name))
			return toml_error(document, path, err, "\"%s\" cannot be an agent's name", name);
		if (store_policy(document, &one, item, &policy, err) < 0)
			return -1;
		strvec_push(policies, name);
		strvec_push(policies, resume_policy_name(policy));
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
					  "\"%s\" cannot be the name of a tmux option", name);
		strvec_push(options, name);
		/* As tmux itself writes a flag. */
		strvec_push(options, !is_flag ? json_object_get_string(item)
					      : json_object_get_boolean(item) ? "on" : "off");
	}
	return 0;
}

static int store_groups(const struct toml_document *document, const struct toml_key *key,
			struct json_object *value, void *field, struct error *err)
{
	/* Their number goes with them. */
	char *settings = (char *)field - offsetof(struct settings, groups);
	return settings_store_groups(document, key->path, value, (struct settings *)(void *)settings, err);
}

#define KEY(name, function, member, ...)                                                           \
	{                                                                                          \
		.path = name, .store = function, .offset = offsetof(struct settings, member),      \
		__VA_ARGS__                                                                        \
	}

static const struct toml_key keys[] = {
	KEY("default_agent", store_agent, default_agent),
	KEY("resume_agents", toml_store_bool, resume_agents),
	KEY("resume", store_policy, resume),
	KEY("resume.policy", store_policy, resume),
	KEY("resume.agents", store_policies, resume_by_agent),
	KEY("resume.probation", toml_store_int, probation_s, .min = 1, .max = LONGEST_WAIT_S),
	KEY("restart.policy", store_restart, restart.policy),
	KEY("restart.delay", toml_store_int, restart.delay_s, .min = 0, .max = LONGEST_WAIT_S),
	KEY("restart.max_delay", toml_store_int, restart.delay_max_s, .min = 0, .max = LONGEST_WAIT_S),
	KEY("restart.burst", toml_store_int, restart.burst, .min = 0, .max = INSTANCE_RESTARTS),
	KEY("restart.window", toml_store_int, restart.window_s, .min = 1, .max = LONGEST_WINDOW_S),
	KEY("environment.keep", toml_store_strings, environment_keep),
	KEY("notify.command", toml_store_strings, notify.command),
	KEY("notify.on", store_occasions, notify.on),
	KEY("log.journal", toml_store_bool, log_journal),
	KEY("stop.timeout", toml_store_int, stop_timeout_s, .min = 1, .max = LONGEST_WAIT_S),
	KEY("tmux.launch_in_user_scope", store_tristate, tmux.launch_in_user_scope),
	KEY("tmux.linger", store_tristate, tmux.linger),
	KEY("tmux.conf", store_path, tmux.conf),
	KEY("tmux.options", store_options, tmux.options),
	KEY("tmux.source_user_config", toml_store_bool, tmux.source_user_config),
	KEY("tmux.detach_key", store_word, tmux.detach_key),
	KEY("tmux.mouse", toml_store_bool, tmux.mouse),
	KEY("tmux.history_limit", toml_store_int, tmux.history_limit, .min = 0,
	    .max = LONGEST_HISTORY),
	KEY("tmux.default_terminal", store_terminal, tmux.default_terminal),
	KEY("limits.memory_high", settings_store_limit, limits.memory_high, .min = LIMIT_MEMORY_HIGH),
	KEY("limits.memory_max", settings_store_limit, limits.memory_max, .min = LIMIT_MEMORY_MAX),
	KEY("limits.tasks_max", settings_store_limit, limits.tasks_max, .min = LIMIT_TASKS_MAX),
	KEY("limits.cpu_weight", settings_store_limit, limits.cpu_weight, .min = LIMIT_CPU_WEIGHT),
	KEY("groups", store_groups, groups),
};

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
	r = toml_document_store(&document, keys, ARRAY_SIZE(keys), &settings, err);
	if (r < 0)
		return r;
	*ret = settings;
	settings = (struct settings){ 0 };
	return 0;
}
