/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every unit test includes this first: cmocka needs these includes before it, in this order.
 */
#pragma once

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
