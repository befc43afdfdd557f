/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sessions that were removed (driver/store/trash.h): bring one back, or delete them for good.
 */
#pragma once

#include "driver/store/trash.h"
#include "engine/workspace/branch.h"

/* Bring back the session of this title or id, the last removed one where several have it; NULL: the
 * last removed of all.  It is stopped, as it was.  title: its new one, or NULL.
 * ERROR_NOT_FOUND: the trash has none.  ERROR_EXISTS: its title is taken, or its conversation
 * belongs to another session now; it stays in the trash, as it does when its manifest cannot be
 * read. A corrupt one comes back unchecked.  ERROR_INVALID: not with a new title.  *ret is the
 * caller's; NULL: its manifest is corrupt. */
int undo_removal(struct deck *deck, const char *target, const char *title, struct instance **ret,
		 struct error *err);

/* Whether the trash has a session of this title or id. */
bool undo_can(const struct deck *deck, const char *target);

/* The bases of those that the last removal has taken, in its order: of a command for several, those
 * that are still in the trash.  ERROR_NOT_FOUND: the trash has none. */
int undo_last(struct deck *deck, struct strvec *ret, struct error *err);

/* What their user agrees to lose with them. */
struct prune_order {
	enum branches_wish branches;
	bool may_leave_containers; /* whose engine does not answer (--leave-containers) */
};

/* Delete these (as trash_list() gave them) for good.  One that came back since then is left alone;
 * its user may have taken their time to agree.  One that holds something that is not
 * agentdeck's stays, with a warning.  One that cannot be deleted gets a warning too, and the result
 * is an error after the others are deleted.  Conversations stay, and a warning names the directory
 * of those that only this session could use. */
int undo_prune(struct deck *deck, const struct trash *trash, const struct prune_order *order,
	       size_t *ret_deleted, struct error *err);
