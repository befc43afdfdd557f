/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/pane.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "driver/tmux.h"
#include "engine/conversation.h"
#include "engine/environment.h"
#include "engine/lifecycle.h"
#include "engine/offer.h"
#include "engine/oom.h"
#include "engine/runfiles.h"
#include "model/restart.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* The lock is held by whoever starts or ends this very run; that may take a while, and there is
 * nothing else for us to do. */
enum { LOCK_TIMEOUT_MS = 600000, WATCH_TIMEOUT_MS = 2000 };

/* See agentdeck-watch: without it a rung that fails might never be followed by the next. */
static void start_watch(const struct deck *deck)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *pid = xasprintf("%d", (int)getpid());
	cleanup_free char *ms = xasprintf("%lld", (long long)deck->settings.probation_s * 1000);
	const struct child_request request = {
		.argv = (const char *const[]){ deck->watch, pid, ms, NULL },
	};
	(void)child_run(&request, WATCH_TIMEOUT_MS, &result, NULL);
}

/* Shown in the pane, so that it is among the last words. */
static int rung_failed(const char *what, const char *on, int os_errno)
{
	cleanup_free char *shown = visible(on);
	dprintf(STDOUT_FILENO, "agentdeck: %s %s: %s\r\n", what, shown, strerror(os_errno));
	log_error("%s %s: %s", what, on, strerror(os_errno));
	return PANE_RUNG_FAILED;
}

/* Become the agent.  Returns only on failure. */
static int execute(struct deck *deck, const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *token = runfiles_token(instance);

	if (chdir(instance->cwd) < 0)
		return rung_failed("enter", instance->cwd, errno);
	if (token)
		(void)setenv(ENV_TOKEN, token, 1);
	(void)unsetenv(ENV_PANE_DIED);
	(void)setenv("PWD", instance->cwd, 1);
	if (instance->run.history_note)
		dprintf(STDOUT_FILENO, "agentdeck: %s\r\n", instance->run.history_note);
	log_info("rung %s: %s", rung_name(attempt->rung), attempt->argv.items[0]);
	start_watch(deck);
	deck_close(deck);
	/* We stand in the session's directory: a name without a slash is no program in there, whatever PATH
	 * says (an empty folder in it means just that). */
	const char *name = attempt->argv.items[0];
	cleanup_free char *program = NULL;
	if (!strchr(name, '/') && child_find_program(name, NULL, NULL, &program, NULL) != 0)
		return rung_failed("run", name, ENOENT);
	/* Ours alone (main.c). */
	(void)signal(SIGXFSZ, SIG_DFL);
	execvp(program ? program : name, attempt->argv.items);
	return rung_failed("run", name, errno);
}

static void show_as_waiting(const struct instance *instance, bool waits)
{
	const struct activity activity = {
		.activity = waits ? ACTIVITY_WAITING : ACTIVITY_UNKNOWN,
		.since = clock_wall_us(),
	};
	(void)activity_write(instance->run.directory, &activity, NULL);
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

/* *instance is replaced by what is stored after the answer. */
static int ask(struct deck *deck, const char *base, struct instance **instance, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *now = NULL;
	enum offer_choice choice;
	log_info("offer: waiting for an answer");
	show_as_waiting(*instance, true);
	if (offer_ask(STDIN_FILENO, *instance, &choice, err) < 0)
		return -1;
	int r = store_lock(deck->store, base, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r == 0)
		r = store_load_locked(lock, &now, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s is gone", base);
	if (!now->run.id || !streq(now->run.id, (*instance)->run.id))
		return error_set(err, ERROR_INVALID, "this pane belongs to a run that is over");
	apply_choice(now, choice);
	show_as_waiting(now, false);
	if (store_save(lock, now, err) < 0)
		return -1;
	log_info("offer: answered, rung %s", rung_name(run_attempt(&now->run)->rung));
	lifecycle_log_attempt(now);
	instance_free(*instance);
	*instance = TAKE_PTR(now);
	return 0;
}

static void note_exit(struct instance *instance, const struct tmux_exit *end)
{
	struct exit_record *record = &instance->observed.exit;
	free(record->oom_victim);
	record->present = true;
	record->code = end->code;
	record->signal = end->signal_number;
	record->oom = oom_ended_agent(instance, end->code, end->signal_number, &record->oom_victim);
	replace_string(&record->last_words, end->last_words);
}

static char *describe(const struct exit_record *record)
{
	if (record->oom)
		return xstrdup("oom");
	if (record->signal)
		return xasprintf("killed by SIG%s", sigabbrev_np(record->signal));
	return xasprintf("exit %d", record->code);
}

/* A line that tells that only a login helps; NULL: the end was another one.  Who quits an agent that asks for one has
 * quit it, unless it would come back at once. */
static char *dead_login(struct deck *deck, const struct instance *instance)
{
	const struct exit_record *record = &instance->observed.exit;
	const struct agent *agent;
	bool by_itself = record->signal == 0 && !record->oom && record->code < 128;
	bool quit = record->code == 0 &&
		    restart_policy_of(instance, &deck->settings) != RESTART_ALWAYS;
	const struct attempt *attempt = run_attempt(&instance->run);
	if (!by_itself || quit || !attempt || attempt->rung == RUNG_SHELL ||
	    deck_agent(deck, instance->agent, &agent, NULL) < 0)
		return NULL;
	return registry_login_line(agent, record->last_words);
}

static bool is_clean(const struct exit_record *record)
{
	return record->signal == 0 && !record->oom &&
	       (record->code == 0 || record->code == 128 + SIGHUP || record->code == 128 + SIGINT ||
		record->code == 128 + SIGTERM);
}

/* The run is over: write that down, and end the server. */
static int end_server(struct deck *deck, struct store_lock *lock, struct instance *instance,
		      enum instance_state state, const char *reason, struct error *err)
{
	cleanup_free char *socket = xstrdup(instance->run.socket);
	cleanup_free char *directory = xstrdup(instance->run.directory);
	const struct agent *agent;
	if (deck_agent(deck, instance->agent, &agent, NULL) == 0)
		backend_host_end_daemons(deck, instance, agent);
	lifecycle_note_end(instance, state, reason);
	if (store_save(lock, instance, err) < 0)
		return -1;
	/* The server hangs up on its panes, and we are one: the files, with the socket among them, must
	 * stay until it has heard us, and go after that. */
	(void)signal(SIGHUP, SIG_IGN);
	int r = tmux_kill_server(socket, err);
	(void)runfiles_remove(directory, NULL);
	return r < 0 ? -1 : 0;
}

/* An agent that reports has said by itself whether there was a turn. */
static void settle_conversation(struct deck *deck, struct instance *instance, bool was_up)
{
	bool moved = was_up &&
		     conversation_take_words(deck, instance, instance->observed.exit.last_words);
	if (!instance->run.reported && !moved)
		conversation_commit(instance);
}

/* The agent had its way, or was killed. */
static int finish(struct deck *deck, struct store_lock *lock, struct instance *instance,
		  bool failed, struct error *err)
{
	const struct exit_record *record = &instance->observed.exit;
	bool clean = !failed && is_clean(record);
	bool stopping = instance->observed.state == STATE_STOPPING;
	/* A restart whose command was killed: the half that starts is still to come. */
	bool restarting = stopping && instance->desired == DESIRED_RUNNING;
	cleanup_free char *reason = describe(record);

	settle_conversation(deck, instance, !failed);
	log_info("the agent ended: %s", reason);
	/* It ended by itself: bringing it back unasked would not be what its user did. */
	if (clean && !stopping && restart_policy_of(instance, &deck->settings) != RESTART_ALWAYS)
		instance->desired = DESIRED_STOPPED;
	const enum instance_state state = restarting ? STATE_STOPPING
					  : clean || stopping ? STATE_STOPPED
							      : STATE_ERROR;
	return end_server(deck, lock, instance, state, reason, err);
}

/* Another rung would fail like this one, and give the conversation up for it. */
static int hold(struct deck *deck, struct store_lock *lock, struct instance *instance, const char *login,
		bool was_up, struct error *err)
{
	cleanup_free char *why = xasprintf("it needs a login: %s", login);
	if (was_up)
		settle_conversation(deck, instance, true);
	log_warning("held: %s", why);
	restart_hold(instance, why);
	return end_server(deck, lock, instance, STATE_ERROR, why, err);
}

/* A further attempt is where the first one was. */
static void log_isolation(const struct run *run)
{
	if (run->unit)
		log_info("tmux cgroup isolation: enabled (in %s)", run->unit);
	else
		log_info("tmux cgroup isolation: disabled (as its run)");
}

static int climb(struct deck *deck, struct store_lock *lock, struct instance *instance,
		 struct error *err)
{
	struct run *run = &instance->run;
	cleanup_free char *reason = describe(&instance->observed.exit);
	log_warning("rung %s failed (%s): next is %s", rung_name(run_attempt(run)->rung), reason,
		    rung_name(run->attempts[run->attempt + 1].rung));
	run->attempt++;
	run->attempt_since = clock_wall_us();
	run->attempt_since_boot_ms = clock_ms();
	const struct attempt *next = run_attempt(run);
	log_isolation(run);
	lifecycle_log_attempt(instance);
	const struct agent *agent = NULL;
	(void)deck_agent(deck, instance->agent, &agent, NULL);
	free(run->history_note);
	run->history_note = resume_history_note(agent, instance);
	if (next->rung == RUNG_SHELL) {
		run->history_note = xasprintf("the agent does not start (%s); this is a shell in its "
					      "place", reason);
		instance->observed.state = STATE_ERROR;
		instance->observed.since = clock_wall_us();
		free(instance->observed.reason);
		instance->observed.reason = xasprintf("agent does not start: %s", reason);
	}
	if (process_identify(getpid(), &run->pane, err) != 0 || store_save(lock, instance, err) < 0)
		return -1;
	return execute(deck, instance);
}

static int judge(struct deck *deck, struct store_lock *lock, struct instance *instance,
		 struct error *err)
{
	struct tmux_exit tmux = { 0 };
	int r = tmux_pane_exit(instance->run.socket, &tmux, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_TIMEOUT, "the tmux server does not answer");
	note_exit(instance, &tmux);
	const struct ladder_end end = {
		.code = tmux.code,
		.signal_number = tmux.signal_number,
		.lived_ms = clock_ms() - instance->run.attempt_since_boot_ms,
	};
	free(tmux.last_words);
	/* Interrupted while it was being ended: that is now done. */
	if (instance->observed.state == STATE_STOPPING || instance->desired == DESIRED_STOPPED)
		return finish(deck, lock, instance, false, err);
	const int64_t probation_ms = deck->settings.probation_s * 1000;
	const bool was_up = instance->run.reported || end.lived_ms >= probation_ms;
	const enum ladder_verdict verdict = resume_judge(&instance->run, &end, probation_ms);
	cleanup_free char *login = dead_login(deck, instance);
	if (login)
		return hold(deck, lock, instance, login, was_up, err);
	if (verdict == LADDER_NEXT)
		return climb(deck, lock, instance, err);
	return finish(deck, lock, instance, verdict == LADDER_EXHAUSTED, err);
}

int pane_become(struct deck *deck, const char *base, const char *run_id, bool died,
		struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;

	/* The first time the lock is held by who started us, and the manifest is what we need. */
	if (died) {
		int r = store_lock(deck->store, base, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
		if (r != 0)
			return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s is gone", base);
	}
	int r = store_load(deck->store, base, &instance, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s is gone", base);
	log_set_instance(instance->id);
	log_set_run(run_id);
	if (!instance->run.id || !streq(instance->run.id, run_id))
		return error_set(err, ERROR_INVALID, "this pane belongs to a run that is over");
	if (died)
		return judge(deck, lock, instance, err);
	if (instance->run.offer && ask(deck, base, &instance, err) < 0)
		return -1;
	return execute(deck, instance);
}
