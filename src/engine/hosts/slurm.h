/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts that Slurm makes, on its login host (docs/clusters.md).  jobs/NAME of the state directory
 * has the batch script ("job"), the script that runs agentdeck in the job ("enter"), and the state
 * directory of the host ("state").  Slurm finds the jobs of a host by their name, which is that of
 * the directory and of its place: so a job whose id was never read is found, too.
 */
#pragma once

#include "engine/deck/deck.h"

struct slurm_order {
	const char *name; /* of the host */
	const char *const
		*resources; /* by enum slurm_resource; NULL: submit the script that is there */
};

struct slurm_job {
	char *id;
	char *program;  /* the path of "enter" */
	bool was_there; /* a job waits or runs already: none was submitted */
};
void slurm_job_free(struct slurm_job *job);
#define cleanup_slurm_job CLEANUP(slurm_job_free)

/* Submit a job for the host, unless there is one that will run.  ERROR_EXISTS: it has another
 * script. ERROR_NOT_FOUND: it has none.  ERROR_TIMEOUT, ERROR_CHILD: the words of Slurm.
 * ERROR_UNAVAILABLE: this is no login host. */
int slurm_submit(const struct deck *deck, const struct slurm_order *order, struct slurm_job *ret,
		 struct error *err);
