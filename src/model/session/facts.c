/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/facts.h"

bool doing_needs_user(enum doing doing)
{
	return doing <= DOING_UNKNOWN;
}

bool doing_is_alive(enum doing doing)
{
	return doing != DOING_STOPPED && doing != DOING_ERROR;
}
