/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The way into the test host for one command, as "testhost root" and "testhost user" go, but
 * without a shell: most of the suite's processor time was that shell's.
 */
#pragma once

#include "base/process.h"

/* The argv of this program that runs a command in the host with this first process: its own words
 * follow, NAME=VALUE for its environment before them.  uid 0: root.  user: its name.  The words
 * live until the test is over.  The exit status is the command's, 128 + its signal, or ENTER_LOST
 * when there is no such host. */
struct strvec *enter_argv(const struct process_id *host, const char *cgroup, unsigned uid,
			  const char *user);

enum { ENTER_LOST = 125 };

#define ENTER_OPTION "--enter"

/* What main() does with such an argv.  Returns the exit status. */
int enter_main(int argc, char *argv[]);
