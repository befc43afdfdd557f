/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/kept.h"

#include "base/clock.h"
#include "engine/deck/hint.h"
#include "engine/hosts/hosts.h"
#include "model/session/instance.h"
#include "model/session/move.h"
#include "model/session/naming.h"

#include <string.h>

#define NOTE "live"

enum {
	ROWS_MOST = 5000,
	ROW_MOST = 2048,  /* bytes: the names have limits of their own */
	TITLE_MOST = 200, /* a byte can become six in JSON */
	TOLD_MOST = 20000,
	LOCK_MS = 2000,
	ASK_MS = 10000
};

/* ---- what a host tells ------------------------------------------------------------------------ */

/* Does an agent have it there? */
enum life { LIFE_OVER, LIFE_OPEN, LIFE_UNKNOWN };

static enum life life_of(const struct json_object *row)
{
	const char *status = json_get_string(row, "status", "");
	const char *move = json_get_string(row, "move", NULL);
	if (move && move_blocks(move_state_parse(move)))
		return LIFE_OVER;
	/* The host only knows that one of its machines had it. */
	if (json_get_string(row, "other_host", NULL) || streq(status, "unknown"))
		return LIFE_UNKNOWN;
	return streq(status, instance_state_words[STATE_STARTING]) ||
			       streq(status, instance_state_words[STATE_RUNNING]) ||
			       streq(status, instance_state_words[STATE_STOPPING])
		       ? LIFE_OPEN
		       : LIFE_OVER;
}

/* The texts of a row become words of command lines here. */
static bool is_usable(const struct json_object *row)
{
	return naming_is_id(json_get_string(row, "id", "")) &&
	       naming_is_session_id(json_get_string(row, "session_id", "")) &&
	       naming_is_agent(json_get_string(row, "agent", "")) &&
	       naming_check_profile(json_get_string(row, "profile", ""), NULL) == 0;
}

static const char *const kept_members[] = { "id", "profile", "agent", "session_id" };

/* Cut where a character begins. */
static char *title_of(const struct json_object *told)
{
	const char *title = json_get_string(told, "title", "");
	size_t length = strnlen(title, TITLE_MOST);
	while (length && ((unsigned char)title[length] & 0xC0) == 0x80)
		length--;
	return xstrndup(title, length);
}

static struct json_object *row_of(const struct kept *kept, const struct json_object *told)
{
	struct json_object *row = json_object_new_object();
	cleanup_free char *title = title_of(told);
	for (size_t i = 0; i < ARRAY_SIZE(kept_members); i++)
		json_set_string(row, kept_members[i], json_get_string(told, kept_members[i], NULL));
	json_set_string(row, "title", title);
	json_set_string(row, "asked", kept->asked);
	return row;
}

static void tell(struct kept *kept, const char *id, struct json_object *row)
{
	if (json_object_object_length(kept->told) < TOLD_MOST) {
		json_object_object_add(kept->told, id, row);
		return;
	}
	/* What is not counted is not gone. */
	kept->scope = KEPT_SOME;
	json_object_put(row);
}

static void hear_session(struct kept *kept, const struct json_object *told)
{
	const char *id = json_get_string(told, "id", "");
	const bool counts = life_of(told) != LIFE_OVER && is_usable(told);
	if (naming_is_id(id))
		tell(kept, id, counts ? row_of(kept, told) : NULL);
}

void kept_hear(struct kept *kept, struct json_object *value)
{
	const char *event = json_get_string(value, "event", "");
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			hear_session(kept, json_object_array_get_idx(value, i));
		return;
	}
	/* A removed session has no status that lives. */
	if (streq(event, "snapshot_complete"))
		kept_complete(kept);
	else
		hear_session(kept, value);
	/* Save now: a follower that is killed later has kept what it heard. */
	if (kept->is_complete)
		kept_save(kept);
}

void kept_complete(struct kept *kept)
{
	kept->is_complete = true;
	json_object_object_foreach(kept->before, id, row) {
		const bool is_meant = kept->scope == KEPT_ALL ||
				      (kept->scope == KEPT_PROFILE &&
				       streq(json_get_string(row, "asked", ""), kept->asked));
		if (is_meant && !json_object_object_get_ex(kept->told, id, NULL))
			tell(kept, id, NULL);
	}
}

/* ---- the file --------------------------------------------------------------------------------- */

static struct json_object *read_rows(const struct deck *deck, const struct remote *remote)
{
	struct json_object *rows = NULL;
	cleanup_free char *text = hosts_noted(deck, remote, NOTE, (size_t)ROWS_MOST * ROW_MOST);
	if (text && json_parse(text, strlen(text), NOTE, &rows, NULL) == 0 &&
	    json_object_is_type(rows, json_type_object))
		return rows;
	json_object_put(rows);
	return json_object_new_object();
}

void kept_begin(const struct deck *deck, const struct remote *remote, enum kept_scope scope,
		const char *asked, struct kept *ret)
{
	*ret = (struct kept){ .deck = deck,
			      .remote = remote,
			      .scope = scope,
			      .asked = scope == KEPT_ALL ? "*" : or_empty(asked),
			      .before = read_rows(deck, remote),
			      .told = json_object_new_object() };
}

/* Returns whether it changes the rows. */
static bool take(struct json_object *rows, const char *id, struct json_object *row)
{
	struct json_object *old = json_get_object(rows, id);
	if (row ? old && json_object_equal(old, row) : !old)
		return false;
	if (row && !old && json_object_object_length(rows) >= ROWS_MOST)
		return false;
	if (row)
		json_object_object_add(rows, id, json_object_get(row));
	else
		json_object_object_del(rows, id);
	return true;
}

void kept_save(struct kept *kept)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	bool is_changed = false;
	if (!json_object_object_length(kept->told) ||
	    hosts_lock_note(kept->deck, kept->remote, NOTE, LOCK_MS, &lock, NULL) != 0)
		return;
	cleanup_json struct json_object *rows = read_rows(kept->deck, kept->remote);
	json_object_object_foreach(kept->told, id, row) {
		is_changed |= take(rows, id, row);
	}
	if (is_changed)
		hosts_note(kept->deck, kept->remote, NOTE,
			   json_object_to_json_string_ext(rows, JSON_C_TO_STRING_PLAIN), &lock);
	json_object_put(kept->told);
	kept->told = json_object_new_object();
}

void kept_end(struct kept *kept)
{
	json_object_put(kept->before);
	json_object_put(kept->told);
	*kept = (struct kept){ 0 };
}

/* ---- what a start asks ------------------------------------------------------------------------ */

static bool is_asked_for(const struct json_object *row, const struct kept_question *question)
{
	return is_usable(row) && streq(json_get_string(row, "agent", ""), question->agent) &&
	       naming_same_session_id(json_get_string(row, "session_id", NULL),
				      question->session_id);
}

enum { KEPT_OVER = 1 };
/* 0: the session lives there, and has the conversation.  KEPT_OVER: not any more.  -1: *err says
 * why that is not known. */
static int judge(const struct json_object *answer, const struct kept_question *question,
		 struct error *err)
{
	const bool is_there = json_get_bool(answer, "success", true);
	if (is_there ? !is_asked_for(answer, question)
		     : streq(json_get_string(answer, "code", ""), error_code_name(ERROR_NOT_FOUND)))
		return KEPT_OVER;
	cleanup_free char *words = visible(json_get_string(answer, "error", "it does not say why"));
	if (!is_there)
		return error_set(err, ERROR_CHILD, "%s", words);
	switch (life_of(answer)) {
	case LIFE_OPEN:
		return 0;
	case LIFE_OVER:
		return KEPT_OVER;
	case LIFE_UNKNOWN:
		break;
	}
	/* Both hosts share a home: the start itself sees what runs the session. */
	return question->id && streq(question->id, json_get_string(answer, "id", ""))
		       ? KEPT_OVER
		       : error_set(err, ERROR_UNKNOWN,
				   "it does not know whether that agent still runs");
}

static int ask(struct link *link, const struct json_object *row,
	       const struct kept_question *question, int64_t deadline_ms, struct error *err)
{
	cleanup_json struct json_object *answer = NULL;
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, (const char *const[]){
					  "-H", REMOTE_HERE, "-p",
					  json_get_string(row, "profile", ""), "session", "show",
					  json_get_string(row, "id", ""), "--json", NULL });
	return hosts_ask_until(link, &words, deadline_ms, &answer, err) < 0
		       ? -1
		       : judge(answer, question, err);
}

static int refuse(const struct remote *remote, const struct json_object *row,
		  const struct kept_question *question, struct error *err)
{
	const char *profile = json_get_string(row, "profile", NULL);
	cleanup_free char *title = visible(json_get_string(row, "title", ""));
	cleanup_free char *there = xasprintf("%s:%s", remote->name, json_get_string(row, "id", ""));
	cleanup_free char *hint = hint_named(streq(profile, DEFAULT_PROFILE) ? NULL : profile,
					     there);
	return error_set(err, ERROR_EXISTS,
			 "conversation %s is open in session '%s' on %s: two agents on one "
			 "conversation would split its history; attach to that one with "
			 "agentdeck attach %s, or stop it first with agentdeck stop %s%s%s",
			 question->session_id, title, remote->name, hint, hint,
			 question->otherwise ? "; if no agent runs there, " : "",
			 or_empty(question->otherwise));
}

static void warn(struct deck *deck, const struct remote *remote, const struct json_object *row,
		 const struct kept_question *question, const char *why)
{
	cleanup_free char *title = visible(json_get_string(row, "title", ""));
	deck_warn(deck,
		  "conversation %s was open in session '%s' on %s, which cannot say now whether it "
		  "is: if that agent still runs, stop one of the two, or the conversation will "
		  "split into two branches; %s",
		  question->session_id, title, remote->name, why);
}

/* A connection to a host, which all its rows share with one deadline: a host can tell many. */
struct asking {
	struct deck *deck;
	const struct remote *remote;
	struct link *link; /* NULL: none was needed yet */
	int64_t deadline_ms;
};

static void asking_end(struct asking *asking)
{
	link_close(asking->link);
}

enum { KEPT_GIVEN_UP = 2 };
/* Returns what judge() does, or KEPT_GIVEN_UP: a signal came. */
static int ask_about(struct asking *asking, const struct json_object *row,
		     const struct kept_question *question, struct error *err)
{
	cleanup_error struct error why = { 0 };
	int r = asking->link ? 0 : hosts_open(asking->deck, asking->remote, &asking->link, &why);
	if (r == 0) {
		if (!asking->deadline_ms)
			asking->deadline_ms = clock_ms() + ASK_MS;
		r = ask(asking->link, row, question, asking->deadline_ms, &why);
	}
	const bool is_given_up = asking->link ? link_is_given_up(asking->link)
					      : why.code == ERROR_INVALID;
	return is_given_up ? KEPT_GIVEN_UP : r < 0 ? error_move(err, &why) : r;
}

static int check_host(struct deck *deck, const struct remote *remote,
		      const struct kept_question *question, struct error *err)
{
	cleanup_json struct json_object *rows = read_rows(deck, remote);
	CLEANUP(asking_end) struct asking asking = { .deck = deck, .remote = remote };
	json_object_object_foreach(rows, id, row) {
		cleanup_error struct error why = { 0 };
		const int r = is_asked_for(row, question) &&
					      streq(json_get_string(row, "id", ""), id)
				      ? ask_about(&asking, row, question, &why)
				      : KEPT_OVER;
		if (r == 0)
			return refuse(remote, row, question, err);
		if (r == KEPT_GIVEN_UP)
			return error_set(err, ERROR_INVALID,
					 "given up while %s was asked whether it has conversation "
					 "%s open: nothing was started",
					 remote->name, question->session_id);
		if (r < 0) {
			warn(deck, remote, row, question, why.message);
			return 0;
		}
	}
	return 0;
}

int kept_check(struct deck *deck, const struct kept_question *question, struct error *err)
{
	const struct remotes *remotes = &deck->settings.hosts;
	cleanup_free char *own = remotes->count ? hosts_identity(deck, NULL) : NULL;
	for (size_t i = 0; i < remotes->count && question->session_id; i++) {
		const struct remote *remote = &remotes->items[i];
		cleanup_free char *identity = hosts_identity(deck, remote);
		/* A host that is this machine has the sessions that were looked at already. */
		const bool is_own = own && identity && streq(own, identity);
		if (!is_own && remote != question->except[0] && remote != question->except[1] &&
		    check_host(deck, remote, question, err) < 0)
			return -1;
	}
	return 0;
}
