/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/style.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { BRIGHT = 8 };

static const struct {
	unsigned attribute, number; /* in a sequence */
	const char *name;
} attributes[] = {
	{ STYLE_BOLD, 1, "bold" },       { STYLE_FAINT, 2, "faint" },
	{ STYLE_ITALIC, 3, "italic" },   { STYLE_UNDERLINE, 4, "underline" },
	{ STYLE_REVERSE, 7, "reverse" },
};

/* ---- colours ---------------------------------------------------------------------------------- */

enum { CUBE = 16, CUBE_SIDE = 6, GRAYS = 232 };

static const int levels[CUBE_SIDE] = { 0, 95, 135, 175, 215, 255 };

/* Red, green and blue of one of the 256, as xterm has them. */
static int rgb_of(int color)
{
	static const int named[] = { 0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD,
				     0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00,
				     0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF };
	if (color < CUBE)
		return named[color];
	if (color >= GRAYS)
		return (8 + 10 * (color - GRAYS)) * 0x010101;
	color -= CUBE;
	return levels[color / 36] << 16 | levels[color / 6 % 6] << 8 | levels[color % 6];
}

static int distance(int a, int b)
{
	const int red = (a >> 16) - (b >> 16), green = (a >> 8 & 255) - (b >> 8 & 255),
		  blue = (a & 255) - (b & 255);
	return red * red + green * green + blue * blue;
}

/* The nearest from first to last; the first of several. */
static int nearest(int rgb, int first, int last)
{
	int best = first;
	for (int i = first + 1; i <= last; i++)
		if (distance(rgb, rgb_of(i)) < distance(rgb, rgb_of(best)))
			best = i;
	return best;
}

int style_reduce(int color, int colors)
{
	if (color == STYLE_DEFAULT || colors < 8)
		return STYLE_DEFAULT;
	const bool is_rgb = color & STYLE_RGB;
	const int rgb = is_rgb ? color & ~STYLE_RGB : rgb_of(color);
	if (colors > 256)
		/* The first eight have their own numbers. */
		return !is_rgb && color < 8 ? color : rgb < 8 ? 8 : rgb;
	if (!is_rgb && color < colors)
		return color;
	/* The first 16 look as the user has set them. */
	if (colors == 256)
		return nearest(rgb, CUBE, 255);
	if (!is_rgb && color < CUBE)
		return color % 8;
	return nearest(rgb, 0, colors < CUBE ? 7 : CUBE - 1);
}

bool style_is_bright(int color)
{
	return color >= BRIGHT && color < CUBE;
}

/* ---- words ------------------------------------------------------------------------------------ */

static bool color_of(const char *word, int *ret)
{
	static const char *const names[] = { "black", "red",     "green", "yellow",
					     "blue",  "magenta", "cyan",  "white" };
	const bool is_bright = starts_with(word, "bright-");
	int64_t number;
	if (streq(word, "default")) {
		*ret = STYLE_DEFAULT;
		return true;
	}
	if (*word == '#' && strlen(word) == 7 && strspn(word + 1, "0123456789abcdefABCDEF") == 6) {
		unsigned rgb = 0;
		(void)sscanf(word + 1, "%6x", &rgb);
		*ret = STYLE_RGB | (int)rgb;
		return true;
	}
	if (parse_int64(word, 0, 255, &number)) {
		*ret = (int)number;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!streq(names[i], word + (is_bright ? strlen("bright-") : 0)))
			continue;
		*ret = (int)i + (is_bright ? BRIGHT : 0);
		return true;
	}
	return false;
}

static unsigned attribute_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (streq(attributes[i].name, word))
			return attributes[i].attribute;
	return 0;
}

int style_parse(const char *text, struct style *ret, struct error *err)
{
	struct style style = STYLE_PLAIN;
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	bool is_behind = false;
	for (const char *word; (word = strsep(&rest, " "));) {
		const unsigned attribute = attribute_of(word);
		style.attributes |= attribute;
		if (attribute || !*word)
			continue;
		if (streq(word, "on") && !is_behind)
			is_behind = true;
		else if (!color_of(word, is_behind ? &style.background : &style.foreground))
			return error_set(
				err, ERROR_INVALID,
				"\"%s\" is no colour: it may be black, red, green, yellow, "
				"blue, magenta, cyan, white, each also as bright-red, "
				"default, a number up to 255 or #rrggbb, beside bold, "
				"faint, italic, underline and reverse",
				word);
	}
	*ret = style;
	return 0;
}

/* ---- sequences -------------------------------------------------------------------------------- */

int style_colors(void)
{
	enum { FEW = 8, MANY = 256, TRUE_COLORS = STYLE_RGB };
	const char *depth = or_empty(getenv("COLORTERM")), *name = or_empty(getenv("TERM"));
	if (streq(depth, "truecolor") || streq(depth, "24bit") || ends_with(name, "-direct"))
		return TRUE_COLORS;
	return strstr(name, "256color") ? MANY : FEW;
}

/* base: 30, or 40 for the background. */
static void add_color(struct strbuf *text, int color, int colors, int base)
{
	const int reduced = style_reduce(color, colors);
	if (reduced == STYLE_DEFAULT)
		return;
	if (colors > 256 && reduced >= BRIGHT)
		strbuf_addf(text, ";%d;2;%d;%d;%d", base + 8, reduced >> 16, reduced >> 8 & 255,
			    reduced & 255);
	else if (reduced >= CUBE)
		strbuf_addf(text, ";%d;5;%d", base + 8, reduced);
	else
		strbuf_addf(text, ";%d",
			    reduced < BRIGHT ? base + reduced : base + 60 + reduced - BRIGHT);
}

const char *style_sequence(const struct style *style, int colors, char buffer[STYLE_SEQUENCE_SIZE])
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (style->attributes & attributes[i].attribute)
			strbuf_addf(&text, ";%u", attributes[i].number);
	add_color(&text, style->foreground, colors, 30);
	add_color(&text, style->background, colors, 40);
	*buffer = '\0';
	if (text.length)
		(void)snprintf(buffer, STYLE_SEQUENCE_SIZE, "\033[%sm", strbuf_text(&text) + 1);
	return buffer;
}
