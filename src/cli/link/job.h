/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One request of a link: a command of this program that runs beside the loop.
 */
#pragma once

#include "base/loop.h"
#include "engine/deck/deck.h"
#include "model/link/frame.h"

struct job;

/* What a job hands over.  bytes are borrowed. */
struct job_handler {
	void (*on_bytes)(struct job *job, enum link_stream stream, const char *bytes, size_t length,
			 void *context);
	/* All of its output was handed over.  The handler may free the job. */
	void (*on_exit)(struct job *job, int status, void *context);
	/* The command has taken some of its input. */
	void (*on_room)(struct job *job, void *context);
	void *context;
};

/* Does such a command look for programs, or start one?  It needs the environment of a login. */
bool job_needs_login(const struct strvec *words);

/* Start it.  A command that changes something is not ended with us: its output goes to memory, and
 * is read from there. */
int job_start(struct loop *loop, struct deck *deck, const struct link_frame *request,
	      const struct job_handler *handler, struct job **ret, struct error *err);
const char *job_id(const struct job *job);
/* Give the command input.  A job without input, or one that has ended, ignores it. */
void job_feed(struct job *job, const char *bytes, size_t length);
void job_end_input(struct job *job);
/* How much of its input waits to be read by it, and how much it has taken since the last call, in
 * bytes. */
size_t job_waiting(const struct job *job);
size_t job_taken(struct job *job);
/* While paused, nothing of its output is read. */
void job_pause(struct job *job, bool is_paused);
/* End like Ctrl-C: a job that changes something leaves nothing half done, another one is killed. */
void job_cancel(struct job *job);
/* The handlers are not called again.  A job that changes something continues, another one is
 * killed. */
void job_free(struct job *job);
CLEANUP_OF(job_freep, struct job, job_free);
