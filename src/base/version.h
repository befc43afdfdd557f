/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of this build, for people: "0.1.0", or "0.1.0-dev+g1234567" between two releases. */
#pragma once

extern const char agentdeck_version[];
