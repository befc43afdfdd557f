/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in for org.freedesktop.systemd1 (and, on a bus, org.freedesktop.login1) that refuses,
 * fails, falls silent and vanishes on demand.  A scope's name chooses what happens to it:
 *
 *   failed timeout canceled dependency   the job ends with that result
 *   early      the job ends before the call is answered
 *   noise      jobs of others and other jobs of the unit end first
 *   silent     the job never ends            mute        the call is never answered
 *   late       the call is answered when the next one comes, with its own job
 *   vanish     the manager exits unanswered  vanish-job  it exits before the job ends
 *   refused    AccessDenied
 *   stubborn   is started, and refuses changes of its properties
 *   taken      UnitExists, the unit is active
 *   over       UnitExists, the unit is failed until it is reset;  stuck: and after that too
 *   leaving    is active; once somebody has asked for its state it is removed
 *   old        does not know OOMPolicy nor ManagedOOMPreference, and names them
 *   limitless  does not know MemoryHigh      vague       as old, but does not name them
 *   hopeless   does not know anything, and does not say what
 *
 * "agentdeck.service" is a service.  Its file, if there is one, is in the directories of UnitPath,
 * which are beside LOG's directory.  Everything else succeeds.
 *
 * Usage: fake-systemd1 direct SOCKET LOG | fake-systemd1 bus LOG
 *
 * Prints "ready" when it accepts calls, and writes a line for every call to LOG.  Exits when the
 * other end of its standard input, a pipe, is closed.
 */
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define NAME    "org.freedesktop.systemd1"
#define PATH    "/org/freedesktop/systemd1"
#define MANAGER NAME ".Manager"

struct fake {
	sd_event *event;
	FILE *log;
	struct strvec active; /* "<unit>", of scopes that were started */
	bool reset;           /* somebody has reset "over" */
	sd_bus_message *late; /* a call without an answer yet */
	unsigned jobs;
	struct strvec unit_path;
	bool service_enabled, service_up;
};

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "fake-systemd1: %s: %s\n", what, strerror(-r));
	exit(1);
}

static bool is_case(const char *unit, const char *name)
{
	size_t length = strlen(name);
	return strncmp(unit, name, length) == 0 && streq(unit + length, ".scope");
}

static bool is_service(const char *unit)
{
	return streq(unit, "agentdeck.service");
}

static void write_variant(FILE *log, sd_bus_message *call)
{
	const char *contents, *text;
	uint64_t number;
	uint32_t pid;
	int flag;
	char type;

	check(sd_bus_message_peek_type(call, &type, &contents), "peek");
	if (streq(contents, "s") && sd_bus_message_read(call, "v", "s", &text) > 0)
		(void)fprintf(log, "%s", text);
	else if (streq(contents, "t") && sd_bus_message_read(call, "v", "t", &number) > 0)
		(void)fprintf(log, "%llu", (unsigned long long)number);
	else if (streq(contents, "b") && sd_bus_message_read(call, "v", "b", &flag) > 0)
		(void)fprintf(log, "%d", flag);
	else if (streq(contents, "au") && sd_bus_message_read(call, "v", "au", 1, &pid) > 0)
		(void)fprintf(log, "%u", pid);
	else
		check(-EBADMSG, contents);
}

/* Log the properties, and return the error about those that this case does not know. */
static int read_properties(struct fake *fake, sd_bus_message *call, const char *unit,
			   sd_bus_error *ret_error)
{
	const char *name, *unknown = NULL;
	check(sd_bus_message_enter_container(call, 'a', "(sv)"), "properties");
	while (sd_bus_message_enter_container(call, 'r', "sv") > 0) {
		check(sd_bus_message_read(call, "s", &name), "property");
		(void)fprintf(fake->log, " %s=", name);
		write_variant(fake->log, call);
		check(sd_bus_message_exit_container(call), "property");
		bool recent = streq(name, "OOMPolicy") || streq(name, "ManagedOOMPreference");
		if (!unknown && ((recent && (is_case(unit, "old") || is_case(unit, "vague"))) ||
				 (streq(name, "MemoryHigh") && is_case(unit, "limitless"))))
			unknown = name;
	}
	check(sd_bus_message_exit_container(call), "properties");
	if (is_case(unit, "hopeless") || (unknown && is_case(unit, "vague")))
		return sd_bus_error_set_const(ret_error, SD_BUS_ERROR_UNKNOWN_PROPERTY,
					      "something is not known");
	if (unknown)
		return sd_bus_error_setf(ret_error, SD_BUS_ERROR_PROPERTY_READ_ONLY,
					 "Cannot set property %s, or unknown property.", unknown);
	return 0;
}

static void end_line(struct fake *fake)
{
	(void)fputc('\n', fake->log);
	(void)fflush(fake->log);
}

/* The same for the units that start with this one: "+<unit> <property>=...". */
static int read_auxiliary(struct fake *fake, sd_bus_message *call, const char *unit,
			  sd_bus_error *ret_error)
{
	const char *name;
	int r = 0;
	check(sd_bus_message_enter_container(call, 'a', "(sa(sv))"), "auxiliary units");
	while (r >= 0 && sd_bus_message_enter_container(call, 'r', "sa(sv)") > 0) {
		check(sd_bus_message_read(call, "s", &name), "auxiliary unit");
		(void)fprintf(fake->log, " +%s", name);
		r = read_properties(fake, call, unit, ret_error);
		check(sd_bus_message_exit_container(call), "auxiliary unit");
	}
	return r;
}

static void job_removed(sd_bus *bus, const char *path, const char *unit, const char *result)
{
	check(sd_bus_emit_signal(bus, PATH, MANAGER, "JobRemoved", "uoss", 1U, path, unit, result),
	      "emit");
}

static int answer_with_job(struct fake *fake, sd_bus_message *call, const char *unit)
{
	static const char *const results[] = { "failed", "timeout", "canceled", "dependency" };
	sd_bus *bus = sd_bus_message_get_bus(call);
	cleanup_free char *path = xasprintf(PATH "/job/%u", ++fake->jobs);
	const char *result = "done";

	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (is_case(unit, results[i]))
			result = results[i];
	if (is_case(unit, "mute"))
		return 1;
	if (fake->late)
		check(sd_bus_reply_method_return(fake->late, "o", PATH "/job/888888"), "reply");
	fake->late = sd_bus_message_unref(fake->late);
	if (is_case(unit, "late")) {
		fake->late = sd_bus_message_ref(call);
		return 1;
	}
	if (is_case(unit, "vanish"))
		_exit(0);
	if (is_case(unit, "early"))
		job_removed(bus, path, unit, result);
	check(sd_bus_reply_method_return(call, "o", path), "reply");
	if (is_case(unit, "vanish-job")) {
		check(sd_bus_flush(bus), "flush");
		_exit(0);
	}
	if (is_case(unit, "noise")) {
		job_removed(bus, PATH "/job/999999", unit, "failed");
		job_removed(bus, path, "other.scope", "failed");
	}
	if (!is_case(unit, "early") && !is_case(unit, "silent"))
		job_removed(bus, path, unit, result);
	return 1;
}

static int start_transient_unit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	const char *unit, *mode;
	check(sd_bus_message_read(call, "ss", &unit, &mode), "StartTransientUnit");
	(void)fprintf(fake->log, "StartTransientUnit %s %s", unit, mode);
	int r = read_properties(fake, call, unit, ret_error);
	if (r >= 0)
		r = read_auxiliary(fake, call, unit, ret_error);
	end_line(fake);
	if (r < 0)
		return r;
	if (is_case(unit, "refused"))
		return sd_bus_error_set_const(ret_error, SD_BUS_ERROR_ACCESS_DENIED, "not today");
	if (is_case(unit, "taken") || is_case(unit, "stuck") ||
	    (is_case(unit, "over") && !fake->reset))
		return sd_bus_error_setf(ret_error, NAME ".UnitExists", "Unit %s exists", unit);
	strvec_push(&fake->active, unit);
	return answer_with_job(fake, call, unit);
}

static int set_unit_properties(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	const char *unit;
	int runtime;
	check(sd_bus_message_read(call, "sb", &unit, &runtime), "SetUnitProperties");
	(void)fprintf(fake->log, "SetUnitProperties %s %d", unit, runtime);
	int r = read_properties(fake, call, unit, ret_error);
	end_line(fake);
	if (r < 0)
		return r;
	if (is_case(unit, "stubborn"))
		return sd_bus_error_set_const(ret_error, SD_BUS_ERROR_ACCESS_DENIED, "not today");
	return sd_bus_reply_method_return(call, "");
}

static int get_tasks(sd_bus *bus UNUSED, const char *path UNUSED, const char *interface UNUSED,
		     const char *property UNUSED, sd_bus_message *reply, void *userdata UNUSED,
		     sd_bus_error *error UNUSED)
{
	return sd_bus_message_append(reply, "t", (uint64_t)4711);
}

static int no_such_unit(const char *unit, sd_bus_error *ret_error)
{
	return sd_bus_error_setf(ret_error, NAME ".NoSuchUnit", "Unit %s not loaded.", unit);
}

static int stop_unit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	const char *unit, *mode;
	check(sd_bus_message_read(call, "ss", &unit, &mode), "StopUnit");
	(void)fprintf(fake->log, "StopUnit %s %s\n", unit, mode);
	(void)fflush(fake->log);
	if (is_case(unit, "absent"))
		return no_such_unit(unit, ret_error);
	fake->service_up = fake->service_up && !is_service(unit);
	return answer_with_job(fake, call, unit);
}

/* ---- services and their files --------------------------------------------------------------- */

/* directory: LOG's, which is also the runtime directory. */
static void make_unit_path(struct fake *fake, const char *log)
{
	cleanup_free char *directory = xstrndup(log, (size_t)(strrchr(log, '/') - log));
	cleanup_free char *root = xstrndup(log, (size_t)(strrchr(directory, '/') - directory));
	strvec_pushf(&fake->unit_path, "%s/systemd/user", directory);
	strvec_pushf(&fake->unit_path, "%s/config/systemd/user.control", root);
	strvec_pushf(&fake->unit_path, "%s/config/systemd/user", root);
	strvec_pushf(&fake->unit_path, "/etc/systemd/user");
	strvec_pushf(&fake->unit_path, "%s/vendor/units", root);
}

/* The caller frees; "": there is none. */
static char *find_file(const struct fake *fake)
{
	for (size_t i = 0; i < fake->unit_path.count; i++) {
		cleanup_free char *file = xasprintf("%s/agentdeck.service",
						    fake->unit_path.items[i]);
		if (access(file, F_OK) == 0)
			return TAKE_PTR(file);
	}
	return xstrdup("");
}

static int get_unit_path(sd_bus *bus UNUSED, const char *path UNUSED, const char *interface UNUSED,
			 const char *property UNUSED, sd_bus_message *reply, void *userdata,
			 sd_bus_error *error UNUSED)
{
	struct fake *fake = userdata;
	return sd_bus_message_append_strv(reply, fake->unit_path.items);
}

/* The one that this manager was started in. */
static int get_environment(sd_bus *bus UNUSED, const char *path UNUSED,
			   const char *interface UNUSED, const char *property UNUSED,
			   sd_bus_message *reply, void *userdata UNUSED, sd_bus_error *error UNUSED)
{
	return sd_bus_message_append_strv(reply, environ);
}

static int reload(sd_bus_message *call, void *userdata, sd_bus_error *error UNUSED)
{
	struct fake *fake = userdata;
	(void)fprintf(fake->log, "Reload\n");
	(void)fflush(fake->log);
	return sd_bus_reply_method_return(call, "");
}

/* EnableUnitFiles and DisableUnitFiles. */
static int change_unit_files(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	bool enable = streq(sd_bus_message_get_member(call), "EnableUnitFiles");
	const char *unit;
	int runtime, force = 0;
	check(sd_bus_message_enter_container(call, 'a', "s"), "unit files");
	check(sd_bus_message_read(call, "s", &unit), "unit files");
	check(sd_bus_message_exit_container(call), "unit files");
	check(sd_bus_message_read(call, "b", &runtime), "unit files");
	if (enable)
		check(sd_bus_message_read(call, "b", &force), "unit files");
	(void)fprintf(fake->log, "%s %s %d %d\n", sd_bus_message_get_member(call), unit, runtime,
		      force);
	(void)fflush(fake->log);
	cleanup_free char *file = find_file(fake);
	if (is_case(unit, "refused"))
		return sd_bus_error_set_const(ret_error, SD_BUS_ERROR_ACCESS_DENIED, "not today");
	if (enable && (!is_service(unit) || !*file))
		return no_such_unit(unit, ret_error);
	fake->service_enabled = enable;
	return enable ? sd_bus_reply_method_return(call, "ba(sss)", 1, 0)
		      : sd_bus_reply_method_return(call, "a(sss)", 0);
}

static int get_unit_file_state(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	const char *unit;
	check(sd_bus_message_read(call, "s", &unit), "GetUnitFileState");
	cleanup_free char *file = find_file(fake);
	if (!is_service(unit) || !*file)
		return no_such_unit(unit, ret_error);
	return sd_bus_reply_method_return(call, "s",
					  fake->service_enabled ? "enabled" : "disabled");
}

static int restart_unit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	const char *unit, *mode;
	check(sd_bus_message_read(call, "ss", &unit, &mode), "RestartUnit");
	(void)fprintf(fake->log, "RestartUnit %s %s\n", unit, mode);
	(void)fflush(fake->log);
	if (is_case(unit, "absent"))
		return no_such_unit(unit, ret_error);
	fake->service_up = fake->service_up || is_service(unit);
	return answer_with_job(fake, call, unit);
}

static int get_service_property(sd_bus *bus UNUSED, const char *path UNUSED,
				const char *interface UNUSED, const char *property,
				sd_bus_message *reply, void *userdata, sd_bus_error *error UNUSED)
{
	struct fake *fake = userdata;
	cleanup_free char *file = find_file(fake);
	if (streq(property, "FragmentPath"))
		return sd_bus_message_append(reply, "s", file);
	if (streq(property, "StateChangeTimestamp"))
		return sd_bus_message_append(reply, "t", (uint64_t)1700000000000000);
	return sd_bus_message_append(reply, "u", fake->service_up ? 4711U : 0U);
}

static int kill_unit(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	const char *unit, *whom;
	int32_t signal_number;
	check(sd_bus_message_read(call, "ssi", &unit, &whom, &signal_number), "KillUnit");
	(void)fprintf(fake->log, "KillUnit %s %s %d\n", unit, whom, signal_number);
	(void)fflush(fake->log);
	if (is_case(unit, "absent"))
		return no_such_unit(unit, ret_error);
	if (is_case(unit, "refused"))
		return sd_bus_error_set_const(ret_error, SD_BUS_ERROR_ACCESS_DENIED, "not today");
	return sd_bus_reply_method_return(call, "");
}

static int reset_failed_unit(sd_bus_message *call, void *userdata, sd_bus_error *error UNUSED)
{
	struct fake *fake = userdata;
	const char *unit;
	check(sd_bus_message_read(call, "s", &unit), "ResetFailedUnit");
	(void)fprintf(fake->log, "ResetFailedUnit %s\n", unit);
	(void)fflush(fake->log);
	if (is_case(unit, "over"))
		fake->reset = true;
	return sd_bus_reply_method_return(call, "");
}

static int subscribe(sd_bus_message *call, void *userdata, sd_bus_error *error UNUSED)
{
	struct fake *fake = userdata;
	(void)fprintf(fake->log, "Subscribe\n");
	(void)fflush(fake->log);
	return sd_bus_reply_method_return(call, "");
}

static int get_version(sd_bus *bus UNUSED, const char *path UNUSED, const char *interface UNUSED,
		       const char *property UNUSED, sd_bus_message *reply, void *userdata UNUSED,
		       sd_bus_error *error UNUSED)
{
	return sd_bus_message_append(reply, "s", "252.0-fake");
}

static const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, 0),
	SD_BUS_METHOD("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", start_transient_unit,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("DefaultTasksMax", "t", get_tasks, 0, 0),
	SD_BUS_METHOD("SetUnitProperties", "sba(sv)", "", set_unit_properties,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("StopUnit", "ss", "o", stop_unit, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("KillUnit", "ssi", "", kill_unit, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("ResetFailedUnit", "s", "", reset_failed_unit, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("UnitPath", "as", get_unit_path, 0, 0),
	SD_BUS_PROPERTY("Environment", "as", get_environment, 0, 0),
	SD_BUS_METHOD("Reload", "", "", reload, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("EnableUnitFiles", "asbb", "ba(sss)", change_unit_files,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("DisableUnitFiles", "asb", "a(sss)", change_unit_files,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetUnitFileState", "s", "s", get_unit_file_state,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("RestartUnit", "ss", "o", restart_unit, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Subscribe", "", "", subscribe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL("JobRemoved", "uoss", 0),
	SD_BUS_SIGNAL("UnitRemoved", "so", 0),
	SD_BUS_VTABLE_END,
};

static const char *active_state(const struct fake *fake, const char *unit)
{
	if (is_case(unit, "stuck") || (is_case(unit, "over") && !fake->reset))
		return "failed";
	if (is_service(unit))
		return fake->service_up ? "active" : "inactive";
	return is_case(unit, "taken") || is_case(unit, "leaving") ||
			       strvec_contains(&fake->active, unit)
		       ? "active"
		       : "inactive";
}

static int get_unit_property(sd_bus *bus, const char *path, const char *interface UNUSED,
			     const char *property, sd_bus_message *reply, void *userdata,
			     sd_bus_error *error UNUSED)
{
	static const unsigned char id[16] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
					      0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 };
	cleanup_free char *unit = NULL;
	check(sd_bus_path_decode(path, PATH "/unit", &unit), "path of a unit");
	const char *active = active_state(userdata, unit);
	bool there = !streq(active, "inactive");

	if (streq(property, "InvocationID"))
		return sd_bus_message_append_array(reply, 'y', id, there ? sizeof(id) : 0);
	if (streq(property, "ActiveState") && is_case(unit, "leaving"))
		check(sd_bus_emit_signal(bus, PATH, MANAGER, "UnitRemoved", "so", unit, path),
		      "UnitRemoved");
	if (streq(property, "ActiveState"))
		return sd_bus_message_append(reply, "s", active);
	if (streq(property, "LoadState"))
		return sd_bus_message_append(reply, "s", there ? "loaded" : "not-found");
	if (streq(property, "Result"))
		return sd_bus_message_append(reply, "s",
					     streq(active, "failed") ? "oom-kill" : "success");
	cleanup_free char *group = there ? xasprintf("/fake.slice/%s", unit) : xstrdup("");
	return sd_bus_message_append(reply, "s", group);
}

static const sd_bus_vtable unit_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("ActiveState", "s", get_unit_property, 0, 0),
	SD_BUS_PROPERTY("LoadState", "s", get_unit_property, 0, 0),
	SD_BUS_PROPERTY("InvocationID", "ay", get_unit_property, 0, 0),
	SD_BUS_PROPERTY("FragmentPath", "s", get_service_property, 0, 0),
	SD_BUS_PROPERTY("StateChangeTimestamp", "t", get_service_property, 0, 0),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable scope_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Result", "s", get_unit_property, 0, 0),
	SD_BUS_PROPERTY("ControlGroup", "s", get_unit_property, 0, 0),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable service_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("MainPID", "u", get_service_property, 0, 0),
	SD_BUS_VTABLE_END,
};

static int find_unit(sd_bus *bus UNUSED, const char *path UNUSED, const char *interface UNUSED,
		     void *userdata, void **ret_found, sd_bus_error *error UNUSED)
{
	*ret_found = userdata;
	return 1;
}

static int get_kill_user_processes(sd_bus *bus UNUSED, const char *path UNUSED,
				   const char *interface UNUSED, const char *property UNUSED,
				   sd_bus_message *reply, void *userdata UNUSED,
				   sd_bus_error *error UNUSED)
{
	return sd_bus_message_append(reply, "b", 1);
}

/* The administrator of this machine refuses it to user 0 only. */
static int set_user_linger(sd_bus_message *call, void *userdata, sd_bus_error *ret_error)
{
	struct fake *fake = userdata;
	uint32_t uid;
	int enable, interactive;
	check(sd_bus_message_read(call, "ubb", &uid, &enable, &interactive), "SetUserLinger");
	(void)fprintf(fake->log, "SetUserLinger %u %d %d\n", uid, enable, interactive);
	(void)fflush(fake->log);
	if (uid == 0)
		return sd_bus_error_set_const(ret_error,
					      SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
					      "Interactive authentication required.");
	return sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable login_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("KillUserProcesses", "b", get_kill_user_processes, 0, 0),
	SD_BUS_METHOD("SetUserLinger", "ubb", "", set_user_linger, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static void serve(sd_bus *bus, struct fake *fake)
{
	check(sd_bus_add_object_vtable(bus, NULL, PATH, MANAGER, manager_vtable, fake), "manager");
	check(sd_bus_add_fallback_vtable(bus, NULL, PATH "/unit", NAME ".Unit", unit_vtable,
					 find_unit, fake),
	      "units");
	check(sd_bus_add_fallback_vtable(bus, NULL, PATH "/unit", NAME ".Scope", scope_vtable,
					 find_unit, fake),
	      "scopes");
	check(sd_bus_add_fallback_vtable(bus, NULL, PATH "/unit", NAME ".Service", service_vtable,
					 find_unit, fake),
	      "services");
	check(sd_bus_attach_event(bus, fake->event, 0), "attach");
}

/* Connections are never freed: this program ends by being killed. */
static int on_connection(sd_event_source *source UNUSED, int fd, uint32_t events UNUSED,
			 void *userdata)
{
	sd_bus *bus;
	sd_id128_t id;
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	check(client < 0 ? -errno : 0, "accept");
	check(sd_id128_randomize(&id), "id");
	check(sd_bus_new(&bus), "connection");
	check(sd_bus_set_fd(bus, client, client), "connection");
	check(sd_bus_set_server(bus, 1, id), "connection");
	check(sd_bus_start(bus), "connection");
	serve(bus, userdata);
	return 0;
}

static void listen_at(const char *path, struct fake *fake)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	check(fd < 0 ? -errno : 0, "socket");
	check(strlen(path) < sizeof(address.sun_path) ? 0 : -ENAMETOOLONG, path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	check(bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0, path);
	check(listen(fd, 16) < 0 ? -errno : 0, path);
	check(sd_event_add_io(fake->event, NULL, fd, EPOLLIN, on_connection, fake), "listen");
}

static void join_bus(struct fake *fake)
{
	sd_bus *bus;
	check(sd_bus_open_user(&bus), "bus");
	serve(bus, fake);
	check(sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/login1",
				       "org.freedesktop.login1.Manager", login_vtable, fake),
	      "login manager");
	check(sd_bus_request_name(bus, "org.freedesktop.login1", 0), "name");
	check(sd_bus_request_name(bus, NAME, 0), "name");
}

static int on_hang_up(sd_event_source *source, int fd UNUSED, uint32_t events UNUSED,
		      void *userdata UNUSED)
{
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

int main(int argc, char *argv[])
{
	struct fake fake = { 0 };
	bool direct = argc == 4 && streq(argv[1], "direct");
	if (!direct && !(argc == 3 && streq(argv[1], "bus"))) {
		(void)fprintf(stderr, "usage: fake-systemd1 direct SOCKET LOG | bus LOG\n");
		return 64;
	}
	fake.log = fopen(argv[argc - 1], "ae");
	check(fake.log ? 0 : -errno, argv[argc - 1]);
	make_unit_path(&fake, argv[argc - 1]);
	check(sd_event_new(&fake.event), "event loop");
	check(sd_event_add_io(fake.event, NULL, 0, EPOLLIN, on_hang_up, NULL), "standard input");
	if (direct)
		listen_at(argv[2], &fake);
	else
		join_bus(&fake);
	(void)puts("ready");
	(void)fflush(stdout);
	check(sd_event_loop(fake.event), "event loop");
	return 0;
}
