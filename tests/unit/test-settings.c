/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/settings/settings.h"

#include <string.h>

static struct settings parse(const char *text)
{
	struct settings settings;
	struct error err = { 0 };
	if (settings_parse(text, strlen(text), "config.toml", &settings, &err) != 0)
		fail_msg("%s", err.message);
	return settings;
}

static void assert_refused(const char *text, const char *message)
{
	struct settings settings = { .probation_s = 4711 };
	cleanup_error struct error err = { 0 };
	if (settings_parse(text, strlen(text), "config.toml", &settings, &err) != -1)
		fail_msg("not refused: %s", text);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_string_equal(err.message, message);
	assert_int_equal(settings.probation_s, 4711);
}

static void assert_defaults(const struct settings *settings)
{
	assert_null(settings->default_agent);
	assert_true(settings->resume_agents);
	assert_int_equal(settings->resume, POLICY_AUTO);
	assert_int_equal(settings->tmux.launch_in_user_scope, UNSET);
	assert_int_equal(settings->tmux.linger, UNSET);
	assert_null(settings->tmux.conf);
	assert_int_equal(settings->tmux.options.count, 0);
	assert_false(settings->tmux.source_user_config);
	assert_string_equal(settings->tmux.detach_key, "C-q");
	assert_true(settings->tmux.mouse);
	assert_int_equal(settings->tmux.history_limit, 50000);
	assert_string_equal(settings->tmux.default_terminal, "tmux-256color");
	assert_int_equal(settings->limits.memory_high, 0);
	assert_int_equal(settings->limits.memory_max, 0);
	assert_int_equal(settings->limits.tasks_max, 0);
	assert_int_equal(settings->limits.cpu_weight, 0);
	assert_int_equal(settings->group_count, 0);
	assert_int_equal(settings->probation_s, 10);
	assert_int_equal(settings->stop_timeout_s, 10);
	assert_int_equal(settings->trash_keep_days, 0);
	assert_false(settings->log_journal);
	assert_int_equal(settings->notify.command.count, 0);
	assert_false(settings->notify.desktop);
	assert_false(settings->notify.bell);
	assert_int_equal(settings->notify.osc, NOTIFY_OSC_NONE);
	assert_true(settings->tmux.passthrough);
	assert_int_equal(settings->notify.on.count, 5);
	assert_string_equal(settings->notify.on.items[0], "waiting");
	assert_string_equal(settings->notify.on.items[1], "error");
	assert_string_equal(settings->notify.on.items[2], "held");
	assert_string_equal(settings->notify.on.items[3], "oom");
}

static void occasions_of_the_user_take_the_place_of_ours(void **state)
{
	(void)state;
	cleanup_settings struct settings some = parse(
		"[notify]\ncommand = [\"tell\", \"me; now\"]\non = [\"idle\", \"recovered\"]\n");
	cleanup_settings struct settings none = parse("[notify]\non = []\n");
	cleanup_settings struct settings shown = parse(
		"[notify]\ndesktop = true\nbell = true\nosc = '777'\n"
		"[tmux]\npassthrough = false\n");
	assert_true(shown.notify.desktop);
	assert_true(shown.notify.bell);
	assert_int_equal(shown.notify.osc, NOTIFY_OSC_777);
	assert_false(shown.tmux.passthrough);
	assert_int_equal(some.notify.command.count, 2);
	assert_string_equal(some.notify.command.items[1], "me; now");
	assert_int_equal(some.notify.on.count, 2);
	assert_string_equal(some.notify.on.items[0], "idle");
	assert_string_equal(some.notify.on.items[1], "recovered");
	assert_int_equal(none.notify.on.count, 0);
	assert_refused(
		"[notify]\non = [\"always\"]\n",
		"config.toml:2:1: notify.on holds \"always\": it may hold \"waiting\", \"idle\", \"error\", "
		"\"held\", \"oom\", \"recovered\" and \"ends\"");
	assert_refused("[notify]\ncommand = \"tell me\"\n",
		       "config.toml:2:1: notify.command must be an array of strings, not a string");
}

static void an_agents_policy_goes_before_the_general_one(void **state)
{
	(void)state;
	cleanup_settings struct settings settings = parse(
		"[resume]\npolicy = \"never\"\n[resume.agents]\ncodex = \"confirm\"\nclaude = \"auto\"\n");
	assert_int_equal(settings_resume_policy(&settings, "codex"), POLICY_CONFIRM);
	assert_int_equal(settings_resume_policy(&settings, "claude"), POLICY_AUTO);
	assert_int_equal(settings_resume_policy(&settings, "demo"), POLICY_NEVER);
	assert_refused(
		"[resume.agents]\ncodex = \"perhaps\"\n",
		"config.toml:2:1: resume.agents.codex must be \"auto\", \"confirm\" or \"never\", not \"perhaps\"");
	assert_refused(
		"[resume.agents]\ncodex = \"default\"\n",
		"config.toml:2:1: resume.agents.codex must be \"auto\", \"confirm\" or \"never\", not \"default\"");
	assert_refused("[resume.agents]\n\"a/b\" = \"auto\"\n",
		       "config.toml:2:1: \"a/b\" is not a valid agent name");
}

static void the_defaults_are_those_of_the_manual(void **state)
{
	(void)state;
	cleanup_settings struct settings settings;
	settings_init(&settings);
	assert_defaults(&settings);
}

static void an_empty_file_changes_nothing(void **state)
{
	(void)state;
	cleanup_settings struct settings settings = parse(
		"# nothing\n[tmux]\n[tmux.options]\n[resume]\n");
	assert_defaults(&settings);
}

static void every_key_arrives_in_its_field(void **state)
{
	(void)state;
	cleanup_settings struct settings settings = parse("default_agent = 'demo'\n"
							  "resume_agents = false\n"
							  "[resume]\n"
							  "policy = 'confirm'\n"
							  "probation = 3\n"
							  "[stop]\n"
							  "timeout = 60\n"
							  "[trash]\n"
							  "keep = 14\n"
							  "[tmux]\n"
							  "launch_in_user_scope = false\n"
							  "linger = true\n"
							  "conf = '~/my.conf'\n"
							  "source_user_config = true\n"
							  "detach_key = ''\n"
							  "mouse = false\n"
							  "history_limit = 0\n"
							  "default_terminal = 'screen'\n"
							  "[ui]\n"
							  "keys = ['stop=X']\n"
							  "mouse = false\n"
							  "ascii = true\n"
							  "preview = false\n"
							  "theme = 'color-blind'\n"
							  "colors = ['busy=bold']\n"
							  "[log]\n"
							  "journal = true\n"
							  "[limits]\n"
							  "memory_high = '1.5G'\n"
							  "memory_max = 2147483648\n"
							  "tasks_max = 500\n"
							  "cpu_weight = 50\n");
	assert_string_equal(settings.default_agent, "demo");
	assert_string_equal(settings.ui_keys.items[0], "stop=X");
	assert_false(settings.ui_mouse);
	assert_true(settings.ui_ascii);
	assert_false(settings.ui_preview);
	assert_int_equal(settings.ui_theme, THEME_COLOR_BLIND);
	assert_string_equal(settings.ui_colors.items[0], "busy=bold");
	assert_false(settings.resume_agents);
	assert_int_equal(settings.resume, POLICY_CONFIRM);
	assert_int_equal(settings.probation_s, 3);
	assert_int_equal(settings.stop_timeout_s, 60);
	assert_int_equal(settings.trash_keep_days, 14);
	assert_true(settings.log_journal);
	assert_int_equal(settings.tmux.launch_in_user_scope, OFF);
	assert_int_equal(settings.tmux.linger, ON);
	assert_string_equal(settings.tmux.conf, "~/my.conf");
	assert_true(settings.tmux.source_user_config);
	assert_string_equal(settings.tmux.detach_key, "");
	assert_false(settings.tmux.mouse);
	assert_int_equal(settings.tmux.history_limit, 0);
	assert_string_equal(settings.tmux.default_terminal, "screen");
	assert_true(settings.limits.memory_high == INT64_C(3) << 29);
	assert_true(settings.limits.memory_max == INT64_C(2) << 30);
	assert_int_equal(settings.limits.tasks_max, 500);
	assert_int_equal(settings.limits.cpu_weight, 50);
}

static void the_policy_may_stand_alone_at_the_top(void **state)
{
	(void)state;
	cleanup_settings struct settings settings = parse("resume = 'never'\n");
	assert_int_equal(settings.resume, POLICY_NEVER);
}

static void tmux_options_are_pairs_as_tmux_writes_them(void **state)
{
	(void)state;
	cleanup_settings struct settings settings = parse("[tmux.options]\n"
							  "status-left = '#(not run)'\n"
							  "set-titles = true\n"
							  "escape-time = 20\n"
							  "'@mine' = ''\n"
							  "'update-environment[9]' = 'X'\n"
							  "focus-events = false\n");
	const struct strvec *options = &settings.tmux.options;
	static const char *const expected[][2] = {
		{ "status-left", "#(not run)" },  { "set-titles", "on" },
		{ "escape-time", "20" },          { "@mine", "" },
		{ "update-environment[9]", "X" }, { "focus-events", "off" },
	};
	assert_int_equal(options->count, 2 * ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		bool found = false;
		for (size_t j = 0; j < options->count; j += 2)
			found |= streq(options->items[j], expected[i][0]) &&
				 streq(options->items[j + 1], expected[i][1]);
		assert_true(found);
	}
}

static void a_container_has_what_the_nearest_group_says(void **state)
{
	(void)state;
	static const char text[] =
		"[container]\nengine = 'podman'\nimage = 'debian:12'\n"
		"enabled = true\nescapes = true\ncpus = 1.5\nmounts = ['~/a', '/b:/c:ro']\n"
		"docker = 'rootless'\n"
		"[groups.work.container]\nimage = 'work:1'\nauth = 'token'\n"
		"[groups.'work/api'.container]\nnetwork = 'none'\ndocker = 'none'\n"
		"enabled = false\nescapes = false\ncpus = '2'\nmounts = ['/d']\n"
		"[groups.'work/api'.limits]\ntasks_max = 9\n";
	cleanup_settings struct settings settings = { 0 };
	assert_int_equal(settings_parse(text, strlen(text), "config.toml", &settings, NULL), 0);
	struct container_defaults api = settings_container(&settings, "work/api/x");
	assert_string_equal(api.engine, "podman");
	assert_string_equal(api.image, "work:1");
	assert_string_equal(api.network, "none");
	assert_string_equal(api.auth, "token");
	assert_null(api.program);
	assert_int_equal(api.enabled, OFF);
	assert_int_equal(api.escapes, OFF);
	assert_string_equal(api.cpus, "2");
	assert_string_equal(api.docker, "none");
	assert_int_equal(api.mounts.count, 1);
	struct container_defaults work = settings_container(&settings, "work");
	assert_int_equal(work.enabled, ON);
	assert_int_equal(work.escapes, ON);
	assert_string_equal(work.cpus, "1.5");
	assert_string_equal(work.docker, "rootless");
	assert_string_equal(work.mounts.items[1], "/b:/c:ro");
	struct container_defaults none = settings_container(&settings, NULL);
	assert_string_equal(none.image, "debian:12");
	assert_null(none.network);
	struct container_defaults other = settings_container(&settings, "workshop");
	assert_string_equal(other.image, "debian:12");
}

static void an_empty_list_of_a_group_counts(void **state)
{
	(void)state;
	static const char text[] = "[container]\nmounts = ['~/a']\n"
				   "[workspace]\ncopy = ['.env']\nsetup = ['npm', 'ci']\n"
				   "[groups.bare.container]\nmounts = []\n"
				   "[groups.bare.workspace]\ncopy = []\nsetup = []\n"
				   "[groups.'bare/own'.workspace]\nsetup = ['make']\n"
				   "[groups.other.limits]\ntasks_max = 9\n";
	cleanup_settings struct settings settings = { 0 };
	assert_int_equal(settings_parse(text, strlen(text), "config.toml", &settings, NULL), 0);
	assert_int_equal(settings_container(&settings, "bare/own").mounts.count, 0);
	struct workspace_defaults bare = settings_workspace(&settings, "bare");
	assert_int_equal(bare.copy.count, 0);
	assert_int_equal(bare.setup.count, 0);
	struct workspace_defaults own = settings_workspace(&settings, "bare/own");
	assert_int_equal(own.copy.count, 0);
	assert_string_equal(own.setup.items[0], "make");
	assert_int_equal(settings_container(&settings, "other").mounts.count, 1);
	assert_int_equal(settings_workspace(&settings, "other").copy.count, 1);
	assert_int_equal(settings_workspace(&settings, "other").setup.count, 2);
}

static void a_role_counts_before_an_image_of_a_farther_group(void **state)
{
	(void)state;
	static const char text[] =
		"[container]\nimage = 'debian:12'\nrole = 'tools'\n"
		"[groups.work.container]\nimage = 'work:1'\n"
		"[groups.'work/api'.container]\nrole = '~/api'\n"
		"[roles]\nbuild = { source = '/b' }\ntools = { source = '~/t' }\n";
	cleanup_settings struct settings settings = { 0 };
	assert_int_equal(settings_parse(text, strlen(text), "config.toml", &settings, NULL), 0);
	assert_string_equal(settings_container(&settings, "").role, "tools");
	assert_null(settings_container(&settings, "work").role);
	assert_string_equal(settings_container(&settings, "work/api/x").role, "~/api");
	assert_string_equal(settings_role(&settings, "tools"), "~/t");
	assert_null(settings_role(&settings, "/b"));
}

static void logins_of_single_agents_are_words(void **state)
{
	(void)state;
	static const char text[] = "[container.logins]\ngithub = 'token'\ncodex = 'sync'\n"
				   "[groups.work.container.logins]\ncodex = 'ignore'\n";
	cleanup_settings struct settings settings = { 0 };
	assert_int_equal(settings_parse(text, strlen(text), "config.toml", &settings, NULL), 0);
	const struct container_defaults all = settings_container(&settings, ""),
					work = settings_container(&settings, "work");
	assert_int_equal(all.logins.count, 4);
	assert_int_equal(work.logins.count, 2);
	assert_string_equal(work.logins.items[0], "codex");
	assert_string_equal(work.logins.items[1], "ignore");
}

static void a_container_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("[container]\nauth = 'magic'\n",
		       "config.toml:2:1: container.auth is \"magic\": choose \"sync\", \"token\" "
		       "or \"ignore\"");
	assert_refused("[container]\nimage = ''\n",
		       "config.toml:2:1: container.image is empty: omit it");
	assert_refused("[groups.a.container]\nprogram = 'x'\n",
		       "config.toml:2:1: groups.a.container.program is \"x\": choose \"image\" or "
		       "\"host\"");
	assert_refused("[groups.a.container]\nimages = 'x'\n",
		       "config.toml:2:1: unknown key \"groups.a.container.images\": a container "
		       "has enabled, escapes, engine, image, network, auth, program, cpus, "
		       "docker, mounts, role, role_rights, role_env and logins");
	assert_refused("[groups.a.container]\ndocker = 'rootful'\n",
		       "config.toml:2:1: groups.a.container.docker is \"rootful\": choose "
		       "\"rootless\", \"rootless-tcp\" or \"none\"");
	assert_refused("[container]\nrole = 'a/b'\n",
		       "config.toml:2:1: container.role is \"a/b\": name a role of [roles], or an "
		       "absolute path, which may start with \"~/\"");
	assert_refused("[roles.a]\nsource = 'b'\n",
		       "config.toml:2:1: roles.a.source is \"b\": a role is at an absolute path, "
		       "which may start with \"~/\", or at a URL");
	assert_refused("[roles.a]\nimage = 'b'\n",
		       "config.toml:1:8: roles.a must have \"source\", and nothing else");
	assert_refused("[roles.'a b']\nsource = '/b'\n",
		       "config.toml:1:8: \"a b\" is not a valid name of a role");
	assert_refused("[container]\nrole_rights = 'all'\n",
		       "config.toml:2:1: container.role_rights is \"all\": choose \"locked\", "
		       "\"standard\" or \"open\"");
	assert_refused("[container]\nrole_env = ['A', 'B=1']\n",
		       "config.toml:2:1: container.role_env holds \"B=1\", which is no name of a "
		       "variable");
	assert_refused("[groups.a.container.logins]\ncodex = 'magic'\n",
		       "config.toml:2:1: groups.a.container.logins.codex is \"magic\": choose "
		       "\"sync\", \"token\" or \"ignore\"");
	assert_refused("[container]\nlogins = 'sync'\n",
		       "config.toml:2:1: container.logins must be a table, not a string");
	assert_refused("[container]\nenabled = 'yes'\n",
		       "config.toml:2:1: container.enabled must be true or false, not a string");
	assert_refused("[groups.a.container]\ncpus = 0\n",
		       "config.toml:2:1: groups.a.container.cpus: invalid number of processors "
		       "\"0\" (examples: 2, 0.5)");
	assert_refused("[container]\ncpus = true\n",
		       "config.toml:2:1: container.cpus must be a number of processors, not true "
		       "or false");
	assert_refused("[container]\nmounts = ['data']\n",
		       "config.toml:2:1: container.mounts holds \"data\": a mount must be an "
		       "absolute path, or start with \"~/\" (example: \"~/data:/data:ro\")");
}

static void a_misspelt_key_is_refused_with_the_likely_one(void **state)
{
	(void)state;
	assert_refused("[tmux]\nmouse = true\nhistroy_limit = 5\n",
		       "config.toml:3:1: unknown key \"tmux.histroy_limit\": did you mean "
		       "\"tmux.history_limit\"?");
	assert_refused("resume_agent = true\n",
		       "config.toml:1:1: unknown key \"resume_agent\": did you mean "
		       "\"resume_agents\"?");
	assert_refused("mouse = true\n", "config.toml:1:1: unknown key \"mouse\": did you mean "
					 "\"ui.mouse\"?");
	assert_refused("[colours]\nx = 1\n", "config.toml:1:2: unknown key \"colours\"");
	assert_refused("'tmux.mouse' = true\n",
		       "config.toml:1:1: a key with a dot in it: write tmux.mouse without quotes");
}

static void a_wrong_type_is_refused_by_name(void **state)
{
	(void)state;
	assert_refused("resume_agents = 'yes'\n",
		       "config.toml:1:1: resume_agents must be true or false, not a string");
	assert_refused("[tmux]\nlinger = 1\n",
		       "config.toml:2:1: tmux.linger must be true or false, not a whole number");
	assert_refused(
		"[tmux]\nhistory_limit = 1.5\n",
		"config.toml:2:1: tmux.history_limit must be a whole number, not a number with a "
		"fraction");
	assert_refused("default_agent = ['a']\n",
		       "config.toml:1:1: default_agent must be a string, not an array");
	assert_refused("tmux = 3\n", "config.toml:1:1: tmux must be a table, not a whole number");
	assert_refused("[default_agent]\nx = 1\n",
		       "config.toml:1:2: default_agent must be a string, not a table");
	assert_refused("[tmux]\noptions = 'x'\n",
		       "config.toml:2:1: tmux.options must be a table, not a string");
	assert_refused(
		"[tmux.options]\nstatus-left = ['x']\n",
		"config.toml:2:1: tmux.options.status-left must be a string, a whole number, true "
		"or false, not an array");
	assert_refused("[limits]\nmemory_max = true\n",
		       "config.toml:2:1: limits.memory_max must be a size, as in \"4G\", not true "
		       "or false");
}

static void a_value_out_of_range_is_refused(void **state)
{
	(void)state;
	assert_refused("[resume]\nprobation = 0\n",
		       "config.toml:2:1: resume.probation must be from 1 to 3600, not 0");
	assert_refused("[trash]\nkeep = 36501\n",
		       "config.toml:2:1: trash.keep must be from 0 to 36500, not 36501");
	assert_refused("[stop]\ntimeout = 3601\n",
		       "config.toml:2:1: stop.timeout must be from 1 to 3600, not 3601");
	assert_refused("[limits]\ncpu_weight = 10001\n",
		       "config.toml:2:1: limits.cpu_weight must be from 0 to 10000, not 10001");
	assert_refused("[tmux]\nhistory_limit = -1\n",
		       "config.toml:2:1: tmux.history_limit must be from 0 to 10000000, not -1");
	assert_refused(
		"[limits]\nmemory_max = 4\n",
		"config.toml:2:1: limits.memory_max is 4 bytes, too little for any agent: use at "
		"least \"16M\", or 0 for no limit");
}

static void a_value_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	assert_refused("resume = 'always'\n",
		       "config.toml:1:1: resume must be \"auto\", \"confirm\" or "
		       "\"never\", not \"always\"");
	assert_refused(
		"default_agent = '../x'\n",
		"config.toml:1:1: default_agent is \"../x\", which is not a valid agent name");
	assert_refused(
		"[tmux]\nconf = 'my.conf'\n",
		"config.toml:2:1: tmux.conf is \"my.conf\": it must be an absolute path, or start "
		"with \"~/\"");
	assert_refused(
		"[workspace]\nroot = '~/'\n",
		"config.toml:2:1: workspace.root is \"~/\": name a directory of your own for "
		"it (example: \"~/trees\")");
	assert_refused(
		"[workspace]\nroot = '/a/../b'\n",
		"config.toml:2:1: workspace.root is \"/a/../b\": name a directory of your own "
		"for it (example: \"~/trees\")");
	assert_refused(
		"[tmux]\ndetach_key = 'C-q x'\n",
		"config.toml:2:1: tmux.detach_key is \"C-q x\": it must be one word of ASCII "
		"characters");
	assert_refused("[tmux]\ndefault_terminal = ''\n",
		       "config.toml:2:1: tmux.default_terminal must not be empty");
	assert_refused(
		"[limits]\nmemory_high = '4 GB'\n",
		"config.toml:2:1: limits.memory_high: invalid size \"4 GB\" (examples: \"512M\", "
		"\"4G\", \"infinity\")");
	assert_refused("[tmux.options]\n'a b' = 'x'\n",
		       "config.toml:2:1: \"a b\" is not a valid tmux option name");
	assert_refused("default_agent = \"a\\u0000b\"\n",
		       "config.toml:1:1: default_agent must not contain a NUL character");
	assert_refused(
		"default_agent = \"\\u001b[0m\"\n",
		"config.toml:1:1: default_agent is \"\\033[0m\", which is not a valid agent name");
}

static void a_syntax_error_names_file_line_and_column(void **state)
{
	(void)state;
	struct settings settings;
	cleanup_error struct error err = { 0 };
	const char *text = "resume_agents = true\n[tmux\n";
	assert_int_equal(settings_parse(text, strlen(text), "/etc/x/config.toml", &settings, &err),
			 -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_true(starts_with(err.message, "/etc/x/config.toml:2:6: "));
}

static void sizes_have_suffixes_of_1024(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t size;
	} good[] = {
		{ "0", 0 },
		{ "1000000", 1000000 },
		{ "1K", 1024 },
		{ "512M", INT64_C(512) << 20 },
		{ "4G", INT64_C(4) << 30 },
		{ "1.5G", INT64_C(3) << 29 },
		{ "2T", INT64_C(2) << 40 },
		{ "0.5K", 512 },
		{ "1.0009765625K", 1024 },
		{ "9223372036854775807", INT64_MAX },
		{ "8388607.999999999T", INT64_MAX - 1099 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		int64_t size = -1;
		if (!limit_parse_size(good[i].text, &size))
			fail_msg("\"%s\" is refused", good[i].text);
		assert_true(size == good[i].size);
	}
}

static void other_texts_are_no_sizes(void **state)
{
	(void)state;
	static const char *const bad[] = { "",         "G",
					   "-1",       "+1",
					   " 1",       "1 ",
					   "1.5",      "1.",
					   ".5G",      "1.G",
					   "4g",       "4GB",
					   "4GiB",     "0x10",
					   "1e6",      "9223372036854775808",
					   "8388608T", "99999999999999999999G",
					   "infinity" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int64_t size = 4711;
		if (limit_parse_size(bad[i], &size))
			fail_msg("\"%s\" is taken", bad[i]);
		assert_int_equal(size, 4711);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_those_of_the_manual),
		cmocka_unit_test(an_empty_file_changes_nothing),
		cmocka_unit_test(every_key_arrives_in_its_field),
		cmocka_unit_test(the_policy_may_stand_alone_at_the_top),
		cmocka_unit_test(tmux_options_are_pairs_as_tmux_writes_them),
		cmocka_unit_test(a_container_has_what_the_nearest_group_says),
		cmocka_unit_test(an_empty_list_of_a_group_counts),
		cmocka_unit_test(a_role_counts_before_an_image_of_a_farther_group),
		cmocka_unit_test(logins_of_single_agents_are_words),
		cmocka_unit_test(a_container_that_makes_no_sense_is_refused),
		cmocka_unit_test(a_misspelt_key_is_refused_with_the_likely_one),
		cmocka_unit_test(a_wrong_type_is_refused_by_name),
		cmocka_unit_test(a_value_out_of_range_is_refused),
		cmocka_unit_test(a_value_that_makes_no_sense_is_refused),
		cmocka_unit_test(a_syntax_error_names_file_line_and_column),
		cmocka_unit_test(sizes_have_suffixes_of_1024),
		cmocka_unit_test(an_agents_policy_goes_before_the_general_one),
		cmocka_unit_test(occasions_of_the_user_take_the_place_of_ours),
		cmocka_unit_test(other_texts_are_no_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
