/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "driver/context/dockerfile.h"

static void the_images_that_stages_begin_from_are_found(void **state UNUSED)
{
	static const struct {
		const char *text, *all, *last;
	} cases[] = {
		{ "", "", NULL },
		{ "FROM debian:12\nRUN true\n", "debian:12 ", "debian:12" },
		{ "# FROM a\n  from \t b\r\n", "b ", "b" },
		{ "FROM --platform=linux/amd64 a AS build\nFROM b\nFROM Build\n", "a b ", "a" },
		{ "FROM a\nFROM a\n", "a ", "a" },
		{ "FROM a AS x\nFROM scratch\nCOPY --from=x / /\n", "a ", NULL },
		{ "ARG V=1\nFROM a:$V\n", "", NULL },
		{ "FROM scratch AS x\nFROM x\n", "", NULL },
		{ "FROM a\nRUN echo \\\nFROM b\n", "a ", "a" },
		{ "FROM a\nRUN echo \\ \n# no\nFROM b\nFROM c\n", "a c ", "c" },
		{ "FROM a\nRUN <<EOF cat\nFROM b\nEOF\nFROM c\n", "a c ", "c" },
		{ "FROM a\nCOPY <<-\"X\" /x\nFROM b\n\tX\nFROM c\n", "a c ", "c" },
		{ "FROMAGE a\n", "", NULL },
		{ "FROM\n", "", NULL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
		cleanup_strbuf struct strbuf all = { 0 };
		dockerfile_read_bases(cases[i].text, &bases);
		for (size_t j = 0; j < bases.all.count; j++)
			strbuf_addf(&all, "%s ", bases.all.items[j]);
		if (!streq(strbuf_text(&all), cases[i].all) ||
		    !streq(or_empty(bases.last), or_empty(cases[i].last)))
			fail_msg("%zu: '%s', last '%s'", i, strbuf_text(&all),
				 or_empty(bases.last));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_images_that_stages_begin_from_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
