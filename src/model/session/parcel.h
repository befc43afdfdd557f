/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an export says about sessions: only the fields here.  Environments, runs, containers and
 * whatever another version keeps in a manifest stay where they are.
 */
#pragma once

#include "base/sha256.h"
#include "model/session/instance.h"

enum { PARCEL_FORMAT = 1 };

struct parcel {
	char *profile, *id, *title, *group, *notes, *agent;
	char *tags; /* as in struct instance, as the next two */
	bool is_pinned;
	int64_t archived_at;
	char *directory;        /* that its user named */
	char *launch_directory; /* that its conversation is resumed in; NULL: the same */
	char *repository;       /* that its tree is of; NULL: it has no tree */
	/* the home of its agent, absolute or "~/..."; NULL: the agent's usual one */
	char *home;
	char *imported_from; /* what it was made from; NULL: nothing, or it goes elsewhere */
	struct strvec argv;
	enum resume_policy resume_policy;
	enum restart_policy restart_policy;
	enum end_policy end_policy;
	char *sleep_after; /* as that of an instance */
	struct limits limits;
	int64_t created_at, last_used_at; /* µs since the Epoch */
	/* of the conversation; NULL: there is none.  A path, if its agent has such ids and its file
	 * does not come along */
	char *session_id;
	/* its file: conversation number, from 1; 0: it has none */
	size_t number;
	uint64_t size;
	char digest[SHA256_TEXT_SIZE];
	/* where that file was below the agent's home, or, without a session_id, its name in the
	 * place of the session; NULL: not said */
	char *place;
	char *began; /* the directory that the conversation began in; NULL: not said */
};

struct parcels {
	char *host; /* where they were exported */
	/* config.toml and the agents of that user's own, as they were; NULL, none: not in there */
	char *config;
	struct strvec agents, agent_texts; /* names, and the text of each */
	int64_t made_at;
	struct parcel *items;
	size_t count;
};
void parcels_free(struct parcels *parcels);
#define cleanup_parcels CLEANUP(parcels_free)

/* Append one of this instance, without a conversation and with argv as it should be started
 * elsewhere.  Borrowed until the next call. */
struct parcel *parcels_add(struct parcels *parcels, const struct instance *instance,
			   const struct strvec *argv);

/* Undo the last parcels_add(). */
void parcels_drop(struct parcels *parcels);

/* The key of a member that parcels_parse() would refuse, such as "title"; static.  NULL: none. */
const char *parcel_fault(const struct parcel *parcel);

/* What "place" and the directories of a parcel may be. */
bool parcel_is_place(const char *path);
bool parcel_is_path(const char *path);

/* The caller frees. */
char *parcels_text(const struct parcels *parcels) MUST_USE;

/* count: how many conversations come with it; each has one parcel.  ERROR_NEWER, ERROR_CORRUPT: as
 * instance_from_json().  Nothing in it is trusted: names are names, paths are absolute. */
int parcels_parse(const char *text, const char *what, size_t count, struct parcels *ret,
		  struct error *err);
