/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The entries of hosts in config.toml, [hosts.NAME].  All of it is written or nothing, and other
 * lines and comments stay.
 */
#pragma once

#include "engine/deck/deck.h"

/* All errors: of configfile.h and tomledit.h.  ERROR_BUSY: what config.toml says about the host has
 * changed since the deck was opened. */

/* Add the host, or change what its entry says.  Values that are the default are written only over
 * others.  Without a machine id, the one that the entry has becomes a comment. */
int hosts_entry_save(struct deck *deck, const struct remote *remote, struct error *err);
/* ERROR_INVALID: the entry shares a line with others. */
int hosts_entry_remove(struct deck *deck, const struct remote *remote, struct error *err);
/* Rename the entry; the way to the host stays.  ERROR_INVALID: the entry has no header. */
int hosts_entry_rename(struct deck *deck, const struct remote *remote, const char *name,
		       struct error *err);
