/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/plain.h"

#include "cli/cmd/decide.h"
#include "cli/show/ask.h"
#include "cli/show/output.h"

#include "base/argsplit.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/helper.h"
#include "engine/roster/facts.h"
#include "engine/roster/lost.h"
#include "engine/roster/next.h"
#include "engine/supervise/supervise.h"
#include "model/question/screens.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

enum { CHUNK = 4096, LONGEST_LINE = 64 << 10 };

struct plain {
	struct app *app;
	struct roster *roster;
	struct loop *loop;
	struct loop_source *input; /* a timer for a file, which is always readable */
	const char *program;
	struct strvec ids;  /* by number, from 1 */
	struct strbuf text; /* what is read and not yet a line */
	char *last;         /* the session of the last command: "n" continues after it */
	bool is_open;       /* the list is printed: what comes now is news */
	bool is_over, has_failed, at_prompt;
	struct error *err;
};

/* ---- what it says ----------------------------------------------------------------------------- */

static void prompt(struct plain *plain)
{
	if (!plain->is_over && !plain->at_prompt)
		fputs("> ", stdout);
	plain->at_prompt = true;
}

/* A line of ours, not behind the prompt. */
static void leave_prompt(struct plain *plain)
{
	if (plain->at_prompt)
		fputc('\n', stdout);
	plain->at_prompt = false;
}

static size_t number_of(struct plain *plain, const char *id)
{
	for (size_t i = 0; i < plain->ids.count; i++)
		if (streq(plain->ids.items[i], id))
			return i + 1;
	strvec_push(&plain->ids, id);
	return plain->ids.count;
}

static bool needs_user(const struct roster_entry *entry)
{
	const struct attention attention = facts_attention(entry);
	return attention_is_needed(&attention);
}

static void say_session(struct plain *plain, const struct roster_entry *entry)
{
	char since[CLOCK_TEXT_SIZE];
	const bool has_reason = !is_empty(entry->view.reason);
	say("%zu. %s, %s, %s%s%s%s%s.", number_of(plain, entry->row.id), or_empty(entry->row.title),
	    or_empty(entry->row.agent), doing_name(doing_of(&entry->view)),
	    entry->since_us ? " since " : "", clock_moment(entry->since_us, clock_wall_us(), since),
	    has_reason ? ": " : "", has_reason ? entry->view.reason : "");
}

static int by_group(const void *a, const void *b)
{
	const struct roster_entry *first = *(const struct roster_entry *const *)a;
	const struct roster_entry *second = *(const struct roster_entry *const *)b;
	const int order = strcmp(or_empty(first->row.group), or_empty(second->row.group));
	if (order != 0)
		return order;
	return first->row.created_at < second->row.created_at ? -1
	       : first->row.created_at > second->row.created_at
		       ? 1
		       : strcmp(first->row.id, second->row.id);
}

static void say_counts(size_t count, size_t needing)
{
	if (count == 0)
		say("There are no sessions. Type : launch DIRECTORY for the first one, ? for help.");
	else
		say("%zu session%s, %zu of them need%s you. Type ? for help.", count,
		    count == 1 ? "" : "s", needing, needing == 1 ? "s" : "");
}

static void say_list(struct plain *plain, bool only_needing)
{
	const size_t count = roster_count(plain->roster);
	cleanup_free const struct roster_entry **entries = xcalloc(count + 1, sizeof(*entries));
	const char *group = NULL;
	size_t needing = 0;
	for (size_t i = 0; i < count; i++) {
		entries[i] = roster_at(plain->roster, i);
		needing += needs_user(entries[i]);
	}
	qsort(entries, count, sizeof(*entries), by_group);
	for (size_t i = 0; i < count; i++) {
		const char *own = or_empty(entries[i]->row.group);
		if (only_needing && !needs_user(entries[i]))
			continue;
		if (*own && (!group || !streq(group, own)))
			say("Group %s:", own);
		group = own;
		say_session(plain, entries[i]);
	}
	say_counts(count, needing);
}

static void on_event(const struct roster_event *event, void *context)
{
	struct plain *plain = context;
	const struct roster_entry *entry = event->entry;
	const bool is_news = event->what == ROSTER_ADDED ||
			     event->differs & (ROSTER_STATE | ROSTER_HELD) ||
			     (event->differs & ROSTER_DOING && needs_user(entry));
	if (!plain->is_open || (event->what != ROSTER_REMOVED && !is_news))
		return;
	leave_prompt(plain);
	if (event->what == ROSTER_REMOVED)
		say("%zu. %s is removed.", number_of(plain, entry->row.id),
		    or_empty(entry->row.title));
	else
		say_session(plain, entry);
}

/* Sessions that nothing restarts automatically. */
static void say_lost(const struct plain *plain)
{
	const struct lost lost = roster_lost(plain->roster);
	const size_t count = lost.in_restart + lost.otherwise;
	if (count == 0 || supervise_is_running(&plain->app->deck))
		return;
	if (count == 1)
		say("1 session should run and does not. Type r to restart it.");
	else
		say("%zu sessions should run and do not. Type r to see and restart them.", count);
}

/* ---- what it does ----------------------------------------------------------------------------- */

static int run_agentdeck(struct plain *plain, const struct strvec *words, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	int status;
	strvec_push(&argv, plain->program);
	strvec_push(&argv, "--profile");
	strvec_push(&argv, plain->app->deck.profile);
	strvec_push_all(&argv, words);
	fflush(stdout);
	const int r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status,
				       err);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "program '%s' does not exist",
				 plain->program);
	return r;
}

/* The session with this number.  NULL: no session has it, and this has said so. */
static const struct roster_entry *numbered(struct plain *plain, const char *word)
{
	int64_t number;
	if (parse_int64(word, 1, INT64_MAX, &number))
		for (size_t i = 0; i < roster_count(plain->roster); i++) {
			const struct roster_entry *entry = roster_at(plain->roster, i);
			if (number_of(plain, entry->row.id) == (size_t)number)
				return entry;
		}
	if (is_empty(word))
		say("The number of the session is missing.");
	else
		say("No session has the number %s. Type l for the list.", word);
	return NULL;
}

/* agentdeck COMMAND ID [-- TEXT] */
static int command_on(struct plain *plain, const char *command, const struct roster_entry *entry,
		      const char *text, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	replace_string(&plain->last, entry->row.id);
	strvec_push(&words, command);
	strvec_push(&words, entry->row.id);
	if (text) {
		strvec_push(&words, "--");
		strvec_push(&words, text);
	}
	return run_agentdeck(plain, &words, err);
}

static int attach_next(struct plain *plain, struct error *err)
{
	const struct roster_entry *entry = roster_next_waiting(plain->roster, plain->last);
	/* The last one, if no other one waits. */
	if (!entry)
		entry = roster_next_waiting(plain->roster, NULL);
	if (!entry) {
		say("No session waits for you.");
		return 0;
	}
	say("%zu. %s", number_of(plain, entry->row.id), or_empty(entry->row.title));
	return command_on(plain, "attach", entry, NULL, err);
}

static int run_words(struct plain *plain, const char *line, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	cleanup_error struct error wrong = { 0 };
	if (argsplit(line, &words, &wrong) < 0) {
		say("%s", wrong.message);
		return 0;
	}
	if (!words.count) {
		say("The command is missing. Type, for example: : list --all-profiles");
		return 0;
	}
	return run_agentdeck(plain, &words, err);
}

/* Ask the deck's question.  Without a terminal, only show it. */
static int recover(struct plain *plain, struct error *err)
{
	cleanup_question struct question question = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	const struct choice *choice;
	question_of_recovery(&question);
	lost_tell(plain->roster, &question);
	if (!decide_may_ask(plain->app)) {
		question_add_text(&question, &text);
		fputs(strbuf_text(&text), stdout);
		say("Type : recover to restart them.");
		return 0;
	}
	const int r = ask_question(&question, &choice, err);
	if (r < 0)
		return -1;
	if (r > 0 || choice->kind != CHOICE_CONTINUE) {
		say("Nothing was done.");
		return 0;
	}
	return run_words(plain, "recover", err);
}

static const struct {
	const char *letter, *command, *help;
	bool has_text;
} verbs[] = {
	{ "a", "attach", "a NUMBER, or only the number: attach to it; detach to come back", false },
	{ "s", "send", "s NUMBER TEXT: send the text to the agent", true },
	{ "o", "output", "o NUMBER: print its last reply", false },
	{ "i", "show", "i NUMBER: print all about it", false },
	{ "y", "approve", "y NUMBER: print its question, and approve it", false },
	{ "d", "deny", "d NUMBER: print its question, and deny it", false },
	{ "", "start", "start NUMBER, stop NUMBER, restart NUMBER", false },
	{ "", "stop", NULL, false },
	{ "", "restart", NULL, false },
};

static void say_help(void)
{
	say("l: list all sessions. w: list those that need you. n: attach to the next that waits.");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i].help)
			say("%s.", verbs[i].help);
	say("r: name the sessions that should run and do not, and restart them.");
	say(": COMMAND: run any command of agentdeck, such as : launch ~/src/api");
	say("q: quit. The sessions run on.");
}

/* Cuts its first word off a line; returns what follows it. */
static char *cut_word(char *line)
{
	char *end = line + strcspn(line, " \t");
	if (*end)
		*end++ = '\0';
	return end + strspn(end, " \t");
}

/* A command about one session.  False: it is something else. */
static bool run_verb(struct plain *plain, const char *word, char *rest, int *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!*word || (!streq(verbs[i].letter, word) && !streq(verbs[i].command, word)))
			continue;
		const char *text = cut_word(rest);
		const struct roster_entry *entry = numbered(plain, rest);
		if (entry && verbs[i].has_text && !*text)
			say("The text is missing. Type: %s NUMBER TEXT", word);
		else if (entry && !verbs[i].has_text && *text)
			say("Type only the number after %s.", word);
		else if (entry)
			*ret = command_on(plain, verbs[i].command, entry,
					  verbs[i].has_text ? text : NULL, err);
		return true;
	}
	return false;
}

static int obey(struct plain *plain, char *line, struct error *err)
{
	int r = 0;
	line += strspn(line, " \t");
	if (*line == ':')
		return run_words(plain, line + 1, err);
	char *rest = cut_word(line);
	if (run_verb(plain, line, rest, &r, err))
		return r;
	if (*line && strspn(line, "0123456789") == strlen(line)) {
		const struct roster_entry *entry = numbered(plain, line);
		return entry ? command_on(plain, "attach", entry, NULL, err) : 0;
	}
	if (streq(line, "n"))
		return attach_next(plain, err);
	if (streq(line, "r"))
		return recover(plain, err);
	if (streq(line, "q") || streq(line, "quit") || streq(line, "exit"))
		plain->is_over = true;
	else if (!*line || streq(line, "l") || streq(line, "list") || streq(line, "w"))
		say_list(plain, streq(line, "w"));
	else if (streq(line, "?") || streq(line, "help"))
		say_help();
	else
		say("There is no command %s. Type ? for help.", line);
	return 0;
}

/* ---- input and events ------------------------------------------------------------------------- */

static void fail(struct plain *plain)
{
	plain->has_failed = plain->is_over = true;
}

static void obey_lines(struct plain *plain)
{
	char *newline;
	while (!plain->is_over && plain->text.length &&
	       (newline = memchr(plain->text.data, '\n', plain->text.length))) {
		const size_t length = (size_t)(newline - plain->text.data) + 1;
		cleanup_free char *line = xstrndup(plain->text.data, length - 1);
		plain->text.length -= length;
		memmove(plain->text.data, newline + 1, plain->text.length);
		/* The newline of the user, on a terminal. */
		plain->at_prompt = plain->at_prompt && !isatty(STDIN_FILENO);
		leave_prompt(plain);
		if (obey(plain, line, plain->err) < 0 || roster_read(plain->roster, plain->err) < 0)
			fail(plain);
	}
	if (plain->text.length > LONGEST_LINE) {
		leave_prompt(plain);
		say("That line is too long. Use : send NUMBER --message-file FILE");
		plain->text.length = 0;
	}
}

static void on_input(int fd, uint32_t events UNUSED, void *context)
{
	struct plain *plain = context;
	char chunk[CHUNK];
	const ssize_t got = read(fd, chunk, sizeof(chunk));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got > 0)
		strbuf_add(&plain->text, chunk, (size_t)got);
	else if (plain->text.length && plain->text.data[plain->text.length - 1] != '\n')
		strbuf_adds(&plain->text, "\n");
	obey_lines(plain);
	if (got <= 0) {
		leave_prompt(plain);
		plain->is_over = true;
		loop_remove(plain->input);
		plain->input = NULL;
	}
}

static void on_file(void *context)
{
	struct plain *plain = context;
	on_input(STDIN_FILENO, EPOLLIN, plain);
	if (!plain->is_over && loop_set_timer(plain->input, 0, plain->err) < 0)
		fail(plain);
}

static void on_due(void *context)
{
	struct plain *plain = context;
	if (roster_read(plain->roster, plain->err) < 0)
		fail(plain);
}

static int watch_input(struct plain *plain, struct error *err)
{
	struct stat st;
	const struct loop_io io = {
		.fd = STDIN_FILENO, .events = EPOLLIN, .handler = on_input, .context = plain
	};
	if (fstat(STDIN_FILENO, &st) < 0)
		return error_set_errno(err, errno, "look at the standard input");
	if (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(STDIN_FILENO)))
		return loop_add_timer(plain->loop, 0, on_file, plain, &plain->input, err);
	return loop_add_io(plain->loop, &io, &plain->input, err);
}

static int talk(struct plain *plain, struct error *err)
{
	say_list(plain, false);
	say_lost(plain);
	plain->is_open = true;
	while (!plain->is_over) {
		prompt(plain);
		if (fflush(stdout) != 0)
			return error_set_errno(err, errno, "print");
		if (output_turn(plain->loop, INT64_MAX, err) < 0)
			return -1;
	}
	return plain->has_failed ? -1 : 0;
}

int plain_run(struct app *app, struct error *err)
{
	cleanup_loop struct loop *loop = NULL;
	cleanup_roster struct roster *roster = NULL;
	cleanup_free char *program = helper_own_program();
	struct plain plain = { .app = app, .program = program, .err = err };
	if (deck_open_anyway(app->profile, "ui", &app->deck, err) < 0 ||
	    deck_check_profile(&app->deck, err) < 0 || deck_open_store(&app->deck, err) < 0 ||
	    loop_new(&loop, err) < 0)
		return -1;
	deck_refresh_ssh_agent(&app->deck);
	plain.loop = loop;
	const struct roster_order order = { .loop = loop,
					    .due = on_due,
					    .profile = app->deck.profile,
					    .looks = ROSTER_LOOKS,
					    .asks = true };
	int r = roster_open(&app->deck, &order, on_event, &plain, &roster, err);
	plain.roster = roster;
	if (r == 0 &&
	    (roster_read(roster, err) < 0 || watch_input(&plain, err) < 0 || talk(&plain, err) < 0))
		r = -1;
	strvec_clear(&plain.ids);
	strbuf_free(&plain.text);
	free(plain.last);
	return r;
}
