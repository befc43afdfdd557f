/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The index: docs/state-format.md describes its format.
 */
#include "driver/store/store.h"

#include "base/clock.h"
#include "base/nearest.h"
#include "driver/store/index-file.h"
#include "driver/store/store-internal.h"
#include "model/session/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* A manifest younger than this when it was read gets no stamp: the kernel's file times are coarse,
 * and within one tick the same inode can return with another content of the same size. */
enum { RACY_US = 100000 };

/* A row's columns, in their order in its storage (each is a text that ends with a NUL) and in the
 * index (with tabs between them). */
static const struct field columns[] = {
	FIELD(struct store_row, base, "base", .always = true),
	FIELD(struct store_row, id, "id", .needed = true),
	FIELD(struct store_row, title, "title", .needed = true),
	FIELD(struct store_row, group, "group"),
	FIELD(struct store_row, lookup_directory, "directory", .needed = true),
	FIELD(struct store_row, agent, "agent", .needed = true),
	FIELD(struct store_row, backend, "backend", .needed = true),
	FIELD(struct store_row, within, "within"),
	FIELD(struct store_row, session_id, "session_id"),
	FIELD(struct store_row, state, "state", .words = instance_state_words),
	FIELD(struct store_row, desired, "desired", .words = instance_desired_words),
	FIELD(struct store_row, created_at, "created_at"),
	FIELD(struct store_row, last_used_at, "last_used_at"),
	FIELD(struct store_row, reason, "reason"),
	FIELD(struct store_row, config_home, "config_home"),
	FIELD(struct store_row, run.unit, "unit"),
	FIELD(struct store_row, run.socket, "socket"),
	FIELD(struct store_row, run.directory, "run_directory"),
	FIELD(struct store_row, run.boot_id, "boot_id"),
	FIELD(struct store_row, run.server.pid, "server_pid"),
	FIELD(struct store_row, run.server.start, "server_start"),
	FIELD(struct store_row, run.pane.pid, "pane_pid"),
	FIELD(struct store_row, run.pane.start, "pane_start"),
	FIELD(struct store_row, run.window.pid, "window_pid"),
	FIELD(struct store_row, run.window.start, "window_start"),
	FIELD(struct store_row, rung, "rung", .words = rung_words),
	FIELD(struct store_row, run.machine_id, "machine_id"),
	FIELD(struct store_row, run.host, "host"),
	FIELD(struct store_row, next_session_id, "next_session_id"),
	FIELD(struct store_row, shared.session_id, "shared_session_id"),
	FIELD(struct store_row, shared.owner, "shared_owner"),
	FIELD(struct store_row, shared.title, "shared_title"),
	FIELD(struct store_row, shared.profile, "shared_profile"),
	FIELD(struct store_row, copy_of, "copy_of"),
	FIELD(struct store_row, since, "since"),
	FIELD(struct store_row, held, "held"),
	FIELD(struct store_row, notes, "notes"),
	FIELD(struct store_row, ending, "ending", .words = ending_stage_words),
	FIELD(struct store_row, workspace, "workspace"),
	FIELD(struct store_row, run.pid_namespace, "pid_namespace"),
	FIELD(struct store_row, seen.at, "seen_at"),
	FIELD(struct store_row, seen.branch, "seen_branch"),
	FIELD(struct store_row, seen.commits, "seen_commits"),
	FIELD(struct store_row, seen.files, "seen_files"),
	FIELD(struct store_row, seen.uncommitted, "seen_uncommitted"),
	FIELD(struct store_row, seen.merged, "seen_merged", .words = changes_merged_words),
	FIELD(struct store_row, seen.request.number, "request"),
	FIELD(struct store_row, seen.request.state, "request_state"),
	FIELD(struct store_row, seen.request.url, "request_url"),
	FIELD(struct store_row, seen.request.is_draft, "request_is_draft"),
	FIELD(struct store_row, move, "move", .words = move_state_words),
	FIELD(struct store_row, move_host, "move_host"),
	FIELD(struct store_row, tags, "tags"),
	FIELD(struct store_row, is_pinned, "is_pinned"),
	FIELD(struct store_row, archived_at, "archived_at"),
	FIELD(struct store_row, queued, "queued"),
};
enum { COLUMN_COUNT = ARRAY_SIZE(columns) };

enum { STAMP_SIZE = 96 };

/* What the index has of a row beside its columns. */
struct stored {
	size_t length;          /* of the row's storage */
	char stamp[STAMP_SIZE]; /* "": the row does not go into the index */
};

void store_row_free(struct store_row *row)
{
	free(row->storage);
	*row = (struct store_row){ 0 };
}

void store_rows_free(struct store_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->rows[i].storage);
	free(rows->rows);
	*rows = (struct store_rows){ 0 };
}

/* In hexadecimal, and what follows it. */
static char *put_hex(char *at, uint64_t number, char next)
{
	for (int shift = number ? (63 - __builtin_clzll(number)) & ~3 : 0; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[number >> shift & 15];
	*at++ = next;
	return at;
}

/* Each listing makes one for each manifest: snprintf(3) takes several times as long. */
static void make_stamp(const struct stat *st, char ret[STAMP_SIZE])
{
	_Static_assert(STAMP_SIZE >= 5 * 17, "the stamp has five numbers of 64 bits");
	char *at = put_hex(ret, st->st_dev, ':');
	at = put_hex(at, st->st_ino, ':');
	at = put_hex(at, (uint64_t)st->st_size, ':');
	at = put_hex(at, (uint64_t)st->st_mtim.tv_sec, '.');
	(void)put_hex(at, (uint64_t)st->st_mtim.tv_nsec, '\0');
}

static bool is_racy(const struct stat *st)
{
	int64_t modified_us = (int64_t)st->st_mtim.tv_sec * 1000000 + st->st_mtim.tv_nsec / 1000;
	return modified_us > clock_wall_us() - RACY_US;
}

/* --- a row and its storage -------------------------------------------------------------------- */

static bool parse_number(const struct field *column, const char *text, struct store_row *row)
{
	const int64_t max = column->type == FIELD_INT ? INT32_MAX : INT64_MAX;
	int64_t number = 0;
	if (column->words)
		number = word_find(column->words, text);
	else if (*text && !parse_int64(text, 0, max, &number))
		return false;
	field_set_number(column, row, number);
	return number >= 0;
}

static bool unpack_column(const struct field *column, char *text, struct store_row *row)
{
	if (column->type != FIELD_TEXT)
		return parse_number(column, text, row);
	if (*text || column->always)
		field_set_text(column, row, text);
	return *text || !column->needed;
}

/* Make a row of its storage, which it then owns.  Returns false if it is not the storage of a
 * row. */
static bool unpack_row(char *storage, size_t length, struct store_row *ret)
{
	struct store_row row = { .storage = storage };
	char *next = storage;
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (next > storage + length)
			return false;
		/* Most columns of most rows are empty, and the row has no value yet. */
		if (!*next && !columns[i].needed && !columns[i].always && !columns[i].words) {
			next++;
			continue;
		}
		if (!unpack_column(&columns[i], next, &row))
			return false;
		next += strlen(next) + 1;
	}
	if (next != storage + length + 1)
		return false;
	row.owner_directory = row.lookup_directory;
	row.run.id = row.id;
	row.run.backend = row.backend;
	*ret = row;
	return true;
}

static void pack_text(struct strbuf *storage, const char *text)
{
	strbuf_add(storage, or_empty(text), strlen(or_empty(text)) + 1);
}

static void pack_column(const struct field *column, const struct store_row *row,
			struct strbuf *storage)
{
	char text[24] = "";
	const int64_t number = field_number(column, row);
	if (column->type == FIELD_TEXT) {
		pack_text(storage, field_text(column, row));
	} else if (column->words) {
		pack_text(storage, field_word(column, row));
	} else {
		if (number)
			snprintf(text, sizeof(text), "%" PRId64, number);
		pack_text(storage, text);
	}
}

static void pack_instance(const struct instance *instance, struct strbuf *storage)
{
	/* Without a socket there is no run, whatever its other fields say. */
	static const struct place_run none;
	const bool has_run = instance->run.socket != NULL;
	const struct attempt *attempt = has_run ? run_attempt(&instance->run) : NULL;
	const struct conversation *conversation = &instance->conversation;
	const struct workspace *workspace = instance->workspace;
	/* The texts are borrowed. */
	const struct store_row row = {
		.base = instance->base,
		.id = instance->id,
		.title = instance->title,
		.group = instance->group,
		.lookup_directory = (char *)(uintptr_t)instance_lookup_directory(instance),
		.agent = instance->agent,
		.backend = instance->backend,
		.within = instance_within(instance),
		.session_id = conversation->session_id,
		.state = instance->observed.state,
		.desired = instance->desired,
		.created_at = instance->created_at,
		.last_used_at = instance->last_used_at,
		.reason = instance->observed.reason,
		.config_home = conversation->config_home,
		.run = has_run ? place_run_of(instance) : none,
		.rung = attempt ? attempt->rung : RUNG_NONE,
		.next_session_id = (char *)(uintptr_t)instance_next_session_id(instance),
		.shared = conversation->shared,
		.copy_of = instance->copy_of,
		.since = instance->observed.since,
		.held = instance->observed.held,
		.notes = instance->notes,
		.tags = instance->tags,
		.is_pinned = instance->is_pinned,
		.archived_at = instance_archived_at(instance),
		.queued = (int64_t)instance->queue_count,
		.ending = instance->ending.stage,
		.move = instance->move.state,
		.move_host = instance->move.host,
		.workspace = workspace ? (char *)(uintptr_t)workspace_kind_name(workspace->kind)
				       : NULL,
		.seen = workspace ? workspace->seen : (struct seen_work){ 0 },
	};
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		pack_column(&columns[i], &row, storage);
}

/* Whether the index can hold the storage: no text has a tab, or bytes that JSON cannot carry. */
static bool is_indexable(const char *storage, size_t length)
{
	return !memchr(storage, '\t', length) && is_utf8(storage, length);
}

/* --- the index file --------------------------------------------------------------------------- */

/* Returns false if there is no row, or if it was made from another version of the manifest. */
static bool row_from_index(const struct store *store, struct index_file *index, const char *base,
			   const struct stat *st, struct stored *ret, struct store_row *ret_row)
{
	struct index_line line;
	make_stamp(st, ret->stamp);
	if (!index_file_find(index, base, &line))
		return false;
	cleanup_free char *storage = index_line_texts(&line, ret->stamp, &ret->length);
	if (!storage || !unpack_row(storage, ret->length, ret_row) ||
	    !store_is_own_place(store, ret_row->id, ret_row->run.directory, ret_row->run.socket,
				ret_row->run.unit))
		return false;
	(void)TAKE_PTR(storage);
	return true;
}

/* Best effort: if the lock is taken, the next reader writes it. */
static void write_index(const struct store *store, const struct store_row *rows,
			const struct stored *stored, size_t count)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strbuf struct strbuf file = { 0 };

	if (!store->profile_locked &&
	    fs_lock(store->directory, STORE_PROFILE_LOCK, 0, &lock, NULL) != 0)
		return;
	index_text_begin(&file);
	for (size_t i = 0; i < count; i++)
		if (*stored[i].stamp)
			index_text_add(&file, rows[i].storage, stored[i].length, stored[i].stamp);
	index_text_write(store->directory, &file);
}

/* --- listing ---------------------------------------------------------------------------------- */

static void damaged_row(const char *base, const struct error *err, struct store_row *ret)
{
	struct strbuf storage = { 0 };
	size_t damage = strlen(base) + 1;
	pack_text(&storage, base);
	pack_text(&storage, err->message);
	*ret = (struct store_row){ .storage = strbuf_take(&storage) };
	ret->base = ret->id = ret->run.id = ret->title = ret->storage;
	ret->damage = ret->storage + damage;
}

enum { FROM_INDEX, FROM_MANIFEST, FROM_DAMAGE, FROM_NOTHING };

static int row_from_manifest(struct store *store, const char *base, struct stored *ret,
			     struct store_row *ret_row)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error err = { 0 };
	struct strbuf storage = { 0 };
	struct stat st;

	*ret->stamp = '\0';
	int r = store_load_stat(store, base, &instance, &st, &err);
	if (r == STORE_ABSENT)
		return FROM_NOTHING;
	if (r < 0) {
		damaged_row(base, &err, ret_row);
		return FROM_DAMAGE;
	}
	pack_instance(instance, &storage);
	ret->length = storage.length - 1;
	if (!is_racy(&st) && is_indexable(storage.data, ret->length))
		make_stamp(&st, ret->stamp);
	if (!unpack_row(storage.data, ret->length, ret_row))
		abort();
	return FROM_MANIFEST;
}

#define MANIFEST_BELOW "/" STORE_MANIFEST

static int fill_row(struct store *store, struct index_file *index, const char *base,
		    struct stored *ret, struct store_row *ret_row)
{
	char path[256];
	struct stat st;

	/* snprintf(3) takes longer than all else that is done here. */
	char *end = mempcpy(path, base, strnlen(base, sizeof(path) - sizeof(MANIFEST_BELOW)));
	memcpy(end, MANIFEST_BELOW, sizeof(MANIFEST_BELOW));
	int r = fstatat(store->directory, path, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0 && errno == ENOTDIR)
		return FROM_NOTHING;
	if (r == 0 && row_from_index(store, index, base, &st, ret, ret_row))
		return FROM_INDEX;
	return row_from_manifest(store, base, ret, ret_row);
}

static int compare_rows(const void *a, const void *b)
{
	const struct store_row *x = *(const struct store_row *const *)a,
			       *y = *(const struct store_row *const *)b;
	if (x->created_at != y->created_at)
		return x->created_at < y->created_at ? -1 : 1;
	return strcmp(x->id, y->id);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Into rows, which has room for one of each base.  bases must be sorted, as the index is.  Returns
 * how many there are. */
static size_t fill_rows(struct store *store, const struct strvec *bases, struct store_row *rows)
{
	cleanup_index_file struct index_file index = { 0 };
	cleanup_free struct stored *stored = xcalloc(bases->count, sizeof(*stored));
	size_t count = 0, unindexed = 0;

	index_file_read(store->directory, &index);
	for (size_t i = 0; i < bases->count; i++) {
		int from = fill_row(store, &index, bases->items[i], &stored[count], &rows[count]);
		/* A row that the index cannot hold is no reason to write it. */
		unindexed += from == FROM_MANIFEST && *stored[count].stamp;
		count += from != FROM_NOTHING;
	}
	if (unindexed > (count / 16 > 16 ? count / 16 : 16) || index_file_is_stale(&index))
		write_index(store, rows, stored, count);
	return count;
}

/* A row is large: each is moved once, to its place. */
static void sort_rows(struct store_row *rows, size_t count)
{
	cleanup_free struct store_row **order = xcalloc(count, sizeof(*order));
	for (size_t i = 0; i < count; i++)
		order[i] = &rows[i];
	qsort(order, count, sizeof(*order), compare_rows);
	for (size_t i = 0; i < count; i++) {
		const struct store_row first = rows[i];
		size_t at = i;
		while (order[at] != &rows[i]) {
			const size_t from = (size_t)(order[at] - rows);
			rows[at] = rows[from];
			order[at] = &rows[at];
			at = from;
		}
		rows[at] = first;
		order[at] = &rows[at];
	}
}

int store_list(struct store *store, struct store_rows *ret, struct error *err)
{
	cleanup_strvec struct strvec bases = { 0 };
	if (fs_list_some(store->directory, store_is_base, &bases, err) < 0)
		return error_prefix(err, "%s", store->path);
	if (bases.count)
		qsort(bases.items, bases.count, sizeof(*bases.items), compare_names);
	struct store_rows rows = { .rows = xcalloc(bases.count, sizeof(*rows.rows)) };
	rows.count = fill_rows(store, &bases, rows.rows);
	sort_rows(rows.rows, rows.count);
	store_rows_free(ret);
	*ret = rows;
	return 0;
}

int store_load_row(struct store *store, const char *base, struct store_row *ret)
{
	struct stored stored = { 0 };
	return row_from_manifest(store, base, &stored, ret) == FROM_NOTHING ? STORE_ABSENT : 0;
}

/* --- resolving a name ------------------------------------------------------------------------- */

enum { PREFIX_MIN = 3 };

enum match {
	MATCH_TITLE,
	MATCH_ID,
	MATCH_COPY,
	MATCH_PREFIX,
	MATCH_ARCHIVED, /* by a prefix that no other session has */
	MATCH_PATH,
	MATCH_COUNT
};

static bool matches(const struct store_row *row, enum match match, const char *target)
{
	switch (match) {
	case MATCH_TITLE:
		return streq(row->title, target);
	case MATCH_ID:
		return streq(row->id, target);
	case MATCH_COPY:
		return row->copy_of && streq(row->copy_of, target);
	case MATCH_PREFIX:
	case MATCH_ARCHIVED:
		return strlen(target) >= PREFIX_MIN && starts_with(row->id, target) &&
		       (row->archived_at != 0) == (match == MATCH_ARCHIVED);
	case MATCH_PATH:
		return row->lookup_directory && streq(row->lookup_directory, target) &&
		       !row->archived_at;
	case MATCH_COUNT:
		break;
	}
	return false;
}

static int ambiguous(const struct store_rows *rows, enum match match, const char *key,
		     const char *target, struct error *err)
{
	cleanup_strbuf struct strbuf list = { 0 };
	cleanup_free char *shown = visible(target);
	for (size_t i = 0; i < rows->count; i++) {
		if (!matches(&rows->rows[i], match, key))
			continue;
		strbuf_adds(&list, list.length ? ", " : "");
		strbuf_add_visible(&list, rows->rows[i].title);
		strbuf_addf(&list, " (%s)", rows->rows[i].id);
	}
	return error_set(err, ERROR_AMBIGUOUS, "\"%s\" matches several sessions; use an id: %s",
			 shown, strbuf_text(&list));
}

/* More titles than these do not help. */
enum { MEANT_MOST = 3 };

/* The titles that may have been meant: "'api' or 'apk'".  NULL: none, or many. */
static char *titles_meant(const struct store_rows *rows, const char *target)
{
	cleanup_nearest struct nearest nearest = nearest_begin(target);
	for (size_t i = 0; i < rows->count; i++)
		if (!rows->rows[i].damage)
			nearest_consider(&nearest, rows->rows[i].title, rows->rows[i].title);
	return nearest_text(&nearest, MEANT_MOST);
}

/* For a title: do not say that the session is gone if its manifest may be one that cannot be
 * read. */
static int not_found(const struct store_rows *rows, const char *target, struct error *err)
{
	cleanup_free char *shown = visible(target);
	size_t damaged = 0;
	for (size_t i = 0; i < rows->count; i++)
		damaged += rows->rows[i].damage != NULL;
	if (damaged)
		return error_set(
			err, ERROR_NOT_FOUND,
			"no session has the title, the id or the directory \"%s\", but %zu cannot be read: "
			"see \"agentdeck list\"",
			shown, damaged);
	cleanup_free char *meant = titles_meant(rows, target);
	if (meant)
		return error_set(
			err, ERROR_NOT_FOUND,
			"no session has the title, the id or the directory \"%s\"; did you "
			"mean %s?",
			shown, meant);
	return error_set(err, ERROR_NOT_FOUND,
			 "no session has the title, the id or the directory \"%s\": see "
			 "\"agentdeck list\"",
			 shown);
}

int store_resolve(const struct store_rows *rows, const char *target, const struct store_row **ret,
		  struct error *err)
{
	cleanup_free char *real = NULL;
	for (enum match match = 0; match < MATCH_COUNT; match++) {
		const struct store_row *found = NULL;
		const char *key = target;
		if (match == MATCH_PATH) {
			if (fs_real_directory(target, &real, NULL) != 0)
				break;
			key = real;
		}
		for (size_t i = 0; i < rows->count; i++) {
			if (!matches(&rows->rows[i], match, key))
				continue;
			if (found)
				return ambiguous(rows, match, key, target, err);
			found = &rows->rows[i];
		}
		if (found) {
			*ret = found;
			return 0;
		}
	}
	return not_found(rows, target, err);
}
