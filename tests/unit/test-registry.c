/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/agent/registry-data.h"
#include "model/agent/registry.h"

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

static const struct agent * override(struct registry *registry, const char *name, const char *text)
{
	struct error err = { 0 };
	if (registry_override(registry, name, text, strlen(text), "x.toml", &err) != 0)
		fail_msg("%s", err.message);
	return registry_find(registry, name);
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
	assert_true(count >= 3);
}

static void builtin_entries_are_sorted_and_marked(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	for (size_t i = 0; i < registry.count; i++) {
		const char *name = registry.agents[i]->name;
		assert_true(i == 0 || strcmp(registry.agents[i - 1]->name, name) < 0);
		assert_true(registry.agents[i]->builtin);
		assert_false(registry.agents[i]->overridden);
		assert_ptr_equal(registry_find(&registry, name), registry.agents[i]);
	}
	assert_non_null(registry_find(&registry, "claude"));
	assert_null(registry_find(&registry, "parrot"));
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
	cleanup_strvec struct strvec events = WORDS("SessionStart", "SessionEnd",
						    "UserPromptSubmit", "Stop", "Notification",
						    "PermissionRequest", "PostToolUse",
						    "PostToolUseFailure", "StopFailure");
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
	assert_string_equal(claude->transcript, "projects");
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
	assert_true(strvec_contains(&claude->set, "CLAUDE_CODE_DISABLE_AGENT_VIEW=1"));
}

static void only_the_shell_runs_what_nothing_matches(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	for (size_t i = 0; i < registry.count; i++) {
		const struct agent *agent = registry.agents[i];
		assert_int_equal(agent->generic, streq(agent->name, "shell"));
		assert_int_equal(agent->stand_in,
				 streq(agent->name, "shell") || streq(agent->name, "demo"));
	}
}

/* An agent asks its user before it trusts a directory, or does what may harm. */
static void no_entry_skips_a_question(void **state)
{
	(void)state;
	static const char *const skips[] = { "danger", "skip", "bypass", "yolo", "trust", "allow" };
	cleanup_registry struct registry registry = builtin();
	for (size_t i = 0; i < registry.count; i++) {
		const struct agent *agent = registry.agents[i];
		const struct strvec *const said[] = {
			&agent->command,
			&agent->assign,
			&agent->resume,
			&agent->fork,
			&agent->continue_latest,
			&agent->create,
			&agent->report,
			&agent->isolation_arguments,
			&agent->set,
			&agent->report_environment,
		};
		for (size_t j = 0; j < ARRAY_SIZE(said); j++)
			for (size_t word = 0; word < said[j]->count; word++)
				for (size_t k = 0; k < ARRAY_SIZE(skips); k++)
					if (strcasestr(said[j]->items[word], skips[k]))
						fail_msg("%s: %s", agent->name,
							 said[j]->items[word]);
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
	size_t count = registry.count;
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
	assert_int_equal(registry.count, count);
	assert_true(claude->builtin);
	assert_true(claude->overridden);
	assert_true(strvec_equal(&claude->command, &command));
	assert_null(claude->transcript);
	assert_int_equal(claude->set.count, 0);
	assert_false(claude->prompt_positional);
	/* The rest is unchanged. */
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
	size_t count = registry.count;
	const struct agent *agent = override(&registry, "0parrot",
					     "command = ['/opt/bin/parrot', '--vim']\n");
	assert_int_equal(registry.count, count + 1);
	assert_string_equal(registry.agents[0]->name, "0parrot");
	assert_false(agent->builtin);
	assert_false(agent->overridden);
	assert_string_equal(agent->title, "0parrot");
	assert_int_equal(agent->match.count, 1);
	assert_string_equal(agent->match.items[0], "parrot");
	assert_string_equal(agent->submit_key, "Enter");
	assert_int_equal(agent->id_kind, ID_NONE);
	assert_int_equal(agent->id_scope, ID_SCOPE_CWD);
	assert_int_equal(agent->unknown_id, UNKNOWN_EXITS);
	assert_int_equal(agent->continue_scope, ID_SCOPE_CWD);
	assert_null(agent->config_home_env);
	/* It does not report. */
	assert_null(agent->event_key);
	assert_int_equal(agent->report_start.count + agent->report_end.count, 0);
	override(&registry, "zz", "command = ['zz']\n");
	assert_string_equal(registry.agents[count + 1]->name, "zz");
}

static void every_key_arrives_in_its_field(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	const struct agent *agent = override(
		&registry, "x",
		"stand_in = true\ngeneric = true\n"
		"title = 'T'\ncommand = ['c']\nmatch = ['m']\nevidence = ['e']\n"
		"packages = ['@a/p']\nversion = ['-V']\n"
		"[session]\nid = 'any'\nassign = ['a={session_id}']\nresume = ['r{session_id}']\n"
		"fork = ['f{session_id}']\ncontinue = ['n']\ntranscript = 'projects'\n"
		"scope = 'global'\ncontinue_scope = 'global'\n"
		"create = ['x', 'new']\ncreate_pattern = '^id (.*)$'\n"
		"[session.unknown]\nbehaviour = 'new'\npattern = 'not found'\n"
		"[isolation]\narguments = ['--d={state}']\nenvironment = ['X_D={state}/d']\n"
		"conversation = '*.log'\n"
		"[report]\narguments = ['--s={settings}']\nevents = ['Stop']\n"
		"environment = ['X_H={hook}']\nsettings = '{\"a\": 1}'\npayload = 'argument'\n"
		"binds = 'first'\nevent_key = 'ek'\nid_key = 'ik'\ntranscript_key = 'tk'\n"
		"cwd_key = 'ck'\nsource_key = 'sk'\nkind_key = 'kk'\nstart = ['s']\nprompt = ['p']\nbusy = ['b']\n"
		"waiting = ['w']\nidle = ['i']\nturn = ['t']\nend = ['e']\n"
		"[arguments]\nprompt_positional = true\nstrip = ['-a']\nstrip_value = ['-b']\n"
		"strip_optional = ['-c']\nadopt = ['-b']\nvalue = ['-d']\nvariadic = ['-e']\n"
		"optional = ['-f']\n"
		"[home]\nvariable = 'X_HOME'\ndefault = '/x'\n"
		"[environment]\nscrub = ['X_*']\nset = ['A=']\n"
		"[screen]\nready = ['r']\nbusy = ['b']\nwaiting = ['w']\nlogin = ['l']\n"
		"exit_banner = 'resume (.+)'\n"
		"[daemons]\nend = ['x server']\n"
		"[keys]\nquit = ['C-c', 'C-c']\nbanner = ['C-d']\nsubmit = 'M-Enter'\n"
		"[doctor]\nhint = 'h'\nremedy = 'r'\nfile = '~/f'\nunless = 'a.b=c'\n");
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
	assert_string_equal(agent->transcript, "projects");
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
	assert_string_equal(agent->login.items[0], "l");
	assert_int_equal(agent->quit_keys.count, 2);
	assert_string_equal(agent->banner_keys.items[0], "C-d");
	assert_string_equal(agent->doctor_hint, "h");
	assert_string_equal(agent->doctor_remedy, "r");
	assert_string_equal(agent->doctor_file, "~/f");
	assert_string_equal(agent->doctor_unless, "a.b=c");
	assert_string_equal(agent->submit_key, "M-Enter");
	assert_string_equal(agent->packages.items[0], "@a/p");
	assert_string_equal(agent->version.items[0], "-V");
	assert_int_equal(agent->id_scope, ID_SCOPE_GLOBAL);
	assert_int_equal(agent->continue_scope, ID_SCOPE_GLOBAL);
	assert_int_equal(agent->unknown_id, UNKNOWN_NEW);
	assert_string_equal(agent->unknown_pattern, "not found");
	assert_int_equal(agent->create.count, 2);
	assert_string_equal(agent->create_pattern, "^id (.*)$");
	assert_string_equal(agent->isolation_arguments.items[0], "--d={state}");
	assert_string_equal(agent->isolation_environment.items[0], "X_D={state}/d");
	assert_string_equal(agent->isolation_conversation, "*.log");
	assert_string_equal(agent->report_environment.items[0], "X_H={hook}");
	assert_string_equal(agent->report_settings, "{\"a\": 1}");
	assert_int_equal(agent->report_payload, PAYLOAD_ARGUMENT);
	assert_int_equal(agent->report_binds, BINDS_FIRST);
	assert_string_equal(agent->event_key, "ek");
	assert_string_equal(agent->id_key, "ik");
	assert_string_equal(agent->transcript_key, "tk");
	assert_string_equal(agent->cwd_key, "ck");
	assert_string_equal(agent->source_key, "sk");
	assert_string_equal(agent->kind_key, "kk");
	assert_string_equal(agent->report_start.items[0], "s");
	assert_string_equal(agent->report_prompt.items[0], "p");
	assert_string_equal(agent->report_busy.items[0], "b");
	assert_string_equal(agent->report_waiting.items[0], "w");
	assert_string_equal(agent->report_idle.items[0], "i");
	assert_string_equal(agent->report_turn.items[0], "t");
	assert_string_equal(agent->report_end.items[0], "e");
	assert_string_equal(agent->exit_banner, "resume (.+)");
	assert_string_equal(agent->daemons.items[0], "x server");
}

static void every_word_of_a_choice_is_known(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	static const char *const kinds[] = { "none", "uuid", "any", "path", "name" };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_free char *text = xasprintf("command = ['x']\n[session]\nid = '%s'\n",
						    kinds[i]);
		assert_int_equal(override(&registry, "x", text)->id_kind, i);
	}
	assert_int_equal(
		override(&registry, "x", "[session.unknown]\nbehaviour = 'creates'\n")->unknown_id,
		UNKNOWN_CREATES);
	assert_int_equal(
		override(&registry, "x", "[session.unknown]\nbehaviour = 'exits'\n")->unknown_id,
		UNKNOWN_EXITS);
}

static void what_a_reporting_entry_leaves_out_has_the_usual_names(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = { 0 };
	const struct agent *agent = override(&registry, "x",
					     "command = ['x']\n[report]\n"
					     "environment = ['S={settings}']\n"
					     "waiting = []\nsource_key = ''\nid_key = 'id'\n");
	cleanup_strvec struct strvec busy = WORDS("PreToolUse", "PostToolUse");
	cleanup_strvec struct strvec idle = WORDS("Stop", "Notification:idle_prompt");
	assert_string_equal(agent->event_key, "hook_event_name");
	assert_string_equal(agent->id_key, "id");
	assert_string_equal(agent->transcript_key, "transcript_path");
	assert_string_equal(agent->cwd_key, "cwd");
	assert_null(agent->source_key);
	assert_string_equal(agent->report_start.items[0], "SessionStart");
	assert_string_equal(agent->report_prompt.items[0], "UserPromptSubmit");
	assert_true(strvec_equal(&agent->report_busy, &busy));
	assert_int_equal(agent->report_waiting.count, 0);
	assert_string_equal(agent->kind_key, "notification_type");
	assert_true(strvec_equal(&agent->report_idle, &idle));
	assert_int_equal(agent->report_turn.count, 0);
	assert_string_equal(agent->report_end.items[0], "SessionEnd");
	/* An override that does not mention them leaves empty fields empty. */
	agent = override(&registry, "x", "title = 'X'\n");
	assert_int_equal(agent->report_waiting.count, 0);
	assert_null(agent->source_key);
}

static void the_strategy_follows_from_what_the_entry_can(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "", "none" },
		{ "[session]\nid='uuid'\nassign=['-n','{session_id}']\nresume=['-r','{session_id}']",
		  "A" },
		{ "[session]\nid='any'\nassign=['-r','{session_id}']\nresume=['-r','{session_id}']",
		  "A*" },
		{ "[session]\nid='uuid'\ncreate=['x','new']\ncreate_pattern='(.*)'\n"
		  "resume=['-r','{session_id}']",
		  "A'" },
		{ "[session]\nid='uuid'\nresume=['-r','{session_id}']\n"
		  "[report]\narguments=['--s','{settings}']",
		  "R" },
		{ "[session]\nid='uuid'\nresume=['-r','{session_id}']\n"
		  "[report]\nenvironment=['X={hook}']",
		  "R" },
		{ "[session]\ncontinue=['-c']\n[isolation]\narguments=['--d','{state}']", "B" },
		{ "[session]\ncontinue=['-c']\ncontinue_scope='global'\n"
		  "[isolation]\nenvironment=['D={state}']",
		  "B" },
		{ "[session]\ncontinue=['-c']", "B" },
		{ "[session]\ncontinue=['-c']\ncontinue_scope='global'", "none" },
		/* No id becomes known. */
		{ "[session]\nid='uuid'\nresume=['-r','{session_id}']", "none" },
		{ "[session]\nid='uuid'\nresume=['-r','{session_id}']\ncontinue=['-c']", "B" },
		{ "[session]\nid='none'\nassign=['-n{session_id}']\nresume=['-r{session_id}']",
		  "none" },
		{ "[session]\nid='uuid'\nassign=['-n{session_id}']", "none" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_registry struct registry registry = { 0 };
		cleanup_free char *text = xasprintf("command = ['x']\n%s\n", cases[i].text);
		const struct agent *agent = override(&registry, "x", text);
		if (!streq(strategy_name(registry_strategy(agent)), cases[i].name))
			fail_msg("%s: %s", cases[i].text, strategy_name(registry_strategy(agent)));
	}
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

static void switching_the_ids_off_is_no_mistake(void **state)
{
	(void)state;
	cleanup_registry struct registry registry = builtin();
	const struct agent *claude = override(&registry, "claude", "[session]\nid = 'none'\n");
	assert_int_equal(claude->id_kind, ID_NONE);
}

/* Those without a name of their own have another form in `agents show`. */
static void each_key_is_shown(void **state UNUSED)
{
	struct strvec others = WORDS("title", "command", "stand_in", "generic", "session.assign",
				     "session.resume", "session.fork", "session.continue",
				     "isolation.arguments", "report.arguments",
				     "arguments.prompt_positional", "screen.box", "question");
	struct registry registry = builtin();
	struct agent_value value;
	for (size_t i = 0; agent_value_at(registry.agents[0], i, &value); i++)
		if (!value.name != strvec_contains(&others, value.key))
			fail_msg("%s", value.key);
	strvec_clear(&others);
	registry_free(&registry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_builtin_entry_passes_the_checks_for_the_users_entries),
		cmocka_unit_test(builtin_entries_are_sorted_and_marked),
		cmocka_unit_test(claude_is_described_completely),
		cmocka_unit_test(only_the_shell_runs_what_nothing_matches),
		cmocka_unit_test(no_entry_skips_a_question),
		cmocka_unit_test(no_flag_has_two_meanings),
		cmocka_unit_test(claudes_screen_is_read_as_it_was_seen),
		cmocka_unit_test(the_shell_keeps_no_sessions),
		cmocka_unit_test(an_override_replaces_whole_values_and_only_those),
		cmocka_unit_test(an_override_lies_over_an_earlier_one),
		cmocka_unit_test(an_empty_override_changes_nothing_but_the_mark),
		cmocka_unit_test(a_new_entry_needs_only_a_command),
		cmocka_unit_test(every_key_arrives_in_its_field),
		cmocka_unit_test(every_word_of_a_choice_is_known),
		cmocka_unit_test(what_a_reporting_entry_leaves_out_has_the_usual_names),
		cmocka_unit_test(the_strategy_follows_from_what_the_entry_can),
		cmocka_unit_test(a_variadic_flag_is_a_value_flag_too),
		cmocka_unit_test(switching_the_ids_off_is_no_mistake),
		cmocka_unit_test(each_key_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
