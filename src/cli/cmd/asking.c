/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/asking.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/sha256.h"
#include "cli/show/table.h"
#include "engine/adopt/adopt.h"
#include "engine/roster/view.h"
#include "engine/run/undo.h"
#include "engine/workspace/tree.h"
#include "model/question/screens.h"

#include <stdlib.h>
#include <time.h>

enum { DAY_S = 86400, SECOND_US = 1000000 };

void asking_free(struct asking *asking)
{
	questions_free(&asking->questions);
	instance_free(asking->instance);
	conflict_clear(&asking->conflict);
	*asking = (struct asking){ 0 };
}

static struct question_subject subject_of(const struct instance *instance)
{
	const struct workspace *workspace = instance->workspace;
	return (struct question_subject){
		.title = instance->title,
		.agent = instance->agent,
		.id = instance->id,
		.kind = workspace ? workspace_kind_name(workspace->kind) : NULL,
		.tree = workspace ? workspace->path : NULL,
	};
}

int asking_of_end(struct deck *deck, const char *base, bool takes_over, struct asking *ret,
		  struct error *err)
{
	const struct ending_order order = { .takes_over = takes_over };
	cleanup_ending_result struct ending_result result = { 0 };
	if (deck_load(deck, base, &ret->instance, err) < 0 ||
	    ending_settle(deck, base, &order, &result, err) < 0)
		return -1;
	struct questions *questions = &ret->questions;
	questions->is_removed = result.outcome == ENDED_REMOVED;
	questions->text = TAKE_PTR(result.text);
	if (result.outcome != ENDED_ASKS)
		return 0;
	const struct question_subject subject = subject_of(ret->instance);
	questions->seen = verdict_digest(&result.verdict);
	question_of_work(questions_add(questions, ABOUT_END), &subject, &result.verdict);
	question_of_end(questions_add(questions, ABOUT_END), &subject);
	return 0;
}

int asking_of_reuse(struct deck *deck, const char *base, struct asking *ret, struct error *err)
{
	cleanup_verdict struct verdict verdict = { 0 };
	if (deck_load(deck, base, &ret->instance, err) < 0)
		return -1;
	const char *before = ret->instance->ending.seen;
	int r = before ? tree_judge(deck, ret->instance, &verdict, err) : TREE_ABSENT;
	if (r != 0)
		return r < 0 ? -1 : 0;
	cleanup_free char *now = ending_losses_text(&verdict);
	if (streq(now, before))
		return 0;
	const struct question_subject subject = subject_of(ret->instance);
	question_of_reuse(questions_add(&ret->questions, ABOUT_REUSE), &subject, before, now);
	return 0;
}

int asking_of_removal(struct deck *deck, const char *base, struct asking *ret, struct error *err)
{
	cleanup_verdict struct verdict verdict = { 0 };
	if (deck_load(deck, base, &ret->instance, err) < 0)
		return -1;
	int r = tree_judge(deck, ret->instance, &verdict, err);
	if (r != 0 || verdict_is_safe(&verdict))
		return r < 0 ? -1 : 0;
	const struct question_subject subject = subject_of(ret->instance);
	struct questions *questions = &ret->questions;
	questions->seen = verdict_digest(&verdict);
	question_of_work_to_remove(questions_add(questions, ABOUT_REMOVAL), &subject, &verdict);
	question_of_removal(questions_add(questions, ABOUT_REMOVAL), &subject);
	return 0;
}

/* ---- a conversation that another session or process has ---------------------------------------- */

/* "2026-11-25 19:20 (3 min ago)"; NULL: not known.  The caller frees. */
static char *since_text(int64_t since_us)
{
	char span[CLOCK_TEXT_SIZE], text[CLOCK_TEXT_SIZE];
	const time_t then = (time_t)(since_us / SECOND_US);
	struct tm at;
	if (!since_us || !localtime_r(&then, &at) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &at) == 0)
		return NULL;
	return xasprintf("%s (%s ago)", text, clock_span(clock_wall_us() - since_us, span));
}

static void ask_about_session(const struct conflict *conflict, const struct asking *asking,
			      struct question *question)
{
	static const enum question_place places[] = {
		[HOLDING_OPEN] = IN_SESSION,
		[HOLDING_DIRECTORY] = IN_DIRECTORY,
		[HOLDING_PICKED] = IN_PICK,
	};
	const struct conversation_holder *holder = &conflict->holder;
	const struct question_subject subject = subject_of(asking->instance);
	/* Attaching to it, or ending it, from inside would end in a loop, or this command. */
	const bool is_here = !holder->host && !streq(holder->id, or_empty(getenv(ENV_INSTANCE)));
	cleanup_free char *since = since_text(holder->since);
	cleanup_free char *who = xasprintf("%s (%s), %s%s%s%s%s", holder->title, holder->agent,
					   holder->id, holder->profile ? ", profile " : "",
					   or_empty(holder->profile), holder->host ? ", on " : "",
					   or_empty(holder->host));
	const struct question_holder shown = {
		.place = places[holder->holding],
		.conversation = conflict->session_id,
		.who = who,
		.since = since,
		.where = holder->directory,
		.title = holder->title,
		.can_attach = is_here,
		.can_fork = conflict->can_fork,
		.can_take = is_here,
	};
	question_of_conflict(question, &subject, &shown);
}

static void ask_about_process(struct deck *deck, const struct conflict *conflict,
			      const struct asking *asking, struct question *question)
{
	CLEANUP(adopt_facts_clear) struct adopt_facts facts = { 0 };
	CLEANUP(adopt_finds_free) struct adopt_finds finds = { 0 };
	const struct question_subject subject = subject_of(asking->instance);
	const bool is_here = conflict->kind == CONFLICT_PROCESS;
	if (is_here)
		adopt_describe(&conflict->process, &facts);
	cleanup_free char *since = since_text(facts.since_us);
	cleanup_free char *who = xasprintf("process %d%s%s", (int)conflict->process.pid,
					   facts.terminal ? ", in terminal " : "",
					   or_empty(facts.terminal));
	const struct question_holder shown = {
		.place = is_here ? IN_PROCESS : IN_MACHINE,
		.conversation = conflict->session_id,
		.who = who,
		.since = since,
		.command = facts.command,
		.where = facts.directory,
		.can_fork = conflict->can_fork,
		.can_take = is_here && adopt_look(deck, &finds, NULL) == 0 &&
			    adopt_joining(&finds, &conflict->process, asking->instance) != NULL,
	};
	question_of_conflict(question, &subject, &shown);
}

static void ask_about_background(const struct conflict *conflict, const struct asking *asking,
				 struct question *question)
{
	const struct question_subject subject = subject_of(asking->instance);
	const struct question_holder shown = {
		.place = IN_BACKGROUND,
		.conversation = asking->instance->conversation.session_id,
		.who = conflict->background,
		.can_fork = conflict->can_fork,
		.can_take = true,
	};
	question_of_conflict(question, &subject, &shown);
}

int asking_of_conflict(struct deck *deck, const char *base, const struct lifecycle_order *order,
		       struct asking *ret, struct error *err)
{
	struct conflict *conflict = &ret->conflict;
	if (deck_load(deck, base, &ret->instance, err) < 0 ||
	    conflict_look(deck, base, order, conflict, err) < 0)
		return -1;
	if (conflict->kind == CONFLICT_NONE)
		return 0;
	struct question *question = questions_add(&ret->questions, ABOUT_CONFLICT);
	ret->questions.seen = xstrdup(conflict->digest);
	switch (conflict->kind) {
	case CONFLICT_NONE:
		break;
	case CONFLICT_SESSION:
		ask_about_session(conflict, ret, question);
		break;
	case CONFLICT_PROCESS:
	case CONFLICT_MACHINE:
		ask_about_process(deck, conflict, ret, question);
		break;
	case CONFLICT_BACKGROUND:
		ask_about_background(conflict, ret, question);
		break;
	}
	return 0;
}

/* ---- at a launch ------------------------------------------------------------------------------ */

/* Did it end, and can it be resumed, in this directory or in a tree of it? */
static bool is_candidate(struct deck *deck, const struct store_row *row, const char *directory,
			 const char *agent)
{
	cleanup_instance struct instance *instance = NULL;
	if (row->damage || row->archived_at || row->state != STATE_STOPPED ||
	    row->desired == DESIRED_RUNNING || !row->last_used_at || !streq(row->agent, agent))
		return false;
	if (streq(row->lookup_directory, directory))
		return true;
	return deck_load(deck, row->base, &instance, NULL) == 0 && instance->workspace &&
	       streq(instance->workspace->source, directory);
}

static void add_candidate(struct question *question, const struct store_row *row)
{
	char span[CLOCK_TEXT_SIZE];
	cleanup_view struct view view = view_of(row);
	cleanup_free char *status = view_text(&view);
	cleanup_free char *label = xasprintf("Resume %s", row->title);
	cleanup_free char *effect = xasprintf("%s, %s ago, %s", row->id,
					      clock_span(clock_wall_us() - row->last_used_at, span),
					      status);
	question_add_session(question, row->id, label, effect);
}

int asking_of_launch(struct deck *deck, const struct lifecycle_new *wish, struct asking *ret,
		     struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_free char *directory = NULL;
	const struct agent *agent;
	/* The launch itself says what is wrong with the directory or the agent. */
	if (wish->title || wish->session_id ||
	    fs_real_directory(wish->directory, &directory, NULL) != 0 ||
	    lifecycle_choose_agent(deck, wish, &agent, NULL) < 0)
		return 0;
	if (store_list(deck->store, &rows, err) < 0)
		return -1;
	struct question *question = questions_add(&ret->questions, ABOUT_LAUNCH);
	question_of_launch(question, directory, agent->title);
	for (size_t i = rows.count; i-- > 0;)
		if (is_candidate(deck, &rows.rows[i], directory, agent->name))
			add_candidate(question, &rows.rows[i]);
	if (question->choice_count == 1)
		questions_free(&ret->questions);
	return 0;
}

/* ---- the trash -------------------------------------------------------------------------------- */

size_t asking_count_old(const struct trash *trash, int64_t days)
{
	const int64_t latest = clock_wall_us() - days * DAY_S * SECOND_US;
	size_t count = 0;
	/* The clock may have been set back since. */
	if (days == 0)
		return trash->count;
	while (count < trash->count && trash->items[count].removed_at <= latest)
		count++;
	return count;
}

const char *asking_prune_prompt(const struct trash *trash)
{
	for (size_t i = 0; i < trash->count; i++)
		if (trash->items[i].instance && place_home(trash->items[i].instance))
			return "Delete these for good? The conversations of sessions in "
			       "containers are deleted, too.";
	return "Delete these for good? The conversations stay with their agents.";
}

static void add_removed(struct question *question, const struct removed *removed)
{
	char date[CLOCK_TEXT_SIZE];
	const struct instance *instance = removed->instance;
	const struct workspace *workspace = instance ? instance->workspace : NULL;
	question_add_item(question, "%s, %s, removed %s%s%s",
			  instance ? instance->title : removed->base,
			  instance ? instance->id : "its manifest is corrupt",
			  clock_local(removed->removed_at, date), workspace ? ", with its " : "",
			  workspace ? workspace_kind_name(workspace->kind) : "");
}

static char *trash_digest(const struct trash *trash)
{
	char digest[SHA256_TEXT_SIZE];
	cleanup_strbuf struct strbuf names = { 0 };
	for (size_t i = 0; i < trash->count; i++)
		strbuf_addf(&names, "%s\n", trash->items[i].name);
	return xstrdup(sha256_text(strbuf_text(&names), digest));
}

int asking_of_prune(struct deck *deck, struct asking *ret, struct error *err)
{
	cleanup_trash struct trash all = { 0 };
	if (trash_list(deck->store, &all, err) < 0)
		return -1;
	const struct trash old = { all.items,
				   asking_count_old(&all, deck->settings.trash_keep_days) };
	cleanup_free char *younger = xasprintf("%zu younger one%s left alone: agentdeck prune "
					       "--older 0 takes all",
					       all.count - old.count,
					       all.count - old.count == 1 ? " is" : "s are");
	if (old.count == 0) {
		ret->questions.text = all.count ? TAKE_PTR(younger)
						: xstrdup("The trash is empty.");
		return 0;
	}
	struct question *question = questions_add(&ret->questions, ABOUT_PRUNE);
	ret->questions.seen = trash_digest(&old);
	question_begin(question, "prune", asking_prune_prompt(&old));
	question_add_line(question, "Until they are deleted, agentdeck undo brings them back.");
	if (all.count > old.count)
		question_add_line(question, "%s.", younger);
	question_add_evidence(question, "removed sessions");
	for (size_t i = 0; i < old.count; i++)
		add_removed(question, &old.items[i]);
	question_add_choice(question, CHOICE_KEEP, "Keep them", "nothing is deleted");
	question_add_choice(question, CHOICE_CLEAN, "Delete them", "there is no undo");
	return 0;
}

int asking_prune(struct deck *deck, const char *seen, size_t *ret_deleted, struct error *err)
{
	cleanup_trash struct trash all = { 0 };
	if (trash_list(deck->store, &all, err) < 0)
		return -1;
	const struct trash old = { all.items,
				   asking_count_old(&all, deck->settings.trash_keep_days) };
	cleanup_free char *now = trash_digest(&old);
	if (!streq(now, or_empty(seen)))
		return error_set(err, ERROR_INVALID,
				 "nothing was deleted, because the trash has changed since it was "
				 "shown: look again");
	return undo_prune(deck, &old, &(struct prune_order){ 0 }, ret_deleted, err);
}
