/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck-import --program AGENTDECK import [OPTION...] [SOURCE]
 *
 * `agentdeck import` becomes it, with its own command line.
 */
#include "cli/cmd/commands.h"
#include "cli/import/import.h"
#include "cli/main/dispatch.h"

#include "base/helper.h"

#include <stdio.h>

static struct command command;
const struct command *const commands[] = { &command, NULL };

int main(int argc, char *argv[])
{
	if (argc < 4 || !streq(argv[1], "--program")) {
		fprintf(stderr, "agentdeck-import: part of agentdeck, not for people\n");
		return error_exit_status(ERROR_USAGE);
	}
	command = command_import;
	command.flags |= NEEDS_STORE | MAKES_PROFILE | IS_STRICT;
	command.run = import_run;
	helper_act_for(argv[2]);
	return dispatch(argc - 2, argv + 2);
}
