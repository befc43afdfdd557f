/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * config.toml as a struct: defaults, then the user's file.  We only read it, and never write it.
 * docs/configuration.md lists the keys.  Pure: text in, struct out.
 */
#pragma once

#include "base/text.h"
#include "model/host/remote.h"
#include "model/session/look.h"
#include "model/settings/limits.h"

enum { TRASH_DAYS_MOST = 36500, MCP_CHILDREN_MOST = 64, MCP_DEPTH_MOST = 8 };

enum tristate { UNSET, OFF, ON };

/* The sequence by which terminals are asked to notify. */
/* When a usage limit is over: wait for the user, or tell the agent to continue. */
enum on_limit { LIMIT_WAIT, LIMIT_CONTINUE };
enum notify_osc { NOTIFY_OSC_NONE, NOTIFY_OSC_9, NOTIFY_OSC_777 };

/* What the sessions in containers have whose user does not say it.  NULL: not set. */
struct container_defaults {
	enum tristate enabled; /* whether a new session lives in one */
	enum tristate escapes; /* whether its agent may write to the clipboard and past tmux */
	char *engine, *image, *network;
	char *auth;             /* a word of recipe_login_parse() */
	char *program;          /* a word of recipe_program_parse() */
	char *cpus;             /* a text for recipe_cpus_parse() */
	char *docker;           /* a word of recipe_docker_parse() */
	char *role;             /* a name of [roles], or a path with "/" or "~/" first */
	char *role_rights;      /* a word of recipe_rights_parse() */
	struct strvec mounts;   /* SOURCE[:TARGET][:ro], each with "/" or "~/" first */
	struct strvec role_env; /* names of variables that a role may read */
	struct strvec logins;   /* name, word of recipe_login_parse(), name, word */
};

/* What a tree gets that is made for a session. */
struct workspace_defaults {
	struct strvec copy;  /* files, by their names in the repository */
	struct strvec setup; /* argv of a program that runs once in it */
};

/* The settings of a group. */
struct group_limits {
	char *group;
	enum end_policy end_policy; /* END_DEFAULT: not set */
	struct limits limits;
	struct container_defaults container;
	struct workspace_defaults workspace;
};

struct settings {
	char *default_agent;           /* top: default_agent, NULL: the first installed */
	bool resume_agents;            /* top: resume_agents = true, the master switch */
	enum resume_policy resume;     /* [resume] policy = "auto", or top: resume = "auto" */
	struct strvec resume_by_agent; /* agent, policy, agent, policy: [resume.agents] */
	struct {
		enum tristate launch_in_user_scope;
		enum tristate linger;
		char *conf;              /* a file that every server sources after ours */
		struct strvec options;   /* name, value, name, value: [tmux.options] */
		bool source_user_config; /* false */
		char *detach_key;        /* "C-q"; "" for none */
		char *switch_key;        /* "": only behind the prefix */
		char *next_key;          /* likewise */
		bool mouse;              /* true */
		bool passthrough;        /* true */
		int64_t history_limit;   /* 50000 */
		char *default_terminal;  /* "tmux-256color" */
	} tmux;
	struct limits limits; /* [limits] memory_high = "4G", memory_max, tasks_max, cpu_weight */
	struct strvec roles;  /* name, source, name, source: [roles.NAME] */
	struct remotes hosts; /* [hosts.NAME] ssh = "NAME", program = "agentdeck", timeout = 15 */
	struct container_defaults container; /* [container] image = "debian:12", engine, ... */
	struct workspace_defaults workspace; /* [workspace] copy = [".env"], setup = ["npm", "ci"] */
	char *workspace_root;    /* [workspace] root = "~/trees"; NULL: below the state */
	int64_t setup_timeout_s; /* [workspace] setup_timeout = 600 */
	/* [groups."work/api".limits] and [groups."work/api".container], the same keys */
	struct group_limits *groups;
	size_t group_count;
	int64_t probation_s; /* [resume] probation = 10 */
	struct {
		enum restart_policy policy; /* [restart] policy = "on-failure" */
		/* delay = 1: before the second restart, doubled for each further one; max_delay =
		 * 300 */
		int64_t delay_s, delay_max_s;
		/* burst = 5 restarts within window = 600, then hold it; 0: no limit */
		int64_t burst, window_s;
	} restart;
	struct {
		struct strvec command; /* [notify] command = ["notify-send", ...]; empty: none */
		struct strvec on;      /* on = ["waiting", "error", "held", "oom", "ends"] */
		bool desktop;          /* false */
		bool bell;             /* false */
		enum notify_osc osc;   /* osc = "none" */
		char *ntfy, *webhook;  /* URLs; NULL: none */
		char *key;             /* the file that has the key of both; NULL: none */
		bool question;         /* the text of a question goes along */
		char *answers;         /* URL of the topic through which they come; NULL: none */
		int64_t answer_minutes;
	} notify;
	/* [mcp] children = 4, depth = 1, approve = false: src/cli/link/mcp-rules.h */
	int64_t mcp_children, mcp_depth;
	bool mcp_approve;
	bool supervise_auto;            /* [supervise] auto = true: enable it at the first start */
	struct strvec environment_keep; /* [environment] keep = ["NAME"] */
	bool log_journal;               /* [log] journal = false: log to the journal, too */
	bool ui_mouse;                  /* [ui] mouse = true */
	bool ui_ascii;                  /* [ui] ascii = false */
	bool ui_preview;                /* [ui] preview = true */
	struct strvec ui_keys;          /* [ui] keys = ["stop=X"] */
	enum theme ui_theme;            /* [ui] theme = "default" */
	struct strvec ui_colors;        /* [ui] colors = ["waiting=bold red"]: skin_set() */
	/* [session] sleep_after = "2h": for a session without one; NULL, "off": it stays up */
	char *sleep_after;
	enum on_limit on_limit;     /* [session] on_limit = "wait" */
	int64_t stop_timeout_s;     /* [stop] timeout = 10: for a whole stop */
	enum end_policy end_policy; /* [workspace] on_end = "ask" */
	int64_t trash_keep_days;    /* [trash] keep = 0: how long prune leaves them alone */
};

/* Defaults. */
void settings_init(struct settings *ret);
/* Defaults, then text.  what is the path for messages: ERROR_CORRUPT "<what>:<line>:<column>:
 * <why>" for a syntax error, an unknown key, a wrong type or a value out of range; *ret is then
 * untouched. */
int settings_parse(const char *text, size_t length, const char *what, struct settings *ret,
		   struct error *err);
/* "2h" in µs, and 0 for "off".  False: it is no such text. */
bool settings_sleep_us(const char *text, int64_t *ret_us);
void settings_free(struct settings *settings);
#define cleanup_settings CLEANUP(settings_free)

/* The policy for an instance of this agent that has none itself: the agent's, else the general
 * one. */
enum resume_policy settings_resume_policy(const struct settings *settings, const char *agent);

/* What holds when the agent of this instance ends by its own wish: as the instance says, else the
 * nearest group that says it, else [workspace].  Never END_DEFAULT.  Reads only group and
 * end_policy of the instance. */
enum end_policy settings_end_policy(const struct settings *settings,
				    const struct instance *instance);

/* What holds for a container of a session in this group (NULL: none): each as the nearest group
 * sets it, else [container].  Borrowed. */
struct container_defaults settings_container(const struct settings *settings, const char *group);

/* Where the role of this name is: [roles.NAME] source.  NULL: there is none.  Borrowed. */
const char *settings_role(const struct settings *settings, const char *name);

/* What holds for a tree of a session in this group (NULL: none), found in the same way.  Borrowed.
 */
struct workspace_defaults settings_workspace(const struct settings *settings, const char *group);

/* Where a limit was set. */
enum limit_origin {
	LIMIT_SAID_BY_NOBODY,
	LIMIT_SAID_BY_SESSION,
	LIMIT_SAID_BY_GROUP,
	LIMIT_SAID_BY_GENERAL
};

/* The limits of this instance: each as the instance sets it, else its group or the nearest one
 * around it that sets it ("work/api", then "work"), else [limits]; 0 when none does.  Reads only
 * group and limits of the instance. */
struct limits settings_limits(const struct settings *settings, const struct instance *instance);
/* Like settings_limits(), but for one limit, and where it was set; *ret_group (borrowed) for
 * LIMIT_SAID_BY_GROUP, else NULL. */
int64_t settings_limit(const struct settings *settings, const struct instance *instance,
		       enum limit limit, enum limit_origin *ret_origin, const char **ret_group);
/* "session", "group", "general", "none".  Static. */
const char *limit_origin_name(enum limit_origin origin);
