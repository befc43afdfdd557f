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
#include "unit/face-fixture.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "ui/draw/draw.h"
#include "ui/draw/sign.h"
#include "ui/draw/wall.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <time.h>

/* 2026-11-27 12:00 UTC. */
enum { MINUTE = 60 };
static const int64_t noon_s = 1795780800;

/* ---- the deck --------------------------------------------------------------------------------- */

enum cast {
	CAST_USUAL, /* fourteen live ones, and two hundred stopped */
	CAST_LIVE,  /* the live ones of these */
	CAST_FEW,
	CAST_NONE,
	CAST_TAGGED, /* the few, with tags, a pin and an archived one */
	CAST_HOSTS,  /* the few, of this machine and of two others, one of which is unreachable */
};

struct actor {
	const char *title, *group, *agent, *directory, *reason;
	enum doing doing;
	unsigned minutes, marks; /* also TAGGED */
};
/* Behind all marks. */
#define TAGGED (1U << 20)

static const struct actor few[] = {
	{ "api: fix login", "work/shop", "claude", "shop-api", NULL, DOING_ASKS, 13, 0 },
	{ "docs", "personal", "claude", "docs-site", NULL, DOING_BUSY, 13, 0 },
	{ "notes", "personal", "codex", "notes", NULL, DOING_STOPPED, 13, MARK_HELD },
};

static const struct actor tagged[] = {
	{ "api: fix login", "work/shop", "claude", "shop-api", NULL, DOING_ASKS, 13, TAGGED },
	{ "docs", "personal", "claude", "docs-site", NULL, DOING_BUSY, 13, 0 },
	{ "notes", "personal", "codex", "notes", NULL, DOING_STOPPED, 13, MARK_PINNED | TAGGED },
	{ "last year", "work", "codex", "old", NULL, DOING_STOPPED, 13, MARK_ARCHIVED | TAGGED },
};

static const struct actor usual[] = {
	{ "scratch", NULL, "codex", "scratch", NULL, DOING_IDLE, 13, 0 },
	{ "docs", "personal", "claude", "docs-site", NULL, DOING_BUSY, 13, 0 },
	{ "notes", "personal", "codex", "notes", NULL, DOING_IDLE, 13, 0 },
	{ "terraform upgrade", "work/infra", "claude", "infra", NULL, DOING_IDLE, 14, 0 },
	{ "k8s: 監視ダッシュボード", "work/infra", "codex", "infra", NULL, DOING_IDLE, 14, 0 },
	{ "plan", "work/infra", "claude", "infra", NULL, DOING_IDLE, 13, 0 },
	{ "broken build", "work/infra", "shell", "infra",
	  "exit 3: ModuleNotFoundError: No module named 'foo'", DOING_ERROR, 12, 0 },
	{ "api: fix login", "work/shop", "claude", "shop-api", NULL, DOING_ASKS, 13, 0 },
	{ "web: cart", "work/shop", "claude", "shop-web", NULL, DOING_WAITING, 12, MARK_WORKTREE },
	{ "api: rate limits", "work/shop", "claude", "shop-api", NULL, DOING_IDLE, 10,
	  MARK_WORKTREE },
	{ "web: checkout redesign, as the customers of the northern shops asked for it",
	  "work/shop", "claude", "shop-web", NULL, DOING_IDLE, 14, 0 },
	{ "sandbox", "work", "claude", "sandbox", NULL, DOING_BUSY, 2, MARK_CONTAINER },
	{ "far away", "work", "codex", "far", "server-2 runs it", DOING_UNKNOWN, 60,
	  MARK_ELSEWHERE },
	{ "new one", "work", "codex", "new", NULL, DOING_STARTING, 0, 0 },
	{ "last week", "work/shop", "codex", "shop-api", NULL, DOING_STOPPED, 7 * 24 * 60, 0 },
};
enum { OLD_ONES = 200 };

static void add_actor(struct list *list, const struct actor *actor, const char *host,
		      const char *id, size_t age)
{
	const int64_t now_us = noon_s * 1000000;
	cleanup_free char *directory = xasprintf("/home/me/src/%s", actor->directory);
	const struct facts facts = {
		.key = { .host = host, .id = id },
		.title = actor->title,
		.group = actor->group,
		.agent = actor->agent,
		.directory = directory,
		.reason = actor->reason,
		.doing = actor->doing,
		.marks = actor->marks & ~TAGGED,
		.tags = actor->marks & TAGGED ? "api,urgent" : NULL,
		.since_us = now_us - (int64_t)actor->minutes * MINUTE * 1000000,
		.created_us = now_us - (int64_t)(300 - age) * 24 * 60 * MINUTE * 1000000,
	};
	struct item *item = list_add(list, &facts);
	if (doing_is_alive(actor->doing))
		list_measure(list, item, (int64_t)(age + 3) << 26, (int64_t)age * 31);
}

static void add_hosts(struct list *list)
{
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names,
			  (const char *const[]){ "local", "gpu1", "gpu2", "gpu3", "gpu4", NULL });
	list_set_hosts(list, &names);
	for (size_t host = 0; host < 3; host++) {
		for (size_t i = 0; i < ARRAY_SIZE(few); i++) {
			cleanup_free char *id = xasprintf("id-%zu%zu", host, i);
			add_actor(list, &few[i], names.items[host], id, i);
		}
	}
	list_complete_host(list, 1);
	list_complete_host(list, 2);
	list_tell_host(list, 2, HOST_AWAY, (noon_s - 118 * MINUTE) * 1000000,
		       "ssh: connect to host gpu2 port 22: Connection refused");
	list_tell_host(list, 3, HOST_REFUSES, 0, "there is no profile 'default'");
}

static void add_cast(struct list *list, enum cast cast)
{
	if (cast == CAST_HOSTS) {
		add_hosts(list);
		return;
	}
	const struct actor *actors = cast == CAST_FEW ? few : cast == CAST_TAGGED ? tagged : usual;
	const size_t count = cast == CAST_NONE     ? 0
			     : cast == CAST_FEW    ? ARRAY_SIZE(few)
			     : cast == CAST_TAGGED ? ARRAY_SIZE(tagged)
						   : ARRAY_SIZE(usual);
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *id = xasprintf("id-%02zu", i);
		if (cast != CAST_LIVE || doing_is_alive(actors[i].doing))
			add_actor(list, &actors[i], NULL, id, i);
	}
	for (size_t i = 0; cast == CAST_USUAL && i < OLD_ONES; i++) {
		cleanup_free char *title = xasprintf("old task %zu", i);
		cleanup_free char *id = xasprintf("old-%03zu", i);
		add_actor(list,
			  &(struct actor){ title, "archive", i % 3 ? "claude" : "codex", "old",
					   NULL, DOING_STOPPED, 2000 + (unsigned)i, 0 },
			  NULL, id, 20);
	}
}

/* ---- screens ---------------------------------------------------------------------------------- */

/* Keys have blanks between them, by their names; 'word is typed. */
struct screen {
	const char *name, *keys;
	struct {
		unsigned short columns, rows;
	} size;
	enum cast cast;
	enum { STYLED = 1 << 0, PICKER = 1 << 1, WALL = 1 << 2, AGAIN = 1 << 3 } how;
	enum face_kind kind;
	enum theme theme;
	/* What a command says: that asks, of a typed line (which is refused), or that is run; and
	 * in whose last replies what is searched for is. */
	const char *answer, *refusal, *news, *replies;
	const char *stage; /* of a command that runs */
};

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

/* ---- playing ---------------------------------------------------------------------------------- */

static const char question[] =
	"\033[1mDemo command\033[0m\n"
	"────────────────────────────────────────────────────────────────────────────────────────"
	"────────────────────────────────────────────────────────────────────────────────────\n"
	"  \033[38;5;208mrm -rf build && make test\033[0m\n"
	"\n"
	"I need to clean the build directory before the tests, because the generated headers of the "
	"old schema are still in it, and the compiler takes them first.\n"
	"Do you want to proceed?\n"
	"\033[36m❯ 1. Yes\033[0m\n"
	"  2. Yes, and ask no more\n"
	"  3. No\n"
	"\033[2mEsc to cancel\033[0m\n";

static const char *shown_by(enum preview_kind kind)
{
	switch (kind) {
	case PREVIEW_SCREEN:
		return question;
	case PREVIEW_REPLY:
		return "All tests pass now. The zebra crossing is drawn as you asked.\n";
	case PREVIEW_TURNS:
		return "> fix the login\nThe token was read before it was written.\n";
	case PREVIEW_CHANGES:
		return "fix-login: 2 commits, not merged\n"
		       "  1a2b3c4d5 read the token before it is written\n"
		       "  5d4c3b2a1 test that\n"
		       "upstream: origin/fix-login, 1 ahead and 0 behind\n"
		       "pull request: 42, open, https://example.com/42\n"
		       "committed: 2 files, +12 -3\n"
		       "  M      +10     -3  src/login.c\n"
		       "  A       +2      0  tests/login.c\n";
	case PREVIEW_FACTS:
		return "Title      api: fix login\nGroup      work/shop\nAgent      claude\n";
	default:
		return "11:47 idle\n11:48 waiting\n";
	}
}

static void peek(struct ui *ui)
{
	const struct item *item = list_selected(ui->list);
	if (item && preview_is_due(&ui->preview, item->id))
		(void)preview_set(&ui->preview, ui->preview.kind, item->id,
				  shown_by(ui->preview.kind));
}

static void answer(struct ui *ui, const struct screen *screen, const struct wish *wish)
{
	cleanup_wish struct wish next = { 0 };
	struct form_supply supply = { .home = xstrdup("/home/me") };
	const char *last = wish->words.count ? wish->words.items[wish->words.count - 1] : "";
	cleanup_free char *permission = xasprintf(
		"{\"id\": \"%s\", \"question\": \"Demo command\\n  rm -rf build && make test\", "
		"\"digest\": \"d1\", \"choices\": []}",
		last);
	if (wish->kind == WISH_ASK)
		ui_asked(ui, wish->ticket, screen->answer ? screen->answer : permission, &next);
	if (wish->kind == WISH_LINE && screen->refusal)
		ui_line_ended(ui, wish->ticket, screen->refusal, false);
	if (wish->kind == WISH_COMPLETE)
		ui_completed(ui, "none\nfix-login\nfix-logout\nmain\n");
	if (wish->kind == WISH_RUN && screen->news)
		ui_tell(ui, screen->news, false);
	if (wish->kind == WISH_FORM) {
		strvec_push_array(&supply.agents, (const char *const[]){ "claude", "codex", "demo",
									 "gemini", NULL });
		supply.installed = 3;
		strvec_push_array(&supply.groups,
				  (const char *const[]){ "archive", "personal", "work",
							 "work/infra", "work/shop", NULL });
		strvec_push(&supply.recents, "/home/me/src/shop-api");
		ui_open_form(ui, &supply, "/home/me/src/shop-api");
	}
	form_supply_free(&supply);
	if (next.kind != WISH_NOTHING)
		answer(ui, screen, &next);
}

struct play {
	const struct screen *screen;
	struct ui *ui;
	struct wall wall;
	struct strvec ran; /* the words of the last command */
};

static void press(struct play *play, key_code key)
{
	cleanup_wish struct wish wish = { 0 };
	struct ui *ui = play->ui;
	if (play->screen->how & WALL)
		wall_key(&play->wall, ui, key, &wish);
	else
		ui_key(ui, key, &wish);
	if (wish.kind == WISH_RUN) {
		strvec_clear(&play->ran);
		strvec_push_all(&play->ran, &wish.words);
	}
	answer(ui, play->screen, &wish);
	if (play->screen->replies && ui->search)
		list_search_replies(ui->list, 0, play->screen->replies);
	peek(ui);
}

static void show(struct play *play)
{
	if (play->screen->how & WALL) {
		draw_wall(&play->wall, play->ui);
		for (size_t i = 0; i < play->wall.ids.count; i++)
			(void)wall_set_screen(&play->wall, play->wall.ids.items[i], question);
		draw_wall(&play->wall, play->ui);
	} else {
		draw(play->ui, noon_s * 1000000);
	}
}

static void type(struct play *play, const char *keys)
{
	cleanup_free char *copy = xstrdup(keys);
	char *rest = copy;
	for (const char *word; (word = strsep(&rest, " "));) {
		key_code key;
		wchar_t letter = 0;
		for (const char *at = word + 1; *word == '\'' && *at;) {
			const int length = mbtowc(&letter, at, MB_CUR_MAX);
			assert_true(length > 0);
			press(play, (key_code)letter);
			at += length;
		}
		if (*word && *word != '\'') {
			assert_true(key_parse(word, &key));
			press(play, key);
		}
		show(play);
	}
}

static void play_free(struct play *play)
{
	strvec_clear(&play->ran);
	wall_free(&play->wall);
	ui_free(play->ui);
}

static struct ui *open_deck(const struct screen *screen, const struct json_object *saved)
{
	struct ui *ui = ui_new("default");
	add_cast(ui->list, screen->cast);
	ui->wanted = PREVIEW_SCREEN;
	replace_string(&ui->welcome.details[OFFER_NEW], "/home/me/src/shop-api");
	welcome_set_conversations(&ui->welcome, "{\"conversations\": [1, 2, 3]}");
	welcome_set_sources(&ui->welcome, "{\"sources\": [{\"name\": \"agent-deck\", "
					  "\"sessions\": 12}]}");
	replace_string(&ui->stage, screen->stage);
	if (saved)
		ui_restore(ui, saved);
	if (screen->how & PICKER)
		ui_begin_pick(ui);
	else if (!(screen->how & WALL))
		ui_begin(ui, screen->size.rows, screen->size.columns);
	peek(ui);
	return ui;
}

/* The caller frees. */
static char *play_screen(const struct screen *screen)
{
	struct play play = { .screen = screen, .ui = open_deck(screen, NULL) };
	face_begin(&(struct face){ screen->kind, screen->theme, screen->size.columns,
				   screen->size.rows });
	show(&play);
	type(&play, screen->keys);
	if (screen->how & AGAIN) {
		cleanup_json struct json_object *saved = json_object_new_object();
		ui_save(play.ui, saved);
		ui_free(play.ui);
		play.ui = open_deck(screen, saved);
		show(&play);
	}
	char *text = face_text(screen->how & STYLED);
	face_end();
	play_free(&play);
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
		CLEANUP(play_free)
		struct play play = { .screen = screen, .ui = open_deck(screen, NULL) };
		face_begin(&(struct face){ .columns = 80, .rows = 24 });
		show(&play);
		cleanup_free char *first = face_text(false);
		face_end();
		/* Whom, and by which key. */
		assert_non_null(strstr(first, "\n? api: fix login asks you since 11:47"));
		assert_non_null(strstr(first, "\nA approve  D deny  "));
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].keys) && cases[i].keys[k]; k++)
			press(&play, cases[i].keys[k]);
		assert_true(play.ran.count);
		const char *id = play.ran.items[play.ran.count - 1];
		assert_string_equal(list_find(play.ui->list, id)->title, "api: fix login");
		cleanup_free char *ran = strvec_join(&play.ran, " ");
		assert_true(starts_with(ran, cases[i].command));
	}
}

/* Its session does not wait any more, so that the filter hides it. */
static void the_screen_stays_while_its_user_types(void **state UNUSED)
{
	static const struct screen screen = { "", "f i 'y", { 80, 24 }, .cast = CAST_FEW };
	if (!has_tic)
		skip();
	CLEANUP(play_free)
	struct play play = { .screen = &screen, .ui = open_deck(&screen, NULL) };
	face_begin(&(struct face){ .columns = 80, .rows = 24 });
	list_remove(play.ui->list, list_find(play.ui->list, "id-02"));
	type(&play, screen.keys);
	list_change(
		play.ui->list, list_find(play.ui->list, "id-00"),
		&(struct facts){ .key.id = "id-00", .title = few[0].title, .doing = DOING_BUSY });
	assert_int_equal(list_lines(play.ui->list), 0);
	show(&play);
	cleanup_free char *text = face_text(false);
	face_end();
	assert_non_null(strstr(text, "Do you want to proceed?"));
	assert_non_null(strstr(text, "You type for api: fix login (busy)"));
}

/* A terminal that is too small for both has the list, and a larger one the preview again. */
static void a_small_terminal_has_the_list(void **state UNUSED)
{
	static const struct screen screen = { "", "", .size = { 80, 24 } };
	static const struct {
		unsigned short columns, rows;
		const char *keys, *shows;
	} steps[] = {
		{ 80, 24, "", "Do you want to proceed?" },
		{ 40, 12, "", "\n ? web: cart" },
		{ 40, 12, "Tab", "Do you want to proceed?" }, /* as asked for */
		{ 30, 10, "", "Do you want to proceed?" },
		{ 120, 35, "", "Do you want to proceed?" },
		{ 40, 12, "i", "You type for api: fix login" },
		{ 40, 12, "Esc", "\n ? web: cart" },
	};
	if (!has_tic)
		skip();
	CLEANUP(play_free)
	struct play play = { .screen = &screen, .ui = open_deck(&screen, NULL) };
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		face_begin(&(struct face){ .columns = steps[i].columns, .rows = steps[i].rows });
		ui_fit(play.ui, steps[i].rows, steps[i].columns);
		peek(play.ui);
		show(&play);
		type(&play, steps[i].keys);
		cleanup_free char *drawn = face_text(false);
		face_end();
		if (!strstr(drawn, steps[i].shows))
			fail_msg("%zu: no '%s':\n%s", i, steps[i].shows, drawn);
	}
}

static void the_help_has_three_pages(void **state UNUSED)
{
	static const struct screen screen = { "", "?", .size = { 80, 24 } };
	if (!has_tic)
		skip();
	CLEANUP(play_free)
	struct play play = { .screen = &screen, .ui = open_deck(&screen, NULL) };
	face_begin(&(struct face){ .columns = 80, .rows = 24 });
	type(&play, screen.keys);
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
	};
	static const struct {
		const char *keys, *shows;
	} steps[] = {
		{ "", "F9 help" },
		{ "/", "\nCtrl-S keep  Ctrl-G cancel" },
		{ "'web Ctrl-S", "F6 show all" },
		{ "F6 Q", "Q does nothing here; F9 lists the keys" },
		{ "m", "\nCtrl-S do it  Ctrl-G cancel" },
		{ "Enter x", "Enter Back  1 yes  Esc cancel  F3, F4 choose" },
		{ "Esc c",
		  "\nCtrl-S make it  Ctrl-G back  Ctrl-T complete  Ctrl-O recent  Ctrl-K empty" },
		{ "Ctrl-N",
		  "\nCtrl-S make it  Ctrl-G back  Ctrl-T next  Left, + choose  Ctrl-K empty" },
		{ "Tab Ctrl-G", "F9 help" },
		{ "F9", "F3, F4 page 1 of" },
		{ "/ 'keep", "a search: keep it" },
		{ "Ctrl-G", "F3, F4 page 1 of" },
		{ "/ 'down", "Ctrl-N " },
	};
	static const struct screen screen = { "", "", .size = { 80, 24 } };
	if (!has_tic)
		skip();
	CLEANUP(play_free)
	struct play play = { .screen = &screen, .ui = open_deck(&screen, NULL) };
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		assert_int_equal(keymap_bind(&play.ui->keymap, bindings[i], NULL), 0);
	face_begin(&(struct face){ .columns = 80, .rows = 24 });
	show(&play);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		type(&play, steps[i].keys);
		cleanup_free char *drawn = face_text(false);
		if (!strstr(drawn, steps[i].shows))
			fail_msg("no '%s' after %s:\n%s", steps[i].shows, steps[i].keys, drawn);
	}
	face_end();
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
		cmocka_unit_test(the_screen_stays_while_its_user_types),
		cmocka_unit_test(a_small_terminal_has_the_list),
		cmocka_unit_test(the_help_has_three_pages),
		cmocka_unit_test(every_place_has_the_keys_of_the_configuration),
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
