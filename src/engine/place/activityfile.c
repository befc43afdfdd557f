/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/activityfile.h"

#include "base/clock.h"
#include "engine/place/runfiles.h"

#include <string.h>

enum { ACTIVITY_MAX = 64 << 10, ACTIVITY_LOCK_MS = 1000, ANOTHER_LIMIT_US = 15 * 60 * 1000000 };

#define SOURCE_REPORT "report"
#define SOURCE_PANE   "pane"

void activity_free(struct activity *activity)
{
	free(activity->event);
	free(activity->failure);
	*activity = (struct activity){ 0 };
}

void announced_free(struct announced *announced)
{
	free(announced->directory);
	free(announced->session_id);
	*announced = (struct announced){ 0 };
}

/* NULL: it cannot be read. */
static struct json_object *read_file(const char *directory)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct json_object *object = NULL;
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0 || fs_read(fd, RUN_ACTIVITY, ACTIVITY_MAX, &text, NULL) != 0 ||
	    json_parse(text.data, text.length, RUN_ACTIVITY, &object, NULL) != 0)
		return NULL;
	return object;
}

/* The moment on the clock that counts from boot, since the wall clock can be set. */
static int64_t boot_ms_of(int64_t since_us)
{
	return clock_ms() - (clock_wall_us() - since_us) / 1000;
}

/* Since when, by the clock as it is now: it may have been set meanwhile, by so many minutes.  A
 * part of a minute would differ from one reading to the next. */
static int64_t since_of(struct json_object *object)
{
	enum { MINUTE_MS = 60000 };
	const int64_t since = clock_parse(json_get_string(object, "since", ""));
	const int64_t boot_ms = json_get_int(object, "since_boot_ms", 0);
	if (since < 0 || boot_ms <= 0 || boot_ms > clock_ms())
		return since < 0 ? 0 : since;
	const int64_t set_ms = boot_ms - boot_ms_of(since);
	return since +
	       (set_ms + (set_ms < 0 ? -MINUTE_MS : MINUTE_MS) / 2) / MINUTE_MS * MINUTE_MS * 1000;
}

void activity_read(const char *directory, struct activity *ret)
{
	cleanup_json struct json_object *object = read_file(directory);
	*ret = (struct activity){ 0 };
	if (!object)
		return;
	(void)instance_activity_parse(json_get_string(object, "activity", "unknown"),
				      &ret->activity);
	ret->since = since_of(object);
	ret->is_seen = streq(json_get_string(object, "source", SOURCE_REPORT), SOURCE_PANE);
	ret->is_suspended = json_get_bool(object, "suspended", false);
	/* A version without this key saw only questions on a screen. */
	ret->asks = json_get_bool(object, "asks",
				  ret->is_seen && ret->activity == ACTIVITY_WAITING &&
					  !ret->is_suspended);
	ret->has_tasks = json_get_bool(object, "tasks", false);
	ret->queued = json_get_int(object, "queued", 0);
	ret->event = xstrdup_or_null(json_get_string(object, "event", NULL));
	ret->failure = xstrdup_or_null(json_get_string(object, "failure", NULL));
	const int64_t until = clock_parse(json_get_string(object, "limited_until", ""));
	ret->limited_until = until < 0 ? 0 : until;
	const int64_t after = clock_parse(json_get_string(object, "continued_after", ""));
	ret->continued_after = after < 0 ? 0 : after;
	(void)instance_activity_parse(json_get_string(object, "reported", "unknown"),
				      &ret->reported);
}

void announced_read(const char *directory, struct announced *ret)
{
	cleanup_json struct json_object *object = read_file(directory);
	*ret = (struct announced){ 0 };
	if (!object)
		return;
	ret->prompts = json_get_int(object, "prompts", 0);
	ret->directory = json_raw_text_of(json_object_object_get(object, "cwd"));
	ret->session_id = xstrdup_or_null(json_get_string(object, "session_id", NULL));
}

int activityfile_write(const char *directory, const struct activity *activity,
		       const struct announced *announced, struct error *err)
{
	cleanup_json struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0)
		return error_set(err, ERROR_NOT_FOUND, "%s is gone", directory);
	json_set_string(object, "activity", instance_activity_name(activity->activity));
	json_set_string(object, "source", activity->is_seen ? SOURCE_PANE : SOURCE_REPORT);
	if (activity->is_seen)
		json_set_string(object, "reported", instance_activity_name(activity->reported));
	if (activity->asks)
		json_set_bool(object, "asks", true);
	if (activity->is_suspended)
		json_set_bool(object, "suspended", true);
	if (activity->has_tasks)
		json_set_bool(object, "tasks", true);
	if (activity->queued)
		json_set_int(object, "queued", activity->queued);
	json_set_string(object, "since", clock_format(activity->since, date));
	json_set_int(object, "since_boot_ms", boot_ms_of(activity->since));
	json_set_int(object, "prompts", announced->prompts);
	json_set_string(object, "event", activity->event);
	json_set_string(object, "failure", activity->failure);
	if (activity->limited_until)
		json_set_string(object, "limited_until",
				clock_format(activity->limited_until, date));
	if (activity->continued_after)
		json_set_string(object, "continued_after",
				clock_format(activity->continued_after, date));
	json_set_string(object, "session_id", announced->session_id);
	if (announced->directory)
		json_set(object, "cwd", json_raw_text(announced->directory));
	const char *text = json_print(object);
	return fs_replace(fd, RUN_ACTIVITY, text, strlen(text), FS_VOLATILE, err);
}

bool activity_may_continue(const struct activity *activity)
{
	return activity->activity == ACTIVITY_IDLE && activity->failure &&
	       streq(activity->failure, FAILURE_LIMIT) &&
	       activity->limited_until > activity->continued_after + ANOTHER_LIMIT_US;
}

void activity_fail(struct activity *activity, const char *failure, int64_t limited_until)
{
	replace_string(&activity->failure, failure);
	activity->limited_until = limited_until;
}

int activityfile_lock(const char *directory, struct fs_lock *ret, struct error *err)
{
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0)
		return error_set(err, ERROR_NOT_FOUND, "%s is gone", directory);
	return fs_lock(fd, "activity.lock", clock_ms() + ACTIVITY_LOCK_MS, ret, err);
}
