/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Docker inside a container, without root's rights: a second container, "<base>-dind", with the
 * processes and the network of the first one.  So the kernel ends it with that one, and what is
 * reached through it is what the session reaches anyway.  docs/containers.md says what it is for.
 */
#pragma once

#include "engine/place/container/container-internal.h"

/* The container runs, and no agent does yet: bring its Docker up, and wait until that answers.  A
 * Docker that is up stays. */
int nested_come_up(struct ladder *ladder, struct error *err);

/* Remove it, and all that it has.  None: 0.  One that is not ours stays. */
int nested_remove(struct ladder *ladder, struct error *err);
