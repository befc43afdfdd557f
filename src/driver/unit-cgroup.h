/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernel's files of one control group, for unit-cgroup.c, unit-usage.c and unit-oom.c.
 */
#pragma once

#include "driver/unit.h"

enum { UNIT_MAX_FILE = 4 << 20 };

/* The group's directory in the unified hierarchy, or -1. */
int unit_open_group(const char *control_group);

/* What the files in this directory say. */
void unit_usage_at(int group, struct unit_usage *ret);

/* unit_oom_last() from a descriptor that gives one record of the kernel's log for each read(2), and does not block. */
int unit_oom_last_at(int log, const char *control_group, pid_t pid, char **ret_name, pid_t *ret_pid);
