/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The commands, each in the file of its name (cmd-add.c, cmd-session-start.c, ...).
 */
#pragma once

#include "cli/command.h"

extern const struct command command_add, command_launch, command_list, command_status,
	command_session_start, command_session_stop, command_session_restart,
	command_session_attach, command_session_show, command_session_current,
	command_session_send, command_session_output, command_adopt, command_session_fork, command_session_set, command_session_limit, command_top,
	command_rename, command_remove, command_recover, command_events,
	command_agents_list, command_agents_show, command_agents_check, command_doctor, command_logs,
	command_hook, command_pane, command_revive, command_supervise, command_help;
