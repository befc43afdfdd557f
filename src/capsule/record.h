/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * exit.json in a capsule's directory: how the last agent ended.  It is written before anybody is
 * told of the end, and survives the capsule, the engine and the machine.
 */
#pragma once

#include "capsule/frame.h"

/* Write it durably.  status: of phase FRAME_ENDED. */
int record_write(int dirfd, const struct frame_status *status, struct error *err);

/* FS_ABSENT: there is none.  ERROR_CORRUPT: something else is in the file. */
int record_read(int dirfd, struct frame_status *ret, struct error *err);

/* May this be the id of a run?  Letters, digits, '.', '_' and '-', at most FRAME_RUN_MAX. */
bool record_is_run(const char *run);
