/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

#include "base/clock.h"
#include "engine/activity.h"
#include "engine/changes.h"

#include <string.h>

enum { LONGEST_TIMEOUT_S = 365 * 24 * 3600 };

/* ---- counting ----------------------------------------------------------------------------------- */

struct counts {
	size_t states[STATE_COUNT];
	size_t busy, waiting, idle, doing_unknown, unknown, total;
};

static void count_row(struct app *app, const struct store_row *row, struct counts *counts)
{
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	activity_look(&app->deck, row);
	lifecycle_view_row(row, &view);
	counts->total++;
	if (view.is_silent) {
		counts->unknown++;
		return;
	}
	counts->states[view.state]++;
	if (view.state != STATE_RUNNING)
		return;
	counts->busy += view.activity == ACTIVITY_BUSY;
	counts->waiting += view.activity == ACTIVITY_WAITING;
	counts->idle += view.activity == ACTIVITY_IDLE;
	counts->doing_unknown += view.activity == ACTIVITY_UNKNOWN;
}

static void print_counts_json(const struct counts *counts)
{
	cleanup_json struct json_object *object = json_object_new_object();
	for (size_t i = 0; i < STATE_COUNT; i++)
		json_set_int(object, instance_state_name((enum instance_state)i),
			     (int64_t)counts->states[i]);
	json_set_int(object, "unknown", (int64_t)counts->unknown);
	json_set_int(object, "busy", (int64_t)counts->busy);
	json_set_int(object, "waiting", (int64_t)counts->waiting);
	json_set_int(object, "idle", (int64_t)counts->idle);
	json_set_int(object, "activity_unknown", (int64_t)counts->doing_unknown);
	json_set_int(object, "total", (int64_t)counts->total);
	print_json(object);
}

static int count_all(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	struct counts counts = { 0 };
	if (lifecycle_list(&app->deck, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		count_row(app, &rows.rows[i], &counts);
	if (app->json) {
		print_counts_json(&counts);
		return 0;
	}
	if (counts.unknown)
		printf("%zu unknown (the tmux server does not answer), ", counts.unknown);
	printf("%zu running (%zu busy, %zu waiting, %zu idle", counts.states[STATE_RUNNING], counts.busy,
	       counts.waiting, counts.idle);
	if (counts.doing_unknown)
		printf(", %zu not known", counts.doing_unknown);
	printf("), %zu stopped, %zu in error, %zu in all\n", counts.states[STATE_STOPPED],
	       counts.states[STATE_ERROR], counts.total);
	return 0;
}

/* ---- waiting ------------------------------------------------------------------------------------ */

static const char *const waitable[] = { "waiting", "idle", "busy", "error", "stopped" };

static int parse_words(const char *text, struct strvec *ret, struct error *err)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (const char *word; (word = strsep(&rest, ","));) {
		bool is_known = false;
		for (size_t i = 0; i < ARRAY_SIZE(waitable); i++)
			is_known |= streq(word, waitable[i]);
		cleanup_free char *shown = visible(word);
		if (!is_known)
			return error_set(err, ERROR_USAGE, "--wait %s: it takes waiting, idle, busy, error and stopped, "
					 "with commas between them", shown);
		strvec_push(ret, word);
	}
	return 0;
}

/* The word that fits it now, NULL: none.  Borrowed from words. */
static const char *fitting_word(const struct strvec *words, const struct change *change)
{
	for (size_t i = 0; i < words->count; i++)
		if (streq(words->items[i], change->state) || streq(words->items[i], or_empty(change->activity)))
			return words->items[i];
	return NULL;
}

struct found {
	const struct strvec *words;
	bool json;
	struct json_object *array; /* of those that fit */
	struct strbuf lines;
	size_t sessions;           /* that there are */
};

static void found_free(struct found *found)
{
	json_object_put(found->array);
	strbuf_free(&found->lines);
}

static void collect(const struct change *change, void *context)
{
	struct found *found = context;
	char date[CLOCK_TEXT_SIZE];
	const char *word = fitting_word(found->words, change);
	found->sessions++;
	if (!word)
		return;
	cleanup_free char *title = visible(change->title);
	cleanup_free char *reason = visible(or_empty(change->reason));
	json_object_array_add(found->array, json_of_change(change));
	strbuf_addf(&found->lines, "%s (%s): %s", title, change->id, word);
	if (change->since_us > 0)
		strbuf_addf(&found->lines, " since %s", clock_format(change->since_us, date));
	strbuf_addf(&found->lines, "%s%s\n", *reason ? ": " : "", reason);
}

/* Print those that fit.  Returns how many. */
static size_t print_found(struct changes *changes, const struct strvec *words, bool json,
			  size_t *ret_sessions)
{
	CLEANUP(found_free) struct found found = { .words = words, .array = json_object_new_array() };
	changes_each(changes, collect, &found);
	const size_t count = json_object_array_length(found.array);
	*ret_sessions = found.sessions;
	if (count == 0)
		return 0;
	if (json)
		print_json(found.array);
	else
		fputs(strbuf_text(&found.lines), stdout);
	return count;
}

static int parse_timeout(const struct app *app, int64_t *ret_deadline_ms, struct error *err)
{
	const char *text = option_value(app, "timeout");
	int64_t seconds;
	*ret_deadline_ms = INT64_MAX;
	if (!text)
		return 0;
	if (!parse_int64(text, 0, LONGEST_TIMEOUT_S, &seconds)) {
		cleanup_free char *shown = visible(text);
		return error_set(err, ERROR_USAGE, "--timeout %s: give whole seconds", shown);
	}
	*ret_deadline_ms = clock_ms() + seconds * 1000;
	return 0;
}

static int resolve_all(struct app *app, struct strvec *ret_ids, struct error *err)
{
	for (size_t i = 0; i < app->operands.count; i++) {
		cleanup_store_rows struct store_rows rows = { 0 };
		const struct store_row *row;
		if (app_resolve(app, app->operands.items[i], &rows, &row, err) < 0)
			return -1;
		strvec_push(ret_ids, row->id);
	}
	return 0;
}

static int wait_for(struct app *app, const char *text, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 }, ids = { 0 };
	cleanup_changes struct changes *changes = NULL;
	size_t sessions;
	int64_t deadline_ms;
	if (parse_words(text, &words, err) < 0 || parse_timeout(app, &deadline_ms, err) < 0 ||
	    resolve_all(app, &ids, err) < 0)
		return -1;
	const struct changes_wish wish = { .looks = true, .ids = ids.count ? &ids : NULL };
	if (changes_open(&app->deck, &wish, &changes, err) < 0)
		return -1;
	while (print_found(changes, &words, app->json, &sessions) == 0) {
		if (ids.count && sessions == 0)
			return error_set(err, ERROR_NOT_FOUND, "removed meanwhile: nothing is left to wait for");
		int r = changes_wait(changes, deadline_ms, NULL, NULL, err);
		if (r == CHANGES_TIMEOUT)
			return error_set(err, ERROR_TIMEOUT, "no session was %s within %s s", text,
					 option_value(app, "timeout"));
		if (r < 0)
			return -1;
	}
	return 0;
}

static int run(struct app *app, struct error *err)
{
	const char *words = option_value(app, "wait");
	if (words)
		return wait_for(app, words, err);
	if (app->operands.count || option_given(app, "timeout"))
		return error_set(err, ERROR_USAGE, "sessions and --timeout go with --wait; all that is known of one is "
				 "told by: agentdeck session show SESSION");
	return count_all(app, err);
}

static const struct command_option options[] = {
	{ 'w', "wait", "WORDS", "until a session is waiting, idle, busy, error or stopped" },
	{ 0, "timeout", "SECONDS", "give up after so long, with exit status 1" },
	{ 0 },
};

const struct command command_status = {
	.name = "status",
	.arguments = "[SESSION...]",
	.summary = "count the sessions by state, or wait for one",
	.description =
		"What an agent is doing is told by its own reports.  Where it makes none, its screen is read by the\n"
		"patterns of its entry (docs/adding-an-agent.md); where these fit nothing, it is not known.\n\n"
		"With --wait it blocks until one of the sessions (without any: one of the profile) is what a word\n"
		"says, prints which, and ends; at once if that is so already.  Several words have commas between\n"
		"them:\n\n"
		"  waiting   it wants an answer, a permission, a choice\n"
		"  idle      it has finished its turn\n"
		"  busy      it works\n"
		"  error     it has ended without being asked, or could not be started\n"
		"  stopped   it does not run, and that is as it should be\n\n"
		"Nothing is polled but the screens of agents that make no reports: once a second.",
	.options = options,
	.max_operands = 1000,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = run,
};
