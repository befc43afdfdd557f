/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files in a run's directory: tmux.conf, settings.json (hooks for the agent), token (what
 * proves that a report comes from this run), run (its id: the mark of a directory that we may
 * remove), activity.json (what the agent is doing).
 *
 * All of it is volatile: each run makes its own, and it ends with the run.
 */
#pragma once

#include "base/fsutil.h"
#include "engine/deck/deck.h"

/* Names below the run's directory. */
#define RUN_SOCKET   PATHS_SOCKET_NAME
#define RUN_CONF     "tmux.conf"
#define RUN_SETTINGS "settings.json"
#define RUN_TOKEN    PATHS_RUN_TOKEN
#define RUN_MARK     PATHS_RUN_MARK
#define RUN_ACTIVITY "activity.json"
#define RUN_SILENT   "silent"        /* there while the server was last seen not to answer */
#define RUN_LOOKED   "looked"        /* its time is that of the last look at the screen */
#define RUN_NOTICE   "notice-"       /* and an occasion: of what it was told last (notice.h) */
#define RUN_SSH_LINK "ssh-auth.sock" /* beside the runs' directories */

/* Open the directory of a run, made if it is not there.  *ret is the caller's. */
int runfiles_open_directory(const struct deck *deck, const char *directory, int *ret,
			    struct error *err);

/* Make the directory of instance->run and write its files.  The agent's settings are the user's own
 * (from a settings flag in the instance's argv, a file or JSON text) with our hooks added; settings
 * that cannot be read are left alone, there are no reports then, and a warning says so. */
int runfiles_write(struct deck *deck, const struct instance *instance, const struct agent *agent,
		   struct error *err);

/* The directory of a run that is or was.  -1: it is not there, or is not ours: one in /tmp may be
 * gone, by a restart of the machine or by who tidies up there, and another user may have put
 * something in its place.  The caller's. */
int runfiles_open(const char *directory) MUST_USE;

/* Path of the settings that were written for the agent; NULL when there are none.  The caller
 * frees. */
char *runfiles_settings(const struct instance *instance) MUST_USE;

/* The program that takes the agent's reports where the agent runs.  Borrowed. */
const char *runfiles_hook_program(const struct deck *deck, const struct instance *instance);

/* Make the missing files of a live run again, after its directory or files in it were removed (rm,
 * systemd-tmpfiles).  The token is taken from the environment of the run's agent, so that
 * its reports keep counting.  If nothing is missing, this costs a look.
 * RUNFILES_FOREIGN: this process does not live, or is not of the session, so nothing was done. */
enum { RUNFILES_FOREIGN = 2 };
int runfiles_restore(struct deck *deck, const struct instance *instance,
		     const struct process_id *process, struct error *err);

/* Remove the directory of this run of the instance id: what lies in it, and then itself.  Its name
 * must be that of a run directory of this id, it must be ours, and one of these must hold:
 *
 *   - it bears the mark of this run (one that an older version made: a token)
 *   - it bears the mark of a run that has no process
 *   - only temporary files are in it
 *
 * No link is followed, and directories in it stay, since we
 * make none.  Not there, or NULL: 0. RUNFILES_KEPT: it is there, and is not known to be of this
 * run, or is not empty. -1: it could not be read or removed.  All of it, or what bears its mark, is
 * still there: try again. */
enum { RUNFILES_KEPT = 1 };
int runfiles_remove(const char *id, const char *directory, const char *run_id, struct error *err);

/* Note whether the run's server answered, so that listings, which ask no server, know of one that
 * did not. */
void runfiles_note_answer(const char *directory, bool answers);
bool runfiles_is_silent(const char *directory);

/* Note that the run's screen was looked at now. */
void runfiles_note_look(const char *directory);
/* What the run's activity.json and the last look tell is of this time, in µs since the Epoch; 0:
 * there is neither. */
int64_t runfiles_known_at(const char *directory);

/* The token of the run, from its directory.  The caller frees; NULL when there is none. */
char *runfiles_token(const struct instance *instance) MUST_USE;
