/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/search.h"

#include "base/jsonio.h"
#include "driver/transcript/shelf.h"
#include "driver/transcript/transcript.h"
#include "model/plan/discover.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN_BEFORE = 50, SHOWN = 160 };

struct looking {
	const struct agent_files *files;
	const char *text;
	char *word;     /* a part of text that JSON writes as it is, or else with \\u; "": none */
	bool is_simple; /* JSON writes it as it is in any case */
	struct search_hit hit;
};

void search_hit_clear(struct search_hit *hit)
{
	free(hit->text);
	*hit = (struct search_hit){ 0 };
}

/* The longest run of letters and digits: of ASCII, and of any other script as well. */
static char *longest_word(const char *text)
{
	const char *best = text;
	size_t most = 0;
	while (*text) {
		size_t length = 0;
		while (!isascii((unsigned char)text[length]) ||
		       isalnum((unsigned char)text[length]))
			length++;
		if (length > most) {
			most = length;
			best = text;
		}
		text += length ? length : 1;
	}
	return xstrndup(best, most);
}

static bool is_ascii(const char *text)
{
	while (*text && isascii((unsigned char)*text))
		text++;
	return !*text;
}

/* Parsing is what costs. */
static bool may_have(const char *line, void *data)
{
	const struct looking *looking = data;
	return strcasestr(line, looking->word) != NULL ||
	       (!looking->is_simple && strstr(line, "\\u"));
}

/* A piece of a long string, as JSON writes it, has the whole text. */
static bool has_text(const char *piece, size_t length, void *data)
{
	const struct looking *looking = data;
	cleanup_free char *json = xasprintf("\"%.*s\"", (int)length, piece);
	cleanup_json struct json_object *string = NULL;
	return may_have(json, data) && (string = json_tokener_parse(json)) &&
	       strcasestr(json_object_get_string(string), looking->text);
}

static char *around(const char *text, const char *at)
{
	const char *start = at - text > SHOWN_BEFORE ? at - SHOWN_BEFORE : text;
	/* Begin with a whole word, or at least with a whole character. */
	const char *space = start > text ? memchr(start, ' ', (size_t)(at - start)) : NULL;
	if (space)
		start = space + 1;
	while (start < at && is_inside_character(*start))
		start++;
	cleanup_free char *line = discover_shorten(start, SHOWN);
	return xasprintf("%s%s", start > text ? "..." : "", line);
}

static bool visit(struct json_object *record, void *data)
{
	struct looking *looking = data;
	struct search_hit *hit = &looking->hit;
	struct transcript_turn turn;
	if (!shelf_turn(looking->files, record, &turn))
		return true;
	const char *at = strcasestr(turn.text, looking->text);
	if (at) {
		free(hit->text);
		hit->text = around(turn.text, at);
		hit->is_reply = turn.is_reply;
		hit->count++;
	}
	free(turn.text);
	return true;
}

int search_transcript(const struct agent_files *files, const char *path, const char *text,
		      struct search_hit *ret, struct error *err)
{
	cleanup_free char *word = longest_word(text);
	struct looking looking = {
		.files = files, .text = text, .word = word, .is_simple = is_ascii(word)
	};
	const struct transcript_order order = { .may_help = may_have, .wants = has_text };
	int r = transcript_visit_some(path, &order, visit, &looking, err);
	if (r != 0 || !looking.hit.count) {
		search_hit_clear(&looking.hit);
		return r < 0 ? -1 : SEARCH_NOTHING;
	}
	*ret = looking.hit;
	return 0;
}
