/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * main() of a fuzz target without libFuzzer: every input of its corpus once, or the named files.  A
 * program "fuzz-NAME" has its corpus in tests/fuzz/corpus/NAME.
 */
#include "fuzz/fuzz.h"

enum { INPUT_MAX = 64 << 20 };

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int replay(const char *path)
{
	cleanup_strbuf struct strbuf input = { 0 };
	cleanup_error struct error err = { 0 };
	if (fs_read(AT_FDCWD, path, INPUT_MAX, &input, &err) != 0) {
		fprintf(stderr, "%s: %s\n", path, err.message ? err.message : "it is not there");
		return -1;
	}
	/* Print it first, so that an input that ends the program here can be found by its name. */
	printf("%s: %zu bytes\n", path, input.length);
	(void)fflush(stdout);
	cleanup_free char *exact = fuzz_text((const uint8_t *)input.data, input.length);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)exact, input.length);
	return 0;
}

static int list_corpus(const char *program, struct strvec *ret)
{
	const char *name = path_basename(program), *source = getenv("top_srcdir");
	cleanup_strvec struct strvec names = { 0 };
	if (starts_with(name, "fuzz-"))
		name += strlen("fuzz-");
	cleanup_free char *directory = xasprintf("%s/tests/fuzz/corpus/%s", source ? source : ".",
						 name);
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0 || !names.count) {
		fprintf(stderr,
			"there is no corpus in %s: run this in the root of the checkout, or name files\n",
			directory);
		return -1;
	}
	qsort(names.items, names.count, sizeof(*names.items), compare);
	for (size_t i = 0; i < names.count; i++)
		strvec_push_take(ret, path_join(directory, names.items[i]));
	return 0;
}

int main(int argc, char **argv)
{
	cleanup_strvec struct strvec paths = { 0 };
	for (int i = 1; i < argc; i++)
		strvec_push(&paths, argv[i]);
	if (!paths.count && list_corpus(argv[0], &paths) < 0)
		return EXIT_FAILURE;
	/* The empty input is a special case everywhere. */
	(void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (size_t i = 0; i < paths.count; i++)
		if (replay(paths.items[i]) < 0)
			return EXIT_FAILURE;
	printf("%zu inputs\n", paths.count);
	return EXIT_SUCCESS;
}
