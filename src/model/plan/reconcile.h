/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is there, compared with the sessions: what may be freed, what is left alone, and why.
 *
 *   there, and of a listed session      fine
 *   there, and of a removed session     kept: undo brings it back, prune deletes it
 *   there, and of no session            freed if it is ours, does not run, and nothing is lost
 *   missing, and of a listed session    kept: the next start makes it again.  Only what was missing
 *                                       twice counts as missing
 *   unknown                             unknown: an engine that does not answer has lost nothing
 *
 * Pure: no input or output here.
 */
#pragma once

#include <stdbool.h>

enum stray_kind {
	STRAY_ENGINE, /* one that does not answer */
	STRAY_CONTAINER,
	STRAY_NETWORK,
	STRAY_IMAGE_NAME,
	STRAY_TREE,          /* <profile>/trees/<id> */
	STRAY_DIRECTORY,     /* <profile>/<base> without a manifest */
	STRAY_CONVERSATIONS, /* <profile>/conversations/<id> */
	STRAY_BRANCH,        /* "agentdeck/..." in a repository of the user's */
	STRAY_KIND_COUNT
};

enum stray_session { STRAY_OF_NONE, STRAY_OF_LISTED, STRAY_OF_REMOVED };
enum stray_presence { STRAY_UNKNOWN, STRAY_THERE, STRAY_MISSING };

struct stray_facts {
	enum stray_kind kind;
	enum stray_session session;
	enum stray_presence presence;
	unsigned missed; /* how often it was looked for, and missing */
	bool is_ours;    /* it bears the labels of this deck, or is below our directory */
	bool is_renamed; /* of what an engine has: its name is not the one that we gave */
	bool runs;       /* it, or what was started for its session */
	bool is_safe;    /* of what is on disk, and of a branch: nothing is lost with it */
	/* of what an engine has: the directory of its session is kept, so a manifest may come back */
	bool has_directory;
};

enum stray_action {
	STRAY_FINE, /* as it must be: not a word about it */
	STRAY_FREE, /* remove it */
	STRAY_KEEP, /* leave it alone, and say why */
	STRAY_ASK_LATER,
};

struct stray_judgement {
	enum stray_action action;
	const char *why; /* static */
};

struct stray_judgement reconcile_judge(const struct stray_facts *facts);

/* "container", "image name"; static. */
const char *stray_kind_name(enum stray_kind kind);
/* "free", "keep", "unknown"; static. */
const char *stray_action_name(enum stray_action action);
