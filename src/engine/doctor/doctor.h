/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does this machine keep sessions alive?  One function gathers facts, and a pure one judges them.
 *
 * The checks, in this order: "home" and "profile" (only when something is wrong), "config", "state
 * directory", "runtime directory", "sessions", "machine" (only when something is wrong), "helpers",
 * "agents", "tmux", "systemd", "user manager", "isolation", "linger", "KillUserProcesses", "login",
 * "ssh agent", "supervisor", "notify" (only when there is a command), "completion" (only for users
 * of fish), "containers" (only where they are used or an engine answers).  A check may have several
 * findings.  Where a main program has the sessions, the checks of systemd and of logins are left
 * out.
 */
#pragma once

#include "engine/deck/deck.h"

enum doctor_verdict { VERDICT_OK, VERDICT_WARNING, VERDICT_ERROR, VERDICT_UNKNOWN };
const char *doctor_verdict_name(enum doctor_verdict verdict);

struct doctor_finding {
	const char *check;
	enum doctor_verdict verdict;
	char *reason;
	char *remedy; /* a command or what to do; NULL: nothing to do */
};

struct doctor_findings {
	struct doctor_finding *items;
	size_t count;
};
void doctor_findings_free(struct doctor_findings *findings);
#define cleanup_doctor_findings CLEANUP(doctor_findings_free)
bool doctor_findings_have_error(const struct doctor_findings *findings);

enum answer { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_YES };

struct doctor_directory {
	char *path;
	char *problem; /* why it cannot be used; NULL: it can */
	bool exists, is_foreign, is_writable;
	bool is_volatile; /* a file system in memory, lost at a reboot */
	unsigned owner, mode;
	int64_t free_bytes; /* -1: not known */
};

/* A container engine that is configured, has a session's container, or was found. */
struct doctor_engine {
	char *name;    /* "docker", "podman" or a URL */
	char *problem; /* why it cannot be used; NULL: it answers, and what follows is known */
	char *version, *api_version;
	bool is_rootless, counts_memory, counts_pids, counts_cpus;
	bool has_image; /* the default one */
};

/* Texts are owned; NULL means none or not known, as the comments say. */
struct doctor_facts {
	char *user;         /* the login name, else the uid */
	char *home_problem; /* no place for our files is known; then none was examined */
	bool home_is_ours;  /* it comes from AGENTDECK_HOME */
	char *profile_problem;
	char *config_path, *config_problem;
	bool config_exists;
	/* Without it nothing is known of the settings, of isolation and of the helpers. */
	bool deck_is_open;
	struct doctor_directory state, runtime;
	/* the user's runtime directory, when runs have theirs elsewhere; else NULL */
	char *unusable_runtime;
	/* sessions; only where state.problem is NULL */
	size_t session_count, live_count;
	struct strvec damaged, damaged_ids; /* what is wrong with each, and its id */
	struct strvec unscoped;             /* ids of live sessions without a scope */
	/* live sessions with environment_missing(), and the names, each once */
	struct strvec lacking, lacking_names;
	struct strvec unreported; /* live sessions without reports: which, and why */
	char *sessions_problem;
	size_t elsewhere_count;  /* sessions that another machine or container runs */
	struct strvec elsewhere; /* its name, once for each */
	size_t renamed_count;    /* of them: by a machine of our host name, with another id */
	bool is_fleeting;        /* not machine_is_lasting() */
	bool machine_id_is_volatile;
	struct strvec missing_helpers, other_helpers; /* other: of another version */
	struct strvec open_helpers; /* helper_find()'s errors: others may write them */
	char *tmux_version, *tmux_problem;
	bool tmux_enough, tmux_loses_ends; /* before 3.5 */
	struct strvec agents; /* installed ones that are no stand-ins: "claude (/usr/bin/claude)" */
	struct strvec stand_ins; /* installed stand-ins */
	struct strvec agent_problems;
	struct strvec agent_hints,
		agent_remedies;        /* of agents in use, by their entries; "": no remedy */
	char *default_agent;           /* of the settings; NULL: none */
	enum answer default_installed; /* unknown: there is no entry for it */
	bool built_with_systemd, booted_with_systemd;
	char *manager_version; /* NULL: it cannot be reached; manager_why says why */
	char *manager_why;
	bool is_isolated, isolation_is_override;
	bool has_main; /* of a Pod, a container or a job (supervise --main) */
	char *isolation_why;
	bool lingers;
	enum answer kills_user_processes;
	char *login_why;       /* of unknown */
	bool linger_forbidden; /* [tmux] linger = false */
	char *cgroup;          /* our own */
	char *agent_socket;    /* SSH_AUTH_SOCK, NULL: none */
	bool agent_socket_alive;
	bool is_guarded;    /* guard_is_there() */
	bool is_known_user; /* to logind: logged in, or lingering since the boot */
	bool supervisor_runs;
	char *supervisor_choice; /* "declined": its user took it away; NULL: none was made */
	char *notify_program;    /* of [notify] command; NULL: there is none */
	bool notify_installed;
	enum answer fish_completes;    /* does it find our completion?  Unknown: another shell */
	char *link_path, *link_target; /* of ours; NULL: none yet */
	bool link_alive;
	/* containers: the first engine is that of new sessions */
	struct doctor_engine *engines;
	size_t engine_count;
	bool uses_containers; /* by the configuration, or a session lives in one */
	bool needs_image;     /* and no other one is configured */
	bool limits_memory, limits_pids, limits_cpus; /* by the configuration, or of a session */
	bool has_unusable_limit[LIMIT_COUNT];         /* that no container can have */
	struct strvec limit_gaps;                     /* gaps_of_settings() */
	char *capsule_problem;
};
void doctor_facts_free(struct doctor_facts *facts);
#define cleanup_doctor_facts CLEANUP(doctor_facts_free)

/* Fill in what is known of containers; for doctor_gather().  An engine that hangs costs at most its
 * timeout. */
void doctor_look_at_containers(struct deck *deck, struct doctor_facts *facts);

/* Gather all facts.  Opens deck, which must be empty, as far as it can; the caller closes it. */
void doctor_gather(struct deck *deck, const char *profile, struct doctor_facts *ret);

/* Pure. */
void doctor_judge(const struct doctor_facts *facts, struct doctor_findings *ret);

/* The result in one sentence: do sessions outlive a logout here?  Static.  Pure. */
const char *doctor_conclusion(const struct doctor_facts *facts,
			      const struct doctor_findings *findings);
