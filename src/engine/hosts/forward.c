/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/forward.h"

#include "base/clock.h"
#include "base/jsonio.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT_MAX = 65535, RECORD_MAX = 16384, TAKE_MS = 2000, END_MS = 10000 };

void forward_clear(struct forward *forward)
{
	free(forward->remote);
	free(forward->profile);
	free(forward->id);
	free(forward->title);
	*forward = (struct forward){ 0 };
}

void forwards_free(struct forwards *forwards)
{
	for (size_t i = 0; i < forwards->count; i++)
		forward_clear(&forwards->items[i]);
	free(forwards->items);
}

int forward_parse(const char *text, struct forward *ret, struct error *err)
{
	const char *colon = strchr(text, ':');
	cleanup_free char *first = xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
	cleanup_free char *shown = visible(text);
	if (!parse_int64(first, 1, PORT_MAX, &ret->port) ||
	    !parse_int64(colon ? colon + 1 : first, 1, PORT_MAX, &ret->target))
		return error_set(err, ERROR_USAGE,
				 "'%s' is no port: write 3000, or 3000:8080 for port 3000 here and "
				 "port 8080 there",
				 shown);
	return 0;
}

/* ---- files ------------------------------------------------------------------------------------ */

static int open_directory(const struct deck *deck, int *ret, struct error *err)
{
	cleanup_free char *path = path_join(
		deck_has_runtime(deck) ? deck->paths.runtime : deck->paths.direct, "forwards");
	return fs_open_private_directory(path, ret, err);
}

static char *record_name(const struct forward *forward)
{
	return xasprintf("%d.json", (int)forward->port);
}

static char *lock_name(const struct forward *forward)
{
	return xasprintf("%d.lock", (int)forward->port);
}

int forward_take(const struct deck *deck, struct forward *forward, int *ret_directory,
		 struct fs_lock *ret, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_free char *name = lock_name(forward);
	if (process_identify(getpid(), &forward->keeper, err) != 0 ||
	    open_directory(deck, &directory, err) < 0)
		return -1;
	const int r = fs_lock(directory, name, clock_ms() + TAKE_MS, ret, err);
	if (r < 0)
		return -1;
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_EXISTS,
				 "port %d is forwarded already: agentdeck forward --list shows "
				 "where to; for another port here: agentdeck forward SESSION %d:%d",
				 (int)forward->port, (int)forward->port + 1, (int)forward->target);
	*ret_directory = TAKE_FD(directory);
	return 0;
}

int forward_write(int directory, const struct forward *forward, struct error *err)
{
	cleanup_json struct json_object *object = json_object_new_object();
	cleanup_free char *name = record_name(forward);
	json_set_int(object, "target", forward->target);
	json_set_string(object, "remote", forward->remote);
	json_set_string(object, "profile", forward->profile);
	json_set_string(object, "id", forward->id);
	json_set_string(object, "title", forward->title);
	json_set_int(object, "since_us", forward->since_us);
	json_set_bool(object, "is_connected", forward->is_connected);
	json_set_int(object, "keeper", forward->keeper.pid);
	json_set_int(object, "keeper_start", (int64_t)forward->keeper.start);
	const char *text = json_print(object);
	return fs_replace(directory, name, text, strlen(text), FS_VOLATILE, err);
}

void forward_remove(int directory, const struct forward *forward)
{
	cleanup_free char *record = record_name(forward), *lock = lock_name(forward);
	(void)unlinkat(directory, record, 0);
	(void)unlinkat(directory, lock, 0);
}

static char *text_of(const struct json_object *object, const char *name)
{
	const char *text = json_get_string(object, name, NULL);
	return text ? xstrdup(text) : NULL;
}

/* False: there is no keeper of it. */
static bool read_record(int directory, const char *name, struct forward *ret)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *object = NULL;
	cleanup_forward struct forward forward = { 0 };
	cleanup_free char *port = xstrndup(name, strlen(name) - strlen(".json"));
	if (!parse_int64(port, 1, PORT_MAX, &forward.port))
		return false;
	cleanup_free char *lock_file = lock_name(&forward);
	const int r = fs_lock(directory, lock_file, 0, &lock, NULL);
	if (r == 0)
		forward_remove(directory, &forward);
	if (r != FS_LOCK_BUSY || fs_read(directory, name, RECORD_MAX, &text, NULL) != 0 ||
	    json_parse(strbuf_text(&text), text.length, name, &object, NULL) < 0)
		return false;
	forward.target = json_get_int(object, "target", 0);
	forward.remote = text_of(object, "remote");
	forward.profile = text_of(object, "profile");
	forward.id = text_of(object, "id");
	forward.title = text_of(object, "title");
	forward.since_us = json_get_int(object, "since_us", 0);
	forward.is_connected = json_get_bool(object, "is_connected", false);
	forward.keeper.pid = (pid_t)json_get_int(object, "keeper", 0);
	forward.keeper.start = (uint64_t)json_get_int(object, "keeper_start", 0);
	*ret = forward;
	forward = (struct forward){ 0 };
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct forward *one = a, *other = b;
	return (one->port > other->port) - (one->port < other->port);
}

int forwards_list(const struct deck *deck, struct forwards *ret, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_strvec struct strvec names = { 0 };
	if (open_directory(deck, &directory, err) < 0 || fs_list(directory, &names, err) < 0)
		return -1;
	ret->items = xcalloc(names.count + 1, sizeof(*ret->items));
	for (size_t i = 0; i < names.count; i++)
		if (ends_with(names.items[i], ".json") &&
		    read_record(directory, names.items[i], &ret->items[ret->count]))
			ret->count++;
	qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	return 0;
}

int forward_end(const struct deck *deck, const struct forward *forward, struct error *err)
{
	cleanup_close int directory = -1;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_free char *name = lock_name(forward);
	if (open_directory(deck, &directory, err) < 0 ||
	    process_signal(&forward->keeper, SIGTERM, err) < 0)
		return -1;
	const int r = fs_lock(directory, name, clock_ms() + END_MS, &lock, err);
	if (r < 0)
		return -1;
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_TIMEOUT,
				 "port %d: its process %d has not ended within %d s: end it with "
				 "kill -9 %d",
				 (int)forward->port, forward->keeper.pid, END_MS / 1000,
				 forward->keeper.pid);
	forward_remove(directory, forward);
	return 0;
}
