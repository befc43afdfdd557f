/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the user wishes of a new session: the options that add and launch share.
 */
#pragma once

#include "cli/cmd/containeropts.h"
#include "cli/cmd/session-limit.h"
#include "cli/cmd/treeopts.h"
#include "engine/run/add.h"

struct new_options {
	const char *title, *agent, *command, *group, *session_id, *resume, *restart;
	struct limit_change limits;
	bool quick;
	struct strvec tags;
	struct container_options container;
	struct tree_options tree;
	bool keep, clean;
};

/* The options set the struct new_options that is this member of `struct options`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member cannot have any */
#define NEW_OPTIONS(member)                                                                        \
	{ 't', "title", "TITLE", "its title; without it the directory's name",                     \
	  TO_TEXT(member.title) },                                                                 \
		{ 0, "agent", "NAME", "which agent: see agentdeck agents list",                    \
		  TO_VALUE(member.agent, VALUE_AGENT) },                                           \
		{ 'c', "cmd", "COMMAND",                                                           \
		  "another command line, split like a shell would; no shell runs it",              \
		  TO_VALUE(member.command, VALUE_PROGRAM) },                                       \
		{ 'g', "group", "GROUP", "a group to list it under, like work/api",                \
		  TO_TEXT(member.group) },                                                         \
		{ 0, "tag", "TAG", "a tag to find it by; may be repeated", TO_LIST(member.tags) }, \
		{ 0, "session-id", "ID", "take over this conversation of the agent",               \
		  TO_TEXT(member.session_id) },                                                    \
		{ 0, "resume", "POLICY", "after an unexpected end: auto, confirm or never",        \
		  TO_WORD(member.resume, new_resume_words) },                                      \
		{ 0, "restart", "WHEN", "restarted automatically: no, on-failure or always",       \
		  TO_WORD(member.restart, new_restart_words) },                                    \
		{ 'Q', "quick", NULL,                                                              \
		  "ask nothing: take default_agent, or the first installed agent",                 \
		  TO_FLAG(member.quick) },                                                         \
		TREE_OPTIONS(member.tree),                                                         \
		{ 0, "keep", NULL, "keep everything when its agent ends by itself",                \
		  TO_FLAG(member.keep) },                                                          \
		{ 0, "clean", NULL,                                                                \
		  "when the agent exits, delete everything unless work would be lost",             \
		  TO_FLAG(member.clean) },                                                         \
		CONTAINER_OPTIONS(member.container), LIMIT_OPTIONS(member.limits)
/* NOLINTEND(bugprone-macro-parentheses) */

extern const char *const new_resume_words[3];
extern const char *const new_restart_words[3];

/* What completion offers for the words that are handed to the agent. */
struct offer new_offer(const struct new_options *options);

struct new_order {
	struct lifecycle_new session;
	struct strvec command;
	char *tags;        /* --tag */
	bool asks_nothing; /* --quick */
	struct container_order container;
	struct role_source role; /* --role */
	struct instance *within; /* --in */
	struct tree_order tree;
};

/* Fill *ret, which borrows from app, options and itself: it stays where it is. */
int new_read(struct app *app, const struct new_options *options, struct new_order *ret,
	     struct error *err);
/* The session was added: say so if another one works in its directory just now. */
void new_note_neighbour(struct app *app, const struct instance *added);
/* Say which tree it has to itself, if any. */
void new_say_tree(const struct app *app, const struct instance *instance);
void new_free(struct new_order *order);
#define cleanup_new_order CLEANUP(new_free)
