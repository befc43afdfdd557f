/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A conversation that a session in a container, or in a tree to itself, begins with: its transcript
 * is copied into the home of the new session, or to where the agent looks for those of the new
 * directory.  The original stays as it is, and nothing is ever appended to it.
 */
#pragma once

#include "engine/deck/deck.h"

struct carry {
	int transcript;   /* open */
	char *path;       /* of it */
	char *session_id; /* as the transcript is named */
};
#define CARRY_NOTHING ((struct carry){ .transcript = -1 })
void carry_clear(struct carry *carry);
#define cleanup_carry CLEANUP(carry_clear)

/* Find the conversation in the config home and the directories of the instance, and open it.
 * within: the home of a container, which that home must be below without any link, since an agent
 * writes there; NULL: it is on this host.  ERROR_INVALID: the agent's transcripts cannot be looked
 * at.  ERROR_NOT_FOUND: there is none, or none with a turn. */
int carry_find(const struct instance *instance, const struct agent *agent, const char *session_id,
	       const char *within, struct carry *ret, struct error *err);

/* Copy it, durably, into the new home `home` below directory, the open directory of the instance,
 * to where the agent looks for it.  The instance has its new config home by now. */
int carry_put(const struct carry *carry, const struct instance *instance, int directory,
	      struct error *err);

/* Copy it, durably, within the same config home, to where the agent looks for those of the
 * instance's directory, which need not exist yet. */
int carry_copy(const struct carry *carry, const struct instance *instance, struct error *err);

/* Where carry_put() puts it.  The caller frees. */
char *carry_path(const struct carry *carry, const struct instance *instance) MUST_USE;
