/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui.h"

#include "base/argsplit.h"

#include <string.h>

struct ui *ui_new(const char *profile)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));
	ui->profile = visible(profile);
	ui->list = list_new();
	keymap_init(&ui->keymap);
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	list_free(ui->list);
	input_free(&ui->input);
	strvec_clear(&ui->targets);
	strvec_clear(&ui->agreed);
	strvec_clear(&ui->given_up);
	preview_free(&ui->preview);
	free(ui->profile);
	free(ui->search);
	ask_free(&ui->ask);
	dialog_close(&ui->dialog);
	form_free(&ui->form);
	free(ui->question);
	free(ui->message);
	free(ui);
}

void wish_clear(struct wish *wish)
{
	strvec_clear(&wish->words);
	strvec_clear(&wish->each);
	free(wish->input);
	*wish = (struct wish){ 0 };
}

void ui_tell(struct ui *ui, const char *text, bool is_bad)
{
	replace_string(&ui->message, text);
	ui->is_bad = is_bad;
}

/* ---- actions on sessions ---------------------------------------------------------------------- */

static struct item *take_targets(struct ui *ui)
{
	size_t count;
	cleanup_free struct item **targets = list_targets(ui->list, &count);
	strvec_clear(&ui->targets);
	for (size_t i = 0; i < count; i++)
		strvec_push(&ui->targets, targets[i]->id);
	return count ? targets[0] : NULL;
}

/* "api", or "3 sessions".  The caller frees. */
static char *targets_text(const struct ui *ui, const struct item *first)
{
	return ui->targets.count == 1 ? xstrdup(first->title)
				      : xasprintf("%zu sessions", ui->targets.count);
}

static void run(struct ui *ui, struct wish *ret, const char *const *words)
{
	ret->kind = WISH_RUN;
	strvec_push_array(&ret->words, words);
	strvec_push_all(&ret->words, &ui->targets);
	list_choose_none(ui->list);
}

/* The same with a command for one session: once for each.  The words after stand behind it. */
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
	run(ui, ret, words);
	for (size_t i = ret->words.count - ui->targets.count; i < ret->words.count; i++) {
		char *id = ret->words.items[i];
		ret->words.items[i] = xasprintf("--session=%s", id);
		free(id);
	}
}

static void begin_line(struct ui *ui, enum action action, char *question, const char *text)
{
	ui->mode = MODE_LINE;
	ui->pending = action;
	free(ui->question);
	ui->question = question;
	input_set(&ui->input, text);
}

/* ---- questions -------------------------------------------------------------------------------- */

static void next_question(struct ui *ui)
{
	dialog_open(&ui->dialog, &ui->ask.questions[ui->ask.next++]);
	ui->mode = MODE_DIALOG;
}

struct confirmation {
	const char *label, *effect; /* of the choice that does it */
	char *prompt;               /* taken */
};

static void begin_confirm(struct ui *ui, enum action action, const struct confirmation *wanted)
{
	cleanup_free char *prompt = wanted->prompt;
	struct question *question = &ui->ask.questions[0];
	ui->pending = action;
	ask_free(&ui->ask);
	ui->ask.about = ASK_CONFIRM;
	ui->ask.count = 1;
	question_begin(question, action_info(action)->name, prompt);
	question_add_choice(question, CHOICE_KEEP, "Back", "nothing changes");
	question_add_choice(question, CHOICE_CONTINUE, wanted->label, wanted->effect);
	next_question(ui);
}

static void end_pending(struct ui *ui)
{
	ui->mode = ui->pending == ACTION_NEW ? MODE_FORM : MODE_LIST;
	ui->pending = ACTION_NONE;
	replace_string(&ui->question, NULL);
	input_free(&ui->input);
	ask_free(&ui->ask);
	dialog_close(&ui->dialog);
}

static void give_up(struct ui *ui)
{
	end_pending(ui);
	replace_string(&ui->form.instead, NULL);
	ui_tell(ui, "Nothing was done.", false);
}

/* What has agentdeck to ask about the first target? */
static void begin_looking(struct ui *ui, enum action action, struct wish *ret)
{
	const char *occasion = action == ACTION_REMOVE ? "remove" : "start";
	end_pending(ui);
	ui->mode = MODE_LOOKING;
	ui->pending = action;
	ui->question = ui->targets.count == 1 ? xstrdup("Looking at its work ...")
					      : xasprintf("Looking at the work of %zu sessions ...",
							  ui->targets.count);
	ret->kind = WISH_ASK;
	strvec_push_array(&ret->words, (const char *const[]){ "settle", "--", ui->targets.items[0],
							      occasion, NULL });
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
	form_ask_words(&ui->form, &ret->words);
	/* The directory: the last but one. */
	strvec_clear(&ui->targets);
	strvec_push(&ui->targets, ret->words.items[ret->words.count - 2]);
}

static void resume_instead(struct ui *ui, const char *id, struct wish *ret)
{
	replace_string(&ui->form.instead, id);
	strvec_clear(&ui->targets);
	strvec_push(&ui->targets, ui->form.instead);
	begin_looking(ui, ACTION_NEW, ret);
}

static void launch(struct ui *ui, struct wish *ret)
{
	const char *message = input_text(&ui->form.texts[FIELD_MESSAGE]);
	ui->form.is_running = true;
	ret->kind = WISH_LAUNCH;
	form_words(&ui->form, &ret->words);
	if (*message)
		ret->input = xstrdup(message);
}

/* All that is agreed to at once, when nobody is left to be asked about. */
static void go_on_removing(struct ui *ui, struct wish *ret)
{
	if (ui->targets.count) {
		begin_looking(ui, ACTION_REMOVE, ret);
		return;
	}
	if (ui->agreed.count == 0) {
		give_up(ui);
		return;
	}
	run(ui, ret, (const char *const[]){ "remove", "--force", NULL });
	strvec_push_all(&ret->words, &ui->given_up);
	strvec_push(&ret->words, "--");
	strvec_push_all(&ret->words, &ui->agreed);
	end_pending(ui);
}

/* The first target may go (seen: with this work, NULL: it has none), or stays. */
static void settle_removal(struct ui *ui, bool goes, const char *seen, struct wish *ret)
{
	cleanup_strvec struct strvec others = { 0 };
	const char *id = ui->targets.items[0];
	if (goes)
		strvec_push(&ui->agreed, id);
	if (goes && seen)
		strvec_pushf(&ui->given_up, "--seen=%s=%s", id, seen);
	strvec_push_array(&others, (const char *const *)ui->targets.items + 1);
	strvec_clear(&ui->targets);
	strvec_push_all(&ui->targets, &others);
	go_on_removing(ui, ret);
}

/* There is nothing to ask, or that is the answer. */
static void do_pending(struct ui *ui, struct wish *ret)
{
	switch (ui->pending) {
	case ACTION_ATTACH:
		ret->kind = WISH_ATTACH;
		strvec_push_array(&ret->words, (const char *const[]){ "--asked", "--",
								      ui->targets.items[0], NULL });
		break;
	case ACTION_START:
		run(ui, ret, (const char *const[]){ "start", "--no-wait", NULL });
		break;
	case ACTION_REMOVE:
		settle_removal(ui, true, NULL, ret);
		return;
	case ACTION_NEW:
		launch(ui, ret);
		break;
	default:
		break;
	}
	end_pending(ui);
}

/* Keep or clean.  agentdeck compares what there is with what was shown. */
static void pass_on(struct ui *ui, enum choice_kind choice, struct wish *ret)
{
	ret->kind = WISH_RUN;
	strvec_push_array(&ret->words,
			  (const char *const[]){ "settle", "--answer", choice_kind_name(choice),
						 "--seen", ui->ask.seen, "--", ui->targets.items[0],
						 "start", NULL });
	list_choose_none(ui->list);
	end_pending(ui);
}

void ui_asked(struct ui *ui, const char *text, struct wish *ret)
{
	cleanup_error struct error why = { 0 };
	cleanup_ask struct ask ask = { 0 };
	if (ui->mode != MODE_LOOKING)
		return;
	if (!text || ask_parse(text, &ask, &why) < 0) {
		end_pending(ui);
		if (text)
			ui_tell(ui, why.message, true);
		return;
	}
	/* The user has given up, and asks about another one. */
	if (!streq(ask.id, ui->targets.items[0]))
		return;
	if (ask.is_removed) {
		end_pending(ui);
		ui_tell(ui, or_empty(ask.text), false);
	} else if (ask.about == ASK_NOTHING) {
		do_pending(ui, ret);
	} else {
		ui->ask = ask;
		ask = (struct ask){ 0 };
		next_question(ui);
	}
	list_settle(ui->list);
}

/* Actions for one session, whatever is chosen. */
static bool is_for_one(enum action action)
{
	return action == ACTION_RENAME || action == ACTION_COMMAND;
}

static void confirm(struct ui *ui, enum action action, const char *who)
{
	struct confirmation wanted = { 0 };
	if (action == ACTION_STOP)
		wanted = (struct confirmation){ "Stop", "start resumes the conversation",
						xasprintf("Stop %s?", who) };
	else if (action == ACTION_RESTART)
		wanted = (struct confirmation){ "Restart", "it resumes the conversation",
						xasprintf("Restart %s?", who) };
	else
		wanted = (struct confirmation){ "Remove", "agentdeck undo brings it back",
						xasprintf("Stop and remove %s?", who) };
	begin_confirm(ui, action, &wanted);
}

/* An action that needs a session, and there is one. */
static void act_on(struct ui *ui, enum action action, struct wish *ret)
{
	if (is_for_one(action))
		list_choose_none(ui->list);
	const struct item *first = take_targets(ui);
	if (!first) {
		ui_tell(ui, "No session is selected: move to one first.", true);
		return;
	}
	cleanup_free char *who = targets_text(ui, first);
	switch (action) {
	case ACTION_START:
		if (ui->targets.count == 1 && first->asks_first)
			begin_looking(ui, action, ret);
		else
			run(ui, ret, (const char *const[]){ "start", "--no-wait", NULL });
		break;
	case ACTION_FORK:
		run_each(ui, ret, (const char *const[]){ "fork", "--no-wait", NULL },
			 (const char *const[]){ NULL });
		break;
	case ACTION_STOP:
	case ACTION_RESTART:
	case ACTION_REMOVE:
		confirm(ui, action, who);
		break;
	case ACTION_WRITE:
		run_on_targets(ui, ret, (const char *const[]){ "send", "--edit", NULL });
		ret->kind = WISH_TERMINAL;
		break;
	case ACTION_SEND:
		begin_line(ui, action, xasprintf("Send to %s: ", who), "");
		break;
	case ACTION_RENAME:
		begin_line(ui, action, xasprintf("Title of %s: ", who), first->title);
		break;
	case ACTION_MOVE:
		begin_line(ui, action, xasprintf("Group of %s: ", who), first->group);
		break;
	case ACTION_COMMAND:
		begin_line(ui, action, xasprintf("Command with %s: ", who), "");
		break;
	case ACTION_LIMIT:
		begin_line(ui, action, xasprintf("Limits of %s: ", who), "memory-max=");
		break;
	default:
		break;
	}
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
	if (words.count == 1)
		return;
	strvec_push(&words, "--");
	run_each(ui, ret, (const char *const *)words.items, (const char *const[]){ NULL });
}

/* The session is the first operand of all of them: "set on-end keep", "session check". */
static void command(struct ui *ui, const char *text, struct wish *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error why = { 0 };
	if (argsplit(text, &words, &why) < 0) {
		cleanup_free char *shown = visible(why.message);
		ui_tell(ui, shown, true);
		return;
	}
	const size_t verb = words.count && streq(words.items[0], "session") ? 2 : 1;
	for (size_t i = 0; i < words.count && i < verb; i++)
		strvec_push(&ret->words, words.items[i]);
	if (words.count >= verb) {
		ret->kind = WISH_SHOW;
		strvec_push_all(&ret->words, &ui->targets);
		strvec_push_array(&ret->words, (const char *const *)words.items + verb);
	}
	end_pending(ui);
}

/* The user has confirmed, or typed the line. */
static void go_on(struct ui *ui, struct wish *ret)
{
	const char *text = input_text(&ui->input);
	switch (ui->pending) {
	case ACTION_STOP:
		run(ui, ret, (const char *const[]){ "stop", NULL });
		break;
	case ACTION_RESTART:
		run(ui, ret, (const char *const[]){ "restart", "--no-wait", NULL });
		break;
	case ACTION_REMOVE:
		strvec_clear(&ui->agreed);
		strvec_clear(&ui->given_up);
		begin_looking(ui, ACTION_REMOVE, ret);
		return;
	case ACTION_RECOVER:
		strvec_clear(&ui->targets);
		run(ui, ret, (const char *const[]){ "recover", NULL });
		break;
	case ACTION_SEND:
		if (!*text)
			break;
		/* By standard input: everybody on the machine can read a command line. */
		run_on_targets(ui, ret,
			       (const char *const[]){ "send", "--message-file", "-", NULL });
		ret->input = xstrdup(text);
		break;
	case ACTION_RENAME:
		run(ui, ret, (const char *const[]){ "rename", "--", NULL });
		strvec_push(&ret->words, text);
		break;
	case ACTION_MOVE:
		run_each(ui, ret, (const char *const[]){ "set", "--", NULL },
			 (const char *const[]){ "group", text, NULL });
		break;
	case ACTION_LIMIT:
		limit(ui, text, ret);
		break;
	case ACTION_COMMAND:
		command(ui, text, ret);
		return;
	default:
		break;
	}
	end_pending(ui);
}

/* ---- the form --------------------------------------------------------------------------------- */

void ui_open_form(struct ui *ui, struct form_supply *supply, const char *directory)
{
	const struct item *item = list_selected(ui->list);
	form_open(&ui->form, supply, directory, item ? item->group : "");
	ui->mode = MODE_FORM;
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
	}
	if (is_good || ui->mode != MODE_FORM)
		ui_tell(ui, text, !is_good);
}

static void leave_form(struct ui *ui)
{
	char name[KEY_TEXT_SIZE];
	ui->mode = MODE_LIST;
	const key_code key = ui->keymap.keys[ACTION_NEW][0];
	if (!ui->form.is_begun)
		return;
	cleanup_free char *text = xasprintf(
		"%s; %s shows the form again.",
		ui->form.is_running ? "It is being made" : "What you typed is kept",
		key == KEY_CODE_NONE ? "its action" : key_text(key, name));
	ui_tell(ui, text, false);
}

static void key_in_form(struct ui *ui, key_code key, struct wish *ret)
{
	switch (form_key(&ui->form, key)) {
	case FORM_STAYS:
		break;
	case FORM_DONE:
		begin_new(ui, ret);
		break;
	case FORM_LEFT:
		leave_form(ui);
		break;
	case FORM_COMPLETE:
		ret->kind = WISH_FIND;
		strvec_push_take(&ret->words, form_directory(&ui->form));
		break;
	}
}

/* ---- the list --------------------------------------------------------------------------------- */

static void attach(struct ui *ui, struct wish *ret)
{
	const struct item *item = list_selected(ui->list);
	if (item && item->asks_first) {
		strvec_clear(&ui->targets);
		strvec_push(&ui->targets, item->id);
		begin_looking(ui, ACTION_ATTACH, ret);
	} else if (item) {
		ret->kind = WISH_ATTACH;
		strvec_push(&ret->words, item->id);
	} else if (list_lines(ui->list)) {
		const struct line *line = list_line(ui->list, list_cursor(ui->list));
		list_set_collapsed(ui->list, !line->is_collapsed);
	}
}

/* What the preview shows of the selected session, in full. */
static void copy(struct ui *ui, struct wish *ret)
{
	const struct item *item = list_selected(ui->list);
	if (!item) {
		ui_tell(ui, "No session is selected: move to one first.", true);
		return;
	}
	ret->kind = WISH_COPY;
	preview_add_words(ui->preview.kind ? ui->preview.kind : PREVIEW_REPLY, item->id,
			  &ret->words);
}

static void next_order(struct ui *ui)
{
	list_set_order(ui->list, (list_order(ui->list) + 1) % ORDER_COUNT);
	cleanup_free char *text = xasprintf("Sorted by %s.", list_order_name(list_order(ui->list)));
	ui_tell(ui, text, false);
}

static void next_scope(struct ui *ui)
{
	list_set_scope(ui->list, (list_scope(ui->list) + 1) % SCOPE_COUNT);
	cleanup_free char *text = xasprintf("Showing %s.", list_scope_name(list_scope(ui->list)));
	ui_tell(ui, text, false);
}

static void choose(struct ui *ui)
{
	struct item *item = list_selected(ui->list);
	if (!item)
		return;
	list_choose(ui->list, item, !item->is_chosen);
	list_move(ui->list, 1);
}

static void search(struct ui *ui, const char *text)
{
	replace_string(&ui->search, *text ? text : NULL);
	ui->searches++;
	list_search(ui->list, text);
}

/* The path of the group that the cursor is on or in; NULL: none.  The caller frees. */
static char *selected_group(const struct ui *ui)
{
	if (list_lines(ui->list) == 0)
		return NULL;
	const struct line *line = list_line(ui->list, list_cursor(ui->list));
	const char *group = line->item->group;
	const size_t length = line->kind == LINE_GROUP ? line->path_length : strlen(group);
	return length ? xstrndup(group, length) : NULL;
}

static void show_only(struct ui *ui, enum action action)
{
	const struct item *item = list_selected(ui->list);
	cleanup_free char *group = selected_group(ui);
	if (action == ACTION_ONLY_AGENT && item)
		list_set_only_agent(ui->list, item->agent);
	else if (action == ACTION_ONLY_GROUP && group)
		list_set_only_group(ui->list, group);
	else
		ui_tell(ui,
			action == ACTION_ONLY_AGENT ? "Move to a session of the agent first."
						    : "Move to a group, or into one, first.",
			true);
}

/* Esc takes back one thing: the search, what is chosen, the filters. */
static void take_back(struct ui *ui)
{
	if (ui->search)
		search(ui, "");
	else if (list_chosen(ui->list))
		list_choose_none(ui->list);
	else if (list_only_agent(ui->list))
		list_set_only_agent(ui->list, NULL);
	else if (list_only_group(ui->list))
		list_set_only_group(ui->list, NULL);
	else
		list_set_scope(ui->list, SCOPE_ALL);
}

static void move(struct ui *ui, enum action action)
{
	const long page = ui->height > 1 ? (long)ui->height - 1 : 1;
	switch (action) {
	case ACTION_UP:
		list_move(ui->list, -1);
		break;
	case ACTION_DOWN:
		list_move(ui->list, 1);
		break;
	case ACTION_PAGE_UP:
		list_move(ui->list, -page);
		break;
	case ACTION_PAGE_DOWN:
		list_move(ui->list, page);
		break;
	case ACTION_FIRST:
		list_go(ui->list, 0);
		break;
	default:
		list_go(ui->list, SIZE_MAX);
		break;
	}
}

static void act(struct ui *ui, enum action action, struct wish *ret)
{
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
		move(ui, action);
		break;
	case ACTION_COLLAPSE:
	case ACTION_OPEN:
		list_set_collapsed(ui->list, action == ACTION_COLLAPSE);
		break;
	case ACTION_ATTACH:
		attach(ui, ret);
		break;
	case ACTION_NEXT_WAITING:
		if (!list_next_waiting(ui->list))
			ui_tell(ui, "No session waits for you.", false);
		break;
	case ACTION_SEARCH:
		ui->mode = MODE_SEARCH;
		input_set(&ui->input, or_empty(ui->search));
		break;
	case ACTION_SCOPE:
		next_scope(ui);
		break;
	case ACTION_ONLY_AGENT:
	case ACTION_ONLY_GROUP:
		show_only(ui, action);
		break;
	case ACTION_PROFILE:
		ret->kind = WISH_PROFILE;
		break;
	case ACTION_ORDER:
		next_order(ui);
		break;
	case ACTION_CHOOSE:
		choose(ui);
		break;
	case ACTION_NEW:
		ret->kind = WISH_FORM;
		break;
	case ACTION_RECOVER:
		begin_confirm(ui, action,
			      &(struct confirmation){ "Restart them",
						      "each resumes its conversation",
						      xstrdup("Restart every session that should "
							      "run and does not?") });
		break;
	case ACTION_PREVIEW:
		ui->preview.kind = (ui->preview.kind + 1) % PREVIEW_COUNT;
		break;
	case ACTION_COPY:
		copy(ui, ret);
		break;
	case ACTION_HELP:
		ui->mode = MODE_HELP;
		ui->help_top = 0;
		break;
	case ACTION_REDRAW:
		ret->kind = WISH_REDRAW;
		break;
	case ACTION_SUSPEND:
		ret->kind = WISH_SUSPEND;
		break;
	case ACTION_QUIT:
		ret->kind = WISH_QUIT;
		break;
	default:
		if (action_info(action)->needs_session)
			act_on(ui, action, ret);
		break;
	}
}

/* ---- keys ------------------------------------------------------------------------------------- */

static void key_in_list(struct ui *ui, key_code key, struct wish *ret)
{
	char name[KEY_TEXT_SIZE];
	const enum action action = keymap_action(&ui->keymap, key);
	if (key == KEY_CODE_ESCAPE) {
		take_back(ui);
	} else if (action != ACTION_NONE) {
		act(ui, action, ret);
	} else {
		key_text(key, name);
		cleanup_free char *text = xasprintf("%s does nothing here; ? lists the keys.",
						    *name ? name : "This key");
		ui_tell(ui, text, true);
	}
}

static void key_in_search(struct ui *ui, key_code key)
{
	if (key == KEY_CODE_UP || key == KEY_CODE_DOWN) {
		move(ui, key == KEY_CODE_UP ? ACTION_UP : ACTION_DOWN);
	} else if (key == KEY_CODE_ENTER) {
		ui->mode = MODE_LIST;
	} else if (key == KEY_CODE_ESCAPE || key == ('C' & KEY_CODE_CTRL)) {
		ui->mode = MODE_LIST;
		search(ui, "");
	} else if (input_key(&ui->input, key)) {
		search(ui, input_text(&ui->input));
	}
}

/* What was found may begin with a group, which nobody can go to. */
static void find_session(struct ui *ui, key_code key)
{
	if (key == KEY_CODE_UP || key == KEY_CODE_DOWN)
		return;
	list_settle(ui->list);
	for (size_t i = list_cursor(ui->list); i < list_lines(ui->list) && !list_selected(ui->list);
	     i++)
		list_move(ui->list, 1);
}

static void key_in_pick(struct ui *ui, key_code key, struct wish *ret)
{
	const struct item *item = list_selected(ui->list);
	if (key == KEY_CODE_ESCAPE || key == ('C' & KEY_CODE_CTRL)) {
		ret->kind = WISH_QUIT;
	} else if (key == KEY_CODE_ENTER && item) {
		ret->kind = WISH_SWITCH;
		strvec_push(&ret->words, item->id);
	} else if (key == KEY_CODE_PAGE_UP || key == KEY_CODE_PAGE_DOWN) {
		move(ui, key == KEY_CODE_PAGE_UP ? ACTION_PAGE_UP : ACTION_PAGE_DOWN);
	} else if (key != KEY_CODE_ENTER) {
		key_in_search(ui, key);
		find_session(ui, key);
	}
}

void ui_begin(struct ui *ui)
{
	find_session(ui, KEY_CODE_NONE);
}

void ui_begin_pick(struct ui *ui)
{
	list_settle(ui->list);
	ui->mode = MODE_PICK;
	input_set(&ui->input, "");
	if (!list_next_waiting(ui->list))
		find_session(ui, KEY_CODE_NONE);
}

static void key_in_line(struct ui *ui, key_code key, struct wish *ret)
{
	if (key == KEY_CODE_ENTER)
		go_on(ui, ret);
	else if (key == KEY_CODE_ESCAPE || key == ('C' & KEY_CODE_CTRL))
		end_pending(ui);
	else
		(void)input_key(&ui->input, key);
}

static void answer(struct ui *ui, enum choice_kind choice, struct wish *ret)
{
	const enum ask_about about = ui->ask.about;
	const struct choice *chosen = &ui->dialog.question.choices[ui->dialog.cursor];
	if (choice != CHOICE_NONE && ui->ask.next < ui->ask.count)
		next_question(ui);
	else if (about == ASK_CONFIRM && choice == CHOICE_CONTINUE)
		go_on(ui, ret);
	else if (about == ASK_LAUNCH && choice == CHOICE_RESUME && chosen->session)
		resume_instead(ui, chosen->session, ret);
	else if (((about == ASK_END || about == ASK_REUSE) && choice == CHOICE_RETURN) ||
		 (about == ASK_LAUNCH && choice == CHOICE_NEW))
		do_pending(ui, ret);
	else if (about == ASK_REMOVAL && (choice == CHOICE_KEEP || choice == CHOICE_CLEAN))
		settle_removal(ui, choice == CHOICE_CLEAN, ui->ask.seen, ret);
	else if (about == ASK_END && (choice == CHOICE_KEEP || choice == CHOICE_CLEAN))
		pass_on(ui, choice, ret);
	else
		give_up(ui);
}

static void key_in_dialog(struct ui *ui, key_code key, struct wish *ret)
{
	enum choice_kind choice;
	const bool is_confirm = ui->ask.about == ASK_CONFIRM;
	if (is_confirm &&
	    (key == 'y' || key == 'Y' || keymap_action(&ui->keymap, key) == ui->pending))
		answer(ui, CHOICE_CONTINUE, ret);
	else if (is_confirm && key == 'n')
		give_up(ui);
	else if (dialog_key(&ui->dialog, key, &choice))
		answer(ui, choice, ret);
}

static void key_while_looking(struct ui *ui, key_code key)
{
	if (key == KEY_CODE_ESCAPE || key == ('C' & KEY_CODE_CTRL) || key == 'q')
		give_up(ui);
}

static void key_in_help(struct ui *ui, key_code key)
{
	const size_t page = ui->height > 1 ? ui->height - 1 : 1;
	switch (keymap_action(&ui->keymap, key)) {
	case ACTION_UP:
		ui->help_top -= ui->help_top > 0;
		break;
	case ACTION_DOWN:
		ui->help_top++;
		break;
	case ACTION_PAGE_UP:
		ui->help_top -= ui->help_top < page ? ui->help_top : page;
		break;
	case ACTION_PAGE_DOWN:
		ui->help_top += page;
		break;
	default:
		ui->mode = MODE_LIST;
		break;
	}
}

enum { WHEEL_LINES = 3 };

/* The wheel is some times the key for up or down, where that loses nothing. */
static bool take_wheel(struct ui *ui, key_code key)
{
	const bool is_down = key == KEY_CODE_WHEEL_DOWN;
	enum choice_kind none;
	if (key != KEY_CODE_WHEEL_UP && !is_down)
		return key == KEY_CODE_CLICK;
	if (ui->mode == MODE_LIST || ui->mode == MODE_SEARCH)
		list_move(ui->list, is_down ? WHEEL_LINES : -WHEEL_LINES);
	else if (ui->mode == MODE_HELP && is_down)
		ui->help_top += WHEEL_LINES;
	else if (ui->mode == MODE_HELP)
		ui->help_top -= ui->help_top < WHEEL_LINES ? ui->help_top : WHEEL_LINES;
	else if (ui->mode == MODE_DIALOG)
		(void)dialog_key(&ui->dialog, is_down ? KEY_CODE_PAGE_DOWN : KEY_CODE_PAGE_UP,
				 &none);
	return true;
}

void ui_click(struct ui *ui, size_t row, size_t column, struct wish *ret)
{
	const size_t line = list_top(ui->list, ui->height) + row - ui->list_row;
	if ((ui->mode != MODE_LIST && ui->mode != MODE_SEARCH) || row < ui->list_row ||
	    row >= ui->list_row + ui->height || column >= ui->list_width ||
	    line >= list_lines(ui->list))
		return;
	replace_string(&ui->message, NULL);
	ui->mode = MODE_LIST;
	if (line == list_cursor(ui->list))
		act(ui, ACTION_ATTACH, ret);
	else
		list_go(ui->list, line);
	list_settle(ui->list);
}

static bool is_typing(const struct ui *ui)
{
	return ui->mode == MODE_SEARCH || ui->mode == MODE_PICK || ui->mode == MODE_LINE;
}

/* What is pasted is text: in the list each of its characters would be an action.  True: the key was
 * dealt with.  Ctrl-C ends a paste whose end is lost. */
static bool take_paste(struct ui *ui, key_code key)
{
	if (key == KEY_CODE_PASTE) {
		ui->is_pasting = true;
		if (!is_typing(ui) && ui->mode != MODE_FORM)
			ui_tell(ui, "Pasted text does nothing here: m sends a line.", true);
		return true;
	}
	if (!ui->is_pasting)
		return key == KEY_CODE_PASTE_END;
	if (key == KEY_CODE_PASTE_END || key == ('C' & KEY_CODE_CTRL))
		ui->is_pasting = false;
	else if (ui->mode == MODE_FORM)
		form_paste(&ui->form, key);
	else if (is_typing(ui) && input_key(&ui->input, key >= ' ' ? key : ' ') &&
		 ui->mode != MODE_LINE)
		search(ui, input_text(&ui->input));
	return true;
}

void ui_key(struct ui *ui, key_code key, struct wish *ret)
{
	if (take_paste(ui, key) || take_wheel(ui, key)) {
		list_settle(ui->list);
		return;
	}
	replace_string(&ui->message, NULL);
	switch (ui->mode) {
	case MODE_LIST:
		key_in_list(ui, key, ret);
		break;
	case MODE_SEARCH:
		key_in_search(ui, key);
		break;
	case MODE_PICK:
		key_in_pick(ui, key, ret);
		break;
	case MODE_LINE:
		key_in_line(ui, key, ret);
		break;
	case MODE_LOOKING:
		key_while_looking(ui, key);
		break;
	case MODE_DIALOG:
		key_in_dialog(ui, key, ret);
		break;
	case MODE_FORM:
		key_in_form(ui, key, ret);
		break;
	case MODE_HELP:
		key_in_help(ui, key);
		break;
	}
	list_settle(ui->list);
}
