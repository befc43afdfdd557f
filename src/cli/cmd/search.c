/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sessions' last replies contain which words.  The deck runs this for its search, so that
 * typing waits for no transcript.
 */
#include "cli/cmd/commands.h"
#include "cli/cmd/reply.h"
#include "cli/show/output.h"

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

/* From the command line, or from standard input: what is on the command line everybody on the
 * machine can read. */
static int read_words(const struct app *app, struct strvec *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const struct strvec *operands = &app->operands;
	const bool is_input = !operands->count ||
			      (operands->count == 1 && streq(operands->items[0], "-"));
	for (size_t i = 0; i < operands->count && !is_input; i++)
		strbuf_addf(&text, "%s ", operands->items[i]);
	if (is_input && fs_read_fd(STDIN_FILENO, "standard input", INPUT_MAX, &text, err) < 0)
		return -1;
	cleanup_free char *copy = xstrdup(strbuf_text(&text));
	char *rest = copy;
	lower(copy);
	for (const char *word; (word = strsep(&rest, " \n"));)
		if (*word && ret->count < WORDS_MAX)
			strvec_push(ret, word);
	return ret->count ? 0 : error_set(err, ERROR_USAGE, "the words are missing");
}

/* *count: of the sessions that were printed.  One without a reply, or with one that cannot be read,
 * has none of the words.  Without --json only those with all of them count. */
static void look_at(struct app *app, const struct store_row *row, const struct strvec *words,
		    size_t *count)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_reply struct reply reply = { 0 };
	cleanup_strvec struct strvec found = { 0 };
	if (row->damage || deck_load(&app->deck, row->base, &instance, NULL) < 0 ||
	    reply_find(app, instance, &reply, NULL) != 0)
		return;
	lower(reply.text);
	for (size_t i = 0; i < words->count; i++)
		if (strstr(reply.text, words->items[i]))
			strvec_push(&found, words->items[i]);
	if (!app->json && found.count == words->count)
		say("%s  %s", row->id, row->title);
	if (!app->json || !found.count)
		return;
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "id", row->id);
	json_set_string(object, "title", row->title);
	json_set_strings(object, "words", &found);
	print_json_element(object, (*count)++);
}

static int cmd_search(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	cleanup_strvec struct strvec words = { 0 };
	size_t count = 0;
	if (read_words(app, &words, err) < 0 || store_list(app->deck.store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		look_at(app, &rows.rows[i], &words, &count);
	if (app->json)
		print_json_end(count);
	return 0;
}

const struct command command_search = {
	.name = "search",
	.kind = COMMAND_READS,
	.arguments = "[WORD...]",
	.summary = "list the sessions whose last reply contains these words",
	.flags = NEEDS_STORE | HAS_JSON | HAS_MESSAGE,
	.run = cmd_search,
};
