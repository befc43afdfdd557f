/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/move.h"

#include "base/macro.h"
#include "base/text.h"
#include "model/session/fields.h"

const char *const move_state_words[] = {
	[MOVE_NONE] = "none",   [MOVE_LEAVING] = "leaving",
	[MOVE_MOVED] = "moved", [MOVE_ARRIVING] = "arriving",
	[MOVE_READY] = "ready", [MOVE_ARRIVED] = "arrived",
	[MOVE_OTHER] = "other", NULL,
};
_Static_assert(ARRAY_SIZE(move_state_words) == MOVE_STATES + 1, "a state without a word");

static const char *const step_words[] = {
	[MOVE_STEP_LEAVE] = "leave",
	[MOVE_STEP_LET_GO] = "let-go",
	[MOVE_STEP_TAKE] = "take",
	[MOVE_STEP_BACK] = "back",
	[MOVE_STEP_DROP] = "drop",
	[MOVE_STEP_RECLAIM] = "reclaim",
	NULL,
};
_Static_assert(ARRAY_SIZE(step_words) == MOVE_STEPS + 1, "a step without a word");

enum move_state move_state_parse(const char *name)
{
	const int state = word_find(move_state_words, name);
	return state < 0 ? MOVE_OTHER : (enum move_state)state;
}

const char *move_step_name(enum move_step step)
{
	return step_words[step];
}

bool move_step_parse(const char *name, enum move_step *ret)
{
	const int step = word_find(step_words, name);
	if (step >= 0)
		*ret = (enum move_step)step;
	return step >= 0;
}

bool move_blocks(enum move_state state)
{
	return state != MOVE_NONE && state != MOVE_ARRIVED;
}

char *move_text(enum move_state state, const char *host)
{
	static const char *const texts[MOVE_STATES] = {
		[MOVE_LEAVING] = "moving to",
		[MOVE_MOVED] = "moved to",
		[MOVE_ARRIVING] = "arriving from",
		[MOVE_READY] = "arriving from",
		[MOVE_OTHER] = "moving, as another version of agentdeck says, to or from",
	};
	return texts[state] ? xasprintf("%s %s", texts[state], or_empty(host)) : NULL;
}

/* A line that is not here is refused. */
static const struct line {
	enum move_step step;
	enum move_state from, to;
	bool any_id;
} lines[] = {
	{ MOVE_STEP_LEAVE, MOVE_NONE, MOVE_LEAVING, true },
	{ MOVE_STEP_LEAVE, MOVE_ARRIVED, MOVE_LEAVING, true },
	{ MOVE_STEP_LEAVE, MOVE_LEAVING, MOVE_LEAVING, false },
	{ MOVE_STEP_LET_GO, MOVE_LEAVING, MOVE_MOVED, false },
	{ MOVE_STEP_LET_GO, MOVE_MOVED, MOVE_MOVED, false },
	{ MOVE_STEP_TAKE, MOVE_READY, MOVE_ARRIVED, false },
	{ MOVE_STEP_TAKE, MOVE_ARRIVED, MOVE_ARRIVED, false },
	{ MOVE_STEP_BACK, MOVE_LEAVING, MOVE_NONE, false },
	{ MOVE_STEP_BACK, MOVE_NONE, MOVE_NONE, true },
	{ MOVE_STEP_DROP, MOVE_ARRIVING, MOVE_NONE, false },
	{ MOVE_STEP_DROP, MOVE_READY, MOVE_NONE, false },
	{ MOVE_STEP_RECLAIM, MOVE_MOVED, MOVE_NONE, false },
	{ MOVE_STEP_RECLAIM, MOVE_READY, MOVE_ARRIVED, false },
	{ MOVE_STEP_RECLAIM, MOVE_NONE, MOVE_NONE, true },
};

int move_plan(const struct move *move, enum move_step step, const char *id, enum move_state *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const struct line *line = &lines[i];
		if (line->step != step || line->from != move->state ||
		    !(line->any_id || streq(or_empty(move->id), id)))
			continue;
		/* What came back to the session that it had left is that session again. */
		*ret = step == MOVE_STEP_DROP && move->was_here ? MOVE_MOVED : line->to;
		return 0;
	}
	return MOVE_REFUSED;
}
