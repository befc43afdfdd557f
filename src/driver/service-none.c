/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In the place of service.c, service-bus.c and service-client.c in a build --without-systemd.
 */
#include "driver/service.h"

int service_open(const char *user_runtime UNUSED, struct sd_event *event UNUSED,
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

void service_changed(struct service *service UNUSED, const struct service_session *session UNUSED)
{
}

void service_removed(struct service *service UNUSED, const char *id UNUSED)
{
}

int service_owner(const char *user_runtime UNUSED, pid_t *ret UNUSED, struct error *err UNUSED)
{
	return SERVICE_NO_BUS;
}

int service_client_open(const char *user_runtime UNUSED, const char *state UNUSED,
			struct service_client **ret UNUSED,
			struct error *err UNUSED)
{
	return SERVICE_NO_BUS;
}

void service_client_close(struct service_client *client UNUSED)
{
}

int service_client_descriptor(const struct service_client *client UNUSED)
{
	return -1;
}

int64_t service_client_deadline(const struct service_client *client UNUSED)
{
	return INT64_MAX;
}

int service_client_read(struct service_client *client UNUSED, service_each each UNUSED,
			void *closure UNUSED, struct error *err UNUSED)
{
	return SERVICE_NO_BUS;
}
