/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/unpack.h"

#include "engine/export/arrive.h"
#include "engine/export/entry.h"
#include "engine/hosts/kept.h"

static int make(struct deck *deck, const struct unpack_file *file, struct entry *entry,
		struct instance **ret, struct error *err)
{
	cleanup_known struct known known = { 0 };
	bool is_there = false;
	if (entry_find_owners(deck, &known, err) < 0 ||
	    entry_check_owners(entry, &known, err) < 0 ||
	    entry_check_disk(entry, &is_there, err) < 0)
		return -1;
	if (entry->parcel->number && !is_there && entry_plant(deck, file, entry, err) < 0)
		return -1;
	const int r = lifecycle_add(deck, &entry->wish, ret, err);
	if (r < 0)
		entry_uproot(deck, entry->parcel, entry->id);
	return r;
}

int unpack_session(struct deck *deck, const struct unpack_order *order, struct instance **ret,
		   struct error *err)
{
	cleanup_unpack struct unpack_file file = UNPACK_NO_FILE;
	cleanup_entry struct entry entry = { .kind = ENTRY_IMPORT };
	if (unpack_open(order->file, &file, err) < 0)
		return -1;
	if (file.parcels.count != 1)
		return error_set(err, ERROR_INVALID,
				 "%s has %zu sessions, and not one: agentdeck restore takes them",
				 order->file, file.parcels.count);
	entry.parcel = &file.parcels.items[0];
	if (order->move)
		return arrive_session(deck, &file, order, ret, err);
	const struct kept_question question = { .agent = entry.parcel->agent,
						.session_id = entry.parcel->session_id };
	return entry_settle(deck, &file, order, &entry, err) < 0 ||
			       kept_check(deck, &question, err) < 0
		       ? -1
		       : make(deck, &file, &entry, ret, err);
}
