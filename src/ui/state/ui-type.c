/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

struct item *ui_previewed(const struct ui *ui)
{
	return ui->mode == MODE_AGENT ? list_find(ui->list, ui->typing.id)
				      : list_selected(ui->list);
}

void ui_begin_typing(struct ui *ui, const struct item *item, struct wish *ret)
{
	if (doing_is_at_rest(item->doing)) {
		cleanup_free char *text = xasprintf("%s does not run: start it first.",
						    item->title);
		ui_tell(ui, text, true);
		return;
	}
	if (ui->typing.is_sending) {
		ui_tell(ui, "What you typed last is still on its way: try again.", true);
		return;
	}
	typing_begin(&ui->typing, item->id);
	ui->mode = MODE_AGENT;
	ui->seen_before = ui->preview.kind;
	ui->preview.kind = PREVIEW_SCREEN;
	ui->preview.back = 0;
	ret->kind = WISH_TYPE;
}

/* What is on its way still arrives. */
static void leave(struct ui *ui)
{
	struct item *item = ui_previewed(ui);
	ui->mode = MODE_LIST;
	ui->preview.kind = ui->seen_before;
	if (item && list_has_line(ui->list, item))
		(void)list_select(ui->list, item);
	if (!ui->typing.is_sending && !ui->typing.count)
		typing_end(&ui->typing);
}

void ui_key_to_agent(struct ui *ui, key_code key, struct wish *ret)
{
	switch (keymap_action(&ui->keymap, CONTEXT_AGENT, key)) {
	case ACTION_AGENT_LEAVE:
		leave(ui);
		return;
	case ACTION_AGENT_ESCAPE:
		key = KEY_CODE_ESCAPE;
		break;
	default:
		break;
	}
	ui->preview.back = 0;
	if (typing_key(&ui->typing, key))
		ret->kind = WISH_TYPE;
	else
		ui_tell(ui, "The deck cannot pass this key on: attach to the session for it.",
			true);
}

void ui_typed(struct ui *ui)
{
	typing_arrived(&ui->typing);
	if (ui->mode != MODE_AGENT && !ui->typing.count)
		typing_end(&ui->typing);
}

void ui_type_failed(struct ui *ui, const char *why)
{
	cleanup_free char *text = typing_text(&ui->typing);
	cleanup_free char *id = xstrdup(or_empty(ui->typing.id));
	cleanup_free char *what = xasprintf("%s %s", action_info(ACTION_SEND)->name, id);
	const bool was_typing = ui->mode == MODE_AGENT;
	if (was_typing)
		leave(ui);
	typing_end(&ui->typing);
	if (text)
		ui_keep_draft(ui, what, text, 0);
	/* What its user types on is text, and no key of the list. */
	if (was_typing) {
		strvec_clear(&ui->targets);
		strvec_push(&ui->targets, id);
		ui_begin_send(ui);
		ui->is_held = true;
	}
	ui_tell(ui, why, true);
}

void ui_settle_typing(struct ui *ui)
{
	const struct item *item = ui->mode == MODE_AGENT ? ui_previewed(ui) : NULL;
	if (ui->mode != MODE_AGENT || (item && !doing_is_at_rest(item->doing)))
		return;
	cleanup_free char *why = item ? xasprintf("%s does not run any more.", item->title)
				      : xstrdup("The session was removed.");
	ui_type_failed(ui, why);
}
