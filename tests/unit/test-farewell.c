/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scripts in panes of a tmux server like a user's, some of which say their ids when they end.
 */
#include "unit/test.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/program.h"
#include "driver/tmux/tmux-panes.h"
#include "engine/adopt/farewell.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	PLENTY_MS = 20000,
	LOOK_MS = 20,
	HUNG_S = 200,
	PATIENCE_MS = 20000,
	SHORT_MS = 1200,
	ROUNDS_MS = 3000
};

struct fixture {
	char *directory, *socket, *pane;
	struct registry registry;
	struct process_id server, agent;
	int64_t patience_ms;
};

static const char *tmux(const struct fixture *f, char **keep, const char *const *words)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "tmux", "-u", "-f", "/dev/null", "-S",
							f->socket, NULL });
	strvec_push_array(&argv, words);
	const struct child_request request = { .argv = (const char *const *)argv.items,
					       .new_session = true };
	if (child_run(&request, PLENTY_MS, &result, NULL) != 0)
		fail_msg("tmux does not run");
	replace_string(keep, strbuf_text(&result.output));
	(*keep)[strcspn(*keep, "\n")] = '\0';
	return *keep;
}

#define TMUX(f, keep, ...) tmux(f, keep, (const char *const[]){ __VA_ARGS__, NULL })

static void define(struct fixture *f, const char *more)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *text = xasprintf(
		"command = [\"teller\"]\n[session]\nid = \"any\"\nresume = [\"resume\", \"{session_id}\"]\n"
		"[screen]\nexit_banner = '^to come back: teller resume (talk-[0-9]+)'\n%s",
		more);
	if (registry_override(&f->registry, "teller", text, strlen(text), "teller.toml", &err) < 0)
		fail_msg("%s", err.message);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	char root[] = "/tmp/agentdeck-farewell-XXXXXX";
	if (!mkdtemp(root) || registry_builtin(&f->registry, NULL) < 0)
		return -1;
	f->directory = xstrdup(root);
	f->patience_ms = PATIENCE_MS;
	f->socket = path_join(root, "sock");
	setenv("D", f->directory, 1);
	define(f, "[keys]\nbanner = [\"C-c\"]\n");
	alarm(HUNG_S);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	alarm(0);
	(void)process_signal(&f->agent, SIGKILL, NULL);
	(void)process_signal(&f->server, SIGKILL, NULL);
	int r = fs_remove_tree(AT_FDCWD, f->directory, NULL);
	registry_free(&f->registry);
	free(f->directory);
	free(f->socket);
	free(f->pane);
	free(f);
	return r;
}

/* The pid that the script has written to the file "agent". */
static bool find_agent(struct fixture *f)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(f->directory, "agent");
	int64_t pid;
	if (fs_read(AT_FDCWD, path, 100, &text, NULL) != 0)
		return false;
	cleanup_free char *number = xstrndup(strbuf_text(&text), strcspn(strbuf_text(&text), "\n"));
	return parse_int64(number, 1, INT32_MAX, &pid) &&
	       process_identify((pid_t)pid, &f->agent, NULL) == 0;
}

/* The script is the pane's own process, and says when it is ready.  A "^C" at the beginning of a
 * line would hide the words after it. */
#define READY "stty -echo\necho $$ >\"$D/new\"; mv \"$D/new\" \"$D/agent\"\n"
/* An old tmux may lose what the pane's own process prints in its last moment. */
#define LAST    "sleep 0.3\n"
#define BYE(id) "bye() { echo 'to come back: teller resume " id "'; " LAST "exit 0; }\n"
#define STAY    "while :; do sleep 0.05; done\n"

static void run(struct fixture *f, const char *script)
{
	cleanup_free char *answer = NULL, *pid = NULL;
	int64_t number;
	f->pane = xstrdup(TMUX(f, &answer, "new-session", "-d", "-x", "100", "-y", "30", "-P", "-F",
			       "#{pane_id}", "sh", "-c", script));
	assert_true(parse_int64(TMUX(f, &pid, "display-message", "-p", "#{pid}"), 1, INT32_MAX,
				&number));
	assert_int_equal(process_identify((pid_t)number, &f->server, NULL), 0);
	for (int64_t deadline = clock_ms() + PLENTY_MS; !find_agent(f);) {
		assert_true(clock_ms() < deadline);
		(void)process_wait_end(&f->server, clock_ms() + LOOK_MS, NULL);
	}
}

static struct farewell farewell_of(const struct fixture *f, int64_t patience_ms)
{
	return (struct farewell){
		.agent = registry_find(&f->registry, "teller"),
		.process = &f->agent,
		.socket = f->socket,
		.pane = f->pane,
		.patience_ms = patience_ms,
	};
}

/* The id that was heard; the caller's. */
static char *hear(const struct fixture *f)
{
	cleanup_error struct error err = { 0 };
	struct farewell farewell = farewell_of(f, f->patience_ms);
	char *id = NULL;
	assert_true(farewell_is_heard(&farewell));
	int r = farewell_hear(&farewell, &id, &err);
	if (r != 0)
		fail_msg("outcome %d: %s", r, or_empty(err.message));
	return id;
}

static void assert_heard(const struct fixture *f, const char *wanted)
{
	cleanup_free char *id = hear(f);
	assert_string_equal(or_empty(id), wanted);
	assert_false(process_alive(&f->agent));
}

static void what_it_says_when_it_is_asked_is_heard(void **state)
{
	struct fixture *f = *state;
	run(f, BYE("talk-17") "trap bye INT\n" READY STAY);
	assert_heard(f, "talk-17");
}

/* It takes one ^C at a time: two in one read are a paste. */
#define KEYS                                                                \
	"stty raw -echo\n" READY "n=0\n"                                    \
	"while [ $n -lt 2 ]; do\n"                                          \
	"	k=$(dd bs=16 count=1 2>/dev/null | od -An -tx1 | tr -d ' \\n')\n" \
	"	[ \"$k\" = 03 ] && n=$((n + 1))\n"                                \
	"	[ \"$k\" ] || exit 1\n"                                           \
	"done\n"                                                            \
	"stty sane\n"

static void keys_are_pressed_one_by_one(void **state)
{
	struct fixture *f = *state;
	define(f, "[keys]\nbanner = [\"C-c\", \"C-c\"]\nquit = [\"C-z\"]\n");
	run(f, "trap '' INT\n" BYE("talk-3") KEYS "bye\n");
	assert_heard(f, "talk-3");
}

/* During a turn or on a half-typed line the first keys have another effect. */
static void keys_are_pressed_again(void **state)
{
	struct fixture *f = *state;
	define(f, "[keys]\nbanner = []\nquit = [\"C-c\"]\n");
	f->patience_ms = ROUNDS_MS;
	run(f, "trap '' INT\n" BYE("talk-4") KEYS "bye\n");
	assert_heard(f, "talk-4");
}

static void words_of_an_earlier_end_do_not_count(void **state)
{
	struct fixture *f = *state;
	run(f, "echo 'to come back: teller resume talk-1'\ntrap 'exit 0' INT\n" READY STAY);
	assert_heard(f, "");
}

static void the_same_words_once_more_count(void **state)
{
	struct fixture *f = *state;
	run(f, "echo 'to come back: teller resume talk-1'\n" BYE(
		       "talk-1") "trap bye INT\n" READY STAY);
	assert_heard(f, "talk-1");
}

#define ASIDE "echo 'to come back: teller resume talk-1'\nprintf '\\033[?1049h\\033[H'\n"

/* Text that reappears when it leaves the alternate screen was said before. */
static void words_below_an_alternate_screen_do_not_count(void **state)
{
	struct fixture *f = *state;
	run(f, ASIDE "trap 'printf \"\\033[?1049l\"; " LAST "exit 0' INT\n" READY STAY);
	assert_heard(f, "");
}

static void words_behind_an_alternate_screen_are_heard(void **state)
{
	struct fixture *f = *state;
	run(f, "seq 60\n" ASIDE "echo 'to come back: teller resume talk-9'\n" BYE(
		       "talk-2") "trap 'printf \"\\033[?1049l\"; bye' INT\n" READY STAY);
	assert_heard(f, "talk-2");
}

static void one_that_stays_is_left_running(void **state)
{
	struct fixture *f = *state;
	char *id = NULL;
	run(f, "trap '' INT\n" READY STAY);
	const struct farewell farewell = farewell_of(f, SHORT_MS);
	assert_int_equal(farewell_hear(&farewell, &id, NULL), FAREWELL_STAYED);
	assert_null(id);
	assert_true(process_alive(&f->agent));
}

/* After it has said its id there is no need to wait for its end: it can be ended now. */
static void one_that_has_spoken_is_not_waited_for_long(void **state)
{
	struct fixture *f = *state;
	char *id = NULL;
	run(f, "trap 'echo \"to come back: teller resume talk-5\"' INT\n" READY STAY);
	const struct farewell farewell = farewell_of(f, SHORT_MS);
	assert_int_equal(farewell_hear(&farewell, &id, NULL), 0);
	assert_string_equal(or_empty(id), "talk-5");
	free(id);
}

static void a_pane_is_as_it_was_afterwards(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *answer = NULL;
	/* Below a shell, which continues. */
	setenv("TELLER", BYE("talk-6") "trap bye INT\n" READY STAY, 1);
	run(f, "trap : INT\nsh -c \"$TELLER\"\nexec sleep 600");
	(void)TMUX(f, &answer, "set-option", "-p", "-t", f->pane, "remain-on-exit", "off");
	assert_heard(f, "talk-6");
	assert_string_equal(TMUX(f, &answer, "show-options", "-p", "-v", "-t", f->pane,
				 "remain-on-exit"),
			    "off");
	assert_string_equal(
		TMUX(f, &answer, "display-message", "-p", "-t", f->pane, "#{pane_dead}"), "0");
}

static void a_pane_that_was_only_the_agents_closes(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *answer = NULL;
	run(f, BYE("talk-7") "trap bye INT\n" READY STAY);
	(void)TMUX(f, &answer, "new-window", "-d", "sleep", "600");
	assert_heard(f, "talk-7");
	assert_string_equal(TMUX(f, &answer, "display-message", "-p", "#{session_windows}"), "1");
}

static void a_pane_that_was_to_stay_stays(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *answer = NULL;
	run(f, BYE("talk-8") "trap bye INT\n" READY STAY);
	(void)TMUX(f, &answer, "set-option", "-w", "-t", f->pane, "remain-on-exit", "on");
	assert_heard(f, "talk-8");
	assert_string_equal(
		TMUX(f, &answer, "display-message", "-p", "-t", f->pane, "#{pane_dead}"), "1");
	assert_string_equal(
		TMUX(f, &answer, "show-options", "-p", "-v", "-t", f->pane, "remain-on-exit"), "");
}

static void who_says_nothing_or_is_not_in_front_is_not_heard(void **state)
{
	struct fixture *f = *state;
	/* Interactive shells give each job in the background its own group. */
	run(f,
	    "set -m\nsh -c 'echo $$ >\"$D/new\"; mv \"$D/new\" \"$D/agent\"; exec sleep 600' &\nwait");
	struct farewell farewell = farewell_of(f, SHORT_MS), front = farewell;
	cleanup_free char *answer = NULL;
	struct process_id shell;
	int64_t pid;
	assert_false(farewell_is_heard(&farewell));
	assert_true(parse_int64(TMUX(f, &answer, "display-message", "-p", "#{pane_pid}"), 1,
				INT32_MAX, &pid));
	assert_int_equal(process_identify((pid_t)pid, &shell, NULL), 0);
	front.process = &shell;
	assert_true(farewell_is_heard(&front));
	farewell = front;
	farewell.pane = NULL;
	assert_false(farewell_is_heard(&farewell));
	farewell = front;
	farewell.agent = registry_find(&f->registry, "shell");
	assert_false(farewell_is_heard(&farewell));
	define(f, "[keys]\nbanner = []\n");
	farewell.agent = registry_find(&f->registry, "teller");
	assert_false(farewell_is_heard(&farewell));
}

static void an_end_takes_along_what_the_agent_started(void **state)
{
	struct fixture *f = *state;
	cleanup_free struct process_id *tree = NULL;
	size_t count = 0;
	cleanup_error struct error err = { 0 };
	run(f, "trap '' TERM\nsleep 600 & " READY "wait\n" STAY);
	assert_int_equal(process_tree(&f->agent, &tree, &count, NULL), 0);
	assert_true(count >= 2);
	const struct farewell farewell = farewell_of(f, SHORT_MS);
	if (farewell_end(&farewell, tree, count, &err) != 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < count; i++)
		assert_false(process_alive(tree + i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_it_says_when_it_is_asked_is_heard, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(keys_are_pressed_one_by_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys_are_pressed_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_of_an_earlier_end_do_not_count, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_same_words_once_more_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_below_an_alternate_screen_do_not_count,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_behind_an_alternate_screen_are_heard, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_that_stays_is_left_running, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_has_spoken_is_not_waited_for_long, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_pane_is_as_it_was_afterwards, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pane_that_was_only_the_agents_closes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_pane_that_was_to_stay_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_says_nothing_or_is_not_in_front_is_not_heard,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_end_takes_along_what_the_agent_started, set_up,
						tear_down),
	};
	if (!program_is_installed("tmux")) {
		puts("skipped: tmux is not installed");
		return 77;
	}
	(void)unsetenv("TMUX");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
