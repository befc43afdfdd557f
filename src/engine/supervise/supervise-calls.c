/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise-internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/roster/facts.h"
#include "engine/run/recover.h"
#include "engine/supervise/filelimit.h"
#include "engine/supervise/notify.h"

#include <string.h>

enum { REOPEN_MS = 3000 };

/* ---- what is known ----------------------------------------------------------------------------- */

/* By id or exact title; NULL when there is none, or several.  Borrowed. */
static struct session *by_target(const struct supervisor *supervisor, const char *target)
{
	struct session *by_title = NULL;
	bool several = false;
	for (size_t i = 0; i < roster_count(supervisor->roster); i++) {
		const struct roster_entry *entry = roster_at(supervisor->roster, i);
		if (streq(entry->row.id, target))
			return entry->owner;
		if (!entry->row.damage && streq(entry->row.title, target)) {
			several |= by_title != NULL;
			by_title = entry->owner;
		}
	}
	return several ? NULL : by_title;
}

/* ---- what is asked ----------------------------------------------------------------------------- */

static void on_list(service_each each, void *closure, void *context)
{
	const struct supervisor *supervisor = context;
	for (size_t i = 0; i < roster_count(supervisor->roster); i++) {
		const struct roster_entry *entry = roster_at(supervisor->roster, i);
		const struct facts facts = facts_of(entry);
		/* A session that cannot be read has no facts to tell. */
		if (!entry->row.damage)
			each(&facts, closure);
	}
}

static bool on_get(const char *target, service_each each, void *closure, void *context)
{
	const struct session *session = by_target(context, target);
	if (!session)
		return false;
	const struct facts facts = facts_of(session->entry);
	each(&facts, closure);
	return true;
}

static void on_verb_done(const struct child_result *result, const struct error *failure,
			 void *context)
{
	struct service_call *call = context;
	if (result && result->exit_status == 0) {
		service_answer(call, "done");
		return;
	}
	cleanup_free char *words = result ? child_last_words(result) : xstrdup(failure->message);
	service_answer_failure(call, words);
}

static void on_recovered(const struct child_result *result, const struct error *failure,
			 void *context)
{
	struct service_call *call = context;
	cleanup_error struct error err = { 0 };
	struct recover_counts counts = { 0 };
	if (!result)
		service_answer_failure(call, failure->message);
	else if (recover_answer(result, &counts, &err) < 0)
		service_answer_failure(call, err.message);
	else
		service_answer_recovered(call, (uint32_t)counts.revived, (uint32_t)counts.failed);
}

static void on_act(enum service_verb verb, const char *target, struct service_call *call,
		   void *context)
{
	static const char *const words[] = {
		[SERVICE_START] = "start",
		[SERVICE_STOP] = "stop",
		[SERVICE_RESTART] = "restart",
	};
	struct supervisor *supervisor = context;
	cleanup_strvec struct strvec arguments = { 0 };
	if (verb == SERVICE_RECOVER) {
		strvec_push_array(&arguments, (const char *const[]){ "recover", "--json",
								     "--kept-environment", NULL });
		supervisor_start(supervisor, &arguments, NULL, 0, on_recovered, call);
		return;
	}
	const struct session *session = by_target(supervisor, target);
	if (!session) {
		service_answer_failure(call, "no such session exists, or more than one");
		return;
	}
	strvec_push_array(&arguments,
			  (const char *const[]){ "--profile", session->entry->profile, "session",
						 words[verb], session->entry->row.id, NULL });
	supervisor_start(supervisor, &arguments,
			 session->environment.count ? &session->environment : NULL, 0, on_verb_done,
			 call);
}

void calls_open(struct supervisor *supervisor)
{
	supervisor->operations = (struct service_operations){
		.state = supervisor->deck->paths.state,
		.list = on_list,
		.get = on_get,
		.act = on_act,
	};
	cleanup_error struct error err = { 0 };
	int r = service_open(supervisor->deck->paths.user_runtime, supervisor->loop,
			     &supervisor->operations, supervisor, &supervisor->service, &err);
	if (r == SERVICE_NO_BUS)
		log_info("no user bus: programs cannot call the supervisor");
	else if (r == SERVICE_TAKEN)
		log_warning("another supervisor has the name on the bus: programs cannot call this "
			    "one");
	else if (r < 0)
		log_warning("programs cannot call the supervisor: %s", err.message);
}

/* ---- signals ----------------------------------------------------------------------------------- */

static void on_reopen(void *context)
{
	struct supervisor *supervisor = context;
	loop_remove(TAKE_PTR(supervisor->reopen));
	calls_open(supervisor);
}

/* A message bus that was restarted has forgotten us, and no event tells when it is back: try
 * once. */
static bool has_service(struct supervisor *supervisor)
{
	if (supervisor->service && service_is_lost(supervisor->service)) {
		log_warning("the user bus went away");
		service_close(TAKE_PTR(supervisor->service));
		(void)loop_add_timer(supervisor->loop, clock_ms() + REOPEN_MS, on_reopen,
				     supervisor, &supervisor->reopen, NULL);
	}
	return supervisor->service != NULL;
}

void calls_session_changed(struct session *session)
{
	const struct facts facts = facts_of(session->entry);
	if (has_service(session->supervisor))
		service_changed(session->supervisor->service, &facts);
}

void calls_session_removed(struct session *session)
{
	if (has_service(session->supervisor))
		service_removed(session->supervisor->service, session->entry->row.id);
}

void calls_notify(struct session *session, const char *occasion, const char *message)
{
	const struct supervisor *supervisor = session->supervisor;
	if (occasion)
		notify_send(supervisor->deck, supervisor->loop,
			    &(struct notification){ occasion, session->entry, message },
			    filelimit_usual(&supervisor->usual_files));
}
