/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/hosts/hosts.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/machine.h"
#include "driver/link/ssh.h"
#include "engine/deck/once.h"
#include "model/host/reattach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_DIGITS = 16, WARM_SHARE = 3, ANSWER_MAX = 1 << 20, NOTE_MAX = 1024 };

static void files_close(struct way_files *files)
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

static void name_files(const char *key, char ret[SHA256_TEXT_SIZE])
{
	sha256_text(key, ret);
	ret[NAME_DIGITS] = '\0';
}

static void files_open(const struct deck *deck, const struct remote *remote, struct way_files *ret)
{
	const char *const roots[] = { deck_has_runtime(deck) ? deck->paths.runtime : NULL,
				      deck->paths.direct };
	cleanup_free char *place = remote_place(remote);
	const int64_t time = remote_kind(remote) == REMOTE_SSH ? config_time() : 0;
	/* Another state has connections of its own, also below the same user manager. */
	cleanup_free char *lasting = xasprintf("%s %s %s", remote->name, place, deck->paths.state);
	cleanup_free char *key = xasprintf("%s %lld%s", lasting, (long long)time,
					   remote->forward_agent ? SSH_AGENT : "");
	*ret = (struct way_files){ .directory = -1 };
	name_files(lasting, ret->lasting);
	name_files(key, ret->name);
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

/* ---- whether it answers ----------------------------------------------------------------------- */

/* "10:02", with the day if that is another one. */
static void note_unreachable(const struct way_files *files, char ret[CLOCK_TEXT_SIZE])
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
	cleanup_files struct way_files files;
	struct stat st;
	files_open(deck, remote, &files);
	return fstatat(files.directory, files.since, &st, AT_SYMLINK_NOFOLLOW) == 0
		       ? st.st_mtim.tv_sec * 1000000LL
		       : 0;
}

/* ---- what is known of a host ------------------------------------------------------------------ */

static void write_note(int directory, const char *name, const char *text)
{
	cleanup_strbuf struct strbuf before = { 0 };
	if (directory < 0 || (fs_read(directory, name, strlen(text), &before, NULL) == 0 &&
			      streq(strbuf_text(&before), text)))
		return;
	(void)fs_replace(directory, name, text, strlen(text), FS_VOLATILE, NULL);
}

static void note(const struct way_files *files, const char *what, const char *text)
{
	cleanup_free char *name = xasprintf("%s.%s", files->name, what);
	write_note(files->directory, name, text);
}

static char *read_note(int directory, const char *name, size_t max)
{
	cleanup_strbuf struct strbuf text = { 0 };
	return directory >= 0 && fs_read(directory, name, max, &text, NULL) == 0
		       ? strbuf_take(&text)
		       : NULL;
}

/* A note about the host, which the caller frees, and its time.  NULL: there is none. */
static char *noted(const struct deck *deck, const struct remote *remote, const char *what,
		   size_t max, int64_t *ret_at_us)
{
	cleanup_files struct way_files files;
	struct stat st;
	files_open(deck, remote, &files);
	cleanup_free char *name = xasprintf("%s.%s", files.name, what);
	cleanup_free char *text = read_note(files.directory, name, max);
	if (!text || fstatat(files.directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	*ret_at_us = st.st_mtim.tv_sec * 1000000LL;
	return TAKE_PTR(text);
}

int hosts_lock_note(const struct deck *deck, const struct remote *remote, const char *what,
		    int64_t timeout_ms, struct fs_lock *ret, struct error *err)
{
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	cleanup_free char *name = xasprintf("%s.%s.lock", files.lasting, what);
	return fs_lock(files.directory, name, clock_ms() + timeout_ms, ret, err);
}

void hosts_note(const struct deck *deck, const struct remote *remote, const char *what,
		const char *text, const struct fs_lock *lock UNUSED)
{
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	cleanup_free char *name = xasprintf("%s.%s", files.lasting, what);
	write_note(files.directory, name, text);
}

char *hosts_noted(const struct deck *deck, const struct remote *remote, const char *what,
		  size_t max)
{
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	cleanup_free char *name = xasprintf("%s.%s", files.lasting, what);
	return read_note(files.directory, name, max);
}

char *hosts_why(const struct deck *deck, const struct remote *remote)
{
	int64_t at_us;
	return hosts_unreachable_since(deck, remote) ? noted(deck, remote, "why", NOTE_MAX, &at_us)
						     : NULL;
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
		return noted(deck, remote, "known", NOTE_MAX, &at_us);
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
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	/* Also the same number is news. */
	cleanup_free char *text = xasprintf("%zu %lld", count, (long long)clock_wall_us());
	note(&files, "waiting", text);
}

size_t hosts_waiting(const struct deck *deck, const struct remote *remote, int64_t *ret_at_us)
{
	int64_t count = 0;
	cleanup_free char *text = noted(deck, remote, "waiting", NOTE_MAX, ret_at_us);
	if (text)
		text[strcspn(text, " ")] = '\0';
	return text && parse_int64(text, 0, INT32_MAX, &count) ? (size_t)count : 0;
}

/* ---- links ------------------------------------------------------------------------------------ */

/* Whether ssh has printed something, such as an address to visit, and then sshd said nothing more. */
static bool waits_for_user(const char *words)
{
	return starts_with(words, WAY_WAITS) ||
	       (strstr(words, "; Connection to ") && ends_with(words, " timed out"));
}

int hosts_open(struct deck *deck, const struct remote *remote, struct link **ret, struct error *err)
{
	cleanup_error struct error why = { 0 };
	cleanup_files struct way_files files;
	char since[CLOCK_TEXT_SIZE];
	files_open(deck, remote, &files);
	if (way_of(remote)->open(deck, remote, &files, ret, &why) == 0) {
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
	note(&files, "why", why.message);
	/* host login takes what config.toml says, which is not what host add was given. */
	const bool has_hint = (reattach_needs_user(why.message) || waits_for_user(why.message)) &&
			      remote == remotes_find(&deck->settings.hosts, remote->name);
	return error_set(err, ERROR_UNREACHABLE, "%s is unreachable (since %s): %s%s%s",
			 remote->name, since, why.message,
			 has_hint ? ": log in with agentdeck host login " : "",
			 has_hint ? remote->name : "");
}

int hosts_open_at_once(struct deck *deck, const struct remote *remote, struct link **ret)
{
	const struct way *way = way_of(remote);
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	return way->open_at_once ? way->open_at_once(remote, &files, ret) : HOSTS_SILENT;
}

bool hosts_check(struct deck *deck, const struct remote *remote)
{
	const struct way *way = way_of(remote);
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	return !way->check || way->check(remote, &files);
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
	return hosts_ask_until(link, words, 0, ret, err);
}

int hosts_ask_until(struct link *link, const struct strvec *words, int64_t deadline_ms,
		    struct json_object **ret, struct error *err)
{
	cleanup_strbuf struct strbuf answer = { 0 };
	int status;
	const struct link_request request = { .words = words,
					      .input = -1,
					      .on_bytes = keep_answer,
					      .context = &answer,
					      .deadline_ms = deadline_ms };
	return link_run(link, &request, &status, err) < 0
		       ? -1
		       : json_parse(strbuf_text(&answer), answer.length, "the answer", ret, err);
}

int hosts_check_machine(const struct remote *remote, const struct link *link, struct error *err)
{
	const char *found = link_hello(link)->machine_id;
	if (!remote->machine_id || streq(or_empty(found), remote->machine_id))
		return 0;
	/* A Pod has no id of its own, and its main program may not have read that of the volume. */
	if (remote->kubernetes && !found)
		return error_set(err, ERROR_UNREACHABLE,
				 "%s has started, and " REATTACH_UNNAMED_WORDS ": try again",
				 remote->name);
	return error_set(err, ERROR_INVALID,
			 "%s is another machine than before: its machine id is %s, and config.toml "
			 "has %s, so that only commands that read run there; if that is right: "
			 "agentdeck host add %s --again",
			 remote->name, found ? found : "not known", remote->machine_id,
			 remote->name);
}

int hosts_ask_once(struct deck *deck, const struct remote *remote, const char *once,
		   const char *wait_s, struct json_object **ret, struct error *err)
{
	cleanup_link struct link *link = NULL;
	cleanup_strvec struct strvec words = { 0 };
	strvec_push_array(&words, (const char *const[]){ "-H", REMOTE_HERE, "once", once, "--wait",
							 wait_s, "--json", NULL });
	return hosts_open(deck, remote, &link, err) < 0 ? -1 : hosts_ask(link, &words, ret, err);
}

/* ---- the connection and the host -------------------------------------------------------------- */

int hosts_ask_system(const struct deck *deck, const struct remote *remote, char **ret,
		     struct error *err)
{
	const struct way *way = way_of(remote);
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	return way->ask_system ? way->ask_system(remote, &files, ret, err) : HOSTS_SILENT;
}

int hosts_login(struct deck *deck, const struct remote *remote, struct error *err)
{
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	if (way_check(remote, WAY_LOGIN, err) < 0)
		return -1;
	return way_of(remote)->login(deck, remote, &files, err);
}

bool hosts_end(const struct deck *deck, const struct remote *remote)
{
	const struct way *way = way_of(remote);
	bool has_connection = false;
	/* A connection from before a change of forward_agent has the other name. */
	for (int leads = 0; leads <= 1; leads++) {
		struct remote named = *remote;
		cleanup_files struct way_files files;
		named.forward_agent = leads;
		files_open(deck, &named, &files);
		has_connection |= way->end && way->end(&named, &files);
		(void)unlinkat(files.directory, files.since, 0);
	}
	return has_connection;
}

int hosts_scale(const struct deck *deck, const struct remote *remote, int64_t replicas,
		struct error *err)
{
	cleanup_files struct way_files files;
	char since[CLOCK_TEXT_SIZE];
	files_open(deck, remote, &files);
	if (way_check(remote, WAY_SCALE, err) < 0)
		return -1;
	const int r = way_of(remote)->scale(remote, replicas, err);
	if (r < 0)
		return -1;
	if (replicas) {
		(void)unlinkat(files.directory, files.since, 0);
	} else {
		note_unreachable(&files, since);
		note(&files, "why", HOSTS_STOPPED);
	}
	return r;
}

/* ---- commands with descriptors of ours -------------------------------------------------------- */

/* Each attach leads to the agent of its own login. */
static void lead_agent(const struct remote *remote, const struct way_files *files)
{
	const char *agent = deck_ssh_agent();
	cleanup_free char *name = xasprintf("%s" SSH_AGENT, files->name);
	if (remote->forward_agent && files->directory >= 0 && agent)
		(void)fs_replace_link(files->directory, name, agent, NULL);
}

int hosts_argv(struct deck *deck, const struct hosts_order *order, struct strvec *ret,
	       struct error *err)
{
	const struct remote *remote = order->remote;
	const struct way *way = way_of(remote);
	cleanup_files struct way_files files;
	cleanup_link struct link *link = NULL;
	files_open(deck, remote, &files);
	/* Only a connection that answers is used: ssh would wait for it without end.  ssh itself
	 * may ask for a password. */
	const bool answers = order->has_answered
				     ? !way->asks_user || !files.control || way_has_socket(&files)
			     : way->asks_user ? way->open(deck, remote, &files, &link, NULL) == 0
					      : hosts_open(deck, remote, &link, err) == 0;
	if ((!answers && !way->asks_user) || (link && hosts_check_machine(remote, link, err) < 0))
		return -1;
	const struct way_order how = { remote, answers ? files.control : NULL, order->once,
				       order->words, order->is_terminal };
	if (order->is_terminal)
		lead_agent(remote, &files);
	way->argv(&how, ret);
	return answers ? 0 : HOSTS_SILENT;
}

/* What the host says of it; -1: nothing of use. */
static int told_end(struct deck *deck, const struct hosts_order *order, int status)
{
	cleanup_json struct json_object *answer = NULL;
	if (hosts_ask_once(deck, order->remote, order->once, "0", &answer, NULL) < 0)
		return -1;
	const char *state = json_get_string(answer, "state", "");
	const int64_t told = json_get_int(answer, "status", -1);
	if (streq(state, once_state_words[ONCE_ENDED]))
		return told >= 0 && told <= UINT8_MAX ? (int)told : -1;
	/* The program refused a word of its command line.  With 1, kubectl itself may have failed. */
	const bool is_its_own = status > 1 && status < WAY_SIGNALLED;
	return is_its_own && streq(state, once_state_words[ONCE_REFUSED]) ? status : -1;
}

int hosts_end_of(struct deck *deck, const struct hosts_order *order, int status, bool *ret_lost)
{
	const int end = !order->once ? status : told_end(deck, order, status);
	if (ret_lost)
		*ret_lost = end < 0 || (!order->once && end == WAY_LOST);
	return end < 0 ? WAY_LOST : end;
}

/* ---- ports ------------------------------------------------------------------------------------ */

void hosts_forward_argv(const struct deck *deck, const struct remote *remote, const char *target,
			struct strvec *ret)
{
	cleanup_files struct way_files files;
	files_open(deck, remote, &files);
	ssh_argv(SSH_FORWARD, remote, way_has_socket(&files) ? files.control : NULL, target, ret);
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
