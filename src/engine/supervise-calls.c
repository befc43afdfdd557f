/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise-internal.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "engine/notify.h"

#include <string.h>
#include <sys/epoll.h>

enum { REOPEN_MS = 3000 };

/* ---- what is asked ------------------------------------------------------------------------------ */

static void on_list(service_each each, void *closure, void *context)
{
	const struct supervisor *supervisor = context;
	for (size_t i = 0; i < supervisor->count; i++) {
		struct service_session session;
		/* One that could never be read has nothing to tell. */
		if (!supervisor->sessions[i]->title)
			continue;
		session_describe(supervisor->sessions[i], &session);
		each(&session, closure);
	}
}

static bool on_get(const char *target, service_each each, void *closure, void *context)
{
	const struct session *session = session_by_target(context, target);
	struct service_session described;
	if (!session)
		return false;
	session_describe(session, &described);
	each(&described, closure);
	return true;
}

static void on_verb_done(const struct child_result *result, const char *failure, void *context)
{
	struct service_call *call = context;
	if (result && result->exit_status == 0) {
		service_answer(call, "done");
		return;
	}
	cleanup_free char *words = result ? child_last_words(result) : xstrdup(failure);
	service_answer_failure(call, words);
}

/* The last line of `agentdeck recover --json`. */
static void on_recovered(const struct child_result *result, const char *failure, void *context)
{
	struct service_call *call = context;
	cleanup_json struct json_object *object = NULL;
	const char *text = result ? strbuf_text(&result->output) : "";
	size_t length = strlen(text);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	size_t start = length;
	while (start > 0 && text[start - 1] != '\n')
		start--;
	if (!result || json_parse(text + start, length - start, "recover", &object, NULL) < 0) {
		cleanup_free char *words = result ? child_last_words(result) : xstrdup(failure);
		service_answer_failure(call, words);
		return;
	}
	service_answer_recovered(call, (uint32_t)json_get_int(object, "revived", 0),
				 (uint32_t)json_get_int(object, "failed", 0));
}

static void on_act(enum service_verb verb, const char *target, struct service_call *call, void *context)
{
	static const char *const words[] = {
		[SERVICE_START] = "start", [SERVICE_STOP] = "stop", [SERVICE_RESTART] = "restart",
	};
	struct supervisor *supervisor = context;
	cleanup_strvec struct strvec arguments = { 0 };
	if (verb == SERVICE_RECOVER) {
		strvec_push_array(&arguments, (const char *const[]){ "recover", "--json", "--kept-environment",
								     NULL });
		work_start(supervisor, &arguments, NULL, 0, on_recovered, call);
		return;
	}
	const struct session *session = session_by_target(supervisor, target);
	if (!session) {
		service_answer_failure(call, "there is no such session, or more than one");
		return;
	}
	strvec_push_array(&arguments, (const char *const[]){ "--profile", session->profile, "session",
							     words[verb], session->id, NULL });
	work_start(supervisor, &arguments, session->environment.count ? &session->environment : NULL, 0,
		   on_verb_done, call);
}

void calls_open(struct supervisor *supervisor)
{
	supervisor->operations = (struct service_operations){
		.state = supervisor->deck->paths.state, .list = on_list, .get = on_get, .act = on_act,
	};
	cleanup_error struct error err = { 0 };
	int r = service_open(supervisor->deck->paths.user_runtime, loop_event(supervisor->loop),
			     &supervisor->operations,
			     supervisor, &supervisor->service, &err);
	if (r == SERVICE_NO_BUS)
		log_info("no user bus: nobody can call");
	else if (r == SERVICE_TAKEN)
		log_warning("the name on the bus is another supervisor's: nobody can call this one");
	else if (r < 0)
		log_warning("nobody can call: %s", err.message);
}

/* ---- what is told -------------------------------------------------------------------------------- */

static void on_reopen(void *context)
{
	struct supervisor *supervisor = context;
	loop_remove(TAKE_PTR(supervisor->reopen));
	calls_open(supervisor);
}

/* A message bus that was begun anew has forgotten us.  There is nobody to tell us when it is back: one try. */
static bool has_service(struct supervisor *supervisor)
{
	if (supervisor->service && service_is_lost(supervisor->service)) {
		log_warning("the user bus has gone");
		service_close(TAKE_PTR(supervisor->service));
		(void)loop_add_timer(supervisor->loop, clock_ms() + REOPEN_MS, on_reopen, supervisor,
				     &supervisor->reopen, NULL);
	}
	return supervisor->service != NULL;
}

void calls_session_changed(struct session *session)
{
	struct service_session described;
	if (!has_service(session->supervisor))
		return;
	session_describe(session, &described);
	service_changed(session->supervisor->service, &described);
}

void calls_session_removed(struct session *session)
{
	if (has_service(session->supervisor))
		service_removed(session->supervisor->service, session->id);
}

/* The user's command, while it runs. */
struct notice {
	struct child child;
	struct loop_source *end, *limit;
};

static void notice_free(struct notice *notice)
{
	cleanup_error struct error err = { 0 };
	loop_remove(notice->end);
	loop_remove(notice->limit);
	if (notify_end(&notice->child, &err) < 0)
		log_warning("notify: %s", err.message);
	free(notice);
}

static void on_notice_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	notice_free(context);
}

static void on_notice_limit(void *context)
{
	notice_free(context);
}

static void watch_notice(struct loop *loop, const struct child *child)
{
	cleanup_error struct error err = { 0 };
	struct notice *notice = xcalloc(1, sizeof(*notice));
	notice->child = *child;
	if (loop_add_io(loop, child->pidfd, EPOLLIN, on_notice_end, notice, &notice->end, &err) == 0 &&
	    loop_add_timer(loop, clock_ms() + NOTIFY_TIMEOUT_MS, on_notice_limit, notice, &notice->limit,
			   &err) == 0)
		return;
	log_error("notify: %s", err.message);
	notice_free(notice);
}

void calls_notify(struct session *session, const char *occasion, const char *message)
{
	const struct supervisor *supervisor = session->supervisor;
	cleanup_error struct error err = { 0 };
	struct service_session now;
	struct child child;
	session_describe(session, &now);
	const struct notification notification = {
		.occasion = occasion, .id = now.id, .title = now.title, .group = now.group,
		.profile = now.profile, .agent = now.agent, .state = now.status,
		.activity = now.activity, .reason = now.reason, .message = message,
		.since_us = now.activity_since_us ? now.activity_since_us : now.since_us,
	};
	int r = notify_start(supervisor->deck, &notification, &child, &err);
	if (r < 0)
		log_warning("notify: %s", err.message);
	else if (r == 0)
		watch_notice(supervisor->loop, &child);
}
