/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/workspace/changes.h"

#include "model/session/fields.h"

#include <string.h>

enum { FORMAT = 1 };

static const struct field file_members[] = {
	FIELD(struct changed_file, path, "path", .needed = true),
	FIELD(struct changed_file, status, "status", .needed = true),
	FIELD(struct changed_file, added, "added", .always = true),
	FIELD(struct changed_file, removed, "removed", .always = true),
	FIELD(struct changed_file, is_binary, "binary", .always = true),
};
static const struct fields file_fields = FIELDS(struct changed_file, file_members, .unknown = 0);

static const struct field commit_members[] = {
	FIELD(struct changed_commit, id, "id", .needed = true),
	FIELD(struct changed_commit, subject, "subject", .always = true),
};
static const struct fields commit_fields = FIELDS(struct changed_commit, commit_members,
						  .unknown = 0);

static const struct field upstream_members[] = {
	FIELD(struct changes, upstream.name, "name", .decides = true),
	FIELD(struct changes, upstream.is_gone, "gone", .always = true),
	FIELD(struct changes, upstream.ahead, "ahead", .always = true),
	FIELD(struct changes, upstream.behind, "behind", .always = true),
};
static const struct fields upstream_fields = FIELDS(struct changes, upstream_members, .unknown = 0);

static const struct field members[] = {
	FIELD(struct changes, branch, "branch", .always = true),
	FIELD(struct changes, head, "head", .always = true),
	FIELD(struct changes, base, "base", .always = true),
	FIELD(struct changes, into, "into", .always = true),
	FIELD(struct changes, merged, "merged", .words = changes_merged_words, .always = true),
	FIELD_OF_LIST(struct changes, commits, commit_count, "commits", &commit_fields,
		      .always = true),
	FIELD(struct changes, more_commits, "more_commits", .always = true),
	FIELD_OF_LIST(struct changes, committed.items, committed.count, "files", &file_fields,
		      .always = true),
	FIELD(struct changes, committed.more, "more_files", .always = true),
	FIELD_OF_LIST(struct changes, uncommitted.items, uncommitted.count, "uncommitted",
		      &file_fields, .always = true),
	FIELD(struct changes, uncommitted.more, "more_uncommitted", .always = true),
	FIELD_OF_LIST(struct changes, untracked.items, untracked.count, "untracked", &file_fields,
		      .always = true),
	FIELD(struct changes, untracked.more, "more_untracked", .always = true),
	FIELD(struct changes, diff, "diff", .always = true),
	FIELD(struct changes, diff_is_cut, "diff_is_cut", .always = true),
	FIELD(struct changes, unknown, "unknown", .always = true),
};
static const struct fields changes_fields = FIELDS(struct changes, members, .unknown = 0);

void changes_free(struct changes *changes)
{
	free(changes->upstream.name);
	changes->upstream.name = NULL;
	fields_clear(&changes_fields, changes);
}

/* ---- collecting ------------------------------------------------------------------------------ */

void changes_add_file(struct changed_files *files, const char *path, const char *status)
{
	if (files->count >= CHANGES_FILES_MOST) {
		files->more++;
		return;
	}
	files->items = xreallocarray(files->items, files->count + 1, sizeof(*files->items));
	files->items[files->count++] = (struct changed_file){
		.path = visible(path),
		.status = visible(status),
	};
}

void changes_add_clean(struct strbuf *buf, const char *text)
{
	while (*text) {
		const size_t length = strcspn(text, "\t\n");
		cleanup_free char *part = xstrndup(text, length);
		strbuf_add_visible(buf, part);
		text += length;
		if (*text)
			strbuf_add(buf, text++, 1);
	}
}

struct changes_sum changes_sum_of(const struct changed_files *files)
{
	struct changes_sum sum = { .files = (int64_t)files->count + files->more };
	for (size_t i = 0; i < files->count; i++) {
		sum.added += files->items[i].added;
		sum.removed += files->items[i].removed;
	}
	return sum;
}

char *changes_merged_text(const struct changes *changes)
{
	static const char *const texts[] = {
		[MERGED_UNKNOWN] = "whether it is merged is not known",
		[MERGED_NO] = "not merged into",
		[MERGED_YES] = "merged into",
		[MERGED_SQUASHED] = "squash-merged into",
	};
	const char *into = changes->into ? changes->into : "the default branch";
	return changes->merged == MERGED_UNKNOWN ? xstrdup(texts[MERGED_UNKNOWN])
						 : xasprintf("%s %s", texts[changes->merged], into);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

struct json_object *changes_to_json(const struct changes *changes)
{
	struct json_object *json = json_object_new_object();
	json_set_int(json, "schema", FORMAT);
	fields_put(json, &changes_fields, changes);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (members[i].type == FIELD_TEXT && !field_text(&members[i], changes))
			json_set_string(json, members[i].key, NULL);
	struct json_object *upstream = NULL;
	if (changes->upstream.name) {
		upstream = json_object_new_object();
		fields_put(upstream, &upstream_fields, changes);
	}
	json_set(json, "upstream", upstream);
	return json;
}

static void clean(char **text)
{
	cleanup_free char *dirty = *text;
	if (dirty)
		*text = visible(dirty);
}

static void clean_files(struct changed_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		clean(&files->items[i].path);
		clean(&files->items[i].status);
	}
}

/* The process that has read the tree may not be believed either. */
static void clean_all(struct changes *changes)
{
	cleanup_strbuf struct strbuf diff = { 0 };
	clean(&changes->branch);
	clean(&changes->into);
	clean(&changes->upstream.name);
	for (size_t i = 0; i < changes->commit_count; i++) {
		clean(&changes->commits[i].id);
		clean(&changes->commits[i].subject);
	}
	clean_files(&changes->committed);
	clean_files(&changes->uncommitted);
	clean_files(&changes->untracked);
	for (size_t i = 0; i < changes->unknown.count; i++)
		clean(&changes->unknown.items[i]);
	if (!changes->diff)
		return;
	changes_add_clean(&diff, changes->diff);
	free(changes->diff);
	changes->diff = strbuf_take(&diff);
}

static bool is_oid_or_null(const char *text)
{
	return !text || !text[strspn(text, "0123456789abcdef")];
}

int changes_parse(const char *text, size_t length, struct changes *ret, struct error *err)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_changes struct changes changes = { 0 };
	struct manifest_reader reader = { .what = "changes", .err = err };
	if (length > CHANGES_JSON_MOST)
		return error_set(err, ERROR_CORRUPT, "changes: over %d bytes", CHANGES_JSON_MOST);
	if (json_parse(text, length, "changes", &json, err) < 0)
		return -1;
	if (json_get_int(json, "schema", 0) != FORMAT)
		return error_set(err, ERROR_CORRUPT, "changes: not such an answer");
	const struct manifest_section section = { &reader, "", json };
	fields_read(&section, &changes_fields, &changes);
	const struct manifest_section upstream = manifest_section(&section, "upstream",
								  "upstream.");
	if (upstream.object)
		fields_read(&upstream, &upstream_fields, &changes);
	if (reader.failed)
		return -1;
	if (!is_oid_or_null(changes.head) || !is_oid_or_null(changes.base))
		return error_set(err, ERROR_CORRUPT, "changes: an invalid commit");
	clean_all(&changes);
	*ret = changes;
	changes = (struct changes){ 0 };
	return 0;
}
