/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/reason.h"

#include "base/text.h"

#include <assert.h>

static const char *const words[] = {
	[REASON_FRESH_SESSION] = "fresh_session",
	[REASON_NOTHING_WRITTEN_YET] = "nothing_written_yet",
	[REASON_CONVERSATION_DATA_PRESENT] = "conversation_data_present",
	[REASON_FIRST_TURN_SEEN] = "first_turn_seen",
	[REASON_ID_KNOWN] = "id_known",
	[REASON_ID_IN_USERS_ARGUMENTS] = "id_in_users_arguments",
	[REASON_ID_UNUSED] = "id_unused",
	[REASON_ID_IN_USE] = "id_in_use",
	[REASON_ID_NOT_TAKEN] = "id_not_taken",
	[REASON_NO_ID_STORED] = "no_id_stored",
	[REASON_NO_ID_REPORTED_YET] = "no_id_reported_yet",
	[REASON_NO_SESSION_IDS] = "no_session_ids",
	[REASON_FORKED] = "forked",
	[REASON_CONVERSATION_ELSEWHERE] = "conversation_elsewhere",
	[REASON_TRANSCRIPT_WITHOUT_TURNS] = "transcript_without_turns",
	[REASON_PLACE_OF_ITS_OWN] = "place_of_its_own",
	[REASON_DIRECTORY_OF_ITS_OWN] = "directory_of_its_own",
	[REASON_DIRECTORY_SHARED] = "directory_shared",
	[REASON_RESUME_DISABLED] = "resume_disabled",
	[REASON_RESUME_FAILED] = "resume_failed",
	[REASON_SESSION_ARGUMENTS_FAILED] = "session_arguments_failed",
	[REASON_AGENT_DOES_NOT_START] = "agent_does_not_start",
};
_Static_assert(ARRAY_SIZE(words) == REASON_COUNT, "a reason without a word");

const char *reason_name(enum reason reason)
{
	assert((size_t)reason < REASON_COUNT);
	return words[reason];
}

static const char *const texts[] = {
	[REASON_FRESH_SESSION] = "this is its first start",
	[REASON_NOTHING_WRITTEN_YET] = "nothing was said in it yet",
	[REASON_CONVERSATION_DATA_PRESENT] = "its transcript is on disk",
	[REASON_FIRST_TURN_SEEN] = "something was said in it",
	[REASON_ID_KNOWN] = "the id of its conversation is known",
	[REASON_ID_IN_USERS_ARGUMENTS] = "its command line names the conversation",
	[REASON_ID_UNUSED] = "the agent has no conversation with its id any more",
	[REASON_ID_IN_USE] = "the agent may have a conversation with its id",
	[REASON_ID_NOT_TAKEN] = "the agent cannot be given its id",
	[REASON_NO_ID_STORED] = "the id of its conversation is not known",
	[REASON_NO_ID_REPORTED_YET] = "the agent has not reported the id of its conversation",
	[REASON_NO_SESSION_IDS] = "this agent resumes no conversation by its id",
	[REASON_FORKED] = "it is a copy of another conversation",
	[REASON_CONVERSATION_ELSEWHERE] = "its conversation belongs to another directory",
	[REASON_TRANSCRIPT_WITHOUT_TURNS] = "its transcript has no messages",
	[REASON_PLACE_OF_ITS_OWN] = "its conversations have a place of their own",
	[REASON_DIRECTORY_OF_ITS_OWN] = "no other session has its directory",
	[REASON_DIRECTORY_SHARED] =
		"another session has its directory, and the latest conversation there may be "
		"that session's",
	[REASON_RESUME_DISABLED] = "resuming is off",
	[REASON_RESUME_FAILED] = "the agent could not resume it",
	[REASON_SESSION_ARGUMENTS_FAILED] = "the agent does not start with the id of a conversation",
	[REASON_AGENT_DOES_NOT_START] = "the agent does not start",
};
_Static_assert(ARRAY_SIZE(texts) == REASON_COUNT, "a reason without a text");

const char *reason_text(const char *name)
{
	const char *text = texts[reason_of_name(name)];
	return text ? text : name;
}

enum reason reason_of_name(const char *name)
{
	for (int i = 0; i < REASON_COUNT; i++)
		if (words[i] && streq(words[i], name))
			return (enum reason)i;
	return REASON_OTHER;
}
