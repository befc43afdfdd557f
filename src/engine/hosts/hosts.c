/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/hosts.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/sha256.h"
#include "model/host/reattach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_DIGITS = 16,
	WARM_SHARE = 3, /* of the timeout: for a connection that is there */
	SCOPE_MS = 5000,
	CHECK_MS = 3000,
	SYSTEM_MS = 10000,
	AT_ONCE_MS = 1000,
	ANSWER_MAX = 1 << 20,
	LINE_SHOWN = 100
};

/* The files of a host in our runtime directory. */
struct files {
	int directory;
	char name[SHA256_TEXT_SIZE]; /* a digest: a host's name may be too long for a socket */
	char *control;               /* path of the socket; NULL: ssh could not use it */
	char *since; /* name of the file that was made when the host became unreachable */
	char *lock;  /* name of the file of the one that connects */
};

static void files_close(struct files *files)
{
	if (files->directory >= 0)
		(void)close(files->directory);
	free(files->control);
	free(files->since);
	free(files->lock);
}
#define cleanup_files CLEANUP(files_close)

/* A connection that was made by another configuration may lead to another machine. */
static int64_t config_time(void)
{
	struct stat st;
	cleanup_free char *path = path_join(or_empty(getenv("HOME")), ".ssh/config");
	return stat(path, &st) == 0 ? st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec : 0;
}

static void files_open(const struct deck *deck, const struct remote *remote, struct files *ret)
{
	const char *const roots[] = { deck_has_runtime(deck) ? deck->paths.runtime : NULL,
				      deck->paths.direct };
	/* Another state has connections of its own, also below the same user manager. */
	cleanup_free char *key = xasprintf("%s %s %s %lld", remote->name, remote->ssh,
					   deck->paths.state, (long long)config_time());
	*ret = (struct files){ .directory = -1 };
	sha256_text(key, ret->name);
	ret->name[NAME_DIGITS] = '\0';
	ret->since = xasprintf("%s.since", ret->name);
	ret->lock = xasprintf("%s.lock", ret->name);
	for (size_t i = 0; i < ARRAY_SIZE(roots) && !ret->control; i++) {
		cleanup_free char *directory = roots[i] ? path_join(roots[i], "links") : NULL;
		cleanup_free char *control = directory ? path_join(directory, ret->name) : NULL;
		cleanup_close int fd = -1;
		if (!control || !ssh_is_control(control) ||
		    fs_open_private_directory(directory, &fd, NULL) < 0)
			continue;
		ret->control = TAKE_PTR(control);
		ret->directory = TAKE_FD(fd);
	}
}

/* ---- the connection --------------------------------------------------------------------------- */

/* Put it where the end of this login does not reach it.  Where that fails it ends with the login,
 * and the next link makes another one. */
static void make_scope(struct deck *deck, const struct remote *remote, const struct files *files,
		       pid_t pid)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *name = xasprintf("agentdeck-link-%s.scope", files->name);
	cleanup_free char *slice = xasprintf("agentdeck-link-%s.slice", files->name);
	cleanup_free char *description = xasprintf("agentdeck link to %s", remote->name);
	const struct unit_scope scope = { .name = name,
					  .slice = slice,
					  .description = description,
					  .pid = pid,
					  .stop_timeout_s = 1 };
	const int64_t deadline_ms = clock_ms() + SCOPE_MS;
	int r = unit_start_scope(deck_bus(deck), &scope, deadline_ms, &err);
	/* An old connection has just ended. */
	if (r == UNIT_TAKEN && unit_wait_gone(deck_bus(deck), name, deadline_ms, &err) == 0 &&
	    unit_wait_gone(deck_bus(deck), slice, deadline_ms, &err) == 0)
		r = unit_start_scope(deck_bus(deck), &scope, deadline_ms, &err);
	if (r != 0)
		log_warning("%s: no scope for its ssh: %s", remote->name,
			    err.message ? err.message : name);
}

/* What a host in between said: with ControlPersist, ssh throws that away.  NULL: nothing, since it
 * connects now.  The caller frees. */
static char *ask_hops(const struct remote *remote, int64_t deadline_ms)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	struct child child;
	ssh_argv(SSH_LINK, remote, NULL, "exit", &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .new_session = true };
	return child_start(&request, &child, NULL) == 0 &&
			       child_finish(&child, deadline_ms, &result, NULL) == 0 &&
			       result.exit_status != 0
		       ? ssh_words(strbuf_text(&result.errors))
		       : NULL;
}

/* Start ssh, which continues in the background once it is connected. */
static int connect_to(struct deck *deck, const struct remote *remote, const struct files *files,
		      int64_t deadline_ms, struct error *err)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	const bool has_manager = deck_bus(deck) != NULL;
	struct child child;
	if (has_manager)
		strvec_push(&argv, deck->gate);
	ssh_argv(SSH_MASTER, remote, files->control, NULL, &argv);
	const struct child_request request = {
		.argv = (const char *const *)strvec_argv(&argv),
		.gate = has_manager,
		.new_session = true,
		.outlives_us = true,
	};
	const int r = child_start(&request, &child, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here", argv.items[0]);
	if (r < 0)
		return -1;
	if (has_manager) {
		make_scope(deck, remote, files, child.pid);
		(void)fs_write_all(child.gate, "g", 1, "the gate", NULL);
	}
	if (child_finish(&child, deadline_ms, &result, err) < 0)
		return -1;
	if (result.exit_status == 0)
		return 0;
	cleanup_free char *words = ssh_words(strbuf_text(&result.errors));
	/* A connection through another program has no address. */
	cleanup_free char *hops = strstr(words, "UNKNOWN port") ? ask_hops(remote, deadline_ms)
								: NULL;
	return error_set(err, ERROR_CHILD, "%s", hops ? hops : words);
}

static int open_link(const struct remote *remote, const struct files *files, int64_t deadline_ms,
		     struct link **ret, struct error *err)
{
	cleanup_free char *command = xasprintf("%s serve --stdio", remote->program);
	cleanup_strvec struct strvec argv = { 0 };
	ssh_argv(SSH_LINK, remote, files->control, command, &argv);
	return link_open(&argv, deadline_ms, ret, err);
}

/* A connection can be there and not answer, for example when its ssh is stopped. */
static int open_warm(const struct remote *remote, const struct files *files, struct link **ret,
		     struct error *err)
{
	const int64_t deadline_ms = clock_ms() + remote->timeout_s * 1000 / WARM_SHARE;
	cleanup_error struct error why = { 0 };
	if (open_link(remote, files, deadline_ms, ret, &why) == 0)
		return 0;
	if (why.code != ERROR_TIMEOUT && why.code != ERROR_CHILD)
		return error_move(err, &why);
	log_info("%s: its connection is replaced: %s", remote->name, why.message);
	ssh_end_master(remote, files->control);
	return 1;
}

static bool has_socket(const struct files *files)
{
	return files->control && access(files->control, F_OK) == 0;
}

static int open_any(struct deck *deck, const struct remote *remote, const struct files *files,
		    struct link **ret, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	int64_t deadline_ms = clock_ms() + remote->timeout_s * 1000;
	int r = has_socket(files) ? open_warm(remote, files, ret, err) : 1;
	if (r <= 0)
		return r;
	/* A second ssh that connects at the same time would be left without a socket, and stay. */
	if (files->control)
		r = fs_lock(files->directory, files->lock, deadline_ms, &lock, err);
	if (r < 0)
		return -1;
	if (files->control && r == FS_LOCK_BUSY)
		return error_set(err, ERROR_TIMEOUT, "another command still connects");
	deadline_ms = clock_ms() + remote->timeout_s * 1000;
	if (files->control && !has_socket(files) &&
	    connect_to(deck, remote, files, deadline_ms, err) < 0)
		return -1;
	return open_link(remote, files, deadline_ms, ret, err);
}

/* ---- whether it answers ----------------------------------------------------------------------- */

/* "10:02", with the day if that is another one. */
static void note_unreachable(const struct files *files, char ret[CLOCK_TEXT_SIZE])
{
	char today[CLOCK_TEXT_SIZE];
	struct stat st;
	cleanup_close int fd = fs_openat(files->directory, files->since,
					 O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	const int64_t now = clock_wall_us();
	const int64_t since = fd >= 0 && fstat(fd, &st) == 0 ? st.st_mtim.tv_sec * 1000000LL : now;
	clock_local(since, ret);
	clock_local(now, today);
	ret[strlen("2026-04-14 11:08")] = '\0';
	const size_t day = strlen("2026-04-14 ");
	if (strncmp(ret, today, day) == 0)
		memmove(ret, ret + day, strlen(ret + day) + 1);
}

int64_t hosts_unreachable_since(const struct deck *deck, const struct remote *remote)
{
	cleanup_files struct files files;
	struct stat st;
	files_open(deck, remote, &files);
	return fstatat(files.directory, files.since, &st, AT_SYMLINK_NOFOLLOW) == 0
		       ? st.st_mtim.tv_sec * 1000000LL
		       : 0;
}

/* ---- what is known of a host ------------------------------------------------------------------ */

enum { NOTE_MAX = 128 };

static void note(const struct files *files, const char *what, const char *text)
{
	cleanup_free char *name = xasprintf("%s.%s", files->name, what);
	cleanup_strbuf struct strbuf before = { 0 };
	if (files->directory < 0 ||
	    (fs_read(files->directory, name, NOTE_MAX, &before, NULL) == 0 &&
	     streq(strbuf_text(&before), text)))
		return;
	(void)fs_replace(files->directory, name, text, strlen(text), FS_VOLATILE, NULL);
}

/* Its text, the caller's, and when it was written; NULL: there is none. */
static char *noted(const struct deck *deck, const struct remote *remote, const char *what,
		   int64_t *ret_at_us)
{
	cleanup_files struct files files;
	cleanup_strbuf struct strbuf text = { 0 };
	struct stat st;
	files_open(deck, remote, &files);
	cleanup_free char *name = xasprintf("%s.%s", files.name, what);
	if (files.directory < 0 || fs_read(files.directory, name, NOTE_MAX, &text, NULL) != 0 ||
	    fstatat(files.directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	*ret_at_us = st.st_mtim.tv_sec * 1000000LL;
	return xstrdup(strbuf_text(&text));
}

/* What a host says becomes no more than digits here. */
static char *digest_of(const char *machine, const char *state)
{
	char digest[SHA256_TEXT_SIZE];
	if (is_empty(machine) || is_empty(state))
		return NULL;
	cleanup_free char *text = xasprintf("%s %s", machine, state);
	sha256_text(text, digest);
	return xstrdup(digest);
}

char *hosts_identity(const struct deck *deck, const struct remote *remote)
{
	int64_t at_us;
	if (remote)
		return noted(deck, remote, "known", &at_us);
	cleanup_free char *state = hosts_state(deck);
	return digest_of(machine_id(), state);
}

char *hosts_state(const struct deck *deck)
{
	struct stat st;
	return stat(deck->paths.state, &st) == 0
		       ? xasprintf("%jx:%jx", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino)
		       : NULL;
}

void hosts_note_waiting(const struct deck *deck, const struct remote *remote, size_t count)
{
	cleanup_files struct files files;
	files_open(deck, remote, &files);
	/* Also the same number is news. */
	cleanup_free char *text = xasprintf("%zu %lld", count, (long long)clock_wall_us());
	note(&files, "waiting", text);
}

size_t hosts_waiting(const struct deck *deck, const struct remote *remote, int64_t *ret_at_us)
{
	int64_t count = 0;
	cleanup_free char *text = noted(deck, remote, "waiting", ret_at_us);
	if (text)
		text[strcspn(text, " ")] = '\0';
	return text && parse_int64(text, 0, INT32_MAX, &count) ? (size_t)count : 0;
}

/* ---- links ------------------------------------------------------------------------------------ */

int hosts_open(struct deck *deck, const struct remote *remote, struct link **ret, struct error *err)
{
	cleanup_error struct error why = { 0 };
	cleanup_files struct files files;
	char since[CLOCK_TEXT_SIZE];
	files_open(deck, remote, &files);
	if (open_any(deck, remote, &files, ret, &why) == 0) {
		(void)unlinkat(files.directory, files.since, 0);
		cleanup_free char *identity = digest_of(link_hello(*ret)->machine_id,
							link_hello(*ret)->state);
		if (identity)
			note(&files, "known", identity);
		return 0;
	}
	/* A signal says nothing about the host. */
	if (why.code == ERROR_NEWER || why.code == ERROR_INVALID)
		return error_set(err, why.code, "%s: %s", remote->name, why.message);
	note_unreachable(&files, since);
	/* host login takes what config.toml says, which is not what host add was given. */
	const bool has_hint = reattach_needs_user(why.message) &&
			      remote == remotes_find(&deck->settings.hosts, remote->name);
	return error_set(err, ERROR_UNREACHABLE, "%s is unreachable (since %s): %s%s%s",
			 remote->name, since, why.message,
			 has_hint ? ": log in with agentdeck host login " : "",
			 has_hint ? remote->name : "");
}

bool hosts_check(struct deck *deck, const struct remote *remote)
{
	cleanup_error struct error why = { 0 };
	cleanup_files struct files files;
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	files_open(deck, remote, &files);
	/* There is no such subsystem: sshd says so without a new process, also on a busy host. */
	ssh_argv(SSH_CHECK, remote, files.control, "agentdeck-check", &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .new_session = true };
	if (!has_socket(&files) || child_run(&request, CHECK_MS, &result, &why) == 0 ||
	    why.code != ERROR_TIMEOUT)
		return true;
	log_info("%s: its connection is replaced: %s", remote->name, why.message);
	ssh_end_master(remote, files.control);
	return false;
}

int hosts_open_at_once(struct deck *deck, const struct remote *remote, struct link **ret)
{
	cleanup_files struct files files;
	files_open(deck, remote, &files);
	return has_socket(&files) &&
			       open_link(remote, &files, clock_ms() + AT_ONCE_MS, ret, NULL) == 0
		       ? 0
		       : HOSTS_SILENT;
}

static int keep_answer(enum link_stream stream, const char *bytes, size_t length, void *context)
{
	struct strbuf *answer = context;
	if (stream == LINK_OUTPUT && answer->length + length <= ANSWER_MAX)
		strbuf_add(answer, bytes, length);
	return 0;
}

int hosts_ask(struct link *link, const struct strvec *words, struct json_object **ret,
	      struct error *err)
{
	cleanup_strbuf struct strbuf answer = { 0 };
	int status;
	const struct link_request request = {
		.words = words, .input = -1, .on_bytes = keep_answer, .context = &answer
	};
	return link_run(link, &request, &status, err) < 0
		       ? -1
		       : json_parse(strbuf_text(&answer), answer.length, "the answer", ret, err);
}

int hosts_check_machine(const struct remote *remote, const struct link *link, struct error *err)
{
	const char *found = link_hello(link)->machine_id;
	if (!remote->machine_id || streq(or_empty(found), remote->machine_id))
		return 0;
	return error_set(err, ERROR_INVALID,
			 "%s is another machine than before: its machine id is %s, and config.toml "
			 "has %s, so that only commands that read run there; if that is right: "
			 "agentdeck host add %s --again",
			 remote->name, found ? found : "not known", remote->machine_id,
			 remote->name);
}

int hosts_ask_system(const struct deck *deck, const struct remote *remote, char **ret,
		     struct error *err)
{
	cleanup_files struct files files;
	cleanup_child_result struct child_result result = { 0 };
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_strbuf struct strbuf system = { 0 };
	files_open(deck, remote, &files);
	if (!has_socket(&files))
		return HOSTS_SILENT;
	/* What every shell understands. */
	ssh_argv(SSH_LINK, remote, files.control, "uname -sm; tmux -V", &argv);
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv),
					       .new_session = true };
	if (child_run(&request, SYSTEM_MS, &result, err) < 0)
		return -1;
	/* The files of a login may print more. */
	for (char *rest = result.output.data, *line; (line = strsep(&rest, "\n"));)
		if (starts_with(line, "Linux ") || starts_with(line, "tmux ")) {
			line[strnlen(line, LINE_SHOWN)] = '\0';
			strbuf_adds(&system, system.length ? ", " : "");
			strbuf_add_visible(&system, line);
		}
	if (!system.length)
		return HOSTS_SILENT;
	*ret = strbuf_take(&system);
	return 0;
}

/* It has a terminal, and so no gate: only its process in the background gets the scope. */
static void keep_master(struct deck *deck, const struct remote *remote, const struct files *files)
{
	cleanup_free struct process_id *masters = NULL;
	if (deck_bus(deck) && ssh_list_masters(files->control, &masters) > 0)
		make_scope(deck, remote, files, masters[0].pid);
}

int hosts_login(struct deck *deck, const struct remote *remote, struct error *err)
{
	cleanup_files struct files files;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec argv = { 0 };
	int status = 0;
	files_open(deck, remote, &files);
	if (!files.control)
		return error_set(err, ERROR_UNAVAILABLE,
				 "%s: there is no directory for its socket: see agentdeck doctor",
				 remote->name);
	int r = fs_lock(files.directory, files.lock, clock_ms() + remote->timeout_s * 1000, &lock,
			err);
	if (r < 0)
		return -1;
	if (r == FS_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "%s: another command still connects",
				 remote->name);
	if (has_socket(&files) && open_warm(remote, &files, &link, NULL) == 0)
		return HOSTS_CONNECTED;
	ssh_argv(SSH_LOGIN, remote, files.control, NULL, &argv);
	r = child_foreground((const char *const *)strvec_argv(&argv), NULL, NULL, &status, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here", argv.items[0]);
	if (r < 0)
		return -1;
	if (status != 0)
		return error_set(err, ERROR_UNREACHABLE, "%s: ssh did not log in (exit status %d)",
				 remote->name, status);
	/* One that answers has left our session: its hangup would end it. */
	(void)open_link(remote, &files, clock_ms() + remote->timeout_s * 1000, &link, NULL);
	keep_master(deck, remote, &files);
	(void)unlinkat(files.directory, files.since, 0);
	return 0;
}

bool hosts_end(const struct deck *deck, const struct remote *remote)
{
	cleanup_files struct files files;
	files_open(deck, remote, &files);
	const bool has_connection = has_socket(&files);
	if (has_connection)
		ssh_end_master(remote, files.control);
	(void)unlinkat(files.directory, files.since, 0);
	return has_connection;
}

int hosts_ssh_argv(struct deck *deck, const struct remote *remote, enum ssh_mode mode,
		   bool has_answered, const struct strvec *words, struct strvec *ret,
		   struct error *err)
{
	cleanup_files struct files files;
	cleanup_link struct link *link = NULL;
	cleanup_strbuf struct strbuf command = { 0 };
	files_open(deck, remote, &files);
	strbuf_addf(&command, "%s ", remote->program);
	for (size_t i = 0; i < words->count; i++)
		remote_quote(&command, words->items[i]);
	/* Only a connection that answers is used: ssh would wait for it without end.  ssh itself
	 * may ask for a password. */
	const bool answers = has_answered ? !files.control || has_socket(&files)
					  : open_any(deck, remote, &files, &link, NULL) == 0;
	if (link && hosts_check_machine(remote, link, err) < 0)
		return -1;
	ssh_argv(mode, remote, answers ? files.control : NULL, command.data, ret);
	return answers ? 0 : HOSTS_SILENT;
}

/* ---- ports ------------------------------------------------------------------------------------ */

void hosts_forward_argv(const struct deck *deck, const struct remote *remote, const char *target,
			struct strvec *ret)
{
	cleanup_files struct files files;
	files_open(deck, remote, &files);
	ssh_argv(SSH_FORWARD, remote, has_socket(&files) ? files.control : NULL, target, ret);
}

/* Returns 0 also if it is still open at the deadline; else ssh's words are in *ret. */
static int try_forward(const struct strvec *argv, int timeout_ms, char **ret)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_error struct error why = { 0 };
	const struct child_request request = { .argv = (const char *const *)argv->items,
					       .new_session = true };
	const int r = child_run(&request, timeout_ms, &result, &why);
	if ((r < 0 && why.code == ERROR_TIMEOUT) || (r == 0 && result.exit_status == 0))
		return 0;
	*ret = ssh_words(strbuf_text(&result.errors));
	return 1;
}

int hosts_try_forward(const struct deck *deck, const struct remote *remote, const char *target,
		      struct error *err)
{
	cleanup_strvec struct strvec warm = { 0 }, cold = { 0 };
	cleanup_free char *words = NULL, *reason = NULL;
	hosts_forward_argv(deck, remote, target, &warm);
	if (try_forward(&warm, (int)remote->timeout_s * 1000 / WARM_SHARE, &words) == 0)
		return 0;
	/* A connection that others use keeps the reason for itself (ssh 9.2). */
	ssh_argv(SSH_FORWARD, remote, NULL, target, &cold);
	if (try_forward(&cold, (int)remote->timeout_s * 1000, &reason) == 0)
		return 0;
	return strstr(reason, "administratively prohibited")
		       ? error_set(
				 err, ERROR_REFUSED,
				 "%s: its sshd forwards no ports (%s): it needs AllowTcpForwarding "
				 "yes or local in its sshd_config, and no PermitOpen that forbids %s",
				 remote->name, reason, target)
		       : HOSTS_SILENT;
}
