/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the states of sessions look, in one place: their signs, words and colours in the deck, the
 * wall, the switcher, `list`, `status`, the status line and notifications.
 */
#pragma once

#include "base/style.h"
#include "model/session/facts.h"

/* What a text means.  Its look depends on the theme, and on [ui] colors. */
enum tone {
	TONE_PLAIN,
	TONE_FAINT,
	TONE_HEADER,
	TONE_GROUP,
	TONE_WAITING,
	TONE_ERROR,
	TONE_WARNING,
	TONE_BUSY,
	TONE_IDLE,
	TONE_KEY,
	TONE_COUNT
};

enum theme {
	THEME_DEFAULT, /* it can be read on light and on dark backgrounds */
	THEME_DARK,
	THEME_LIGHT,
	THEME_COLOR_BLIND,
	THEME_COUNT
};
/* Up to NULL. */
extern const char *const theme_names[];

struct skin {
	struct style styles[TONE_COUNT];
};

struct strvec;
/* colors: as skin_set() takes them; what is wrong in them is left out. */
void skin_init(struct skin *ret, enum theme theme, const struct strvec *colors);
/* "waiting=bold red": a part, and style_parse().  ERROR_INVALID. */
int skin_set(struct skin *skin, const char *text, struct error *err);

enum tone doing_tone(enum doing doing);
/* What tells it without colours, too: one column wide; is_plain: in ASCII.  Static. */
const char *doing_sign(enum doing doing, bool is_plain);
/* Before the title of a pinned session; likewise. */
const char *pin_sign(bool is_plain);
/* What it means, behind the title of a session: "waits for you".  Static. */
const char *doing_phrase(enum doing doing);
