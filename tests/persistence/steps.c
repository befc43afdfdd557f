/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/steps.h"

#include "persistence/census.h"

#include <string.h>

#define STATE ".local/state/agentdeck"

static const char *run_directories(void)
{
	return kept("/run/user/%u/agentdeck", machine_uid());
}

const char *const *deck_words(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push(argv, "agentdeck");
	strvec_push_array(argv, words);
	return (const char *const *)argv->items;
}

static const char *read_of_run(const struct session *session, const char *name)
{
	return or_empty(machine_read(kept("%s/%s/%s", run_directories(), session->id, name)));
}

const char *const *report_words(const struct session *session, const char *session_id)
{
	struct strvec *argv = kept_vector();
	const char *report = at_home(kept("report-%s", session_id)),
		   *token = read_of_run(session, "token");
	const char *event = strstr(read_of_run(session, "activity.json"), session_id)
				    ? "UserPromptSubmit"
				    : "SessionStart\",\"source\":\"clear";
	ASSERT(*token, "the run of %s has no token", session->id);
	machine_write(report, 0600,
		      kept("{\"hook_event_name\":\"%s\",\"session_id\":\"%s\",\"cwd\":\"%s\"}",
			   event, session_id, session->directory));
	strvec_push_array(argv, WORDS("env", kept("AGENTDECK_REPORT_TOKEN=%s", token), "sh", "-c",
				      "exec agentdeck hook --instance \"$0\" <\"$1\"", session->id,
				      report));
	return (const char *const *)argv->items;
}

void assert_resumed(struct session *session, const char *session_id, const char *where)
{
	(void)session_look(session);
	ASSERT(streq(session->status, "running"), "%s: status %s", where, session->status);
	ASSERT(streq(or_empty(session->session_id), session_id), "%s: the id became %s", where,
	       or_empty(session->session_id));
	assert_flag(session, "--resume", session_id);
	assert_isolated(session);
	assert_census(1, where);
}

const char *assert_manifest(const struct session *session, const char *session_id,
			    const char *other, const char *where)
{
	const char *path = at_home(kept(STATE "/default/%s/instance.json", session->id));
	const char *text = or_empty(machine_read(path));
	struct json_object *object = NULL;
	ASSERT(json_parse(text, strlen(text), "manifest", &object, NULL) == 0,
	       "%s: the manifest is torn:\n%s", where, text);
	keep_json(object);
	ASSERT(streq(json_get_string(object, "id", ""), session->id), "%s: another's manifest:\n%s",
	       where, text);
	const char *now = json_get_string(json_get_object(object, "conversation"), "session_id",
					  "");
	ASSERT(streq(now, session_id) || (other && streq(now, other)),
	       "%s: the conversation became '%s'", where, now);
	return now;
}

void session_make_running(struct session *session)
{
	*session = (struct session){ .title = "deck", .directory = at_home("deck") };
	machine_make_directory(session->directory);
	struct reply reply = deck_look(
		WORDS("add", session->directory, "-t", "deck", "--agent", "demo", "--json"));
	ASSERT(reply.status == 0, "add: %s%s", reply.errors, reply.output);
	session->id = json_get_string(reply.json, "id", "");
	reply = deck_look(WORDS("session", "start", session->id));
	ASSERT(reply.status == 0, "start: %s%s", reply.errors, reply.output);
	(void)session_look(session);
}

/* Returns NULL if the files changed while it looked. */
static const char *find(const char *const *tests)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("find", at_home(STATE), run_directories()));
	strvec_push_array(argv, tests);
	struct answer answer = machine_root((const char *const *)argv->items);
	return answer.status == 0 ? answer.output : NULL;
}

/* A report of the agent may be in progress. */
static void assert_nothing_is_found(const char *const *tests, const char *where)
{
	const char *left = "";
	WAIT_FOR((left = find(tests)) && !*left, "%s: left for good:\n%s", where, or_empty(left));
}

void assert_no_remnants(const char *where)
{
	assert_nothing_is_found(WORDS("-name", ".tmp-*", "-o", "-name", ".new-*", "-o", "-name",
				      ".removed-*"),
				where);
}

void assert_forgotten(const char *id, const char *where)
{
	assert_nothing_is_found(WORDS("-name", kept("*%s*", id), "-not", "-path", "*/.trash/*"),
				where);
	struct reply reply = deck_look(WORDS("session", "show", id));
	ASSERT(reply.status == 2, "%s: it is still there: %s", where, reply.output);
}
