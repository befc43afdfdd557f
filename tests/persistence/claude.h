/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The real claude, against a stub of the model's API in the machine.  The stub records what each
 * request carries: an earlier turn in it proves that the conversation was resumed; no screen or
 * exit status proves that.
 *
 * It runs inside the test host like everything else here, so that the scope, the user manager and
 * the login are real, too.  The program itself is installed outside, where the package registry can
 * be reached.
 */
#pragma once

#include "persistence/deck.h"

struct claude {
	struct session session;
	struct process stub;
	const char *log, *url; /* of the stub */
};

/* Install the program, start the stub on this address of the machine, and point the environment of
 * the user at both.  claude has answered its questions about directories below the test's home. */
void claude_prepare(struct claude *claude, const char *address);
/* The same for a claude in a container: it gets nothing of the user's, so nothing is written into
 * the user's home. */
void claude_prepare_inside(struct claude *claude, const char *address);
/* Before the machine goes down, and start it where it was when the machine has booted. */
void claude_stop_stub(struct claude *claude);
void claude_restart_stub(struct claude *claude);
/* Its program, by the path that is no symbolic link. */
const char *claude_program(void);

/* Say text as the nth turn of the test, from 1.  Returns the request that the model got. */
struct json_object *claude_say(const struct claude *claude, const char *text, unsigned n);
/* The request carried exactly these texts of the user's, in this conversation. */
void assert_carried(struct json_object *request, const char *session_id, const char *const *texts);
/* claude showed the model this login of the user's, which begins with "stub". */
void assert_login_was(struct json_object *request, const char *login);
