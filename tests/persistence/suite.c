/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * persistence [--list | --list-containers | --share FILE] [NAME...]: every test, or the named ones.
 *
 * --share: several of these run side by side, with the same FILE and the same names, and each takes
 * the next test that none has taken.  FILE is made when it does not exist.
 *
 * Each test prints "took SECONDS s: NAME" when it is over, as tests/helper/timed does.
 */
#include "persistence/suite.h"

#include "persistence/containers.h"
#include "persistence/deck.h"
#include "persistence/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static struct {
	const char *unavailable; /* why nothing can be tested here, or NULL */
	const char *share;       /* file of --share, or NULL */
	bool strict;
	unsigned skipped;
	int64_t begin_ms;
	bool finished; /* the present test ended normally: it passed or was skipped */
	struct kept {
		void *object;
		void (*release)(void *object);
	} * kept;
	size_t kept_count;
	void (*at_end)(void);
} suite;

static struct test *first_test; /* sorted by file and line */

/* The linker and the compiler may call the constructors in any order. */
void register_test(struct test *test)
{
	struct test **link = &first_test;
	for (; *link; link = &(*link)->next) {
		int order = strcmp((*link)->file, test->file);
		if (order > 0 || (order == 0 && (*link)->line > test->line))
			break;
	}
	test->next = *link;
	*link = test;
}

void keep_with(void *object, void (*release)(void *object))
{
	suite.kept = reallocarray(suite.kept, suite.kept_count + 1, sizeof(*suite.kept));
	if (!suite.kept)
		abort();
	suite.kept[suite.kept_count++] = (struct kept){ .object = object, .release = release };
}

void *keep(void *pointer)
{
	keep_with(pointer, free);
	return pointer;
}

static PRINTF_LIKE(1, 0) const char *format_kept(const char *format, va_list args)
{
	char *text;
	if (vasprintf(&text, format, args) < 0)
		abort();
	return keep(text);
}

const char *kept(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = format_kept(format, args);
	va_end(args);
	return text;
}

static void free_vector(void *object)
{
	strvec_clear(object);
	free(object);
}

struct strvec *kept_vector(void)
{
	struct strvec *vector = xcalloc(1, sizeof(*vector));
	keep_with(vector, free_vector);
	return vector;
}

static void free_kept(void)
{
	for (size_t i = 0; i < suite.kept_count; i++)
		suite.kept[i].release(suite.kept[i].object);
	suite.kept_count = 0;
}

void fail_test(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = format_kept(format, args);
	va_end(args);
	fail_msg("%s", text);
	abort();
}

void skip_test(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *reason = format_kept(format, args);
	va_end(args);
	if (suite.strict)
		fail_test("AGENTDECK_TEST_STRICT allows no skip: %s", reason);
	print_message("skipped: %s\n", reason);
	suite.skipped++;
	suite.finished = true;
	skip();
	abort();
}

bool look_again(int64_t deadline_ms)
{
	if (clock_ms() >= deadline_ms)
		return false;
	(void)poll(NULL, 0, LOOK_AGAIN_MS);
	return true;
}

void at_end(void (*function)(void))
{
	suite.at_end = function;
}

static void run_one(void **state)
{
	const struct test *test = *state;
	suite.finished = false;
	suite.begin_ms = clock_ms();
	if (suite.unavailable)
		skip_test("%s", suite.unavailable);
	machine_begin_test(test->name);
	test->run();
	suite.finished = true;
}

/* Line by line: print_error() cuts off a text at 1024 bytes. */
static void print_end_of_log(void)
{
	enum { LINES = 100 };
	const char *log = or_empty(deck_log()), *line = log + strlen(log);
	for (int i = 0; line > log && (line[-1] != '\n' || i < LINES); line--)
		i += line[-1] == '\n';
	print_error("-- agentdeck's log:\n");
	for (size_t length; *line; line += length) {
		length = strcspn(line, "\n") + 1;
		print_error("%.*s", (int)length, line);
		length -= !line[length - 1];
	}
}

/* Print what a person needs to understand a failure, while it still exists. */
static void print_remains(void)
{
	print_end_of_log();
	struct reply list = deck_look(WORDS("list", "--json"));
	print_error("-- list (status %d):\n%s%s\n", list.status, list.output, list.errors);
}

static void print_time(const struct test *test)
{
	int64_t tenths = (clock_ms() - suite.begin_ms + 99) / 100;
	printf("took %" PRId64 ".%" PRId64 " s: %s\n", tenths / 10, tenths % 10, test->name);
}

static int end_test(void **state)
{
	const char *left = NULL;
	if (!suite.unavailable) {
		if (!suite.finished)
			print_remains();
		suite.finished = true;
		if (suite.at_end)
			suite.at_end();
		suite.at_end = NULL;
		engines_restore();
		deck_clear();
		left = engines_end_test();
		login_end_all();
		const char *processes = machine_end_test();
		left = processes ? processes : left;
	}
	if (left)
		print_error("left behind: %s\n", left);
	print_time(*state);
	free_kept();
	return left ? -1 : 0;
}

static size_t count_tests(void)
{
	size_t count = 0;
	for (const struct test *test = first_test; test; test = test->next)
		count++;
	return count;
}

static const struct test *find_test(const char *name)
{
	for (const struct test *test = first_test; test; test = test->next)
		if (streq(test->name, name))
			return test;
	return NULL;
}

static void add_test(struct CMUnitTest *tests, size_t *count, const struct test *test)
{
	tests[(*count)++] = (struct CMUnitTest){
		.name = test->name,
		.test_func = run_one,
		.teardown_func = end_test,
		.initial_state = (void *)test,
	};
}

static int usage(const char *message)
{
	fprintf(stderr,
		"persistence: %s\nUsage: persistence [--list | --list-containers | --share FILE] "
		"[NAME...]\n",
		message);
	return 64;
}

/* By the name of its file. */
static bool needs_engines(const struct test *test)
{
	return strstr(test->file, "/test-container") != NULL;
}

static void list_tests(bool only_containers)
{
	for (const struct test *test = first_test; test; test = test->next)
		if (!only_containers || needs_engines(test))
			puts(test->name);
}

/* Each suite that shares the file makes it a byte longer for each test that it takes.  Returns
 * false if that fails. */
static bool take_next(const char *path, size_t *ret)
{
	struct stat status;
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &status) < 0 || write(fd, ".", 1) != 1) {
		fprintf(stderr, "persistence: %s: %s\n", path, strerror(errno));
		return false;
	}
	*ret = (size_t)status.st_size;
	return true;
}

/* Returns how many failed. */
static int run_each(const struct CMUnitTest *tests, size_t count, size_t *ret_ran)
{
	int failed = 0;
	*ret_ran = count;
	if (!suite.share)
		return _cmocka_run_group_tests("persistence", tests, count, NULL, NULL);
	*ret_ran = 0;
	for (size_t i = 0; take_next(suite.share, &i); (*ret_ran)++) {
		if (i >= count)
			return failed;
		failed += _cmocka_run_group_tests("persistence", tests + i, 1, NULL, NULL);
	}
	(*ret_ran)++;
	return failed + 1;
}

static int run_suite(const struct CMUnitTest *tests, size_t count)
{
	bool with_engines = false;
	size_t ran;
	for (size_t i = 0; i < count; i++)
		with_engines = with_engines || needs_engines(tests[i].initial_state);
	suite.strict = streq(or_empty(getenv("AGENTDECK_TEST_STRICT")), "1");
	suite.unavailable = machine_up(with_engines);
	int failed = run_each(tests, count, &ran);
	machine_down();
	free_kept();
	free(suite.kept);
	printf("%zu passed, %d failed, %u skipped\n", ran - (size_t)failed - suite.skipped, failed,
	       suite.skipped);
	if (failed)
		return 1;
	return ran && suite.skipped == ran ? 77 : 0;
}

int main(int argc, char *argv[])
{
	if (argc > 1 && streq(argv[1], ENTER_OPTION))
		return enter_main(argc, argv);
	cleanup_free struct CMUnitTest *tests = xcalloc(count_tests() + (size_t)argc,
							sizeof(*tests));
	size_t count = 0;
	setlinebuf(stdout);
	if (argc == 2 && (streq(argv[1], "--list") || streq(argv[1], "--list-containers"))) {
		list_tests(streq(argv[1], "--list-containers"));
		return 0;
	}
	if (argc > 3 && streq(argv[1], "--share")) {
		suite.share = argv[2];
		argc -= 2;
		argv += 2;
	}
	for (int i = 1; i < argc; i++) {
		const struct test *test = find_test(argv[i]);
		if (!test)
			return usage(argv[i][0] == '-' ? "unknown option"
						       : "no test of this name: see --list");
		add_test(tests, &count, test);
	}
	for (const struct test *test = first_test; argc == 1 && test; test = test->next)
		add_test(tests, &count, test);
	return run_suite(tests, count);
}
