/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The image for who names none: a small Debian that mmdebstrap makes on this machine.
 */
#pragma once

#include "engine/place/container/resolve.h"

/* Make CONTAINER_DEFAULT_IMAGE in this engine (NULL: as engine_find() chooses), in place of an
 * older one.  mirror: a URL; NULL: those of Debian, with its security updates.  *ret_id, its id, is
 * the caller's.  On an error the older one stays.  ERROR_UNAVAILABLE: no engine answers, or
 * mmdebstrap is missing.  ERROR_CHILD: it failed, or the engine refused. */
int image_build_default(const char *engine, const char *mirror, char **ret_id, struct error *err);
