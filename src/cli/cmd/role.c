/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/roles.h"
#include "cli/show/output.h"

static int read_source(const struct app *app, struct role_source *ret, struct error *err)
{
	const char *directory = app->operands.count ? app->operands.items[0] : ".";
	return role_source_read(&app->deck, directory, NULL, NULL, ret, err);
}

static void print_source(const struct app *app, const struct role_source *source,
			 const struct strvec *lines)
{
	cleanup_json struct json_object *object = app->json ? json_of_role(source) : NULL;
	if (object)
		print_json(object);
	for (size_t i = 0; !object && i < lines->count; i++)
		say("%s", lines->items[i]);
}

static int cmd_role_check(struct app *app, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	if (read_source(app, &source, err) < 0)
		return -1;
	role_judge(&source, &lines);
	strvec_pushf(&lines, "%s: %s", source.file, role_verdict_name(source.role.verdict));
	print_source(app, &source, &lines);
	return source.role.verdict == ROLE_REFUSED ? 1 : 0;
}

static int cmd_role_show(struct app *app, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	if (read_source(app, &source, err) < 0)
		return -1;
	role_describe(&source, &lines);
	print_source(app, &source, &lines);
	return 0;
}

const struct command command_role_check = {
	.name = "role check",
	.arguments = "[PATH]",
	.summary = "say what of a devcontainer.json runs, asks or is refused",
	.kind = COMMAND_READS,
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_role_check,
};

const struct command command_role_show = {
	.name = "role show",
	.arguments = "[PATH]",
	.summary = "show the environment that a devcontainer.json describes",
	.kind = COMMAND_READS,
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_role_show,
};
