/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Optional shared libraries, with the C library's own files.
 */
#include "unit/test.h"

#include "base/library.h"
#include "base/text.h"

#include <string.h>

static size_t (*length)(const char *text);

static const struct library_function present[] = { { "strlen", (void **)&length } };
static const struct library_function absent[] = { { "no_such_function", (void **)&length } };

static void the_first_soname_found_is_loaded(void **state UNUSED)
{
	struct library library = {
		.name = "libc",
		.sonames = { "libagentdeck-no-such.so.1", "libc.so.6" },
		.functions = present,
		.n_functions = ARRAY_SIZE(present),
	};
	length = NULL;
	assert_int_equal(library_load(&library, NULL), 0);
	assert_non_null(length);
	assert_int_equal(length("four"), 4);
	assert_true(library.is_loaded);
}

static void a_loaded_library_is_not_loaded_again(void **state UNUSED)
{
	struct library library = { .sonames = { "libagentdeck-no-such.so.1" }, .is_loaded = true };
	assert_int_equal(library_load(&library, NULL), 0);
}

static void a_missing_library_names_the_packages(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct library library = {
		.name = "libexample",
		.sonames = { "libagentdeck-no-such.so.1" },
		.purpose = "which reads examples",
		.packages = "example1 (Debian)",
	};
	assert_int_equal(library_load(&library, &err), -1);
	assert_int_equal((int)err.code, ERROR_UNAVAILABLE);
	assert_string_equal(err.message, "libexample is missing, which reads examples: "
					 "install example1 (Debian)");
	assert_false(library.is_loaded);
}

static void an_old_library_names_the_function(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct library library = {
		.name = "libc",
		.sonames = { "libc.so.6" },
		.packages = "libc6 (Debian)",
		.functions = absent,
		.n_functions = ARRAY_SIZE(absent),
	};
	assert_int_equal(library_load(&library, &err), -1);
	assert_non_null(strstr(err.message, "lacks no_such_function"));
	assert_false(library.is_loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_soname_found_is_loaded),
		cmocka_unit_test(a_loaded_library_is_not_loaded_again),
		cmocka_unit_test(a_missing_library_names_the_packages),
		cmocka_unit_test(an_old_library_names_the_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
