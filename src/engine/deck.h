/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deck: what the operations of this layer need, opened once by the dispatcher.
 *
 * The engine prints nothing.  What the user should know although the operation succeeded goes into
 * deck->warnings, and the command line shows it.
 */
#pragma once

#include "driver/store.h"
#include "driver/unit.h"
#include "model/paths.h"
#include "model/registry.h"
#include "model/settings.h"

struct deck {
	struct paths paths;
	struct settings settings;
	char *profile;
	char *program;         /* absolute path of agentdeck itself */
	char *gate, *watch;    /* absolute paths of agentdeck-gate and agentdeck-watch */
	struct store *store;   /* NULL until deck_open_store() */
	struct strvec warnings;
	/* A scope that the user manager refuses is an error, not a reason to do without: nobody asked for this start, it can be
	 * made later, and whatever is started beside a manager that is about to end would end with it. */
	bool needs_scope;

	struct registry registry; /* use deck_registry() or deck_agent() */
	struct strvec agents;     /* names of those that deck_agent() has put in */
	bool registry_complete;
	struct unit_bus *bus;     /* use deck_bus() */
	bool bus_tried;
	char *bus_why;            /* why there is none */
};

/* Find paths, read config.toml, choose the profile (profile, else AGENTDECK_PROFILE, else "default") and
 * open the log below the state directory.  component names the command in the log. */
int deck_open(const char *profile, const char *component, struct deck *ret, struct error *err);
void deck_close(struct deck *deck);
#define cleanup_deck CLEANUP(deck_close)

int deck_open_store(struct deck *deck, struct error *err);

/* The agents: the built-in ones and the user's.  A user's file that cannot be used becomes a warning and
 * the built-in entry stays.  Borrowed. */
int deck_registry(struct deck *deck, const struct registry **ret, struct error *err);

/* The user manager, or NULL: then deck->bus_why tells why.  Asked once.  Borrowed. */
struct unit_bus *deck_bus(struct deck *deck);

/* Forget that the user manager could not be reached, since something was done about it. */
void deck_retry_bus(struct deck *deck);

/* Remember for the user, and log. */
void deck_warn(struct deck *deck, const char *format, ...) PRINTF_LIKE(2, 3);

/* The agent of an instance; only its own files are read.  What can be said of the user's file is said as deck_registry()
 * does.  ERROR_NOT_FOUND with the names that are there.  Borrowed, as long as deck is open. */
int deck_agent(struct deck *deck, const char *name, const struct agent **ret, struct error *err);

/* The agent's home for this caller: its variable if set, else its default.  NULL when the agent has
 * none.  The caller frees. */
char *deck_config_home(const struct deck *deck, const struct agent *agent) MUST_USE;
/* Its default alone. */
char *deck_default_home(const struct deck *deck, const struct agent *agent) MUST_USE;

/* SSH_AUTH_SOCK for panes is a link of ours, <runtime>/ssh-auth.sock (and in the direct directory):
 * point it at this login's agent, if this login has one that is alive and is not the link itself. */
void deck_refresh_ssh_agent(const struct deck *deck);
