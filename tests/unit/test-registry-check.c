/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

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

/* Apply it to the built-in entries; the registry must stay unchanged. */
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

static void a_misspelt_key_is_refused_with_the_likely_one(void **state)
{
	(void)state;
	assert_refused(
		"claude", "title = 'x'\n[session]\nresum = ['{session_id}']\n",
		"x.toml:3:1: unknown key \"session.resum\": did you mean \"session.resume\"?");
	assert_refused("claude", "resume = ['{session_id}']\n",
		       "x.toml:1:1: unknown key \"resume\": did you mean \"session.resume\"?");
	assert_refused("claude", "[zzzzzzzz]\na = 1\n", "x.toml:1:2: unknown key \"zzzzzzzz\"");
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
		"x.toml:2:1: session.id must be \"none\", \"uuid\", \"any\", \"path\" or \"name\", "
		"not \"guid\"");
	assert_refused("claude", "match = [\"a\\u0000b\"]\n",
		       "x.toml:1:10: match.0 must not contain a NUL character");
}

/* Each C library has its words for why the pattern does not compile. */
static void assert_pattern_refused(const char *text, const char *where, const char *pattern)
{
	regex_t regex;
	char why[200];
	const int r = regcomp(&regex, pattern, REG_EXTENDED);
	assert_int_not_equal(r, 0);
	(void)regerror(r, &regex, why, sizeof(why));
	cleanup_free char *message = xasprintf(
		"x.toml:%s: \"%s\" is not a valid extended regular expression: %s", where, pattern,
		why);
	assert_refused("claude", text, message);
}

static void a_pattern_that_does_not_compile_is_refused(void **state)
{
	(void)state;
	assert_pattern_refused("[screen]\nready = [\n  'fine',\n  '(open',\n]\n",
			       "4:3: screen.ready", "(open");
	assert_refused(
		"claude", "[screen]\nbusy = ['']\n",
		"x.toml:2:9: screen.busy: \"\" is not a valid extended regular expression: it is "
		"empty and would match every line");
	assert_pattern_refused("[screen]\nwaiting = ['[z-a]']\n", "2:12: screen.waiting", "[z-a]");
}

static void a_value_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("claude", "[session]\nresume = ['--resume']\n",
		       "x.toml:2:1: session.resume: one of the words must contain {session_id}");
	assert_refused(
		"claude", "[report]\narguments = ['--settings', '{setting}']\n",
		"x.toml:2:1: report.arguments: one of the words must contain {settings}, {hook} or "
		"{hook_command}");
	assert_refused("claude", "[session]\ntranscript = 'cloud'\n",
		       "x.toml:2:1: session.transcript: \"cloud\" is not a known layout (known: "
		       "\"projects\")");
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
	assert_refused("claude", "[environment]\nlogin = ['KEY=x']\n",
		       "x.toml:2:10: environment.login: \"KEY=x\" must be the name of an "
		       "environment variable");
	assert_refused("claude", "[home]\nlogin = ['/etc/x']\n",
		       "x.toml:2:10: home.login: \"/etc/x\" must start with \"~/\" or "
		       "\"{home}/\"");
	assert_refused("claude", "[home]\nlogin = ['~/a/../b']\n",
		       "x.toml:2:10: home.login: \"~/a/../b\" must be the path of a file, without "
		       "\".\" and \"..\"");
	assert_refused("claude", "[home]\nseed = '~/a/'\n",
		       "x.toml:2:1: home.seed: \"~/a/\" must be the path of a file, without \".\" "
		       "and \"..\"");
	assert_refused(
		"claude", "[home]\nseed = ''\n",
		"x.toml:2:1: home.seed and home.seed_text must be given together: name a file "
		"and what is in it");
	assert_refused(
		"x", "command = ['x']\n[home]\nlogin = ['{home}/a']\n",
		"x.toml:3:1: home.default is missing: say which directory below \"~/\" {home} "
		"is");
	assert_refused(
		"claude", "[environment]\nscrub = ['*']\n",
		"x.toml:2:10: environment.scrub: \"*\" would take away every environment variable");
	assert_refused("claude", "[environment]\nscrub = ['A=B']\n",
		       "x.toml:2:10: environment.scrub: \"A=B\" must be the name of an environment "
		       "variable, in which \"*\" means any text");
	assert_refused(
		"claude", "[home]\ndefault = '.claude'\n",
		"x.toml:2:1: home.default: \".claude\" must be an absolute path, or start with "
		"\"~/\"");
	assert_refused(
		"claude", "[home]\nvariable = 'A B'\n",
		"x.toml:2:1: home.variable: \"A B\" must be the name of an environment variable");
	assert_refused("claude", "packages = ['@a/b@2']\n",
		       "x.toml:1:13: packages: \"@a/b@2\" must be the name of a package, without a "
		       "version");
	assert_refused(
		"claude", "[daemons]\nend = [' x']\n",
		"x.toml:2:8: daemons.end: \" x\" must be a program's name and its arguments");
	assert_refused("claude", "[report]\nid_key = 'a b'\n",
		       "x.toml:2:1: report.id_key: \"a b\" must be one word of ASCII characters");
	assert_refused("codex", "[keys]\nbanner = ['']\n",
		       "x.toml:2:11: keys.banner: \"\" must be one word of ASCII characters");
	assert_refused(
		"claude", "[doctor]\nfile = 'x'\nunless = 'a=b'\n",
		"x.toml:2:1: doctor.file: \"x\" must be an absolute path, or start with \"~/\" or "
		"\"{home}/\"");
	assert_refused("claude", "[doctor]\nfile = '~/x'\nunless = 'a'\n",
		       "x.toml:3:1: doctor.unless: \"a\" must be MEMBER.MEMBER=VALUE");
	assert_refused(
		"amp", "[doctor]\nfile = '~/x'\n",
		"x.toml:2:1: doctor.file and doctor.unless must be given together: name a file "
		"and a member of it");
	assert_refused("claude", "[files]\nlock = '/locks/{uuid}'\n",
		       "x.toml:2:1: files.lock: \"/locks/{uuid}\" must be a path below the agent's "
		       "home, without \".\" and \"..\"");
	assert_refused("claude", "[files]\nlock = 'locks/one'\n",
		       "x.toml:2:1: files.lock: \"locks/one\" must contain {session_id}");
	assert_refused("claude", "[files]\nconversation = 'c/{session_id}'\n",
		       "x.toml:2:1: files.directory is missing: files.conversation needs it");
	assert_refused("claude", "[files]\nconversation = 'c/*'\n",
		       "x.toml:2:1: files.id is missing: files.conversation needs it");
	assert_refused("claude",
		       "[files]\nconversation = 'c/{uuid}'\ndirectory = 'd'\nprompt = 'a=b'\n"
		       "prompt_text = 't'\nreply = 'a=c'\n",
		       "x.toml:2:1: files.reply_text is missing: files.conversation needs it");
	assert_refused("claude", "[files]\nprompt = 'a'\n",
		       "x.toml:2:1: files.prompt: \"a\" must be MEMBER.MEMBER=VALUE, or with "
		       "\"!=\"");
	assert_refused("claude", "[keys]\nbanner = ['C-c']\n",
		       "x.toml:2:1: screen.exit_banner is missing: say what the agent prints after "
		       "keys.banner");
	assert_refused("claude", "[question.other]\ntitle = 'y'\n",
		       "x.toml:1:11: question.other.choice is missing: say how the agent asks");
	assert_refused("demo", "[question.command]\ndeny = ''\n",
		       "x.toml:1:11: question.command.deny is missing: say how the agent asks");
	assert_refused("demo", "[question.command]\nyes = '^ 1. Yes$'\n",
		       "x.toml:2:1: question.command.yes: \"^ 1. Yes$\" has no group: put the "
		       "key in parentheses");
	assert_refused("demo", "[question.command]\nchange = '^(.+) ([0-9]) ([0-9])$'\n",
		       "x.toml:1:11: question.command.target is missing: say how the agent asks");
	assert_refused("demo", "[question.command]\nhidden = '('\n",
		       "x.toml:2:1: question.command.hidden: \"(\" is not a valid extended regular "
		       "expression: Unmatched ( or \\(");
	assert_refused("demo", "[question.command]\nno = 'x'\n",
		       "x.toml:2:1: unknown key \"question.command.no\"");
	assert_refused("demo", "[question]\ntitle = 'x'\n",
		       "x.toml:2:1: question.title must be a table, not a string");
	assert_refused("demo", "question = 'x'\n",
		       "x.toml:1:1: question must be a table, not a string");
	assert_refused("claude", "[keys]\nquit = ['C-c C-c']\n",
		       "x.toml:2:9: keys.quit: \"C-c C-c\" must be one word of ASCII characters");
}

static void a_choice_names_its_words(void **state)
{
	(void)state;
	assert_refused("claude", "[session]\nscope = 'user'\n",
		       "x.toml:2:1: session.scope must be \"cwd\" or \"global\", not \"user\"");
	assert_refused("claude", "[session]\ncontinue_scope = 1\n",
		       "x.toml:2:1: session.continue_scope must be a string, not a whole number");
	assert_refused("claude", "[session.unknown]\nbehaviour = 'dies'\n",
		       "x.toml:2:1: session.unknown.behaviour must be \"exits\", \"creates\" or "
		       "\"new\", not \"dies\"");
	assert_refused(
		"claude", "[report]\npayload = 'file'\n",
		"x.toml:2:1: report.payload must be \"stdin\" or \"argument\", not \"file\"");
	assert_refused("claude", "[report]\nbinds = 'last'\n",
		       "x.toml:2:1: report.binds must be \"start\" or \"first\", not \"last\"");
}

static void a_place_that_nothing_of_ours_is_put_in_is_refused(void **state)
{
	(void)state;
	assert_refused("new", "command = ['x']\n[report]\nenvironment = ['A=b']\n",
		       "x.toml:3:1: report.environment: one of the words must contain {settings}, "
		       "{hook} or {hook_command}");
	assert_refused("new", "command = ['x']\n[isolation]\narguments = ['--dir', '{stat}']\n",
		       "x.toml:3:1: isolation.arguments: one of the words must contain {state}");
	assert_refused("new", "command = ['x']\n[isolation]\nenvironment = ['A=b']\n",
		       "x.toml:3:1: isolation.environment: one of the words must contain {state}");
	assert_refused("new", "command = ['x']\n[isolation]\nenvironment = ['{state}']\n",
		       "x.toml:3:16: isolation.environment: \"{state}\" must be NAME=VALUE");
	static const char *const patterns[] = { "../*", "a/b", ".*", "/x" };
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		cleanup_free char *text = xasprintf(
			"command = ['x']\n[isolation]\n"
			"arguments = ['{state}']\nconversation = '%s'\n",
			patterns[i]);
		cleanup_free char *why = xasprintf(
			"x.toml:4:1: isolation.conversation: \"%s\" must be a pattern of names, "
			"without \"/\" and without \".\" at its start",
			patterns[i]);
		assert_refused("new", text, why);
	}
}

static void a_pattern_that_is_to_find_an_id_needs_a_group(void **state)
{
	(void)state;
	assert_refused(
		"claude", "[screen]\nexit_banner = 'claude --resume .*'\n",
		"x.toml:2:1: screen.exit_banner: \"claude --resume .*\" has no group: put the id "
		"in parentheses");
	assert_pattern_refused("[screen]\nexit_banner = '(x'\n", "2:1: screen.exit_banner", "(x");
	assert_refused("claude", "[session]\ncreate = ['x']\ncreate_pattern = '.*'\n",
		       "x.toml:3:1: session.create_pattern: \".*\" has no group: put the id in "
		       "parentheses");
	assert_pattern_refused("[session.unknown]\npattern = '[z-a]'\n",
			       "2:1: session.unknown.pattern", "[z-a]");
}

static void what_makes_an_id_is_told_completely(void **state)
{
	(void)state;
	assert_refused(
		"claude", "[session]\ncreate = ['x', 'new']\n",
		"x.toml:2:1: session.create_pattern is missing: say where the id is in the output "
		"of session.create");
	assert_refused(
		"claude", "[session]\ncreate_pattern = '(.*)'\n",
		"x.toml:2:1: session.create is missing: name the command that prints the id");
	assert_refused(
		"new", "command = ['x']\n[session]\ncreate = ['x']\ncreate_pattern = '(.)'\n",
		"x.toml:3:1: session.resume is missing: say how the agent resumes a conversation "
		"by its id");
}

static void settings_to_start_from_must_be_an_object(void **state)
{
	(void)state;
	assert_refused("claude", "[report]\nsettings = '[]'\n",
		       "x.toml:2:1: report.settings must be a JSON object: {...}");
	cleanup_registry struct registry registry = builtin();
	cleanup_error struct error err = { 0 };
	const char *text = "[report]\nsettings = '{\"a\": }'\n";
	assert_int_equal(registry_override(&registry, "claude", text, strlen(text), "x.toml", &err),
			 -1);
	assert_true(starts_with(err.message,
				"x.toml:2:1: report.settings is not a JSON object: JSON:1:"));
}

static void an_incomplete_new_entry_is_refused(void **state)
{
	(void)state;
	assert_refused("new", "title = 'x'\n",
		       "x.toml:1:1: command is missing, and \"new\" is not a built-in agent");
	assert_refused(
		"new", "command = ['x']\n[session]\nresume = ['{session_id}']\n",
		"x.toml:3:1: session.id is missing: say \"uuid\", or \"any\" when the agent takes "
		"other ids, too");
	assert_refused(
		".new", "command = ['x']\n",
		"x.toml:1:1: the file's name is not a valid agent name: use letters, digits, "
		"\"_\", "
		"\".\" and \"-\", a letter or digit first");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_misspelt_key_is_refused_with_the_likely_one),
		cmocka_unit_test(a_wrong_type_is_refused),
		cmocka_unit_test(a_pattern_that_does_not_compile_is_refused),
		cmocka_unit_test(a_value_that_makes_no_sense_is_refused),
		cmocka_unit_test(a_choice_names_its_words),
		cmocka_unit_test(a_place_that_nothing_of_ours_is_put_in_is_refused),
		cmocka_unit_test(a_pattern_that_is_to_find_an_id_needs_a_group),
		cmocka_unit_test(what_makes_an_id_is_told_completely),
		cmocka_unit_test(settings_to_start_from_must_be_an_object),
		cmocka_unit_test(an_incomplete_new_entry_is_refused),
		cmocka_unit_test(a_syntax_error_names_file_line_and_column),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
