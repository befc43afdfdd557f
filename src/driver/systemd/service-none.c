/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replaces service.c and service-bus.c in a build --without-systemd.
 */
#include "driver/systemd/service.h"

int service_open(const char *user_runtime UNUSED, struct loop *loop UNUSED,
		 const struct service_operations *operations UNUSED, void *context UNUSED,
		 struct service **ret UNUSED, struct error *err UNUSED)
{
	return SERVICE_NO_BUS;
}

void service_close(struct service *service UNUSED)
{
}

void service_answer(struct service_call *call UNUSED, const char *outcome UNUSED)
{
}

void service_answer_failure(struct service_call *call UNUSED, const char *message UNUSED)
{
}

void service_answer_recovered(struct service_call *call UNUSED, uint32_t revived UNUSED,
			      uint32_t failed UNUSED)
{
}

bool service_is_lost(const struct service *service UNUSED)
{
	return true;
}

void service_changed(struct service *service UNUSED, const struct facts *session UNUSED)
{
}

void service_removed(struct service *service UNUSED, const char *id UNUSED)
{
}

int service_owner(const char *user_runtime UNUSED, pid_t *ret UNUSED, struct error *err UNUSED)
{
	return SERVICE_NO_BUS;
}
