/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/deliver.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/place/activityfile.h"
#include "engine/place/alive.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/screen/recipient.h"
#include "engine/screen/said.h"
#include "engine/terminal/terminal.h"
#include "model/agent/box.h"
#include "model/plan/ready.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <regex.h>
#include <string.h>

enum {
	LOOK_MS = 100, /* between two looks at a screen */
	BOX_DRAWN_MS = 2000,
	PASTE_MIN_MS = 100,
	PASTE_SHOWN_MS = 5000, /* and a second for each MiB */
	PASTE_BUSY_MS = 1000,  /* some agents show nothing while they work */
	PASTE_LATE_MS = 10000, /* more for a box that may still show it: its agent has no time */
	SETTLE_MS = 1000,
	SUBMIT_AGAIN_MS = 1500,
	SUBMIT_MORE = 3,
	/* a text that is still in the box so long after it was taken stays there */
	KEPT_MS = 2000,
	WEAK_PROOF_MS = 5000, /* where no report will come there is nothing to wait longer for */
	/* limits for taking our text out from behind another one: keys, and time */
	TAKE_OUT_MAX = 1000,
	TAKE_OUT_MS = 15000,
};

struct sending {
	struct recipient to;
	const struct delivery_request *request;
	int64_t deadline_ms;
	bool is_command;   /* the agent takes it for itself and reports no prompt */
	const char *shown; /* the part of the text that the box shows */
	struct agent *raw; /* the agent with its box in the mode of the text; NULL: no mode */

	/* as it was last seen */
	bool was_busy;
	struct display_screen screen;
	int64_t same_since; /* the screen is the same */
	char *box;          /* on the screen, with what is in it; NULL: there is none */
	char *paragraphs;   /* display_paragraphs() */
	size_t cleared;     /* keys pressed to empty the box */

	/* before the paste, and before the submit key */
	int64_t prompts;
	char *session_id;
	char *program; /* in the foreground */

	/* after the paste */
	char *box_typed; /* NULL: the box does not show the text */

	struct said_mark seen; /* of the transcript, without the text */
	int64_t proven_ms;     /* when it was; 0: not yet */
	bool is_kept;          /* in the box, after that, and being deleted there */
	struct delivery_result *result;
};

static const char *const names[DELIVERY_COUNT] = {
	[DELIVERY_SUBMITTED] = "submitted",   [DELIVERY_TYPED] = "typed",
	[DELIVERY_UNVERIFIED] = "unverified", [DELIVERY_NOT_READY] = "not_ready",
	[DELIVERY_DRAFT] = "draft",           [DELIVERY_FAILED] = "failed",
};

const char *delivery_name(enum delivery delivery)
{
	return names[delivery];
}

void delivery_result_free(struct delivery_result *result)
{
	free(result->reason);
	free(result->session_id);
	said_mark_free(&result->mark);
	*result = (struct delivery_result){ 0 };
}

static void sending_free(struct sending *sending)
{
	recipient_free(&sending->to);
	free(sending->session_id);
	free(sending->program);
	display_screen_free(&sending->screen);
	free(sending->box);
	free(sending->paragraphs);
	free(sending->box_typed);
	said_mark_free(&sending->seen);
	agent_free(sending->raw);
}
#define cleanup_sending CLEANUP(sending_free)

/* Decide the outcome.  Returns false, for "return decide()" of the steps, which say whether to
 * continue. */
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

static bool look(struct sending *sending)
{
	cleanup_free char *styled = NULL;
	if (terminal_styled_screen(sending->to.socket, &styled, NULL) != 0)
		return false;
	cleanup_display_screen struct display_screen before = sending->screen;
	display_read(styled, &sending->screen);
	if (!before.text || !streq(before.text, sending->screen.text))
		sending->same_since = clock_ms();
	free(sending->box);
	sending->box = sending->to.agent->has_box
			       ? display_input(sending->to.agent, &sending->screen)
			       : display_box(sending->to.agent, sending->screen.text);
	free(sending->paragraphs);
	sending->paragraphs = sending->to.agent->has_box
				      ? display_paragraphs(sending->to.agent, &sending->screen)
				      : NULL;
	return true;
}

static enum display_state judge(const struct sending *sending, const char *own_text)
{
	return display_judge(sending->to.agent, sending->screen.text, own_text);
}

static enum instance_activity activity_now(const struct sending *sending)
{
	cleanup_activity struct activity activity = { 0 };
	activity_read(sending->to.instance->run.directory, &activity);
	return activity.activity;
}

static int64_t prompts_now(const struct sending *sending)
{
	cleanup_announced struct announced announced = { 0 };
	announced_read(sending->to.instance->run.directory, &announced);
	return announced.prompts;
}

/* The next of the keys that delete what is in the box: each may take a character or a line. */
static bool press_clear(struct sending *sending)
{
	const struct strvec *keys = &sending->to.agent->clear_keys;
	return recipient_press(&sending->to, keys->items[sending->cleared++ % keys->count]);
}

static bool empty_box(struct sending *sending)
{
	if (!sending->to.agent->clear_keys.count)
		return decide(
			sending, DELIVERY_DRAFT,
			"the input box contains unsent text, and agentdeck does not know the keys "
			"that delete it");
	if (!press_clear(sending))
		return decide(
			sending, DELIVERY_DRAFT,
			"the input box contains unsent text, and the tmux server did not accept "
			"the keys that delete it");
	return true;
}

static void gather_facts(struct sending *sending, int64_t start, struct ready_facts *ret)
{
	const char *screen = sending->screen.text;
	const int64_t now = clock_ms();
	cleanup_free char *settings = runfiles_settings(sending->to.instance);
	*ret = (struct ready_facts){
		.can_report = sending->to.agent->report.count && settings,
		.has_reported = sending->to.has_reported,
		.activity = activity_now(sending),
		.has_box_pattern = sending->to.agent->ready.count,
		.has_box = sending->to.agent->has_box,
		.has_text = sending->to.agent->has_box && !is_empty(sending->box),
		.display = judge(sending, NULL),
		.waited_ms = now - start,
		.lived_ms = now - sending->to.instance->run.attempt_since_boot_ms,
		.quiet_ms = now - sending->same_since,
		.is_blank = strspn(screen, " \n") == strlen(screen),
	};
	sending->was_busy = ret->activity == ACTIVITY_BUSY;
}

static bool wait_ready(struct sending *sending)
{
	const struct delivery_request *request = sending->request;
	const int64_t start = clock_ms();
	const struct place_run run = place_run_of(sending->to.instance);
	struct ready_wait wait = {
		.is_patient = request->wait,
		.replaces_draft = request->replace_draft,
		.deadline_ms = request->wait
				       ? sending->deadline_ms
				       : earlier(sending->deadline_ms, start + READY_IMPATIENT_MS),
	};
	for (;;) {
		enum ready ready = READY_WAIT;
		struct ready_facts facts;
		const char *why = "its tmux server does not answer";
		if (!recipient_refresh(&sending->to))
			return decide(sending, DELIVERY_NOT_READY, "the agent ended");
		if (look(sending)) {
			gather_facts(sending, start, &facts);
			ready = ready_judge(&wait, &facts, clock_ms(), &why);
		} else if (clock_ms() >= wait.deadline_ms || !place_is_live(&run)) {
			/* An agent that is busy, or was stopped for a moment, still gets the
			 * message. */
			ready = READY_NOT;
		}
		if (ready == READY_NOW)
			return true;
		if (ready == READY_DRAFT || ready == READY_NOT)
			return decide(sending,
				      ready == READY_DRAFT ? DELIVERY_DRAFT : DELIVERY_NOT_READY,
				      why);
		if (ready == READY_EMPTY_BOX && !empty_box(sending))
			return false;
		(void)store_watch_wait(sending->to.watch,
				       earlier(clock_ms() + LOOK_MS, wait.deadline_ms), NULL);
	}
}

/* Compare the box with our text.  *ret_before as for box_compare(). */
static enum box_holds holds(const struct sending *sending, char **ret_before)
{
	const struct agent *agent = sending->to.agent;
	const char *text = sending->request->text;
	if (sending->paragraphs && box_same_text(sending->paragraphs, text))
		return BOX_TEXT;
	const enum box_holds whole = box_compare(agent, sending->box, text, ret_before);
	/* Behind another text the first character of ours opens no mode, and is shown as text.
	 * Else the box shows the text without it. */
	return !sending->raw || whole == BOX_BEHIND || whole == BOX_TEXT
		       ? whole
		       : box_compare(agent, sending->box, sending->shown, ret_before);
}

static bool is_text_in_box(const struct sending *sending)
{
	cleanup_free char *before = NULL;
	return holds(sending, &before) == BOX_TEXT;
}

/* What shows that a paste has come: the box where it is known, else the whole screen. */
static const char *paste_place(const struct sending *sending)
{
	return sending->to.agent->has_box ? sending->box : sending->screen.text;
}

/* What the place of a paste holds.  Where the box is not known, any change may be the text. */
static enum box_holds look_at_paste(const struct sending *sending, const char *before)
{
	cleanup_free char *other = NULL;
	const char *place = paste_place(sending);
	if (sending->to.agent->has_box)
		return holds(sending, &other);
	return place && !streq(before, place) ? BOX_TEXT : BOX_OTHER;
}

/* Wait until the text shows, and then until it is still: an agent that has just started
 * loses a key that comes while it still digests a paste. */
static bool wait_shown(struct sending *sending, const char *before)
{
	const int64_t start = clock_ms();
	const int64_t mib = (int64_t)(sending->request->length >> 20);
	/* Some agents show nothing while they work; a box that is known to be there shows it. */
	const bool is_short = sending->was_busy && !sending->to.agent->has_box;
	const int64_t deadline = start + (is_short ? PASTE_BUSY_MS : PASTE_SHOWN_MS) + 1000 * mib;
	int64_t shown_since = 0;
	cleanup_free char *last = NULL;
	for (;;) {
		/* tmux reports a change of the screen to attached clients only. */
		clock_pause_until(clock_ms() + LOOK_MS);
		if (!look(sending))
			return decide(sending, DELIVERY_UNVERIFIED,
				      "its tmux server did not answer after the paste");
		const int64_t now = clock_ms();
		const char *place = paste_place(sending);
		const enum box_holds found = look_at_paste(sending, before);
		if (!shown_since && now - start >= PASTE_MIN_MS &&
		    (found == BOX_TEXT || found == BOX_BEHIND))
			shown_since = now;
		const bool is_settled = last && place && streq(last, place);
		if (shown_since && (is_settled || now - shown_since >= SETTLE_MS))
			return true;
		/* An agent without time shows the text late, or a part of it, or draws its box. */
		const bool may_come = sending->to.agent->has_box &&
				      (!is_settled || found == BOX_EMPTY || found == BOX_PART ||
				       streq(place, before));
		if (now >= deadline + (may_come ? PASTE_LATE_MS : 0))
			return true;
		replace_string(&last, place);
	}
}

/* Would the agent take the submit key, behind this text, for a part of it? */
static bool is_guarded(const struct sending *sending)
{
	regex_t pattern;
	const struct agent *agent = sending->to.agent;
	if (!agent->guard || !agent->guard_text ||
	    regcomp(&pattern, agent->guard_text, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	bool is_guarded = regexec(&pattern, sending->request->text, 0, NULL, 0) == 0;
	regfree(&pattern);
	return is_guarded;
}

/* How many keys take our text out of the end of the box again; own: as the box shows it.  0: not
 * known. */
static size_t count_keys(const struct sending *sending, const char *own)
{
	/* A placeholder goes with one key. */
	if (*own == BOX_PLACEHOLDER || *own == BOX_PLACEHOLDER_OF_SOME)
		return 1;
	const size_t count = box_key_count(sending->request->text);
	return count <= TAKE_OUT_MAX && !is_guarded(sending) ? count : 0;
}

/* The user has typed a text meanwhile, which is in front of ours: take ours out again, and nothing
 * else.  So no more keys are pressed than ours has characters, and none once the box holds anything
 * but the other text and a beginning of ours. */
static bool take_out(struct sending *sending, const char *before)
{
	const struct agent *agent = sending->to.agent;
	const char *text = sending->request->text;
	const int64_t deadline = clock_ms() + TAKE_OUT_MS;
	const size_t length = strlen(before);
	cleanup_free char *whole = box_condense(agent, sending->box, text);
	const size_t keys = count_keys(sending, whole + length);
	size_t pressed = 0;
	while (keys && clock_ms() < deadline && look(sending) && sending->box) {
		cleanup_free char *now = box_condense(agent, sending->box, text);
		if (!starts_with(now, before) || !starts_with(whole, now))
			break;
		if (pressed == keys && !now[length])
			return decide(sending, DELIVERY_DRAFT,
				      "another text was typed into the input box at the same time, "
				      "and is still there");
		if (pressed == keys)
			clock_pause_until(clock_ms() + LOOK_MS);
		else if (recipient_press(&sending->to, "BSpace"))
			pressed++;
	}
	return decide(sending, DELIVERY_TYPED,
		      "the input box contains another text, too, and agentdeck could not take out "
		      "the message alone");
}

static int paste_text(const struct sending *sending, struct error *err)
{
	const struct delivery_request *request = sending->request;
	if (!is_guarded(sending))
		return terminal_paste(sending->to.socket, request->text, request->length, err);
	cleanup_free char *text = xasprintf("%s%s", request->text, sending->to.agent->guard);
	return terminal_paste(sending->to.socket, text, strlen(text), err);
}

/* The text has been pasted, and its place shows it or had the time to. */
static bool check_box(struct sending *sending)
{
	cleanup_free char *before = NULL;
	const enum box_holds found = holds(sending, &before);
	if (found == BOX_BEHIND)
		return take_out(sending, before);
	if (found != BOX_TEXT)
		return decide(sending, DELIVERY_TYPED,
			      "the input box does not show the message alone: it may contain what "
			      "was typed at the same time");
	return true;
}

/* Unless needs_reply, an unreadable transcript only proves nothing. */
static bool mark(struct sending *sending)
{
	cleanup_error struct error why = { 0 };
	if (said_mark(sending->to.deck, sending->to.instance, &sending->result->mark, &why) == 0 ||
	    !sending->request->needs_reply)
		return true;
	cleanup_free char *reason = xasprintf("its reply could not be found: %s", why.message);
	return decide(sending, DELIVERY_NOT_READY, reason);
}

static bool paste(struct sending *sending)
{
	cleanup_free char *before = xstrdup(or_empty(paste_place(sending)));
	cleanup_free char *box_before = TAKE_PTR(sending->box);
	cleanup_error struct error err = { 0 };
	sending->prompts = prompts_now(sending);
	replace_string(&sending->session_id, sending->to.session_id);
	if (!mark(sending))
		return false;
	if (sending->raw)
		sending->to.agent = sending->raw;
	int r = paste_text(sending, &err);
	if (r == TERMINAL_SILENT)
		return decide(sending, DELIVERY_UNVERIFIED,
			      "its tmux server did not answer to the paste");
	if (r != 0)
		return decide(sending, DELIVERY_FAILED,
			      r < 0 ? err.message : "its tmux server is gone");
	if (!wait_shown(sending, before))
		return false;
	if (sending->to.agent->has_box && !check_box(sending))
		return false;
	if (sending->box && (!box_before || !streq(box_before, sending->box)))
		sending->box_typed = xstrdup(sending->box);
	return true;
}

/* Is the text still in the box, or a beginning of it?  The submit key may have been taken for a
 * part of the text.  Only a box that we recognise can tell. */
static bool is_still_typed(const struct sending *sending)
{
	if (!sending->box_typed || !sending->box)
		return false;
	cleanup_free char *before = NULL;
	const enum box_holds found = holds(sending, &before);
	return streq(sending->box, sending->box_typed) || found == BOX_TEXT || found == BOX_PART;
}

/* A box that cannot be seen at the moment may hold it. */
static bool has_left_box(const struct sending *sending)
{
	return !is_still_typed(sending) && (sending->box || !sending->to.agent->has_box);
}

static char *foreground_program(const struct sending *sending)
{
	cleanup_terminal_state struct terminal_state state = { 0 };
	if (terminal_look(sending->to.socket, &state, NULL) != 0)
		return NULL;
	return TAKE_PTR(state.program);
}

/* Does the screen prove that the agent took the text?  For agents that send no report. */
static bool screen_proves(const struct sending *sending)
{
	if (sending->box_typed)
		return has_left_box(sending);
	cleanup_free char *program = foreground_program(sending);
	return program && sending->program && !streq(program, sending->program);
}

static bool transcript_proves(struct sending *sending)
{
	return !sending->is_command &&
	       said_is_taken(sending->to.deck, sending->to.instance, &sending->result->mark,
			     &sending->seen, sending->request->text);
}

static bool find_proof(struct sending *sending)
{
	if (sending->proven_ms || prompts_now(sending) > sending->prompts)
		return true;
	if (sending->to.has_reported && (sending->session_id || sending->to.session_id) &&
	    !naming_same_session_id(sending->session_id, sending->to.session_id))
		return true;
	if (transcript_proves(sending))
		return true;
	const bool will_report = sending->to.has_reported &&
				 !(sending->is_command && sending->to.agent->has_box);
	return !will_report && look(sending) && screen_proves(sending);
}

/* If the message was taken, see that it does not stay in the box: the next text would be added to
 * it, and both sent.  A slow agent may take a text and keep it in its box as well (claude 2.1.197);
 * after KEPT_MS it is deleted there.  True: nothing is left to do. */
static bool finish_if_taken(struct sending *sending)
{
	if (!find_proof(sending))
		return false;
	const int64_t now = clock_ms();
	if (!sending->proven_ms)
		sending->proven_ms = now;
	if (!sending->to.agent->has_box)
		return true;
	if (!look(sending))
		return false;
	if (sending->box && !*sending->box)
		return true;
	if (!sending->is_kept && has_left_box(sending))
		return true;
	if (sending->box && now - sending->proven_ms >= KEPT_MS &&
	    sending->to.agent->clear_keys.count) {
		if (!sending->is_kept)
			log_info("send: the agent received the text and kept it in its input box: "
				 "deleting it there");
		sending->is_kept = true;
		(void)press_clear(sending);
	}
	return false;
}

/* True: nothing is decided, the time is over. */
static bool wait_proof(struct sending *sending, int64_t deadline_ms)
{
	for (;;) {
		if (!recipient_refresh(&sending->to) || sending->to.has_ended) {
			/* No user watched the end of a queued message (begin): it proves nothing. */
			bool ended_as_meant = sending->is_command || (!sending->to.has_reported &&
								      !sending->request->begin);
			return decide(sending,
				      ended_as_meant ? DELIVERY_SUBMITTED : DELIVERY_UNVERIFIED,
				      ended_as_meant ? NULL : "the agent ended");
		}
		if (finish_if_taken(sending))
			return decide(sending, DELIVERY_SUBMITTED, NULL);
		int64_t now = clock_ms();
		if (now >= deadline_ms)
			return true;
		(void)store_watch_wait(sending->to.watch, earlier(now + LOOK_MS, deadline_ms),
				       NULL);
	}
}

/* Look, until the box is there: a screen that is drawn at the moment may lack it. */
static bool look_for_box(struct sending *sending)
{
	const int64_t deadline = clock_ms() + BOX_DRAWN_MS;
	for (;;) {
		if (!look(sending))
			return false;
		if (!sending->to.agent->has_box || clock_ms() >= deadline ||
		    judge(sending, sending->request->text) != DISPLAY_OTHER)
			return true;
		/* There is no event to wait for, see wait_shown(). */
		clock_pause_until(clock_ms() + LOOK_MS);
	}
}

static bool press_submit(struct sending *sending)
{
	if (!look_for_box(sending))
		return decide(sending, DELIVERY_UNVERIFIED,
			      "its tmux server did not answer after the paste");
	/* The key would answer the question. */
	enum display_state display = judge(sending, sending->request->text);
	if (display == DISPLAY_DIALOG)
		return decide(sending, DELIVERY_TYPED, "the agent has asked something since then");
	if (sending->to.agent->has_box && display != DISPLAY_READY)
		return decide(sending, DELIVERY_TYPED,
			      "the agent has shown no input box since then");
	if (sending->to.agent->has_box && !is_text_in_box(sending))
		return decide(sending, DELIVERY_TYPED, "the text in the input box has changed");
	if (!sending->program)
		sending->program = foreground_program(sending);
	if (!recipient_press(&sending->to, sending->to.agent->submit_key
						   ? sending->to.agent->submit_key
						   : "Enter"))
		return decide(sending, DELIVERY_TYPED,
			      "its tmux server did not accept the submit key");
	return true;
}

static void submit(struct sending *sending)
{
	/* A slow start or a slow paste must not take away the time to see the effect. */
	int64_t start = clock_ms();
	int64_t deadline = sending->deadline_ms;
	if (deadline < start + SUBMIT_AGAIN_MS)
		deadline = start + SUBMIT_AGAIN_MS;
	if (!sending->to.has_reported || sending->is_command)
		deadline = earlier(deadline, start + WEAK_PROOF_MS);
	for (int more = 0;; more++) {
		if (!press_submit(sending) ||
		    !wait_proof(sending, earlier(deadline, clock_ms() + SUBMIT_AGAIN_MS)))
			return;
		if (more == SUBMIT_MORE || sending->proven_ms || clock_ms() >= deadline ||
		    !look(sending) || !is_still_typed(sending))
			break;
		log_info("send: the text is still in the input box: submitting it again");
	}
	if (!wait_proof(sending, deadline))
		return;
	if (sending->proven_ms)
		decide(sending, DELIVERY_SUBMITTED, NULL);
	else if (look(sending) && is_still_typed(sending))
		decide(sending, DELIVERY_TYPED, "the submit key had no effect");
	else if (sending->to.has_reported && sending->is_command)
		decide(sending, DELIVERY_UNVERIFIED, "agents do not report their own commands");
	else if (sending->was_busy)
		decide(sending, DELIVERY_UNVERIFIED,
		       "the agent is in the middle of a turn and may accept it afterwards");
	else
		decide(sending, DELIVERY_UNVERIFIED,
		       sending->to.has_reported ? "the agent did not report the prompt"
						: "its screen shows no effect");
}

int deliver_check_text(const struct agent *agent, const char *text, bool is_raw, struct error *err)
{
	const size_t mode = display_mode_length(agent, text);
	if (!mode || is_raw)
		return 0;
	return error_set(err, ERROR_INVALID,
			 "nothing was sent: to %s, a text that begins with %.*s is no "
			 "message, but for another mode of its input box, such as that of a "
			 "shell: if you mean that, use agentdeck session send --raw",
			 agent->title ? agent->title : agent->name, (int)mode, text);
}

/* Find out how the agent will treat the text. */
static int read_text(struct sending *sending, struct error *err)
{
	const char *text = sending->request->text;
	const struct agent *agent = sending->to.agent;
	const size_t mode = display_mode_length(agent, text);
	sending->shown = text + mode;
	sending->is_command = mode || text[strspn(text, " \t\n")] == '/';
	sending->result->is_command = sending->is_command;
	if (!mode)
		return 0;
	if (deliver_check_text(agent, text, sending->request->is_raw, err) < 0)
		return -1;
	sending->raw = agent_copy(agent);
	strvec_push_all(&sending->raw->ready, &agent->mode);
	return 0;
}

/* For a message that is typed while its user is away.  The intent takes a moment to save: a turn
 * may have begun meanwhile, or the user may type. */
static bool begin(struct sending *sending)
{
	const struct delivery_request *request = sending->request;
	cleanup_error struct error why = { 0 };
	if (!request->begin)
		return true;
	if (request->begin(request->context, &why) != 0)
		return decide(sending, DELIVERY_NOT_READY, why.message);
	if (!look(sending))
		return decide(sending, DELIVERY_NOT_READY, "its tmux server does not answer");
	if (sending->to.agent->has_box && !is_empty(sending->box))
		return decide(sending, DELIVERY_DRAFT, "the input box contains unsent text");
	const enum instance_activity activity = display_activity(sending->to.agent,
								 sending->screen.text);
	return (activity != ACTIVITY_BUSY && activity != ACTIVITY_WAITING) ||
	       decide(sending, DELIVERY_NOT_READY, "its screen shows that it is not idle");
}

int deliver(struct deck *deck, const struct delivery_request *request, struct delivery_result *ret,
	    struct error *err)
{
	cleanup_delivery_result struct delivery_result result = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	const int64_t deadline_ms = clock_ms() + request->timeout_ms;
	cleanup_sending struct sending sending = {
		.to = { .deck = deck,
			.base = request->base,
			.patient_until_ms = request->wait ? deadline_ms : 0 },
		.request = request,
		.deadline_ms = deadline_ms,
		.result = &result,
	};
	if (recipient_open(&sending.to, err) < 0 || read_text(&sending, err) < 0)
		return -1;
	int r = recipient_lock(&sending.to, &lock, err);
	if (r < 0)
		return -1;
	if (r == FS_LOCK_BUSY)
		decide(&sending, DELIVERY_NOT_READY, "another agentdeck is sending to it");
	else if (wait_ready(&sending) && begin(&sending) && paste(&sending))
		submit(&sending);
	log_info("send: bytes=%zu delivery=%s%s%s", request->length, delivery_name(result.delivery),
		 result.reason ? " reason=" : "", or_empty(result.reason));
	result.session_id = TAKE_PTR(sending.to.session_id);
	*ret = result;
	result = (struct delivery_result){ 0 };
	return 0;
}
