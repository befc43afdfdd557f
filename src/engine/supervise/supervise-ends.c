/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/alive.h"

#include <stdlib.h>
#include <time.h>

/* So long before the end of the host, their users are told. */
enum { LEAD_MS = 600000 };

static void tell_all(void *context)
{
	const struct supervisor *supervisor = context;
	/* With the zone: a node may have another one than the user. */
	char date[sizeof "2026-04-14 11:08 +0000"] = "";
	const time_t ends = supervisor->ends_us / 1000000;
	struct tm tm;
	if (!localtime_r(&ends, &tm) || strftime(date, sizeof date, "%Y-%m-%d %H:%M %z", &tm) == 0)
		date[0] = '\0';
	cleanup_free char *words = xasprintf("its host ends at %s", date);
	log_info("this host ends at %s", date);
	for (size_t i = 0; i < roster_count(supervisor->roster); i++) {
		const struct roster_entry *entry = roster_at(supervisor->roster, i);
		if (entry->owner && place_is_live(&entry->row.run))
			calls_notify(entry->owner, "ends", words);
	}
}

void ends_open(struct supervisor *supervisor)
{
	cleanup_error struct error err = { 0 };
	struct loop_source *source;
	int64_t ends_s = 0;
	if (!parse_int64(or_empty(getenv(SUPERVISE_ENDS)), 1, INT32_MAX, &ends_s))
		return;
	supervisor->ends_us = ends_s * 1000000;
	const int64_t left_ms = (supervisor->ends_us - clock_wall_us()) / 1000;
	if (left_ms > 0 && loop_add_timer(supervisor->loop, clock_ms() + left_ms - LEAD_MS,
					  tell_all, supervisor, &source, &err) < 0)
		log_warning("no user is told before this host ends: %s", err.message);
}
