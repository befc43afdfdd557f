/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/conversation/report.h"
#include "engine/roster/notice.h"
#include "engine/roster/statusline.h"
#include "engine/run/collect.h"

struct options {
	const char *instance;
	bool collect;
};

static const struct command_option options[] = {
	{ 0, "instance", "NAME",
	  "whose report it is, by the name of its directory; without it AGENTDECK_INSTANCE_BASE, "
	  "or AGENTDECK_INSTANCE",
	  TO_TEXT(instance) },
	{ 0, "collect", NULL, "take the reports that wait in the directory of a container",
	  TO_FLAG(collect) },
	{ 0 },
};

/* An agent that passes its report as an argument appends it to the command that it runs. */
static int read_payload(const struct app *app, struct strbuf *ret, struct error *err)
{
	if (app->operands.count == 0)
		return report_read(STDIN_FILENO, clock_ms() + REPORT_TIMEOUT_MS, ret, err);
	strbuf_adds(ret, app->operands.items[app->operands.count - 1]);
	return 0;
}

/* A run that an older version started has no ENV_BASE: there both names were the same. */
static const char *base_of(const struct options *given)
{
	const char *base = getenv(ENV_BASE);
	if (given->instance)
		return given->instance;
	return is_empty(base) ? deck_env_instance() : base;
}

static int take(struct app *app, const char *base, const struct sender *sender,
		const struct strbuf *text, struct error *err)
{
	struct report_news news;
	if (deck_open_store(&app->deck, err) < 0)
		return -1;
	const struct report_parcel parcel = { &app->deck, base, sender, strbuf_text(text),
					      text->length };
	int r = report_take(&parcel, &news, err);
	statusline_follow(app->deck.store, base, news.before, news.now);
	notice_activity(&app->deck, app->deck.store, base,
			&(struct notice_change){ news.before, news.now, news.since_us });
	return r;
}

static int collect(struct app *app, const char *base, struct error *err)
{
	if (deck_open_store(&app->deck, err) < 0)
		return -1;
	return collect_reports(&app->deck, base, err);
}

/* A hook that fails or prints something would disturb the agent.  So the exit status is always 0,
 * and messages go to the log. */
static int cmd_hook(struct app *app, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error unread = { 0 };
	struct sender sender = { .token = getenv(ENV_TOKEN) };
	const struct options *given = app->options;
	const char *base = base_of(given);
	if (given->collect) {
		if (!is_empty(base) &&
		    deck_open_anyway(app->profile, "hook", &app->deck, err) == 0 &&
		    collect(app, base, err) < 0)
			log_warning("reports not taken: %s", err->message);
		error_clear(err);
		return 0;
	}
	sender_find(&sender);
	/* Read it even if it is not needed or the log cannot be opened, since the agent writes it. */
	int r = read_payload(app, &text, &unread);
	/* The user may have set another profile in the session. */
	if (is_empty(base) ||
	    deck_open_anyway(getenv(ENV_INSTANCE_PROFILE), "hook", &app->deck, err) < 0) {
		error_clear(err);
		return 0;
	}
	log_set_instance(base);
	if (r < 0)
		log_warning("report not taken: %s", unread.message);
	else if (take(app, base, &sender, &text, err) < 0)
		log_warning("report not taken: %s", err->message);
	error_clear(err);
	strvec_clear(&app->deck.warnings);
	return 0;
}

const struct command command_hook = {
	.name = "hook",
	.kind = COMMAND_INTERNAL,
	.arguments = "[PAYLOAD...]",
	.summary = "take an agent's report (agents call this)",
	OWN_OPTIONS,
	.flags = HAS_MESSAGE,
	.run = cmd_hook,
};
