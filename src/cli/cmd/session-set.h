/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fields that session set changes, for other commands, too.
 */
#pragma once

#include "engine/run/change.h"

/* The field of this name ("group").  ERROR_USAGE: there is none. */
int setting_find(const char *name, enum setting_field *ret, struct error *err);
