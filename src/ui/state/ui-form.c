/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

#include <string.h>

void ui_open_form(struct ui *ui, struct form_supply *supply, const char *directory)
{
	cleanup_free char *group = list_selected_group(ui->list);
	form_open(&ui->form, supply, directory, or_empty(group));
	ui->mode = MODE_FORM;
}

/* Is another session to be resumed instead of the one that the form is for? */
static void begin_new(struct ui *ui, struct wish *ret)
{
	replace_string(&ui->form.problem, NULL);
	replace_string(&ui->form.instead, NULL);
	ui->form.is_begun = true;
	ui->mode = MODE_LOOKING;
	ui->pending = ACTION_NEW;
	ret->kind = WISH_ASK;
	ui_expect(ui, ret);
	form_ask_words(&ui->form, &ret->words);
	/* The directory. */
	strvec_clear(&ui->targets);
	strvec_push(&ui->targets, ret->words.items[ret->words.count - 1]);
}

void ui_launch(struct ui *ui, struct wish *ret)
{
	const char *message = input_text(&ui->form.texts[FIELD_MESSAGE]);
	ui->form.is_running = true;
	ret->kind = WISH_LAUNCH;
	form_words(&ui->form, &ret->words);
	if (*message)
		ret->input = xstrdup(message);
}

void ui_launched(struct ui *ui, const char *text, bool is_good)
{
	ui->form.is_running = false;
	replace_string(&ui->form.instead, NULL);
	if (is_good) {
		form_empty(&ui->form);
		if (ui->mode == MODE_FORM)
			ui->mode = MODE_LIST;
	} else {
		replace_string(&ui->form.problem, text);
		replace_string(&ui->message, NULL);
	}
	if (is_good || ui->mode != MODE_FORM)
		ui_tell(ui, text, !is_good);
}

static void leave_form(struct ui *ui)
{
	ui->mode = MODE_LIST;
	if (ui->form.is_begun)
		ui_tell_key(ui,
			    ui->form.is_running
				    ? "It is being made; %s shows the form again."
				    : "What you typed is kept; %s shows the form again.",
			    ACTION_NEW, false);
}

static void find(struct ui *ui, struct wish *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	if (ui->form.at == FIELD_BRANCH) {
		form_branch_words(&ui->form, &words);
		ui_ask_candidates(ui, &ui->form.texts[FIELD_BRANCH], &words, ret);
		return;
	}
	ret->kind = WISH_FIND;
	strvec_push_take(&ret->words, form_directory(&ui->form));
}

void ui_key_in_form(struct ui *ui, key_code key, struct wish *ret)
{
	switch (form_key(&ui->form, &ui->keymap, key)) {
	case FORM_STAYS:
		break;
	case FORM_DONE:
		begin_new(ui, ret);
		break;
	case FORM_LEFT:
		leave_form(ui);
		break;
	case FORM_COMPLETE:
		find(ui, ret);
		break;
	}
}

/* ---- what an empty deck offers ---------------------------------------------------------------- */

bool ui_is_empty(const struct ui *ui)
{
	return list_count(ui->list) == 0 && !list_hosts(ui->list);
}

static void do_offer(struct ui *ui, struct wish *ret)
{
	struct welcome *welcome = &ui->welcome;
	/* Ask again: the user may take what is offered, and then less is left. */
	welcome->is_asked = false;
	switch ((enum welcome_row)welcome->at) {
	case OFFER_DISCOVER:
		ret->kind = WISH_SHOW;
		strvec_push(&ret->words, "discover");
		break;
	case OFFER_IMPORT:
		/* The row says how many of which program. */
		ret->kind = WISH_SHOW;
		strvec_push(&ret->words, "import");
		if (welcome->source)
			strvec_push_array(&ret->words, (const char *const[]){ welcome->source,
									      "--apply", NULL });
		break;
	case OFFER_DEMO:
		ret->kind = WISH_LINE;
		ui_expect(ui, ret);
		welcome->making = ret->ticket;
		strvec_push_array(&ret->words,
				  (const char *const[]){ "launch", "--agent", "demo", "--title",
							 "demo", "--no-wait", ".", NULL });
		break;
	default:
		ret->kind = WISH_FORM;
		break;
	}
}

bool ui_take_offer(struct ui *ui, enum action action, struct wish *ret)
{
	struct welcome *welcome = &ui->welcome;
	if (action == ACTION_ATTACH && welcome_has_nothing(welcome))
		ui_tell(ui, "There is nothing of that kind on this machine.", false);
	else if (action == ACTION_ATTACH && welcome->at == OFFER_DEMO && welcome->making)
		ui_tell(ui, "The demo session is being made ...", false);
	else if (action == ACTION_ATTACH)
		do_offer(ui, ret);
	else if (action == ACTION_DOWN)
		welcome->at += welcome->at + 1 < OFFER_COUNT;
	else if (action == ACTION_UP)
		welcome->at -= welcome->at > 0;
	else
		return false;
	return true;
}
