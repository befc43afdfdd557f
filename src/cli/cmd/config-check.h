/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The mistakes in [ui] keys.  They make no configuration invalid, since no command but the deck
 * reads those: config check reports them, and config set and config edit refuse them.
 */
#pragma once

#include "base/text.h"

/* Append each as "path:line:column: why".  None if the text is no valid configuration. */
void config_check_keys(const char *text, size_t length, const char *path, struct strvec *ret);
