/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/report.h"
#include "engine/runfiles.h"

#include <errno.h>
#include <poll.h>

/* Standard input up to its end, to REPORT_MAX, or to the deadline. */
static int read_report(struct strbuf *ret, struct error *err)
{
	int64_t deadline = clock_ms() + REPORT_TIMEOUT_MS;
	char chunk[16384];
	for (;;) {
		struct pollfd event = { .fd = STDIN_FILENO, .events = POLLIN };
		int n = poll(&event, 1, clock_left_ms(deadline));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, ERROR_TIMEOUT, "the report does not end");
		ssize_t length = read(STDIN_FILENO, chunk, sizeof(chunk));
		if (length < 0)
			return error_set_errno(err, errno, "read the report");
		if (length == 0)
			return 0;
		if (ret->length + (size_t)length > REPORT_MAX)
			return error_set(err, ERROR_CORRUPT, "the report is larger than %d bytes",
					 REPORT_MAX);
		strbuf_add(ret, chunk, (size_t)length);
	}
}

/* A hook that fails would disturb the agent: whatever happens, the exit status is 0. */
static int run(struct app *app, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const char *id = option_value(app, "instance");
	if (!id)
		id = getenv(ENV_INSTANCE);
	if (is_empty(id))
		return 0;
	if (read_report(&text, err) < 0 || deck_open(NULL, "hook", &app->deck, err) < 0 ||
	    deck_open_store(&app->deck, err) < 0 ||
	    report_take(&app->deck, id, getenv(ENV_TOKEN), strbuf_text(&text), text.length, err) < 0) {
		log_warning("report not taken: %s", err->message);
		error_clear(err);
	}
	return 0;
}

static const struct command_option options[] = {
	{ 0, "instance", "ID", "whose report it is; without it AGENTDECK_INSTANCE_ID" },
	{ 0 },
};

const struct command command_hook = {
	.name = "hook",
	.arguments = "",
	.summary = "take an agent's report from standard input (agents call this)",
	.description =
		"Agents are started with settings that call this at each event.  It reads one JSON object,\n"
		"checks that it comes from the session's present run, and always exits with 0.",
	.options = options,
	.run = run,
};
