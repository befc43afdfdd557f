/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A login that stays: a terminal over SSH, with commands typed into it, until it ends in one of the
 * ways in which logins end.
 */
#pragma once

#include "persistence/machine.h"

struct login;

/* Open a real SSH login with a terminal.  Besides its shell it leaves a daemon running, the
 * witness, which is in the position of a server without isolation.  Locally the test is skipped. */
struct login *login_open(void);

/* Run a command in that login. */
struct answer login_run(struct login *login, const char *const *argv);

/* "agentdeck attach" in that login's terminal; it does not wait for it.  Until login_detach(), or
 * the login's end, the terminal takes no other command. */
void login_attach(struct login *login, const char *title);
/* The user presses Ctrl+Q.  Returns when the command has ended. */
void login_detach(struct login *login);

const char *login_number(const struct login *login);
/* "session-<number>.scope". */
const char *login_scope(const struct login *login);
/* Whether logind still has the session. */
bool login_is_known(const struct login *login);
/* Whether its user is still in it.  A session whose leader has gone stays "closing" while a process
 * is left. */
bool login_is_open(const struct login *login);
const struct process *login_witness(const struct login *login);

/* The user types "exit".  Returns when the connection is closed. */
void login_close(struct login *login);
/* The connection breaks: the client is killed. */
void login_drop(struct login *login);
/* The connection breaks at the other end: its sshd is killed. */
void login_kill_daemon(struct login *login);
/* "loginctl terminate-session": returns when the session and its witness are gone. */
void login_terminate(struct login *login);

/* Give logind this setting ("KillUserProcesses=yes") from now on, in place of an earlier one. */
void login_configure(const char *setting);

/* End all of a test's logins and witnesses. */
void login_end_all(void);
