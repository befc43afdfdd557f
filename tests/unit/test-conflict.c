/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who has the conversation of a session that is to be started.
 */
#include "unit/fake-place.h"

#include "engine/conversation/owner.h"
#include "engine/run/conflict.h"
#include "engine/run/lifecycle-internal.h"
#include "model/plan/restart.h"
#include "unit/files.h"

#include <sys/stat.h>

#define CONVERSATION "11111111-1111-4111-8111-111111111111"
#define OTHER_ID     "0000zzzz"

static void give_home(struct fake_desk *desk, struct instance *instance)
{
	const struct agent *agent;
	assert_int_equal(deck_agent(&desk->deck, instance->agent, &agent, NULL), 0);
	free(instance->conversation.config_home);
	instance->conversation.config_home = deck_config_home(&desk->deck, agent);
}

/* It has said something in its conversation. */
static struct instance *used_one(struct fake_desk *desk)
{
	struct instance *instance = fake_instance(desk);
	give_home(desk, instance);
	conversation_set_id(&instance->conversation, CONVERSATION, ORIGIN_ADOPTED, 1000);
	instance->last_used_at = 1000;
	instance->conversation.first_turn_seen = true;
	return instance;
}

/* Another session runs.  This process is its server. */
static struct instance *other_one(struct fake_desk *desk)
{
	struct instance *other = fake_running(desk);
	replace_string(&other->id, OTHER_ID);
	replace_string(&other->base, OTHER_ID);
	replace_string(&other->title, "web");
	free(other->run.directory);
	other->run.directory = path_join(desk->deck.paths.runtime, OTHER_ID);
	free(other->run.socket);
	other->run.socket = path_join(other->run.directory, "tmux.sock");
	give_home(desk, other);
	return other;
}

/* It is there already, and has changed. */
static void put_again(const struct fake_desk *desk, const struct instance *instance)
{
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, instance->base);
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

static void look(struct fake_desk *desk, enum start_kind kind, enum start_wish wish,
		 struct conflict *ret)
{
	cleanup_error struct error err = { 0 };
	const struct lifecycle_order order = { .kind = kind, .wish = wish };
	if (conflict_look(&desk->deck, FAKE_ID, &order, ret, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	assert_int_equal(ret->digest != NULL, ret->kind != CONFLICT_NONE);
}

static enum conflict_kind kind_of(struct fake_desk *desk, enum start_kind kind,
				  enum start_wish wish)
{
	cleanup_conflict struct conflict conflict = { 0 };
	look(desk, kind, wish, &conflict);
	return conflict.kind;
}

static void nobody_has_it(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = used_one(desk);
	fake_put(desk, instance);
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_RESUME), CONFLICT_NONE);
}

static void another_session_has_it(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_conflict struct conflict before = { 0 }, after = { 0 };
	cleanup_instance struct instance *instance = used_one(desk);
	cleanup_instance struct instance *other = other_one(desk);
	conversation_set_id(&other->conversation, CONVERSATION, ORIGIN_ADOPTED, 1000);
	fake_put(desk, instance);
	fake_put(desk, other);
	fake.presence = PRESENCE_ALIVE;
	look(desk, START_UNLESS_RUNNING, START_RESUME, &before);
	assert_int_equal(before.kind, CONFLICT_SESSION);
	assert_int_equal(before.holder.holding, HOLDING_OPEN);
	assert_string_equal(before.holder.id, OTHER_ID);
	assert_string_equal(before.holder.title, "web");
	assert_ptr_equal(before.holder.profile, NULL);
	assert_ptr_equal(before.holder.host, NULL);
	assert_string_equal(before.session_id, CONVERSATION);
	/* A new conversation is claimed like the old one. */
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_FRESH), CONFLICT_SESSION);
	assert_int_equal(kind_of(desk, START_AFTER_STOP, START_RESUME), CONFLICT_SESSION);
	/* Another run of it was not shown. */
	other->run.pane.start++;
	put_again(desk, other);
	look(desk, START_UNLESS_RUNNING, START_RESUME, &after);
	assert_int_equal(after.kind, CONFLICT_SESSION);
	assert_string_not_equal(after.digest, before.digest);
	fake.presence = PRESENCE_NONE;
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_RESUME), CONFLICT_NONE);
	fake_assert_steps("");
}

/* Its user went there inside the agent.  A start only warns. */
static void another_session_has_picked_it(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_conflict struct conflict conflict = { 0 };
	cleanup_instance struct instance *instance = used_one(desk);
	cleanup_instance struct instance *other = other_one(desk);
	other->conversation.shared = (struct shared_conversation){
		.session_id = xstrdup(CONVERSATION),
		.owner = xstrdup(FAKE_ID),
		.title = xstrdup("deck"),
		.since = 1000,
	};
	fake_put(desk, instance);
	fake_put(desk, other);
	fake.presence = PRESENCE_ALIVE;
	look(desk, START_UNLESS_RUNNING, START_RESUME, &conflict);
	assert_int_equal(conflict.kind, CONFLICT_SESSION);
	assert_int_equal(conflict.holder.holding, HOLDING_PICKED);
	assert_int_equal(desk->deck.warnings.count, 0);
}

static void a_process_of_its_user_has_it(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_conflict struct conflict after = { 0 };
	struct process_id self;
	cleanup_conflict struct conflict conflict = { 0 };
	cleanup_instance struct instance *instance = used_one(desk);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	taken_set(&instance->taken, &self, 1, CONVERSATION);
	fake_put(desk, instance);
	look(desk, START_UNLESS_RUNNING, START_RESUME, &conflict);
	assert_int_equal(conflict.kind, CONFLICT_PROCESS);
	assert_int_equal(conflict.process.pid, getpid());
	/* It may begin another one. */
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_FRESH), CONFLICT_NONE);
	replace_string(&instance->taken.boot_id, "11111111-2222-4333-8444-555555555555");
	replace_string(&instance->taken.machine_id, "11111111-0000-4000-8000-000000000000");
	put_again(desk, instance);
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_RESUME), CONFLICT_MACHINE);
	assert_int_equal(conflict_look(&desk->deck, FAKE_ID,
				       &(struct lifecycle_order){ .takes_over = true }, &after,
				       NULL),
			 0);
	assert_int_equal(after.kind, CONFLICT_NONE);
}

/* A look waits for no lock: a start that holds it may take long. */
static void a_look_takes_no_lock(void **state)
{
	struct fake_desk *desk = *state;
	struct process_id self;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_conflict struct conflict conflict = { 0 };
	cleanup_instance struct instance *instance = used_one(desk);
	/* Its user had picked this one, which nobody owns any more, so a start would go on with it.
	 */
	conversation_set_id(&instance->conversation, "22222222-2222-4222-8222-222222222222",
			    ORIGIN_ADOPTED, 1000);
	instance->conversation.shared = (struct shared_conversation){
		.session_id = xstrdup(CONVERSATION),
		.owner = xstrdup("0000yyyy"),
		.title = xstrdup("gone"),
		.since = 1000,
	};
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	taken_set(&instance->taken, &self, 1, CONVERSATION);
	fake_put(desk, instance);
	assert_int_equal(owner_lock(&desk->deck, &lock, NULL), 0);
	look(desk, START_UNLESS_RUNNING, START_RESUME, &conflict);
	assert_int_equal(conflict.kind, CONFLICT_PROCESS);
	assert_string_equal(conflict.session_id, CONVERSATION);
}

/* The note of its agent that it has the conversation open, as claude writes it. */
static void write_note(const struct instance *instance, const struct process_id *process)
{
	const char *home = instance->conversation.config_home;
	cleanup_free char *directory = path_join(home, "sessions");
	cleanup_free char *path = path_join(directory, "7.json");
	cleanup_free char *text = xasprintf(
		"{\"pid\":%d,\"procStart\":\"%llu\",\"sessionId\":\"%s\"}", (int)process->pid,
		(unsigned long long)process->start, CONVERSATION);
	(void)mkdir(home, 0700);
	(void)mkdir(directory, 0700);
	write_path(path, text, strlen(text));
}

/* Its environment need not name the session. */
static void its_own_agent_is_not_outside(void **state)
{
	struct fake_desk *desk = *state;
	struct process_id self, parent, none = { 0 };
	cleanup_instance struct instance *instance = fake_running(desk);
	give_home(desk, instance);
	conversation_set_id(&instance->conversation, CONVERSATION, ORIGIN_ADOPTED, 1000);
	instance->conversation.first_turn_seen = true;
	instance->last_used_at = 1000;
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	assert_int_equal(process_identify(getppid(), &parent, NULL), 0);
	write_note(instance, &self);
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	const struct process_id runs[][3] = {
		{ self, none, none },   { none, self, none }, { none, none, self },
		{ parent, none, none }, { none, none, none },
	};
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		const bool is_own = i + 1 < ARRAY_SIZE(runs);
		instance->run.server = runs[i][0];
		instance->run.pane = runs[i][1];
		instance->run.reporter = runs[i][2];
		put_again(desk, instance);
		assert_int_equal(kind_of(desk, START_AFTER_STOP, START_RESUME),
				 is_own ? CONFLICT_NONE : CONFLICT_PROCESS);
	}
	/* The pid of its pane is another process' by now. */
	instance->run.pane = (struct process_id){ self.pid, self.start + 1 };
	put_again(desk, instance);
	assert_int_equal(kind_of(desk, START_AFTER_STOP, START_RESUME), CONFLICT_PROCESS);
}

static void its_background_has_it(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_conflict struct conflict conflict = { 0 };
	cleanup_instance struct instance *instance = used_one(desk);
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_ERROR;
	replace_string(&instance->observed.boot_id, process_boot_id());
	restart_hold(instance, HOLD_BACKGROUND, "backgrounded");
	fake_put(desk, instance);
	fake.survivors = "1 process is still in its scope";
	look(desk, START_UNLESS_RUNNING, START_RESUME, &conflict);
	assert_int_equal(conflict.kind, CONFLICT_BACKGROUND);
	assert_string_equal(conflict.background, "1 process is still in its scope");
	assert_int_equal(kind_of(desk, START_AFTER_STOP, START_RESUME), CONFLICT_NONE);
}

/* Nothing is asked where a start does nothing, or says what else is wrong. */
static void what_does_not_start_is_not_asked_about(void **state)
{
	struct fake_desk *desk = *state;
	struct process_id self;
	cleanup_instance struct instance *instance = used_one(desk);
	assert_int_equal(process_identify(getpid(), &self, NULL), 0);
	taken_set(&instance->taken, &self, 1, CONVERSATION);
	fake_put(desk, instance);
	fake.fails = FAKE_PATH;
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_RESUME), CONFLICT_NONE);
	fake.fails = FAKE_NONE;
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_RESUME), CONFLICT_PROCESS);
	cleanup_instance struct instance *running = fake_running(desk);
	conversation_set_id(&running->conversation, CONVERSATION, ORIGIN_ADOPTED, 1000);
	taken_set(&running->taken, &self, 1, CONVERSATION);
	put_again(desk, running);
	fake.presence = PRESENCE_ALIVE;
	assert_int_equal(kind_of(desk, START_UNLESS_RUNNING, START_RESUME), CONFLICT_NONE);
	assert_int_equal(kind_of(desk, START_AFTER_STOP, START_RESUME), CONFLICT_PROCESS);
	fake_assert_steps("");
}

static void a_copy_is_offered_where_it_can_be_made(void **state)
{
	struct fake_desk *desk = *state;
	const struct agent *agent;
	cleanup_instance struct instance *instance = used_one(desk);
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	assert_int_equal(lifecycle_check_fork(instance, agent, NULL), 0);
	instance->conversation.first_turn_seen = false;
	instance->conversation.origin = ORIGIN_MINTED;
	assert_int_equal(lifecycle_check_fork(instance, agent, NULL), -1);
	replace_string(&instance->conversation.session_id, NULL);
	assert_int_equal(lifecycle_check_fork(instance, agent, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(nobody_has_it),
		FAKE_TEST(another_session_has_it),
		FAKE_TEST(another_session_has_picked_it),
		FAKE_TEST(a_process_of_its_user_has_it),
		FAKE_TEST(a_look_takes_no_lock),
		FAKE_TEST(its_own_agent_is_not_outside),
		FAKE_TEST(its_background_has_it),
		FAKE_TEST(what_does_not_start_is_not_asked_about),
		FAKE_TEST(a_copy_is_offered_where_it_can_be_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
