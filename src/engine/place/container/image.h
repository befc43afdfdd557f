/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The image for who names none: a small Debian that mmdebstrap makes on this machine.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct image_order {
	bool is_docker; /* make NESTED_IMAGE instead: for a Docker inside (nestedwish.h) */
	const char *engine, *configured; /* for engine_find() */
	const char *mirror;       /* a URL; NULL: those of Debian, with its security updates */
	const struct strvec *apt; /* options of apt.conf(5), 'Acquire::Retries "3"'; NULL: none */
	/* Gets what is done now, for people: "downloading packages with apt".  NULL: not wanted. */
	void (*progress)(const char *phase, void *data);
	void *data;
};

struct image_made {
	char *id;
	const char *engine; /* static */
	char *instead;      /* as in struct engine_address */
};
void image_made_clear(struct image_made *made);
#define cleanup_image_made CLEANUP(image_made_clear)

/* Make CONTAINER_DEFAULT_IMAGE, or that of order, in this engine, in place of an older one.  *ret
 * is the caller's.  On an error the older one stays.  ERROR_UNAVAILABLE: no engine answers, or
 * mmdebstrap is missing. ERROR_CHILD: it failed, or the engine refused.  ERROR_TIMEOUT: it takes
 * too long. */
int image_build_default(const struct image_order *order, struct image_made *ret, struct error *err);
