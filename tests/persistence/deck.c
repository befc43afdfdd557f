/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/deck.h"

#include "persistence/strace.h"

#include <signal.h>
#include <string.h>

#include <uuid/uuid.h>

static const char *const *agentdeck(const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push(argv, "agentdeck");
	strvec_push_array(argv, words);
	return (const char *const *)argv->items;
}

static void json_free(void *object)
{
	json_object_put(object);
}

void keep_json(struct json_object *object)
{
	keep_with(object, json_free);
}

static struct reply reply_of(struct answer answer)
{
	struct reply reply = { .status = answer.status,
			       .output = answer.output,
			       .errors = answer.errors };
	size_t length = strlen(answer.output);
	if (length && strchr("{[", *answer.output) &&
	    json_parse(answer.output, length, "output", &reply.json, NULL) == 0)
		keep_json(reply.json);
	return reply;
}

struct reply deck(struct login *login, const char *const *words)
{
	words = agentdeck(words);
	return reply_of(login ? login_run(login, words) : machine_login(words));
}

struct reply deck_look(const char *const *words)
{
	return reply_of(machine_user(agentdeck(words)));
}

static struct json_object *insist(struct reply reply, const char *const *words)
{
	cleanup_free char *shown = visible_argv((char *const *)words);
	ASSERT(reply.status == 0 && reply.json, "agentdeck %s ended with %d: %s%s", shown,
	       reply.status, reply.errors, reply.output);
	return reply.json;
}

struct json_object *deck_ok(struct login *login, const char *const *words)
{
	return insist(deck(login, words), words);
}

struct json_object *deck_look_ok(const char *const *words)
{
	return insist(deck_look(words), words);
}

/* ---- sessions ---------------------------------------------------------------------------- */

static bool names_agent(const struct strvec *argv)
{
	return strvec_contains(argv, "--agent") || strvec_contains(argv, "-c");
}

void session_add(struct session *session, struct login *login, const char *title,
		 const char *const *words)
{
	struct strvec *argv = kept_vector();
	*session = (struct session){ .title = title, .directory = at_home(title) };
	machine_make_directory(session->directory);
	strvec_push_array(argv, WORDS("add", session->directory, "-t", title, "--json"));
	if (words)
		strvec_push_array(argv, words);
	if (!names_agent(argv))
		strvec_push_array(argv, WORDS("--agent", "demo"));
	const char *const *items = (const char *const *)argv->items;
	struct json_object *object = login ? deck_ok(login, items) : deck_look_ok(items);
	session->id = json_get_string(object, "id", NULL);
	ASSERT(session->id, "add gives no id");
	(void)session_look(session);
}

static void act(struct session *session, struct login *login, const char *verb)
{
	struct json_object *object = deck_ok(login, WORDS("session", verb, session->id, "--json"));
	ASSERT(json_get_bool(object, "success", false), "session %s: %s", verb, json_print(object));
	(void)session_look(session);
}

void session_start(struct session *session, struct login *login)
{
	act(session, login, "start");
	ASSERT(streq(session->status, "running"), "status %s after start", session->status);
}

void session_restart(struct session *session, struct login *login)
{
	act(session, login, "restart");
	ASSERT(streq(session->status, "running"), "status %s after restart", session->status);
}

void session_stop(struct session *session, struct login *login)
{
	act(session, login, "stop");
	ASSERT(streq(session->status, "stopped"), "status %s after stop", session->status);
}

struct json_object *session_look(struct session *session)
{
	const char *const words[] = { "session", "show", session->id, "--json", NULL };
	struct json_object *object = deck_look_ok(words);
	struct json_object *tmux = json_get_object(object, "tmux");
	session->session_id = json_get_string(object, "session_id", NULL);
	session->status = json_get_string(object, "status", "");
	session->socket = json_get_string(tmux, "socket", NULL);
	session->server_pid = (pid_t)json_get_int(tmux, "server_pid", 0);
	session->agent_pid = (pid_t)json_get_int(object, "agent_pid", 0);
	return object;
}

static const char *manifest_of(const struct session *session)
{
	return at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id));
}

struct json_object *session_manifest(const struct session *session)
{
	const char *text = or_empty(machine_read(manifest_of(session)));
	struct json_object *manifest = NULL;
	if (json_parse(text, strlen(text), session->id, &manifest, NULL) < 0)
		fail_test("the manifest of %s is no JSON: %s", session->title, text);
	keep_json(manifest);
	return manifest;
}

void session_forge(const struct session *session, struct json_object *manifest)
{
	machine_write(manifest_of(session), 0600, json_print(manifest));
}

void session_forge_id(struct session *session, const char *session_id)
{
	struct json_object *manifest = session_manifest(session);
	json_set_string(json_get_object(manifest, "conversation"), "session_id", session_id);
	session_forge(session, manifest);
	(void)session_look(session);
}

struct process session_server(const struct session *session)
{
	struct process process = machine_process(session->server_pid);
	ASSERT(process.pid, "%s has no tmux server", session->title);
	return process;
}

struct process session_agent(const struct session *session)
{
	struct process process = machine_process(session->agent_pid);
	ASSERT(process.pid, "%s has no agent", session->title);
	return process;
}

void session_kill_server(struct session *session)
{
	(void)session_look(session);
	struct process server = session_server(session);
	const struct strvec *argv = machine_argv(server.pid);
	ASSERT(argv->count && starts_with(argv->items[0], "tmux"), "process %d is no tmux server",
	       (int)server.pid);
	machine_destroy(&server);
}

struct process session_occupy(const struct session *session)
{
	const char *directory = at_home(kept(".local/state/agentdeck/default/%s", session->id));
	strace_required();
	struct process writer = machine_background(
		WORDS("strace", "-qq", "-o", "/dev/null", "-e", "trace=renameat", "-e",
		      "inject=renameat:delay_enter=100s", "agentdeck", "session", "set",
		      session->id, "resume", "default"),
		at_home("set.out"));
	WAIT_FOR(*machine_user_ok(WORDS("find", directory, "-name", ".tmp-*")),
		 "session set does not write: %s", or_empty(machine_read(at_home("set.out"))));
	return writer;
}

/* ---- screen and keys --------------------------------------------------------------------- */

static struct answer tmux(const struct session *session, const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("tmux", "-S", or_empty(session->socket)));
	strvec_push_array(argv, words);
	return machine_user((const char *const *)argv->items);
}

const char *session_screen(const struct session *session)
{
	struct answer answer = tmux(session, WORDS("capture-pane", "-p", "-J", "-S", "-"));
	return answer.status == 0 ? answer.output : NULL;
}

const char *session_say_due(const struct session *session)
{
	struct reply reply = deck_look(WORDS("revive", "--due", session->id));
	ASSERT(reply.json, "revive --due: %s%s", reply.errors, reply.output);
	return json_get_string(reply.json, "due", "?");
}

void assert_due(const struct session *session, const char *expected, const char *where)
{
	const char *due = session_say_due(session);
	ASSERT(streq(due, expected), "%s: %s, not %s\n%s\n%s", where, due, expected,
	       or_empty(session_screen(session)), or_empty(deck_log()));
}

bool session_shows(const struct session *session, const char *text)
{
	const char *screen = session_screen(session);
	return screen && strstr(screen, text);
}

void session_type(const struct session *session, const char *text)
{
	WAIT_FOR(session_shows(session, "❯"), "the agent shows no prompt:\n%s",
		 or_empty(session_screen(session)));
	struct answer answer = tmux(session, WORDS("send-keys", "-l", "--", text));
	ASSERT(answer.status == 0, "tmux takes no keys: %s", answer.errors);
	WAIT_FOR(session_shows(session, text), "'%s' does not appear on the screen:\n%s", text,
		 or_empty(session_screen(session)));
}

void session_press(const struct session *session, const char *key)
{
	struct answer answer = tmux(session, WORDS("send-keys", "--", key));
	ASSERT(answer.status == 0, "tmux takes no keys: %s", answer.errors);
}

void session_say(const struct session *session, const char *text)
{
	const char *echo = kept("You said: \"%s\"", text);
	session_type(session, text);
	session_press(session, "Enter");
	WAIT_FOR(session_shows(session, echo), "no reply to '%s':\n%s", text,
		 or_empty(session_screen(session)));
}

/* ---- what must hold ---------------------------------------------------------------------- */

/* In the process of the agent, agentdeck pane runs first. */
static bool is_prepared(const struct strvec *argv)
{
	return argv->count &&
	       !(ends_with(argv->items[0], "/agentdeck") && strvec_contains(argv, "pane"));
}

static const struct strvec *agent_argv(const struct session *session)
{
	const struct strvec *argv;
	WAIT_FOR(is_prepared(argv = machine_argv(session_agent(session).pid)),
		 "the agent of %s does not begin", session->id);
	return argv;
}

void assert_flag(const struct session *session, const char *flag, const char *value)
{
	const struct strvec *argv = agent_argv(session);
	cleanup_free char *shown = visible_argv(strvec_argv(argv));
	for (size_t i = 0; i + 1 < argv->count; i++)
		if (streq(argv->items[i], flag) && streq(argv->items[i + 1], value))
			return;
	fail_test("the agent was not started with %s %s: %s", flag, value, shown);
}

void assert_no_flag(const struct session *session, const char *flag)
{
	const struct strvec *argv = agent_argv(session);
	cleanup_free char *shown = visible_argv(strvec_argv(argv));
	ASSERT(!strvec_contains(argv, flag), "the agent was started with %s: %s", flag, shown);
}

void assert_isolated(const struct session *session)
{
	const char *manager = kept("/user@%u.service/", machine_uid());
	const char *unit = kept("/agentdeck.slice/agentdeck-%s.slice/agentdeck-tmux-%s.scope",
				session->id, session->id);
	const pid_t pids[] = { session_server(session).pid, session_agent(session).pid };
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		const char *cgroup = machine_cgroup(pids[i]);
		ASSERT(strstr(cgroup, manager) && ends_with(cgroup, unit), "process %d is in %s",
		       (int)pids[i], cgroup);
	}
}

void assert_came_back(struct session *session, const char *session_id, const char *first,
		      unsigned before)
{
	(void)session_look(session);
	ASSERT(streq(session->status, "running"), "status %s", session->status);
	ASSERT(streq(or_empty(session->session_id), session_id), "conversation %s became %s",
	       session_id, or_empty(session->session_id));
	assert_flag(session, "--resume", session_id);
	assert_no_flag(session, "--session-id");
	const char *said = kept("> %s", first);
	WAIT_FOR(session_shows(session, said), "'%s' did not come back on the screen:\n%s", said,
		 or_empty(session_screen(session)));
	const char *memory = kept("I remember %u of your messages; the first was \"%s\".",
				  before + 1, first);
	session_say(session, kept("turn %u", before + 1));
	ASSERT(session_shows(session, memory), "the agent does not say '%s':\n%s", memory,
	       session_screen(session));
}

const char *deck_log(void)
{
	return machine_read(at_home(".local/state/agentdeck/logs/agentdeck.log"));
}

void assert_logged(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cleanup_free char *text = NULL;
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	ASSERT(strstr(or_empty(deck_log()), text), "the log does not have '%s'", text);
}

void assert_not_logged(const char *text)
{
	const char *line = strstr(or_empty(deck_log()), text);
	ASSERT(!line, "the log has '%.*s'", (int)strcspn(line, "\n"), line);
}

/* ---- claude's stand-in ------------------------------------------------------------------- */

void install_claude_stand_in(void)
{
	machine_write(at_home("bin/claude"), 0755,
		      "#!/bin/sh\n"
		      "export AGENTDECK_DEMO_CONFIG_DIR=\"${CLAUDE_CONFIG_DIR:-$HOME/.claude}\"\n"
		      "exec agentdeck-demo-agent \"$@\"\n");
}

const char *claude_transcript(const struct session *session, const char *session_id)
{
	char *slug = keep(xstrdup(session->directory));
	for (char *c = slug; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *c))
			*c = '-';
	return at_home(kept(".claude/projects/%s/%s.jsonl", slug, session_id));
}

static void write_turn(const char *path, const char *directory, const char *session_id,
		       const char *text)
{
	machine_write(path, 0600,
		      kept("{\"parentUuid\":null,\"isSidechain\":false,\"cwd\":\"%s\","
			   "\"sessionId\":\"%s\","
			   "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"%s\"},"
			   "\"uuid\":\"%s\",\"timestamp\":\"2026-04-14T09:08:01.000Z\"}\n",
			   directory, session_id, text, new_uuid()));
}

const char *write_transcript(const struct session *session, const char *session_id,
			     const char *text)
{
	const char *path = claude_transcript(session, session_id);
	write_turn(path, session->directory, session_id, text);
	return path;
}

void write_decoy(struct session *session)
{
	enum { LATER_S = 3600 };
	const char *own = json_get_string(session_look(session), "transcript_path", NULL);
	ASSERT(own && machine_exists(own), "no transcript %s", or_empty(own));
	const char *id = new_uuid();
	const char *path = kept("%.*s/%s.jsonl", (int)(strrchr(own, '/') - own), own, id);
	write_turn(path, session->directory, id, "a decoy");
	machine_set_time(path, clock_wall_us() / 1000000 + LATER_S);
}

const char *new_uuid(void)
{
	uuid_t uuid;
	char *text = keep(xcalloc(1, UUID_STR_LEN));
	uuid_generate_random(uuid);
	uuid_unparse_lower(uuid, text);
	return text;
}

void deck_clear(void)
{
	if (!home())
		return;
	struct reply list = deck_look(WORDS("list", "--json"));
	size_t count = json_object_is_type(list.json, json_type_array)
			       ? json_object_array_length(list.json)
			       : 0;
	for (size_t i = 0; i < count; i++) {
		const char *id = json_get_string(json_object_array_get_idx(list.json, i), "id", "");
		struct reply reply = deck_look(WORDS("remove", "--force", id));
		if (reply.status != 0)
			print_error("remove %s: %s%s\n", id, reply.errors, reply.output);
	}
}
