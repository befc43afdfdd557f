/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/declared.h"

#include "base/argsplit.h"
#include "engine/deck/hint.h"
#include "engine/roster/view.h"
#include "engine/run/add.h"
#include "engine/run/change.h"
#include "model/session/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what differs ----------------------------------------------------------------------------- */

/* The comparison of one session. */
struct comparison {
	struct deck *deck;
	const struct declared *declared;
	const struct store_rows *rows; /* all of the profile */
	const struct instance *instance;
	struct declared_fact *fact;
};

static struct difference *add(struct declared_fact *fact, char *text)
{
	fact->differences = xreallocarray(fact->differences, fact->difference_count + 1,
					  sizeof(*fact->differences));
	struct difference *added = &fact->differences[fact->difference_count++];
	*added = (struct difference){ .text = text, .limit = LIMIT_COUNT };
	return added;
}

/* wanted: NULL if the file does not say.  Returns what differs, or NULL. */
static struct difference *compare_texts(const struct comparison *of, const char *field,
					const char *is, const char *wanted)
{
	if (!wanted || streq(or_empty(is), wanted))
		return NULL;
	struct difference *difference = add(of->fact, xasprintf("%s: it has %s, the file says %s",
								field, is_empty(is) ? "none" : is,
								*wanted ? wanted : "none"));
	difference->field = field;
	difference->value = xstrdup(wanted);
	return difference;
}

/* Only the session's own limits: those of its group are not in its file. */
static void compare_limits(const struct comparison *of)
{
	const struct limit_change *limits = &of->declared->limits;
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const int64_t is = limit_value(&of->instance->limits, limit);
		const int64_t wanted = limit_value(&limits->limits, limit);
		struct limit_change change = { .limits = limits->limits };
		cleanup_error struct error why = { 0 };
		cleanup_free char *has = is ? limit_text(limit, is) : NULL;
		cleanup_free char *says = wanted ? limit_text(limit, wanted) : xstrdup("");
		struct difference *difference = limits->given[limit] && is != wanted
							? compare_texts(of, limit_name(limit), has,
									says)
							: NULL;
		if (!difference)
			continue;
		difference->limit = limit;
		if (!wanted)
			replace_string(&difference->value, "0");
		change.given[limit] = true;
		if (lifecycle_check_limits(of->instance, &change, &why) < 0)
			difference->obstacle = xstrdup(why.message);
	}
}

/* To set it also decides about an end that is undecided, and can delete its tree. */
static void compare_end(const struct comparison *of)
{
	const struct instance *instance = of->instance;
	const char *wanted = declared_has_option(of->declared, "--keep")    ? "keep"
			     : declared_has_option(of->declared, "--clean") ? "clean"
									    : NULL;
	struct difference *difference = compare_texts(
		of, "on-end", end_policy_name(instance->end_policy), wanted);
	if (!difference ||
	    (instance->ending.stage != ENDING_DUE && instance->ending.stage != ENDING_UNDECIDED))
		return;
	cleanup_free char *hint = hint_row(of->deck, of->rows, of->fact->row);
	difference->obstacle = xasprintf("its agent has ended, and this would decide what becomes "
					 "of its files: agentdeck session set %s on-end %s does",
					 hint, wanted);
}

/* Another agent's words say nothing about this one's. */
static void compare_commands(const struct comparison *of)
{
	const struct declared *declared = of->declared;
	const struct instance *instance = of->instance;
	const struct lifecycle_new wish = { .argv = &declared->command,
					    .arguments = &declared->arguments };
	const struct agent *agent;
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_error struct error why = { 0 };
	if ((!declared->command.count && !declared->has_arguments) ||
	    (declared->agent && !streq(declared->agent, instance->agent)) ||
	    deck_agent(of->deck, instance->agent, &agent, NULL) < 0 ||
	    lifecycle_build_argv(&wish, agent, &argv, NULL) < 0)
		return;
	cleanup_free char *is = argjoin(strvec_argv(&instance->argv));
	cleanup_free char *wanted = argjoin(strvec_argv(&argv));
	struct difference *difference = compare_texts(of, "command", is, wanted);
	if (difference && lifecycle_check_command(of->deck, instance, &argv, &why) < 0)
		difference->obstacle = xstrdup(why.message);
}

static void compare_agents(const struct comparison *of)
{
	const struct instance *instance = of->instance;
	struct difference *difference = compare_texts(of, "agent", instance->agent,
						      of->declared->agent);
	if (!difference)
		return;
	cleanup_free char *hint = hint_row(of->deck, of->rows, of->fact->row);
	cleanup_free char *stop = of->fact->state == DECLARED_RUNNING
					  ? xasprintf("agentdeck stop %s, then ", hint)
					  : xstrdup("");
	difference->obstacle = xasprintf("use %sagentdeck session set %s agent %s, with "
					 "--drop-conversation if it has a conversation",
					 stop, hint, difference->value);
}

/* Where it works and lives was settled when it was made. */
static void obstruct(const struct comparison *of, struct difference *difference)
{
	cleanup_free char *hint = hint_row(of->deck, of->rows, of->fact->row);
	difference->obstacle = xasprintf("correct the file, or rename the session (agentdeck "
					 "rename %s NEW), and up makes another one",
					 hint);
}

static void compare_places(const struct comparison *of)
{
	const struct instance *instance = of->instance;
	const char *kind = instance->workspace ? workspace_kind_name(instance->workspace->kind)
					       : NULL;
	const char *wanted = declared_has_option(of->declared, "--worktree") ? "worktree"
			     : declared_has_option(of->declared, "--clone")  ? "clone"
									     : "";
	struct difference *difference = compare_texts(of, "tree", kind, wanted);
	if (difference)
		obstruct(of, difference);
	if (declared_has_option(of->declared, "--container") && !place_home(instance))
		obstruct(of, add(of->fact,
				 xstrdup("it runs on this host, the file says in a container")));
	if (declared_has_option(of->declared, "--no-container") && place_home(instance))
		obstruct(of, add(of->fact,
				 xstrdup("it runs in a container, the file says on this host")));
}

static void compare(const struct comparison *of)
{
	const struct declared *declared = of->declared;
	const struct instance *instance = of->instance;
	compare_texts(of, "group", instance->group, declared->group);
	compare_texts(of, "tags", instance->tags, declared->tags);
	compare_agents(of);
	compare_commands(of);
	compare_texts(of, "resume", resume_policy_name(instance->resume_policy),
		      declared_value(declared, "--resume="));
	compare_texts(of, "restart", restart_policy_name(instance->restart_policy),
		      declared_value(declared, "--restart="));
	compare_end(of);
	compare_limits(of);
	compare_places(of);
}

/* ---- what is there ---------------------------------------------------------------------------- */

/* Does the session work where the file says, or in a tree made from there? */
static bool is_there(const struct instance *instance, const char *directory)
{
	if (instance->workspace)
		return path_is_below(directory, instance->workspace->source);
	return streq(instance_lookup_directory(instance), directory);
}

static int compare_titles(const void *a, const void *b)
{
	const struct store_row *one = *(const struct store_row *const *)a;
	const struct store_row *other = *(const struct store_row *const *)b;
	return strcmp(one->title, other->title);
}

void declared_rows_sort(const struct store_rows *all, struct declared_rows *ret)
{
	*ret = (struct declared_rows){ .all = all };
	ret->by_title = xcalloc(all->count + 1, sizeof(*ret->by_title));
	for (size_t i = 0; i < all->count; i++)
		if (!all->rows[i].damage)
			ret->by_title[ret->count++] = &all->rows[i];
	qsort(ret->by_title, ret->count, sizeof(*ret->by_title), compare_titles);
}

void declared_rows_free(struct declared_rows *rows)
{
	free(rows->by_title);
}

static const struct store_row *find_row(const struct declared_rows *rows, char *title)
{
	const struct store_row wanted = { .title = title };
	const struct store_row *key = &wanted;
	const struct store_row *const *found = bsearch(&key, rows->by_title, rows->count,
						       sizeof(*rows->by_title), compare_titles);
	return found ? *found : NULL;
}

/* The row has all that the file says, so the manifest need not be read. */
static bool is_as_row(const struct declared *declared, const struct store_row *row)
{
	bool is_more = declared->command.count || declared->has_arguments || declared->tags ||
		       row->workspace;
	for (size_t i = 0; i < declared->options.count; i++)
		is_more |= !starts_with(declared->options.items[i], "--agent=") &&
			   !starts_with(declared->options.items[i], "--group=");
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++)
		is_more |= declared->limits.given[limit];
	return !is_more && streq(row->lookup_directory, declared->directory) &&
	       (!declared->agent || streq(row->agent, declared->agent)) &&
	       (!declared->group || streq(or_empty(row->group), declared->group));
}

/* Compare with the manifest. */
static int look_inside(struct deck *deck, const struct declared *declared,
		       const struct declared_rows *rows, struct declared_fact *ret,
		       struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	if (deck_load(deck, ret->row->base, &instance, err) < 0)
		return -1;
	if (is_there(instance, declared->directory)) {
		compare(&(struct comparison){ deck, declared, rows->all, instance, ret });
		return 0;
	}
	ret->state = DECLARED_FOREIGN;
	ret->needs_no_start = false;
	add(ret,
	    xasprintf("another session has this title, in %s", instance_lookup_directory(instance)))
		->obstacle = xstrdup("rename one of them");
	return 0;
}

int declared_look(struct deck *deck, const struct declared *declared,
		  const struct declared_rows *rows, struct declared_fact *ret, struct error *err)
{
	const struct store_row *row = find_row(rows, declared->title);
	*ret = (struct declared_fact){ .state = DECLARED_MISSING, .row = row };
	if (!row)
		return 0;
	cleanup_view struct view view = view_of(row);
	ret->state = state_is_running(view.state) ? DECLARED_RUNNING : DECLARED_STOPPED;
	ret->needs_no_start = ret->state == DECLARED_RUNNING && !view.is_silent &&
			      row->desired == DESIRED_RUNNING;
	return is_as_row(declared, row) ? 0 : look_inside(deck, declared, rows, ret, err);
}

int declared_check_agent(struct deck *deck, const struct declared *declared, struct error *err)
{
	const struct agent *agent;
	cleanup_error struct error why = { 0 };
	if (declared->agent && deck_agent(deck, declared->agent, &agent, &why) < 0)
		return error_set(err, ERROR_CORRUPT, "%s: %s", declared->agent_place, why.message);
	return 0;
}

int declared_check(struct deck *deck, const struct declared *declared, struct error *err)
{
	struct stat st;
	cleanup_free char *shown = visible(declared->directory);
	if (stat(declared->directory, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_set(err, ERROR_CORRUPT,
				 "%s: %s is not an existing directory: create it, or correct path",
				 declared->path_place, shown);
	return declared_check_agent(deck, declared, err);
}

void declared_fact_free(struct declared_fact *fact)
{
	for (size_t i = 0; i < fact->difference_count; i++) {
		free(fact->differences[i].text);
		free(fact->differences[i].value);
		free(fact->differences[i].obstacle);
	}
	free(fact->differences);
}
