/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/play-fixture.h"

#include "base/fsutil.h"
#include "ui/draw/draw.h"
#include "ui/draw/wall.h"

#include <fcntl.h>
#include <stdlib.h>

enum { MINUTE = 60, ANSWER_MOST = 1 << 16 };

/* ---- the sessions ----------------------------------------------------------------------------- */

struct actor {
	const char *title, *group, *agent, *directory, *reason;
	enum doing doing;
	unsigned minutes, marks; /* also those below */
};
/* Behind all marks. */
#define TAGGED     (1U << 20)
#define ASKS_FIRST (1U << 21)

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

static const struct actor two[] = {
	{ "api", NULL, "demo", "a", NULL, DOING_STOPPED, 13, ASKS_FIRST },
	{ "web", NULL, "demo", "a", NULL, DOING_IDLE, 13, 0 },
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
	cleanup_free char *directory = xasprintf("/home/me/src/%s", actor->directory);
	const struct facts facts = {
		.key = { .host = host, .id = id },
		.title = actor->title,
		.group = actor->group,
		.agent = actor->agent,
		.directory = directory,
		.reason = actor->reason,
		.doing = actor->doing,
		.marks = actor->marks & ~(TAGGED | ASKS_FIRST),
		.asks_first = actor->marks & ASKS_FIRST,
		.tags = actor->marks & TAGGED ? "api,urgent" : NULL,
		.since_us = NOON_US - (int64_t)actor->minutes * MINUTE * 1000000,
		.created_us = NOON_US - (int64_t)(300 - age) * 24 * 60 * MINUTE * 1000000,
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
	list_tell_host(list, 2, HOST_AWAY, NOON_US - INT64_C(118) * MINUTE * 1000000,
		       "ssh: connect to host gpu2 port 22: Connection refused");
	list_tell_host(list, 3, HOST_REFUSES, 0, "there is no profile 'default'");
}

static void add_cast(struct list *list, enum cast cast)
{
	static const struct {
		const struct actor *actors;
		size_t count;
	} casts[] = {
		[CAST_USUAL] = { usual, ARRAY_SIZE(usual) },
		[CAST_LIVE] = { usual, ARRAY_SIZE(usual) },
		[CAST_FEW] = { few, ARRAY_SIZE(few) },
		[CAST_NONE] = { NULL, 0 },
		[CAST_TAGGED] = { tagged, ARRAY_SIZE(tagged) },
		[CAST_TWO] = { two, ARRAY_SIZE(two) },
	};
	if (cast == CAST_HOSTS) {
		add_hosts(list);
		return;
	}
	for (size_t i = 0; i < casts[cast].count; i++) {
		const struct actor *actor = &casts[cast].actors[i];
		cleanup_free char *id = xasprintf("id-%02zu", i);
		if (cast != CAST_LIVE || doing_is_alive(actor->doing))
			add_actor(list, actor, NULL, id, i);
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

static const char *shown_by(const struct screen *screen, enum preview_kind kind)
{
	if (screen->shown && (kind == PREVIEW_FACTS || kind == PREVIEW_LOG))
		return screen->shown;
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

static void peek(const struct play *play)
{
	struct ui *ui = play->ui;
	const struct item *item = list_selected(ui->list);
	if (item && preview_is_due(&ui->preview, item->id))
		(void)preview_set(&ui->preview, ui->preview.kind, item->id,
				  shown_by(&play->screen, ui->preview.kind));
}

/* The caller frees. */
static char *answer_to(const struct screen *screen, const char *id)
{
	cleanup_strbuf struct strbuf text = { 0 };
	if (!screen->answer)
		return xasprintf(
			"{\"id\": \"%s\", \"question\": \"Demo command\\n  rm -rf build && make "
			"test\", \"digest\": \"d1\", \"choices\": []}",
			id);
	if (*screen->answer != '@')
		return xstrdup(screen->answer);
	cleanup_free char *path = xasprintf("%s/tests/unit/answers/%s.json",
					    getenv("top_srcdir") ?: ".", screen->answer + 1);
	assert_int_equal(fs_read(AT_FDCWD, path, ANSWER_MOST, &text, NULL), 0);
	return strbuf_take(&text);
}

static void open_form(struct ui *ui)
{
	struct form_supply supply = { .home = xstrdup("/home/me"), .installed = 3 };
	strvec_push_array(&supply.agents,
			  (const char *const[]){ "claude", "codex", "demo", "gemini", NULL });
	strvec_push_array(&supply.groups, (const char *const[]){ "archive", "personal", "work",
								 "work/infra", "work/shop", NULL });
	strvec_push(&supply.recents, "/home/me/src/shop-api");
	ui_open_form(ui, &supply, "/home/me/src/shop-api");
	form_supply_free(&supply);
}

static void find(struct ui *ui)
{
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "one", "other", "two", NULL });
	form_complete(&ui->form, &names);
}

static void answer(struct play *play, const struct wish *wish)
{
	cleanup_wish struct wish next = { 0 };
	const struct screen *screen = &play->screen;
	struct ui *ui = play->ui;
	const char *last = wish->words.count ? wish->words.items[wish->words.count - 1] : "";
	cleanup_free char *text = answer_to(screen, last);
	const char *end = screen->refusal ? screen->refusal : screen->result;
	add_wish(&play->wants, wish);
	if (wish->kind == WISH_ASK)
		ui_asked(ui, wish->ticket, text, &next);
	if (wish->kind == WISH_LINE && end)
		ui_line_ended(ui, wish->ticket, end, !screen->refusal);
	if (wish->kind == WISH_LAUNCH && end)
		ui_launched(ui, end, !screen->refusal);
	if (wish->kind == WISH_COMPLETE)
		ui_completed(ui, "none\nfix-login\nfix-logout\nmain\n");
	if (wish->kind == WISH_RUN && screen->news)
		ui_tell(ui, screen->news, false);
	if (wish->kind == WISH_FORM)
		open_form(ui);
	if (wish->kind == WISH_FIND)
		find(ui);
	if (next.kind != WISH_NOTHING)
		answer(play, &next);
}

void play_press(struct play *play, key_code key)
{
	cleanup_wish struct wish wish = { 0 };
	struct ui *ui = play->ui;
	if (play->screen.how & WALL)
		wall_key(&play->wall, ui, key, &wish);
	else
		ui_key(ui, key, &wish);
	if (wish.kind == WISH_RUN) {
		strvec_clear(&play->ran);
		strvec_push_all(&play->ran, &wish.words);
	}
	answer(play, &wish);
	if (play->screen.replies && ui->search)
		list_search_replies(ui->list, 0, play->screen.replies);
	peek(play);
}

void play_show(struct play *play)
{
	if (play->screen.how & WALL) {
		draw_wall(&play->wall, play->ui);
		for (size_t i = 0; i < play->wall.ids.count; i++)
			(void)wall_set_screen(&play->wall, play->wall.ids.items[i], question);
		draw_wall(&play->wall, play->ui);
	} else {
		ui_fit(play->ui, term_rows(), term_columns());
		peek(play);
		draw(play->ui, NOON_US);
	}
}

void play_type(struct play *play, const char *keys)
{
	cleanup_free char *copy = xstrdup(keys);
	char *rest = copy;
	for (const char *word; (word = strsep(&rest, " "));) {
		key_code key;
		wchar_t letter = 0;
		for (const char *at = word + 1; *word == '\'' && *at;) {
			const int length = mbtowc(&letter, at, MB_CUR_MAX);
			assert_true(length > 0);
			play_press(play, (key_code)letter);
			at += length;
		}
		if (*word && *word != '\'') {
			assert_true(key_parse(word, &key));
			play_press(play, key);
		}
		play_show(play);
	}
}

/* As lost_tell() has them. */
static void tell_lost(struct question *lost)
{
	question_add_evidence(lost, "ended with the last restart of the machine");
	question_add_item(lost, "api (demo) in work/back");
	question_add_item(lost, "docs (demo) in work");
	question_add_evidence(lost, "ended by a kill or a crash");
	question_add_item(lost, "web (demo) in work/back");
}

void play_begin(struct play *play, const struct screen *screen, const struct json_object *saved)
{
	struct ui *ui = ui_new("default");
	*play = (struct play){ .screen = *screen, .ui = ui };
	add_cast(ui->list, screen->cast);
	ui->wanted = screen->cast == CAST_TWO ? PREVIEW_NONE : PREVIEW_SCREEN;
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
	if (screen->how & LOST) {
		ui_offer_recovery(ui);
		tell_lost(&ui->dialog.question);
	}
	peek(play);
	play_show(play);
}

void play_free(struct play *play)
{
	strbuf_free(&play->wants);
	strvec_clear(&play->ran);
	wall_free(&play->wall);
	ui_free(play->ui);
}
