/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/attach.h"
#include "cli/cmd/commands.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/deck/hint.h"
#include "engine/roster/next.h"
#include "engine/terminal/seat.h"

#include "engine/run/correct.h"

#include <stdlib.h>
#include <string.h>

struct options {
	bool read_only, no_start, next, refuse_nested, asked;
};

static const struct command_option options[] = {
	{ 'r', "read-only", NULL, "look, and let no key through", TO_FLAG(read_only) },
	{ 'n', "next", NULL, "the session that needs you first", TO_FLAG(next) },
	{ 0, "no-start", NULL, "do not start a session that does not run", TO_FLAG(no_start) },
	{ 0, "refuse-nested", NULL, "refuse inside another tmux", TO_FLAG(refuse_nested) },
	{ 0, "asked", NULL, "start it without a question: its user has answered (the deck)",
	  TO_FLAG(asked), .is_hidden = true },
	OPTION_ALL_HOSTS,
	{ 0 },
};

/* --- which one, where none is named ---------------------------------------------------------- */

struct candidates {
	const struct roster_entry **entries; /* last used first; borrowed from the roster */
	size_t count;
};
static void candidates_free(struct candidates *candidates)
{
	free(candidates->entries);
}

static int by_use(const void *a, const void *b)
{
	const struct store_row *left = &(*(const struct roster_entry *const *)a)->row;
	const struct store_row *right = &(*(const struct roster_entry *const *)b)->row;
	if (left->last_used_at != right->last_used_at)
		return left->last_used_at > right->last_used_at ? -1 : 1;
	return (left->created_at < right->created_at) - (left->created_at > right->created_at);
}

/* The sessions that run, or are to run; if there is none, those that are stopped. */
static void find_candidates(const struct roster *roster, struct candidates *ret)
{
	const size_t count = roster_count(roster);
	ret->entries = xcalloc(count + 1, sizeof(*ret->entries));
	for (int stopped = 0; stopped < 2 && !ret->count; stopped++) {
		for (size_t i = 0; i < count; i++) {
			const struct roster_entry *entry = roster_at(roster, i);
			const bool is_stopped = !state_is_running(entry->view.state) &&
						entry->row.desired == DESIRED_STOPPED;
			if (!entry->row.damage && !entry->row.archived_at && !entry->view.host &&
			    is_stopped == (stopped == 1))
				ret->entries[ret->count++] = entry;
		}
	}
	qsort(ret->entries, ret->count, sizeof(*ret->entries), by_use);
}

static void show(struct app *app, const struct candidates *candidates)
{
	static const char *const headings[] = { "", "SESSION", "STATUS", NULL };
	cleanup_table struct table *table = table_new(app, headings);
	for (size_t i = 0; i < candidates->count; i++) {
		const struct roster_entry *entry = candidates->entries[i];
		cleanup_free char *number = xasprintf("%zu", i + 1);
		cleanup_free char *status = view_text(&entry->view);
		table_add(table, (const char *const[]){ number, entry->row.title, status, NULL },
			  view_tone(&entry->view));
	}
	table_print(table);
	cleanup_free char *first = visible(candidates->entries[0]->row.title);
	printf("Type a number or a name; Enter alone chooses %s; q cancels.\n", first);
}

static int ask(struct app *app, const struct candidates *candidates, char **ret, struct error *err)
{
	show(app, candidates);
	for (;;) {
		cleanup_error struct error why = { 0 };
		cleanup_store_rows struct store_rows rows = { 0 };
		cleanup_free char *line = NULL;
		const struct store_row *row = NULL;
		int64_t number = 1;
		int r = ask_line(&line, err);
		if (r == ASK_CANCELLED)
			fprintf(stderr, "agentdeck: cancelled: no session was attached\n");
		if (r != 0)
			return r;
		if (!line[strspn(line, " \t")] ||
		    parse_int64(line, 1, (int64_t)candidates->count, &number))
			row = &candidates->entries[number - 1]->row;
		else if (app_resolve(app, line, &rows, &row, &why) < 0)
			printf("%s\n", why.message);
		if (row) {
			*ret = xstrdup(row->id);
			return 0;
		}
	}
}

static int choose(struct app *app, const struct roster *roster, char **ret, struct error *err)
{
	CLEANUP(candidates_free) struct candidates candidates = { 0 };
	find_candidates(roster, &candidates);
	if (candidates.count == 0)
		return error_set(err, ERROR_NOT_FOUND,
				 roster_count(roster)
					 ? "no session can be attached: see agentdeck list "
					   "--archived"
					 : "there is no session yet: agentdeck launch DIRECTORY "
					   "makes one");
	if (candidates.count > 1 && ask_is_possible())
		return ask(app, &candidates, ret, err);
	*ret = xstrdup(candidates.entries[0]->row.id);
	return 0;
}

static int find_next(const struct roster *roster, char **ret, struct error *err)
{
	const struct roster_entry *next = roster_next_waiting(roster, NULL);
	if (!next)
		return error_set(err, ERROR_NOT_FOUND, "no session waits for an answer");
	*ret = xstrdup(next->row.id);
	return 0;
}

static int settle_target(struct app *app, char **ret, struct error *err)
{
	const struct options *given = app->options;
	cleanup_roster struct roster *roster = NULL;
	const struct roster_order order = { .profile = app->deck.profile,
					    .looks = given->next ? ROSTER_LOOKS : ROSTER_LOOKS_NOT,
					    .asks = true };
	if (app->operands.count && given->next)
		return error_set(err, ERROR_USAGE, "--next chooses the session itself: omit '%s'",
				 app->operands.items[0]);
	if (app->operands.count) {
		*ret = xstrdup(app->operands.items[0]);
		return 0;
	}
	if (correct_list(&app->deck, &order, &roster, err) < 0)
		return -1;
	return given->next ? find_next(roster, ret, err) : choose(app, roster, ret, err);
}

/* The user of another machine is back: they want what they had, so what ended meanwhile by a wish
 * stays so. */
static int return_to(const struct store_row *row, const struct seat *seat, struct error *err)
{
	cleanup_view struct view view = view_of(row);
	const bool is_running = state_is_running(view.state);
	cleanup_free char *title = visible(row->title);
	if (!is_running && (row->desired == DESIRED_STOPPED || row->held))
		return error_set(err, ERROR_INVALID, "%s was %s meanwhile%s%s", title,
				 instance_state_name(view.state), is_empty(view.reason) ? "" : ": ",
				 or_empty(view.reason));
	if (is_running && !process_same(&row->run.server, &seat->server))
		say("%s was restarted meanwhile", title);
	return 0;
}

static int cmd_session_attach(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_seat struct seat seat = { 0 };
	cleanup_free char *target = NULL;
	const struct store_row *row;
	if (app->seat && seat_take(&app->deck, app->seat, &seat, err) < 0)
		return -1;
	if (seat.id)
		target = xstrdup(seat.id);
	int r = target ? 0 : settle_target(app, &target, err);
	if (r != 0)
		return r;
	if (app_resolve(app, target, &rows, &row, err) < 0 ||
	    (seat.id && return_to(row, &seat, err) < 0))
		return -1;
	cleanup_free char *hint = hint_row(&app->deck, &rows, row);
	if (!ask_is_possible())
		return error_set(err, ERROR_REFUSED,
				 "attaching needs a terminal: run agentdeck attach %s "
				 "from one",
				 hint);
	if (given->refuse_nested && !is_empty(getenv("TMUX")))
		return error_set(err, ERROR_REFUSED,
				 "this terminal is inside tmux: detach from that first, or omit "
				 "--refuse-nested");
	const enum attach_mode mode = given->read_only ? ATTACH_READ_ONLY : ATTACH_FULLY;
	r = given->no_start ? 0 : attach_bring_back(app, row, given->asked || seat.id, mode, err);
	if (r == ATTACH_NOT)
		return 0;
	return r != 0 ? r : run_attach(app, row->base, mode, err);
}

const struct command command_session_attach = {
	.name = "session attach",
	.kind = COMMAND_TERMINAL,
	.arguments = "[SESSION]",
	.summary = "work in a session; Ctrl-Q leaves it running",
	OWN_OPTIONS,
	.flags = NEEDS_STORE,
	.run = cmd_session_attach,
};
