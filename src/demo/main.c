/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/libc.h"
#include "demo/hooks.h"
#include "demo/options.h"
#include "demo/session.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PROMPT = 1 << 20, THINK_MS = 150, IDLE_MS = 60000, LEFT_CHILD_MS = 600000 };

/* For tests: a process that a supervisor must find and end itself. */
static void leave_child(void)
{
	if (fork() != 0)
		return;
	(void)setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	/* Close the terminal too, or its other side would wait for us. */
	if (close_range(0, ~0U, 0) == 0)
		clock_pause_until(clock_ms() + LEFT_CHILD_MS);
	_exit(0);
}

static void begin_fork(struct demo_session *session, const char *new_id)
{
	struct dialogue *dialogue = &session->dialogue;
	if (switch_is_on("AGENTDECK_DEMO_FORK_AS_PARENT")) {
		session->parent_id = xstrdup(dialogue->session_id);
		session->parent_path = xstrdup(dialogue->path);
	} else {
		session->source = "fork";
	}
	dialogue_fork(dialogue, new_id);
}

/* Enter a directory below this one, as claude makes a git worktree.  An empty name: a new one. */
static int enter_worktree(const char *name, struct error *err)
{
	cleanup_free char *made_up = naming_new_uuid();
	cleanup_free char *path = xasprintf(".demo/worktrees/%s", *name ? name : made_up);
	static const char *const above[] = { ".demo", ".demo/worktrees" };
	for (size_t i = 0; i < ARRAY_SIZE(above); i++)
		if (mkdir(above[i], 0700) < 0 && errno != EEXIST)
			return error_set_errno(err, errno, "make %s", above[i]);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_set_errno(err, errno, "make %s", path);
	return chdir(path) < 0 ? error_set_errno(err, errno, "enter %s", path) : 0;
}

/* Give the session a conversation.  The messages are word for word those of real agents. */
static int choose_dialogue(const struct options *options, struct demo_session *session,
			   struct error *err)
{
	struct dialogue *dialogue = &session->dialogue;
	bool goes_on = options->resume || options->continue_latest;
	const char *given[] = { options->session_id, options->resume };
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i] && !naming_is_uuid(given[i]))
			return error_set(err, ERROR_USAGE,
					 "Error: Invalid session ID. Must be a valid UUID.");
	if (options->session_id && goes_on && !options->fork)
		return error_set(err, ERROR_USAGE,
				 "Error: --session-id with --continue or --resume also needs "
				 "--fork-session.");
	if (options->session_id && dialogue_is_taken(dialogue, options->session_id))
		return error_set(err, ERROR_EXISTS, "Error: Session ID %s is already in use.",
				 options->session_id);

	cleanup_free char *fresh = naming_new_uuid();
	const char *new_id = options->session_id ? options->session_id : fresh;
	session->source = "startup";
	dialogue_begin(dialogue, new_id);
	if (!goes_on)
		return 0;
	int r = options->resume ? dialogue_resume(dialogue, options->resume, err)
				: dialogue_resume_latest(dialogue, err);
	if (r < 0)
		return error_prefix(err, "Error");
	if (r == DIALOGUE_ABSENT && options->resume)
		return error_set(err, ERROR_NOT_FOUND, "No conversation found with session ID: %s",
				 options->resume);
	if (r == DIALOGUE_ABSENT)
		return options->print ? 0
				      : error_set(err, ERROR_NOT_FOUND,
						  "No conversation found to continue");
	session->source = "resume";
	if (options->fork)
		begin_fork(session, new_id);
	return 0;
}

static void keep_argv(const struct options *options, const char *program, struct strvec *ret)
{
	const char *const kept[][2] = {
		{ "--settings", options->settings },
		{ "--model", options->model },
		{ "--append-system-prompt", options->system_prompt },
	};
	strvec_push(ret, program);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i][1])
			strvec_push_array(ret,
					  (const char *const[]){ kept[i][0], kept[i][1], NULL });
}

static int set_up(const struct options *options, struct demo_session *session, struct error *err)
{
	struct dialogue *dialogue = &session->dialogue;
	if (options->worktree && enter_worktree(options->worktree, err) < 0)
		return error_prefix(err, "Error");
	int r = fs_real_directory(".", &dialogue->cwd, err);
	if (r == FS_ABSENT)
		error_set(err, ERROR_INVALID, "the working directory does not exist any more");
	if (r != 0 || dialogue_find_home(&dialogue->home, err) < 0)
		return error_prefix(err, "Error");
	dialogue->model = options->model;
	dialogue->system_prompt = options->system_prompt;
	dialogue->is_saved = !switch_is_on("CLAUDE_CODE_CHILD_SESSION") ||
			     switch_is_on("CLAUDE_CODE_FORCE_SESSION_PERSISTENCE");
	dialogue->is_bound = switch_is_on("AGENTDECK_DEMO_OWN_DIRECTORY");
	dialogue->late_turns = switch_number("AGENTDECK_DEMO_LATE_TURNS", 0);
	session->think_ms = switch_number("AGENTDECK_DEMO_DELAY_MS", THINK_MS);
	session->run_ms = switch_number("AGENTDECK_DEMO_RUN_MS", 0);
	session->reports_queue = switch_is_on("AGENTDECK_DEMO_REPORT_QUEUE");
	session->idle_ms = switch_number("AGENTDECK_DEMO_IDLE_MS", IDLE_MS);
	/* Like claude, it is idle after a turn, and does not wait. */
	session->idle_kind = getenv("AGENTDECK_DEMO_IDLE_KIND")
				     ?: (getenv("AGENTDECK_DEMO_IDLE_MS") ? NULL : "idle_prompt");
	if (options->settings && hooks_load(options->settings, &session->hooks, err) < 0)
		return error_prefix(err, "Error");
	if (switch_is_on("AGENTDECK_DEMO_NO_REPORT")) {
		json_object_put(session->hooks);
		session->hooks = NULL;
	}
	return choose_dialogue(options, session, err);
}

static int answer(const struct options *options, struct demo_session *session, int *ret_exit_status,
		  struct error *err)
{
	cleanup_strbuf struct strbuf input = { 0 };
	if (options->prompt)
		return session_answer(session, options->prompt, ret_exit_status, err);
	if (!isatty(STDIN_FILENO) &&
	    fs_read_fd(STDIN_FILENO, "standard input", MAX_PROMPT, &input, err) < 0)
		return error_prefix(err, "Error");
	while (input.length && strchr("\r\n", input.data[input.length - 1]))
		input.data[--input.length] = '\0';
	if (!input.length)
		return error_set(err, ERROR_USAGE,
				 "Error: no prompt: give it as an argument or on "
				 "standard input.");
	return session_answer(session, input.data, ret_exit_status, err);
}

static int run(const struct options *options, struct demo_session *session, int *ret_exit_status,
	       struct error *err)
{
	struct screen *screen = &session->screen;
	if (screen_watch_signals(screen, switch_is_on("AGENTDECK_DEMO_IGNORE_SIGNALS"), err) < 0)
		return error_prefix(err, "Error");
	int delay_ms = switch_number("AGENTDECK_DEMO_START_DELAY_MS", 0);
	if (screen_pause(screen, NULL, delay_ms) == SCREEN_SIGNAL) {
		*ret_exit_status = session_signal_status(screen->signal_number);
		return 0;
	}
	if (switch_is_on("AGENTDECK_DEMO_LEAVE_CHILD"))
		leave_child();
	screen->keep_ms = switch_number("AGENTDECK_DEMO_KEEP_MS", 0);
	screen->draft = getenv("AGENTDECK_DEMO_DRAFT");
	int early = switch_number("AGENTDECK_DEMO_EXIT_AT_START", -1);
	if (early >= 0) {
		*ret_exit_status = early & 0xff;
		return 0;
	}
	if (set_up(options, session, err) < 0)
		return -1;
	if (options->print)
		return answer(options, session, ret_exit_status, err);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ERROR_UNAVAILABLE,
				 "Error: a conversation needs a terminal on standard input and "
				 "output: run it in one, or use --print.");
	return session_talk(session, options->prompt, ret_exit_status, err);
}

int main(int argc, char *argv[])
{
	cleanup_error struct error err = { 0 };
	struct options options;
	struct demo_session session = { .screen.signals = -1 };
	int exit_status = 1;

	if (!options_parse(argc, argv, &options, &exit_status))
		return exit_status;
	keep_argv(&options, argv[0], &session.argv);
	if (run(&options, &session, &exit_status, &err) < 0) {
		cleanup_free char *message = visible(err.message);
		fprintf(stderr, "%s\n", message);
		exit_status = 1;
	}
	json_object_put(session.hooks);
	dialogue_free(&session.dialogue);
	strvec_clear(&session.argv);
	free(session.parent_id);
	free(session.parent_path);
	if (session.screen.signals >= 0)
		(void)close(session.screen.signals);
	return exit_status;
}
