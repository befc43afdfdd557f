/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

#include "base/log.h"
#include "engine/revive.h"

#include <unistd.h>

static void add_run(struct json_object *object, const struct revive_result *result)
{
	const struct instance *instance = result->instance;
	const struct attempt *attempt = instance ? run_attempt(&instance->run) : NULL;
	if (result->outcome != REVIVED && result->outcome != REVIVE_ALIVE)
		attempt = NULL;
	json_set_string(object, "reason", result->reason ? result->reason : attempt ? attempt->reason : NULL);
	json_set_string(object, "rung", attempt ? rung_name(attempt->rung) : NULL);
	json_set_string(object, "note", attempt ? instance->run.history_note : NULL);
	/* Of the run, as json_of_start() says it. */
	json_set_string(object, "session_id", attempt && attempt->rung == RUNG_FRESH ? attempt->session_id
					      : instance ? instance->conversation.session_id : NULL);
}

/* Not left to who started it: the supervisor may have ended, or begun anew, while a lock is held here.  SIGALRM is as good as any
 * kill: what is half done has a state that the next start knows what to do about. */
static int limit_time(struct app *app, struct error *err)
{
	enum { SECONDS_MAX = 86400 };
	int64_t seconds;
	const char *text = option_value(app, "within");
	if (!text)
		return 0;
	if (!parse_int64(text, 1, SECONDS_MAX, &seconds))
		return error_set(err, ERROR_USAGE, "--within is a number from 1 to %d, not '%s'", SECONDS_MAX,
				 text);
	(void)alarm((unsigned)seconds);
	return 0;
}

static int run(struct app *app, struct error *err)
{
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error failure = { 0 };
	cleanup_json struct json_object *object = json_object_new_object();
	const char *base = app->operands.items[0];
	const enum revive_cause cause = option_given(app, "unasked") ? REVIVE_UNASKED : REVIVE_BY_USER;
	if (limit_time(app, err) < 0)
		return -1;
	json_set_string(object, "id", base);
	if (revive(&app->deck, base, cause, option_given(app, "dry-run"), &result, &failure) < 0) {
		json_set_string(object, "error", failure.message);
		json_set_string(object, "code", error_code_name(failure.code));
		log_error("revive: %s", failure.message);
		print_json_line(object);
		return 1;
	}
	json_set_string(object, "title", result.instance ? result.instance->title : NULL);
	json_set_string(object, "outcome", revive_outcome_name(result.outcome));
	add_run(object, &result);
	json_set_int(object, "delay_ms", result.delay_ms);
	print_json_line(object);
	return 0;
}

static const struct command_option options[] = {
	{ 0, "unasked", NULL, "by the restart policy, as the supervisor does" },
	{ 0, "within", "SECONDS", "be ended by SIGALRM then" },
	{ 0, "dry-run", NULL, "tell what would be done, and do nothing" },
	{ 0 },
};

const struct command command_revive = {
	.name = "revive",
	.arguments = "INSTANCE",
	.summary = "bring back one session that is to run (recover and supervise call this)",
	.description = "",
	.options = options,
	.min_operands = 1,
	.max_operands = 1,
	.flags = NEEDS_STORE | IS_HIDDEN,
	.run = run,
};
