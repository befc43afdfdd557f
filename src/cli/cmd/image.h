/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The image of a new session, where its engine lacks it.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/run/add.h"

/* lifecycle_add().  At a terminal the user is asked for what the container needs: trust in its role
 * and its variables; and, where the engine lacks an image, whether to download it or, if it is the
 * default image, to make it. */
int image_add(struct app *app, const struct lifecycle_new *wish, struct instance **ret,
	      struct error *err);
