/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/unit.h"

#include "base/clock.h"
#include "driver/systemd/unit-internal.h"

#include <string.h>

#define UNIT_EXISTS  SYSTEMD1_NAME ".UnitExists"
#define NO_SUCH_UNIT SYSTEMD1_NAME ".NoSuchUnit"

/* A property that a manager may not know. type: 's', 'b' or 't' of D-Bus. */
struct property {
	const char *name;
	char type;
	const char *text;
	uint64_t number; /* 0: leave it out; UINT64_MAX: no limit */
	bool recent;     /* systemd 247 does not know it for scopes */
};

enum { MAX_PROPERTIES = 6 };

static uint64_t limit_number(int64_t limit)
{
	return limit == LIMIT_INFINITY ? UINT64_MAX : (uint64_t)limit;
}

struct property_list {
	struct property items[MAX_PROPERTIES];
	size_t count;
};

static struct property_list without_zeros(const struct property *all, size_t count)
{
	struct property_list list = { .count = 0 };
	for (size_t i = 0; i < count; i++)
		if (all[i].number)
			list.items[list.count++] = all[i];
	return list;
}

static struct property_list list_limits(const struct limits *limits)
{
	const struct property all[] = {
		{ "MemoryHigh", 't', NULL, limit_number(limits->memory_high), false },
		{ "MemoryMax", 't', NULL, limit_number(limits->memory_max), false },
		{ "TasksMax", 't', NULL, limit_number(limits->tasks_max), false },
		{ "CPUWeight", 't', NULL, limit_number(limits->cpu_weight), false },
	};
	return without_zeros(all, ARRAY_SIZE(all));
}

static struct property_list list_properties(const struct unit_scope *scope)
{
	const struct property all[MAX_PROPERTIES] = {
		{ "CollectMode", 's', "inactive-or-failed", 1, false },
		{ "SendSIGHUP", 'b', NULL, 1, false },
		{ "TimeoutStopUSec", 't', NULL, scope->stop_timeout_s * UINT64_C(1000000), false },
		/* The manager gives a scope a limit of its own, which may be lower. */
		{ "TasksMax", 't', NULL, scope->limits.tasks_max ? UINT64_MAX : 0, false },
		/* 248 */
		{ "ManagedOOMPreference", 's', "avoid", 1, true },
		/* 253; some distributions have it in their 252 */
		{ "OOMPolicy", 's', "continue", 1, true },
	};
	return without_zeros(all, ARRAY_SIZE(all));
}

static int append_property(sd_bus_message *call, const struct property *property)
{
	switch (property->type) {
	case 's':
		return sd.bus_message_append(call, "(sv)", property->name, "s", property->text);
	case 'b':
		return sd.bus_message_append(call, "(sv)", property->name, "b",
					     (int)property->number);
	default:
		return sd.bus_message_append(call, "(sv)", property->name, "t", property->number);
	}
}

static int append_list(sd_bus_message *call, const struct property_list *list,
		       const struct strvec *unknown)
{
	int r = 0;
	for (size_t i = 0; r >= 0 && i < list->count; i++)
		if (!strvec_contains(unknown, list->items[i].name))
			r = append_property(call, &list->items[i]);
	return r;
}

/* An auxiliary unit of StartTransientUnit: the job of the scope starts the slice as well. */
static int append_slice(sd_bus_message *call, const struct unit_scope *scope,
			const struct strvec *unknown)
{
	const struct property_list limits = list_limits(&scope->limits);
	int r = sd.bus_message_open_container(call, 'a', "(sa(sv))");
	if (r >= 0)
		r = sd.bus_message_open_container(call, 'r', "sa(sv)");
	if (r >= 0)
		r = sd.bus_message_append(call, "s", scope->slice);
	if (r >= 0)
		r = sd.bus_message_open_container(call, 'a', "(sv)");
	if (r >= 0)
		r = sd.bus_message_append(call, "(sv)(sv)", "Description", "s",
					  or_empty(scope->description), "StopWhenUnneeded", "b", 1);
	if (r >= 0)
		r = append_list(call, &limits, unknown);
	for (int i = 0; r >= 0 && i < 3; i++)
		r = sd.bus_message_close_container(call);
	return r;
}

static int append_scope(sd_bus_message *call, const struct unit_scope *scope,
			const struct strvec *unknown)
{
	const struct property_list list = list_properties(scope);
	int r = sd.bus_message_append(call, "ss", scope->name, "fail");
	if (r >= 0)
		r = sd.bus_message_open_container(call, 'a', "(sv)");
	if (r >= 0)
		r = sd.bus_message_append(call, "(sv)(sv)(sv)", "Description", "s",
					  or_empty(scope->description), "Slice", "s", scope->slice,
					  "PIDs", "au", 1, (uint32_t)scope->pid);
	if (r >= 0)
		r = append_list(call, &list, unknown);
	if (r >= 0)
		r = sd.bus_message_close_container(call);
	if (r >= 0)
		r = append_slice(call, scope, unknown);
	return r;
}

/* Remember the properties of the list that the refusal names; all: those that are recent. */
static void note_unknown(struct strvec *unknown, const struct property_list *list,
			 const char *refusal, bool all)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strvec_contains(unknown, list->items[i].name) &&
		    (all ? list->items[i].recent : strstr(refusal, list->items[i].name) != NULL))
			strvec_push(unknown, list->items[i].name);
}

/* Remember what the manager does not know: the properties that the refusal names, else all recent
 * ones. False: that adds nothing, so another call would be refused as well. */
static bool leave_out(struct unit_bus *bus, const struct unit_scope *scope,
		      const sd_bus_error *refusal)
{
	struct strvec *unknown = &bus->unknown_properties;
	const struct property_list list = list_properties(scope);
	const struct property_list limits = list_limits(&scope->limits);
	const char *text = or_empty(refusal->message);
	const size_t before = unknown->count;

	if (!sd.bus_error_has_name(refusal, SD_BUS_ERROR_PROPERTY_READ_ONLY) &&
	    !sd.bus_error_has_name(refusal, SD_BUS_ERROR_UNKNOWN_PROPERTY))
		return false;
	/* Only the text has the name. If the wording changes, we leave out a few more. */
	note_unknown(unknown, &list, text, false);
	note_unknown(unknown, &limits, text, false);
	if (unknown->count == before)
		note_unknown(unknown, &list, text, true);
	return unknown->count > before;
}

/* The name is taken. A unit that has ended is cleared away, else UNIT_TAKEN. */
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
	if (bus_new_call(bus->bus, &MANAGER("ResetFailedUnit"), &call, err, "s", name) < 0)
		return -1;
	r = bus_call(bus->bus, call, deadline_ms, NULL, &refusal, err);
	/* A refusal does not matter here: if the name stays taken, the next start says so. */
	return r < 0 ? r : 0;
}

static int start_once(struct unit_bus *bus, const struct unit_scope *scope, struct unit_job *job,
		      struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	if (bus_new_call(bus->bus, &MANAGER("StartTransientUnit"), &call, err, NULL) < 0)
		return -1;
	int r = append_scope(call, scope, &bus->unknown_properties);
	if (r < 0)
		return bus_message_error(err, r);
	return unit_run_job(bus, call, job, err);
}

int unit_start_scope(struct unit_bus *bus, const struct unit_scope *scope, int64_t deadline_ms,
		     struct error *err)
{
	bool cleared = false;

	for (;;) {
		cleanup_unit_job struct unit_job job = { .unit = scope->name,
							 .deadline_ms = deadline_ms };
		int r = start_once(bus, scope, &job, err);
		if (r == 0 && streq(job.result, "done"))
			return 0;
		if (r == 0)
			return error_set(err, ERROR_SYSTEM,
					 "start %s: the user manager's job ended as \"%s\": see "
					 "\"journalctl --user -u %s\"",
					 scope->name, job.result, scope->name);
		if (r == BUS_REFUSED && leave_out(bus, scope, &job.refusal))
			continue;
		if (r == BUS_REFUSED && !sd.bus_error_has_name(&job.refusal, UNIT_EXISTS))
			return error_set(err, ERROR_SYSTEM,
					 "start %s: the user manager refused: %s", scope->name,
					 bus_refusal_text(&job.refusal));
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

struct removal {
	const char *name;
	bool is_done;
};

static int on_unit_removed(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	struct removal *removal = userdata;
	const char *name, *path;
	if (sd.bus_message_read(signal, "so", &name, &path) >= 0 && streq(name, removal->name))
		removal->is_done = true;
	return 0;
}

int unit_wait_gone(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err)
{
	cleanup_slot sd_bus_slot *slot = NULL;
	cleanup_unit_state struct unit_state state = { 0 };
	cleanup_error struct error failure = { 0 };
	struct removal removal = { .name = name };

	int r = sd.bus_match_signal_async(bus->bus, &slot, NULL, SYSTEMD1_PATH, SYSTEMD1_MANAGER,
					  "UnitRemoved", on_unit_removed, NULL, &removal);
	if (r < 0)
		return bus_message_error(err, r);
	/* After the match, so that we miss no removal. */
	r = unit_get_state(bus, name, &state, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (bus_wait(bus->bus, &removal.is_done, deadline_ms, &failure) == 0)
		return 0;
	if (failure.code == ERROR_TIMEOUT)
		return UNIT_TAKEN;
	return error_move(err, &failure);
}

/* The manager's value for a scope that does not set it. */
static int default_tasks_max(struct unit_bus *bus, int64_t *ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	uint64_t number;

	if (bus_new_call(bus->bus, &BUS_GET(SYSTEMD1_NAME, SYSTEMD1_PATH), &call, err, "ss",
			 SYSTEMD1_MANAGER, "DefaultTasksMax") < 0)
		return -1;
	int r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, &answer, &refusal, err);
	if (r < 0)
		return r;
	*ret = LIMIT_INFINITY;
	if (r == BUS_REFUSED)
		return 0;
	r = sd.bus_message_read(answer, "v", "t", &number);
	if (r >= 0 && number < INT64_MAX)
		*ret = (int64_t)number;
	return r < 0 ? bus_message_error(err, r) : 0;
}

/* Every limit gets a value.  LIMIT_INFINITY as CPUWeight: unset, so systemd's default holds. */
static int fill_limits(struct unit_bus *bus, const char *name, struct limits *limits,
		       struct error *err)
{
	int64_t *const values[] = { &limits->memory_high, &limits->memory_max,
				    &limits->cpu_weight };
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (!*values[i])
			*values[i] = LIMIT_INFINITY;
	if (!limits->tasks_max && ends_with(name, ".scope"))
		return default_tasks_max(bus, &limits->tasks_max, err);
	if (!limits->tasks_max)
		limits->tasks_max = LIMIT_INFINITY;
	return 0;
}

static int append_limits(sd_bus_message *call, const char *name, const struct limits *limits)
{
	static const struct strvec none = { 0 };
	const struct property_list list = list_limits(limits);
	int r = sd.bus_message_append(call, "sb", name, 1);
	if (r >= 0)
		r = sd.bus_message_open_container(call, 'a', "(sv)");
	if (r >= 0)
		r = append_list(call, &list, &none);
	return r < 0 ? r : sd.bus_message_close_container(call);
}

int unit_set_limits(struct unit_bus *bus, const char *name, const struct limits *limits,
		    struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	cleanup_unit_state struct unit_state state = { 0 };
	struct limits all = *limits;

	/* SetUnitProperties would load a unit that does not exist, and leave settings behind for
	 * the next one of its name. */
	int r = unit_get_state(bus, name, &state, err);
	if (r == 0 && !streq(state.active, "active"))
		return UNIT_ABSENT;
	if (r != 0)
		return r < 0 ? -1 : UNIT_ABSENT;
	if (fill_limits(bus, name, &all, err) < 0)
		return error_prefix(err, "set the limits of %s", name);
	if (bus_new_call(bus->bus, &MANAGER("SetUnitProperties"), &call, err, NULL) < 0)
		return error_prefix(err, "set the limits of %s", name);
	r = append_limits(call, name, &all);
	if (r < 0)
		return bus_message_error(err, r);
	r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, NULL, &refusal, err);
	if (r < 0)
		return error_prefix(err, "set the limits of %s", name);
	if (r == 0)
		return 0;
	if (sd.bus_error_has_name(&refusal, NO_SUCH_UNIT))
		return UNIT_ABSENT;
	return error_set(err, ERROR_SYSTEM, "set the limits of %s: the user manager refused: %s",
			 name, bus_refusal_text(&refusal));
}
