/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What says that something in an engine is ours, and the network that only this session has: with a
 * way out, or without one.
 */
#include "engine/place/container/container-internal.h"

#include "base/log.h"
#include "base/sha256.h"

#include <string.h>

/* The labels keep decks from touching each other's containers. */
struct json_object *ladder_deck_labels(const struct deck *deck)
{
	char home[SHA256_TEXT_SIZE];
	struct json_object *labels = json_object_new_object();
	sha256_text(deck->paths.state, home);
	json_set_string(labels, LABEL_HOME, home);
	return labels;
}

struct json_object *ladder_labels(const struct ladder *ladder)
{
	cleanup_free char *digest = recipe_digest(ladder->instance->recipe);
	struct json_object *labels = ladder_deck_labels(ladder->deck);
	json_set_string(labels, LABEL_INSTANCE, ladder->instance->id);
	json_set_string(labels, LABEL_BASE, ladder->instance->base);
	json_set_string(labels, LABEL_RECIPE, digest);
	return labels;
}

bool ladder_has_network(const struct recipe *recipe)
{
	const char *network = or_empty(recipe->network);
	return streq(network, NETWORK_OWN) || streq(network, NETWORK_INTERNAL);
}

int ladder_find_network(const struct ladder *ladder, char **ret_id, struct error *err)
{
	cleanup_free char *name = xasprintf("%s-net", ladder->instance->base);
	cleanup_json struct json_object *labels = ladder_deck_labels(ladder->deck);
	json_set_string(labels, LABEL_INSTANCE, ladder->instance->id);
	return engine_find_network(ladder->engine, name, labels, ret_id, err);
}

/* Free the network of a session that has no running container.  The next start makes it again. */
static int give_back(const struct ladder *ladder, const char *name, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_json struct json_object *labels = ladder_deck_labels(ladder->deck);
	cleanup_free char *base = NULL, *id = NULL;
	int r = engine_network_label(ladder->engine, name, LABEL_BASE, &base, err);
	/* A session that is being started has a network, and no container yet. */
	if (r == 0)
		r = store_lock(ladder->deck->store, base, 0, &lock, err);
	if (r == 0)
		r = engine_find_network(ladder->engine, name, labels, &id, err);
	if (r == 0)
		r = engine_remove_network(ladder->engine, id, err);
	if (r == 0)
		log_info("the network %s was given back, since the engine has no other one left",
			 name);
	return r < 0 ? -1 : 0;
}

/* Docker has some thirty of them, and stopped sessions keep theirs. */
static int give_back_all(const struct ladder *ladder, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_json struct json_object *labels = ladder_deck_labels(ladder->deck);
	if (engine_list_networks(ladder->engine, labels, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (give_back(ladder, names.items[i], err) < 0)
			return -1;
	return 0;
}

/* "could not find an available, non-overlapping IPv4 address pool", "all predefined address pools
 * have been fully subnetted", "could not find free subnet from subnet pools" */
static bool lacks_addresses(const struct error *err)
{
	return err->code == ERROR_CHILD && strstr(err->message, "pool");
}

static int make(const struct ladder *ladder, const char *name, char **ret, struct error *err)
{
	const bool is_internal = streq(ladder->instance->recipe->network, NETWORK_INTERNAL);
	cleanup_json struct json_object *labels = ladder_labels(ladder);
	struct error why = { 0 };
	int r = engine_make_network(ladder->engine, name, is_internal, labels, ret, &why);
	if (r < 0 && lacks_addresses(&why)) {
		error_clear(&why);
		r = give_back_all(ladder, &why) < 0
			    ? -1
			    : engine_make_network(ladder->engine, name, is_internal, labels, ret,
						  &why);
	}
	if (r >= 0)
		return r;
	if (!lacks_addresses(&why))
		return error_move(err, &why);
	error_clear(&why);
	return error_set(err, ERROR_BUSY,
			 "%s has no addresses left for another network: stop sessions, remove "
			 "networks that nothing uses (%s network prune), give it more "
			 "(default-address-pools), or make this session with --network shared",
			 ladder->instance->recipe->engine, ladder->instance->recipe->engine);
}

int ladder_make_network(const struct ladder *ladder, char **ret, struct error *err)
{
	cleanup_free char *name = xasprintf("%s-net", ladder->instance->base);
	int r = ladder_find_network(ladder, ret, err);
	if (r == ENGINE_ABSENT)
		r = make(ladder, name, ret, err);
	return r == ENGINE_TAKEN ? error_set(err, ERROR_EXISTS,
					     "the network %s is not this session's: remove it, or "
					     "choose another with --network",
					     name)
				 : r;
}
