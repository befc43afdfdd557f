/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"

#define COMMAND_ADDRESS(name) &command_##name,
const struct command *const commands[] = { COMMANDS(COMMAND_ADDRESS) NULL };
