/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/incarnation.h"

#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 10, BEAT_SIZE = 21 };

#define BEAT_PREFIX "main-"
#define BEAT_SUFFIX ".beat"
#define OVER        "over"

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

static char *beat_name(const char *id)
{
	return xasprintf(BEAT_PREFIX "%s" BEAT_SUFFIX, id);
}

static bool is_beat(const char *name)
{
	return starts_with(name, BEAT_PREFIX) && ends_with(name, BEAT_SUFFIX);
}

/* The text has a fixed length, so that it can be overwritten in place. */
static void print_beat(int64_t beat, char ret[BEAT_SIZE])
{
	if (beat == INCARNATION_OVER)
		(void)snprintf(ret, BEAT_SIZE, "%-19s\n", OVER);
	else
		(void)snprintf(ret, BEAT_SIZE, "%019" PRId64 "\n", beat);
}

/* Without the file it is in its first beat. */
static int read_beat(const char *state, struct incarnation *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *name = beat_name(ret->id);
	cleanup_free char *path = path_join(state, name);
	if (fs_read(AT_FDCWD, path, FILE_MAX, &text, err) < 0)
		return -1;
	ret->is_over = starts_with(strbuf_text(&text), OVER);
	ret->beat = strtoll(strbuf_text(&text), NULL, 10);
	return 0;
}

/* Earlier versions wrote none. */
static int lease_of(int64_t written)
{
	return written < INCARNATION_LEAST_S || written > INCARNATION_MOST_S ? INCARNATION_LEASE_S
									     : (int)written;
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
	read.is_first = json_get_bool(object, "first", false);
	if (json_get_bool(object, "leased", false))
		read.lease_s = lease_of(json_get_int(object, "lease_s", 0));
	if (is_empty(read.host) || is_empty(read.id) || is_empty(read.runtime) ||
	    strchr(read.id, '/'))
		return error_set(err, ERROR_CORRUPT, "%s lacks the id of its host", path);
	if (read_beat(state, &read, err) < 0)
		return -1;
	*ret = read;
	read = (struct incarnation){ 0 };
	return 0;
}

int incarnation_write(const char *state, const struct incarnation *incarnation, struct error *err)
{
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_strvec struct strvec beats = { 0 };
	cleanup_free char *own = beat_name(incarnation->id);
	cleanup_close int fd = -1;
	char beat[BEAT_SIZE];
	print_beat(incarnation->is_over ? INCARNATION_OVER : incarnation->beat, beat);
	if (fs_open_private_directory(state, &fd, err) < 0 ||
	    fs_replace(fd, own, beat, strlen(beat), FS_DURABLE, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_set_string(object, texts[i].key, *text_at(incarnation, i));
	json_set_bool(object, "first", incarnation->is_first);
	json_set_bool(object, "leased", incarnation->lease_s > 0);
	json_set_int(object, "lease_s", incarnation->lease_s);
	const char *text = json_print(object);
	if (fs_replace(fd, INCARNATION_FILE, text, strlen(text), FS_DURABLE, err) < 0 ||
	    fs_list_some(fd, is_beat, &beats, err) < 0)
		return -1;
	for (size_t i = 0; i < beats.count; i++)
		if (!streq(beats.items[i], own))
			(void)unlinkat(fd, beats.items[i], 0);
	return 0;
}

int incarnation_say(const char *state, const char *id, int64_t beat, struct error *err)
{
	char text[BEAT_SIZE];
	cleanup_free char *name = beat_name(id);
	cleanup_free char *path = path_join(state, name);
	cleanup_close int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return INCARNATION_NONE;
	print_beat(beat, text);
	if (fd < 0 || pwrite(fd, text, BEAT_SIZE - 1, 0) != BEAT_SIZE - 1 || fdatasync(fd) < 0)
		return error_set_file(err, errno, "write %s", path);
	return 0;
}

char *incarnation_mark(const struct incarnation *incarnation)
{
	return xasprintf(INCARNATION_MARK "=%s", incarnation->id);
}

bool incarnation_is_here(const struct incarnation *incarnation)
{
	const struct machine_stamp here = machine_stamp();
	return !is_empty(here.boot_id) && !is_empty(here.pid_namespace) &&
	       streq(or_empty(incarnation->boot_id), here.boot_id) &&
	       streq(or_empty(incarnation->pid_namespace), here.pid_namespace);
}

int incarnation_wait_s(const struct incarnation *before, bool is_fenced)
{
	const char *boot_id = machine_stamp().boot_id;
	if (!before->host || before->is_over || is_fenced || incarnation_is_here(before))
		return 0;
	/* The lock is free, so this kernel has ended that PID 1, and ends the others with it. */
	if (before->is_first && !is_empty(boot_id) && streq(or_empty(before->boot_id), boot_id))
		return INCARNATION_KILLED_S;
	return before->lease_s ? before->lease_s + INCARNATION_ENDING_S : INCARNATION_UNKNOWN;
}
