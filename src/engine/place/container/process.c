/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/container-internal.h"

#include "base/clock.h"
#include "engine/place/environment.h"
#include "model/session/naming.h"

enum {
	AGENT_START_MS = 10000,
	KEEP_SLACK_MS = 1000, /* after the probation no other attempt follows */
};

static void agent_argv(const struct container_process *process, struct strvec *ret)
{
	char *program = process->is_users ? NULL : container_host_program(process->instance);
	strvec_push_all(ret, process->argv);
	if (!program)
		return;
	free(ret->items[0]);
	ret->items[0] = program;
}

int container_hand_secrets(struct deck *deck, const struct instance *instance, const char *run,
			   struct capsule *capsule, struct error *err)
{
	const struct recipe *recipe = instance->recipe;
	const struct agent *agent;
	struct strvec secrets = { 0 };
	const struct capsule_secrets kept = {
		.run = run,
		.keep_ms = (unsigned)(deck->settings.probation_s * 1000 + KEEP_SLACK_MS),
		.variables = &secrets,
	};
	if (!recipe->secret_count || !capsule_keeps_secrets(capsule))
		return 0;
	int r = container_resolve_secrets(recipe, &secrets, err);
	if (r == 0 && deck_agent(deck, instance->agent, &agent, NULL) == 0)
		container_fill_home(deck, instance, agent, &secrets);
	if (r == 0)
		r = capsule_keep_secrets(capsule, &kept, clock_ms() + CAPSULE_ANSWER_MS, err);
	container_wipe(&secrets);
	return r < 0 ? -1 : 0;
}

static int push_secrets(const struct recipe *recipe, const struct capsule *capsule,
			struct strvec *ret, struct error *err)
{
	if (!capsule_keeps_secrets(capsule))
		return container_resolve_secrets(recipe, ret, err);
	for (size_t i = 0; i < recipe->secret_count; i++)
		strvec_push(ret, recipe->secrets[i].name);
	return 0;
}

int container_begin_process(struct container_process *process, struct capsule *capsule,
			    struct process_id *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	struct error why = { 0 };
	agent_argv(process, &argv);
	int r = push_secrets(process->instance->recipe, capsule, &process->environment, err);
	if (r == 0) {
		const struct capsule_start start = {
			.run = process->run,
			.attempt = process->attempt,
			.argv = &argv,
			.environment = &process->environment,
			.directory = instance_launch_directory(process->instance),
			.columns = process->size.columns,
			.rows = process->size.rows,
		};
		r = capsule_start(capsule, &start, clock_ms() + AGENT_START_MS, ret, &why);
		if (r < 0)
			r = process->is_users ? error_move(err, &why)
					      : reach_blame_loader(process->instance, err, &why);
	}
	container_wipe(&process->environment);
	return r;
}

/* The run of the command is its own, so that the agent's first attempt is still to come. */
int container_run_in(struct capsule *capsule, struct deck *deck, struct instance *instance,
		     const struct place_command *command, struct child_result *ret,
		     struct error *err)
{
	const int64_t deadline_ms = clock_ms() + command->timeout_ms;
	cleanup_free char *run = naming_new_uuid();
	struct container_process process = {
		.instance = instance,
		.run = run,
		.argv = command->argv,
		.is_users = command->is_users,
		.size = place_screen_size(deck, instance),
	};
	struct process_id id;
	struct capsule_status status;
	environment_inside(deck, instance, command->order->agent, &process.environment);
	/* The program writes to a terminal, and we read its words. */
	strvec_push(&process.environment, "NO_COLOR=1");
	strvec_push(&process.environment, "TERM=dumb");
	if (container_hand_secrets(deck, instance, run, capsule, err) < 0 ||
	    container_begin_process(&process, capsule, &id, err) < 0)
		return -1;
	struct error why = { 0 };
	if (capsule_read_output(capsule, run, deadline_ms, &ret->output, &status, &why) < 0) {
		if (why.code != ERROR_TIMEOUT)
			return error_move(err, &why);
		error_clear(&why);
		return error_set(err, ERROR_TIMEOUT, "it did not end within %d s",
				 command->timeout_ms / 1000);
	}
	ret->exit_status = status.signal ? 128 + status.signal : status.code;
	return 0;
}
