/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/tmux/tmux-panes.h"

#include "base/child.h"
#include "base/fsutil.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_TIMEOUT_MS = 2000 };

/* The user chose the session's name, so it comes last. */
#define PANE_FORMAT "#{pane_id} #{pane_tty} #{window_index}.#{pane_index} #{session_name}"

static bool is_our_socket(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
}

void tmux_user_sockets(struct strvec *ret)
{
	const char *root = getenv("TMUX_TMPDIR"), *current = getenv("TMUX");
	cleanup_free char *directory = xasprintf("%s/tmux-%u", is_empty(root) ? "/tmp" : root,
						 (unsigned)getuid());
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
	const char *id = strsep(&line, " "), *terminal = strsep(&line, " "),
		   *index = strsep(&line, " ");
	if (!line || id[0] != '%')
		return;
	cleanup_free char *session = visible(line), *place = visible(index);
	ret->panes = xreallocarray(ret->panes, ret->count + 1, sizeof(*ret->panes));
	ret->panes[ret->count++] = (struct tmux_user_pane){
		.socket = xstrdup(socket),
		.id = xstrdup(id),
		.terminal = xstrdup(terminal),
		.where = xasprintf("%s:%s", session, place),
	};
}

int tmux_list_user_panes(const char *socket, struct tmux_user_panes *ret, bool *ret_unknown,
			 struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	struct error local = { 0 };
	const struct child_request request = {
		.argv = (const char *const[]){ "tmux", "-u", "-N", "-S", socket, "list-panes", "-a",
					       "-F", PANE_FORMAT, NULL },
	};
	int r = child_run(&request, LIST_TIMEOUT_MS, &result, &local);
	bool silent = r < 0 && local.code == ERROR_TIMEOUT;
	if (r != 0 && !silent) {
		if (r == CHILD_NOT_INSTALLED)
			return 0;
		return error_move(err, &local);
	}
	error_clear(&local);
	if (ret_unknown &&
	    (silent || strstr(strbuf_text(&result.errors), "protocol version mismatch")))
		*ret_unknown = true;
	if (silent || result.exit_status != 0)
		return 0;
	cleanup_free char *text = strbuf_take(&result.output);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		add_pane(socket, line, ret);
	return 0;
}

/* Run a tmux command: words follow the client's own options.  *ret is its output without the last
 * newline, the caller's. */
static int ask(const char *socket, const char *const *words, char **ret, struct error *err)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	strvec_push_array(&argv, (const char *const[]){ "tmux", "-u", "-N", "-S", socket, NULL });
	strvec_push_array(&argv, words);
	const struct child_request request = { .argv = (const char *const *)argv.items };
	int r = child_run(&request, LIST_TIMEOUT_MS, &result, err);
	if (r < 0)
		return -1;
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "tmux is not installed");
	if (result.exit_status != 0) {
		cleanup_free char *why = child_last_words(&result);
		return error_set(err, ERROR_CHILD, "tmux -S %s %s: %s", socket, words[0], why);
	}
	if (!ret)
		return 0;
	char *text = strbuf_take(&result.output);
	*ret = text ? text : xstrdup("");
	size_t length = strlen(*ret);
	if (length && (*ret)[length - 1] == '\n')
		(*ret)[length - 1] = '\0';
	return 0;
}

#define ASK(socket, ret, err, ...) ask(socket, (const char *const[]){ __VA_ARGS__, NULL }, ret, err)

int tmux_user_pane_text(const char *socket, const char *pane, char **ret, struct error *err)
{
	cleanup_free char *facts = NULL, *history = NULL, *screen = NULL;
	if (ASK(socket, &facts, err, "display-message", "-p", "-t", pane,
		"#{alternate_on} #{history_size}") < 0)
		return -1;
	if (facts[0] != '1')
		return ASK(socket, ret, err, "capture-pane", "-p", "-J", "-S", "-", "-t", pane);
	/* If nothing has scrolled off, "the line above the screen" would be the first line of the
	 * screen. */
	if (!ends_with(facts, " 0") && ASK(socket, &history, err, "capture-pane", "-p", "-J", "-S",
					   "-", "-E", "-1", "-t", pane) < 0)
		return -1;
	/* "-q": the program may have returned to the normal screen. */
	if (ASK(socket, &screen, err, "capture-pane", "-p", "-J", "-a", "-q", "-t", pane) < 0)
		return -1;
	*ret = xasprintf("%s\n%s", or_empty(history), screen);
	return 0;
}

int tmux_user_pane_press(const char *socket, const char *pane, const char *key, struct error *err)
{
	return ASK(socket, NULL, err, "copy-mode", "-q", "-t", pane, ";", "send-keys", "-t", pane,
		   "--", key);
}

int tmux_user_pane_hold(const char *socket, const char *pane, struct tmux_user_hold *ret,
			struct error *err)
{
	struct tmux_user_hold hold = { 0 };
	cleanup_free char *effective = NULL, *own = NULL;
	if (ASK(socket, &own, err, "show-options", "-p", "-v", "-q", "-t", pane, "remain-on-exit") <
		    0 ||
	    ASK(socket, &effective, err, "show-options", "-p", "-A", "-v", "-t", pane,
		"remain-on-exit") < 0 ||
	    ASK(socket, NULL, err, "set-option", "-p", "-t", pane, "remain-on-exit", "on") < 0)
		return -1;
	hold.stays = !streq(effective, "off");
	hold.option = is_empty(own) ? NULL : TAKE_PTR(own);
	hold.is_held = true;
	*ret = hold;
	return 0;
}

void tmux_user_pane_release(const char *socket, const char *pane, struct tmux_user_hold *hold)
{
	cleanup_free char *dead = NULL;
	if (hold->is_held && hold->option)
		(void)ASK(socket, NULL, NULL, "set-option", "-p", "-t", pane, "remain-on-exit",
			  hold->option);
	else if (hold->is_held)
		(void)ASK(socket, NULL, NULL, "set-option", "-p", "-u", "-t", pane,
			  "remain-on-exit");
	if (hold->is_held && !hold->stays &&
	    ASK(socket, &dead, NULL, "display-message", "-p", "-t", pane, "#{pane_dead}") == 0 &&
	    streq(dead, "1"))
		(void)ASK(socket, NULL, NULL, "kill-pane", "-t", pane);
	free(hold->option);
	*hold = (struct tmux_user_hold){ 0 };
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
