/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which roles their user trusts: <state>/roles.json.  The key is the name of the role's file
 * (struct role_source), and the trust is in all that the role was made of then:
 * role_source_digest().
 */
#pragma once

#include "engine/role/source.h"

enum trust {
	TRUST_NONE,
	TRUST_CHANGED, /* the role was trusted, and is another now */
	TRUST_SAME,
};

struct trusted {
	char *file, *digest;
	int64_t at; /* clock_wall_us() */
};
struct trusted_list {
	struct trusted *items;
	size_t count;
};
void trusted_list_clear(struct trusted_list *list);
#define cleanup_trusted_list CLEANUP(trusted_list_clear)

/* The deck's store is open, and the source has its digest.  ret_changes: what differs from the role
 * that was trusted, as lines of a diff.  ERROR_CORRUPT: the file of trusts is damaged. */
int trust_look(const struct deck *deck, const struct role_source *source, enum trust *ret,
	       struct strvec *ret_changes, struct error *err);
/* The user has not been told yet that a project has this role: note that it is told now, and return
 * TRUST_HINT.  0: it was told, or trusted. */
enum { TRUST_HINT = 1 };
int trust_hint(const struct deck *deck, const char *file, struct error *err);
/* Trust the role as it is in the source, durably. */
int trust_give(const struct deck *deck, const struct role_source *source, struct error *err);
/* file: as in struct trusted.  TRUST_ABSENT: it was not trusted. */
enum { TRUST_ABSENT = 1 };
int trust_take(const struct deck *deck, const char *file, struct error *err);
/* An object of built.c, about the image of a role that is trusted.  TRUST_ABSENT: there is none.
 * *ret is the caller's. */
int trust_get_built(const struct deck *deck, const char *name, struct json_object **ret,
		    struct error *err);
/* Takes the object.  A role that is not trusted gets none. */
int trust_put_built(const struct deck *deck, const char *name, struct json_object *built,
		    struct error *err);
/* All of them. */
int trust_list(const struct deck *deck, struct trusted_list *ret, struct error *err);
