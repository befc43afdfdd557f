/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user wishes of a new session: the options that add and launch share.
 */
#pragma once

#include "cli/limitopts.h"
#include "engine/lifecycle.h"

#define WISH_OPTIONS                                                                       \
	{ 't', "title", "TITLE", "its title; without it the directory's name" },           \
	{ 0, "agent", "NAME", "which agent: see agentdeck agents list" },                  \
	{ 'c', "cmd", "COMMAND", "another command line, split like a shell would; no shell runs it" }, \
	{ 'g', "group", "GROUP", "a group to list it under, like work/api" },              \
	{ 0, "session-id", "ID", "take over this conversation of the agent" },             \
	{ 0, "resume", "POLICY", "after an end not asked for: auto, confirm or never" },   \
	{ 0, "restart", "WHEN", "brought back unasked: no, on-failure or always" },          \
	LIMIT_OPTIONS

extern const struct command_option wish_options[];

struct wish {
	struct lifecycle_new wish;
	struct strvec command;
};

/* Fill from the options and operands; what it refers to lives in app and in *ret. */
int wish_read(struct app *app, struct wish *ret, struct error *err);
void wish_free(struct wish *wish);
#define cleanup_wish CLEANUP(wish_free)
