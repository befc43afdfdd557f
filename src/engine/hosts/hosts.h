/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Links to the user's other hosts (docs/link.md): one ssh connection for each host, which stays for
 * a while, and what is known of a host that does not answer.
 */
#pragma once

#include "driver/link/link.h"
#include "driver/link/ssh.h"
#include "engine/deck/deck.h"

enum { HOSTS_SILENT = 1 };

/* Open a link.  It takes at most the remote's timeout: a connection that is there but does not
 * answer is replaced.  ERROR_UNREACHABLE says why, and since when.  ERROR_NEWER: as link_open(). */
int hosts_open(struct deck *deck, const struct remote *remote, struct link **ret,
	       struct error *err);

/* The same, but only over a connection that is there and answers within a second.  HOSTS_SILENT:
 * there is none, which says nothing about the host. */
int hosts_open_at_once(struct deck *deck, const struct remote *remote, struct link **ret);

/* Have a command run there that prints one JSON value: that, also where it says that the command
 * has failed.  *ret is the caller's.  Errors as of link_run(); ERROR_CORRUPT: it printed none. */
int hosts_ask(struct link *link, const struct strvec *words, struct json_object **ret,
	      struct error *err);

/* Since when it does not answer, as far as this machine has asked: a time of clock_wall_us(); 0: it
 * answered, or was not asked. */
int64_t hosts_unreachable_since(const struct deck *deck, const struct remote *remote);

/* Which machine and state directory it was when it last answered, as digits for comparison; remote
 * NULL: this machine.  NULL: not known.  The caller frees. */
char *hosts_identity(const struct deck *deck, const struct remote *remote) MUST_USE;
/* Which state directory of this machine it is, for a hello: not its path, which two containers can
 * share.  NULL: there is none.  The caller frees. */
char *hosts_state(const struct deck *deck) MUST_USE;

/* How many sessions wait there for their user, and when that was so: what was noted last, without
 * asking. */
void hosts_note_waiting(const struct deck *deck, const struct remote *remote, size_t count);
size_t hosts_waiting(const struct deck *deck, const struct remote *remote, int64_t *ret_at_us);

/* Does the connection that is there still work, after the network of this machine has changed?  One
 * whose sshd does not answer within 3 s takes no more commands; agentdeck there may be slower. True
 * also if there is none. */
bool hosts_check(struct deck *deck, const struct remote *remote);

/* ERROR_INVALID: config.toml names another machine, so that only what reads may run there. */
int hosts_check_machine(const struct remote *remote, const struct link *link, struct error *err);

/* What is a host where agentdeck does not start?  *ret: "Linux x86_64, tmux 3.3a", visible; the
 * caller frees.  HOSTS_SILENT: ssh does not reach it. */
int hosts_ask_system(const struct deck *deck, const struct remote *remote, char **ret,
		     struct error *err);

/* Connect on this terminal, where ssh asks its user what it needs.  The connection stays until
 * hosts_end(), or until it is lost.  HOSTS_CONNECTED: there is one that answers.
 * ERROR_UNREACHABLE: ssh has failed, and has said why. */
enum { HOSTS_CONNECTED = 1 };
int hosts_login(struct deck *deck, const struct remote *remote, struct error *err);

/* Let its connection take no more commands, and forget since when it does not answer.  Returns
 * whether there was one. */
bool hosts_end(const struct deck *deck, const struct remote *remote);

/* The command line of ssh for a command that has our own descriptors: SSH_TERMINAL or SSH_PIPES.
 * words: behind "agentdeck".  has_answered: hosts_check_machine() was satisfied just now, which is
 * not asked again.  HOSTS_SILENT: the host has not answered, so that ssh makes a connection of its
 * own, and may ask for a password.  Errors as of hosts_check_machine(). */
int hosts_ssh_argv(struct deck *deck, const struct remote *remote, enum ssh_mode mode,
		   bool has_answered, const struct strvec *words, struct strvec *ret,
		   struct error *err);

/* The command line of ssh that leads its descriptors 0 and 1 to "ADDRESS:PORT" of the host. */
void hosts_forward_argv(const struct deck *deck, const struct remote *remote, const char *target,
			struct strvec *ret);
/* Does sshd lead there?  HOSTS_SILENT: nothing listens at the port yet, or that is not known.
 * ERROR_REFUSED: sshd forwards nothing. */
int hosts_try_forward(const struct deck *deck, const struct remote *remote, const char *target,
		      struct error *err);
