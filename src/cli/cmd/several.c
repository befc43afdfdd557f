/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/several.h"

#include "base/termsize.h"
#include "cli/cmd/crew.h"
#include "cli/show/output.h"
#include "model/session/naming.h"
#include "model/session/state.h"

#include <string.h>

/* ---- which sessions ------------------------------------------------------------------------- */

void several_free(struct several *several)
{
	free(several->rows);
	*several = (struct several){ 0 };
}

static void add_once(struct several *several, const struct store_row *row)
{
	for (size_t i = 0; i < several->count; i++)
		if (several->rows[i] == row)
			return;
	several->rows[several->count++] = row;
}

bool several_is_active(const struct store_row *row)
{
	return row->damage || !state_is_at_rest(row->state, row->desired);
}

bool several_is_wanted(const struct store_row *row)
{
	return several_is_active(row) || row->desired == DESIRED_ASLEEP;
}

static int choose_set(const struct app *app, const struct several_verb *verb,
		      struct several *several, struct error *err)
{
	bool is_known = app->every;
	several->is_set = true;
	for (size_t i = 0; i < app->rows.count; i++) {
		const struct store_row *row = &app->rows.rows[i];
		if (!app->every && (row->damage || !naming_is_in_group(row->group, app->group)))
			continue;
		is_known = true;
		if (verb->concerns && !verb->concerns(row))
			continue;
		if (!row->archived_at || verb->takes_archived)
			add_once(several, row);
		else
			several->left_alone += verb->tells_archived;
	}
	if (is_known)
		return 0;
	cleanup_free char *shown = visible(app->group);
	return error_set(err, ERROR_NOT_FOUND,
			 "no session is in group '%s': agentdeck list shows the groups", shown);
}

int several_choose(struct app *app, const struct strvec *names, const struct several_verb *verb,
		   struct several *ret, struct error *err)
{
	cleanup_several struct several several = { 0 };
	const unsigned ways = (names->count > 0) + app->every + (app->group != NULL);
	if (ways == 0)
		return error_set(err, ERROR_USAGE,
				 "no session is named: give a title or an id, --all, or "
				 "--group GROUP (see agentdeck %s --help)",
				 command_usual_name(app->command));
	if (ways > 1)
		return error_set(err, ERROR_USAGE,
				 "give sessions, --all, or --group GROUP, but only one of them");
	if (store_list(app->deck.store, &app->rows, err) < 0)
		return -1;
	several.rows = xcalloc(app->rows.count + 1, sizeof(const struct store_row *));
	for (size_t i = 0; i < names->count; i++) {
		const struct store_row *row;
		if (app_find(app, &app->rows, names->items[i], &row, err) < 0)
			return -1;
		add_once(&several, row);
	}
	if (names->count == 0 && choose_set(app, verb, &several, err) < 0)
		return -1;
	*ret = several;
	several = (struct several){ 0 };
	return 0;
}

/* ---- one process for each ------------------------------------------------------------------- */

/* The words with which a worker of this command gets its session. */
static void add_words(const struct app *app, const struct several_verb *verb,
		      const struct store_row *row, struct strvec *ret)
{
	cleanup_free char *command = xstrdup(app->command->name);
	char *rest = command;
	cleanup_free char *size = app->size ? xstrdup(app->size) : termsize_here_text();
	if (size)
		strvec_push_array(ret, (const char *const[]){ "--size", size, NULL });
	if (app->once)
		strvec_push_array(ret, (const char *const[]){ "--once", app->once, NULL });
	for (const char *word; (word = strsep(&rest, " "));)
		strvec_push(ret, word);
	strvec_push(ret, "--instance");
	strvec_push(ret, row->base);
	if (app->json)
		strvec_push(ret, "--json");
	if (app->quiet)
		strvec_push(ret, "--quiet");
	if (app->takes_over)
		strvec_push(ret, "--take-over");
	strvec_push_all(ret, &verb->words);
	const char *word = verb->word ? verb->word(app, row) : NULL;
	if (word)
		strvec_push(ret, word);
}

/* A process for each.  *ret_failed: how many did not succeed. */
static int run_all(struct app *app, const struct several *several, const struct several_verb *verb,
		   size_t *ret_failed, struct error *err)
{
	cleanup_free struct crew_job *jobs = xcalloc(several->count, sizeof(*jobs));
	const struct crew_order order = {
		.jobs = jobs,
		.count = several->count,
		.at_once = verb->jobs,
		.timeout_ms = verb->timeout_ms,
	};
	for (size_t i = 0; i < several->count; i++) {
		const struct store_row *row = several->rows[i];
		jobs[i] = (struct crew_job){ .title = row->title,
					     .id = row->id,
					     .input = verb->input,
					     .input_length = verb->input_length };
		add_words(app, verb, row, &jobs[i].words);
	}
	const int r = crew_run(app, &order, ret_failed, err);
	for (size_t i = 0; i < several->count; i++)
		strvec_clear(&jobs[i].words);
	return r;
}

static void tell_left_alone(size_t count)
{
	if (count)
		complain("%zu archived session%s left alone: agentdeck list --archived", count,
			 count == 1 ? " is" : "s are");
}

int several_run(struct app *app, const struct several *several, const struct several_verb *verb,
		struct error *err)
{
	size_t failed;
	const bool speaks = !app->json && !app->quiet;
	if (several->count == 1 && !several->is_set)
		return verb->act(app, several->rows[0], err);
	if (speaks)
		tell_left_alone(several->left_alone);
	if (several->count == 0) {
		if (speaks)
			printf("%s\n", !app->rows.count ? "There are no sessions."
				       : verb->none     ? verb->none
				       : verb->concerns ? "No session runs there: nothing to do."
							: "No session is there, but for archived "
							  "ones: nothing to do.");
		return 0;
	}
	if (run_all(app, several, verb, &failed, err) < 0)
		return -1;
	if (speaks && several->count > 1 && failed)
		printf("%zu sessions: %zu %s, %zu failed\n", several->count,
		       several->count - failed, verb->result, failed);
	else if (speaks && several->count > 1)
		printf("%zu sessions: %zu %s\n", several->count, several->count, verb->result);
	return failed ? 1 : 0;
}

int several_work(struct app *app, const struct several_verb *verb, struct error *err)
{
	struct store_row row;
	if (!app->instance)
		return SEVERAL_NONE;
	if (store_load_row(app->deck.store, app->instance, &row) != 0)
		return error_set(err, ERROR_NOT_FOUND, "it was removed meanwhile");
	int r = verb->act(app, &row, err);
	cleanup_free char *title = visible(row.title);
	/* Many messages begin with the title already. */
	if (r < 0 && err && !starts_with(err->message, title))
		error_prefix(err, "%s", title);
	store_row_free(&row);
	return r;
}

int several_do(struct app *app, const struct strvec *names, const struct several_verb *verb,
	       struct error *err)
{
	cleanup_several struct several several = { 0 };
	int r = several_work(app, verb, err);
	if (r != SEVERAL_NONE)
		return r;
	if (several_choose(app, names, verb, &several, err) < 0)
		return -1;
	return several_run(app, &several, verb, err);
}
