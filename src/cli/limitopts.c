/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/limitopts.h"

int limit_options_read(const struct app *app, struct limit_change *ret, struct error *err)
{
	static const char *const names[LIMIT_COUNT] = {
		[LIMIT_MEMORY_HIGH] = "memory-high",
		[LIMIT_MEMORY_MAX] = "memory-max",
		[LIMIT_TASKS_MAX] = "tasks-max",
		[LIMIT_CPU_WEIGHT] = "cpu-weight",
	};
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const char *value = option_value(app, names[limit]);
		if (!value)
			continue;
		if (limit_parse(limit, value, limit_of(&ret->limits, limit), err) < 0)
			return error_prefix(err, "--%s", names[limit]);
		ret->given[limit] = true;
	}
	return 0;
}
