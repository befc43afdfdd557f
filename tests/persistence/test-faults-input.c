/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Odd, hostile or false input for agentdeck: directories, titles, reports.
 */
#include "persistence/faults.h"

#include <string.h>
#include <sys/stat.h>

/* ---- directories ------------------------------------------------------------------------- */

/* Make a session for the directory as given.  Its agent runs in the real one, also when it is
 * resumed after the way in (NULL: nothing) has been removed. */
static void live_in(const struct fault *fault, const char *given, const char *real, const char *way)
{
	struct session session = { .title = "there", .directory = real };
	machine_make_directory(real);
	struct reply reply = deck_look(
		WORDS("add", given, "-t", session.title, "--agent", "demo", "--json"));
	ASSERT(reply.status == 0 && reply.json, "%s: add: %s", fault->name, reply.errors);
	session.id = json_get_string(reply.json, "id", "");
	for (unsigned i = 0; i < 2; i++) {
		reply = deck_look(WORDS("session", "start", session.id));
		ASSERT(reply.status == 0, "%s: start: %s", fault->name, reply.errors);
		(void)session_look(&session);
		const char *stands = machine_root_ok(
			WORDS("readlink", "-n", kept("/proc/%d/cwd", (int)session.agent_pid)));
		ASSERT(streq(stands, real), "%s: the agent stands in %s", fault->name, stands);
		if (i)
			break;
		session_say(&session, fault->name);
		session_kill_server(&session);
		if (way)
			machine_remove(way);
	}
	assert_came_back(&session, session.session_id, fault->name, 1);
	reply = deck_look(WORDS("remove", "--force", session.id));
	ASSERT(reply.status == 0, "%s: remove: %s", fault->name, reply.errors);
}

static void live_in_argument(const struct fault *fault)
{
	live_in(fault, at_home(fault->argument), at_home(fault->argument), NULL);
}

/* Number of characters in one name, or in a path of several names. */
static void live_in_long(const struct fault *fault)
{
	struct strbuf path = { 0 };
	while (path.length < fault->number)
		strbuf_adds(&path, fault->argument);
	const char *directory = at_home(kept("%.*s", (int)fault->number, strbuf_text(&path)));
	keep(strbuf_take(&path));
	live_in(fault, directory, directory, NULL);
}

static void live_behind_link(const struct fault *fault)
{
	const char *link = at_home("link");
	machine_make_directory(at_home("behind"));
	machine_user_ok(WORDS("ln", "-s", "behind", link));
	live_in(fault, link, at_home("behind"), link);
}

static void delete_directory(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("rm", "-r", world.deck.directory));
}

static void make_directory(const struct fault *fault UNUSED)
{
	machine_root_ok(WORDS("rm", "-rf", world.deck.directory));
	machine_make_directory(world.deck.directory);
}

/* The argument is a shell command that changes the directory "$1". */
static void die_and_spoil_directory(const struct fault *fault)
{
	session_kill_server(&world.deck);
	machine_root_ok(WORDS("sh", "-c", fault->argument, "sh", world.deck.directory));
}

static const struct fault of_directories[] = {
	{ .name = "cwd-with-spaces", .strike = live_in_argument, .argument = "  two  words " },
	{ .name = "cwd-with-a-newline", .strike = live_in_argument, .argument = "two\nlines" },
	{ .name = "cwd-in-utf-8", .strike = live_in_argument, .argument = "ünï €😀" },
	{ .name = "cwd-not-in-utf-8", .strike = live_in_argument, .argument = "b\xfft" },
	{ .name = "cwd-with-formats",
	  .strike = live_in_argument,
	  .argument = "#{pid}%s$HOME'\"\\;`x`" },
	{ .name = "cwd-of-250-characters", .strike = live_in_long, .argument = "d", .number = 250 },
	{ .name = "cwd-of-1000-characters",
	  .strike = live_in_long,
	  .argument = "deep/",
	  .number = 999 },
	{ .name = "cwd-behind-a-link-that-goes", .strike = live_behind_link },
	{ .name = "cwd-deleted-while-it-runs",
	  .strike = delete_directory,
	  .steps = { SHOWS(LIST_JSON, RUNNING), SHOWS(START, "already running") },
	  .mend = make_directory },
	{ .name = "cwd-deleted",
	  .strike = die_and_spoil_directory,
	  .argument = "rm -r \"$1\"",
	  .steps = { FAILS(START, 2, "is missing: restore it, or, if it was moved, say where it is"),
		     FAILS(RESTART, 2, "is missing"),
		     SHOWS_FAILURE(DECK("recover", "--json"), 1, "is missing") },
	  .mend = make_directory,
	  .run = NEW_RUN },
	{ .name = "cwd-is-a-file",
	  .strike = die_and_spoil_directory,
	  .argument = "rm -r \"$1\"; : >\"$1\"",
	  .steps = { FAILS(START, 2, "is missing") },
	  .mend = make_directory,
	  .run = NEW_RUN },
	{ .name = "cwd-locked",
	  .strike = die_and_spoil_directory,
	  .argument = "chmod 0 \"$1\"",
	  .steps = { FAILS(START, 1, "Permission denied") },
	  .mend = make_directory,
	  .run = NEW_RUN },
	{ .name = "cwd-not-there",
	  .steps = { FAILS(DECK("add", "~/nowhere", "-t", "new", "--agent", "demo"), 2,
			   "is not an existing directory") } },
	{ .name = "called-from-a-deleted-directory",
	  .steps = { SHOWS(
		  WORDS("sh", "-c",
			"mkdir \"$HOME/gone\" && cd \"$HOME/gone\" && rmdir \"$HOME/gone\" && "
			"exec agentdeck session restart deck"),
		  "resumed") },
	  .run = NEW_RUN },
};

TEST(FaultsOfDirectories)
{
	run_faults(of_directories, ARRAY_SIZE(of_directories));
}

/* ---- titles ------------------------------------------------------------------------------ */

#define CANARY      "/tmp/x"
#define LETTERS     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"
#define LETTERS_250 LETTERS LETTERS LETTERS LETTERS LETTERS

static void assert_not_obeyed(const struct fault *fault)
{
	ASSERT(!machine_exists(CANARY), "%s: the title was obeyed", fault->name);
	ASSERT(!machine_exists(state_path("default/../x")) && !machine_exists(state_path("../x")),
	       "%s: the title was taken for a path", fault->name);
}

/* It lives under this title, and is resumed under it. */
#define ACCEPTED                                                                          \
	.mend = assert_not_obeyed, .run = NEW_RUN,                                        \
	.steps = { DONE(DECK("rename", "@deck", "--", "@argument")),                      \
		   SHOWS(LIST, "@argument"),                                              \
		   SHOWS(RESTART, ": resumed"),                                           \
		   SHOWS(DECK("session", "start", "--", "@argument"), "already running"), \
		   FAILS(DECK("add", "~/deck", "--agent", "demo", "-t", "@argument"), 1,  \
			 "already"),                                                      \
		   SHOWS(DECK("session", "show", "@deck"), "@argument"),                  \
		   DONE(DECK("rename", "@deck", "deck")) }
#define REFUSED(why)                                                           \
	.mend = assert_not_obeyed,                                             \
	.steps = { FAILS(DECK("rename", "@deck", "--", "@argument"), 64, why), \
		   FAILS(DECK("add", "~/deck", "--agent", "demo", "-t", "@argument"), 64, why) }

static const struct fault of_titles[] = {
	{ .name = "title-with-a-tmux-command", .argument = "#(touch " CANARY ")", ACCEPTED },
	{ .name = "title-with-a-shell-command",
	  .argument = "$(touch " CANARY ")`touch " CANARY "`;touch " CANARY,
	  ACCEPTED },
	{ .name = "title-with-a-tmux-format", .argument = "#{pane_pid}", ACCEPTED },
	{ .name = "title-with-conversions", .argument = "%s%n%d", ACCEPTED },
	{ .name = "title-with-quotes", .argument = "it's \"quoted\" \\", ACCEPTED },
	{ .name = "title-that-is-a-path", .argument = "../../x", ACCEPTED },
	{ .name = "title-in-utf-8", .argument = "ünï €😀", ACCEPTED },
	{ .name = "title-of-250-bytes", .argument = LETTERS_250, ACCEPTED },
	{ .name = "title-of-251-bytes",
	  .argument = LETTERS_250 "y",
	  REFUSED("has 251 bytes; the limit is 250") },
	{ .name = "title-with-a-newline",
	  .argument = "two\nlines",
	  REFUSED("invalid title \"two\\nlines\": it contains a control character") },
	{ .name = "title-with-an-escape",
	  .argument = "\033[31mred",
	  REFUSED("it contains a control character") },
	{ .name = "title-not-in-utf-8", .argument = "b\xfft", REFUSED("it is not valid UTF-8") },
	{ .name = "title-empty", .argument = "", REFUSED("it is empty") },
	{ .name = "title-of-blanks",
	  .argument = "  ",
	  REFUSED("it starts or ends with white space") },
};

TEST(FaultsOfTitles)
{
	run_faults(of_titles, ARRAY_SIZE(of_titles));
}

/* ---- reports ----------------------------------------------------------------------------- */

static const char *conversation_now(void)
{
	(void)session_look(&world.deck);
	return or_empty(world.deck.session_id);
}

static size_t count_not_taken(void)
{
	return count_of(or_empty(deck_log()), "report not taken");
}

/* The argument is a shell script with "tell EVENT CONVERSATION [MORE]", which reports with the
 * run's token, as the agent would, and with $another, a conversation that is not the session's.
 * Whatever it reports, it gets no output. */
static const char *report(const struct fault *fault)
{
	static const char prelude[] =
		"id=$1 conversation=$2 directory=$3 another=$4 other=$5\n"
		"[ -n \"$token\" ] || token=$(cat \"/run/user/$(id -u)/agentdeck/$id/token\")\n"
		"export AGENTDECK_REPORT_TOKEN=$token\n"
		"hook() { agentdeck hook --instance $id || echo failed; }\n"
		"tell() { printf '{\"hook_event_name\":\"%s\",\"session_id\":\"%s\",\"cwd\":\"%s\"%s}' \"$1\" \"$2\" "
		"\"$directory\" \"$3\" | hook; }\n";
	const char *another = new_uuid();
	const char *script = kept("%s%s", prelude, fault->argument);
	struct answer answer = machine_user(WORDS("sh", "-c", script, "sh", world.deck.id,
						  conversation_now(), world.deck.directory, another,
						  world.other.id));
	ASSERT(answer.status == 0 && *answer.output == '\0' && *answer.errors == '\0',
	       "%s: status %d: %s%s", fault->name, answer.status, answer.output, answer.errors);
	return another;
}

/* So many of them are refused, and the log says so; none changes the conversation. */
static void report_in_vain(const struct fault *fault)
{
	size_t before = count_not_taken();
	const char *conversation = conversation_now();
	(void)report(fault);
	ASSERT(count_not_taken() == before + fault->number,
	       "%s: %zu reports were not taken, not %zu", fault->name, count_not_taken() - before,
	       fault->number);
	ASSERT(streq(conversation_now(), conversation), "%s: %s became %s", fault->name,
	       conversation, conversation_now());
}

static long count_prompts(void)
{
	static const char key[] = "\"prompts\":";
	const char *path = kept("/run/user/%u/agentdeck/%s/activity.json", machine_uid(),
				world.deck.id);
	const char *text = machine_root_ok(WORDS("cat", path));
	const char *at = strstr(text, key);
	ASSERT(at, "no count in %s", text);
	return strtol(at + strlen(key), NULL, 10);
}

/* This one is accepted.  Its activity is no evidence: the screen contradicts it soon. */
static void report_prompt(const struct fault *fault)
{
	const long before = count_prompts();
	report_in_vain(fault);
	ASSERT(count_prompts() == before + 1, "%s: it is not taken", fault->name);
}

static void report_of_earlier_run(const struct fault *fault)
{
	const char *path = kept("/run/user/%u/agentdeck/%s/token", machine_uid(), world.deck.id);
	const char *token = machine_root_ok(WORDS("cat", path));
	tell_deck("restart");
	ASSERT(!streq(machine_root_ok(WORDS("cat", path)), token), "it is the same token");
	machine_set("token", token);
	report_in_vain(fault);
	machine_set("token", "");
}

/* The user has cleared the agent, and then an earlier report arrives once more. */
static void report_again(const struct fault *fault)
{
	const char *conversation = conversation_now(), *another = report(fault);
	ASSERT(streq(conversation_now(), another), "%s: it is %s, not %s", fault->name,
	       conversation_now(), another);
	const struct fault back = {
		.name = fault->name,
		.argument = kept("tell SessionStart %s ',\"source\":\"resume\"'", conversation)
	};
	(void)report(&back);
	ASSERT(streq(conversation_now(), conversation), "%s: the user does not get back",
	       fault->name);
	tell_deck("restart");
}

/* A report of the start of the run's own conversation is believed at any time; the other
 * conversation is kept beside it. */
static void report_start_again(const struct fault *fault)
{
	const char *conversation = conversation_now(), *another = report(fault);
	ASSERT(streq(conversation_now(), conversation), "%s: it is %s", fault->name,
	       conversation_now());
	ASSERT(strstr(or_empty(machine_read(manifest_path(&world.deck))), another),
	       "%s: %s is lost", fault->name, another);
}

#define TEN_MEGABYTES "head -c 10000000 /dev/zero | tr '\\0' "
#define CLEARED       "',\"source\":\"clear\"'"

static const struct fault of_reports[] = {
	{ .name = "report-of-ten-megabytes",
	  .strike = report_prompt,
	  .argument = "{ printf '{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"%s\","
		      "\"prompt\":\"' $conversation; " TEN_MEGABYTES "a; printf '\"}'; } | hook" },
	{ .name = "report-of-ten-megabytes-of-garbage",
	  .strike = report_in_vain,
	  .argument = TEN_MEGABYTES "'[' | hook; " TEN_MEGABYTES "'\\377' | hook",
	  .number = 2 },
	{ .name = "report-of-garbage",
	  .strike = report_in_vain,
	  .argument =
		  "printf garbage | hook; printf '{\"hook_event_name\":' | hook; printf '[]' | hook; : | hook",
	  .number = 4 },
	{ .name = "report-of-an-odd-conversation",
	  .strike = report_in_vain,
	  .argument = "tell SessionStart ../../x " CLEARED "; tell SessionStart -x " CLEARED
		      "; tell SessionStart '' " CLEARED "; tell SessionStart 'a b' " CLEARED,
	  .number = 4 },
	{ .name = "reports-out-of-order",
	  .strike = report_in_vain,
	  .argument =
		  "tell SessionEnd $another; tell Stop $conversation; tell SessionEnd $conversation; "
		  "tell UserPromptSubmit $conversation; tell SessionStart $conversation ',\"source\":\"startup\"'; "
		  "tell Stop $conversation" },
	{ .name = "report-of-an-earlier-run",
	  .strike = report_of_earlier_run,
	  .argument = "tell SessionStart $another " CLEARED "; tell SessionEnd $another",
	  .run = NEW_RUN },
	{ .name = "report-with-a-wrong-token",
	  .strike = report_in_vain,
	  .argument = "AGENTDECK_REPORT_TOKEN=$another; tell SessionStart $another " CLEARED
		      "; unset AGENTDECK_REPORT_TOKEN; tell SessionStart $another " CLEARED },
	{ .name = "report-for-another-session",
	  .strike = report_in_vain,
	  .argument = "id=$other; tell SessionStart $another " CLEARED
		      "; id=../../x; tell SessionStart $another " CLEARED
		      "; id=nobody00; tell SessionStart $another " CLEARED },
	{ .name = "reports-replayed",
	  .strike = report_again,
	  .argument =
		  "tell SessionStart $another " CLEARED "; tell UserPromptSubmit $another; "
		  "tell UserPromptSubmit $conversation; tell Stop $conversation; tell SessionEnd $conversation",
	  .run = NEW_RUN },
	{ .name = "start-replayed",
	  .strike = report_start_again,
	  .argument = "tell SessionStart $another " CLEARED "; tell UserPromptSubmit $another; "
		      "tell SessionStart $conversation ',\"source\":\"startup\"'" },
};

TEST(FaultsOfReports)
{
	run_faults(of_reports, ARRAY_SIZE(of_reports));
}
