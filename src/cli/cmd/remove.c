/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/crew.h"
#include "cli/cmd/decide.h"
#include "cli/cmd/several.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/removal.h"

#include "base/clock.h"
#include "engine/place/alive.h"
#include "engine/run/stop.h"

#include <string.h>
#include <unistd.h>

struct options {
	bool force, discard;
	const char *with;      /* of a worker: what all of this command have */
	struct strvec seen;    /* ID=DIGEST: this work of the session may go, its user has said */
	struct strvec running; /* the bases that a "y" was about */
};

static const struct command_option options[] = {
	{ 0, "discard", NULL, "give up work that only its worktree or clone has",
	  TO_FLAG(discard) },
	{ 'f', "force", NULL, "do not ask; stop what runs", TO_FLAG(force) },
	{ 0, "seen", "ID=DIGEST",
	  "also if this work would be lost, as agentdeck settle showed it; may be given several times",
	  TO_LIST(seen) },
	{ 0, "with", "TEXT", "the same for all that are removed together", TO_TEXT(with),
	  .is_hidden = true },
	OPTIONS_SEVERAL,
	OPTION_TAKE_OVER,
	{ 0 },
};

/* What started after the question was not agreed to. */
static bool may_stop(const struct app *app, const struct store_row *row)
{
	const struct options *given = app->options;
	return given->force || strvec_contains(&given->running, row->base);
}

static const char *word_for(const struct app *app, const struct store_row *row)
{
	return may_stop(app, row) ? "--force" : NULL;
}

/* What its user was shown and has given up; NULL: nothing. */
static char *work_seen(const struct options *given, const struct store_row *row)
{
	cleanup_free char *lead = xasprintf("%s=", row->id);
	for (size_t i = 0; i < given->seen.count; i++)
		if (starts_with(given->seen.items[i], lead))
			return xstrdup(given->seen.items[i] + strlen(lead));
	return NULL;
}

static int remove_one(struct app *app, const struct store_row *row, struct error *err)
{
	const struct options *given = app->options;
	cleanup_free char *seen = work_seen(given, row);
	cleanup_instance struct instance *instance = NULL;
	enum decision_way decision = seen ? DECISION_REMOVED : DECISION_GO_ON;
	if (!given->discard && !seen && !row->damage &&
	    decide_removal(app, row->base, &decision, &seen, err) < 0)
		return -1;
	if (decision == DECISION_LEAVE) {
		printf("Nothing was removed.\n");
		return 1;
	}
	const struct removal_order order = {
		.takes_over = app->takes_over,
		.how = row->damage          ? REMOVE_DAMAGED
		       : may_stop(app, row) ? REMOVE_ANYWAY
					    : REMOVE_STOPPED,
		.may_lose_work = given->discard || decision == DECISION_REMOVED,
		.work_seen = seen,
		.with = given->with,
	};
	if (row->workspace)
		(void)deck_load(&app->deck, row->base, &instance, NULL);
	if (lifecycle_remove(&app->deck, row->base, &order, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "session_id", row->session_id);
	return print_done(app, object, removal_text(&app->deck, row, instance, !app->instance));
}

static char *make_question(const struct several *several, size_t running)
{
	if (several->count == 1 && running)
		return xasprintf("%s is running. Stop and remove it?", several->rows[0]->title);
	if (several->count == 1)
		return xasprintf("Remove %s?", several->rows[0]->title);
	if (running == 0)
		return xasprintf("Remove %zu sessions?", several->count);
	return xasprintf("Remove %zu sessions, and stop the %zu that run?", several->count,
			 running);
}

/* What runs is not removed by a slip, nor are many.  What runs elsewhere, or cannot be asked, is
 * the engine's to refuse. */
static int confirm(struct app *app, const struct several *several, struct error *err)
{
	struct options *given = app->options;
	const struct store_row *running = NULL;
	for (size_t i = 0; i < several->count; i++) {
		if (several->rows[i]->damage || !place_is_live(&several->rows[i]->run))
			continue;
		running = several->rows[i];
		strvec_push(&given->running, running->base);
	}
	const size_t count = given->running.count;
	if (given->force || (!count && !several->is_set) || several->count == 0)
		return 0;
	cleanup_free char *question = make_question(several, count);
	cleanup_free char *title = running ? visible(running->title) : NULL;
	cleanup_free char *without =
		running ? xasprintf("%s is running: stop it first, or use --force, which stops it",
				    title)
			: xasprintf("%zu sessions would be removed: add --force to do it",
				    several->count);
	const struct consent consent = { question, "Nothing was removed.", "--force", without,
					 ERROR_INVALID };
	return ask_consent(app, &consent, err);
}

static int choose_and_remove(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_several struct several several = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	if (given->discard)
		strvec_push(&words, "--discard");
	for (size_t i = 0; i < given->seen.count; i++)
		strvec_pushf(&words, "--seen=%s", given->seen.items[i]);
	struct several_verb verb = {
		.act = remove_one,
		.word = word_for,
		.result = "removed",
		.tells_archived = true,
		.timeout_ms = crew_timeout_ms(app),
		.jobs = SEVERAL_STOPS,
	};
	int r = several_work(app, &verb, err);
	if (r != SEVERAL_NONE)
		return r;
	if (several_choose(app, &app->operands, &verb, &several, err) < 0)
		return -1;
	if (several.count > 1)
		strvec_pushf(&words, "--with=%lld-%d", (long long)clock_wall_us(), (int)getpid());
	verb.words = words;
	r = confirm(app, &several, err);
	if (r != 0)
		return r < 0 ? -1 : 1;
	return several_run(app, &several, &verb, err);
}

static int cmd_remove(struct app *app, struct error *err)
{
	struct options *given = app->options;
	int r = choose_and_remove(app, err);
	strvec_clear(&given->running);
	return r;
}

const struct command command_remove = {
	.name = "remove",
	.kind = COMMAND_CHANGES,
	.arguments = "[SESSION...]",
	.summary = "stop sessions and remove them from the list",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | TAKES_SEVERAL | HAS_JSON,
	.run = cmd_remove,
};
