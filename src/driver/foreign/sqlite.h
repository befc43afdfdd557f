/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Another program's SQLite database, read without changing a byte of it.
 *
 * Even a read-only connection creates or changes the files "-wal" and "-shm", and what was written
 * last may be in "-wal" alone.  So this copies both, again while another process writes, and opens
 * the copy. libsqlite3 is loaded at the first call: no other command pays for it.
 */
#pragma once

#include "base/jsonio.h"

struct sqlite;

/* SQLITE_ABSENT: there is no such file.  ERROR_UNAVAILABLE: no libsqlite3, or built without it.
 * ERROR_CORRUPT: it is no database, a damaged one, or over 256 MiB.  ERROR_BUSY: it changed during
 * every copy.  ERROR_SYSTEM: it is a link, or another user's.  *ret is the caller's. */
enum { SQLITE_ABSENT = 1 };
int sqlite_open_copy(const char *path, struct sqlite **ret, struct error *err);
void sqlite_close(struct sqlite *sqlite);
CLEANUP_OF(sqlite_closep, struct sqlite, sqlite_close);
#define cleanup_sqlite CLEANUP(sqlite_closep)

/* The whole table, an array of one object for each row, with a member for each column that the
 * table has: integers, and texts (UTF-8; other bytes are made visible).  NULL, reals and blobs are
 * left out.  At most 100000 rows.  SQLITE_ABSENT: there is no such table.  table: an identifier of
 * ours. *ret is the caller's. */
int sqlite_table(struct sqlite *sqlite, const char *table, struct json_object **ret,
		 struct error *err);
