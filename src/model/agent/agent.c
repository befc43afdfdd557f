/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/agent.h"

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

#define KEY(name, function, member, ...)                                                       \
	{                                                                                      \
		.path = (name), .store = (function), .offset = offsetof(struct agent, member), \
		__VA_ARGS__                                                                    \
	}

/* All fields of struct agent but name, builtin and overridden; copying and freeing use this table,
 * too. */
static const struct toml_key keys[] = {
	KEY("title", store_or_null, title),
	KEY("command", toml_store_strings, command),
	KEY("match", toml_store_strings, match),
	KEY("packages", toml_store_strings, packages),
	KEY("version", toml_store_strings, version),
	KEY("evidence", toml_store_strings, evidence),
	KEY("stand_in", toml_store_bool, stand_in),
	KEY("generic", toml_store_bool, generic),
	KEY("session.id", toml_store_word, id_kind, .words = id_kinds),
	KEY("session.scope", toml_store_word, id_scope, .words = id_scopes),
	KEY("session.unknown.behaviour", toml_store_word, unknown_id, .words = behaviours),
	KEY("session.unknown.pattern", store_or_null, unknown_pattern),
	KEY("session.assign", toml_store_strings, assign),
	KEY("session.resume", toml_store_strings, resume),
	KEY("session.fork", toml_store_strings, fork),
	KEY("session.continue", toml_store_strings, continue_latest),
	KEY("session.continue_scope", toml_store_word, continue_scope, .words = id_scopes),
	KEY("session.create", toml_store_strings, create),
	KEY("session.create_pattern", store_or_null, create_pattern),
	KEY("session.transcript", store_or_null, transcript),
	KEY("session.conversations", store_or_null, conversations),
	KEY("session.processes", store_or_null, processes),
	KEY("files.conversation", store_or_null, files.conversation),
	KEY("files.id", store_or_null, files.id),
	KEY("files.directory", store_or_null, files.directory),
	KEY("files.directory_file", store_or_null, files.directory_file),
	KEY("files.prompt", store_or_null, files.prompt),
	KEY("files.prompt_text", store_or_null, files.prompt_text),
	KEY("files.reply", store_or_null, files.reply),
	KEY("files.reply_text", store_or_null, files.reply_text),
	KEY("files.skip", toml_store_strings, files.skip),
	KEY("files.side", toml_store_strings, files.side),
	KEY("files.lock", store_or_null, files.lock),
	KEY("isolation.arguments", toml_store_strings, isolation_arguments),
	KEY("isolation.environment", toml_store_strings, isolation_environment),
	KEY("isolation.conversation", store_or_null, isolation_conversation),
	KEY("report.arguments", toml_store_strings, report),
	KEY("report.environment", toml_store_strings, report_environment),
	KEY("report.events", toml_store_strings, report_events),
	KEY("report.settings", store_or_null, report_settings),
	KEY("report.payload", toml_store_word, report_payload, .words = payloads),
	KEY("report.binds", toml_store_word, report_binds, .words = binds),
	KEY("report.event_key", store_or_null, event_key),
	KEY("report.id_key", store_or_null, id_key),
	KEY("report.transcript_key", store_or_null, transcript_key),
	KEY("report.cwd_key", store_or_null, cwd_key),
	KEY("report.source_key", store_or_null, source_key),
	KEY("report.kind_key", store_or_null, kind_key),
	KEY("report.off", toml_store_strings, report_off),
	KEY("report.off_files", toml_store_strings, report_off_files),
	KEY("report.start", toml_store_strings, report_start),
	KEY("report.prompt", toml_store_strings, report_prompt),
	KEY("report.busy", toml_store_strings, report_busy),
	KEY("report.waiting", toml_store_strings, report_waiting),
	KEY("report.idle", toml_store_strings, report_idle),
	KEY("report.failed", toml_store_strings, report_failed),
	KEY("report.failure_key", store_or_null, failure_key),
	KEY("report.failure_text_key", store_or_null, failure_text_key),
	KEY("report.tasks_key", store_or_null, tasks_key),
	KEY("report.tasks", toml_store_strings, tasks),
	KEY("report.context_full", toml_store_strings, context_full),
	KEY("report.turn", toml_store_strings, report_turn),
	KEY("report.end", toml_store_strings, report_end),
	KEY("arguments.prompt_positional", toml_store_bool, prompt_positional),
	KEY("arguments.strip", toml_store_strings, strip),
	KEY("arguments.strip_value", toml_store_strings, strip_value),
	KEY("arguments.strip_optional", toml_store_strings, strip_optional),
	KEY("arguments.adopt", toml_store_strings, adopt),
	KEY("arguments.latest", toml_store_strings, latest),
	KEY("arguments.one_shot", toml_store_strings, one_shot),
	KEY("arguments.value", toml_store_strings, value_flags),
	KEY("arguments.variadic", toml_store_strings, variadic_flags),
	KEY("arguments.optional", toml_store_strings, optional_flags),
	KEY("arguments.once", toml_store_strings, once),
	KEY("home.variable", store_or_null, config_home_env),
	KEY("home.default", store_or_null, config_home),
	KEY("home.login", toml_store_strings, login_files),
	KEY("home.seed", store_or_null, seed_file),
	KEY("home.seed_text", store_or_null, seed_text),
	KEY("environment.scrub", toml_store_strings, scrub),
	KEY("environment.set", toml_store_strings, set),
	KEY("environment.login", toml_store_strings, login_variables),
	KEY("screen.ready", toml_store_strings, ready),
	KEY("screen.busy", toml_store_strings, busy),
	KEY("screen.waiting", toml_store_strings, waiting),
	KEY("screen.box", toml_store_bool, has_box),
	KEY("screen.box_above", toml_store_strings, box_above),
	KEY("screen.box_below", toml_store_strings, box_below),
	KEY("screen.box_frame", toml_store_strings, box_frame),
	KEY("screen.placeholder", toml_store_strings, placeholder),
	KEY("screen.pasted", toml_store_strings, pasted),
	KEY("screen.mode", toml_store_strings, mode),
	KEY("screen.mode_text", toml_store_strings, mode_text),
	KEY("screen.elsewhere", toml_store_strings, elsewhere),
	KEY("screen.login", toml_store_strings, login),
	KEY("screen.background", toml_store_strings, background),
	KEY("screen.refused", toml_store_strings, refused),
	KEY("screen.suspended", toml_store_strings, suspended),
	KEY("screen.tasks", toml_store_strings, tasks_shown),
	KEY("screen.exit_banner", store_or_null, exit_banner),
	KEY("daemons.end", toml_store_strings, daemons),
	KEY("keys.quit", toml_store_strings, quit_keys),
	KEY("keys.banner", toml_store_strings, banner_keys),
	KEY("keys.clear", toml_store_strings, clear_keys),
	KEY("keys.guard", store_or_null, guard),
	KEY("keys.guard_text", store_or_null, guard_text),
	KEY("keys.submit", store_or_null, submit_key),
	KEY("question", agent_questions_store, questions),
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
