/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Watches one run on the reader's loop: the ends of its processes, and kills for lack of memory.
 */
#pragma once

#include "base/loop.h"
#include "engine/place/place.h"

struct run_watch;

struct watched_process {
	struct process_id id; /* pid 0: there is none */
	struct loop_source *source;
	struct run_watch *watch;
};

enum run_event { RUN_ENDED, RUN_KILLED };

/* Zero-initialised watches nothing.  Its owner sets the first three members. */
struct run_watch {
	struct loop *loop;
	void (*tell)(enum run_event event, void *context);
	void *context;
	struct watched_process server, agent, window;
	struct loop_source *memory;
	int memory_fd; /* means nothing without that source */
	int64_t kills; /* so far, for lack of memory */
};

/* Watch these processes from now on, instead of the ones before. */
int run_watch_processes(struct run_watch *watch, const struct place_watch *now, struct error *err);

/* Count the kills in this control group from now on; NULL: in none. */
void run_watch_memory(struct run_watch *watch, const char *control_group);

void run_watch_end(struct run_watch *watch);
