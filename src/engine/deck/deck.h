/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck: what the operations of this layer need.  The dispatcher opens it once.
 *
 * The engine prints nothing.  Messages for the user about an operation that succeeded go into
 * deck->warnings, and the command line shows them.
 */
#pragma once

#include "driver/store/store.h"
#include "driver/systemd/unit.h"
#include "model/agent/registry.h"
#include "model/settings/paths.h"
#include "model/settings/settings.h"

#define DEFAULT_PROFILE "default"

/* Environment of what runs in the pane.  agent-deck reads none of these names: its hooks act
 * wherever ENV_SHARED_INSTANCE is set. */
#define ENV_INSTANCE         "AGENTDECK_INSTANCE"
#define ENV_INSTANCE_PROFILE "AGENTDECK_INSTANCE_PROFILE"
#define ENV_BASE             "AGENTDECK_INSTANCE_BASE" /* the name of its directory */
#define ENV_RUN              "AGENTDECK_RUN"
#define ENV_TOKEN            "AGENTDECK_REPORT_TOKEN"
#define ENV_PANE_DIED        "AGENTDECK_PANE_DIED"
/* A prefix, before the name of a secret: its value in the last run. */
#define ENV_LAST_SECRET "AGENTDECK_LAST_SECRET_"

/* The user's choice of a profile, and the id of a session.  agent-deck sets both for its own
 * sessions, and so did earlier versions of agentdeck: the form of the id tells whose it is. */
#define ENV_PROFILE         "AGENTDECK_PROFILE"
#define ENV_SHARED_INSTANCE "AGENTDECK_INSTANCE_ID"

/* The id of the session that we run in, NULL outside of one.  ENV_SHARED_INSTANCE counts only with
 * an id of ours. */
const char *deck_env_instance(void);
/* The profile that our environment names, NULL for none: ENV_PROFILE, else that of the session that
 * we run in.  In a session of agent-deck's ENV_PROFILE does not count. */
const char *deck_env_profile(void);
/* ENV_PROFILE when it does not count; else NULL. */
const char *deck_env_foreign_profile(void);

struct stages;
struct stage_news;

struct deck {
	struct paths paths;
	struct settings settings;
	/* XDG_RUNTIME_DIR, when it is unusable and another is in use; else NULL */
	char *unusable_runtime;
	/* The socket of the main program (incarnation.h), which starts what outlives a command;
	 * NULL: this is no host of one. */
	char *spawner;
	char *incarnation; /* its id; NULL likewise */
	char *profile;
	char *program; /* absolute path of agentdeck itself */
	/* absolute paths of agentdeck-gate, agentdeck-watch, agentdeck-bell and agentdeck-view */
	char *gate, *watch, *bell, *view;
	struct store *store;  /* NULL until deck_open_store() */
	char *config_problem; /* why config.toml cannot be used; NULL: it is in use */
	bool has_kept_config; /* then: the last good one is in use */
	char *config_text;    /* of config.toml; NULL: it cannot be used */
	struct strvec warnings;
	/* What a build says, line by line, when it takes long; and the last lines of one that
	 * failed.  NULL: no progress is shown. */
	void (*on_progress)(const char *line, bool is_failure);
	/* The stages of a session that comes up (stages.h), and who hears of them; or NULL. */
	struct stages *stages;
	void (*on_stage)(const struct stage_news *news);

	struct registry registry; /* use deck_registry() or deck_agent() */
	struct strvec agents;     /* names of those that deck_agent() has loaded */
	bool registry_complete;
	struct unit_bus *bus; /* use deck_bus() */
	bool bus_tried;
	bool bus_is_unknown; /* there may be a manager: see deck_check_bus() */
	char *bus_why;       /* why there is no bus */
};

/* Find paths, read config.toml, choose the profile (profile, else deck_env_profile(), else
 * "default") and open the log below the state directory.  component names the command in the
 * log.  A copy of a valid config.toml is kept in the state directory. */
int deck_open(const char *profile, const char *component, struct deck *ret, struct error *err);
/* Like deck_open(), but a mistake in config.toml is no failure: continue with the last good one
 * (the kept copy), else with the defaults.  The log and deck->config_problem say so. */
int deck_open_anyway(const char *profile, const char *component, struct deck *ret,
		     struct error *err);
/* The configuration in use: "config.toml", "the last good configuration", "the defaults".
 * Static. */
const char *deck_config_in_use(const struct deck *deck);
/* Whether config.toml is valid now, and differs from the one that the deck was opened with. */
bool deck_config_has_changed(const struct deck *deck);

#define DECK_CONFIG "config.toml"
/* In the state directory: held while that copy, or config.toml itself, is replaced. */
#define DECK_CONFIG_LOCK "config.good.toml.lock"
enum { DECK_CONFIG_MAX = 1 << 20 };
/* The user's config.toml as it is, valid or not.  DECK_NO_CONFIG: there is none. */
enum { DECK_NO_CONFIG = 1 };
int deck_read_config(const struct deck *deck, struct strbuf *ret, struct error *err);
/* The text of the configuration: config.toml as it is now, if it was valid when the deck was
 * opened, else the kept copy; empty for the defaults. */
void deck_config_text(const struct deck *deck, struct strbuf *ret);
void deck_close(struct deck *deck);
#define cleanup_deck CLEANUP(deck_close)

/* Whether a run can have its files below the user's runtime directory. */
bool deck_has_runtime(const struct deck *deck);

int deck_open_store(struct deck *deck, struct error *err);
/* The store of any profile of the deck; *ret is the caller's. */
int deck_open_profile(const struct deck *deck, const char *profile, struct store **ret,
		      struct error *err);

/* Whether the deck's profile exists; "default" always does.  ERROR_NOT_FOUND says which profiles
 * exist, and how to create it.  Makes no directory. */
int deck_check_profile(const struct deck *deck, struct error *err);

/* The names of all profiles that there are, sorted. */
int deck_profiles(const struct deck *deck, struct strvec *ret, struct error *err);

/* Call this with the store of each profile.  What is not 0 ends the walk, and is returned; an error
 * names the profile. */
typedef int (*deck_profile_handler)(struct store *store, void *context, struct error *err);
int deck_each_profile(const struct deck *deck, deck_profile_handler handler, void *context,
		      struct error *err);

/* Remove the directory of a profile.  ERROR_INVALID: it has sessions, also in its trash, or files
 * that are not agentdeck's.  ERROR_NOT_FOUND: no profile has this name.  ERROR_BUSY: another
 * agentdeck holds its lock. */
int deck_remove_profile(const struct deck *deck, const char *name, struct error *err);

/* Opening a deck does this.  Call it again when the state directory has become private since. */
void deck_open_log(struct deck *deck, const char *component);

/* Join the main program of this host if there is one: take its run directory and socket, and turn
 * scopes, lingering and the supervisor off, since its runs need neither a user manager nor a login.
 * False: there is none.  Call it again after the record has changed. */
bool deck_join_main(struct deck *deck);
/* ERROR_BUSY: the state directory is another incarnation's by now, or that of a host that this
 * process is not on.  Ask it under the lock of a session, before that is changed. */
int deck_check_main(const struct deck *deck, struct error *err);

/* The instance of the deck's profile.  ERROR_NOT_FOUND: it was removed. */
int deck_load(struct deck *deck, const char *base, struct instance **ret, struct error *err);

/* All agents: the built-in ones and the user's.  A user's file that cannot be used becomes a
 * warning, and the built-in entry stays.  Borrowed. */
int deck_registry(struct deck *deck, const struct registry **ret, struct error *err);
/* After a change of the user's files: read them again.  What was borrowed is gone. */
void deck_forget_agents(struct deck *deck);

/* The user manager, or NULL: then deck->bus_why says why.  Connects once.  Borrowed. */
struct unit_bus *deck_bus(struct deck *deck);
/* ERROR_SYSTEM: it is not known whether there is a user manager, such as when libsystemd cannot be
 * loaded.  Then deck_bus() is NULL, too, and proves nothing: start and end nothing. */
int deck_check_bus(struct deck *deck, struct error *err);

/* Forget that the user manager could not be reached, after a change that may have mended it. */
void deck_retry_bus(struct deck *deck);

/* Take the settings of config.toml as they are now.  -1: it cannot be used, and nothing changes. */
int deck_read_settings(struct deck *deck, struct error *err);

/* Record a warning for the user, and log it. */
void deck_warn(struct deck *deck, const char *format, ...) PRINTF_LIKE(2, 3);

/* The agent of an instance; reads only that agent's files.  Warns about the user's file as
 * deck_registry() does.  ERROR_NOT_FOUND lists the existing names.  Borrowed while deck is open. */
int deck_agent(struct deck *deck, const char *name, const struct agent **ret, struct error *err);

/* The agent's home for this caller: its variable if set, else its default.  NULL when the agent has
 * none.  The caller frees. */
char *deck_config_home(const struct deck *deck, const struct agent *agent) MUST_USE;
/* The default alone. */
char *deck_default_home(const struct deck *deck, const struct agent *agent) MUST_USE;

/* The socket of this login's ssh-agent, if there is one that belongs to this user; else NULL.
 * Borrowed from the environment. */
const char *deck_ssh_agent(void);

/* SSH_AUTH_SOCK of panes is a link of ours, <runtime>/ssh-auth.sock (and in the direct
 * directory). Point it at this login's agent, if this login has one: a socket of ours that is
 * not the link itself. */
void deck_refresh_ssh_agent(const struct deck *deck);
