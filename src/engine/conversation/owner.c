/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/owner.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "engine/conversation/location.h"
#include "model/session/naming.h"

enum { LOCK_TIMEOUT_MS = 10000 };

int owner_lock(struct deck *deck, struct fs_lock *lock, struct error *err)
{
	if (lock->fd >= 0)
		return 0;
	int r = fs_lock(store_state_directory(deck->store), "conversations.lock",
			clock_ms() + LOCK_TIMEOUT_MS, lock, err);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY,
				 "another agentdeck holds conversations.lock: try again");
	return r < 0 ? error_prefix(err, "%s", deck->paths.state) : 0;
}

void owner_profiles_free(struct owner_profiles *profiles)
{
	for (size_t i = 0; i < profiles->count; i++) {
		store_rows_free(&profiles->items[i].rows);
		if (!profiles->items[i].is_own)
			store_close(profiles->items[i].store);
	}
	free(profiles->items);
	*profiles = (struct owner_profiles){ 0 };
}

int owner_list(struct deck *deck, struct owner_profiles *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (deck_profiles(deck, &names, err) < 0)
		return -1;
	profiles.items = xcalloc(names.count + 1, sizeof(*profiles.items));
	profiles.items[profiles.count++] = (struct owner_profile){ .store = deck->store,
								   .is_own = true };
	if (store_list(deck->store, &profiles.items[0].rows, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct owner_profile *profile = &profiles.items[profiles.count];
		if (streq(names.items[i], deck->profile))
			continue;
		if (deck_open_profile(deck, names.items[i], &profile->store, err) < 0)
			return -1;
		profiles.count++;
		if (store_list(profile->store, &profile->rows, err) < 0)
			return -1;
	}
	*ret = profiles;
	profiles = (struct owner_profiles){ 0 };
	return 0;
}

int owner_fail_unread(const char *id, struct error *err)
{
	return error_set(err, ERROR_CORRUPT,
			 "the manifest of session %s cannot be read, and it may have the "
			 "conversation: repair or remove that session first",
			 id);
}

int owner_check_read(const struct owner_profiles *profiles, struct error *err)
{
	for (size_t i = 0; i < profiles->count; i++)
		for (size_t j = 0; j < profiles->items[i].rows.count; j++)
			if (profiles->items[i].rows.rows[j].damage)
				return owner_fail_unread(profiles->items[i].rows.rows[j].id, err);
	return 0;
}

bool owner_is_self(const struct owner_profile *profile, const struct store_row *row,
		   const struct instance *instance)
{
	return profile->is_own &&
	       streq(row->base, or_empty(instance->base ? instance->base : instance->id));
}

static bool owns(const struct store_row *row, const struct instance *instance,
		 const struct agent *agent, const char *session_id)
{
	return !row->damage && streq(row->agent, instance->agent) &&
	       (naming_same_session_id(row->session_id, session_id) ||
		naming_same_session_id(row->next_session_id, session_id)) &&
	       location_same_home(agent, row->config_home, instance->conversation.config_home);
}

static int find_in(struct deck *deck, const struct owner_profiles *profiles,
		   const struct instance *instance, const char *session_id,
		   struct shared_conversation *ret)
{
	const struct agent *agent = NULL;
	(void)deck_agent(deck, instance->agent, &agent, NULL);
	for (size_t i = 0; i < profiles->count; i++) {
		const struct owner_profile *profile = &profiles->items[i];
		for (size_t j = 0; j < profile->rows.count; j++) {
			const struct store_row *row = &profile->rows.rows[j];
			if (owner_is_self(profile, row, instance) ||
			    !owns(row, instance, agent, session_id))
				continue;
			*ret = (struct shared_conversation){
				.session_id = xstrdup(session_id),
				.owner = xstrdup(row->id),
				.title = xstrdup(row->title),
				.profile = profile->is_own ? NULL
							   : xstrdup(store_profile(profile->store)),
			};
			return 0;
		}
	}
	return OWNER_NONE;
}

int owner_find(struct deck *deck, const struct instance *instance, const char *session_id,
	       struct shared_conversation *ret, struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	return find_in(deck, &profiles, instance, session_id, ret);
}

char *owner_command(const struct shared_conversation *owned)
{
	return xasprintf("agentdeck%s%s", owned->profile ? " --profile " : "",
			 or_empty(owned->profile));
}

/* Frees it. */
static int fail_owned(struct shared_conversation *owned, struct error *err)
{
	cleanup_free char *text = shared_conversation_text(owned);
	cleanup_free char *shown = visible(text);
	cleanup_free char *command = owner_command(owned);
	int r = error_set(
		err, ERROR_EXISTS,
		"%s belongs to that session: continue there with %s session start %s, make a copy "
		"with %s session fork %s, or remove that session first",
		shown, command, owned->owner, command, owned->owner);
	shared_conversation_clear(owned);
	return r;
}

int owner_check(struct deck *deck, const struct instance *instance, const char *session_id,
		struct error *err)
{
	struct shared_conversation owned = { 0 };
	int r = owner_find(deck, instance, session_id, &owned, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	return fail_owned(&owned, err);
}

static void add_id(struct json_object *ids, const char *session_id)
{
	if (!session_id)
		return;
	cleanup_free char *key = naming_session_id_key(session_id);
	json_set_bool(ids, key, true);
}

void owner_list_ids(const struct owner_profiles *profiles, struct json_object *ret)
{
	for (size_t i = 0; i < profiles->count; i++)
		for (size_t j = 0; j < profiles->items[i].rows.count; j++) {
			add_id(ret, profiles->items[i].rows.rows[j].session_id);
			add_id(ret, profiles->items[i].rows.rows[j].next_session_id);
		}
}

int owner_check_many(struct deck *deck, const struct instance *const *instances, size_t count,
		     struct error *err)
{
	cleanup_owner_profiles struct owner_profiles profiles = { 0 };
	cleanup_json struct json_object *ids = json_object_new_object();
	if (owner_list(deck, &profiles, err) < 0)
		return -1;
	owner_list_ids(&profiles, ids);
	for (size_t i = 0; i < count; i++) {
		struct shared_conversation owned = { 0 };
		const char *id = instances[i]->conversation.session_id;
		cleanup_free char *key = id ? naming_session_id_key(id) : NULL;
		if (key && json_object_object_get_ex(ids, key, NULL) &&
		    find_in(deck, &profiles, instances[i], id, &owned) == 0)
			return fail_owned(&owned, err);
	}
	return 0;
}
