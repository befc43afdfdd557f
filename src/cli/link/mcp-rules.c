/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/mcp-rules.h"

#include "engine/place/sender.h"
#include "model/host/remote.h"

#include <string.h>

enum { CHAIN = 16 };
#define AGENT_OPTION "--agent="

void rules_clear(struct rules *rules)
{
	store_rows_free(&rules->rows);
	strvec_clear(&rules->launched_by);
	*rules = (struct rules){ 0 };
}

/* The session whose agent started us, perhaps through other programs: the nearest one.  NULL: none
 * did.  An environment proves nothing, and some agents give their servers none. */
static const struct store_row *find_self(const struct rules *rules)
{
	struct sender above = { 0 };
	sender_find(&above);
	for (size_t i = 0; i < above.count; i++) {
		for (size_t j = 0; j < rules->rows.count; j++) {
			const struct place_run *run = &rules->rows.rows[j].run;
			if ((run->pane.pid && process_same(&above.processes[i], &run->pane)) ||
			    (run->server.pid && process_same(&above.processes[i], &run->server)))
				return &rules->rows.rows[j];
		}
	}
	return NULL;
}

static const struct store_row *row_of(const struct rules *rules, const char *id)
{
	for (size_t i = 0; i < rules->rows.count; i++)
		if (streq(rules->rows.rows[i].id, id))
			return &rules->rows.rows[i];
	return NULL;
}

static const char *launcher_of(const struct rules *rules, const struct store_row *row)
{
	return rules->launched_by.items[row - rules->rows.rows];
}

int rules_read(struct app *app, struct rules *ret, struct error *err)
{
	const char *id = deck_env_instance();
	ret->app = app;
	if (store_list(app->deck.store, &ret->rows, err) < 0)
		return -1;
	for (size_t i = 0; i < ret->rows.count; i++) {
		cleanup_instance struct instance *instance = NULL;
		cleanup_error struct error gone = { 0 };
		const bool is_read = !ret->rows.rows[i].damage &&
				     deck_load(&app->deck, ret->rows.rows[i].base, &instance,
					       &gone) == 0;
		strvec_push(&ret->launched_by, is_read ? or_empty(instance->launched_by) : "");
	}
	ret->self = find_self(ret);
	ret->is_proved = !id || (ret->self && streq(ret->self->id, id));
	ret->who = ret->self ? ret->self->id : id ? id : RULES_USER;
	return 0;
}

bool rules_owns(const struct rules *rules, const char *id)
{
	const struct store_row *row = row_of(rules, id);
	return row && streq(launcher_of(rules, row), rules->who);
}

/* How many launches lie between a person and this session: 0 for one of a person's.  CHAIN, the
 * most: one of those in between is gone. */
static int depth_of(const struct rules *rules, const struct store_row *row)
{
	int depth = 0;
	while (row && *launcher_of(rules, row) && depth < CHAIN) {
		const bool is_last = streq(launcher_of(rules, row), RULES_USER);
		row = row_of(rules, launcher_of(rules, row));
		depth = row || is_last ? depth + 1 : CHAIN;
	}
	return depth;
}

/* What runs any command is no coding agent: it would give a shell to an agent that has none. */
static int check_agent(const struct rules *rules, const char *name, struct error *err)
{
	const struct agent *agent;
	if (deck_agent(&rules->app->deck, name, &agent, err) < 0)
		return -1;
	return agent->generic ? error_set(err, ERROR_INVALID,
					  "%s runs commands, and is no coding agent", name)
			      : 0;
}

static int check_proof(const struct rules *rules, struct error *err)
{
	return rules->is_proved
		       ? 0
		       : error_set(err, ERROR_INVALID,
				   "this process says that it belongs to session %s of profile %s, "
				   "and is not one of its processes: only looking and sending are "
				   "possible",
				   rules->who, rules->app->deck.profile);
}

static int check_launch(const struct rules *rules, const struct tool_call *call, struct error *err)
{
	const struct settings *settings = &rules->app->deck.settings;
	const int depth = depth_of(rules, rules->self);
	int64_t running = 0;
	for (size_t i = 0; i < call->words.count; i++)
		if (starts_with(call->words.items[i], AGENT_OPTION) &&
		    check_agent(rules, call->words.items[i] + strlen(AGENT_OPTION), err) < 0)
			return -1;
	if (depth >= settings->mcp_depth)
		return error_set(err, ERROR_INVALID,
				 "you were launched by an agent yourself, and the user allows %lld "
				 "levels ([mcp] depth)",
				 (long long)settings->mcp_depth);
	for (size_t i = 0; i < rules->rows.count; i++)
		/* A message wakes one that sleeps. */
		running += streq(rules->launched_by.items[i], rules->who) &&
			   (rules->rows.rows[i].state != STATE_STOPPED ||
			    rules->rows.rows[i].desired == DESIRED_ASLEEP);
	return running < settings->mcp_children
		       ? 0
		       : error_set(err, ERROR_INVALID,
				   "%lld sessions that you launched run already, and the user "
				   "allows %lld ([mcp] children): stop one first",
				   (long long)running, (long long)settings->mcp_children);
}

/* One group holds all that a session launched. */
static void add_launch(const struct rules *rules, struct strvec *ret)
{
	const char *group = rules->self ? or_empty(rules->self->group) : "";
	strvec_pushf(ret, "--group=%s%sagents", group, *group ? "/" : "");
	strvec_pushf(ret, "--launched-by=%s", rules->who);
}

static int check_session(const struct rules *rules, const struct tool *tool,
			 const struct store_row *row, struct error *err)
{
	cleanup_free char *title = visible(row->title);
	if (tool->rule != TOOL_LOOKS && rules->self == row)
		return error_set(err, ERROR_INVALID, "%s is your own session", title);
	if ((tool->rule == TOOL_ENDS || tool->rule == TOOL_ANSWERS) &&
	    !streq(launcher_of(rules, row), rules->who))
		return error_set(err, ERROR_INVALID,
				 "%s was not launched by you: its user is to do that", title);
	return tool->rule == TOOL_SPEAKS ? check_agent(rules, row->agent, err) : 0;
}

static int add_sessions(const struct rules *rules, const struct tool_call *call, struct strvec *ret,
			struct error *err)
{
	for (size_t i = 0; i < call->sessions.count; i++) {
		const struct store_row *row, *again;
		if (app_find(rules->app, &rules->rows, call->sessions.items[i], &row, err) < 0 ||
		    check_session(rules, call->tool, row, err) < 0 ||
		    app_find(rules->app, &rules->rows, row->id, &again, err) < 0)
			return -1;
		/* The command looks for titles first. */
		if (again != row)
			return error_set(err, ERROR_AMBIGUOUS,
					 "another session has the id %s as its title: its user has "
					 "to rename that one",
					 row->id);
		strvec_push(ret, row->id);
	}
	return 0;
}

int rules_apply(const struct rules *rules, const struct tool_call *call, struct strvec *ret,
		struct error *err)
{
	const enum tool_rule rule = call->tool->rule;
	const bool is_change = rule != TOOL_LOOKS && rule != TOOL_SPEAKS;
	/* The user may have forbidden changes since this server began. */
	if (is_change && deck_read_settings(&rules->app->deck, err) < 0)
		return -1;
	if (rule == TOOL_ANSWERS && !rules->app->deck.settings.mcp_approve)
		return error_set(err, ERROR_INVALID,
				 "the user does not let agents answer for them ([mcp] approve)");
	if ((is_change && check_proof(rules, err) < 0) ||
	    (rule == TOOL_LAUNCHES && check_launch(rules, call, err) < 0))
		return -1;
	strvec_push_array(ret, (const char *const[]){ "-H", REMOTE_HERE, "-p",
						      rules->app->deck.profile, NULL });
	for (size_t i = 0; i < TOOL_WORDS && call->tool->words[i]; i++)
		strvec_push(ret, call->tool->words[i]);
	if (add_sessions(rules, call, ret, err) < 0)
		return -1;
	if (rule == TOOL_LAUNCHES)
		add_launch(rules, ret);
	strvec_push_all(ret, &call->words);
	return 0;
}
