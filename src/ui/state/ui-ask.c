/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "base/jsonio.h"
#include "model/question/screens.h"
#include "ui/state/ui.h"

#include <string.h>

static void next_question(struct ui *ui)
{
	dialog_open(&ui->dialog, &ui->ask.items[ui->ask.next++]);
	ui->mode = MODE_DIALOG;
}

void ui_confirm(struct ui *ui, enum action action, const struct confirmation *wanted)
{
	enum { NAMED_MOST = 5 };
	char key[KEYMAP_TEXT_SIZE];
	cleanup_free char *who = ui_targets_text(ui);
	cleanup_free char *prompt = xasprintf("%s %s?", wanted->label, who);
	const size_t count = ui->targets.count;
	ui->pending = action;
	questions_free(&ui->ask);
	struct question *question = questions_add(&ui->ask, ABOUT_CONFIRM);
	question_begin(question, action_info(action)->name, prompt);
	for (size_t i = 0; count > 1 && i < count && i < NAMED_MOST; i++)
		question_add_line(question, "%s", ui_title_of(ui, ui->targets.items[i]));
	if (count > NAMED_MOST)
		question_add_line(question, "and %zu more", count - NAMED_MOST);
	question_add_choice(question, CHOICE_KEEP, "Back", "nothing changes");
	const char *hole = strstr(wanted->effect, "%s");
	cleanup_free char *effect = hole ? xasprintf("%s%s",
						     keymap_text(&ui->keymap, ACTION_UNDO, key),
						     hole + 2)
					 : xstrdup(wanted->effect);
	question_add_choice(question, CHOICE_CONTINUE, wanted->label, effect);
	next_question(ui);
}

void ui_offer_recovery(struct ui *ui)
{
	ui->pending = ACTION_RECOVER;
	questions_free(&ui->ask);
	struct question *question = questions_add(&ui->ask, ABOUT_CONFIRM);
	question_of_recovery(question);
	/* The dialog covers the line of news. */
	if (ui->message)
		question_add_line(question, "%s", ui->message);
	next_question(ui);
	ui->lacks_lost = true;
}

static void give_up(struct ui *ui)
{
	ui_end_pending(ui);
	replace_string(&ui->form.instead, NULL);
	ui_tell(ui, "Nothing was done.", false);
}

/* For agentdeck settle. */
static const char *occasion_of(enum action action)
{
	const bool is_named = action == ACTION_REMOVE || action == ACTION_PRUNE ||
			      action == ACTION_ATTACH || action == ACTION_RESTART;
	return is_named ? action_info(action)->name : action == ACTION_NEW ? "resume" : "start";
}

/* For agentdeck settle: what the pending action is, and its first target, which the trash is not. */
static void add_subject(const struct ui *ui, struct strvec *words)
{
	const char *id = ui->targets.items[0];
	strvec_push_array(words, (const char *const[]){ "--", occasion_of(ui->pending),
							*id ? id : NULL, NULL });
}

/* What the deck says while agentdeck looks.  The caller frees. */
static char *looking_text(const struct ui *ui, enum action action)
{
	const char *title = ui_title_of(ui, ui->targets.items[0]);
	if (ui->targets.count > 1)
		return xasprintf("Looking at the work of %zu sessions ...", ui->targets.count);
	if (action == ACTION_APPROVE || action == ACTION_DENY)
		return xasprintf("Looking at what %s asks ...", title);
	if (action == ACTION_REMOVE || action == ACTION_NEW)
		return xstrdup("Looking at its work ...");
	return action == ACTION_PRUNE ? xstrdup("Looking at what was removed ...")
				      : xasprintf("Looking at %s ...", title);
}

/* Wait for what this command of agentdeck prints with --json. */
static void begin_look(struct ui *ui, enum action action, const char *command, struct wish *ret)
{
	ui_end_pending(ui);
	ui->mode = MODE_LOOKING;
	ui->pending = action;
	ui->question = looking_text(ui, action);
	ret->kind = WISH_ASK;
	ui_expect(ui, ret);
	strvec_push_array(&ret->words, (const char *const[]){ command, "--json", NULL });
}

void ui_look(struct ui *ui, enum action action, struct wish *ret)
{
	begin_look(ui, action, "settle", ret);
	add_subject(ui, &ret->words);
}

void ui_look_into_trash(struct ui *ui, struct wish *ret)
{
	strvec_clear(&ui->targets);
	strvec_push(&ui->targets, "");
	ui_look(ui, ACTION_PRUNE, ret);
}

void ui_look_at_permission(struct ui *ui, enum action action, struct wish *ret)
{
	begin_look(ui, action, action_info(action)->name, ret);
	strvec_push(&ret->words, "--");
	strvec_push(&ret->words, ui->targets.items[0]);
}

static bool is_permission(const struct ui *ui)
{
	return ui->pending == ACTION_APPROVE || ui->pending == ACTION_DENY;
}

/* The agent's own choices, or yes alone. */
static void add_answers(struct ui *ui, struct question *question, struct json_object *object)
{
	const bool gives = ui->pending == ACTION_APPROVE;
	cleanup_strvec struct strvec labels = { 0 };
	question_add_choice(question, CHOICE_KEEP, "Back", "the agent still waits for an answer");
	json_get_strings(object, "labels", &labels);
	strvec_clear(&ui->picks);
	if (gives)
		json_get_strings(object, "choices", &ui->picks);
	for (size_t i = 0; i < ui->picks.count; i++)
		question_add_choice(question, CHOICE_CONTINUE,
				    i < labels.count ? labels.items[i] : ui->picks.items[i], "");
	if (!ui->picks.count)
		question_add_choice(question, CHOICE_CONTINUE, gives ? "Give" : "Refuse",
				    gives ? "once" : "the agent is told so");
}

/* What agentdeck approve --json says. */
static void ask_permission(struct ui *ui, const char *text)
{
	cleanup_json struct json_object *object = NULL;
	cleanup_error struct error why = { 0 };
	const bool gives = ui->pending == ACTION_APPROVE;
	if (json_parse(text, strlen(text), "agentdeck approve", &object, &why) < 0) {
		ui_end_pending(ui);
		ui_tell(ui, why.message, true);
		return;
	}
	const char *id = ui->targets.items[0];
	cleanup_free char *asked = xstrdup(json_get_string(object, "question", ""));
	char *rest = asked;
	questions_free(&ui->ask);
	struct question *question = questions_add(&ui->ask, ABOUT_CONFIRM);
	struct json_object *choices = json_get_array(object, "choices");
	const bool is_pick = gives && choices && json_object_array_length(choices);
	question_begin(question, ui_title_of(ui, id),
		       is_pick ? "Which answer?"
		       : gives ? "Give this permission?"
			       : "Refuse this permission?");
	for (const char *line; (line = strsep(&rest, "\n")) && (*line || rest);)
		question_add_line(question, "%s", line);
	add_answers(ui, question, object);
	ui->ask.seen = xstrdup(json_get_string(object, "digest", ""));
	next_question(ui);
}

static void resume_instead(struct ui *ui, const char *id, struct wish *ret)
{
	replace_string(&ui->form.instead, id);
	strvec_clear(&ui->targets);
	strvec_push(&ui->targets, ui->form.instead);
	ui_look(ui, ACTION_NEW, ret);
}

/* Remove all sessions that the user agreed to in one command, once no question is left. */
static void go_on_removing(struct ui *ui, struct wish *ret)
{
	if (ui->targets.count) {
		ui_look(ui, ACTION_REMOVE, ret);
		return;
	}
	if (ui->agreed.count == 0) {
		give_up(ui);
		return;
	}
	ui_run(ui, ret, (const char *const[]){ "remove", "--force", NULL });
	strvec_push_all(&ret->words, &ui->given_up);
	strvec_push(&ret->words, "--");
	strvec_push_all(&ret->words, &ui->agreed);
	ui_note_removal(ui, &ui->agreed);
	ui_watch_many(ui, ACTION_REMOVE, &ui->agreed, ret);
	ui_end_pending(ui);
}

/* The first target may go (seen: with this work, NULL: it has none), or stays. */
static void settle_removal(struct ui *ui, bool goes, const char *seen, struct wish *ret)
{
	cleanup_strvec struct strvec others = { 0 };
	const char *id = ui->targets.items[0];
	if (goes)
		strvec_push(&ui->agreed, id);
	if (goes && seen)
		strvec_pushf(&ui->given_up, "--seen=%s=%s", ui_own_id(id), seen);
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
	case ACTION_RESTART:
		ui_run(ui, ret, (const char *const[]){ action_info(ui->pending)->name, NULL });
		break;
	case ACTION_REMOVE:
		settle_removal(ui, true, NULL, ret);
		return;
	case ACTION_NEW:
		ui_launch(ui, ret);
		break;
	default:
		break;
	}
	ui_end_pending(ui);
}

/* agentdeck compares what there is with what was shown. */
static void pass_on(struct ui *ui, enum choice_kind choice, struct wish *ret)
{
	const bool is_conflict = ui->ask.about == ABOUT_CONFLICT;
	const bool attaches = choice == CHOICE_ATTACH ||
			      (is_conflict && ui->pending == ACTION_ATTACH);
	ret->kind = attaches ? WISH_TERMINAL : WISH_RUN;
	strvec_push_array(&ret->words,
			  (const char *const[]){ "settle", "--answer", choice_kind_name(choice),
						 "--seen", ui->ask.seen, NULL });
	add_subject(ui, &ret->words);
	list_choose_none(ui->list);
	ui_end_pending(ui);
}

void ui_asked(struct ui *ui, unsigned ticket, const char *text, struct wish *ret)
{
	cleanup_error struct error why = { 0 };
	cleanup_questions struct questions ask = { 0 };
	if (ui->mode != MODE_LOOKING || !ui_awaits(ui, ticket))
		return;
	if (text && is_permission(ui)) {
		ask_permission(ui, text);
		return;
	}
	if (!text || questions_parse(text, &ask, &why) < 0) {
		ui_end_pending(ui);
		if (text)
			ui_tell(ui, why.message, true);
		return;
	}
	if (ask.is_removed || (ask.about == ABOUT_NOTHING && ui->pending == ACTION_PRUNE)) {
		ui_end_pending(ui);
		ui_tell(ui, or_empty(ask.text), false);
	} else if (ask.about == ABOUT_NOTHING) {
		do_pending(ui, ret);
	} else {
		ui->ask = ask;
		ask = (struct questions){ 0 };
		next_question(ui);
	}
}

/* True: the pending action is confirmed. */
static bool answer(struct ui *ui, enum choice_kind choice, struct wish *ret)
{
	const enum question_about about = ui->ask.about;
	const struct choice *chosen = &ui->dialog.question.choices[ui->dialog.cursor];
	if (choice != CHOICE_NONE && ui->ask.next < ui->ask.count)
		next_question(ui);
	else if (about == ABOUT_CONFIRM && choice == CHOICE_CONTINUE)
		return true;
	else if (about == ABOUT_LAUNCH && choice == CHOICE_RESUME && chosen->session)
		resume_instead(ui, chosen->session, ret);
	else if (((about == ABOUT_END || about == ABOUT_REUSE) && choice == CHOICE_RETURN) ||
		 (about == ABOUT_LAUNCH && choice == CHOICE_NEW))
		do_pending(ui, ret);
	else if (about == ABOUT_REMOVAL && (choice == CHOICE_KEEP || choice == CHOICE_CLEAN))
		settle_removal(ui, choice == CHOICE_CLEAN, ui->ask.seen, ret);
	else if ((about == ABOUT_END && (choice == CHOICE_KEEP || choice == CHOICE_CLEAN)) ||
		 (about == ABOUT_PRUNE && choice == CHOICE_CLEAN) ||
		 (about == ABOUT_CONFLICT &&
		  (choice == CHOICE_ATTACH || choice == CHOICE_FORK || choice == CHOICE_TAKE)))
		pass_on(ui, choice, ret);
	else
		give_up(ui);
	return false;
}

/* The key that means this to a dialog. */
static key_code dialog_key_of(enum action action, key_code key)
{
	static const key_code keys[ACTION_COUNT] = {
		[ACTION_UP] = KEY_CODE_UP,
		[ACTION_DOWN] = KEY_CODE_DOWN,
		[ACTION_PAGE_UP] = KEY_CODE_PAGE_UP,
		[ACTION_PAGE_DOWN] = KEY_CODE_PAGE_DOWN,
		[ACTION_ATTACH] = KEY_CODE_ENTER,
		[ACTION_QUIT] = KEY_CODE_ESCAPE,
		[ACTION_QUESTION_NEXT] = KEY_CODE_DOWN,
		[ACTION_QUESTION_PREVIOUS] = KEY_CODE_UP,
		[ACTION_QUESTION_SCROLL] = KEY_CODE_PAGE_DOWN,
	};
	const bool is_number = key >= '1' && key <= '9';
	return action == ACTION_NONE && is_number ? key : keys[action];
}

bool ui_asks_yes_or_no(const struct ui *ui)
{
	return ui->ask.about == ABOUT_CONFIRM && !ui->picks.count;
}

/* The number that the agent's screen has before a choice goes to it, and answers nothing. */
static bool go_to_pick(struct ui *ui, key_code key)
{
	char name[KEY_TEXT_SIZE];
	for (size_t i = 0; i < ui->picks.count; i++)
		if (streq(ui->picks.items[i], key_text(key, name)))
			ui->dialog.cursor = i + 1;
	return ui->picks.count && key >= '0' && key <= '9';
}

bool ui_key_in_dialog(struct ui *ui, key_code key, struct wish *ret)
{
	const enum action action = keymap_action(&ui->keymap, CONTEXT_QUESTION, key);
	enum choice_kind choice;
	if (ui_asks_yes_or_no(ui) && action == ACTION_QUESTION_YES)
		return answer(ui, CHOICE_CONTINUE, ret);
	if (ui->ask.about == ABOUT_CONFIRM && action == ACTION_QUESTION_NO)
		give_up(ui);
	else if (!go_to_pick(ui, key) &&
		 dialog_key(&ui->dialog, dialog_key_of(action, key), &choice))
		return answer(ui, choice, ret);
	return false;
}

void ui_key_while_looking(struct ui *ui, key_code key)
{
	if (keymap_action(&ui->keymap, CONTEXT_QUESTION, key) == ACTION_QUIT)
		give_up(ui);
}
