/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The real claude in a container: it has a turn, meets a fault of each tier, is started again, and
 * its next request to the model carries that turn.  With --auth sync, it shows the model the login
 * of its user.
 *
 * Its program is the one of the machine, mounted read-only.  Nobody has answered its questions: its
 * home is new, so that it takes a turn at all says that agentdeck has filled it.
 */
#include "persistence/claude.h"
#include "persistence/containers.h"
#include "persistence/roles.h"

#include <string.h>

struct inside {
	enum engine engine;
	struct claude claude;
	const char *session_id;
	const char *container; /* its id */
};

/* An address of the machine that the containers of all engines reach. */
static const char *reachable_address(void)
{
	const char *found = machine_root_ok(WORDS(
		"sh", "-c", "ip -4 -o address show docker0 | sed 's|.* inet \\([^/]*\\)/.*|\\1|'"));
	ASSERT(*found, "the machine has no bridge of Docker's");
	return kept("%.*s", (int)strcspn(found, "\n"), found);
}

static const char *find_container(const struct inside *inside, const char *format)
{
	return engine_say(inside->engine,
			  WORDS("ps", "--all", "--no-trunc", "--format", format, "--filter",
				kept("label=io.agentdeck.instance=%s", inside->claude.session.id)));
}

static void begin(struct inside *inside, enum engine engine, const char *const *words)
{
	static const char *const quiet[] = {
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
	};
	*inside = (struct inside){ .engine = engine };
	struct claude *claude = &inside->claude;
	struct strvec *argv = kept_vector();
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE); /* its bridge is the address */
	engine_prepare_libraries(engine, LIBRARIES_IMAGE("claude"), claude_program());
	claude_prepare_inside(claude, reachable_address());
	strvec_push_array(argv, WORDS("--agent", "claude", "--container", "--engine",
				      engine_address(engine), "--program", "host", "--env",
				      kept("ANTHROPIC_BASE_URL=%s", claude->url)));
	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		strvec_push_array(argv, WORDS("--env", quiet[i]));
	strvec_push_array(argv, words);
	session_add(&claude->session, NULL, "real", (const char *const *)argv->items);
	session_start(&claude->session, NULL);
	inside->session_id = claude->session.session_id;
	assert_flag(&claude->session, "--session-id", inside->session_id);
	inside->container = find_container(inside, "{{.ID}}");
	ASSERT(strlen(inside->container) == 64, "not one container: '%s'", inside->container);
}

/* option, value: where its image comes from. */
/* claude has written down the turn: until then, what ends it loses that, as without agentdeck. */
static void await_reply(const struct inside *inside)
{
	const char *id = inside->claude.session.id;
	WAIT_FOR(*json_get_string(deck_look(WORDS("session", "output", id, "--json")).json,
				  "content", ""),
		 "claude writes no reply down");
}

static void begin_with_token(struct inside *inside, enum engine engine, const char *option,
			     const char *value)
{
	machine_set("ANTHROPIC_AUTH_TOKEN", "stub");
	begin(inside, engine,
	      WORDS(option, value, "--auth", "token", "--secret", "ANTHROPIC_AUTH_TOKEN"));
	assert_carried(claude_say(&inside->claude, "first words", 1), inside->session_id,
		       WORDS("first words"));
	await_reply(inside);
}

/* It has resumed: its next request carries the first turn. */
static void assert_carries_on(struct inside *inside)
{
	ASSERT(streq(or_empty(inside->claude.session.session_id), inside->session_id),
	       "conversation %s became %s", inside->session_id,
	       or_empty(inside->claude.session.session_id));
	assert_carried(claude_say(&inside->claude, "second words", 2), inside->session_id,
		       WORDS("first words", "second words"));
	assert_carried(claude_say(&inside->claude, "third words", 3), inside->session_id,
		       WORDS("first words", "second words", "third words"));
}

static void await_end(struct inside *inside, const struct process *agent)
{
	WAIT_FOR(!machine_alive(agent), "its agent is left");
	WAIT_FOR((session_look(&inside->claude.session),
		  !streq(inside->claude.session.status, "running")),
		 "it seems to run");
}

/* ---- the faults -------------------------------------------------------------------------- */

static void kill_window(const struct session *session)
{
	machine_user_ok(WORDS("sh", "-c",
			      "kill -9 \"$(tmux -S \"$1\" display-message -p '#{pid}')\"", "sh",
			      session->socket));
}

/* Tier 0: the window is lost. */
static void loses_its_server(enum engine engine)
{
	struct inside inside;
	begin_with_token(&inside, engine, "--image", LIBRARIES_IMAGE("claude"));
	struct session *session = &inside.claude.session;
	const struct process agent = session_agent(session);
	kill_window(session);
	session_start(session, NULL);
	ASSERT(machine_alive(&agent) && session->agent_pid == agent.pid, "another agent");
	assert_carries_on(&inside);
}

/* Tiers 1 and 2: what the engine does to its container. */
static void meets(enum engine engine, const char *const *words, bool is_removed)
{
	struct inside inside;
	begin_with_token(&inside, engine, "--image", LIBRARIES_IMAGE("claude"));
	struct session *session = &inside.claude.session;
	const struct process agent = session_agent(session);
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, words);
	strvec_push(argv, inside.container);
	(void)engine_say(engine, (const char *const *)argv->items);
	await_end(&inside, &agent);
	session_start(session, NULL);
	assert_flag(session, "--resume", inside.session_id);
	const char *now = find_container(&inside, "{{.ID}}");
	ASSERT(streq(now, inside.container) != is_removed, "the container %s became %s",
	       inside.container, now);
	assert_carries_on(&inside);
}

/* Tier 1 as well: the machine ends under it. */
static void loses_its_machine(enum engine engine, bool in_order)
{
	struct inside inside;
	begin_with_token(&inside, engine, "--image", LIBRARIES_IMAGE("claude"));
	struct session *session = &inside.claude.session;
	claude_stop_stub(&inside.claude);
	if (in_order) {
		machine_reboot();
	} else {
		machine_powercut();
		machine_boot();
	}
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	engine_prepare_libraries(engine, LIBRARIES_IMAGE("claude"), claude_program());
	claude_restart_stub(&inside.claude);
	session_start(session, NULL);
	assert_flag(session, "--resume", inside.session_id);
	const char *now = find_container(&inside, "{{.ID}}");
	ASSERT(streq(now, inside.container), "the container %s became %s", inside.container, now);
	assert_carries_on(&inside);
}

/* Tier 3: only the directory is left that its image is built from. */
static void loses_its_image(enum engine engine)
{
	struct inside inside;
	machine_write(at_home("image/Dockerfile"), 0644,
		      "FROM " LIBRARIES_IMAGE("claude") "\nENV BUILT=1\n");
	begin_with_token(&inside, engine, "--build", at_home("image"));
	struct session *session = &inside.claude.session;
	const struct process agent = session_agent(session);
	const char *image = container_field(engine, inside.container, "{{.Image}}");
	(void)engine_say(engine, WORDS("rm", "--force", inside.container));
	await_end(&inside, &agent);
	(void)engine_say(engine, WORDS("rmi", "--force", image));
	ASSERT(engine_try(engine, WORDS("image", "inspect", image)).status != 0,
	       "its image is left");
	(void)deck_ok(NULL, WORDS("session", "start", "--rebuild", "--json", session->id));
	(void)session_look(session);
	assert_flag(session, "--resume", inside.session_id);
	const char *now = find_container(&inside, "{{.ID}}");
	ASSERT(strlen(now) == 64 && !streq(now, inside.container), "not another container: '%s'",
	       now);
	assert_carries_on(&inside);
}

/* ---- a role ------------------------------------------------------------------------------ */

/* The next request has all that was said. */
static void assert_goes_on(struct inside *inside, const char *const *said)
{
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, said);
	assert_carried(claude_say(&inside->claude, words.items[words.count - 1],
				  (unsigned)words.count),
		       inside->session_id, said);
}

static void lose(struct inside *inside, const char *const *words)
{
	const struct process agent = session_agent(&inside->claude.session);
	(void)engine_say(inside->engine, words);
	await_end(inside, &agent);
}

/* The role of a Git repository that has moved on, and cannot be reached: the environment is that of
 * the old commit at each tier. */
static void assert_role_is_old(const struct inside *inside)
{
	const char *now = find_container(inside, "{{.ID}}");
	const char *environment = container_field(inside->engine, now, "{{.Config.Env}}");
	ASSERT(strstr(environment, "BUILT=old"), "it has another image: %s", environment);
}

static void commit_mark(const char *mark)
{
	roles_commit(kept("{\"build\": {\"dockerfile\": \"Dockerfile\", \"args\": "
			  "{\"MARK\": \"%s\"}}}\n",
			  mark));
}

static void comes_back_in_its_role(enum engine engine)
{
	struct inside inside;
	const char *where = kept("file://%s@main#web", at_home("roles"));
	roles_begin("FROM " LIBRARIES_IMAGE("claude") "\nARG MARK\nENV BUILT=$MARK\n");
	commit_mark("old");
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", where));
	begin_with_token(&inside, engine, "--role", where);
	struct session *session = &inside.claude.session;
	commit_mark("new");
	roles_lose();
	kill_window(session);
	session_start(session, NULL);
	assert_goes_on(&inside, WORDS("first words", "tier 0"));
	lose(&inside, WORDS("kill", inside.container));
	session_start(session, NULL);
	assert_goes_on(&inside, WORDS("first words", "tier 0", "tier 1"));
	assert_role_is_old(&inside);
	lose(&inside, WORDS("rm", "--force", inside.container));
	session_start(session, NULL);
	assert_goes_on(&inside, WORDS("first words", "tier 0", "tier 1", "tier 2"));
	assert_role_is_old(&inside);
	const char *now = find_container(&inside, "{{.ID}}");
	const char *image = container_field(engine, now, "{{.Image}}");
	lose(&inside, WORDS("rm", "--force", now));
	(void)engine_say(engine, WORDS("rmi", "--force", image));
	(void)deck_ok(NULL, WORDS("session", "start", "--rebuild", "--json", session->id));
	(void)session_look(session);
	assert_goes_on(&inside, WORDS("first words", "tier 0", "tier 1", "tier 2", "tier 3"));
	assert_role_is_old(&inside);
}

TEST(RealClaudeInARoleComesBackAtEachTierDocker)
{
	comes_back_in_its_role(ENGINE_DOCKER);
}

TEST(RealClaudeInARoleComesBackAtEachTierPodman)
{
	comes_back_in_its_role(ENGINE_PODMAN);
}

/* ---- a second one in its container ---------------------------------------------------------- */

static void begin_second(const struct inside *inside, struct claude *second)
{
	struct json_object *made = deck_ok(NULL, WORDS("launch", "--in", inside->claude.session.id,
						       "--agent", "claude", "-t", "second",
						       "--auth", "token", "--secret",
						       "ANTHROPIC_AUTH_TOKEN", "--json"));
	*second = inside->claude;
	second->session = (struct session){ .title = "second",
					    .directory = inside->claude.session.directory,
					    .id = json_get_string(made, "id", NULL) };
	(void)session_look(&second->session);
}

/* The machine ends under both.  The second one comes back first, and brings the container. */
static void two_come_back(enum engine engine)
{
	struct inside inside;
	struct claude second;
	begin_with_token(&inside, engine, "--image", LIBRARIES_IMAGE("claude"));
	begin_second(&inside, &second);
	const char *id = kept("%s", second.session.session_id);
	ASSERT(!streq(id, inside.session_id), "both have the conversation %s", id);
	assert_carried(claude_say(&second, "other words", 2), id, WORDS("other words"));
	claude_stop_stub(&inside.claude);
	machine_reboot();
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	engine_prepare_libraries(engine, LIBRARIES_IMAGE("claude"), claude_program());
	claude_restart_stub(&inside.claude);
	session_start(&second.session, NULL);
	assert_flag(&second.session, "--resume", id);
	assert_carried(claude_say(&second, "more of them", 3), id,
		       WORDS("other words", "more of them"));
	session_start(&inside.claude.session, NULL);
	assert_flag(&inside.claude.session, "--resume", inside.session_id);
	assert_carried(claude_say(&inside.claude, "second words", 4), inside.session_id,
		       WORDS("first words", "second words"));
	const char *now = find_container(&inside, "{{.ID}}");
	ASSERT(streq(now, inside.container), "the container %s became %s", inside.container, now);
	(void)deck_ok(NULL, WORDS("remove", "--force", second.session.id, "--json"));
}

TEST(RealClaudeAsASecondAgentComesBackAfterRebootDocker)
{
	two_come_back(ENGINE_DOCKER);
}

TEST(RealClaudeAsASecondAgentComesBackAfterRebootPodman)
{
	two_come_back(ENGINE_PODMAN);
}

/* ---- the login of its user --------------------------------------------------------------- */

static void log_in(const char *token)
{
	machine_write(at_home(".claude/.credentials.json"), 0600,
		      kept("{\"claudeAiOauth\":{\"accessToken\":\"%s\",\"refreshToken\":\"stub\","
			   "\"expiresAt\":4102444800000,\"subscriptionType\":\"max\","
			   "\"scopes\":[\"user:inference\",\"user:profile\"]}}",
			   token));
}

static void has_the_login_of_its_user(enum engine engine)
{
	struct inside inside;
	log_in("stub-login-1");
	begin(&inside, engine, WORDS("--image", LIBRARIES_IMAGE("claude"), "--auth", "sync"));
	assert_login_was(claude_say(&inside.claude, "first words", 1), "stub-login-1");
	log_in("stub-login-2");
	session_restart(&inside.claude.session, NULL);
	struct json_object *request = claude_say(&inside.claude, "second words", 2);
	assert_login_was(request, "stub-login-2");
	assert_carried(request, inside.session_id, WORDS("first words", "second words"));
}

/* It asks whether it may use a key that it has not seen before. */
TEST(RealClaudeInContainerUsesAKeyUnasked)
{
	struct inside inside;
	machine_set("ANTHROPIC_API_KEY",
		    "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz0123456789");
	begin(&inside, ENGINE_DOCKER,
	      WORDS("--image", LIBRARIES_IMAGE("claude"), "--auth", "token", "--secret",
		    "ANTHROPIC_API_KEY"));
	assert_carried(claude_say(&inside.claude, "first words", 1), inside.session_id,
		       WORDS("first words"));
}

TEST(RealClaudeInContainerOutlivesItsTmuxServerDocker)
{
	loses_its_server(ENGINE_DOCKER);
}

TEST(RealClaudeInContainerOutlivesItsTmuxServerPodman)
{
	loses_its_server(ENGINE_PODMAN);
}

TEST(RealClaudeInContainerComesBackAfterDockerStop)
{
	meets(ENGINE_DOCKER, WORDS("stop"), false);
}

TEST(RealClaudeInContainerComesBackAfterPodmanStop)
{
	meets(ENGINE_PODMAN, WORDS("stop"), false);
}

TEST(RealClaudeInContainerComesBackAfterDockerRemove)
{
	meets(ENGINE_DOCKER, WORDS("rm", "--force"), true);
}

TEST(RealClaudeInContainerComesBackAfterPodmanRemove)
{
	meets(ENGINE_PODMAN, WORDS("rm", "--force"), true);
}

TEST(RealClaudeInContainerComesBackAfterRebootDocker)
{
	loses_its_machine(ENGINE_DOCKER, true);
}

TEST(RealClaudeInContainerComesBackAfterRebootPodman)
{
	loses_its_machine(ENGINE_PODMAN, true);
}

TEST(RealClaudeInContainerComesBackAfterRebootRootPodman)
{
	loses_its_machine(ENGINE_ROOT_PODMAN, true);
}

TEST(RealClaudeInContainerComesBackAfterPowerCutDocker)
{
	loses_its_machine(ENGINE_DOCKER, false);
}

TEST(RealClaudeInContainerComesBackAfterPowerCutPodman)
{
	loses_its_machine(ENGINE_PODMAN, false);
}

TEST(RealClaudeInContainerComesBackAfterPowerCutRootPodman)
{
	loses_its_machine(ENGINE_ROOT_PODMAN, false);
}

TEST(RealClaudeInContainerImageIsBuiltAgainDocker)
{
	loses_its_image(ENGINE_DOCKER);
}

TEST(RealClaudeInContainerImageIsBuiltAgainPodman)
{
	loses_its_image(ENGINE_PODMAN);
}

TEST(RealClaudeInContainerHasTheLoginOfItsUserDocker)
{
	has_the_login_of_its_user(ENGINE_DOCKER);
}

TEST(RealClaudeInContainerHasTheLoginOfItsUserPodman)
{
	has_the_login_of_its_user(ENGINE_PODMAN);
}
