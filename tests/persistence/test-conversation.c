/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "persistence/deck.h"

const struct test conversation_tests[] = {
	{ 0 },
};
