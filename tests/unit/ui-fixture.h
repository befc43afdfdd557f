/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A deck of two sessions, and the keys that go in.
 */
#pragma once

#include "unit/test.h"

#include "ui/state/ui.h"

static const key_code up UNUSED = KEY_CODE_UP, down UNUSED = KEY_CODE_DOWN,
			 enter UNUSED = KEY_CODE_ENTER, escape UNUSED = KEY_CODE_ESCAPE;

static inline struct ui *make(void)
{
	struct ui *ui = ui_new("default");
	list_add(ui->list,
		 &(struct facts){
			 .key.id = "id-a", .title = "api", .created_us = 1, .doing = DOING_IDLE });
	list_add(ui->list, &(struct facts){ .key.id = "id-b",
					    .title = "web",
					    .group = "work",
					    .created_us = 2,
					    .doing = DOING_WAITING });
	return ui;
}

/* What check() was last asked: the occasion, the last word but one of agentdeck settle. */
static char asked_occasion[16];

/* Append it as words: "run stop id-a". */
static inline void add_wish(struct strbuf *text, const struct wish *wish)
{
	static const char *const kinds[] = { "",       "quit",     "suspend", "redraw", "profile",
					     "attach", "terminal", "copy",    "switch", "ask",
					     "run",    "line",     "form",    "find",   "launch",
					     "show",   "complete", "halt",    "type" };
	if (wish->kind != WISH_NOTHING)
		strbuf_addf(text, "%s%s", text->length ? ";" : "", kinds[wish->kind]);
	for (size_t i = 0; i < wish->words.count; i++)
		strbuf_addf(text, " %s", wish->words.items[i]);
	for (size_t i = 0; i < wish->each.count; i++)
		strbuf_addf(text, " %zu:%s", wish->at, wish->each.items[i]);
	if (wish->input)
		strbuf_addf(text, " <%s", wish->input);
}

/* What the keys, up to 0, make the program do: "stop id-a <input". */
static inline void check(struct ui *ui, const key_code *keys, const char *expected)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (; *keys; keys++) {
		cleanup_wish struct wish wish = { 0 };
		ui_key(ui, *keys, &wish);
		add_wish(&text, &wish);
		if (wish.kind == WISH_ASK)
			(void)snprintf(asked_occasion, sizeof(asked_occasion), "%s",
				       wish.words.items[wish.words.count - 2]);
	}
	assert_string_equal(strbuf_text(&text), expected);
}
#define KEYS(...) ((const key_code[]){ __VA_ARGS__, 0 })
