/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Unit files: the ones of the user manager, which of them it starts, and the services of them.
 */
#include "driver/systemd/unit.h"

#include "base/clock.h"
#include "driver/systemd/unit-internal.h"

#include <string.h>

#define UNIT_INTERFACE    SYSTEMD1_NAME ".Unit"
#define SERVICE_INTERFACE SYSTEMD1_NAME ".Service"

/* The manager reads the files of all units before it answers. */
enum { RELOAD_TIMEOUT_MS = 30000 };

/* what: "enable agentdeck.service", for messages. UNIT_ABSENT. */
static int call_manager(struct unit_bus *bus, sd_bus_message *call, const char *what,
			int timeout_ms, sd_bus_message **ret, struct error *err)
{
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	int r = bus_call(bus->bus, call, clock_ms() + timeout_ms, ret, &refusal, err);
	if (r < 0)
		return error_prefix(err, "%s", what);
	if (r == BUS_REFUSED && unit_is_absence(&refusal))
		return UNIT_ABSENT;
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM, "%s: %s", what, bus_refusal_text(&refusal));
	return 0;
}

int unit_reload_manager(struct unit_bus *bus, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	if (bus_new_call(bus->bus, &MANAGER("Reload"), &call, err, NULL) < 0)
		return -1;
	int r = call_manager(bus, call, "have the user manager read its units again",
			     RELOAD_TIMEOUT_MS, NULL, err);
	return r == UNIT_ABSENT
		       ? error_set(err, ERROR_SYSTEM, "the user manager cannot read its units")
		       : r;
}

/* A property of the manager that is a list of texts. */
static int read_texts(struct unit_bus *bus, const char *property, const char *what,
		      struct strvec *ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	const char *text;

	if (bus_new_call(bus->bus, &BUS_GET(SYSTEMD1_NAME, SYSTEMD1_PATH), &call, err, "ss",
			 SYSTEMD1_MANAGER, property) < 0)
		return -1;
	int r = call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, &answer, err);
	if (r == UNIT_ABSENT)
		return error_set(err, ERROR_SYSTEM, "%s: it does not say", what);
	if (r < 0)
		return r;
	r = sd.bus_message_enter_container(answer, 'v', "as");
	if (r >= 0)
		r = sd.bus_message_enter_container(answer, 'a', "s");
	if (r < 0)
		return bus_message_error(err, r);
	cleanup_strvec struct strvec texts = { 0 };
	while ((r = sd.bus_message_read(answer, "s", &text)) > 0)
		strvec_push(&texts, text);
	if (r < 0)
		return bus_message_error(err, r);
	strvec_push_all(ret, &texts);
	return 0;
}

int unit_search_path(struct unit_bus *bus, struct strvec *ret, struct error *err)
{
	return read_texts(bus, "UnitPath", "ask where the user manager looks for units", ret, err);
}

int unit_manager_environment(struct unit_bus *bus, struct strvec *ret, struct error *err)
{
	return read_texts(bus, "Environment", "ask for the environment of the user manager", ret,
			  err);
}

/* The arguments of both begin with an array of one name. */
static int change_files(struct unit_bus *bus, const char *method, const char *name,
			const char *what, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	/* runtime = false: it survives a reboot. For EnableUnitFiles also force = false: it
	 * replaces no file of the user. */
	const char *types = streq(method, "EnableUnitFiles") ? "asbb" : "asb";
	if (bus_new_call(bus->bus, &MANAGER(method), &call, err, types, 1, name, 0, 0) < 0)
		return -1;
	return call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, NULL, err);
}

int unit_enable(struct unit_bus *bus, const char *name, struct error *err)
{
	cleanup_free char *what = xasprintf("enable %s", name);
	return change_files(bus, "EnableUnitFiles", name, what, err);
}

int unit_disable(struct unit_bus *bus, const char *name, struct error *err)
{
	cleanup_free char *what = xasprintf("disable %s", name);
	int r = change_files(bus, "DisableUnitFiles", name, what, err);
	return r == UNIT_ABSENT ? 0 : r;
}

int unit_file_state(struct unit_bus *bus, const char *name, char **ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_free char *what = xasprintf("ask whether %s is enabled", name);
	const char *state;

	if (bus_new_call(bus->bus, &MANAGER("GetUnitFileState"), &call, err, "s", name) < 0)
		return error_prefix(err, "%s", what);
	int r = call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, &answer, err);
	if (r != 0)
		return r;
	r = sd.bus_message_read(answer, "s", &state);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = xstrdup(state);
	return 0;
}

int unit_restart(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err)
{
	static const struct unit_change start = { "start", "RestartUnit", "journalctl --user -u" };
	return unit_change(bus, &start, name, deadline_ms, err);
}

struct property {
	const char *interface, *name;
	const char *type; /* "s", "t" or "u" */
};

/* value points to the matching type of sd_bus_message_read(3). A text is borrowed from
 * *ret_answer. */
static int get_property(struct unit_bus *bus, const char *path, const struct property *property,
			void *value, sd_bus_message **ret_answer, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_free char *what = xasprintf("ask for %s", property->name);

	if (bus_new_call(bus->bus, &BUS_GET(SYSTEMD1_NAME, path), &call, err, "ss",
			 property->interface, property->name) < 0)
		return -1;
	int r = call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, &answer, err);
	if (r != 0)
		return r;
	r = sd.bus_message_read(answer, "v", property->type, value);
	if (r < 0)
		return bus_message_error(err, r);
	if (ret_answer)
		*ret_answer = TAKE_PTR(answer);
	return 0;
}

int unit_get_service(struct unit_bus *bus, const char *name, struct unit_service *ret,
		     struct error *err)
{
	static const struct property active_state = { UNIT_INTERFACE, "ActiveState", "s" };
	static const struct property fragment = { UNIT_INTERFACE, "FragmentPath", "s" };
	static const struct property changed = { UNIT_INTERFACE, "StateChangeTimestamp", "t" };
	static const struct property main_pid = { SERVICE_INTERFACE, "MainPID", "u" };
	cleanup_message sd_bus_message *active_answer = NULL, *file_answer = NULL;
	cleanup_free char *path = NULL;
	const char *active, *file;
	uint64_t since_us;
	uint32_t pid;

	int r = sd.bus_path_encode(SYSTEMD1_PATH "/unit", name, &path);
	if (r < 0)
		return bus_message_error(err, r);
	r = get_property(bus, path, &active_state, &active, &active_answer, err);
	if (r == 0)
		r = get_property(bus, path, &fragment, &file, &file_answer, err);
	if (r == 0)
		r = get_property(bus, path, &changed, &since_us, NULL, err);
	if (r == 0)
		r = get_property(bus, path, &main_pid, &pid, NULL, err);
	if (r < 0)
		return error_prefix(err, "look at %s", name);
	if (r != 0)
		return r;
	/* A unit without a file exists as soon as a client asks for it, and is inactive. */
	if (is_empty(file) && streq(active, "inactive"))
		return UNIT_ABSENT;
	*ret = (struct unit_service){ .active = xstrdup(active),
				      .file = xstrdup(file),
				      .since_us = (int64_t)since_us,
				      .main_pid = (pid_t)pid };
	return 0;
}

void unit_service_free(struct unit_service *service)
{
	free(service->active);
	free(service->file);
	*service = (struct unit_service){ 0 };
}
