/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/registry-parse.h"

#include "base/fsutil.h"

#include <string.h>

/* Which of the names value is: names[0], names[1]... up to the NULL. */
static int find_name(const struct toml_document *document, const char *path,
		     struct json_object *value, const char *const *names, unsigned *ret,
		     struct error *err)
{
	cleanup_strbuf struct strbuf known = { 0 };
	int r = toml_check_string(document, path, value, err);
	if (r < 0)
		return r;
	const char *text = json_object_get_string(value);
	for (unsigned i = 0; names[i]; i++) {
		if (streq(text, names[i])) {
			*ret = i;
			return 0;
		}
		strbuf_addf(&known, "%s\"%s\"", !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
	}
	return toml_error(document, path, err, "%s must be %s, not \"%s\"", path,
			  strbuf_text(&known), text);
}

static int store_id_kind(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	static const char *const names[] = {
		[ID_NONE] = "none",
		[ID_UUID] = "uuid",
		[ID_ANY] = "any",
		[ID_PATH] = "path",
		[ID_NAME] = "name", NULL
	};
	unsigned i;
	int r = find_name(document, key->path, value, names, &i, err);
	if (r == 0)
		*(enum id_kind *)field = (enum id_kind)i;
	return r;
}

static int store_id_scope(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	static const char *const names[] = {
		[ID_SCOPE_CWD] = "cwd",
		[ID_SCOPE_GLOBAL] = "global", NULL
	};
	unsigned i;
	int r = find_name(document, key->path, value, names, &i, err);
	if (r == 0)
		*(enum id_scope *)field = (enum id_scope)i;
	return r;
}

static int store_unknown_id(const struct toml_document *document, const struct toml_key *key,
			    struct json_object *value, void *field, struct error *err)
{
	static const char *const names[] = {
		[UNKNOWN_EXITS] = "exits",
		[UNKNOWN_CREATES] = "creates",
		[UNKNOWN_NEW] = "new", NULL
	};
	unsigned i;
	int r = find_name(document, key->path, value, names, &i, err);
	if (r == 0)
		*(enum unknown_id *)field = (enum unknown_id)i;
	return r;
}

static int store_payload(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	static const char *const names[] = {
		[PAYLOAD_STDIN] = "stdin",
		[PAYLOAD_ARGUMENT] = "argument", NULL
	};
	unsigned i;
	int r = find_name(document, key->path, value, names, &i, err);
	if (r == 0)
		*(enum report_payload *)field = (enum report_payload)i;
	return r;
}

static int store_binds(const struct toml_document *document, const struct toml_key *key,
		       struct json_object *value, void *field, struct error *err)
{
	static const char *const names[] = {
		[BINDS_START] = "start",
		[BINDS_FIRST] = "first", NULL
	};
	unsigned i;
	int r = find_name(document, key->path, value, names, &i, err);
	if (r == 0)
		*(enum report_binds *)field = (enum report_binds)i;
	return r;
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
	{ .path = (name), .store = (function), .offset = offsetof(struct agent, member) }

/* All of struct agent but name, builtin and overridden: copying and freeing go by it, too. */
static const struct toml_key keys[] = {
	KEY("title", store_or_null, title),
	KEY("command", toml_store_strings, command),
	KEY("match", toml_store_strings, match),
	KEY("packages", toml_store_strings, packages),
	KEY("version", toml_store_strings, version),
	KEY("evidence", toml_store_strings, evidence),
	KEY("stand_in", toml_store_bool, stand_in),
	KEY("generic", toml_store_bool, generic),
	KEY("session.id", store_id_kind, id_kind),
	KEY("session.scope", store_id_scope, id_scope),
	KEY("session.unknown.behaviour", store_unknown_id, unknown_id),
	KEY("session.unknown.pattern", store_or_null, unknown_pattern),
	KEY("session.assign", toml_store_strings, assign),
	KEY("session.resume", toml_store_strings, resume),
	KEY("session.fork", toml_store_strings, fork),
	KEY("session.continue", toml_store_strings, continue_latest),
	KEY("session.continue_scope", store_id_scope, continue_scope),
	KEY("session.create", toml_store_strings, create),
	KEY("session.create_pattern", store_or_null, create_pattern),
	KEY("session.transcript", store_or_null, transcript),
	KEY("isolation.arguments", toml_store_strings, isolation_arguments),
	KEY("isolation.environment", toml_store_strings, isolation_environment),
	KEY("report.arguments", toml_store_strings, report),
	KEY("report.environment", toml_store_strings, report_environment),
	KEY("report.events", toml_store_strings, report_events),
	KEY("report.settings", store_or_null, report_settings),
	KEY("report.payload", store_payload, report_payload),
	KEY("report.binds", store_binds, report_binds),
	KEY("report.event_key", store_or_null, event_key),
	KEY("report.id_key", store_or_null, id_key),
	KEY("report.transcript_key", store_or_null, transcript_key),
	KEY("report.cwd_key", store_or_null, cwd_key),
	KEY("report.source_key", store_or_null, source_key),
	KEY("report.start", toml_store_strings, report_start),
	KEY("report.prompt", toml_store_strings, report_prompt),
	KEY("report.busy", toml_store_strings, report_busy),
	KEY("report.waiting", toml_store_strings, report_waiting),
	KEY("report.idle", toml_store_strings, report_idle),
	KEY("report.turn", toml_store_strings, report_turn),
	KEY("report.end", toml_store_strings, report_end),
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
	KEY("screen.login", toml_store_strings, login),
	KEY("screen.exit_banner", store_or_null, exit_banner),
	KEY("daemons.end", toml_store_strings, daemons),
	KEY("keys.quit", toml_store_strings, quit_keys),
	KEY("keys.banner", toml_store_strings, banner_keys),
	KEY("keys.submit", store_or_null, submit_key),
	KEY("doctor.hint", store_or_null, doctor_hint),
	KEY("doctor.remedy", store_or_null, doctor_remedy),
	KEY("doctor.file", store_or_null, doctor_file),
	KEY("doctor.unless", store_or_null, doctor_unless),
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

const void *agent_field(const struct agent *agent, const char *path, bool *ret_is_vector)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!streq(keys[i].path, path))
			continue;
		*ret_is_vector = keys[i].store == toml_store_strings;
		return (const char *)agent + keys[i].offset;
	}
	abort();
}

static bool reports(const struct agent *agent)
{
	return agent->report.count || agent->report_environment.count;
}

/* What most agents that report call things. */
static void complete_report(const struct toml_document *document, struct agent *agent)
{
	const struct {
		const char *path;
		char **field;
		const char *value;
	} names[] = {
		{ "report.event_key", &agent->event_key, "hook_event_name" },
		{ "report.id_key", &agent->id_key, "session_id" },
		{ "report.transcript_key", &agent->transcript_key, "transcript_path" },
		{ "report.cwd_key", &agent->cwd_key, "cwd" },
		{ "report.source_key", &agent->source_key, "source" },
	};
	const struct {
		const char *path;
		struct strvec *field;
		const char *events[3];
	} meanings[] = {
		{ "report.start", &agent->report_start, { "SessionStart" } },
		{ "report.prompt", &agent->report_prompt, { "UserPromptSubmit" } },
		{ "report.busy", &agent->report_busy, { "PreToolUse", "PostToolUse" } },
		{ "report.waiting",
		  &agent->report_waiting,
		  { "Notification", "PermissionRequest" } },
		{ "report.idle", &agent->report_idle, { "Stop" } },
		{ "report.end", &agent->report_end, { "SessionEnd" } },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!*names[i].field && !toml_document_has(document, names[i].path))
			*names[i].field = xstrdup(names[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (!meanings[i].field->count && !toml_document_has(document, meanings[i].path))
			strvec_push_array(meanings[i].field, meanings[i].events);
}

/* What follows from the rest where the entry does not say it. */
static void complete(const struct toml_document *document, const struct agent *base,
		     struct agent *agent)
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
	/* What a base that reports leaves empty, it means. */
	if (reports(agent) && !(base && reports(base)))
		complete_report(document, agent);
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
		r = agent_check(&document, agent, err);
	if (r < 0)
		return r;
	complete(&document, base, agent);
	*ret = TAKE_PTR(agent);
	return 0;
}
