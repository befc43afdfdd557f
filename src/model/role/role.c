/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/role/role.h"

static const char *const verdicts[] = {
	[ROLE_RUNS] = "runs",
	[ROLE_NOTE] = "note",
	[ROLE_ASKS] = "asks",
	[ROLE_REFUSED] = "refused",
};

static const char *const events[] = {
	[ROLE_INITIALIZE] = "initializeCommand",        [ROLE_ON_CREATE] = "onCreateCommand",
	[ROLE_UPDATE_CONTENT] = "updateContentCommand", [ROLE_POST_CREATE] = "postCreateCommand",
	[ROLE_POST_START] = "postStartCommand",         [ROLE_POST_ATTACH] = "postAttachCommand",
};

void role_clear(struct role *role)
{
	char *const texts[] = { role->name,   role->image,   role->dockerfile, role->context,
				role->target, role->network, role->user,       role->cpus,
				role->agent,  role->docker,  role->workspace };
	struct strvec *const lists[] = { &role->build_args, &role->environment, &role->mounts,
					 &role->cap_add, &role->logins };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		strvec_clear(lists[i]);
	for (size_t i = 0; i < ROLE_EVENT_COUNT; i++)
		free(role->texts[i]);
	for (size_t i = 0; i < role->command_count; i++)
		strvec_clear(&role->commands[i].argv);
	free(role->commands);
	for (size_t i = 0; i < role->question_count; i++) {
		free(role->questions[i].name);
		free(role->questions[i].prompt);
		free(role->questions[i].otherwise);
		strvec_clear(&role->questions[i].options);
		strvec_clear(&role->questions[i].after);
	}
	free(role->questions);
	for (size_t i = 0; i < role->count; i++) {
		free(role->findings[i].key);
		free(role->findings[i].text);
	}
	free(role->findings);
	*role = (struct role){ 0 };
}

const char *role_verdict_name(enum role_verdict verdict)
{
	return verdicts[verdict];
}

const char *role_event_key(enum role_event event)
{
	return events[event];
}
