/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/claude.h"

#include <string.h>

enum { INSTALL_MS = 600000, ENTER_AGAIN_MS = 2000 };

static const char *install_claude(void)
{
	const char *installer = machine_source("helper/install-claude");
	struct answer answer = outside(WORDS(installer, kept("%s/claude", machine_cache())),
				       INSTALL_MS);
	if (answer.status == 77)
		skip_test("%.*s", (int)strcspn(answer.errors, "\n"), answer.errors);
	ASSERT(answer.status == 0, "install-claude: %s", answer.errors);
	char *path = keep(xstrdup(answer.output));
	size_t length = strlen(path);
	ASSERT(length > 1 && path[length - 1] == '\n', "install-claude says '%s'", path);
	path[length - 1] = '\0';
	return strrchr(path, '\n') ? strrchr(path, '\n') + 1 : path;
}

static void run_stub(struct claude *claude, const char *address, const char *port)
{
	const char *port_file = at_home("stub.port");
	claude->stub = machine_background(WORDS(at_home("model-api-stub"), "--port-file", port_file,
						"--log", claude->log, "--address", address,
						"--port", port),
					  at_home("stub.out"));
	WAIT_FOR(machine_exists(port_file), "the stub does not start: %s",
		 or_empty(machine_read(at_home("stub.out"))));
}

static void start_stub(struct claude *claude, const char *address)
{
	claude->log = at_home("stub.log");
	if (machine_user(WORDS("python3", "--version")).status != 0)
		skip_test("python3 is not installed");
	machine_bring("helper/model-api-stub", at_home("model-api-stub"));
	run_stub(claude, address, "0");
	const char *port = machine_read(at_home("stub.port"));
	claude->url = kept("http://%s:%.*s", address, (int)strcspn(port, "\n"), port);
}

void claude_stop_stub(struct claude *claude)
{
	machine_destroy(&claude->stub);
}

void claude_restart_stub(struct claude *claude)
{
	const char *address = claude->url + strlen("http://"), *colon = strchr(address, ':');
	machine_remove(at_home("stub.port"));
	run_stub(claude, kept("%.*s", (int)(colon - address), address), colon + 1);
}

const char *claude_program(void)
{
	char *resolved = realpath(install_claude(), NULL);
	ASSERT(resolved, "the installed claude is not there");
	return keep(resolved);
}

void claude_prepare_inside(struct claude *claude, const char *address)
{
	machine_make_directory(at_home("bin"));
	machine_user_ok(WORDS("ln", "-s", claude_program(), at_home("bin/claude")));
	start_stub(claude, address);
}

void claude_prepare(struct claude *claude, const char *address)
{
	const char *program = install_claude();
	start_stub(claude, address);
	machine_set("ANTHROPIC_BASE_URL", claude->url);
	machine_set("ANTHROPIC_AUTH_TOKEN", "stub");
	machine_set("DISABLE_AUTOUPDATER", "1");
	machine_set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
	machine_set("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1");
	machine_write(at_home(".claude.json"), 0600,
		      kept("{\"hasCompletedOnboarding\":true,"
			   "\"projects\":{\"%s\":{\"hasTrustDialogAccepted\":true}}}\n",
			   home()));
	machine_make_directory(at_home("bin"));
	machine_user_ok(WORDS("ln", "-s", program, at_home("bin/claude")));
}

/* The nth turn that the model was asked for, from 1; NULL if there was none yet. */
static struct json_object *turn(const struct claude *claude, unsigned n)
{
	const char *line = or_empty(machine_read(claude->log));
	for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
		struct json_object *object = NULL;
		if (json_parse(line, (size_t)(end - line), "stub.log", &object, NULL) < 0)
			fail_test("the stub's log: %.*s", (int)(end - line), line);
		keep_json(object);
		if (streq(json_get_string(object, "kind", ""), "turn") && --n == 0)
			return object;
	}
	return NULL;
}

/* claude shows a reply before it has written it, and what was not written is not resumed. */
static bool has_written(const char *reply)
{
	const char *script = "grep -rqsF -- \"$1\" \"$2\"/.claude*/projects "
			     "\"$2\"/.local/state/agentdeck/*/*/home/.claude/projects";
	return machine_user(WORDS("sh", "-c", script, "sh", reply, home())).status == 0;
}

struct json_object *claude_say(const struct claude *claude, const char *text, unsigned n)
{
	const char *reply = kept("stub reply %u:", n);
	int64_t patience = clock_ms() + PATIENCE_MS;
	session_type(&claude->session, text);
	while (!turn(claude, n)) {
		/* It takes an Enter that follows a paste too soon for a part of the paste. */
		int64_t soon = clock_ms() + ENTER_AGAIN_MS;
		session_press(&claude->session, "Enter");
		while (!turn(claude, n) && look_again(soon))
			;
		ASSERT(clock_ms() < patience, "claude asks its model nothing:\n%s",
		       or_empty(session_screen(&claude->session)));
	}
	WAIT_FOR(session_shows(&claude->session, reply), "claude does not show the reply:\n%s",
		 or_empty(session_screen(&claude->session)));
	WAIT_FOR(has_written(reply), "claude does not write its turn");
	return turn(claude, n);
}

void assert_carried(struct json_object *request, const char *session_id, const char *const *texts)
{
	cleanup_strvec struct strvec sent = { 0 }, expected = { 0 };
	json_get_strings(request, "texts", &sent);
	strvec_push_array(&expected, texts);
	ASSERT(strvec_equal(&sent, &expected), "the model was sent another conversation: %s",
	       json_print(request));
	ASSERT(streq(json_get_string(request, "session", ""), session_id),
	       "not conversation %s: %s", session_id, json_print(request));
}

void assert_login_was(struct json_object *request, const char *login)
{
	ASSERT(streq(json_get_string(request, "login", ""), login), "not the login %s: %s", login,
	       json_print(request));
}
