/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The commands, each in the file with its name (add.c, session-start.c, ...).
 */
#pragma once

#include "cli/core/command.h"

/* In the order of the help.  clang-format cannot fold such a list. */
/* clang-format off */
#define COMMANDS(X) \
	X(ui) X(wall) X(add) X(launch) X(list) X(status) X(events) X(top) \
	X(session_start) X(session_stop) X(session_restart) X(session_attach) X(switch) \
	X(session_show) X(session_path) X(session_address) X(session_changes) X(session_merge) X(session_push) X(session_check) X(session_current) X(session_fork) X(session_set) X(session_limit) \
	X(session_send) X(session_queue) X(session_output) X(session_look) X(session_approve) X(session_deny) \
	X(session_exec) X(session_shell) X(session_eject) X(session_archive) X(session_unarchive) X(recover) X(adopt) X(discover) X(history) X(search) X(import) X(session_export) X(session_import) X(session_move) X(backup) X(restore) X(rename) X(remove) \
	X(undo) X(prune) X(purge) X(settle) X(up) X(down) X(diff) \
	X(agents_list) X(agents_show) X(agents_check) \
	X(group_list) X(group_rename) X(group_remove) X(profile_list) X(profile_remove) \
	X(config_path) X(config_get) X(config_set) X(config_edit) X(config_check) X(config_schema) \
	X(host_list) X(host_check) X(host_add) X(host_login) X(host_logout) X(host_create) X(host_manifest) X(host_stop) X(host_start) X(host_rename) X(host_remove) X(forward) X(keep_forward) X(image_build_default) X(role_check) X(role_show) X(role_diff) X(role_create) X(role_trust) X(role_untrust) X(role_list) X(doctor) X(logs) X(hook) X(pane) X(revive) X(notice) X(answers) X(with_session) X(serve) X(mcp) X(skill) X(once) X(supervise) X(completion) X(help)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command command_##name;
COMMANDS(DECLARE_COMMAND)
