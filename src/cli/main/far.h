/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command that runs on another host, with this process's standard input, output and errors.
 */
#pragma once

#include "driver/link/link.h"

struct far_order {
	struct link *link;
	const struct strvec *words;
	const char *via; /* the name of the host in config.toml, for JSON */
	bool json;       /* its output is JSON */
	int input;       /* -1: none */
	bool is_change;  /* it runs on when its output cannot be printed */
	/* Each value of that JSON, before it is printed; or NULL. */
	void (*hear)(void *context, struct json_object *value);
	void *context;
};

/* Errors as of link_run().  ERROR_CORRUPT: it printed no JSON.  ERROR_SYSTEM, too: its output could
 * not be printed.  JSON gets "via" and
 * "via_machine_id".  On a terminal, text is printed visibly: its escapes are another host's. */
int far_run(const struct far_order *order, int *ret_status, struct error *err);
