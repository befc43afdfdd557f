/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/conversation/report-internal.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "engine/place/activityfile.h"
#include "engine/place/place.h"
#include "model/agent/display.h"
#include "model/agent/limit.h"
#include "model/session/naming.h"

#include <string.h>

const char *report_attempt_id(const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt ? attempt->session_id : NULL;
}

static unsigned meaning_of_name(const struct agent *agent, const char *event)
{
	const struct {
		const struct strvec *events;
		unsigned meaning;
	} table[] = {
		{ &agent->report_start, MEANS_START }, { &agent->report_prompt, MEANS_PROMPT },
		{ &agent->report_busy, MEANS_BUSY },   { &agent->report_waiting, MEANS_WAITING },
		{ &agent->report_idle, MEANS_IDLE },   { &agent->report_turn, MEANS_TURN },
		{ &agent->report_end, MEANS_END },     { &agent->report_failed, MEANS_FAILED },
	};
	unsigned meaning = 0;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strvec_contains(table[i].events, event))
			meaning |= table[i].meaning;
	return meaning;
}

/* An entry may tell the kinds of an event apart: "Notification:idle_prompt". */
static unsigned meaning_of(const struct agent *agent, const char *event, const char *kind)
{
	cleanup_free char *name = xasprintf("%s:%s", event, or_empty(kind));
	unsigned meaning = kind ? meaning_of_name(agent, name) : 0;
	return meaning ? meaning : meaning_of_name(agent, event);
}

/* Where the entry has no such member: NULL. */
static const char *member(struct json_object *object, const char *key)
{
	return key ? json_get_string(object, key, NULL) : NULL;
}

const char *report_absolute(const char *path)
{
	return path && *path == '/' ? path : NULL;
}

/* An agent that gets a path or a name from us, not an id, may have ids of its own.  Those are
 * ignored, and its reports count for the run's conversation. */
static bool names_conversations(const struct agent *agent)
{
	return agent->id_key && (agent->id_kind == ID_UUID || agent->id_kind == ID_ANY);
}

bool report_is_start_of_fork(const struct instance *instance, const struct report *report)
{
	const struct conversation *conversation = &instance->conversation;
	const struct attempt *attempt = run_attempt(&instance->run);
	return report->meaning & MEANS_START && attempt && attempt->reason == REASON_FORKED &&
	       !conversation->first_turn_seen &&
	       naming_same_session_id(conversation->forked_from, report->session_id);
}

/* An agent in a container can report any path, also one of another conversation of the user. */
static bool is_in_reach(const struct instance *instance, const char *path)
{
	const char *home = place_home(instance);
	return !home || (path_is_below(path, home) && !strstr(path, "/../"));
}

/* claude gives one word for every refused request (also a too long conversation) and one for every
 * request that came too soon (also a usage limit): the text tells. */
static const char *failure_of(struct json_object *object, const struct agent *agent,
			      int64_t *ret_limited_until)
{
	const char *text = member(object, agent->failure_text_key);
	*ret_limited_until = 0;
	if (text && limit_announced(agent, text, clock_wall_us(), ret_limited_until))
		return FAILURE_LIMIT;
	return text && display_fits(&agent->context_full, text)
		       ? "context_full"
		       : member(object, agent->failure_key);
}

static bool has_tasks(struct json_object *object, const struct agent *agent)
{
	struct json_object *tasks = NULL;
	if (!agent->tasks_key || !json_object_object_get_ex(object, agent->tasks_key, &tasks) ||
	    !json_object_is_type(tasks, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(tasks); i++) {
		struct json_object *task = json_object_array_get_idx(tasks, i);
		if (json_object_is_type(task, json_type_object) &&
		    strvec_contains(&agent->tasks, json_get_string(task, "type", "")))
			return true;
	}
	return false;
}

int report_decode(struct json_object *object, const struct instance *instance,
		  const struct agent *agent, struct report *ret, struct error *err)
{
	int64_t limited_until;
	const char *failure = failure_of(object, agent, &limited_until);
	struct report report = {
		.agent = agent,
		.event = member(object, agent->event_key),
		.failure = failure,
		.limited_until = limited_until,
		.has_tasks = has_tasks(object, agent),
		.session_id = member(object, agent->id_key),
		.transcript_path = report_absolute(member(object, agent->transcript_key)),
		.source = or_empty(member(object, agent->source_key)),
		.cwd = report_absolute(member(object, agent->cwd_key)),
	};
	if (report.transcript_path && !is_in_reach(instance, report.transcript_path))
		report.transcript_path = NULL;
	if (!report.event)
		return error_set(err, ERROR_CORRUPT, "the report has no %s",
				 agent->event_key ? agent->event_key
						  : "event listed in the agent's entry");
	if (!names_conversations(agent))
		report.session_id = report_attempt_id(instance);
	else if (report.session_id &&
		 !(agent->id_kind == ID_UUID ? naming_is_uuid(report.session_id)
					     : naming_is_session_id(report.session_id)))
		return error_set(err, ERROR_CORRUPT, "the report's %s is not a valid id",
				 agent->id_key);
	report.kind = member(object, agent->kind_key);
	report.meaning = meaning_of(agent, report.event, report.kind);
	if (report_is_start_of_fork(instance, &report)) {
		report.session_id = report_attempt_id(instance);
		report.transcript_path = NULL;
	}
	*ret = report;
	return 0;
}
