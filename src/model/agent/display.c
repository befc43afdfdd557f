/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/display.h"

#include <regex.h>
#include <string.h>

struct patterns {
	regex_t *items;
	size_t count;
};

static void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		regfree(&patterns->items[i]);
	free(patterns->items);
}
#define cleanup_patterns CLEANUP(patterns_free)

/* The registry has checked that they compile; one that does not matches nothing. */
static struct patterns compile(const struct strvec *texts)
{
	struct patterns patterns = { .items = xcalloc(texts->count + 1, sizeof(regex_t)) };
	for (size_t i = 0; i < texts->count; i++)
		if (regcomp(&patterns.items[patterns.count], texts->items[i], REG_EXTENDED) == 0)
			patterns.count++;
	return patterns;
}

static bool fits(const struct patterns *patterns, const char *line)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (regexec(&patterns->items[i], line, 0, NULL, 0) == 0)
			return true;
	return false;
}

bool display_fits(const struct strvec *patterns, const char *text)
{
	cleanup_patterns struct patterns compiled = compile(patterns);
	return fits(&compiled, text);
}

struct lines {
	struct strvec items;
};

static void lines_free(struct lines *lines)
{
	strvec_clear(&lines->items);
}
#define cleanup_lines CLEANUP(lines_free)

static struct lines split(const char *screen)
{
	struct lines lines = { 0 };
	cleanup_free char *copy = xstrdup(screen);
	char *rest = copy;
	for (const char *line; (line = strsep(&rest, "\n"));)
		strvec_push(&lines.items, line);
	return lines;
}

/* The text typed into the box: it follows the pattern that makes the line a box.  NULL: no box. */
static const char *typed_in(const struct patterns *ready, const char *line)
{
	regmatch_t match;
	for (size_t i = 0; i < ready->count; i++)
		if (regexec(&ready->items[i], line, 1, &match, 0) == 0)
			return line + match.rm_eo;
	return NULL;
}

struct box {
	size_t first, end; /* lines; end is the first one below the box */
	size_t mark;       /* bytes in the first line before the typed text */
};

/* Find the lowest box with one of these marks.  False: there is none. */
static bool find_marked(const struct agent *agent, const struct strvec *marks,
			const struct strvec *lines, struct box *ret)
{
	cleanup_patterns struct patterns ready = compile(marks);
	cleanup_patterns struct patterns above = compile(&agent->box_above);
	cleanup_patterns struct patterns below = compile(&agent->box_below);
	size_t end = lines->count;
	bool has_end = !below.count;
	for (size_t i = lines->count; i-- > 0;) {
		const char *line = lines->items[i], *typed = typed_in(&ready, line);
		if (typed && has_end &&
		    (!above.count || (i && fits(&above, lines->items[i - 1])))) {
			*ret = (struct box){ .first = i,
					     .end = end,
					     .mark = (size_t)(typed - line) };
			return true;
		}
		if (fits(&below, line)) {
			has_end = true;
			end = i;
		}
	}
	return false;
}

static const char *skip_spaces(const char *line)
{
	return line + strspn(line, " ");
}

static bool find_box(const struct agent *agent, const struct strvec *lines, struct box *ret)
{
	return find_marked(agent, &agent->ready, lines, ret);
}

/* Whether it is a line of typed text, which can look like anything.  We only know that if the box
 * has an end. */
static bool is_inside(const struct agent *agent, const struct box *box, size_t line)
{
	return agent->has_box && agent->box_below.count && line > box->first && line < box->end;
}

/* Where own_text contains the line, or NULL. */
static const char *find_own(const char *line, const char *own_text)
{
	if (!own_text)
		return NULL;
	line += strspn(line, " ");
	size_t length = strlen(line);
	while (length && line[length - 1] == ' ')
		length--;
	cleanup_free char *trimmed = xstrndup(line, length);
	return length ? strstr(own_text, trimmed) : NULL;
}

/* typed: the text after the box's mark, with which our text begins. */
static bool is_own(const char *line, const char *typed, const char *own_text)
{
	return find_own(line, own_text) ||
	       (typed && own_text &&
		find_own(typed, own_text) == own_text + strspn(own_text, " \n"));
}

enum display_state display_judge(const struct agent *agent, const char *screen,
				 const char *own_text)
{
	cleanup_patterns struct patterns elsewhere = compile(&agent->elsewhere);
	cleanup_patterns struct patterns waiting = compile(&agent->waiting);
	cleanup_lines struct lines lines = split(screen);
	struct box box = { 0 };
	enum display_state state = DISPLAY_OTHER, in_box = DISPLAY_READY;
	bool has_box = find_box(agent, &lines.items, &box);
	if (!has_box && find_marked(agent, &agent->mode, &lines.items, &box)) {
		has_box = true;
		in_box = DISPLAY_MODE;
	}
	for (size_t i = 0; i < lines.items.count; i++) {
		const char *line = lines.items.items[i];
		bool is_box = has_box && i == box.first;
		if (has_box && is_inside(agent, &box, i))
			continue;
		/* A choice may look like a box with text in it ("> 1. Yes"): text typed there would
		 * be an answer. */
		if (fits(&waiting, line) &&
		    !is_own(line, is_box ? line + box.mark : NULL, own_text))
			state = DISPLAY_DIALOG;
		else if (fits(&elsewhere, line))
			state = DISPLAY_ELSEWHERE;
		else if (is_box)
			state = in_box;
	}
	return state;
}

bool display_shows(const struct strvec *patterns, const char *screen)
{
	cleanup_patterns struct patterns compiled = compile(patterns);
	cleanup_lines struct lines lines = split(screen);
	for (size_t i = 0; compiled.count && i < lines.items.count; i++)
		if (fits(&compiled, lines.items.items[i]))
			return true;
	return false;
}

char *display_last_words(const struct agent *agent, const char *screen)
{
	cleanup_lines struct lines lines = split(screen);
	cleanup_strbuf struct strbuf words = { 0 };
	struct box box = { .first = lines.items.count };
	(void)find_box(agent, &lines.items, &box);
	size_t end = box.first;
	while (end && !*skip_spaces(lines.items.items[end - 1]))
		end--;
	size_t first = end;
	while (first && *skip_spaces(lines.items.items[first - 1]))
		first--;
	/* Text of the model is indented, and a pattern may say that its own is not. */
	for (size_t i = first; i < end; i++)
		strbuf_addf(&words, "%s%s", i > first ? " " : "",
			    i > first ? skip_spaces(lines.items.items[i]) : lines.items.items[i]);
	return xstrdup(strbuf_text(&words));
}

bool display_is_suspended(const struct agent *agent, const char *screen)
{
	cleanup_lines struct lines lines = split(screen);
	struct box box;
	return display_shows(&agent->suspended, screen) && !find_box(agent, &lines.items, &box);
}

enum instance_activity display_activity(const struct agent *agent, const char *screen)
{
	cleanup_patterns struct patterns busy = compile(&agent->busy);
	cleanup_patterns struct patterns waiting = compile(&agent->waiting);
	cleanup_lines struct lines lines = split(screen);
	struct box box = { 0 };
	bool is_waiting = display_is_suspended(agent, screen), is_busy = false;
	bool has_box = find_box(agent, &lines.items, &box) ||
		       find_marked(agent, &agent->mode, &lines.items, &box);
	for (size_t i = 0; i < lines.items.count; i++) {
		const char *line = lines.items.items[i];
		if (has_box && is_inside(agent, &box, i))
			continue;
		is_busy |= fits(&busy, line);
		/* A choice may look like a box with text in it ("> 1. Yes"), but a box does not
		 * look like a choice. */
		if (fits(&waiting, line))
			is_waiting = true;
		else if (has_box && i == box.first)
			is_waiting = false;
	}
	if (is_waiting)
		return ACTIVITY_WAITING;
	if (is_busy)
		return ACTIVITY_BUSY;
	return has_box ? ACTIVITY_IDLE : ACTIVITY_UNKNOWN;
}

char *display_box(const struct agent *agent, const char *screen)
{
	cleanup_lines struct lines lines = split(screen);
	struct box box;
	return find_box(agent, &lines.items, &box) ? xstrdup(lines.items.items[box.first]) : NULL;
}

/* Blanks that agents draw: a space, a line's end, a no-break space, and one without width behind a
 * cursor. */
static const char *const blanks[] = { " ", "\n", "\u00a0", "\u200b" };

static size_t skip_blanks(const char *text)
{
	size_t skipped = 0, before;
	do {
		before = skipped;
		for (size_t i = 0; i < ARRAY_SIZE(blanks); i++)
			if (starts_with(text + skipped, blanks[i]))
				skipped += strlen(blanks[i]);
	} while (skipped != before);
	return skipped;
}

static size_t length_without_blanks(const char *text)
{
	size_t length = strlen(text), before;
	do {
		before = length;
		for (size_t i = 0; i < ARRAY_SIZE(blanks); i++) {
			size_t size = strlen(blanks[i]);
			if (length >= size && memcmp(text + length - size, blanks[i], size) == 0)
				length -= size;
		}
	} while (length != before);
	return length;
}

/* The line without the frame of the box. */
static char *unframe(const struct patterns *frame, const char *line)
{
	char *text = xstrdup(line);
	for (size_t i = 0; i < frame->count; i++) {
		regmatch_t match;
		if (regexec(&frame->items[i], text, 1, &match, 0) == 0)
			memmove(text + match.rm_so, text + match.rm_eo,
				strlen(text + match.rm_eo) + 1);
	}
	return text;
}

/* The text in the box, from the lines of one of the two texts of a screen. */
static char *box_text(const struct agent *agent, const struct strvec *lines, const struct box *box)
{
	cleanup_patterns struct patterns frame = compile(&agent->box_frame);
	cleanup_strbuf struct strbuf buf = { 0 };
	for (size_t i = box->first; i < box->end && i < lines->count; i++) {
		const size_t mark = i == box->first ? box->mark : 0;
		cleanup_free char *line = unframe(&frame, lines->items[i] + mark);
		strbuf_add(&buf, line, length_without_blanks(line));
		strbuf_adds(&buf, "\n");
	}
	const char *text = strbuf_text(&buf) + skip_blanks(strbuf_text(&buf));
	return xstrndup(text, length_without_blanks(text));
}

static char *read_input(const struct agent *agent, const struct display_screen *screen,
			size_t (*end_of)(const struct agent *agent, const struct strvec *lines,
					 const struct box *box))
{
	cleanup_patterns struct patterns placeholder = compile(&agent->placeholder);
	cleanup_lines struct lines shown = split(screen->text), typed = split(screen->typed);
	struct box box;
	if (!find_box(agent, &shown.items, &box))
		return NULL;
	box.end = end_of(agent, &shown.items, &box);
	if (!box.end)
		return NULL;
	cleanup_free char *text = box_text(agent, &shown.items, &box);
	return fits(&placeholder, text) ? xstrdup("") : box_text(agent, &typed.items, &box);
}

static size_t nearest_end(const struct agent *agent UNUSED, const struct strvec *lines UNUSED,
			  const struct box *box)
{
	return box->end;
}

/* Returns the lowest empty line above other text.  0: that is the nearest empty line, or the box
 * does not end at an empty line. */
static size_t farthest_end(const struct agent *agent, const struct strvec *lines,
			   const struct box *box)
{
	cleanup_patterns struct patterns below = compile(&agent->box_below);
	bool has_text = false;
	if (!fits(&below, ""))
		return 0;
	for (size_t i = lines->count; i-- > box->end + 1;) {
		if (has_text && fits(&below, lines->items[i]))
			return i;
		has_text |= !fits(&below, lines->items[i]);
	}
	return 0;
}

char *display_input(const struct agent *agent, const struct display_screen *screen)
{
	return read_input(agent, screen, nearest_end);
}

char *display_paragraphs(const struct agent *agent, const struct display_screen *screen)
{
	return read_input(agent, screen, farthest_end);
}

size_t display_mode_length(const struct agent *agent, const char *text)
{
	cleanup_patterns struct patterns mode = compile(&agent->mode_text);
	const char *end = typed_in(&mode, text);
	return end ? (size_t)(end - text) : 0;
}

/* Length of the character at text; 0 if it is not UTF-8. */
static size_t character(const char *text, size_t left)
{
	for (size_t length = 1; length <= 4 && length <= left; length++)
		if (is_utf8(text, length))
			return length;
	return 0;
}

/* Length of the control sequence at text, which begins with ESC (ECMA-48: CSI, the strings that ST
 * or BEL end, and the short ones). */
static size_t sequence(const char *text, size_t left)
{
	size_t length = 2;
	if (left < 2)
		return left;
	if (text[1] == '[') {
		while (length < left && text[length] >= 0x20 && text[length] < 0x40)
			length++;
		return length < left && text[length] >= 0x40 && text[length] < 0x7f ? length + 1
										    : length;
	}
	if (text[1] && strchr("]PX^_", text[1])) {
		while (length < left && text[length] != '\a' && text[length] != 0x1b &&
		       text[length] != '\n')
			length++;
		if (length < left && text[length] == '\a')
			return length + 1;
		return length + 1 < left && text[length] == 0x1b && text[length + 1] == '\\'
			       ? length + 2
			       : length;
	}
	while (length <= left && text[length - 1] >= 0x20 && text[length - 1] < 0x30)
		length++;
	if (length > left)
		return left;
	return text[length - 1] >= 0x30 && text[length - 1] < 0x7f ? length : 1;
}

struct look {
	bool is_dim, is_reverse, is_shaded;
};

/* Apply Select Graphic Rendition: the parameters between "ESC [" and "m". */
static void apply_rendition(const char *parameters, size_t length, struct look *look)
{
	cleanup_free char *copy = xstrndup(parameters, length);
	char *rest = copy;
	size_t skip = 0;
	bool is_colour = false;
	for (const char *word; (word = strsep(&rest, ";"));) {
		/* A colour is "38;5;N" or "38;2;R;G;B". */
		if (is_colour)
			skip = streq(word, "2") ? 3 : 1;
		else if (skip)
			skip--;
		else if (!*word || streq(word, "0"))
			*look = (struct look){ 0 };
		else if (streq(word, "2") || streq(word, "22"))
			look->is_dim = !word[1];
		else if (streq(word, "7") || streq(word, "27"))
			look->is_reverse = !word[1];
		else if (word[0] == '4' && word[1] && !word[2])
			look->is_shaded = word[1] != '9';
		is_colour = !is_colour && !skip &&
			    (streq(word, "38") || streq(word, "48") || streq(word, "58"));
	}
}

static void add_blanks(struct strbuf *buf, size_t count)
{
	while (count--)
		strbuf_adds(buf, " ");
}

void display_read(const char *styled, struct display_screen *ret)
{
	struct strbuf text = { 0 }, typed = { 0 }, shades = { 0 };
	struct look look = { 0 };
	bool begins_line = true;
	size_t left = strlen(styled), used;
	/* Agents draw a cursor on the first character of a proposal. */
	size_t cursor = 0, cursor_length = 0;
	for (; left; styled += used, left -= used) {
		if (*styled == 0x1b) {
			used = sequence(styled, left);
			if (used > 2 && styled[1] == '[' && styled[used - 1] == 'm')
				apply_rendition(styled + 2, used - 3, &look);
			continue;
		}
		used = character(styled, left);
		if (!used)
			used = 1;
		/* Shift in and out, which tmux writes around line drawing. */
		if (*styled == 0x0e || *styled == 0x0f)
			continue;
		if (begins_line)
			strbuf_adds(&shades, look.is_shaded && *styled != '\n' ? "#" : " ");
		begins_line = *styled == '\n';
		if (look.is_dim && *styled != '\n') {
			if (cursor_length && cursor + cursor_length == typed.length)
				memset(typed.data + cursor, ' ', cursor_length);
			add_blanks(&typed, used);
		} else {
			strbuf_add(&typed, styled, used);
		}
		cursor_length = look.is_reverse && !look.is_dim ? used : 0;
		cursor = typed.length - cursor_length;
		strbuf_add(&text, styled, used);
	}
	*ret = (struct display_screen){ .text = strbuf_take(&text),
					.typed = strbuf_take(&typed),
					.shades = strbuf_take(&shades) };
}

void display_screen_free(struct display_screen *screen)
{
	free(screen->text);
	free(screen->typed);
	free(screen->shades);
	*screen = (struct display_screen){ 0 };
}

/* C0, DEL, C1, and characters that change the order or look of the text around them. */
static bool is_control(const char *text, size_t length)
{
	unsigned char first = (unsigned char)text[0];
	if (length == 3)
		return text_reorders(text) > 0;
	if (length == 1)
		return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
	return length == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

size_t display_clean(const char *text, size_t length, struct strbuf *ret)
{
	size_t removed = 0, used;
	for (size_t i = 0; i < length; i += used) {
		used = text[i] == 0x1b ? sequence(text + i, length - i)
				       : character(text + i, length - i);
		if (text[i] == '\r') {
			if (i + 1 >= length || text[i + 1] != '\n')
				strbuf_adds(ret, "\n");
		} else if (used == 0) {
			used = 1;
			removed++;
		} else if (text[i] == 0x1b || is_control(text + i, used)) {
			removed += used;
		} else {
			strbuf_add(ret, text + i, used);
		}
	}
	return removed;
}
