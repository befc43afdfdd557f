/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/roles.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "engine/role/built.h"
#include "engine/role/fetch.h"
#include "engine/role/trust.h"
#include "model/settings/limits.h"

#include <errno.h>
#include <stdlib.h>

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
		{ "File:", source->name },
		{ "Ref:", source->ref },
		{ "Commit:", source->commit },
		{ "Image:", role->image },
		{ "Dockerfile:", source->dockerfile },
		{ "Built from:", source->context },
		{ "Stage:", role->target },
		{ "Workspace:", role->workspace },
		{ "Agent:", role->agent },
		{ "Network:", role->network },
		{ "Docker inside:", role->docker },
		{ "Processors:", role->cpus },
		{ "Memory:", memory },
	};
	const struct {
		const char *label;
		const struct strvec *values;
	} lists[] = {
		{ "Arguments:", &role->build_args }, { "Environment:", &role->environment },
		{ "Mounts:", &role->mounts },        { "Capabilities:", &role->cap_add },
		{ "More logins:", &role->logins },
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		add_line(ret, lines[i].label, lines[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		add_lines(ret, lists[i].label, lists[i].values);
	for (size_t i = 0; i < role->question_count; i++) {
		const struct role_question *question = &role->questions[i];
		cleanup_free char *text = xasprintf("%s%s%s", question->name,
						    question->prompt ? ": " : "",
						    or_empty(question->prompt));
		add_line(ret, i ? "" : "Asks you for:", text);
	}
	for (unsigned i = ROLE_ON_CREATE; i < ROLE_POST_ATTACH; i++) {
		cleanup_free char *command = role->texts[i] ? xasprintf("%s: %s", role_event_key(i),
									role->texts[i])
							    : NULL;
		add_line(ret, "Runs inside:", command);
	}
}

void role_judge(const struct role_source *source, struct strvec *ret)
{
	cleanup_free char *file = visible(source->name);
	if (source->before)
		strvec_pushf(ret,
			     "%s: %s was at commit %s when it was fetched last, and is at %s now",
			     file, source->ref ? source->ref : "the default branch", source->before,
			     source->commit);
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

void role_describe_built(const struct app *app, const struct role_source *source,
			 struct strvec *ret)
{
	cleanup_built struct built built = { 0 };
	if (built_load(&app->deck, source->name, &built, NULL) != 0)
		return;
	add_line(ret, "Built:", built.image_id);
	add_line(ret, "  in", built.address);
	add_line(ret, "  by agentdeck", built.version);
	add_line(ret, "  commit", built.commit);
	add_lines(ret, "  from", &built.bases);
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
		if (!role->texts[i])
			continue;
		struct json_object *object = json_object_new_object();
		json_set_string(object, "key", role_event_key(i));
		json_set_string(object, "command", role->texts[i]);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_of_questions(const struct role *role)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < role->question_count; i++) {
		const struct role_question *question = &role->questions[i];
		struct json_object *object = json_object_new_object();
		json_set_string(object, "name", question->name);
		json_set_string(object, "prompt", question->prompt);
		json_set_string(object, "default", question->otherwise);
		json_set_strings(object, "options", &question->options);
		json_set_strings(object, "depends_on", &question->after);
		json_set_bool(object, "skippable", question->is_skippable);
		json_set_bool(object, "secret", question->is_secret);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_of_built(const struct app *app, const struct role_source *source)
{
	cleanup_built struct built built = { 0 };
	if (built_load(&app->deck, source->name, &built, NULL) != 0)
		return NULL;
	struct json_object *object = json_object_new_object();
	json_set_string(object, "image_id", built.image_id);
	json_set_string(object, "address", built.address);
	json_set_string(object, "version", built.version);
	json_set_string(object, "commit", built.commit);
	json_set_strings(object, "bases", &built.bases);
	return object;
}

struct json_object *json_of_role(const struct app *app, const struct role_source *source)
{
	const struct role *role = &source->role;
	struct json_object *object = json_object_new_object();
	json_set(object, "path", json_text(source->file));
	json_set(object, "url", source->url ? json_text(source->url) : NULL);
	json_set_string(object, "ref", source->ref);
	json_set_string(object, "commit", source->commit);
	json_set_string(object, "commit_before", source->before);
	json_set_string(object, "verdict", role_verdict_name(role->verdict));
	json_set_string(object, "name", role->name);
	json_set_string(object, "image", role->image);
	json_set_string(object, "dockerfile", source->dockerfile);
	json_set_string(object, "context", source->context);
	json_set_string(object, "target", role->target);
	json_set_string(object, "workspace", role->workspace);
	json_set_string(object, "agent", role->agent);
	json_set_string(object, "network", role->network);
	json_set_string(object, "docker", role->docker);
	json_set_string(object, "cpus", role->cpus);
	json_set(object, "memory_bytes", role->memory ? json_object_new_int64(role->memory) : NULL);
	json_set_strings(object, "build_args", &role->build_args);
	json_set_strings(object, "environment", &role->environment);
	json_set_strings(object, "mounts", &role->mounts);
	json_set_strings(object, "cap_add", &role->cap_add);
	json_set_strings(object, "logins", &role->logins);
	json_set(object, "commands", json_of_commands(role));
	json_set(object, "questions", json_of_questions(role));
	json_set(object, "built", json_of_built(app, source));
	json_set(object, "findings", json_of_findings(role));
	return object;
}

/* ---- which one ------------------------------------------------------------------------------- */

/* --devcontainer: a file of the project itself. */
static int read_own(const struct app *app, const char *file, const char *workspace,
		    const char *group, struct role_source *ret, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_free char *below = *file == '/' ? xstrdup(file) : path_join(workspace, file);
	if (role_source_read(&app->deck, *file ? below : workspace, workspace, group, &source,
			     err) < 0)
		return -1;
	if (!path_is_below(source.file, workspace)) {
		cleanup_free char *shown = visible(source.file);
		return error_set(err, ERROR_USAGE,
				 "%s is no file of the project: name another role with --role",
				 shown);
	}
	*ret = source;
	source = (struct role_source){ 0 };
	return 0;
}

char *role_path(const struct app *app, const char *word)
{
	const char *source = settings_role(&app->deck.settings, word);
	const char *path = source ? source : word;
	const bool is_below_home = starts_with(path, "~/");
	return xasprintf("%s%s", is_below_home ? app->deck.paths.home : "", path + is_below_home);
}

/* --role, or [container] role. */
static int read_named(const struct app *app, const char *word, const char *workspace,
		      const char *group, struct role_source *ret, struct error *err)
{
	cleanup_free char *path = role_path(app, word);
	if (role_source_fetch(&app->deck, path, workspace, group, ret, err) < 0)
		return -1;
	if (ret->before && !app->json && !app->quiet)
		complain("warning: %s was at commit %s when it was fetched last, and is at %s now",
			 path, ret->before, ret->commit);
	return 0;
}

int role_choose(const struct app *app, const struct container_options *options,
		const struct role_session *place, struct role_source *ret, struct error *err)
{
	cleanup_free char *workspace = realpath(place->directory, NULL);
	const bool has_image = options->image || options->build;
	const char *word = options->role ? options->role
			   : has_image   ? NULL
				       : settings_container(&app->deck.settings, place->group).role;
	int r;
	if (options->devcontainer && !workspace)
		return error_set_file(err, errno, "%s", place->directory);
	if (options->devcontainer)
		r = read_own(app, options->devcontainer, workspace, place->group, ret, err);
	else if (word)
		r = read_named(app, word, workspace, place->group, ret, err);
	else
		return ROLE_NOT_WISHED;
	return r < 0 ? -1 : role_source_digest(ret, err);
}

void role_hint(const struct app *app, const struct container_options *options,
	       const char *directory)
{
	cleanup_free char *file = NULL;
	const bool is_chosen = options->role || options->devcontainer || options->image ||
			       options->build || options->is_refused;
	if (is_chosen || app->json || app->quiet || role_source_find(directory, &file, NULL) < 0 ||
	    trust_hint(&app->deck, file, NULL) != TRUST_HINT)
		return;
	cleanup_free char *shown = visible(file);
	complain("%s describes a container for this project: launch --devcontainer makes one as "
		 "it says, and asks you first",
		 shown);
}

/* ---- trust ----------------------------------------------------------------------------------- */

static int refuse(const struct role_source *source, struct error *err)
{
	const struct role *role = &source->role;
	cleanup_free char *file = visible(source->name);
	size_t i = 0;
	while (i + 1 < role->count && role->findings[i].verdict != ROLE_REFUSED)
		i++;
	return error_set(err, ERROR_INVALID,
			 "%s:%u: %s%s%s (agentdeck role check says everything that is refused)",
			 file, role->findings[i].line, role->findings[i].key,
			 *role->findings[i].key ? ": " : "", role->findings[i].text);
}

static int refuse_untrusted(const struct role_source *source, enum trust trust, struct error *err)
{
	cleanup_free char *file = visible(source->name), *where = visible(source->where);
	return error_set(err, ERROR_INVALID,
			 "%s %s: look at it with agentdeck role show %s, and then run agentdeck "
			 "role trust %s",
			 file,
			 trust == TRUST_CHANGED ? "has changed since you trusted it, or what it is "
						  "built from has"
						: "is a role that you do not trust yet",
			 where, where);
}

static void show_changes(const struct strvec *changes)
{
	say("It has changed since you trusted it%s",
	    changes->count ? ", and other files that it is built from may have, too:"
			   : ", in another file than these.");
	for (size_t i = 0; i < changes->count; i++)
		say("    %s", changes->items[i]);
}

int role_consent(struct app *app, const struct role_source *source, struct error *err)
{
	cleanup_strvec struct strvec lines = { 0 }, changes = { 0 };
	enum trust trust;
	if (source->role.verdict == ROLE_REFUSED)
		return refuse(source, err);
	if (trust_look(&app->deck, source, &trust, &changes, err) < 0)
		return -1;
	if (trust == TRUST_SAME)
		return 0;
	if (app->json || !ask_is_possible())
		return refuse_untrusted(source, trust, err);
	role_describe(source, &lines);
	for (size_t i = 0; i < lines.count; i++)
		say("%s", lines.items[i]);
	if (trust == TRUST_CHANGED)
		show_changes(&changes);
	const int r = ask_yes("Trust this role as it is now? Its container gets the above.",
			      "The role is not trusted.", err);
	if (r != 0)
		return r < 0 ? -1 : refuse_untrusted(source, trust, err);
	return trust_give(&app->deck, source, err);
}
