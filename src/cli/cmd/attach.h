/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/core/command.h"
#include "engine/screen/screen.h"

/* Attach the terminal to a running instance, and wait until the user detaches.  A positive value is
 * the exit status. */
int run_attach(struct app *app, const char *base, enum attach_mode mode, struct error *err);
