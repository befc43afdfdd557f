/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The registry: agents as data.  Each agent has a TOML file (data/agents/, built into the program);
 * the user's agents/<name>.toml override it key by key.  C code names no agent.
 * docs/adding-an-agent.md describes the format.
 *
 * Pure: texts in, structs out; the callers read the files.
 */
#pragma once

#include "model/agent/agent.h"

/* How an agent's conversation is found again; resume_plan() uses it, and listings show it. */
enum strategy {
	STRATEGY_NONE,       /* "none": nothing can be resumed */
	STRATEGY_ASSIGN,     /* "A": we choose the id */
	STRATEGY_IDEMPOTENT, /* "A*": one flag starts or resumes */
	STRATEGY_CREATE,   /* "A'": the agent makes an empty conversation first and prints its id */
	STRATEGY_REPORT,   /* "R": the agent reports its id */
	STRATEGY_CONTINUE, /* "B": the latest conversation in its own place */
};

struct registry {
	struct agent **agents; /* sorted by name */
	size_t count;
};

/* Add the built-in entry of that name, unless the registry has one.  Parsing all of them takes
 * milliseconds, and a command for one session needs one.  REGISTRY_ABSENT: there is no such
 * entry. */
enum { REGISTRY_ABSENT = 1 };
int registry_add_builtin(struct registry *registry, const char *name, struct error *err);

/* Add every built-in entry that the registry does not have; those that it has do not move.
 * *registry may be all zero.  The caller frees it with registry_free(), also after a failure. */
int registry_builtin(struct registry *registry, struct error *err);

/* Apply the user's file (its whole text; what is its path for messages): it overrides an entry of
 * that name key by key, or adds a new one.  name is the file name without ".toml".  ERROR_CORRUPT
 * with "<what>:<line>:<column>: <why>" for a syntax error, an unknown key, a wrong type, or a
 * pattern that does not compile; the registry is then unchanged. */
int registry_override(struct registry *registry, const char *name, const char *text, size_t length,
		      const char *what, struct error *err);

/* NULL: no such agent.  Borrowed. */
const struct agent *registry_find(const struct registry *registry, const char *name);

enum strategy registry_strategy(const struct agent *agent);
/* "A", "A*", "A'", "R", "B", "none"; static. */
const char *strategy_name(enum strategy strategy);

/* Index in argv of the word that names the program; the agent's own arguments follow it.  Skips
 * "env -i NAME=VALUE...", an interpreter with a script ("node .../claude"), and programs that run a
 * package ("npx -y @anthropic-ai/claude-code@2", "uvx", "bunx", "pnpm dlx", "pipx run").
 * argv->count when there is none. */
size_t registry_program(const struct strvec *argv);

/* Is that word the agent's own name?  Then it gets the arguments that we add.  A wrapper may drop
 * them. */
bool registry_is_own_command(const struct agent *agent, const struct strvec *argv);

/* The agent that matches the base name of that word, or of argv[0], or NULL.  Borrowed. */
const struct agent *registry_match(const struct registry *registry, const struct strvec *argv);

/* Why an agent that ended by itself would end on every further attempt in the same way. */
enum refusal {
	REFUSAL_NONE,       /* nothing of the kind, or the entry has no pattern for it */
	REFUSAL_LOGIN,      /* its login is dead */
	REFUSAL_BACKGROUND, /* a background process of the agent has the conversation */
	REFUSAL_OTHER,      /* another reason that only its user can remove */
};

/* What an agent's last words say about that.  Looks only at the end of them: earlier lines may be a
 * conversation about logins.  The last line that fits decides.  *ret_words, unless REFUSAL_NONE:
 * the agent's own words; the caller frees. */
enum refusal registry_refusal(const struct agent *agent, const char *words, char **ret_words);

/* Whether the end of an agent's last words says that it does not have the conversation. */
bool registry_is_unknown_id(const struct agent *agent, const char *words);

void registry_free(struct registry *registry);
#define cleanup_registry CLEANUP(registry_free)
