/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys go into the deck, and its cells are compared, in one process: no pty, no waiting.
 *
 * test-draw [--update] [NAME...]
 *
 * The golden screens are tests/unit/draw/NAME.txt: the text, and with STYLED a second page with a
 * letter for each cell that is not plain, and what the letters mean.  --update writes them: look at
 * each difference before you commit it.
 *
 * To add a screen: one row in `screens`, --update, look.  To prove one of the 20 changes that the
 * look of the deck was made of (`changes` below): write the name of a screen that would differ
 * without it.  A change that has landed must name one.
 */
#include "unit/play-fixture.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "ui/draw/sign.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <time.h>

/* ---- screens ---------------------------------------------------------------------------------- */

static const char long_refusal[] =
	"日本語 is wide, and this title is longer than any terminal that it is shown in, as users "
	"like them to be is not running: start it with agentdeck session start 'api: fix login'";

/* Long, wide, and written from right to left: the directory, the group, and a title with the cursor
 * inside. */
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define Y40 "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
#define ANY_TEXT                                                                             \
	"c Ctrl-U 'a/日本語の長い名前/שלום-עולם/" X50 X50 X50 X50 "/" Y40 Y40 "/ Up Ctrl-U " \
	"'work/グループ Down Down 'demo Down 'שלום Space '日本語 Left Left"

/* The same screen on each kind of terminal, and in each theme. */
#define STYLES(name, typed)                                                                \
	{ name "-8", typed, { 80, 20 }, .how = STYLED, .kind = FACE_8 },                   \
		{ name "-16", typed, { 80, 20 }, .how = STYLED, .kind = FACE_16 },         \
		{ name "-256", typed, { 80, 20 }, .how = STYLED },                         \
		{ name "-true",      typed,                                                \
		  { 80, 20 },        .how = STYLED,                                        \
		  .kind = FACE_TRUE, .theme = THEME_COLOR_BLIND },                         \
		{ name "-none", typed, { 80, 20 }, .how = STYLED, .kind = FACE_NO_COLOR }, \
		{ name "-dark", typed, { 80, 20 }, .how = STYLED, .theme = THEME_DARK },   \
	{                                                                                  \
		name "-light", typed, { 80, 20 }, .how = STYLED, .theme = THEME_LIGHT      \
	}

static const struct screen screens[] = {
	{ "list-80x24", "", .size = { 80, 24 } },
	{ "list-120x35", "", .size = { 120, 35 } },
	{ "list-200x50", "", .size = { 200, 50 } },
	{ "list-40x12", "", .size = { 40, 12 } },
	{ "few-80x24", "", { 80, 24 }, .cast = CAST_FEW },
	{ "tags-100x24", "", { 100, 24 }, .cast = CAST_TAGGED },
	{ "tags-ascii", "/ '#urgent", { 80, 24 }, .cast = CAST_TAGGED, .kind = FACE_ASCII },
	{ "tags-archive", "f f f", { 80, 24 }, .cast = CAST_TAGGED },
	{ "none-80x24", "", { 80, 24 }, .cast = CAST_NONE },
	{ "none-40x12", "Down", { 40, 12 }, .cast = CAST_NONE },

	{ "colours-8", "Down", { 120, 24 }, .how = STYLED, .kind = FACE_8 },
	{ "colours-16", "Down", { 120, 24 }, .how = STYLED, .kind = FACE_16 },
	{ "colours-256", "Down", { 120, 24 }, .how = STYLED },
	{ "colours-true",
	  "Down",
	  { 120, 24 },
	  .how = STYLED,
	  .kind = FACE_TRUE,
	  .theme = THEME_COLOR_BLIND },
	{ "colours-none", "Down", { 120, 24 }, .how = STYLED, .kind = FACE_NO_COLOR },
	{ "ascii", "", { 120, 24 }, .how = STYLED, .kind = FACE_ASCII },
	{ "theme-default", "", { 112, 24 }, .how = STYLED },
	{ "theme-dark", "", { 112, 24 }, .how = STYLED, .theme = THEME_DARK },
	{ "theme-light", "", { 112, 24 }, .how = STYLED, .theme = THEME_LIGHT },
	{ "theme-color-blind",
	  "",
	  { 112, 24 },
	  .how = STYLED,
	  .kind = FACE_TRUE,
	  .theme = THEME_COLOR_BLIND },

	STYLES("styled-form", "c Down Right"),
	STYLES("styled-permission", "A"),
	STYLES("styled-help", "?"),

	{ "picker-76x20", "", { 76, 20 }, .how = PICKER },
	/* What a popup of 76x20 has inside its border. */
	{ "picker-74x18", "", { 74, 18 }, .how = PICKER },
	{ "picker-40x10", "'web", { 40, 10 }, .how = PICKER },
	{ "approve-80x24", "A", .size = { 80, 24 } },
	{ "choices-80x24",
	  "A 2",
	  { 80, 24 },
	  .answer = "{\"id\": \"x\", \"question\": \"Which colour?\\n   1. Red\\n   2. Blue\", "
		    "\"digest\": \"d1\", \"choices\": [\"1\", \"2\"], "
		    "\"labels\": [\"1. Red\", \"2. Blue\"]}" },
	{ "changes-80x24", "Tab Tab Tab Tab Tab", .size = { 80, 24 } },
	{ "type-80x24", "i 'yes", .size = { 80, 24 } },
	{ "type-120x35", "i 'yes", .size = { 120, 35 } },
	{ "type-40x12", "i 'yes", .size = { 40, 12 } },
	{ "fork-40x12", "F", .size = { 40, 12 } },
	{ "footer-group", "Down Down Down Down Down", .size = { 80, 24 } },
	{ "footer-stopped", "End", .size = { 80, 24 } },
	{ "footer-error", "Down Down", .size = { 80, 24 } },
	{ "error-40x12", "Down Down", .size = { 40, 12 } },
	{ "long-news-80x24",
	  "Down Down d y",
	  { 80, 24 },
	  .news = "Removed broken build. Its conversation 0a1b2c3d stays with claude. To restore "
		  "it: agentdeck undo 0a1b2c3d" },
	{ "footer-after", "Down Down d y", { 80, 24 }, .news = "Removed broken build." },
	{ "refused-line", "m 'hello Enter", { 80, 24 }, .refusal = "its agent asks something else" },
	{ "refusal-80x24", "m 'hello Enter", { 80, 24 }, .refusal = long_refusal },
	{ "refusal-40x12", "m 'hello Enter", { 40, 12 }, .refusal = long_refusal },
	{ "refusal-end", "m 'hello Enter Down", { 40, 12 }, .refusal = long_refusal },
	{ "stop-80x24", "x", .size = { 80, 24 } },
	{ "preview-40x12", "Tab Tab", .size = { 40, 12 } },
	{ "many-starts", "Down Down Down Down Down s", .size = { 80, 24 } },
	{ "again-80x24", "o Tab Tab Tab Tab", { 80, 24 }, .how = AGAIN },
	{ "filter-80x24", "f", .size = { 80, 24 } },
	{ "filter-24x12", "f Down", .size = { 24, 12 } },
	{ "filter-group", "End z a", .size = { 80, 24 } },
	{ "filter-back", "End z a Esc Esc", .size = { 80, 24 } },
	{ "chosen-group", "Down Down Down Down Down Space", .size = { 80, 24 } },
	{ "chosen-40x12", "Space Space", .size = { 40, 12 } },
	{ "chosen-none", "Down Down Down Down Down Space Space", .size = { 80, 24 } },
	{ "next-behind-search", "/ 'scratch Enter n", .size = { 80, 24 } },
	{ "next-behind-filter", "/ 'scratch Enter z n", .size = { 80, 24 } },
	{ "help-80x24", "?", .size = { 80, 24 } },
	{ "help-120x112", "?", .size = { 120, 112 } },
	{ "help-40x12", "?", .size = { 40, 12 } },
	{ "help-end", "? End", .size = { 80, 24 } },
	{ "help-ascii", "?", { 80, 24 }, .kind = FACE_ASCII },
	{ "search-80x24", "/ 'web", { 80, 24 }, .how = STYLED },
	{ "search-replies",
	  "/ 'zebra",
	  { 80, 24 },
	  .how = STYLED,
	  .replies = "[{\"id\": \"id-05\", \"words\": [\"zebra\"]}]" },
	{ "help-120x35", "?", .size = { 120, 35 } },
	{ "help-find", "? / 'group", .size = { 80, 24 } },
	{ "urgency-80x24", "o", .size = { 80, 24 } },
	{ "form-80x24", "c Down Down Down Down", .size = { 80, 24 } },
	{ "form-40x12", "c Down Left", .size = { 40, 12 } },
	{ "form-text-120x40", ANY_TEXT, .size = { 120, 40 } },
	{ "form-text-40x12", ANY_TEXT " 'X", .size = { 40, 12 } },
	{ "form-path-120x40", ANY_TEXT " Up Up", .size = { 120, 40 } },
	{ "form-path-40x12", ANY_TEXT " Up Up", .size = { 40, 12 } },
	{ "form-branch", "c Down Down Down Down Right Down 'fi Tab", .size = { 80, 24 } },
	{ "form-stage",
	  "c Enter",
	  { 80, 24 },
	  .answer = "{\"occasion\": \"launch\", \"id\": \"/home/me/src/shop-api\", "
		    "\"about\": \"nothing\", \"seen\": \"5ee9\", \"questions\": []}",
	  .stage = "launch: image, 12 s ..." },
	{ "stage-80x24", "", { 80, 24 }, .stage = "start: image, 12 s ..." },
	{ "stage-news",
	  "d y",
	  { 80, 24 },
	  .news = "Removed it.",
	  .stage = "start: image, 12 s ..." },
	{ "hosts-80x24", "", { 80, 24 }, .cast = CAST_HOSTS, .how = STYLED },
	{ "hosts-120x35", "", { 120, 35 }, .cast = CAST_HOSTS },
	{ "hosts-urgency", "o", { 100, 24 }, .cast = CAST_HOSTS },
	{ "hosts-search", "/ 'gpu1", { 80, 24 }, .cast = CAST_HOSTS },
	{ "hosts-away", "/ 'gpu2 Enter End", { 80, 24 }, .cast = CAST_HOSTS },
	{ "hosts-refused", "/ 'gpu1 Enter End i", { 80, 24 }, .cast = CAST_HOSTS },
	{ "hosts-several", "Space Space x", { 80, 24 }, .cast = CAST_HOSTS },
	{ "conflict-80x24", "s", { 80, 24 }, .cast = CAST_TWO, .answer = "@conflict" },
	{ "conflict-120x40", "s", { 120, 40 }, .cast = CAST_TWO, .answer = "@conflict" },
	{ "conflict-40x12", "s", { 40, 12 }, .cast = CAST_TWO, .answer = "@conflict" },
	{ "end-work-80x24", "s", { 80, 24 }, .cast = CAST_TWO, .answer = "@end" },
	{ "end-work-40x12", "s", { 40, 12 }, .cast = CAST_TWO, .answer = "@end" },
	{ "end-80x24", "s Enter", { 80, 24 }, .cast = CAST_TWO, .answer = "@end" },
	{ "end-40x12", "s Enter", { 40, 12 }, .cast = CAST_TWO, .answer = "@end" },
	{ "reuse-80x24", "s", { 80, 24 }, .cast = CAST_TWO, .answer = "@reuse" },
	{ "remove-work-80x24", "d y", { 80, 24 }, .cast = CAST_TWO, .answer = "@removal" },
	{ "remove-80x24", "d y Enter", { 80, 24 }, .cast = CAST_TWO, .answer = "@removal" },
	{ "remove-40x12", "d y Enter", { 40, 12 }, .cast = CAST_TWO, .answer = "@removal" },
	{ "prune-80x24", "p", { 80, 24 }, .cast = CAST_TWO, .answer = "@prune" },
	{ "recover-80x24", "", { 80, 24 }, .cast = CAST_TWO, .how = LOST },
	{ "recover-40x12", "", { 40, 12 }, .cast = CAST_TWO, .how = LOST },
	{ "wall-160x40", "", { 160, 40 }, .cast = CAST_LIVE, .how = WALL },
	{ "wall-80x24", "", { 80, 24 }, .cast = CAST_LIVE, .how = WALL },
	{ "wall-few", "", { 80, 24 }, .cast = CAST_FEW, .how = WALL | STYLED },
	{ "wall-approve", "A", { 120, 35 }, .cast = CAST_LIVE, .how = WALL },
};

/* The 20 changes, and the screens that would differ without them.  NULL: it has not landed. */
static const struct change {
	const char *what, *screen;
} changes[] = {
	{ "popups are sized to the client", "picker-40x10" },
	{ "a permission is answered inside the deck", "approve-80x24" },
	{ "a section of those who need you", "list-80x24" },
	{ "groups in which nothing runs are folded", "list-80x24" },
	{ "the preview is on where it fits", "list-120x35" },
	{ "the preview wraps, and shortens rules", "list-80x24" },
	{ "the footer depends on the row", "footer-error" },
	{ "a failed line keeps its text", "refused-line" },
	{ "many starts ask first", "many-starts" },
	{ "columns are as wide as their content", "list-200x50" },
	{ "one row of headings, and words for marks", "list-80x24" },
	{ "order and preview are remembered", "again-80x24" },
	{ "an error shows its reason, a filter is in the header", "filter-80x24" },
	{ "the form with all choices visible", "form-80x24" },
	{ "an empty deck says what to do", "none-80x24" },
	{ "the preview has tabs", "list-120x35" },
	{ "the help has two columns", "help-80x24" },
	{ "urgency sorts across groups", "urgency-80x24" },
	{ "messages name keys, questions are boxes", "approve-80x24" },
	{ "colours on the selected sign, hits are underlined", "search-replies" },
};

static void begin(struct play *play, const struct screen *screen)
{
	face_begin(&(struct face){ screen->kind, screen->theme, screen->size.columns,
				   screen->size.rows });
	play_begin(play, screen, NULL);
}

/* The caller frees. */
static char *play_screen(const struct screen *screen)
{
	cleanup_play struct play play = { 0 };
	begin(&play, screen);
	play_type(&play, screen->keys);
	if (screen->how & AGAIN) {
		cleanup_json struct json_object *saved = json_object_new_object();
		ui_save(play.ui, saved);
		play_free(&play);
		play_begin(&play, screen, saved);
	}
	char *text = face_text(screen->how & STYLED);
	face_end();
	return text;
}

/* ---- comparing -------------------------------------------------------------------------------- */

static bool is_update;
static char **only; /* up to NULL; empty: all */

static bool is_wanted(const char *name)
{
	bool is_any = false;
	for (char **at = only; *at; at++) {
		is_any = true;
		if (streq(*at, name))
			return true;
	}
	return !is_any;
}

static char *path_of(const struct screen *screen)
{
	return xasprintf("%s/tests/unit/draw/%s.txt", getenv("top_srcdir") ?: ".", screen->name);
}

static void print_difference(const char *golden, const char *drawn)
{
	for (size_t line = 1; *golden || *drawn; line++) {
		const size_t left = strcspn(golden, "\n"), right = strcspn(drawn, "\n");
		if (left != right || strncmp(golden, drawn, left) != 0)
			print_error("%zu\n- %.*s\n+ %.*s\n", line, (int)left, golden, (int)right,
				    drawn);
		golden += left + (golden[left] == '\n');
		drawn += right + (drawn[right] == '\n');
	}
}

static bool is_golden(const struct screen *screen)
{
	cleanup_strbuf struct strbuf golden = { 0 };
	cleanup_free char *path = path_of(screen);
	cleanup_free char *drawn = play_screen(screen);
	if (is_update) {
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		assert_true(fputs(drawn, file) >= 0);
		assert_int_equal(fclose(file), 0);
		return true;
	}
	const int r = fs_read(AT_FDCWD, path, 1 << 20, &golden, NULL);
	if (r == 0 && streq(strbuf_text(&golden), drawn))
		return true;
	print_error("%s differs:\n", path);
	print_difference(strbuf_text(&golden), drawn);
	return false;
}

static bool has_tic;

static void each_screen_is_as_it_was_looked_at(void **state UNUSED)
{
	size_t differ = 0;
	if (!has_tic)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(screens); i++)
		differ += is_wanted(screens[i].name) && !is_golden(&screens[i]);
	assert_int_equal(differ, 0);
}

/* As a new user, with fourteen live sessions and two hundred stopped ones. */
static void what_waits_is_answered_within_three_keys(void **state UNUSED)
{
	static const struct {
		const char *screen;
		key_code keys[3];
		const char *command;
	} cases[] = {
		{ "approve-80x24", { 'A', 'y' }, "approve --question d1 --" },
		{ "choices-80x24",
		  { 'A', '2', KEY_CODE_ENTER },
		  "approve --question d1 --choice=2 --" },
	};
	for (size_t i = 0; has_tic && i < ARRAY_SIZE(cases); i++) {
		const struct screen *screen = screens;
		while (!streq(screen->name, cases[i].screen))
			screen++;
		cleanup_play struct play play = { 0 };
		begin(&play, screen);
		cleanup_free char *first = face_text(false);
		face_end();
		/* Whom, and by which key. */
		assert_non_null(strstr(first, "\n? api: fix login asks you since 11:47"));
		assert_non_null(strstr(first, "\nA approve  D deny  "));
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].keys) && cases[i].keys[k]; k++)
			play_press(&play, cases[i].keys[k]);
		assert_true(play.ran.count);
		const char *id = play.ran.items[play.ran.count - 1];
		assert_string_equal(list_find(play.ui->list, id)->title, "api: fix login");
		cleanup_free char *ran = strvec_join(&play.ran, " ");
		assert_true(starts_with(ran, cases[i].command));
	}
}

/* A wide character that is cut, and a cursor inside of the line. */
static void a_long_line_is_seen_at_its_cursor(void **state UNUSED)
{
	struct input input = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	if (!has_tic)
		skip();
	for (size_t i = 0; i < 5000; i++)
		strbuf_addf(&text, "監%zu", i % 10);
	input_set(&input, strbuf_text(&text));
	face_begin(&(struct face){ .columns = 20, .rows = 3 });
	term_erase();
	assert_int_equal(draw_typed(0, 0, 10, &input), 9);
	assert_int_equal(draw_typed(1, 0, 12, &input), 10);
	input.cursor = 0;
	(void)draw_typed(2, 0, 10, &input);
	cleanup_free char *drawn = face_text(false);
	face_end();
	input_free(&input);
	assert_string_equal(drawn, "監7監8監9\n6監7監8監9\n監0監1監2…\n");
}

static void each_change_has_a_screen(void **state UNUSED)
{
	assert_int_equal(ARRAY_SIZE(changes), 20);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		bool is_there = !changes[i].screen;
		for (size_t k = 0; k < ARRAY_SIZE(screens); k++)
			is_there |= changes[i].screen && streq(changes[i].screen, screens[k].name);
		if (!is_there)
			fail_msg("%zu, %s: there is no such screen", i + 1, changes[i].what);
	}
}

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_screen_is_as_it_was_looked_at),
		cmocka_unit_test(a_long_line_is_seen_at_its_cursor),
		cmocka_unit_test(each_change_has_a_screen),
		cmocka_unit_test(what_waits_is_answered_within_three_keys),
	};
	only = argv + 1;
	is_update = *only && streq(*only, "--update");
	only += is_update;
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	(void)setenv("TZ", "UTC", 1);
	tzset();
	has_tic = face_set_up();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	face_tear_down();
	return failed;
}
