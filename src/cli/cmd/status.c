/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "cli/show/progress.h"

#include "base/clock.h"
#include "engine/roster/facts.h"
#include "engine/roster/roster.h"
#include "engine/run/correct.h"
#include "model/session/look.h"

#include <string.h>
#include <unistd.h>

struct options {
	const char *wait;
	int64_t timeout_s; /* NO_TIMEOUT: not given */
};

enum { NO_TIMEOUT = -1 };

static const char *const waitable[] = { "waiting", "idle", "busy", "error", "stopped" };

static const struct command_option options[] = {
	{ 'w', "wait", "WORDS", "until a session is waiting, idle, busy, error or stopped",
	  TO_WORDS(wait, waitable) },
	{ 0, "timeout", "SECONDS", "give up after so long, with exit status 1",
	  TO_SECONDS(timeout_s, 0, 365 * 24 * 3600) },
	OPTION_ALL_HOSTS,
	{ 0 },
};

/* ---- counting ------------------------------------------------------------------------------- */

struct counts {
	size_t states[STATE_COUNT], doing[DOING_COUNT];
	size_t elsewhere, total;
};

static void count_one(const struct view *view, struct counts *counts)
{
	counts->total++;
	counts->doing[doing_of(view)]++;
	counts->elsewhere += view->is_silent && view->host != NULL;
	counts->states[view->state] += !view->is_silent;
}

static void print_counts_json(const struct counts *counts)
{
	cleanup_json struct json_object *answer = json_object_new_object();
	struct json_object *object = json_make_object(answer, "counts");
	for (size_t i = 0; i < STATE_COUNT; i++)
		json_set_int(object, instance_state_name((enum instance_state)i),
			     (int64_t)counts->states[i]);
	json_set_int(object, "unknown", (int64_t)counts->doing[DOING_UNKNOWN]);
	json_set_int(object, "elsewhere", (int64_t)counts->elsewhere);
	json_set_int(object, "busy", (int64_t)counts->doing[DOING_BUSY]);
	json_set_int(object, "waiting",
		     (int64_t)(counts->doing[DOING_ASKS] + counts->doing[DOING_WAITING]));
	json_set_int(object, "asks", (int64_t)counts->doing[DOING_ASKS]);
	json_set_int(object, "idle", (int64_t)counts->doing[DOING_IDLE]);
	json_set_int(object, "activity_unknown", (int64_t)counts->doing[DOING_RUNNING]);
	json_set_int(object, "total", (int64_t)counts->total);
	print_json(answer);
}

/* In the order and the words of the deck; on a terminal with its signs and colours, too. */
static void print_counts(const struct app *app, const struct counts *counts)
{
	struct skin skin;
	char begin[STYLE_SEQUENCE_SIZE] = "";
	skin_init(&skin, app->deck.settings.ui_theme, &app->deck.settings.ui_colors);
	for (enum doing doing = 0; doing < DOING_COUNT; doing++) {
		if (!counts->doing[doing])
			continue;
		if (app->color)
			(void)style_sequence(&skin.styles[doing_tone(doing)], style_colors(),
					     begin);
		printf("%s%s%s%zu %s%s, ", begin,
		       isatty(STDOUT_FILENO) ? doing_sign(doing, output_is_ascii(app)) : "",
		       isatty(STDOUT_FILENO) ? " " : "", counts->doing[doing], doing_name(doing),
		       *begin ? "\033[0m" : "");
		if (doing == DOING_UNKNOWN && counts->elsewhere)
			printf("%zu of them on another machine, ", counts->elsewhere);
	}
	printf("%zu in all\n", counts->total);
}

static int count_all(struct app *app, struct error *err)
{
	cleanup_roster struct roster *roster = NULL;
	struct counts counts = { 0 };
	const struct roster_order order = { .profile = app->deck.profile,
					    .looks = ROSTER_LOOKS,
					    .asks = true };
	if (correct_list(&app->deck, &order, &roster, err) < 0)
		return -1;
	for (size_t i = 0; i < roster_count(roster); i++)
		if (!roster_at(roster, i)->row.archived_at)
			count_one(&roster_at(roster, i)->view, &counts);
	if (app->json) {
		print_counts_json(&counts);
		return 0;
	}
	print_counts(app, &counts);
	return 0;
}

/* ---- waiting -------------------------------------------------------------------------------- */

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
			return error_set(err, ERROR_USAGE,
					 "unknown state '%s' (states: waiting, idle, busy, error, "
					 "stopped; with commas between them)",
					 shown);
		strvec_push(ret, word);
	}
	return 0;
}

/* The word that fits the session now, borrowed from words; NULL if none does. */
static const char *fitting_word(const struct strvec *words, const struct roster_entry *entry)
{
	const struct facts facts = facts_of(entry);
	for (size_t i = 0; i < words->count; i++)
		if (streq(words->items[i], facts.status) ||
		    streq(words->items[i], or_empty(facts.activity)))
			return words->items[i];
	return NULL;
}

static void add_line(struct strbuf *lines, const struct roster_entry *entry, const char *word)
{
	char date[CLOCK_TEXT_SIZE];
	cleanup_free char *title = visible(entry->row.title);
	cleanup_free char *reason = visible(or_empty(entry->view.reason));
	strbuf_addf(lines, "%s (%s): %s", title, entry->row.id, word);
	if (entry->since_us > 0)
		strbuf_addf(lines, " since %s", clock_local(entry->since_us, date));
	strbuf_addf(lines, "%s%s\n", *reason ? ": " : "", reason);
}

/* Print those that fit.  Returns false if none does. */
static bool print_found(const struct roster *roster, const struct strvec *words, bool json)
{
	cleanup_json struct json_object *array = json_object_new_array();
	cleanup_strbuf struct strbuf lines = { 0 };
	for (size_t i = 0; i < roster_count(roster); i++) {
		const struct roster_entry *entry = roster_at(roster, i);
		const char *word = fitting_word(words, entry);
		if (!word)
			continue;
		json_object_array_add(array, json_of_entry(entry));
		add_line(&lines, entry, word);
	}
	if (lines.length == 0)
		return false;
	if (json)
		print_json(array);
	else
		fputs(strbuf_text(&lines), stdout);
	return true;
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

struct waiting {
	struct roster *roster;
	struct error *err;
	bool has_failed;
};

static void read_on(void *context)
{
	struct waiting *waiting = context;
	waiting->has_failed = waiting->has_failed || roster_read(waiting->roster, waiting->err) < 0;
}

static int wait_for(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_strvec struct strvec words = { 0 }, ids = { 0 };
	cleanup_loop struct loop *loop = NULL;
	cleanup_roster struct roster *roster = NULL;
	struct waiting waiting = { .err = err };
	const int64_t deadline_ms = given->timeout_s == NO_TIMEOUT
					    ? INT64_MAX
					    : clock_ms() + given->timeout_s * 1000;
	if (parse_words(given->wait, &words, err) < 0 || resolve_all(app, &ids, err) < 0 ||
	    loop_new(&loop, err) < 0)
		return -1;
	const struct roster_order order = { .loop = loop,
					    .due = read_on,
					    .profile = app->deck.profile,
					    .ids = ids.count ? &ids : NULL,
					    .looks = ROSTER_LOOKS,
					    .asks = true };
	if (roster_open(&app->deck, &order, NULL, &waiting, &roster, err) < 0)
		return -1;
	waiting.roster = roster;
	read_on(&waiting);
	bool is_told = app->quiet || !(app->json || isatty(STDERR_FILENO));
	while (!waiting.has_failed && !print_found(roster, &words, app->json)) {
		if (!is_told && !app->json)
			complain("waiting until a session is %s; Ctrl-C ends that", given->wait);
		if (ids.count && roster_count(roster) == 0)
			return error_set(err, ERROR_NOT_FOUND,
					 "removed meanwhile: nothing is left to wait for");
		if (clock_ms() >= deadline_ms)
			return error_set(err, ERROR_TIMEOUT, "no session was %s within %lld s",
					 given->wait, (long long)given->timeout_s);
		if (!is_told && app->json)
			progress_line("waiting until a session is in that state", false);
		is_told = true;
		if (output_turn(loop, deadline_ms, err) < 0)
			return -1;
	}
	return waiting.has_failed ? -1 : 0;
}

static int cmd_status(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	if (given->wait)
		return wait_for(app, err);
	if (app->operands.count || given->timeout_s != NO_TIMEOUT)
		return error_set(err, ERROR_USAGE,
				 "sessions and --timeout need --wait; to see one session: "
				 "agentdeck show SESSION");
	return count_all(app, err);
}

const struct command command_status = {
	.name = "status",
	.kind = COMMAND_READS,
	.arguments = "[SESSION...]",
	.summary = "count the sessions by state, or wait for one",
	OWN_OPTIONS,
	.defaults = &(const struct options){ .timeout_s = NO_TIMEOUT },
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_status,
};
