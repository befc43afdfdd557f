/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys go into the deck step by step, and what it wants and what it shows is compared.
 *
 * To add a case: a screen to begin with, and a table of steps for walk().
 */
#include "unit/play-fixture.h"

#include <locale.h>
#include <regex.h>
#include <stdlib.h>
#include <time.h>

enum { SHOWN_MOST = 4 };

struct step {
	const char *keys;
	/* Extended regular expressions of lines that are there, or with "!" are not. */
	const char *shows[SHOWN_MOST];
	const char *wants;          /* as check() has it; NULL: whatever */
	const char *says, *refuses; /* the command that is wanted, from now on */
	struct {
		unsigned short columns, rows;
	} size; /* the terminal gets it first; 0: it stays */
};

static bool has_tic;

static bool has_line(const char *drawn, const char *pattern)
{
	regex_t compiled;
	assert_int_equal(regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB), 0);
	const bool has = regexec(&compiled, drawn, 0, NULL, 0) == 0;
	regfree(&compiled);
	return has;
}

static void compare(const struct play *play, const struct step *step)
{
	cleanup_free char *drawn = face_text(false);
	for (size_t i = 0; i < SHOWN_MOST && step->shows[i]; i++) {
		const bool is_gone = *step->shows[i] == '!';
		if (has_line(drawn, step->shows[i] + is_gone) == is_gone)
			fail_msg("'%s' is not so after '%s':\n%s", step->shows[i], step->keys,
				 drawn);
	}
	if (step->wants && !streq(strbuf_text(&play->wants), step->wants))
		fail_msg("'%s' after '%s', and not '%s'", strbuf_text(&play->wants), step->keys,
			 step->wants);
}

static void take_step(struct play *play, const struct step *step)
{
	if (step->size.columns)
		face_resize(step->size.columns, step->size.rows);
	play->screen.result = play->screen.news = step->says;
	play->screen.refusal = step->refuses;
	strbuf_free(&play->wants);
	play_show(play);
	play_type(play, step->keys);
	compare(play, step);
}

static void begin(struct play *play, const struct screen *screen)
{
	if (!has_tic)
		skip();
	face_begin(&(struct face){ screen->kind, screen->theme, screen->size.columns,
				   screen->size.rows });
	play_begin(play, screen, NULL);
}

static void walk(const struct screen *screen, const struct step *steps, size_t count)
{
	cleanup_play struct play play = { 0 };
	begin(&play, screen);
	for (size_t i = 0; i < count; i++)
		take_step(&play, &steps[i]);
	face_end();
}
/* What is shown, at the end of a step. */
#define SEES(...)           .shows = { __VA_ARGS__ }
#define WALK(screen, steps) walk(screen, steps, ARRAY_SIZE(steps))

static const struct screen two = { .size = { 80, 24 }, .cast = CAST_TWO };

/* ---- the list --------------------------------------------------------------------------------- */

/* Its session does not wait any more, so that the filter hides it. */
static void the_screen_stays_while_its_user_types(void **state UNUSED)
{
	static const struct screen screen = { .size = { 80, 24 }, .cast = CAST_FEW };
	static const struct step typing = { .keys = "f i 'y" };
	static const struct step after = {
		.keys = "",
		SEES("Do you want to proceed\\?", "You type for api: fix login \\(busy\\)"),
	};
	cleanup_play struct play play = { 0 };
	begin(&play, &screen);
	list_remove(play.ui->list, list_find(play.ui->list, "id-02"));
	take_step(&play, &typing);
	list_change(play.ui->list, list_find(play.ui->list, "id-00"),
		    &(struct facts){
			    .key.id = "id-00", .title = "api: fix login", .doing = DOING_BUSY });
	assert_int_equal(list_lines(play.ui->list), 0);
	take_step(&play, &after);
	face_end();
}

/* A terminal that is too small for both has the list, and a larger one the preview again. */
static void a_small_terminal_has_the_list(void **state UNUSED)
{
	static const struct screen screen = { .size = { 80, 24 } };
	static const struct step steps[] = {
		{ "", SEES("Do you want to proceed\\?") },
		{ "", SEES("^ \\? web: cart"), .size = { 40, 12 } },
		{ "Tab", SEES("Do you want to proceed\\?") }, /* as asked for */
		{ "", SEES("Do you want to proceed\\?"), .size = { 30, 10 } },
		{ "", SEES("Do you want to proceed\\?"), .size = { 120, 35 } },
		{ "i", SEES("You type for api: fix login"), .size = { 40, 12 } },
		{ "Esc", SEES("^ \\? web: cart") },
	};
	WALK(&screen, steps);
}

static void a_wide_list_shows_what_the_sessions_use(void **state UNUSED)
{
	static const struct screen screen = { .size = { 120, 40 }, .cast = CAST_TWO };
	static const struct step steps[] = {
		{ "", SEES(" ○ web .* idle .* [0-9]+M +[0-9]+\\.[0-9]%$") },
		{ "o o o o", SEES("Sorted by memory", " ○ web .*\n · api ") },
		{ "", SEES("○ web", "![0-9]+M +[0-9]+\\.[0-9]%"), .size = { 80, 24 } },
	};
	static const struct step stopped = { "",
					     { " · web .* stopped +[0-9:]+ +[0-9]+[dwy]$" },
					     .size = { 120, 40 } };
	cleanup_play struct play play = { 0 };
	begin(&play, &screen);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		take_step(&play, &steps[i]);
	list_measure(play.ui->list, list_find(play.ui->list, "id-01"), -1, -1);
	list_change(play.ui->list, list_find(play.ui->list, "id-01"),
		    &(struct facts){ .key.id = "id-01",
				     .title = "web",
				     .agent = "demo",
				     .created_us = 1,
				     .since_us = NOON_US,
				     .doing = DOING_STOPPED });
	take_step(&play, &stopped);
	face_end();
}

/* One word is of the title, and the other of its last reply. */
static void a_search_looks_into_the_last_replies(void **state UNUSED)
{
	static const struct screen screen = {
		.size = { 120, 40 },
		.cast = CAST_TWO,
		.replies = "[{\"id\": \"id-00\", \"words\": [\"zebra\"]}]",
	};
	static const struct step steps[] = {
		{ "/ 'zebra", SEES("Search: zebra", "· api", "1 shown") },
		{ "Space 'ap", SEES("Search: zebra ap", "· api", "1 shown") },
		{ "Space 'xy", SEES("No session matches") },
		{ "Esc", SEES("  2 sessions  ", "!shown") },
	};
	WALK(&screen, steps);
}

static void a_refusal_is_told_in_words(void **state UNUSED)
{
	static const struct step steps[] = {
		{ "m", SEES("^Send to api:") },
		{ "'hi Enter", SEES("^Send to api: hi$", "api is not running"),
		  .wants = "line send --message-file - --session=id-00 <hi",
		  .refuses = "api is not running" },
		{ "Esc", SEES("\\? help") },
		{ "x", SEES("Stop api\\?", "^Enter Back") },
		{ "n", SEES("Nothing was done"), .wants = "" },
	};
	WALK(&two, steps);
}

static void the_lines_and_questions_name_their_session(void **state UNUSED)
{
	static const struct step steps[] = {
		{ "t", SEES("^Title of api: api") },
		{ "'2 Enter", SEES("^renamed"), .wants = "line rename -- id-00 api2",
		  .says = "renamed" },
		{ "M", SEES("^Group of api:") },
		{ "'zoo Enter", SEES("^moved"), .wants = "line set -- id-00 group zoo",
		  .says = "moved" },
		{ "d", SEES("Stop and remove api") },
		{ "Down Enter",
		  .wants = "ask settle --json -- remove id-00;run remove --force -- id-00" },
	};
	WALK(&two, steps);
}

/* ---- the preview ------------------------------------------------------------------------------ */

static void the_preview_scrolls(void **state UNUSED)
{
	static const struct screen screen = {
		.size = { 80, 24 },
		.cast = CAST_FEW,
		.shown = "first\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nlast\n",
	};
	static const struct step steps[] = {
		{ "Tab Tab Tab", SEES("─ api: fix login ─.*\\[facts\\]", "^first", "!^last") },
		{ "J J J J J J J J J", SEES("^last", "!^first") },
		{ "K K K K K K K K K K", SEES("^first", "!^last") },
		{ "Tab", SEES("─ api: fix login ─.*\\[log\\]", "^last", "!^first") },
		{ "K K K K K K K K K", SEES("^first", "!^last") },
		/* another session begins at its end */
		{ "Down Down Down", SEES("─ docs ─.*\\[log\\]", "^last", "!^first") },
		{ "Up Up Up", SEES("─ api: fix login ─.*\\[log\\]", "^last", "!^first") },
		{ "Tab", SEES("\\[changes\\]") },
		{ "Tab K", SEES("There is nothing to scroll") },
	};
	WALK(&screen, steps);
}

/* The wheel turns what it is over. */
static void the_wheel_scrolls_the_preview(void **state UNUSED)
{
	static const struct screen screen = {
		.size = { 80, 24 },
		.cast = CAST_FEW,
		.shown = "first\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nlast\n",
	};
	static const struct step steps[] = {
		{ "Tab Tab Tab", SEES("^first", "!^last") },
		{ "", SEES("^last", "!^first") },
		{ "", SEES("^first", "!^last") },
	};
	static const key_code wheel[ARRAY_SIZE(steps)] = { KEY_CODE_NONE, KEY_CODE_WHEEL_DOWN,
							   KEY_CODE_WHEEL_UP };
	cleanup_play struct play play = { 0 };
	begin(&play, &screen);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		play.ui->wheel_row = 18;
		play.ui->wheel_column = 4;
		for (size_t turns = 0; wheel[i] && turns < 9; turns++)
			play_press(&play, wheel[i]);
		take_step(&play, &steps[i]);
		assert_string_equal(list_selected(play.ui->list)->id, "id-00");
	}
	/* and the list */
	const size_t before = list_cursor(play.ui->list);
	play.ui->wheel_row = 3;
	play_press(&play, KEY_CODE_WHEEL_DOWN);
	assert_true(list_cursor(play.ui->list) > before);
	face_end();
}

/* ---- questions -------------------------------------------------------------------------------- */

static void unfinished_work_is_scrolled_and_answered(void **state UNUSED)
{
	static const struct screen screen = { .size = { 40, 12 },
					      .cast = CAST_TWO,
					      .answer = "@end" };
	static const struct step steps[] = {
		{ "s", SEES("lines 1-6", "^Enter Continue") },
		{ "PgUp PgDn PgDn PgDn PgDn PgDn PgDn PgDn", SEES("lines 33-38", "file-9") },
		{ "Enter", SEES("> Return to agent"), .wants = "" },
		{ "", SEES("Exit and keep - keep everything", "[!] Exit and clean up"),
		  .size = { 80, 24 } },
		/* going away changes nothing */
		{ "Esc", SEES("Nothing was done"), .wants = "" },
		{ "Enter", SEES("This session has unfinished work") },
		/* the answer is passed on: there is no second question */
		{ "Enter Enter", .wants = "attach --asked -- id-00" },
		{ "s Enter Down", SEES("> Exit and keep") },
		{ "Enter", .wants = "run settle --answer keep --seen 5ee9 -- start id-00" },
		{ "s Enter Down Down", SEES("> ! Exit and clean up") },
		{ "Enter", SEES("has changed since it was shown"),
		  .wants = "run settle --answer clean --seen 5ee9 -- start id-00",
		  .says = "the work of api has changed since it was shown" },
	};
	WALK(&screen, steps);
}

static void removed_sessions_are_shown_before_they_are_deleted(void **state UNUSED)
{
	static const struct screen screen = { .size = { 40, 12 },
					      .cast = CAST_TWO,
					      .answer = "@prune" };
	static const struct screen none = {
		.size = { 80, 24 },
		.cast = CAST_TWO,
		.answer = "{\"occasion\": \"prune\", \"id\": \"\", \"about\": \"nothing\", "
			  "\"questions\": [], \"text\": \"The trash is empty.\"}",
	};
	static const struct step empty = { .keys = "p", SEES("^The trash is empty\\.") };
	static const struct step steps[] = {
		{ "p",
		  SEES("^Delete these for good\\? The conversations$",
		       "^  docs, id-d, removed 2026-11-27$", "^  ! Delete them"),
		  .wants = "ask settle --json -- prune" },
		{ "Enter", SEES("Nothing was done"), .wants = "" },
		{ "p", SEES("removed sessions \\(2\\)") },
		{ "Down Enter", SEES("^Deleted 2 removed"),
		  .wants = "run settle --answer clean --seen 5ee9 -- prune",
		  .says = "Deleted 2 removed sessions." },
		{ "u", .wants = "run undo" },
	};
	WALK(&screen, steps);
	walk(&none, &empty, 1);
}

static void what_was_lost_is_asked_about(void **state UNUSED)
{
	static const struct screen screen = { .size = { 40, 12 }, .cast = CAST_TWO, .how = LOST };
	static const struct step steps[] = {
		{ "", SEES("^and does not\\?$") },
		/* Enter loses nothing and starts nothing */
		{ "Enter", SEES("Nothing was done"), .wants = "", .size = { 80, 24 } },
		{ "R", SEES("Restart every session that should run") },
		{ "y", .wants = "run recover" },
	};
	WALK(&screen, steps);
}

/* ---- the form --------------------------------------------------------------------------------- */

#define NOTHING                                                                 \
	"{\"occasion\": \"launch\", \"id\": \"here\", \"about\": \"nothing\", " \
	"\"seen\": \"5ee9\", \"questions\": []}"

static void the_form_makes_a_session(void **state UNUSED)
{
	static const struct screen screen = {
		.size = { 80, 24 },
		.cast = CAST_NONE,
		.answer = NOTHING,
	};
	static const struct step steps[] = {
		{ "c", SEES("^new session") },
		{ "Ctrl-U 'o Tab", SEES("one/ +other/") },
		{ "'n Tab", SEES("^Directory +one/( |$)") },
		{ "Down 'demo Down Down Down Right Down",
		  SEES("^Agent +.*\\(demo\\)", "^Branch", "\\(worktree\\)") },
		{ "", SEES("^Enter make it  Esc back  Tab complete$"), .size = { 40, 12 } },
		/* its failure is told, and nothing is forgotten */
		{ "Enter", SEES("is not in a Git repository", "\\(worktree\\)"),
		  .wants = "ask settle --json --agent demo launch one/;"
			   "launch launch --agent demo --worktree --no-wait one/",
		  .refuses = "one is not in a Git repository" },
		{ "Esc", SEES("What you typed is kept; c shows"), .size = { 80, 24 } },
		{ "c", SEES("^Workspace +same tree  \\(worktree\\)") },
		{ "Up Left", SEES("!is not in a Git repository") },
		/* a pasted line is text */
		{ "Up Up", SEES("^Title") },
	};
	static const key_code pasted[] = {
		KEY_CODE_PASTE, 'm', 'y', KEY_CODE_ENTER, 'o', 'w', 'n', KEY_CODE_PASTE_END
	};
	static const struct step then[] = {
		{ "", SEES("^Title +my own( |$)") },
		{ "Down 'hi Enter", SEES("my own: made and started"),
		  .wants = "ask settle --json --agent demo --title my own launch one/;launch launch "
			   "--agent demo --title my own --message-file - one/ <hi",
		  .says = "my own: made and started" },
		/* the next one is empty, and knows the directories in use */
		{ "c", SEES("^Title( +empty|$)") },
		{ "Ctrl-R", SEES("^Directory .*/shop-api( |$)") },
	};
	cleanup_play struct play play = { 0 };
	begin(&play, &screen);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		take_step(&play, &steps[i]);
	for (size_t i = 0; i < ARRAY_SIZE(pasted); i++)
		play_press(&play, pasted[i]);
	for (size_t i = 0; i < ARRAY_SIZE(then); i++)
		take_step(&play, &then[i]);
	face_end();
}

/* Wide characters, and some from right to left; typing continues where it was, whatever the size. */
#define X50       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define LONG_PATH "a/日本語の長い名前 שלום-עולם/" X50 X50 X50 X50 "/yyyy/"
static void the_form_takes_any_text_at_any_size(void **state UNUSED)
{
	static const struct screen screen = {
		.size = { 120, 40 },
		.cast = CAST_NONE,
		.answer = NOTHING,
	};
	static const struct step steps[] = {
		{ "c Ctrl-U", SEES("^Directory +where") },
		{ "'a/日本語の長い名前 Space 'שלום-עולם/" X50 X50 X50 X50 "/yyyy/",
		  SEES("yyyy/$") },
		{ "Up Ctrl-U", SEES("^Group +archive") },
		{ "'work/グループ Down Down 'demo Down 'שלום Space '日本語 Left Left",
		  SEES("^Agent +.*\\(demo\\)", "^Title +.*日本語") },
		{ "'X", SEES("^Enter make it  Esc back  Tab next$", "^Title +.*日X本語"),
		  .size = { 40, 12 } },
		{ "", SEES("^Title +.*日X本語"), .size = { 80, 24 } },
		{ "", SEES("日X本語"), .size = { 30, 8 } },
		{ "Backspace Up Up",
		  SEES("^Enter make it  Esc back  Tab complete", "^Directory .*yyyy/$"),
		  .size = { 120, 40 } },
		{ "Home", SEES("^Directory  a/日本語の長い名前 ") },
		{ "End", SEES("^Directory .*yyyy/$") },
		/* nothing is cut */
		{ "Enter", SEES("made and started"),
		  .wants = "ask settle --json --agent demo --title שלום 日本語 launch " LONG_PATH
			   ";launch launch --agent demo --group work/グループ --title שלום 日本語 "
			   "--no-wait " LONG_PATH,
		  .says = "made and started", .size = { 40, 12 } },
	};
	WALK(&screen, steps);
}

static void what_is_typed_outlives_a_resize(void **state UNUSED)
{
	static const struct step steps[] = {
		{ "m 'hello", SEES("^Send to api: hello$") },
		{ "'1", SEES("ello1"), .size = { 20, 4 } },
		{ "'2", SEES("^Send to api: hello12$"), .size = { 139, 43 } },
		{ "'3 Esc", SEES("^What you typed is kept", "^Enter start and attach"),
		  .size = { 40, 12 } },
		{ "Home", SEES("!What you typed") },
		{ "c Ctrl-U '/tmp", SEES("/tmp") },
		{ "'x", SEES("/tmpx"), .size = { 30, 8 } },
		{ "", SEES("/tmpx"), .size = { 80, 24 } },
	};
	WALK(&two, steps);
}

/* ---- keys ------------------------------------------------------------------------------------- */

static void the_help_has_three_pages(void **state UNUSED)
{
	static const struct screen screen = { .keys = "?", .size = { 80, 24 } };
	cleanup_play struct play play = { 0 };
	begin(&play, &screen);
	play_type(&play, screen.keys);
	face_end();
	assert_int_equal(play.ui->help_pages, 3);
}

static void every_place_has_the_keys_of_the_configuration(void **state UNUSED)
{
	static const char *const bindings[] = {
		"help=F9",
		"up=F3",
		"down=F4",
		"back=F6",
		"line.accept=Ctrl-S",
		"line.cancel=Ctrl-G",
		"search.down=Ctrl-N",
		"form.accept=Ctrl-S",
		"form.cancel=Ctrl-G",
		"form.complete=Ctrl-T",
		"form.recent=Ctrl-O",
		"form.next=Ctrl-N",
		"form.choose-next=+",
		"form.clear=Ctrl-K",
		"question.yes=1",
		"stop=X",
		"quit=F10",
	};
	static const struct step steps[] = {
		{ "", SEES("F9 help  F10 quit") },
		{ "x", SEES("x does nothing here; F9 lists the keys") },
		{ "/", SEES("^Ctrl-S keep  Ctrl-G cancel") },
		{ "'web Ctrl-S", SEES("F6 show all") },
		{ "F6 Q", SEES("Q does nothing here; F9 lists the keys") },
		{ "m", SEES("^Ctrl-S do it  Ctrl-G cancel") },
		{ "Enter X", SEES("Enter Back  1 yes  Esc cancel  F3, F4 choose") },
		{ "Esc c",
		  SEES("^Ctrl-S make it  Ctrl-G back  Ctrl-T complete  Ctrl-O recent  Ctrl-K empty") },
		{ "Ctrl-N",
		  SEES("^Ctrl-S make it  Ctrl-G back  Ctrl-T next  Left, \\+ choose  Ctrl-K empty") },
		{ "Tab Ctrl-G", SEES("F9 help") },
		{ "F9", SEES("F3, F4 page 1 of") },
		{ "/ 'keep", SEES("a search: keep it") },
		{ "Ctrl-G", SEES("F3, F4 page 1 of") },
		{ "/ 'down", SEES("Ctrl-N ") },
	};
	static const struct screen screen = { .size = { 80, 24 } };
	cleanup_play struct play play = { 0 };
	begin(&play, &screen);
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		assert_int_equal(keymap_bind(&play.ui->keymap, bindings[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		take_step(&play, &steps[i]);
	face_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screen_stays_while_its_user_types),
		cmocka_unit_test(a_small_terminal_has_the_list),
		cmocka_unit_test(a_wide_list_shows_what_the_sessions_use),
		cmocka_unit_test(a_search_looks_into_the_last_replies),
		cmocka_unit_test(a_refusal_is_told_in_words),
		cmocka_unit_test(the_lines_and_questions_name_their_session),
		cmocka_unit_test(the_preview_scrolls),
		cmocka_unit_test(the_wheel_scrolls_the_preview),
		cmocka_unit_test(unfinished_work_is_scrolled_and_answered),
		cmocka_unit_test(removed_sessions_are_shown_before_they_are_deleted),
		cmocka_unit_test(what_was_lost_is_asked_about),
		cmocka_unit_test(the_form_makes_a_session),
		cmocka_unit_test(the_form_takes_any_text_at_any_size),
		cmocka_unit_test(what_is_typed_outlives_a_resize),
		cmocka_unit_test(the_help_has_three_pages),
		cmocka_unit_test(every_place_has_the_keys_of_the_configuration),
	};
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	(void)setenv("TZ", "UTC", 1);
	tzset();
	has_tic = face_set_up();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	face_tear_down();
	return failed;
}
