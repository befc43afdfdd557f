/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/fork.h"

#include "engine/conversation/location.h"
#include "engine/run/add.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/workspace/tree.h"
#include "model/plan/resume.h"

enum { TITLES_MAX = 1000 };

static bool carries_new_id(const struct agent *agent)
{
	for (size_t i = 0; i < agent->fork.count; i++)
		if (streq(agent->fork.items[i], "{new_session_id}"))
			return true;
	return false;
}

int lifecycle_check_fork(const struct instance *source, const struct agent *agent,
			 struct error *err)
{
	cleanup_free char *title = visible(source->title);
	if (!agent->fork.count)
		return error_set(err, ERROR_INVALID,
				 "%s cannot copy a conversation: its entry has no session.fork "
				 "(agentdeck agents show %s)",
				 agent->name, agent->name);
	if (!source->conversation.session_id)
		return error_set(
			err, ERROR_INVALID,
			"session '%s' has no known conversation yet: start it and say something "
			"first",
			title);
	/* Where a turn would have been reported, and was not, there is nothing to copy. */
	if (agent->report.count && !source->conversation.first_turn_seen &&
	    source->conversation.origin == ORIGIN_MINTED)
		return error_set(err, ERROR_INVALID,
				 "session '%s' has no turn yet, so there is nothing to copy",
				 title);
	return 0;
}

/* Titles are taken while the profile is locked, which is not now: so it is tried. */
static int add_with_free_title(struct deck *deck, struct lifecycle_new *wish,
			       const char *source_title, struct instance **ret, struct error *err)
{
	for (int i = 1; i <= TITLES_MAX; i++) {
		cleanup_error struct error local = { 0 };
		cleanup_free char *title = i == 1 ? xasprintf("%s-fork", source_title)
						  : xasprintf("%s-fork-%d", source_title, i);
		wish->title = title;
		if (lifecycle_add(deck, wish, ret, &local) == 0)
			return 0;
		if (local.code != ERROR_EXISTS)
			return error_set(err, local.code, "%s", local.message);
	}
	return error_set(err, ERROR_EXISTS, "it has too many forks: name this one with -t");
}

int lifecycle_fork(struct deck *deck, const char *base, const struct lifecycle_branch *branch,
		   struct instance **ret, struct error *err)
{
	cleanup_instance struct instance *source = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	const struct agent *agent;
	if (deck_load(deck, base, &source, err) < 0 ||
	    deck_agent(deck, source->agent, &agent, err) < 0 ||
	    lifecycle_check_fork(source, agent, err) < 0)
		return -1;
	if (place_home(source) && branch->on_host)
		return error_set(err, ERROR_USAGE,
				 "the agent and the conversation of a session in a container are "
				 "in there, so its fork has a container, too: omit --no-container");
	if (place_home(source) && branch->container)
		return error_set(err, ERROR_USAGE,
				 "a fork of a session in a container has a container of the same "
				 "recipe: omit --container");
	cleanup_instance struct instance *within = NULL;
	if (instance_within(source)) {
		if (branch->tree)
			return error_set(
				err, ERROR_USAGE,
				"the container of another session has no place for a tree: "
				"omit --worktree and --clone");
		if (deck_load(deck, instance_within(source), &within, err) < 0)
			return -1;
	}
	struct tree_order tree = { .kind = source->workspace ? source->workspace->kind : 0 };
	if (branch->tree)
		tree = *branch->tree;
	tree.like = source;
	/* The copy is made where it is now. */
	if (location_refresh(source, agent, err) < 0)
		return -1;
	resume_carried_argv(agent, &source->argv, &argv);
	struct lifecycle_new wish = {
		.title = branch->title,
		.group = branch->group ? branch->group : source->group,
		.directory = instance_lookup_directory(source),
		.launch_directory = source->conversation.directory,
		.agent = source->agent,
		.argv = &argv,
		.forked_from = source->conversation.session_id,
		.gives_no_id = !carries_new_id(agent),
		.config_home = source->conversation.config_home,
		.resume = resume_policy_name(source->resume_policy),
		.restart = restart_policy_name(source->restart_policy),
		.end_policy = source->end_policy,
		.sleep_after = source->sleep_after,
		.tags = source->tags,
		.limits = source->limits,
		.container = branch->container,
		.like = place_home(source) ? source : NULL,
		.tree = branch->tree || source->workspace ? &tree : NULL,
	};
	if (within) {
		wish.like = NULL;
		wish.within = within;
	}
	return branch->title ? lifecycle_add(deck, &wish, ret, err)
			     : add_with_free_title(deck, &wish, source->title, ret, err);
}
