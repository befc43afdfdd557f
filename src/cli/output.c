/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/output.h"

#include "base/clock.h"
#include "model/resume.h"

#include <string.h>

struct json_object *json_of_row(const struct store_row *row, const char *profile)
{
	cleanup_lifecycle_view struct lifecycle_view view = { 0 };
	struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];

	lifecycle_view_row(row, &view);
	json_set_string(object, "id", row->id);
	json_set_string(object, "title", row->title);
	json_set_string(object, "path", row->cwd);
	json_set_string(object, "group", or_empty(row->group));
	json_set_string(object, "profile", profile);
	json_set_string(object, "agent", row->agent);
	json_set_string(object, "status", lifecycle_view_status(&view));
	json_set_string(object, "activity", instance_activity_name(view.activity));
	json_set_string(object, "activity_since",
			view.activity_since ? clock_format(view.activity_since, date) : NULL);
	json_set_string(object, "reason", view.reason);
	json_set_string(object, "session_id", row->session_id);
	json_set_string(object, "created_at",
			row->created_at ? clock_format(row->created_at, date) : NULL);
	return object;
}

struct json_object *json_of_change(const struct change *change)
{
	struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];
	json_set_string(object, "id", change->id);
	json_set_string(object, "title", change->title);
	json_set_string(object, "profile", change->profile);
	json_set_string(object, "status", change->state);
	json_set_string(object, "activity", change->activity);
	json_set_string(object, "reason", change->reason);
	json_set_string(object, "since",
			change->since_us > 0 ? clock_format(change->since_us, date) : NULL);
	return object;
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

struct json_object *json_success(const struct instance *instance)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "success", true);
	json_set_string(object, "id", instance->id);
	json_set_string(object, "title", instance->title);
	return object;
}

static bool succeeded(enum lifecycle_outcome outcome)
{
	return outcome == OUTCOME_REPORTED || outcome == OUTCOME_ALIVE || outcome == OUTCOME_OFFERED;
}

/* A start that came to nothing: the end of an agent leaves a reason, a stop by hand none. */
static char *why_over(const struct instance *instance)
{
	return is_empty(instance->observed.reason)
		       ? xstrdup("another command stopped it before it was up")
		       : xasprintf("the agent ended at once: %s", instance->observed.reason);
}

struct json_object *json_of_start(const struct instance *instance, bool already,
				  enum lifecycle_outcome outcome)
{
	struct json_object *object = json_success(instance);
	const struct attempt *attempt = run_attempt(&instance->run);
	json_set_bool(object, "success", already || succeeded(outcome));
	json_set_bool(object, "already_running", already);
	json_set_string(object, "tmux", instance->run.socket);
	/* Of the run: a fresh conversation in the place of one that could not be resumed counts for the
	 * instance only from its first turn on. */
	json_set_string(object, "session_id", !already && attempt && attempt->rung == RUNG_FRESH
						      ? attempt->session_id
						      : instance->conversation.session_id);
	json_set_bool(object, "resumed", attempt && attempt->rung == RUNG_RESUME && succeeded(outcome));
	json_set_string(object, "rung", attempt ? rung_name(attempt->rung) : NULL);
	json_set_string(object, "reason", attempt ? attempt->reason : NULL);
	if (attempt)
		json_set_strings(object, "argv", &attempt->argv);
	json_set_string(object, "status", instance_state_name(instance->observed.state));
	if (!already && !succeeded(outcome)) {
		cleanup_free char *text = why_over(instance);
		json_set_string(object, "error", text);
		json_set_string(object, "code", "INVALID_OPERATION");
	}
	return object;
}

static void print_last_words(const struct instance *instance)
{
	cleanup_free char *words = xstrdup(or_empty(instance->observed.exit.last_words));
	char *rest = words;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		cleanup_free char *shown = visible(line);
		if (*shown)
			fprintf(stderr, "  | %s\n", shown);
	}
}

static void print_started(const struct instance *instance, enum lifecycle_outcome outcome)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *title = visible(instance->title);
	const char *id = instance->conversation.session_id;
	switch (attempt->rung) {
	case RUNG_RESUME:
		if (streq(attempt->reason, REASON_FORK)) {
			printf("%s: started with a copy of conversation %s", title,
			       or_empty(instance->conversation.forked_from));
			break;
		}
		printf("%s: resumed conversation %s", title, id);
		break;
	case RUNG_ASSIGN:
		printf("%s: started, conversation %s", title, id);
		if (instance->run.history_note)
			printf("; %s", instance->run.history_note);
		break;
	case RUNG_FRESH:
		if (streq(attempt->reason, REASON_RESUME_DISABLED)) {
			printf("%s: started with a new conversation %s", title,
			       or_empty(attempt->session_id));
			break;
		}
		printf("%s: started with a NEW conversation %s; history not restored (%s), earlier id %s",
		       title, or_empty(attempt->session_id), attempt->reason,
		       instance->conversation.previous.count &&
				       streq(or_empty(id), or_empty(attempt->session_id))
			       ? instance->conversation.previous
					 .items[instance->conversation.previous.count - 1]
			       : or_empty(id));
		break;
	default:
		printf("%s: started", title);
	}
	bool waits = outcome == OUTCOME_ALIVE && instance->run.directory && attempt->rung != RUNG_LAUNCH;
	printf("%s\n", waits ? " (no word from the agent yet)" : "");
}

void print_start(const struct instance *instance, bool already, enum lifecycle_outcome outcome)
{
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *reason = visible(or_empty(instance->observed.reason));
	if (already) {
		printf("%s: already running\n", title);
	} else if (outcome == OUTCOME_OFFERED) {
		printf("%s: asks before it resumes conversation %s; answer it with: agentdeck attach %s\n", title,
		       or_empty(instance->conversation.session_id), instance->id);
	} else if (succeeded(outcome)) {
		print_started(instance, outcome);
	} else if (outcome == OUTCOME_SHELL) {
		fprintf(stderr, "agentdeck: %s: %s. A shell is open in its place: agentdeck attach %s\n",
			title, reason, instance->id);
		print_last_words(instance);
	} else {
		cleanup_free char *why = why_over(instance);
		cleanup_free char *shown = visible(why);
		fprintf(stderr, "agentdeck: %s: %s\n", title, shown);
		print_last_words(instance);
	}
}

int start_and_wait(struct app *app, const char *base, bool restart, bool resume_wish, bool wait,
		   struct instance **ret_instance, bool *ret_already,
		   enum lifecycle_outcome *ret_outcome, struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	enum lifecycle_outcome outcome = OUTCOME_ALIVE;
	if (lifecycle_start(&app->deck, base, restart, resume_wish, &started, err) < 0)
		return -1;
	print_warnings(app);
	if (wait && !started.already &&
	    lifecycle_wait(&app->deck, &started.instance, &outcome, err) < 0)
		return -1;
	*ret_already = started.already;
	*ret_outcome = outcome;
	*ret_instance = TAKE_PTR(started.instance);
	return 0;
}

int run_start(struct app *app, const char *base, bool restart, bool resume_wish, bool wait,
	      struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	enum lifecycle_outcome outcome;
	bool already;
	if (start_and_wait(app, base, restart, resume_wish, wait, &instance, &already, &outcome, err) <
	    0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_of_start(instance, already, outcome);
		print_json(object);
	} else {
		print_start(instance, already, outcome);
	}
	return already || succeeded(outcome) ? 0 : 1;
}
