/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own tmux servers, not ours.  Lists their panes, so that a process can be found by its
 * terminal.  For an agent that its user hands to us, presses keys in its pane and reads its last
 * words.
 *
 * No function starts a server or waits longer than 2 s.
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

/* The sockets in ${TMUX_TMPDIR:-/tmp}/tmux-UID that belong to us (tmux(1), -L), and the one that
 * TMUX names.  None exist: empty. */
void tmux_user_sockets(struct strvec *ret);

/* Append the panes of one server to *ret.  A server that is gone, does not answer within 2 s or
 * speaks another protocol has none; for the latter two *ret_unknown (may be NULL) is set to
 * true. */
int tmux_list_user_panes(const char *socket, struct tmux_user_panes *ret, bool *ret_unknown,
			 struct error *err);

/* The text of a pane, from the beginning of what scrolled off.  While a program uses the alternate
 * screen, it is the text that will appear when that program ends.  *ret is the caller's. */
int tmux_user_pane_text(const char *socket, const char *pane, char **ret, struct error *err);

/* Press a key by its tmux name ("C-c") for the program in the pane, whatever mode the pane is
 * in. */
int tmux_user_pane_press(const char *socket, const char *pane, const char *key, struct error *err);

/* Make the pane outlive its program (remain-on-exit), so that its text can still be read.  *ret is
 * for tmux_user_pane_release(). */
struct tmux_user_hold {
	char *option; /* the pane's own value, NULL: it had none */
	bool stays;   /* it would have stayed anyway */
	bool is_held;
};
int tmux_user_pane_hold(const char *socket, const char *pane, struct tmux_user_hold *ret,
			struct error *err);
/* Restore the pane's option.  A pane whose program has ended is closed, unless it would have stayed
 * anyway. */
void tmux_user_pane_release(const char *socket, const char *pane, struct tmux_user_hold *hold);

void tmux_user_panes_free(struct tmux_user_panes *panes);
#define cleanup_tmux_user_panes CLEANUP(tmux_user_panes_free)
