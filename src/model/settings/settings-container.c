/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/settings/settings-internal.h"

#include "model/session/fields.h"

static const struct {
	const char *key, *words[4], *all;
} choices[] = {
	{ ".auth", { "sync", "token", "ignore" }, "\"sync\", \"token\" or \"ignore\"" },
	{ ".program", { "image", "host" }, "\"image\" or \"host\"" },
	{ ".role_rights", { "locked", "standard", "open" }, "\"locked\", \"standard\" or \"open\"" },
	{ ".docker",
	  { "rootless", "rootless-tcp", "none" },
	  "\"rootless\", \"rootless-tcp\" or \"none\"" },
};

const char *const *settings_choice_words(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		if (starts_with(path, "container") && ends_with(path, choices[i].key))
			return choices[i].words;
	return NULL;
}

int settings_store_choice(const struct toml_document *document, const struct toml_key *key,
			  struct json_object *value, void *field, struct error *err)
{
	int r = toml_store_string(document, key, value, field, err);
	const char *text = r < 0 ? NULL : *(char **)field;
	if (r == 0 && !*text)
		r = toml_error(document, key->path, err, "%s is empty: omit it", key->path);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(choices); i++)
		if (ends_with(key->path, choices[i].key) && word_find(choices[i].words, text) < 0)
			r = toml_error(document, key->path, err, "%s is \"%s\": choose %s",
				       key->path, text, choices[i].all);
	return r;
}
