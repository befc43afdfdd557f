/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The commands that a role runs in its container.
 */
#include "model/role/role-internal.h"

static enum role_event event_of(const struct reading *reading)
{
	unsigned event = 0;
	while (event + 1 < ROLE_EVENT_COUNT &&
	       !streq(role_event_key(event), reading->path.items[0]))
		event++;
	return event;
}

static void keep_text(struct reading *reading, struct json_object *value)
{
	const bool is_text = json_object_is_type(value, json_type_string);
	replace_string(&reading->role->texts[event_of(reading)],
		       is_text ? json_object_get_string(value)
			       : json_object_to_json_string_ext(
					 value,
					 JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* False: an element is no text, and that was found. */
static bool read_words(struct reading *reading, struct json_object *value, struct strvec *ret)
{
	if (!role_texts(reading, value, ret))
		return false;
	const bool has_program = ret->count > 0 && *ret->items[0];
	if (!has_program)
		role_find(reading, ROLE_REFUSED, "it names no program");
	return has_program;
}

static bool read_argv(struct reading *reading, struct json_object *value, struct strvec *ret)
{
	if (json_object_is_type(value, json_type_array))
		return read_words(reading, value, ret);
	char *text = role_text(reading, value, ROLE_REFUSED);
	if (!text)
		return false;
	strvec_push_array(ret, (const char *const[]){ "/bin/sh", "-c", NULL });
	strvec_push_take(ret, text);
	return true;
}

static void add_command(struct reading *reading, struct json_object *value)
{
	struct role *role = reading->role;
	struct role_command command = { .event = event_of(reading) };
	if (!read_argv(reading, value, &command.argv)) {
		strvec_clear(&command.argv);
		return;
	}
	role->commands = xreallocarray(role->commands, role->command_count + 1, sizeof(command));
	role->commands[role->command_count++] = command;
}

void role_read_command(struct reading *reading, struct json_object *value)
{
	keep_text(reading, value);
	if (!json_object_is_type(value, json_type_object)) {
		add_command(reading, value);
		return;
	}
	json_object_object_foreach(value, name, item) {
		role_enter(reading, name);
		add_command(reading, item);
		role_leave(reading);
	}
}

void role_leave_command(struct reading *reading, struct json_object *value)
{
	keep_text(reading, value);
	const enum role_event event = event_of(reading);
	role_find(reading, ROLE_NOTE, "%s: %s",
		  event == ROLE_INITIALIZE ? "it would run on this machine, and never does"
					   : "agentdeck does not run it: the agent can",
		  reading->role->texts[event]);
}
