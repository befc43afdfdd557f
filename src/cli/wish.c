/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/wish.h"

#include "base/argsplit.h"

const struct command_option wish_options[] = { WISH_OPTIONS, { 0 } };

int wish_read(struct app *app, struct wish *ret, struct error *err)
{
	const char *command = option_value(app, "cmd");
	const char *agent = option_value(app, "agent");
	if (command && argsplit(command, &ret->command, err) < 0)
		return error_prefix(err, "-c");
	struct limit_change limits = { 0 };
	if (limit_options_read(app, &limits, err) < 0)
		return -1;
	if (command && ret->command.count == 0)
		return error_set(err, ERROR_USAGE, "-c is empty: name a program");
	ret->wish = (struct lifecycle_new){
		.title = option_value(app, "title"),
		.group = option_value(app, "group"),
		.directory = app->operands.count ? app->operands.items[0] : ".",
		.agent = agent,
		.argv = &ret->command,
		.arguments = &app->rest,
		.session_id = option_value(app, "session-id"),
		.resume = option_value(app, "resume"),
		.restart = option_value(app, "restart"),
		.limits = limits.limits,
	};
	return 0;
}

void wish_free(struct wish *wish)
{
	strvec_clear(&wish->command);
}
