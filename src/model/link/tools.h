/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tools that `agentdeck mcp` offers to an agent, and the command line that a call of one
 * becomes. Pure: whether the caller may make that call is a matter of cli/link/mcp-rules.h.
 */
#pragma once

#include "base/jsonio.h"

/* What the caller must be for it. */
enum tool_rule {
	TOOL_LOOKS,    /* it changes nothing */
	TOOL_SPEAKS,   /* to any session but itself */
	TOOL_LAUNCHES, /* within the caps */
	TOOL_ENDS,     /* a session that it launched */
	TOOL_ANSWERS,  /* the same, where the user's configuration allows it */
};

enum tool_argument_kind {
	ARGUMENT_SESSION,
	ARGUMENT_SESSIONS,
	ARGUMENT_INPUT, /* the command reads it */
	ARGUMENT_PATH,
	ARGUMENT_TEXT,   /* the value of the option */
	ARGUMENT_FLAG,   /* the option alone */
	ARGUMENT_NUMBER, /* from 1 to most */
	ARGUMENT_STATES, /* of status --wait */
	ARGUMENT_ALL,    /* not only those that the caller launched */
};

struct tool_argument {
	const char *name, *about; /* NULL: the end of the list */
	enum tool_argument_kind kind;
	bool is_required;
	const char *option; /* "--title" */
	int64_t most;
};

enum { TOOL_WORDS = 4, TOOL_ARGUMENTS = 8 };
struct tool {
	const char *name, *about;
	enum tool_rule rule;
	const char *words[TOOL_WORDS];
	struct tool_argument arguments[TOOL_ARGUMENTS];
	bool is_short; /* of each session it tells only what TOOL_MEMBERS has */
	bool waits;    /* the client's end of input ends it, too */
};

/* What a list of sessions tells to an agent. */
extern const char *const tool_members[];

/* NULL: there is none. */
const struct tool *tool_named(const char *name);
/* The result of tools/list.  may_answer: with those that TOOL_ANSWERS. */
struct json_object *tools_describe(bool may_answer) MUST_USE;

/* A call, checked.  Zero-initialised is empty. */
struct tool_call {
	const struct tool *tool;
	struct strvec sessions; /* as the caller named them */
	struct strvec words;    /* that follow tool->words and the sessions */
	char *input;            /* NULL: none */
	bool all;
};
void tool_call_clear(struct tool_call *call);
#define cleanup_tool_call CLEANUP(tool_call_clear)

/* arguments: NULL for none.  ERROR_USAGE: one is missing, unknown, or of another kind. */
int tool_read(const struct tool *tool, struct json_object *arguments, struct tool_call *ret,
	      struct error *err);
