/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/agent.h"

#include "base/tomlschema.h"

#include <string.h>

/* With "" an override removes the value of the built-in entry. */
static int store_or_null(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	char **slot = field;
	int r = toml_store_string(document, key, value, field, err);
	if (r == 0 && is_empty(*slot))
		replace_string(slot, NULL);
	return r;
}

static const char *const id_kinds[] = { [ID_NONE] = "none", [ID_UUID] = "uuid", [ID_ANY] = "any",
					[ID_PATH] = "path", [ID_NAME] = "name", NULL };
static const char *const id_scopes[] = {
	[ID_SCOPE_CWD] = "cwd", [ID_SCOPE_GLOBAL] = "global", NULL
};
static const char *const behaviours[] = {
	[UNKNOWN_EXITS] = "exits", [UNKNOWN_CREATES] = "creates", [UNKNOWN_NEW] = "new", NULL
};
static const char *const payloads[] = {
	[PAYLOAD_STDIN] = "stdin", [PAYLOAD_ARGUMENT] = "argument", NULL
};
static const char *const binds[] = { [BINDS_START] = "start", [BINDS_FIRST] = "first", NULL };

#define KEY(name, as, function, member, ...)                          \
	{                                                             \
		.path = (name), .shown = (as), .store = (function),   \
		.offset = offsetof(struct agent, member), __VA_ARGS__ \
	}

/* All fields of struct agent but name, builtin and overridden: as the key in its file, and as its
 * name in `agents show` (NULL: that has another form there).  Copying and freeing use this table,
 * too. */
static const struct toml_key keys[] = {
	KEY("title", NULL, store_or_null, title),
	KEY("command", NULL, toml_store_strings, command),
	KEY("match", "match", toml_store_strings, match),
	KEY("packages", "packages", toml_store_strings, packages),
	KEY("version", "ask_version", toml_store_strings, version),
	KEY("evidence", "evidence", toml_store_strings, evidence),
	KEY("stand_in", NULL, toml_store_bool, stand_in),
	KEY("generic", NULL, toml_store_bool, generic),
	KEY("session.id", "session_id", toml_store_word, id_kind, .words = id_kinds),
	KEY("session.scope", "id_scope", toml_store_word, id_scope, .words = id_scopes),
	KEY("session.unknown.behaviour", "unknown_id", toml_store_word, unknown_id,
	    .words = behaviours),
	KEY("session.unknown.pattern", "unknown_pattern", store_or_null, unknown_pattern),
	KEY("session.assign", NULL, toml_store_strings, assign),
	KEY("session.resume", NULL, toml_store_strings, resume),
	KEY("session.fork", NULL, toml_store_strings, fork),
	KEY("session.continue", NULL, toml_store_strings, continue_latest),
	KEY("session.continue_scope", "continue_scope", toml_store_word, continue_scope,
	    .words = id_scopes),
	KEY("session.create", "create", toml_store_strings, create),
	KEY("session.create_pattern", "create_pattern", store_or_null, create_pattern),
	KEY("session.transcript", "transcript", store_or_null, transcript),
	KEY("session.conversations", "conversations", store_or_null, conversations),
	KEY("session.processes", "processes", store_or_null, processes),
	KEY("files.conversation", "files", store_or_null, files.conversation),
	KEY("files.id", "files_id", store_or_null, files.id),
	KEY("files.directory", "files_directory", store_or_null, files.directory),
	KEY("files.directory_file", "files_directory_file", store_or_null, files.directory_file),
	KEY("files.prompt", "files_prompt", store_or_null, files.prompt),
	KEY("files.prompt_text", "files_prompt_text", store_or_null, files.prompt_text),
	KEY("files.reply", "files_reply", store_or_null, files.reply),
	KEY("files.reply_text", "files_reply_text", store_or_null, files.reply_text),
	KEY("files.skip", "files_skip", toml_store_strings, files.skip),
	KEY("files.side", "files_side", toml_store_strings, files.side),
	KEY("files.lock", "files_lock", store_or_null, files.lock),
	KEY("isolation.arguments", NULL, toml_store_strings, isolation_arguments),
	KEY("isolation.environment", "isolation_set", toml_store_strings, isolation_environment),
	KEY("isolation.conversation", "isolation_conversation", store_or_null,
	    isolation_conversation),
	KEY("report.arguments", NULL, toml_store_strings, report),
	KEY("report.environment", "report_set", toml_store_strings, report_environment),
	KEY("report.events", "report_events", toml_store_strings, report_events),
	KEY("report.settings", "report_settings", store_or_null, report_settings),
	KEY("report.payload", "report_payload", toml_store_word, report_payload, .words = payloads),
	KEY("report.binds", "report_binds", toml_store_word, report_binds, .words = binds),
	KEY("report.event_key", "event_key", store_or_null, event_key),
	KEY("report.id_key", "id_key", store_or_null, id_key),
	KEY("report.transcript_key", "transcript_key", store_or_null, transcript_key),
	KEY("report.cwd_key", "cwd_key", store_or_null, cwd_key),
	KEY("report.source_key", "source_key", store_or_null, source_key),
	KEY("report.kind_key", "kind_key", store_or_null, kind_key),
	KEY("report.off", "report_off", toml_store_strings, report_off),
	KEY("report.off_managed", "report_off_managed", toml_store_strings, report_off_managed),
	KEY("report.off_files", "report_off_files", toml_store_strings, report_off_files),
	KEY("report.start", "report_start", toml_store_strings, report_start),
	KEY("report.prompt", "report_prompt", toml_store_strings, report_prompt),
	KEY("report.busy", "report_busy", toml_store_strings, report_busy),
	KEY("report.waiting", "report_waiting", toml_store_strings, report_waiting),
	KEY("report.idle", "report_idle", toml_store_strings, report_idle),
	KEY("report.failed", "report_failed", toml_store_strings, report_failed),
	KEY("report.failure_key", "failure_key", store_or_null, failure_key),
	KEY("report.failure_text_key", "failure_text_key", store_or_null, failure_text_key),
	KEY("report.tasks_key", "tasks_key", store_or_null, tasks_key),
	KEY("report.tasks", "report_tasks", toml_store_strings, tasks),
	KEY("report.context_full", "report_context_full", toml_store_strings, context_full),
	KEY("report.turn", "report_turn", toml_store_strings, report_turn),
	KEY("report.end", "report_end", toml_store_strings, report_end),
	KEY("arguments.prompt_positional", NULL, toml_store_bool, prompt_positional),
	KEY("arguments.strip", "strip", toml_store_strings, strip),
	KEY("arguments.strip_value", "strip_value", toml_store_strings, strip_value),
	KEY("arguments.strip_optional", "strip_optional", toml_store_strings, strip_optional),
	KEY("arguments.adopt", "adopt", toml_store_strings, adopt),
	KEY("arguments.latest", "latest", toml_store_strings, latest),
	KEY("arguments.one_shot", "one_shot", toml_store_strings, one_shot),
	KEY("arguments.value", "value", toml_store_strings, value_flags),
	KEY("arguments.variadic", "variadic", toml_store_strings, variadic_flags),
	KEY("arguments.optional", "optional", toml_store_strings, optional_flags),
	KEY("arguments.once", "once", toml_store_strings, once),
	KEY("home.variable", "home_variable", store_or_null, config_home_env),
	KEY("home.default", "home", store_or_null, config_home),
	KEY("home.login", "login_files", toml_store_strings, login_files),
	KEY("home.seed", "seed", store_or_null, seed_file),
	KEY("home.seed_text", "seed_text", store_or_null, seed_text),
	KEY("environment.scrub", "scrub", toml_store_strings, scrub),
	KEY("environment.set", "set", toml_store_strings, set),
	KEY("environment.login", "login_variables", toml_store_strings, login_variables),
	KEY("screen.ready", "ready", toml_store_strings, ready),
	KEY("screen.busy", "busy", toml_store_strings, busy),
	KEY("screen.waiting", "waiting", toml_store_strings, waiting),
	KEY("screen.box", NULL, toml_store_bool, has_box),
	KEY("screen.box_above", "box_above", toml_store_strings, box_above),
	KEY("screen.box_below", "box_below", toml_store_strings, box_below),
	KEY("screen.box_frame", "box_frame", toml_store_strings, box_frame),
	KEY("screen.placeholder", "placeholder", toml_store_strings, placeholder),
	KEY("screen.pasted", "pasted", toml_store_strings, pasted),
	KEY("screen.mode", "mode", toml_store_strings, mode),
	KEY("screen.mode_text", "mode_text", toml_store_strings, mode_text),
	KEY("screen.elsewhere", "elsewhere", toml_store_strings, elsewhere),
	KEY("screen.login", "login", toml_store_strings, login),
	KEY("screen.background", "background", toml_store_strings, background),
	KEY("screen.refused", "refused", toml_store_strings, refused),
	KEY("screen.suspended", "suspended", toml_store_strings, suspended),
	KEY("screen.limit", "limit", toml_store_strings, limit),
	KEY("screen.limit_menu", "limit_menu", toml_store_strings, limit_menu),
	KEY("screen.limit_resumes", "limit_resumes", toml_store_strings, limit_resumes),
	KEY("screen.tasks", "tasks", toml_store_strings, tasks_shown),
	KEY("screen.exit_banner", "exit_banner", store_or_null, exit_banner),
	KEY("daemons.end", "daemons", toml_store_strings, daemons),
	KEY("keys.quit", "quit_keys", toml_store_strings, quit_keys),
	KEY("keys.limit", "limit_keys", toml_store_strings, limit_keys),
	KEY("keys.banner", "banner_keys", toml_store_strings, banner_keys),
	KEY("keys.clear", "clear_keys", toml_store_strings, clear_keys),
	KEY("keys.guard", "guard", store_or_null, guard),
	KEY("keys.guard_text", "guard_text", store_or_null, guard_text),
	KEY("keys.submit", "submit_key", store_or_null, submit_key),
	KEY("question", NULL, agent_questions_store, questions),
	KEY("doctor.hint", "doctor_hint", store_or_null, doctor_hint),
	KEY("doctor.remedy", "doctor_remedy", store_or_null, doctor_remedy),
	KEY("doctor.file", "doctor_file", store_or_null, doctor_file),
	KEY("doctor.unless", "doctor_unless", store_or_null, doctor_unless),
};

struct json_object *agent_schema(void)
{
	static const struct toml_shape shapes[] = {
		{ "question", "{\"type\": \"object\"}" },
		{ NULL, NULL },
	};
	struct json_object *members = json_object_new_object();
	struct json_object *schema = toml_schema("an agent of agentdeck", keys, ARRAY_SIZE(keys),
						 shapes);
	for (size_t i = 0; i < agent_question_key_count; i++)
		json_set_string(json_make_object(members, agent_question_keys[i].name), "type",
				"string");
	json_set(json_get_object(json_get_object(schema, "properties"), "question"),
		 "additionalProperties", toml_schema_object(members));
	return schema;
}

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
	agent_questions_clear(&agent->questions);
	free(agent->name);
	free(agent);
}

struct agent *agent_copy(const struct agent *base)
{
	struct agent *copy = xcalloc(1, sizeof(*copy));
	*copy = *base;
	copy->name = xstrdup(base->name);
	agent_questions_detach(&copy->questions);
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
		const void *field = (const char *)agent + keys[i].offset;
		*ret_is_vector = keys[i].store == toml_store_strings;
		return keys[i].words ? keys[i].words + *(const unsigned *)field : field;
	}
	abort();
}

bool agent_value_at(const struct agent *agent, size_t index, struct agent_value *ret)
{
	bool is_list;
	if (index >= ARRAY_SIZE(keys))
		return false;
	const struct toml_key *key = &keys[index];
	const void *field = agent_field(agent, key->path, &is_list);
	const bool is_text = key->store == store_or_null || key->words;
	*ret = (struct agent_value){
		.key = key->path,
		.name = key->shown,
		.text = is_text ? *(const char *const *)field : NULL,
		.list = is_list ? field : NULL,
	};
	return true;
}

int agent_store(const struct toml_document *document, struct agent *agent, struct error *err)
{
	return toml_document_store(document, keys, ARRAY_SIZE(keys), agent, err);
}

const struct agent_files *agent_find_files(const struct agent *agent)
{
	const char *layout = agent->conversations ? agent->conversations : agent->transcript;
	if (agent->files.conversation)
		return &agent->files;
	return layout ? agent_files_named(layout) : NULL;
}

const struct agent_files *agent_movable_files(const struct agent *agent)
{
	const struct agent_files *files = agent_find_files(agent);
	return files && files->reach != FILES_STAY ? files : NULL;
}

bool agent_reports(const struct agent *agent)
{
	return agent->report.count || agent->report_environment.count;
}
