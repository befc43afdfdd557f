/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/registry-parse.h"

#include "base/fsutil.h"
#include "model/agent/registry-check.h"

static void agent_freep(struct agent **agent)
{
	agent_free(*agent);
}

/* The usual names of most agents that report. */
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
		{ "report.kind_key", &agent->kind_key, "notification_type" },
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
		{ "report.idle", &agent->report_idle, { "Stop", "Notification:idle_prompt" } },
		{ "report.end", &agent->report_end, { "SessionEnd" } },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!*names[i].field && !toml_document_has(document, names[i].path))
			*names[i].field = xstrdup(names[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (!meanings[i].field->count && !toml_document_has(document, meanings[i].path))
			strvec_push_array(meanings[i].field, meanings[i].events);
}

/* Fill in what the entry leaves out and the rest implies. */
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
	/* When the base reports, a field that it leaves empty is meant to be empty. */
	if (agent_reports(agent) && !(base && agent_reports(base)))
		complete_report(document, agent);
}

int agent_parse(const struct agent *base, const struct agent_text *text, struct agent **ret,
		struct error *err)
{
	cleanup_toml_document struct toml_document document = { 0 };
	CLEANUP(agent_freep) struct agent *agent = NULL;

	int r = toml_document_parse(text->text, text->length, text->what, &document, err);
	if (r < 0)
		return r;
	if (base) {
		agent = agent_copy(base);
	} else {
		agent = xcalloc(1, sizeof(*agent));
		agent->name = xstrdup(text->name);
		if (!toml_document_has(&document, "command"))
			return toml_error(&document, "command", err,
					  "command is missing, and \"%s\" is not a built-in agent",
					  text->name);
	}
	r = agent_store(&document, agent, err);
	if (r == 0 && text->trust == AGENT_CHECKED)
		r = agent_check(&document, agent, err);
	if (r < 0)
		return r;
	complete(&document, base, agent);
	*ret = TAKE_PTR(agent);
	return 0;
}
