/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/work.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/assess/assess.h"
#include "engine/run/correct.h"
#include "engine/workspace/bring.h"
#include "engine/workspace/tree.h"
#include "model/session/fields.h"

enum {
	REQUEST_MS = 5000,
	END_MS = 3000,
	KEEP_MS = 50,
	/* The deck looks again when something has changed, also this. */
	NEWS_US = 60 * 1000 * 1000,
};

static void take_changes(const struct changes *changes, struct seen_work *ret)
{
	ret->at = clock_wall_us();
	replace_string(&ret->branch, changes->branch);
	ret->commits = (int64_t)changes->commit_count + changes->more_commits;
	ret->files = changes_sum_of(&changes->committed).files;
	ret->uncommitted = changes_sum_of(&changes->uncommitted).files +
			   changes_sum_of(&changes->untracked).files;
	ret->merged = changes->merged;
}

static void ask_forge(struct deck *deck, const struct instance *instance, struct pull_request *ret)
{
	cleanup_error struct error err = { 0 };
	struct pull_request request = { 0 };
	const char *branch = instance->workspace->seen.branch;
	int r = branch ? bring_find_request(instance, branch, REQUEST_MS, &request, &err)
		       : FORGE_NONE;
	if (r < 0) {
		deck_warn(deck, "its pull request is not known: %s", err.message);
		return;
	}
	forge_request_free(ret);
	*ret = request;
}

int work_look(struct deck *deck, struct instance *instance, const struct work_order *order,
	      struct changes *ret, struct error *err)
{
	const int timeout_ms = order->timeout_ms ? order->timeout_ms : ASSESS_TIMEOUT_MS;
	if (tree_changes(deck, instance, order->with_diff, timeout_ms, ret, err) < 0)
		return -1;
	take_changes(ret, &instance->workspace->seen);
	if (order->asks_forge)
		ask_forge(deck, instance, &instance->workspace->seen.request);
	return 0;
}

static bool is_news(const struct seen_work *kept, const struct seen_work *seen)
{
	cleanup_free char *before = seen_work_text(kept), *now = seen_work_text(seen);
	return !kept->at || seen->at - kept->at > NEWS_US || !streq(before, now) ||
	       !streq(or_empty(kept->request.url), or_empty(seen->request.url));
}

void work_keep(struct deck *deck, const struct instance *instance)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_error struct error why = { 0 };
	if (!correct_may_write(deck->store) ||
	    operation_open(deck, instance->base, KEEP_MS, &operation, &why) < 0 ||
	    operation_admit(&operation, false, &why) < 0)
		return;
	struct workspace *workspace = operation.instance->workspace;
	if (!workspace || !is_news(&workspace->seen, &instance->workspace->seen))
		return;
	fields_clear(&seen_work_fields, &workspace->seen);
	fields_copy(&seen_work_fields, &instance->workspace->seen, &workspace->seen);
	(void)operation_save(&operation, &why);
}

void work_look_again(struct deck *deck, struct instance *instance, bool asks_forge)
{
	cleanup_changes struct changes changes = { 0 };
	const struct work_order order = { .asks_forge = asks_forge };
	if (work_look(deck, instance, &order, &changes, NULL) == 0)
		work_keep(deck, instance);
}

void work_look_at_end(const struct operation *operation)
{
	cleanup_changes struct changes changes = { 0 };
	cleanup_error struct error why = { 0 };
	const struct work_order order = { .timeout_ms = END_MS };
	const struct workspace *workspace = operation->instance->workspace;
	if (workspace && workspace->is_made &&
	    work_look(operation->deck, operation->instance, &order, &changes, &why) < 0)
		log_warning("its work was not looked at: %s", why.message);
}
