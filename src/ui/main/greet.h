/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds out what a deck without sessions can offer.
 */
#pragma once

#include "ui/main/errand.h"

/* After each frame: an empty deck is told once what there is on this machine. */
void greet_settle(struct errands *errands);
