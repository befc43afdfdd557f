/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of this folder share.
 *
 *   strays.c         what was found
 *   engines.c        what engines have
 *   disk.c           trees and directories
 *   branches.c       branches
 *   reconcile.c      all of them: look, then fix
 */
#pragma once

#include "engine/deck/known.h"
#include "model/plan/reconcile.h"

struct stray;
struct strays;

/* Judge, and add what is not fine; NULL: it is fine.  Borrowed until the next call. */
struct stray *strays_add(struct strays *strays, const struct stray_facts *facts, const char *name);

/* Engines, each of which was asked what it has. */
struct asked;
/* The engines of sessions, those of the configuration, and those that answer.  A session's engine
 * that does not answer is a stray. */
struct asked *asked_engines(struct deck *deck, const struct known *known, struct strays *strays);
void asked_free(struct asked *asked);
CLEANUP_OF(asked_freep, struct asked, asked_free);
#define cleanup_asked CLEANUP(asked_freep)
/* Compare with the sessions of today. */
void asked_compare(const struct deck *deck, struct asked *asked, const struct known *known,
		   struct strays *strays);
/* Does a container of this session run? */
bool asked_runs(const struct asked *asked, const char *session);
/* Free a container or network. */
int asked_fix(const struct deck *deck, const struct stray *stray, struct error *err);

/* The ids and names on disk, before the sessions are listed. */
struct on_disk;
int on_disk_list(const struct deck *deck, struct on_disk **ret, struct error *err);
void on_disk_free(struct on_disk *on_disk);
CLEANUP_OF(on_disk_freep, struct on_disk, on_disk_free);
#define cleanup_on_disk CLEANUP(on_disk_freep)
/* What there is besides. */
struct there {
	const struct known *known;
	const struct asked *asked;
};
int on_disk_compare(const struct deck *deck, const struct on_disk *on_disk,
		    const struct there *there, struct strays *strays, struct error *err);
/* Free a tree or a directory. */
int on_disk_fix(const struct deck *deck, const struct stray *stray, struct error *err);

/* Add the branches without a session in the repositories of all sessions.  A failure is a warning:
 * then none is freed. */
void branches_compare(struct deck *deck, struct strays *strays);
/* Free one. */
int branches_fix(struct deck *deck, const struct stray *stray, struct error *err);
