/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/saying.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/stages.h"

#include <string.h>

enum {
	QUIET_MS = 1000, /* what takes longer is shown while it runs */
	LAST_LINES = 10,
};

void saying_clear(struct saying *saying)
{
	strvec_clear(&saying->lines);
}

static void tell(struct saying *saying)
{
	for (; saying->told < saying->lines.count; saying->told++)
		if (saying->deck->on_progress)
			saying->deck->on_progress(saying->lines.items[saying->told], false);
}

void saying_add(const char *line, void *data)
{
	struct saying *saying = data;
	strvec_push_take(&saying->lines, visible(line));
	stages_say(saying->deck, saying->lines.items[saying->lines.count - 1]);
	if (clock_ms() - saying->since_ms >= QUIET_MS)
		tell(saying);
	if (saying->lines.count <= LAST_LINES)
		return;
	free(saying->lines.items[0]);
	saying->lines.count--;
	memmove(saying->lines.items, saying->lines.items + 1,
		(saying->lines.count + 1) * sizeof(*saying->lines.items));
	saying->told -= saying->told > 0;
}

void saying_end_badly(const struct saying *saying)
{
	for (size_t i = 0; i < saying->lines.count; i++) {
		log_error("image: %s", saying->lines.items[i]);
		if (saying->deck->on_progress)
			saying->deck->on_progress(saying->lines.items[i], true);
	}
}
