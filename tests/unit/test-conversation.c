/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "driver/store/trash.h"
#include "driver/transcript/transcript.h"
#include "engine/conversation/conversation.h"

#include <sys/stat.h>

#define MINE   "0aaaaaaa-0000-4000-8000-000000000001"
#define THEIRS "0bbbbbbb-0000-4000-8000-000000000002"
#define LOOSE  "0ccccccc-0000-4000-8000-000000000003"

struct desk {
	char *root, *cwd, *home; /* home: the agent's */
	struct deck deck;
	const struct agent *claude, *shell;
	int age; /* each transcript is a second newer than the one before */
};

static int set_up(void **state)
{
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-conversation-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	desk->cwd = path_join(desk->root, "work");
	desk->home = path_join(desk->root, ".claude");
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("CLAUDE_CONFIG_DIR");
	unsetenv("AGENTDECK_PROFILE");
	if (mkdir(desk->cwd, 0700) < 0 || deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0 ||
	    deck_agent(&desk->deck, "claude", &desk->claude, NULL) < 0 ||
	    deck_agent(&desk->deck, "shell", &desk->shell, NULL) < 0)
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
	free(desk->home);
	free(desk);
	return r;
}

/* A conversation on disk; without turns only its header. */
static void write_transcript(struct desk *desk, const char *home, const char *id, bool turns)
{
	cleanup_free char *slug = transcript_slug(desk->cwd);
	cleanup_free char *directory = xasprintf("%s/projects/%s", home, slug);
	cleanup_free char *name = xasprintf("%s.jsonl", id);
	cleanup_close int fd = -1;
	cleanup_free char *text = xasprintf(
		"{\"type\":\"summary\",\"cwd\":\"%s\",\"sessionId\":\"%s\"}\n%s", desk->cwd, id,
		turns ? "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n"
		      : "");
	struct timespec times[2] = { { .tv_sec = 1700000000 + desk->age },
				     { .tv_sec = 1700000000 + desk->age } };
	desk->age++;
	assert_int_equal(fs_open_private_directory(directory, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, name, text, strlen(text), FS_VOLATILE, NULL), 0);
	assert_int_equal(utimensat(fd, name, times, 0), 0);
}

static struct instance *new_one(struct desk *desk, const char *id, const char *session_id)
{
	struct instance *instance = new_instance(id, id);
	replace_string(&instance->cwd, desk->cwd);
	instance->conversation.config_home = xstrdup(desk->home);
	if (session_id)
		conversation_set_id(&instance->conversation, session_id, ORIGIN_MINTED, 1);
	return instance;
}

static void settle(struct desk *desk, struct instance *instance, enum transcript_fact expected)
{
	enum transcript_fact fact = TRANSCRIPT_UNKNOWN;
	struct error err = { 0 };
	if (conversation_choose_and_log(&desk->deck, instance, desk->claude, &fact, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	assert_int_equal(fact, expected);
}

/* Another instance of the same directory, as it is on disk. */
static struct instance *other_one(struct desk *desk, const char *session_id)
{
	return new_one(desk, "0000zzzz", session_id);
}

static void put_instance(struct store *store, const struct instance *instance)
{
	assert_int_equal(create_instance(store, instance, NULL), 0);
}

/* --- settling --------------------------------------------------------------------------------- */

static void a_stored_id_is_kept_whatever_lies_on_disk(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	write_transcript(desk, desk->home, MINE, true);
	write_transcript(desk, desk->home, LOOSE, true);
	instance->last_used_at = 1;
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, MINE);
	assert_int_equal(instance->conversation.previous.count, 0);
}

static void a_transcript_is_absent_empty_or_has_turns(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	settle(desk, instance, TRANSCRIPT_ABSENT);
	write_transcript(desk, desk->home, MINE, false);
	settle(desk, instance, TRANSCRIPT_EMPTY);
	write_transcript(desk, desk->home, MINE, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	enum transcript_fact fact = TRANSCRIPT_EMPTY;
	assert_int_equal(
		conversation_choose_and_log(&desk->deck, instance, desk->shell, &fact, NULL), 0);
	assert_int_equal(fact, TRANSCRIPT_UNKNOWN);
}

static void a_transcript_of_another_home_is_another_conversation(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *own = path_join(desk->root, "elsewhere");
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	cleanup_instance struct instance *without = new_one(desk, "0123abce", NULL);
	replace_string(&instance->conversation.config_home, own);
	replace_string(&without->conversation.config_home, own);
	write_transcript(desk, desk->home, MINE, true);
	write_transcript(desk, desk->home, LOOSE, true);
	settle(desk, instance, TRANSCRIPT_ABSENT);
	settle(desk, without, TRANSCRIPT_ABSENT);
	assert_null(without->conversation.session_id);
	assert_string_equal(instance->conversation.config_home, own);
	write_transcript(desk, own, MINE, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_true(starts_with(instance->conversation.transcript_path, own));
}

static void an_id_in_the_arguments_is_adopted_when_none_is_stored(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	strvec_push(&instance->argv, "--resume");
	strvec_push(&instance->argv, MINE);
	write_transcript(desk, desk->home, MINE, true);
	write_transcript(desk, desk->home, LOOSE, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, MINE);
	assert_int_equal(instance->conversation.origin, ORIGIN_ADOPTED);
}

static void the_newest_conversation_that_nobody_owns_is_discovered(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	write_transcript(desk, desk->home, LOOSE, true);
	write_transcript(desk, desk->home, MINE, true);
	write_transcript(desk, desk->home, THEIRS, false);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, MINE);
	assert_int_equal(instance->conversation.origin, ORIGIN_DISCOVERED);
	assert_true(ends_with(instance->conversation.transcript_path, MINE ".jsonl"));
}

/* LOOSE is older than THEIRS: it is taken only because THEIRS has an owner. */
static void expect_loose(struct desk *desk)
{
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	write_transcript(desk, desk->home, LOOSE, true);
	write_transcript(desk, desk->home, THEIRS, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, LOOSE);
}

static void what_another_instance_has_is_not_taken(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	put_instance(desk->deck.store, other);
	expect_loose(desk);
}

static void what_another_instance_had_before_is_not_taken(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	conversation_set_id(&other->conversation, MINE, ORIGIN_REPORTED, 2);
	put_instance(desk->deck.store, other);
	expect_loose(desk);
}

static void what_another_instances_run_was_given_is_not_taken(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, MINE);
	struct attempt attempt = { .rung = RUNG_FRESH, .session_id = (char *)THEIRS };
	run_add_attempt(&other->run, &attempt);
	other->run.socket = xstrdup("/nowhere/tmux.sock");
	put_instance(desk->deck.store, other);
	expect_loose(desk);
}

static void what_an_instance_of_another_profile_has_is_not_taken(void **state)
{
	struct desk *desk = *state;
	cleanup_store struct store *store = NULL;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	assert_int_equal(store_open(desk->root, "second", &store, NULL), 0);
	put_instance(store, other);
	expect_loose(desk);
}

static void damage(const struct desk *desk, const struct instance *instance)
{
	cleanup_close int fd = openat(store_profile_directory(desk->deck.store), instance->base,
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, "instance.json", "{", 1, FS_VOLATILE, NULL), 0);
}

/* Its manifest may name any of them. */
static void beside_a_session_that_cannot_be_read_nothing_is_taken(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	put_instance(desk->deck.store, other);
	damage(desk, other);
	write_transcript(desk, desk->home, LOOSE, true);
	write_transcript(desk, desk->home, THEIRS, true);
	settle(desk, instance, TRANSCRIPT_ABSENT);
	assert_null(instance->conversation.session_id);
}

static void what_its_unreadable_owner_may_have_stays_shared(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	put_instance(desk->deck.store, other);
	replace_string(&instance->conversation.shared.session_id, THEIRS);
	damage(desk, other);
	assert_int_equal(conversation_reclaim(&desk->deck, instance, NULL), 0);
	assert_string_equal(instance->conversation.session_id, MINE);
	assert_string_equal(or_empty(instance->conversation.shared.session_id), THEIRS);
	assert_int_equal(trash_put(lock_of(desk->deck.store, other->base), NULL), 0);
	assert_int_equal(conversation_reclaim(&desk->deck, instance, NULL), 0);
	assert_string_equal(instance->conversation.session_id, THEIRS);
}

/* The other one, with this id and the next, in the trash of this profile. */
static void discard_other(struct desk *desk, struct store *store, const char *first,
			  const char *second)
{
	cleanup_instance struct instance *other = other_one(desk, first);
	if (second)
		conversation_set_id(&other->conversation, second, ORIGIN_REPORTED, 2);
	put_instance(store, other);
	assert_int_equal(trash_put(lock_of(store, other->base), NULL), 0);
}

static void what_a_removed_instance_has_is_not_taken(void **state)
{
	struct desk *desk = *state;
	discard_other(desk, desk->deck.store, THEIRS, NULL);
	expect_loose(desk);
}

static void what_a_removed_instance_had_before_is_not_taken(void **state)
{
	struct desk *desk = *state;
	discard_other(desk, desk->deck.store, THEIRS, MINE);
	expect_loose(desk);
}

static void what_a_removed_instance_of_another_profile_has_is_not_taken(void **state)
{
	struct desk *desk = *state;
	cleanup_store struct store *store = NULL;
	assert_int_equal(store_open(desk->root, "second", &store, NULL), 0);
	discard_other(desk, store, THEIRS, NULL);
	expect_loose(desk);
}

static void what_a_removed_instance_has_can_be_adopted(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	strvec_push(&instance->argv, "--resume");
	strvec_push(&instance->argv, THEIRS);
	discard_other(desk, desk->deck.store, THEIRS, NULL);
	write_transcript(desk, desk->home, THEIRS, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, THEIRS);
	assert_int_equal(instance->conversation.origin, ORIGIN_ADOPTED);
}

static void what_the_instance_itself_gave_up_is_not_taken_again(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	strvec_push(&instance->conversation.previous, THEIRS);
	write_transcript(desk, desk->home, LOOSE, true);
	write_transcript(desk, desk->home, THEIRS, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, LOOSE);
}

/* --- an id that nobody ever used -------------------------------------------------------------- */

static struct instance *used_wrapper(struct desk *desk, const char *program)
{
	struct instance *instance = new_one(desk, "0123abcd", MINE);
	strvec_clear(&instance->argv);
	strvec_push(&instance->argv, program);
	instance->last_used_at = 1;
	write_transcript(desk, desk->home, LOOSE, true);
	return instance;
}

static void a_wrapper_that_dropped_the_id_gets_what_it_wrote(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = used_wrapper(desk, "/opt/my-wrapper");
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, LOOSE);
	assert_string_equal(instance->conversation.previous.items[0], MINE);
}

static void a_wrapper_whose_agent_reported_the_id_keeps_it(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = used_wrapper(desk, "/opt/my-wrapper");
	/* As the report of a start leaves it, before the agent writes the first turn. */
	instance->conversation.transcript_path = xasprintf("%s/projects/x/" MINE ".jsonl",
							   desk->home);
	settle(desk, instance, TRANSCRIPT_ABSENT);
	assert_string_equal(instance->conversation.session_id, MINE);
}

static void the_agents_own_program_keeps_its_id(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *plain = used_wrapper(desk, "/usr/bin/claude");
	settle(desk, plain, TRANSCRIPT_ABSENT);
	assert_string_equal(plain->conversation.session_id, MINE);
	cleanup_instance struct instance *env = used_wrapper(desk, "env");
	strvec_push(&env->argv, "A=1");
	strvec_push(&env->argv, "claude");
	settle(desk, env, TRANSCRIPT_ABSENT);
	assert_string_equal(env->conversation.session_id, MINE);
}

static void an_id_with_a_turn_or_before_its_first_start_is_never_unused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *turn = used_wrapper(desk, "/opt/my-wrapper");
	turn->conversation.first_turn_seen = true;
	settle(desk, turn, TRANSCRIPT_ABSENT);
	assert_string_equal(turn->conversation.session_id, MINE);
	cleanup_instance struct instance *first = used_wrapper(desk, "/opt/my-wrapper");
	first->last_used_at = 0;
	settle(desk, first, TRANSCRIPT_ABSENT);
	assert_string_equal(first->conversation.session_id, MINE);
}

/* --- a run that ended without a word ---------------------------------------------------------- */

static struct instance *interrupted(struct desk *desk, enum rung rung)
{
	struct instance *instance = new_one(desk, "0123abcd", MINE);
	struct attempt attempt = { .rung = rung, .session_id = (char *)LOOSE };
	run_add_attempt(&instance->run, &attempt);
	instance->last_used_at = 1;
	write_transcript(desk, desk->home, MINE, true);
	return instance;
}

static void a_fresh_id_counts_once_something_was_said_under_it(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = interrupted(desk, RUNG_FRESH);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, MINE);
	write_transcript(desk, desk->home, LOOSE, true);
	settle(desk, instance, TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.session_id, LOOSE);
	assert_string_equal(instance->conversation.previous.items[0], MINE);
}

static void a_fresh_id_counts_where_nothing_will_ever_tell(void **state)
{
	struct desk *desk = *state;
	const struct agent *mute, *reporting = desk->claude;
	assert_int_equal(deck_agent(&desk->deck, "gemini", &mute, NULL), 0);
	assert_null(mute->transcript);
	assert_int_equal(mute->report.count + mute->report_environment.count, 0);
	static const enum rung rungs[] = { RUNG_FRESH, RUNG_RESUME, RUNG_SHELL };
	for (size_t i = 0; i < ARRAY_SIZE(rungs); i++) {
		cleanup_instance struct instance *instance = interrupted(desk, rungs[i]);
		desk->claude = mute;
		settle(desk, instance, TRANSCRIPT_UNKNOWN);
		desk->claude = reporting;
		assert_string_equal(instance->conversation.session_id, i == 0 ? LOOSE : MINE);
		assert_int_equal(instance->conversation.previous.count, i == 0);
	}
}

static void a_commit_takes_only_a_fresh_id(void **state)
{
	struct desk *desk = *state;
	static const enum rung others[] = { RUNG_RESUME, RUNG_ASSIGN, RUNG_LAUNCH, RUNG_SHELL };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup_instance struct instance *instance = interrupted(desk, others[i]);
		conversation_commit(instance);
		assert_string_equal(instance->conversation.session_id, MINE);
	}
	cleanup_instance struct instance *none = new_one(desk, "0123abcd", MINE);
	conversation_commit(none);
	assert_string_equal(none->conversation.session_id, MINE);
}

/* Otherwise the last words of the next run would count as older than a report that was never made
 * in it. */
static void no_run_begins_before_what_was_learned_earlier(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	instance->conversation.captured_at = clock_wall_us() + INT64_C(86400000000);
	assert_int_equal(conversation_foretell(&desk->deck, instance, desk->claude, NULL), 0);
	assert_true(instance->conversation.captured_at <= clock_wall_us());
}

/* --- two on one conversation ------------------------------------------------------------------ */

/* A present run of the other instance, judging by its server's process: that is this process. */
static void bring_to_life(struct instance *other)
{
	other->run.socket = xstrdup("/nowhere/tmux.sock");
	other->run.boot_id = xstrdup(process_boot_id());
	assert_int_equal(process_identify(getpid(), &other->run.server, NULL), 0);
	other->observed.state = STATE_RUNNING;
	other->observed.boot_id = xstrdup(process_boot_id());
}

static int claim(struct desk *desk, const char *session_id, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", session_id);
	return conversation_claim(&desk->deck, instance, desk->claude, &lock, err);
}

static void expect_refusal(struct desk *desk)
{
	cleanup_error struct error err = { 0 };
	assert_int_equal(claim(desk, THEIRS, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	assert_non_null(strstr(err.message, "0000zzzz"));
}

static void a_conversation_that_is_open_is_refused_naming_its_holder(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	bring_to_life(other);
	put_instance(desk->deck.store, other);
	expect_refusal(desk);
	assert_int_equal(claim(desk, MINE, NULL), 0);
	assert_int_equal(claim(desk, NULL, NULL), 0);
}

/* A command of this machine does not reach it. */
static void one_on_another_machine_is_to_be_stopped_there(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error here = { 0 }, there = { 0 };
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	bring_to_life(other);
	put_instance(desk->deck.store, other);
	assert_int_equal(claim(desk, THEIRS, &here), -1);
	assert_non_null(strstr(here.message, "agentdeck stop "));
	replace_string(&other->run.boot_id, "11111111-2222-4333-8444-555555555555");
	replace_string(&other->run.machine_id, "11111111-0000-4000-8000-000000000000");
	replace_string(&other->run.host, "moon");
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, other->base);
	assert_int_equal(store_save(lock, other, NULL), 0);
	assert_int_equal(claim(desk, THEIRS, &there), -1);
	assert_int_equal(there.code, ERROR_EXISTS);
	assert_non_null(strstr(there.message, " on moon: "));
	assert_non_null(strstr(there.message, "stop it there first"));
	assert_null(strstr(there.message, "agentdeck attach"));
	assert_non_null(strstr(there.message, "if it no longer runs there: agentdeck stop "
					      "--take-over"));
}

static void a_conversation_that_is_open_in_another_profile_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_store struct store *store = NULL;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	assert_int_equal(store_open(desk->root, "second", &store, NULL), 0);
	bring_to_life(other);
	put_instance(store, other);
	expect_refusal(desk);
}

static void a_conversation_that_is_being_opened_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	bring_to_life(other);
	other->observed.state = STATE_STARTING;
	other->run.server.pid = 0;
	put_instance(desk->deck.store, other);
	expect_refusal(desk);
}

static void who_does_not_hold_it_is_no_reason_to_refuse(void **state)
{
	struct desk *desk = *state;
	static const char *const kinds[] = { "stopped",
					     "dead",
					     "other boot",
					     "other home",
					     "other agent",
					     "interrupted boot",
					     "a shell in its place" };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_free char *id = xasprintf("000000a%zu", i);
		cleanup_instance struct instance *other = new_one(desk, id, THEIRS);
		struct attempt shell = { .rung = RUNG_SHELL };
		bring_to_life(other);
		if (i == 0) {
			run_clear(&other->run);
			other->observed.state = STATE_STOPPED;
		} else if (i == 1) {
			other->run.server.start++;
		} else if (i == 2 || i == 5) {
			replace_string(&other->run.boot_id, "another");
			replace_string(&other->observed.boot_id, "another");
			other->observed.state = i == 2 ? STATE_RUNNING : STATE_STARTING;
		} else if (i == 3) {
			replace_string(&other->conversation.config_home, "/elsewhere");
		} else if (i == 4) {
			replace_string(&other->agent, "demo");
		} else {
			run_add_attempt(&other->run, &shell);
		}
		put_instance(desk->deck.store, other);
		if (claim(desk, THEIRS, &err) != 0)
			fail_msg("%s: %s", kinds[i], err.message);
	}
}

static void a_claim_excludes_others_until_it_is_given_up(void **state)
{
	struct desk *desk = *state;
	struct fs_lock lock = FS_UNLOCKED, second = FS_UNLOCKED;
	int root = store_state_directory(desk->deck.store);
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	assert_int_equal(conversation_claim(&desk->deck, instance, desk->claude, &lock, NULL), 0);
	assert_int_equal(fs_lock(root, "conversations.lock", 0, &second, NULL), FS_LOCK_BUSY);
	fs_unlock(&lock);
	assert_int_equal(fs_lock(root, "conversations.lock", 0, &second, NULL), 0);
	fs_unlock(&second);
}

/* --- a look ----------------------------------------------------------------------------------- */

/* Foretell while another one holds the lock.  Nothing has been logged since the beginning. */
static void foretell(struct desk *desk, struct instance *instance, const char *session_id)
{
	cleanup_error struct error err = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strbuf struct strbuf log = { 0 };
	cleanup_free char *path = path_join(desk->root, "logs/agentdeck.log");
	assert_int_equal(fs_lock(store_state_directory(desk->deck.store), "conversations.lock", 0,
				 &lock, NULL),
			 0);
	if (conversation_foretell(&desk->deck, instance, desk->claude, &err) != 0)
		fail_msg("%s", err.message);
	assert_string_equal(instance->conversation.session_id, session_id);
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &log, NULL), 0);
	assert_string_equal(strbuf_text(&log), "");
}

static void a_look_at_what_would_be_found_takes_no_lock_and_logs_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *found = new_one(desk, "0123abcd", NULL);
	cleanup_instance struct instance *ended = interrupted(desk, RUNG_FRESH);
	cleanup_instance struct instance *released = new_one(desk, "0123abcf", MINE);
	write_transcript(desk, desk->home, LOOSE, true);
	foretell(desk, found, LOOSE);
	foretell(desk, ended, LOOSE);
	released->conversation.shared = (struct shared_conversation){
		.session_id = xstrdup(THEIRS),
		.owner = xstrdup("0000yyyy"),
		.title = xstrdup("gone"),
		.since = 1000,
	};
	foretell(desk, released, THEIRS);
}

static void a_look_at_a_conversation_that_has_moved_logs_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_close int fd = -1;
	cleanup_free char *elsewhere = path_join(desk->root, "elsewhere");
	cleanup_free char *slug = transcript_slug(elsewhere);
	cleanup_free char *folder = xasprintf("%s/projects/%s", desk->home, slug);
	cleanup_free char *text = xasprintf(
		"{\"type\":\"user\",\"cwd\":\"%s\",\"message\":{\"content\":\"x\"}}\n"
		"{\"type\":\"relocated\",\"relocatedCwd\":\"%s\"}\n",
		desk->cwd, elsewhere);
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	assert_int_equal(mkdir(elsewhere, 0700), 0);
	assert_int_equal(fs_open_private_directory(folder, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, MINE ".jsonl", text, strlen(text), FS_VOLATILE, NULL), 0);
	foretell(desk, instance, MINE);
	assert_string_equal(instance_launch_directory(instance), elsewhere);
}

static void a_look_at_a_conversation_that_another_one_picked_only_warns(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, THEIRS);
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	bring_to_life(other);
	other->conversation.shared = (struct shared_conversation){
		.session_id = xstrdup(MINE),
		.owner = xstrdup("0123abcd"),
		.title = xstrdup("mine"),
		.since = 1000,
	};
	put_instance(desk->deck.store, other);
	foretell(desk, instance, MINE);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], "0000zzzz"));
}

/* --- the plan --------------------------------------------------------------------------------- */

static int plan(struct desk *desk, struct instance *instance, enum transcript_fact fact,
		enum plan_purpose purpose)
{
	const struct planning planning = {
		.deck = &desk->deck,
		.instance = instance,
		.agent = desk->claude,
		.fact = fact,
		.purpose = purpose,
	};
	return conversation_plan(&planning, NULL);
}

static void a_plan_mints_an_id_where_there_is_none_and_keeps_the_resume_command(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	instance->run.directory = path_join(desk->root, "run/0123abcd");
	strvec_push(&instance->argv, "--verbose");
	strvec_push(&instance->argv, "a prompt");
	assert_int_equal(plan(desk, instance, TRANSCRIPT_ABSENT, PLAN_RESUME), 0);
	const char *id = instance->conversation.session_id;
	assert_non_null(id);
	assert_int_equal(instance->conversation.origin, ORIGIN_MINTED);
	assert_string_equal(run_attempt(&instance->run)->session_id, id);
	assert_int_equal(instance->resume_argv.count, 4);
	assert_string_equal(instance->resume_argv.items[1], "--verbose");
	assert_string_equal(instance->resume_argv.items[3], id);
}

static void a_policy_of_never_leaves_the_conversation_alone_and_keeps_its_id(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	instance->run.directory = path_join(desk->root, "run/0123abcd");
	instance->resume_policy = POLICY_NEVER;
	instance->last_used_at = 1;
	assert_int_equal(plan(desk, instance, TRANSCRIPT_TURNS, PLAN_RESUME), 0);
	assert_int_equal(run_attempt(&instance->run)->rung, RUNG_FRESH);
	assert_string_equal(instance->conversation.session_id, MINE);
}

static void a_conversation_that_is_set_aside_is_named_until_another_one_is_used(void **state)
{
	static const struct {
		bool off;
		enum plan_purpose purpose;
		enum transcript_fact fact;
		bool stores, names; /* is it stored afterwards, and named in the note? */
	} steps[] = {
		{ true, PLAN_RESUME, TRANSCRIPT_TURNS, true, true },
		{ true, PLAN_RESUME, TRANSCRIPT_ABSENT, true, true },
		{ false, PLAN_RESUME, TRANSCRIPT_EMPTY, true, true },
		{ false, PLAN_RESUME, TRANSCRIPT_TURNS, false, false },
		{ true, PLAN_RESUME, TRANSCRIPT_TURNS, true, true },
		{ false, PLAN_FRESH, TRANSCRIPT_ABSENT, false, false },
		/* Nothing shows what was said. */
		{ true, PLAN_RESUME, TRANSCRIPT_UNKNOWN, true, true },
		{ true, PLAN_RESUME, TRANSCRIPT_UNKNOWN, true, true },
		{ false, PLAN_RESUME, TRANSCRIPT_UNKNOWN, false, true },
		{ false, PLAN_RESUME, TRANSCRIPT_UNKNOWN, false, false },
	};
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
	struct conversation *conversation = &instance->conversation;
	instance->last_used_at = 1;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		run_clear(&instance->run);
		instance->run.directory = path_join(desk->root, "run/0123abcd");
		desk->deck.settings.resume_agents = !steps[i].off;
		assert_int_equal(plan(desk, instance, steps[i].fact, steps[i].purpose), 0);
		if ((conversation->set_aside != NULL) != steps[i].stores)
			fail_msg("step %zu: %s", i, or_empty(conversation->set_aside));
		const char *note = or_empty(instance->run.history_note);
		if (!!strstr(note, "conversation " MINE " is kept") != steps[i].names)
			fail_msg("step %zu: %s", i, note);
		/* The one that was begun instead. */
		if (steps[i].names && steps[i].off)
			conversation_set_id(conversation, THEIRS, ORIGIN_MINTED, 1000);
		if (!steps[i].stores)
			conversation_set_id(conversation, MINE, ORIGIN_ADOPTED, 1000);
	}
}

/* The most specific policy counts: the instance's, the agent's, the general one. */
static void under_confirm_the_pane_asks_where_there_is_something_to_come_back_to(void **state)
{
	struct desk *desk = *state;
	struct settings *settings = &desk->deck.settings;
	static const struct {
		enum resume_policy own, general;
		const char *agents;
		bool first, wish, asks;
	} table[] = {
		{ POLICY_DEFAULT, POLICY_CONFIRM, NULL, false, true, true },
		{ POLICY_DEFAULT, POLICY_AUTO, "confirm", false, true, true },
		{ POLICY_DEFAULT, POLICY_CONFIRM, "auto", false, true, false },
		{ POLICY_CONFIRM, POLICY_NEVER, "auto", false, true, true },
		{ POLICY_AUTO, POLICY_CONFIRM, "confirm", false, true, false },
		{ POLICY_CONFIRM, POLICY_AUTO, NULL, true, true, false },
		{ POLICY_CONFIRM, POLICY_AUTO, NULL, false, false, false },
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_instance struct instance *instance = new_one(desk, "0123abcd", MINE);
		instance->run.directory = path_join(desk->root, "run/0123abcd");
		instance->last_used_at = !table[i].first;
		instance->resume_policy = table[i].own;
		settings->resume = table[i].general;
		strvec_clear(&settings->resume_by_agent);
		if (table[i].agents) {
			strvec_push(&settings->resume_by_agent, instance->agent);
			strvec_push(&settings->resume_by_agent, table[i].agents);
		}
		assert_int_equal(plan(desk, instance,
				      table[i].first ? TRANSCRIPT_ABSENT : TRANSCRIPT_TURNS,
				      table[i].wish ? PLAN_RESUME : PLAN_FRESH),
				 0);
		if (instance->run.offer != table[i].asks)
			fail_msg("row %zu: it %s", i,
				 instance->run.offer ? "asks" : "does not ask");
	}
}

/* How an agent that only finds the latest conversation of a directory is started there. */
static enum reason reason_in_the_directory(struct desk *desk)
{
	struct agent agent = *desk->shell;
	agent.continue_latest = (struct strvec){ 0 };
	agent.continue_scope = ID_SCOPE_CWD;
	strvec_push(&agent.continue_latest, "--continue");
	cleanup_instance struct instance *instance = new_one(desk, "0123abcd", NULL);
	instance->run.directory = path_join(desk->root, "run/0123abcd");
	instance->last_used_at = 1;
	const struct planning planning = {
		.deck = &desk->deck,
		.instance = instance,
		.agent = &agent,
		.fact = TRANSCRIPT_UNKNOWN,
		.purpose = PLAN_RESUME,
	};
	const int r = conversation_plan(&planning, NULL);
	strvec_clear(&agent.continue_latest);
	assert_int_equal(r, 0);
	return run_attempt(&instance->run)->reason;
}

static void expect_latest(struct desk *desk, enum reason reason)
{
	assert_int_equal(reason_in_the_directory(desk), reason);
}

static void the_latest_of_a_directory_is_not_a_neighbours(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = other_one(desk, NULL);
	expect_latest(desk, REASON_DIRECTORY_OF_ITS_OWN);
	put_instance(desk->deck.store, other);
	expect_latest(desk, REASON_DIRECTORY_SHARED);
}

static void the_latest_of_a_directory_is_not_a_removed_neighbours(void **state)
{
	struct desk *desk = *state;
	cleanup_trash struct trash trash = { 0 };
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	discard_other(desk, desk->deck.store, THEIRS, NULL);
	expect_latest(desk, REASON_DIRECTORY_SHARED);
	assert_int_equal(trash_list(desk->deck.store, &trash, NULL), 0);
	assert_int_equal(store_lock_profile(desk->deck.store, 0, &lock, NULL), 0);
	assert_int_equal(trash_delete(lock, &trash.items[0], NULL), 0);
	expect_latest(desk, REASON_DIRECTORY_OF_ITS_OWN);
}

static void the_latest_of_a_directory_is_not_one_of_another_profiles_trash(void **state)
{
	struct desk *desk = *state;
	cleanup_store struct store *store = NULL;
	assert_int_equal(store_open(desk->root, "second", &store, NULL), 0);
	discard_other(desk, store, THEIRS, NULL);
	expect_latest(desk, REASON_DIRECTORY_SHARED);
}

static void who_was_removed_elsewhere_or_had_another_agent_shares_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *elsewhere = new_one(desk, "0000aaaa", NULL);
	cleanup_instance struct instance *demo = new_one(desk, "0000bbbb", NULL);
	replace_string(&elsewhere->cwd, desk->root);
	replace_string(&demo->agent, "demo");
	put_instance(desk->deck.store, elsewhere);
	put_instance(desk->deck.store, demo);
	assert_int_equal(trash_put(lock_of(desk->deck.store, elsewhere->base), NULL), 0);
	assert_int_equal(trash_put(lock_of(desk->deck.store, demo->base), NULL), 0);
	expect_latest(desk, REASON_DIRECTORY_OF_ITS_OWN);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stored_id_is_kept_whatever_lies_on_disk),
		TEST(a_transcript_is_absent_empty_or_has_turns),
		TEST(a_transcript_of_another_home_is_another_conversation),
		TEST(an_id_in_the_arguments_is_adopted_when_none_is_stored),
		TEST(the_newest_conversation_that_nobody_owns_is_discovered),
		TEST(what_another_instance_has_is_not_taken),
		TEST(what_another_instance_had_before_is_not_taken),
		TEST(what_another_instances_run_was_given_is_not_taken),
		TEST(what_an_instance_of_another_profile_has_is_not_taken),
		TEST(what_its_unreadable_owner_may_have_stays_shared),
		TEST(beside_a_session_that_cannot_be_read_nothing_is_taken),
		TEST(what_a_removed_instance_has_is_not_taken),
		TEST(what_a_removed_instance_had_before_is_not_taken),
		TEST(what_a_removed_instance_of_another_profile_has_is_not_taken),
		TEST(what_a_removed_instance_has_can_be_adopted),
		TEST(what_the_instance_itself_gave_up_is_not_taken_again),
		TEST(a_wrapper_that_dropped_the_id_gets_what_it_wrote),
		TEST(a_wrapper_whose_agent_reported_the_id_keeps_it),
		TEST(the_agents_own_program_keeps_its_id),
		TEST(an_id_with_a_turn_or_before_its_first_start_is_never_unused),
		TEST(a_fresh_id_counts_once_something_was_said_under_it),
		TEST(a_fresh_id_counts_where_nothing_will_ever_tell),
		TEST(a_commit_takes_only_a_fresh_id),
		TEST(no_run_begins_before_what_was_learned_earlier),
		TEST(a_conversation_that_is_open_is_refused_naming_its_holder),
		TEST(one_on_another_machine_is_to_be_stopped_there),
		TEST(a_conversation_that_is_open_in_another_profile_is_refused),
		TEST(a_conversation_that_is_being_opened_is_refused),
		TEST(who_does_not_hold_it_is_no_reason_to_refuse),
		TEST(a_claim_excludes_others_until_it_is_given_up),
		TEST(a_look_at_what_would_be_found_takes_no_lock_and_logs_nothing),
		TEST(a_look_at_a_conversation_that_has_moved_logs_nothing),
		TEST(a_look_at_a_conversation_that_another_one_picked_only_warns),
		TEST(a_plan_mints_an_id_where_there_is_none_and_keeps_the_resume_command),
		TEST(a_conversation_that_is_set_aside_is_named_until_another_one_is_used),
		TEST(under_confirm_the_pane_asks_where_there_is_something_to_come_back_to),
		TEST(the_latest_of_a_directory_is_not_a_neighbours),
		TEST(the_latest_of_a_directory_is_not_a_removed_neighbours),
		TEST(the_latest_of_a_directory_is_not_one_of_another_profiles_trash),
		TEST(who_was_removed_elsewhere_or_had_another_agent_shares_nothing),
		TEST(a_policy_of_never_leaves_the_conversation_alone_and_keeps_its_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
