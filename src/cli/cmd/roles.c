/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/roles.h"

#include "base/jsonio.h"
#include "model/settings/limits.h"

/* ---- for people ------------------------------------------------------------------------------ */

static void add_line(struct strvec *ret, const char *label, const char *value)
{
	cleanup_free char *shown = value ? visible(value) : NULL;
	if (shown)
		strvec_pushf(ret, "%-14s %s", label, shown);
}

static void add_lines(struct strvec *ret, const char *label, const struct strvec *values)
{
	for (size_t i = 0; i < values->count; i++)
		add_line(ret, i ? "" : label, values->items[i]);
}

/* What a role gets: each line is something that the user agrees to. */
static void describe_parts(const struct role_source *source, struct strvec *ret)
{
	const struct role *role = &source->role;
	cleanup_free char *memory = role->memory ? limit_text(LIMIT_MEMORY_MAX, role->memory)
						 : NULL;
	const struct {
		const char *label, *value;
	} lines[] = {
		{ "Role:", role->name },
		{ "File:", source->file },
		{ "Image:", role->image },
		{ "Dockerfile:", source->dockerfile },
		{ "Built from:", source->context },
		{ "Stage:", role->target },
		{ "Agent:", role->agent },
		{ "Network:", role->network },
		{ "Processors:", role->cpus },
		{ "Memory:", memory },
	};
	const struct {
		const char *label;
		const struct strvec *values;
	} lists[] = {
		{ "Arguments:", &role->build_args },
		{ "Environment:", &role->environment },
		{ "Mounts:", &role->mounts },
		{ "Capabilities:", &role->cap_add },
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		add_line(ret, lines[i].label, lines[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		add_lines(ret, lists[i].label, lists[i].values);
}

void role_judge(const struct role_source *source, struct strvec *ret)
{
	cleanup_free char *file = visible(source->file);
	for (size_t i = 0; i < source->role.count; i++) {
		const struct role_finding *finding = &source->role.findings[i];
		cleanup_free char *line = finding->line ? xasprintf(":%u", finding->line) : NULL;
		strvec_pushf(ret, "%s%s: %s: %s%s%s", file, or_empty(line),
			     role_verdict_name(finding->verdict), finding->key,
			     *finding->key ? ": " : "", finding->text);
	}
}

void role_describe(const struct role_source *source, struct strvec *ret)
{
	describe_parts(source, ret);
	role_judge(source, ret);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static struct json_object *json_of_findings(const struct role *role)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < role->count; i++) {
		const struct role_finding *finding = &role->findings[i];
		struct json_object *object = json_object_new_object();
		json_set_string(object, "verdict", role_verdict_name(finding->verdict));
		json_set_string(object, "key", *finding->key ? finding->key : NULL);
		json_set(object, "line",
			 finding->line ? json_object_new_int64(finding->line) : NULL);
		json_set_string(object, "message", finding->text);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_of_commands(const struct role *role)
{
	struct json_object *array = json_object_new_array();
	for (unsigned i = 0; i < ROLE_EVENT_COUNT; i++) {
		if (!role->commands[i])
			continue;
		struct json_object *object = json_object_new_object();
		json_set_string(object, "key", role_event_key(i));
		json_set_string(object, "command", role->commands[i]);
		json_object_array_add(array, object);
	}
	return array;
}

struct json_object *json_of_role(const struct role_source *source)
{
	const struct role *role = &source->role;
	struct json_object *object = json_object_new_object();
	json_set(object, "path", json_text(source->file));
	json_set_string(object, "verdict", role_verdict_name(role->verdict));
	json_set_string(object, "name", role->name);
	json_set_string(object, "image", role->image);
	json_set_string(object, "dockerfile", source->dockerfile);
	json_set_string(object, "context", source->context);
	json_set_string(object, "target", role->target);
	json_set_string(object, "agent", role->agent);
	json_set_string(object, "network", role->network);
	json_set_string(object, "cpus", role->cpus);
	json_set(object, "memory_bytes", role->memory ? json_object_new_int64(role->memory) : NULL);
	json_set_strings(object, "build_args", &role->build_args);
	json_set_strings(object, "environment", &role->environment);
	json_set_strings(object, "mounts", &role->mounts);
	json_set_strings(object, "cap_add", &role->cap_add);
	json_set(object, "commands", json_of_commands(role));
	json_set(object, "findings", json_of_findings(role));
	return object;
}
