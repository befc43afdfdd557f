/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A conversation that is copied into the home of a new container: what is copied, and what an agent
 * that wrote the old home cannot make us copy.
 */
#include "unit/test.h"

#include "base/fsutil.h"
#include "driver/transcript/transcript.h"
#include "engine/conversation/carry.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION "0aaaaaaa-0000-4000-8000-000000000001"
#define TURN    "{\"type\":\"user\",\"cwd\":\"%s\",\"message\":{\"content\":\"x\"}}\n"

/* The old home, the directory of the new instance, and the directory that both work in. */
struct desk {
	char *root, *home, *fresh, *work;
	struct instance *old, *new;
};

static const struct agent agent = { .title = (char *)"Agent",
				    .transcript = (char *)"projects",
				    .config_home = (char *)"~/.agent" };

static int set_up(void **state)
{
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-carry-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	char **const paths[] = { &desk->home, &desk->fresh, &desk->work };
	static const char *const names[] = { "home", "fresh", "work" };
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		*paths[i] = path_join(desk->root, names[i]);
		assert_int_equal(mkdir(*paths[i], 0700), 0);
	}
	desk->old = instance_new();
	desk->old->cwd = xstrdup(desk->work);
	desk->old->conversation.config_home = path_join(desk->home, ".agent");
	desk->new = instance_new();
	desk->new->cwd = xstrdup(desk->work);
	desk->new->backend = xstrdup("container");
	desk->new->recipe = recipe_new();
	desk->new->recipe->home = path_join(desk->fresh, "home");
	desk->new->conversation.config_home = path_join(desk->new->recipe->home, ".agent");
	*state = desk;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	instance_free(desk->old);
	instance_free(desk->new);
	free(desk->root);
	free(desk->home);
	free(desk->fresh);
	free(desk->work);
	free(desk);
	return r;
}

/* Of the working directory, below this config home.  The caller frees. */
static char *write_transcript(const struct desk *desk, const char *config_home, const char *text)
{
	cleanup_free char *slug = transcript_slug(desk->work);
	cleanup_free char *folder = xasprintf("%s/projects/%s", config_home, slug);
	cleanup_close int fd = -1;
	assert_int_equal(fs_open_private_directory(folder, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, SESSION ".jsonl", text, strlen(text), FS_VOLATILE, NULL),
			 0);
	return xasprintf("%s/" SESSION ".jsonl", folder);
}

static char *write_turn(const struct desk *desk, const char *config_home)
{
	cleanup_free char *text = xasprintf(TURN, desk->work);
	return write_transcript(desk, config_home, text);
}

static int find(const struct desk *desk, const char *session_id, struct carry *ret,
		struct error *err)
{
	return carry_find(desk->old, &agent, session_id, desk->home, ret, err);
}

static void the_transcript_is_copied_into_the_new_home(void **state)
{
	const struct desk *desk = *state;
	cleanup_carry struct carry carry = CARRY_NOTHING;
	cleanup_free char *path = write_turn(desk, desk->old->conversation.config_home);
	cleanup_strbuf struct strbuf before = { 0 }, after = { 0 };
	cleanup_close int fd = open(desk->fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(find(desk, "0AAAAAAA-0000-4000-8000-000000000001", &carry, NULL), 0);
	assert_string_equal(carry.session_id, SESSION);
	assert_int_equal(carry_put(&carry, desk->new, fd, NULL), 0);
	cleanup_free char *copy = carry_path(&carry, desk->new);
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &before, NULL), 0);
	assert_int_equal(fs_read(AT_FDCWD, copy, 1 << 20, &after, NULL), 0);
	assert_string_equal(strbuf_text(&after), strbuf_text(&before));
	/* The new agent finds it as its own. */
	cleanup_transcript struct transcript found = { 0 };
	assert_int_equal(transcript_find(desk->new->conversation.config_home, desk->work, SESSION,
					 NULL, &found, NULL),
			 0);
	assert_true(found.has_turns);
	assert_string_equal(found.path, copy);
}

/* To a directory that does not exist yet, behind a link. */
static void the_transcript_is_copied_for_a_new_directory(void **state)
{
	struct desk *desk = *state;
	cleanup_carry struct carry carry = CARRY_NOTHING;
	cleanup_transcript struct transcript found UNUSED = { 0 };
	cleanup_free char *path = write_turn(desk, desk->old->conversation.config_home);
	cleanup_free char *link = path_join(desk->root, "link");
	cleanup_free char *real = path_join(desk->work, "trees/one");
	assert_int_equal(symlink(desk->work, link), 0);
	assert_int_equal(find(desk, SESSION, &carry, NULL), 0);
	free(desk->new->cwd);
	desk->new->cwd = path_join(link, "trees/one");
	replace_string(&desk->new->conversation.config_home, desk->old->conversation.config_home);
	assert_int_equal(carry_copy(&carry, desk->new, NULL), 0);
	cleanup_free char *slug = transcript_slug(real);
	cleanup_free char *copy = xasprintf("%s/projects/%s/" SESSION ".jsonl",
					    desk->old->conversation.config_home, slug);
	assert_int_equal(access(copy, F_OK), 0);
	assert_int_equal(access(path, F_OK), 0);
}

static void what_has_no_turn_is_refused(void **state)
{
	const struct desk *desk = *state;
	cleanup_carry struct carry carry = CARRY_NOTHING;
	cleanup_error struct error err = { 0 };
	assert_int_equal(find(desk, SESSION, &carry, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	cleanup_free char *path UNUSED = write_transcript(desk, desk->old->conversation.config_home,
							  "{\"type\":\"summary\"}\n");
	error_clear(&err);
	assert_int_equal(find(desk, SESSION, &carry, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	static const struct agent other = { .title = (char *)"Other",
					    .config_home = (char *)"~/.other" };
	error_clear(&err);
	assert_int_equal(carry_find(desk->old, &other, SESSION, NULL, &carry, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(carry.transcript, -1);
}

/* Each of the names below its home is a link to what the user has elsewhere. */
static void links_in_the_old_home_are_not_followed(void **state)
{
	struct desk *desk = *state;
	cleanup_free char *other = path_join(desk->root, "other");
	cleanup_free char *path UNUSED = write_turn(desk, other);
	cleanup_free char *slug = transcript_slug(desk->work);
	const char *home = desk->old->conversation.config_home;
	for (size_t i = 0; i < 4; i++) {
		cleanup_carry struct carry carry = CARRY_NOTHING;
		cleanup_error struct error err = { 0 };
		cleanup_free char *rest = i < 2    ? xstrdup(i ? "/projects" : "")
					  : i == 2 ? xasprintf("/projects/%s", slug)
						   : xasprintf("/projects/%s/" SESSION ".jsonl",
							       slug);
		cleanup_free char *link = xasprintf("%s%s", home, rest);
		cleanup_free char *target = xasprintf("%s%s", other, rest);
		cleanup_free char *above = xstrndup(link, (size_t)(path_basename(link) - link - 1));
		cleanup_close int fd = -1;
		assert_int_equal(fs_open_private_directory(above, &fd, NULL), 0);
		assert_int_equal(symlink(target, link), 0);
		if (find(desk, SESSION, &carry, &err) == 0)
			fail_msg("followed %s", link);
		/* A user may keep it elsewhere; the file itself must be one. */
		if (i < 3) {
			assert_int_equal(carry_find(desk->old, &agent, SESSION, NULL, &carry, NULL),
					 0);
		}
		assert_int_equal(unlink(link), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_transcript_is_copied_into_the_new_home, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_transcript_is_copied_for_a_new_directory,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_has_no_turn_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_in_the_old_home_are_not_followed, set_up,
						tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
