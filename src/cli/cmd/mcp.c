/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/mcp.h"
#include "cli/cmd/commands.h"
#include "cli/help/texts.h"

#include <stdio.h>

static int cmd_mcp(struct app *app, struct error *err)
{
	return mcp_run(app, err);
}

const struct command command_mcp = {
	.name = "mcp",
	.kind = COMMAND_CHANGES,
	.arguments = "",
	.summary = "let an agent launch others and speak with them (MCP)",
	.flags = NEEDS_STORE | IS_OF_PROGRAM,
	.run = cmd_mcp,
};

static int cmd_skill(struct app *app UNUSED, struct error *err UNUSED)
{
	fputs(text_skill, stdout);
	return 0;
}

const struct command command_skill = {
	.name = "skill",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "print a SKILL.md: how an agent uses agentdeck",
	.flags = IS_OF_PROGRAM,
	.run = cmd_skill,
};
