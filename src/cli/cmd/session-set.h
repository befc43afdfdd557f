/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fields that session set changes, for other commands, too.
 */
#pragma once

#include "engine/run/change.h"

/* Change the field of this name ("group").  ERROR_USAGE: there is no such field, or it has no such
 * value. */
int session_set_field(struct deck *deck, const char *base, const char *name,
		      struct setting *setting, struct error *err);
