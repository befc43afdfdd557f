/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Change a session.
 *
 * Every function here takes the instance's lock, looks at what exists now instead of trusting what
 * was stored, and saves the manifest last.  What it does before that (copying a transcript) it can
 * do again.
 */
#pragma once

#include "engine/deck/deck.h"

/* Note that its user works in it now (last_used_at).  Never waits: does nothing if the lock is
 * taken. */
void lifecycle_note_use(struct deck *deck, const char *base);

/* What its user changes about a session. */
enum setting_field {
	/* From the next start on the instance's conversation is this one; the present id goes to
	 * the previous ones.  ERROR_INVALID: it runs, or the agent accepts no such id.
	 * ERROR_EXISTS: it is another instance's. */
	SETTING_SESSION_ID,
	SETTING_RESUME,
	SETTING_RESTART,
	SETTING_ON_END, /* decides what is undecided, too (engine/run/ending.h) */
	SETTING_SLEEP_AFTER,
	SETTING_TITLE, /* also shown in the terminal of a live run.  ERROR_EXISTS: it is taken */
	/* Where its directory, which was renamed or moved, is now; of a session with a tree to
	 * itself, the repository that the tree was made from.  ERROR_INVALID: the session runs.
	 * ERROR_NOT_FOUND: there is no such directory. */
	SETTING_PATH,
	/* The directory of the agent's files of this session, with its conversation.
	 * ERROR_INVALID: the session runs, or its agent cannot be given a directory.
	 * ERROR_NOT_FOUND: there is no such directory, or the conversation is not in it. */
	SETTING_HOME,
	SETTING_GROUP, /* "": none */
	/* From the next start on it runs this command, of the same agent.  ERROR_USAGE: another
	 * agent's, or one that names or chooses a conversation.  ERROR_INVALID: a wrapper, while
	 * it is not known whether the present conversation has begun. */
	SETTING_COMMAND,
	/* From the next start on it runs this agent by the agent's own command.  ERROR_INVALID: it
	 * runs, or has a conversation that must not be dropped. */
	SETTING_AGENT,
	SETTING_NOTES, /* the user's own words about it: UTF-8, at most 4096 bytes; "": none */
	SETTING_TAGS,  /* tags_change() */
	SETTING_PINNED,
	/* container_change(), from its next start, which for an image or a mount costs what was
	 * written in the old container. */
	SETTING_DOCKER,
	SETTING_IMAGE,
	SETTING_MOUNT,
	SETTING_SECRET,
	SETTING_NETWORK,
	SETTING_COUNT
};

struct setting {
	enum setting_field field;
	const char *value;       /* borrowed */
	bool copies_transcript;  /* of a path: to where the agent looks for it */
	bool drops_conversation; /* of an agent: its id goes to the earlier ones, and a new one
				    begins */
	char *note; /* set: what else its user should know, without a full stop, or NULL; owned */
};
static inline void setting_clear(struct setting *setting)
{
	free(setting->note);
}
#define cleanup_setting CLEANUP(setting_clear)

/* ERROR_USAGE: it is no value of this field. */
int lifecycle_set(struct deck *deck, const char *base, struct setting *setting, struct error *err);

/* Would the instance as it is now take this command? */
int lifecycle_check_command(struct deck *deck, const struct instance *instance,
			    const struct strvec *argv, struct error *err);

/* Rename a group: all sessions in it and below it ("": to none, with the groups below it at the
 * top). Killed in between, some are moved; a second call moves the rest. */
int lifecycle_move_group(struct deck *deck, const char *from, const char *to, size_t *ret_count,
			 struct error *err);
