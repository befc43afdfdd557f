/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "base/argsplit.h"
#include "ui/state/ui.h"

#include <string.h>

void ui_begin_command(struct ui *ui, const char *text)
{
	cleanup_free char *who = ui_targets_text(ui);
	ui_begin_line(ui, ACTION_COMMAND,
		      ui->targets.count ? xasprintf("Command with %s: ", who)
					: xstrdup("Command: "),
		      text);
}

/* agentdeck knows which commands take a session: "set on-end keep", "session check", not "up". */
void ui_run_command(struct ui *ui, const char *text, struct wish *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error why = { 0 };
	if (argsplit(text, &words, &why) < 0) {
		cleanup_free char *shown = visible(why.message);
		ui_tell(ui, shown, true);
		return;
	}
	if (words.count) {
		ret->kind = WISH_SHOW;
		strvec_push(&ret->words, "with-session");
		strvec_push_all(&ret->words, &ui->targets);
		strvec_push(&ret->words, "--");
		strvec_push_all(&ret->words, &words);
		replace_string(&ui->command, text);
	}
	ui_end_pending(ui);
}

void ui_shown(struct ui *ui, bool is_good)
{
	cleanup_free char *text = TAKE_PTR(ui->command);
	if (!is_good && text)
		ui_begin_command(ui, text);
	ui->is_held = ui->mode == MODE_LINE;
}

/* ---- completion ------------------------------------------------------------------------------- */

/* Where the last word of the text begins, by the rules of argsplit(). */
static size_t last_word(const char *text)
{
	char quote = '\0';
	size_t start = 0;
	for (size_t at = 0; text[at]; at++) {
		if (text[at] == '\\' && quote != '\'' && text[at + 1])
			at++;
		else if (quote && text[at] == quote)
			quote = '\0';
		else if (!quote && (text[at] == '\'' || text[at] == '"'))
			quote = text[at];
		else if (!quote && text[at] == ' ')
			start = at + 1;
	}
	return start;
}

/* The words before the cursor, of which the last one may be without its quote.  Their problem is
 * that of the text as it is. */
static int split_typed(const struct ui *ui, struct strvec *ret, struct error *err)
{
	static const char *const ends[] = { "'", "\"", "" };
	cleanup_free char *before = xstrndup(input_text(&ui->input), ui->input.cursor);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const bool is_last = i + 1 == ARRAY_SIZE(ends);
		cleanup_free char *closed = xasprintf("%s%s", before, ends[i]);
		if (argsplit(closed, ret, is_last ? err : NULL) < 0)
			continue;
		if (!before[last_word(before)])
			strvec_push(ret, "");
		return 0;
	}
	return -1;
}

void ui_ask_candidates(struct ui *ui, const struct input *input, const struct strvec *words,
		       struct wish *ret)
{
	ret->kind = WISH_COMPLETE;
	replace_string(&ui->completing, input_text(input));
	strvec_push_array(&ret->words, (const char *const[]){ "help", "--complete", "--", NULL });
	strvec_push_all(&ret->words, words);
}

void ui_complete(struct ui *ui, struct wish *ret)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error why = { 0 };
	if (ui->pending != ACTION_COMMAND)
		return;
	if (split_typed(ui, &words, &why) < 0) {
		cleanup_free char *shown = visible(why.message);
		ui_tell(ui, shown, true);
		return;
	}
	ui_ask_candidates(ui, &ui->input, &words, ret);
}

/* The candidates that begin with what is typed; the first line is for shells. */
static void read_candidates(const char *text, const char *typed, struct strvec *ret)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	(void)strsep(&rest, "\n");
	for (char *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\t")] = '\0';
		if (*line && starts_with(line, typed) && is_utf8(line, strlen(line)))
			strvec_push(ret, line);
	}
}

/* In place of the last word before the cursor. */
static void replace_word(struct ui *ui, const char *word, bool is_whole)
{
	const char *text = input_text(&ui->input);
	char *const argv[] = { (char *)word, NULL };
	cleanup_free char *before = xstrndup(text, ui->input.cursor);
	cleanup_free char *quoted = argjoin(argv);
	cleanup_free char *head = xasprintf("%.*s%s%s", (int)last_word(before), before, quoted,
					    is_whole ? " " : "");
	cleanup_free char *line = xasprintf("%s%s", head, text + ui->input.cursor);
	input_set(&ui->input, line);
	ui->input.cursor = strlen(head);
}

/* The line or the branch for which candidates were asked, unless the user has typed on, or left
 * it. */
static const struct input *completed_input(const struct ui *ui)
{
	const struct input *branch = &ui->form.texts[FIELD_BRANCH];
	const struct input *input = ui->mode == MODE_LINE && ui->pending == ACTION_COMMAND
					    ? &ui->input
				    : ui->mode == MODE_FORM && ui->form.at == FIELD_BRANCH ? branch
											   : NULL;
	return input && ui->completing && streq(ui->completing, input_text(input)) ? input : NULL;
}

void ui_completed(struct ui *ui, const char *text)
{
	cleanup_strvec struct strvec words = { 0 }, candidates = { 0 };
	const struct input *input = completed_input(ui);
	if (input && input != &ui->input) {
		read_candidates(text, ui->completing, &candidates);
		form_complete(&ui->form, &candidates);
		replace_string(&ui->completing, NULL);
		return;
	}
	if (!input || split_typed(ui, &words, NULL) < 0)
		return;
	const char *typed = words.items[words.count - 1];
	read_candidates(text, typed, &candidates);
	if (!candidates.count) {
		ui_tell(ui, "agentdeck knows nothing that begins so.", true);
		return;
	}
	const size_t length = input_common(&candidates);
	cleanup_free char *common = xstrndup(candidates.items[0], length);
	if (length > strlen(typed) || candidates.count == 1)
		replace_word(ui, common, candidates.count == 1);
	if (candidates.count == 1)
		return;
	cleanup_free char *joined = strvec_join(&candidates, "  ");
	cleanup_free char *shown = visible(joined);
	ui_tell(ui, shown, false);
}
