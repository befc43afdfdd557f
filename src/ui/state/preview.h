/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is shown of the selected session beside the list: what a command of agentdeck's prints.
 */
#pragma once

#include "ui/state/paint.h"

enum preview_kind {
	PREVIEW_NONE,
	PREVIEW_SCREEN,
	PREVIEW_REPLY,
	PREVIEW_TURNS,
	PREVIEW_FACTS,
	PREVIEW_LOG,
	PREVIEW_CHANGES, /* of its worktree or clone */
	PREVIEW_COUNT
};

/* Zero-initialised shows nothing. */
struct preview {
	enum preview_kind kind; /* what the user wants to see */
	enum preview_kind shown;
	char *id;   /* of the session that is shown; NULL: none */
	char *text; /* as it came */
	struct painting painting;
	bool has_failed; /* the text says why there is nothing */
	bool is_stale;   /* something has happened to that session since it was looked at */
	size_t back; /* rows between what is seen and where it begins by itself: its top or its end;
		      * drawing limits it to what there is */
};
void preview_free(struct preview *preview);

/* One word, for its tab; static. */
const char *preview_name(enum preview_kind kind);
/* PREVIEW_COUNT: there is none of this name. */
enum preview_kind preview_of_name(const char *name);
/* Does it begin with its first line, and not with its end? */
bool preview_is_from_top(enum preview_kind kind);
/* Append the words behind "agentdeck" whose output it is. */
void preview_add_words(enum preview_kind kind, const char *id, struct strvec *ret);

/* Does this session (NULL: none) have to be looked at for it? */
bool preview_is_due(const struct preview *preview, const char *id);
/* Is this what it shows, and of this session? */
bool preview_shows(const struct preview *preview, enum preview_kind kind, const char *id);
/* Show what the command has printed about the session; any bytes.  False: it is shown already. */
bool preview_set(struct preview *preview, enum preview_kind kind, const char *id, const char *text);

/* By some lines; drawing limits it. */
void preview_scroll(struct preview *preview, bool is_up);
