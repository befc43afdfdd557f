/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/link/login.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "engine/place/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20 };

/* What the files of a login print comes first.  Each shell that is known reads this line alike. */
#define MARK    "agentdeck-environment-follows"
#define COMMAND "echo " MARK "; exec env -0"

struct login {
	struct loop *loop;
	login_handler on_done;
	void *context;
	char *shell;
	struct child child;
	struct strbuf output;
	struct loop_source *end, *deadline, *streams[2];
};

/* sshd sets SHELL from the user database; other ways to get here do not. */
static char *find_shell(void)
{
	const char *shell = getenv("SHELL");
	const struct passwd *user = is_empty(shell) ? getpwuid(geteuid()) : NULL;
	if (user && !is_empty(user->pw_shell))
		shell = user->pw_shell;
	return xstrdup(is_empty(shell) ? "/bin/sh" : shell);
}

/* Many .bashrc files do nothing unless the shell is interactive. */
static void add_words(const char *shell, struct strvec *ret)
{
	const char *name = path_basename(shell);
	strvec_push(ret, shell);
	/* csh takes -l only without other words. */
	if (!streq(name, "csh") && !streq(name, "tcsh"))
		strvec_push(ret, "-l");
	strvec_push_array(ret, (const char *const[]){ "-i", "-c", COMMAND, NULL });
}

static void read_variables(const struct strbuf *output, struct strvec *ret)
{
	static const char mark[] = MARK "\n";
	const char *at = output->length ? memmem(output->data, output->length, mark, strlen(mark))
					: NULL;
	if (!at)
		return;
	at += strlen(mark);
	const char *end = output->data + output->length;
	for (const char *zero; at < end && (zero = memchr(at, '\0', (size_t)(end - at)));
	     at = zero + 1)
		strvec_push(ret, at);
}

static char *finish(const struct login *login, int status)
{
	cleanup_strvec struct strvec variables = { 0 };
	read_variables(&login->output, &variables);
	if (variables.count == 0)
		return xasprintf("the shell %s said nothing of its environment (exit status %d)",
				 login->shell, status);
	environment_adopt(&variables);
	return NULL;
}

static void unlisten(struct login *login)
{
	struct loop_source **const sources[] = { &login->end, &login->deadline, &login->streams[0],
						 &login->streams[1] };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		loop_remove(*sources[i]);
		*sources[i] = NULL;
	}
}

/* Ends all that the shell has started.  Takes why. */
static void give_up(struct login *login, char *why)
{
	cleanup_free char *text = why;
	unlisten(login);
	child_abandon(&login->child);
	login->on_done(text, login->context);
}

/* Returns whether there may be more. */
static bool read_some(struct login *login, int fd)
{
	char bytes[4096];
	const ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n > 0 && fd == login->child.output)
		strbuf_add(&login->output, bytes, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void on_output(int fd, uint32_t events UNUSED, void *context)
{
	struct login *login = context;
	if (!read_some(login, fd)) {
		const size_t i = fd != login->child.output;
		loop_remove(login->streams[i]);
		login->streams[i] = NULL;
	} else if (login->output.length > OUTPUT_MAX) {
		give_up(login, xasprintf("the shell %s prints without an end", login->shell));
	}
}

/* What its files have started may have the pipe still. */
static void on_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct login *login = context;
	while (login->output.length <= OUTPUT_MAX && read_some(login, login->child.output))
		;
	unlisten(login);
	cleanup_free char *why = finish(login, child_reap(&login->child));
	login->on_done(why, login->context);
}

static void on_deadline(void *context)
{
	struct login *login = context;
	give_up(login,
		xasprintf("the shell %s did not end within %d s", login->shell, LOGIN_MS / 1000));
}

static int start(struct login *login, struct error *err)
{
	cleanup_strvec struct strvec words = { 0 };
	add_words(login->shell, &words);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&words),
		.new_session = true,
	};
	const int r = child_start(&request, &login->child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "the shell %s is not installed",
				 login->shell);
	login->child.leads = r == 0;
	return r;
}

static int listen_to(struct login *login, struct error *err)
{
	const int fds[] = { login->child.output, login->child.errors };
	const struct loop_io end = { login->child.pidfd, EPOLLIN, on_end, login };
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		const struct loop_io io = { fds[i], EPOLLIN, on_output, login };
		(void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
		if (loop_add_io(login->loop, &io, &login->streams[i], err) < 0)
			return -1;
	}
	if (loop_add_io(login->loop, &end, &login->end, err) < 0)
		return -1;
	return loop_add_timer(login->loop, clock_ms() + LOGIN_MS, on_deadline, login,
			      &login->deadline, err);
}

int login_ask(struct loop *loop, login_handler on_done, void *context, struct login **ret,
	      struct error *err)
{
	CLEANUP(login_freep) struct login *login = xcalloc(1, sizeof(*login));
	*login = (struct login){
		.loop = loop, .on_done = on_done, .context = context, .shell = find_shell()
	};
	if (start(login, err) < 0 || listen_to(login, err) < 0)
		return -1;
	*ret = TAKE_PTR(login);
	return 0;
}

void login_free(struct login *login)
{
	if (!login)
		return;
	unlisten(login);
	child_abandon(&login->child);
	strbuf_free(&login->output);
	free(login->shell);
	free(login);
}
