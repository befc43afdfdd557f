/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files in a run's directory: tmux.conf, settings.json (hooks for the agent), token (what
 * proves that a report comes from this run), activity.json (what the agent is doing).
 *
 * All of it is volatile: it is made anew for each run and dies with it.
 */
#pragma once

#include "base/fsutil.h"
#include "engine/deck.h"

/* Names below the run's directory. */
#define RUN_SOCKET PATHS_SOCKET_NAME
#define RUN_CONF "tmux.conf"
#define RUN_SETTINGS "settings.json"
#define RUN_TOKEN "token"
#define RUN_ACTIVITY "activity.json"
#define RUN_SILENT "silent" /* there while the server was last seen not to answer */
#define RUN_SSH_LINK "ssh-auth.sock" /* beside the runs' directories */

/* Environment of what runs in the pane. */
#define ENV_INSTANCE "AGENTDECK_INSTANCE_ID"
#define ENV_PROFILE "AGENTDECK_PROFILE"
#define ENV_RUN "AGENTDECK_RUN"
#define ENV_TOKEN "AGENTDECK_REPORT_TOKEN"
#define ENV_PANE_DIED "AGENTDECK_PANE_DIED"

/* Make the directory of instance->run and write its files.  The agent's settings are the user's own
 * (from a settings flag in the instance's argv, a file or JSON text) with our hooks added; settings
 * that cannot be read are left alone, there are no reports then, and a warning says so. */
int runfiles_write(struct deck *deck, const struct instance *instance, const struct agent *agent,
		   struct error *err);

/* Path of the settings that were written for the agent; NULL when there are none.  The caller frees. */
char *runfiles_settings(const struct instance *instance) MUST_USE;

/* Remove a run's directory, whatever is in it.  Not there, or NULL: 0. */
int runfiles_remove(const char *directory, struct error *err);

/* Note whether the run's server answered, so that listings, which ask no server, know of one that did not. */
void runfiles_note_answer(const char *directory, bool answers);
bool runfiles_is_silent(const char *directory);

/* The token of the run as it stands in its directory.  The caller frees; NULL when there is none. */
char *runfiles_token(const struct instance *instance) MUST_USE;

struct activity {
	enum instance_activity activity;
	int64_t since;    /* µs since the Epoch, 0 unknown */
	int64_t prompts;  /* how many prompts the agent has reported in this run */
	bool is_seen;     /* told by the screen (engine/activity.h), not by a report */
	char *event;      /* last event's name, or NULL */
	char *cwd;        /* directory that the agent's last report came from, or NULL */
	char *session_id; /* the conversation that it has last said to begin or to go on with, or NULL */
};
void activity_free(struct activity *activity);
#define cleanup_activity CLEANUP(activity_free)

/* directory: of the run.  What cannot be read is ACTIVITY_UNKNOWN. */
void activity_read(const char *directory, struct activity *ret);
int activity_write(const char *directory, const struct activity *activity, struct error *err);
/* Two that change it at once must not lose a count.  FS_LOCK_BUSY: it could not be had within a second. */
int activity_lock(const char *directory, struct fs_lock *ret, struct error *err);
