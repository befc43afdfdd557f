/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "engine/run/offer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { HUNG_S = 30 };

static void one_character_answers_and_a_longer_text_does_not(void **state UNUSED)
{
	static const struct {
		const char *typed;
		enum offer_choice choice;
	} table[] = {
		{ "\r", OFFER_RESUME },   { "\n", OFFER_RESUME },
		{ "\r\n", OFFER_RESUME }, { "n", OFFER_FRESH },
		{ "N\r", OFFER_FRESH },   { "q", OFFER_SHELL },
		{ "Q\n", OFFER_SHELL },   { "\x03", OFFER_SHELL },
		{ "\x04", OFFER_SHELL },  { "x", OFFER_NONE },
		{ "\x1b", OFFER_NONE },   { "\x1b[A", OFFER_NONE },
		{ "\x1bn", OFFER_NONE },  { "nq", OFFER_NONE },
		{ "no\r", OFFER_NONE },   { "please resume\r", OFFER_NONE },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (offer_parse(table[i].typed, strlen(table[i].typed)) != table[i].choice)
			fail_msg("row %zu: %d", i,
				 offer_parse(table[i].typed, strlen(table[i].typed)));
	assert_int_equal(offer_parse("", 0), OFFER_NONE);
	assert_int_equal(offer_parse("\0", 1), OFFER_NONE);
}

static struct instance *an_instance(void)
{
	struct instance *instance = instance_new();
	instance->title = xstrdup("evil \x1b]0;pwned\x07 title");
	instance->agent = xstrdup("demo");
	instance->cwd = xstrdup("/srv/a\nb");
	instance->conversation.session_id = xstrdup("0b7c1f6e-0000-4000-8000-000000000001");
	return instance;
}

static void the_text_names_the_conversation_and_obeys_nothing(void **state UNUSED)
{
	cleanup_instance struct instance *instance = an_instance();
	cleanup_strbuf struct strbuf text = { 0 };
	offer_text(instance, &text);
	assert_non_null(strstr(text.data, "0b7c1f6e-0000-4000-8000-000000000001"));
	assert_non_null(strstr(text.data, "Enter  resume it"));
	assert_null(strchr(text.data, '\x1b'));
	assert_null(strchr(text.data, '\x07'));
	for (const char *s = text.data; (s = strchr(s, '\n')); s++)
		assert_true(s > text.data && s[-1] == '\r');
}

/* The other end of a terminal that shows the question. */
struct asked {
	int master;
	/* exits with the choice; 100 for an error, 101 if the settings were not restored */
	pid_t pid;
};

static void ask(struct asked *asked)
{
	cleanup_instance struct instance *instance = an_instance();
	asked->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(asked->master >= 0);
	assert_int_equal(grantpt(asked->master), 0);
	assert_int_equal(unlockpt(asked->master), 0);
	int terminal = open(ptsname(asked->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal >= 0);
	asked->pid = fork();
	assert_true(asked->pid >= 0);
	if (asked->pid == 0) {
		enum offer_choice choice = OFFER_NONE;
		struct termios before, after;
		alarm(HUNG_S);
		(void)close(asked->master);
		if (tcgetattr(terminal, &before) < 0 ||
		    offer_ask(terminal, instance, &choice, NULL) < 0 ||
		    tcgetattr(terminal, &after) < 0)
			_exit(100);
		_exit(before.c_lflag == after.c_lflag && before.c_iflag == after.c_iflag
			      ? (int)choice
			      : 101);
	}
	(void)close(terminal);
}

static void see(const struct asked *asked, char last)
{
	char c = '\0';
	alarm(HUNG_S);
	while (c != last)
		assert_int_equal(read(asked->master, &c, 1), 1);
	alarm(0);
}

static void type(const struct asked *asked, const char *text)
{
	assert_int_equal(write(asked->master, text, strlen(text)), strlen(text));
}

static int ended(const struct asked *asked)
{
	int status;
	assert_int_equal(waitpid(asked->pid, &status, 0), asked->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The last text that the question shows before it waits. */
static void see_question(const struct asked *asked)
{
	see(asked, 'q');
	for (int i = 0; i < 2; i++)
		see(asked, '\n');
}

static void a_key_answers_on_a_terminal(void **state UNUSED)
{
	static const struct {
		const char *typed;
		enum offer_choice choice;
	} table[] = { { "\r", OFFER_RESUME }, { "n", OFFER_FRESH }, { "\x03", OFFER_SHELL } };
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct asked asked;
		ask(&asked);
		see_question(&asked);
		type(&asked, table[i].typed);
		assert_int_equal(ended(&asked), table[i].choice);
		(void)close(asked.master);
	}
}

static void what_is_no_answer_rings_and_the_question_stays(void **state UNUSED)
{
	struct asked asked;
	ask(&asked);
	see_question(&asked);
	type(&asked, "x");
	see(&asked, '\a');
	type(&asked, "\x1b[B");
	see(&asked, '\a');
	type(&asked, "\r");
	assert_int_equal(ended(&asked), OFFER_RESUME);
	(void)close(asked.master);
}

static void a_terminal_that_goes_away_is_an_error(void **state UNUSED)
{
	struct asked asked;
	ask(&asked);
	see_question(&asked);
	(void)close(asked.master);
	assert_int_equal(ended(&asked), 100);
}

static void without_a_terminal_there_is_no_offer(void **state UNUSED)
{
	cleanup_instance struct instance *instance = an_instance();
	cleanup_error struct error err = { 0 };
	enum offer_choice choice = OFFER_SHELL;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(offer_ask(fd, instance, &choice, &err), -1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	assert_int_equal(choice, OFFER_SHELL);
	(void)close(fd);
}

static void a_choice_starts_at_its_rung(void **state UNUSED)
{
	static const enum rung ladder[] = { RUNG_RESUME, RUNG_ASSIGN, RUNG_FRESH, RUNG_LAUNCH,
					    RUNG_SHELL };
	struct run run = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(ladder); i++)
		run_add_attempt(&run, &(struct attempt){ .rung = ladder[i] });
	assert_int_equal(offer_attempt(&run, OFFER_RESUME), 0);
	assert_int_equal(offer_attempt(&run, OFFER_FRESH), 2);
	assert_int_equal(offer_attempt(&run, OFFER_SHELL), 4);
	run.attempt_count = 2;
	assert_int_equal(offer_attempt(&run, OFFER_FRESH), 2);
	run.attempt_count = ARRAY_SIZE(ladder);
	run_clear(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_character_answers_and_a_longer_text_does_not),
		cmocka_unit_test(the_text_names_the_conversation_and_obeys_nothing),
		cmocka_unit_test(a_key_answers_on_a_terminal),
		cmocka_unit_test(what_is_no_answer_rings_and_the_question_stays),
		cmocka_unit_test(a_terminal_that_goes_away_is_an_error),
		cmocka_unit_test(without_a_terminal_there_is_no_offer),
		cmocka_unit_test(a_choice_starts_at_its_rung),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
