/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/report.h"
#include "engine/runfiles.h"

#include <limits.h>

/* Agents that call a program with their report put it behind what they were told to call. */
static int read_payload(const struct app *app, struct strbuf *ret, struct error *err)
{
	if (app->operands.count == 0)
		return report_read(STDIN_FILENO, clock_ms() + REPORT_TIMEOUT_MS, ret, err);
	strbuf_adds(ret, app->operands.items[app->operands.count - 1]);
	return 0;
}

static int take(struct app *app, const char *id, const struct strbuf *text, struct error *err)
{
	if (deck_open_store(&app->deck, err) < 0)
		return -1;
	return report_take(&app->deck, id, getenv(ENV_TOKEN), strbuf_text(text), text->length, err);
}

/* A hook that fails, or says something, would disturb the agent: whatever happens, the exit status is 0, and what
 * there is to say stands in the log. */
static int run(struct app *app, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error unread = { 0 };
	const char *id = option_value(app, "instance");
	if (!id)
		id = getenv(ENV_INSTANCE);
	/* Also when nobody wants it, or the log cannot be opened: the agent is writing it. */
	int r = read_payload(app, &text, &unread);
	if (is_empty(id) || deck_open(NULL, "hook", &app->deck, err) < 0) {
		error_clear(err);
		return 0;
	}
	log_set_instance(id);
	if (r < 0)
		log_warning("report not taken: %s", unread.message);
	else if (take(app, id, &text, err) < 0)
		log_warning("report not taken: %s", err->message);
	error_clear(err);
	strvec_clear(&app->deck.warnings);
	return 0;
}

static const struct command_option options[] = {
	{ 0, "instance", "ID", "whose report it is; without it AGENTDECK_INSTANCE_ID" },
	{ 0 },
};

const struct command command_hook = {
	.name = "hook",
	.arguments = "[PAYLOAD]",
	.summary = "take an agent's report (agents call this)",
	.description =
		"Agents are started so that they call this at each event.  It takes one JSON object, from\n"
		"standard input or, for agents that put it there, from its last argument, checks that it comes\n"
		"from the session's present run, prints nothing, and exits with 0 whatever happens: what it did\n"
		"not take stands in the log.",
	.options = options,
	.max_operands = UINT_MAX,
	.run = run,
};
