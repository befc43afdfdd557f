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

void ui_end_pending(struct ui *ui)
{
	ui->mode = ui->pending == ACTION_NEW ? MODE_FORM : MODE_LIST;
	ui->pending = ACTION_NONE;
	ui->is_waiting = false;
	replace_string(&ui->question, NULL);
	input_free(&ui->input);
	questions_free(&ui->ask);
	dialog_close(&ui->dialog);
}
