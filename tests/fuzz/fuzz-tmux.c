/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The output of tmux clients, and how they end.  An answer that makes no sense never becomes a
 * process that does not exist, and no text in it has an effect on a terminal.
 *
 * The input is the output of the clients of one call, one after the other, separated by form feeds.
 * The first character of each is how the client ends ("0": well, "t": too late, "n": no tmux,
 * other: badly); it prints the rest.  This program replaces child_run().
 */
#include "fuzz/fuzz.h"

#include "base/child.h"
#include "driver/tmux/tmux-panes.h"
#include "driver/tmux/tmux.h"

static struct strvec answers;
static size_t next_answer;

int __wrap_child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
		     struct error *err);

int __wrap_child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
		     struct error *err)
{
	const char *text = next_answer < answers.count ? answers.items[next_answer++] : "";
	HOLDS(streq(request->argv[0], "tmux") && timeout_ms > 0);
	if (*text == 'n')
		return CHILD_NOT_INSTALLED;
	if (*text == 't')
		return error_set(err, ERROR_TIMEOUT, "tmux does not answer");
	*ret = (struct child_result){ .exit_status = *text != '0' };
	if (*text && text[1])
		strbuf_adds(*text == '0' ? &ret->output : &ret->errors, text + 1);
	return 0;
}

static void check_outcome(int r, struct error *err)
{
	HOLDS(r < 0 || r == 0 || r == TMUX_NO_SERVER || r == TMUX_UNKNOWN);
	if (r < 0)
		fuzz_failed(err);
	else
		HOLDS(err->code == ERROR_NONE && !err->message);
	next_answer = 0;
}

static void check_started(void)
{
	cleanup_child_result struct child_result result = { 0 };
	struct tmux_started started = { .server = 7, .pane = 7, .version = "none" };
	struct error err = { 0 };
	const struct child_request request = { .argv = (const char *const[]){ "tmux", NULL } };
	if (__wrap_child_run(&request, 1, &result, &err) != 0) {
		error_clear(&err);
		return;
	}
	int r = tmux_parse_started(&result, &started, &err);
	if (r == 0)
		HOLDS(started.server > 0 && started.pane > 0 && *started.version &&
		      fuzz_is_clean(started.version, false));
	else
		HOLDS(started.server == 7 && started.pane == 7 && streq(started.version, "none"));
	check_outcome(r, &err);
}

static void check_query(void)
{
	struct tmux_pane pane = { .server = 7, .pane = 7 };
	struct error err = { 0 };
	int r = tmux_query("socket", &pane, &err);
	if (r == 0)
		HOLDS(pane.server > 0 && pane.pane > 0 && pane.command &&
		      !strchr(pane.command, '\n'));
	else
		HOLDS(pane.server == 7 && pane.pane == 7 && !pane.command);
	check_outcome(r, &err);
	tmux_pane_free(&pane);
}

static void check_exit(void)
{
	struct exit_record end = { .code = 7, .signal = 7 };
	struct error err = { 0 };
	int r = tmux_pane_exit("socket", &end, &err);
	if (r == 0) {
		HOLDS(end.code >= 0 && end.code <= 255 && end.signal >= 0 && end.signal <= 64);
		HOLDS(end.last_words && fuzz_is_clean(end.last_words, true));
		size_t lines = 0;
		for (const char *s = end.last_words; (s = strchr(s, '\n')); s++)
			lines++;
		HOLDS(lines <= 40);
	} else {
		HOLDS(end.code == 7 && end.signal == 7 && !end.last_words);
	}
	check_outcome(r, &err);
	free(end.last_words);
}

static void check_user_panes(void)
{
	cleanup_tmux_user_panes struct tmux_user_panes panes = { 0 };
	struct error err = { 0 };
	int r = tmux_list_user_panes("socket", &panes, NULL, &err);
	for (size_t i = 0; i < panes.count; i++) {
		const struct tmux_user_pane *pane = &panes.panes[i];
		HOLDS(streq(pane->socket, "socket") && pane->id[0] == '%' && pane->terminal);
		HOLDS(fuzz_is_clean(pane->where, false));
	}
	HOLDS(r == 0 || !panes.count);
	check_outcome(r, &err);
}

static void check_texts(void)
{
	char *text = NULL;
	struct tmux_user_hold hold = { 0 };
	struct error err = { 0 };
	int r = tmux_capture("socket", 100, &text, &err);
	HOLDS(!text == (r != 0));
	check_outcome(r, &err);
	free(text);
	text = NULL;
	r = tmux_user_pane_text("socket", "%3", &text, &err);
	HOLDS(!text == (r != 0));
	check_outcome(r, &err);
	free(text);
	r = tmux_user_pane_hold("socket", "%3", &hold, &err);
	HOLDS(hold.is_held == (r == 0));
	check_outcome(r, &err);
	tmux_user_pane_release("socket", "%3", &hold);
	next_answer = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	char *rest = text, *version = NULL;
	struct error err = { 0 };
	for (char *answer; (answer = strsep(&rest, "\f"));)
		strvec_push(&answers, answer);
	check_started();
	check_query();
	check_exit();
	check_user_panes();
	check_texts();
	if (tmux_version(&version, &err) == 0) {
		(void)tmux_version_is_enough(version);
		HOLDS(fuzz_is_clean(version, false));
		free(version);
	}
	error_clear(&err);
	next_answer = 0;
	strvec_clear(&answers);
	return 0;
}
