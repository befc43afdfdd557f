/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/start.h"

#include "cli/show/ask.h"
#include "cli/show/output.h"
#include "cli/show/progress.h"
#include "driver/systemd/unit.h"
#include "engine/deck/hint.h"
#include "engine/deck/stages.h"
#include "engine/supervise/supervise-unit.h"
#include "model/plan/recreate.h"
#include "model/session/naming.h"

#include <string.h>
#include <unistd.h>

static bool succeeded(enum lifecycle_outcome outcome)
{
	return outcome == OUTCOME_REPORTED || outcome == OUTCOME_ALIVE ||
	       outcome == OUTCOME_OFFERED;
}

/* Why a start came to nothing: an agent that ends leaves a reason, a stop by hand does not. */
static char *why_over(const struct instance *instance)
{
	return is_empty(instance->observed.reason)
		       ? xstrdup("another command stopped it before it was up")
		       : xasprintf("the agent ended at once: %s", instance->observed.reason);
}

struct json_object *json_of_start(const struct deck *deck, const struct lifecycle_started *started)
{
	const struct instance *instance = started->instance;
	const enum lifecycle_outcome outcome = started->outcome;
	const bool already = started->already;
	struct json_object *object = json_of_instance(deck, instance);
	const struct attempt *attempt = run_attempt(&instance->run);
	json_set_bool(object, "success", already || succeeded(outcome));
	json_set_bool(object, "already_running", already);
	/* The id of the run: a new conversation that replaces a lost one belongs to the instance
	 * only from its first turn on. */
	json_set_string(object, "session_id",
			!already && attempt && attempt->rung == RUNG_FRESH
				? attempt->session_id
				: instance->conversation.session_id);
	json_set_bool(object, "verified", started->verified);
	json_set_bool(object, "resumed",
		      attempt && attempt->rung == RUNG_RESUME &&
			      attempt->reason != REASON_FRESH_SESSION && succeeded(outcome));
	json_add_run(object, instance);
	if (!already && !succeeded(outcome)) {
		cleanup_free char *text = why_over(instance);
		json_set_string(object, "error", text);
		json_set_string(object, "code", "INVALID_OPERATION");
	}
	return object;
}

void json_add_changes(struct json_object *object, const struct start_order *order)
{
	if (order->tree_changes && order->tree_changes->count)
		json_set_strings(object, "tree_changes", order->tree_changes);
}

static void print_last_words(const struct instance *instance)
{
	cleanup_free char *words = xstrdup(or_empty(instance->observed.exit.last_words));
	char *rest = words;
	for (const char *line; (line = strsep(&rest, "\n"));) {
		if (*line)
			say_to(stderr, xasprintf("  | %s", line));
	}
}

static void print_started(const struct lifecycle_started *started)
{
	const struct instance *instance = started->instance;
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *title = visible(instance->title);
	const char *id = instance->conversation.session_id;
	switch (attempt->rung) {
	case RUNG_RESUME:
		if (attempt->reason == REASON_FORKED) {
			printf("%s: started with a copy of conversation %s", title,
			       or_empty(instance->conversation.forked_from));
			break;
		}
		/* Some agents make a conversation and resume it with the same words. */
		printf("%s: %s conversation %s", title,
		       attempt->reason == REASON_FRESH_SESSION ? "started," : "resumed", id);
		if (instance->run.history_note)
			printf("; %s", instance->run.history_note);
		break;
	case RUNG_ASSIGN:
		printf("%s: started, conversation %s", title, id);
		if (instance->run.history_note)
			printf("; %s", instance->run.history_note);
		break;
	case RUNG_FRESH:
		if (attempt->reason == REASON_RESUME_DISABLED) {
			printf("%s: started with a new conversation %s%s%s", title,
			       or_empty(attempt->session_id),
			       instance->run.history_note ? "; " : "",
			       or_empty(instance->run.history_note));
			break;
		}
		printf("%s: started with a NEW conversation %s; history not restored (%s), earlier id %s",
		       title, or_empty(attempt->session_id), attempt_why(attempt),
		       instance->conversation.previous.count &&
				       naming_same_session_id(id, attempt->session_id)
			       ? instance->conversation.previous
					 .items[instance->conversation.previous.count - 1]
			       : or_empty(id));
		break;
	default:
		printf("%s: started", title);
	}
	if (instance->came_back.at)
		printf("; %s (tier %u)%s%s", recreate_tier_text(instance->came_back.tier),
		       instance->came_back.tier, instance->came_back.lost ? ", lost: " : "",
		       or_empty(instance->came_back.lost));
	printf("%s\n", started->verified ? "" : " (not verified: no word from the agent yet)");
}

void print_start(const struct app *app, const struct lifecycle_started *started)
{
	const struct instance *instance = started->instance;
	const enum lifecycle_outcome outcome = started->outcome;
	const char *title = instance->title;
	if (started->already) {
		say("%s: already running", title);
		return;
	}
	/* Only here: finding the shortest name reads all sessions. */
	cleanup_free char *hint = hint_session(&app->deck, title, instance->id);
	if (outcome == OUTCOME_OFFERED || (instance->run.offer && !started->verified)) {
		say("%s: asks before it resumes conversation %s; answer it with: agentdeck attach %s",
		    title, or_empty(instance->conversation.session_id), hint);
	} else if (succeeded(outcome)) {
		print_started(started);
		if (started->unreported)
			complain("%s: its agent reports nothing (%s), so agentdeck follows its "
				 "screen and its files",
				 title, started->unreported);
	} else if (outcome == OUTCOME_SHELL) {
		complain("%s: %s. A shell is open in its place: agentdeck attach %s", title,
			 or_empty(instance->observed.reason), hint);
		print_last_words(instance);
	} else {
		cleanup_free char *why = why_over(instance);
		complain("%s: %s", title, why);
		print_last_words(instance);
		if (instance->observed.held)
			complain("%s is held, and its conversation is kept. Solve that, then run: "
				 "agentdeck start %s",
				 title, hint);
	}
}

static void say_what_is_awaited(void *context, const struct instance *instance, int64_t most_s)
{
	const struct app *app = context;
	cleanup_free char *text = xasprintf("%s: waiting for %s to report its start, at most %lld "
					    "s more ...",
					    instance->title, instance->agent, (long long)most_s);
	if (app->json && !app->quiet)
		progress_line(text, false);
	else if (!app->quiet)
		complain("%s", text);
}

static void enable_supervisor(struct app *app, const struct start_order *order)
{
	if (!order->no_supervise && supervise_enable_by_default(&app->deck) && !app->quiet)
		say_to(stderr,
		       xasprintf("Supervisor enabled: sessions restart by themselves after a "
				 "crash%s. To disable: agentdeck supervise --uninstall",
				 login_lingers(getuid())
					 ? " or reboot"
					 : ", and after a reboot with your next login"));
}

/* An image that is gone is built again only with its user's consent.  Not 0: there is none. */
static int ask_rebuild(struct app *app, const struct error *why)
{
	const struct consent consent = { "Build the image again now?", "The image was not built.",
					 "--rebuild", why->message, why->code };
	if (!app->json && ask_is_possible())
		complain("%s", why->message);
	return ask_consent(app, &consent, NULL);
}

static int begin(struct app *app, const struct start_order *order, struct lifecycle_started *ret,
		 struct error *err)
{
	struct error why = { 0 };
	bool needs_rebuild = false;
	struct lifecycle_order how = order->how;
	how.takes_over = app->takes_over;
	how.once = app->once;
	how.terminal = termsize_here();
	if (app->size && !termsize_is_usual(&how.terminal))
		(void)termsize_parse(app->size, &how.terminal);
	how.place.ret_needs_rebuild = &needs_rebuild;
	int r = lifecycle_start(&app->deck, order->base, &how, ret, &why);
	if (r < 0 && needs_rebuild && !how.place.may_rebuild && ask_rebuild(app, &why) == 0) {
		error_clear(&why);
		how.place.may_rebuild = true;
		/* A restart has ended it already. */
		how.kind = START_UNLESS_RUNNING;
		r = lifecycle_start(&app->deck, order->base, &how, ret, &why);
	}
	return r < 0 ? error_move(err, &why) : r;
}

int start_and_wait(struct app *app, const struct start_order *order, struct lifecycle_started *ret,
		   struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	if (begin(app, order, &started, err) < 0)
		return -1;
	if (!started.already)
		enable_supervisor(app, order);
	print_warnings(app);
	if (started.was_archived && !app->quiet)
		complain("%s: it is out of the archive now", started.instance->title);
	const struct lifecycle_listener listener = { say_what_is_awaited, app };
	if (!order->no_wait && lifecycle_wait(&app->deck, &started, &listener, err) < 0)
		return -1;
	stages_end(&app->deck, NULL);
	*ret = started;
	started = (struct lifecycle_started){ 0 };
	return 0;
}

int run_start(struct app *app, const struct start_order *order, struct error *err)
{
	cleanup_lifecycle_started struct lifecycle_started started = { 0 };
	if (start_and_wait(app, order, &started, err) < 0)
		return -1;
	if (app->json) {
		cleanup_json struct json_object *object = json_of_start(&app->deck, &started);
		json_add_changes(object, order);
		print_json(object);
	} else if (!app->quiet || !(started.already || succeeded(started.outcome))) {
		print_start(app, &started);
	}
	return started.already || succeeded(started.outcome) ? 0 : 1;
}
