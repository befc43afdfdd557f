/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/log.h"
#include "engine/run/due.h"
#include "engine/run/revive.h"
#include "engine/run/sleep.h"
#include "engine/run/stop.h"

#include <unistd.h>

struct options {
	bool automatic, dry_run, rest, sleep, due;
	int64_t within; /* 0: as long as it takes */
};

static const struct command_option options[] = {
	{ 0, "automatic", NULL, "by the restart policy, as the supervisor does",
	  TO_FLAG(automatic) },
	{ 0, "within", "SECONDS", "be ended by SIGALRM then", TO_SECONDS(within, 1, 86400) },
	OPTION_TAKE_OVER,
	{ 0, "rest", NULL, "end it in order instead, because its host ends: it is to run again",
	  TO_FLAG(rest) },
	{ 0, "sleep", NULL, "end it instead, if it is idle for long enough and may sleep",
	  TO_FLAG(sleep) },
	{ 0, "due", NULL, "say to its agent what is due instead, after a usage limit",
	  TO_FLAG(due) },
	{ 0, "dry-run", NULL, "tell what would be done, and do nothing", TO_FLAG(dry_run) },
	{ 0 },
};

/* Something is left of the time for what follows the end of the agent. */
static int rest(struct app *app, int64_t within_s, struct error *err)
{
	struct settings *settings = &app->deck.settings;
	const int64_t most_s = within_s > 4 ? within_s - 3 : 1;
	if (within_s && settings->stop_timeout_s > most_s)
		settings->stop_timeout_s = most_s;
	return lifecycle_rest(&app->deck, app->operands.items[0], err);
}

static int put_to_sleep(struct app *app, struct error *err)
{
	const char *base = app->operands.items[0];
	const struct options *given = app->options;
	struct sleep_result result;
	if (lifecycle_sleep(&app->deck, base, given->dry_run, &result, err) < 0)
		return -1;
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "id", base);
	json_set_bool(object, "asleep", result.verdict == SLEEP_NOW && !given->dry_run);
	json_set_string(object, "reason", sleep_why(result.verdict));
	json_set_int(object, "delay_ms", result.delay_ms);
	print_json_line(object);
	return 0;
}

static int say_due(struct app *app, struct error *err)
{
	const char *base = app->operands.items[0];
	enum due due;
	if (lifecycle_say_due(&app->deck, base, &due, err) < 0)
		return -1;
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_string(object, "id", base);
	json_set_string(object, "due", due_name(due));
	print_json_line(object);
	return 0;
}

static int cmd_revive(struct app *app, struct error *err)
{
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error failure = { 0 };
	cleanup_json struct json_object *object = json_object_new_object();
	const char *base = app->operands.items[0];
	const struct options *given = app->options;
	const struct revive_order order = {
		.cause = given->automatic ? REVIVE_AUTOMATIC : REVIVE_BY_USER,
		.mode = given->dry_run ? REVIVE_TRIAL : REVIVE_REALLY,
		.takes_over = app->takes_over,
	};
	/* The caller does not keep the time: the supervisor may end or restart while we hold a
	 * lock.  SIGALRM is as good as any kill: the next start knows what to do about each
	 * half-done state. */
	(void)alarm((unsigned)given->within);
	if (given->sleep)
		return put_to_sleep(app, err);
	if (given->due)
		return say_due(app, err);
	if (given->rest)
		return rest(app, given->within, err);
	const int r = revive(&app->deck, base, &order, &result, &failure);
	json_set_string(object, "id", result.id ? result.id : base);
	if (r < 0) {
		json_set_string(object, "error", failure.message);
		json_set_string(object, "code", error_code_name(failure.code));
		log_error("revive: %s", failure.message);
		print_json_line(object);
		return 1;
	}
	json_set_string(object, "title", result.title);
	json_set_string(object, "outcome", revive_outcome_name(result.outcome));
	json_set_string(object, "reason", result.reason);
	json_set_string(object, "rung", result.rung);
	json_set_string(object, "note", result.note);
	json_set_string(object, "session_id", result.session_id);
	json_set_bool(object, "elsewhere", result.elsewhere);
	json_set_int(object, "delay_ms", result.delay_ms);
	print_json_line(object);
	return 0;
}

const struct command command_revive = {
	.name = "revive",
	.kind = COMMAND_INTERNAL,
	.arguments = "INSTANCE",
	.summary = "restart one session that should run (recover and supervise call this)",
	OWN_OPTIONS,
	.flags = NEEDS_STORE,
	.run = cmd_revive,
};
