/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/face-fixture.h"

#include "base/child.h"

#define NCURSES_WIDECHAR         1
#define NCURSES_NOMACROS         1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <fcntl.h>
#include <ncurses.h>
#include <wchar.h>

enum { LOOKS_MAX = 40, TIC_MS = 20000 };

/* What a terminal gets is thrown away: only how many colours it has counts. */
static const char descriptions[] =
	"face-256,colors#256,pairs#32767,use=xterm-256color,\n"
	"face-8,colors#8,pairs#64,use=xterm-256color,\n"
	"face-16,colors#16,pairs#256,use=xterm-256color,\n"
	"face-true,RGB,colors#0x1000000,pairs#0x7FFF,use=xterm-256color,\n";

static struct {
	char directory[32];
	int standard_output; /* while a face is there, 1 is /dev/null */
} stage;

static int run(const char *const *argv)
{
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = { .argv = argv, .max_output = 4096 };
	return child_run(&request, TIC_MS, &result, NULL) < 0 ? -1 : result.exit_status;
}

bool face_set_up(void)
{
	(void)snprintf(stage.directory, sizeof(stage.directory), "/tmp/face-XXXXXX");
	assert_non_null(mkdtemp(stage.directory));
	cleanup_free char *source = xasprintf("%s/source", stage.directory);
	FILE *file = fopen(source, "we");
	assert_non_null(file);
	assert_true(fputs(descriptions, file) >= 0);
	assert_int_equal(fclose(file), 0);
	(void)setenv("TERMINFO", stage.directory, 1);
	return run((const char *const[]){ "tic", "-x", "-o", stage.directory, source, NULL }) == 0;
}

void face_tear_down(void)
{
	(void)run((const char *const[]){ "rm", "-rf", stage.directory, NULL });
}

void face_begin(const struct face *face)
{
	static const char *const names[FACE_KINDS] = {
		[FACE_256] = "face-256",   [FACE_8] = "face-8",          [FACE_16] = "face-16",
		[FACE_TRUE] = "face-true", [FACE_NO_COLOR] = "face-256", [FACE_ASCII] = "face-8",
	};
	const struct strvec none = { 0 };
	struct skin skin;
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	(void)fflush(stdout);
	stage.standard_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(nowhere >= 0 && stage.standard_output >= 0);
	assert_int_equal(dup2(nowhere, STDOUT_FILENO), STDOUT_FILENO);
	(void)close(nowhere);
	(void)setenv("TERM", names[face->kind], 1);
	assert_int_equal(term_begin(face->kind != FACE_NO_COLOR, NULL), 0);
	assert_int_equal(resizeterm(face->rows, face->columns), OK);
	skin_init(&skin, face->theme, &none);
	term_use_skin(&skin);
	term_use_symbols(face->kind == FACE_ASCII);
}

void face_resize(unsigned short columns, unsigned short rows)
{
	assert_int_equal(resizeterm(rows, columns), OK);
}

void face_end(void)
{
	term_end();
	(void)fflush(stdout);
	(void)dup2(stage.standard_output, STDOUT_FILENO);
	(void)close(stage.standard_output);
}

/* ---- what is drawn ---------------------------------------------------------------------------- */

struct cell {
	wchar_t text[CCHARW_MAX + 1];
	attr_t attributes;
	int foreground, background;
	int width;
};

static struct cell cell_at(int row, int column)
{
	struct cell cell = { 0 };
	cchar_t raw;
	short pair = 0;
	int extended = 0;
	(void)mvin_wch(row, column, &raw);
	(void)getcchar(&raw, cell.text, &cell.attributes, &pair, &extended);
	cell.foreground = cell.background = -1;
	if (pair)
		(void)extended_pair_content(pair, &cell.foreground, &cell.background);
	cell.width = wcwidth(cell.text[0]);
	cell.width = cell.width < 1 ? 1 : cell.width;
	return cell;
}

static void add_color(struct strbuf *text, const char *before, int color)
{
	static const char *const names[] = { "black", "red",     "green", "yellow",
					     "blue",  "magenta", "cyan",  "white" };
	if (color < 0)
		return;
	strbuf_adds(text, before);
	if (color < 8)
		strbuf_adds(text, names[color]);
	else if (COLORS > 256)
		strbuf_addf(text, "#%06x", (unsigned)color);
	else
		strbuf_addf(text, "%d", color);
}

/* "bold magenta", as [ui] colors has them; "" for a plain one.  The caller frees. */
static char *look_of(const struct cell *cell)
{
	static const struct {
		attr_t attribute;
		const char *name;
	} attributes[] = {
		{ A_BOLD, " bold" },           { A_DIM, " faint" },       { A_ITALIC, " italic" },
		{ A_UNDERLINE, " underline" }, { A_REVERSE, " reverse" },
	};
	struct strbuf text = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (cell->attributes & attributes[i].attribute)
			strbuf_adds(&text, attributes[i].name);
	add_color(&text, " ", cell->foreground);
	add_color(&text, " on ", cell->background);
	char *whole = strbuf_take(&text);
	char *look = xstrdup(*whole ? whole + 1 : "");
	free(whole);
	return look;
}

static char letter_of(struct strvec *looks, const struct cell *cell)
{
	cleanup_free char *look = look_of(cell);
	size_t at = 0;
	if (!*look)
		return ' ';
	while (at < looks->count && !streq(looks->items[at], look))
		at++;
	if (at == looks->count)
		strvec_push(looks, look);
	assert_true(at < LOOKS_MAX);
	return (char)(at < 26 ? 'a' + (int)at : 'A' + (int)at - 26);
}

static void end_line(struct strbuf *page, size_t from)
{
	while (page->length > from && page->data[page->length - 1] == ' ')
		page->data[--page->length] = '\0';
	strbuf_adds(page, "\n");
}

char *face_text(bool with_styles)
{
	struct strbuf page = { 0 };
	cleanup_strbuf struct strbuf styles = { 0 };
	cleanup_strvec struct strvec looks = { 0 };
	for (int row = 0; row < (int)term_rows(); row++) {
		const size_t from = page.length, styles_from = styles.length;
		for (int column = 0; column < (int)term_columns();) {
			const struct cell cell = cell_at(row, column);
			const char letter = letter_of(&looks, &cell);
			strbuf_addf(&page, "%ls", cell.text);
			for (int i = 0; i < cell.width; i++)
				strbuf_addf(&styles, "%c", letter);
			column += cell.width;
		}
		end_line(&page, from);
		end_line(&styles, styles_from);
	}
	if (with_styles)
		strbuf_addf(&page, "--- styles\n%s", strbuf_text(&styles));
	for (size_t i = 0; with_styles && i < looks.count; i++)
		strbuf_addf(&page, "%s%c %s\n", i ? "" : "--- letters\n",
			    (char)(i < 26 ? 'a' + (int)i : 'A' + (int)i - 26), looks.items[i]);
	return strbuf_take(&page);
}
