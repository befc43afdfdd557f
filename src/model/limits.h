/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The limits that a run can have: their names, their values as text.  What holds for an instance is told by
 * settings_limits().
 *
 * Pure: no input or output here.
 */
#pragma once

#include "model/instance.h"

enum limit { LIMIT_MEMORY_HIGH, LIMIT_MEMORY_MAX, LIMIT_TASKS_MAX, LIMIT_CPU_WEIGHT, LIMIT_COUNT };

/* "memory_high": the name of its key, everywhere.  Static. */
const char *limit_name(enum limit limit);
/* The greatest value of one that is no size; 0 for a size. */
int64_t limit_greatest(enum limit limit);
/* The field. */
int64_t *limit_of(struct limits *limits, enum limit limit);
int64_t limit_value(const struct limits *limits, enum limit limit);

/* What less than this leaves no agent alive. */
enum { LIMIT_LEAST_MEMORY = 16 * 1024 * 1024 };

/* "512M", "1.5G", "2000", "0" (nothing is said) or "infinity".  ERROR_USAGE says what may be written. */
int limit_parse(enum limit limit, const char *text, int64_t *ret, struct error *err);

/* The reverse: "1.5G", "2000", "infinity", "0".  Exact.  The caller frees. */
char *limit_text(enum limit limit, int64_t value) MUST_USE;
