/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does a run live?  The same functions answer for a row of a listing and for an instance.
 *
 * These functions start no child process and open no socket, so that a long listing stays fast.
 * place->observe() looks deeper: it proves whose the processes are, and asks whether they answer.
 */
#pragma once

#include "engine/place/place.h"

/* Is no process of the run left?  False as well when that cannot be found out. */
bool place_is_empty(const struct place_run *run);

/* Is the process in the pane of the instance's live run the only one beside its server?  False as
 * well when that cannot be found out, as what runs in a Docker of its own. */
bool place_is_alone(const struct instance *instance);

/* Does the run belong to this boot, to an earlier one, or to another machine? */
enum machine_relation place_relation(const struct place_run *run);

/* The name of the other machine that has the run; NULL: this machine has it.  The caller frees. */
char *place_elsewhere(const struct place_run *run) MUST_USE;

/* PRESENCE_UNKNOWN: another machine runs it, this program does not know its place, or its processes
 * were not recorded. */
enum presence place_presence(const struct place_run *run);
/* Is it PRESENCE_ALIVE? */
bool place_is_live(const struct place_run *run);
/* Why a run ended whose end was never recorded, for display.  Static. */
const char *place_end_reason(const struct place_run *run);
/* Why a run of a known place that is there cannot be asked anything; NULL: it can.  Static. */
const char *place_silence(const struct place_run *run);
/* Did its server not answer when it was asked last, or is it stopped?  Asks no server. */
bool place_was_silent(const struct place_run *run);
/* The agent has ended, and the news may be lost: make the run look. */
void place_nudge(const struct place_run *run);

/* Is the run alive without a window?  Asks no child process. */
bool place_lacks_window(const struct place_run *run);

/* What tells of its end, if it is of this boot and this machine; else there is nothing. */
struct place_watch place_watch(const struct place_run *run);

/* The control group that its live processes are in; NULL: not known.  The caller frees. */
char *place_control_group(const struct place_run *run) MUST_USE;

/* What runs beside the first process of a live run, "PID COMMAND" each, appended to *ret.  Asks no
 * engine.  The commands are what these processes say of themselves: visible(). */
void place_list_processes(const struct place_run *run, struct strvec *ret);

/* Does the process in its pane live?  It can outlive its tmux server. */
bool place_agent_is_live(const struct place_run *run);

/* The terminal device of its pane; NULL: there is none, or it is not known.  The caller frees. */
char *place_terminal(const struct place_run *run) MUST_USE;

/* Continue an agent that its user has suspended (Ctrl-Z): no shell is there to do that.  tmux
 * continues the process, but some agents sleep until they get a signal of their own.  Others do not
 * mind it. */
void place_continue(const struct place_run *run);

/* Has the process in the pane of this live server ended, and is it not decided yet what follows?
 * pane's pid may be 0: there was no process when the run was recorded, or the recorder was killed. */
bool place_is_between(const struct process_id *server, const struct process_id *pane);

/* Like place_is_between(), but also true if a SIGKILL is pending. */
bool place_is_between_soon(const struct process_id *server, const struct process_id *pane);

/* Does any process here say that it was started for the instance of this id? */
int place_has_processes(const char *id, bool *ret, struct error *err);

/* Make the run this machine's, whatever its boot was.  The process ids of another PID namespace
 * mean nothing here. */
void place_take_over(struct run *run);

/* Is the run another machine's?  Then this refuses: ERROR_INVALID, with that machine's name and the
 * way to take the run over. */
int place_check_here(const struct deck *deck, const struct instance *instance, struct error *err);
