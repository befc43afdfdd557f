/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/action.h"

#include "base/text.h"

#include <string.h>

#define CTRL(letter) ((letter)&KEY_CODE_CTRL)

static const struct action_info actions[ACTION_COUNT] = {
	[ACTION_UP] = { "up", { KEY_CODE_UP, 'k' }, NULL, "one line up", false },
	[ACTION_DOWN] = { "down", { KEY_CODE_DOWN, 'j' }, NULL, "one line down", false },
	[ACTION_PAGE_UP] = { "page-up",
			     { KEY_CODE_PAGE_UP, CTRL('B') },
			     NULL,
			     "one page up",
			     false },
	[ACTION_PAGE_DOWN] = { "page-down",
			       { KEY_CODE_PAGE_DOWN, CTRL('F') },
			       NULL,
			       "one page down",
			       false },
	[ACTION_FIRST] = { "first", { KEY_CODE_HOME, 'g' }, NULL, "to the first line", false },
	[ACTION_LAST] = { "last", { KEY_CODE_END, 'G' }, NULL, "to the last line", false },
	[ACTION_COLLAPSE] = { "collapse",
			      { KEY_CODE_LEFT, 'h' },
			      NULL,
			      "collapse the group",
			      false },
	[ACTION_OPEN] = { "open", { KEY_CODE_RIGHT, 'l' }, NULL, "open the group", false },
	[ACTION_ATTACH] = { "attach",
			    { KEY_CODE_ENTER },
			    "attach",
			    "attach to the session, or start it (Ctrl-Q comes back); on a group: collapse or open it",
			    false },
	[ACTION_NEXT_WAITING] = { "next-waiting",
				  { 'n' },
				  "next waiting",
				  "to the session that has waited longest, then the next",
				  false },
	[ACTION_SEND] = { "send", { 'm' }, "send", "send a line to the agent", true },
	[ACTION_WRITE] = { "write",
			   { 'e' },
			   NULL,
			   "send a text that you write in your editor",
			   true },
	[ACTION_APPROVE] = { "approve",
			     { 'A' },
			     NULL,
			     "show the permission that the agent asks for, and give it",
			     true },
	[ACTION_DENY] = { "deny", { 'D' }, NULL, "the same, and refuse it", true },
	[ACTION_SEARCH] = { "search",
			    { '/' },
			    "search",
			    "show only what contains the words, also in the last replies; Esc shows all again",
			    false },
	[ACTION_SCOPE] = { "filter",
			   { 'f' },
			   NULL,
			   "show all, only those that need you, or only those that run",
			   false },
	[ACTION_ONLY_AGENT] = { "only-agent",
				{ 'a' },
				NULL,
				"show only the sessions of this agent; Esc shows all again",
				false },
	[ACTION_ONLY_GROUP] = { "only-group",
				{ 'z' },
				NULL,
				"show only this group; Esc shows all again",
				false },
	[ACTION_ORDER] = { "order",
			   { 'o' },
			   NULL,
			   "sort by creation, urgency, title, last use or memory",
			   false },
	[ACTION_PROFILE] = { "profile", { 'P' }, NULL, "to the next profile", false },
	[ACTION_CHOOSE] = { "choose",
			    { ' ' },
			    NULL,
			    "choose the session, or all of the group: the next action is for all chosen ones",
			    true },
	[ACTION_NEW] = { "new", { 'c', '+' }, "new", "make a session: a form asks for it", false },
	[ACTION_START] = { "start", { 's' }, NULL, "start", true },
	[ACTION_STOP] = { "stop", { 'x' }, NULL, "stop", true },
	[ACTION_RESTART] = { "restart", { 'r' }, NULL, "restart", true },
	[ACTION_RECOVER] = { "recover",
			     { 'R' },
			     NULL,
			     "restart everything that should run and does not",
			     false },
	[ACTION_FORK] = { "fork",
			  { 'F' },
			  NULL,
			  "make a session with a copy of the conversation",
			  true },
	[ACTION_RENAME] = { "rename", { 't' }, NULL, "change the title", true },
	[ACTION_MOVE] = { "move", { 'M' }, NULL, "move to another group", true },
	[ACTION_LIMIT] = { "limit",
			   { 'L' },
			   NULL,
			   "change what it may use: memory-max=2G tasks-max=500, 0: no limit of its own",
			   true },
	[ACTION_REMOVE] = { "remove", { 'd' }, NULL, "remove", true },
	[ACTION_UNDO] = { "undo",
			  { 'u' },
			  NULL,
			  "bring back the session that was removed last",
			  false },
	[ACTION_PRUNE] = { "prune",
			   { 'p' },
			   NULL,
			   "show the removed sessions, and delete them for good",
			   false },
	[ACTION_COMMAND] = { "command",
			     { ':' },
			     NULL,
			     "run another command of agentdeck with it: check, set on-end keep",
			     true },
	[ACTION_PREVIEW] = { "preview",
			     { KEY_CODE_TAB },
			     NULL,
			     "show the session's screen, last reply, conversation, facts, log, or nothing",
			     false },
	[ACTION_PREVIEW_UP] = { "preview-up", { 'K' }, NULL, "scroll up what Tab shows", false },
	[ACTION_PREVIEW_DOWN] = { "preview-down",
				  { 'J' },
				  NULL,
				  "scroll down what Tab shows",
				  false },
	[ACTION_COPY] = { "copy",
			  { 'y' },
			  NULL,
			  "copy what the preview shows, else the last reply, to the clipboard",
			  true },
	[ACTION_WALL] = { "wall",
			  { 'w' },
			  NULL,
			  "show the screens of the chosen sessions, of the group or of all, side by side",
			  false },
	[ACTION_HELP] = { "help", { '?', KEY_CODE_F1 }, "help", "this help", false },
	[ACTION_REDRAW] = { "redraw", { CTRL('L') }, NULL, "draw the screen again", false },
	[ACTION_SUSPEND] = { "suspend", { CTRL('Z') }, NULL, "back to the shell, until fg", false },
	[ACTION_QUIT] = { "quit",
			  { 'q', CTRL('C') },
			  "quit",
			  "leave; the sessions keep running",
			  false },
};

const struct action_info *action_info(enum action action)
{
	return &actions[action];
}

void keymap_init(struct keymap *ret)
{
	*ret = (struct keymap){ 0 };
	for (size_t i = 0; i < ACTION_COUNT; i++)
		memcpy(ret->keys[i], actions[i].keys, sizeof(ret->keys[i]));
}

enum action keymap_action(const struct keymap *keymap, key_code key)
{
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		for (size_t k = 0; k < ACTION_KEYS; k++)
			if (key != KEY_CODE_NONE && keymap->keys[i][k] == key)
				return (enum action)i;
	return ACTION_NONE;
}

static enum action action_named(const char *name, size_t length)
{
	for (size_t i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		if (strlen(actions[i].name) == length && memcmp(actions[i].name, name, length) == 0)
			return (enum action)i;
	return ACTION_NONE;
}

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
	while (count < ACTION_KEYS && keymap->keys[action][count] != KEY_CODE_NONE)
		count++;
	if (count == ACTION_KEYS)
		return false;
	keymap->keys[action][count] = key;
	return true;
}

int keymap_bind(struct keymap *keymap, const char *text, struct error *err)
{
	struct keymap changed = *keymap;
	key_code key;
	const size_t length = strcspn(text, "=");
	const enum action action = action_named(text, length);
	cleanup_free char *shown = visible(text);
	if (action == ACTION_NONE || !text[length])
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: write ACTION=KEY; docs/configuration.md has "
				 "the actions",
				 shown);
	if (!key_parse(text + length + 1, &key))
		return error_set(err, ERROR_INVALID,
				 "'%s' in [ui] keys: there is no such key (examples: x, Ctrl-X, "
				 "F2, Enter, Space)",
				 shown);
	for (size_t i = 0; i < ACTION_COUNT; i++)
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
