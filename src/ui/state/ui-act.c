/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

#include <string.h>

/* So many start without a question. */
enum { STARTS_MOST = 5 };

/* Like ui_run(), with a command for one session, once for each.  The words after follow its id. */
static void run_each(struct ui *ui, struct wish *ret, const char *const *words,
		     const char *const *after)
{
	ret->kind = WISH_RUN;
	strvec_push_array(&ret->words, words);
	ret->at = ret->words.count;
	if (ui->targets.count == 1)
		strvec_push_all(&ret->words, &ui->targets);
	else
		strvec_push_all(&ret->each, &ui->targets);
	strvec_push_array(&ret->words, after);
	list_choose_none(ui->list);
}

/* Each target is named by an option. */
static void run_on_targets(struct ui *ui, struct wish *ret, const char *const *words)
{
	ui_run(ui, ret, words);
	for (size_t i = ret->words.count - ui->targets.count; i < ret->words.count; i++) {
		char *id = ret->words.items[i];
		ret->words.items[i] = xasprintf("--session=%s", id);
		free(id);
	}
}

static void start(struct ui *ui, struct wish *ret)
{
	ui_run(ui, ret, (const char *const[]){ "start", NULL });
	ui_watch_many(ui, ACTION_START, &ui->targets, ret);
}

static void answer(struct ui *ui, enum action action, struct wish *ret)
{
	if (ui->targets.count > 1)
		ui_tell(ui, "Answer one session at a time: each has its own question.", true);
	else
		ui_look_at_permission(ui, action, ret);
}

/* Each question has its own answer (answer()). */
static bool takes_several(enum action action)
{
	return !ui_is_for_one(action) && action != ACTION_APPROVE && action != ACTION_DENY;
}

static void confirm(struct ui *ui, enum action action)
{
	static const struct confirmation questions[ACTION_COUNT] = {
		[ACTION_START] = { "Start", "one after the other" },
		[ACTION_STOP] = { "Stop", "start resumes the conversation" },
		[ACTION_RESTART] = { "Restart", "it resumes the conversation" },
		[ACTION_FORK] = { "Fork", "a session with a copy of the conversation" },
		[ACTION_REMOVE] = { "Stop and remove", "%s brings it back" },
	};
	ui_confirm(ui, action, &questions[action]);
}

/* True: the cursor is on a group, and the action is for all of it that it would change.  *ret: the
 * first one; NULL: there is none. */
static bool add_group(struct ui *ui, enum action action, struct item **ret)
{
	size_t count;
	if (action != ACTION_START && action != ACTION_STOP && action != ACTION_RESTART &&
	    action != ACTION_REMOVE)
		return false;
	cleanup_free struct item **items = list_group(ui->list, &count);
	for (size_t i = 0; items && i < count; i++) {
		const bool is_alive = doing_is_alive(items[i]->doing);
		if (action != ACTION_REMOVE && is_alive == (action == ACTION_START))
			continue;
		*ret = *ret ? *ret : items[i];
		strvec_push(&ui->targets, items[i]->id);
	}
	return items != NULL;
}

/* The cursor is on a group, or the list is empty. */
static void tell_nothing_selected(struct ui *ui, bool offers_several)
{
	const key_code choose = ui->keymap.keys[ACTION_CHOOSE][0];
	if (!offers_several || choose == KEY_CODE_NONE || !list_lines(ui->list))
		ui_tell(ui, "No session is selected: move to one first.", true);
	else
		ui_tell_key(ui,
			    "This is a group: move to a session, or choose all of the group with "
			    "%s.",
			    ACTION_CHOOSE, true);
}

/* The line stays until its command has ended: what is typed next must not act as keys. */
static void wait_for_line(struct ui *ui, struct wish *ret)
{
	ret->kind = WISH_LINE;
	ui_expect(ui, ret);
	ui->is_waiting = true;
}

/* False: it is no action for a group, or none is selected. */
static bool begin_group_line(struct ui *ui, enum action action)
{
	cleanup_free char *group = list_selected_group(ui->list);
	if (!group || list_selected_host(ui->list) ||
	    (action != ACTION_RENAME && action != ACTION_MOVE))
		return false;
	const char *slash = strrchr(group, '/');
	const bool is_name = action == ACTION_RENAME;
	strvec_push(&ui->targets, group);
	ui->is_for_group = true;
	ui_begin_line(ui, action, xasprintf("%s of group %s: ", is_name ? "Name" : "Path", group),
		      is_name && slash ? slash + 1 : group);
	return true;
}

/* With all groups below it. */
static void rename_group(struct ui *ui, const char *text, struct wish *ret)
{
	const char *group = ui->targets.items[0], *slash = strrchr(group, '/');
	const int around = ui->pending == ACTION_RENAME && slash ? (int)(slash - group) + 1 : 0;
	strvec_push_array(&ret->words,
			  (const char *const[]){ "group", "rename", "--", group, NULL });
	strvec_pushf(&ret->words, "%.*s%s", around, group, text);
	wait_for_line(ui, ret);
}

void ui_act_on(struct ui *ui, enum action action, struct wish *ret)
{
	ui->is_for_group = false;
	if (ui_is_for_one(action))
		list_choose_none(ui->list);
	strvec_clear(&ui->targets);
	struct item *first = ui_add_targets(ui, &ui->targets);
	if (!first && begin_group_line(ui, action))
		return;
	const bool is_group = !first && add_group(ui, action, &first);
	if (is_group && !first) {
		ui_tell(ui,
			action == ACTION_START ? "All of this group run already."
					       : "None of this group runs.",
			false);
		return;
	}
	if (!first && action == ACTION_COMMAND) {
		ui_begin_command(ui, "");
		return;
	}
	if (!first) {
		tell_nothing_selected(ui, takes_several(action));
		return;
	}
	cleanup_free char *who = ui_targets_text(ui);
	switch (action) {
	case ACTION_START:
		if (ui->targets.count == 1 && first->asks_first)
			ui_look(ui, action, ret);
		else if (ui->targets.count > 1 && ui_is_at_many(ui))
			break;
		else if (ui->targets.count > (is_group ? 1 : STARTS_MOST))
			confirm(ui, action);
		else
			start(ui, ret);
		break;
	case ACTION_REMOVE:
		if (ui->targets.count > 1 && ui_is_at_many(ui))
			break;
		confirm(ui, action);
		break;
	case ACTION_FORK:
	case ACTION_STOP:
	case ACTION_RESTART:
		confirm(ui, action);
		break;
	case ACTION_WRITE:
		run_on_targets(ui, ret, (const char *const[]){ "send", "--edit", NULL });
		ret->kind = WISH_TERMINAL;
		break;
	case ACTION_APPROVE:
	case ACTION_DENY:
		answer(ui, action, ret);
		break;
	case ACTION_SEND:
		ui_begin_send(ui);
		break;
	case ACTION_TYPE:
		ui_begin_typing(ui, first, ret);
		break;
	case ACTION_RENAME:
		ui_begin_line(ui, action, xasprintf("Title of %s: ", who), first->title);
		break;
	case ACTION_MOVE:
		ui_begin_line(ui, action, xasprintf("Group of %s: ", who), first->group);
		break;
	case ACTION_COMMAND:
		ui_begin_command(ui, "");
		break;
	case ACTION_LIMIT:
		ui_begin_line(ui, action, xasprintf("Limits of %s: ", who), "memory-max=");
		break;
	default:
		break;
	}
}

bool ui_has_diff(const struct ui *ui)
{
	const struct item *item = list_selected(ui->list);
	return item && ui->preview.kind == PREVIEW_CHANGES && !ui->preview.has_failed &&
	       preview_shows(&ui->preview, PREVIEW_CHANGES, item->id);
}

void ui_attach(struct ui *ui, struct wish *ret)
{
	const struct item *item = list_selected(ui->list);
	if (ui_has_diff(ui)) {
		ret->kind = WISH_SHOW;
		strvec_push_array(&ret->words,
				  (const char *const[]){ "changes", "--diff", item->id, NULL });
	} else if (item && item->asks_first) {
		strvec_clear(&ui->targets);
		strvec_push(&ui->targets, item->id);
		ui_look(ui, ACTION_ATTACH, ret);
	} else if (item) {
		ret->kind = WISH_ATTACH;
		strvec_push(&ret->words, item->id);
	} else if (list_lines(ui->list)) {
		const struct line *line = list_line(ui->list, list_cursor(ui->list));
		list_set_collapsed(ui->list, !line->is_collapsed);
	}
}

void ui_copy(struct ui *ui, struct wish *ret)
{
	const struct item *item = list_selected(ui->list);
	if (!item) {
		tell_nothing_selected(ui, false);
		return;
	}
	ret->kind = WISH_COPY;
	preview_add_words(ui->preview.kind ? ui->preview.kind : PREVIEW_REPLY, item->id,
			  &ret->words);
}

/* Take the end of a line that the user has left.  True: it failed, and its text is a draft now. */
static bool keep_left(struct ui *ui, unsigned ticket, bool is_good)
{
	size_t at = 0;
	while (at < ui->draft_count && ui->drafts[at].ticket != ticket)
		at++;
	if (at == ui->draft_count)
		return false;
	if (is_good) {
		ui_drop_draft(ui, at);
		return false;
	}
	/* Out of the drafts first: keeping it moves them. */
	cleanup_free char *what = TAKE_PTR(ui->drafts[at].what);
	cleanup_free char *text = TAKE_PTR(ui->drafts[at].text);
	ui_drop_draft(ui, at);
	ui_keep_draft(ui, what, text, 0);
	return true;
}

void ui_line_ended(struct ui *ui, unsigned ticket, const char *text, bool is_good)
{
	cleanup_free char *other = keep_left(ui, ticket, is_good)
					   ? xasprintf("%s. What you typed is kept.", text)
					   : NULL;
	if (ticket == ui->many_ticket && ui->many.count) {
		other = ui->is_halted && is_good ? ui_progress(ui) : NULL;
		/* The list may not have heard of a success yet. */
		if (ui->does == ACTION_REMOVE)
			ui->has_removed = (is_good && !ui->is_halted) || ui_count_done(ui);
		strvec_clear(&ui->many);
	}
	if (ui->is_waiting && ui_awaits(ui, ticket)) {
		ui->is_waiting = false;
		if (is_good)
			ui_end_pending(ui);
	}
	if (ticket == ui->welcome.making && !is_good)
		ui->welcome.making = 0;
	ui_tell(ui, other ? other : text, !is_good);
}

/* Options as they are typed, without their dashes. */
static void limit(struct ui *ui, const char *text, struct wish *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	strvec_push(&words, "limit");
	for (const char *word; (word = strsep(&rest, " "));)
		if (*word)
			strvec_pushf(&words, "%s%s", starts_with(word, "--") ? "" : "--", word);
	if (words.count == 1) {
		ui_end_pending(ui);
		return;
	}
	strvec_push(&words, "--");
	run_each(ui, ret, (const char *const *)words.items, (const char *const[]){ NULL });
	wait_for_line(ui, ret);
}

/* The cursor is on the answer, where there are several. */
static void answer_with(struct ui *ui, struct wish *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, (const char *const[]){ action_info(ui->pending)->name,
							 "--question", ui->ask.seen, NULL });
	if (ui->picks.count)
		strvec_pushf(&words, "--choice=%s", ui->picks.items[ui->dialog.cursor - 1]);
	strvec_push(&words, "--");
	ui_run(ui, ret, (const char *const *)words.items);
}

/* Drafts that were joined can have more than the input of a command has room for. */
static bool is_too_long(struct ui *ui, const char *text)
{
	if (strlen(text) <= INPUT_MAX)
		return false;
	cleanup_free char *why = xasprintf("This is too long to send: %zu bytes of %d.",
					   strlen(text), INPUT_MAX);
	ui_tell(ui, why, true);
	return true;
}

void ui_go_on(struct ui *ui, struct wish *ret)
{
	const char *text = input_text(&ui->input);
	if (ui->is_for_group) {
		rename_group(ui, text, ret);
		return;
	}
	switch (ui->pending) {
	case ACTION_START:
		start(ui, ret);
		break;
	case ACTION_FORK:
		/* Several are made one after the other, so that each would wait for the agents of
		 * those before it. */
		run_each(ui, ret,
			 ui->targets.count == 1
				 ? (const char *const[]){ "fork", NULL }
				 : (const char *const[]){ "fork", "--no-wait", NULL },
			 (const char *const[]){ NULL });
		break;
	case ACTION_APPROVE:
	case ACTION_DENY:
		answer_with(ui, ret);
		break;
	case ACTION_STOP:
	case ACTION_RESTART:
		if (ui->pending == ACTION_RESTART && ui->targets.count == 1) {
			ui_look(ui, ACTION_RESTART, ret);
			return;
		}
		ui_run(ui, ret, (const char *const[]){ action_info(ui->pending)->name, NULL });
		break;
	case ACTION_REMOVE:
		strvec_clear(&ui->agreed);
		strvec_clear(&ui->given_up);
		ui_look(ui, ACTION_REMOVE, ret);
		return;
	case ACTION_RECOVER:
		strvec_clear(&ui->targets);
		ui_run(ui, ret, (const char *const[]){ "recover", NULL });
		break;
	case ACTION_SEND:
		if (!*text)
			break;
		if (is_too_long(ui, text))
			return;
		/* By standard input: everybody on the machine can read a command line. */
		run_on_targets(ui, ret,
			       (const char *const[]){ "send", "--message-file", "-", NULL });
		ret->input = xstrdup(text);
		wait_for_line(ui, ret);
		return;
	case ACTION_RENAME:
		ui_run(ui, ret, (const char *const[]){ "rename", "--", NULL });
		strvec_push(&ret->words, text);
		wait_for_line(ui, ret);
		return;
	case ACTION_MOVE:
		run_each(ui, ret, (const char *const[]){ "set", "--", NULL },
			 (const char *const[]){ "group", text, NULL });
		wait_for_line(ui, ret);
		return;
	case ACTION_LIMIT:
		limit(ui, text, ret);
		return;
	case ACTION_COMMAND:
		ui_run_command(ui, text, ret);
		return;
	default:
		break;
	}
	ui_end_pending(ui);
}
