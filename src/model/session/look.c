/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/look.h"

#include "base/text.h"

#include <string.h>

/* ---- states ----------------------------------------------------------------------------------- */

static const struct {
	const char *word, *sign, *plain, *phrase;
	enum tone tone;
} states[DOING_COUNT] = {
	[DOING_ASKS] = { "asks", "?", "?", "asks you", TONE_WAITING },
	[DOING_WAITING] = { "waiting", "?", "?", "waits for you", TONE_WAITING },
	[DOING_ERROR] = { "error", "!", "!", "is in error: it should run", TONE_ERROR },
	[DOING_UNKNOWN] = { "unknown", "~", "~", "does not answer", TONE_WARNING },
	[DOING_BUSY] = { "busy", "●", "*", "is busy", TONE_BUSY },
	[DOING_IDLE] = { "idle", "○", "=", "is idle", TONE_IDLE },
	[DOING_RUNNING] = { "running", "○", "=", "runs; unknown what it does", TONE_IDLE },
	[DOING_STARTING] = { "starting", ">", ">", "is starting", TONE_BUSY },
	[DOING_STOPPING] = { "stopping", "<", "<", "is stopping", TONE_FAINT },
	[DOING_ASLEEP] = { "asleep", "z", "z", "is asleep", TONE_FAINT },
	[DOING_STOPPED] = { "stopped", "·", ".", "is stopped", TONE_FAINT },
};

const char *doing_name(enum doing doing)
{
	return states[doing].word;
}

enum tone doing_tone(enum doing doing)
{
	return states[doing].tone;
}

const char *doing_sign(enum doing doing, bool is_plain)
{
	return is_plain ? states[doing].plain : states[doing].sign;
}

const char *pin_sign(bool is_plain)
{
	return is_plain ? "^" : "★";
}

const char *doing_phrase(enum doing doing)
{
	return states[doing].phrase;
}

/* ---- colours ---------------------------------------------------------------------------------- */

const char *const theme_names[] = {
	[THEME_DEFAULT] = "default",         [THEME_DARK] = "dark", [THEME_LIGHT] = "light",
	[THEME_COLOR_BLIND] = "color-blind", [THEME_COUNT] = NULL,
};

/* The default has no colour that a light or a dark background hides, also where bold is bright: no
 * yellow, cyan or blue.  Orange, purple and blue differ for every eye; error is underlined, too. */
static const struct {
	const char *name;
	const char *styles[THEME_COUNT];
} parts[TONE_COUNT] = {
	[TONE_PLAIN] = { "text", { "", "", "", "" } },
	[TONE_FAINT] = { "faint", { "faint", "245", "242", "faint" } },
	[TONE_HEADER] = { "header", { "bold", "bold", "bold", "bold" } },
	[TONE_GROUP] = { "group", { "bold", "bold 111", "bold 25", "bold" } },
	[TONE_WAITING] = { "waiting", { "bold magenta", "bold 221", "bold 130", "bold #c87000" } },
	[TONE_ERROR] = { "error",
			 { "bold red", "bold 203", "bold 124", "bold underline #b8478c" } },
	[TONE_WARNING] = { "warning", { "bold", "bold 215", "bold 94", "bold" } },
	[TONE_BUSY] = { "busy", { "green", "114", "28", "#2f8fd0" } },
	[TONE_IDLE] = { "idle", { "", "", "", "" } },
	[TONE_KEY] = { "key", { "bold", "bold 117", "bold 24", "bold" } },
};

void skin_init(struct skin *ret, enum theme theme, const struct strvec *colors)
{
	for (size_t i = 0; i < TONE_COUNT; i++)
		(void)style_parse(parts[i].styles[theme], &ret->styles[i], NULL);
	for (size_t i = 0; i < colors->count; i++)
		(void)skin_set(ret, colors->items[i], NULL);
}

int skin_set(struct skin *skin, const char *text, struct error *err)
{
	cleanup_strbuf struct strbuf names = { 0 };
	const size_t length = strcspn(text, "=");
	for (size_t i = 0; i < TONE_COUNT; i++) {
		strbuf_addf(&names, "%s%s", i ? ", " : "", parts[i].name);
		if (text[length] && strlen(parts[i].name) == length &&
		    strncmp(parts[i].name, text, length) == 0)
			return style_parse(text + length + 1, &skin->styles[i], err);
	}
	return error_set(err, ERROR_INVALID, "\"%s\" is not PART=COLOUR: the parts are %s", text,
			 strbuf_text(&names));
}
