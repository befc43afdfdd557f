/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/registry-parse.h"

#include "base/fsutil.h"
#include "base/tomlmap.h"

#include <regex.h>
#include <string.h>

#define SESSION_SLOT "{session_id}"
#define SETTINGS_SLOT "{settings}"

static int store_id_kind(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	static const char *const names[] = {
		[ID_NONE] = "none", [ID_UUID] = "uuid", [ID_ANY] = "any"
	};
	int r = toml_check_string(document, key->path, value, err);
	if (r < 0)
		return r;
	const char *text = json_object_get_string(value);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (streq(text, names[i])) {
			*(enum id_kind *)field = (enum id_kind)i;
			return 0;
		}
	}
	return toml_error(document, key->path, err,
			  "%s must be \"none\", \"uuid\" or \"any\", not \"%s\"", key->path, text);
}

/* "" is how an override takes away what the built-in entry has. */
static int store_or_null(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	char **slot = field;
	int r = toml_store_string(document, key, value, field, err);
	if (r == 0 && is_empty(*slot))
		replace_string(slot, NULL);
	return r;
}

#define KEY(name, function, member) \
	{ .path = name, .store = function, .offset = offsetof(struct agent, member) }

/* All of struct agent but name, builtin and overridden: copying and freeing go by it, too. */
static const struct toml_key keys[] = {
	KEY("title", store_or_null, title),
	KEY("command", toml_store_strings, command),
	KEY("match", toml_store_strings, match),
	KEY("evidence", toml_store_strings, evidence),
	KEY("stand_in", toml_store_bool, stand_in),
	KEY("generic", toml_store_bool, generic),
	KEY("session.id", store_id_kind, id_kind),
	KEY("session.assign", toml_store_strings, assign),
	KEY("session.resume", toml_store_strings, resume),
	KEY("session.fork", toml_store_strings, fork),
	KEY("session.continue", toml_store_strings, continue_latest),
	KEY("session.transcript", store_or_null, transcript),
	KEY("report.arguments", toml_store_strings, report),
	KEY("report.events", toml_store_strings, report_events),
	KEY("arguments.prompt_positional", toml_store_bool, prompt_positional),
	KEY("arguments.strip", toml_store_strings, strip),
	KEY("arguments.strip_value", toml_store_strings, strip_value),
	KEY("arguments.strip_optional", toml_store_strings, strip_optional),
	KEY("arguments.adopt", toml_store_strings, adopt),
	KEY("arguments.value", toml_store_strings, value_flags),
	KEY("arguments.variadic", toml_store_strings, variadic_flags),
	KEY("arguments.optional", toml_store_strings, optional_flags),
	KEY("home.variable", store_or_null, config_home_env),
	KEY("home.default", store_or_null, config_home),
	KEY("environment.scrub", toml_store_strings, scrub),
	KEY("environment.set", toml_store_strings, set),
	KEY("screen.ready", toml_store_strings, ready),
	KEY("screen.busy", toml_store_strings, busy),
	KEY("screen.waiting", toml_store_strings, waiting),
	KEY("keys.quit", toml_store_strings, quit_keys),
	KEY("keys.submit", store_or_null, submit_key),
};

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char *field = (char *)agent + keys[i].offset;
		if (keys[i].store == toml_store_strings)
			strvec_clear((struct strvec *)(void *)field);
		else if (keys[i].store == store_or_null)
			free(*(char **)(void *)field);
	}
	free(agent->name);
	free(agent);
}

static void agent_freep(struct agent **agent)
{
	agent_free(*agent);
}

static struct agent *agent_copy(const struct agent *base)
{
	struct agent *copy = xcalloc(1, sizeof(*copy));
	*copy = *base;
	copy->name = xstrdup(base->name);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char *field = (char *)copy + keys[i].offset;
		if (keys[i].store == toml_store_strings) {
			struct strvec *vec = (struct strvec *)(void *)field, old = *vec;
			*vec = (struct strvec){ 0 };
			strvec_push_all(vec, &old);
		} else if (keys[i].store == store_or_null) {
			char **slot = (char **)(void *)field;
			*slot = xstrdup_or_null(*slot);
		}
	}
	return copy;
}

/* Rules for one string of an entry: NULL, or what is wrong with it. */

static bool is_word(const char *text)
{
	for (const char *s = text; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return *text != '\0';
}

#define VARIABLE "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

static size_t variable_length(const char *text)
{
	return *text >= '0' && *text <= '9' ? 0 : strspn(text, VARIABLE);
}

static const char *broken_program(const char *text)
{
	return *text && !strchr(text, '/') ? NULL : "must be the name of a program, without a path";
}

static const char *broken_argument(const char *text)
{
	return *text ? NULL : "must not be empty";
}

static const char *broken_word(const char *text)
{
	return is_word(text) ? NULL : "must be one word of ASCII characters";
}

static const char *broken_flag(const char *text)
{
	bool is_flag = is_word(text) && text[0] == '-' && text[1] && !streq(text, "--") &&
		       !strchr(text, '=');
	return is_flag ? NULL : "must be a flag as in \"-r\" or \"--resume\"";
}

static const char *broken_variable(const char *text)
{
	size_t length = variable_length(text);
	return length && !text[length] ? NULL : "must be the name of an environment variable";
}

static const char *broken_scrub(const char *text)
{
	if (!text[strspn(text, "*")])
		return "would take away every environment variable";
	return text[strspn(text, VARIABLE "*")]
		       ? "must be the name of an environment variable, in which "
			 "\"*\" stands for any text"
		       : NULL;
}

static const char *broken_set(const char *text)
{
	size_t length = variable_length(text);
	return length && text[length] == '=' ? NULL : "must be NAME=VALUE";
}

static const char *broken_home(const char *text)
{
	return text[0] == '/' || streq(text, "~") || starts_with(text, "~/")
		       ? NULL
		       : "must be an absolute path, or start with \"~/\"";
}

static const char *broken_layout(const char *text)
{
	return streq(text, "claude-projects") ? NULL
					      : "is no known layout: known is \"claude-projects\"";
}

static const struct rule {
	const char *path;
	const char *(*broken)(const char *text);
} rules[] = {
	{ "match", broken_program },
	{ "session.assign", broken_argument },
	{ "session.resume", broken_argument },
	{ "session.fork", broken_argument },
	{ "session.continue", broken_argument },
	{ "session.transcript", broken_layout },
	{ "report.arguments", broken_argument },
	{ "report.events", broken_word },
	{ "arguments.strip", broken_flag },
	{ "arguments.strip_value", broken_flag },
	{ "arguments.strip_optional", broken_flag },
	{ "arguments.adopt", broken_flag },
	{ "arguments.value", broken_flag },
	{ "arguments.variadic", broken_flag },
	{ "arguments.optional", broken_flag },
	{ "home.variable", broken_variable },
	{ "home.default", broken_home },
	{ "environment.scrub", broken_scrub },
	{ "environment.set", broken_set },
	{ "keys.quit", broken_word },
	{ "keys.submit", broken_word },
};

static const void *field_at(const struct agent *agent, const char *path, bool *ret_is_vector)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!streq(keys[i].path, path))
			continue;
		*ret_is_vector = keys[i].store == toml_store_strings;
		return (const char *)agent + keys[i].offset;
	}
	abort();
}

static int check_rule(const struct toml_document *document, const struct agent *agent,
		      const struct rule *rule, struct error *err)
{
	bool is_vector;
	const void *field = field_at(agent, rule->path, &is_vector);
	if (!is_vector) {
		const char *text = *(char *const *)field;
		const char *why = text ? rule->broken(text) : NULL;
		return why ? toml_error(document, rule->path, err, "%s: \"%s\" %s", rule->path,
					text, why)
			   : 0;
	}
	const struct strvec *vec = field;
	for (size_t i = 0; i < vec->count; i++) {
		const char *why = rule->broken(vec->items[i]);
		cleanup_free char *path = xasprintf("%s.%zu", rule->path, i);
		if (why)
			return toml_error(document, path, err, "%s: \"%s\" %s", rule->path,
					  vec->items[i], why);
	}
	return 0;
}

static int check_slot(const struct toml_document *document, const char *path,
		      const struct strvec *arguments, const char *slot, struct error *err)
{
	for (size_t i = 0; i < arguments->count; i++)
		if (strstr(arguments->items[i], slot))
			return 0;
	if (arguments->count == 0)
		return 0;
	return toml_error(document, path, err, "%s: one of the words must hold %s", path, slot);
}

static int check_patterns(const struct toml_document *document, const char *path,
			  const struct strvec *patterns, struct error *err)
{
	for (size_t i = 0; i < patterns->count; i++) {
		regex_t regex;
		char why[200] = "it is empty and would fit every line";
		cleanup_free char *element = xasprintf("%s.%zu", path, i);
		int status = regcomp(&regex, patterns->items[i], REG_EXTENDED | REG_NOSUB);
		if (status == 0)
			regfree(&regex);
		else
			(void)regerror(status, &regex, why, sizeof(why));
		if (status != 0 || !*patterns->items[i])
			return toml_error(document, element, err,
					  "%s: \"%s\" is no extended regular expression: %s", path,
					  patterns->items[i], why);
	}
	return 0;
}

/* What no single value shows. */
static int check_whole(const struct toml_document *document, const struct agent *agent,
		       struct error *err)
{
	if (agent->command.count && !*agent->command.items[0])
		return toml_error(document, "command.0", err,
				  "command: the program's name is empty");
	if (agent->id_kind == ID_NONE && !toml_document_has(document, "session.id") &&
	    (agent->assign.count || agent->resume.count))
		return toml_error(document,
				  agent->resume.count ? "session.resume" : "session.assign", err,
				  "session.id is missing: say \"uuid\", or \"any\" when the agent "
				  "takes other ids, too");
	for (size_t i = 0; i < agent->adopt.count; i++) {
		cleanup_free char *path = xasprintf("arguments.adopt.%zu", i);
		const char *flag = agent->adopt.items[i];
		if (!strvec_contains(&agent->strip_value, flag) &&
		    !strvec_contains(&agent->strip_optional, flag))
			return toml_error(document, path, err,
					  "arguments.adopt: %s must also be in "
					  "arguments.strip_value or arguments.strip_optional",
					  flag);
	}
	return 0;
}

static int check(const struct toml_document *document, const struct agent *agent, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (check_rule(document, agent, rules + i, err) < 0)
			return -1;
	if (check_slot(document, "session.assign", &agent->assign, SESSION_SLOT, err) < 0 ||
	    check_slot(document, "session.resume", &agent->resume, SESSION_SLOT, err) < 0 ||
	    check_slot(document, "session.fork", &agent->fork, SESSION_SLOT, err) < 0 ||
	    check_slot(document, "report.arguments", &agent->report, SETTINGS_SLOT, err) < 0 ||
	    check_patterns(document, "screen.ready", &agent->ready, err) < 0 ||
	    check_patterns(document, "screen.busy", &agent->busy, err) < 0 ||
	    check_patterns(document, "screen.waiting", &agent->waiting, err) < 0)
		return -1;
	return check_whole(document, agent, err);
}

/* What follows from the rest where the entry does not say it. */
static void complete(const struct toml_document *document, struct agent *agent)
{
	if (!agent->title)
		agent->title = xstrdup(agent->name);
	if (!agent->submit_key)
		agent->submit_key = xstrdup("Enter");
	if (agent->match.count == 0 && agent->command.count &&
	    !toml_document_has(document, "match"))
		strvec_push(&agent->match, path_basename(agent->command.items[0]));
	for (size_t i = 0; i < agent->variadic_flags.count; i++)
		if (!strvec_contains(&agent->value_flags, agent->variadic_flags.items[i]))
			strvec_push(&agent->value_flags, agent->variadic_flags.items[i]);
}

int agent_parse(const struct agent *base, const char *name, const char *text, size_t length,
		const char *what, enum agent_trust trust, struct agent **ret, struct error *err)
{
	cleanup_toml_document struct toml_document document = { 0 };
	CLEANUP(agent_freep) struct agent *agent = NULL;

	int r = toml_document_parse(text, length, what, &document, err);
	if (r < 0)
		return r;
	if (base) {
		agent = agent_copy(base);
	} else {
		agent = xcalloc(1, sizeof(*agent));
		agent->name = xstrdup(name);
		if (!toml_document_has(&document, "command"))
			return toml_error(&document, "command", err,
					  "command is missing: there is no built-in agent \"%s\"",
					  name);
	}
	r = toml_document_store(&document, keys, ARRAY_SIZE(keys), agent, err);
	if (r == 0 && trust == AGENT_CHECKED)
		r = check(&document, agent, err);
	if (r < 0)
		return r;
	complete(&document, agent);
	*ret = TAKE_PTR(agent);
	return 0;
}
