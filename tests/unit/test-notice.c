/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which notices are given, and that a tmux server which does not answer delays only the first.
 */
#include "unit/fake-place.h"

#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"
#include "engine/roster/notice.h"
#include "engine/roster/statusline.h"
#include "engine/terminal/alert.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static const int64_t since_us = INT64_C(1776157681000000);

static void a_change_is_told_once_and_the_next_one_too(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	const struct notice first = { "waiting", "api", "", instance->run.directory, since_us };
	struct notice second = first, other = first;
	second.since_us += 1000;
	other.occasion = "idle";
	assert_true(notice_claim(&first));
	assert_false(notice_claim(&first));
	assert_true(notice_claim(&second));
	assert_false(notice_claim(&second));
	assert_true(notice_claim(&other));
}

static void what_cannot_be_known_again_is_always_told(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	const struct notice timeless = { "oom", "api", "", instance->run.directory, 0 };
	const struct notice without_run = { "error", "api", "", NULL, since_us };
	for (int i = 0; i < 2; i++) {
		assert_true(notice_claim(&timeless));
		assert_true(notice_claim(&without_run));
	}
}

/* A server with an attached terminal, as far as its socket says, that never answers.  Its
 * listener. */
static int make_silent_server(const struct instance *instance)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = instance->run.socket;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_true(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path));
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static void a_silent_server_is_noted_by_a_notice(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	cleanup_close int listener UNUSED = make_silent_server(instance);
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	desk->deck.settings.notify.bell = true;
	notice_give(&desk->deck, desk->deck.store,
		    &(struct notice){ "waiting", "api", "", instance->run.directory, since_us });
	assert_true(runfiles_is_silent(instance->run.directory));
}

/* Where the last alert is kept, instead of given; NULL: it is given. */
static char **alerted;

int __wrap_alert_attached(const char *socket, const struct alert *alert, struct error *err);
int __real_alert_attached(const char *socket, const struct alert *alert, struct error *err);
int __wrap_alert_attached(const char *socket, const struct alert *alert, struct error *err)
{
	if (!alerted)
		return __real_alert_attached(socket, alert, err);
	replace_string(alerted, alert->text);
	return 0;
}

static void a_turn_that_failed_is_told_with_its_error(void **state)
{
	static const struct {
		const char *failure, *text;
	} table[] = { { "rate_limit", "failed: rate limit" }, { NULL, "finished its turn" } };
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	cleanup_close int listener UNUSED = make_silent_server(instance);
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	desk->deck.settings.notify.bell = true;
	strvec_push(&desk->deck.settings.notify.on, "idle");
	cleanup_free char *text = NULL;
	alerted = &text;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct activity activity = { .activity = ACTIVITY_IDLE,
						   .since = since_us,
						   .failure = (char *)table[i].failure };
		const struct notice_change change = { ACTIVITY_BUSY, ACTIVITY_IDLE, since_us };
		assert_int_equal(activityfile_write(instance->run.directory, &activity,
						    &(struct announced){ 0 }, NULL),
				 0);
		notice_activity(&desk->deck, desk->deck.store, instance->base, &change);
		assert_string_equal(text, table[i].text);
	}
	alerted = NULL;
}

static void a_silent_server_is_noted_by_a_status_line(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	cleanup_close int listener UNUSED = make_silent_server(instance);
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	statusline_follow(desk->deck.store, instance->base, ACTIVITY_BUSY, ACTIVITY_IDLE);
	assert_true(runfiles_is_silent(instance->run.directory));
}

/* Instead of tmux: it notes what it is told, and the first time the activity changes meanwhile, as
 * if another report had come and shown it already. */
static void install_tmux(const char *root, const char *run_directory)
{
	cleanup_free char *bin = path_join(root, "bin"), *program = path_join(bin, "tmux");
	cleanup_free char *text = xasprintf("#!/bin/sh\necho \"$*\" >>%s/told\n"
					    "mv %s/next %s/" RUN_ACTIVITY " 2>/dev/null\nexit 0\n",
					    root, run_directory, run_directory);
	cleanup_free char *path = xasprintf("%s:%s", bin, getenv("PATH"));
	assert_int_equal(mkdir(bin, 0700), 0);
	int fd = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), "tmux", NULL), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(setenv("PATH", path, 1), 0);
}

static void the_latest_stays_in_the_status_line(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	cleanup_close int listener UNUSED = make_silent_server(instance);
	cleanup_free char *usual = xstrdup(getenv("PATH"));
	cleanup_free char *now = path_join(instance->run.directory, RUN_ACTIVITY);
	cleanup_free char *next = path_join(instance->run.directory, "next");
	cleanup_strbuf struct strbuf told = { 0 };
	struct activity activity = { .activity = ACTIVITY_IDLE, .since = since_us };
	const struct announced nothing = { 0 };
	fake_put(desk, instance);
	fake.presence = PRESENCE_ALIVE;
	assert_int_equal(activityfile_write(instance->run.directory, &activity, &nothing, NULL), 0);
	assert_int_equal(rename(now, next), 0);
	activity.activity = ACTIVITY_BUSY;
	assert_int_equal(activityfile_write(instance->run.directory, &activity, &nothing, NULL), 0);
	install_tmux(desk->root, instance->run.directory);
	statusline_follow(desk->deck.store, instance->base, ACTIVITY_IDLE, ACTIVITY_BUSY);
	assert_int_equal(setenv("PATH", usual, 1), 0);
	cleanup_free char *path = path_join(desk->root, "told");
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 16, &told, NULL), 0);
	const char *busy = strstr(strbuf_text(&told), "busy");
	assert_non_null(busy);
	assert_non_null(strstr(busy, "idle"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(a_change_is_told_once_and_the_next_one_too),
		FAKE_TEST(what_cannot_be_known_again_is_always_told),
		FAKE_TEST(a_silent_server_is_noted_by_a_notice),
		FAKE_TEST(a_turn_that_failed_is_told_with_its_error),
		FAKE_TEST(a_silent_server_is_noted_by_a_status_line),
		FAKE_TEST(the_latest_stays_in_the_status_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
