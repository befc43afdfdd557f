/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/cmd/roles.h"
#include "cli/show/output.h"
#include "cli/show/table.h"
#include "engine/role/fetch.h"

#include "base/clock.h"
#include "engine/role/trust.h"

static int read_source(const struct app *app, struct role_source *ret, struct error *err)
{
	cleanup_free char *where = role_path(app,
					     app->operands.count ? app->operands.items[0] : ".");
	return role_source_fetch(&app->deck, where, NULL, NULL, ret, err);
}

/* A URL is also fine. */
static struct offer offer_roles(const struct app *line UNUSED, bool behind_dashes UNUSED)
{
	return (struct offer){ .kind = VALUE_ROLE };
}

static void print_source(const struct app *app, const struct role_source *source,
			 const struct strvec *lines)
{
	cleanup_json struct json_object *object = app->json ? json_of_role(app, source) : NULL;
	if (object)
		print_json(object);
	for (size_t i = 0; !object && i < lines->count; i++)
		say("%s", lines->items[i]);
}

static int cmd_role_check(struct app *app, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	if (read_source(app, &source, err) < 0)
		return -1;
	role_judge(&source, &lines);
	strvec_pushf(&lines, "%s: %s", source.name, role_verdict_name(source.role.verdict));
	print_source(app, &source, &lines);
	return source.role.verdict == ROLE_REFUSED ? 1 : 0;
}

static int cmd_role_show(struct app *app, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	if (read_source(app, &source, err) < 0)
		return -1;
	role_describe(&source, &lines);
	role_describe_built(app, &source, &lines);
	print_source(app, &source, &lines);
	return 0;
}

/* ---- trust ----------------------------------------------------------------------------------- */

static int cmd_role_trust(struct app *app, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_strvec struct strvec lines = { 0 };
	if (read_source(app, &source, err) < 0 || role_source_digest(&source, err) < 0)
		return -1;
	if (source.role.verdict == ROLE_REFUSED)
		return error_set(err, ERROR_INVALID,
				 "a role that is refused cannot be trusted: agentdeck role check "
				 "says why it is");
	if (trust_give(&app->deck, &source, err) < 0)
		return -1;
	role_describe(&source, &lines);
	strvec_push(&lines, "You trust this role as it is now.");
	print_source(app, &source, &lines);
	return 0;
}

static const char *const trust_words[] = {
	[TRUST_NONE] = "none", [TRUST_SAME] = "same", [TRUST_CHANGED] = "changed"
};

static void say_difference(const struct role_source *source, enum trust trust,
			   const struct strvec *changes)
{
	if (trust != TRUST_CHANGED)
		say("%s: %s", source->name,
		    trust == TRUST_SAME ? "as you trust it" : "you do not trust it yet");
	else if (!changes->count)
		say("%s has changed since you trusted it, in another file than this one and its "
		    "Dockerfile.",
		    source->name);
	else
		say("%s has changed since you trusted it, and other files that it is built from "
		    "may have, too:",
		    source->name);
	for (size_t i = 0; i < changes->count; i++)
		say("%s", changes->items[i]);
}

static int cmd_role_diff(struct app *app, struct error *err)
{
	cleanup_role_source struct role_source source = { 0 };
	cleanup_strvec struct strvec changes = { 0 }, built = { 0 };
	enum trust trust;
	if (read_source(app, &source, err) < 0 || role_source_digest(&source, err) < 0 ||
	    trust_look(&app->deck, &source, &trust, &changes, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_object_new_object();
		json_set(object, "path", json_text(source.file));
		json_set_string(object, "commit", source.commit);
		json_set_string(object, "trust", trust_words[trust]);
		json_set_strings(object, "changes", &changes);
		print_json(object);
	} else {
		say_difference(&source, trust, &changes);
		role_describe_built(app, &source, &built);
		for (size_t i = 0; i < built.count; i++)
			say("%s", built.items[i]);
	}
	return trust == TRUST_SAME ? 0 : 1;
}

/* The file of a role that may be gone.  The caller frees. */
static char *file_of(const struct app *app, const struct trusted_list *list)
{
	cleanup_free char *word = role_path(app,
					    app->operands.count ? app->operands.items[0] : ".");
	cleanup_role_source struct role_source source = { 0 };
	for (size_t i = 0; i < list->count; i++)
		if (streq(list->items[i].file, word))
			return xstrdup(word);
	return role_source_read(&app->deck, word, NULL, NULL, &source, NULL) == 0
		       ? TAKE_PTR(source.name)
		       : xstrdup(word);
}

static int cmd_role_untrust(struct app *app, struct error *err)
{
	cleanup_trusted_list struct trusted_list list = { 0 };
	if (trust_list(&app->deck, &list, err) < 0)
		return -1;
	cleanup_free char *file = file_of(app, &list);
	const int r = trust_take(&app->deck, file, err);
	if (r < 0)
		return -1;
	if (r == TRUST_ABSENT)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is no role that you trust: see agentdeck role list", file);
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set(object, "path", json_text(file));
	return print_done(app, object, xasprintf("You do not trust %s any more.", file));
}

static int cmd_role_list(struct app *app, struct error *err)
{
	static const char *const headings[] = { "ROLE", "TRUSTED", NULL };
	cleanup_trusted_list struct trusted_list list = { 0 };
	cleanup_table struct table *table = table_new(app, headings);
	struct json_object *array = json_object_new_array();
	if (trust_list(&app->deck, &list, err) < 0) {
		json_object_put(array);
		return -1;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct trusted *trusted = &list.items[i];
		struct json_object *object = json_object_new_object();
		char time[CLOCK_TEXT_SIZE];
		json_set(object, "path", json_text(trusted->file));
		json_set_string(object, "digest", trusted->digest);
		json_set_time(object, "trusted_at", trusted->at);
		json_object_array_add(array, object);
		table_add(table,
			  (const char *const[]){ trusted->file, clock_local(trusted->at, time),
						 NULL },
			  TONE_PLAIN);
	}
	if (app->json)
		print_json(array);
	else
		table_print(table);
	json_object_put(array);
	return 0;
}

const struct command command_role_check = {
	.name = "role check",
	.arguments = "[WHAT]",
	.summary = "say what of a devcontainer.json runs, asks or is refused",
	.kind = COMMAND_READS,
	.flags = NEEDS_DECK | HAS_JSON,
	.offer = offer_roles,
	.run = cmd_role_check,
};

const struct command command_role_show = {
	.name = "role show",
	.arguments = "[WHAT]",
	.summary = "show the environment that a devcontainer.json describes",
	.kind = COMMAND_READS,
	.flags = NEEDS_DECK | HAS_JSON,
	.offer = offer_roles,
	.run = cmd_role_show,
};

const struct command command_role_diff = {
	.name = "role diff",
	.kind = COMMAND_READS,
	.arguments = "[WHAT]",
	.summary = "show what has changed in a role since you trusted it",
	.flags = NEEDS_STORE | HAS_JSON,
	.offer = offer_roles,
	.run = cmd_role_diff,
};

const struct command command_role_trust = {
	.name = "role trust",
	.kind = COMMAND_CHANGES,
	.arguments = "[WHAT]",
	.summary = "let sessions use a role as it is now",
	.flags = NEEDS_STORE | HAS_JSON,
	.offer = offer_roles,
	.run = cmd_role_trust,
};

const struct command command_role_untrust = {
	.name = "role untrust",
	.kind = COMMAND_CHANGES,
	.arguments = "[WHAT]",
	.summary = "ask again before a session uses a role",
	.flags = NEEDS_STORE | HAS_JSON,
	.offer = offer_roles,
	.run = cmd_role_untrust,
};

const struct command command_role_list = {
	.name = "role list",
	.kind = COMMAND_READS,
	.arguments = "",
	.summary = "list the roles that you trust",
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_role_list,
};
