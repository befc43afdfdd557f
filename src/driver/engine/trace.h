/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What BuildKit says while it builds.  Docker passes that on as it is: a StatusResponse of
 * BuildKit's control.proto, in base64.
 */
#pragma once

#include "base/macro.h"

/* The lines for people in it, each with its end: the steps that begin, and what they print.  The
 * caller frees.  What makes no sense is left out. */
char *trace_text(const char *base64) MUST_USE;
