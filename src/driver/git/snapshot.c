/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/git/snapshot.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/sha256.h"
#include "driver/git/git-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

enum { FETCH_MS = 5 * 60 * 1000 };

void snapshot_clear(struct snapshot *snapshot)
{
	free(snapshot->commit);
	free(snapshot->before);
	*snapshot = (struct snapshot){ 0 };
}

/* ---- running git ----------------------------------------------------------------------------- */

/* What git is told wherever it runs here.  The files of its user's configuration still count: they
 * say how to reach a server. */
static const char *const settings[] = {
	"--git-dir=.",
	"-c",
	"core.hooksPath=/dev/null",
	"-c",
	"core.fsmonitor=false",
	"-c",
	"core.alternateRefsCommand=true",
	"-c",
	"submodule.recurse=false",
	"-c",
	"fetch.recurseSubmodules=false",
	"-c",
	"fetch.unpackLimit=1",
	"-c",
	"http.lowSpeedLimit=1",
	"-c",
	"http.lowSpeedTime=60",
	NULL,
};

/* protocols: "https:ssh"; "" for what needs no other repository. */
static void make_environment(const char *protocols, struct strvec *ret)
{
	cleanup_strvec struct strvec usual = { 0 };
	gitcmd_environment(&usual);
	for (size_t i = 0; i < usual.count; i++)
		if (!starts_with(usual.items[i], "GIT_ASKPASS=") &&
		    !starts_with(usual.items[i], "SSH_ASKPASS"))
			strvec_push(ret, usual.items[i]);
	strvec_pushf(ret, "GIT_ALLOW_PROTOCOL=%s", protocols);
	strvec_push(ret, "GIT_NO_LAZY_FETCH=1");
	strvec_push(ret, "GIT_ASKPASS=");
	strvec_push(ret, "GCM_INTERACTIVE=never");
	strvec_push(ret, "SSH_ASKPASS_REQUIRE=never");
}

static void make_argv(const char *repository, const char *const *words, struct strvec *ret)
{
	strvec_push_array(ret, (const char *const[]){ "git", "-C", repository, NULL });
	strvec_push_array(ret, settings);
	strvec_push_array(ret, words);
}

int snapshot_ask(const char *repository, const struct snapshot_call *call, struct child_result *ret,
		 struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	make_argv(repository, call->words, &argv);
	make_environment("", &environment);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&argv),
		.environment = strvec_argv(&environment),
		.input = call->input ? strbuf_text(call->input) : NULL,
		.input_length = call->input ? call->input->length : 0,
		.max_output = call->max_output,
		.kill_at_max = true,
	};
	const int r = child_run(&request, GITCMD_ASK_MS, ret, err);
	return r == CHILD_NOT_INSTALLED ? gitcmd_refuse_missing(err) : r;
}

/* *ret is NULL if the name means no commit. */
static int find_commit(const char *repository, const char *name, char **ret, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *commit = xasprintf("%s^{commit}", name);
	const struct snapshot_call call = {
		.words = (const char *const[]){ "rev-parse", "--verify", "--quiet", commit, NULL },
	};
	if (snapshot_ask(repository, &call, &result, err) < 0)
		return -1;
	const char *text = strbuf_text(&result.output);
	*ret = result.exit_status == 0 ? xstrndup(text, strcspn(text, "\n")) : NULL;
	return 0;
}

/* ---- fetching -------------------------------------------------------------------------------- */

static int make_repository(const char *repository, struct error *err)
{
	const char *const words[] = {
		"init", "--quiet",  "--bare", "--template=", "--object-format=sha1",
		"--",   repository, NULL
	};
	return gitcmd_must_run("/", words, GITCMD_ASK_MS, NULL, err);
}

/* What a fetch that was ended leaves behind, which can be large. */
static void sweep(const char *repository)
{
	cleanup_free char *path = path_join(repository, "objects/pack");
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = fs_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (starts_with(names.items[i], "tmp_"))
			(void)unlinkat(fd, names.items[i], 0);
}

static int explain(const struct snapshot_source *source, const struct child_result *result,
		   struct error *err)
{
	cleanup_free char *words = child_last_words(result), *shown = visible(source->url);
	const char *hint = "";
	if (strstr(words, "couldn't find remote ref"))
		hint = " (there is no such branch or tag; a commit needs all of its digits)";
	/* So git says that its index-pack(1) was ended at the limit. */
	else if (strstr(words, "invalid index-pack output"))
		hint = " (perhaps since one commit has more than 256 MiB: put the role into a "
		       "repository of its own)";
	return error_set(err, ERROR_CHILD, "git fetch %s: %s%s", shown, words, hint);
}

/* A session of its own has no terminal at which ssh could ask.  The limit is there before git has
 * an answer of the other side. */
static int run_fetch(const char *repository, const struct snapshot_source *source,
		     const char *refspec, struct error *err)
{
	const char *const words[] = { "fetch",
				      "--quiet",
				      "--depth=1",
				      "--no-tags",
				      "--no-write-fetch-head",
				      "--no-recurse-submodules",
				      "--no-auto-gc",
				      "--update-shallow",
				      "--",
				      source->url,
				      refspec,
				      NULL };
	const struct rlimit limit = { (rlim_t)SNAPSHOT_MAX_MIB << 20,
				      (rlim_t)SNAPSHOT_MAX_MIB << 20 };
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_close int log = -1;
	struct child child;
	make_argv(repository, words, &argv);
	make_environment(source->is_local ? "file" : "https:ssh", &environment);
	if (fs_open_scratch(repository, &log, err) < 0)
		return -1;
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&argv),
		.environment = strvec_argv(&environment),
		.log = log,
	};
	const int r = child_start(&request, &child, err);
	if (r != 0)
		return r < 0 ? -1 : gitcmd_refuse_missing(err);
	(void)prlimit(child.pid, RLIMIT_FSIZE, &limit, NULL);
	if (child_finish(&child, clock_ms() + FETCH_MS, &result, err) < 0)
		return error_prefix(err, "fetch the role");
	return result.exit_status == 0 ? 0 : explain(source, &result, err);
}

int snapshot_fetch(const char *repository, const struct snapshot_source *source,
		   struct snapshot *ret, struct error *err)
{
	char digest[SHA256_TEXT_SIZE];
	const char *wished = source->ref ? source->ref : "HEAD";
	cleanup_free char *ref = xasprintf("refs/roles/%s", sha256_text(wished, digest));
	cleanup_free char *refspec = xasprintf("+%s:%s", wished, ref);
	cleanup_snapshot struct snapshot found = { 0 };
	if ((source->is_local && gitcmd_check_confined(source->url, err) < 0) ||
	    make_repository(repository, err) < 0 ||
	    find_commit(repository, ref, &found.before, err) < 0)
		return -1;
	const int r = run_fetch(repository, source, refspec, err);
	if (r < 0) {
		sweep(repository);
		return -1;
	}
	if (find_commit(repository, ref, &found.commit, err) < 0)
		return -1;
	if (!found.commit) {
		cleanup_free char *shown = visible(source->url);
		return error_set(err, ERROR_INVALID, "%s of %s is no commit", wished, shown);
	}
	*ret = found;
	found = (struct snapshot){ 0 };
	return 0;
}

int snapshot_has(const char *repository, const char *commit, bool *ret, struct error *err)
{
	cleanup_free char *found = NULL;
	if (access(repository, F_OK) < 0) {
		*ret = false;
		return 0;
	}
	if (find_commit(repository, commit, &found, err) < 0)
		return -1;
	*ret = found != NULL;
	return 0;
}
