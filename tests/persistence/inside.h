/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session in a container, as its user and its engine see it.
 */
#pragma once

#include "persistence/containers.h"
#include "persistence/deck.h"

/* What is said first in each of these sessions. */
#define INSIDE_MARKER "the anchor is below the boat"

struct inside {
	enum engine engine;
	struct session session;
	const char *session_id;
	const char *name, *id; /* of its container, which inside_look() reads */
	struct process agent;
	unsigned turns; /* that its conversation has */
};

/* Add and start a session in a container of this engine, and say INSIDE_MARKER in it.  login: as
 * for session_add(). */
void inside_begin(struct inside *inside, enum engine engine);
void inside_begin_in(struct inside *inside, enum engine engine, struct login *login);
/* The same, with further words for "add". */
void inside_begin_with(struct inside *inside, enum engine engine, struct login *login,
		       const char *const *words);

/* "io.agentdeck.instance=ID": the label of its container. */
const char *inside_label(const struct inside *inside);
/* Fill it from what is there now.  The session has one container. */
void inside_look(struct inside *inside);
/* The tmux server, and the process that its pane runs. */
struct process window_of(const struct inside *inside);
struct process view_of(const struct inside *inside);
/* The session is listed as ended, and its agent has gone. */
void await_end(struct inside *inside);

/* when: for the message. */
void assert_running(struct inside *inside, const char *when);
void assert_same_agent(struct inside *inside, const char *when);
/* It resumed its conversation, in the container with this id (NULL: in another one). */
void assert_back(struct inside *inside, const char *id);
/* This machine runs so many demo agents. */
void assert_agents(unsigned expected, const char *when);
