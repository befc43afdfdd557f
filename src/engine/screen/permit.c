/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/permit.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/place/activityfile.h"
#include "engine/screen/recipient.h"
#include "engine/terminal/terminal.h"
#include "model/agent/display.h"

enum {
	LOOK_MS = 100,  /* between two looks at a screen */
	DRAW_MS = 3000, /* an agent reports its question before it draws it, or draws it again */
	GONE_MS = 5000,
	GONE_LOOKS = 2, /* a screen that is drawn at the moment may lack the question */
};

/* Set *err: what cannot be done, and that the agent's own terminal is the way. */
static int refuse(const struct recipient *to, enum error_code code, const char *why,
		  struct error *err)
{
	cleanup_free char *hint = hint_session(to->deck, to->instance->title, to->instance->id);
	return error_set(err, code, "%s: answer it with agentdeck attach %s", why, hint);
}

static bool is_waiting(const struct recipient *to)
{
	struct activity now = { 0 };
	activity_read(to->instance->run.directory, &now);
	/* A look between the report and the drawing may have come to something else first. */
	const enum instance_activity reported = now.is_seen ? now.reported : now.activity;
	const bool is = now.activity == ACTIVITY_WAITING && reported == ACTIVITY_WAITING;
	activity_free(&now);
	return is;
}

/* What the screen shows.  Positive: TERMINAL_NONE or TERMINAL_SILENT. */
static int read_screen(const struct recipient *to, enum permission_form *ret_form,
		       struct permission *ret, struct error *err)
{
	cleanup_free char *styled = NULL;
	const int r = terminal_styled_screen(to->socket, &styled, err);
	if (r == 0)
		*ret_form = permission_read(to->agent, styled, ret);
	return r;
}

/* Likewise, when it is drawn. */
static int await_screen(const struct recipient *to, enum permission_form *ret_form,
			struct permission *ret, struct error *err)
{
	const int64_t deadline = clock_ms() + DRAW_MS;
	for (;;) {
		const int r = read_screen(to, ret_form, ret, err);
		if (r != 0 || *ret_form != PERMISSION_NONE || clock_ms() >= deadline ||
		    (agent_reports(to->agent) && !is_waiting(to)))
			return r;
		(void)store_watch_wait(to->watch, clock_ms() + LOOK_MS, NULL);
	}
}

static int read_question(struct recipient *to, struct permission *ret, struct error *err)
{
	cleanup_free char *title = visible(to->instance->title);
	enum permission_form form = PERMISSION_NONE;
	if (!to->agent->questions.count) {
		cleanup_free char *why = xasprintf(
			"agentdeck does not know how %s asks for a permission", to->agent->name);
		return refuse(to, ERROR_INVALID, why, err);
	}
	if (!recipient_refresh(to) || to->has_ended)
		return error_set(err, ERROR_INVALID, "the agent of %s ended", title);
	if (agent_reports(to->agent) && !is_waiting(to))
		return error_set(err, ERROR_INVALID, "%s does not ask for a permission", title);
	const int r = await_screen(to, &form, ret, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(err, ERROR_TIMEOUT, "the tmux server of %s does not answer",
				 title);
	if (form == PERMISSION_NONE)
		return refuse(to, ERROR_INVALID,
			      "its screen shows no question for a permission that agentdeck knows",
			      err);
	if (form == PERMISSION_CUT)
		return refuse(to, ERROR_INVALID,
			      "the question is longer than its screen, and not all of it can be "
			      "seen",
			      err);
	return 0;
}

static int open_recipient(struct recipient *to, struct deck *deck, const char *base,
			  struct error *err)
{
	*to = (struct recipient){ .deck = deck,
				  .base = base,
				  .patient_until_ms = clock_ms() + GONE_MS };
	return recipient_open(to, err);
}

int permit_look(struct deck *deck, const char *base, struct permission *ret, struct error *err)
{
	cleanup_recipient struct recipient to = { 0 };
	if (open_recipient(&to, deck, base, err) < 0)
		return -1;
	return read_question(&to, ret, err);
}

/* Another agent's question, or another question of this one, must not get the answer. */
static int press_key(struct recipient *to, const struct permit_request *request, struct error *err)
{
	cleanup_permission struct permission now = { 0 };
	cleanup_free char *title = visible(to->instance->title);
	if (read_question(to, &now, err) < 0)
		return -1;
	if (!streq(now.digest, request->digest))
		return error_set(err, ERROR_INVALID,
				 "%s asks another question now: read that one, and answer it",
				 title);
	const char *key = request->answer == PERMIT_DENY ? now.no_key : now.yes_key;
	if (request->answer == PERMIT_APPROVE && request->choice)
		key = strvec_contains(&now.choices, request->choice) ? request->choice : NULL;
	if (!key)
		return error_set(err, ERROR_INVALID,
				 now.choices.count
					 ? "%s asks for one of its choices: name it with --choice"
					 : "%s asks for a permission: omit --choice",
				 title);
	if (!recipient_press(to, key))
		return refuse(to, ERROR_DELIVERY, "its tmux server did not accept the key", err);
	return 0;
}

static bool is_gone(const struct recipient *to, const char *digest)
{
	cleanup_permission struct permission now = { 0 };
	enum permission_form form = PERMISSION_NONE;
	if (agent_reports(to->agent) && !is_waiting(to))
		return true;
	return read_screen(to, &form, &now, NULL) == 0 &&
	       (form != PERMISSION_WHOLE || !streq(now.digest, digest));
}

static int wait_gone(struct recipient *to, const char *digest, struct error *err)
{
	const int64_t deadline = clock_ms() + GONE_MS;
	for (int looks = 0;;) {
		if (!recipient_refresh(to) || to->has_ended)
			return error_set(err, ERROR_DELIVERY,
					 "the key was pressed, and the agent ended");
		looks = is_gone(to, digest) ? looks + 1 : 0;
		if (looks == GONE_LOOKS)
			return 0;
		if (clock_ms() >= deadline)
			return refuse(to, ERROR_DELIVERY,
				      "the key was pressed, and the question is still there", err);
		(void)store_watch_wait(to->watch, clock_ms() + LOOK_MS, NULL);
	}
}

/* Does the screen show a question, of whatever kind? */
static bool shows_question(const struct recipient *to)
{
	cleanup_free char *screen = NULL;
	cleanup_permission struct permission question = { 0 };
	return terminal_screen(to->socket, &screen, NULL) != 0 ||
	       permission_read(to->agent, screen, &question) != PERMISSION_NONE ||
	       display_activity(to->agent, screen) == ACTIVITY_WAITING;
}

/* Many agents report nothing when they have their answer, and would count as waiting for it: for
 * as long as the command runs, or, after a refusal, until the next words.  Unless it has another
 * question, or has reported since. */
static void note_answered(const struct recipient *to, enum permit_answer answer)
{
	const char *directory = to->instance->run.directory;
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (activityfile_lock(directory, &lock, NULL) != 0 || !is_waiting(to) || shows_question(to))
		return;
	activity_read(directory, &now);
	announced_read(directory, &announced);
	now.reported = ACTIVITY_WAITING;
	now.is_suspended = now.asks = false;
	now.activity = answer == PERMIT_APPROVE ? ACTIVITY_BUSY : ACTIVITY_IDLE;
	now.is_seen = answer == PERMIT_APPROVE;
	now.since = clock_wall_us();
	(void)activityfile_write(directory, &now, &announced, NULL);
}

int permit_answer(struct deck *deck, const struct permit_request *request, struct error *err)
{
	cleanup_recipient struct recipient to = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (open_recipient(&to, deck, request->base, err) < 0)
		return -1;
	int r = recipient_lock(&to, &lock, err);
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "another agentdeck is sending to it");
	if (r == 0)
		r = press_key(&to, request, err);
	if (r < 0)
		return -1;
	log_info("permit: answer=%s question=%s",
		 request->answer == PERMIT_APPROVE ? "approve" : "deny", request->digest);
	if (wait_gone(&to, request->digest, err) < 0)
		return -1;
	note_answered(&to, request->answer);
	return 0;
}
