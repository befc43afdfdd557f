/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/clock.h"
#include "engine/deck/once.h"

struct options {
	int64_t wait;
};

static const struct command_option options[] = {
	{ 0, "wait", "SECONDS", "while it runs, wait so long for its end",
	  TO_SECONDS(wait, 0, 86400) },
	{ 0 },
};

struct search {
	const char *id;
	struct json_object *sessions;
	struct strbuf titles;
};

static void search_end(struct search *search)
{
	json_object_put(search->sessions);
	strbuf_free(&search->titles);
}

static void add_session(struct search *search, const struct store *store,
			const struct instance *instance)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "id", instance->id);
	json_set_string(object, "title", instance->title);
	json_set_string(object, "profile", store_profile(store));
	json_object_array_add(search->sessions, object);
	strbuf_addf(&search->titles, "%s%s", search->titles.length ? ", " : "", instance->title);
}

/* The index does not have the id: few ask for it. */
static int search_profile(struct store *store, void *context, struct error *err)
{
	struct search *search = context;
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		cleanup_instance struct instance *instance = NULL;
		if (store_load(store, rows.rows[i].base, &instance, NULL) == 0 &&
		    streq(or_empty(instance->once), search->id))
			add_session(search, store, instance);
	}
	return 0;
}

static char *describe(const char *id, enum once_state state, int status, const char *titles)
{
	const char *before = *titles ? "; it made or started: " : "";
	switch (state) {
	case ONCE_REFUSED:
		return xasprintf("%s: no command had this id, and none can have it any more", id);
	case ONCE_RUNNING:
		return xasprintf("%s: its command is running%s%s", id, before, titles);
	case ONCE_ENDED:
		return xasprintf("%s: ended with exit status %d%s%s", id, status, before, titles);
	case ONCE_CUT:
	case ONCE_STATES:
		break;
	}
	return xasprintf("%s: its command was killed before it ended%s%s", id, before, titles);
}

static int cmd_once(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *id = app->operands.items[0];
	CLEANUP(search_end) struct search search = { .id = id };
	enum once_state state;
	int status;
	if (once_ask(&app->deck, id, clock_ms() + given->wait * 1000, &state, &status, err) < 0)
		return -1;
	search.sessions = json_object_new_array();
	if (deck_each_profile(&app->deck, search_profile, &search, err) < 0)
		return -1;
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "once", id);
	json_set_string(object, "state", once_state_words[state]);
	if (state == ONCE_ENDED)
		json_set_int(object, "status", status);
	json_object_object_add(object, "sessions", TAKE_PTR(search.sessions));
	return print_done(app, object, describe(id, state, status, strbuf_text(&search.titles)));
}

const struct command command_once = {
	.name = "once",
	.kind = COMMAND_CHANGES,
	.arguments = "ID",
	.summary = "say what became of a command that was run with --once ID",
	OWN_OPTIONS,
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_once,
};
