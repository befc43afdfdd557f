/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/term/term-internal.h"
#include "ui/term/term.h"

/* attr_set() takes no pair above 255 on every ncurses. */
enum { PAIRS_MAX = 240, FIRST_PAIR = 1 };

static struct {
	bool has_color;
	struct {
		int foreground, background;
	} pairs[PAIRS_MAX];
	size_t kept, count, size;
} color;

void color_begin(bool has_color)
{
	const int pairs = has_color ? COLOR_PAIRS - FIRST_PAIR : 0;
	color.has_color = pairs > 0;
	color.kept = color.count = 0;
	color.size = pairs < PAIRS_MAX ? (size_t)(pairs > 0 ? pairs : 0) : PAIRS_MAX;
}

void color_frame(void)
{
	if (color.count == color.size)
		color.count = color.kept;
}

void color_keep(void)
{
	color.kept = color.count;
}

attr_t color_attributes(const struct style *style)
{
	static const struct {
		unsigned attribute;
		attr_t look;
	} looks[] = {
		{ STYLE_BOLD, A_BOLD },       { STYLE_FAINT, A_DIM },
		{ STYLE_ITALIC, A_ITALIC },   { STYLE_UNDERLINE, A_UNDERLINE },
		{ STYLE_REVERSE, A_REVERSE }, { STYLE_HIDDEN, A_INVIS },
	};
	attr_t attributes = A_NORMAL;
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		if (style->attributes & looks[i].attribute)
			attributes |= looks[i].look;
	/* A terminal of 8 colours has the bright ones by this. */
	if (color.has_color && COLORS < 16 && style_is_bright(style->foreground))
		attributes |= A_BOLD;
	return attributes;
}

/* 0, the terminal's own colours, when there are more on the screen than the terminal has pairs. */
short color_pair(const struct style *style)
{
	if (!color.has_color)
		return 0;
	const int foreground = style_reduce(style->foreground, COLORS);
	const int background = style_reduce(style->background, COLORS);
	if (foreground == STYLE_DEFAULT && background == STYLE_DEFAULT)
		return 0;
	for (size_t i = 0; i < color.count; i++)
		if (color.pairs[i].foreground == foreground &&
		    color.pairs[i].background == background)
			return (short)(FIRST_PAIR + i);
	if (color.count == color.size)
		return 0;
	const size_t taken = color.count++;
	color.pairs[taken].foreground = foreground;
	color.pairs[taken].background = background;
	(void)init_extended_pair((int)(FIRST_PAIR + taken), foreground, background);
	return (short)(FIRST_PAIR + taken);
}
