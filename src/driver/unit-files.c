/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Unit files: what the user manager has, whether it starts at boot, and the services made from them.
 */
#include "driver/unit-internal.h"

#include "base/clock.h"

#include <string.h>

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define UNIT_INTERFACE SYSTEMD1_NAME ".Unit"
#define SERVICE_INTERFACE SYSTEMD1_NAME ".Service"

/* A manager with many units reads all of their files before it answers. */
enum { RELOAD_TIMEOUT_MS = 30000 };

static bool is_absence(const sd_bus_error *refusal)
{
	return sd_bus_error_has_name(refusal, SYSTEMD1_NAME ".NoSuchUnit") ||
	       sd_bus_error_has_name(refusal, SD_BUS_ERROR_FILE_NOT_FOUND);
}

/* what: "enable agentdeck.service", for messages.  UNIT_ABSENT. */
static int call_manager(struct unit_bus *bus, sd_bus_message *call, const char *what, int timeout_ms,
			sd_bus_message **ret, struct error *err)
{
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	int r = bus_call(bus->bus, call, clock_ms() + timeout_ms, ret, &refusal, err);
	if (r < 0)
		return error_prefix(err, "%s", what);
	if (r == BUS_REFUSED && is_absence(&refusal))
		return UNIT_ABSENT;
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM, "%s: %s", what, bus_refusal_text(&refusal));
	return 0;
}

int unit_reload_manager(struct unit_bus *bus, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	if (unit_new_call(bus, "Reload", &call, err) < 0)
		return -1;
	int r = call_manager(bus, call, "have the user manager read its units anew", RELOAD_TIMEOUT_MS,
			     NULL, err);
	return r == UNIT_ABSENT ? error_set(err, ERROR_SYSTEM, "the user manager cannot read its units") : r;
}

int unit_search_path(struct unit_bus *bus, struct strvec *ret, struct error *err)
{
	static const char what[] = "ask where the user manager looks for units";
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	const char *directory;

	if (bus_new_call(bus->bus, SYSTEMD1_NAME, SYSTEMD1_PATH, PROPERTIES, "Get", &call, err) < 0)
		return -1;
	int r = sd_bus_message_append(call, "ss", SYSTEMD1_MANAGER, "UnitPath");
	if (r < 0)
		return bus_message_error(err, r);
	r = call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, &answer, err);
	if (r == UNIT_ABSENT)
		return error_set(err, ERROR_SYSTEM, "%s: it does not say", what);
	if (r < 0)
		return r;
	r = sd_bus_message_enter_container(answer, 'v', "as");
	if (r >= 0)
		r = sd_bus_message_enter_container(answer, 'a', "s");
	if (r < 0)
		return bus_message_error(err, r);
	cleanup_strvec struct strvec directories = { 0 };
	while ((r = sd_bus_message_read(answer, "s", &directory)) > 0)
		strvec_push(&directories, directory);
	if (r < 0)
		return bus_message_error(err, r);
	strvec_push_all(ret, &directories);
	return 0;
}

/* The same start of the arguments for all three: an array of one name. */
static int change_files(struct unit_bus *bus, const char *method, const char *name, const char *what,
			struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	if (unit_new_call(bus, method, &call, err) < 0)
		return -1;
	int r = sd_bus_message_append(call, "as", 1, name);
	/* Not only until the next boot; for EnableUnitFiles also: nothing of the user's is replaced. */
	if (r >= 0)
		r = sd_bus_message_append(call, "b", 0);
	if (r >= 0 && streq(method, "EnableUnitFiles"))
		r = sd_bus_message_append(call, "b", 0);
	if (r < 0)
		return bus_message_error(err, r);
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

	if (unit_new_call(bus, "GetUnitFileState", &call, err) < 0)
		return error_prefix(err, "%s", what);
	int r = sd_bus_message_append(call, "s", name);
	if (r < 0)
		return bus_message_error(err, r);
	r = call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, &answer, err);
	if (r != 0)
		return r;
	r = sd_bus_message_read(answer, "s", &state);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = xstrdup(state);
	return 0;
}

int unit_restart(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	cleanup_free char *result = NULL;

	if (unit_new_call(bus, "RestartUnit", &call, err) < 0)
		return error_prefix(err, "start %s", name);
	int r = sd_bus_message_append(call, "ss", name, "replace");
	if (r < 0)
		return bus_message_error(err, r);
	r = unit_run_job(bus, call, name, deadline_ms, &result, &refusal, err);
	if (r < 0)
		return error_prefix(err, "start %s", name);
	if (r == BUS_REFUSED && is_absence(&refusal))
		return UNIT_ABSENT;
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM, "start %s: %s", name, bus_refusal_text(&refusal));
	if (!streq(result, "done"))
		return error_set(err, ERROR_SYSTEM,
				 "start %s: the user manager's job ended as \"%s\": see "
				 "\"journalctl --user -u %s\"", name, result, name);
	return 0;
}

/* type: "s", "t" or "u"; value points to what sd_bus_message_read() wants for it.  A text is borrowed from *ret_answer. */
static int get_property(struct unit_bus *bus, const char *path, const char *interface, const char *name,
			const char *type, void *value, sd_bus_message **ret_answer, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_free char *what = xasprintf("ask for %s", name);

	if (bus_new_call(bus->bus, SYSTEMD1_NAME, path, PROPERTIES, "Get", &call, err) < 0)
		return -1;
	int r = sd_bus_message_append(call, "ss", interface, name);
	if (r < 0)
		return bus_message_error(err, r);
	r = call_manager(bus, call, what, BUS_CALL_TIMEOUT_MS, &answer, err);
	if (r != 0)
		return r;
	r = sd_bus_message_read(answer, "v", type, value);
	if (r < 0)
		return bus_message_error(err, r);
	if (ret_answer)
		*ret_answer = TAKE_PTR(answer);
	return 0;
}

int unit_get_service(struct unit_bus *bus, const char *name, struct unit_service *ret,
		     struct error *err)
{
	cleanup_message sd_bus_message *active_answer = NULL, *file_answer = NULL;
	cleanup_free char *path = NULL;
	const char *active, *file;
	uint64_t since_us;
	uint32_t pid;

	int r = sd_bus_path_encode(SYSTEMD1_PATH "/unit", name, &path);
	if (r < 0)
		return bus_message_error(err, r);
	r = get_property(bus, path, UNIT_INTERFACE, "ActiveState", "s", &active, &active_answer, err);
	if (r == 0)
		r = get_property(bus, path, UNIT_INTERFACE, "FragmentPath", "s", &file, &file_answer, err);
	if (r == 0)
		r = get_property(bus, path, UNIT_INTERFACE, "StateChangeTimestamp", "t", &since_us, NULL, err);
	if (r == 0)
		r = get_property(bus, path, SERVICE_INTERFACE, "MainPID", "u", &pid, NULL, err);
	if (r < 0)
		return error_prefix(err, "look at %s", name);
	if (r != 0)
		return r;
	/* A unit that nobody has a file for is there as soon as it is asked about, and inactive. */
	if (is_empty(file) && streq(active, "inactive"))
		return UNIT_ABSENT;
	*ret = (struct unit_service){ .active = xstrdup(active), .file = xstrdup(file),
				      .since_us = (int64_t)since_us, .main_pid = (pid_t)pid };
	return 0;
}

void unit_service_free(struct unit_service *service)
{
	free(service->active);
	free(service->file);
	*service = (struct unit_service){ 0 };
}
