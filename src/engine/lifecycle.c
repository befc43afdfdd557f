/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/lifecycle.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/conversation.h"
#include "engine/environment.h"
#include "engine/lifecycle-internal.h"
#include "engine/place.h"
#include "engine/runfiles.h"
#include "model/naming.h"
#include "model/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

enum { LOCK_TIMEOUT_MS = 30000, EARLY_DEATH_MS = 1000, VERDICT_TIMEOUT_MS = 2000, VERDICT_POLL_MS = 20 };

void lifecycle_set_state(struct instance *instance, enum instance_state state, const char *reason)
{
	instance->observed.state = state;
	/* As exact as it is stored: a wait that depends on it must not change when it is read again. */
	instance->observed.since = clock_wall_us() / 1000 * 1000;
	replace_string(&instance->observed.reason, reason);
	replace_string(&instance->observed.boot_id, process_boot_id());
}

void lifecycle_note_end(struct instance *instance, enum instance_state state, const char *reason)
{
	lifecycle_set_state(instance, state, reason);
	run_clear(&instance->run);
}

/* Take the lock, read the manifest, find the backend. */
int lifecycle_open(struct deck *deck, const char *base, struct store_lock **ret_lock,
		   struct instance **ret, const struct backend **ret_backend,
			 struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	int r = store_lock(deck->store, base, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r == STORE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	if (r == STORE_BUSY)
		return error_set(err, ERROR_BUSY, "another agentdeck is working on session %s: try again, "
				 "or find it with: fuser %s/%s/%s.lock", base, deck->paths.state,
				 deck->profile, base);
	if (r < 0)
		return -1;
	r = store_load_locked(lock, &instance, err);
	if (r == STORE_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	if (r < 0 || backend_find(instance, ret_backend, err) < 0)
		return -1;
	log_set_instance(instance->id);
	log_set_run(instance->run.id);
	*ret_lock = TAKE_PTR(lock);
	*ret = TAKE_PTR(instance);
	return 0;
}

bool lifecycle_is_between(const struct process_id *server, const struct process_id *pane)
{
	return server->pid && !process_alive(pane) && process_alive(server);
}

/* The agent has ended, and its pane is about to say what comes of that: a start that came now would call it alive. */
static bool is_about_to_judge(struct deck *deck, const struct instance *instance, const struct backend *backend,
			      struct process_id *ret_server)
{
	const struct run *run = &instance->run;
	struct process_id server = run->server, pane = run->pane;
	if (!process_same_boot(run->boot_id))
		return false;
	/* A start that was killed before it could write down what it had started, or could not see it. */
	if (run->socket && (!server.pid || !pane.pid)) {
		struct observation seen = backend->observe(deck, instance, OBSERVE_ANSWER);
		if (seen.presence != PRESENCE_ALIVE)
			return false;
		server = seen.server;
		pane = seen.pane;
	}
	*ret_server = server;
	return lifecycle_is_between(&server, &pane);
}

int lifecycle_open_settled(struct deck *deck, const char *base, struct store_lock **ret_lock,
			   struct instance **ret, const struct backend **ret_backend, struct error *err)
{
	const int64_t deadline = clock_ms() + VERDICT_TIMEOUT_MS;
	for (;;) {
		cleanup_store_lock struct store_lock *lock = NULL;
		cleanup_instance struct instance *instance = NULL;
		const struct backend *backend;
		if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
			return -1;
		struct process_id server;
		if (!is_about_to_judge(deck, instance, backend, &server) || clock_ms() > deadline) {
			*ret_lock = TAKE_PTR(lock);
			*ret = TAKE_PTR(instance);
			*ret_backend = backend;
			return 0;
		}
		/* tmux before 3.5 may have lost the news (see agentdeck-watch), and the pane needs the lock. */
		(void)process_signal(&server, SIGCHLD, NULL);
		store_unlock(TAKE_PTR(lock));
		(void)poll(NULL, 0, VERDICT_POLL_MS);
	}
}

static int check_place(const struct instance *instance, struct error *err)
{
	cleanup_free char *real = NULL;
	cleanup_free char *shown = visible(instance->cwd);
	int r = fs_real_directory(instance->cwd, &real, err);
	if (r == FS_ABSENT)
		return error_set(err, ERROR_NOT_FOUND, "its directory %s is missing: bring it back, or "
				 "forget the session with agentdeck remove %s", shown, instance->id);
	return r < 0 ? -1 : 0;
}

static int check_programs(const struct instance *instance, const struct agent *agent,
			  struct error *err)
{
	cleanup_free char *path = NULL;
	const char *program = instance->argv.items[0];
	if (child_find_program("tmux", NULL, NULL, &path, err) == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "tmux is not installed: install tmux 3.2 or newer");
	free(TAKE_PTR(path));
	if (child_find_program(program, NULL, instance->cwd, &path, err) == CHILD_NOT_INSTALLED) {
		cleanup_free char *shown = visible(program);
		if (agent->generic)
			return error_set(err, ERROR_UNAVAILABLE, "there is no program '%s' in PATH: install "
					 "it, or name another", shown);
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed: no program '%s' in PATH",
				 agent->title ? agent->title : agent->name, shown);
	}
	return 0;
}

int lifecycle_check(struct deck *deck, const struct instance *instance, const struct agent **ret,
		    struct error *err)
{
	return deck_agent(deck, instance->agent, ret, err) < 0 || check_place(instance, err) < 0 ||
	       check_programs(instance, *ret, err) < 0 ? -1 : 0;
}

/* May the run be ended and begun anew?  Asked before anything is ended. */
static int check_restart(struct deck *deck, const struct instance *instance, struct error *err)
{
	const struct agent *agent;
	const char *own = getenv(ENV_RUN);
	if (own && instance->run.id && streq(own, instance->run.id))
		return error_set(err, ERROR_INVALID, "%s cannot be restarted from inside: its end is the "
				 "end of this command, too", instance->id);
	return lifecycle_check(deck, instance, &agent, err);
}

/* Something is there, and what it is nobody knows. */
int lifecycle_unknown(const struct instance *instance, const char *why, struct error *err)
{
	return error_set(err, ERROR_TIMEOUT, "%s exists, but %s: it is not started a second time. "
			 "Wait, or end it with agentdeck session stop %s", instance->id, why, instance->id);
}

bool lifecycle_is_shell(const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	return attempt && attempt->rung == RUNG_SHELL;
}

int lifecycle_note_alive(struct store_lock *lock, struct instance *instance,
			 const struct observation *seen, struct error *err)
{
	struct run *run = &instance->run;
	const bool is_known = process_same(&run->server, &seen->server) &&
			      (!seen->pane.pid || process_same(&run->pane, &seen->pane));
	if (instance->observed.state == STATE_RUNNING && is_known)
		return 0;
	run->server = seen->server;
	if (seen->pane.pid)
		run->pane = seen->pane;
	if (instance->observed.state != STATE_RUNNING)
		lifecycle_set_state(instance, STATE_RUNNING, NULL);
	return store_save(lock, instance, err);
}

/* As its user would end it. */
static int end_run(struct deck *deck, struct store_lock *lock, struct instance *instance,
		   const struct backend *backend, struct error *err)
{
	const struct agent *agent = NULL;
	cleanup_free char *words = NULL;
	(void)deck_agent(deck, instance->agent, &agent, NULL);
	bool listen = agent && agent->exit_banner;
	int r = backend->end(deck, instance, (int)deck->settings.stop_timeout_s * 1000,
			     listen ? &words : NULL, err);
	/* Nobody is left who could say it again. */
	if (conversation_take_words(deck, instance, words) && store_save(lock, instance, r < 0 ? NULL : err) < 0)
		return -1;
	return r;
}

/* What the run is now; a run that is gone, or is only a shell in the agent's place, is cleared away.
 * LIFECYCLE_ALIVE: it runs. */
enum { LIFECYCLE_ALIVE = 1 };
static int clear_remains(struct deck *deck, struct store_lock *lock, struct instance *instance,
			 const struct backend *backend, struct error *err)
{
	if (!instance->run.socket)
		return 0;
	struct observation seen = backend->observe(deck, instance, OBSERVE_ANSWER);
	/* A stop that was interrupted is finished: what is alive, or silent, is about to end. */
	bool stopping = instance->observed.state == STATE_STOPPING;
	if (seen.presence == PRESENCE_UNKNOWN && !stopping)
		return lifecycle_unknown(instance, seen.why, err);
	if (seen.presence == PRESENCE_ALIVE && !lifecycle_is_shell(instance) && !stopping) {
		return lifecycle_note_alive(lock, instance, &seen, err) < 0 ? -1 : LIFECYCLE_ALIVE;
	}
	log_info("the last run is over: %s", seen.why ? seen.why : stopping ? "it was being stopped"
									   : "a shell in the agent's place");
	/* The server is gone, but what it left behind may still hold the conversation. */
	if ((stopping ? end_run(deck, lock, instance, backend, err)
		      : backend->end(deck, instance, 0, NULL, err)) < 0)
		return -1;
	/* Its attempts are still to be read; its processes belong to no boot any more. */
	replace_string(&instance->run.boot_id, NULL);
	return 0;
}

void lifecycle_log_attempt(const struct instance *instance)
{
	const struct attempt *attempt = run_attempt(&instance->run);
	if (attempt->rung == RUNG_RESUME)
		log_info("resume: id=%s reason=%s", attempt->session_id, attempt->reason);
	else
		log_info("resume: none reason=%s id=%s", attempt->reason,
			 attempt->session_id ? attempt->session_id : "none");
}

/* From here on the run's places and its ladder stand in the instance. */
static int plan_run(struct deck *deck, struct instance *instance, const struct agent *agent,
		    const struct backend *backend, enum transcript_fact fact, bool resume_wish,
		    struct error *err)
{
	run_clear(&instance->run);
	instance->run.id = naming_new_uuid();
	log_set_run(instance->run.id);
	if (backend->prepare(deck, instance, agent, err) < 0) {
		run_clear(&instance->run);
		return -1;
	}
	if (conversation_plan(deck, instance, agent, fact, resume_wish, err) < 0) {
		(void)backend->end(deck, instance, 0, NULL, NULL);
		run_clear(&instance->run);
		return -1;
	}
	instance->run.attempt_since = clock_wall_us();
	instance->run.attempt_since_boot_ms = clock_ms();
	lifecycle_log_attempt(instance);
	return 0;
}

int lifecycle_start_locked(struct deck *deck, struct store_lock *lock, struct instance *instance,
			   const struct backend *backend, enum start_wish wish, bool *ret_already,
			   struct error *err)
{
	const struct agent *agent;
	enum transcript_fact fact;
	cleanup_fs_lock struct fs_lock claim = FS_UNLOCKED;

	int r = clear_remains(deck, lock, instance, backend, err);
	if (r != 0) {
		*ret_already = r == LIFECYCLE_ALIVE;
		return r < 0 ? -1 : 0;
	}
	if (lifecycle_check(deck, instance, &agent, err) < 0 ||
	    conversation_settle(deck, instance, agent, &fact, err) < 0 ||
	    conversation_claim(deck, instance, agent, &claim, err) < 0 ||
	    plan_run(deck, instance, agent, backend, fact, wish != START_FRESH, err) < 0)
		return -1;
	const int64_t last_used_at = instance->last_used_at;
	instance->desired = DESIRED_RUNNING;
	if (wish != START_AGAIN || !last_used_at)
		instance->last_used_at = clock_wall_us();
	lifecycle_set_state(instance, STATE_STARTING, NULL);
	instance->observed.exit.present = false;
	if (store_save(lock, instance, err) < 0)
		return -1;
	fs_unlock(&claim);

	struct error failure = { 0 };
	if (backend->launch(deck, lock, instance, agent, &failure) < 0) {
		lifecycle_note_end(instance, STATE_ERROR, failure.message);
		/* No agent has run: the first launch, with its prompt, is still to come. */
		instance->last_used_at = last_used_at;
		log_error("not started: %s", failure.message);
		(void)store_save(lock, instance, NULL);
		return error_move(err, &failure);
	}
	lifecycle_set_state(instance, STATE_RUNNING, NULL);
	/* The time that it took to get here is not the agent's. */
	instance->run.attempt_since_boot_ms = clock_ms();
	if (store_save(lock, instance, err) < 0)
		return error_prefix(err, "%s runs, but that could not be written down", instance->id);
	log_info("started: server=%d agent=%d unit=%s", (int)instance->run.server.pid,
		 (int)instance->run.pane.pid, instance->run.unit ? instance->run.unit : "none");
	*ret_already = false;
	return 0;
}

/* End what runs, as a part of a stop or of a restart: desired tells which.  From the first save on the manifest says
 * "stopping", and that stands until the whole is done: stopped, or started again. */
static int end_locked(struct deck *deck, struct store_lock *lock, struct instance *instance,
		      const struct backend *backend, enum instance_desired desired, bool *ret_was_running,
		      struct error *err)
{
	struct observation seen = backend->observe(deck, instance, OBSERVE_PROCESS);
	bool had_run = instance->run.socket != NULL;
	/* A start that was interrupted may have left a run whose processes nobody wrote down. */
	if (seen.presence == PRESENCE_ALIVE && seen.pane.pid) {
		instance->run.server = seen.server;
		instance->run.pane = seen.pane;
	}
	instance->desired = desired;
	if (had_run) {
		lifecycle_set_state(instance, STATE_STOPPING, NULL);
		if (store_save(lock, instance, err) < 0 || end_run(deck, lock, instance, backend, err) < 0)
			return -1;
	} else if (instance->last_used_at && backend_host_end_unknown(deck, instance->id, err) < 0) {
		/* An agent that ended by itself may have left something running. */
		return -1;
	}
	run_clear(&instance->run);
	*ret_was_running = seen.presence != PRESENCE_NONE;
	return 0;
}

int lifecycle_stop_locked(struct deck *deck, struct store_lock *lock, struct instance *instance,
			  const struct backend *backend, bool *ret_was_running, struct error *err)
{
	bool was_running;
	if (end_locked(deck, lock, instance, backend, DESIRED_STOPPED, &was_running, err) < 0)
		return -1;
	lifecycle_note_end(instance, STATE_STOPPED, NULL);
	if (store_save(lock, instance, err) < 0)
		return -1;
	log_info("stopped%s", was_running ? "" : " (was not running)");
	*ret_was_running = was_running;
	return 0;
}

/* Whoever asked is told, so nobody else has to finish it. */
static int give_up_restart(struct store_lock *lock, struct instance *instance, struct error *err)
{
	if (instance->observed.state == STATE_STOPPING) {
		lifecycle_note_end(instance, STATE_STOPPED, NULL);
		(void)store_save(lock, instance, NULL);
	}
	return error_prefix(err, "%s is stopped, and could not be started again", instance->id);
}

void lifecycle_started_free(struct lifecycle_started *started)
{
	instance_free(started->instance);
	*started = (struct lifecycle_started){ 0 };
}

int lifecycle_start(struct deck *deck, const char *base, bool restart, bool resume_wish,
		    struct lifecycle_started *ret, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	bool already = false, was_running;

	if (lifecycle_open_settled(deck, base, &lock, &instance, &backend, err) < 0 ||
	    (restart && check_restart(deck, instance, err) < 0))
		return -1;
	/* Before the first save of a restart: whoever finishes it has to find the programs that we do. */
	restart_forget(instance);
	environment_keep(deck, instance);
	if (restart && end_locked(deck, lock, instance, backend, DESIRED_RUNNING, &was_running, err) < 0)
		return -1;
	if (restart)
		log_info("stopped%s: to be started again", was_running ? "" : " (was not running)");
	if (lifecycle_start_locked(deck, lock, instance, backend, resume_wish ? START_RESUME : START_FRESH,
				   &already, err) < 0)
		return restart && instance->observed.state != STATE_RUNNING ? give_up_restart(lock, instance, err)
									     : -1;
	*ret = (struct lifecycle_started){ .already = already, .instance = TAKE_PTR(instance) };
	return 0;
}

int lifecycle_stop(struct deck *deck, const char *base, bool *ret_was_running, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
		return -1;
	return lifecycle_stop_locked(deck, lock, instance, backend, ret_was_running, err);
}

/* Conversations are the user's: what is in the instance's directory stays, and its user is told where. */
static void forget_place(struct deck *deck, const char *id)
{
	cleanup_error struct error local = { 0 };
	int r = place_remove(deck, id, &local);
	cleanup_free char *path = place_path(deck, id);
	cleanup_free char *shown = visible(path);
	if (r < 0)
		deck_warn(deck, "%s", local.message);
	else if (r == PLACE_KEPT)
		deck_warn(deck, "its conversations stay in %s: remove that directory if nobody wants them",
			  shown);
}

/* While its session is there, so that who cannot remove it can try again. */
static int forget_hint(struct deck *deck, const char *id, struct error *err)
{
	cleanup_free char *sidecar = xasprintf("hooks/%s.sid", id);
	if (unlinkat(store_state_directory(deck->store), sidecar, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove %s/%s", deck->paths.state, sidecar);
	return 0;
}

/* Nothing can be learned from a damaged manifest: what runs under its name, and what stands there, is all
 * that there is to remove. */
static int remove_damaged(struct deck *deck, const char *base, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error damage = { 0 };
	int r = store_lock(deck->store, base, clock_ms() + LOCK_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_set(err, r == STORE_BUSY ? ERROR_BUSY : ERROR_NOT_FOUND,
				 "session %s is %s", base, r == STORE_BUSY ? "locked" : "gone");
	if (r < 0)
		return -1;
	/* Only what nobody can read: not what a newer agentdeck can, and not what was repaired meanwhile. */
	r = store_load(deck->store, base, &instance, &damage);
	if (r == 0)
		return error_set(err, ERROR_BUSY, "session %s was repaired just now: try again", base);
	if (r < 0 && damage.code != ERROR_CORRUPT)
		return error_set(err, damage.code, "%s", damage.message);
	log_warning("removing %s, whose manifest is damaged", base);
	if (backend_host_end_unknown(deck, base, err) < 0 || forget_hint(deck, base, err) < 0)
		return -1;
	forget_place(deck, base);
	return store_remove(TAKE_PTR(lock), err);
}

int lifecycle_remove(struct deck *deck, const char *base, bool damaged, struct error *err)
{
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	const struct backend *backend;
	bool was_running;
	if (damaged)
		return remove_damaged(deck, base, err);
	if (lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0 ||
	    lifecycle_stop_locked(deck, lock, instance, backend, &was_running, err) < 0 ||
	    forget_hint(deck, instance->id, err) < 0)
		return -1;
	forget_place(deck, instance->id);
	log_info("removed; conversation %s stays with its agent",
		 instance->conversation.session_id ? instance->conversation.session_id : "none");
	return store_remove(TAKE_PTR(lock), err);
}

int lifecycle_rename(struct deck *deck, const char *base, const char *title, struct error *err)
{
	cleanup_store_profile_lock struct store_profile_lock *names = NULL;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = NULL;
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct backend *backend;
	if (naming_check_title(title, err) < 0 ||
	    lifecycle_open(deck, base, &lock, &instance, &backend, err) < 0)
		return -1;
	int r = store_lock_profile(deck->store, clock_ms() + LOCK_TIMEOUT_MS, &names, err);
	if (r > 0)
		return error_set(err, ERROR_BUSY, "another agentdeck holds the profile's lock: try again");
	if (r < 0 || store_list(deck->store, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < rows.count; i++)
		if (streq(rows.rows[i].title, title) && !streq(rows.rows[i].base, base))
			return error_set(err, ERROR_EXISTS, "there is another session '%s' (%s)", title,
					 rows.rows[i].id);
	replace_string(&instance->title, title);
	return store_save(lock, instance, err);
}

/* What the manifest says now about the run; true: there is nothing to wait for any more. */
static bool judge_wait(const struct instance *now, const struct instance *before, bool reports,
		       int64_t now_ms, enum lifecycle_outcome *ret)
{
	const struct attempt *attempt = run_attempt(&now->run);
	if (!attempt || !streq(or_empty(now->run.id), or_empty(before->run.id))) {
		*ret = OUTCOME_ENDED;
		return true;
	}
	if (attempt->rung == RUNG_SHELL) {
		*ret = OUTCOME_SHELL;
		return true;
	}
	if (now->run.offer) {
		*ret = OUTCOME_OFFERED;
		return true;
	}
	if (now->run.reported) {
		*ret = OUTCOME_REPORTED;
		return true;
	}
	*ret = OUTCOME_ALIVE;
	return !reports && now_ms - now->run.attempt_since_boot_ms >= EARLY_DEATH_MS;
}

int lifecycle_wait(struct deck *deck, struct instance **instance, enum lifecycle_outcome *ret,
		   struct error *err)
{
	cleanup_store_watch struct store_watch *watch = NULL;
	const struct agent *agent;
	if (deck_agent(deck, (*instance)->agent, &agent, err) < 0 ||
	    store_watch_open(deck->store, (*instance)->base, NULL, &watch, err) < 0)
		return -1;
	int64_t deadline = clock_ms() + deck->settings.probation_s * 1000;
	for (;;) {
		cleanup_instance struct instance *now = NULL;
		enum lifecycle_outcome outcome = OUTCOME_ALIVE;
		int r = store_load(deck->store, (*instance)->base, &now, err);
		if (r != 0)
			return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s was removed meanwhile",
						      (*instance)->id);
		/* One that has to say something first may be silent for hours. */
		bool reports = (agent->report.count || agent->report_environment.count) &&
			       agent->report_binds == BINDS_START && now->run.directory &&
			       access(now->run.directory, F_OK) == 0;
		int64_t now_ms = clock_ms();
		bool done = judge_wait(now, *instance, reports, now_ms, &outcome);
		/* A server that was killed leaves nobody to write that down. */
		if (outcome == OUTCOME_ALIVE && now->run.server.pid && !process_alive(&now->run.server)) {
			replace_string(&now->observed.reason, "its tmux server was killed");
			outcome = OUTCOME_ENDED;
			done = true;
		}
		if (done || now_ms >= deadline) {
			instance_free(*instance);
			*instance = TAKE_PTR(now);
			*ret = outcome;
			return 0;
		}
		int64_t next = reports ? deadline : now->run.attempt_since_boot_ms + EARLY_DEATH_MS;
		if (store_watch_wait(watch, next < deadline ? next : deadline, err) < 0)
			return -1;
	}
}
