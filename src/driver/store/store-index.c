/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The index: docs/state-format.md describes its format.
 */
#include "driver/store/store.h"

#include "base/clock.h"
#include "base/nearest.h"
#include "driver/store/store-internal.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

enum { INDEX_FORMAT = 10 };

/* A manifest younger than this when it was read gets no stamp: the kernel's file times are coarse,
 * and within one tick the same inode can return with another content of the same size. */
enum { RACY_US = 100000 };

/* The texts of a row, in their order in its storage (each ends with a NUL) and in the index (with
 * tabs between them). */
enum column {
	COLUMN_BASE,
	COLUMN_ID,
	COLUMN_TITLE,
	COLUMN_GROUP,
	COLUMN_CWD,
	COLUMN_AGENT,
	COLUMN_BACKEND,
	COLUMN_SESSION,
	COLUMN_STATE,
	COLUMN_DESIRED,
	COLUMN_CREATED,
	COLUMN_LAST_USED,
	COLUMN_REASON,
	COLUMN_CONFIG_HOME,
	COLUMN_UNIT,
	COLUMN_SOCKET,
	COLUMN_DIRECTORY,
	COLUMN_BOOT_ID,
	COLUMN_SERVER_PID,
	COLUMN_SERVER_START,
	COLUMN_PANE_PID,
	COLUMN_PANE_START,
	COLUMN_WINDOW_PID,
	COLUMN_WINDOW_START,
	COLUMN_RUNG,
	COLUMN_MACHINE_ID,
	COLUMN_HOST,
	COLUMN_NEXT_SESSION,
	COLUMN_SHARED_ID,
	COLUMN_SHARED_OWNER,
	COLUMN_SHARED_TITLE,
	COLUMN_SHARED_PROFILE,
	COLUMN_COPY_OF,
	COLUMN_SINCE,
	COLUMN_HELD,
	COLUMN_NOTES,
	COLUMN_ENDING,
	COLUMN_WORKSPACE,
	COLUMN_PID_NAMESPACE,
	COLUMN_COUNT
};

enum { STAMP_SIZE = 96 };

struct entry {
	struct store_row row;
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
	int shift = 60;
	while (shift > 0 && !(number >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
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

static bool parse_number(const char *text, int64_t max, int64_t *ret)
{
	if (!*text) {
		*ret = 0;
		return true;
	}
	return parse_int64(text, 0, max, ret);
}

static bool parse_process(char *const *texts, enum column pid_column, struct process_id *ret)
{
	int64_t pid, start;
	if (!parse_number(texts[pid_column], INT32_MAX, &pid) ||
	    !parse_number(texts[pid_column + 1], INT64_MAX, &start))
		return false;
	*ret = (struct process_id){ .pid = (pid_t)pid, .start = (uint64_t)start };
	return true;
}

static char *or_null(char *text)
{
	return *text ? text : NULL;
}

/* Make a row of its storage, which it then owns.  Returns false if it is not the storage of a
 * row. */
static bool unpack_row(char *storage, size_t length, struct store_row *ret)
{
	char *texts[COLUMN_COUNT], *next = storage;
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (next > storage + length)
			return false;
		texts[i] = next;
		next += strlen(next) + 1;
	}
	struct store_row row = {
		.storage = storage,
		.base = texts[COLUMN_BASE],
		.id = texts[COLUMN_ID],
		.title = texts[COLUMN_TITLE],
		.group = or_null(texts[COLUMN_GROUP]),
		.lookup_directory = texts[COLUMN_CWD],
		.owner_directory = texts[COLUMN_CWD],
		.agent = texts[COLUMN_AGENT],
		.backend = texts[COLUMN_BACKEND],
		.session_id = or_null(texts[COLUMN_SESSION]),
		.copy_of = or_null(texts[COLUMN_COPY_OF]),
		.reason = or_null(texts[COLUMN_REASON]),
		.held = or_null(texts[COLUMN_HELD]),
		.notes = or_null(texts[COLUMN_NOTES]),
		.workspace = or_null(texts[COLUMN_WORKSPACE]),
		.unit = or_null(texts[COLUMN_UNIT]),
		.socket = or_null(texts[COLUMN_SOCKET]),
		.run_directory = or_null(texts[COLUMN_DIRECTORY]),
		.boot_id = or_null(texts[COLUMN_BOOT_ID]),
		.machine_id = or_null(texts[COLUMN_MACHINE_ID]),
		.host = or_null(texts[COLUMN_HOST]),
		.pid_namespace = or_null(texts[COLUMN_PID_NAMESPACE]),
		.config_home = or_null(texts[COLUMN_CONFIG_HOME]),
		.next_session_id = or_null(texts[COLUMN_NEXT_SESSION]),
		.shared = { .session_id = or_null(texts[COLUMN_SHARED_ID]),
			    .owner = or_null(texts[COLUMN_SHARED_OWNER]),
			    .title = or_null(texts[COLUMN_SHARED_TITLE]),
			    .profile = or_null(texts[COLUMN_SHARED_PROFILE]) },
	};
	if (next != storage + length + 1 || !*row.id || !*row.title || !*row.lookup_directory ||
	    !*row.agent || !*row.backend ||
	    !instance_state_parse(texts[COLUMN_STATE], &row.state) ||
	    !instance_desired_parse(texts[COLUMN_DESIRED], &row.desired) ||
	    !parse_number(texts[COLUMN_CREATED], INT64_MAX, &row.created_at) ||
	    !parse_number(texts[COLUMN_LAST_USED], INT64_MAX, &row.last_used_at) ||
	    !parse_number(texts[COLUMN_SINCE], INT64_MAX, &row.since) ||
	    !parse_process(texts, COLUMN_SERVER_PID, &row.server) ||
	    !parse_process(texts, COLUMN_PANE_PID, &row.pane) ||
	    !parse_process(texts, COLUMN_WINDOW_PID, &row.window) ||
	    !rung_parse(texts[COLUMN_RUNG], &row.rung) ||
	    !ending_stage_parse(texts[COLUMN_ENDING], &row.ending))
		return false;
	*ret = row;
	return true;
}

static void pack_text(struct strbuf *storage, const char *text)
{
	strbuf_add(storage, or_empty(text), strlen(or_empty(text)) + 1);
}

static void pack_number(struct strbuf *storage, int64_t number)
{
	char text[24] = "";
	if (number)
		snprintf(text, sizeof(text), "%" PRId64, number);
	pack_text(storage, text);
}

static const char *next_id(const struct conversation *conversation, const struct attempt *attempt)
{
	const char *id = attempt ? attempt->session_id : NULL;
	bool is_known = naming_same_session_id(id, conversation->session_id) ||
			naming_has_session_id(&conversation->previous, id);
	return is_known ? NULL : id;
}

static void pack_instance(const struct instance *instance, struct strbuf *storage)
{
	/* Without a socket there is no run, whatever the other columns say. */
	static const struct run none;
	const struct run *run = instance->run.socket ? &instance->run : &none;
	const struct attempt *attempt = run_attempt(run);

	pack_text(storage, instance->base);
	pack_text(storage, instance->id);
	pack_text(storage, instance->title);
	pack_text(storage, instance->group);
	pack_text(storage, instance_lookup_directory(instance));
	pack_text(storage, instance->agent);
	pack_text(storage, instance->backend);
	pack_text(storage, instance->conversation.session_id);
	pack_text(storage, instance_state_name(instance->observed.state));
	pack_text(storage, instance_desired_name(instance->desired));
	pack_number(storage, instance->created_at);
	pack_number(storage, instance->last_used_at);
	pack_text(storage, instance->observed.reason);
	pack_text(storage, instance->conversation.config_home);
	pack_text(storage, run->unit);
	pack_text(storage, run->socket);
	pack_text(storage, run->directory);
	pack_text(storage, run->boot_id);
	pack_number(storage, run->server.pid);
	pack_number(storage, (int64_t)run->server.start);
	pack_number(storage, run->pane.pid);
	pack_number(storage, (int64_t)run->pane.start);
	pack_number(storage, run->window.pid);
	pack_number(storage, (int64_t)run->window.start);
	pack_text(storage, rung_name(attempt ? attempt->rung : RUNG_NONE));
	pack_text(storage, run->machine_id);
	pack_text(storage, run->host);
	pack_text(storage, next_id(&instance->conversation, attempt));
	pack_text(storage, instance->conversation.shared.session_id);
	pack_text(storage, instance->conversation.shared.owner);
	pack_text(storage, instance->conversation.shared.title);
	pack_text(storage, instance->conversation.shared.profile);
	pack_text(storage, instance->copy_of);
	pack_number(storage, instance->observed.since);
	pack_text(storage, instance->observed.held);
	pack_text(storage, instance->notes);
	pack_text(storage, ending_stage_name(instance->ending.stage));
	pack_text(storage,
		  instance->workspace ? workspace_kind_name(instance->workspace->kind) : NULL);
	pack_text(storage, run->pid_namespace);
}

/* Whether the index can hold the storage: no text has a tab, or bytes that JSON cannot carry. */
static bool is_indexable(const char *storage, size_t length)
{
	return !memchr(storage, '\t', length) && is_utf8(storage, length);
}

/* --- the index file --------------------------------------------------------------------------- */

struct index {
	struct json_object *object;
	struct json_object *rows; /* borrowed from object; NULL: there is no index */
	size_t count, next;       /* of rows; the first one not yet looked at */
	bool gone;                /* some rows are of instances that no longer exist */
};

static void index_free(struct index *index)
{
	json_object_put(index->object);
	*index = (struct index){ 0 };
}
#define cleanup_index CLEANUP(index_free)

/* An index that cannot be used, for whatever reason, counts as absent. */
static void read_index(const struct store *store, struct index *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct json_object *object = NULL;
	if (fs_read(store->directory, STORE_INDEX, STORE_INDEX_MAX, &text, NULL) != 0 ||
	    json_parse(text.data, text.length, STORE_INDEX, &object, NULL) < 0)
		return;
	ret->object = object;
	if (json_get_int(object, "format", 0) == INDEX_FORMAT)
		ret->rows = json_get_array(object, "rows");
	ret->count = ret->rows ? json_object_array_length(ret->rows) : 0;
}

/* Compare base with the one that a row's text begins with. */
static int compare_base(const char *text, const char *base)
{
	size_t length = strcspn(text, "\t"), n = strlen(base);
	int order = memcmp(text, base, length < n ? length : n);
	return order ? order : (length > n) - (length < n);
}

/* The text of base's row, or NULL.  Call it with rising names: both sides are sorted.  An index
 * that is not sorted loses rows, whose manifests are then read again. */
static struct json_object *index_find(struct index *index, const char *base)
{
	while (index->next < index->count) {
		struct json_object *row = json_object_array_get_idx(index->rows, index->next);
		bool is_text = json_object_is_type(row, json_type_string);
		int order = is_text ? compare_base(json_object_get_string(row), base) : -1;
		if (order > 0)
			return NULL;
		index->next++;
		if (order == 0)
			return row;
		index->gone = true;
	}
	return NULL;
}

/* Returns false if there is no row, or if it was made from another version of the manifest. */
static bool row_from_index(const struct store *store, struct index *index, const char *base,
			   const struct stat *st, struct entry *ret)
{
	struct json_object *found = index_find(index, base);
	const char *text = found ? json_object_get_string(found) : "";
	const char *last = strrchr(text, '\t');

	make_stamp(st, ret->stamp);
	if (!last || !streq(last + 1, ret->stamp))
		return false;
	ret->length = (size_t)(last - text);
	cleanup_free char *storage = xstrndup(text, ret->length);
	for (char *tab = storage; (tab = strchr(tab, '\t')); tab++)
		*tab = '\0';
	if (!unpack_row(storage, ret->length, &ret->row) ||
	    !store_is_own_place(store, ret->row.id, ret->row.run_directory, ret->row.socket,
				ret->row.unit))
		return false;
	(void)TAKE_PTR(storage);
	return true;
}

static void add_row(struct strbuf *text, const struct entry *entry)
{
	cleanup_strbuf struct strbuf row = { 0 };
	strbuf_add(&row, entry->row.storage, entry->length);
	for (size_t i = 0; i < row.length; i++)
		if (row.data[i] == '\0')
			row.data[i] = '\t';
	strbuf_adds(&row, "\t");
	strbuf_adds(&row, entry->stamp);
	cleanup_json struct json_object *value = json_text(row.data);
	strbuf_adds(text, json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* Best effort: if the lock is taken, the next reader writes it. */
static void write_index(const struct store *store, const struct entry *entries, size_t count)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strbuf struct strbuf text = { 0 };
	const char *separator = "\n";

	if (!store->profile_locked &&
	    fs_lock(store->directory, STORE_PROFILE_LOCK, 0, &lock, NULL) != 0)
		return;
	strbuf_addf(&text, "{\"format\":%d,\"rows\":[", INDEX_FORMAT);
	for (size_t i = 0; i < count; i++) {
		if (!*entries[i].stamp)
			continue;
		strbuf_adds(&text, separator);
		add_row(&text, &entries[i]);
		separator = ",\n";
	}
	strbuf_adds(&text, "\n]}\n");
	if (text.length <= STORE_INDEX_MAX)
		(void)fs_replace(store->directory, STORE_INDEX, text.data, text.length, FS_VOLATILE,
				 NULL);
}

/* --- listing ---------------------------------------------------------------------------------- */

static void damaged_row(const char *base, const struct error *err, struct store_row *ret)
{
	struct strbuf storage = { 0 };
	size_t damage = strlen(base) + 1;
	pack_text(&storage, base);
	pack_text(&storage, err->message);
	*ret = (struct store_row){ .storage = strbuf_take(&storage) };
	ret->base = ret->id = ret->title = ret->storage;
	ret->damage = ret->storage + damage;
}

enum { FROM_INDEX, FROM_MANIFEST, FROM_DAMAGE, FROM_NOTHING };

static int row_from_manifest(struct store *store, const char *base, struct entry *ret)
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
		damaged_row(base, &err, &ret->row);
		return FROM_DAMAGE;
	}
	pack_instance(instance, &storage);
	ret->length = storage.length - 1;
	if (!is_racy(&st) && is_indexable(storage.data, ret->length))
		make_stamp(&st, ret->stamp);
	if (!unpack_row(storage.data, ret->length, &ret->row))
		abort();
	return FROM_MANIFEST;
}

static int fill_entry(struct store *store, struct index *index, const char *base, struct entry *ret)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" STORE_MANIFEST, base);
	int r = fstatat(store->directory, path, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0 && errno == ENOTDIR)
		return FROM_NOTHING;
	if (r == 0 && row_from_index(store, index, base, &st, ret))
		return FROM_INDEX;
	return row_from_manifest(store, base, ret);
}

static int compare_entries(const void *a, const void *b)
{
	const struct store_row *x = &(*(const struct entry *const *)a)->row,
			       *y = &(*(const struct entry *const *)b)->row;
	if (x->created_at != y->created_at)
		return x->created_at < y->created_at ? -1 : 1;
	return strcmp(x->id, y->id);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* bases must be sorted, as the index is. */
static size_t fill_entries(struct store *store, char *const *bases, size_t base_count,
			   struct entry *ret)
{
	cleanup_index struct index index = { 0 };
	size_t count = 0, anew = 0;

	read_index(store, &index);
	for (size_t i = 0; i < base_count; i++) {
		int from = fill_entry(store, &index, bases[i], &ret[count]);
		/* A row that the index cannot hold is no reason to write it. */
		anew += from == FROM_MANIFEST && *ret[count].stamp;
		count += from != FROM_NOTHING;
	}
	if (anew > (count / 16 > 16 ? count / 16 : 16) || index.gone || index.next < index.count)
		write_index(store, ret, count);
	return count;
}

int store_list(struct store *store, struct store_rows *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(store->directory, &names, err) < 0)
		return error_prefix(err, "%s", store->path);
	cleanup_free char **bases = xcalloc(names.count, sizeof(*bases));
	size_t base_count = 0;
	for (size_t i = 0; i < names.count; i++)
		if (store_is_base(names.items[i]))
			bases[base_count++] = names.items[i];
	qsort(bases, base_count, sizeof(*bases), compare_names);
	cleanup_free struct entry *entries = xcalloc(base_count, sizeof(*entries));
	size_t count = fill_entries(store, bases, base_count, entries);
	struct store_rows rows = { .rows = xcalloc(count, sizeof(*rows.rows)), .count = count };
	/* A row is large: it is moved once. */
	cleanup_free const struct entry **order = xcalloc(count, sizeof(*order));
	for (size_t i = 0; i < count; i++)
		order[i] = &entries[i];
	qsort(order, count, sizeof(*order), compare_entries);
	for (size_t i = 0; i < count; i++)
		rows.rows[i] = order[i]->row;
	store_rows_free(ret);
	*ret = rows;
	return 0;
}

int store_load_row(struct store *store, const char *base, struct store_row *ret)
{
	struct entry entry = { 0 };
	if (row_from_manifest(store, base, &entry) == FROM_NOTHING)
		return STORE_ABSENT;
	*ret = entry.row;
	return 0;
}

/* --- resolving a name ------------------------------------------------------------------------- */

enum { PREFIX_MIN = 3 };

enum match { MATCH_TITLE, MATCH_ID, MATCH_COPY, MATCH_PREFIX, MATCH_PATH, MATCH_COUNT };

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
		return strlen(target) >= PREFIX_MIN && starts_with(row->id, target);
	case MATCH_PATH:
		return row->lookup_directory && streq(row->lookup_directory, target);
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
