/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where agent-deck has its files, and what its config.toml says.
 *
 * agent-deck looks for each of its files in the XDG directories first and in ~/.agent-deck then, so
 * one user may have some in each.
 */
#pragma once

#include "driver/foreign/hooks.h"

struct deck_files {
	const struct foreign_place *place; /* borrowed */
	char *data, *legacy;               /* the two places; data is NULL with --from */
	char *config;                      /* the path of config.toml; deck_files_read_settings() */
	struct json_object *settings;      /* what is in it */
};
void deck_files_clear(struct deck_files *files);
#define cleanup_deck_files CLEANUP(deck_files_clear)

/* FOREIGN_ABSENT: there are no sessions.  *ret is the caller's in every case. */
int deck_files_find(const struct foreign_place *place, struct deck_files *ret);

/* The path of one of its files: in its data directory if it is there, else in the old one.  The
 * caller frees. */
char *deck_files_path(const struct deck_files *files, const char *name) MUST_USE;

/* Read config.toml; there may be none.  ERROR_CORRUPT: it is not TOML.  files->config is set in
 * every case, and files->settings is an object, empty after an error. */
int deck_files_read_settings(struct deck_files *files, struct error *err);

/* Add the homes of agents that the settings name: of [claude] and [codex], and of these below each
 * profile, group and conductor.  ret may have homes twice. */
void deck_files_list_homes(const struct deck_files *files, struct hooked_homes *ret);

/* Tell what the settings say that a session does not have; ours are set by hand. */
void deck_files_tell(const struct deck_files *files, struct import_rows *ret);
