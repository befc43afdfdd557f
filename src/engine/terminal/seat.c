/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/terminal/seat.h"

#include "base/fsutil.h"
#include "base/process.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 256, ID_TEXT = 64, KEPT_S = 30 * 24 * 60 * 60 };

/* The owner of a terminal, and the session that it shows. */
struct note {
	struct process_id holder;
	char id[ID_TEXT];
	struct process_id server;
};

void seat_free(struct seat *seat)
{
	free(seat->id);
}

static int open_directory(const struct deck *deck, int *ret, struct error *err)
{
	cleanup_free char *path = path_join(
		deck_has_runtime(deck) ? deck->paths.runtime : deck->paths.direct, "seats");
	return fs_open_private_directory(path, ret, err);
}

static bool read_note(int directory, const char *name, struct note *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct note note = { 0 };
	if (fs_read(directory, name, TEXT_MAX, &text, NULL) != 0 ||
	    sscanf(strbuf_text(&text), "%d %" SCNu64 " %63s %d %" SCNu64, &note.holder.pid,
		   &note.holder.start, note.id, &note.server.pid, &note.server.start) != 5 ||
	    !naming_is_id(note.id))
		return false;
	*ret = note;
	return true;
}

/* End the holder and its tmux client, which would keep the session at its size. */
static void end_holder(const struct process_id *holder, const char *name)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_free struct process_id *processes = NULL;
	size_t count = 0;
	if (!process_alive(holder) || process_argv(holder->pid, &argv, NULL) != 0 ||
	    !strvec_contains(&argv, name) || process_tree(holder, &processes, &count, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		(void)process_signal(&processes[i], SIGHUP, NULL);
}

/* A terminal that never returns leaves its note.  The age counts from when its holder was last
 * seen. */
static void sweep(int directory)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(directory, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		struct note note;
		struct stat st;
		if (!read_note(directory, name, &note))
			continue;
		if (process_alive(&note.holder))
			(void)utimensat(directory, name, NULL, AT_SYMLINK_NOFOLLOW);
		else if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			 time(NULL) - st.st_mtim.tv_sec > KEPT_S)
			(void)unlinkat(directory, name, 0);
	}
}

int seat_take(const struct deck *deck, const char *name, struct seat *ret, struct error *err)
{
	cleanup_close int directory = -1;
	struct note note;
	if (!naming_is_uuid(name))
		return error_set(err, ERROR_USAGE, "a seat is named by a random UUID");
	if (open_directory(deck, &directory, err) < 0)
		return -1;
	const bool is_known = read_note(directory, name, &note);
	sweep(directory);
	if (!is_known)
		return 0;
	end_holder(&note.holder, name);
	*ret = (struct seat){ .id = xstrdup(note.id), .server = note.server };
	return 0;
}

void seat_note(const struct deck *deck, const char *name, const struct instance *instance)
{
	cleanup_close int directory = -1;
	struct process_id self;
	if (!name || process_identify(getpid(), &self, NULL) != 0 ||
	    open_directory(deck, &directory, NULL) < 0)
		return;
	cleanup_free char *text = xasprintf("%d %" PRIu64 " %s %d %" PRIu64 "\n", self.pid,
					    self.start, instance->id, instance->run.server.pid,
					    instance->run.server.start);
	(void)fs_replace(directory, name, text, strlen(text), FS_VOLATILE, NULL);
}

void seat_leave(const struct deck *deck, const char *name)
{
	cleanup_close int directory = -1;
	struct note note;
	/* After a hangup it is no terminal, and the user may return. */
	if (name && isatty(STDIN_FILENO) && open_directory(deck, &directory, NULL) == 0 &&
	    read_note(directory, name, &note) && note.holder.pid == getpid())
		(void)unlinkat(directory, name, 0);
}
