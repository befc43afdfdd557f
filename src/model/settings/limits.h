/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The limits that a run can have: their names, and their values as text.  settings_limits() returns
 * those of an instance.
 *
 * Pure: no input or output here.
 */
#pragma once

#include "model/session/instance.h"

enum limit { LIMIT_MEMORY_HIGH, LIMIT_MEMORY_MAX, LIMIT_TASKS_MAX, LIMIT_CPU_WEIGHT, LIMIT_COUNT };

/* "memory_high": the name of its key in every format.  Static. */
const char *limit_name(enum limit limit);
/* The greatest value of a limit that is not a size; 0 for a size. */
int64_t limit_greatest(enum limit limit);
/* The field of this limit. */
int64_t *limit_of(struct limits *limits, enum limit limit);
int64_t limit_value(const struct limits *limits, enum limit limit);

/* Parse "512M", "4G", "1.5G", "1000000" or a TOML integer's text: bytes, 1024-based suffixes K M G
 * T. */
bool limit_parse_size(const char *text, int64_t *ret);

/* No agent lives with less memory. */
enum { LIMIT_LEAST_MEMORY = 16 * 1024 * 1024 };

/* "512M", "1.5G", "2000", "0" (not set) or "infinity".  ERROR_USAGE says which values are
 * possible. */
int limit_parse(enum limit limit, const char *text, int64_t *ret, struct error *err);

/* The reverse: "1.5G", "2000", "infinity", "0".  Exact.  The caller frees. */
char *limit_text(enum limit limit, int64_t value) MUST_USE;
