/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

#include <string.h>

/* ---- what is told ----------------------------------------------------------------------------- */

/* The word of a shell at the start of the text.  *ret_end: behind it.  The caller frees. */
static char *first_word(const char *text, const char **ret_end)
{
	struct strbuf word = { 0 };
	bool is_quoted = false;
	for (; *text && (is_quoted || !strchr(" ,;", *text)); text++) {
		if (*text == '\'') {
			is_quoted = !is_quoted;
			continue;
		}
		text += !is_quoted && *text == '\\' && text[1];
		strbuf_add(&word, text, 1);
	}
	*ret_end = text;
	return strbuf_take(&word);
}

/* Do the keys act on the session with this title or id? */
static bool is_at_hand(const struct ui *ui, const char *name)
{
	const struct item *item = list_selected(ui->list);
	const char *id = ui->targets.count ? ui->targets.items[0] : item ? item->id : "";
	return streq(name, id) || streq(name, ui_title_of(ui, id));
}

/* The key that does what is advised, and the end of the advice.  ACTION_NONE: none does. */
static enum action advised(const struct ui *ui, const char *advice, const char **ret_end)
{
	static const enum action actions[] = { ACTION_START, ACTION_STOP, ACTION_RESTART,
					       ACTION_ATTACH, ACTION_UNDO };
	advice += starts_with(advice, "session ") ? strlen("session ") : 0;
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		const char *name = action_info(actions[i])->name;
		const size_t length = strlen(name);
		if (!starts_with(advice, name) || ui->keymap.keys[actions[i]][0] == KEY_CODE_NONE)
			continue;
		/* What was removed last needs no name. */
		if (actions[i] == ACTION_UNDO && (!advice[length] || advice[length] == '\n')) {
			*ret_end = advice + length;
			return ACTION_UNDO;
		}
		if (advice[length] != ' ')
			continue;
		cleanup_free char *session = first_word(advice + length + 1, ret_end);
		if (actions[i] == ACTION_UNDO || is_at_hand(ui, session))
			return actions[i];
	}
	return ACTION_NONE;
}

/* A command that is advised becomes the key that does the same here.  The caller frees. */
static char *with_keys(const struct ui *ui, const char *text)
{
	struct strbuf told = { 0 };
	char key[KEYMAP_TEXT_SIZE], leave[KEYMAP_TEXT_SIZE];
	for (const char *at, *end; (at = strstr(text, "agentdeck ")); text = end) {
		const enum action action = advised(ui, at + strlen("agentdeck "), &end);
		strbuf_addf(&told, "%.*s", (int)(at - text), text);
		if (action == ACTION_NONE) {
			end = at + strlen("agentdeck ");
			strbuf_adds(&told, "agentdeck ");
			continue;
		}
		if (ui->mode == MODE_LINE)
			strbuf_addf(&told, "%s, then ",
				    keymap_text(&ui->keymap, ACTION_LINE_CANCEL, leave));
		strbuf_adds(&told, keymap_text(&ui->keymap, action, key));
	}
	strbuf_adds(&told, text);
	return strbuf_take(&told);
}

void ui_tell(struct ui *ui, const char *text, bool is_bad)
{
	cleanup_free char *told = with_keys(ui, text);
	replace_string(&ui->message, told);
	ui->is_bad = is_bad;
}

void ui_tell_key(struct ui *ui, const char *text, enum action action, bool is_bad)
{
	char name[KEYMAP_TEXT_SIZE];
	const char *hole = strstr(text, "%s");
	cleanup_free char *told = xasprintf("%.*s%s%s", (int)(hole - text), text,
					    keymap_text(&ui->keymap, action, name), hole + 2);
	ui_tell(ui, told, is_bad);
}

bool ui_is_for_one(enum action action)
{
	return action == ACTION_RENAME || action == ACTION_COMMAND || action == ACTION_TYPE;
}

struct item *ui_add_targets(const struct ui *ui, struct strvec *ret)
{
	size_t count;
	cleanup_free struct item **targets = list_targets(ui->list, &count);
	for (size_t i = 0; i < count; i++)
		strvec_push(ret, targets[i]->id);
	return count ? targets[0] : NULL;
}

void ui_run(struct ui *ui, struct wish *ret, const char *const *words)
{
	ret->kind = WISH_RUN;
	strvec_push_array(&ret->words, words);
	strvec_push_all(&ret->words, &ui->targets);
	list_choose_none(ui->list);
}

void ui_expect(struct ui *ui, struct wish *ret)
{
	ret->ticket = ++ui->ticket;
}

/* A removal leaves nothing to count. */
static bool is_done(const struct ui *ui, const char *id)
{
	const struct item *item = list_find(ui->list, id);
	return ui->does == ACTION_REMOVE ? !item : item && doing_is_alive(item->doing);
}

size_t ui_count_done(const struct ui *ui)
{
	size_t done = 0;
	for (size_t i = 0; i < ui->many.count; i++)
		done += is_done(ui, ui->many.items[i]);
	return done;
}

char *ui_progress(const struct ui *ui)
{
	const size_t done = ui_count_done(ui);
	if (!ui->many.count)
		return NULL;
	if (ui->is_halted)
		return xasprintf("%zu of %zu sessions are %s; you gave the rest up.", done,
				 ui->many.count, ui->does == ACTION_REMOVE ? "removed" : "started");
	return xasprintf("%s: %zu of %zu sessions", action_info(ui->does)->name, done,
			 ui->many.count);
}

bool ui_is_at_many(struct ui *ui)
{
	const bool removes = ui->does == ACTION_REMOVE;
	if (!ui->many.count)
		return false;
	if (ui->is_halted)
		ui_tell(ui, "The last ones are on their way: wait for them.", true);
	else
		ui_tell_key(
			ui,
			removes ? "Sessions are being removed: wait, or give the rest up with %s."
				: "Sessions are being started: wait, or give the rest up with %s.",
			ACTION_BACK, true);
	return true;
}

void ui_watch_many(struct ui *ui, enum action does, const struct strvec *ids, struct wish *ret)
{
	if (ids->count < 2)
		return;
	strvec_clear(&ui->many);
	strvec_push_all(&ui->many, ids);
	ui->does = does;
	ui_expect(ui, ret);
	ui->many_ticket = ret->ticket;
	ui->is_halted = false;
}

bool ui_awaits(const struct ui *ui, unsigned ticket)
{
	return ticket == ui->ticket &&
	       (ui->mode == MODE_LOOKING || ui->mode == MODE_PICK || ui->is_waiting);
}

const char *ui_title_of(const struct ui *ui, const char *id)
{
	const struct item *item = list_find(ui->list, id);
	return item ? item->title : "the session";
}

char *ui_targets_text(const struct ui *ui)
{
	return ui->targets.count == 1 ? xstrdup(ui_title_of(ui, ui->targets.items[0]))
				      : xasprintf("%zu sessions", ui->targets.count);
}

void ui_drop_draft(struct ui *ui, size_t at)
{
	free(ui->drafts[at].what);
	free(ui->drafts[at].text);
	ui->drafts[at] = ui->drafts[--ui->draft_count];
}

/* The caller frees. */
static char *take_draft(struct ui *ui, const char *what)
{
	for (size_t i = 0; i < ui->draft_count; i++) {
		if (!ui->drafts[i].ticket && streq(ui->drafts[i].what, what)) {
			char *text = TAKE_PTR(ui->drafts[i].text);
			ui_drop_draft(ui, i);
			return text;
		}
	}
	return NULL;
}

void ui_keep_draft(struct ui *ui, const char *what, const char *text, unsigned ticket)
{
	cleanup_free char *before = ticket ? NULL : take_draft(ui, what);
	ui->drafts = xreallocarray(ui->drafts, ui->draft_count + 1, sizeof(*ui->drafts));
	ui->drafts[ui->draft_count++] = (struct draft){
		xstrdup(what), before ? xasprintf("%s %s", before, text) : xstrdup(text), ticket
	};
}

char *ui_name_line(const struct ui *ui)
{
	cleanup_free char *ids = strvec_join(&ui->targets, "");
	return xasprintf("%s %s", action_info(ui->pending)->name,
			 ui->pending == ACTION_COMMAND ? "" : ids);
}

void ui_begin_line(struct ui *ui, enum action action, char *question, const char *text)
{
	ui->mode = MODE_LINE;
	ui->pending = action;
	ui->is_held = false;
	free(ui->question);
	ui->question = question;
	cleanup_free char *what = ui_name_line(ui);
	cleanup_free char *draft = take_draft(ui, what);
	input_set(&ui->input, draft ? draft : text);
}

void ui_begin_send(struct ui *ui)
{
	cleanup_free char *who = ui_targets_text(ui);
	ui_begin_line(ui, ACTION_SEND, xasprintf("Send to %s: ", who), "");
}

void ui_end_pending(struct ui *ui)
{
	ui->mode = ui->pending == ACTION_NEW ? MODE_FORM : MODE_LIST;
	ui->pending = ACTION_NONE;
	ui->is_waiting = ui->is_for_group = ui->is_held = false;
	replace_string(&ui->question, NULL);
	replace_string(&ui->completing, NULL);
	input_free(&ui->input);
	questions_free(&ui->ask);
	dialog_close(&ui->dialog);
	strvec_clear(&ui->picks);
}
