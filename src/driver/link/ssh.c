/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/link/ssh.h"

#include "base/child.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LINES_SHOWN = 3, LINE_SHOWN = 300, STOP_MS = 1000 };

bool ssh_is_control(const char *path)
{
	return strlen(path) <= SSH_CONTROL_MAX && *path == '/' &&
	       !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "/._-")];
}

/* A connection answers for the agent of those that use it, so both need the option, and a path that
 * can be led to the agent of a later login. */
static void push_agent(enum ssh_mode mode, const struct remote *remote, const char *control,
		       struct strvec *ret)
{
	const bool may_lead = mode == SSH_MASTER || mode == SSH_LOGIN || mode == SSH_TERMINAL;
	if (!remote->forward_agent || !may_lead)
		strvec_push(ret, "-a");
	else if (!control)
		strvec_push(ret, "-A");
	else
		strvec_pushf(ret, "-oForwardAgent=%s" SSH_AGENT, control);
}

void ssh_argv(enum ssh_mode mode, const struct remote *remote, const char *control,
	      const char *command, struct strvec *ret)
{
	/* ssh_config(5).  Without the first three, it hangs as long as packets are dropped.  With
	 * these, that is known after 15 s: it ends where a third answer would be due. */
	static const char *const always[] = {
		"ServerAliveInterval=5",   "ServerAliveCountMax=2", "ConnectTimeout=5",
		"ClearAllForwardings=yes", "RemoteCommand=none",    "PermitLocalCommand=no",
	};
	/* With ControlPersist, ssh hides what a host in between says or asks.  -N stays without it.
	 * A login can be silent for 2 minutes, until its user has visited an address. */
	static const char *const of_mode[][5] = {
		[SSH_MASTER] = { "BatchMode=yes", "RequestTTY=no", "ControlMaster=yes",
				 "ControlPersist=600" },
		[SSH_LOGIN] = { "RequestTTY=no", "ControlMaster=yes", "ControlPersist=no",
				"ServerAliveCountMax=24" },
		[SSH_LINK] = { "BatchMode=yes", "RequestTTY=no", "ControlMaster=no" },
		[SSH_FORWARD] = { "BatchMode=yes", "RequestTTY=no", "ControlMaster=no" },
		[SSH_CHECK] = { "BatchMode=yes", "RequestTTY=no", "ControlMaster=no",
				"ProxyCommand=false" },
		[SSH_TERMINAL] = { "RequestTTY=force", "ControlMaster=no" },
		[SSH_PIPES] = { "RequestTTY=no", "ControlMaster=no" },
	};
	strvec_push(ret, "ssh");
	push_agent(mode, remote, control, ret);
	strvec_push_array(ret, (const char *const[]){ "-x", mode == SSH_TERMINAL ? "-tt" : "-T",
						      mode <= SSH_LOGIN   ? "-fN"
						      : mode == SSH_CHECK ? "-s"
									  : NULL,
						      NULL });
	/* The first value of an option counts. */
	for (size_t i = 0; of_mode[mode][i]; i++)
		strvec_push_array(ret, (const char *const[]){ "-o", of_mode[mode][i], NULL });
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		strvec_push_array(ret, (const char *const[]){ "-o", always[i], NULL });
	strvec_push(ret, "-o");
	strvec_pushf(ret, "ControlPath=%s", control ? control : "none");
	if (mode == SSH_FORWARD)
		strvec_push_array(ret, (const char *const[]){ "-W", command, NULL });
	strvec_push_array(ret, (const char *const[]){ "--", remote->ssh,
						      mode == SSH_FORWARD ? NULL : command, NULL });
}

/* Commands that use the connection just now keep it. */
static bool stop_master(const struct remote *remote, const char *control)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *option = xasprintf("ControlPath=%s", control);
	const struct child_request request = {
		.argv = (const char *const[]){ "ssh", "-O", "stop", "-o", option, "--", remote->ssh,
					       NULL },
		.new_session = true,
		.bound = true,
	};
	return child_run(&request, STOP_MS, &result, NULL) == 0 && result.exit_status == 0;
}

size_t ssh_list_masters(const char *control, struct process_id **ret)
{
	/* The socket of a master names the process that made it, which has ended (unix(7),
	 * SO_PEERCRED); and a stopped master answers no question.  So search the command lines. */
	cleanup_free char *option = xasprintf("ControlPath=%s", control);
	size_t count = 0, found = 0;
	*ret = NULL;
	if (process_list_own(ret, &count, NULL) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		cleanup_strvec struct strvec argv = { 0 };
		if (process_argv((*ret)[i].pid, &argv, NULL) == 0 &&
		    strvec_contains(&argv, "-fN") && strvec_contains(&argv, option))
			(*ret)[found++] = (*ret)[i];
	}
	return found;
}

static void kill_master(const char *control)
{
	cleanup_free struct process_id *masters = NULL;
	const size_t count = ssh_list_masters(control, &masters);
	for (size_t i = 0; i < count; i++)
		(void)process_signal(&masters[i], SIGKILL, NULL);
}

void ssh_end_master(const struct remote *remote, const char *control)
{
	if (!stop_master(remote, control))
		kill_master(control);
	(void)unlink(control);
}

char *ssh_words(const char *text)
{
	cleanup_strvec struct strvec lines = { 0 };
	cleanup_strbuf struct strbuf words = { 0 };
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	for (char *line; (line = strsep(&rest, "\r\n"));)
		if (line[strspn(line, " \t")])
			strvec_push_take(&lines, xstrndup(line, LINE_SHOWN));
	for (size_t i = lines.count > LINES_SHOWN ? lines.count - LINES_SHOWN : 0; i < lines.count;
	     i++) {
		strbuf_adds(&words, words.length ? "; " : "");
		strbuf_add_visible(&words, lines.items[i]);
	}
	return words.length ? strbuf_take(&words) : xstrdup("no message");
}
