/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/screen/recipient.h"

#include "base/clock.h"
#include "base/log.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"

#define SEND_LOCK "send.lock"

void recipient_free(struct recipient *recipient)
{
	instance_free(recipient->instance);
	store_watch_close(recipient->watch);
	free(recipient->session_id);
	*recipient = (struct recipient){ 0 };
}

/* Has the process that we send to ended?  tmux before 3.5 may have missed that (see
 * agentdeck-watch): it is nudged, so that the end is written down. */
static bool agent_has_ended(const struct instance *instance)
{
	const struct place_run run = place_run_of(instance);
	if (!run.pane.pid || place_agent_is_live(&run))
		return false;
	place_nudge(&run);
	return true;
}

bool recipient_refresh(struct recipient *recipient)
{
	cleanup_instance struct instance *now = NULL;
	if (store_load(recipient->deck->store, recipient->base, &now, NULL) != 0 || !now->run.id ||
	    !streq(now->run.id, recipient->instance->run.id))
		return false;
	const struct attempt *attempt = run_attempt(&now->run);
	if (!attempt || attempt->rung == RUNG_SHELL)
		return false;
	recipient->has_ended = agent_has_ended(now);
	recipient->has_reported = now->run.reported;
	replace_string(&recipient->session_id, now->conversation.session_id);
	return true;
}

bool recipient_press(const struct recipient *recipient, const char *key)
{
	cleanup_strvec struct strvec keys = { 0 };
	strvec_push(&keys, key);
	return terminal_press(recipient->socket, &keys, NULL) == 0;
}

int recipient_open(struct recipient *recipient, struct error *err)
{
	const char *base = recipient->base;
	const struct place *place;
	if (deck_load(recipient->deck, base, &recipient->instance, err) < 0)
		return -1;
	const struct instance *instance = recipient->instance;
	const struct attempt *attempt = run_attempt(&instance->run);
	cleanup_free char *title = visible(instance->title);
	if (place_check_here(recipient->deck, instance, err) < 0 ||
	    place_find(instance, &place, err) < 0 ||
	    deck_agent(recipient->deck, instance->agent, &recipient->agent, err) < 0)
		return -1;
	struct observation seen;
	if (instance->run.socket && terminal_check(instance->run.socket, err) < 0)
		return error_prefix(err, "nothing can be sent to %s", title);
	/* Each look is as long as a server may be silent. */
	do
		seen = place->observe(recipient->deck, instance, OBSERVE_ANSWER);
	while (seen.presence == PRESENCE_UNKNOWN && clock_ms() < recipient->patient_until_ms);
	cleanup_free char *hint = hint_session(recipient->deck, instance->title, instance->id);
	if (seen.presence == PRESENCE_NONE || !attempt)
		return error_set(err, ERROR_INVALID,
				 "%s is not running: start it with agentdeck session start %s",
				 title, hint);
	if (seen.presence == PRESENCE_UNKNOWN)
		return error_set(err, ERROR_TIMEOUT, "nothing can be sent to %s: %s", title,
				 seen.why);
	if (attempt->rung == RUNG_SHELL)
		return error_set(
			err, ERROR_INVALID,
			"the agent of %s did not start, and a shell runs instead: start it again "
			"with agentdeck session "
			"restart %s",
			title, hint);
	log_set_instance(instance->id);
	const struct place_run run = place_run_of(instance);
	place_continue(&run);
	/* What is typed there is an answer, and that is a person's. */
	if (instance->run.offer)
		return error_set(err, ERROR_INVALID,
				 "the session asks whether to resume: answer it first with "
				 "agentdeck attach %s",
				 hint);
	recipient->session_id = xstrdup_or_null(instance->conversation.session_id);
	recipient->socket = instance->run.socket;
	return store_watch_open(recipient->deck->store, base, instance->run.directory,
				&recipient->watch, err);
}

int recipient_lock(const struct recipient *recipient, struct fs_lock *ret, struct error *err)
{
	return recipient_lock_run(recipient->instance->run.directory, recipient->patient_until_ms,
				  ret, err);
}

int recipient_lock_run(const char *directory, int64_t until_ms, struct fs_lock *ret,
		       struct error *err)
{
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0)
		return error_set(err, ERROR_INVALID, "the session has just ended");
	return fs_lock_in_turn(fd, SEND_LOCK, until_ms, ret, err);
}
