/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/workspace.h"

#include "model/session/fields.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { SLUG_MAX = 40 };

static const char *const kind_words[] = {
	[WORKSPACE_WORKTREE] = "worktree",
	[WORKSPACE_CLONE] = "clone",
	NULL,
};

static const char *const setup_words[] = {
	[SETUP_NONE] = "none",
	[SETUP_WANTED] = "wanted",
	[SETUP_FAILED] = "failed",
	NULL,
};

const char *workspace_kind_name(enum workspace_kind kind)
{
	return kind_words[kind];
}

const char *const changes_merged_words[] = {
	[MERGED_UNKNOWN] = "unknown",
	[MERGED_NO] = "no",
	[MERGED_YES] = "yes",
	[MERGED_SQUASHED] = "squashed",
	NULL,
};

static const struct field seen_members[] = {
	FIELD_OF_TIME(struct seen_work, at, "at", .decides = true),
	FIELD(struct seen_work, branch, "branch"),
	FIELD(struct seen_work, commits, "commits"),
	FIELD(struct seen_work, files, "files"),
	FIELD(struct seen_work, uncommitted, "uncommitted"),
	FIELD(struct seen_work, merged, "merged", .words = changes_merged_words),
	FIELD(struct seen_work, request.number, "request"),
	FIELD(struct seen_work, request.state, "request_state"),
	FIELD(struct seen_work, request.url, "request_url"),
	FIELD(struct seen_work, request.is_draft, "request_is_draft"),
};
const struct fields seen_work_fields = FIELDS(struct seen_work, seen_members, .unknown = 0);

static const struct field workspace_members[] = {
	FIELD(struct workspace, kind, "kind", .words = kind_words, .needed = true, .always = true),
	FIELD(struct workspace, source, "source", .needed = true, .is_path = true),
	FIELD(struct workspace, path, "path", .needed = true, .is_path = true),
	FIELD(struct workspace, branch, "branch", .needed = true),
	FIELD(struct workspace, base, "base", .needed = true),
	FIELD(struct workspace, from, "from", .is_path = true),
	FIELD(struct workspace, base_branch, "base_branch"),
	FIELD(struct workspace, made_branch, "made_branch"),
	FIELD(struct workspace, has_branch, "has_branch"),
	FIELD(struct workspace, is_made, "made"),
	FIELD(struct workspace, again, "again"),
	FIELD(struct workspace, root_id, "root_id"),
	FIELD(struct workspace, setup, "setup", .words = setup_words),
	FIELD(struct workspace, may_be_lost, "may_be_lost"),
	FIELD(struct workspace, is_freed, "freed"),
	FIELD(struct workspace, carried, "carried"),
	FIELD(struct workspace, arriving, "arriving"),
	FIELD_OF_STRUCT(struct workspace, seen, "seen", &seen_work_fields),
};
const struct fields workspace_fields = FIELDS(struct workspace, workspace_members,
					      .unknown = offsetof(struct workspace, unknown));

struct workspace *workspace_new(void)
{
	return xcalloc(1, sizeof(struct workspace));
}

void workspace_free(struct workspace *workspace)
{
	fields_free(&workspace_fields, workspace);
}

struct json_object *workspace_to_json(const struct workspace *workspace)
{
	return fields_to_json(&workspace_fields, workspace);
}

static void add_count(struct strbuf *text, int64_t count, const char *one, const char *rest)
{
	if (count)
		strbuf_addf(text, "%s%" PRId64 " %s%s%s", text->length ? ", " : "", count, one,
			    count == 1 ? "" : "s", rest);
}

char *seen_work_text(const struct seen_work *work)
{
	static const char *const merged[] = {
		[MERGED_UNKNOWN] = "",
		[MERGED_NO] = ", not merged",
		[MERGED_YES] = ", merged",
		[MERGED_SQUASHED] = ", squash-merged",
	};
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *branch = visible(or_empty(work->branch));
	cleanup_free char *on = *branch ? xasprintf(" on %s", branch) : xstrdup("");
	add_count(&text, work->commits, "commit", on);
	add_count(&text, work->files, "file", "");
	if (work->commits)
		strbuf_adds(&text, merged[work->merged]);
	add_count(&text, work->uncommitted, "file", " not committed");
	if (work->request.number)
		strbuf_addf(&text, "%spull request %" PRId64 " %s%s", text.length ? ", " : "",
			    work->request.number, work->request.is_draft ? "draft " : "",
			    or_empty(work->request.state));
	return text.length ? strbuf_take(&text) : xstrdup("nothing yet");
}

char *workspace_slug(const char *title)
{
	cleanup_strbuf struct strbuf slug = { 0 };
	bool gap = false;
	for (; *title && slug.length < SLUG_MAX; title++) {
		const unsigned char byte = (unsigned char)*title;
		if (!isalnum(byte) || byte >= 0x80) {
			gap = slug.length > 0;
			continue;
		}
		if (gap && slug.length < SLUG_MAX - 1)
			strbuf_adds(&slug, "-");
		gap = false;
		const char small = (char)tolower(byte);
		strbuf_add(&slug, &small, 1);
	}
	return slug.length ? strbuf_take(&slug) : xstrdup("session");
}
