/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/way.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/link/ssh.h"

#include <string.h>

enum {
	WARM_SHARE = 3, /* of the timeout: for a connection that is there */
	SCOPE_MS = 5000,
	CHECK_MS = 3000,
	SYSTEM_MS = 10000,
	AT_ONCE_MS = 1000,
	LINE_SHOWN = 100
};

/* Put it where the end of this login does not reach it.  Where that fails it ends with the login,
 * and the next link makes another one. */
static void make_scope(struct deck *deck, const struct remote *remote,
		       const struct way_files *files, pid_t pid)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *name = xasprintf("agentdeck-link-%s.scope", files->name);
	cleanup_free char *slice = xasprintf("agentdeck-link-%s.slice", files->name);
	cleanup_free char *description = xasprintf("agentdeck link to %s", remote->name);
	const struct unit_scope scope = { .name = name,
					  .slice = slice,
					  .description = description,
					  .pid = pid,
					  .stop_timeout_s = 1 };
	const int64_t deadline_ms = clock_ms() + SCOPE_MS;
	int r = unit_start_scope(deck_bus(deck), &scope, deadline_ms, &err);
	/* An old connection has just ended. */
	if (r == UNIT_TAKEN && unit_wait_gone(deck_bus(deck), name, deadline_ms, &err) == 0 &&
	    unit_wait_gone(deck_bus(deck), slice, deadline_ms, &err) == 0)
		r = unit_start_scope(deck_bus(deck), &scope, deadline_ms, &err);
	if (r != 0)
		log_warning("%s: no scope for its ssh: %s", remote->name,
			    err.message ? err.message : name);
}

/* What a host in between said: with ControlPersist, ssh throws that away.  NULL: nothing, since it
 * connects now.  The caller frees. */
static char *ask_hops(const struct remote *remote, int64_t deadline_ms)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	struct child child;
	ssh_argv(SSH_LINK, remote, NULL, "exit", &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .new_session = true,
					       .bound = true };
	return child_start(&request, &child, NULL) == 0 &&
			       child_finish(&child, deadline_ms, &result, NULL) == 0 &&
			       result.exit_status != 0
		       ? ssh_words(strbuf_text(&result.errors))
		       : NULL;
}

/* A new connection leads to no agent before the next attach. */
static void forget_agent(const struct way_files *files)
{
	cleanup_free char *name = xasprintf("%s" SSH_AGENT, files->name);
	(void)unlinkat(files->directory, name, 0);
}

/* Start ssh, which continues in the background once it is connected. */
static int connect_to(struct deck *deck, const struct remote *remote, const struct way_files *files,
		      int64_t deadline_ms, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	const bool has_manager = deck_bus(deck) != NULL;
	struct child child;
	if (has_manager)
		strvec_push(&argv, deck->gate);
	forget_agent(files);
	ssh_argv(SSH_MASTER, remote, files->control, NULL, &argv);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&argv),
		.gate = has_manager,
		.new_session = true,
		.outlives_us = true,
	};
	const int r = child_start(&request, &child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here", argv.items[0]);
	if (r < 0)
		return -1;
	if (has_manager) {
		make_scope(deck, remote, files, child.pid);
		(void)fs_write_all(child.gate, "g", 1, "the gate", NULL);
	}
	cleanup_error struct error why = { 0 };
	const bool has_ended = child_finish(&child, deadline_ms, &result, &why) == 0;
	if (has_ended && result.exit_status == 0)
		return 0;
	if (!has_ended && !result.errors.length)
		return error_move(err, &why);
	cleanup_free char *words = ssh_words(strbuf_text(&result.errors));
	if (!has_ended)
		return error_set(err, ERROR_TIMEOUT, WAY_WAITS "; it printed: %s", words);
	/* A connection through another program has no address. */
	cleanup_free char *hops = strstr(words, "UNKNOWN port") ? ask_hops(remote, deadline_ms)
								: NULL;
	return error_set(err, ERROR_CHILD, "%s", hops ? hops : words);
}

static int open_link(const struct remote *remote, const struct way_files *files,
		     int64_t deadline_ms, struct link **ret, struct error *err)
{
	cleanup_free char *command = xasprintf("%s serve --stdio", remote->program);
	cleanup_strvec struct strvec argv = { 0 };
	ssh_argv(SSH_LINK, remote, files->control, command, &argv);
	return link_open(&argv, deadline_ms, ret, err);
}

/* A connection can be there and not answer, for example when its ssh is stopped. */
static int open_warm(const struct remote *remote, const struct way_files *files, struct link **ret,
		     struct error *err)
{
	const int64_t deadline_ms = clock_ms() + remote->timeout_s * 1000 / WARM_SHARE;
	cleanup_error struct error why = { 0 };
	if (open_link(remote, files, deadline_ms, ret, &why) == 0)
		return 0;
	if (why.code != ERROR_TIMEOUT && why.code != ERROR_CHILD)
		return error_move(err, &why);
	log_info("%s: its connection is replaced: %s", remote->name, why.message);
	ssh_end_master(remote, files->control);
	return 1;
}

static int ssh_open(struct deck *deck, const struct remote *remote, const struct way_files *files,
		    struct link **ret, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	int64_t deadline_ms = clock_ms() + remote->timeout_s * 1000;
	int r = way_has_socket(files) ? open_warm(remote, files, ret, err) : 1;
	if (r <= 0)
		return r;
	/* A second ssh that connects at the same time would be left without a socket, and stay. */
	if (files->control)
		r = fs_lock(files->directory, files->lock, deadline_ms, &lock, err);
	if (r < 0)
		return -1;
	if (files->control && r == FS_LOCK_BUSY)
		return error_set(err, ERROR_TIMEOUT, "another command still connects");
	deadline_ms = clock_ms() + remote->timeout_s * 1000;
	if (files->control && !way_has_socket(files) &&
	    connect_to(deck, remote, files, deadline_ms, err) < 0)
		return -1;
	return open_link(remote, files, deadline_ms, ret, err);
}

static bool ssh_check(const struct remote *remote, const struct way_files *files)
{
	cleanup_error struct error why = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	/* There is no such subsystem: sshd says so without a new process, also on a busy host. */
	ssh_argv(SSH_CHECK, remote, files->control, "agentdeck-check", &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .new_session = true,
					       .bound = true };
	if (!way_has_socket(files) || child_run(&request, CHECK_MS, &result, &why) == 0 ||
	    why.code != ERROR_TIMEOUT)
		return true;
	log_info("%s: its connection is replaced: %s", remote->name, why.message);
	ssh_end_master(remote, files->control);
	return false;
}

static int ssh_open_at_once(const struct remote *remote, const struct way_files *files,
			    struct link **ret)
{
	return way_has_socket(files) &&
			       open_link(remote, files, clock_ms() + AT_ONCE_MS, ret, NULL) == 0
		       ? 0
		       : WAY_SILENT;
}

static int ssh_ask_system(const struct remote *remote, const struct way_files *files, char **ret,
			  struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_strbuf struct strbuf system = { 0 };
	if (!way_has_socket(files))
		return WAY_SILENT;
	/* What every shell understands. */
	ssh_argv(SSH_LINK, remote, files->control, "uname -sm; tmux -V", &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .new_session = true,
					       .bound = true };
	if (child_run(&request, SYSTEM_MS, &result, err) < 0)
		return -1;
	/* The files of a login may print more. */
	for (char *rest = result.output.data, *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, "Linux ") || starts_with(line, "tmux ")) {
			line[strnlen(line, LINE_SHOWN)] = '\0';
			strbuf_adds(&system, system.length ? ", " : "");
			strbuf_add_visible(&system, line);
		}
	if (!system.length)
		return WAY_SILENT;
	*ret = strbuf_take(&system);
	return 0;
}

/* The login had a terminal and no gate, so only the master that it left behind gets a scope. */
static void keep_master(struct deck *deck, const struct remote *remote,
			const struct way_files *files)
{
	cleanup_free struct process_id *masters = NULL;
	if (deck_bus(deck) && ssh_list_masters(files->control, &masters) > 0)
		make_scope(deck, remote, files, masters[0].pid);
}

static int ssh_login(struct deck *deck, const struct remote *remote, const struct way_files *files,
		     struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	int status = 0;
	if (!files->control)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s: there is no directory for its socket: see agentdeck doctor",
				 remote->name);
	int r = fs_lock(files->directory, files->lock, clock_ms() + remote->timeout_s * 1000, &lock,
			err);
	if (r < 0)
		return -1;
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "%s: another command still connects",
				 remote->name);
	if (way_has_socket(files) && open_warm(remote, files, &link, NULL) == 0)
		return WAY_CONNECTED;
	forget_agent(files);
	ssh_argv(SSH_LOGIN, remote, files->control, NULL, &argv);
	r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here", argv.items[0]);
	if (r < 0)
		return -1;
	if (status != 0)
		return error_set(err, ERROR_UNREACHABLE, "%s: ssh did not log in (exit status %d)",
				 remote->name, status);
	/* A master that answers has left our session, whose hangup would end it. */
	if (open_link(remote, files, clock_ms() + remote->timeout_s * 1000, &link, NULL) < 0 &&
	    !way_has_socket(files))
		return error_set(err, ERROR_UNREACHABLE,
				 "%s: ssh logged in, and the host ended the connection: see the "
				 "log of its sshd",
				 remote->name);
	keep_master(deck, remote, files);
	(void)unlinkat(files->directory, files->since, 0);
	return 0;
}

static bool ssh_end(const struct remote *remote, const struct way_files *files)
{
	const bool has_connection = way_has_socket(files);
	if (has_connection)
		ssh_end_master(remote, files->control);
	return has_connection;
}

static void ssh_terminal_argv(const struct way_order *order, struct strvec *ret)
{
	cleanup_strbuf struct strbuf command = { 0 };
	strbuf_addf(&command, "%s ", order->remote->program);
	for (size_t i = 0; i < order->words->count; i++)
		remote_quote(&command, order->words->items[i]);
	ssh_argv(order->is_terminal ? SSH_TERMINAL : SSH_PIPES, order->remote, order->control,
		 command.data, ret);
}

const struct way way_ssh = {
	.lacks = { [WAY_SCALE] =
			   "only a StatefulSet is scaled; a job of Slurm ends by scancel on its login host" },
	.asks_user = true,
	.is_sure = true,
	.open = ssh_open,
	.open_at_once = ssh_open_at_once,
	.argv = ssh_terminal_argv,
	.check = ssh_check,
	.end = ssh_end,
	.login = ssh_login,
	.ask_system = ssh_ask_system,
};
