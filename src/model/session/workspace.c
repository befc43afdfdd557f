/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/session/workspace.h"

#include "model/session/manifest-internal.h"

#include <ctype.h>
#include <string.h>

enum { SLUG_MAX = 40 };

static const char *const kind_words[] = {
	[WORKSPACE_WORKTREE] = "worktree",
	[WORKSPACE_CLONE] = "clone",
};

static const char *const setup_words[] = {
	[SETUP_NONE] = "none",
	[SETUP_WANTED] = "wanted",
	[SETUP_FAILED] = "failed",
};

static bool parse_setup(const char *word, enum workspace_setup *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(setup_words); i++) {
		if (!streq(setup_words[i], word))
			continue;
		*ret = (enum workspace_setup)i;
		return true;
	}
	return false;
}

const char *workspace_kind_name(enum workspace_kind kind)
{
	return kind_words[kind];
}

static bool parse_kind(const char *word, enum workspace_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_words); i++) {
		if (!streq(kind_words[i], word))
			continue;
		*ret = (enum workspace_kind)i;
		return true;
	}
	return false;
}

struct workspace *workspace_new(void)
{
	return xcalloc(1, sizeof(struct workspace));
}

void workspace_free(struct workspace *workspace)
{
	if (!workspace)
		return;
	free(workspace->source);
	free(workspace->path);
	free(workspace->branch);
	free(workspace->base);
	free(workspace->from);
	free(workspace->base_branch);
	free(workspace->again);
	free(workspace->root_id);
	json_object_put(workspace->unknown);
	free(workspace);
}

struct json_object *workspace_to_json(const struct workspace *workspace)
{
	struct json_object *object = manifest_copy(workspace->unknown);
	manifest_put_text(object, "kind", workspace_kind_name(workspace->kind));
	manifest_put_text(object, "source", workspace->source);
	manifest_put_text(object, "path", workspace->path);
	manifest_put_text(object, "branch", workspace->branch);
	manifest_put_text(object, "base", workspace->base);
	manifest_put_text(object, "from", workspace->from);
	manifest_put_text(object, "base_branch", workspace->base_branch);
	manifest_put_flag(object, "made_branch", workspace->made_branch);
	manifest_put_flag(object, "has_branch", workspace->has_branch);
	manifest_put_flag(object, "made", workspace->is_made);
	manifest_put_text(object, "again", workspace->again);
	manifest_put_text(object, "root_id", workspace->root_id);
	manifest_put_text(object, "setup", workspace->setup ? setup_words[workspace->setup] : NULL);
	manifest_put_flag(object, "may_be_lost", workspace->may_be_lost);
	manifest_put_flag(object, "freed", workspace->is_freed);
	return object;
}

static void check_path(const struct manifest_section *section, const char *key, const char *path)
{
	if (path && *path != '/')
		manifest_fail(section, key, "is not an absolute path");
}

int workspace_from_json(struct json_object *object, const char *what, struct workspace **ret,
			struct error *err)
{
	cleanup_workspace struct workspace *workspace = workspace_new();
	struct manifest_reader reader = { .what = what, .err = err };
	const struct manifest_section section = { &reader, "workspace.", object };
	if (manifest_require(&section, "kind"))
		MANIFEST_WORD(&section, "kind", parse_kind, &workspace->kind);
	workspace->source = manifest_need_text(&section, "source");
	workspace->path = manifest_need_text(&section, "path");
	workspace->branch = manifest_need_text(&section, "branch");
	workspace->base = manifest_need_text(&section, "base");
	workspace->from = manifest_text(&section, "from");
	workspace->base_branch = manifest_text(&section, "base_branch");
	workspace->made_branch = manifest_bool(&section, "made_branch");
	workspace->has_branch = manifest_bool(&section, "has_branch");
	workspace->is_made = manifest_bool(&section, "made");
	workspace->again = manifest_text(&section, "again");
	workspace->root_id = manifest_text(&section, "root_id");
	MANIFEST_WORD(&section, "setup", parse_setup, &workspace->setup);
	workspace->may_be_lost = manifest_bool(&section, "may_be_lost");
	workspace->is_freed = manifest_bool(&section, "freed");
	check_path(&section, "source", workspace->source);
	check_path(&section, "path", workspace->path);
	check_path(&section, "from", workspace->from);
	if (reader.failed)
		return -1;
	workspace->unknown = json_object_get(object);
	*ret = TAKE_PTR(workspace);
	return 0;
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
