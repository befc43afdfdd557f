/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The registry: agents as data.  One TOML file an agent (data/agents/, built into the program);
 * the user's agents/<name>.toml override it key by key.  No agent's name stands in C code.
 * docs/adding-an-agent.md is the manual of the format.
 *
 * Pure: texts in, structs out; the callers read the files.
 */
#pragma once

#include "base/jsonio.h"
#include "base/text.h"

enum id_kind { ID_NONE, ID_UUID, ID_ANY };

struct agent {
	char *name;            /* "claude" */
	char *title;           /* "Claude Code" */
	struct strvec command; /* argv0 and default arguments of a plain launch */
	struct strvec match;   /* base names of argv[0] that mean this agent */
	enum id_kind id_kind;
	/* Arguments with "{session_id}" in its slot; empty: the agent cannot do it.  In fork this is the
	 * old id, and "{new_session_id}", where there is one, the new one. */
	struct strvec assign, resume, fork;
	struct strvec continue_latest;
	/* Reports: arguments with "{settings}", the path of a generated file in claude's settings
	 * format; empty: the agent does not report. */
	struct strvec report;
	struct strvec report_events; /* hook events to ask for */
	/* The user's own flags that carry an id or choose a conversation: removed on resume.  strip_value
	 * take a value (also as --flag=value), strip_optional take one if the next word is no flag, strip
	 * take none. */
	struct strvec strip, strip_value, strip_optional;
	/* Flags of those whose value is the id: adopted when the user's argv carries one. */
	struct strvec adopt;
	/* Flags that take a value, so that a prompt (first word that is no flag's value) is known.
	 * variadic_flags are those among them that take every word up to the next flag; optional_flags
	 * are others, which take a value if the next word is no flag. */
	struct strvec value_flags, variadic_flags, optional_flags;
	bool prompt_positional; /* a bare word is the prompt: never replayed */
	char *transcript;       /* locator: "claude-projects", or NULL */
	char *config_home_env;  /* variable that moves the agent's home: "CLAUDE_CONFIG_DIR" */
	char *config_home;      /* default, "~" for the home directory: "~/.claude" */
	struct strvec scrub;    /* variables taken away; a trailing * is a prefix, a * inside matches any */
	struct strvec set;      /* NAME=VALUE set in the pane */
	struct strvec ready, busy, waiting; /* extended regular expressions on the screen's lines */
	struct strvec quit_keys;  /* tmux key names that ask the agent to end by itself */
	char *submit_key;         /* "Enter" */
	struct strvec evidence;   /* "2.1.329, 2026-11: ..." */
	bool stand_in;            /* never chosen while another agent is installed */
	bool generic;             /* what runs a command that no entry matches */
	bool builtin, overridden;
};

struct registry {
	struct agent **agents; /* sorted by name */
	size_t count;
};

/* The built-in entries.  The caller frees with registry_free(). */
int registry_builtin(struct registry *ret, struct error *err);

/* Put the user's file (its whole text; what is its path for messages) over the registry: an entry of
 * that name is overridden key by key, another is new.  name is the file name without ".toml".
 * ERROR_CORRUPT with "<what>:<line>:<column>: <why>" for syntax, an unknown key, a wrong type, a pattern
 * that does not compile; the registry is then as before. */
int registry_override(struct registry *registry, const char *name, const char *text,
		      size_t length, const char *what, struct error *err);

/* NULL: no such agent.  Borrowed. */
const struct agent *registry_find(const struct registry *registry, const char *name);

/* Where in argv the word stands that names the program, looking through "env -i NAME=VALUE..." and
 * through an interpreter with a script ("node .../claude"): the agent's own arguments are behind
 * it.  argv->count when there is none. */
size_t registry_program(const struct strvec *argv);

/* The agent whose match fits the base name of that word, or of argv[0], or NULL.  Borrowed. */
const struct agent *registry_match(const struct registry *registry, const struct strvec *argv);

/* Is flag ("--settings") among the arguments behind the program, alone or as "--settings=value"? */
bool registry_user_has_flag(const struct strvec *argv, const char *flag);

void registry_free(struct registry *registry);
#define cleanup_registry CLEANUP(registry_free)
