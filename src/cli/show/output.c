/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/output.h"

#include "base/clock.h"
#include "model/plan/resume.h"
#include "model/session/naming.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

static struct json_object *json_of_shared(const struct shared_conversation *shared)
{
	struct json_object *object = json_object_new_object();
	json_set_string(object, "session_id", shared->session_id);
	json_set_string(object, "owner", shared->owner);
	json_set_string(object, "title", shared->title);
	json_set_string(object, "profile", shared->profile);
	return object;
}

struct json_object *json_of_row(const struct store_row *row, const struct view *view,
				const char *profile)
{
	struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];
	json_set_string(object, "id", row->id);
	json_set_string(object, "copy_of", row->copy_of);
	json_set_string(object, "title", row->title);
	json_set_string(object, "path", row->lookup_directory);
	json_set_string(object, "group", or_empty(row->group));
	json_set_string(object, "profile", profile);
	json_set_string(object, "agent", row->agent);
	json_set_string(object, "status", view_status(view));
	json_set_string(object, "activity", instance_activity_name(view->activity));
	json_set_string(object, "activity_since",
			view->activity_since ? clock_format(view->activity_since, date) : NULL);
	json_set_string(object, "reason", view->reason);
	json_set_string(object, "host", view->host);
	json_set_string(object, "session_id", row->session_id);
	json_set(object, "shares", view->is_sharing ? json_of_shared(&row->shared) : NULL);
	json_set_string(object, "created_at",
			row->created_at ? clock_format(row->created_at, date) : NULL);
	return object;
}

const char *entry_activity(const struct roster_entry *entry)
{
	return state_is_running(entry->view.state) && !entry->view.is_silent
		       ? instance_activity_name(entry->view.activity)
		       : NULL;
}

struct json_object *json_of_entry(const struct roster_entry *entry, bool is_removed)
{
	struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];
	json_set_string(object, "id", entry->row.id);
	json_set_string(object, "title", entry->row.title);
	json_set_string(object, "profile", entry->profile);
	json_set_string(object, "status", is_removed ? "removed" : view_status(&entry->view));
	json_set_string(object, "activity", is_removed ? NULL : entry_activity(entry));
	json_set_string(object, "reason", is_removed ? NULL : entry->view.reason);
	json_set_string(object, "since",
			entry->since_us > 0 ? clock_format(entry->since_us, date) : NULL);
	return object;
}

void say_to(FILE *out, char *line)
{
	cleanup_free char *text = line;
	cleanup_free char *shown = visible(text);
	fprintf(out, "%s\n", shown);
}

int print_done(const struct app *app, struct json_object *object, char *line)
{
	cleanup_json struct json_object *result = object;
	cleanup_free char *text = line;
	if (app->json)
		print_json(result);
	else
		say_to(stdout, TAKE_PTR(text));
	return 0;
}

void print_warnings(struct app *app)
{
	for (size_t i = 0; i < app->deck.warnings.count; i++)
		complain("warning: %s", app->deck.warnings.items[i]);
	strvec_clear(&app->deck.warnings);
}

/* End as a write would: by SIGPIPE; -1 where that is ignored. */
static int end_unread(struct error *err)
{
	(void)raise(SIGPIPE);
	return error_set(err, ERROR_SYSTEM, "nobody reads standard output any more");
}

int output_wait(int fd, int64_t deadline_ms, struct error *err)
{
	/* poll(2) tells POLLERR and POLLHUP without being asked. */
	struct pollfd sources[] = { { .fd = fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	const int timeout = deadline_ms == INT64_MAX ? -1 : clock_left_ms(deadline_ms);
	if (poll(sources, ARRAY_SIZE(sources), timeout) < 0)
		return errno == EINTR ? 0 : error_set_errno(err, errno, "wait");
	return sources[1].revents ? end_unread(err) : 0;
}

int output_turn(struct loop *loop, int64_t deadline_ms, struct error *err)
{
	int r = loop_turn(loop, 0, err);
	if (r == 0 && output_wait(loop_descriptor(loop), deadline_ms, err) < 0)
		return -1;
	for (r = r < 0 ? r : 1; r > 0;)
		r = loop_turn(loop, 0, err);
	return r;
}

void print_json(struct json_object *object)
{
	cleanup_free char *text = json_shown(json_print(object));
	puts(text);
}

void print_json_line(struct json_object *object)
{
	cleanup_free char *text = json_shown(json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	puts(text);
}

void print_json_element(struct json_object *object, size_t index)
{
	cleanup_free char *text = json_shown(json_print(object));
	fputs(index ? ",\n" : "[\n", stdout);
	for (const char *line = text, *end; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		fputs("  ", stdout);
		fwrite(line, 1, end ? (size_t)(end - line) + 1 : strlen(line), stdout);
	}
}

void print_json_end(size_t count)
{
	puts(count ? "\n]" : "[\n]");
}

struct json_object *json_success(const char *id, const char *title)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "id", id);
	json_set_string(object, "title", title);
	return object;
}
