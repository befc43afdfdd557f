/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/answer/answer.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/machine.h"
#include "base/sha256.h"
#include "model/session/naming.h"

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

static int keep_record(int directory, const char *name, struct json_object *record,
		       struct error *err)
{
	const char *text = json_object_to_json_string(record);
	return fs_replace(directory, name, text, strlen(text), FS_DURABLE, err);
}

static bool is_name(const char *name)
{
	return strlen(name) == SHA256_TEXT_SIZE - 1 && !strchr(name, '/');
}

/* Mark the token as used instead of deleting it, so that a later answer gets a receipt that says
 * why nothing was done. */
static int use_up(int directory, const char *name, struct json_object *record, struct error *err)
{
	json_set_bool(record, "used", true);
	return keep_record(directory, name, record, err);
}

/* An expired one is kept for a day.  A newer question uses up the answers to the older ones of its
 * session: the same text may be another question. */
static int clear_old(int directory, const struct answer_offer *offer, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	(void)fs_list(directory, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_json struct json_object *record = NULL;
		const char *name = names.items[i];
		if (!is_name(name) || read_record(directory, name, &record, NULL) != 0)
			continue;
		if (json_get_int(record, "expires_s", INT64_MAX) < now_s() - KEPT_S)
			(void)unlinkat(directory, name, 0);
		else if (streq(json_get_string(record, "session", ""), offer->id) &&
			 streq(json_get_string(record, "profile", ""), offer->profile) &&
			 !json_get_bool(record, "used", false) &&
			 use_up(directory, name, record, err) < 0)
			return -1;
	}
	return 0;
}

static int write_record(int directory, const struct answer_offer *offer, const char *verb,
			const char *const tokens[2], struct error *err)
{
	char name[SHA256_TEXT_SIZE], other[SHA256_TEXT_SIZE];
	cleanup_free char *machine = machine_file("", "");
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
		{ "machine", machine },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_set_string(record, texts[i].key, texts[i].text);
	json_set_int(record, "expires_s", now_s() + offer->minutes * 60);
	return keep_record(directory, sha256_text(tokens[0], name), record, err);
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
	if (open_directory(deck, &directory, err) < 0 || clear_old(directory, offer, err) < 0 ||
	    write_record(directory, offer, "approve", (const char *const[]){ yes, no }, err) < 0 ||
	    write_record(directory, offer, "deny", (const char *const[]){ no, yes }, err) < 0)
		return -1;
	*ret_yes = TAKE_PTR(yes);
	*ret_no = TAKE_PTR(no);
	return 0;
}

/* Durably: after a power cut it must not answer a second time. */
static int use_both(int directory, const char *name, struct json_object *record, struct error *err)
{
	cleanup_json struct json_object *second = NULL;
	const char *other = json_get_string(record, "other", "");
	if (use_up(directory, name, record, err) < 0)
		return -1;
	if (!is_name(other) || read_record(directory, other, &second, NULL) != 0)
		return 0;
	return use_up(directory, other, second, err);
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
	const char *why = json_get_string(said, "error", NULL);
	/* A key that was pressed may have answered it. */
	const bool is_open = !why || streq(json_get_string(said, "code", ""), "DELIVERY");
	*ret_failure = xasprintf("%s%s", is_open ? "" : "nothing was answered: ",
				 why ? why : "it is not known whether it was answered");
	return 0;
}

/* NULL: it may answer.  The caller frees. */
static char *why_not(const struct json_object *record)
{
	if (json_get_bool(record, "used", false))
		return xstrdup("nothing was answered: this question has its answer, or is not the "
			       "latest of its session");
	if (json_get_int(record, "expires_s", 0) < now_s())
		return xstrdup("nothing was answered: the time for it is over");
	return NULL;
}

int answer_take(const struct deck *deck, const char *text, char **ret_receipt, struct error *err)
{
	char name[SHA256_TEXT_SIZE];
	cleanup_close int directory = -1;
	cleanup_json struct json_object *record = NULL;
	cleanup_free char *failure = NULL, *machine = machine_file("", "");
	if (!is_token(text))
		return ANSWER_NO_TOKEN;
	if (open_directory(deck, &directory, err) < 0)
		return -1;
	/* An unknown one is of another home, or of anyone who can write into the topic. */
	const int r = read_record(directory, sha256_text(text, name), &record, err);
	if (r != 0)
		return r < 0 ? -1 : ANSWER_NO_TOKEN;
	if (!streq(json_get_string(record, "machine", ""), machine))
		return ANSWER_NO_TOKEN;
	const char *title = json_get_string(record, "title", "");
	failure = why_not(record);
	if (!failure &&
	    (use_both(directory, name, record, err) < 0 || press(deck, record, &failure, err) < 0))
		return error_prefix(err, "%s", title);
	const char *done = streq(json_get_string(record, "answer", ""), "approve") ? "approved"
										   : "denied";
	*ret_receipt = xasprintf("%s: %s", title, failure ? failure : done);
	return 0;
}
