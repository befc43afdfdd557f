/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deliver.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/tmux.h"
#include "engine/backend.h"
#include "engine/display.h"
#include "engine/runfiles.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#define SEND_LOCK "send.lock"

enum {
	LOOK_MS = 100,          /* between two looks at a screen */
	DIALOG_MS = 700,        /* a dialog this old does not go away by itself */
	IMPATIENT_MS = 600,     /* "at once", for what can only be told by looking twice */
	QUIET_MS = 300,
	BLANK_QUIET_MS = 1500,  /* nothing on the screen yet, or nothing ever */
	UNREPORTED_MS = 10000,  /* an agent that should have reported by now will not */
	HIDDEN_BOX_MS = 2000,   /* a reported agent whose box we do not recognise */
	PASTE_MIN_MS = 100,
	PASTE_SHOWN_MS = 5000,  /* and a second for each MiB */
	PASTE_BUSY_MS = 1000,   /* some agents show nothing while they work */
	SETTLE_MS = 1000,
	SUBMIT_AGAIN_MS = 1500,
	SUBMIT_MORE = 3,
	WEAK_PROOF_MS = 5000,   /* where no report will come there is nothing to wait longer for */
};

struct sending {
	struct deck *deck;
	const struct delivery_request *request;
	const struct agent *agent;
	struct instance *instance;   /* as it is now */
	const char *socket;          /* of the run; the run's id is compared at each refresh */
	char *run_id;
	struct store_watch *watch;
	int64_t deadline_ms;
	bool has_reported, was_busy;
	bool has_ended;              /* its process; a run may have another rung */
	bool is_command;             /* the agent takes such a text for itself and reports no prompt */
	int64_t prompts;             /* before the paste */
	char *session_id;            /* before the paste */
	char *program;               /* in the foreground, before the submit key */
	char *screen;                /* as it was last seen */
	char *box_before, *box_typed, *screen_typed;
	bool is_settled;             /* screen_typed stood still */
	struct delivery_result *result;
};

static const char *const names[DELIVERY_COUNT] = {
	[DELIVERY_SUBMITTED] = "submitted",
	[DELIVERY_TYPED] = "typed",
	[DELIVERY_UNVERIFIED] = "unverified",
	[DELIVERY_NOT_READY] = "not_ready",
	[DELIVERY_FAILED] = "failed",
};

const char *delivery_name(enum delivery delivery)
{
	return names[delivery];
}

void delivery_result_free(struct delivery_result *result)
{
	free(result->reason);
	free(result->session_id);
	*result = (struct delivery_result){ 0 };
}

static void sending_free(struct sending *sending)
{
	instance_free(sending->instance);
	store_watch_close(sending->watch);
	free(sending->run_id);
	free(sending->session_id);
	free(sending->program);
	free(sending->screen);
	free(sending->box_before);
	free(sending->box_typed);
	free(sending->screen_typed);
}
#define cleanup_sending CLEANUP(sending_free)

/* It is decided.  Returns false, for "return decide()" of the steps, which say whether to go on. */
static bool decide(struct sending *sending, enum delivery delivery, const char *reason)
{
	sending->result->delivery = delivery;
	replace_string(&sending->result->reason, reason);
	return false;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Has the process that we send to ended?  tmux before 3.5 may have missed that (see agentdeck-watch):
 * it is nudged, so that the end is written down. */
static bool agent_has_ended(const struct run *run)
{
	if (!run->pane.pid || process_alive(&run->pane))
		return false;
	/* It, or who was to judge of its end. */
	(void)process_signal(&run->server, SIGCHLD, NULL);
	return true;
}

/* Read the manifest anew.  False: the run that we send to is over. */
static bool refresh(struct sending *sending)
{
	cleanup_instance struct instance *now = NULL;
	if (store_load(sending->deck->store, sending->request->base, &now, NULL) != 0 ||
	    !now->run.id || !streq(now->run.id, sending->run_id))
		return false;
	const struct attempt *attempt = run_attempt(&now->run);
	if (!attempt || attempt->rung == RUNG_SHELL)
		return false;
	sending->has_ended = agent_has_ended(&now->run);
	sending->has_reported = now->run.reported;
	/* The socket is borrowed from the first one: a run's does not change. */
	replace_string(&sending->result->session_id, now->conversation.session_id);
	return true;
}

static bool look(struct sending *sending)
{
	char *screen;
	if (tmux_capture(sending->socket, 0, &screen, NULL) != 0)
		return false;
	free(sending->screen);
	sending->screen = screen;
	return true;
}

static enum display_state judge(const struct sending *sending, const char *own_text)
{
	return display_judge(sending->agent, sending->screen, own_text);
}

static enum instance_activity activity_now(const struct sending *sending, int64_t *ret_prompts)
{
	cleanup_activity struct activity activity = { 0 };
	activity_read(sending->instance->run.directory, &activity);
	if (ret_prompts)
		*ret_prompts = activity.prompts;
	return activity.activity;
}

static bool can_report(const struct sending *sending)
{
	cleanup_free char *settings = runfiles_settings(sending->instance);
	return sending->agent->report.count && settings;
}

bool deliver_is_ready(const struct deliver_facts *facts)
{
	if (facts->display == DISPLAY_DIALOG)
		return false;
	if (facts->display == DISPLAY_READY)
		/* Keys before the report of the start have been seen to get lost. */
		return !facts->can_report || facts->has_reported || facts->lived_ms >= UNREPORTED_MS;
	if (facts->can_report && facts->has_reported) {
		/* It waits for the user, and we cannot see for what. */
		if (facts->activity == ACTIVITY_WAITING)
			return false;
		return !facts->has_box_pattern || facts->activity == ACTIVITY_BUSY ||
		       facts->waited_ms >= HIDDEN_BOX_MS;
	}
	if (facts->can_report && facts->lived_ms < UNREPORTED_MS)
		return false;
	return !facts->has_box_pattern &&
	       facts->quiet_ms >= (facts->is_blank ? BLANK_QUIET_MS : QUIET_MS);
}

static const char *why_not_ready(const struct deliver_facts *facts)
{
	if (facts->display == DISPLAY_DIALOG)
		return "the agent asks something that only you should answer";
	if (facts->can_report && !facts->has_reported)
		return "the agent has not reported that it is up";
	if (facts->activity == ACTIVITY_WAITING)
		return "the agent waits for an answer of yours";
	return facts->has_box_pattern ? "the agent shows no input box"
				      : "the agent's screen does not come to rest";
}

static bool wait_ready(struct sending *sending)
{
	const int64_t start = clock_ms();
	const bool patient = sending->request->wait;
	const int64_t deadline =
		patient ? sending->deadline_ms : earlier(sending->deadline_ms, start + IMPATIENT_MS);
	cleanup_free char *last = NULL;
	int64_t same_since = start, dialog_since = 0;
	struct deliver_facts facts = { .can_report = can_report(sending),
				       .has_box_pattern = sending->agent->ready.count };
	for (;;) {
		if (!refresh(sending))
			return decide(sending, DELIVERY_NOT_READY, "the agent ended");
		bool seen = look(sending);
		int64_t now = clock_ms();
		/* A server that is busy, or was stopped for a moment, still gets the message. */
		if (!seen && now < deadline && process_alive(&sending->instance->run.server)) {
			(void)store_watch_wait(sending->watch, earlier(now + LOOK_MS, deadline), NULL);
			continue;
		}
		if (!seen)
			return decide(sending, DELIVERY_NOT_READY, "its tmux server does not answer");
		if (!last || !streq(last, sending->screen))
			same_since = now;
		replace_string(&last, sending->screen);
		facts.display = judge(sending, NULL);
		facts.has_reported = sending->has_reported;
		facts.activity = activity_now(sending, NULL);
		facts.waited_ms = now - start;
		facts.lived_ms = now - sending->instance->run.attempt_since_boot_ms;
		facts.quiet_ms = now - same_since;
		facts.is_blank = strspn(last, " \n") == strlen(last);
		sending->was_busy = facts.activity == ACTIVITY_BUSY;
		if (sending->was_busy && !patient)
			return decide(sending, DELIVERY_NOT_READY, "the agent is in the middle of a turn");
		if (deliver_is_ready(&facts))
			return true;
		if (facts.display != DISPLAY_DIALOG)
			dialog_since = 0;
		else if (!dialog_since)
			dialog_since = now;
		if (now >= deadline || (dialog_since && now - dialog_since >= DIALOG_MS))
			return decide(sending, DELIVERY_NOT_READY, why_not_ready(&facts));
		(void)store_watch_wait(sending->watch, earlier(now + LOOK_MS, deadline), NULL);
	}
}

/* Wait until the text shows, and then until the screen stands still: an agent that has just started
 * loses a key that comes while it still digests a paste. */
static bool wait_shown(struct sending *sending, const char *before)
{
	const int64_t start = clock_ms();
	const int64_t mib = (int64_t)(sending->request->length >> 20);
	const int64_t deadline =
		start + (sending->was_busy ? PASTE_BUSY_MS : PASTE_SHOWN_MS) + 1000 * mib;
	int64_t shown_since = 0;
	cleanup_free char *last = NULL;
	for (;;) {
		(void)poll(NULL, 0, LOOK_MS);
		if (!look(sending))
			return decide(sending, DELIVERY_UNVERIFIED,
				      "its tmux server did not answer after the paste");
		int64_t now = clock_ms();
		if (!shown_since && now - start >= PASTE_MIN_MS && !streq(before, sending->screen))
			shown_since = now;
		sending->is_settled = last && streq(last, sending->screen);
		if (shown_since && (sending->is_settled || now - shown_since >= SETTLE_MS))
			return true;
		if (now >= deadline)
			return true;
		replace_string(&last, sending->screen);
	}
}

static bool paste(struct sending *sending)
{
	const struct delivery_request *request = sending->request;
	cleanup_free char *before = xstrdup(sending->screen);
	cleanup_error struct error err = { 0 };

	sending->box_before = display_box(sending->agent, before);
	(void)activity_now(sending, &sending->prompts);
	replace_string(&sending->session_id, sending->result->session_id);
	int r = tmux_paste(sending->socket, request->text, request->length, &err);
	if (r == TMUX_UNKNOWN)
		return decide(sending, DELIVERY_UNVERIFIED,
			      "its tmux server did not answer to the paste");
	if (r != 0)
		return decide(sending, DELIVERY_FAILED, r < 0 ? err.message : "its tmux server is gone");
	if (!wait_shown(sending, before))
		return false;
	sending->box_typed = display_box(sending->agent, sending->screen);
	sending->screen_typed = xstrdup(sending->screen);
	return true;
}

/* Does the text still stand in the box?  Only a box that we recognise can tell. */
static bool is_still_typed(const struct sending *sending)
{
	cleanup_free char *box = display_box(sending->agent, sending->screen);
	if (!sending->box_typed || !box || !streq(box, sending->box_typed))
		return false;
	return !sending->box_before || !streq(sending->box_before, sending->box_typed);
}

static char *foreground_program(const struct sending *sending)
{
	cleanup_tmux_pane struct tmux_pane pane = { 0 };
	if (tmux_query(sending->socket, &pane, NULL) != 0)
		return NULL;
	return TAKE_PTR(pane.command);
}

/* What became of the text, for an agent that does not report. */
static bool screen_proves(const struct sending *sending)
{
	if (sending->box_typed && (!sending->box_before ||
				   !streq(sending->box_before, sending->box_typed)))
		return !is_still_typed(sending);
	if (sending->is_settled && !streq(sending->screen, sending->screen_typed))
		return true;
	cleanup_free char *program = foreground_program(sending);
	return program && sending->program && !streq(program, sending->program);
}

static bool is_proven(struct sending *sending)
{
	int64_t prompts;
	(void)activity_now(sending, &prompts);
	if (prompts > sending->prompts)
		return true;
	if (sending->has_reported)
		return !streq(or_empty(sending->session_id), or_empty(sending->result->session_id));
	return look(sending) && screen_proves(sending);
}

/* True: nothing is decided, the time is over. */
static bool wait_proof(struct sending *sending, int64_t deadline_ms)
{
	for (;;) {
		if (!refresh(sending) || sending->has_ended) {
			bool asked = sending->is_command || !sending->has_reported;
			return decide(sending, asked ? DELIVERY_SUBMITTED : DELIVERY_UNVERIFIED,
				      asked ? NULL : "the agent ended");
		}
		if (is_proven(sending))
			return decide(sending, DELIVERY_SUBMITTED, NULL);
		int64_t now = clock_ms();
		if (now >= deadline_ms)
			return true;
		(void)store_watch_wait(sending->watch, earlier(now + LOOK_MS, deadline_ms), NULL);
	}
}

static bool press_submit(struct sending *sending)
{
	cleanup_strvec struct strvec keys = { 0 };
	if (!look(sending))
		return decide(sending, DELIVERY_UNVERIFIED,
			      "its tmux server did not answer after the paste");
	/* The key would answer the question. */
	if (judge(sending, sending->request->text) == DISPLAY_DIALOG)
		return decide(sending, DELIVERY_TYPED, "the agent asks something since then");
	if (!sending->program)
		sending->program = foreground_program(sending);
	strvec_push(&keys, sending->agent->submit_key ? sending->agent->submit_key : "Enter");
	if (tmux_send_keys(sending->socket, &keys, NULL) != 0)
		return decide(sending, DELIVERY_TYPED, "its tmux server did not take the submit key");
	return true;
}

static void submit(struct sending *sending)
{
	/* A slow start or a slow paste must not take away the time to see the effect. */
	int64_t start = clock_ms();
	int64_t deadline = sending->deadline_ms;
	if (deadline < start + SUBMIT_AGAIN_MS)
		deadline = start + SUBMIT_AGAIN_MS;
	if (!sending->has_reported || sending->is_command)
		deadline = earlier(deadline, start + WEAK_PROOF_MS);
	for (int more = 0;; more++) {
		if (!press_submit(sending) ||
		    !wait_proof(sending, earlier(deadline, clock_ms() + SUBMIT_AGAIN_MS)))
			return;
		if (more == SUBMIT_MORE || clock_ms() >= deadline || !look(sending) ||
		    !is_still_typed(sending))
			break;
		log_info("send: the text still stands in the input box: submitting it again");
	}
	if (!wait_proof(sending, deadline))
		return;
	if (look(sending) && is_still_typed(sending))
		decide(sending, DELIVERY_TYPED, "the submit key had no effect");
	else if (sending->has_reported && sending->is_command)
		decide(sending, DELIVERY_UNVERIFIED, "agents do not report their own commands");
	else if (sending->was_busy)
		decide(sending, DELIVERY_UNVERIFIED,
		       "the agent is in the middle of a turn and may take it afterwards");
	else
		decide(sending, DELIVERY_UNVERIFIED, sending->has_reported
							     ? "the agent did not report the prompt"
							     : "its screen does not show an effect");
}

/* Load the instance and look whether there is somebody to send to. */
static int open_run(struct sending *sending, struct error *err)
{
	const char *base = sending->request->base;
	const struct backend *backend;
	int r = store_load(sending->deck->store, base, &sending->instance, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "session %s was removed", base);
	const struct instance *instance = sending->instance;
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *title = visible(instance->title);
	if (backend_find(instance, &backend, err) < 0 ||
	    deck_agent(sending->deck, instance->agent, &sending->agent, err) < 0)
		return -1;
	struct observation seen;
	if (instance->run.socket && tmux_check_socket(instance->run.socket, err) < 0)
		return error_prefix(err, "nothing can be sent to %s", title);
	/* Each look is as long as a server may be silent. */
	do
		seen = backend->observe(sending->deck, instance, OBSERVE_ANSWER);
	while (seen.presence == PRESENCE_UNKNOWN && sending->request->wait &&
	       clock_ms() < sending->deadline_ms);
	if (seen.presence == PRESENCE_NONE || !attempt)
		return error_set(err, ERROR_INVALID, "%s is not running: start it with agentdeck session "
				 "start %s", title, instance->id);
	if (seen.presence == PRESENCE_UNKNOWN)
		return error_set(err, ERROR_TIMEOUT, "nothing can be sent to %s: %s", title, seen.why);
	if (attempt->rung == RUNG_SHELL)
		return error_set(err, ERROR_INVALID, "the agent of %s did not start, and a shell "
				 "stands in its place: start it again with agentdeck session "
				 "restart %s", title, instance->id);
	sending->socket = instance->run.socket;
	sending->run_id = xstrdup(instance->run.id);
	sending->result->session_id = xstrdup_or_null(instance->conversation.session_id);
	return store_watch_open(sending->deck->store, base, instance->run.directory, &sending->watch,
				err);
}

/* FS_LOCK_BUSY: another sender has it. */
static int lock_sending(const struct sending *sending, struct fs_lock *ret, struct error *err)
{
	const char *directory = sending->instance->run.directory;
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERROR_INVALID, "%s ended just now", sending->instance->id);
	return fs_lock(fd, SEND_LOCK, sending->request->wait ? sending->deadline_ms : 0, ret, err);
}

int deliver(struct deck *deck, const struct delivery_request *request,
	    struct delivery_result *ret, struct error *err)
{
	cleanup_delivery_result struct delivery_result result = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_sending struct sending sending = {
		.deck = deck,
		.request = request,
		.deadline_ms = clock_ms() + request->timeout_ms,
		.result = &result,
	};
	const char *first = request->text + strspn(request->text, " \t\n");
	sending.is_command = *first == '/' || *first == '!';
	if (open_run(&sending, err) < 0)
		return -1;
	log_set_instance(sending.instance->id);
	/* What is typed there is an answer, and that is a person's. */
	if (sending.instance->run.offer)
		return error_set(err, ERROR_INVALID, "the session asks whether to resume: answer it first with "
				 "agentdeck attach %s", sending.instance->id);
	int r = lock_sending(&sending, &lock, err);
	if (r < 0)
		return -1;
	if (r == FS_LOCK_BUSY)
		decide(&sending, DELIVERY_NOT_READY, "another agentdeck is sending to it");
	else if (wait_ready(&sending) && paste(&sending))
		submit(&sending);
	log_info("send: bytes=%zu delivery=%s%s%s", request->length, delivery_name(result.delivery),
		 result.reason ? " reason=" : "", or_empty(result.reason));
	*ret = result;
	result = (struct delivery_result){ 0 };
	return 0;
}
