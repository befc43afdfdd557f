/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The guard of one user's manager (user@UID.service): the system's systemd restarts it when it was
 * killed, and starts it after a soft reboot.  Two files of our own in /etc/systemd/system say so,
 * for this user only.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <sys/types.h>

struct guard_user {
	uid_t uid;
	char *name;
};
void guard_user_free(struct guard_user *user);
#define cleanup_guard_user CLEANUP(guard_user_free)

/* name: a user's name; NULL: who has called sudo(8), by its SUDO_USER.  ERROR_USAGE,
 * ERROR_NOT_FOUND. */
int guard_find_user(const char *name, struct guard_user *ret, struct error *err);

/* Write the files, or remove those that we have written, and have the system's systemd read them.
 * *ret_file: the one that restarts the manager; the caller's.  ERROR_REFUSED: we are not root.
 * ERROR_EXISTS: a file of the name was not written by us.  ERROR_UNAVAILABLE: no systemd. */
int guard_put(const struct guard_user *user, char **ret_file, struct error *err);
enum { GUARD_NONE = 1 };
int guard_take_away(const struct guard_user *user, char **ret_file, struct error *err);

bool guard_is_there(uid_t uid);
