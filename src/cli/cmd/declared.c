/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/declared.h"

#include "engine/roster/view.h"

#include <string.h>
#include <sys/stat.h>

/* Does the session work where the file says, or in a tree made from there? */
static bool is_there(const struct instance *instance, const char *directory)
{
	if (instance->workspace)
		return path_is_below(directory, instance->workspace->source);
	return streq(instance_lookup_directory(instance), directory);
}

static bool has_option(const struct declared *declared, const char *option)
{
	return strvec_contains(&declared->options, option);
}

static void compare_texts(const char *what, const char *is, const char *wanted, struct strvec *ret)
{
	if (wanted && !streq(or_empty(is), wanted))
		strvec_pushf(ret, "%s: it has %s, the file says %s", what,
			     is_empty(is) ? "none" : is, *wanted ? wanted : "none");
}

/* Its own limits: those of its group are not its file's. */
static void compare_limits(const struct declared *declared, const struct instance *instance,
			   struct strvec *ret)
{
	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		const int64_t is = limit_value(&instance->limits, limit);
		const int64_t wanted = limit_value(&declared->limits.limits, limit);
		cleanup_free char *has = is ? limit_text(limit, is) : NULL;
		cleanup_free char *says = wanted ? limit_text(limit, wanted) : xstrdup("");
		if (declared->limits.given[limit])
			compare_texts(limit_name(limit), has, says, ret);
	}
}

static void compare(const struct declared *declared, const struct instance *instance,
		    struct strvec *ret)
{
	const char *kind = instance->workspace ? workspace_kind_name(instance->workspace->kind)
					       : NULL;
	const char *wanted = has_option(declared, "--worktree") ? "worktree"
			     : has_option(declared, "--clone")  ? "clone"
								: NULL;
	compare_texts("group", instance->group, declared->group, ret);
	compare_texts("agent", instance->agent, declared->agent, ret);
	compare_limits(declared, instance, ret);
	if (wanted || kind)
		compare_texts("tree", kind, or_empty(wanted), ret);
	if (has_option(declared, "--container") && !instance->recipe)
		strvec_push(ret, "it runs on this host, the file says in a container");
	if (has_option(declared, "--no-container") && instance->recipe)
		strvec_push(ret, "it runs in a container, the file says on this host");
}

int declared_look(struct deck *deck, const struct declared *declared, const struct store_rows *rows,
		  struct declared_fact *ret, struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	const struct store_row *row = NULL;
	for (size_t i = 0; i < rows->count && !row; i++)
		if (streq(rows->rows[i].title, declared->title) && !rows->rows[i].damage)
			row = &rows->rows[i];
	*ret = (struct declared_fact){ .state = DECLARED_MISSING, .row = row };
	if (!row)
		return 0;
	int r = deck_load(deck, row->base, &instance, err);
	if (r < 0)
		return -1;
	cleanup_view struct view view = view_of(row);
	if (!is_there(instance, declared->directory)) {
		ret->state = DECLARED_FOREIGN;
		strvec_pushf(&ret->differences, "another session has this title, in %s",
			     instance_lookup_directory(instance));
		return 0;
	}
	ret->state = state_is_running(view.state) ? DECLARED_RUNNING : DECLARED_STOPPED;
	compare(declared, instance, &ret->differences);
	return 0;
}

int declared_check(struct deck *deck, const struct declared *declared, struct error *err)
{
	const struct agent *agent;
	struct stat st;
	cleanup_error struct error why = { 0 };
	cleanup_free char *shown = visible(declared->directory);
	if (stat(declared->directory, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_set(err, ERROR_CORRUPT,
				 "%s: %s is not an existing directory: create it, or correct path",
				 declared->path_place, shown);
	if (declared->agent && deck_agent(deck, declared->agent, &agent, &why) < 0)
		return error_set(err, ERROR_CORRUPT, "%s: %s", declared->agent_place, why.message);
	return 0;
}

void declared_fact_free(struct declared_fact *fact)
{
	strvec_clear(&fact->differences);
}
