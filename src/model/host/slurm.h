/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs of Slurm that are hosts (docs/clusters.md): their scripts.  Pure: text in, text out.
 */
#pragma once

#include "base/text.h"

enum slurm_resource {
	SLURM_PARTITION,
	SLURM_ACCOUNT,
	SLURM_GPUS,
	SLURM_CPUS,
	SLURM_MEMORY,
	SLURM_TIME,
	SLURM_RESOURCES
};

/* May it be in a line of a batch script?  Without blanks, quotes and what a shell reads. */
bool slurm_is_word(const char *text);
/* What sbatch(1) prints with --parsable and squeue(1) with %i, for a job that is no array. */
bool slurm_is_id(const char *text);

struct slurm_script {
	const char *name;    /* of the host */
	const char *job;     /* of the job in Slurm, which no other host has */
	const char *state;   /* the state directory of the host */
	const char *program; /* agentdeck */
	const char *home, *path;
	const char *const *resources; /* by enum slurm_resource; NULL: not said */
};

/* The batch script, and the one that runs agentdeck in the job.  The caller frees. */
char *slurm_batch_script(const struct slurm_script *script) MUST_USE;
char *slurm_enter_script(const struct slurm_script *script) MUST_USE;

/* Do two batch scripts ask Slurm for the same, by their #SBATCH lines? */
bool slurm_has_same_options(const char *script, const char *other);

/* The name of the directory in which this program of a host enters a job; NULL: it enters none. The
 * caller frees. */
char *slurm_entered_by(const char *program) MUST_USE;

#define SLURM_DIRECTORY "jobs"
#define SLURM_ENTER     "enter"
