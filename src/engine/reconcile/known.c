/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/reconcile/known.h"

#include "driver/store/trash.h"
#include "engine/place/container/resolve.h"
#include "model/session/naming.h"

#include <string.h>

static void clear_session(struct known_session *session)
{
	free(session->id);
	free(session->base);
	free(session->title);
	free(session->profile);
	free(session->directory);
	free(session->tree);
	free(session->engine);
	engine_address_clear(&session->address);
}

void known_clear(struct known *known)
{
	for (size_t i = 0; i < known->count; i++)
		clear_session(known->sessions + i);
	free(known->sessions);
	*known = (struct known){ 0 };
}

static struct known_session *add(struct known *known, const struct store *store, const char *base,
				 enum stray_session where)
{
	known->sessions = xreallocarray(known->sessions, known->count + 1,
					sizeof(*known->sessions));
	known->sessions[known->count] = (struct known_session){
		.id = naming_id_of_base(base),
		.base = xstrdup(base),
		.title = xstrdup(base),
		.profile = xstrdup(store_profile(store)),
		.where = where,
	};
	return known->sessions + known->count++;
}

static void take(struct known_session *session, const struct instance *instance)
{
	const struct container_needs needs = container_needs(instance);
	replace_string(&session->id, instance->id);
	replace_string(&session->title, instance->title);
	replace_string(&session->directory, instance->cwd);
	if (instance->workspace && instance->workspace->is_made)
		replace_string(&session->tree, instance->workspace->path);
	session->has_container = instance_has_container(instance);
	session->engine = xstrdup_or_null(needs.engine);
	session->address = (struct engine_address){
		.url = xstrdup_or_null(needs.address.url),
		.tls = xstrdup_or_null(needs.address.tls),
		.context = xstrdup_or_null(needs.address.context),
	};
}

static int gather_listed(struct store *store, void *known, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (store_list(store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		cleanup_instance struct instance *instance = NULL;
		struct known_session *session = add(known, store, rows.rows[i].base,
						    STRAY_OF_LISTED);
		if (!rows.rows[i].damage &&
		    store_load(store, rows.rows[i].base, &instance, NULL) == 0)
			take(session, instance);
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
		struct known_session *session = add(known, store, trash.items[i].base,
						    STRAY_OF_REMOVED);
		if (trash.items[i].instance)
			take(session, trash.items[i].instance);
	}
	/* A session that cannot be read may have all of this, too. */
	for (size_t i = 0; i < bases.count; i++) {
		cleanup_free char *id = naming_id_of_base(bases.items[i]);
		if (!known_find(known, id))
			(void)add(known, store, bases.items[i], STRAY_OF_REMOVED);
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
	for (size_t i = 0; i < known->count; i++)
		if (streq(known->sessions[i].id, id))
			return known->sessions + i;
	return NULL;
}

const struct known_session *known_in(const struct known *known, const char *path)
{
	const size_t length = strlen(path);
	for (size_t i = 0; i < known->count; i++) {
		const char *directory = or_empty(known->sessions[i].directory);
		if (known->sessions[i].where == STRAY_OF_LISTED && starts_with(directory, path) &&
		    (directory[length] == '/' || directory[length] == '\0'))
			return known->sessions + i;
	}
	return NULL;
}
