/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/workspace.h"

#include "model/session/fields.h"

#include <ctype.h>
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
