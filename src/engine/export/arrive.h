/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session that moves to another host: the steps at either end (model/session/move.h,
 * docs/move.md).
 *
 * Each takes the session's lock, compares with what the manifest says, and is durable when it
 * returns.  A step that was done is done again without harm.
 */
#pragma once

#include "engine/deck/deck.h"
#include "engine/export/unpack-file.h"

/* The session order->session out of a file on its way in, with order->move: MOVE_ARRIVING, and
 * MOVE_READY when the whole of it is on disk.  It has the id that it had.  One that left this host
 * continues where it was: in its own directory, with its own title.  ERROR_EXISTS: another session
 * has its id or its conversation, an agent here has that open, or a tree of it may be here already.
 * ERROR_INVALID: the file has another session, or the move is late or was given up.  Other errors
 * as of unpack_session().  After an error it is as before, or MOVE_ARRIVING: it cannot be started.
 * *ret is the caller's. */
int arrive_session(struct deck *deck, const struct unpack_file *file,
		   const struct unpack_order *order, struct instance **ret, struct error *err);

struct move_order {
	const char *base;
	enum move_step step;
	const char *id;   /* of the move */
	const char *host; /* of MOVE_STEP_LEAVE: where it goes */
};
/* What a session is after a step. */
struct moved {
	enum move_state state;
	/* For MOVE_ARRIVED: the branch of the tree that came along; NULL: none did. */
	char *tree;
	bool is_beside; /* that branch is beside the tree that the session has here */
};
static inline void moved_clear(struct moved *moved)
{
	free(moved->tree);
}
/* Do one step.  After MOVE_STEP_DROP the state is MOVE_NONE (it is gone), or MOVE_MOVED where it
 * was here before.  ERROR_INVALID: the step may not be done now; also for MOVE_STEP_LEAVE of a
 * session that runs, lives in a container, or has a conversation that cannot be packed. */
int move_session(struct deck *deck, const struct move_order *order, struct moved *ret,
		 struct error *err);
