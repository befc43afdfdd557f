/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ssh(1) as agentdeck calls it: with the user's configuration, but for what would break a link, and
 * with a control socket of our own.  The user's own masters are not touched.
 */
#pragma once

#include "base/process.h"
#include "model/host/remote.h"

enum ssh_mode {
	SSH_MASTER,   /* connect, open the control socket, and continue in the background */
	SSH_LOGIN,    /* the same, with this terminal, and without an end of its own */
	SSH_LINK,     /* run a command on pipes */
	SSH_FORWARD,  /* lead descriptors 0 and 1 to a port of the host, "ADDRESS:PORT" */
	SSH_CHECK,    /* ask the socket for a subsystem, and never make a connection */
	SSH_TERMINAL, /* run a command on this terminal, which may be asked for a password */
	SSH_PIPES,    /* run a command on our descriptors, of which one is no terminal */
};

/* ssh adds a dot and 16 characters to the name of a socket that it makes: unix(7), 108 bytes. */
enum { SSH_CONTROL_MAX = 107 - 17 };
/* Can ssh use this path for its control socket?  It expands "%", "~" and "$". */
bool ssh_is_control(const char *path);

/* Behind the path of the control socket: a link to the socket of the user's ssh-agent, which goes
 * along with a terminal where remote->forward_agent says so. */
#define SSH_AGENT ".agent"

/* control: the path of the socket, NULL for none.  command is what a shell of the host reads; NULL
 * for SSH_MASTER and SSH_LOGIN. */
void ssh_argv(enum ssh_mode mode, const struct remote *remote, const char *control,
	      const char *command, struct strvec *ret);

/* The processes that have, or had, this socket.  *ret: the caller frees.  Returns how many. */
size_t ssh_list_masters(const char *control, struct process_id **ret);

/* Let the master that has the socket take no more commands, and end after those that it has.  One
 * that does not answer is killed.  The socket is gone afterwards. */
void ssh_end_master(const struct remote *remote, const char *control);

/* The last lines of what it said, visible, on one line; "no message".  The caller frees. */
char *ssh_words(const char *text) MUST_USE;
