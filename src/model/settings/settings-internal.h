/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of config.toml's keys, for settings.c and values.c.
 */
#pragma once

#include "base/tomlmap.h"

extern const struct toml_key settings_keys[];
extern const size_t settings_key_count;
