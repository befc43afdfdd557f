/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The driver, against the program.
 */
#include "unit/capsule-fixture.h"

#include "base/child.h"
#include "capsule/record.h"

#include <sys/socket.h>
#include <sys/un.h>

static void where_nobody_listens_the_capsule_is_absent(void **state UNUSED)
{
	cleanup_free char *missing = path_join(scratch, "missing");
	struct capsule *capsule;
	assert_int_equal(capsule_connect(missing, clock_ms(), &capsule, NULL), CAPSULE_ABSENT);
	assert_int_equal(capsule_connect(scratch, clock_ms(), &capsule, NULL), CAPSULE_ABSENT);
}

static void a_wait_for_a_capsule_ends(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	struct capsule *capsule;
	assert_int_equal(capsule_await(scratch, clock_ms() + 1, &capsule, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
}

static void the_exit_of_another_run_does_not_count(void **state UNUSED)
{
	const struct frame_status status = { FRAME_ENDED, { "one", 2 }, 7, 0, false };
	struct capsule_exit got;
	assert_int_equal(capsule_read_exit(scratch, "one", &got, NULL), FS_ABSENT);
	assert_int_equal(record_write(here, &status, NULL), 0);
	assert_int_equal(capsule_read_exit(scratch, "two", &got, NULL), FS_ABSENT);
	assert_int_equal(capsule_read_exit(scratch, "one", &got, NULL), 0);
	assert_int_equal(got.attempt, 2);
	assert_int_equal(got.code, 7);
	assert_int_equal(got.signal, 0);
	assert_false(got.by_stop);
}

/* --- with the program ------------------------------------------------------------------------- */

static void a_capsule_starts_empty_and_is_known_by_its_process(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	assert_int_equal(status_of(capsule).phase, CAPSULE_EMPTY);
	assert_string_equal(status_of(capsule).run, "");
	assert_int_equal(capsule_process(capsule).pid, capsule_pid);
	assert_true(capsule_process(capsule).start > 0);
	assert_int_equal(capsule_agent(capsule).pid, 0);
}

static void a_start_tells_the_agents_process(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	const struct process_id agent = started(capsule, 1,
						"echo $$ > new; mv new pid; exec sleep 100");
	UNTIL(exists("pid"));
	cleanup_free char *text = get("pid");
	assert_int_equal(agent.pid, strtol(text, NULL, 10));
	assert_true(process_alive(&agent));
	const struct capsule_status status = status_of(capsule);
	assert_int_equal(status.phase, CAPSULE_RUNNING);
	assert_string_equal(status.run, RUN);
	assert_int_equal(status.attempt, 1);
}

static void another_connection_learns_of_the_same_process(void **state UNUSED)
{
	cleanup_capsule struct capsule *first = connected();
	const struct process_id agent = started(first, 1, "exec sleep 100");
	cleanup_capsule struct capsule *second = connected();
	assert_int_equal(status_of(second).phase, CAPSULE_RUNNING);
	const struct process_id same = capsule_agent(second);
	assert_true(process_same(&agent, &same));
}

static void the_same_attempt_is_started_once(void **state UNUSED)
{
	cleanup_capsule struct capsule *first = connected();
	const char *script = "echo once >> count; exec sleep 100";
	const struct process_id agent = started(first, 1, script);
	UNTIL(exists("count"));
	cleanup_capsule struct capsule *second = connected();
	const struct process_id same = started(second, 1, script);
	assert_true(process_same(&agent, &same));
	cleanup_free char *count = get("count");
	assert_string_equal(count, "once\n");
}

static void beside_a_running_agent_no_other_one_starts(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_capsule struct capsule *capsule = connected();
	struct process_id agent;
	(void)started(capsule, 1, "exec sleep 100");
	assert_int_equal(start_script(capsule, 2, "touch second", &agent, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(status_of(capsule).attempt, 1);
	assert_false(exists("second"));
}

static void the_next_attempt_runs_in_the_same_capsule(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct capsule_exit got;
	(void)started(capsule, 1, "stty raw -echo; exit 7");
	UNTIL(has_ended(capsule));
	assert_int_equal(status_of(capsule).code, 7);
	assert_int_equal(capsule_read_exit(scratch, RUN, &got, NULL), 0);
	assert_int_equal(got.attempt, 1);
	assert_int_equal(got.code, 7);
	(void)started(capsule, 2, "stty -a > terminal; kill -9 $$");
	UNTIL(has_ended(capsule));
	assert_int_equal(status_of(capsule).attempt, 2);
	assert_int_equal(status_of(capsule).signal, SIGKILL);
	assert_int_equal(capsule_read_exit(scratch, RUN, &got, NULL), 0);
	assert_int_equal(got.attempt, 2);
	assert_int_equal(got.signal, SIGKILL);
	assert_false(got.by_stop);
	/* The terminal is as new, and has the size. */
	cleanup_free char *terminal = get("terminal");
	assert_non_null(strstr(terminal, " icanon"));
	assert_non_null(strstr(terminal, "rows 24; columns 80"));
}

static void what_is_read_of_an_agent_that_does_not_end_is_no_answer(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_strbuf struct strbuf output = { 0 };
	cleanup_error struct error err = { 0 };
	struct capsule_status status = { 0 };
	(void)started(capsule, 0, "echo one; exec sleep 100");
	assert_int_equal(capsule_read_output(capsule, "other-run", soon(), &output, &status, &err),
			 -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_int_equal(
		capsule_read_output(capsule, RUN, clock_ms() + 300, &output, &status, NULL), -1);
	assert_int_equal(status.phase, CAPSULE_EMPTY);
}

static void what_it_wrote_is_read_after_its_end(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_strbuf struct strbuf output = { 0 };
	struct capsule_status status = { 0 };
	(void)started(capsule, 0, "echo one; echo two; exit 7");
	UNTIL(has_ended(capsule));
	assert_int_equal(capsule_read_output(capsule, RUN, soon(), &output, &status, NULL), 0);
	assert_string_equal(strbuf_text(&output), "one\ntwo\n");
	assert_int_equal(status.phase, CAPSULE_ENDED);
	assert_int_equal(status.code, 7);
}

static void a_program_that_does_not_exist_is_an_error_with_its_name(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_strvec struct strvec argv = { 0 }, none = { 0 };
	const struct capsule_start start = { RUN, 1, &argv, &none, scratch, 80, 24 };
	struct process_id agent;
	strvec_push(&argv, "no-such-agent");
	assert_int_equal(capsule_start(capsule, &start, soon(), &agent, &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_non_null(strstr(err.message, "no-such-agent"));
	assert_int_equal(status_of(capsule).phase, CAPSULE_EMPTY);
	(void)started(capsule, 1, "exec sleep 100");
}

/* Is the text in this file of /proc? */
static bool proc_has(pid_t pid, const char *file, const char *text)
{
	cleanup_strbuf struct strbuf content = { 0 };
	cleanup_free char *path = xasprintf("/proc/%d/%s", pid, file);
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &content, NULL), 0);
	return memmem(strbuf_text(&content), content.length, text, strlen(text));
}

/* Is the text anywhere in the memory of this process? */
static bool memory_has(pid_t pid, const char *text)
{
	cleanup_free char *maps_path = xasprintf("/proc/%d/maps", pid);
	cleanup_free char *memory_path = xasprintf("/proc/%d/mem", pid);
	cleanup_fclose FILE *maps = fopen(maps_path, "re");
	cleanup_close int memory = open(memory_path, O_RDONLY | O_CLOEXEC);
	char line[512];
	assert_non_null(maps);
	assert_true(memory >= 0);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char access[5];
		/* What is larger is reserved, not used (a sanitizer's shadow). */
		enum { MAP_MAX = 64 << 20 };
		if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || access[1] != 'w' ||
		    to - from > MAP_MAX)
			continue;
		cleanup_free char *bytes = xcalloc(to - from, 1);
		ssize_t n = pread(memory, bytes, to - from, (off_t)from);
		if (n > 0 && memmem(bytes, (size_t)n, text, strlen(text)))
			return true;
	}
	return false;
}

static void a_secret_is_in_the_agents_environment_and_nowhere_else(void **state UNUSED)
{
	/* Long enough to come in several parts. */
	enum { PADDING = 200000 };
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	const struct capsule_start start = {
		.run = RUN,
		.attempt = 1,
		.argv = &argv,
		.environment = &environment,
	};
	struct process_id agent;
	cleanup_free char *secret = xasprintf("h%s", "1dden-value");
	cleanup_free char *padding = xcalloc(PADDING + 1, 1);
	memset(padding, 'x', PADDING);
	strvec_push(&argv, "sleep");
	strvec_push(&argv, "100");
	for (int i = 0; i < 4; i++) {
		strvec_pushf(&environment, "HIDDEN%d=%s", i, secret);
		strvec_pushf(&environment, "PADDING%d=%.*s", i, PADDING / 2, padding);
	}
	assert_int_equal(capsule_start(capsule, &start, soon(), &agent, NULL), 0);
	UNTIL(proc_has(agent.pid, "environ", secret));
	assert_false(proc_has(agent.pid, "cmdline", secret));
	assert_false(proc_has(capsule_pid, "environ", secret));
	assert_false(proc_has(capsule_pid, "cmdline", secret));
	/* It has done with the frame when it answers to the next one. */
	assert_int_equal(status_of(capsule).phase, CAPSULE_RUNNING);
	assert_true(memory_has(capsule_pid, RUN)); /* so a secret would be found */
	assert_false(memory_has(capsule_pid, secret));
}

static int keep(struct capsule *capsule, const char *run, unsigned keep_ms, const char *secret)
{
	cleanup_strvec struct strvec variables = { 0 };
	strvec_pushf(&variables, "HIDDEN=%s", secret);
	return capsule_keep_secrets(capsule, &(struct capsule_secrets){ run, keep_ms, &variables },
				    soon(), NULL);
}

/* An agent that names the secret, and does not say its value. */
static int start_named(struct capsule *capsule, unsigned attempt, const char *script,
		       struct process_id *ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 }, environment = { 0 };
	const struct capsule_start start = { RUN, attempt, &argv, &environment, scratch, 80, 24 };
	strvec_push_array(&argv, (const char *const[]){ "sh", "-c", script, NULL });
	strvec_push(&environment, "HIDDEN");
	return capsule_start(capsule, &start, soon(), ret, err);
}

static void each_attempt_of_a_run_gets_its_secrets(void **state UNUSED)
{
	enum { LONG_MS = 100000 };
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_free char *secret = xasprintf("k%s", "ept-value");
	struct process_id agent;
	assert_true(capsule_keeps_secrets(capsule));
	assert_int_equal(keep(capsule, RUN, LONG_MS, secret), 0);
	assert_int_equal(start_named(capsule, 1, "exit 1", &agent, NULL), 0);
	UNTIL(status_of(capsule).phase == CAPSULE_ENDED);
	assert_int_equal(start_named(capsule, 2, "exec sleep 100", &agent, NULL), 0);
	UNTIL(proc_has(agent.pid, "environ", secret));
	assert_false(proc_has(agent.pid, "cmdline", secret));
	assert_true(memory_has(capsule_pid, secret));
}

static void secrets_are_forgotten_when_an_agent_is_up(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_free char *secret = xasprintf("k%s", "ept-value");
	struct process_id agent;
	assert_int_equal(keep(capsule, RUN, 1, secret), 0);
	assert_int_equal(start_named(capsule, 1, "exec sleep 100", &agent, NULL), 0);
	UNTIL(proc_has(agent.pid, "environ", secret));
	UNTIL(!memory_has(capsule_pid, secret));
}

static void an_agent_does_not_start_without_its_secrets(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct process_id agent;
	struct error err = { 0 };
	assert_int_equal(start_named(capsule, 1, "exec sleep 100", &agent, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "secret HIDDEN"));
	error_clear(&err);
	/* Those of another run are not meant. */
	assert_int_equal(keep(capsule, "another-run", 1, "value"), 0);
	assert_int_equal(start_named(capsule, 1, "exec sleep 100", &agent, &err), -1);
	error_clear(&err);
	assert_int_equal(status_of(capsule).phase, CAPSULE_EMPTY);
}

static int run_with_ticket(const char *ticket)
{
	cleanup_free char *program = built("agentdeck-capsule");
	cleanup_free char *path = path_join(scratch, ticket);
	cleanup_free char *ran = path_join(scratch, "ran");
	cleanup_child_result struct child_result result = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ program, "exec", path, "touch", ran, NULL }
	};
	enum { LONG_MS = 60000 };
	assert_int_equal(child_run(&request, LONG_MS, &result, NULL), 0);
	return result.exit_status;
}

static void a_command_runs_only_if_it_takes_its_ticket(void **state UNUSED)
{
	assert_int_equal(run_with_ticket("ticket"), ENDPOINT_EXIT_GONE);
	assert_false(exists("ran"));
	put("ticket", "");
	assert_int_equal(run_with_ticket("ticket"), 0);
	assert_true(exists("ran"));
	assert_false(exists("ticket"));
}

static void the_agent_gets_what_an_agent_needs(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	(void)started(capsule, 1,
		      "{ tty; pwd; ps -o tpgid=,pgid= -p $$; grep SigBlk /proc/self/status;"
		      " ls /proc/self/fd | wc -l; echo \"$AGENTDECK_CAPSULE\"; } > got 2>&1");
	UNTIL(has_ended(capsule));
	cleanup_free char *got = get("got");
	int foreground = 0, group = 1, descriptors = 99;
	char directory[256] = "";
	assert_int_equal(sscanf(got, "/dev/pts/%*d %*s %d %d SigBlk: 0000000000000000 %d %255s",
				&foreground, &group, &descriptors, directory),
			 4);
	assert_int_equal(foreground, group);
	assert_true(descriptors <= 4);
	assert_string_equal(directory, scratch);
}

static void a_stop_asks_the_agent_first(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct capsule_exit got;
	(void)started(capsule, 1,
		      "trap 'echo hup >> signals' HUP; trap 'echo term >> signals; exit 3' TERM;"
		      "touch up; while :; do sleep 0.05; done");
	UNTIL(exists("up"));
	assert_int_equal(capsule_stop(capsule, SOON_MS, NULL), 0);
	assert_int_equal(capsule_ended(), 3);
	cleanup_free char *signals = get("signals");
	assert_non_null(strstr(signals, "hup"));
	assert_non_null(strstr(signals, "term"));
	assert_int_equal(capsule_read_exit(scratch, RUN, &got, NULL), 0);
	assert_int_equal(got.code, 3);
	assert_true(got.by_stop);
}

static void after_the_grace_a_stop_kills(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct capsule_exit got;
	const struct process_id agent = started(
		capsule, 1, "trap '' HUP TERM; touch up; while :; do sleep 0.05; done");
	UNTIL(exists("up"));
	assert_int_equal(capsule_stop(capsule, 50, NULL), 0);
	assert_int_equal(capsule_ended(), 128 + SIGKILL);
	assert_false(process_alive(&agent));
	assert_int_equal(capsule_read_exit(scratch, RUN, &got, NULL), 0);
	assert_int_equal(got.signal, SIGKILL);
	assert_true(got.by_stop);
}

static void a_stop_ends_what_the_agent_left_behind(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct process_id left = { 0 };
	(void)started(capsule, 1,
		      "setsid sh -c 'trap \"\" HUP TERM; echo $$ > left; while :; do sleep 0.05;"
		      " done' & while ! test -s left; do sleep 0.05; done");
	UNTIL(has_ended(capsule));
	cleanup_free char *text = get("left");
	assert_int_equal(process_identify((pid_t)strtol(text, NULL, 10), &left, NULL), 0);
	assert_int_equal(capsule_stop(capsule, SOON_MS, NULL), 0);
	assert_int_equal(capsule_ended(), 0);
	assert_false(process_alive(&left));
}

static void sigterm_is_a_stop(void **state UNUSED)
{
	cleanup_capsule struct capsule *capsule = connected();
	struct capsule_exit got;
	(void)started(capsule, 1,
		      "trap '' HUP; trap 'exit 4' TERM; touch up; while :; do sleep 0.05; done");
	UNTIL(exists("up"));
	(void)kill(capsule_pid, SIGTERM);
	assert_int_equal(capsule_ended(), 4);
	assert_int_equal(capsule_read_exit(scratch, RUN, &got, NULL), 0);
	assert_true(got.by_stop);
}

static void a_capsule_that_was_killed_is_absent_and_the_next_one_is_found(void **state UNUSED)
{
	cleanup_capsule struct capsule *old = connected();
	struct capsule *capsule;
	struct capsule_status status;
	(void)kill(capsule_pid, SIGKILL);
	(void)capsule_ended();
	assert_true(exists("capsule.sock"));
	assert_int_equal(capsule_connect(scratch, soon(), &capsule, NULL), CAPSULE_ABSENT);
	assert_int_equal(capsule_status(old, soon(), &status, NULL), -1);
	begin_capsule();
	cleanup_capsule struct capsule *new = connected();
	assert_int_equal(capsule_process(new).pid, capsule_pid);
}

static void a_capsule_that_hangs_is_silent_and_not_absent(void **state UNUSED)
{
	cleanup_capsule struct capsule *first = connected();
	struct capsule *second;
	int status;
	(void)kill(capsule_pid, SIGSTOP);
	assert_int_equal(waitpid(capsule_pid, &status, WUNTRACED), capsule_pid);
	assert_int_equal(capsule_connect(scratch, clock_ms() + 50, &second, NULL), CAPSULE_SILENT);
	(void)kill(capsule_pid, SIGCONT);
	assert_int_equal(status_of(first).phase, CAPSULE_EMPTY);
}

static void a_foreign_token_is_refused(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_capsule struct capsule *capsule = connected();
	struct capsule *other;
	/* A directory with the same socket and another token. */
	assert_int_equal(mkdirat(here, "other", 0700), 0);
	assert_int_equal(linkat(here, "capsule.sock", here, "other/capsule.sock", 0), 0);
	put("other/token", "another");
	cleanup_free char *directory = path_join(scratch, "other");
	assert_int_equal(capsule_connect(directory, soon(), &other, &err), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_non_null(strstr(err.message, "token"));
	error_clear(&err);
	assert_int_equal(unlinkat(here, "other/token", 0), 0);
	assert_int_equal(capsule_connect(directory, soon(), &other, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_int_equal(status_of(capsule).phase, CAPSULE_EMPTY);
}

static void the_next_runs_token_counts_at_once(void **state UNUSED)
{
	cleanup_capsule struct capsule *first = connected();
	put("token", "the next");
	cleanup_capsule struct capsule *second = connected();
	assert_int_equal(status_of(second).phase, CAPSULE_EMPTY);
	assert_int_equal(status_of(first).phase, CAPSULE_EMPTY);
}

static void a_long_path_is_no_obstacle(void **state UNUSED)
{
	enum { DEPTH = 4, LONG = 60 };
	cleanup_strbuf struct strbuf path = { 0 };
	struct capsule *capsule = NULL;
	strbuf_adds(&path, scratch);
	for (int i = 0; i < DEPTH; i++) {
		strbuf_addf(&path, "/%0*d", LONG, i);
		assert_int_equal(mkdir(path.data, 0700), 0);
	}
	cleanup_free char *program = built("agentdeck-capsule");
	cleanup_close int fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, "token", TOKEN, strlen(TOKEN), FS_VOLATILE, NULL), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)execl(program, "agentdeck-capsule", "init", path.data, NULL);
		_exit(127);
	}
	assert_int_equal(capsule_await(path.data, soon(), &capsule, NULL), 0);
	assert_int_equal(capsule_process(capsule).pid, pid);
	assert_int_equal(capsule_stop(capsule, 0, NULL), 0);
	capsule_close(capsule);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* --- as PID 1 --------------------------------------------------------------------------------- */

/* The capsule in namespaces of its own, as in a container. */
static int set_up_container(void **state)
{
	if (set_up(state) < 0)
		return -1;
	put("token", TOKEN);
	cleanup_free char *program = built("agentdeck-capsule");
	capsule_pid = geteuid() == 0 ? fork() : 0;
	if (geteuid() == 0 && capsule_pid == 0) {
		(void)execlp("unshare", "unshare", "--pid", "--fork", "--mount-proc", program,
			     "init", scratch, NULL);
		_exit(127);
	}
	return 0;
}

static int tear_down_container(void **state)
{
	if (capsule_pid) {
		cleanup_capsule struct capsule *capsule = connected();
		(void)capsule_stop(capsule, 0, NULL);
		(void)capsule_ended();
	}
	return tear_down(state);
}

static void a_container_tells_the_pids_of_this_host(void **state UNUSED)
{
	if (geteuid() != 0)
		skip();
	cleanup_capsule struct capsule *first = connected();
	cleanup_strvec struct strvec argv = { 0 };
	struct process_id agent = { 0 }, parent = { 0 };
	const struct capsule_start start = {
		.run = RUN, .attempt = 1, .argv = &argv, .directory = scratch
	};
	strvec_push(&argv, "sh");
	strvec_push(&argv, "-c");
	strvec_push(&argv, "echo $$ > pid; exec sleep 100");
	assert_int_equal(capsule_start(first, &start, soon(), &agent, NULL), 0);
	UNTIL(exists("pid"));
	cleanup_free char *inside = get("pid");
	assert_true(process_alive(&agent));
	assert_int_not_equal(agent.pid, strtol(inside, NULL, 10));
	cleanup_free char *both = xasprintf("NSpid:\t%d\t%s", agent.pid, inside);
	assert_true(proc_has(agent.pid, "status", both));
	/* The agent is the capsule's child, and the capsule is known as well. */
	parent = capsule_process(first);
	pid_t found = 0;
	assert_int_equal(process_parent(agent.pid, &found, NULL), 0);
	assert_int_equal(found, parent.pid);
	assert_true(proc_has(parent.pid, "status", "\t1\n"));
	/* A connection that did not start it. */
	cleanup_capsule struct capsule *second = connected();
	assert_int_equal(status_of(second).phase, CAPSULE_RUNNING);
	const struct process_id same = capsule_agent(second);
	assert_true(process_same(&agent, &same));
}

static void a_container_ends_when_its_capsule_was_told_to(void **state UNUSED)
{
	if (geteuid() != 0)
		skip();
	cleanup_capsule struct capsule *capsule = connected();
	cleanup_strvec struct strvec argv = { 0 };
	struct process_id agent = { 0 };
	const struct capsule_start start = {
		.run = RUN, .attempt = 1, .argv = &argv, .directory = scratch
	};
	/* A process without a parent of its own, which obeys and says so. */
	strvec_push(&argv, "sh");
	strvec_push(&argv, "-c");
	strvec_push(&argv,
		    "setsid sh -c 'trap \"echo asked > orphan; exit\" TERM; touch up;"
		    " while :; do sleep 0.05; done' & while ! test -e up; do sleep 0.05; done;"
		    " exit 5");
	assert_int_equal(capsule_start(capsule, &start, soon(), &agent, NULL), 0);
	UNTIL(exists("up"));
	UNTIL(has_ended(capsule));
	assert_int_equal(capsule_stop(capsule, SOON_MS, NULL), 0);
	assert_int_equal(capsule_ended(), 5);
	cleanup_free char *orphan = get("orphan");
	assert_string_equal(orphan, "asked\n");
}

static void a_container_is_stopped_by_sigterm(void **state UNUSED)
{
	if (geteuid() != 0)
		skip();
	cleanup_capsule struct capsule *capsule = connected();
	/* `docker stop` signals PID 1 from outside. */
	const struct process_id init = capsule_process(capsule);
	assert_int_equal(process_signal(&init, SIGTERM, NULL), 0);
	assert_int_equal(capsule_ended(), 0);
}

#define PLAIN(test)     cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define PROGRAM(test)   cmocka_unit_test_setup_teardown(test, set_up_capsule, tear_down_capsule)
#define CONTAINER(test) cmocka_unit_test_setup_teardown(test, set_up_container, tear_down_container)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(where_nobody_listens_the_capsule_is_absent),
		PLAIN(a_wait_for_a_capsule_ends),
		PLAIN(the_exit_of_another_run_does_not_count),
		PROGRAM(a_capsule_starts_empty_and_is_known_by_its_process),
		PROGRAM(a_start_tells_the_agents_process),
		PROGRAM(another_connection_learns_of_the_same_process),
		PROGRAM(the_same_attempt_is_started_once),
		PROGRAM(beside_a_running_agent_no_other_one_starts),
		PROGRAM(the_next_attempt_runs_in_the_same_capsule),
		PROGRAM(what_is_read_of_an_agent_that_does_not_end_is_no_answer),
		PROGRAM(what_it_wrote_is_read_after_its_end),
		PROGRAM(a_program_that_does_not_exist_is_an_error_with_its_name),
		PROGRAM(a_secret_is_in_the_agents_environment_and_nowhere_else),
		PROGRAM(each_attempt_of_a_run_gets_its_secrets),
		PROGRAM(secrets_are_forgotten_when_an_agent_is_up),
		PROGRAM(an_agent_does_not_start_without_its_secrets),
		PROGRAM(a_command_runs_only_if_it_takes_its_ticket),
		PROGRAM(the_agent_gets_what_an_agent_needs),
		PROGRAM(a_stop_asks_the_agent_first),
		PROGRAM(after_the_grace_a_stop_kills),
		PROGRAM(a_stop_ends_what_the_agent_left_behind),
		PROGRAM(sigterm_is_a_stop),
		PROGRAM(a_capsule_that_was_killed_is_absent_and_the_next_one_is_found),
		PROGRAM(a_capsule_that_hangs_is_silent_and_not_absent),
		PROGRAM(a_foreign_token_is_refused),
		PROGRAM(the_next_runs_token_counts_at_once),
		PROGRAM(a_long_path_is_no_obstacle),
		CONTAINER(a_container_tells_the_pids_of_this_host),
		CONTAINER(a_container_ends_when_its_capsule_was_told_to),
		CONTAINER(a_container_is_stopped_by_sigterm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
