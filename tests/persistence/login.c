/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/login.h"

#include "base/child.h"
#include "base/fsutil.h"

#include <signal.h>

/* Runs in the login's terminal: it reads names of scripts, as its user would type commands. */
/* clang-format off */
static const char terminal[] =
	"stty -echo\n"
	"cd \"$1\" || exit\n"
	"setsid sleep infinity </dev/null >/dev/null 2>&1 &\n"
	"echo $! >witness\n"
	"echo \"$XDG_SESSION_ID\" >number.new && mv number.new number\n"
	"while IFS= read -r name && [ \"$name\" != exit ]; do\n"
	"	sh \"./$name\" >\"$name.out\" 2>\"$name.err\"\n"
	"	echo $? >\"$name.new\" && mv \"$name.new\" \"$name.status\"\n"
	"done\n";
/* clang-format on */

struct login {
	struct child child;
	bool open;
	const char *directory, *number, *scope;
	struct process witness;
	unsigned commands;
};

enum { LOGINS_MAX = 64 };
static struct login logins[LOGINS_MAX];
static size_t login_count;

static const char *path_of(const struct login *login, const char *name)
{
	return kept("%s/%s", login->directory, name);
}

static const char *first_line(const char *text)
{
	return kept("%.*s", (int)strcspn(text, "\n"), text);
}

struct login *login_open(void)
{
	struct error err = { 0 };
	if (machine_is_local())
		skip_test("needs logins of its own that it may end: not on your own machine");
	ASSERT(login_count < LOGINS_MAX, "too many logins");
	struct login *login = &logins[login_count];
	*login = (struct login){ .directory = at_home(kept(".logins/%zu", login_count)) };
	machine_make_directory(login->directory);
	const struct child_request request = {
		.argv = machine_ssh(WORDS("sh", "-c", terminal, "terminal", login->directory)),
		.gate = true,
		.new_session = true,
	};
	if (child_start(&request, &login->child, &err) != 0)
		fail_test("no login: %s", or_empty(err.message));
	login->child.name = "ssh";
	login->open = true;
	login_count++;
	WAIT_FOR(machine_exists(path_of(login, "number")), "the login does not come up");
	login->number = first_line(machine_read(path_of(login, "number")));
	login->scope = kept("session-%s.scope", login->number);
	const char *witness = machine_read(path_of(login, "witness"));
	login->witness = machine_process((pid_t)strtol(witness, NULL, 10));
	/* Otherwise this is not a real login, and it proves nothing if something survives its
	 * end. */
	ASSERT(ends_with(machine_cgroup(login->witness.pid), login->scope),
	       "the witness is in %s, not in %s", machine_cgroup(login->witness.pid), login->scope);
	ASSERT(login_is_known(login), "logind does not know session %s", login->number);
	return login;
}

static void type(struct login *login, const char *text)
{
	struct error err = { 0 };
	if (fs_write_all(login->child.gate, text, strlen(text), "the login's terminal", &err) < 0)
		fail_test("%s", or_empty(err.message));
}

static const char *command_name(const struct login *login)
{
	return kept("command-%u", login->commands);
}

static void start_command(struct login *login, const char *const *argv)
{
	login->commands++;
	machine_write(path_of(login, command_name(login)), 0644, machine_script(argv));
	type(login, kept("%s\n", command_name(login)));
}

static const char *await_command(const struct login *login, const char *what)
{
	const char *status = path_of(login, kept("%s.status", command_name(login)));
	WAIT_FOR(machine_exists(status), "'%s' does not end in its login", what);
	return machine_read(status);
}

struct answer login_run(struct login *login, const char *const *argv)
{
	start_command(login, argv);
	return (struct answer){
		.status = (int)strtol(await_command(login, argv[0]), NULL, 10),
		.output = machine_read(path_of(login, kept("%s.out", command_name(login)))),
		.errors = machine_read(path_of(login, kept("%s.err", command_name(login)))),
	};
}

void login_attach(struct login *login, const char *title)
{
	const char *script =
		"terminal=$(tty); TERM=xterm exec agentdeck attach \"$1\" >\"$terminal\" 2>&1";
	start_command(login, WORDS("sh", "-c", script, "sh", title));
}

void login_detach(struct login *login)
{
	type(login, "\021");
	(void)await_command(login, "attach");
}

const char *login_number(const struct login *login)
{
	return login->number;
}

const char *login_scope(const struct login *login)
{
	return login->scope;
}

const struct process *login_witness(const struct login *login)
{
	return &login->witness;
}

bool login_is_known(const struct login *login)
{
	return machine_root(WORDS("loginctl", "show-session", login->number)).status == 0;
}

bool login_is_open(const struct login *login)
{
	struct answer answer = machine_root(
		WORDS("loginctl", "show-session", "-P", "State", login->number));
	return answer.status == 0 && !streq(answer.output, "closing\n");
}

/* Wait until the client has ended. */
static void finish(struct login *login)
{
	cleanup_child_result struct child_result result = { 0 };
	struct error err = { 0 };
	login->open = false;
	if (child_finish(&login->child, clock_ms() + PATIENCE_MS, &result, &err) < 0)
		fail_test("the login's connection stays open: %s", or_empty(err.message));
}

void login_close(struct login *login)
{
	type(login, "exit\n");
	finish(login);
}

void login_drop(struct login *login)
{
	login->open = false;
	child_abandon(&login->child);
}

void login_kill_daemon(struct login *login)
{
	const char *processes = kept("/sys/fs/cgroup/user.slice/user-%u.slice/%s/cgroup.procs",
				     machine_uid(), login->scope);
	/* Before OpenSSH 9.8 it is "sshd", since then "sshd-session". */
	const char *script =
		"killed=; for pid in $(cat \"$1\"); do "
		"case $(cat \"/proc/$pid/comm\") in sshd*) kill -9 \"$pid\" && killed=1;; "
		"esac; done; [ $killed ]";
	machine_root_ok(WORDS("sh", "-c", script, "sh", processes));
	finish(login);
}

void login_terminate(struct login *login)
{
	machine_root_ok(WORDS("loginctl", "terminate-session", login->number));
	WAIT_FOR(!login_is_known(login), "session %s stays", login->number);
	WAIT_FOR(!machine_alive(&login->witness),
		 "the witness outlives session %s: this was no logout", login->number);
	finish(login);
}

void login_configure(const char *setting)
{
	const char *path = "/etc/systemd/logind.conf.d/90-test.conf";
	machine_root_ok(WORDS("sh", "-c",
			      "printf '[Login]\\n%s\\n' \"$2\" >\"$1\" && "
			      "systemctl restart systemd-logind",
			      "sh", path, setting));
}

void login_end_all(void)
{
	for (size_t i = 0; i < login_count; i++) {
		if (logins[i].open)
			child_abandon(&logins[i].child);
		if (machine_alive(&logins[i].witness))
			machine_kill(&logins[i].witness, SIGKILL);
	}
	login_count = 0;
}
