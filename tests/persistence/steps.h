/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tests have in common that disturb a command at each of its steps.
 */
#pragma once

#include "persistence/deck.h"

/* A command line that gives `agentdeck hook` a report of the session's agent: /clear has brought it to this
 * conversation.  Where an earlier report has said so in vain, and was only noted beside the manifest: the user has
 * said something in it. */
const char *const *report_words(const struct session *session, const char *session_id);

/* "agentdeck WORD..." that lives as long as the test. */
const char *const *deck_words(const char *const *words);

/* Add a session of the demo agent and start it, without a login: for where it is done often. */
void session_make_running(struct session *session);

/* It runs, resumed, in this conversation, in its scope, and nothing else does. */
void assert_resumed(struct session *session, const char *session_id, const char *where);

/* The manifest is one JSON object of this session, with this conversation or the other (NULL: none).  Returns the one
 * that it has. */
const char *assert_manifest(const struct session *session, const char *session_id, const char *other,
			    const char *where);

/* No file that is only there while another is replaced, made or removed: below the state directory, and below
 * the run directories. */
void assert_no_remnants(const char *where);

/* Nothing bears this id any more: no session, no file of ours. */
void assert_forgotten(const char *id, const char *where);
