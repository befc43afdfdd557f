/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/forge/forge.h"

#include "base/child.h"
#include "base/fsutil.h"

#include <errno.h>
#include <fcntl.h>

extern char **environ;

enum { MAKE_MS = 2 * 60 * 1000 };

void forge_request_free(struct pull_request *request)
{
	free(request->state);
	free(request->url);
	*request = (struct pull_request){ 0 };
}

struct json_object *forge_to_json(const struct pull_request *request)
{
	struct json_object *json = json_object_new_object();
	json_set_int(json, "number", request->number);
	json_set_string(json, "state", request->state);
	json_set_string(json, "url", request->url);
	json_set_bool(json, "is_draft", request->is_draft);
	return json;
}

/* The forge's program calls git, which must find the repository by the directory alone, and must
 * ask nothing. */
static void make_environment(struct strvec *ret)
{
	for (char **variable = environ; *variable; variable++)
		if (!starts_with(*variable, "GIT_"))
			strvec_push(ret, *variable);
	strvec_push(ret, "GIT_TERMINAL_PROMPT=0");
	strvec_push(ret, "GH_PROMPT_DISABLED=1");
	strvec_push(ret, "GH_NO_UPDATE_NOTIFIER=1");
	strvec_push(ret, "NO_COLOR=1");
}

static int run(const char *repository, const char *const *argv, int timeout_ms,
	       struct child_result *ret, struct error *err)
{
	cleanup_strvec struct strvec environment = { 0 };
	cleanup_close int directory = fs_openat(AT_FDCWD, repository,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (directory < 0)
		return error_set_file(err, errno, "open %s", repository);
	make_environment(&environment);
	const struct child_request request = {
		.argv = argv,
		.environment = strvec_argv(&environment),
		.directory = directory,
	};
	return child_run(&request, timeout_ms, ret, err);
}

static int parse(const struct child_result *result, struct pull_request *ret, struct error *err)
{
	cleanup_json struct json_object *all = NULL;
	if (json_parse(strbuf_text(&result->output), result->output.length, "gh", &all, err) < 0)
		return -1;
	if (!json_object_is_type(all, json_type_array))
		return error_set(err, ERROR_CORRUPT, "gh: an unexpected answer");
	if (json_object_array_length(all) == 0)
		return FORGE_NONE;
	const struct json_object *json = json_object_array_get_idx(all, 0);
	const int64_t number = json_get_int(json, "number", 0);
	const char *state = json_get_string(json, "state", NULL);
	const char *url = json_get_string(json, "url", NULL);
	if (number <= 0 || !state || !url)
		return error_set(err, ERROR_CORRUPT, "gh: an unexpected answer");
	*ret = (struct pull_request){
		.number = number,
		.state = visible(state),
		.url = visible(url),
		.is_draft = json_get_bool(json, "isDraft", false),
	};
	return 0;
}

int forge_find(const char *repository, const char *branch, int timeout_ms, struct pull_request *ret,
	       struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	/* "pr view" would take a branch "7" for the number of another request. */
	cleanup_free char *head = xasprintf("--head=%s", branch);
	int r = run(repository,
		    (const char *const[]){ "gh", "pr", "list", head, "--state=all", "--limit=1",
					   "--json", "number,state,url,isDraft", NULL },
		    timeout_ms, &result, err);
	if (r < 0)
		return -1;
	return r == CHILD_NOT_INSTALLED || result.exit_status != 0 ? FORGE_NONE
								   : parse(&result, ret, err);
}

int forge_make(const char *repository, const char *branch, const char *base, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *head = xasprintf("--head=%s", branch);
	cleanup_free char *target = base ? xasprintf("--base=%s", base) : NULL;
	int r = run(repository,
		    (const char *const[]){ "gh", "pr", "create", "--fill", head, target, NULL },
		    MAKE_MS, &result, err);
	if (r < 0)
		return -1;
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE,
				 "gh is not installed: install it, or open the pull request in a "
				 "browser");
	if (result.exit_status == 0)
		return 0;
	cleanup_free char *words = child_last_words(&result);
	return error_set(err, ERROR_CHILD, "gh pr create: %s", words);
}
