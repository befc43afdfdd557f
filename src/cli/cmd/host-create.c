/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/host.h"
#include "cli/show/output.h"
#include "engine/hosts/entry.h"
#include "engine/hosts/slurm.h"

#include "base/clock.h"
#include "model/host/slurm.h"

#include <string.h>
#include <unistd.h>

/* Time for the login host to run sbatch, and for the job to answer: squeue and srun wait for a
 * Slurm that has much to do. */
enum { SUBMIT_MS = 120000, TIMEOUT_LEAST_S = 60 };

struct options {
	const char *resources[SLURM_RESOURCES];
	bool slurm, renew;
};

static const struct command_option options[] = {
	{ 0, "slurm", NULL, "a job of Slurm, whose login host -H names", TO_FLAG(slurm) },
	{ 0, "renew", NULL, "submit its next job, which continues the same conversations",
	  TO_FLAG(renew) },
	{ 0, "partition", "PARTITION", "of Slurm; without it, its default",
	  TO_TEXT(resources[SLURM_PARTITION]) },
	{ 0, "account", "ACCOUNT", "of Slurm; without it, your default",
	  TO_TEXT(resources[SLURM_ACCOUNT]) },
	{ 0, "gpus", "N", "GPUs, as in 2 or a100:2", TO_TEXT(resources[SLURM_GPUS]) },
	{ 0, "cpus", "N", "CPUs of one node", TO_TEXT(resources[SLURM_CPUS]) },
	{ 0, "memory", "SIZE", "as in 16G", TO_TEXT(resources[SLURM_MEMORY]) },
	{ 0, "time", "TIME", "until Slurm ends the job, as in 8:00:00 or 2-0",
	  TO_TEXT(resources[SLURM_TIME]) },
	{ 0 },
};

/* The words of the options of this command. */
static const char *const resource_words[SLURM_RESOURCES] = {
	[SLURM_PARTITION] = "partition", [SLURM_ACCOUNT] = "account", [SLURM_GPUS] = "gpus",
	[SLURM_CPUS] = "cpus",           [SLURM_MEMORY] = "memory",   [SLURM_TIME] = "time",
};

static int check(const char *name, const struct options *given, struct error *err)
{
	cleanup_free char *shown = visible(name);
	if (!remote_is_name(name))
		return error_set(err, ERROR_USAGE,
				 "'%s' is not a name for a host: use letters, digits, \"_\", "
				 "\".\" and \"-\"; \"local\" is this machine",
				 shown);
	if (given->slurm == given->renew)
		return error_set(err, ERROR_USAGE,
				 "--slurm makes a host, and --renew submits its next job: add one "
				 "of them");
	for (size_t i = 0; i < SLURM_RESOURCES; i++) {
		const char *value = given->resources[i];
		cleanup_free char *text = visible(or_empty(value));
		if (value && given->renew)
			return error_set(
				err, ERROR_USAGE,
				"--renew submits the same script again: change the script, "
				"instead of adding --%s",
				resource_words[i]);
		if (value && !slurm_is_word(value))
			return error_set(err, ERROR_USAGE,
					 "--%s is '%s': use letters, digits and \"_.,:=+-@/\"",
					 resource_words[i], text);
	}
	return 0;
}

/* ---- on the login host ------------------------------------------------------------------------ */

static struct json_object *json_of_job(const char *name, const char *id, const char *program,
				       bool was_there)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "name", name);
	json_set_string(object, "job", id);
	json_set_string(object, "program", program);
	json_set_bool(object, "was_there", was_there);
	return object;
}

static int create_here(struct app *app, const char *name, struct error *err)
{
	const struct options *given = app->options;
	cleanup_slurm_job struct slurm_job job = { 0 };
	const struct slurm_order order = { name, given->slurm ? given->resources : NULL };
	if (slurm_submit(&app->deck, &order, &job, err) < 0)
		return error_prefix(err, "%s", name);
	return print_done(app, json_of_job(name, job.id, job.program, job.was_there),
			  xasprintf("Job %s %s. To run agentdeck in it: %s list", job.id,
				    job.was_there ? "is there already: none was submitted"
						  : "is submitted",
				    job.program));
}

/* ---- on another machine ----------------------------------------------------------------------- */

/* The host of config.toml through which a job was made. */
static int find_login(struct app *app, const struct remote *job, const struct remote **ret,
		      struct error *err)
{
	const struct remotes *remotes = &app->deck.settings.hosts;
	for (size_t i = 0; i < remotes->count; i++) {
		const struct remote *remote = &remotes->items[i];
		cleanup_free char *entered = slurm_entered_by(remote->program);
		if (!entered && remote->ssh && streq(remote->ssh, job->ssh)) {
			*ret = remote;
			return 0;
		}
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "no host of config.toml is its login host (ssh %s): name one with -H",
			 job->ssh);
}

static int ask(struct app *app, const struct remote *login, const char *name,
	       struct json_object **ret, struct error *err)
{
	const struct options *given = app->options;
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec words = { 0 };
	cleanup_json struct json_object *answer = NULL;
	strvec_push_array(&words, (const char *const[]){ "-H", REMOTE_HERE, "host", "create", name,
							 given->slurm ? "--slurm" : "--renew",
							 "--json", NULL });
	for (size_t i = 0; i < SLURM_RESOURCES; i++)
		if (given->resources[i])
			strvec_pushf(&words, "--%s=%s", resource_words[i], given->resources[i]);
	if (hosts_open(&app->deck, login, &link, err) < 0 ||
	    hosts_check_machine(login, link, err) < 0)
		return -1;
	if (hosts_ask_until(link, &words, clock_ms() + SUBMIT_MS, &answer, err) < 0)
		return error_prefix(err,
				    "%s: whether a job was submitted is not known: the same "
				    "command finds it",
				    login->name);
	cleanup_free char *why = visible(json_get_string(answer, "error", "it does not say why"));
	if (!json_get_bool(answer, "success", false))
		return error_set(err, ERROR_CHILD, "%s: %s", login->name, why);
	const char *program = json_get_string(answer, "program", "");
	cleanup_free char *entered = slurm_entered_by(program);
	if (!remote_is_program(program) || !entered ||
	    !slurm_is_id(json_get_string(answer, "job", "")))
		return error_set(err, ERROR_CORRUPT,
				 "%s: the answer has no job, or no path that ssh could run",
				 login->name);
	*ret = TAKE_PTR(answer);
	return 0;
}

/* Find the host whose job was made by this name: host rename does not rename the directory of the
 * job, and the job's own messages have that name.  login NULL: of any login host, unless the job is
 * of this machine.  Leaves *ret alone if there is none. */
static int find_by_directory(struct app *app, const char *name, const struct remote *login,
			     const struct remote **ret, struct error *err)
{
	const struct remotes *remotes = &app->deck.settings.hosts;
	const struct remote *found = NULL;
	cleanup_free char *here = xasprintf("%s/" SLURM_DIRECTORY "/%s/job", app->deck.paths.state,
					    name);
	if (!login && access(here, F_OK) == 0)
		return 0;
	for (size_t i = 0; i < remotes->count; i++) {
		const struct remote *remote = &remotes->items[i];
		cleanup_free char *entered = slurm_entered_by(remote->program);
		if (!remote->ssh || !entered || !streq(entered, name) ||
		    (login && !streq(or_empty(login->ssh), remote->ssh)))
			continue;
		if (found)
			return error_set(err, ERROR_INVALID,
					 "%s and %s both have a job of this name: name one of them",
					 found->name, remote->name);
		found = remote;
	}
	if (found)
		*ret = found;
	return 0;
}

/* old: the host, if there is one.  The name of the job's directory is that of the host when it was
 * made. */
static int create_there(struct app *app, const struct remote *login, const struct remote *old,
			const char *name, struct error *err)
{
	const char *host = old ? old->name : app->operands.items[0];
	cleanup_json struct json_object *answer = NULL;
	if (!login->ssh)
		return error_set(err, ERROR_INVALID,
				 "%s is no host by ssh: -H must name the login host of Slurm",
				 login->name);
	if (ask(app, login, name, &answer, err) < 0)
		return -1;
	const char *job = json_get_string(answer, "job", "");
	const char *program = json_get_string(answer, "program", "");
	const bool was_there = json_get_bool(answer, "was_there", false);
	const struct remote remote = { .name = (char *)(uintptr_t)host,
				       .ssh = login->ssh,
				       .program = (char *)(uintptr_t)program,
				       .timeout_s = login->timeout_s > TIMEOUT_LEAST_S
							    ? login->timeout_s
							    : TIMEOUT_LEAST_S };
	if (old && !streq(old->program, program))
		return error_set(err, ERROR_INVALID,
				 "job %s %s %s, but config.toml has %s for %s: name the login host "
				 "of %s with -H",
				 job, was_there ? "is one of" : "is submitted for", program,
				 old->program, host, host);
	if (!old && hosts_entry_save(&app->deck, &remote, err) < 0)
		return error_prefix(err,
				    "job %s %s, but its host %s is not added, which the same "
				    "command does once it can",
				    job, was_there ? "is there already" : "is submitted", host);
	return print_done(
		app, json_of_job(host, job, program, was_there),
		xasprintf("Job %s %s. When it runs, %s is a host: agentdeck host check %s", job,
			  was_there ? "is there already: none was submitted" : "is submitted", host,
			  host));
}

static int cmd_host_create(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	const char *name = app->operands.items[0];
	const struct remote *login = NULL;
	const struct remote *old = remotes_find(&app->deck.settings.hosts, name);
	if (check(name, given, err) < 0 || (app->host && !streq(app->host, REMOTE_HERE) &&
					    host_find(app, app->host, &login, err) < 0))
		return -1;
	const bool is_here = app->host && !login; /* -H local */
	if (!old && given->renew && !is_here && find_by_directory(app, name, login, &old, err) < 0)
		return -1;
	cleanup_free char *entered = old ? slurm_entered_by(old->program) : NULL;
	if (!app->host && given->renew && entered && find_login(app, old, &login, err) < 0)
		return -1;
	if (!login)
		return create_here(app, name, err);
	if (old && !(entered && old->ssh && login->ssh && streq(old->ssh, login->ssh)))
		return error_set(err, ERROR_EXISTS,
				 "there is a host '%s', which is no job of %s: take another name",
				 name, login->name);
	return create_there(app, login, old, entered ? entered : name, err);
}

const struct command command_host_create = {
	.name = "host create",
	.kind = COMMAND_CHANGES,
	.arguments = "NAME",
	.summary = "make a job of Slurm, and name it in config.toml",
	OWN_OPTIONS,
	.flags = NEEDS_DECK | HAS_JSON | IS_STRICT | IS_OF_PROGRAM | ASKS_A_HOST,
	.run = cmd_host_create,
};
