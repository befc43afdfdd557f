/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/cmd/decide.h"
#include "cli/core/command.h"
#include "engine/terminal/terminal.h"

/* Attach the terminal to a running instance, and wait until the user detaches.  If they switch to
 * another session, attach that one.  A positive value is the exit status. */
int run_attach(struct app *app, const char *base, enum attach_mode mode, struct error *err);

/* Like run_attach(), but for the session that a conflict has led to, in its profile. */
int attach_chosen(struct app *app, const struct decision *outcome, enum attach_mode mode,
		  struct error *err);

/* Start a session that does not run (it was stopped or lost), with the same command, place and
 * conversation.  ATTACH_NOT: its user has decided otherwise; mode: how to attach to what they chose
 * instead. */
enum { ATTACH_NOT = -2 };
int attach_bring_back(struct app *app, const struct store_row *row, bool is_asked,
		      enum attach_mode mode, struct error *err);
