/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/incarnation.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/machine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 10 };

#define TEXT(member)                                          \
	{                                                     \
#member, offsetof(struct incarnation, member) \
	}
static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	TEXT(host),          TEXT(id),      TEXT(name),    TEXT(boot_id),
	TEXT(pid_namespace), TEXT(machine), TEXT(runtime),
};

static char **text_at(const struct incarnation *incarnation, size_t i)
{
	return (char **)(void *)((char *)incarnation + texts[i].offset);
}

void incarnation_clear(struct incarnation *incarnation)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(*text_at(incarnation, i));
	*incarnation = (struct incarnation){ 0 };
}

int incarnation_read(const char *state, struct incarnation *ret, struct error *err)
{
	cleanup_incarnation struct incarnation read = { 0 };
	cleanup_json struct json_object *object = NULL;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(state, INCARNATION_FILE);
	const int r = fs_read(AT_FDCWD, path, FILE_MAX, &text, err);
	if (r != 0)
		return r < 0 ? -1 : INCARNATION_NONE;
	if (fs_check_owner(path, err) < 0 ||
	    json_parse(strbuf_text(&text), text.length, path, &object, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*text_at(&read, i) = xstrdup_or_null(json_get_string(object, texts[i].key, NULL));
	read.beat = json_get_int(object, "beat", 0);
	read.is_first = json_get_bool(object, "first", false);
	read.is_leased = json_get_bool(object, "leased", false);
	read.is_over = json_get_bool(object, "over", false);
	if (is_empty(read.host) || is_empty(read.id) || is_empty(read.runtime))
		return error_set(err, ERROR_CORRUPT, "%s lacks the id of its host", path);
	*ret = read;
	read = (struct incarnation){ 0 };
	return 0;
}

int incarnation_write(const char *state, const struct incarnation *incarnation, struct error *err)
{
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_close int fd = -1;
	if (fs_open_private_directory(state, &fd, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_set_string(object, texts[i].key, *text_at(incarnation, i));
	json_set_int(object, "beat", incarnation->beat);
	json_set_bool(object, "first", incarnation->is_first);
	json_set_bool(object, "leased", incarnation->is_leased);
	json_set_bool(object, "over", incarnation->is_over);
	const char *text = json_print(object);
	return fs_replace(fd, INCARNATION_FILE, text, strlen(text), FS_DURABLE, err);
}

bool incarnation_is_here(const struct incarnation *incarnation)
{
	const struct machine_stamp here = machine_stamp();
	return streq(or_empty(incarnation->boot_id), or_empty(here.boot_id)) &&
	       streq(or_empty(incarnation->pid_namespace), or_empty(here.pid_namespace));
}

int incarnation_wait_s(const struct incarnation *before, bool is_fenced)
{
	const char *boot_id = machine_stamp().boot_id;
	if (!before->host || before->is_over || is_fenced || incarnation_is_here(before))
		return 0;
	/* Its lock is free, so this kernel has ended its PID 1, and ends the others with it. */
	if (before->is_first && !is_empty(boot_id) && streq(or_empty(before->boot_id), boot_id))
		return INCARNATION_KILLED_S;
	return before->is_leased ? INCARNATION_EXPIRED_S : INCARNATION_UNKNOWN;
}
