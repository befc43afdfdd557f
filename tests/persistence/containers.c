/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/containers.h"

#include <string.h>

#define LABEL "io.agentdeck.instance"

static struct {
	bool used; /* in this test: it may have containers */
	bool down; /* it was stopped, killed or held */
} engines[ENGINE_COUNT];

static const char *const names[] = {
	[ENGINE_DOCKER] = "docker",
	[ENGINE_PODMAN] = "the user's podman",
	[ENGINE_ROOT_PODMAN] = "root's podman",
};

const char *engine_address(enum engine engine)
{
	if (engine == ENGINE_DOCKER)
		return "unix:///run/docker.sock";
	if (engine == ENGINE_ROOT_PODMAN)
		return "unix:///run/podman.sock";
	return kept("unix:///run/user/%u/podman/podman.sock", machine_uid());
}

static const char *const *engine_argv(enum engine engine, const char *const *words)
{
	struct strvec *argv = kept_vector();
	/* By 125 the test host means itself. */
	strvec_push_array(argv,
			  WORDS("sh", "-c", "\"$@\"; s=$?; [ $s -ne 125 ] || s=1; exit $s", "sh"));
	if (engine == ENGINE_DOCKER)
		strvec_push_array(argv, WORDS("docker", "--host", engine_address(engine)));
	else
		strvec_push_array(argv,
				  WORDS("podman", "--remote", "--url", engine_address(engine)));
	strvec_push_array(argv, words);
	return (const char *const *)argv->items;
}

struct answer engine_try(enum engine engine, const char *const *words)
{
	return machine_user(engine_argv(engine, words));
}

const char *engine_say(enum engine engine, const char *const *words)
{
	struct answer answer = engine_try(engine, words);
	ASSERT(answer.status == 0, "%s %s %s ended with %d: %s%s", names[engine], words[0],
	       or_empty(words[1]), answer.status, answer.errors, answer.output);
	size_t length = strlen(answer.output);
	while (length && answer.output[length - 1] == '\n')
		length--;
	return kept("%.*s", (int)length, answer.output);
}

/* ---- images ------------------------------------------------------------------------------ */

/* The archive is made outside, where the programs are, and read inside. */
static void import(enum engine engine, const char *image, const char *const *kind)
{
	const char *archive = kept("/var/tmp/image-%d.tar", (int)engine);
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh",
				      machine_path(archive), machine_source("testbed/testimage")));
	strvec_push_array(argv, kind);
	struct answer made = outside((const char *const *)argv->items, PATIENCE_MS);
	if (made.status == 77)
		skip_test("%s", made.errors);
	ASSERT(made.status == 0, "no image: %s", made.errors);
	(void)engine_say(engine, WORDS("import", archive, image));
	machine_remove(archive);
}

static const char *demo_agent(void)
{
	return kept("%s/bin/agentdeck-demo-agent", machine_prefix());
}

static void prepare(enum engine engine)
{
	if (machine_lacks_engines())
		skip_test("%s", machine_lacks_engines());
	engines[engine].used = true;
	if (engine == ENGINE_PODMAN)
		machine_root_ok(WORDS("loginctl", "enable-linger", machine_user_name()));
	WAIT_FOR(engine_answers(engine), "%s does not answer", names[engine]);
}

/* Asked each time, because a test may have removed it. */
static bool has_image(enum engine engine, const char *image)
{
	return engine_try(engine, WORDS("image", "inspect", image)).status == 0;
}

void engine_prepare(enum engine engine, const char *image)
{
	const bool plain = streq(image, PLAIN_IMAGE);
	prepare(engine);
	if (!has_image(engine, image))
		import(engine, image, plain ? WORDS("plain", demo_agent()) : WORDS("empty"));
}

void engine_prepare_libraries(enum engine engine, const char *image, const char *program)
{
	prepare(engine);
	if (!has_image(engine, image))
		import(engine, image, WORDS("plain", demo_agent(), kept("+%s", program)));
}

void engine_prepare_nested(enum engine engine)
{
	prepare(engine);
	if (!has_image(engine, "agentdeck/docker:latest"))
		import(engine, "agentdeck/docker:latest", WORDS("docker"));
}

/* ---- containers -------------------------------------------------------------------------- */

const char *container_field(enum engine engine, const char *name, const char *format)
{
	return engine_say(engine, WORDS("container", "inspect", "--format", format, name));
}

const char *container_state(enum engine engine, const char *name)
{
	struct answer answer = engine_try(engine, WORDS("container", "inspect", "--format",
							"{{.State.Status}}", name));
	if (answer.status == 0)
		return kept("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
	ASSERT(strcasestr(answer.errors, "no such container"), "%s: %s", names[engine],
	       answer.errors);
	return NULL;
}

struct process container_process(enum engine engine, const char *name)
{
	const char *pid = container_field(engine, name, "{{.State.Pid}}");
	return machine_process((pid_t)strtol(pid, NULL, 10));
}

static unsigned count_lines(const char *text)
{
	unsigned lines = *text != '\0';
	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

unsigned container_count(enum engine engine, const char *label)
{
	return count_lines(engine_say(engine, WORDS("ps", "--all", "--quiet", "--filter",
						    kept("label=%s", label))));
}

/* ---- what belongs to agentdeck ------------------------------------------------------------ */

static const struct kind {
	const char *name;
	const char *list[8], *remove[3];
} kinds[] = {
	{ "container",
	  { "ps", "--all", "--format", "{{.Names}}", "--filter", "label=" LABEL },
	  { "rm", "--force" } },
	{ "network",
	  { "network", "ls", "--format", "{{.Name}}", "--filter", "label=" LABEL },
	  { "network", "rm" } },
	{ "image", { "images", "--format", "{{.Repository}}:{{.Tag}}" }, { "rmi" } },
};

/* podman puts "localhost/" before it.  "agentdeck/default" belongs to the user. */
static bool is_of_a_session(const struct kind *kind, const char *name)
{
	return !streq(kind->name, "image") || strstr(name, "agentdeck/keep:") ||
	       strstr(name, "agentdeck/build:");
}

static const char *belongings(enum engine engine, bool removes)
{
	const char *found = "";
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *all = engine_say(engine, kinds[i].list);
		for (size_t length; *all; all += length + (all[length] == '\n')) {
			length = strcspn(all, "\n");
			const char *name = kept("%.*s", (int)length, all);
			if (!is_of_a_session(&kinds[i], name))
				continue;
			found = kept("%s%s %s\n", found, kinds[i].name, name);
			struct strvec *argv = kept_vector();
			strvec_push_array(argv, kinds[i].remove);
			strvec_push(argv, name);
			if (removes)
				(void)engine_try(engine, (const char *const *)argv->items);
		}
	}
	return found;
}

const char *engine_belongings(enum engine engine)
{
	return belongings(engine, false);
}

/* ---- the engine itself ------------------------------------------------------------------- */

/* "systemctl" for the manager that has the engine's units. */
static struct answer try_manage(enum engine engine, const char *const *words)
{
	struct strvec *argv = kept_vector();
	if (engine == ENGINE_PODMAN)
		strvec_push_array(argv,
				  WORDS("env", kept("XDG_RUNTIME_DIR=/run/user/%u", machine_uid()),
					"systemctl", "--user"));
	else
		strvec_push(argv, "systemctl");
	strvec_push_array(argv, words);
	const char *const *items = (const char *const *)argv->items;
	return engine == ENGINE_PODMAN ? machine_user(items) : machine_root(items);
}

static void manage(enum engine engine, const char *const *words)
{
	struct answer answer = try_manage(engine, words);
	ASSERT(answer.status == 0, "systemctl %s for %s: %s", words[0], names[engine],
	       answer.errors);
}

static const char *service(enum engine engine)
{
	return engine == ENGINE_DOCKER ? "docker.service" : "podman.service";
}

static const char *socket_unit(enum engine engine)
{
	return engine == ENGINE_DOCKER ? "docker.socket" : "podman.socket";
}

void engine_kill(enum engine engine)
{
	engines[engine].down = true;
	manage(engine, WORDS("kill", "--kill-who=main", "--signal=SIGKILL", service(engine)));
}

/* Where podman had to make its user namespace first, its service has a child in a scope of its own,
 * and that one answers. */
static struct answer try_signal(enum engine engine, const char *signal)
{
	if (engine == ENGINE_PODMAN)
		return machine_user(WORDS("pkill", "--euid", kept("%u", machine_uid()), "--signal",
					  signal, "--full", "^/usr/bin/podman .*system service"));
	return try_manage(engine, WORDS("kill", "--kill-who=main", kept("--signal=%s", signal),
					service(engine)));
}

void engine_stop(enum engine engine)
{
	engines[engine].down = true;
	manage(engine, WORDS("stop", socket_unit(engine), service(engine)));
	/* The child would still answer. */
	if (engine == ENGINE_PODMAN)
		(void)try_signal(engine, "KILL");
}

void engine_hang(enum engine engine)
{
	ASSERT(engine_answers(engine), "%s does not answer", names[engine]);
	engines[engine].down = true;
	struct answer answer = try_signal(engine, "SIGSTOP");
	ASSERT(answer.status == 0, "stop %s: %s", names[engine], answer.errors);
}

void engine_resume(enum engine engine)
{
	/* podman ends by itself when it has no request for a while. */
	(void)try_signal(engine, "SIGCONT");
}

void engine_start(enum engine engine)
{
	manage(engine, WORDS("reset-failed", socket_unit(engine), service(engine)));
	manage(engine, WORDS("start", socket_unit(engine)));
	if (engine == ENGINE_DOCKER)
		manage(engine, WORDS("start", service(engine)));
	WAIT_FOR(engine_answers(engine), "%s does not answer", names[engine]);
	engines[engine].down = false;
}

bool engine_answers(enum engine engine)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS("timeout", "10"));
	strvec_push_array(argv, engine_argv(engine, WORDS("version")));
	return machine_user((const char *const *)argv->items).status == 0;
}

/* ---- secrets ----------------------------------------------------------------------------- */

const char *disclosures(enum engine engine, const char *text)
{
	/* grep's own arguments must not have it. */
	machine_write(at_home("canary"), 0600, kept("%s\n", text));
	const char *file = at_home("canary");
	const char *script =
		"file=$1; shift\n"
		"\"$@\" ps -aq --no-trunc | while read -r id; do\n"
		"  \"$@\" container inspect $id | grep -F -f \"$file\" && echo \"inspect $id\"\n"
		"  \"$@\" logs $id 2>&1 | grep -F -f \"$file\" && echo \"logs $id\"\n"
		"done\n"
		"\"$@\" images -aq | sort -u | while read -r id; do\n"
		"  \"$@\" history --no-trunc $id | grep -F -f \"$file\" && echo \"history $id\"\n"
		"done\n"
		"grep -Fal -f \"$file\" /proc/[0-9]*/cmdline\n"
		/* Here, and in the first process of a container. */
		"grep -Fal -f \"$file\" /proc/[0-9]*/environ | while read -r found; do\n"
		"  process=${found%/environ}\n"
		"  if [ \"$(readlink $process/ns/pid)\" = \"$(readlink /proc/self/ns/pid)\" ] ||\n"
		"     grep -q '^NSpid:.*[[:space:]]1$' $process/status; then\n"
		"    echo \"$found ($(tr '\\0' ' ' <$process/cmdline))\"\n"
		"  fi\n"
		"done\n"
		"journalctl --quiet --no-pager | grep -F -f \"$file\"\n"
		"grep -rFal -f \"$file\" \"$HOME/.local/state/agentdeck\" \"$HOME/.config\"\n"
		"true";
	struct strvec *argv = kept_vector();
	strvec_push_array(argv,
			  WORDS("env", kept("HOME=%s", home()), "sh", "-c", script, "sh", file));
	strvec_push_array(argv, engine_argv(engine, WORDS(NULL)));
	const char *found = machine_root_ok((const char *const *)argv->items);
	machine_remove(file);
	return found;
}

void assert_not_disclosed(enum engine engine, const char *text)
{
	const char *found = disclosures(engine, text);
	ASSERT(!*found, "a secret is disclosed:\n%s", found);
}

/* ---- the end of a test ------------------------------------------------------------------- */

static const char *clear(enum engine engine)
{
	const char *ours = belongings(engine, true);
	const char *left = *ours ? kept("in %s:\n%s", names[engine], ours) : NULL;
	const char *all = engine_say(engine, WORDS("ps", "--all", "--quiet"));
	for (size_t length; *all; all += length + (all[length] == '\n')) {
		length = strcspn(all, "\n");
		(void)engine_try(engine, WORDS("rm", "--force", kept("%.*s", (int)length, all)));
	}
	return left;
}

void engines_restore(void)
{
	for (enum engine engine = 0; engine < ENGINE_COUNT; engine++) {
		if (engines[engine].down) {
			engine_resume(engine);
			engine_start(engine);
		}
		if (engines[engine].used)
			WAIT_FOR(engine_answers(engine), "%s does not answer", names[engine]);
	}
}

const char *engines_end_test(void)
{
	const char *left = NULL;
	for (enum engine engine = 0; engine < ENGINE_COUNT; engine++) {
		if (!engines[engine].used)
			continue;
		const char *more = clear(engine);
		left = more ? more : left;
		engines[engine].used = false;
	}
	return left;
}
