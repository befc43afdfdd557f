/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a conversation is: what moves it, and what does not.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "engine/conversation/location.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION "0aaaaaaa-0000-4000-8000-000000000001"
#define COPY    "0bbbbbbb-0000-4000-8000-000000000002"

struct place {
	char *root, *one, *two;
	struct instance *instance;
};

static const struct agent agent = { .title = (char *)"Agent",
				    .transcript = (char *)"projects",
				    .config_home = (char *)"~/.agent" };

static char *make_directory(const char *root, const char *name)
{
	char *path = path_join(root, name);
	assert_int_equal(mkdir(path, 0700), 0);
	return path;
}

/* A session in "one". */
static int set_up(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));
	place->root = xstrdup("/tmp/agentdeck-location-XXXXXX");
	if (!mkdtemp(place->root))
		return -1;
	place->one = make_directory(place->root, "one");
	place->two = make_directory(place->root, "two");
	struct instance *instance = place->instance = instance_new();
	instance->cwd = xstrdup(place->one);
	instance->conversation.session_id = xstrdup(SESSION);
	instance->conversation.config_home = xstrdup(place->root);
	instance->conversation.first_turn_seen = true;
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	int r = fs_remove_tree(AT_FDCWD, place->root, NULL);
	instance_free(place->instance);
	free(place->one);
	free(place->two);
	free(place->root);
	free(place);
	return r;
}

static char *transcript_of(const struct place *place, const char *directory)
{
	cleanup_free char *slug = transcript_slug(directory);
	return xasprintf("%s/projects/%s/" SESSION ".jsonl", place->root, slug);
}

/* Begun in the first directory, last used in the second, kept with the third. */
static char *write_transcript(const struct place *place, const char *begun, const char *last,
			      const char *kept)
{
	cleanup_free char *slug = transcript_slug(kept);
	cleanup_free char *folder = xasprintf("%s/projects/%s", place->root, slug);
	cleanup_free char *text = xasprintf(
		"{\"type\":\"user\",\"cwd\":\"%s\",\"message\":{\"content\":\"x\"}}\n"
		"{\"type\":\"relocated\",\"relocatedCwd\":\"%s\"}\n"
		"{\"type\":\"user\",\"cwd\":\"/tmp\",\"message\":{\"content\":\"y\"}}\n",
		begun, last);
	cleanup_close int fd = -1;
	assert_int_equal(fs_open_private_directory(folder, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, SESSION ".jsonl", text, strlen(text), FS_VOLATILE, NULL),
			 0);
	return transcript_of(place, kept);
}

static enum transcript_fact settle(struct place *place)
{
	enum transcript_fact fact;
	cleanup_error struct error err = { 0 };
	if (location_settle(place->instance, &fact, &err) < 0)
		fail_msg("%s", err.message);
	return fact;
}

static void a_transcript_in_another_project_directory_is_a_move(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	cleanup_free char *path = write_transcript(place, place->one, place->two, place->two);
	assert_true(location_learn(instance, &agent, path, place->two));
	assert_string_equal(instance->conversation.directory, place->two);
	assert_string_equal(instance_launch_directory(instance), place->two);
	assert_false(location_learn(instance, &agent, path, place->two));
	/* And back again. */
	cleanup_free char *home = write_transcript(place, place->one, place->one, place->one);
	assert_true(location_learn(instance, &agent, home, place->one));
	assert_null(instance->conversation.directory);
}

static void a_directory_alone_moves_nothing(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	cleanup_free char *path = write_transcript(place, place->one, place->one, place->one);
	cleanup_free char *moved = transcript_of(place, place->two);
	static const struct agent other;
	assert_false(location_learn(instance, &agent, path, place->two));
	assert_false(location_learn(instance, &agent, NULL, place->two));
	assert_false(location_learn(instance, &agent, "/elsewhere.jsonl", place->two));
	assert_false(location_learn(instance, &agent, path, NULL));
	assert_false(location_learn(instance, &agent, path, "/not/there"));
	assert_false(location_learn(instance, &other, moved, place->two));
	/* There is no such file, but there was a turn: so it is elsewhere. */
	assert_false(location_learn(instance, &agent, moved, place->two));
	assert_null(instance->conversation.directory);
	instance->conversation.first_turn_seen = false;
	assert_true(location_learn(instance, &agent, moved, place->two));
}

static void a_move_that_nobody_reported_is_followed(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	cleanup_free char *path = write_transcript(place, place->one, place->two, place->two);
	instance->conversation.transcript_path = transcript_of(place, place->one);
	assert_int_equal(settle(place), TRANSCRIPT_TURNS);
	assert_string_equal(instance->conversation.directory, place->two);
	assert_string_equal(instance->conversation.transcript_path, path);
	assert_int_equal(settle(place), TRANSCRIPT_TURNS);
	/* Back in the directory that it began in: its records need not mention it. */
	assert_int_equal(unlink(path), 0);
	free(write_transcript(place, place->two, place->two, place->one));
	assert_int_equal(settle(place), TRANSCRIPT_TURNS);
	assert_null(instance->conversation.directory);
}

static void one_that_stayed_where_its_directory_was_is_elsewhere(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	instance->conversation.transcript_path = write_transcript(place, place->one, place->one,
								  place->one);
	replace_string(&instance->cwd, place->two);
	assert_int_equal(settle(place), TRANSCRIPT_ELSEWHERE);
	assert_null(instance->conversation.directory);
	/* A file in no project directory says nothing. */
	cleanup_free char *odd = path_join(place->root, SESSION ".jsonl");
	assert_int_equal(rename(instance->conversation.transcript_path, odd), 0);
	replace_string(&instance->conversation.transcript_path, odd);
	assert_int_equal(settle(place), TRANSCRIPT_TURNS);
}

static void a_directory_that_was_moved_takes_its_conversation_along_by_a_copy(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	enum location_outcome outcome;
	cleanup_free char *path = write_transcript(place, place->one, place->one, place->one);
	cleanup_free char *copy = transcript_of(place, place->two);
	assert_int_equal(location_move(instance, &agent, place->two, false, &outcome, NULL), 0);
	assert_int_equal(outcome, LOCATION_ELSEWHERE);
	assert_string_equal(instance->cwd, place->two);
	assert_int_equal(access(copy, F_OK), -1);
	/* The same directory once more: only the copy is new. */
	assert_int_equal(location_move(instance, &agent, place->two, true, &outcome, NULL), 0);
	assert_int_equal(outcome, LOCATION_COPIED);
	assert_string_equal(instance->conversation.transcript_path, copy);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(location_move(instance, &agent, place->two, true, &outcome, NULL), 0);
	assert_int_equal(outcome, LOCATION_HERE);
	/* It never overwrites a file. */
	char *third = NULL;
	assert_int_equal(transcript_copy(path, place->root, place->two, &third, NULL),
			 TRANSCRIPT_TAKEN);
	free(third);
	struct stat st;
	assert_int_equal(stat(copy, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_directory_inside_of_one_that_was_moved_has_moved_with_it(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	enum location_outcome outcome;
	cleanup_free char *inside = make_directory(place->two, "tree");
	instance->conversation.directory = path_join(place->one, "tree");
	assert_int_equal(location_move(instance, &agent, place->two, false, &outcome, NULL), 0);
	assert_string_equal(instance_launch_directory(instance), inside);
	/* If it is missing the session's own directory is used. */
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(location_move(instance, &agent, place->one, false, &outcome, NULL), 0);
	assert_string_equal(instance_launch_directory(instance), place->one);
}

static void a_missing_directory_is_named_with_the_conversation(void **state)
{
	struct place *place = *state;
	struct instance *instance = place->instance;
	const struct deck deck = { 0 };
	cleanup_error struct error err = { 0 }, own = { 0 };
	assert_int_equal(location_check(&deck, instance, NULL), 0);
	instance->id = xstrdup("0123abcd");
	instance->conversation.directory = path_join(place->root, "gone");
	assert_int_equal(location_check(&deck, instance, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, SESSION " was last in "));
	assert_non_null(strstr(err.message, instance->conversation.directory));
	location_forget_missing(instance);
	assert_null(instance->conversation.directory);
	assert_int_equal(rmdir(place->one), 0);
	assert_int_equal(location_check(&deck, instance, &own), -1);
	assert_non_null(strstr(own.message, "agentdeck session set 0123abcd path DIRECTORY"));
}

/* A deck of the home directory "now"; the instance's agent was at home in "then". */
struct homes {
	struct deck deck;
	char *then, *now;
};

static struct homes homes_of(struct place *place)
{
	struct homes homes = { .deck.paths.home = path_join(place->root, "now") };
	homes.then = xasprintf("%s/then/.agent", place->root);
	homes.now = xasprintf("%s/now/.agent", place->root);
	replace_string(&place->instance->conversation.config_home, homes.then);
	return homes;
}

static void homes_free(struct homes *homes)
{
	free(homes->deck.paths.home);
	free(homes->then);
	free(homes->now);
}

/* With the conversation of the instance in it, written at this time, or without (0). */
static void make_home(struct place *place, const char *home, time_t written)
{
	cleanup_free char *root = TAKE_PTR(place->root);
	cleanup_close int fd = -1;
	place->root = xstrdup(home);
	if (written) {
		const struct timespec times[2] = { { .tv_sec = written }, { .tv_sec = written } };
		cleanup_free char *path = write_transcript(place, place->one, place->one,
							   place->one);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	} else {
		assert_int_equal(fs_open_private_directory(home, &fd, NULL), 0);
	}
	free(place->root);
	place->root = TAKE_PTR(root);
}

enum { MISSING = -1, EMPTY = 0 };

static void a_default_home_is_where_the_users_home_directory_is(void **state)
{
	static const struct {
		time_t then, now;
		bool is_known, moves; /* is_known: it was written down that it is the default */
	} cases[] = {
		{ MISSING, MISSING, true, true },
		/* It may be on a disk that is not mounted. */
		{ MISSING, MISSING, false, false },
		{ MISSING, EMPTY, false, false },
		{ MISSING, EMPTY, true, true },
		{ MISSING, 5, true, true },
		{ MISSING, 5, false, true },
		{ EMPTY, 5, false, true },
		{ 5, MISSING, true, false },
		{ 5, EMPTY, true, false },
		{ EMPTY, EMPTY, true, false },
		{ 5, 5, true, true },
		{ 5, 5, false, false },
		{ 6, 5, true, false },
	};
	struct place *place = *state;
	struct conversation *conversation = &place->instance->conversation;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(homes_free) struct homes homes = homes_of(place);
		const bool finds = cases[i].now > 0;
		conversation->home_is_default = cases[i].is_known;
		replace_string(&conversation->transcript_path, NULL);
		if (cases[i].then != MISSING)
			make_home(place, homes.then, cases[i].then);
		if (cases[i].now != MISSING)
			make_home(place, homes.now, cases[i].now);
		if (location_settle_home(&homes.deck, place->instance, &agent) != cases[i].moves)
			fail_msg("case %zu", i);
		assert_string_equal(conversation->config_home,
				    cases[i].moves ? homes.now : homes.then);
		assert_true(!cases[i].moves || conversation->home_is_default);
		assert_int_equal(conversation->transcript_path != NULL, cases[i].moves && finds);
		(void)fs_remove_tree(AT_FDCWD, homes.then, NULL);
		(void)fs_remove_tree(AT_FDCWD, homes.now, NULL);
	}
}

static void a_home_that_its_user_chose_stays(void **state)
{
	struct place *place = *state;
	CLEANUP(homes_free) struct homes homes = homes_of(place);
	struct conversation *conversation = &place->instance->conversation;
	make_home(place, homes.now, 5);
	replace_string(&conversation->config_home, "/srv/agents/mine");
	assert_false(location_settle_home(&homes.deck, place->instance, &agent));
	assert_string_equal(conversation->config_home, "/srv/agents/mine");
	assert_false(conversation->home_is_default);
}

static void homes_are_the_same_unless_both_are_there(void **state)
{
	struct place *place = *state;
	CLEANUP(homes_free) struct homes homes = homes_of(place);
	make_home(place, homes.now, EMPTY);
	assert_true(location_same_home(&agent, homes.then, homes.now));
	assert_true(location_same_home(NULL, homes.now, homes.now));
	assert_false(location_same_home(NULL, homes.then, homes.now));
	assert_false(location_same_home(&agent, "/srv/agents/mine", homes.now));
	assert_false(location_same_home(&agent, NULL, homes.now));
	make_home(place, homes.then, EMPTY);
	assert_false(location_same_home(&agent, homes.then, homes.now));
}

static void a_home_without_the_conversation_is_refused(void **state)
{
	struct place *place = *state;
	CLEANUP(homes_free) struct homes homes = homes_of(place);
	struct conversation *conversation = &place->instance->conversation;
	cleanup_error struct error err = { 0 };
	make_home(place, homes.now, EMPTY);
	assert_int_equal(location_set_home(&homes.deck, place->instance, &agent, homes.now, &err),
			 -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_string_equal(conversation->config_home, homes.then);
	/* Nothing was said under the id yet. */
	conversation->first_turn_seen = false;
	assert_int_equal(location_set_home(&homes.deck, place->instance, &agent, homes.now, NULL),
			 0);
	assert_string_equal(conversation->config_home, homes.now);
	assert_true(conversation->home_is_default);
	make_home(place, homes.then, 5);
	conversation->first_turn_seen = true;
	assert_int_equal(location_set_home(&homes.deck, place->instance, &agent, homes.then, NULL),
			 0);
	assert_false(conversation->home_is_default);
	assert_true(starts_with(or_empty(conversation->transcript_path), homes.then));
}

#define PLACE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static void append(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

static bool make_fork(const struct place *place)
{
	bool is_made;
	assert_int_equal(location_make_fork(place->instance, &agent, &is_made, NULL), 0);
	return is_made;
}

static void a_fork_is_of_what_its_original_was(void **state)
{
	struct place *place = *state;
	struct conversation *conversation = &place->instance->conversation;
	cleanup_strbuf struct strbuf before = { 0 }, copy = { 0 };
	cleanup_free char *path = write_transcript(place, place->one, place->one, place->one);
	replace_string(&conversation->forked_from, SESSION);
	replace_string(&conversation->session_id, "../" COPY);
	conversation->first_turn_seen = false;
	assert_int_equal(fs_read(AT_FDCWD, path, 4096, &before, NULL), 0);
	append(path, "{\"type\":\"assistant\",\"mess");
	location_note_fork(place->instance, &agent);
	/* As long as nothing was added its agent makes the copy. */
	assert_true(conversation->forked_at > (int64_t)before.length);
	assert_false(make_fork(place));
	append(path, "age\":{}}\nlater\n");
	assert_false(make_fork(place));
	replace_string(&conversation->session_id, COPY);
	assert_true(make_fork(place));
	/* The line was not whole then. */
	assert_int_equal(fs_read(AT_FDCWD, conversation->transcript_path, 4096, &copy, NULL), 0);
	assert_string_equal(strbuf_text(&copy), strbuf_text(&before));
	assert_true(ends_with(conversation->transcript_path, "/" COPY ".jsonl"));
	assert_int_equal(settle(place), TRANSCRIPT_TURNS);
	/* What is there is the fork's. */
	append(conversation->transcript_path, "more\n");
	assert_false(make_fork(place));
	strbuf_free(&copy);
	assert_int_equal(fs_read(AT_FDCWD, conversation->transcript_path, 4096, &copy, NULL), 0);
	assert_true(ends_with(strbuf_text(&copy), "more\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(a_transcript_in_another_project_directory_is_a_move),
		PLACE_TEST(a_directory_alone_moves_nothing),
		PLACE_TEST(a_move_that_nobody_reported_is_followed),
		PLACE_TEST(one_that_stayed_where_its_directory_was_is_elsewhere),
		PLACE_TEST(a_directory_that_was_moved_takes_its_conversation_along_by_a_copy),
		PLACE_TEST(a_directory_inside_of_one_that_was_moved_has_moved_with_it),
		PLACE_TEST(a_missing_directory_is_named_with_the_conversation),
		PLACE_TEST(a_default_home_is_where_the_users_home_directory_is),
		PLACE_TEST(a_home_that_its_user_chose_stays),
		PLACE_TEST(homes_are_the_same_unless_both_are_there),
		PLACE_TEST(a_home_without_the_conversation_is_refused),
		PLACE_TEST(a_fork_is_of_what_its_original_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
