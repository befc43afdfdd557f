/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lifecycle_move_group(): a group exists only as a text of its sessions.
 */

#include "base/log.h"
#include "engine/run/change.h"
#include "engine/run/operation.h"
#include "engine/screen/screen.h"
#include "model/session/naming.h"

#include <string.h>

/* What becomes of a group in from.  The caller frees. */
static char *moved(const char *group, const char *from, const char *to)
{
	const char *rest = group + strlen(from);
	return *to ? xasprintf("%s%s", to, rest) : xstrdup(rest + (*rest == '/'));
}

/* The session may have been moved or removed since it was listed: then leave it. */
static int move_one(struct deck *deck, const struct store_row *row, const char *group,
		    size_t *ret_count, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	cleanup_error struct error failure = { 0 };
	if (operation_open(deck, row->base, OPERATION_TIMEOUT_MS, &operation, &failure) < 0)
		return failure.code == ERROR_NOT_FOUND
			       ? 0
			       : error_set(err, failure.code, "%s", failure.message);
	if (!streq(or_empty(operation.instance->group), row->group))
		return 0;
	replace_string(&operation.instance->group, group);
	if (operation_save(&operation, err) < 0)
		return -1;
	screen_show_title(deck, operation.instance);
	++*ret_count;
	return 0;
}

static void warn_of_limits(struct deck *deck, const char *from)
{
	for (size_t i = 0; i < deck->settings.group_count; i++)
		if (naming_is_in_group(deck->settings.groups[i].group, from))
			deck_warn(deck,
				  "config.toml still has limits for the group '%s': they do not "
				  "follow its sessions (agentdeck config edit)",
				  deck->settings.groups[i].group);
}

int lifecycle_move_group(struct deck *deck, const char *from, const char *to, size_t *ret_count,
			 struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	size_t count = 0;
	if (store_list(deck->store, &rows, err) < 0)
		return -1;
	/* All names first: a half is worse than nothing. */
	for (size_t i = 0; i < rows.count; i++) {
		const char *group = or_empty(rows.rows[i].group);
		cleanup_free char *target = naming_is_in_group(group, from) ? moved(group, from, to)
									    : NULL;
		if (!is_empty(target) && naming_check_group(target, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < rows.count; i++) {
		const char *group = or_empty(rows.rows[i].group);
		if (!naming_is_in_group(group, from))
			continue;
		cleanup_free char *target = moved(group, from, to);
		if (move_one(deck, &rows.rows[i], target, &count, err) < 0)
			return error_prefix(
				err, "%zu sessions are moved, run it again for the rest", count);
	}
	warn_of_limits(deck, from);
	log_info("group: %s -> %s, %zu sessions", from, *to ? to : "none", count);
	*ret_count = count;
	return 0;
}
