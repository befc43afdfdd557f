/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "driver/context/dockerfile.h"

static char *arguments[] = { (char *)"GIVEN=given", NULL };
static const struct strvec given = { .items = arguments, .count = 1 };

static void the_images_that_stages_begin_from_are_found(void **state UNUSED)
{
	static const struct {
		const char *text, *all;
	} cases[] = {
		{ "", "" },
		{ "FROM debian:12\nRUN true\n", "debian:12 " },
		{ "# FROM a\n  from \t b\r\n", "b " },
		{ "FROM --platform=linux/amd64 a AS build\nFROM b\nFROM Build\n", "a b " },
		{ "FROM a\nFROM a\n", "a " },
		{ "FROM a AS x\nFROM scratch\nCOPY --from=x / /\n", "a " },
		{ "ARG V=1\nFROM a:$V\n", "a:1 " },
		{ "ARG V=\"1\" W=2\nARG X=$V\nFROM a:${V}-${W:-3}${Y-4}\n", "a:1-24 " },
		{ "ARG GIVEN=x\nFROM a:$GIVEN\n", "a:given " },
		{ "FROM a\nCOPY --chown=1 --from=b / /\nRUN --mount=type=bind,from=c true\n",
		  "a b c " },
		{ "FROM a AS x\nCOPY --from=X / /\nCOPY --from=0 / /\nCOPY --from=late / /\n"
		  "FROM b AS late\nCOPY \\\n# no\n  --from=c / /\n",
		  "a b c " },
		{ "# escape=`\nFROM a\nRUN b\\\nFROM c\n", "a c " },
		{ "FROM a\nRUN echo $((1<<3))\nFROM b\n", "a b " },
		{ "FROM a\nRUN echo ' <<X'\nFROM b\n", "a b " },
		{ "FROM a\nCOPY\\\n --from=b / /\nFROM c \\\n# the end\n", "a c b " },
		{ "FROM a\nENV x <<X\nFROM b\n", "a b " },
		{ "FROM scratch AS x\nFROM x\n", "" },
		{ "FROM a\nRUN echo \\\nFROM b\n", "a " },
		{ "FROM a\nRUN echo \\ \n# no\nFROM b\nFROM c\n", "a c " },
		{ "FROM a\nRUN <<EOF cat\nFROM b\nEOF\nFROM c\n", "a c " },
		{ "FROM a\nCOPY <<-\"X\" /x\nFROM b\n\tX\nFROM c\n", "a c " },
		{ "FROM a\nRUN cat <<A 3<<-B\nFROM b\nA\nFROM c\n\tB\nFROM d\n", "a d " },
		{ "FROM a\nRUN <<A\n A\nRUN <<B\nA\nFROM b\n", "a b " },
		{ "FROM a\nONBUILD  COPY --from=b / /\nFROM c\n", "a c b " },
		{ "FROM a\nonbuild RUN <<X\nFROM b\nX\nFROM c\n", "a c " },
		{ "FROM a\nRUN\tcat <<<word\nFROM b\n", "a b " },
		{ "FROMAGE a\n", "" },
		{ "FROM\n", "" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
		cleanup_strbuf struct strbuf all = { 0 };
		dockerfile_read_bases(cases[i].text, &given, &bases);
		for (size_t j = 0; j < bases.all.count; j++)
			strbuf_addf(&all, "%s ", bases.all.items[j]);
		if (!streq(strbuf_text(&all), cases[i].all))
			fail_msg("%zu: '%s'", i, strbuf_text(&all));
	}
}

static void what_is_not_known_is_said(void **state UNUSED)
{
	static const char *const cases[] = {
		"FROM a:$V\n",  "FROM a:${V:+x}\n",        "ARG V\nFROM $V\n",
		"FROM \"a\"\n", "FROM a:$TARGETARCH\n",    "FROM a\nCOPY --from=$X / /\n",
		"FROM a\\b\n",  "FROM a\nRUN <<E\"O\"F\n", "FROM a\nRUN <<'E\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
		dockerfile_read_bases(cases[i], NULL, &bases);
		if (!bases.unknown)
			fail_msg("%s", cases[i]);
	}
}

/* BuildKit downloads it, and has it read the rest. */
static void the_frontend_is_found(void **state UNUSED)
{
	static char *arguments_of[] = { (char *)"BUILDKIT_SYNTAX=other:2", NULL };
	static const struct strvec args = { .items = arguments_of, .count = 1 };
	static const struct {
		const char *text;
		const struct strvec *args;
		const char *frontend;
	} cases[] = {
		{ "# syntax=a:1\nFROM a\n", NULL, "a:1" },
		{ "#!/x\n//  SYNTAX = a:1  \nFROM a\n", NULL, "a:1" },
		{ "# escape=`\n#syntax=a:1 b\n", NULL, "a:1" },
		{ "FROM a\n# syntax=a:1\n", NULL, NULL },
		{ "# syntax=a:1\n", &args, "other:2" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_dockerfile_bases struct dockerfile_bases bases = { 0 };
		dockerfile_read_bases(cases[i].text, cases[i].args, &bases);
		if (!streq(or_empty(bases.frontend), or_empty(cases[i].frontend)))
			fail_msg("%zu: '%s'", i, or_empty(bases.frontend));
	}
}

static void a_base_gets_another_name_and_nothing_else_does(void **state UNUSED)
{
	static const struct {
		const char *text, *pinned;
	} cases[] = {
		{ "FROM a\nRUN a", "FROM x:1\nRUN a" },
		{ "# FROM a\n\n  from --platform=$Z \ta  AS a\nFROM A\nCOPY --from=a / /\n",
		  "# FROM a\n\nFROM --platform=$Z x:1 AS a\nFROM A\nCOPY --from=a / /\n" },
		{ "FROM b:2\nFROM \\\n# no\n a \\\nAS c\n\n", "FROM y\nFROM x:1 AS c\n\n" },
		{ "FROM b\nFROM aa\nFROM b:21\n", "FROM b\nFROM aa\nFROM b:21\n" },
		{ "FROM a\nRUN <<X\nFROM a\nX\nFROM a\r\n",
		  "FROM x:1\nRUN <<X\nFROM a\nX\nFROM x:1\n" },
		{ "ARG V=2 GIVEN\nFROM b:$V\nFROM a:$GIVEN", "ARG V=2 GIVEN\nFROM y\nFROM z" },
	};
	cleanup_strvec struct strvec pins = { 0 };
	strvec_push_array(&pins, (const char *const[]){ "a=x:1", "b:2=y", "a:given=z", NULL });
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *pinned = dockerfile_pin(cases[i].text, &given, &pins);
		assert_string_equal(pinned, cases[i].pinned);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_images_that_stages_begin_from_are_found),
		cmocka_unit_test(a_base_gets_another_name_and_nothing_else_does),
		cmocka_unit_test(what_is_not_known_is_said),
		cmocka_unit_test(the_frontend_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
