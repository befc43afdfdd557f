/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/session-move.h"
#include "cli/show/output.h"

#include "engine/deck/once.h"
#include "engine/export/arrive.h"
#include "engine/export/move-tree.h"
#include "model/session/naming.h"

static int print_tree(struct app *app, const struct store_row *row, const char *commit,
		      const char *directory)
{
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "tree", commit);
	json_set_string(object, "directory", directory);
	return print_done(app, object, xasprintf("%s: %s", row->title, commit));
}

static int list_tree(struct app *app, const char *directory, struct error *err)
{
	cleanup_strvec struct strvec commits = { 0 };
	const char *session = app->operands.items[0];
	const char *base = NULL;
	if (move_find_there(app, session, &base, err) < 0 ||
	    move_list_tree(&app->deck, base, directory, &commits, err) < 0)
		return -1;
	struct json_object *object = json_success(session, session);
	json_set_strings(object, "commits", &commits);
	return print_done(app, object, xasprintf("%zu commits", commits.count));
}

int move_find_there(struct app *app, const char *session, const char **ret, struct error *err)
{
	if (store_list(app->deck.store, &app->rows, err) < 0)
		return -1;
	*ret = NULL;
	for (size_t i = 0; i < app->rows.count; i++)
		if (streq(app->rows.rows[i].id, session))
			*ret = app->rows.rows[i].base;
	return 0;
}

static int change(struct app *app, const struct store_row *row, enum move_step step,
		  const struct move_words *words, struct error *err)
{
	CLEANUP(moved_clear) struct moved moved = { 0 };
	const struct move_order order = {
		.base = row->base, .step = step, .id = words->id, .host = words->to
	};
	if (move_session(&app->deck, &order, &moved, err) < 0)
		return -1;
	const char *word = move_state_words[moved.state];
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "move", moved.state == MOVE_NONE ? NULL : word);
	json_set_string(object, "tree", moved.tree);
	json_set_string(object, "tree_branch", moved.is_beside ? moved.tree : NULL);
	return print_done(app, object, xasprintf("%s: %s", row->title, word));
}

int move_do_step(struct app *app, const struct move_words *words, const char *directory,
		 struct error *err)
{
	const struct store_row *row;
	enum move_step step = MOVE_STEPS;
	const bool packs = streq(words->step, MOVE_TREE_PACK);
	if (streq(words->step, MOVE_TREE_LIST) && directory)
		return list_tree(app, directory, err);
	if (!(packs || move_step_parse(words->step, &step)) || !words->id ||
	    !naming_is_uuid(words->id))
		return error_set(err, ERROR_USAGE, "--step takes a step, and --id its move");
	/* An import of this move may still be on its way, also where nothing is yet. */
	if (step == MOVE_STEP_DROP && once_refuse(&app->deck, words->id, err) < 0)
		return -1;
	if (app_resolve(app, app->operands.items[0], &app->rows, &row, err) < 0)
		return -1;
	if (!packs)
		return change(app, row, step, words, err);
	cleanup_free char *commit = NULL, *place = NULL;
	return move_pack_tree(&app->deck, row->base, words->id, &commit, &place, err) < 0
		       ? -1
		       : print_tree(app, row, commit, place);
}
