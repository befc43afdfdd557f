/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/create.h"

#include "base/log.h"
#include "engine/deck/home.h"
#include "engine/place/place.h"
#include "model/plan/resume.h"

enum { CREATE_TIMEOUT_MS = 30000 };

/* The user's "env X=1 /opt/x/agent" in the place of the registry's "agent". */
static void build_argv(const struct instance *instance, const struct agent *agent,
		       const char *state, struct strvec *ret)
{
	const struct resume_slots slots = { .state = state };
	cleanup_strvec struct strvec words = { 0 };
	size_t program = registry_program(&instance->argv);

	resume_expand(&agent->create, &slots, &words);
	if (program < instance->argv.count &&
	    strvec_contains(&agent->match, path_basename(instance->argv.items[program])) &&
	    strvec_contains(&agent->match, words.items[0]))
		for (size_t i = 0; i <= program; i++)
			strvec_push(ret, instance->argv.items[i]);
	else
		strvec_push(ret, words.items[0]);
	strvec_push_array(ret, (const char *const *)words.items + 1);
}

static int judge(const struct instance *instance, const struct agent *agent, const char *command,
		 const struct child_result *result, char **ret, struct error *err)
{
	cleanup_free char *words = child_last_words(result);
	cleanup_free char *cwd = visible(instance_launch_directory(instance));
	if (result->exit_status != 0)
		return error_set(
			err, ERROR_CHILD,
			"%s made no conversation: \"%s\" ended with status %d (%s). Nothing was "
			"started; run it by hand in %s and follow its instructions",
			agent->title, command, result->exit_status, words, cwd);
	char *id = resume_match_id(agent, agent->create_pattern, strbuf_text(&result->output));
	if (!id)
		return error_set(
			err, ERROR_CHILD,
			"%s made a conversation but its id is unknown: \"%s\" printed no id "
			"(expected: %s; it printed: %s). Nothing was started; compare the output "
			"with session.create_pattern in agentdeck agents show %s",
			agent->title, command, resume_id_text(agent), words, agent->name);
	*ret = id;
	return 0;
}

int create_conversation(struct deck *deck, struct instance *instance,
			const struct place_order *order, char **ret, struct error *err)
{
	const struct agent *agent = order->agent;
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *state = home_path(deck, instance->id);
	const struct place_run run = place_run_of(instance);
	const struct place_command request = {
		.order = order,
		.argv = &argv,
		.timeout_ms = CREATE_TIMEOUT_MS,
	};
	build_argv(instance, agent, state, &argv);
	cleanup_free char *command = visible_argv(argv.items);
	int r = place_of(&run)->run_command(deck, instance, &request, &result, err);
	if (r < 0)
		return error_prefix(err, "%s made no conversation, so nothing was started: \"%s\"",
				    agent->title, command);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s is not installed: program '%s' not found in PATH",
				 agent->title, argv.items[0]);
	if (judge(instance, agent, command, &result, ret, err) < 0)
		return -1;
	log_info("conversation %s made by: %s", *ret, command);
	return 0;
}
