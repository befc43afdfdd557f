/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A home that two machines share, and one that moved to another machine.
 *
 * The second machine is a namespace of the first: another machine-id, boot id (the real machine's,
 * which the test host hides) and host name, and its own runtime directory.  It sees the same pids,
 * which is harder than with a real second machine.
 *
 * A container is a PID namespace of the first one: its own processes and runtime directory, with the
 * same boot id, host name and machine-id (as two of one image have it), or without a machine-id.
 */
#include "persistence/deck.h"

#include <signal.h>
#include <string.h>

#define MARKER   "this is the marker"
#define OTHER_ID "0123456789abcdef0123456789abcdef\n"

enum { TRIES = 6 };

static const char second[] =
	"hostname box2 && mount --bind \"$0.id\" /etc/machine-id && "
	"umount /proc/sys/kernel/random/boot_id && mount -t tmpfs none /run/user && exec \"$@\"";

/* The new /proc shows the real machine's boot id. */
#define CONTAINER                                                      \
	"mount --bind \"$0.boot\" /proc/sys/kernel/random/boot_id && " \
	"mount -t tmpfs none /run/user && exec \"$@\""

static const char container[] = CONTAINER,
		  container_without_id[] = "mount --bind /dev/null /etc/machine-id && " CONTAINER;

/* A program with these words, by the user, in namespaces that the script furnishes; status 124: it
 * did not end in time. */
static struct reply apart(const char *seconds, const char *const *namespaces, const char *script,
			  const char *const *words)
{
	struct strvec *argv = kept_vector();
	const char *uid = kept("%u", machine_uid()), *files = at_home(".second");
	machine_write(kept("%s.id", files), 0644, OTHER_ID);
	machine_write(kept("%s.boot", files), 0644, machine_boot_id());
	strvec_push_array(argv, WORDS("timeout", seconds, "unshare", "--mount"));
	strvec_push_array(argv, namespaces);
	strvec_push_array(argv,
			  WORDS("sh", "-c", script, files, "setpriv", "--reuid", uid, "--regid",
				uid, "--clear-groups", "env", "-i", kept("HOME=%s", home()),
				kept("PATH=%s", machine_search_path()), "LANG=C.UTF-8"));
	strvec_push_array(argv, words);
	struct answer answer = machine_root((const char *const *)argv->items);
	struct reply reply = { .status = answer.status,
			       .output = answer.output,
			       .errors = answer.errors };
	if (json_parse(answer.output, strlen(answer.output), "agentdeck", &reply.json, NULL) == 0)
		keep_json(reply.json);
	return reply;
}

/* agentdeck on the second machine. */
static struct reply on_second_for(const char *seconds, const char *const *words)
{
	struct strvec *argv = kept_vector();
	strvec_push(argv, "agentdeck");
	strvec_push_array(argv, words);
	return apart(seconds, WORDS("--uts"), second, (const char *const *)argv->items);
}

static struct reply on_second(const char *const *words)
{
	return on_second_for("120", words);
}

/* The program in a container, which ends with it. */
static struct reply in_container(const char *seconds, const char *script, const char *const *words)
{
	return apart(seconds, WORDS("--pid", "--fork", "--kill-child", "--mount-proc"), script,
		     words);
}

static void begin(struct session *session, const char *title)
{
	session_add(session, NULL, title, WORDS("--agent", "demo"));
	session_start(session, NULL);
	session_say(session, MARKER);
	(void)session_look(session);
}

static const char *manifest_path(const struct session *session)
{
	return at_home(kept(".local/state/agentdeck/default/%s/instance.json", session->id));
}

static const char *first_host(void)
{
	const char *name = machine_user_ok(WORDS("uname", "-n"));
	return kept("%.*s", (int)strcspn(name, "\n"), name);
}

/* The session, its conversation and its manifest are unchanged. */
static void assert_untouched(struct session *session, const char *manifest)
{
	const struct process server = session_server(session), agent = session_agent(session);
	ASSERT(streq(or_empty(machine_read(manifest_path(session))), manifest),
	       "the manifest changed:\n%s\nnow:\n%s", manifest,
	       or_empty(machine_read(manifest_path(session))));
	ASSERT(machine_alive(&server) && machine_alive(&agent), "the run was ended");
	session_say(session, "and on");
}

static void assert_refused(const struct session *session, const char *const *words)
{
	struct reply reply = on_second(words);
	ASSERT(reply.status == 1, "%s %s ended with %d: %s%s", words[0], words[1], reply.status,
	       reply.output, reply.errors);
	ASSERT(strstr(reply.errors, first_host()), "%s %s does not name %s: %s", words[0], words[1],
	       first_host(), reply.errors);
	ASSERT(!strstr(words[0], "start") || strstr(reply.errors, "--take-over"),
	       "no way out is named: %s", reply.errors);
	(void)session;
}

TEST(RunOfAnotherMachineIsLeftAlone)
{
	struct session session;
	begin(&session, "api");
	const char *manifest = keep(xstrdup(or_empty(machine_read(manifest_path(&session)))));
	struct reply list = on_second(WORDS("list"));
	ASSERT(list.status == 0 && strstr(list.output, kept("running on %s", first_host())),
	       "list says:\n%s%s", list.output, list.errors);
	const char *const *const refused[TRIES] = {
		WORDS("start", session.id),
		WORDS("restart", session.id),
		WORDS("stop", session.id),
		WORDS("remove", session.id),
		WORDS("send", session.id, "hello"),
		WORDS("session", "output", "--pane", session.id),
	};
	for (size_t i = 0; i < TRIES; i++)
		assert_refused(&session, refused[i]);
	struct reply recovery = on_second(WORDS("recover", "--json"));
	ASSERT(recovery.status == 0 && strstr(recovery.output, "\"outcome\":\"left\"") &&
		       strstr(recovery.output, first_host()),
	       "recover says %d:\n%s%s", recovery.status, recovery.output, recovery.errors);
	assert_untouched(&session, manifest);
}

TEST(ConversationOpenOnAnotherMachineIsRefused)
{
	struct session session;
	begin(&session, "api");
	const char *manifest = keep(xstrdup(or_empty(machine_read(manifest_path(&session)))));
	struct reply added = on_second(
		WORDS("add", session.directory, "--agent", "demo", "-t", "copy", "--json"));
	ASSERT(added.status == 0 && added.json, "add: %s", added.errors);
	struct session copy = { .title = "copy", .id = json_get_string(added.json, "id", "") };
	session_forge_id(&copy, session.session_id);
	struct reply reply = on_second(WORDS("start", copy.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, session.session_id) &&
		       strstr(reply.errors, first_host()),
	       "the conversation was opened twice: %s%s", reply.output, reply.errors);
	assert_untouched(&session, manifest);
}

TEST(EachMachineHasItsSupervisor)
{
	enum { TIMED_OUT = 124 };
	struct session session;
	begin(&session, "api");
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(machine_user(WORDS("agentdeck", "supervise", "--status")).status == 0,
		 "no supervisor is at work");
	const char *manifest = keep(xstrdup(or_empty(machine_read(manifest_path(&session)))));
	struct reply reply = on_second_for("5", WORDS("supervise"));
	ASSERT(reply.status == TIMED_OUT, "the second one ended with %d: %s", reply.status,
	       reply.errors);
	assert_untouched(&session, manifest);
	machine_kill(&supervisor, SIGTERM);
	WAIT_FOR(!machine_alive(&supervisor), "the supervisor does not end");
}

static void assert_refused_in(const char *script, const char *const *words)
{
	struct reply reply = in_container("120", script, words);
	ASSERT(reply.status == 1 && strstr(reply.errors, "(another PID namespace)"),
	       "%s %s ended with %d: %s%s", words[1], words[2], reply.status, reply.output,
	       reply.errors);
}

TEST(RunOfAnotherContainerIsUnknownNotDead)
{
	static const char *const scripts[] = { container, container_without_id };
	struct session session;
	begin(&session, "api");
	struct reply added = deck(NULL, WORDS("add", session.directory, "--agent", "demo", "-t",
					      "copy", "--json"));
	struct session copy = { .title = "copy", .id = json_get_string(added.json, "id", "") };
	session_forge_id(&copy, session.session_id);
	const char *manifest = keep(xstrdup(or_empty(machine_read(manifest_path(&session)))));
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct reply list = in_container("120", scripts[i], WORDS("agentdeck", "list"));
		ASSERT(list.status == 0 && strstr(list.output, "running on ") &&
			       strstr(list.output, "(another PID namespace)"),
		       "list says:\n%s%s", list.output, list.errors);
		assert_refused_in(scripts[i], WORDS("agentdeck", "start", session.id));
		assert_refused_in(scripts[i], WORDS("agentdeck", "stop", session.id));
		assert_refused_in(scripts[i], WORDS("agentdeck", "remove", session.id));
		/* Its conversation is open there. */
		assert_refused_in(scripts[i], WORDS("agentdeck", "start", copy.id));
		struct reply recovery = in_container("120", scripts[i],
						     WORDS("agentdeck", "recover", "--json"));
		ASSERT(strstr(recovery.output, "\"elsewhere\":1"), "recover says %d:\n%s%s",
		       recovery.status, recovery.output, recovery.errors);
	}
	assert_untouched(&session, manifest);
}

TEST(EachContainerHasItsSupervisor)
{
	enum { TIMED_OUT = 124 };
	struct session session;
	begin(&session, "api");
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR(machine_user(WORDS("agentdeck", "supervise", "--status")).status == 0,
		 "no supervisor is at work");
	const char *manifest = keep(xstrdup(or_empty(machine_read(manifest_path(&session)))));
	struct reply reply = in_container("5", container, WORDS("agentdeck", "supervise"));
	ASSERT(reply.status == TIMED_OUT, "the second one ended with %d: %s", reply.status,
	       reply.errors);
	assert_untouched(&session, manifest);
	machine_kill(&supervisor, SIGTERM);
	WAIT_FOR(!machine_alive(&supervisor), "the supervisor does not end");
}

/* As a Pod does that is started again: the same home, boot and machine-id, and nothing is left of
 * what ran in the first one. */
TEST(TakeOverBringsBackWhatAnEndedContainerRan)
{
	struct session session;
	session_add(&session, NULL, "api", WORDS("--agent", "demo"));
	struct reply reply = in_container(
		"120", container,
		WORDS("sh", "-c",
		      kept("agentdeck start %s && agentdeck send --wait %s '%s'", session.id,
			   session.id, MARKER)));
	ASSERT(reply.status == 0, "the first one: %s%s", reply.output, reply.errors);
	(void)session_look(&session);
	const char *session_id = session.session_id;
	ASSERT(streq(session.status, "unknown"), "status %s", session.status);
	reply = deck(NULL, WORDS("doctor"));
	ASSERT(strstr(reply.output, "recover --take-over"), "doctor: %s", reply.output);
	reply = deck(NULL, WORDS("recover"));
	ASSERT(reply.status == 0 && strstr(reply.output, "agentdeck recover --take-over"),
	       "recover: %s%s", reply.output, reply.errors);
	reply = deck(NULL, WORDS("recover", "--take-over", "--json"));
	ASSERT(reply.status == 0 && strstr(reply.output, "\"revived\":1"), "recover: %d %s%s",
	       reply.status, reply.output, reply.errors);
	(void)session_look(&session);
	assert_came_back(&session, session_id, MARKER, 1);
}

/* The disk goes into another machine. */
static void move_home(void)
{
	machine_root_ok(WORDS("sh", "-c",
			      "tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id && sync"));
	machine_powercut();
	machine_boot();
}

TEST(TakeOverBringsBackWhatAnotherMachineRan)
{
	struct session session, own;
	begin(&session, "api");
	const char *session_id = session.session_id;
	move_home();
	struct reply reply = deck(NULL, WORDS("start", session.id));
	ASSERT(reply.status == 1 && strstr(reply.errors, "--take-over"),
	       "it was started without a word: %s%s", reply.output, reply.errors);
	/* When the supervisor restarts its own session, it has looked at all. */
	begin(&own, "own");
	session_kill_server(&own);
	struct process supervisor = machine_background(WORDS("agentdeck", "supervise"),
						       at_home("supervise.out"));
	WAIT_FOR((session_look(&own), streq(own.status, "running")),
		 "the supervisor does not work");
	machine_kill(&supervisor, SIGTERM);
	WAIT_FOR(!machine_alive(&supervisor), "the supervisor does not end");
	(void)session_look(&session);
	ASSERT(streq(session.status, "unknown"), "status %s without --take-over", session.status);
	reply = deck(NULL, WORDS("start", "--take-over", session.id));
	ASSERT(reply.status == 0, "start --take-over: %s", reply.errors);
	(void)session_look(&session);
	assert_came_back(&session, session_id, MARKER, 1);
	assert_isolated(&session);
	assert_logged("taken over from %s", first_host());
}

/* As a machine with a read-only root does, at each boot. */
TEST(MachineIdThatIsNewAtEachBootIsNoticed)
{
	struct session session;
	begin(&session, "api");
	move_home();
	struct reply reply = deck(NULL, WORDS("recover"));
	ASSERT(reply.status == 0 && strstr(reply.output, "1 ran on another machine") &&
		       strstr(reply.output, "agentdeck recover --take-over"),
	       "recover: %s%s", reply.output, reply.errors);
	reply = deck(NULL, WORDS("doctor"));
	ASSERT(strstr(reply.output, "another machine id") &&
		       strstr(reply.output, "systemd-machine-id-setup --commit"),
	       "doctor: %s", reply.output);
}

TEST(RecoverTakesOverAfterAMove)
{
	struct session first, other;
	begin(&first, "first");
	begin(&other, "other");
	const char *first_id = first.session_id, *other_id = other.session_id;
	move_home();
	struct reply reply = deck(NULL, WORDS("recover", "--take-over", "--json"));
	ASSERT(reply.status == 0 && strstr(reply.output, "\"revived\":2"), "recover: %d %s%s",
	       reply.status, reply.output, reply.errors);
	(void)session_look(&first);
	(void)session_look(&other);
	assert_came_back(&first, first_id, MARKER, 1);
	assert_came_back(&other, other_id, MARKER, 1);
	reply = deck(NULL, WORDS("stop", first.id));
	ASSERT(reply.status == 0, "stop: %s", reply.errors);
}
