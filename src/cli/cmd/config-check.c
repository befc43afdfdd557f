/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/config-check.h"

#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/fsutil.h"
#include "base/toml.h"
#include "engine/deck/agentfiles.h"
#include "engine/place/gaps.h"
#include "model/keys/keymap.h"
#include "model/session/look.h"
#include "model/settings/values.h"

#include <stdio.h>
#include <string.h>

/* What was found, each as "path:line:column: why". */
struct found {
	struct strvec files, mistakes, warnings;
};

static void found_free(struct found *found)
{
	strvec_clear(&found->files);
	strvec_clear(&found->mistakes);
	strvec_clear(&found->warnings);
}
#define cleanup_found CLEANUP(found_free)

static int check_agents(const struct app *app, struct registry *registry, struct found *found,
			struct error *err)
{
	cleanup_strvec struct strvec paths = { 0 };
	if (registry_builtin(registry, err) < 0)
		return -1;
	agentfiles_list(app->deck.paths.config, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		cleanup_error struct error why = { 0 };
		strvec_push(&found->files, paths.items[i]);
		if (agentfiles_apply(registry, paths.items[i], NULL, &why) < 0)
			strvec_push(&found->mistakes, why.message);
	}
	return 0;
}

static void warn_of_agent(const struct strbuf *text, const char *path, const char *key,
			  const char *agent, struct found *found)
{
	cleanup_free char *shown = visible(agent);
	unsigned line, column;
	toml_position(strbuf_text(text), text->length, key, &line, &column);
	strvec_pushf(&found->warnings,
		     "%s:%u:%u: warning: there is no agent \"%s\" (agentdeck agents list)", path,
		     line, column, shown);
}

/* What is valid, but names something that does not exist. */
static void check_names(const struct strbuf *text, const char *path,
			const struct registry *registry, struct found *found)
{
	cleanup_settings struct settings settings = { 0 };
	if (settings_parse(strbuf_text(text), text->length, path, &settings, NULL) < 0)
		return;
	if (settings.default_agent && !registry_find(registry, settings.default_agent))
		warn_of_agent(text, path, "default_agent", settings.default_agent, found);
	for (size_t i = 0; i + 1 < settings.resume_by_agent.count; i += 2) {
		const char *name = settings.resume_by_agent.items[i];
		cleanup_free char *key = xasprintf("resume.agents.%s", name);
		if (!registry_find(registry, name))
			warn_of_agent(text, path, key, name, found);
	}
}

struct config_text {
	const char *text;
	size_t length;
	const char *path;
};

/* In the element of this index of an array. */
static void add_mistake(const struct config_text *config, const char *array, size_t index,
			const char *why, struct strvec *ret)
{
	cleanup_free char *key = xasprintf("%s.%zu", array, index);
	unsigned line, column;
	toml_position(config->text, config->length, key, &line, &column);
	strvec_pushf(ret, "%s:%u:%u: %s", config->path, line, column, why);
}

void config_check_keys(const char *text, size_t length, const char *path, struct strvec *ret)
{
	cleanup_settings struct settings settings = { 0 };
	cleanup_strvec struct strvec why = { 0 };
	if (settings_parse(text, length, path, &settings, NULL) < 0)
		return;
	cleanup_free size_t *at = xcalloc(settings.ui_keys.count + 1, sizeof(*at));
	const struct config_text config = { text, length, path };
	const size_t count = keymap_check(&settings.ui_keys, &why, at);
	for (size_t i = 0; i < count; i++)
		add_mistake(&config, "ui.keys", at[i], why.items[i], ret);
	for (size_t i = 0; i < settings.ui_colors.count; i++) {
		struct skin skin;
		cleanup_error struct error wrong = { 0 };
		if (skin_set(&skin, settings.ui_colors.items[i], &wrong) < 0)
			add_mistake(&config, "ui.colors", i, wrong.message, ret);
	}
}

static int check_config(struct app *app, const struct registry *registry, struct found *found)
{
	cleanup_free char *path = path_join(app->deck.paths.config, DECK_CONFIG);
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error why = { 0 };
	const int r = deck_read_config(&app->deck, &text, &why);
	if (r == DECK_NO_CONFIG)
		return 0;
	const size_t before = found->mistakes.count;
	strvec_push(&found->files, path);
	if (r < 0)
		strvec_push(&found->mistakes, why.message);
	else
		settings_check(strbuf_text(&text), text.length, path, &found->mistakes);
	if (r >= 0 && found->mistakes.count == before)
		config_check_keys(strbuf_text(&text), text.length, path, &found->mistakes);
	check_names(&text, path, registry, found);
	gaps_of_settings(&app->deck, &found->warnings);
	return 0;
}

/* "path:line:column: why" as an object; the line is null where it does not say one. */
static struct json_object *json_of_mistake(const struct strvec *files, const char *text)
{
	struct json_object *object = json_object_new_object();
	const char *path = NULL, *why = text;
	unsigned line = 0, column = 0;
	for (size_t i = 0; i < files->count; i++) {
		const size_t length = strlen(files->items[i]);
		int end = 0;
		if (starts_with(text, files->items[i]) &&
		    sscanf(text + length, ":%u:%u: %n", &line, &column, &end) == 2 && end > 0) {
			path = files->items[i];
			why = text + length + end;
		}
	}
	json_set(object, "path", path ? json_text(path) : NULL);
	json_set(object, "line", path ? json_object_new_int64(line) : NULL);
	json_set(object, "column", path ? json_object_new_int64(column) : NULL);
	json_set_string(object, "message", why);
	return object;
}

static void print_found_json(const struct found *found)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *problems = json_object_new_array(), *files = json_object_new_array();
	for (size_t i = 0; i < found->files.count; i++)
		json_object_array_add(files, json_text(found->files.items[i]));
	for (size_t i = 0; i < found->mistakes.count; i++)
		json_object_array_add(problems,
				      json_of_mistake(&found->files, found->mistakes.items[i]));
	json_set_bool(object, "valid", found->mistakes.count == 0);
	json_set(object, "files", files);
	json_set(object, "problems", problems);
	json_set_strings(object, "warnings", &found->warnings);
	print_json(object);
}

static void print_found(const struct found *found)
{
	const size_t files = found->files.count, mistakes = found->mistakes.count;
	for (size_t i = 0; i < mistakes; i++)
		say("%s", found->mistakes.items[i]);
	for (size_t i = 0; i < found->warnings.count; i++)
		say("%s", found->warnings.items[i]);
	cleanup_free char *count = mistakes ? xasprintf("%zu", mistakes) : xstrdup("no");
	say("%zu file%s, %s mistake%s", files, files == 1 ? "" : "s", count,
	    mistakes == 1 ? "" : "s");
}

static int cmd_config_check(struct app *app, struct error *err)
{
	cleanup_found struct found found = { 0 };
	struct registry registry = { 0 };
	int r = check_agents(app, &registry, &found, err);
	if (r == 0)
		r = check_config(app, &registry, &found);
	registry_free(&registry);
	if (r < 0)
		return -1;
	if (app->json)
		print_found_json(&found);
	else
		print_found(&found);
	return found.mistakes.count ? 1 : 0;
}

const struct command command_config_check = {
	.name = "config check",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "look for mistakes in config.toml and in agents' files",
	.flags = NEEDS_DECK | HAS_JSON,
	.run = cmd_config_check,
};
