/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/slurm.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/sha256.h"
#include "model/host/slurm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LOCK_MS = 10000,
	SUBMIT_MS = 60000,
	LOOK_MS = 20000,
	SCRIPT_MAX = 64 << 10,
	DIGITS_KEPT = 12
};

/* One host's directory, locked. */
struct place {
	int directory;
	char *path;
	char *job; /* the name of its jobs */
	struct fs_lock lock;
};

static void place_free(struct place *place)
{
	fs_unlock(&place->lock);
	if (place->directory >= 0)
		(void)close(place->directory);
	free(place->path);
	free(place->job);
}
#define cleanup_place CLEANUP(place_free)

void slurm_job_free(struct slurm_job *job)
{
	free(job->id);
	free(job->program);
}

/* ---- Slurm ------------------------------------------------------------------------------------ */

extern char **environ;

/* Ours, without what counts more for Slurm than the script: its lines alone hold. */
static void environment_for_slurm(struct strvec *ret)
{
	for (char **at = environ; *at; at++)
		if (!starts_with(*at, "SBATCH_") && !starts_with(*at, "SQUEUE_"))
			strvec_push(ret, *at);
}

/* ERROR_CHILD: it failed, with its own words. */
static int run_slurm(const struct place *place, const struct strvec *argv, int timeout_ms,
		     struct child_result *result, struct error *err)
{
	cleanup_strvec struct strvec environment = { 0 };
	environment_for_slurm(&environment);
	/* Standard input keeps the lock until the program has ended, also when we are killed: the
	 * next look must not miss a job that is on its way. */
	const struct child_request request = { .argv = (const char *const *)strvec_argv(argv),
					       .environment = strvec_argv(&environment),
					       .directory = place->directory,
					       .source = place->lock.fd,
					       .new_session = true };
	const int r = child_run(&request, timeout_ms, result, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s is not installed here: name the login host of Slurm with -H",
				 argv->items[0]);
	if (r < 0 || result->exit_status == 0)
		return r;
	cleanup_free char *words = child_last_words(result);
	return error_set(err, ERROR_CHILD, "%s", words);
}

/* A job of the place that waits (or, unless only_waiting, runs): its id.  *ret NULL: none. */
static int find_job(const struct place *place, bool only_waiting, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push_array(&argv,
			  (const char *const[]){ "squeue", "--noheader", "--format=%i %T", NULL });
	strvec_pushf(&argv, "--user=%u", (unsigned)getuid());
	strvec_pushf(&argv, "--name=%s", place->job);
	if (run_slurm(place, &argv, LOOK_MS, &result, err) < 0)
		return error_prefix(err, "squeue");
	*ret = NULL;
	for (char *rest = result.output.data, *line; !*ret && (line = strsep(&rest, "\n"));) {
		const char *id = strsep(&line, " ");
		const bool counts = line && !streq(line, "COMPLETING") &&
				    !(only_waiting && streq(line, "RUNNING"));
		*ret = counts && slurm_is_id(id) ? xstrdup(id) : NULL;
	}
	return 0;
}

/* What must hold is on the command line: variables such as SBATCH_EXPORT count more than the
 * script. */
static int call_sbatch(const struct place *place, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "sbatch", "--parsable", "--export=NIL",
							"--dependency=singleton", NULL });
	strvec_pushf(&argv, "--job-name=%s", place->job);
	strvec_push(&argv, "job");
	if (run_slurm(place, &argv, SUBMIT_MS, &result, err) < 0)
		return error_prefix(err, "sbatch");
	/* "ID", or "ID;CLUSTER", after what the site has to say */
	while (result.output.length && result.output.data[result.output.length - 1] == '\n')
		result.output.data[--result.output.length] = '\0';
	const char *line = strrchr(strbuf_text(&result.output), '\n');
	line = line ? line + 1 : strbuf_text(&result.output);
	cleanup_free char *id = xstrndup(line, strcspn(line, ";"));
	if (!slurm_is_id(id))
		return error_set(err, ERROR_CORRUPT, "sbatch printed no id of a job");
	*ret = TAKE_PTR(id);
	return 0;
}

/* What has failed may be there all the same, as after "Socket timed out". */
static int submit(const struct place *place, bool only_waiting, char **ret, struct error *err)
{
	cleanup_error struct error why = { 0 };
	char *id = NULL;
	if (call_sbatch(place, ret, &why) == 0 ||
	    (find_job(place, only_waiting, &id, NULL) == 0 && id)) {
		*ret = id ? id : *ret;
		return 0;
	}
	if (why.code != ERROR_CHILD)
		return error_move(err, &why);
	return error_set(err, ERROR_CHILD,
			 "%s: give other options, or change %s/job and submit it with --renew",
			 why.message, place->path);
}

/* ---- the directory ---------------------------------------------------------------------------- */

static int open_place(const struct deck *deck, const char *name, struct place *ret,
		      struct error *err)
{
	cleanup_free char *jobs = path_join(deck->paths.state, SLURM_DIRECTORY);
	cleanup_free char *path = path_join(jobs, name);
	char digest[SHA256_TEXT_SIZE];
	if (fs_open_private_directory(path, &ret->directory, err) < 0 ||
	    fs_real_directory(path, &ret->path, err) != 0)
		return -1;
	sha256_text(ret->path, digest);
	ret->job = xasprintf("agentdeck-%s-%.*s", name, DIGITS_KEPT, digest);
	const int r = fs_lock(ret->directory, "lock", clock_ms() + LOCK_MS, &ret->lock, err);
	return r == FS_LOCK_BUSY ? error_set(err, ERROR_BUSY,
					     "another command still submits its job: try again")
				 : r;
}

static int put(const struct place *place, const char *name, const char *text, struct error *err)
{
	const struct stat like = { .st_mode = S_IRWXU, .st_gid = getegid() };
	const struct fs_content content = {
		.data = text, .length = strlen(text), .sync = FS_DURABLE, .like = &like
	};
	return fs_replace_from(place->directory, place->directory, name, &content, err);
}

/* A job that ran has made the state directory. */
static bool has_run(const struct place *place)
{
	return faccessat(place->directory, "state", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* "job" is the last one: with it the directory is complete, and a job may be submitted.  there: the
 * script that may not be replaced, NULL: none. */
static int write_scripts(const struct deck *deck, const struct slurm_order *order,
			 const struct place *place, const char *there, struct error *err)
{
	cleanup_free char *state = path_join(place->path, "state");
	const struct slurm_script script = { .name = order->name,
					     .job = place->job,
					     .state = state,
					     .program = deck->program,
					     .home = deck->paths.home,
					     .path = or_empty(getenv("PATH")),
					     .resources = order->resources };
	cleanup_free char *batch = slurm_batch_script(&script);
	cleanup_free char *enter = slurm_enter_script(&script);
	if (there && !slurm_has_same_options(there, batch))
		return error_set(err, ERROR_EXISTS,
				 "there is another script: change %s/job, and submit it with "
				 "--renew",
				 place->path);
	fs_sweep_temporaries(place->directory);
	if (put(place, SLURM_ENTER, enter, err) < 0)
		return -1;
	return there ? 0 : put(place, "job", batch, err);
}

int slurm_submit(const struct deck *deck, const struct slurm_order *order, struct slurm_job *ret,
		 struct error *err)
{
	cleanup_place struct place place = { .directory = -1, .lock = FS_UNLOCKED };
	cleanup_slurm_job struct slurm_job job = { 0 };
	cleanup_strbuf struct strbuf there = { 0 };
	if (open_place(deck, order->name, &place, err) < 0)
		return -1;
	const int r = fs_read(place.directory, "job", SCRIPT_MAX, &there, err);
	if (r < 0)
		return -1;
	if (r == FS_ABSENT && !order->resources)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s has no script: agentdeck host create %s "
				 "--slurm makes it",
				 place.path, order->name);
	/* Before anything is written: is there a Slurm? */
	if (find_job(&place, !order->resources, &job.id, err) < 0)
		return -1;
	const bool is_kept = r == 0 && (job.id || has_run(&place));
	if (order->resources &&
	    write_scripts(deck, order, &place, is_kept ? strbuf_text(&there) : NULL, err) < 0)
		return -1;
	job.was_there = job.id;
	if (!job.id && submit(&place, !order->resources, &job.id, err) < 0)
		return -1;
	job.program = path_join(place.path, SLURM_ENTER);
	*ret = job;
	job = (struct slurm_job){ 0 };
	return 0;
}
