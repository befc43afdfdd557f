/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/screen.h"

#include "base/clock.h"
#include "base/fsutil.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <wchar.h>

/* An escape sequence arrives in one piece, or nearly; a finger is slower. */
enum { ESCAPE_MS = 50, DOUBLE_MS = 1000 };

static const int ending_signals[] = { SIGTERM, SIGINT, SIGHUP };

int screen_watch_signals(struct screen *screen, bool is_deaf, struct error *err)
{
	sigset_t watched;
	sigemptyset(&watched);
	sigaddset(&watched, SIGWINCH);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++) {
		/* An ignored signal never becomes pending, so reset a disposition that we
		 * inherited. */
		signal(ending_signals[i], is_deaf ? SIG_IGN : SIG_DFL);
		if (!is_deaf)
			sigaddset(&watched, ending_signals[i]);
	}
	sigprocmask(SIG_SETMASK, &watched, NULL);
	int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return error_set_errno(err, errno, "watch signals");
	screen->signals = fd;
	screen->is_deaf = is_deaf;
	return 0;
}

/* We notice a lost terminal where we read from it. */
static void put(const char *text)
{
	(void)fs_write_all(STDOUT_FILENO, text, strlen(text), "terminal", NULL);
}

int screen_open(struct screen *screen, struct error *err)
{
	struct termios raw;
	if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
		setlocale(LC_CTYPE, "C.UTF-8");
	if (tcgetattr(STDIN_FILENO, &raw) < 0)
		return error_set_errno(err, errno, "ask for the terminal's settings");
	screen->saved = raw;
	/* Keep output processing: "\n" then goes to the start of the next line. */
	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_oflag |= OPOST | ONLCR;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return error_set_errno(err, errno, "change the terminal's settings");
	screen->is_open = true;
	put("\033[?2004h");
	return 0;
}

static void erase_prompt(struct screen *screen)
{
	cleanup_strbuf struct strbuf out = { 0 };
	if (screen->cursor_row)
		strbuf_addf(&out, "\033[%uA", screen->cursor_row);
	strbuf_adds(&out, "\r\033[J");
	screen->cursor_row = 0;
	put(out.data);
}

void screen_close(struct screen *screen)
{
	if (screen->is_open) {
		erase_prompt(screen);
		put("\033[?2004l");
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->saved);
	}
	screen->is_open = false;
	keys_free(&screen->keys);
	strbuf_free(&screen->line);
	strvec_clear(&screen->queue);
}

void screen_print(struct screen *screen, const char *text)
{
	cleanup_strbuf struct strbuf out = { 0 };
	for (const char *next = text;;) {
		const char *end = strchrnul(next, '\n');
		cleanup_free char *line = xstrndup(next, (size_t)(end - next));
		strbuf_add_visible(&out, line);
		strbuf_adds(&out, "\n");
		if (!*end)
			break;
		next = end + 1;
	}
	if (screen->is_open)
		erase_prompt(screen);
	put(out.data);
}

void screen_wipe(struct screen *screen)
{
	screen->cursor_row = 0;
	put("\033[H\033[2J\033[3J");
}

/* Append the visible form of the character at text.  Returns its bytes; *ret_width is its
 * columns. */
static size_t show_character(const char *text, size_t left, struct strbuf *row, unsigned *ret_width)
{
	wchar_t character;
	mbstate_t state = { 0 };
	size_t length = mbrtowc(&character, text, left, &state);
	int width = length == 0 || length > left ? -1 : wcwidth(character);
	if (width < 0) {
		strbuf_adds(row, *text == '\t' ? " " : "?");
		*ret_width = 1;
		return 1;
	}
	strbuf_add(row, text, length);
	*ret_width = (unsigned)width;
	return length;
}

struct layout {
	struct strvec rows;
	unsigned cursor_row, cursor_column;
};

/* Break the prompt and the line into rows ourselves, so that we know where the cursor is. */
static void lay_out(const struct screen *screen, unsigned columns, struct layout *ret)
{
	cleanup_strbuf struct strbuf row = { 0 };
	const char *text = strbuf_text(&screen->line);
	unsigned column = 2, width;
	/* "!" at the beginning is the mark of the shell mode, as in claude. */
	const size_t start = *text == '!';
	strbuf_adds(&row, start ? "! " : "❯ ");
	for (size_t i = start;;) {
		cleanup_strbuf struct strbuf shown = { 0 };
		size_t length = 0;
		if (i < screen->line.length && text[i] != '\n')
			length = show_character(text + i, screen->line.length - i, &shown, &width);
		if (length && column + width >= columns) {
			strvec_push_take(&ret->rows, strbuf_take(&row));
			column = 0;
		}
		if (i == screen->cursor || screen->cursor < start) {
			ret->cursor_row = (unsigned)ret->rows.count;
			ret->cursor_column = column;
		}
		if (i >= screen->line.length)
			break;
		if (length) {
			strbuf_add(&row, shown.data, shown.length);
			column += width;
			i += length;
			continue;
		}
		strvec_push_take(&ret->rows, strbuf_take(&row));
		strbuf_adds(&row, "  ");
		column = 2;
		i++;
	}
	strvec_push_take(&ret->rows, strbuf_take(&row));
}

static void draw(struct screen *screen)
{
	struct winsize size = { 0 };
	struct layout layout = { 0 };
	cleanup_strbuf struct strbuf out = { 0 };
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	size_t height = size.ws_row > 3 ? size.ws_row - 1u : 2;
	lay_out(screen, size.ws_col > 8 ? size.ws_col : 80, &layout);

	/* If not all rows fit, show the part around the cursor, which is then on the last row. */
	size_t first = 0, end = layout.rows.count;
	if (end > height) {
		end = layout.cursor_row + 1 > height ? layout.cursor_row + 1 : height;
		first = end - height;
	}
	if (screen->cursor_row)
		strbuf_addf(&out, "\033[%uA", screen->cursor_row);
	strbuf_adds(&out, "\r\033[J");
	for (size_t i = first; i < end; i++)
		strbuf_addf(&out, "%s%s", i > first ? "\n" : "", layout.rows.items[i]);
	size_t below = end - 1 - layout.cursor_row;
	if (below)
		strbuf_addf(&out, "\033[%zuA", below);
	strbuf_adds(&out, "\r");
	if (layout.cursor_column)
		strbuf_addf(&out, "\033[%uC", layout.cursor_column);
	screen->cursor_row = layout.cursor_row - (unsigned)first;
	strvec_clear(&layout.rows);
	put(out.data);
}

static void insert(struct screen *screen, const char *text, size_t length)
{
	cleanup_free char *rest = xstrdup(strbuf_text(&screen->line) + screen->cursor);
	screen->line.length = screen->cursor;
	strbuf_add(&screen->line, text, length);
	strbuf_adds(&screen->line, rest);
	screen->cursor += length;
}

static void erase(struct screen *screen, size_t start, size_t end)
{
	cleanup_free char *rest = xstrdup(strbuf_text(&screen->line) + end);
	screen->line.length = start;
	strbuf_adds(&screen->line, rest);
	screen->cursor = start;
}

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t before(const struct screen *screen, size_t at)
{
	const char *text = strbuf_text(&screen->line);
	if (at > 0)
		at--;
	while (at > 0 && is_continuation(text[at]))
		at--;
	return at;
}

static size_t after(const struct screen *screen, size_t at)
{
	const char *text = strbuf_text(&screen->line);
	if (at < screen->line.length)
		at++;
	while (at < screen->line.length && is_continuation(text[at]))
		at++;
	return at;
}

static size_t word_start(const struct screen *screen)
{
	const char *text = strbuf_text(&screen->line);
	size_t at = screen->cursor;
	while (at > 0 && strchr(" \t\n", text[at - 1]))
		at--;
	while (at > 0 && !strchr(" \t\n", text[at - 1]))
		at--;
	return at;
}

/* A backslash turns Enter into a line break.  Blanks at the end are not sent. */
static void enter(struct screen *screen)
{
	const char *text = strbuf_text(&screen->line);
	if (screen->cursor && text[screen->cursor - 1] == '\\') {
		erase(screen, screen->cursor - 1, screen->cursor);
		insert(screen, "\n", 1);
		return;
	}
	size_t length = screen->line.length;
	while (length && text[length - 1] == ' ')
		length--;
	strvec_push_take(&screen->queue, xstrndup(text, length));
	screen->kept = screen->line.length;
	if (screen->keep_ms)
		screen->kept_until_ms = clock_ms() + screen->keep_ms;
	else
		erase(screen, 0, screen->line.length);
}

/* Remove the entered line from the prompt, and keep what was typed after it. */
static void drop_kept(struct screen *screen)
{
	if (!screen->kept_until_ms || clock_ms() < screen->kept_until_ms)
		return;
	if (screen->line.length == screen->kept)
		erase(screen, 0, screen->line.length);
	screen->kept_until_ms = 0;
}

/* Returns ms (-1: forever), or less if the entered line must leave the prompt earlier. */
static int until_dropped(const struct screen *screen, int ms)
{
	int left = screen->kept_until_ms ? clock_left_ms(screen->kept_until_ms) : -1;
	return left >= 0 && (ms < 0 || left < ms) ? left : ms;
}

static void edit(struct screen *screen, enum key key, const struct strbuf *text)
{
	switch (key) {
	case KEY_TEXT:
		if (screen->draft) {
			insert(screen, screen->draft, strlen(screen->draft));
			screen->draft = NULL;
		}
		insert(screen, text->data, text->length);
		break;
	case KEY_ENTER:
		enter(screen);
		break;
	case KEY_BACKSPACE:
		erase(screen, before(screen, screen->cursor), screen->cursor);
		break;
	case KEY_DELETE:
		erase(screen, screen->cursor, after(screen, screen->cursor));
		break;
	case KEY_LEFT:
		screen->cursor = before(screen, screen->cursor);
		break;
	case KEY_RIGHT:
		screen->cursor = after(screen, screen->cursor);
		break;
	case KEY_HOME:
		screen->cursor = 0;
		break;
	case KEY_END:
		screen->cursor = screen->line.length;
		break;
	case KEY_ERASE_LINE:
		erase(screen, 0, screen->line.length);
		break;
	case KEY_ERASE_WORD:
		erase(screen, word_start(screen), screen->cursor);
		break;
	default:
		break;
	}
}

/* Returns true when a signal tells us to end. */
static bool take_signal(struct screen *screen)
{
	struct signalfd_siginfo info;
	while (read(screen->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			continue;
		screen->signal_number = (int)info.ssi_signo;
		return true;
	}
	return false;
}

/* Wait for bytes or a signal.  SCREEN_DONE: something came; SCREEN_IDLE: the time is over. */
static enum screen_event receive(struct screen *screen, int timeout_ms)
{
	char chunk[4096];
	struct pollfd events[] = {
		{ .fd = screen->signals, .events = POLLIN },
		{ .fd = screen->is_open && !screen->is_gone ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int n = poll(events, ARRAY_SIZE(events), timeout_ms);
	if (n == 0)
		return SCREEN_IDLE;
	if (n > 0 && events[0].revents && take_signal(screen))
		return SCREEN_SIGNAL;
	if (n < 0 || !events[1].revents)
		return SCREEN_DONE;
	ssize_t length = read(STDIN_FILENO, chunk, sizeof(chunk));
	if (length > 0) {
		keys_add(&screen->keys, chunk, (size_t)length);
		return SCREEN_DONE;
	}
	if (length < 0 && (errno == EINTR || errno == EAGAIN))
		return SCREEN_DONE;
	screen->is_gone = true;
	if (screen->is_deaf)
		return SCREEN_DONE;
	screen->signal_number = SIGHUP;
	return SCREEN_SIGNAL;
}

/* Ctrl-C at the prompt.  Returns true if it was the second one within a moment. */
static bool interrupt_prompt(struct screen *screen)
{
	int64_t now = clock_ms();
	bool was_empty = screen->line.length == 0;
	bool is_second = was_empty && screen->last_interrupt_ms &&
			 now - screen->last_interrupt_ms < DOUBLE_MS;
	erase(screen, 0, screen->line.length);
	screen->last_interrupt_ms = was_empty ? now : 0;
	if (was_empty && !is_second)
		screen_print(screen, "(Ctrl-C again to end)");
	return is_second;
}

/* Apply the pending keys up to a whole line.  SCREEN_DONE: none of them ended anything. */
static enum screen_event apply_keys(struct screen *screen, bool is_complete)
{
	while (screen->queue.count == 0) {
		cleanup_strbuf struct strbuf text = { 0 };
		enum key key = keys_take(&screen->keys, is_complete, &text);
		if (key == KEY_NONE)
			break;
		if (key == KEY_INTERRUPT && interrupt_prompt(screen))
			return SCREEN_END;
		if (key == KEY_END_OF_INPUT && screen->line.length == 0)
			return SCREEN_END;
		if (key != KEY_INTERRUPT)
			edit(screen, key, &text);
	}
	return SCREEN_DONE;
}

static char *take_line(struct screen *screen)
{
	struct strvec *queue = &screen->queue;
	char *line = queue->items[0];
	memmove(queue->items, queue->items + 1, queue->count * sizeof(*queue->items));
	queue->count--;
	return line;
}

enum screen_event screen_ask(struct screen *screen, int idle_ms, char **ret)
{
	bool is_complete = false;
	for (;;) {
		drop_kept(screen);
		if (apply_keys(screen, is_complete) == SCREEN_END)
			return SCREEN_END;
		if (screen->queue.count) {
			*ret = take_line(screen);
			erase_prompt(screen);
			return SCREEN_DONE;
		}
		bool is_partial = !is_complete &&
				  (screen->keys.pasting || keys_are_waiting(&screen->keys));
		/* A long paste comes in many pieces: lay it out once. */
		if (!is_partial)
			draw(screen);
		int wait = is_partial ? ESCAPE_MS : idle_ms;
		enum screen_event event = receive(screen, until_dropped(screen, wait));
		if (event == SCREEN_IDLE && until_dropped(screen, wait) != wait)
			continue;
		if (event == SCREEN_SIGNAL || (event == SCREEN_IDLE && !is_partial))
			return event;
		is_complete = event == SCREEN_IDLE;
	}
}

enum screen_event screen_view(struct screen *screen, const char *text)
{
	bool is_complete = false;
	put(text);
	for (;;) {
		cleanup_strbuf struct strbuf swallowed = { 0 };
		enum key key = keys_take(&screen->keys, is_complete, &swallowed);
		if (key == KEY_ESCAPE)
			break;
		if (key != KEY_NONE)
			continue;
		enum screen_event event = receive(screen,
						  keys_are_waiting(&screen->keys) ? ESCAPE_MS : -1);
		if (event == SCREEN_SIGNAL)
			return event;
		is_complete = event == SCREEN_IDLE;
	}
	put("\r\033[J");
	return SCREEN_DONE;
}

enum screen_event screen_choose(struct screen *screen, unsigned count, unsigned *ret)
{
	bool is_complete = false;
	enum key key;
	do {
		cleanup_strbuf struct strbuf typed = { 0 };
		key = keys_take(&screen->keys, is_complete, &typed);
		const char digit = *strbuf_text(&typed);
		if (key == KEY_TEXT && digit >= '1' && (unsigned)(digit - '0') <= count) {
			*ret = (unsigned)(digit - '0');
			return SCREEN_DONE;
		}
		if (key != KEY_NONE)
			continue;
		enum screen_event event = receive(screen,
						  keys_are_waiting(&screen->keys) ? ESCAPE_MS : -1);
		if (event == SCREEN_SIGNAL)
			return event;
		is_complete = event == SCREEN_IDLE;
	} while (key != KEY_ESCAPE);
	return SCREEN_INTERRUPTED;
}

/* Apply keys typed during a pause.  Returns true if one of them interrupts it. */
static bool apply_early_keys(struct screen *screen, bool is_complete)
{
	for (;;) {
		cleanup_strbuf struct strbuf text = { 0 };
		enum key key = keys_take(&screen->keys, is_complete, &text);
		if (key == KEY_NONE)
			return false;
		if (key == KEY_INTERRUPT || key == KEY_ESCAPE)
			return true;
		edit(screen, key, &text);
	}
}

enum screen_event screen_pause(struct screen *screen, const char *note, int ms)
{
	int64_t deadline = clock_ms() + ms;
	enum screen_event event = SCREEN_DONE;
	bool is_complete = false;
	const bool is_shown = note && screen->is_open;
	if (is_shown) {
		put(note);
		put("\n");
	}
	for (;;) {
		drop_kept(screen);
		int left = until_dropped(screen, clock_left_ms(deadline));
		if (screen->is_open && apply_early_keys(screen, is_complete)) {
			event = SCREEN_INTERRUPTED;
			break;
		}
		if (clock_left_ms(deadline) == 0)
			break;
		if (is_shown && !screen->keys.pasting)
			draw(screen);
		bool is_partial = keys_are_waiting(&screen->keys) && !is_complete;
		int wait = is_partial && left > ESCAPE_MS ? ESCAPE_MS : left;
		enum screen_event received = receive(screen, wait);
		if (received == SCREEN_SIGNAL) {
			event = SCREEN_SIGNAL;
			break;
		}
		is_complete = received == SCREEN_IDLE && wait == ESCAPE_MS;
	}
	if (is_shown) {
		erase_prompt(screen);
		put("\033[A\r\033[J");
	}
	return event;
}
