/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/run/pane.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/libc.h"
#include "base/log.h"
#include "base/program.h"
#include "engine/conversation/conversation.h"
#include "engine/place/activityfile.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/roster/notice.h"
#include "engine/roster/statusline.h"
#include "engine/run/collect.h"
#include "engine/run/ending.h"
#include "engine/run/lifecycle-internal.h"
#include "engine/run/offer.h"
#include "model/plan/restart.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* The command that starts or ends this run holds the lock; that may take a while, and there is
 * nothing else for us to do. */
enum { LOCK_TIMEOUT_MS = 600000, WATCH_TIMEOUT_MS = 2000 };

/* See agentdeck-watch: without it a rung that fails might never be followed by the next.  An agent
 * that has not reported by the end of its probation may ask something first: look at its screen. */
static void start_watch(const struct deck *deck, const char *id)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *pid = xasprintf("%d", (int)getpid());
	cleanup_free char *ms = xasprintf("%lld", (long long)deck->settings.probation_s * 1000);
	const struct child_request request = {
		.argv = (const char *const[]){ deck->watch, pid, ms, deck->program, "--profile",
					       deck->profile, "look", id, NULL },
	};
	(void)child_run(&request, WATCH_TIMEOUT_MS, &result, NULL);
}

#define CANNOT_RUN "agentdeck: run "

/* Shown in the pane, so that it is among the last words. */
static int rung_failed(const char *what, const char *on, const char *why)
{
	cleanup_free char *shown = visible(on);
	dprintf(STDOUT_FILENO, "agentdeck: %s %s: %s\r\n", what, shown, why);
	log_error("%s %s: %s", what, on, why);
	return PANE_RUNG_FAILED;
}

/* execvp(3) has /bin/sh run whatever the kernel does not know, as shells do; what is not text is
 * not for it. */
static int execute_file(const char *file, char *const argv[])
{
	cleanup_free char *why = NULL;
	(void)execv(file, argv);
	if (errno == ENOEXEC && program_is_text(file))
		(void)execvp(file, argv);
	why = program_explain(file, errno);
	return rung_failed("run", argv[0], why);
}

/* Become the agent.  Returns only on failure. */
static int execute(const struct operation *operation)
{
	const struct instance *instance = operation->instance;
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *token = runfiles_token(instance);
	cleanup_strvec struct strvec argv = { 0 };
	operation->place->pane_argv(operation->deck, instance, &argv);

	const char *directory = instance_launch_directory(instance);
	if (chdir(directory) < 0)
		return rung_failed("enter", directory, strerror(errno));
	if (token)
		(void)setenv(ENV_TOKEN, token, 1);
	(void)unsetenv(ENV_PANE_DIED);
	(void)setenv("PWD", directory, 1);
	if (instance->run.history_note)
		dprintf(STDOUT_FILENO, "agentdeck: %s\r\n", instance->run.history_note);
	log_info("attempt %s: %s", rung_name(attempt->rung), attempt->argv.items[0]);
	start_watch(operation->deck, instance->id);
	deck_close(operation->deck);
	/* We are in the session's directory: a name without a slash is not a program in there,
	 * whatever PATH says (an empty folder in it means just that). */
	const char *name = argv.items[0];
	const bool is_path = strchr(name, '/');
	cleanup_free char *program = is_path ? NULL : program_path(name, NULL, NULL);
	if (!is_path && !program)
		return rung_failed("run", name, "program not found in PATH: install it");
	/* The user wrote the name in the directory where the session was made. */
	if (!program && *name != '/')
		program = path_join(instance_lookup_directory(instance), name);
	/* Ours alone (main.c). */
	(void)signal(SIGXFSZ, SIG_DFL);
	return execute_file(program ? program : name, argv.items);
}

static void show_as_waiting(const struct operation *operation, bool waits)
{
	const struct instance *instance = operation->instance;
	const enum instance_activity before = statusline_activity(instance->run.directory);
	const struct activity activity = {
		.activity = waits ? ACTIVITY_WAITING : ACTIVITY_UNKNOWN,
		.asks = waits,
		.since = clock_wall_us(),
	};
	(void)activityfile_write(instance->run.directory, &activity, &(struct announced){ 0 },
				 NULL);
	statusline_follow(operation->deck->store, instance->base, before, activity.activity);
	notice_activity(operation->deck, operation->deck->store, instance->base,
			&(struct notice_change){ before, activity.activity, activity.since });
}

/* The user's choice becomes the attempt that runs. */
static void apply_choice(struct instance *instance, enum offer_choice choice)
{
	struct run *run = &instance->run;
	size_t chosen = offer_attempt(run, choice);
	if (chosen < run->attempt_count)
		run->attempt = chosen;
	run->offer = false;
	run->attempt_since = clock_wall_us();
	run->attempt_since_boot_ms = clock_ms();
	if (choice == OFFER_RESUME)
		return;
	free(run->history_note);
	run->history_note =
		choice == OFFER_FRESH && instance->conversation.session_id
			? xasprintf("a new conversation, as you chose; the earlier one is kept: %s",
				    instance->conversation.session_id)
			: NULL;
}

static int check_run(const struct instance *instance, const char *run_id, struct error *err)
{
	return instance->run.id && streq(instance->run.id, run_id)
		       ? 0
		       : error_set(err, ERROR_INVALID, "this pane belongs to a run that has ended");
}

static int begin_attempt(struct operation *operation, struct error *err)
{
	return operation->place->begin_attempt(operation->deck, operation->lock,
					       operation->instance, operation->agent, err);
}

/* The instance is replaced by what is stored after the answer. */
static int ask(struct operation *operation, struct error *err)
{
	cleanup_operation struct operation answered = { 0 };
	const struct instance *before = operation->instance;
	enum offer_choice choice;
	log_info("offer: waiting for an answer");
	show_as_waiting(operation, true);
	if (offer_ask(STDIN_FILENO, before, &choice, err) < 0 ||
	    operation_open(operation->deck, before->base, LOCK_TIMEOUT_MS, &answered, err) < 0 ||
	    check_run(answered.instance, before->run.id, err) < 0)
		return -1;
	struct instance *now = answered.instance;
	apply_choice(now, choice);
	show_as_waiting(&answered, false);
	if (operation_find_agent(&answered, err) < 0 || begin_attempt(&answered, err) < 0 ||
	    operation_save(&answered, err) < 0)
		return -1;
	log_info("offer: answered, attempt %s", rung_name(run_attempt(&now->run)->rung));
	lifecycle_log_attempt(now);
	instance_free(operation->instance);
	operation->instance = TAKE_PTR(answered.instance);
	return 0;
}

/* What execute_file() has shown last; NULL: nothing. */
static char *cannot_run(const char *last_words)
{
	const char *found = NULL;
	for (const char *next = last_words; next && (next = strstr(next, CANNOT_RUN));
	     next += strlen(CANNOT_RUN))
		found = next + strlen("agentdeck: ");
	return found ? xstrndup(found, strcspn(found, "\n")) : NULL;
}

/* A shell or a loader ends so when it does not find what it is to run, and mostly says what. */
static char *not_found(const char *last_words)
{
	const char *end = last_words + strlen(last_words);
	while (end > last_words && strchr(" \n", end[-1]))
		end--;
	const char *line = end;
	while (line > last_words && line[-1] != '\n')
		line--;
	cleanup_free char *words = xstrndup(line, (size_t)(end - line));
	return xasprintf("exit %d, %s", PANE_NOT_RUN,
			 *words ? words : "which means that a program was not found");
}

static char *describe(const struct exit_record *record)
{
	if (record->code == PANE_NOT_RUN) {
		char *why = cannot_run(record->last_words);
		return why ? why : not_found(or_empty(record->last_words));
	}
	if (record->oom)
		return xstrdup("oom");
	if (record->signal)
		return xasprintf("killed by SIG%s", sigabbrev_np(record->signal));
	return xasprintf("exit %d", record->code);
}

static enum hold hold_of(enum refusal refusal)
{
	switch (refusal) {
	case REFUSAL_LOGIN:
		return HOLD_LOGIN;
	case REFUSAL_BACKGROUND:
		return HOLD_BACKGROUND;
	case REFUSAL_OTHER:
		return HOLD_REFUSED;
	default:
		return HOLD_NONE;
	}
}

static char *hold_reason(const struct agent *agent, enum refusal refusal, const char *words)
{
	switch (refusal) {
	case REFUSAL_LOGIN:
		return xasprintf("it needs a login: %s", words);
	case REFUSAL_BACKGROUND:
		return xasprintf("in the background of %s: %s", agent->name, words);
	case REFUSAL_OTHER:
		return xasprintf("its agent refuses: %s", words);
	default:
		return NULL;
	}
}

/* An agent refuses a conversation before it is up. Later it may only quote such words, unless it
 * ends with status 0 because the conversation has moved to its background. */
static enum refusal believe(enum refusal refusal, const struct exit_record *record, bool was_up)
{
	if (!was_up || refusal == REFUSAL_LOGIN ||
	    (refusal == REFUSAL_BACKGROUND && record->code == 0))
		return refusal;
	return REFUSAL_NONE;
}

/* Why only the user can help, in the agent's own words; NULL: the end was another one.  A user who
 * quits an agent that asks for a login has quit it, unless it would come back at once.  An agent
 * that has taken the conversation into its background has not quit it, whatever its status. */
static char *why_refused(struct operation *operation, bool was_up, enum hold *ret_kind)
{
	const struct instance *instance = operation->instance;
	const struct exit_record *record = &instance->observed.exit;
	bool by_itself = record->signal == 0 && !record->oom && record->code < 128;
	bool quit = record->code == 0 &&
		    restart_policy_of(instance, &operation->deck->settings) != RESTART_ALWAYS;
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *words = NULL;
	if (!by_itself || !attempt || attempt->rung == RUNG_SHELL ||
	    operation_find_agent(operation, NULL) < 0)
		return NULL;
	const enum refusal refusal = believe(
		registry_refusal(operation->agent, record->last_words, &words), record, was_up);
	*ret_kind = hold_of(refusal);
	return quit && refusal != REFUSAL_BACKGROUND
		       ? NULL
		       : hold_reason(operation->agent, refusal, words);
}

static bool is_clean(const struct exit_record *record)
{
	return record->signal == 0 && !record->oom &&
	       (record->code == 0 || record->code == 128 + SIGHUP || record->code == 128 + SIGINT ||
		record->code == 128 + SIGTERM);
}

/* The run is over: write that down, and end the server. */
static int end_server(struct operation *operation, enum state_event ended, const char *reason,
		      struct error *err)
{
	struct instance *instance = operation->instance;
	const struct place *place = operation->place;
	const enum instance_activity before = statusline_activity(instance->run.directory);
	if (operation_find_agent(operation, NULL) == 0)
		place->end_daemons(operation->deck, instance, operation->agent);
	/* The manifest forgets the run, and the place still has to know which it was: `left`
	 * borrows from `run`. */
	cleanup_run struct run run UNUSED = instance->run;
	const struct place_run left = place_run_of(instance);
	instance->run = (struct run){ 0 };
	if (operation_note(operation, ended, reason, err) < 0)
		return -1;
	statusline_follow(operation->deck->store, instance->base, before, ACTIVITY_UNKNOWN);
	return place->leave(&left, err);
}

/* An agent that reports has said by itself whether there was a turn. */
static void settle_conversation(const struct operation *operation, bool was_up)
{
	struct instance *instance = operation->instance;
	const char *last_words = instance->observed.exit.last_words;
	if (was_up)
		lifecycle_take_note(operation);
	bool moved = was_up && conversation_take_words(operation->deck, instance, last_words);
	if (!instance->run.reported && !moved)
		conversation_commit(instance);
}

/* The agent had its way, or was killed. */
static int finish(struct operation *operation, bool failed, struct error *err)
{
	const struct instance *instance = operation->instance;
	const struct settings *settings = &operation->deck->settings;
	bool clean = !failed && is_clean(&instance->observed.exit);
	cleanup_free char *reason = describe(&instance->observed.exit);

	settle_conversation(operation, !failed);
	log_info("the agent ended: %s", reason);
	/* The agent ended by itself: an automatic restart would undo what its user did. */
	const bool stays = restart_policy_of(instance, settings) != RESTART_ALWAYS;
	const enum state_event ended = !clean ? EVENT_FAILED : stays ? EVENT_QUIT : EVENT_COMPLETED;
	if (ended == EVENT_QUIT)
		ending_begin(operation);
	if (ended != EVENT_FAILED)
		return end_server(operation, ended, reason, err);
	cleanup_free char *text = restart_end_text(instance, settings, reason);
	return end_server(operation, ended, text, err);
}

/* Another rung would fail like this one, and give the conversation up for it. */
static int hold(struct operation *operation, enum hold kind, const char *why, bool was_up,
		struct error *err)
{
	if (was_up)
		settle_conversation(operation, true);
	log_warning("held: %s", why);
	restart_hold(operation->instance, kind, why);
	return end_server(operation, EVENT_FAILED, why, err);
}

/* A further attempt is where the first one was. */
static void log_isolation(const struct run *run)
{
	if (run->unit)
		log_info("tmux cgroup isolation: enabled (in %s)", run->unit);
	else
		log_info("tmux cgroup isolation: disabled (as its run)");
}

/* The last rung: the session is in error, and its user can see why. */
static int fall_to_shell(const struct operation *operation, const char *reason, struct error *err)
{
	struct instance *instance = operation->instance;
	struct run *run = &instance->run;
	cleanup_free char *status = instance->observed.exit.code == PANE_NOT_RUN
					    ? xasprintf("exit %d", PANE_NOT_RUN)
					    : NULL;
	cleanup_free char *why =
		run_attempt(run)[-1].reason == REASON_CONVERSATION_ELSEWHERE
			? xasprintf(
				  "its agent does not find its conversation in this directory (%s); "
				  "to copy it here: "
				  "agentdeck session set %s path %s --copy-transcript",
				  reason, instance->id, instance_lookup_directory(instance))
			: xasprintf("its agent did not start: %s", reason);
	free(run->history_note);
	run->history_note = xasprintf("the agent does not start (%s); this is a shell instead",
				      status ? status : reason);
	return operation_note(operation, EVENT_SHELL, why, err);
}

static int climb(struct operation *operation, struct error *err)
{
	struct instance *instance = operation->instance;
	struct run *run = &instance->run;
	cleanup_free char *reason = describe(&instance->observed.exit);
	log_warning("attempt %s failed (%s): next is %s", rung_name(run_attempt(run)->rung), reason,
		    rung_name(run->attempts[run->attempt + 1].rung));
	run->attempt++;
	run->attempt_since = clock_wall_us();
	run->attempt_since_boot_ms = clock_ms();
	const struct attempt *next = run_attempt(run);
	log_isolation(run);
	lifecycle_log_attempt(instance);
	(void)operation_find_agent(operation, NULL);
	free(run->history_note);
	run->history_note = resume_history_note(operation->agent, instance);
	if (begin_attempt(operation, err) < 0)
		return -1;
	int r = next->rung == RUNG_SHELL ? fall_to_shell(operation, reason, err)
					 : operation_save(operation, err);
	return r < 0 ? -1 : execute(operation);
}

/* The process that was to begin this attempt was killed before it could. */
static int catch_up(struct operation *operation, struct error *err)
{
	if (operation_find_agent(operation, err) < 0 || begin_attempt(operation, err) < 0 ||
	    operation_save(operation, err) < 0)
		return -1;
	return execute(operation);
}

static int judge(struct operation *operation, struct error *err)
{
	struct instance *instance = operation->instance;
	struct exit_record *record = &instance->observed.exit;
	struct exit_record seen;
	int r = operation->place->how_ended(instance, &seen, err);
	if (r == PLACE_NOT_ENDED)
		return execute(operation);
	if (r == PLACE_NOT_BEGUN)
		return catch_up(operation, err);
	if (r < 0)
		return -1;
	exit_record_clear(record);
	*record = seen;
	const struct ladder_end end = {
		.code = record->code,
		.signal_number = record->signal,
		.lived_ms = clock_ms() - instance->run.attempt_since_boot_ms,
		.is_unknown_id = operation_find_agent(operation, NULL) == 0 &&
				 registry_is_unknown_id(operation->agent, record->last_words),
	};
	/* Interrupted while it was being ended: that is now done. */
	if (state_is_stopping(instance->observed.state) || instance->desired != DESIRED_RUNNING)
		return finish(operation, false, err);
	const int64_t probation_ms = operation->deck->settings.probation_s * 1000;
	const bool was_up = instance->run.reported || end.lived_ms >= probation_ms;
	const enum ladder_verdict verdict = resume_judge(&instance->run, &end, probation_ms);
	enum hold kind = HOLD_NONE;
	cleanup_free char *refused = why_refused(operation, was_up, &kind);
	if (refused)
		return hold(operation, kind, refused, was_up, err);
	if (verdict == LADDER_NEXT)
		return climb(operation, err);
	return finish(operation, verdict == LADDER_EXHAUSTED, err);
}

int pane_become(struct deck *deck, const char *base, const char *run_id, bool died,
		struct error *err)
{
	cleanup_operation struct operation operation = { .deck = deck };
	/* What the agent said last belongs to what is judged. */
	if (died && collect_reports(deck, base, err) < 0) {
		log_warning("reports not taken: %s", err->message);
		error_clear(err);
	}
	/* The first time the lock is held by who started us, and the manifest is what we need. */
	if ((died ? operation_open(deck, base, LOCK_TIMEOUT_MS, &operation, err)
		  : deck_load(deck, base, &operation.instance, err)) < 0)
		return -1;
	if (!operation.place && place_find(operation.instance, &operation.place, err) < 0)
		return -1;
	log_set_instance(operation.instance->id);
	log_set_run(run_id);
	if (check_run(operation.instance, run_id, err) < 0)
		return -1;
	if (died)
		return judge(&operation, err);
	if (operation.instance->run.offer && ask(&operation, err) < 0)
		return -1;
	return execute(&operation);
}
