/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/survey.h"

#include "engine/place/container/bases.h"
#include "engine/place/container/container-internal.h"
#include "model/session/naming.h"

#include <string.h>

#define KEEP "agentdeck/keep"

void survey_free(struct survey *survey)
{
	for (size_t i = 0; i < survey->count; i++) {
		free(survey->items[i].name);
		free(survey->items[i].session);
	}
	free(survey->items);
	*survey = (struct survey){ 0 };
}

static struct survey_item *add(struct survey *survey, enum stray_kind kind, const char *name,
			       const char *session)
{
	survey->items = xreallocarray(survey->items, survey->count + 1, sizeof(*survey->items));
	survey->items[survey->count] = (struct survey_item){
		.kind = kind,
		.name = xstrdup(name),
		.session = xstrdup(session),
	};
	return survey->items + survey->count++;
}

static bool is_of(const struct container *container, struct json_object *labels)
{
	json_object_object_foreach(labels, name, value) {
		if (!streq(json_get_string(container->labels, name, ""),
			   or_empty(json_object_get_string(value))))
			return false;
	}
	return true;
}

static bool is_running(const struct container *container)
{
	return container->state == CONTAINER_RUNNING || container->state == CONTAINER_PAUSED;
}

static int look_at_containers(struct engine *engine, struct json_object *labels,
			      struct survey *survey, struct error *err)
{
	cleanup_strvec struct strvec ids = { 0 };
	if (engine_list(engine, labels, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.count; i++) {
		cleanup_container struct container seen = { 0 };
		int r = engine_inspect(engine, ids.items[i], &seen, err);
		if (r < 0)
			return -1;
		if (r == 0)
			add(survey, STRAY_CONTAINER, seen.name,
			    json_get_string(seen.labels, LABEL_INSTANCE, ""))
				->runs = is_running(&seen);
	}
	return 0;
}

static int look_at_networks(struct engine *engine, struct json_object *labels,
			    struct survey *survey, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (engine_list_networks(engine, labels, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *session = NULL;
		int r = engine_network_label(engine, names.items[i], LABEL_INSTANCE, &session, err);
		if (r < 0)
			return -1;
		if (r == 0)
			add(survey, STRAY_NETWORK, names.items[i], session);
	}
	return 0;
}

/* skipped: what is before the base of the session in each tag. */
static int look_at_names(struct engine *engine, const char *repository, size_t skipped,
			 struct survey *survey, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (engine_list_names(engine, repository, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		const char *tag = strrchr(names.items[i], ':') + 1;
		cleanup_free char *session = strlen(tag) > skipped
						     ? naming_id_of_base(tag + skipped)
						     : xstrdup("");
		add(survey, STRAY_IMAGE_NAME, names.items[i], session);
	}
	return 0;
}

int survey_look(const struct deck *deck, struct engine *engine, struct survey *ret,
		struct error *err)
{
	cleanup_survey struct survey survey = { 0 };
	cleanup_json struct json_object *labels = ladder_deck_labels(deck);
	if (look_at_containers(engine, labels, &survey, err) < 0 ||
	    look_at_networks(engine, labels, &survey, err) < 0 ||
	    look_at_names(engine, KEEP, 0, &survey, err) < 0 ||
	    look_at_names(engine, BASES_REPOSITORY, BASES_DIGITS + 1, &survey, err) < 0)
		return -1;
	*ret = survey;
	survey = (struct survey){ 0 };
	return 0;
}

int survey_find(const struct deck *deck, struct engine *engine, const char *name,
		const char *session, enum survey_answer *ret, struct error *err)
{
	cleanup_container struct container seen = { 0 };
	cleanup_json struct json_object *labels = ladder_deck_labels(deck);
	int r = engine_inspect(engine, name, &seen, err);
	if (r < 0)
		return -1;
	json_set_string(labels, LABEL_INSTANCE, session);
	*ret = r == ENGINE_ABSENT     ? SURVEY_ABSENT
	       : is_of(&seen, labels) ? SURVEY_OURS
				      : SURVEY_FOREIGN;
	return 0;
}

static int remove_container(struct engine *engine, struct json_object *labels,
			    const struct survey_item *item, struct error *err)
{
	cleanup_container struct container seen = { 0 };
	int r = engine_inspect(engine, item->name, &seen, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (!is_of(&seen, labels))
		return error_set(err, ERROR_BUSY, "the container %s is another's now", item->name);
	if (is_running(&seen))
		return error_set(err, ERROR_BUSY, "the container %s runs now", item->name);
	return engine_remove(engine, seen.id, err);
}

static int remove_network(struct engine *engine, struct json_object *labels,
			  const struct survey_item *item, struct error *err)
{
	cleanup_free char *id = NULL;
	int r = engine_find_network(engine, item->name, labels, &id, err);
	if (r == ENGINE_TAKEN)
		return error_set(err, ERROR_BUSY, "the network %s is another's now", item->name);
	if (r != 0)
		return r < 0 ? -1 : 0;
	r = engine_remove_network(engine, id, err);
	return r == ENGINE_IN_USE ? error_set(err, ERROR_BUSY,
					      "the network %s is in use: remove what uses it first",
					      item->name)
				  : r;
}

int survey_remove(const struct deck *deck, struct engine *engine, const struct survey_item *item,
		  struct error *err)
{
	cleanup_json struct json_object *labels = ladder_deck_labels(deck);
	json_set_string(labels, LABEL_INSTANCE, item->session);
	return item->kind == STRAY_CONTAINER ? remove_container(engine, labels, item, err)
	       : item->kind == STRAY_NETWORK ? remove_network(engine, labels, item, err)
					     : 0;
}
