/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/deck.h"

const struct test isolation_tests[] = {
	{ 0 },
};
