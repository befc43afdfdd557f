/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Limits: their words, the limits of groups in config.toml, and those of an instance.
 */
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

static void assert_limit(const struct settings *settings, const struct instance *instance,
			 enum limit limit, int64_t value, enum limit_origin origin,
			 const char *group)
{
	enum limit_origin found;
	const char *of_group;
	const struct limits all = settings_limits(settings, instance);
	assert_true(settings_limit(settings, instance, limit, &found, &of_group) == value);
	assert_true(limit_value(&all, limit) == value);
	assert_string_equal(limit_origin_name(found), limit_origin_name(origin));
	assert_string_equal(or_empty(of_group), or_empty(group));
}

static const char config[] = "[limits]\n"
			     "memory_max = '8G'\n"
			     "tasks_max = 1000\n"
			     "cpu_weight = 10\n"
			     "[groups.work.limits]\n"
			     "memory_max = '4G'\n"
			     "tasks_max = 400\n"
			     "cpu_weight = 20\n"
			     "[groups.'work/api'.limits]\n"
			     "memory_max = '2G'\n"
			     "tasks_max = 'infinity'\n";

static void the_nearest_that_says_a_limit_counts(void **state UNUSED)
{
	cleanup_settings struct settings settings = parse(config);
	char name[] = "work/api/v2";
	struct instance instance = { .group = name, .limits = { .memory_max = INT64_C(1) << 30 } };
	assert_limit(&settings, &instance, LIMIT_MEMORY_MAX, INT64_C(1) << 30,
		     LIMIT_SAID_BY_SESSION, NULL);
	assert_limit(&settings, &instance, LIMIT_TASKS_MAX, LIMIT_INFINITY, LIMIT_SAID_BY_GROUP,
		     "work/api");
	assert_limit(&settings, &instance, LIMIT_CPU_WEIGHT, 20, LIMIT_SAID_BY_GROUP, "work");
	assert_limit(&settings, &instance, LIMIT_MEMORY_HIGH, 0, LIMIT_SAID_BY_NOBODY, NULL);
	instance.limits = (struct limits){ 0 };
	assert_limit(&settings, &instance, LIMIT_MEMORY_MAX, INT64_C(2) << 30, LIMIT_SAID_BY_GROUP,
		     "work/api");
}

static void a_group_is_not_the_start_of_a_name(void **state UNUSED)
{
	cleanup_settings struct settings settings = parse(config);
	const char *const others[] = { "", "works", "working/api", "home/work", "wor" };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup_free char *name = xstrdup(others[i]);
		const struct instance instance = { .group = name };
		assert_limit(&settings, &instance, LIMIT_MEMORY_MAX, INT64_C(8) << 30,
			     LIMIT_SAID_BY_GENERAL, NULL);
		assert_limit(&settings, &instance, LIMIT_TASKS_MAX, 1000, LIMIT_SAID_BY_GENERAL,
			     NULL);
	}
	const struct instance none = { .group = NULL };
	assert_limit(&settings, &none, LIMIT_CPU_WEIGHT, 10, LIMIT_SAID_BY_GENERAL, NULL);
}

static void infinity_takes_back_what_is_said_farther_out(void **state UNUSED)
{
	cleanup_settings struct settings settings = parse(config);
	char name[] = "work";
	const struct instance instance = { .group = name,
					   .limits = { .memory_max = LIMIT_INFINITY,
						       .cpu_weight = LIMIT_INFINITY } };
	assert_limit(&settings, &instance, LIMIT_MEMORY_MAX, LIMIT_INFINITY, LIMIT_SAID_BY_SESSION,
		     NULL);
	assert_limit(&settings, &instance, LIMIT_CPU_WEIGHT, LIMIT_INFINITY, LIMIT_SAID_BY_SESSION,
		     NULL);
}

static void what_is_wrong_in_a_group_is_named_with_its_place(void **state UNUSED)
{
	assert_refused("[groups.'work/api'.limits]\nmemory_max = '4 GB'\n",
		       "config.toml:2:1: groups.work/api.limits.memory_max: invalid size \"4 GB\" "
		       "(examples: \"512M\", \"4G\", \"infinity\")");
	assert_refused(
		"[groups.'a.b'.limits]\n\n tasks_max = true\n",
		"config.toml:3:2: groups.a.b.limits.tasks_max must be a whole number, not true or false");
	assert_refused(
		"[groups.work.limits]\ncpu_weight = 10001\n",
		"config.toml:2:1: groups.work.limits.cpu_weight must be from 0 to 10000, not 10001");
	assert_refused(
		"[groups.work.limits]\nmemory_maks = 1\n",
		"config.toml:2:1: unknown key \"groups.work.limits.memory_maks\": limits are "
		"memory_high, memory_max, tasks_max and cpu_weight");
	assert_refused(
		"[groups.work]\nmemory_max = '1G'\n",
		"config.toml:2:1: unknown key \"groups.work.memory_max\": a group has \"limits\", "
		"\"container\" and \"workspace\", and a name with a slash needs quotes, as in [groups.\"work/api\".limits]");
	assert_refused("[groups]\nwork = 3\n",
		       "config.toml:2:1: groups.work must be a table, not a whole number");
	assert_refused("[groups.work]\nlimits = 3\n",
		       "config.toml:2:1: groups.work.limits must be a table, not a whole number");
	assert_refused("groups = 3\n",
		       "config.toml:1:1: groups must be a table, not a whole number");
}

static void what_cannot_be_a_group_is_refused(void **state UNUSED)
{
	const char *const names[] = { "", "/work", "work//api", "work/" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *text = xasprintf("[groups.\"%s\".limits]\n", names[i]);
		struct settings settings;
		cleanup_error struct error err = { 0 };
		assert_int_equal(settings_parse(text, strlen(text), "config.toml", &settings, &err),
				 -1);
		if (!strstr(err.message, "invalid group name"))
			fail_msg("%s", err.message);
	}
}

static const struct {
	enum limit limit;
	const char *text;
	int64_t value;
	const char *shown; /* NULL: the same */
} words[] = {
	{ LIMIT_MEMORY_MAX, "512M", INT64_C(512) << 20, NULL },
	{ LIMIT_MEMORY_MAX, "1.5G", INT64_C(3) << 29, NULL },
	{ LIMIT_MEMORY_HIGH, "2.25G", INT64_C(9) << 28, NULL },
	{ LIMIT_MEMORY_HIGH, "4096M", INT64_C(4) << 30, "4G" },
	{ LIMIT_MEMORY_MAX, "16777217", 16777217, NULL },
	{ LIMIT_MEMORY_MAX, "0", 0, NULL },
	{ LIMIT_MEMORY_MAX, "infinity", LIMIT_INFINITY, NULL },
	{ LIMIT_TASKS_MAX, "2048", 2048, NULL },
	{ LIMIT_TASKS_MAX, "infinity", LIMIT_INFINITY, NULL },
	{ LIMIT_CPU_WEIGHT, "10000", 10000, NULL },
};

static void a_limit_is_shown_as_it_is_written(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		int64_t value = -1;
		assert_int_equal(limit_parse(words[i].limit, words[i].text, &value, NULL), 0);
		assert_true(value == words[i].value);
		cleanup_free char *text = limit_text(words[i].limit, value);
		assert_string_equal(text, words[i].shown ? words[i].shown : words[i].text);
	}
}

static void what_is_no_limit_is_refused_by_its_name(void **state UNUSED)
{
	const struct {
		enum limit limit;
		const char *text, *part;
	} bad[] = {
		{ LIMIT_MEMORY_MAX, "4 GB", "invalid size '4 GB'" },
		{ LIMIT_MEMORY_HIGH, "15M", "too little" },
		{ LIMIT_MEMORY_MAX, "50%", "invalid size '50%'" },
		{ LIMIT_TASKS_MAX, "-1", "invalid number '-1' for tasks_max" },
		{ LIMIT_TASKS_MAX, "10K", "invalid number '10K' for tasks_max" },
		{ LIMIT_CPU_WEIGHT, "10001", "1 to 10000" },
		{ LIMIT_CPU_WEIGHT, "", "invalid number '' for cpu_weight" },
		{ LIMIT_MEMORY_MAX, "Infinity", "invalid size 'Infinity'" },
		{ LIMIT_TASKS_MAX, "\033[2J", "'\\033[2J'" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		int64_t value = 4711;
		assert_int_equal(limit_parse(bad[i].limit, bad[i].text, &value, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
		if (!strstr(err.message, bad[i].part))
			fail_msg("\"%s\" is not in \"%s\"", bad[i].part, err.message);
		assert_int_equal(value, 4711);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_that_says_a_limit_counts),
		cmocka_unit_test(a_group_is_not_the_start_of_a_name),
		cmocka_unit_test(infinity_takes_back_what_is_said_farther_out),
		cmocka_unit_test(what_is_wrong_in_a_group_is_named_with_its_place),
		cmocka_unit_test(what_cannot_be_a_group_is_refused),
		cmocka_unit_test(a_limit_is_shown_as_it_is_written),
		cmocka_unit_test(what_is_no_limit_is_refused_by_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
