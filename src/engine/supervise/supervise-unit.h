/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user unit agentdeck.service, in which the supervisor runs, and with it agentdeck.socket,
 * where programs of its user connect: put in place, taken away, looked at.
 *
 * A package brings packaging/systemd/ with its own paths.  Where that one
 * starts another program, or the program is to run with other places than the user manager would
 * give it (AGENTDECK_HOME, ...), a drop-in says so.  Where the user manager finds no unit, the same
 * text is written among the user's own units.  Both are marked as ours.  A file of their name
 * without the mark is the user's: it is neither replaced nor removed.
 */
#pragma once

#include "engine/deck/deck.h"

#include <sys/types.h>

#define SUPERVISE_UNIT "agentdeck.service"

/* Have the user manager start the supervisor now, and from now on at boot; and linger
 * (isolation_ensure_linger()), so that there is a user manager at boot.  When it is there already,
 * it is restarted, by this program. ERROR_UNAVAILABLE: there is no user manager.  ERROR_EXISTS:
 * the user has a file of the name.  ERROR_BUSY: a supervisor that the user manager did not start is
 * at work. */
int supervise_install(struct deck *deck, struct error *err);

/* What a start does: the same once for each user, unless a choice was made already.  Only where the
 * user manager finds an installed, disabled unit for this very program, and its environment
 * (AGENTDECK_HOME, ...) gives that program the same places as ours; `[supervise] auto` switches it
 * off.  True: it is enabled and runs now.  A failure is a warning, once. */
bool supervise_enable_by_default(struct deck *deck);

/* What was decided: "installed", "declined" (taken away), "tried" (a start could not enable it);
 * NULL: nothing yet.  The caller frees. */
char *supervise_choice(const struct deck *deck) MUST_USE;

/* The opposite; no start enables it again.  Lingering stays, as the sessions do, which want it.
 * SUPERVISE_NOT_INSTALLED: nothing to do. */
enum { SUPERVISE_NOT_INSTALLED = 1 };
int supervise_uninstall(struct deck *deck, struct error *err);

struct supervise_status {
	bool has_manager; /* else nothing is known of the unit: then why says why */
	char *why;
	bool is_installed; /* there is a unit file, and this is where */
	char *file;
	bool is_ours;     /* written by supervise_install() */
	char *enabled;    /* "enabled", "disabled", "masked", ... */
	char *active;     /* "active", "activating", "failed", "inactive", ... */
	int64_t since_us; /* since when it is that, since the Epoch; 0: unknown */
	pid_t unit_pid;   /* 0: none */
	/* a supervisor is at work for this state directory, as a unit or by hand */
	bool is_running;
	pid_t bus_pid; /* the owner of the name on the user bus; 0: none, or there is no bus */
	bool lingers;
};
void supervise_status_free(struct supervise_status *status);
#define cleanup_supervise_status CLEANUP(supervise_status_free)
int supervise_status(struct deck *deck, struct supervise_status *ret, struct error *err);

/* ---- for tests -------------------------------------------------------------------------------- */

/* packaging/systemd/, where @bindir@ is not replaced yet: the supervisor, the socket, and what
 * serves one connection to it. */
extern const char supervise_unit_template[], supervise_socket_template[],
	supervise_connection_template[];

/* The unit of this template for this program with these variables ("NAME=VALUE"), with our mark.
 * ERROR_INVALID: one of them is not UTF-8, which the user manager demands.  *ret is the caller's. */
int supervise_unit_text(const char *unit, const char *program, const struct strvec *environment,
			char **ret, struct error *err);
