/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces the other files of unit.h in a build --without-systemd.
 */
#include "driver/systemd/unit.h"

int unit_bus_open(const char *user_runtime UNUSED, struct unit_bus **ret UNUSED, char **ret_why,
		  struct error *err UNUSED)
{
	*ret_why = xstrdup("built without systemd");
	return UNIT_NO_MANAGER;
}

void unit_bus_close(struct unit_bus *bus UNUSED)
{
}

const char *unit_bus_version(const struct unit_bus *bus UNUSED)
{
	return "";
}

int unit_start_scope(struct unit_bus *bus UNUSED, const struct unit_scope *scope UNUSED,
		     int64_t deadline_ms UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_wait_gone(struct unit_bus *bus UNUSED, const char *name UNUSED, int64_t deadline_ms UNUSED,
		   struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

void unit_state_free(struct unit_state *state)
{
	free(state->active);
	free(state->result);
	free(state->control_group);
	*state = (struct unit_state){ 0 };
}

int unit_get_state(struct unit_bus *bus UNUSED, const char *name UNUSED,
		   struct unit_state *ret UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_manager_group(struct unit_bus *bus UNUSED, char **ret UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_get_invocation(struct unit_bus *bus UNUSED, const char *name UNUSED, char **ret UNUSED,
			struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_set_limits(struct unit_bus *bus UNUSED, const char *name UNUSED,
		    const struct limits *limits UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_stop(struct unit_bus *bus UNUSED, const char *name UNUSED, int64_t deadline_ms UNUSED,
	      struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_search_path(struct unit_bus *bus UNUSED, struct strvec *ret UNUSED,
		     struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_manager_environment(struct unit_bus *bus UNUSED, struct strvec *ret UNUSED,
			     struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_reload_manager(struct unit_bus *bus UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_enable(struct unit_bus *bus UNUSED, const char *name UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_disable(struct unit_bus *bus UNUSED, const char *name UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_file_state(struct unit_bus *bus UNUSED, const char *name UNUSED, char **ret UNUSED,
		    struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int unit_restart(struct unit_bus *bus UNUSED, const char *name UNUSED, int64_t deadline_ms UNUSED,
		 struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

void unit_service_free(struct unit_service *service)
{
	free(service->active);
	free(service->file);
	*service = (struct unit_service){ 0 };
}

int unit_get_service(struct unit_bus *bus UNUSED, const char *name UNUSED,
		     struct unit_service *ret UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

bool login_lingers(unsigned uid UNUSED)
{
	return false;
}

int login_facts(unsigned uid UNUSED, struct login_facts *ret UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}

int login_enable_linger(unsigned uid UNUSED, struct error *err UNUSED)
{
	return UNIT_NO_MANAGER;
}
