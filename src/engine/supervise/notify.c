/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/notify.h"

#include "base/clock.h"
#include "base/jsonwrite.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/runner.h"
#include "base/version.h"
#include "engine/answer/phone.h"
#include "engine/place/oom.h"
#include "engine/roster/facts.h"
#include "engine/roster/notice.h"
#include "model/session/state.h"

#include <string.h>

/* A text of this size is at most six times as long in JSON, so that all of them fit a pipe. */
enum { TEXT_MAX = 1000 };

/* Longer than all that `agentdeck notice` waits for. */
enum { SEND_TIMEOUT_MS = 60000 };

extern char **environ;

static void write_text(struct json_writer *writer, const char *key, const char *text)
{
	size_t length = strlen(or_empty(text));
	if (length > TEXT_MAX) {
		length = TEXT_MAX;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	cleanup_free char *cut = text ? xstrndup(text, length) : NULL;
	json_write_string(writer, key, cut);
}

const char *notify_doing(const struct roster_event *event)
{
	const struct view *view = &event->entry->view;
	if (!(event->differs & ROSTER_DOING))
		return NULL;
	/* A second question is an occasion, too, though the state is the same. */
	if (view->activity == ACTIVITY_WAITING)
		return "waiting";
	return notice_doing(event->activity_before, view->activity, view->note == VIEW_FAILED);
}

const char *notify_end(const struct roster_event *event, bool is_left)
{
	const struct roster_entry *entry = event->entry;
	if (event->what == ROSTER_ADDED)
		return NULL;
	if (entry->row.held && !event->was_held)
		return "held";
	return is_left && state_is_error(entry->view.state) && !state_is_error(event->state_before)
		       ? "error"
		       : NULL;
}

/* The caller frees. */
static char *usual_message(const struct notification *notification)
{
	const struct roster_entry *entry = notification->entry;
	const char *occasion = notification->occasion;
	if (streq(occasion, "oom")) {
		cleanup_free char *victim = oom_victim(entry->row.run.directory,
						       entry->control_group);
		return xasprintf("the kernel killed %s of it for lack of memory", victim);
	}
	if (streq(occasion, "held"))
		return xstrdup(or_empty(entry->row.held));
	if (streq(occasion, "error"))
		return xstrdup(or_empty(entry->view.reason));
	return xstrdup(streq(occasion, "waiting") ? "it is waiting for you"
		       : streq(occasion, "idle")  ? "it has finished its turn"
		       : streq(occasion, "ends")  ? "its host ends"
						  : "it was restarted");
}

char *notify_payload(const struct notification *notification)
{
	const struct facts facts = facts_of(notification->entry);
	cleanup_json_writer struct json_writer writer = { .is_line = true };
	cleanup_free char *message = notification->message ? xstrdup(notification->message)
							   : usual_message(notification);
	char date[CLOCK_TEXT_SIZE];
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "host", machine_host() },
		{ "occasion", notification->occasion },
		{ "id", facts.key.id },
		{ "title", facts.title },
		{ "group", or_empty(facts.group) },
		{ "profile", facts.key.profile },
		{ "agent", facts.agent },
		{ "status", facts.status },
		{ "activity", facts.activity },
		{ "reason", facts_reason(&facts) },
		{ "since_at", facts.since_us > 0 ? clock_format(facts.since_us, date) : NULL },
		{ "message", message },
	};
	json_write_begin(&writer, NULL, '{');
	json_write_int(&writer, "protocol", JSON_PROTOCOL);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		write_text(&writer, texts[i].key, texts[i].text);
	json_write_end(&writer, '}');
	return xasprintf("%s\n", writer.text.data);
}

static bool is_wanted(const struct deck *deck, const char *occasion)
{
	return deck->settings.notify.command.count &&
	       strvec_contains(&deck->settings.notify.on, occasion);
}

static void on_sent(const struct child_result *result, const struct error *failure,
		    void *context UNUSED)
{
	if (failure)
		log_warning("notify: %s", failure->message);
	/* The command logs its own failures. */
	else if (result->exit_status != 0)
		log_warning("notify: agentdeck notice failed with status %d", result->exit_status);
}

void notify_send(const struct deck *deck, struct loop *loop, const struct notification *wish,
		 const struct rlimit *files)
{
	const struct roster_entry *entry = wish->entry;
	if (!notice_is_wanted(deck, wish->occasion) && !is_wanted(deck, wish->occasion) &&
	    !phone_is_wanted(deck, wish->occasion))
		return;
	/* Each kill is another one, whatever the agent does meanwhile. */
	const int64_t since_us = streq(wish->occasion, "oom") ? 0 : entry->since_us;
	cleanup_free char *payload = notify_payload(wish);
	cleanup_free char *since = xasprintf("%lld", (long long)since_us);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const[]){ deck->program, "--profile", entry->profile,
						       "notice", "--since", since,
						       entry->row.base, wish->occasion, NULL },
			.input = payload,
			.input_length = strlen(payload),
			.new_session = true,
			/* A supervisor that ends or reloads breaks no pipe of it. */
			.outlives_us = true,
		},
		.timeout_ms = SEND_TIMEOUT_MS,
		.files = files,
	};
	runner_start(loop, &request, on_sent, NULL);
}

/* Ours, without what makes a process part of a run: it must not be able to report for one. */
static void build_environment(struct strvec *ret)
{
	static const char *const ours[] = { ENV_TOKEN,          ENV_RUN,
					    ENV_INSTANCE,       ENV_INSTANCE_PROFILE,
					    ENV_BASE,           ENV_PANE_DIED,
					    ENV_SHARED_INSTANCE };
	for (char *const *item = environ; *item; item++) {
		bool is_ours = false;
		for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
			is_ours |= starts_with(*item, ours[i]) && (*item)[strlen(ours[i])] == '=';
		if (!is_ours)
			strvec_push(ret, *item);
	}
}

struct waiting {
	notify_handler handler;
	void *context;
};

static void on_done(const struct child_result *result, const struct error *failure, void *context)
{
	cleanup_free struct waiting *waiting = context;
	cleanup_error struct error err = { 0 };
	if (failure) {
		(void)error_set(&err, failure->code, "[notify] command: %s", failure->message);
	} else if (result->exit_status != 0) {
		cleanup_free char *words = child_last_words(result);
		(void)error_set(&err, ERROR_CHILD, "[notify] command failed with status %d: %s",
				result->exit_status, words);
	}
	waiting->handler(err.message ? &err : NULL, waiting->context);
}

int notify_start(const struct deck *deck, struct loop *loop, const struct notify_call *call,
		 notify_handler handler, void *context)
{
	cleanup_strvec struct strvec environment = { 0 };
	if (!is_wanted(deck, call->occasion))
		return NOTIFY_UNWANTED;
	build_environment(&environment);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)deck->settings.notify.command.items,
			.environment = strvec_argv(&environment),
			.input = call->payload,
			.input_length = strlen(call->payload),
			.new_session = true,
		},
		.timeout_ms = call->timeout_ms,
		.kills_group = true,
	};
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));
	*waiting = (struct waiting){ .handler = handler, .context = context };
	runner_start(loop, &request, on_done, waiting);
	return 0;
}
