/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent finds in its home in a container, and what an agent that is hostile can make of it.
 */
#include "unit/files.h"
#include "unit/scratch.h"

#include "base/jsonio.h"
#include "engine/place/container/agenthome.h"

#include <sys/stat.h>

static const char entry[] =
	"command = ['x']\n[home]\ndefault = '~/.x'\n"
	"login = ['{home}/login', '~/share/other']\nseed = '~/.x.json'\n"
	"seed_text = '{\"done\":true,\"projects\":{{directory}:{\"trusted\":true}}}'\n";

static struct registry registry;

static const struct agent *agent_of(const char *text)
{
	cleanup_error struct error err = { 0 };
	registry_free(&registry);
	registry = (struct registry){ 0 };
	if (registry_override(&registry, "x", text, strlen(text), "x.toml", &err) != 0)
		fail_msg("%s", err.message);
	return registry_find(&registry, "x");
}

/* The home in the container is "in", the user's is "out". */
struct homes {
	char *in, *out, *config;
	struct agenthome home;
	struct agenthome_user user;
};

static struct homes homes_of(const char *text)
{
	struct homes homes = { .in = path_join(scratch, "in"), .out = path_join(scratch, "out") };
	homes.config = path_join(homes.out, ".x");
	(void)mkdir(homes.in, 0700);
	(void)mkdir(homes.out, 0755);
	(void)mkdir(homes.config, 0755);
	homes.home = (struct agenthome){ agent_of(text), homes.in, "/srv/a \"b\"/c", NULL };
	homes.user = (struct agenthome_user){ homes.out, homes.config };
	return homes;
}

static void homes_clear(struct homes *homes)
{
	free(homes->in);
	free(homes->out);
	free(homes->config);
	registry_free(&registry);
	registry = (struct registry){ 0 };
}
#define cleanup_homes CLEANUP(homes_clear)

static void write_file(const char *name, const char *text)
{
	cleanup_free char *path = path_join(scratch, name);
	write_path(path, text, strlen(text));
}

/* seconds since the Epoch */
static void set_time(const char *name, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	assert_int_equal(utimensat(here, name, times, AT_SYMLINK_NOFOLLOW), 0);
}

static char *read_name(const char *name)
{
	struct strbuf text = { 0 };
	cleanup_free char *path = path_join(scratch, name);
	return fs_read(AT_FDCWD, path, 1 << 20, &text, NULL) == 0 ? strbuf_take(&text) : NULL;
}

static void assert_file(const char *name, const char *text)
{
	cleanup_free char *found = read_name(name);
	assert_non_null(found);
	assert_string_equal(found, text);
}

static void assert_no_file(const char *name)
{
	struct stat st;
	assert_int_equal(fstatat(here, name, &st, AT_SYMLINK_NOFOLLOW), -1);
}

/* Returns why there is no login, or NULL. */
static char *copy(const struct homes *homes)
{
	cleanup_error struct error err = { 0 };
	char *reason = NULL;
	if (agenthome_copy_login(&homes->home, &homes->user, &reason, &err) < 0)
		fail_msg("%s", err.message);
	return reason;
}

static void assert_not_copied(const struct homes *homes, const char *why)
{
	cleanup_error struct error err = { 0 };
	char *reason = NULL;
	assert_int_equal(agenthome_copy_login(&homes->home, &homes->user, &reason, &err), -1);
	if (!strstr(err.message, why))
		fail_msg("'%s' does not say '%s'", err.message, why);
	assert_null(reason);
}

/* ---- the seed ---- */

static void seed(const struct homes *homes)
{
	cleanup_error struct error err = { 0 };
	if (agenthome_seed(&homes->home, &err) < 0)
		fail_msg("%s", err.message);
}

static void a_new_home_gets_the_seed_with_the_work_directory(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	struct stat st;
	seed(&homes);
	assert_file("in/.x.json", "{\"done\":true,\"projects\":{\"/srv/a \\\"b\\\"/c\":"
				  "{\"trusted\":true}}}");
	assert_int_equal(fstatat(here, "in/.x.json", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void what_the_agent_wrote_into_its_settings_stays(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("in/.x.json",
		   "{\"done\":false,\"projects\":{\"/y\":{\"n\":1}},\"theme\":\"dark\"}");
	seed(&homes);
	cleanup_free char *text = read_name("in/.x.json");
	assert_non_null(strstr(text, "\"done\":false"));
	assert_non_null(strstr(text, "\"theme\":\"dark\""));
	assert_non_null(strstr(text, "\"n\":1"));
	assert_non_null(strstr(text, "\"trusted\":true"));
	set_time("in/.x.json", 1000);
	seed(&homes);
	struct stat st;
	assert_int_equal(fstatat(here, "in/.x.json", &st, 0), 0);
	assert_int_equal(st.st_mtime, 1000);
}

/* An agent would ask whether it may use the key. */
static void the_seed_has_the_ends_of_the_keys_of_its_login(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(
		"command = ['x']\n[home]\ndefault = '~/.x'\nseed = '~/.x.json'\n"
		"seed_text = '{\"keys\":{key_ends},\"at\":{directory}}'\n"
		"[environment]\nlogin = ['KEY', 'SHORT']\n");
	cleanup_strvec struct strvec secrets = { 0 };
	homes.home.directory = "/a";
	seed(&homes);
	assert_file("in/.x.json", "{\"keys\":[],\"at\":\"/a\"}");
	strvec_push(&secrets, "SHORT=canary-canary-canary");
	strvec_push(&secrets, "OTHER=0123456789012345678901234567890123456789-other");
	strvec_push(&secrets, "KEY=canary-canary-canary-0123456789abcdefghij");
	homes.home.secrets = &secrets;
	seed(&homes);
	seed(&homes);
	cleanup_free char *text = read_name("in/.x.json");
	cleanup_json struct json_object *object = NULL;
	assert_int_equal(json_parse(text, strlen(text), "x", &object, NULL), 0);
	struct json_object *keys = json_get_array(object, "keys");
	assert_int_equal(json_object_array_length(keys), 1);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(keys, 0)),
			    "0123456789abcdefghij");
	assert_null(strstr(text, "canary"));
}

static void settings_that_are_no_object_stay(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	static const char *const texts[] = { "[projects]\n", "[]", "", "{\"done\":" };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_file("in/.x.json", texts[i]);
		seed(&homes);
		assert_file("in/.x.json", texts[i]);
	}
}

static void a_seed_needs_not_be_json(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(
		"command = ['x']\n[home]\ndefault = '~/.x'\nseed = '{home}/deep/er.toml'\n"
		"seed_text = '[projects.{directory}]'\n");
	seed(&homes);
	assert_file("in/.x/deep/er.toml", "[projects.\"/srv/a \\\"b\\\"/c\"]");
}

static void an_entry_without_a_seed_writes_nothing(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of("command = ['x']\n");
	seed(&homes);
	assert_no_file("in/.x.json");
}

static void no_link_of_the_agent_is_followed_by_the_seed(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("victim", "{}");
	assert_int_equal(symlinkat("../victim", here, "in/.x.json"), 0);
	assert_int_equal(agenthome_seed(&homes.home, NULL), -1);
	assert_file("victim", "{}");
	homes.home.agent = agent_of("command = ['x']\n[home]\ndefault = '~/.x'\n"
				    "seed = '{home}/a'\nseed_text = 'b'\n");
	assert_int_equal(symlinkat("../out", here, "in/.x"), 0);
	assert_int_equal(agenthome_seed(&homes.home, NULL), -1);
	assert_no_file("out/a");
}

/* ---- the login ---- */

static void a_login_is_copied_for_its_owner_alone(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	struct stat st;
	write_file("out/.x/login", "token 1");
	assert_int_equal(fchmodat(here, "out/.x/login", 0644, 0), 0);
	set_time("out/.x/login", 5000);
	assert_int_equal(mkdirat(here, "out/share", 0755), 0);
	write_file("out/share/other", "token 2");
	assert_null(copy(&homes));
	assert_file("in/.x/login", "token 1");
	assert_file("in/share/other", "token 2");
	assert_int_equal(fstatat(here, "in/.x/login", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_mtime, 5000);
	assert_int_equal(fstatat(here, "in/.x", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void what_a_crash_left_is_removed_and_nothing_else(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("out/.x/login", "token");
	assert_int_equal(mkdirat(here, "in/.x", 0700), 0);
	write_file("in/.x/.agentdeck-home-0123456789abcdef", "half a tok");
	write_file("in/.x/.agentdeck-home-notes", "the agent's");
	write_file("in/.x/.tmp-0123456789abcdef", "the agent's");
	assert_null(copy(&homes));
	assert_no_file("in/.x/.agentdeck-home-0123456789abcdef");
	assert_file("in/.x/.agentdeck-home-notes", "the agent's");
	assert_file("in/.x/.tmp-0123456789abcdef", "the agent's");
}

static void the_newer_login_counts(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("out/.x/login", "first");
	set_time("out/.x/login", 5000);
	assert_null(copy(&homes));
	write_file("in/.x/login", "renewed inside");
	set_time("in/.x/login", 6000);
	assert_null(copy(&homes));
	assert_file("in/.x/login", "renewed inside");
	write_file("out/.x/login", "renewed outside");
	set_time("out/.x/login", 7000);
	assert_null(copy(&homes));
	assert_file("in/.x/login", "renewed outside");
}

static void a_login_that_is_gone_outside_stays_inside(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("out/.x/login", "first");
	assert_null(copy(&homes));
	assert_int_equal(unlinkat(here, "out/.x/login", 0), 0);
	assert_null(copy(&homes));
	assert_file("in/.x/login", "first");
}

static void a_missing_login_is_said_with_its_place(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	cleanup_free char *reason = copy(&homes);
	assert_non_null(reason);
	assert_non_null(strstr(reason, "/out/.x/login"));
	assert_non_null(strstr(reason, "/out/share/other"));
	homes.user.config = NULL;
	cleanup_free char *without = copy(&homes);
	assert_non_null(without);
}

static void only_a_regular_file_of_ours_is_a_login(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("out/real", "secret");
	assert_int_equal(symlinkat("../real", here, "out/.x/login"), 0);
	assert_not_copied(&homes, "link");
	assert_int_equal(unlinkat(here, "out/.x/login", 0), 0);
	assert_int_equal(mkfifoat(here, "out/.x/login", 0600), 0);
	assert_not_copied(&homes, "not a regular file");
	assert_int_equal(unlinkat(here, "out/.x/login", 0), 0);
	if (geteuid() == 0) {
		write_file("out/.x/login", "another user's");
		assert_int_equal(fchownat(here, "out/.x/login", 12345, 12345, 0), 0);
		assert_not_copied(&homes, "belongs to user 12345");
	}
	assert_no_file("in/.x/login");
}

static void a_directory_that_is_a_link_is_not_followed(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	assert_int_equal(mkdirat(here, "away", 0755), 0);
	write_file("away/other", "secret");
	assert_int_equal(symlinkat("../away", here, "out/share"), 0);
	assert_not_copied(&homes, "share");
	assert_no_file("in/share/other");
}

static void a_login_of_any_size_is_not_copied(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("out/.x/login", "");
	cleanup_free char *path = path_join(scratch, "out/.x/login");
	assert_int_equal(truncate(path, (off_t)AGENTHOME_LOGIN_MAX), 0);
	assert_null(copy(&homes));
	assert_int_equal(truncate(path, (off_t)AGENTHOME_LOGIN_MAX + 1), 0);
	assert_int_equal(unlinkat(here, "in/.x/login", 0), 0);
	assert_not_copied(&homes, "login");
	assert_no_file("in/.x/login");
}

static void no_link_of_the_agent_is_followed_by_its_login(void **state UNUSED)
{
	cleanup_homes struct homes homes = homes_of(entry);
	write_file("out/.x/login", "token");
	write_file("victim", "mine");
	assert_int_equal(mkdirat(here, "in/.x", 0700), 0);
	assert_int_equal(symlinkat("../../victim", here, "in/.x/login"), 0);
	assert_null(copy(&homes));
	assert_file("victim", "mine");
	assert_int_equal(unlinkat(here, "in/.x/login", 0), 0);
	assert_int_equal(unlinkat(here, "in/.x", AT_REMOVEDIR), 0);
	assert_int_equal(mkdirat(here, "elsewhere", 0700), 0);
	assert_int_equal(symlinkat("../elsewhere", here, "in/.x"), 0);
	assert_int_equal(agenthome_copy_login(&homes.home, &homes.user, &(char *){ NULL }, NULL),
			 -1);
	assert_no_file("elsewhere/login");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define UNIT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		UNIT(a_new_home_gets_the_seed_with_the_work_directory),
		UNIT(what_the_agent_wrote_into_its_settings_stays),
		UNIT(the_seed_has_the_ends_of_the_keys_of_its_login),
		UNIT(settings_that_are_no_object_stay),
		UNIT(a_seed_needs_not_be_json),
		UNIT(an_entry_without_a_seed_writes_nothing),
		UNIT(no_link_of_the_agent_is_followed_by_the_seed),
		UNIT(a_login_is_copied_for_its_owner_alone),
		UNIT(what_a_crash_left_is_removed_and_nothing_else),
		UNIT(the_newer_login_counts),
		UNIT(a_login_that_is_gone_outside_stays_inside),
		UNIT(a_missing_login_is_said_with_its_place),
		UNIT(only_a_regular_file_of_ours_is_a_login),
		UNIT(a_directory_that_is_a_link_is_not_followed),
		UNIT(a_login_of_any_size_is_not_copied),
		UNIT(no_link_of_the_agent_is_followed_by_its_login),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
