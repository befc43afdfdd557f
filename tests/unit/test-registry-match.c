/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/agent/registry.h"

#include <string.h>

static void put(struct registry *registry, const char *name, const char *text)
{
	struct error err = { 0 };
	if (registry_override(registry, name, text, strlen(text), "x.toml", &err) != 0)
		fail_msg("%s", err.message);
}

static struct registry builtin(void)
{
	struct registry registry = { 0 };
	struct error err = { 0 };
	if (registry_builtin(&registry, &err) != 0)
		fail_msg("%s", err.message);
	put(&registry, "parrot",
	    "command = ['parrot']\npackages = ['@bird/parrot-cli', 'parrot-py']\n");
	return registry;
}

static struct strvec words(const char *const *items)
{
	struct strvec vec = { 0 };
	strvec_push_array(&vec, items);
	return vec;
}

#define WORDS(...) words((const char *const[]){ __VA_ARGS__, NULL })

/* Split a command line without quotes. */
static struct strvec split(const char *line)
{
	struct strvec argv = { 0 };
	for (size_t length; *line; line += length + (line[length] == ' ')) {
		length = strcspn(line, " ");
		strvec_push_take(&argv, xstrndup(line, length));
	}
	return argv;
}

static void assert_match(struct strvec argv, const char *name, size_t program)
{
	cleanup_registry struct registry registry = builtin();
	const struct agent *agent = registry_match(&registry, &argv);
	const char *found = agent ? agent->name : "none";
	cleanup_free char *shown = visible_argv(strvec_argv(&argv));
	if (!streq(found, name ? name : "none"))
		fail_msg("%s: %s", shown, found);
	if (registry_program(&argv) != program)
		fail_msg("%s: word %zu", shown, registry_program(&argv));
	strvec_clear(&argv);
}

static void an_agent_is_known_by_its_programs_name(void **state)
{
	(void)state;
	assert_match(WORDS("claude"), "claude", 0);
	assert_match(WORDS("/opt/x/claude", "--model", "opus"), "claude", 0);
	assert_match(WORDS("./agentdeck-demo-agent"), "demo", 0);
	assert_match(WORDS("/bin/zsh", "-l"), "shell", 0);
	assert_match(WORDS("claude-squad"), NULL, 0);
	assert_match(WORDS("my-claude"), NULL, 0);
	assert_match(WORDS("Claude"), NULL, 0);
	assert_match((struct strvec){ 0 }, NULL, 0);
}

static void env_is_looked_through(void **state)
{
	(void)state;
	assert_match(WORDS("env", "A=1", "claude"), "claude", 2);
	assert_match(WORDS("/usr/bin/env", "-i", "A=1", "B=claude", "/opt/claude", "-c"), "claude",
		     4);
	assert_match(WORDS("env", "-u", "CLAUDECODE", "claude"), "claude", 3);
	assert_match(WORDS("env", "--unset=X", "--chdir", "/srv", "--", "claude"), "claude", 5);
	assert_match(WORDS("env", "-", "env", "A=1", "claude"), "claude", 4);
	assert_match(WORDS("env", "-S", "claude --model opus"), NULL, 3);
	assert_match(WORDS("env", "A=1"), NULL, 2);
	assert_match(WORDS("env", "-u"), NULL, 2);
	assert_match(WORDS("env"), NULL, 1);
}

static void an_interpreters_script_is_looked_at(void **state)
{
	(void)state;
	assert_match(WORDS("node", "/usr/lib/node_modules/.bin/claude", "-c"), "claude", 1);
	assert_match(WORDS("env", "A=1", "/usr/bin/node", "claude"), "claude", 3);
	assert_match(WORDS("node", "app.js", "claude"), NULL, 1);
	assert_match(WORDS("node", "--require", "claude", "app.js"), NULL, 0);
	assert_match(WORDS("python3", "-c", "claude"), NULL, 0);
	assert_match(WORDS("bun", "-e", "claude"), NULL, 0);
	assert_match(WORDS("deno", "claude"), NULL, 0);
	assert_match(WORDS("node"), NULL, 0);
}

/* Programs that run a program out of a package, and the place of its name. */
static void what_runs_packages_is_looked_through(void **state)
{
	(void)state;
	static const struct {
		const char *line, *agent;
		size_t program;
	} cases[] = {
		{ "npx @bird/parrot-cli", "parrot", 1 },
		{ "npx @bird/parrot-cli@latest --resume x", "parrot", 1 },
		{ "npx -y @bird/parrot-cli@1.2.3", "parrot", 2 },
		{ "npx --yes --registry http://x @bird/parrot-cli", "parrot", 4 },
		{ "npx -y -- @bird/parrot-cli", "parrot", 3 },
		{ "npx parrot", "parrot", 1 },
		{ "npx parrot@2", "parrot", 1 },
		{ "npx --package @bird/parrot-cli@1 parrot", "parrot", 3 },
		{ "npx --package=@bird/parrot-cli anything -v", "parrot", 2 },
		{ "npx -y -p @bird/parrot-cli anything", "parrot", 4 },
		{ "/usr/bin/npx parrot", "parrot", 1 },
		{ "env A=1 npx -y @bird/parrot-cli", "parrot", 4 },
		{ "npm exec @bird/parrot-cli", "parrot", 2 },
		{ "npm exec --yes -- @bird/parrot-cli@1 --model x", "parrot", 4 },
		{ "npm x parrot", "parrot", 2 },
		{ "bunx @bird/parrot-cli", "parrot", 1 },
		{ "bunx --bun @bird/parrot-cli@2", "parrot", 2 },
		{ "bun x parrot", "parrot", 2 },
		{ "pnpm dlx @bird/parrot-cli", "parrot", 2 },
		{ "pnpm --package=@bird/parrot-cli dlx parrot", NULL, 0 },
		{ "pnpm dlx --package @bird/parrot-cli parrot", "parrot", 4 },
		{ "pnpx @bird/parrot-cli", "parrot", 1 },
		{ "yarn dlx -q @bird/parrot-cli", "parrot", 3 },
		{ "uvx parrot-py", "parrot", 1 },
		{ "uvx parrot-py@1.0", "parrot", 1 },
		{ "uvx parrot-py[all]==1.0", "parrot", 1 },
		{ "uvx --from parrot-py>=2 anything", "parrot", 3 },
		{ "uvx --python 3.12 --with other parrot-py", "parrot", 5 },
		{ "uvx --from git+https://x/parrot parrot", "parrot", 3 },
		{ "uv tool run --from parrot-py parrot", "parrot", 5 },
		{ "pipx run parrot-py", "parrot", 2 },
		{ "pipx run --spec parrot-py==1.0 anything", "parrot", 4 },
		{ "deno run -A npm:@bird/parrot-cli@1", "parrot", 3 },
		{ "deno run --allow-all npm:@bird/parrot-cli", "parrot", 3 },
		{ "bun run /opt/bin/parrot", "parrot", 2 },
		/* A package of somebody else's scope. */
		{ "npx @other/parrot", NULL, 1 },
		{ "npx @bird/parrot-cli-extra", NULL, 1 },
		{ "npx @bird", NULL, 1 },
		{ "npx other @bird/parrot-cli", NULL, 1 },
		/* Another package, but the program's name matches. */
		{ "npx -p other parrot", "parrot", 3 },
		{ "npm install @bird/parrot-cli", NULL, 0 },
		{ "pnpm add parrot", NULL, 0 },
		{ "uv run parrot", NULL, 0 },
		{ "uv tool install parrot-py", NULL, 0 },
		{ "pipx install parrot-py", NULL, 0 },
		{ "npx -c parrot", NULL, 0 },
		{ "npx --call=parrot x", NULL, 0 },
		{ "npx", NULL, 0 },
		{ "npx -y", NULL, 0 },
		{ "npx -p", NULL, 0 },
		{ "npx --", NULL, 0 },
		{ "uv tool", NULL, 0 },
		{ "parrot-py", NULL, 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_match(split(cases[i].line), cases[i].agent, cases[i].program);
}

static void a_script_is_known_by_the_package_that_it_lies_in(void **state)
{
	(void)state;
	assert_match(split("node /usr/lib/node_modules/@bird/parrot-cli/dist/cli.js -c"), "parrot",
		     1);
	assert_match(split("node --no-warnings=X --max-old-space-size=9 /usr/bin/parrot"), "parrot",
		     3);
	assert_match(split("node /x/node_modules/a/node_modules/@bird/parrot-cli/cli.js"), "parrot",
		     1);
	assert_match(split("node /x/node_modules/@bird/parrot-cli/node_modules/a/cli.js"), NULL, 1);
	assert_match(split("node /x/node_modules/.bin/parrot"), "parrot", 1);
	assert_match(split("node /x/node_modules/@bird"), NULL, 1);
	assert_match(split("python3.12 -m parrot --vim"), "parrot", 2);
	assert_match(split("python3 -u /usr/bin/parrot"), "parrot", 2);
	assert_match(split("python3 -m"), NULL, 0);
	assert_match(split("pythonista parrot"), NULL, 0);
}

static void no_name_means_two_builtin_agents(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	cleanup_strvec struct strvec seen = { 0 };
	for (size_t i = 0; i < registry.count; i++) {
		const struct strvec *lists[] = { &registry.agents[i]->match,
						 &registry.agents[i]->packages };
		for (size_t j = 0; j < ARRAY_SIZE(lists); j++) {
			for (size_t k = 0; k < lists[j]->count; k++) {
				cleanup_free char *name = xasprintf("%zu %s", j,
								    lists[j]->items[k]);
				if (strvec_contains(&seen, name))
					fail_msg("%s: %s", registry.agents[i]->name, name);
				strvec_push(&seen, name);
			}
		}
	}
}

static void of_two_entries_that_fit_the_users_own_wins(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	cleanup_strvec struct strvec argv = WORDS("claude"), package = WORDS("npx", "parrot-py");
	put(&registry, "zz", "command = ['zz']\nmatch = ['claude']\npackages = ['parrot-py']\n");
	assert_string_equal(registry_match(&registry, &argv)->name, "zz");
	/* Two entries of the user's match: the first by name counts. */
	assert_string_equal(registry_match(&registry, &package)->name, "parrot");
	put(&registry, "zz", "match = []\n");
	put(&registry, "shell", "match = ['claude']\n");
	assert_string_equal(registry_match(&registry, &argv)->name, "shell");
}

static void an_interpreter_can_be_an_agent_itself(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	put(&registry, "repl", "command = ['node']\n");
	cleanup_strvec struct strvec argv = WORDS("node", "app.js");
	const struct agent *agent = registry_match(&registry, &argv);
	assert_non_null(agent);
	assert_string_equal(agent->name, "repl");
}

static void assert_login_line(const char *words, const char *expected)
{
	cleanup_registry struct registry registry = builtin();
	cleanup_free char *line = NULL;
	put(&registry, "zz",
	    "command = ['zz']\n[screen]\nlogin = ['run /login', '^Invalid API key']\n");
	const enum refusal refusal = registry_refusal(registry_find(&registry, "zz"), words, &line);
	assert_int_equal(refusal, expected ? REFUSAL_LOGIN : REFUSAL_NONE);
	if (expected && line)
		assert_string_equal(line, expected);
	else
		assert_true(!expected && !line);
}

static void a_dead_login_is_read_from_the_last_words(void **state)
{
	(void)state;
	assert_login_line("hello\n  Invalid API key\n\nbye\n", "Invalid API key");
	assert_login_line("Invalid API key\nPlease run /login\n", "Please run /login");
	assert_login_line("an Invalid API key\n", NULL);
	assert_login_line("", NULL);
	assert_login_line(NULL, NULL);
	/* Far above the end it is part of a conversation. */
	assert_login_line("run /login\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "run /login");
	assert_login_line("run /login\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", NULL);
}

static void an_unknown_id_is_read_from_the_last_words(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *qwen = registry_find(&registry, "qwen");
	assert_true(registry_is_unknown_id(
		qwen, "\n No saved session found with ID 0aaaaaaa. Run it without.\n\n"));
	assert_false(registry_is_unknown_id(qwen, "out of memory\n"));
	assert_false(registry_is_unknown_id(qwen, NULL));
	assert_false(registry_is_unknown_id(
		qwen, "No saved session found with ID 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n"));
	assert_false(registry_is_unknown_id(registry_find(&registry, "shell"), "No saved session"));
}

static void an_agent_whose_words_are_not_known_has_no_dead_login(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	cleanup_free char *line = NULL;
	assert_int_equal(registry_refusal(registry_find(&registry, "parrot"), "Please run /login\n",
					  &line),
			 REFUSAL_NONE);
}

static void claude_says_that_its_login_is_dead(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	static const char *const words[] = {
		"Invalid API key · Please run /login\n",
		"OAuth token has expired. Please obtain a new token or refresh your existing token.\n",
		"API Error: 401 {\"type\":\"error\"}\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		cleanup_free char *line = NULL;
		assert_int_equal(registry_refusal(registry_find(&registry, "claude"), words[i],
						  &line),
				 REFUSAL_LOGIN);
		assert_non_null(line);
	}
	cleanup_free char *other = NULL;
	assert_int_equal(registry_refusal(registry_find(&registry, "claude"),
					  "No conversation found with session ID: 401\n", &other),
			 REFUSAL_NONE);
}

#define IN_BACKGROUND                                                                              \
	"Session 5f2c1f9e-0f6b-4a63-9f0e-3d1d8ad2f2b1 is currently running as a background agent " \
	"(bg). Use `claude agents` to find and attach to it, or add --fork-session to branch off " \
	"a copy."

static void an_agent_says_that_its_background_has_the_conversation(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	static const struct {
		const char *agent, *words;
		enum refusal refusal;
		const char *said;
	} cases[] = {
		{ "claude", "hello\n" IN_BACKGROUND "\n\n", REFUSAL_BACKGROUND, IN_BACKGROUND },
		/* A terminal of 80 columns. */
		{ "claude",
		  "Error: Session 5f2c1f9e-0f6b-4a63-9f0e-3d1d8ad2f2b1 is currently running as a \n"
		  "background agent (bg). Use `claude agents` to find and attach to it.\n",
		  REFUSAL_BACKGROUND,
		  "Error: Session 5f2c1f9e-0f6b-4a63-9f0e-3d1d8ad2f2b1 is currently running as a "
		  "background agent (bg). Use `claude agents` to find and attach to it." },
		/* 2.1.330 */
		{ "claude",
		  "That session is running in the background (f114e887). Run `claude attach "
		  "f114e887` to open it.\n",
		  REFUSAL_BACKGROUND,
		  "That session is running in the background (f114e887). Run `claude attach "
		  "f114e887` to open it." },
		{ "claude", "I know: That session is running in the background\n", REFUSAL_NONE,
		  NULL },
		{ "claude", "❯ /bg\nbackgrounded · 7c5dcf5d\n  claude attach 7c5dcf5d\n",
		  REFUSAL_BACKGROUND, "backgrounded · 7c5dcf5d claude attach 7c5dcf5d" },
		{ "claude", "There's an issue with the selected model (gone). It may not exist.\n",
		  REFUSAL_OTHER,
		  "There's an issue with the selected model (gone). It may not exist." },
		{ "claude", "I would say: the Session is currently running\n", REFUSAL_NONE, NULL },
		{ "codex", "thread 1 already has an active writer\n", REFUSAL_OTHER,
		  "thread 1 already has an active writer" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *said = NULL;
		assert_int_equal(registry_refusal(registry_find(&registry, cases[i].agent),
						  cases[i].words, &said),
				 cases[i].refusal);
		if (cases[i].said)
			assert_string_equal(said, cases[i].said);
		else
			assert_null(said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_is_known_by_its_programs_name),
		cmocka_unit_test(env_is_looked_through),
		cmocka_unit_test(an_interpreters_script_is_looked_at),
		cmocka_unit_test(what_runs_packages_is_looked_through),
		cmocka_unit_test(a_script_is_known_by_the_package_that_it_lies_in),
		cmocka_unit_test(no_name_means_two_builtin_agents),
		cmocka_unit_test(of_two_entries_that_fit_the_users_own_wins),
		cmocka_unit_test(an_interpreter_can_be_an_agent_itself),
		cmocka_unit_test(a_dead_login_is_read_from_the_last_words),
		cmocka_unit_test(an_unknown_id_is_read_from_the_last_words),
		cmocka_unit_test(an_agent_whose_words_are_not_known_has_no_dead_login),
		cmocka_unit_test(claude_says_that_its_login_is_dead),
		cmocka_unit_test(an_agent_says_that_its_background_has_the_conversation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
