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

enum id_kind {
	ID_NONE,
	ID_UUID, /* a UUID and nothing else */
	ID_ANY,  /* any word that naming_is_session_id() takes */
	ID_PATH, /* the path of the conversation's file; ours lie in {state} */
	ID_NAME, /* a name that we make: the instance's id */
};

/* Where an id is known: in the directory that it was made in, or everywhere. */
enum id_scope { ID_SCOPE_CWD, ID_SCOPE_GLOBAL };

/* What an agent does when it is to resume an id that is not there. */
enum unknown_id {
	UNKNOWN_EXITS,   /* it ends with a status that is not 0 */
	UNKNOWN_CREATES, /* it starts a conversation under that very id */
	UNKNOWN_NEW,     /* it starts another one, and does not say so */
};

/* Where an agent puts its report. */
enum report_payload { PAYLOAD_STDIN, PAYLOAD_ARGUMENT };

/* Which event may say what conversation the run is in. */
enum report_binds {
	BINDS_START, /* those in report_start */
	BINDS_FIRST, /* the first one that names an id in a run whose id is not known; later ones only confirm */
};

/* How an agent's conversation is found again: what resume_plan() goes by, and what listings say. */
enum strategy {
	STRATEGY_NONE,      /* "none": nothing comes back */
	STRATEGY_ASSIGN,    /* "A": the id is ours */
	STRATEGY_IDEMPOTENT,/* "A*": one flag makes or resumes */
	STRATEGY_CREATE,    /* "A'": the agent makes an empty conversation first and prints its id */
	STRATEGY_REPORT,    /* "R": the agent reports its id */
	STRATEGY_CONTINUE,  /* "B": its latest conversation, in a place of its own */
};

struct agent {
	char *name;            /* "claude" */
	char *title;           /* "Claude Code" */
	struct strvec command; /* argv0 and default arguments of a plain launch */
	struct strvec match;   /* base names of argv[0] that mean this agent */
	struct strvec packages; /* names of packages that npx, uvx and the like run it from */
	struct strvec version;  /* arguments that make it print its version: ["--version"] */
	enum id_kind id_kind;
	enum id_scope id_scope;
	enum unknown_id unknown_id;
	char *unknown_pattern; /* extended regular expression on what it says then, or NULL */
	/* Arguments with "{session_id}" in its slot; empty: the agent cannot do it.  In fork this is the
	 * old id, and "{new_session_id}", where there is one, the new one. */
	struct strvec assign, resume, fork;
	struct strvec continue_latest;
	enum id_scope continue_scope; /* of what continue_latest looks at */
	/* The whole command that makes an empty conversation, and the pattern whose first group is the id in
	 * what it prints. */
	struct strvec create;
	char *create_pattern;
	/* A place of its own for the conversations, and for nothing else: "{state}" is a directory that
	 * belongs to the instance.  Arguments for every rung, and NAME=VALUE. */
	struct strvec isolation_arguments, isolation_environment;
	/* Reports: arguments, and NAME=VALUE, with "{settings}", the path of a generated file that asks for
	 * report_events as hooks, "{hook}", our hook's argv as a JSON array, or "{hook_command}", the same as a
	 * JSON string for a shell.  Both empty: the agent does not report. */
	struct strvec report, report_environment;
	struct strvec report_events; /* hook events to ask for */
	char *report_settings;       /* JSON object that the generated file starts from, or NULL */
	enum report_payload report_payload;
	enum report_binds report_binds;
	/* Names of the members of a report; NULL: it has no such member. */
	char *event_key, *id_key, *transcript_key, *cwd_key, *source_key;
	/* Events by what they mean. */
	struct strvec report_start, report_prompt, report_busy, report_waiting, report_idle,
		report_turn, /* a turn is over: there was one */
		report_end;
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
	char *transcript;       /* layout: "projects" (driver/transcript.h), or NULL */
	char *config_home_env;  /* variable that moves the agent's home: "CLAUDE_CONFIG_DIR" */
	char *config_home;      /* default, "~" for the home directory: "~/.claude" */
	struct strvec scrub;    /* variables taken away; a trailing * is a prefix, a * inside matches any */
	struct strvec set;      /* NAME=VALUE set in the pane */
	struct strvec ready, busy, waiting; /* extended regular expressions on the screen's lines */
	struct strvec login;    /* the same on its last words: only its user can help, by logging in */
	/* Extended regular expression whose first group is the id in the agent's words at its end, or NULL. */
	char *exit_banner;
	/* Commands ("name word...") that the agent leaves behind; ended with it where no scope does that. */
	struct strvec daemons;
	struct strvec quit_keys;  /* tmux key names that ask the agent to end by itself */
	struct strvec banner_keys; /* the same, for one that shows its exit_banner then and not at a signal */
	char *submit_key;         /* "Enter" */
	char *doctor_hint, *doctor_remedy; /* what its users should know, and what to do about it, or NULL */
	/* The hint is settled when this JSON file ("~/x", "{home}/x") says "member.member=value"; both or NULL. */
	char *doctor_file, *doctor_unless;
	struct strvec evidence;   /* "2.1.329, 2026-11: ..." */
	bool stand_in;            /* never chosen while another agent is installed */
	bool generic;             /* what runs a command that no entry matches */
	bool builtin, overridden;
};

struct registry {
	struct agent **agents; /* sorted by name */
	size_t count;
};

/* Put in the built-in entry of that name, unless the registry has one.  To parse them all takes milliseconds: a command
 * that works on one session wants one.  REGISTRY_ABSENT: there is no such entry. */
enum { REGISTRY_ABSENT = 1 };
int registry_add_builtin(struct registry *registry, const char *name, struct error *err);

/* Put in every built-in entry that the registry does not have; those that it has stay where they are.  It may be empty
 * (zeroes).  The caller frees with registry_free(), also after a failure. */
int registry_builtin(struct registry *registry, struct error *err);

/* Put the user's file (its whole text; what is its path for messages) over the registry: an entry of
 * that name is overridden key by key, another is new.  name is the file name without ".toml".
 * ERROR_CORRUPT with "<what>:<line>:<column>: <why>" for syntax, an unknown key, a wrong type, a pattern
 * that does not compile; the registry is then as before. */
int registry_override(struct registry *registry, const char *name, const char *text,
		      size_t length, const char *what, struct error *err);

/* NULL: no such agent.  Borrowed. */
const struct agent *registry_find(const struct registry *registry, const char *name);

enum strategy registry_strategy(const struct agent *agent);
/* "A", "A*", "A'", "R", "B", "none"; static. */
const char *strategy_name(enum strategy strategy);

/* Where in argv the word stands that names the program, looking through "env -i NAME=VALUE...",
 * through an interpreter with a script ("node .../claude"), and through what runs a package ("npx -y
 * @anthropic-ai/claude-code@2", "uvx", "bunx", "pnpm dlx", "pipx run"): the agent's own arguments are behind
 * it.  argv->count when there is none. */
size_t registry_program(const struct strvec *argv);

/* The agent whose match fits the base name of that word, or of argv[0], or NULL.  Borrowed. */
const struct agent *registry_match(const struct registry *registry, const struct strvec *argv);

/* The last line of an agent's last words that says that its login is dead.  Only the end of them is looked at: what stands
 * above may be a conversation about logins.  NULL: there is none, or the agent's words for it are not known.  The caller
 * frees. */
char *registry_login_line(const struct agent *agent, const char *words);

/* Is flag ("--settings") among the arguments behind the program, alone or as "--settings=value"? */
bool registry_user_has_flag(const struct strvec *argv, const char *flag);

void registry_free(struct registry *registry);
#define cleanup_registry CLEANUP(registry_free)
