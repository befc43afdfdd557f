/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "base/toml.h"
#include "base/tomlmap.h"
#include "engine/deck/agentfiles.h"

#include <string.h>

struct file {
	const char *path;
	char *name;    /* of the agent */
	char *problem; /* "path:line:column: why", or NULL */
	struct strbuf text;
};

struct check {
	struct registry registry; /* the built-in entries with all files that have no problem */
	struct file *files;
	size_t count, problems;
	struct strvec warnings; /* the same form */
};

static void check_free(struct check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		free(check->files[i].name);
		free(check->files[i].problem);
		strbuf_free(&check->files[i].text);
	}
	free(check->files);
	strvec_clear(&check->warnings);
	registry_free(&check->registry);
}
#define cleanup_check CLEANUP(check_free)

static int read_all(struct check *check, const struct strvec *paths, struct error *err)
{
	if (registry_builtin(&check->registry, err) < 0)
		return -1;
	check->files = xcalloc(paths->count + 1, sizeof(*check->files));
	for (; check->count < paths->count; check->count++) {
		cleanup_error struct error why = { 0 };
		struct file *file = check->files + check->count;
		file->path = paths->items[check->count];
		file->name = agentfiles_name(file->path);
		if (agentfiles_apply(&check->registry, file->path, &file->text, &why) < 0) {
			file->problem = xstrdup(why.message);
			check->problems++;
		} else if (!ends_with(file->path, ".toml")) {
			file->problem = xasprintf("%s: the name does not end in .toml: agentdeck "
						  "would not read the file",
						  file->path);
			check->problems++;
		}
	}
	return 0;
}

/* Two entries fit the same command.  It is clear which one runs, but hardly what the user meant. */
static void warn_of_twins(struct check *check, const struct file *file, const char *key,
			  const struct strvec *names, bool is_package)
{
	cleanup_toml_document struct toml_document document = { 0 };
	const char *text = strbuf_text(&file->text);
	if (toml_document_parse(text, file->text.length, file->path, &document, NULL) < 0)
		return;
	/* Only what this file sets is its own problem.  command sets match, too. */
	bool says = toml_document_has(&document, key);
	if (!says && (is_package || !toml_document_has(&document, "command")))
		return;
	for (size_t i = 0; i < names->count; i++) {
		cleanup_free char *element = says ? xasprintf("%s.%zu", key, i)
						  : xstrdup("command.0");
		unsigned line, column;
		toml_position(text, file->text.length, element, &line, &column);
		for (size_t j = 0; j < check->registry.count; j++) {
			const struct agent *other = check->registry.agents[j];
			if (streq(other->name, file->name) ||
			    !strvec_contains(is_package ? &other->packages : &other->match,
					     names->items[i]))
				continue;
			bool is_ours = other->builtin && !other->overridden;
			cleanup_free char *shown = visible(names->items[i]);
			strvec_pushf(&check->warnings,
				     "%s:%u:%u: warning: %s: \"%s\" also means the agent \"%s\"%s",
				     file->path, line, column, key, shown, other->name,
				     is_ours ? ": this file's is taken" : "");
		}
	}
}

static void look_for_twins(struct check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		const struct file *file = check->files + i;
		const struct agent *agent = file->problem
						    ? NULL
						    : registry_find(&check->registry, file->name);
		if (!agent)
			continue;
		warn_of_twins(check, file, "match", &agent->match, false);
		warn_of_twins(check, file, "packages", &agent->packages, true);
	}
}

/* Set line, column and message of "path:line:column: why"; null where they are not known. */
static void set_problem(struct json_object *object, const char *path, const char *problem)
{
	unsigned line = 0, column = 0;
	int length = 0;
	const char *why = problem ? problem + strlen(path) : NULL;
	if (problem && starts_with(problem, path) &&
	    sscanf(why, ":%u:%u: %n", &line, &column, &length) == 2 && length > 0)
		problem = why + length;
	json_set(object, "line", line ? json_object_new_int64(line) : NULL);
	json_set(object, "column", column ? json_object_new_int64(column) : NULL);
	json_set_string(object, "message", problem);
}

static void print_check_json(const struct check *check)
{
	cleanup_json struct json_object *object = json_object_new_object();
	struct json_object *files = json_object_new_array();
	for (size_t i = 0; i < check->count; i++) {
		const struct file *file = check->files + i;
		struct json_object *entry = json_object_new_object();
		json_set(entry, "path", json_text(file->path));
		json_set_string(entry, "name", file->name);
		json_set_bool(entry, "valid", !file->problem);
		set_problem(entry, file->path, file->problem);
		json_object_array_add(files, entry);
	}
	json_set(object, "files", files);
	json_set_int(object, "problem_count", (int64_t)check->problems);
	json_set_strings(object, "warnings", &check->warnings);
	print_json(object);
}

static void print_check(const struct check *check)
{
	for (size_t i = 0; i < check->count; i++)
		if (check->files[i].problem)
			say("%s", check->files[i].problem);
	for (size_t i = 0; i < check->warnings.count; i++)
		say("%s", check->warnings.items[i]);
	cleanup_free char *problems = xasprintf("%zu", check->problems);
	printf("%zu file%s, %s problem%s\n", check->count, check->count == 1 ? "" : "s",
	       check->problems ? problems : "no", check->problems > 1 ? "s" : "");
}

static int cmd_agents_check(struct app *app, struct error *err)
{
	cleanup_check struct check check = { 0 };
	cleanup_strvec struct strvec paths = { 0 };
	if (app->operands.count)
		strvec_push_all(&paths, &app->operands);
	else
		agentfiles_list(app->deck.paths.config, &paths);
	if (read_all(&check, &paths, err) < 0)
		return -1;
	look_for_twins(&check);
	if (app->json)
		print_check_json(&check);
	else
		print_check(&check);
	return check.problems ? 1 : 0;
}

const struct command command_agents_check = {
	.name = "agents check",
	.kind = COMMAND_READS,
	.arguments = "[FILE...]",
	.summary = "look for mistakes in the files that describe agents",
	.flags = NEEDS_DECK | FINDS_PROGRAMS | HAS_JSON,
	.run = cmd_agents_check,
};
