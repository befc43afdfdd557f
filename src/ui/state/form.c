/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/form.h"

#include "base/argsplit.h"
#include "model/session/workspace.h"

#include <string.h>

enum place { PLACE_USUAL, PLACE_HOST, PLACE_CONTAINER, PLACE_ROLE, PLACE_COUNT };
enum tree_choice { TREE_NONE, TREE_WORKTREE, TREE_CLONE, TREE_COUNT };

static const char *const places[PLACE_COUNT] = {
	[PLACE_HOST] = "host",
	[PLACE_CONTAINER] = "container",
	[PLACE_ROLE] = "role",
};
static const char *const workspaces[TREE_COUNT] = {
	[TREE_NONE] = "same tree", [TREE_WORKTREE] = "worktree", [TREE_CLONE] = "clone"
};

static const struct {
	const char *label, *hint;
} infos[FIELD_COUNT] = {
	[FIELD_DIRECTORY] = { "Directory", "where the agent works" },
	[FIELD_AGENT] = { "Agent", "" },
	[FIELD_COMMAND] = { "Command", "no shell runs it" },
	[FIELD_TITLE] = { "Title", "empty: the name of the directory" },
	[FIELD_MESSAGE] = { "Message", "empty: no first prompt" },
	[FIELD_WORKSPACE] = { "Workspace", "a Git tree to itself?" },
	[FIELD_BRANCH] = { "Branch", "" },
	[FIELD_PLACE] = { "Place", "" },
	[FIELD_IMAGE] = { "Image", "empty: the default" },
	[FIELD_ROLE] = { "Role", "empty: the project's own" },
	[FIELD_GROUP] = { "Group", "such as work/api" },
};

void form_supply_free(struct form_supply *supply)
{
	free(supply->home);
	strvec_clear(&supply->agents);
	strvec_clear(&supply->recents);
	strvec_clear(&supply->groups);
	strvec_clear(&supply->boxed);
	*supply = (struct form_supply){ 0 };
}

void form_free(struct form *form)
{
	form_empty(form);
	form_supply_free(&form->supply);
}

void form_empty(struct form *form)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		input_free(&form->texts[i]);
		form->chosen[i] = 0;
	}
	form->chosen[FIELD_AGENT] = form->supply.usual;
	strvec_clear(&form->found);
	replace_string(&form->problem, NULL);
	replace_string(&form->instead, NULL);
	form->at = FIELD_DIRECTORY;
	form->recent = 0;
	form->is_begun = false;
}

/* The one behind the last agent. */
static bool is_other_command(const struct form *form)
{
	return form->chosen[FIELD_AGENT] >= form->supply.agents.count;
}

/* Does a new session live in a container, as its group has it, or the nearest one around? */
static bool is_boxed(const struct form *form)
{
	const struct form_supply *supply = &form->supply;
	cleanup_free char *group = xstrdup(input_text(&form->texts[FIELD_GROUP]));
	while (*group && !strvec_contains(&supply->groups, group)) {
		char *slash = strrchr(group, '/');
		*(slash ? slash : group) = '\0';
	}
	return strvec_contains(&supply->boxed, group);
}

const char *form_choice(const struct form *form, enum form_field field, size_t index)
{
	const struct strvec *agents = &form->supply.agents;
	if (field == FIELD_PLACE && index == PLACE_USUAL)
		return is_boxed(form) ? "usual: container" : "usual: host";
	if (field == FIELD_PLACE)
		return places[index];
	if (field == FIELD_WORKSPACE)
		return workspaces[index];
	return index < agents->count ? agents->items[index] : "another command";
}

bool form_lacks(const struct form *form, enum form_field field, size_t index)
{
	return field == FIELD_AGENT && index >= form->supply.installed &&
	       index < form->supply.agents.count;
}

/* The agent that is chosen keeps its place among others. */
static void take_supply(struct form *form, struct form_supply *supply)
{
	const bool is_other = is_other_command(form);
	cleanup_free char *name = xstrdup(
		form_choice(form, FIELD_AGENT, form->chosen[FIELD_AGENT]));
	form_supply_free(&form->supply);
	form->supply = *supply;
	*supply = (struct form_supply){ 0 };
	form->chosen[FIELD_AGENT] = is_other ? form->supply.agents.count : form->supply.usual;
	for (size_t i = 0; !is_other && i < form->supply.agents.count; i++)
		if (streq(form->supply.agents.items[i], name))
			form->chosen[FIELD_AGENT] = i;
}

void form_open(struct form *form, struct form_supply *supply, const char *directory,
	       const char *group)
{
	take_supply(form, supply);
	if (form->is_begun || form->is_running)
		return;
	form_empty(form);
	input_set(&form->texts[FIELD_DIRECTORY], directory);
	input_set(&form->texts[FIELD_GROUP], group);
}

/* ---- fields ----------------------------------------------------------------------------------- */

const char *form_label(enum form_field field)
{
	return infos[field].label;
}

/* The groups that begin with what is typed, and if that is one, all others. */
static void find_groups(const struct form *form, struct strvec *ret)
{
	const struct strvec *groups = &form->supply.groups;
	const char *typed = input_text(&form->texts[FIELD_GROUP]);
	const bool is_one = strvec_contains(groups, typed);
	for (size_t i = 0; i < groups->count; i++)
		if (is_one ? !streq(groups->items[i], typed) : starts_with(groups->items[i], typed))
			strvec_push(ret, groups->items[i]);
}

/* The caller frees. */
static char *usual_branch(const struct form *form)
{
	cleanup_free char *path = form_path(form);
	const char *title = input_text(&form->texts[FIELD_TITLE]), *slash = strrchr(path, '/');
	cleanup_free char *slug = workspace_slug(*title ? title : slash ? slash + 1 : path);
	return xasprintf("empty: agentdeck/%s", slug);
}

char *form_note(const struct form *form, enum form_field field)
{
	cleanup_strvec struct strvec groups = { 0 };
	if (field == FIELD_BRANCH)
		return usual_branch(form);
	if (field == FIELD_GROUP)
		find_groups(form, &groups);
	cleanup_free char *found = groups.count ? strvec_join(&groups, "  ") : NULL;
	return found ? visible(found) : xstrdup(infos[field].hint);
}

bool form_is_text(enum form_field field)
{
	return field != FIELD_AGENT && field != FIELD_PLACE && field != FIELD_WORKSPACE;
}

size_t form_choices(const struct form *form, enum form_field field)
{
	return field == FIELD_AGENT   ? form->supply.agents.count + 1
	       : field == FIELD_PLACE ? (size_t)PLACE_COUNT
				      : (size_t)TREE_COUNT;
}

static bool is_there(const struct form *form, enum form_field field)
{
	switch (field) {
	case FIELD_COMMAND:
		return is_other_command(form);
	case FIELD_IMAGE:
		return form->chosen[FIELD_PLACE] == PLACE_CONTAINER;
	case FIELD_ROLE:
		return form->chosen[FIELD_PLACE] == PLACE_ROLE;
	case FIELD_BRANCH:
		return form->chosen[FIELD_WORKSPACE] != TREE_NONE;
	default:
		return true;
	}
}

size_t form_fields(const struct form *form, enum form_field ret[FIELD_COUNT])
{
	size_t count = 0;
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (is_there(form, (enum form_field)i))
			ret[count++] = (enum form_field)i;
	return count;
}

/* ---- keys ------------------------------------------------------------------------------------- */

static void move(struct form *form, bool is_down)
{
	enum form_field fields[FIELD_COUNT];
	const size_t count = form_fields(form, fields);
	size_t at = 0;
	while (fields[at] != form->at)
		at++;
	form->at = fields[(at + (is_down ? 1 : count - 1)) % count];
	form->lead[0] = '\0';
	strvec_clear(&form->found);
}

/* What the last attempt said may be mended by that. */
static void note_change(struct form *form)
{
	form->is_begun = true;
	strvec_clear(&form->found);
	replace_string(&form->problem, NULL);
}

static void choose(struct form *form, bool is_next)
{
	const size_t count = form_choices(form, form->at);
	size_t *chosen = &form->chosen[form->at];
	*chosen = (*chosen + (is_next ? 1 : count - 1)) % count;
	form->lead[0] = '\0';
	note_change(form);
}

static bool choose_by(struct form *form, const char *lead, size_t skipped)
{
	const size_t count = form_choices(form, form->at);
	for (size_t i = skipped; i < count + skipped; i++) {
		const size_t index = (form->chosen[form->at] + i) % count;
		if (starts_with(form_choice(form, form->at, index), lead)) {
			form->chosen[form->at] = index;
			note_change(form);
			return true;
		}
	}
	return false;
}

/* A choice by what it begins with; the same letter again is the next one. */
static void choose_letter(struct form *form, key_code key)
{
	const size_t length = strlen(form->lead);
	if (key <= ' ' || key >= 0x7F)
		return;
	if (length + 1 < sizeof(form->lead)) {
		form->lead[length] = (char)key;
		form->lead[length + 1] = '\0';
		if (choose_by(form, form->lead, length == 0))
			return;
	}
	form->lead[0] = (char)key;
	form->lead[1] = '\0';
	(void)choose_by(form, form->lead, 1);
}

static enum key_context context_of(const struct form *form)
{
	return form_is_text(form->at) ? CONTEXT_TEXT : CONTEXT_CHOICE;
}

/* keymap NULL: the key is a character. */
static void type(struct form *form, const struct keymap *keymap, key_code key)
{
	struct input *input = &form->texts[form->at];
	cleanup_free char *before = xstrdup(input_text(input));
	const bool is_taken = keymap ? input_key(input, keymap, CONTEXT_TEXT, key)
				     : input_type(input, key);
	if (is_taken && !streq(before, input_text(input)))
		note_change(form);
}

static void take_recent(struct form *form)
{
	const struct strvec *recents = &form->supply.recents;
	if (form->at != FIELD_DIRECTORY || recents->count == 0)
		return;
	input_set(&form->texts[FIELD_DIRECTORY], recents->items[form->recent % recents->count]);
	form->recent = (form->recent + 1) % recents->count;
	note_change(form);
}

/* What changes a field. */
static void change(struct form *form, const struct keymap *keymap, key_code key)
{
	switch (keymap_action(keymap, context_of(form), key)) {
	case ACTION_FORM_CLEAR:
		form_empty(form);
		break;
	case ACTION_FORM_RECENT:
		take_recent(form);
		break;
	case ACTION_FORM_CHOOSE_NEXT:
		choose(form, true);
		break;
	case ACTION_FORM_CHOOSE_PREVIOUS:
		choose(form, false);
		break;
	default:
		if (form_is_text(form->at))
			type(form, keymap, key);
		else
			choose_letter(form, key);
		break;
	}
}

bool form_completes(enum form_field field)
{
	return field == FIELD_DIRECTORY || field == FIELD_BRANCH || field == FIELD_GROUP;
}

enum form_result form_key(struct form *form, const struct keymap *keymap, key_code key)
{
	switch (keymap_action(keymap, context_of(form), key)) {
	case ACTION_FORM_CANCEL:
		return FORM_LEFT;
	case ACTION_FORM_ACCEPT:
		return form->is_running ? FORM_STAYS : FORM_DONE;
	case ACTION_FORM_COMPLETE:
		/* Once more, where it has found several: on to the next field. */
		if (form->is_running || form->found.count || !form_completes(form->at))
			move(form, true);
		else if (form->at == FIELD_GROUP)
			form_complete(form, &form->supply.groups);
		else
			return FORM_COMPLETE;
		break;
	case ACTION_FORM_NEXT:
		move(form, true);
		break;
	case ACTION_FORM_PREVIOUS:
		move(form, false);
		break;
	default:
		if (!form->is_running)
			change(form, keymap, key);
		break;
	}
	return FORM_STAYS;
}

void form_paste(struct form *form, key_code key)
{
	if (form_is_text(form->at) && !form->is_running)
		type(form, NULL, key >= ' ' ? key : ' ');
}

/* ---- directories ------------------------------------------------------------------------------ */

/* The text as typed, but with "~/" expanded. */
static char *expanded(const struct form *form)
{
	const char *text = input_text(&form->texts[FIELD_DIRECTORY]);
	const char *home = form->supply.home;
	if (home && *text == '~' && (text[1] == '/' || !text[1]))
		return xasprintf("%s%s", home, text + 1);
	return xstrdup(*text ? text : ".");
}

char *form_path(const struct form *form)
{
	char *path = expanded(form);
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	return path;
}

/* Where the last part of the path begins. */
static size_t last_part(const char *text)
{
	const char *slash = strrchr(text, '/');
	return slash ? (size_t)(slash - text) + 1 : 0;
}

char *form_directory(const struct form *form)
{
	cleanup_free char *path = expanded(form);
	const char *text = input_text(&form->texts[FIELD_DIRECTORY]);
	/* "~" is a whole directory, to which only the slash is missing. */
	if (!strchr(text, '/'))
		return xstrdup("./");
	path[last_part(path)] = '\0';
	return TAKE_PTR(path);
}

/* Complete the end of the field, from start on, to what all names have that begin with it; one
 * alone gets the suffix.  False: that changes and shows nothing. */
static bool complete(struct form *form, const struct strvec *names, size_t start,
		     const char *suffix)
{
	struct input *input = &form->texts[form->at];
	cleanup_free char *typed = xstrdup(input_text(input));
	const char *part = typed + start;
	strvec_clear(&form->found);
	for (size_t i = 0; i < names->count; i++)
		if (starts_with(names->items[i], part) && (*part || *names->items[i] != '.'))
			strvec_push(&form->found, names->items[i]);
	if (form->found.count == 0)
		return false;
	const size_t length = input_common(&form->found);
	const bool is_whole = form->found.count == 1;
	cleanup_free char *text = xasprintf("%.*s%.*s%s", (int)start, typed, (int)length,
					    form->found.items[0], is_whole ? suffix : "");
	if (is_whole)
		strvec_clear(&form->found);
	if (streq(text, typed))
		return !is_whole;
	form->is_begun = true;
	replace_string(&form->problem, NULL);
	input_set(input, text);
	return true;
}

void form_complete(struct form *form, const struct strvec *names)
{
	const char *typed = input_text(&form->texts[form->at]);
	const bool is_directory = form->at == FIELD_DIRECTORY;
	if ((is_directory && streq(typed, "~")) ||
	    !complete(form, names, is_directory ? last_part(typed) : 0, is_directory ? "/" : ""))
		move(form, true);
}

/* ---- the command ------------------------------------------------------------------------------ */

static void add_text(const struct form *form, enum form_field field, const char *option,
		     struct strvec *ret)
{
	const char *text = input_text(&form->texts[field]);
	if (*text && is_there(form, field))
		strvec_push_array(ret, (const char *const[]){ option, text, NULL });
}

static void add_agent(const struct form *form, struct strvec *ret)
{
	const char *name = form_choice(form, FIELD_AGENT, form->chosen[FIELD_AGENT]);
	if (!is_other_command(form))
		strvec_push_array(ret, (const char *const[]){ "--agent", name, NULL });
	add_text(form, FIELD_COMMAND, "--cmd", ret);
}

/* A directory may begin with a dash. */
static void add_directory(const struct form *form, struct strvec *ret)
{
	cleanup_free char *directory = expanded(form);
	strvec_push_take(ret,
			 *directory == '-' ? xasprintf("./%s", directory) : TAKE_PTR(directory));
}

void form_branch_words(const struct form *form, struct strvec *ret)
{
	strvec_push(ret, "launch");
	add_directory(form, ret);
	strvec_push(ret, "--branch");
	strvec_push(ret, input_text(&form->texts[FIELD_BRANCH]));
}

void form_ask_words(const struct form *form, struct strvec *ret)
{
	strvec_push_array(ret, (const char *const[]){ "settle", "--json", NULL });
	add_agent(form, ret);
	add_text(form, FIELD_TITLE, "--title", ret);
	strvec_push(ret, "launch");
	add_directory(form, ret);
}

void form_words(const struct form *form, struct strvec *ret)
{
	static const char *const place_options[PLACE_COUNT] = {
		[PLACE_HOST] = "--no-container", [PLACE_CONTAINER] = "--container"
	};
	static const char *const workspace_options[TREE_COUNT] = {
		[TREE_WORKTREE] = "--worktree", [TREE_CLONE] = "--clone"
	};
	const bool is_own = form->chosen[FIELD_PLACE] == PLACE_ROLE &&
			    !*input_text(&form->texts[FIELD_ROLE]);
	const char *place = is_own ? "--devcontainer" : place_options[form->chosen[FIELD_PLACE]];
	const char *workspace = workspace_options[form->chosen[FIELD_WORKSPACE]];
	const bool has_message = *input_text(&form->texts[FIELD_MESSAGE]) != '\0';
	strvec_push(ret, "launch");
	add_agent(form, ret);
	if (place)
		strvec_push(ret, place);
	add_text(form, FIELD_IMAGE, "--image", ret);
	add_text(form, FIELD_ROLE, "--role", ret);
	if (workspace)
		strvec_push(ret, workspace);
	add_text(form, FIELD_BRANCH, "--branch", ret);
	add_text(form, FIELD_GROUP, "--group", ret);
	add_text(form, FIELD_TITLE, "--title", ret);
	strvec_push_array(ret, has_message ? (const char *const[]){ "--message-file", "-", NULL }
					   : (const char *const[]){ "--no-wait", NULL });
	if (form->instead)
		strvec_push_array(ret, (const char *const[]){ "--instead", form->instead, NULL });
	add_directory(form, ret);
}

char *form_line(const struct form *form, const char *profile)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push(&words, "agentdeck");
	if (!streq(profile, "default"))
		strvec_push_array(&words, (const char *const[]){ "--profile", profile, NULL });
	form_words(form, &words);
	cleanup_free char *line = argjoin(words.items);
	return visible(line);
}
