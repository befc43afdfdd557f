/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/attach.h"

const char *terminal_open(const char *command, const char *name)
{
	const char *keys = at_home(name);
	machine_user_ok(WORDS("mkfifo", keys));
	(void)machine_background(WORDS("sh", "-c",
				       "exec 3<>\"$2\"; TERM=xterm exec script -qfc \"exec $1\" "
				       "/dev/null <&3 3<&-",
				       "sh", command, keys),
				 kept("%s.out", keys));
	return keys;
}

const char *attach_open(const char *words, const char *name)
{
	return terminal_open(kept("agentdeck attach %s", words), name);
}

void attach_press(const char *keys, const char *text)
{
	machine_user_ok(WORDS("sh", "-c", "printf \"$2\" >\"$1\"", "sh", keys, text));
}

const char *attach_output(const char *keys)
{
	return or_empty(machine_read(kept("%s.out", keys)));
}

const char *attach_clients(const struct session *session)
{
	return machine_user(
		       WORDS("tmux", "-S", session->socket, "list-clients", "-F", "#{client_pid}"))
		.output;
}

size_t attach_count(const struct session *session)
{
	size_t count = 0;
	for (const char *c = attach_clients(session); *c; c++)
		count += *c == '\n';
	return count;
}
