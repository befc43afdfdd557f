/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the deck's state share.  Each deals with one part of what a key does, and calls
 * only those below it: ui.c with the list, and with which part a key is for.
 */
#pragma once

#include "model/keys/keymap.h"

struct input;
struct item;
struct strvec;
struct ui;
struct wish;

/* ---- ui.c ------------------------------------------------------------------------------------- */

/* *ret as of ui_key(), here and below. */
void ui_act(struct ui *ui, enum action action, struct wish *ret);
/* The key has no meaning here, and ? lists those that have. */
void ui_tell_useless(struct ui *ui, const char *key);

/* ---- ui-mouse.c ------------------------------------------------------------------------------- */

/* True: the key was the mouse's, and is dealt with. */
bool ui_take_wheel(struct ui *ui, key_code key);

/* ---- ui-far.c: sessions on other hosts
 * ------------------------------------------------------------
 */

/* True: the action is not possible on the host of its session, and the news says so. */
bool ui_is_refused(struct ui *ui, enum action action);
/* The id of a target as its own host knows it. */
const char *ui_own_id(const char *id);
/* The targets go: undo is for their host. */
void ui_note_removal(struct ui *ui, const struct strvec *ids);
void ui_undo(const struct ui *ui, struct wish *ret);

/* ---- ui-act.c: acting on sessions ------------------------------------------------------------- */

/* An action that needs a session, on those that are chosen, or on the selected one. */
void ui_act_on(struct ui *ui, enum action action, struct wish *ret);
void ui_attach(struct ui *ui, struct wish *ret);
/* What the preview shows of the selected session, in full. */
void ui_copy(struct ui *ui, struct wish *ret);
/* The user has confirmed the pending action, or typed its line. */
void ui_go_on(struct ui *ui, struct wish *ret);

/* ---- ui-ask.c: questions ---------------------------------------------------------------------- */

/* The choice that does it: what is done to the targets.  A "%s" at the start of the effect is the
 * key that takes it back. */
struct confirmation {
	const char *label, *effect;
};
void ui_confirm(struct ui *ui, enum action action, const struct confirmation *wanted);
/* What has agentdeck to ask about the first target? */
void ui_look(struct ui *ui, enum action action, struct wish *ret);
/* What permission does the only target ask for? */
void ui_look_at_permission(struct ui *ui, enum action action, struct wish *ret);
/* Which removed sessions can be deleted? */
void ui_look_into_trash(struct ui *ui, struct wish *ret);
/* True: the user has confirmed the pending action. */
bool ui_key_in_dialog(struct ui *ui, key_code key, struct wish *ret);
void ui_key_while_looking(struct ui *ui, key_code key);

/* ---- ui-type.c: keys for the agent ------------------------------------------------------------- */

void ui_begin_typing(struct ui *ui, const struct item *item, struct wish *ret);
void ui_key_to_agent(struct ui *ui, key_code key, struct wish *ret);

/* ---- ui-complete.c: the line behind ":" ---------------------------------------------------------
 */

void ui_begin_command(struct ui *ui, const char *text);
void ui_complete(struct ui *ui, struct wish *ret);
void ui_run_command(struct ui *ui, const char *text, struct wish *ret);
/* What can the last of these words become, which is that of the input? */
void ui_ask_candidates(struct ui *ui, const struct input *input, const struct strvec *words,
		       struct wish *ret);

/* ---- ui-form.c: the form for a new session ---------------------------------------------------- */

void ui_key_in_form(struct ui *ui, key_code key, struct wish *ret);
/* In an empty deck.  True: the action moved in its rows, or does the selected one. */
bool ui_take_offer(struct ui *ui, enum action action, struct wish *ret);
/* Make the session that the form is for. */
void ui_launch(struct ui *ui, struct wish *ret);

/* ---- ui-common.c ------------------------------------------------------------------------------ */

/* The text has the first key of the action for its %s. */
void ui_tell_key(struct ui *ui, const char *text, enum action action, bool is_bad);
/* Is it for the session under the cursor, whatever is chosen? */
bool ui_is_for_one(enum action action);
/* Append the ids of the chosen sessions, or of the selected one.  Returns the first one, or NULL. */
struct item *ui_add_targets(const struct ui *ui, struct strvec *ret);
/* Run these words and the targets.  Nothing is chosen any more. */
void ui_run(struct ui *ui, struct wish *ret, const char *const *words);
/* One command does this to these sessions: of several, the deck shows how far it is, and Esc gives
 * the rest up. */
void ui_watch_many(struct ui *ui, enum action does, const struct strvec *ids, struct wish *ret);
/* How many of ui->many it is done with already. */
size_t ui_count_done(const struct ui *ui);
/* True: such a command runs, and the news says what to do first. */
bool ui_is_at_many(struct ui *ui);
/* The deck waits for the end of this wish, and of no earlier one. */
void ui_expect(struct ui *ui, struct wish *ret);
void ui_end_pending(struct ui *ui);
/* Type a line for an action with the targets: a draft, or this text.  question is taken. */
void ui_begin_line(struct ui *ui, enum action action, char *question, const char *text);
/* What the line is typed for, as the deck's drafts name it.  The caller frees. */
char *ui_name_line(const struct ui *ui) MUST_USE;
/* With a ticket of 0 the text goes behind what was kept for the same before. */
void ui_keep_draft(struct ui *ui, const char *what, const char *text, unsigned ticket);
void ui_drop_draft(struct ui *ui, size_t at);
/* A message to the targets. */
void ui_begin_send(struct ui *ui);
/* "api", or "3 sessions"; the caller frees. */
char *ui_targets_text(const struct ui *ui) MUST_USE;
/* The session's title, also of one that is gone; borrowed. */
const char *ui_title_of(const struct ui *ui, const char *id);
