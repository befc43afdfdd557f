/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/resolve.h"
#include "engine/place/container/survey.h"
#include "engine/reconcile/reconcile-internal.h"
#include "engine/reconcile/reconcile.h"
#include "model/session/naming.h"

#include <string.h>

/* One engine. */
struct answer {
	char *url, *tls;
	struct engine *engine; /* NULL: it does not answer */
	struct survey survey;
};

struct asked {
	struct answer *items;
	size_t count;
};

void asked_free(struct asked *asked)
{
	for (size_t i = 0; asked && i < asked->count; i++) {
		free(asked->items[i].url);
		free(asked->items[i].tls);
		engine_close(asked->items[i].engine);
		survey_free(&asked->items[i].survey);
	}
	if (asked)
		free(asked->items);
	free(asked);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static const struct answer *answer_of(const struct asked *asked, const char *url)
{
	for (size_t i = 0; i < asked->count; i++)
		if (streq(asked->items[i].url, url))
			return asked->items + i;
	return NULL;
}

static void set_where(struct stray *stray, const struct answer *answer)
{
	stray->engine = xstrdup(answer->url);
	stray->tls = xstrdup_or_null(answer->tls);
}

static void add_silent(struct strays *strays, const struct answer *answer, const struct error *why)
{
	const struct stray_facts facts = { .kind = STRAY_ENGINE, .presence = STRAY_UNKNOWN };
	struct stray *stray = strays_add(strays, &facts, answer->url);
	set_where(stray, answer);
	replace_string(&stray->why, why->message);
	stray->remedy = xstrdup("start it, and run agentdeck doctor --fix again: nothing of it "
				"counts as gone");
}

/* is_needed: it has a session's container. */
static void ask(const struct deck *deck, struct asked *asked, const struct engine_address *address,
		bool is_needed, struct strays *strays)
{
	cleanup_error struct error err = { 0 };
	struct answer answer = { 0 };
	if (answer_of(asked, address->url))
		return;
	int r = engine_open(address, &answer.engine, &err);
	if (r == 0)
		r = survey_look(deck, answer.engine, &answer.survey, &err);
	if (r < 0) {
		engine_close(answer.engine);
		answer.engine = NULL;
	}
	if (r < 0 && !is_needed)
		return;
	answer.url = xstrdup(address->url);
	answer.tls = xstrdup_or_null(address->tls);
	asked->items = xreallocarray(asked->items, asked->count + 1, sizeof(*asked->items));
	asked->items[asked->count++] = answer;
	if (r < 0)
		add_silent(strays, &answer, &err);
}

static void ask_by_name(const struct deck *deck, struct asked *asked, const char *name,
			struct strays *strays)
{
	cleanup_engine_address struct engine_address address = { 0 };
	if (name && engine_find(name, deck->settings.container.engine, &address, NULL) == 0)
		ask(deck, asked, &address, false, strays);
}

struct asked *asked_engines(struct deck *deck, const struct known *known, struct strays *strays)
{
	struct asked *asked = xcalloc(1, sizeof(*asked));
	const struct settings *settings = &deck->settings;
	for (size_t i = 0; i < known->count; i++) {
		const struct instance *instance = known->sessions[i].instance;
		const struct container_needs needs = instance ? container_needs(instance)
							      : (struct container_needs){ 0 };
		if (needs.engine)
			ask(deck, asked, &needs.address, instance_has_container(instance), strays);
	}
	ask_by_name(deck, asked, settings->container.engine, strays);
	for (size_t i = 0; i < settings->group_count; i++)
		ask_by_name(deck, asked, settings->groups[i].container.engine, strays);
	ask_by_name(deck, asked, "docker", strays);
	ask_by_name(deck, asked, "podman", strays);
	return asked;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* A container has the labels of its image, and an image those of the container that it is a copy
 * of. */
static bool is_renamed(const struct survey_item *item)
{
	cleanup_free char *id = naming_id_of_base(item->name);
	return !streq(id, item->session);
}

static char *remedy_of(const struct answer *answer, const struct survey_item *item)
{
	const char *program = engine_kind_name(engine_kind_of(answer->engine));
	if (item->kind == STRAY_IMAGE_NAME)
		return xasprintf("%s rmi %s, if no other deck has it", program, item->name);
	if (is_renamed(item))
		return NULL;
	if (item->runs)
		return xasprintf("%s stop %s, and agentdeck doctor --fix again", program,
				 item->name);
	return NULL;
}

/* The directory of the session that it was made for, without a manifest, and with something that no
 * start makes again: what is on disk was compared before.  Borrowed. */
static const char *kept_directory(const struct strays *strays, const char *session)
{
	for (size_t i = 0; i < strays->count; i++) {
		const struct stray *stray = strays->items + i;
		if (stray->kind == STRAY_DIRECTORY && stray->action == STRAY_KEEP &&
		    streq(or_empty(stray->session), session))
			return stray->name;
	}
	return NULL;
}

static void compare_item(const struct answer *answer, const struct survey_item *item,
			 const struct known *known, struct strays *strays)
{
	const struct known_session *session = known_find(known, item->session);
	const char *kept = session ? NULL : kept_directory(strays, item->session);
	cleanup_free char *directory = xstrdup_or_null(kept);
	const struct stray_facts facts = {
		.kind = item->kind,
		.session = !session              ? STRAY_OF_NONE
			   : session->is_removed ? STRAY_OF_REMOVED
						 : STRAY_OF_LISTED,
		.presence = STRAY_THERE,
		.is_ours = true,
		.is_renamed = item->kind != STRAY_IMAGE_NAME && is_renamed(item),
		.runs = item->runs,
		.has_directory = directory != NULL,
	};
	struct stray *stray = strays_add(strays, &facts, item->name);
	if (!stray)
		return;
	set_where(stray, answer);
	stray->session = xstrdup(item->session);
	stray->remedy = session ? xasprintf("agentdeck -p %s undo %s, or prune", session->profile,
					    session->id)
				: remedy_of(answer, item);
	if (directory && !stray->remedy)
		stray->remedy = xasprintf("it goes when %s is gone: take what you need from there",
					  directory);
}

/* Look for the session's container by name; if it is missing, look a second time. */
static int look_for(const struct deck *deck, const struct answer *answer,
		    const struct known_session *session, struct stray_facts *ret, struct error *err)
{
	enum survey_answer seen = SURVEY_ABSENT;
	struct stray_facts facts = *ret;
	while (facts.missed < 2) {
		if (survey_find(deck, answer->engine, session->base, session->id, &seen, err) < 0)
			return -1;
		if (seen != SURVEY_ABSENT)
			break;
		facts.missed++;
	}
	facts.presence = seen == SURVEY_ABSENT ? STRAY_MISSING : STRAY_THERE;
	facts.is_ours = seen == SURVEY_OURS;
	*ret = facts;
	return 0;
}

static void compare_session(const struct deck *deck, const struct answer *answer,
			    const struct known_session *session, struct strays *strays)
{
	cleanup_error struct error err = { 0 };
	struct stray_facts facts = { .kind = STRAY_CONTAINER, .session = STRAY_OF_LISTED };
	/* What another engine does not have is not gone. */
	const char *kind = engine_kind_name(engine_kind_of(answer->engine));
	const char *own = container_needs(session->instance).engine;
	int r = streq(kind, own) ? look_for(deck, answer, session, &facts, &err)
				 : error_set(&err, ERROR_UNAVAILABLE,
					     "%s answers in the place of %s", kind, own);
	struct stray *stray = strays_add(strays, &facts, session->base);
	if (!stray)
		return;
	set_where(stray, answer);
	stray->session = xstrdup(session->id);
	if (r < 0)
		replace_string(&stray->why, err.message);
}

void asked_compare(const struct deck *deck, struct asked *asked, const struct known *known,
		   struct strays *strays)
{
	for (size_t i = 0; i < asked->count; i++)
		for (size_t j = 0; j < asked->items[i].survey.count; j++)
			compare_item(asked->items + i, asked->items[i].survey.items + j, known,
				     strays);
	for (size_t i = 0; i < known->count; i++) {
		const struct known_session *session = known->sessions + i;
		const struct instance *instance = session->instance;
		if (session->is_removed || !instance || !instance_has_container(instance))
			continue;
		const struct answer *answer = answer_of(asked,
							container_needs(instance).address.url);
		if (answer && answer->engine)
			compare_session(deck, answer, session, strays);
	}
}

bool asked_runs(const struct asked *asked, const char *session)
{
	for (size_t i = 0; i < asked->count; i++)
		for (size_t j = 0; j < asked->items[i].survey.count; j++)
			if (asked->items[i].survey.items[j].runs &&
			    streq(asked->items[i].survey.items[j].session, session))
				return true;
	return false;
}

/* ---- freeing --------------------------------------------------------------------------------- */

int asked_fix(const struct deck *deck, const struct stray *stray, struct error *err)
{
	cleanup_engine struct engine *engine = NULL;
	const struct engine_address address = { .url = stray->engine, .tls = stray->tls };
	const struct survey_item item = { stray->kind, stray->name, stray->session, false };
	return engine_open(&address, &engine, err) < 0 ? -1
						       : survey_remove(deck, engine, &item, err);
}
