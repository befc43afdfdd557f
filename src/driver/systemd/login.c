/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/systemd/unit.h"

#include "base/clock.h"
#include "driver/systemd/bus.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

#define LOGIN1_NAME      "org.freedesktop.login1"
#define LOGIN1_PATH      "/org/freedesktop/login1"
#define LOGIN1_MANAGER   "org.freedesktop.login1.Manager"
#define LINGER_DIRECTORY "/var/lib/systemd/linger"

/* logind may have to start polkitd for the linger call. */
enum { ASK_TIMEOUT_MS = 3000, LINGER_TIMEOUT_MS = 10000 };

/* NULL: there is no such user. The caller frees it. */
static char *user_name(unsigned uid)
{
	char buffer[16384];
	struct passwd entry, *found = NULL;
	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) != 0 || !found)
		return NULL;
	return xstrdup(found->pw_name);
}

/* logind escapes the name as in a C string literal: "DOMAIN\user" is a valid name. */
static char *linger_file(const char *name)
{
	struct strbuf file = { 0 };
	strbuf_adds(&file, LINGER_DIRECTORY "/");
	for (const char *c = name; *c; c++) {
		if (strchr("\\\"'", *c))
			strbuf_addf(&file, "\\%c", *c);
		else if (*c < ' ' || *c == 0x7f)
			strbuf_addf(&file, "\\%03o", (unsigned char)*c);
		else
			strbuf_add(&file, c, 1);
	}
	return strbuf_take(&file);
}

bool login_lingers(unsigned uid)
{
	cleanup_free char *name = user_name(uid);
	if (!name)
		return false;
	cleanup_free char *file = linger_file(name);
	return access(file, F_OK) == 0;
}

/* Turn any error for "not there" into the outcome of that name. */
static int or_no_manager(int r, struct error *local, struct error *err)
{
	if (r >= 0)
		return r;
	if (local->code == ERROR_UNAVAILABLE) {
		error_clear(local);
		return UNIT_NO_MANAGER;
	}
	return error_move(err, local);
}

static int ask_kill_user_processes(bool *ret, struct error *err)
{
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *call = NULL, *answer = NULL;
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	int64_t deadline_ms = clock_ms() + ASK_TIMEOUT_MS;
	int value;

	if (bus_connect(NULL, false, "logind", deadline_ms, &bus, err) < 0 ||
	    bus_new_call(bus, &BUS_GET(LOGIN1_NAME, LOGIN1_PATH), &call, err, "ss", LOGIN1_MANAGER,
			 "KillUserProcesses") < 0)
		return -1;
	int r = bus_call(bus, call, deadline_ms, &answer, &refusal, err);
	if (r < 0)
		return r;
	if (r == BUS_REFUSED)
		return error_set(err, ERROR_SYSTEM, "logind does not report KillUserProcesses: %s",
				 bus_refusal_text(&refusal));
	r = sd.bus_message_read(answer, "v", "b", &value);
	if (r < 0)
		return bus_message_error(err, r);
	*ret = value;
	return 0;
}

int login_facts(unsigned uid, struct login_facts *ret, struct error *err)
{
	struct error local = { 0 };
	bool kills = false;
	int r = or_no_manager(ask_kill_user_processes(&kills, &local), &local, err);
	if (r != 0)
		return r;
	*ret = (struct login_facts){ .linger = login_lingers(uid), .kill_user_processes = kills };
	return 0;
}

static int set_linger(unsigned uid, sd_bus_error *ret_refusal, struct error *err)
{
	static const struct bus_method method = { LOGIN1_NAME, LOGIN1_PATH, LOGIN1_MANAGER,
						  "SetUserLinger" };
	cleanup_bus sd_bus *bus = NULL;
	cleanup_message sd_bus_message *call = NULL;
	int64_t deadline_ms = clock_ms() + LINGER_TIMEOUT_MS;

	if (bus_connect(NULL, false, "logind", deadline_ms, &bus, err) < 0 ||
	    bus_new_call(bus, &method, &call, err, "ubb", (uint32_t)uid, 1, 0) < 0)
		return -1;
	return bus_call(bus, call, deadline_ms, NULL, ret_refusal, err);
}

int login_enable_linger(unsigned uid, struct error *err)
{
	cleanup_refusal sd_bus_error refusal = SD_BUS_ERROR_NULL;
	struct error local = { 0 };

	int r = set_linger(uid, &refusal, &local);
	if (r != BUS_REFUSED)
		return or_no_manager(r, &local, err);
	cleanup_free char *name = user_name(uid);
	cleanup_free char *user = name ? TAKE_PTR(name) : xasprintf("%u", uid);
	return error_set(err, ERROR_UNAVAILABLE,
			 "logind does not let the user manager outlive the last logout (%s): run "
			 "\"loginctl enable-linger %s\" as an administrator",
			 bus_refusal_text(&refusal), user);
}
