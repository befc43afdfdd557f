/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A deck that is played with in one process: keys go in, its commands are answered here, and cells
 * come out.
 */
#pragma once

#include "unit/face-fixture.h"
#include "unit/ui-fixture.h"

#include "ui/state/wall.h"

struct json_object;

/* 2026-11-27 12:00 UTC. */
#define NOON_US INT64_C(1795780800000000)

enum cast {
	CAST_USUAL, /* fourteen live ones, and two hundred stopped */
	CAST_LIVE,  /* the live ones of these */
	CAST_FEW,
	CAST_NONE,
	CAST_TAGGED, /* the few, with tags, a pin and an archived one */
	CAST_TWO,    /* stopped ones, with little to see beside a question */
	CAST_HOSTS,  /* the few, of this machine and of two others, one of which is unreachable */
};

/* Keys have blanks between them, by their names; 'word is typed. */
struct screen {
	const char *name, *keys;
	struct {
		unsigned short columns, rows;
	} size;
	enum cast cast;
	enum {
		STYLED = 1 << 0,
		PICKER = 1 << 1,
		WALL = 1 << 2,
		AGAIN = 1 << 3,
		LOST = 1 << 4, /* sessions that ended with the machine, which the deck asks about */
	} how;
	enum face_kind kind;
	enum theme theme;
	/* What a command says: that asks ("@end": tests/unit/answers/end.json), of a typed line or
	 * a form (which is refused, or is done), or that is run; and in whose last replies what is
	 * searched for is. */
	const char *answer, *refusal, *result, *news, *replies;
	const char *stage; /* of a command that runs */
	const char *shown; /* by the facts and the log; NULL: something short */
};

struct play {
	struct screen screen;
	struct ui *ui;
	struct wall wall;
	struct strbuf wants; /* what the last keys wanted, as check() has it */
	struct strvec ran;   /* the words of the last command */
};

/* The face has begun.  saved: of ui_save(), or NULL. */
void play_begin(struct play *play, const struct screen *screen, const struct json_object *saved);
void play_free(struct play *play);
#define cleanup_play CLEANUP(play_free)
/* One key, of which nothing is drawn. */
void play_press(struct play *play, key_code key);
/* Keys as a screen has them; each word is drawn. */
void play_type(struct play *play, const char *keys);
void play_show(struct play *play);
