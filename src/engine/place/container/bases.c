/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/container/bases.h"

#include "driver/context/context.h"

#include <string.h>

void bases_clear(struct bases *bases)
{
	strvec_clear(&bases->found);
	strvec_clear(&bases->pins);
	free(bases->missing);
	*bases = (struct bases){ 0 };
}

/* "NAME ID NAME@DIGEST", in its parts. */
struct entry {
	char *text;
	const char *id, *digest; /* digest NULL: it has none */
};

static void entry_clear(struct entry *entry)
{
	free(entry->text);
}

static void split(const char *text, struct entry *ret)
{
	char *rest = xstrdup(text);
	*ret = (struct entry){ .text = rest };
	(void)strsep(&rest, " ");
	ret->id = strsep(&rest, " ");
	ret->digest = rest;
}

/* NULL: it was built without this name. */
static const char *recorded(const struct recipe *recipe, const char *name)
{
	const size_t length = strlen(name);
	for (size_t i = 0; i < recipe->bases.count; i++)
		if (starts_with(recipe->bases.items[i], name) &&
		    recipe->bases.items[i][length] == ' ')
			return recipe->bases.items[i];
	return NULL;
}

static int settle_new(struct engine *engine, const char *name, struct bases *ret, struct error *err)
{
	cleanup_engine_image struct engine_image image = { 0 };
	const int r = engine_inspect_image(engine, name, &image, err);
	if (r == ENGINE_ABSENT && !ret->missing)
		ret->missing = xstrdup(name);
	if (r == 0)
		strvec_pushf(&ret->found, "%s %s%s%s", name, image.id, image.digest ? " " : "",
			     or_empty(image.digest));
	return r < 0 ? -1 : 0;
}

static int settle_recorded(struct engine *engine, const struct recipe *recipe, const char *name,
			   const char *text, struct bases *ret, struct error *err)
{
	cleanup_engine_image struct engine_image today = { 0 }, then = { 0 };
	CLEANUP(entry_clear) struct entry entry;
	split(text, &entry);
	strvec_push(&ret->found, text);
	if (engine_inspect_image(engine, name, &today, err) < 0)
		return -1;
	if (!entry.id || streq(or_empty(today.id), entry.id))
		return 0;
	const int r = engine_inspect_image(engine, entry.id, &then, err);
	if (r == ENGINE_ABSENT && !ret->missing)
		ret->missing = xstrdup(entry.digest ? entry.digest : name);
	/* Another session may begin from the same one at the same time. */
	const char *session = recipe->keep_tag ? strrchr(recipe->keep_tag, ':') : NULL;
	if (r == 0)
		strvec_pushf(&ret->pins, "%s=" BASES_REPOSITORY ":%.*s-%s", name, BASES_DIGITS,
			     then.id + strcspn(then.id, ":") + 1, session ? session + 1 : "");
	return r < 0 ? -1 : 0;
}

/* Only what follows FROM gets another name. */
static int check_pins(const struct context *context, const struct bases *bases, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_dockerfile_bases struct dockerfile_bases names = { 0 };
	if (!bases->pins.count)
		return 0;
	const int r = context_text(context, &text, err);
	if (r != 0)
		return r < 0 ? -1 : BASES_NO_FILE;
	cleanup_free char *pinned = dockerfile_pin(strbuf_text(&text), context->args, &bases->pins);
	dockerfile_read_bases(pinned, context->args, &names);
	for (size_t i = 0; i < bases->pins.count; i++) {
		const char *pin = bases->pins.items[i];
		cleanup_free char *name = xstrndup(pin, strcspn(pin, "="));
		if (!strvec_contains(&names.all, name) && !streq(or_empty(names.frontend), name))
			continue;
		const struct recipe recipe = { .bases = bases->found };
		CLEANUP(entry_clear) struct entry entry;
		split(recorded(&recipe, name), &entry);
		return error_set(err, ERROR_INVALID,
				 "%s/" CONTEXT_DOCKERFILE " takes files of %s, which means another "
				 "image than when it was built first: give %s that name again",
				 context->directory, name, entry.id);
	}
	return 0;
}

int bases_settle(struct engine *engine, const struct recipe *recipe, struct bases *ret,
		 struct error *err)
{
	const struct context context = { .directory = recipe->build,
					 .dockerfile = recipe->build_file,
					 .args = &recipe->build_args };
	cleanup_dockerfile_bases struct dockerfile_bases names = { 0 };
	cleanup_bases struct bases bases = { 0 };
	int r = context_bases(&context, &names, err);
	if (r != 0)
		return r < 0 ? -1 : BASES_NO_FILE;
	if (names.frontend && engine_kind_of(engine) == ENGINE_DOCKER)
		strvec_push(&names.all, names.frontend);
	for (size_t i = 0; i < names.all.count; i++) {
		const char *name = names.all.items[i], *text = recorded(recipe, name);
		if ((text ? settle_recorded(engine, recipe, name, text, &bases, err)
			  : settle_new(engine, name, &bases, err)) < 0)
			return -1;
	}
	r = check_pins(&context, &bases, err);
	if (r != 0)
		return r;
	*ret = bases;
	bases = (struct bases){ 0 };
	return 0;
}

int bases_tag(struct engine *engine, const struct bases *bases, struct error *err)
{
	for (size_t i = 0; i < bases->pins.count; i++) {
		const char *item = bases->pins.items[i];
		cleanup_free char *name = xstrndup(item, strcspn(item, "="));
		const struct recipe recipe = { .bases = bases->found };
		CLEANUP(entry_clear) struct entry entry;
		split(recorded(&recipe, name), &entry);
		if (engine_tag(engine, entry.id, BASES_REPOSITORY, strrchr(item, ':') + 1, err) < 0)
			return -1;
	}
	return 0;
}

void bases_untag(struct engine *engine, const struct bases *bases)
{
	for (size_t i = 0; i < bases->pins.count; i++)
		(void)engine_untag(engine, strchr(bases->pins.items[i], '=') + 1, NULL);
}
