/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by the tests that disturb a command at each of its steps.
 */
#pragma once

#include "persistence/deck.h"

/* A command line that gives `agentdeck hook` a report of the session's agent: /clear has led to
 * this conversation.  If an earlier report of that was refused and only recorded beside the
 * manifest: the user has said something in it. */
const char *const *report_words(const struct session *session, const char *session_id);

/* "agentdeck WORD..." that lives as long as the test. */
const char *const *deck_words(const char *const *words);

/* Add a session of the demo agent and start it without a login, for tests that do it often. */
void session_make_running(struct session *session);

/* It runs in this conversation, resumed, in its scope, and no other session does. */
void assert_resumed(struct session *session, const char *session_id, const char *where);

/* The manifest is one JSON object of this session, with this conversation or the other (NULL:
 * none).  Returns the one that it has. */
const char *assert_manifest(const struct session *session, const char *session_id,
			    const char *other, const char *where);

/* No temporary file is left, which only exists while another is replaced, made or removed: neither
 * below the state directory nor below the run directories. */
void assert_no_remnants(const char *where);

/* Nothing has this id any more: no session, no file of ours. */
void assert_forgotten(const char *id, const char *where);
