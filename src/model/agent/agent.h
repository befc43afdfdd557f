/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One agent: the entry of the registry as a struct, and the table of its keys.
 */
#pragma once

#include "base/tomlmap.h"
#include "model/agent/files.h"
#include "model/agent/question.h"

enum id_kind {
	ID_NONE,
	ID_UUID, /* a UUID and nothing else */
	ID_ANY,  /* any word that naming_is_session_id() takes */
	ID_PATH, /* the path of the conversation's file; ours are in {state} */
	ID_NAME, /* a name that we make: the instance's id */
};

/* Where an id is known: in the directory of its conversation, or everywhere. */
enum id_scope { ID_SCOPE_CWD, ID_SCOPE_GLOBAL };

/* What an agent does when told to resume an id that does not exist. */
enum unknown_id {
	UNKNOWN_EXITS,   /* exits with a status other than 0 */
	UNKNOWN_CREATES, /* starts a conversation under that very id */
	UNKNOWN_NEW,     /* starts another one, without a message */
};

/* How an agent delivers its report. */
enum report_payload { PAYLOAD_STDIN, PAYLOAD_ARGUMENT };

/* Which event may name the conversation of the run. */
enum report_binds {
	BINDS_START, /* those in report_start */
	/* the first one that names an id in a run without a known id; later ones only confirm it */
	BINDS_FIRST,
};

struct agent {
	char *name;             /* "claude" */
	char *title;            /* "Claude Code" */
	struct strvec command;  /* argv0 and default arguments of a plain launch */
	struct strvec match;    /* base names of argv[0] of this agent */
	struct strvec packages; /* names of packages that npx, uvx and the like run it from */
	struct strvec version;  /* arguments that make it print its version: ["--version"] */
	enum id_kind id_kind;
	enum id_scope id_scope;
	enum unknown_id unknown_id;
	char *unknown_pattern; /* extended regular expression on that output, or NULL */
	/* Arguments with "{session_id}" as the slot; empty: the agent cannot do it.  In fork this
	 * is the old id, and "{new_session_id}", if present, the new one. */
	struct strvec assign, resume, fork;
	struct strvec continue_latest;
	enum id_scope continue_scope; /* where continue_latest looks */
	/* The whole command that makes an empty conversation, and the pattern whose first group is
	 * the id in its output. */
	struct strvec create;
	char *create_pattern;
	/* A place for the conversations of this instance alone: "{state}" is a directory that
	 * belongs to the instance.  Arguments for every rung, and NAME=VALUE. */
	struct strvec isolation_arguments, isolation_environment;
	/* Pattern (fnmatch(3)) of the files in there, the newest of which is the conversation;
	 * NULL: not known, or a file that has more than conversations. */
	char *isolation_conversation;
	/* Reports: arguments, and NAME=VALUE.  "{settings}" is the path of a generated file that
	 * asks for report_events as hooks; "{hook}" is our hook's argv as a JSON array;
	 * "{hook_command}" is the same as a JSON string for a shell.  Both empty: the agent does
	 * not report. */
	struct strvec report, report_environment;
	struct strvec report_events; /* hook events to ask for */
	char *report_settings;       /* JSON object that the generated file starts from, or NULL */
	/* The agent makes no reports when one of these ("MEMBER=VALUE") is so in the first of these
	 * files ("{home}/x", "{directory}/x", "/x") that has the member; those of
	 * report_off_managed only in "/x", which the machine's administrator writes. */
	struct strvec report_off, report_off_managed, report_off_files;
	enum report_payload report_payload;
	enum report_binds report_binds;
	/* Names of the members of a report; NULL: it has no such member. */
	char *failure_key, *failure_text_key;
	char *tasks_key; /* an array of tasks in the background, each with its "type" */
	char *event_key, *id_key, *transcript_key, *cwd_key, *source_key, *kind_key;
	/* Events by their meaning. */
	struct strvec report_start, report_prompt, report_busy, report_waiting, report_idle,
		report_failed, /* a turn ended with an error: failure_key says which */
		tasks,         /* types for which the agent waits */
		context_full,  /* patterns of its text: that is the error */
		report_turn,   /* a turn is over: there was one */
		report_end;
	/* The user's flags that carry an id or choose a conversation; removed on resume.
	 * strip_value take a value (also as --flag=value), strip_optional take one if the next word
	 * is not a flag, strip take none. */
	struct strvec strip, strip_value, strip_optional;
	/* Options whose value is the id: it is adopted when the user's argv has one. */
	struct strvec adopt;
	/* Options that ask for the latest conversation: it is looked up when the session is made. */
	struct strvec latest;
	/* Flags, or a subcommand, with which it answers once and exits: they are refused for a
	 * session. */
	struct strvec one_shot;
	/* Flags that take a value, so that we can tell the prompt (the first word that is no flag's
	 * value). Of them, variadic_flags take every word up to the next flag; optional_flags are
	 * further flags, which take a value if the next word is not a flag. */
	struct strvec value_flags, variadic_flags, optional_flags;
	/* Flags that make something (a git worktree), with a value if the next word is not a flag.
	 * The agent gets them until its conversation has begun, and never again. */
	struct strvec once;
	bool prompt_positional;   /* a bare word is the prompt: never replayed */
	char *transcript;         /* layout: "projects" (driver/transcript/transcript.h), or NULL */
	char *conversations;      /* layout: agent_files_named(); NULL: as transcript says */
	char *processes;          /* layout: driver/transcript/holder.h, or NULL */
	struct agent_files files; /* of its own; agent_find_files() has those that count */
	char *config_home_env;    /* variable that moves the agent's home: "CLAUDE_CONFIG_DIR" */
	char *config_home;        /* default, "~" for the home directory: "~/.claude" */
	/* Files ("~/x", "{home}/x") with its login, for a home in a container. */
	struct strvec login_files;
	/* Such a file, and what is in it at the first start in a container; both or NULL.
	 * "{directory}" is the work directory as a JSON string. */
	char *seed_file, *seed_text;
	/* variables to remove; a trailing * is a prefix, a * inside matches anything */
	struct strvec scrub;
	struct strvec set;                  /* NAME=VALUE set in the pane */
	struct strvec login_variables;      /* names of those that may hold its login */
	struct strvec ready, busy, waiting; /* extended regular expressions on the screen's lines */
	/* The input box: the line above it, the first one below it, and the text of an empty one.
	 * has_box: the agent always shows it when it takes a message. */
	struct strvec box_above, box_below, placeholder;
	bool has_box;
	/* The frame that the agent draws around the text in the box.  It is removed from each
	 * line. */
	struct strvec box_frame;
	/* What the box shows in place of a long text.  The first group is its size. */
	struct strvec pasted;
	/* Like ready, for the box in another mode, in which a text is no message (a shell's); and
	 * the beginning of a message that brings it into that mode, which the box does not show. */
	struct strvec mode, mode_text;
	struct agent_questions questions; /* none: we do not know how the agent asks */
	struct strvec elsewhere; /* typed text goes to something other than the conversation */
	/* Lines of its last words: only its user can help, by logging in; a background process
	 * of the agent has the conversation; it refuses for another reason. */
	struct strvec login, background, refused;
	struct strvec suspended; /* a line of the screen says: Ctrl-Z */
	/* Words that announce a usage limit; the first group is when it ends.  limit_menu: a line
	 * of the choices that it shows with them, which limit_keys leave.  limit_resumes: a line
	 * says that it continues by itself. */
	struct strvec limit, limit_menu, limit_resumes, limit_keys;
	struct strvec tasks_shown; /* a line of the screen is one of the tasks */
	/* Extended regular expression whose first group is the id in the agent's last words, or
	 * NULL. */
	char *exit_banner;
	/* Commands ("name word...") that the agent leaves running.  We end them with it where no
	 * scope does. */
	struct strvec daemons;
	struct strvec quit_keys; /* tmux key names that ask the agent to exit */
	/* the same, for an agent that shows its exit_banner after these keys and not after a
	 * signal */
	struct strvec banner_keys;
	struct strvec clear_keys; /* pressed until the box is empty */
	/* Added to the end of a message that guard_text matches, because the agent would take the
	 * submit key for a part of it; the agent drops it.  Both or NULL. */
	char *guard, *guard_text;
	char *submit_key; /* "Enter" */
	/* advice for its users and what to do about it, or NULL */
	char *doctor_hint, *doctor_remedy;
	/* The hint is settled when this JSON file ("~/x", "{home}/x") has "member.member=value";
	 * both or NULL. */
	char *doctor_file, *doctor_unless;
	struct strvec evidence; /* "2.1.329, 2026-11: ..." */
	bool stand_in;          /* chosen only by its name */
	bool generic;           /* runs any command that no entry matches */
	bool builtin, overridden;
};

/* The JSON Schema of an agent's file.  The caller's. */
struct json_object *agent_schema(void) MUST_USE;

/* NULL is fine. */
void agent_free(struct agent *agent);
struct agent *agent_copy(const struct agent *agent) MUST_USE;

/* Store the values of the document.  ERROR_CORRUPT as toml_document_store(). */
int agent_store(const struct toml_document *document, struct agent *agent, struct error *err);

/* The value of a key: a strvec, or else a pointer to a text or to the word of a choice. */
const void *agent_field(const struct agent *agent, const char *path, bool *ret_is_vector);

/* The key at this index, and its value.  False: there are not so many.  All borrowed. */
struct agent_value {
	const char *key;
	const char *name;          /* in `agents show`; NULL: that has another form there */
	const char *text;          /* NULL: it has none */
	const struct strvec *list; /* NULL: it is no list */
};
bool agent_value_at(const struct agent *agent, size_t index, struct agent_value *ret);

/* How its conversations are on disk: as its entry says in [files], else by the layout that it
 * names. NULL: they cannot be looked at.  Borrowed from the agent, or static. */
const struct agent_files *agent_find_files(const struct agent *agent);
/* Like agent_find_files(), if they can go to another home, and the agent continues them there. */
const struct agent_files *agent_movable_files(const struct agent *agent);

bool agent_reports(const struct agent *agent);
