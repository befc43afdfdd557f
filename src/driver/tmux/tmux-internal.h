/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The options that the status line shows. */
#define TITLE    "@agentdeck_title"
#define ACTIVITY "@agentdeck_activity"
#define OTHERS   "@agentdeck_others"
#define DETACH   "@agentdeck_detach"
