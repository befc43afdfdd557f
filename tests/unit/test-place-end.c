/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long a stop takes where nothing that is asked ends: the clock moves only while it waits.
 */
#include "unit/report-fixture.h"

#include "base/child.h"
#include "base/clock.h"
#include "engine/place/place.h"

enum { GRACE_MS = 4000, ASKED_MS = 8000 };

static int64_t now, waits[8];
static size_t wait_count;

int64_t __real_clock_ms(void);
int64_t __wrap_clock_ms(void);
int64_t __wrap_clock_ms(void)
{
	return now;
}

int __real_process_wait_end(const struct process_id *id, int64_t deadline_ms, struct error *err);
int __wrap_process_wait_end(const struct process_id *id, int64_t deadline_ms, struct error *err);
int __wrap_process_wait_end(const struct process_id *id, int64_t deadline_ms, struct error *err)
{
	/* After a SIGKILL. */
	if (deadline_ms - now > ASKED_MS)
		return __real_process_wait_end(id, deadline_ms, err);
	if (!process_alive(id))
		return 0;
	if (deadline_ms > now && wait_count < ARRAY_SIZE(waits))
		waits[wait_count++] = deadline_ms;
	now = deadline_ms > now ? deadline_ms : now;
	return PROCESS_STILL_ALIVE;
}

/* Processes of the run that ignore what they are asked. */
static struct process_id start_deaf(struct child *child)
{
	const char *const environment[] = { ENV_INSTANCE "=" ID, ENV_RUN "=run-1", NULL };
	const struct child_request request = {
		.argv = (const char *const[]){ "/bin/sh", "-c",
					       "trap '' TERM HUP; exec 3<&0; (read x <&3) & "
					       "echo ready; read x",
					       NULL },
		.environment = (char *const *)(uintptr_t)environment,
		.gate = true,
	};
	char line[16];
	struct process_id id;
	assert_int_equal(child_start(&request, child, NULL), 0);
	assert_int_equal(read(child->output, line, sizeof(line)), strlen("ready\n"));
	assert_int_equal(process_identify(child->pid, &id, NULL), 0);
	return id;
}

static void end(struct desk *desk, const struct place *place, struct instance *instance)
{
	struct error err = { 0 };
	instance->run.boot_id = xstrdup(process_boot_id());
	if (place->end(&desk->deck, instance, GRACE_MS, NULL, &err) < 0)
		fail_msg("%s", err.message);
}

static struct instance *begin(struct desk *desk, const char *toml)
{
	struct instance *instance = desk_instance(desk, desk_agent(desk, "deaf", toml));
	now = __real_clock_ms();
	wait_count = 0;
	return instance;
}

static void a_stop_takes_no_longer_than_its_timeout(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, "command = [\"deaf\"]\n");
	const int64_t start = now;
	struct child pane, stray;
	instance->run.pane = start_deaf(&pane);
	(void)start_deaf(&stray);
	end(desk, &place_host, instance);
	assert_int_equal(now - start, GRACE_MS);
	/* After SIGTERM and SIGHUP; after those, what is below it; at last what has left it. */
	assert_int_equal(wait_count, 4);
	assert_int_equal(waits[1] - start, GRACE_MS * 3 / 4);
	assert_int_equal(waits[2] - start, GRACE_MS * 7 / 8);
	assert_false(process_alive(&instance->run.pane));
	child_abandon(&pane);
	child_abandon(&stray);
}

static void that_of_a_container_does_not_either(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, "command = [\"deaf\"]\n");
	const int64_t start = now;
	struct child capsule;
	instance->run.server = start_deaf(&capsule);
	end(desk, &place_container, instance);
	assert_int_equal(now - start, GRACE_MS);
	assert_false(process_alive(&instance->run.server));
	child_abandon(&capsule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_stop_takes_no_longer_than_its_timeout),
		DESK_TEST(that_of_a_container_does_not_either),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
