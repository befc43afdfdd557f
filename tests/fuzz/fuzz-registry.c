/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agents/NAME.toml: an error names its place and leaves the registry unchanged.  What is accepted
 * can be applied twice, alone and over a built-in entry, and every plan made with it can be run.
 */
#include "fuzz/fuzz.h"

#include "model/agent/registry-parse.h"
#include "model/agent/registry.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#define ID "0bbbbbbb-0000-4000-8000-000000000002"

/* Texts that an agent shows and says, for its patterns. */
static const char screen[] =
	"> Do you want to proceed?\n  1. Yes\nesc to interrupt\n\n"
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n"
	"session " ID "\nInvalid API key \xc2\xb7 Please run /login\n";

static void check_attempts(const struct run *run)
{
	bool seen[RUNG_COUNT] = { false };
	HOLDS(run->attempt_count >= 1);
	for (size_t i = 0; i < run->attempt_count; i++) {
		const struct attempt *attempt = &run->attempts[i];
		HOLDS(attempt->rung > RUNG_NONE && attempt->rung < RUNG_COUNT &&
		      !seen[attempt->rung]);
		HOLDS(attempt->argv.count >= 1 && *attempt->argv.items[0] &&
		      attempt_reason(attempt));
		seen[attempt->rung] = true;
	}
}

static void check_plans(const struct agent *agent)
{
	const enum transcript_fact transcripts[] = { TRANSCRIPT_UNKNOWN, TRANSCRIPT_ABSENT,
						     TRANSCRIPT_TURNS };
	for (size_t i = 0; i < 2 * ARRAY_SIZE(transcripts); i++) {
		cleanup_instance struct instance *instance = instance_new();
		struct run run = { 0 };
		replace_string(&instance->id, "0123abcd");
		replace_string(&instance->cwd, "/srv");
		strvec_push_all(&instance->argv, &agent->command);
		strvec_push_array(&instance->argv,
				  (const char *const[]){ "--resume", ID, "words", NULL });
		if (i % 2)
			conversation_set_id(&instance->conversation, ID, ORIGIN_REPORTED, 1);
		cleanup_free char *new_id = resume_new_id(agent, instance, "/state");
		HOLDS(!new_id || resume_takes_id(agent, new_id));
		const struct resume_facts facts = { .agent = agent,
						    .instance = instance,
						    .transcript = transcripts[i / 2],
						    .resume_enabled = true,
						    .new_session_id = new_id,
						    .settings_file = "/run/settings",
						    .hook = "[\"agentdeck\",\"hook\"]",
						    .state = "/state",
						    .shell = "/bin/sh" };
		resume_plan(&facts, &run);
		check_attempts(&run);
		run_clear(&run);
	}
}

static void check_agent(const struct agent *agent)
{
	HOLDS(agent->name && agent->title && agent->submit_key);
	HOLDS(!is_empty(strategy_name(registry_strategy(agent))));
	cleanup_free char *refused = NULL;
	const enum refusal refusal = registry_refusal(agent, screen, &refused);
	cleanup_free char *id = resume_match_id(agent, agent->exit_banner, screen);
	HOLDS((refusal == REFUSAL_NONE) == !refused);
	HOLDS(!id || resume_takes_id(agent, id));
	if (agent->command.count)
		check_plans(agent);
}

static void check_refusal(struct error *err)
{
	HOLDS(err->code == ERROR_CORRUPT && starts_with(err->message, "input:"));
	fuzz_failed(err);
}

/* As a new entry, and then over itself. */
static void check_new(const char *text, size_t length)
{
	cleanup_registry struct registry registry = { 0 };
	struct error err = { 0 };
	if (registry_override(&registry, "mine", text, length, "input", &err) < 0) {
		HOLDS(registry.count == 0);
		check_refusal(&err);
		return;
	}
	const struct agent *agent = registry_find(&registry, "mine");
	HOLDS(registry.count == 1 && agent && !agent->overridden);
	check_agent(agent);
	(void)registry_match(&registry, &agent->command);
	HOLDS(registry_override(&registry, "mine", text, length, "input", &err) == 0);
	HOLDS(registry.count == 1 && registry_find(&registry, "mine")->overridden);
	HOLDS(registry_override(&registry, "../mine", text, length, "input", &err) < 0);
	check_refusal(&err);
}

static void check_over(const struct agent *base, const char *text, size_t length)
{
	struct agent *untouched = (struct agent *)(uintptr_t)1, *agent = untouched;
	struct error err = { 0 };
	const struct agent_text entry = { .name = base->name,
					  .text = text,
					  .length = length,
					  .what = "input",
					  .trust = AGENT_CHECKED };
	if (agent_parse(base, &entry, &agent, &err) < 0) {
		HOLDS(agent == untouched);
		check_refusal(&err);
		return;
	}
	HOLDS(streq(agent->name, base->name));
	check_agent(agent);
	agent_free(agent);
}

static const struct registry *builtin(void)
{
	static struct registry registry;
	if (!registry.count && registry_builtin(&registry, NULL) < 0)
		abort();
	return &registry;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_new((const char *)data, size);
	/* Two entries with different kinds of ids and reports. */
	check_over(registry_find(builtin(), "claude"), (const char *)data, size);
	check_over(registry_find(builtin(), "codex"), (const char *)data, size);
	return 0;
}
