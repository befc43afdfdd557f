/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/ask.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

enum { ESCAPE = 033, CTRL_C = 03, LONGEST_LINE = 4096 };

bool ask_is_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Both keys end the line, so that they arrive here and the terminal gets its settings back. */
static void watch_keys(const struct termios *usual)
{
	struct termios watching = *usual;
	watching.c_lflag |= ICANON | IEXTEN;
	watching.c_lflag &= ~(tcflag_t)ISIG;
	watching.c_cc[VEOL] = ESCAPE;
	watching.c_cc[VEOL2] = CTRL_C;
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &watching);
}

/* Read up to a key that ends the line, and keep that at the end. */
static int read_line(struct strbuf *ret, struct error *err)
{
	char text[LONGEST_LINE];
	ssize_t length;
	do {
		length = read(STDIN_FILENO, text, sizeof(text));
		if (length < 0 && errno != EINTR)
			return error_set_errno(err, errno, "read the answer");
		if (length > 0)
			strbuf_add(ret, text, (size_t)length);
		if (ret->length > LONGEST_LINE)
			return error_set(err, ERROR_USAGE, "the answer is too long");
	} while (length < 0 || (length > 0 && !strchr("\n\033\003", text[length - 1])));
	return 0;
}

int ask_line(char **ret, struct error *err)
{
	cleanup_strbuf struct strbuf line = { 0 };
	struct termios usual;
	const bool is_terminal = tcgetattr(STDIN_FILENO, &usual) == 0;
	if (is_terminal)
		watch_keys(&usual);
	printf("> ");
	(void)fflush(stdout);
	const int r = read_line(&line, err);
	const bool is_whole = r == 0 && ends_with(strbuf_text(&line), "\n");
	if (!is_whole)
		printf("\n");
	/* The rest of a key that begins with Escape is not for the shell. */
	if (is_terminal)
		(void)tcsetattr(STDIN_FILENO, is_whole ? TCSADRAIN : TCSAFLUSH, &usual);
	if (r < 0)
		return r;
	cleanup_free char *answer = strbuf_take(&line);
	answer[strcspn(answer, "\n")] = '\0';
	const char *word = answer + strspn(answer, " \t");
	if (!is_whole || (*word == 'q' && !word[1 + strspn(word + 1, " \t")]))
		return ASK_CANCELLED;
	*ret = TAKE_PTR(answer);
	return 0;
}

int ask_yes(const char *question, const char *refusal, struct error *err)
{
	cleanup_free char *answer = NULL;
	printf("%s (y/n)\n", question);
	int r = ask_line(&answer, err);
	if (r < 0)
		return r;
	if (r == 0 && (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0))
		return 0;
	printf("%s\n", refusal);
	return ASK_CANCELLED;
}

int ask_consent(struct app *app, const struct consent *consent, struct error *err)
{
	cleanup_free char *shown = visible(consent->question);
	if (!app->json && ask_is_possible())
		return ask_yes(shown, consent->refusal, err);
	replace_string(&app->question, shown);
	app->consent = consent->option;
	return error_set(err, consent->code, "%s", consent->without);
}

static void show_question(const struct question *question)
{
	cleanup_strbuf struct strbuf text = { 0 };
	question_add_text(question, &text);
	printf("%s", strbuf_text(&text));
	if (question->choice_count > 1)
		printf("Type a number or a name; Enter alone chooses %s; q cancels.\n",
		       question->choices[0].label);
	else
		printf("Enter: %s; q cancels.\n", question->choices[0].label);
}

int ask_question(const struct question *question, const struct choice **ret, struct error *err)
{
	show_question(question);
	for (;;) {
		cleanup_free char *line = NULL;
		const int r = ask_line(&line, err);
		if (r != 0)
			return r;
		*ret = question_parse(question, line);
		if (*ret)
			return 0;
		if (question->choice_count > 1)
			printf("Type a number from 1 to %zu, or the beginning of a name.\n",
			       question->choice_count);
		else
			printf("Press Enter, or type q.\n");
	}
}
