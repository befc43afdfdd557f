/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What our servers take over of the user's own tmux configuration without running it: the prefix
 * and the style of the keys.  tmux reads none of these files for that, so that no run-shell,
 * plugin or hook in them acts in a server of ours ([tmux] source_user_config does that).
 */
#pragma once

#include "base/text.h"

/* NULL: the files do not set it. */
struct tmux_choices {
	char *prefix, *prefix2;        /* "C-a" */
	char *mode_keys, *status_keys; /* "vi" or "emacs" */
};

/* Take over what text sets, over what *ret has.  Only whole lines count that set a global option to
 * one plain word ("set -g prefix C-a"); a line in a %if or { } block, or one that continues in
 * the next line, does not, since only tmux knows whether it would be run. */
void tmux_choices_parse(const char *text, struct tmux_choices *ret);

/* Like tmux_choices_parse(), but for the files that tmux would read, in its order: /etc/tmux.conf,
 * ~/.tmux.conf, $XDG_CONFIG_HOME/tmux/tmux.conf, ~/.config/tmux/tmux.conf.  A file that cannot be
 * read, or belongs to another user than us or root, sets nothing.  home: the home directory. */
void tmux_choices_read(const char *home, struct tmux_choices *ret);

void tmux_choices_free(struct tmux_choices *choices);
#define cleanup_tmux_choices CLEANUP(tmux_choices_free)
