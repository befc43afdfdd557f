/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/role/built.h"

#include "engine/role/trust.h"

#include <string.h>

void built_clear(struct built *built)
{
	free(built->address);
	free(built->image_id);
	free(built->commit);
	free(built->dockerfile);
	free(built->inputs);
	strvec_clear(&built->bases);
	free(built->version);
	*built = (struct built){ 0 };
}

static char *text_of(const struct json_object *object, const char *key)
{
	return xstrdup_or_null(json_get_string(object, key, NULL));
}

int built_load(const struct deck *deck, const char *name, struct built *ret, struct error *err)
{
	cleanup_json struct json_object *object = NULL;
	const int r = trust_get_built(deck, name, &object, err);
	if (r != 0)
		return r < 0 ? -1 : BUILT_NONE;
	*ret = (struct built){
		.address = text_of(object, "address"),
		.image_id = text_of(object, "image_id"),
		.commit = text_of(object, "commit"),
		.dockerfile = text_of(object, "dockerfile"),
		.inputs = text_of(object, "inputs"),
		.version = text_of(object, "version"),
	};
	json_get_strings(object, "bases", &ret->bases);
	return 0;
}

int built_save(const struct deck *deck, const char *name, const struct built *built,
	       struct error *err)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "address", built->address);
	json_set_string(object, "image_id", built->image_id);
	json_set_string(object, "commit", built->commit);
	json_set_string(object, "dockerfile", built->dockerfile);
	json_set_string(object, "inputs", built->inputs);
	json_set_strings(object, "bases", &built->bases);
	json_set_string(object, "version", built->version);
	return trust_put_built(deck, name, object, err);
}

static void add(struct strbuf *text, const char *what, const char *more)
{
	strbuf_addf(text, "%s%s%s", text->length ? ", " : "", what, more);
}

static bool differs(const char *a, const char *b)
{
	return !streq(or_empty(a), or_empty(b));
}

char *built_difference(const struct built *before, const struct built *now)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const bool has_text_changed = differs(before->dockerfile, now->dockerfile);
	if (differs(before->commit, now->commit))
		add(&text, "its commit", "");
	if (has_text_changed)
		add(&text, "its Dockerfile", "");
	else if (differs(before->inputs, now->inputs))
		add(&text, "the files or the arguments of its build", "");
	for (size_t i = 0; i < now->bases.count; i++) {
		const char *base = now->bases.items[i];
		cleanup_free char *name = xstrndup(base, strcspn(base, " "));
		if (!has_text_changed && !strvec_contains(&before->bases, base))
			add(&text, "its base ", name);
	}
	if (differs(before->version, now->version))
		add(&text, "agentdeck", "");
	return text.length ? strbuf_take(&text) : NULL;
}
