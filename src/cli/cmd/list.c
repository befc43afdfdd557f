/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/listing.h"
#include "cli/show/live.h"
#include "cli/show/output.h"

#include "base/clock.h"
#include "engine/deck/hint.h"
#include "engine/hosts/hosts.h"
#include "engine/roster/lost.h"
#include "engine/run/correct.h"
#include "engine/supervise/supervise.h"
#include "model/session/naming.h"
#include "model/session/tags.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct options {
	const char *group;
	const char *status;
	struct strvec tags;
	bool archived;
	enum listing_order order;
	bool ids;
	bool whole;
	bool watch;
	const char *format;
};

static const char *const orders[] = {
	[LISTING_BY_TITLE] = "title", [LISTING_BY_AGE] = "age",  [LISTING_BY_STATUS] = "status",
	[LISTING_BY_GROUP] = "group", [LISTING_BY_USE] = "used",
};

static const struct offer formats = {
	.words = (const char *const[]){ "json", "table" },
	.count = 2,
	.also = &(const struct offer){ .words = listing_columns,
				       .count = LISTING_COLUMNS,
				       .is_list = true,
				       .lead = "table " },
};

static const struct command_option options[] = {
	{ 'g', "group", "GROUP", "only sessions in this group and in the groups below it",
	  TO_TEXT(group) },
	{ 0, "status", "STATUS", "only sessions with this status; several have commas between them",
	  TO_WORDS(status, listing_statuses) },
	{ 0, "tag", "TAG", "only sessions with this tag; may be repeated", TO_LIST(tags) },
	{ 0, "archived", NULL, "only archived sessions, which are not listed otherwise",
	  TO_FLAG(archived) },
	{ 0, "sort", "KEY", "by title, age, status, group or used (last used first)",
	  TO_CHOICE(order, orders) },
	{ 'q', "quiet", NULL, "print only the ids, one per line", TO_FLAG(ids) },
	{ 0, "no-trunc", NULL, "show whole texts and all columns", TO_FLAG(whole) },
	{ 'w', "watch", NULL, "show the list until you press q, and redraw it on every change",
	  TO_FLAG(watch) },
	{ 0, "format", "FORMAT", "json, table, or 'table COLUMNS' with commas between the columns",
	  TO_TEXT(format), .offer.also = &formats },
	OPTION_ALL_HOSTS,
	{ 0 },
};

/* ---- once ------------------------------------------------------------------------------------- */

static void print_listing_json(const struct listing *listing)
{
	cleanup_json_writer struct json_writer writer = { 0 };
	json_write_begin(&writer, NULL, '[');
	for (size_t i = 0; i < listing->count; i++) {
		const struct facts facts = facts_of(listing->shown[i]);
		json_write_begin(&writer, NULL, '{');
		json_write_facts(&writer, &facts, false);
		json_write_stamped_end(&writer);
		/* So thousands need the memory of a few. */
		print_written(&writer);
	}
	json_write_end(&writer, ']');
	puts(writer.text.data);
}

/* Only for people: a profile that cannot be read counts as empty. */
static bool other_profiles_have_some(const struct app *app)
{
	cleanup_strvec struct strvec names = { 0 };
	if (deck_profiles(&app->deck, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_store struct store *store = NULL;
		cleanup_store_rows struct store_rows rows = { 0 };
		if (!streq(names.items[i], app->deck.profile) &&
		    deck_open_profile(&app->deck, names.items[i], &store, NULL) == 0 &&
		    store_list(store, &rows, NULL) == 0 && rows.count)
			return true;
	}
	return false;
}

/* How many sessions the terminal has rows for, below the headings and above what follows. */
static size_t rows_for_sessions(const struct listing *listing)
{
	enum { ROWS_FOR_OTHERS = 4 };
	struct winsize size = { 0 };
	const bool may_fold = listing->is_for_eyes && listing->order == LISTING_BY_CREATION &&
			      !listing->statuses.count && !listing->group && !listing->tags &&
			      !listing->is_archive;
	if (!may_fold || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return SIZE_MAX;
	return size.ws_row > ROWS_FOR_OTHERS ? size.ws_row - ROWS_FOR_OTHERS : 1;
}

static void tell_sudo(void)
{
	const char *user = getenv("SUDO_USER");
	if (geteuid() != 0 || is_empty(user) || streq(user, "root"))
		return;
	cleanup_free char *shown = visible(user);
	printf("Under sudo, agentdeck has root's sessions. Those of %s: without sudo\n", shown);
}

static void print_table(const struct app *app, struct listing *listing, const struct roster *roster)
{
	const bool has_sessions = roster_count(roster) > 0;
	bool has_archive = false;
	for (size_t i = 0; !listing->is_archive && i < roster_count(roster); i++)
		has_archive |= roster_at(roster, i)->row.archived_at != 0;
	const struct options *given = app->options;
	if (!has_sessions && other_profiles_have_some(app)) {
		printf("No sessions in profile %s. Others have some: agentdeck profile list\n",
		       app->deck.profile);
		return;
	}
	if (!has_sessions) {
		cleanup_free char *directory = hint_named(app->deck.profile, "DIRECTORY");
		printf("No sessions yet. Make one with: agentdeck launch %s -t TITLE\n"
		       "Bring what you have with: agentdeck discover (conversations on disk),\n"
		       "agentdeck import (other tools).\n"
		       "agentdeck help lists the commands.\n",
		       directory);
		tell_sudo();
		return;
	}
	if (!listing->count) {
		printf("No session matches.%s\n",
		       has_archive ? " Some are archived: agentdeck list --archived" : "");
		return;
	}
	const struct listing_folded folded = listing_fold(listing, rows_for_sessions(listing));
	if (listing->count) {
		cleanup_table struct table *table = listing_table(listing, app);
		if (given->whole)
			table_print_whole(table);
		else
			table_print(table);
	}
	if (folded.others)
		printf("%zu more, %zu of them stopped: agentdeck list --no-trunc\n",
		       folded.others + folded.stopped, folded.stopped);
	else if (folded.stopped)
		printf("%zu stopped %s not shown: agentdeck list --status stopped shows %s.\n",
		       folded.stopped, folded.stopped == 1 ? "session is" : "sessions are",
		       folded.stopped == 1 ? "it" : "them");
}

/* The local time of the last boot: "09:14", with its date if that was another day. */
static void boot_time(char *buffer, size_t size)
{
	const time_t now = clock_wall_us() / (1000 * 1000),
		     boot = (clock_wall_us() / 1000 - clock_ms()) / 1000;
	struct tm today, then;
	(void)localtime_r(&now, &today);
	(void)localtime_r(&boot, &then);
	const bool is_today = today.tm_yday == then.tm_yday && today.tm_year == then.tm_year;
	if (strftime(buffer, size, is_today ? "%H:%M" : "%Y-%m-%d %H:%M", &then) == 0)
		*buffer = '\0';
}

/* Sessions that nothing restarts automatically. */
static void print_lost(const struct app *app, const struct roster *roster)
{
	const struct lost lost = roster_lost(roster);
	char when[32];
	if (!isatty(STDOUT_FILENO) || !(lost.in_restart || lost.otherwise) ||
	    supervise_is_running(&app->deck))
		return;
	boot_time(when, sizeof(when));
	if (lost.in_restart)
		printf("%zu %s lost in the restart at %s: agentdeck recover\n", lost.in_restart,
		       lost.in_restart == 1 ? "was" : "were", when);
	else
		printf("%zu ended and should run: agentdeck recover\n", lost.otherwise);
}

/* Print how many wait on other hosts, as last known: this asks no host. */
static void print_waiting_elsewhere(const struct app *app)
{
	const struct remotes *remotes = &app->deck.settings.hosts;
	for (size_t i = 0; isatty(STDOUT_FILENO) && i < remotes->count; i++) {
		char age[CLOCK_TEXT_SIZE];
		int64_t at_us = 0;
		const size_t count = hosts_waiting(&app->deck, &remotes->items[i], &at_us);
		if (count)
			printf("%zu %s on %s (%s ago): agentdeck list -A\n", count,
			       count == 1 ? "waits" : "wait", remotes->items[i].name,
			       clock_span(clock_wall_us() - at_us, age));
	}
}

static int print_once(struct app *app, struct listing *listing, struct error *err)
{
	const struct options *given = app->options;
	cleanup_roster struct roster *roster = NULL;
	const struct roster_order order = { .profile = app->deck.profile,
					    .looks = ROSTER_LOOKS_IF_OLD,
					    .asks = true };
	if (correct_list(&app->deck, &order, &roster, err) < 0)
		return -1;
	listing_select(listing, roster);
	if (app->json)
		print_listing_json(listing);
	else if (!given->ids)
		print_table(app, listing, roster);
	if (!app->json && !given->ids)
		print_lost(app, roster);
	if (!app->json && !given->ids)
		print_waiting_elsewhere(app);
	for (size_t i = 0; given->ids && i < listing->count; i++)
		say("%s", listing->shown[i]->row.id);
	return 0;
}

/* ---- again and again -------------------------------------------------------------------------- */

enum { TICK_MS = 1000 }; /* the times in the list grow by the second */

struct watching {
	struct app *app;
	struct listing *listing;
	struct error *err;
	struct roster *roster;
	struct live *live;
	struct loop_source *timer;
	bool has_failed;
};

static void show_again(void *context)
{
	struct watching *watching = context;
	const struct listing *listing = watching->listing;
	cleanup_strbuf struct strbuf page = { 0 };
	size_t doing[DOING_COUNT] = { 0 };
	listing_select(watching->listing, watching->roster);
	for (size_t i = 0; i < listing->count; i++)
		doing[doing_of(&listing->shown[i]->view)]++;
	strbuf_addf(&page, "%zu session%s, %zu %s, %zu %s; q quits\n\n", listing->count,
		    listing->count == 1 ? "" : "s", doing[DOING_ASKS], doing_name(DOING_ASKS),
		    doing[DOING_WAITING], doing_name(DOING_WAITING));
	if (listing->count) {
		cleanup_table struct table *table = listing_table(listing, watching->app);
		cleanup_free char *text = table_text(table, live_width(watching->live));
		strbuf_adds(&page, text);
	}
	watching->has_failed = watching->has_failed ||
			       live_show(watching->live, strbuf_text(&page), watching->err) < 0;
}

static void read_on(void *context)
{
	struct watching *watching = context;
	watching->has_failed = watching->has_failed ||
			       roster_read(watching->roster, watching->err) < 0;
	if (watching->live && !watching->has_failed)
		show_again(watching);
}

static void on_tick(void *context)
{
	struct watching *watching = context;
	show_again(watching);
	(void)loop_set_timer(watching->timer, clock_ms() + TICK_MS, NULL);
}

static int watch(struct app *app, struct listing *listing, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	cleanup_roster struct roster *roster = NULL;
	cleanup_live struct live *live = NULL;
	struct watching watching = { .app = app, .listing = listing, .err = err };
	if (!live_is_possible())
		return error_set(err, ERROR_USAGE,
				 "--watch needs a terminal: run agentdeck events instead");
	if (loop_new(&loop, err) < 0)
		return -1;
	const struct roster_order order = {
		.loop = loop,
		.due = read_on,
		.profile = app->deck.profile,
		.looks = supervise_is_running(&app->deck) ? ROSTER_LOOKS_NOT : ROSTER_LOOKS,
		.asks = true,
	};
	if (roster_open(&app->deck, &order, NULL, &watching, &roster, err) < 0)
		return -1;
	watching.roster = roster;
	read_on(&watching);
	if (watching.has_failed ||
	    loop_add_timer(loop, clock_ms() + TICK_MS, on_tick, &watching, &watching.timer, err) <
		    0 ||
	    live_open(loop, show_again, &watching, &live, err) < 0)
		return -1;
	watching.live = live;
	show_again(&watching);
	while (!watching.has_failed && !live_is_over(live))
		if (output_turn(loop, INT64_MAX, err) < 0)
			return -1;
	return watching.has_failed ? -1 : 0;
}

/* ---- the command line ------------------------------------------------------------------------- */

/* json, table, or table and the names of columns. */
static int set_format(struct app *app, struct listing *listing, struct error *err)
{
	const struct options *given = app->options;
	const char *format = given->format ? given->format : "table";
	if (streq(format, "json"))
		app->json = true;
	if (streq(format, "json") || streq(format, "table"))
		return listing_set_columns(listing, given->whole ? LISTING_ALL_COLUMNS : NULL, err);
	if (starts_with(format, "table "))
		return listing_set_columns(listing, format + strlen("table "), err);
	cleanup_free char *shown = visible(format);
	return error_set(err, ERROR_USAGE,
			 "unknown format '%s' (examples: json, table, 'table title,path')", shown);
}

static int cmd_list(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_listing struct listing listing = {
		.group = given->group,
		.is_archive = given->archived,
		.order = given->order,
		.is_for_eyes = isatty(STDOUT_FILENO) && !given->format && !given->whole,
		.has_ascii = output_is_ascii(app),
	};
	if (set_format(app, &listing, err) < 0 || tags_join(&given->tags, &listing.tags, err) < 0 ||
	    (given->status && listing_set_statuses(&listing, given->status, err) < 0) ||
	    (given->group && naming_check_group(given->group, err) < 0))
		return -1;
	if (app->json + given->ids + given->watch > 1)
		return error_set(err, ERROR_USAGE,
				 "use only one of JSON, --quiet and --watch at a time");
	return given->watch ? watch(app, &listing, err) : print_once(app, &listing, err);
}

const struct command command_list = {
	.name = "list",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "list the sessions and what they are doing",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_list,
};
