/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/text.h"
#include "model/keys/keymap.h"

#include <string.h>

static const enum key_context places[] = {
	CONTEXT_LIST, CONTEXT_WALL,   CONTEXT_HELP, CONTEXT_QUESTION,
	CONTEXT_LINE, CONTEXT_SEARCH, CONTEXT_TEXT, CONTEXT_CHOICE,
};

/* Each key of the table does in each place what the table says. */
static void no_key_has_two_meanings(void **state UNUSED)
{
	struct keymap keymap;
	keymap_init(&keymap);
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);
		assert_int_not_equal(action_info((enum action)i)->contexts, 0);
		for (size_t p = 0; p < ARRAY_SIZE(places); p++)
			for (size_t k = 0; k < ACTION_KEYS && info->keys[k]; k++)
				if (action_info((enum action)i)->contexts & places[p])
					assert_int_equal(keymap_action(&keymap, places[p],
								       info->keys[k]),
							 i);
	}
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, KEY_CODE_NONE), ACTION_NONE);
	assert_int_equal(keymap_action(&keymap, CONTEXT_HELP, KEY_CODE_ESCAPE), ACTION_NONE);
}

/* No action of the table takes a character where it is text. */
static void what_is_typed_is_text(void **state UNUSED)
{
	struct keymap keymap;
	keymap_init(&keymap);
	for (key_code key = ' '; key < 0x7F; key++) {
		assert_int_equal(keymap_action(&keymap, CONTEXT_LINE, key), ACTION_NONE);
		assert_int_equal(keymap_action(&keymap, CONTEXT_SEARCH, key), ACTION_NONE);
		assert_int_equal(keymap_action(&keymap, CONTEXT_TEXT, key), ACTION_NONE);
	}
}

static void bind_all(struct keymap *keymap, const char *const *bindings)
{
	keymap_init(keymap);
	for (; *bindings; bindings++)
		assert_int_equal(keymap_bind(keymap, *bindings, NULL), 0);
}

static void a_user_binds_keys(void **state UNUSED)
{
	struct keymap keymap;
	bind_all(&keymap, (const char *const[]){ "stop=X", NULL });
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, 'X'), ACTION_STOP);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, 'x'), ACTION_NONE);
	/* Another one is added. */
	assert_int_equal(keymap_bind(&keymap, "stop=F2", NULL), 0);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, KEY_CODE_F1 + 1), ACTION_STOP);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, 'X'), ACTION_STOP);
	assert_int_equal(keymap_bind(&keymap, "down==", NULL), 0);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, '='), ACTION_DOWN);
	/* A key of the table goes to the action that its user gives it to, where that works. */
	bind_all(&keymap, (const char *const[]){ "start=k", "wall.next=n", NULL });
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, 'k'), ACTION_START);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, KEY_CODE_UP), ACTION_UP);
	assert_int_equal(keymap_action(&keymap, CONTEXT_WALL, 'n'), ACTION_WALL_NEXT);
	assert_int_equal(keymap.keys[ACTION_NEXT_WAITING][0], KEY_CODE_NONE);
	/* The same key has other meanings elsewhere. */
	bind_all(&keymap, (const char *const[]){ "preview=F2", "wall.next=F2", "form.next=F2",
						 "line.clear=F3", "form.choose-next=F3", NULL });
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, KEY_CODE_F1 + 1), ACTION_PREVIEW);
	assert_int_equal(keymap_action(&keymap, CONTEXT_WALL, KEY_CODE_F1 + 1), ACTION_WALL_NEXT);
	assert_int_equal(keymap_action(&keymap, CONTEXT_CHOICE, KEY_CODE_F1 + 1), ACTION_FORM_NEXT);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LINE, KEY_CODE_F1 + 1), ACTION_NONE);
	assert_int_equal(keymap_action(&keymap, CONTEXT_TEXT, KEY_CODE_F1 + 2), ACTION_LINE_CLEAR);
	assert_int_equal(keymap_action(&keymap, CONTEXT_CHOICE, KEY_CODE_F1 + 2),
			 ACTION_FORM_CHOOSE_NEXT);
}

static void the_keys_in_use_are_named(void **state UNUSED)
{
	static const struct {
		const char *binding;
		enum action action;
		const char *first, *all;
	} cases[] = {
		{ "stop=X", ACTION_STOP, "X", "X" },
		{ "start=x", ACTION_STOP, "stop", "" },
		{ "down=J", ACTION_DOWN, "J", "J" },
		{ "start=1", ACTION_QUIT, "q", "q, Ctrl-C" },
		{ "start=1", ACTION_BACK, "Esc", "Esc" },
		{ "back=F2", ACTION_BACK, "F2", "F2, Esc" },
		{ "form.accept=F2", ACTION_FORM_ACCEPT, "F2", "F2, Enter" },
		{ "line.cancel=F2", ACTION_LINE_CANCEL, "F2", "F2, Esc" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct keymap keymap;
		char name[KEYMAP_TEXT_SIZE];
		bind_all(&keymap, (const char *const[]){ cases[i].binding, NULL });
		cleanup_free char *all = keymap_all(&keymap, cases[i].action);
		assert_string_equal(keymap_text(&keymap, cases[i].action, name), cases[i].first);
		assert_string_equal(all, cases[i].all);
	}
}

static void a_wrong_binding_changes_nothing(void **state UNUSED)
{
	static const char *const bad[] = { "",        "stop",       "stop=",  "=x",      "halt=x",
					   "stop=xx", "stop=Ctrl-", "Stop=x", "stop =x", "\033=x" };
	struct keymap keymap, before;
	keymap_init(&keymap);
	before = keymap;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(keymap_bind(&keymap, bad[i], &err), -1);
		assert_null(strchr(err.message, '\033'));
		assert_memory_equal(&keymap, &before, sizeof(keymap));
	}
	/* Nobody is locked in. */
	assert_int_equal(keymap_bind(&keymap, "stop=q", NULL), 0);
	assert_int_equal(keymap_bind(&keymap, "start=Ctrl-C", NULL), -1);
	assert_int_equal(keymap_action(&keymap, CONTEXT_LIST, 'C' & KEY_CODE_CTRL), ACTION_QUIT);
	bind_all(&keymap, (const char *const[]){ "open=1", "open=2", "open=3", NULL });
	assert_int_equal(keymap_bind(&keymap, "open=4", NULL), -1);
}

static void a_conflict_is_refused_where_both_work(void **state UNUSED)
{
	static const struct {
		const char *first, *second;
		const char *why; /* NULL: it is none */
	} cases[] = {
		{ "up=x", "stop=x",
		  "'stop=x' in [ui] keys: x belongs to up, which works in the same place" },
		{ "wall.next=Z", "up=Z",
		  "'up=Z' in [ui] keys: Z belongs to wall.next, which works in the same place" },
		{ "question.yes=Z", "down=Z",
		  "'down=Z' in [ui] keys: Z belongs to question.yes, which works in the same place" },
		{ "line.start=F2", "form.next=F2",
		  "'form.next=F2' in [ui] keys: F2 belongs to line.start, which works in the same place" },
		{ "wall.next=Z", "stop=Z", NULL },
		{ "search.up=F2", "form.next=F2", NULL },
		{ "stop=x", "stop=x", NULL },
		/* Enter and Esc always work. */
		{ "stop=1", "form.next=Enter",
		  "'form.next=Enter' in [ui] keys: Enter belongs to form.accept, which works in the same place" },
		{ "stop=1", "line.clear=Esc",
		  "'line.clear=Esc' in [ui] keys: Esc belongs to line.cancel, which works in the same place" },
		{ "stop=1", "stop=Esc",
		  "'stop=Esc' in [ui] keys: Esc belongs to back, which works in the same place" },
		{ "stop=1", "quit=Ctrl-J",
		  "'quit=Ctrl-J' in [ui] keys: Enter belongs to attach, which works in the same place" },
		{ "stop=1", "form.next=Ctrl-M",
		  "'form.next=Ctrl-M' in [ui] keys: Enter belongs to form.accept, which works in the same place" },
		{ "attach=o", "stop=Enter", NULL },
		{ "attach=Enter", "attach=o", NULL },
		{ "stop=1", "line.clear=x",
		  "'line.clear=x' in [ui] keys: x is text there: take one such as Ctrl-X or F2" },
		{ "stop=1", "form.next=Space",
		  "'form.next=Space' in [ui] keys: Space is text there: take one such as Ctrl-X or F2" },
		{ "stop=1", "form.choose-next=x", NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_strvec struct strvec bindings = { 0 }, why = { 0 };
		size_t at[2] = { 9, 9 };
		strvec_push(&bindings, cases[i].first);
		strvec_push(&bindings, cases[i].second);
		assert_int_equal(keymap_check(&bindings, &why, at), cases[i].why ? 1 : 0);
		assert_int_equal(at[0], cases[i].why ? 1 : 9);
		if (cases[i].why)
			assert_string_equal(why.items[0], cases[i].why);
	}
}

/* Whatever a user binds, Enter and Esc say yes and no where something is typed or asked. */
static void enter_and_escape_always_work(void **state UNUSED)
{
	static const struct {
		enum key_context context;
		enum action enter, escape;
	} cases[] = {
		{ CONTEXT_QUESTION, ACTION_ATTACH, ACTION_QUIT },
		{ CONTEXT_LINE, ACTION_LINE_ACCEPT, ACTION_LINE_CANCEL },
		{ CONTEXT_SEARCH, ACTION_LINE_ACCEPT, ACTION_LINE_CANCEL },
		{ CONTEXT_TEXT, ACTION_FORM_ACCEPT, ACTION_FORM_CANCEL },
		{ CONTEXT_CHOICE, ACTION_FORM_ACCEPT, ACTION_FORM_CANCEL },
	};
	struct keymap keymap;
	keymap_init(&keymap);
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		for (size_t k = 0; k < 3; k++) {
			cleanup_free char *binding = xasprintf(
				"%s=%s", action_info((enum action)i)->name,
				(const char *const[]){ "Enter", "Esc", "F9" }[k]);
			(void)keymap_bind(&keymap, binding, NULL);
		}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(keymap_action(&keymap, cases[i].context, KEY_CODE_ENTER),
				 cases[i].enter);
		assert_int_equal(keymap_action(&keymap, cases[i].context, KEY_CODE_ESCAPE),
				 cases[i].escape);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_has_two_meanings),
		cmocka_unit_test(what_is_typed_is_text),
		cmocka_unit_test(a_user_binds_keys),
		cmocka_unit_test(the_keys_in_use_are_named),
		cmocka_unit_test(a_wrong_binding_changes_nothing),
		cmocka_unit_test(a_conflict_is_refused_where_both_work),
		cmocka_unit_test(enter_and_escape_always_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
