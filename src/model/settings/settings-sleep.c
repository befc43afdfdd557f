/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "model/settings/settings-internal.h"
#include "model/settings/settings.h"

bool settings_sleep_us(const char *text, int64_t *ret_us)
{
	*ret_us = 0;
	return streq(text, "off") || (clock_parse_span(text, ret_us) && *ret_us > 0);
}

int settings_store_sleep(const struct toml_document *document, const struct toml_key *key,
			 struct json_object *value, void *field, struct error *err)
{
	const int r = toml_store_string(document, key, value, field, err);
	const char *text = r < 0 ? NULL : *(char **)field;
	int64_t us;
	return !text || settings_sleep_us(text, &us)
		       ? r
		       : toml_error(document, key->path, err,
				    "%s is \"%s\": give a number with a unit, such as \"90m\", "
				    "\"2h\" or \"1d\", or \"off\"",
				    key->path, text);
}
