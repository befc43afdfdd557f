/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine's work for agents that cannot be given an id: conversations that the agent makes, a
 * place for each instance, one instance for each directory, ids in last words.
 */
#include "unit/store-fixture.h"

#include "base/fsutil.h"
#include "engine/conversation/conversation.h"
#include "engine/conversation/create.h"
#include "engine/deck/home.h"
#include "engine/place/environment.h"
#include "engine/place/place.h"
#include "engine/place/runfiles.h"
#include "engine/run/add.h"
#include "engine/run/stop.h"

#include <sys/stat.h>

#define MADE   "chat-0123"
#define THEIRS "chat-9999"

struct desk {
	char *root, *cwd;
	struct deck deck;
};

static void write_file(const struct desk *desk, const char *path, mode_t mode, const char *text)
{
	cleanup_free char *whole = path_join(desk->root, path);
	int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
	assert_int_equal(close(fd), 0);
}

static int set_up(void **state)
{
	static const char *const directories[] = { "work", "agents", "bin" };
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-create-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	desk->cwd = path_join(desk->root, "work");
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		cleanup_free char *path = path_join(desk->root, directories[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	write_file(desk, "agents/maker.toml", 0600,
		   "title = \"Maker\"\ncommand = [\"maker\"]\n"
		   "[session]\nid = \"any\"\nresume = [\"--resume\", \"{session_id}\"]\n"
		   "create = [\"maker\", \"create-chat\"]\ncreate_pattern = '^id: ([^ ]+)$'\n");
	write_file(desk, "agents/apart.toml", 0600,
		   "command = [\"apart\"]\n[session]\nid = \"none\"\ncontinue = [\"-c\"]\n"
		   "[isolation]\narguments = [\"--dir\", \"{state}\"]\n"
		   "environment = [\"APART_HOME={state}/home\"]\n"
		   "[report]\nenvironment = [\"APART_HOOK={hook}\", \"APART_FILE={settings}\"]\n");
	write_file(desk, "agents/latest.toml", 0600,
		   "title = \"Latest\"\ncommand = [\"latest\"]\n[session]\nid = \"none\"\n"
		   "continue = [\"-c\"]\n");
	write_file(
		desk, "agents/teller.toml", 0600,
		"command = [\"teller\"]\n[session]\nid = \"any\"\n"
		"resume = [\"resume\", \"{session_id}\"]\n[report]\narguments = [\"-c\", \"n={hook}\"]\n"
		"[screen]\nexit_banner = 'resume ([a-z0-9-]+)'\n");
	if (deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0)
		return -1;
	*state = desk;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	deck_close(&desk->deck);
	free(desk->root);
	free(desk->cwd);
	free(desk);
	return r;
}

static const struct agent *agent_of(struct desk *desk, const char *name)
{
	const struct agent *agent = NULL;
	struct error err = { 0 };
	if (deck_agent(&desk->deck, name, &agent, &err) != 0)
		fail_msg("%s", err.message);
	return agent;
}

/* An instance with a prepared run, found by its path. */
static struct instance *new_one(struct desk *desk, const char *agent, const char *id)
{
	struct instance *instance = new_instance(id, id);
	replace_string(&instance->cwd, desk->cwd);
	replace_string(&instance->agent, agent);
	strvec_clear(&instance->argv);
	strvec_push_take(&instance->argv, xasprintf("%s/bin/%s", desk->root, agent));
	instance->run.id = xstrdup("run");
	instance->run.directory = xasprintf("%s/run/%s", desk->root, id);
	return instance;
}

static void put_instance(struct desk *desk, const struct instance *instance)
{
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
}

/* --- conversations that the agent makes -------------------------------------------------------- */

static int create(struct desk *desk, const char *script, char **ret, struct error *err)
{
	cleanup_instance struct instance *instance = new_one(desk, "maker", "0123abcd");
	write_file(desk, "bin/maker", 0700, script);
	const struct place_order order = { .agent = agent_of(desk, "maker") };
	return create_conversation(&desk->deck, instance, &order, ret, err);
}

static void a_made_conversation_has_the_id_that_was_printed(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *id = NULL;
	struct error err = { 0 };
	/* In the instance's directory, with its environment and the registry's words. */
	if (create(desk,
		   "#!/bin/sh\necho noise: \"$1\"\necho \"id: $(basename \"$PWD\")-"
		   "$AGENTDECK_INSTANCE-$#-$1\"\n",
		   &id, &err) != 0)
		fail_msg("%s", err.message);
	assert_string_equal(id, "work-0123abcd-1-create-chat");
}

static void what_stands_before_the_program_stands_before_it_there_too(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *id = NULL, *program = path_join(desk->root, "bin/maker");
	cleanup_instance struct instance *instance = new_one(desk, "maker", "0123abcd");
	const char *const words[] = { "env", "WHICH=mine", program, "--model", "x", NULL };
	strvec_clear(&instance->argv);
	strvec_push_array(&instance->argv, words);
	write_file(desk, "bin/maker", 0700, "#!/bin/sh\necho \"id: $WHICH-$#\"\n");
	const struct place_order order = { .agent = agent_of(desk, "maker") };
	assert_int_equal(create_conversation(&desk->deck, instance, &order, &id, NULL), 0);
	assert_string_equal(id, "mine-1");
}

static void a_conversation_that_was_not_made_is_an_error_with_the_agents_words(void **state)
{
	struct desk *desk = *state;
	static const struct {
		const char *script, *word;
	} table[] = {
		{ "#!/bin/sh\necho please log in >&2\nexit 3\n", "please log in" },
		{ "#!/bin/sh\necho please log in >&2\nexit 3\n", "status 3" },
		{ "#!/bin/sh\necho please log in >&2\nexit 3\n", "create-chat" },
		{ "#!/bin/sh\necho what now\n", "printed no id" },
		{ "#!/bin/sh\necho what now\n", "what now" },
		{ "#!/bin/sh\necho 'id: --looks-like-a-flag'\n", "printed no id" },
		{ "#!/bin/sh\n", "printed no id" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_free char *id = NULL;
		cleanup_error struct error err = { 0 };
		assert_int_equal(create(desk, table[i].script, &id, &err), -1);
		assert_int_equal(err.code, ERROR_CHILD);
		assert_null(id);
		if (!strstr(err.message, table[i].word))
			fail_msg("row %zu: %s", i, err.message);
	}
}

static int plan(struct desk *desk, struct instance *instance, bool resume_wish)
{
	const struct place_order order = { .agent = agent_of(desk, instance->agent) };
	const struct planning planning = {
		.deck = &desk->deck,
		.order = &order,
		.instance = instance,
		.agent = order.agent,
		.fact = TRANSCRIPT_UNKNOWN,
		.purpose = resume_wish ? PLAN_RESUME : PLAN_FRESH,
	};
	return conversation_plan(&planning, NULL);
}

static void a_plan_has_a_conversation_made_only_when_one_is_needed(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "maker", "0123abcd");
	write_file(desk, "bin/maker", 0700, "#!/bin/sh\necho made >> log\necho id: " MADE "\n");
	assert_int_equal(plan(desk, instance, true), 0);
	assert_string_equal(instance->conversation.session_id, MADE);
	assert_int_equal(instance->conversation.origin, ORIGIN_MINTED);
	assert_int_equal(run_attempt(&instance->run)->rung, RUNG_RESUME);
	assert_string_equal(instance->resume_argv.items[2], MADE);

	run_clear(&instance->run);
	instance->run.id = xstrdup("run");
	instance->run.directory = path_join(desk->root, "run/x");
	instance->last_used_at = 1;
	assert_int_equal(plan(desk, instance, true), 0);
	cleanup_strbuf struct strbuf log = { 0 };
	cleanup_free char *path = path_join(desk->cwd, "log");
	assert_int_equal(fs_read(AT_FDCWD, path, 100, &log, NULL), 0);
	assert_string_equal(log.data, "made\n");

	/* The user wants a new one. */
	run_clear(&instance->run);
	instance->run.id = xstrdup("run");
	instance->run.directory = path_join(desk->root, "run/x");
	assert_int_equal(plan(desk, instance, false), 0);
	assert_int_equal(run_attempt(&instance->run)->rung, RUNG_FRESH);
}

static void a_plan_without_the_conversation_is_none(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "maker", "0123abcd");
	write_file(desk, "bin/maker", 0700, "#!/bin/sh\nexit 1\n");
	assert_int_equal(plan(desk, instance, true), -1);
	assert_null(instance->conversation.session_id);
	assert_int_equal(instance->run.attempt_count, 0);
}

/* --- a place of its own ------------------------------------------------------------------------ */

static void the_place_is_made_for_who_wants_it_and_private(void **state)
{
	struct desk *desk = *state;
	struct stat st;
	cleanup_instance struct instance *apart = new_one(desk, "apart", "0123abcd");
	cleanup_instance struct instance *latest = new_one(desk, "latest", "0123abce");
	cleanup_free char *path = home_path(&desk->deck, "0123abcd");
	cleanup_free char *other = home_path(&desk->deck, "0123abce");
	assert_int_equal(plan(desk, apart, true), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(strvec_contains(&run_attempt(&apart->run)->argv, path));
	assert_int_equal(plan(desk, latest, true), 0);
	assert_int_equal(stat(other, &st), -1);
	/* It is no instance. */
	cleanup_store_rows struct store_rows rows = { 0 };
	assert_int_equal(store_list(desk->deck.store, &rows, NULL), 0);
	assert_int_equal(rows.count, 0);
}

static void a_removed_session_leaves_its_conversations_and_says_where(void **state)
{
	struct desk *desk = *state;
	struct stat st;
	static const char *const ids[] = { "0123abcd", "0123abce" };
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		cleanup_instance struct instance *apart = new_one(desk, "apart", ids[i]);
		cleanup_free char *path = home_path(&desk->deck, ids[i]);
		run_clear(&apart->run);
		put_instance(desk, apart);
		assert_int_equal(home_make(&desk->deck, apart, agent_of(desk, "apart"), NULL), 0);
		if (i == 0)
			write_file(desk, "default/conversations/0123abcd/talk", 0600, "hello");
		assert_int_equal(lifecycle_remove(&desk->deck, ids[i], &(struct removal_order){ 0 },
						  NULL),
				 0);
		assert_int_equal(stat(path, &st), i == 0 ? 0 : -1);
		assert_int_equal(desk->deck.warnings.count, 1);
	}
	/* undo needs them. */
	assert_non_null(strstr(desk->deck.warnings.items[0],
			       "conversations/0123abcd: agentdeck undo needs them"));
}

static const char *value_of(const struct strvec *environment, const char *name)
{
	const char *found = NULL;
	for (size_t i = 0; i < environment->count; i++) {
		if (!starts_with(environment->items[i], name) ||
		    environment->items[i][strlen(name)] != '=')
			continue;
		assert_null(found);
		found = environment->items[i] + strlen(name) + 1;
	}
	return found;
}

static void who_has_no_home_gives_the_agent_the_one_that_was_found(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *apart = new_one(desk, "apart", "0123abcd");
	cleanup_strvec struct strvec with = { 0 }, without = { 0 };
	setenv("HOME", "/of/the/caller", 1);
	environment_build(&desk->deck, apart, agent_of(desk, "apart"), &with);
	assert_string_equal(value_of(&with, "HOME"), "/of/the/caller");
	unsetenv("HOME");
	environment_build(&desk->deck, apart, agent_of(desk, "apart"), &without);
	assert_string_equal(value_of(&without, "HOME"), desk->deck.paths.home);
	setenv("HOME", desk->root, 1);
}

static void the_environment_isolates_and_reports(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *apart = new_one(desk, "apart", "0123abcd");
	cleanup_strvec struct strvec without = { 0 }, with = { 0 };
	cleanup_close int fd = -1;
	cleanup_free char *home = xasprintf("%s/default/conversations/0123abcd/home", desk->root);
	setenv("APART_HOME", "/of/the/caller", 1);
	environment_build(&desk->deck, apart, agent_of(desk, "apart"), &without);
	assert_string_equal(value_of(&without, "APART_HOME"), home);
	/* No settings were written: half of a report is useless. */
	assert_null(value_of(&without, "APART_HOOK"));

	assert_int_equal(fs_open_private_directory(apart->run.directory, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, RUN_SETTINGS, "{}", 2, FS_VOLATILE, NULL), 0);
	environment_build(&desk->deck, apart, agent_of(desk, "apart"), &with);
	cleanup_free char *hook = xasprintf("[\"%s\",\"hook\"]", desk->deck.program);
	cleanup_free char *file = path_join(apart->run.directory, RUN_SETTINGS);
	assert_string_equal(value_of(&with, "APART_HOOK"), hook);
	assert_string_equal(value_of(&with, "APART_FILE"), file);
	unsetenv("APART_HOME");
}

/* --- one instance a directory ------------------------------------------------------------------ */

static void bring_to_life(struct instance *instance)
{
	instance->run.socket = xstrdup("/nowhere/tmux.sock");
	replace_string(&instance->run.boot_id, process_boot_id());
	assert_int_equal(process_identify(getpid(), &instance->run.server, NULL), 0);
	instance->observed.state = STATE_RUNNING;
	replace_string(&instance->observed.boot_id, process_boot_id());
}

static int claim(struct desk *desk, const char *agent, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_instance struct instance *instance = new_one(desk, agent, "0123abcd");
	return conversation_claim(&desk->deck, instance, agent_of(desk, agent), &lock, err);
}

static void who_finds_only_the_latest_runs_alone_in_its_directory(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *stopped = new_one(desk, "latest", "0000yyyy");
	run_clear(&stopped->run);
	put_instance(desk, stopped);
	assert_int_equal(claim(desk, "latest", NULL), 0);

	cleanup_instance struct instance *other = new_one(desk, "latest", "0000zzzz");
	bring_to_life(other);
	put_instance(desk, other);
	assert_int_equal(claim(desk, "latest", &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	assert_non_null(strstr(err.message, "0000zzzz"));
	assert_non_null(strstr(err.message, "another directory"));
	/* Others have their own place, or are another agent. */
	assert_int_equal(claim(desk, "apart", NULL), 0);
	assert_int_equal(claim(desk, "teller", NULL), 0);
}

static void it_is_alone_in_its_directory_across_profiles_and_only_there(void **state)
{
	struct desk *desk = *state;
	cleanup_store struct store *store = NULL;
	cleanup_instance struct instance *elsewhere = new_one(desk, "latest", "0000yyyy");
	cleanup_instance struct instance *other = new_one(desk, "latest", "0000zzzz");
	replace_string(&elsewhere->cwd, "/srv");
	bring_to_life(elsewhere);
	put_instance(desk, elsewhere);
	assert_int_equal(claim(desk, "latest", NULL), 0);
	assert_int_equal(store_open(desk->root, "second", &store, NULL), 0);
	bring_to_life(other);
	assert_int_equal(create_instance(store, other, NULL), 0);
	assert_int_equal(claim(desk, "latest", NULL), -1);
}

static void the_latest_is_continued_only_where_nobody_else_was(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *alone = new_one(desk, "latest", "0123abcd");
	alone->last_used_at = 1;
	assert_int_equal(plan(desk, alone, true), 0);
	assert_int_equal(run_attempt(&alone->run)->rung, RUNG_CONTINUE);

	cleanup_instance struct instance *stopped = new_one(desk, "latest", "0000zzzz");
	run_clear(&stopped->run);
	put_instance(desk, stopped);
	cleanup_instance struct instance *shared = new_one(desk, "latest", "0123abcd");
	shared->last_used_at = 1;
	assert_int_equal(plan(desk, shared, true), 0);
	assert_int_equal(run_attempt(&shared->run)->rung, RUNG_LAUNCH);
	assert_string_equal(
		shared->run.history_note,
		"history not restored: another session has its directory, and the latest conversation there may be that session's");
}

/* --- last words -------------------------------------------------------------------------------- */

#define WORDS "bye\nresume " MADE "\n"

static struct instance *ended(struct desk *desk)
{
	struct instance *instance = new_one(desk, "teller", "0123abcd");
	struct attempt attempt = { .rung = RUNG_LAUNCH, .reason = REASON_NO_ID_REPORTED_YET };
	run_add_attempt(&instance->run, &attempt);
	instance->run.attempt_since = 1000;
	return instance;
}

static void an_id_in_the_last_words_is_the_conversations(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = ended(desk);
	assert_true(conversation_take_words(&desk->deck, instance, WORDS));
	assert_string_equal(instance->conversation.session_id, MADE);
	assert_int_equal(instance->conversation.origin, ORIGIN_REPORTED);
	assert_int_equal(instance->resume_argv.count, 3);
	/* The same words again change nothing. */
	instance->conversation.captured_at = 0;
	assert_false(conversation_take_words(&desk->deck, instance, WORDS));
	assert_false(conversation_take_words(&desk->deck, instance, NULL));
	assert_false(conversation_take_words(&desk->deck, instance, "bye"));
}

static void a_report_of_the_run_knows_better_than_its_screen(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *reported = ended(desk);
	reported->run.reported = true;
	assert_false(conversation_take_words(&desk->deck, reported, WORDS));
	cleanup_instance struct instance *captured = ended(desk);
	conversation_set_id(&captured->conversation, THEIRS, ORIGIN_REPORTED, 2000);
	assert_false(conversation_take_words(&desk->deck, captured, WORDS));
	assert_string_equal(captured->conversation.session_id, THEIRS);
	/* The words of an earlier run do not count. */
	captured->conversation.captured_at = 500;
	assert_true(conversation_take_words(&desk->deck, captured, WORDS));
	assert_string_equal(captured->conversation.previous.items[0], THEIRS);
}

static void last_words_give_nobody_anothers_conversation(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = ended(desk);
	cleanup_instance struct instance *other = new_one(desk, "teller", "0000zzzz");
	run_clear(&other->run);
	conversation_set_id(&other->conversation, MADE, ORIGIN_REPORTED, 1);
	put_instance(desk, other);
	assert_true(conversation_take_words(&desk->deck, instance, WORDS));
	assert_null(instance->conversation.session_id);
	assert_string_equal(instance->conversation.shared.session_id, MADE);
	assert_string_equal(instance->conversation.shared.owner, "0000zzzz");
	/* A shell in the agent's place says nothing about it either. */
	cleanup_instance struct instance *shell = ended(desk);
	shell->run.attempts[0].rung = RUNG_SHELL;
	assert_false(conversation_take_words(&desk->deck, shell, "resume chat-7"));
}

/* --- adding ------------------------------------------------------------------------------------ */

static void an_id_that_the_agent_would_refuse_is_refused_before_anything_is_written(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *added = NULL;
	cleanup_error struct error err = { 0 };
	cleanup_store_rows struct store_rows rows = { 0 };
	const struct lifecycle_new wish = {
		.directory = desk->cwd,
		.agent = "claude",
		.session_id = "no-uuid",
	};
	assert_int_equal(lifecycle_add(&desk->deck, &wish, &added, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "a UUID"));
	assert_int_equal(store_list(desk->deck.store, &rows, NULL), 0);
	assert_int_equal(rows.count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_made_conversation_has_the_id_that_was_printed),
		TEST(what_stands_before_the_program_stands_before_it_there_too),
		TEST(a_conversation_that_was_not_made_is_an_error_with_the_agents_words),
		TEST(a_plan_has_a_conversation_made_only_when_one_is_needed),
		TEST(a_plan_without_the_conversation_is_none),
		TEST(the_place_is_made_for_who_wants_it_and_private),
		TEST(a_removed_session_leaves_its_conversations_and_says_where),
		TEST(who_has_no_home_gives_the_agent_the_one_that_was_found),
		TEST(the_environment_isolates_and_reports),
		TEST(who_finds_only_the_latest_runs_alone_in_its_directory),
		TEST(it_is_alone_in_its_directory_across_profiles_and_only_there),
		TEST(the_latest_is_continued_only_where_nobody_else_was),
		TEST(an_id_in_the_last_words_is_the_conversations),
		TEST(a_report_of_the_run_knows_better_than_its_screen),
		TEST(last_words_give_nobody_anothers_conversation),
		TEST(an_id_that_the_agent_would_refuse_is_refused_before_anything_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
