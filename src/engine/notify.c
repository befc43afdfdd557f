/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/notify.h"

#include "base/clock.h"
#include "base/jsonio.h"
#include "engine/runfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
	json_set_string(object, "since", notification->since_us > 0
						 ? clock_format(notification->since_us, date) : NULL);
	cleanup_free char *text = json_shown(json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	return xasprintf("%s\n", text);
}

/* Ours, without what makes a process part of a run: it must not be able to report for one. */
static void build_environment(struct strvec *ret)
{
	static const char *const ours[] = { ENV_TOKEN, ENV_RUN, ENV_INSTANCE, ENV_PANE_DIED };
	for (char *const *item = environ; *item; item++) {
		bool is_ours = false;
		for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
			is_ours |= starts_with(*item, ours[i]) && (*item)[strlen(ours[i])] == '=';
		if (!is_ours)
			strvec_push(ret, *item);
	}
}

/* A command that has ended, or closed its input, without reading is its own business: EPIPE, and no signal. */
static ssize_t write_quietly(int fd, const char *text, size_t length)
{
	sigset_t pipe_signal, pending, old;
	const struct timespec now = { 0 };
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	(void)sigpending(&pending);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
	ssize_t n = write(fd, text, length);
	const int saved = errno;
	if (n < 0 && saved == EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&pipe_signal, NULL, &now);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return n;
}

/* All of it fits the pipe, so nothing is waited for. */
static int feed(struct child *child, const char *text, struct error *err)
{
	const size_t length = strlen(text);
	(void)fcntl(child->gate, F_SETFL, O_NONBLOCK);
	ssize_t n = write_quietly(child->gate, text, length);
	if (n < 0 && errno != EPIPE)
		return error_set_errno(err, errno, "write to %s", child->name);
	if (n >= 0 && (size_t)n < length)
		return error_set(err, ERROR_SYSTEM, "write to %s: its pipe is too small", child->name);
	(void)close(child->gate);
	child->gate = -1;
	return 0;
}

int notify_start(const struct deck *deck, const struct notification *notification, struct child *ret,
		 struct error *err)
{
	const struct strvec *command = &deck->settings.notify.command;
	cleanup_strvec struct strvec environment = { 0 };
	struct child child;
	if (!command->count || !strvec_contains(&deck->settings.notify.on, notification->occasion))
		return NOTIFY_UNWANTED;
	build_environment(&environment);
	const struct child_request request = {
		.argv = (const char *const *)command->items,
		.environment = strvec_argv(&environment),
		.gate = true,
		/* A group of its own, to be killed as a whole. */
		.new_session = true,
	};
	int r = child_start(&request, &child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "[notify] command: there is no program '%s'",
				 command->items[0]);
	if (r < 0)
		return error_prefix(err, "[notify] command");
	cleanup_free char *payload = notify_payload(notification);
	if (feed(&child, payload, err) < 0) {
		child_abandon(&child);
		return error_prefix(err, "[notify] command");
	}
	*ret = child;
	return 0;
}

int notify_end(struct child *child, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	const char *name = child->name;
	struct pollfd end = { .fd = child->pidfd, .events = POLLIN };
	if (poll(&end, 1, 0) <= 0) {
		/* It is not reaped yet, so the group is still its own. */
		(void)kill(-child->pid, SIGKILL);
		child_abandon(child);
		return error_set(err, ERROR_TIMEOUT, "[notify] command: %s took longer than %d s, and was killed",
				 name, NOTIFY_TIMEOUT_MS / 1000);
	}
	if (child_finish(child, 0, &result, err) < 0)
		return error_prefix(err, "[notify] command");
	if (result.exit_status == 0)
		return 0;
	cleanup_free char *words = child_last_words(&result);
	return error_set(err, ERROR_CHILD, "[notify] command: %s failed with status %d: %s", name,
			 result.exit_status, words);
}
