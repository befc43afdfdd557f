/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The options that the status line shows. */
#define TITLE    "@agentdeck_title"
#define GROUP    "@agentdeck_group"
#define ACTIVITY "@agentdeck_activity"
#define OTHERS   "@agentdeck_others"
#define DETACH   "@agentdeck_detach"
#define LIST_KEY "@agentdeck_list"
#define NEXT_KEY "@agentdeck_next"
/* The command that goes to another session, and with the pid of a client behind it: that one is to
 * be detached. */
#define SWITCHER "@agentdeck_switcher"
#define LEAVING  "@agentdeck_leaving_"
