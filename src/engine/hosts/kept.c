/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/kept.h"

#include "base/clock.h"
#include "engine/deck/hint.h"
#include "model/session/instance.h"
#include "model/session/move.h"
#include "model/session/naming.h"

#define NOTE "live"

enum { ROWS_MOST = 5000, NOTE_MOST = 4 << 20, TITLE_MOST = 1024, ASK_MS = 10000 };

/* ---- what a host tells ------------------------------------------------------------------------ */

/* As far as the host knows: another one may run it. */
static bool is_live(const struct json_object *row)
{
	const char *status = json_get_string(row, "status", "");
	const char *move = json_get_string(row, "move", NULL);
	return (streq(status, instance_state_words[STATE_STARTING]) ||
		streq(status, instance_state_words[STATE_RUNNING]) ||
		streq(status, instance_state_words[STATE_STOPPING])) &&
	       !json_get_string(row, "other_host", NULL) &&
	       !(move && move_blocks(move_state_parse(move)));
}

/* Its texts become words of command lines here. */
static bool is_usable(const struct json_object *row)
{
	return naming_is_id(json_get_string(row, "id", "")) &&
	       naming_is_session_id(json_get_string(row, "session_id", "")) &&
	       naming_is_agent(json_get_string(row, "agent", "")) &&
	       naming_check_profile(json_get_string(row, "profile", ""), NULL) == 0 &&
	       strlen(json_get_string(row, "title", "")) <= TITLE_MOST;
}

static const char *const kept_members[] = { "id", "profile", "title", "agent", "session_id" };

static struct json_object *row_of(const struct kept *kept, const struct json_object *told)
{
	struct json_object *row = json_object_new_object();
	for (size_t i = 0; i < ARRAY_SIZE(kept_members); i++)
		json_set_string(row, kept_members[i], json_get_string(told, kept_members[i], NULL));
	json_set_string(row, "asked", or_empty(kept->asked));
	return row;
}

static void drop(struct kept *kept, size_t index)
{
	(void)json_object_array_del_idx(kept->rows, index, 1);
	kept->is_changed = true;
}

static void drop_session(struct kept *kept, const char *id)
{
	for (size_t i = json_object_array_length(kept->rows); i-- > 0;)
		if (streq(json_get_string(json_object_array_get_idx(kept->rows, i), "id", ""), id))
			drop(kept, i);
}

/* Most of what is told changes nothing here. */
static bool has_row(const struct kept *kept, struct json_object *row)
{
	for (size_t i = 0; i < json_object_array_length(kept->rows); i++)
		if (json_object_equal(json_object_array_get_idx(kept->rows, i), row))
			return true;
	return false;
}

static void hear_session(struct kept *kept, const struct json_object *told)
{
	const char *id = json_get_string(told, "id", "");
	const bool counts = is_live(told) && is_usable(told);
	cleanup_json struct json_object *row = counts ? row_of(kept, told) : NULL;
	if (!kept->is_complete && kept->heard.count < ROWS_MOST)
		strvec_push(&kept->heard, id);
	if (row && has_row(kept, row))
		return;
	drop_session(kept, id);
	if (!row || json_object_array_length(kept->rows) >= ROWS_MOST)
		return;
	json_object_array_add(kept->rows, TAKE_PTR(row));
	kept->is_changed = true;
}

void kept_hear(struct kept *kept, struct json_object *value)
{
	const char *event = json_get_string(value, "event", "");
	if (json_object_is_type(value, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(value); i++)
			hear_session(kept, json_object_array_get_idx(value, i));
		return;
	}
	if (streq(event, "snapshot_complete"))
		kept_complete(kept);
	else if (streq(event, "removed"))
		drop_session(kept, json_get_string(value, "id", ""));
	else
		hear_session(kept, value);
	/* One that is killed later has kept what it heard. */
	if (kept->is_complete)
		kept_save(kept);
}

void kept_complete(struct kept *kept)
{
	for (size_t i = json_object_array_length(kept->rows); i-- > 0;) {
		const struct json_object *row = json_object_array_get_idx(kept->rows, i);
		if (streq(json_get_string(row, "asked", ""), or_empty(kept->asked)) &&
		    !strvec_contains(&kept->heard, json_get_string(row, "id", "")))
			drop(kept, i);
	}
	strvec_clear(&kept->heard);
	kept->is_complete = true;
}

/* ---- the file --------------------------------------------------------------------------------- */

static struct json_object *read_rows(const struct deck *deck, const struct remote *remote)
{
	struct json_object *rows = NULL;
	cleanup_free char *text = hosts_noted(deck, remote, NOTE, NOTE_MOST);
	if (text && json_parse(text, strlen(text), NOTE, &rows, NULL) == 0 &&
	    json_object_is_type(rows, json_type_array))
		return rows;
	json_object_put(rows);
	return json_object_new_array();
}

void kept_begin(const struct deck *deck, const struct remote *remote, const char *asked,
		struct kept *ret)
{
	*ret = (struct kept){
		.deck = deck, .remote = remote, .asked = asked, .rows = read_rows(deck, remote)
	};
}

void kept_save(struct kept *kept)
{
	if (kept->is_changed)
		hosts_note(kept->deck, kept->remote, NOTE,
			   json_object_to_json_string_ext(kept->rows, JSON_C_TO_STRING_PLAIN));
	kept->is_changed = false;
}

void kept_end(struct kept *kept)
{
	json_object_put(kept->rows);
	strvec_clear(&kept->heard);
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
	if (json_get_bool(answer, "success", true))
		return is_live(answer) && is_asked_for(answer, question) ? 0 : KEPT_OVER;
	if (streq(json_get_string(answer, "code", ""), error_code_name(ERROR_NOT_FOUND)))
		return KEPT_OVER;
	cleanup_free char *words = visible(json_get_string(answer, "error", "it does not say why"));
	return error_set(err, ERROR_CHILD, "%s", words);
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
			 "agentdeck attach %s, or stop it first with agentdeck stop %s",
			 question->session_id, title, remote->name, hint, hint);
}

static void warn(struct deck *deck, const struct remote *remote, const struct json_object *row,
		 const struct kept_question *question, const char *why)
{
	cleanup_free char *title = visible(json_get_string(row, "title", ""));
	deck_warn(deck,
		  "conversation %s was open in session '%s' on %s, which cannot be asked now: if "
		  "that agent still runs, stop one of the two, or the conversation will split into "
		  "two branches; %s",
		  question->session_id, title, remote->name, why);
}

/* All rows of a host share one connection and one deadline: a host can tell many of them. */
static int check_host(struct deck *deck, const struct remote *remote,
		      const struct kept_question *question, struct error *err)
{
	cleanup_json struct json_object *rows = read_rows(deck, remote);
	cleanup_link struct link *link = NULL;
	cleanup_error struct error why = { 0 };
	int64_t deadline_ms = 0;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		const struct json_object *row = json_object_array_get_idx(rows, i);
		if (!is_asked_for(row, question))
			continue;
		int r = link ? 0 : hosts_open(deck, remote, &link, &why);
		deadline_ms = deadline_ms ? deadline_ms : clock_ms() + ASK_MS;
		if (r == 0)
			r = ask(link, row, question, deadline_ms, &why);
		if (r == 0)
			return refuse(remote, row, question, err);
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
		/* Its sessions are those of this machine, which has looked at them. */
		const bool is_own = own && identity && streq(own, identity);
		if (!is_own && remote != question->except[0] && remote != question->except[1] &&
		    check_host(deck, remote, question, err) < 0)
			return -1;
	}
	return 0;
}
