/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session on its way to another host: which end may do which step, and what it is then
 * (docs/move.md).
 *
 * The order of the steps keeps two promises.  At no moment can both ends start the session: the end
 * that had it gives it up for good (MOVE_STEP_LET_GO) before the other one may take it.  At each
 * moment one end has the whole of it: it is given up only when the copy is whole (MOVE_READY). Each
 * step can be repeated, so an answer that was lost is simply asked for again.
 *
 * Pure: no input or output here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum move_state {
	MOVE_NONE,
	/* at the end that has the session */
	MOVE_LEAVING, /* it is being copied, and is not started until that is done or given up */
	MOVE_MOVED,   /* the other end has it; what is here is kept, and not started */
	/* at the end that it goes to */
	MOVE_ARRIVING, /* not all of it may be here */
	MOVE_READY,    /* all of it is here, and the other end may still have it */
	MOVE_ARRIVED,  /* it belongs here, and came from the other end */
	MOVE_OTHER,    /* a word of another version */
	MOVE_STATES
};
extern const char *const move_state_words[];
/* MOVE_OTHER: it is not one of our words. */
enum move_state move_state_parse(const char *name);

/* The part of the manifest. */
struct move {
	char *id;   /* of the move, the same at both ends */
	char *host; /* the other end, as the one that leads the move calls it */
	enum move_state state;
	bool was_here; /* it came back to the session that it left: MOVE_STEP_DROP keeps that */
	char *tree;    /* the branch with the tree that came along; NULL: none came */
	int64_t at;    /* when it came to this state; µs since the Epoch */
};

enum move_step {
	MOVE_STEP_LEAVE,   /* begin at the end that has it */
	MOVE_STEP_LET_GO,  /* the copy is whole: give it up */
	MOVE_STEP_TAKE,    /* the other end gave it up: it belongs here */
	MOVE_STEP_BACK,    /* it stays where it is */
	MOVE_STEP_DROP,    /* remove the copy, which was never started */
	MOVE_STEP_RECLAIM, /* its user says that the other end is lost for good */
	MOVE_STEPS
};
const char *move_step_name(enum move_step step); /* static */
bool move_step_parse(const char *name, enum move_step *ret);

/* May a session in this state not be started? */
bool move_blocks(enum move_state state);

/* "moving to gpu1", "moved to gpu1", "arriving from laptop"; NULL: there is nothing to say.  The
 * caller frees. */
char *move_text(enum move_state state, const char *host);

/* What a step of the move with this id makes of a session.  MOVE_REFUSED: it may not be done now.
 * *ret is the same state if it was done before. */
enum { MOVE_REFUSED = -1 };
int move_plan(const struct move *move, enum move_step step, const char *id, enum move_state *ret);
