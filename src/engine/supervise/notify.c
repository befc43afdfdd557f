/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/notify.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "base/runner.h"
#include "engine/place/runfiles.h"

#include <string.h>

/* A text of this size is at most six times as long in JSON, so that all of them fit a pipe. */
enum { TEXT_MAX = 1000 };

extern char **environ;

static void set_text(struct json_object *object, const char *key, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	if (!text) {
		json_set(object, key, NULL);
		return;
	}
	if (length > TEXT_MAX) {
		length = TEXT_MAX;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	cleanup_free char *cut = xstrndup(text, length);
	json_set(object, key, json_text(cut));
}

char *notify_payload(const struct notification *notification)
{
	cleanup_json struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "occasion", notification->occasion }, { "id", notification->id },
		{ "title", notification->title },       { "group", or_empty(notification->group) },
		{ "profile", notification->profile },   { "agent", notification->agent },
		{ "state", notification->state },       { "activity", notification->activity },
		{ "reason", notification->reason },     { "message", notification->message },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		set_text(object, texts[i].key, texts[i].text);
	json_set_string(object, "since",
			notification->since_us > 0 ? clock_format(notification->since_us, date)
						   : NULL);
	cleanup_free char *text = json_shown(json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	return xasprintf("%s\n", text);
}

/* Ours, without what makes a process part of a run: it must not be able to report for one. */
static void build_environment(struct strvec *ret)
{
	static const char *const ours[] = { ENV_TOKEN, ENV_RUN, ENV_INSTANCE, ENV_BASE,
					    ENV_PANE_DIED };
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

int notify_start(const struct deck *deck, struct loop *loop,
		 const struct notification *notification, const struct notify_limits *limits,
		 notify_handler handler, void *context)
{
	const struct strvec *command = &deck->settings.notify.command;
	cleanup_strvec struct strvec environment = { 0 };
	if (!command->count || !strvec_contains(&deck->settings.notify.on, notification->occasion))
		return NOTIFY_UNWANTED;
	build_environment(&environment);
	cleanup_free char *payload = notify_payload(notification);
	const struct runner_request request = {
		.child = {
			.argv = (const char *const *)command->items,
			.environment = strvec_argv(&environment),
			.input = payload,
			.input_length = strlen(payload),
			.new_session = true,
			/* A supervisor that ends or reloads breaks no pipe of it. */
			.outlives_us = true,
		},
		.timeout_ms = limits->timeout_ms,
		.files = limits->files,
		.kills_group = true,
	};
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));
	*waiting = (struct waiting){ .handler = handler, .context = context };
	runner_start(loop, &request, on_done, waiting);
	return 0;
}
