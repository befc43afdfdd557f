/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/reconcile/reconcile.h"

#include "base/log.h"
#include "engine/reconcile/reconcile-internal.h"

int reconcile_look(struct deck *deck, struct strays *ret, struct error *err)
{
	cleanup_strays struct strays strays = { 0 };
	cleanup_known struct known before = { 0 }, known = { 0 };
	cleanup_on_disk struct on_disk *on_disk = NULL;
	if (known_gather(deck, &before, err) < 0 || on_disk_list(deck, &on_disk, err) < 0)
		return -1;
	cleanup_asked struct asked *asked = asked_engines(deck, &before, &strays);
	if (known_gather(deck, &known, err) < 0 ||
	    on_disk_compare(deck, on_disk, &(struct there){ &known, asked }, &strays, err) < 0)
		return -1;
	asked_compare(deck, asked, &known, &strays);
	branches_compare(deck, &strays);
	*ret = strays;
	strays = (struct strays){ 0 };
	return 0;
}

static int fix_engine(const struct deck *deck, const struct stray *stray, struct error *err)
{
	cleanup_known struct known known = { 0 };
	if (known_gather(deck, &known, err) < 0)
		return -1;
	if (known_find(&known, stray->session))
		return error_set(err, ERROR_BUSY, "it has a session now");
	return asked_fix(deck, stray, err);
}

static void fix(struct deck *deck, struct stray *stray)
{
	struct error err = { 0 };
	const int r = stray->repository ? branches_fix(deck, stray, &err)
		      : stray->engine   ? fix_engine(deck, stray, &err)
					: on_disk_fix(deck, stray, &err);
	stray->is_freed = r == 0;
	if (r == 0)
		log_info("freed, since it has no session: %s %s", stray_kind_name(stray->kind),
			 stray->name);
	else
		log_warning("%s %s is left: %s", stray_kind_name(stray->kind), stray->name,
			    err.message);
	replace_string(&stray->failure, err.message);
	error_clear(&err);
}

int reconcile_fix(struct deck *deck, struct strays *strays, struct error *err)
{
	size_t left = 0;
	for (size_t i = 0; i < strays->count; i++) {
		struct stray *stray = strays->items + i;
		if (stray->action != STRAY_FREE)
			continue;
		fix(deck, stray);
		left += !stray->is_freed;
	}
	if (left)
		return error_set(err, ERROR_SYSTEM, "%zu of %zu could not be freed", left,
				 strays_count(strays, STRAY_FREE));
	return 0;
}
