/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The hooks that agent-deck has left in the agents' settings.  They act when AGENTDECK_INSTANCE_ID
 * is set, so they also act in sessions of ours.
 */
#include "driver/foreign/foreign-internal.h"

#include "base/fsutil.h"
#include "base/toml.h"

#include <fcntl.h>
#include <string.h>

#define HANDLER "agent-deck hook-handler"

/* An agent's settings, below its home. */
struct hooked {
	const char *variable; /* of its home; NULL: it has none */
	const char *home, *name;
};

static char *path_of(const struct foreign_place *place, const struct hooked *hooked)
{
	const char *home = hooked->variable ? place->lookup(hooked->variable) : NULL;
	cleanup_free char *usual = path_join(place->home, hooked->home);
	return path_join(home && *home == '/' ? home : usual, hooked->name);
}

static bool has_handler(const struct json_object *group)
{
	const struct json_object *hooks = json_get_array(group, "hooks");
	for (size_t i = 0; hooks && i < json_object_array_length(hooks); i++)
		if (streq(json_get_string(json_object_array_get_idx(hooks, i), "command", ""),
			  HANDLER))
			return true;
	return false;
}

/* In how many events of a settings.json is the handler? */
static size_t count_events(const struct json_object *settings)
{
	struct json_object *hooks = json_get_object(settings, "hooks");
	size_t count = 0;
	if (!hooks)
		return 0;
	json_object_object_foreach(hooks, event, value) {
		const struct json_object *groups = json_get_array(hooks, event);
		bool found = false;
		(void)value;
		for (size_t i = 0; groups && i < json_object_array_length(groups) && !found; i++)
			found = has_handler(json_object_array_get_idx(groups, i));
		count += found;
	}
	return count;
}

static void tell_unread(const char *path, const struct error *why, struct import_rows *ret)
{
	strvec_pushf(&ret->told, "%s may have hooks of agent-deck, but cannot be read: %s", path,
		     why->message);
}

static void tell_handlers(const char *path, struct import_rows *ret)
{
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error why = { 0 };
	int r = foreign_json(path, &settings, &why);
	const size_t count = r == 0 ? count_events(settings) : 0;
	if (r < 0)
		tell_unread(path, &why, ret);
	if (count)
		strvec_pushf(&ret->told,
			     "%s has hooks of agent-deck for %zu events, which also run in "
			     "sessions of agentdeck: remove the entries with '" HANDLER "'",
			     path, count);
}

/* codex: notify = ["agent-deck", "codex-notify"] */
static bool has_notify(const struct json_object *settings)
{
	const struct json_object *words = json_get_array(settings, "notify");
	return words && json_object_array_length(words) == 2 &&
	       streq(or_empty(json_object_get_string(json_object_array_get_idx(words, 0))),
		     "agent-deck") &&
	       streq(or_empty(json_object_get_string(json_object_array_get_idx(words, 1))),
		     "codex-notify");
}

static void tell_notify(const char *path, struct import_rows *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error why = { 0 };
	int r = fs_read(AT_FDCWD, path, FOREIGN_MAX_FILE, &text, &why);
	if (r == 0)
		r = toml_parse(strbuf_text(&text), text.length, path, &settings, &why);
	if (r < 0)
		tell_unread(path, &why, ret);
	if (r == 0 && has_notify(settings))
		strvec_pushf(&ret->told,
			     "%s calls agent-deck, also from sessions of agentdeck: remove "
			     "notify = [\"agent-deck\", \"codex-notify\"]",
			     path);
}

void foreign_tell_hooks(const struct foreign_place *place, struct import_rows *ret)
{
	static const struct hooked handlers[] = {
		{ "CLAUDE_CONFIG_DIR", ".claude", "settings.json" },
		{ NULL, ".gemini", "settings.json" },
	};
	static const struct hooked codex = { "CODEX_HOME", ".codex", "config.toml" };
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		cleanup_free char *path = path_of(place, handlers + i);
		tell_handlers(path, ret);
	}
	cleanup_free char *path = path_of(place, &codex);
	tell_notify(path, ret);
}
