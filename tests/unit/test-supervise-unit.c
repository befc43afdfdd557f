/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agentdeck.service, installed and removed with a user manager that tests/helper/fake-systemd1
 * plays.
 */
#include "unit/files.h"
#include "unit/unit-fixture.h"

#include "base/machine.h"
#include "engine/supervise/supervise-unit.h"

#include <pwd.h>

struct scene {
	struct fixture *f;
	struct deck deck;
	char *root, *own, *package; /* package, own: possible places of the unit file */
	char *dropin;
};

static int set_up_scene(void **state)
{
	const struct passwd *user = getpwuid(getuid());
	struct scene *s = xcalloc(1, sizeof(*s));
	void *fixture;
	(void)set_up(&fixture);
	s->f = fixture;
	s->root = xstrndup(s->f->directory,
			   (size_t)(strrchr(s->f->directory, '/') - s->f->directory));
	s->own = path_join(s->root, "config/systemd/user/agentdeck.service");
	s->dropin = path_join(s->root, "config/systemd/user/agentdeck.service.d/agentdeck.conf");
	s->package = path_join(s->root, "vendor/units/agentdeck.service");
	s->deck.paths.user_runtime = xstrdup(s->f->directory);
	s->deck.paths.state = path_join(s->root, "state");
	s->deck.program = path_join(s->root, "agentdeck");
	s->deck.settings.tmux.linger = OFF;
	write_path(s->deck.program, "", 0);
	assert_int_equal(mkdir(s->deck.paths.state, 0700), 0);
	(void)setenv("HOME", user->pw_dir, 1);
	(void)unsetenv("AGENTDECK_HOME");
	start_fake(s->f, "direct");
	*state = s;
	return 0;
}

static int tear_down_scene(void **state)
{
	struct scene *s = *state;
	void *fixture = s->f;
	deck_close(&s->deck);
	(void)tear_down(&fixture);
	free(s->root);
	free(s->own);
	free(s->dropin);
	free(s->package);
	free(s);
	return 0;
}

static void put(const char *path, const char *text)
{
	cleanup_free char *directory = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	cleanup_close int dirfd = -1;
	assert_int_equal(fs_open_private_directory(directory, &dirfd, NULL), 0);
	write_path(path, text, strlen(text));
}

/* NULL: there is no such file. */
static char *content(const char *path)
{
	struct strbuf text = { 0 };
	int r = fs_read(AT_FDCWD, path, 1 << 20, &text, NULL);
	assert_true(r >= 0);
	return r == 0 ? strbuf_take(&text) : NULL;
}

static void install(struct scene *s)
{
	int r = supervise_install(&s->deck, &s->f->err);
	if (r != 0)
		fail_msg("%d: %s", r, or_empty(s->f->err.message));
}

static struct supervise_status status_of(struct scene *s)
{
	struct supervise_status status;
	assert_int_equal(supervise_status(&s->deck, &status, &s->f->err), 0);
	return status;
}

/* ---- the text ------------------------------------------------------------------------------- */

static void the_unit_is_the_packaged_one_with_our_program_and_our_mark(void **state UNUSED)
{
	struct strvec none = { 0 };
	cleanup_free char *text = NULL;
	assert_int_equal(supervise_unit_text(supervise_unit_template, "/opt/x/agentdeck", &none,
					     &text, NULL),
			 0);
	assert_true(starts_with(text, "# Written by \"agentdeck supervise --install\""));
	assert_non_null(strstr(text, "\nExecStart=\"/opt/x/agentdeck\" supervise\n"));
	assert_non_null(strstr(text, "\n[Service]\nType=notify\n"));
	assert_null(strstr(text, "@bindir@"));
	/* Except for the mark and the program it is the same text. */
	const char *rest = strstr(supervise_unit_template, "/agentdeck supervise\n") +
			   strlen("/agentdeck");
	assert_true(ends_with(text, rest));
}

static void sessions_survive_its_end_and_nothing_is_taken_from_what_it_starts(void **state UNUSED)
{
	static const char *const lines[] = {
		"\nKillMode=process\n",        "\nOOMPolicy=continue\n",
		"\nRestart=always\n",          "\nStartLimitIntervalSec=0\n",
		"\nWantedBy=default.target\n", "\nNotifyAccess=main\n"
	};
	static const char *const never[] = { "\nProtect",  "\nPrivate", "\nNoNewPrivileges",
					     "\nRestrict", "\nMemory",  "\nSystemCall" };
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!strstr(supervise_unit_template, lines[i]))
			fail_msg("missing: %s", lines[i]);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (strstr(supervise_unit_template, never[i]))
			fail_msg("not wanted: %s", never[i]);
}

static void what_systemd_would_read_otherwise_is_quoted(void **state UNUSED)
{
	cleanup_strvec struct strvec environment = { 0 };
	cleanup_free char *text = NULL;
	strvec_push(&environment, "AGENTDECK_HOME=/a \"b\\c%d\n$e/\xc3\xa4");
	assert_int_equal(supervise_unit_text(supervise_unit_template, "/opt/my %h/agentdeck",
					     &environment, &text, NULL),
			 0);
	assert_non_null(strstr(
		text, "\n[Service]\n"
		      "Environment=\"AGENTDECK_HOME=/a \\\"b\\\\c%%d\\x0a$e/\xc3\xa4\"\nType="));
	assert_non_null(strstr(text, "\nExecStart=\"/opt/my %%h/agentdeck\" supervise\n"));
}

static void what_systemd_cannot_read_is_refused(void **state UNUSED)
{
	cleanup_strvec struct strvec environment = { 0 };
	cleanup_error struct error err = { 0 };
	char *text = NULL;
	strvec_push(&environment, "AGENTDECK_HOME=/\xff");
	assert_int_equal(supervise_unit_text(supervise_unit_template, "/agentdeck", &environment,
					     &text, &err),
			 -1);
	assert_non_null(strstr(err.message, "AGENTDECK_HOME=/\\377"));
	assert_null(text);
}

/* ---- put in place --------------------------------------------------------------------------- */

static void without_a_package_it_is_written_where_the_manager_looks(void **state)
{
	struct scene *s = *state;
	install(s);
	cleanup_free char *text = content(s->own);
	assert_non_null(text);
	assert_non_null(strstr(text, s->deck.program));
	assert_null(strstr(text, "Environment="));
	assert_int_equal(count_calls(s->f, "Reload"), 1);
	assert_int_equal(count_calls(s->f, "EnableUnitFiles agentdeck.service 0 0"), 1);
	assert_int_equal(count_calls(s->f, "RestartUnit agentdeck.service replace"), 1);

	cleanup_supervise_status struct supervise_status status = status_of(s);
	assert_true(status.has_manager && status.is_installed && status.is_ours);
	assert_string_equal(status.file, s->own);
	assert_string_equal(status.enabled, "enabled");
	assert_string_equal(status.active, "active");
	assert_int_equal(status.unit_pid, 4711);
	assert_int_equal(status.since_us, 1700000000000000);
	assert_int_equal(status.bus_pid, 0);
	assert_false(status.is_running);

	/* Installing twice changes nothing. */
	install(s);
	assert_int_equal(count_calls(s->f, "RestartUnit agentdeck.service replace"), 2);
}

static void a_packaged_unit_of_this_program_is_just_enabled(void **state)
{
	struct scene *s = *state;
	cleanup_free char *unit = xasprintf("[Service]\nExecStart=%s/./agentdeck supervise\n",
					    s->root);
	put(s->package, unit);
	/* Written before the package was installed. */
	put(s->own,
	    "# Written by \"agentdeck supervise --install\", removed by --uninstall. For changes of your own: \n");
	install(s);
	assert_null(content(s->own));
	assert_int_equal(count_calls(s->f, "EnableUnitFiles agentdeck.service"), 1);
	cleanup_supervise_status struct supervise_status status = status_of(s);
	assert_false(status.is_ours);
	assert_string_equal(status.file, s->package);
}

static char *beside(const struct scene *s, const char *name)
{
	return xasprintf("%s/config/systemd/user/%s", s->root, name);
}

static void the_socket_comes_and_goes_with_it(void **state)
{
	struct scene *s = *state;
	cleanup_free char *socket = beside(s, "agentdeck.socket");
	cleanup_free char *service = beside(s, "agentdeck@.service");
	cleanup_free char *command = xasprintf("\nExecStart=\"%s\" serve --socket\n",
					       s->deck.program);
	(void)setenv("AGENTDECK_HOME", "/srv/deck", 1);
	install(s);
	(void)unsetenv("AGENTDECK_HOME");
	cleanup_free char *of_socket = content(socket), *of_service = content(service);
	assert_non_null(of_socket);
	assert_non_null(strstr(of_socket, "\nSocketMode=0600\n"));
	assert_null(strstr(of_socket, "Environment="));
	assert_non_null(of_service);
	assert_non_null(strstr(of_service, command));
	assert_non_null(strstr(of_service, "\nEnvironment=\"AGENTDECK_HOME=/srv/deck\"\n"));
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), 0);
	assert_null(content(socket));
	assert_null(content(service));
}

static void the_socket_of_another_program_s_package_serves_with_this_one(void **state)
{
	struct scene *s = *state;
	cleanup_free char *socket = path_join(s->root, "vendor/units/agentdeck.socket");
	cleanup_free char *service = path_join(s->root, "vendor/units/agentdeck@.service");
	cleanup_free char *dropin = beside(s, "agentdeck@.service.d/agentdeck.conf");
	cleanup_free char *own = beside(s, "agentdeck.socket");
	cleanup_free char *command = xasprintf("\nExecStart=\nExecStart=\"%s\" serve --socket\n",
					       s->deck.program);
	put(socket, "[Unit]\n\n[Socket]\nAccept=yes\n");
	put(service, "[Service]\nExecStart=/bin/true serve --socket\n");
	install(s);
	cleanup_free char *text = content(dropin);
	assert_non_null(text);
	assert_true(ends_with(text, command));
	assert_null(content(own));
}

static void a_masked_socket_stays_masked(void **state)
{
	struct scene *s = *state;
	cleanup_free char *socket = beside(s, "agentdeck.socket");
	cleanup_free char *directory = beside(s, "");
	cleanup_close int dirfd = -1;
	char target[16] = "";
	assert_int_equal(fs_open_private_directory(directory, &dirfd, NULL), 0);
	assert_int_equal(symlink("/dev/null", socket), 0);
	install(s);
	assert_int_equal(readlink(socket, target, sizeof(target) - 1), 9);
	assert_string_equal(target, "/dev/null");
}

/* ---- by default ----------------------------------------------------------------------------- */

static void put_package(struct scene *s)
{
	cleanup_free char *unit = xasprintf("[Service]\nExecStart=%s/agentdeck supervise\n",
					    s->root);
	put(s->package, unit);
	s->deck.settings.supervise_auto = true;
}

static void the_first_start_enables_a_packaged_unit_once(void **state)
{
	struct scene *s = *state;
	put_package(s);
	assert_true(supervise_enable_by_default(&s->deck));
	assert_int_equal(count_calls(s->f, "EnableUnitFiles agentdeck.service 0 0"), 1);
	assert_int_equal(count_calls(s->f, "RestartUnit agentdeck.service replace"), 1);
	assert_null(content(s->own));
	assert_false(supervise_enable_by_default(&s->deck));
	assert_int_equal(count_calls(s->f, "EnableUnitFiles"), 1);
	assert_int_equal(s->deck.warnings.count, 0);
}

static void what_a_user_took_back_is_not_enabled_again(void **state)
{
	struct scene *s = *state;
	put_package(s);
	assert_true(supervise_uninstall(&s->deck, NULL) >= 0);
	assert_false(supervise_enable_by_default(&s->deck));
	assert_int_equal(count_calls(s->f, "EnableUnitFiles"), 0);
}

static void nothing_is_enabled_by_default_without_an_installed_unit(void **state)
{
	struct scene *s = *state;
	s->deck.settings.supervise_auto = true;
	assert_false(supervise_enable_by_default(&s->deck));
	put(s->package, "[Service]\nExecStart=/bin/true supervise\n");
	assert_false(supervise_enable_by_default(&s->deck));
	put_package(s);
	(void)setenv("AGENTDECK_HOME", "/elsewhere", 1);
	assert_false(supervise_enable_by_default(&s->deck));
	(void)unsetenv("AGENTDECK_HOME");
	s->deck.settings.supervise_auto = false;
	assert_false(supervise_enable_by_default(&s->deck));
	s->deck.settings.supervise_auto = true;
	s->deck.config_problem = (char *)"config.toml:1:1: unknown key";
	assert_false(supervise_enable_by_default(&s->deck));
	s->deck.config_problem = NULL;
	assert_int_equal(count_calls(s->f, "EnableUnitFiles"), 0);
	s->deck.settings.supervise_auto = true;
	assert_true(supervise_enable_by_default(&s->deck));
}

static void a_packaged_unit_of_another_program_is_overridden(void **state)
{
	struct scene *s = *state;
	put(s->package, "[Service]\nExecStart=/bin/true supervise\n");
	/* As an earlier version wrote it. */
	put(s->own,
	    "# Written by \"agentdeck supervise --install\", removed by --uninstall. For changes of your own: \n");
	install(s);
	cleanup_free char *text = content(s->dropin);
	cleanup_free char *expected = xasprintf(
		"[Service]\nExecStart=\nExecStart=\"%s\" supervise\n", s->deck.program);
	assert_true(starts_with(text, "# Written by \"agentdeck supervise --install\""));
	assert_true(ends_with(text, expected));
	assert_null(content(s->own));
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), 0);
	assert_null(content(s->dropin));
}

static void places_that_the_manager_does_not_know_are_written_down(void **state)
{
	struct scene *s = *state;
	cleanup_free char *unit = xasprintf("[Service]\nExecStart=%s supervise\n", s->deck.program);
	put(s->package, unit);
	(void)setenv("AGENTDECK_HOME", "/srv/deck", 1);
	install(s);
	(void)unsetenv("AGENTDECK_HOME");
	cleanup_free char *text = content(s->dropin);
	assert_true(ends_with(text, "[Service]\nEnvironment=\"AGENTDECK_HOME=/srv/deck\"\n"));
	assert_null(content(s->own));
	(void)setenv("HOME", "/elsewhere", 1);
	install(s);
	cleanup_free char *other = content(s->dropin);
	assert_true(ends_with(other, "[Service]\nEnvironment=\"HOME=/elsewhere\"\n"));
	(void)setenv("HOME", getpwuid(getuid())->pw_dir, 1);
	install(s);
	assert_null(content(s->dropin));
}

static void a_unit_of_the_users_own_is_left_alone(void **state)
{
	struct scene *s = *state;
	put(s->own, "[Service]\nExecStart=/bin/true\n");
	assert_error(s->f, supervise_install(&s->deck, &s->f->err), ERROR_EXISTS, "move it away");
	cleanup_free char *text = content(s->own);
	assert_string_equal(text, "[Service]\nExecStart=/bin/true\n");
	assert_int_equal(count_calls(s->f, "EnableUnitFiles"), 0);

	/* A mask stays, too. */
	assert_int_equal(unlink(s->own), 0);
	assert_int_equal(symlink("/dev/null", s->own), 0);
	assert_error(s->f, supervise_install(&s->deck, &s->f->err), ERROR_EXISTS, "move it away");
}

static void one_that_was_started_by_hand_is_in_the_way(void **state)
{
	struct scene *s = *state;
	cleanup_close int dirfd = open(s->deck.paths.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	const char *container = machine_is_lasting() ? "" : machine_pid_namespace();
	cleanup_free char *name = xasprintf("supervise%s%s%s%s.lock", *machine_id() ? "-" : "",
					    machine_id(), *container ? "-" : "", container);
	assert_int_equal(fs_lock(dirfd, name, 0, &lock, NULL), 0);
	assert_error(s->f, supervise_install(&s->deck, &s->f->err), ERROR_BUSY, "started by hand");
	assert_null(content(s->own));
	cleanup_supervise_status struct supervise_status status = status_of(s);
	assert_true(status.is_running);
}

static void without_a_manager_the_remedy_is_named(void **state)
{
	struct scene *s = *state;
	child_abandon(&s->f->manager);
	assert_error(s->f, supervise_install(&s->deck, &s->f->err), ERROR_UNAVAILABLE,
		     "agentdeck supervise");
	assert_error(s->f, supervise_uninstall(&s->deck, &s->f->err), ERROR_UNAVAILABLE,
		     "no later start enables it. Log in, and run this again");
	cleanup_supervise_status struct supervise_status status = status_of(s);
	assert_false(status.has_manager || status.is_installed);
	assert_non_null(status.why);
}

/* ---- taken away ----------------------------------------------------------------------------- */

static void what_was_written_is_removed(void **state)
{
	struct scene *s = *state;
	install(s);
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), 0);
	assert_null(content(s->own));
	assert_int_equal(count_calls(s->f, "DisableUnitFiles agentdeck.service 0"), 1);
	assert_int_equal(count_calls(s->f, "StopUnit agentdeck.service replace"), 1);
	assert_int_equal(count_calls(s->f, "Reload"), 2);
	cleanup_supervise_status struct supervise_status status = status_of(s);
	assert_false(status.is_installed);
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), SUPERVISE_NOT_INSTALLED);
}

static void what_others_wrote_is_only_disabled(void **state)
{
	struct scene *s = *state;
	cleanup_free char *unit = xasprintf("[Service]\nExecStart=%s supervise\n", s->deck.program);
	put(s->package, unit);
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), SUPERVISE_NOT_INSTALLED);
	install(s);
	put(s->own, "[Service]\nExecStart=/bin/true\n");
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), 0);
	cleanup_free char *text = content(s->own), *packaged = content(s->package);
	assert_string_equal(text, "[Service]\nExecStart=/bin/true\n");
	assert_string_equal(packaged, unit);
	assert_int_equal(supervise_uninstall(&s->deck, &s->f->err), SUPERVISE_NOT_INSTALLED);
}

/* ---- the manager's answers ------------------------------------------------------------------ */

static void what_the_manager_refuses_is_told(void **state)
{
	struct scene *s = *state;
	struct unit_bus *bus = deck_bus(&s->deck);
	struct fixture *f = s->f;
	cleanup_free char *word = NULL;
	struct unit_service service;
	int64_t deadline_ms = clock_ms() + PLENTY_MS;
	assert_error(f, unit_enable(bus, "refused.scope", &f->err), ERROR_SYSTEM,
		     "enable refused.scope: not today");
	assert_int_equal(unit_enable(bus, "absent.scope", &f->err), UNIT_ABSENT);
	assert_int_equal(unit_file_state(bus, "absent.scope", &word, &f->err), UNIT_ABSENT);
	assert_int_equal(unit_get_service(bus, "agentdeck.service", &service, &f->err),
			 UNIT_ABSENT);
	assert_int_equal(unit_restart(bus, "absent.scope", deadline_ms, &f->err), UNIT_ABSENT);
	assert_error(f, unit_restart(bus, "failed.scope", deadline_ms, &f->err), ERROR_SYSTEM,
		     "journalctl --user -u failed.scope");
	assert_error(f, unit_restart(bus, "silent.scope", clock_ms() + SOON_MS, &f->err),
		     ERROR_TIMEOUT, "start silent.scope");
	assert_error(f, unit_restart(bus, "vanish.scope", deadline_ms, &f->err), ERROR_UNAVAILABLE,
		     "start vanish.scope");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, set_up_scene, tear_down_scene)

int main(int argc UNUSED, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_unit_is_the_packaged_one_with_our_program_and_our_mark),
		cmocka_unit_test(sessions_survive_its_end_and_nothing_is_taken_from_what_it_starts),
		cmocka_unit_test(what_systemd_would_read_otherwise_is_quoted),
		cmocka_unit_test(what_systemd_cannot_read_is_refused),
		SCENE(without_a_package_it_is_written_where_the_manager_looks),
		SCENE(a_packaged_unit_of_this_program_is_just_enabled),
		SCENE(the_first_start_enables_a_packaged_unit_once),
		SCENE(what_a_user_took_back_is_not_enabled_again),
		SCENE(nothing_is_enabled_by_default_without_an_installed_unit),
		SCENE(a_packaged_unit_of_another_program_is_overridden),
		SCENE(places_that_the_manager_does_not_know_are_written_down),
		SCENE(a_unit_of_the_users_own_is_left_alone),
		SCENE(one_that_was_started_by_hand_is_in_the_way),
		SCENE(without_a_manager_the_remedy_is_named),
		SCENE(the_socket_comes_and_goes_with_it),
		SCENE(the_socket_of_another_program_s_package_serves_with_this_one),
		SCENE(a_masked_socket_stays_masked),
		SCENE(what_was_written_is_removed),
		SCENE(what_others_wrote_is_only_disabled),
		SCENE(what_the_manager_refuses_is_told),
	};
	static const char *const ours[] = { "DBUS_SESSION_BUS_ADDRESS", "XDG_CONFIG_HOME",
					    "XDG_STATE_HOME", "XDG_RUNTIME_DIR" };
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		(void)unsetenv(ours[i]);
	if (argv[1])
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
