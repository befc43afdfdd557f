/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hooks that a program has left in the settings of agents.  foreign.h shows and removes them.
 */
#pragma once

#include "driver/foreign/foreign.h"

enum hooked_kind {
	HOOKED_JSON,   /* "hooks": {EVENT: [{"hooks": [{"command": ...}]}]} */
	HOOKED_NOTIFY, /* TOML: notify = [the words of foreign_hooks.notify] */
	HOOKED_TOML,   /* TOML: as HOOKED_JSON, but only named, and not removed */
	HOOKED_LINK,   /* a symbolic link to a file of the program's */
};

/* An agent's settings, below its home. */
struct hooked {
	enum hooked_kind kind;
	const char *variable; /* of the agent's home; NULL: it has none */
	const char *home, *name;
};

struct hooked_home {
	const char *variable; /* as in struct hooked */
	char *path;
};

/* Homes of agents that the program's own settings name. */
struct hooked_homes {
	char *settings; /* the path of these settings */
	struct hooked_home *items;
	size_t count;
};
/* Takes ownership of path. */
void hooked_homes_add(struct hooked_homes *homes, const char *variable, char *path);

struct foreign_hooks {
	const char *name; /* of the program */
	bool (*is_its)(const char *command);
	const char *notify[2];
	const char *link;   /* how the target of the link ends */
	const char *effect; /* of what is left, in sessions of agentdeck: "do nothing in ..." */
	const struct hooked *files;
	size_t count;
	/* NULL: its settings name none.  *ret is the caller's; its settings are set in every case. */
	int (*list_homes)(const struct foreign_place *place, struct hooked_homes *ret,
			  struct error *err);
};

/* Name the settings that have its hooks, and those that cannot be read.  Those of the program
 * itself are the reader's to name. */
void foreign_tell_hooks(const struct foreign_hooks *hooks, const struct foreign_place *place,
			struct import_rows *ret);
