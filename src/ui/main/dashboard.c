/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/dashboard.h"

#include "base/clock.h"
#include "engine/roster/facts.h"
#include "engine/roster/lost.h"
#include "engine/run/correct.h"
#include "engine/supervise/screens.h"
#include "engine/supervise/supervise.h"
#include "model/session/naming.h"
#include "ui/draw/draw.h"
#include "ui/draw/wall.h"
#include "ui/main/clip.h"
#include "ui/main/errand.h"
#include "ui/main/gallery.h"
#include "ui/main/greet.h"
#include "ui/main/keepsake.h"
#include "ui/main/links.h"
#include "ui/main/meter.h"
#include "ui/main/peek.h"
#include "ui/main/seek.h"
#include "ui/main/supply.h"
#include "ui/main/typist.h"
#include "ui/term/term.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A storm of events is drawn at most so often; a key is drawn at once. */
enum { FRAME_MS = 50, CORRECT_MS = 50, ASK_MS = 90000, COMPLETE_MS = 5000, TURNS_MAX = 256 };

struct dashboard {
	struct deck *deck;
	struct loop *loop;
	struct roster *roster;
	struct ui *ui;
	struct errands errands;
	struct glance glance;
	struct screens screens;
	struct peek *peek;
	struct typist typist;
	struct seek *seek;
	struct meter *meter;
	struct links *links; /* NULL: there are no other hosts, or they are not shown */
	const struct wall_order *wall_order; /* NULL: it shows the list, and no wall */
	struct wall wall;
	struct gallery *gallery;
	struct error *err;
	const char *client; /* the terminal that is to show what is chosen; NULL: attach it here */
	bool is_changed;    /* there is something to draw */
	bool is_urgent;     /* and the user waits for it */
	bool is_awaiting;   /* after a failure on the given back terminal: the user's Enter */
	bool is_over, has_failed;
	int signal;         /* that ended it; 0: none */
	char *next_profile; /* where the user goes; NULL: nowhere */
	int64_t drawn_ms;
};

/* ---- the roster ------------------------------------------------------------------------------- */

static bool is_named(const struct wall_order *order, const char *id)
{
	for (size_t i = 0; order->ids[i]; i++)
		if (streq(order->ids[i], id))
			return true;
	return false;
}

/* Does the wall show it?  A session that ends keeps its tile. */
static bool is_shown(const struct dashboard *dashboard, const struct roster_entry *entry,
		     const struct facts *facts)
{
	const struct wall_order *order = dashboard->wall_order;
	if (!order)
		return true;
	if (order->ids)
		return is_named(order, facts->key.id);
	if (order->group && !naming_is_in_group(or_empty(facts->group), order->group))
		return false;
	return entry->owner || !doing_is_at_rest(facts->doing);
}

static void forget(struct dashboard *dashboard, struct roster_entry *entry)
{
	if (!entry->owner)
		return;
	meter_forget(entry->owner);
	list_remove(dashboard->ui->list, TAKE_PTR(entry->owner));
}

/* The first frame comes before any look. */
static void on_output(struct dashboard *dashboard, struct roster_entry *entry)
{
	if (!dashboard->drawn_ms)
		roster_look_later(entry);
	else if (!supervise_is_running(dashboard->deck))
		screens_look(&dashboard->screens, entry);
}

static void on_event(const struct roster_event *event, void *context)
{
	struct dashboard *dashboard = context;
	struct roster_entry *entry = event->entry;
	if (event->what == ROSTER_OUTPUT) {
		on_output(dashboard, entry);
		return;
	}
	struct list *list = dashboard->ui->list;
	const struct facts facts = facts_of(entry);
	dashboard->is_changed = true;
	if (event->what == ROSTER_REMOVED || !is_shown(dashboard, entry, &facts)) {
		forget(dashboard, entry);
	} else if (!entry->owner) {
		entry->owner = list_add(list, &facts);
	} else {
		list_change(list, entry->owner, &facts);
	}
	if (streq(or_empty(dashboard->ui->preview.id), entry->row.id))
		dashboard->ui->preview.is_stale = true;
	if (dashboard->gallery)
		gallery_note(dashboard->gallery, entry->row.id);
}

static void read_on(void *context)
{
	struct dashboard *dashboard = context;
	if (!dashboard->has_failed && roster_read(dashboard->roster, dashboard->err) < 0)
		dashboard->has_failed = true;
}

/* What is stored and not true is corrected, as every listing does it. */
static void correct_all(struct dashboard *dashboard)
{
	const int64_t deadline = clock_ms() + CORRECT_MS;
	for (size_t i = 0; i < roster_count(dashboard->roster) && clock_ms() < deadline; i++) {
		struct roster_entry *entry = roster_at(dashboard->roster, i);
		if (correct_row(dashboard->deck, entry->store, &entry->row))
			roster_look(entry);
	}
}

/* ---- the terminal ----------------------------------------------------------------------------- */

static void name_lost(struct dashboard *dashboard)
{
	struct ui *ui = dashboard->ui;
	if (ui->lacks_lost && ui->mode == MODE_DIALOG && ui->pending == ACTION_RECOVER)
		lost_tell(dashboard->roster, &ui->dialog.question);
	ui->lacks_lost = false;
}

static void frame(struct dashboard *dashboard)
{
	name_lost(dashboard);
	ui_settle_typing(dashboard->ui);
	if (dashboard->wall_order) {
		draw_wall(&dashboard->wall, dashboard->ui);
		gallery_settle(dashboard->gallery);
	} else {
		ui_fit(dashboard->ui, term_rows(), term_columns());
		draw(dashboard->ui, clock_wall_us());
		peek_settle(dashboard->peek);
		seek_settle(dashboard->seek);
		meter_settle(dashboard->meter);
		if (!dashboard->client)
			greet_settle(&dashboard->errands);
	}
	dashboard->drawn_ms = clock_ms();
	dashboard->is_changed = dashboard->is_urgent = false;
}

static void come_back(struct dashboard *dashboard)
{
	dashboard->is_awaiting = false;
	term_return();
	dashboard->is_changed = dashboard->is_urgent = true;
}

static void rest(struct dashboard *dashboard)
{
	peek_rest(dashboard->peek);
	gallery_rest(dashboard->gallery);
}

/* What it prints stays until its user has read it, if it failed or is_read. */
static void on_terminal(struct dashboard *dashboard, const char *command,
			const struct strvec *words, bool is_read)
{
	cleanup_error struct error why = { 0 };
	rest(dashboard);
	term_leave();
	/* What is above belongs to an earlier one. */
	if (is_read)
		fprintf(stderr, "\n");
	const int status = errand_terminal(&dashboard->errands, command, words, &why);
	if (is_read)
		ui_shown(dashboard->ui, status == 0);
	if (status == 0 && !is_read) {
		come_back(dashboard);
		return;
	}
	/* What the command has said is on the screen. */
	if (status < 0)
		fprintf(stderr, "agentdeck: %s\n", why.message);
	else if (is_read && status > 0)
		fprintf(stderr, "It failed, with exit status %d.\n", status);
	fprintf(stderr, "Press Enter to go back to the deck.\n");
	dashboard->is_awaiting = true;
}

/* Let the signal stop us, as if we were any program. */
static void suspend(struct dashboard *dashboard)
{
	sigset_t one;
	rest(dashboard);
	term_leave();
	(void)sigemptyset(&one);
	(void)sigaddset(&one, SIGTSTP);
	(void)kill(0, SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* Back from it. */
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
	come_back(dashboard);
}

static void grant(struct dashboard *dashboard, const struct wish *wish);

struct inquiry {
	struct dashboard *dashboard;
	unsigned ticket;
};

static void on_asked(const struct child_result *result, const struct error *failure, void *context)
{
	cleanup_free struct inquiry *inquiry = context;
	struct dashboard *dashboard = inquiry->dashboard;
	cleanup_wish struct wish wish = { 0 };
	const bool is_told = result && result->exit_status == 0;
	if (!is_told && ui_awaits(dashboard->ui, inquiry->ticket))
		errand_tell(&dashboard->errands, result, failure);
	ui_asked(dashboard->ui, inquiry->ticket, is_told ? strbuf_text(&result->output) : NULL,
		 &wish);
	dashboard->is_changed = dashboard->is_urgent = true;
	grant(dashboard, &wish);
}

/* In another process: reading a large tree takes its time. */
static void ask(struct dashboard *dashboard, const struct wish *wish)
{
	const struct errand errand = { .words = &wish->words, .timeout_ms = ASK_MS };
	struct inquiry *inquiry = xcalloc(1, sizeof(*inquiry));
	*inquiry = (struct inquiry){ dashboard, wish->ticket };
	errand_start(&dashboard->errands, &errand, on_asked, inquiry);
}

static void on_completed(const struct child_result *result, const struct error *failure UNUSED,
			 void *context)
{
	struct dashboard *dashboard = context;
	ui_completed(dashboard->ui, result ? strbuf_text(&result->output) : "");
	dashboard->is_changed = dashboard->is_urgent = true;
}

static void complete(struct dashboard *dashboard, const struct wish *wish)
{
	const struct errand errand = { .words = &wish->words, .timeout_ms = COMPLETE_MS };
	errand_start(&dashboard->errands, &errand, on_completed, dashboard);
}

static void open_form(struct dashboard *dashboard)
{
	struct form_supply supply = { 0 };
	struct list *list = dashboard->ui->list;
	cleanup_free char *start = NULL;
	if (list_lines(list) > 0)
		start = supply_start(dashboard->deck, dashboard->roster,
				     list_line(list, list_cursor(list)));
	if (!start)
		start = getcwd(NULL, 0);
	supply_gather(dashboard->deck, dashboard->roster, &supply);
	ui_open_form(dashboard->ui, &supply, or_empty(start));
	form_supply_free(&supply);
}

static void find(struct dashboard *dashboard, const char *directory)
{
	cleanup_strvec struct strvec names = { 0 };
	supply_directories(directory, &names);
	form_complete(&dashboard->ui->form, &names);
}

static void on_launched(const struct child_result *result, const struct error *failure,
			void *context)
{
	struct dashboard *dashboard = context;
	bool is_good;
	cleanup_free char *text = errand_launched(result, failure, &is_good);
	ui_launched(dashboard->ui, text, is_good);
	dashboard->is_changed = dashboard->is_urgent = true;
}

static void launch(struct dashboard *dashboard, const struct wish *wish)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push(&words, wish->words.items[0]);
	strvec_push(&words, "--json");
	strvec_push_array(&words, (const char *const *)wish->words.items + 1);
	const struct errand errand = { .words = &words, .input = wish->input };
	errand_start(&dashboard->errands, &errand, on_launched, dashboard);
}

/* Another profile is another deck: this one ends, and its errands continue. */
static void go_to_next_profile(struct dashboard *dashboard)
{
	cleanup_error struct error why = { 0 };
	cleanup_strvec struct strvec names = { 0 };
	const char *now = dashboard->deck->profile;
	if (deck_profiles(dashboard->deck, &names, &why) < 0) {
		cleanup_free char *shown = visible(why.message);
		ui_tell(dashboard->ui, shown, true);
		return;
	}
	size_t next = 0;
	while (next < names.count && strcmp(names.items[next], now) <= 0)
		next++;
	const char *name = names.count ? names.items[next % names.count] : now;
	dashboard->ui->profiles = names.count;
	if (streq(name, now)) {
		ui_tell(dashboard->ui, "There is no other profile.", false);
		return;
	}
	dashboard->next_profile = xstrdup(name);
	dashboard->is_over = true;
}

static void count_profiles(struct dashboard *dashboard)
{
	cleanup_strvec struct strvec names = { 0 };
	if (deck_profiles(dashboard->deck, &names, NULL) == 0)
		dashboard->ui->profiles = names.count;
}

static void on_switched(const struct child_result *result, const struct error *failure,
			void *context)
{
	cleanup_free struct inquiry *inquiry = context;
	struct dashboard *dashboard = inquiry->dashboard;
	if (result && result->exit_status == 0)
		dashboard->is_over = true;
	else if (ui_awaits(dashboard->ui, inquiry->ticket))
		errand_tell(&dashboard->errands, result, failure);
}

/* The terminal takes the popup that we are in with it. */
static void switch_to(struct dashboard *dashboard, const struct wish *wish)
{
	cleanup_strvec struct strvec words = { 0 };
	struct inquiry *inquiry = xcalloc(1, sizeof(*inquiry));
	*inquiry = (struct inquiry){ dashboard, wish->ticket };
	strvec_push(&words, "switch");
	if (*dashboard->client)
		strvec_pushf(&words, "--client=%s", dashboard->client);
	strvec_push(&words, wish->words.items[0]);
	errand_start(&dashboard->errands, &(struct errand){ .words = &words }, on_switched,
		     inquiry);
}

static void grant(struct dashboard *dashboard, const struct wish *wish)
{
	if (dashboard->links && wish->kind != WISH_NOTHING)
		links_retry(dashboard->links, wish->kind == WISH_REDRAW
						      ? SIZE_MAX
						      : list_selected_host(dashboard->ui->list));
	switch (wish->kind) {
	case WISH_QUIT:
		dashboard->is_over = true;
		break;
	case WISH_SUSPEND:
		suspend(dashboard);
		break;
	case WISH_REDRAW:
		term_forget();
		break;
	case WISH_PROFILE:
		go_to_next_profile(dashboard);
		break;
	case WISH_SWITCH:
		switch_to(dashboard, wish);
		break;
	case WISH_ATTACH:
		on_terminal(dashboard, "attach", &wish->words, false);
		break;
	case WISH_TERMINAL:
		on_terminal(dashboard, NULL, &wish->words, false);
		break;
	case WISH_SHOW:
		on_terminal(dashboard, NULL, &wish->words, true);
		break;
	case WISH_COPY:
		clip_copy(&dashboard->errands, &wish->words);
		break;
	case WISH_ASK:
		ask(dashboard, wish);
		break;
	case WISH_RUN:
	case WISH_LINE:
		errand_run(&dashboard->errands, wish);
		break;
	case WISH_FORM:
		open_form(dashboard);
		break;
	case WISH_FIND:
		find(dashboard, wish->words.items[0]);
		break;
	case WISH_LAUNCH:
		launch(dashboard, wish);
		break;
	case WISH_COMPLETE:
		complete(dashboard, wish);
		break;
	case WISH_HALT:
		errand_halt(&dashboard->errands);
		break;
	case WISH_TYPE:
		typist_pass_on(&dashboard->typist);
		break;
	case WISH_NOTHING:
		break;
	}
}

static void click(struct dashboard *dashboard, struct wish *wish)
{
	size_t row, column;
	term_click(&row, &column);
	if (dashboard->wall_order)
		wall_click(&dashboard->wall, dashboard->ui, row, column, wish);
	else
		ui_click(dashboard->ui, row, column, wish);
}

static void on_keys(int fd, uint32_t events, void *context)
{
	struct dashboard *dashboard = context;
	char line[256];
	if (events & (EPOLLHUP | EPOLLERR) || term_is_gone()) {
		dashboard->is_over = true;
		dashboard->signal = SIGHUP;
		return;
	}
	if (dashboard->is_awaiting) {
		if (read(fd, line, sizeof(line)) > 0)
			come_back(dashboard);
		return;
	}
	for (key_code key; !dashboard->is_over && !dashboard->is_awaiting && (key = term_key());) {
		cleanup_wish struct wish wish = { 0 };
		if (dashboard->wall_order)
			wall_settle(&dashboard->wall, dashboard->ui->list, term_columns(),
				    draw_wall_height());
		term_click(&dashboard->ui->wheel_row, &dashboard->ui->wheel_column);
		if (key == KEY_CODE_CLICK)
			click(dashboard, &wish);
		else if (dashboard->wall_order)
			wall_key(&dashboard->wall, dashboard->ui, key, &wish);
		else
			ui_key(dashboard->ui, key, &wish);
		dashboard->is_changed = dashboard->is_urgent = true;
		grant(dashboard, &wish);
	}
}

static void on_signal(int number, void *context)
{
	struct dashboard *dashboard = context;
	dashboard->is_changed = true;
	/* Ctrl-C is an answer to "Press Enter", too. */
	if (number == SIGINT && dashboard->is_awaiting) {
		come_back(dashboard);
		return;
	}
	switch (number) {
	case SIGWINCH:
		term_resize();
		break;
	case SIGTSTP:
		suspend(dashboard);
		break;
	case SIGCONT:
		/* The shell that stopped us has changed the terminal. */
		if (!dashboard->is_awaiting) {
			term_leave();
			term_return();
		}
		break;
	default:
		dashboard->is_over = true;
		dashboard->signal = number;
		break;
	}
}

static int watch(struct dashboard *dashboard)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCONT
	};
	struct loop_source *source;
	const struct loop_io keys = { STDIN_FILENO, EPOLLIN, on_keys, dashboard };
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_add_signal(dashboard->loop, signals[i], on_signal, dashboard, &source,
				    dashboard->err) < 0)
			return -1;
	return loop_add_io(dashboard->loop, &keys, &source, dashboard->err);
}

/* Handle what there is, and wait for more if that is nothing. */
static int turn(struct dashboard *dashboard)
{
	int64_t deadline = INT64_MAX;
	if (dashboard->is_changed && !dashboard->is_awaiting) {
		if (dashboard->is_urgent || clock_ms() >= dashboard->drawn_ms + FRAME_MS)
			frame(dashboard);
		else
			deadline = dashboard->drawn_ms + FRAME_MS;
	}
	int r = loop_turn(dashboard->loop, deadline, dashboard->err);
	for (int i = 0; r == 1 && i < TURNS_MAX && !dashboard->is_urgent && !dashboard->is_over;
	     i++)
		r = loop_turn(dashboard->loop, 0, dashboard->err);
	return r < 0 ? -1 : 0;
}

/* Sessions that nothing restarts automatically. */
static void tell_lost(struct dashboard *dashboard)
{
	const struct lost lost = roster_lost(dashboard->roster);
	const size_t count = lost.in_restart + lost.otherwise;
	if (count == 0 || supervise_is_running(dashboard->deck))
		return;
	if (lost.in_restart) {
		ui_offer_recovery(dashboard->ui);
		return;
	}
	/* A broken configuration counts more. */
	if (dashboard->ui->message)
		return;
	char key[KEYMAP_TEXT_SIZE];
	(void)keymap_text(&dashboard->ui->keymap, ACTION_RECOVER, key);
	cleanup_free char *text =
		count == 1 ? xasprintf("1 session should run and does not: %s restarts it.", key)
			   : xasprintf("%zu sessions should run and do not: %s restarts them.",
				       count, key);
	ui_tell(dashboard->ui, text, true);
}

/* A mistake is shown, and the other keys and colours count. */
static void read_settings(struct dashboard *dashboard)
{
	const struct deck *deck = dashboard->deck;
	struct ui *ui = dashboard->ui;
	struct skin skin;
	skin_init(&skin, deck->settings.ui_theme, &deck->settings.ui_colors);
	term_use_skin(&skin);
	if (deck->config_problem)
		ui_tell(ui, deck->config_problem, true);
	for (size_t i = 0; i < deck->settings.ui_colors.count; i++) {
		cleanup_error struct error why = { 0 };
		if (skin_set(&skin, deck->settings.ui_colors.items[i], &why) < 0)
			ui_tell(ui, why.message, true);
	}
	for (size_t i = 0; i < deck->settings.ui_keys.count; i++) {
		cleanup_error struct error why = { 0 };
		if (keymap_bind(&ui->keymap, deck->settings.ui_keys.items[i], &why) < 0)
			ui_tell(ui, why.message, true);
	}
}

static int show(struct dashboard *dashboard)
{
	count_profiles(dashboard);
	read_settings(dashboard);
	const struct wall_order *wall = dashboard->wall_order;
	if (wall && wall->group) {
		cleanup_free char *group = visible(wall->group);
		dashboard->wall.scope = xasprintf("Group %s", group);
	} else if (wall && wall->ids) {
		dashboard->wall.scope = xstrdup("Those you chose");
	}
	if (!dashboard->client && !wall)
		tell_lost(dashboard);
	if (dashboard->client) {
		ui_begin_pick(dashboard->ui);
	} else if (!dashboard->wall_order) {
		dashboard->ui->wanted = dashboard->deck->settings.ui_preview ? PREVIEW_SCREEN
									     : PREVIEW_NONE;
		keepsake_read(dashboard->deck->paths.state, dashboard->deck->profile,
			      dashboard->ui);
		ui_begin(dashboard->ui, term_rows(), term_columns());
	}
	frame(dashboard);
	links_begin(dashboard->links);
	correct_all(dashboard);
	while (!dashboard->is_over && !dashboard->has_failed)
		if (turn(dashboard) < 0)
			return -1;
	return dashboard->has_failed ? -1 : dashboard->signal;
}

/* The order matters: what draws into the ui ends before it, and everything before the loop. */
static void dashboard_clear(struct dashboard *dashboard)
{
	links_free(dashboard->links);
	meter_free(dashboard->meter);
	gallery_free(dashboard->gallery);
	seek_free(dashboard->seek);
	peek_free(dashboard->peek);
	wall_free(&dashboard->wall);
	screens_clear(&dashboard->screens);
	glance_free(&dashboard->glance);
	ui_free(dashboard->ui);
	roster_close(dashboard->roster);
	loop_free(dashboard->loop);
}

static int open_roster(struct dashboard *dashboard)
{
	struct deck *deck = dashboard->deck;
	const struct roster_order order = { .loop = dashboard->loop,
					    .due = read_on,
					    .shows_first = !dashboard->client,
					    .looks = ROSTER_LOOKS_TELLS,
					    .profile = deck->profile };
	if (roster_open(deck, &order, on_event, dashboard, &dashboard->roster, dashboard->err) < 0)
		return -1;
	read_on(dashboard);
	return dashboard->has_failed ? -1 : 0;
}

/* What reads beside the loop. */
static int add_readers(struct dashboard *dashboard)
{
	struct roster *roster = dashboard->roster;
	struct errands *errands = &dashboard->errands;
	struct error *err = dashboard->err;
	dashboard->glance = (struct glance){ .errands = errands,
					     .deck = dashboard->deck,
					     .roster = roster };
	if (peek_new(&dashboard->glance, &dashboard->peek, err) < 0 ||
	    seek_new(errands, &dashboard->seek, err) < 0 ||
	    gallery_new(&dashboard->glance, &dashboard->wall, &dashboard->gallery, err) < 0 ||
	    meter_new(dashboard->loop, roster, dashboard->ui, &dashboard->is_changed,
		      &dashboard->meter, err) < 0)
		return -1;
	dashboard->typist = (struct typist){ .errands = errands,
					     .roster = roster,
					     .peek = dashboard->peek };
	return 0;
}

int dashboard_run(struct deck *deck, const struct dashboard_order *asked, char **ret_next,
		  struct error *err)
{
	const struct rlimit usual_files = { 0 };
	CLEANUP(dashboard_clear)
	struct dashboard dashboard = { .deck = deck,
				       .ui = ui_new(deck->profile),
				       .err = err,
				       .client = asked->client,
				       .wall_order = asked->wall };
	if (loop_new(&dashboard.loop, err) < 0)
		return -1;
	dashboard.errands = (struct errands){ dashboard.loop,        dashboard.ui,
					      asked->agentdeck,      deck->profile,
					      &dashboard.is_changed, NULL };
	if (!asked->client && !asked->wall &&
	    links_new(&dashboard.errands, deck, &dashboard.links, err) < 0)
		return -1;
	if (open_roster(&dashboard) < 0 || add_readers(&dashboard) < 0)
		return -1;
	dashboard.screens = (struct screens){ .deck = deck,
					      .program = asked->agentdeck,
					      .loop = dashboard.loop,
					      .roster = dashboard.roster,
					      .usual_files = &usual_files };
	if (watch(&dashboard) < 0 || term_begin(is_empty(getenv("NO_COLOR")), err) < 0)
		return -1;
	term_use_symbols(deck->settings.ui_ascii);
	if (deck->settings.ui_mouse)
		term_use_mouse();
	const int r = show(&dashboard);
	term_end();
	if (!asked->client && !asked->wall)
		keepsake_write(deck->paths.state, deck->profile, dashboard.ui);
	*ret_next = dashboard.next_profile;
	return r;
}
