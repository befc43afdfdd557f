/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/typing.h"

#include <string.h>

/* The input of a program beside the loop has room for 64 KiB. */
enum { STROKE_MOST = 50000 };

void stroke_clear(struct stroke *stroke)
{
	free(stroke->text);
	*stroke = (struct stroke){ 0 };
}

void typing_begin(struct typing *typing, const char *id)
{
	typing_end(typing);
	typing->id = xstrdup(id);
}

void typing_end(struct typing *typing)
{
	for (size_t i = 0; i < typing->count; i++)
		stroke_clear(&typing->strokes[i]);
	free(typing->strokes);
	free(typing->id);
	input_free(&typing->line);
	strbuf_free(&typing->before);
	strbuf_free(&typing->paste);
	*typing = (struct typing){ .is_sending = typing->is_sending };
}

static void add(struct typing *typing, enum stroke_kind kind, const char *text)
{
	typing->strokes = xreallocarray(typing->strokes, typing->count + 1,
					sizeof(*typing->strokes));
	typing->strokes[typing->count++] = (struct stroke){ kind, xstrdup(text) };
}

/* The name that tmux has for the key; "": none. */
static void name_key(key_code key, char name[KEY_TEXT_SIZE])
{
	static const struct {
		key_code key;
		const char *name;
	} names[] = {
		{ KEY_CODE_UP, "Up" },         { KEY_CODE_DOWN, "Down" },
		{ KEY_CODE_LEFT, "Left" },     { KEY_CODE_RIGHT, "Right" },
		{ KEY_CODE_PAGE_UP, "PPage" }, { KEY_CODE_PAGE_DOWN, "NPage" },
		{ KEY_CODE_HOME, "Home" },     { KEY_CODE_END, "End" },
		{ KEY_CODE_DELETE, "DC" },     { KEY_CODE_BACKSPACE, "BSpace" },
		{ KEY_CODE_BACKTAB, "BTab" },  { KEY_CODE_TAB, "Tab" },
		{ KEY_CODE_ENTER, "Enter" },   { KEY_CODE_ESCAPE, "Escape" },
	};
	const char *found = "";
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].key == key)
			found = names[i].name;
	if (!*found && key < ' ')
		(void)snprintf(name, KEY_TEXT_SIZE, "C-%c",
			       (char)(key | (key <= 'Z' - '@' ? 0x60 : 0x40)));
	else if (key >= KEY_CODE_F1 && key <= KEY_CODE_LAST)
		(void)snprintf(name, KEY_TEXT_SIZE, "F%u", key - KEY_CODE_F1 + 1);
	else
		(void)snprintf(name, KEY_TEXT_SIZE, "%s", found);
}

/* What is in the agent's box, as its user believes. */
static void follow(struct typing *typing, key_code key)
{
	struct keymap usual;
	if (key == KEY_CODE_ENTER)
		strbuf_addf(&typing->before, "%s ", input_text(&typing->line));
	if (key == KEY_CODE_ENTER || key == ('C' & KEY_CODE_CTRL)) {
		input_free(&typing->line);
		return;
	}
	keymap_init(&usual);
	(void)input_key(&typing->line, &usual, CONTEXT_LINE, key);
}

bool typing_key(struct typing *typing, key_code key)
{
	char name[KEY_TEXT_SIZE];
	if (key >= ' ' && key < KEY_CODE_FIRST && key != 0x7F) {
		add(typing, STROKE_TEXT, key == ' ' ? " " : key_text(key, name));
	} else {
		name_key(key, name);
		if (!*name)
			return false;
		add(typing, STROKE_KEY, name);
	}
	follow(typing, key);
	return true;
}

void typing_paste_end(struct typing *typing)
{
	if (typing->paste.length)
		add(typing, STROKE_PASTE, strbuf_text(&typing->paste));
	strbuf_free(&typing->paste);
}

/* Control characters could act in the agent's terminal. */
void typing_paste(struct typing *typing, key_code key)
{
	char name[KEY_TEXT_SIZE];
	const bool is_text = key >= ' ' && key < KEY_CODE_FIRST && key != 0x7F;
	if (key == KEY_CODE_ENTER || key == KEY_CODE_TAB)
		strbuf_adds(&typing->paste, key == KEY_CODE_TAB ? "\t" : "\n");
	else if (is_text)
		strbuf_adds(&typing->paste, key == ' ' ? " " : key_text(key, name));
	if (is_text || key == KEY_CODE_ENTER || key == KEY_CODE_TAB)
		(void)input_type(&typing->line, is_text ? key : ' ');
	if (typing->paste.length >= STROKE_MOST)
		typing_paste_end(typing);
}

bool typing_take(struct typing *typing, struct stroke *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	size_t taken = 0;
	if (!typing->count)
		return false;
	const enum stroke_kind kind = typing->strokes[0].kind;
	do {
		strbuf_adds(&text, typing->strokes[taken].text);
		stroke_clear(&typing->strokes[taken++]);
	} while (kind == STROKE_TEXT && taken < typing->count && text.length < STROKE_MOST &&
		 typing->strokes[taken].kind == STROKE_TEXT);
	typing->count -= taken;
	memmove(typing->strokes, typing->strokes + taken, typing->count * sizeof(*typing->strokes));
	*ret = (struct stroke){ kind, strbuf_take(&text) };
	return true;
}

void typing_arrived(struct typing *typing)
{
	if (!typing->count)
		strbuf_free(&typing->before);
}

char *typing_text(const struct typing *typing)
{
	const char *before = strbuf_text(&typing->before);
	const char *line = input_text(&typing->line);
	cleanup_free char *text = xasprintf("%s%s", before + strspn(before, " "), line);
	for (size_t length = strlen(text); length && text[length - 1] == ' ';)
		text[--length] = '\0';
	return *text ? TAKE_PTR(text) : NULL;
}
