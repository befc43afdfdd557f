/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/owned.h"

#include "driver/store/trash.h"
#include "engine/conversation/owner.h"
#include "model/session/naming.h"

#include <stdlib.h>

void owned_free(struct owned *owned)
{
	for (size_t i = 0; i < owned->count; i++) {
		struct owned_session *item = &owned->items[i];
		free(item->profile);
		free(item->id);
		free(item->title);
		free(item->agent);
		free(item->session_id);
		free(item->next_session_id);
		free(item->origin);
	}
	free(owned->items);
	*owned = (struct owned){ 0 };
}

static struct owned_session *append(struct owned *owned, const char *profile)
{
	owned->items = xreallocarray(owned->items, owned->count + 1, sizeof(*owned->items));
	struct owned_session *item = &owned->items[owned->count++];
	*item = (struct owned_session){ .profile = xstrdup(profile) };
	return item;
}

static int add_rows(const struct owner_profile *profile, struct owned *ret, struct error *err)
{
	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct store_row *row = &profile->rows.rows[i];
		cleanup_instance struct instance *instance = NULL;
		if (row->damage)
			return owner_fail_unread(row, err);
		struct owned_session *item = append(ret, store_profile(profile->store));
		item->id = xstrdup(row->id);
		item->title = xstrdup(or_empty(row->title));
		item->agent = xstrdup(or_empty(row->agent));
		item->session_id = xstrdup_or_null(row->session_id);
		item->next_session_id = xstrdup_or_null(row->next_session_id);
		if (store_load(profile->store, row->base, &instance, NULL) == 0)
			item->origin = xstrdup_or_null(instance->imported_from);
	}
	return 0;
}

static int add_trash(struct store *store, struct owned *ret, struct error *err)
{
	cleanup_trash struct trash trash = { 0 };
	if (trash_list(store, &trash, err) < 0)
		return -1;
	for (size_t i = 0; i < trash.count; i++) {
		const struct instance *instance = trash.items[i].instance;
		if (!instance)
			continue;
		struct owned_session *item = append(ret, store_profile(store));
		item->id = xstrdup(instance->id);
		item->title = xstrdup(or_empty(instance->title));
		item->agent = xstrdup(or_empty(instance->agent));
		item->session_id = xstrdup_or_null(instance->conversation.session_id);
		item->origin = xstrdup_or_null(instance->imported_from);
		item->is_removed = true;
	}
	return 0;
}

int owned_list(struct deck *deck, struct owned *ret, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	cleanup_owned struct owned owned = { 0 };
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		if (add_rows(&profiles.items[i], &owned, err) < 0 ||
		    add_trash(profiles.items[i].store, &owned, err) < 0)
			return -1;
	*ret = owned;
	owned = (struct owned){ 0 };
	return 0;
}

const struct owned_session *owned_by_conversation(const struct owned *owned, const char *agent,
						  const char *session_id)
{
	for (size_t i = 0; session_id && i < owned->count; i++) {
		const struct owned_session *item = &owned->items[i];
		if (streq(item->agent, agent) &&
		    (naming_same_session_id(item->session_id, session_id) ||
		     naming_same_session_id(item->next_session_id, session_id)))
			return item;
	}
	return NULL;
}

const struct owned_session *owned_by_origin(const struct owned *owned, const char *origin)
{
	for (size_t i = 0; i < owned->count; i++)
		if (streq(or_empty(owned->items[i].origin), origin))
			return &owned->items[i];
	return NULL;
}

const struct owned_session *owned_by_id(const struct owned *owned, const char *id)
{
	for (size_t i = 0; i < owned->count; i++)
		if (streq(owned->items[i].id, id))
			return &owned->items[i];
	return NULL;
}
