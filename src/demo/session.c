/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo/session.h"

#include "base/child.h"
#include "demo/hooks.h"
#include "demo/options.h"
#include "model/session/naming.h"

#include <signal.h>
#include <string.h>

/* The last hook gets less time while a process waits for our end. */
enum { HOOK_MS = 5000, LAST_HOOK_MS = 1500, NESTED_MS = 60000 };

int session_signal_status(int signal_number)
{
	return signal_number == SIGINT ? 0 : 128 + signal_number;
}

/* Report event to its hooks.  key and value are the additional member of this event. */
static void report(const struct demo_session *session, const char *event, const char *key,
		   const char *value, int timeout_ms)
{
	const struct dialogue *dialogue = &session->dialogue;
	cleanup_json struct json_object *payload = json_object_new_object();
	if (!session->hooks)
		return;
	json_set_string(payload, "session_id",
			session->parent_id ? session->parent_id : dialogue->session_id);
	json_set_string(payload, "transcript_path",
			session->parent_id ? session->parent_path : dialogue->path);
	json_set_string(payload, "cwd", dialogue->cwd);
	json_set_string(payload, "hook_event_name", event);
	if (dialogue->model)
		json_set_string(payload, "model", dialogue->model);
	json_set_string(payload, key, value);
	hooks_run(session->hooks, event, value, payload, timeout_ms);
}

static void report_start(struct demo_session *session)
{
	report(session, "SessionStart", "source", session->source, HOOK_MS);
	replace_string(&session->parent_id, NULL);
	replace_string(&session->parent_path, NULL);
}

#define RUN_WORD "/run "

/* Ask for the permission to run a command, in claude's words.  Nothing is run. */
static enum screen_event ask_permission(struct demo_session *session, const char *command)
{
	cleanup_strbuf struct strbuf text = { 0 };
	unsigned choice = 0;
	for (int i = 0; i < 40; i++)
		strbuf_adds(&text, "─");
	strbuf_adds(&text, "\n Demo command\n\n   ");
	for (; *command; command++)
		strbuf_add(&text, *command == '\n' ? "\n   " : command, *command == '\n' ? 4 : 1);
	strbuf_adds(&text, "\n\n Do you want to proceed?\n"
			   " ❯ 1. Yes\n"
			   "   2. Yes, and ask no more\n"
			   "   3. No\n\n"
			   " Esc to cancel");
	screen_print(&session->screen, text.data);
	report(session, "PermissionRequest", "tool_name", "Demo", HOOK_MS);
	enum screen_event event = screen_choose(&session->screen, 3, &choice);
	if (event == SCREEN_DONE && choice == 3)
		return SCREEN_INTERRUPTED;
	if (event == SCREEN_DONE) {
		screen_print(&session->screen, "(permitted; the demo agent runs nothing)");
		event = screen_pause(&session->screen, "✻ Running… (esc to interrupt)",
				     session->run_ms);
	}
	if (event == SCREEN_DONE)
		report(session, "PostToolUse", "tool_name", "Demo", HOOK_MS);
	return event;
}

static void report_queue(struct demo_session *session)
{
	const struct strvec *queue = &session->screen.queue;
	for (; session->reports_queue && session->reported < queue->count; session->reported++)
		report(session, "UserPromptSubmit", "prompt", queue->items[session->reported],
		       HOOK_MS);
}

/* Take one turn.  SCREEN_DONE with *ret_reply, or the event that ended it. */
static enum screen_event take_turn(struct demo_session *session, const char *prompt,
				   const char **ret_reply, struct error *err)
{
	*ret_reply = NULL;
	if (dialogue_say(&session->dialogue, prompt, err) < 0)
		return SCREEN_DONE;
	if (session->reported)
		session->reported--;
	else
		report(session, "UserPromptSubmit", "prompt", prompt, HOOK_MS);
	enum screen_event event = SCREEN_DONE;
	if (session->screen.is_open && starts_with(prompt, RUN_WORD))
		event = ask_permission(session, prompt + strlen(RUN_WORD));
	if (event != SCREEN_DONE)
		return event;
	event = screen_pause(&session->screen, "✻ Thinking… (esc to interrupt)", session->think_ms);
	if (event != SCREEN_DONE || dialogue_reply(&session->dialogue, ret_reply, err) < 0)
		return event;
	report_queue(session);
	return SCREEN_DONE;
}

static void print_said(struct demo_session *session, const char *text)
{
	cleanup_free char *line = xasprintf("> %s", text);
	screen_print(&session->screen, line);
}

/* A turn on the screen.  SCREEN_SIGNAL, or SCREEN_DONE. */
static enum screen_event talk_turn(struct demo_session *session, const char *prompt)
{
	cleanup_error struct error err = { 0 };
	const char *reply;
	print_said(session, prompt);
	enum screen_event event = take_turn(session, prompt, &reply, &err);
	if (event == SCREEN_SIGNAL)
		return event;
	if (err.code) {
		cleanup_free char *text = xasprintf("Error: %s", err.message);
		screen_print(&session->screen, text);
	} else if (event == SCREEN_INTERRUPTED) {
		screen_print(&session->screen, "(interrupted)");
	} else {
		screen_print(&session->screen, reply);
		report(session, "Stop", "last_assistant_message", reply, HOOK_MS);
	}
	screen_print(&session->screen, "");
	return SCREEN_DONE;
}

static void print_banner(struct demo_session *session)
{
	const struct dialogue *dialogue = &session->dialogue;
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_addf(&text,
		    "agentdeck-demo-agent " PACKAGE_VERSION
		    ": repeats what you say; /help says more\n"
		    "session %s in %s",
		    dialogue->session_id, dialogue->cwd);
	if (dialogue->model)
		strbuf_addf(&text, "\nmodel %s", dialogue->model);
	if (dialogue->system_prompt)
		strbuf_addf(&text, "\nsystem prompt: %s", dialogue->system_prompt);
	if (!dialogue->is_saved)
		strbuf_adds(&text, "\n⚠ Transcript saving is off: this conversation cannot be "
				   "resumed");
	strbuf_adds(&text, "\n");
	screen_print(&session->screen, text.data);
}

static void print_history(struct demo_session *session)
{
	const struct dialogue *dialogue = &session->dialogue;
	for (size_t i = 0; i < dialogue->count; i++) {
		const struct turn *turn = &dialogue->turns[i];
		if (turn->by_user)
			print_said(session, turn->text);
		else
			screen_print(&session->screen, turn->text);
	}
	if (dialogue->count)
		screen_print(&session->screen, "");
}

/* source: the "source" that the hooks get. */
static void begin_another(struct demo_session *session, const char *source)
{
	cleanup_free char *session_id = naming_new_uuid();
	(void)dialogue_flush(&session->dialogue, NULL);
	report(session, "SessionEnd", "reason", "clear", HOOK_MS);
	dialogue_begin(&session->dialogue, session_id);
	screen_wipe(&session->screen);
	print_banner(session);
	report(session, "SessionStart", "source", source, HOOK_MS);
}

/* Begin again in this process, as claude does for its other renderer: with the conversation if
 * that has a turn, else with another one.  The end of the first is not reported. */
static void restart_in_place(struct demo_session *session)
{
	const struct dialogue *dialogue = &session->dialogue;
	cleanup_strvec struct strvec argv = { 0 };
	strvec_push_all(&argv, &session->argv);
	if (dialogue->count)
		strvec_push_array(&argv,
				  (const char *const[]){ "--resume", dialogue->session_id, NULL });
	(void)dialogue_flush(&session->dialogue, NULL);
	screen_close(&session->screen);
	execv("/proc/self/exe", strvec_argv(&argv));
	(void)screen_open(&session->screen, NULL);
	screen_print(&session->screen, "Error: cannot execute itself\n");
}

/* Start another agent as a tool of this one would: through a shell, with our environment and
 * settings. mode: --session-id or --resume. */
static void run_nested(struct demo_session *session, const char *mode, const char *session_id)
{
	cleanup_strvec struct strvec argv = { 0 };
	cleanup_child_result struct child_result result = { 0 };
	strvec_push_array(&argv,
			  (const char *const[]){ "/bin/sh", "-c", "\"$0\" \"$@\"; exit $?", NULL });
	strvec_push_all(&argv, &session->argv);
	strvec_push_array(&argv, (const char *const[]){ "--print", mode, session_id, "from inside",
							NULL });
	const struct child_request request = { .argv = (const char *const *)strvec_argv(&argv) };
	(void)child_run(&request, NESTED_MS, &result, NULL);
	screen_print(&session->screen, strbuf_text(&result.output));
}

static void nest(struct demo_session *session)
{
	cleanup_free char *session_id = naming_new_uuid();
	run_nested(session, "--session-id", session_id);
	run_nested(session, "--resume", session_id);
}

/* Hooks learn of it only with the next turn. */
static void change_directory(struct demo_session *session, const char *directory)
{
	cleanup_error struct error err = { 0 };
	int r = dialogue_move(&session->dialogue, directory, &err);
	cleanup_free char *text = r < 0 ? xasprintf("Error: %s\n", err.message)
					: xasprintf("Moved to %s\n", session->dialogue.cwd);
	screen_print(&session->screen, text);
}

/* Change to another conversation, of any directory. */
static void go_to(struct demo_session *session, const char *session_id)
{
	cleanup_error struct error err = { 0 };
	struct dialogue *dialogue = &session->dialogue;
	cleanup_free char *before = xstrdup(dialogue->session_id);
	(void)dialogue_flush(dialogue, NULL);
	int r = naming_is_uuid(session_id) ? dialogue_resume(dialogue, session_id, &err)
					   : DIALOGUE_ABSENT;
	if (r != 0) {
		cleanup_free char *text = xasprintf("No conversation found with session ID: %s\n",
						    session_id);
		screen_print(&session->screen, text);
		if (!streq(dialogue->session_id, before) ||
		    dialogue_resume(dialogue, before, NULL) != 0)
			dialogue_begin(dialogue, before);
		return;
	}
	screen_wipe(&session->screen);
	print_banner(session);
	print_history(session);
	report(session, "SessionStart", "source", "resume", HOOK_MS);
}

/* Act on a line of the user's: a command or a prompt. */
static enum screen_event obey(struct demo_session *session, const char *line)
{
	size_t start = strspn(line, " \t\n"), length = strlen(line);
	while (length > start && strchr(" \t\n", line[length - 1]))
		length--;
	cleanup_free char *word = xstrndup(line + start, length - start);
	if (!*word)
		return SCREEN_DONE;
	if (streq(word, "/exit") || streq(word, "/quit"))
		return SCREEN_END;
	if (starts_with(word, "/cd ")) {
		change_directory(session, word + strlen("/cd "));
		return SCREEN_DONE;
	}
	if (starts_with(word, "/resume ")) {
		go_to(session, word + strlen("/resume ") + strspn(word + strlen("/resume "), " "));
		return SCREEN_DONE;
	}
	if (starts_with(word, RUN_WORD))
		return talk_turn(session, word);
	if (*word == '!') {
		screen_print(&session->screen, word);
		screen_print(&session->screen, "(the demo agent runs nothing)\n");
		return SCREEN_DONE;
	}
	if (*word != '/' || strpbrk(word, " \t\n") || strchr(word + 1, '/'))
		return talk_turn(session, line);
	if (streq(word, "/clear")) {
		begin_another(session, "clear");
	} else if (streq(word, "/new")) {
		begin_another(session, "startup");
	} else if (streq(word, "/tui")) {
		restart_in_place(session);
	} else if (streq(word, "/nested")) {
		nest(session);
	} else if (streq(word, "/config")) {
		return screen_view(&session->screen, "Settings (Esc closes)");
	} else if (streq(word, "/help")) {
		screen_print(&session->screen, demo_commands);
	} else {
		cleanup_free char *text = xasprintf("Unknown command: %s (/help lists them)\n",
						    word);
		screen_print(&session->screen, text);
	}
	return SCREEN_DONE;
}

/* SCREEN_END or SCREEN_SIGNAL. */
static enum screen_event converse(struct demo_session *session, const char *prompt)
{
	enum screen_event event = prompt ? talk_turn(session, prompt) : SCREEN_DONE;
	bool told = !prompt;
	while (event != SCREEN_END && event != SCREEN_SIGNAL) {
		cleanup_free char *line = NULL;
		size_t turns = session->dialogue.count;
		event = screen_ask(&session->screen, told ? -1 : session->idle_ms, &line);
		if (event == SCREEN_IDLE) {
			report(session, "Notification",
			       session->idle_kind ? "notification_type" : "message",
			       session->idle_kind
				       ?: "agentdeck-demo-agent is waiting for your input",
			       HOOK_MS);
			told = true;
		} else if (event == SCREEN_DONE) {
			event = obey(session, line);
			told = told && session->dialogue.count == turns;
		}
	}
	return event;
}

int session_talk(struct demo_session *session, const char *prompt, int *ret_exit_status,
		 struct error *err)
{
	const struct dialogue *dialogue = &session->dialogue;
	if (screen_open(&session->screen, err) < 0)
		return -1;
	print_banner(session);
	print_history(session);
	report_start(session);
	bool by_user = converse(session, prompt) == SCREEN_END;
	(void)dialogue_flush(&session->dialogue, NULL);
	screen_close(&session->screen);
	if (dialogue->is_saved && dialogue->count) {
		printf("Resume this session with:\nagentdeck-demo-agent --resume %s\n",
		       dialogue->session_id);
		(void)fflush(stdout);
	}
	report(session, "SessionEnd", "reason", by_user ? "prompt_input_exit" : "other",
	       by_user ? HOOK_MS : LAST_HOOK_MS);
	*ret_exit_status = by_user ? 0 : session_signal_status(session->screen.signal_number);
	return 0;
}

int session_answer(struct demo_session *session, const char *prompt, int *ret_exit_status,
		   struct error *err)
{
	const char *reply;
	report_start(session);
	enum screen_event event = take_turn(session, prompt, &reply, err);
	if (reply) {
		puts(reply);
		(void)fflush(stdout);
		report(session, "Stop", "last_assistant_message", reply, HOOK_MS);
	}
	bool was_signal = event == SCREEN_SIGNAL;
	(void)dialogue_flush(&session->dialogue, NULL);
	report(session, "SessionEnd", "reason", "other", was_signal ? LAST_HOOK_MS : HOOK_MS);
	if (!reply && !was_signal)
		return -1;
	*ret_exit_status = was_signal ? session_signal_status(session->screen.signal_number) : 0;
	return 0;
}
