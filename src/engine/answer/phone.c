/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/answer/phone.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/log.h"
#include "base/machine.h"
#include "driver/web/web.h"
#include "engine/answer/answer.h"
#include "engine/screen/permit.h"

#include <fcntl.h>
#include <string.h>

enum {
	POST_MS = 10000,
	LISTEN_MS = 5 * 60 * 1000, /* a connection that has died unseen is made again then */
	KEY_MAX = 1 << 12,
	SINCE_MAX = 64,
	QUESTION_MAX = 3000,
};

struct telling {
	struct deck *deck;
	struct json_object *notice; /* the payload */
	struct permission question; /* text: NULL, there is none to tell */
	char *yes, *no;             /* tokens, or NULL */
};

static void telling_clear(struct telling *telling)
{
	json_object_put(telling->notice);
	permission_free(&telling->question);
	free(telling->yes);
	free(telling->no);
}

bool phone_is_wanted(const struct deck *deck, const char *occasion)
{
	return (deck->settings.notify.ntfy || deck->settings.notify.webhook) &&
	       strvec_contains(&deck->settings.notify.on, occasion);
}

/* *ret is NULL without [notify] key.  The file has it on its first line. */
static int read_key(const struct deck *deck, char **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const char *given = deck->settings.notify.key;
	if (!given)
		return 0;
	cleanup_free char *path = starts_with(given, "~/") ? path_join(deck->paths.home, given + 2)
							   : xstrdup(given);
	const int r = fs_read(AT_FDCWD, path, KEY_MAX, &text, err);
	if (r > 0)
		return error_set(err, ERROR_NOT_FOUND, "[notify] key: %s is not there", path);
	if (r < 0)
		return error_prefix(err, "[notify] key");
	cleanup_free char *key = xstrndup(strbuf_text(&text), strcspn(strbuf_text(&text), "\r\n"));
	*ret = xasprintf("Bearer %s", key);
	return 0;
}

static int post(const char *url, const char *key, struct json_object *body, struct error *err)
{
	return web_post(&(struct web_request){ .url = url,
					       .authorization = key,
					       .body = json_object_to_json_string_ext(
						       body, JSON_C_TO_STRING_NOSLASHESCAPE),
					       .timeout_ms = POST_MS },
			err);
}

/* ---- ntfy ------------------------------------------------------------------------------------- */

static void add_action(struct json_object *actions, const char *label, const char *url,
		       const char *token)
{
	struct json_object *action = json_object_new_object();
	json_set_string(action, "action", "http");
	json_set_string(action, "label", label);
	json_set_string(action, "url", url);
	json_set_string(action, "method", "POST");
	json_set_string(action, "body", token);
	json_set_bool(action, "clear", true);
	json_object_array_add(actions, action);
}

/* JSON goes to the root of the server, and names its topic: a title in a header would be Latin-1. */
static int tell_ntfy(const struct telling *telling, struct error *err)
{
	const char *url = telling->deck->settings.notify.ntfy;
	const char *answers = telling->deck->settings.notify.answers;
	const char *slash = strrchr(url, '/');
	cleanup_free char *root = xstrndup(url, (size_t)(slash + 1 - url)), *text = NULL;
	cleanup_json struct json_object *body = json_object_new_object();
	const char *occasion = json_get_string(telling->notice, "occasion", "");
	const bool is_calm = streq(occasion, "idle") || streq(occasion, "recovered");
	const char *message = json_get_string(telling->notice, "message", "");
	if (telling->question.text)
		text = xasprintf("%s\n%s", message, telling->question.text);
	json_set_string(body, "topic", slash + 1);
	json_set_string(body, "title", json_get_string(telling->notice, "title", ""));
	json_set_string(body, "message", text ? text : message);
	json_set_int(body, "priority", is_calm || !*occasion ? 3 : 4);
	if (telling->yes) {
		struct json_object *actions = json_object_new_array();
		json_set(body, "actions", actions);
		add_action(actions, "Approve", answers, telling->yes);
		add_action(actions, "Deny", answers, telling->no);
	}
	cleanup_free char *key = NULL;
	return read_key(telling->deck, &key, err) < 0 ? -1 : post(root, key, body, err);
}

/* ---- a webhook -------------------------------------------------------------------------------- */

static int tell_webhook(const struct telling *telling, struct error *err)
{
	if (telling->question.text)
		json_set_string(telling->notice, "question", telling->question.text);
	if (telling->yes) {
		json_set_string(telling->notice, "approve", telling->yes);
		json_set_string(telling->notice, "deny", telling->no);
		json_set_string(telling->notice, "answers", telling->deck->settings.notify.answers);
	}
	return post(telling->deck->settings.notify.webhook, NULL, telling->notice, err);
}

/* ---- both ------------------------------------------------------------------------------------- */

/* A question that cannot be read, or that has choices, is told as one that only its terminal can
 * answer. */
static void add_question(struct telling *telling, const char *base)
{
	const struct settings *settings = &telling->deck->settings;
	cleanup_error struct error why = { 0 };
	if (permit_look(telling->deck, base, &telling->question, &why) < 0)
		return;
	/* ntfy would show the buttons without a text of that size. */
	if (strlen(telling->question.text) > QUESTION_MAX)
		permission_free(&telling->question);
	if (!telling->question.text || !settings->notify.answers || !telling->question.yes_key ||
	    !telling->question.no_key)
		return;
	const struct answer_offer offer = {
		.profile = telling->deck->profile,
		.id = json_get_string(telling->notice, "id", ""),
		.title = json_get_string(telling->notice, "title", ""),
		.question = telling->question.digest,
		.minutes = settings->notify.answer_minutes,
	};
	if (answer_offer(telling->deck, &offer, &telling->yes, &telling->no, &why) < 0)
		log_warning("notify: %s", why.message);
}

int phone_tell(struct deck *deck, const char *base, const char *occasion, const char *payload,
	       struct error *err)
{
	CLEANUP(telling_clear) struct telling telling = { .deck = deck };
	const struct settings *settings = &deck->settings;
	if (!phone_is_wanted(deck, occasion))
		return 0;
	if (json_parse(payload, strlen(payload), "the notice", &telling.notice, err) < 0)
		return -1;
	if (settings->notify.question && streq(occasion, "waiting"))
		add_question(&telling, base);
	const int first = settings->notify.ntfy ? tell_ntfy(&telling, err) : 0;
	if (first < 0 && settings->notify.webhook) {
		log_warning("notify: [notify] ntfy: %s", err ? err->message : "");
		error_clear(err);
	}
	return settings->notify.webhook ? tell_webhook(&telling, err) : first;
}

/* ---- the answers ------------------------------------------------------------------------------ */

struct listening {
	const struct deck *deck;
	int state;
	char *since; /* the file that has the last message */
};

/* So a connection that is made again gets what came meanwhile.  If this is lost, an answer comes
 * twice, which is too late then. */
static void note_since(const struct listening *listening, const char *id)
{
	if (strlen(id) < SINCE_MAX &&
	    !id[strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
			   "UVWXYZ0123456789")])
		(void)fs_replace(listening->state, listening->since, id, strlen(id), FS_VOLATILE,
				 NULL);
}

static void give_receipt(const struct listening *listening, const char *text)
{
	cleanup_error struct error err = { 0 };
	cleanup_json struct json_object *notice = json_object_new_object();
	const struct telling telling = { .deck = (struct deck *)listening->deck, .notice = notice };
	json_set_string(notice, "title", "agentdeck");
	json_set_string(notice, "message", text);
	if (listening->deck->settings.notify.ntfy && tell_ntfy(&telling, &err) < 0)
		log_warning("notify: the receipt of an answer: %s", err.message);
}

/* The server, and all that may write into the topic, are not trusted: only a token does something. */
static void on_line(const char *line, void *context)
{
	const struct listening *listening = context;
	cleanup_json struct json_object *message = NULL;
	cleanup_error struct error err = { 0 };
	cleanup_free char *receipt = NULL;
	if (json_parse(line, strlen(line), "an answer", &message, NULL) < 0 ||
	    !streq(json_get_string(message, "event", ""), "message"))
		return;
	note_since(listening, json_get_string(message, "id", ""));
	const int r = answer_take(listening->deck, json_get_string(message, "message", ""),
				  &receipt, &err);
	if (r == ANSWER_NO_TOKEN)
		return;
	log_info("notify: %s", r < 0 ? err.message : receipt);
	give_receipt(listening, r < 0 ? err.message : receipt);
}

int phone_listen(const struct deck *deck, struct error *err)
{
	cleanup_close int state = -1;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_free char *key = NULL, *lock_name = machine_file("answers", ".lock");
	cleanup_free char *since_name = machine_file("answers", ".since");
	cleanup_strbuf struct strbuf since = { 0 };
	if (fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	const int r = fs_lock(state, lock_name, 0, &lock, err);
	if (r != 0)
		return r < 0 ? -1
			     : error_set(err, ERROR_BUSY, "another process follows the answers");
	if (read_key(deck, &key, err) < 0)
		return -1;
	(void)fs_read(state, since_name, SINCE_MAX, &since, NULL);
	cleanup_free char *url = xasprintf("%s/json?since=%s", deck->settings.notify.answers,
					   since.length ? strbuf_text(&since) : "10m");
	struct listening listening = { deck, state, since_name };
	return web_follow(
		&(struct web_request){ .url = url, .authorization = key, .timeout_ms = LISTEN_MS },
		on_line, &listening, err);
}
