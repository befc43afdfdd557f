/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of the machine share.
 */
#pragma once

#include "persistence/machine.h"

struct machine {
	bool local, on;
	unsigned uid;
	char *user;
	char *tests;     /* directory of the checkout's tests */
	char *testhost;  /* the program */
	char *directory; /* of the test host, outside; NULL: there is none */
	char *root;      /* its root directory as seen from outside; "" locally */
	char *prefix;    /* where agentdeck is installed */
	char *home;      /* the present test's */
	struct strvec *environment;
};

extern struct machine machine;

/* A path of the machine as seen from outside. */
const char *machine_path(const char *path);

/* Wait a while for the end of all processes with this entry in their environment, then kill the
 * rest.  Returns their descriptions, or NULL. */
const char *machine_kill_rest(const char *entry);
