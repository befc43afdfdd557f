/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/session-set.h"

#include "cli/cmd/commands.h"
#include "cli/show/output.h"
#include "engine/deck/hint.h"

#include "base/argsplit.h"
#include "engine/run/lifecycle.h"

struct options {
	bool copy_transcript, drop_conversation;
};

static const struct command_option options[] = {
	{ 0, "copy-transcript", NULL,
	  "with path: copy the transcript to where the agent looks for those of the new "
	  "directory",
	  TO_FLAG(copy_transcript) },
	{ 0, "drop-conversation", NULL,
	  "with agent: begin without the old agent's conversation; its id is kept",
	  TO_FLAG(drop_conversation) },
	{ 0 },
};

static int set_session_id(struct app *app, const char *base, const struct field_change *change,
			  char **ret_note UNUSED, struct error *err)
{
	return lifecycle_set_session_id(&app->deck, base, change->value, err);
}

static int set_resume(struct app *app, const char *base, const struct field_change *change,
		      char **ret_note UNUSED, struct error *err)
{
	enum resume_policy policy;
	if (!resume_policy_parse(change->value, &policy))
		return error_set(err, ERROR_USAGE,
				 "resume must be auto, confirm, never or default, not '%s'",
				 change->value);
	return lifecycle_set_resume_policy(&app->deck, base, policy, err);
}

static int set_restart(struct app *app, const char *base, const struct field_change *change,
		       char **ret_note UNUSED, struct error *err)
{
	enum restart_policy policy;
	if (!restart_policy_parse(change->value, &policy))
		return error_set(err, ERROR_USAGE,
				 "restart must be no, on-failure, always or default, not '%s'",
				 change->value);
	return lifecycle_set_restart_policy(&app->deck, base, policy, err);
}

static int set_on_end(struct app *app, const char *base, const struct field_change *change,
		      char **ret_note UNUSED, struct error *err)
{
	enum end_policy policy;
	if (!end_policy_parse(change->value, &policy))
		return error_set(err, ERROR_USAGE,
				 "on-end must be ask, keep, clean or default, not '%s'",
				 change->value);
	return lifecycle_set_end_policy(&app->deck, base, policy, err);
}

static int set_title(struct app *app, const char *base, const struct field_change *change,
		     char **ret_note UNUSED, struct error *err)
{
	return lifecycle_rename(&app->deck, base, change->value, err);
}

/* Say what will happen to its conversation.  The caller frees. */
static char *describe_move(struct app *app, const struct instance *instance,
			   enum location_outcome outcome)
{
	const struct conversation *conversation = &instance->conversation;
	const struct agent *agent;
	cleanup_free char *cwd = visible(instance_lookup_directory(instance)),
			  *launch = visible(instance_launch_directory(instance));
	cleanup_free char *path = visible(or_empty(conversation->transcript_path));
	if (deck_agent(&app->deck, instance->agent, &agent, NULL) < 0 || !conversation->session_id)
		return NULL;
	cleanup_free char *hint = hint_session(&app->deck, instance->title, instance->id);
	switch (outcome) {
	case LOCATION_ELSEWHERE:
		return xasprintf(
			"Conversation %s stays at %s, where %s keeps those of the old directory. Not every "
			"version finds it from here; nothing else takes its place. If it is not found: "
			"agentdeck session set %s path %s --copy-transcript",
			conversation->session_id, path, agent->title, hint, cwd);
	case LOCATION_COPIED:
		return xasprintf(
			"Conversation %s was copied to %s; the earlier file is left as it is",
			conversation->session_id, path);
	case LOCATION_HERE:
		return conversation->directory ? xasprintf("Its conversation goes on in %s", launch)
					       : NULL;
	case LOCATION_NONE:
		return agent->id_scope == ID_SCOPE_CWD && !location_is_known(agent)
			       ? xasprintf(
					 "%s may find conversation %s only from the old directory, and agentdeck "
					 "cannot look at it",
					 agent->title, conversation->session_id)
			       : NULL;
	}
	return NULL;
}

static int set_path(struct app *app, const char *base, const struct field_change *change,
		    char **ret_note, struct error *err)
{
	struct lifecycle_move move = { .path = change->value,
				       .copies_transcript = change->copies_transcript };
	if (lifecycle_set_path(&app->deck, base, &move, err) < 0)
		return -1;
	*ret_note = describe_move(app, move.instance, move.outcome);
	instance_free(move.instance);
	return 0;
}

static int set_home(struct app *app, const char *base, const struct field_change *change,
		    char **ret_note UNUSED, struct error *err)
{
	return lifecycle_set_home(&app->deck, base, change->value, err);
}

static int set_group(struct app *app, const char *base, const struct field_change *change,
		     char **ret_note, struct error *err)
{
	bool has_other_limits;
	if (lifecycle_set_group(&app->deck, base, change->value, &has_other_limits, err) < 0)
		return -1;
	if (has_other_limits)
		*ret_note = xstrdup("The limits of this group apply from its next start");
	return 0;
}

static int set_notes(struct app *app, const char *base, const struct field_change *change,
		     char **ret_note UNUSED, struct error *err)
{
	return lifecycle_set_notes(&app->deck, base, change->value, err);
}

static int set_command(struct app *app, const char *base, const struct field_change *change,
		       char **ret_note, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	if (argsplit(change->value, &argv, err) < 0)
		return error_prefix(err, "command");
	if (lifecycle_set_command(&app->deck, base, &argv, err) < 0)
		return -1;
	*ret_note = xstrdup("It applies from the next start");
	return 0;
}

static int set_agent(struct app *app, const char *base, const struct field_change *change,
		     char **ret_note, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	if (lifecycle_set_agent(&app->deck, base, change->value, change->drops_conversation, err) <
		    0 ||
	    deck_load(&app->deck, base, &instance, err) < 0)
		return -1;
	cleanup_free char *command = argjoin(strvec_argv(&instance->argv));
	*ret_note = xasprintf("Its command is now: %s", command);
	return 0;
}

static int set_image(struct app *app, const char *base, const struct field_change *change,
		     char **ret_note, struct error *err)
{
	if (lifecycle_set_container(&app->deck, base, CONTAINER_IMAGE, change->value, err) < 0)
		return -1;
	*ret_note = xstrdup("The next start makes a new container from it; files that were written "
			    "in the old one are lost, outside of its home, work directory and "
			    "mounts");
	return 0;
}

static int set_mount(struct app *app, const char *base, const struct field_change *change,
		     char **ret_note, struct error *err)
{
	if (lifecycle_set_container(&app->deck, base, CONTAINER_MOUNT, change->value, err) < 0)
		return -1;
	*ret_note = xstrdup("The next start makes a new container with it; files that were written "
			    "in the old one are lost, outside of its home, work directory and "
			    "mounts");
	return 0;
}

static int set_secret(struct app *app, const char *base, const struct field_change *change,
		      char **ret_note, struct error *err)
{
	if (lifecycle_set_container(&app->deck, base, CONTAINER_SECRET, change->value, err) < 0)
		return -1;
	*ret_note = xstrdup("It is looked up at the next start");
	return 0;
}

static const char *const field_names[] = {
	"session-id", "resume", "restart", "on-end",       "title",        "path",          "group",
	"command",    "agent",  "notes",   "recipe.image", "recipe.mount", "recipe.secret", "home",
};
static const char *const resume_words[] = { "auto", "confirm", "never", "default" };
static const char *const end_words[] = { "ask", "keep", "clean", "default" };
static const char *const restart_words[] = { "no", "on-failure", "always", "default" };

/* By the indexes of field_names. */
static const struct field {
	int (*set)(struct app *app, const char *base, const struct field_change *change,
		   char **ret_note, struct error *err);
	struct offer offer;
} fields[ARRAY_SIZE(field_names)] = {
	{ set_session_id, { .kind = VALUE_CONVERSATION } },
	{ set_resume, { .words = resume_words, .count = ARRAY_SIZE(resume_words) } },
	{ set_restart, { .words = restart_words, .count = ARRAY_SIZE(restart_words) } },
	{ set_on_end, { .words = end_words, .count = ARRAY_SIZE(end_words) } },
	{ set_title, { 0 } },
	{ set_path, { .kind = VALUE_DIRECTORY } },
	{ set_group, { .kind = VALUE_GROUP } },
	{ set_command, { .kind = VALUE_PROGRAM } },
	{ set_agent, { .kind = VALUE_AGENT } },
	{ set_notes, { 0 } },
	{ set_image, { 0 } },
	{ set_mount, { .kind = VALUE_DIRECTORY } },
	{ set_secret, { 0 } },
	{ set_home, { .kind = VALUE_DIRECTORY } },
};

static const struct field *find_field(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(field_names[i], name))
			return fields + i;
	return NULL;
}

static int refuse_field(const char *name, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "unknown field '%s' (fields: session-id, resume, restart, on-end, title, "
			 "path, home, group, command, agent, notes, recipe.image, "
			 "recipe.mount, recipe.secret)",
			 name);
}

int session_set_field(struct app *app, const char *base, const struct field_change *change,
		      char **ret_note, struct error *err)
{
	const struct field *field = find_field(change->field);
	return field ? field->set(app, base, change, ret_note, err)
		     : refuse_field(change->field, err);
}

static int cmd_session_set(struct app *app, struct error *err)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct store_row *row;
	const struct options *given = app->options;
	cleanup_free char *note = NULL;
	const char *name = app->operands.items[1], *value = app->operands.items[2];
	const struct field_change change = { name, value, given->copy_transcript,
					     given->drop_conversation };
	if (!find_field(name))
		return refuse_field(name, err);
	if (given->copy_transcript && !streq(name, "path"))
		return error_set(err, ERROR_USAGE,
				 "--copy-transcript only works with path: leave it out");
	if (given->drop_conversation && !streq(name, "agent"))
		return error_set(err, ERROR_USAGE,
				 "--drop-conversation only works with agent: leave it out");
	if (app_resolve(app, app->operands.items[0], &rows, &row, err) < 0 ||
	    session_set_field(app, row->base, &change, &note, err) < 0)
		return -1;
	struct json_object *object = json_success(row->id, row->title);
	json_set_string(object, "field", name);
	json_set_string(object, "value", value);
	json_set_string(object, "note", note);
	(void)print_done(app, object, xasprintf("%s: %s is now %s", row->title, name, value));
	if (note && !app->json)
		say("%s.", note);
	return 0;
}

static struct offer offer(const struct app *line, bool behind_dashes UNUSED)
{
	const struct field *field;
	if (line->operands.count == 1)
		return (struct offer){ .words = field_names, .count = ARRAY_SIZE(field_names) };
	field = line->operands.count == 2 ? find_field(line->operands.items[1]) : NULL;
	return field ? field->offer : (struct offer){ 0 };
}

const struct command command_session_set = {
	.name = "session set",
	.kind = COMMAND_CHANGES,
	.arguments = "SESSION FIELD VALUE",
	.summary = "change a session's title, group, notes, command and more",
	OWN_OPTIONS,
	.flags = NEEDS_STORE | HAS_JSON,
	.run = cmd_session_set,
	.offer = offer,
};
