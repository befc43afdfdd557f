/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Notifications to a web server ([notify] ntfy and webhook), and the answers that come back through
 * a topic of ntfy ([notify] answers).  Nothing listens on a port here: the topic is followed.
 */
#pragma once

#include "engine/deck/deck.h"

bool phone_is_wanted(const struct deck *deck, const char *occasion);

/* Tell both of them.  payload: notify_payload() of the session base.  Where [notify] question says
 * so, the text of a question goes along, and with [notify] answers its two answers.  Both are
 * tried; the error is that of the last failure. */
int phone_tell(struct deck *deck, const char *base, const char *occasion, const char *payload,
	       struct error *err);

/* Follow the topic for some minutes, and do what the answers say.  Each gets a receipt by ntfy.
 * Returns also when the server ends the connection.  ERROR_BUSY: another process follows it. */
int phone_listen(const struct deck *deck, struct error *err);
