/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "driver/forge/forge.h"
#include "engine/run/work.h"
#include "engine/workspace/bring.h"

#include <inttypes.h>

struct options {
	bool request;
};

static const struct command_option options[] = {
	{ 0, "pr", NULL, "and make a pull request of it, with gh, if there is none",
	  TO_FLAG(request) },
	{ 0 },
};

static void print_result(const struct app *app, const struct bring_result *result,
			 const char *remote, const struct pull_request *request)
{
	struct json_object *object = json_success(app->session->id, app->session->title);
	cleanup_free char *branch = visible(result->branch);
	cleanup_free char *shown = visible(remote);
	cleanup_free char *of = request ? xasprintf(" Pull request %" PRId64 ": %s",
						    request->number, request->url)
					: NULL;
	json_set_string(object, "branch", result->branch);
	json_set_string(object, "commit", result->commit);
	json_set_string(object, "remote", remote);
	json_set(object, "pull_request", request ? forge_to_json(request) : NULL);
	(void)print_done(app, object,
			 xasprintf("Pushed %s to %s (%.12s).%s", branch, shown, result->commit,
				   or_empty(of)));
}

static int cmd_session_push(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	cleanup_instance struct instance *instance = NULL;
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_forge_request struct pull_request request = { 0 };
	cleanup_free char *remote = NULL;
	if (deck_load(&app->deck, app->session->base, &instance, err) < 0 ||
	    bring_push(&app->deck, instance, &result, &remote, err) < 0)
		return -1;
	/* The branch is pushed: again does no harm. */
	if (given->request && bring_request(instance, &result, &request, err) < 0)
		return error_prefix(err, "%s was pushed to %s", result.branch, remote);
	work_look_again(&app->deck, instance, given->request);
	print_result(app, &result, remote, given->request ? &request : NULL);
	return 0;
}

const struct command command_session_push = {
	.name = "session push",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION",
	.summary = "push the branch of an agent from your repository",
	OWN_OPTIONS,
	.flags = NEEDS_SESSION | HAS_JSON,
	.run = cmd_session_push,
};
