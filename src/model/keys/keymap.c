/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/keys/keymap.h"

#include <string.h>

/* What a key always means. */
static const struct {
	key_code key;
	unsigned contexts;
	enum action action;
} fixed[] = {
	{ KEY_CODE_ENTER, CONTEXT_QUESTION, ACTION_ATTACH },
	{ KEY_CODE_ENTER, CONTEXT_LINES, ACTION_LINE_ACCEPT },
	{ KEY_CODE_ENTER, CONTEXT_FORM, ACTION_FORM_ACCEPT },
	{ KEY_CODE_ESCAPE, CONTEXT_LIST, ACTION_BACK },
	{ KEY_CODE_ESCAPE, CONTEXT_WALL | CONTEXT_QUESTION, ACTION_QUIT },
	{ KEY_CODE_ESCAPE, CONTEXT_LINES, ACTION_LINE_CANCEL },
	{ KEY_CODE_ESCAPE, CONTEXT_FORM, ACTION_FORM_CANCEL },
	{ KEY_CODE_ESCAPE, CONTEXT_AGENT, ACTION_AGENT_LEAVE },
};

void keymap_init(struct keymap *ret)
{
	*ret = (struct keymap){ 0 };
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		memcpy(ret->keys[i], action_info((enum action)i)->keys, sizeof(ret->keys[i]));
}

static bool has_key(const key_code keys[ACTION_KEYS], key_code key)
{
	for (size_t i = 0; i < ACTION_KEYS; i++)
		if (keys[i] == key)
			return true;
	return false;
}

enum action keymap_action(const struct keymap *keymap, enum key_context context, key_code key)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (fixed[i].key == key && fixed[i].contexts & context)
			return fixed[i].action;
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		if (key != KEY_CODE_NONE && action_info((enum action)i)->contexts & context &&
		    has_key(keymap->keys[i], key))
			return (enum action)i;
	return ACTION_NONE;
}

/* ---- binding ---------------------------------------------------------------------------------- */

static void take_key(key_code keys[ACTION_KEYS], key_code key)
{
	size_t kept = 0;
	for (size_t i = 0; i < ACTION_KEYS; i++)
		if (keys[i] != key)
			keys[kept++] = keys[i];
	while (kept < ACTION_KEYS)
		keys[kept++] = KEY_CODE_NONE;
}

static bool add_key(struct keymap *keymap, enum action action, key_code key)
{
	size_t count = 0;
	if (!keymap->is_own[action])
		memset(keymap->keys[action], 0, sizeof(keymap->keys[action]));
	keymap->is_own[action] = true;
	take_key(keymap->keys[action], key);
	while (count < ACTION_KEYS && keymap->keys[action][count] != KEY_CODE_NONE)
		count++;
	if (count == ACTION_KEYS)
		return false;
	keymap->keys[action][count] = key;
	return true;
}

/* The action that keeps the key from being bound to this one; ACTION_NONE: there is none. */
static enum action rival_of(const struct keymap *keymap, enum action action, key_code key)
{
	const unsigned contexts = action_info(action)->contexts;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (fixed[i].key == key && fixed[i].contexts & contexts &&
		    fixed[i].action != action)
			return fixed[i].action;
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		if (i != action && keymap->is_own[i] &&
		    action_info((enum action)i)->contexts & contexts &&
		    has_key(keymap->keys[i], key))
			return (enum action)i;
	return ACTION_NONE;
}

static int check_key(const struct keymap *keymap, enum action action, key_code key,
		     const char *shown, struct error *err)
{
	char name[KEY_TEXT_SIZE];
	const enum action rival = rival_of(keymap, action, key);
	if (rival != ACTION_NONE)
		return error_set(
			err, ERROR_INVALID,
			"'%s' in [ui] keys: %s belongs to %s, which works in the same place", shown,
			key_text(key, name), action_info(rival)->name);
	if (action_info(action)->contexts & (CONTEXT_TYPED | CONTEXT_AGENT) && key >= ' ' &&
	    key < KEY_CODE_FIRST)
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: %s is text there: take one such as Ctrl-X or "
				 "F2",
				 shown, key_text(key, name));
	return 0;
}

static int parse(const char *text, const char *shown, enum action *ret_action, key_code *ret_key,
		 struct error *err)
{
	const size_t length = strcspn(text, "=");
	*ret_action = action_named(text, length);
	if (*ret_action == ACTION_NONE || !text[length])
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: write ACTION=KEY; agentdeck-config(5) has "
				 "the actions",
				 shown);
	if (!key_parse(text + length + 1, ret_key))
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: there is no such key (examples: x, Ctrl-X, "
				 "F2, Enter, Space)",
				 shown);
	return 0;
}

int keymap_bind(struct keymap *keymap, const char *text, struct error *err)
{
	struct keymap changed = *keymap;
	enum action action;
	key_code key;
	cleanup_free char *shown = visible(text);
	if (parse(text, shown, &action, &key, err) < 0 ||
	    check_key(keymap, action, key, shown, err) < 0)
		return -1;
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		if (i != action &&
		    action_info((enum action)i)->contexts & action_info(action)->contexts)
			take_key(changed.keys[i], key);
	if (!add_key(&changed, action, key))
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: an action has at most %d keys", shown,
				 ACTION_KEYS);
	if (changed.keys[ACTION_QUIT][0] == KEY_CODE_NONE)
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: quit needs a key, too: bind that first",
				 shown);
	*keymap = changed;
	return 0;
}

size_t keymap_check(const struct strvec *bindings, struct strvec *ret_why, size_t *ret_at)
{
	struct keymap keymap;
	size_t count = 0;
	keymap_init(&keymap);
	for (size_t i = 0; i < bindings->count; i++) {
		cleanup_error struct error why = { 0 };
		if (keymap_bind(&keymap, bindings->items[i], &why) == 0)
			continue;
		strvec_push(ret_why, why.message);
		ret_at[count++] = i;
	}
	return count;
}

/* ---- for people ------------------------------------------------------------------------------- */

/* The user's own come first, then what is fixed. */
char *keymap_all(const struct keymap *keymap, enum action action)
{
	char name[KEY_TEXT_SIZE];
	struct strbuf text = { 0 };
	const key_code *keys = keymap->keys[action];
	for (size_t i = 0; i < ACTION_KEYS && keys[i] != KEY_CODE_NONE; i++)
		strbuf_addf(&text, "%s%s", text.length ? ", " : "", key_text(keys[i], name));
	/* The keys of attach and quit hold only in some places, which say so. */
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (fixed[i].action == action && action != ACTION_ATTACH && action != ACTION_QUIT &&
		    !has_key(keys, fixed[i].key))
			strbuf_addf(&text, "%s%s", text.length ? ", " : "",
				    key_text(fixed[i].key, name));
	return strbuf_take(&text);
}

const char *keymap_text(const struct keymap *keymap, enum action action,
			char name[KEYMAP_TEXT_SIZE])
{
	const char *own = action_info(action)->name;
	key_code key = keymap->keys[action][0];
	for (size_t i = 0; key == KEY_CODE_NONE && i < ARRAY_SIZE(fixed); i++)
		if (fixed[i].action == action && !(fixed[i].contexts & CONTEXT_QUESTION))
			key = fixed[i].key;
	if (key == KEY_CODE_NONE)
		(void)snprintf(name, KEYMAP_TEXT_SIZE, "%s", own);
	else
		(void)key_text(key, name);
	return name;
}
