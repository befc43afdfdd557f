/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a repository, an agent and a text can do to a user who looks at them: escape sequences,
 * formats, reports from others, programs in the way.  And where a secret of the environment must
 * not appear. docs/security.md has the promises.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "mind the gap"
/* Sequences for the window title, the clipboard and colours; C1's CSI; DEL; right-to-left
 * overrides; and a new line. */
#define HOSTILE                                              \
	"\033]0;owned\a\033]52;c;b3duZWQ=\a\033[31m\xc2\x9b" \
	"32m\x7f\xe2\x80\xae"                                \
	"x\xe2\x81\xa6\r\ny\t"
/* The same for JSON and printf(1). */
#define HOSTILE_JSON \
	"\\u001b]0;owned\\u0007\\u001b]52;c;b3duZWQ=\\u0007\\u009b32m\\u007f\\u202ex\\u2066\\r\\ny\\t"

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
}

/* ---- texts on terminals ------------------------------------------------------------------- */

/* The first bytes that a terminal obeys, or that change the order of what it shows; NULL: none. */
static const char *find_obeyed(const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if ((*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f ||
		    (*s == 0xc2 && s[1] < 0xa0) || text_reorders((const char *)s))
			return (const char *)s;
	return is_utf8(text, strlen(text)) ? NULL : text;
}

static void assert_obeys_nothing(const char *what, const char *text)
{
	const char *found = find_obeyed(text);
	ASSERT(!found, "%s: a terminal would obey byte %zu of: %s", what, (size_t)(found - text),
	       (const char *)keep(visible(text)));
}

/* The command's output, which must contain part of the text. */
static struct reply look_at(const char *part, const char *const *words)
{
	struct reply reply = deck_look(words);
	const char *what = keep(visible_argv((char *const *)words));
	assert_obeys_nothing(what, reply.output);
	assert_obeys_nothing(what, reply.errors);
	ASSERT(strstr(reply.output, part) || strstr(reply.errors, part),
	       "%s does not have \"%s\": %s%s", what, part, reply.output, reply.errors);
	return reply;
}

static void look_at_all(const char *id, const char *part)
{
	look_at(part, WORDS("list"));
	look_at(part, WORDS("session", "show", id));
	look_at("", WORDS("top"));
	look_at("", WORDS("top", "--json"));
	look_at("", WORDS("status"));
	look_at("", WORDS("logs"));
	look_at("", WORDS("doctor"));
	look_at("", WORDS("doctor", "--json"));
	look_at("", WORDS("recover", "--dry-run"));
	look_at("", WORDS("agents", "list"));
	look_at("", WORDS("agents", "check"));
	ASSERT(look_at(part, WORDS("list", "--json")).json, "list --json is no JSON");
	ASSERT(look_at(part, WORDS("session", "show", id, "--json")).json,
	       "session show --json is no JSON");
}

TEST(HostileTitlesAndPlacesMoveNoTerminal)
{
	const char *directory = at_home(HOSTILE), *title = "gpj.\xe2\x80\xae"
							   "exe";
	struct reply refused = look_at("invalid title",
				       WORDS("add", home(), "-t", HOSTILE, "--agent", "demo"));
	ASSERT(refused.status == 64, "status %d", refused.status);
	look_at("", WORDS("add", at_home("no" HOSTILE), "-t", "nowhere", "--agent", "demo"));
	look_at("", WORDS("session", "show", HOSTILE));
	look_at("", WORDS(HOSTILE));
	look_at("", WORDS("list", "--" HOSTILE));
	look_at("", WORDS("--profile", HOSTILE, "list"));
	look_at("", WORDS("add", home(), "-t", "nobody", "--agent", HOSTILE));
	machine_write(at_home(".config/agentdeck/agents/" HOSTILE ".toml"), 0644,
		      "nonsense = \"" HOSTILE_JSON "\"\n");
	machine_make_directory(directory);
	struct reply added = deck_look(WORDS("add", directory, "-t", title, "-g",
					     "a\xe2\x80\xae"
					     "b",
					     "--agent", "demo", "--json"));
	ASSERT(added.status == 0 && added.json, "add: %s%s", added.errors, added.output);
	const char *id = json_get_string(added.json, "id", "");
	look_at_all(id, "gpj");
	look_at("gpj", WORDS("session", "start", id));
	look_at_all(id, "gpj");
	/* It is escaped, not changed. */
	struct json_object *list = deck_look(WORDS("list", "--json")).json;
	struct json_object *row = json_object_array_get_idx(list, 0);
	ASSERT(streq(json_get_string(row, "title", ""), title) &&
		       streq(json_get_string(row, "path", ""), directory),
	       "it became %s", json_print(list));
	/* A lost server and a missing directory: messages with the names in them. */
	machine_root_ok(WORDS("pkill", "-KILL", "-u", machine_user_name(), "-x", "tmux: server"));
	look_at_all(id, "gpj");
	machine_user_ok(WORDS("rm", "-r", directory));
	look_at("owned", WORDS("session", "start", id));
	look_at("gpj", WORDS("remove", "--force", id));
}

TEST(HostileAgentMovesNoTerminal)
{
	struct session session, ended;
	begin(&session, "deck");
	const char *transcript = json_get_string(session_look(&session), "transcript_path", NULL);
	ASSERT(transcript, "it has no transcript");
	/* What its model wrote, what it prints, and what it writes into files that agentdeck
	 * reads. */
	machine_user_ok(
		WORDS("sh", "-c", "printf '%s\\n' \"$2\" >>\"$1\"", "sh", transcript,
		      "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":"
		      "[{\"type\":\"text\",\"text\":\"said " HOSTILE_JSON "\"}]}}"));
	look_at("said", WORDS("session", "output", session.id));
	ASSERT(look_at("said", WORDS("session", "output", session.id, "--json")).json,
	       "that is no JSON");
	machine_user_ok(WORDS("sh", "-c", "printf '%s\\n' \"$2\" >>\"$1\"", "sh",
			      at_home(".local/state/agentdeck/logs/agentdeck.log"),
			      "forged " HOSTILE));
	look_at("forged", WORDS("logs"));
	machine_write(at_home("hostile"), 0644, "printed " HOSTILE "\n");
	session_add(&ended, NULL, "ended",
		    WORDS("-c", kept("sh -c \"cat %s; exit 3\"", at_home("hostile"))));
	look_at("printed", WORDS("session", "start", ended.id));
	look_at("printed", WORDS("session", "show", ended.id));
	ASSERT(look_at("printed", WORDS("session", "show", ended.id, "--json")).json,
	       "that is no JSON");
	look_at_all(ended.id, "ended");
	session_add(&ended, NULL, "lasting",
		    WORDS("-c", kept("sh -c \"cat %s; sleep 3600\"", at_home("hostile"))));
	session_start(&ended, NULL);
	WAIT_FOR(session_shows(&ended, "printed"), "it prints nothing");
	look_at("printed", WORDS("session", "output", "--pane", ended.id));
	ASSERT(look_at("printed", WORDS("session", "output", "--pane", ended.id, "--json")).json,
	       "that is no JSON");
	look_at("", WORDS("session", "stop", ended.id));
}

TEST(EventsAndNotificationsMoveNoTerminal)
{
	const char *told = at_home("told"), *events = at_home("events"),
		   *json = at_home("events.json");
	const char *title = "gpj.\xe2\x80\xae"
			    "exe";
	machine_write(
		at_home(".config/agentdeck/config.toml"), 0644,
		kept("[notify]\ncommand = [\"/bin/sh\", \"-c\", \"cat >>%s\"]\non = [\"error\"]\n",
		     told));
	struct session session = { .title = title, .directory = home() };
	session.id = json_get_string(deck_ok(NULL, WORDS("add", home(), "-t", title, "--agent",
							 "demo", "--json", "--restart", "no")),
				     "id", "");
	session_start(&session, NULL);
	(void)machine_background(WORDS("agentdeck", "supervise"), at_home("supervise.out"));
	WAIT_FOR(strstr(or_empty(deck_log()), "supervising "), "no supervisor");
	(void)machine_background(WORDS("agentdeck", "events"), events);
	(void)machine_background(WORDS("agentdeck", "events", "--json"), json);
	/* Nothing shows when the listeners are ready, so cause events until both have printed
	 * one. */
	WAIT_FOR((deck_look(WORDS("session", "restart", session.id)),
		  strstr(or_empty(machine_read(events)), "gpj")) &&
			 strstr(or_empty(machine_read(json)), "gpj"),
		 "no event comes: %s", or_empty(deck_log()));
	(void)session_look(&session);
	session_kill_server(&session);
	WAIT_FOR(ends_with(or_empty(machine_read(told)), "\n"), "no notification comes: %s",
		 or_empty(deck_log()));
	assert_obeys_nothing("events", machine_read(events));
	assert_obeys_nothing("events --json", machine_read(json));
	struct json_object *object = NULL;
	const char *text = machine_read(told);
	assert_obeys_nothing("the notification", text);
	ASSERT(json_parse(text, strlen(text), "it", &object, NULL) == 0, "it is no JSON: %s", text);
	keep_json(object);
	ASSERT(streq(json_get_string(object, "title", ""), title), "it is about %s",
	       json_print(object));
}

/* A title that tmux would obey, if it read it as a format or a command. */
static const char *title_to_obey(void)
{
	return kept("#(touch %s) #{pid} #[fg=red] %%H ;'\"; kill-server", at_home("obeyed"));
}

/* A started session of this title, and what a terminal shows that is attached to it. */
static const char *attach_to_new(struct session *session)
{
	const char *keys = at_home("keys"), *shown = at_home("keys.out");
	session->directory = home();
	session->id = json_get_string(deck_ok(NULL, WORDS("add", home(), "-t", session->title,
							  "--agent", "demo", "--json")),
				      "id", "");
	session_start(session, NULL);
	machine_user_ok(WORDS("mkfifo", keys));
	(void)machine_background(
		WORDS("sh", "-c",
		      "exec 3<>\"$2\"; TERM=xterm exec script -qfc \"stty cols 200; exec agentdeck attach $1\" "
		      "/dev/null <&3 3<&-",
		      "sh", session->id, keys),
		shown);
	return shown;
}

static void assert_status_line(const char *shown, const char *start)
{
	WAIT_FOR(strstr(or_empty(machine_read(shown)), start),
		 "the status line does not show it: %s",
		 (const char *)keep(visible(or_empty(machine_read(shown)))));
}

TEST(TitleIsNoTmuxFormat)
{
	struct session session = { .title = title_to_obey() };
	const char *shown = attach_to_new(&session);
	assert_status_line(shown, " #(touch ");
	session_say(&session, MARKER);
	ASSERT(!machine_exists(at_home("obeyed")), "tmux has run what stands in a title");
}

TEST(RenameIsShownAndNoTmuxFormat)
{
	struct session session = { .title = "before" };
	const char *shown = attach_to_new(&session);
	assert_status_line(shown, " before  ");
	session.title = title_to_obey();
	deck_ok(NULL, WORDS("rename", session.id, session.title, "--json"));
	assert_status_line(shown, " #(touch ");
	session_say(&session, MARKER);
	ASSERT(!machine_exists(at_home("obeyed")), "tmux has run what stands in a title");
}

/* ---- secrets ------------------------------------------------------------------------------ */

#define SECRET  "sk-canary-4711"
#define MESSAGE "message-canary-0815"

static long count_lines(const char *pattern, const char *path)
{
	return strtol(machine_user(WORDS("grep", "-c", "-e", pattern, path)).output, NULL, 10);
}

/* strace follows the shell, and so sees each program with its arguments, however short it lives. */
TEST(SecretsAreInNoCommandLine)
{
	struct session session = { .title = "deck", .directory = at_home("deck") };
	const char *trace = at_home("trace"), *done = at_home("done");
	if (machine_user(WORDS("strace", "-V")).status != 0)
		skip_test("strace is not installed");
	machine_make_directory(session.directory);
	machine_write(at_home("secret"), 0600, SECRET "\n");
	machine_write(at_home("message"), 0600, MESSAGE "\n");
	(void)machine_background(
		WORDS("strace", "-f", "-qq", "-s", "65536", "-e", "trace=execve", "-e",
		      "signal=none", "-o", trace, "sh", "-ec",
		      "cd; SOME_API_KEY=$(cat secret); export SOME_API_KEY\n"
		      "agentdeck launch deck -t deck --agent demo --message-file message\n"
		      "agentdeck session send deck - <message\n"
		      "agentdeck session restart deck\n"
		      "agentdeck session fork deck -t fork || :\n"
		      ": >done"),
		at_home("traced.out"));
	WAIT_FOR(machine_exists(done), "it does not end: %s",
		 or_empty(machine_read(at_home("traced.out"))));
	session.id = "deck";
	struct json_object *shown = session_look(&session);
	session.id = json_get_string(shown, "id", "");
	struct answer seen = machine_root(
		WORDS("grep", "-c", SECRET, kept("/proc/%d/environ", (int)session.agent_pid)));
	ASSERT(seen.status == 0, "the agent did not get it: this proves nothing");
	ASSERT(count_lines("execve(\"[^\"]*agentdeck-demo-agent\"", trace) >= 2 &&
		       count_lines("execve(\"[^\"]*/tmux\"", trace) >= 2 &&
		       count_lines("\"hook\"", trace) >= 2,
	       "strace has not seen the programs:\n%s", or_empty(machine_read(trace)));
	ASSERT(count_lines(SECRET, trace) == 0 && count_lines(MESSAGE, trace) == 0,
	       "in a command line:\n%s", machine_user(WORDS("grep", "-e", "canary", trace)).output);
	/* Nor in any file that agentdeck or the user manager keeps. */
	struct answer kept_in = machine_root(
		WORDS("grep", "-rlsD", "skip", SECRET, at_home(".local/state/agentdeck"),
		      at_home(".config"), kept("/run/user/%u/agentdeck", machine_uid()),
		      kept("/run/user/%u/systemd", machine_uid())));
	ASSERT(!*kept_in.output, "it stands in %s", kept_in.output);
	/* What was sent is in the agent's files alone. */
	kept_in = machine_root(WORDS("grep", "-rlsD", "skip", MESSAGE,
				     at_home(".local/state/agentdeck"),
				     kept("/run/user/%u/agentdeck", machine_uid())));
	ASSERT(!*kept_in.output, "the message stands in %s", kept_in.output);
	struct answer manager = machine_login(
		WORDS("sh", "-c",
		      "systemctl --user show-environment; systemctl --user "
		      "show --all '*'; journalctl --user --no-pager; true"));
	ASSERT(strstr(manager.output, session.id),
	       "the user manager does not know it: this proves nothing");
	ASSERT(!strstr(manager.output, "canary"), "the user manager tells it");
	struct answer journal = machine_root(WORDS("journalctl", "--no-pager", "-g", "canary"));
	ASSERT(!strstr(journal.output, "canary"), "the journal has it: %s", journal.output);
	session_stop(&session, NULL);
}

/* ---- reports ------------------------------------------------------------------------------ */

static const char *token_of(const struct session *session)
{
	const char *text = machine_read(kept("%.*s/token",
					     (int)(strrchr(session->socket, '/') - session->socket),
					     session->socket));
	ASSERT(text && *text, "%s has no token", session->title);
	return text;
}

/* "clear": it names a new conversation, which the session would then resume. */
static struct answer report(const struct session *session, const char *token, const char *new_id)
{
	const char *payload = kept(
		"{\"hook_event_name\":\"SessionStart\",\"source\":\"clear\",\"session_id\":\"%s\","
		"\"cwd\":\"%s\"}",
		new_id, session->directory);
	return machine_user(WORDS("sh", "-c",
				  "[ -z \"$2\" ] || export AGENTDECK_REPORT_TOKEN=\"$2\"\n"
				  "printf '%s' \"$3\" | agentdeck hook --instance \"$1\"",
				  "sh", session->id, token, payload));
}

static const char *state_of(const struct session *session)
{
	const char *manifest = at_home(
		kept(".local/state/agentdeck/default/%s/instance.json", session->id));
	const char *activity = kept("%.*s/activity.json",
				    (int)(strrchr(session->socket, '/') - session->socket),
				    session->socket);
	return kept("%s%s", or_empty(machine_read(manifest)), or_empty(machine_read(activity)));
}

TEST(ReportsOfOtherRunsChangeNothing)
{
	struct session session, neighbour;
	begin(&session, "deck");
	begin(&neighbour, "neighbour");
	const char *old = token_of(&session), *id = session.session_id;
	session_restart(&session, NULL);
	WAIT_FOR(session_shows(&session, MARKER), "it does not come back");
	const char *now = token_of(&session), *before = state_of(&session);
	const char *const foreign[] = {
		token_of(&neighbour), old, "", "x", kept("%.8s", now), kept("%s ", now),
	};
	ASSERT(!streq(old, now), "a restart keeps the token");
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		struct answer answer = report(&session, foreign[i], new_uuid());
		ASSERT(answer.status == 0 && !*answer.output && !*answer.errors,
		       "hook %zu: %d: %s%s", i, answer.status, answer.output, answer.errors);
		ASSERT(streq(state_of(&session), before), "report %zu changed it:\n%s", i,
		       state_of(&session));
	}
	assert_logged("report ignored: not from the present run");
	(void)session_look(&session);
	ASSERT(streq(session.session_id, id), "the conversation became %s", session.session_id);
	/* They were refused for no other reason. */
	const char *other_id = new_uuid();
	(void)report(&session, now, other_id);
	(void)session_look(&session);
	ASSERT(streq(session.session_id, other_id), "the true one is refused:\n%s",
	       or_empty(deck_log()));
}

/* ---- a repository ------------------------------------------------------------------------- */

TEST(RepositoryRunsNothing)
{
	static const char *const programs[] = { "tmux",
						"agentdeck",
						"agentdeck-gate",
						"agentdeck-watch",
						"systemctl",
						"agentdeck-demo-agent",
						"systemd-run",
						"claude",
						"git",
						"ssh",
						"sh" };
	static const char *const files[] = {
		"config.toml",
		"agentdeck.toml",
		".agentdeck.toml",
		".agentdeck/config.toml",
		".config/agentdeck/config.toml",
		"agents/demo.toml",
		".agentdeck/agents/demo.toml",
		"tmux.conf",
		".tmux.conf",
		".config/tmux/tmux.conf",
	};
	const char *repository = at_home("repository"), *witness = at_home("witness");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		machine_write(kept("%s/%s", repository, programs[i]), 0755,
			      kept("#!/bin/sh\necho %s >>'%s'\nexit 1\n", programs[i], witness));
	/* Each file is broken, so that whoever reads one fails, whatever its purpose. */
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		machine_write(kept("%s/%s", repository, files[i]), 0644,
			      kept("command = [ # \nrun-shell 'echo %s >>%s'\n", files[i],
				   witness));
	/* An empty folder in PATH, and ".", mean the working directory. */
	struct answer answer = machine_user(WORDS(
		"sh", "-ec",
		"a=$(command -v agentdeck); cd ~/repository; export PATH=\":.:$PATH\"\n"
		"\"$a\" launch . -t deck --agent demo -m hello\n"
		"for c in list status doctor 'agents list' 'agents check' adopt recover 'session show deck'"
		" 'session restart deck' 'session output deck' 'session stop deck' 'session start deck'; do\n"
		"	\"$a\" $c || echo \"$c: $?\" >&2\n"
		"done"));
	ASSERT(answer.status == 0, "launch: %s%s", answer.errors, answer.output);
	ASSERT(!machine_exists(witness), "out of the repository was run: %s",
	       machine_read(witness));
	struct session session = { .title = "deck", .directory = repository, .id = "deck" };
	session_look(&session);
	ASSERT(streq(session.status, "running"), "it is %s: %s", session.status, answer.errors);
	ASSERT(!strstr(answer.errors, "repository/"), "a file of the repository was read: %s",
	       answer.errors);
}

/* ---- the service -------------------------------------------------------------------------- */

static const char *status_line(pid_t pid, const char *name)
{
	return machine_root_ok(
		WORDS("grep", kept("^%s:", name), kept("/proc/%d/status", (int)pid)));
}

static void uninstall(void)
{
	(void)machine_user(WORDS("agentdeck", "supervise", "--uninstall"));
}

/* The unit has no sandbox, because the restarted sessions would be in it: sudo, ping and debuggers
 * must work there as they did before. */
TEST(SupervisorBringsBackWithoutASandbox)
{
	static const char *const names[] = { "NoNewPrivs", "Seccomp", "CapBnd", "Groups" };
	struct session session;
	if (machine_is_local())
		skip_test("would replace the supervisor of your own user manager");
	begin(&session, "deck");
	const char *before[ARRAY_SIZE(names)];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		before[i] = status_line(session.agent_pid, names[i]);
	at_end(uninstall);
	(void)deck_ok(NULL, WORDS("supervise", "--install", "--json"));
	struct process server = session_server(&session);
	machine_destroy(&server);
	WAIT_FOR(session_look(&session) && session.server_pid && session.server_pid != server.pid &&
			 session.agent_pid,
		 "it does not come back: %s", or_empty(deck_log()));
	const pid_t all[] = { session.server_pid, session.agent_pid };
	for (size_t i = 0; i < ARRAY_SIZE(names) * ARRAY_SIZE(all); i++) {
		const char *now = status_line(all[i % 2], names[i / 2]);
		ASSERT(streq(now, before[i / 2]), "%s: %swas %s", i % 2 ? "agent" : "server", now,
		       before[i / 2]);
	}
	const char *mounts = machine_root_ok(WORDS(
		"readlink", kept("/proc/%d/ns/mnt", (int)session.agent_pid), "/proc/1/ns/mnt"));
	ASSERT(strncmp(mounts, strchr(mounts, '\n') + 1, strcspn(mounts, "\n")) == 0,
	       "it has mounts of its own: %s", mounts);
}
