/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is taken over of the user's tmux configuration, and what is not; what ours refuses. */
#include "unit/scratch.h"

#include "driver/tmux/tmux-userconf.h"
#include "driver/tmux/tmux.h"

#include <string.h>

static void a_plain_setting_is_taken_over(void **state UNUSED)
{
	static const char *const texts[] = {
		"set -g prefix C-a\n",
		"set-option -g prefix C-a",
		"  set\t-gq prefix 'C-a'  # screen's\n",
		"set -g prefix C-b\nset -g prefix \"C-a\"\n",
		"# set -g prefix C-z {\nset -g prefix C-a\r\n",
		"%if \"#{x}\"\nset -g prefix C-z\n%endif\nset -g prefix C-a\n",
		"bind x {\n  set -g prefix C-z\n}\nset -g prefix C-a\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_tmux_choices struct tmux_choices choices = { 0 };
		tmux_choices_parse(texts[i], &choices);
		if (!choices.prefix || !streq(choices.prefix, "C-a"))
			fail_msg("%s: %s", texts[i], or_empty(choices.prefix));
	}
	cleanup_tmux_choices struct tmux_choices all = { 0 };
	tmux_choices_parse("set -g prefix2 `\nsetw -g mode-keys vi\nset -g status-keys emacs\n"
			   "set -g prefix M-Space",
			   &all);
	assert_string_equal(all.prefix, "M-Space");
	assert_string_equal(all.prefix2, "`");
	assert_string_equal(all.mode_keys, "vi");
	assert_string_equal(all.status_keys, "emacs");
}

static void what_only_tmux_can_judge_is_left(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"set -g prefix",
		"set prefix C-a\n",
		"set -ug prefix C-a\n",
		"set -ga prefix C-a\n",
		"set -Fg prefix '#(touch x)'\n",
		"set -g prefix '#(touch x)'\n",
		"set -g prefix '\n",
		"set -g prefix $KEY\n",
		"set -g prefix \"C-a' ; run-shell 'x\"\n",
		"set -g prefix C-a'\n",
		"set -g prefix C-a ; run-shell x\n",
		"set -g prefix NoSuchKey\n",
		"set -g mode-keys 'vi;'\n",
		"if-shell true 'set -g prefix C-a'\n",
		"if-shell true \\\n  set -g prefix C-a\n",
		"bind x {\n  set -g prefix C-a\n",
		"%if 1\nset -g prefix C-a\n",
		"run-shell 'touch x'\nsource-file other\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_tmux_choices struct tmux_choices choices = { 0 };
		tmux_choices_parse(texts[i], &choices);
		if (choices.prefix || choices.mode_keys)
			fail_msg("%s: %s", texts[i], or_empty(choices.prefix));
	}
}

static void the_usual_files_are_read_and_links_followed(void **state UNUSED)
{
	cleanup_tmux_choices struct tmux_choices choices = { 0 };
	cleanup_close int config = -1, tmux = -1;
	assert_int_equal(fs_open_private_directory_at(here, ".config", true, &config, NULL), 0);
	assert_int_equal(fs_open_private_directory_at(config, "tmux", true, &tmux, NULL), 0);
	put("dotfiles", "set -g prefix C-a\nset -g mode-keys vi\n");
	assert_int_equal(symlinkat("dotfiles", here, ".tmux.conf"), 0);
	static const char text[] = "set -g prefix C-s\n";
	assert_int_equal(fs_replace(tmux, "tmux.conf", text, strlen(text), FS_VOLATILE, NULL), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	tmux_choices_read(scratch, &choices);
	assert_string_equal(choices.prefix, "C-s");
	assert_string_equal(choices.mode_keys, "vi");
}

static void a_configuration_refuses_what_would_be_another_line(void **state UNUSED)
{
	static const char *const bad[] = { "x\nrun-shell 'touch /tmp/x'", "x\x1b", "x\x7f" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_strbuf struct strbuf text = { 0 };
		cleanup_error struct error err = { 0 };
		const struct tmux_conf settings = { .default_terminal = bad[i], .detach_key = "" };
		assert_int_equal(tmux_conf_text(&settings, &text, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_int_equal(text.length, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_setting_is_taken_over),
		cmocka_unit_test(what_only_tmux_can_judge_is_left),
		cmocka_unit_test(a_configuration_refuses_what_would_be_another_line),
		cmocka_unit_test_setup_teardown(the_usual_files_are_read_and_links_followed, set_up,
						tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
