/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The default image, where a new session needs it.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/run/add.h"

/* lifecycle_add().  If the engine lacks the default image, and the user is at a terminal: offer
 * to make it first. */
int image_add(struct app *app, const struct lifecycle_new *wish, struct instance **ret,
	      struct error *err);
