/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Terminals in which a user has typed "agentdeck attach".
 */
#pragma once

#include "persistence/deck.h"

/* The command of a user in a terminal whose keys come from a pipe of this name.  Returns the pipe. */
const char *terminal_open(const char *command, const char *name);
/* "agentdeck attach WORDS" in one. */
const char *attach_open(const char *words, const char *name);
/* text is a format of printf(1): "\\021" is Ctrl-Q. */
void attach_press(const char *keys, const char *text);
/* What the terminal has shown so far. */
const char *attach_output(const char *keys);

/* The pids of the terminals' tmux clients; "": there is none. */
const char *attach_clients(const struct session *session);
size_t attach_count(const struct session *session);
