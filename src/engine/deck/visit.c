/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/visit.h"

#include "model/session/naming.h"

#include <stdlib.h>

int visit_begin(struct deck *deck, const char *profile, struct visit *ret, struct error *err)
{
	struct store *store;
	if (streq(profile, deck->profile))
		return 0;
	if (naming_check_profile(profile, err) < 0 ||
	    deck_open_profile(deck, profile, &store, err) < 0)
		return -1;
	*ret = (struct visit){ .deck = deck, .profile = deck->profile, .store = deck->store };
	deck->profile = xstrdup(profile);
	deck->store = store;
	return 0;
}

void visit_end(struct visit *visit)
{
	if (!visit->deck)
		return;
	store_close(visit->deck->store);
	free(visit->deck->profile);
	visit->deck->store = visit->store;
	visit->deck->profile = visit->profile;
}
