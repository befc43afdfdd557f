/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Images that an engine lacks, and a registry has.
 */
#include "persistence/attach.h"
#include "persistence/inside.h"

#include <string.h>

#define REGISTRY "127.0.0.1:5000"
#define LOCKED   "127.0.0.1:5001" /* wants a login */
#define NOWHERE  "127.0.0.1:5002"
#define IMAGE    REGISTRY "/pulled:1"

static void serve(const char *address, const char *more)
{
	const char *file = at_home(kept("registry-%s.yml", address));
	machine_write(file, 0644,
		      kept("version: 0.1\nlog: {level: error}\nstorage: {filesystem: "
			   "{rootdirectory: %s}}\nhttp: {addr: \"%s\"}\n%s",
			   at_home("registry"), address, more));
	(void)machine_root_background(WORDS("docker-registry", "serve", file),
				      kept("/tmp/registry-%s.log", address));
	WAIT_FOR(machine_user(WORDS("bash", "-c", "exec 3<>\"/dev/tcp/${1/://}\"", "bash", address))
				 .status == 0,
		 "the registry does not listen at %s", address);
}

static bool has_image(enum engine engine)
{
	return engine_try(engine, WORDS("image", "inspect", IMAGE)).status == 0;
}

/* The registry has the image, and the engine does not. */
static void begin(enum engine engine)
{
	engine_prepare(engine, PLAIN_IMAGE);
	if (machine_user(WORDS("sh", "-c", "command -v docker-registry")).status != 0)
		skip_test("docker-registry is not installed (Debian package: docker-registry)");
	serve(REGISTRY, "");
	machine_make_directory(at_home("deck"));
	(void)engine_say(engine, WORDS("tag", PLAIN_IMAGE, IMAGE));
	(void)engine_say(engine, WORDS("push", IMAGE));
	(void)engine_say(engine, WORDS("rmi", IMAGE));
}

static void assert_refused(enum engine engine, const char *image, const char *option,
			   const char *why, const char *remedy)
{
	struct reply reply = deck(NULL, WORDS("add", at_home("deck"), "--agent", "demo",
					      "--container", "--image", image, "--engine",
					      engine_address(engine), option));
	ASSERT(reply.status != 0 && strstr(reply.errors, why) && strstr(reply.errors, remedy),
	       "%s: it ended with %d: %s%s", image, reply.status, reply.output, reply.errors);
}

static void assert_asked(enum engine engine, const char *key, const char *answer)
{
	const char *keys = terminal_open(kept("agentdeck add %s -t asked --agent demo --container "
					      "--image %s --engine %s",
					      at_home("deck"), IMAGE, engine_address(engine)),
					 kept("answer-%s", key));
	WAIT_FOR(strstr(attach_output(keys), "Download " IMAGE " now?"), "it does not ask:\n%s",
		 attach_output(keys));
	attach_press(keys, kept("%s\\n", key));
	WAIT_FOR(strstr(attach_output(keys), answer), "it does not say %s:\n%s", answer,
		 attach_output(keys));
}

static void is_downloaded_with_consent(enum engine engine)
{
	struct inside inside = { .engine = engine };
	begin(engine);
	assert_refused(engine, IMAGE, NULL, "has no image " IMAGE, "--pull");
	assert_asked(engine, "n", "The image was not downloaded.");
	ASSERT(!has_image(engine), "it was downloaded without consent");
	assert_asked(engine, "y", "Added ");
	ASSERT(has_image(engine), "it was not downloaded");
	(void)engine_say(engine, WORDS("rmi", "--force",
				       engine_say(engine, WORDS("image", "inspect", "--format",
								"{{.Id}}", IMAGE))));
	struct reply started = deck(NULL, WORDS("session", "start", "asked"));
	ASSERT(started.status != 0 && !has_image(engine), "a start downloads: %d: %s%s",
	       started.status, started.output, started.errors);
	/* a role whose Dockerfile begins from it */
	machine_write(at_home("deck/.devcontainer/Dockerfile"), 0644, "FROM " IMAGE "\n");
	machine_write(at_home("deck/.devcontainer/devcontainer.json"), 0644,
		      "{\"build\": {\"dockerfile\": \"Dockerfile\"}}\n");
	(void)deck_ok(NULL, WORDS("role", "trust", "--json", at_home("deck")));
	session_add(&inside.session, NULL, "deck",
		    WORDS("--devcontainer", "--pull", "--engine", engine_address(engine)));
	session_start(&inside.session, NULL);
	assert_running(&inside, "after its base was downloaded");
}

TEST(ContainerImageIsDownloadedWithConsentDocker)
{
	is_downloaded_with_consent(ENGINE_DOCKER);
}

TEST(ContainerImageIsDownloadedWithConsentPodman)
{
	is_downloaded_with_consent(ENGINE_PODMAN);
}

static void says_why_it_is_not(enum engine engine)
{
	begin(engine);
	machine_write(at_home("passwords"), 0644,
		      "a:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/"
		      "r7q1BB8I2s0BRqC\n");
	serve(LOCKED, kept("auth: {htpasswd: {realm: test, path: %s}}\n", at_home("passwords")));
	assert_refused(engine, REGISTRY "/none:1", "--pull", "did not download",
		       "check its name and its tag");
	assert_refused(engine, NOWHERE "/web:1", "--pull", "connection refused",
		       "check the network");
	assert_refused(engine, LOCKED "/web:1", "--pull", "did not download", "log in");
}

TEST(ContainerImageThatIsNotDownloadedSaysWhyDocker)
{
	says_why_it_is_not(ENGINE_DOCKER);
}

TEST(ContainerImageThatIsNotDownloadedSaysWhyPodman)
{
	says_why_it_is_not(ENGINE_PODMAN);
}
