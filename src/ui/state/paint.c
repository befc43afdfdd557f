/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/paint.h"

#include <string.h>

enum { TAB_STOP = 8, NUMBERS_MAX = 32, BRIGHT = 8 };

struct painter {
	struct painting *painting;
	struct style style;
	bool is_drawing;    /* lines, by letters (SO) */
	struct strbuf text; /* of the span that is being read */
	size_t column;      /* in characters, for tabs */
};

/* ---- lines ------------------------------------------------------------------------------------ */

void painting_add_line(struct painting *painting)
{
	if ((painting->count & (painting->count - 1)) == 0)
		painting->lines = xreallocarray(painting->lines,
						painting->count ? 2 * painting->count : 1,
						sizeof(*painting->lines));
	painting->lines[painting->count++] = (struct painted_line){ 0 };
}

void painting_add_span(struct painting *painting, const struct style *style, char *text)
{
	struct painted_line *line = &painting->lines[painting->count - 1];
	line->spans = xreallocarray(line->spans, line->count + 1, sizeof(*line->spans));
	line->spans[line->count++] = (struct span){ *style, text };
}

static void end_span(struct painter *painter)
{
	if (painter->text.length)
		painting_add_span(painter->painting, &painter->style,
				  visible(strbuf_text(&painter->text)));
	strbuf_free(&painter->text);
}

static void line_free(struct painted_line *line)
{
	for (size_t i = 0; i < line->count; i++)
		free(line->spans[i].text);
	free(line->spans);
}

void painting_free(struct painting *painting)
{
	for (size_t i = 0; i < painting->count; i++)
		line_free(&painting->lines[i]);
	free(painting->lines);
	*painting = (struct painting){ 0 };
}

static bool is_blank(const struct painted_line *line)
{
	for (size_t i = 0; i < line->count; i++) {
		const struct span *span = &line->spans[i];
		if (span->text[strspn(span->text, " ")] ||
		    span->style.background != STYLE_DEFAULT ||
		    span->style.attributes & (STYLE_REVERSE | STYLE_UNDERLINE))
			return false;
	}
	return true;
}

/* ---- escape sequences ------------------------------------------------------------------------- */

static bool is_between(char byte, unsigned char first, unsigned char last)
{
	return (unsigned char)byte >= first && (unsigned char)byte <= last;
}

struct numbers {
	unsigned values[NUMBERS_MAX];
	bool is_sub[NUMBERS_MAX]; /* behind a colon: a part of the one before */
	size_t count;
};

static void parse_numbers(const char *text, size_t length, struct numbers *ret)
{
	*ret = (struct numbers){ .count = 1 };
	for (size_t i = 0; i < length && ret->count < NUMBERS_MAX; i++) {
		unsigned *value = &ret->values[ret->count - 1];
		if (is_between(text[i], '0', '9'))
			*value = *value < 1000 ? 10 * *value + (unsigned)(text[i] - '0') : *value;
		else
			ret->is_sub[ret->count++] = text[i] == ':';
	}
}

/* The colour behind 38 or 48 at *at, which is then on its last number. */
static int long_color(const struct numbers *numbers, size_t *at)
{
	const unsigned *values = &numbers->values[*at];
	const size_t left = numbers->count - *at;
	size_t parts = 1; /* with colons: 38:2::R:G:B or 38:2:R:G:B */
	while (parts < left && numbers->is_sub[*at + parts])
		parts++;
	const bool has_colons = parts > 1;
	const size_t first = has_colons && parts > 5 ? 3 : 2;
	const size_t end = has_colons ? parts : left;
	int color = STYLE_DEFAULT;
	if (end >= 3 && values[1] == 5) {
		color = values[2] < 256 ? (int)values[2] : STYLE_DEFAULT;
		*at += has_colons ? parts - 1 : 2;
	} else if (end >= first + 3 && values[1] == 2) {
		color = STYLE_RGB | (int)((values[first] & 255) << 16) |
			(int)((values[first + 1] & 255) << 8) | (int)(values[first + 2] & 255);
		*at += has_colons ? parts - 1 : 4;
	} else {
		*at += end - 1;
	}
	return color;
}

/* 30 to 37 and 90 to 97, and ten more for the background. */
static bool set_short_color(struct style *style, unsigned number)
{
	const bool is_bright = number >= 90;
	const unsigned base = is_bright ? 90 : 30;
	if (number < base || number % 10 > 7 || (number - base) / 10 > 1)
		return false;
	int *color = (number - base) / 10 ? &style->background : &style->foreground;
	*color = (int)(number % 10) + (is_bright ? BRIGHT : 0);
	return true;
}

static void set_attribute(struct style *style, unsigned number)
{
	static const struct {
		unsigned number, on, off;
	} changes[] = {
		{ 1, STYLE_BOLD, 0 },       { 2, STYLE_FAINT, 0 },
		{ 3, STYLE_ITALIC, 0 },     { 4, STYLE_UNDERLINE, 0 },
		{ 7, STYLE_REVERSE, 0 },    { 8, STYLE_HIDDEN, 0 },
		{ 21, STYLE_UNDERLINE, 0 }, { 22, 0, STYLE_BOLD | STYLE_FAINT },
		{ 23, 0, STYLE_ITALIC },    { 24, 0, STYLE_UNDERLINE },
		{ 27, 0, STYLE_REVERSE },   { 28, 0, STYLE_HIDDEN },
	};
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		if (changes[i].number == number)
			style->attributes = (style->attributes | changes[i].on) & ~changes[i].off;
}

static void apply(struct style *style, const struct numbers *numbers)
{
	for (size_t i = 0; i < numbers->count; i++) {
		const unsigned number = numbers->values[i];
		if (number == 0)
			*style = STYLE_PLAIN;
		else if (number == 38)
			style->foreground = long_color(numbers, &i);
		else if (number == 48)
			style->background = long_color(numbers, &i);
		else if (number == 58)
			(void)long_color(numbers, &i);
		else if (number == 39)
			style->foreground = STYLE_DEFAULT;
		else if (number == 49)
			style->background = STYLE_DEFAULT;
		else if (number == 4 && i + 1 < numbers->count && numbers->is_sub[i + 1])
			set_attribute(style, numbers->values[++i] ? 4 : 24);
		else if (!set_short_color(style, number))
			set_attribute(style, number);
	}
}

/* ESC [ up to its final byte.  Returns what is behind it. */
static const char *control_sequence(struct painter *painter, const char *at)
{
	const char *first = at;
	while (is_between(*at, 0x20, 0x3F))
		at++;
	if (*at == 'm' && is_between(*first, '0', 'm') && !strchr("<=>?", *first)) {
		struct numbers numbers;
		end_span(painter);
		parse_numbers(first, (size_t)(at - first), &numbers);
		apply(&painter->style, &numbers);
	}
	return is_between(*at, 0x40, 0x7E) ? at + 1 : at;
}

/* A title, a link, a picture: up to BEL or ESC \. */
static const char *skip_string(const char *at)
{
	while (*at && *at != '\a' && *at != '\033')
		at++;
	if (*at == '\a')
		return at + 1;
	return *at == '\033' && at[1] == '\\' ? at + 2 : at;
}

static const char *escape(struct painter *painter, const char *at)
{
	if (*at == '[')
		return control_sequence(painter, at + 1);
	if (*at && strchr("]P_^X", *at))
		return skip_string(at + 1);
	while (is_between(*at, 0x20, 0x2F))
		at++;
	return is_between(*at, 0x30, 0x7E) ? at + 1 : at;
}

/* ---- text ------------------------------------------------------------------------------------- */

/* VT100's line drawing: what the letters from ` to ~ are. */
static const char *const drawing[] = {
	"◆", "▒", " ", " ", " ", " ", "°", "±", " ", " ", "┘", "┐", "┌", "└", "┼", "⎺",
	"⎻", "─", "⎼", "⎽", "├", "┤", "┴", "┬", "│", "≤", "≥", "π", "≠", "£", "·",
};

static void add_byte(struct painter *painter, const char *byte)
{
	if (*byte == '\t') {
		do
			strbuf_adds(&painter->text, " ");
		while (++painter->column % TAB_STOP);
		return;
	}
	if (painter->is_drawing && is_between(*byte, '`', '~'))
		strbuf_adds(&painter->text, drawing[*byte - '`']);
	else
		strbuf_add(&painter->text, byte, 1);
	painter->column += !is_inside_character(*byte);
}

static const char *paint_one(struct painter *painter, const char *at)
{
	if (*at == '\033')
		return escape(painter, at + 1);
	if (*at == '\n') {
		end_span(painter);
		painting_add_line(painter->painting);
		painter->column = 0;
	} else if (*at == '\016' || *at == '\017') {
		painter->is_drawing = *at == '\016';
	} else if (*at == '\t' || (!is_between(*at, 0, 0x1F) && *at != 0x7F)) {
		add_byte(painter, at);
	}
	return at + 1;
}

void paint_parse(const char *text, struct painting *ret)
{
	struct painter painter = { .painting = ret, .style = STYLE_PLAIN };
	*ret = (struct painting){ 0 };
	painting_add_line(ret);
	while (*text)
		text = paint_one(&painter, text);
	end_span(&painter);
	while (ret->count && is_blank(&ret->lines[ret->count - 1]))
		line_free(&ret->lines[--ret->count]);
}
