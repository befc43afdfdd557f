/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/registry-data.h"
#include "model/registry.h"

#include <regex.h>
#include <string.h>

static struct registry builtin(void)
{
	struct registry registry = { 0 };
	struct error err = { 0 };
	if (registry_builtin(&registry, &err) != 0)
		fail_msg("%s", err.message);
	return registry;
}

static const struct agent *override(struct registry *registry, const char *name, const char *text)
{
	struct error err = { 0 };
	if (registry_override(registry, name, text, strlen(text), "x.toml", &err) != 0)
		fail_msg("%s", err.message);
	return registry_find(registry, name);
}

/* Over the built-in entries; the registry must be as before. */
static void assert_refused(const char *name, const char *text, const char *message)
{
	cleanup_registry struct registry registry = builtin();
	cleanup_error struct error err = { 0 };
	size_t count = registry.count;
	const struct agent *before = registry_find(&registry, name);
	if (registry_override(&registry, name, text, strlen(text), "x.toml", &err) != -1)
		fail_msg("not refused: %s", text);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_string_equal(err.message, message);
	assert_int_equal(registry.count, count);
	assert_ptr_equal(registry_find(&registry, name), before);
}

static struct strvec words(const char *const *items)
{
	struct strvec vec = { 0 };
	strvec_push_array(&vec, items);
	return vec;
}

#define WORDS(...) words((const char *const[]){ __VA_ARGS__, NULL })

static bool is_flag(const char *text)
{
	return text[0] == '-' && text[1];
}

static void every_builtin_entry_passes_the_checks_for_the_users_entries(void **state)
{
	(void)state;
	size_t count = 0;
	for (const struct registry_file *file = registry_files; file->name; file++, count++) {
		struct registry registry = { 0 };
		struct error err = { 0 };
		if (registry_override(&registry, file->name, file->text, file->length, file->name,
				      &err) != 0)
			fail_msg("%s", err.message);
		assert_int_equal(registry.count, 1);
		assert_int_equal(file->length, strlen(file->text));
		registry_free(&registry);
	}
	assert_int_equal(count, 3);
}

static void builtin_entries_are_sorted_and_marked(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	static const char *const names[] = { "claude", "demo", "shell" };
	assert_int_equal(registry.count, ARRAY_SIZE(names));
	for (size_t i = 0; i < registry.count; i++) {
		assert_string_equal(registry.agents[i]->name, names[i]);
		assert_true(registry.agents[i]->builtin);
		assert_false(registry.agents[i]->overridden);
		assert_ptr_equal(registry_find(&registry, names[i]), registry.agents[i]);
	}
	assert_null(registry_find(&registry, "aider"));
	assert_null(registry_find(&registry, ""));
}

static void claude_is_described_completely(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *claude = registry_find(&registry, "claude");
	cleanup_strvec struct strvec assign = WORDS("--session-id", "{session_id}");
	cleanup_strvec struct strvec resume = WORDS("--resume", "{session_id}");
	cleanup_strvec struct strvec latest = WORDS("--continue");
	cleanup_strvec struct strvec report = WORDS("--settings", "{settings}");
	cleanup_strvec struct strvec events =
		WORDS("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "Notification");
	assert_int_equal(claude->id_kind, ID_UUID);
	assert_true(strvec_equal(&claude->assign, &assign));
	assert_true(strvec_equal(&claude->resume, &resume));
	assert_true(strvec_equal(&claude->continue_latest, &latest));
	assert_true(strvec_equal(&claude->report, &report));
	assert_true(strvec_equal(&claude->report_events, &events));
	assert_true(strvec_contains(&claude->fork, "--fork-session"));
	assert_true(strvec_contains(&claude->fork, "{session_id}"));
	assert_true(strvec_contains(&claude->fork, "{new_session_id}"));
	assert_true(claude->prompt_positional);
	assert_string_equal(claude->transcript, "claude-projects");
	assert_string_equal(claude->config_home_env, "CLAUDE_CONFIG_DIR");
	assert_string_equal(claude->config_home, "~/.claude");
	assert_string_equal(claude->submit_key, "Enter");
	assert_true(claude->evidence.count > 0);
	static const char *const poison[] = { "CLAUDE_CODE_CHILD_SESSION",
					      "CLAUDECODE",
					      "CLAUDE_PID",
					      "CLAUDE_CODE_SESSION_ID",
					      "CLAUDE_CODE_ENTRYPOINT",
					      "CLAUDE_ENV_FILE",
					      "CLAUDE_CODE_*SOCKET*" };
	for (size_t i = 0; i < ARRAY_SIZE(poison); i++)
		assert_true(strvec_contains(&claude->scrub, poison[i]));
	assert_true(strvec_contains(&claude->set, "CLAUDE_CODE_FORCE_SESSION_PERSISTENCE=1"));
}

static void only_the_shell_runs_what_nothing_matches(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	for (size_t i = 0; i < registry.count; i++) {
		const struct agent *agent = registry.agents[i];
		assert_int_equal(agent->generic, streq(agent->name, "shell"));
		assert_int_equal(agent->stand_in, !streq(agent->name, "claude"));
	}
}

static void no_flag_has_two_meanings(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	for (size_t i = 0; i < registry.count; i++) {
		const struct agent *agent = registry.agents[i];
		const struct strvec *lists[] = { &agent->strip, &agent->strip_value,
						 &agent->strip_optional, &agent->value_flags,
						 &agent->optional_flags };
		cleanup_strvec struct strvec seen = { 0 };
		for (size_t j = 0; j < ARRAY_SIZE(lists); j++) {
			for (size_t k = 0; k < lists[j]->count; k++) {
				assert_true(is_flag(lists[j]->items[k]));
				if (strvec_contains(&seen, lists[j]->items[k]))
					fail_msg("%s: %s", agent->name, lists[j]->items[k]);
				strvec_push(&seen, lists[j]->items[k]);
			}
		}
	}
}

static bool fits(const struct strvec *patterns, const char *line)
{
	bool found = false;
	for (size_t i = 0; i < patterns->count; i++) {
		regex_t regex;
		assert_int_equal(regcomp(&regex, patterns->items[i], REG_EXTENDED | REG_NOSUB), 0);
		found |= regexec(&regex, line, 0, NULL, 0) == 0;
		regfree(&regex);
	}
	return found;
}

static void claudes_screen_is_read_as_it_was_seen(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *claude = registry_find(&registry, "claude");
	/* 2.1.197, as tmux captures it. */
	static const struct {
		const char *line;
		bool ready, busy, waiting;
	} lines[] = {
		{ "❯ ", true, false, false },
		{ "❯ 1. is typed here", true, false, false },
		{ "  ? for shortcuts · ← for agents", false, false, false },
		{ "  esc to interrupt · ← for agents", false, true, false },
		{ "  ⏵⏵ accept edits on (shift+tab to cycle) · esc to interrupt", false, true,
		  false },
		{ "  ❯ 1. Default (recommended) ✔  Use the default model", false, false, true },
		{ " ❯ 1. Yes, I trust this folder", false, false, true },
		{ "   2. No, exit", false, false, false },
		{ " Enter to confirm · Esc to cancel", false, false, true },
		{ " Do you want to proceed?", false, false, true },
		{ "● stub reply 1: first=hello", false, false, false },
		{ "✻ Crunched for 4s", false, false, false },
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (fits(&claude->ready, lines[i].line) != lines[i].ready ||
		    fits(&claude->busy, lines[i].line) != lines[i].busy ||
		    fits(&claude->waiting, lines[i].line) != lines[i].waiting)
			fail_msg("%s", lines[i].line);
	}
}

static void the_shell_keeps_no_sessions(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *shell = registry_find(&registry, "shell");
	assert_int_equal(shell->command.count, 0);
	assert_int_equal(shell->id_kind, ID_NONE);
	assert_int_equal(shell->resume.count + shell->assign.count + shell->report.count, 0);
	assert_null(shell->transcript);
	assert_null(shell->config_home);
	assert_string_equal(shell->submit_key, "Enter");
}

static void an_override_replaces_whole_values_and_only_those(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *claude = override(&registry, "claude",
					      "command = ['claude', '--model', 'opus']\n"
					      "[session]\n"
					      "transcript = ''\n"
					      "[environment]\n"
					      "set = []\n"
					      "[arguments]\n"
					      "prompt_positional = false\n");
	cleanup_strvec struct strvec command = WORDS("claude", "--model", "opus");
	cleanup_strvec struct strvec match = WORDS("claude");
	assert_int_equal(registry.count, 3);
	assert_true(claude->builtin);
	assert_true(claude->overridden);
	assert_true(strvec_equal(&claude->command, &command));
	assert_null(claude->transcript);
	assert_int_equal(claude->set.count, 0);
	assert_false(claude->prompt_positional);
	/* The rest is what it was. */
	assert_true(strvec_equal(&claude->match, &match));
	assert_string_equal(claude->title, "Claude Code");
	assert_int_equal(claude->id_kind, ID_UUID);
	assert_int_equal(claude->resume.count, 2);
	assert_true(claude->scrub.count > 0);
	assert_true(strvec_contains(&claude->value_flags, "--model"));
}

static void an_override_lies_over_an_earlier_one(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	override(&registry, "claude", "title = 'One'\nmatch = ['a']\n");
	const struct agent *claude = override(&registry, "claude", "title = 'Two'\n");
	assert_string_equal(claude->title, "Two");
	assert_string_equal(claude->match.items[0], "a");
}

static void an_empty_override_changes_nothing_but_the_mark(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *demo = override(&registry, "demo", "");
	assert_true(demo->overridden);
	assert_string_equal(demo->command.items[0], "agentdeck-demo-agent");
}

static void a_new_entry_needs_only_a_command(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *agent =
		override(&registry, "aider", "command = ['/opt/bin/aider', '--vim']\n");
	assert_int_equal(registry.count, 4);
	assert_string_equal(registry.agents[0]->name, "aider");
	assert_string_equal(registry.agents[1]->name, "claude");
	assert_false(agent->builtin);
	assert_false(agent->overridden);
	assert_string_equal(agent->title, "aider");
	assert_int_equal(agent->match.count, 1);
	assert_string_equal(agent->match.items[0], "aider");
	assert_string_equal(agent->submit_key, "Enter");
	assert_int_equal(agent->id_kind, ID_NONE);
	assert_null(agent->config_home_env);
	override(&registry, "zz", "command = ['zz']\n");
	assert_string_equal(registry.agents[4]->name, "zz");
}

static void every_key_arrives_in_its_field(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	const struct agent *agent = override(&registry, "x",
		"stand_in = true\ngeneric = true\n"
		"title = 'T'\ncommand = ['c']\nmatch = ['m']\nevidence = ['e']\n"
		"[session]\nid = 'any'\nassign = ['a={session_id}']\nresume = ['r{session_id}']\n"
		"fork = ['f{session_id}']\ncontinue = ['n']\ntranscript = 'claude-projects'\n"
		"[report]\narguments = ['--s={settings}']\nevents = ['Stop']\n"
		"[arguments]\nprompt_positional = true\nstrip = ['-a']\nstrip_value = ['-b']\n"
		"strip_optional = ['-c']\nadopt = ['-b']\nvalue = ['-d']\nvariadic = ['-e']\n"
		"optional = ['-f']\n"
		"[home]\nvariable = 'X_HOME'\ndefault = '/x'\n"
		"[environment]\nscrub = ['X_*']\nset = ['A=']\n"
		"[screen]\nready = ['r']\nbusy = ['b']\nwaiting = ['w']\n"
		"[keys]\nquit = ['C-c', 'C-c']\nsubmit = 'M-Enter'\n");
	assert_string_equal(agent->name, "x");
	assert_string_equal(agent->title, "T");
	assert_string_equal(agent->command.items[0], "c");
	assert_string_equal(agent->match.items[0], "m");
	assert_string_equal(agent->evidence.items[0], "e");
	assert_true(agent->stand_in);
	assert_true(agent->generic);
	assert_int_equal(agent->id_kind, ID_ANY);
	assert_string_equal(agent->assign.items[0], "a={session_id}");
	assert_string_equal(agent->resume.items[0], "r{session_id}");
	assert_string_equal(agent->fork.items[0], "f{session_id}");
	assert_string_equal(agent->continue_latest.items[0], "n");
	assert_string_equal(agent->transcript, "claude-projects");
	assert_string_equal(agent->report.items[0], "--s={settings}");
	assert_string_equal(agent->report_events.items[0], "Stop");
	assert_true(agent->prompt_positional);
	assert_string_equal(agent->strip.items[0], "-a");
	assert_string_equal(agent->strip_value.items[0], "-b");
	assert_string_equal(agent->strip_optional.items[0], "-c");
	assert_string_equal(agent->adopt.items[0], "-b");
	assert_string_equal(agent->value_flags.items[0], "-d");
	assert_string_equal(agent->variadic_flags.items[0], "-e");
	assert_string_equal(agent->optional_flags.items[0], "-f");
	assert_string_equal(agent->config_home_env, "X_HOME");
	assert_string_equal(agent->config_home, "/x");
	assert_string_equal(agent->scrub.items[0], "X_*");
	assert_string_equal(agent->set.items[0], "A=");
	assert_string_equal(agent->ready.items[0], "r");
	assert_string_equal(agent->busy.items[0], "b");
	assert_string_equal(agent->waiting.items[0], "w");
	assert_int_equal(agent->quit_keys.count, 2);
	assert_string_equal(agent->submit_key, "M-Enter");
}

static void a_variadic_flag_is_a_value_flag_too(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *claude = override(&registry, "claude", "[arguments]\nvalue = ['-x']\n");
	assert_true(claude->variadic_flags.count > 0);
	for (size_t i = 0; i < claude->variadic_flags.count; i++)
		assert_true(strvec_contains(&claude->value_flags, claude->variadic_flags.items[i]));
	assert_int_equal(claude->value_flags.count, claude->variadic_flags.count + 1);
}

static void a_misspelt_key_is_refused_with_the_likely_one(void **state)
{
	(void)state;
	assert_refused(
		"claude", "title = 'x'\n[session]\nresum = ['{session_id}']\n",
		"x.toml:3:1: there is no key \"session.resum\": did you mean \"session.resume\"?");
	assert_refused("claude", "resume = ['{session_id}']\n",
		       "x.toml:1:1: there is no key \"resume\": did you mean \"session.resume\"?");
	assert_refused("claude", "[zzzzzzzz]\na = 1\n", "x.toml:1:2: there is no key \"zzzzzzzz\"");
}

static void a_wrong_type_is_refused(void **state)
{
	(void)state;
	assert_refused("claude", "command = 'claude'\n",
		       "x.toml:1:1: command must be an array of strings, not a string");
	assert_refused("claude", "match = [\n  'a',\n  7,\n]\n",
		       "x.toml:3:3: match.1 must be a string, not a whole number");
	assert_refused("claude", "session = 1\n",
		       "x.toml:1:1: session must be a table, not a whole number");
	assert_refused(
		"claude", "[arguments]\nprompt_positional = 'yes'\n",
		"x.toml:2:1: arguments.prompt_positional must be true or false, not a string");
	assert_refused(
		"claude", "[session]\nid = 'guid'\n",
		"x.toml:2:1: session.id must be \"none\", \"uuid\" or \"any\", not \"guid\"");
	assert_refused("claude", "match = [\"a\\u0000b\"]\n",
		       "x.toml:1:10: match.0 must not hold a NUL character");
}

static void a_pattern_that_does_not_compile_is_refused(void **state)
{
	(void)state;
	assert_refused("claude", "[screen]\nready = [\n  'fine',\n  '(open',\n]\n",
		       "x.toml:4:3: screen.ready: \"(open\" is no extended regular expression: "
		       "Unmatched ( or \\(");
	assert_refused(
		"claude", "[screen]\nbusy = ['']\n",
		"x.toml:2:9: screen.busy: \"\" is no extended regular expression: it is empty and "
		"would fit every line");
	assert_refused(
		"claude", "[screen]\nwaiting = ['[z-a]']\n",
		"x.toml:2:12: screen.waiting: \"[z-a]\" is no extended regular expression: Invalid "
		"range end");
}

static void a_value_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("claude", "[session]\nresume = ['--resume']\n",
		       "x.toml:2:1: session.resume: one of the words must hold {session_id}");
	assert_refused("claude", "[report]\narguments = ['--settings', '{setting}']\n",
		       "x.toml:2:1: report.arguments: one of the words must hold {settings}");
	assert_refused("claude", "[session]\ntranscript = 'cloud'\n",
		       "x.toml:2:1: session.transcript: \"cloud\" is no known layout: known is "
		       "\"claude-projects\"");
	assert_refused(
		"claude", "match = ['/usr/bin/claude']\n",
		"x.toml:1:10: match: \"/usr/bin/claude\" must be the name of a program, without a "
		"path");
	assert_refused("claude", "command = ['']\n",
		       "x.toml:1:12: command: the program's name is empty");
	assert_refused("claude", "[arguments]\nvalue = ['model']\n",
		       "x.toml:2:10: arguments.value: \"model\" must be a flag as in \"-r\" or "
		       "\"--resume\"");
	assert_refused(
		"claude", "[arguments]\nadopt = ['--id']\n",
		"x.toml:2:10: arguments.adopt: --id must also be in arguments.strip_value or "
		"arguments.strip_optional");
	assert_refused("claude", "[environment]\nset = ['1A=x']\n",
		       "x.toml:2:8: environment.set: \"1A=x\" must be NAME=VALUE");
	assert_refused(
		"claude", "[environment]\nscrub = ['*']\n",
		"x.toml:2:10: environment.scrub: \"*\" would take away every environment variable");
	assert_refused("claude", "[environment]\nscrub = ['A=B']\n",
		       "x.toml:2:10: environment.scrub: \"A=B\" must be the name of an environment "
		       "variable, in which \"*\" stands for any text");
	assert_refused(
		"claude", "[home]\ndefault = '.claude'\n",
		"x.toml:2:1: home.default: \".claude\" must be an absolute path, or start with "
		"\"~/\"");
	assert_refused(
		"claude", "[home]\nvariable = 'A B'\n",
		"x.toml:2:1: home.variable: \"A B\" must be the name of an environment variable");
	assert_refused("claude", "[keys]\nquit = ['C-c C-c']\n",
		       "x.toml:2:9: keys.quit: \"C-c C-c\" must be one word of ASCII characters");
}

static void an_incomplete_new_entry_is_refused(void **state)
{
	(void)state;
	assert_refused("new", "title = 'x'\n",
		       "x.toml:1:1: command is missing: there is no built-in agent \"new\"");
	assert_refused(
		"new", "command = ['x']\n[session]\nresume = ['{session_id}']\n",
		"x.toml:3:1: session.id is missing: say \"uuid\", or \"any\" when the agent takes "
		"other ids, too");
	assert_refused(
		".new", "command = ['x']\n",
		"x.toml:1:1: the file's name cannot be an agent's: use letters, digits, \"_\", "
		"\".\" and \"-\", a letter or digit first");
}

static void switching_the_ids_off_is_no_mistake(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *claude = override(&registry, "claude", "[session]\nid = 'none'\n");
	assert_int_equal(claude->id_kind, ID_NONE);
}

static void a_syntax_error_names_file_line_and_column(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	cleanup_error struct error err = { 0 };
	const char *text = "title = 'x'\ncommand = [}\n";
	assert_int_equal(registry_override(&registry, "x", text, strlen(text), "/a/x.toml", &err),
			 -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_true(starts_with(err.message, "/a/x.toml:2:12: "));
	assert_int_equal(registry.count, 0);
}

static void assert_match(struct strvec argv, const char *name, size_t program)
{
	cleanup_registry struct registry registry = builtin();
	const struct agent *agent = registry_match(&registry, &argv);
	cleanup_free char *shown = visible_argv(strvec_argv(&argv));
	if (name ? !agent || !streq(agent->name, name) : agent != NULL)
		fail_msg("%s: %s", shown, agent ? agent->name : "none");
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
	assert_match(WORDS("node"), NULL, 0);
}

static void an_interpreter_can_be_an_agent_itself(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	override(&registry, "repl", "command = ['node']\n");
	cleanup_strvec struct strvec argv = WORDS("node", "app.js");
	const struct agent *agent = registry_match(&registry, &argv);
	assert_non_null(agent);
	assert_string_equal(agent->name, "repl");
}

static void assert_has(struct strvec argv, const char *flag, bool expected)
{
	assert_int_equal(registry_user_has_flag(&argv, flag), expected);
	strvec_clear(&argv);
}

static void the_users_own_flags_are_seen(void **state)
{
	(void)state;
	assert_has(WORDS("claude", "--settings", "x"), "--settings", true);
	assert_has(WORDS("claude", "-c", "--settings=x"), "--settings", true);
	assert_has(WORDS("env", "A=1", "claude", "--settings", "x"), "--settings", true);
	assert_has(WORDS("claude", "--setting"), "--settings", false);
	assert_has(WORDS("claude", "--settings-file", "x"), "--settings", false);
	assert_has(WORDS("claude", "--", "--settings"), "--settings", false);
	assert_has(WORDS("--settings"), "--settings", false);
	assert_has(WORDS("claude"), "--settings", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_builtin_entry_passes_the_checks_for_the_users_entries),
		cmocka_unit_test(builtin_entries_are_sorted_and_marked),
		cmocka_unit_test(claude_is_described_completely),
		cmocka_unit_test(only_the_shell_runs_what_nothing_matches),
		cmocka_unit_test(no_flag_has_two_meanings),
		cmocka_unit_test(claudes_screen_is_read_as_it_was_seen),
		cmocka_unit_test(the_shell_keeps_no_sessions),
		cmocka_unit_test(an_override_replaces_whole_values_and_only_those),
		cmocka_unit_test(an_override_lies_over_an_earlier_one),
		cmocka_unit_test(an_empty_override_changes_nothing_but_the_mark),
		cmocka_unit_test(a_new_entry_needs_only_a_command),
		cmocka_unit_test(every_key_arrives_in_its_field),
		cmocka_unit_test(a_variadic_flag_is_a_value_flag_too),
		cmocka_unit_test(a_misspelt_key_is_refused_with_the_likely_one),
		cmocka_unit_test(a_wrong_type_is_refused),
		cmocka_unit_test(a_pattern_that_does_not_compile_is_refused),
		cmocka_unit_test(a_value_that_makes_no_sense_is_refused),
		cmocka_unit_test(an_incomplete_new_entry_is_refused),
		cmocka_unit_test(switching_the_ids_off_is_no_mistake),
		cmocka_unit_test(a_syntax_error_names_file_line_and_column),
		cmocka_unit_test(an_agent_is_known_by_its_programs_name),
		cmocka_unit_test(env_is_looked_through),
		cmocka_unit_test(an_interpreters_script_is_looked_at),
		cmocka_unit_test(an_interpreter_can_be_an_agent_itself),
		cmocka_unit_test(the_users_own_flags_are_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
