/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the machine share.
 */
#pragma once

#include "persistence/machine.h"

#include "base/process.h"

struct machine {
	bool local, on;
	unsigned uid;
	char *user;
	char *tests;            /* directory of the checkout's tests */
	char *testhost;         /* the program */
	char *directory;        /* of the test host, outside; NULL: there is none */
	struct process_id init; /* its first process, while it is on */
	char *cgroup;           /* its control group, outside */
	char *root;             /* its root directory as seen from outside; "" locally */
	char *prefix;           /* where agentdeck is installed */
	char *home;             /* the present test's */
	char *lacks_engines;    /* why it has none, or NULL */
	struct strvec *environment;
};

extern struct machine machine;

/* Wait a while for the end of all processes with this entry in their environment, then kill the
 * rest.  Returns their descriptions, or NULL. */
const char *machine_kill_rest(const char *entry);
