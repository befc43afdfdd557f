/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who owns a conversation, and what happens when the agent of another session goes there.
 */
#include "unit/report-fixture.h"

#include "engine/conversation/conversation.h"
#include "engine/conversation/owner.h"
#include "engine/roster/view.h"
#include "engine/run/add.h"
#include "engine/run/change.h"

#include <ctype.h>

#define OWNER "0000zzzz"

#define EVENT(event, id, more) \
	"{\"hook_event_name\":\"" event "\",\"session_id\":\"" id "\"" more "}"
#define START(id, source) EVENT("SessionStart", id, ",\"source\":\"" source "\"")

static const struct agent *claude(struct desk *desk)
{
	const struct agent *agent = NULL;
	assert_int_equal(deck_agent(&desk->deck, "claude", &agent, NULL), 0);
	return agent;
}

static void take(struct desk *desk, const char *text)
{
	struct error err = { 0 };
	if (report_text(&desk->deck, ID, &(struct sender){ .token = desk->token }, text,
			strlen(text), &err) != 0)
		fail_msg("%s: %s", text, or_empty(err.message));
}

/* A session in OLD, whose agent has reported. */
static void begin(struct desk *desk)
{
	const struct attempt attempt = { .rung = RUNG_ASSIGN, .session_id = (char *)OLD };
	desk_run(desk, claude(desk), OLD, &attempt, 1);
	take(desk, START(OLD, "startup"));
}

static struct instance *make_owner(const char *session_id)
{
	struct instance *owner = new_instance(OWNER, "owner");
	conversation_set_id(&owner->conversation, session_id, ORIGIN_MINTED, 1);
	return owner;
}

static void put_owner(struct desk *desk, const char *session_id)
{
	cleanup_instance struct instance *owner = make_owner(session_id);
	assert_int_equal(create_instance(desk->deck.store, owner, NULL), 0);
}

static void remove_owner(struct desk *desk)
{
	assert_int_equal(store_remove(lock_of(desk->deck.store, OWNER), NULL), 0);
}

static void expect(struct desk *desk, const char *id, const char *shared)
{
	cleanup_instance struct instance *instance = desk_load(desk);
	const struct conversation *conversation = &instance->conversation;
	assert_string_equal(conversation->session_id, id);
	assert_string_equal(or_empty(conversation->shared.session_id), shared);
	assert_string_equal(or_empty(conversation->shared.owner), *shared ? OWNER : "");
}

static void the_owner_keeps_what_another_one_picks(void **state)
{
	struct desk *desk = *state;
	begin(desk);
	put_owner(desk, NEW);
	take(desk, START(NEW, "resume"));
	expect(desk, OLD, NEW);
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_int_equal(instance->conversation.previous.count, 0);
	assert_string_equal(instance->conversation.shared.title, "owner");
	assert_null(instance->conversation.shared.profile);
	assert_true(instance->conversation.shared.since > 0);
	cleanup_free char *before = desk_manifest(desk);
	take(desk, EVENT("UserPromptSubmit", NEW, ""));
	take(desk, EVENT("Stop", NEW, ""));
	cleanup_free char *after = desk_manifest(desk);
	assert_string_equal(after, before);
}

static void capitals_make_no_other_conversation(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *text = xstrdup(START(NEW, "resume"));
	cleanup_free char *upper = xstrdup(NEW);
	char *at = strstr(text, NEW);
	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	memcpy(at, upper, strlen(upper));
	begin(desk);
	put_owner(desk, NEW);
	take(desk, text);
	expect(desk, OLD, upper);
}

static void the_mark_goes_when_the_agent_goes_on(void **state)
{
	struct desk *desk = *state;
	begin(desk);
	put_owner(desk, NEW);
	take(desk, START(NEW, "resume"));
	take(desk, START(OLD, "resume"));
	expect(desk, OLD, "");
	take(desk, START(NEW, "resume"));
	expect(desk, OLD, NEW);
	take(desk, START(THIRD, "clear"));
	expect(desk, THIRD, "");
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_int_equal(instance->conversation.previous.count, 1);
	assert_string_equal(instance->conversation.previous.items[0], OLD);
}

static void what_nobody_owns_any_more_is_taken_with_its_next_turn(void **state)
{
	struct desk *desk = *state;
	begin(desk);
	put_owner(desk, NEW);
	take(desk, START(NEW, "resume"));
	remove_owner(desk);
	take(desk, EVENT("UserPromptSubmit", NEW, ""));
	expect(desk, NEW, "");
}

static void an_earlier_conversation_of_another_one_may_be_picked(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = make_owner(NEW);
	conversation_set_id(&owner->conversation, THIRD, ORIGIN_REPORTED, 2);
	assert_int_equal(create_instance(desk->deck.store, owner, NULL), 0);
	begin(desk);
	take(desk, START(NEW, "resume"));
	expect(desk, NEW, "");
}

static void what_a_run_is_about_to_move_to_is_owned(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = make_owner(THIRD);
	const struct attempt attempt = { .rung = RUNG_FRESH, .session_id = (char *)NEW };
	run_add_attempt(&owner->run, &attempt);
	owner->run.id = xstrdup("run-2");
	owner->run.socket = xstrdup("/nowhere/tmux.sock");
	assert_int_equal(create_instance(desk->deck.store, owner, NULL), 0);
	begin(desk);
	take(desk, START(NEW, "resume"));
	expect(desk, OLD, NEW);
}

static void another_home_or_agent_has_other_conversations(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *other = make_owner(NEW);
	other->conversation.config_home = xstrdup("/elsewhere");
	assert_int_equal(create_instance(desk->deck.store, other, NULL), 0);
	cleanup_instance struct instance *program = new_instance("1111zzzz", "program");
	replace_string(&program->agent, "codex");
	conversation_set_id(&program->conversation, NEW, ORIGIN_MINTED, 1);
	assert_int_equal(create_instance(desk->deck.store, program, NULL), 0);
	begin(desk);
	take(desk, START(NEW, "resume"));
	expect(desk, NEW, "");
}

static void the_owner_may_be_of_another_profile(void **state)
{
	struct desk *desk = *state;
	cleanup_store struct store *work = NULL;
	cleanup_instance struct instance *owner = make_owner(NEW);
	assert_int_equal(store_open(desk->root, "work", &work, NULL), 0);
	assert_int_equal(create_instance(work, owner, NULL), 0);
	begin(desk);
	take(desk, START(NEW, "resume"));
	expect(desk, OLD, NEW);
	cleanup_instance struct instance *instance = desk_load(desk);
	cleanup_free char *text = shared_conversation_text(&instance->conversation.shared);
	assert_string_equal(text, "conversation " NEW " of 'owner' (" OWNER " in profile work)");
}

/* --- the next start -------------------------------------------------------------------------- */

static void the_next_start_leaves_it_to_its_owner_and_says_so(void **state)
{
	struct desk *desk = *state;
	begin(desk);
	put_owner(desk, NEW);
	take(desk, START(NEW, "resume"));
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_int_equal(conversation_foretell(&desk->deck, instance, claude(desk), NULL), 0);
	assert_string_equal(instance->conversation.session_id, OLD);
	assert_string_equal(run_attempt(&instance->run)->session_id, OLD);
	assert_non_null(
		strstr(instance->run.history_note, "conversation " NEW " of 'owner' (" OWNER ")"));
	assert_non_null(strstr(instance->run.history_note, "session fork " OWNER));
	assert_null(instance->conversation.shared.session_id);
}

static void the_next_start_takes_what_nobody_owns_any_more(void **state)
{
	struct desk *desk = *state;
	begin(desk);
	put_owner(desk, NEW);
	take(desk, START(NEW, "resume"));
	remove_owner(desk);
	cleanup_instance struct instance *instance = desk_load(desk);
	assert_int_equal(conversation_foretell(&desk->deck, instance, claude(desk), NULL), 0);
	assert_string_equal(instance->conversation.session_id, NEW);
	assert_string_equal(instance->conversation.previous.items[0], OLD);
	assert_int_equal(run_attempt(&instance->run)->rung, RUNG_RESUME);
	assert_null(instance->conversation.shared.session_id);
}

/* --- what a user gives ----------------------------------------------------------------------- */

static int set_id(struct desk *desk, const struct instance *instance, const char *id,
		  struct error *err)
{
	struct setting setting = { .field = SETTING_SESSION_ID, .value = id };
	return lifecycle_set(&desk->deck, instance->base, &setting, err);
}

static void an_id_that_another_one_owns_is_not_given_to_a_second(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *added = NULL;
	cleanup_free char *home = path_join(desk->root, ".claude");
	cleanup_instance struct instance *owner = make_owner(NEW);
	owner->conversation.config_home = xstrdup(home);
	assert_int_equal(create_instance(desk->deck.store, owner, NULL), 0);
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push(&argv, "claude");
	strvec_push(&argv, "--resume");
	strvec_push(&argv, "0BBBBBBB-0000-4000-8000-000000000002");
	const struct lifecycle_new wishes[] = {
		{ .directory = desk->cwd, .agent = "claude", .session_id = NEW },
		{ .directory = desk->cwd, .argv = &argv },
	};
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(lifecycle_add(&desk->deck, &wishes[i], &added, &err), -1);
		assert_int_equal(err.code, ERROR_EXISTS);
		assert_non_null(strstr(err.message, "'owner' (" OWNER ")"));
		assert_non_null(strstr(err.message, "session fork " OWNER));
	}
	const struct lifecycle_new free_one = { .directory = desk->cwd,
						.agent = "claude",
						.session_id = OLD };
	assert_int_equal(lifecycle_add(&desk->deck, &free_one, &added, NULL), 0);
	cleanup_error struct error err = { 0 };
	assert_int_equal(set_id(desk, added, NEW, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	remove_owner(desk);
	assert_int_equal(set_id(desk, added, NEW, NULL), 0);
}

/* --- listings -------------------------------------------------------------------------------- */

static void a_row_tells_of_a_running_one_only(void **state)
{
	(void)state;
	struct store_row row = {
		.base = (char *)ID,
		.id = (char *)ID,
		.title = (char *)"one",
		.state = STATE_RUNNING,
		.run.boot_id = (char *)process_boot_id(),
		.rung = RUNG_RESUME,
		.shared = { .session_id = (char *)NEW,
			    .owner = (char *)OWNER,
			    .title = (char *)"owner" },
	};
	assert_int_equal(process_identify(getpid(), &row.run.server, NULL), 0);
	cleanup_view struct view view = view_of(&row);
	assert_int_equal(view.note, VIEW_SHARING);
	assert_string_equal(view.reason, "shares conversation " NEW " of 'owner' (" OWNER ")");
	row.state = STATE_STOPPED;
	cleanup_view struct view stopped = view_of(&row);
	assert_int_equal(stopped.note, VIEW_PLAIN);
	assert_null(stopped.reason);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(the_owner_keeps_what_another_one_picks),
		DESK_TEST(capitals_make_no_other_conversation),
		DESK_TEST(the_mark_goes_when_the_agent_goes_on),
		DESK_TEST(what_nobody_owns_any_more_is_taken_with_its_next_turn),
		DESK_TEST(an_earlier_conversation_of_another_one_may_be_picked),
		DESK_TEST(what_a_run_is_about_to_move_to_is_owned),
		DESK_TEST(another_home_or_agent_has_other_conversations),
		DESK_TEST(the_owner_may_be_of_another_profile),
		DESK_TEST(the_next_start_leaves_it_to_its_owner_and_says_so),
		DESK_TEST(the_next_start_takes_what_nobody_owns_any_more),
		DESK_TEST(an_id_that_another_one_owns_is_not_given_to_a_second),
		DESK_TEST(a_row_tells_of_a_running_one_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
