/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/answer/answer.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/sha256.h"
#include "model/session/naming.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_MAX = 1 << 14, KEPT_S = 24 * 3600, ANSWER_MS = 60 * 1000 };

#define DIRECTORY "answers"
#define PREFIX    "agentdeck-"

static int open_directory(const struct deck *deck, int *ret, struct error *err)
{
	cleanup_free char *path = path_join(deck->paths.state, DIRECTORY);
	return fs_open_private_directory(path, ret, err);
}

static bool is_token(const char *text)
{
	return starts_with(text, PREFIX) && naming_is_uuid(text + strlen(PREFIX));
}

static int64_t now_s(void)
{
	return clock_wall_us() / 1000000;
}

static int read_record(int directory, const char *name, struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const int r = fs_read(directory, name, RECORD_MAX, &text, err);
	return r != 0 ? r : json_parse(strbuf_text(&text), text.length, name, ret, err);
}

/* One that has expired is kept for a day: its user is told so. */
static void forget_old(int directory)
{
	cleanup_strvec struct strvec names = { 0 };
	(void)fs_list(directory, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_json struct json_object *record = NULL;
		if (strlen(names.items[i]) == SHA256_TEXT_SIZE - 1 &&
		    read_record(directory, names.items[i], &record, NULL) == 0 &&
		    json_get_int(record, "expires_s", INT64_MAX) < now_s() - KEPT_S)
			(void)unlinkat(directory, names.items[i], 0);
	}
}

static int write_record(int directory, const struct answer_offer *offer, const char *verb,
			const char *const tokens[2], struct error *err)
{
	char name[SHA256_TEXT_SIZE], other[SHA256_TEXT_SIZE];
	cleanup_json struct json_object *record = json_object_new_object();
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "profile", offer->profile },
		{ "session", offer->id },
		{ "title", offer->title },
		{ "question", offer->question },
		{ "answer", verb },
		{ "other", sha256_text(tokens[1], other) },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_set_string(record, texts[i].key, texts[i].text);
	json_set_int(record, "expires_s", now_s() + offer->minutes * 60);
	const char *text = json_object_to_json_string(record);
	return fs_replace(directory, sha256_text(tokens[0], name), text, strlen(text), FS_DURABLE,
			  err);
}

static char *new_token(void)
{
	cleanup_free char *uuid = naming_new_uuid();
	return xasprintf(PREFIX "%s", uuid);
}

int answer_offer(const struct deck *deck, const struct answer_offer *offer, char **ret_yes,
		 char **ret_no, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_free char *yes = new_token(), *no = new_token();
	if (open_directory(deck, &directory, err) < 0)
		return -1;
	forget_old(directory);
	if (write_record(directory, offer, "approve", (const char *const[]){ yes, no }, err) < 0 ||
	    write_record(directory, offer, "deny", (const char *const[]){ no, yes }, err) < 0)
		return -1;
	*ret_yes = TAKE_PTR(yes);
	*ret_no = TAKE_PTR(no);
	return 0;
}

/* Durably: after a power cut it must not answer a second time. */
static int take_both(int directory, const char *name, const struct json_object *record,
		     struct error *err)
{
	const char *other = json_get_string(record, "other", "");
	if (unlinkat(directory, name, 0) < 0 ||
	    (strlen(other) == SHA256_TEXT_SIZE - 1 && !strchr(other, '/') &&
	     unlinkat(directory, other, 0) < 0 && errno != ENOENT) ||
	    fs_flush(directory) < 0)
		return error_set_file(err, errno, "take the answer %s", name);
	return 0;
}

/* By the same command as a person's. */
static int press(const struct deck *deck, const struct json_object *record, char **ret_failure,
		 struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_json struct json_object *said = NULL;
	const struct child_request request = {
		.argv = (const char *const[]){ deck->program, "--profile",
					       json_get_string(record, "profile", ""), "session",
					       json_get_string(record, "answer", ""), "--json",
					       "--question",
					       json_get_string(record, "question", ""), "--",
					       json_get_string(record, "session", ""), NULL },
	};
	const int r = child_run(&request, ANSWER_MS, &result, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_UNAVAILABLE, "agentdeck is not installed");
	if (result.exit_status == 0)
		return 0;
	(void)json_parse(strbuf_text(&result.output), result.output.length, "the answer", &said,
			 NULL);
	*ret_failure = xstrdup(json_get_string(said, "error", "it cannot be known why"));
	return 0;
}

int answer_take(const struct deck *deck, const char *text, char **ret_receipt, struct error *err)
{
	char name[SHA256_TEXT_SIZE];
	cleanup_close int directory = -1;
	cleanup_json struct json_object *record = NULL;
	cleanup_free char *failure = NULL;
	if (!is_token(text))
		return ANSWER_NO_TOKEN;
	if (open_directory(deck, &directory, err) < 0)
		return -1;
	const int r = read_record(directory, sha256_text(text, name), &record, err);
	if (r < 0)
		return -1;
	if (r > 0) {
		*ret_receipt = xstrdup(
			"Nothing was answered: this answer was used, or is too old.");
		return 0;
	}
	const char *title = json_get_string(record, "title", "");
	const bool is_late = json_get_int(record, "expires_s", 0) < now_s();
	if (take_both(directory, name, record, err) < 0)
		return -1;
	if (is_late)
		failure = xstrdup("the time for it is over");
	else if (press(deck, record, &failure, err) < 0)
		return error_prefix(err, "%s", title);
	*ret_receipt = failure ? xasprintf("%s: nothing was answered: %s", title, failure)
			       : xasprintf("%s: %s", title,
					   streq(json_get_string(record, "answer", ""), "approve")
						   ? "approved"
						   : "denied");
	return 0;
}
