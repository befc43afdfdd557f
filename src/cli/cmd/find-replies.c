/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sessions' last replies contain which words, for the search of agentdeck-ui: a process
 * beside it reads the transcripts, so that typing waits for none.
 */
#include "cli/cmd/commands.h"
#include "cli/cmd/reply.h"

#include "base/fsutil.h"

#include <ctype.h>
#include <string.h>

enum { WORDS_MAX = 32, INPUT_MAX = 1 << 16 };

/* ASCII only, as in the deck's list. */
static void lower(char *text)
{
	for (; *text; text++)
		*text = (char)((unsigned char)*text < 0x80 ? tolower((unsigned char)*text) : *text);
}

static unsigned found_in(char *text, const struct strvec *words)
{
	unsigned found = 0;
	lower(text);
	for (size_t i = 0; i < words->count && i < WORDS_MAX; i++)
		if (strstr(text, words->items[i]))
			found |= 1U << i;
	return found;
}

/* A session without a reply, or one that cannot be read, has none of them. */
static void look_at(struct app *app, const struct store_row *row, const struct strvec *words)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_reply struct reply reply = { 0 };
	if (row->damage || deck_load(&app->deck, row->base, &instance, NULL) < 0 ||
	    reply_find(app, instance, &reply, NULL) != 0)
		return;
	const unsigned found = found_in(reply.text, words);
	if (found)
		printf("%s %u\n", row->id, found);
}

static int cmd_find_replies(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	/* Not by the command line, which everybody on the machine can read. */
	if (fs_read_fd(STDIN_FILENO, "standard input", INPUT_MAX, &text, err) < 0 ||
	    store_list(app->deck.store, &rows, err) < 0)
		return -1;
	cleanup_free char *copy = xstrdup(strbuf_text(&text));
	char *rest = copy;
	lower(copy);
	for (const char *word; (word = strsep(&rest, " \n"));)
		if (*word)
			strvec_push(&words, word);
	for (size_t i = 0; words.count && i < rows.count; i++)
		look_at(app, &rows.rows[i], &words);
	return 0;
}

const struct command command_find_replies = {
	.name = "find-replies",
	.kind = COMMAND_INTERNAL,
	.arguments = "",
	.summary = "which last replies contain which words (agentdeck-ui calls this)",
	.flags = NEEDS_STORE,
	.run = cmd_find_replies,
};
