/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

void ui_tell(struct ui *ui, const char *text, bool is_bad)
{
	replace_string(&ui->message, text);
	ui->is_bad = is_bad;
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

bool ui_awaits(const struct ui *ui, unsigned ticket)
{
	return ticket == ui->ticket && (ui->mode == MODE_LOOKING || ui->is_waiting);
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

void ui_begin_line(struct ui *ui, enum action action, char *question, const char *text)
{
	ui->mode = MODE_LINE;
	ui->pending = action;
	ui->is_held = false;
	free(ui->question);
	ui->question = question;
	input_set(&ui->input, text);
}

void ui_keep_draft(struct ui *ui, const char *id, const char *text)
{
	free(ui_take_draft(ui, id));
	strvec_push(&ui->drafts, id);
	strvec_push(&ui->drafts, text);
}

char *ui_take_draft(struct ui *ui, const char *id)
{
	cleanup_strvec struct strvec others = { 0 };
	char *found = NULL;
	for (size_t i = 0; i < ui->drafts.count; i += 2) {
		if (!found && streq(ui->drafts.items[i], id)) {
			found = xstrdup(ui->drafts.items[i + 1]);
			continue;
		}
		strvec_push(&others, ui->drafts.items[i]);
		strvec_push(&others, ui->drafts.items[i + 1]);
	}
	strvec_clear(&ui->drafts);
	strvec_push_all(&ui->drafts, &others);
	return found;
}

void ui_begin_send(struct ui *ui)
{
	cleanup_free char *who = ui_targets_text(ui);
	cleanup_free char *ids = strvec_join(&ui->targets, "");
	cleanup_free char *draft = ui_take_draft(ui, ids);
	ui_begin_line(ui, ACTION_SEND, xasprintf("Send to %s: ", who), or_empty(draft));
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
