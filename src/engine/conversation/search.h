/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a text occurs in a conversation on disk.  The user's and the agent's words count, the
 * output of tools does not.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "model/agent/files.h"

struct search_hit {
	size_t count;  /* how many turns have the text */
	bool is_reply; /* the last one of them: the agent said it */
	char *text;    /* of the last one: the text and what is around it, on one line */
};
void search_hit_clear(struct search_hit *hit);
#define cleanup_search_hit CLEANUP(search_hit_clear)

/* Search the whole conversation at path, a file of this kind, for a text that is not empty.  Upper
 * and lower case of ASCII letters are the same.  SEARCH_NOTHING: it does not have the text, or it
 * is gone. */
enum { SEARCH_NOTHING = 1 };
int search_transcript(const struct agent_files *files, const char *path, const char *text,
		      struct search_hit *ret, struct error *err);
