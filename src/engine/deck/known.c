/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/known.h"

#include "driver/store/trash.h"
#include "model/session/naming.h"

void known_clear(struct known *known)
{
	for (size_t i = 0; i < known->count; i++) {
		free(known->sessions[i].profile);
		free(known->sessions[i].base);
		free(known->sessions[i].id);
		instance_free(known->sessions[i].instance);
	}
	free(known->sessions);
	*known = (struct known){ 0 };
}

/* Takes the instance. */
static struct known_session *add(struct known *known, const struct store *store, const char *base,
				 struct instance *instance)
{
	known->sessions = xreallocarray(known->sessions, known->count + 1,
					sizeof(*known->sessions));
	struct known_session *session = known->sessions + known->count++;
	*session = (struct known_session){
		.profile = xstrdup(store_profile(store)),
		.base = xstrdup(base),
		.id = instance ? xstrdup(instance->id) : naming_id_of_base(base),
		.instance = instance,
	};
	return session;
}

static int gather_listed(struct store *store, void *known, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		struct instance *instance = NULL;
		const int r = store_load(store, rows.rows[i].base, &instance, NULL);
		add(known, store, rows.rows[i].base, instance)->is_damaged = r < 0;
	}
	return 0;
}

static int gather_removed(struct store *store, void *known, struct error *err)
{
	cleanup_trash struct trash trash = { 0 };
	cleanup_strvec struct strvec bases = { 0 };
	if (trash_bases(store, &bases, err) < 0 || trash_list(store, &trash, err) < 0)
		return -1;
	for (size_t i = 0; i < trash.count; i++) {
		struct removed *removed = &trash.items[i];
		struct known_session *session = add(known, store, removed->base,
						    TAKE_PTR(removed->instance));
		session->is_removed = true;
		session->is_damaged = !session->instance && !removed->is_rest;
	}
	/* A session that cannot be read may have all of this, too. */
	for (size_t i = 0; i < bases.count; i++) {
		cleanup_free char *id = naming_id_of_base(bases.items[i]);
		if (!known_find(known, id))
			add(known, store, bases.items[i], NULL)->is_removed = true;
	}
	return 0;
}

int known_gather(const struct deck *deck, struct known *ret, struct error *err)
{
	cleanup_known struct known known = { 0 };
	if (deck_each_profile(deck, gather_listed, &known, err) < 0 ||
	    deck_each_profile(deck, gather_removed, &known, err) < 0)
		return -1;
	*ret = known;
	known = (struct known){ 0 };
	return 0;
}

const struct known_session *known_find(const struct known *known, const char *id)
{
	const struct known_session *found = NULL;
	for (size_t i = 0; i < known->count; i++) {
		const struct known_session *session = known->sessions + i;
		/* A session that was removed just now is in the trash, too. */
		if (streq(session->id, id) && (!found || !found->instance))
			found = session;
	}
	return found;
}

const struct known_session *known_in(const struct known *known, const char *path)
{
	for (size_t i = 0; i < known->count; i++) {
		const struct known_session *session = known->sessions + i;
		if (!session->is_removed && session->instance &&
		    path_is_below(session->instance->cwd, path))
			return session;
	}
	return NULL;
}
