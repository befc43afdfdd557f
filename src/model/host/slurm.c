/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/host/slurm.h"

#include "base/argsplit.h"
#include "model/host/remote.h"

#include <stdint.h>
#include <string.h>

#define DIGITS          "0123456789"
#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_.,:=+-@/"

enum { WORD_MOST = 255, ID_MOST = 20 };

bool slurm_is_word(const char *text)
{
	return *text && strlen(text) <= WORD_MOST && !text[strspn(text, WORD_CHARACTERS)];
}

bool slurm_is_id(const char *text)
{
	return *text && strlen(text) <= ID_MOST && !text[strspn(text, DIGITS)];
}

static void add_variable(struct strbuf *ret, const char *name, const char *value)
{
	cleanup_free char *quoted = argjoin((char *const[]){ (char *)(uintptr_t)value, NULL });
	strbuf_addf(ret, "export %s=%s\n", name, quoted);
}

char *slurm_batch_script(const struct slurm_script *script)
{
	static const char *const options[SLURM_RESOURCES] = {
		[SLURM_PARTITION] = "partition", [SLURM_ACCOUNT] = "account", [SLURM_GPUS] = "gpus",
		[SLURM_CPUS] = "cpus-per-task",  [SLURM_MEMORY] = "mem",      [SLURM_TIME] = "time",
	};
	cleanup_free char *program = argjoin(
		(char *const[]){ (char *)(uintptr_t)script->program, NULL });
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_addf(&text,
		    "#!/bin/bash\n"
		    "# The job of the host %s, by agentdeck host create. --renew submits it again: "
		    "change it as you need.\n"
		    "#SBATCH --nodes=1 --ntasks=1\n"
		    "#SBATCH --output=job.log --open-mode=append\n"
		    "#SBATCH --requeue --signal=B:USR1@120\n",
		    script->name);
	for (size_t i = 0; i < SLURM_RESOURCES; i++)
		if (script->resources[i])
			strbuf_addf(&text, "#SBATCH --%s=%s\n", options[i], script->resources[i]);
	add_variable(&text, "HOME", script->home);
	add_variable(&text, "PATH", script->path);
	add_variable(&text, "AGENTDECK_HOME", script->state);
	/* --export=NIL keeps the variables of Slurm, and so the token of a login. */
	strbuf_addf(&text,
		    "unset SLURM_JWT\n"
		    "end=$(timeout 10 squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%%e)\n"
		    "[ \"${end:-N/A}\" = N/A ] || end=$(date +%%s -d \"$end\")\n"
		    "export AGENTDECK_ENDS_AT=${SLURM_JOB_END_TIME:-${end#N/A}}\n"
		    "exec %s supervise --main --incarnation "
		    "\"$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}\"\n",
		    program);
	return strbuf_take(&text);
}

static char *options_of(const char *script)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t length; *script; script += length) {
		length = (size_t)(strchrnul(script, '\n') - script);
		length += script[length] == '\n';
		if (starts_with(script, "#SBATCH"))
			strbuf_add(&text, script, length);
	}
	return strbuf_take(&text);
}

bool slurm_has_same_options(const char *script, const char *other)
{
	cleanup_free char *one = options_of(script);
	cleanup_free char *two = options_of(other);
	return streq(one, two);
}

/* Slurm lets steps run before the batch script: in a new state directory they would begin sessions
 * without the main program.  What runs has precedence over the next job, which waits for its end.
 * The status is LINK_NOT_RUNNING (driver/link/link.h). */
static const char enter[] =
	"unset -v \"${!SQUEUE_@}\"\n"
	"pty=\n"
	"[ ! -t 0 ] || [ ! -t 1 ] || pty=--pty\n"
	"jobs=$(timeout 10 squeue --noheader --user=\"$UID\" --name=\"$job\" --states=all "
	"--sort=-i --format='%i %T %V %r') || {\n"
	"\techo 'squeue does not answer' >&2\n"
	"\texit 69\n"
	"}\n"
	"words=\n"
	"ended=\n"
	"while read -ru 3 id state at reason; do\n"
	"\t[ \"${at%T*}\" != \"$(date +%F)\" ] || at=${at#*T}\n"
	"\tcase $state in\n"
	"\t'') ;;\n"
	"\tRUNNING)\n"
	"\t\t[ -e \"$AGENTDECK_HOME/main.json\" ] || { words='the job has just started'; continue; }\n"
	"\t\texec srun --jobid=\"$id\" --overlap --nodes=1 --ntasks=1 --unbuffered $pty "
	"\"$program\" \"$@\" 3<&-\n"
	"\t\t;;\n"
	"\tPENDING)\n"
	"\t\t[[ $reason != JobHeld* ]] || reason+=\", until scontrol release $id\"\n"
	"\t\t: \"${words:=pending since ${at%:*}: $reason}\"\n"
	"\t\t;;\n"
	"\t*ING | SUSPENDED | STOPPED | REQUEUE* | SPECIAL_EXIT | RESV_DEL_HOLD | STAGE_OUT)\n"
	"\t\t: \"${words:=${state,,} ($reason)}\" ;;\n"
	"\tCOMPLETED | TIMEOUT | CANCELLED) : \"${ended:= ($state)}\" ;;\n"
	"\t*) : \"${ended:= ($state), see $log}\" ;;\n"
	"\tesac\n"
	"done 3<<<\"$jobs\"\n"
	"echo \"${words:-the job has ended$ended: $renew}\" >&2\n"
	"exit 69\n";

char *slurm_enter_script(const struct slurm_script *script)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *program = argjoin(
		(char *const[]){ (char *)(uintptr_t)script->program, NULL });
	strbuf_addf(
		&text,
		"#!/bin/bash\n"
		"# Run agentdeck in the job of the host %s; written by agentdeck host create.\n",
		script->name);
	/* ssh runs it without a login shell, whose PATH has the programs of Slurm. */
	add_variable(&text, "PATH", script->path);
	add_variable(&text, "AGENTDECK_HOME", script->state);
	strbuf_addf(&text,
		    "program=%s\njob=%s\nlog=${AGENTDECK_HOME%%/*}/job.log\n"
		    "renew='agentdeck host create %s --renew'\n%s",
		    program, script->job, script->name, enter);
	return strbuf_take(&text);
}

char *slurm_entered_by(const char *program)
{
	static const char before[] = "/" SLURM_DIRECTORY "/", after[] = "/" SLURM_ENTER;
	const char *at = NULL;
	if (!ends_with(program, after))
		return NULL;
	for (const char *next = program; (next = strstr(next, before)); next++)
		at = next + strlen(before);
	if (!at || at + strlen(after) >= program + strlen(program))
		return NULL;
	cleanup_free char *name = xstrndup(at, strlen(at) - strlen(after));
	return remote_is_name(name) ? TAKE_PTR(name) : NULL;
}
