/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan/reconcile.h"

enum { MISSES = 2 };

const char *stray_kind_name(enum stray_kind kind)
{
	static const char *const names[] = {
		[STRAY_ENGINE] = "engine",
		[STRAY_CONTAINER] = "container",
		[STRAY_NETWORK] = "network",
		[STRAY_IMAGE_NAME] = "image name",
		[STRAY_TREE] = "tree",
		[STRAY_DIRECTORY] = "directory",
		[STRAY_CONVERSATIONS] = "conversations",
		[STRAY_BRANCH] = "branch",
	};
	return kind < STRAY_KIND_COUNT ? names[kind] : "";
}

const char *stray_action_name(enum stray_action action)
{
	static const char *const names[] = {
		[STRAY_FINE] = "fine",
		[STRAY_FREE] = "free",
		[STRAY_KEEP] = "keep",
		[STRAY_ASK_LATER] = "unknown",
	};
	return names[action];
}

static struct stray_judgement fine(void)
{
	return (struct stray_judgement){ STRAY_FINE, "" };
}

static struct stray_judgement keep(const char *why)
{
	return (struct stray_judgement){ STRAY_KEEP, why };
}

static struct stray_judgement judge_missing(const struct stray_facts *facts)
{
	if (facts->session != STRAY_OF_LISTED || facts->missed < MISSES)
		return fine();
	return keep(facts->kind == STRAY_TREE
			    ? "it is gone: the next start makes it again from its branch"
			    : "it is gone: the next start makes it again");
}

static bool is_on_disk(enum stray_kind kind)
{
	return kind == STRAY_TREE || kind == STRAY_DIRECTORY || kind == STRAY_CONVERSATIONS;
}

static struct stray_judgement judge_orphan(const struct stray_facts *facts)
{
	if (facts->kind == STRAY_IMAGE_NAME)
		return keep("no session of this deck has it, but another deck of this machine may");
	if (facts->is_renamed)
		return keep(
			"it has our labels, and a name that is not ours: agentdeck did not make it");
	if (facts->runs)
		return keep(is_on_disk(facts->kind)
				    ? "it has no session, but what was started for one still runs"
				    : "it has no session, and it runs");
	if (facts->kind == STRAY_BRANCH && !facts->is_safe)
		return keep("it has no session");
	if (facts->has_directory)
		return keep("it has no session, but the directory of one is there");
	if (!is_on_disk(facts->kind))
		return (struct stray_judgement){ STRAY_FREE, "it has no session" };
	if (facts->is_safe)
		return (struct stray_judgement){ STRAY_FREE,
						 "it has no session, and nothing is lost with it" };
	return keep(facts->kind == STRAY_TREE
			    ? "it has no session, and it has work that exists nowhere else"
			    : "it has no session, and it may have conversations");
}

struct stray_judgement reconcile_judge(const struct stray_facts *facts)
{
	if (facts->presence == STRAY_UNKNOWN)
		return (struct stray_judgement){ STRAY_ASK_LATER,
						 "it does not answer: nothing counts as gone" };
	if (facts->kind == STRAY_ENGINE)
		return fine();
	if (facts->presence == STRAY_MISSING)
		return judge_missing(facts);
	if (!facts->is_ours)
		return facts->session == STRAY_OF_LISTED
			       ? keep("it has the name of ours, and is not ours")
			       : fine();
	switch (facts->session) {
	case STRAY_OF_LISTED:
		return fine();
	case STRAY_OF_REMOVED:
		return is_on_disk(facts->kind)
			       ? fine()
			       : keep("of a removed session: undo brings it back, prune frees it");
	case STRAY_OF_NONE:
		break;
	}
	return judge_orphan(facts);
}
