/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/tomlschema.h"
#include "model/settings/settings-internal.h"
#include "model/settings/values.h"

#include <string.h>

#define NAME "^[A-Za-z0-9][A-Za-z0-9_.-]*$"
#define PART "(?!(?:[.]|[.][.]|[.]git)(?:/|$))[^/]+"
#define MEMBERS_ARE(names, schema) \
	"{\"propertyNames\": {\"pattern\": \"" names "\"}, \"additionalProperties\": " schema "}"
#define TEXT_LIKE(pattern)  "{\"pattern\": \"" pattern "\"}"
#define TEXTS_LIKE(pattern) "{\"items\": {\"type\": \"string\", \"pattern\": \"" pattern "\"}}"
#define SIZE                                                                                       \
	"{\"type\": [\"integer\", \"string\"], \"minimum\": 0, \"pattern\": \"^(?:infinity|[0-9]+" \
	"(?:(?:[.][0-9]+)?[KMGT])?)$\"}"

static const struct toml_shape shapes[] = {
	{ "default_agent", TEXT_LIKE(NAME) },
	{ "resume.agents", MEMBERS_ARE(NAME, "{\"enum\": [\"auto\", \"confirm\", \"never\"]}") },
	{ "notify.ntfy", TEXT_LIKE("^https?://[^ ?#\\\"]+/[^/ ?#\\\"]+$") },
	{ "notify.webhook", TEXT_LIKE("^https?://[^ ?#\\\"]+/[^/ ?#\\\"]+$") },
	{ "notify.answers", TEXT_LIKE("^https?://[^ ?#\\\"]+/[^/ ?#\\\"]+$") },
	{ "notify.key", TEXT_LIKE("^~?/") },
	{ "session.sleep_after", TEXT_LIKE("^(?:off|0*[1-9][0-9]*[smhdw])$") },
	{ "tmux.conf", TEXT_LIKE("^~?/") },
	{ "tmux.detach_key", TEXT_LIKE("^[!-~]*$") },
	{ "tmux.switch_key", TEXT_LIKE("^[!-~]*$") },
	{ "tmux.next_key", TEXT_LIKE("^[!-~]*$") },
	{ "tmux.default_terminal", TEXT_LIKE("^[!-~]+$") },
	{ "tmux.options", MEMBERS_ARE("^[@a-z][@A-Za-z0-9_-]*(?:\\\\[[0-9]+\\\\])?$",
				      "{\"type\": [\"string\", \"integer\", \"boolean\"]}") },
	{ "limits.memory_high", SIZE },
	{ "limits.memory_max", SIZE },
	{ "container.engine", "{\"minLength\": 1}" },
	{ "container.image", "{\"minLength\": 1}" },
	{ "container.network", "{\"minLength\": 1}" },
	{ "container.cpus", "{\"type\": [\"number\", \"string\"], \"minimum\": 0.01, \"pattern\": "
			    "\"^[0-9]+(?:[.][0-9]+)?$\"}" },
	{ "container.mounts", TEXTS_LIKE("^~?/") },
	{ "container.role", TEXT_LIKE("^(?:[A-Za-z0-9][A-Za-z0-9_.-]*$|~?/)") },
	{ "container.role_env", TEXTS_LIKE("^[A-Za-z_][A-Za-z0-9_]*$") },
	{ "container.logins", MEMBERS_ARE(NAME, "{\"enum\": [\"sync\", \"token\", \"ignore\"]}") },
	{ "workspace.root", TEXT_LIKE("^~?/" PART "(?:/" PART ")*$") },
	{ "workspace.copy", TEXTS_LIKE("^" PART "(?:/" PART ")*$") },
	{ "workspace.setup", "{\"prefixItems\": [{\"type\": \"string\", \"minLength\": 1}]}" },
	{ "roles",
	  MEMBERS_ARE(NAME, "{\"type\": \"object\", \"required\": [\"source\"], "
			    "\"additionalProperties\": false, \"properties\": {\"source\": "
			    "{\"type\": \"string\", \"pattern\": \"^~?/|:\"}}}") },
	{ "groups", "{\"propertyNames\": {\"minLength\": 1}}" },
	{ NULL, NULL },
};

static struct json_object *reference_to(const char *table, const char *key)
{
	struct json_object *schema = json_object_new_object();
	cleanup_free char *where = key ? xasprintf("#/properties/%s/properties/%s", table, key)
				       : xasprintf("#/properties/%s", table);
	json_set_string(schema, "$ref", where);
	return schema;
}

/* [groups.NAME] has tables of the whole file again. */
static struct json_object *group_schema(void)
{
	static const char *const keys[] = { "on_end", "copy", "setup" };
	struct json_object *members = json_object_new_object();
	struct json_object *workspace = json_object_new_object();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_set(workspace, keys[i], reference_to("workspace", keys[i]));
	json_set(members, "limits", reference_to("limits", NULL));
	json_set(members, "container", reference_to("container", NULL));
	json_set(members, "workspace", toml_schema_object(workspace));
	return toml_schema_object(members);
}

static struct json_object *host_schema(void)
{
	struct json_object *members = json_object_new_object();
	for (const struct remote_text *text = remote_texts; text->key; text++) {
		struct json_object *schema = json_make_object(members, text->key);
		json_set_string(schema, "description", text->must);
		json_set_string(schema, "type", "string");
	}
	struct json_object *timeout = json_make_object(members, "timeout");
	json_set_string(timeout, "type", "integer");
	json_set_int(timeout, "minimum", 1);
	json_set_int(timeout, "maximum", REMOTE_TIMEOUT_MAX_S);
	json_set_string(json_make_object(members, "forward_agent"), "type", "boolean");
	return toml_schema_object(members);
}

/* What the tables beside this one know: the numbers of limits, and the words of [container]. */
static void complete(struct json_object *properties)
{
	for (size_t i = 0; i < settings_key_count; i++) {
		const struct toml_key *key = settings_keys + i;
		const char *const *words = settings_choice_words(key->path);
		const char *dot = strchr(key->path, '.');
		cleanup_free char *table = dot ? xstrndup(key->path, (size_t)(dot - key->path))
					       : NULL;
		if (!words && !(table && streq(table, "limits")))
			continue;
		struct json_object *schema = json_get_object(
			json_get_object(json_get_object(properties, table), "properties"), dot + 1);
		const int64_t most = words ? 0 : limit_greatest((enum limit)key->min);
		if (words) {
			struct json_object *choices = json_object_new_array();
			for (size_t word = 0; words[word]; word++)
				json_object_array_add(choices, json_text(words[word]));
			json_set(schema, "enum", choices);
		} else if (most) {
			toml_schema_lay(schema, "{\"type\": [\"integer\", \"string\"], "
						"\"minimum\": 0, \"pattern\": \"^infinity$\"}");
			json_set_int(schema, "maximum", most);
		}
	}
}

struct json_object *settings_schema(void)
{
	struct json_object *schema = toml_schema("config.toml of agentdeck", settings_keys,
						 settings_key_count, shapes);
	struct json_object *properties = json_get_object(schema, "properties");
	complete(properties);
	json_set(json_get_object(properties, "groups"), "additionalProperties", group_schema());
	json_set(json_get_object(properties, "hosts"), "additionalProperties", host_schema());
	toml_schema_lay(json_get_object(properties, "hosts"),
			"{\"propertyNames\": {\"pattern\": \"" NAME "\", \"not\": {\"const\": "
			"\"local\"}}}");
	return schema;
}
