/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files of the place "host".  engine/place/place.h says what the functions of the table promise.
 *
 *   look.c     does it live, and how did it end?
 *   launch.c   begin: the run's places, the gate, tmux
 *   scope.c    the scope around the gate, and its slice
 *   end.c      end it, its processes and its files
 *   probe.c    could a run be brought up?
 *   usage.c    what it uses: reads only the kernel's files
 */
#pragma once

#include "engine/place/place.h"

enum presence host_presence(const struct place_run *run);
bool host_agent_is_live(const struct place_run *run);
bool host_is_empty(const struct place_run *run);
const char *host_silence(const struct place_run *run);
struct place_watch host_watch(const struct place_run *run);
char *host_control_group(const struct place_run *run);
void host_nudge(const struct place_run *run);
struct observation host_observe(struct deck *deck, const struct instance *instance,
				enum observe_depth depth);
int host_how_ended(const struct instance *instance, struct exit_record *ret, struct error *err);

int host_probe(struct deck *deck, const struct instance *instance, struct error *err);
int host_prepare(struct deck *deck, struct instance *instance, const struct place_order *order,
		 struct error *err);
int host_launch(struct deck *deck, struct instance *instance, const struct place_order *order,
		struct error *err);

int host_end(struct deck *deck, const struct instance *instance, int grace_ms, char **ret_words,
	     struct error *err);
int host_end_unknown(struct deck *deck, const char *id, struct error *err);
int host_survivors(struct deck *deck, const char *id, char **ret, struct error *err);
void host_end_daemons(struct deck *deck, const struct instance *instance,
		      const struct agent *agent);
int host_leave(const struct place_run *run, struct error *err);

void host_usage(const struct place_run *run, struct place_usage *ret);

/* Write again what is missing in the directory of a run whose server this is. */
void host_restore_files(struct deck *deck, const struct instance *instance,
			const struct process_id *server);
/* RUNFILES_KEPT. */
int host_remove_files(const struct instance *instance, struct error *err);

/* instance: NULL: any. */
void host_find_gaps(struct deck *deck, const struct instance *instance, struct limit_gaps *ret);

/* Make the run's scope, in a slice of its own, around the gate of this pid. */
int host_make_scope(struct deck *deck, const struct instance *instance, pid_t pid,
		    struct error *err);

/* Every process that is there now in the slice of this session, or, for a run from before there
 * were slices, in its scope.  id NULL, or no manager: with marker in its environment.  The array is
 * the caller's. */
int host_processes(struct deck *deck, const char *id, const char *marker, struct process_id **ret,
		   size_t *ret_count, struct error *err);
/* End them at once.  ERROR_TIMEOUT names what does not end. */
int host_kill_all(struct deck *deck, const char *id, const char *marker, struct error *err);
