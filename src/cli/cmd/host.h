/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands about hosts share.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/hosts/hosts.h"

/* ERROR_NOT_FOUND: config.toml has no such host.  *ret is borrowed. */
int host_find(struct app *app, const char *name, const struct remote **ret, struct error *err);

/* Print what it is, and which promises it cannot keep. */
void host_say(const struct remote *remote, const struct link_hello *hello);
/* hello NULL: there is none, and problem says why; else problem is NULL, or what is wrong. */
struct json_object *host_json(struct app *app, const struct remote *remote,
			      const struct link_hello *hello, const char *problem) MUST_USE;
