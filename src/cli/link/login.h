/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The environment that a login of this user has: ssh HOST COMMAND reads none of the files that set
 * it (~/.local/bin, nvm, keys).  The user's shell is asked for it once.
 */
#pragma once

#include "base/loop.h"

struct login;

/* Start the user's shell.  It may print, read nothing, fail and hang: within LOGIN_MS on_done is
 * called once.  Then this process has the variables of a login; why is not NULL: it has not,
 * because of that. */
enum { LOGIN_MS = 5000 };
typedef void (*login_handler)(const char *why, void *context);
int login_ask(struct loop *loop, login_handler on_done, void *context, struct login **ret,
	      struct error *err);
/* Also while it is asked. */
void login_free(struct login *login);
CLEANUP_OF(login_freep, struct login, login_free);
