/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/sqlite.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/library.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum {
	MAX_DATABASE = 256 << 20,
	MAX_ROWS = 100000,
	MAX_TEXT = 1 << 20,
	WAL_HEADER = 32,
	TRIES = 20,
	TRY_MS = 20,
};

LIBRARY_NOTE("[{\"feature\":\"import\",\"description\":\"Sessions of other programs\","
	     "\"priority\":\"recommended\",\"soname\":[\"libsqlite3.so.0\"]}]");

/* ---- the library ------------------------------------------------------------------------------ */

#define SQLITE_FUNCTIONS(X) \
	X(open_v2)          \
	X(close_v2)         \
	X(errmsg)           \
	X(exec)             \
	X(limit)            \
	X(prepare_v2)       \
	X(step)             \
	X(finalize)         \
	X(column_count)     \
	X(column_name)      \
	X(column_type)      \
	X(column_int64)     \
	X(column_text)      \
	X(column_bytes)

static struct {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member cannot have any */
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
	SQLITE_FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static const struct library_function sqlite_functions[] = {
#define ENTRY(name) { "sqlite3_" #name, (void **)&library.name },
	SQLITE_FUNCTIONS(ENTRY)
#undef ENTRY
};

static struct library sqlite_library = {
	.name = "libsqlite3",
	.sonames = { "libsqlite3.so.0" },
	.purpose = "which reads the other program's database",
	.packages = "libsqlite3-0 (Debian), sqlite-libs (Fedora), sqlite (Arch)",
	.functions = sqlite_functions,
	.n_functions = ARRAY_SIZE(sqlite_functions),
};

/* ---- the copy --------------------------------------------------------------------------------- */

struct sqlite {
	char *path;      /* of the original, for messages */
	char *directory; /* of the copy, for us alone; NULL: none yet */
	sqlite3 *db;
};

/* What changes with every write. */
struct state {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	unsigned char wal[WAL_HEADER];
	ssize_t wal_length;
};

/* The database itself, and what SQLite has beside it. */
enum { MAIN_FILE, WAL_FILE, JOURNAL_FILE, FILES };
static const char *const suffixes[FILES] = { "", "-wal", "-journal" };

/* -1 without an error: this file does not exist. */
static int open_one(const char *path, int *ret, struct error *err)
{
	struct stat st;
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return SQLITE_ABSENT;
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "stat %s", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return error_set(err, ERROR_SYSTEM, "%s is not a file of yours", path);
	if (st.st_size > MAX_DATABASE)
		return error_set(err, ERROR_CORRUPT, "%s is larger than 256 MiB", path);
	*ret = TAKE_FD(fd);
	return 0;
}

static void close_all(int (*files)[FILES])
{
	for (size_t i = 0; i < FILES; i++)
		if ((*files)[i] >= 0)
			close((*files)[i]);
}

static int open_all(const char *path, int files[FILES], struct error *err)
{
	for (size_t i = 0; i < FILES; i++) {
		cleanup_free char *name = xasprintf("%s%s", path, suffixes[i]);
		int r = open_one(name, &files[i], err);
		if (r < 0 || (r > 0 && i == MAIN_FILE))
			return r;
	}
	return 0;
}

static void look(const char *path, const int files[FILES], struct state *ret)
{
	struct stat st;
	*ret = (struct state){ 0 };
	/* By its name: a vacuum may have replaced the file that is open. */
	if (lstat(path, &st) == 0) {
		ret->device = st.st_dev;
		ret->inode = st.st_ino;
		ret->size = st.st_size;
		ret->modified = st.st_mtim;
	}
	if (files[WAL_FILE] >= 0)
		ret->wal_length = pread(files[WAL_FILE], ret->wal, sizeof(ret->wal), 0);
}

static bool is_same(const struct state *a, const struct state *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->modified.tv_sec == b->modified.tv_sec &&
	       a->modified.tv_nsec == b->modified.tv_nsec && a->wal_length == b->wal_length &&
	       memcmp(a->wal, b->wal, sizeof(a->wal)) == 0;
}

static int copy_one(int from, const char *to, struct error *err)
{
	off_t left = MAX_DATABASE;
	cleanup_close int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
				    0600);
	if (fd < 0)
		return error_set_errno(err, errno, "create %s", to);
	off_t offset = 0;
	while (left > 0) {
		ssize_t n = sendfile(fd, from, &offset, (size_t)left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno, "write %s", to);
		if (n == 0)
			return 0;
		left -= n;
	}
	return 0;
}

static char *copy_path(const struct sqlite *sqlite, size_t file)
{
	return xasprintf("%s/copy.db%s", sqlite->directory, suffixes[file]);
}

static void drop_copy(const struct sqlite *sqlite)
{
	for (size_t i = 0; i < FILES; i++) {
		cleanup_free char *path = copy_path(sqlite, i);
		(void)unlink(path);
	}
}

/* COPY_CHANGED: another process wrote meanwhile. */
enum { COPY_CHANGED = 2 };
static int copy_once(const struct sqlite *sqlite, struct error *err)
{
	CLEANUP(close_all) int files[FILES] = { -1, -1, -1 };
	struct state before, after;
	int r = open_all(sqlite->path, files, err);
	if (r != 0)
		return r;
	look(sqlite->path, files, &before);
	drop_copy(sqlite);
	for (size_t i = 0; i < FILES; i++) {
		cleanup_free char *path = copy_path(sqlite, i);
		if (files[i] >= 0 && copy_one(files[i], path, err) < 0)
			return -1;
	}
	look(sqlite->path, files, &after);
	return is_same(&before, &after) ? 0 : COPY_CHANGED;
}

static int make_copy(struct sqlite *sqlite, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	cleanup_free char *directory = xasprintf(
		"%s/agentdeck-import-XXXXXX",
		is_empty(temporary) || *temporary != '/' ? "/tmp" : temporary);
	if (!mkdtemp(directory))
		return error_set_errno(err, errno, "make a directory for a copy of %s",
				       sqlite->path);
	sqlite->directory = TAKE_PTR(directory);
	for (unsigned i = 0; i < TRIES; i++) {
		int r = copy_once(sqlite, err);
		if (r != COPY_CHANGED)
			return r;
		clock_pause_until(clock_ms() + TRY_MS);
	}
	return error_set(err, ERROR_BUSY,
			 "%s changes all the time: close the program and try again", sqlite->path);
}

/* ---- the database ----------------------------------------------------------------------------- */

static int refuse(const struct sqlite *sqlite, struct error *err)
{
	cleanup_free char *why = visible(sqlite->db ? library.errmsg(sqlite->db) : "no memory");
	return error_set(err, ERROR_CORRUPT, "cannot read %s: %s", sqlite->path, why);
}

static int run_check(struct sqlite *sqlite, struct error *err)
{
	sqlite3_stmt *statement = NULL;
	bool is_sound = false;
	if (library.prepare_v2(sqlite->db, "PRAGMA quick_check(1)", -1, &statement, NULL) !=
	    SQLITE_OK)
		return refuse(sqlite, err);
	if (library.step(statement) == SQLITE_ROW) {
		const char *text = (const char *)library.column_text(statement, 0);
		is_sound = text && streq(text, "ok");
	}
	library.finalize(statement);
	if (!is_sound)
		return error_set(err, ERROR_CORRUPT, "%s is damaged", sqlite->path);
	return 0;
}

static int open_database(struct sqlite *sqlite, struct error *err)
{
	/* Our own copy is written to: SQLite takes the log into it. */
	cleanup_free char *path = copy_path(sqlite, MAIN_FILE);
	if (library.open_v2(path, &sqlite->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE,
			    NULL) != SQLITE_OK)
		return refuse(sqlite, err);
	(void)library.limit(sqlite->db, SQLITE_LIMIT_LENGTH, MAX_TEXT);
	if (library.exec(sqlite->db, "PRAGMA trusted_schema=0; PRAGMA query_only=1", NULL, NULL,
			 NULL) != SQLITE_OK)
		return refuse(sqlite, err);
	return run_check(sqlite, err);
}

int sqlite_open_copy(const char *path, struct sqlite **ret, struct error *err)
{
	cleanup_sqlite struct sqlite *sqlite = xcalloc(1, sizeof(*sqlite));
	sqlite->path = xstrdup(path);
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return SQLITE_ABSENT;
	if (library_load(&sqlite_library, err) < 0)
		return -1;
	int r = make_copy(sqlite, err);
	if (r != 0)
		return r;
	if (open_database(sqlite, err) < 0)
		return -1;
	*ret = TAKE_PTR(sqlite);
	return 0;
}

void sqlite_close(struct sqlite *sqlite)
{
	if (!sqlite)
		return;
	if (sqlite->db)
		library.close_v2(sqlite->db);
	if (sqlite->directory)
		(void)fs_remove_tree(AT_FDCWD, sqlite->directory, NULL);
	free(sqlite->directory);
	free(sqlite->path);
	free(sqlite);
}

static struct json_object *read_row(sqlite3_stmt *statement)
{
	struct json_object *row = json_object_new_object();
	for (int i = 0; i < library.column_count(statement); i++) {
		const char *name = library.column_name(statement, i);
		const int type = library.column_type(statement, i);
		const char *text;
		if (type == SQLITE_INTEGER)
			json_set_int(row, name, library.column_int64(statement, i));
		else if (type == SQLITE_TEXT &&
			 (text = (const char *)library.column_text(statement, i)))
			json_set(row, name, json_text(text));
	}
	return row;
}

static bool has_table(struct sqlite *sqlite, const char *table)
{
	sqlite3_stmt *statement = NULL;
	cleanup_free char *query = xasprintf("PRAGMA table_info(%s)", table);
	const bool has = library.prepare_v2(sqlite->db, query, -1, &statement, NULL) == SQLITE_OK &&
			 library.step(statement) == SQLITE_ROW;
	library.finalize(statement);
	return has;
}

int sqlite_table(struct sqlite *sqlite, const char *table, struct json_object **ret,
		 struct error *err)
{
	sqlite3_stmt *statement = NULL;
	cleanup_json struct json_object *rows = json_object_new_array();
	cleanup_free char *query = xasprintf("SELECT * FROM %s LIMIT %d", table, MAX_ROWS);
	if (!has_table(sqlite, table))
		return SQLITE_ABSENT;
	if (library.prepare_v2(sqlite->db, query, -1, &statement, NULL) != SQLITE_OK)
		return refuse(sqlite, err);
	int r;
	while ((r = library.step(statement)) == SQLITE_ROW)
		json_object_array_add(rows, read_row(statement));
	int status = r == SQLITE_DONE ? 0 : refuse(sqlite, err);
	library.finalize(statement);
	if (status == 0)
		*ret = TAKE_PTR(rows);
	return status;
}
