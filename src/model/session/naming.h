/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names: instance ids, titles, profiles, unit names, session ids.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

enum { INSTANCE_ID_LENGTH = 8, NAMING_TITLE_MAX = 250 /* bytes */ };

/* A new instance id: 8 characters of lower-case Crockford base32 (0-9 a-z without i l o u), 40
 * random bits.  The caller checks that it is free.  The caller frees. */
char *naming_new_id(void) MUST_USE;
bool naming_is_id(const char *text);

/* agent-deck sets the same variables for its sessions: is this one of its ids (8 hexadecimal digits,
 * "-", a time)? */
bool naming_is_foreign_id(const char *text);

/* A random UUID (RFC 9562 version 4) in lower case.  The caller frees. */
char *naming_new_uuid(void) MUST_USE;
bool naming_is_uuid(const char *text);

/* Are these the same session id?  Letters of a UUID have no case (RFC 9562); any other id is
 * compared as it is written.  NULL means that there is no id.  Session ids are compared here
 * and nowhere else. */
bool naming_same_session_id(const char *a, const char *b);
/* A text that two ids have in common exactly when they are the same: for look-ups among thousands.
 * The caller frees. */
char *naming_session_id_key(const char *session_id) MUST_USE;
/* Is the session id one of these? */
bool naming_has_session_id(const struct strvec *ids, const char *session_id);

/* A title is any UTF-8 text of 1 to 250 bytes without control characters and without white space at
 * its ends.  ERROR_USAGE says which rule it breaks. */
int naming_check_title(const char *title, struct error *err);
/* A group: titles separated by "/", at most 250 bytes in all. */
int naming_check_group(const char *group, struct error *err);
/* Is this group (NULL: none) the other one, or below it? */
bool naming_is_in_group(const char *group, const char *other);
/* A profile is a file name: [A-Za-z0-9][A-Za-z0-9_.-]{0,63}, and none of the names that stand
 * beside profiles in the state directory ("logs", "hooks", "agents", "run", "config.toml"). */
int naming_check_profile(const char *profile, struct error *err);
/* An agent's name is a file name, too: [A-Za-z0-9][A-Za-z0-9_.-]{0,63}. */
bool naming_is_agent(const char *text);
/* A session id that can stand in an argv and in a file name: 1 to 128 of [A-Za-z0-9._-], not
 * starting with "-" or ".". */
bool naming_is_session_id(const char *text);

/* "agentdeck-tmux-<id>.scope".  The caller frees. */
char *naming_scope(const char *id) MUST_USE;
/* Is this that name? */
bool naming_is_scope_of(const char *unit, const char *id);
/* "agentdeck-<id>.slice", the slice of that scope.  The caller frees. */
char *naming_slice(const char *id) MUST_USE;
/* The control group of the session that this one is in: that of its slice; of its scope, for a run
 * from before there were slices.  NULL: it is in neither.  The caller frees. */
char *naming_session_group(const char *id, const char *group) MUST_USE;

/* The id of the instance whose directory has this name: the name itself, or the id in
 * "ad-<id>-...".  The caller frees. */
char *naming_id_of_base(const char *base) MUST_USE;
