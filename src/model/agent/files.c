/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/files.h"

#include "model/session/naming.h"

#include <fnmatch.h>
#include <string.h>

enum { UUID_LENGTH = 36 };

#define TEXT(text) ((char[]){ text })
#define LIST(...)                                                \
	{                                                        \
		.items = (char *[]){ __VA_ARGS__ },              \
		.count = ARRAY_SIZE(((char *[]){ __VA_ARGS__ })) \
	}

static const struct layout {
	const char *name;
	struct agent_files files;
} layouts[] = {
	{ "projects",
	  { .conversation = TEXT("projects/*/{uuid}.jsonl"),
	    .directory = TEXT("cwd"),
	    .prompt = TEXT("type=user"),
	    .prompt_text = TEXT("message.content"),
	    .reply = TEXT("type=assistant"),
	    .reply_text = TEXT("message.content"),
	    .model = TEXT("message.model"),
	    .joined = TEXT("attachment.type=queued_command"),
	    .joined_text = TEXT("attachment.prompt"),
	    .queued = TEXT("operation=enqueue"),
	    .queued_text = TEXT("content"),
	    .goes_on = TEXT("message.stop_reason=tool_use"),
	    .error = TEXT("isApiErrorMessage=true"),
	    .skip = LIST(TEXT("isMeta=true"), TEXT("isSidechain=true")),
	    .reach = FILES_FOLLOW } },
	{ "chats",
	  { .conversation = TEXT("projects/*/chats/{uuid}.jsonl"),
	    .directory = TEXT("cwd"),
	    .prompt = TEXT("type=user"),
	    .prompt_text = TEXT("message.parts"),
	    .reply = TEXT("type=assistant"),
	    .reply_text = TEXT("message.parts"),
	    /* qwen compares its directory with that of the first record. */
	    .reach = FILES_BOUND } },
	{ "rollouts",
	  { .conversation = TEXT("sessions/[0-9]*/[0-9]*/[0-9]*/rollout-*-{uuid}.jsonl"),
	    .directory = TEXT("payload.cwd"),
	    .prompt = TEXT("payload.role=user"),
	    .prompt_text = TEXT("payload.content"),
	    .reply = TEXT("payload.role=assistant"),
	    .reply_text = TEXT("payload.content"),
	    .side = LIST(TEXT("payload.thread_source!=user")),
	    .reach = FILES_ANYWHERE } },
};

const struct agent_files *agent_files_named(const char *layout)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (streq(layouts[i].name, layout))
			return &layouts[i].files;
	return NULL;
}

/* ---- names ------------------------------------------------------------------------------------ */

static bool fits(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, FNM_PERIOD) == 0;
}

/* The id is what the text before and after the slot leaves of the name. */
static char *id_of(const char *pattern, const char *slot, const char *name)
{
	const bool is_uuid = starts_with(slot, FILES_UUID_SLOT);
	const char *end = slot + strlen(is_uuid ? FILES_UUID_SLOT : FILES_ID_SLOT);
	const size_t length = strlen(name), after = strlen(end);
	const size_t before = is_uuid ? length - after - UUID_LENGTH : (size_t)(slot - pattern);
	if (length < after + (is_uuid ? UUID_LENGTH : before + 1) || !ends_with(name, end))
		return NULL;
	cleanup_free char *beginning = xstrndup(pattern, (size_t)(slot - pattern));
	cleanup_free char *start = xstrndup(name, before);
	cleanup_free char *id = xstrndup(name + before, length - after - before);
	/* A name that begins with the slot has no beginning to compare. */
	if (*beginning ? !fits(beginning, start) : *start != '\0')
		return NULL;
	return (is_uuid ? naming_is_uuid(id) : naming_is_session_id(id)) ? TAKE_PTR(id) : NULL;
}

bool agent_files_match(const char *pattern, size_t length, const char *name, char **ret_id)
{
	cleanup_free char *part = xstrndup(pattern, length);
	const char *slot = strstr(part, FILES_UUID_SLOT);
	if (!slot)
		slot = strstr(part, FILES_ID_SLOT);
	if (!slot)
		return fits(part, name);
	char *id = id_of(part, slot, name);
	if (!id)
		return false;
	free(*ret_id);
	*ret_id = id;
	return true;
}

/* ---- what an entry may say -------------------------------------------------------------------- */

static bool is_relative(const char *path)
{
	for (;;) {
		const size_t length = strcspn(path, "/");
		if (length == 0 || (length == 1 && path[0] == '.') ||
		    (length == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (!path[length])
			return true;
		path += length + 1;
	}
}

const char *agent_files_broken_path(const char *path)
{
	const char *slot = strchr(path, '{');
	if (!is_relative(path))
		return "must be a path below the agent's home, without \".\" and \"..\"";
	if (!slot)
		return strchr(path, '}') ? "has a \"}\" without a \"{\"" : NULL;
	const bool is_uuid = starts_with(slot, FILES_UUID_SLOT);
	if (!is_uuid && !starts_with(slot, FILES_ID_SLOT))
		return "has a slot other than " FILES_UUID_SLOT " and " FILES_ID_SLOT;
	const char *end = slot + strlen(is_uuid ? FILES_UUID_SLOT : FILES_ID_SLOT);
	if (strpbrk(end, "{}"))
		return "has more than one slot";
	if (memchr(end, '*', strcspn(end, "/")))
		return "has a \"*\" after the slot in one name";
	for (const char *c = slot; !is_uuid && c > path && c[-1] != '/'; c--)
		if (c[-1] == '*')
			return "has a \"*\" before " FILES_ID_SLOT " in one name";
	return NULL;
}

const char *agent_files_broken_lock(const char *path)
{
	const char *why = agent_files_broken_path(path), *star = strpbrk(path, "*?[");
	if (why)
		return why;
	if (!strchr(path, '{'))
		return "must contain " FILES_ID_SLOT;
	return star && strchr(star, '/') ? "may have a \"*\" only in the last name" : NULL;
}

const char *agent_files_broken_beside(const char *path)
{
	while (starts_with(path, "../"))
		path += 3;
	return is_relative(path) ? NULL
				 : "must be a path from the directory of the conversation's file";
}

const char *agent_files_broken_condition(const char *condition)
{
	const size_t length = strcspn(condition, "=");
	const bool is_negated = length > 0 && condition[length - 1] == '!';
	return condition[length] && length > (is_negated ? 1 : 0) && condition[length + 1]
		       ? NULL
		       : "must be MEMBER.MEMBER=VALUE, or with \"!=\"";
}
