/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What other users of the machine can reach, and what they put in our way: state, runtime
 * directories, the place in /tmp, sockets, configuration.  docs/security.md has the promises.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER "for my eyes only"

static const char *state_file(const char *name)
{
	return at_home(kept(".local/state/agentdeck/%s", name));
}

static const char *runtime_file(const char *name)
{
	return kept("/run/user/%u/agentdeck/%s", machine_uid(), name);
}

/* Where runs without a scope are. */
static const char *direct_place(void)
{
	return kept("/tmp/agentdeck-%u", machine_uid());
}

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
}

static void clear_direct_place(void)
{
	machine_root_ok(WORDS("rm", "-rf", direct_place(), kept("%s.aside", direct_place()),
			      kept("%s.link", direct_place())));
}

static void without_scopes(void)
{
	if (machine_is_local())
		skip_test("would need the place of your own sessions in /tmp");
	at_end(clear_direct_place);
	machine_write(at_home(".config/agentdeck/config.toml"), 0644,
		      "[tmux]\nlaunch_in_user_scope = false\n");
}

/* ---- permissions -------------------------------------------------------------------------- */

/* The whole life of a session with this umask. */
static void live(const char *title, const char *mask)
{
	machine_make_directory(at_home(title));
	struct answer answer = machine_login(WORDS("sh", "-ec",
						   "umask \"$1\"\n"
						   "agentdeck add \"$2\" -t \"$3\" --agent demo\n"
						   "agentdeck session start \"$3\"\n"
						   "echo hello | agentdeck session send \"$3\" -\n"
						   "agentdeck session restart \"$3\"\n"
						   "agentdeck rename \"$3\" \"$3-renamed\"\n"
						   "agentdeck status --json\n"
						   "agentdeck session show \"$3-renamed\"\n",
						   "sh", mask, at_home(title), title));
	ASSERT(answer.status == 0, "%s with umask %s: %s%s", title, mask, answer.errors,
	       answer.output);
}

static void assert_private(const char *directory, unsigned least)
{
	const char *all = machine_root_ok(WORDS("find", directory, "-printf", "x"));
	ASSERT(strlen(all) >= least, "only %zu names below %s: this proves nothing", strlen(all),
	       directory);
	const char *wide = machine_root_ok(WORDS("find", directory, "(", "!", "-user",
						 machine_user_name(), "-o", "!", "-type", "l",
						 "-perm", "/077", ")", "-printf", "%M %u %p\n"));
	ASSERT(!*wide, "others may read or write:\n%s", wide);
}

TEST(StateIsTheUsersAlone)
{
	if (machine_is_local())
		skip_test("looks at what your own sessions have made");
	live("wide", "000");
	live("narrow", "077");
	assert_private(state_file(""), 12);
	assert_private(runtime_file(""), 8);
	without_scopes();
	live("wide-direct", "000");
	assert_private(direct_place(), 6);
	assert_private(state_file(""), 12);
	struct answer answer = machine_other_login(WORDS("cat", state_file("logs/agentdeck.log")));
	ASSERT(answer.status != 0 && !*answer.output, "another user reads the log: %s",
	       answer.output);
}

/* ---- planted links ------------------------------------------------------------------------ */

/* For links into the runtime directory, which is another file system. */
static const char *runtime_victim(void)
{
	return kept("/run/user/%u/precious", machine_uid());
}

static void remove_victim(void)
{
	machine_root_ok(WORDS("sh", "-c", "rm -f \"$1\"*", "sh", runtime_victim()));
}

static void make_runtime_victim(void)
{
	at_end(remove_victim);
	machine_user_ok(WORDS("cp", "/dev/null", runtime_victim()));
}

/* What must not change: a file, and a directory. */
static void make_victims(void)
{
	machine_write(at_home("precious"), 0640, "mine\n");
	machine_write(at_home("precious.d/inside"), 0640, "mine\n");
	machine_user_ok(WORDS("chmod", "0750", at_home("precious.d")));
}

static const char *victims(void)
{
	return machine_root_ok(WORDS("sh", "-c",
				     "find \"$@\" -printf '%p %M %u %s %T@\n' || :", "sh",
				     at_home("precious"), at_home("precious.d"), runtime_victim()));
}

/* Replace a name by a link, run a session's life, and remove the link again. */
static void live_with_link(const struct session *session, const char *how, const char *name,
			   const char *victim, const char *before)
{
	struct answer answer = machine_user(WORDS(
		"sh", "-c",
		"mkdir -p \"${3%/*}\"; [ ! -e \"$3\" ] || mv \"$3\" \"$3.aside\"\n"
		"ln $2 \"$4\" \"$3\" || exit\n"
		"for c in list \"session start $1\" \"session show $1\" \"rename $1 other\" \"rename $1 deck\""
		" \"session stop $1\"; do agentdeck $c; done >/dev/null 2>&1\n"
		"rm -rf \"$3\"; [ ! -e \"$3.aside\" ] || mv \"$3.aside\" \"$3\"",
		"sh", session->id, how, name, victim));
	ASSERT(answer.status == 0, "%s: %s", name, answer.errors);
	const char *now = victims();
	ASSERT(streq(now, before),
	       "a link (ln %s) in the place of %s was followed:\n%sinstead of\n%s", how, name, now,
	       before);
}

TEST(PlantedLinksLeadNowhere)
{
	if (machine_is_local())
		skip_test("would put links between your own sessions' files");
	struct session session;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	session_start(&session, NULL);
	session_stop(&session, NULL);
	make_victims();
	make_runtime_victim();
	const char *before = victims(), *id = session.id;
	const char *const files[] = {
		state_file("logs/agentdeck.log"),
		state_file("logs/agentdeck.log.1"),
		state_file("logs/agentdeck.log.lock"),
		state_file("conversations.lock"),
		state_file(kept("hooks/%s.sid", id)),
		state_file(kept("default/%s.lock", id)),
		state_file(kept("default/%s/instance.json", id)),
		state_file("default/instances.json"),
		state_file("default/instances.json.lock"),
		runtime_file(kept("%s/tmux.sock", id)),
		runtime_file(kept("%s/tmux.conf", id)),
		runtime_file(kept("%s/token", id)),
		runtime_file(kept("%s/run", id)),
		runtime_file(kept("%s/settings.json", id)),
		runtime_file(kept("%s/activity.json", id)),
		runtime_file(kept("%s/activity.lock", id)),
	};
	const char *const directories[] = {
		state_file("logs"),
		state_file("hooks"),
		state_file("default"),
		state_file(kept("default/%s", id)),
		/* Not the state directory: its user may have made it a link (test-state.c). */
		runtime_file(id),
	};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		live_with_link(&session, "-s", files[i], at_home("precious"), before);
		const bool is_state = starts_with(files[i], home());
		live_with_link(&session, "-T", files[i],
			       is_state ? at_home("precious") : runtime_victim(), before);
	}
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		live_with_link(&session, "-s", directories[i], at_home("precious.d"), before);
	session_start(&session, NULL);
	session_say(&session, MARKER);
}

/* ---- swapped while it is used --------------------------------------------------------------- */

/* What is done meanwhile, with the session's id in $1.  Its status says whether it was done. */
#define RENAME_IT "agentdeck rename \"$1\" \"deck-$n\""
#define REPORT_IT \
	"printf '%s' \"$6\" | AGENTDECK_REPORT_TOKEN=\"$5\" agentdeck hook --instance \"$1\""
#define WRITE_A_LINE_OF_LOG \
	"printf '%s' \"$6\" | AGENTDECK_REPORT_TOKEN=none agentdeck hook --instance \"$1\""
#define START_AND_STOP_IT \
	"agentdeck session start --no-wait \"$1\" && agentdeck session stop \"$1\""

/* renameat2(RENAME_EXCHANGE): at every moment one of them exists. */
#define SWAP                                              \
	"my $call = `uname -m` =~ /^x86_64/ ? 316 : 276;" \
	"my ($one, $other) = map { \"$_\\0\" } @ARGV;"    \
	"for (;;) { syscall($call, -100, $one, -100, $other, 2) == 0 or die \"exchange: $!\\n\" }"

/* The name is a hard link to the victim, then what it was before, or nothing if nothing was
 * kept. */
#define LINK                                                                                        \
	"my ($name, $victim) = @ARGV; my ($new, $kept) = (\"$victim.new\", \"$victim.kept\");"      \
	"for (;;) { unlink $new; link $victim, $new and rename $new, $name or die \"link: $!\\n\";" \
	"-e $kept ? (link $kept, $new and rename $new, $name) : unlink $name }"

/* NULL when there is none. */
static const char *run_of(const struct session *session)
{
	const char *slash = session->socket ? strrchr(session->socket, '/') : NULL;
	return slash ? kept("%.*s", (int)(slash - session->socket), session->socket) : NULL;
}

static const char *token_of(const struct session *session)
{
	const char *run = run_of(session);
	return run ? or_empty(machine_read(kept("%s/token", run))) : "";
}

/* Do it that often, while perl runs program with name and other. */
static struct answer race(const struct session *session, const char *program, const char *name,
			  const char *other, const char *what, unsigned rounds)
{
	const char *report = kept(
		"{\"hook_event_name\":\"Stop\",\"session_id\":\"%s\",\"cwd\":\"%s\"}",
		or_empty(session->session_id), session->directory);
	return machine_user(
		WORDS("sh", "-c",
		      kept("perl -e \"$4\" \"$2\" \"$3\" & racer=$!; n=0 done=0 refused=0\n"
			   "while [ $((n += 1)) -le %u ]; do\n"
			   "	if %s; then done=$((done + 1)); else refused=$((refused + 1)); fi\n"
			   "	agentdeck list\n"
			   "done >/dev/null 2>&1\n"
			   "kill $racer || echo \"nothing was swapped\"; wait $racer 2>/dev/null\n"
			   "echo \"$done done, $refused refused\" >&2",
			   rounds, what),
		      "sh", session->id, name, other, program, token_of(session), report));
}

static void check_race(const struct answer *answer, const char *name, const char *before)
{
	ASSERT(answer->status == 0 && !*answer->output, "%s: %s%s", name, answer->output,
	       answer->errors);
	const char *now = victims();
	ASSERT(streq(now, before), "through %s (%s):\n%sinstead of\n%s", name, answer->errors, now,
	       before);
}

/* Swap a directory with a link to another one. */
static void swap_directory(const struct session *session, const char *name, const char *what,
			   unsigned rounds)
{
	const char *link = kept("%s.link", name);
	const char *before = victims();
	machine_user_ok(WORDS("ln", "-s", at_home("precious.d"), link));
	const struct answer answer = race(session, SWAP, name, link, what, rounds);
	machine_user_ok(
		WORDS("sh", "-c",
		      "if [ -L \"$1\" ]; then rm \"$1\"; mv \"$2\" \"$1\"; else rm \"$2\"; fi",
		      "sh", name, link));
	check_race(&answer, name, before);
}

TEST(DirectoriesSwappedForLinksLeadNowhere)
{
	struct session session, direct;
	session_add(&session, NULL, "deck", WORDS("--agent", "demo"));
	(void)deck_look(WORDS("list"));
	make_victims();
	swap_directory(&session, state_file("logs"), RENAME_IT, 50);
	swap_directory(&session, state_file("default"), RENAME_IT, 50);
	swap_directory(&session, state_file(kept("default/%s", session.id)), RENAME_IT, 50);
	session_start(&session, NULL);
	session_say(&session, MARKER);
	swap_directory(&session, run_of(&session), REPORT_IT, 50);
	session_say(&session, MARKER);
	/* Locally the other places hold other sessions, too. */
	if (machine_is_local())
		return;
	session_stop(&session, NULL);
	swap_directory(&session, kept("/run/user/%u/agentdeck", machine_uid()), START_AND_STOP_IT,
		       6);
	session_start(&session, NULL);
	session_say(&session, MARKER);
	without_scopes();
	begin(&direct, "direct");
	swap_directory(&direct, run_of(&direct), REPORT_IT, 50);
	session_say(&direct, MARKER);
	session_stop(&direct, NULL);
	swap_directory(&direct, direct_place(), START_AND_STOP_IT, 6);
	session_start(&direct, NULL);
	session_say(&direct, MARKER);
}

/* Swap a file with a hard link to the victim, which is on the same file system. */
static void swap_file(const struct session *session, const char *name, const char *victim,
		      const char *what)
{
	const char *before = victims(), *aside = kept("%s.kept", victim);
	const bool is_there = machine_exists(name);
	if (is_there)
		machine_user_ok(WORDS("mv", name, aside));
	const struct answer answer = race(session, LINK, name, victim, what, 40);
	machine_user_ok(WORDS("rm", "-f", name, kept("%s.new", victim)));
	if (is_there)
		machine_user_ok(WORDS("mv", aside, name));
	check_race(&answer, name, before);
}

TEST(FilesSwappedForHardLinksLeadNowhere)
{
	if (machine_is_local())
		skip_test("would put links between your own sessions' files");
	struct session session;
	begin(&session, "deck");
	make_victims();
	make_runtime_victim();
	const char *id = session.id;
	const char *const files[] = {
		state_file(kept("default/%s.lock", id)),
		state_file(kept("default/%s/instance.json", id)),
		state_file("default/instances.json"),
		state_file("default/instances.json.lock"),
	};
	/* It is not kept: it would have another name as well. */
	machine_remove(state_file("logs/agentdeck.log"));
	swap_file(&session, state_file("logs/agentdeck.log"), at_home("precious"),
		  WRITE_A_LINE_OF_LOG);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		swap_file(&session, files[i], at_home("precious"), RENAME_IT);
	swap_file(&session, runtime_file(kept("%s/activity.json", id)), runtime_victim(),
		  REPORT_IT);
	swap_file(&session, runtime_file(kept("%s/activity.lock", id)), runtime_victim(),
		  REPORT_IT);
	session_say(&session, MARKER);
}

/* ---- the place in /tmp -------------------------------------------------------------------- */

static void as_other(const char *script, const char *one, const char *two)
{
	struct answer answer = machine_other_login(WORDS("sh", "-ec", script, "sh", one, two));
	ASSERT(answer.status == 0, "the other user: %s%s", answer.errors, answer.output);
}

/* The message when the file belongs to the other user. */
static void assert_refused(struct reply reply, const char *path)
{
	ASSERT(reply.status == 1 && strstr(reply.errors, kept("%s belongs to user 4712", path)) &&
		       strstr(reply.errors, "TMPDIR"),
	       "status %d: %s%s", reply.status, reply.errors, reply.output);
}

/* As after a reboot, which empties /tmp: another user is there first, and has put links there that
 * lead to the manifests.  (A kernel with fs.protected_symlinks=1 does not follow them either.) */
TEST(PlaceInTmpThatIsAnothersIsLeftAlone)
{
	struct session session;
	without_scopes();
	begin(&session, "deck");
	const char *id = session.session_id, *place = direct_place();
	const char *manifest = state_file(kept("default/%s/instance.json", session.id));
	struct process agent = session_agent(&session);
	session_kill_server(&session);
	/* Its last report makes the place once more. */
	WAIT_FOR(!machine_alive(&agent), "the agent outlives its terminal");
	const char *before = machine_read(manifest);
	machine_root_ok(WORDS("rm", "-r", place));
	as_other("ln -s \"$1\" \"$2\"", state_file("default"), place);
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, place), "status %d: %s%s", reply.status,
	       reply.errors, reply.output);
	ASSERT(machine_exists(manifest), "what the link leads to was removed: %s", before);
	machine_root_ok(WORDS("rm", place));
	as_other("mkdir -m 777 \"$1\"; mkdir -m 777 \"$1/$2\"; echo busy >\"$1/$2/activity.json\"",
		 place, session.id);
	assert_refused(deck(NULL, WORDS("session", "start", session.id)), place);
	const char *left = machine_root_ok(WORDS("find", place, "-type", "f", "-printf", "%P\n"));
	ASSERT(streq(left, kept("%s/activity.json\n", session.id)),
	       "in the other's directory is %s", left);
	/* That user cannot prevent the use of another place. */
	machine_set("TMPDIR", at_home("tmp"));
	machine_make_directory(at_home("tmp"));
	session_start(&session, NULL);
	assert_came_back(&session, id, MARKER, 1);
}

/* ---- a server that is not ours ------------------------------------------------------------ */

static const char *others_screen(const char *socket)
{
	return machine_root_ok(WORDS("tmux", "-S", socket, "capture-pane", "-p", "-t", "agent"));
}

static void kill_others_server(void)
{
	(void)machine_root(WORDS("pkill", "-KILL", "-u", "other", "-x", "tmux: server"));
}

static void assert_says_whose(const char *const *words)
{
	struct reply reply = deck(NULL, words);
	ASSERT(reply.status != 0 &&
		       (strstr(reply.errors, "belongs to user 4712") ||
			strstr(reply.errors, "another user has put something in place")),
	       "%s %s: status %d: %s%s", words[0], or_empty(words[1]), reply.status, reply.errors,
	       reply.output);
}

/* A clean-up of /tmp has removed the directory of a live session, and another user listens in its
 * place with a server that looks the same. */
TEST(ServerOfAnotherUserIsNotSpokenTo)
{
	struct session session;
	without_scopes();
	begin(&session, "deck");
	struct process server = session_server(&session);
	const char *place = direct_place(), *aside = kept("%s.aside", place),
		   *socket = session.socket;
	/* At once, before a report of the agent makes the directory again. */
	machine_root_ok(WORDS("sh", "-c", "mv \"$1\" \"$2\" && install -d -m 777 -o \"$3\" \"$1\"",
			      "sh", place, aside, "4712"));
	at_end(kill_others_server);
	as_other(
		"mkdir -m 777 -p \"$1\"; umask 0; tmux -f /dev/null -S \"$2\" new-session -d -s agent cat;"
		"tmux -S \"$2\" server-access -aw deck; chmod 777 \"$1\" \"$1/..\" \"$2\"",
		kept("%s/%s", place, session.id), socket);
	assert_says_whose(WORDS("session", "send", session.id, MARKER));
	assert_says_whose(WORDS("session", "output", "--pane", session.id));
	assert_says_whose(WORDS("session", "start", session.id));
	struct json_object *shown = session_look(&session);
	ASSERT(streq(session.status, "unknown") && strstr(json_print(shown), "another user"), "%s",
	       json_print(shown));
	struct answer attached = machine_user(WORDS(
		"sh", "-c", "TERM=xterm script -qec \"agentdeck attach $1\" /dev/null </dev/null",
		"sh", session.id));
	ASSERT(attached.status != 0 && strstr(attached.output, "belongs to user 4712"),
	       "attach: %s", attached.output);
	const char *screen = others_screen(socket);
	ASSERT(!strstr(screen, MARKER), "the other user reads:\n%s", screen);
	/* When the directory is moved back, all is well. */
	kill_others_server();
	machine_root_ok(WORDS("rm", "-rf", place));
	machine_root_ok(WORDS("mv", aside, place));
	ASSERT(machine_alive(&server), "the session's own server is gone");
	session_look(&session);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
	session_say(&session, "still there");
	/* The same where only root can have put it. */
	machine_root_ok(WORDS("chown", "-h", "other", socket));
	assert_says_whose(WORDS("session", "send", session.id, MARKER));
	/* The end needs no server: its processes are known. */
	server = session_server(&session);
	session_stop(&session, NULL);
	ASSERT(!machine_alive(&server), "it was stopped, and lives");
}

/* ---- configuration ------------------------------------------------------------------------ */

TEST(ConfigurationOfAnotherUserIsRefused)
{
	if (machine_is_local())
		skip_test("gives files to another user, which wants root");
	const char *config = at_home(".config/agentdeck/config.toml");
	const char *entry = at_home(".config/agentdeck/agents/planted.toml");
	machine_write(config, 0644, "[notify]\ncommand = [\"/bin/true\"]\n");
	machine_write(entry, 0644, "command = [\"/bin/true\"]\n");
	(void)deck_look_ok(WORDS("list", "--json"));
	struct reply agents = deck_look(WORDS("agents", "list", "--json"));
	ASSERT(strstr(agents.output, "\"planted\""), "%s%s", agents.errors, agents.output);
	machine_root_ok(WORDS("chown", "other", entry));
	agents = deck_look(WORDS("agents", "list", "--json"));
	ASSERT(!strstr(agents.output, "\"planted\"") &&
		       strstr(agents.errors, "belongs to user 4712"),
	       "%s%s", agents.errors, agents.output);
	machine_root_ok(WORDS("chown", "other", config));
	struct reply list = deck_look(WORDS("list"));
	/* The last good values serve instead, and the reader is warned. */
	ASSERT(list.status == 0 && strstr(list.errors, kept("%s belongs to user 4712", config)),
	       "status %d: %s", list.status, list.errors);
	machine_root_ok(WORDS("chown", "root", config));
	(void)deck_look_ok(WORDS("list", "--json"));
}
