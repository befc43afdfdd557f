/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces the other files of unit.h in a build --without-systemd.
 */
#include "driver/systemd/unit.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NO_MANAGER(function, ...)       \
	int function(__VA_ARGS__)       \
	{                               \
		return UNIT_NO_MANAGER; \
	}

int unit_bus_open(const char *user_runtime, struct unit_bus **ret, char **ret_why,
		  struct error *err)
{
	*ret_why = xstrdup("built without systemd");
	return UNIT_NO_MANAGER;
}

void unit_bus_close(struct unit_bus *bus)
{
}

const char *unit_bus_version(const struct unit_bus *bus)
{
	return "";
}

NO_MANAGER(unit_start_scope, struct unit_bus *bus, const struct unit_scope *scope,
	   int64_t deadline_ms, struct error *err)
NO_MANAGER(unit_wait_gone, struct unit_bus *bus, const char *name, int64_t deadline_ms,
	   struct error *err)

void unit_state_free(struct unit_state *state)
{
	free(state->active);
	free(state->result);
	free(state->control_group);
	*state = (struct unit_state){ 0 };
}

NO_MANAGER(unit_get_state, struct unit_bus *bus, const char *name, struct unit_state *ret,
	   struct error *err)
NO_MANAGER(unit_manager_group, struct unit_bus *bus, char **ret, struct error *err)
NO_MANAGER(unit_get_invocation, struct unit_bus *bus, const char *name, char **ret,
	   struct error *err)
NO_MANAGER(unit_set_limits, struct unit_bus *bus, const char *name, const struct limits *limits,
	   struct error *err)
NO_MANAGER(unit_stop, struct unit_bus *bus, const char *name, int64_t deadline_ms,
	   struct error *err)
NO_MANAGER(unit_search_path, struct unit_bus *bus, struct strvec *ret, struct error *err)
NO_MANAGER(unit_manager_environment, struct unit_bus *bus, struct strvec *ret, struct error *err)
NO_MANAGER(unit_reload_manager, struct unit_bus *bus, struct error *err)
NO_MANAGER(unit_enable, struct unit_bus *bus, const char *name, struct error *err)
NO_MANAGER(unit_disable, struct unit_bus *bus, const char *name, struct error *err)
NO_MANAGER(unit_file_state, struct unit_bus *bus, const char *name, char **ret, struct error *err)
NO_MANAGER(unit_restart, struct unit_bus *bus, const char *name, int64_t deadline_ms,
	   struct error *err)

void unit_service_free(struct unit_service *service)
{
	free(service->active);
	free(service->file);
	*service = (struct unit_service){ 0 };
}

NO_MANAGER(unit_get_service, struct unit_bus *bus, const char *name, struct unit_service *ret,
	   struct error *err)

bool login_lingers(unsigned uid)
{
	return false;
}

NO_MANAGER(login_facts, unsigned uid, struct login_facts *ret, struct error *err)
NO_MANAGER(login_enable_linger, unsigned uid, struct error *err)
