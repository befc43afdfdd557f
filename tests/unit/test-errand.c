/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The commands of the deck, with a script in the place of agentdeck.
 */
#include "unit/scratch.h"

#include "base/clock.h"
#include "ui/main/errand.h"

#include <sys/stat.h>

enum { LONG_MS = 30000 };

struct desk {
	struct loop *loop;
	struct ui *ui;
	bool is_changed;
	struct errands errands;
	char *program, *gate;
};

static void desk_open(struct desk *desk, const char *script)
{
	*desk = (struct desk){ .ui = ui_new("default"),
			       .program = path_join(scratch, "agentdeck"),
			       .gate = path_join(scratch, "gate") };
	put("agentdeck", script);
	assert_int_equal(chmod(desk->program, 0700), 0);
	assert_int_equal(mkfifo(desk->gate, 0600), 0);
	assert_int_equal(loop_new(&desk->loop, NULL), 0);
	desk->errands = (struct errands){ .loop = desk->loop,
					  .ui = desk->ui,
					  .program = desk->program,
					  .profile = "default",
					  .is_changed = &desk->is_changed };
}

static void desk_close(struct desk *desk)
{
	loop_free(desk->loop);
	ui_free(desk->ui);
	free(desk->program);
	free(desk->gate);
}

static void turn(struct desk *desk)
{
	assert_int_equal(loop_turn(desk->loop, clock_ms() + LONG_MS, NULL), 1);
}

/* Opened as soon as the script opens it, too. */
static void pass_gate(const struct desk *desk, int how)
{
	const int fd = open(desk->gate, how | O_CLOEXEC);
	assert_true(fd >= 0);
	(void)close(fd);
}

static void start(struct desk *desk, const char *const *ids)
{
	cleanup_wish struct wish wish = { .kind = WISH_RUN, .ticket = ++desk->ui->ticket };
	strvec_push(&wish.words, "start");
	strvec_push_array(&wish.words, ids);
	strvec_push_array(&desk->ui->many, ids);
	desk->ui->many_ticket = wish.ticket;
	desk->ui->does = ACTION_START;
	desk->ui->is_halted = false;
	errand_run(&desk->errands, &wish);
}

#define TWO ((const char *const[]){ "id-a", "id-b", NULL })

static void starts_that_are_given_up_end(void **state UNUSED)
{
	static const struct {
		const char *says, *news;
		bool is_bad;
	} cases[] = {
		{ "api: started", "0 of 2 sessions are started; you gave the rest up.", false },
		{ "agentdeck: api: no image", "api: no image", true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct desk desk;
		cleanup_free char *script = xasprintf("#!/bin/sh\necho '%s' >&2\n: >%s/gate\n"
						      "exec sleep 100\n",
						      cases[i].says, scratch);
		desk_open(&desk, script);
		start(&desk, TWO);
		pass_gate(&desk, O_RDONLY);
		desk.ui->is_halted = true;
		errand_halt(&desk.errands);
		while (desk.ui->many.count)
			turn(&desk);
		assert_null(desk.errands.many);
		assert_string_equal(desk.ui->message, cases[i].news);
		assert_int_equal(desk.ui->is_bad, cases[i].is_bad);
		desk_close(&desk);
		assert_int_equal(unlinkat(here, "gate", 0), 0);
	}
}

/* The news stays: the stage has a place to itself, until it ends. */
static void a_stage_takes_the_place_of_no_news(void **state UNUSED)
{
	struct desk desk;
	cleanup_free char *script = xasprintf(
		"#!/bin/sh\necho '{\"run\": \"r\", \"stage\": \"image\", \"ms\": null}' >&2\n"
		"read x <%s/gate\necho 'api: started'\n",
		scratch);
	desk_open(&desk, script);
	start(&desk, (const char *const[]){ "id-a", NULL });
	while (!desk.ui->stage)
		turn(&desk);
	assert_true(starts_with(desk.ui->stage, "start: image, "));
	/* It says more than "start ...". */
	assert_null(desk.ui->message);
	ui_tell(desk.ui, "web: it has no memory left", true);
	replace_string(&desk.ui->stage, NULL);
	while (!desk.ui->stage)
		turn(&desk);
	assert_string_equal(desk.ui->message, "web: it has no memory left");
	pass_gate(&desk, O_WRONLY);
	while (desk.ui->many.count)
		turn(&desk);
	assert_null(desk.ui->stage);
	desk_close(&desk);
}

#define ERRAND_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ERRAND_TEST(starts_that_are_given_up_end),
		ERRAND_TEST(a_stage_takes_the_place_of_no_news),
	};
	return cmocka_run_group_tests_name("errand", tests, NULL, NULL);
}
