/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/main/attached.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/fsutil.h"
#include "base/jsonio.h"
#include "base/loop.h"
#include "cli/show/output.h"
#include "driver/link/network.h"
#include "engine/hosts/hosts.h"
#include "model/host/reattach.h"
#include "model/keys/key.h"
#include "model/session/naming.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <termios.h>
#include <unistd.h>

enum { PIECE = 256, CTRL_C = 3, CTRL_Q = 17 };

struct attached {
	const struct attached_order *order;
	struct reattach state;
	enum reattach_action action;
	struct network network;
	struct termios before;
	key_code leave;
	bool ends_ssh;

	struct loop *loop; /* while there is no link */
	struct loop_source *timer, *attempt_end;
	struct child attempt; /* pid 0: none runs */
	char *why;            /* what the last attempt said; NULL: nothing */
	int64_t told_ms;      /* the user knows that it was lost then */
};

static void attached_end(struct attached *attached)
{
	child_abandon(&attached->attempt);
	loop_free(attached->loop);
	network_close(&attached->network);
	free(attached->why);
}

void attached_restore_terminal(const struct termios *before)
{
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, before);
	if (isatty(STDOUT_FILENO))
		(void)fs_write_all(STDOUT_FILENO, CRASH_RESET, strlen(CRASH_RESET), "the terminal",
				   NULL);
}

static void step(struct attached *attached, enum reattach_event event, int status)
{
	attached->action = reattach_next(&attached->state, event, status, clock_ms());
}

/* ---- while it is shown ------------------------------------------------------------------------ */

static bool on_network_shown(void *data)
{
	struct attached *attached = data;
	network_take(&attached->network);
	step(attached, REATTACH_NETWORK, 0);
	if (attached->action == REATTACH_CHECK) {
		const bool answers = hosts_check(attached->order->deck, attached->order->remote);
		step(attached, answers ? REATTACH_ANSWERS : REATTACH_SILENT, 0);
	}
	attached->ends_ssh = attached->action == REATTACH_CUT;
	return true;
}

static int show(struct attached *attached, struct error *err)
{
	const struct attached_order *order = attached->order;
	cleanup_strvec struct strvec argv = { 0 };
	const struct child_watch watch = { .fd = attached->network.fd,
					   .on_readable = on_network_shown,
					   .data = attached,
					   .ends = &attached->ends_ssh };
	cleanup_free char *once = way_of(order->remote)->is_sure ? NULL : naming_new_uuid();
	/* A return asks nothing more: what is typed now would be echoed, and is for no session. */
	const struct hosts_order how = { order->remote, order->words, once, true,
					 attached->state.is_ours };
	int status = REATTACH_SSH_FAILED;
	attached->ends_ssh = false;
	int r = hosts_argv(order->deck, &how, &argv, err);
	if (r < 0)
		return -1;
	const bool answers = r == 0;
	/* Only at the beginning may ssh ask its user for something. */
	if (!answers && attached->state.is_ours) {
		step(attached, REATTACH_ENDED, status);
		return 0;
	}
	attached->state.is_ours = answers;
	r = child_foreground_bound((const char *const *)strvec_argv(&argv), &watch, &status, err);
	if (r == CHILD_NOT_INSTALLED)
		return error_set(err, ERROR_UNAVAILABLE, "%s is not installed here", argv.items[0]);
	if (r < 0)
		return -1;
	status = hosts_end_of(order->deck, &how, status, NULL);
	if (status >= REATTACH_KILLED)
		attached_restore_terminal(&attached->before);
	step(attached, REATTACH_ENDED, status);
	return 0;
}

/* ---- while there is no link ------------------------------------------------------------------- */

static void on_attempt_end(int fd, uint32_t events, void *context);

/* An attempt is a process of its own: so a key ends this wait at once. */
static bool try(struct attached *attached)
{
	const struct attached_order *order = attached->order;
	const struct child_request request = {
		.argv = (const char *const[]){ order->deck->program, "-H", REMOTE_HERE, "host",
					       "check", "--json", order->remote->name, NULL },
		.new_session = true,
	};
	if (child_start(&request, &attached->attempt, NULL) != 0) {
		attached->attempt = (struct child){ 0 };
		return false;
	}
	const struct loop_io io = { attached->attempt.pidfd, EPOLLIN, on_attempt_end, attached };
	(void)loop_add_io(attached->loop, &io, &attached->attempt_end, NULL);
	return true;
}

static void act(struct attached *attached)
{
	while (attached->action == REATTACH_TRY && !try(attached))
		step(attached, REATTACH_SILENT, 0);
	(void)loop_set_timer(attached->timer, attached->state.due_ms, NULL);
}

static void step_lost(struct attached *attached, enum reattach_event event)
{
	step(attached, event, 0);
	act(attached);
}

static enum reattach_event read_answer(struct attached *attached, const struct child_result *result)
{
	cleanup_json struct json_object *answer = NULL;
	const char *text = strbuf_text(&result->output);
	if (json_parse(text, result->output.length, "the answer", &answer, NULL) < 0)
		return REATTACH_SILENT;
	/* Without a list, the command itself has failed: config.toml was changed meanwhile. */
	const bool is_list = json_object_is_type(answer, json_type_array);
	attached->why = visible(
		is_list ? json_get_string(json_object_array_get_idx(answer, 0), "problem", "")
			: json_get_string(answer, "error", ""));
	if (result->exit_status == 0)
		return REATTACH_ANSWERS;
	if (strstr(attached->why, REATTACH_UNNAMED_WORDS))
		return REATTACH_UNNAMED;
	return reattach_needs_user(attached->why) || streq(json_get_string(answer, "code", ""),
							   error_code_name(ERROR_NOT_FOUND))
		       ? REATTACH_REFUSED
		       : REATTACH_SILENT;
}

static void on_attempt_end(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct attached *attached = context;
	cleanup_child_result struct child_result result = { 0 };
	loop_remove(attached->attempt_end);
	attached->attempt_end = NULL;
	const int r = child_finish(&attached->attempt, clock_ms(), &result, NULL);
	replace_string(&attached->why, NULL);
	step_lost(attached, r == 0 ? read_answer(attached, &result) : REATTACH_SILENT);
}

static void on_due(void *context)
{
	step_lost(context, REATTACH_DUE);
}

static void on_network_lost(int fd UNUSED, uint32_t events UNUSED, void *context)
{
	struct attached *attached = context;
	network_take(&attached->network);
	step_lost(attached, REATTACH_NETWORK);
}

static void on_end(int number UNUSED, void *context)
{
	step_lost(context, REATTACH_LEAVE);
}

/* Typed keys reach no session: only the one that leaves counts. */
static void on_key(int fd, uint32_t events UNUSED, void *context)
{
	struct attached *attached = context;
	char bytes[PIECE + 1] = { 0 };
	const ssize_t n = read(fd, bytes, PIECE);
	const bool leaves = n <= 0 || key_is_typed(bytes, (size_t)n, attached->leave) ||
			    key_is_typed(bytes, (size_t)n, CTRL_C);
	step_lost(attached, leaves ? REATTACH_LEAVE : REATTACH_KEY);
}

static int watch(struct attached *attached, struct error *err)
{
	static const int ending[] = { SIGTERM, SIGHUP };
	struct loop_source *ignored;
	const struct loop_io keys = { STDIN_FILENO, EPOLLIN, on_key, attached };
	const struct loop_io network = { attached->network.fd, EPOLLIN, on_network_lost, attached };
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (loop_add_signal(attached->loop, ending[i], on_end, attached, &ignored, err) < 0)
			return -1;
	return loop_add_io(attached->loop, &keys, &ignored, err) < 0 ||
			       loop_add_io(attached->loop, &network, &ignored, err) < 0
		       ? -1
		       : loop_add_timer(attached->loop, attached->state.due_ms, on_due, attached,
					&attached->timer, err);
}

/* "10:02" */
static void lost_at(const struct attached *attached, char ret[CLOCK_TEXT_SIZE])
{
	clock_local(clock_wall_us() - (clock_ms() - attached->state.lost_ms) * 1000, ret);
	memmove(ret, ret + strlen("2026-04-14 "), strlen("11:08"));
	ret[strlen("11:08")] = '\0';
}

static int wait_for_link(struct attached *attached, struct error *err)
{
	struct termios waiting = attached->before;
	char since[CLOCK_TEXT_SIZE], key[KEY_TEXT_SIZE];
	sigset_t mask;
	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	if (loop_new(&attached->loop, err) < 0 || watch(attached, err) < 0)
		return -1;
	waiting.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	waiting.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	crash_set_terminal(&attached->before, "");
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &waiting);
	lost_at(attached, since);
	if (attached->told_ms != attached->state.lost_ms)
		complain("%s does not answer (since %s): reconnecting; %s leaves",
			 attached->order->remote->name, since, key_text(attached->leave, key));
	attached->told_ms = attached->state.lost_ms;
	act(attached);
	int turned = 1;
	while (turned >= 0 && attached->action != REATTACH_SHOW && attached->action != REATTACH_END)
		turned = loop_turn(attached->loop, INT64_MAX, err);
	child_abandon(&attached->attempt);
	loop_free(attached->loop);
	attached->loop = NULL;
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &attached->before);
	crash_clear_terminal();
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	return turned < 0 ? -1 : 0;
}

/* ---- both ------------------------------------------------------------------------------------- */

/* A key that is no letter with Ctrl comes as a sequence, of which terminals have several. */
static key_code leave_key(const struct deck *deck)
{
	const char *name = deck->settings.tmux.detach_key;
	const bool is_ctrl = starts_with(name, "C-") && name[2] >= 'a' && name[2] <= 'z' &&
			     !name[3];
	return is_ctrl ? (key_code)name[2] & KEY_CODE_CTRL : CTRL_Q;
}

static int give_up(const struct attached *attached, struct error *err)
{
	const struct attached_order *order = attached->order;
	const char *host = order->remote->name;
	char since[CLOCK_TEXT_SIZE];
	if (!attached->state.is_ours)
		return error_set(err, ERROR_UNREACHABLE, "%s: the connection has ended", host);
	if (attached->state.ends_there)
		return error_set(err, ERROR_UNREACHABLE,
				 "%s answers, but attach ends there each time: see agentdeck -H %s "
				 "doctor",
				 host, host);
	lost_at(attached, since);
	cleanup_free char *usual = xasprintf("%s does not answer (since %s)", host, since);
	return error_set(err, ERROR_UNREACHABLE,
			 "%s; what runs there continues; to return: agentdeck -H %s%s%s attach",
			 is_empty(attached->why) ? usual : attached->why, host,
			 order->profile ? " -p " : "", or_empty(order->profile));
}

int attached_run(const struct attached_order *order, struct error *err)
{
	CLEANUP(attached_end)
	struct attached attached = { .order = order,
				     .action = REATTACH_SHOW,
				     .network = NETWORK_NONE,
				     .leave = leave_key(order->deck),
				     .state.due_ms = INT64_MAX };
	if (tcgetattr(STDIN_FILENO, &attached.before) < 0)
		return error_set(err, ERROR_REFUSED, "attaching needs a terminal");
	if (network_watch(&attached.network, err) < 0)
		return -1;
	while (attached.action != REATTACH_END)
		if ((attached.action == REATTACH_SHOW ? show(&attached, err)
						      : wait_for_link(&attached, err)) < 0)
			return -1;
	return attached.state.is_lost ? give_up(&attached, err) : attached.state.status;
}
