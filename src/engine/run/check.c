/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is asked before a start, and before something is ended that is to be started again.
 */
#include "engine/run/lifecycle-internal.h"

#include "base/log.h"
#include "base/program.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/location.h"
#include "engine/place/environment.h"

static int check_programs(const struct operation *operation, const char *path, struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct agent *agent = operation->agent;
	if (operation->place->check_path(path, err) < 0)
		return -1;
	if (program_find(instance->argv.items[0], path, instance_lookup_directory(instance), err) <
	    0)
		return error_prefix(err, "%s cannot be started",
				    agent->title ? agent->title : agent->name);
	return 0;
}

/* The caller's PATH; where that does not have what is needed (cron, env -i) the one that the
 * session was last started, or added, with. */
static int settle_path(const struct operation *operation, struct error *err)
{
	const struct instance *instance = operation->instance;
	struct error failure = { 0 };
	const char *own = getenv("PATH"), *kept = environment_kept_path(instance);
	if (is_empty(kept) || streq(kept, or_empty(own)))
		return check_programs(operation, own, err);
	if (!is_empty(own) && check_programs(operation, own, &failure) == 0)
		return 0;
	if (check_programs(operation, kept, is_empty(own) ? &failure : NULL) < 0)
		return error_move(err, &failure);
	error_clear(&failure);
	log_info("PATH: %s, so the stored one is used",
		 is_empty(own) ? "the caller has no PATH" : "a program is not in the caller's");
	environment_take_kept(instance);
	return 0;
}

int lifecycle_check(struct operation *operation, struct error *err)
{
	if (operation_find_agent(operation, err) < 0 ||
	    location_check(operation->deck, operation->instance, err) < 0)
		return -1;
	return settle_path(operation, err);
}

/* Whether it can be executed shows only now: a start finds out by trying, and what runs is not
 * ended for that. */
static int check_executable(const struct instance *instance, struct error *err)
{
	cleanup_free char *file = program_path(instance->argv.items[0], NULL,
					       instance_lookup_directory(instance));
	return file ? program_check(file, err) : 0;
}

int lifecycle_check_before_end(struct operation *operation, struct error *err)
{
	struct deck *deck = operation->deck;
	const struct instance *instance = operation->instance;
	cleanup_fs_lock struct fs_lock claim = FS_UNLOCKED;
	if (lifecycle_check(operation, err) < 0 || check_executable(instance, err) < 0 ||
	    operation->place->probe(deck, instance, err) < 0)
		return -1;
	return conversation_claim(deck, instance, operation->agent, &claim, err) < 0 ? -1 : 0;
}
