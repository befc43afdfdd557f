/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/main/keepsake.h"

#include "base/fsutil.h"
#include "base/jsonio.h"

#include <string.h>

#define FILE_NAME "deck.json"

enum { SIZE_MOST = 1 << 20 };

/* By profile.  The caller's; empty without a good file. */
static struct json_object *read_all(int dirfd)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *all = NULL;
	if (fs_read(dirfd, FILE_NAME, SIZE_MOST, &text, NULL) == 0 &&
	    json_parse(strbuf_text(&text), text.length, FILE_NAME, &all, NULL) == 0 &&
	    json_object_is_type(all, json_type_object))
		return TAKE_PTR(all);
	return json_object_new_object();
}

void keepsake_read(const char *state, const char *profile, struct ui *ui)
{
	cleanup_close int dirfd = -1;
	if (fs_open_private_directory(state, &dirfd, NULL) < 0)
		return;
	cleanup_json struct json_object *all = read_all(dirfd);
	const struct json_object *saved = json_get_object(all, profile);
	if (saved)
		ui_restore(ui, saved);
}

void keepsake_write(const char *state, const char *profile, struct ui *ui)
{
	cleanup_close int dirfd = -1;
	if (fs_open_private_directory(state, &dirfd, NULL) < 0)
		return;
	cleanup_json struct json_object *all = read_all(dirfd);
	ui_save(ui, json_make_object(all, profile));
	const char *text = json_print(all);
	(void)fs_replace(dirfd, FILE_NAME, text, strlen(text), FS_VOLATILE, NULL);
}
