/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/unit-internal.h"

#include "base/clock.h"

#include <string.h>

#define UNIT_EXISTS SYSTEMD1_NAME ".UnitExists"
#define NO_SUCH_UNIT SYSTEMD1_NAME ".NoSuchUnit"

/* A property that a manager may not know.  type: 's', 'b' or 't' of D-Bus. */
struct property {
	const char *name;
	char type;
	const char *text;
	uint64_t number; /* 0: not wanted; for a limit UINT64_MAX: none */
	bool recent;     /* systemd 247 does not know it for scopes */
};

enum { MAX_PROPERTIES = 9 };

static uint64_t limit_number(int64_t limit)
{
	return limit == LIMIT_INFINITY ? UINT64_MAX : (uint64_t)limit;
}

static size_t list_properties(const struct unit_scope *scope, struct property list[MAX_PROPERTIES])
{
	static const struct limits none = { 0 };
	const struct limits *limits = scope->limits ? scope->limits : &none;
	const struct property all[MAX_PROPERTIES] = {
		{ "CollectMode", 's', "inactive-or-failed", 1, false },
		{ "SendSIGHUP", 'b', NULL, 1, false },
		{ "TimeoutStopUSec", 't', NULL, scope->stop_timeout_s * UINT64_C(1000000), false },
		{ "MemoryHigh", 't', NULL, limit_number(limits->memory_high), false },
		{ "MemoryMax", 't', NULL, limit_number(limits->memory_max), false },
		{ "TasksMax", 't', NULL, limit_number(limits->tasks_max), false },
		{ "CPUWeight", 't', NULL, limit_number(limits->cpu_weight), false },
		/* 248 */
		{ "ManagedOOMPreference", 's', "avoid", 1, true },
		/* 253; some distributions have it in their 252 */
		{ "OOMPolicy", 's', "continue", 1, true },
	};
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].number)
			list[count++] = all[i];
	return count;
}

static int append_property(sd_bus_message *call, const struct property *property)
{
	switch (property->type) {
	case 's':
		return sd_bus_message_append(call, "(sv)", property->name, "s", property->text);
	case 'b':
		return sd_bus_message_append(call, "(sv)", property->name, "b",
					     (int)property->number);
	default:
		return sd_bus_message_append(call, "(sv)", property->name, "t", property->number);
	}
}

static int append_scope(sd_bus_message *call, const struct unit_scope *scope,
			const struct strvec *unknown)
{
	struct property list[MAX_PROPERTIES];
	size_t count = list_properties(scope, list);

	int r = sd_bus_message_append(call, "ss", scope->name, "fail");
	if (r >= 0)
		r = sd_bus_message_open_container(call, 'a', "(sv)");
	if (r >= 0)
		r = sd_bus_message_append(call, "(sv)(sv)(sv)", "Description", "s",
					  or_empty(scope->description), "Slice", "s", scope->slice,
					  "PIDs", "au", 1, (uint32_t)scope->pid);
	for (size_t i = 0; r >= 0 && i < count; i++)
		if (!strvec_contains(unknown, list[i].name))
			r = append_property(call, &list[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(call);
	if (r >= 0)
		r = sd_bus_message_append(call, "a(sa(sv))", 0);
	return r;
}

/* Remember what the manager does not know: what the refusal names, else all that is recent.
 * False when that leaves out nothing more, and another call would be refused as well. */
static bool leave_out(struct unit_bus *bus, const struct unit_scope *scope,
		      const sd_bus_error *refusal)
{
	struct strvec *unknown = &bus->unknown_properties;
	struct property list[MAX_PROPERTIES];
	size_t count = list_properties(scope, list), before = unknown->count;

	if (!sd_bus_error_has_name(refusal, SD_BUS_ERROR_PROPERTY_READ_ONLY) &&
	    !sd_bus_error_has_name(refusal, SD_BUS_ERROR_UNKNOWN_PROPERTY))
		return false;
	/* The name stands nowhere but in the text; when the wording changes, a few more go. */
	for (size_t i = 0; i < count; i++)
		if (!strvec_contains(unknown, list[i].name) &&
		    strstr(or_empty(refusal->message), list[i].name))
			strvec_push(unknown, list[i].name);
	bool named = unknown->count > before;
	for (size_t i = 0; i < count && !named; i++)
		if (list[i].recent && !strvec_contains(unknown, list[i].name))
			strvec_push(unknown, list[i].name);
	return unknown->count > before;
}

/* The name is taken: by a unit that is over, which is cleared away, or UNIT_TAKEN. */
static int clear_name(struct unit_bus *bus, const char *name, int64_t deadline_ms,
		      struct error *err)
{
	cleanup_unit_state struct unit_state state = { 0 };
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;

	int r = unit_get_state(bus, name, &state, err);
	if (r < 0)
		return r;
	if (r == UNIT_ABSENT || streq(state.active, "inactive"))
		return 0;
	if (!streq(state.active, "failed"))
		return UNIT_TAKEN;
	if (unit_new_call(bus, "ResetFailedUnit", &call, err) < 0)
		return -1;
	r = sd_bus_message_append(call, "s", name);
	if (r < 0)
		return bus_message_error(err, r);
	r = bus_call(bus->bus, call, deadline_ms, NULL, &refusal, err);
	/* Refused: the next start says why it matters, if it does. */
	return r < 0 ? r : 0;
}

static int start_once(struct unit_bus *bus, const struct unit_scope *scope, int64_t deadline_ms,
		      char **ret_result, sd_bus_error *ret_refusal, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	if (unit_new_call(bus, "StartTransientUnit", &call, err) < 0)
		return -1;
	int r = append_scope(call, scope, &bus->unknown_properties);
	if (r < 0)
		return bus_message_error(err, r);
	return unit_run_job(bus, call, scope->name, deadline_ms, ret_result, ret_refusal, err);
}

int unit_start_scope(struct unit_bus *bus, const struct unit_scope *scope, int64_t deadline_ms,
		     struct error *err)
{
	bool cleared = false;

	for (;;) {
		cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
		cleanup_free char *result = NULL;
		int r = start_once(bus, scope, deadline_ms, &result, &refusal, err);
		if (r == 0 && streq(result, "done"))
			return 0;
		if (r == 0)
			return error_set(err, ERROR_SYSTEM,
					 "start %s: the user manager's job ended as \"%s\": see "
					 "\"journalctl --user -u %s\"",
					 scope->name, result, scope->name);
		if (r == BUS_REFUSED && leave_out(bus, scope, &refusal))
			continue;
		if (r == BUS_REFUSED && !sd_bus_error_has_name(&refusal, UNIT_EXISTS))
			return error_set(err, ERROR_SYSTEM,
					 "start %s: the user manager refused: %s", scope->name,
					 bus_refusal_text(&refusal));
		if (r == BUS_REFUSED && cleared)
			return UNIT_TAKEN;
		if (r == BUS_REFUSED) {
			r = clear_name(bus, scope->name, deadline_ms, err);
			cleared = true;
		}
		if (r == UNIT_TAKEN)
			return r;
		if (r < 0)
			return error_prefix(err, "start %s", scope->name);
	}
}

/* What the manager gives to a scope of which nothing is said. */
static int default_tasks_max(struct unit_bus *bus, uint64_t *ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;

	if (bus_new_call(bus->bus, SYSTEMD1_NAME, SYSTEMD1_PATH, "org.freedesktop.DBus.Properties", "Get",
			 &call, err) < 0)
		return -1;
	int r = sd_bus_message_append(call, "ss", SYSTEMD1_MANAGER, "DefaultTasksMax");
	if (r < 0)
		return bus_message_error(err, r);
	r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, &answer, &refusal, err);
	if (r < 0)
		return r;
	*ret = UINT64_MAX;
	if (r == BUS_REFUSED)
		return 0;
	r = sd_bus_message_read(answer, "v", "t", ret);
	return r < 0 ? bus_message_error(err, r) : 0;
}

static int append_limits(sd_bus_message *call, const char *name, const struct limits *limits,
			 uint64_t tasks_max)
{
	const struct property all[] = {
		{ "MemoryHigh", 't', NULL, limit_number(limits->memory_high), false },
		{ "MemoryMax", 't', NULL, limit_number(limits->memory_max), false },
		{ "TasksMax", 't', NULL, limits->tasks_max ? limit_number(limits->tasks_max) : tasks_max, false },
		/* UINT64_MAX: as if it had not been said, systemd's own default. */
		{ "CPUWeight", 't', NULL, limit_number(limits->cpu_weight), false },
	};
	int r = sd_bus_message_append(call, "sb", name, 1);
	if (r >= 0)
		r = sd_bus_message_open_container(call, 'a', "(sv)");
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(all); i++)
		r = sd_bus_message_append(call, "(sv)", all[i].name, "t",
					  all[i].number ? all[i].number : UINT64_MAX);
	return r < 0 ? r : sd_bus_message_close_container(call);
}

int unit_set_limits(struct unit_bus *bus, const char *name, const struct limits *limits,
		    struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	cleanup_unit_state struct unit_state state = { 0 };
	uint64_t tasks_max = UINT64_MAX;

	/* SetUnitProperties would load a unit that is not there, and leave settings behind for the next of its name. */
	int r = unit_get_state(bus, name, &state, err);
	if (r == 0 && !streq(state.active, "active"))
		return UNIT_ABSENT;
	if (r != 0)
		return r < 0 ? -1 : UNIT_ABSENT;
	if (!limits->tasks_max && default_tasks_max(bus, &tasks_max, err) < 0)
		return error_prefix(err, "set the limits of %s", name);
	if (unit_new_call(bus, "SetUnitProperties", &call, err) < 0)
		return error_prefix(err, "set the limits of %s", name);
	r = append_limits(call, name, limits, tasks_max);
	if (r < 0)
		return bus_message_error(err, r);
	r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, NULL, &refusal, err);
	if (r < 0)
		return error_prefix(err, "set the limits of %s", name);
	if (r == 0)
		return 0;
	if (sd_bus_error_has_name(&refusal, NO_SUCH_UNIT))
		return UNIT_ABSENT;
	return error_set(err, ERROR_SYSTEM, "set the limits of %s: the user manager refused: %s", name,
			 bus_refusal_text(&refusal));
}
