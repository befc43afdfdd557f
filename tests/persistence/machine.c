/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/machine-internal.h"

#include "persistence/enter.h"

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { COMMAND_TIMEOUT_MS = 180000, POWER_TIMEOUT_MS = 400000, BACKGROUND_MAX = 16 };

struct machine machine;

static struct {
	struct child child;
	struct process process;
} backgrounds[BACKGROUND_MAX];
static size_t background_count;
static pid_t driver;

/* ---- outside ----------------------------------------------------------------------------- */

static int run(const char *const *argv, int timeout_ms, struct answer *ret, struct error *err)
{
	struct child_result result = { 0 };
	const struct child_request request = { .argv = argv, .new_session = true };
	int r = child_run(&request, timeout_ms, &result, err);
	if (r > 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed", argv[0]);
	if (r < 0)
		return -1;
	*ret = (struct answer){
		.status = result.exit_status,
		.output = keep(strbuf_take(&result.output)),
		.errors = keep(strbuf_take(&result.errors)),
	};
	return 0;
}

struct answer outside(const char *const *argv, int timeout_ms)
{
	struct answer answer = { 0 };
	struct error err = { 0 };
	if (run(argv, timeout_ms, &answer, &err) < 0)
		fail_test("%s", err.message);
	return answer;
}

static struct answer testhost(const char *verb, const char *const *more, int timeout_ms)
{
	struct strvec *argv = kept_vector();
	strvec_push_array(argv, WORDS(machine.testhost, verb, machine.directory));
	if (more)
		strvec_push_array(argv, more);
	return outside((const char *const *)argv->items, timeout_ms);
}

static struct answer log_in(const char *const *argv)
{
	struct strvec *words = kept_vector();
	strvec_push(words, "--");
	strvec_push_array(words, argv);
	struct answer answer = testhost("ssh", (const char *const *)words->items,
					COMMAND_TIMEOUT_MS);
	ASSERT(answer.status != ENTER_LOST && answer.status != 255,
	       "the test host does not take '%s': %s", argv[0], answer.errors);
	return answer;
}

static struct answer enter_as_root(const char *const *argv)
{
	struct strvec *words = enter_argv(&machine.init, machine.cgroup, 0, "root");
	strvec_push_array(words, argv);
	struct answer answer = outside((const char *const *)words->items, COMMAND_TIMEOUT_MS);
	ASSERT(answer.status != ENTER_LOST, "the test host does not take '%s': %s", argv[0],
	       answer.errors);
	return answer;
}

const char *machine_source(const char *path)
{
	return kept("%s/%s", machine.tests, path);
}

const char *machine_cache(void)
{
	const char *own = getenv("AGENTDECK_TEST_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
	if (!is_empty(own))
		return own;
	if (!machine.local)
		return "/var/cache/agentdeck-tests";
	return is_empty(xdg) ? kept("%s/.cache/agentdeck-tests", or_empty(getenv("HOME")))
			     : kept("%s/agentdeck-tests", xdg);
}

/* ---- the environment of the user's commands ---------------------------------------------- */

void machine_set(const char *name, const char *value)
{
	const char *prefix = kept("%s=", name);
	for (size_t i = 0; i < machine.environment->count; i++) {
		if (!starts_with(machine.environment->items[i], prefix))
			continue;
		replace_string(&machine.environment->items[i], kept("%s%s", prefix, value));
		return;
	}
	strvec_pushf(machine.environment, "%s%s", prefix, value);
}

const char *machine_search_path(void)
{
	return kept("%s:%s/bin:/usr/local/bin:/usr/bin:/bin", at_home("bin"), machine.prefix);
}

static const char *const *locally(const char *const *argv, bool as_login)
{
	struct strvec *words = kept_vector();
	strvec_push_array(words, WORDS("env", "-i"));
	strvec_pushf(words, "USER=%s", machine.user);
	strvec_pushf(words, "LOGNAME=%s", machine.user);
	strvec_push_array(words, WORDS("SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm"));
	const char *const carried[] = { "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS" };
	for (size_t i = 0; as_login && i < ARRAY_SIZE(carried); i++)
		if (getenv(carried[i]))
			strvec_pushf(words, "%s=%s", carried[i], getenv(carried[i]));
	strvec_push_all(words, machine.environment);
	strvec_push_array(words, argv);
	return (const char *const *)words->items;
}

/* "env NAME=VALUE... argv": the test's home is the user's home. */
static const char *const *in_login(const char *const *argv)
{
	if (machine.local)
		return locally(argv, true);
	struct strvec *words = kept_vector();
	strvec_push(words, "env");
	strvec_push_all(words, machine.environment);
	strvec_push_array(words, argv);
	return (const char *const *)words->items;
}

static const char *const *inside(unsigned uid, const char *user, const char *const *argv)
{
	struct strvec *words = enter_argv(&machine.init, machine.cgroup, uid, user);
	strvec_push_all(words, machine.environment);
	strvec_push_array(words, argv);
	return (const char *const *)words->items;
}

/* The argv, outside, of what machine_user() runs. */
static const char *const *without_login(const char *const *argv)
{
	return machine.local ? locally(argv, false) : inside(machine.uid, machine.user, argv);
}

static const char *const *as_root(const char *const *argv)
{
	return inside(0, "root", argv);
}

struct answer machine_login(const char *const *argv)
{
	argv = in_login(argv);
	return machine.local ? outside(argv, COMMAND_TIMEOUT_MS) : log_in(argv);
}

struct answer machine_user(const char *const *argv)
{
	struct answer answer = outside(without_login(argv), COMMAND_TIMEOUT_MS);
	ASSERT(machine.local || answer.status != ENTER_LOST, "the test host does not take '%s': %s",
	       argv[0], answer.errors);
	return answer;
}

struct answer machine_other_login(const char *const *argv)
{
	struct strvec *words = kept_vector();
	if (machine.local)
		skip_test("needs another user's login, which is not to be had on your own machine");
	strvec_push_array(words, WORDS("-u", "other", "--"));
	strvec_push_array(words, argv);
	return testhost("ssh", (const char *const *)words->items, COMMAND_TIMEOUT_MS);
}

struct answer machine_root(const char *const *argv)
{
	if (machine.local)
		skip_test("needs root, which is not to be had on your own machine");
	return enter_as_root(argv);
}

static const char *insist(struct answer answer, const char *const *argv)
{
	ASSERT(answer.status == 0, "'%s %s' ended with %d: %s%s", argv[0], or_empty(argv[1]),
	       answer.status, answer.errors, answer.output);
	return answer.output;
}

const char *machine_root_ok(const char *const *argv)
{
	return insist(machine_root(argv), argv);
}

const char *machine_user_ok(const char *const *argv)
{
	return insist(machine_user(argv), argv);
}

const char *const *machine_ssh(const char *const *argv)
{
	struct strvec *words = kept_vector();
	strvec_push_array(words, WORDS(machine.testhost, "ssh", machine.directory, "-t", "--"));
	strvec_push_array(words, argv);
	return (const char *const *)words->items;
}

const char *machine_script(const char *const *argv)
{
	struct strbuf text = { 0 };
	strbuf_adds(&text, "exec");
	for (const char *const *word = in_login(argv); *word; word++) {
		strbuf_adds(&text, " '");
		for (const char *c = *word; *c; c++)
			if (*c == '\'')
				strbuf_adds(&text, "'\\''");
			else
				strbuf_add(&text, c, 1);
		strbuf_adds(&text, "'");
	}
	strbuf_adds(&text, "\n");
	return keep(strbuf_take(&text));
}

static struct process background(const char *const *(*way_in)(const char *const *argv),
				 const char *const *argv, const char *output_path)
{
	struct error err = { 0 };
	struct strvec *words = kept_vector();
	const char *pid_path = at_home(kept(".background-%zu", background_count));
	ASSERT(background_count < BACKGROUND_MAX, "too many background processes");
	/* The pid must be the one inside, and the file must be complete when it gets its name. */
	const char *script = "echo $$ >\"$1.new\"; mv \"$1.new\" \"$1\"; out=$2; shift 2; "
			     "exec \"$@\" >\"$out\" 2>&1";
	strvec_push_array(words, way_in(WORDS("sh", "-c", script, "sh", pid_path, output_path)));
	strvec_push_array(words, argv);
	const struct child_request request = { .argv = (const char *const *)words->items,
					       .new_session = true };
	if (child_start(&request, &backgrounds[background_count].child, &err) != 0)
		fail_test("%s does not start: %s", argv[0], or_empty(err.message));
	background_count++;
	WAIT_FOR(machine_exists(pid_path), "%s does not start", argv[0]);
	struct process process = machine_process((pid_t)strtol(machine_read(pid_path), NULL, 10));
	backgrounds[background_count - 1].process = process;
	return process;
}

struct process machine_background(const char *const *argv, const char *output_path)
{
	return background(without_login, argv, output_path);
}

struct process machine_root_background(const char *const *argv, const char *output_path)
{
	if (machine.local)
		skip_test("needs root, which is not to be had on your own machine");
	return background(as_root, argv, output_path);
}

static void end_backgrounds(void)
{
	for (size_t i = 0; i < background_count; i++) {
		machine_sweep(&backgrounds[i].process);
		child_abandon(&backgrounds[i].child);
	}
	background_count = 0;
}

/* ---- power ------------------------------------------------------------------------------- */

/* "KEY=VALUE" of testhost info. */
static const char *field(const char *info, const char *key)
{
	const char *line = strstr(info, kept("\n%s=", key));
	line = line ? strchr(line, '=') + 1 : "";
	return kept("%.*s", (int)strcspn(line, "\n"), line);
}

static void find_payload(void)
{
	struct answer info = testhost("info", NULL, COMMAND_TIMEOUT_MS);
	int64_t pid, start;
	ASSERT(info.status == 0 && parse_int64(field(info.output, "pid"), 2, INT32_MAX, &pid) &&
		       parse_int64(field(info.output, "start"), 0, INT64_MAX, &start),
	       "the test host is off: %s%s", info.output, info.errors);
	machine.init = (struct process_id){ .pid = (pid_t)pid, .start = (uint64_t)start };
	replace_string(&machine.cgroup, field(info.output, "cgroup"));
	replace_string(&machine.root, kept("/proc/%d/root", (int)pid));
}

/* The manager of a user who lingers starts beside the rest.  Until it is up, a session that is
 * started without a login gets no scope. */
static void await_manager(void)
{
	const char *unit = kept("user@%u.service", machine.uid);
	if (machine_exists(kept("/var/lib/systemd/linger/%s", machine.user)))
		WAIT_FOR(machine_root(WORDS("systemctl", "is-active", "--quiet", unit)).status == 0,
			 "%s does not start", unit);
}

static void change_power(const char *verb, bool on)
{
	if (machine.local)
		skip_test("would turn your own machine off");
	struct answer answer = testhost(verb, NULL, POWER_TIMEOUT_MS);
	ASSERT(answer.status == 0, "testhost %s: %s", verb, answer.errors);
	machine.on = on;
	if (!on)
		return;
	find_payload();
	await_manager();
}

void machine_reboot(void)
{
	change_power("reboot", true);
}

/* Meanwhile the host takes no command. */
void machine_soft_reboot(void)
{
	const char *logind = machine_root_ok(
		WORDS("systemctl", "show", "-P", "MainPID", "systemd-logind.service"));
	const struct process before = machine_process((pid_t)strtol(logind, NULL, 10));
	const char *const *is_up = as_root(WORDS("systemctl", "is-active", "multi-user.target"));
	machine_root_ok(WORDS("systemctl", "soft-reboot"));
	WAIT_FOR(!machine_alive(&before), "the machine does not end");
	WAIT_FOR(outside(is_up, COMMAND_TIMEOUT_MS).status == 0, "the machine does not come back");
	await_manager();
}

void machine_powercut(void)
{
	change_power("powercut", false);
}

void machine_boot(void)
{
	change_power("boot", true);
}

const char *machine_boot_id(void)
{
	return or_empty(machine_read("/proc/sys/kernel/random/boot_id"));
}

/* ---- the suite's machine ----------------------------------------------------------------- */

/* The host must not outlive us.  All functions called here are allowed in a handler
 * (signal-safety(7)).  A child that has not become its program yet is not the driver. */
static void on_signal(int signal_number)
{
	char *const argv[] = { machine.testhost, (char *)"down", machine.directory, NULL };
	pid_t pid = getpid() == driver ? fork() : -1;
	if (pid == 0) {
		sigset_t none;
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		/* After SIGPIPE, its words would end it. */
		int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		(void)dup2(nowhere, STDOUT_FILENO);
		(void)dup2(nowhere, STDERR_FILENO);
		(void)execv(machine.testhost, argv);
		_exit(127);
	}
	/* signal(2) restarts it after another signal. */
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	_exit(128 + signal_number);
}

static const char *check_local(void)
{
	const struct passwd *user = getpwuid(getuid());
	struct answer answer = { 0 };
	machine.uid = getuid();
	machine.user = xstrdup(user ? user->pw_name : "nobody");
	machine.root = xstrdup("");
	machine.on = true;
	machine.lacks_engines = xstrdup("the tests do not use the containers of your own machine");
	if (run(WORDS("systemctl", "--user", "show", "--property=Version"), COMMAND_TIMEOUT_MS,
		&answer, NULL) < 0 ||
	    answer.status != 0)
		return "AGENTDECK_TEST_LOCAL=1 needs a systemd user manager, and there is none";
	return NULL;
}

/* "testhost up".  A host with another system does not see this machine: it gets the programs that
 * the tests need from here, and cannot change them. */
static const char *const *up_words(bool with_engines)
{
	struct strvec *words = kept_vector();
	const char *other = getenv("AGENTDECK_TEST_ROOT");
	const char *const shared[] = { machine.prefix, machine_cache() };
	strvec_push_array(words, WORDS(machine.testhost, "up", machine.directory));
	if (with_engines)
		strvec_push(words, "--engines");
	if (is_empty(other))
		return (const char *const *)words->items;
	strvec_push_array(words, WORDS("--root", other));
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (shared[i] && access(shared[i], F_OK) == 0)
			strvec_push_array(words, WORDS("--bind-ro", shared[i]));
	return (const char *const *)words->items;
}

/* Without engines, if their programs are not installed. */
static int up(bool with_engines, struct answer *ret, struct error *err)
{
	if (with_engines) {
		if (run(up_words(true), POWER_TIMEOUT_MS, ret, err) < 0)
			return -1;
		if (ret->status != 77)
			return 0;
		machine.lacks_engines = xstrdup(ret->errors);
	}
	return run(up_words(false), POWER_TIMEOUT_MS, ret, err);
}

static const char *boot_host(bool with_engines)
{
	struct answer answer = { 0 };
	struct error err = { 0 };
	const char *temporary = getenv("TMPDIR");
	if (geteuid() != 0)
		return "needs root for the test host, or AGENTDECK_TEST_LOCAL=1 on a machine with "
		       "systemd";
	machine.uid = 4711;
	machine.user = xstrdup("deck");
	machine.directory = xasprintf("%s/agentdeck-persistence-XXXXXX",
				      is_empty(temporary) ? "/tmp" : temporary);
	if (!mkdtemp(machine.directory)) {
		fprintf(stderr, "persistence: %s: %s\n", machine.directory, strerror(errno));
		exit(1);
	}
	/* Not before it is up: otherwise there is nothing to take down yet, and it comes up
	 * afterwards. */
	const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	sigset_t blocked, before;
	driver = getpid();
	(void)sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		(void)sigaddset(&blocked, signals[i]);
		(void)signal(signals[i], on_signal);
	}
	(void)sigprocmask(SIG_BLOCK, &blocked, &before);
	int r = up(with_engines, &answer, &err);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (r < 0) {
		fprintf(stderr, "persistence: %s\n", err.message);
		exit(1);
	}
	if (answer.status == 77)
		return xstrdup(answer.errors);
	if (answer.status != 0) {
		fprintf(stderr, "persistence: no test host: %s", answer.errors);
		exit(1);
	}
	machine.on = true;
	find_payload();
	return NULL;
}

const char *machine_up(bool with_engines)
{
	/* What is installed does not change while the suite runs. */
	(void)setenv("TESTHOST_REFRESH", "no", true);
	const char *tests = getenv("AGENTDECK_TEST_SOURCE");
	const char *prefix = getenv("AGENTDECK_TEST_PREFIX");
	machine.tests = xstrdup(tests ? tests : TESTS_SOURCE);
	machine.testhost = xasprintf("%s/testbed/testhost", machine.tests);
	machine.prefix = xstrdup(is_empty(prefix) ? "/usr/local" : prefix);
	machine.local = streq(or_empty(getenv("AGENTDECK_TEST_LOCAL")), "1");
	const char *program = kept("%s/bin/agentdeck", machine.prefix);
	if (access(program, X_OK) != 0)
		return xasprintf("%s is not there: make install, or say AGENTDECK_TEST_PREFIX",
				 program);
	return machine.local ? check_local() : boot_host(with_engines);
}

void machine_down(void)
{
	struct answer answer = { 0 };
	if (machine.directory && (run(WORDS(machine.testhost, "down", machine.directory),
				      POWER_TIMEOUT_MS, &answer, NULL) < 0 ||
				  answer.status != 0))
		fprintf(stderr, "persistence: %s could not be taken down: %s\n", machine.directory,
			or_empty(answer.errors));
	free(machine.testhost);
	free(machine.tests);
	free(machine.directory);
	free(machine.prefix);
	free(machine.user);
	free(machine.root);
	free(machine.cgroup);
	free(machine.lacks_engines);
	machine = (struct machine){ 0 };
}

const char *machine_lacks_engines(void)
{
	return machine.lacks_engines;
}

const char *machine_prefix(void)
{
	return machine.prefix;
}

bool machine_is_local(void)
{
	return machine.local;
}

unsigned machine_uid(void)
{
	return machine.uid;
}

const char *machine_user_name(void)
{
	return machine.user;
}

/* ---- one test ---------------------------------------------------------------------------- */

void machine_begin_test(const char *name)
{
	free(machine.home);
	machine.home = machine.local ? xasprintf("/tmp/agentdeck-%d-%s", (int)getpid(), name)
				     : xasprintf("/home/%s/%s", machine.user, name);
	machine.environment = kept_vector();
	machine_set("HOME", machine.home);
	machine_set("PATH", machine_search_path());
	machine_make_directory(machine.home);
}

const char *machine_end_test(void)
{
	if (!machine.home)
		return NULL;
	if (!machine.on)
		change_power("boot", true);
	end_backgrounds();
	const char *left = machine_kill_rest(kept("HOME=%s", machine.home));
	const char *const remove[] = { "rm", "-rf", machine.home, NULL };
	struct answer answer = machine.local ? outside(remove, COMMAND_TIMEOUT_MS)
					     : enter_as_root(remove);
	ASSERT(answer.status == 0, "%s cannot be removed: %s", machine.home, answer.errors);
	free(machine.home);
	machine.home = NULL;
	return left;
}

const char *home(void)
{
	return machine.home;
}

const char *at_home(const char *path)
{
	return kept("%s/%s", machine.home, path);
}
