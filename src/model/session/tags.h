/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tags of a session: short words by which its user finds it.  Together they are one text,
 * "api,urgent": sorted, each once, with commas between them.  NULL: there are none.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

struct json_object;

enum { TAGS_MOST = 16, TAG_LENGTH_MOST = 32 };

/* "a,b" replaces the tags, "+a,-b" adds and removes, "" removes all.  *ret is the caller's.
 * ERROR_USAGE: a word is no tag, or the session would have too many. */
int tags_change(const char *tags, const char *change, char **ret, struct error *err);
/* Likewise of --tag: each word is a tag, and "" or a sign is none.  NULL: there are no words. */
int tags_join(const struct strvec *words, char **ret, struct error *err);
/* Has it each of these? */
bool tags_have(const char *tags, const char *wanted);
/* Append the words. */
void tags_split(const char *tags, struct strvec *ret);
/* An array in JSON.  Leaves out what is no tag, and what is too many: another program may have
 * written them.  The caller frees. */
char *tags_from_json(const struct json_object *object, const char *key) MUST_USE;
/* NULL removes the key. */
void tags_to_json(struct json_object *object, const char *key, const char *tags);
