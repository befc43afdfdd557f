/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/unit.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/systemd/unit-internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NO_SUCH_UNIT SYSTEMD1_NAME ".NoSuchUnit"

enum { OPEN_TIMEOUT_MS = 3000 };

void unit_job_end(struct unit_job *job)
{
	free(job->path);
	free(job->result);
	bus_refusal_free(&job->refusal);
	strvec_clear(&job->seen);
}

static int on_job_removed(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	struct unit_job *job = ((struct unit_bus *)userdata)->job;
	const char *path, *unit, *result;
	uint32_t id;

	if (!job || job->is_done ||
	    sd.bus_message_read(signal, "uoss", &id, &path, &unit, &result) < 0 ||
	    !streq(unit, job->unit))
		return 0;
	if (!job->path) {
		strvec_push(&job->seen, path);
		strvec_push(&job->seen, result);
	} else if (streq(path, job->path)) {
		job->result = xstrdup(result);
		job->is_done = true;
	}
	return 0;
}

/* Only on a message bus: it stays when the manager goes. */
static int on_owner_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error UNUSED)
{
	struct unit_job *job = ((struct unit_bus *)userdata)->job;
	const char *name, *old_owner, *new_owner;

	if (job && sd.bus_message_read(signal, "sss", &name, &old_owner, &new_owner) >= 0 &&
	    streq(name, SYSTEMD1_NAME) && is_empty(new_owner))
		job->manager_left = job->is_done = true;
	return 0;
}

static int run_job(struct unit_bus *bus, sd_bus_message *call, struct unit_job *job,
		   struct error *err)
{
	cleanup_message sd_bus_message *answer = NULL;
	const char *path;

	int r = bus_call(bus->bus, call, job->deadline_ms, &answer, &job->refusal, err);
	if (r != 0)
		return r;
	r = sd.bus_message_read(answer, "o", &path);
	if (r < 0)
		return bus_message_error(err, r);
	job->path = xstrdup(path);
	for (size_t i = 0; i < job->seen.count && !job->is_done; i += 2) {
		if (streq(job->seen.items[i], path)) {
			job->result = xstrdup(job->seen.items[i + 1]);
			job->is_done = true;
		}
	}
	r = bus_wait(bus->bus, &job->is_done, job->deadline_ms, err);
	if (r == 0 && job->manager_left)
		return error_set(err, ERROR_UNAVAILABLE, "the user manager went away");
	return r;
}

int unit_run_job(struct unit_bus *bus, sd_bus_message *call, struct unit_job *job,
		 struct error *err)
{
	bus->job = job;
	int r = run_job(bus, call, job, err);
	bus->job = NULL;
	return r;
}

bool unit_is_absence(const sd_bus_error *refusal)
{
	return sd.bus_error_has_name(refusal, NO_SUCH_UNIT) ||
	       sd.bus_error_has_name(refusal, SD_BUS_ERROR_FILE_NOT_FOUND);
}

int unit_change(struct unit_bus *bus, const struct unit_change *change, const char *name,
		int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL;
	cleanup_unit_job struct unit_job job = { .unit = name, .deadline_ms = deadline_ms };

	int r = bus_new_call(bus->bus, &MANAGER(change->method), &call, err, "ss", name, "replace");
	if (r == 0)
		r = unit_run_job(bus, call, &job, err);
	if (r < 0)
		return error_prefix(err, "%s %s", change->what, name);
	if (r == BUS_REFUSED && unit_is_absence(&job.refusal))
		return UNIT_ABSENT;
	if (r != 0)
		return error_set(err, ERROR_SYSTEM, "%s %s: %s", change->what, name,
				 bus_refusal_text(&job.refusal));
	if (!streq(job.result, "done"))
		return error_set(err, ERROR_SYSTEM,
				 "%s %s: the user manager's job ended as \"%s\": see \"%s %s\"",
				 change->what, name, job.result, change->see, name);
	return 0;
}

/* Watch for the ends of jobs. A connection to the manager itself gets all signals automatically. On
 * a message bus we have to ask both the bus and the manager. This does not wait. */
static int watch_jobs(struct unit_bus *bus, bool direct, struct error *err)
{
	cleanup_message sd_bus_message *subscribe = NULL;
	int r = sd.bus_match_signal_async(bus->bus, NULL, direct ? NULL : SYSTEMD1_NAME,
					  SYSTEMD1_PATH, SYSTEMD1_MANAGER, "JobRemoved",
					  on_job_removed, NULL, bus);
	if (r < 0)
		return bus_message_error(err, r);
	if (direct)
		return 0;
	r = sd.bus_add_match_async(bus->bus, NULL,
				   "type='signal',sender='org.freedesktop.DBus',"
				   "member='NameOwnerChanged',arg0='" SYSTEMD1_NAME "'",
				   on_owner_changed, NULL, bus);
	if (r < 0)
		return bus_message_error(err, r);
	if (bus_new_call(bus->bus, &MANAGER("Subscribe"), &subscribe, err, NULL) < 0)
		return -1;
	r = sd.bus_send(bus->bus, subscribe, NULL);
	return r < 0 ? bus_message_error(err, r) : 0;
}

static int ask_version(struct unit_bus *bus, int64_t deadline_ms, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	const char *version;

	if (bus_new_call(bus->bus, &BUS_GET(SYSTEMD1_NAME, SYSTEMD1_PATH), &call, err, "ss",
			 SYSTEMD1_MANAGER, "Version") < 0)
		return -1;
	int r = bus_call(bus->bus, call, deadline_ms, &answer, &refusal, err);
	if (r < 0)
		return r;
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_UNAVAILABLE, "%s", bus_refusal_text(&refusal));
	r = sd.bus_message_read(answer, "v", "s", &version);
	if (r < 0)
		return bus_message_error(err, r);
	bus->version = xstrdup(version);
	return 0;
}

static int open_at(const char *address, bool direct, int64_t deadline_ms, struct unit_bus **ret,
		   struct error *err)
{
	cleanup_unit_bus struct unit_bus *bus = xcalloc(1, sizeof(*bus));
	if (bus_connect(address, direct, "the user manager", deadline_ms, &bus->bus, err) < 0)
		return -1;
	if (watch_jobs(bus, direct, err) < 0 || ask_version(bus, deadline_ms, err) < 0) {
		if (err->code == ERROR_UNAVAILABLE)
			error_prefix(err, "%s", address);
		return -1;
	}
	*ret = TAKE_PTR(bus);
	return 0;
}

int unit_bus_open(const char *user_runtime, struct unit_bus **ret, char **ret_why,
		  struct error *err)
{
	cleanup_free char *socket = path_join(user_runtime, "systemd/private");
	cleanup_free char *direct = bus_address_of_path(socket);
	cleanup_free char *bus_socket = path_join(user_runtime, "bus");
	cleanup_free char *bus = bus_address_of_path(bus_socket);
	const char *const addresses[] = { direct, getenv("DBUS_SESSION_BUS_ADDRESS"), bus };
	cleanup_strbuf struct strbuf why = { 0 };
	int64_t deadline_ms = clock_ms() + OPEN_TIMEOUT_MS;

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct error failure = { 0 };
		if (is_empty(addresses[i]) || (i == 2 && streq(bus, or_empty(addresses[1]))))
			continue;
		if (open_at(addresses[i], i == 0, deadline_ms, ret, &failure) == 0)
			return 0;
		if (failure.code != ERROR_UNAVAILABLE)
			return error_move(err, &failure);
		strbuf_addf(&why, "%s%s", why.length ? "; " : "", failure.message);
		error_clear(&failure);
	}
	if (access(user_runtime, F_OK) < 0 && errno == ENOENT && is_empty(addresses[1]))
		*ret_why = xasprintf("%s does not exist: no user manager runs, and only a login or "
				     "lingering starts one",
				     user_runtime);
	else
		*ret_why = strbuf_take(&why);
	return UNIT_NO_MANAGER;
}

void unit_bus_close(struct unit_bus *bus)
{
	if (!bus)
		return;
	bus_close_unrefp(&bus->bus);
	strvec_clear(&bus->unknown_properties);
	free(bus->version);
	free(bus);
}

const char *unit_bus_version(const struct unit_bus *bus)
{
	return bus->version;
}

void unit_state_free(struct unit_state *state)
{
	free(state->active);
	free(state->result);
	free(state->control_group);
	*state = (struct unit_state){ 0 };
}

static int read_string(sd_bus_message *answer, char **slot)
{
	const char *text;
	int r = sd.bus_message_read(answer, "v", "s", &text);
	if (r >= 0)
		replace_string(slot, text);
	return r;
}

static int read_properties(sd_bus_message *answer, struct unit_state *state, char **load_state)
{
	int r = sd.bus_message_enter_container(answer, 'a', "{sv}");
	if (r < 0)
		return r;
	while ((r = sd.bus_message_enter_container(answer, 'e', "sv")) > 0) {
		const char *name;
		r = sd.bus_message_read(answer, "s", &name);
		if (r < 0)
			return r;
		if (streq(name, "ActiveState"))
			r = read_string(answer, &state->active);
		else if (streq(name, "Result"))
			r = read_string(answer, &state->result);
		else if (streq(name, "ControlGroup"))
			r = read_string(answer, &state->control_group);
		else if (streq(name, "LoadState"))
			r = read_string(answer, load_state);
		else
			r = sd.bus_message_skip(answer, "v");
		if (r >= 0)
			r = sd.bus_message_exit_container(answer);
		if (r < 0)
			return r;
	}
	return r;
}

int unit_get_state(struct unit_bus *bus, const char *name, struct unit_state *ret,
		   struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	cleanup_unit_state struct unit_state state = { 0 };
	cleanup_free char *path = NULL, *load_state = NULL;

	int r = sd.bus_path_encode(SYSTEMD1_PATH "/unit", name, &path);
	if (r < 0)
		return bus_message_error(err, r);
	/* The empty name means all interfaces: we need properties of two. */
	if (bus_new_call(bus->bus,
			 &(struct bus_method){ SYSTEMD1_NAME, path, BUS_PROPERTIES, "GetAll" },
			 &call, err, "s", "") < 0)
		return error_prefix(err, "ask for the state of %s", name);
	r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, &answer, &refusal, err);
	if (r < 0)
		return error_prefix(err, "ask for the state of %s", name);
	if (r == BUS_REFUSED) {
		if (sd.bus_error_has_name(&refusal, NO_SUCH_UNIT) ||
		    sd.bus_error_has_name(&refusal, SD_BUS_ERROR_UNKNOWN_OBJECT))
			return UNIT_ABSENT;
		return error_set(err, ERROR_SYSTEM, "ask for the state of %s: %s", name,
				 bus_refusal_text(&refusal));
	}
	r = read_properties(answer, &state, &load_state);
	if (r < 0) {
		bus_message_error(err, r);
		return error_prefix(err, "ask for the state of %s", name);
	}
	if (!state.active)
		return error_set(err, ERROR_UNAVAILABLE,
				 "the user manager does not report the state of %s", name);
	if (streq(state.active, "inactive") && load_state && streq(load_state, "not-found"))
		return UNIT_ABSENT;
	char **const texts[] = { &state.result, &state.control_group };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!*texts[i])
			*texts[i] = xstrdup("");
	*ret = state;
	state = (struct unit_state){ 0 };
	return 0;
}

static int read_invocation(sd_bus_message *answer, char **ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const void *bytes = NULL;
	size_t length = 0;

	int r = sd.bus_message_enter_container(answer, 'v', "ay");
	if (r >= 0)
		r = sd.bus_message_read_array(answer, 'y', &bytes, &length);
	if (r < 0)
		return r;
	if (!length)
		return UNIT_ABSENT;
	for (size_t i = 0; i < length; i++)
		strbuf_addf(&text, "%02x", ((const unsigned char *)bytes)[i]);
	*ret = strbuf_take(&text);
	return 0;
}

int unit_manager_group(struct unit_bus *bus, char **ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	const char *group;
	if (bus_new_call(bus->bus, &BUS_GET(SYSTEMD1_NAME, SYSTEMD1_PATH), &call, err, "ss",
			 SYSTEMD1_MANAGER, "ControlGroup") < 0)
		return -1;
	int r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, &answer, &refusal, err);
	if (r < 0)
		return r;
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_UNAVAILABLE, "%s", bus_refusal_text(&refusal));
	r = sd.bus_message_read(answer, "v", "s", &group);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = xstrdup(group);
	return 0;
}

int unit_get_invocation(struct unit_bus *bus, const char *name, char **ret, struct error *err)
{
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	cleanup_free char *path = NULL;

	int r = sd.bus_path_encode(SYSTEMD1_PATH "/unit", name, &path);
	if (r < 0)
		return bus_message_error(err, r);
	if (bus_new_call(bus->bus, &BUS_GET(SYSTEMD1_NAME, path), &call, err, "ss",
			 SYSTEMD1_NAME ".Unit", "InvocationID") < 0)
		return error_prefix(err, "ask for the invocation of %s", name);
	r = bus_call(bus->bus, call, clock_ms() + BUS_CALL_TIMEOUT_MS, &answer, &refusal, err);
	if (r == BUS_REFUSED)
		return UNIT_ABSENT;
	if (r == 0)
		r = read_invocation(answer, ret);
	if (r == -1)
		return error_prefix(err, "ask for the invocation of %s", name);
	return r < 0 ? bus_message_error(err, r) : r;
}

int unit_stop(struct unit_bus *bus, const char *name, int64_t deadline_ms, struct error *err)
{
	static const struct unit_change stop = { "stop", "StopUnit", "systemctl --user status" };
	return unit_change(bus, &stop, name, deadline_ms, err);
}
