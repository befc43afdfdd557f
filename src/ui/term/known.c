/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The macros of <term.h> (lines, columns and hundreds more) stay in this file.
 */
#include "ui/term/term.h"

#include <unistd.h>

#define NCURSES_ENABLE_STDBOOL_H 1
/* clang-format off */
#include <ncurses.h>
#include <term.h>
/* clang-format on */

bool term_is_known(void)
{
	int found;
	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return false;
	(void)del_curterm(cur_term);
	return true;
}

bool term_has_other_screen(void)
{
	return exit_ca_mode != NULL;
}
