/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the caller of `agentdeck mcp` may do: the session that it runs in, those that it launched,
 * and the caps of its user ([mcp] of config.toml).
 *
 * The rules are for agents that behave well, and no boundary: an agent on this machine can
 * run agentdeck, too (docs/security.md).
 */
#pragma once

#include "cli/core/command.h"
#include "model/link/tools.h"

/* Whose sessions are they, of a caller outside of any session? */
#define RULES_USER "user"

/* The sessions of the profile, as they are now.  Zero-initialised is empty. */
struct rules {
	struct app *app; /* borrowed */
	struct store_rows rows;
	struct strvec launched_by;    /* of each row; "": a person */
	const char *who;              /* the id of the caller's session, or RULES_USER */
	const struct store_row *self; /* NULL: outside of any session, or it is not proved */
	bool is_proved;               /* our process is below that session's */
};
void rules_clear(struct rules *rules);
#define cleanup_rules CLEANUP(rules_clear)

int rules_read(struct app *app, struct rules *ret, struct error *err);

/* Did the caller launch the session of this id? */
bool rules_owns(const struct rules *rules, const char *id);

/* The whole command line of a call, behind the program's name, appended to *ret.  An error says
 * which rule is against it. */
int rules_apply(const struct rules *rules, const struct tool_call *call, struct strvec *ret,
		struct error *err);
