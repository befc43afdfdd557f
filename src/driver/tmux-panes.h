/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own tmux servers, not ours: which panes there are, so that what runs in one can be found by its
 * terminal.  Asks, and changes nothing.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

struct tmux_user_pane {
	char *socket;   /* of its server */
	char *id;       /* "%3" */
	char *terminal; /* "/dev/pts/3" */
	char *where;    /* "main:2.0", visible text */
};

struct tmux_user_panes {
	struct tmux_user_pane *panes;
	size_t count;
};

/* The sockets in ${TMUX_TMPDIR:-/tmp}/tmux-UID that belong to us (tmux(1), -L), and the one that TMUX names.
 * Nothing there: none. */
void tmux_user_sockets(struct strvec *ret);

/* The panes of one server, appended to *ret.  A server that is gone, does not answer within 2 s or speaks another
 * protocol has none; *ret_unknown (may be NULL) then is set to true for the latter two. */
int tmux_list_user_panes(const char *socket, struct tmux_user_panes *ret, bool *ret_unknown,
			 struct error *err);

void tmux_user_panes_free(struct tmux_user_panes *panes);
#define cleanup_tmux_user_panes CLEANUP(tmux_user_panes_free)
