/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/tmux-panes.h"

#include "base/child.h"
#include "base/fsutil.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_TIMEOUT_MS = 2000 };

/* The name of a session is the user's, so it comes last. */
#define PANE_FORMAT "#{pane_id} #{pane_tty} #{window_index}.#{pane_index} #{session_name}"

static bool is_our_socket(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
}

void tmux_user_sockets(struct strvec *ret)
{
	const char *root = getenv("TMUX_TMPDIR"), *current = getenv("TMUX");
	cleanup_free char *directory =
		xasprintf("%s/tmux-%u", is_empty(root) ? "/tmp" : root, (unsigned)getuid());
	DIR *dir = opendir(directory);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		cleanup_free char *path = path_join(directory, entry->d_name);
		if (is_our_socket(path))
			strvec_push(ret, path);
	}
	if (dir)
		(void)closedir(dir);
	if (is_empty(current))
		return;
	/* "socket,pid,session" (tmux(1)). */
	cleanup_free char *path = xstrndup(current, strcspn(current, ","));
	if (!strvec_contains(ret, path) && is_our_socket(path))
		strvec_push(ret, path);
}

static void add_pane(const char *socket, char *line, struct tmux_user_panes *ret)
{
	const char *id = strsep(&line, " "), *terminal = strsep(&line, " "), *index = strsep(&line, " ");
	if (!line || id[0] != '%')
		return;
	cleanup_free char *session = visible(line);
	struct tmux_user_pane *grown =
		reallocarray(ret->panes, ret->count + 1, sizeof(*ret->panes));
	if (!grown)
		abort();
	ret->panes = grown;
	ret->panes[ret->count++] = (struct tmux_user_pane){
		.socket = xstrdup(socket),
		.id = xstrdup(id),
		.terminal = xstrdup(terminal),
		.where = xasprintf("%s:%s", session, index),
	};
}

int tmux_list_user_panes(const char *socket, struct tmux_user_panes *ret, bool *ret_unknown,
			 struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	struct error local = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "tmux", "-u", "-N", "-S", socket, "list-panes", "-a", "-F",
					       PANE_FORMAT, NULL },
	};
	int r = child_run(&request, LIST_TIMEOUT_MS, &result, &local);
	bool silent = r < 0 && local.code == ERROR_TIMEOUT;
	if (r != 0 && !silent) {
		if (r == CHILD_NOT_INSTALLED)
			return 0;
		if (err)
			*err = local;
		else
			error_clear(&local);
		return -1;
	}
	error_clear(&local);
	if (ret_unknown && (silent || strstr(strbuf_text(&result.errors), "protocol version mismatch")))
		*ret_unknown = true;
	if (silent || result.exit_status != 0)
		return 0;
	cleanup_free char *text = strbuf_take(&result.output);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		add_pane(socket, line, ret);
	return 0;
}

void tmux_user_panes_free(struct tmux_user_panes *panes)
{
	for (size_t i = 0; i < panes->count; i++) {
		free(panes->panes[i].socket);
		free(panes->panes[i].id);
		free(panes->panes[i].terminal);
		free(panes->panes[i].where);
	}
	free(panes->panes);
	*panes = (struct tmux_user_panes){ 0 };
}
