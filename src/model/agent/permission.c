/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/agent/permission.h"

#include "model/agent/display.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

void permission_free(struct permission *permission)
{
	free(permission->text);
	free(permission->yes_key);
	free(permission->no_key);
	strvec_clear(&permission->choices);
	strvec_clear(&permission->labels);
	*permission = (struct permission){ 0 };
}

/* What the first group of the pattern finds in the line, or all of it if that finds nothing.
 * NULL: it does not fit, or there is no pattern.  The registry has checked that it compiles. */
static char *find(const char *pattern, const char *line)
{
	regex_t regex;
	regmatch_t found[2];
	char *text = NULL;
	if (!pattern || regcomp(&regex, pattern, REG_EXTENDED) != 0)
		return NULL;
	if (regexec(&regex, line, ARRAY_SIZE(found), found, 0) == 0) {
		const regmatch_t *part = found + (regex.re_nsub && found[1].rm_so >= 0);
		text = xstrndup(line + part->rm_so, (size_t)(part->rm_eo - part->rm_so));
	}
	regfree(&regex);
	return text;
}

static bool fits(const char *pattern, const char *line)
{
	cleanup_free char *text = find(pattern, line);
	return text;
}

static void drop_last(struct strvec *lines)
{
	free(lines->items[--lines->count]);
}

/* The lines of the screen down to the last one of the question, without its frame, and without
 * blanks at their ends.  *ret_frames has a '#' for each that had a frame.  False: what must be
 * below the question is not there. */
static bool split(const struct agent_question *question, const char *screen, struct strvec *ret,
		  struct strbuf *ret_frames)
{
	while (*screen) {
		const size_t length = strcspn(screen, "\n");
		cleanup_free char *line = xstrndup(screen, length);
		char *content = find(question->frame, line);
		char *kept = content ? content : TAKE_PTR(line);
		strbuf_adds(ret_frames, content ? "#" : " ");
		for (size_t used = strlen(kept); used && kept[used - 1] == ' ';)
			kept[--used] = '\0';
		strvec_push_take(ret, kept);
		screen += length + (screen[length] == '\n');
	}
	bool is_after = !question->after;
	for (; ret->count; drop_last(ret)) {
		const bool fits_after = fits(question->after, ret->items[ret->count - 1]);
		if (!fits_after && *ret->items[ret->count - 1])
			break;
		is_after |= fits_after;
	}
	return is_after;
}

/* Write a blank over the mark that begins a line. */
static void remove_mark(const struct agent_question *question, char *line)
{
	char *start = line + strspn(line, " ");
	const size_t length = strlen(or_empty(question->mark));
	if (!length || strncmp(start, question->mark, length) != 0)
		return;
	*start = ' ';
	memmove(start + 1, start + length, strlen(start + length) + 1);
}

/* Where the choices are, the key of the one that approves, and those to choose from. */
struct choices {
	size_t first, end;
	char *key;
	struct strvec keys, labels;
};

static void choices_free(struct choices *choices)
{
	free(choices->key);
	strvec_clear(&choices->keys);
	strvec_clear(&choices->labels);
}

/* Exactly one choice approves, and it says that and no more; or all are for the user. */
static bool find_keys(const struct agent_question *question, const struct strvec *lines,
		      struct choices *choices)
{
	size_t count = 0;
	for (size_t i = choices->first; i < choices->end; i++) {
		char *picked = find(question->pick, lines->items[i]);
		char *key = find(question->yes, lines->items[i]);
		if (picked) {
			const char *line = lines->items[i];
			strvec_push(&choices->labels, line + strspn(line, " "));
			strvec_push_take(&choices->keys, picked);
		}
		if (!key)
			continue;
		count++;
		free(choices->key);
		choices->key = key;
		if (i + 1 < choices->end && !fits(question->choice, lines->items[i + 1]))
			return false;
	}
	return question->yes ? count == 1 : choices->keys.count;
}

/* Go up from the last line over the choices. */
static bool find_choices(const struct agent_question *question, const struct strvec *lines,
			 struct choices *choices)
{
	size_t i = lines->count - 1;
	/* The last line may be the choice that refuses. */
	remove_mark(question, lines->items[i]);
	while (i && !*lines->items[i - 1])
		i--;
	choices->end = i;
	for (; i && *lines->items[i - 1] && !fits(question->asks, lines->items[i - 1]); i--) {
		remove_mark(question, lines->items[i - 1]);
		/* Between two choices there is only the rest of a long one. */
		if (*lines->items[i - 1] != ' ')
			return false;
	}
	choices->first = i;
	while (i && !*lines->items[i - 1])
		i--;
	return i && choices->first < choices->end &&
	       (!question->asks || fits(question->asks, lines->items[i - 1])) &&
	       fits(question->choice, lines->items[choices->first]) &&
	       find_keys(question, lines, choices);
}

/* Go up from the choices to the title.  Without a line above it that nothing else can contain, the
 * highest title counts: the agent's words below may look like another one. */
static enum permission_form find_title(const struct agent_question *question,
				       const struct strvec *lines, size_t choices, size_t *ret)
{
	size_t i = choices, title = 0;
	for (int edges = question->edge ? 2 : 0; i && edges; i--)
		edges -= fits(question->edge, lines->items[i - 1]);
	if (question->above) {
		while (i && !fits(question->above, lines->items[i - 1]))
			i--;
		title = i;
	} else {
		while (title < i && !fits(question->title, lines->items[title]))
			title++;
		i -= title;
	}
	if (!i)
		return question->above ? PERMISSION_CUT : PERMISSION_NONE;
	*ret = title;
	return fits(question->title, lines->items[title]) ? PERMISSION_WHOLE : PERMISSION_NONE;
}

/* A frame is around all lines of it (the last one may be a part of the frame), or around none: else
 * what looks like a frame may be the end of a command. */
static bool has_even_frame(const char *frames, size_t title, size_t last)
{
	for (size_t i = title; i < last; i++)
		if (frames[i] != frames[title])
			return false;
	return true;
}

/* Does the agent say that it does not show all of it? */
static bool hides_lines(const struct agent_question *question, const struct strvec *lines,
			size_t title)
{
	for (size_t i = title; i < lines->count; i++)
		if (fits(question->hidden, lines->items[i]))
			return true;
	return false;
}

/* A difference above the question. */
struct change {
	size_t first; /* its first line, which says the rest */
	char *file;
	unsigned long added, removed;
};

static void change_free(struct change *change)
{
	free(change->file);
}

static bool read_change(const char *pattern, const char *line, struct change *ret)
{
	regex_t regex;
	regmatch_t found[4];
	if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
		return false;
	const bool is = regex.re_nsub == 3 &&
			regexec(&regex, line, ARRAY_SIZE(found), found, 0) == 0 &&
			found[1].rm_so >= 0 && found[2].rm_so >= 0 && found[3].rm_so >= 0;
	regfree(&regex);
	if (!is)
		return false;
	ret->file = xstrndup(line + found[1].rm_so, (size_t)(found[1].rm_eo - found[1].rm_so));
	ret->added = strtoul(line + found[2].rm_so, NULL, 10);
	ret->removed = strtoul(line + found[3].rm_so, NULL, 10);
	return true;
}

/* Go up to the first line of the difference.  Anything else in between may be its model's words. */
static enum permission_form find_change(const struct agent_question *question,
					const struct strvec *lines, const char *shades,
					size_t title, struct change *ret)
{
	for (size_t i = title; i-- > 0;) {
		ret->first = i;
		if (read_change(question->change, lines->items[i], ret))
			return PERMISSION_WHOLE;
		if (*lines->items[i] && shades[i] != '#' &&
		    !fits(question->beside, lines->items[i]))
			return PERMISSION_NONE;
	}
	return PERMISSION_CUT;
}

/* Where "+" or "-" is in a line that begins with its number.  0: it does not. */
static size_t sign_column(const char *line)
{
	const size_t number = strspn(line, " ");
	const size_t end = number + strspn(line + number, "0123456789");
	return end > number && line[end] == ' ' ? end + 1 : 0;
}

/* A line may be cut at its end.  If there are as many lines as a preview shows, more may be hidden.
 * The rest of a long line is below its text, and may look like another line further to the right. */
static bool shows_all(const struct agent_question *question, const struct change *change,
		      const struct strvec *lines, const char *shades, size_t title)
{
	const size_t sign = sign_column(lines->items[change->first + 1]);
	unsigned long count = 0, added = 0, removed = 0;
	for (size_t i = change->first + 1; i < title; i++) {
		const char *line = lines->items[i];
		if (shades[i] != '#')
			continue;
		count++;
		if (sign && sign_column(line) == sign) {
			added += line[sign] == '+';
			removed += line[sign] == '-';
		} else if (*line && strspn(line, " ") <= sign) {
			return false;
		}
	}
	return added + removed && added == change->added && removed == change->removed &&
	       count != strtoul(or_empty(question->preview), NULL, 10);
}

/* Does the question name the file?  The difference names it as a part of the path. */
static bool names_file(const struct agent_question *question, const struct strvec *lines,
		       size_t title, const char *file)
{
	file += starts_with(file, "~/") ? strlen("~/") : 0;
	for (size_t i = title; i < lines->count; i++) {
		cleanup_free char *path = find(question->target, lines->items[i]);
		const size_t length = strlen(or_empty(path)), part = strlen(file);
		if (path && length >= part && streq(path + length - part, file) &&
		    (length == part || path[length - part - 1] == '/'))
			return true;
	}
	return false;
}

/* What it is about, where that is above the question: *first moves up to it. */
static enum permission_form add_change(const struct agent_question *question,
				       const struct strvec *lines, const char *shades,
				       size_t *first)
{
	CLEANUP(change_free) struct change change = { 0 };
	const size_t title = *first;
	const enum permission_form form = find_change(question, lines, shades, title, &change);
	if (form != PERMISSION_WHOLE)
		return form;
	if (!names_file(question, lines, title, change.file))
		return PERMISSION_NONE;
	*first = change.first;
	return shows_all(question, &change, lines, shades, title) ? PERMISSION_WHOLE
								  : PERMISSION_CUT;
}

static void take(const struct agent_question *question, const struct strvec *lines, size_t first,
		 struct permission *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	for (size_t i = first; i < lines->count; i++)
		strbuf_addf(&text, "%s\n", lines->items[i]);
	ret->text = strbuf_take(&text);
	ret->no_key = xstrdup(question->deny);
	(void)sha256_text(ret->text, ret->digest);
}

static enum permission_form read_question(const struct agent_question *question,
					  const struct display_screen *screen,
					  struct permission *ret)
{
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_strbuf struct strbuf frames = { 0 };
	CLEANUP(choices_free) struct choices choices = { 0 };
	enum permission_form form = PERMISSION_NONE;
	size_t title = 0;
	if (split(question, screen->text, &lines, &frames) && lines.count &&
	    fits(question->below, lines.items[lines.count - 1]) &&
	    find_choices(question, &lines, &choices))
		form = find_title(question, &lines, choices.first, &title);
	if (form == PERMISSION_WHOLE &&
	    !has_even_frame(strbuf_text(&frames), title, lines.count - 1))
		form = PERMISSION_NONE;
	if (form == PERMISSION_WHOLE && question->change)
		form = add_change(question, &lines, screen->shades, &title);
	if (form == PERMISSION_WHOLE && hides_lines(question, &lines, title))
		form = PERMISSION_CUT;
	if (form == PERMISSION_WHOLE) {
		take(question, &lines, title, ret);
		ret->yes_key = TAKE_PTR(choices.key);
		strvec_push_all(&ret->choices, &choices.keys);
		strvec_push_all(&ret->labels, &choices.labels);
	}
	return form;
}

enum permission_form permission_read(const struct agent *agent, const char *styled,
				     struct permission *ret)
{
	cleanup_display_screen struct display_screen screen = { 0 };
	display_read(styled, &screen);
	enum permission_form best = PERMISSION_NONE;
	for (size_t i = 0; i < agent->questions.count && best != PERMISSION_WHOLE; i++) {
		const enum permission_form form = read_question(agent->questions.items + i, &screen,
								ret);
		if (form > best)
			best = form;
	}
	return best;
}
