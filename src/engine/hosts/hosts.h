/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Links to the user's other hosts (docs/link.md), and what is known of a host that does not answer.
 * By ssh there is one connection for each host, which stays for a while.
 */
#pragma once

#include "base/fsutil.h"
#include "engine/hosts/way.h"

enum { HOSTS_SILENT = WAY_SILENT };
/* Why a host that was stopped does not answer. */
#define HOSTS_STOPPED "scaled to 0"

/* Open a link.  It takes at most the remote's timeout: a connection that is there but does not
 * answer is replaced.  ERROR_UNREACHABLE says why, and since when.  ERROR_NEWER: as link_open(). */
int hosts_open(struct deck *deck, const struct remote *remote, struct link **ret,
	       struct error *err);

/* Like hosts_open(), but only over a connection that is there and answers within a second.
 * HOSTS_SILENT: there is none, which says nothing about the host. */
int hosts_open_at_once(struct deck *deck, const struct remote *remote, struct link **ret);

/* Have a command run there that prints one JSON value: that, also where it says that the command
 * has failed.  *ret is the caller's.  Errors as of link_run(); ERROR_CORRUPT: it printed none. */
int hosts_ask(struct link *link, const struct strvec *words, struct json_object **ret,
	      struct error *err);
/* Like hosts_ask(), but until deadline_ms of clock_ms() at most: then ERROR_UNREACHABLE. */
int hosts_ask_until(struct link *link, const struct strvec *words, int64_t deadline_ms,
		    struct json_object **ret, struct error *err);

/* Since when it does not answer, as far as this machine has asked: a time of clock_wall_us(); 0: it
 * answered, or was not asked. */
int64_t hosts_unreachable_since(const struct deck *deck, const struct remote *remote);

/* And why: what was noted then, visible, without asking; NULL: it answered, or was not asked. The
 * caller frees. */
char *hosts_why(const struct deck *deck, const struct remote *remote) MUST_USE;

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

/* Keep a text about a host until the runtime directory is gone, and read it.  what names its file.
 * A writer has read it under the same lock, of hosts_lock_note(): FS_LOCK_BUSY.
 * hosts_noted() reads at most max bytes; NULL: there is none.  The caller frees. */
int hosts_lock_note(const struct deck *deck, const struct remote *remote, const char *what,
		    int64_t timeout_ms, struct fs_lock *ret, struct error *err);
void hosts_note(const struct deck *deck, const struct remote *remote, const char *what,
		const char *text, const struct fs_lock *lock);
char *hosts_noted(const struct deck *deck, const struct remote *remote, const char *what,
		  size_t max) MUST_USE;

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
enum { HOSTS_CONNECTED = WAY_CONNECTED };
int hosts_login(struct deck *deck, const struct remote *remote, struct error *err);

/* Let its connection take no more commands, and forget since when it does not answer.  Returns
 * whether there was one. */
bool hosts_end(const struct deck *deck, const struct remote *remote);

/* Let the engine that has made the host stop it (replicas 0) or start it (1).  It is not awaited.
 * HOSTS_AS_WANTED: it is so already.  ERROR_INVALID: no engine has made it, or config.toml does not
 * say where it is.  ERROR_UNKNOWN: the engine has not answered in time. */
enum { HOSTS_AS_WANTED = WAY_AS_WANTED };
int hosts_scale(const struct deck *deck, const struct remote *remote, int64_t replicas,
		struct error *err);

/* Ask a new link for the command with this id (--once), and wait so long for its end.  *ret, the
 * caller's, is what agentdeck once prints. */
int hosts_ask_once(struct deck *deck, const struct remote *remote, const char *once,
		   const char *wait_s, struct json_object **ret, struct error *err);

/* A command that has our own descriptors. */
struct hosts_order {
	const struct remote *remote;
	const struct strvec *words; /* behind "agentdeck" */
	const char *once;           /* its id; NULL: way->is_sure, or its end is not asked for */
	bool is_terminal;           /* else they are pipes */
	bool has_answered; /* hosts_check_machine() was satisfied just now, and is not asked */
};
/* The command line of the order.  HOSTS_SILENT: the host has not answered, so ssh makes a
 * connection of its own, and may ask for a password.  Errors as of hosts_check_machine();
 * ERROR_UNREACHABLE where nothing could be asked. */
int hosts_argv(struct deck *deck, const struct hosts_order *order, struct strvec *ret,
	       struct error *err);
/* How did a program end on the host, whose process here ended with this status?  *ret_lost, which
 * may be NULL: that is not known, since the host says that it runs, or does not answer, or ssh may
 * have failed; WAY_LOST is returned then, which can be the program's own, too. */
int hosts_end_of(struct deck *deck, const struct hosts_order *order, int status, bool *ret_lost);

/* The command line of ssh that leads its descriptors 0 and 1 to "ADDRESS:PORT" of the host. */
void hosts_forward_argv(const struct deck *deck, const struct remote *remote, const char *target,
			struct strvec *ret);
/* Does sshd lead there?  HOSTS_SILENT: nothing listens at the port yet, or that is not known.
 * ERROR_REFUSED: sshd forwards nothing. */
int hosts_try_forward(const struct deck *deck, const struct remote *remote, const char *target,
		      struct error *err);
