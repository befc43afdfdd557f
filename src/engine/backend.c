/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/backend.h"

int backend_find(const struct instance *instance, const struct backend **ret, struct error *err)
{
	static const struct backend *const backends[] = { &backend_host };
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		if (streq(backends[i]->name, instance->backend)) {
			*ret = backends[i];
			return 0;
		}
	}
	return error_set(err, ERROR_NEWER, "%s lives in backend '%s', which this agentdeck does not know: "
			 "upgrade agentdeck", instance->id, instance->backend);
}
