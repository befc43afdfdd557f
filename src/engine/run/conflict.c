/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/conflict.h"

#include "base/sha256.h"
#include "engine/conversation/location.h"
#include "engine/conversation/report.h"
#include "engine/place/alive.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/outside.h"

void conflict_clear(struct conflict *conflict)
{
	conversation_holder_clear(&conflict->holder);
	free(conflict->background);
	free(conflict->session_id);
	free(conflict->digest);
	*conflict = (struct conflict){ 0 };
}

static char *digest_of(const struct conflict *conflict)
{
	char digest[SHA256_TEXT_SIZE];
	const struct conversation_holder *holder = &conflict->holder;
	cleanup_free char *text = xasprintf(
		"%d %d\n%s\n%s\n%s\n%d %llu\n%d %llu\n%d %llu\n%s\n", (int)conflict->kind,
		(int)holder->holding, or_empty(holder->profile), or_empty(holder->id),
		or_empty(conflict->session_id), (int)holder->server.pid,
		(unsigned long long)holder->server.start, (int)holder->pane.pid,
		(unsigned long long)holder->pane.start, (int)conflict->process.pid,
		(unsigned long long)conflict->process.start, or_empty(conflict->background));
	return xstrdup(sha256_text(text, digest));
}

/* The run is planned only as far as that needs.  From here on the instance is no longer that of the
 * manifest. */
static int look_outside(struct operation *operation, enum transcript_fact fact,
			struct conflict *ret, struct error *err)
{
	const struct planning planning = {
		.deck = operation->deck,
		.instance = operation->instance,
		.agent = operation->agent,
		.fact = fact,
		.purpose = PLAN_FORETELL,
	};
	/* Before a restart its own agent lives, and has the conversation open. */
	const struct run *run = &operation->instance->run;
	const struct outside_own own = { run->server, run->pane, run->reporter };
	run_clear(&operation->instance->run);
	if (conversation_plan(&planning, err) < 0)
		return -1;
	switch (outside_find(operation, &own, &ret->process)) {
	case OUTSIDE_PROCESS:
		ret->kind = CONFLICT_PROCESS;
		break;
	case OUTSIDE_MACHINE:
		ret->kind = CONFLICT_MACHINE;
		break;
	case OUTSIDE_NOTHING:
		break;
	}
	return 0;
}

/* The steps of a start that lead to its conversation, in their order. */
static int look(struct operation *operation, enum start_wish wish, struct conflict *ret,
		struct error *err)
{
	struct deck *deck = operation->deck;
	struct instance *instance = operation->instance;
	enum transcript_fact fact;
	if (operation_find_agent(operation, err) < 0)
		return -1;
	ret->can_fork = lifecycle_check_fork(instance, operation->agent, NULL) == 0;
	if (report_take_note(deck, instance, operation->agent, NULL, err) < 0 ||
	    conversation_reclaim(deck, instance, err) < 0 ||
	    conversation_choose(deck, instance, operation->agent, &fact, err) < 0)
		return -1;
	if (wish == START_FRESH)
		location_forget_missing(instance);
	/* No process is to be ended for a session that cannot be started. */
	if (lifecycle_check(operation, err) < 0)
		return -1;
	if (ret->kind != CONFLICT_NONE)
		return 0;
	if (conversation_find_holder(deck, instance, operation->agent, &ret->holder, err) < 0)
		return -1;
	ret->session_id = xstrdup_or_null(instance->conversation.session_id);
	if (ret->holder.holding != HOLDING_NOTHING)
		ret->kind = CONFLICT_SESSION;
	else if (wish != START_FRESH)
		return look_outside(operation, fact, ret, err);
	return 0;
}

/* Does the session run already?  Then a start leaves it alone. */
static bool is_up(const struct instance *instance)
{
	const struct place_run run = place_run_of(instance);
	return instance->run.socket && !run_is_shell(&instance->run) &&
	       place_presence(&run) != PRESENCE_NONE;
}

int conflict_look(struct deck *deck, const char *base, const struct lifecycle_order *order,
		  struct conflict *ret, struct error *err)
{
	cleanup_operation struct operation operation = {
		.deck = deck,
		.takes_over = order->takes_over,
	};
	cleanup_conflict struct conflict conflict = { 0 };
	cleanup_error struct error why = { 0 };
	if (deck_load(deck, base, &operation.instance, err) < 0 ||
	    place_find(operation.instance, &operation.place, err) < 0)
		return -1;
	if (instance_relation(operation.instance) == MACHINE_OTHER ||
	    (order->kind != START_AFTER_STOP && is_up(operation.instance)))
		return 0;
	/* A restart ends its background, too. */
	if (order->kind != START_AFTER_STOP &&
	    lifecycle_find_background(&operation, &conflict.background, &why) == 0 &&
	    conflict.background)
		conflict.kind = CONFLICT_BACKGROUND;
	/* What is wrong is said by the start. */
	if (look(&operation, order->wish, &conflict, &why) < 0 || conflict.kind == CONFLICT_NONE)
		return 0;
	conflict.digest = digest_of(&conflict);
	*ret = conflict;
	conflict = (struct conflict){ 0 };
	return 0;
}
