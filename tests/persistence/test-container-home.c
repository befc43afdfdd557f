/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent in a container has of its user's: a copy of the login, and a program of the machine.
 */
#include "persistence/containers.h"
#include "persistence/deck.h"

#include <string.h>

#define LOGIN ".local/share/agentdeck-demo-agent/login.json"

/* ---- the login --------------------------------------------------------------------------- */

static const char *login_inside(struct session *session)
{
	struct json_object *recipe = json_get_object(session_look(session), "recipe");
	return kept("%s/" LOGIN, json_get_string(recipe, "home", "(none)"));
}

static void assert_login(struct session *session, const char *text, const char *when)
{
	const char *found = machine_read(login_inside(session));
	ASSERT(streq(or_empty(found), text), "%s the login is '%s'", when, or_empty(found));
}

/* codex was named, and gemini was not. */
static void assert_other_logins(struct session *session)
{
	const char *own = login_inside(session);
	const char *home = kept("%.*s", (int)(strstr(own, LOGIN) - own), own);
	const char *login = machine_read(kept("%s.codex/auth.json", home));
	ASSERT(streq(or_empty(login), "login of codex"), "codex has '%s'", or_empty(login));
	ASSERT(machine_exists(kept("%s.codex/config.toml", home)), "codex has no first settings");
	ASSERT(!machine_exists(kept("%s.gemini", home)), "gemini has a login, too");
}

static void has_the_login_of_its_user(enum engine engine)
{
	static const char secret[] = "login-3b1f7720a94e4c58";
	struct session session;
	engine_prepare(engine, PLAIN_IMAGE);
	machine_write(at_home(LOGIN), 0644, secret);
	machine_write(at_home(".local/share/agentdeck-demo-agent/other.json"), 0600, "not a login");
	machine_write(at_home(".codex/auth.json"), 0600, "login of codex");
	machine_write(at_home(".gemini/oauth_creds.json"), 0600, "login of gemini");
	session_add(&session, NULL, "deck",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine", engine_address(engine),
			  "--auth", "sync", "--auth", "codex=sync"));
	session_start(&session, NULL);
	session_say(&session, "first");
	assert_login(&session, secret, "at first");
	assert_other_logins(&session);
	const char *inside = login_inside(&session);
	const char *mode = machine_root_ok(WORDS("stat", "-c", "%a %u", inside));
	ASSERT(streq(mode, kept("600 %u\n", machine_uid())), "mode and owner: %s", mode);
	ASSERT(!machine_exists(
		       kept("%.*sother.json", (int)(strrchr(inside, '/') + 1 - inside), inside)),
	       "another file was copied");
	const char *found = disclosures(engine, secret);
	ASSERT(streq(found, kept("%s\n", inside)), "the login is elsewhere:\n%s", found);
	/* The agent renews it. */
	machine_write(inside, 0600, "renewed inside");
	session_restart(&session, NULL);
	assert_login(&session, "renewed inside", "after a restart");
	/* Its user logs in again. */
	machine_write(at_home(LOGIN), 0600, "renewed outside");
	session_restart(&session, NULL);
	assert_login(&session, "renewed outside", "after a new login");
}

TEST(ContainerGetsTheNewerLoginDocker)
{
	has_the_login_of_its_user(ENGINE_DOCKER);
}

TEST(ContainerGetsTheNewerLoginPodman)
{
	has_the_login_of_its_user(ENGINE_PODMAN);
}

TEST(ContainerStartsWithoutALoginToCopy)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	session_add(&session, NULL, "deck",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
			  engine_address(ENGINE_DOCKER), "--auth", "sync"));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status == 0, "it ended with %d: %s", reply.status, reply.errors);
	ASSERT(strstr(reply.errors, at_home(LOGIN)), "it does not name the file: %s", reply.errors);
	(void)session_look(&session);
	session_say(&session, "first");
}

/* ---- the program ------------------------------------------------------------------------- */

/* An image without a single file has no loader either. */
static void refuses_what_does_not_fit(enum engine engine)
{
	struct session session;
	engine_prepare(engine, EMPTY_IMAGE);
	session_add(&session, NULL, "deck",
		    WORDS("--container", "--image", EMPTY_IMAGE, "--engine", engine_address(engine),
			  "--program", "host"));
	struct reply reply = deck(NULL, WORDS("session", "start", session.id));
	ASSERT(reply.status != 0, "it started: %s", reply.output);
	ASSERT(strstr(reply.errors, "cannot run") && strstr(reply.errors, "ld-") &&
		       strstr(reply.errors, "--program image"),
	       "not the reason: %s", reply.errors);
	engine_prepare(engine, PLAIN_IMAGE);
	(void)deck_ok(NULL,
		      WORDS("session", "set", "--json", session.id, "recipe.image", PLAIN_IMAGE));
	session_start(&session, NULL);
	session_say(&session, "first");
}

TEST(ContainerRefusesAProgramThatDoesNotFitDocker)
{
	refuses_what_does_not_fit(ENGINE_DOCKER);
}

TEST(ContainerRefusesAProgramThatDoesNotFitPodman)
{
	refuses_what_does_not_fit(ENGINE_PODMAN);
}

/* The test's busybox is in /usr/bin here, and the image has other programs there. */
TEST(ContainerKeepsTheProgramsOfItsImage)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, PLAIN_IMAGE);
	session_add(&session, NULL, "deck",
		    WORDS("--container", "--image", PLAIN_IMAGE, "--engine",
			  engine_address(ENGINE_DOCKER), "-c", "busybox sleep 1000"));
	session_start(&session, NULL);
	struct reply reply = deck(NULL, WORDS("exec", session.id, "--", "ls", "/usr/bin"));
	ASSERT(streq(reply.output, "busybox\nenv\n"), "its programs are: %s%s", reply.output,
	       reply.errors);
}

TEST(ContainerRunsAStaticProgramInAnyImage)
{
	struct session session;
	engine_prepare(ENGINE_DOCKER, EMPTY_IMAGE);
	machine_make_directory(at_home("tools"));
	machine_user_ok(WORDS("sh", "-c", "cp \"$(command -v busybox)\" \"$1\"", "sh",
			      at_home("tools/busybox")));
	session_add(&session, NULL, "deck",
		    WORDS("--container", "--image", EMPTY_IMAGE, "--engine",
			  engine_address(ENGINE_DOCKER), "--program", "host", "-c",
			  kept("%s sleep 1000", at_home("tools/busybox"))));
	session_start(&session, NULL);
	ASSERT(streq(session.status, "running"), "status %s", session.status);
	const struct strvec *argv = machine_argv(session.agent_pid);
	ASSERT(argv && streq(argv->items[0], at_home("tools/busybox")), "it runs %s",
	       argv ? argv->items[0] : "nothing");
}
