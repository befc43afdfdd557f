/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resume.h: the kinds of ids, and what belongs to an instance.
 */
#include "model/plan/resume.h"

#include "model/session/naming.h"

#include <limits.h>
#include <regex.h>
#include <string.h>

static bool is_path(const char *text)
{
	if (text[0] != '/' || strlen(text) >= PATH_MAX)
		return false;
	for (const char *s = text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

bool resume_takes_id(const struct agent *agent, const char *session_id)
{
	switch (agent->id_kind) {
	case ID_NONE:
		break;
	case ID_UUID:
		return naming_is_uuid(session_id);
	case ID_ANY:
	case ID_NAME:
		return naming_is_session_id(session_id);
	case ID_PATH:
		return is_path(session_id);
	}
	return false;
}

const char *resume_id_text(const struct agent *agent)
{
	static const char *const texts[] = {
		[ID_NONE] = "none",
		[ID_UUID] = "a UUID",
		[ID_ANY] = "a word of letters, digits, \"_\", \".\" and \"-\"",
		[ID_PATH] = "the absolute path of the conversation's file",
		[ID_NAME] = "a word of letters, digits, \"_\", \".\" and \"-\"",
	};
	return texts[agent->id_kind];
}

/* An id that the agent has or had would bring that conversation back. */
static bool was_used(const struct conversation *conversation, const char *session_id)
{
	return naming_same_session_id(conversation->session_id, session_id) ||
	       naming_has_session_id(&conversation->previous, session_id);
}

char *resume_new_id(const struct agent *agent, const struct instance *instance, const char *state)
{
	const struct conversation *conversation = &instance->conversation;
	cleanup_free char *uuid = naming_new_uuid();
	char *id = NULL;

	if (!agent->assign.count)
		return NULL;
	if (agent->id_kind == ID_UUID || agent->id_kind == ID_ANY)
		return TAKE_PTR(uuid);
	if (agent->id_kind == ID_PATH && state)
		id = xasprintf("%s/conversation.jsonl", state);
	else if (agent->id_kind == ID_NAME)
		id = xstrdup(instance->id);
	if (id && was_used(conversation, id)) {
		free(id);
		id = agent->id_kind == ID_PATH
			     ? xasprintf("%s/conversation-%.8s.jsonl", state, uuid)
			     : xasprintf("%s-%.8s", instance->id, uuid);
	}
	return id;
}

static bool has_state_slot(const struct strvec *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (strstr(words->items[i], "{state}"))
			return true;
	return false;
}

bool resume_needs_state(const struct agent *agent)
{
	return agent->id_kind == ID_PATH || has_state_slot(&agent->isolation_arguments) ||
	       has_state_slot(&agent->isolation_environment) || has_state_slot(&agent->create) ||
	       has_state_slot(&agent->assign) || has_state_slot(&agent->resume) ||
	       has_state_slot(&agent->continue_latest) || has_state_slot(&agent->report) ||
	       has_state_slot(&agent->report_environment);
}

static char *match_line(const regex_t *regex, const char *line)
{
	regmatch_t groups[2];
	if (regexec(regex, line, ARRAY_SIZE(groups), groups, 0) != 0 || groups[1].rm_so < 0)
		return NULL;
	return xstrndup(line + groups[1].rm_so, (size_t)(groups[1].rm_eo - groups[1].rm_so));
}

char *resume_match_id(const struct agent *agent, const char *pattern, const char *text)
{
	regex_t regex;
	char *found = NULL;
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;

	if (!pattern || regcomp(&regex, pattern, REG_EXTENDED) != 0)
		return NULL;
	for (char *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		char *id = match_line(&regex, line);
		if (id && resume_takes_id(agent, id)) {
			free(found);
			found = id;
		} else {
			free(id);
		}
	}
	regfree(&regex);
	return found;
}
